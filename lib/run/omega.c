/* SPDX-License-Identifier: BSD-3-Clause */
/* omega.c: an overrelaxation parameter that finds itself.
 *
 * Near a maximum the functional is quadratic and couples even sites to odd ones alone; relaxing all
 * of a site at once is then block SOR of a consistently ordered matrix (Young, Iterative Solution
 * of Large Linear Systems, 1971, chapters 5 and 6). With mu the spectral radius of the Jacobi
 * iteration the error shrinks each sweep by lambda, (lambda + omega - 1)^2 = lambda omega^2 mu^2
 * below the best omega, 2 / (1 + sqrt(1 - mu^2)), lambda = omega - 1 from there on. So a measured
 * lambda says where the best omega is if the present one is below it; if not, theta falls by (omega
 * - 1)^2 a sweep, and a smaller omega is tried. Too small costs more than too large. */
#include "omega.h"

#include <math.h>

/* 2 - omega begins at START / extent, about twice the best on thermal lattices of 8^4 and 16^4
 * (maximally Abelian gauge: the best), since the way up is quick; and stays between these. */
#define START 2.4
#define START_MAG 1.2
#define LEAST 0.85 /* over the extent too */
#define MOST 0.5

/* A maximum in a flat place wants less than LEAST: it is believed once PATIENCE looks in a row have
 * said so, theta falling all the while (where it rises, on a saddle, nothing is known of the
 * maximum), and 2 - omega falls by no more than STEP a look. */
#define PATIENCE 3
#define STEP 0.7
#define FLATTEST 0.4 /* of LEAST */

/* 2 - omega where the rate asks for `next`, 0: for nothing in particular. */
static double bounded(lat_omega *o, double next, double room, double least)
{
    o->flat = next > 0 && next < least ? o->flat + 1 : 0;
    return fmax(fmax(next, STEP * room), least * (o->flat > PATIENCE ? FLATTEST : 1));
}

double lat_omega_update(lat_omega *o, lat_gauge gauge, int extent, double theta, long sweeps)
{
    const double guess = fmin((gauge == LAT_MAG ? START_MAG : START) / extent, MOST);
    if (o->omega == 0) {
        *o = (lat_omega){
            .omega = 2 - guess, .theta = theta, .sweep = (double)sweeps, .lowest = MOST};
        return o->omega;
    }
    /* What another omega has stirred up must have died down. */
    const double room = 2 - o->omega, n = (double)sweeps - o->sweep;
    if (n < 2 / room)
        return o->omega;
    const double lambda = exp(log(theta / o->theta) / (2 * n)), rate = -log(lambda);
    double next = room;
    if (rate > 0.85 * room) {
        next = fmin(1.3 * room, o->lowest);
        o->flat = 0;
    } else {
        const double mu = (lambda + o->omega - 1) / (o->omega * sqrt(lambda));
        next = mu < 1 ? 2 - 2 / (1 + sqrt(1 - mu * mu)) : 0;
        const double least = fmin(LEAST / extent, guess);
        next = bounded(o, next, room, least);
        o->lowest = fmin(MOST, 1.1 * fmax(next, least)); /* the way back */
    }
    o->omega = 2 - next;
    o->theta = theta;
    o->sweep = (double)sweeps;
    return o->omega;
}
