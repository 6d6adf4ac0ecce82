/* SPDX-License-Identifier: BSD-3-Clause */
/* lanczos.c: thick-restart block Lanczos of F = (1 + A/(4 |A|)) T_n((a + b - 2 B)/(b - a)), B =
 * A^2; if A is positive, B = A and the first factor is 1. T_n is large where B < a, and bounded by
 * 1 on [a, b], which has the rest of the spectrum. The largest modes are those of B in place of
 * T_n.
 *
 * The basis v_0, v_1 .. is orthonormal; of the first `done` vectors the images F v are in the span
 * of all. To go on, F v_done is made orthogonal to the basis and becomes its next vector. At a
 * restart the eigenvectors of F in the span of the first `done` vectors take their place, as many
 * as are kept; the vectors behind them stay. Blocks are nothing but several vectors behind. */
#include <math.h>
#include <stdlib.h>
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

enum {
    BLOCK = 2,       /* vectors to begin with */
    PROBES = 4,      /* random vectors that look for copies of degenerate values */
    PROBE_STEPS = 8, /* images of each */
    NORM_STEPS = 24, /* of the Lanczos iteration for the norm */
    MOST_DEGREE = 600,
    MOST_CHOICES = 8, /* of a shorter interval for the polynomial */
    NUMBERS = 11      /* of a state, before the eigenvalues */
};
static const double AMPLIFY = 300, /* T_n at 0 */
    FARTHEST = 2, /* where the interval begins, in terms of the last B that is wanted: values that
                   * have not converged would have it begin so far that the polynomial is weak */
    SAME = 1e-6;  /* values that differ less, relatively, are of one level */

typedef struct lanczos {
    lat_search *w;
    lat_dfield **v;    /* [room]: the basis, then vectors to work with */
    int room, most;    /* vectors; images before a restart */
    int keep;          /* Ritz vectors of F that stay */
    int n, done;       /* vectors of the basis; of which F v is known */
    lat_cx *h;         /* [most][most]: h[i * most + j] = <v_i, F v_j>, i <= j < done */
    lat_dfield *t[2];  /* the polynomial */
    lat_dfield **safe; /* [want]: the modes that are probed */
    double a, b;       /* b: an upper bound of B */
    int degree, choices;
    bool probing;  /* the present basis looks for missed copies */
    double *theta; /* [most]: eigenvalues of F */
    double *value, *residual;
    double *safe_value, *safe_residual; /* [want] */
} lanczos;

/* ---- F --------------------------------------------------------------------------------------- */

/* t[2] <- (2) X in - last, X = (a + b - 2 B)/(b - a); `out` has `last`, or is overwritten. */
static int recursion(lanczos *z, double factor, lat_dfield *in, lat_dfield *out, bool first)
{
    lat_search *w = z->w;
    const double c = factor / (z->b - z->a), add = -2 * c;
    const lat_scalar of_in = {c * (z->a + z->b), 0}, of_out = {first ? 0 : -1, 0};
    const lat_dirac_end end = {.add = &add};
    return w->s->ops->axpby(w->s, &w->p, &of_in, in, &of_out, out, NULL)
                   || lat_search_square(w, out, in, &end)
               ? -1
               : 0;
}

/* *out = (1 + A / (4 |A|)) x: values of A with opposite signs, which have one of A^2, get two of F,
 * so that its eigenvectors are those of A. */
static int split(lanczos *z, lat_dfield *x, lat_dfield *to, lat_dfield **out)
{
    lat_search *w = z->w;
    const double factor = .25 / w->norm;
    const lat_dirac_end end = {.add = &factor};
    *out = to;
    return w->s->ops->copy(w->s, &w->p, x, to) || lat_search_apply(w, to, x, &end) ? -1 : 0;
}

/* *out, one of t, is F in. */
static int filter(lanczos *z, lat_dfield *in, lat_dfield **out)
{
    lat_search *w = z->w;
    *out = z->t[0];
    if (w->job->largest)
        return lat_search_square(w, z->t[0], in, NULL);
    lat_dfield *last = z->t[1], *now = z->t[0];
    if (w->s->ops->copy(w->s, &w->p, in, last) || recursion(z, 1, in, now, true))
        return -1;
    for (int k = 1; k < z->degree; k++) {
        lat_dfield *next = last;
        if (recursion(z, 2, now, next, false))
            return -1;
        last = now;
        now = next;
    }
    *out = now;
    return w->op->positive ? 0 : split(z, now, last, out);
}

/* An upper bound of |A|: the largest Ritz value of some steps of Lanczos, and its residual. */
static int bound_norm(lanczos *z)
{
    lat_search *w = z->w;
    lat_cx t[NORM_STEPS * NORM_STEPS] = {0}, vector[NORM_STEPS * NORM_STEPS];
    lat_dfield **v = z->v;
    double values[NORM_STEPS], beta = 0;
    bool drawn;
    int n = 0;
    const int most = z->room < NORM_STEPS + 1 ? z->room - 1 : NORM_STEPS;
    if (lat_search_draw(w, 0, v, v[0], &drawn))
        return -1;
    for (; n < most; n++) {
        lat_cx dot[NORM_STEPS + 1];
        if (lat_search_apply(w, v[n + 1], v[n], NULL)
            || lat_search_orthogonal(w, n + 1, v, v[n + 1], dot, &beta))
            return -1;
        for (int i = 0; i <= n; i++)
            t[i * NORM_STEPS + n] = dot[i];
        if (beta < 1e-12 * cabs(dot[n]) || (size_t)n + 1 >= w->dimension)
            break;
        if (lat_search_scale(w, 1 / beta, v[n + 1]))
            return -1;
    }
    n = n < most ? n + 1 : n;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            t[i * n + j] = t[i * NORM_STEPS + j];
    if (lat_dense_eigen(n, t, values, vector))
        return -1;
    w->norm = fmax(fabs(values[0]), fabs(values[n - 1])) + beta;
    return 0;
}

/* The polynomial whose interval begins at a. */
static void choose(lanczos *z, double a)
{
    const double norm = z->w->norm;
    z->b = z->w->op->positive ? norm : norm * norm;
    z->a = fmin(fmax(a, 1e-8 * z->b), .5 * z->b);
    const double x0 = (z->b + z->a) / (z->b - z->a), degree = ceil(acosh(AMPLIFY) / acosh(x0));
    z->degree = degree < MOST_DEGREE ? (int)degree : MOST_DEGREE;
    if (z->w->job->degree > 0)
        z->degree = z->w->job->degree;
    z->choices++;
}

/* ---- the basis ------------------------------------------------------------------------------- */

/* One more image. */
static int expand(lanczos *z)
{
    lat_search *w = z->w;
    const int j = z->done;
    lat_dfield *f;
    double before, after;
    lat_cx *dot = lat_alloc((size_t)z->n, sizeof *dot, "products");
    if (!dot)
        return -1;
    int rc = filter(z, z->v[j], &f) || lat_search_norm(w, f, &before)
             || lat_search_orthogonal(w, z->n, z->v, f, dot, &after);
    for (int i = 0; i <= j && rc == 0; i++)
        z->h[i * z->most + j] = dot[i];
    free(dot);
    if (rc)
        return -1;
    z->done++;
    /* Nothing new: the space is invariant. */
    if (after <= 1e-13 * before || (size_t)z->n >= w->dimension)
        return 0;
    if (lat_search_scale(w, 1 / after, f) || w->s->ops->copy(w->s, &w->p, f, z->v[z->n]))
        return -1;
    z->n++;
    return 0;
}

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
    const int steps = z->probing ? z->done + PROBES * PROBE_STEPS : z->most;
    while (z->done < z->most && z->done < steps) {
        if (z->done == z->n) { /* invariant, and perhaps not all there is */
            if (draw(z, 1))
                return -1;
            if (z->done == z->n)
                break;
        }
        if (expand(z) || lat_search_again(z->w))
            return -1;
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
    lat_dfield **scratch = z->v + z->room - keep;
    for (int k = 0; k < keep && rc == 0; k++) {
        rc = lat_search_rotate(z->w, n, z->v, 1, u + (size_t)(n - 1 - k) * (size_t)n, n,
                               &scratch[k]);
        z->theta[k] = theta[n - 1 - k];
    }
    free(a);
    free(theta);
    if (rc)
        return -1;
    for (int k = 0; k < keep; k++) { /* the old ones become scratch */
        lat_dfield *old = z->v[k];
        z->v[k] = scratch[k];
        scratch[k] = old;
    }
    for (int k = 0; k < behind; k++) {
        lat_dfield *old = z->v[keep + k];
        z->v[keep + k] = z->v[n + k];
        z->v[n + k] = old;
    }
    z->done = keep;
    z->n = keep + behind;
    return 0;
}

/* h of a basis that has just been restarted. */
static void set_diagonal(lanczos *z)
{
    for (int i = 0; i < z->done; i++)
        for (int j = i; j < z->done; j++)
            z->h[i * z->most + j] = i == j ? z->theta[i] : 0;
}

/* A basis of random vectors, with much of each mode y, and nothing known of F. */
static int begin_with(lanczos *z, int count, lat_dfield *const *y)
{
    z->n = z->done = 0;
    z->probing = false;
    for (int k = 0; k < BLOCK; k++) {
        lat_dfield *v = z->v[z->n];
        double norm;
        if (draw(z, 1))
            return -1;
        for (int i = 0; i < count; i++) {
            const lat_cx one = (i + k) % (k + 1) ? -1 : 1;
            if (lat_search_axpys(z->w, 1, &one, &y[i], v))
                return -1;
        }
        if (lat_search_orthogonal(z->w, z->n - 1, z->v, v, NULL, &norm)
            || lat_search_scale(z->w, 1 / norm, v))
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
    const double a = z->a, b = z->b;
    if (!beyond && !(wanted > .9 * a) && !(reach < .6 * a && z->choices < MOST_CHOICES))
        return 0;
    choose(z, reach);
    *again = z->a != a || z->b != b;
    return *again ? begin_with(z, count, y) : 0;
}

static int save(lanczos *z)
{
    const lat_modes_job *job = z->w->job;
    if (!job->save)
        return 0;
    double *number = lat_alloc((size_t)(NUMBERS + z->done), sizeof *number, "a state");
    if (!number)
        return -1;
    const double head[NUMBERS] = {z->n,       z->done,    z->a,    z->b,    z->degree,
                                  z->choices, z->probing, z->keep, z->most, (double)z->w->draws,
                                  z->w->norm};
    for (int i = 0; i < NUMBERS + z->done; i++)
        number[i] = i < NUMBERS ? head[i] : z->theta[i - NUMBERS];
    const lat_modes_state state = {z->n, NUMBERS + z->done, z->v, number};
    const int rc = job->save(job->with, &state);
    free(number);
    return rc;
}

static int load(lanczos *z)
{
    const lat_modes_state *from = z->w->job->from;
    const double *v = from->number;
    if (from->numbers < NUMBERS || from->numbers != NUMBERS + (int)v[1] || v[7] != z->keep
        || v[8] != z->most || from->vectors != (int)v[0] || v[0] > z->room || v[1] > v[0])
        return lat_fail("the checkpoint: expected a state of --method lanczos, found another");
    z->n = (int)v[0];
    z->done = (int)v[1];
    z->a = v[2];
    z->b = v[3];
    z->degree = (int)v[4];
    z->choices = (int)v[5];
    z->probing = v[6] != 0;
    z->w->draws = (uint64_t)v[9];
    z->w->norm = v[10];
    for (int i = 0; i < z->done; i++)
        z->theta[i] = v[NUMBERS + i];
    for (int i = 0; i < z->n; i++)
        if (z->w->s->ops->copy(z->w->s, &z->w->p, from->vector[i], z->v[i]))
            return -1;
    set_diagonal(z);
    return 0;
}

/* F of an eigenvector of A. */
static double filtered(const lanczos *z, double value)
{
    const lat_search *w = z->w;
    const double b = w->op->positive ? value : value * value;
    if (w->job->largest)
        return b;
    const double x = (z->a + z->b - 2 * b) / (z->b - z->a),
                 t = fabs(x) > 1 ? cosh(z->degree * acosh(fabs(x))) : cos(z->degree * acos(x));
    return (x < -1 && z->degree % 2 ? -t : t) * (w->op->positive ? 1 : 1 + .25 * value / w->norm);
}

/* The basis becomes the modes y that have converged, and behind them the one that is for the gap
 * alone, which may be far from it, and random vectors. (A vector whose image leads out of the basis
 * must not count as done without the vectors behind: it could not improve any more.) */
static int probe(lanczos *z, lat_dfield **y, int count)
{
    for (int i = 0; i < count; i++) {
        lat_dfield *v = z->v[i];
        z->v[i] = y[i];
        y[i] = v;
        z->theta[i] = filtered(z, z->value[i]);
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
            || lat_search_residual(w, z->safe[k], z->t[0], &z->safe_value[k], &z->safe_residual[k]))
            return -1;
    return 0;
}

/* Has the probe found a mode that belongs among those that it began with? Then a value is another
 * one: each is the k-th of all. */
static bool found_more(const lanczos *z)
{
    for (int k = 0; k < z->w->want; k++)
        if (fabs(fabs(z->value[k]) - fabs(z->safe_value[k]))
            > SAME * fabs(z->safe_value[k]) + z->safe_residual[k])
            return true;
    return false;
}

static void take_safe(lanczos *z, lat_dfield **y)
{
    for (int k = 0; k < z->w->want; k++) {
        lat_dfield *v = y[k];
        y[k] = z->safe[k];
        z->safe[k] = v;
        z->value[k] = z->safe_value[k];
        z->residual[k] = z->safe_residual[k];
    }
}

/* Restarts until all modes have converged, and a probe found no more: 1; 0 where that takes too
 * long; or -1. */
static int iterate(lanczos *z, double *worst)
{
    lat_search *w = z->w;
    lat_dfield **y = z->v + z->room - z->keep; /* where restart works */
    int converged, rc;
    *worst = INFINITY;
    for (;;) {
        bool again;
        if (z->probing && keep_safe(z))
            return -1;
        if ((rc = grow(z)) <= 0)
            return rc;
        if (restart(z))
            return -1;
        const int count = z->done < w->want ? z->done : w->want;
        if (lat_search_diagonalise(w, z->done, z->v, y, z->value, z->residual, z->t[0]))
            return -1;
        const bool good = lat_search_converged(w, count, z->value, z->residual, &converged, worst);
        if (lat_search_progress(w, converged, *worst))
            return -1;
        if (z->probing && !found_more(z)) {
            take_safe(z, y);
            return 1;
        }
        if (fit(z, y, count, &again))
            return -1;
        if (again)
            continue;
        z->probing = good;
        if (good && probe(z, y, count))
            return -1;
        set_diagonal(z);
        if (save(z))
            return -1;
    }
}

/* ---- the method ------------------------------------------------------------------------------ */

static int open_basis(lanczos *z)
{
    lat_search *w = z->w;
    const int dimension = w->dimension < 1 << 20 ? (int)w->dimension : 1 << 20;
    z->keep = w->want + (w->want / 4 > 4 ? w->want / 4 : 4);
    z->most = z->keep + (w->want > 24 ? w->want : 24);
    z->most = z->most < z->keep + PROBES * PROBE_STEPS ? z->keep + PROBES * PROBE_STEPS : z->most;
    z->most = z->most < dimension ? z->most : dimension;
    z->keep = z->keep < z->most ? z->keep : z->most;
    z->room = z->most + 1 + PROBES + BLOCK + z->keep;
    z->v = calloc((size_t)z->room, sizeof(lat_dfield *));
    z->h = lat_alloc((size_t)z->most * (size_t)z->most, sizeof *z->h, "a small matrix");
    z->theta = lat_alloc(3 * (size_t)z->most + 2 * (size_t)w->want, sizeof *z->theta,
                         "eigenvalues");
    z->safe = calloc((size_t)w->want, sizeof(lat_dfield *));
    if (!z->v || !z->h || !z->theta || !z->safe)
        return lat_fail("out of memory: modes");
    z->value = z->theta + z->most;
    z->residual = z->value + z->most;
    z->safe_value = z->residual + z->most;
    z->safe_residual = z->safe_value + w->want;
    for (int i = 0; i < w->want; i++)
        if (!(z->safe[i] = lat_search_vector(w, "modes")))
            return -1;
    for (int i = 0; i < z->room; i++)
        if (!(z->v[i] = lat_search_vector(w, "the basis of Lanczos")))
            return -1;
    for (int i = 0; i < 2; i++)
        if (!(z->t[i] = lat_search_vector(w, "the polynomial")))
            return -1;
    return 0;
}

static void close_basis(lanczos *z)
{
    for (int i = 0; z->safe && i < z->w->want; i++)
        if (z->safe[i])
            lat_dfield_free(z->safe[i]);
    free(z->safe);
    for (int i = 0; z->v && i < z->room; i++)
        if (z->v[i])
            lat_dfield_free(z->v[i]);
    for (int i = 0; i < 2; i++)
        if (z->t[i])
            lat_dfield_free(z->t[i]);
    free(z->v);
    free(z->h);
    free(z->theta);
}

int lat_modes_lanczos(lat_search *w, lat_dfield **y, double *value, double *residual, double *worst)
{
    lanczos z = {.w = w};
    int rc = open_basis(&z);
    if (rc == 0 && w->job->from)
        rc = load(&z);
    else if (rc == 0 && (rc = bound_norm(&z)) == 0) {
        choose(&z, (w->op->positive ? w->norm : w->norm * w->norm) / 64);
        rc = begin_with(&z, 0, NULL);
    }
    if (rc == 0)
        rc = iterate(&z, worst);
    for (int i = 0; rc > 0 && i < w->want; i++) {
        lat_dfield **from = &z.v[z.room - z.keep + i];
        value[i] = z.value[i];
        residual[i] = z.residual[i];
        y[i] = *from;
        *from = NULL;
    }
    close_basis(&z);
    return rc;
}
