/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_sites.cuh: sites in natural order and their neighbours, for plain_gpu.cu. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct place {
    uint32_t x[4];
};

static __device__ place place_of(const uint32_t extent[4], size_t site)
{
    place p;
    for (int mu = 0; mu < 4; mu++) {
        p.x[mu] = (uint32_t)(site % extent[mu]);
        site /= extent[mu];
    }
    return p;
}

static __device__ size_t site_of(const uint32_t extent[4], const place &p)
{
    return p.x[0] + extent[0] * (p.x[1] + extent[1] * (p.x[2] + (size_t)extent[2] * p.x[3]));
}

/* One step along mu, forwards (1) or backwards (-1). */
static __device__ place step(const uint32_t extent[4], place p, int mu, int way)
{
    const uint32_t x = p.x[mu];
    p.x[mu] = way > 0 ? (x + 1 == extent[mu] ? 0 : x + 1) : (x == 0 ? extent[mu] - 1 : x - 1);
    return p;
}
