/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_tile.cuh: matrices of SU(N) over threads of a warp, a tile (template; after
 * cuda_matrix.cuh), for N whose matrices a thread has no registers for.
 *
 * A thread of a tile has C rows or columns of a matrix, so that N / C threads are a tile: those of
 * number column, column + N / C, ... A product needs all of the other factor in each thread: it is
 * read from memory, where the threads of a tile ask for the same 16 bytes at once, and what is read
 * serves C columns. Hits of SU(2) subgroups change two rows, in each column by itself; so the
 * columns are in shared memory, a slot of its own for each lane, row and c, and what the hit is
 * comes from the two columns that know by shuffles; all threads of a tile make it of them, which C
 * columns share. All threads of a warp come everywhere; lanes that are left over do what another
 * one does, and store nothing. */

#define PITCH 33                /* lanes, and one more: rows and columns are both read freely */
#define SCRATCH (LAT_N * PITCH) /* complex numbers: a column of each thread of a warp */
#define PAIR_HALVES (PER / 2)   /* complex numbers of a chunk */

/* C of sweeps. (Two of SU(8) and three of SU(6) in single fill the registers.) */
#define SHARE (LAT_N % 2 || LAT_N > 8 ? 1 : LAT_N == 6 && LAT_SIZE == 4 ? 3 : 2)
#define LANES(C) (LAT_N / (C))   /* of a tile; a thread's columns are so far from each other */
#define TILES(C) (32 / LANES(C)) /* of a warp */

/* Warps of a block: so many that its matrices are no more than 48 KB of shared memory. */
#define TILE_WARPS (4 * 2 * SHARE * SCRATCH * 2 * LAT_SIZE <= 48 * 1024 ? 4 : 2)
#define TILE_BLOCK (32 * TILE_WARPS)
#define TILE_SITES (TILES(SHARE) * TILE_WARPS) /* of a block */

template <int C> struct LAT_(tile) {
    int column;      /* the first one of this thread; or row */
    int lane, first; /* in the warp: this thread, the tile's first one */
    int number;      /* of the tile in its warp */
    bool stores;     /* false: a lane left over */
};

template <int C> static __device__ __forceinline__ LAT_(tile)<C> LAT_(tile_of)()
{
    LAT_(tile)<C> t;
    t.lane = (int)threadIdx.x % 32;
    t.stores = t.lane < TILES(C) * LANES(C);
    t.number = t.stores ? t.lane / LANES(C) : TILES(C) - 1;
    t.column = t.stores ? t.lane % LANES(C) : t.lane - TILES(C) * LANES(C);
    t.first = t.number * LANES(C);
    return t;
}

/* lat_cuda_site_of for a tile, number k of a block's `many`; nobody's: as the first one. */
static __device__ __forceinline__ uint32_t LAT_(tile_site)(const lat_cuda_sites &w,
                                                           const lat_cuda_step &s, int parity,
                                                           uint32_t many, uint32_t k, int *side,
                                                           bool *there)
{
    const uint32_t at = lat_cuda_site_of(w, s, parity, many, k, side);
    *there = at < w.half;
    return *there ? at : w.from;
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

/* The sum of v over each tile, for the lane that is number from + the tile's; 0 for others. */
template <int C>
static __device__ __forceinline__ double LAT_(tile_sum)(double v, const LAT_(tile) < C > &t,
                                                        int from)
{
    double sum = 0;
#pragma unroll
    for (int k = 0; k < LANES(C); k++)
        sum += __shfl_sync(~0u, v, t.first + k);
    const int tile = t.lane - from, there = tile >= 0 && tile < TILES(C);
    const double got = __shfl_sync(~0u, sum, there ? tile * LANES(C) : 0);
    return there ? got : 0;
}

static __device__ __forceinline__ void LAT_(clear)(LAT_(c) *v)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        v[k].re = v[k].im = 0;
}

/* ---- matrices in memory ---- */

/* Element e = row N + column of a matrix at p. From one chunk to the next it is STEP. */
template <int STEP = LAT_CUDA_GROUP>
static __device__ __forceinline__ LAT_(c) *LAT_(element)(LAT_V *p, int e)
{
    return (LAT_(c) *)(p + e / PAIR_HALVES * STEP) + e % PAIR_HALVES;
}

static __device__ __forceinline__ void LAT_(get_row)(LAT_(c) *v, const LAT_V *p, int row)
{
    const LAT_V *const own = p + row * (LAT_N / PAIR_HALVES) * LAT_CUDA_GROUP;
    LAT_T part[PER];
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        if (LAT_N % PAIR_HALVES) {
            v[k] = *LAT_(element)((LAT_V *)p, row * LAT_N + k);
        } else { /* rows are whole chunks */
            if (k % PAIR_HALVES == 0)
                LAT_(unpack)(part, own[k / PAIR_HALVES * LAT_CUDA_GROUP], PER);
            v[k] = LAT_(load)(part + k % PAIR_HALVES * 2);
        }
}

template <int STEP = LAT_CUDA_GROUP>
static __device__ __forceinline__ void LAT_(get_column)(LAT_(c) *v, const LAT_V *p, int column)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        v[k] = LAT_N % PAIR_HALVES ? *LAT_(element)<STEP>((LAT_V *)p, k * LAT_N + column)
                                   : LAT_(element)<STEP>((LAT_V *)p, column)[k * LAT_N * STEP];
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

/* For C vectors: y += m v or, if DAGGER, m^+ v; of ROWS, y += v m or v m^+. From one chunk of m to
 * the next it is STEP. */
template <bool ROWS, bool DAGGER, int C, int STEP = LAT_CUDA_GROUP>
static __device__ __forceinline__ void LAT_(add_times)(LAT_(c) (*y)[LAT_N], const LAT_V *m,
                                                       const LAT_(c) (*v)[LAT_N])
{
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS(LAT_N); chunk++) {
        LAT_T part[PER];
        LAT_(unpack)(part, m[chunk * STEP], PER);
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

/* ---- matrices on their way to shared memory ---- */

/* The other factors of products come by way of shared memory, the next one while this one is used:
 * registers are too few to wait for all of it. A warp has two buffers for them, where its columns
 * will be, in which chunks of its sites lie side by side. */
#define BUFFER(C) (CHUNKS(LAT_N) * TILES(C))

template <int C, bool STAGED = true>
static __device__ __forceinline__ void LAT_(stage)(LAT_V *buffer, const LAT_V *m,
                                                   const LAT_(tile) < C > &t)
{
    if constexpr (STAGED) {
        static_assert(2 * BUFFER(C) * sizeof(LAT_V) <= 2 * C * SCRATCH * sizeof(LAT_(c)), "space");
        const LAT_V *const own = m + t.column * LAT_CUDA_GROUP;
        LAT_V *const to = buffer + t.column * TILES(C) + t.number;
#pragma unroll
        for (int from = 0; from < CHUNKS(LAT_N); from += LANES(C))
            if (t.stores && from + t.column < CHUNKS(LAT_N))
                __pipeline_memcpy_async(to + from * TILES(C), own + from * LAT_CUDA_GROUP,
                                        sizeof *m);
        __pipeline_commit();
    }
}

/* LAT_(add_times) of m, which was staged before the last one, where there are buffers. */
template <bool ROWS, bool DAGGER, int C, bool STAGED = true>
static __device__ __forceinline__ void LAT_(add_times_staged)(LAT_(c) (*y)[LAT_N],
                                                              const LAT_V *buffer, const LAT_V *m,
                                                              const LAT_(c) (*v)[LAT_N],
                                                              const LAT_(tile) < C > &t)
{
    if constexpr (STAGED) {
        __pipeline_wait_prior(1);
        __syncwarp();
        LAT_(add_times)<ROWS, DAGGER, C, TILES(C)>(y, buffer + t.number, v);
        __syncwarp();
    } else {
        LAT_(add_times)<ROWS, DAGGER, C>(y, m, v);
    }
}

/* ---- matrices in shared memory ---- */

template <int C>
static __device__ __forceinline__ void LAT_(put_columns)(LAT_(c) *y, const LAT_(c) (*v)[LAT_N],
                                                         const LAT_(tile) < C > &t)
{
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int a = 0; a < LAT_N; a++)
            y[c * SCRATCH + a * PITCH + t.lane] = v[c][a];
}

/* Row a of the tile's matrix. */
template <int C>
static __device__ __forceinline__ void LAT_(row_of)(LAT_(c) *row, const LAT_(c) *y,
                                                    const LAT_(tile) < C > &t, int a)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        row[k] = y[k / LANES(C) * SCRATCH + a * PITCH + t.first + k % LANES(C)];
}

template <int C>
static __device__ __forceinline__ void LAT_(set_row)(LAT_(c) *y, const LAT_(c) *row,
                                                     const LAT_(tile) < C > &t, int a)
{
#pragma unroll
    for (int k = 0; k < LAT_N; k++)
        y[k / LANES(C) * SCRATCH + a * PITCH + t.first + k % LANES(C)] = row[k];
}

/* v = row number c of the thread of column b, in all threads of a tile. y: scratch. */
template <int C>
static __device__ __forceinline__ void LAT_(share_row)(LAT_(c) *v, const LAT_(c) *row, LAT_(c) *y,
                                                       const LAT_(tile) < C > &t, int b, int c)
{
    if (b == t.column && t.stores)
        LAT_(set_row)<C>(y, row, t, b + c * LANES(C));
    __syncwarp();
    LAT_(row_of)<C>(v, y, t, b + c * LANES(C));
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

/* This thread's rows of y, orthonormalised to first order: LAT_(orthonormal_again). */
template <int C>
static __device__ __forceinline__ void LAT_(tile_orthonormal_again)(LAT_(c) (*row)[LAT_N],
                                                                    const LAT_(c) *y,
                                                                    const LAT_(tile) < C > &t)
{
    LAT_(c) v[LAT_N];
    LAT_T square[C];
#pragma unroll
    for (int c = 0; c < C; c++) {
        LAT_(row_of)<C>(row[c], y, t, t.column + c * LANES(C));
        square[c] = LAT_(overlap)(row[c], row[c]).re;
    }
#pragma unroll 1
    for (int b = 0; b < LAT_N - 1; b++) {
        LAT_(row_of)<C>(v, y, t, b);
#pragma unroll
        for (int c = 0; c < C; c++)
            if (b < (c + 1) * LANES(C) - 1)
                LAT_(take_off)(row[c], LAT_(overlap)(row[c], v), v, b < t.column + c * LANES(C));
    }
#pragma unroll
    for (int c = 0; c < C; c++)
        LAT_(scale)(row[c], (LAT_T)1.5 - (LAT_T)0.5 * square[c]);
}

/* Gram-Schmidt of the tile's rows: LAT_(orthonormal). Lengths are divided by at the end, so that no
 * row waits for that of another one. y: scratch. */
template <int C>
static __device__ __forceinline__ void LAT_(tile_orthonormal)(LAT_(c) (*row)[LAT_N], LAT_(c) *y,
                                                              const LAT_(tile) < C > &t)
{
    LAT_(c) v[LAT_N];
    __syncwarp();
#pragma unroll
    for (int c = 0; c < C; c++) {
        LAT_T own = 0;
#pragma unroll 1
        for (int b = 0; b < LANES(C); b++) {
            LAT_(share_row)<C>(v, row[c], y, t, b, c);
            const LAT_T s = LAT_(rsqrt)(LAT_(overlap)(v, v).re), square = s * s;
            own = b == t.column ? s : own;
#pragma unroll
            for (int d = c; d < C; d++) {
                const LAT_(c) z = LAT_(overlap)(row[d], v), part = {z.re * square, z.im * square};
                LAT_(take_off)(row[d], part, v, b + c * LANES(C) < t.column + d * LANES(C));
            }
        }
        LAT_(scale)(row[c], own);
    }
    __syncwarp();
}

/* ---- determinants ---- */

/* det of the tile's matrix, whose rows are destroyed, by elimination: in each step the first
 * element of the rows goes, and the others move to its place. m is near 1, so that no pivots are
 * needed. The same in all threads of a tile. y: scratch. */
template <int C>
static __device__ __forceinline__ LAT_(c)
    LAT_(det_near_one)(LAT_(c) (*row)[LAT_N], LAT_(c) *y, const LAT_(tile) < C > &t)
{
    LAT_(c) det = {1, 0}, v[LAT_N];
    __syncwarp();
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll 1
        for (int b = 0; b < LANES(C); b++) {
            LAT_(share_row)<C>(v, row[c], y, t, b, c);
            const LAT_T s = LAT_(rsqrt)(v[0].re * v[0].re + v[0].im * v[0].im), inverse = -s * s;
            det = LAT_(mul)(det, v[0]);
#pragma unroll
            for (int d = c; d < C; d++) {
                const LAT_(c) zero = {0, 0};
                LAT_(c) f = LAT_(fma_conj)(zero, row[d][0], v[0]);
                f.re *= inverse;
                f.im *= inverse;
#pragma unroll
                for (int k = 1; k < LAT_N - c * LANES(C); k++) /* what else there was is 0 */
                    row[d][k - 1] = LAT_(fma)(row[d][k], f, v[k]);
                row[d][LAT_N - c * LANES(C) - 1] = zero;
            }
        }
    __syncwarp();
    return det;
}

/* det m by elimination, m in shared memory, a column a thread, which is destroyed; with row k or
 * below, the largest of column k. The same in all threads of a tile. */
static __device__ __forceinline__ LAT_(c) LAT_(tile_det)(LAT_(c) *m, const LAT_(tile) < 1 > &t)
{
    LAT_(c) det = {1, 0};
    LAT_(c) *const own = m + t.lane; /* this thread's column */
#pragma unroll 1
    for (int k = 0; k < LAT_N; k++) {
        LAT_(c) top = own[k * PITCH];
#pragma unroll 1
        for (int a = k + 1; a < LAT_N; a++) {
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
