/* SPDX-License-Identifier: BSD-3-Clause */
/* identify.c: the terms of the fit are differences of plain operators (plain.h). */
#include "identify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "plain.h"

/* The last term is H_t x, the right-hand side. */
enum { TERMS = LAT_FITS + 1, COLUMNS = 4 };
#define LARGE 20000 /* sites, beyond which one column is enough */

typedef struct fit {
    const lat_field *u;
    lat_field term[TERMS]; /* term[LAT_FIT_DIAGONAL] is x */
    int columns;
    double (*product)[TERMS][TERMS]; /* of each slice of the lattice */
} fit;

/* Some columns of x, one for each source spin of a propagator, in the basis of DeGrand and Rossi if
 * they are in `basis`. */
static void take_columns(const fit *f, const lat_field *x, const lat_basis *basis, lat_field *to)
{
    const size_t objects = lat_header_objects(&x->head), columns = (size_t)f->columns;
    const size_t each = objects / columns, n = 8 * (size_t)x->head.nc;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_held(x) / objects; i++)
        for (size_t c = 0; c < columns; c++) {
            double *psi = (double *)to->data + (i * columns + c) * n;
            lat_field_get(x, i * objects + c * each, psi);
            lat_basis_spinor(basis, false, x->head.nc, psi);
        }
}

/* An operator without diagonal, clover term and hops across boundaries. */
static lat_fermion bare(double nu)
{
    lat_fermion m;
    lat_fermion_init(&m);
    strcpy(m.name, "wilson");
    m.nu = nu;
    m.mass = -1 - 3 * nu;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        m.boundary[mu].dirichlet = true;
    return m;
}

/* term[k] = M x, minus term[LAT_FITS] = H_t x where that is part of it. */
static int make_term(fit *f, const lat_fermion *fermion, int k)
{
    static const int columns[COLUMNS] = {0, 1, 2, 3};
    lat_plain *m = lat_plain_new(f->u, fermion);
    int rc = m ? lat_plain_apply(m, false, &f->term[0], f->columns, columns, &f->term[k]) : -1;
    lat_plain_free(m);
    const double *time = f->term[LAT_FITS].data;
    double *to = f->term[k].data;
    for (size_t i = 0; rc == 0 && k != LAT_FITS && i < lat_field_reals(&f->term[k]); i++)
        to[i] -= time[i];
    return rc;
}

/* i gamma5 x. */
static void make_twist(fit *f)
{
    const size_t spin = 2 * (size_t)f->u->head.nc;
    const double *x = f->term[0].data;
    double *to = f->term[LAT_FIT_TWIST].data;
    for (size_t i = 0; i < lat_field_reals(&f->term[0]); i += 2) {
        const double sign = i / spin % 4 < 2 ? 1 : -1;
        to[i] = -sign * x[i + 1];
        to[i + 1] = sign * x[i];
    }
}

static int make_terms(fit *f)
{
    lat_fermion m = bare(0);
    if (make_term(f, &m, LAT_FITS))
        return -1;
    make_twist(f);
    m.csw = 1;
    if (make_term(f, &m, LAT_FIT_CSW))
        return -1;
    m = bare(0);
    m.csw_t = 1;
    if (make_term(f, &m, LAT_FIT_CSW_T))
        return -1;
    m = bare(1);
    if (make_term(f, &m, LAT_FIT_SPACE))
        return -1;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        for (int part = 0; part < 2; part++) {
            const int k = LAT_FIT_BOUNDARY + 2 * mu + part;
            m = bare(mu < LAT_MAX_DIMS - 1);
            m.boundary[mu] = (lat_phase){.theta = .5 * part};
            if (make_term(f, &m, k))
                return -1;
            /* Of a spatial direction: without the other spatial hops. */
            const double *space = f->term[LAT_FIT_SPACE].data;
            double *to = f->term[k].data;
            for (size_t i = 0; mu < LAT_MAX_DIMS - 1 && i < lat_field_reals(&f->term[k]); i++)
                to[i] -= space[i];
        }
    return 0;
}

/* Products of the terms on each slice. */
static int multiply(fit *f)
{
    const size_t slices = (size_t)lat_field_slab(f->u).count,
                 n = lat_field_reals(&f->term[0]) / slices;
    double(*own)[TERMS][TERMS] = lat_alloc(slices, sizeof *own, "a fit");
    if (!own)
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < slices; t++)
        for (int i = 0; i < TERMS; i++)
            for (int j = 0; j <= i; j++) {
                const double *a = (const double *)f->term[i].data + t * n,
                             *b = (const double *)f->term[j].data + t * n;
                double sum = 0;
                for (size_t k = 0; k < n; k++)
                    sum += a[k] * b[k];
                own[t][i][j] = own[t][j][i] = sum;
            }
    const int rc = lat_field_gather(f->u, own, sizeof *own, f->product);
    free(own);
    return rc;
}

/* Least squares by elimination with pivots on the diagonal, which is 1 before; a term whose pivot
 * vanishes is left out. */
static void solve(double g[TERMS][TERMS], lat_identified *to)
{
    double scale[TERMS], a[LAT_FITS][LAT_FITS + 1];
    bool used[LAT_FITS] = {false};
    int order[LAT_FITS], rank = 0;
    for (int i = 0; i < TERMS; i++)
        scale[i] = g[i][i] > 0 ? sqrt(g[i][i]) : 1;
    for (int i = 0; i < LAT_FITS; i++)
        for (int j = 0; j <= LAT_FITS; j++)
            a[i][j] = (j == LAT_FITS ? -1 : 1) * g[i][j] / scale[i] / scale[j];
    for (; rank < LAT_FITS; rank++) {
        int best = -1;
        for (int i = 0; i < LAT_FITS; i++)
            if (!used[i] && (best < 0 || a[i][i] > a[best][best]))
                best = i;
        if (a[best][best] < 1e-11)
            break;
        used[best] = true;
        order[rank] = best;
        for (int i = 0; i < LAT_FITS; i++) {
            const double f = a[i][best] / a[best][best];
            for (int j = 0; i != best && j <= LAT_FITS; j++)
                a[i][j] -= f * a[best][j];
        }
    }
    memset(to->value, 0, sizeof to->value);
    memset(to->determined, 0, sizeof to->determined);
    for (int k = 0; k < rank; k++) {
        const int i = order[k];
        to->value[i] = a[i][LAT_FITS] / a[i][i] * scale[LAT_FITS] / scale[i];
        to->determined[i] = true;
    }
    double square = 0;
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j < TERMS; j++)
            square += (i < LAT_FITS ? to->value[i] : 1) * (j < LAT_FITS ? to->value[j] : 1)
                      * g[i][j];
    /* The sum cancels: below this it is rounding. */
    const double least = 0x1p-50 * g[LAT_FITS][LAT_FITS];
    to->residual = g[LAT_FITS][LAT_FITS] > 0 ? sqrt(fmax(square, least) / g[LAT_FITS][LAT_FITS])
                                             : INFINITY;
}

/* The best fit with one slice left out. */
static void fit_slices(const fit *f, lat_identified *best)
{
    const int slices = lat_slices(&f->u->head);
    best->residual = INFINITY;
    for (int out = 0; out < slices; out++) {
        double g[TERMS][TERMS] = {{0}};
        lat_identified now = *best;
        for (int t = 0; t < slices; t++)
            for (int i = 0; i < TERMS && t != out; i++)
                for (int j = 0; j < TERMS; j++)
                    g[i][j] += f->product[t][i][j];
        solve(g, &now);
        now.slice = out;
        if (now.residual < best->residual)
            *best = now;
    }
}

static void name_parameters(lat_identified *to)
{
    const double *v = to->value;
    /* A number that is one to what the fit is worth is one. */
    const double near = fmax(1e-6, 10 * to->residual);
    const double w = fabs(v[LAT_FIT_SPACE] - 1) < near ? 1 : v[LAT_FIT_SPACE];
    lat_fermion *m = &to->fermion;
    lat_fermion_init(m);
    strcpy(m->name, "wilson");
    m->xi = 1 / w;
    m->mass = v[LAT_FIT_DIAGONAL] - 1 - 3 * w;
    m->csw = v[LAT_FIT_CSW] * m->xi;
    m->csw_t = v[LAT_FIT_CSW_T];
    m->twist = v[LAT_FIT_TWIST];
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const double re = v[LAT_FIT_BOUNDARY + 2 * mu], im = v[LAT_FIT_BOUNDARY + 2 * mu + 1];
        const double size = hypot(re, im) / (mu < LAT_MAX_DIMS - 1 ? w : 1);
        double theta = atan2(im, re) / M_PI;
        theta = fabs(theta) < near ? 0 : fabs(fabs(theta) - 1) < near ? 1 : theta;
        m->boundary[mu] = size < .5 ? (lat_phase){.dirichlet = true} : (lat_phase){.theta = theta};
    }
}

static int by_residual(const void *a, const void *b)
{
    const double x = ((const lat_identified *)a)->residual,
                 y = ((const lat_identified *)b)->residual;
    return (x > y) - (x < y);
}

int lat_identify(const lat_field *u, const lat_field *x, lat_identified list[LAT_MOST_BASES])
{
    const int objects = (int)lat_header_objects(&x->head);
    fit f = {.u = u, .columns = lat_volume(&u->head.geom) > LARGE ? 1 : COLUMNS};
    int rc = 0, n = 0;
    if (!lat_header_spinors(&x->head) || !lat_header_alike(&u->head, &x->head))
        return lat_fail("expected spinors on the lattice of the links, found %s",
                        lat_kind_text(x->head.kind));
    if (f.columns > objects)
        f.columns = objects;
    for (int k = 0; k < TERMS && rc == 0; k++)
        rc = lat_field_spinors(&f.term[k], x, LAT_MODES, f.columns);
    f.product = lat_alloc((size_t)lat_slices(&u->head), sizeof *f.product, "a fit");
    rc = rc || !f.product;
    for (; rc == 0 && n < LAT_MOST_BASES && lat_bases[n].name; n++) {
        take_columns(&f, x, &lat_bases[n], &f.term[0]);
        rc = make_terms(&f) || multiply(&f);
        list[n] = (lat_identified){.basis = &lat_bases[n]};
        if (rc == 0)
            fit_slices(&f, &list[n]);
        name_parameters(&list[n]);
    }
    for (int k = 0; k < TERMS; k++)
        lat_field_free(&f.term[k]);
    free(f.product);
    if (rc)
        return -1;
    qsort(list, (size_t)n, sizeof *list, by_residual);
    return n;
}
