/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_lanes.h: products of matrices whose times lie one after the other.
 *
 * A timewise field has, for each site x of a slice and each real number of a matrix there, its
 * values on all slices, in `groups` vectors of eight. Slices that are not there are zero. */
#pragma once

#include "lattice/simd8.h"
#include "loops.h"
#include "loops_paths.h"

/* All of it for sites from .. to - 1 of a slice. */
typedef struct lat_timewise {
    const lat_geometry *space; /* of a slice */
    int n, groups;             /* N of SU(N) */
} lat_timewise;

/* The vectors of a site. */
static inline size_t lat_timewise_vectors(const lat_timewise *w)
{
    return 2 * (size_t)(w->n * w->n * w->groups);
}

/* x + by. */
size_t lat_loops_shift(const lat_geometry *space, size_t x, const int *by);

/* Lines of R of all levels, of sites `base` on. */
typedef struct lat_loops_lines {
    const lat_simd8 *line[LAT_LOOPS_LEVELS];
    size_t base;
    int levels, time, slices;
    const double *around; /* L(x, 0; slices) of all x; NULL: no loop crosses the boundary */
    int by[LAT_MAX_DIMS]; /* R */
    size_t extended;      /* doubles of a real in `scratch` (lat_loops_extended) */
} lat_loops_lines;

static inline int lat_loops_four(int time) { return (time + 3) / 4 * 4; }

static inline size_t lat_loops_extended(int slices, int time)
{
    return (size_t)(slices + time) / LAT_SIMD8 * LAT_SIMD8 + 3 * LAT_SIMD8;
}

typedef struct lat_loops_lanes {
    /* u(x) <- g(x) u(x) g(x + by)^+ */
    void (*transform)(const lat_timewise *w, size_t from, size_t to, lat_simd8 *u,
                      const lat_simd8 *g, const int *by);
    /* c(x) = a(x) b(x + by); c may be a */
    void (*multiply)(const lat_timewise *w, size_t from, size_t to, lat_simd8 *c,
                     const lat_simd8 *a, const lat_simd8 *b, const int *by);
    /* s(x) = the mean over paths; links[axis] */
    void (*paths)(const lat_timewise *w, size_t from, size_t to, lat_simd8 *s,
                  const lat_simd8 *const *links, const lat_loops_paths *p);
    /* sums[pair * lat_loops_four(time) + T - 1] += N W of these sites, all times. scratch: levels *
     * 2 N N * extended doubles, 0 where it was not written here. */
    void (*gram)(const lat_timewise *w, size_t from, size_t to, const lat_loops_lines *l,
                 double *scratch, lat_simd8 *sums);
} lat_loops_lanes;

const lat_loops_lanes *lat_loops_lanes_here(void);
