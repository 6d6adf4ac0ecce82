/* SPDX-License-Identifier: BSD-3-Clause */
/* sums_cpu.c: sums over the sites of a batch on the CPU, in the order of sum_order.h, and
 * projections, whose sums are made where products are. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/threads.h"
#include "grid/reduce.h"
#include "vector/cpu/space_cpu.h"

/* ---- sums ------------------------------------------------------------------------------------ */

/* Reserves sums of parts for so many numbers. */
static int reserve_parts(lat_cpu_space *s, size_t need)
{
    const size_t parts = (size_t)(2 * s->order.slices * s->order.boxes);
    if (need <= s->reserved_parts)
        return 0;
    free(s->parts);
    s->reserved_parts = 0;
    s->parts = lat_alloc(parts, need * sizeof *s->parts, "numbers to be added up");
    if (!s->parts)
        return -1;
    s->reserved_parts = need;
    return 0;
}

int lat_cpu_sum_reserve(lat_cpu_space *s, const lat_part *p, int numbers)
{
    const lat_layout *lay = lat_cpu(s->space.grid)->lay;
    const size_t sites = (size_t)lay->nblocks * (size_t)lay->lanes,
                 need = (size_t)(p->columns * numbers);
    if (reserve_parts(s, need))
        return -1;
    if (need <= s->reserved)
        return 0;
    free(s->numbers);
    s->reserved = 0;
    s->numbers = lat_alloc(sites, need * (size_t)s->lanes->real, "numbers to be added up");
    if (!s->numbers)
        return -1;
    s->reserved = need;
    return 0;
}

/* Adds up the sites of a part; to[k] is the sum of number k, k < 3 or fewer, vector k of a block's
 * `pitch` vectors. */
static void add_sites(const lat_vector_lanes *lanes, const void *v, size_t pitch,
                      const int32_t *position, int64_t n, int count, double *to)
{
    double sum[3] = {0};
    const int shift = __builtin_ctz((unsigned)lanes->lanes);
    const int32_t mask = (1 << shift) - 1;
    for (int64_t i = 0; i < n; i++) {
        const size_t at = ((size_t)(position[i] >> shift) * pitch << shift)
                          + (size_t)(position[i] & mask);
        for (int k = 0; k < count; k++) {
            const size_t number = at + (size_t)(k << shift);
            sum[k] += lanes->real == 4 ? (double)((const float *)v)[number]
                                       : ((const double *)v)[number];
        }
    }
    memcpy(to, sum, (size_t)count * sizeof *to);
}

/* The parts of a bundle, of the i-th active column. */
static void add_bundle(lat_cpu_space *s, int columns, int numbers, int bundle, int i)
{
    const lat_sum_order *o = &s->order;
    const size_t pitch = (size_t)(columns * numbers),
                 vector = (size_t)(s->lanes->real * s->lanes->lanes),
                 parts = (size_t)(2 * o->slices * o->boxes);
    const int32_t *item = o->item + o->first[bundle], *part = o->part + bundle * o->width;
    const int64_t n = o->first[bundle + 1] - o->first[bundle];
    double sum[3 * 16], *to = s->parts + (size_t)i * parts * (size_t)numbers;
    for (int k = 0; k < numbers; k += 3) {
        const char *v = (const char *)s->numbers + (size_t)(i * numbers + k) * vector;
        const int count = numbers - k < 3 ? numbers - k : 3;
        if (o->width == 1)
            add_sites(s->lanes, v, pitch, item, n, count, sum);
        else
            s->lanes->sum(v, pitch, item, n, count, sum);
        for (int l = 0; l < o->width; l++)
            for (int e = 0; e < count; e++)
                to[part[l] * numbers + k + e] = sum[e * o->width + l];
    }
}

/* Some parts of one parity, in pairs, are added to sum[numbers]. */
static void add_parts(const double *part, int boxes, int numbers, double *sum)
{
    double v[LAT_SUM_BOXES * LAT_SUM_NUMBERS];
    memcpy(v, part, (size_t)(boxes * numbers) * sizeof *v);
    for (int n = boxes / 2; n > 0; n /= 2)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < numbers; k++)
                v[j * numbers + k] = v[2 * j * numbers + k] + v[(2 * j + 1) * numbers + k];
    for (int k = 0; k < numbers; k++)
        sum[k] += v[k];
}

/* Where the bundles of a part begin; how many there are. */
static int bundles_of(const lat_sum_order *o, lat_parity parity, int *count)
{
    const int begin = o->bundles[parity == LAT_ODD];
    *count = o->bundles[parity == LAT_EVEN ? 1 : 2] - begin;
    return begin;
}

/* Parts to slices, or to this rank's parts of slices, once all parts are there. */
static void sum_parts(lat_cpu_space *s, const lat_part *p, int numbers)
{
    const lat_sum_order *o = &s->order;
    const lat_reduce_parts own = lat_reduce_own(s->space.grid, &o->parts);
    const int sums = own.z * own.y, boxes = o->boxes / sums;
    int64_t from, to;
    lat_barrier_wait(&s->barrier, lat_team_threads());
    lat_thread_range((int64_t)o->slices * p->columns, &from, &to);
    for (int64_t n = from; n < to; n++) {
        double *slice = s->slices + n * own.apart * sums * numbers;
        memset(slice, 0, (size_t)(own.apart * sums * numbers) * sizeof *slice);
        for (int parity = 0; parity < 2; parity++) {
            const int64_t row = (2 * (n / o->slices) + parity) * o->slices + n % o->slices;
            double *sum = slice + (own.apart > 1 ? parity * sums * numbers : 0);
            for (int i = 0; i < sums; i++)
                if (p->parity == LAT_BOTH || (int)p->parity == parity)
                    add_parts(s->parts + (row * o->boxes + i * boxes) * numbers, boxes, numbers,
                              sum + i * numbers);
        }
    }
}

void lat_cpu_sum_slices(lat_cpu_space *s, const lat_part *p, int numbers)
{
    int64_t from, to;
    int count;
    const int begin = bundles_of(&s->order, p->parity, &count);
    lat_thread_range((int64_t)count * p->columns, &from, &to);
    for (int64_t n = from; n < to; n++)
        add_bundle(s, p->columns, numbers, begin + (int)(n / p->columns), (int)(n % p->columns));
    sum_parts(s, p, numbers);
}

int lat_cpu_sum_total(lat_cpu_space *s, const lat_part *p, int numbers)
{
    return lat_reduce_total(s->space.grid, p->columns, &s->order.parts, numbers, 0, s->slices,
                            s->total);
}

/* ---- projections ----------------------------------------------------------------------------- */

enum { COLUMNS_AT_ONCE = 12 };

/* Products of a bundle with some columns, from `first` on, to its parts. */
static void multiply_bundle(lat_cpu_space *s, const lat_pass *pass, int bundle, int first)
{
    const lat_sum_order *o = &s->order;
    const int numbers = pass->numbers, left = pass->columns - first;
    const size_t parts = (size_t)(2 * o->slices * o->boxes);
    const int32_t *part = o->part + bundle * o->width;
    lat_pass some = *pass;
    _Alignas(64) double sum[COLUMNS_AT_ONCE * 2 * LAT_VECTOR_TERMS * 16]; /* 16 lanes at most */
    some.column = pass->column + first;
    some.columns = left < COLUMNS_AT_ONCE ? left : COLUMNS_AT_ONCE;
    s->lanes->products(&some, o->item + o->first[bundle], o->first[bundle + 1] - o->first[bundle],
                       sum);
    for (int i = 0; i < some.columns; i++)
        for (int l = 0; l < o->width; l++) {
            double *to = s->parts
                         + ((size_t)(first + i) * parts + (size_t)part[l]) * (size_t)numbers;
            for (int k = 0; k < numbers; k++)
                to[k] = sum[(i * numbers + k) * o->width + l];
        }
}

static void multiply_share(lat_cpu_space *s, const lat_part *p, const lat_pass *pass)
{
    int64_t from, to;
    int count;
    const int begin = bundles_of(&s->order, p->parity, &count),
              groups = (p->columns + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
    lat_thread_range((int64_t)count * groups, &from, &to);
    for (int64_t n = from; n < to; n++)
        multiply_bundle(s, pass, begin + (int)(n / groups), (int)(n % groups) * COLUMNS_AT_ONCE);
    sum_parts(s, p, pass->numbers);
}

/* Sums are made where products are, a whole vector at a time; or, where lanes do not run in boxes,
 * as those of dots are. */
static int multiply(lat_space *space, const lat_part *p, lat_pass *pass)
{
    lat_cpu_space *s = lat_cpu_space_of(space);
    if (s->order.width == 1)
        return lat_cpu_pass(space, p, s->lanes->dots, pass);
    pass->columns = p->columns;
    pass->all = space->columns;
    pass->column = p->column;
    if (reserve_parts(s, (size_t)(p->columns * pass->numbers)))
        return -1;
    if (lat_threads() == 1) {
        multiply_share(s, p, pass);
    } else {
#pragma omp parallel
        multiply_share(s, p, pass);
    }
    return lat_cpu_sum_total(s, p, pass->numbers);
}

/* LAT_VECTOR_TERMS of n fields, from `first` on. */
static lat_pass some_terms(int n, int first, const lat_dfield *const *w, lat_dfield *y)
{
    lat_pass pass = {.terms = n - first < LAT_VECTOR_TERMS ? n - first : LAT_VECTOR_TERMS,
                     .one = true,
                     .y = y->data};
    for (int j = 0; j < pass.terms; j++)
        pass.x[j] = w[first + j]->data;
    return pass;
}

int lat_cpu_products(lat_space *s, const lat_part *p, int n, const lat_dfield *const *w,
                     const lat_dfield *y, lat_scalar *dot)
{
    for (int first = 0; first < n; first += LAT_VECTOR_TERMS) {
        lat_pass pass = some_terms(n, first, w, (lat_dfield *)y);
        pass.numbers = 2 * pass.terms;
        if (multiply(s, p, &pass))
            return -1;
        for (int j = 0; j < pass.terms; j++)
            lat_cpu_read_dot(s, p, pass.numbers, 2 * j, dot + (first + j) * s->columns);
    }
    return 0;
}

int lat_cpu_combine(lat_space *s, const lat_part *p, int n, const lat_scalar *a,
                    const lat_dfield *const *w, lat_dfield *y)
{
    for (int first = 0; first < n; first += LAT_VECTOR_TERMS) {
        lat_pass pass = some_terms(n, first, w, y);
        for (int j = 0; j < pass.terms; j++)
            pass.a[j] = a + (first + j) * s->columns;
        if (lat_cpu_pass(s, p, lat_cpu_space_of(s)->lanes->combine, &pass))
            return -1;
    }
    return 0;
}
