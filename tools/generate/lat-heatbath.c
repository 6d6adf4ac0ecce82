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
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "base/error.h"
#include "common/io.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "formats/fields.h"
#include "stream/stream.h"
#include "run/common/device_options.h"
#include "run/common/resume.h"
#include "run/common/tool.h"
#include "site/sun.h"

enum { HOT, COLD };
enum { HEATBATH, METROPOLIS };
#define MAX_SWEEPS ((1L << 28) - 1) /* the counter of random numbers has 28 bits for them */

static lat_geometry geom;
static int start = COLD, update, precision = 1;
static lat_device_options device;
static long group = 3, overrelax = 4, thermalise = -1, every = 10, count = 1, rows, check_every = 1;
static uint64_t seed = 1;
static double beta = NAN, xi = 1;
static bool continued;
static const char *log_path, *checkpoint, *resume;
static long checkpoint_every = 600;

static const lat_option options[] = {
    LAT_HEADING("Lattice and action"),
    {LAT_OPT_DIMS, "dims", 'd', "X,Y,Z,T", &geom, 0, 0,
     "extents, 1 to 4, all even (needed for a new run)", false},
    {LAT_OPT_INT, "group", 'N', "N", &group, 2, LAT_MAX_COLOURS, "SU(N)", false},
    {LAT_OPT_REAL, "beta", 'b', "BETA", &beta, 0, 1e6, "coupling, 2 N / g^2 (needed for a new run)",
     false},
    {LAT_OPT_REAL, "xi", 0, "XI", &xi, 1e-3, 1e3,
     "bare anisotropy: planes with the last direction have weight XI, others 1/XI", false},
    LAT_HEADING("Sweeps"),
    {LAT_OPT_CHOICE, "start", 0, "hot|cold", &start, 0, 0,
     "hot: Haar random links; cold: all links 1", false},
    {LAT_OPT_INT, "thermalise", 0, "N", &thermalise, 0, MAX_SWEEPS,
     "sweeps before the first --every (default: 500; 0 when continuing)", false},
    {LAT_OPT_INT, "every", 'e', "N", &every, 1, MAX_SWEEPS,
     "sweeps from one configuration to the next", false},
    {LAT_OPT_INT, "count", 0, "K", &count, 1, 1 << 24, "number of configurations to write", true},
    {LAT_OPT_CHOICE, "update", 0, "heatbath|metropolis", &update, 0, 0,
     "how links are updated; metropolis is the reference for tests", false},
    {LAT_OPT_INT, "overrelax", 0, "K", &overrelax, 0, 1000,
     "overrelaxation sweeps after each heat bath sweep", false},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "seed of the random numbers", false},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "precision of sweeps and links", false},
    LAT_HEADING("Output"),
    {LAT_OPT_INT, "rows", 0, "ROWS", &rows, 1, LAT_MAX_COLOURS,
     "rows of each link to store (default: 1 for SU(2) and 2 for SU(3), both without loss; else N)",
     false},
    {LAT_OPT_TEXT, "log", 'l', "FILE", &log_path, 0, 0, "write plaquettes to FILE during the run",
     true},
    {LAT_OPT_INT, "check-every", 0, "N", &check_every, 1, 1e8,
     "sweeps between two lines of the log", true},
    LAT_HEADING("Run"),
    {LAT_OPT_FLAG, "continue", 0, NULL, &continued, 0, 0,
     "continue from the last configuration on stdin, as with FILE", true},
    {LAT_OPT_TEXT, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "write checkpoints to FILE, which must be new, or the FILE of --resume", true},
    {LAT_OPT_INT, "checkpoint-every", 0, "SECONDS", &checkpoint_every, 0, 1e7,
     "time between two checkpoints", true},
    {LAT_OPT_TEXT, "resume", 0, "FILE", &resume, 0, 0,
     "continue from the checkpoint FILE, with the same options", true},
    LAT_HEADING("Device"),
    LAT_DEVICE_OPTIONS(device),
    {0}};

static const lat_tool tool = {
    .name = "lat-heatbath",
    .args = "[FILE]",
    .summary =
        "Makes configurations of SU(N) pure gauge theory, or continues from the last one in FILE.",
    .example = "lat-heatbath --dims 8,8,8,8 --beta 6.0 --count 100 -o 'cfg.%04d.lat'",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

typedef struct run {
    lat_device *device;
    lat_generator *gen;
    bool numbered;   /* files, not a stream */
    lat_output *out; /* the stream, or the file of the next configuration */
    FILE *log;
    lat_field field;
    long sweep;   /* done so far, since the start of the first run */
    long number;  /* of the next configuration, */
    long due;     /* and the sweep after which it is written */
    long written; /* configurations of this run */
    bool other;   /* continues with other parameters than those of the header */
    double plaquette;
    char *text;        /* the options of the run (run/common/resume.h) */
    char of[9];        /* CRC of the configuration that it began with, or "none" */
    bool kept;         /* the file of --checkpoint is one of this run */
    double saved;      /* time of the last checkpoint */
    int stopped;       /* the signal by which the run was asked to stop, or 0 */
    lat_rate rate;     /* of sweeps */
    long measured;     /* sweep of the plaquette, */
    double cost, when; /* seconds that it took, and when */
} run;

/* ---- the first configuration ---- */

/* Numbers in info lines of the header; *value stays where there is no such line. */
static int read_real(const lat_header *head, const char *key, double *value)
{
    const char *text = lat_info_get(head, key);
    char rest;
    if (text && (sscanf(text, "%lf%c", value, &rest) != 1 || !(*value >= 0 && *value <= 1e6)))
        return lat_fail("info.%s: expected a number from 0 to 1e6, found '%.80s'", key, text);
    return 0;
}

static int read_int(const lat_header *head, const char *key, long max, long *value)
{
    const char *text = lat_info_get(head, key);
    char rest;
    if (text && (sscanf(text, "%ld%c", value, &rest) != 1 || *value < 0 || *value > max))
        return lat_fail("info.%s: expected a whole number from 0 to %ld, found '%.80s'", key, max,
                        text);
    return 0;
}

static int read_seed(const lat_header *head)
{
    const char *text = lat_info_get(head, "seed");
    unsigned long long v;
    char rest;
    if (text && sscanf(text, "%llu%c", &v, &rest) != 1)
        return lat_fail("info.seed: expected a whole number, found '%.80s'", text);
    if (text)
        seed = v;
    return 0;
}

/* Options that were not given get the values of the header. */
static int read_all(run *r, const lat_header *head)
{
    const char *text = lat_info_get(head, "update");
    double stated;
    if (lat_anisotropy(head, &stated))
        return -1;
    if (!lat_opt_given("xi"))
        xi = stated;
    if (!lat_opt_given("update") && text)
        update = !strcmp(text, "metropolis");
    if (!lat_opt_given("precision"))
        precision = head->real == LAT_F64;
    if (!lat_opt_given("rows"))
        rows = head->reals / (2 * head->nc);
    r->number = -1;
    if ((!lat_opt_given("beta") && read_real(head, "beta", &beta))
        || (!lat_opt_given("overrelax") && read_int(head, "overrelax", 1000, &overrelax))
        || (!lat_opt_given("every") && read_int(head, "every", MAX_SWEEPS, &every))
        || (!lat_opt_given("seed") && read_seed(head))
        || read_int(head, "sweep", MAX_SWEEPS, &r->sweep)
        || read_int(head, "sequence_number", 1L << 30, &r->number))
        return -1;
    if (every < 1)
        return lat_fail("info.every: expected a number above 0");
    r->number++;
    return 0;
}

/* The last configuration of a stream. */
static int read_last(const char *path, lat_field *last)
{
    lat_input *in = lat_input_open(path, lat_opts.comm);
    lat_field f = {.data = NULL};
    int rc = in ? 1 : -1;
    while (rc > 0 && (rc = lat_fields_read_links(in, &f)) > 0) {
        lat_field_free(last);
        *last = f;
    }
    lat_input_close(in);
    return rc;
}

/* Takes what a checkpoint has beside a configuration. */
static int take_checkpoint(run *r)
{
    lat_header *head = &r->field.head;
    const char *text = lat_info_get(head, "checkpoint.run"),
               *state = lat_info_get(head, "checkpoint.state"),
               *of = lat_info_get(head, "checkpoint.of"); /* NULL in older ones */
    if (!text || !state || sscanf(state, "%ld %ld %ld", &r->number, &r->due, &r->written) != 3
        || r->number < 0 || r->written < 0 || r->due <= r->sweep)
        return lat_fail("%s: expected a checkpoint of lat-heatbath, found a field that is none",
                        resume);
    if (lat_resume_same(resume, r->text, text))
        return -1;
    if (of && *r->of && strcmp(of, r->of) != 0)
        return lat_fail(
            "%s: expected the configuration that the run of the checkpoint began with, CRC %.8s, "
            "found CRC %s",
            lat_opts.input, of, r->of);
    if (of)
        snprintf(r->of, sizeof r->of, "%.8s", of);
    lat_info_remove(head, "checkpoint.run");
    lat_info_remove(head, "checkpoint.state");
    lat_info_remove(head, "checkpoint.of");
    return 0;
}

/* What says that these links are not thermal at the parameters of this run; NULL: they may be. */
static const char *not_thermal(const lat_header *head, char text[96])
{
    double was = NAN, stated = 1;
    if (read_real(head, "beta", &was) || lat_anisotropy(head, &stated))
        lat_error_clear(); /* read_all says it */
    if (lat_info_get(head, LAT_INFO_FLOW_TIME) || lat_info_get(head, LAT_INFO_SMEARING))
        return "have flowed or were smeared";
    if (lat_info_get(head, LAT_INFO_PROJECTION))
        return "are a projection";
    if (isnan(was))
        return "do not say that they were made with this beta";
    if ((!lat_opt_given("beta") || was == beta) && (!lat_opt_given("xi") || stated == xi))
        return NULL;
    snprintf(text, 96, "were made with beta %.15g, xi %.15g", was, stated);
    return text;
}

/* Is the input there? A checkpoint does without. */
static int find_input(bool *there)
{
    double gone = lat_opts.comm->rank == 0 && resume && access(lat_opts.input, F_OK) != 0;
    if (lat_opts.comm->max(lat_opts.comm, &gone, 1))
        return -1;
    if (gone != 0)
        lat_warn("%s: cannot be found, and is not compared with what %s began with", lat_opts.input,
                 resume);
    *there = gone == 0;
    return 0;
}

/* Reads the checkpoint, or the last configuration of the input. Beside a checkpoint the input is
 * read for its CRC alone. */
static int read_first(run *r)
{
    bool there = false;
    if (continued && find_input(&there))
        return -1;
    if (there) {
        if (read_last(lat_opts.input, &r->field))
            return -1;
        memcpy(r->of, r->field.head.read_crc, sizeof r->of);
    }
    if (!resume)
        return 0;
    lat_field_free(&r->field);
    return read_last(resume, &r->field);
}

/* --group and --dims, where they are given, are those of the configuration. */
static int expect_lattice(const lat_header *head)
{
    lat_header asked = {.nc = lat_opt_given("group") ? (int)group : head->nc,
                        .geom = lat_opt_given("dims") ? geom : head->geom};
    char a[64], b[64];
    return lat_header_alike(&asked, head)
               ? 0
               : lat_fail("%s: expected SU(%d) on %s as --group and --dims say, found SU(%d) on %s",
                          resume ? resume : lat_filter_name(), asked.nc,
                          lat_dims_text(&asked.geom, a), head->nc, lat_dims_text(&head->geom, b));
}

/* From the last configuration of the input, or from a checkpoint. */
static int go_on(run *r)
{
    lat_header *head = &r->field.head;
    if (read_first(r) || expect_lattice(head))
        return -1;
    char text[96];
    const char *other = resume || lat_opt_given("thermalise") ? NULL : not_thermal(head, text);
    if (lat_boundary_closed(head, -1, "heat bath", resume ? resume : lat_opts.input))
        return -1;
    lat_header_ungauge(head);
    lat_header_unflow(head);
    lat_info_remove(head, LAT_INFO_SMEARING);
    lat_info_remove(head, LAT_INFO_PROJECTION);
    lat_info_remove(head, LAT_INFO_NOT_IN_GROUP);
    if (read_all(r, head) || (resume && take_checkpoint(r)))
        return -1;
    if (other)
        lat_warn("goes on without sweeps to thermalise, from links that %s: expected --thermalise "
                 "(0: none)",
                 other);
    r->other = head->real != (precision ? LAT_F64 : LAT_F32) || (!resume && thermalise > 0);
    return lat_field_convert(&r->field, precision ? LAT_F64 : LAT_F32);
}

/* Hot or cold links. */
static int begin(run *r)
{
    lat_header *head = &r->field.head;
    strcpy(r->of, "none");
    head->geom = geom;
    head->nc = (int)group;
    head->real = precision ? LAT_F64 : LAT_F32;
    head->reals = 2 * head->nc * head->nc;
    if (lat_header_check(head, "--dims") || lat_field_alloc(&r->field, lat_opts.comm))
        return -1;
    const size_t links = lat_field_matrices(&r->field), nd = (size_t)head->geom.nd;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < links; i++) {
        double m[LAT_SUN_REALS];
        if (start == COLD)
            lat_sun_one((int)group, m);
        else
            lat_sun_haar((int)group, m, seed, lat_field_site(&r->field, i / nd) * nd + i % nd, 0,
                         LAT_FOR_LINKS);
        lat_field_put(&r->field, i, m);
    }
    return 0;
}

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
static int describe(run *r)
{
    lat_header *head = &r->field.head;
    const char *device_text = r->gen->ops->description(r->gen);
    const lat_lines *history = &head->history;
    const char *last = history->count ? history->line[history->count - 1] : "";
    const int reals = 2 * (int)(rows * group);
    bool changed = strncmp(last, "lat-heatbath ", 13) != 0 || !strstr(last, device_text) || r->other
                   || head->reals != reals;
    head->reals = reals;
    if (set_info_real(head, &changed, "beta", beta) || set_info_real(head, &changed, "xi", xi)
        || set_info(head, &changed, "update", "%s", update ? "metropolis" : "heatbath")
        || set_info(head, &changed, "overrelax", "%ld", overrelax)
        || set_info(head, &changed, "seed", "%llu", (unsigned long long)seed)
        || set_info(head, &changed, "every", "%ld", every))
        return -1;
    return changed ? lat_provenance(head, "%s", device_text) : 0;
}

/* ---- sweeps ---- */

/* Measures the plaquette, and adds a line to the log, if there is one. */
static int log_plaquette(run *r, FILE *log)
{
    double spatial, temporal;
    if (r->gen->ops->plaquette(r->gen, &spatial, &temporal))
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
static int progress(run *r, bool measure)
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
    const long last = r->due + (count - r->written - 1) * every;
    lat_progress("plaquette %.8f  sweep %ld of %ld  %s  %s  configuration %ld of %ld", r->plaquette,
                 r->sweep, last, lat_rate_text(rate, "sweep", speed),
                 lat_left_text(rate > 0 ? (double)(last - r->sweep) / rate : NAN, left),
                 r->written + 1, count);
    return 0;
}

/* The whole state in a file: a configuration, and how far the run is. */
static int write_checkpoint(run *r)
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
static int save(run *r)
{
    if (r->gen->ops->get(r->gen, &r->field))
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
static int tick(run *r)
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

static int sweeps(run *r, long n)
{
    lat_link_sweep draw = {.update = update ? LAT_UPDATE_METROPOLIS : LAT_UPDATE_HEATBATH,
                           .seed = seed};
    const lat_link_sweep reflection = {.update = LAT_UPDATE_MICROCANONICAL};
    for (long i = 0; i < n; i++) {
        if (++r->sweep > MAX_SWEEPS)
            return lat_fail(
                "expected at most %ld sweeps in all, which is what its random numbers last for",
                MAX_SWEEPS);
        draw.step = LAT_FOR_LINKS + (uint32_t)r->sweep;
        if (r->gen->ops->sweep(r->gen, &draw, 1)
            || (overrelax && r->gen->ops->sweep(r->gen, &reflection, overrelax)))
            return -1;
        if ((r->log && r->sweep % check_every == 0 && log_plaquette(r, r->log)) || tick(r))
            return -1;
    }
    return 0;
}

/* ---- output ---- */

/* How many numbers "%d" or "%04d" there are in a name; -1 if another % is in it. */
static int numbers_in(const char *name)
{
    int n = 0;
    for (const char *p = name ? strchr(name, '%') : NULL; p; p = strchr(p, '%'), n++) {
        p += 1 + strspn(p + 1, "0123456789");
        if (*p != 'd')
            return -1;
    }
    return n;
}

enum { NAME = 4096 };

/* The file of configuration `number`. */
static int name_numbered(char name[NAME], long number)
{
    char digits[24];
    const char *p = strchr(lat_opts.output, '%');
    const bool zeros = p[1] == '0';
    const long width = strtol(p + 1, NULL, 10);
    snprintf(digits, sizeof digits, zeros ? "%0*ld" : "%*ld", width > 20 ? 20 : (int)width, number);
    const int n = snprintf(name, NAME, "%.*s%s%s", (int)(p - lat_opts.output), lat_opts.output,
                           digits, strchr(p, 'd') + 1);
    return n < 0 || n >= NAME ? lat_fail("%.200s: too long for a name", lat_opts.output) : 0;
}

/* Opens the file of the next configuration, or the stream. Before the sweeps, so that a file that
 * cannot be written is reported early. */
static int open_output(run *r)
{
    char name[NAME];
    if (r->numbered && name_numbered(name, r->number))
        return -1;
    r->out = lat_output_open(r->numbered ? name : lat_opts.output, lat_output_flags(),
                             lat_opts.comm);
    return r->out ? 0 : -1;
}

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Can checkpoints be written, where no configuration will be? */
static int check_checkpoint(const run *r)
{
    char name[NAME];
    const bool root = lat_opts.comm->rank == 0;
    int rc = 0;
    for (long i = 0; rc == 0 && root && checkpoint && r->numbered && i < count - r->written; i++)
        if ((rc = name_numbered(name, r->number + i)) == 0
            && !strcmp(without_folder(checkpoint), without_folder(name))
            && lat_one_file(checkpoint, name))
            rc = lat_fail_usage("--checkpoint %s is an output as well", checkpoint);
    return lat_agree(lat_opts.comm, rc) ? -1 : lat_checkpoint_possible(checkpoint, lat_opts.comm);
}

static int write_one(run *r)
{
    lat_header *head = &r->field.head;
    bool changed;
    if (r->gen->ops->get(r->gen, &r->field) || set_info(head, &changed, "sweep", "%ld", r->sweep)
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

static int generate(run *r)
{
    const lat_action action = {.beta = beta, .xi = xi};
    if (lat_field_exchange(&r->field)
        || !(r->gen = lat_generate_open(r->device, &r->field, r->field.head.real, &action))
        || describe(r))
        return -1;
    lat_verbose("sweeps by %s, at most %d slices a rank", r->gen->ops->description(r->gen),
                (lat_slices(&r->field.head) + lat_opts.comm->size - 1) / lat_opts.comm->size);
    if (!resume)
        r->due = r->sweep + thermalise + every;
    lat_rate_sample(&r->rate, (double)r->sweep);
    for (; r->written < count; r->written++, r->due += every) {
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
    if (resume && (continued || lat_opt_given("continue")) && !lat_opts.input)
        lat_usage("--resume has the configuration to continue from, and --continue reads stdin");
    lat_checkpoint_usage(checkpoint, resume);
    if (lat_opt_given("checkpoint-every") && !checkpoint)
        lat_usage("--checkpoint-every is for --checkpoint, and there is no --checkpoint");
    if (checkpoint && count > 1 && numbers_in(lat_opts.output) == 0)
        lat_usage(
            "--checkpoint needs a file for each configuration, as with -o 'cfg.%%04d.lat', or "
            "--count 1");
    if (!continued && !lat_opt_given("dims"))
        lat_usage("--dims is needed, for example --dims 8,8,8,16, or a FILE to continue from");
    char text[64];
    for (int mu = 0; !continued && mu < geom.nd; mu++)
        if (geom.dims[mu] % 2)
            lat_usage("--dims: expected even extents, found %s", lat_dims_text(&geom, text));
    if (!continued && isnan(beta))
        lat_usage("--beta is needed, for example --beta 6.0");
    if (continued && lat_opt_given("start"))
        lat_usage("--start is for a new run, not for one that continues");
    if (lat_opt_given("check-every") && !log_path)
        lat_usage("--check-every is for --log, and there is no --log");
    if (continued)
        lat_usage_if_input("log", log_path);
    if (numbers_in(lat_opts.output) < 0 || numbers_in(lat_opts.output) > 1)
        lat_usage("-o: expected at most one %%d or %%04d in the name, found '%.80s'",
                  lat_opts.output);
    if (!lat_opt_given("thermalise"))
        thermalise = continued ? 0 : 500;
}

static void check_rows(void)
{
    if (!rows)
        rows = group <= 3 ? group - 1 : group;
    if (rows != group && (rows != group - 1 || group > 3))
        lat_usage("SU(%ld) is stored with %s%ld rows, not %ld", group,
                  group == 2   ? "1 or "
                  : group == 3 ? "2 or "
                               : "",
                  group, rows);
}

/* Everything but the sweeps; 0 or -1. */
static int prepare(run *r)
{
    r->numbered = numbers_in(lat_opts.output) == 1;
    lat_header_init(&r->field.head);
    if (lat_device_begin(&device, lat_opts.comm) || (continued || resume ? go_on(r) : begin(r))
        || !(r->device = lat_device_open_for(&device, lat_opts.comm, r->field.head.nc,
                                             lat_generate_gpu.groups)))
        return -1;
    if (isnan(beta))
        lat_usage("--beta is needed: the configuration does not say which it was made with");
    group = r->field.head.nc;
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
    run r = {.number = 0};
    lat_options_parse(&tool, argc, argv);
    r.text = lat_resume_text();
    continued = continued || lat_opts.nfiles || lat_opt_given("input");
    check_usage();
    bool bad = !r.text || prepare(&r) || generate(&r);
    lat_progress_end();
    if (r.gen)
        r.gen->ops->close(r.gen);
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
