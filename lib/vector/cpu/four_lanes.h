/* SPDX-License-Identifier: BSD-3-Clause */
/* four_lanes.h: numbers of four sites of a host field in a vector, for what brings host fields into
 * the lanes of a CPU and back. A row is a site's numbers in a host field; rows of four sites become
 * vectors, [number][lane], and back. */
#pragma once

#include <string.h>
#include "base/isa.h"
#include "grid/team.h"
#include "lattice/field.h"
#include "lattice/iterate.h"

enum { SIDE = 4, MATRIX = 18 /* reals, at most */ };

/* Four lanes; the same where they lie in a field; which of them. */
typedef double four __attribute__((vector_size(8 * SIDE)));
typedef double four_doubles __attribute__((vector_size(8 * SIDE), aligned(8), may_alias));
typedef float four_floats __attribute__((vector_size(4 * SIDE), aligned(4), may_alias));
typedef int64_t which __attribute__((vector_size(8 * SIDE)));

/* Four rows to four vectors, or back. */
LAT_INLINE void transpose(four v[SIDE])
{
    const four a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6),
               b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7),
               c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6),
               d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

LAT_INLINE void rows_to_vectors(const double *const row[SIDE], int n, four *to)
{
    int k = 0;
    for (; k + SIDE <= n; k += SIDE) {
        for (int l = 0; l < SIDE; l++)
            to[k + l] = *(const four_doubles *)(row[l] + k);
        transpose(to + k);
    }
    for (; k < n; k++)
        to[k] = (four){row[0][k], row[1][k], row[2][k], row[3][k]};
}

/* n is a multiple of SIDE. */
LAT_INLINE void vectors_to_rows(four *v, int n, double *const row[SIDE])
{
    for (int k = 0; k < n; k += SIDE) {
        transpose(v + k);
        for (int l = 0; l < SIDE; l++)
            *(four_doubles *)(row[l] + k) = v[k + l];
    }
}

/* Lanes first .. first+3 of an element; of a block of two lanes, both. */
LAT_INLINE void put_vector(lat_lane_view a, int64_t block, int first, int element, four v)
{
    const int64_t at = (block * a.elements + element) * a.lanes + first;
    if (a.real == 4)
        *(four_floats *)((float *)a.p + at) = __builtin_convertvector(v, four_floats);
    else if (a.lanes >= SIDE)
        *(four_doubles *)((double *)a.p + at) = v;
    else
        memcpy((double *)a.p + at, &v, sizeof(double) * (size_t)a.lanes);
}

LAT_INLINE four get_vector(lat_lane_view a, int64_t block, int first, int element)
{
    const int64_t at = (block * a.elements + element) * a.lanes + first;
    four v = {0};
    if (a.real == 4)
        v = __builtin_convertvector(*(const four_floats *)((const float *)a.p + at), four);
    else if (a.lanes >= SIDE)
        v = *(const four_doubles *)((const double *)a.p + at);
    else
        memcpy(&v, (const double *)a.p + at, sizeof(double) * (size_t)a.lanes);
    return v;
}

/* The sites of lanes first .. first+3: -1 beyond the last one. */
LAT_INLINE void sites_of(lat_lane_view a, const int64_t *site, int first, int64_t to[SIDE])
{
    for (int l = 0; l < SIDE; l++)
        to[l] = first + l < a.lanes ? site[first + l] : -1;
}

LAT_INLINE bool any(which w) { return (w[0] | w[1] | w[2] | w[3]) != 0; }

/* Matrix index[l] of a field in lane l. */
LAT_INLINE void load_matrices(const lat_field *f, int n, const size_t index[SIDE], four *m)
{
    const int reals = 2 * n * n;
    const double *row[SIDE];
    double buffer[SIDE][MATRIX];
    for (int l = 0; l < SIDE; l++) {
        if (f->head.real == LAT_F64) {
            row[l] = (const double *)f->data + index[l] * (size_t)reals;
        } else {
            lat_load(f, index[l], n, buffer[l]);
            row[l] = buffer[l];
        }
    }
    rows_to_vectors(row, reals, m);
}
