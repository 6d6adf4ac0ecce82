/* SPDX-License-Identifier: BSD-3-Clause */
/* multigrid.h: adaptive multigrid for the Dirac operator: a preconditioner of GCR for light quarks.
 *
 * It works on the asymmetric Schur complement S of odd sites (dirac.h), whose residual r is that of
 * M x = b, on even sites 0. A cycle is
 *
 *     z_c = P^+ r,  M_c z = z_c (coarse levels),  e = P z,  q = r - S e,
 *     e += p(S) q,  s = S e
 *
 * with P of transfer.h and a polynomial p, the smoother, whose coefficients are those of a least
 * squares problem in the setup. So nothing is summed over the finest level, and a column's result
 * does not depend on those beside it.
 *
 * J. Brannick et al., arXiv:0707.4018; R. Babich et al., arXiv:1005.3043; A. Frommer et al.,
 * arXiv:1303.1377. The even sites are left out, the setup is orthonormal on the whole lattice, and
 * the smoother has no sums: docs/multigrid.md.
 *
 * A wrong multigrid makes a solve slow, never wrong: what is a solution is decided by GCR's
 * residual in double, and by lib/certify. Functions return 0 or a pointer, or -1 or NULL with
 * lat_error set; all ranks call them. On CPUs and GPUs. */
#pragma once

#include "dirac/dirac.h"
#include "solve/krylov.h"

enum {
    LAT_MULTIGRID_COLUMNS = 8,  /* of a space, at least */
    LAT_MULTIGRID_VECTORS = 24, /* unless it is told */
    LAT_MULTIGRID_MOST_VECTORS = 64
};

typedef struct lat_multigrid lat_multigrid;

/* Where a setup is. */
typedef struct lat_multigrid_state {
    int rounds;          /* after the search for test vectors */
    double rate, before; /* of a cycle, after the last round and after the one before it */
    double applied;      /* columns times applications of S, so far */
} lat_multigrid_state;

typedef struct lat_multigrid_options {
    int vectors;              /* of the finest level, a multiple of 8; 0: 24, or those of `known` */
    double columns;           /* to come: a round of the setup is made where it pays for so many */
    int beside;               /* of them, in solves; 0: as many as the space has */
    const lat_field *known;   /* test vectors to begin with, host fields; NULL: random ones */
    lat_multigrid_state from; /* where their setup is; 0 rounds: they are of other links */
    const double *there;  /* on a GPU: the links, if they are there already (dirac.h); or NULL */
    const lat_field *box; /* as lat_dirac_options has it, until `leave`; or NULL */
    bool finished;        /* no round is to follow */

    /* After the search and after each round: a setup goes on from these vectors, which are in
     * single precision, with the same bits. Not 0 ends the setup, which fails. NULL: not called. */
    int (*round)(void *with, const lat_field *vectors, const lat_multigrid_state *state);
    int (*asked)(void *with); /* called now and then: other than 0 ends the setup; or NULL */
    void *with;
} lat_multigrid_options;

/* What a setup has done. */
typedef struct lat_multigrid_report {
    int levels, vectors, rounds;
    double applied; /* S a vector, in the setup */
    double rate;    /* a cycle's, of a random column: |r| falls by it */
    double lowest;  /* the least singular value of M, about */
} lat_multigrid_report;

/* The work of a setup and of cycles until residuals of so many columns have fallen by exp(digits),
 * about: in applications of S to a column, as BiCGstab has them on this device. */
double lat_multigrid_cost(const lat_device *device, const lat_geometry *lattice, double columns,
                          double digits);

/* Is there a multigrid for links like these on this device? 0, or -1 with the reason in lat_error.
 */
int lat_multigrid_takes(const lat_device *device, const lat_geometry *lattice, int nc);

/* For s: S on odd sites of d, in single precision, on a space of LAT_MULTIGRID_COLUMNS or more.
 * All is borrowed. */
lat_multigrid *lat_multigrid_open(const lat_system *s, lat_dirac *d, const lat_field *links,
                                  const lat_multigrid_options *options);
void lat_multigrid_close(lat_multigrid *m); /* NULL is allowed */

/* For another operator of the same links, which differs in mass and twist alone, and its S: test
 * vectors and P stay, as P^+ P = 1 and P^+ gamma5 P = Gamma5; smoother and inverses are made anew.
 * Or for the same one on another space. In between, `leave` gives back what the space has of it, so
 * that the space can be closed. 1: a matrix is singular. */
void lat_multigrid_leave(lat_multigrid *m);
int lat_multigrid_move(lat_multigrid *m, const lat_system *s, lat_dirac *d);

/* Gives back what setups and `draw` alone read, before solves take memory. */
void lat_multigrid_lighten(lat_multigrid *m);

/* Solves smooth in s, an operator of the same matrix in fewer bits, where its space has their
 * columns: cycles return S e up to its rounding. NULL: not. Until `leave`. */
int lat_multigrid_smooth_in(lat_multigrid *m, const lat_system *s);

/* The preconditioner, in s. */
const lat_method *lat_multigrid_method(const lat_multigrid *m);

const lat_multigrid_report *lat_multigrid_told(const lat_multigrid *m);

/* The sites of blocks of the finest level. */
const int *lat_multigrid_blocks(const lat_multigrid *m);

/* For other code that asks whether P^+ P = 1 and P^+ M P = M_c: x <- P z, eight columns of a host
 * field, for random z; one[i][j] = <z_i, z_j>, coarse[i][j] = <z_i, M_c z_j>, image[j] =
 * |M_c z_j|, and their dimension. 0, or -1 with lat_error set. */
typedef struct lat_multigrid_sample {
    lat_scalar one[LAT_MULTIGRID_COLUMNS][LAT_MULTIGRID_COLUMNS],
        coarse[LAT_MULTIGRID_COLUMNS][LAT_MULTIGRID_COLUMNS];
    double image[LAT_MULTIGRID_COLUMNS];
    double dimension;
} lat_multigrid_sample;
int lat_multigrid_draw(lat_multigrid *m, lat_field *x, lat_multigrid_sample *s);
