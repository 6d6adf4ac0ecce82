/* SPDX-License-Identifier: BSD-3-Clause */
/* check_overlap: polynomials and rational functions of the sign against published numbers, the
 * sign function and the overlap operator by their properties, solutions against the operator that
 * certifies them, at every accuracy that is asked for. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/threads.h"
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "overlap/factors.h"
#include "overlap/index.h"
#include "certify/plain_overlap.h"
#include "overlap/solve.h"
#include "overlap/spectrum.h"

static lat_device *device;

/* ---- approximations -------------------------------------------------------------------------- */

/* Errors of minmax polynomials for epsilon = .01, by another program (Remez's algorithm in numpy,
 * on a grid of 400001 angles). Ours alternates between `level` and `delta`, which enclose them. */
static void check_minmax(void)
{
    static const struct {
        int degree;
        double delta;
    } known[] = {{10, 5.8200227e-2}, {20, 5.9305672e-3}, {30, 6.6868166e-4}, {50, 9.5825711e-6}};
    check_case("minmax polynomials have the errors that are known");
    for (int i = 0; i < 4; i++) {
        lat_minmax p;
        CHECK(lat_minmax_new(&p, .01, known[i].degree) == 0, "%s", lat_error());
        CHECK(fabs(p.level / known[i].delta - 1) < 2e-6, "degree %d: %.9e, expected %.9e",
              known[i].degree, p.level, known[i].delta);
        CHECK(p.delta >= p.level && p.delta < 1.01 * p.level, "degree %d: bound %.9e, level %.9e",
              known[i].degree, p.delta, p.level);
        double most = 0;
        for (double x = .1; x <= 1; x += 1e-5)
            most = fmax(most, fabs(1 - x * lat_minmax_at(&p, x * x)));
        CHECK(most <= p.delta, "degree %d: an error of %.9e, above the bound %.9e", known[i].degree,
              most, p.delta);
        lat_minmax_free(&p);
    }
    check_case("the degree follows from the error that is asked for");
    for (double delta = 1e-2; delta > 1e-13; delta *= 1e-5) {
        lat_minmax p, less;
        CHECK(lat_minmax_for(&p, 2e-3, delta) == 0, "%s", lat_error());
        CHECK(p.delta <= delta, "asked for %g, found %g", delta, p.delta);
        CHECK(lat_minmax_new(&less, 2e-3, p.degree - 3) == 0 && less.delta > delta,
              "degree %d for %g is more than needed", p.degree, delta);
        lat_minmax_free(&p);
        lat_minmax_free(&less);
    }
    lat_minmax p;
    CHECK(lat_minmax_for(&p, 1e-9, 1e-10) == -1 && strstr(lat_error(), "project more modes"),
          "a degree beyond all bounds: %s", lat_error());
    lat_error_clear();
}

/* Of (-1/2, 1/2). */
static double centred(void)
{
    static uint64_t state = 88172645463325252u;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53 - .5;
}

/* The product of factors in numbers that are rounded as parts of one vector are, by epsilon times
 * the vector's length: off by what `rounding` says at most, and not by much less. */
static void check_factors(void)
{
    enum { N = 400 };
    static const struct {
        double lower;
        int degree;
    } of[] = {{.6, 1}, {.6, 4}, {.3, 21}, {.1, 60}, {.047, 40}, {.03, 201}, {.02, 400}};
    check_case("a minmax polynomial is the product of its factors");
    for (int i = 0; i < 7; i++) {
        const double a = of[i].lower, epsilon = 0x1p-30;
        double complex v[N];
        lat_minmax p;
        lat_factors f;
        if (!CHECK(lat_minmax_new(&p, a * a, of[i].degree) == 0 && lat_factors_new(&f, &p) == 0,
                   "%s", lat_error()))
            return;
        CHECK(f.degree == p.degree && f.error < 1e-13 + 1e-15 * f.degree, "degree %d: error %g",
              p.degree, f.error);
        double off = 0;
        for (int g = 0; g < N; g++)
            v[g] = 1;
        for (int k = 0; k < 2 * f.degree; k++) {
            const double complex w = f.w[k / 2].re + I * f.w[k / 2].im;
            double square = 0;
            for (int g = 0; g < N; g++) {
                const double x = (g % 2 ? 1 : -1) * (a + (1 - a) * (g / 2) / (N / 2 - 1));
                v[g] *= k % 2 ? f.f[k / 2] * (x - w) : x + w;
                square += creal(v[g] * conj(v[g]));
            }
            for (int g = 0; g < N; g++)
                v[g] += epsilon * sqrt(square / N) * 2 * (centred() + I * centred());
        }
        for (int g = 0; g < N; g++) {
            const double x = a + (1 - a) * (g / 2) / (N / 2 - 1),
                         d = x * cabs(v[g] - lat_minmax_at(&p, x * x));
            off += d * d / N;
        }
        off = sqrt(off) / epsilon;
        CHECK(off <= 2 * f.rounding && off >= f.rounding / 50,
              "degree %d on [%g, 1]: off by %.3g epsilon, rounding %.3g", p.degree, a, off,
              f.rounding);
        lat_factors_free(&f);
        lat_minmax_free(&p);
    }
    lat_minmax large = {.degree = LAT_FACTORS_DEGREE + 1, .epsilon = .1};
    lat_factors f;
    CHECK(lat_factors_new(&f, &large) == -1 && strstr(lat_error(), "expected a degree"), "%s",
          lat_error());
    lat_error_clear();
}

static void check_zolotarev(void)
{
    static const double known[] = {0, .48564526, 4.2659562, 37.4725827};
    lat_zolotarev r;
    check_case("Zolotarev's function has the coefficients that are published");
    CHECK(lat_zolotarev_new(&r, .66, 6.46357, 2) == 0, "%s", lat_error());
    CHECK(fabs(r.factor / 11.048092856 - 1) < 1e-10, "factor %.12g", r.factor);
    for (int l = 1; l <= 3; l++)
        CHECK(fabs(r.c[l] / known[l] - 1) < 2e-8, "c_%d is %.12g", l, r.c[l]);
    for (int poles = 1; poles < 16; poles += 3) {
        double most = 0;
        CHECK(lat_zolotarev_new(&r, .01, 7, poles) == 0, "%s", lat_error());
        for (int i = 0; i <= 50000; i++) {
            const double x = .01 * pow(700, i / 50000.);
            double sum = 0;
            for (int l = 0; l < poles; l++)
                sum += r.residue[l] * x / (x * x + r.c[2 * l + 1]);
            most = fmax(most, fabs(1 - sum));
        }
        CHECK(fabs(most - r.delta) <= 1e-3 * r.delta + 1e-14, "%d poles: error %g, stated %g",
              poles, most, r.delta);
    }
}

/* ---- the operator ---------------------------------------------------------------------------- */

enum { COLUMNS = 3 };
static const int all[COLUMNS] = {0, 1, 2};
static const lat_part every = {LAT_BOTH, COLUMNS, all};

typedef struct setup {
    lat_field u;
    lat_overlap *o;
    lat_dfield *v[4];
} setup;

static lat_fermion fermion_of(double m0, double mu)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "overlap");
    f.m0 = m0;
    f.mass = mu;
    f.boundary[3].theta = 1;
    return f;
}

static bool set_up(setup *t, const char *dims, double rough, double mu,
                   const lat_overlap_options *options)
{
    lat_overlap_options o = *options;
    const lat_fermion f = fermion_of(1.4, mu);
    memset(t, 0, sizeof *t);
    o.columns = COLUMNS;
    t->u = field_new(LAT_GAUGE, geometry_of(dims), 3, LAT_F64);
    fill_near_one(&t->u, rough, 7);
    need(lat_field_exchange(&t->u) == 0, "ghosts");
    t->o = lat_overlap_open(device, &t->u, &f, &o);
    for (int i = 0; i < 4 && t->o; i++) {
        t->v[i] = lat_vector_new(t->o->space, "a field");
        need(t->v[i] && t->o->space->ops->random(t->o->space, &every, (uint64_t)i, t->v[i]) == 0,
             "a field");
    }
    return t->o != NULL;
}

static void tear_down(setup *t)
{
    for (int i = 0; i < 4; i++)
        lat_dfield_free(t->v[i]);
    lat_overlap_close(t->o);
    lat_field_free(&t->u);
}

static lat_scalar factors[2][COLUMNS] = {{{-1, 0}, {-1, 0}, {-1, 0}}, {{0, 0}, {0, 0}, {0, 0}}};

/* max over columns of |x - y|/|y|; x is overwritten. */
static double apart(setup *t, lat_dfield *x, const lat_dfield *y)
{
    double off[COLUMNS], size[COLUMNS], most = 0;
    lat_space *s = t->o->space;
    need(s->ops->axpby(s, &every, factors[0], y, NULL, x, off) == 0
             && s->ops->dots(s, &every, 0, NULL, y, NULL, size) == 0,
         "norms");
    for (int c = 0; c < COLUMNS; c++)
        most = fmax(most, sqrt(off[c] / size[c]));
    return most;
}

/* sign(H)^2 = 1 to (1 + delta)^2 - 1, with rounding of 2 n applications. */
static double square_off(setup *t)
{
    need(!lat_sign_apply(t->o->sign, 0, &every, t->v[1], t->v[0])
             && !lat_sign_apply(t->o->sign, 0, &every, t->v[2], t->v[1]),
         "the sign function");
    return apart(t, t->v[2], t->v[0]);
}

/* |(gamma5 D + D gamma5 - 2 D gamma5 D) v|/|v| of D(0). */
static double ginsparg_wilson(setup *t)
{
    lat_space *s = t->o->space;
    lat_dfield *sum = t->v[1], *d = t->v[2], *w = t->v[3];
    lat_scalar two[COLUMNS] = {{-2, 0}, {-2, 0}, {-2, 0}};
    double off[COLUMNS], size[COLUMNS], most = 0;
    need(!lat_overlap_apply(t->o, LAT_OVERLAP_D, 0, &every, d, t->v[0])
             && !s->ops->gamma5(s, &every, d) && !s->ops->copy(s, &every, d, sum)
             && !lat_overlap_apply(t->o, LAT_OVERLAP_D, 0, &every, w, d)
             && !s->ops->axpby(s, &every, two, w, NULL, sum, NULL)
             && !s->ops->copy(s, &every, t->v[0], d) && !s->ops->gamma5(s, &every, d)
             && !lat_overlap_apply(t->o, LAT_OVERLAP_D, 0, &every, w, d)
             && !s->ops->axpby(s, &every, NULL, w, NULL, sum, off)
             && !s->ops->dots(s, &every, 0, NULL, t->v[0], NULL, size),
         "Ginsparg and Wilson's relation");
    for (int c = 0; c < COLUMNS; c++)
        most = fmax(most, sqrt(off[c] / size[c]));
    return most;
}

static void check_accuracies(void)
{
    static const char *const words[] = {
        "minmax: sign^2 = 1 and Ginsparg and Wilson's relation to what was asked for",
        "zolotarev: sign^2 = 1 and Ginsparg and Wilson's relation to what was asked for"};
    for (int method = 0; method < 2; method++) {
        device_case(device, words[method]);
        for (double delta = 1e-4; delta > 1e-13; delta *= 1e-4) {
            lat_overlap_options o;
            setup t;
            lat_overlap_usual(&o);
            o.sign.method = (lat_sign_method)method;
            o.sign.delta = delta;
            if (!CHECK(set_up(&t, "4 4 2 4", .3, 0, &o), "%s", lat_error()))
                return;
            const double square = square_off(&t), gw = ginsparg_wilson(&t);
            double defect = 0;
            const int bad = lat_overlap_verify(t.o, &defect);
            CHECK(lat_sign_delta(t.o->sign, 0) <= delta * 1.001, "stated %g",
                  lat_sign_delta(t.o->sign, 0));
            CHECK(square <= 2.1 * delta + 1e-13, "sign^2 is off by %g", square);
            CHECK(square >= 1e-3 * delta, "sign^2 is off by %g alone: more work than was asked for",
                  square);
            CHECK(gw <= 10 * delta, "Ginsparg and Wilson's relation is off by %g", gw);
            CHECK(!bad, "%s", lat_error());
            tear_down(&t);
        }
    }
}

/* With and without projected modes, by polynomial and rational function: one operator. */
static void check_methods(void)
{
    lat_overlap_options o;
    setup t, r;
    device_case(device, "all ways to the sign function agree");
    lat_overlap_usual(&o);
    o.sign.delta = 1e-12;
    if (!CHECK(set_up(&t, "4 4 2 4", .4, .1, &o), "%s", lat_error()))
        return;
    for (int way = 0; way < 4; way++) {
        lat_overlap_options other = o;
        lat_field host = field_new(LAT_SPINOR, t.u.head.geom, 3, LAT_F64);
        other.sign.method = way == 1 ? LAT_SIGN_ZOLOTAREV : LAT_SIGN_MINMAX;
        other.sign.series = way == 2   ? LAT_SIGN_PRODUCT
                            : way == 3 ? LAT_SIGN_CLENSHAW
                                       : LAT_SIGN_AUTO;
        if (way == 0)
            other.low = other.high = 0;
        CHECK(set_up(&r, "4 4 2 4", .4, .1, &other), "%s", lat_error());
        CHECK(way || (r.o->modes.count == 0 && t.o->modes.count >= 4), "%d and %d modes",
              r.o->modes.count, t.o->modes.count);
        CHECK(!lat_sign_apply(t.o->sign, 0, &every, t.v[1], t.v[0])
                  && !lat_sign_apply(r.o->sign, 0, &every, r.v[1], r.v[0]),
              "%s", lat_error());
        for (int c = 0; c < COLUMNS; c++)
            CHECK(!lat_spinor_get(r.o->space, r.v[1], c, &host, 0)
                      && !lat_spinor_put(t.o->space, t.v[2], c, &host, 0),
                  "%s", lat_error());
        const double off = apart(&t, t.v[2], t.v[1]);
        CHECK(off <= 2.1e-12 + 1e-13, "way %d: off by %g", way, off);
        lat_field_free(&host);
        tear_down(&r);
    }
    tear_down(&t);
}

/* ---- solutions ------------------------------------------------------------------------------- */

static lat_field spinors(const lat_field *u)
{
    lat_field f = {.comm = u->comm};
    lat_header_init(&f.head);
    f.head.geom = u->head.geom;
    f.head.nc = 3;
    f.head.real = LAT_F64;
    lat_header_make_spinors(&f.head, LAT_MODES, COLUMNS);
    need(lat_field_alloc(&f, u->comm) == 0, "spinors");
    memset(f.data, 0, lat_field_reals(&f) * sizeof(double));
    return f;
}

static void check_solutions(void)
{
    for (int way = 0; way < 3; way++) {
        static const char *const names[] = {
            "minmax: solutions are certified by code of its own",
            "zolotarev: solutions are certified by code of its own",
            "an interval that is forced: solutions are certified by code of its own"};
        const double target[COLUMNS] = {1e-10, 1e-6, 1e-10};
        double found[COLUMNS];
        lat_overlap_options o;
        lat_solve_report report[COLUMNS] = {{0}};
        setup t;
        device_case(device, names[way]);
        lat_overlap_usual(&o);
        o.sign.method = way ? LAT_SIGN_ZOLOTAREV : LAT_SIGN_MINMAX;
        o.sign.delta = 1e-11;
        o.mixed = way == 0;
        if (way == 2) {
            o.low = o.high = 0;
            o.sign.order = 2;
            o.sign.lower = .8;
            o.sign.upper = 6;
            CHECK(!set_up(&t, "4 2 2 4", .3, .1, &o)
                      && strstr(lat_error(), "does not hold the spectrum"),
                  "an interval that does not hold the spectrum: %s", lat_error());
            tear_down(&t);
            o.sign.force = true;
        }
        if (!CHECK(set_up(&t, "4 2 2 4", .3, .1, &o), "%s", lat_error()))
            return;
        lat_field b = spinors(&t.u), x = spinors(&t.u);
        fill_spinors(&b, 5);
        for (size_t i = 0; i < lat_field_sites(&b); i++) /* column 0 of one chirality */
            memset((double *)b.data + i * COLUMNS * 24, 0, 12 * sizeof(double));
        const lat_wilson_job job = {.b = &b,
                                    .x = &x,
                                    .columns = COLUMNS,
                                    .object = all,
                                    .target = target,
                                    .max_iterations = 1000};
        CHECK(!lat_overlap_solve(t.o, &job, report, NULL), "%s", lat_error());
        lat_plain_overlap *m = lat_overlap_plain(t.o, &t.u, 1e-12);
        if (CHECK(m && !lat_plain_overlap_residual(m, &x, &b, COLUMNS, all, found), "%s",
                  lat_error()))
            for (int c = 0; c < COLUMNS; c++)
                CHECK(report[c].end == LAT_END_CONVERGED && found[c] <= 1.2 * target[c]
                          && report[c].residual <= target[c]
                          && report[c].iterations < (way < 2 ? 200 : 1000),
                      "column %d: %s after %ld iterations, residual %g, stated %g", c,
                      lat_end_text(report[c].end), report[c].iterations, found[c],
                      report[c].residual);
        lat_plain_overlap_free(m);
        lat_field_free(&b);
        lat_field_free(&x);
        tear_down(&t);
    }
}

/* ---- the spectrum ---------------------------------------------------------------------------- */

enum { LOWEST = 5 };

typedef struct chiral {
    lat_overlap *o;
    int c;
    lat_dfield *in, *result; /* in: of one chirality */
} chiral;

static const int first[] = {0};
static const lat_part column_0 = {LAT_BOTH, 1, first};

/* result = (1 + c P S P)/2 of the part of chirality c; the other part is multiplied by 1, which is
 * above all eigenvalues that matter: in - P in/2 + c P S P in/2. */
static int apply_chiral(const chiral *w, lat_dfield *in)
{
    lat_space *s = w->o->space;
    const lat_scalar half = {.5 * w->c, 0}, minus = {-.5, 0}, one = {1, 0};
    return s->ops->copy(s, &column_0, in, w->in)
                   || lat_chirality(s, w->c, &column_0, w->in, w->o->tmp)
                   || lat_sign_apply(w->o->sign, 0, &column_0, w->result, w->in)
                   || lat_chirality(s, w->c, &column_0, w->result, w->o->tmp)
                   || s->ops->axpby(s, &column_0, &one, in, &half, w->result, NULL)
                   || s->ops->axpby(s, &column_0, &minus, w->in, &one, w->result, NULL)
               ? -1
               : 0;
}

static int apply(const lat_hermitian *h, lat_dfield *out, lat_dfield *in, const lat_apply_end *end)
{
    static const lat_apply_end none = {.add = NULL};
    const chiral *w = h->with;
    lat_space *s = w->o->space;
    const lat_apply_end *e = end ? end : &none;
    const lat_scalar add = {e->add ? e->add[0] : 1, 0}, stay = {e->add ? 1 : 0, 0};
    const lat_dfield *const with[] = {e->with};
    lat_scalar *const dot[] = {e->dot};
    if (apply_chiral(w, in) || s->ops->axpby(s, &column_0, &add, w->result, &stay, out, e->norm))
        return -1;
    return e->with ? s->ops->dots(s, &column_0, 1, with, out, dot, NULL) : 0;
}

/* The LOWEST eigenvalues of D^+ D of chirality c by conjugate gradients, which know nothing of
 * pairs. */
static void lowest(lat_overlap *o, int c, double tolerance, double *value, double *residual)
{
    chiral w = {.o = o, .c = c};
    const lat_hermitian h = {
        .space = o->space, .parity = LAT_BOTH, .positive = true, .apply = apply, .with = &w};
    const lat_modes_job job = {.op = &h,
                               .low = LOWEST,
                               .high = LOWEST,
                               .tolerance = tolerance,
                               .method = LAT_MODES_RITZ,
                               .seed = 6,
                               .max_applications = 10000000};
    lat_modes found = {.count = 0};
    w.in = lat_vector_new(o->space, "a chirality");
    w.result = lat_vector_new(o->space, "D^+ D of a chirality");
    need(w.in && w.result && !lat_modes_find(&job, &found) && found.converged, "a general search");
    for (int k = 0; k < LOWEST; k++) {
        value[k] = found.value[k];
        residual[k] = found.residual[k];
    }
    lat_modes_free(&found);
    lat_dfield_free(w.in);
    lat_dfield_free(w.result);
}

/* Of both searches: values, and applications of D_W. What the header says of vectors is tested by
 * the code that certifies. */
static void check_lowest(const char *dims, double rough, double theta, double gain)
{
    lat_overlap_options options;
    lat_fermion f = fermion_of(1.4, 0);
    double value[2 * LOWEST], residual[2 * LOWEST], own[2 * LOWEST], off[2 * LOWEST];
    lat_field u = field_new(LAT_GAUGE, geometry_of(dims), 3, LAT_F64), modes = {.data = NULL};
    lat_overlap_usual(&options);
    f.boundary[3].theta = theta;
    fill_near_one(&u, rough, 7);
    need(lat_field_exchange(&u) == 0 && !lat_field_spinors(&modes, &u, LAT_MODES, 2 * LOWEST),
         "fields");
    lat_overlap *o = lat_overlap_open(device, &u, &f, &options);
    need(o != NULL, "the operator");
    const long before = lat_sign_applications(o->sign);
    lowest(o, 1, 1e-8, own, off);
    lowest(o, -1, 1e-8, own + LOWEST, off + LOWEST);
    const long between = lat_sign_applications(o->sign);
    CHECK(lat_overlap_spectrum(o, LOWEST, 1e-8, value, residual, &modes) == 0, "%s", lat_error());
    const long after = lat_sign_applications(o->sign);
    for (int k = 0; k < 2 * LOWEST; k++)
        CHECK(residual[k] <= 1e-8 && fabs(value[k] - own[k]) <= residual[k] + off[k] + 1e-13,
              "mode %d: %.15g to %.2g, expected %.15g", k, value[k], residual[k], own[k]);
    CHECK(gain * (double)(after - between) < (double)(between - before),
          "%ld applications, by the general search %ld", after - between, between - before);
    need(lat_quark_set_eigenvalues(&modes.head.quark, value) == 0
             && lat_field_exchange(&modes) == 0,
         "values");
    lat_plain_overlap *m = lat_overlap_plain(o, &u, 1e-12);
    CHECK(m && lat_plain_overlap_modes(m, &modes, off) == 0, "%s", lat_error());
    /* Two sign functions of 1e-11 at most. */
    for (int k = 0; k < 2 * LOWEST; k++)
        CHECK(fabs(off[k] - residual[k]) <= 2e-11, "mode %d: residual %g, stated %g", k, off[k],
              residual[k]);
    lat_plain_overlap_free(m);
    lat_overlap_close(o);
    lat_field_free(&modes);
    lat_field_free(&u);
}

static void check_spectrum(void)
{
    check_case("the spectrum of D^+ D: that of the general search, in fewer applications");
    check_lowest("4 2 2 4", .3, 1, 3);
    check_case(
        "levels that are degenerate, cut in two, and without gauge fields zero modes in both "
        "chiralities");
    check_lowest("4 2 2 4", 0, 1, .5);
    check_lowest("2 2 2 2", 0, 0, .5);
}

static void check_operator(void)
{
    check_accuracies();
    check_methods();
    check_solutions();
}

int main(void)
{
    lat_threads_set(1); /* on lattices as small as these, threads wait for each other */
    check_minmax();
    check_factors();
    check_zolotarev();
    device = cpu_device();
    check_operator();
    check_spectrum();
    lat_error_clear();
    if ((device = gpu_device()))
        check_operator();
    else
        check_skipped("GPU: the sign function and solutions", lat_error());
    return check_done();
}
