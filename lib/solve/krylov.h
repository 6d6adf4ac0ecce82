/* SPDX-License-Identifier: BSD-3-Clause */
/* krylov.h: A x = b for many right-hand sides together, by Krylov methods.
 *
 *   - cg: conjugate gradients of the normal equations A^+ A x = A^+ b. It always converges, at the
 *     square of the condition number.
 *   - bicgstab: van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631
 *   - bicgstab(l): Sleijpen, Fokkema, ETNA 1 (1993) 11, with l = 4
 *   - gcr: generalised conjugate residuals, restarted, with a preconditioner (lat_method); a few
 *     steps of minimal residual in the inner precision, unless told
 *   - mr: minimal residual, for preconditioners
 *   - mg: gcr, whose preconditioner, a multigrid, is given; where it stagnates, cg goes on
 *   - auto: bicgstab; where it breaks down or stagnates, bicgstab(l), then cg, each from where the
 *     one before got to
 *
 * Precision: iterations run in the inner precision. When the residual that they carry has fallen by
 * `delta`, the solution so far goes to the outer one, the residual is computed there from its
 * definition, and the same Krylov space goes on with it (a reliable update). A column has converged
 * when the residual so computed is below its target. If both are one, nothing is rounded,
 * and the residual is computed when the iteration says that the target is reached.
 *
 * Each column has its own scalars and decisions, and leaves the batch when it is done: its result
 * does not depend on those beside it. */
#pragma once

#include "vector/apply.h"

/* An operator A on batches of spinors (vector/space.h), in one precision. Solvers know nothing else
 * of it, so that they solve what stands behind these functions: the Wilson operator
 * (wilson/wilson.h), or a dense matrix in a test. Functions return 0 or a pointer, or -1 or NULL
 * with lat_error set. */
typedef struct lat_system {
    lat_space *space;  /* its linear algebra */
    lat_parity parity; /* the sites on which A works */
    double epsilon;    /* of its precision */

    /* out = A in, or A^+ in, on the part's sites and columns; in is not changed but for ghosts. */
    int (*apply)(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                 const lat_apply_end *end);
    lat_dfield *(*vector)(void *with, const char *what); /* undefined */
    void (*release)(void *with, lat_dfield *v);          /* NULL is allowed */
    void *with;

    lat_space *sums; /* NULL, or of x of conjugate gradients: more bits than `space` has */
} lat_system;

/* A vector of the system, zero on the part. */
lat_dfield *lat_system_vector(const lat_system *s, const lat_part *p, const char *what);

/* So many, NULL after one that fails; and gives them back, NULL too. */
int lat_system_vectors(const lat_system *s, const lat_part *p, int count, lat_dfield **v,
                       const char *what);
void lat_system_release(const lat_system *s, int count, lat_dfield **v);

typedef enum {
    LAT_SOLVER_AUTO,
    LAT_SOLVER_CG,
    LAT_SOLVER_BICGSTAB,
    LAT_SOLVER_BICGSTABL,
    LAT_SOLVER_GCR,
    LAT_SOLVER_MG, /* GCR, with a multigrid for the preconditioner, which the equation has */
    LAT_SOLVER_MR
} lat_solver;
#define LAT_SOLVERS "auto|cg|bicgstab|bicgstabl|gcr|mg" /* that users choose from */

const char *lat_solver_name(lat_solver solver);

/* A solver as a value: e, about A^-1 r of each column, as GCR wants it of a preconditioner. It need
 * not be linear, the same from one call to the next, nor good: where it gains nothing, GCR goes on
 * without it, and what is a solution is decided by the residual of GCR alone. */
typedef struct lat_method {
    lat_solver solver;        /* any but AUTO */
    const lat_system *system; /* of A, in any precision: r is rounded to it, and e comes back */
    long steps;               /* iterations of a column, at most; needed */
    double tolerance;         /* a column ends where |r| has fallen by it; 0: after `steps` */
    const struct lat_method *preconditioner; /* of GCR; NULL: none */

    /* If not NULL, this takes the place of all that: e and s = A e from r, on these columns. GCR
     * then runs in `system`, which is the inner or the outer one of the equation (NULL: the outer
     * one). r is not changed but for ghosts. 0, or -1 with lat_error set. */
    int (*precondition)(void *with, const lat_part *p, lat_dfield *e, lat_dfield *s, lat_dfield *r);
    void *with;
} lat_method;

/* Why a column ended. */
typedef enum {
    LAT_END_NONE, /* it has not */
    LAT_END_CONVERGED,
    LAT_END_ITERATIONS, /* as many as were allowed */
    LAT_END_BREAKDOWN,  /* a scalar that is divided by became zero to rounding, again and again */
    LAT_END_STAGNATION, /* the residual does not fall any more, or grows without bound */
    LAT_END_SLOW,       /* cg: at the rate that it has, far more iterations than are allowed */
    LAT_END_INFINITE    /* numbers were not finite */
} lat_end;

/* "converged", "out of iterations", "broke down", "stagnated", "not finite", and so on. */
const char *lat_end_text(lat_end end);

typedef struct lat_solve_report {
    long iterations, updates; /* in all solvers; reliable updates */
    double residual;          /* |b - A x| of the last update, in the outer one */
    lat_solver solver;        /* that ended it */
    lat_end end;
} lat_solve_report;

/* Of reliable updates, unless told: each costs an application of A in the outer precision. (On a
 * GPU .1 makes 13 of them, and a solve takes a sixth longer; with .01 half iterates more.) */
#define LAT_KRYLOV_DELTA .02
#define LAT_KRYLOV_DELTA_COARSE .1 /* of CG in fewer bits than single has */

typedef struct lat_equation {
    const lat_system *outer, *inner; /* one operator in two precisions; may be the same */
    lat_dfield *b, *x;               /* of the outer one; x: where to start, then the solution */
    bool from_zero;                  /* x is zero: an application of A less */
    const double *target;            /* [columns]: |b - A x| that is asked for */
    long max_iterations;             /* of each column, in all */
    double delta;                    /* 0: LAT_KRYLOV_DELTA, or _COARSE */
    const lat_method
        *preconditioner; /* of GCR; NULL: steps of MR in `inner`; none if it is outer */

    /* For an estimate of x inner is outer. A column ends by the residual that its iteration
     * carries, without an application of A to see whether it is true; b is overwritten. */
    bool estimate;

    /* Called now and then, with the number of active columns and the largest residual / target of
     * them; and when a column has converged, while others go on. NULL: not. -1 ends the solve. */
    int (*progress)(void *with, long iterations, int active, double ratio);
    int (*done)(void *with, int column);

    /* Asked of each column after an iteration, by its iterations and residual / target: does it
     * leave? It is out of iterations then. NULL: no. */
    bool (*leaves)(void *with, int column, long iterations, double ratio);

    /* Called with the residual r of x at the start and at each reliable update: x gets what is
     * known of A^-1 r beside the Krylov space (deflation). r may be overwritten. NULL: nothing. */
    int (*improve)(void *with, const lat_part *p, lat_dfield *x, lat_dfield *r);
    void *with;
} lat_equation;

/* Solves for these columns. report[column] is set, or, if its `iterations` are not 0, added to. 0,
 * also where columns have not converged, or -1 with lat_error set. */
int lat_solve(const lat_equation *p, lat_solver solver, int columns, const int *column,
              lat_solve_report *report);

/* (A^+ A + shift[k]) x[k] = b for shifts >= 0 in ascending order, all in one Krylov space, by
 * conjugate gradients (Jegerlehner, hep-lat/9612014). In p inner is outer, x is not used, and
 * targets are those of the first shift, whose residual is the largest; x[k] are vectors. The
 * residuals are not computed from their definition: the caller does that. */
int lat_multishift(const lat_equation *p, int shifts, const double *shift, lat_dfield *const *x,
                   int columns, const int *column, lat_solve_report *report);
