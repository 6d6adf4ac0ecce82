/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_tile_hits.cuh: hits of a tile of threads on the SU(2) subgroups of its matrix (template;
 * after cuda_tile.cuh). */
#include "site/prepared.h"

/* What the hits of an update (site/update.h) need. Of one of the whole element, RELAX_SUN, a hit is
 * the maximum. (By reference alone: where it was copied, nvcc 13.0 read the kernel's parameters in
 * its place; bench/history.) */
typedef struct {
    LAT_T beta, omega, stochastic;
    const LAT_(rng) *rng;
} LAT_(hits);

/* Numbers that the hit of subgroup n will take, whatever the maximum is. Threads of a tile prepare
 * as many subgroups side by side. */
static __device__ __forceinline__ void LAT_(prepare)(LAT_T d[7], const LAT_(hits) &h,
                                                     lat_update update, uint32_t n)
{
    LAT_T u[4];
    switch (update) {
    case LAT_UPDATE_HEATBATH: LAT_(heat_prepare)(d, h.rng, n); break;
    case LAT_UPDATE_METROPOLIS: LAT_(heat_propose)(h.rng, n, d, d + 4); break;
    case LAT_UPDATE_STOCHASTIC_SU2:
        LAT_(uniforms)(h.rng, n / 4, u);
        d[0] = n % 4 == 0 ? u[0] : n % 4 == 1 ? u[1] : n % 4 == 2 ? u[2] : u[3];
        break;
    default: break;
    }
}

/* The hit w of subgroup n, r being its axis; lane `from` has prepared it. */
static __device__ __forceinline__ void LAT_(hit_of)(LAT_T w[4], const LAT_T r[4],
                                                    const LAT_(hits) &h, lat_update update,
                                                    uint32_t n, const LAT_T d[7], int from)
{
    LAT_T unit[4], a[4], got[7];
#pragma unroll
    for (int i = 0; i < 4; i++)
        unit[i] = r[i];
    LAT_(hit_unit)(unit);
#pragma unroll
    for (int i = 0; i < 4; i++)
        w[i] = unit[i];
    switch (update) {
    case LAT_UPDATE_RELAX_SU2: LAT_(hit_power)(w, h.omega); break;
    case LAT_UPDATE_HEATBATH: {
        const LAT_T k = h.beta
                        * (r[0] * unit[0] + r[1] * unit[1] + r[2] * unit[2] + r[3] * unit[3]);
#pragma unroll
        for (int i = 0; i < 7; i++)
            got[i] = __shfl_sync(~0u, d[i], from);
        LAT_(heat_prepared)(a, k, h.rng, n, got);
        LAT_(su2_mul)(w, a, unit);
        break;
    }
    case LAT_UPDATE_MICROCANONICAL: LAT_(su2_square)(w); break;
    case LAT_UPDATE_STOCHASTIC_SU2:
        LAT_(overrelax_or_reflect)(w, h.omega, h.stochastic, __shfl_sync(~0u, d[0], from));
        break;
    case LAT_UPDATE_METROPOLIS: {
#pragma unroll
        for (int i = 0; i < 5; i++)
            got[i] = __shfl_sync(~0u, d[i], from);
#pragma unroll
        for (int i = 0; i < 4; i++)
            w[i] = got[i];
        const LAT_T gain = (w[0] - 1) * r[0] + w[1] * r[1] + w[2] * r[2] + w[3] * r[3];
        LAT_(heat_accept)(w, h.beta * gain, got[4]);
        break;
    }
    default: break;
    }
}

/* (s, t) <- h (s, t): what LAT_(hit_apply) does in one column. What is replaced comes last in its
 * own sum, which so can end in its register. */
static __device__ __forceinline__ void LAT_(hit_column)(LAT_(c) *s, LAT_(c) *t, const LAT_T h[4])
{
    const LAT_(c) a = *s, b = *t;
    s->re = h[2] * b.re - h[3] * a.im - h[1] * b.im + h[0] * a.re;
    s->im = h[2] * b.im + h[3] * a.re + h[1] * b.re + h[0] * a.im;
    t->re = h[3] * b.im - h[2] * a.re - h[1] * a.im + h[0] * b.re;
    t->im = h[1] * a.re - h[3] * b.re - h[2] * a.im + h[0] * b.im;
}

/* Of C numbers that of column j, which this thread may have. */
template <int C> static __device__ __forceinline__ LAT_(c) LAT_(own)(const LAT_(c) v[C], int j)
{
    LAT_(c) z = v[0];
#pragma unroll
    for (int c = 1; c < C; c++)
        if (j >= c * LANES(C))
            z = v[c];
    return z;
}

/* LAT_(hit_axis) of these elements of x. */
static __device__ __forceinline__ void LAT_(axis)(LAT_T r[4], LAT_(c) pp, LAT_(c) pq, LAT_(c) qp,
                                                  LAT_(c) qq)
{
    r[0] = pp.re + qq.re;
    r[1] = -qp.im - pq.im;
    r[2] = qp.re - pq.re;
    r[3] = qq.im - pp.im;
}

/* The axis of the hit on rows p, q: xp and xq are those elements of each column.
 */
template <int C>
static __device__ __forceinline__ void LAT_(axis_of)(LAT_T r[4], const LAT_(tile) < C > &t,
                                                     const LAT_(c) xp[C], const LAT_(c) xq[C],
                                                     int p, int q)
{
    const int lp = t.first + p % LANES(C), lq = t.first + q % LANES(C);
    const LAT_(c) pp = LAT_(from)(LAT_(own) < C > (xp, p), lp),
                  qp = LAT_(from)(LAT_(own) < C > (xq, p), lp),
                  pq = LAT_(from)(LAT_(own) < C > (xp, q), lq),
                  qq = LAT_(from)(LAT_(own) < C > (xq, q), lq);
    LAT_(axis)(r, pp, pq, qp, qq);
}

/* What hits that take no random numbers are, but for the maximum h: that to the power of omega
 * (RELAX_SU2); of STOCHASTIC_SUN h f, f = from + of h_0, plus `plus`, so that tiles with mirror
 * images, h^2, and others go together. */
typedef struct {
    LAT_T omega, from, of, plus;
} LAT_(kind);

/* Such a hit, r being its axis: r <- f h + const, h = r / |r|, so that |r| and f multiply at once.
 * Where |r| = 0 (K = 0) h = 1: beside any other r_0 what is added is nothing. */
template <lat_update UPDATE>
static __device__ __forceinline__ void LAT_(hit_from)(LAT_T r[4], const LAT_(kind) &kind)
{
    LAT_T plus = 0;
    r[0] += (LAT_T)(LAT_SIZE == 4 ? 1e-15f : 1e-100);
    const LAT_T s = LAT_(rsqrt)(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]),
                h0 = s * r[0];
    LAT_T f = s;
    if (UPDATE == LAT_UPDATE_RELAX_SU2) { /* LAT_(hit_power) */
        const LAT_T w = kind.omega, by = 2 * w * (w - 1), power = LAT_(rsqrt)(1 + by - by * h0);
        f *= w * power;
        plus = (1 - w) * power;
    } else if (UPDATE == LAT_UPDATE_MICROCANONICAL) { /* h^2 */
        f *= 2 * h0;
        plus = -1;
    } else if (UPDATE == LAT_UPDATE_STOCHASTIC_SUN) {
        f *= kind.from + kind.of * h0;
        plus = kind.plus;
    }
    r[0] = f * r[0] + plus;
#pragma unroll
    for (int i = 1; i < 4; i++)
        r[i] *= f;
}

/* Such a hit on rows p and q of x and y. This thread's elements of x are xp[C] and xq[C]; column p
 * is xp[p.x] of lane p.y, column q likewise. */
template <int C, lat_update UPDATE>
static __device__ __forceinline__ void LAT_(hit_rows)(LAT_(c) *const xp[C], LAT_(c) *const xq[C],
                                                      LAT_(c) *const yp[C], LAT_(c) *const yq[C],
                                                      int2 p, int2 q, const LAT_(kind) &kind)
{
    LAT_T h[4];
    LAT_(axis)(h, LAT_(from)(*xp[p.x], p.y), LAT_(from)(*xp[q.x], q.y), LAT_(from)(*xq[p.x], p.y),
               LAT_(from)(*xq[q.x], q.y));
    LAT_(hit_from)<UPDATE>(h, kind);
#pragma unroll
    for (int c = 0; c < C; c++) {
        LAT_(hit_column)(xp[c], xq[c], h);
        LAT_(hit_column)(yp[c], yq[c], h);
    }
}

/* Those of rows 0 to M - 1 of columns x and y in registers, the first M of which are x[0] in the
 * lanes of a tile from `first` on. All indices are known to the compiler, so that there is nothing
 * to select. Hits without a row in common may change places: those of one p + q are independent. */
template <int C, int M, int L, lat_update UPDATE>
static __device__ __forceinline__ void LAT_(hit_among)(LAT_(c) (*x)[M], LAT_(c) (*y)[M], int first,
                                                       const LAT_(kind) &kind)
{
#pragma unroll
    for (int sum = 1; sum < 2 * M - 2; sum++)
#pragma unroll
        for (int p = 0; p < M - 1; p++) {
            const int q = sum - p;
            LAT_(c) *xp[C], *xq[C], *yp[C], *yq[C];
            if (q <= p || q >= M)
                continue;
#pragma unroll
            for (int c = 0; c < C; c++) {
                xp[c] = x[c] + p;
                xq[c] = x[c] + q;
                yp[c] = y[c] + p;
                yq[c] = y[c] + q;
            }
            LAT_(hit_rows)<C, UPDATE>(xp, xq, yp, yq, make_int2(p / L, first + p % L),
                                      make_int2(q / L, first + q % L), kind);
        }
}

static __device__ __forceinline__ int LAT_(place)(int c, int row, const LAT_(tile) < 2 > &t)
{
    return c * SCRATCH + row * PITCH + t.lane;
}

/* The same of x and y in shared memory, C = 2, with a third of the code: all of it would outgrow
 * the cache of instructions. Hits among the first half of the rows come first, then those of each
 * other row with them, last those among the others, by the same code: their columns are c = 1. */
template <lat_update UPDATE>
static __device__ __forceinline__ void LAT_(hit_halves)(LAT_(c) *x, LAT_(c) *y,
                                                        const LAT_(tile) < 2 > &t,
                                                        const LAT_(kind) &kind)
{
    constexpr int M = LANES(2);
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        LAT_(c) xs[2][M], ys[2][M];
#pragma unroll
        for (int c = 0; c < 2; c++)
#pragma unroll
            for (int k = 0; k < M; k++) {
                xs[c][k] = x[LAT_(place)(c ^ half, half * M + k, t)];
                ys[c][k] = y[LAT_(place)(c ^ half, half * M + k, t)];
            }
        LAT_(hit_among)<2, M, M, UPDATE>(xs, ys, t.first, kind);
#pragma unroll 1
        for (int q = M; q < LAT_N && half == 0; q++) {
            LAT_(c) xr[2], yr[2];
            LAT_(c) *const xq[2] = {xr, xr + 1}, *const yq[2] = {yr, yr + 1};
#pragma unroll
            for (int c = 0; c < 2; c++) {
                xr[c] = x[LAT_(place)(c, q, t)];
                yr[c] = y[LAT_(place)(c, q, t)];
            }
#pragma unroll
            for (int p = 0; p < M; p++) {
                LAT_(c) *const xp[2] = {xs[0] + p, xs[1] + p}, *const yp[2] = {ys[0] + p,
                                                                               ys[1] + p};
                LAT_(hit_rows)<2, UPDATE>(xp, xq, yp, yq, make_int2(0, t.first + p),
                                          make_int2(1, t.first + q - M), kind);
            }
#pragma unroll
            for (int c = 0; c < 2; c++) {
                x[LAT_(place)(c, q, t)] = xr[c];
                y[LAT_(place)(c, q, t)] = yr[c];
            }
        }
#pragma unroll
        for (int c = 0; c < 2; c++)
#pragma unroll
            for (int k = 0; k < M; k++) {
                x[LAT_(place)(c ^ half, half * M + k, t)] = xs[c][k];
                y[LAT_(place)(c ^ half, half * M + k, t)] = ys[c][k];
            }
    }
}

/* Passes over all subgroups of x and y in registers; x_ and y_ are in shared memory, where y is at
 * the end. `mirror`, of STOCHASTIC_SUN: this tile has one pass, to mirror images. */
template <int C, lat_update UPDATE>
static __device__ __forceinline__ void LAT_(hit_passes)(int passes, LAT_(c) (*x)[LAT_N],
                                                        LAT_(c) (*y)[LAT_N], LAT_(c) *x_,
                                                        LAT_(c) *y_, const LAT_(tile) < C > &t,
                                                        LAT_T omega, bool mirror)
{
    LAT_(kind) kind = {omega, (LAT_T)!mirror, (LAT_T)(mirror ? 2 : 0), (LAT_T)(mirror ? -1 : 0)};
    if constexpr (C == 2) {
        LAT_(put_columns)<C>(x_, x, t);
        LAT_(put_columns)<C>(y_, y, t);
    }
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
        if constexpr (C == 2)
            LAT_(hit_halves)<UPDATE>(x_, y_, t, kind);
        else
            LAT_(hit_among)<C, LAT_N, LANES(C), UPDATE>(x, y, t.first, kind);
        kind.of = 0; /* h = 1 */
        kind.plus = (LAT_T)mirror;
    }
    if constexpr (C != 2)
        LAT_(put_columns)<C>(y_, y, t);
    __syncwarp();
}

/* One pass of hits over all subgroups: x and y, in shared memory, change as x says. */
template <int C>
static __device__ __forceinline__ void LAT_(hit_all)(LAT_(c) *x, LAT_(c) *y,
                                                     const LAT_(tile) < C > &t, const LAT_(hits) &h,
                                                     lat_update update)
{
    LAT_T d[7] = {0, 0, 0, 0, 0, 0, 0};
    uint32_t n = 0;
    int prepared = 0; /* the lane that has prepared the next hit */
#pragma unroll 1
    for (int p = 0; p < LAT_N - 1; p++) {
        LAT_(c) xp[C], yp[C];
#pragma unroll
        for (int c = 0; c < C; c++) {
            xp[c] = x[c * SCRATCH + p * PITCH + t.lane];
            yp[c] = y[c * SCRATCH + p * PITCH + t.lane];
        }
#pragma unroll 1
        for (int q = p + 1; q < LAT_N; q++, n++) {
            LAT_(c) xq[C], yq[C];
            LAT_T r[4], w[4];
#pragma unroll
            for (int c = 0; c < C; c++) {
                xq[c] = x[c * SCRATCH + q * PITCH + t.lane];
                yq[c] = y[c * SCRATCH + q * PITCH + t.lane];
            }
            if (prepared == 0)
                LAT_(prepare)(d, h, update, n + (uint32_t)t.column);
            LAT_(axis_of)<C>(r, t, xp, xq, p, q);
            LAT_(hit_of)(w, r, h, update, n, d, t.first + prepared);
            prepared = prepared + 1 == LANES(C) ? 0 : prepared + 1;
#pragma unroll
            for (int c = 0; c < C; c++) {
                LAT_(hit_column)(xp + c, xq + c, w);
                LAT_(hit_column)(yp + c, yq + c, w);
                x[c * SCRATCH + q * PITCH + t.lane] = xq[c];
                y[c * SCRATCH + q * PITCH + t.lane] = yq[c];
            }
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            x[c * SCRATCH + p * PITCH + t.lane] = xp[c];
            y[c * SCRATCH + p * PITCH + t.lane] = yp[c];
        }
    }
    __syncwarp();
}
