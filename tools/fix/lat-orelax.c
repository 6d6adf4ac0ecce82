/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-orelax: relaxation and overrelaxation to a gauge condition.
 *
 * The links stay as they were read; sweeps move the transformation g; at the end g is applied
 * once, in double precision (docs/conventions.md, "Sweeps and precisions"). */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/progress.h"
#include "run/fixing.h"
#include "run/omega.h"
#include "site/sun.h"

enum { SINGLE, MIXED, DOUBLE };
static const char *const precisions[] = {"single", "mixed", "double"}, *const schemes[] = {"su3",
                                                                                           "su2"};

static int scheme = LAT_OVERRELAX_SU3, precision = DOUBLE, store;
static double omega, theta = 1e-12, stochastic; /* omega 0: it finds itself */
static const char *omega_text;
static long max_sweeps = 100000, check_every = 10;
static const char *log_path, *slice_log;

static const lat_option options[] = {
    {LAT_OPT_CHOICE, "overrelax", 0, "su3|su2", &scheme, 0, 0,
     "overrelax the whole SU(N) element, or SU(2) subgroup by subgroup as the papers do", false},
    {LAT_OPT_TEXT, "omega", 'w', "OMEGA|auto", &omega_text, 0, 0,
     "overrelaxation, 1 (none) to below 2; auto finds its own (default: auto; 1 with --stochastic)",
     false},
    {LAT_OPT_REAL, "stochastic", 0, "P", &stochastic, 0, 0.999,
     "probability that a hit is microcanonical: stochastic relaxation", false},
    {LAT_OPT_REAL, "theta", 't', "THETA", &theta, 0, 1e9,
     "done when theta (of each slice in Coulomb gauge) is below this", false},
    {LAT_OPT_INT, "max-sweeps", 0, "N", &max_sweeps, 0, 2e9,
     "give up after N sweeps: exit 3, no output", false},
    {LAT_OPT_INT, "check-every", 0, "N", &check_every, 1, 1e6, "sweeps between two looks at theta",
     false},
    {LAT_OPT_CHOICE, "precision", 'p', "single|mixed|double", &precision, 0, 0,
     "of the sweeps; mixed begins in single and ends in double", false},
    {LAT_OPT_CHOICE, "store", 0, "double|single", &store, 0, 0,
     "precision of the links written; single holds theta to 1e-14", false},
    {LAT_OPT_FLAG, "keep", 'k', NULL, &lat_fixing_opts.keep, 0, 0,
     "write what has not converged too (still exit 3)", true},
    {LAT_OPT_TEXT, "log", 'l', "FILE", &log_path, 0, 0,
     "theta and functional as they go, tab-separated", true},
    {LAT_OPT_TEXT, "slice-log", 0, "FILE", &slice_log, 0, 0, "theta of every slice as it goes",
     true},
    LAT_FIXING_OPTIONS,
    {0},
};

static const lat_tool tool = {
    .name = "lat-orelax",
    .args = "[FILE]",
    .summary = "Fixes the gauge of every configuration in FILE or on stdin by overrelaxation.",
    .example = "lat-convert cfg.0100.lime | lat-orelax --theta 1e-14 -o cfg.0100.landau.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

typedef struct logs {
    FILE *log, *slices;
} logs;

/* What is remembered of a copy, in lat_copy.number_of. */
typedef struct memory {
    double best, since; /* the last time theta had fallen by a tenth: to what, and when */
    double begin;       /* sweeps when this precision began ... */
    double rung;        /* ... which is number rung - 1 of the ladder; 0: none has begun */
    double used;        /* omega of the sweeps */
    lat_omega omega;    /* how it finds itself */
} memory;
_Static_assert(sizeof(memory) <= LAT_COPY_NUMBERS * sizeof(double), "a copy has room for it");

/* The smallest theta that sweeps are sure to reach. Delta is made of the elements of x = g K, of
 * size 2 D, so rounding alone gives theta about (2 D eps)^2, and overrelaxation amplifies what
 * each visit adds by 1/(2 - omega). Measured on thermal links in single precision:
 * 1.4e-12 / (2 - omega), the same for both schemes and all vector lengths; here with a factor 3. */
static double theta_floor(lat_real real, double w)
{
    const double at_one = 1200 * (real == LAT_F32 ? 0x1p-48 : 0x1p-106);
    return at_one / (2 - w);
}

/* The same for this condition: Delta grows with the weights. */
static double floor_of(const lat_fixing *f, lat_real real, double w)
{
    const double mean = fmax(1, lat_condition_weights(&f->condition) / f->u.head.geom.nd);
    return mean * mean * theta_floor(real, w);
}

/* What rounding the links to single precision makes of theta: 2 D links of rounding 2^-24 each and
 * three rows, 3e-15 to 4e-15 on thermal links; here with a factor 3. */
#define STORED_SINGLE 1e-14

/* For the line of progress: how fast each copy goes. The time left is that to `theta` at the slope
 * of its logarithm. */
static struct {
    lat_rate sweeps, log_theta;
    long config, seen;
} paces[LAT_MAX_COPIES];

static void say(const lat_fixing *f, const lat_copy *c, double w, const lat_gauge_state *s,
                double seconds)
{
    const size_t k = (size_t)c->number % LAT_MAX_COPIES;
    char copy[40] = "", left[LAT_LEFT];
    if (paces[k].config != f->config || c->sweeps < paces[k].seen)
        memset(&paces[k], 0, sizeof paces[k]);
    paces[k].config = f->config;
    paces[k].seen = c->sweeps;
    const double rate = lat_rate_sample(&paces[k].sweeps, (double)c->sweeps),
                 slope = lat_rate_sample(&paces[k].log_theta, log(s->theta_slice));
    if (!f->single)
        snprintf(copy, sizeof copy, "copy %ld of %d  ", c->number + 1, f->copies);
    lat_progress(
        "%s: %ssweep %ld  theta %.3e  F %.12f  omega %.3f  %.0f sweeps/s  %.1f s%s", f->name, copy,
        c->sweeps, s->theta, s->functional, w, rate, seconds,
        lat_left_text(slope < 0 && theta > 0 ? log(theta / s->theta_slice) / slope : NAN, left));
}

static void tell(const lat_fixing *f, const lat_copy *c, double w, const lat_gauge_state *s,
                 const double *slices)
{
    const logs *l = f->own;
    const double seconds = lat_seconds() - f->start;
    if (l->log)
        fprintf(l->log, "%s\t%ld\t%.6e\t%.15f\t%.3f\t%ld\t%.4f\n", f->name, c->sweeps, s->theta,
                s->functional, seconds, c->number, w);
    for (int i = 0; l->slices && i < f->slices; i++)
        fprintf(l->slices, "%s\t%ld\t%d\t%.6e\t%ld\n", f->name, c->sweeps, i, slices[i], c->number);
    say(f, c, w, s, seconds);
}

/* Near the floor of a precision theta falls by a tenth in so many sweeps, or not at all. */
#define PATIENCE 500

/* Theta that ends this precision: that of the ladder's next begins where this one's ends. Theta
 * seen in single differs from that of the links by rounding: aim a little lower. */
static double target(const lat_fixing *f, lat_real real, double w)
{
    if (real == LAT_F64)
        return theta;
    return f->algorithm->rungs > 1 ? fmax(theta, floor_of(f, real, w)) : 0.8 * theta;
}

/* Subgroup by subgroup, in a linear problem, the diagonal directions are overrelaxed more than
 * once: the best omega hardly depends on the lattice, and it is flat (bench/NOTES.md). All else is
 * block SOR. */
#define OMEGA_SU2 1.55

static double own_omega(const lat_fixing *f, lat_omega *o, double now, long sweeps)
{
    int extent = 1;
    for (int mu = 0; mu < f->u.head.geom.nd; mu++)
        if (f->condition.weight[mu] > 0 && f->u.head.geom.dims[mu] > extent)
            extent = f->u.head.geom.dims[mu];
    double w = OMEGA_SU2;
    if (scheme == LAT_OVERRELAX_SU3 || f->condition.gauge == LAT_MAG || f->u.head.nc == 2)
        w = lat_omega_update(o, f->condition.gauge, extent, now, sweeps);
    /* In single alone theta must stay within reach. */
    return precision == SINGLE ? fmin(w, 2 - 2 * theta_floor(LAT_F32, 1) / theta) : w;
}

/* A look at a copy: is it done on this rung? It is when theta is below the target, when sweeps have
 * run out, or when theta, near its floor, has ceased to fall. -1 on failure. */
static int look(const lat_fixing *f, lat_copy *c, const lat_gauge_state *s)
{
    memory *m = (memory *)c->number_of;
    const lat_real real = f->algorithm->ladder[c->rung];
    if (m->rung < c->rung + 1) {
        m->rung = c->rung + 1;
        m->begin = m->since = (double)c->sweeps;
        m->best = INFINITY;
    }
    if (!isfinite(s->theta) || !isfinite(s->functional))
        return lat_fail("%s: theta became %g after %ld sweeps: are the links in SU(N)?", f->name,
                        s->theta, c->sweeps);
    if (s->theta_slice < 0.9 * m->best) {
        m->best = s->theta_slice;
        m->since = (double)c->sweeps;
    }
    m->used = omega != 0 ? omega : own_omega(f, &m->omega, s->theta_slice, c->sweeps);
    const double w = m->used;
    c->done = s->theta_slice < target(f, real, w) || c->sweeps >= max_sweeps
              || (s->theta_slice < 100 * floor_of(f, real, w)
                  && (double)c->sweeps - m->since >= PATIENCE);
    return 0;
}

/* n sweeps of the copies that are not done; one that reaches --max-sweeps on the way stops there.
 */
static int sweep(const lat_fixing *f, long sweeps)
{
    lat_copy *const *c = f->batch;
    const int n = f->nbatch;
    double w[LAT_BATCH], bound[LAT_BATCH];
    lat_sweep how = {.kind = LAT_SWEEP_RELAX,
                     .scheme = (lat_overrelax)scheme,
                     .omega = w,
                     .stochastic = stochastic,
                     .seed = lat_fixing_opts.seed + (uint64_t)c[0]->number,
                     .config = (uint32_t)f->config};
    for (int i = 0; i < n; i++)
        w[i] = ((memory *)c[i]->number_of)->used;
    while (sweeps > 0) {
        long most = sweeps;
        const lat_copy *any = NULL;
        for (int i = 0; i < n; i++) {
            const bool stops = c[i]->done || c[i]->sweeps >= max_sweeps;
            bound[i] = stops ? INFINITY : target(f, f->algorithm->ladder[c[i]->rung], w[i]);
            if (!stops && max_sweeps - c[i]->sweeps < most)
                most = max_sweeps - c[i]->sweeps;
            if (!stops)
                any = c[i];
        }
        if (!any)
            return 0;
        /* All copies of the batch began this precision together. */
        how.step = LAT_FOR_RELAX + ((uint32_t)any->rung << 26)
                   + (uint32_t)(any->sweeps - (long)((const memory *)any->number_of)->begin);
        if (f->backend->freeze(f->dev, bound) < 0 || f->backend->sweep(f->dev, &how, most))
            return -1;
        for (int i = 0; i < n; i++)
            if (isfinite(bound[i]))
                c[i]->sweeps += most;
        sweeps -= most;
    }
    return 0;
}

static int advance(lat_fixing *f)
{
    lat_copy *const *c = f->batch;
    const int n = f->nbatch;
    lat_gauge_state s[LAT_BATCH];
    bool done = true;
    if (f->backend->state(f->dev, s, f->theta))
        return -1;
    for (int i = 0; i < n; i++) {
        if (!c[i]->done) {
            if (look(f, c[i], &s[i]))
                return -1;
            tell(f, c[i], ((const memory *)c[i]->number_of)->used, &s[i],
                 f->theta + (size_t)i * (size_t)f->slices);
        }
        done = done && c[i]->done;
    }
    return done ? 1 : sweep(f, check_every);
}

static void judged(const lat_fixing *f, const lat_copy *c)
{
    const logs *l = f->own;
    if (l->log)
        fprintf(l->log, "# %s %s sweeps=%ld theta=%.6e functional=%.15f seconds=%.3f copy=%ld\n",
                f->name, c->converged ? "converged" : "not-converged", c->sweeps, c->state.theta,
                c->state.functional, lat_seconds() - f->start, c->number);
}

static void describe(const lat_fixing *f, const lat_copy *c, char *words, size_t size)
{
    const memory *m = (const memory *)c->number_of;
    snprintf(words, size, "%s, %s omega %s%.4g %s, %ld sweeps, theta %.3e, F %.15f", f->words,
             schemes[scheme], omega == 0 ? "auto, last " : "", m->used, precisions[precision],
             c->sweeps, c->state.theta, c->state.functional);
}

/* The number, or 0 for auto. */
static double parse_omega(const char *text)
{
    char *end;
    if (!text)
        return stochastic > 0 ? 1 : 0;
    if (strcmp(text, "auto") == 0)
        return 0;
    const double w = strtod(text, &end);
    if (end == text || *end || !(w >= 1 && w <= 1.999))
        lat_usage("--omega: expected a number from 1 to 1.999 or auto, found '%s'", text);
    return w;
}

int main(int argc, char **argv)
{
    lat_algorithm a = {
        .select = LAT_SELECT_BEST, .advance = advance, .describe = describe, .judged = judged};
    logs l = {NULL, NULL};
    lat_options_parse(&tool, argc, argv);
    omega = parse_omega(omega_text);
    const double floor = 2 * theta_floor(LAT_F32, omega == 0 ? 1 : omega);
    if (precision == SINGLE && theta < floor)
        lat_usage("--theta %g is below what sweeps in single precision reach at this omega (%.1e): "
                  "use --precision mixed",
                  theta, floor);
    if (store == 1 && theta < STORED_SINGLE)
        lat_usage("--theta %g is below what links stored in single precision can hold (%g)", theta,
                  STORED_SINGLE);
    if (store == 1 && lat_fixing_opts.select == LAT_SELECT_ALL)
        lat_usage(
            "--store is for links that are rotated, and --select all writes them as they came");
    a.theta = theta;
    a.store = store == 1 ? LAT_F32 : LAT_F64;
    if (precision != DOUBLE)
        a.ladder[a.rungs++] = LAT_F32;
    if (precision != SINGLE)
        a.ladder[a.rungs++] = LAT_F64;
    if ((log_path
         && !(l.log = lat_log_open(log_path, "config\tsweep\ttheta\tF\tseconds\tcopy\tomega")))
        || (slice_log
            && !(l.slices = lat_log_open(slice_log, "config\tsweep\tslice\ttheta\tcopy")))) {
        lat_log_close(l.log, log_path);
        return lat_report(LAT_FAILED);
    }
    int rc = lat_fixing_run(&a, &l);
    const int lost = lat_log_close(l.log, log_path),
              slices_lost = lat_log_close(l.slices, slice_log);
    return (lost || slices_lost) && rc == LAT_DONE ? lat_report(LAT_FAILED) : rc;
}
