/* SPDX-License-Identifier: BSD-3-Clause */
/* check_dirac: Dirac operators and linear algebra of spinors on every device, against a plain dense
 * reference (plain_dirac.h) and their own properties. */
#include <stdio.h>
#include "check.h"
#include "devices.h"
#include "dirac/dirac.h"
#include "plain_dirac.h"

static lat_device *dev;

/* ---- random cases ---------------------------------------------------------------------------- */

static uint64_t counter;

static double uniform(void)
{
    uint32_t w[4];
    lat_random(2026, counter++, 0, 0, 0, w);
    return lat_uniform(w[0], w[1]);
}

static int below(int n) { return (int)(uniform() * n); }

/* Some right-hand sides on a lattice, an operator, and the same to the plain reference. */
typedef struct setup {
    lat_grid *grid;
    lat_spinor_space *s;
    lat_field u, host;
    plain p;
    lat_dirac *d;
    lat_dfield *x, *y;
    int columns, all[LAT_SPINOR_COLUMNS];
    double eps;
    size_t n; /* complex numbers of a spinor field */
    cd *in, *out, *expected;
} setup;

static lat_field spinors(const lat_geometry geom, int nc, int columns)
{
    lat_field f = {.data = NULL};
    lat_header_init(&f.head);
    f.head.geom = geom;
    f.head.nc = nc;
    f.head.real = LAT_F64;
    lat_header_make_spinors(&f.head, LAT_MODES, columns);
    need(lat_header_check(&f.head, "spinors") == 0 && lat_field_alloc(&f, &lat_comm_self) == 0,
         "spinors");
    return f;
}

static lat_fermion fermion_of(double mass)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = mass;
    f.boundary[3].theta = 1;
    return f;
}

static void *numbers(size_t n, size_t size)
{
    void *p = calloc(n, size);
    need(p != NULL, "numbers");
    return p;
}

/* Fields and operator for links that are there; options of reals and trace. */
static bool set_up(setup *t, lat_storage storage, int columns, lat_dirac_options options)
{
    const lat_grid_spec spec = {t->u.head.geom, storage, -1};
    const int nc = t->u.head.nc;
    t->columns = columns;
    t->eps = storage == LAT_STORAGE_DOUBLE   ? 0x1p-53
             : storage == LAT_STORAGE_SINGLE ? 0x1p-24
                                             : 0x1p-16;
    t->p.u = &t->u;
    t->p.traceless = options.traceless;
    t->n = plain_reals(&t->p) / 2;
    t->grid = lat_grid_new(dev, &spec);
    t->s = t->grid ? lat_spinor_open(t->grid, nc, columns) : NULL;
    t->d = t->s ? lat_dirac_open(t->s, &t->u, &t->p.f, &options) : NULL;
    t->host = spinors(t->u.head.geom, nc, 1);
    t->in = numbers(t->n, sizeof(cd));
    t->out = numbers(t->n, sizeof(cd));
    t->expected = numbers(t->n, sizeof(cd));
    for (int c = 0; c < columns; c++)
        t->all[c] = c;
    if (!CHECK(t->d != NULL, "%s", lat_error()))
        return false;
    t->x = lat_spinor_new(t->s, "x");
    t->y = lat_spinor_new(t->s, "y");
    return CHECK(t->x && t->y, "%s", lat_error());
}

static void tear_down(setup *t)
{
    lat_dfield_free(t->x);
    lat_dfield_free(t->y);
    lat_dirac_close(t->d);
    lat_spinor_close(t->s);
    lat_grid_free(t->grid);
    lat_field_free(&t->u);
    lat_field_free(&t->host);
    free(t->in);
    free(t->out);
    free(t->expected);
    lat_error_clear();
}

static void random_numbers(cd *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = uniform() - .5 + I * (uniform() - .5);
}

/* A field to a column, and back. */
static void put(setup *t, lat_dfield *x, int column, const cd *v)
{
    memcpy(t->host.data, v, t->n * sizeof *v);
    CHECK(!t->s->ops->put(t->s, x, column, &t->host, 0), "%s", lat_error());
}

static void get(setup *t, const lat_dfield *x, int column, cd *v)
{
    CHECK(!t->s->ops->get(t->s, x, column, &t->host, 0), "%s", lat_error());
    memcpy(v, t->host.data, t->n * sizeof *v);
}

static double norm2(const cd *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += creal(v[i]) * creal(v[i]) + cimag(v[i]) * cimag(v[i]);
    return s;
}

/* |a - b| / |b| */
static double apart(const cd *a, const cd *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        const cd z = a[i] - b[i];
        s += creal(z) * creal(z) + cimag(z) * cimag(z);
    }
    return sqrt(s / norm2(b, n));
}

static const lat_phase phases[] = {{false, 0}, {false, 1}, {true, 0}, {false, .5}, {false, -.37}};

static void random_fermion(lat_fermion *f)
{
    *f = fermion_of(.3 + uniform());
    for (int mu = 0; mu < 4; mu++)
        f->boundary[mu] = phases[below(5)];
    if (below(2)) {
        f->xi = .7 + 2 * uniform();
        f->nu = .8 + .4 * uniform();
    }
    if (below(2))
        f->csw = f->csw_t = 1.5 * uniform();
    if (below(3) == 0)
        f->csw_t = uniform();
    if (below(3) == 0)
        f->twist = uniform() - .5;
}

/* Extents 2 to 12 with at most 512 sites. */
static lat_geometry random_geometry(void)
{
    lat_geometry g = {4, {2, 2, 2, 2}};
    for (int k = 0; k < 12; k++) {
        const int mu = below(4);
        g.dims[mu] += 2;
        if (g.dims[mu] > 12 || lat_volume(&g) > 512)
            g.dims[mu] -= 2;
    }
    return g;
}

static const char *describe(const setup *t)
{
    static char text[300];
    char dims[64], boundary[LAT_BOUNDARY_TEXT];
    const lat_fermion *f = &t->p.f;
    snprintf(text, sizeof text,
             "%s SU(%d) %s bits, %d reals, mass %g csw %g %g xi %g nu %g twist %g boundary %s%s",
             lat_dims_text(&t->u.head.geom, dims), t->u.head.nc,
             t->eps > 1e-7    ? "16"
             : t->eps > 1e-10 ? "32"
                              : "64",
             t->d ? t->d->reals : 0, f->mass, f->csw, f->csw_t, f->xi, f->nu, f->twist,
             lat_boundary_text(f->boundary, boundary), t->p.traceless ? ", traceless" : "");
    return text;
}

static void random_setup(setup *t, int columns)
{
    static const int reals[3][3] = {{8, 4, 0}, {18, 12, 8}, {18, 12, 0}}; /* SU(2), SU(3), GPU */
    static const lat_storage storages[3] = {LAT_STORAGE_DOUBLE, LAT_STORAGE_SINGLE,
                                            LAT_STORAGE_HALF};
    memset(t, 0, sizeof *t);
    const int nc = dev->gpu ? 3 : 2 + below(2);
    t->u = field_new(LAT_GAUGE, random_geometry(), nc, LAT_F64);
    fill_haar(&t->u, counter);
    random_fermion(&t->p.f);
    set_up(t, storages[below(dev->gpu ? 3 : 2)], columns,
           (lat_dirac_options){reals[dev->gpu ? 2 : nc - 2][below(3)], below(3) == 0});
}

/* Roundings: a hop adds 8 (2N + 2) numbers; a clover term 4N with an element of it of order 1; the
 * inverses of A divide by the smallest eigenvalue, here at least as `condition` says. Angles of 8
 * reals have errors of 2 pi eps each. */
static double bound(const setup *t)
{
    const lat_fermion *f = &t->p.f;
    const double condition = f->csw != 0 || f->csw_t != 0 ? 400 : 1;
    return t->eps * (t->d->reals == 8 && t->u.head.nc == 3 ? 160 : 40) * condition;
}

/* ---- against the plain reference ------------------------------------------------------------- */

static void against(setup *t, const lat_dirac_matrix m, lat_parity parity)
{
    const lat_spinor_part part = {parity, t->columns, t->all};
    const bool dagger = m.kind == LAT_DAGGER;
    double norm[LAT_SPINOR_COLUMNS], dot_norm;
    lat_scalar dot[LAT_SPINOR_COLUMNS];
    const lat_dirac_end end = {.norm = norm, .with = t->x, .dot = dot};
    for (int c = 0; c < t->columns; c++) {
        random_numbers(t->in, t->n);
        put(t, t->x, c, t->in);
    }
    CHECK(!t->s->ops->zero(t->s, &(lat_spinor_part){LAT_BOTH, t->columns, t->all}, t->y), "%s",
          lat_error());
    CHECK(!t->d->ops->apply(t->d, m, &part, t->y, t->x, &end), "%s", lat_error());
    const int c = below(t->columns);
    cd *v = numbers(t->n, sizeof *v);
    get(t, t->x, c, t->in);
    get(t, t->y, c, t->out);
    if (m.form == LAT_FULL)
        plain_full(&t->p, dagger, t->in, v);
    else
        plain_schur(&t->p, m.form == LAT_SYMMETRIC, dagger, (int)parity, t->in, v);
    memcpy(t->expected, v, t->n * sizeof *v);
    if (m.kind == LAT_NORMAL) {
        if (m.form == LAT_FULL)
            plain_full(&t->p, true, v, t->expected);
        else
            plain_schur(&t->p, m.form == LAT_SYMMETRIC, true, (int)parity, v, t->expected);
    }
    const size_t half = (size_t)plain_spins(&t->p) / 2;
    for (size_t i = 0; i < t->n && m.kind == LAT_GAMMA5; i++)
        t->expected[i] *= i / half % 2 ? -1 : 1;
    const double off = apart(t->out, t->expected, t->n), most = bound(t);
    CHECK(off <= most, "form %d kind %d parity %d: off by %.2e, at most %.2e; %s", (int)m.form,
          (int)m.kind, (int)parity, off, most, describe(t));
    /* Sums of positive numbers; products are as large as both norms. */
    const double square = norm2(t->expected, t->n);
    cd product = 0;
    for (size_t i = 0; i < t->n; i++)
        product += conj(t->in[i]) * t->expected[i];
    dot_norm = sqrt(square * norm2(t->in, t->n));
    CHECK(fabs(norm[c] / square - 1) <= 4 * most
              && cabs(dot[c].re + I * dot[c].im - product) <= 4 * most * dot_norm,
          "sums: %.17g %.17g %.17g, expected %.17g %.17g %.17g; %s", norm[c], dot[c].re, dot[c].im,
          square, creal(product), cimag(product), describe(t));
    free(v);
}

static void check_reference(int cases)
{
    for (int i = 0; i < cases; i++) {
        setup t;
        random_setup(&t, 1 + below(4));
        if (t.y)
            for (int k = 0; k < 12; k++) {
                const lat_dirac_matrix m = {(lat_dirac_form)(k / 4), (lat_dirac_kind)(k % 4)};
                against(&t, m, k < 4 ? LAT_BOTH : (lat_parity)below(2));
            }
        tear_down(&t);
    }
}

static void check_device(void)
{
    device_case(dev, "operators agree with the plain reference on random lattices");
    check_reference(10);
}

int main(void)
{
    dev = cpu_device();
    check_device();
    dev = checking_device();
    check_device();
    if ((dev = gpu_device()))
        check_device();
    else
        check_skipped("GPU: operators agree with the plain reference", lat_error());
    return check_done();
}
