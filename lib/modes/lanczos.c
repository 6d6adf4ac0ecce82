/* SPDX-License-Identifier: BSD-3-Clause */
/* lanczos.c: thick-restart block Lanczos of the polynomial F of modes_internal.h.
 *
 * The basis v_0, v_1 .. is orthonormal; of the first `done` vectors the images F v are in the span
 * of all. To go on, F v_done is made orthogonal to the basis and becomes its next vector. At a
 * restart the eigenvectors of F in the span of the first `done` vectors take their place, as many
 * as are kept; the vectors behind them stay. Blocks are nothing but several vectors behind. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

enum {
    BLOCK = 2,        /* vectors to begin with, unless batches have more columns */
    PROBES = 4,       /* random vectors that look for copies of degenerate values */
    PROBE_STEPS = 16, /* images of each; 8 missed a copy of a 16-fold level for 2 of 24 seeds */
    MOST_CHOICES = 8, /* of a shorter interval for the polynomial */
    NUMBERS = 11      /* of a state, before the eigenvalues */
};
static const double SAME = 1e-6, /* values that differ less, relatively, are of one level */
    CLOSE = 1e-3,                /* those that may be of one level */
    FARTHEST = 2; /* where the interval begins, in terms of the last B that is wanted: values that
                   * have not converged would have it begin so far that the polynomial is weak */

typedef struct lanczos {
    lat_search *w;
    lat_dfield **v;     /* [capacity]: the basis, then vectors to work with */
    int capacity, most; /* vectors; images before a restart */
    int keep;           /* Ritz vectors of F that stay */
    int n, done;        /* vectors of the basis; of which F v is known */
    int until;          /* so many images, which the basis grows to */
    bool grows;         /* a state says so */
    lat_cx *h;          /* [most][most]: h[i * most + j] = <v_i, F v_j>, i <= j < done */
    lat_dfield **safe;  /* [want]: the modes that are probed */
    lat_filter f;
    lat_dfield *work;
    int choices;   /* of the polynomial */
    int block;     /* vectors to begin with */
    bool probing;  /* the present basis looks for missed copies */
    double *theta; /* [most]: eigenvalues of F */
    double *value, *residual;
    double *safe_value, *safe_residual; /* [want] */
} lanczos;

static void choose(lanczos *z, double a)
{
    lat_filter_move(&z->f, a);
    z->choices++;
}

/* ---- the basis ------------------------------------------------------------------------------- */

/* The image f of vector `done` becomes part of the basis, as far as it is new. It is orthogonal to
 * the first `known` vectors already, of which dot has the products. */
static int append(lanczos *z, lat_dfield *f, int known, const lat_cx *dot, double before)
{
    lat_search *w = z->w;
    const int j = z->done++;
    lat_cx now[LAT_VECTOR_COLUMNS];
    double after;
    if (lat_search_orthogonal(w, z->n - known, z->v + known, f, now, &after))
        return -1;
    for (int i = 0; i <= j; i++)
        z->h[i * z->most + j] = i < known ? dot[i] : now[i - known];
    /* Nothing new: the space is invariant. */
    if (after <= 1e3 * w->epsilon * before || (size_t)z->n >= w->dimension)
        return 0;
    if (lat_search_scale(w, 1 / after, f) || w->s->ops->copy(w->s, &w->p, f, z->v[z->n]))
        return -1;
    z->n++;
    return 0;
}

/* Images, orthogonal to the basis, and their norms before. */
static int project(lanczos *z, int count, lat_cx *dot, double *before)
{
    const lat_search_columns c = {z->f.s, {z->w->p.parity, count, lat_column_numbers}};
    if (c.s->ops->dots(c.s, &c.p, 0, NULL, z->f.result, NULL, before))
        return -1;
    for (int k = 0; k < count; k++)
        before[k] = sqrt(before[k]);
    return lat_search_orthogonal_of(&c, z->n, z->v, z->f.result, dot);
}

/* Images of the vectors behind, as many as a batch has, until there are `most`. */
static int expand(lanczos *z, int most)
{
    const int known = z->n;
    double before[LAT_VECTOR_COLUMNS];
    int count = z->n - z->done;
    count = count < z->f.columns ? count : z->f.columns;
    count = count < most - z->done ? count : most - z->done;
    lat_cx *dot = lat_alloc((size_t)count * (size_t)known, sizeof *dot, "products");
    int rc = dot ? lat_filter_apply(&z->f, count, z->v + z->done) || project(z, count, dot, before)
                 : -1;
    for (int k = 0; k < count && rc == 0; k++) {
        lat_dfield *f;
        rc = lat_filter_image(&z->f, k, &f) || append(z, f, known, dot + k * known, before[k]);
    }
    free(dot);
    return rc ? -1 : 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* h of a basis that has just been restarted. */
static void set_diagonal(lanczos *z)
{
    for (int i = 0; i < z->done; i++)
        for (int j = i; j < z->done; j++)
            z->h[i * z->most + j] = i == j ? z->theta[i] : 0;
}

/* A state: of the basis after a restart, whose h is diagonal; or of one that grows. */
static int save(lanczos *z, bool between)
{
    const int known = between ? z->done * (z->done + 1) + 1 : z->done;
    double *number = lat_alloc((size_t)(NUMBERS + known), sizeof *number, "a state");
    if (!number)
        return -1;
    const int probing = z->probing + 2 * (z->w->held ? z->w->held->count : 0);
    const double head[NUMBERS] = {z->n,       z->done, z->f.a,  z->f.b,  z->f.degree,
                                  z->choices, probing, z->keep, z->most, (double)z->w->draws,
                                  z->w->norm};
    memcpy(number, head, sizeof head);
    if (!between)
        memcpy(number + NUMBERS, z->theta, sizeof *number * (size_t)z->done);
    for (int j = 0; between && j < z->done; j++)
        for (int i = 0; i <= j; i++) {
            const lat_cx h = z->h[i * z->most + j];
            number[NUMBERS + j * (j + 1) + 2 * i] = creal(h);
            number[NUMBERS + j * (j + 1) + 2 * i + 1] = cimag(h);
        }
    if (between)
        number[NUMBERS + known - 1] = z->until;
    const lat_modes_state state = {.between = between,
                                   .vectors = z->n,
                                   .numbers = NUMBERS + known,
                                   .vector = z->v,
                                   .number = number};
    const int rc = lat_signs_save(z->w, &state);
    free(number);
    return rc;
}

/* h, which was saved between two restarts. */
static void load_matrix(lanczos *z, const double *number)
{
    for (int j = 0; j < z->done; j++)
        for (int i = 0; i <= j; i++) {
            const double *const h = number + j * (j + 1) + 2 * i;
            z->h[i * z->most + j] = h[0] + h[1] * I;
        }
}

static int load(lanczos *z)
{
    const lat_modes_state *from = z->w->job->from;
    const double *v = from->number;
    if (from->numbers < NUMBERS || v[7] != z->keep || v[8] != z->most
        || !(v[0] >= 0 && v[0] < z->capacity) || from->vectors != (int)v[0]
        || !(v[1] >= 0 && v[1] <= v[0] && v[1] <= z->most)
        || (from->numbers != NUMBERS + (int)v[1]
            && !(from->numbers == NUMBERS + (int)v[1] * ((int)v[1] + 1) + 1
                 && v[from->numbers - 1] >= v[1] && v[from->numbers - 1] <= z->most))
        || !(v[4] >= 0 && v[4] <= 1e6) || !(v[5] >= 0 && v[5] <= INT_MAX)
        || !(v[9] >= 0 && v[9] <= 1e15))
        return lat_fail("the checkpoint: expected a state of --method lanczos, found another");
    z->n = (int)v[0];
    z->done = (int)v[1];
    z->f.a = v[2];
    z->f.b = v[3];
    z->f.degree = (int)v[4];
    z->choices = (int)v[5];
    z->probing = fmod(v[LAT_LANCZOS_HELD], 2) > 0;
    z->w->draws = (uint64_t)v[9];
    z->w->norm = v[10];
    for (int i = 0; i < z->done && from->numbers == NUMBERS + z->done; i++)
        z->theta[i] = v[NUMBERS + i];
    if (lat_search_load(z->w, from, 0, z->n, z->v))
        return -1;
    z->grows = from->numbers > NUMBERS + z->done;
    if (!z->grows) {
        set_diagonal(z);
        return 0;
    }
    load_matrix(z, v + NUMBERS);
    z->until = (int)v[from->numbers - 1];
    return 0;
}

/* ---- growth and restarts --------------------------------------------------------------------- */

/* As many random vectors behind the basis. */
static int draw(lanczos *z, int count)
{
    for (int i = 0; i < count; i++) {
        bool drawn;
        if (lat_search_draw(z->w, z->n, z->v, z->v[z->n], &drawn))
            return -1;
        z->n += drawn;
    }
    return 0;
}

/* 1, or 0 after too many applications. */
static int grow(lanczos *z)
{
    const int probe = z->done + PROBES * PROBE_STEPS;
    if (!z->grows)
        z->until = z->probing && probe < z->most ? probe : z->most;
    z->grows = false;
    while (z->done < z->until) {
        if (z->done == z->n) { /* invariant, and perhaps not all there is */
            if (draw(z, 1))
                return -1;
            if (z->done == z->n)
                break;
        }
        if (expand(z, z->until))
            return -1;
        const int asked = lat_search_again(z->w);
        if (asked) {
            if (asked > 0)
                save(z, true);
            return -1;
        }
        if (z->w->applications > z->w->job->max_applications)
            return 0;
    }
    return 1;
}

/* The basis becomes the first vectors of F's eigenvectors in it, and those behind. */
static int restart(lanczos *z)
{
    const int n = z->done, keep = n < z->keep ? n : z->keep, behind = z->n - z->done;
    const size_t size = (size_t)n * (size_t)n;
    lat_cx *a = lat_alloc(2 * size, sizeof *a, "a small matrix"), *u = a + size;
    double *theta = lat_alloc((size_t)n, sizeof *theta, "eigenvalues");
    int rc = a && theta ? 0 : -1;
    for (int i = 0; i < n && rc == 0; i++)
        for (int j = i; j < n; j++)
            a[i * n + j] = z->h[i * z->most + j];
    rc = rc || lat_dense_eigen(n, a, theta, u) ? -1 : 0;
    /* The largest first, as they lie in u from its end. */
    lat_dfield **scratch = z->v + z->capacity - keep;
    for (int k = 0; k < keep && rc == 0; k++) { /* reversed in a, whose elements are not needed */
        memcpy(a + (size_t)k * (size_t)n, u + (size_t)(n - 1 - k) * (size_t)n,
               (size_t)n * sizeof *a);
        z->theta[k] = theta[n - 1 - k];
    }
    rc = rc || lat_search_rotate(z->w, n, z->v, keep, a, n, scratch) ? -1 : 0;
    LAT_FREE(a, theta);
    if (rc)
        return -1;
    for (int k = 0; k < keep; k++) /* the old ones become scratch */
        lat_search_swap(&z->v[k], &scratch[k]);
    for (int k = 0; k < behind; k++)
        lat_search_swap(&z->v[keep + k], &z->v[n + k]);
    z->done = keep;
    z->n = keep + behind;
    return 0;
}

/* A basis of random vectors, with much of each mode y, and nothing known of F. */
static int begin_with(lanczos *z, int count, lat_dfield *const *y)
{
    z->n = z->done = 0;
    z->probing = false;
    for (int k = 0; k < z->block; k++) {
        lat_dfield *v = z->v[z->n];
        double norm;
        if (draw(z, 1))
            return -1;
        for (int i = 0; i < count; i++) {
            const lat_cx one = (i + k) % (k + 1) ? -1 : 1;
            if (lat_search_axpys(z->w, 1, &one, &y[i], v))
                return -1;
        }
        if (lat_search_orthonormal(z->w, z->n - 1, z->v, v, &norm))
            return -1;
    }
    return 0;
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* (y, B y) of Ritz vector k. */
static double squared(const lanczos *z, int k)
{
    const double value = z->value[k], residual = z->residual[k];
    return z->w->op->positive ? value : value * value + residual * residual;
}

/* The polynomial fits what has been found: its interval begins behind the modes that are wanted,
 * and not much farther. `again`: another was chosen, with a basis that begins anew. */
static int fit(lanczos *z, lat_dfield **y, int count, bool *again)
{
    lat_search *w = z->w;
    const int last = w->want < z->done ? w->want : z->done;
    double all = 0;
    *again = false;
    for (int i = 0; i < z->done; i++)
        all = fmax(all, fabs(z->value[i]));
    const bool beyond = all > w->norm; /* the interval did not hold the spectrum */
    if (beyond)
        w->norm = 1.05 * all;
    if (w->job->largest)
        return 0;
    const double wanted = squared(z, last - 1),
                 reach = fmin(fmax(squared(z, z->done - 1), 1.25 * wanted), FARTHEST * wanted);
    const double a = z->f.a, b = z->f.b;
    const bool wide = reach < .6 * a && z->choices < MOST_CHOICES && !w->op->many;
    if (!beyond && !(wanted > .9 * a) && !wide)
        return 0;
    choose(z, reach);
    *again = z->f.a != a || z->f.b != b;
    return *again ? begin_with(z, count, y) : 0;
}

/* The basis becomes the modes y that have converged, and behind them the one that is for the gap
 * alone, which may be far from it, and random vectors. (A vector whose image leads out of the basis
 * must not count as done without the vectors behind: it could not improve any more.) */
static int probe(lanczos *z, lat_dfield **y, int count)
{
    for (int i = 0; i < count; i++) {
        lat_search_swap(&z->v[i], &y[i]);
        z->theta[i] = lat_filter_value(&z->f, z->value[i]);
    }
    z->done = count - 1;
    z->n = count;
    return draw(z, PROBES);
}

/* What the probe begins with, which is the beginning of the basis, is kept: inside a degenerate
 * level a diagonalisation mixes it with what the probe finds of the same level, less well. */
static int keep_safe(lanczos *z)
{
    lat_search *w = z->w;
    for (int k = 0; k < w->want; k++)
        if (w->s->ops->copy(w->s, &w->p, z->v[k], z->safe[k])
            || lat_search_residual(w, z->safe[k], z->work, &z->safe_value[k], &z->safe_residual[k]))
            return -1;
    return 0;
}

/* Has the probe found a mode that belongs among those that it began with? Then a value is another
 * one: each is the k-th of all. */
static bool found_more(const lanczos *z)
{
    for (int k = 0; k < z->w->want; k++)
        if (fabs(fabs(z->value[k]) - fabs(z->safe_value[k]))
            > SAME * fabs(z->safe_value[k]) + z->safe_residual[k] + 16 * z->w->epsilon * z->w->norm)
            return true;
    return false;
}

/* The most modes that a level has, of those that are wanted. So many vectors to begin with find as
 * many: where there are more to begin with, none was missed. */
static int copies(const lanczos *z)
{
    int most = 1;
    for (int k = 1, now = 1; k < z->w->want; k++) {
        const double b = squared(z, k), before = squared(z, k - 1);
        now = fabs(b - before) <= CLOSE * b ? now + 1 : 1;
        most = now > most ? now : most;
    }
    return most;
}

static void take_safe(lanczos *z, lat_dfield **y)
{
    for (int k = 0; k < z->w->want; k++) {
        lat_search_swap(&y[k], &z->safe[k]);
        z->value[k] = z->safe_value[k];
        z->residual[k] = z->safe_residual[k];
    }
}

/* Restarts until all modes have converged, and a probe found no more: 1; 0 where that takes too
 * long; or -1. */
static int iterate(lanczos *z, double *worst)
{
    lat_search *w = z->w;
    lat_dfield **y = z->v + z->capacity - z->keep; /* where restart works */
    int converged, rc;
    bool again;
    *worst = INFINITY;
    for (;;) {
        if (z->probing && keep_safe(z))
            return -1;
        if ((rc = grow(z)) <= 0)
            return rc;
        if (restart(z))
            return -1;
        const int count = z->done < w->want ? z->done : w->want;
        if (lat_search_diagonalise(w, z->done, z->v, y, z->value, z->residual, z->work))
            return -1;
        const bool good = lat_search_converged(w, count, z->value, z->residual, &converged, worst);
        if (lat_search_progress(w, converged, *worst) < 0) /* 1: it is saved soon */
            return -1;
        if (z->probing && !found_more(z)) {
            take_safe(z, y);
            return 1;
        }
        if (fit(z, y, count, &again))
            return -1;
        if (again)
            continue;
        if (good && w->op->many && copies(z) < z->block)
            return 1;
        z->probing = good;
        if (good && probe(z, y, count))
            return -1;
        set_diagonal(z);
        if (save(z, false))
            return -1;
    }
}

/* ---- the method ------------------------------------------------------------------------------ */

/* How many vectors there are of each kind. */
static void set_sizes(lanczos *z)
{
    const lat_search *w = z->w;
    const int dimension = w->dimension < 1 << 20 ? (int)w->dimension : 1 << 20;
    z->keep = w->want + (w->want / 4 > 4 ? w->want / 4 : 4);
    z->most = z->keep + (w->want > 24 ? w->want : 24);
    z->most = z->most < z->keep + PROBES * PROBE_STEPS ? z->keep + PROBES * PROBE_STEPS : z->most;
    z->most = z->most < dimension ? z->most : dimension;
    z->keep = z->keep < z->most ? z->keep : z->most;
    z->block = w->op->many ? w->op->many->space->columns : BLOCK;
    z->capacity = z->most + 1 + PROBES + z->block + z->keep;
}

int lat_lanczos_vectors(lat_search *w)
{
    lanczos z = {.w = w};
    set_sizes(&z);
    return z.capacity + w->want + 1;
}

static int open_basis(lanczos *z)
{
    lat_search *w = z->w;
    set_sizes(z);
    z->h = lat_alloc((size_t)z->most * (size_t)z->most, sizeof *z->h, "a small matrix");
    z->theta = lat_alloc(3 * (size_t)z->most + 2 * (size_t)w->want, sizeof *z->theta,
                         "eigenvalues");
    if (!z->h || !z->theta || !(z->safe = lat_search_vectors(w, w->want, "modes"))
        || !(z->v = lat_search_vectors(w, z->capacity, "the basis of Lanczos"))
        || !(z->work = lat_search_vector(w, "a residual")))
        return -1;
    z->value = z->theta + z->most;
    z->residual = z->value + z->most;
    z->safe_value = z->residual + z->most;
    z->safe_residual = z->safe_value + w->want;
    return lat_filter_open(&z->f, w);
}

static void close_basis(lanczos *z)
{
    lat_search_free(z->w->want, z->safe);
    lat_search_free(z->capacity, z->v);
    lat_dfield_free(z->work);
    lat_filter_close(&z->f);
    LAT_FREE(z->h, z->theta);
}

static int begin(lanczos *z)
{
    double a = 0;
    if (lat_lanczos_estimate(z->w, z->v, z->capacity, &a))
        return -1;
    const double norm = z->w->norm;
    choose(z, a > 0 && z->w->op->many ? a : (z->w->op->positive ? norm : norm * norm) / 64);
    return begin_with(z, 0, NULL);
}

int lat_lanczos_of_sign(lat_search *w, lat_dfield **y, double *value, double *residual,
                        double *worst, bool *complete)
{
    lanczos z = {.w = w};
    const int rc = open_basis(&z) || (w->job->from ? load(&z) : begin(&z)) ? -1
                                                                           : iterate(&z, worst);
    *complete = rc > 0 && lat_signs_complete(&z.f, z.done, z.value, z.residual);
    for (int i = 0; rc > 0 && i < w->want; i++) {
        value[i] = z.value[i];
        residual[i] = z.residual[i];
        lat_search_swap(&y[i], &z.v[z.capacity - z.keep + i]);
    }
    close_basis(&z);
    return rc;
}
