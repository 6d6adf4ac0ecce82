/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c: the number of threads, how they wait, and memcpy by all of them. */
#include "threads.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "error.h"
#include "program.h"

#define CHUNK ((size_t)1 << 18) /* bytes that a thread copies at a time */

#ifdef _OPENMP
int lat_threads(void) { return omp_get_max_threads(); }
void lat_threads_set(int n) { omp_set_num_threads(n); }
static int processors(void) { return omp_get_num_procs(); }
#else
int lat_threads(void) { return 1; }
void lat_threads_set(int n) { (void)n; }
static int processors(void) { return 1; }
#endif

int lat_threads_beside(void) { return lat_threads() > 1 ? lat_threads() - 1 : 1; }

int lat_threads_widen(int times)
{
    const int before = lat_threads(), most = processors() > before ? processors() : before;
    lat_threads_set(before * times < most ? before * times : most);
    return before;
}

void lat_threads_share(double work, double least)
{
    static int all;
    if (!all)
        all = lat_threads();
    const double fit = work / least;
    lat_threads_set(fit >= all ? all : fit >= 1 ? (int)fit : 1);
}

void lat_threads_limit_spinning(LAT_UNUSED char **argv)
{
#if defined(_OPENMP) && !defined(__clang__)
    char path[PATH_MAX];
    if (!getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY") && lat_program_path(path)
        && !setenv("GOMP_SPINCOUNT", "2000", 0))
        execv(path, argv);
#else
#endif
}

void lat_memcpy(void *to, const void *from, size_t bytes)
{
#pragma omp parallel for schedule(static) if (bytes > 4 * CHUNK)
    for (size_t at = 0; at < bytes; at += CHUNK)
        memcpy((char *)to + at, (const char *)from + at, bytes - at < CHUNK ? bytes - at : CHUNK);
}
