/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-solve: M x = b for sources that come as a stream, or that it makes on the links that come.
 *
 * Solutions are certified: the residual of each column is computed by lib/certify/plain.h, which
 * shares nothing with solvers. A column above the target is solved further, with a lower one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "lattice/boundary.h"
#include "smear/smear.h"
#include "run/common/resume.h"
#include "run/quark/sources.h"
#include "stream/stream.h"

enum { MOST_MASSES = LAT_WILSON_TWISTS };

static const char *source_text, *gauge_file, *log_path, *checkpoint, *resume, *columns_text,
    *masses_text, *kappas_text, *twists_text, *deflate_path, *subspace_path;
static lat_inverter_options solving = {
    .how = {.residual = 1e-10, .max_iterations = 20000, .batch = LAT_INVERTER_BATCH},
    .precision = LAT_INNER_AUTO};

static const lat_option options[] = {
    LAT_HEADING("Operator"),
    LAT_FERMION_OPTIONS,
    {LAT_OPT_TEXT, "masses", 0, "M,M,..", &masses_text, 0, 0,
     "several masses instead of --mass: a solution for each, in this order"},
    {LAT_OPT_TEXT, "kappas", 0, "K,K,..", &kappas_text, 0, 0,
     "several kappas instead of --kappa: a solution for each, in this order"},
    {LAT_OPT_TEXT, "twists", 0, "MU,MU,..", &twists_text, 0, 0,
     "several twisted masses instead of --twist: a solution for each, by one multi-shift CG"},
    LAT_SMEAR_LINKS_OPTION(solving.smearing, "; sources use the links as they were read"),
    LAT_HEADING("Source"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "gauge-file", 'U', "FILE", &gauge_file, 0, 0,
     "read links from FILE; the input has the sources"},
    {LAT_OPT_TEXT, "source", 0, "SOURCE", &source_text, 0, 0,
     "make this source on each configuration: point:x,y,z,t, wall:t, momentum:nx,ny,nz,nt, "
     "noise:z4,t=.., with steps such as /gauss:w,n after it (man lat-source)"},
    {LAT_OPT_TEXT, "columns", 0, "C,C,..", &columns_text, 0, 0,
     "solve only these columns, and write them as spinors"},
    LAT_HEADING("Overlap operator"),
    LAT_OVERLAP_OPTIONS,
    {LAT_OPT_FLAG, "contact", 0, NULL, &lat_overlap_opts.keep_contact, 0, 0,
     "write D^-1 itself, with its contact term, instead of (D^-1 - 1)/(1 - MU)"},
    LAT_HEADING("Solver"),
    {LAT_OPT_CHOICE, "precision", 'p', "single|double|half", &solving.precision, 0, 0,
     "precision of the iterations; half needs a GPU (default: half on a GPU, else single; single "
     "with --solver bicgstabl or gcr, and with --operator overlap)"},
    {LAT_OPT_REAL, "residual", 0, "R", &solving.how.residual, 1e-16, 1,
     "solve until |b - M x|/|b| is below R in every column"},
    {LAT_OPT_REAL, "residual-slices", 0, "R", &solving.how.slices, 1e-14, 1,
     "solve on until |b - M x|/|x| is below R on each time slice of every column, so that heavy "
     "quarks are exact far from the source, too (default: not asked for)"},
    {LAT_OPT_INT | LAT_OPT_LIMIT, "max-iterations", 0, "N", &solving.how.max_iterations, 1, 1e9,
     "give up a column after N iterations"},
    {LAT_OPT_CHOICE, "solver", 0, LAT_SOLVERS, &solving.how.solver, 0, 0,
     "solver; mg: adaptive multigrid for light quarks, on CPUs and GPUs; auto: bicgstab, then "
     "bicgstabl, then cg for columns where it fails, or mg where that pays"},
    {LAT_OPT_CHOICE, "even-odd", 0, "sym|asym|none", &solving.even_odd, 0, 0,
     "Schur complement that is solved; none: M itself"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "deflate", 0, "FILE", &deflate_path, 0, 0,
     "modes of these links and this operator, from lat-modes (overlap: lat-overlap --save-modes): "
     "their part of a solution is computed directly, and CG finds the rest; modes of gamma5 S need "
     "--even-odd asym"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "subspace", 0, "FILE", &subspace_path, 0, 0,
     "solve by the multigrid of FILE, from lat-subspace: of these links, for any mass and twist"},
    {LAT_OPT_INT, "reals", 0, "R", &solving.reals, 0, 18,
     "reals stored for a link in the iterations: 18, 12 or 8 (SU(2): 8 or 4); 0: 12 (SU(2): 4) if "
     "the links are unitary"},
    {LAT_OPT_REAL, "delta", 0, "D", &solving.how.delta, 0, 1,
     "make a reliable update when the residual has fallen by D (default: 0.02; CG in half 0.1; mg "
     "0.00001); gcr, and double without --deflate, make none"},
    LAT_HEADING("Device"),
    {LAT_OPT_INT | LAT_OPT_LOCAL, "batch", 0, "N", &solving.how.batch, 1, LAT_VECTOR_COLUMNS,
     "columns solved side by side: more columns are faster and need more memory (default: 16; on a "
     "GPU as many as fit)"},
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "memory", 0, "GB", &solving.memory, 0, 1e9,
     "memory of the device for solvers and operator, which sets --batch (default: the free memory "
     "of a GPU; no limit on the CPU)"},
    LAT_DEVICE_OPTIONS(solving.device),
    LAT_TUNE_OPTION(solving.device),
    LAT_HEADING("Run"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "log", 'l', "FILE", &log_path, 0, 0,
     "write a line for each column to FILE"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "keep finished columns in FILE, which must be new, or the FILE of --resume"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "resume", 0, "FILE", &resume, 0, 0,
     "continue from the checkpoint FILE, with the same input and options"},
    {0}};

static const lat_tool tool = {
    .name = "lat-solve",
    .args = "[FILE]",
    .summary = "Solves the Dirac equation M x = b: quark propagators from links or from sources.",
    .example = "lat-solve --kappa 0.135 --csw 1.769 --source point:0,0,0,0 cfg.lat -o prop.lat\n"
               "lat-solve --mass 0.1 --source wall:3 --checkpoint ck cfg.lat | lat-corr\n"
               "lat-solve --kappa 0.1565 --subspace sub.lat --source wall:0 cfg.lat -o light.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

typedef struct run {
    lat_sources from;
    lat_inverter v; /* solves; v.s has the present solution, and its writer */
    FILE *log;
    double mass[MOST_MASSES];
    int masses;
    int form; /* of propagators of the overlap operator */
} run;

/* ---- solve, certify, write ------------------------------------------------------------------- */

/* Does a solve write all of x, before anybody reads it? */
static bool whole_x_is_written(const run *r)
{
    return !r->v.columns && !r->v.twists && !lat_inverter_overlap(&r->v) && solving.how.slices == 0;
}

/* The operator for the present links, mass and twist. */
static int open_operator(run *r, int columns)
{
    lat_solution *s = &r->v.s;
    if (columns > r->v.wide && !r->v.modes && !r->v.subspaces) /* which come once */
        lat_inverter_close(&r->v);
    if ((r->masses == 1 && !r->v.twists && (s->wilson || s->overlap.fast))
        || lat_inverter_open(&r->v) == 0)
        return 0;
    if (!s->writer.failed)
        lat_error_name(lat_input_name(r->v.links.in), r->v.modes ? lat_input_name(r->v.modes)
                                                      : r->v.subspaces
                                                          ? lat_input_name(r->v.subspaces)
                                                          : lat_overlap_opts.modes);
    return -1;
}

/* One mass, or twist. */
static int solve_one(run *r, lat_solution_start from)
{
    lat_solution *s = &r->v.s;
    int list[LAT_MAX_COLUMNS];
    const int columns = lat_inverter_columns(&r->v, list);
    if (from != LAT_SOLVED)
        memset(s->solved, 0, lat_header_objects(&s->x->head) * sizeof *s->solved);
    if (open_operator(r, columns))
        return LAT_FAILED;
    lat_header head = s->x->head; /* of a solution, which takes the space that it will have */
    head.quark.fermion = r->v.fermion;
    if (!r->v.columns)
        lat_writer_expect(&s->writer, &head);
    lat_inverter_name(&r->v);
    const int code = lat_solution_solve(s, columns, list, from);
    if (code == LAT_UNCONVERGED)
        lat_error_name(lat_input_name(r->from.in), NULL);
    if (code == LAT_DONE || code == LAT_UNCONVERGED)
        lat_result_log(&r->v, r->log, columns, list);
    if (code != LAT_DONE)
        return code;
    const bool soon = lat_sources_soon(&r->from, &r->v);
    return lat_result_write(&r->v, r->form, columns, list, soon) ? LAT_FAILED : LAT_DONE;
}

/* The twists of --twists for the source b: solved together, then each certified and written. */
static int solve_twists(run *r)
{
    lat_solution *s = &r->v.s;
    const size_t bytes = lat_header_objects(&s->x->head) * sizeof *s->solved;
    lat_field *one = s->x;
    lat_solved *shared = lat_alloc(1, bytes, "reports");
    int code = LAT_DONE;
    r->v.fermion.mass = r->mass[0];
    if (!shared || lat_twists_solve(&r->v))
        code = LAT_FAILED;
    else
        memcpy(shared, s->solved, bytes);
    for (int j = 0; j < r->v.twists && code == LAT_DONE; j++) {
        memcpy(s->solved, shared, bytes);
        s->x = &r->v.of_twist[j];
        r->v.fermion.twist = r->v.twist[j];
        code = solve_one(r, LAT_SOLVED);
    }
    s->x = one;
    lat_twists_free(&r->v);
    free(shared);
    return code;
}

/* May these columns of the source be solved for? */
static int check_source(run *r)
{
    lat_solution *s = &r->v.s;
    const size_t all = lat_header_objects(&s->x->head);
    int list[LAT_MAX_COLUMNS];
    LAT_FOR_COLUMNS (k, &r->v)
        if ((size_t)k >= all)
            return lat_fail("--columns: expected columns below %zu, found %d", all, k);
    const int columns = lat_inverter_columns(&r->v, list);
    return lat_boundary_check_quarks(&r->v.fermion, s->b, columns, list,
                                     source_text ? "--source" : lat_input_name(r->from.in));
}

/* The source b, which is overwritten; for all masses. An exit code. */
static int solve_source(run *r, lat_field *b)
{
    lat_solution *s = &r->v.s;
    lat_field x = {.comm = b->comm};
    int code = LAT_FAILED;
    s->b = b;
    const int written = lat_inverter_written(&r->v);
    if (written || lat_header_copy(&x.head, &b->head))
        return written > 0 ? LAT_DONE : code;
    x.head.real = LAT_F64;
    s->x = &x;
    const bool good = lat_field_alloc(&x, b->comm) == 0 && lat_solution_reserve(s) == 0
                      && check_source(r) == 0;
    if (good && !whole_x_is_written(r))
        lat_zero(x.data, lat_field_held(&x) * lat_header_full_reals(&x.head) * sizeof(double));
    if (good && r->v.twists)
        code = solve_twists(r);
    for (int m = 0; good && !r->v.twists && m < r->masses; m++) {
        r->v.fermion.mass = r->mass[m];
        if ((code = solve_one(r, m > 0 ? LAT_FROM_X : LAT_FROM_ZERO)) != LAT_DONE)
            break;
    }
    lat_solution_unreserve(s);
    lat_field_free(&x);
    s->field++;
    return code == LAT_DONE && lat_sections_forget(&s->kept) ? LAT_FAILED : code;
}

/* All sources of the input. An exit code. */
static int solve_all(run *r)
{
    lat_field b;
    int rc, code = LAT_DONE;
    while (code == LAT_DONE && (rc = lat_sources_next(&r->from, &r->v, &b)) != 0) {
        code = rc < 0 ? LAT_FAILED : solve_source(r, &b);
        lat_field_free(&b);
    }
    return code == LAT_DONE && lat_sections_complete(&r->v.s.kept) ? LAT_FAILED : code;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Numbers with commas between: how many there are. */
static int parse_list(const char *name, const char *text, double list[MOST_MASSES])
{
    int n = 0;
    for (; *text; n++) {
        char *end;
        const double v = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !isfinite(v))
            lat_usage("%s: expected numbers with commas between, found '%.80s'", name, text);
        if (n == MOST_MASSES)
            lat_usage("%s: expected at most %d numbers", name, MOST_MASSES);
        for (int i = 0; i < n; i++)
            if (list[i] == v)
                lat_usage("%s: expected different numbers, found %g twice", name, v);
        list[n] = v;
        text = *end ? end + 1 : end;
    }
    if (n == 0)
        lat_usage("%s: expected numbers, found none", name);
    return n;
}

static void parse_masses(run *r)
{
    const char *text = masses_text ? masses_text : kappas_text,
               *name = masses_text ? "--masses" : "--kappas";
    r->mass[0] = r->v.fermion.mass;
    r->masses = 1;
    if (!text)
        return;
    if (masses_text && kappas_text)
        lat_usage("--masses and --kappas exclude each other");
    if (lat_opt_given("mass") || lat_opt_given("kappa"))
        lat_usage("%s is in place of --mass and --kappa", name);
    r->masses = parse_list(name, text, r->mass);
    for (int i = 0; i < r->masses && kappas_text; i++) {
        if (r->mass[i] == 0)
            lat_usage("--kappas: expected numbers other than 0");
        r->mass[i] = lat_mass_of_kappa(r->mass[i]);
    }
}

/* Multi-shift CG is in double, of M itself. */
static void parse_twists(run *r)
{
    if (!twists_text)
        return;
    if (lat_opt_given("twist") || masses_text || kappas_text || subspace_path)
        lat_usage("--twists is in place of --twist, and excludes --masses, --kappas, --subspace");
    if (solving.how.solver != LAT_SOLVER_AUTO && solving.how.solver != LAT_SOLVER_CG)
        lat_usage("--twists: expected --solver cg or auto, because it is multi-shift CG");
    if (lat_opt_given("even-odd") && solving.even_odd != LAT_EVEN_ODD_NONE)
        lat_usage(
            "--twists: expected --even-odd none, because the twist is a shift of all sites alone");
    if (lat_opt_given("precision") && solving.precision != LAT_INNER_DOUBLE)
        lat_usage("--twists: expected --precision double, as multi-shift CG has no other");
    r->v.twists = parse_list("--twists", twists_text, r->v.twist);
}

static void parse_columns(run *r)
{
    static int list[LAT_MAX_COLUMNS];
    const char *text = columns_text;
    r->v.column = list;
    for (; text && *text; r->v.columns++) {
        char *end;
        const long v = strtol(text, &end, 10);
        const int last = r->v.columns ? list[r->v.columns - 1] : -1;
        if (end == text || (*end && *end != ',') || v <= last || v >= LAT_MAX_COLUMNS)
            lat_usage(
                "--columns: expected numbers from 0 on, ascending, with commas between, found "
                "'%.80s'",
                text);
        list[r->v.columns] = (int)v;
        text = *end ? end + 1 : end;
    }
    if (columns_text && r->v.columns == 0)
        lat_usage("--columns: expected numbers, found none");
}

/* Modes are of one operator, and conjugate gradients keep out of their space. */
static void check_deflation(const run *r)
{
    if (!deflate_path || lat_inverter_overlap(&r->v)) /* whose modes are those of all masses */
        return;
    if (masses_text || kappas_text || twists_text)
        lat_usage("--deflate excludes --masses, --kappas and --twists: modes are of one operator");
    if (solving.how.solver != LAT_SOLVER_AUTO && solving.how.solver != LAT_SOLVER_CG)
        lat_usage("--deflate: expected --solver cg or auto, as others do not keep out of the space "
                  "of the modes");
    if (lat_opt_given("even-odd") && solving.even_odd == LAT_EVEN_ODD_SYMMETRIC)
        lat_usage("--deflate: expected --even-odd asym, or none, found sym");
    solving.how.solver = LAT_SOLVER_CG;
}

/* A multigrid that is there is what solves. */
static void check_subspace(void)
{
    if (!subspace_path)
        return;
    lat_usage_for("subspace", deflate_path == NULL, "solves without --deflate");
    if (solving.how.solver != LAT_SOLVER_AUTO && solving.how.solver != LAT_SOLVER_MG)
        lat_usage("--subspace: expected --solver mg or auto, as others have no multigrid");
    solving.how.solver = LAT_SOLVER_MG;
}

/* Options that an overlap operator has no use for, and its masses. */
static void check_overlap(run *r)
{
    static const char *const wilson[] = {"kappas", "solver", "even-odd",        "reals",   "delta",
                                         "twists", "memory", "residual-slices", "subspace"};
    for (size_t i = 0; lat_inverter_overlap(&r->v) && i < sizeof wilson / sizeof *wilson; i++)
        lat_usage_for(wilson[i], false, "--operator wilson");
    if (lat_inverter_overlap(&r->v) && solving.precision == LAT_INNER_HALF)
        lat_usage("--precision half is for --operator wilson");
    r->form = lat_propagator_of_options(masses_text);
    for (int m = 0; masses_text && m < r->masses; m++)
        r->mass[m] = lat_mass_of_options(&r->v.fermion, r->mass[m]);
}

/* May each number of a list stand in place of that one of the operator? Before the first solve. */
static void check_list(run *r, const char *name, double *number, const double *list, int count)
{
    const double own = *number;
    for (int i = 0; i < count; i++) {
        *number = list[i];
        if (lat_fermion_check(&r->v.fermion, name)
            || (lat_inverter_overlap(&r->v) && lat_overlap_check(&r->v.fermion)))
            lat_usage("%s", lat_error());
    }
    *number = own;
}

static void check_usage(run *r)
{
    lat_operator_of_options(&r->v.fermion, masses_text || kappas_text);
    if (solving.smearing && lat_smear_parse(solving.smearing, &solving.smear))
        lat_usage("--smear-links: %s", lat_error());
    parse_masses(r);
    parse_twists(r);
    check_overlap(r);
    check_list(r, masses_text ? "--masses" : "--kappas", &r->v.fermion.mass, r->mass, r->masses);
    r->v.masses = r->masses;
    r->v.lightest = r->mass[0];
    for (int m = 1; m < r->masses; m++)
        r->v.lightest = fmin(r->v.lightest, r->mass[m]);
    check_list(r, "--twists", &r->v.fermion.twist, r->v.twist, r->v.twists);
    check_deflation(r);
    check_subspace();
    parse_columns(r);
    r->v.whole = r->masses == 1 && whole_x_is_written(r);
    if (!source_text && !gauge_file)
        lat_usage("--source is needed, for example --source point:0,0,0,0; or --gauge-file, and "
                  "sources on stdin");
    if (source_text && gauge_file)
        lat_usage("--source makes sources on the links of the input; --gauge-file is for sources "
                  "that come with the input");
    lat_usage_if_stdin_twice(
        (const char *const[]){gauge_file, deflate_path, subspace_path, lat_overlap_opts.modes}, 4);
    lat_usage_if_input("log", log_path);
}

static int open_all(run *r)
{
    const lat_comm *comm = lat_opts.comm;
    lat_checkpoint_usage(checkpoint, resume);   /* ends the process: before there are threads */
    if (lat_device_begin(&solving.device, comm) /* a GPU starts while the links are read */
        || !(r->from.in = lat_input_open(lat_opts.input, comm))
        || !(r->v.links.in = gauge_file ? lat_input_open(gauge_file, comm) : r->from.in)
        || (deflate_path && !(r->v.modes = lat_input_open(deflate_path, comm)))
        || (subspace_path && !(r->v.subspaces = lat_input_open(subspace_path, comm)))
        || lat_overlap_known_open(&r->v.known, comm)
        || !(r->v.s.writer.out = lat_output_open(lat_opts.output,
                                                 lat_output_flags() | LAT_OUTPUT_OTHER, comm))
        || (log_path && !(r->log = lat_log_open(log_path, lat_result_log_head, comm)))
        || lat_sections_open(&r->v.s.kept, &lat_columns, checkpoint, resume, comm)
        || lat_sections_continue(&r->v.s.kept, r->v.s.writer.out, resume))
        return -1;
    r->v.s.writer.store = lat_opts.store;
    return 0;
}

/* What is done stays in the checkpoint, if the run has not come to its end. What the output has of
 * others goes first, since the disk may be full. */
static void give_up(run *r, int code)
{
    lat_solution *s = &r->v.s;
    s->writer.out = lat_sections_cut(&s->kept, s->writer.out);
    lat_sections_give_up(&s->kept, code, s->writer.failed);
}

int main(int argc, char **argv)
{
    run r = {.v = {.o = &solving, .s = {.how = &solving.how}}};
    lat_solution *s = &r.v.s;
    lat_options_parse(&tool, argc, argv);
    check_usage(&r);
    r.from.text = source_text;
    s->fermion = &r.v.fermion;
    s->meanwhile = source_text ? lat_sources_ahead : NULL;
    s->with = &r.v;
    int code = open_all(&r) ? LAT_FAILED : solve_all(&r);
    if (lat_writer_end(&s->writer) && code == LAT_DONE)
        code = LAT_FAILED;
    lat_progress_end();
    if (code != LAT_DONE)
        give_up(&r, code);
    lat_inverter_end(&r.v);
    lat_sources_end(&r.from);
    lat_device_close(r.v.device);
    if (r.from.in != r.v.links.in)
        lat_input_close(r.from.in);
    lat_input_close(r.v.modes);
    lat_input_close(r.v.subspaces);
    lat_overlap_known_close(&r.v.known);
    lat_links_free(&r.v.links);
    if (lat_log_close(r.log, log_path) && code == LAT_DONE)
        code = LAT_FAILED;
    if (code != LAT_DONE)
        lat_output_abort(s->writer.out); /* of a log */
    else if (lat_stream_commit(s->writer.out)) {
        s->writer.out = NULL;
        s->writer.failed = true;
        give_up(&r, code = LAT_FAILED);
    }
    if (code == LAT_DONE)
        lat_resume_remove(checkpoint, lat_opts.comm);
    const int stopped = s->kept.stopped;
    lat_sections_free(&s->kept);
    lat_device_end();
    if (stopped > 0)
        lat_stop_exit(lat_opts.comm, stopped);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
