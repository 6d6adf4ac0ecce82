/* SPDX-License-Identifier: BSD-3-Clause */
/* check_plain: the plain operator that certifies solutions, against what its definition implies:
 * plane waves of the free field, gamma5-hermiticity, gauge covariance, a uniform field strength. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "check.h"
#include "fields.h"
#include "certify/plain.h"
#include "site/random.h"

typedef double complex cx;

static uint32_t word(uint64_t seed, uint64_t i)
{
    uint32_t w[4];
    lat_random(seed, i, 0, 0, 0, w);
    return w[0];
}

static double uniform(uint64_t seed, uint64_t i) { return word(seed, i) / 4294967296. - .5; }

static lat_field spinors(const lat_field *u, int columns, uint64_t seed)
{
    lat_field f = {.comm = u->comm};
    lat_header_init(&f.head);
    f.head.geom = u->head.geom;
    f.head.nc = u->head.nc;
    f.head.real = LAT_F64;
    lat_header_make_spinors(&f.head, columns == 1 ? LAT_SPINOR : LAT_MODES, columns);
    need(lat_field_alloc(&f, u->comm) == 0, "spinors");
    for (size_t i = 0; i < lat_field_reals(&f); i++)
        ((double *)f.data)[i] = uniform(seed, i);
    return f;
}

static cx product(const lat_field *a, const lat_field *b)
{
    const cx *x = a->data, *y = b->data;
    cx sum = 0;
    for (size_t i = 0; i < lat_field_reals(a) / 2; i++)
        sum += conj(x[i]) * y[i];
    return sum;
}

/* Extents 1 to 6, any parameters, any boundary. */
static lat_geometry lattice(uint64_t seed)
{
    lat_geometry geom = {.nd = 4};
    for (int mu = 0; mu < 4; mu++)
        geom.dims[mu] = 1 + (int)(word(seed, (uint64_t)mu) % 5);
    return geom;
}

static lat_fermion action(uint64_t seed)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = uniform(seed, 10);
    f.csw = seed % 3 ? 1.5 * uniform(seed, 11) : 0;
    f.csw_t = seed % 2 ? f.csw : f.csw / 2;
    f.xi = seed % 4 ? 1 : 2.4;
    f.nu = seed % 5 ? 1 : .9;
    f.twist = seed % 3 == 1 ? uniform(seed, 12) : 0;
    for (int mu = 0; mu < 4; mu++)
        switch (word(seed, 13 + (uint64_t)mu) % 4) {
        case 0: f.boundary[mu].dirichlet = true; break;
        case 1: f.boundary[mu].theta = 1; break;
        case 2: f.boundary[mu].theta = uniform(seed, 20 + (uint64_t)mu); break;
        default: break;
        }
    return f;
}

static void hermiticity(void)
{
    check_case("M^+ is the adjoint of M, and gamma5 M(-twist) gamma5");
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const int nc = 2 + (int)(seed % 3), one = 0;
        lat_field u = field_new(LAT_GAUGE, lattice(seed), nc, LAT_F64);
        fill_haar(&u, seed);
        lat_fermion f = action(seed);
        lat_field x = spinors(&u, 1, 2), y = spinors(&u, 1, 3), mx = spinors(&u, 1, 4),
                  my = spinors(&u, 1, 5);
        lat_plain *m = lat_plain_new(&u, &f);
        need(m && !lat_plain_apply(m, false, &x, 1, &one, &mx)
                 && !lat_plain_apply(m, true, &y, 1, &one, &my),
             "the operator");
        /* Sums of 2 * 12 V products of rounded numbers, |M| below 20. */
        const double bound = 20 * 0x1p-52 * (double)lat_field_reals(&x);
        CHECK(cabs(product(&y, &mx) - product(&my, &x)) < bound, "seed %d: %g of %g", (int)seed,
              cabs(product(&y, &mx) - product(&my, &x)), bound);
        lat_plain_free(m);
        f.twist = -f.twist;
        m = lat_plain_new(&u, &f);
        const size_t spin = 2 * (size_t)nc;
        double *p = y.data;
        for (size_t i = 0; i < lat_field_reals(&y); i++)
            p[i] *= i / spin % 4 < 2 ? 1 : -1;
        need(!lat_plain_apply(m, false, &y, 1, &one, &mx), "the operator");
        double worst = 0;
        const double *a = mx.data, *b = my.data;
        for (size_t i = 0; i < lat_field_reals(&y); i++)
            worst = fmax(worst, fabs(a[i] * (i / spin % 4 < 2 ? 1 : -1) - b[i]));
        CHECK(worst < 1e-13, "seed %d: gamma5 M gamma5 is off by %g", (int)seed, worst);
        lat_plain_free(m);
        lat_field_free(&u);
        lat_field_free(&x);
        lat_field_free(&y);
        lat_field_free(&mx);
        lat_field_free(&my);
    }
}

static void covariance(void)
{
    check_case("M of transformed links is the transformed M");
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const int nc = 2 + (int)(seed % 3), column[] = {0, 1, 2, 3, 4};
        lat_field u = field_new(LAT_GAUGE, lattice(seed), nc, LAT_F64);
        fill_haar(&u, seed);
        const lat_fermion f = action(seed);
        lat_field x = spinors(&u, 5, 2), y = spinors(&u, 5, 3), z = spinors(&u, 5, 4);
        lat_field g = haar_transform(&u, seed + 1);
        lat_plain *m = lat_plain_new(&u, &f);
        need(m && !lat_plain_apply(m, false, &x, 5, column, &y) && !lat_transform_apply(&y, &g)
                 && !lat_transform_apply(&x, &g) && !lat_transform_apply(&u, &g),
             "the operator");
        lat_plain_free(m);
        m = lat_plain_new(&u, &f);
        need(m && !lat_plain_apply(m, false, &x, 5, column, &z), "the operator");
        double worst = 0;
        for (size_t i = 0; i < lat_field_reals(&y); i++)
            worst = fmax(worst, fabs(((double *)y.data)[i] - ((double *)z.data)[i]));
        CHECK(worst < 1e-13, "seed %d: off by %g", (int)seed, worst);
        double residual[5];
        need(!lat_plain_residual(m, &x, &y, 5, column, residual), "residuals");
        for (int c = 0; c < 5; c++)
            CHECK(residual[c] < 1e-14, "seed %d: residual %g", (int)seed, residual[c]);
        lat_plain_free(m);
        lat_field_free(&u);
        lat_field_free(&g);
        lat_field_free(&x);
        lat_field_free(&y);
        lat_field_free(&z);
    }
}

/* gamma matrices of the definition, by rows: column and power of i. */
static const int gamma_column[4][4] = {{3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}, {2, 3, 0, 1}};
static const cx gamma_entry[4][4] = {{I, I, -I, -I}, {-1, 1, 1, -1}, {I, -I, -I, I}, {1, 1, 1, 1}};

/* M exp(ipx) chi = [m + sum w (1 - cos p) + i sum w gamma sin p + i twist gamma5] exp(ipx) chi,
 * also with momenta that a phase at the boundary shifts. */
static void free_field(void)
{
    check_case("plane waves of the free field");
    static const int n[4] = {1, 2, -1, 3};
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 3 5 6"), 3, LAT_F64);
    fill_near_one(&u, 0, 1);
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = .1;
    f.xi = 2.5;
    f.nu = .9;
    f.twist = .3;
    f.csw = f.csw_t = 1.3;
    f.boundary[1].theta = .37;
    f.boundary[3].theta = 1;
    lat_field x = spinors(&u, 1, 1), y = spinors(&u, 1, 2), z = spinors(&u, 1, 3);
    cx chi[12];
    for (int i = 0; i < 12; i++)
        chi[i] = uniform(7, (uint64_t)i) + uniform(8, (uint64_t)i) * I;
    double p[4], diagonal = f.mass;
    for (int mu = 0; mu < 4; mu++) {
        p[mu] = (2 * M_PI * n[mu] + M_PI * f.boundary[mu].theta) / u.head.geom.dims[mu];
        diagonal += (mu < 3 ? f.nu / f.xi : 1) * (1 - cos(p[mu]));
    }
    for (size_t i = 0; i < lat_field_sites(&u); i++) {
        int at[4];
        lat_coordinates(&u.head.geom, i, at);
        const cx e = cexp(I * (p[0] * at[0] + p[1] * at[1] + p[2] * at[2] + p[3] * at[3]));
        for (int s = 0; s < 4; s++)
            for (int a = 0; a < 3; a++) {
                cx sum = (diagonal + I * f.twist * (s < 2 ? 1 : -1)) * chi[3 * s + a];
                for (int mu = 0; mu < 4; mu++)
                    sum += I * (mu < 3 ? f.nu / f.xi : 1) * sin(p[mu]) * gamma_entry[mu][s]
                           * chi[3 * gamma_column[mu][s] + a];
                ((cx *)x.data)[12 * i + (size_t)(3 * s + a)] = e * chi[3 * s + a];
                ((cx *)y.data)[12 * i + (size_t)(3 * s + a)] = e * sum;
            }
    }
    const int one = 0;
    lat_plain *m = lat_plain_new(&u, &f);
    need(m && !lat_plain_apply(m, false, &x, 1, &one, &z), "the operator");
    double worst = 0;
    for (size_t i = 0; i < lat_field_reals(&z); i++)
        worst = fmax(worst, fabs(((double *)y.data)[i] - ((double *)z.data)[i]));
    CHECK(worst < 1e-14, "off by %g", worst);
    lat_plain_free(m);
    lat_field_free(&u);
    lat_field_free(&x);
    lat_field_free(&y);
    lat_field_free(&z);
}

/* U_y(x) = exp(i w x tau3), x the first coordinate, and the links that close the torus: F_xy =
 * sin w tau3 everywhere. The clover term of the plane is - csw/2 sigma_xy F_xy, sigma_xy =
 * i gamma_x gamma_y = diag(1, -1, 1, -1). */
static void uniform_flux(void)
{
    check_case("the clover term of a uniform field strength");
    enum { L = 4 };
    const double w = 2 * M_PI / (L * L), csw = 1.7;
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 4 2 3"), 2, LAT_F64);
    for (size_t i = 0; i < lat_field_sites(&u); i++) {
        int at[4];
        lat_coordinates(&u.head.geom, i, at);
        for (int mu = 0; mu < 4; mu++) {
            const double phase = mu == 1                     ? w * at[0]
                                 : mu == 0 && at[0] == L - 1 ? -w * L * at[1]
                                                             : 0;
            const double link[8] = {cos(phase), sin(phase), 0, 0, 0, 0, cos(phase), -sin(phase)};
            lat_field_put(&u, 4 * i + (size_t)mu, link);
        }
    }
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    const int one = 0;
    lat_field x = spinors(&u, 1, 1), y = spinors(&u, 1, 2), z = spinors(&u, 1, 3);
    for (int clover = 0; clover < 2; clover++) {
        f.csw = f.csw_t = clover * csw;
        lat_plain *m = lat_plain_new(&u, &f);
        need(m && !lat_plain_apply(m, false, &x, 1, &one, clover ? &z : &y), "the operator");
        lat_plain_free(m);
    }
    double worst = 0;
    for (size_t i = 0; i < lat_field_reals(&x) / 2; i++) {
        const double sigma = i / 2 % 2 ? -1 : 1, tau = i % 2 ? -1 : 1;
        const cx got = ((cx *)z.data)[i] - ((cx *)y.data)[i];
        worst = fmax(worst, cabs(got + csw / 2 * sigma * sin(w) * tau * ((cx *)x.data)[i]));
    }
    CHECK(worst < 1e-14, "off by %g", worst);
    lat_field_free(&u);
    lat_field_free(&x);
    lat_field_free(&y);
    lat_field_free(&z);
}

static void lists(void)
{
    check_case("residuals of two lists of columns are the bits of all columns at once");
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 4 6 4"), 3, LAT_F64);
    fill_haar(&u, 1);
    const lat_fermion f = action(3);
    lat_field x = spinors(&u, 5, 1), b = spinors(&u, 5, 2);
    const int all[] = {0, 1, 2, 3, 4};
    double at_once[5], found[5];
    lat_plain *m = lat_plain_new(&u, &f);
    need(m && !lat_plain_residual(m, &x, &b, 5, all, at_once), "residuals");
    CHECK(lat_plain_residual(m, &x, &b, 3, all, found) == 0
              && lat_plain_residual(m, &x, &b, 2, all + 3, found + 3) == 0,
          "%s", lat_error());
    for (int i = 0; i < 5; i++)
        CHECK(found[i] == at_once[i], "column %d: %a, expected %a", i, found[i], at_once[i]);
    lat_plain_free(m);
    lat_field_free(&u);
    lat_field_free(&x);
    lat_field_free(&b);
}

static void refusals(void)
{
    check_case("fields of another lattice, and operators that are not Wilson's, are refused");
    lat_field u = field_new(LAT_GAUGE, geometry_of("2 2 2 2"), 3, LAT_F64),
              other = field_new(LAT_GAUGE, geometry_of("2 2 2 4"), 3, LAT_F64);
    fill_haar(&u, 1);
    fill_haar(&other, 1);
    lat_fermion f = action(3);
    lat_field x = spinors(&u, 1, 1), y = spinors(&other, 1, 1);
    const int one = 0;
    double residual;
    lat_plain *m = lat_plain_new(&u, &f);
    need(m != NULL, "the operator");
    CHECK(lat_plain_apply(m, false, &y, 1, &one, &y) < 0
              && strstr(lat_error(), "2 2 2 4 and SU(3)"),
          "%s", lat_error());
    lat_error_clear();
    CHECK(lat_plain_residual(m, &x, &u, 1, &one, &residual) < 0
              && strstr(lat_error(), "a gauge field"),
          "%s", lat_error());
    lat_error_clear();
    lat_plain_free(m);
    strcpy(f.name, "overlap");
    CHECK(!lat_plain_new(&u, &f) && strstr(lat_error(), "\"overlap\""), "%s", lat_error());
    lat_error_clear();
    lat_field_free(&u);
    lat_field_free(&other);
    lat_field_free(&x);
    lat_field_free(&y);
}

int main(void)
{
    hermiticity();
    covariance();
    free_field();
    uniform_flux();
    lists();
    refusals();
    return check_done();
}
