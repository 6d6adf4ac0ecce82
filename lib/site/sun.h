/* SPDX-License-Identifier: BSD-3-Clause */
/* sun.h: N by N complex matrices of doubles, N at run time: row-major, re and im interleaved,
 * 2*N*N doubles. For what is done once a site, not once a sweep. No allocation, no state;
 * results never overlap inputs unless it says so. */
#ifndef LAT_SITE_SUN_H
#define LAT_SITE_SUN_H

/* Contracts; bodies below.
 *   lat_sun_one(n, m)             m = 1
 *   lat_sun_mul(n, c, a, b)       c = a b
 *   lat_sun_mul_dag(n, c, a, b)   c = a b^+
 *   lat_sun_dag(n, c, a)          c = a^+
 *   lat_sun_trace(n, a, t)        t[2] = tr a
 *   lat_sun_det(n, a, d)          d[2] = det a by elimination with pivoting
 *   lat_sun_gram_schmidt(n, m)    rows orthonormalised in turn; last row completes det = 1
 *   lat_sun_polar(n, m)           nearest SU(N) matrix in the Frobenius norm up to the phase of
 *                                 det, by Newton's iteration to convergence, then det = 1;
 *                                 -1 if m is singular
 *   lat_sun_unitarity(n, m)       largest element of |m m^+ - 1|
 *   lat_sun_haar(n, m, seed, site, copy, step)   Haar distributed in SU(N)
 *   lat_sun_third_row(m)          N = 3: row 2 = conj(row 0 x row 1)
 *   lat_sun_near_one(n, m, eps, seed, site, copy, step)  exp of eps times a random traceless
 *                                 anti-Hermitian Gaussian matrix, projected: a weak field */

#endif
