/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h: clocks, threads and the middle of what was measured, for all benches. */
#ifndef LAT_BENCH_H
#define LAT_BENCH_H

#include <stdlib.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static inline double bench_seconds(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_now(void)
{
    return bench_seconds(CLOCK_MONOTONIC);
}

/* Of the thread that calls it. */
static inline void bench_threads(int n)
{
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

static inline int bench_most_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static inline int bench_by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts t. */
static inline double bench_median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, bench_by_size);
    return t[n / 2];
}

#endif
