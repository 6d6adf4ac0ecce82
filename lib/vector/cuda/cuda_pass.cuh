/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_pass.cuh: passes over spinors on a GPU: linear algebra. A thread is a site of a parity of a
 * column. */
#ifndef LAT_VECTOR_CUDA_PASS_CUH
#define LAT_VECTOR_CUDA_PASS_CUH

#include "vector/cuda/cuda_site.cuh"
#include "vector/cuda/cuda_space.cuh"

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
    size_t parity_y, column_y; /* of y, if it is in another storage */
    uint32_t before;           /* sites of a parity that ranks below have */
    bool norm;
    bool backwards;  /* blocks begin at the end: there is what the kernel before had last in the
                      * second cache */
    bool early;      /* the kernel may begin while the one before ends */
    double *partial; /* [active][numbers][arrays]: of the first column of the launch */
    int numbers, arrays;
    uint32_t groups; /* of a parity */
    uint8_t active[LAT_PASS_COLUMNS];
    lat_scalar b[LAT_PASS_COLUMNS];
    lat_scalar a[LAT_PASS_TERMS][LAT_PASS_COLUMNS];
    const lat_scalar *row[LAT_PASS_ROWS]; /* in place of a[0], a[1] .., if not NULL: by column */
} lat_pass_args;

/* Coefficient of a term, n: the place of the column in `active`. */
DEVICE lat_scalar coefficient(const lat_pass_args &a, int term, int n)
{
    return term < LAT_PASS_ROWS && a.row[term] ? known(a.row[term], a.active[n]) : a.a[term][n];
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
};

template <int P, lat_pass_kind KIND>
__global__ void __launch_bounds__(128) pass(const __grid_constant__ lat_pass_args a)
{
    enum { PY = lat_pass_of_y<P, KIND>::STORAGE };
    const uint32_t i = block_number(a.backwards, 0) * 128 + threadIdx.x, group = i / 32;
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
            s.get_y(y);
            KIND == LAT_PASS_AXPBY ? s.axpby(y) : KIND == LAT_PASS_AXPYS ? s.axpys(y) : s.gamma5(y);
            s.put_y(y);
            norm = a.norm ? norm_of(y) : 0;
        }
    }
    if (KIND == LAT_PASS_BICGSTAB || a.norm)
        sum_up(s.sum, norm);
}

#endif
