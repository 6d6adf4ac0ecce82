/* SPDX-License-Identifier: BSD-3-Clause */
/* check_dirac: Dirac operators and linear algebra of spinors on every device, against a plain dense
 * reference (plain_dirac.h) and their own properties. */
#include <stdio.h>
#include "check.h"
#include "devices.h"
#include "base/build.h"
#include "base/threads.h"
#include "dirac/cpu/dirac_cpu.h"
#include "vector/temporal.h"
#include "plain_dirac.h"

static lat_device *dev;
static bool temporal; /* spaces are in the temporal gauge */
static bool brief;    /* sanitizers look at an emulated GPU, which takes minutes otherwise */

/* ---- random cases ---------------------------------------------------------------------------- */

static uint64_t counter, seed = 2026;

static double uniform(void)
{
    uint32_t w[4];
    lat_random(seed, counter++, 0, 0, 0, w);
    return lat_uniform(w[0], w[1]);
}

static int below(int n) { return (int)(uniform() * n); }

/* Some right-hand sides on a lattice, an operator, and the same to the plain reference. */
typedef struct setup {
    lat_grid *grid;
    lat_space *s;
    lat_temporal *gauge;
    lat_field u, host;
    plain p;
    lat_dirac *d;
    lat_dfield *x, *y;
    int columns, all[LAT_VECTOR_COLUMNS];
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
    const lat_grid_spec spec = {t->u.head.geom, storage, -1, false, true};
    const int nc = t->u.head.nc;
    t->columns = columns;
    t->eps = storage == LAT_STORAGE_DOUBLE   ? 0x1p-53
             : storage == LAT_STORAGE_SINGLE ? 0x1p-24
                                             : 0x1p-16;
    t->p.u = &t->u;
    t->p.traceless = options.traceless;
    t->n = plain_reals(&t->p) / 2;
    if (t->n < 1 << 16) /* not where the CPU is compared with (check_large) */
        plain_keep(&t->p);
    t->grid = lat_grid_new(dev, &spec);
    if (temporal)
        CHECK(!lat_temporal_open(dev, &t->u, NULL, &t->gauge), "%s", lat_error());
    t->s = t->grid ? lat_space_open_in(t->grid, nc, columns, t->gauge) : NULL;
    t->d = t->s ? lat_dirac_open(t->s, &t->u, &t->p.f, &options) : NULL;
    t->host = spinors(t->u.head.geom, nc, 1);
    t->in = numbers(t->n, sizeof(cd));
    t->out = numbers(t->n, sizeof(cd));
    t->expected = numbers(t->n, sizeof(cd));
    for (int c = 0; c < columns; c++)
        t->all[c] = c;
    if (!CHECK(t->d != NULL, "%s", lat_error()))
        return false;
    t->x = lat_vector_new(t->s, "x");
    t->y = lat_vector_new(t->s, "y");
    return CHECK(t->x && t->y, "%s", lat_error());
}

static void tear_down(setup *t)
{
    lat_dfield_free(t->x);
    lat_dfield_free(t->y);
    lat_dirac_close(t->d);
    lat_space_close(t->s);
    lat_temporal_close(t->gauge);
    lat_grid_free(t->grid);
    lat_field_free(&t->u);
    lat_field_free(&t->host);
    free(t->in);
    free(t->out);
    free(t->expected);
    free(t->p.site);
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
    CHECK(!lat_spinor_put(t->s, x, column, &t->host, 0), "%s", lat_error());
}

static void get(setup *t, const lat_dfield *x, int column, cd *v)
{
    CHECK(!lat_spinor_get(t->s, x, column, &t->host, 0), "%s", lat_error());
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

static const lat_phase phases[] = {
    {.theta = 0}, {.theta = 1}, {.dirichlet = true}, {.theta = .5}, {.theta = -.37}};

static void random_fermion(lat_fermion *f)
{
    *f = fermion_of(.3 + uniform());
    for (int mu = 0; mu < 4; mu++)
        f->boundary[mu] = phases[below(5)];
    if (below(6) == 0) {
        f->boundary[3] = (lat_phase){.dirichlet = true, .open = true};
        f->cf = below(2) ? 1 : .8 + .4 * uniform();
    }
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

/* Extents 2 to 12 with at most 512 sites, mostly 96. */
static lat_geometry random_geometry(void)
{
    lat_geometry g = {4, {2, 2, 2, 2}};
    const size_t most = below(8) ? 96 : 512;
    for (int k = 0; k < 12; k++) {
        const int mu = below(4);
        g.dims[mu] += 2;
        if (g.dims[mu] > 12 || lat_volume(&g) > most)
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
             "%s SU(%d) %s bits, %d reals, mass %g csw %g %g xi %g nu %g twist %g c_F %g boundary "
             "%s%s%s",
             lat_dims_text(&t->u.head.geom, dims), t->u.head.nc,
             t->eps > 1e-7    ? "16"
             : t->eps > 1e-10 ? "32"
                              : "64",
             t->d ? t->d->reals : 0, f->mass, f->csw, f->csw_t, f->xi, f->nu, f->twist, f->cf,
             lat_boundary_text(f->boundary, boundary), t->p.traceless ? ", traceless" : "",
             t->s->temporal ? ", temporal gauge" : "");
    return text;
}

static void random_setup(setup *t, int columns)
{
    static const int reals[3][3] = {{8, 4, 0}, {18, 12, 8}, {18, 12, 0}}; /* SU(2), 3, on a GPU */
    static const lat_storage storages[3] = {LAT_STORAGE_DOUBLE, LAT_STORAGE_SINGLE,
                                            LAT_STORAGE_HALF};
    memset(t, 0, sizeof *t);
    const int nc = 2 + below(2);
    t->u = field_new(LAT_GAUGE, random_geometry(), nc, LAT_F64);
    fill_haar(&t->u, counter);
    random_fermion(&t->p.f);
    temporal = below(2);
    set_up(t, storages[below(dev->gpu ? 3 : 2)], columns,
           (lat_dirac_options){.reals = reals[nc == 3 && dev->gpu ? 2 : nc - 2][below(3)],
                               .traceless = below(3) == 0,
                               .in_turn = below(3) == 0});
    temporal = false;
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
    const lat_part part = {parity, t->columns, t->all};
    const bool dagger = m.kind == LAT_DAGGER;
    double norm[LAT_VECTOR_COLUMNS], dot_norm;
    lat_scalar dot[LAT_VECTOR_COLUMNS], shadow[4][LAT_VECTOR_COLUMNS];
    const lat_apply_end end = {.norm = norm,
                               .with = t->x,
                               .dot = dot,
                               .shadow = shadow[0],
                               .shadow_in = m.kind == LAT_NORMAL ? NULL : shadow[1]};
    for (int c = 0; c < t->columns; c++) {
        random_numbers(t->in, t->n);
        put(t, t->x, c, t->in);
    }
    CHECK(!t->s->ops->zero(t->s, &(lat_part){LAT_BOTH, t->columns, t->all}, t->y), "%s",
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
    /* Shadows, as of the fields alone; a sum of n numbers may be sqrt(n) times their norm. */
    CHECK(!t->s->ops->shadow(t->s, &part, t->y, shadow[2])
              && !t->s->ops->shadow(t->s, &part, t->x, shadow[3]),
          "%s", lat_error());
    const double length[2] = {sqrt(square), sqrt(norm2(t->in, t->n))};
    for (int k = 0; k < (end.shadow_in ? 2 : 1); k++) {
        const lat_scalar x = shadow[k][c], y = shadow[k + 2][c];
        CHECK(hypot(x.re - y.re, x.im - y.im) <= 4 * most * length[k] * sqrt((double)t->n),
              "form %d kind %d: shadow %d is %g %g, expected %g %g; %s", (int)m.form, (int)m.kind,
              k, x.re, x.im, y.re, y.im, describe(t));
    }
    free(v);
}

/* What is compared: sites of this parity. */
static void only_parity(setup *t, lat_parity parity)
{
    if (parity == LAT_BOTH)
        return;
    plain_only(&t->p, (int)parity, t->out);
    plain_only(&t->p, (int)parity, t->expected);
}

/* out = keep out + add factor (M + shift) in + by[0] in + by[1] z, against the numbers of
 * `against`; and factor (M + shift) in alone. */
static void against_terms(setup *t, const lat_dirac_matrix m, lat_parity parity)
{
    const lat_part part = {parity, t->columns, t->all}, every = {LAT_BOTH, t->columns, t->all};
    double add[LAT_VECTOR_COLUMNS], keep[LAT_VECTOR_COLUMNS], by[2][LAT_VECTOR_COLUMNS];
    const int c = below(t->columns), terms = 1 + below(2);
    lat_dfield *z = lat_vector_new(t->s, "z");
    cd *const before = numbers(t->n, sizeof *before), *const other = numbers(t->n, sizeof *other);
    for (int i = 0; i < t->columns; i++) {
        add[i] = uniform() - .5;
        keep[i] = uniform() - .5;
        by[0][i] = uniform() - .5;
        by[1][i] = uniform() - .5;
    }
    const bool kept = below(2) == 0;
    const lat_scalar shift = {below(2) ? uniform() - .5 : 0, below(2) ? uniform() - .5 : 0};
    const double factor = below(2) ? uniform() + .5 : 0, f = factor != 0 ? factor : 1;
    const cd w = shift.re + I * shift.im;
    const lat_apply_end end = {.add = add,
                               .shift = shift,
                               .factor = factor,
                               .terms = terms,
                               .keep = kept ? keep : NULL,
                               .by = {by[0], by[1]},
                               .more = {t->x, z}};
    get(t, t->x, c, t->in);
    get(t, t->y, c, t->expected); /* M in */
    CHECK(z && !t->s->ops->random(t->s, &every, counter, z)
              && !t->s->ops->random(t->s, &every, counter + 1, t->y),
          "%s", lat_error());
    get(t, z, c, other);
    get(t, t->y, c, before);
    CHECK(!t->d->ops->apply(t->d, m, &part, t->y, t->x, &end), "%s", lat_error());
    get(t, t->y, c, t->out);
    for (size_t i = 0; i < t->n; i++)
        t->expected[i] = (kept ? keep[c] : 1) * before[i]
                         + add[c] * f * (t->expected[i] + w * t->in[i]) + by[0][c] * t->in[i]
                         + (terms > 1 ? by[1][c] * other[i] : 0);
    only_parity(t, parity);
    const double off = apart(t->out, t->expected, t->n), most = 4 * bound(t);
    CHECK(off <= most, "terms, form %d kind %d parity %d: off by %.2e, at most %.2e; %s",
          (int)m.form, (int)m.kind, (int)parity, off, most, describe(t));
    const lat_apply_end alone = {.shift = shift, .factor = factor, .norm = kept ? add : NULL};
    CHECK(!t->d->ops->apply(t->d, m, &part, t->y, t->x, NULL), "%s", lat_error());
    get(t, t->y, c, t->expected);
    CHECK(!t->d->ops->apply(t->d, m, &part, t->y, t->x, &alone), "%s", lat_error());
    get(t, t->y, c, t->out);
    for (size_t i = 0; i < t->n; i++)
        t->expected[i] = f * (t->expected[i] + w * t->in[i]);
    only_parity(t, parity);
    CHECK(apart(t->out, t->expected, t->n) <= most
              && (!kept || fabs(add[c] / norm2(t->out, t->n) - 1) <= 4 * most),
          "shift %g %g, form %d kind %d: off by %.2e, at most %.2e; %s", shift.re, shift.im,
          (int)m.form, (int)m.kind, apart(t->out, t->expected, t->n), most, describe(t));
    lat_dfield_free(z);
    free(before);
    free(other);
}

/* out = keep onto + add M in, onto being another field or the one that goes in, whatever is in out.
 */
static void against_onto(setup *t, const lat_dirac_matrix m, lat_parity parity)
{
    const lat_part part = {parity, t->columns, t->all}, every = {LAT_BOTH, t->columns, t->all};
    double add[LAT_VECTOR_COLUMNS], keep[LAT_VECTOR_COLUMNS];
    const int c = below(t->columns);
    const bool kept = below(2) == 0, itself = below(3) == 0;
    lat_dfield *const z = lat_vector_new(t->s, "z"), *const onto = itself ? t->x : z;
    cd *const other = numbers(t->n, sizeof *other);
    for (int i = 0; i < t->columns; i++) {
        add[i] = uniform() - .5;
        keep[i] = uniform() - .5;
    }
    const lat_apply_end end = {.add = add, .onto = onto, .keep = kept ? keep : NULL};
    CHECK(z && !t->s->ops->random(t->s, &every, counter, z)
              && !t->d->ops->apply(t->d, m, &part, t->y, t->x, NULL),
          "%s", lat_error());
    get(t, t->y, c, t->expected);
    get(t, onto, c, other);
    CHECK(!t->s->ops->random(t->s, &every, counter + 1, t->y)
              && !t->d->ops->apply(t->d, m, &part, t->y, t->x, &end),
          "%s", lat_error());
    get(t, t->y, c, t->out);
    for (size_t i = 0; i < t->n; i++)
        t->expected[i] = (kept ? keep[c] : 1) * other[i] + add[c] * t->expected[i];
    only_parity(t, parity);
    const double off = apart(t->out, t->expected, t->n), most = 4 * bound(t);
    CHECK(off <= most, "onto, form %d kind %d parity %d: off by %.2e, at most %.2e; %s",
          (int)m.form, (int)m.kind, (int)parity, off, most, describe(t));
    lat_dfield_free(z);
    free(other);
}

static void check_reference(int cases)
{
    for (int i = 0; i < cases; i++) {
        setup t;
        random_setup(&t, 1 + below(4));
        if (t.y)
            for (int k = 0; k < 12; k++) {
                const lat_dirac_matrix m = {(lat_dirac_form)(k / 4), (lat_dirac_kind)(k % 4)};
                const lat_parity parity = k < 4 ? LAT_BOTH : (lat_parity)below(2);
                against(&t, m, parity);
                against_terms(&t, m, parity);
                against_onto(&t, m, parity);
            }
        tear_down(&t);
    }
}

/* ---- properties ------------------------------------------------------------------------------ */

static const lat_dirac_matrix full_m = {LAT_FULL, LAT_PLAIN}, full_dagger = {LAT_FULL, LAT_DAGGER};

static lat_part both(const setup *t) { return (lat_part){LAT_BOTH, t->columns, t->all}; }

/* Random links of SU(nc), clover, twist or neither; one column. */
static void group_setup(setup *t, int nc, const char *dims, lat_storage storage, double csw,
                        double twist)
{
    memset(t, 0, sizeof *t);
    t->u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64);
    fill_haar(&t->u, 11);
    t->p.f = fermion_of(.4);
    t->p.f.csw = t->p.f.csw_t = csw;
    t->p.f.twist = twist;
    set_up(t, storage, 1, (lat_dirac_options){0});
}

static void simple_setup(setup *t, const char *dims, lat_storage storage, double csw, double twist)
{
    group_setup(t, 3, dims, storage, csw, twist);
}

/* y = M x by the device, from numbers to numbers. */
static void times_m(setup *t, lat_dirac_matrix m, const cd *in, cd *out)
{
    const lat_part p = both(t);
    put(t, t->x, 0, in);
    CHECK(!t->d->ops->apply(t->d, m, &p, t->y, t->x, NULL), "%s", lat_error());
    get(t, t->y, 0, out);
}

static void gamma5_times(const setup *t, cd *v)
{
    const size_t half = (size_t)plain_spins(&t->p) / 2;
    for (size_t i = 0; i < t->n; i++)
        v[i] *= i / half % 2 ? -1 : 1;
}

static void check_hermiticity(void)
{
    for (int storage = 0; storage < 2; storage++) {
        setup t;
        simple_setup(&t, "6 4 2 8", (lat_storage)storage, 1.2, 0);
        random_numbers(t.in, t.n);
        times_m(&t, full_dagger, t.in, t.expected);
        gamma5_times(&t, t.in);
        times_m(&t, full_m, t.in, t.out);
        gamma5_times(&t, t.out);
        const double off = apart(t.out, t.expected, t.n);
        CHECK(off <= 40 * t.eps, "off by %g", off);
        tear_down(&t);
    }
}

/* psi(x) <- g(x) psi(x) */
static void rotate_spinor(const setup *t, const lat_field *g, cd *v)
{
    for (size_t x = 0; x < lat_volume(&t->u.head.geom); x++)
        for (int s = 0; s < 4; s++) {
            cd *psi = v + (x * 4 + (size_t)s) * 3, r[3] = {0};
            double m[LAT_SUN_REALS];
            lat_field_get(g, x, m);
            for (int i = 0; i < 9; i++)
                r[i / 3] += (m[2 * i] + I * m[2 * i + 1]) * psi[i % 3];
            memcpy(psi, r, sizeof r);
        }
}

static void check_covariance(void)
{
    setup t, r;
    simple_setup(&t, "4 6 2 8", LAT_STORAGE_DOUBLE, 1.2, .1);
    memset(&r, 0, sizeof r);
    r.u = field_new(LAT_GAUGE, t.u.head.geom, 3, LAT_F64);
    fill_haar(&r.u, 11);
    lat_field g = haar_transform(&r.u, 5);
    CHECK(!lat_transform_apply(&r.u, &g), "%s", lat_error());
    r.p.f = t.p.f;
    set_up(&r, LAT_STORAGE_DOUBLE, 1, (lat_dirac_options){0});
    random_numbers(t.in, t.n);
    times_m(&t, full_m, t.in, t.expected);
    rotate_spinor(&t, &g, t.expected);
    rotate_spinor(&t, &g, t.in);
    times_m(&r, full_m, t.in, t.out);
    const double off = apart(t.out, t.expected, t.n);
    CHECK(off <= 200 * t.eps, "off by %g", off);
    lat_field_free(&g);
    tear_down(&t);
    tear_down(&r);
}

/* Plane waves: M(p) = m + sum (1 - cos p) + i sum gamma sin p, p = (2 pi n + pi theta)/L. */
static void check_free(void)
{
    setup t;
    memset(&t, 0, sizeof t);
    t.u = field_new(LAT_GAUGE, geometry_of("4 6 2 8"), 3, LAT_F64);
    fill_near_one(&t.u, 0, 1);
    t.p.f = fermion_of(.1);
    t.p.f.boundary[0].theta = -.37;
    set_up(&t, LAT_STORAGE_DOUBLE, 1, (lat_dirac_options){0});
    for (int wave = 0; wave < 6; wave++) {
        double p[4];
        cd m[4][4] = {{0}}, spin[4];
        random_numbers(spin, 4);
        for (int mu = 0; mu < 4; mu++) {
            const int extent = t.u.head.geom.dims[mu];
            p[mu] = (2 * below(extent) + t.p.f.boundary[mu].theta) * M_PI / extent;
            for (int i = 0; i < 16; i++)
                m[i / 4][i % 4] += I * sin(p[mu]) * plain_gamma[mu][i / 4][i % 4]
                                   + (i % 5 ? 0 : 1 - cos(p[mu]) + .1 / 4);
        }
        memset(t.expected, 0, t.n * sizeof(cd));
        for (size_t i = 0; i < t.n; i++) {
            int x[4];
            lat_coordinates(&t.u.head.geom, i / 12, x);
            const cd phase = cexp(I * (p[0] * x[0] + p[1] * x[1] + p[2] * x[2] + p[3] * x[3]))
                             * (1 + i % 3);
            t.in[i] = phase * spin[i % 12 / 3];
            for (int s = 0; s < 4; s++)
                t.expected[i] += phase * m[i % 12 / 3][s] * spin[s];
        }
        times_m(&t, full_m, t.in, t.out);
        /* Cosines of 2 pi n/L as large as 4 pi are good to 16 eps; small results cancel from 8. */
        const double off = apart(t.out, t.expected, t.n)
                           * sqrt(norm2(t.expected, t.n) / norm2(t.in, t.n));
        CHECK(off <= 300 * t.eps, "p = %g %g %g %g: off by %g", p[0], p[1], p[2], p[3], off);
    }
    tear_down(&t);
}

/* x from b = M x by the system of one parity: the right-hand side is S x there, and the other half
 * of x comes back. */
static void check_system(void)
{
    for (int k = 0; k < 16; k++) {
        setup t;
        const lat_dirac_form form = k & 1 ? LAT_SYMMETRIC : LAT_ASYMMETRIC;
        const lat_parity parity = k & 2 ? LAT_ODD : LAT_EVEN;
        simple_setup(&t, "4 2 6 8", LAT_STORAGE_DOUBLE, k & 4 ? 1 : 0, k & 8 ? .3 : 0);
        const lat_part all = both(&t), p = {parity, 1, t.all};
        const lat_dirac_matrix schur = {form, LAT_PLAIN};
        lat_dfield *z = lat_vector_new(t.s, "z");
        double off[3], size[2];
        const lat_scalar minus[] = {{-1, 0}};
        CHECK(!t.s->ops->random(t.s, &all, 3, t.x)
                  && !t.d->ops->apply(t.d, full_m, &all, t.y, t.x, NULL)
                  && !t.d->ops->apply(t.d, schur, &p, z, t.x, NULL)
                  && !t.d->ops->prepare(t.d, form, &p, t.y, t.y)
                  && !t.s->ops->axpby(t.s, &p, minus, t.y, NULL, z, &off[0])
                  && !t.s->ops->dots(t.s, &p, 0, NULL, t.y, NULL, &size[0]),
              "%s", lat_error());
        CHECK(sqrt(off[0] / size[0]) <= 400 * t.eps, "case %d: S x_o off by %g", k,
              sqrt(off[0] / size[0]));
        const lat_part other = {(lat_parity)(1 - (int)parity), 1, t.all};
        CHECK(!t.d->ops->apply(t.d, full_m, &all, t.y, t.x, NULL)
                  && !t.s->ops->copy(t.s, &p, t.x, z) && !t.d->ops->reconstruct(t.d, &p, z, t.y)
                  && !t.s->ops->axpby(t.s, &all, minus, t.x, NULL, z, &off[1])
                  && !t.s->ops->dots(t.s, &other, 0, NULL, t.x, NULL, &size[1]),
              "%s", lat_error());
        CHECK(sqrt(off[1] / size[1]) <= 400 * t.eps, "case %d: x_e off by %g", k,
              sqrt(off[1] / size[1]));
        CHECK(!t.s->ops->copy(t.s, &p, t.x, t.y) && !t.d->ops->reconstruct(t.d, &p, t.y, t.y)
                  && !t.s->ops->axpby(t.s, &all, minus, t.x, NULL, t.y, &off[2])
                  && off[2] == off[1],
              "case %d: where b is: %g, elsewhere %g", k, off[2], off[1]);
        lat_dfield_free(z);
        tear_down(&t);
    }
}

/* Uniform flux in the xy plane (docs of lat-start flux): F_12 = sin w diag(1, -1, 0), so that A is
 * 4 + m - csw/2 sigma_12 F_12. */
static void check_flux(void)
{
    setup t;
    memset(&t, 0, sizeof t);
    t.u = field_new(LAT_GAUGE, geometry_of("4 4 4 4"), 3, LAT_F64);
    fill_near_one(&t.u, 0, 1);
    const double w = 2 * M_PI / 16;
    for (size_t x = 0; x < 256; x++) {
        int at[4];
        lat_coordinates(&t.u.head.geom, x, at);
        for (int mu = 0; mu < 2; mu++) {
            const double angle = mu ? w * at[0] : at[0] == 3 ? -w * 4 * at[1] : 0;
            const cd e = cexp(I * angle);
            double m[18] = {
                [0] = creal(e), [1] = cimag(e), [8] = creal(e), [9] = -cimag(e), [16] = 1};
            lat_field_put(&t.u, x * 4 + (size_t)mu, m);
        }
    }
    t.p.f = fermion_of(.3);
    t.p.f.csw = t.p.f.csw_t = 1.5;
    set_up(&t, LAT_STORAGE_DOUBLE, 1, (lat_dirac_options){0});
    random_numbers(t.in, t.n);
    put(&t, t.x, 0, t.in);
    const lat_part p = both(&t);
    CHECK(!t.d->ops->diagonal(t.d, false, false, &p, t.y, t.x), "%s", lat_error());
    get(&t, t.y, 0, t.out);
    for (size_t i = 0; i < t.n; i++) {
        /* sigma_12 = i gamma_1 gamma_2 = diag(s, -s, s, -s) */
        const cd sigma = I * plain_gamma[0][0][3] * plain_gamma[1][3][0] * (i / 3 % 2 ? -1 : 1);
        t.expected[i] = t.in[i] * (4.3 - .75 * sigma * sin(w) * (double[]){1, -1, 0}[i % 3]);
    }
    const double off = apart(t.out, t.expected, t.n);
    CHECK(off <= 40 * t.eps, "off by %g", off);
    tear_down(&t);
}

static void check_logdet(void)
{
    for (int n = 0; n < 12; n++) {
        setup t;
        const int k = n % 6, nc = 2 + n / 6;
        group_setup(&t, nc, "4 2 6 4", LAT_STORAGE_DOUBLE,
                    k % 3 == 1 ? 2
                    : k % 3    ? 6
                               : 0,
                    k / 3 ? .3 : 0);
        double expected[2] = {0, 0}, found[3];
        long negative[3];
        for (size_t x = 0; x < lat_volume(&t.u.head.geom); x++) {
            cd a[12][12], b[12] = {0};
            plain_diagonal(&t.p, x, false, a);
            expected[plain_parity(&t.p, x)] += plain_solve(4 * nc, a, b);
        }
        for (int parity = 0; parity < 3; parity++)
            CHECK(!t.d->ops->logdet(t.d, (lat_parity)parity, &found[parity], &negative[parity]),
                  "%s", lat_error());
        for (int parity = 0; parity < 2; parity++)
            CHECK(fabs(found[parity] - expected[parity]) <= 1e-12 * fabs(expected[parity]),
                  "case %d, parity %d: %.15g, expected %.15g", n, parity, found[parity],
                  expected[parity]);
        CHECK(found[2] == found[0] + found[1] && negative[2] == negative[0] + negative[1]
                  && (k != 2 || negative[2] > 0) && (k < 3 || negative[2] == 0),
              "case %d: %g, %ld negative", n, found[2], negative[2]);
        tear_down(&t);
    }
}

/* ---- bits ------------------------------------------------------------------------------------ */

enum { SUMS = 7 }; /* of a column */

/* m x with sums, of the columns that are listed: to out[columns], and the sums. */
static void schur_bits(setup *t, lat_dirac_matrix m, int columns, const int *column, cd *const *out,
                       double *sums)
{
    const lat_part all = both(t), p = {LAT_ODD, columns, column};
    double norm[LAT_VECTOR_COLUMNS];
    lat_scalar dot[LAT_VECTOR_COLUMNS], shadow[2][LAT_VECTOR_COLUMNS];
    const lat_apply_end end = {
        .norm = norm, .with = t->x, .dot = dot, .shadow = shadow[0], .shadow_in = shadow[1]};
    CHECK(!t->s->ops->random(t->s, &all, 9, t->x) && !t->s->ops->zero(t->s, &all, t->y)
              && !t->d->ops->apply(t->d, m, &p, t->y, t->x, &end),
          "%s", lat_error());
    for (int i = 0; i < columns; i++) {
        const int c = column[i];
        get(t, t->y, c, out[c]);
        memcpy(sums + SUMS * c,
               (double[]){norm[c], dot[c].re, dot[c].im, shadow[0][c].re, shadow[0][c].im,
                          shadow[1][c].re, shadow[1][c].im},
               SUMS * sizeof *sums);
    }
}

/* Any columns together, any number of threads, prefetches or not: the same bits. */
static void same_bits(const char *dims, double csw, lat_storage storage, int reals,
                      lat_dirac_matrix m)
{
    enum { COLUMNS = 7 };
    static const int lists[][COLUMNS] = {{0, 1, 2, 3, 4, 5, 6}, {3}, {1, 4}, {0, 2, 3}};
    static const int length[] = {7, 1, 2, 3};
    setup t;
    memset(&t, 0, sizeof t);
    t.u = field_new(LAT_GAUGE, geometry_of(dims), 3, LAT_F64);
    fill_haar(&t.u, 11);
    t.p.f = fermion_of(.4);
    t.p.f.csw = t.p.f.csw_t = csw;
    t.p.f.boundary[1].theta = *dims == '6' ? .3 : 0; /* kernels of their own on a GPU */
    set_up(&t, storage, COLUMNS, (lat_dirac_options){.reals = reals});
    cd *first[COLUMNS], *again[COLUMNS];
    double sums[SUMS * COLUMNS], sums_again[SUMS * COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        first[c] = numbers(t.n, sizeof(cd));
        again[c] = numbers(t.n, sizeof(cd));
    }
    const int usual = lat_threads();
    schur_bits(&t, m, COLUMNS, lists[0], first, sums);
    for (int k = 0; k < 8; k++) {
        const int *list = lists[k % 4];
        lat_threads_set(k / 2 % 3 + 1);
        if (!dev->gpu)
            lat_cpu_dirac_of(t.d)->ahead = lat_cpu_dirac_of(t.d)->past_cache =
                k & 1 ? LAT_CACHE_ALWAYS : LAT_CACHE_NEVER;
        schur_bits(&t, m, length[k % 4], list, again, sums_again);
        for (int i = 0; i < length[k % 4]; i++) {
            const int c = list[i];
            CHECK(!memcmp(first[c], again[c], t.n * sizeof(cd))
                      && !memcmp(sums + SUMS * c, sums_again + SUMS * c, SUMS * sizeof *sums),
                  "%s, %d reals: column %d with others, on other threads, has other bits", dims,
                  reals, c);
        }
    }
    lat_threads_set(usual);
    for (int c = 0; c < COLUMNS; c++) {
        free(first[c]);
        free(again[c]);
    }
    tear_down(&t);
}

/* A hop onto these parities, one after the other: all columns to v. */
static void hop_onto(setup *t, int count, const lat_parity *parity, bool dagger, cd *v)
{
    const lat_part all = both(t);
    CHECK(!t->s->ops->random(t->s, &all, 10, t->x) && !t->s->ops->zero(t->s, &all, t->y), "%s",
          lat_error());
    for (int k = 0; k < count; k++) {
        const lat_part p = {parity[k], t->columns, t->all};
        CHECK(!t->d->ops->hop(t->d, dagger, &p, 0, NULL, 1, t->y, t->x), "%s", lat_error());
    }
    for (int c = 0; c < t->columns; c++)
        get(t, t->y, c, v + (size_t)c * t->n);
}

/* Onto both parities at once: the same bits. */
static void same_hop(const char *dims, lat_storage storage, int columns)
{
    setup t;
    memset(&t, 0, sizeof t);
    t.u = field_new(LAT_GAUGE, geometry_of(dims), 3, LAT_F64);
    fill_haar(&t.u, 12);
    t.p.f = fermion_of(.4);
    set_up(&t, storage, columns, (lat_dirac_options){.reals = 12});
    const size_t n = (size_t)columns * t.n;
    cd *const at_once = numbers(n, sizeof(cd)), *const in_turn = numbers(n, sizeof(cd));
    for (int k = 0; k < 4; k++) {
        hop_onto(&t, 1, (lat_parity[]){LAT_BOTH}, k % 2, at_once);
        hop_onto(&t, 2, (lat_parity[]){LAT_EVEN, LAT_ODD}, k % 2, in_turn);
        CHECK(!memcmp(at_once, in_turn, n * sizeof(cd)),
              "%s, %d columns: a hop onto both parities has other bits", dims, columns);
    }
    free(at_once);
    free(in_turn);
    tear_down(&t);
}

static void check_bits(void)
{
    static const lat_dirac_matrix matrices[] = {
        {LAT_ASYMMETRIC, LAT_PLAIN}, {LAT_SYMMETRIC, LAT_PLAIN}, {LAT_SYMMETRIC, LAT_DAGGER}};
    /* A GPU's bricks of 4x8 sites side by side, of 16x2, of 8x4: tiles, for several columns. */
    static const char *const tiled[] = {"24 8 4 4", "32 4 2 6", "16 8 4 2"};
    for (int storage = 0; storage < (dev->gpu ? 3 : 2); storage++)
        for (int reals = dev->gpu ? 12 : 8; reals <= 18; reals += reals == 8 ? 4 : 6)
            for (int k = 0; k < (dev->gpu ? 3 : 1); k++) { /* a GPU has kernels for each */
                if (emulated(dev) && k != (storage + reals / 6) % 3)
                    continue;
                if (emulated(dev) && (temporal || brief) && reals != (storage % 2 ? 18 : 12))
                    continue; /* half of them */
                if (brief && temporal)
                    continue;
                same_bits("8 4 8 8", 1, (lat_storage)storage, reals, matrices[k]);
                same_bits("6 2 4 10", 1, (lat_storage)storage, reals, matrices[k]);
                for (int i = 0; i < 3; i++)
                    if (!emulated(dev) || i == (storage + k) % 3)
                        same_bits(tiled[i], 0, (lat_storage)storage, reals, matrices[k]);
            }
    if (emulated(dev)) {
        same_bits("16 8 8 4", 0, LAT_STORAGE_SINGLE, 12, matrices[0]);
        same_bits("16 8 8 4", 0, LAT_STORAGE_DOUBLE, 12, matrices[0]);
        same_hop("16 8 4 8", LAT_STORAGE_SINGLE, 5);
        same_hop("16 4 12 4", LAT_STORAGE_SINGLE, 5);
    } else if (dev->gpu) {
        /* tiles whose blocks run at once and take all columns, or some of them */
        same_bits("16 16 16 16", 0, LAT_STORAGE_SINGLE, 12, matrices[0]);
        same_bits("16 16 8 8", 0, LAT_STORAGE_SINGLE, 12, matrices[0]);
        /* in double tiles are for larger ones (LAT_CUDA_TILED_SITES) */
        same_bits("32 32 16 16", 0, LAT_STORAGE_DOUBLE, 12, matrices[0]);
        same_hop("16 16 8 16", LAT_STORAGE_SINGLE, 5);
        same_hop("16 16 12 16", LAT_STORAGE_SINGLE, 5);
    }
    same_hop("8 4 6 4", LAT_STORAGE_SINGLE, 3);
}

/* ---- linear algebra -------------------------------------------------------------------------- */

enum { FIELDS = 6 };
typedef struct algebra {
    setup t;
    lat_dfield *f[FIELDS];
    cd *v[FIELDS]; /* the same of column 1, on odd sites */
} algebra;

static void fresh(algebra *a)
{
    const lat_part all = both(&a->t);
    for (int i = 0; i < FIELDS; i++) {
        CHECK(!a->t.s->ops->random(a->t.s, &all, (uint64_t)i, a->f[i]), "%s", lat_error());
        get(&a->t, a->f[i], 1, a->v[i]);
    }
}

/* Field i is v: the odd sites of column 1. */
static void compare(algebra *a, int i, const char *what)
{
    get(&a->t, a->f[i], 1, a->t.out);
    plain_only(&a->t.p, 1, a->t.out);
    memcpy(a->t.expected, a->v[i], a->t.n * sizeof(cd));
    plain_only(&a->t.p, 1, a->t.expected);
    const double off = apart(a->t.out, a->t.expected, a->t.n);
    CHECK(off <= 20 * a->t.eps, "%s: off by %g", what, off);
}

/* Sums here are in long double. A number is added up at a site (14 roundings), with the sites of
 * its part of a slice (12 at most), with other parts (4) and slices (8): fewer than 40 of each. */
static void compare_sums(algebra *a, int i, int j, lat_scalar dot, double norm, const char *what)
{
    long double re = 0, im = 0, square = 0, other = 0;
    for (size_t k = 0; k < a->t.n; k++)
        if (plain_parity(&a->t.p, k / (size_t)plain_spins(&a->t.p))) {
            const long double x[2] = {creal(a->v[i][k]), cimag(a->v[i][k])},
                              y[2] = {creal(a->v[j][k]), cimag(a->v[j][k])};
            re += x[0] * y[0] + x[1] * y[1];
            im += x[0] * y[1] - x[1] * y[0];
            square += y[0] * y[0] + y[1] * y[1];
            other += x[0] * x[0] + x[1] * x[1];
        }
    const double off = hypot((double)(dot.re - re), (double)(dot.im - im)),
                 size = sqrt((double)(square * other));
    CHECK(off <= 40 * a->t.eps * size
              && fabs((double)(norm - square)) <= 40 * a->t.eps * (double)square,
          "%s: off by %g of %g; norm %.17g, expected %.17g", what, off, size, norm, (double)square);
}

#define EACH_NUMBER(n, ...) \
    for (size_t k = 0; k < (n); k++) { \
        __VA_ARGS__ \
    }

/* Projections: fields of one column stand for each column. */
enum { WIDE = 13, MANY = 70 };
typedef struct projection {
    lat_space *one, *many;
    lat_dfield *w[MANY], *x[2], *y[2]; /* x of one column, y of WIDE; [1]: what combine makes */
    lat_scalar *a, *dot;               /* [MANY][WIDE] */
    lat_scalar *a1, *dot1;             /* of one column */
} projection;

static const int every[WIDE] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

/* x to field j of the algebra, for comparison. */
static void show(algebra *a, const projection *q, const lat_dfield *x, int j)
{
    static const int one[] = {1};
    const lat_part p = {LAT_BOTH, 1, one};
    CHECK(!a->t.s->ops->convert(a->t.s, &p, q->one, x, a->f[j]), "%s", lat_error());
    get(&a->t, a->f[j], 1, a->v[j]);
}

/* x[0] is column c of y[0]: its products, and its combination, x[1]. */
static void project_one(projection *q, int n, lat_parity parity, int c)
{
    const lat_dfield *const *w = (const lat_dfield *const *)q->w;
    const lat_part one = {parity, 1, every}, here = {LAT_BOTH, 1, every + c},
                   alone = {LAT_BOTH, 1, every};
    const lat_vector_ops *ops = q->one->ops;
    CHECK(!ops->convert(q->one, &here, q->many, q->y[0], q->x[0])
              && !ops->copy(q->one, &alone, q->x[0], q->x[1]),
          "%s", lat_error());
    for (int j = 0; j < n; j++)
        q->a1[j] = q->a[j * WIDE + c];
    CHECK(!ops->products(q->one, &one, n, w, q->x[0], q->dot1)
              && !ops->combine(q->one, &one, n, q->a1, w, q->x[1]),
          "%s", lat_error());
}

/* The same of columns side by side has the same bits, and other columns stay. */
static void check_columns(projection *q, int n, const lat_part *p)
{
    const lat_dfield *const *w = (const lat_dfield *const *)q->w;
    const lat_vector_ops *ops = q->many->ops;
    const lat_part all = {LAT_BOTH, WIDE, every};
    lat_scalar minus[WIDE];
    for (int c = 0; c < WIDE; c++)
        minus[c] = (lat_scalar){-1, 0};
    CHECK(!ops->copy(q->many, &all, q->y[0], q->y[1])
              && !ops->products(q->many, p, n, w, q->y[0], q->dot)
              && !ops->combine(q->many, p, n, q->a, w, q->y[1]),
          "%s", lat_error());
    for (int i = 0; i < p->columns; i++) {
        const int c = p->column[i];
        const lat_part here = {LAT_BOTH, 1, every + c}, one = {LAT_BOTH, 1, every};
        double off = NAN;
        project_one(q, n, p->parity, c);
        for (int j = 0; j < n; j++)
            CHECK(!memcmp(&q->dot1[j], &q->dot[j * WIDE + c], sizeof *q->dot),
                  "product %d of %d with column %d of %d: %.17g %.17g, alone %.17g %.17g", j, n, c,
                  p->columns, q->dot[j * WIDE + c].re, q->dot[j * WIDE + c].im, q->dot1[j].re,
                  q->dot1[j].im);
        CHECK(!ops->convert(q->one, &here, q->many, q->y[1], q->x[0])
                  && !ops->axpby(q->one, &one, minus, q->x[1], NULL, q->x[0], &off),
              "%s", lat_error());
        CHECK(off == 0, "combination of %d, column %d of %d: other bits than alone, |.|^2 %g", n, c,
              p->columns, off);
    }
    double moved[WIDE];
    CHECK(!ops->axpby(q->many, &all, minus, q->y[0], NULL, q->y[1], moved), "%s", lat_error());
    for (int c = 0, i = 0; c < WIDE; c++) {
        const bool active = i < p->columns && p->column[i] == c;
        i += active;
        CHECK(active ? moved[c] > 0 : moved[c] == 0, "combination of %d: column %d moved by %g", n,
              c, moved[c]);
    }
}

/* Against sums in long double, on odd sites. */
static void check_values(algebra *a, projection *q, int n)
{
    static const int one[] = {0};
    const lat_part p = {LAT_ODD, 1, one};
    double norm;
    project_one(q, n, LAT_ODD, 5);
    show(a, q, q->x[0], 1);
    show(a, q, q->x[1], 2);
    CHECK(!q->one->ops->dots(q->one, &p, 0, NULL, q->x[0], NULL, &norm), "%s", lat_error());
    memcpy(a->v[3], a->v[1], a->t.n * sizeof(cd));
    for (int j = 0; j < n; j++) {
        show(a, q, q->w[j], 0);
        compare_sums(a, 0, 1, q->dot1[j], norm, "products");
        for (size_t k = 0; k < a->t.n; k++)
            a->v[3][k] += (q->a1[j].re + q->a1[j].im * I) * a->v[0][k];
    }
    memcpy(a->v[2], a->v[3], a->t.n * sizeof(cd));
    compare(a, 2, "combine");
}

static void check_projections(algebra *a)
{
    static const int two[] = {2, 7}, four[] = {1, 5, 8, 12};
    static const int counts[] = {1, 19, MANY};
    projection q = {.one = lat_space_open(a->t.s->grid, a->t.s->nc, 1),
                    .many = lat_space_open(a->t.s->grid, a->t.s->nc, WIDE)};
    const lat_part all = {LAT_BOTH, WIDE, every}, one = {LAT_BOTH, 1, every};
    q.a = numbers(MANY * 2 * (WIDE + 1), sizeof(lat_scalar));
    q.dot = q.a + MANY * WIDE;
    q.a1 = q.dot + MANY * WIDE;
    q.dot1 = q.a1 + MANY;
    for (int k = 0; k < MANY * WIDE; k++)
        q.a[k] = (lat_scalar){sin(k + 1), k % 3 ? cos(k) : 0};
    for (int i = 0; i < 2; i++) {
        q.x[i] = lat_vector_new(q.one, "a field");
        q.y[i] = lat_vector_new(q.many, "a field");
    }
    CHECK(!q.many->ops->random(q.many, &all, 99, q.y[0]), "%s", lat_error());
    for (int j = 0; j < MANY; j++) {
        q.w[j] = lat_vector_new(q.one, "a field");
        CHECK(q.w[j] && !q.one->ops->random(q.one, &one, (uint64_t)j, q.w[j]), "%s", lat_error());
    }
    check_values(a, &q, counts[1]);
    for (int k = 0; k < 3; k++) {
        const lat_part parts[] = {{LAT_BOTH, WIDE, every},
                                  {LAT_ODD, 2, two},
                                  {LAT_EVEN, 4, four},
                                  {LAT_ODD, 1, two},
                                  {LAT_BOTH, 0, NULL}};
        for (int i = 0; i < 5; i++)
            check_columns(&q, counts[k], &parts[i]);
    }
    for (int j = 0; j < MANY; j++)
        lat_dfield_free(q.w[j]);
    for (int i = 0; i < 2; i++) {
        lat_dfield_free(q.x[i]);
        lat_dfield_free(q.y[i]);
    }
    free(q.a);
    lat_space_close(q.one);
    lat_space_close(q.many);
}

/* The shadow of the number at `at`. */
static cd shadow_at(algebra *a, size_t at)
{
    static const int one[] = {1};
    const lat_part p = {LAT_ODD, 1, one};
    lat_scalar to[2];
    memset(a->t.out, 0, a->t.n * sizeof(cd));
    a->t.out[at] = 1;
    put(&a->t, a->f[5], 1, a->t.out);
    CHECK(!a->t.s->ops->shadow(a->t.s, &p, a->f[5], to), "%s", lat_error());
    return to[1].re + to[1].im * I;
}

/* e is 1 or -1, the same for all colours, in the basis that fields have inside; both signs, in each
 * spin, on about half of the sites. */
static void check_shadow(algebra *a)
{
    static const int one[] = {1};
    const lat_part p = {LAT_ODD, 1, one};
    lat_scalar dot[2];
    cd expected = 0;
    const size_t nc = (size_t)a->t.s->nc;
    int plus[4] = {0}, sites = 0;
    fresh(a);
    CHECK(!a->t.s->ops->shadow(a->t.s, &p, a->f[0], dot), "%s", lat_error());
    for (size_t at = 0; at < a->t.n; at += 4 * nc) {
        const bool odd = plain_parity(&a->t.p, at / (4 * nc));
        sites += odd;
        for (size_t s = 0; s < 2 && odd; s++) {
            const cd first = shadow_at(a, at + nc * s), second = shadow_at(a, at + nc * (2 + s)),
                     e[2] = {(first + second) * M_SQRT1_2, (first - second) * M_SQRT1_2};
            for (int h = 0; h < 2; h++) {
                CHECK(fabs(fabs(creal(e[h])) - 1) < 8 * a->t.eps && cimag(e[h]) == 0,
                      "e of spin %d at site %zu: %g %g", (int)s + 2 * h, at / (4 * nc), creal(e[h]),
                      cimag(e[h]));
                plus[s + 2 * (size_t)h] += creal(e[h]) > 0;
            }
            for (size_t c = 0; c < nc; c++)
                expected += first * a->v[0][at + nc * s + c]
                            + second * a->v[0][at + nc * (2 + s) + c];
        }
    }
    CHECK(cabs(dot[1].re + I * dot[1].im - expected)
              <= 40 * a->t.eps * sqrt(norm2(a->v[0], a->t.n) * (double)a->t.n),
          "shadow %g %g, expected %g %g", dot[1].re, dot[1].im, creal(expected), cimag(expected));
    for (int s = 0; s < 4; s++) /* five standard deviations */
        CHECK(fabs(plus[s] - sites / 2.) < 2.5 * sqrt(sites), "spin %d: %d of %d signs are +", s,
              plus[s], sites);
}

/* The passes of solvers, of column 1, with these coefficients. */
static void check_solver_passes(algebra *a, const lat_scalar *alpha, const lat_scalar *omega,
                                const lat_scalar *beta)
{
    static const int one[] = {1};
    const lat_part p = {LAT_ODD, 1, one};
    const lat_vector_ops *ops = a->t.s->ops;
    lat_scalars *by = ops->scalars->open(a->t.s);
    const cd c[3] = {alpha[1].re + alpha[1].im * I, omega[1].re + omega[1].im * I,
                     beta[1].re + beta[1].im * I};
    double norm[2];
    fresh(a);
    CHECK(by && !ops->scalars->set(by, &p, LAT_ROW_BETA, beta)
              && !ops->cg(a->t.s, &p, lat_number(alpha), lat_number(omega),
                          lat_row_of(by, LAT_ROW_BETA), a->f[0], a->f[1], a->f[2]),
          "%s", lat_error());
    EACH_NUMBER(a->t.n, a->v[0][k] += creal(c[0]) * a->v[1][k];
                a->v[1][k] = creal(c[2]) * a->v[2][k] + creal(c[1]) * a->v[1][k];)
    compare(a, 0, "cg: x");
    compare(a, 1, "cg: p");
    fresh(a);
    CHECK(!ops->scalars->set(by, &p, LAT_ROW_ALPHA, alpha)
              && !ops->scalars->set(by, &p, LAT_ROW_OMEGA, omega)
              && !ops->bicgstab(a->t.s, &p, by, a->f[0], a->f[2], a->f[1], a->f[3], a->f[4])
              && !ops->scalars->read(by, &p, LAT_STEP_NORM, 0, norm),
          "%s", lat_error());
    EACH_NUMBER(a->t.n, a->v[0][k] += c[0] * a->v[1][k] + c[1] * a->v[2][k];
                a->v[2][k] -= c[1] * a->v[3][k];
                a->v[1][k] = a->v[2][k] + c[2] * (a->v[1][k] - c[1] * a->v[4][k]);)
    compare(a, 0, "bicgstab: x");
    compare(a, 2, "bicgstab: r");
    compare(a, 1, "bicgstab: p");
    compare_sums(a, 2, 2, (lat_scalar){norm[1], 0}, norm[1], "bicgstab");
    ops->scalars->close(by);
}

/* A row of scalars where the device has it, by what it does to a field. */
static cd row_value(algebra *a, const lat_scalars *by, lat_row row)
{
    static const int one[] = {1};
    const lat_part p = {LAT_ODD, 1, one};
    const lat_vector_ops *ops = a->t.s->ops;
    const lat_dfield *x = a->f[4];
    lat_scalar dot[2], *const to = dot;
    double norm[2];
    CHECK(!ops->zero(a->t.s, &p, a->f[5]) && !ops->add(a->t.s, &p, lat_row_of(by, row), x, a->f[5])
              && !ops->dots(a->t.s, &p, 1, &x, a->f[5], &to, NULL)
              && !ops->dots(a->t.s, &p, 0, NULL, x, NULL, norm),
          "%s", lat_error());
    return (dot[1].re + dot[1].im * I) / norm[1];
}

/* Steps that the device takes are those of the host, from the same sums; one number a field is
 * rounded to its storage, sums of its sites some ten times. */
static void check_steps(algebra *a)
{
    static const int one[] = {1};
    const lat_part p = {LAT_ODD, 1, one};
    const lat_vector_ops *ops = a->t.s->ops;
    const lat_dirac_matrix m = {LAT_ASYMMETRIC, LAT_PLAIN};
    const lat_scalar gamma[2] = {{0, 0}, {1.7, 0}}, rho[2] = {{0, 0}, {-.6, 1.3}};
    lat_scalars *by = ops->scalars->open(a->t.s), host = {0};
    double norm[2], reported[2];
    lat_scalar dot[2], shadow[2], shadow_in[2];
    fresh(a);
    CHECK(by && !ops->scalars->set(by, &p, LAT_ROW_GAMMA, gamma)
              && !ops->scalars->set(by, &p, LAT_ROW_RHO, rho),
          "%s", lat_error());
    host.row[LAT_ROW_GAMMA][1] = gamma[1];
    host.row[LAT_ROW_RHO][1] = rho[1];
    for (lat_scalar_step step = LAT_STEP_CG_ALPHA; step <= LAT_STEP_BI_BETA; step++) {
        const lat_apply_end on = {.scalars = by, .step = step, .with = a->f[0]};
        const int sums = lat_apply_sums(&on);
        const lat_apply_end off = {.norm = norm,
                                   .with = sums & LAT_SUM_DOT ? a->f[0] : NULL,
                                   .dot = dot,
                                   .shadow = sums & LAT_SUM_SHADOW ? shadow : NULL,
                                   .shadow_in = sums & LAT_SUM_SHADOW_IN ? shadow_in : NULL};
        double v[7], *to = v;
        if (step != LAT_STEP_CG_BETA)
            CHECK(!a->t.d->ops->apply(a->t.d, m, &p, a->f[1], a->f[0], &off), "%s", lat_error());
        else { /* out = out - alpha M in */
            const double minus[2] = {0, host.row[LAT_ROW_MINUS][1].re};
            const lat_apply_end add = {.norm = norm, .add = minus};
            CHECK(!ops->copy(a->t.s, &p, a->f[2], a->f[3])
                      && !a->t.d->ops->apply(a->t.d, m, &p, a->f[3], a->f[0], &add)
                      && !ops->copy(a->t.s, &p, a->f[2], a->f[1]),
                  "%s", lat_error());
        }
        CHECK(!a->t.d->ops->apply(a->t.d, m, &p, a->f[1], a->f[0], &on)
                  && !ops->scalars->read(by, &p, step, 0, reported),
              "%s", lat_error());
        *to++ = norm[1];
        const lat_scalar *const more[] = {dot, shadow, shadow_in};
        for (int k = 0; k < 3; k++)
            if (sums & (LAT_SUM_DOT << 2 * k)) {
                *to++ = more[k][1].re;
                *to++ = more[k][1].im;
            }
        lat_scalars_take(&host, &p, step, 0, 0, v);
        const double expected = host.number[step][host.taken[step] % 2][1];
        CHECK(fabs(reported[1] - expected) <= 100 * a->t.eps * fabs(expected),
              "step %d reports %.17g, expected %.17g", step, reported[1], expected);
        for (int row = 0; row < LAT_ROWS; row++) {
            const cd is = row_value(a, by, (lat_row)row),
                     was = host.row[row][1].re + host.row[row][1].im * I;
            CHECK(cabs(is - was) <= 100 * a->t.eps * cabs(was),
                  "step %d: row %d is %g %g, expected %g %g", step, row, creal(is), cimag(is),
                  creal(was), cimag(was));
        }
    }
    ops->scalars->close(by);
}

static void check_algebra(const char *dims, int nc)
{
    for (int storage = 0; storage < 2; storage++) {
        algebra a;
        setup *t = &a.t;
        memset(t, 0, sizeof *t);
        t->u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64);
        fill_haar(&t->u, 11);
        t->p.f = fermion_of(.4);
        set_up(t, (lat_storage)storage, 3, (lat_dirac_options){0});
        for (int i = 0; i < FIELDS; i++) {
            a.f[i] = lat_vector_new(t->s, "a field");
            a.v[i] = numbers(t->n, sizeof(cd));
        }
        const lat_vector_ops *ops = t->s->ops;
        static const int one[] = {1};
        const lat_part p = {LAT_ODD, 1, one};
        const lat_scalar s[3][3] = {{{0, 0}, {.7, -.2}}, {{0, 0}, {-1.1, .4}}, {{0, 0}, {.3, 0}}};
        const cd c[3] = {.7 - .2 * I, -1.1 + .4 * I, .3};
        double norm[3];
        lat_scalar dot[3][3];
        fresh(&a);
        CHECK(!ops->axpby(t->s, &p, s[0], a.f[0], s[1], a.f[1], norm), "%s", lat_error());
        EACH_NUMBER(t->n, a.v[1][k] = c[0] * a.v[0][k] + c[1] * a.v[1][k];)
        compare(&a, 1, "axpby");
        const lat_scalar bad[3] = {{0, 0}, {NAN, 0}}, none[3] = {{0, 0}};
        CHECK(!ops->axpby(t->s, &p, s[0], a.f[0], bad, a.f[1], NULL)
                  && !ops->axpby(t->s, &p, s[0], a.f[0], none, a.f[1], norm),
              "%s", lat_error());
        EACH_NUMBER(t->n, a.v[1][k] = c[0] * a.v[0][k];)
        compare(&a, 1, "axpby, where y is not read");
        lat_scalar *const dots[] = {dot[0], dot[1]};
        const lat_dfield *const x[] = {a.f[0], a.f[2]};
        CHECK(!ops->dots(t->s, &p, 2, x, a.f[1], dots, norm), "%s", lat_error());
        compare_sums(&a, 0, 1, dot[0][1], norm[1], "dots");
        compare_sums(&a, 2, 1, dot[1][1], norm[1], "dots");
        const lat_scalar *const terms[] = {s[0], s[2]};
        CHECK(!ops->axpys(t->s, &p, 2, terms, x, a.f[3], norm), "%s", lat_error());
        EACH_NUMBER(t->n, a.v[3][k] += c[0] * a.v[0][k] + c[2] * a.v[2][k];)
        compare(&a, 3, "axpys");
        check_solver_passes(&a, s[0], s[1], s[2]);
        check_steps(&a);
        check_shadow(&a);
        check_projections(&a);
        for (int i = 0; i < FIELDS; i++) {
            lat_dfield_free(a.f[i]);
            free(a.v[i]);
        }
        tear_down(t);
    }
}

/* From double to single and back: rounded once; other columns and sites stay. */
static void check_convert(void)
{
    setup t, r;
    simple_setup(&t, "4 6 2 8", LAT_STORAGE_DOUBLE, 0, 0);
    simple_setup(&r, "4 6 2 8", LAT_STORAGE_SINGLE, 0, 0);
    const lat_part all = both(&t), odd = {LAT_ODD, 1, t.all};
    CHECK(!t.s->ops->random(t.s, &all, 5, t.x) && !r.s->ops->convert(r.s, &odd, t.s, t.x, r.x)
              && !t.s->ops->convert(t.s, &all, r.s, r.x, t.y),
          "%s", lat_error());
    get(&t, t.x, 0, t.expected);
    get(&t, t.y, 0, t.out);
    plain_only(&t.p, 1, t.expected);
    const double off = apart(t.out, t.expected, t.n);
    CHECK(off > 0 && off <= 0x1p-24, "off by %g", off);
    tear_down(&t);
    tear_down(&r);
}

/* Random numbers of one parity are those of both, and the other parity stays. */
static void check_random(void)
{
    setup t;
    simple_setup(&t, "4 6 2 8", LAT_STORAGE_DOUBLE, 0, 0);
    const lat_part all = both(&t);
    for (int parity = LAT_EVEN; parity <= LAT_ODD; parity++) {
        const lat_part p = {(lat_parity)parity, 1, t.all}, other = {!parity, 1, t.all};
        CHECK(!t.s->ops->random(t.s, &all, 5, t.x) && !t.s->ops->zero(t.s, &all, t.y)
                  && !t.s->ops->random(t.s, &p, 5, t.y) && !t.s->ops->copy(t.s, &other, t.x, t.y),
              "%s", lat_error());
        get(&t, t.x, 0, t.expected);
        get(&t, t.y, 0, t.out);
        CHECK(apart(t.out, t.expected, t.n) == 0, "parity %d", parity);
        CHECK(!t.s->ops->zero(t.s, &all, t.y) && !t.s->ops->random(t.s, &p, 5, t.y)
                  && !t.s->ops->zero(t.s, &p, t.y),
              "%s", lat_error());
        get(&t, t.y, 0, t.out);
        double rest = 0;
        for (size_t k = 0; k < t.n; k++)
            rest += cabs(t.out[k]);
        CHECK(rest == 0, "parity %d: %g in the other one", parity, rest);
    }
    tear_down(&t);
}

/* ---- the temporal gauge ---------------------------------------------------------------------- */

/* M in double and single of links that are as far from SU(3) as `real` has them, against the plain
 * reference; `unit`: are links of t taken to be 1 in this storage? */
static void in_temporal(lat_real real, lat_storage storage, bool unit)
{
    setup t;
    memset(&t, 0, sizeof t);
    t.u = field_new(LAT_GAUGE, geometry_of("4 6 2 8"), 3, real);
    fill_haar(&t.u, 11);
    t.p.f = fermion_of(.4);
    t.p.f.csw = t.p.f.csw_t = 1;
    set_up(&t, storage, 1, (lat_dirac_options){.reals = 18});
    const double off = t.gauge ? t.gauge->off : -1;
    CHECK(t.gauge && lat_temporal_unit(t.gauge, storage) == unit, "links of t: 1 but for %g", off);
    random_numbers(t.in, t.n);
    plain_full(&t.p, false, t.in, t.expected);
    times_m(&t, full_m, t.in, t.out);
    const double found = apart(t.out, t.expected, t.n);
    CHECK(found <= 40 * t.eps, "%d bytes, storage %d: off by %g", (int)real, (int)storage, found);
    tear_down(&t);
}

static void check_temporal(void)
{
    temporal = true;
    in_temporal(LAT_F64, LAT_STORAGE_DOUBLE, true);
    in_temporal(LAT_F64, LAT_STORAGE_SINGLE, true);
    in_temporal(LAT_F32, LAT_STORAGE_DOUBLE, false);
    in_temporal(LAT_F32, LAT_STORAGE_SINGLE, true);
    setup t; /* a link that is none, and a lattice of one slice */
    for (int k = 0; k < 3; k++) {
        lat_temporal *gauge = NULL;
        double m[18] = {[0] = k == 0 ? 1.01 : NAN, [8] = 1, [16] = 1};
        memset(&t, 0, sizeof t);
        t.u = field_new(LAT_GAUGE, geometry_of(k == 2 ? "4 4 4 1" : "4 4 4 4"), 3, LAT_F64);
        fill_haar(&t.u, 11);
        if (k < 2)
            lat_field_put(&t.u, 4 * 77 + 3, m);
        CHECK(!lat_temporal_open(dev, &t.u, NULL, &gauge) && !gauge, "case %d: %s", k, lat_error());
        lat_temporal_close(gauge);
        lat_field_free(&t.u);
    }
    check_system();
    check_bits();
    temporal = false;
}

/* ---- a lattice of many blocks ---------------------------------------------------------------- */

/* M and S, with sums, of 1 and 5 columns on a lattice that fills more than two blocks of each
 * multiprocessor, where a GPU has other kernels (cuda_hop_launch.cuh), against the CPU in double.
 * (The CPU has the same kernels for every size.) */
static void check_large(void)
{
    lat_device *const here = dev;
    const char *const dims = emulated(here) ? "8 8 8 4" : here->gpu ? "16 16 16 24" : "16 16 8 8";
    for (int k = 0; k < (here->gpu ? 24 : 4); k++) {
        const lat_storage storage = (lat_storage)(k / 8);
        const double csw = k & 1, eps = storage == LAT_STORAGE_DOUBLE   ? 0x1p-53
                                        : storage == LAT_STORAGE_SINGLE ? 0x1p-24
                                                                        : 0x1p-16;
        const int columns = k & 2 ? 5 : 1;
        setup t[2];
        double norm[2][LAT_VECTOR_COLUMNS];
        for (int i = 0; i < 2; i++) {
            memset(&t[i], 0, sizeof t[i]);
            t[i].u = field_new(LAT_GAUGE, geometry_of(dims), 3, LAT_F64);
            fill_near_one_fast(&t[i].u, ROUGH, 3);
            t[i].p.f = fermion_of(.4);
            t[i].p.f.csw = t[i].p.f.csw_t = csw;
            dev = i ? here : cpu_device();
            temporal = i && k & 4;
            set_up(&t[i], i ? storage : LAT_STORAGE_DOUBLE, columns, (lat_dirac_options){0});
            temporal = false;
        }
        for (int c = 0; c < columns; c++) {
            random_numbers(t[0].in, t[0].n);
            put(&t[1], t[1].x, c, t[0].in);
            get(&t[1], t[1].x, c, t[0].in); /* rounded */
            put(&t[0], t[0].x, c, t[0].in);
        }
        const lat_dirac_matrix m[] = {full_m, {LAT_SYMMETRIC, LAT_PLAIN}};
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < 2; i++) {
                const lat_part p = {j ? LAT_ODD : LAT_BOTH, columns, t[i].all};
                const lat_apply_end end = {.norm = norm[i]};
                CHECK(!t[i].d->ops->apply(t[i].d, m[j], &p, t[i].y, t[i].x, &end), "%s",
                      lat_error());
            }
            const int c = columns - 1;
            get(&t[0], t[0].y, c, t[0].expected);
            get(&t[1], t[1].y, c, t[0].out);
            const double off = apart(t[0].out, t[0].expected, t[0].n);
            CHECK(off <= 40 * eps && fabs(norm[1][c] / norm[0][c] - 1) <= 160 * eps,
                  "case %d: off by %.2e, |M x|^2 %.17g, expected %.17g", k, off, norm[1][c],
                  norm[0][c]);
        }
        dev = cpu_device();
        tear_down(&t[0]);
        dev = here;
        tear_down(&t[1]);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* Of SU(3), or of SU(2) where its reals are asked for. */
static void refused(double mass, double csw, int reals, bool bent, const char *words)
{
    const int nc = reals == 4 ? 2 : 3;
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 4 4 4"), nc, LAT_F64);
    fill_near_one(&u, 0, 1);
    double m[18] = {[0] = 1.001, [6] = nc == 2, [8] = nc == 3, [16] = nc == 3};
    if (bent)
        lat_field_put(&u, 4 * 77 + 2, m);
    lat_fermion f = fermion_of(mass);
    f.csw = f.csw_t = csw;
    const lat_dirac_options options = {.reals = reals};
    const lat_grid_spec spec = {u.head.geom, LAT_STORAGE_DOUBLE, -1, false, true};
    lat_grid *grid = lat_grid_new(dev, &spec);
    lat_space *s = lat_space_open(grid, nc, 1);
    lat_dirac *d = lat_dirac_open(s, &u, &f, &options);
    if (words)
        CHECK(!d && strstr(lat_error(), words), "%s: %s", words, lat_error());
    else
        CHECK(d && d->reals == 18, "%s", lat_error());
    lat_dirac_close(d);
    lat_space_close(s);
    lat_grid_free(grid);
    lat_field_free(&u);
    lat_error_clear();
}

static void check_refusals(void)
{
    refused(.1, 0, 4, true, "link at 1,3,0,1 z: 4 reals a link need SU(2) to");
    refused(.1, 0, 12, true, "link at 1,3,0,1 z: 12 reals a link need SU(3) to");
    refused(.1, 0, 8, true,
            dev->gpu ? "8 reals a link: GPUs have 12 and 18" : "8 reals a link need SU(3) to");
    refused(.1, 0, 0, true, NULL); /* it takes all 18 by itself */
    refused(.1, 0, 10, false, "10 reals a link: expected 18, 12 or 8 of SU(3)");
    refused(NAN, 0, 0, false, "expected a finite mass");
    refused(-4, 0, 0, false, "the diagonal of the Dirac operator is 0");
    refused(-4, 1, 0, false, "clover term at 0,0,0,0: its block of gamma5 = 1 cannot be inverted");
}

static void check_device(int cases)
{
    device_case(dev, "operators agree with the plain reference on random lattices");
    check_reference(cases);
    device_case(dev, "M^+ is gamma5 M gamma5");
    check_hermiticity();
    device_case(dev, "M is gauge covariant");
    check_covariance();
    device_case(dev, "M on plane waves is that of free fermions");
    check_free();
    device_case(dev, "the system of one parity solves that of both");
    check_system();
    device_case(dev, "the clover term of a uniform flux is sin w");
    check_flux();
    device_case(dev, "log det of A is that of its blocks");
    check_logdet();
    device_case(dev, "a column has the same bits with any others, on any number of threads");
    check_bits();
    device_case(dev, "in the temporal gauge all is as in that of the links");
    check_temporal();
    device_case(dev, "large lattices have the same operators");
    check_large();
    device_case(dev, "linear algebra is that of plain loops");
    check_algebra("4 6 2 8", 3);
    check_algebra("4 6 2 8", 2);
    if (!emulated(dev)) {
        check_algebra("8 4 8 4", 3);
        check_algebra("6 2 6 6", 3); /* lanes do not run in boxes */
    }
    device_case(dev, "fields are converted between precisions");
    check_convert();
    check_random();
    device_case(dev, "what cannot be an operator is refused");
    check_refusals();
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* check_dirac bytes N DEVICE [GRID [TRANSPORT]]: on N ranks, what sums are and, of each plane in z,
 * checksums of spinors: a line for each step, so that the first one that differs says where to
 * look. On the CPU lanes are in boxes; in rows; in boxes on one rank and in rows on several. On a
 * GPU groups are bricks of 8 x 4, 8 x 4 and 2 x 16 sites. DEVICE "rows" is a GPU with lattices of
 * which y may be cut: 6 rows of bricks of 8 x 4 sites, 2 of 2 x 16, 8 of 16 x 2. */
static const char *const on_cpu[] = {"8 4 8 8", "6 2 4 10", "4 4 4 8"},
                         *const on_gpu[] = {"8 8 8 10", "16 4 24 6", "4 16 8 6"},
                         *const on_rows[] = {"16 24 4 8", "4 32 4 10", "32 16 4 8"};

typedef struct bytes_case {
    const lat_comm *comm;
    bool rows;        /* GPUs may cut y, and take products with modes of some lattices */
    lat_field u, out; /* out: two columns */
    lat_grid *grid;
    lat_temporal *gauge;
    lat_space *s;
    lat_dirac *d;
    lat_dfield *x, *y;
    char name[64];
} bytes_case;

static const lat_part both_parities = {LAT_BOTH, 2, lat_column_numbers},
                      odd_sites = {LAT_ODD, 2, lat_column_numbers},
                      first_alone = {LAT_BOTH, 1, lat_column_numbers};

static void open_bytes(bytes_case *b, lat_device *device, const char *dims, lat_storage storage,
                       double csw, double theta, bool in_gauge)
{
    b->u = field_of_ranks(LAT_GAUGE, geometry_of(dims), 3, LAT_F64, b->comm);
    fill_haar(&b->u, 11);
    need(!lat_field_exchange(&b->u), "links");
    lat_fermion f = fermion_of(.4);
    f.csw = f.csw_t = csw;
    f.boundary[3].theta = theta;
    f.boundary[2].theta = theta == 1 ? 0 : .2;
    f.boundary[1].theta = theta != 1 && b->rows ? .4 : 0;
    const lat_grid_spec spec = {b->u.head.geom, storage, -1, false, true};
    snprintf(b->name, sizeof b->name, "%s %s csw %g theta %g%s", dims, lat_storage_name(storage),
             csw, theta, in_gauge ? " temporal" : "");
    b->grid = lat_grid_new(device, &spec);
    b->gauge = NULL;
    need(b->grid && (!in_gauge || !lat_temporal_open(device, &b->u, NULL, &b->gauge)), lat_error());
    b->s = lat_space_open_in(b->grid, 3, 2, b->gauge);
    b->d = b->s ? lat_dirac_open(b->s, &b->u, &f, NULL) : NULL;
    need(b->d != NULL, lat_error());
    b->x = lat_vector_new(b->s, "x");
    b->y = lat_vector_new(b->s, "y");
    lat_header_init(&b->out.head);
    b->out.head.geom = b->u.head.geom;
    b->out.head.nc = 3;
    lat_header_make_spinors(&b->out.head, LAT_MODES, 2);
    need(b->x && b->y && !lat_field_alloc(&b->out, b->comm), "spinors");
}

static void close_bytes(bytes_case *b)
{
    lat_dfield_free(b->x);
    lat_dfield_free(b->y);
    lat_dirac_close(b->d);
    lat_space_close(b->s);
    lat_temporal_close(b->gauge);
    lat_grid_free(b->grid);
    lat_field_free(&b->u);
    lat_field_free(&b->out);
}

/* Of spinors on the device. */
static void print_planes(bytes_case *b, const char *what, const lat_dfield *x)
{
    enum { PLANES = 24, SLICES = 16 };
    const int *const dims = b->u.head.geom.dims;
    const size_t words = lat_field_reals(&b->out)
                         / (size_t)(lat_field_slab(&b->out).count * dims[2]);
    uint16_t own[SLICES][PLANES] = {{0}}, all[SLICES][PLANES];
    for (int c = 0; c < 2; c++)
        need(!lat_spinor_get(b->s, x, c, &b->out, c), "spinors");
    for (int k = 0; k < lat_field_slab(&b->out).count * dims[2]; k++) {
        uint64_t hash = 14695981039346656037u;
        for (size_t i = 0; i < words; i++) {
            uint64_t word;
            memcpy(&word, (double *)b->out.data + (size_t)k * words + i, sizeof word);
            hash = (hash ^ word) * 1099511628211u;
        }
        own[k / dims[2]][k % dims[2]] = (uint16_t)(hash >> 48 ^ hash >> 32);
    }
    need(!lat_field_gather(&b->out, own, sizeof *own, all), "checksums");
    if (b->comm->rank)
        return;
    printf("%s, %s:", b->name, what);
    for (int t = 0; t < dims[3]; t++)
        for (int z = 0; z < dims[2]; z++)
            printf("%s%04x", z ? "," : " ", all[t][z]);
    puts("");
}

/* Steps of recursions, of x to y. */
static void print_recursions(bytes_case *b)
{
    static const double add[] = {.7, -.4}, keep[] = {1.2, .3}, by[] = {-.2, .9};
    const lat_dirac_matrix gamma5 = {LAT_FULL, LAT_GAMMA5};
    const lat_apply_end affine = {.shift = {.3, .2}, .factor = .7}, terms = {.add = add,
                                                                             .keep = keep,
                                                                             .factor = .8,
                                                                             .terms = 1,
                                                                             .by = {by},
                                                                             .more = {b->x}};
    need(!b->d->ops->apply(b->d, gamma5, &both_parities, b->y, b->x, &affine), "gamma5 M");
    print_planes(b, "a shift", b->y);
    need(!b->d->ops->apply(b->d, full_m, &both_parities, b->y, b->x, &terms), "M");
    print_planes(b, "a recursion", b->y);
}

/* With two fields of one column. */
static void print_products(bytes_case *b)
{
    lat_space *one = lat_space_open(b->grid, 3, 1);
    lat_dfield *w[2] = {NULL};
    lat_scalar dot[4];
    need(one && !lat_vector_new_all(one, 2, w, "fields"), lat_error());
    for (int k = 0; k < 2; k++)
        need(!one->ops->random(one, &lat_first_column, (uint64_t)k, w[k]), "random numbers");
    const lat_dfield *const modes[] = {w[0], w[1]};
    need(!b->s->ops->products(b->s, &both_parities, 2, modes, b->y, dot), lat_error());
    if (b->comm->rank == 0)
        printf("%s, products: %a %a, %a %a\n", b->name, dot[0].re, dot[1].im, dot[2].im, dot[3].re);
    lat_vector_free_all(2, w);
    lat_space_close(one);
}

static void print_case(bytes_case *b)
{
    const lat_dirac_matrix schur = {LAT_SYMMETRIC, LAT_DAGGER};
    double norm[2], log_det;
    long negative;
    lat_scalar dot[2], shadow[2], shadow_in[2];
    const lat_apply_end end = {
        .norm = norm, .with = b->x, .dot = dot, .shadow = shadow, .shadow_in = shadow_in};
    need(!b->s->ops->random(b->s, &both_parities, 4, b->x), "random numbers");
    print_planes(b, "random", b->x);
    for (int c = 0; c < 2; c++)
        need(!lat_spinor_put(b->s, b->y, 1 - c, &b->out, c), "spinors");
    print_planes(b, "put", b->y);
    need(!b->d->ops->apply(b->d, full_m, &both_parities, b->y, b->x, NULL), "M");
    print_planes(b, "M x", b->y);
    need(!b->d->ops->apply(b->d, full_m, &first_alone, b->y, b->x, NULL), "M");
    print_planes(b, "M x of one column", b->y);
    need(!b->d->ops->apply(b->d, schur, &odd_sites, b->x, b->y, NULL), "S");
    print_planes(b, "S^+ M x", b->x);
    for (int k = 0; k < 3; k++) /* halves of ghosts in turn */
        need(!b->d->ops->apply(b->d, full_m, &both_parities, b->y, b->x, &end), "M");
    print_planes(b, "M S^+ M x", b->y);
    need(!b->d->ops->logdet(b->d, LAT_BOTH, &log_det, &negative), "log det");
    if (b->comm->rank == 0)
        printf("%s, sums: norms %a %a, dot %a, shadows %a %a, log det %a, %ld negative\n", b->name,
               norm[0], norm[1], dot[1].re, shadow[0].re, shadow_in[1].re, log_det, negative);
    need(!b->s->ops->shadow(b->s, &odd_sites, b->y, shadow), "a shadow");
    if (b->comm->rank == 0)
        printf("%s, shadow %a\n", b->name, shadow[1].im);
    print_recursions(b);
    if (b->rows && b->u.head.geom.dims[0] == 32 && b->grid->spec.storage != LAT_STORAGE_HALF)
        print_products(b);
}

static int print_bytes(int argc, char **argv)
{
    const bool rows = argc > 3 && !strcmp(argv[3], "rows"),
               gpu = rows || (argc > 3 && !strcmp(argv[3], "gpu"));
    const char *const *const lattices = rows ? on_rows : gpu ? on_gpu : on_cpu;
    lat_device_options options = {.choice = gpu ? LAT_DEVICE_GPU : LAT_DEVICE_CPU};
    int *const g = lat_comm_grid;
    if (argc > 4)
        need(sscanf(argv[4], "%d,%d,%d,%d", g, g + 1, g + 2, g + 3) == 4, "X,Y,Z,T");
    need(argc < 6 || (options.transport = transport_named(argv[5])) >= 0, "a transport");
    const lat_comm *comm = lat_comm_start(atoi(argv[2]), argv);
    lat_device *device = comm ? lat_device_open(&options, comm) : NULL;
    if (!device)
        return lat_report(LAT_FAILED);
    /* Storages, boundaries, gauges; where it takes long each of them with some of the others. */
    for (int k = 0; k < (gpu ? 36 : 24); k += emulated(device) ? rows ? 11 : 7 : 1) {
        bytes_case b = {.comm = comm, .rows = rows};
        open_bytes(&b, device, lattices[k % 3], (lat_storage)(k / 12), k % 3 != 1,
                   k / 3 % 2 ? 1 : .3, k / 6 % 2);
        print_case(&b);
        close_bytes(&b);
    }
    lat_device_close(device);
    return 0;
}

/* What `check_dirac bytes N ..` prints; NULL if it fails. The caller frees it. */
static char *bytes_of(const char *program, int ranks, const char *how)
{
    enum { MOST = 1 << 20 };
    char command[4300], *text = calloc(1, MOST);
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 "
             "ASAN_OPTIONS=\"${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0\" " /* of MPI */
             "'%s' bytes %d %s",
             program, ranks, how);
    FILE *pipe = popen(command, "r");
    need(text && pipe, "a pipe");
    const size_t n = fread(text, 1, MOST - 1, pipe);
    if (pclose(pipe) == 0 && n > 0)
        return text;
    free(text);
    return NULL;
}

/* The first line that differs. */
static void compare_bytes(const char *one, const char *program, int ranks, const char *how)
{
    char *const more = bytes_of(program, ranks, how);
    size_t at = 0;
    for (size_t i = 0; more && one[i] && one[i] == more[i]; i++)
        at = one[i] == '\n' ? i + 1 : at;
    CHECK(more && !strcmp(one, more), "%d ranks, %s: %.*s\nexpected %.*s", ranks, how,
          more ? (int)strcspn(more + at, "\n") : 7, more ? more + at : "nothing",
          (int)strcspn(one + at, "\n"), one + at);
    free(more);
}

static void check_ranks(const char *program)
{
    char *one = bytes_of(program, 1, "cpu");
    if (!CHECK(one != NULL, "one rank"))
        return;
    for (int ranks = 2; ranks <= 3; ranks++)
        compare_bytes(one, program, ranks, "cpu");
    free(one);
}

/* NCCL's stand-in of this build. */
static void set_nccl(const char *program)
{
    const char *const end = strrchr(program, '/');
    char file[4096];
    snprintf(file, sizeof file, "%.*s../faults/fake_nccl.so", end ? (int)(end + 1 - program) : 0,
             program);
    setenv("LAT_NCCL", file, 1);
}

/* GPUs cut t; z; y; two of them or all, in parts that are not equal. An emulated GPU has each
 * direction and each transport, all directions once, since ranks that wait take most of the time;
 * tests/long has all grids. */
typedef enum gpu_runs { ON_GPUS, EMULATED, SANITIZERS } gpu_runs;

static void check_gpu_ranks(const char *program, gpu_runs runs)
{
    static const struct {
        gpu_runs most;
        int ranks;
        const char *how;
    } grids[] = {{ON_GPUS, 2, "gpu 1,1,1,2"},          {ON_GPUS, 2, "gpu 1,1,2,1"},
                 {ON_GPUS, 4, "gpu 1,1,4,1"},          {SANITIZERS, 4, "gpu 1,1,2,2 staged"},
                 {ON_GPUS, 6, "gpu 1,1,2,3"},          {EMULATED, 2, "gpu 1,1,2,1 peer"},
                 {SANITIZERS, 3, "gpu 1,1,1,3 nccl"},  {ON_GPUS, 6, "gpu 1,1,2,3 nccl"},
                 {SANITIZERS, 2, "rows 1,2,1,1 peer"}, {ON_GPUS, 4, "rows 1,2,1,2 staged"},
                 {ON_GPUS, 4, "rows 1,2,2,1 peer"},    {ON_GPUS, 6, "rows 1,2,1,3 peer"},
                 {EMULATED, 8, "rows 1,2,2,2 nccl"}};
    char *const one[] = {bytes_of(program, 1, "gpu"), bytes_of(program, 1, "rows")};
    if (!CHECK(one[0] && one[1], "one GPU"))
        return;
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        if (strstr(grids[k].how, "nccl"))
            set_nccl(program);
        else
            unsetenv("LAT_NCCL");
        if (grids[k].most >= runs)
            compare_bytes(one[grids[k].how[0] == 'r'], program, grids[k].ranks, grids[k].how);
    }
    unsetenv("LAT_NCCL");
    free(one[0]);
    free(one[1]);
}

/* The last thread of a block first, where tests/emulator has the threads. */
static void check_order(const char *program)
{
    char *one = bytes_of(program, 1, "gpu");
    setenv("LAT_EMULATOR_REVERSE", "1", 1);
    if (CHECK(one != NULL, "one GPU"))
        compare_bytes(one, program, 1, "gpu");
    unsetenv("LAT_EMULATOR_REVERSE");
    free(one);
}

static int campaign(uint64_t of_seed, int cases)
{
    seed = of_seed;
    dev = cpu_device();
    check_case("random small lattices agree with the plain reference");
    check_reference(cases);
    return check_done();
}

/* check_dirac short [CASES]: the GPU alone, few lattices, for compute-sanitizer. */
static int check_short(int cases)
{
    if ((dev = gpu_device()))
        check_device(cases);
    else
        check_skipped("GPU: operators agree with the plain reference", lat_error());
    return check_done();
}

int main(int argc, char **argv)
{
    if ((argc == 2 || argc == 3) && !strcmp(argv[1], "short"))
        return check_short(argc == 3 ? atoi(argv[2]) : 4);
    if (argc > 2 && !strcmp(argv[1], "bytes"))
        return print_bytes(argc, argv);
    if (argc == 4 && !strcmp(argv[1], "random")) /* SEED COUNT: a campaign, tests/long */
        return campaign(strtoull(argv[2], NULL, 10), atoi(argv[3]));
    if (argc == 2 && !strcmp(argv[1], "grids")) { /* emulated GPUs, tests/long */
        check_case("several GPUs have the bytes of one");
        check_gpu_ranks(argv[0], ON_GPUS);
        return check_done();
    }
    const bool emulator = emulated(gpu_device());
    brief = emulator && SANITIZED;
    if (emulator)
        lat_threads_set(1); /* many short kernels between */
    else {
        dev = cpu_device();
        check_device(48); /* more of them in tests/long */
        dev = checking_device();
        check_device(48);
    }
    if ((dev = gpu_device()))
        check_device(brief ? 4 : emulator ? 24 : 120);
    else
        check_skipped("GPU: operators agree with the plain reference", lat_error());
    if (emulator && !brief) {
        device_case(dev, "threads in another order make the same bytes");
        check_order(argv[0]);
    }
    if (system("command -v mpirun >/dev/null 2>&1") || *lat_no_mpi)
        check_skipped("ranks", "no MPI");
    else {
        if (!emulator) {
            check_case("several ranks have the bytes of one");
            check_ranks(argv[0]);
        }
        if (dev) {
            device_case(dev, "several ranks have the bytes of one");
            check_gpu_ranks(argv[0], brief ? SANITIZERS : emulator ? EMULATED : ON_GPUS);
        }
    }
    return check_done();
}
