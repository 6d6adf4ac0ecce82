/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-modes: the lowest or largest eigenvectors of gamma5 M, M^+ M or gamma5 S.
 *
 * Each residual is computed by lib/certify/plain.h, which shares nothing with the search, of the
 * vectors that are written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "common/text.h"
#include "vector/temporal.h"
#include "modes/modes.h"
#include "run/common/device_options.h"
#include "run/quark/fermion_options.h"
#include "run/quark/links.h"
#include "run/quark/modefile.h"
#include "run/quark/modestate.h"
#include "run/common/resume.h"
#include "run/common/tool.h"
#include "smear/smear.h"
#include "modes_run.h"

enum { SINGLE, DOUBLE }; /* of --precision */
#define SINGLE_FROM 1e-5 /* residual that single precision reaches by itself */
enum { BATCH = 4 };      /* vectors side by side, in single: more take more applications in all */

static const char *modes_text = "8", *log_path, *checkpoint, *resume, *subspace_path;
static int method = LAT_MODES_LANCZOS, precision = -1;
static double memory;
static long max_applications = 1000000, degree;
static uint64_t seed = 1;
static lat_device_options device;

static lat_modes_tool_run run = {.o = {.matrix = LAT_MODES_OF_G5M, .residual = 1e-10}};

static const lat_option options[] = {
    LAT_HEADING("Operator"),
    LAT_FERMION_OPTIONS,
    {LAT_OPT_CHOICE, "matrix", 0, LAT_MODES_MATRICES, &run.o.matrix, 0, 0,
     "matrix whose modes are found: gamma5 M, M^+ M, or gamma5 S, where S is the asymmetric Schur "
     "complement on odd sites"},
    LAT_SMEAR_LINKS_OPTION(run.o.smear_text, ""),
    LAT_HEADING("Search"),
    {LAT_OPT_TEXT, "modes", 0, "K", &modes_text, 0, 0,
     "number of modes; LOW-HIGH: the number from LOW to HIGH that leaves the widest gap to the "
     "next eigenvalue; auto: 8-24"},
    {LAT_OPT_FLAG, "largest", 0, NULL, &run.o.largest, 0, 0,
     "find the modes with the largest modulus instead of the smallest"},
    {LAT_OPT_REAL, "residual", 0, "R", &run.o.residual, 1e-14, 1,
     "search until |A v - value v| is below R for each mode, |v| = 1"},
    {LAT_OPT_CHOICE, "method", 0, LAT_MODES_METHODS, &method, 0, 0,
     "lanczos: thick-restart Lanczos with a Chebyshev polynomial; ritz: conjugate gradients on the "
     "Ritz functional, one mode after the other"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "subspace", 0, "FILE", &subspace_path, 0, 0,
     "search by the multigrid of FILE, from lat-subspace, of these links: for gamma5 M and gamma5 "
     "S of light quarks"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "precision of the search; single: several vectors at a time, refined in double (default: "
     "single if --residual is 1e-5 or larger)"},
    {LAT_OPT_INT, "degree", 0, "N", &degree, 0, 10000,
     "degree of the polynomial; 0: chosen from the spectrum"},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "seed of the random numbers"},
    {LAT_OPT_INT | LAT_OPT_LIMIT, "max-applications", 0, "N", &max_applications, 1, 1e12,
     "give up after N applications of the matrix"},
    LAT_HEADING("Output"),
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "tsv", 0, NULL, &run.o.tsv, 0, 0,
     "print a table instead of the modes, one row for each"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "json", 0, NULL, &run.o.json, 0, 0,
     "print one object for each configuration instead of the modes, with bounds"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "log", 'l', "FILE", &log_path, 0, 0,
     "also write the table of --tsv to FILE"},
    LAT_HEADING("Run"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "write the state of the search to FILE, which must be new, or the FILE of --resume"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "resume", 0, "FILE", &resume, 0, 0,
     "continue from the checkpoint FILE, with the same input and options"},
    LAT_HEADING("Device"),
    LAT_SEARCH_MEMORY_OPTION(memory),
    LAT_DEVICE_OPTIONS(device),
    LAT_TUNE_OPTION(device),
    {0}};

static const lat_tool tool = {
    .name = "lat-modes",
    .args = "[FILE]",
    .summary = "Finds the lowest eigenvectors of Dirac operators, with rigorous errors.",
    .example = "lat-modes --kappa 0.137 --modes 16 cfg.lat -o modes.lat --log modes.tsv\n"
               "lat-modes --kappa 0.137 --modes 16 --checkpoint ck cfg.lat -o modes.lat\n"
               "lat-modes --mass -0.8 --modes 8 --tsv cfg.lat > values.tsv",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

/* ---- the search ------------------------------------------------------------------------------ */

static int show_progress(void *with, int converged, int of, double worst, long applications)
{
    lat_modes_tool_run *r = with;
    char text[LAT_LEFT];
    /* Ritz' method finds one mode after the other; how long Lanczos' takes nobody knows. */
    lat_part_at(method == LAT_MODES_RITZ ? converged : 0);
    if (lat_sections_asked(&r->kept))
        return r->kept.stopped > 0 ? 1 : -1;
    lat_progress("applications %ld  %d of %d modes  %sconfiguration %ld", applications, converged,
                 of, lat_residual_text(worst, text), lat_modes_tool_config(r));
    return 0;
}

/* The device, or, where it was chosen by itself and cannot do it, the CPU. */
static lat_device *device_for(lat_modes_tool_run *r)
{
    const bool can = !subspace_path && lat_space_gpu_takes(&r->links.u.head.geom, lat_opts.comm);
    return lat_device_or_cpu(r->device, can);
}

static int unconverged(const lat_modes_tool_run *r)
{
    char text[LAT_FERMION_TEXT], found[64] = "none";
    const char *there = r->kept.there ? checkpoint : NULL;
    if (!(r->modes.worst > 0)) /* all are good, but the search has not ended */
        snprintf(found, sizeof found, "%d that may not be the lowest ones", r->high);
    else if (isfinite(r->modes.worst))
        snprintf(found, sizeof found, "one of %.3g", r->modes.worst);
    lat_fail("configuration %ld: expected %d modes with residuals below %.3g, found %s "
             "after %ld applications of %s (%s; --max-applications allows more%s%s)",
             lat_modes_tool_config(r), r->high, r->o.residual, found, r->modes.applications,
             lat_modes_matrix_text((lat_modes_matrix)r->o.matrix),
             lat_fermion_text(&r->fermion, text), there ? ", --resume " : "", there ? there : "");
    return LAT_UNCONVERGED;
}

/* Where the search is. */
static lat_space *searched(const lat_modes_tool_run *r)
{
    return r->single.one ? r->single.one : r->exact.one;
}

static int save(void *with, const lat_modes_state *state)
{
    lat_modes_tool_run *r = with;
    lat_space *s = state->refined ? r->exact.one : searched(r);
    return lat_rc(lat_modestate_save(&r->kept, r->name, s, &r->links.u, state)
                  || lat_sections_asked(&r->kept));
}

static int find(lat_modes_tool_run *r, lat_modes_job *job)
{
    lat_modes_state from;
    int rc = lat_modestate_from(&r->kept, r->name, searched(r), r->exact.one, &from);
    if (rc > 0)
        job->from = &from;
    rc = rc < 0 || lat_modes_find(job, &r->modes) ? -1 : 0;
    lat_modestate_drop(&from);
    return rc;
}

/* Modes of the checkpoint: 1, 0 if it has none, or -1. */
static int restore(lat_modes_tool_run *r)
{
    double number[LAT_MODESTATE_NUMBERS];
    const int rc = lat_modestate_done(&r->kept, r->name, &r->v, number);
    if (rc <= 0)
        return rc;
    const int n = (int)lat_header_objects(&r->v.head);
    if (lat_modes_new(&r->modes, r->exact.one, n))
        return -1;
    r->modes.rest = number[0];
    r->modes.norm = number[1];
    r->modes.converged = true;
    memcpy(r->modes.value, r->v.head.quark.eigenvalue, sizeof(double) * (size_t)n);
    return 1;
}

/* The operator; `columns` of batches, or 0. */
static int open_operator(lat_modes_tool_run *r, lat_device *on, lat_storage storage, int columns,
                         lat_modes_tool_operator *o)
{
    const lat_field *u = lat_modes_tool_links(r);
    const int nc = u->head.nc;
    const lat_dirac_options how = {.reals = 0};
    return lat_rc(!(o->grid = lat_grid_of_spinors(on, &u->head.geom, storage))
                  || !(o->one = lat_space_open_in(o->grid, nc, 1, r->gauge))
                  || !(o->d = lat_dirac_open(o->one, u, &r->fermion, &how))
                  || (columns > 0
                      && (!(o->many = lat_space_open_in(o->grid, nc, columns, r->gauge))
                          || !(o->batch = lat_dirac_open(o->many, u, &r->fermion, &how)))));
}

static void close_operator(lat_modes_tool_operator *o)
{
    lat_dirac_close(o->batch);
    lat_dirac_close(o->d);
    lat_space_close(o->many);
    lat_space_close(o->one);
    lat_grid_free(o->grid);
    *o = (lat_modes_tool_operator){.grid = NULL};
}

static int search(lat_modes_tool_run *r)
{
    static const lat_dirac_matrix matrices[] = {[LAT_MODES_OF_G5M] = {LAT_FULL, LAT_GAMMA5},
                                                [LAT_MODES_OF_NORMAL] = {LAT_FULL, LAT_NORMAL},
                                                [LAT_MODES_OF_G5S] = {LAT_ASYMMETRIC, LAT_GAMMA5}};
    const lat_field *u = lat_modes_tool_links(r), *u0 = &r->links.u;
    lat_device *on = device_for(r);
    if (on)
        lat_device_threads(on, u, precision == SINGLE ? BATCH : 1);
    if (!on || lat_temporal_open(on, u, NULL, &r->gauge)
        || open_operator(r, on, LAT_STORAGE_DOUBLE, subspace_path ? LAT_MULTIGRID_COLUMNS : 0,
                         &r->exact)
        || (precision == SINGLE && open_operator(r, on, LAT_STORAGE_SINGLE, BATCH, &r->single))
        || (subspace_path && lat_modes_tool_open_inverse(r, on)))
        return LAT_FAILED;
    lat_hermitian op = lat_hermitian_dirac(r->exact.d, matrices[r->o.matrix]), coarse;
    op.many = r->exact.batch; /* with --subspace */
    if (precision == SINGLE) {
        coarse = lat_hermitian_dirac(r->single.d, matrices[r->o.matrix]);
        coarse.many = r->single.batch;
    }
    lat_modes_job job = {.op = &op,
                         .coarse = precision == SINGLE ? &coarse : NULL,
                         .low = r->low,
                         .high = r->high,
                         .largest = r->o.largest,
                         .tolerance = .9 * r->o.residual, /* for rounding in the other code */
                         .method = (lat_modes_method)method,
                         .seed = seed,
                         .max_applications = max_applications,
                         .memory = memory * 1e9,
                         .degree = (int)degree,
                         .inverse = lat_modes_tool_invert,
                         .start = lat_modes_tool_start,
                         .starts = (int)lat_header_objects(&r->inverse.sub.vectors.head),
                         .progress = show_progress,
                         .save = save,
                         .with = r};
    snprintf(r->name, sizeof r->name, "config %ld links %s%s%s", lat_modes_tool_config(r),
             u0->head.read_crc, subspace_path ? " subspace " : "",
             subspace_path ? r->inverse.sub.vectors.head.read_crc : "");
    const int known = restore(r);
    if (known)
        return known > 0 ? LAT_DONE : LAT_FAILED;
    lat_part_begin(NULL, r->high);
    if (find(r, &job))
        return LAT_FAILED;
    lat_part_end();
    return r->modes.converged ? LAT_DONE : unconverged(r);
}

/* ---- what is found, by other code ------------------------------------------------------------ */

/* Exit code: is each residual what was asked for? */
static int judge(const lat_modes_tool_run *r)
{
    for (int k = 0; k < r->modes.count; k++)
        if (!(r->residual[k] <= r->o.residual)) {
            lat_fail("configuration %ld, mode %d: expected a residual below %.3g, found %.3g, as "
                     "rounding allows it",
                     lat_modes_tool_config(r), k, r->o.residual, r->residual[k]);
            return LAT_UNCONVERGED;
        }
    return LAT_DONE;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void close_modes(lat_modes_tool_run *r)
{
    lat_modes_free(&r->modes);
    lat_modes_tool_close_inverse(r);
    close_operator(&r->exact);
    close_operator(&r->single);
    lat_temporal_close(r->gauge);
    r->gauge = NULL;
    lat_field_free(&r->v);
    lat_field_free(&r->smeared);
    free(r->residual);
    r->residual = NULL;
}

/* One configuration. An exit code. */
static int one(lat_modes_tool_run *r)
{
    if (!r->device && !(r->device = lat_device_open(&device, lat_opts.comm)))
        return LAT_FAILED;
    if (lat_fermion_check_gauge(&r->links.u.head, lat_input_name(r->links.in))
        || lat_fermion_check_links(&r->fermion, &r->links.u.head, lat_input_name(r->links.in))
        || (r->o.smear_text && lat_smear_links(&r->links.u, &r->smear, &r->smeared)))
        return LAT_FAILED;
    int code = search(r);
    if (code == LAT_DONE && lat_modes_tool_fetch(r))
        code = LAT_FAILED;
    if (code == LAT_DONE)
        code = judge(r);
    if (code != LAT_DONE && !r->kept.stopped)
        lat_error_name(lat_input_name(r->links.in), resume ? resume : subspace_path);
    if (code == LAT_DONE)
        code = lat_modes_tool_write_modes(r);
    close_modes(r);
    return code;
}

static int all(lat_modes_tool_run *r)
{
    int rc, code = LAT_DONE;
    while (code == LAT_DONE
           && (rc = lat_sections_asked(&r->kept) ? -1 : lat_links_next(&r->links)) != 0)
        code = rc < 0 ? LAT_FAILED : one(r);
    return code;
}

/* "16", "8-24" or "auto". */
static void parse_modes(lat_modes_tool_run *r)
{
    char *end;
    const char *text = strcmp(modes_text, "auto") ? modes_text : "8-24";
    const long low = strtol(text, &end, 10), high = *end == '-' ? strtol(end + 1, &end, 10) : low;
    if (*end || end == text || low < 1 || high < low || high >= LAT_MAX_COLUMNS)
        lat_usage("--modes: expected a number from 1 to %d, LOW-HIGH or auto, found '%.80s'",
                  LAT_MAX_COLUMNS - 1, modes_text);
    r->low = (int)low;
    r->high = (int)high;
}

/* Which solves with M alone. */
static void check_subspace(const lat_modes_tool_run *r)
{
    if (!subspace_path)
        return;
    if (r->o.matrix == LAT_MODES_OF_NORMAL || r->o.largest || lat_opt_given("method")
        || lat_opt_given("precision") || degree)
        lat_usage("--subspace finds the lowest modes of gamma5 M and gamma5 S, and excludes "
                  "--largest, --method, --precision and --degree");
    if (device.choice == LAT_DEVICE_GPU || device.gpus)
        lat_usage("--subspace: expected --device cpu or auto, as this search is on the CPU");
    method = LAT_MODES_DAVIDSON;
    precision = DOUBLE;
    lat_usage_if_stdin_twice((const char *const[]){subspace_path}, 1);
}

static void check_usage(lat_modes_tool_run *r)
{
    lat_fermion_of_options(&r->fermion, false);
    if (r->o.smear_text && lat_smear_parse(r->o.smear_text, &r->smear))
        lat_usage("--smear-links: %s", lat_error());
    parse_modes(r);
    if (r->o.matrix != LAT_MODES_OF_NORMAL && r->fermion.twist != 0)
        lat_usage("--twist: %s is not Hermitian with a twist; --matrix MdagM is",
                  lat_modes_matrix_text((lat_modes_matrix)r->o.matrix));
    check_subspace(r);
    if (r->o.tsv && r->o.json)
        lat_usage("--tsv and --json exclude each other");
    const bool can = !r->o.largest && method == LAT_MODES_LANCZOS;
    if (precision == SINGLE && !can)
        lat_usage("--precision single is for the lowest modes by --method lanczos");
    if (precision < 0)
        precision = can && r->o.residual >= SINGLE_FROM ? SINGLE : DOUBLE;
    if (degree && (r->o.largest || method == LAT_MODES_RITZ))
        lat_usage("--degree is for the lowest modes by --method lanczos");
    lat_usage_if_input("log", log_path);
}

static int open_all(lat_modes_tool_run *r)
{
    const lat_comm *comm = lat_opts.comm;
    const bool text = r->o.tsv || r->o.json;
    lat_checkpoint_usage(checkpoint, resume); /* ends the process: before there are threads */
    if (lat_device_begin(&device, comm)       /* a GPU starts while the links are read */
        || !(r->links.in = lat_input_open(lat_opts.input, comm))
        || (subspace_path && !(r->subspaces = lat_input_open(subspace_path, comm)))
        || !(r->out = lat_output_open(
                 lat_opts.output, lat_output_flags() | (text ? LAT_OUTPUT_TEXT : LAT_OUTPUT_OTHER),
                 comm))
        || (text && !(r->text = lat_text_open(r->out)))
        || (log_path && !(r->log = lat_log_open(log_path, LAT_MODES_TOOL_COLUMNS, comm)))
        || lat_sections_open(&r->kept, &lat_modestate, checkpoint, resume,
                             comm)) /* none of the others */
        return -1;
    if (r->o.tsv)
        fprintf(r->text, LAT_MODES_TOOL_COLUMNS "\n");
    return 0;
}

int main(int argc, char **argv)
{
    lat_modes_tool_run *r = &run;
    lat_options_parse(&tool, argc, argv);
    check_usage(r);
    lat_header_init(&r->inverse.sub.vectors.head);
    int code = open_all(r) ? LAT_FAILED : all(r);
    lat_progress_end();
    lat_sections_give_up(&r->kept, code, false);
    lat_input_close(r->subspaces);
    lat_links_free(&r->links);
    lat_device_close(r->device);
    lat_device_end();
    if (lat_log_close(r->log, log_path) && code == LAT_DONE)
        code = LAT_FAILED;
    code = lat_output_end(r->out, r->text, code);
    if (code == LAT_DONE)
        lat_resume_remove(checkpoint, lat_opts.comm);
    const int stopped = r->kept.stopped;
    lat_sections_free(&r->kept);
    if (stopped > 0)
        lat_stop_exit(lat_opts.comm, stopped);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
