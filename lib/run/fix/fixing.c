/* SPDX-License-Identifier: BSD-3-Clause */
/* fixing.c: the run: configurations are read, swept in batches of copies, measured and written. */
#include "fixing.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/progress.h"
#include "common/stop.h"
#include "formats/fields.h"
#include "lattice/box.h"
#include "stream/stream.h"
#include "run/common/resume.h"
#include "lattice/transform.h"

lat_fixing_options lat_fixing_opts = {.time = -1, .select = -1, .every = 600, .seed = 1};

typedef struct run {
    lat_fixing fixing;
    lat_input *in;
    lat_output *out, *g_out;
    FILE *copies_log;
    lat_checkpoint *checkpoint;
    lat_fixing *outer; /* of the run of the residual gauge: what checkpoints have; else NULL */
    bool unconverged;  /* a configuration was written that has not converged (--keep) */
} run;

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* Copies of a batch draw with consecutive seeds, and those that are not done are as many sweeps in
 * the same stage. */
static bool may_follow(lat_copy *const c[], int n, const lat_copy *next)
{
    bool alike = n == 0 || next->number == c[n - 1]->number + 1;
    for (int i = 0; i < n; i++)
        alike = alike && c[i]->stage == next->stage
                && (c[i]->done || next->done
                    || c[i]->sweeps - c[i]->begun == next->sweeps - next->begun);
    return alike;
}

/* The first copies that are not measured. A batch is done as a whole, so that a run that resumes
 * has the same batches. */
static int next_batch(lat_fixing *f, lat_copy *c[LAT_BATCH])
{
    int n = 0;
    for (int i = 0; i < f->copies && n < LAT_BATCH; i++)
        if (!f->copy[i].measured && may_follow(c, n, &f->copy[i]))
            c[n++] = &f->copy[i];
        else if (n > 0)
            break;
    return n;
}

static int load(const lat_fixing *f, lat_copy *const c[], int n)
{
    for (int i = 0; i < n; i++) {
        const bool fresh = !c[i]->g.data;
        if ((fresh && lat_copy_start(f, c[i]))
            || lat_fix_set(f->fixer, i, fresh && f->single ? NULL : &c[i]->g))
            return -1;
        c[i]->started = true;
    }
    return 0;
}

/* One precision stage: sweeps until all n copies are done with it. */
static int run_stage(run *r, lat_copy *c[], int n)
{
    lat_fixing *f = &r->fixing;
    char ranks[64];
    int rc = 0;
    f->fixer = lat_fix_open(f->device, &f->u, &f->condition, f->algorithm->precision[c[0]->stage],
                            n);
    if (!f->fixer)
        return lat_error_name(f->name, NULL);
    snprintf(f->device_text, sizeof f->device_text, "%s", lat_fix_description(f->fixer));
    lat_verbose("%s: sweeps in %s by %s, grid %s", f->name,
                f->algorithm->precision[c[0]->stage] == LAT_F32 ? "single" : "double",
                f->device_text, lat_box_text(f->comm, &f->u.head.geom, ranks));
    if (load(f, c, n))
        rc = -1;
    else
        lat_fixing_expect(f, r->out);
    if (lat_fixing_opts.checkpoint)
        lat_stop_watch(); /* from here on there is something to save */
    while (rc == 0)
        if ((rc = f->algorithm->advance(f)) == 0
            && lat_checkpoint_tick(r->checkpoint, r->outer ? r->outer : f))
            rc = -1;
    for (int i = 0; i < n && rc > 0; i++)
        if (!c[i]->finished
            && (lat_fix_get(f->fixer, i, &c[i]->g) || lat_checkpoint_limit(f, c[i])
                || lat_transform_project(&c[i]->g)))
            rc = -1;
    if (f->algorithm->leave)
        f->algorithm->leave();
    lat_fix_close(f->fixer);
    f->fixer = NULL;
    return rc < 0 ? -1 : 0;
}

/* All ranks close the device if this batch is the last work for it. Of a pipe this is not known. */
static int close_after(run *r)
{
    lat_fixing *f = &r->fixing;
    bool last = lat_fields_last(r->in); /* rank 0 reads */
    int left = f->algorithm->residual && !r->outer;
    for (int i = 0; i < f->copies; i++)
        left += !f->copy[i].measured;
    if (left > f->nbatch)
        return 0;
    if (f->comm->broadcast(f->comm, &last, sizeof last, 0))
        return -1;
    if (last) {
        lat_device_close(f->device);
        f->device = NULL;
    }
    return 0;
}

/* The stage of all copies of the batch is over. Where each is finished the others are, too. */
static void next_stage(lat_copy *c[], int n, int stages)
{
    bool finished = true;
    for (int i = 0; i < n; i++)
        finished = finished && c[i]->finished;
    for (int i = 0; i < n; i++) {
        c[i]->stage = finished ? stages : c[i]->stage + 1;
        c[i]->begun = c[i]->sweeps;
        c[i]->done = false;
    }
}

static int sweep_all(run *r)
{
    lat_fixing *f = &r->fixing;
    lat_copy *c[LAT_BATCH];
    f->batch = c;
    while ((f->nbatch = next_batch(f, c)) > 0) {
        while (c[0]->stage < f->algorithm->stages) {
            if (run_stage(r, c, f->nbatch))
                return -1;
            next_stage(c, f->nbatch, f->algorithm->stages);
        }
        if (close_after(r))
            return -1;
        for (int i = 0; i < f->nbatch; i++)
            if (lat_copy_measure(f, c[i]))
                return -1;
    }
    return 0;
}

/* ---- the residual gauge ---------------------------------------------------------------------- */

/* A run of one copy: the Abelian links of the best copy to Landau gauge. The sum of |Delta_ii|^2
 * over the N phases, whose sum is 0, is at least N / (N - 1) times that of each one. So theta of a
 * phase is at most N - 1 times their mean, which is what sweeps bring below a bound. */
static int begin_residual(const run *outer, lat_algorithm *a, run *r)
{
    const lat_fixing *from = &outer->fixing;
    lat_fixing *f = &r->fixing;
    *a = *from->algorithm;
    a->theta /= from->links.head.nc - 1;
    a->store = LAT_F64;
    *r = (run){.in = outer->in, .checkpoint = outer->checkpoint, .outer = &((run *)outer)->fixing};
    *f = (lat_fixing){.algorithm = a,
                      .comm = from->comm,
                      .own = from->own,
                      .config = from->config,
                      .slices = 1,
                      .theta = from->theta,
                      .copies = 1,
                      .single = true,
                      .start = from->start,
                      .device = from->device,
                      .store = LAT_F64};
    snprintf(f->name, sizeof f->name, "%.480s:residual", from->name);
    f->condition = lat_condition_of(LAT_LANDAU, &from->links.head.geom, -1);
    if (!(f->copy = calloc(1, sizeof *f->copy)))
        return lat_fail("out of memory: a copy");
    if (lat_field_duplicate(&from->links, &f->u) || lat_field_convert(&f->u, LAT_F64))
        return -1;
    lat_abelian_project(&f->u);
    return lat_field_exchange(&f->u);
}

/* Transforms the links of the best copy by h, which f takes over, and measures them. */
static int apply_residual(lat_fixing *f, lat_field *h)
{
    const int diagonal = lat_transform_diagonal(h);
    if (diagonal == 0)
        lat_fail("%s: the transformation to the residual gauge is not diagonal", f->name);
    if (diagonal <= 0 || lat_transform_apply(&f->links, h)
        || lat_field_convert(&f->links, f->algorithm->store)
        || lat_measure_gauge(&f->links, &f->condition, &f->best->state, f->theta, NULL)
        || lat_measure_residual(&f->links, &f->residual))
        return -1;
    f->phases = *h;
    h->data = NULL;
    f->best->converged = f->best->state.theta_slice < f->algorithm->theta;
    f->residual_converged = f->residual.worst < f->algorithm->theta;
    f->residual_done = true;
    return 0;
}

/* A configuration that is not in maximally Abelian gauge is left as it is. */
static int fix_residual(run *outer)
{
    lat_fixing *f = &outer->fixing;
    lat_algorithm a;
    run r;
    f->residual_done = false;
    if (!f->algorithm->residual || (!f->best->converged && !lat_fixing_opts.keep))
        return 0;
    int rc = begin_residual(outer, &a, &r) || sweep_all(&r) ? -1 : 0;
    f->device = r.fixing.device;
    if (rc == 0) {
        f->residual_sweeps = r.fixing.copy[0].sweeps;
        rc = apply_residual(f, &r.fixing.best->g);
    }
    lat_copies_free(&r.fixing);
    lat_field_free(&r.fixing.u);
    return rc;
}

/* Could copies go on from the checkpoint, with another limit? "; ..." for the sentence about it, or
 * "". */
static void limit_hint(const lat_fixing *f, char text[PATH_MAX + 64])
{
    *text = '\0';
    for (int i = 0; i < f->copies; i++)
        if (f->copy[i].at_limit)
            snprintf(text, PATH_MAX + 64, "; --resume %s with a larger --max-sweeps goes on",
                     lat_fixing_opts.checkpoint);
}

/* Reports copies that have not converged: LAT_DONE if the configuration is written nevertheless. */
static int converged(run *r)
{
    const lat_fixing *f = &r->fixing;
    char hint[PATH_MAX + 64];
    int failed = 0;
    for (int i = 0; i < f->copies; i++)
        failed += !f->copy[i].converged;
    const bool phases = f->residual_done && !f->residual_converged;
    if (!failed && !phases)
        return LAT_DONE;
    if (f->best && f->best->converged && !phases) {
        lat_warn("%s: %d of %d copies have not converged; the best of the others was taken",
                 f->name, failed, f->copies);
        return LAT_DONE;
    }
    if (!lat_fixing_opts.keep && lat_fixing_opts.checkpoint)
        lat_checkpoint_save(r->checkpoint, &r->fixing);
    limit_hint(f, hint);
    const char *stored = f->algorithm->store == LAT_F32 ? " in links stored in single" : "";
    if (f->best && f->best->converged)
        lat_fail("%s: residual gauge not converged: theta %.3e of a phase after %ld sweeps, wanted "
                 "below %.3e%s",
                 f->name, f->residual.worst, f->residual_sweeps, f->algorithm->theta, stored);
    else if (f->all)
        lat_fail("%s: not converged: %d of %d copies, wanted theta below %.3e%s%s", f->name, failed,
                 f->copies, f->algorithm->theta, stored, hint);
    else
        lat_fail("%s: not converged: theta %.3e%s after %ld sweeps, wanted below %.3e%s%s", f->name,
                 f->best->state.theta_slice, f->slices > 1 ? " of a slice" : "", f->best->sweeps,
                 f->algorithm->theta, stored, hint);
    if (!lat_fixing_opts.keep)
        return LAT_UNCONVERGED;
    lat_report(LAT_UNCONVERGED);
    lat_error_clear();
    r->unconverged = true;
    return LAT_DONE;
}

/* ---- one configuration ----------------------------------------------------------------------- */

/* The condition of the options; without them the one that the stream was annealed for. */
static int choose_condition(lat_fixing *f)
{
    const lat_fixing_options *o = &lat_fixing_opts;
    const lat_geometry *geom = &f->u.head.geom;
    char here[LAT_CONDITION_TEXT], asked[LAT_CONDITION_TEXT];
    lat_condition stated;
    const int annealed = lat_condition_read_annealed(&f->u.head, &stated);
    const bool follows = annealed > 0 && !lat_opt_given("gauge");
    if (annealed < 0)
        return -1;
    if (follows && o->time < 0 && !o->weights) {
        f->condition = stated;
        return 0;
    }
    if (lat_condition_make(follows ? stated.gauge : (lat_gauge)o->gauge, o->time, o->weights, geom,
                           &f->condition))
        return -1;
    if (!annealed || lat_condition_same(&f->condition, &stated))
        return 0;
    lat_condition_text(&stated, geom, here);
    lat_condition_text(&f->condition, geom, asked);
    if (!lat_opts.force)
        return lat_fail_usage("%s: was annealed for gauge %s%s, found options for %s%s (without "
                              "--gauge that of the stream is taken; --force takes the other)",
                              f->name, here, strcmp(here, asked) ? "" : " with other weights",
                              asked, strcmp(here, asked) ? "" : " with other weights");
    lat_warn("%s: was annealed for gauge %s, and is taken to %s (--force)", f->name, here, asked);
    return 0;
}

static int prepare(run *r)
{
    lat_fixing *f = &r->fixing;
    snprintf(f->name, sizeof f->name, "%.480s:%ld", lat_opts.input ? lat_opts.input : "stdin",
             f->config);
    lat_make_plain(f->name);
    memcpy(f->crc, f->u.head.read_crc, sizeof f->crc);
    if (lat_header_need(&f->u.head, LAT_GAUGE, f->name))
        return -1;
    if (!f->device
        && !(f->device = lat_device_open_for(&lat_fixing_opts.device, f->comm, f->u.head.nc,
                                             lat_fix_groups(true))))
        return -1;
    if (choose_condition(f))
        return -1;
    if (f->algorithm->residual && f->condition.gauge != LAT_MAG)
        return lat_fail_usage("%s: --residual is for maximally Abelian gauge, found %s", f->name,
                              lat_gauge_table[f->condition.gauge].title);
    f->store = f->algorithm->residual ? LAT_F64 : f->algorithm->store;
    f->slices = lat_condition_slices(&f->condition, &f->u.head.geom);
    f->theta = lat_alloc((size_t)f->slices * LAT_BATCH, sizeof *f->theta, "theta of slices");
    return lat_rc(!f->theta || lat_copies_make(f, r->in)
                  || lat_checkpoint_restore(r->checkpoint, f));
}

/* Reading or writing has failed, on all ranks: if that is because the run was asked to stop, writes
 * a checkpoint. LAT_FAILED. */
static int rescue(run *r)
{
    lat_fixing *f = &r->fixing;
    if ((f->stopped = lat_resume_asked(lat_fixing_opts.checkpoint, f->comm)) > 0)
        lat_checkpoint_save(r->checkpoint, f);
    return LAT_FAILED;
}

static int finish(run *r)
{
    lat_fixing *f = &r->fixing;
    lat_progress_end();
    if (r->copies_log)
        lat_copies_print(f, r->copies_log);
    int rc = converged(r);
    if (rc != LAT_DONE)
        return rc;
    if (lat_fixing_write(f, r->out, r->g_out))
        return rescue(r);
    return lat_checkpoint_keep(r->checkpoint, f) ? LAT_FAILED : LAT_DONE;
}

static int configuration(run *r)
{
    lat_fixing *f = &r->fixing;
    f->start = lat_seconds();
    int rc = prepare(r) ? LAT_FAILED : LAT_DONE;
    if (rc && f->comm->size == 1) /* of several ranks one may have failed alone */
        rescue(r);
    else if (rc == LAT_DONE)
        rc = sweep_all(r) || fix_residual(r) ? LAT_FAILED : finish(r);
    lat_copies_free(f);
    free(f->theta);
    f->theta = NULL;
    return rc;
}

/* Waits for the next configuration. Then a run that is asked to stop has something to save. */
static int await(run *r)
{
    char first;
    lat_fixing *f = &r->fixing;
    if (f->config == 0 || !lat_fixing_opts.checkpoint)
        return 0;
    return lat_agree(f->comm, f->comm->rank == 0 && lat_input_peek(r->in, &first, 1) < 0 ? -1 : 0);
}

/* As soon as the header has been read, unless it may lie: the input has a quarter of the bytes at
 * least that it promises, compressed or not. */
static void expect_early(run *r)
{
    const lat_header *head = &r->fixing.u.head;
    const int64_t size = lat_input_size(r->in);
    if (head->nc == 0 || size < 0 || (uint64_t)size < lat_header_bytes(head) / 4)
        return;
    r->fixing.all = lat_copies_all(&r->fixing);
    lat_fixing_expect(&r->fixing, r->out);
}

/* The next configuration: 1, 0 at the end of the input, or -1. Ranks cannot stop in the middle. */
static int next(run *r)
{
    lat_fixing *f = &r->fixing;
    const bool together = f->comm->size > 1;
    if (await(r)) {
        rescue(r);
        return -1;
    }
    lat_stop_hold(together);
    int more = lat_fields_head(r->in, &f->u);
    if (more > 0) {
        expect_early(r);
        more = lat_fields_body(r->in, &f->u);
    }
    if (more > 0)
        f->u.head.reals = lat_fixing_reals(f);
    lat_stop_hold(false);
    if (more < 0 && !together)
        rescue(r);
    return more;
}

static int all_configurations(run *r)
{
    lat_fixing *f = &r->fixing;
    for (f->config = 0;; f->config++) {
        const int more = next(r);
        if (more <= 0)
            return more < 0 ? LAT_FAILED : LAT_DONE;
        const int rc = configuration(r);
        lat_field_free(&f->u);
        if (rc != LAT_DONE)
            return rc;
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static int open_all(run *r)
{
    const lat_comm *comm = r->fixing.comm;
    const lat_fixing_options *o = &lat_fixing_opts;
    lat_usage_for("every", o->checkpoint, "--checkpoint, and there is no --checkpoint");
    lat_checkpoint_usage(o->checkpoint, o->resume);
    lat_usage_if_input("save-g", o->save_g);
    lat_usage_if_input("copies-log", o->copies_log);
    if (lat_device_begin(&o->device, comm)
        || (o->save_g
            && !(r->g_out = lat_output_open(o->save_g,
                                            lat_opts.no_clobber ? LAT_OUTPUT_NO_CLOBBER : 0, comm)))
        || (o->copies_log
            && !(r->copies_log = lat_log_open(o->copies_log, LAT_COPIES_COLUMNS, comm)))
        || !(r->in = lat_input_open(lat_opts.input, comm))
        || !(r->out = lat_output_open(lat_opts.output, lat_output_flags(), comm))
        || !(r->checkpoint = lat_checkpoint_open(comm)))
        return -1;
    return 0;
}

/* Transformations are committed first: links without their transformation are worse than none. */
static int commit(run *r)
{
    lat_output *g = r->g_out, *out = r->out;
    r->g_out = NULL;
    if (g && lat_stream_commit(g))
        return LAT_FAILED;
    r->out = NULL;
    return lat_stream_commit(out) ? LAT_FAILED : LAT_DONE;
}

int lat_fixing_run(const lat_algorithm *algorithm, void *own)
{
    run r = {.fixing = {.algorithm = algorithm, .comm = lat_opts.comm, .own = own}};
    int rc = open_all(&r) ? LAT_FAILED : all_configurations(&r);
    lat_progress_end();
    lat_input_close(r.in);
    if (rc == LAT_DONE)
        rc = commit(&r);
    lat_output_abort(r.out);
    lat_output_abort(r.g_out);
    if (lat_log_close(r.copies_log, lat_fixing_opts.copies_log) && rc == LAT_DONE)
        rc = LAT_FAILED;
    if (rc == LAT_DONE)
        lat_resume_remove(lat_fixing_opts.checkpoint, r.fixing.comm);
    if (r.fixing.stopped > 0)
        lat_error_clear(); /* it was only to save what there is */
    lat_checkpoint_free(r.checkpoint);
    lat_device_close(r.fixing.device);
    lat_device_end();
    if (r.fixing.stopped > 0)
        lat_stop_exit(r.fixing.comm, r.fixing.stopped);
    if (rc != LAT_DONE)
        return lat_report(rc);
    return r.unconverged ? LAT_UNCONVERGED : LAT_DONE;
}
