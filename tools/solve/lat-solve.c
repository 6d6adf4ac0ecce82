/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-solve: M x = b for sources that come as a stream, or that it makes on the links that come.
 *
 * Solutions are certified: the residual of each column is computed by lib/quark/plain.h, which
 * shares nothing with the solvers. A column above the target is solved further, with a lower one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/pages.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "formats/fields.h"
#include "quark/plain.h"
#include "grid/memory.h"
#include "smear/smear.h"
#include "quark/source.h"
#include "run/device_options.h"
#include "run/links.h"
#include "run/modefile.h"
#include "run/solution.h"
#include "run/tool.h"
#include "solve/memory.h"
#include "stream/stream.h"

enum { MOST_MASSES = 64 };
enum { BATCH = 16 };                  /* columns side by side, at most, unless told */
enum { SYMMETRIC, ASYMMETRIC, NONE }; /* of --even-odd */

static const char *smear_text, *source_text, *gauge_file, *log_path, *checkpoint, *resume,
    *columns_text, *masses_text, *kappas_text, *twists_text, *deflate_path;
static lat_solution_options how = {.residual = 1e-10, .max_iterations = 20000, .batch = BATCH};
static double memory;
static long reals;
static int precision = -1, even_odd, halo;
static lat_device_options device;

static const lat_option options[] = {
    LAT_FERMION_OPTIONS,
    LAT_OVERLAP_OPTIONS,
    {LAT_OPT_FLAG, "contact", 0, NULL, &lat_overlap_opts.keep_contact, 0, 0,
     "overlap: write D^-1 itself, with its contact term, in place of (D^-1 - 1)/(1 - MU)", false},
    {LAT_OPT_TEXT, "masses", 0, "M,M,..", &masses_text, 0, 0,
     "several masses, in place of --mass: a solution for each, in this order", false},
    {LAT_OPT_TEXT, "kappas", 0, "K,K,..", &kappas_text, 0, 0, "the same, by their kappa", false},
    {LAT_OPT_TEXT, "twists", 0, "MU,MU,..", &twists_text, 0, 0,
     "several twisted masses, in place of --twist: a solution for each, in this order, from one "
     "Krylov space (multi-shift CG)",
     false},
    {LAT_OPT_TEXT, "smear-links", 0, "SMEARING", &smear_text, 0, 0,
     "links of the operator: ape:A,N, stout:R,N or hyp:A,B,C,N, with ,spatial after it or not; a "
     "source has the links as they are",
     false},
    {LAT_OPT_TEXT, "source", 0, "SOURCE", &source_text, 0, 0,
     "make the source on each configuration: point:x,y,z,t, wall:t, momentum:nx,ny,nz,nt, "
     "noise:z4,t=.., /gauss:w,n after it, .. (man lat-source)",
     false},
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &gauge_file, 0, 0,
     "read links from FILE; the input has sources", true},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double|half", &precision, 0, 0,
     "of the iterations; half: on GPUs (default: single; on a GPU half, but for --solver "
     "bicgstabl and gcr)",
     false},
    {LAT_OPT_REAL, "residual", 0, "R", &how.residual, 1e-16, 1,
     "solve until |b - M x|/|b| is below R in every column", false},
    {LAT_OPT_INT, "max-iterations", 0, "N", &how.max_iterations, 1, 1e9,
     "give up a column after N iterations", LAT_OPT_LIMIT},
    {LAT_OPT_CHOICE, "solver", 0, LAT_SOLVERS, &how.solver, 0, 0,
     "auto: bicgstab; where it fails bicgstabl, then cg", false},
    {LAT_OPT_CHOICE, "even-odd", 0, "sym|asym|none", &even_odd, 0, 0,
     "which Schur complement is solved; none: M itself", false},
    {LAT_OPT_TEXT, "deflate", 0, "FILE", &deflate_path, 0, 0,
     "modes of lat-modes (of overlap: lat-overlap --save-modes), of these links and this operator, "
     "in FILE: their part of a solution is computed directly, the rest by CG (of gamma5 S: "
     "--even-odd asym)",
     true},
    {LAT_OPT_INT, "reals", 0, "R", &reals, 0, 18,
     "reals a link in the iterations: 18, 12 or 8, of SU(2) 8 or 4; 0: 12 (4) if links are unitary",
     false},
    {LAT_OPT_REAL, "delta", 0, "D", &how.delta, 0, 1,
     "update reliably when the residual has fallen by D (default: 0.02; CG in "
     "half 0.1)",
     false},
    {LAT_OPT_CHOICE, "halo", 0, "overlapped|first", &halo, 0, 0,
     "several ranks: compute while faces travel to the neighbours; or exchange them first, to "
     "compare: the same bytes, but slower",
     true},
    {LAT_OPT_TEXT, "columns", 0, "C,C,..", &columns_text, 0, 0,
     "solve these columns alone, and write them as spinors", false},
    {LAT_OPT_INT, "batch", 0, "N", &how.batch, 1, LAT_SPINOR_COLUMNS,
     "columns side by side: more are faster and take more memory (default: 16; on a GPU as many as "
     "fit, of large lattices half or a third of all, which are certified while it solves the next)",
     true},
    {LAT_OPT_REAL, "memory", 0, "GB", &memory, 0, 1e9,
     "memory of a device for solvers and operator, by which --batch is chosen (default: what is "
     "free on a GPU, any on the CPU)",
     true},
    {LAT_OPT_TEXT, "log", 'l', "FILE", &log_path, 0, 0, "write a line for each column to FILE",
     true},
    {LAT_OPT_TEXT, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "keep columns that are done in FILE, which must be new, or that of --resume", true},
    {LAT_OPT_TEXT, "resume", 0, "FILE", &resume, 0, 0,
     "go on from the checkpoint FILE, with the same input and options", true},
    LAT_DEVICE_OPTIONS(device),
    {0}};

static const lat_tool tool = {
    .name = "lat-solve",
    .args = "[FILE]",
    .summary = "Solves the Dirac equation M x = b: quark propagators from links or from sources.",
    .example = "lat-solve --kappa 0.135 --csw 1.769 --source point:0,0,0,0 cfg.lat -o prop.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

typedef struct run {
    lat_device *device, *cpu; /* cpu: where the device cannot do it */
    lat_input *in;            /* links or sources */
    lat_output *out;
    FILE *log;
    bool agreed; /* all ranks know that the output cannot be written */
    lat_source *source;
    lat_fermion fermion;
    double mass[MOST_MASSES], twist[MOST_MASSES];
    int masses, twists;   /* twists 0: one, that of fermion */
    int columns, *column; /* of --columns; 0: all */

    int wide; /* columns that the operator was opened for */
    lat_smear smear;
    lat_links links;         /* of the input, or of --gauge-file */
    long opened;             /* the number of those that were prepared for M */
    lat_field smeared;       /* those of the operator, with --smear-links */
    lat_input *modes;        /* of --deflate */
    char deflation[128];     /* "24 modes of gamma5 S up to 0.01, CRC 89abcdef", or "" */
    lat_overlap_known known; /* of --modes */
    int form;                /* of its propagators */

    lat_solution s;      /* the present one; its operator is for these links and `fermion` */
    lat_field *of_twist; /* x of each twist, with --twists */
} run;

/* The number of the present links in their file, from 0 on. */
static long config_of(const run *r) { return r->links.number - 1; }

static bool is_overlap(const run *r) { return !strcmp(r->fermion.name, "overlap"); }

/* ---- a solution ------------------------------------------------------------------------------ */

static lat_storage inner_precision(const lat_device *on)
{
    const bool fast = how.solver != LAT_SOLVER_BICGSTABL && how.solver != LAT_SOLVER_GCR;
    switch ((enum {AUTO = -1, SINGLE, DOUBLE, HALF}) precision) {
    case AUTO: break;
    case SINGLE: return LAT_STORAGE_SINGLE;
    case DOUBLE: return LAT_STORAGE_DOUBLE;
    case HALF: return LAT_STORAGE_HALF;
    }
    return on->gpu && fast ? LAT_STORAGE_HALF : LAT_STORAGE_SINGLE;
}

/* Those of M. */
static const lat_field *links_of(const run *r) { return smear_text ? &r->smeared : &r->links.u; }

/* The device, or, where it was chosen by itself and cannot do it, the CPU. */
static lat_device *device_for(run *r, const lat_field *links)
{
    const bool can = lat_spinor_gpu_takes(&links->head.geom, lat_opts.comm->size)
                     && (reals != 8 || links->head.nc == 2);
    return lat_device_or_cpu(r->device, &device, can, &r->cpu);
}

static void close_operator(run *r)
{
    if (r->s.wilson && lat_wilson_promoted(r->s.wilson))
        lat_warn("half precision stagnated in %ld columns, which went on in single",
                 lat_wilson_promoted(r->s.wilson));
    lat_overlap_pair_close(&r->s.overlap);
    lat_plain_free(r->s.plain);
    lat_wilson_close(r->s.wilson);
    r->s.plain = NULL;
    r->s.wilson = NULL;
}

/* The largest modulus of an eigenvalue. */
static double reach(const lat_field *modes)
{
    double most = 0;
    for (size_t k = 0; k < lat_header_objects(&modes->head); k++)
        most = fmax(most, fabs(modes->head.quark.eigenvalue[k]));
    return most;
}

/* The modes of --deflate for the present links and this operator, named in r->deflation. */
static int find_modes(run *r, const lat_fermion *f, lat_field *modes, lat_modes_matrix *matrix)
{
    if (lat_modefile_find(r->modes, &r->links.u, f, smear_text, modes, matrix))
        return -1;
    snprintf(r->deflation, sizeof r->deflation, "%zu modes of %s up to %.3g, CRC %s",
             lat_header_objects(&modes->head), lat_modes_matrix_text(*matrix), reach(modes),
             modes->head.read_crc);
    return 0;
}

/* They say what is solved, the Schur complement or M itself. */
static int read_modes(run *r, lat_field *modes, lat_modes_matrix *matrix)
{
    if (find_modes(r, &r->fermion, modes, matrix))
        return -1;
    if (lat_opt_given("even-odd") && (even_odd == NONE) != (*matrix != LAT_MODES_OF_G5S))
        return lat_fail("%s: expected modes of %s for this --even-odd, found those of %s",
                        lat_input_name(r->modes),
                        even_odd == NONE ? "gamma5 M or M^+ M" : "gamma5 S",
                        lat_modes_matrix_text(*matrix));
    return 0;
}

/* Columns side by side: --batch, or as many as the device's memory takes. */
static int choose_batch(run *r, lat_device *on, size_t modes, lat_wilson_options *o)
{
    const lat_wilson_use use = {(lat_solver)how.solver, r->twists, (int)modes};
    const lat_header *links = &r->links.u.head;
    const bool given = lat_opt_given("batch");
    const double bytes = memory > 0 ? memory * 1e9 : lat_device_free_bytes(on),
                 wanted = lat_wilson_bytes(on, links, &r->fermion, o, &use, false);
    if (bytes < 0)
        return -1;
    if (given && wanted <= bytes)
        return 0;
    const int fit = lat_wilson_columns(on, links, &r->fermion, o, &use, bytes);
    if (fit == 0)
        return -1;
    if (given)
        return lat_fail(
            "--batch %d needs %.3g GB of memory, %.3g GB are there: expected --batch %d",
            o->columns, wanted * 1e-9, bytes * 1e-9, fit);
    if (fit < o->columns)
        lat_verbose("%d of %d columns side by side: all would need %.3g GB of memory, %.3g GB are "
                    "there",
                    fit, o->columns, wanted * 1e-9, bytes * 1e-9);
    how.batch = o->columns = fit;
    return 0;
}

static int open_wilson(run *r, lat_device *on, lat_wilson_options *o)
{
    const lat_field *links = links_of(r);
    lat_field modes = {.data = NULL};
    lat_modes_matrix matrix = LAT_MODES_OF_G5M;
    lat_header_init(&modes.head);
    int rc = r->modes ? read_modes(r, &modes, &matrix) : 0;
    if (r->modes)
        o->form = matrix == LAT_MODES_OF_G5S ? LAT_ASYMMETRIC : LAT_FULL;
    if (rc == 0
        && (choose_batch(r, on, r->modes ? lat_header_objects(&modes.head) : 0, o)
            || !(r->s.plain = lat_plain_new(links, &r->fermion))
            || !(r->s.wilson = lat_wilson_open(on, links, &r->fermion, o))))
        rc = -1;
    if (rc == 0 && r->modes)
        rc = lat_wilson_deflate(r->s.wilson, &modes, matrix == LAT_MODES_OF_NORMAL,
                                lat_input_name(r->modes));
    lat_field_free(&modes);
    return rc;
}

/* At most; choose_batch may take fewer. */
static int side_by_side(int columns, int most)
{
    if (!lat_opt_given("batch"))
        how.batch = most;
    return columns < how.batch ? columns : (int)how.batch;
}

/* Columns are certified while the next ones are solved, where a GPU does that on one rank: in
 * batches, each with enough spinors for a GPU that more would be no faster. */
static int solved_beside(run *r, const lat_device *on, int columns)
{
    enum { ENOUGH = 6 << 20, MOST = 3 };
    r->s.beside = on->gpu && on->comm->size == 1 && !lat_columns_writes(r->s.kept);
    if (!r->s.beside || is_overlap(r))
        return side_by_side(columns, BATCH);
    const double full = (double)columns * (double)lat_field_sites(&r->links.u) / ENOUGH;
    const int batches = full < 1 ? 1 : full < MOST ? (int)full : MOST;
    const int most = (columns + batches - 1) / batches;
    return side_by_side(columns, most < BATCH ? most : BATCH);
}

/* The overlap operator, with modes of H and of its own, if there are files of them. */
static int open_overlap(run *r, lat_device *on, int columns)
{
    lat_fermion massless = r->fermion;
    lat_field modes = {.data = NULL};
    lat_modes_matrix matrix;
    massless.mass = 0;
    lat_header_init(&modes.head);
    int rc = lat_overlap_known_find(&r->known, config_of(r), &r->links.u, &r->fermion, smear_text)
                     || (r->modes && find_modes(r, &massless, &modes, &matrix))
                     || lat_overlap_pair_open(&r->s.overlap, on, links_of(r), &r->fermion, columns,
                                              how.residual, &r->known)
                 ? -1
                 : 0;
    if (rc == 0 && r->modes)
        rc = lat_overlap_deflate(r->s.overlap.fast, &modes, lat_input_name(r->modes));
    lat_field_free(&modes);
    return rc;
}

/* Operator and plain operator of the present links and fermion. */
static int open_operator(run *r)
{
    static const lat_dirac_form forms[] = {LAT_SYMMETRIC, LAT_ASYMMETRIC, LAT_FULL};
    const int columns = r->columns ? r->columns : (int)lat_header_objects(&r->s.b->head);
    const lat_field *links = links_of(r);
    lat_device *on = device_for(r, links);
    if (!on)
        return -1;
    lat_wilson_options o = {
        .columns = solved_beside(r, on, columns),
        .form = forms[even_odd],
        .inner = inner_precision(on),
        .dirac = {.reals = (int)reals, .in_turn = halo},
    };
    lat_device_threads(on, links, o.columns);
    if (r->s.overlap.fast && is_overlap(r)) { /* of another mass */
        lat_overlap_pair_mass(&r->s.overlap, r->fermion.mass);
        return 0;
    }
    close_operator(r);
    r->wide = columns;
    if (is_overlap(r))
        return open_overlap(r, on, o.columns);
    return open_wilson(r, on, &o);
}

/* What is written, and of which operator. */
static int describe_overlap(const run *r, lat_header *head)
{
    return lat_info_set(head, LAT_INFO_PROPAGATOR, lat_propagator_text(r->form))
                   || lat_overlap_describe(head, r->s.overlap.fast, &r->known)
               ? -1
               : 0;
}

/* What the header says of a solution, and a line of history. */
static int describe(run *r, int columns, const int *column)
{
    lat_header *head = &r->s.x->head;
    double worst = 0;
    lat_header_of_links(head, &r->links.u.head, &r->fermion);
    for (int i = 0; i < columns; i++)
        worst = fmax(worst, r->s.true_residual[column[i]]);
    return (columns == head->quark.columns
            && lat_quark_set_residuals(&head->quark, r->s.true_residual))
           || (smear_text && lat_info_set(head, LAT_SMEARED_LINKS, smear_text))
           || (is_overlap(r) && describe_overlap(r, head))
           || lat_provenance(head, "residual %.2e by %s%s%s%s%s", worst,
                             lat_solver_name(r->s.report[column[0]].solver),
                             *r->deflation ? ", deflated by " : "", r->deflation,
                             *r->known.text ? ", sign function with " : "", r->known.text);
}

static void log_columns(const run *r, int columns, const int *column)
{
    for (int i = 0; r->log && i < columns; i++) {
        const int c = column[i];
        const lat_solve_report *p = &r->s.report[c];
        const lat_wilson_cost *t = &r->s.cost[c];
        fprintf(r->log, "%ld\t%ld\t%.10g\t%.10g\t%d\t%ld\t%ld\t%.4e\t%s\t%.4f\t%.3f\t%.3f\n",
                config_of(r), r->s.field, r->fermion.mass, r->fermion.twist, c, p->iterations,
                p->updates, r->s.true_residual[c], lat_solver_name(p->solver), t->seconds,
                t->seconds > 0 ? t->flops / t->seconds * 1e-9 : 0,
                t->seconds > 0 ? t->bytes / t->seconds * 1e-9 : 0);
        fflush(r->log);
    }
}

static int write_field(run *r, lat_field *f)
{
    r->agreed = lat_stream_write(r->out, f, lat_opts.store) != 0;
    return r->agreed ? -1 : 0;
}

/* One column of x as a field of its own. */
static int write_column(run *r, int c)
{
    lat_field one = {.comm = r->s.x->comm};
    const size_t columns = lat_header_objects(&r->s.x->head),
                 bytes = lat_header_full_reals(&r->s.x->head) * sizeof(double);
    const lat_quark *q = &r->s.x->head.quark;
    char *text = NULL;
    int rc = lat_header_copy(&one.head, &r->s.x->head);
    if (rc)
        return rc;
    lat_header_make_spinors(&one.head, LAT_SPINOR, 1);
    one.head.quark.fermion = q->fermion;
    memcpy(one.head.quark.links, q->links, sizeof q->links);
    if (asprintf(&text, "%s%scolumn %d", q->source ? q->source : "", q->source ? ", " : "", c) < 0)
        rc = lat_fail("out of memory: the text of a source");
    rc = rc || lat_quark_set_source(&one.head.quark, text)
         || lat_quark_set_residuals(&one.head.quark, &r->s.true_residual[c])
         || lat_field_alloc(&one, r->s.x->comm);
    for (size_t i = 0; rc == 0 && i < lat_field_sites(r->s.x); i++)
        memcpy((char *)one.data + i * bytes,
               (char *)r->s.x->data + (i * columns + (size_t)c) * bytes, bytes);
    rc = rc || write_field(r, &one);
    free(text);
    lat_field_free(&one);
    return rc;
}

static int write_solution(run *r, int columns, const int *column)
{
    if (!r->columns)
        return write_field(r, r->s.x);
    for (int i = 0; i < columns; i++)
        if (write_column(r, column[i]))
            return -1;
    return 0;
}

static int listed(const run *r, int *list)
{
    const int columns = r->columns ? r->columns : (int)lat_header_objects(&r->s.x->head);
    for (int i = 0; i < columns; i++)
        list[i] = r->columns ? r->column[i] : i;
    return columns;
}

/* For the checkpoint. */
static void name_solution(run *r)
{
    const char *links = r->links.u.head.read_crc, *source = r->s.b->head.read_crc;
    snprintf(r->s.name, sizeof r->s.name,
             "config %ld field %ld mass %a twist %a links %s source %s%s%s%s%s", config_of(r),
             r->s.field, r->fermion.mass, r->fermion.twist, *links ? links : "-",
             *source ? source : "-", *r->deflation ? " deflated by " : "", r->deflation,
             *r->known.text ? " with " : "", r->known.text);
}

/* Does a solve write all of x, before anybody reads it? */
static bool whole_x_is_written(const run *r) { return !r->columns && !r->twists && !is_overlap(r); }

/* One mass, or twist. */
static int solve_one(run *r, lat_solution_start from)
{
    const size_t all = lat_header_objects(&r->s.x->head);
    int list[LAT_MAX_COLUMNS];
    const int columns = listed(r, list);
    if (columns > r->wide && !r->modes) /* which come once */
        close_operator(r);
    if (from != LAT_SOLVED) {
        memset(r->s.report, 0, all * sizeof *r->s.report);
        memset(r->s.cost, 0, all * sizeof *r->s.cost);
    }
    if ((r->masses > 1 || r->twists || !(r->s.wilson || r->s.overlap.fast)) && open_operator(r))
        return LAT_FAILED;
    if (!r->columns)
        lat_stream_preallocate(r->out, &r->s.x->head, lat_opts.store);
    name_solution(r);
    lat_pages of_x = {.running = false}; /* of the solution, while a GPU is at work */
    if (r->device->gpu && whole_x_is_written(r) && from == LAT_FROM_ZERO)
        lat_pages_begin(&of_x, r->s.x->data,
                        lat_field_held(r->s.x) * lat_header_full_reals(&r->s.x->head)
                            * sizeof(double));
    const int code = lat_solution_solve(&r->s, columns, list, from);
    lat_pages_end(&of_x);
    if (code != LAT_DONE)
        return code;
    log_columns(r, columns, list);
    lat_header head; /* of the next mass */
    if (lat_header_copy(&head, &r->s.x->head))
        return LAT_FAILED;
    if (is_overlap(r))
        lat_propagator_make(r->form, false, &r->fermion, r->s.b, columns, list, r->s.x);
    const bool bad = describe(r, columns, list) || write_solution(r, columns, list);
    if (is_overlap(r)) /* where the next mass begins */
        lat_propagator_make(r->form, true, &r->fermion, r->s.b, columns, list, r->s.x);
    lat_header_free(&r->s.x->head);
    r->s.x->head = head;
    return bad ? LAT_FAILED : LAT_DONE;
}

/* ---- several twisted masses ------------------------------------------------------------------ */

/* What is good of these columns goes into the checkpoint, unless a limit has cut it short. */
static int save_twist(run *r, lat_field *x, int columns, const int *column)
{
    double now[LAT_SPINOR_COLUMNS];
    lat_plain *m = lat_plain_new(links_of(r), &r->fermion);
    int rc = !m || lat_field_exchange(x) || lat_plain_residual(m, x, r->s.b, columns, column, now);
    lat_plain_free(m);
    for (int i = 0; i < columns && rc == 0; i++) {
        if (r->s.report[column[i]].end == LAT_END_CONVERGED && now[i] <= how.residual)
            rc = lat_solution_save(&r->s, x, column[i]);
    }
    return rc;
}

static int save_family(run *r, int columns, const int *column)
{
    int rc = 0;
    for (int j = 0; j < r->twists && rc == 0; j++) {
        r->fermion.twist = r->twist[j];
        name_solution(r);
        rc = save_twist(r, &r->of_twist[j], columns, column);
    }
    return rc;
}

/* The columns of a batch for all twists, in one Krylov space. */
static int solve_family(run *r, lat_wilson *w, int columns, const int *column, lat_field *const *x)
{
    double target[LAT_SPINOR_COLUMNS];
    lat_solve_report report[LAT_SPINOR_COLUMNS] = {{0}};
    lat_wilson_cost cost[LAT_SPINOR_COLUMNS] = {{0}};
    const lat_wilson_job job = {.b = r->s.b,
                                .columns = columns,
                                .object = column,
                                .target = target,
                                .max_iterations = how.max_iterations,
                                .progress = lat_solution_progress,
                                .with = &r->s};
    for (int i = 0; i < columns; i++)
        target[i] = .9 * how.residual; /* rounding of the true one */
    r->s.rate = (lat_rate){0};
    if (lat_wilson_twists(w, &job, r->twists, r->twist, x, report, cost))
        return -1;
    for (int i = 0; i < columns; i++) {
        const lat_wilson_cost *c = &cost[i];
        const double n = r->twists; /* share it */
        r->s.report[column[i]] = report[i];
        r->s.cost[column[i]] = (lat_wilson_cost){c->seconds / n, c->flops / n, c->bytes / n};
    }
    r->s.left -= columns;
    return lat_columns_writes(r->s.kept) ? save_family(r, columns, column) : 0;
}

/* Has the checkpoint all twists of a column? Then x has them. */
static int restore_family(run *r, int column)
{
    int rc = 1;
    for (int j = 0; j < r->twists && rc > 0; j++) {
        r->fermion.twist = r->twist[j];
        name_solution(r);
        rc = lat_solution_saved(&r->s, &r->of_twist[j], column);
    }
    return rc;
}

static int solve_families(run *r, lat_wilson *w)
{
    int list[LAT_MAX_COLUMNS], wanted[LAT_SPINOR_COLUMNS];
    lat_field *x[MOST_MASSES];
    const int columns = listed(r, list);
    r->s.left = columns;
    for (int j = 0; j < r->twists; j++)
        x[j] = &r->of_twist[j];
    for (int i = 0; i < columns;) {
        int n = 0;
        for (; i < columns && n < how.batch; i++) {
            const int there = restore_family(r, list[i]);
            if (there < 0)
                return -1;
            if (there == 0)
                wanted[n++] = list[i];
        }
        if (n && solve_family(r, w, n, wanted, x))
            return -1;
    }
    return 0;
}

/* All columns of all twists; r->of_twist gets them. */
static int make_families(run *r)
{
    int list[LAT_MAX_COLUMNS];
    const int columns = listed(r, list);
    lat_device *on = device_for(r, links_of(r));
    lat_fermion fermion = r->fermion;
    lat_wilson_options o = {.columns = side_by_side(columns, BATCH),
                            .form = LAT_FULL,
                            .inner = LAT_STORAGE_DOUBLE,
                            .dirac = {.reals = (int)reals, .in_turn = halo}};
    fermion.twist = 0;
    if (on)
        lat_device_threads(on, links_of(r), o.columns);
    close_operator(r);
    lat_wilson *w = on && choose_batch(r, on, 0, &o) == 0
                        ? lat_wilson_open(on, links_of(r), &fermion, &o)
                        : NULL;
    const int rc = w ? solve_families(r, w) : -1;
    lat_wilson_close(w);
    return rc;
}

/* The twists of --twists for the source b. An exit code. */
static int solve_twists(run *r)
{
    const size_t all = lat_header_objects(&r->s.x->head);
    lat_field *one = r->s.x;
    int code = LAT_DONE, made = 0;
    r->fermion.mass = r->mass[0];
    r->of_twist = lat_alloc((size_t)r->twists, sizeof *r->of_twist, "solutions");
    for (; r->of_twist && made < r->twists; made++) {
        r->of_twist[made] = (lat_field){.comm = one->comm};
        if (lat_field_duplicate(one, &r->of_twist[made]))
            break;
    }
    lat_solve_report *report = lat_alloc(all, sizeof *report, "reports");
    lat_wilson_cost *cost = lat_alloc(all, sizeof *cost, "reports");
    memset(r->s.report, 0, all * sizeof *r->s.report);
    memset(r->s.cost, 0, all * sizeof *r->s.cost);
    if (made < r->twists || !report || !cost || make_families(r))
        code = LAT_FAILED;
    for (int j = 0; j < r->twists && code == LAT_DONE; j++) {
        if (j == 0) {
            memcpy(report, r->s.report, all * sizeof *report);
            memcpy(cost, r->s.cost, all * sizeof *cost);
        }
        memcpy(r->s.report, report, all * sizeof *report);
        memcpy(r->s.cost, cost, all * sizeof *cost);
        r->s.x = &r->of_twist[j];
        r->fermion.twist = r->twist[j];
        code = solve_one(r, LAT_SOLVED);
    }
    r->s.x = one;
    for (int j = 0; j < made; j++)
        lat_field_free(&r->of_twist[j]);
    free(r->of_twist);
    free(report);
    free(cost);
    return code;
}

/* ---- a source -------------------------------------------------------------------------------- */

/* The source b, which is overwritten; for all masses. An exit code. */
static int solve_source(run *r, lat_field *b)
{
    lat_field x = {.comm = b->comm};
    int code = LAT_FAILED;
    if (lat_header_copy(&x.head, &b->head))
        return code;
    x.head.real = LAT_F64;
    r->s.b = b;
    r->s.x = &x;
    const size_t all = lat_header_objects(&x.head);
    bool good = lat_field_alloc(&x, b->comm) == 0 && lat_solution_reserve(&r->s) == 0;
    for (int i = 0; good && i < r->columns; i++)
        if ((size_t)r->column[i] >= all) {
            lat_fail("--columns: expected columns below %zu, found %d", all, r->column[i]);
            good = false;
        }
    if (good) {
        int list[LAT_MAX_COLUMNS];
        const int columns = listed(r, list);
        good = !lat_plain_check_open(&r->fermion, b, columns, list,
                                     source_text ? "--source" : lat_input_name(r->in));
    }
    if (good && !whole_x_is_written(r))
        lat_zero(x.data, lat_field_held(&x) * lat_header_full_reals(&x.head) * sizeof(double));
    for (int m = 0; good && !r->twists && m < r->masses; m++) {
        r->fermion.mass = r->mass[m];
        code = solve_one(r, m > 0 ? LAT_FROM_X : LAT_FROM_ZERO);
        good = code == LAT_DONE;
    }
    if (good && r->twists)
        code = solve_twists(r);
    lat_solution_unreserve(&r->s);
    lat_field_free(&x);
    r->s.field++;
    return code;
}

/* ---- sources of its own ---------------------------------------------------------------------- */

static int on_links(run *r)
{
    if (!r->source
        && (!(r->source = lat_source_new(source_text, &r->links.u.head))
            || lat_source_check_steps(r->source)))
        return LAT_FAILED;
    if (lat_source_begin(r->source, &r->links.u, config_of(r)))
        return LAT_FAILED;
    int code = LAT_DONE;
    for (int f = 0; f < lat_source_fields(r->source) && code == LAT_DONE; f++) {
        lat_field b;
        code = lat_source_field(r->source, f, &b) ? LAT_FAILED : solve_source(r, &b);
        lat_field_free(&b);
    }
    return code;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* New links: are they in the gauge, and what are they for M? */
static int open_links(run *r)
{
    if (r->opened == r->links.number)
        return 0;
    close_operator(r);
    lat_field_free(&r->smeared);
    r->opened = r->links.number;
    if (!r->device && !(r->device = lat_device_open(&device, lat_opts.comm)))
        return -1;
    return lat_fermion_check_gauge(&r->links.u.head, lat_input_name(r->links.in))
                   || lat_fermion_check_xi(&r->links.u.head, lat_input_name(r->links.in))
                   || (smear_text && lat_smear_links(&r->links.u, &r->smear, &r->smeared))
               ? -1
               : 0;
}

static int next_links(run *r) { return lat_solution_asked(&r->s) ? -1 : lat_links_next(&r->links); }

/* Links and own sources, to the end of the input. */
static int from_links(run *r)
{
    int rc, code = LAT_DONE;
    while (code == LAT_DONE && (rc = next_links(r)) != 0)
        code = rc < 0 || open_links(r) ? LAT_FAILED : on_links(r);
    return code;
}

/* A source of another program has the numbers that its file has. */
static int read_source(run *r, lat_field *b)
{
    const lat_quark_hints h = {.kappa = NAN, .norm = LAT_NORM_MASS, .force = lat_opts.force};
    *b = (lat_field){.data = NULL};
    if (lat_solution_asked(&r->s))
        return -1;
    lat_stop_hold(lat_opts.comm->size > 1);
    const int rc = lat_fields_read_as(r->in, b, &h);
    lat_stop_hold(false);
    if (rc <= 0)
        return rc;
    if (!lat_header_spinors(&b->head))
        return lat_fail("%s: expected sources, found %s (--source makes them on links)",
                        lat_input_name(r->in), lat_kind_text(b->head.kind));
    if (lat_fermion_known(&b->head.quark.fermion))
        return lat_fail("%s: field %ld: expected a source, found a solution", lat_input_name(r->in),
                        r->s.field);
    return 1;
}

static int from_sources(run *r)
{
    lat_field b;
    int rc, code = LAT_DONE;
    while (code == LAT_DONE && (rc = read_source(r, &b)) != 0) {
        const bool good = rc > 0
                          && !lat_links_find(&r->links, &b.head, false, lat_input_name(r->in),
                                             r->s.field)
                          && !open_links(r);
        code = good ? solve_source(r, &b) : LAT_FAILED;
        lat_field_free(&b);
    }
    return code;
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
    r->mass[0] = r->fermion.mass;
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
    if (lat_opt_given("twist") || masses_text || kappas_text)
        lat_usage("--twists is in place of --twist, and excludes --masses and --kappas");
    if (how.solver != LAT_SOLVER_AUTO && how.solver != LAT_SOLVER_CG)
        lat_usage("--twists: expected --solver cg or auto, as it is multi-shift CG");
    r->twists = parse_list("--twists", twists_text, r->twist);
}

static void parse_columns(run *r)
{
    static int list[LAT_MAX_COLUMNS];
    const char *text = columns_text;
    r->column = list;
    for (; text && *text; r->columns++) {
        char *end;
        const long v = strtol(text, &end, 10);
        const int last = r->columns ? list[r->columns - 1] : -1;
        if (end == text || (*end && *end != ',') || v <= last || v >= LAT_MAX_COLUMNS)
            lat_usage(
                "--columns: expected numbers from 0 on, ascending, with commas between, found "
                "'%.80s'",
                text);
        list[r->columns] = (int)v;
        text = *end ? end + 1 : end;
    }
    if (columns_text && r->columns == 0)
        lat_usage("--columns: expected numbers, found none");
}

/* Modes are of one operator, and conjugate gradients keep out of their space. */
static void check_deflation(const run *r)
{
    if (!deflate_path || is_overlap(r)) /* whose modes are those of all masses */
        return;
    if (masses_text || kappas_text || twists_text)
        lat_usage("--deflate excludes --masses, --kappas and --twists: modes are of one operator");
    if (how.solver != LAT_SOLVER_AUTO && how.solver != LAT_SOLVER_CG)
        lat_usage("--deflate: expected --solver cg or auto, as others do not keep out of the space "
                  "of the modes");
    if (lat_opt_given("even-odd") && even_odd == SYMMETRIC)
        lat_usage("--deflate: expected --even-odd asym, or none, found sym");
    how.solver = LAT_SOLVER_CG;
}

/* Options that an overlap operator has no use for, and its masses. */
static void check_overlap(run *r)
{
    static const char *const wilson[] = {"kappas", "solver", "precision", "even-odd",
                                         "reals",  "delta",  "twists",    "halo"};
    for (size_t i = 0; is_overlap(r) && i < sizeof wilson / sizeof *wilson; i++)
        if (lat_opt_given(wilson[i]))
            lat_usage("--%s is for --operator wilson", wilson[i]);
    r->form = lat_propagator_of_options(masses_text);
    for (int m = 0; masses_text && m < r->masses; m++)
        r->mass[m] = lat_mass_of_options(&r->fermion, r->mass[m]);
}

static void check_usage(run *r)
{
    lat_operator_of_options(&r->fermion, masses_text || kappas_text);
    if (smear_text && lat_smear_parse(smear_text, &r->smear))
        lat_usage("--smear-links: %s", lat_error());
    parse_masses(r);
    parse_twists(r);
    check_overlap(r);
    check_deflation(r);
    parse_columns(r);
    if (!source_text && !gauge_file)
        lat_usage("--source is needed, for example --source point:0,0,0,0; or --gauge-file, and "
                  "sources on stdin");
    if (source_text && gauge_file)
        lat_usage("--source makes sources on the links of the input; --gauge-file is for sources "
                  "that come with the input");
    if (log_path)
        lat_usage_if_input("log", log_path);
}

static int open_all(run *r)
{
    const lat_comm *comm = lat_opts.comm;
    if (lat_device_begin(&device, comm) /* a GPU starts while the links are read */
        || !(r->s.kept = lat_columns_open(checkpoint, resume, comm))
        || !(r->in = lat_input_open(lat_opts.input, comm))
        || !(r->links.in = gauge_file ? lat_input_open(gauge_file, comm) : r->in)
        || (deflate_path && !(r->modes = lat_input_open(deflate_path, comm)))
        || lat_overlap_known_open(&r->known, comm)
        || !(r->out = lat_output_open(lat_opts.output, lat_output_flags() | LAT_OUTPUT_OTHER, comm))
        || (log_path
            && !(r->log = lat_log_open(
                     log_path,
                     "config\tfield\tmass\ttwist\tcolumn\titerations\tupdates\tresidual\t"
                     "solver\tseconds\tgflops\tgbytes",
                     comm))))
        return -1;
    lat_columns_watch(r->s.kept);
    return 0;
}

/* A run that failed: columns that are done go into the checkpoint, and the sentence says so. */
static void keep_done(run *r)
{
    char *why = strdup(lat_error());
    const char *file = lat_columns_keep(r->s.kept);
    if (file && why && strcmp(why, LAT_ANOTHER_FAILED))
        lat_fail("%s; the same command with --resume %s goes on", why, file);
    else
        lat_fail("%s", why ? why : "out of memory: a sentence");
    free(why);
}

/* What is done stays in the checkpoint, if the run has not come to its end. The output goes first,
 * since the disk may be full. */
static void give_up(run *r, int code)
{
    lat_solution *s = &r->s;
    lat_output_abort(r->out);
    r->out = NULL;
    if (!s->kept)
        return;
    if (code == LAT_FAILED && !s->stopped && lat_opts.comm->size == 1)
        s->stopped = lat_columns_asked(s->kept); /* while it waited for a pipe */
    if (s->stopped > 0) {
        lat_error_clear(); /* it was only to get here */
        lat_columns_stopped(s->kept, s->stopped);
    } else if (code == LAT_FAILED && *s->name && (lat_opts.comm->size == 1 || r->agreed))
        keep_done(r);
}

int main(int argc, char **argv)
{
    run r = {.s = {.how = &how}};
    r.s.fermion = &r.fermion;
    lat_options_parse(&tool, argc, argv);
    check_usage(&r);
    int code = open_all(&r) ? LAT_FAILED : gauge_file ? from_sources(&r) : from_links(&r);
    lat_progress_end();
    if (code != LAT_DONE)
        give_up(&r, code);
    close_operator(&r);
    lat_source_free(r.source);
    lat_field_free(&r.smeared);
    if (r.cpu)
        lat_device_close(r.cpu);
    if (r.device)
        lat_device_close(r.device);
    if (r.in != r.links.in)
        lat_input_close(r.in);
    lat_input_close(r.modes);
    lat_overlap_known_close(&r.known);
    lat_links_free(&r.links);
    if (lat_log_close(r.log, log_path) && code == LAT_DONE)
        code = LAT_FAILED;
    if (code != LAT_DONE)
        lat_output_abort(r.out); /* of a log */
    else if (lat_stream_commit(r.out)) {
        r.out = NULL;
        r.agreed = true;
        give_up(&r, code = LAT_FAILED);
    }
    if (code == LAT_DONE)
        lat_columns_remove(r.s.kept);
    lat_columns_free(r.s.kept);
    lat_device_end();
    if (r.s.stopped > 0)
        lat_stop_exit(lat_opts.comm, r.s.stopped);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
