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
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "formats/fields.h"
#include "lattice/boundary.h"
#include "smear/smear.h"
#include "quark/source.h"
#include "run/inverter.h"
#include "run/resume.h"
#include "run/smearer.h"
#include "run/tool.h"
#include "run/twists.h"
#include "stream/stream.h"

enum { MOST_MASSES = LAT_WILSON_TWISTS };

static const char *source_text, *gauge_file, *log_path, *checkpoint, *resume, *columns_text,
    *masses_text, *kappas_text, *twists_text, *deflate_path;
static lat_inverter_options solving = {
    .how = {.residual = 1e-10, .max_iterations = 20000, .batch = LAT_INVERTER_BATCH},
    .precision = LAT_INNER_AUTO};

static const lat_option options[] = {
    LAT_HEADING("Operator"),
    LAT_FERMION_OPTIONS,
    {LAT_OPT_TEXT, "masses", 0, "M,M,..", &masses_text, 0, 0,
     "several masses instead of --mass: a solution for each, in this order", false},
    {LAT_OPT_TEXT, "kappas", 0, "K,K,..", &kappas_text, 0, 0,
     "several kappas instead of --kappa: a solution for each, in this order", false},
    {LAT_OPT_TEXT, "twists", 0, "MU,MU,..", &twists_text, 0, 0,
     "several twisted masses instead of --twist: a solution for each, in this order, from one "
     "Krylov space (multi-shift CG)",
     false},
    {LAT_OPT_TEXT, "smear-links", 0, "SMEARING", &solving.smearing, 0, 0,
     "smear the links of the operator: ape:A,N, stout:R,N or hyp:A,B,C,N, optionally followed by "
     ",spatial; sources use the links as they were read",
     false},
    LAT_HEADING("Overlap operator"),
    LAT_OVERLAP_OPTIONS,
    {LAT_OPT_FLAG, "contact", 0, NULL, &lat_overlap_opts.keep_contact, 0, 0,
     "write D^-1 itself, with its contact term, instead of (D^-1 - 1)/(1 - MU)", false},
    LAT_HEADING("Source"),
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &gauge_file, 0, 0,
     "read links from FILE; the input has the sources", true},
    {LAT_OPT_TEXT, "source", 0, "SOURCE", &source_text, 0, 0,
     "make this source on each configuration: point:x,y,z,t, wall:t, momentum:nx,ny,nz,nt, "
     "noise:z4,t=.., with steps such as /gauss:w,n after it (man lat-source)",
     false},
    {LAT_OPT_TEXT, "columns", 0, "C,C,..", &columns_text, 0, 0,
     "solve only these columns, and write them as spinors", false},
    LAT_HEADING("Solver"),
    {LAT_OPT_CHOICE, "precision", 'p', "single|double|half", &solving.precision, 0, 0,
     "precision of the iterations; half needs a GPU (default: half on a GPU, else single; single "
     "with --solver bicgstabl or gcr, and with --operator overlap)",
     false},
    {LAT_OPT_REAL, "residual", 0, "R", &solving.how.residual, 1e-16, 1,
     "solve until |b - M x|/|b| is below R in every column", false},
    {LAT_OPT_INT, "max-iterations", 0, "N", &solving.how.max_iterations, 1, 1e9,
     "give up a column after N iterations", LAT_OPT_LIMIT},
    {LAT_OPT_CHOICE, "solver", 0, LAT_SOLVERS, &solving.how.solver, 0, 0,
     "solver; auto: bicgstab, then bicgstabl, then cg for columns where it fails", false},
    {LAT_OPT_CHOICE, "even-odd", 0, "sym|asym|none", &solving.even_odd, 0, 0,
     "Schur complement that is solved; none: M itself", false},
    {LAT_OPT_TEXT, "deflate", 0, "FILE", &deflate_path, 0, 0,
     "modes of these links and this operator, from lat-modes (overlap: lat-overlap --save-modes): "
     "their part of a solution is computed directly, and CG finds the rest; modes of gamma5 S need "
     "--even-odd asym",
     true},
    {LAT_OPT_INT, "reals", 0, "R", &solving.reals, 0, 18,
     "reals stored for a link in the iterations: 18, 12 or 8 (SU(2): 8 or 4); 0: 12 (SU(2): 4) if "
     "the links are unitary",
     false},
    {LAT_OPT_REAL, "delta", 0, "D", &solving.how.delta, 0, 1,
     "make a reliable update when the residual has fallen by D (default: 0.02; CG in half 0.1); "
     "gcr, and double without --deflate, make none",
     false},
    LAT_HEADING("Device"),
    {LAT_OPT_INT, "batch", 0, "N", &solving.how.batch, 1, LAT_SPINOR_COLUMNS,
     "columns solved side by side: more columns are faster and need more memory (default: 16; on a "
     "GPU as many as fit)",
     true},
    {LAT_OPT_REAL, "memory", 0, "GB", &solving.memory, 0, 1e9,
     "memory of the device for solvers and operator, which sets --batch (default: the free memory "
     "of a GPU; no limit on the CPU)",
     true},
    LAT_DEVICE_OPTIONS(solving.device),
    LAT_TUNE_OPTION(solving.device),
    LAT_HEADING("Run"),
    {LAT_OPT_TEXT, "log", 'l', "FILE", &log_path, 0, 0, "write a line for each column to FILE",
     true},
    {LAT_OPT_TEXT, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "keep finished columns in FILE, which must be new, or the FILE of --resume", true},
    {LAT_OPT_TEXT, "resume", 0, "FILE", &resume, 0, 0,
     "continue from the checkpoint FILE, with the same input and options", true},
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
    lat_input *in; /* links or sources */
    lat_output *out;
    FILE *log;
    bool agreed; /* all ranks know that the output cannot be written */
    lat_source *source;
    lat_smearer smearer; /* of its steps */
    double mass[MOST_MASSES];
    int masses;
    lat_smear smear;
    bool more;   /* sources on these links */
    long opened; /* the number of the links that were prepared for M */
    int form;    /* of propagators of the overlap operator */
    lat_inverter v;
} run;

/* ---- a solution ------------------------------------------------------------------------------ */

/* What is written, and of which operator. */
static int describe_overlap(const run *r, lat_header *head)
{
    return lat_info_set(head, LAT_INFO_PROPAGATOR, lat_propagator_text(r->form))
                   || lat_overlap_describe(head, r->v.s.overlap.fast, &r->v.known)
               ? -1
               : 0;
}

/* What the header says of a solution, and a line of history. */
static int describe(run *r, int columns, const int *column)
{
    lat_header *head = &r->v.s.x->head;
    double worst = 0;
    lat_header_of_links(head, &r->v.links.u.head, &r->v.fermion);
    for (int i = 0; i < columns; i++)
        worst = fmax(worst, r->v.s.true_residual[column[i]]);
    return (columns == head->quark.columns
            && lat_quark_set_residuals(&head->quark, r->v.s.true_residual))
           || (solving.smearing && lat_info_set(head, LAT_SMEARED_LINKS, solving.smearing))
           || (lat_inverter_overlap(&r->v) && describe_overlap(r, head))
           || lat_provenance(head, "residual %.2e by %s%s%s%s%s", worst,
                             lat_solver_name(r->v.s.report[column[0]].solver),
                             *r->v.deflation ? ", deflated by " : "", r->v.deflation,
                             *r->v.known.text ? ", sign function with " : "", r->v.known.text);
}

static void log_columns(const run *r, int columns, const int *column)
{
    for (int i = 0; r->log && i < columns; i++) {
        const int c = column[i];
        const lat_solve_report *p = &r->v.s.report[c];
        const lat_wilson_cost *t = &r->v.s.cost[c];
        fprintf(r->log, "%ld\t%ld\t%.10g\t%.10g\t%d\t%ld\t%ld\t%.4e\t%s\t%.4f\t%.3f\t%.3f\n",
                lat_inverter_config(&r->v), r->v.s.field, r->v.fermion.mass, r->v.fermion.twist, c,
                p->iterations, p->updates, r->v.s.true_residual[c], lat_solver_name(p->solver),
                t->seconds, t->seconds > 0 ? t->flops / t->seconds * 1e-9 : 0,
                t->seconds > 0 ? t->bytes / t->seconds * 1e-9 : 0);
        fflush(r->log);
    }
}

/* Ranks agree about an output that cannot be written. */
static int written(run *r, int rc)
{
    r->agreed = rc != 0;
    return rc;
}

/* One column of x as a field of its own. */
static int write_column(run *r, int c)
{
    lat_field one = {.comm = r->v.s.x->comm};
    const size_t columns = lat_header_objects(&r->v.s.x->head),
                 bytes = lat_header_full_reals(&r->v.s.x->head) * sizeof(double);
    const lat_quark *q = &r->v.s.x->head.quark;
    char *text = NULL;
    int rc = lat_header_copy(&one.head, &r->v.s.x->head);
    if (rc)
        return rc;
    lat_header_make_spinors(&one.head, LAT_SPINOR, 1);
    one.head.quark.fermion = q->fermion;
    memcpy(one.head.quark.links, q->links, sizeof q->links);
    if (asprintf(&text, "%s%scolumn %d", q->source ? q->source : "", q->source ? ", " : "", c) < 0)
        rc = lat_fail("out of memory: the text of a source");
    rc = rc || lat_quark_set_source(&one.head.quark, text)
         || lat_quark_set_residuals(&one.head.quark, &r->v.s.true_residual[c])
         || lat_field_alloc(&one, r->v.s.x->comm);
    for (size_t i = 0; rc == 0 && i < lat_field_sites(r->v.s.x); i++)
        memcpy((char *)one.data + i * bytes,
               (char *)r->v.s.x->data + (i * columns + (size_t)c) * bytes, bytes);
    rc = rc || written(r, lat_stream_write(r->out, &one, lat_opts.store));
    free(text);
    lat_field_free(&one);
    return rc;
}

static int write_solution(run *r, int columns, const int *column)
{
    if (!r->v.columns)
        return written(r, lat_solution_write(&r->v.s, r->out, lat_opts.store,
                                             r->more || lat_links_ready(&r->v.links)));
    for (int i = 0; i < columns; i++)
        if (write_column(r, column[i]))
            return -1;
    return 0;
}

/* Does a solve write all of x, before anybody reads it? */
static bool whole_x_is_written(const run *r)
{
    return !r->v.columns && !r->v.twists && !lat_inverter_overlap(&r->v);
}

/* One mass, or twist. */
static int solve_one(run *r, lat_solution_start from)
{
    const size_t all = lat_header_objects(&r->v.s.x->head);
    int list[LAT_MAX_COLUMNS];
    const int columns = lat_inverter_columns(&r->v, list);
    if (columns > r->v.wide && !r->v.modes) /* which come once */
        lat_inverter_close(&r->v);
    if (from != LAT_SOLVED) {
        memset(r->v.s.report, 0, all * sizeof *r->v.s.report);
        memset(r->v.s.cost, 0, all * sizeof *r->v.s.cost);
    }
    if ((r->masses > 1 || r->v.twists || !(r->v.s.wilson || r->v.s.overlap.fast))
        && lat_inverter_open(&r->v)) {
        if (!r->v.s.lost)
            lat_error_name(lat_input_name(r->v.links.in),
                           r->v.modes ? lat_input_name(r->v.modes) : lat_overlap_opts.modes);
        return LAT_FAILED;
    }
    if (!r->v.columns)
        lat_solution_expect(&r->v.s, r->out, lat_opts.store);
    lat_inverter_name(&r->v);
    const int code = lat_solution_solve(&r->v.s, columns, list, from);
    if (code == LAT_UNCONVERGED)
        lat_error_name(lat_input_name(r->in), NULL);
    if (code == LAT_DONE || code == LAT_UNCONVERGED)
        log_columns(r, columns, list);
    if (code != LAT_DONE)
        return code;
    lat_header head; /* of the next mass */
    if (lat_header_copy(&head, &r->v.s.x->head))
        return LAT_FAILED;
    if (lat_inverter_overlap(&r->v))
        lat_propagator_make(r->form, false, &r->v.fermion, r->v.s.b, columns, list, r->v.s.x);
    const bool bad = describe(r, columns, list) || write_solution(r, columns, list);
    if (lat_inverter_overlap(&r->v)) /* where the next mass begins */
        lat_propagator_make(r->form, true, &r->v.fermion, r->v.s.b, columns, list, r->v.s.x);
    lat_header_free(&r->v.s.x->head);
    r->v.s.x->head = head;
    return bad ? LAT_FAILED : LAT_DONE;
}

/* ---- several twisted masses ------------------------------------------------------------------ */

/* The twists of --twists for the source b. An exit code. */
static int solve_twists(run *r)
{
    const size_t all = lat_header_objects(&r->v.s.x->head);
    lat_field *one = r->v.s.x;
    int code = LAT_DONE, made = 0;
    r->v.fermion.mass = r->mass[0];
    r->v.of_twist = lat_alloc((size_t)r->v.twists, sizeof *r->v.of_twist, "solutions");
    for (; r->v.of_twist && made < r->v.twists; made++) {
        r->v.of_twist[made] = (lat_field){.comm = one->comm};
        if (lat_field_duplicate(one, &r->v.of_twist[made]))
            break;
    }
    lat_solve_report *report = lat_alloc(all, sizeof *report, "reports");
    lat_wilson_cost *cost = lat_alloc(all, sizeof *cost, "reports");
    memset(r->v.s.report, 0, all * sizeof *r->v.s.report);
    memset(r->v.s.cost, 0, all * sizeof *r->v.s.cost);
    if (made < r->v.twists || !report || !cost || lat_twists_solve(&r->v))
        code = LAT_FAILED;
    for (int j = 0; j < r->v.twists && code == LAT_DONE; j++) {
        if (j == 0) {
            memcpy(report, r->v.s.report, all * sizeof *report);
            memcpy(cost, r->v.s.cost, all * sizeof *cost);
        }
        memcpy(r->v.s.report, report, all * sizeof *report);
        memcpy(r->v.s.cost, cost, all * sizeof *cost);
        r->v.s.x = &r->v.of_twist[j];
        r->v.fermion.twist = r->v.twist[j];
        code = solve_one(r, LAT_SOLVED);
    }
    r->v.s.x = one;
    for (int j = 0; j < made; j++)
        lat_field_free(&r->v.of_twist[j]);
    free(r->v.of_twist);
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
    r->v.s.b = b;
    r->v.s.x = &x;
    const size_t all = lat_header_objects(&x.head);
    bool good = lat_field_alloc(&x, b->comm) == 0 && lat_solution_reserve(&r->v.s) == 0;
    for (int i = 0; good && i < r->v.columns; i++)
        if ((size_t)r->v.column[i] >= all) {
            lat_fail("--columns: expected columns below %zu, found %d", all, r->v.column[i]);
            good = false;
        }
    if (good) {
        int list[LAT_MAX_COLUMNS];
        const int columns = lat_inverter_columns(&r->v, list);
        good = !lat_boundary_check_quarks(&r->v.fermion, b, columns, list,
                                          source_text ? "--source" : lat_input_name(r->in));
    }
    if (good && !whole_x_is_written(r))
        lat_zero(x.data, lat_field_held(&x) * lat_header_full_reals(&x.head) * sizeof(double));
    for (int m = 0; good && !r->v.twists && m < r->masses; m++) {
        r->v.fermion.mass = r->mass[m];
        code = solve_one(r, m > 0 ? LAT_FROM_X : LAT_FROM_ZERO);
        good = code == LAT_DONE;
    }
    if (good && r->v.twists)
        code = solve_twists(r);
    lat_solution_unreserve(&r->v.s);
    lat_field_free(&x);
    r->v.s.field++;
    return code;
}

/* ---- sources of its own ---------------------------------------------------------------------- */

static int on_links(run *r)
{
    if (!r->source
        && (!(r->source = lat_source_new(source_text, &r->v.links.u.head))
            || lat_source_check_steps(r->source)
            || lat_smearer_serve(&r->smearer, r->source, r->v.links.u.head.nc, r->v.device)))
        return LAT_FAILED;
    if (lat_source_begin(r->source, &r->v.links.u, lat_inverter_config(&r->v))) {
        lat_error_name(lat_input_name(r->in), NULL);
        return LAT_FAILED;
    }
    int code = LAT_DONE;
    for (int f = 0; f < lat_source_fields(r->source) && code == LAT_DONE; f++) {
        lat_field b;
        r->more = f + 1 < lat_source_fields(r->source);
        code = lat_source_field(r->source, f, &b) ? LAT_FAILED : solve_source(r, &b);
        lat_field_free(&b);
    }
    return code;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* New links: are they in the gauge, and what are they for M? */
static int open_links(run *r)
{
    if (r->opened == r->v.links.number)
        return 0;
    lat_inverter_close(&r->v);
    lat_field_free(&r->v.smeared);
    r->opened = r->v.links.number;
    if (!r->v.device && !(r->v.device = lat_device_open(&solving.device, lat_opts.comm)))
        return -1;
    return lat_fermion_check_gauge(&r->v.links.u.head, lat_input_name(r->v.links.in))
                   || lat_fermion_check_links(&r->v.fermion, &r->v.links.u.head,
                                              lat_input_name(r->v.links.in))
                   || (solving.smearing && lat_smear_links(&r->v.links.u, &r->smear, &r->v.smeared))
               ? -1
               : 0;
}

static int next_links(run *r)
{
    return lat_solution_asked(&r->v.s) ? -1 : lat_links_next(&r->v.links);
}

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
    if (lat_solution_asked(&r->v.s))
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
                        r->v.s.field);
    return 1;
}

static int from_sources(run *r)
{
    lat_field b;
    int rc, code = LAT_DONE;
    while (code == LAT_DONE && (rc = read_source(r, &b)) != 0) {
        const bool good = rc > 0
                          && !lat_links_find(&r->v.links, &b.head, false, lat_input_name(r->in),
                                             r->v.s.field)
                          && !open_links(r);
        code = good ? solve_source(r, &b) : LAT_FAILED;
        lat_field_free(&b);
    }
    return code;
}

/* A GPU leaves the processors of its host to the next links. */
static void read_ahead(void *with)
{
    run *r = with;
    if (r->v.device->gpu)
        lat_links_ahead(&r->v.links);
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
    if (lat_opt_given("twist") || masses_text || kappas_text)
        lat_usage("--twists is in place of --twist, and excludes --masses and --kappas");
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

/* Options that an overlap operator has no use for, and its masses. */
static void check_overlap(run *r)
{
    static const char *const wilson[] = {"kappas", "solver", "even-odd", "reals",
                                         "delta",  "twists", "memory"};
    for (size_t i = 0; lat_inverter_overlap(&r->v) && i < sizeof wilson / sizeof *wilson; i++)
        if (lat_opt_given(wilson[i]))
            lat_usage("--%s is for --operator wilson", wilson[i]);
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
    if (solving.smearing && lat_smear_parse(solving.smearing, &r->smear))
        lat_usage("--smear-links: %s", lat_error());
    parse_masses(r);
    parse_twists(r);
    check_overlap(r);
    check_list(r, masses_text ? "--masses" : "--kappas", &r->v.fermion.mass, r->mass, r->masses);
    check_list(r, "--twists", &r->v.fermion.twist, r->v.twist, r->v.twists);
    check_deflation(r);
    parse_columns(r);
    r->v.whole = r->masses == 1 && whole_x_is_written(r);
    if (!source_text && !gauge_file)
        lat_usage("--source is needed, for example --source point:0,0,0,0; or --gauge-file, and "
                  "sources on stdin");
    if (source_text && gauge_file)
        lat_usage("--source makes sources on the links of the input; --gauge-file is for sources "
                  "that come with the input");
    lat_usage_if_stdin_twice(
        (const char *const[]){gauge_file, deflate_path, lat_overlap_opts.modes}, 3);
    lat_usage_if_input("log", log_path);
}

static int open_all(run *r)
{
    const lat_comm *comm = lat_opts.comm;
    lat_checkpoint_usage(checkpoint, resume);   /* ends the process: before there are threads */
    if (lat_device_begin(&solving.device, comm) /* a GPU starts while the links are read */
        || !(r->in = lat_input_open(lat_opts.input, comm))
        || !(r->v.links.in = gauge_file ? lat_input_open(gauge_file, comm) : r->in)
        || (deflate_path && !(r->v.modes = lat_input_open(deflate_path, comm)))
        || lat_overlap_known_open(&r->v.known, comm)
        || !(r->out = lat_output_open(lat_opts.output, lat_output_flags() | LAT_OUTPUT_OTHER, comm))
        || (log_path
            && !(r->log = lat_log_open(
                     log_path,
                     "config\tfield\tmass\ttwist\tcolumn\titerations\tupdates\tresidual\t"
                     "solver\tseconds\tgflops\tgbytes",
                     comm)))
        || !(r->v.s.kept = lat_columns_open(checkpoint, resume, comm))) /* none of the others */
        return -1;
    lat_columns_watch(r->v.s.kept);
    return 0;
}

/* A run that failed: columns that are done go into the checkpoint, and the sentence says so. */
static void keep_done(run *r)
{
    char *why = strdup(lat_error());
    const char *file = lat_columns_keep(r->v.s.kept);
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
    lat_solution *s = &r->v.s;
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
    run r = {.v = {.o = &solving, .s = {.how = &solving.how}}};
    r.v.s.fermion = &r.v.fermion;
    lat_options_parse(&tool, argc, argv);
    check_usage(&r);
    r.v.s.meanwhile = source_text ? read_ahead : NULL;
    r.v.s.with = &r;
    int code = open_all(&r) ? LAT_FAILED : gauge_file ? from_sources(&r) : from_links(&r);
    if (lat_solution_written(&r.v.s) && code == LAT_DONE)
        code = LAT_FAILED;
    lat_progress_end();
    if (code != LAT_DONE)
        give_up(&r, code);
    lat_inverter_end(&r.v);
    lat_source_free(r.source);
    lat_smearer_end(&r.smearer);
    lat_field_free(&r.v.smeared);
    lat_device_close(r.v.cpu);
    lat_device_close(r.v.device);
    if (r.in != r.v.links.in)
        lat_input_close(r.in);
    lat_input_close(r.v.modes);
    lat_overlap_known_close(&r.v.known);
    lat_links_free(&r.v.links);
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
        lat_columns_remove(r.v.s.kept);
    lat_columns_free(r.v.s.kept);
    lat_device_end();
    if (r.v.s.stopped > 0)
        lat_stop_exit(lat_opts.comm, r.v.s.stopped);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
