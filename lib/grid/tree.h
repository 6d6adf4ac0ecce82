/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h: sums in pairs. Number 2i is added to number 2i + 1, these sums in pairs again, and so on;
 * a list whose length is no power of two is filled up with zeros. The sum of a part that begins at
 * a multiple of a power of two, and is as long, is a branch of the tree, whoever adds it up: so a
 * lattice can be cut among ranks and keep its bits (reduce.h). C and C++. */
#pragma once

#include <stddef.h>
#include "comm/comm.h"

/* The sum of v[0], v[stride] .., n >= 1 of them. */
static inline double lat_tree_sum(const double *v, size_t n, size_t stride)
{
    size_t half = 1;
    if (n == 1)
        return v[0];
    while (2 * half < n)
        half *= 2;
    return lat_tree_sum(v, half, stride) + lat_tree_sum(v + half * stride, n - half, stride);
}

/* The same of `numbers` numbers side by side, in place: v[k] is the sum of all
 * v[i * stride * numbers + k]; the others are lost. */
static inline void lat_tree_fold(double *v, size_t n, size_t stride, size_t numbers)
{
    for (size_t d = 1; d < n; d *= 2)
        for (size_t i = 0; i + d < n; i += 2 * d) {
            double *const to = v + i * stride * numbers;
            const double *const from = v + (i + d) * stride * numbers;
            for (size_t k = 0; k < numbers; k++)
                to[k] += from[k];
        }
}
