/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_clover.cuh: kernels that make the diagonal part of an operator from links: clover matrices
 *
 *     C = scalar - 1/2 sum_{mu<nu} c_munu sigma_munu F_munu
 *
 * in double, their inverses and determinants. With gamma_k and gamma_t of cuda_spinor.cuh, C maps
 * the halves of chirality u - l and u + l to themselves:
 *
 *     C = scalar - 1/2 sum_m sigma_m (c_s B_m +- c_t E_m),
 *     B = (- F_yz, F_xz, - F_xy), E_k = F_kt
 *
 * (docs/conventions.md has F; + is for u - l). */
#pragma once

#include "dirac/cuda/cuda_pack.cuh"
#include "vector/cuda/cuda_site.cuh"

/* ---- products of 3x3 matrices, row by row, re and im ----------------------------------------- */

/* m <- m a, or m a^+ */
static __device__ void times_link(double m[18], const double *a, bool dagger)
{
    double r[18];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < 3; k++) {
                const double *const x = m + 6 * i + 2 * k;
                const double yr = dagger ? a[6 * j + 2 * k] : a[6 * k + 2 * j],
                             yi = dagger ? -a[6 * j + 2 * k + 1] : a[6 * k + 2 * j + 1];
                re += x[0] * yr - x[1] * yi;
                im += x[0] * yi + x[1] * yr;
            }
            r[6 * i + 2 * j] = re;
            r[6 * i + 2 * j + 1] = im;
        }
    for (int k = 0; k < 18; k++)
        m[k] = r[k];
}

/* A path along links from a site; each step multiplies m by the link it takes. */
typedef struct lat_path {
    const double *u;
    uint32_t x[4];
    double m[18];
} lat_path;

static __device__ void step(lat_path *w, const lat_gpu_sites &s, int mu, bool back)
{
    if (back)
        w->x[mu] = one_step(s, mu, w->x[mu], true);
    times_link(w->m, w->u + (held_of(s, w->x) * 4 + (size_t)mu) * 18, back);
    if (!back)
        w->x[mu] = one_step(s, mu, w->x[mu], false);
}

/* F_munu(x) = -i (S - S^+)/8, S the sum of the leaves, each counterclockwise from x; without
 * its trace, if that of so many colours is to go. */
static __device__ void field_strength(const lat_gpu_sites &s, const double *u, const uint32_t x[4],
                                      int mu, int nu, int traceless, double f[18])
{
    double sum[18] = {0};
    for (int leaf = 0; leaf < 4; leaf++) {
        lat_path w;
        w.u = u;
        for (int k = 0; k < 4; k++)
            w.x[k] = x[k];
        for (int k = 0; k < 18; k++)
            w.m[k] = k % 8 == 0;
        /* mu nu -mu -nu, nu -mu -nu mu, -mu -nu mu nu, -nu mu nu -mu */
        for (int k = 0; k < 4; k++) {
            const int n = (leaf + k) % 4;
            step(&w, s, n % 2 ? nu : mu, n >= 2);
        }
        for (int k = 0; k < 18; k++)
            sum[k] += w.m[k];
    }
    double trace = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double re = sum[6 * i + 2 * j] - sum[6 * j + 2 * i],
                         im = sum[6 * i + 2 * j + 1] + sum[6 * j + 2 * i + 1];
            f[6 * i + 2 * j] = im / 8;
            f[6 * i + 2 * j + 1] = -re / 8;
            trace += i == j ? im / 8 : 0;
        }
    for (int i = 0; i < traceless; i++)
        f[8 * i] -= trace / traceless;
}

/* ---- 6x6 matrices ---------------------------------------------------------------------------- */

/* c <- the inverse of a Hermitian matrix, by Gauss and Jordan with pivots in columns; returns its
 * determinant. 0: there is no inverse, c is anything. */
static __device__ double invert(lat_scalar c[6][6])
{
    int at[6];
    lat_scalar d = {1, 0};
    for (int n = 0; n < 6; n++) {
        int best = n;
        double largest = -1;
        for (int i = n; i < 6; i++) {
            const double q = c[i][n].re * c[i][n].re + c[i][n].im * c[i][n].im;
            if (q > largest) {
                largest = q;
                best = i;
            }
        }
        if (!(largest > 0))
            return 0;
        at[n] = best;
        if (best != n)
            d = lat_scalar{-d.re, -d.im};
        for (int j = 0; j < 6; j++) {
            const lat_scalar q = c[n][j];
            c[n][j] = c[best][j];
            c[best][j] = q;
        }
        d = lat_scalar_times(d, c[n][n]);
        const lat_scalar p = {c[n][n].re / largest, -c[n][n].im / largest};
        c[n][n] = lat_scalar{1, 0};
        for (int j = 0; j < 6; j++)
            c[n][j] = lat_scalar_times(c[n][j], p);
        for (int i = 0; i < 6; i++) {
            if (i == n)
                continue;
            const lat_scalar q = c[i][n];
            c[i][n] = lat_scalar{0, 0};
            for (int j = 0; j < 6; j++) {
                const lat_scalar v = lat_scalar_times(q, c[n][j]);
                c[i][j].re -= v.re;
                c[i][j].im -= v.im;
            }
        }
    }
    for (int n = 5; n >= 0; n--)
        for (int i = 0; i < 6; i++) {
            const lat_scalar q = c[i][n];
            c[i][n] = c[i][at[n]];
            c[i][at[n]] = q;
        }
    return d.re;
}

/* Diagonal and, row by row, what is below it: 36 reals. */
static __device__ void pack_hermitian(double p[36], const lat_scalar c[6][6])
{
    for (int i = 0; i < 6; i++) {
        p[i] = c[i][i].re;
        for (int j = 0; j < i; j++) {
            p[6 + i * (i - 1) + 2 * j] = c[i][j].re;
            p[7 + i * (i - 1) + 2 * j] = c[i][j].im;
        }
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

typedef struct lat_clover_args {
    lat_gpu_sites sites;
    int parity;
    const double *u; /* of held sites */
    double scalar, c_s, c_t, twist;
    double edge; /* more of `scalar`, on the slices low and high of this rank */
    int low, high;
    /* 2: of the third one, which SU(2) has not, C is 1, without twist. F loses its trace: colours,
     * or 0 */
    int colours, traceless;
    char *clover, *inverse;  /* C; its inverse or, with a twist, that of C^2 + twist^2 */
    double *log;             /* [groups]: sums of log |det| of both blocks */
    double *negative;        /* [groups]: blocks with a negative determinant */
    unsigned long long *bad; /* the least 2 * natural index + half whose matrix has no inverse */
} lat_clover_args;

template <int P> DEVICE void store_clover(char *field, uint32_t i, const double c[72])
{
    char *const group = field + (size_t)(i / 32) * lat_form<P>::CLOVER;
    double unit = 1;
    if (P == LAT_STORAGE_HALF) {
        unit = 0;
        for (int k = 0; k < 72; k++)
            unit = fmax(unit, fabs(c[k]));
        unit = (double)(float)unit;
        *(float *)(group + 9 * 512 + (i % 32) * 4) = (float)unit;
    }
    encode<P>(group, i % 32, c, 72, unit);
}

/* c: C of one chirality (half 1: gamma5 = -1) from b and e, the colour matrices of sigma F. */
static __device__ void set_block(const lat_clover_args &a, double scalar, int half,
                                 const double b[3][18], const double e[3][18], lat_scalar c[6][6])
{
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 9; k++) {
                double g[3][2];
                for (int m = 0; m < 3; m++)
                    for (int q = 0; q < 2; q++)
                        g[m][q] = b[m][2 * k + q] + (half ? -1 : 1) * e[m][2 * k + q];
                /* sigma.g: ((gz, gx - i gy), (gx + i gy, -gz)) */
                const double y = r ? 1 : -1; /* column 1: - i gy = (gy.im, -gy.re) */
                lat_scalar v;
                if (s == r)
                    v = lat_scalar{s ? -g[2][0] : g[2][0], s ? -g[2][1] : g[2][1]};
                else
                    v = lat_scalar{g[0][0] + y * g[1][1], g[0][1] - y * g[1][0]};
                const int row = 3 * s + k / 3, column = 3 * r + k % 3;
                const double own = row % 3 < a.colours ? scalar : 1;
                c[row][column] = lat_scalar{(row == column ? own : 0) - v.re / 2, -v.im / 2};
            }
}

/* d = c^2 + twist^2 */
static __device__ void square_block(const lat_clover_args &a, const lat_scalar c[6][6],
                                    lat_scalar d[6][6])
{
    for (int r = 0; r < 6; r++)
        for (int q = 0; q < 6; q++) {
            d[r][q] = lat_scalar{r == q && r % 3 < a.colours ? a.twist * a.twist : 0, 0};
            for (int k = 0; k < 6; k++) {
                const lat_scalar v = lat_scalar_times(c[r][k], c[k][q]);
                d[r][q].re += v.re;
                d[r][q].im += v.im;
            }
        }
}

/* Both blocks of a site and their inverses; logarithms of their determinants, and how many are
 * negative, are added. */
static __device__ void make_blocks(const lat_clover_args &a, const uint32_t x[4], double *packed,
                                   double *inverse, double *log_det, double *negative)
{
    double b[3][18], e[3][18], f[18];
    const int t = (int)x[3];
    const double scalar = a.scalar + (t == a.low || t == a.high ? a.edge : 0);
    for (int m = 0; m < 3; m++) {
        const int k = m == 0 ? 1 : 0, l = m == 2 ? 1 : 2; /* yz, xz, xy */
        field_strength(a.sites, a.u, x, k, l, a.traceless, f);
        for (int q = 0; q < 18; q++)
            b[m][q] = (m == 1 ? 1 : -1) * a.c_s * f[q];
        field_strength(a.sites, a.u, x, m, 3, a.traceless, f);
        for (int q = 0; q < 18; q++)
            e[m][q] = a.c_t * f[q];
    }
    for (int half = 0; half < 2; half++) {
        lat_scalar c[6][6], d[6][6];
        set_block(a, scalar, half, b, e, c);
        pack_hermitian(packed + 36 * half, c);
        if (a.twist != 0) { /* of C + i twist and its conjugate together */
            square_block(a, c, d);
            *log_det += log(invert(d)) / 2;
            pack_hermitian(inverse + 36 * half, d);
            continue;
        }
        const double det = invert(c);
        if (det == 0)
            atomicMin(a.bad, 2 * (unsigned long long)natural_of(a.sites, x) + (unsigned)half);
        *negative += det < 0;
        *log_det += log(fabs(det));
        pack_hermitian(inverse + 36 * half, c);
    }
}

template <int P> __global__ void make_clover(const __grid_constant__ lat_clover_args a)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    double log_det = 0, negative = 0;
    if (i < a.sites.half) {
        uint32_t x[4];
        double packed[72], inverse[72];
        coordinates_of(a.sites, i, a.parity, x);
        make_blocks(a, x, packed, inverse, &log_det, &negative);
        store_clover<P>(a.clover, i, packed);
        store_clover<P>(a.inverse, i, inverse);
    }
    if (i / 32 < (a.sites.half + 31) / 32) {
        sum_up(a.log + i / 32, log_det);
        sum_up(a.negative + i / 32, negative);
    }
}
