/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_pass.cuh: passes over spinors on a GPU: linear algebra, diagonal parts of operators. A
 * thread is a site of a parity of a column. */
#ifndef LAT_DIRAC_CUDA_PASS_CUH
#define LAT_DIRAC_CUDA_PASS_CUH

#include "cuda_dirac.cuh"
#include "cuda_site.cuh"

enum { LAT_PASS_COLUMNS = 8, LAT_PASS_TERMS = LAT_SPINOR_TERMS, LAT_PASS_ROWS = 3 };

typedef enum {
    LAT_PASS_AXPBY,    /* y <- a[0] x[0] + b y; |y|^2 */
    LAT_PASS_AXPYS,    /* y <- y + sum a[j] x[j]; |y|^2 */
    LAT_PASS_DOTS,     /* <x[j], y>; |y|^2 */
    LAT_PASS_CG,       /* y <- y + a[2] z; z <- a[0] x[0] + a[1] z; real */
    LAT_PASS_BICGSTAB, /* y <- y + a[0] dir + a[1] z; z <- z - a[1] x[0];
                          dir <- z + a[2] (dir - a[1] x[1]); |z|^2 */
    LAT_PASS_SHADOW,   /* <e, y> */
    LAT_PASS_GAMMA5,   /* y <- gamma5 y */
    LAT_PASS_DIAGONAL, /* y <- C2 C x[0] + i g gamma5 C x[0], or a[0] x[0] + i g gamma5 x[0] */
    LAT_PASS_CG_SUM    /* of half, y in single: a solution is a sum of many terms, each of which
                          would round it */
} lat_pass_kind;

/* Storage of y. */
template <int P, lat_pass_kind KIND> struct lat_pass_of_y {
    enum { STORAGE = KIND == LAT_PASS_CG_SUM ? LAT_STORAGE_SINGLE : P };
};

typedef struct lat_pass_args {
    uint32_t half;         /* sites of a parity */
    size_t parity, column; /* bytes */
    int first;             /* parity of blockIdx.z 0 */
    int terms;
    const char *x[LAT_PASS_TERMS];
    char *y, *z, *dir;
    size_t parity_y, column_y;          /* of y, if it is in another storage */
    uint32_t before;                    /* as in lat_hop_args */
    const char *clover[2], *clover2[2]; /* blocks of each parity; NULL: none */
    double g5;
    bool norm;
    bool backwards, early; /* as in lat_hop_args */
    double *partial;       /* [active][numbers][arrays]: of the first column of the launch */
    int numbers, arrays;
    uint32_t groups; /* of a parity */
    uint8_t active[LAT_PASS_COLUMNS];
    lat_scalar b[LAT_PASS_COLUMNS];
    lat_scalar a[LAT_PASS_TERMS][LAT_PASS_COLUMNS];
    const lat_scalar *row[LAT_PASS_ROWS]; /* in place of a[0], a[1] .., if not NULL: by column */
} lat_pass_args;

/* The arguments for a part, all else zero; and a launch for so many columns and parities. */
void lat_gpu_pass_part(const lat_gpu_space *s, const lat_spinor_part *p, lat_pass_args *a);
cudaError_t lat_gpu_pass(const lat_spinor_space *s, lat_pass_kind kind, const lat_pass_args *a,
                         int columns, int parities);

/* Coefficient of a term, n: the place of the column in `active`. */
DEVICE lat_scalar coefficient(const lat_pass_args &a, int term, int n)
{
    return term < LAT_PASS_ROWS && a.row[term] ? known(a.row[term], a.active[n]) : a.a[term][n];
}

/* y += a x, and a complex. */
template <class real> DEVICE void add_times(real y[24], lat_scalar a, const real x[24])
{
    const real re = (real)a.re, im = (real)a.im;
#pragma unroll
    for (int k = 0; k < 24; k += 2) {
        y[k] += re * x[k] - im * x[k + 1];
        y[k + 1] += re * x[k + 1] + im * x[k];
    }
}

template <class real> DEVICE void times(real y[24], lat_scalar a)
{
    const real re = (real)a.re, im = (real)a.im;
#pragma unroll
    for (int k = 0; k < 24; k += 2) {
        const real r = y[k];
        y[k] = re * r - im * y[k + 1];
        y[k + 1] = re * y[k + 1] + im * r;
    }
}

template <class real> DEVICE double norm_of(const real y[24])
{
    real q = 0;
#pragma unroll
    for (int k = 0; k < 24; k++)
        q += y[k] * y[k];
    return q;
}

/* LAT_PASS_DIAGONAL of several columns, without clover2: the matrices of a warp's sites are brought
 * to shared memory once for all. */
template <int P>
__global__ void __launch_bounds__(128)
    diagonal_many(const __grid_constant__ lat_pass_args a, int columns)
{
    typedef lat_form<P> form;
    typedef typename form::real real;
    extern __shared__ __align__(128) char shared[];
    const uint32_t i = blockIdx.x * 128 + threadIdx.x, group = i / 32, lane = i % 32;
    const int parity = a.first + (int)blockIdx.z;
    if (group >= a.groups)
        return;
    char *const held = shared + threadIdx.x / 32 * form::CLOVER;
    const char *const matrices = a.clover[parity] + (size_t)group * form::CLOVER;
    const uint64_t policy = read_once();
    for (uint32_t k = lane * 16; k < form::CLOVER; k += 512)
        *(uint4 *)(held + k) = load16_once(matrices + k, policy);
    __syncwarp();
    if (i >= a.half)
        return;
#pragma unroll 1
    for (int n = 0; n < columns; n++) {
        const size_t at = (size_t)a.active[n] * a.column + (size_t)parity * a.parity
                          + (size_t)group * form::GROUP;
        real x[24], y[24];
        get_spinor<P>(x, a.x[0] + at, lane, false);
        clover_times<P, true>(x, held, lane, policy);
#pragma unroll
        for (int k = 0; k < 24; k++)
            y[k] = x[k];
        times(y, a.a[0][n]);
        add_gamma5(y, x, (real)a.g5);
        put_spinor<P, false>(a.y + at, lane, y, false, policy);
    }
}

template <int P, lat_pass_kind KIND>
__global__ void __launch_bounds__(128) pass(const __grid_constant__ lat_pass_args a)
{
    typedef lat_form<P> form;
    typedef typename form::real real;
    enum {
        PY = lat_pass_of_y<P, KIND>::STORAGE,
        CG = KIND == LAT_PASS_CG || KIND == LAT_PASS_CG_SUM
    };
    const uint32_t i = walked(a.backwards, 0) * 128 + threadIdx.x, group = i / 32, lane = i % 32;
    if (group >= a.groups)
        return;
    const bool there = i < a.half;
    const int n = (int)(a.backwards ? gridDim.y - 1 - blockIdx.y : blockIdx.y),
              parity = a.first + (int)blockIdx.z;
    const size_t at = (size_t)a.active[n] * a.column + (size_t)parity * a.parity
                      + (size_t)group * form::GROUP;
    const size_t at_y = PY == P ? at
                                : (size_t)a.active[n] * a.column_y + (size_t)parity * a.parity_y
                                      + (size_t)group * lat_form<PY>::GROUP;
    double *sum = a.partial ? a.partial + (size_t)n * (size_t)a.numbers * (size_t)a.arrays
                                  + (size_t)blockIdx.z * a.groups + group
                            : NULL;
    const uint64_t policy = read_once();
    real y[24], x[24];
    double norm = 0, d[2] = {0, 0};
    WAIT_FOR_GRID();
    if (there && KIND != LAT_PASS_DIAGONAL && !CG)
        get_spinor<PY>(y, a.y + at_y, lane, false);
    if (KIND == LAT_PASS_DOTS) {
        for (int j = 0; j < a.terms; j++) {
            d[0] = d[1] = 0;
            if (there) {
                get_spinor<P>(x, a.x[j] + at, lane, false);
                dot(d, x, y);
            }
            sum_up(sum, d[0]);
            sum_up(sum + a.arrays, d[1]);
            sum += 2 * a.arrays;
        }
        if (a.norm)
            sum_up(sum, there ? norm_of(y) : 0);
        return;
    }
    if (KIND == LAT_PASS_SHADOW) {
        if (there)
            shadow_of(d, y, i + a.before, parity, false);
        sum_up(sum, d[0]);
        sum_up(sum + a.arrays, d[1]);
        return;
    }
    if (there) {
        if (KIND == LAT_PASS_AXPBY) {
            get_spinor<P>(x, a.x[0] + at, lane, false);
            times(y, a.b[n]);
            add_times(y, a.a[0][n], x);
        } else if (KIND == LAT_PASS_AXPYS) {
            for (int j = 0; j < a.terms; j++) {
                get_spinor<P>(x, a.x[j] + at, lane, false);
                add_times(y, coefficient(a, j, n), x);
            }
        } else if (CG) {
            const real c = (real)coefficient(a, 0, n).re, b = (real)coefficient(a, 1, n).re,
                       alpha = (real)coefficient(a, 2, n).re;
            real z[24];
            get_spinor<PY>(y, a.y + at_y, lane, false);
            get_spinor<P>(z, a.z + at, lane, false);
            get_spinor<P>(x, a.x[0] + at, lane, false);
#pragma unroll
            for (int k = 0; k < 24; k++) {
                y[k] = fused(alpha, z[k], y[k]);
                z[k] = fused(c, x[k], rounded_product(b, z[k]));
            }
            put_spinor<PY, false>(a.y + at_y, lane, y, false, policy);
            put_spinor<P, false>(a.z + at, lane, z, false, policy);
        } else if (KIND == LAT_PASS_BICGSTAB) {
            real z[24];
            const lat_scalar w = coefficient(a, 1, n), minus = {-w.re, -w.im};
            get_spinor<P>(z, a.z + at, lane, false);
            get_spinor<P>(x, a.dir + at, lane, false);
            add_times(y, coefficient(a, 0, n), x);
            add_times(y, w, z);
            put_spinor<PY, false>(a.y + at_y, lane, y, false, policy);
            get_spinor<P>(y, a.x[1] + at, lane, false);
            add_times(x, minus, y);
            times(x, coefficient(a, 2, n));
            get_spinor<P>(y, a.x[0] + at, lane, false);
            add_times(z, minus, y);
            norm = norm_of(z);
            put_spinor<P, false>(a.z + at, lane, z, false, policy);
#pragma unroll
            for (int k = 0; k < 24; k++)
                x[k] += z[k];
            put_spinor<P, false>(a.dir + at, lane, x, false, policy);
        } else if (KIND == LAT_PASS_GAMMA5) {
#pragma unroll
            for (int k = 0; k < 12; k++) {
                const real u = y[k];
                y[k] = -y[12 + k];
                y[12 + k] = -u;
            }
        } else if (KIND == LAT_PASS_DIAGONAL) {
            const size_t block = (size_t)group * form::CLOVER;
            get_spinor<P>(x, a.x[0] + at, lane, false);
            if (a.clover[parity])
                clover_times<P>(x, a.clover[parity] + block, lane, policy);
#pragma unroll
            for (int k = 0; k < 24; k++)
                y[k] = x[k];
            if (a.clover2[parity])
                clover_times<P>(y, a.clover2[parity] + block, lane, policy);
            times(y, a.a[0][n]);
            add_gamma5(y, x, (real)a.g5);
        }
        if (KIND != LAT_PASS_BICGSTAB && !CG)
            put_spinor<PY, false>(a.y + at_y, lane, y, false, policy);
        if ((KIND == LAT_PASS_AXPBY || KIND == LAT_PASS_AXPYS) && a.norm)
            norm = norm_of(y);
    }
    if (KIND == LAT_PASS_BICGSTAB)
        sum_up(sum, norm);
    if ((KIND == LAT_PASS_AXPBY || KIND == LAT_PASS_AXPYS) && a.norm)
        sum_up(sum, norm);
}

#endif
