/* SPDX-License-Identifier: BSD-3-Clause */
/* isa.h: which vectors this processor has. */
#ifndef LAT_ISA_H
#define LAT_ISA_H

#define LAT_ISA_WISH "LAT_LANES"

/* The widest vectors of this processor; LAT_LANES=base or avx2 in the environment chooses narrower
 * ones. (That it is one of these words lat_options_parse sees to.) */
typedef enum { LAT_ISA_BASE, LAT_ISA_AVX2, LAT_ISA_AVX512 } lat_isa;
lat_isa lat_isa_widest(void);
const char *lat_isa_name(lat_isa isa);

/* What there is for each of them, as initialiser of a table: prefix, base or avx2 or avx512,
 * suffix. */
#if defined(__x86_64__)
#define LAT_ISA_EACH(prefix, suffix) \
    { \
        [LAT_ISA_BASE] = prefix##base##suffix, [LAT_ISA_AVX2] = prefix##avx2##suffix, \
        [LAT_ISA_AVX512] = prefix##avx512##suffix \
    }
#else
#define LAT_ISA_EACH(prefix, suffix) \
    { \
        [LAT_ISA_BASE] = prefix##base##suffix \
    }
#endif

#endif
