/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-orelax: relaxation and overrelaxation to a gauge condition.
 *
 * The links stay as they were read; sweeps move the transformation g; at the end g is applied
 * once, in double precision (docs/conventions.md, "Sweeps and precisions"). */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "backend/backend.h"
#include "common/error.h"
#include "common/measure.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stream.h"
#include "common/tool.h"
#include "common/transform.h"

enum { SINGLE, MIXED, DOUBLE };
static const char *const precisions[] = {"single", "mixed", "double"}, *const schemes[] = {"su3", "su2"};

static int gauge, device, time_axis = -1, scheme = LAT_OVERRELAX_SU3, precision = DOUBLE, store;
static double omega = 1.7, theta = 1e-12;
static long max_sweeps = 100000, check_every = 10, ranks = 1;
static const char *save_g, *log_path, *slice_log, *weights;
static bool keep;

static const lat_option options[] = {
    {LAT_OPT_CHOICE, "gauge", 0, LAT_GAUGES, &gauge, 0, 0, "gauge condition; mag: maximally Abelian", false},
    {LAT_OPT_CHOICE, "time", 0, "x|y|z|t", &time_axis, 0, 0,
     "direction across which Coulomb gauge cuts slices (default: the last)", false},
    {LAT_OPT_TEXT, "weights", 0, "WX,WY,..", &weights, 0, 0, "of the directions in Landau gauge (default 1)", false},
    {LAT_OPT_CHOICE, "overrelax", 0, "su3|su2", &scheme, 0, 0,
     "overrelax the whole SU(3) element, or SU(2) subgroup by subgroup as the papers do", false},
    {LAT_OPT_REAL, "omega", 'w', "OMEGA", &omega, 1.0, 1.999, "overrelaxation; 1 is plain relaxation", false},
    {LAT_OPT_REAL, "theta", 't', "THETA", &theta, 0, 1e9, "done when theta (of each slice in Coulomb gauge) is below this", false},
    {LAT_OPT_INT, "max-sweeps", 0, "N", &max_sweeps, 0, 2e9, "give up after N sweeps: exit 3, no output", false},
    {LAT_OPT_INT, "check-every", 0, "N", &check_every, 1, 1e6, "sweeps between two looks at theta", false},
    {LAT_OPT_CHOICE, "precision", 'p', "single|mixed|double", &precision, 0, 0,
     "of the sweeps; mixed begins in single and ends in double", false},
    {LAT_OPT_CHOICE, "store", 0, "double|single", &store, 0, 0,
     "precision of the links written; single holds theta to 1e-14", false},
    {LAT_OPT_FLAG, "keep", 'k', NULL, &keep, 0, 0, "write what has not converged too (still exit 3)", true},
    {LAT_OPT_TEXT, "save-g", 0, "FILE", &save_g, 0, 0, "save the transformation, for lat-gauge --apply", true},
    {LAT_OPT_TEXT, "log", 'l', "FILE", &log_path, 0, 0, "theta and functional as they go, tab-separated", true},
    {LAT_OPT_TEXT, "slice-log", 0, "FILE", &slice_log, 0, 0, "theta of every slice as it goes", true},
    {LAT_OPT_CHOICE, "device", 0, LAT_DEVICES, &device, 0, 0, "where sweeps run; auto: the fastest there is", false},
    {LAT_OPT_INT, "ranks", 'n', "N", &ranks, 1, 65536, "ranks to share the lattice", true},
    {0},
};

static const lat_tool tool = {
    .name = "lat-orelax",
    .args = "[FILE]",
    .summary = "Fix the gauge of every configuration in FILE or on stdin by overrelaxation.",
    .example = "lat-convert cfg.0100.lime | lat-orelax --theta 1e-14 -o cfg.0100.landau.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
};

typedef struct run {
    const lat_backend *backend;
    const lat_comm *comm;
    FILE *log, *slice_log;
    lat_output *g_out;
    long done;          /* configurations */
    bool unconverged;   /* any of them */
    /* of the configuration at hand */
    char name[512];
    lat_condition condition;
    int slices;
    double *theta;      /* of each slice */
    double start;
    long sweeps;
    char words[64];     /* of the device, for provenance */
} run;

/* The smallest theta that sweeps are sure to reach. Delta is made of the elements of x = g K, of
 * size 2 D, so rounding alone gives theta about (2 D eps)^2, and overrelaxation amplifies what
 * each visit adds by 1/(2 - omega). Measured on thermal links in single precision:
 * 1.4e-12 / (2 - omega), the same for both schemes and all vector lengths; here with a factor 3. */
static double theta_floor(lat_real real)
{
    const double at_one = 1200 * (real == LAT_F32 ? 0x1p-48 : 0x1p-106);
    return at_one / (2 - omega);
}

/* What rounding the links to single precision makes of theta: 2 D links of rounding 2^-24 each and
 * three rows, 3e-15 to 4e-15 on thermal links; here with a factor 3. */
#define STORED_SINGLE 1e-14

static void tell(const run *r, const lat_gauge_state *s)
{
    double seconds = lat_seconds() - r->start;
    if (r->log)
        fprintf(r->log, "%s\t%ld\t%.6e\t%.15f\t%.3f\n", r->name, r->sweeps, s->theta, s->functional, seconds);
    for (int i = 0; r->slice_log && i < r->slices; i++)
        fprintf(r->slice_log, "%s\t%ld\t%d\t%.6e\n", r->name, r->sweeps, i, r->theta[i]);
    lat_progress("%s: sweep %ld  theta %.3e  F %.12f  %.1f sweeps/s", r->name, r->sweeps, s->theta, s->functional,
                 seconds > 0 ? (double)r->sweeps / seconds : 0.0);
}

/* Near the floor of a precision theta falls by a tenth in so many sweeps, or not at all. */
#define PATIENCE 500

/* Sweeps on one device until theta is below `target`: 1 if it is; 0 if sweeps ran out or theta,
 * near its floor, has ceased to fall; -1 on failure. */
static int relax(run *r, lat_device *dev, lat_real real, double target)
{
    const lat_sweep how = {.kind = LAT_SWEEP_RELAX, .scheme = scheme, .omega = &omega};
    lat_gauge_state s;
    const double low = 100 * theta_floor(real);
    double best = INFINITY;
    long since = r->sweeps; /* the last time theta had fallen by a tenth */
    for (;;) {
        if (dev->backend->state(dev, &s, r->theta))
            return -1;
        tell(r, &s);
        if (!isfinite(s.theta) || !isfinite(s.functional))
            return lat_fail("%s: theta became %g after %ld sweeps: are the links in SU(N)?", r->name, s.theta, r->sweeps);
        if (s.theta_slice < target)
            return 1;
        if (s.theta_slice < 0.9 * best) {
            best = s.theta_slice;
            since = r->sweeps;
        }
        if (r->sweeps >= max_sweeps || (s.theta_slice < low && r->sweeps - since >= PATIENCE))
            return 0;
        dev->backend->freeze(dev, &target);
        long n = max_sweeps - r->sweeps < check_every ? max_sweeps - r->sweeps : check_every;
        if (dev->backend->sweep(dev, &how, n))
            return -1;
        r->sweeps += n;
    }
}

/* One rung of the precision ladder: g goes on from where it is. */
static int rung(run *r, const lat_field *u, lat_field *g, lat_real real, double target)
{
    lat_device *dev = r->backend->open(u, &r->condition, real, 1, r->comm);
    if (!dev)
        return -1;
    snprintf(r->words, sizeof r->words, "%s", r->backend->words(dev));
    int rc = r->sweeps > 0 && r->backend->set(dev, 0, g) ? -1 : relax(r, dev, real, target);
    if (rc >= 0 && (r->backend->get(dev, 0, g) || lat_transform_project(g)))
        rc = -1;
    r->backend->close(dev);
    return rc;
}

static int find_g(run *r, const lat_field *u, lat_field *g)
{
    if (precision != DOUBLE) {
        /* Theta seen in single differs from that of the links by rounding: aim a little lower. */
        double target = precision == MIXED ? fmax(theta, theta_floor(LAT_F32)) : 0.8 * theta;
        if (rung(r, u, g, LAT_F32, target) < 0)
            return -1;
    }
    if (precision != SINGLE && rung(r, u, g, LAT_F64, theta) < 0)
        return -1;
    return 0;
}

/* Applies g to the links and judges them as they will be written. */
static int finish(run *r, lat_field *f, const lat_field *g)
{
    lat_gauge_state s;
    if (lat_field_convert(f, LAT_F64) || lat_transform_apply(f, g))
        return LAT_FAILED;
    if (store == 1 && lat_field_convert(f, LAT_F32))
        return LAT_FAILED;
    if (lat_measure_gauge(f, &r->condition, &s, r->theta))
        return LAT_FAILED;
    lat_condition_write(&f->head, &r->condition);
    f->head.functional = s.functional;
    f->head.theta = s.theta;
    f->head.sweeps = r->sweeps;
    const bool good = s.theta_slice < theta;
    if (r->log)
        fprintf(r->log, "# %s %s sweeps=%ld theta=%.6e functional=%.15f seconds=%.3f\n", r->name,
                good ? "converged" : "not-converged", r->sweeps, s.theta, s.functional, lat_seconds() - r->start);
    lat_progress_end();
    if (!good) {
        r->unconverged = true;
        lat_fail("%s: not converged: theta %.3e%s after %ld sweeps, wanted below %.3e%s", r->name, s.theta_slice,
                 r->slices > 1 ? " of a slice" : "", r->sweeps,
                 theta, store == 1 ? " in links stored in single" : "");
        if (!keep)
            return LAT_UNCONVERGED;
        lat_report(LAT_UNCONVERGED);
        lat_error_clear();
    }
    return lat_provenance(&f->head, "%s, %s omega %g %s, %ld sweeps, theta %.3e, F %.15f", r->words, schemes[scheme],
                          omega, precisions[precision], r->sweeps, s.theta, s.functional) ? LAT_FAILED : LAT_DONE;
}

static int fix(lat_field *f, long index, void *context)
{
    run *r = context;
    lat_field g;
    snprintf(r->name, sizeof r->name, "%.480s:%ld", lat_opts.input ? lat_opts.input : "stdin", index);
    r->sweeps = 0;
    r->start = lat_seconds();
    if (f->head.kind != LAT_GAUGE) {
        lat_fail("%s: expected a gauge field, found a gauge transformation", r->name);
        return LAT_FAILED;
    }
    if (lat_condition_make((lat_gauge)gauge, time_axis, weights, &f->head.geom, &r->condition)
        || !(r->theta = lat_alloc((size_t)(r->slices = lat_condition_slices(&r->condition, &f->head.geom)),
                                  sizeof *r->theta, "theta of slices")))
        return LAT_FAILED;
    if (lat_transform_new(&g, &f->head)) {
        free(r->theta);
        return LAT_FAILED;
    }
    int rc = find_g(r, f, &g) ? LAT_FAILED : finish(r, f, &g);
    if (rc == LAT_DONE && r->g_out
        && (lat_provenance(&g.head, "%s, %ld sweeps", r->words, r->sweeps) || lat_stream_write(r->g_out, &g, lat_opts.store)))
        rc = LAT_FAILED;
    lat_field_free(&g);
    free(r->theta);
    return rc;
}

/* The transformations first: links whose transformation was lost would be worse than none. */
static int last(long fields, void *context)
{
    run *r = context;
    lat_output *out = r->g_out;
    (void)fields;
    r->g_out = NULL;
    return out && lat_stream_commit(out) ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    run r = {.log = NULL};
    lat_options_parse(&tool, argc, argv);
    if (precision == SINGLE && theta < 2 * theta_floor(LAT_F32))
        lat_usage("--theta %g is below what sweeps in single precision reach at this omega (%.1e): "
                  "use --precision mixed", theta, 2 * theta_floor(LAT_F32));
    if (store == 1 && theta < STORED_SINGLE)
        lat_usage("--theta %g is below what links stored in single precision can hold (%g)", theta, STORED_SINGLE);
    if (!(r.backend = lat_backend_find((lat_device_choice)device)) || !(r.comm = lat_comm_open((int)ranks)))
        return lat_report(LAT_FAILED);
    if (save_g && !(r.g_out = lat_output_open(save_g, lat_opts.no_clobber ? LAT_OUTPUT_NO_CLOBBER : 0)))
        return lat_report(LAT_FAILED);
    if ((log_path && !(r.log = lat_log_open(log_path, "config\tsweep\ttheta\tF\tseconds")))
        || (slice_log && !(r.slice_log = lat_log_open(slice_log, "config\tsweep\tslice\ttheta")))) {
        lat_output_abort(r.g_out);
        return lat_report(LAT_FAILED);
    }
    int rc = lat_filter_run(fix, last, &r);
    lat_progress_end();
    lat_output_abort(r.g_out);
    const int lost = lat_log_close(r.log, log_path), slices_lost = lat_log_close(r.slice_log, slice_log);
    if ((lost || slices_lost) && rc == LAT_DONE)
        rc = lat_report(LAT_FAILED);
    return rc == LAT_DONE && r.unconverged ? LAT_UNCONVERGED : rc;
}
