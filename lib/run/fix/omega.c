/* SPDX-License-Identifier: BSD-3-Clause */
/* omega.c: the overrelaxation parameter omega, tuned while a copy is relaxed.
 *
 * Near a maximum the functional is quadratic and couples even sites to odd ones only. To relax all
 * of a site at once is then block SOR of a consistently ordered matrix (Young, Iterative Solution
 * of Large Linear Systems, 1971, chapters 5 and 6). Let mu be the spectral radius of the Jacobi
 * iteration. The error shrinks by lambda a sweep, (lambda + omega - 1)^2 = lambda omega^2 mu^2 for
 * omega below the best one, 2 / (1 + sqrt(1 - mu^2)), and lambda = omega - 1 from there on. So a
 * measured lambda gives the best omega if the present omega is below it. If it is not, theta falls
 * by (omega - 1)^2 a sweep, and a smaller omega is tried. Too small an omega costs more than too
 * large a one. */
#include "omega.h"

#include <math.h>

/* 2 - omega begins at START / extent, at most MOST. On thermal lattices of 8^4 and 16^4 this is
 * about twice the best value (maximally Abelian gauge: the best), because omega rises quickly. It
 * stays between LEAST / extent and MOST. */
#define START 2.4
#define START_ABELIAN 1.2
#define LEAST 0.85
#define MOST 0.5

/* Near a maximum with a small Hessian the best 2 - omega is below LEAST / extent. That is believed
 * after PATIENCE convergence tests in a row, theta falling between them (near a saddle, where theta
 * rises, the rate says nothing of the maximum); then the bound is FLATTEST times lower. At each
 * test 2 - omega falls by the factor STEP at most. */
#define PATIENCE 3
#define STEP 0.7
#define FLATTEST 0.4

/* The next 2 - omega within these bounds. `next`: what the rate asks for, 0 if that is no number;
 * `present`: 2 - omega now. */
static double bounded(lat_omega *o, double next, double present, double least)
{
    o->flat = next > 0 && next < least ? o->flat + 1 : 0;
    return fmax(fmax(next, STEP * present), least * (o->flat > PATIENCE ? FLATTEST : 1));
}

double lat_omega_update(lat_omega *o, lat_gauge gauge, int extent, double theta, long sweeps)
{
    const bool abelian = lat_gauge_table[gauge].problem == LAT_ABELIAN;
    const double start = fmin((abelian ? START_ABELIAN : START) / extent, MOST);
    if (o->omega == 0) {
        *o = (lat_omega){
            .omega = 2 - start, .theta = theta, .sweep = (double)sweeps, .lowest = MOST};
        return o->omega;
    }
    /* The transient of the change of omega must have decayed. */
    const double present = 2 - o->omega, n = (double)sweeps - o->sweep;
    if (n < 2 / present)
        return o->omega;
    const double lambda = exp(log(theta / o->theta) / (2 * n)), rate = -log(lambda);
    double next = present;
    if (rate > 0.85 * present) {
        next = fmin(1.3 * present, o->lowest);
        o->flat = 0;
    } else {
        const double mu = (lambda + o->omega - 1) / (o->omega * sqrt(lambda));
        next = mu < 1 ? 2 - 2 / (1 + sqrt(1 - mu * mu)) : 0;
        const double least = fmin(LEAST / extent, start);
        next = bounded(o, next, present, least);
        o->lowest = fmin(MOST, 1.1 * fmax(next, least)); /* towards a smaller omega */
    }
    o->omega = 2 - next;
    o->theta = theta;
    o->sweep = (double)sweeps;
    return o->omega;
}
