/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h: clocks, threads, the middle of what was measured, what a copy takes: for all benches. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "base/error.h"
#include "base/memory.h"

static inline double bench_seconds(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_now(void) { return bench_seconds(CLOCK_MONOTONIC); }

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

/* Dirac operators in the temporal gauge, or (LAT_TEMPORAL=never) in that of the links? */
static inline bool bench_temporal(void)
{
    const char *v = getenv("LAT_TEMPORAL");
    return !v || strcmp(v, "never") != 0;
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

/* Of one thread the time it had the processor, so that other programs count less; of several the
 * clock's. */
static inline double bench_time(int nthreads)
{
    return bench_seconds(nthreads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

/* What a line promised, in text[64]: must, aim, and which of them holds. `form` prints a number;
 * promises may be that `value` is at least so large, or, if below 0, that it is at most that far
 * from 0. No promise: "". */
static inline const char *bench_promise(char *text, const char *form, double value, double must,
                                        double aim)
{
    const double sign = must < 0 ? -1 : 1;
    char a[24], b[24];
    snprintf(a, sizeof a, form, sign * must);
    snprintf(b, sizeof b, form, sign * aim);
    snprintf(text, 64, "%s %s  %s", a, b,
             sign * value >= aim    ? "aim"
             : sign * value >= must ? "must"
                                    : "NOT YET");
    return must == 0 ? "" : text;
}

/* Copy bandwidth in GB/s, read and written bytes counted, of `bytes` bytes; the best of several. */
static inline double bench_copy_bandwidth(size_t bytes, int nthreads)
{
    const size_t n = bytes / 2 / sizeof(double);
    double *a = lat_alloc(n, sizeof *a, "copy"), *b = lat_alloc(n, sizeof *b, "copy"), best = 1e30;
    if (!a || !b)
        exit(lat_report(LAT_FAILED));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] = (double)i;
    const int repeat = (int)(256e6 / (double)bytes) + 1;
    for (int r = 0; r < 9; r++) {
        const double start = bench_time(nthreads);
        for (int k = 0; k < repeat; k++) {
#pragma omp parallel for schedule(static)
            for (size_t i = 0; i < n; i++)
                b[i] = a[i] + (double)k;
        }
        best = fmin(best, (bench_time(nthreads) - start) / repeat);
    }
    volatile double keep = b[n / 2];
    (void)keep;
    free(a);
    free(b);
    return (double)(2 * n * sizeof(double)) / best * 1e-9;
}
