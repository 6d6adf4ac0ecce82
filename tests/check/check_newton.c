/* SPDX-License-Identifier: BSD-3-Clause */
/* check_newton.c: the operator in single precision is that in double; near a maximum steps converge
 * quadratically; a saddle is left; the bits do not depend on threads, and hardly on vectors. On the
 * CPU and a GPU, from one list of cases. */
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
#include "base/isa.h"
#include "fourier/laplace.h"
#include "ghost/ghost.h"
#include "lattice/transform.h"
#include "measure/measure.h"
#include "ghost/newton_internal.h"
#include "site/random.h"

/* Lattices that are cut into boxes and others, with all lengths of vectors; extents whose
 * transforms a GPU has in one piece and in two. Time -1: Landau. */
static const struct {
    const char *dims, *weights;
    int nc, time;
} cases[] = {
    {"4 4 4 4", NULL, 3, -1},       {"8 4 8 4", NULL, 3, -1}, {"6 2 6 4", "1,.5,2,3", 3, -1},
    {"4 4 4 8", "1,1,1,.3", 2, -1}, {"10 6", NULL, 2, -1},    {"4 6 4 5", NULL, 3, 3},
    {"4 4 3 8", NULL, 3, 2},        {"3 4 8 4", NULL, 2, 0},  {"12", NULL, 3, -1},
    {"14 2 18 4", NULL, 3, -1},     {"2 14 3 4", NULL, 2, 2},
};
enum { CASES = sizeof cases / sizeof *cases };

static lat_device *device; /* of the cases at hand */

typedef struct setting {
    lat_field u, g;
    lat_condition c;
    lat_newton *n;
    int units;
    char name[64];
} setting;

/* The links are borrowed: s stays where it is. */
static void setting_for(setting *s, const char *dims, const char *weights, int nc, int time,
                        double epsilon)
{
    const lat_geometry geom = geometry_of(dims);
    s->u = field_new(LAT_GAUGE, geom, nc, LAT_F64);
    fill_near_one(&s->u, epsilon, 7);
    need(lat_transform_new(&s->g, &s->u.head, NULL) == 0, "a transformation");
    need(lat_condition_make(time < 0 ? LAT_LANDAU : LAT_COULOMB, time, weights, &geom, &s->c) == 0,
         "a condition");
    need((s->n = lat_newton_open(device, &s->u, &s->c)) != NULL, "Newton's method");
    s->units = lat_condition_slices(&s->c, &geom);
    snprintf(s->name, sizeof s->name, "%s SU(%d) time %d", dims, nc, time);
}

static void setting_of(setting *s, int i, double epsilon)
{
    setting_for(s, cases[i].dims, cases[i].weights, cases[i].nc, cases[i].time, epsilon);
}

static void setting_free(setting *s)
{
    lat_newton_close(s->n);
    lat_field_free(&s->u);
    lat_field_free(&s->g);
}

/* The links that g transforms. */
static lat_field rotated(const setting *s)
{
    lat_field v, g;
    need(lat_field_duplicate(&s->u, &v) == 0 && lat_field_duplicate(&s->g, &g) == 0
             && lat_transform_apply(&v, &g) == 0,
         "transformed links");
    lat_field_free(&g);
    return v;
}

static lat_gauge_state measured(const setting *s)
{
    lat_gauge_state state;
    lat_field v = rotated(s);
    need(lat_measure_gauge(&v, &s->c, &state, NULL, NULL) == 0, "the functional");
    lat_field_free(&v);
    return state;
}

/* ---- the operator -----------------------------------------------------------------------------
 */

/* A random number for each colour of each site, in rows of both operators: of column 0 in double,
 * and rounded to the column in single. */
static void fill(const setting *s, const lat_ghost *m, double *v, float *row)
{
    const lat_ghost *single = s->n->m;
    memset(v, 0, m->sites * lat_ghost_reals(m) * sizeof *v);
    memset(row, 0, m->sites * lat_ghost_reals(single) * sizeof *row);
    for (size_t i = 0; i < m->sites; i++)
        for (int a = 0; a < m->colours; a++) {
            uint32_t word[4];
            lat_random(3, i, (uint32_t)a, 0, 0, word);
            const float value = (float)(word[0] * 0x1p-31 - 1);
            v[lat_ghost_site(m, i) * lat_ghost_reals(m) + (size_t)(8 * a)] = (double)value;
            row[lat_ghost_site(single, i) * lat_ghost_reals(single) + (size_t)a] = value;
        }
}

/* The largest difference of two such, without the mean of each colour in each unit. */
static double off(const setting *s, const lat_ghost *m, const double *v, const float *row)
{
    const lat_ghost *single = s->n->m;
    const size_t each = m->sites / (size_t)s->units;
    double mean[64][8] = {{0}}, most = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->sites; i++)
            for (int a = 0; a < m->colours; a++) {
                const size_t at = lat_ghost_site(single, i);
                const double d = (double)row[at * lat_ghost_reals(single) + (size_t)a]
                                 - v[lat_ghost_site(m, i) * lat_ghost_reals(m) + (size_t)(8 * a)];
                if (pass == 0)
                    mean[at / each][a] += d / (double)each;
                else
                    most = fmax(most, fabs(d - mean[at / each][a]));
            }
    return most;
}

typedef int operation(lat_ghost *m, double *out, double *in);

static int apply(lat_ghost *m, double *out, double *in)
{
    double *total = lat_alloc((size_t)m->units * (size_t)m->columns + lat_ghost_reals(m) * 64,
                              sizeof *total, "sums");
    const int rc = total ? lat_ghost_hop(m, out, in, NULL, total) : -1;
    free(total);
    return rc;
}

static int invert(lat_ghost *m, double *out, double *in)
{
    return lat_ghost_copy(m, out, in) || lat_ghost_invert(m, out, NULL) ? -1 : 0;
}

/* Of random vectors, for the operator with the links that g transforms. */
static double compare(setting *s, const lat_ghost *m_of, operation *f)
{
    lat_ghost *m = (lat_ghost *)m_of, *single = s->n->m;
    double *p = lat_ghost_vector(m, "a vector"), *q = lat_ghost_vector(m, "a vector"),
           *there = lat_ghost_vector(single, "a vector"),
           *out = lat_ghost_vector(single, "a vector"), sums[2 * 64];
    float *row = lat_alloc(m->sites * lat_ghost_reals(single), sizeof *row, "a vector");
    need(p && q && there && out && row, "vectors");
    fill(s, m, p, row);
    need(lat_newton_begin(s->n, NULL, 0, &s->g) == 0 && lat_newton_gradient(s->n, false, sums) == 0
             && lat_ghost_copy(single, there, (double *)row) == 0 && f(m, q, p) == 0
             && f(single, out, there) == 0 && lat_ghost_copy(single, (double *)row, out) == 0,
         "both");
    const double most = off(s, m, q, row);
    lat_ghost_vector_free(single, there), lat_ghost_vector_free(single, out);
    free(p), free(q), free(row);
    return most;
}

/* In double, on the CPU, of the links that g transforms. */
static lat_ghost *plain_operator(const setting *s)
{
    lat_field v = rotated(s);
    lat_ghost *m = lat_ghost_new(&v, &s->c, 1);
    need(m != NULL, "an operator");
    lat_field_free(&v);
    return m;
}

static void operators(void)
{
    device_case(device, "M in single is that in double, of links that g transforms");
    for (int i = 0; i < CASES; i++) {
        setting s;
        setting_of(&s, i, ROUGH);
        lat_transform_random(&s.g, 5, 0);
        lat_ghost *m = plain_operator(&s);
        /* A sum over 2 nd + 1 products of matrices of single precision, each of some ten roundings
         * of numbers up to 2 W. */
        const double largest = compare(&s, m, apply),
                     bound = 100 * 2 * lat_condition_weights(&s.c) * 0x1p-24;
        CHECK(largest < bound, "%s: M differs by %.2g, bound %.2g", s.name, largest, bound);
        lat_ghost_free(m);
        setting_free(&s);
    }
}

static void preconditioners(void)
{
    device_case(device, "L^-1 in single is that in double");
    for (int i = 0; i < CASES; i++) {
        setting s;
        setting_of(&s, i, ROUGH);
        lat_ghost *m = plain_operator(&s);
        /* As in laplacians(). */
        const double largest = compare(&s, m, invert),
                     bound = 0x1p-24 * 64 * lat_ghost_unit_sites(m);
        CHECK(largest < bound, "%s: L^-1 differs by %.2g, bound %.2g", s.name, largest, bound);
        lat_ghost_free(m);
        setting_free(&s);
    }
}

static void laplacians(void)
{
    check_case("L L^-1 v is v without its mean, in single precision");
    static const char *const lattices[] = {"4 6 2 8", "6 3", "9", "2 2 2 2", "3 2 5"};
    for (size_t i = 0; i < sizeof lattices / sizeof *lattices; i++) {
        const lat_geometry geom = geometry_of(lattices[i]);
        const double weight[LAT_MAX_DIMS] = {1, .5, 2, 1.5};
        const size_t sites = lat_volume(&geom);
        enum { REALS = 4 };
        lat_single_laplace *l = lat_single_laplace_new(&geom, weight, REALS, NULL);
        float *z = lat_alloc(sites * REALS, sizeof *z, "a field");
        double *v = lat_alloc(sites * REALS, sizeof *v, "a field"), mean[REALS] = {0};
        need(l && z && v, "a Laplacian");
        for (size_t k = 0; k < sites * REALS; k++) {
            uint32_t word[4];
            lat_random(5, k, 0, 0, 0, word);
            z[k] = (float)(word[0] * 0x1p-31 - 1);
            v[k] = (double)z[k];
            mean[k % REALS] += v[k] / (double)sites;
        }
        need(lat_single_laplace_invert(l, z) == 0, "the inverse");
        double largest = 0;
        for (size_t x = 0; x < sites; x++)
            for (int k = 0; k < REALS; k++) {
                double lz = 0;
                for (int mu = 0; mu < geom.nd; mu++)
                    lz += weight[mu]
                          * (2 * (double)z[x * REALS + (size_t)k]
                             - (double)z[lat_neighbour(&geom, x, mu, 1) * REALS + (size_t)k]
                             - (double)z[lat_neighbour(&geom, x, mu, -1) * REALS + (size_t)k]);
                largest = fmax(largest, fabs(lz - v[x * REALS + (size_t)k] + mean[k]));
            }
        /* z is up to 1 / (lowest eigenvalue), some V^(2/nd) / 20, times 2^-24 and log V. */
        const double bound = 0x1p-24 * 64 * (double)sites;
        CHECK(largest < bound, "%s: L z - v is %.2g, bound %.2g", lattices[i], largest, bound);
        lat_single_laplace_free(l);
        free(z), free(v);
    }
}

/* ---- steps ------------------------------------------------------------------------------------
 */

typedef struct result {
    lat_newton_report report;
    lat_gauge_state state;
} result;

static result run(setting *s, double theta)
{
    result r;
    double slices[64];
    need(lat_newton_run(s->n, NULL, 0, &s->g, theta, &r.report, &r.state, slices) == 0, "a run");
    return r;
}

/* g <- exp(epsilon random) g. */
static void disturb(setting *s, double epsilon, uint64_t seed)
{
    for (size_t i = 0; i < lat_field_matrices(&s->g); i++) {
        double e[LAT_SUN_REALS], g[LAT_SUN_REALS], m[LAT_SUN_REALS];
        lat_sun_near_one(s->g.head.nc, e, epsilon, seed, i, 0, 0);
        lat_field_get(&s->g, i, g);
        lat_sun_mul(s->g.head.nc, m, e, g);
        lat_field_put(&s->g, i, m);
    }
}

static void convergence(void)
{
    device_case(device,
                "a step from theta makes it theta^2, and F and theta are those of the links");
    for (int i = 0; i < CASES; i++) {
        setting s;
        setting_of(&s, i, 0.2); /* smooth: g = 1 is near the maximum */
        const result first = run(&s, 1e-24);
        const lat_gauge_state top = measured(&s);
        CHECK(first.report.converged == s.units && first.report.ritz > 0,
              "%s: %d of %d slices converged, theta %.2g, ritz %g", s.name, first.report.converged,
              s.units, first.state.theta_slice, first.report.ritz);
        /* The sum over links that are rotated: rounding of numbers of size 1 a site, squared. */
        CHECK(fabs(first.state.functional - top.functional) < 1e-14 && top.theta_slice < 2e-24,
              "%s: F %.16g and theta %.3g, of the links %.16g and %.3g", s.name,
              first.state.functional, first.state.theta_slice, top.functional, top.theta_slice);
        for (double epsilon = 1e-2; epsilon > 1e-4; epsilon /= 8) {
            disturb(&s, epsilon, 11);
            const lat_gauge_state before = measured(&s);
            const result r = run(&s, 0.3 * before.theta_slice); /* one step of the worst slices */
            const lat_gauge_state after = measured(&s);
            const double eta = fmin(0.1, 10 * sqrt(before.theta_slice)),
                         /* the residual of the solver (0.06: 0.2 of 0.3, its least accuracy) and
                          * the cubic terms of F, of size 1 for steps of size sqrt theta / ritz */
                bound = before.theta_slice
                        * (fmax(eta * eta, 0.06)
                           + 100 * before.theta_slice / pow(r.report.ritz, 4));
            CHECK(r.report.steps >= 1 && r.report.steps <= s.units && r.report.saddles == 0
                      && after.theta_slice < bound,
                  "%s: theta from %.3g to %.3g in %d steps, bound %.3g", s.name, before.theta_slice,
                  after.theta_slice, r.report.steps, bound);
            /* and on to the same maximum: the error of F is theta. */
            const result again = run(&s, 1e-22);
            CHECK(again.report.converged == s.units && again.report.steps <= 4 * s.units
                      && fabs(again.state.functional - top.functional) < 1e-14,
                  "%s: %d steps to theta %.3g, F %.16g, maximum %.16g", s.name, again.report.steps,
                  again.state.theta_slice, again.state.functional, top.functional);
        }
        setting_free(&s);
    }
}

static void open_boundaries(void)
{
    device_case(device, "links of zero, which do not exist");
    setting s;
    setting_for(&s, "4 4 4 6", NULL, 3, -1, 0.2);
    const double zero[18] = {0};
    for (size_t x = 0; x < lat_volume(&s.u.head.geom); x++)
        if (x >= lat_volume(&s.u.head.geom) * 5 / 6)
            lat_field_put(&s.u, 4 * x + 3, zero);
    lat_newton_close(s.n);
    need(lat_field_exchange(&s.u) == 0 && (s.n = lat_newton_open(device, &s.u, &s.c)) != NULL,
         "Newton's method");
    const result r = run(&s, 1e-22);
    const lat_gauge_state top = measured(&s);
    CHECK(r.report.converged == 1 && top.theta_slice < 1.01e-22 && r.report.ritz > 0
              && fabs(r.state.functional - top.functional) < 1e-14,
          "theta %.3g, of the links %.3g, F %.16g and %.16g, ritz %g", r.state.theta_slice,
          top.theta_slice, r.state.functional, top.functional, r.report.ritz);
    setting_free(&s);
}

/* exp(2 pi i tau_3 / L) along x, in SU(2): theta is 0 and M has a negative eigenvalue
 * (docs/ghost.md); F rises to 1, that of links 1. */
static void saddle(void)
{
    device_case(device, "a saddle is left");
    setting s;
    setting_for(&s, "6 4 4 4", NULL, 2, -1, 0);
    for (size_t i = 0; i < lat_field_matrices(&s.u); i++) {
        double m[8];
        lat_sun_one(2, m);
        if (i % 4 == 0) {
            m[0] = m[6] = cos(M_PI / 3);
            m[1] = sin(M_PI / 3);
            m[7] = -m[1];
        }
        lat_field_put(&s.u, i, m);
    }
    need(lat_field_exchange(&s.u) == 0, "links");
    lat_newton_close(s.n);
    need((s.n = lat_newton_open(device, &s.u, &s.c)) != NULL, "Newton's method");
    disturb(&s, 1e-4, 3);
    const lat_gauge_state before = measured(&s);
    const result r = run(&s, 1e-16);
    const lat_gauge_state after = measured(&s);
    CHECK(r.report.ritz < 0 && after.functional > before.functional + 1e-9
              && (r.report.converged == 0 || after.functional > 0.999999),
          "F %.12g, then %.12g with theta %.3g, ritz %g, converged %d", before.functional,
          after.functional, after.theta_slice, r.report.ritz, r.report.converged);
    setting_free(&s);
}

static void threads(void)
{
    check_case("the bits do not depend on the number of threads; other vectors end alike");
    for (int i = 0; i < CASES; i++) {
        lat_field g[2];
        double functional[3] = {0};
        for (int k = 0; k < 2; k++) {
#ifdef _OPENMP
            omp_set_num_threads(k ? 3 : 1);
#endif
            setting s;
            setting_of(&s, i, 0.2);
            functional[k] = run(&s, 1e-20).state.functional;
            need(lat_field_duplicate(&s.g, &g[k]) == 0, "a transformation");
            setting_free(&s);
        }
        CHECK(memcmp(g[0].data, g[1].data,
                     lat_field_matrices(&g[0]) * (size_t)g[0].head.reals * sizeof(double))
                  == 0,
              "case %d: other bits with other threads", i);
        CHECK(functional[0] == functional[1], "case %d: other F with other threads", i);
        setenv(LAT_ISA_VARIABLE, "base", 1);
        setting s;
        setting_of(&s, i, 0.2);
        functional[2] = run(&s, 1e-20).state.functional;
        unsetenv(LAT_ISA_VARIABLE);
        CHECK(fabs(functional[2] - functional[0]) < 1e-14,
              "case %d: F %.16g, with other vectors %g", i, functional[0], functional[2]);
        setting_free(&s);
        lat_field_free(&g[0]), lat_field_free(&g[1]);
    }
}

/* From where another device has ended: nothing is left to be done to the same accuracy, and F is
 * the same. A GPU gives the same bits each time. */
static void alike(lat_device *other)
{
    device_case(device, "ends where the CPU ends, with the same bits each time");
    lat_device *const here = device;
    for (int i = 0; i < CASES; i++) {
        setting s, again;
        setting_of(&s, i, 0.2);
        setting_of(&again, i, 0.2);
        const result first = run(&s, 1e-20), second = run(&again, 1e-20);
        CHECK(first.report.iterations == second.report.iterations
                  && memcmp(s.g.data, again.g.data,
                            lat_field_matrices(&s.g) * (size_t)s.g.head.reals * sizeof(double))
                         == 0,
              "%s: other bits", s.name);
        device = other;
        setting_free(&again);
        setting_of(&again, i, 0.2);
        const result theirs = run(&again, 1e-20);
        device = here;
        /* Each is theta below the maximum. Conjugate gradients that round in another way stop one
         * iteration sooner or later in a step. */
        CHECK(fabs(first.state.functional - theirs.state.functional) < 1e-14
                  && first.report.converged == s.units && theirs.report.converged == s.units
                  && abs(first.report.iterations - theirs.report.iterations)
                         <= first.report.steps + theirs.report.steps,
              "%s: F %.16g after %d iterations, there %.16g after %d", s.name,
              first.state.functional, first.report.iterations, theirs.state.functional,
              theirs.report.iterations);
        CHECK(fabs(first.report.ritz - theirs.report.ritz) < 1e-3, "%s: ritz %g, there %g", s.name,
              first.report.ritz, theirs.report.ritz);
        setting_free(&again);
        setting_free(&s);
    }
}

static void on_device(lat_device *dev)
{
    device = dev;
    preconditioners();
    operators();
    convergence();
    open_boundaries();
    saddle();
}

/* With an argument: the GPU alone. */
int main(int argc, char **argv)
{
    (void)argv;
    if (lat_laplace_single_built && argc == 1) {
        laplacians();
        on_device(cpu_device());
        threads();
    }
    if (!gpu_device())
        check_skipped("GPU", lat_error());
    else {
        on_device(gpu_device());
        if (lat_laplace_single_built)
            alike(cpu_device());
        const lat_geometry geom = {2, {22, 4}};
        const lat_condition c = lat_condition_of(LAT_LANDAU, &geom, -1);
        lat_field u = field_new(LAT_GAUGE, geom, 3, LAT_F64);
        device_case(device, "extents without code are refused");
        CHECK(lat_newton_check(device, &u, &c) < 0 && strstr(lat_error(), "found 22"), "%s",
              lat_error());
        lat_field_free(&u);
    }
    return check_done();
}
