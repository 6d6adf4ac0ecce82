/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_tile.cuh: matrices of SU(N) over N threads of a warp, a tile (template; after
 * cuda_matrix.cuh), for N whose matrices a thread has no registers for.
 *
 * A thread of a tile has rows or columns of a matrix in registers. A product needs all of the other
 * factor in each of them: it is read from memory, where the threads of a tile ask for the same 16
 * bytes at once. What is read so is what products cost; so where N is even half as many threads
 * make them, with two rows or columns each, for twice as many sites. Hits of SU(2) subgroups change
 * two rows, in each column by itself; so the columns are in shared memory, a slot of its own for
 * each lane and row, and what the hit is comes from the two columns that know by shuffles. All
 * threads of a warp come everywhere; lanes that are left over do what another one does, and store
 * nothing. */

#define TILES (32 / LAT_N)      /* of a warp */
#define PITCH 33                /* lanes, and one more: rows and columns are both read freely */
#define SCRATCH (LAT_N * PITCH) /* complex numbers: a matrix of each tile of a warp */
#define PAIR_HALVES (PER / 2)   /* complex numbers of a chunk */

/* Rows or columns that a thread has in products; of so many sites a tile in turn has the hits. */
#ifndef SHARE
#define SHARE (LAT_N % 2 == 0 && LAT_N <= 8 ? 2 : 1)
#endif
#define APART (LAT_N / SHARE) /* from one of them to the next */
#define WARP_SITES (TILES * SHARE)

/* Warps of a block: so many that its matrices are no more than 48 KB of shared memory. */
#define TILE_WARPS (4 * (SHARE + 1) * SCRATCH * 2 * LAT_SIZE <= 48 * 1024 ? 4 : 2)
#define TILE_BLOCK (32 * TILE_WARPS)
#define TILE_SITES (WARP_SITES * TILE_WARPS) /* of a block */

typedef struct {
    int column;      /* of this thread; or row */
    int lane, first; /* in the warp: this thread, the tile's first one */
    int number;      /* of the tile in its warp */
    bool stores;     /* false: a lane left over */
} LAT_(tile);

static __device__ __forceinline__ LAT_(tile) LAT_(tile_of)()
{
    LAT_(tile) t;
    t.lane = (int)threadIdx.x % 32;
    t.stores = t.lane < TILES * LAT_N;
    t.number = t.stores ? t.lane / LAT_N : TILES - 1;
    t.column = t.stores ? t.lane % LAT_N : t.lane - TILES * LAT_N;
    t.first = t.number * LAT_N;
    return t;
}

/* The same for products: the site in the warp, and the first column of this thread. */
typedef struct {
    int site, column;
} LAT_(maker);

static __device__ __forceinline__ LAT_(maker) LAT_(maker_of)()
{
    const int lane = (int)threadIdx.x % 32, site = lane / APART;
    const LAT_(maker) m = {site < WARP_SITES ? site : WARP_SITES - 1, lane % APART};
    return m;
}

static __device__ __forceinline__ LAT_(c) LAT_(from)(LAT_(c) z, int lane)
{
    z.re = __shfl_sync(~0u, z.re, lane);
    z.im = __shfl_sync(~0u, z.im, lane);
    return z;
}

static __device__ __forceinline__ void LAT_(conjugate)(LAT_(c) *v)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        v[k].im = -v[k].im;
}

static __device__ __forceinline__ void LAT_(scale)(LAT_(c) *v, LAT_T s)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++) {
        v[k].re *= s;
        v[k].im *= s;
    }
}

/* The sum of v over each tile, for the lane that is number from + that of the tile; 0 for others.
 */
static __device__ __forceinline__ double LAT_(tile_sum)(double v, const LAT_(tile) &t, int from)
{
    double sum = 0;
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        sum += __shfl_sync(~0u, v, t.first + k);
    const int tile = t.lane - from, there = tile >= 0 && tile < TILES;
    const double got = __shfl_sync(~0u, sum, there ? tile * LAT_N : 0);
    return there ? got : 0;
}

static __device__ __forceinline__ void LAT_(clear)(LAT_(c) *v)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        v[k].re = v[k].im = 0;
}

/* v[a] from registers, not by way of local memory, where loops over directions are not unrolled. */
static __device__ __forceinline__ uint32_t LAT_(one_of)(const uint32_t v[4], int a)
{
    return a < 2 ? a == 0 ? v[0] : v[1] : a == 2 ? v[2] : v[3];
}

/* ---- matrices in memory ---- */

/* Element e = row N + column of a matrix at p. */
static __device__ __forceinline__ LAT_(c) *LAT_(element)(LAT_V *p, int e)
{
    return (LAT_(c) *)(p + e / PAIR_HALVES * LAT_CUDA_GROUP) + e % PAIR_HALVES;
}

static __device__ __forceinline__ void LAT_(get_row)(LAT_(c) *v, const LAT_V *p, int row)
{
    LAT_T part[PER];
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        if (LAT_N % PAIR_HALVES) {
            v[k] = *LAT_(element)((LAT_V *)p, row * LAT_N + k);
        } else { /* rows are whole chunks */
            if (k % PAIR_HALVES == 0)
                LAT_(unpack)(part, p[(row * LAT_N + k) / PAIR_HALVES * LAT_CUDA_GROUP], PER);
            v[k] = LAT_(load)(part + k % PAIR_HALVES * 2);
        }
}

static __device__ __forceinline__ void LAT_(get_column)(LAT_(c) *v, const LAT_V *p, int column)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        v[k] = *LAT_(element)((LAT_V *)p, k * LAT_N + column);
}

static __device__ __forceinline__ void LAT_(put_row)(LAT_V *p, const LAT_(c) *v, int row)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        if (LAT_N % PAIR_HALVES) {
            *LAT_(element)(p, row * LAT_N + k) = v[k];
        } else if (k % PAIR_HALVES == 0) {
            LAT_V chunk;
            chunk.x = v[k].re;
            chunk.y = v[k].im;
#if LAT_SIZE == 4
            chunk.z = v[k + PAIR_HALVES - 1].re;
            chunk.w = v[k + PAIR_HALVES - 1].im;
#endif
            p[(row * LAT_N + k) / PAIR_HALVES * LAT_CUDA_GROUP] = chunk;
        }
}

/* For C vectors: y += m v or, if DAGGER, m^+ v; of ROWS, y += v m or v m^+. */
template <bool ROWS, bool DAGGER, int C>
static __device__ __forceinline__ void LAT_(add_times)(LAT_(c) (*y)[LAT_N], const LAT_V *m,
                                                       const LAT_(c) (*v)[LAT_N])
{
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS(LAT_N); chunk++) {
        LAT_T part[PER];
        LAT_(unpack)(part, m[chunk * LAT_CUDA_GROUP], PER);
#pragma unroll
        for (int h = 0; h < PAIR_HALVES; h++) {
            const int e = chunk * PAIR_HALVES + h, row = e / LAT_N, column = e % LAT_N,
                      to = ROWS == DAGGER ? row : column, from = ROWS == DAGGER ? column : row;
            const LAT_(c) z = {part[2 * h], part[2 * h + 1]};
            if (e >= LAT_N * LAT_N)
                continue;
#pragma unroll
            for (int c = 0; c < C; c++)
                y[c][to] = DAGGER ? LAT_(fma_conj)(y[c][to], v[c][from], z)
                                  : LAT_(fma)(y[c][to], v[c][from], z);
        }
    }
}

/* ---- matrices in shared memory ---- */

static __device__ __forceinline__ void LAT_(put_column)(LAT_(c) *y, const LAT_(c) *v,
                                                        const LAT_(tile) &t)
{
#pragma unroll
    for (int a = 0; a < LAT_N; a++)
        y[a * PITCH + t.lane] = v[a];
}

/* Columns of products to where hits take them: x has a matrix of each tile for each turn. */
static __device__ __forceinline__ void LAT_(put_products)(LAT_(c) *x, const LAT_(c) (*v)[LAT_N],
                                                          const LAT_(maker) &m)
{
    LAT_(c) *const to = x + m.site / TILES * SCRATCH + m.site % TILES * LAT_N + m.column;
#pragma unroll
    for (int c = 0; c < SHARE; c++)
#pragma unroll
        for (int a = 0; a < LAT_N; a++)
            to[a * PITCH + c * APART] = v[c][a];
}

static __device__ __forceinline__ void LAT_(row_of)(LAT_(c) *row, const LAT_(c) *y,
                                                    const LAT_(tile) &t, int a)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        row[k] = y[a * PITCH + t.first + k];
}

/* ---- hits ---- */

/* What the hits of an update (site/update.h) need. Of one of the whole element, RELAX_SUN, a hit is
 * the maximum. (By reference alone: where it was copied, nvcc 13.0 read the kernel's parameters in
 * its place; bench/NOTES.md.) */
typedef struct {
    LAT_T beta, omega, stochastic;
    const LAT_(rng) *rng;
} LAT_(hits);

/* Numbers that the hit of subgroup n will take, whatever the maximum is. Threads of a tile prepare
 * as many subgroups side by side. */
static __device__ __forceinline__ void LAT_(prepare)(LAT_T d[7], const LAT_(hits) &h,
                                                     lat_update update, uint32_t n)
{
    const LAT_T one = 1, two = 2, half = (LAT_T)0.5;
    LAT_T u[8];
    switch (update) {
    case LAT_UPDATE_HEATBATH: { /* heat_kennedy_pendleton and heat_sphere3 of site/heat.h */
        LAT_(uniforms_of_two)(h.rng, n, n + LAT_N * (LAT_N - 1) / 2, u);
        const LAT_T sine = LAT_(sine)(u[1] - half), normal = half * LAT_(log)(u[2]),
                    z = two * u[6] - one, across = LAT_(sqrt)(one - z * z);
        d[0] = LAT_(log)(u[0]) + normal * (one - sine);
        d[1] = LAT_(log)(u[4]) + normal * (one + sine);
        d[2] = u[3] * u[3];
        d[3] = u[5] * u[5];
        LAT_(sincos_2pi)(u[7], d + 5, d + 4);
        d[4] *= across;
        d[5] *= across;
        d[6] = z;
        break;
    }
    case LAT_UPDATE_METROPOLIS: LAT_(heat_propose)(h.rng, n, d, d + 4); break;
    case LAT_UPDATE_STOCHASTIC_SU2:
        LAT_(uniforms)(h.rng, n / 4, u);
        d[0] = n % 4 == 0 ? u[0] : n % 4 == 1 ? u[1] : n % 4 == 2 ? u[2] : u[3];
        break;
    default: break;
    }
}

/* a with density exp(k a_0) on S^3, from what was prepared for subgroup n; what that does not do
 * for, because k is small or both proposals are rejected, begins anew. */
static __device__ __forceinline__ void LAT_(prepared_sphere3)(LAT_T k, const LAT_(hits) &h,
                                                              uint32_t n, const LAT_T d[7],
                                                              LAT_T a[4])
{
    const LAT_T one = 1, two = 2, half = (LAT_T)0.5, scale = -one / k;
    const LAT_T x = scale * d[0], y = scale * d[1];
    LAT_T one_minus_a0, spare[2];
    if (k > (LAT_T)LAT_HEAT_SWITCH && !(d[2] > one - half * x))
        one_minus_a0 = x;
    else if (k > (LAT_T)LAT_HEAT_SWITCH && !(d[3] > one - half * y))
        one_minus_a0 = y;
    else
        one_minus_a0 = LAT_(heat_one_minus_a0)(k, h.rng, n, LAT_N * (LAT_N - 1) / 2, spare);
    const LAT_T length = LAT_(sqrt)(one_minus_a0 * (two - one_minus_a0));
    a[0] = one - one_minus_a0;
    a[1] = length * d[4];
    a[2] = length * d[5];
    a[3] = length * d[6];
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
        LAT_(prepared_sphere3)(k, h, n, got, a);
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

/* (s, t) <- h (s, t): what LAT_(hit_apply) does in one column. */
static __device__ __forceinline__ void LAT_(hit_column)(LAT_(c) *s, LAT_(c) *t, const LAT_T h[4])
{
    const LAT_(c) a = *s, b = *t;
    s->re = h[0] * a.re - h[3] * a.im + h[2] * b.re - h[1] * b.im;
    s->im = h[0] * a.im + h[3] * a.re + h[2] * b.im + h[1] * b.re;
    t->re = h[0] * b.re + h[3] * b.im - h[2] * a.re - h[1] * a.im;
    t->im = h[0] * b.im - h[3] * b.re - h[2] * a.im + h[1] * a.re;
}

/* The axis of the hit on rows p, q (LAT_(hit_axis)): xp and xq are those elements of each column.
 */
static __device__ __forceinline__ void LAT_(axis_of)(LAT_T r[4], const LAT_(tile) &t, LAT_(c) xp,
                                                     LAT_(c) xq, int p, int q)
{
    const LAT_(c) pp = LAT_(from)(xp, t.first + p), qp = LAT_(from)(xq, t.first + p),
                  pq = LAT_(from)(xp, t.first + q), qq = LAT_(from)(xq, t.first + q);
    r[0] = pp.re + qq.re;
    r[1] = -qp.im - pq.im;
    r[2] = qp.re - pq.re;
    r[3] = qq.im - pp.im;
}

/* One pass of hits over all subgroups: x and y, in shared memory, change as x says. `still`: in
 * this tile they do not. */
static __device__ __forceinline__ void LAT_(hit_all)(LAT_(c) *x, LAT_(c) *y, const LAT_(tile) &t,
                                                     const LAT_(hits) &h, lat_update update,
                                                     bool still)
{
    LAT_T d[7] = {0, 0, 0, 0, 0, 0, 0};
    uint32_t n = 0;
    int prepared = 0; /* the column that has prepared the next hit */
#pragma unroll 1
    for (int p = 0; p < LAT_N - 1; p++) {
        LAT_(c) xp = x[p * PITCH + t.lane], yp = y[p * PITCH + t.lane];
#pragma unroll 1
        for (int q = p + 1; q < LAT_N; q++, n++) {
            LAT_(c) xq = x[q * PITCH + t.lane], yq = y[q * PITCH + t.lane];
            LAT_T r[4], w[4];
            if (prepared == 0)
                LAT_(prepare)(d, h, update, n + (uint32_t)t.column);
            LAT_(axis_of)(r, t, xp, xq, p, q);
            LAT_(hit_of)(w, r, h, update, n, d, t.first + prepared);
            prepared = prepared + 1 == LAT_N ? 0 : prepared + 1;
            if (!still) {
                LAT_(hit_column)(&xp, &xq, w);
                LAT_(hit_column)(&yp, &yq, w);
                x[q * PITCH + t.lane] = xq;
                y[q * PITCH + t.lane] = yq;
            }
        }
        x[p * PITCH + t.lane] = xp;
        y[p * PITCH + t.lane] = yp;
    }
    __syncwarp();
}

/* ---- rows ---- */

/* s = row . conj(v) */
static __device__ __forceinline__ LAT_(c) LAT_(overlap)(const LAT_(c) *row, const LAT_(c) *v)
{
    LAT_(c) s = {0, 0};
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        s = LAT_(fma_conj)(s, row[k], v[k]);
    return s;
}

/* row -= s v where `below`. */
static __device__ __forceinline__ void LAT_(take_off)(LAT_(c) *row, LAT_(c) s, const LAT_(c) *v,
                                                      bool below)
{
    const LAT_(c) minus = {below ? -s.re : 0, below ? -s.im : 0};
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        row[k] = LAT_(fma)(row[k], minus, v[k]);
}

/* This thread's row of y, orthonormalised to first order: LAT_(orthonormal_again). */
static __device__ __forceinline__ void LAT_(tile_orthonormal_again)(LAT_(c) *row, const LAT_(c) *y,
                                                                    const LAT_(tile) &t)
{
    LAT_(c) v[LAT_N];
    LAT_(row_of)(row, y, t, t.column);
    const LAT_T square = LAT_(overlap)(row, row).re;
#pragma unroll 1
    for (int b = 0; b < LAT_N - 1; b++) {
        LAT_(row_of)(v, y, t, b);
        LAT_(take_off)(row, LAT_(overlap)(row, v), v, b < t.column);
    }
    LAT_(scale)(row, (LAT_T)1.5 - (LAT_T)0.5 * square);
}

/* The same by Gram-Schmidt: LAT_(orthonormal). The rows of y are overwritten with the result. */
static __device__ __forceinline__ void LAT_(tile_orthonormal)(LAT_(c) *row, LAT_(c) *y,
                                                              const LAT_(tile) &t)
{
    LAT_(c) v[LAT_N];
    LAT_(row_of)(row, y, t, t.column);
    __syncwarp();
#pragma unroll 1
    for (int b = 0; b < LAT_N; b++) {
        if (b == t.column) {
            LAT_(scale)(row, LAT_(rsqrt)(LAT_(overlap)(row, row).re));
            if (t.stores)
#pragma unroll
                for (int k = 0; k < LAT_N; k++)
                    y[b * PITCH + t.first + k] = row[k];
        }
        __syncwarp();
        LAT_(row_of)(v, y, t, b);
        LAT_(take_off)(row, LAT_(overlap)(row, v), v, b < t.column);
    }
    __syncwarp();
}

/* ---- determinants ---- */

/* det m by elimination, m in shared memory, which is destroyed; PIVOT: with row k or below, the
 * largest of column k; otherwise m is near 1. The same in all threads of a tile. */
template <bool PIVOT>
static __device__ __forceinline__ LAT_(c) LAT_(tile_det)(LAT_(c) *m, const LAT_(tile) &t)
{
    LAT_(c) det = {1, 0};
    LAT_(c) *const own = m + t.lane; /* this thread's column */
#pragma unroll 1
    for (int k = 0; k < LAT_N; k++) {
        LAT_(c) top = own[k * PITCH];
#pragma unroll 1
        for (int a = k + 1; PIVOT && a < LAT_N; a++) {
            const LAT_(c) q = own[a * PITCH];
            const int larger = q.re * q.re + q.im * q.im > top.re * top.re + top.im * top.im;
            if (__shfl_sync(~0u, larger, t.first + k)) {
                own[a * PITCH].re = -top.re;
                own[a * PITCH].im = -top.im;
                top = q;
            }
        }
        const LAT_(c) d = LAT_(from)(top, t.first + k);
        const LAT_T s = LAT_(rsqrt)(d.re * d.re + d.im * d.im), inverse = -s * s;
        det = LAT_(mul)(det, d);
#pragma unroll 1
        for (int a = k + 1; a < LAT_N; a++) {
            const LAT_(c) zero = {0, 0}, q = own[a * PITCH];
            LAT_(c) f = LAT_(from)(LAT_(fma_conj)(zero, q, d), t.first + k);
            f.re *= inverse;
            f.im *= inverse;
            own[a * PITCH] = LAT_(fma)(q, f, top);
        }
    }
    return det;
}

/* conj(z) / |z| */
static __device__ __forceinline__ LAT_(c) LAT_(phase_back)(LAT_(c) z)
{
    const LAT_T s = LAT_(rsqrt)(z.re * z.re + z.im * z.im);
    const LAT_(c) back = {z.re * s, -z.im * s};
    return back;
}
