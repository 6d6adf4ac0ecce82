/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_pass.cuh: linear algebra of spinors on a GPU, in passes: a kernel for all, whose thread is a
 * site of a parity of a column, and what it does there: at() of one of these, for all threads of a
 * warp.
 *
 *     pass_sum        y <- b y + sum_j a[j] x[j]; b is 1 or given, and where it is 0 y is not
 *                     read; |y|^2 if numbers are wanted
 *     pass_dots       <x[j], y>; |y|^2 if there is one number more
 *     pass_shadow     <e, y>
 *     pass_gamma5     y <- gamma5 y
 *     pass_cg         y <- y + a[2] z; z <- a[0] x[0] + a[1] z; real
 *     pass_cg_single  the same of half, y in single: a solution is a sum of many terms, each of
 *                     which would round it
 *     pass_bicgstab   y <- y + a[0] dir + a[1] z; z <- z - a[1] x[0];
 *                     dir <- z + a[2] (dir - a[1] x[1]); |z|^2 */
#pragma once

#include "vector/cuda/cuda_site.cuh"
#include "vector/cuda/cuda_space.cuh"

enum { LAT_PASS_COLUMNS = 8, LAT_PASS_ROWS = 3 };

typedef struct lat_pass_args {
    uint32_t half, groups; /* sites and groups of a parity */
    size_t parity, column; /* bytes */
    int first;             /* parity of blockIdx.z 0 */
    int terms;
    const char *x[LAT_VECTOR_TERMS];
    char *y, *z, *dir;
    size_t parity_y, column_y; /* of y, which may be in another storage */
    lat_gpu_whole whole;       /* for the shadow's signs */
    bool backwards;  /* blocks begin at the end: there is what the kernel before had last in the
                      * second cache */
    double *partial; /* [active][numbers][arrays]: of the first column of the launch */
    int numbers, arrays;
    uint8_t active[LAT_PASS_COLUMNS];
    bool scaled; /* by b */
    lat_scalar b[LAT_PASS_COLUMNS];
    lat_scalar a[LAT_VECTOR_TERMS][LAT_PASS_COLUMNS];
    const lat_scalar *row[LAT_PASS_ROWS]; /* in place of a[0], a[1] .., if not NULL: by column */
    lat_gpu_rows in_planes;               /* with `whole` */
} lat_pass_args;

/* Where a thread of a pass is: a site of a column. PY: storage of y. */
template <int P, int PY> struct pass_site {
    typedef real_of<P> real;
    const lat_pass_args &a;
    int n, parity; /* n: the place of the column in `active` */
    uint32_t site;
    bool there;      /* it has a site */
    size_t at, at_y; /* bytes of a field, of y */
    double *sum;     /* the first number of the column */

    METHOD void get(real v[24], const char *x) const { get_spinor<P>(v, x + at, site % 32, false); }
    METHOD void put(char *x, const real v[24]) const
    {
        put_spinor<P, false>(x + at, site % 32, v, false, read_once());
    }
    METHOD void get_y(real v[24]) const { get_spinor<PY>(v, a.y + at_y, site % 32, false); }
    METHOD void put_y(const real v[24]) const
    {
        put_spinor<PY, false>(a.y + at_y, site % 32, v, false, read_once());
    }
    METHOD lat_scalar factor(int j) const /* a[j] */
    {
        return j < LAT_PASS_ROWS && a.row[j] ? known(a.row[j], a.active[n]) : a.a[j][n];
    }
    METHOD void add_up(int number, double v) const { sum_up(sum + number * a.arrays, v); }
};

struct pass_sum {
    template <class Site> DEVICE void at(const Site &s)
    {
        typename Site::real x[24], y[24];
        if (s.there) {
            if (s.a.scaled && s.a.b[s.n].re == 0 && s.a.b[s.n].im == 0) {
#pragma unroll
                for (int k = 0; k < 24; k++)
                    y[k] = 0;
            } else {
                s.get_y(y);
                if (s.a.scaled)
                    times(y, s.a.b[s.n]);
            }
            for (int j = 0; j < s.a.terms; j++) {
                s.get(x, s.a.x[j]);
                add_times(y, s.factor(j), x);
            }
            s.put_y(y);
        }
        if (s.a.numbers)
            s.add_up(0, s.there ? norm_of(y) : 0);
    }
};

struct pass_dots {
    template <class Site> DEVICE void at(const Site &s)
    {
        typename Site::real x[24], y[24];
        if (s.there)
            s.get_y(y);
        for (int j = 0; j < s.a.terms; j++) {
            double d[2] = {0, 0};
            if (s.there) {
                s.get(x, s.a.x[j]);
                dot(d, x, y);
            }
            s.add_up(2 * j, d[0]);
            s.add_up(2 * j + 1, d[1]);
        }
        if (s.a.numbers > 2 * s.a.terms)
            s.add_up(2 * s.a.terms, s.there ? norm_of(y) : 0);
    }
};

struct pass_shadow {
    template <class Site> DEVICE void at(const Site &s)
    {
        typename Site::real y[24];
        double d[2] = {0, 0};
        if (s.there) {
            s.get_y(y);
            shadow_of(d, y, whole_number(s.a.whole, s.a.in_planes, s.site), s.parity, false);
        }
        s.add_up(0, d[0]);
        s.add_up(1, d[1]);
    }
};

struct pass_gamma5 {
    template <class Site> DEVICE void at(const Site &s)
    {
        typename Site::real y[24];
        if (!s.there)
            return;
        s.get_y(y);
#pragma unroll
        for (int k = 0; k < 12; k++) {
            const typename Site::real u = y[k];
            y[k] = -y[12 + k];
            y[12 + k] = -u;
        }
        s.put_y(y);
    }
};

struct pass_cg {
    template <class Site> DEVICE void at(const Site &s)
    {
        typedef typename Site::real real;
        const real c = (real)s.factor(0).re, b = (real)s.factor(1).re, alpha = (real)s.factor(2).re;
        real x[24], y[24], z[24];
        if (!s.there)
            return;
        s.get_y(y);
        s.get(z, s.a.z);
        s.get(x, s.a.x[0]);
#pragma unroll
        for (int k = 0; k < 24; k++) {
            y[k] = fused(alpha, z[k], y[k]);
            z[k] = fused(c, x[k], rounded_product(b, z[k]));
        }
        s.put_y(y);
        s.put(s.a.z, z);
    }
};

struct pass_cg_single : pass_cg {};

struct pass_bicgstab {
    template <class Site> DEVICE void at(const Site &s)
    {
        typedef typename Site::real real;
        const lat_scalar w = s.factor(1), minus = {-w.re, -w.im};
        real x[24], y[24], z[24];
        double norm = 0;
        if (s.there) {
            s.get_y(y);
            s.get(z, s.a.z);
            s.get(x, s.a.dir);
            add_times(y, s.factor(0), x);
            add_times(y, w, z);
            s.put_y(y);
            s.get(y, s.a.x[1]);
            add_times(x, minus, y);
            times(x, s.factor(2));
            s.get(y, s.a.x[0]);
            add_times(z, minus, y);
            s.put(s.a.z, z);
            norm = norm_of(z);
#pragma unroll
            for (int k = 0; k < 24; k++)
                x[k] += z[k];
            s.put(s.a.dir, x);
        }
        s.add_up(0, norm);
    }
};

template <int P, class What>
__global__ void __launch_bounds__(128) pass(const __grid_constant__ lat_pass_args a)
{
    constexpr bool SINGLE_Y = P == LAT_STORAGE_HALF && std::is_same<What, pass_cg_single>::value;
    enum { PY = SINGLE_Y ? (int)LAT_STORAGE_SINGLE : P };
    const uint32_t i = block_number(a.backwards, 0) * 128 + threadIdx.x, group = i / 32;
    if (group >= a.groups)
        return;
    const int n = (int)(a.backwards ? gridDim.y - 1 - blockIdx.y : blockIdx.y),
              parity = a.first + (int)blockIdx.z;
    const size_t column = a.active[n], side = (size_t)parity,
                 at = column * a.column + side * a.parity + (size_t)group * lat_form<P>::GROUP,
                 at_y = column * a.column_y + side * a.parity_y
                        + (size_t)group * lat_form<PY>::GROUP,
                 sum = (size_t)n * (size_t)a.numbers * (size_t)a.arrays
                       + (size_t)blockIdx.z * a.groups + group;
    WAIT_FOR_GRID();
    What::at(pass_site<P, PY>{a, n, parity, i, i < a.half, at, PY == P ? at : at_y,
                              a.partial ? a.partial + sum : NULL});
}
