/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-dirac: applies Dirac operators to spinors, checks solutions, and finds the operator of a
 * solution of unknown origin. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/text.h"
#include "formats/fields.h"
#include "certify/plain.h"
#include "lattice/boundary.h"
#include "smear/smear.h"
#include "run/quark/fermion_options.h"
#include "run/quark/links.h"
#include "run/quark/overlap.h"
#include "run/common/print.h"
#include "run/common/tool.h"
#include "wilson/wilson.h"
#include "stream/stream.h"
#include "dirac_run.h"

enum { M, M_DAGGER, NORMAL, GAMMA5, HOP, SCHUR, CLOVER, INVERSE_CLOVER, SIGN };
enum { FAST, PLAIN };
enum { SYMMETRIC, ASYMMETRIC };

static const char *gauge_file, *smear_text;
static int apply = -1, code_of = FAST, even_odd = SYMMETRIC;
static bool check;

static lat_dirac_tool_run run = {.o = {.residual = 1e-10}};
int lat_dirac_tool_column[LAT_MAX_COLUMNS];

static const lat_option options[] = {
    LAT_HEADING("What to do"),
    {LAT_OPT_CHOICE, "apply", 0, "M|Mdag|MdagM|g5M|hop|schur|clover|inverse|sign", &apply, 0, 0,
     "write this operator times the input; hop: the sum of all hops; clover: the part that is "
     "diagonal in sites; inverse: the inverse of clover; schur: on odd sites, even sites become 0; "
     "sign: the sign function of --operator overlap"},
    {LAT_OPT_CHOICE, "even-odd", 0, "sym|asym", &even_odd, 0, 0,
     "Schur complement of --apply schur"},
    {LAT_OPT_CHOICE, "code", 0, "fast|plain", &code_of, 0, 0,
     "plain: use the code that certifies solutions (M and Mdag; overlap: M)"},
    {LAT_OPT_FLAG, "check", 0, NULL, &check, 0, 0,
     "print the residual of each column of the input; exit 3 if one is above --residual"},
    {LAT_OPT_REAL, "residual", 0, "R", &run.o.residual, 0, 1e300,
     "largest residual that --check accepts; an overlap operator is applied as exactly as this "
     "needs"},
    {LAT_OPT_REAL, "residual-slices", 0, "R", &run.o.slices, 1e-16, 1e300,
     "let --check print |b - M x|/|x| of each time slice instead; exit 3 if one is above R "
     "(default: not asked for)"},
    {LAT_OPT_TEXT, "source", 0, "SOURCE", &run.o.source_text, 0, 0,
     "source for --check, by name (default: the source that the header names)"},
    {LAT_OPT_TEXT, "source-file", 0, "FILE", &run.o.source_file, 0, 0,
     "sources for --check, field by field"},
    {LAT_OPT_FLAG, "identify", 0, NULL, &run.o.identify, 0, 0,
     "find kappa, csw, boundary, spin basis, norm and source of the input, on one rank"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "save", 0, "FILE", &run.o.save, 0, 0,
     "let --identify write the input to FILE: in our basis, as M^-1, with operator, boundary, "
     "links and a point source in the header"},
    LAT_HEADING("Operator"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "gauge-file", 'U', "FILE", &gauge_file, 0, 0,
     "read links from FILE"},
    {LAT_OPT_TEXT, "smear-links", 0, "SMEARING", &smear_text, 0, 0,
     "smear the links of the operator; lat-solve has the syntax (default: the smearing that the "
     "header of the input names)"},
    LAT_FERMION_OPTIONS,
    LAT_HEADING("Overlap operator"),
    LAT_OVERLAP_OPTIONS,
    {0}};

static const lat_tool tool = {
    .name = "lat-dirac",
    .args = "[FILE]",
    .summary = "Applies Dirac operators to spinors, checks solutions, and identifies the operator "
               "that produced a solution.",
    .example = "lat-dirac --check -U cfg.lat prop.lat\n"
               "lat-dirac --identify -U cfg.lat --save ours.lat theirs.lime\n"
               "lat-dirac --apply MdagM --kappa 0.135 -U cfg.lat spinor.lat -o out.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

/* How the links of the operator for x are smeared: as --smear-links says, or else the header of x;
 * NULL: they are not. */
static const char *smearing_for(const lat_field *x)
{
    return smear_text ? smear_text : lat_info_get(&x->head, LAT_SMEARED_LINKS);
}

const lat_field *lat_dirac_tool_links(lat_dirac_tool_run *r, const lat_field *x)
{
    return lat_links_smeared(&r->links, smearing_for(x));
}

/* ---- applying -------------------------------------------------------------------------------- */

static int apply_plain(lat_dirac_tool_run *r, const lat_field *x, lat_field *y)
{
    const int n = (int)lat_header_objects(&x->head);
    const lat_field *links = lat_dirac_tool_links(r, x);
    lat_plain *m = links ? lat_plain_new(links, &r->fermion) : NULL;
    const int rc = m ? lat_plain_apply(m, apply == M_DAGGER, x, n, lat_dirac_tool_column, y) : -1;
    lat_plain_free(m);
    return rc;
}

static int apply_batch(void *with, lat_dfield *in, lat_dfield *out, int columns)
{
    lat_dirac *d = with;
    const lat_part both = {LAT_BOTH, columns, lat_column_numbers},
                   odd = {LAT_ODD, columns, lat_column_numbers};
    const lat_dirac_form form = even_odd == SYMMETRIC ? LAT_SYMMETRIC : LAT_ASYMMETRIC;
    static const lat_dirac_kind kinds[] = {LAT_PLAIN, LAT_DAGGER, LAT_NORMAL, LAT_GAMMA5};
    switch (apply) {
    case HOP: return d->ops->hop(d, false, &both, 0, NULL, 1, out, in);
    case CLOVER: return d->ops->diagonal(d, false, false, &both, out, in);
    case INVERSE_CLOVER: return d->ops->diagonal(d, true, false, &both, out, in);
    case SCHUR:
        return d->space->ops->zero(d->space, &both, out)
               || d->ops->apply(d, (lat_dirac_matrix){form, LAT_PLAIN}, &odd, out, in, NULL);
    default:
        return d->ops->apply(d, (lat_dirac_matrix){LAT_FULL, kinds[apply]}, &both, out, in, NULL);
    }
}

/* Some columns at a time. */
static int in_batches(lat_space *s, int most, const lat_field *x, lat_field *y,
                      int (*batch)(void *with, lat_dfield *in, lat_dfield *out, int columns),
                      void *with)
{
    const int objects = (int)lat_header_objects(&x->head);
    lat_dfield *in = lat_vector_new(s, "spinors"), *out = in ? lat_vector_new(s, "spinors") : NULL;
    int rc = out ? 0 : -1;
    for (int first = 0; first < objects && rc == 0; first += most) {
        const int n = objects - first < most ? objects - first : most;
        int column[LAT_VECTOR_COLUMNS], object[LAT_VECTOR_COLUMNS];
        const lat_part p = {LAT_BOTH, n, column};
        for (int c = 0; c < n; c++) {
            column[c] = c;
            object[c] = first + c;
        }
        rc = lat_spinors_put(s, &p, in, x, object) || batch(with, in, out, n)
             || lat_spinors_get(s, &p, out, y, object);
    }
    lat_dfield_free(out);
    lat_dfield_free(in);
    return rc ? -1 : 0;
}

static int most_columns(const lat_field *x)
{
    const int objects = (int)lat_header_objects(&x->head);
    return objects < 12 ? objects : 12;
}

/* By lib/dirac in double. */
static int apply_fast(lat_dirac_tool_run *r, const lat_field *x, lat_field *y)
{
    const int most = most_columns(x);
    const lat_wilson_options o = {
        .columns = most, .form = LAT_SYMMETRIC, .inner = LAT_STORAGE_DOUBLE};
    const lat_field *links = lat_dirac_tool_links(r, x);
    lat_wilson *w = links ? lat_wilson_open(r->device, links, &r->fermion, &o) : NULL;
    lat_dirac *d = w ? lat_wilson_operator(w) : NULL;
    const int rc = d ? in_batches(d->space, most, x, y, apply_batch, d) : -1;
    lat_wilson_close(w);
    return rc;
}

/* ---- the overlap operator -------------------------------------------------------------------- */

/* An operator that is good enough for any residual that may be asked for. */
static int open_overlap(lat_dirac_tool_run *r, const lat_field *x, const lat_fermion *f,
                        lat_overlap_pair *o)
{
    const lat_field *links = lat_dirac_tool_links(r, x);
    const char *smearing = links == &r->links.smeared ? r->links.smeared_by : NULL;
    return lat_rc(!links
                  || lat_overlap_known_find(&r->known, r->links.number, &r->links.u, f, smearing)
                  || lat_overlap_pair_open(o, r->device, links, f, most_columns(x), false,
                                           fmin(r->o.residual, 1e-6), &r->known));
}

/* A copy of x in double. */
static int exact_copy(const lat_field *x, lat_field *y)
{
    *y = (lat_field){.data = NULL};
    return lat_field_duplicate(x, y) || lat_field_convert(y, LAT_F64) ? -1 : 0;
}

static int overlap_batch(void *with, lat_dfield *in, lat_dfield *out, int columns)
{
    static const lat_overlap_kind kinds[] = {LAT_OVERLAP_D, LAT_OVERLAP_DAGGER, LAT_OVERLAP_NORMAL,
                                             LAT_OVERLAP_D};
    lat_overlap *o = with;
    const lat_part p = {LAT_BOTH, columns, lat_column_numbers};
    if (apply == SIGN)
        return lat_sign_apply(o->sign, 0, &p, out, in);
    return lat_rc(lat_overlap_apply(o, kinds[apply], 0, &p, out, in)
                  || (apply == GAMMA5 && o->space->ops->gamma5(o->space, &p, out)));
}

static int apply_overlap(lat_dirac_tool_run *r, const lat_field *x, lat_field *y)
{
    lat_overlap_pair o;
    lat_field exact = {.data = NULL};
    if (open_overlap(r, x, &r->fermion, &o))
        return -1;
    int rc = code_of == PLAIN
                 ? exact_copy(x, &exact)
                       || lat_plain_overlap_apply(o.plain, &exact,
                                                  (int)lat_header_objects(&x->head),
                                                  lat_dirac_tool_column, y)
                 : in_batches(o.fast->space, most_columns(x), x, y, overlap_batch, o.fast);
    rc = rc || lat_overlap_describe(&y->head, o.fast, &r->known);
    lat_overlap_pair_close(&o);
    lat_field_free(&exact);
    return rc ? -1 : 0;
}

int lat_dirac_tool_check_overlap(lat_dirac_tool_run *r, const lat_field *x, const lat_fermion *f,
                                 const lat_field *b, double *found)
{
    lat_overlap_pair o;
    lat_field exact;
    const int n = (int)lat_header_objects(&x->head), form = lat_propagator_of(&x->head);
    if (form < 0 || lat_overlap_check(f) || open_overlap(r, x, f, &o))
        return -1;
    int rc = exact_copy(x, &exact);
    if (rc == 0) {
        lat_propagator_make(form, true, f, b, n, lat_dirac_tool_column, &exact);
        rc = lat_plain_overlap_residual(o.plain, &exact, b, n, lat_dirac_tool_column, found);
    }
    lat_overlap_pair_close(&o);
    lat_field_free(&exact);
    return rc;
}

/* What comes of an operator is no solution, but may be solved for. */
static int name_source(const lat_field *x, const char *word, lat_header *head)
{
    const char *source = x->head.quark.source;
    if (x->head.kind == LAT_MODES)
        return 0;
    char *text = lat_text_new("%s of %s of %s", word, lat_kind_text(x->head.kind),
                              source ? source : "unknown origin");
    const int rc = text ? lat_quark_set_source(&head->quark, text) : -1;
    free(text);
    return rc;
}

static int apply_one(lat_dirac_tool_run *r, lat_field *x)
{
    static const char *const words[] = {
        "M", "Mdag", "MdagM", "g5M", "hop", "schur", "clover", "inverse of clover", "sign(H)"};
    char text[LAT_FERMION_TEXT];
    lat_field y = {.comm = x->comm};
    const char *smearing = smearing_for(x);
    int rc = lat_header_copy(&y.head, &x->head);
    lat_header_make_spinors(&y.head, x->head.kind, x->head.quark.columns);
    y.head.real = LAT_F64;
    lat_header_no_operator(&y.head); /* no solution any more */
    strcpy(y.head.quark.links, lat_header_links_crc(&r->links.u.head));
    rc = rc || name_source(x, words[apply], &y.head)
         || (smearing && lat_info_set(&y.head, LAT_SMEARED_LINKS, smearing))
         || lat_field_alloc(&y, x->comm) || lat_field_exchange(x)
         || lat_boundary_check_quarks(&r->fermion, x, (int)lat_header_objects(&x->head),
                                      lat_dirac_tool_column, lat_dirac_tool_name(r));
    rc = rc
         || (lat_dirac_tool_overlap(&r->fermion) ? apply_overlap(r, x, &y)
             : code_of == PLAIN                  ? apply_plain(r, x, &y)
                                                 : apply_fast(r, x, &y));
    rc = rc || lat_provenance(&y.head, "%s, %s", words[apply], lat_fermion_text(&r->fermion, text))
         || lat_stream_write(r->out, &y, lat_opts.store);
    lat_field_free(&y);
    return rc ? LAT_FAILED : LAT_DONE;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The links of x, which are in the gauge that was asked for. */
static int find_links(lat_dirac_tool_run *r, const lat_field *x)
{
    const long before = r->links.number;
    if (!lat_header_spinors(&x->head))
        return lat_fail("%s: field %ld: expected spinors, found %s", lat_dirac_tool_name(r),
                        r->field, lat_kind_text(x->head.kind));
    if (x->head.kind == LAT_MODES && apply < 0)
        return lat_fail("%s: field %ld: expected solutions, found a field of modes",
                        lat_dirac_tool_name(r), r->field);
    if (lat_links_find(&r->links, &x->head, false, lat_dirac_tool_name(r), r->field))
        return -1;
    if (r->links.number == before)
        return 0;
    return lat_rc(lat_fermion_check_gauge(&r->links.u.head, gauge_file)
                  || ((apply >= 0 || lat_dirac_tool_stated(r))
                      && lat_fermion_check_links(&r->fermion, &r->links.u.head, gauge_file)));
}

/* What M^-1 is divided by in the file of another program is unknown to --identify. */
static int read_field(lat_dirac_tool_run *r, lat_field *x)
{
    const lat_quark_hints h = {.kappa = lat_opt_given("kappa") ? lat_fermion_opts.kappa : NAN,
                               .norm = r->o.identify ? LAT_NORM_MASS : LAT_NORM_FORMAT,
                               .force = lat_opts.force};
    return lat_fields_read_as(r->in, x, &h);
}

/* Sources of --source-file for which there was no solution? 0, or -1. */
static int surplus(lat_dirac_tool_run *r)
{
    const int more = r->sources ? lat_fields_more(r->sources) : 0;
    return more > 0 ? lat_fail("%s: expected as many sources as solutions, %ld, found more",
                               r->o.source_file, r->field)
                    : more;
}

static int each(lat_dirac_tool_run *r)
{
    int rc, code = LAT_DONE;
    for (; code == LAT_DONE || code == LAT_UNCONVERGED; r->field++) {
        lat_field x;
        if ((rc = read_field(r, &x)) <= 0)
            return rc < 0 || surplus(r) ? LAT_FAILED : code;
        int now = LAT_FAILED;
        if (find_links(r, &x) == 0)
            now = check           ? lat_dirac_tool_check_one(r, &x)
                  : r->o.identify ? (lat_dirac_tool_identify_one(r, &x) ? LAT_FAILED : LAT_DONE)
                                  : apply_one(r, &x);
        code = now == LAT_DONE ? code : now;
        lat_field_free(&x);
    }
    return code;
}

/* The operator comes from options or from the header, not from a mixture. */
static void check_operator(const lat_dirac_tool_run *r)
{
    if (r->o.identify && lat_opt_given("kappa"))
        lat_usage("--identify finds the operator: expected no --kappa");
    static const char *const names[] = {"csw", "csw-t",    "xi", "nu",   "twist",
                                        "cf",  "boundary", "m0", "mass", "mu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lat_opt_given(names[i]) && !lat_dirac_tool_stated(r))
            lat_usage(r->o.identify
                          ? "--identify finds the operator: expected no --%s"
                          : "--%s: expected --kappa or --mass with it, because without them "
                            "the operator of the header is used",
                      names[i]);
}

static void check_usage(lat_dirac_tool_run *r)
{
    if ((apply >= 0) + check + r->o.identify != 1)
        lat_usage("expected one of --apply, --check and --identify");
    if (!gauge_file)
        lat_usage("--gauge-file is needed: the links");
    if ((r->o.source_file || r->o.source_text) && !check)
        lat_usage("--source and --source-file are for --check");
    if (r->o.save && !r->o.identify)
        lat_usage("--save is for --identify");
    lat_usage_if_input("save", r->o.save);
    if (lat_opt_given("code") && apply < 0)
        lat_usage("--code is for --apply");
    lat_smear s;
    if (smear_text && lat_smear_parse(smear_text, &s))
        lat_usage("--smear-links: %s", lat_error());
    lat_usage_for("smear-links", !r->o.identify, "--apply and --check");
    lat_usage_if_stdin_twice(
        (const char *const[]){gauge_file, r->o.source_file, lat_overlap_opts.modes}, 3);
    if (r->o.source_file && r->o.source_text)
        lat_usage("--source and --source-file exclude each other");
    lat_usage_for("even-odd", apply == SCHUR, "--apply schur");
    if (code_of == PLAIN && apply > M_DAGGER)
        lat_usage("--code plain applies M and Mdag alone");
    if (check || r->o.identify)
        check_operator(r);
    lat_operator_of_options(&r->fermion, check || r->o.identify || apply == SIGN);
    const bool overlap = lat_dirac_tool_overlap(&r->fermion);
    if (lat_opt_given("residual") && !check && !overlap) /* whose accuracy follows it */
        lat_usage("--residual is for --check");
    if (r->o.slices > 0 && (!check || overlap))
        lat_usage("--residual-slices is for --check, of --operator wilson");
    if (r->o.slices > 0 && lat_opt_given("residual"))
        lat_usage("--residual-slices is in place of --residual");
    if (apply == SIGN && !overlap)
        lat_usage("--apply sign is for --operator overlap");
    if (overlap && (r->o.identify || (apply > GAMMA5 && apply != SIGN)))
        lat_usage("--operator overlap is for --check and --apply M, Mdag, MdagM, g5M and sign");
    if (overlap && code_of == PLAIN && apply != M)
        lat_usage("--code plain applies M of the overlap operator alone");
}

static int open_all(lat_dirac_tool_run *r)
{
    const lat_comm *comm = lat_opts.comm;
    const lat_device_options device = {.choice = LAT_DEVICE_CPU};
    const unsigned flags = lat_output_flags() | (apply >= 0 ? LAT_OUTPUT_OTHER : LAT_OUTPUT_TEXT);
    if (!(r->in = lat_input_open(lat_opts.input, comm))
        || !(r->links.in = lat_input_open(gauge_file, comm))
        || (r->o.source_file && !(r->sources = lat_input_open(r->o.source_file, comm)))
        || lat_overlap_known_open(&r->known, comm)
        || !(r->out = lat_output_open(lat_opts.output, flags, comm))
        || (r->o.save
            && !(
                r->saved = lat_output_open(r->o.save, lat_output_flags() | LAT_OUTPUT_OTHER, comm)))
        || (apply < 0 && !(r->text = lat_text_open(r->out)))
        || !(r->device = lat_device_open(&device, comm)))
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    lat_dirac_tool_run *r = &run;
    lat_options_parse(&tool, argc, argv);
    check_usage(r);
    for (int i = 0; i < LAT_MAX_COLUMNS; i++)
        lat_dirac_tool_column[i] = i;
    int code = open_all(r) ? LAT_FAILED : each(r);
    free(r->norms);
    lat_links_free(&r->links);
    lat_device_close(r->device);
    lat_device_end();
    lat_input_close(r->in);
    lat_input_close(r->sources);
    lat_overlap_known_close(&r->known);
    /* What was measured is printed, whatever it says. */
    const bool printed = r->text && code == LAT_UNCONVERGED;
    if (r->saved && code == LAT_DONE)
        code = lat_stream_commit(r->saved) ? LAT_FAILED : LAT_DONE;
    else
        lat_output_abort(r->saved);
    const int end = lat_output_end(r->out, r->text, printed ? LAT_DONE : code);
    code = printed && end == LAT_DONE ? code : end;
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
