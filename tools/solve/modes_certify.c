/* SPDX-License-Identifier: BSD-3-Clause */
/* modes_certify.c: residuals, gaps and chiralities of modes, by the plain operator. */
#include "modes_run.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "certify/plain.h"

static int new_modes(const lat_modes_tool_run *r, int columns, lat_field *f)
{
    return lat_field_spinors(f, &r->links.u, LAT_MODES, columns);
}

/* Columns 0 .. of y become those of x from `first` on, or gamma5 times them, each times its value
 * if there are values. y may be x. */
static void copy_columns(const lat_field *x, int first, int columns, bool gamma5,
                         const double *value, lat_field *y)
{
    const size_t n = lat_header_full_reals(&x->head), all = lat_header_objects(&x->head),
                 most = lat_header_objects(&y->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(x); i++)
        for (size_t c = 0; c < (size_t)columns; c++) {
            const double *from = (const double *)x->data + (i * all + (size_t)first + c) * n;
            double *to = (double *)y->data + (i * most + c) * n;
            const double upper = value ? value[c] : 1, lower = gamma5 ? -upper : upper;
            for (size_t k = 0; k < n; k++)
                to[k] = (k < n / 2 ? upper : lower) * from[k];
        }
}

/* x = v on odd sites, A_ee^-1 D_eo v/2 on even ones, which the operators of the search compute:
 * then M x is 0 on even sites and S v on odd ones. */
static int complete(lat_modes_tool_run *r, int first, int columns, lat_field *x)
{
    const lat_part odd = {LAT_ODD, 1, lat_column_numbers};
    lat_space *s = r->exact.one;
    lat_dfield *y = lat_vector_new(s, "a mode on all sites"), *b = lat_vector_new(s, "zeros");
    int rc = y && b ? 0 : -1;
    for (int k = 0; k < columns && rc == 0; k++)
        rc = lat_rc(s->ops->copy(s, &odd, r->modes.vector[first + k], y)
                    || r->exact.d->ops->reconstruct(r->exact.d, &odd, y, b)
                    || lat_spinor_get(s, y, 0, x, k));
    lat_dfield_free(y);
    lat_dfield_free(b);
    return rc;
}

/* What certifies, of a few modes at a time. */
enum { CERTIFIED = 8 };
typedef struct certificate {
    lat_plain *m, *adjoint; /* adjoint: of M^+ M, gamma5 M^+ gamma5 */
    lat_field v, x, b;      /* x: M' x is to be b; v: modes, where x is made of them */
} certificate;

/* Sets x of modes from `first` on, with its ghosts. */
static int set_x(lat_modes_tool_run *r, certificate *z, int first, int columns)
{
    lat_field *v = z->adjoint ? &z->v : &z->x;
    if (r->o.matrix == LAT_MODES_OF_G5S)
        return complete(r, first, columns, &z->x) || lat_field_exchange(&z->x) ? -1 : 0;
    copy_columns(&r->v, first, columns, false, NULL, v);
    if (lat_field_exchange(v))
        return -1;
    if (!z->adjoint)
        return 0;
    if (lat_plain_apply(z->m, false, v, columns, lat_column_numbers, &z->x))
        return -1;
    copy_columns(&z->x, 0, columns, true, NULL, &z->x);
    return lat_field_exchange(&z->x);
}

static int certify_some(lat_modes_tool_run *r, certificate *z, int first, int columns)
{
    const double *value = r->modes.value + first;
    double *found = r->residual + first;
    if (set_x(r, z, first, columns))
        return -1;
    copy_columns(&r->v, first, columns, true, value, &z->b);
    if (lat_plain_residual(z->adjoint ? z->adjoint : z->m, &z->x, &z->b, columns,
                           lat_column_numbers, found))
        return -1;
    for (int k = 0; k < columns; k++) /* was relative to |value v| */
        found[k] *= fabs(value[k]);
    return 0;
}

/* |A v - value v|, |gamma5 ..| being |..|: of gamma5 M it is |M v - value gamma5 v|; M^+ is gamma5
 * M' gamma5, M' with the other sign of the twist; of gamma5 S it is |M x - value gamma5 v|, with
 * the x of complete(). Where that is inexact, M x on even sites shows it. */
static int certify(lat_modes_tool_run *r)
{
    const int n = r->modes.count, most = n < CERTIFIED ? n : CERTIFIED;
    certificate z = {.m = NULL};
    lat_fermion other = r->fermion;
    other.twist = -other.twist;
    int rc = lat_rc(!(z.m = lat_plain_new(lat_modes_tool_links(r), &r->fermion))
                    || new_modes(r, most, &z.x) || new_modes(r, most, &z.b));
    if (rc == 0 && r->o.matrix == LAT_MODES_OF_NORMAL)
        rc = lat_rc(!(z.adjoint = lat_plain_new(lat_modes_tool_links(r), &other))
                    || new_modes(r, most, &z.v));
    for (int k = 0; k < n && rc == 0; k += most)
        rc = certify_some(r, &z, k, n - k < most ? n - k : most);
    lat_field_free(&z.v);
    lat_field_free(&z.x);
    lat_field_free(&z.b);
    lat_plain_free(z.m);
    lat_plain_free(z.adjoint);
    return rc;
}

/* (v, gamma5 v) */
static int measure_chirality(lat_modes_tool_run *r)
{
    const lat_part p = {r->o.matrix == LAT_MODES_OF_G5S ? LAT_ODD : LAT_BOTH, 1,
                        lat_column_numbers};
    const lat_vector_ops *ops = r->exact.one->ops;
    lat_dfield *w = lat_vector_new(r->exact.one, "gamma5 v");
    int rc = w ? 0 : -1;
    for (int k = 0; k < r->modes.count && rc == 0; k++) {
        lat_scalar dot, *to = &dot;
        const lat_dfield *v = r->modes.vector[k];
        rc = lat_rc(ops->copy(r->exact.one, &p, v, w) || ops->gamma5(r->exact.one, &p, w)
                    || ops->dots(r->exact.one, &p, 1, &v, w, &to, NULL));
        r->chirality[k] = dot.re;
    }
    lat_dfield_free(w);
    return rc;
}

/* What the search left on sites that gamma5 S does not have. */
static int clear_even(lat_modes_tool_run *r, lat_dfield *v)
{
    const lat_part even = {LAT_EVEN, 1, lat_column_numbers};
    return r->exact.one->ops->zero(r->exact.one, &even, v);
}

/* The modes to the host, and to the checkpoint. */
static int download(lat_modes_tool_run *r)
{
    const double number[LAT_MODESTATE_NUMBERS] = {r->modes.rest, r->modes.norm};
    if (new_modes(r, r->modes.count, &r->v))
        return -1;
    for (int k = 0; k < r->modes.count; k++)
        if ((r->o.matrix == LAT_MODES_OF_G5S && clear_even(r, r->modes.vector[k]))
            || lat_spinor_get(r->exact.one, r->modes.vector[k], 0, &r->v, k))
            return -1;
    return lat_quark_set_eigenvalues(&r->v.head.quark, r->modes.value)
           || lat_modestate_keep(&r->kept, r->name, &r->v, number);
}

int lat_modes_tool_fetch(lat_modes_tool_run *r)
{
    const size_t n = (size_t)r->modes.count;
    r->residual = lat_alloc(3 * n, sizeof(double), "residuals");
    if (!r->residual || (!r->v.data && download(r)))
        return -1;
    r->gap = r->residual + n;
    r->chirality = r->gap + n;
    for (int k = 0; k < r->modes.count; k++)
        if (lat_spinor_put(r->exact.one, r->modes.vector[k], 0, &r->v, k))
            return -1;
    lat_modes_gaps(r->modes.count, r->modes.value, r->modes.rest, r->o.largest, r->gap);
    return measure_chirality(r) || certify(r) ? -1 : 0;
}
