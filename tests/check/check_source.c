/* SPDX-License-Identifier: BSD-3-Clause */
/* check_source.c: smeared links, Gaussian smearing, sources. */
#include <math.h>
#include <string.h>
#include "check.h"
#include "vector/space.h"
#include "grid/staging.h"
#include "fields.h"
#include "quark/gauss.h"
#include "certify/plain.h"
#include "smear/smear.h"
#include "quark/source.h"

static const char *const kinds[] = {"ape:0.6,2",          "ape:0.5,2,spatial",
                                    "stout:0.1,2",        "stout:0.22,2,spatial",
                                    "hyp:0.75,0.6,0.3,2", "hyp:0.6,0.3,2,spatial"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- links ----------------------------------------------------------------------------------- */

static lat_field smeared(const lat_field *u, const char *text)
{
    lat_smear s;
    lat_field v = {.data = NULL};
    need(lat_smear_parse(text, &s) == 0 && lat_smear_links(u, &s, &v) == 0, text);
    return v;
}

/* The largest difference of two fields, of any number of matrices. */
static double apart(const lat_field *a, const lat_field *b, bool space, bool time)
{
    double largest = 0;
    for (size_t i = 0; i < lat_field_matrices(a); i++) {
        double x[LAT_SUN_REALS], y[LAT_SUN_REALS];
        if (i % 4 < 3 ? !space : !time)
            continue;
        lat_field_get(a, i, x);
        lat_field_get(b, i, y);
        for (int k = 0; k < 2 * a->head.nc * a->head.nc; k++)
            largest = lat_worse(largest, fabs(x[k] - y[k]));
    }
    return largest;
}

static void check_links(int nc)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 2 3 5"), nc, LAT_F64), one, rotated, g;
    fill_near_one(&u, ROUGH, 7);
    one = field_new(LAT_GAUGE, geometry_of("4 2 3 5"), nc, LAT_F64);
    fill_near_one(&one, 0, 7);
    rotated = field_new(LAT_GAUGE, geometry_of("4 2 3 5"), nc, LAT_F64);
    fill_near_one(&rotated, ROUGH, 7);
    g = haar_transform(&u, 11);
    need(lat_transform_apply(&rotated, &g) == 0, "a transformation");
    for (int k = 0; k < KINDS; k++) {
        const bool spatial = strstr(kinds[k], "spatial") != NULL;
        lat_field v = smeared(&u, kinds[k]), w = smeared(&rotated, kinds[k]);
        lat_field cold = smeared(&one, kinds[k]);
        double worst = 0, m[LAT_SUN_REALS];
        CHECK(apart(&cold, &one, true, true) < 1e-14, "SU(%d) %s: links of 1 move", nc, kinds[k]);
        CHECK(apart(&u, &v, true, false) > 0.1, "SU(%d) %s does nothing", nc, kinds[k]);
        CHECK((apart(&u, &v, false, true) == 0) == spatial, "SU(%d) %s: time", nc, kinds[k]);
        need(lat_transform_apply(&v, &g) == 0, "a transformation");
        /* Two steps of some hundred operations; the projection amplifies by less than 10. */
        CHECK(apart(&v, &w, true, true) < 2e-13, "SU(%d) %s: covariance %g", nc, kinds[k],
              apart(&v, &w, true, true));
        for (size_t i = 0; i < lat_field_matrices(&w); i++) {
            double det[2];
            lat_field_get(&w, i, m);
            lat_sun_det(nc, m, det);
            worst = fmax(worst, fmax(lat_sun_unitarity(nc, m), hypot(det[0] - 1, det[1])));
        }
        CHECK(worst < 1e-13, "SU(%d) %s: %g off the group", nc, kinds[k], worst);
        lat_field_free(&v);
        lat_field_free(&w);
        lat_field_free(&cold);
    }
    lat_field_free(&u);
    lat_field_free(&one);
    lat_field_free(&rotated);
    lat_field_free(&g);
}

/* Links exp(i theta sigma_3) along x that depend on y as a wave: everything commutes, and the
 * weights of a staple are known: theta' = theta + share (staples - 2 (d-1) theta) to first
 * order, and to third order nothing else. */
static void check_wave(void)
{
    const lat_geometry geom = geometry_of("4 8 4 4");
    lat_field u = field_new(LAT_GAUGE, geom, 2, LAT_F64);
    const double small = 1e-4;
    for (size_t i = 0; i < lat_field_matrices(&u); i++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&geom, i / 4, x);
        const double theta = i % 4 == 0 ? small * cos(2 * M_PI * x[1] / 8) : 0;
        const double m[8] = {cos(theta), sin(theta), 0, 0, 0, 0, cos(theta), -sin(theta)};
        lat_field_put(&u, i, m);
    }
    /* Two staples of each of the directions: in the plane with y their mean has cos(2 pi / 8). */
    const double away = 1 - cos(2 * M_PI / 8);
    const struct {
        const char *text;
        double factor;
    } expected[] = {{"stout:0.1,1", 1 - 0.1 * 2 * away},
                    {"stout:0.1,3", pow(1 - 0.1 * 2 * away, 3)},
                    {"stout:0.1,1,spatial", 1 - 0.1 * 2 * away},
                    {"ape:0.6,1", 1 - 0.6 / 6 * 2 * away},
                    {"ape:0.6,1,spatial", 1 - 0.6 / 4 * 2 * away},
                    /* V_x(S): of sets without y. a3, then a2, then a1; links along others are 1,
                     * and the wave is longest in the staples along z and t. */
                    {"hyp:0.75,0.6,0.3,1", NAN}};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        lat_field v = smeared(&u, expected[k].text);
        double m[8], factor = expected[k].factor;
        if (isnan(factor)) {
            /* f(S) of V_x(S), S beside x: 1 - a + a/k sum over nu of f(S+nu) (cos or 1). */
            const double c = cos(2 * M_PI / 8), a1 = 0.75, a2 = 0.6, a3 = 0.3;
            const double only_y = 1 - a3 + a3 * c, y_and_z = 1 - a2 + a2 / 2 * (c + only_y);
            factor = 1 - a1 + a1 / 3 * (c + 2 * y_and_z);
        }
        lat_field_get(&v, 0, m);
        const double got = atan2(m[1], m[0]) / small;
        CHECK(fabs(got - factor) < 10 * small * small, /* third order */
              "%s: %.12g, expected %.12g", expected[k].text, got, factor);
        lat_field_free(&v);
    }
    lat_field_free(&u);
}

/* ---- Gaussian smearing ----------------------------------------------------------------------- */

static double *spinors(const lat_field *u, int columns)
{
    double *psi = lat_alloc(lat_field_sites(u) * 8 * (size_t)u->head.nc, 8 * (size_t)columns,
                            "spinors");
    need(psi != NULL, "spinors");
    return psi;
}

static double *source(const lat_field *u, const char *text, int field, int column)
{
    double *psi = spinors(u, 1);
    lat_source *s = lat_source_new(text, &u->head);
    need(s && lat_source_begin(s, u, 0) == 0 && lat_source_make(s, field, column, psi) == 0, text);
    lat_source_free(s);
    return psi;
}

static void check_gauss_free(void)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 3 6 2"), 3, LAT_F64);
    fill_near_one(&u, 0, 1);
    double *wave = source(&u, "wall:1,1,2,3", 0, 7);
    double *psi = source(&u, "wall:1,1,2,3/gauss:1.5,4", 0, 7), worst = 0, size = 0;
    const double a = 1.5 * 1.5 / 16;
    const double hops = 2 * (cos(2 * M_PI / 4) + cos(4 * M_PI / 3) + cos(6 * M_PI / 6));
    const double factor = pow(1 - 6 * a + a * hops, 4);
    for (size_t i = 0; i < lat_field_sites(&u) * 24; i++) {
        worst = fmax(worst, fabs(psi[i] - factor * wave[i]));
        size = fmax(size, fabs(wave[i]));
    }
    CHECK(size == 1 && worst < 1e-14, "%g, factor %g", worst, factor);
    free(wave);
    free(psi);
    lat_field_free(&u);
}

/* Smearing of a spinor with g(x) on it, on rotated links, is g(x) times the smeared one. */
static void check_gauss_gauge(int nc, const char *steps)
{
    const lat_geometry geom = geometry_of("3 4 2 3");
    lat_field u = field_new(LAT_GAUGE, geom, nc, LAT_F64);
    fill_near_one(&u, ROUGH, 3);
    lat_field g = haar_transform(&u, 5);
    double *psi = spinors(&u, 2), *rotated = spinors(&u, 2), worst = 0;
    const size_t sites = lat_field_sites(&u), vectors = 8, n = (size_t)nc;
    for (size_t i = 0; i < sites * vectors * 2 * n; i++)
        psi[i] = sin(1.0 + (double)i);
    for (int pass = 0; pass < 2; pass++) {
        double *v = pass ? rotated : psi;
        lat_source *s = lat_sink_new(steps, &u.head);
        if (pass) /* before the first pass has smeared psi */
            need(lat_transform_apply(&u, &g) == 0, "a transformation");
        for (size_t k = 0; k < sites * vectors && pass == 0; k++) {
            double m[LAT_SUN_REALS];
            lat_field_get(&g, k / vectors, m);
            for (size_t i = 0; i < n; i++) {
                double sum[2] = {0};
                for (size_t j = 0; j < n; j++) {
                    double z[2];
                    lat_sun_cmul(z, m + 2 * (i * n + j), psi + 2 * (k * n + j));
                    sum[0] += z[0];
                    sum[1] += z[1];
                }
                memcpy(rotated + 2 * (k * n + i), sum, sizeof sum);
            }
        }
        need(s && lat_source_begin(s, &u, 0) == 0, "steps");
        for (int t = 0; t < 3; t++)
            need(lat_sink_smear(s, t, 2, v + (size_t)t * 24 * vectors * 2 * n) == 0, "a slice");
        lat_source_free(s);
    }
    for (size_t k = 0; k < sites * vectors; k++) {
        double m[LAT_SUN_REALS];
        lat_field_get(&g, k / vectors, m);
        for (size_t i = 0; i < n; i++) {
            double sum[2] = {-rotated[2 * (k * n + i)], -rotated[2 * (k * n + i) + 1]};
            for (size_t j = 0; j < n; j++) {
                double z[2];
                lat_sun_cmul(z, m + 2 * (i * n + j), psi + 2 * (k * n + j));
                sum[0] += z[0];
                sum[1] += z[1];
            }
            worst = fmax(worst, hypot(sum[0], sum[1]));
        }
    }
    CHECK(worst < 1e-12, "SU(%d) %s: %g", nc, steps, worst);
    free(psi);
    free(rotated);
    lat_field_free(&u);
    lat_field_free(&g);
}

/* Columns together are those alone, but for rounding: all lanes of a vector, and those left. */
static void check_gauss_columns(int nc, int columns)
{
    const lat_geometry geom = geometry_of("3 4 2 2");
    lat_field u = field_new(LAT_GAUGE, geom, nc, LAT_F64);
    fill_near_one(&u, ROUGH, 3);
    const size_t slice = 24, reals = 8 * (size_t)nc, all = slice * (size_t)columns * reals;
    double *psi = malloc(all * sizeof *psi), *one = malloc(slice * reals * sizeof *one), worst = 0;
    need(psi && one, "memory");
    for (size_t i = 0; i < all; i++)
        psi[i] = sin(1.0 + (double)i);
    need(lat_gauss_slice(&u, 1, 1.5, 7, columns, psi) == 0, "a slice");
    for (size_t c = 0; c < (size_t)columns; c++) {
        for (size_t i = 0; i < slice * reals; i++)
            one[i] = sin(1.0 + (double)((i / reals * (size_t)columns + c) * reals + i % reals));
        need(lat_gauss_slice(&u, 1, 1.5, 7, 1, one) == 0, "a slice");
        for (size_t i = 0; i < slice * reals; i++)
            worst = fmax(worst,
                         fabs(one[i] - psi[(i / reals * (size_t)columns + c) * reals + i % reals]));
    }
    CHECK(worst < 1e-14, "SU(%d), %d columns: %g", nc, columns, worst);
    free(psi);
    free(one);
    lat_field_free(&u);
}

/* ---- sources --------------------------------------------------------------------------------- */

static size_t sites_where(const lat_field *u, const double *psi, size_t *last)
{
    size_t n = 0;
    for (size_t i = 0; i < lat_field_sites(u); i++) {
        double sum = 0;
        for (int k = 0; k < 24; k++)
            sum += fabs(psi[24 * i + (size_t)k]);
        n += sum > 0;
        *last = sum > 0 ? i : *last;
    }
    return n;
}

static void check_shapes(const lat_field *u)
{
    size_t site = 0;
    double *psi = source(u, "point:1,2,0,3", 0, 5);
    const int x[4] = {1, 2, 0, 3};
    CHECK(sites_where(u, psi, &site) == 1 && site == lat_site(&u->head.geom, x)
              && psi[24 * site + 10] == 1,
          "point");
    free(psi);
    psi = source(u, "box:3,2,1,0,2,3,1", 0, 0); /* across the boundary */
    CHECK(sites_where(u, psi, &site) == 6 && site < 24 * 4, "box: %zu", sites_where(u, psi, &site));
    free(psi);
    psi = source(u, "ball:1.5,0,0,0,1", 0, 0);
    const int far[4] = {3, 1, 1, 1}; /* at -1, 1, 1 */
    CHECK(fabs(psi[24 * lat_site(&u->head.geom, far)] - exp(-3 / 2.25)) < 1e-15, "ball");
    free(psi);
    psi = source(u, "momentum:1,0,0,0.5", 0, 4);
    const int at[4] = {1, 0, 0, 2}; /* i times exp(i pi 2/4) */
    CHECK(fabs(psi[24 * lat_site(&u->head.geom, at) + 8] + 1) < 1e-15, "momentum");
    free(psi);
}

static void check_noise(const lat_field *u)
{
    static const struct {
        const char *text;
        int fields, columns;
    } list[] = {{"noise:z4,seed=9", 1, 1},
                {"noise:z4,seed=9,dilute=evenodd", 2, 1},
                {"noise:z4,seed=9,dilute=time-evenodd", 8, 1},
                {"noise:z2,t=2,seed=9,dilute=spin", 4, 1},
                {"noise:z2,t=2,seed=9,dilute=colour-spin", 1, 12}};
    double *all = source(u, list[0].text, 0, 0);
    const size_t reals = lat_field_reals(u) / 72 * 24;
    double mean = 0, real = 0;
    for (size_t i = 0; i < reals; i += 2) {
        CHECK(fabs(all[i]) + fabs(all[i + 1]) == 1, "%g %g", all[i], all[i + 1]);
        mean += all[i] + all[i + 1];
        real += fabs(all[i]);
    }
    /* n numbers: 4 sigma. */
    CHECK(fabs(mean) < 4 * sqrt((double)reals / 2), "mean %g of %zu", mean, reals);
    CHECK(fabs(real / (double)reals - 0.25) < 4 * 0.25 / sqrt((double)reals / 2), "real %g", real);
    for (size_t k = 1; k < sizeof list / sizeof *list; k++) {
        lat_source *s = lat_source_new(list[k].text, &u->head);
        need(s && lat_source_begin(s, u, 0) == 0, list[k].text);
        CHECK(lat_source_fields(s) == list[k].fields && lat_source_columns(s) == list[k].columns,
              "%s: %d fields of %d", list[k].text, lat_source_fields(s), lat_source_columns(s));
        double *sum = spinors(u, 1), *psi = spinors(u, 1);
        memset(sum, 0, reals * sizeof *sum);
        for (int f = 0; f < list[k].fields * list[k].columns; f++) {
            need(lat_source_make(s, f / list[k].columns, f % list[k].columns, psi) == 0, "noise");
            bool twice = false;
            for (size_t i = 0; i < reals; i++) {
                twice |= sum[i] != 0 && psi[i] != 0;
                sum[i] += psi[i];
            }
            CHECK(!twice, "%s: field %d repeats", list[k].text, f);
        }
        size_t wrong = 0, linked = 0;
        for (size_t i = 0; i < reals; i++)
            wrong += k < 3 && sum[i] != all[i];
        for (size_t i = 0; i < reals; i += 24)
            linked += k == 4 && sum[i] != sum[i + 2 * 7];
        CHECK(wrong == 0 && linked == 0, "%s: %zu and %zu differ", list[k].text, wrong, linked);
        lat_source_free(s);
        free(sum);
        free(psi);
    }
    free(all);
}

static void check_refusals(const lat_header *head)
{
    static const char *const wrong[] = {"",
                                        "point",
                                        "point:0,0,0",
                                        "point:0,0,0,9",
                                        "point:0,0,0,0,0",
                                        "point:-1,0,0,0",
                                        "point:0.5,0,0,0",
                                        "wall:4",
                                        "wall:0,1",
                                        "gauss:2,5",
                                        "gauss:-1,5,0,0,0,0",
                                        "gauss:2,0,0,0,0,0",
                                        "box:0,0,0,0,5,1,1",
                                        "box:0,0,0,0,0,1,1",
                                        "noise:z3",
                                        "noise:z2,t=7",
                                        "noise:z2,seed=x",
                                        "noise:z2,t=1,dilute=time",
                                        "noise:z2,dilute=spin-spin",
                                        "ball:0,0,0,0,0",
                                        "point:0,0,0,0/gauss:2",
                                        "point:0,0,0,0/ape:2,1",
                                        "point:0,0,0,0/hyp:.1,.1,1",
                                        "point:0,0,0,0/stout:.1,0",
                                        "point:0,0,0,0/",
                                        "point:0,0,0,0 ",
                                        "cube:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lat_source *s = lat_source_new(wrong[i], head);
        CHECK(!s && *lat_error(), "'%s' was taken", wrong[i]);
        lat_source_free(s);
        lat_error_clear();
    }
    int x[4];
    CHECK(lat_source_place("gauss:2,5,1,2,0,3/gauss:1,1", x) && x[0] == 1 && x[3] == 3, "gauss");
    CHECK(lat_source_place("point:2.0,1,0x2,3e0/ape:.1,1", x) && x[0] == 2 && x[1] == 1 && x[2] == 2
              && x[3] == 3,
          "the numbers of a source");
    CHECK(lat_source_place("ball:1.5,0.0,1,2,.3e1", x) && x[1] == 1 && x[3] == 3, "ball");
    CHECK(lat_source_place("box:1,2,3,4.0,1,1,1", x) && x[0] == 1 && x[3] == 4, "box");
    CHECK(lat_source_place("noise:z4,t=.2e1,seed=7", x) && x[3] == 2, "noise");
    CHECK(!lat_source_place("point:0,0,0,1e10", x) && !lat_source_place("point:0,0,0", x), "none");
    CHECK(lat_source_place("wall:2,1,0,0", x) && x[0] == 0 && x[3] == 2, "wall");
    CHECK(lat_source_place("noise:z4,seed=4,t=3", x) && x[3] == 3, "noise");
    CHECK(lat_source_place("noise:t=3,z4,seed=4", x) && x[3] == 3, "noise, in any order");
    CHECK(lat_source_place("noise:z4,dilute=spin-colour-time-evenodd field 7 of 16", x)
              && x[3] == 3,
          "diluted in time");
    CHECK(!lat_source_place("momentum:1,1,1,1", x) && x[3] == 0, "momentum");
    CHECK(!lat_source_place(NULL, x) && !lat_source_place("SHELL_SOURCE", x), "foreign");
}

/* Spinors of b that it says are zero and are not; *slices: how many slices are said to be. */
static size_t wrong_zeros(const lat_field *b, int *slices)
{
    const size_t slice = lat_slice_sites(&b->head), all = lat_field_sites(b),
                 objects = lat_header_objects(&b->head);
    double psi[24];
    size_t wrong = 0;
    *slices = 0;
    for (size_t t = 0; t < all; t += slice)
        *slices += lat_field_zero(b, t, slice);
    for (size_t i = 0; i < all * objects; i++) {
        bool zero = true;
        lat_field_get(b, i, psi);
        for (int k = 0; k < 24; k++)
            zero = zero && psi[k] == 0;
        wrong += !zero && lat_field_zero(b, i / objects, 1);
    }
    return wrong;
}

/* Whoever writes to a field takes back what was said of its slices; a copy has no such word. */
static void check_overwritten(const lat_field *u)
{
    static const int column[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const lat_fermion f = {.name = "wilson", .mass = .1, .nu = 1, .xi = 1, .cf = 1};
    const lat_part all = {LAT_BOTH, 12, column};
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1};
    const lat_device_options cpu = {.choice = LAT_DEVICE_CPU};
    lat_device *device = lat_device_open(&cpu, &lat_comm_self);
    lat_grid *grid = device ? lat_grid_new(device, &spec) : NULL;
    lat_space *s = grid ? lat_space_open(grid, 3, 12) : NULL;
    lat_dfield *x = s ? lat_vector_new(s, "spinors") : NULL;
    lat_plain *m = lat_plain_new(u, &f);
    lat_source *point = lat_source_new("point:0,0,0,1", &u->head);
    double *piece = calloc(12 * lat_field_sites(u), 24 * sizeof *piece);
    need(x && m && piece && lat_source_begin(point, u, 0) == 0, "an operator");
    for (int how = 0; how < 5; how++) {
        lat_field b, copy = {.data = NULL};
        int before = 0, after = 0;
        need(lat_source_field(point, 0, &b) == 0 && lat_field_duplicate(&b, &copy) == 0, "fields");
        wrong_zeros(&copy, &after);
        CHECK(after == 0, "a copy: %d slices", after);
        CHECK(wrong_zeros(&b, &before) == 0 && before == 3, "%d slices", before);
        switch (how) {
        case 0: need(!lat_plain_apply(m, false, &copy, 12, column, &b), "M"); break;
        case 1: need(!lat_spinors_put(s, &all, x, &copy, column), "put"); break;
        case 2: lat_unstage_spinors(&b, 12, column, 0, lat_field_sites(u), piece); break;
        case 3: need(!lat_field_convert(&b, LAT_F32), "rounded"); break;
        case 4: lat_field_free(&b); break;
        }
        if (how == 1)
            need(!lat_spinors_get(s, &all, x, &b, column), "get");
        if (how < 4)
            CHECK(wrong_zeros(&b, &after) == 0 && after == (how == 3 ? 3 : 0), "%d: %d", how,
                  after);
        else
            CHECK(b.zeros.first == 0 && b.zeros.last == 0, "freed");
        lat_field_free(&b);
        lat_field_free(&copy);
    }
    free(piece);
    lat_source_free(point);
    lat_plain_free(m);
    lat_dfield_free(x);
    lat_space_close(s);
    lat_grid_free(grid);
    lat_device_close(device);
}

/* The field has memory for the slices of the source alone, and says which they are; the columns are
 * made on all. */
static void check_fields(const lat_field *u)
{
    static const char *const list[] = {"point:1,2,3,0",
                                       "wall:3,1,0,0",
                                       "momentum:0.5,0,1,2",
                                       "box:1,1,1,2,2,2,2",
                                       "ball:1.5,1,1,1,3",
                                       "wall:1/stout:0.1,1/gauss:1,3",
                                       "noise:z4,seed=3",
                                       "noise:z2,t=3,dilute=spin-colour",
                                       "noise:z4,dilute=time-evenodd"};
    double *psi = spinors(u, 1), found[24];
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        lat_source *s = lat_source_new(list[k], &u->head);
        const bool everywhere = k == 2 || k == 6;
        int zeros;
        need(s && lat_source_begin(s, u, 2) == 0, list[k]);
        const int columns = lat_source_columns(s);
        size_t wrong = 0;
        for (int f = 0; f < lat_source_fields(s); f++) {
            lat_field b;
            need(lat_source_field(s, f, &b) == 0, list[k]);
            for (int c = 0; c < columns; c++) {
                need(lat_source_make(s, f, c, psi) == 0, list[k]);
                for (size_t i = 0; i < lat_field_sites(u); i++) {
                    lat_field_get(&b, i * (size_t)columns + (size_t)c, found);
                    wrong += memcmp(found, psi + 24 * i, sizeof found) != 0;
                }
            }
            CHECK(wrong_zeros(&b, &zeros) == 0 && zeros == (everywhere ? 0 : 3),
                  "%s, field %d: %d slices are zero", list[k], f, zeros);
            lat_field_free(&b);
        }
        CHECK(wrong == 0, "%s: %zu spinors of its fields are not those of its columns", list[k],
              wrong);
        lat_source_free(s);
    }
    free(psi);
}

int main(void)
{
    check_case("smeared links transform as links, are in the group, and links of 1 stay");
    check_links(2);
    check_links(3);
    check_case("weights of the staples, by waves in an Abelian subgroup");
    check_wave();
    check_case("Gaussian smearing of a plane wave on free links has the known factor");
    check_gauss_free();
    check_case("Gaussian smearing is gauge covariant, with smeared links, too");
    check_gauss_gauge(3, "gauss:1.2,3");
    check_gauss_gauge(2, "gauss:1.2,4");
    check_gauss_gauge(4, "gauss:1.2,3");
    check_gauss_gauge(3, "ape:0.5,2,spatial/gauss:1,3/stout:0.1,1/gauss:0.5,1");
    check_gauss_columns(3, 12);
    check_gauss_columns(3, 5);
    check_gauss_columns(2, 8);
    check_gauss_columns(5, 3);
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 4 6 4"), 3, LAT_F64);
    check_case("point, box, ball and momentum sources");
    check_shapes(&u);
    check_case("noise has modulus 1, and the sum of what it is diluted in is the whole");
    check_noise(&u);
    check_case("a field has the columns that are made one by one");
    check_fields(&u);
    check_case("who writes to a field takes back which of its slices are zero");
    check_overwritten(&u);
    check_case("texts that are no sources are refused; where a source is");
    check_refusals(&u.head);
    lat_field_free(&u);
    return check_done();
}
