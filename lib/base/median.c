/* SPDX-License-Identifier: BSD-3-Clause */
/* median.c: by a sorted copy. */
#include "base/median.h"

#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lat_median(int n, const double *list)
{
    double v[LAT_MEDIAN_MOST];
    memcpy(v, list, (size_t)n * sizeof *v);
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}
