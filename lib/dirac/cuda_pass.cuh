/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_pass.cuh: passes over spinors on a GPU: linear algebra, diagonal parts of operators. A
 * thread is a site of a parity of a column. */
#ifndef LAT_DIRAC_CUDA_PASS_CUH
#define LAT_DIRAC_CUDA_PASS_CUH

#include "cuda_dirac.cuh"
#include "cuda_links.cuh"
#include "cuda_site.cuh"

enum { LAT_PASS_COLUMNS = 8, LAT_PASS_TERMS = LAT_VECTOR_TERMS, LAT_PASS_ROWS = 3 };

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
void lat_gpu_pass_part(const lat_gpu_space *s, const lat_part *p, lat_pass_args *a);
cudaError_t lat_gpu_pass(const lat_space *s, lat_pass_kind kind, const lat_pass_args *a,
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

/* Where a thread of a pass is: a site of a column; and what it does there. `there`: it has a site.
 * All threads of a warp call what has sums. */
template <int P, lat_pass_kind KIND> struct pass_site {
    typedef real_of<P> real;
    enum { PY = lat_pass_of_y<P, KIND>::STORAGE };
    const lat_pass_args &a;
    int n, parity; /* n: the place of the column in `active` */
    uint32_t site, lane;
    bool there;
    size_t at, at_y; /* bytes of a field, of y */
    size_t block;    /* bytes of clover matrices */
    double *sum;     /* the first number of the column */

    METHOD void get(real v[24], const char *x) const { get_spinor<P>(v, x + at, lane, false); }
    METHOD void put(char *x, const real v[24]) const
    {
        put_spinor<P, false>(x + at, lane, v, false, read_once());
    }
    METHOD void get_y(real v[24]) const { get_spinor<PY>(v, a.y + at_y, lane, false); }
    METHOD void put_y(const real v[24]) const
    {
        put_spinor<PY, false>(a.y + at_y, lane, v, false, read_once());
    }

    METHOD void axpby(real y[24]) const
    {
        real x[24];
        get(x, a.x[0]);
        times(y, a.b[n]);
        add_times(y, a.a[0][n], x);
    }
    METHOD void axpys(real y[24]) const
    {
        for (int j = 0; j < a.terms; j++) {
            real x[24];
            get(x, a.x[j]);
            add_times(y, coefficient(a, j, n), x);
        }
    }
    METHOD void dots() const
    {
        real x[24], y[24];
        double *to = sum;
        if (there)
            get_y(y);
        for (int j = 0; j < a.terms; j++, to += 2 * a.arrays) {
            double d[2] = {0, 0};
            if (there) {
                get(x, a.x[j]);
                dot(d, x, y);
            }
            sum_up(to, d[0]);
            sum_up(to + a.arrays, d[1]);
        }
        if (a.norm)
            sum_up(to, there ? norm_of(y) : 0);
    }
    METHOD void shadow() const
    {
        real y[24];
        double d[2] = {0, 0};
        if (there) {
            get_y(y);
            shadow_of(d, y, site + a.before, parity, false);
        }
        sum_up(sum, d[0]);
        sum_up(sum + a.arrays, d[1]);
    }
    METHOD void cg() const
    {
        const real c = (real)coefficient(a, 0, n).re, b = (real)coefficient(a, 1, n).re,
                   alpha = (real)coefficient(a, 2, n).re;
        real x[24], y[24], z[24];
        get_y(y);
        get(z, a.z);
        get(x, a.x[0]);
#pragma unroll
        for (int k = 0; k < 24; k++) {
            y[k] = fused(alpha, z[k], y[k]);
            z[k] = fused(c, x[k], rounded_product(b, z[k]));
        }
        put_y(y);
        put(a.z, z);
    }
    METHOD double bicgstab() const
    {
        real x[24], y[24], z[24];
        const lat_scalar w = coefficient(a, 1, n), minus = {-w.re, -w.im};
        get_y(y);
        get(z, a.z);
        get(x, a.dir);
        add_times(y, coefficient(a, 0, n), x);
        add_times(y, w, z);
        put_y(y);
        get(y, a.x[1]);
        add_times(x, minus, y);
        times(x, coefficient(a, 2, n));
        get(y, a.x[0]);
        add_times(z, minus, y);
        put(a.z, z);
        const double norm = norm_of(z);
#pragma unroll
        for (int k = 0; k < 24; k++)
            x[k] += z[k];
        put(a.dir, x);
        return norm;
    }
    DEVICE void gamma5(real y[24])
    {
#pragma unroll
        for (int k = 0; k < 12; k++) {
            const real u = y[k];
            y[k] = -y[12 + k];
            y[12 + k] = -u;
        }
    }
    METHOD void diagonal(real y[24]) const
    {
        real x[24];
        get(x, a.x[0]);
        if (a.clover[parity])
            clover_times<P>(x, a.clover[parity] + block, lane, read_once());
#pragma unroll
        for (int k = 0; k < 24; k++)
            y[k] = x[k];
        if (a.clover2[parity])
            clover_times<P>(y, a.clover2[parity] + block, lane, read_once());
        times(y, a.a[0][n]);
        add_gamma5(y, x, (real)a.g5);
    }
};

template <int P, lat_pass_kind KIND>
__global__ void __launch_bounds__(128) pass(const __grid_constant__ lat_pass_args a)
{
    enum { PY = lat_pass_of_y<P, KIND>::STORAGE };
    const uint32_t i = walked(a.backwards, 0) * 128 + threadIdx.x, group = i / 32;
    if (group >= a.groups)
        return;
    const int n = (int)(a.backwards ? gridDim.y - 1 - blockIdx.y : blockIdx.y),
              parity = a.first + (int)blockIdx.z;
    const size_t at = (size_t)a.active[n] * a.column + (size_t)parity * a.parity
                      + (size_t)group * lat_form<P>::GROUP,
                 at_y = (size_t)a.active[n] * a.column_y + (size_t)parity * a.parity_y
                        + (size_t)group * lat_form<PY>::GROUP,
                 sum = (size_t)n * (size_t)a.numbers * (size_t)a.arrays
                       + (size_t)blockIdx.z * a.groups + group;
    const pass_site<P, KIND> s = {a,
                                  n,
                                  parity,
                                  i,
                                  i % 32,
                                  i < a.half,
                                  at,
                                  PY == P ? at : at_y,
                                  (size_t)group * lat_form<P>::CLOVER,
                                  a.partial ? a.partial + sum : NULL};
    real_of<P> y[24];
    double norm = 0;
    WAIT_FOR_GRID();
    switch (KIND) {
    case LAT_PASS_DOTS: s.dots(); return;
    case LAT_PASS_SHADOW: s.shadow(); return;
    case LAT_PASS_CG:
    case LAT_PASS_CG_SUM:
        if (s.there)
            s.cg();
        return;
    case LAT_PASS_BICGSTAB: norm = s.there ? s.bicgstab() : 0; break;
    default:
        if (s.there) {
            if (KIND != LAT_PASS_DIAGONAL)
                s.get_y(y);
            KIND == LAT_PASS_AXPBY    ? s.axpby(y)
            : KIND == LAT_PASS_AXPYS  ? s.axpys(y)
            : KIND == LAT_PASS_GAMMA5 ? s.gamma5(y)
                                      : s.diagonal(y);
            s.put_y(y);
            norm = a.norm ? norm_of(y) : 0;
        }
    }
    if (KIND == LAT_PASS_BICGSTAB || a.norm)
        sum_up(s.sum, norm);
}

#endif
