/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-overlap: the index of the overlap operator by spectral flow and by zero modes, Ginsparg and
 * Wilson's relation, the lowest eigenvalues. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "overlap/algebra.h"
#include "overlap/index.h"
#include "overlap/spectrum.h"
#include "formats/fields.h"
#include "run/common/device_options.h"
#include "run/quark/fermion_options.h"
#include "run/quark/overlap.h"
#include "run/common/print.h"
#include "run/common/tool.h"
#include "smear/smear.h"
#include "stream/stream.h"

static bool index_of, gw;
static long spectrum, follow = 16;
static const char *boundary, *smear_text, *save_modes;
static lat_smear smear;
static lat_output *modes_out; /* of --save-modes */
static double csw, xi = 1, nu = 1, memory;
static lat_device_options device_choice;
static lat_device *device;

enum { MOST = 500 };

static const lat_option options[] = {
    LAT_HEADING("What to measure"),
    {LAT_OPT_FLAG, "index", 0, NULL, &index_of, 0, 0,
     "measure the index by spectral flow and by zero modes, which must agree (else exit 3)"},
    {LAT_OPT_INT, "follow", 0, "K", &follow, 1, MOST,
     "largest number of modes of H that --index follows"},
    {LAT_OPT_FLAG, "gw", 0, NULL, &gw, 0, 0,
     "measure how far sign(H)^2 is from 1, and how far the Ginsparg-Wilson relation is from 0"},
    {LAT_OPT_INT, "spectrum", 0, "K", &spectrum, 1, MOST,
     "measure the K lowest eigenvalues of D^+ D in each chirality, and of D"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "save-modes", 0, "FILE", &save_modes, 0, 0,
     "write the eigenvectors of D^+ D that --spectrum finds to FILE, for lat-solve --deflate"},
    LAT_HEADING("Sign function"),
    LAT_SIGN_OPTIONS,
    LAT_HEADING("Kernel"),
    {LAT_OPT_REAL, "csw", 0, "C", &csw, 0, 0, "clover coefficient of D_W"},
    {LAT_OPT_REAL, "xi", 0, "XI", &xi, 1e-3, 1e3,
     "bare anisotropy of D_W: spatial hops have weight NU/XI"},
    {LAT_OPT_REAL, "nu", 0, "NU", &nu, 1e-3, 1e3, "bare velocity of light of D_W"},
    {LAT_OPT_TEXT, "boundary", 0, "X,Y,Z,T", &boundary, 0, 0,
     "boundary of quarks: p periodic, a antiperiodic, or a phase in units of pi (default: "
     "p,p,p,a)"},
    LAT_SMEAR_LINKS_OPTION(smear_text, ""),
    LAT_HEADING("Output"),
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "tsv", 0, NULL, &lat_print_opts.tsv, 0, 0,
     "print columns with a header line, the default"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "output", 'o', "FILE", &lat_print_opts.output, 0, 0,
     "write to FILE (default: stdout)"},
    LAT_HEADING("Device"),
    LAT_SEARCH_MEMORY_OPTION(memory),
    LAT_DEVICE_OPTIONS(device_choice),
    LAT_TUNE_OPTION(device_choice),
    {0}};

static const lat_tool tool = {
    .name = "lat-overlap",
    .args = "[FILE...]",
    .summary = "Measures the index, the Ginsparg-Wilson relation and the lowest eigenvalues of the "
               "overlap operator.",
    .example = "lat-overlap --index cfg.lat\n"
               "lat-overlap --spectrum 10 cfg.lat\n"
               "lat-overlap --gw --smear-links hyp:0.75,0.6,0.3,1 cfg.lat",
    .options = options,
    .max_files = INT_MAX,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

static lat_fermion fermion;
static lat_overlap_known known;

/* Columns behind those of a row: of the links as they were read. */
static const lat_header *links_head;

static void print_links(FILE *to, lat_form form)
{
    lat_printer r = {.to = to, .form = form};
    lat_print_ensemble(&r, links_head);
}

static void print_heading(FILE *to, const char *columns)
{
    lat_progress_end();
    if (!lat_report_heading())
        return;
    fputs(columns, to);
    print_links(to, LAT_FORM_NAMES);
    lat_report_end_heading(to);
}

static void end_row(FILE *to)
{
    print_links(to, LAT_FORM_TSV);
    lat_report_end_row(to);
}

static lat_device *device_for(const lat_field *u)
{
    const bool can = lat_space_gpu_takes(&u->head.geom, lat_opts.comm);
    lat_device *on = lat_device_or_cpu(device, can);
    if (on)
        lat_device_threads(on, u, 1);
    return on;
}

static lat_overlap *open_operator(const lat_field *u, double error)
{
    lat_overlap_options o;
    lat_overlap_of_options(&o, 1, 10 * error);
    o.memory = memory * 1e9;
    lat_device *on = device_for(u);
    return on ? lat_overlap_open_known(on, u, &fermion, &o, &known) : NULL;
}

/* ---- the index ------------------------------------------------------------------------------- */

static int print_index(FILE *to, const lat_field *u, long config)
{
    int flow, steps, zeros[2], code = LAT_FAILED;
    lat_device *on = device_for(u);
    if (!on || lat_overlap_flow(on, u, &fermion, (int)follow, &flow, &steps))
        return LAT_FAILED;
    lat_overlap *o = open_operator(u, 1e-9);
    if (o && lat_overlap_zero_modes(o, abs(flow), zeros) == 0) {
        const int plus = zeros[0], minus = zeros[1];
        print_heading(to, "configuration\tindex\tn_plus\tn_minus\tflow\tbound");
        fprintf(to, "%ld\t%d\t%d\t%d\t%d\t%.3e", config, plus - minus, plus, minus, flow,
                lat_overlap_bound(o));
        end_row(to);
        code = LAT_DONE;
        if (plus - minus != flow) {
            lat_fail("configuration %ld: %d zero modes of chirality + and %d of chirality -, but a "
                     "spectral flow of %d: the index is not settled (--sign-error, --follow)",
                     config, plus, minus, flow);
            code = LAT_UNCONVERGED;
        }
    }
    lat_overlap_close(o);
    return code;
}

/* ---- the relation of Ginsparg and Wilson ----------------------------------------------------- */

/* |S^2 v - v|/|v| and |gamma5 D v + D gamma5 v - 2 D gamma5 D v|/|v| for a random v. */
static int defects(lat_overlap *o, double *square, double *relation)
{
    lat_space *s = o->space;
    double norm[3] = {0};
    lat_dfield *v[3] = {NULL};
    const int rc = lat_vector_new_all(s, 3, v, "a field")
                   || s->ops->random(s, &lat_first_column, 1, v[0])
                   || s->ops->dots(s, &lat_first_column, 0, NULL, v[0], NULL, norm)
                   || lat_sign_apply(o->sign, 0, &lat_first_column, v[1], v[0])
                   || lat_sign_apply(o->sign, 0, &lat_first_column, v[2], v[1])
                   || lat_overlap_mix(s, &lat_first_column, -1, v[0], 1, v[2], norm + 1)
                   || lat_overlap_apply(o, LAT_OVERLAP_D, 0, &lat_first_column, v[1], v[0])
                   || s->ops->gamma5(s, &lat_first_column, v[1])
                   || lat_overlap_apply(o, LAT_OVERLAP_D, 0, &lat_first_column, v[2], v[1])
                   || lat_overlap_mix(s, &lat_first_column, -2, v[2], 1, v[1], NULL)
                   || s->ops->gamma5(s, &lat_first_column, v[0])
                   || lat_overlap_apply(o, LAT_OVERLAP_D, 0, &lat_first_column, v[2], v[0])
                   || lat_overlap_mix(s, &lat_first_column, 1, v[2], 1, v[1], norm + 2);
    *square = sqrt(norm[1] / norm[0]);
    *relation = sqrt(norm[2] / norm[0]);
    lat_vector_free_all(3, v);
    return rc ? -1 : 0;
}

static int print_relation(FILE *to, const lat_field *u, long config)
{
    double square, relation, lower, upper;
    lat_overlap *o = open_operator(u, 1e-11);
    const int rc = o ? defects(o, &square, &relation) : -1;
    if (rc == 0) {
        lat_sign_interval(o->sign, &lower, &upper);
        print_heading(to, "configuration\tsign2\tgw\tbound\tmodes\tlower\tupper\torder");
        fprintf(to, "%ld\t%.3e\t%.3e\t%.3e\t%d\t%.10g\t%.10g\t%d", config, square, relation,
                lat_overlap_bound(o), o->modes.count, lower, upper, lat_sign_order(o->sign));
        end_row(to);
    }
    lat_overlap_close(o);
    return rc ? LAT_FAILED : LAT_DONE;
}

/* ---- eigenvalues ----------------------------------------------------------------------------- */

/* Residuals of what is written are by the code that certifies solutions. */
static int certify(lat_overlap *o, const lat_field *u, const lat_field *modes, double *residual)
{
    lat_plain_overlap *m = lat_overlap_plain(o, u, fmax(1e-14, lat_sign_delta(o->sign, 0)));
    const int rc = m ? lat_plain_overlap_modes(m, modes, residual) : -1;
    lat_plain_overlap_free(m);
    return rc;
}

/* Modes of both chiralities, with their values; `head_u` is of the links as they were read. */
static int write_modes(lat_overlap *o, const lat_field *u, const lat_header *head_u,
                       const double *value, lat_field *modes)
{
    const int n = (int)lat_header_objects(&modes->head);
    lat_header *head = &modes->head;
    double *residual = lat_alloc((size_t)n, sizeof *residual, "residuals"), worst = 0;
    int rc = lat_rc(!residual || lat_quark_set_eigenvalues(&head->quark, value)
                    || certify(o, u, modes, residual));
    for (int k = 0; k < n && rc == 0; k++)
        worst = fmax(worst, residual[k]);
    if (rc == 0)
        lat_header_of_links(head, head_u, &fermion);
    rc = lat_rc(
        rc || lat_quark_set_residuals(&head->quark, residual)
        || lat_info_set(head, LAT_INFO_MODES_MATRIX, lat_modes_matrix_text(LAT_MODES_OF_OVERLAP))
        || lat_info_set(head, LAT_INFO_MODES_WHICH, "lowest")
        || (smear_text && lat_info_set(head, LAT_SMEARED_LINKS, smear_text))
        || lat_overlap_describe(head, o, &known)
        || lat_provenance(head, "%d modes, residual %.2e", n, worst)
        || lat_stream_write(modes_out, modes, lat_opts.store));
    free(residual);
    return rc;
}

static int print_spectrum(FILE *to, const lat_field *u, const lat_header *head_u, long config)
{
    double value[2 * MOST], residual[2 * MOST];
    const int n = (int)spectrum;
    lat_field modes = {.data = NULL};
    lat_overlap *o = open_operator(u, 1e-10);
    int rc = o && !(modes_out && lat_field_spinors(&modes, u, LAT_MODES, 2 * n)) ? 0 : -1;
    rc = rc || lat_overlap_spectrum(o, n, 1e-8, value, residual, modes_out ? &modes : NULL);
    if (rc == 0)
        print_heading(to, "configuration\tchirality\tmode\tD+D\tre\tim\tresidual\tbound");
    for (int k = 0; k < 2 * n && rc == 0; k++) {
        const double x = value[k], im2 = x - x * x;
        fprintf(to, "%ld\t%d\t%d\t%.12g\t%.12g\t%.12g\t%.3e\t%.3e", config, k < n ? 1 : -1, k % n,
                x, x, im2 > 0 ? sqrt(im2) : 0, residual[k], lat_overlap_bound(o));
        end_row(to);
    }
    if (rc == 0 && modes_out)
        rc = write_modes(o, u, head_u, value, &modes);
    lat_field_free(&modes);
    lat_overlap_close(o);
    return rc ? LAT_FAILED : LAT_DONE;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* u: links as they were read. An exit code. */
static int one(FILE *text, const lat_field *u, long config)
{
    static long number; /* of links, of all files */
    lat_field smeared = {.data = NULL};
    const lat_field *links = smear_text ? &smeared : u;
    int code = LAT_FAILED;
    links_head = &u->head;
    if (lat_overlap_known_find(&known, number++, u, &fermion, smear_text) == 0
        && !(smear_text && lat_smear_links(u, &smear, &smeared)))
        code = index_of ? print_index(text, links, config)
               : gw     ? print_relation(text, links, config)
                        : print_spectrum(text, links, &u->head, config);
    lat_field_free(&smeared);
    return code;
}

static int all(lat_input *in, FILE *text)
{
    int rc, code = LAT_DONE;
    lat_field u;
    lat_part_begin("configuration", 0);
    for (long config = 0; (rc = lat_fields_read_links(in, &u)) > 0; config++) {
        int now = LAT_FAILED;
        lat_part_at((double)config);
        if (lat_header_need(&u.head, LAT_GAUGE, lat_input_name(in)) == 0
            && lat_fermion_check_links(&fermion, &u.head, lat_input_name(in)) == 0
            && lat_field_exchange(&u) == 0)
            now = one(text, &u, config);
        lat_progress_end();
        lat_field_free(&u);
        if (fflush(text))
            return LAT_FAILED;
        if (now != LAT_DONE) {
            lat_error_name(lat_input_name(in), lat_overlap_opts.modes);
            return now;
        }
    }
    lat_part_end();
    return rc < 0 ? LAT_FAILED : code;
}

/* The modes are there before the table is. */
static int end(LAT_UNUSED FILE *text)
{
    lat_output *out = modes_out;
    modes_out = NULL;
    return out && lat_stream_commit(out) ? LAT_FAILED : LAT_DONE;
}

static void check_usage(void)
{
    lat_fermion_init(&fermion);
    strcpy(fermion.name, "overlap");
    fermion.m0 = lat_overlap_opts.m0;
    fermion.csw = fermion.csw_t = csw;
    fermion.xi = xi;
    fermion.nu = nu;
    if (index_of + gw + (spectrum > 0) != 1)
        lat_usage("expected one of --index, --gw and --spectrum");
    if (lat_boundary_parse(boundary ? boundary : "p,p,p,a", fermion.boundary))
        lat_usage(
            "--boundary: expected four of p, a or a number, with commas between, found '%.80s'",
            boundary);
    if (smear_text && lat_smear_parse(smear_text, &smear))
        lat_usage("--smear-links: %s", lat_error());
    if (lat_fermion_check(&fermion, "the operator"))
        lat_usage("%s", lat_error());
    lat_overlap_check_options(&fermion);
    lat_usage_if_stdin_twice((const char *const[]){lat_overlap_opts.modes}, 1);
    lat_usage_for("follow", index_of, "--index");
    lat_usage_for("save-modes", spectrum, "--spectrum");
    if (save_modes && !strcmp(save_modes, "-"))
        lat_usage("--save-modes needs the name of a file");
    lat_usage_if_input("save-modes", save_modes);
    lat_usage_for("force-interval", !index_of && !spectrum, "--gw");
}

static int open_all(void)
{
    const lat_comm *comm = lat_opts.comm;
    return lat_rc(
        lat_device_begin(&device_choice, comm) || !(device = lat_device_open(&device_choice, comm))
        || lat_overlap_known_open(&known, comm)
        || (save_modes && !(modes_out = lat_output_open(save_modes, lat_output_flags(), comm))));
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    check_usage();
    const int code = open_all() ? lat_report(LAT_FAILED) : lat_print_run(all, end);
    lat_output_abort(modes_out);
    lat_overlap_known_close(&known);
    lat_device_close(device);
    lat_device_end();
    return code;
}
