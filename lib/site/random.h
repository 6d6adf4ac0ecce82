/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h: counter-based random numbers. A number depends on what it is for, and on nothing else.
 *
 * Philox4x32-10 of Random123, keyed by the seed. The counter says which site (global natural
 * index), which step of the run, which configuration (its number in the stream), and which draw at
 * that site and step. So all threads, vector lanes, ranks and devices draw the same numbers
 * (docs/conventions.md, "Random numbers"). */
#pragma once

#include <stdint.h>
#include <Random123/philox.h>

/* The registry of random streams: what numbers are for. One of these is added to `step`, which is
 * below 2^28, so that tools with the same seed never draw the same numbers. */
#define LAT_FOR_START UINT32_C(0x10000000)     /* links of lat-start */
#define LAT_FOR_GAUGE UINT32_C(0x20000000)     /* transformations of lat-gauge */
#define LAT_FOR_ANNEAL UINT32_C(0x30000000)    /* sweeps of lat-anneal */
#define LAT_FOR_RELAX UINT32_C(0x40000000)     /* sweeps of lat-orelax */
#define LAT_FOR_LINKS UINT32_C(0x50000000)     /* sweeps of lat-heatbath */
#define LAT_FOR_SOURCE UINT32_C(0x60000000)    /* noise sources of quarks */
#define LAT_FOR_SPINORS UINT32_C(0x70000000)   /* random vectors of lib/dirac */
#define LAT_FOR_MULTIGRID UINT32_C(0x80000000) /* those of lib/multigrid */
#define LAT_FOR_BOOTSTRAP UINT32_C(0x90000000) /* bins of lat-stat --bootstrap */

/* Four independent 32-bit words. site < 2^40, config < 2^24. */
static inline void lat_random(uint64_t seed, uint64_t site, uint32_t config, uint32_t step,
                              uint32_t draw, uint32_t word[4])
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t at = {{(uint32_t)site, (uint32_t)(site >> 32) | config << 8, step, draw}};
    philox4x32_ctr_t out = philox4x32(at, key);
    for (int i = 0; i < 4; i++)
        word[i] = out.v[i];
}

/* A double in (0, 1) from two words: 52 bits, never an end of the interval. */
static inline double lat_uniform(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 20) ^ (low >> 12);
    return ((double)bits + 0.5) * 0x1p-52;
}
