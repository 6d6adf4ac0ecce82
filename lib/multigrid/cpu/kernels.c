/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: small dense matrices times eight columns. */
#include "multigrid/cpu/kernels.h"

#include <stddef.h>
#include "base/isa.h"

#define INLINE static inline __attribute__((always_inline))

/* Four doubles, which compilers keep in a register (of eight they do not). */
enum { FOUR = 4 };
typedef double four __attribute__((vector_size(8 * FOUR), may_alias));

/* x += (re + i im) of a matrix times y. */
INLINE void mac(lat_eight *x, float re, float im, const lat_eight *y)
{
    x->re += re * y->re;
    x->im += re * y->im;
    x->re -= im * y->im;
    x->im += im * y->re;
}

/* x += conj(re + i im) y. */
INLINE void mac_conj(lat_eight *x, float re, float im, const lat_eight *y)
{
    x->re += re * y->re;
    x->im += re * y->im;
    x->re += im * y->im;
    x->im -= im * y->re;
}

/* ---- coarse operators ------------------------------------------------------------------------ */

enum { TILE = 4 };

INLINE void tile_of(const lat_products *p, int t, lat_eight sum[TILE])
{
    for (int k = 0; k < p->count; k++) {
        const float *m = p->matrix[k]
                         + 2 * TILE * ((size_t)t * (size_t)p->pitch + (size_t)p->first);
        const lat_eight *from = p->from[k];
        for (int j = 0; j < p->columns; j++, m += 2 * TILE) {
            const lat_eight z = from[j];
            mac(sum, m[0], m[1], &z);
            mac(sum + 1, m[2], m[3], &z);
            mac(sum + 2, m[4], m[5], &z);
            mac(sum + 3, m[6], m[7], &z);
        }
    }
}

INLINE void products_of(const lat_products *p, const lat_eight *add, float sign, lat_eight *to)
{
    const lat_eight zero = {{0}, {0}};
    for (int t = 0; t < p->rows / TILE; t++) {
        lat_eight sum[TILE] = {zero, zero, zero, zero};
        tile_of(p, t, sum);
        for (int k = 0; k < TILE; k++) {
            const lat_eight a = add ? add[TILE * t + k] : zero;
            to[TILE * t + k].re = a.re + sign * sum[k].re;
            to[TILE * t + k].im = a.im + sign * sum[k].im;
        }
    }
}

/* ---- transfers ------------------------------------------------------------------------------- */

INLINE void restrict_of(int components, int n, const float *p, const lat_eight *r, lat_eight *z)
{
    const int half = components / 2;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < n; k += TILE) {
            lat_eight *to = z + c * n + k, s[TILE] = {to[0], to[1], to[2], to[3]};
            for (int j = c * half; j < (c + 1) * half; j++) {
                const float *w = p + 2 * (j * n + k);
                const lat_eight x = r[j];
                mac_conj(s, w[0], w[1], &x);
                mac_conj(s + 1, w[2], w[3], &x);
                mac_conj(s + 2, w[4], w[5], &x);
                mac_conj(s + 3, w[6], w[7], &x);
            }
            for (int i = 0; i < TILE; i++)
                to[i] = s[i];
        }
}

enum { SIX = 6 }; /* components of SU(3): fewer sums would wait for each other */

/* `side` components that follow each other. */
INLINE void prolong_some(int side, int n, const float *w, const lat_eight *z, lat_eight *e)
{
    const lat_eight zero = {{0}, {0}};
    lat_eight s[SIX] = {zero, zero, zero, zero, zero, zero};
    for (int k = 0; k < n; k++) {
        const lat_eight x = z[k];
        for (int i = 0; i < side; i++)
            mac(s + i, w[2 * (i * n + k)], w[2 * (i * n + k) + 1], &x);
    }
    for (int i = 0; i < side; i++)
        e[i] = s[i];
}

INLINE void prolong_of(int components, int n, const float *p, const lat_eight *z, lat_eight *e)
{
    const int half = components / 2;
    for (int c = 0; c < 2; c++) {
        int j = c * half;
        for (; half % SIX == 0 && j < (c + 1) * half; j += SIX)
            prolong_some(SIX, n, p + 2 * j * n, z + c * n, e + j);
        for (; j < (c + 1) * half; j += TILE)
            prolong_some(TILE, n, p + 2 * j * n, z + c * n, e + j);
    }
}

/* ---- linear algebra -------------------------------------------------------------------------- */

INLINE void add_of(int64_t n, const lat_eight *a, const lat_eight *x, lat_eight *y)
{
    for (int64_t k = 0; k < n; k++) {
        const lat_eight z = x[k];
        y[k].re += a->re * z.re;
        y[k].im += a->re * z.im;
        y[k].re -= a->im * z.im;
        y[k].im += a->im * z.re;
    }
}

INLINE void dot_of(int64_t n, const lat_eight *x, const lat_eight *y, lat_eight_sums *sum)
{
    enum { PIECE = 256 };
    for (int64_t k = 0; k < n; k += PIECE) {
        lat_eight s = {{0}, {0}};
        const int64_t end = k + PIECE < n ? k + PIECE : n;
        for (int64_t j = k; j < end; j++) {
            s.re += x[j].re * y[j].re;
            s.re += x[j].im * y[j].im;
            s.im += x[j].re * y[j].im;
            s.im -= x[j].im * y[j].re;
        }
        for (int l = 0; l < LAT_EIGHT; l++) {
            sum->re[l] += s.re[l];
            sum->im[l] += s.im[l];
        }
    }
}

/* ---- orthonormal vectors --------------------------------------------------------------------- */

enum { MOST = 64 }; /* vectors */

/* A row of numbers, re and im apart and in double; what is behind n is 0. */
typedef struct row {
    four re[MOST / FOUR], im[MOST / FOUR];
} row;

INLINE void load_row(int n, const float *v, row *r)
{
    double *re = (double *)r->re, *im = (double *)r->im;
    for (int j = 0; j < LAT_PITCH(n); j++) {
        re[j] = j < n ? v[2 * j] : 0;
        im[j] = j < n ? v[2 * j + 1] : 0;
    }
}

INLINE void gram_of(int components, int n, const float *v, double *g)
{
    const int groups = LAT_PITCH(n) / FOUR;
    four *re = (four *)g, *im = re + n * groups;
    for (int c = 0; c < components; c++, v += 2 * n) {
        row r;
        load_row(n, v, &r);
        for (int i = 0; i < n; i++) {
            const double x = v[2 * i], y = v[2 * i + 1];
            for (int k = 0; k <= i / FOUR; k++) {
                re[i * groups + k] += x * r.re[k] + y * r.im[k];
                im[i * groups + k] += x * r.im[k] - y * r.re[k];
            }
        }
    }
}

INLINE void triangular_of(int components, int n, const double *t, const float *v, float *to)
{
    const int groups = LAT_PITCH(n) / FOUR;
    const four *re = (const four *)t, *im = re + n * groups;
    for (int c = 0; c < components; c++, v += 2 * n, to += 2 * n) {
        row s;
        for (int k = 0; k < groups; k++)
            s.re[k] = s.im[k] = (four){0};
        for (int i = 0; i < n; i++) {
            const double x = v[2 * i], y = v[2 * i + 1];
            for (int k = i / FOUR; k < groups; k++) {
                s.re[k] += x * re[i * groups + k] - y * im[i * groups + k];
                s.im[k] += x * im[i * groups + k] + y * re[i * groups + k];
            }
        }
        for (int j = 0; j < n; j++) {
            to[2 * j] = (float)((const double *)s.re)[j];
            to[2 * j + 1] = (float)((const double *)s.im)[j];
        }
    }
}

/* Four numbers of some rows: so many sums are on their way at a time. */
INLINE void eliminate_some(int side, int depth, int64_t pitch, const double *c, const four *r,
                           double *a)
{
    four x[4], y[4];
    for (int i = 0; i < side; i++) {
        x[i] = *(four *)(a + 2 * i * pitch);
        y[i] = *(four *)(a + (2 * i + 1) * pitch);
    }
    for (int k = 0; k < depth; k++) {
        const four p = r[2 * k], q = r[2 * k + 1];
        for (int i = 0; i < side; i++) {
            const double u = c[2 * i * depth + k], v = c[(2 * i + 1) * depth + k];
            x[i] -= u * p;
            y[i] -= u * q;
            x[i] += v * q;
            y[i] -= v * p;
        }
    }
    for (int i = 0; i < side; i++) {
        *(four *)(a + 2 * i * pitch) = x[i];
        *(four *)(a + (2 * i + 1) * pitch) = y[i];
    }
}

INLINE void eliminate_of(int rows, int columns, int depth, int64_t pitch, const double *c,
                         const double *r, double *a)
{
    enum { SIDE = 4 };
    for (int j = 0; j < columns; j += FOUR) {
        const four *const from = (const four *)r + (int64_t)(j / FOUR) * 2 * depth;
        int i = 0;
        for (; i + SIDE <= rows; i += SIDE)
            eliminate_some(SIDE, depth, pitch, c + 2 * i * depth, from, a + 2 * i * pitch + j);
        for (; i < rows; i++)
            eliminate_some(1, depth, pitch, c + 2 * i * depth, from, a + 2 * i * pitch + j);
    }
}

/* ---- vector lengths -------------------------------------------------------------------------- */

LAT_ISA_CLONES(products, LAT_FMA,
               (const lat_products *p, const lat_eight *add, float sign, lat_eight *to),
               products_of(p, add, sign, to))
LAT_ISA_CLONES(restrict_site, LAT_FMA,
               (int components, int n, const float *p, const lat_eight *r, lat_eight *z),
               restrict_of(components, n, p, r, z))
LAT_ISA_CLONES(prolong_site, LAT_FMA,
               (int components, int n, const float *p, const lat_eight *z, lat_eight *e),
               prolong_of(components, n, p, z, e))
LAT_ISA_CLONES(add, LAT_FMA, (int64_t n, const lat_eight *a, const lat_eight *x, lat_eight *y),
               add_of(n, a, x, y))
LAT_ISA_CLONES(dot, LAT_FMA,
               (int64_t n, const lat_eight *x, const lat_eight *y, lat_eight_sums *sum),
               dot_of(n, x, y, sum))
LAT_ISA_CLONES(gram, LAT_FMA, (int components, int n, const float *v, double *g),
               gram_of(components, n, v, g))
LAT_ISA_CLONES(triangular, LAT_FMA,
               (int components, int n, const double *t, const float *v, float *to),
               triangular_of(components, n, t, v, to))
LAT_ISA_CLONES(eliminate, LAT_FMA,
               (int rows, int columns, int depth, int64_t pitch, const double *c, const double *r,
                double *a),
               eliminate_of(rows, columns, depth, pitch, c, r, a))

#define TABLE(isa, attribute) \
    static const lat_mg_kernels kernels_##isa = { \
        products_##isa, restrict_site_##isa, prolong_site_##isa, add_##isa, \
        dot_##isa,      gram_##isa,          triangular_##isa,   eliminate_##isa};
LAT_ISA_EXPAND(TABLE, )

const lat_mg_kernels *lat_mg_kernels_widest(void)
{
    static const lat_mg_kernels *const kernels[] = LAT_ISA_EACH(&kernels_, );
    return kernels[lat_isa_widest()];
}
