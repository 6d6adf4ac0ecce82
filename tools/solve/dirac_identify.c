/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_identify.c: the operator of a solution of unknown origin. */
#include "dirac_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "common/options.h"
#include "certify/identify.h"
#include "certify/plain.h"
#include "formats/quarks.h"
#include "run/common/tool.h"
#include "run/quark/fermion_options.h"
#include "smear/smear.h"
#include "stream/stream.h"

/* What is found about the source of a solution. */
typedef struct origin {
    int at[LAT_MAX_DIMS];   /* where M x of column 0 is largest, */
    double norm;            /* how large, */
    size_t sites;           /* and how many sites have a tenth of it */
    bool kappa;             /* x is the solution / (2 kappa) */
    const lat_basis *basis; /* the columns are the unit vectors of this basis there; or NULL */
    int column;             /* of a spinor: which one */
} origin;

/* x as we have solutions: its sinks in our basis, nothing spread over the links, phases 1 at `at`.
 * A field without a source. */
static int in_our_terms(lat_dirac_tool_run *r, const lat_field *x, const lat_identified *k,
                        const int at[LAT_MAX_DIMS], lat_field *y)
{
    char place[64];
    double spread = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        spread = fmax(spread, fabs(k->spread[mu]));
    snprintf(place, sizeof place, "point:%d,%d,%d,%d", at[0], at[1], at[2], at[3]);
    const lat_quark_hints h = {.boundary = k->fermion.boundary,
                               .source = place,
                               .spread = spread > 0 ? k->spread : NULL,
                               .kappa = NAN};
    if (lat_field_duplicate(x, y) || lat_field_convert(y, LAT_F64))
        return -1;
    for (size_t i = 0; i < lat_field_matrices(y); i++)
        lat_basis_spinor(k->basis, false, y->head.nc,
                         (double *)y->data + i * lat_header_full_reals(&y->head));
    const char *smearing = lat_info_get(&x->head, LAT_SMEARED_LINKS);
    lat_header_no_operator(&y->head);
    if (lat_quark_set_source(&y->head.quark, NULL) || lat_quark_set_residuals(&y->head.quark, NULL)
        || lat_quarks_state(lat_dirac_tool_name(r), y, &h)
        || lat_quark_set_source(&y->head.quark, NULL))
        return -1;
    lat_header_of_links(&y->head, &r->links.u.head, &k->fermion);
    return smearing ? lat_info_set(&y->head, LAT_SMEARED_LINKS, smearing) : 0;
}

/* b = M y of all columns. */
static int multiply(lat_dirac_tool_run *r, const lat_identified *k, lat_field *y, lat_field *b)
{
    const int n = (int)lat_header_objects(&y->head);
    lat_plain *m = lat_plain_new(lat_dirac_tool_links(r, y), &k->fermion);
    const int rc = !m || lat_field_exchange(y) || lat_field_spinors(b, y, y->head.kind, n)
                           || lat_plain_apply(m, false, y, n, lat_dirac_tool_column, b)
                       ? -1
                       : 0;
    lat_plain_free(m);
    return rc;
}

/* Of column 0 of b: where it is. */
static void find_place(const lat_field *b, origin *o)
{
    const size_t row = lat_header_objects(&b->head) * lat_header_full_reals(&b->head);
    double largest = 0;
    size_t where = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < lat_field_sites(b); i++) {
            const double *v = (const double *)b->data + i * row;
            double square = 0;
            for (size_t e = 0; e < lat_header_full_reals(&b->head); e++)
                square += v[e] * v[e];
            if (pass == 0 && square > largest) {
                largest = square;
                where = i;
            }
            o->sites += pass == 1 && square > .01 * largest;
        }
    o->norm = sqrt(largest);
    lat_coordinates(&b->head.geom, where, o->at);
}

/* Is v, of so many spinors side by side, the unit matrix to 1e-3 of `norm`, from column `first` on?
 */
static bool is_unit(const double *v, size_t columns, size_t reals, double norm, size_t first)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t e = 0; e < reals; e++) {
            const double unit = e == 2 * (c + first) ? norm : 0;
            if (!(fabs(v[c * reals + e] - unit) < 1e-3 * norm))
                return false;
        }
    return true;
}

/* Are the columns unit vectors at the place, and of which basis? */
static void find_columns(const lat_field *b, origin *o)
{
    const size_t columns = lat_header_objects(&b->head), n = lat_header_full_reals(&b->head);
    const double *at = (const double *)b->data + lat_site(&b->head.geom, o->at) * columns * n;
    double s[32 * LAT_MAX_COLOURS * LAT_MAX_COLOURS];
    const double norm = o->kappa ? o->norm : 1;
    o->basis = NULL;
    for (const lat_basis *k = lat_bases; o->sites == 1 && b->head.kind == LAT_PROPAGATOR && k->name;
         k++) {
        memcpy(s, at, columns * n * sizeof *s);
        lat_basis_source(k, false, b->head.nc, s);
        if (is_unit(s, columns, n, norm, 0)) {
            o->basis = k;
            return;
        }
    }
    for (size_t c = 0; o->sites == 1 && b->head.kind == LAT_SPINOR && c < n / 2; c++)
        if (is_unit(at, 1, n, norm, c)) {
            o->basis = lat_basis_find(LAT_BASIS);
            o->column = (int)c;
        }
}

/* Where M x is, and y, which is x in our terms. */
static int find_origin(lat_dirac_tool_run *r, const lat_field *x, const lat_identified *k,
                       origin *o, lat_field *y)
{
    static const int zero[LAT_MAX_DIMS] = {0};
    for (int pass = 0; pass < 2; pass++) { /* the second one: with phases from that place on */
        lat_field b = {.data = NULL};
        lat_field_free(y);
        int rc = in_our_terms(r, x, k, pass ? o->at : zero, y) || multiply(r, k, y, &b);
        if (rc == 0) {
            *o = (origin){.basis = NULL};
            find_place(&b, o);
            o->kappa = fabs(o->norm * 2 * lat_kappa_of_mass(k->fermion.mass) - 1) < 1e-3;
            find_columns(&b, o);
        }
        lat_field_free(&b);
        if (rc)
            return -1;
    }
    return 0;
}

static void print_origin(const lat_dirac_tool_run *r, const origin *o)
{
    fprintf(r->text, "source      column 0: %.8g at %d,%d,%d,%d, %zu sites above a tenth\n",
            o->norm, o->at[0], o->at[1], o->at[2], o->at[3], o->sites);
    if (o->basis)
        fprintf(r->text, "columns     unit vectors of %s\n", o->basis->name);
    if (o->kappa)
        fprintf(r->text, "norm        1/(2 kappa): the field is the solution / (2 kappa)\n");
    else if (fabs(o->norm - 1) < 1e-3)
        fprintf(r->text, "norm        1\n");
}

/* The point source of y, and the residuals of its columns. */
static int state_point(lat_dirac_tool_run *r, const lat_identified *k, const origin *o,
                       lat_field *y)
{
    double residual[LAT_MAX_COLUMNS];
    char text[96], column[24] = "";
    const int n = (int)lat_header_objects(&y->head);
    const size_t reals = lat_header_full_reals(&y->head);
    lat_field b = {.data = NULL};
    lat_plain *m = lat_plain_new(lat_dirac_tool_links(r, y), &k->fermion);
    if (y->head.kind == LAT_SPINOR)
        snprintf(column, sizeof column, ", column %d", o->column);
    snprintf(text, sizeof text, "point:%d,%d,%d,%d%s", o->at[0], o->at[1], o->at[2], o->at[3],
             column);
    int rc = !m || lat_field_spinors(&b, y, y->head.kind, n);
    if (rc == 0) {
        double *at = (double *)b.data + lat_site(&y->head.geom, o->at) * (size_t)n * reals;
        memset(b.data, 0, lat_field_reals(&b) * sizeof(double));
        for (int c = 0; c < n; c++)
            at[(size_t)c * reals + 2 * (size_t)(c + o->column)] = 1;
        rc = lat_field_exchange(y)
             || lat_plain_residual(m, y, &b, n, lat_dirac_tool_column, residual)
             || lat_quark_set_source(&y->head.quark, text)
             || lat_quark_set_residuals(&y->head.quark, residual);
    }
    lat_plain_free(m);
    lat_field_free(&b);
    return rc ? -1 : 0;
}

/* Writes y with what is found in its header. */
static int save(lat_dirac_tool_run *r, const lat_identified *k, const origin *o, lat_field *y)
{
    char text[LAT_FERMION_TEXT];
    const double scale = o->kappa ? 2 * lat_kappa_of_mass(k->fermion.mass) : 1;
    double *v = y->data;
    if (o->basis && y->head.kind == LAT_PROPAGATOR)
        lat_quarks_source_basis(y, o->basis);
    for (size_t i = 0; i < lat_field_reals(y); i++)
        v[i] *= scale;
    if (!o->basis)
        lat_warn("%s: field %ld: its source is no point with the unit vectors of a basis: %s has "
                 "the operator, and no source",
                 lat_dirac_tool_name(r), r->field, r->o.save);
    return lat_rc((o->basis && state_point(r, k, o, y))
                  || lat_provenance(&y->head, "identified as %s, basis %s%s",
                                    lat_fermion_text(&k->fermion, text), k->basis->name,
                                    o->kappa ? ", times 2 kappa" : "")
                  || lat_stream_write(r->saved, y, lat_opts.store));
}

static void print_spread(const lat_dirac_tool_run *r, const lat_identified *k)
{
    double most = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        most = fmax(most, fabs(k->spread[mu]));
    if (most > 0)
        fprintf(r->text, "spread      %.8g,%.8g,%.8g,%.8g of it are in all links of an axis\n",
                k->spread[0], k->spread[1], k->spread[2], k->spread[3]);
}

int lat_dirac_tool_identify_one(lat_dirac_tool_run *r, lat_field *x)
{
    lat_identified list[LAT_MOST_BASES];
    char boundary[LAT_BOUNDARY_TEXT];
    if (lat_opts.comm->size > 1)
        return lat_fail("--identify runs on one rank, found %d: use -n 1", lat_opts.comm->size);
    if (lat_field_exchange(x))
        return -1;
    const lat_field *links = lat_dirac_tool_links(r, x);
    const int n = links ? lat_identify(links, x, list) : -1;
    if (n < 0)
        return -1;
    const lat_identified *k = &list[0];
    if (!(k->residual < .05))
        return lat_fail("%s: field %ld: expected a Wilson operator that it solves away from one "
                        "slice, found none: the best fit (%s) has residual %.2g",
                        lat_dirac_tool_name(r), r->field, k->basis->name, k->residual);
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
    if (k->determined[LAT_FIT_EDGE])
        fprintf(r->text, "c_F         %.8g\n", k->fermion.cf);
    print_spread(r, k);
    fprintf(r->text, "residual    %.3g of the fit; the next basis, %s, %.3g\n", k->residual,
            list[1].basis->name, list[1].residual);
    fprintf(r->text, "slice       %d has the source\n", k->slice);
    lat_field y = {.data = NULL};
    origin o = {.basis = NULL};
    int rc = find_origin(r, x, k, &o, &y);
    if (rc == 0)
        print_origin(r, &o);
    if (rc == 0 && r->saved)
        rc = save(r, k, &o, &y);
    lat_field_free(&y);
    return rc;
}
