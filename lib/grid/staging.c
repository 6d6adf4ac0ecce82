/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.c: pieces of host fields as doubles. */
#include "staging.h"

#include <string.h>
#include "base/threads.h"

void lat_stage_widen(int nc, int rows, double *v)
{
    for (int r = rows - 1; r >= 0 && nc < 3; r--) {
        memmove(v + 6 * r, v + 2 * nc * r, (size_t)(2 * nc) * sizeof *v);
        memset(v + 6 * r + 2 * nc, 0, (size_t)(6 - 2 * nc) * sizeof *v);
    }
}

void lat_stage_links(const lat_field *u, size_t first, size_t count, double *to)
{
    const int nc = u->head.nc;
    if (nc == 3 && u->head.real == LAT_F64) {
        lat_memcpy(to, (const double *)u->data + LAT_STAGE_LINK * first,
                   count * LAT_STAGE_LINK * sizeof *to);
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        double *const m = to + LAT_STAGE_LINK * i;
        lat_field_get(u, first + i, m);
        lat_stage_widen(nc, nc, m);
        for (int k = 6 * nc; k < LAT_STAGE_LINK; k++)
            m[k] = k % 8 == 0;
    }
}

void lat_stage_space_links(const lat_field *u, size_t first, size_t count, double *to)
{
    const size_t link = 2 * (size_t)(u->head.nc * u->head.nc);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        for (size_t mu = 0; mu < 3; mu++)
            lat_field_get(u, (first + i) * 4 + mu, to + (3 * i + mu) * link);
}

void lat_stage_spinors(const lat_field *f, int n, const int *object, size_t first, size_t count,
                       double *to)
{
    const size_t objects = lat_header_objects(&f->head);
    const bool same = f->head.nc == 3 && f->head.real == LAT_F64;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < (size_t)n; k++) {
            const size_t at = (first + i) * objects + (size_t)object[k];
            double *const v = to + LAT_STAGE_SPINOR * (k * count + i);
            if (same) {
                memcpy(v, (const double *)f->data + LAT_STAGE_SPINOR * at,
                       LAT_STAGE_SPINOR * sizeof *v);
                continue;
            }
            lat_field_get(f, at, v);
            lat_stage_widen(f->head.nc, 4, v);
        }
}

/* Compares with the zeros of another object, as bytes are compared faster than numbers; -0 is not
 * taken for zero. A thread leaves at the first object that is not. */
bool lat_stage_zero(const lat_field *f, int n, const int *object, size_t first, size_t count)
{
    enum { SOME = 512 };
    static const double zeros[8 * LAT_MAX_COLOURS];
    const size_t objects = lat_header_objects(&f->head),
                 bytes = lat_header_full_reals(&f->head) * (size_t)f->head.real;
    bool zero = true;
    if (lat_field_zero(f, first, count))
        return true;
#pragma omp parallel for schedule(static) reduction(&& : zero)
    for (size_t from = 0; from < count; from += SOME)
        for (size_t i = from; i < count && i < from + SOME && zero; i++)
            for (int k = 0; k < n && zero; k++) {
                const size_t at = (first + i) * objects + (size_t)object[k];
                zero = !memcmp((const char *)f->data + at * bytes, zeros, bytes);
            }
    return zero;
}

void lat_unstage_spinors(lat_field *f, int n, const int *object, size_t first, size_t count,
                         const double *from)
{
    const size_t objects = lat_header_objects(&f->head), row = 2 * (size_t)f->head.nc;
    f->zeros = (struct lat_zero_slices){0};
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < (size_t)n; k++) {
            double v[LAT_STAGE_SPINOR];
            for (size_t s = 0; s < 4; s++)
                memcpy(v + row * s, from + LAT_STAGE_SPINOR * (k * count + i) + 6 * s,
                       row * sizeof *v);
            lat_field_put(f, (first + i) * objects + (size_t)object[k], v);
        }
}
