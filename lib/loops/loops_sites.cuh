/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_sites.cuh: the kernels of loops for one N (template; loops_kernels.cu expands it). A thread
 * is a site and time. */
#define LAT_SUN_REALS (2 * LAT_N * LAT_N)
extern "C" {
#include "site/sun.h"
}
#include "site/template.h"
#include "site/link.h"
#include "site/flow.h"

#define THREADS 128
#define REALS (2 * LAT_N * LAT_N)

/* ---- memory ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ void LAT_(get)(LAT_(m) *m, const double *from, size_t plane)
{
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++) {
        LAT_UNROLL
        for (int b = 0; b < LAT_N; b++) {
            m->e[a][b].re = from[(size_t)(2 * (a * LAT_N + b)) * plane];
            m->e[a][b].im = from[(size_t)(2 * (a * LAT_N + b) + 1) * plane];
        }
    }
}

static __device__ __forceinline__ void LAT_(put)(double *to, size_t plane, const LAT_(m) *m)
{
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++) {
        LAT_UNROLL
        for (int b = 0; b < LAT_N; b++) {
            to[(size_t)(2 * (a * LAT_N + b)) * plane] = m->e[a][b].re;
            to[(size_t)(2 * (a * LAT_N + b) + 1) * plane] = m->e[a][b].im;
        }
    }
}

/* The neighbour of v along mu. */
static __device__ __forceinline__ uint32_t LAT_(up)(const lat_cuda_loops_sites &w, uint32_t v,
                                                    int mu)
{
    const uint32_t at = v / w.stride[mu] % w.extent[mu];
    return at + 1 < w.extent[mu] ? v + w.stride[mu] : v - at * w.stride[mu];
}

static __device__ __forceinline__ uint32_t LAT_(down)(const lat_cuda_loops_sites &w, uint32_t v,
                                                      int mu)
{
    const uint32_t at = v / w.stride[mu] % w.extent[mu];
    return at > 0 ? v - w.stride[mu] : v + (w.extent[mu] - 1) * w.stride[mu];
}

/* v shifted in space by less than an extent. */
static __device__ __forceinline__ uint32_t LAT_(shift)(const lat_cuda_loops_sites &w, uint32_t v,
                                                       const uint32_t *by)
{
    uint32_t to = v;
    for (int mu = 0; mu + 1 < w.nd; mu++) {
        const uint32_t at = v / w.stride[mu] % w.extent[mu] + by[mu];
        to += (by[mu] - (at < w.extent[mu] ? 0 : w.extent[mu])) * w.stride[mu];
    }
    return to;
}

/* ---- smearing -------------------------------------------------------------------------------- */

/* Adds both staples of U_mu(v) in the plane with nu. */
static __device__ __forceinline__ void LAT_(add_staples)(const lat_cuda_loops_sites &w,
                                                         const lat_cuda_smear &s, int plane,
                                                         uint32_t v, LAT_(m) *sum)
{
    const int nu = s.nu[plane];
    const double *b = s.b[plane], *c = s.c[plane];
    const uint32_t below = LAT_(down)(w, v, nu);
    LAT_(m) p, q, r;
    LAT_(c) t[LAT_N], line[LAT_N];
    LAT_(get)(&p, c + v, w.volume);
    LAT_(get)(&q, b + LAT_(up)(w, v, nu), w.volume);
    LAT_(get)(&r, c + LAT_(up)(w, v, s.mu), w.volume);
    LAT_UNROLL
    for (int i = 0; i < LAT_N; i++) {
        LAT_(row_times)(t, p.e[i], &q);
        LAT_(row_times_dag)(line, t, &r);
        LAT_UNROLL
        for (int j = 0; j < LAT_N; j++) {
            sum->e[i][j].re += line[j].re;
            sum->e[i][j].im += line[j].im;
        }
    }
    LAT_(get)(&p, c + below, w.volume);
    LAT_(get)(&q, b + below, w.volume);
    LAT_(get)(&r, c + LAT_(up)(w, below, s.mu), w.volume);
    LAT_UNROLL
    for (int i = 0; i < LAT_N; i++) {
        LAT_(row_dag_times)(t, &p, i, &q);
        LAT_(row_times)(line, t, &r);
        LAT_UNROLL
        for (int j = 0; j < LAT_N; j++) {
            sum->e[i][j].re += line[j].re;
            sum->e[i][j].im += line[j].im;
        }
    }
}

static __device__ __forceinline__ double LAT_(square)(const LAT_(m) *m)
{
    double s = 0;
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++)
        s += LAT_(row_square)(m, a);
    return s;
}

#if LAT_N <= 3
/* c = the conjugated cofactors of x: x^-1^+ = c / conj(det x). Returns conj(det x). */
static __device__ __forceinline__ LAT_(c) LAT_(cofactors)(LAT_(m) *c, const LAT_(m) *x)
{
    LAT_(c) d = {0, 0};
#if LAT_N == 3
    LAT_(cross)(c->e[0], x->e[1], x->e[2]);
    LAT_(cross)(c->e[1], x->e[2], x->e[0]);
    LAT_(cross)(c->e[2], x->e[0], x->e[1]);
#else
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const LAT_(c) z = x->e[1 - i][1 - j];
            c->e[i][j].re = i == j ? z.re : -z.re;
            c->e[i][j].im = i == j ? -z.im : z.im;
        }
#endif
    for (int j = 0; j < LAT_N; j++)
        d = LAT_(fma_conj)(d, c->e[0][j], x->e[0][j]);
    return d;
}

/* x <- the nearest matrix of SU(N): Newton's iteration of lat_sun_polar (site/sun.h), with the
 * inverse by cofactors, in registers. False where x is singular to rounding or not finite. */
static __device__ __forceinline__ bool LAT_(project)(LAT_(m) *x)
{
    const double least = 4 * LAT_N * DBL_EPSILON;
    LAT_(m) c;
    LAT_(c) d = LAT_(cofactors)(&c, x);
    double size = LAT_(square)(x), power = LAT_N == 3 ? size * size * size : size * size;
    double change = 1;
    if (!(d.re * d.re + d.im * d.im > least * least * power) || !(power <= DBL_MAX))
        return false;
    for (int step = 0; step < 40 && change >= 1e-9; step++) {
        const double norm = d.re * d.re + d.im * d.im;
        const double s = change > 1e-2 ? sqrt(sqrt(LAT_(square)(&c) / (norm * LAT_(square)(x))))
                                       : 1;
        const LAT_(c) inverse = {d.re / (norm * s), -d.im / (norm * s)};
        change = 0;
        for (int k = 0; k < LAT_N * LAT_N; k++) {
            LAT_(c) *const e = &x->e[k / LAT_N][k % LAT_N], old = *e;
            const LAT_(c) z = LAT_(mul)(c.e[k / LAT_N][k % LAT_N], inverse);
            e->re = 0.5 * (s * old.re + z.re);
            e->im = 0.5 * (s * old.im + z.im);
            change = fmax(change, fmax(fabs(e->re - old.re), fabs(e->im - old.im)));
        }
        d = LAT_(cofactors)(&c, x);
    }
    const double angle = atan2(d.im, d.re) / LAT_N;
    LAT_(c) phase;
    sincos(angle, &phase.im, &phase.re);
    for (int k = 0; k < LAT_N * LAT_N; k++)
        x->e[k / LAT_N][k % LAT_N] = LAT_(mul)(x->e[k / LAT_N][k % LAT_N], phase);
    return fabs(d.re * d.re + d.im * d.im - 1) < 0.5;
}
#else
static __device__ __forceinline__ bool LAT_(project)(LAT_(m) *x)
{
    return lat_sun_polar(LAT_N, (double *)x) == 0;
}
#endif

/* The sum becomes the smeared link. */
static __device__ __forceinline__ bool LAT_(ape)(const lat_cuda_smear &s, const LAT_(m) *u,
                                                 LAT_(m) *sum)
{
    LAT_UNROLL
    for (int i = 0; i < LAT_N; i++) {
        LAT_UNROLL
        for (int j = 0; j < LAT_N; j++) {
            sum->e[i][j].re = (1 - s.weight) * u->e[i][j].re + s.share * sum->e[i][j].re;
            sum->e[i][j].im = (1 - s.weight) * u->e[i][j].im + s.share * sum->e[i][j].im;
        }
    }
    return LAT_(project)(sum);
}

static __device__ __forceinline__ void LAT_(stout)(const lat_cuda_smear &s, const LAT_(m) *u,
                                                   LAT_(m) *sum)
{
    double y[LAT_(algebra)];
    LAT_(m) x;
    LAT_UNROLL
    for (int i = 0; i < LAT_(algebra); i++)
        y[i] = 0;
    LAT_(times_dag)(&x, sum, u);
    LAT_(algebra_add)(y, 0, s.share, &x);
    *sum = *u;
    LAT_(algebra_apply)(sum, y, 1, s.halvings);
}

template <bool STOUT>
static __global__ void __launch_bounds__(THREADS)
    LAT_(smear)(const __grid_constant__ lat_cuda_loops_sites w,
                const __grid_constant__ lat_cuda_smear s)
{
    const uint32_t v = blockIdx.x * THREADS + threadIdx.x;
    LAT_(m) sum, u;
    if (v >= w.volume)
        return;
    LAT_(matrix_one)(&sum, 0);
    for (int plane = 0; plane < s.planes; plane++)
        LAT_(add_staples)(w, s, plane, v, &sum);
    LAT_(get)(&u, s.u + v, w.volume);
    if (LAT_(square)(&u) == 0) /* missing, with open time */
        sum = u;
    else if (STOUT)
        LAT_(stout)(s, &u, &sum);
    else if (!LAT_(ape)(s, &u, &sum))
        *s.singular = 1;
    LAT_(put)(s.to + v, w.volume, &sum);
}

/* ---- temporal gauge -------------------------------------------------------------------------- */

static __global__ void LAT_(gauge)(const __grid_constant__ lat_cuda_loops_sites w,
                                   const double *link, double *g, double *around)
{
    const uint32_t x = blockIdx.x * THREADS + threadIdx.x;
    LAT_(m) here, u, next;
    if (x >= w.sites)
        return;
    LAT_(matrix_one)(&here, 1);
    for (uint32_t t = 0; t < w.slices; t++) {
        const uint32_t v = x * w.slices + t;
        if (g)
            LAT_(put)(g + v, w.volume, &here);
        LAT_(get)(&u, link + v, w.volume);
        LAT_(times)(&next, &here, &u);
        here = next;
    }
    LAT_(put)(around + x, w.sites, &here);
}

static __global__ void __launch_bounds__(THREADS)
    LAT_(transform)(const __grid_constant__ lat_cuda_loops_sites w, double *u, const double *g,
                    int axis)
{
    const uint32_t v = blockIdx.x * THREADS + threadIdx.x;
    LAT_(m) a, b, c;
    if (v >= w.volume)
        return;
    LAT_(get)(&a, g + v, w.volume);
    LAT_(get)(&b, u + v, w.volume);
    LAT_(times)(&c, &a, &b);
    LAT_(get)(&b, g + LAT_(up)(w, v, axis), w.volume);
    LAT_(times_dag)(&a, &c, &b);
    LAT_(put)(u + v, w.volume, &a);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* c = the product along a path that begins at v. */
static __device__ __forceinline__ void LAT_(path)(const lat_cuda_loops_sites &w,
                                                  const lat_cuda_steps &s, int path, uint32_t v,
                                                  LAT_(m) *c)
{
    LAT_(m) a, b;
    LAT_(matrix_one)(c, 1);
    for (int i = 0; i < s.paths.length; i++) {
        const int step = s.paths.step[path][i], axis = (step > 0 ? step : -step) - 1;
        const uint32_t to = step > 0 ? LAT_(up)(w, v, axis) : LAT_(down)(w, v, axis);
        LAT_(get)(&b, s.links[axis] + (step > 0 ? v : to), w.volume);
        a = *c;
        if (step > 0)
            LAT_(times)(c, &a, &b);
        else
            LAT_(times_dag)(c, &a, &b);
        v = to;
    }
}

static __global__ void __launch_bounds__(THREADS)
    LAT_(steps)(const __grid_constant__ lat_cuda_loops_sites w,
                const __grid_constant__ lat_cuda_steps s)
{
    const uint32_t v = blockIdx.x * THREADS + threadIdx.x;
    const double share = 1. / s.paths.count;
    LAT_(m) sum, one;
    if (v >= w.volume)
        return;
    LAT_(matrix_one)(&sum, 0);
    for (int i = 0; i < s.paths.count; i++) {
        LAT_(path)(w, s, i, v, &one);
        LAT_(matrix_add)(&sum, share, &one);
    }
    LAT_(put)(s.to + v, w.volume, &sum);
}

/* Lines of n steps of a level; beyond the boundary P(x) S P(y)^+ with the Polyakov loops of both
 * ends. */
static __global__ void __launch_bounds__(THREADS)
    LAT_(lengthen)(const __grid_constant__ lat_cuda_loops_sites w,
                   const __grid_constant__ lat_cuda_lines s)
{
    const uint32_t v = blockIdx.x * THREADS + threadIdx.x, x = v / w.slices, t = v % w.slices;
    const double *step = s.step[blockIdx.y];
    const size_t plane = (size_t)w.sites * s.columns;
    LAT_(m) a, b, c;
    if (v >= w.volume)
        return;
    double *line = s.line[blockIdx.y] + (size_t)x * s.columns + t;
    if (s.n > 1) {
        LAT_(get)(&a, line, plane);
        LAT_(get)(&b, step + LAT_(shift)(w, v, s.begin), w.volume);
        LAT_(times)(&c, &a, &b);
    } else if (t >= s.first && t <= s.last) {
        LAT_(get)(&c, step + v, w.volume);
    } else {
        LAT_(matrix_one)(&c, 0);
    }
    LAT_(put)(line, plane, &c);
    if (!s.around || t >= s.time)
        return;
    LAT_(get)(&a, s.around + x, w.sites);
    LAT_(times)(&b, &a, &c);
    LAT_(get)(&a, s.around + LAT_(shift)(w, v, s.end) / w.slices, w.sites);
    LAT_(times_dag)(&c, &b, &a);
    LAT_(put)(line + w.slices, plane, &c);
}

/* ---- launches -------------------------------------------------------------------------------- */

static unsigned LAT_(blocks)(uint32_t n) { return lat_cuda_blocks(n, THREADS); }

static cudaError_t LAT_(launch_smear)(const lat_cuda_loops_sites *w, const lat_cuda_smear *s,
                                      cudaStream_t stream)
{
    return lat_cuda_start(0, s->stout ? LAT_(smear) < true > : LAT_(smear) < false >,
                          LAT_(blocks)(w->volume), THREADS, stream, *w, *s);
}

static cudaError_t LAT_(launch_gauge)(const lat_cuda_loops_sites *w, const double *link, double *g,
                                      double *around, cudaStream_t stream)
{
    return lat_cuda_start(0, LAT_(gauge), LAT_(blocks)(w->sites), THREADS, stream, *w, link, g,
                          around);
}

static cudaError_t LAT_(launch_transform)(const lat_cuda_loops_sites *w, double *u, const double *g,
                                          int axis, cudaStream_t stream)
{
    return lat_cuda_start(0, LAT_(transform), LAT_(blocks)(w->volume), THREADS, stream, *w, u, g,
                          axis);
}

static cudaError_t LAT_(launch_steps)(const lat_cuda_loops_sites *w, const lat_cuda_steps *s,
                                      cudaStream_t stream)
{
    return lat_cuda_start(0, LAT_(steps), LAT_(blocks)(w->volume), THREADS, stream, *w, *s);
}

static cudaError_t LAT_(launch_lengthen)(const lat_cuda_loops_sites *w, const lat_cuda_lines *s,
                                         cudaStream_t stream)
{
    return lat_cuda_start(0, LAT_(lengthen), dim3(LAT_(blocks)(w->volume), (unsigned)s->levels),
                          THREADS, stream, *w, *s);
}
