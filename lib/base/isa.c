/* SPDX-License-Identifier: BSD-3-Clause */
/* isa.c: the vector instructions of this processor. */
#include "isa.h"

#include <stdlib.h>
#include <string.h>

lat_isa lat_isa_widest(void)
{
    const char *choice = getenv(LAT_ISA_VARIABLE);
    if (choice && !*choice)
        choice = NULL;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl") && (!choice || !strcmp(choice, "avx512")))
        return LAT_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
        && (!choice || strcmp(choice, "base")))
        return LAT_ISA_AVX2;
#else
    (void)choice;
#endif
    return LAT_ISA_BASE;
}

const char *lat_isa_name(lat_isa isa)
{
    static const char *const names[] = {"base", "avx2", "avx512"};
    return names[isa];
}
