/* SPDX-License-Identifier: BSD-3-Clause */
/* multigrid_internal.h: what the cycle and the setup share. */
#pragma once

#include "multigrid/fine.h"
#include "multigrid/multigrid.h"

/* A smoother: the polynomial sum_i by[i] S^i, i < degree: so many applications of S. */
enum { LAT_MULTIGRID_DEGREE = 8, LAT_MULTIGRID_SETUP_DEGREE = 6 }; /* of solves, of setups */
typedef struct lat_polynomial {
    int degree;
    double by[LAT_MULTIGRID_DEGREE];
} lat_polynomial;

/* Vectors that solves of a setup leave for the next one: new memory would take a seventh of it. */
enum { LAT_MULTIGRID_SPARE = 24 };

/* The smoother in a precision. */
typedef struct lat_smoothing {
    const lat_system *system; /* NULL: there is none */
    lat_dfield *q, *y[2];     /* what it smooths, and sums */
    lat_dfield *e;            /* e of a cycle in fewer bits, or NULL */
} lat_smoothing;

struct lat_multigrid {
    lat_system caller, system; /* system: the caller's, whose vectors are kept */
    lat_dfield *spare[LAT_MULTIGRID_SPARE];
    int spares;
    lat_dirac *d;
    const lat_mg_ops *ops;
    lat_mg_fine fine;
    lat_level *coarse;
    lat_eight *z, *correction;      /* of `coarse` */
    lat_smoothing single, half;     /* in `system`; and in one of fewer bits, or NULL */
    lat_dfield *rhs, *x;            /* of the setup: odd; both parities */
    lat_polynomial smoother, rough; /* rough: in rounds of the setup */
    const lat_polynomial *now;      /* one of these */
    lat_method method;
    lat_multigrid_report report;
    lat_multigrid_options options;
    const lat_field *links;
    bool light;                 /* lat_multigrid_lighten has been called */
    double mass, twist;         /* of Galerkin's product */
    double set_mass, set_twist; /* of inverses and smoothers */
    double applied;             /* columns times applications of S, since it was set to 0 */
};

/* Its fields, unless they are there. */
int lat_multigrid_smoothing_open(lat_smoothing *v, const lat_system *s, bool rounded);
void lat_multigrid_smoothing_close(lat_smoothing *v);

/* Test vectors become what a file in single precision has of them, and `kept`, where it has data,
 * gets that; or they become those of m->options.known. */
int lat_multigrid_round(lat_multigrid *m, lat_field *kept);
int lat_multigrid_take_known(lat_multigrid *m);

/* e, and s = S e, from r, of the part's columns. */
int lat_multigrid_cycle(void *with, const lat_part *p, lat_dfield *e, lat_dfield *s, lat_dfield *r);

/* x = p(S) b on odd sites, of eight columns, each with the polynomial of this degree - 1 for which
 * |b - S x| is least: as many steps of GCR, from one set of sums (H in docs/multigrid.md). power:
 * to work with. */
enum { LAT_MULTIGRID_SEARCH = 8 };
int lat_multigrid_least(lat_multigrid *m, lat_dfield *x, const lat_dfield *b,
                        lat_dfield *const power[LAT_MULTIGRID_SEARCH + 1]);

/* The coefficients of the smoother, from what it meets after a coarse correction. */
int lat_multigrid_fit(lat_multigrid *m);

/* In applications of S to a column, by operations: a cycle, and making the levels of test vectors.
 * GCR, transfers and coarse levels are worth three applications beside the nine of a cycle. */
#define LAT_MULTIGRID_CYCLE 12.
#define LAT_MULTIGRID_MAKE 300.
enum { LAT_MULTIGRID_SEARCHES = 3, LAT_MULTIGRID_CYCLES = 2, LAT_MULTIGRID_MOST_ROUNDS = 6 };

/* Test vectors, all levels, the smoother, the rate. 1: a matrix is singular. */
int lat_multigrid_setup(lat_multigrid *m);
