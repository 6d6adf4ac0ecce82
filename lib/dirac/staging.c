/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.c: pieces of host fields as doubles. */
#include "staging.h"

#include <math.h>
#include <string.h>
#include "site/random.h"

void lat_stage_links(const lat_field *u, size_t first, size_t count, double *to)
{
    const size_t reals = lat_header_full_reals(&u->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        lat_field_get(u, first + i, to + reals * i);
}

void lat_stage_spinors(const lat_field *f, int object, size_t first, size_t count, double *to)
{
    const size_t objects = lat_header_objects(&f->head), reals = lat_header_full_reals(&f->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        lat_field_get(f, (first + i) * objects + (size_t)object, to + reals * i);
}

/* Compares with the zeros of another object, as bytes are compared faster than numbers; -0 is not
 * taken for zero. A thread leaves at the first object that is not. */
bool lat_stage_zero(const lat_field *f, int object, size_t first, size_t count)
{
    enum { SOME = 512 };
    static const double zeros[8 * LAT_MAX_COLOURS];
    const size_t objects = lat_header_objects(&f->head),
                 bytes = lat_header_full_reals(&f->head) * (size_t)f->head.real;
    bool zero = true;
#pragma omp parallel for schedule(static) reduction(&& : zero)
    for (size_t from = 0; from < count; from += SOME)
        for (size_t i = from; i < count && i < from + SOME && zero; i++)
            zero = !memcmp((const char *)f->data + ((first + i) * objects + (size_t)object) * bytes,
                           zeros, bytes);
    return zero;
}

void lat_unstage_spinors(lat_field *f, int object, size_t first, size_t count, const double *from)
{
    const size_t objects = lat_header_objects(&f->head), reals = lat_header_full_reals(&f->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        lat_field_put(f, (first + i) * objects + (size_t)object, from + reals * i);
}

void lat_stage_random(uint64_t seed, int column, int reals, size_t first, size_t count, double *to)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        for (int e = 0; e < reals; e += 2) {
            uint32_t w[4];
            lat_random(seed, first + i, (uint32_t)column, LAT_FOR_SPINORS, (uint32_t)e, w);
            const double r = sqrt(-log(lat_uniform(w[0], w[1]))),
                         angle = 2 * M_PI * lat_uniform(w[2], w[3]);
            to[i * (size_t)reals + (size_t)e] = r * cos(angle);
            to[i * (size_t)reals + (size_t)e + 1] = r * sin(angle);
        }
}
