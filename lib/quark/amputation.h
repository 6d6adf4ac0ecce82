/* SPDX-License-Identifier: BSD-3-Clause */
/* amputation.h: what the inverse of a leg and the amputated vertices of a pair are made of (legs.h,
 * docs/momentum.md). */
#pragma once

#include "gamma.h"

/* S^-1 = i A pbarslash + B + ..: part[0] = B = Re tr S^-1 / n, part[1] = A = Im tr[pbarslash S^-1]
 * / (n pbar^2), which is NaN where pbar is 0. 0, or -1 with a sentence, which begins with
 * `name`, where S is singular. */
int lat_leg_parts(const char *name, int nc, const double *leg, const double pbar[4],
                  double part[2]);

/* t[a][b] = Re tr[ Lambda_a Gamma_b^+ ] / n, by the numbers of gamma.h; Lambda_a = Gamma_a makes it
 * the unit matrix. 0, or -1 with a sentence where a leg is singular, or without memory. */
int lat_pair_traces(const char *name, int nc, const double *pair, double t[LAT_GAMMAS][LAT_GAMMAS]);

/* What the Ward identity of the conserved current (current.h) takes besides it. */
typedef struct lat_ward {
    double qhat[4];     /* 2 sin(q_mu/2), q = p1 - p2 */
    double mass, twist; /* m1 - m2, twist1 + twist2 */
} lat_ward;

/* Of a pair with the current: t[mu][nu] = Re tr[ Lambda_mu gamma_nu ] / n, and *defect =
 * |D| / (|S1^-1| + |S2^-1|), | | the root of the sum of all squares, where
 *
 *     D = sum_mu i qhat_mu Lambda_mu + mass Lambda_S + i twist Lambda_P - S1^-1 + S2^-1
 *
 * is 0 for exact solutions; S2 stands for gamma5 S2^+ gamma5. 0, or -1 as above. */
int lat_pair_current(const char *name, int nc, const double *pair, const lat_ward *w,
                     double t[4][4], double *defect);
