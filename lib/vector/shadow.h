/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow.h: the shadow vector e of BiCGstab: 1 or -1 at each site and spin, the same for all
 * colours. As a vector of random signs it needs no memory and costs no multiplication, and BiCGstab
 * takes as many iterations with it as with the first residual (bench/history). C and CUDA. */
#pragma once

#include <stdint.h>

#if defined(__CUDACC__)
#define LAT_SHADOW static __host__ __device__ __forceinline__
#else
#define LAT_SHADOW static inline
#endif

/* Bit 31 - s of it: the sign of spin s at a site (the finaliser of MurmurHash3). */
LAT_SHADOW uint32_t lat_shadow_signs(uint32_t site)
{
    uint32_t h = site + 1;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}
