/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-heatbath: configurations of SU(N) pure gauge theory, Wilson action (arXiv:1112.4533, section
 * 2; docs/conventions.md, "Configurations").
 *
 * A sweep of this tool is one heat bath sweep over all links and --overrelax overrelaxation sweeps.
 * A configuration that is written is the whole state: a run that continues from its last
 * configuration gives the same bytes as one that was not interrupted. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "generate/generate.h"
#include "lattice/box.h"
#include "base/error.h"
#include "common/io.h"
#include "common/numbered.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "stream/stream.h"
#include "run/common/device_options.h"
#include "run/common/resume.h"
#include "run/common/tool.h"
#include "site/sun.h"
#include "heatbath.h"

enum { HEATBATH, METROPOLIS };

static lat_device_options device;
static long count = 1, check_every = 1;
static const char *log_path, *checkpoint;
static long checkpoint_every = 600;

lat_heatbath_options lat_heatbath_opts = {.start = LAT_HEATBATH_COLD,
                                          .precision = 1,
                                          .group = 3,
                                          .overrelax = 4,
                                          .thermalise = -1,
                                          .every = 10,
                                          .seed = 1,
                                          .beta = NAN,
                                          .xi = 1};
static lat_heatbath_options *const opts = &lat_heatbath_opts;

static const lat_option options[] = {
    LAT_HEADING("Lattice and action"),
    {LAT_OPT_DIMS, "dims", 'd', "X,Y,Z,T", &lat_heatbath_opts.geom, 0, 0,
     "extents, 1 to 4, all even (needed for a new run)"},
    {LAT_OPT_INT, "group", 'N', "N", &lat_heatbath_opts.group, 2, LAT_MAX_COLOURS, "SU(N)"},
    {LAT_OPT_REAL, "beta", 'b', "BETA", &lat_heatbath_opts.beta, 0, 1e6,
     "coupling, 2 N / g^2 (needed for a new run)"},
    {LAT_OPT_REAL, "xi", 0, "XI", &lat_heatbath_opts.xi, 1e-3, 1e3,
     "bare anisotropy: planes with the last direction have weight XI, others 1/XI"},
    LAT_HEADING("Sweeps"),
    {LAT_OPT_CHOICE, "start", 0, "hot|cold", &lat_heatbath_opts.start, 0, 0,
     "hot: Haar random links; cold: all links 1"},
    {LAT_OPT_INT, "thermalise", 0, "N", &lat_heatbath_opts.thermalise, 0, LAT_HEATBATH_SWEEPS,
     "sweeps before the first --every (default: 500; 0 when continuing)"},
    {LAT_OPT_INT, "every", 'e', "N", &lat_heatbath_opts.every, 1, LAT_HEATBATH_SWEEPS,
     "sweeps from one configuration to the next"},
    {LAT_OPT_INT | LAT_OPT_LOCAL, "count", 0, "K", &count, 1, 1 << 24,
     "number of configurations to write"},
    {LAT_OPT_CHOICE, "update", 0, "heatbath|metropolis", &lat_heatbath_opts.update, 0, 0,
     "how links are updated; metropolis is the reference for tests"},
    {LAT_OPT_INT, "overrelax", 0, "K", &lat_heatbath_opts.overrelax, 0, 1000,
     "overrelaxation sweeps after each heat bath sweep"},
    {LAT_OPT_SEED, "seed", 's', "SEED", &lat_heatbath_opts.seed, 0, 0,
     "seed of the random numbers"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &lat_heatbath_opts.precision, 0, 0,
     "precision of sweeps and links"},
    LAT_HEADING("Output"),
    {LAT_OPT_INT, "rows", 0, "ROWS", &lat_heatbath_opts.rows, 1, LAT_MAX_COLOURS,
     "rows of each link to store (default: 1 for SU(2) and 2 for SU(3), both without loss; else "
     "N)"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "log", 'l', "FILE", &log_path, 0, 0,
     "write plaquettes to FILE during the run"},
    {LAT_OPT_INT | LAT_OPT_LOCAL, "check-every", 0, "N", &check_every, 1, 1e8,
     "sweeps between two lines of the log"},
    LAT_HEADING("Run"),
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "continue", 0, NULL, &lat_heatbath_opts.continued, 0, 0,
     "continue from the last configuration on stdin, as with FILE"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "write checkpoints to FILE, which must be new, or the FILE of --resume"},
    {LAT_OPT_INT | LAT_OPT_LOCAL, "checkpoint-every", 0, "SECONDS", &checkpoint_every, 0, 1e7,
     "time between two checkpoints"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "resume", 0, "FILE", &lat_heatbath_opts.resume, 0, 0,
     "continue from the checkpoint FILE, with the same options"},
    LAT_HEADING("Device"),
    LAT_DEVICE_OPTIONS(device),
    {0}};

static const lat_tool tool = {
    .name = "lat-heatbath",
    .args = "[FILE]",
    .summary =
        "Makes configurations of SU(N) pure gauge theory, or continues from the last one in FILE.",
    .example = "lat-heatbath --dims 8,8,8,8 --beta 6.0 --count 100 -o 'cfg.%04d.lat'\n"
               "lat-heatbath --every 10 --count 5 cfg.0099.lat -o 'more.%04d.lat'\n"
               "lat-heatbath --dims 8,8,8,16 --beta 6.0 --thermalise 200 | lat-flow",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

/* ---- the header of a configuration ---- */

static int set_info(lat_header *head, bool *changed, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets info.KEY; *changed becomes true if it was something else. */
static int set_info(lat_header *head, bool *changed, const char *key, const char *format, ...)
{
    char text[64];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    const char *old = lat_info_get(head, key);
    if (old && !strcmp(old, text))
        return 0;
    *changed = true;
    return lat_info_set(head, key, text);
}

/* A number in as few digits as read back the same. */
static int set_info_real(lat_header *head, bool *changed, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    return set_info(head, changed, key, "%s", text);
}

/* Sets the parameters of the run, and adds a line of history, unless the run continues with the
 * same parameters on the same device: then the header is that of a run that was not interrupted. */
static int describe(lat_heatbath_run *r)
{
    lat_header *head = &r->field.head;
    const char *device_text = lat_generate_description(r->gen);
    const lat_lines *history = &head->history;
    const char *last = history->count ? history->line[history->count - 1] : "";
    const int reals = 2 * (int)(opts->rows * opts->group);
    bool changed = strncmp(last, "lat-heatbath ", 13) != 0 || !strstr(last, device_text) || r->other
                   || head->reals != reals;
    head->reals = reals;
    if (set_info_real(head, &changed, "beta", opts->beta)
        || set_info_real(head, &changed, "xi", opts->xi)
        || set_info(head, &changed, "update", "%s", opts->update ? "metropolis" : "heatbath")
        || set_info(head, &changed, "overrelax", "%ld", opts->overrelax)
        || set_info(head, &changed, "seed", "%llu", (unsigned long long)opts->seed)
        || set_info(head, &changed, "every", "%ld", opts->every))
        return -1;
    return changed ? lat_provenance(head, "%s", device_text) : 0;
}

/* ---- sweeps ---- */

/* Measures the plaquette, and adds a line to the log, if there is one. */
static int log_plaquette(lat_heatbath_run *r, FILE *log)
{
    double spatial, temporal;
    if (lat_generate_plaquette(r->gen, &spatial, &temporal))
        return -1;
    const int nd = r->field.head.geom.nd;
    r->plaquette = nd < 2 ? NAN : nd == 2 ? temporal : (spatial * (nd - 2) + 2 * temporal) / nd;
    if (nd > 1 && !isfinite(r->plaquette))
        return lat_fail("the plaquette became %g at sweep %ld: are the links in SU(N)?",
                        r->plaquette, r->sweep);
    r->measured = r->sweep;
    if (log)
        fprintf(log, "%ld\t%.15f\t%.15f\t%.15f\t%.3f\n", r->sweep, r->plaquette, spatial, temporal,
                lat_seconds());
    return 0;
}

/* Where the plaquette takes long, it is measured less often than lines are printed. */
static int progress(lat_heatbath_run *r, bool measure)
{
    char speed[LAT_LEFT], left[LAT_LEFT];
    if (measure && r->measured != r->sweep) {
        const double begin = lat_seconds();
        if (log_plaquette(r, NULL))
            return -1;
        r->when = lat_seconds();
        r->cost = r->when - begin;
    }
    const double rate = lat_rate_sample(&r->rate, (double)r->sweep);
    const long last = r->due + (count - r->written - 1) * opts->every;
    lat_progress("plaquette %.8f  sweep %ld of %ld  %s  %s  configuration %ld of %ld", r->plaquette,
                 r->sweep, last, lat_rate_text(rate, "sweep", speed),
                 lat_left_text(rate > 0 ? (double)(last - r->sweep) / rate : NAN, left),
                 r->written + 1, count);
    return 0;
}

/* The whole state in a file: a configuration, and how far the run is. */
static int write_checkpoint(lat_heatbath_run *r)
{
    char state[80];
    bool changed;
    lat_field k = {.data = r->field.data, .comm = r->field.comm};
    lat_output *out = lat_output_open(checkpoint, 0, lat_opts.comm);
    int rc = lat_agree(lat_opts.comm, out ? 0 : -1);
    snprintf(state, sizeof state, "%ld %ld %ld", r->number, r->due, r->written);
    if (rc == 0 && (rc = lat_header_copy(&k.head, &r->field.head)) == 0) {
        k.head.plaquette = k.head.link_trace = NAN;
        if (set_info(&k.head, &changed, "sweep", "%ld", r->sweep)
            || lat_info_set(&k.head, "checkpoint.run", r->text)
            || lat_info_set(&k.head, "checkpoint.state", state)
            || (*r->of && lat_info_set(&k.head, "checkpoint.of", r->of))
            || lat_stream_write(out, &k, lat_opts.store))
            rc = -1;
        lat_header_free(&k.head);
    }
    if (rc == 0)
        return lat_stream_commit(out);
    lat_output_abort(out);
    return -1;
}

/* A checkpoint that cannot be written is a warning. */
static int save(lat_heatbath_run *r)
{
    if (lat_generate_get(r->gen, &r->field))
        return -1;
    const bool saved = write_checkpoint(r) == 0;
    lat_progress_end();
    r->kept = r->kept || saved;
    if (saved)
        lat_resume_written(checkpoint);
    else
        lat_warn("no checkpoint: %s", lat_error());
    lat_error_clear();
    r->saved = lat_seconds();
    if (r->stopped)
        lat_resume_stopped(checkpoint, saved, r->stopped);
    return r->stopped ? -1 : 0;
}

/* After a sweep: is there anything to do beside sweeps? Rank 0 has terminal and clock. */
static int tick(lat_heatbath_run *r)
{
    const bool root = lat_opts.comm->rank == 0;
    double ask[3] = {checkpoint ? lat_stop_asked() : 0, 0, 0};
    if (root && checkpoint && lat_seconds() - r->saved >= (double)checkpoint_every)
        ask[1] = 1;
    if (root && lat_progress_due())
        ask[2] = r->measured == 0 || lat_progress_asked() || lat_seconds() - r->when > 50 * r->cost
                     ? 2
                     : 1;
    if (lat_opts.comm->max(lat_opts.comm, ask, 3))
        return -1;
    if (ask[2] > 0 && progress(r, ask[2] > 1))
        return -1;
    r->stopped = (int)ask[0];
    return ask[0] > 0 || ask[1] > 0 ? save(r) : 0;
}

static int sweeps(lat_heatbath_run *r, long n)
{
    lat_link_sweep draw = {.update = opts->update ? LAT_UPDATE_METROPOLIS : LAT_UPDATE_HEATBATH,
                           .seed = opts->seed};
    const lat_link_sweep reflection = {.update = LAT_UPDATE_MICROCANONICAL};
    for (long i = 0; i < n; i++) {
        if (++r->sweep > LAT_HEATBATH_SWEEPS)
            return lat_fail(
                "expected at most %ld sweeps in all, which is what its random numbers last for",
                LAT_HEATBATH_SWEEPS);
        draw.step = LAT_FOR_LINKS + (uint32_t)r->sweep;
        if (lat_generate_sweep(r->gen, &draw, 1)
            || (opts->overrelax && lat_generate_sweep(r->gen, &reflection, opts->overrelax)))
            return -1;
        if ((r->log && r->sweep % check_every == 0 && log_plaquette(r, r->log)) || tick(r))
            return -1;
    }
    return 0;
}

/* ---- output ---- */

/* Opens the file of the next configuration, or the stream. Before the sweeps, so that a file that
 * cannot be written is reported early. */
static int open_output(lat_heatbath_run *r)
{
    char *name = r->numbered ? lat_numbered(lat_opts.output, r->number) : NULL;
    if (r->numbered && !name)
        return -1;
    r->out = lat_output_open(name ? name : lat_opts.output, lat_output_flags(), lat_opts.comm);
    free(name);
    return r->out ? 0 : -1;
}

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Can checkpoints be written, where no configuration will be? */
static int check_checkpoint(const lat_heatbath_run *r)
{
    const bool root = lat_opts.comm->rank == 0;
    int rc = 0;
    for (long i = 0; rc == 0 && root && checkpoint && r->numbered && i < count - r->written; i++) {
        char *name = lat_numbered(lat_opts.output, r->number + i);
        rc = name ? 0 : -1;
        if (name && !strcmp(without_folder(checkpoint), without_folder(name))
            && lat_one_file(checkpoint, name))
            rc = lat_fail_usage("--checkpoint %s is an output as well", checkpoint);
        free(name);
    }
    return lat_agree(lat_opts.comm, rc) ? -1 : lat_checkpoint_possible(checkpoint, lat_opts.comm);
}

static int write_one(lat_heatbath_run *r)
{
    lat_header *head = &r->field.head;
    bool changed;
    if (lat_generate_get(r->gen, &r->field) || set_info(head, &changed, "sweep", "%ld", r->sweep)
        || set_info(head, &changed, "sequence_number", "%ld", r->number))
        return -1;
    r->number++;
    head->plaquette = head->link_trace = NAN; /* measured by the writer */
    if (lat_stream_write(r->out, &r->field, lat_opts.store))
        return -1;
    lat_output *out = r->out;
    if (r->numbered)
        r->out = NULL;
    return r->numbered ? lat_stream_commit(out) : 0;
}

static int generate(lat_heatbath_run *r)
{
    char ranks[64];
    const lat_action action = {.beta = opts->beta, .xi = opts->xi};
    if (lat_field_exchange(&r->field)
        || !(r->gen = lat_generate_open(r->device, &r->field, r->field.head.real, &action))
        || describe(r))
        return -1;
    lat_verbose("sweeps by %s, grid %s", lat_generate_description(r->gen),
                lat_box_text(lat_opts.comm, &r->field.head.geom, ranks));
    if (!opts->resume)
        r->due = r->sweep + opts->thermalise + opts->every;
    lat_rate_sample(&r->rate, (double)r->sweep);
    for (; r->written < count; r->written++, r->due += opts->every) {
        if (!r->out && open_output(r))
            return -1;
        if (checkpoint)
            lat_stop_watch();
        if (sweeps(r, r->due - r->sweep) || write_one(r))
            return -1;
    }
    return 0;
}

/* ---- the run ---- */

static void check_usage(void)
{
    if (opts->resume && (opts->continued || lat_opt_given("continue")) && !lat_opts.input)
        lat_usage("--resume has the configuration to continue from, and --continue reads stdin");
    lat_checkpoint_usage(checkpoint, opts->resume);
    lat_usage_for("checkpoint-every", checkpoint, "--checkpoint, and there is no --checkpoint");
    if (checkpoint && count > 1 && lat_numbers_in(lat_opts.output) == 0)
        lat_usage(
            "--checkpoint needs a file for each configuration, as with -o 'cfg.%%04d.lat', or "
            "--count 1");
    if (!opts->continued && !lat_opt_given("dims"))
        lat_usage("--dims is needed, for example --dims 8,8,8,16, or a FILE to continue from");
    char text[64];
    for (int mu = 0; !opts->continued && mu < opts->geom.nd; mu++)
        if (opts->geom.dims[mu] % 2)
            lat_usage("--dims: expected even extents, found %s", lat_dims_text(&opts->geom, text));
    if (!opts->continued && isnan(opts->beta))
        lat_usage("--beta is needed, for example --beta 6.0");
    if (opts->continued && lat_opt_given("start"))
        lat_usage("--start is for a new run, not for one that continues");
    lat_usage_for("check-every", log_path, "--log, and there is no --log");
    if (opts->continued)
        lat_usage_if_input("log", log_path);
    if (lat_numbers_in(lat_opts.output) < 0 || lat_numbers_in(lat_opts.output) > 1)
        lat_usage("-o: expected at most one %%d or %%04d in the name, found '%.80s'",
                  lat_opts.output);
}

static void check_rows(void)
{
    if (!opts->rows)
        opts->rows = opts->group <= 3 ? opts->group - 1 : opts->group;
    if (opts->rows != opts->group && (opts->rows != opts->group - 1 || opts->group > 3))
        lat_usage("SU(%ld) is stored with %s%ld rows, not %ld", opts->group,
                  opts->group == 2   ? "1 or "
                  : opts->group == 3 ? "2 or "
                                     : "",
                  opts->group, opts->rows);
}

/* Everything but the sweeps; 0 or -1. */
static int prepare(lat_heatbath_run *r)
{
    r->numbered = lat_numbers_in(lat_opts.output) == 1;
    lat_header_init(&r->field.head);
    if (lat_device_begin(&device, lat_opts.comm)
        || (opts->continued || opts->resume ? lat_heatbath_go_on(r) : lat_heatbath_begin(r))
        || !(r->device = lat_device_open_for(&device, lat_opts.comm, r->field.head.nc,
                                             lat_generate_groups(true))))
        return -1;
    if (isnan(opts->beta))
        lat_usage("--beta is needed: the configuration does not say which it was made with");
    opts->group = r->field.head.nc;
    check_rows();
    r->kept = checkpoint && access(checkpoint, F_OK) == 0; /* then it is that of --resume */
    if (check_checkpoint(r))
        return -1;
    if (log_path
        && !(r->log = lat_log_open(log_path, "sweep\tplaquette\tspatial\ttemporal\tseconds",
                                   lat_opts.comm)))
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    lat_heatbath_run r = {.number = 0};
    lat_options_parse(&tool, argc, argv);
    opts->continued = opts->continued || lat_opts.nfiles || lat_opt_given("input");
    if (!lat_opt_given("thermalise")) /* a default that is named is the same run */
        opts->thermalise = opts->continued ? 0 : 500;
    r.text = lat_resume_text();
    check_usage();
    bool bad = !r.text || prepare(&r) || generate(&r);
    lat_progress_end();
    if (r.gen)
        lat_generate_close(r.gen);
    lat_field_free(&r.field);
    lat_device_close(r.device);
    lat_device_end();
    bad = lat_log_close(r.log, log_path) || bad;
    if (bad)
        lat_output_abort(r.out);
    else if (r.out)
        bad = lat_stream_commit(r.out);
    free(r.text);
    if (r.stopped)
        lat_stop_exit(lat_opts.comm, r.stopped);
    if (!bad && r.kept)
        lat_resume_remove(checkpoint, lat_opts.comm);
    return bad ? lat_report(LAT_FAILED) : LAT_DONE;
}
