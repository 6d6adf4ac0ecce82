/* SPDX-License-Identifier: BSD-3-Clause */
/* contract_baryons.c: baryons, SU(3): some sites side by side, as many as a vector has lanes. */
#include <string.h>
#include "contract_internal.h"

/* eps_abc eps_a'b'c' of fixed c, c': four products of two colour indices each. */
typedef struct pair {
    int a, b, sign;
} pair;
static const pair eps[3][2] = {
    {{1, 2, 1}, {2, 1, -1}}, {{2, 0, 1}, {0, 2, -1}}, {{0, 1, 1}, {1, 0, -1}}};

#define LANES 2
#define AS(name) name##2
#define TARGET
#include "baryon_lanes.h"
#if defined(__x86_64__)
#define LANES 4
#define AS(name) name##4
#define TARGET LAT_TARGET_AVX2(LAT_FMA)
#include "baryon_lanes.h"
#define LANES 8
#define AS(name) name##8
#define TARGET LAT_TARGET_AVX512(LAT_FMA)
#include "baryon_lanes.h"
#endif

#define sites_base sites2
#define sites_avx2 sites4
#define sites_avx512 sites8
static __typeof__(&sites_base) const kinds[] = LAT_ISA_EACH(sites_, );

void lat_baryon_sites(const lat_channel *channel, int channels, const double *u, const double *s,
                      int count, cplx *value)
{
    kinds[lat_isa_widest()](channel, channels, u, s, count, value);
}
