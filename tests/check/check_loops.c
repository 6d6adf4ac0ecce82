/* SPDX-License-Identifier: BSD-3-Clause */
/* check_loops.c: Wilson and Polyakov loops beside plain ones, multiplied link by link around their
 * paths; gauge transformations; open time; on every device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "lattice/boundary.h"
#include "lattice/transform.h"
#include "loops/loops.h"
#include "measure/measure.h"

#define EPS 0x1p-52

static lat_device *on; /* what measures */

/* Has it code for SU(nc)? */
static bool has_group(int nc)
{
    const lat_loops_how how = {
        .distance = 1, .time = 1, .classes = 1, .vector = {{1}}, .levels = 1};
    lat_field u = field_new(LAT_GAUGE, geometry_of("2 2"), nc, LAT_F64);
    const bool has = lat_loops_check_device(on, &u, &how) == 0;
    lat_field_free(&u);
    lat_error_clear();
    return has;
}

static lat_field rough_links(const char *dims, int nc, uint64_t seed)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64);
    fill_near_one(&u, ROUGH, seed);
    return u;
}

/* ---- plain loops ----------------------------------------------------------------------------- */

/* m <- m U_mu(x), or for a step backwards m U_mu(x - mu)^+; x moves. */
static void step(const lat_field *u, size_t *x, int mu, int sign, double *m)
{
    const int n = u->head.nc, nd = u->head.geom.nd;
    double l[LAT_SUN_REALS], d[LAT_SUN_REALS], p[LAT_SUN_REALS];
    const size_t to = lat_neighbour(&u->head.geom, *x, mu, sign);
    lat_field_get(u, (sign > 0 ? *x : to) * (size_t)nd + (size_t)mu, l);
    lat_sun_dag(n, d, l);
    lat_sun_mul(n, p, m, sign > 0 ? l : d);
    memcpy(m, p, 2 * (size_t)(n * n) * sizeof *m);
    *x = to;
}

/* sum += weight m times the mean of the shortest paths of v from x: the first step of a random
 * shortest path is along an axis with the probability of its share of the steps. */
static void shortest(const lat_field *u, size_t x, int *v, double weight, const double *m,
                     double *sum)
{
    const int n = u->head.nc;
    int steps = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        steps += abs(v[mu]);
    for (int i = 0; i < 2 * n * n && steps == 0; i++)
        sum[i] += weight * m[i];
    for (int mu = 0; mu < LAT_MAX_DIMS && steps; mu++) {
        const int sign = v[mu] < 0 ? -1 : 1;
        const double share = weight * abs(v[mu]) / steps;
        double longer[LAT_SUN_REALS];
        size_t y = x;
        if (v[mu] == 0)
            continue;
        memcpy(longer, m, sizeof longer);
        step(u, &y, mu, sign, longer);
        v[mu] -= sign;
        shortest(u, y, v, share, longer, sum);
        v[mu] += sign;
    }
}

/* Line of n steps d from x; x moves. */
static void line(const lat_field *u, size_t *x, const int *d, int n, double *m)
{
    lat_sun_one(u->head.nc, m);
    for (int i = 0; i < n; i++) {
        double sum[LAT_SUN_REALS] = {0};
        int v[LAT_MAX_DIMS];
        memcpy(v, d, sizeof v);
        shortest(u, *x, v, 1, m, sum);
        memcpy(m, sum, sizeof sum);
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            for (int s = 0; s < abs(d[mu]); s++)
                *x = lat_neighbour(&u->head.geom, *x, mu, d[mu] < 0 ? -1 : 1);
    }
}

/* Re tr of one loop from x: ends of a and b, times of `links`. */
static double plain_loop(const lat_field *a, const lat_field *b, const lat_field *links, size_t x,
                         const int *d, int n, int time)
{
    const int nc = a->head.nc, t = a->head.geom.nd - 1;
    double s[LAT_SUN_REALS], e[LAT_SUN_REALS], p[LAT_SUN_REALS], l[LAT_SUN_REALS], trace[2];
    size_t y = x, z = x;
    line(a, &y, d, n, s);
    for (int i = 0; i < time; i++)
        step(links, &y, t, 1, s);
    lat_sun_one(nc, l);
    for (int i = 0; i < time; i++)
        step(links, &z, t, 1, l);
    line(b, &z, d, n, e);
    lat_sun_mul(nc, p, l, e);
    lat_sun_mul_dag(nc, e, s, p);
    lat_sun_trace(nc, e, trace);
    return trace[0];
}

static int by_size(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

/* Is v of the class, and not the negative of one that comes first? */
static bool of_class(const int *v, const int *class)
{
    int size[LAT_MAX_DIMS], first = 0;
    while (first < LAT_MAX_DIMS - 1 && v[first] == 0)
        first++;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        size[mu] = abs(v[mu]);
    qsort(size, LAT_MAX_DIMS, sizeof *size, by_size);
    return v[first] > 0 && !memcmp(size, class, sizeof size);
}

/* The mean over sites, times of the window, and directions. */
static double plain(const lat_field *const ends[2], const lat_field *links,
                    const lat_loops_how *how, const lat_loops_separation *s, int time)
{
    const lat_geometry *geom = &links->head.geom;
    const int axes = geom->nd - 1;
    double sum = 0, count = 0;
    for (int code = 0; code < 5 * 5 * 5; code++) {
        const int v[LAT_MAX_DIMS] = {code % 5 - 2, code / 5 % 5 - 2, code / 25 - 2};
        if (!of_class(v, how->vector[s->kind]) || (axes < 3 && v[2]) || (axes < 2 && v[1]))
            continue;
        for (size_t x = 0; x < lat_volume(geom); x++) {
            int at[LAT_MAX_DIMS];
            lat_coordinates(geom, x, at);
            if (how->window && (at[axes] < how->first || at[axes] + time > how->last))
                continue;
            sum += plain_loop(ends[0], ends[1], links, x, v, s->n, time);
            sum += plain_loop(ends[1], ends[0], links, x, v, s->n, time);
            count += 2 * links->head.nc;
        }
    }
    return sum / count;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Each product of matrices, and each g g^+ = 1 of temporal gauge, is off by N epsilon at most. */
static double bound(const lat_field *u, const lat_loops_separation *s, int time)
{
    int steps = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        steps += s->vector[mu];
    return 4 * u->head.nc * EPS * (2 * steps + 2 * time + 4 * lat_slices(&u->head));
}

static double *measured(const lat_field *u, const lat_loops_how *how)
{
    const int count = lat_loops_separations(how, NULL) * how->time * lat_loops_pairs(how);
    double *w = lat_alloc((size_t)count, sizeof *w, "loops");
    lat_field v;
    need(w && lat_field_duplicate(u, &v) == 0 && lat_loops_check(&v, how, "links") == 0
             && lat_loops_wilson(on, &v, how, w) == 0,
         "loops");
    lat_field_free(&v);
    return w;
}

static void compare(const lat_field *u, const lat_loops_how *how)
{
    lat_field level[LAT_LOOPS_LEVELS], time_links = {.data = NULL};
    lat_loops_separation s[40];
    const int count = lat_loops_separations(how, s);
    double *w = measured(u, how);
    const double *next = w;
    for (int i = 0; i < how->levels; i++) {
        lat_smear smear = how->smear;
        smear.steps = how->steps[i];
        need((smear.steps ? lat_smear_links(u, &smear, &level[i])
                          : lat_field_duplicate(u, &level[i]))
                 == 0,
             "smearing");
    }
    if (how->time_links)
        need(lat_smear_links(u, how->time_links, &time_links) == 0, "smearing");
    for (int k = 0; k < count; k++)
        for (int time = 1; time <= how->time; time++)
            for (int i = 0; i < how->levels; i++)
                for (int j = i; j < how->levels; j++, next++) {
                    const lat_field *const ends[2] = {&level[i], &level[j]};
                    const double p = plain(ends, how->time_links ? &time_links : u, how, &s[k],
                                           time);
                    CHECK(fabs(*next - p) <= bound(u, &s[k], time),
                          "SU(%d), class %d, n %d, T %d, levels %d %d: %.17g, plain %.17g",
                          u->head.nc, s[k].kind, s[k].n, time, i, j, *next, p);
                }
    CHECK(next - w == count * how->time * lat_loops_pairs(how) && count > 0, "%d", count);
    for (int i = 0; i < how->levels; i++)
        lat_field_free(&level[i]);
    lat_field_free(&time_links);
    free(w);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void groups_and_lattices(void)
{
    static const struct {
        const char *dims;
        int nc, time;
    } of[] = {{"3 5", 2, 5},     {"4 3 9", 3, 9},   {"3 2 4 5", 3, 5},
              {"2 3 2 3", 4, 3}, {"2 3 2 3", 5, 3}, {"2 2 2 2", 16, 2}};
    device_case(on, "loops on axis of all times, around the lattice too: those of plain code");
    for (size_t i = 0; i < sizeof of / sizeof *of && has_group(of[i].nc); i++) {
        const lat_loops_how how = {
            .distance = 3, .time = of[i].time, .classes = 1, .vector = {{1}}, .levels = 1};
        lat_field u = rough_links(of[i].dims, of[i].nc, 7);
        compare(&u, &how);
        lat_field_free(&u);
    }
}

static void off_axis(void)
{
    lat_loops_how how = {.distance = 3,
                         .time = 2,
                         .classes = 4,
                         .vector = {{1}, {1, 1}, {1, 1, 1}, {2, 1}},
                         .levels = 1};
    device_case(on, "loops off axis are means over all shortest paths and all directions");
    lat_field u = rough_links("3 2 4 3", 3, 8), v = rough_links("3 4 2", 2, 8);
    compare(&u, &how);
    how.classes = 2;
    compare(&v, &how);
    lat_field_free(&u);
    lat_field_free(&v);
}

static void levels(void)
{
    static const char *const kinds[] = {"ape:0.5,1,spatial", "stout:0.1,1,spatial",
                                        "hyp:0.6,0.3,1,spatial"};
    device_case(on, "ends of all pairs of levels, smeared links in time");
    lat_field u = rough_links("2 3 2 4", 3, 9);
    for (int i = 0; i < 3; i++) {
        lat_smear time_links;
        lat_loops_how how = {.distance = 2,
                             .time = 2,
                             .classes = 2,
                             .vector = {{1}, {1, 1}},
                             .levels = 3,
                             .steps = {0, 1, 3}};
        need(lat_smear_parse(kinds[i], &how.smear) == 0
                 && lat_smear_parse("hyp:0.75,0.6,0.3,1", &time_links) == 0,
             "smearing");
        how.time_links = i ? NULL : &time_links;
        compare(&u, &how);
    }
    lat_field_free(&u);
}

static void windows(void)
{
    lat_loops_how how = {.distance = 2,
                         .time = 3,
                         .classes = 1,
                         .vector = {{1}},
                         .levels = 1,
                         .window = true,
                         .first = 1,
                         .last = 4};
    double zero[LAT_SUN_REALS] = {0};
    device_case(on, "a window of slices, and open time");
    lat_field u = rough_links("3 2 4 6", 3, 10);
    compare(&u, &how);
    for (size_t x = 5 * 24; x < 6 * 24; x++)
        lat_field_put(&u, 4 * x + 3, zero);
    need(lat_boundary_set(&u.head, 3, LAT_OPEN) == 0, "an open axis");
    compare(&u, &how);
    how.first = 0;
    how.last = how.time = 5;
    compare(&u, &how);
    lat_field_free(&u);
}

static void transformed(void)
{
    lat_loops_how how = {.distance = 3,
                         .time = 6,
                         .classes = 2,
                         .vector = {{1}, {1, 1}},
                         .levels = 2,
                         .steps = {0, 2}};
    lat_loops_separation s[40];
    device_case(on, "a gauge transformation changes no loop");
    need(lat_smear_parse("ape:0.4,1,spatial", &how.smear) == 0, "smearing");
    const int count = lat_loops_separations(&how, s);
    lat_field u = rough_links("4 4 4 6", 3, 11), v, g = haar_transform(&u, 12);
    need(lat_field_duplicate(&u, &v) == 0, "links");
    need(lat_transform_apply(&v, &g) == 0, "a transformation");
    double *a = measured(&u, &how), *b = measured(&v, &how);
    /* Each of 2 steps of smearing multiplies what it is given by less than 4: |V| / |U| of a polar
     * projection of (1 - A) U + A C / 4. */
    for (int i = 0; i < count * 18; i++) {
        const double most = 16 * bound(&u, &s[i / 18], i % 18 / 3 + 1);
        CHECK(fabs(a[i] - b[i]) <= most, "%d: %.17g, %.17g", i, a[i], b[i]);
    }
    CHECK(memcmp(a, b, (size_t)count * 18 * sizeof *a) != 0, "nothing was transformed");
    free(a);
    free(b);
    lat_field_free(&u);
    lat_field_free(&v);
    lat_field_free(&g);
}

static void polyakov(void)
{
    const lat_loops_how how = {
        .distance = 3, .time = 1, .classes = 2, .vector = {{1}, {1, 1}}, .levels = 1};
    lat_loops_separation s[40];
    double loop[2], mean[2], c[40], plain_c[40] = {0};
    device_case(on, "Polyakov loops and their correlators");
    const int count = lat_loops_separations(&how, s);
    lat_field u = rough_links("4 3 2 5", 3, 13);
    for (int k = 0; k < count; k++) {
        double directions = 0;
        for (int code = 0; code < 27; code++) {
            const int v[LAT_MAX_DIMS] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
            if (!of_class(v, how.vector[s[k].kind]))
                continue;
            directions++;
            for (size_t x = 0; x < 24; x++) {
                double p[LAT_SUN_REALS], q[LAT_SUN_REALS], tp[2], tq[2];
                size_t from = x, y = x;
                lat_sun_one(3, p);
                lat_sun_one(3, q);
                for (int mu = 0; mu < 3; mu++)
                    for (int i = 0; i < s[k].n * abs(v[mu]); i++)
                        y = lat_neighbour(&u.head.geom, y, mu, v[mu]);
                for (int t = 0; t < 5; t++) {
                    step(&u, &from, 3, 1, p);
                    step(&u, &y, 3, 1, q);
                }
                lat_sun_trace(3, p, tp);
                lat_sun_trace(3, q, tq);
                plain_c[k] += (tp[0] * tq[0] + tp[1] * tq[1]) / (9 * 24);
            }
        }
        plain_c[k] /= directions;
    }
    need(lat_measure_polyakov(&u, 3, mean) == 0 && lat_loops_polyakov(on, &u, &how, loop, c) == 0,
         "Polyakov loops");
    CHECK(fabs(loop[0] - mean[0]) <= 5 * 3 * EPS && fabs(loop[1] - mean[1]) <= 5 * 3 * EPS,
          "%.17g %.17g, lib/measure %.17g %.17g", loop[0], loop[1], mean[0], mean[1]);
    for (int k = 0; k < count; k++)
        CHECK(fabs(c[k] - plain_c[k]) <= 4 * 10 * 3 * EPS, "%d: %.17g, plain %.17g", k, c[k],
              plain_c[k]);
    lat_field_free(&u);
}

/* ---- a GPU beside the CPU -------------------------------------------------------------------- */

/* Numbers of all loops, on both; on the GPU twice. */
static void beside_cpu(lat_device *gpu, const char *dims, int nc, const lat_loops_how *how)
{
    lat_loops_separation s[40];
    const int count = lat_loops_separations(how, s), each = how->time * lat_loops_pairs(how);
    lat_field u = rough_links(dims, nc, 14);
    double *w[3];
    for (int i = 0; i < 3; i++) {
        on = i ? gpu : cpu_device();
        w[i] = measured(&u, how);
    }
    /* A step of smearing multiplies what it is given by less than 4 (transformed). */
    const double grown = pow(4, how->steps[how->levels - 1]);
    double far = 0;
    for (int i = 0; i < count * each; i++)
        far = lat_worse(
            far, fabs(w[0][i] - w[1][i])
                     / (2 * grown * bound(&u, &s[i / each], i % each / lat_loops_pairs(how) + 1)));
    CHECK(far <= 1, "%s, SU(%d): the CPU has other loops, by %g times the bound", dims, nc, far);
    CHECK(!memcmp(w[1], w[2], (size_t)(count * each) * sizeof **w), "%s, SU(%d): other bits", dims,
          nc);
    for (int i = 0; i < 3; i++)
        free(w[i]);
    lat_field_free(&u);
}

static void large_lattices(lat_device *gpu)
{
    lat_loops_how how = {.distance = 3,
                         .time = 6,
                         .classes = 3,
                         .vector = {{1}, {1, 1}, {2, 1, 1}},
                         .levels = 3,
                         .steps = {0, 1, 2}};
    device_case(gpu, "loops of larger lattices are those of the CPU, every time the same bits");
    need(lat_smear_parse("ape:0.5,1,spatial", &how.smear) == 0, "smearing");
    beside_cpu(gpu, "12 11 10 6", 3, &how); /* several tiles of rows a block */
    how = (lat_loops_how){
        .distance = 2, .time = 150, .classes = 1, .vector = {{1}}, .levels = 2, .steps = {1, 2}};
    need(lat_smear_parse("stout:0.1,1,spatial", &how.smear) == 0, "smearing");
    beside_cpu(gpu, "4 3 2 150", 2, &how); /* few rows a tile, several groups of times */
    how.levels = how.time = 1;
    how.steps[0] = 2;
    on = gpu;
    beside_cpu(gpu, "8 8 8 8", has_group(4) ? 4 : 3, &how);
}

static void too_long(lat_device *gpu)
{
    const lat_loops_how how = {
        .distance = 1, .time = 3000, .classes = 1, .vector = {{1}}, .levels = 1};
    double w[3000];
    device_case(gpu, "lines that fit into no block are refused");
    lat_field u = rough_links("2 3000", 2, 15);
    CHECK(lat_loops_wilson(gpu, &u, &how, w) != 0 && strstr(lat_error(), "fewer slices"), "'%s'",
          lat_error());
    lat_error_clear();
    lat_field_free(&u);
}

static void all_cases(lat_device *dev)
{
    on = dev;
    groups_and_lattices();
    off_axis();
    levels();
    windows();
    transformed();
    polyakov();
}

/* With an argument: the GPU alone. */
int main(int argc, LAT_UNUSED char **argv)
{
    lat_tool_name = "check_loops";
    if (argc == 1)
        all_cases(cpu_device());
    lat_device *const gpu = gpu_device();
    if (gpu) {
        all_cases(gpu);
        large_lattices(gpu);
        too_long(gpu);
    } else {
        check_skipped("GPU: loops", lat_error());
    }
    return check_done();
}
