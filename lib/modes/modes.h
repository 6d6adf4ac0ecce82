/* SPDX-License-Identifier: BSD-3-Clause */
/* modes.h: the eigenvectors of a Hermitian operator A with the lowest eigenvalues, by modulus, or
 * with the largest ones.
 *
 * - lanczos: thick-restart Lanczos with full orthogonalisation, of a Chebyshev polynomial of A^2
 *   (of A, if A is positive) that is large where the wanted eigenvalues are and bounded by 1 on the
 *   rest of the spectrum (Zhou, Saad, J. Comput. Phys. 219 (2006) 172; Wu, Simon, SIAM J. Matrix
 *   Anal. Appl. 22 (2000) 602).
 * - ritz: the Ritz functional (z, A^2 z)/(z, z) is minimised by conjugate gradients, mode after
 *   mode, each in the complement of those before (Bunk, 1994; Kalkreuter, Simma,
 *   hep-lat/9507023): the method that others are judged by.
 * - davidson: a basis that grows by an approximate inverse of A, such as a multigrid's, applied to
 *   residuals (davidson.c): for the lowest modes of an A that is nearly singular.
 *
 * All end with a diagonalisation of A in the space that they have found, and compute each residual
 * from its definition. They return modes in ascending order of modulus (descending of the largest).
 *
 *     lat_hermitian a = lat_hermitian_dirac(d, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
 *     const lat_modes_job job = {.op = &a, .low = 10, .high = 10, .tolerance = 1e-10};
 *     lat_modes m;
 *     if (lat_modes_find(&job, &m) == 0)
 *         .. m.value[0], m.vector[0] ..
 *     lat_modes_free(&m);
 *
 * A degenerate eigenvalue is found as often as it occurs. lanczos ends with a probe of random
 * vectors for missed copies, unless it began with more vectors than any level has copies. Every
 * result has the same bits on any number of ranks and threads. All ranks of the device call these
 * functions. */
#pragma once

#include "dirac/dirac.h"

/* A Hermitian operator on spinors of one column (column 0 of a space; one column takes the least
 * memory). out = A in, on sites of the parity; `in` stays, except for ghosts; end may be NULL. */
typedef struct lat_hermitian {
    lat_space *space;
    lat_parity parity;
    bool positive; /* A has no negative eigenvalues */
    int (*apply)(const struct lat_hermitian *a, lat_dfield *out, lat_dfield *in,
                 const lat_apply_end *end);
    void *with;              /* for apply */
    lat_dirac_matrix matrix; /* of lat_hermitian_dirac */
    lat_dirac *many;         /* the same operator on batches, on the grid of `space`; NULL: none */
} lat_hermitian;

/* gamma5 M or M^+ M (LAT_GAMMA5, LAT_NORMAL), or the same of a Schur complement on odd sites:
 * gamma5 S is Hermitian for the asymmetric one. gamma5 M is Hermitian without a twist. `d`, of a
 * space of one column, is borrowed. */
lat_hermitian lat_hermitian_dirac(lat_dirac *d, lat_dirac_matrix matrix);

typedef enum { LAT_MODES_LANCZOS, LAT_MODES_RITZ, LAT_MODES_DAVIDSON } lat_modes_method;
#define LAT_MODES_METHODS "lanczos|ritz" /* that users choose from */

/* From which a run that was cut off goes on: vectors, and numbers that mean something to the method
 * alone. */
typedef struct lat_modes_state {
    bool between; /* it was asked to end where it has no state by itself: no bit may be lost */
    bool refined; /* the vectors are of the space of job.op; else of job.coarse, if there is one */
    int vectors, numbers;
    lat_dfield **vector;
    double *number;
} lat_modes_state;

typedef struct lat_modes_job {
    const lat_hermitian *op;
    const lat_hermitian *coarse; /* the same in lower precision: lanczos searches with it, as well
                                  * as its precision allows, and op refines the modes; or NULL */
    int low, high;    /* as many modes, from low to high, as leave the widest gap to the next one */
    bool largest;     /* modes of the largest modulus */
    double tolerance; /* |A w - value w| of each mode, |w| = 1 */
    lat_modes_method method;
    uint64_t seed;         /* of random vectors to start from */
    long max_applications; /* of A */
    double memory;         /* of a device, for vectors, in bytes; 0: what is free on a GPU */
    int degree;            /* of Chebyshev's polynomial; 0: chosen, and chosen anew as needed */

    /* Of davidson, which works with op->many, whose precision is that of op: columns r become
     * A^-1 r, about, by a function that need not be linear; what that took is added to
     * *applications. And vectors to begin with, `starts` of them, from number `first` on. 0 or -1.
     */
    int (*inverse)(void *with, const lat_part *p, lat_dfield *r, long *applications);
    int (*start)(void *with, int first, const lat_part *p, lat_dfield *r);
    int starts;

    /* Called now and then: how many modes have converged of how many, the largest residual of the
     * others. -1 ends the search; 1, too, after its state was saved. NULL: not. */
    int (*progress)(void *with, int converged, int of, double residual, long applications);

    /* Called when the search could go on from a state (lanczos, davidson: between two restarts,
     * ritz: after each mode); it may round the vectors, as they may be when a search goes on `from`
     * it, unless it is one `between` these. */
    int (*save)(void *with, const lat_modes_state *state);
    const lat_modes_state *from; /* NULL: from the beginning */
    void *with;
} lat_modes_job;

typedef struct lat_modes {
    int count;
    double *value, *residual; /* [count]: (w, A w), and |A w - value w| */
    lat_dfield **vector;      /* [count], |w| = 1, orthogonal to each other */
    double rest;              /* no other eigenvalue has a modulus below it (above it); see gaps */
    double norm;       /* no eigenvalue has a modulus above it: a Ritz value and its residual */
    long applications; /* of A */
    bool converged;    /* else there are none, and `worst` is the largest residual */
    double worst;
} lat_modes;

/* The same with n vectors of this space, count n. */
int lat_modes_new(lat_modes *m, lat_space *s, int n);

/* Bytes on a rank's device that lat_modes_find takes, beside the operators. */
double lat_modes_bytes(const lat_modes_job *job);

/* 0, also if it has not converged (`converged`), or -1 with lat_error set, also where the device
 * has less memory than it takes. *found is to be freed in any case. `high` is less than the
 * dimension of the space. */
int lat_modes_find(const lat_modes_job *job, lat_modes *found);
void lat_modes_free(lat_modes *found);

/* Modes that come from elsewhere, of job.op; nothing is believed of them. `known` has count
 * vectors, and memory for values and residuals; known->rest may be where the others are said to
 * begin. The vectors become orthonormal, values and residuals are computed, and the modes put in
 * order. The number from job.low to job.high that leaves the widest gap is kept. The complement of
 * all is searched for its lowest eigenvalue by conjugate gradients of the Ritz functional, as well
 * as the gap demands: `rest` is that, less its error, or what it was said to be if that is lower.
 * 0; or -1, with a sentence that begins with `name`: where a vector is in the span of those before
 * it, where a residual is above job.tolerance, where a mode below the last one is missing.
 * job.method, from and save are not read. */
int lat_modes_examine(const lat_modes_job *job, const char *name, lat_modes *known);

/* Modes that are known when others are looked for: orthonormal, their values ascend. */
typedef struct lat_modes_known {
    const lat_modes *m;                /* count, vector and value are read */
    lat_dfield *start;                 /* a vector to begin with, random within the space of A */
    size_t dimension;                  /* of that space */
    double (*tolerance)(double value); /* of residuals there, in terms of job.tolerance */
    double error; /* of A: it is only asked whether nothing is lacking, found->converged */
} lat_modes_known;

/* The modes among the job.low lowest of a positive A that are not known; found->count may be 0. For
 * an A with |A| at most 1 of which an application costs far more than products of vectors: by
 * thick-restart Lanczos of A itself, in the complement of the known modes. For a degenerate level
 * one copy is found; more come to light when it is known, and another vector is the start. job.op,
 * tolerance, low, max_applications, progress are read. Residuals come from the recursion. 0,
 * also if it has not converged, or -1; *found is to be freed in any case. */
int lat_modes_complete(const lat_modes_job *job, const lat_modes_known *known, lat_modes *found);

/* The number k of modes, from low to high, that leaves the widest gap between value[k - 1] and
 * value[k], in terms of the larger one. */
int lat_modes_cut(int low, int high, const double *value);

/* gap[k] is the distance of value[k] from that part of the spectrum that the modes of its sign do
 * not span: from modes of the other sign, and from all that is not among the modes, which begins at
 * `rest`. The projector to the modes of one sign is then exact to
 *
 *     kappa (1 + 2 kappa) / (1 - 2 kappa (1 + 2 kappa)),   kappa^2 = sum residual^2 / gap^2
 *
 * (Giusti, Hoelbling, Luescher, Wittig, hep-lat/0212012, section 4), the sum over modes of that
 * sign. lat_modes_bound: of that sign (+1, -1); infinite where the formula says nothing. */
void lat_modes_gaps(int count, const double *value, double rest, bool largest, double *gap);
double lat_modes_kappa(int count, const double *value, const double *residual, const double *gap,
                       int sign);
double lat_modes_bound(double kappa);
