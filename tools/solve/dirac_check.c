/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_check.c: residuals of solutions. */
#include "dirac_run.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "certify/slices.h"
#include "quark/source.h"

/* The columns of x by the name of their source: `field` of s, and `column` or all. */
static int fill_source(lat_dirac_tool_run *r, lat_source *s, int field, int column, lat_field *b)
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
static int make_source(lat_dirac_tool_run *r, const char *text, lat_field *b)
{
    int field, column;
    lat_source *s = text ? lat_source_named(text, &r->links.u.head, &field, &column) : NULL;
    const size_t columns = !s ? 0 : column < 0 ? (size_t)lat_source_columns(s) : 1;
    int rc = 0;
    r->counted = s && lat_source_counts(s);
    if (s && columns == lat_header_objects(&b->head))
        rc = fill_source(r, s, field, column, b) ? -1 : 1;
    else if (s && r->o.source_text)
        rc = lat_fail("--source %s: expected one of %zu columns, as the solution has, found %zu",
                      text, lat_header_objects(&b->head), columns);
    else if (r->o.source_text)
        rc = -1;
    else
        lat_error_clear();
    lat_source_free(s);
    return rc;
}

/* The source of x: 1, 0 where there is none, or -1. */
static int find_source(lat_dirac_tool_run *r, const lat_field *x, lat_field *b)
{
    *b = (lat_field){.comm = x->comm};
    r->counted = false;
    if (r->sources) {
        const lat_quark_hints h = {.kappa = NAN, .norm = LAT_NORM_MASS, .force = lat_opts.force};
        const int rc = lat_fields_read_as(r->sources, b, &h);
        if (rc == 0)
            return lat_fail("%s: expected a source for each solution, found %ld", r->o.source_file,
                            r->field);
        if (rc < 0)
            return -1;
        if (!lat_header_spinors(&b->head) || !lat_header_alike(&b->head, &x->head)
            || lat_header_objects(&b->head) != lat_header_objects(&x->head))
            return lat_fail("%s: field %ld: expected a source with the lattice and columns of the "
                            "solution, found %s",
                            r->o.source_file, r->field, lat_kind_text(b->head.kind));
        return 1;
    }
    if (lat_header_copy(&b->head, &x->head))
        return -1;
    b->head.real = LAT_F64;
    if (lat_field_alloc(b, x->comm))
        return -1;
    return make_source(r, r->o.source_text ? r->o.source_text : x->head.quark.source, b);
}

/* Where there is no source: |M x| away from the slice where it is largest, over |M x|. Returns that
 * slice, or -1. */
static int check_away(const lat_field *y, int columns, double *residual)
{
    const int slices = lat_slices(&y->head);
    double *norm = lat_alloc((size_t)slices * (size_t)columns, sizeof *norm, "residuals");
    double largest = -1;
    int slice = -1;
    if (!norm || lat_slice_norms(y, norm)) {
        free(norm);
        return -1;
    }
    for (int t = 0; t < slices; t++) {
        double here = 0;
        for (int c = 0; c < columns; c++)
            here = hypot(here, norm[t * columns + c]);
        if (here > largest) {
            largest = here;
            slice = t;
        }
    }
    for (int c = 0; c < columns; c++) {
        double rest = 0;
        for (int t = 0; t < slices; t++)
            rest = t == slice ? rest : hypot(rest, norm[t * columns + c]);
        const double total = hypot(rest, norm[slice * columns + c]);
        residual[c] = total > 0 ? rest / total : 0;
    }
    free(norm);
    return slice;
}

bool lat_dirac_tool_stated(const lat_dirac_tool_run *r)
{
    return !r->o.identify
           && (lat_opt_given("kappa") || lat_opt_given("mass") || lat_opt_given("mu"));
}

/* The operator of the options where they name one, else that of the header. */
static int choose_fermion(const lat_dirac_tool_run *r, const lat_field *x, lat_fermion *f)
{
    *f = lat_dirac_tool_stated(r) ? r->fermion : x->head.quark.fermion;
    if (!lat_fermion_known(f))
        return lat_fail("%s: field %ld: the header names no operator: --kappa or --mass is needed",
                        lat_dirac_tool_name(r), r->field);
    if (lat_opt_given("operator")
        && lat_dirac_tool_overlap(f) != lat_dirac_tool_overlap(&r->fermion))
        return lat_fail("%s: field %ld: expected a solution of --operator %s, found one of %s",
                        lat_dirac_tool_name(r), r->field, r->fermion.name, f->name);
    return 0;
}

static int print_residuals(const lat_dirac_tool_run *r, const lat_field *x, int columns,
                           const double *found, int without)
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
    if (found[worst] <= r->o.residual)
        return LAT_DONE;
    lat_fail("%s: field %ld: expected residuals below %.3g, found %.3g in column %d",
             lat_dirac_tool_name(r), r->field, r->o.residual, found[worst], worst);
    return LAT_UNCONVERGED;
}

/* |x| and |b - M x| of each slice and column to r->norms. `b` is NULL where it is not known. */
static int find_slices(lat_dirac_tool_run *r, lat_plain *m, const lat_field *x, const lat_field *b)
{
    const int n = (int)lat_header_objects(&x->head);
    const size_t numbers = (size_t)lat_slices(&x->head) * (size_t)n;
    lat_field exact = {.data = NULL}, y = {.data = NULL};
    free(r->norms);
    r->norms = lat_alloc(2 * numbers, sizeof *r->norms, "norms");
    int rc = !r->norms || lat_field_duplicate(x, &exact) || lat_field_convert(&exact, LAT_F64)
             || lat_field_spinors(&y, x, x->head.kind, n);
    rc = rc
         || (b ? lat_slice_remainder(m, &exact, b, n, lat_dirac_tool_column, &y)
               : lat_plain_apply(m, false, &exact, n, lat_dirac_tool_column, &y))
         || lat_slice_norms(&exact, r->norms) || lat_slice_norms(&y, r->norms + numbers);
    lat_field_free(&exact);
    lat_field_free(&y);
    return rc ? -1 : 0;
}

/* A row for each column and slice but `without`, which has the source: |b - M x|/|x| there, and
 * |x| over the whole. */
static int print_slices(const lat_dirac_tool_run *r, const lat_field *x, int n, int without)
{
    const int slices = lat_slices(&x->head);
    const double *of_x = r->norms, *rest = of_x + (size_t)slices * (size_t)n;
    double worst = 0;
    int of_worst = 0;
    if (r->field == 0)
        fprintf(r->text, "field\tcolumn\tslice\tresidual\tnorm\n");
    for (int c = 0; c < n; c++) {
        double whole = 0;
        for (int t = 0; t < slices; t++)
            whole = hypot(whole, of_x[t * n + c]);
        for (int t = 0; t < slices; t++) {
            const int i = t * n + c;
            const double residual = lat_slice_residual(rest[i], of_x[i]);
            if (t == without)
                continue;
            fprintf(r->text, "%ld\t%d\t%d\t%.6e\t%.6e\n", r->field, c, t, residual,
                    whole > 0 ? of_x[i] / whole : 0);
            if (!(residual <= worst)) {
                worst = residual;
                of_worst = i;
            }
        }
    }
    if (worst <= r->o.slices)
        return LAT_DONE;
    lat_fail("%s: field %ld: expected residuals of time slices below %.3g, found %.3g in column %d "
             "on slice %d",
             lat_dirac_tool_name(r), r->field, r->o.slices, worst, of_worst % n, of_worst / n);
    return LAT_UNCONVERGED;
}

/* The residuals of x; *without is the slice that is left out where the source is not known, else
 * -1. */
static int find_residuals(lat_dirac_tool_run *r, lat_field *x, const lat_fermion *f, double *found,
                          int *without)
{
    lat_field b = {.data = NULL};
    const int n = (int)lat_header_objects(&x->head);
    const bool overlap = lat_dirac_tool_overlap(f);
    if (overlap && r->o.slices > 0)
        return lat_fail("%s: field %ld: expected no overlap propagator with --residual-slices: its "
                        "operator joins all slices",
                        lat_dirac_tool_name(r), r->field);
    const lat_field *links = lat_dirac_tool_links(r, x);
    lat_plain *m = links && !overlap ? lat_plain_new(links, f) : NULL;
    const int has = links && (m || overlap) ? find_source(r, x, &b) : -1;
    int rc = has < 0 ? -1 : 0;
    *without = -1;
    if (has == 0 && overlap)
        rc = lat_fail("%s: field %ld: expected the source of an overlap propagator, found none in "
                      "the header: --source or --source-file is needed",
                      lat_dirac_tool_name(r), r->field);
    else if (has == 1)
        rc = overlap ? lat_dirac_tool_check_overlap(r, x, f, &b, found)
                     : lat_plain_residual(m, x, &b, n, lat_dirac_tool_column, found);
    if (has == 0 && !overlap)
        rc = lat_plain_apply(m, false, x, n, lat_dirac_tool_column, &b)
             || (*without = check_away(&b, n, found)) < 0;
    if (rc == 0 && r->o.slices > 0)
        rc = find_slices(r, m, x, has == 1 ? &b : NULL);
    lat_plain_free(m);
    lat_field_free(&b);
    return rc ? -1 : 0;
}

static bool all_good(const lat_dirac_tool_run *r, int columns, const double *found)
{
    for (int c = 0; c < columns; c++)
        if (!(found[c] <= r->o.residual))
            return false;
    return true;
}

int lat_dirac_tool_check_one(lat_dirac_tool_run *r, lat_field *x)
{
    int without;
    double found[LAT_MAX_COLUMNS];
    const int n = (int)lat_header_objects(&x->head);
    lat_fermion f;
    r->config = r->links.number - 1;
    if (choose_fermion(r, x, &f) || lat_field_exchange(x)
        || find_residuals(r, x, &f, found, &without))
        return LAT_FAILED;
    if (r->counted && r->config > 0
        && !all_good(r, n, found)) { /* of links in a file of their own */
        r->config = 0;
        if (find_residuals(r, x, &f, found, &without))
            return LAT_FAILED;
    }
    return r->o.slices > 0 ? print_slices(r, x, n, without)
                           : print_residuals(r, x, n, found, without);
}
