/* SPDX-License-Identifier: BSD-3-Clause */
/* slice_sum.c: sums over chunks of sites. */
#include "slice_sum.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lattice/iterate.h"

enum { MOST_CHUNKS = 64 }; /* each has memory */

int lat_slice_sum(size_t sites, size_t numbers, size_t scratch, lat_slice_sum_fn *fn,
                  const void *with, double *out)
{
    const size_t many = (sites + MOST_CHUNKS - 1) / MOST_CHUNKS;
    const size_t size = many > LAT_CHUNK ? many : LAT_CHUNK, chunks = (sites + size - 1) / size;
    const size_t own = numbers + scratch;
    double *work = lat_alloc(chunks * own, sizeof *work, "sums over sites");
    if (!work)
        return -1;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < chunks; i++) {
        double *sum = work + i * own;
        memset(sum, 0, numbers * sizeof *sum);
        fn(with, i * size, i + 1 < chunks ? (i + 1) * size : sites, sum + numbers, sum);
    }
    memset(out, 0, numbers * sizeof *out);
    for (size_t i = 0; i < chunks; i++)
        for (size_t k = 0; k < numbers; k++)
            out[k] += work[i * own + k];
    free(work);
    return 0;
}
