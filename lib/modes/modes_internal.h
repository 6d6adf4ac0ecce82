/* SPDX-License-Identifier: BSD-3-Clause */
/* modes_internal.h: what the methods of lib/modes share: vectors of one column, A and its count, a
 * diagonalisation of A in a space. Functions return 0, or -1 with lat_error set. */
#pragma once

#include <complex.h>
#include "modes.h"

typedef double complex lat_cx;

/* A search. */
typedef struct lat_search {
    const lat_modes_job *job;
    const lat_hermitian *op;
    lat_space *s;
    lat_part p;
    size_t dimension;  /* of the space */
    int want;          /* modes that are computed: one more than `high`, for the gap */
    lat_dfield *tmp;   /* of A A */
    lat_dfield *batch; /* of rotations, if op has batches */
    long applications;
    uint64_t draws; /* random vectors so far */
    double epsilon; /* of the vectors */
    double floor;   /* of residuals, which rounding does not go below, in terms of |A|; or 0 */
    double norm;    /* an upper bound of |A| */
    double sign;    /* of the factor of F that prefers it; 0: neither */
    const lat_modes *held; /* by a search that goes on with the other sign; or NULL */
    int converged;         /* as it was told last */
    double worst;
} lat_search;

lat_search lat_search_of(const lat_modes_job *job, const lat_hermitian *op);
lat_dfield *lat_search_vector(lat_search *w, const char *what);          /* zero */
lat_dfield **lat_search_vectors(lat_search *w, int n, const char *what); /* a list of n */
void lat_search_free(int n, lat_dfield **v); /* and the list; NULL is allowed */

static inline void lat_search_swap(lat_dfield **a, lat_dfield **b)
{
    lat_dfield *old = *a;
    *a = *b;
    *b = old;
}

/* 0 if a device of job->op has so many bytes of memory, or -1. Bytes of a batch on a
 * rank, and of partial sums of products: on the CPU a number a site, on a GPU one for 32. */
int lat_search_memory(const lat_modes_job *job, double bytes);
double lat_search_bytes(const lat_space *s);
double lat_search_sums(const lat_space *s);

/* out = A in; out = A^2 in, or A in if A is positive: the operator whose lowest eigenvalues are
 * looked for. */
int lat_search_apply(lat_search *w, lat_dfield *out, lat_dfield *in, const lat_apply_end *end);
int lat_search_square(lat_search *w, lat_dfield *out, lat_dfield *in, const lat_apply_end *end);

/* Columns of a space: of batches, or of vectors. */
typedef struct lat_search_columns {
    lat_space *s;
    lat_part p;
} lat_search_columns;

/* dot[c * n + i] = <x[i], y> of column c of y; y += sum a[c * n + i] x[i]. */
int lat_search_dots_of(const lat_search_columns *c, int n, lat_dfield *const *x,
                       const lat_dfield *y, lat_cx *dot);
int lat_search_axpys_of(const lat_search_columns *c, int n, const lat_cx *a, lat_dfield *const *x,
                        lat_dfield *y);

/* The columns of y become orthogonal to all n x, twice; dot[c * n + i] is what was taken off. */
int lat_search_orthogonal_of(const lat_search_columns *c, int n, lat_dfield *const *x,
                             lat_dfield *y, lat_cx *dot);

/* The same of a vector: dot[i], a[i]. */
int lat_search_dots(lat_search *w, int n, lat_dfield *const *x, const lat_dfield *y, lat_cx *dot);
int lat_search_axpys(lat_search *w, int n, const lat_cx *a, lat_dfield *const *x, lat_dfield *y);
int lat_search_norm(lat_search *w, const lat_dfield *y, double *norm); /* |y| */
int lat_search_scale(lat_search *w, double a, lat_dfield *y);

/* y becomes orthogonal to all n x, twice; dot[i] (may be NULL) is what was taken off; norm is the
 * rest's. orthonormal: and a unit vector. */
int lat_search_orthogonal(lat_search *w, int n, lat_dfield *const *x, lat_dfield *y, lat_cx *dot,
                          double *norm);
int lat_search_orthonormal(lat_search *w, int n, lat_dfield *const *x, lat_dfield *y, double *norm);

/* A random unit vector orthogonal to all x; `found` is false where there is none. */
int lat_search_draw(lat_search *w, int n, lat_dfield *const *x, lat_dfield *y, bool *found);

/* y[k] = sum_i x[i] u[k * pitch + i], k < m. */
int lat_search_rotate(lat_search *w, int n, lat_dfield *const *x, int m, const lat_cx *u, int pitch,
                      lat_dfield *const *y);

/* (y, A y) and |A y - value y| of a unit vector. `work` is a vector. */
int lat_search_residual(lat_search *w, lat_dfield *y, lat_dfield *work, double *value,
                        double *residual);

/* Diagonalises A in the space of n orthonormal x: y[k], value[k], residual[k], those that are
 * looked for first; vectors of y change places. `work` is a vector. */
int lat_search_diagonalise(lat_search *w, int n, lat_dfield *const *x, lat_dfield **y,
                           double *value, double *residual, lat_dfield *work);

/* Puts vectors in the order in which modes are returned. */
void lat_search_order(const lat_search *w, int n, double *value, double *residual, lat_dfield **y);

/* Has mode k converged? */
bool lat_search_is_good(const lat_search *w, int k, double value, double residual);

/* Have the modes converged? The last one of `want` is for the gap alone. How many have, and the
 * largest residual of the others. */
bool lat_search_converged(const lat_search *w, int n, const double *value, const double *residual,
                          int *converged, double *worst);

/* A state to job.save, and the vectors of a state from which a search goes on. */
int lat_search_save(lat_search *w, const lat_modes_state *state);
int lat_search_load(lat_search *w, const lat_modes_state *from, int first, int n,
                    lat_dfield *const *to);

int lat_search_progress(lat_search *w, int converged, double worst);
int lat_search_again(lat_search *w); /* the same, between two of them */

/* F = (1 + sign A/(4 |A|)) T_n((a + b - 2 B)/(b - a)), B = A^2; if A is positive, B = A and the
 * first factor is 1. T_n is large where B < a, bounded by 1 on [a, b]. For the largest modes F = B.
 */
typedef struct lat_filter {
    lat_search *w;
    lat_space *s; /* of batches */
    int columns;  /* vectors at a time */
    double a, b;  /* b: an upper bound of B */
    int degree;
    lat_dfield *t[3], *one, *result;
} lat_filter;

int lat_filter_open(lat_filter *f, lat_search *w);
void lat_filter_close(lat_filter *f);
void lat_filter_choose(lat_filter *f, double a); /* the interval begins at a; w->norm is known */
void lat_filter_move(lat_filter *f, double a);   /* the same, in two steps behind the middle */
void lat_filter_raise(lat_filter *f, double wanted); /* the degree: T_n is large at B = wanted */

/* F of up to `columns` vectors; image k is there until the next call. */
int lat_filter_apply(lat_filter *f, int count, lat_dfield *const *in);
int lat_filter_image(lat_filter *f, int k, lat_dfield **image);

double lat_filter_value(const lat_filter *f, double value); /* F of an eigenvector of A */

/* The methods: `want` modes, of which the vectors y are the caller's from then on. 1; 0 if it has
 * not converged: *worst is the largest residual; or -1. */
int lat_modes_lanczos(lat_search *w, lat_dfield **y, double *value, double *residual,
                      double *worst);
int lat_modes_ritz(lat_search *w, lat_dfield **y, double *value, double *residual, double *worst);

/* lanczos with w->sign alone. *complete is false where modes of the other sign may be missed. */
int lat_lanczos_of_sign(lat_search *w, lat_dfield **y, double *value, double *residual,
                        double *worst, bool *complete);

/* Is one of n vectors found that F ranks below each mode up to the last one that is wanted? */
bool lat_signs_complete(const lat_filter *f, int n, const double *value, const double *residual);

/* The number of a state of lanczos that has twice as many as modes are held, and 1 of a probe. */
enum { LAT_LANCZOS_HELD = 6 };

/* lat_search_save, and the modes that are held. */
int lat_signs_save(lat_search *w, const lat_modes_state *state);

int lat_modes_davidson(lat_search *w, lat_dfield **y, double *value, double *residual,
                       double *worst);

/* How many vectors they take, beside the vectors of the polynomial, w->tmp and w->batch. */
int lat_lanczos_vectors(lat_search *w);
int lat_davidson_vectors(lat_search *w);
int lat_ritz_vectors(const lat_search *w);

/* estimate.c: w->norm, a bound of |A|, and *a, where some twice as many eigenvalues of B end as are
 * wanted, from Lanczos in the first of `capacity` vectors v; or the norm alone, in its own vectors.
 */
int lat_lanczos_estimate(lat_search *w, lat_dfield **v, int capacity, double *a);
int lat_lanczos_norm(lat_search *w);

/* The lowest (x, B x), |x| = 1, in the complement of n orthonormal vectors, where |B x - (x, B x)
 * x| is at most *gradient: below .02 of it, and, unless it is above `need` then, below .1 of its
 * distance from `last` or tiny. 1; 0 after too many applications; or -1. */
int lat_ritz_beyond(lat_search *w, int n, lat_dfield *const *known, double last, double need,
                    double *least, double *gradient);

/* n >= want vectors x that are nearly modes become modes, as above. */
int lat_modes_refine(lat_search *w, int n, lat_dfield **x, double *value, double *residual,
                     double *worst);
