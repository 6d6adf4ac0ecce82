/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h: what an iteration does with the sums of a column: one text for hosts and GPUs.
 *
 * An operator or a pass ends in sums over sites. A step makes scalars of the iteration from them,
 * where the sums are: on a GPU the kernel that adds up the last sum of a column takes the step, so
 * that nobody waits for the host. Scalars are rows of a complex number a column (scalars.h).
 * Formulas are those of solve/cg.c and solve/bicgstab.c, by their names. C and C++. */
#pragma once

#include <math.h>
#include <stddef.h>

#ifdef __CUDACC__
#define LAT_STEP static __host__ __device__ __forceinline__
#else
#define LAT_STEP static inline
#endif

/* A complex number; as double[2] and double _Complex. */
typedef struct lat_scalar {
    double re, im;
} lat_scalar;

typedef enum {
    LAT_ROW_GAMMA, /* CG: |s|^2 */
    LAT_ROW_ALPHA,
    LAT_ROW_MINUS, /* - alpha */
    LAT_ROW_BETA,
    LAT_ROW_RHO, /* BiCGstab: <e, r> */
    LAT_ROW_OMEGA,
    LAT_ROW_ANEW, /* re: 1 if the column begins anew, im: how often it has */
    LAT_ROWS
} lat_row;

/* The sums that a step takes are, in this order, those of its line; and what it reports. */
typedef enum {
    LAT_STEP_NONE,
    LAT_STEP_CG_ALPHA, /* |q|^2: alpha; reports |q|^2 */
    LAT_STEP_CG_BETA,  /* |s|^2: beta and gamma; reports |s|^2 */
    LAT_STEP_BI_ALPHA, /* |v|^2, <e, v>: alpha */
    LAT_STEP_BI_BETA,  /* |t|^2, <s, t>, <e, t>, <e, s>: omega, beta, rho; reports how often the
                          column has begun anew */
    LAT_STEP_NORM,     /* |r|^2: nothing; reports it */
    LAT_STEPS
} lat_scalar_step;

LAT_STEP lat_scalar lat_scalar_times(lat_scalar a, lat_scalar b)
{
    const lat_scalar c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return c;
}

LAT_STEP double lat_scalar_abs(lat_scalar a) { return sqrt(a.re * a.re + a.im * a.im); }

/* a / b */
LAT_STEP lat_scalar lat_scalar_by(lat_scalar a, lat_scalar b)
{
    const double square = b.re * b.re + b.im * b.im;
    const lat_scalar conjugate = {b.re, -b.im}, q = lat_scalar_times(a, conjugate),
                     c = {q.re / square, q.im / square};
    return c;
}

LAT_STEP lat_scalar lat_scalar_real(double a)
{
    const lat_scalar c = {a, 0};
    return c;
}

/* alpha, 0 where A p is 0, which ends in stagnation. */
LAT_STEP double lat_cg_alpha(double gamma, double q) { return q > 0 ? gamma / q : 0; }

LAT_STEP double lat_cg_beta(double gamma, double next) { return gamma > 0 ? next / gamma : 0; }

/* BiCGstab's alpha; a column whose <e, v> vanishes to epsilon begins anew. */
LAT_STEP void lat_bicgstab_alpha(double epsilon, const double *v, lat_scalar *row, size_t pitch)
{
    const lat_scalar ev = {v[1], v[2]};
    const int some = lat_scalar_abs(ev) > epsilon * sqrt(v[0]);
    const lat_scalar alpha = some ? lat_scalar_by(row[LAT_ROW_RHO * pitch], ev)
                                  : lat_scalar_real(0),
                     minus = {-alpha.re, -alpha.im};
    row[LAT_ROW_ALPHA * pitch] = alpha;
    row[LAT_ROW_MINUS * pitch] = minus;
    row[LAT_ROW_ANEW * pitch].re = some ? 0 : 1;
}

/* Its omega, beta and rho. beta is 0 where the column begins anew. */
LAT_STEP void lat_bicgstab_beta(double epsilon, const double *v, lat_scalar *row, size_t pitch)
{
    lat_scalar *const anew = row + LAT_ROW_ANEW * pitch;
    const lat_scalar omega = {v[0] > 0 ? v[1] / v[0] : 0, v[0] > 0 ? -v[2] / v[0] : 0},
                     et = {v[3], v[4]}, by_t = lat_scalar_times(omega, et),
                     before = row[LAT_ROW_RHO * pitch], rho = {v[5] - by_t.re, v[6] - by_t.im};
    const int again = anew->re != 0 || !(lat_scalar_abs(before) > 0) || !(lat_scalar_abs(omega) > 0)
                      || !(lat_scalar_abs(rho) > epsilon * lat_scalar_abs(omega) * sqrt(v[0]));
    row[LAT_ROW_OMEGA * pitch] = omega;
    row[LAT_ROW_BETA * pitch] = again ? lat_scalar_real(0)
                                      : lat_scalar_times(
                                          lat_scalar_by(rho, before),
                                          lat_scalar_by(row[LAT_ROW_ALPHA * pitch], omega));
    row[LAT_ROW_RHO * pitch] = rho;
    anew->im += again ? 1 : 0;
}

/* Takes a step of a column from its sums; row r of the column is row[r * pitch]. Returns what the
 * step reports. */
LAT_STEP double lat_step_take(lat_scalar_step step, double epsilon, const double *v,
                              lat_scalar *row, size_t pitch)
{
    double alpha, gamma;
    switch (step) {
    case LAT_STEP_CG_ALPHA:
        alpha = lat_cg_alpha(row[LAT_ROW_GAMMA * pitch].re, v[0]);
        row[LAT_ROW_ALPHA * pitch] = lat_scalar_real(alpha);
        row[LAT_ROW_MINUS * pitch] = lat_scalar_real(-alpha);
        return v[0];
    case LAT_STEP_CG_BETA:
        gamma = row[LAT_ROW_GAMMA * pitch].re;
        row[LAT_ROW_BETA * pitch] = lat_scalar_real(lat_cg_beta(gamma, v[0]));
        row[LAT_ROW_GAMMA * pitch] = lat_scalar_real(v[0]);
        return v[0];
    case LAT_STEP_BI_ALPHA: lat_bicgstab_alpha(epsilon, v, row, pitch); return 0;
    case LAT_STEP_BI_BETA:
        lat_bicgstab_beta(epsilon, v, row, pitch);
        return row[LAT_ROW_ANEW * pitch].im;
    case LAT_STEP_NONE:
    case LAT_STEP_NORM:
    case LAT_STEPS: break;
    }
    return v[0];
}
