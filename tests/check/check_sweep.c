/* SPDX-License-Identifier: BSD-3-Clause */
/* check_sweep.c: sweeps in vector lanes give what the same site functions give as scalars; every
 * site has its lane and its neighbours; a site update finds its maximum. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "devices.h"
#include "fix/fix.h"
#include "fix/fix_lanes.h"
#include "check.h"
#include "fields.h"
#include "site/scalar.h"

static const char *const lattices[] = {"4 4 4 4",  "8 8 8 8",   "2 2 2 2", "2 4 6 10", "6 6 6 6",
                                       "16 2 4 8", "4 12 2 20", "8 8",     "6 10 4",   "32"};
#define LATTICES (int)(sizeof lattices / sizeof *lattices)

/* ---- layout ---- */

static void check_layout(const char *dims, int lanes)
{
    const lat_geometry geom = geometry_of(dims);
    const size_t volume = lat_volume(&geom);
    lat_layout *lay = lat_layout_new(&geom, NULL, lanes);
    if (!CHECK(lay != NULL, "%s: %s", dims, lat_error()))
        return;
    int64_t *slot = calloc(volume, sizeof *slot);
    size_t seen = 0, wrong = 0;
    for (int64_t i = 0; i < (int64_t)lay->nblocks * lanes; i++) {
        const int64_t x = lay->site[i];
        if (x < 0)
            continue;
        int at[LAT_MAX_DIMS];
        lat_coordinates(&geom, (size_t)x, at);
        const bool odd = (at[0] + at[1] + at[2] + at[3]) & 1;
        wrong += odd != (i >= (int64_t)lay->neven * lanes);
        slot[x] = i;
        seen++;
    }
    CHECK(seen == volume && wrong == 0, "%s in %d lanes: %zu of %zu sites, %zu in the wrong half",
          dims, lanes, seen, volume, wrong);
    wrong = 0;
    for (int b = 0; b < lay->nblocks; b++)
        for (int k = 0; k < 2 * geom.nd; k++) {
            const lat_step s = lay->step[b * 2 * geom.nd + k];
            for (int l = 0; l < lanes; l++) {
                const int64_t x = lay->site[(int64_t)b * lanes + l];
                const int64_t from = s.perm < 0
                                         ? lay->collect[(int64_t)s.block * lanes + l]
                                         : (int64_t)s.block * lanes + lay->perm[s.perm * lanes + l];
                if (x >= 0)
                    wrong +=
                        from
                        != slot[lat_neighbour(&geom, (size_t)x, k % geom.nd, k < geom.nd ? 1 : -1)];
                if (s.perm >= 0)
                    wrong += lay->perm[s.perm * lanes + l] != lay->perm32[s.perm * lanes + l];
            }
        }
    CHECK(wrong == 0, "%s in %d lanes: %zu wrong neighbours", dims, lanes, wrong);
    free(slot);
    lat_layout_free(lay);
}

/* ---- sweeps ---- */

/* One sweep in natural order, scalar. */
#define SCALAR_SWEEP(NAME, N, D) \
    static void NAME(const lat_field *u, lat_field *g, lat_gauge gauge, lat_update update, \
                     double omega) \
    { \
        const lat_geometry *geom = &u->head.geom; \
        const size_t nd = (size_t)geom->nd; \
        double *gs = g->data; \
        for (int parity = 0; parity < 2; parity++) \
            for (size_t x = 0; x < lat_volume(geom); x++) { \
                int at[LAT_MAX_DIMS]; \
                lat_coordinates(geom, x, at); \
                if (((at[0] + at[1] + at[2] + at[3]) & 1) != parity) \
                    continue; \
                m##D k; \
                mag##D m; \
                memset(&k, 0, sizeof k); \
                memset(&m, 0, sizeof m); \
                for (size_t i = 0; i < 2 * nd; i++) { \
                    double w[2 * N * N], d[2 * N * N]; \
                    const size_t there = lat_neighbour(geom, x, (int)(i % nd), i < nd ? 1 : -1); \
                    if (i < nd) \
                        lat_field_get(u, x *nd + i, w); \
                    else { \
                        lat_field_get(u, there *nd + i - nd, d); \
                        lat_sun_dag(N, w, d); \
                    } \
                    add_mul_dag##D(&k, w, gs + 2 * N * N * there, N, 1); \
                    mag_add##D(&m, w, gs + 2 * N * N * there, N, N); \
                } \
                m##D *here = (m##D *)(void *)(gs + 2 * N * N * x); \
                const m##D xk = mul_left##D(gs + 2 * N * N * x, &k); \
                mag_rotate##D(&m, gs + 2 * N * N * x, N); \
                if (gauge == LAT_MAG && update == LAT_UPDATE_RELAX_SU2) \
                    mag_relax_su2##D(here, m, N, omega); \
                else if (gauge == LAT_MAG) \
                    mag_relax_sun##D(here, m, N, omega); \
                else if (update == LAT_UPDATE_RELAX_SU2) \
                    relax_su2##D(here, xk, omega); \
                else \
                    relax_sun##D(here, xk, omega); \
            } \
    }
SCALAR_SWEEP(scalar_two, 2, _d2)
SCALAR_SWEEP(scalar_three, 3, _d3)

static void check_sweeps(const char *dims, int nc, lat_gauge gauge, lat_update update)
{
    /* A rough field in a random gauge: rotations of all sizes occur in the first sweeps. */
    lat_field u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64), back;
    fill_near_one(&u, ROUGH, 3);
    lat_field g = haar_transform(&u, 5);
    const lat_condition c = lat_condition_of(gauge, &u.head.geom, -1);
    const double omega = 1.6;
    const lat_sweep how = {.update = update, .omega = &omega};
    lat_fixer *dev = lat_fix_open(cpu_device(), &u, &c, LAT_F64, 1);
    if (!CHECK(dev && !lat_fix_set(dev, 0, &g)
                   && !lat_transform_new(&back, &u.head, &lat_comm_self),
               "%s: %s", dims, lat_error()))
        return;
    const int sweeps = 3;
    CHECK(!lat_fix_sweep(dev, &how, sweeps) && !lat_fix_get(dev, 0, &back), "%s", lat_error());
    for (int i = 0; i < sweeps; i++)
        (nc == 2 ? scalar_two : scalar_three)(&u, &g, gauge, update, omega);
    /* Each update rounds g to about 100 eps; where K is small, rotations far from their maximum
     * make more of it: a factor 1000 is allowed over the 3 sweeps. */
    double worst = 0;
    for (size_t i = 0; i < lat_field_reals(&g); i++)
        worst = fmax(worst, fabs(((double *)g.data)[i] - ((double *)back.data)[i]));
    CHECK(worst <= 1e5 * 0x1p-53, "%s SU(%d) %s update %d: lanes and scalar differ by %g", dims, nc,
          lat_gauge_name(gauge), update, worst);

    /* The lanes' functional and theta are those of the links that g makes. */
    lat_gauge_state s, t;
    CHECK(!lat_fix_state(dev, &s, NULL) && !lat_transform_apply(&u, &back)
              && !lat_measure_gauge(&u, &c, &t, NULL, NULL),
          "%s", lat_error());
    CHECK(fabs(s.functional - t.functional) <= 64 * 0x1p-53, "functional %.17g, %.17g",
          s.functional, t.functional);
    CHECK(fabs(s.theta - t.theta) <= 1024 * 0x1p-53 * (1 + t.theta), "theta %.17g, %.17g", s.theta,
          t.theta);
    CHECK(fabs(s.theta_max - t.theta_max) <= 4096 * 0x1p-53 * (1 + t.theta_max),
          "theta_max %.17g, %.17g", s.theta_max, t.theta_max);
    lat_fix_close(dev);
    lat_field_free(&u);
    lat_field_free(&g);
    lat_field_free(&back);
}

/* ---- site updates ---- */

static void random_su2(double h[4], uint64_t i)
{
    uint32_t w[4];
    double n = 0;
    for (int k = 0; k < 4; k++) {
        lat_random(7, i, 0, 0, (uint32_t)k, w);
        h[k] = 2 * lat_uniform(w[0], w[1]) - 1;
        n += h[k] * h[k];
    }
    for (int k = 0; k < 4; k++)
        h[k] /= sqrt(n);
}

static double re_trace(const m_d3 *x) { return x->e[0][0].re + x->e[1][1].re + x->e[2][2].re; }

/* sum_i (X_i)_ii, all three kept. */
static double abelian(const mag_d3 *m)
{
    return m->x[0].e[0][0].re + m->x[1].e[1][1].re + m->x[2].e[2][2].re;
}

static void random_problem(m_d3 *x, mag_d3 *m, uint64_t i)
{
    double one[18], w[18];
    lat_sun_one(3, one);
    memset(x, 0, sizeof *x);
    memset(m, 0, sizeof *m);
    for (uint64_t k = 0; k < 8; k++) {
        lat_sun_haar(3, w, 11, 8 * i + k, 0, 0);
        add_mul_dag_d3(x, w, one, 3, 1);
        mag_add_d3(m, w, one, 3, 3);
    }
}

static void check_hits(void)
{
    for (uint64_t i = 0; i < 500; i++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                m_d3 x;
                mag_d3 m;
                double h[4], other[4];
                random_problem(&x, &m, i);
                hit_axis_d3(&x, p, q, h);
                hit_unit_d3(h);
                m_d3 best = x;
                hit_apply_d3(&best, p, q, h);
                double hm[4];
                mag_hit_d3(&m, p, q, 3, hm);
                mag_d3 best_mag = m;
                mag_apply_d3(&best_mag, p, q, 3, hm);
                /* Traces of eight unitary matrices: 24 at most, so a few roundings of 24. */
                const double eps = 24 * 16 * 0x1p-53;
                CHECK(re_trace(&best) >= re_trace(&x) - eps
                          && abelian(&best_mag) >= abelian(&m) - eps,
                      "lower after a hit");
                for (uint64_t k = 0; k < 20; k++) {
                    m_d3 y = x;
                    mag_d3 n = m;
                    random_su2(other, 20 * i + k);
                    hit_apply_d3(&y, p, q, other);
                    CHECK(re_trace(&y) <= re_trace(&best) + eps,
                          "a random hit is better: %.17g, %.17g", re_trace(&y), re_trace(&best));
                    other[3] = 0; /* a phase about the pole is all that this leaves out */
                    hit_unit_d3(other);
                    mag_apply_d3(&n, p, q, 3, other);
                    CHECK(abelian(&n) <= abelian(&best_mag) + eps,
                          "a random hit is better: %.17g, %.17g", abelian(&n), abelian(&best_mag));
                }
                /* The square of the rotation to the maximum goes as far beyond it: nothing changes.
                 */
                double r2 = 2 * h[0], twice[4] = {r2 * h[0] - 1, r2 * h[1], r2 * h[2], r2 * h[3]};
                m_d3 mirror = x;
                hit_apply_d3(&mirror, p, q, twice);
                CHECK(fabs(re_trace(&mirror) - re_trace(&x)) <= eps, "microcanonical: off by %g",
                      re_trace(&mirror) - re_trace(&x));
                double s2 = 2 * hm[0], twice_mag[4] = {s2 * hm[0] - 1, s2 * hm[1], s2 * hm[2], 0};
                mag_d3 mirror_mag = m;
                mag_apply_d3(&mirror_mag, p, q, 3, twice_mag);
                CHECK(fabs(abelian(&mirror_mag) - abelian(&m)) <= eps,
                      "microcanonical, MAG: off by %g", abelian(&mirror_mag) - abelian(&m));
            }
}

/* Two of the X_i are as good as three. */
static void check_two_of_three(void)
{
    for (uint64_t i = 0; i < 500; i++) {
        m_d3 x;
        mag_d3 m;
        random_problem(&x, &m, i);
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                double a[4], b[4];
                mag_hit_d3(&m, p, q, 3, a);
                mag_hit_d3(&m, p, q, 2, b);
                for (int k = 0; k < 4; k++)
                    CHECK(fabs(a[k] - b[k]) <= 1e-12, "pair %d%d: %g and %g", p, q, a[k], b[k]);
            }
        double fa, ta, fb, tb;
        mag_state_d3(&m, 3, 8, &fa, &ta);
        mag_state_d3(&m, 2, 8, &fb, &tb);
        CHECK(fabs(fa - fb) <= 1e-13 && fabs(ta - tb) <= 1e-12 * (1 + ta), "%g %g, %g %g", fa, fb,
              ta, tb);
    }
}

/* Where there is nothing to climb (idle lanes, K = 0) g stays, and is no NaN. */
static void check_nothing(void)
{
    m_d3 x, g;
    mag_d3 m;
    memset(&x, 0, sizeof x);
    memset(&m, 0, sizeof m);
    unit_d3(&g);
    relax_su2_d3(&g, x, 1.7);
    relax_sun_d3(&g, x, 1.7);
    mag_relax_su2_d3(&g, m, 2, 1.7);
    mag_relax_sun_d3(&g, m, 2, 1.7);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            CHECK(g.e[a][b].re == (a == b) && g.e[a][b].im == 0, "element %d%d is %g %g", a, b,
                  g.e[a][b].re, g.e[a][b].im);
}

int main(void)
{
    check_case("every site has its lane and its neighbours, on any lattice and vector length");
    for (int i = 0; i < LATTICES; i++)
        for (int lanes = 2; lanes <= 16; lanes *= 2)
            check_layout(lattices[i], lanes);
    static const struct {
        const char *set, *name;
    } sets[] = {
        {"base", "a sweep in the shortest lanes is a sweep one site after the other"},
        {"avx2", "a sweep in AVX2 lanes is a sweep one site after the other"},
        {"avx512", "a sweep in AVX-512 lanes is a sweep one site after the other"},
    };
    for (int i = 0; i < 3; i++) {
        setenv("LAT_LANES", sets[i].set, 1);
        check_case(sets[i].name);
        for (int k = 0; k < LATTICES; k++)
            for (int nc = 2; nc <= 3; nc++)
                for (lat_update n = LAT_UPDATE_RELAX_SU2; n <= LAT_UPDATE_RELAX_SUN; n++) {
                    check_sweeps(lattices[k], nc, LAT_LANDAU, n);
                    check_sweeps(lattices[k], nc, LAT_MAG, n);
                }
    }
    unsetenv("LAT_LANES");
    check_case("a hit is the maximum over its subgroup, and its square changes nothing");
    check_hits();
    check_case("two of the three X_i of maximally Abelian gauge are enough");
    check_two_of_three();
    check_case("a site without a preferred direction keeps its g");
    check_nothing();
    return check_done();
}
