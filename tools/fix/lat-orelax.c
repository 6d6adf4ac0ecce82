/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-orelax: relaxation and overrelaxation to a gauge condition (arXiv:1212.5221, section 2.2),
 * and Newton's method from where the maximum is near (ghost/newton.h).
 *
 * The links stay as they were read; sweeps change the transformation g; in the end g is applied
 * once, in double precision (docs/conventions.md, "Sweeps and precisions"). */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/progress.h"
#include "ghost/newton.h"
#include "run/fix/fixing.h"
#include "run/fix/omega.h"
#include "site/sun.h"
#include "orelax.h"

enum { SINGLE, MIXED, DOUBLE };
enum { NONE, NEWTON, AUTO };
static const char *const precisions[] = {"single", "mixed", "double"}, *const schemes[] = {"su3",
                                                                                           "su2"};

/* By scheme; without and with --stochastic. */
enum { WHOLE };
static const lat_update updates[][2] = {{LAT_UPDATE_RELAX_SUN, LAT_UPDATE_STOCHASTIC_SUN},
                                        {LAT_UPDATE_RELAX_SU2, LAT_UPDATE_STOCHASTIC_SU2}};

static int scheme = WHOLE, precision = MIXED, store, finish = NONE;
static double omega, theta = 1e-12, stochastic; /* omega 0: auto */
static const char *omega_text;
static long check_every = 10;
static bool residual;
static const char *log_path, *slice_log;

lat_orelax_options lat_orelax_opts = {.max_sweeps = 100000};

static const lat_option options[] = {
    LAT_FIXING_GAUGE_OPTIONS,
    LAT_HEADING("Sweeps"),
    {LAT_OPT_CHOICE, "overrelax", 0, "su3|su2", &scheme, 0, 0,
     "su3: overrelax the whole SU(N) element; su2: SU(2) subgroup by subgroup, as in the papers"},
    {LAT_OPT_TEXT, "omega", 'w', "OMEGA|auto", &omega_text, 0, 0,
     "overrelaxation parameter, from 1 (none) to below 2; auto: found during the run (default: "
     "auto; 1 with --stochastic)"},
    {LAT_OPT_REAL, "stochastic", 0, "P", &stochastic, 0, 0.999,
     "stochastic relaxation: probability that a hit is microcanonical"},
    {LAT_OPT_CHOICE, "finish", 0, "none|newton|auto", &finish, 0, 0,
     "newton: use Newton's method instead of sweeps near the maximum (Landau and Coulomb gauge of "
     "SU(2) and SU(3), one rank); auto: use it where it applies and is faster"},
    {LAT_OPT_FLAG, "residual", 0, NULL, &residual, 0, 0,
     "in maximally Abelian gauge, also bring the diagonal phases, which it leaves free, to Landau "
     "gauge, each to THETA"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|mixed|double", &precision, 0, 0,
     "precision of the sweeps; mixed begins in single and ends in double, and reaches every theta "
     "that double reaches"},
    LAT_HEADING("End of a run"),
    {LAT_OPT_REAL | LAT_OPT_LIMIT, "theta", 't', "THETA", &theta, 0, 1e9,
     "stop when theta is below THETA (in Coulomb gauge in every slice)"},
    {LAT_OPT_INT | LAT_OPT_LIMIT, "max-sweeps", 0, "N", &lat_orelax_opts.max_sweeps, 0, 2e9,
     "stop after N sweeps: exit 3, no output"},
    {LAT_OPT_INT, "check-every", 0, "N", &check_every, 1, 1e6,
     "sweeps between two checks of theta"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "keep", 'k', NULL, &lat_fixing_opts.keep, 0, 0,
     "also write configurations that have not converged (still exit 3)"},
    LAT_HEADING("Output"),
    {LAT_OPT_CHOICE, "store", 0, "double|single", &store, 0, 0,
     "precision of the links in the output; single holds theta to 1e-14"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "log", 'l', "FILE", &log_path, 0, 0,
     "write theta and functional to FILE during the run, in columns separated by tabs"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "slice-log", 0, "FILE", &slice_log, 0, 0,
     "write theta of every slice to FILE during the run (Coulomb gauge)"},
    LAT_FIXING_OPTIONS,
    {0}};

static const lat_tool tool = {
    .name = "lat-orelax",
    .args = "[FILE]",
    .summary = "Fixes the gauge of every configuration in FILE or on stdin by overrelaxation.",
    .example =
        "lat-convert cfg.0100.lime | lat-orelax --theta 1e-14 -o cfg.0100.landau.lat\n"
        "lat-orelax --gauge coulomb --copies 10 --copies-log copies.tsv cfg.lat -o best.lat\n"
        "lat-orelax --gauge mag --checkpoint run.ck --log log.tsv cfg.lat -o mag.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

/* The state of a copy between convergence tests, in lat_copy.number_of. */
typedef struct copy_state {
    double best, since; /* theta when it last fell by a tenth, and the sweep of that */
    double stage;       /* the present precision stage is number stage - 1; 0: none has begun */
    double used;        /* omega of the sweeps */
    lat_omega omega;    /* the state of its tuning */
    double before;      /* theta at the convergence test before */
    double tries, wait; /* of Newton's method: attempts that failed; no other before this sweep */
    double steps, iterations; /* of all attempts */
    double ritz;              /* the lowest of slices that they ended; 0: none */
    double reached;           /* theta of a copy that it has finished */
} copy_state;
_Static_assert(sizeof(copy_state) <= LAT_COPY_NUMBERS * sizeof(double), "lat_copy.number_of");

/* The smallest theta that sweeps are sure to reach. Delta is made of the elements of x = g K, of
 * size 2 D, so that rounding alone gives theta of about (2 D eps)^2; overrelaxation amplifies what
 * each site update adds by 1/(2 - omega). Measured on thermal links in single precision: 1.4e-12 /
 * (2 - omega), for both schemes and all vector lengths; here with a factor 3. */
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

/* theta of links rounded to single precision: 2 D links with a rounding of 2^-24 each and three
 * rows give 3e-15 to 4e-15 on thermal links; here with a factor 3. */
#define STORED_SINGLE 1e-14

/* theta has stalled if it did not fall by a tenth in so many sweeps: near the floor of a precision
 * that is all it can do. Single before double ends then wherever theta is: nothing is lost. */
#define STALLED_SWEEPS 500

/* theta that ends a precision stage. Single before double: the floor of single, where double takes
 * over. Single alone: a little below what was asked for, because theta as the sweeps have it
 * differs from that of the links by rounding. */
static double target(const lat_fixing *f, lat_real real, double w)
{
    const double goal = f->algorithm->theta;
    if (real == LAT_F64)
        return goal;
    return f->algorithm->stages > 1 ? fmax(goal, floor_of(f, real, w)) : 0.8 * goal;
}

/* Scheme su2, linear conditions, N > 2: the diagonal directions are overrelaxed by more than one
 * hit, so that the best omega hardly depends on the lattice, and the minimum is flat
 * (bench/history). In all other cases a sweep is block SOR (run/fix/omega.h). */
#define OMEGA_SU2 1.55

static double auto_omega(const lat_fixing *f, lat_omega *o, double now, long sweeps)
{
    int extent = 1;
    for (int mu = 0; mu < f->u.head.geom.nd; mu++)
        if (f->condition.weight[mu] > 0 && f->u.head.geom.dims[mu] > extent)
            extent = f->u.head.geom.dims[mu];
    double w = OMEGA_SU2;
    if (scheme == WHOLE || lat_gauge_table[f->condition.gauge].problem == LAT_ABELIAN
        || f->u.head.nc == 2)
        w = lat_omega_update(o, f->condition.gauge, extent, now, sweeps);
    /* In single alone the floor must stay below theta. */
    return precision == SINGLE ? fmin(w, 2 - 2 * theta_floor(LAT_F32, 1) / f->algorithm->theta) : w;
}

/* ---- Newton's method ------------------------------------------------------------------------- */

static lat_newton *newton; /* of the configuration at hand, once it is needed */

static void forget_newton(void)
{
    lat_newton_close(newton);
    newton = NULL;
}

/* Where theta is below NEAR sweeps have passed the saddles, mostly. An attempt that fails is
 * repeated after more sweeps than the one before. */
#define NEAR 2e-5
#define FALLING 0.6
#define WAIT 10

/* auto: below these extents sweeps are as fast (bench/history). */
#define PAYS_FROM 12
#define PAYS_ON_GPU_FROM 16

static bool pays(const lat_fixing *f)
{
    int extent = 0;
    for (int mu = 0; mu < f->u.head.geom.nd; mu++)
        if (f->condition.weight[mu] > 0 && f->u.head.geom.dims[mu] > extent)
            extent = f->u.head.geom.dims[mu];
    return extent >= (f->device->gpu ? PAYS_ON_GPU_FROM : PAYS_FROM);
}

/* Is Newton's method to be used for this configuration? 1, 0, or -1 where --finish newton cannot
 * be. */
static int wanted(const lat_fixing *f)
{
    if (finish == NONE || (finish == AUTO && !pays(f)))
        return 0;
    if (lat_newton_check(f->device, &f->u, &f->condition) == 0)
        return 1;
    if (finish == NEWTON)
        return lat_error_name(f->name, NULL);
    lat_error_clear();
    return 0;
}

/* In Coulomb gauge all slices at once, when the last one is near: one that is tried as soon as it
 * is may be beside a saddle, and end in another maximum than sweeps. */
static bool is_near(const lat_copy *c, const lat_gauge_state *s)
{
    const copy_state *m = (const copy_state *)c->number_of;
    return (double)c->sweeps >= m->wait && s->theta_slice < NEAR
           && s->theta_slice < FALLING * m->before;
}

static void log_newton(const lat_fixing *f, const lat_copy *c, const lat_newton_report *r,
                       const lat_gauge_state *s)
{
    const lat_orelax_logs *l = f->own;
    if (l->log)
        fprintf(l->log,
                "# %s newton slices=%d converged=%d saddles=%d steps=%d iterations=%d "
                "theta=%.6e functional=%.15f ritz=%.6g seconds=%.3f copy=%ld\n",
                f->name, r->slices, r->converged, r->saddles, r->steps, r->iterations,
                s->theta_slice, s->functional, r->ritz, lat_seconds() - f->start, c->number);
}

/* Tries it: 1 if the copy is finished, with its state and slices, 0 if it is to be swept on, from
 * where it was brought, -1 on failure. */
static int try_newton(lat_fixing *f, int i, lat_gauge_state *s, double *slices)
{
    lat_copy *c = f->batch[i];
    copy_state *m = (copy_state *)c->number_of;
    lat_newton_report r;
    if (!newton && !(newton = lat_newton_open(f->device, &f->u, &f->condition)))
        return -1;
    if (lat_newton_run(newton, f->fixer, i, &c->g, f->algorithm->theta, &r, s, slices))
        return -1;
    log_newton(f, c, &r, s);
    m->tries += r.converged < r.slices;
    m->wait = (double)c->sweeps + WAIT * (1 + m->tries);
    m->steps += r.steps;
    m->iterations += r.iterations;
    if (isfinite(r.ended_ritz))
        m->ritz = m->ritz != 0 ? fmin(m->ritz, r.ended_ritz) : r.ended_ritz;
    if (r.converged == f->slices) {
        m->reached = s->theta_slice;
        c->finished = c->done = true;
        return 1;
    }
    /* The rate of sweeps is measured anew. */
    m->omega.theta = s->theta_slice;
    m->omega.sweep = (double)c->sweeps;
    return 0;
}

/* After the convergence tests: copies that are near enough to the maximum. 0 or -1. */
static int finish_copies(lat_fixing *f, lat_gauge_state *s)
{
    bool again = false;
    int rc = 0;
    for (int i = 0; i < f->nbatch && rc >= 0; i++) {
        lat_copy *c = f->batch[i];
        copy_state *m = (copy_state *)c->number_of;
        double *slices = f->theta + (size_t)i * (size_t)f->slices;
        if (c->done)
            continue;
        if (is_near(c, &s[i])) {
            rc = try_newton(f, i, &s[i], slices);
            again = again || rc == 0;
            if (rc > 0)
                lat_orelax_report(f, c, m->used, &s[i], slices);
        }
        m->before = s[i].theta_slice;
    }
    /* What is to be frozen is known from the state on the device. */
    return rc < 0 || (again && lat_fix_state(f->fixer, s, f->theta)) ? -1 : 0;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* The convergence test of a copy: is it done with this precision stage? It is when theta is below
 * the target, when it has reached --max-sweeps, or when theta has stalled near its floor. 0, or -1
 * where theta is not finite. */
static int test_convergence(const lat_fixing *f, lat_copy *c, const lat_gauge_state *s)
{
    copy_state *m = (copy_state *)c->number_of;
    const lat_real real = f->algorithm->precision[c->stage];
    if (m->stage < c->stage + 1) {
        m->stage = c->stage + 1;
        m->since = (double)c->sweeps;
        m->best = INFINITY;
    }
    if (!isfinite(s->theta) || !isfinite(s->functional))
        return lat_fail("%s: theta became %g after %ld sweeps: are the links in SU(N)?", f->name,
                        s->theta, c->sweeps);
    if (s->theta_slice < 0.9 * m->best) {
        m->best = s->theta_slice;
        m->since = (double)c->sweeps;
    }
    m->used = omega != 0 ? omega : auto_omega(f, &m->omega, s->theta_slice, c->sweeps);
    const double w = m->used;
    c->done = s->theta_slice < target(f, real, w)
              || ((c->stage + 1 < f->algorithm->stages
                   || s->theta_slice < 100 * floor_of(f, real, w))
                  && (double)c->sweeps - m->since >= STALLED_SWEEPS);
    c->limited = !c->done && c->sweeps >= lat_orelax_opts.max_sweeps;
    c->done = c->done || c->limited;
    return 0;
}

/* So many sweeps of the copies that are not done; a copy that reaches --max-sweeps stops there. */
static int sweep(const lat_fixing *f, long sweeps)
{
    lat_copy *const *c = f->batch;
    const int n = f->nbatch;
    double w[LAT_BATCH], bound[LAT_BATCH];
    lat_sweep how = {.update = updates[scheme][stochastic > 0],
                     .omega = w,
                     .stochastic = stochastic,
                     .seed = lat_fixing_opts.seed + (uint64_t)c[0]->number,
                     .config = (uint32_t)f->config};
    for (int i = 0; i < n; i++)
        w[i] = ((copy_state *)c[i]->number_of)->used;
    while (sweeps > 0) {
        long most = sweeps;
        const lat_copy *any = NULL;
        for (int i = 0; i < n; i++) {
            const bool stops = c[i]->done || c[i]->sweeps >= lat_orelax_opts.max_sweeps;
            bound[i] = stops ? INFINITY : target(f, f->algorithm->precision[c[i]->stage], w[i]);
            if (!stops && lat_orelax_opts.max_sweeps - c[i]->sweeps < most)
                most = lat_orelax_opts.max_sweeps - c[i]->sweeps;
            if (!stops)
                any = c[i];
        }
        if (!any)
            return 0;
        /* All copies of the batch began this precision together. */
        how.step = LAT_FOR_RELAX + ((uint32_t)any->stage << 26)
                   + (uint32_t)(any->sweeps - any->begun);
        if (lat_fix_freeze(f->fixer, bound) < 0 || lat_fix_sweep(f->fixer, &how, most))
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
    if (slice_log && !lat_gauge_table[f->condition.gauge].sliced)
        return lat_fail("%s: --slice-log is for Coulomb gauge, and this is %s", f->name,
                        lat_gauge_table[f->condition.gauge].title);
    lat_copy *const *c = f->batch;
    const int n = f->nbatch;
    lat_gauge_state s[LAT_BATCH];
    bool done = true;
    const int with_newton = wanted(f);
    if (with_newton < 0 || lat_fix_state(f->fixer, s, f->theta))
        return -1;
    for (int i = 0; i < n; i++) {
        /* A run that goes on may want less. */
        const copy_state *m = (const copy_state *)c[i]->number_of;
        c[i]->finished = c[i]->finished && m->reached < f->algorithm->theta;
        c[i]->done = c[i]->done || c[i]->finished;
        if (c[i]->done)
            continue;
        if (test_convergence(f, c[i], &s[i]))
            return -1;
        lat_orelax_report(f, c[i], ((const copy_state *)c[i]->number_of)->used, &s[i],
                          f->theta + (size_t)i * (size_t)f->slices);
    }
    if (with_newton && finish_copies(f, s))
        return -1;
    for (int i = 0; i < n; i++)
        done = done && c[i]->done;
    return done ? 1 : sweep(f, check_every);
}

static void log_result(const lat_fixing *f, const lat_copy *c)
{
    const lat_orelax_logs *l = f->own;
    if (l->log)
        fprintf(l->log, "# %s %s sweeps=%ld theta=%.6e functional=%.15f seconds=%.3f copy=%ld\n",
                f->name, c->converged ? "converged" : "not-converged", c->sweeps, c->state.theta,
                c->state.functional, lat_seconds() - f->start, c->number);
}

static void describe(const lat_fixing *f, const lat_copy *c, char *text, size_t size)
{
    const copy_state *m = (const copy_state *)c->number_of;
    char newtons[100] = "", ritz[32] = "";
    if (m->ritz != 0)
        snprintf(ritz, sizeof ritz, "ritz %.4g, ", m->ritz);
    if (m->iterations > 0)
        snprintf(newtons, sizeof newtons, "newton %.0f steps %.0f iterations, %s", m->steps,
                 m->iterations, ritz);
    snprintf(text, size, "%s, %s omega %s%.4g %s, %ld sweeps, %stheta %.3e, F %.15f",
             f->device_text, schemes[scheme], omega == 0 ? "auto, last " : "", m->used,
             precisions[precision], c->sweeps, newtons, c->state.theta, c->state.functional);
}

/* --omega: the number, or 0 for auto. */
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

static void check_usage(void)
{
    lat_usage_for("seed", lat_fixing_opts.copies || lat_opt_given("stochastic"),
                  "--copies and --stochastic, and there is neither");
    if (theta == 0 && !lat_opt_given("max-sweeps"))
        lat_usage("--theta 0 is never reached: give --max-sweeps, too");
    if (slice_log && lat_opt_given("gauge") && !lat_gauge_table[lat_fixing_opts.gauge].sliced)
        lat_usage("--slice-log is for Coulomb gauge, and --gauge is %s",
                  lat_gauge_name((lat_gauge)lat_fixing_opts.gauge));
    const double floor = 2 * theta_floor(LAT_F32, omega == 0 ? 1 : omega);
    if (precision == SINGLE && theta < floor)
        lat_usage("--theta %g is below what sweeps in single precision reach at this omega (%.1e): "
                  "use --precision mixed",
                  theta, floor);
    if (finish == NEWTON && theta < theta_floor(LAT_F64, 1))
        lat_usage("--finish newton: expected a --theta of at least %.1e, found %g",
                  theta_floor(LAT_F64, 1), theta);
    if (theta < theta_floor(LAT_F64, 1))
        finish = NONE;
    if (store == 1 && theta < STORED_SINGLE)
        lat_usage("--theta %g is below what links stored in single precision can hold (%g)", theta,
                  STORED_SINGLE);
    if (residual && lat_opt_given("gauge") && lat_fixing_opts.gauge != LAT_MAG)
        lat_usage("--residual is for --gauge mag, and --gauge is %s",
                  lat_gauge_name((lat_gauge)lat_fixing_opts.gauge));
    if (residual && lat_fixing_opts.select == LAT_SELECT_ALL)
        lat_usage("--residual is for links that are rotated, and --select all writes them as they "
                  "came");
    if (store == 1 && lat_fixing_opts.select == LAT_SELECT_ALL)
        lat_usage(
            "--store is for links that are rotated, and --select all writes them as they came");
}

int main(int argc, char **argv)
{
    lat_algorithm a = {.select = LAT_SELECT_BEST,
                       .advance = advance,
                       .leave = forget_newton,
                       .describe = describe,
                       .measured = log_result};
    lat_orelax_logs l = {NULL, NULL};
    lat_options_parse(&tool, argc, argv);
    omega = parse_omega(omega_text);
    check_usage();
    a.theta = theta;
    a.residual = residual;
    a.store = store == 1 ? LAT_F32 : LAT_F64;
    if (precision != DOUBLE)
        a.precision[a.stages++] = LAT_F32;
    if (precision != SINGLE)
        a.precision[a.stages++] = LAT_F64;
    lat_usage_if_input("log", log_path);
    lat_usage_if_input("slice-log", slice_log);
    if ((log_path
         && !(l.log = lat_log_open(log_path, "config\tsweep\ttheta\tF\tseconds\tcopy\tomega",
                                   lat_opts.comm)))
        || (slice_log
            && !(l.slices = lat_log_open(slice_log, "config\tsweep\tslice\ttheta\tcopy",
                                         lat_opts.comm)))) {
        lat_log_close(l.log, log_path);
        return lat_report(LAT_FAILED);
    }
    int rc = lat_fixing_run(&a, &l);
    const int lost = lat_log_close(l.log, log_path),
              slices_lost = lat_log_close(l.slices, slice_log);
    return (lost || slices_lost) && rc == LAT_DONE ? lat_report(LAT_FAILED) : rc;
}
