/* SPDX-License-Identifier: BSD-3-Clause */
/* sign.c: Clenshaw's recursion, products, shifted conjugate gradients. */
#include "sign.h"

#include <math.h>
#include <stdlib.h>
#include "algebra.h"
#include "base/error.h"
#include "base/memory.h"
#include "factors.h"
#include "projection.h"
#include "solve/krylov.h"

typedef lat_scalar scalars[LAT_VECTOR_COLUMNS];

/* Where polynomials are evaluated: in a precision. */
typedef struct side {
    lat_dirac *h; /* NULL: there is none */
    double epsilon;
    lat_dfield *psi, *d[2];               /* what is worked on; Clenshaw's two, or the product */
    lat_dfield *middle;                   /* between hops; NULL: no shifts at their ends */
    lat_factors product[LAT_SIGN_LEVELS]; /* of a polynomial, where that is what is used */
    bool factored[LAT_SIGN_LEVELS];       /* product has been made, or has no place */
} side;

struct lat_sign {
    lat_space *space;
    side fine, coarse;
    const lat_modes *modes;
    lat_sign_options options;
    double lower, upper; /* the interval of f */
    int levels;
    double delta[LAT_SIGN_LEVELS]; /* the error of each */
    lat_minmax poly[LAT_SIGN_LEVELS];
    lat_zolotarev rational;
    double tolerance[LAT_SIGN_LEVELS]; /* of conjugate gradients */
    double kappas;                     /* kappa+ + kappa- */
    lat_dfield *x[LAT_ZOLOTAREV_POLES];
    lat_projection projection;
    lat_system system;
    long applications;
};

/* ---- the polynomial -------------------------------------------------------------------------- */

static const double *every(const lat_part *p, double a, double *to)
{
    LAT_FOR_COLUMNS (k, p)
        to[k] = a;
    return to;
}

static const lat_scalar *each(const lat_part *p, double a, lat_scalar *to)
{
    LAT_FOR_COLUMNS (k, p)
        to[k] = (lat_scalar){a, 0};
    return to;
}

/* d_j = 2 z d_{j+1} - d_{j+2} + c_j psi with z = (2 X^2 - 1 - epsilon)/(1 - epsilon), so that
 * 2 z = r1 H^2 + r2, r1 = 4/(|H|^2 (1 - epsilon)), r2 = -2 (1 + epsilon)/(1 - epsilon).
 *
 * Fields are added to, so signs are chosen to make the minus a plus: with e_j = s_j d_j and
 * s = 1, 1, -1, -1, 1, .. from the highest j on, e_j = s_j s_{j+1} 2 z e_{j+1} + e_{j+2} + s_j c_j
 * psi, and the place of e_{j+2} becomes e_j. */
typedef struct clenshaw {
    double r1, r2;
    const lat_minmax *p;
} clenshaw;

static double sign_of(int n, int j) { return (n - j) % 4 < 2 ? 1 : -1; }

/* e += r (half of it at the end) of 2 z from, and c psi. */
static int step(lat_sign *s, const side *on, const lat_part *p, const clenshaw *k, int j,
                lat_dfield *e, lat_dfield *from, lat_dfield *psi)
{
    const int n = k->p->degree;
    const double factor = sign_of(n, j) * sign_of(n, j + 1) * (j ? 1 : .5);
    const lat_dirac_matrix h = {LAT_FULL, LAT_GAMMA5}, normal = {LAT_FULL, LAT_NORMAL};
    double add[LAT_VECTOR_COLUMNS], a[LAT_VECTOR_COLUMNS], b[LAT_VECTOR_COLUMNS];
    const lat_apply_end end = {
        .add = every(p, factor * k->r1, add),
        .terms = 2,
        .by = {every(p, factor * k->r2, a), every(p, sign_of(n, j) * k->p->c[j], b)},
        .more = {from, psi}};
    s->applications += 2 * p->columns;
    if (!on->h->fuses)
        return on->h->ops->apply(on->h, normal, p, e, from, &end);
    /* r1 H^2 + r2 = r1 (H - shift)(H + shift): what a hop reads beside its sum is at hand. */
    const double shift = sqrt(-k->r2 / k->r1);
    const lat_apply_end up = {.shift = {shift, 0}}, down = {.add = end.add,
                                                            .shift = {-shift, 0},
                                                            .terms = 1,
                                                            .by = {end.by[1]},
                                                            .more = {psi}};
    return lat_rc(on->h->ops->apply(on->h, h, p, on->middle, from, &up)
                  || on->h->ops->apply(on->h, h, p, e, on->middle, &down));
}

/* out = factor (H + shift) in. */
static int shifted(lat_sign *s, const side *on, const lat_part *p, lat_scalar shift, double factor,
                   lat_dfield *out, lat_dfield *in)
{
    const lat_apply_end end = {.shift = shift, .factor = factor};
    s->applications += p->columns;
    return on->h->ops->apply(on->h, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5}, p, out, in, &end);
}

static double rounding_of(const lat_sign *s, const side *on, int level)
{
    const lat_factors *f = &on->product[level];
    return f->degree ? f->error + on->epsilon * f->rounding : on->epsilon * s->poly[level].degree;
}

/* In the coarse precision a bound of rounding may be so many times the error of a polynomial: what
 * is found is a third of it or less. */
static const double COARSE = 4;

/* Makes the product of a polynomial, unless rounding adds too much to its error (a tenth; COARSE),
 * or the device has no shifts at the end of hops. */
static void factorise(lat_sign *s, side *on, int level)
{
    const lat_sign_series series = s->options.series;
    const lat_minmax *m = &s->poly[level];
    const double most = series == LAT_SIGN_PRODUCT ? INFINITY
                        : on == &s->coarse         ? COARSE * m->delta
                                                   : m->delta / 10;
    if (on->factored[level])
        return;
    on->factored[level] = true;
    if (series == LAT_SIGN_CLENSHAW || (series == LAT_SIGN_AUTO && !on->h->fuses)
        || m->degree > LAT_FACTORS_DEGREE)
        return;
    if (lat_agree(s->space->grid->dev->comm, lat_factors_new(&on->product[level], m))
        || rounding_of(s, on, level) > most) {
        lat_factors_free(&on->product[level]);
        lat_error_clear(); /* the recursion does as well */
    }
}

/* The precision for a level: the full accuracy is not coarse. */
static side *side_for(lat_sign *s, int level)
{
    if (!level || !s->coarse.h)
        return &s->fine;
    factorise(s, &s->coarse, level);
    return rounding_of(s, &s->coarse, level) <= COARSE * s->delta[level] ? &s->coarse : &s->fine;
}

/* out = f(H) psi, factor by factor. */
static int product(lat_sign *s, const side *on, const lat_factors *f, const lat_part *p,
                   lat_dfield *out, lat_dfield *psi)
{
    const double norm = s->upper;
    lat_dfield *from = psi;
    for (int k = 0; k < f->degree; k++) {
        const lat_scalar up = {norm * f->w[k].re, norm * f->w[k].im}, down = {-up.re, -up.im};
        if (shifted(s, on, p, up, 1 / norm, on->middle, from)
            || shifted(s, on, p, down, f->f[k] / norm, on->d[0], on->middle))
            return -1;
        from = on->d[0];
    }
    return shifted(s, on, p, (lat_scalar){0, 0}, 1 / norm, out, from);
}

/* out = f(H) psi, by Clenshaw's recursion. */
static int recursion(lat_sign *s, const side *on, int level, const lat_part *p, lat_dfield *out,
                     lat_dfield *psi)
{
    const lat_minmax *m = &s->poly[level];
    lat_space *const space = on->h->space;
    const double norm = s->upper, e = m->epsilon;
    const clenshaw k = {4 / (norm * norm * (1 - e)), -2 * (1 + e) / (1 - e), m};
    lat_dfield *now = on->d[0], *before = on->d[1];
    if (space->ops->zero(space, p, now) || space->ops->zero(space, p, before)
        || lat_overlap_mix(space, p, m->c[m->degree], psi, 0, now, NULL))
        return -1;
    for (int j = m->degree - 1; j >= 0; j--) {
        if (step(s, on, p, &k, j, before, now, psi))
            return -1;
        lat_dfield *swap = now;
        now = before;
        before = swap;
    }
    /* out = H P psi / |H|: once more gamma5 M. */
    const lat_scalar none = {0, 0};
    return shifted(s, on, p, none, sign_of(m->degree, 0) / norm, out, now);
}

/* out = f(H) s->fine.psi */
static int polynomial(lat_sign *s, int level, const lat_part *p, lat_dfield *out)
{
    side *const on = side_for(s, level);
    const bool converts = on == &s->coarse;
    lat_space *const fine = s->space, *const coarse = on->h->space; /* if it converts */
    lat_dfield *const result = converts ? on->psi : out;            /* psi has been read by then */
    factorise(s, on, level);
    const lat_factors *f = &on->product[level];
    if (converts && coarse->ops->convert(coarse, p, fine, s->fine.psi, on->psi))
        return -1;
    if (f->degree ? product(s, on, f, p, result, on->psi)
                  : recursion(s, on, level, p, result, on->psi))
        return -1;
    return converts ? fine->ops->convert(fine, p, coarse, result, out) : 0;
}

/* ---- the rational function ------------------------------------------------------------------- */

static int system_apply(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                        const lat_apply_end *end)
{
    lat_sign *s = with;
    s->applications += p->columns;
    lat_dirac *h = s->fine.h;
    return h->ops->apply(h, (lat_dirac_matrix){LAT_FULL, dagger ? LAT_DAGGER : LAT_PLAIN}, p, out,
                         in, end);
}

static lat_dfield *system_vector(void *with, const char *what)
{
    return lat_vector_raw(((lat_sign *)with)->space, what);
}

static void system_release(LAT_UNUSED void *with, lat_dfield *v) { lat_dfield_free(v); }

/* sum_l residue_l x_l to fine.d[0]. */
static int sum_poles(lat_sign *s, const lat_part *p)
{
    const int poles = s->rational.poles;
    if (s->space->ops->zero(s->space, p, s->fine.d[0]))
        return -1;
    for (int l = 0; l < poles; l += LAT_VECTOR_TERMS) {
        const int n = poles - l < LAT_VECTOR_TERMS ? poles - l : LAT_VECTOR_TERMS;
        scalars by[LAT_VECTOR_TERMS];
        const lat_scalar *a[LAT_VECTOR_TERMS];
        const lat_dfield *x[LAT_VECTOR_TERMS];
        for (int j = 0; j < n; j++) {
            a[j] = each(p, s->rational.residue[l + j], by[j]);
            x[j] = s->x[l + j];
        }
        if (s->space->ops->axpys(s->space, p, n, a, x, s->fine.d[0], NULL))
            return -1;
    }
    return 0;
}

/* The error of sum_l residue_l H (H^2 + c_l)^-1 is at most (1 + delta) times the residual of the
 * first shift, which is the largest of all. */
static int rational(lat_sign *s, int level, const lat_part *p, lat_dfield *out, lat_dfield *psi)
{
    double target[LAT_VECTOR_COLUMNS], shift[LAT_ZOLOTAREV_POLES];
    lat_solve_report report[LAT_VECTOR_COLUMNS];
    const lat_equation equation = {
        .outer = &s->system,
        .inner = &s->system,
        .b = psi,
        .target = target,
        .max_iterations = 100000,
    };
    if (s->space->ops->dots(s->space, p, 0, NULL, psi, NULL, target))
        return -1;
    LAT_FOR_COLUMNS (k, p)
        target[k] = sqrt(target[k]) * s->tolerance[level];
    for (int l = 0; l < s->rational.poles; l++)
        shift[l] = s->rational.c[2 * l + 1];
    if (lat_multishift(&equation, s->rational.poles, shift, s->x, p->columns, p->column, report))
        return -1;
    LAT_FOR_COLUMNS (k, p)
        if (report[k].end != LAT_END_CONVERGED)
            return lat_fail("sign function: expected a residual of %.3g of shifted conjugate "
                            "gradients, they ended at %.3g: %s",
                            target[k], report[k].residual, lat_end_text(report[k].end));
    s->applications += p->columns;
    return lat_rc(sum_poles(s, p)
                  || s->fine.h->ops->apply(s->fine.h, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5}, p,
                                           out, s->fine.d[0], NULL));
}

/* ---- both ------------------------------------------------------------------------------------ */

int lat_sign_apply(lat_sign *s, int level, const lat_part *p, lat_dfield *out, lat_dfield *in)
{
    if (p->columns == 0)
        return 0;
    lat_dfield *const psi = s->fine.psi;
    if (s->space->ops->copy(s->space, p, in, psi)
        || lat_projection_take_out(&s->projection, p, psi))
        return -1;
    if (s->options.method == LAT_SIGN_ZOLOTAREV ? rational(s, level, p, out, psi)
                                                : polynomial(s, level, p, out))
        return -1;
    return lat_projection_put_back(&s->projection, p, out);
}

int lat_sign_level(const lat_sign *s, double delta)
{
    int level = 0;
    while (level + 1 < s->levels && s->delta[level + 1] <= delta)
        level++;
    return level;
}

double lat_sign_delta(const lat_sign *s, int level) { return s->delta[level]; }

double lat_sign_rounding(const lat_sign *s, int level) { return rounding_of(s, &s->fine, level); }

double lat_sign_bound(const lat_sign *s) { return 2 * s->kappas + s->delta[0]; }
long lat_sign_applications(const lat_sign *s) { return s->applications; }

int lat_sign_order(const lat_sign *s)
{
    return s->options.method == LAT_SIGN_ZOLOTAREV ? s->rational.poles : s->poly[0].degree;
}

void lat_sign_interval(const lat_sign *s, double *lower, double *upper)
{
    *lower = s->lower;
    *upper = s->upper;
}

double lat_sign_at(const lat_sign *s, double x)
{
    const double y = x / s->upper;
    return s->options.method == LAT_SIGN_ZOLOTAREV ? lat_zolotarev_at(&s->rational, x)
                                                   : y * lat_minmax_at(&s->poly[0], y * y);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* max |1 - f| where the spectrum is, if the interval does not hold it: on a fine grid. */
static double forced_delta(const lat_sign *s)
{
    enum { GRID = 100000 };
    const double a = s->modes->rest, b = s->modes->norm;
    double most = 0;
    for (int i = 0; i <= GRID; i++)
        most = fmax(most, fabs(1 - lat_sign_at(s, a + (b - a) * i / GRID)));
    return most;
}

static int set_interval(lat_sign *s)
{
    const lat_sign_options *o = &s->options;
    const lat_modes *m = s->modes;
    s->lower = o->lower > 0 ? o->lower : m->rest;
    s->upper = o->upper > 0 ? o->upper : m->norm;
    if (!(s->lower > 0) || !(s->upper > s->lower))
        return lat_fail("sign function: expected an interval of positive numbers, found [%.8g, "
                        "%.8g]",
                        s->lower, s->upper);
    if (!o->force && (s->lower > m->rest || s->upper < m->norm))
        return lat_fail("sign function: the interval [%.8g, %.8g] does not hold the spectrum of "
                        "|H|: besides %d modes that are projected, it is [%.8g, %.8g]",
                        s->lower, s->upper, m->count, m->rest, m->norm);
    return 0;
}

static int open_minmax(lat_sign *s)
{
    const double epsilon = s->lower / s->upper * (s->lower / s->upper);
    const int order = s->options.order;
    if (order ? lat_minmax_new(&s->poly[0], epsilon, order)
              : lat_minmax_for(&s->poly[0], epsilon, s->options.delta))
        return -1;
    s->delta[0] = s->poly[0].delta;
    const double a = sqrt(epsilon), rate = log1p(a) - log1p(-a);
    for (s->levels = 1; s->levels < LAT_SIGN_LEVELS; s->levels++) {
        const int k = s->levels, down = (int)ceil(2.3 / rate), d = s->poly[k - 1].degree - down;
        if (d < 1)
            break;
        if (lat_minmax_new(&s->poly[k], epsilon, d))
            return -1;
        s->delta[k] = s->poly[k].delta;
    }
    return 0;
}

static int open_zolotarev(lat_sign *s)
{
    const int order = s->options.order;
    const double tolerance = s->options.delta / 2;
    if (order ? lat_zolotarev_new(&s->rational, s->lower, s->upper, order)
              : lat_zolotarev_for(&s->rational, s->lower, s->upper, s->options.delta / 2))
        return -1;
    s->tolerance[0] = tolerance / (1 + s->rational.delta);
    s->delta[0] = s->rational.delta + tolerance;
    for (s->levels = 1; s->levels < LAT_SIGN_LEVELS; s->levels++) {
        const int k = s->levels;
        s->tolerance[k] = s->tolerance[k - 1] * 10;
        s->delta[k] = s->rational.delta + s->tolerance[k];
        if (s->delta[k] > .1)
            break;
    }
    if (lat_vector_new_all(s->space, s->rational.poles, s->x, "shifted solutions"))
        return -1;
    s->system = (lat_system){.space = s->space,
                             .parity = LAT_BOTH,
                             .epsilon = 0x1p-53,
                             .apply = system_apply,
                             .vector = system_vector,
                             .release = system_release,
                             .with = s};
    return 0;
}

static int open_modes(lat_sign *s)
{
    const lat_modes *m = s->modes;
    double *gap = lat_alloc((size_t)m->count + 1, sizeof *gap, "gaps of modes");
    if (gap && m->count) {
        lat_modes_gaps(m->count, m->value, m->rest, false, gap);
        s->kappas = lat_modes_kappa(m->count, m->value, m->residual, gap, 1)
                    + lat_modes_kappa(m->count, m->value, m->residual, gap, -1);
    }
    free(gap);
    if (!isfinite(s->kappas))
        return lat_fail("sign function: expected a gap above the %d modes that are projected, "
                        "found that the next one has the same modulus, %.10g: project more or "
                        "fewer",
                        m->count, fabs(m->value[m->count - 1]));
    return gap ? lat_projection_open(&s->projection, s->space, m) : -1;
}

static int open_side(side *on, const lat_sign *s, lat_dirac *h)
{
    static const char what[] = "the sign function";
    const bool product = h->fuses || s->options.series == LAT_SIGN_PRODUCT;
    lat_space *const space = h->space;
    on->h = h;
    on->epsilon = space->grid->spec.storage == LAT_STORAGE_DOUBLE ? 0x1p-53 : 0x1p-24;
    return lat_rc(!(on->psi = lat_vector_new(space, what))
                  || lat_vector_new_all(space, 2, on->d, what)
                  || (product && !(on->middle = lat_vector_new(space, what))));
}

static void close_side(side *on)
{
    lat_vector_free_all(4, (lat_dfield *const[]){on->psi, on->d[0], on->d[1], on->middle});
    for (int k = 0; k < LAT_SIGN_LEVELS; k++)
        lat_factors_free(&on->product[k]);
}

lat_sign *lat_sign_open(lat_dirac *h, lat_dirac *coarse, const lat_modes *modes,
                        const lat_sign_options *options)
{
    lat_sign *s = lat_alloc_zero(1, sizeof *s, "the sign function");
    if (!s)
        return NULL;
    s->space = h->space;
    s->modes = modes;
    s->options = *options;
    if (set_interval(s) || open_modes(s) || open_side(&s->fine, s, h)
        || (coarse && options->method == LAT_SIGN_MINMAX && open_side(&s->coarse, s, coarse))
        || (options->method == LAT_SIGN_ZOLOTAREV ? open_zolotarev(s) : open_minmax(s))) {
        lat_sign_close(s);
        return NULL;
    }
    if (s->lower > modes->rest || s->upper < modes->norm) {
        s->delta[0] = fmax(s->delta[0], forced_delta(s));
        s->levels = 1; /* shorter series are worse outside of the interval */
    }
    return s;
}

void lat_sign_close(lat_sign *s)
{
    if (!s)
        return;
    for (int k = 0; k < LAT_SIGN_LEVELS; k++)
        lat_minmax_free(&s->poly[k]);
    lat_vector_free_all(LAT_ZOLOTAREV_POLES, s->x);
    close_side(&s->fine);
    close_side(&s->coarse);
    lat_projection_close(&s->projection);
    free(s);
}
