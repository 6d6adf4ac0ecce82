/* SPDX-License-Identifier: BSD-3-Clause */
/* propagator.h: the gluon propagator of one configuration, and A(p) of chosen momenta
 * (docs/conventions.md, "Gluon propagator").
 *
 *     A_mu(x + mu/2) = (U_mu(x) - U_mu(x)^+) / 2i - trace
 *     A_mu(p) = sum_x exp(-i p (x + mu/2)) A_mu(x + mu/2) */
#pragma once

#include <complex.h>
#include "grid/device.h"
#include "lattice/field.h"
#include "momenta.h"

/* Colours that are averaged: all; in maximally Abelian gauge the diagonal ones, and the
 * others. */
typedef enum { LAT_GLUON_ALL, LAT_GLUON_DIAGONAL, LAT_GLUON_OFF_DIAGONAL } lat_gluon_colours;

/* Sums of squares of one configuration. */
typedef struct lat_gluon_sums {
    double square;     /* of the field, in position space: mean over x, mu and a of A^a_mu(x)^2 */
    double divergence; /* sum over p of tr |phat A(p)|^2 */
    double link_trace;
} lat_gluon_sums;

/* Chosen momenta, and their A(p). */
typedef struct lat_gluon_chosen {
    int count, (*n)[LAT_MAX_DIMS];
    size_t *h;         /* the momentum of the half spectrum: n's, or its negative */
    bool *minus;       /* its negative */
    double complex *a; /* [count][m->nd][row][column], which lat_gluon_measure fills */
} lat_gluon_chosen;

/* d and l of all orbits of m, and the sums. chosen: NULL, or these momenta's A(p). The Fourier
 * transforms are FFTW's, or cuFFT's with LAT_DEVICE_GPU, or with LAT_DEVICE_AUTO where there is a
 * GPU and the lattice is large. 0, or -1 with lat_error. */
int lat_gluon_measure(const lat_field *f, lat_gluon_momenta *m, lat_gluon_chosen *chosen,
                      lat_gluon_colours colours, lat_device_choice device, lat_gluon_sums *s);

/* theta of the gauge condition (lat_gauge_state) from the sums over all colours. */
double lat_gluon_theta(const lat_gluon_momenta *m, int nc, const lat_gluon_sums *s);
