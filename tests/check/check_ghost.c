/* SPDX-License-Identifier: BSD-3-Clause */
/* check_ghost.c: the Faddeev-Popov operator is minus the Hessian of the gauge functional; vectors,
 * inverse and eigenvalues agree with plain calculations; the bits do not depend on threads and
 * vector lengths. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "base/dense.h"
#include "fourier/laplace.h"
#include "ghost/ghost.h"
#include "ghost/ghost_internal.h"
#include "lattice/transform.h"
#include "measure/measure.h"
#include "site/random.h"

#define EPS DBL_EPSILON

/* Lattices and gauges; time -1: Landau gauge. Extents are odd, too, and 1 and 2, where a site is
 * its own neighbour or has one twice. */
static const struct {
    const char *dims, *weights;
    int nc, time;
} cases[] = {
    {"4 4 4 4", NULL, 3, -1}, {"3,5,4,2", NULL, 3, -1},      {"4,3,2,5", "1,.5,2,3", 2, -1},
    {"6,5", NULL, 4, -1},     {"4,4,3", NULL, 5, -1},        {"7", NULL, 3, -1},
    {"4,3,4,5", NULL, 3, 3},  {"4,3,4,5", NULL, 2, 1},       {"3,4,2,3", NULL, 3, 0},
    {"5,4", NULL, 3, 0},      {"2,1,3,2", "1,2,1,1", 2, -1}, {"4,5,6", NULL, 2, 2},
    {"4,1,3,5", NULL, 3, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct setting {
    lat_field u;
    lat_condition c;
    lat_ghost *m;
    size_t reals, numbers; /* of a vector; units * columns */
    char name[64];
} setting;

static setting setting_of(int i, double epsilon, int packs)
{
    setting s;
    const lat_geometry geom = geometry_of(cases[i].dims);
    s.u = field_new(LAT_GAUGE, geom, cases[i].nc, LAT_F64);
    fill_near_one(&s.u, epsilon, 7 + (uint64_t)i);
    need(lat_condition_make(cases[i].time < 0 ? LAT_LANDAU : LAT_COULOMB, cases[i].time,
                            cases[i].weights, &geom, &s.c)
             == 0,
         "a condition");
    s.m = lat_ghost_new(&s.u, &s.c, packs);
    need(s.m != NULL, "an operator");
    s.reals = s.m->sites * lat_ghost_reals(s.m);
    s.numbers = (size_t)(s.m->units * s.m->columns);
    snprintf(s.name, sizeof s.name, "%s SU(%d) time %d", cases[i].dims, cases[i].nc, cases[i].time);
    return s;
}

static void setting_free(setting *s)
{
    lat_ghost_free(s->m);
    lat_field_free(&s->u);
}

static double *vector_of(const setting *s)
{
    double *v = lat_ghost_vector(s->m, "a vector");
    need(v != NULL, "a vector");
    return v;
}

static double *numbers_of(const setting *s)
{
    double *v = lat_alloc(s->numbers, sizeof *v, "numbers");
    need(v != NULL, "numbers");
    return v;
}

static void fill(const setting *s, double *v, uint32_t seed)
{
    for (size_t i = 0; i < s->reals; i++) {
        uint32_t w[4];
        lat_random(seed, i, 0, LAT_FOR_SPINORS, 0, w);
        v[i] = 2 * lat_uniform(w[0], w[1]) - 1;
    }
}

/* Number of colour `a` and column k at a site of a vector. */
static size_t at(const setting *s, size_t site, int a, int k)
{
    return (site * (size_t)s->m->packs + (size_t)k / 8) * (size_t)(8 * s->m->colours)
           + (size_t)(8 * a + k % 8);
}

/* Takes the constants off each unit; plain, so that it can be compared with. */
static void project(const setting *s, double *v)
{
    const size_t slice = s->m->block * s->m->blocks;
    for (int unit = 0; unit < s->m->units; unit++)
        for (int a = 0; a < s->m->colours; a++)
            for (int k = 0; k < s->m->columns; k++) {
                double sum = 0, n = 0;
                for (int pass = 0; pass < 2; pass++)
                    for (size_t i = 0; i < s->m->sites; i++) {
                        const int of = s->m->time < 0 ? 0
                                       : s->m->time == s->u.head.geom.nd - 1
                                           ? (int)(i / slice)
                                           : (int)(i % slice / s->m->block);
                        if (of != unit)
                            continue;
                        if (pass == 0)
                            sum += v[at(s, i, a, k)], n++;
                        else
                            v[at(s, i, a, k)] -= sum / n;
                    }
            }
}

/* ---- minus the Hessian ------------------------------------------------------------------------
 */

/* exp(i h w^a T^a) of column k: T^a by its elements. */
static void exponential(const setting *s, const double *w, int k, double h, lat_field *g)
{
    const int n = s->m->nc;
    for (size_t site = 0; site < s->m->sites; site++) {
        double t[LAT_SUN_REALS] = {0}, e[LAT_SUN_REALS];
        const size_t from = lat_ghost_site(s->m, site);
        int a = 0;
        for (int q = 1; q < n; q++) {
            for (int p = 0; p < q; p++, a += 2) {
                const double x = h / 2 * w[at(s, from, a, k)], y = h / 2 * w[at(s, from, a + 1, k)];
                /* i T: T_pq = (x - i y), T_qp = (x + i y) */
                t[2 * (p * n + q)] = y;
                t[2 * (p * n + q) + 1] = x;
                t[2 * (q * n + p)] = -y;
                t[2 * (q * n + p) + 1] = x;
            }
            const double d = h * w[at(s, from, a++, k)] / sqrt(2.0 * q * (q + 1));
            for (int p = 0; p < q; p++)
                t[2 * (p * n + p) + 1] += d;
            t[2 * (q * n + q) + 1] -= q * d;
        }
        lat_sun_exp(n, e, t);
        lat_field_put(g, site, e);
    }
}

static double functional(const setting *s, const double *w, int k, double h)
{
    lat_field g, v;
    lat_gauge_state state;
    need(lat_transform_new(&g, &s->u.head, NULL) == 0 && lat_field_duplicate(&s->u, &v) == 0,
         "a transformation");
    exponential(s, w, k, h, &g);
    need(lat_transform_apply(&v, &g) == 0, "a transformation");
    need(lat_measure_gauge(&v, &s->c, &state, NULL, NULL) == 0, "the functional");
    lat_field_free(&g);
    lat_field_free(&v);
    return state.functional;
}

static void hessian(void)
{
    check_case("<w, M w> is -2 N W V d^2 F, by differences, for all gauges and groups");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, ROUGH, 1);
        double *w = vector_of(&s), *mw = vector_of(&s), *dot = numbers_of(&s);
        const double scale = 2 * s.m->nc * lat_condition_weights(&s.c)
                             * (double)lat_volume(&s.u.head.geom);
        fill(&s, w, 5);
        project(&s, w);
        need(lat_ghost_apply(s.m, mw, w) == 0 && lat_ghost_dot(s.m, w, mw, dot) == 0, "M");
        for (int k = 0; k < 8; k += 5) {
            double d[4], sum = 0, norm = 0;
            for (int unit = 0; unit < s.m->units; unit++)
                sum += dot[unit * s.m->columns + k];
            for (size_t x = 0; x < s.m->sites; x++)
                for (int a = 0; a < s.m->colours; a++)
                    norm += w[at(&s, x, a, k)] * w[at(&s, x, a, k)];
            /* Romberg: the error of step h is h^2 (1, 1/4, 1/16, ..). What is left is of order h^8
             * and rounding, some eps V / h^2 of numbers of size 1. */
            const double h = 0.16, f0 = functional(&s, w, k, 0);
            for (int j = 0; j < 4; j++)
                d[j] = (functional(&s, w, k, h / (1 << j)) + functional(&s, w, k, -h / (1 << j))
                        - 2 * f0)
                       / (h * h) * (1 << 2 * j);
            for (int order = 1; order < 4; order++)
                for (int j = 0; j < 4 - order; j++)
                    d[j] = d[j + 1] + (d[j + 1] - d[j]) / ((1 << 2 * order) - 1);
            CHECK(fabs(sum + scale * d[0]) < 2e-8 * norm, "%s: <w, M w> %.12g, differences %.12g",
                  s.name, sum, -scale * d[0]);
        }
        free(w), free(mw), free(dot);
        setting_free(&s);
    }
}

/* ---- the operator -----------------------------------------------------------------------------
 */

static void plain(void)
{
    check_case("M is that of the definition, its result has no constants, it is symmetric");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, ROUGH, 2);
        double *x = vector_of(&s), *y = vector_of(&s), *mx = vector_of(&s), *my = vector_of(&s),
               *r = numbers_of(&s), *xy = numbers_of(&s), *yx = numbers_of(&s);
        double mean = 0;
        fill(&s, x, 1);
        fill(&s, y, 2);
        project(&s, x);
        project(&s, y);
        need(lat_ghost_apply(s.m, mx, x) == 0 && lat_ghost_apply(s.m, my, y) == 0, "M");
        need(lat_ghost_residual(s.m, &s.u, mx, x, NULL, r) == 0, "a residual");
        need(lat_ghost_dot(s.m, x, my, xy) == 0 && lat_ghost_dot(s.m, mx, y, yx) == 0, "a dot");
        for (size_t k = 0; k < s.numbers; k++) {
            /* sums of some 9 N^2 products; the same over the sites of a unit */
            CHECK(r[k] < 50 * EPS, "%s: residual %g", s.name, r[k]);
            CHECK(fabs(xy[k] - yx[k]) < 1000 * EPS * sqrt((double)s.reals), "%s: %.17g %.17g",
                  s.name, xy[k], yx[k]);
        }
        memcpy(y, mx, s.reals * sizeof *y);
        project(&s, y);
        for (size_t k = 0; k < s.reals; k++)
            mean = fmax(mean, fabs(y[k] - mx[k]));
        CHECK(mean < 100 * EPS, "%s: constants of %g", s.name, mean);
        /* and a wrong vector is seen */
        x[0] += 1e-9;
        need(lat_ghost_residual(s.m, &s.u, mx, x, NULL, r) == 0, "a residual");
        CHECK(r[0] > 1e-12, "%s: residual %g of a wrong vector", s.name, r[0]);
        free(x), free(y), free(mx), free(my), free(r), free(xy), free(yx);
        setting_free(&s);
    }
}

static void laplace(void)
{
    check_case("the inverse Laplacian is that: L of it is the vector without its constants");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, 0, 1);
        double *x = vector_of(&s), *y = vector_of(&s);
        double off = 0;
        fill(&s, x, 3);
        memcpy(y, x, s.reals * sizeof *y);
        need(lat_laplace_invert(s.m->laplace, x) == 0, "the Laplacian");
        double *z = vector_of(&s);
        need(lat_ghost_apply(s.m, z, x) == 0, "M"); /* links are 1: M is L */
        project(&s, y);
        for (size_t k = 0; k < s.reals; k++)
            off = fmax(off, fabs(z[k] - y[k]));
        CHECK(off < 500 * EPS, "%s: %g", s.name, off);
        free(x), free(y), free(z);
        setting_free(&s);
    }
}

/* ---- the same bits ----------------------------------------------------------------------------
 */

static void bits(void)
{
    check_case("the same bits with any vectors and threads");
    static const char *const lanes[] = {"base", "avx2", "avx512"};
    for (int i = 0; i < CASES; i += 2) {
        setting s = setting_of(i, 0.1, 1);
        double *b = vector_of(&s), *first = NULL, *x = NULL;
        lat_ghost_report report;
        for (int run = 0; run < 4; run++) {
            setenv("LAT_LANES", lanes[run % 3], 1);
#ifdef _OPENMP
            omp_set_num_threads(1 + run);
#endif
            x = vector_of(&s);
            fill(&s, b, 4);
            project(&s, b);
            need(lat_ghost_solve(s.m, x, b, 1e-8, 20, &report) == 0, "a solution");
            if (!first) {
                first = x;
                continue;
            }
            CHECK(!memcmp(first, x, s.reals * sizeof *x), "%s: %s differs", s.name, lanes[run % 3]);
            free(x);
        }
        free(first), free(b);
        setting_free(&s);
    }
    unsetenv("LAT_LANES");
#ifdef _OPENMP
    omp_set_num_threads(2);
#endif
}

/* ---- inverse ----------------------------------------------------------------------------------
 */

static void free_field(void)
{
    check_case("D15: links 1: G(k) = 1 / sum_mu w_mu 4 sin^2(k_mu / 2)");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, 0, 1);
        lat_ghost_column column[8];
        lat_ghost_report report;
        double *b = vector_of(&s), *x = vector_of(&s), *g = numbers_of(&s);
        memset(column, 0, sizeof column);
        for (int k = 0; k < 8; k++) {
            column[k].kind = k % 2 ? LAT_GHOST_SIN : LAT_GHOST_COS;
            column[k].colour = k / 2 % s.m->colours;
            for (int mu = 0; mu < s.u.head.geom.nd; mu++)
                column[k].n[mu] = (k / 4 + mu) % 2;
        }
        need(lat_ghost_source(s.m, b, column) == 0, "a source");
        need(lat_ghost_solve(s.m, x, b, 1e-14, 9, &report) == 0, "a solution");
        need(lat_ghost_source(s.m, b, column) == 0 && lat_ghost_dot(s.m, b, x, g) == 0, "G");
        CHECK(report.converged && report.iterations <= 3, "%s: %ld iterations", s.name,
              report.iterations);
        for (size_t k = 0; k < s.numbers; k += 2) {
            const lat_ghost_column *c = &column[k % 8];
            double k2 = 0;
            for (int mu = 0; mu < s.u.head.geom.nd; mu++)
                k2 += s.c.weight[mu] * pow(2 * sin(M_PI * c->n[mu] / s.u.head.geom.dims[mu]), 2);
            const double found = (g[k] + g[k + 1]) / lat_ghost_unit_sites(s.m);
            if (k2 > 1e-9)
                CHECK(fabs(found * k2 - 1) < 100 * EPS, "%s: %.16g, expected %.16g", s.name, found,
                      1 / k2);
            else
                CHECK(found == 0, "%s: %g of a constant", s.name, found);
        }
        free(b), free(x), free(g);
        setting_free(&s);
    }
}

static void inverse(void)
{
    check_case("M x = b is solved to the residual that was asked for, column by column");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, 0.05, 2);
        lat_ghost_report report;
        double *b = vector_of(&s), *x = vector_of(&s), *r = numbers_of(&s);
        fill(&s, b, 6);
        for (size_t site = 0; site < s.m->sites; site++)
            for (int a = 0; a < s.m->colours; a++)
                b[at(&s, site, a, 11)] = 0; /* a column of zeros is solved by zeros */
        project(&s, b);
        need(lat_ghost_solve(s.m, x, b, 1e-9, 200, &report) == 0, "a solution");
        CHECK(report.converged && report.residual <= 1e-9, "%s: residual %g", s.name,
              report.residual);
        fill(&s, b, 6);
        project(&s, b);
        need(lat_ghost_residual(s.m, &s.u, b, x, NULL, r) == 0, "a residual");
        for (size_t k = 0; k < s.numbers; k++)
            if (k % 16 == 11)
                CHECK(fabs(r[k] - 1) < 10 * EPS, "%s: %g", s.name, r[k]); /* b is filled now */
            else
                CHECK(r[k] <= 1.01e-9, "%s: column %zu has residual %g", s.name, k, r[k]);
        free(b), free(x), free(r);
        setting_free(&s);
    }
}

/* ---- eigenvalues ------------------------------------------------------------------------------
 */

/* All eigenvalues of a unit by a dense matrix. Returns how many. */
static int dense(const setting *s, int unit, double *value)
{
    const int n = (int)lat_ghost_unit_sites(s->m) * s->m->colours, colours = s->m->colours;
    double *a = lat_alloc((size_t)(n * n), sizeof *a, "a matrix"),
           *v = lat_alloc((size_t)(n * n), sizeof *v, "a matrix"), *x = vector_of(s),
           *y = vector_of(s);
    size_t *site = lat_alloc((size_t)n, sizeof *site, "sites");
    need(a && v && site, "a matrix");
    int sites = 0;
    for (size_t i = 0; i < s->m->sites; i++)
        if (lat_ghost_unit(s->m, i / s->m->block) == unit)
            site[sites++] = i;
    for (int j = 0; j < n; j++) {
        memset(x, 0, s->reals * sizeof *x);
        x[at(s, site[j / colours], j % colours, 0)] = 1;
        project(s, x);
        need(lat_ghost_apply(s->m, y, x) == 0, "M");
        for (int i = 0; i < n; i++)
            a[i * n + j] = y[at(s, site[i / colours], i % colours, 0)];
    }
    need(lat_dense_eigen_real(n, a, value, v) == 0, "the spectrum");
    free(a), free(v), free(x), free(y), free(site);
    return n;
}

static void modes(void)
{
    check_case("the lowest eigenvalues are those of the dense matrix, also below zero");
    static const double roughness[] = {0.1, ROUGH, 2};
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, roughness[i % 3], 1);
        const int dimension = (int)lat_ghost_unit_sites(s.m) * s.m->colours;
        if (dimension > 200 || dimension < 40) {
            setting_free(&s);
            continue;
        }
        const lat_ghost_modes wanted = {4, 1e-7, 500, 3};
        lat_ghost_report report;
        double *v = vector_of(&s), *value = numbers_of(&s), *r = numbers_of(&s), all[200];
        need(lat_ghost_lowest(s.m, &wanted, v, value, &report) == 0, "eigenvalues");
        CHECK(report.converged, "%s: residual %g", s.name, report.residual);
        need(lat_ghost_residual(s.m, &s.u, NULL, v, value, r) == 0, "a residual");
        for (int unit = 0; unit < s.m->units; unit++) {
            const int n = dense(&s, unit, all);
            int k = 0;
            for (int j = 0; j < n && k < 4; j++) {
                if (fabs(all[j]) < 1e-12) /* the constants */
                    continue;
                const double found = value[unit * 8 + k];
                CHECK(fabs(found - all[j]) < 1e-7 * fabs(all[j]), "%s: unit %d: %.12g, dense %.12g",
                      s.name, unit, found, all[j]);
                CHECK(r[unit * 8 + k] <= 1.1e-7 * fabs(found), "%s: residual %g", s.name,
                      r[unit * 8 + k]);
                k++;
            }
        }
        free(v), free(value), free(r);
        setting_free(&s);
    }
}

static void saddle(void)
{
    check_case("where M has negative eigenvalues the solver says so, and does not converge");
    setting s = setting_of(0, 3, 1);
    lat_ghost_report report;
    double *b = vector_of(&s), *x = vector_of(&s);
    fill(&s, b, 6);
    project(&s, b);
    need(lat_ghost_solve(s.m, x, b, 1e-9, 1000, &report) == 0, "a run");
    CHECK(report.indefinite && !report.converged, "iterations %ld", report.iterations);
    free(b), free(x);
    setting_free(&s);
}

static void refused(void)
{
    check_case("maximally Abelian gauge and weights of 0 are refused");
    const lat_geometry geom = geometry_of("4 4 4 4");
    lat_field u = field_new(LAT_GAUGE, geom, 3, LAT_F64);
    lat_condition c = lat_condition_of(LAT_MAG, &geom, -1);
    fill_near_one(&u, 0.1, 1);
    CHECK(!lat_ghost_new(&u, &c, 1) && strstr(lat_error(), "not for mag"), "%s", lat_error());
    lat_error_clear();
    c = lat_condition_of(LAT_LANDAU, &geom, -1);
    c.weight[1] = 0;
    CHECK(!lat_ghost_new(&u, &c, 1) && strstr(lat_error(), "found 0 along y"), "%s", lat_error());
    lat_error_clear();
    lat_field_free(&u);
}

/* ---- a GPU ------------------------------------------------------------------------------------
 */

/* The operator of a setting on the GPU, and a vector there with these numbers. */
static lat_ghost *there(lat_device *dev, const setting *s)
{
    lat_ghost *m = lat_ghost_new_on(dev, &s->u, &s->c, s->m->packs);
    need(m != NULL, "an operator on the GPU");
    return m;
}

static double *sent(lat_ghost *m, const double *host)
{
    double *v = lat_ghost_vector(m, "a vector");
    need(v && lat_ghost_copy(m, v, host) == 0, "a vector on the GPU");
    return v;
}

/* The largest difference of a vector on the GPU from one here. */
static double off(const setting *s, lat_ghost *m, const double *v, const double *here)
{
    double *w = vector_of(s), most = 0;
    need(lat_ghost_copy(m, w, v) == 0, "a vector of the GPU");
    for (size_t i = 0; i < s->reals; i++)
        most = lat_worse(most, fabs(w[i] - here[i]));
    free(w);
    return most;
}

/* The smallest eigenvalue of L that is not 0, the sum of the extents, and the largest weight. */
static void spectrum(const setting *s, double *least, double *extents, double *weight)
{
    *least = INFINITY;
    *extents = *weight = 0;
    for (int mu = 0; mu < s->u.head.geom.nd; mu++) {
        const double w = s->c.weight[mu], k = 2 * sin(M_PI / s->u.head.geom.dims[mu]);
        *weight = fmax(*weight, w);
        *extents += s->u.head.geom.dims[mu];
        if (mu != s->c.time && s->u.head.geom.dims[mu] > 1)
            *least = fmin(*least, w * k * k);
    }
}

/* M, dot and L^-1 as on the CPU. */
static void same_parts(lat_device *dev, const setting *s)
{
    lat_ghost *m = there(dev, s);
    double *x = vector_of(s), *y = vector_of(s), *here = numbers_of(s), *dot = numbers_of(s);
    double least, extents, weight;
    spectrum(s, &least, &extents, &weight);
    fill(s, x, 3);
    double *v = sent(m, x), *w = sent(m, x);
    CHECK(off(s, m, v, x) == 0, "%s: a vector comes back otherwise", s->name);
    need(lat_ghost_apply(s->m, y, x) == 0 && lat_ghost_apply(m, w, v) == 0, "M");
    /* Nine products of matrices at most with numbers below 2. */
    const double most = off(s, m, w, y), bound = 9 * 16 * s->u.head.nc * weight * EPS;
    CHECK(most <= bound, "%s: M is off by %g, at most %g expected", s->name, most, bound);
    need(lat_ghost_dot(s->m, x, y, here) == 0 && lat_ghost_dot(m, v, w, dot) == 0, "a dot");
    /* Sums of as many numbers below 20 weights. */
    const double n = lat_ghost_unit_sites(s->m) * s->m->colours;
    for (size_t k = 0; k < s->numbers; k++)
        CHECK(fabs(here[k] - dot[k]) <= 20 * n * (300 + sqrt(n)) * weight * EPS,
              "%s: <x, M x> of column %zu is %.17g, %.17g", s->name, k, dot[k], here[k]);
    need(lat_ghost_invert(s->m, x, NULL) == 0 && lat_ghost_invert(m, v, NULL) == 0,
         "the Laplacian");
    /* Two transforms, sums along lines, of numbers below 1. */
    const double inverse = off(s, m, v, x);
    CHECK(inverse <= 16 * extents / least * EPS, "%s: L^-1 is off by %g, at most %g expected",
          s->name, inverse, 16 * extents / least * EPS);
    lat_ghost_vector_free(m, v);
    lat_ghost_vector_free(m, w);
    free(x), free(y), free(here), free(dot);
    lat_ghost_free(m);
}

/* Sources, and residuals by the definition: vectors at random are no solutions. */
static void same_ends(lat_device *dev, const setting *s)
{
    lat_ghost *m = there(dev, s);
    lat_ghost_column column[64] = {{0}};
    double *x = vector_of(s), *b = vector_of(s), *here = numbers_of(s), *r = numbers_of(s);
    double least, extents, weight;
    spectrum(s, &least, &extents, &weight);
    for (int k = 0; k < s->m->columns; k++) {
        column[k].kind = (lat_ghost_kind)(k % 4);
        column[k].colour = k % s->m->colours;
        for (int mu = 0; mu < s->u.head.geom.nd; mu++)
            column[k].n[mu] = mu == s->c.time ? 0
                              : column[k].kind == LAT_GHOST_POINT
                                  ? (k + mu) % s->u.head.geom.dims[mu]
                                  : k / 4 - mu;
    }
    fill(s, x, 5);
    double *v = sent(m, x), *w = lat_ghost_vector(m, "a vector");
    need(w && lat_ghost_source(s->m, b, column) == 0 && lat_ghost_source(m, w, column) == 0,
         "a source");
    /* Products of four numbers of absolute value 1. */
    CHECK(off(s, m, w, b) <= 8 * EPS, "%s: a source is off by %g", s->name, off(s, m, w, b));
    fill(s, b, 7);
    need(lat_ghost_copy(m, w, b) == 0 && lat_ghost_residual(s->m, &s->u, b, x, NULL, here) == 0
             && lat_ghost_residual(m, &s->u, w, v, NULL, r) == 0,
         "a residual");
    /* Norms, of numbers below 20 weights where those of b are 1, summed as in same_parts. */
    const double n = lat_ghost_unit_sites(s->m) * s->m->colours;
    for (size_t k = 0; k < s->numbers; k++)
        CHECK(fabs(here[k] - r[k]) <= 40 * (300 + sqrt(n)) * weight * EPS && here[k] > .1,
              "%s: residual %.17g, %.17g", s->name, r[k], here[k]);
    lat_ghost_vector_free(m, v);
    lat_ghost_vector_free(m, w);
    free(x), free(b), free(here), free(r);
    lat_ghost_free(m);
}

/* Solutions are certified by the CPU's definition, too; the same bits each time. */
static void solved(lat_device *dev, const setting *s)
{
    lat_ghost *m = there(dev, s);
    lat_ghost_report report;
    double *b = vector_of(s), *x = vector_of(s), *r = numbers_of(s);
    double *v = lat_ghost_vector(m, "a vector"), *w;
    fill(s, b, 6);
    for (size_t site = 0; site < s->m->sites; site++)
        for (int a = 0; a < s->m->colours; a++)
            b[at(s, site, a, 3)] = 0;
    project(s, b);
    for (int run = 0; run < 2; run++) {
        w = sent(m, b);
        need(v && lat_ghost_solve(m, v, w, 1e-9, 200, &report) == 0, "a solution");
        CHECK(report.converged && report.residual <= 1e-9, "%s: residual %g", s->name,
              report.residual);
        if (run == 0)
            need(lat_ghost_copy(m, x, v) == 0, "a vector of the GPU");
        else
            CHECK(off(s, m, v, x) == 0, "%s: another solution", s->name);
        need(lat_ghost_copy(m, w, b) == 0 && lat_ghost_residual(m, &s->u, w, v, NULL, r) == 0,
             "a residual");
        for (size_t k = 0; k < s->numbers; k++)
            CHECK(r[k] <= 1.01e-9, "%s: column %zu has residual %g", s->name, k, r[k]);
        lat_ghost_vector_free(m, w);
    }
    need(lat_ghost_residual(s->m, &s->u, b, x, NULL, r) == 0, "a residual");
    for (size_t k = 0; k < s->numbers; k++)
        CHECK(r[k] <= 1.01e-9, "%s: column %zu has residual %g on the CPU", s->name, k, r[k]);
    lat_ghost_vector_free(m, v);
    free(b), free(x), free(r);
    lat_ghost_free(m);
}

/* Eigenvalues: each is as near to one of M as its residual, here and there. */
static void same_modes(lat_device *dev, const setting *s)
{
    lat_ghost *m = there(dev, s);
    const lat_ghost_modes wanted = {4, 1e-7, 500, 3};
    double *v = vector_of(s), *here = numbers_of(s), *value = numbers_of(s), *r = numbers_of(s);
    double *w = lat_ghost_vector(m, "vectors");
    lat_ghost_report report;
    need(lat_ghost_lowest(s->m, &wanted, v, here, &report) == 0 && report.converged,
         "eigenvalues of the CPU");
    need(w && lat_ghost_lowest(m, &wanted, w, value, &report) == 0
             && lat_ghost_residual(m, &s->u, NULL, w, value, r) == 0,
         "eigenvalues of the GPU");
    CHECK(report.converged, "%s: residual %g after %ld iterations", s->name, report.residual,
          report.iterations);
    for (int unit = 0; unit < s->m->units; unit++)
        for (int k = 0; k < wanted.modes; k++) {
            const int i = unit * s->m->columns + k;
            CHECK(fabs(value[i] - here[i]) <= 2 * wanted.accuracy * fabs(here[i])
                      && r[i] <= 1.01 * wanted.accuracy * fabs(value[i]) + 1e-14,
                  "%s: eigenvalue %d: %.17g, %.17g, residual %g", s->name, k, value[i], here[i],
                  r[i]);
        }
    lat_ghost_vector_free(m, w);
    free(v), free(here), free(value), free(r);
    lat_ghost_free(m);
}

static void indefinite(lat_device *dev)
{
    setting s = setting_of(0, 3, 1);
    lat_ghost *m = there(dev, &s);
    lat_ghost_report report;
    double *b = vector_of(&s);
    fill(&s, b, 6);
    project(&s, b);
    double *v = sent(m, b), *w = lat_ghost_vector(m, "a vector");
    need(w && lat_ghost_solve(m, w, v, 1e-9, 1000, &report) == 0, "a run");
    CHECK(report.indefinite && !report.converged, "iterations %ld", report.iterations);
    lat_ghost_vector_free(m, v);
    lat_ghost_vector_free(m, w);
    free(b);
    lat_ghost_free(m);
    setting_free(&s);
}

static void on_gpu(lat_device *dev)
{
    device_case(dev, "M, products and the inverse Laplacian are those of the CPU");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, 0.1, 1 + i % 3);
        if (lat_ghost_check(dev, &s.u) == 0)
            same_parts(dev, &s);
        else
            CHECK(cases[i].nc > 4, "%s: %s", s.name, lat_error());
        lat_error_clear();
        setting_free(&s);
    }
    device_case(dev, "sources and residuals by the definition are those of the CPU");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, 0.3, 1 + i % 3);
        if (lat_ghost_check(dev, &s.u) == 0)
            same_ends(dev, &s);
        lat_error_clear();
        setting_free(&s);
    }
    device_case(dev, "M x = b is solved, as the CPU certifies; the same bits each time");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, 0.05, 1 + i % 4);
        if (lat_ghost_check(dev, &s.u) == 0)
            solved(dev, &s);
        lat_error_clear();
        setting_free(&s);
    }
    device_case(dev, "the lowest eigenvalues are those of the CPU");
    for (int i = 0; i < CASES; i++) {
        setting s = setting_of(i, 0.1, 1 + i % 3);
        const bool small = lat_ghost_unit_sites(s.m) * s.m->colours < 3 * s.m->columns + 8;
        if (!small && lat_ghost_check(dev, &s.u) == 0)
            same_modes(dev, &s);
        lat_error_clear();
        setting_free(&s);
    }
    device_case(dev, "where M has negative eigenvalues the solver says so");
    indefinite(dev);
}

static void on_cpu(void)
{
    hessian();
    plain();
    laplace();
    bits();
    free_field();
    inverse();
    modes();
    saddle();
    refused();
}

/* With an argument: the GPU alone. */
int main(int argc, char **argv)
{
    (void)argv;
    if (!lat_laplace_built) {
        check_case("lib/ghost # SKIP built without FFTW");
        return check_done();
    }
    if (argc == 1)
        on_cpu();
    lat_device *const gpu = gpu_device();
    if (gpu)
        on_gpu(gpu);
    else
        check_skipped("GPU: the Faddeev-Popov operator", lat_error());
    return check_done();
}
