/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_sweeps.h: linear algebra of batches over blocks (template; vector_lanes.c expands it). */
#include "site/real.h"
#include "site/matrix.h"
#include "site/elementary.h"

/* As many numbers as doubles fill a vector, as doubles: one instruction, of which gcc makes five
 * where __builtin_convertvector asks for it. */
LAT_HOST_DEVICE doubles LAT_(widen)(const LAT_S *v)
{
#if LAT_SIZE == 8
    return *(const doubles *)v;
#elif BYTES == 64
    return (doubles)_mm512_cvtps_pd(_mm256_load_ps(v));
#elif BYTES == 32
    return (doubles)_mm256_cvtps_pd(_mm_load_ps(v));
#else
    typedef LAT_S pair __attribute__((vector_size(BYTES / 8 * LAT_SIZE)));
    return __builtin_convertvector(*(const pair *)v, doubles);
#endif
}

#include "vector/cpu/shadow_sweeps.h"

/* For each block and active column: `at` is its first vector, `to` its numbers for sums;
 * `from` is the first vector of a term, which may have one column alone. */
#define EACH_SPINOR(...) \
    for (int block = begin; block < end; block++) \
        for (int i = 0; i < p->columns; i++) { \
            const int column = p->column[i]; \
            const size_t at = ((size_t)block * (size_t)p->all + (size_t)column) * SPINOR; \
            const size_t from = p->one ? (size_t)block * SPINOR : at; \
            LAT_T *to = (LAT_T *)p->sums \
                        + ((size_t)block * (size_t)p->columns + (size_t)i) * (size_t)p->numbers; \
            (void)to; \
            (void)from; \
            __VA_ARGS__ \
        }

/* A field's spinor, and a column's scalar, NULL being 1. */
#define FIELD(f) ((LAT_T *)(f) + at)
#define INPUT(f) ((const LAT_T *)(f) + at)
#define TERM(j) ((const LAT_T *)p->x[j] + from)
LAT_HOST_DEVICE LAT_(c) LAT_(scalar)(const lat_scalar *a, int column)
{
    LAT_(c) s = {LAT_(set)(a ? (LAT_S)a[column].re : 1), LAT_(set)(a ? (LAT_S)a[column].im : 0)};
    return s;
}

LAT_HOST_DEVICE bool LAT_(is_real)(const lat_scalar *a, int column)
{
    return !a || a[column].im == 0;
}

LAT_HOST_DEVICE LAT_T LAT_(square)(const LAT_T *v)
{
    LAT_T q[2] = {LAT_(set)(0), LAT_(set)(0)};
    for (int e = 0; e < SPINOR; e += 2) {
        q[0] += v[e] * v[e];
        q[1] += v[e + 1] * v[e + 1];
    }
    return q[0] + q[1];
}

LAT_HOST_DEVICE void LAT_(product)(LAT_T *to, const LAT_T *x, const LAT_T *y)
{
    LAT_T re = LAT_(set)(0), im = re, re2 = re, im2 = re;
    for (int e = 0; e < SPINOR; e += 2) {
        re += x[e] * y[e];
        re2 += x[e + 1] * y[e + 1];
        im += x[e] * y[e + 1];
        im2 -= x[e + 1] * y[e];
    }
    to[0] = re + re2;
    to[1] = im + im2;
}

/* x + a y of a complex component. */
LAT_HOST_DEVICE LAT_(c) LAT_(plus)(LAT_(c) x, LAT_(c) a, LAT_(c) y)
{
    x.re += a.re * y.re;
    x.im += a.re * y.im;
    x.re -= a.im * y.im;
    x.im += a.im * y.re;
    return x;
}

LAT_HOST_DEVICE LAT_(c) LAT_(minus)(LAT_(c) x, LAT_(c) a, LAT_(c) y)
{
    x.re -= a.re * y.re;
    x.im -= a.re * y.im;
    x.re += a.im * y.im;
    x.im -= a.im * y.re;
    return x;
}

/* Asks for the lines of vectors e and e + 1, e even, some way on: passes read more fields at once
 * than the processor sees coming. */
#define AHEAD 1024 /* bytes */
LAT_HOST_DEVICE void LAT_(ask)(const LAT_T *v, int e)
{
    if (BYTES == 64 || e * BYTES % 64 == 0)
        __builtin_prefetch((const char *)(v + e) + AHEAD);
    if (BYTES == 64)
        __builtin_prefetch((const char *)(v + e + 1) + AHEAD);
}

LAT_HOST_DEVICE LAT_(c) LAT_(component)(const LAT_T *v) { return (LAT_(c)){v[0], v[1]}; }

/* y += a x */
LAT_HOST_DEVICE void LAT_(add)(LAT_T *y, const lat_scalar *a, int column, const LAT_T *x)
{
    const LAT_(c) s = LAT_(scalar)(a, column);
    if (LAT_(is_real)(a, column)) {
        for (int e = 0; e < SPINOR; e++)
            y[e] += s.re * x[e];
        return;
    }
    for (int e = 0; e < SPINOR; e += 2) {
        const LAT_T re = x[e], im = x[e + 1];
        LAT_(ask)(x, e);
        LAT_(ask)(y, e);
        y[e] += s.re * re;
        y[e] -= s.im * im;
        y[e + 1] += s.re * im;
        y[e + 1] += s.im * re;
    }
}

/* y <- a y */
LAT_HOST_DEVICE void LAT_(scale)(LAT_T *y, const lat_scalar *a, int column)
{
    const LAT_(c) s = LAT_(scalar)(a, column);
    for (int e = 0; e < SPINOR; e += 2) {
        const LAT_T re = y[e], im = y[e + 1];
        y[e] = s.re * re - s.im * im;
        y[e + 1] = s.re * im + s.im * re;
    }
}

static void LAT_(axpby)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        LAT_T *y = FIELD(p->y);
        const LAT_(c) b = LAT_(scalar)(p->b, column);
        if (!LAT_(is_real)(p->b, column))
            LAT_(scale)(y, p->b, column);
        else if (p->b && p->b[column].re == 0)
            for (int e = 0; e < SPINOR; e++)
                y[e] = LAT_(set)(0);
        else if (p->b)
            for (int e = 0; e < SPINOR; e++)
                y[e] *= b.re;
        LAT_(add)(y, p->a[0], column, INPUT(p->x[0]));
        if (p->numbers)
            to[0] = LAT_(square)(y);
    })
}

static void LAT_(axpys)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        LAT_T *y = FIELD(p->y);
        for (int j = 0; j < p->terms; j++)
            LAT_(add)(y, p->a[j], column, TERM(j));
        if (p->numbers)
            to[0] = LAT_(square)(y);
    })
}

static void LAT_(dots)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        for (int j = 0; j < p->terms; j++)
            LAT_(product)(to + 2 * j, TERM(j), INPUT(p->y));
        if (p->numbers & 1)
            to[2 * p->terms] = LAT_(square)(INPUT(p->y));
    })
}

static void LAT_(cg)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        LAT_T *x = FIELD(p->y), *dir = FIELD(p->z);
        const LAT_T *r = INPUT(p->x[0]);
        const LAT_T a = LAT_(scalar)(p->a[0], column).re, c = LAT_(scalar)(p->a[1], column).re,
                    d = LAT_(scalar)(p->a[2], column).re;
        for (int e = 0; e < SPINOR; e += 2) {
            const LAT_T q[2] = {dir[e], dir[e + 1]};
            LAT_(ask)(x, e);
            LAT_(ask)(dir, e);
            LAT_(ask)(r, e);
            x[e] += a * q[0];
            x[e + 1] += a * q[1];
            dir[e] = c * r[e] + d * q[0];
            dir[e + 1] = c * r[e + 1] + d * q[1];
        }
    })
}

static void LAT_(bicgstab)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        LAT_T *x = FIELD(p->y), *r = FIELD(p->z), *dir = FIELD(p->dir);
        LAT_T q[2] = {LAT_(set)(0), LAT_(set)(0)};
        const LAT_T *t = INPUT(p->x[0]), *v = INPUT(p->x[1]);
        const LAT_(c) a = LAT_(scalar)(p->a[0], column), w = LAT_(scalar)(p->a[1], column),
                      b = LAT_(scalar)(p->b, column);
        for (int e = 0; e < SPINOR; e += 2) {
            LAT_(ask)(x, e);
            LAT_(ask)(r, e);
            LAT_(ask)(dir, e);
            LAT_(ask)(t, e);
            LAT_(ask)(v, e);
            const LAT_(c) d = LAT_(component)(dir + e), s = LAT_(component)(r + e),
                          y = LAT_(plus)(LAT_(plus)(LAT_(component)(x + e), a, d), w, s),
                          z = LAT_(minus)(s, w, LAT_(component)(t + e)),
                          n = LAT_(plus)(z, b, LAT_(minus)(d, w, LAT_(component)(v + e)));
            x[e] = y.re;
            x[e + 1] = y.im;
            r[e] = z.re;
            r[e + 1] = z.im;
            dir[e] = n.re;
            dir[e + 1] = n.im;
            q[0] += z.re * z.re;
            q[1] += z.im * z.im;
        }
        to[0] = q[0] + q[1];
    })
}

static void LAT_(shadow_of)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({ LAT_(shadow)(to, INPUT(p->y), (const LAT_(bits) *)p->signs + block, false); })
}

/* Lanes whose doubles fill a vector. */
typedef LAT_S LAT_(lanes) __attribute__((vector_size(BYTES / 8 * LAT_SIZE)));

/* to[k][lane] <- the sum of number k, k < count, of n blocks, one after the other. */
LAT_HOST_DEVICE void LAT_(sum_of)(const LAT_T *v, size_t pitch, const int32_t *block, int64_t n,
                                  int count, double *to)
{
    enum { VECTORS = LAT_WIDTH * 8 / BYTES };
    doubles sum[3][VECTORS] = {0};
    for (int64_t i = 0; i < n; i++) {
        const LAT_S *at = (const LAT_S *)(v + (size_t)block[i] * pitch);
        LAT_UNROLL
        for (int k = 0; k < count; k++)
            for (int e = 0; e < VECTORS; e++)
                sum[k][e] += LAT_(widen)(at + (k * VECTORS + e) * (BYTES / 8));
    }
    memcpy(to, sum, (size_t)count * LAT_WIDTH * sizeof *to);
}

static void LAT_(sum)(const void *v, size_t pitch, const int32_t *block, int64_t n, int count,
                      double *to)
{
    switch (count) {
    case 1: LAT_(sum_of)(v, pitch, block, n, 1, to); break;
    case 2: LAT_(sum_of)(v, pitch, block, n, 2, to); break;
    default: LAT_(sum_of)(v, pitch, block, n, 3, to); break;
    }
}

/* ---- projections ----------------------------------------------------------------------------- */

/* Where blocks lie: of x[j], and of a column. */
#define ALONE(j, block) ((const LAT_T *)p->x[j] + (size_t)(block)*SPINOR)
#define COLUMN(i, block) \
    ((const LAT_T *)p->y + ((size_t)(block) * (size_t)p->all + (size_t)p->column[i]) * SPINOR)

/* Products of `terms` and `columns`, 1 or 2 each, of n blocks, are added to `to`, whose numbers of
 * a column are `pitch` vectors of doubles apart. Loads are shared, and operations are those of
 * product(). */
LAT_HOST_DEVICE void LAT_(products_of)(const lat_pass *p, int j, int terms, int i, int columns,
                                       const int32_t *block, int64_t n, doubles *to)
{
    enum { VECTORS = LAT_WIDTH * 8 / BYTES };
    const size_t pitch = (size_t)p->terms * 2 * VECTORS;
    for (int64_t k = 0; k < n; k++) {
        const LAT_T *x[2], *y[2];
        LAT_T q[2][2][4];
        for (int a = 0; a < terms; a++)
            x[a] = ALONE(j + a, block[k]);
        for (int b = 0; b < columns; b++)
            y[b] = COLUMN(i + b, block[k]);
        for (int a = 0; a < terms; a++)
            for (int b = 0; b < columns; b++)
                for (int e = 0; e < 4; e++)
                    q[a][b][e] = LAT_(set)(0);
        for (int e = 0; e < SPINOR; e += 2)
            for (int a = 0; a < terms; a++)
                for (int b = 0; b < columns; b++) {
                    q[a][b][0] += x[a][e] * y[b][e];
                    q[a][b][1] += x[a][e + 1] * y[b][e + 1];
                    q[a][b][2] += x[a][e] * y[b][e + 1];
                    q[a][b][3] -= x[a][e + 1] * y[b][e];
                }
        for (int a = 0; a < terms; a++)
            for (int b = 0; b < columns; b++) {
                const LAT_T sum[2] = {q[a][b][0] + q[a][b][1], q[a][b][2] + q[a][b][3]};
                const LAT_(lanes) *from = (const LAT_(lanes) *)sum;
                doubles *at = to + (size_t)b * pitch + (size_t)a * 2 * VECTORS;
                for (int e = 0; e < 2 * VECTORS; e++)
                    at[e] += __builtin_convertvector(from[e], doubles);
            }
    }
}

/* Some blocks at a time, which the cache holds with all x. */
static void LAT_(products)(const lat_pass *p, const int32_t *block, int64_t n, double *to)
{
    enum { VECTORS = LAT_WIDTH * 8 / BYTES, RUN = 4 };
    const size_t pitch = (size_t)p->terms * 2 * VECTORS;
    doubles *sum = (doubles *)to;
    memset(sum, 0, (size_t)p->columns * pitch * sizeof *sum);
    for (int64_t k = 0; k < n; k += RUN) {
        const int64_t run = n - k < RUN ? n - k : RUN;
        for (int i = 0; i < p->columns; i += 2)
            for (int j = 0; j < p->terms; j += 2) {
                doubles *at = sum + (size_t)i * pitch + (size_t)j * 2 * VECTORS;
                const bool two = j + 1 < p->terms, both = i + 1 < p->columns;
                if (two && both)
                    LAT_(products_of)(p, j, 2, i, 2, block + k, run, at);
                else if (two)
                    LAT_(products_of)(p, j, 2, i, 1, block + k, run, at);
                else if (both)
                    LAT_(products_of)(p, j, 1, i, 2, block + k, run, at);
                else
                    LAT_(products_of)(p, j, 1, i, 1, block + k, run, at);
            }
    }
}

/* y += the sum of a[j + k] x[j + k], k < terms, of a block and column. */
LAT_HOST_DEVICE void LAT_(combine_of)(const lat_pass *p, int j, int terms, int block, int column)
{
    LAT_T *y = (LAT_T *)p->y + ((size_t)block * (size_t)p->all + (size_t)column) * SPINOR;
    const LAT_T *x[4];
    LAT_(c) s[4];
    for (int k = 0; k < terms; k++) {
        x[k] = ALONE(j + k, block);
        s[k] = LAT_(scalar)(p->a[j + k], column);
    }
    for (int e = 0; e < SPINOR; e += 2) {
        LAT_T re = y[e], im = y[e + 1];
        for (int k = 0; k < terms; k++) {
            re += s[k].re * x[k][e];
            re -= s[k].im * x[k][e + 1];
            im += s[k].re * x[k][e + 1];
            im += s[k].im * x[k][e];
        }
        y[e] = re;
        y[e + 1] = im;
    }
}

static void LAT_(combine)(const lat_pass *p, int begin, int end)
{
    for (int block = begin; block < end; block++)
        for (int j = 0; j < p->terms; j += 4)
            for (int i = 0; i < p->columns; i++)
                switch (p->terms - j) {
                case 1: LAT_(combine_of)(p, j, 1, block, p->column[i]); break;
                case 2: LAT_(combine_of)(p, j, 2, block, p->column[i]); break;
                case 3: LAT_(combine_of)(p, j, 3, block, p->column[i]); break;
                default: LAT_(combine_of)(p, j, 4, block, p->column[i]); break;
                }
}
#undef ALONE
#undef COLUMN
#undef AHEAD
#undef EACH_SPINOR
#undef FIELD
#undef INPUT
#undef TERM
