/* SPDX-License-Identifier: BSD-3-Clause */
/* spectrum.c: the lowest modes of D^+ D at mu = 0 in both chiralities.
 *
 * With S = sign(H) and w of chirality c, P S w = a w: the eigenvalue of D^+ D is x = (1 + c a)/2,
 * and S w - a w, of the other chirality and of length sqrt(1 - a^2), is a mode of the same x there,
 * as S^2 = 1. Zero modes have no partner. So one chirality is searched, and the other one, of which
 * all but zero modes is known then, for what is lacking. That search, from a vector of its own,
 * also finds copies of degenerate levels that the first one cannot. */
#include "spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "algebra.h"
#include "base/error.h"
#include "base/memory.h"
#include "common/progress.h"

/* What is left of a unit vector beside modes, if it is a further one. */
static const double NEW = .9;

/* Error of the sign function, in terms of the last value, where it is only asked whether a mode is
 * lacking. */
static const double LOOK = .01;

/* Modes of a chirality, in ascending order. */
typedef struct side {
    int c, zeros; /* zeros: of the modes */
    lat_modes m;
    bool complete; /* a search found nothing that was lacking */
} side;

typedef struct spectrum {
    lat_overlap *o;
    lat_space *s;
    int want;
    double tolerance, zero; /* of residuals; values up to it are 0 */
    side side[2];
    int c;                               /* the chirality that is searched */
    lat_dfield *start, *image, *partner; /* to work with */
    uint64_t seed;
} spectrum;

/* ---- modes ----------------------------------------------------------------------------------- */

/* x becomes orthogonal to the modes of a side, a unit vector; *rest: of the unit vector before. */
static int beside(const spectrum *z, const side *t, lat_dfield *x, double *rest)
{
    double before, after;
    if (lat_overlap_norm(z->s, x, &before)
        || lat_overlap_orthogonal(z->s, 2, t->m.count, t->m.vector, x)
        || lat_overlap_norm(z->s, x, &after))
        return -1;
    *rest = before > 0 ? after / before : 0;
    return after > 0 ? lat_overlap_mix(z->s, &lat_first_column, 0, z->image, 1 / after, x, NULL)
                     : 0;
}

/* Value and residual of w by their definitions; image = S w. */
static int measure(const spectrum *z, int c, lat_dfield *w, double *value, double *residual)
{
    lat_scalar a;
    double off;
    if (lat_sign_apply(z->o->sign, 0, &lat_first_column, z->image, w)
        || z->s->ops->copy(z->s, &lat_first_column, z->image, z->partner)
        || lat_chirality(z->s, c, &lat_first_column, z->partner, z->o->tmp)
        || lat_overlap_dot(z->s, w, z->partner, &a)
        || lat_overlap_mix(z->s, &lat_first_column, -a.re, w, 1, z->partner, &off))
        return -1;
    *value = (1 + c * a.re) / 2;
    *residual = sqrt(off) / 2;
    return 0;
}

/* w, which belongs to the side from then on, takes its place by its value. */
static int insert(side *t, lat_dfield *w, double value, double residual)
{
    lat_modes *m = &t->m;
    if (lat_grow(&m->vector, m->count, sizeof *m->vector, "modes")
        || lat_grow(&m->value, m->count, sizeof *m->value, "modes")
        || lat_grow(&m->residual, m->count, sizeof *m->residual, "modes"))
        return -1;
    int k = m->count++;
    for (; k > 0 && m->value[k - 1] > value; k--) {
        m->vector[k] = m->vector[k - 1];
        m->value[k] = m->value[k - 1];
        m->residual[k] = m->residual[k - 1];
    }
    m->vector[k] = w;
    m->value[k] = value;
    m->residual[k] = residual;
    return 0;
}

/* The mode of the other chirality that belongs to one whose image is there, unless it is known, or
 * not good enough: then it is found by a search. */
static int add_partner(spectrum *z, side *t)
{
    double value, residual, rest = 0, norm;
    lat_dfield *w = lat_vector_new(z->s, "modes");
    int rc = lat_rc(!w || z->s->ops->copy(z->s, &lat_first_column, z->image, w)
                    || lat_chirality(z->s, t->c, &lat_first_column, w, z->o->tmp)
                    || lat_overlap_norm(z->s, w, &norm));
    if (rc == 0 && norm * norm > 4 * z->zero)
        rc = beside(z, t, w, &rest);
    if (rc == 0 && rest > NEW) {
        rc = measure(z, t->c, w, &value, &residual);
        if (rc == 0 && residual <= z->tolerance) {
            t->complete = false;
            return insert(t, w, value, residual);
        }
    }
    lat_dfield_free(w);
    return rc;
}

/* No more than are wanted. */
static void cut(const spectrum *z, side *t)
{
    while (t->m.count > z->want)
        lat_dfield_free(t->m.vector[--t->m.count]);
    for (t->zeros = 0; t->zeros < t->m.count && t->m.value[t->zeros] <= z->zero; t->zeros++)
        ;
}

/* ---- searches -------------------------------------------------------------------------------- */

typedef struct chiral {
    lat_overlap *o;
    int c, level;
} chiral;

static int apply(const lat_hermitian *h, lat_dfield *out, lat_dfield *in,
                 LAT_UNUSED const lat_apply_end *end)
{
    const chiral *w = h->with;
    return lat_overlap_chiral(w->o, w->c, w->level, &lat_first_column, out, in);
}

/* A partner's residual is 1/(2 sqrt(x (1 - x))) times that of its mode. */
static double tolerance_at(double x)
{
    return .9 * (x > 1e-6 && x < .8 ? fmin(1, 2 * sqrt(x * (1 - x))) : 1);
}

/* How many spinors of one chirality there are. */
static size_t dimension_of(const lat_overlap *o)
{
    return 2 * (size_t)o->space->nc * lat_volume(&o->grid->spec.lattice);
}

static int show(void *with, int converged, int of, double residual, long applications)
{
    const spectrum *z = with;
    char text[LAT_LEFT];
    lat_progress("modes of chirality %+d: %d of %d  %s%ld applications", z->c, converged, of,
                 lat_residual_text(residual, text), applications);
    return 0;
}

/* The modes that are lacking in a chirality, by the sign function at a level. */
static int lacking(spectrum *z, const side *t, int level, lat_modes *found)
{
    const chiral with = {z->o, t->c, level};
    const lat_hermitian h = {
        .space = z->s, .parity = LAT_BOTH, .positive = true, .apply = apply, .with = (void *)&with};
    const lat_modes_job job = {.op = &h,
                               .low = z->want,
                               .high = z->want,
                               .tolerance = z->tolerance,
                               .max_applications = 10000000,
                               .memory = z->o->memory,
                               .progress = show,
                               .with = z};
    const lat_sign *sign = z->o->sign;
    const lat_modes_known known = {
        .m = &t->m,
        .start = z->start,
        .dimension = dimension_of(z->o),
        .tolerance = tolerance_at,
        .error = level ? (lat_sign_delta(sign, level) + lat_sign_delta(sign, 0)) / 2 : 0};
    z->c = t->c;
    return lat_rc(z->s->ops->random(z->s, &lat_first_column, ++z->seed, z->start)
                  || lat_chirality(z->s, t->c, &lat_first_column, z->start, z->o->tmp)
                  || lat_modes_complete(&job, &known, found));
}

/* Those that are found, and their partners. */
static int take(spectrum *z, side *t, side *other, lat_modes *found)
{
    for (int k = 0; k < found->count; k++) {
        lat_dfield *w = found->vector[k];
        double value, residual;
        if (measure(z, t->c, w, &value, &residual) || insert(t, w, value, residual))
            return -1;
        found->vector[k] = NULL; /* it belongs to t */
        if (value > z->zero && add_partner(z, other))
            return -1;
    }
    return 0;
}

/* Where nothing seems to lack, a sign function of less accuracy tells, unless others are near. */
static int search(spectrum *z, side *t, side *other)
{
    lat_modes found = {.count = 0};
    const int level = t->m.count == z->want
                          ? lat_sign_level(z->o->sign, LOOK * t->m.value[z->want - 1])
                          : 0;
    int rc = level ? lacking(z, t, level, &found) : 0;
    if (rc == 0 && !found.converged) {
        lat_modes_free(&found);
        rc = lacking(z, t, 0, &found);
        if (rc == 0 && !found.converged)
            rc = lat_fail("lowest eigenvalues of D: expected residuals of %.3g, found %.3g",
                          z->tolerance, found.worst);
    }
    t->complete = found.count == 0;
    rc = rc || take(z, t, other, &found) ? -1 : 0;
    lat_modes_free(&found);
    cut(z, t);
    cut(z, other);
    return rc;
}

/* Is t known, by a search, or, where there are no zero modes, by one of the other chirality? */
static bool settled(const spectrum *z, const side *t, const side *other)
{
    return t->complete
           || (other->complete && t->m.count == z->want && t->zeros == 0 && other->zeros == 0);
}

static int iterate(spectrum *z)
{
    for (int k = 0; !settled(z, &z->side[0], &z->side[1]) || !settled(z, &z->side[1], &z->side[0]);
         k = !k)
        if (!settled(z, &z->side[k], &z->side[!k]) && search(z, &z->side[k], &z->side[!k]))
            return -1;
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int hand_over(const spectrum *z, double *value, double *residual, lat_field *modes)
{
    for (int i = 0; i < 2; i++) {
        const side *t = &z->side[i];
        memcpy(value + i * z->want, t->m.value, sizeof *value * (size_t)z->want);
        memcpy(residual + i * z->want, t->m.residual, sizeof *value * (size_t)z->want);
        for (int k = 0; modes && k < z->want; k++)
            if (lat_spinor_get(z->s, t->m.vector[k], 0, modes, i * z->want + k))
                return -1;
    }
    return 0;
}

int lat_overlap_spectrum(lat_overlap *o, int count, double tolerance, double *value,
                         double *residual, lat_field *modes)
{
    const double mu = o->mu;
    lat_dfield *v[3] = {NULL};
    spectrum z = {.o = o,
                  .s = o->space,
                  .want = count,
                  .tolerance = tolerance,
                  .zero = tolerance + lat_sign_bound(o->sign) / 2 + 1e-12,
                  .side = {{.c = 1}, {.c = -1}},
                  .seed = 6};
    if ((size_t)count >= dimension_of(o))
        return lat_fail("lowest eigenvalues of D: expected fewer than the %zu that there are in a "
                        "chirality, found %d",
                        dimension_of(o), count);
    int rc = lat_vector_new_all(o->space, 3, v, "the spectrum of D");
    z.start = v[0];
    z.image = v[1];
    z.partner = v[2];
    o->mu = 0;
    rc = rc || iterate(&z) || hand_over(&z, value, residual, modes) ? -1 : 0;
    o->mu = mu;
    lat_vector_free_all(3, v);
    lat_modes_free(&z.side[0].m);
    lat_modes_free(&z.side[1].m);
    return rc;
}
