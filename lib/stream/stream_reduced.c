/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_reduced.c: the reals of a matrix that the stream does not have. */
#include "stream_reduced_internal.h"

#include <math.h>
#include <stdint.h>
#include "lattice/iterate.h"

#define MIN_PARALLEL 4096 /* matrices; fewer are done sooner than other threads are woken up */

enum { CHANGED = 1, FAR = 2 };

/* Without branches, for vector units. */
LAT_INLINE int compare(double was, double is, double near)
{
    return (is != was) * CHANGED | !(fabs(is - was) <= near) * FAR;
}

/* Matrix number i of f. */
LAT_INLINE int complete(const lat_field *f, size_t i, int n, double near)
{
    const size_t all = 2 * (size_t)n * (size_t)n;
    double m[LAT_SUN_REALS];
    int found = 0;
    lat_load(f, i, n, m);
    lat_sun_complete(n, m);
    for (size_t k = n == 3 ? 12 : (size_t)f->head.reals; k < all; k++)
        if (f->head.real == LAT_F64) {
            double *to = (double *)f->data + i * all + k;
            found |= compare(*to, m[k], near);
            *to = m[k];
        } else {
            float *to = (float *)f->data + i * all + k;
            found |= compare((double)*to, (double)(float)m[k], near);
            *to = (float)m[k];
        }
    return found;
}

size_t lat_complete_all(const lat_header *head, void *matrices, size_t count, double near,
                        bool *changed)
{
    const lat_field f = {.head = *head, .data = matrices}; /* borrowed */
    size_t far = SIZE_MAX;
    int any = 0;
#pragma omp parallel for schedule(static) if (count > MIN_PARALLEL) reduction(min \
                                                                              : far) \
    reduction(| \
              : any)
    for (size_t i = 0; i < count; i++) {
        const int found = head->nc == 3 ? complete(&f, i, 3, near)
                                        : complete(&f, i, head->nc, near);
        any |= found;
        if (found & FAR && i < far)
            far = i;
    }
    if (changed)
        *changed = any & CHANGED;
    return far;
}
