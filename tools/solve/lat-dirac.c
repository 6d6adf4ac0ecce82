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
#include "quark/identify.h"
#include "quark/plain.h"
#include "smear/smear.h"
#include "quark/source.h"
#include "run/quark/fermion_options.h"
#include "run/quark/links.h"
#include "run/quark/overlap.h"
#include "run/common/tool.h"
#include "solve/wilson.h"
#include "stream/stream.h"

enum { M, M_DAGGER, NORMAL, GAMMA5, HOP, SCHUR, CLOVER, INVERSE_CLOVER, SIGN };
enum { FAST, PLAIN };
enum { SYMMETRIC, ASYMMETRIC };

static const char *gauge_file, *source_file, *source_text, *smear_text;
static int apply = -1, code_of = FAST, even_odd = SYMMETRIC;
static bool check, identify;
static double residual = 1e-10;

static const lat_option options[] = {
    LAT_HEADING("What to do"),
    {LAT_OPT_CHOICE, "apply", 0, "M|Mdag|MdagM|g5M|hop|schur|clover|inverse|sign", &apply, 0, 0,
     "write this operator times the input; hop: the sum of all hops; clover: the part that is "
     "diagonal in sites; inverse: the inverse of clover; schur: on odd sites, even sites become 0; "
     "sign: the sign function of --operator overlap",
     false},
    {LAT_OPT_CHOICE, "even-odd", 0, "sym|asym", &even_odd, 0, 0,
     "Schur complement of --apply schur", false},
    {LAT_OPT_CHOICE, "code", 0, "fast|plain", &code_of, 0, 0,
     "plain: use the code that certifies solutions (M and Mdag; overlap: M)", false},
    {LAT_OPT_FLAG, "check", 0, NULL, &check, 0, 0,
     "print the residual of each column of the input; exit 3 if one is above --residual", false},
    {LAT_OPT_REAL, "residual", 0, "R", &residual, 0, 1e300,
     "largest residual that --check accepts; an overlap operator is applied as exactly as this "
     "needs",
     false},
    {LAT_OPT_TEXT, "source", 0, "SOURCE", &source_text, 0, 0,
     "source for --check, by name (default: the source that the header names)", false},
    {LAT_OPT_TEXT, "source-file", 0, "FILE", &source_file, 0, 0,
     "sources for --check, field by field", false},
    {LAT_OPT_FLAG, "identify", 0, NULL, &identify, 0, 0,
     "find kappa, csw, boundary, spin basis and norm of the input", false},
    LAT_HEADING("Operator"),
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &gauge_file, 0, 0, "read links from FILE", true},
    {LAT_OPT_TEXT, "smear-links", 0, "SMEARING", &smear_text, 0, 0,
     "smear the links of the operator; lat-solve has the syntax (default: the smearing that the "
     "header of the input names)",
     false},
    LAT_FERMION_OPTIONS,
    LAT_HEADING("Overlap operator"),
    LAT_OVERLAP_OPTIONS,
    {0}};

static const lat_tool tool = {
    .name = "lat-dirac",
    .args = "[FILE]",
    .summary = "Applies Dirac operators to spinors, checks solutions, and identifies the operator "
               "that produced a solution.",
    .example = "lat-dirac --check -U cfg.lat prop.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

typedef struct run {
    lat_input *in, *sources;
    lat_output *out;
    FILE *text;
    lat_links links;
    lat_fermion fermion; /* of the options */
    lat_overlap_known known;
    lat_device *device;
    long field;
    long config;  /* the number that noise of the present source depends on */
    bool counted; /* it does, and its text does not say the number */
} run;

static const char *name_of(const run *r) { return lat_input_name(r->in); }

/* How the links of the operator for x are smeared: as --smear-links says, or else the header of x;
 * NULL: they are not. */
static const char *smearing_for(const lat_field *x)
{
    return smear_text ? smear_text : lat_info_get(&x->head, LAT_SMEARED_LINKS);
}

/* The links of the operator for x. NULL with lat_error set. */
static const lat_field *links_for(run *r, const lat_field *x)
{
    return lat_links_smeared(&r->links, smearing_for(x));
}

/* ---- applying -------------------------------------------------------------------------------- */

static int all_columns(const lat_field *x, int *list)
{
    const int n = (int)lat_header_objects(&x->head);
    for (int i = 0; i < n; i++)
        list[i] = i;
    return n;
}

static int apply_plain(run *r, const lat_field *x, lat_field *y)
{
    int list[LAT_MAX_COLUMNS];
    const int n = all_columns(x, list);
    const lat_field *links = links_for(r, x);
    lat_plain *m = links ? lat_plain_new(links, &r->fermion) : NULL;
    const int rc = m ? lat_plain_apply(m, apply == M_DAGGER, x, n, list, y) : -1;
    lat_plain_free(m);
    return rc;
}

static int apply_batch(void *with, lat_dfield *in, lat_dfield *out, int columns)
{
    lat_dirac *d = with;
    const lat_spinor_part both = {LAT_BOTH, columns, lat_spinor_numbers},
                          odd = {LAT_ODD, columns, lat_spinor_numbers};
    const lat_dirac_form form = even_odd == SYMMETRIC ? LAT_SYMMETRIC : LAT_ASYMMETRIC;
    static const lat_dirac_kind kinds[] = {LAT_PLAIN, LAT_DAGGER, LAT_NORMAL, LAT_GAMMA5};
    switch (apply) {
    case HOP: return d->ops->hop(d, false, &both, 0, NULL, 1, out, in, NULL);
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
static int in_batches(lat_spinor_space *s, int most, const lat_field *x, lat_field *y,
                      int (*batch)(void *with, lat_dfield *in, lat_dfield *out, int columns),
                      void *with)
{
    const int objects = (int)lat_header_objects(&x->head);
    lat_dfield *in = lat_spinor_new(s, "spinors"), *out = in ? lat_spinor_new(s, "spinors") : NULL;
    int rc = out ? 0 : -1;
    for (int first = 0; first < objects && rc == 0; first += most) {
        const int n = objects - first < most ? objects - first : most;
        int column[LAT_SPINOR_COLUMNS], object[LAT_SPINOR_COLUMNS];
        const lat_spinor_part p = {LAT_BOTH, n, column};
        for (int c = 0; c < n; c++) {
            column[c] = c;
            object[c] = first + c;
        }
        rc = s->ops->put(s, &p, in, x, object) || batch(with, in, out, n)
             || s->ops->get(s, &p, out, y, object);
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
static int apply_fast(run *r, const lat_field *x, lat_field *y)
{
    const int most = most_columns(x);
    const lat_wilson_options o = {
        .columns = most, .form = LAT_SYMMETRIC, .inner = LAT_STORAGE_DOUBLE};
    const lat_field *links = links_for(r, x);
    lat_wilson *w = links ? lat_wilson_open(r->device, links, &r->fermion, &o) : NULL;
    lat_dirac *d = w ? lat_wilson_operator(w) : NULL;
    const int rc = d ? in_batches(d->space, most, x, y, apply_batch, d) : -1;
    lat_wilson_close(w);
    return rc;
}

/* ---- the overlap operator -------------------------------------------------------------------- */

static bool is_overlap(const lat_fermion *f) { return !strcmp(f->name, "overlap"); }

/* An operator that is good enough for any residual that may be asked for. */
static int open_overlap(run *r, const lat_field *x, const lat_fermion *f, lat_overlap_pair *o)
{
    const lat_field *links = links_for(r, x);
    const char *smearing = links == &r->links.smeared ? r->links.smeared_by : NULL;
    return links
                   && lat_overlap_known_find(&r->known, r->links.number, &r->links.u, f, smearing)
                          == 0
               ? lat_overlap_pair_open(o, r->device, links, f, most_columns(x), false,
                                       fmin(residual, 1e-6), &r->known)
               : -1;
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
    const lat_spinor_part p = {LAT_BOTH, columns, lat_spinor_numbers};
    if (apply == SIGN)
        return lat_sign_apply(o->sign, 0, &p, out, in);
    return lat_overlap_apply(o, kinds[apply], 0, &p, out, in)
                   || (apply == GAMMA5 && o->space->ops->gamma5(o->space, &p, out))
               ? -1
               : 0;
}

static int apply_overlap(run *r, const lat_field *x, lat_field *y)
{
    int list[LAT_MAX_COLUMNS];
    lat_overlap_pair o;
    lat_field exact = {.data = NULL};
    if (open_overlap(r, x, &r->fermion, &o))
        return -1;
    int rc = code_of == PLAIN
                 ? exact_copy(x, &exact)
                       || lat_plain_overlap_apply(o.plain, &exact, all_columns(x, list), list, y)
                 : in_batches(o.fast->space, most_columns(x), x, y, overlap_batch, o.fast);
    rc = rc || lat_overlap_describe(&y->head, o.fast, &r->known);
    lat_overlap_pair_close(&o);
    lat_field_free(&exact);
    return rc ? -1 : 0;
}

/* |b - D x|/|b| of what the header says x is made of. */
static int check_overlap(run *r, const lat_field *x, const lat_fermion *f, const lat_field *b,
                         double *found)
{
    int list[LAT_MAX_COLUMNS];
    lat_overlap_pair o;
    lat_field exact;
    const int n = all_columns(x, list), form = lat_propagator_of(&x->head);
    if (form < 0 || lat_overlap_check(f) || open_overlap(r, x, f, &o))
        return -1;
    int rc = exact_copy(x, &exact);
    if (rc == 0) {
        lat_propagator_make(form, true, f, b, n, list, &exact);
        rc = lat_plain_overlap_residual(o.plain, &exact, b, n, list, found);
    }
    lat_overlap_pair_close(&o);
    lat_field_free(&exact);
    return rc;
}

/* What comes of an operator is no solution, but may be solved for. */
static int name_source(const lat_field *x, const char *word, lat_header *head)
{
    const char *source = x->head.quark.source;
    char *text = NULL;
    if (x->head.kind == LAT_MODES)
        return 0;
    if (asprintf(&text, "%s of %s of %s", word, lat_kind_text(x->head.kind),
                 source ? source : "unknown origin")
        < 0)
        return lat_fail("out of memory: the text of a source");
    const int rc = lat_quark_set_source(&head->quark, text);
    free(text);
    return rc;
}

static int apply_one(run *r, lat_field *x)
{
    static const char *const words[] = {
        "M", "Mdag", "MdagM", "g5M", "hop", "schur", "clover", "inverse of clover", "sign(H)"};
    char text[LAT_FERMION_TEXT];
    int list[LAT_MAX_COLUMNS];
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
         || lat_plain_check_open(&r->fermion, x, all_columns(x, list), list, name_of(r));
    rc = rc
         || (is_overlap(&r->fermion) ? apply_overlap(r, x, &y)
             : code_of == PLAIN      ? apply_plain(r, x, &y)
                                     : apply_fast(r, x, &y));
    rc = rc || lat_provenance(&y.head, "%s, %s", words[apply], lat_fermion_text(&r->fermion, text))
         || lat_stream_write(r->out, &y, lat_opts.store);
    lat_field_free(&y);
    return rc ? LAT_FAILED : LAT_DONE;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* The columns of x by the name of their source: `field` of s, and `column` or all. */
static int fill_source(run *r, lat_source *s, int field, int column, lat_field *b)
{
    const int columns = (int)lat_header_objects(&b->head);
    const size_t n = 8 * (size_t)b->head.nc, sites = lat_field_sites(b);
    double *psi = lat_alloc(sites, n * sizeof *psi, "a source");
    int rc = psi && lat_source_begin(s, &r->links.u, r->config) == 0 ? 0 : -1;
    for (int c = 0; c < columns && rc == 0; c++) {
        rc = lat_source_make(s, field, column < 0 ? c : column, psi);
        for (size_t i = 0; i < sites && rc == 0; i++)
            lat_field_put(b, i * (size_t)columns + (size_t)c, psi + i * n);
    }
    free(psi);
    return rc;
}

/* The source by its name. 1, or 0 where the name is none that lat-source makes for such a field. */
static int make_source(run *r, const char *text, lat_field *b)
{
    int field, column;
    lat_source *s = text ? lat_source_named(text, &r->links.u.head, &field, &column) : NULL;
    const size_t columns = !s ? 0 : column < 0 ? (size_t)lat_source_columns(s) : 1;
    int rc = 0;
    r->counted = s && lat_source_counts(s);
    if (s && columns == lat_header_objects(&b->head))
        rc = fill_source(r, s, field, column, b) ? -1 : 1;
    else if (s && source_text)
        rc = lat_fail("--source %s: expected one of %zu columns, as the solution has, found %zu",
                      text, lat_header_objects(&b->head), columns);
    else if (source_text)
        rc = -1;
    else
        lat_error_clear();
    lat_source_free(s);
    return rc;
}

/* The source of x: 1, 0 where there is none, or -1. */
static int find_source(run *r, const lat_field *x, lat_field *b)
{
    *b = (lat_field){.comm = x->comm};
    r->counted = false;
    if (r->sources) {
        const lat_quark_hints h = {.kappa = NAN, .norm = LAT_NORM_MASS, .force = lat_opts.force};
        const int rc = lat_fields_read_as(r->sources, b, &h);
        if (rc == 0)
            return lat_fail("%s: expected a source for each solution, found %ld", source_file,
                            r->field);
        if (rc < 0)
            return -1;
        if (!lat_header_spinors(&b->head) || !lat_header_alike(&b->head, &x->head)
            || lat_header_objects(&b->head) != lat_header_objects(&x->head))
            return lat_fail("%s: field %ld: expected a source with the lattice and columns of the "
                            "solution, found %s",
                            source_file, r->field, lat_kind_text(b->head.kind));
        return 1;
    }
    if (lat_header_copy(&b->head, &x->head))
        return -1;
    b->head.real = LAT_F64;
    if (lat_field_alloc(b, x->comm))
        return -1;
    return make_source(r, source_text ? source_text : x->head.quark.source, b);
}

/* |M x| of each slice, all columns, for an equation without source. */
typedef struct away {
    int slice; /* left out */
    double *residual;
} away;

/* Where there is no source: |M x| away from the slice where it is largest, over |M x|. */
static int check_away(const lat_field *y, int columns, away *to)
{
    const size_t slices = (size_t)lat_slices(&y->head), own = (size_t)lat_field_slab(y).count;
    const size_t n = lat_header_full_reals(&y->head), sites = lat_slice_sites(&y->head);
    const size_t row = (size_t)columns * sizeof(double);
    double *sum = lat_alloc(own + slices, row, "residuals"), *all;
    if (!sum)
        return -1;
    memset(sum, 0, own * row);
    all = sum + own * (size_t)columns;
    for (size_t i = 0; i < own * sites * (size_t)columns; i++) {
        const double *v = (const double *)y->data + i * n;
        double *s = &sum[i / (sites * (size_t)columns) * (size_t)columns + i % (size_t)columns];
        for (size_t k = 0; k < n; k++)
            *s += v[k] * v[k];
    }
    const int rc = lat_field_gather(y, sum, row, all);
    double largest = -1;
    for (size_t t = 0; t < slices && rc == 0; t++) {
        double here = 0;
        for (int c = 0; c < columns; c++)
            here += all[t * (size_t)columns + (size_t)c];
        if (here > largest) {
            largest = here;
            to->slice = (int)t;
        }
    }
    for (int c = 0; c < columns && rc == 0; c++) {
        double total = 0, rest = 0;
        for (size_t t = 0; t < slices; t++) {
            total += all[t * (size_t)columns + (size_t)c];
            rest += (int)t == to->slice ? 0 : all[t * (size_t)columns + (size_t)c];
        }
        to->residual[c] = total > 0 ? sqrt(rest / total) : 0;
    }
    free(sum);
    return rc;
}

/* Do the options name an operator? */
static bool stated(void)
{
    return !identify && (lat_opt_given("kappa") || lat_opt_given("mass") || lat_opt_given("mu"));
}

/* The operator of the options where they name one, else that of the header. */
static int choose_fermion(const run *r, const lat_field *x, lat_fermion *f)
{
    *f = stated() ? r->fermion : x->head.quark.fermion;
    if (!lat_fermion_known(f))
        return lat_fail("%s: field %ld: the header names no operator: --kappa or --mass is needed",
                        name_of(r), r->field);
    if (lat_opt_given("operator") && is_overlap(f) != is_overlap(&r->fermion))
        return lat_fail("%s: field %ld: expected a solution of --operator %s, found one of %s",
                        name_of(r), r->field, r->fermion.name, f->name);
    return 0;
}

static int print_residuals(const run *r, const lat_field *x, int columns, const double *found,
                           int without)
{
    int worst = 0;
    if (r->field == 0)
        fprintf(r->text, "field\tcolumn\tresidual\tstated\tsource\n");
    for (int c = 0; c < columns; c++) {
        const double *stated = x->head.quark.residual;
        fprintf(r->text, "%ld\t%d\t%.6e\t", r->field, c, found[c]);
        if (stated)
            fprintf(r->text, "%.6e\t", stated[c]);
        else
            fprintf(r->text, "-\t");
        if (without < 0)
            fprintf(r->text, "all\n");
        else
            fprintf(r->text, "without slice %d\n", without);
        worst = found[c] > found[worst] || found[c] != found[c] ? c : worst;
    }
    if (found[worst] <= residual)
        return LAT_DONE;
    lat_fail("%s: field %ld: expected residuals below %.3g, found %.3g in column %d", name_of(r),
             r->field, residual, found[worst], worst);
    return LAT_UNCONVERGED;
}

/* The residuals of x; *without is the slice that is left out where the source is not known, else
 * -1. */
static int find_residuals(run *r, lat_field *x, const lat_fermion *f, double *found, int *without)
{
    int list[LAT_MAX_COLUMNS];
    lat_field b = {.data = NULL};
    const int n = all_columns(x, list);
    const bool overlap = is_overlap(f);
    const lat_field *links = links_for(r, x);
    lat_plain *m = links && !overlap ? lat_plain_new(links, f) : NULL;
    const int has = links && (m || overlap) ? find_source(r, x, &b) : -1;
    int rc = has < 0 ? -1 : 0;
    *without = -1;
    if (has == 0 && overlap)
        rc = lat_fail("%s: field %ld: expected the source of an overlap propagator, found none in "
                      "the header: --source or --source-file is needed",
                      name_of(r), r->field);
    else if (has == 1)
        rc = overlap ? check_overlap(r, x, f, &b, found)
                     : lat_plain_residual(m, x, &b, n, list, found);
    if (has == 0 && !overlap) {
        away to = {.residual = found};
        rc = lat_plain_apply(m, false, x, n, list, &b) || check_away(&b, n, &to);
        *without = to.slice;
    }
    lat_plain_free(m);
    lat_field_free(&b);
    return rc ? -1 : 0;
}

static bool all_good(int columns, const double *found)
{
    for (int c = 0; c < columns; c++)
        if (!(found[c] <= residual))
            return false;
    return true;
}

static int check_one(run *r, lat_field *x)
{
    int without;
    double found[LAT_MAX_COLUMNS];
    const int n = (int)lat_header_objects(&x->head);
    lat_fermion f;
    r->config = r->links.number - 1;
    if (choose_fermion(r, x, &f) || lat_field_exchange(x)
        || find_residuals(r, x, &f, found, &without))
        return LAT_FAILED;
    if (r->counted && r->config > 0 && !all_good(n, found)) { /* of links in a file of their own */
        r->config = 0;
        if (find_residuals(r, x, &f, found, &without))
            return LAT_FAILED;
    }
    return print_residuals(r, x, n, found, without);
}

/* ---- identifying ----------------------------------------------------------------------------- */

/* The largest number of M x in the first column, where it is, and how many sites have a tenth of
 * it. For a rank alone with the slice. */
static int print_source(run *r, lat_field *x, const lat_identified *k)
{
    const size_t objects = lat_header_objects(&x->head);
    const size_t n = lat_header_full_reals(&x->head);
    const int zero = 0;
    lat_field rotated = {.data = NULL}, b = {.data = NULL};
    double largest = 0;
    size_t where = 0, sites = 0;
    int rc = lat_header_copy(&rotated.head, &x->head) || lat_header_copy(&b.head, &x->head);
    rotated.head.real = b.head.real = LAT_F64;
    rc = rc || lat_field_alloc(&rotated, x->comm) || lat_field_alloc(&b, x->comm);
    for (size_t i = 0; rc == 0 && i < lat_field_matrices(x); i++) {
        double *psi = (double *)rotated.data + i * n;
        lat_field_get(x, i, psi);
        lat_basis_spinor(k->basis, false, x->head.nc, psi);
    }
    lat_plain *m = rc ? NULL : lat_plain_new(&r->links.u, &k->fermion);
    rc = !m || lat_field_exchange(&rotated) || lat_plain_apply(m, false, &rotated, 1, &zero, &b);
    lat_plain_free(m);
    for (int pass = 0; pass < 2 && rc == 0; pass++)
        for (size_t i = 0; i < lat_field_sites(&b); i++) {
            double square = 0;
            for (size_t e = 0; e < n; e++) {
                const double v = ((double *)b.data)[i * objects * n + e];
                square += v * v;
            }
            if (pass == 0 && square > largest) {
                largest = square;
                where = i;
            }
            sites += pass == 1 && square > .01 * largest;
        }
    if (rc == 0) {
        int at[LAT_MAX_DIMS];
        const double norm = sqrt(largest), kappa = lat_kappa_of_mass(k->fermion.mass);
        lat_coordinates(&x->head.geom, where, at);
        fprintf(r->text, "source      column 0: %.8g at %d,%d,%d,%d, %zu sites above a tenth\n",
                norm, at[0], at[1], at[2], at[3], sites);
        if (fabs(norm * 2 * kappa - 1) < 1e-3)
            fprintf(r->text, "norm        1/(2 kappa): the field is the solution / (2 kappa)\n");
        else if (fabs(norm - 1) < 1e-3)
            fprintf(r->text, "norm        1\n");
    }
    lat_field_free(&rotated);
    lat_field_free(&b);
    return rc ? -1 : 0;
}

static int identify_one(run *r, lat_field *x)
{
    lat_identified list[LAT_MOST_BASES];
    char boundary[LAT_BOUNDARY_TEXT];
    if (lat_opts.comm->size > 1)
        return lat_fail("--identify runs on one rank");
    if (lat_field_exchange(x))
        return -1;
    const int n = lat_identify(&r->links.u, x, list);
    if (n < 0)
        return -1;
    const lat_identified *k = &list[0];
    if (!(k->residual < .05))
        return lat_fail("%s: field %ld: expected a Wilson operator that it solves away from one "
                        "slice, found none: the best fit (%s) has residual %.2g",
                        name_of(r), r->field, k->basis->name, k->residual);
    fprintf(r->text, "field       %ld\nbasis       %s (%s)", r->field, k->basis->name,
            k->basis->whose);
    for (int i = 1; i < n; i++)
        if (list[i].residual < 2 * k->residual)
            fprintf(r->text, ", or %s", list[i].basis->name);
    fprintf(r->text, "\nmass        %.8g\nkappa       %.8g\n", k->fermion.mass,
            lat_kappa_of_mass(k->fermion.mass));
    if (k->determined[LAT_FIT_CSW] || k->determined[LAT_FIT_CSW_T])
        fprintf(r->text, "csw         %.8g\ncsw_t       %.8g\n", k->fermion.csw, k->fermion.csw_t);
    else
        fprintf(r->text, "csw         not determined: these links have no field strength\n");
    fprintf(r->text, "twist       %.8g\nnu/xi       %.8g\nboundary    %s\n", k->fermion.twist,
            1 / k->fermion.xi, lat_boundary_text(k->fermion.boundary, boundary));
    fprintf(r->text, "residual    %.3g of the fit; the next basis, %s, %.3g\n", k->residual,
            list[1].basis->name, list[1].residual);
    fprintf(r->text, "slice       %d has the source\n", k->slice);
    return print_source(r, x, k);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The links of x, which are in the gauge that was asked for. */
static int find_links(run *r, const lat_field *x)
{
    const long before = r->links.number;
    if (!lat_header_spinors(&x->head))
        return lat_fail("%s: field %ld: expected spinors, found %s", name_of(r), r->field,
                        lat_kind_text(x->head.kind));
    if (x->head.kind == LAT_MODES && apply < 0)
        return lat_fail("%s: field %ld: expected solutions, found a field of modes", name_of(r),
                        r->field);
    if (lat_links_find(&r->links, &x->head, false, name_of(r), r->field))
        return -1;
    if (r->links.number == before)
        return 0;
    return lat_fermion_check_gauge(&r->links.u.head, gauge_file)
                   || ((apply >= 0 || stated())
                       && lat_fermion_check_links(&r->fermion, &r->links.u.head, gauge_file))
               ? -1
               : 0;
}

/* What M^-1 is divided by in the file of another program is unknown to --identify. */
static int read_field(run *r, lat_field *x)
{
    const lat_quark_hints h = {.kappa = lat_opt_given("kappa") ? lat_fermion_opts.kappa : NAN,
                               .norm = identify ? LAT_NORM_MASS : LAT_NORM_FORMAT,
                               .force = lat_opts.force};
    return lat_fields_read_as(r->in, x, &h);
}

/* Sources of --source-file for which there was no solution? 0, or -1. */
static int surplus(run *r)
{
    const int more = r->sources ? lat_fields_more(r->sources) : 0;
    return more > 0 ? lat_fail("%s: expected as many sources as solutions, %ld, found more",
                               source_file, r->field)
                    : more;
}

static int each(run *r)
{
    int rc, code = LAT_DONE;
    for (; code == LAT_DONE || code == LAT_UNCONVERGED; r->field++) {
        lat_field x;
        if ((rc = read_field(r, &x)) <= 0)
            return rc < 0 || surplus(r) ? LAT_FAILED : code;
        int now = LAT_FAILED;
        if (find_links(r, &x) == 0)
            now = check      ? check_one(r, &x)
                  : identify ? (identify_one(r, &x) ? LAT_FAILED : LAT_DONE)
                             : apply_one(r, &x);
        code = now == LAT_DONE ? code : now;
        lat_field_free(&x);
    }
    return code;
}

/* The operator comes from options or from the header, not from a mixture. */
static void check_operator(void)
{
    if (identify && lat_opt_given("kappa"))
        lat_usage("--identify finds the operator: expected no --kappa");
    static const char *const names[] = {"csw",      "csw-t", "xi",   "nu", "twist",
                                        "boundary", "m0",    "mass", "mu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lat_opt_given(names[i]) && !stated())
            lat_usage(identify ? "--identify finds the operator: expected no --%s"
                               : "--%s: expected --kappa or --mass with it, because without them "
                                 "the operator of the header is used",
                      names[i]);
}

static void check_usage(run *r)
{
    if ((apply >= 0) + check + identify != 1)
        lat_usage("expected one of --apply, --check and --identify");
    if (!gauge_file)
        lat_usage("--gauge-file is needed: the links");
    if ((source_file || source_text) && !check)
        lat_usage("--source and --source-file are for --check");
    if (lat_opt_given("code") && apply < 0)
        lat_usage("--code is for --apply");
    lat_smear s;
    if (smear_text && lat_smear_parse(smear_text, &s))
        lat_usage("--smear-links: %s", lat_error());
    if (smear_text && identify)
        lat_usage("--smear-links is for --apply and --check");
    lat_usage_if_stdin_twice((const char *const[]){gauge_file, source_file, lat_overlap_opts.modes},
                             3);
    if (source_file && source_text)
        lat_usage("--source and --source-file exclude each other");
    if (lat_opt_given("even-odd") && apply != SCHUR)
        lat_usage("--even-odd is for --apply schur");
    if (code_of == PLAIN && apply > M_DAGGER)
        lat_usage("--code plain applies M and Mdag alone");
    if (check || identify)
        check_operator();
    lat_operator_of_options(&r->fermion, check || identify || apply == SIGN);
    const bool overlap = is_overlap(&r->fermion);
    if (lat_opt_given("residual") && !check && !overlap) /* whose accuracy follows it */
        lat_usage("--residual is for --check");
    if (apply == SIGN && !overlap)
        lat_usage("--apply sign is for --operator overlap");
    if (overlap && (identify || (apply > GAMMA5 && apply != SIGN)))
        lat_usage("--operator overlap is for --check and --apply M, Mdag, MdagM, g5M and sign");
    if (overlap && code_of == PLAIN && apply != M)
        lat_usage("--code plain applies M of the overlap operator alone");
}

static int open_all(run *r)
{
    const lat_comm *comm = lat_opts.comm;
    const lat_device_options device = {.choice = LAT_DEVICE_CPU};
    const unsigned flags = lat_output_flags() | (apply >= 0 ? LAT_OUTPUT_OTHER : LAT_OUTPUT_TEXT);
    if (!(r->in = lat_input_open(lat_opts.input, comm))
        || !(r->links.in = lat_input_open(gauge_file, comm))
        || (source_file && !(r->sources = lat_input_open(source_file, comm)))
        || lat_overlap_known_open(&r->known, comm)
        || !(r->out = lat_output_open(lat_opts.output, flags, comm))
        || (apply < 0 && !(r->text = lat_text_open(r->out)))
        || !(r->device = lat_device_open(&device, comm)))
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    run r = {.field = 0};
    lat_options_parse(&tool, argc, argv);
    check_usage(&r);
    int code = open_all(&r) ? LAT_FAILED : each(&r);
    lat_links_free(&r.links);
    lat_device_close(r.device);
    lat_device_end();
    lat_input_close(r.in);
    lat_input_close(r.sources);
    lat_overlap_known_close(&r.known);
    if (r.text) { /* what was measured is printed, whatever it says */
        if (code == LAT_FAILED) {
            fclose(r.text);
            lat_output_abort(r.out);
        } else if (lat_text_close(r.text, r.out)) {
            code = LAT_FAILED;
        }
    } else if (code != LAT_DONE) {
        lat_output_abort(r.out);
    } else if (lat_stream_commit(r.out)) {
        code = LAT_FAILED;
    }
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
