/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c: threads, and memcpy by all of them. */
#include "threads.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define PIECE ((size_t)1 << 18)

#ifdef _OPENMP
int lat_threads(void) { return omp_get_max_threads(); }
void lat_threads_set(int n) { omp_set_num_threads(n); }
static int processors(void) { return omp_get_num_procs(); }
#else
int lat_threads(void) { return 1; }
void lat_threads_set(int n) { (void)n; }
static int processors(void) { return 1; }
#endif

int lat_threads_widen(int times)
{
    const int before = lat_threads(), most = processors() > before ? processors() : before;
    lat_threads_set(before * times < most ? before * times : most);
    return before;
}

void lat_memcpy(void *to, const void *from, size_t bytes)
{
#pragma omp parallel for schedule(static) if (bytes > 4 * PIECE)
    for (size_t at = 0; at < bytes; at += PIECE)
        memcpy((char *)to + at, (const char *)from + at, bytes - at < PIECE ? bytes - at : PIECE);
}
