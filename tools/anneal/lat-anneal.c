/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-anneal: simulated annealing of the gauge, before lat-orelax.
 *
 * At each temperature one sweep draws g with weight exp(f / T), then microcanonical sweeps move it far at
 * constant f (gauge-fixing paper, section 2.2; docs/conventions.md, "Annealing"). */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "backend/backend.h"
#include "common/error.h"
#include "common/measure.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/tool.h"
#include "common/transform.h"
#include "site/sun.h"

enum { LINEAR, GEOMETRIC };

static int gauge, device, time_axis = -1, schedule, update, precision;
static double from = 1.4, to = 0.1;
static long steps = 1000, micro = 3, check_every, ranks = 1;
static uint64_t seed = 1;
static const char *log_path, *weights;

static const lat_option options[] = {
    {LAT_OPT_CHOICE, "gauge", 0, LAT_GAUGES, &gauge, 0, 0, "gauge condition; mag: maximally Abelian", false},
    {LAT_OPT_CHOICE, "time", 0, "x|y|z|t", &time_axis, 0, 0,
     "direction across which Coulomb gauge cuts slices (default: the last)", false},
    {LAT_OPT_TEXT, "weights", 0, "WX,WY,..", &weights, 0, 0, "of the directions in Landau gauge (default 1)", false},
    {LAT_OPT_REAL, "from", 0, "T", &from, 1e-9, 1e9, "first temperature", false},
    {LAT_OPT_REAL, "to", 0, "T", &to, 1e-9, 1e9, "last temperature", false},
    {LAT_OPT_INT, "steps", 0, "N", &steps, 1, 1e8, "temperatures, both ends among them", false},
    {LAT_OPT_CHOICE, "schedule", 0, "linear|geometric", &schedule, 0, 0, "how temperatures fall", false},
    {LAT_OPT_INT, "micro", 0, "K", &micro, 0, 1000, "microcanonical sweeps at each temperature", false},
    {LAT_OPT_CHOICE, "update", 0, "heatbath|metropolis", &update, 0, 0,
     "how g is drawn; metropolis is the reference for tests", false},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "of the random numbers", false},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "of the sweeps; the links are rotated in double either way", false},
    {LAT_OPT_TEXT, "log", 'l', "FILE", &log_path, 0, 0, "temperature and functional as they go", true},
    {LAT_OPT_INT, "check-every", 0, "N", &check_every, 1, 1e8,
     "temperatures between two lines of the log (default: a hundredth of all)", true},
    {LAT_OPT_CHOICE, "device", 0, LAT_DEVICES, &device, 0, 0, "where sweeps run; auto: the fastest there is", false},
    {LAT_OPT_INT, "ranks", 'n', "N", &ranks, 1, 65536, "ranks to share the lattice", true},
    {0},
};

static const lat_tool tool = {
    .name = "lat-anneal",
    .args = "[FILE]",
    .summary = "Bring every configuration in FILE or on stdin near a gauge by simulated annealing.",
    .example = "lat-anneal --from 1.4 --to 0.1 --steps 2000 cfg.lat | lat-orelax -o cfg.landau.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
};

typedef struct run {
    const lat_backend *backend;
    const lat_comm *comm;
    FILE *log;
    char name[512];
    double start;
    char words[64];
} run;

/* Temperature number i of `steps`: both ends are reached. */
static double temperature(long i)
{
    const double s = steps > 1 ? (double)i / (double)(steps - 1) : 1;
    return schedule == LINEAR ? from + (to - from) * s : from * pow(to / from, s);
}

static int tell(run *r, lat_device *dev, long i)
{
    lat_gauge_state s;
    if (dev->backend->state(dev, &s, NULL))
        return -1;
    if (!isfinite(s.functional))
        return lat_fail("%s: the functional became %g at step %ld: are the links in SU(N)?", r->name, s.functional, i + 1);
    const double seconds = lat_seconds() - r->start;
    if (r->log)
        fprintf(r->log, "%s\t%ld\t%.9g\t%.15f\t%.6e\t%.3f\n", r->name, i + 1, temperature(i), s.functional, s.theta, seconds);
    lat_progress("%s: step %ld of %ld  T %.4g  F %.12f  %.0f s left", r->name, i + 1, steps, temperature(i), s.functional,
                 seconds / (double)(i + 1) * (double)(steps - i - 1));
    return 0;
}

static int anneal(run *r, lat_device *dev, long index)
{
    lat_sweep draw = {.kind = update ? LAT_SWEEP_METROPOLIS : LAT_SWEEP_HEATBATH, .seed = seed, .config = (uint32_t)index};
    const lat_sweep mirror = {.kind = LAT_SWEEP_MICRO, .temperature = 1};
    const long every = check_every ? check_every : steps > 100 ? steps / 100 : 1;
    for (long i = 0; i < steps; i++) {
        draw.temperature = temperature(i);
        draw.step = LAT_FOR_ANNEAL + (uint32_t)i;
        if (dev->backend->sweep(dev, &draw, 1) || (micro && dev->backend->sweep(dev, &mirror, micro)))
            return -1;
        if (((i + 1) % every == 0 || i + 1 == steps) && tell(r, dev, i))
            return -1;
    }
    return 0;
}

static int rotate(run *r, lat_field *f, const lat_field *g, const lat_condition *c)
{
    lat_gauge_state s;
    if (lat_field_convert(f, LAT_F64) || lat_transform_apply(f, g) || lat_measure_gauge(f, c, &s, NULL))
        return -1;
    lat_progress_end();
    return lat_provenance(&f->head, "%s, %s, F %.15f", r->words, lat_gauge_name(c->gauge), s.functional);
}

static int each(lat_field *f, long index, void *context)
{
    run *r = context;
    lat_condition c;
    lat_field g;
    snprintf(r->name, sizeof r->name, "%.480s:%ld", lat_opts.input ? lat_opts.input : "stdin", index);
    r->start = lat_seconds();
    if (f->head.kind != LAT_GAUGE) {
        lat_fail("%s: expected a gauge field, found a gauge transformation", r->name);
        return LAT_FAILED;
    }
    if (lat_condition_make((lat_gauge)gauge, time_axis, weights, &f->head.geom, &c) || lat_transform_new(&g, &f->head))
        return LAT_FAILED;
    lat_device *dev = r->backend->open(f, &c, precision ? LAT_F64 : LAT_F32, 1, r->comm);
    int rc = dev ? 0 : -1;
    if (dev) {
        snprintf(r->words, sizeof r->words, "%s", r->backend->words(dev));
        rc = anneal(r, dev, index) || r->backend->get(dev, 0, &g) || lat_transform_project(&g) ? -1 : 0;
        r->backend->close(dev);
    }
    if (rc == 0)
        rc = rotate(r, f, &g, &c);
    lat_field_free(&g);
    return rc ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    run r = {.log = NULL};
    lat_options_parse(&tool, argc, argv);
    if (!(r.backend = lat_backend_find((lat_device_choice)device)) || !(r.comm = lat_comm_open((int)ranks)))
        return lat_report(LAT_FAILED);
    if (log_path && !(r.log = lat_log_open(log_path, "config\tstep\tT\tF\ttheta\tseconds")))
        return lat_report(LAT_FAILED);
    int rc = lat_filter_run(each, NULL, &r);
    lat_progress_end();
    if (lat_log_close(r.log, log_path) && rc == LAT_DONE)
        rc = lat_report(LAT_FAILED);
    return rc;
}
