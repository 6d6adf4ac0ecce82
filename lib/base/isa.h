/* SPDX-License-Identifier: BSD-3-Clause */
/* isa.h: the vector instructions of this processor. */
#pragma once

/* In the order of the vectors' length; BASE: what every processor of this architecture has. */
typedef enum { LAT_ISA_BASE, LAT_ISA_AVX2, LAT_ISA_AVX512 } lat_isa;

/* The widest vectors of this processor; or narrower ones, if LAT_LANES=base or avx2 is in the
 * environment. (lat_options_parse refuses other words.) */
lat_isa lat_isa_widest(void);
#define LAT_ISA_VARIABLE "LAT_LANES"

/* "base", "avx2" or "avx512". */
const char *lat_isa_name(lat_isa isa);

/* Doubles in a vector: 2, 4 or 8. */
enum { LAT_ISA_MOST_DOUBLES = 8 };
static inline int lat_isa_doubles(lat_isa isa) { return 2 << isa; }

/* For functions of one file that are compiled for each vector length: X(base, ), then on x86
 * X(avx2, ATTRIBUTE) and X(avx512, ATTRIBUTE). fma: LAT_FMA, or "" where products are not to be
 * fused with sums, so that the bits are the same for all. */
#define LAT_FMA ",fma"
#define LAT_TARGET_AVX2(fma) __attribute__((target("avx2" fma)))
#define LAT_TARGET_AVX512(fma) __attribute__((target("avx512f,avx512dq,avx512vl,avx2" fma)))
#if defined(__x86_64__)
#define LAT_ISA_EXPAND(X, fma) \
    X(base, ) X(avx2, LAT_TARGET_AVX2(fma)) X(avx512, LAT_TARGET_AVX512(fma))
#else
#define LAT_ISA_EXPAND(X, fma) X(base, )
#endif

/* The initialiser of a table by lat_isa, of the names PREFIXbaseSUFFIX, PREFIXavx2SUFFIX, ..; and
 * static functions NAME_base, NAME_avx2, .. of these parameters, all with the body `call`, fma as
 * above. */
#if defined(__x86_64__)
#define LAT_ISA_CLONES(name, fma, parameters, call) \
    static void name##_base parameters { call; } \
    LAT_TARGET_AVX2(fma) static void name##_avx2 parameters { call; } \
    LAT_TARGET_AVX512(fma) static void name##_avx512 parameters { call; }
#define LAT_ISA_EACH(prefix, suffix) \
    { \
        [LAT_ISA_BASE] = prefix##base##suffix, [LAT_ISA_AVX2] = prefix##avx2##suffix, \
        [LAT_ISA_AVX512] = prefix##avx512##suffix \
    }
#else
#define LAT_ISA_CLONES(name, fma, parameters, call) \
    static void name##_base parameters { call; }
#define LAT_ISA_EACH(prefix, suffix) \
    { \
        [LAT_ISA_BASE] = prefix##base##suffix \
    }
#endif
