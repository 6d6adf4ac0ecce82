/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_identify.c: the operator of a solution of unknown origin. */
#include "dirac_run.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "common/options.h"
#include "certify/identify.h"
#include "certify/plain.h"

/* The largest number of M x in the first column, where it is, and how many sites have a tenth of
 * it. For a rank alone with the slice. */
static int print_source(lat_dirac_tool_run *r, lat_field *x, const lat_identified *k)
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

int lat_dirac_tool_identify_one(lat_dirac_tool_run *r, lat_field *x)
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
        return lat_fail(
            "%s: field %ld: expected a Wilson operator that it solves away from one "
            "slice, found none: the best fit (%s) has residual %.2g (boundary angles that are "
            "spread over the links are taken off by lat-convert --spread)",
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
    fprintf(r->text, "residual    %.3g of the fit; the next basis, %s, %.3g\n", k->residual,
            list[1].basis->name, list[1].residual);
    fprintf(r->text, "slice       %d has the source\n", k->slice);
    return print_source(r, x, k);
}
