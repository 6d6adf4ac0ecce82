/* SPDX-License-Identifier: BSD-3-Clause */
/* identify.c: the terms of the fit are differences of plain operators (plain.h). */
#include "identify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "plain.h"

/* Behind the terms that are found: i (F - B) x of each axis, and H_t x, the right-hand side. */
enum { SPREAD = LAT_FITS, TIME = SPREAD + LAT_MAX_DIMS, TERMS, COLUMNS = 4, ROUNDS = 6 };
#define LARGE 20000 /* sites, beyond which one column is enough */

typedef struct fit {
    const lat_field *u;
    lat_field term[TERMS]; /* term[LAT_FIT_DIAGONAL] is x */
    int columns;
    bool spread;                     /* with the terms SPREAD */
    double phase[LAT_MAX_DIMS];      /* of x, for each step along an axis */
    double (*product)[TERMS][TERMS]; /* of each slice of the lattice */
} fit;

/* psi times exp(i angle). */
static void phase_spinors(double *psi, size_t n, double angle)
{
    const double c = cos(angle), s = sin(angle);
    for (size_t k = 0; angle != 0 && k < n; k += 2) {
        const double re = psi[k], im = psi[k + 1];
        psi[k] = c * re - s * im;
        psi[k + 1] = s * re + c * im;
    }
}

/* All columns of a term times exp(i sign phase.x). */
static void phase_field(lat_field *to, const double phase[LAT_MAX_DIMS], double sign)
{
    const size_t n = lat_header_objects(&to->head) * lat_header_full_reals(&to->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(to); i++) {
        int at[LAT_MAX_DIMS];
        double angle = 0;
        lat_coordinates(&to->head.geom, i, at);
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            angle += sign * phase[mu] * at[mu];
        phase_spinors((double *)to->data + i * n, n, angle);
    }
}

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
    phase_field(to, f->phase, 1);
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

/* term[k] = M x, minus term[TIME] = H_t x where that is part of it. */
static int make_term(fit *f, const lat_fermion *fermion, int k)
{
    static const int columns[COLUMNS] = {0, 1, 2, 3};
    lat_plain *m = lat_plain_new(f->u, fermion);
    int rc = m ? lat_plain_apply(m, false, &f->term[0], f->columns, columns, &f->term[k]) : -1;
    lat_plain_free(m);
    const double *time = f->term[TIME].data;
    double *to = f->term[k].data;
    for (size_t i = 0; rc == 0 && k != TIME && i < lat_field_reals(&f->term[k]); i++)
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

/* x on the slices that open time gives c_F. */
static void make_edge(fit *f)
{
    const lat_slab slab = lat_field_slab(f->u);
    const size_t n = lat_field_reals(&f->term[0]) / (size_t)slab.count;
    const lat_fermion unit = {.boundary = {[LAT_MAX_DIMS - 1] = {.open = true}}, .cf = 2};
    for (int t = 0; t < slab.count; t++) {
        const double one = lat_fermion_edge(&unit, slab.first + t, lat_slices(&f->u->head));
        const double *x = (const double *)f->term[0].data + (size_t)t * n;
        double *to = (double *)f->term[LAT_FIT_EDGE].data + (size_t)t * n;
        for (size_t i = 0; i < n; i++)
            to[i] = one * x[i];
    }
}

/* term[k] = e^-1 H e x, e = exp(i angle x_mu), of all hops within the lattice, in time alone where
 * mu is time: hops along mu have exp(i angle) forward, its conjugate back. */
static int make_phased(fit *f, int mu, double angle, int k)
{
    static const int columns[COLUMNS] = {0, 1, 2, 3};
    const lat_fermion fermion = bare(mu < LAT_MAX_DIMS - 1);
    double phase[LAT_MAX_DIMS] = {0};
    lat_plain *m = lat_plain_new(f->u, &fermion);
    phase[mu] = angle;
    phase_field(&f->term[0], phase, 1);
    const int rc = m ? lat_plain_apply(m, false, &f->term[0], f->columns, columns, &f->term[k])
                     : -1;
    phase_field(&f->term[0], phase, -1);
    phase_field(&f->term[k], phase, -1);
    lat_plain_free(m);
    return rc;
}

/* i (F - B) x along mu: all hops with i (F - B) there in place of F + B, less half of their sum
 * with F + B and with its negative. */
static int make_spread(fit *f, int mu)
{
    const int k = SPREAD + mu;
    const size_t n = lat_field_reals(&f->term[k]);
    if (make_phased(f, mu, M_PI, k))
        return -1;
    double *minus = lat_alloc(n, sizeof *minus, "a fit");
    if (!minus)
        return -1;
    memcpy(minus, f->term[k].data, n * sizeof *minus);
    const int rc = make_phased(f, mu, M_PI / 2, k);
    const double *space = f->term[LAT_FIT_SPACE].data, *time = f->term[TIME].data;
    double *to = f->term[k].data;
    for (size_t i = 0; mu < LAT_MAX_DIMS - 1 && i < n; i++)
        to[i] -= .5 * (space[i] + time[i] + minus[i]);
    free(minus);
    return rc;
}

static int make_terms(fit *f)
{
    lat_fermion m = bare(0);
    if (make_term(f, &m, TIME))
        return -1;
    make_twist(f);
    make_edge(f);
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
    for (int mu = 0; mu < LAT_MAX_DIMS && f->spread; mu++)
        if (make_spread(f, mu))
            return -1;
    return 0;
}

/* Is it a term of this fit? */
static bool here(const fit *f, int term) { return f->spread || term < SPREAD || term == TIME; }

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
                for (size_t k = 0; k < n && here(f, i) && here(f, j); k++)
                    sum += a[k] * b[k];
                own[t][i][j] = own[t][j][i] = sum;
            }
    const int rc = lat_field_gather(f->u, own, sizeof *own, f->product);
    free(own);
    return rc;
}

/* Least squares by elimination with pivots on the diagonal, which is 1 before; a term whose pivot
 * vanishes is left out, as those are that are not of this fit. */
static void eliminate(double a[TIME][TIME + 1], bool used[TIME])
{
    for (int rank = 0; rank < TIME; rank++) {
        int best = -1;
        for (int i = 0; i < TIME; i++)
            if (!used[i] && (best < 0 || a[i][i] > a[best][best]))
                best = i;
        if (a[best][best] < 1e-11)
            break;
        used[best] = true;
        for (int i = 0; i < TIME; i++) {
            const double f = a[i][best] / a[best][best];
            for (int j = 0; i != best && j <= TIME; j++)
                a[i][j] -= f * a[best][j];
        }
    }
}

static void solve(double g[TERMS][TERMS], lat_identified *to)
{
    double scale[TERMS], a[TIME][TIME + 1], value[TERMS] = {[TIME] = 1};
    bool used[TIME] = {false};
    for (int i = 0; i < TERMS; i++)
        scale[i] = g[i][i] > 0 ? sqrt(g[i][i]) : 1;
    for (int i = 0; i < TIME; i++)
        for (int j = 0; j <= TIME; j++)
            a[i][j] = (j == TIME ? -1 : 1) * g[i][j] / scale[i] / scale[j];
    eliminate(a, used);
    for (int i = 0; i < TIME; i++)
        value[i] = used[i] ? a[i][TIME] / a[i][i] * scale[TIME] / scale[i] : 0;
    memcpy(to->value, value, sizeof to->value);
    memcpy(to->spread, value + SPREAD, sizeof to->spread);
    memcpy(to->determined, used, sizeof to->determined);
    double square = 0;
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j < TERMS; j++)
            square += value[i] * value[j] * g[i][j];
    /* The sum cancels: below this it is rounding. */
    const double least = 0x1p-50 * g[TIME][TIME];
    to->residual = g[TIME][TIME] > 0 ? sqrt(fmax(square, least) / g[TIME][TIME]) : INFINITY;
}

/* Is x zero on the first slice and the last one, as quarks in open time are? */
static bool is_open(const fit *f)
{
    return f->product[0][0][0] == 0 && f->product[lat_slices(&f->u->head) - 1][0][0] == 0;
}

/* The best fit with one slice left out. */
static void fit_slices(const fit *f, lat_identified *best)
{
    const int open = is_open(f), slices = lat_slices(&f->u->head) - open;
    best->residual = INFINITY;
    best->fermion.boundary[LAT_MAX_DIMS - 1].open = open;
    for (int out = open; out < slices; out++) {
        double g[TERMS][TERMS] = {{0}};
        lat_identified now = *best;
        for (int t = open; t < slices; t++)
            for (int i = 0; i < TERMS && t != out; i++)
                for (int j = 0; j < TERMS; j++)
                    if (open || (i != LAT_FIT_EDGE && j != LAT_FIT_EDGE))
                        g[i][j] += f->product[t][i][j];
        solve(g, &now);
        now.slice = out;
        if (now.residual < best->residual)
            *best = now;
    }
}

/* The decimal number of the fewest digits that is as near to v. */
static double shortest(double v, double within)
{
    char text[40];
    if (fabs(v) <= within)
        return 0;
    for (int digits = 1; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (fabs(strtod(text, NULL) - v) <= within)
            return strtod(text, NULL);
    }
    return v;
}

/* The mass, or the mass of a kappa where that has fewer digits. */
static double short_mass(double mass, double within)
{
    const double kappa = lat_kappa_of_mass(mass), own = shortest(mass, within),
                 other = shortest(kappa, 2 * kappa * kappa * within);
    char a[40], b[40];
    snprintf(a, sizeof a, "%.15g", own);
    snprintf(b, sizeof b, "%.15g", other);
    return strlen(a) <= strlen(b) ? own : lat_mass_of_kappa(other);
}

static lat_phase phase_of(double re, double im, double near, double within)
{
    double theta = shortest(atan2(im, re) / M_PI, within);
    theta = fabs(theta) < near ? 0 : fabs(fabs(theta) - 1) < near ? 1 : theta;
    return hypot(re, im) < .5 ? (lat_phase){.dirichlet = true} : (lat_phase){.theta = theta};
}

static void name_parameters(lat_identified *to)
{
    const double *v = to->value;
    /* A number that is one to what the fit is worth is one. */
    const double near = fmax(1e-6, 10 * to->residual), within = fmax(1e-10, 10 * to->residual);
    const double w = fabs(v[LAT_FIT_SPACE] - 1) < near ? 1 : v[LAT_FIT_SPACE];
    const bool open = to->fermion.boundary[LAT_MAX_DIMS - 1].open;
    lat_fermion *m = &to->fermion;
    lat_fermion_init(m);
    strcpy(m->name, "wilson");
    m->xi = shortest(1 / w, within);
    m->mass = short_mass(v[LAT_FIT_DIAGONAL] - 1 - 3 * w, within);
    m->csw = shortest(v[LAT_FIT_CSW] * m->xi, within);
    m->csw_t = shortest(v[LAT_FIT_CSW_T], within);
    m->twist = shortest(v[LAT_FIT_TWIST], within);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const double size = mu < LAT_MAX_DIMS - 1 ? w : 1;
        m->boundary[mu] = phase_of(v[LAT_FIT_BOUNDARY + 2 * mu] / size,
                                   v[LAT_FIT_BOUNDARY + 2 * mu + 1] / size, near, within);
    }
    if (open) {
        m->boundary[LAT_MAX_DIMS - 1] = (lat_phase){.dirichlet = true, .open = true};
        m->cf = shortest(1 + v[LAT_FIT_EDGE], within);
    }
}

static int by_residual(const void *a, const void *b)
{
    const double x = ((const lat_identified *)a)->residual,
                 y = ((const lat_identified *)b)->residual;
    return (x > y) - (x < y);
}

/* Fits of these bases, or of one of them, the best first: how many, or -1. */
static int fit_bases(fit *f, const lat_field *x, const lat_basis *only, lat_identified *list)
{
    int n = 0;
    for (const lat_basis *b = only ? only : lat_bases; n < LAT_MOST_BASES && b->name; b++) {
        take_columns(f, x, b, &f->term[0]);
        list[n] = (lat_identified){.basis = b};
        if (make_terms(f) || multiply(f))
            return -1;
        fit_slices(f, &list[n]);
        name_parameters(&list[n++]);
        if (only)
            break;
    }
    qsort(list, (size_t)n, sizeof *list, by_residual);
    return n;
}

/* The phases of x to f->phase, found by fits that have the terms SPREAD; what such a fit is worth,
 * or -1. */
static double find_phases(fit *f, const lat_field *x)
{
    lat_identified with[LAT_MOST_BASES];
    const lat_basis *basis = NULL;
    double last = INFINITY;
    f->spread = true;
    for (int round = 0; round < ROUNDS && last > 1e-12; round++) {
        if (fit_bases(f, x, basis, with) < 0)
            return -1;
        basis = with[0].basis;
        last = 0;
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
            const double w = mu < LAT_MAX_DIMS - 1 ? with[0].value[LAT_FIT_SPACE] : 1,
                         step = atan(with[0].spread[mu] / w);
            f->phase[mu] += isfinite(step) ? step : 0;
            last = fmax(last, fabs(step));
        }
    }
    f->spread = false;
    return with[0].residual;
}

/* Angles that are spread, where taking them off makes a fit ten times as good. Returns how many
 * fits there are, or -1. */
static int fit_spread(fit *f, const lat_field *x, lat_identified *list, int n)
{
    lat_identified with[LAT_MOST_BASES];
    double spread[LAT_MAX_DIMS];
    const double worth = find_phases(f, x), within = fmax(1e-8, 100 * worth);
    if (worth < 0)
        return -1;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const int extent = x->head.geom.dims[mu];
        spread[mu] = shortest(f->phase[mu] * extent / M_PI, within * extent);
        f->phase[mu] = spread[mu] * M_PI / extent;
    }
    const int found = fit_bases(f, x, NULL, with);
    if (found < 0 || !(with[0].residual < .1 * list[0].residual))
        return found < 0 ? -1 : n;
    for (int i = 0; i < found; i++) {
        list[i] = with[i];
        memcpy(list[i].spread, spread, sizeof spread);
    }
    return found;
}

int lat_identify(const lat_field *u, const lat_field *x, lat_identified list[LAT_MOST_BASES])
{
    const int objects = (int)lat_header_objects(&x->head);
    fit f = {.u = u, .columns = lat_volume(&u->head.geom) > LARGE ? 1 : COLUMNS};
    int rc = 0, n = -1;
    if (!lat_header_spinors(&x->head) || !lat_header_alike(&u->head, &x->head))
        return lat_fail("expected spinors on the lattice of the links, found %s",
                        lat_kind_text(x->head.kind));
    if (f.columns > objects)
        f.columns = objects;
    for (int k = 0; k < TERMS && rc == 0; k++)
        rc = lat_field_spinors(&f.term[k], x, LAT_MODES, f.columns);
    f.product = lat_alloc((size_t)lat_slices(&u->head), sizeof *f.product, "a fit");
    if (rc == 0 && f.product)
        n = fit_bases(&f, x, NULL, list);
    if (n > 0 && list[0].residual > 1e-6)
        n = fit_spread(&f, x, list, n);
    for (int k = 0; k < TERMS; k++)
        lat_field_free(&f.term[k]);
    free(f.product);
    return n;
}
