/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_project.cuh: products and combinations of many fields of one column, w, with the columns of
 * a batch: skinny matrix products, bound by memory if each w is read once for all columns and each
 * column once for all w.
 *
 * In double and in single a group is nothing but rows of 512 bytes, 16 for each lane, and so are
 * groups one after the other. A warp follows such rows, TERMS of the w and COLUMNS columns beside
 * each other in registers. Sums have the same operations in the same order for any TERMS and
 * COLUMNS: a product's bits do not depend on what is beside it. */
#pragma once

#include "vector/cuda/cuda_site.cuh"
#include "vector/cuda/cuda_space.cuh"

typedef struct lat_project_args {
    uint32_t half, groups;               /* sites and groups of a parity */
    uint32_t slices, per_slice;          /* groups of a slice */
    uint32_t run, rows;                  /* groups of a row of sums, rows of a slice */
    uint32_t sides;                      /* parities */
    int first;                           /* of them */
    size_t parity;                       /* bytes */
    int terms, columns, numbers;         /* numbers: 2 terms columns */
    uint32_t tiles_terms, tiles_columns; /* of blocks */
    char *y;
    double *partial;           /* [side][slice][row][column][term][re, im] */
    const lat_scalar *factors; /* [term][columns] */
    const char *w[LAT_VECTOR_MODES];
    size_t column[LAT_VECTOR_COLUMNS]; /* where active columns begin, bytes */
} lat_project_args;

/* The reals of a lane in a row. */
template <int P> struct lat_chunk {
    enum { REALS = 16 / lat_form<P>::BYTES };
    DEVICE void get(real_of<P> v[REALS], uint4 c)
    {
        const uint32_t w[4] = {c.x, c.y, c.z, c.w};
#pragma unroll
        for (int k = 0; k < REALS; k++)
            v[k] = word_real<P>(w, k);
    }
};

/* The numbers of a tile, [column][term][re, im], from a warp. */
template <int TERMS, int COUNT, class real>
DEVICE void put_numbers(const lat_project_args &a, double *row, int k0, int n0, real *v)
{
    enum { N = COUNT % 32 ? 16 : 32, LANES = 32 / N };
    static_assert(COUNT % N == 0, "16 numbers at a time");
    const int lane = (int)threadIdx.x;
#pragma unroll
    for (int from = 0; from < COUNT; from += N) {
        const real sum = sum_over_warp<N>(v + from);
        const int k = from + lane / LANES, term = k0 + k / 2 % TERMS, column = n0 + k / (2 * TERMS);
        if (lane % LANES == 0 && term < a.terms && column < a.columns)
            row[(column * a.terms + term) * 2 + k % 2] = sum;
    }
}

enum { LAT_PRODUCTS_AHEAD = 6 }; /* rows of columns that are asked for before they are read */

/* A block is a row of sums: `run` groups of a slice. Its warps have other terms each. */
template <int P, int TERMS, int COLUMNS>
__global__ void __launch_bounds__(256) products(const __grid_constant__ lat_project_args a)
{
    typedef lat_form<P> form;
    typedef real_of<P> real;
    typedef lat_chunk<P> chunk;
    const uint32_t lane = threadIdx.x, tile = blockIdx.x % (a.tiles_terms * a.tiles_columns),
                   at = blockIdx.x / (a.tiles_terms * a.tiles_columns), side = blockIdx.y;
    const int k0 = (int)((tile % a.tiles_terms) * blockDim.y + threadIdx.y) * TERMS,
              n0 = (int)(tile / a.tiles_terms) * COLUMNS;
    if (k0 >= a.terms)
        return;
    const uint32_t begin = at % a.rows * a.run, group = at / a.rows * a.per_slice + begin,
                   left = a.per_slice - begin, count = left < a.run ? left : a.run;
    /* The last group may have less than 32 sites. */
    const bool there = (group + count - 1) * 32 + lane < a.half;
    const uint32_t last = (count - !there) * form::CHUNKS;
    const size_t offset = (a.first + side) * a.parity + (size_t)group * form::GROUP + lane * 16;
    const char *const y = a.y + offset;
    const uint64_t policy = read_once();
    real sum[COLUMNS * TERMS * 2] = {};
    uint4 next[TERMS];
#pragma unroll
    for (int j = 0; j < TERMS; j++)
        if (k0 + j < a.terms && last)
            next[j] = load16_once(a.w[k0 + j] + offset, policy);
        else
            next[j] = uint4{0, 0, 0, 0};
#pragma unroll 1
    for (uint32_t q = 0; q < last; q++) {
        real w[TERMS][chunk::REALS], x[chunk::REALS];
        if (q + LAT_PRODUCTS_AHEAD < last)
            for (int n = (int)threadIdx.y; n < COLUMNS && n0 + n < a.columns; n += (int)blockDim.y)
                ask_for(y + a.column[n0 + n] + (q + LAT_PRODUCTS_AHEAD) * 512);
#pragma unroll
        for (int j = 0; j < TERMS; j++) {
            chunk::get(w[j], next[j]);
            if (k0 + j < a.terms && q + 1 < last)
                next[j] = load16_once(a.w[k0 + j] + offset + (q + 1) * 512, policy);
        }
#pragma unroll
        for (int n = 0; n < COLUMNS; n++) {
            const int c = COLUMNS == 1 || n0 + n < a.columns ? n0 + n : n0;
            chunk::get(x, load16(y + a.column[c] + q * 512));
#pragma unroll
            for (int j = 0; j < TERMS; j++)
#pragma unroll
                for (int k = 0; k < chunk::REALS; k += 2) {
                    real *const s = sum + (n * TERMS + j) * 2;
                    s[0] = fma(w[j][k], x[k], s[0]);
                    s[0] = fma(w[j][k + 1], x[k + 1], s[0]);
                    s[1] = fma(w[j][k], x[k + 1], s[1]);
                    s[1] = fma(-w[j][k + 1], x[k], s[1]);
                }
        }
    }
    double *const row = a.partial + ((size_t)side * a.slices * a.rows + at) * (size_t)a.numbers;
    put_numbers<TERMS, COLUMNS * TERMS * 2>(a, row, k0, n0, sum);
}

/* y += a w of a chunk. */
template <int REALS, class real>
DEVICE void add_chunk(real y[REALS], real re, real im, const real w[REALS])
{
#pragma unroll
    for (int k = 0; k < REALS; k += 2) {
        y[k] = fma(re, w[k], y[k]);
        y[k] = fma(-im, w[k + 1], y[k]);
        y[k + 1] = fma(re, w[k + 1], y[k + 1]);
        y[k + 1] = fma(im, w[k], y[k + 1]);
    }
}

template <class real> struct alignas(2 * sizeof(real)) lat_project_pair {
    real x, y;
};

enum { LAT_COMBINE_ROWS = 4, LAT_COMBINE_AHEAD = 8 };

/* A warp has LAT_COMBINE_ROWS rows, and so many fields at a time are on their way. */
template <int P, int COLUMNS>
__global__ void __launch_bounds__(128) combine(const __grid_constant__ lat_project_args a)
{
    typedef lat_form<P> form;
    typedef real_of<P> real;
    typedef lat_project_pair<real> pair;
    typedef lat_chunk<P> chunk;
    __shared__ pair factor[LAT_VECTOR_MODES][COLUMNS];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32,
                   all = a.sides * a.groups * form::CHUNKS;
    const int n0 = (int)blockIdx.y * COLUMNS;
    for (int i = (int)threadIdx.x; i < a.terms * COLUMNS; i += 128) {
        const int n = n0 + i % COLUMNS;
        const lat_scalar s = n < a.columns ? a.factors[i / COLUMNS * a.columns + n]
                                           : lat_scalar{0, 0};
        factor[i / COLUMNS][i % COLUMNS] = pair{(real)s.re, (real)s.im};
    }
    __syncthreads();
    const uint64_t policy = read_once();
#pragma unroll 1
    for (uint32_t r = 0; r < LAT_COMBINE_ROWS; r++) {
        const uint32_t q = (blockIdx.x * LAT_COMBINE_ROWS + r) * 4 + warp;
        if (q >= all)
            return;
        const size_t offset = (size_t)a.first * a.parity + (size_t)q * 512 + lane * 16;
        real y[COLUMNS][chunk::REALS], w[chunk::REALS];
#pragma unroll
        for (int n = 0; n < COLUMNS; n++)
            chunk::get(y[n], load16(a.y + a.column[n0 + n < a.columns ? n0 + n : n0] + offset));
#pragma unroll 1
        for (int k0 = 0; k0 < a.terms; k0 += LAT_COMBINE_AHEAD) {
            uint4 ahead[LAT_COMBINE_AHEAD];
#pragma unroll
            for (int j = 0; j < LAT_COMBINE_AHEAD; j++)
                if (k0 + j < a.terms)
                    ahead[j] = load16_once(a.w[k0 + j] + offset, policy);
#pragma unroll
            for (int j = 0; j < LAT_COMBINE_AHEAD; j++)
                if (k0 + j < a.terms) {
                    chunk::get(w, ahead[j]);
#pragma unroll
                    for (int n = 0; n < COLUMNS; n++) {
                        const pair f = factor[k0 + j][n];
                        add_chunk<chunk::REALS>(y[n], f.x, f.y, w);
                    }
                }
        }
#pragma unroll
        for (int n = 0; n < COLUMNS; n++)
            if (n0 + n < a.columns)
                store16<false>(a.y + a.column[n0 + n] + offset, chunk_of(y[n]), policy);
    }
}
