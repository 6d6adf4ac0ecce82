/* SPDX-License-Identifier: BSD-3-Clause */
/* spinor_lanes.h: linear algebra of spinors over blocks (template; dirac_lanes.c expands it). */

/* For each block and active column: `at` is its first vector, `to` its numbers for sums;
 * `from` is the first vector of a term, which may have one column alone. */
#define EACH_SPINOR(...) \
    for (int block = begin; block < end; block++) \
        for (int i = 0; i < p->columns; i++) { \
            const int column = p->column[i]; \
            const size_t at = ((size_t)block * (size_t)p->all + (size_t)column) * SPINOR; \
            const size_t from = p->one ? (size_t)block * SPINOR : at; \
            double *to = p->sums \
                         + (((size_t)block * (size_t)p->columns + (size_t)i) * (size_t)p->numbers \
                            * LAT_WIDTH); \
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

LAT_HOST_DEVICE void LAT_(product)(double *to, const LAT_T *x, const LAT_T *y)
{
    LAT_T re = LAT_(set)(0), im = re, re2 = re, im2 = re;
    for (int e = 0; e < SPINOR; e += 2) {
        re += x[e] * y[e];
        re2 += x[e + 1] * y[e + 1];
        im += x[e] * y[e + 1];
        im2 -= x[e + 1] * y[e];
    }
    LAT_(put_number)(to, re + re2);
    LAT_(put_number)(to + LAT_WIDTH, im + im2);
}

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
        else if (p->b)
            for (int e = 0; e < SPINOR; e++)
                y[e] *= b.re;
        LAT_(add)(y, p->a[0], column, INPUT(p->x[0]));
        if (p->numbers)
            LAT_(put_number)(to, LAT_(square)(y));
    })
}

static void LAT_(axpys)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        LAT_T *y = FIELD(p->y);
        for (int j = 0; j < p->terms; j++)
            LAT_(add)(y, p->a[j], column, TERM(j));
        if (p->numbers)
            LAT_(put_number)(to, LAT_(square)(y));
    })
}

static void LAT_(dots)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        for (int j = 0; j < p->terms; j++)
            LAT_(product)(to + 2 * j * LAT_WIDTH, TERM(j), INPUT(p->y));
        if (p->numbers & 1)
            LAT_(put_number)(to + 2 * p->terms * LAT_WIDTH, LAT_(square)(INPUT(p->y)));
    })
}

static void LAT_(cg)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        LAT_T *x = FIELD(p->y), *dir = FIELD(p->z);
        const LAT_T *r = INPUT(p->x[0]);
        const LAT_T a = LAT_(scalar)(p->a[0], column).re, c = LAT_(scalar)(p->a[1], column).re,
                    d = LAT_(scalar)(p->a[2], column).re;
        for (int e = 0; e < SPINOR; e++) {
            const LAT_T q = dir[e];
            x[e] += a * q;
            dir[e] = c * r[e] + d * q;
        }
    })
}

static void LAT_(bicgstab)(const lat_pass *p, int begin, int end)
{
    EACH_SPINOR({
        LAT_T *x = FIELD(p->y), *r = FIELD(p->z);
        const LAT_T *dir = INPUT(p->x[0]), *t = INPUT(p->x[1]);
        const LAT_(c) a = LAT_(scalar)(p->a[0], column), w = LAT_(scalar)(p->a[1], column);
        for (int e = 0; e < SPINOR; e += 2) {
            const LAT_T re = r[e], im = r[e + 1];
            LAT_T xr = x[e], xi = x[e + 1];
            xr += a.re * dir[e];
            xi += a.re * dir[e + 1];
            xr -= a.im * dir[e + 1];
            xi += a.im * dir[e];
            xr += w.re * re;
            xi += w.re * im;
            xr -= w.im * im;
            xi += w.im * re;
            x[e] = xr;
            x[e + 1] = xi;
            LAT_T rr = re, ri = im;
            rr -= w.re * t[e];
            ri -= w.re * t[e + 1];
            rr += w.im * t[e + 1];
            ri -= w.im * t[e];
            r[e] = rr;
            r[e + 1] = ri;
        }
        LAT_(product)(to, INPUT(p->x[2]), r);
        LAT_(put_number)(to + 2 * LAT_WIDTH, LAT_(square)(r));
    })
}

static void LAT_(bicgstab_direction)(const lat_pass *p, int begin, int end){EACH_SPINOR({
    LAT_T *dir = FIELD(p->y);
    const LAT_T *r = INPUT(p->x[0]), *v = INPUT(p->x[1]);
    const LAT_(c) b = LAT_(scalar)(p->a[0], column), w = LAT_(scalar)(p->a[1], column);
    for (int e = 0; e < SPINOR; e += 2) {
        LAT_T re = dir[e], im = dir[e + 1], nr = r[e], ni = r[e + 1];
        re -= w.re * v[e];
        im -= w.re * v[e + 1];
        re += w.im * v[e + 1];
        im -= w.im * v[e];
        nr += b.re * re;
        ni += b.re * im;
        nr -= b.im * im;
        ni += b.im * re;
        dir[e] = nr;
        dir[e + 1] = ni;
    }
})}

/* to[k][lane] <- the sum of number k, k < count, of n blocks, one after the other. */
LAT_HOST_DEVICE void LAT_(sum_of)(const double *v, size_t pitch, const int32_t *block, int64_t n,
                                  int count, double *to)
{
    enum { VECTORS = LAT_WIDTH * 8 / BYTES };
    doubles sum[3][VECTORS] = {0};
    for (int64_t i = 0; i < n; i++) {
        const doubles *at = (const doubles *)(v + (size_t)block[i] * pitch);
        LAT_UNROLL
        for (int k = 0; k < count; k++)
            for (int e = 0; e < VECTORS; e++)
                sum[k][e] += at[k * VECTORS + e];
    }
    memcpy(to, sum, (size_t)count * LAT_WIDTH * sizeof *to);
}

static void LAT_(sum)(const double *v, size_t pitch, const int32_t *block, int64_t n, int count,
                      double *to)
{
    switch (count) {
    case 1: LAT_(sum_of)(v, pitch, block, n, 1, to); break;
    case 2: LAT_(sum_of)(v, pitch, block, n, 2, to); break;
    default: LAT_(sum_of)(v, pitch, block, n, 3, to); break;
    }
}
#undef EACH_SPINOR
#undef FIELD
#undef INPUT
#undef TERM
