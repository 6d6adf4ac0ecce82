/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint.c: the state of a run in a file, so that an interrupted run can be resumed.
 *
 * The file is a stream of transformations (docs/format.md); lat-info shows it. For every
 * configuration up to the present one it has one transformation for each copy whose g is still
 * needed. Their info lines are
 *     checkpoint.run      tool, and options that decide the result: they must be the same
 *     checkpoint.limits   options that may be others: they say how far the run goes
 *     checkpoint.field    configuration, copy, number of copies, CRC-32 of the links
 *     checkpoint.device   description of the device
 * and the first one of a configuration has a history line for each copy, numbers in hexadecimal, so
 * that nothing is rounded. */
#include "fixing.h"
#include "run/common/resume.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "stream/stream.h"

/* A configuration that is done, or that was read from a checkpoint. */
typedef struct known {
    long config;
    int copies;
    char crc[9], device[64];
    lat_copy *copy;
} known;

struct lat_checkpoint {
    double last;        /* time of the last checkpoint (lat_seconds) */
    char *run, *limits; /* tool and options that must be the same; options that may be others */
    bool other_limits;  /* than those of the checkpoint that was read */
    known *list;
    int count;
};

/* ---- the list -------------------------------------------------------------------------------- */

static void known_free(known *w)
{
    for (int i = 0; w->copy && i < w->copies; i++)
        lat_field_free(&w->copy[i].g);
    free(w->copy);
}

static known *known_add(lat_checkpoint *k, long config, int copies)
{
    static const char what[] = "the list of configurations of a checkpoint";
    lat_copy *copy;
    if (lat_grow(&k->list, k->count, sizeof *k->list, what)
        || !(copy = lat_alloc_zero((size_t)copies, sizeof *copy, what)))
        return NULL;
    known *w = &k->list[k->count++];
    *w = (known){.config = config, .copies = copies, .copy = copy};
    return w;
}

static known *known_find(const lat_checkpoint *k, long config)
{
    for (int i = 0; i < k->count; i++)
        if (k->list[i].config == config)
            return &k->list[i];
    return NULL;
}

/* ---- a copy as a line ------------------------------------------------------------------------ */

#define ROW \
    "copy %ld seed %" PRIu64 " stage %d done %d finished %d measured %d converged %d sweeps %ld " \
    "begun %ld F " \
    "%a theta %a max %a slice %a " \
    "own"

static int row_print(lat_lines *to, const lat_copy *c)
{
    char own[LAT_COPY_NUMBERS * 32] = "";
    int n = 0;
    for (int i = 0; i < LAT_COPY_NUMBERS; i++)
        n += snprintf(own + n, sizeof own - (size_t)n, " %a", c->number_of[i]);
    return lat_lines_add(to, ROW "%s", c->number, c->seed, c->stage, c->done, c->finished,
                         c->measured, c->converged, c->sweeps, c->begun, c->state.functional,
                         c->state.theta, c->state.theta_max, c->state.theta_slice, own);
}

static int row_scan(const char *line, lat_copy *c)
{
    int done, finished, measured, converged, n = 0;
    if (sscanf(line,
               "copy %ld seed %" SCNu64
               " stage %d done %d finished %d measured %d converged %d sweeps %ld "
               "begun %ld F %la theta %la max %la slice %la own%n",
               &c->number, &c->seed, &c->stage, &done, &finished, &measured, &converged, &c->sweeps,
               &c->begun, &c->state.functional, &c->state.theta, &c->state.theta_max,
               &c->state.theta_slice, &n)
            != 13
        || n == 0)
        return -1;
    for (int i = 0, m = 0; i < LAT_COPY_NUMBERS; i++, n += m)
        if (sscanf(line + n, " %la%n", &c->number_of[i], &m) != 1)
            return -1;
    c->done = done;
    c->finished = finished;
    c->measured = measured;
    c->converged = converged;
    c->started = true;
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* What is written of a copy: how it was when a limit ended it, since it could go on from there. */
static const lat_copy *as_saved(const lat_copy *c) { return c->at_limit ? c->at_limit : c; }

/* The transformation of a copy, with a header for the checkpoint. */
static int write_field(const lat_checkpoint *k, lat_output *out, const known *w, const lat_copy *c,
                       bool first)
{
    char field[120];
    lat_field g = {.data = c->g.data, .comm = c->g.comm};
    lat_header_init(&g.head);
    g.head.kind = LAT_TRANSFORM;
    g.head.geom = c->g.head.geom;
    g.head.nc = c->g.head.nc;
    g.head.reals = c->g.head.reals;
    snprintf(field, sizeof field, "%ld %ld %d %s", w->config, c->number, w->copies,
             *w->crc ? w->crc : "-");
    int rc = lat_rc(lat_info_set(&g.head, "checkpoint.run", k->run)
                    || lat_info_set(&g.head, "checkpoint.limits", k->limits)
                    || lat_info_set(&g.head, "checkpoint.field", field)
                    || lat_info_set(&g.head, "checkpoint.device", w->device));
    for (int i = 0; first && rc == 0 && i < w->copies; i++)
        if (w->copy[i].started)
            rc = row_print(&g.head.history, as_saved(&w->copy[i]));
    if (rc == 0)
        rc = lat_stream_write(out, &g, LAT_STORE_AUTO);
    lat_header_free(&g.head);
    return rc;
}

static int write_known(const lat_checkpoint *k, lat_output *out, const known *w)
{
    bool first = true;
    for (int i = 0; i < w->copies; i++) {
        const lat_copy *c = as_saved(&w->copy[i]);
        if (!c->started || !c->g.data)
            continue;
        if (write_field(k, out, w, c, first))
            return -1;
        first = false;
    }
    return 0;
}

static known present(const lat_fixing *f)
{
    known w = {.config = f->config, .copies = f->copies, .copy = f->copy};
    snprintf(w.crc, sizeof w.crc, "%s", f->crc);
    snprintf(w.device, sizeof w.device, "%s", f->device_text);
    return w;
}

static int write_all(const lat_checkpoint *k, const lat_fixing *f)
{
    const known now = present(f);
    lat_output *out = lat_output_open(lat_fixing_opts.checkpoint, 0, f->comm);
    int rc = lat_agree(f->comm, out ? 0 : -1);
    for (int i = 0; i < k->count && rc == 0; i++)
        if (k->list[i].config != f->config)
            rc = write_known(k, out, &k->list[i]);
    if (rc == 0)
        rc = write_known(k, out, &now);
    if (rc == 0)
        return lat_stream_commit(out);
    lat_output_abort(out);
    return rc;
}

void lat_checkpoint_save(lat_checkpoint *k, lat_fixing *f)
{
    lat_error_clear();
    const bool saved = write_all(k, f) == 0;
    const char *path = lat_fixing_opts.checkpoint;
    if (saved)
        lat_resume_written(path);
    else
        lat_warn("no checkpoint: %s", lat_error());
    lat_error_clear();
    lat_progress_end();
    if (f->stopped)
        lat_resume_stopped(path, saved, f->stopped);
    k->last = lat_seconds();
}

int lat_checkpoint_tick(lat_checkpoint *k, lat_fixing *f)
{
    const bool root = f->comm->rank == 0; /* has the clock */
    double ask[2] = {lat_stop_asked(),
                     root && lat_seconds() - k->last >= (double)lat_fixing_opts.every};
    if (!lat_fixing_opts.checkpoint)
        return 0;
    if (f->comm->max(f->comm, ask, 2))
        return -1;
    if (ask[0] == 0 && ask[1] == 0)
        return 0;
    for (int i = 0; i < f->nbatch; i++)
        if (!f->batch[i]->finished && lat_fix_get(f->fixer, i, &f->batch[i]->g))
            return -1;
    f->stopped = (int)ask[0];
    lat_checkpoint_save(k, f);
    return f->stopped ? -1 : 0;
}

int lat_checkpoint_limit(const lat_fixing *f, lat_copy *c)
{
    if (!c->limited || c->at_limit || !lat_fixing_opts.checkpoint || lat_fixing_opts.keep)
        return 0;
    lat_copy *k = malloc(sizeof *k);
    if (!k)
        return lat_fail("%s: out of memory: a copy", f->name);
    *k = *c;
    k->done = k->limited = false;
    k->g = (lat_field){.data = NULL};
    c->at_limit = k;
    return lat_field_duplicate(&c->g, &k->g);
}

int lat_checkpoint_keep(lat_checkpoint *k, lat_fixing *f)
{
    if (!lat_fixing_opts.checkpoint)
        return 0;
    known *w = known_find(k, f->config);
    if (!w && !(w = known_add(k, f->config, f->copies)))
        return -1;
    const known now = present(f);
    memcpy(w->crc, now.crc, sizeof w->crc);
    memcpy(w->device, now.device, sizeof w->device);
    for (int i = 0; i < f->copies; i++) {
        lat_field_free(&w->copy[i].g);
        w->copy[i] = f->copy[i];
        w->copy[i].started = true;
        w->copy[i].at_limit = NULL;
        lat_copy_forget_limit(&f->copy[i]);
        f->copy[i].g = (lat_field){.data = NULL};
    }
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One transformation of the file; takes over f. */
static int take_field(void *context, const char *name, lat_field *f)
{
    lat_checkpoint *k = context;
    const char *run = lat_info_get(&f->head, "checkpoint.run"),
               *limits = lat_info_get(&f->head, "checkpoint.limits"),
               *device = lat_info_get(&f->head, "checkpoint.device");
    const char *field = lat_info_get(&f->head, "checkpoint.field");
    long config, number;
    int copies;
    char crc[9];
    if (run && (!device || !limits))
        return lat_fail("%s: expected a checkpoint of this version, found one of another version",
                        name);
    if (f->head.kind != LAT_TRANSFORM || !run || !device || !field
        || sscanf(field, "%ld %ld %d %8s", &config, &number, &copies, crc) != 4 || copies < 1
        || copies > LAT_MAX_COPIES || number < 0 || number >= copies || config < 0)
        return lat_fail("%s: expected a checkpoint, found a field that is none", name);
    if (lat_resume_same(name, k->run, run))
        return -1;
    k->other_limits = k->other_limits || strcmp(limits, k->limits) != 0;
    known *w = known_find(k, config);
    if (!w && !(w = known_add(k, config, copies)))
        return -1;
    if (w->copies != copies || w->copy[number].g.data)
        return lat_fail(
            "%s: expected each copy of a configuration once, found copy %ld of %ld twice", name,
            number, config);
    snprintf(w->crc, sizeof w->crc, "%s", crc);
    snprintf(w->device, sizeof w->device, "%s", device);
    for (int i = 0; i < f->head.history.count; i++) {
        lat_copy c = {.number = -1};
        if (row_scan(f->head.history.line[i], &c) || c.number < 0 || c.number >= copies)
            return lat_fail("%s: expected a copy of configuration %ld, found '%.80s'", name, config,
                            f->head.history.line[i]);
        c.g = w->copy[c.number].g;
        w->copy[c.number] = c;
    }
    lat_lines_free(&f->head.history);
    lat_lines_free(&f->head.info);
    *f->head.read_crc = '\0'; /* its g goes on, it is no input */
    w->copy[number].g = *f;
    f->data = NULL;
    lat_header_init(&f->head);
    return 0;
}

lat_checkpoint *lat_checkpoint_open(const lat_comm *comm)
{
    const lat_fixing_options *o = &lat_fixing_opts;
    lat_checkpoint *k = lat_alloc_zero(1, sizeof *k, "a checkpoint");
    if (!k)
        return NULL;
    k->last = lat_seconds();
    if ((k->run = lat_resume_text()) && (k->limits = lat_options_text(true))
        && lat_checkpoint_possible(o->checkpoint, comm) == 0
        && (!o->resume || lat_resume_read(o->resume, comm, take_field, k) == 0))
        return k;
    lat_checkpoint_free(k);
    return NULL;
}

void lat_checkpoint_free(lat_checkpoint *k)
{
    if (!k)
        return;
    for (int i = 0; i < k->count; i++)
        known_free(&k->list[i]);
    LAT_FREE(k->list, k->run, k->limits, k);
}

/* Is the copy of the checkpoint one of this run? Its g goes to the device unchecked. */
static bool fits(const lat_fixing *f, const lat_copy *c)
{
    return c->stage >= 0 && c->stage <= f->algorithm->stages && c->sweeps >= 0
           && (c->g.data ? c->g.head.real == LAT_F64 && lat_header_alike(&c->g.head, &f->u.head)
                         : c->measured); /* only of one that was measured is the transformation not
                                          needed any more */
}

/* A copy that was done with other limits: is it with these? Where it is not, it goes on from its g
 * in the last stage. */
static int reconsider(const lat_fixing *f, lat_copy *c)
{
    const double theta = f->algorithm->theta;
    const bool enough = c->state.theta_slice < theta, was = c->converged;
    if (!c->measured) {
        c->done = false;
        return 0;
    }
    c->converged = enough;
    if (isfinite(theta) && (enough || !was))
        return 0;
    if (!isfinite(theta) || !c->g.data)
        return lat_fail("%s: copy %ld of the checkpoint is done, and cannot go on: expected the "
                        "limits of its run",
                        f->name, c->number);
    c->measured = c->done = c->finished = false;
    c->stage = f->algorithm->stages - 1;
    c->begun = c->sweeps;
    return 0;
}

int lat_checkpoint_restore(lat_checkpoint *k, lat_fixing *f)
{
    known *w = known_find(k, f->config);
    if (!w)
        return 0;
    if (strcmp(w->crc, *f->crc ? f->crc : "-") != 0 || w->copies != f->copies)
        return lat_fail("%s: expected the configuration of the checkpoint, CRC %s and %d copies, "
                        "found CRC %s and %d copies",
                        f->name, w->crc, w->copies, f->crc, f->copies);
    for (int i = 0; i < f->copies; i++)
        if (w->copy[i].started && !fits(f, &w->copy[i]))
            return lat_fail("%s: expected transformations of its lattice in the checkpoint, found "
                            "something else",
                            f->name);
    snprintf(f->device_text, sizeof f->device_text, "%s", w->device);
    for (int i = 0; i < f->copies; i++) {
        if (!w->copy[i].started)
            continue;
        if (k->other_limits && reconsider(f, &w->copy[i]))
            return -1;
        lat_header head = f->copy[i].g.head; /* what came with the stream stays */
        if (f->copy[i].g.data)
            free(f->copy[i].g.data);
        else
            head = w->copy[i].g.head;
        f->copy[i] = w->copy[i];
        f->copy[i].g.head = head;
        w->copy[i].g = (lat_field){.data = NULL};
        if (f->copy[i].measured && f->copy[i].g.data && lat_copy_measure(f, &f->copy[i]))
            return -1;
    }
    return 0;
}
