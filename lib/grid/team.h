/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h: what everything that runs on the CPU in vector lanes shares: threads that work together,
 * reals in lanes. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include "base/isa.h"

/* Threads of the team at work, and the number of the caller among them. */
int lat_team_threads(void);
int lat_thread_id(void);

/* The caller's share of n things in its team: from *from up to *to. */
void lat_thread_range(int64_t n, int64_t *from, int64_t *to);

/* Where the threads of a team wait for each other, several times a sweep. OpenMP's own barrier
 * spins for milliseconds. If another program, such as the next stage of the pipeline, takes a core,
 * two of our threads share one. The one that has arrived then keeps the other from arriving. This
 * one spins as long as a sweep of a small lattice takes, and then sleeps until the last one has
 * come. Zero at first. */
typedef struct lat_barrier {
    atomic_int there;
    atomic_uint round;
    atomic_int asleep;
} lat_barrier;
void lat_barrier_wait(lat_barrier *m, int team);

/* `elements` reals a site, sites in lanes: element e of block b, lane l is number (b * elements +
 * e) * lanes + l. */
typedef struct lat_lane_view {
    void *p;
    int real, lanes, elements; /* bytes of a real */
} lat_lane_view;

/* Elements e .. e+n-1. */
static inline void lat_lane_put_row(lat_lane_view a, int64_t block, int lane, int e, int n,
                                    const double *from)
{
    const int64_t first = (block * a.elements + e) * a.lanes + lane;
    if (a.real == 4) {
        float *to = (float *)a.p + first;
        for (int i = 0; i < n; i++)
            to[(int64_t)i * a.lanes] = (float)from[i];
    } else {
        double *to = (double *)a.p + first;
        for (int i = 0; i < n; i++)
            to[(int64_t)i * a.lanes] = from[i];
    }
}

static inline void lat_lane_get_row(lat_lane_view a, int64_t block, int lane, int e, int n,
                                    double *to)
{
    const int64_t first = (block * a.elements + e) * a.lanes + lane;
    if (a.real == 4) {
        const float *from = (const float *)a.p + first;
        for (int i = 0; i < n; i++)
            to[i] = (double)from[(int64_t)i * a.lanes];
    } else {
        const double *from = (const double *)a.p + first;
        for (int i = 0; i < n; i++)
            to[i] = from[(int64_t)i * a.lanes];
    }
}

static inline void lat_lane_put(lat_lane_view a, int64_t block, int lane, int e, double v)
{
    lat_lane_put_row(a, block, lane, e, 1, &v);
}

static inline double lat_lane_get(lat_lane_view a, int64_t block, int lane, int e)
{
    double v;
    lat_lane_get_row(a, block, lane, e, 1, &v);
    return v;
}
