/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-anneal: simulated annealing of the gauge, before lat-orelax.
 *
 * At each temperature one sweep draws g with weight exp(f / T); then microcanonical sweeps change
 * it at constant f (arXiv:1212.5221, sections 2.2.4 and 2.3; docs/conventions.md, "Annealing"). */
#include <math.h>
#include <stdbool.h>
#include "base/error.h"
#include "common/progress.h"
#include "run/fix/fixing.h"
#include "site/sun.h"

enum { LINEAR, GEOMETRIC };

static int schedule, update, precision;
static double from = 1.4, to = 0.1;
static long steps = 1000, micro = 3, check_every;
static const char *log_path;

static const lat_option options[] = {
    LAT_FIXING_GAUGE_OPTIONS,
    LAT_HEADING("Annealing"),
    {LAT_OPT_REAL, "from", 0, "T", &from, 1e-9, 1e9, "first temperature"},
    {LAT_OPT_REAL, "to", 0, "T", &to, 1e-9, 1e9, "last temperature"},
    {LAT_OPT_INT | LAT_OPT_LIMIT, "steps", 0, "N", &steps, 1, 1e8,
     "number of temperatures, first and last included"},
    {LAT_OPT_CHOICE, "schedule", 0, "linear|geometric", &schedule, 0, 0,
     "how the temperature falls"},
    {LAT_OPT_INT, "micro", 0, "K", &micro, 0, 1000, "microcanonical sweeps at each temperature"},
    {LAT_OPT_CHOICE, "update", 0, "heatbath|metropolis", &update, 0, 0,
     "how g is updated; metropolis is the reference for tests"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "precision of the sweeps; links are always rotated in double"},
    LAT_HEADING("Output"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "log", 'l', "FILE", &log_path, 0, 0,
     "write temperature and functional to FILE during the run"},
    {LAT_OPT_INT | LAT_OPT_LOCAL, "check-every", 0, "N", &check_every, 1, 1e8,
     "temperatures between two lines of the log and of progress (default: a hundredth of all)"},
    LAT_FIXING_OPTIONS,
    {0}};

static const lat_tool tool = {
    .name = "lat-anneal",
    .args = "[FILE]",
    .summary =
        "Brings every configuration in FILE or on stdin near a gauge by simulated annealing.",
    .example =
        "lat-anneal --from 1.4 --to 0.1 --steps 2000 cfg.lat | lat-orelax -o cfg.landau.lat\n"
        "lat-anneal --gauge mag --from 1 --to 0.1 --steps 500 cfg.lat | lat-orelax -o mag.lat\n"
        "lat-anneal --gauge coulomb --steps 100 --copies 8 cfg.lat | lat-orelax -o coulomb.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

/* The schedule of a copy, in lat_copy.number_of: from temperature `from` at step `first` to the
 * last one at step `steps - 1`. A run that is resumed with another --steps goes on from the
 * temperature that it has. */
typedef struct copy_schedule {
    double first, from, steps;
} copy_schedule;

/* Temperature number i; the last one is `to`. */
static double temperature(const lat_copy *c, long i)
{
    const copy_schedule *k = (const copy_schedule *)c->number_of;
    const long left = (long)(k->steps - 1 - k->first);
    const double s = left > 0 ? ((double)i - k->first) / (double)left : 1;
    return schedule == LINEAR ? k->from + (to - k->from) * s : k->from * pow(to / k->from, s);
}

/* Before step i: the schedule of each copy is that of --steps. */
static int set_schedule(const lat_fixing *f, long i)
{
    if (i >= steps)
        return lat_fail("%s: expected more --steps than the %ld of the checkpoint, found %ld",
                        f->name, i, steps);
    for (int k = 0; k < f->nbatch; k++) {
        copy_schedule *s = (copy_schedule *)f->batch[k]->number_of;
        if (s->steps != (double)steps) {
            const double now = s->steps > 0 ? temperature(f->batch[k], i) : from;
            *s = (copy_schedule){(double)i, now, (double)steps};
        }
    }
    return 0;
}

/* Steps a second, of the present copies. */
static struct {
    lat_rate steps;
    long config, first;
} pace = {.config = -1};

/* Before step i: the rate begins anew with other copies. */
static void begin_pace(const lat_fixing *f, long i)
{
    const long first = f->batch[0]->number;
    if (pace.config == f->config && pace.first == first)
        return;
    pace.steps = (lat_rate){.value = 0};
    pace.config = f->config;
    pace.first = first;
    lat_rate_sample(&pace.steps, (double)i);
}

/* The time left is that of the present copies. */
static void print_progress(const lat_fixing *f, lat_copy *const c[], int n, long i,
                           const lat_gauge_state *s)
{
    char left[LAT_LEFT], speed[LAT_LEFT];
    const double rate = lat_rate_sample(&pace.steps, (double)(i + 1));
    lat_progress("F %.10f  T %.4g  step %ld of %ld  %s  %s  copies %ld to %ld of %d  %s",
                 s[0].functional, temperature(c[0], i), i + 1, steps,
                 lat_rate_text(rate, "step", speed),
                 lat_left_text(rate > 0 ? (double)(steps - i - 1) / rate : NAN, left),
                 c[0]->number + 1, c[n - 1]->number + 1, f->copies, f->name);
}

/* The line of progress, and lines of the log if due. */
static int report(const lat_fixing *f, long i, bool due)
{
    lat_copy *const *c = f->batch;
    const int n = f->nbatch;
    FILE *log = due ? f->own : NULL;
    lat_gauge_state s[LAT_BATCH];
    const double seconds = lat_seconds() - f->start;
    if (lat_fix_state(f->fixer, s, NULL))
        return -1;
    for (int k = 0; k < n; k++) {
        if (!isfinite(s[k].functional))
            return lat_fail("%s: the functional became %g at step %ld: are the links in SU(N)?",
                            f->name, s[k].functional, i + 1);
        if (log)
            fprintf(log, "%s\t%ld\t%.9g\t%.15f\t%.6e\t%.3f\t%ld\n", f->name, i + 1,
                    temperature(c[k], i), s[k].functional, s[k].theta, seconds, c[k]->number);
    }
    print_progress(f, c, n, i, s);
    return 0;
}

/* Did rank 0 receive SIGUSR1, which asks for a line of progress? 1 or 0 on all ranks, or -1. */
static int progress_asked(const lat_fixing *f)
{
    int yes = lat_progress_asked();
    return f->comm->broadcast(f->comm, &yes, sizeof yes, 0) ? -1 : yes;
}

/* One temperature; the number of sweeps of a copy is its position in the schedule. */
static int advance(lat_fixing *f)
{
    lat_copy *const *c = f->batch;
    const int n = f->nbatch;
    const long i = c[0]->sweeps / (1 + micro), every = check_every   ? check_every
                                                       : steps > 100 ? steps / 100
                                                                     : 1;
    if (set_schedule(f, i))
        return -1;
    begin_pace(f, i);
    const lat_sweep draw = {.update = update ? LAT_UPDATE_METROPOLIS : LAT_UPDATE_HEATBATH,
                            .temperature = temperature(c[0], i),
                            .seed = lat_fixing_opts.seed + (uint64_t)c[0]->number,
                            .config = (uint32_t)f->config,
                            .step = LAT_FOR_ANNEAL + (uint32_t)i};
    const lat_sweep micro_sweep = {.update = LAT_UPDATE_MICROCANONICAL, .temperature = 1};
    if (lat_fix_sweep(f->fixer, &draw, 1)
        || (micro && lat_fix_sweep(f->fixer, &micro_sweep, micro)))
        return -1;
    for (int k = 0; k < n; k++)
        c[k]->sweeps += 1 + micro;
    const bool due = (i + 1) % every == 0 || i + 1 == steps;
    const int now = due ? 1 : progress_asked(f);
    if (now < 0 || (now && report(f, i, due)))
        return -1;
    return i + 1 == steps;
}

static void describe(const lat_fixing *f, const lat_copy *c, char *text, size_t size)
{
    snprintf(text, size, "%s, %s, F %.15f", f->device_text, lat_gauge_name(f->condition.gauge),
             c->state.functional);
}

static void check_usage(void)
{
    if (from < to)
        lat_usage("--from: expected a temperature of at least --to %g, found %g", to, from);
    if (steps == 1 && (lat_opt_given("schedule") || (lat_opt_given("from") && from > to)))
        lat_usage("--steps 1 is the temperature of --to alone: --from and --schedule are for more");
}

int main(int argc, char **argv)
{
    FILE *log = NULL;
    lat_options_parse(&tool, argc, argv);
    check_usage();
    const lat_algorithm a = {.select = LAT_SELECT_ALL,
                             .precision = {precision ? LAT_F64 : LAT_F32},
                             .stages = 1,
                             .theta = INFINITY,
                             .store = LAT_F64,
                             .advance = advance,
                             .describe = describe};
    lat_usage_if_input("log", log_path);
    if (log_path
        && !(log = lat_log_open(log_path, "config\tstep\tT\tF\ttheta\tseconds\tcopy",
                                lat_opts.comm)))
        return lat_report(LAT_FAILED);
    int rc = lat_fixing_run(&a, log);
    if (lat_log_close(log, log_path) && rc == LAT_DONE)
        rc = lat_report(LAT_FAILED);
    return rc;
}
