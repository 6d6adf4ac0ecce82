/* SPDX-License-Identifier: BSD-3-Clause */
/* check_fix_devices: gauge fixing on the checking device and on the GPU against that on the CPU:
 * the same sweeps, in every gauge and precision, on any lattice; copies, slices that are frozen, g
 * in and out. Where there is no GPU its cases are skipped. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fix/fix.h"
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "measure/measure.h"

/* `check_fix_devices short`: small lattices and few sweeps, for compute-sanitizer, which makes all
 * of it a hundred times slower. */
static bool brief;
#define SWEEPS (brief ? 2 : FEW(50))
#define LATTICE (brief ? "4 4 4 6" : "8 8 8 8")

static lat_field rough(const char *dims, int nc, lat_real real)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of(dims), nc, real);
    fill_near_one(&u, ROUGH, 3);
    return u;
}

static lat_device *under; /* the device that is compared with the CPU */

/* The largest N that it has code for. */
static int groups(void) { return lat_fix_groups(under->gpu); }

static lat_fixer *start(lat_device *on, const lat_field *u, const lat_condition *c, lat_real real,
                        int copies)
{
    lat_fixer *dev = lat_fix_open(on, u, c, real, copies);
    for (int i = 0; dev && i < copies; i++) {
        lat_field g = haar_transform(u, 5 + (uint64_t)i);
        if (lat_fix_set(dev, i, &g)) {
            lat_fix_close(dev);
            dev = NULL;
        }
        lat_field_free(&g);
    }
    CHECK(dev != NULL, "%s: %s", on->name, lat_error());
    lat_error_clear();
    return dev;
}

#define NAME(NAME, ...) [LAT_UPDATE_##NAME] = #NAME,
static const char *const updates[] = {LAT_EACH_UPDATE(NAME, )};
#undef NAME

/* Both devices from the same random gauge. */
static void compare(const char *dims, int nc, const lat_condition *condition, lat_gauge gauge,
                    lat_real stored, lat_real real, const lat_sweep *how, int sweeps)
{
    lat_field u = rough(dims, nc, stored);
    const lat_condition c = condition ? *condition : lat_condition_of(gauge, &u.head.geom, -1);
    lat_device *const devices[2] = {cpu_device(), under};
    lat_gauge_state s[2];
    for (int i = 0; i < 2; i++) {
        lat_fixer *dev = start(devices[i], &u, &c, real, 1);
        const bool good = dev && !lat_fix_sweep(dev, how, sweeps)
                          && !lat_fix_state(dev, s + i, NULL);
        CHECK(good, "%s: %s", devices[i]->name, lat_error());
        if (dev)
            lat_fix_close(dev);
        if (!good) {
            lat_error_clear();
            lat_field_free(&u);
            return;
        }
    }
    /* Issue: 1e-12 in double, 1e-5 in single. */
    const double bound = real == LAT_F64 ? 1e-12 : 1e-5;
    CHECK(fabs(s[0].functional - s[1].functional) <= bound,
          "%s SU(%d) %s %s, stochastic %g, %d bytes of %d: F %.15f on the CPU, %.15f on "
          "the GPU, apart by %.1e",
          dims, nc, lat_gauge_name(gauge), updates[how->update], how->stochastic, (int)real,
          (int)stored, s[0].functional, s[1].functional, s[0].functional - s[1].functional);
    lat_field_free(&u);
}

static const double omega[] = {1.7, 1.0, 1.5, 1.3, 1.9, 1.6, 1.2, 1.8, 1.4, 1.1};

/* At these temperatures draws from the same random numbers draw trajectories together; at higher
 * ones, where many sites have no preferred direction, rounding grows: tenfold every other sweep at
 * T = 1 in maximally Abelian gauge. */
static const lat_sweep all[] = {
    {.update = LAT_UPDATE_RELAX_SUN, .omega = omega, .temperature = 1},
    {.update = LAT_UPDATE_RELAX_SU2, .omega = omega, .temperature = 1},
    {.update = LAT_UPDATE_STOCHASTIC_SUN,
     .omega = omega,
     .stochastic = 0.2,
     .temperature = 1,
     .seed = 3},
    {.update = LAT_UPDATE_STOCHASTIC_SU2,
     .omega = omega,
     .stochastic = 0.4,
     .temperature = 1,
     .seed = 3},
    {.update = LAT_UPDATE_HEATBATH,
     .temperature = 0.5,
     .seed = UINT64_C(0x123456789),
     .config = 2,
     .step = 17},
    {.update = LAT_UPDATE_MICROCANONICAL, .temperature = 1},
    {.update = LAT_UPDATE_METROPOLIS, .temperature = 0.5, .seed = 9},
};
#define ALL (int)(sizeof all / sizeof *all)

static void check_trajectories(lat_real real)
{
    for (int nc = 2; nc <= 3; nc++)
        for (int gauge = LAT_LANDAU; gauge <= LAT_MAG; gauge++)
            for (int k = 0; k < ALL; k++)
                /* Among the 600 000 proposals of 50 sweeps one is so near to the edge that single
                 * precision decides. */
                compare(LATTICE, nc, NULL, (lat_gauge)gauge, LAT_F64, real, all + k,
                        real == LAT_F32 && all[k].update == LAT_UPDATE_METROPOLIS ? 1 : SWEEPS);
}

static void check_lattices(void)
{
    static const char *const lattices[] = {"4 4 4 4",  "2 2 2 2",   "2 4 6 10",  "6 6 6 6",
                                           "16 2 4 8", "4 12 2 20", "10 14 6 2", "8 8",
                                           "6 10 4",   "32",        "2"};
    for (int i = 0; i < (int)(sizeof lattices / sizeof *lattices); i++)
        for (int gauge = LAT_LANDAU; gauge <= LAT_MAG; gauge++) {
            if (gauge == LAT_COULOMB && !strchr(lattices[i], ' '))
                continue;
            compare(lattices[i], 3, NULL, (lat_gauge)gauge, LAT_F64, LAT_F64, all, 10);
            compare(lattices[i], 3, NULL, (lat_gauge)gauge, LAT_F64, LAT_F64, all + 4, 10);
        }
    /* Slices of 35 MB, which are visited in strips; more sites than half_small() is for. */
    compare("48 48 32 2", 3, NULL, LAT_LANDAU, LAT_F64, LAT_F64, all, brief ? 1 : 5);
    compare("48 48 32 2", 3, NULL, LAT_MAG, LAT_F64, LAT_F64, all, 2);
}

static void check_conditions(void)
{
    lat_geometry geom;
    if (lat_dims_parse("4 6 8 10", &geom))
        exit(lat_report(LAT_FAILED));
    for (int time = 0; time < 4; time++) {
        const lat_condition c = lat_condition_of(LAT_COULOMB, &geom, time);
        compare("4 6 8 10", 3, &c, LAT_COULOMB, LAT_F64, LAT_F64, all, 10);
        compare("4 6 8 10", 2, &c, LAT_COULOMB, LAT_F64, LAT_F64, all + 4, 10);
    }
    lat_condition w = lat_condition_of(LAT_LANDAU, &geom, -1);
    w.weight[0] = 0.5;
    w.weight[1] = 0;
    w.weight[3] = 2;
    for (int nc = 2; nc <= 4 && nc <= groups(); nc++)
        compare("4 6 8 10", nc, &w, LAT_LANDAU, LAT_F64, LAT_F64, all, 20);
}

/* Links stored in single are not in SU(N) to the precision of double: all their rows count. */
static void check_rounded_links(void)
{
    for (int nc = 2; nc <= 3; nc++)
        for (int gauge = LAT_LANDAU; gauge <= LAT_MAG; gauge++)
            for (int k = 0; k < ALL; k++) {
                compare("4 4 6 8", nc, NULL, (lat_gauge)gauge, LAT_F32, LAT_F64, all + k, 20);
                compare("4 4 6 8", nc, NULL, (lat_gauge)gauge, LAT_F32, LAT_F32, all + k, 20);
            }
}

static void check_groups(void)
{
    for (int nc = 4; nc <= groups(); nc++)
        for (int k = 0; k < ALL; k++) {
            lat_sweep how = all[k];
            how.temperature = 0.15;
            compare("4 4 4 6", nc, NULL, LAT_LANDAU, LAT_F64, LAT_F64, &how, 10);
            compare("4 4 4 6", nc, NULL, LAT_COULOMB, LAT_F64, LAT_F32, &how, 10);
        }
}

static bool same(const lat_field *a, const lat_field *b)
{
    return !memcmp(a->data, b->data, lat_field_reals(a) * sizeof(double));
}

/* What was got and set goes on as if nothing had been; and so do other runs. */
static void check_exact(lat_real real)
{
    for (int nc = 2; nc <= 4 && nc <= groups(); nc++) {
        lat_field u = rough("4 6 4 8", nc, LAT_F64), half, full, again;
        const lat_condition c = lat_condition_of(LAT_LANDAU, &u.head.geom, -1);
        lat_fixer *one = start(under, &u, &c, real, 1), *two = start(under, &u, &c, real, 1);
        if (!one || !two || lat_transform_new(&half, &u.head, &lat_comm_self)
            || lat_transform_new(&full, &u.head, &lat_comm_self)
            || lat_transform_new(&again, &u.head, &lat_comm_self))
            return;
        CHECK(!lat_fix_sweep(one, all, 7) && !lat_fix_get(one, 0, &half)
                  && !lat_fix_sweep(one, all, 9) && !lat_fix_get(one, 0, &full),
              "%s", lat_error());
        CHECK(!lat_fix_set(two, 0, &half) && !lat_fix_get(two, 0, &again) && same(&half, &again),
              "SU(%d): set and got is another g: %s", nc, lat_error());
        CHECK(!lat_fix_sweep(two, all, 9) && !lat_fix_get(two, 0, &again) && same(&full, &again),
              "SU(%d): it went on differently: %s", nc, lat_error());
        lat_fix_close(one);
        lat_fix_close(two);
        lat_field_free(&u);
        lat_field_free(&half);
        lat_field_free(&full);
        lat_field_free(&again);
    }
}

/* Sweeps of one call are those of as many calls. */
static void check_calls(const char *dims, const lat_sweep *how)
{
    lat_field u = rough(dims, 3, LAT_F64), many, single;
    const lat_condition c = lat_condition_of(LAT_LANDAU, &u.head.geom, -1);
    lat_fixer *one = start(under, &u, &c, LAT_F64, 1), *two = start(under, &u, &c, LAT_F64, 1);
    if (!one || !two || lat_transform_new(&many, &u.head, &lat_comm_self)
        || lat_transform_new(&single, &u.head, &lat_comm_self))
        return;
    CHECK(!lat_fix_sweep(one, how, 23) && !lat_fix_get(one, 0, &many), "%s", lat_error());
    for (int k = 0; k < 23; k++)
        CHECK(!lat_fix_sweep(two, how, 1), "%s", lat_error());
    CHECK(!lat_fix_get(two, 0, &single) && same(&many, &single),
          "%s %s: 23 sweeps differ from one after the other: %s", dims, updates[how->update],
          lat_error());
    lat_fix_close(one);
    lat_fix_close(two);
    lat_field_free(&u);
    lat_field_free(&many);
    lat_field_free(&single);
}

/* A GPU that has been given back cannot be opened again. The last check: it holds from now on. */
static void check_closed(void)
{
    const lat_device_options gpu = {.choice = LAT_DEVICE_GPU};
    lat_device_close(under);
    CHECK(!lat_device_open(&gpu, &lat_comm_self), "opened");
    CHECK(strstr(lat_error(), "given back"), "%s", lat_error());
    lat_device_end();
}

/* Copy i of many is, bit for bit, what it is alone. */
static void check_copies(const char *dims, int nc, int copies, lat_gauge gauge, lat_real real)
{
    if (nc > groups())
        return;
    lat_field u = rough(dims, nc, LAT_F64), a, b;
    const lat_condition c = lat_condition_of(gauge, &u.head.geom, -1);
    lat_fixer *many = start(under, &u, &c, real, copies);
    lat_gauge_state s[16], t;
    if (!many || lat_transform_new(&a, &u.head, &lat_comm_self)
        || lat_transform_new(&b, &u.head, &lat_comm_self))
        return;
    for (int k = 0; k < 2; k++)
        CHECK(!lat_fix_sweep(many, all + 4 * k, 5), "%s", lat_error());
    CHECK(!lat_fix_state(many, s, NULL), "%s", lat_error());
    for (int i = 0; i < copies; i++) {
        lat_field g = haar_transform(&u, 5 + (uint64_t)i);
        lat_fixer *one = lat_fix_open(under, &u, &c, real, 1);
        lat_sweep how[2] = {all[0], all[4]};
        how[0].omega = omega + i;
        how[1].seed += (uint64_t)i;
        CHECK(one && !lat_fix_set(one, 0, &g) && !lat_fix_sweep(one, how, 5)
                  && !lat_fix_sweep(one, how + 1, 5) && !lat_fix_get(one, 0, &a)
                  && !lat_fix_get(many, i, &b) && !lat_fix_state(one, &t, NULL),
              "%s", lat_error());
        CHECK(same(&a, &b) && !memcmp(&t, s + i, sizeof t),
              "SU(%d): copy %d of %d differs from it alone", nc, i, copies);
        if (one)
            lat_fix_close(one);
        lat_field_free(&g);
    }
    lat_fix_close(many);
    lat_field_free(&u);
    lat_field_free(&a);
    lat_field_free(&b);
}

/* As the CPU freezes: the same slices of the same copies stay. */
static void check_frozen(void)
{
    enum { COPIES = 3, SLICES = 6 };
    lat_field u = rough("4 4 4 6", 3, LAT_F64), g[2];
    const lat_condition c = lat_condition_of(LAT_COULOMB, &u.head.geom, -1);
    lat_device *const devices[2] = {cpu_device(), under};
    lat_gauge_state s[2][COPIES];
    double slices[2][COPIES * SLICES], bound[COPIES];
    long left[2];
    for (int i = 0; i < 2; i++) {
        lat_fixer *dev = start(devices[i], &u, &c, LAT_F64, COPIES);
        if (!dev || lat_transform_new(&g[i], &u.head, &lat_comm_self))
            return;
        CHECK(!lat_fix_sweep(dev, all, 8) && !lat_fix_state(dev, s[i], slices[i]), "%s",
              lat_error());
        for (int k = 0; k < COPIES && i == 0; k++)
            bound[k] = k == 1 ? INFINITY : s[0][k].theta; /* some above, some below; copy 1 ends */
        left[i] = lat_fix_freeze(dev, bound);
        CHECK(!lat_fix_sweep(dev, all, 5) && !lat_fix_state(dev, s[i], slices[i]), "%s",
              lat_error());
        const double none[COPIES] = {0, 0, 0};
        CHECK(lat_fix_freeze(dev, none) == COPIES * SLICES, "thawed");
        CHECK(!lat_fix_sweep(dev, all + 1, 2) && !lat_fix_get(dev, 2, &g[i]), "%s", lat_error());
        lat_fix_close(dev);
    }
    CHECK(left[0] == left[1] && left[0] > 0 && left[0] < 2 * SLICES, "%ld and %ld slices left",
          left[0], left[1]);
    for (int k = 0; k < COPIES * SLICES; k++)
        CHECK(fabs(slices[0][k] - slices[1][k]) <= 1e-11 * (1 + slices[0][k]),
              "slice %d: theta %g and %g", k, slices[0][k], slices[1][k]);
    double worst = 0;
    for (size_t i = 0; i < lat_field_reals(&g[0]); i++)
        worst = fmax(worst, fabs(((double *)g[0].data)[i] - ((double *)g[1].data)[i]));
    /* 15 sweeps of a rough field, each a few 100 eps and amplified: as in check_sweep. */
    CHECK(worst <= 1e6 * 0x1p-53, "g apart by %g", worst);
    lat_field_free(&u);
    lat_field_free(&g[0]);
    lat_field_free(&g[1]);
}

/* Functional and theta are those of the links as g makes them. */
static void check_sums(void)
{
    for (int nc = 2; nc <= 5 && nc <= groups(); nc++)
        for (int gauge = LAT_LANDAU; gauge <= (nc <= LAT_ABELIAN_MOST ? LAT_MAG : LAT_COULOMB);
             gauge++) {
            lat_field u = rough("4 6 8 10", nc, LAT_F64), g;
            const lat_condition c = lat_condition_of((lat_gauge)gauge, &u.head.geom, -1);
            lat_fixer *dev = start(under, &u, &c, LAT_F64, 1);
            lat_gauge_state s, t;
            double a[10] = {0}, b[10] = {0};
            if (!dev || lat_transform_new(&g, &u.head, &lat_comm_self))
                return;
            CHECK(!lat_fix_sweep(dev, all, 5) && !lat_fix_state(dev, &s, a)
                      && !lat_fix_get(dev, 0, &g) && !lat_transform_apply(&u, &g)
                      && !lat_measure_gauge(&u, &c, &t, b, NULL),
                  "%s", lat_error());
            CHECK(fabs(s.functional - t.functional) <= 64 * 0x1p-53, "functional %.17g, %.17g",
                  s.functional, t.functional);
            CHECK(fabs(s.theta - t.theta) <= 1024 * 0x1p-53 * (1 + t.theta), "theta %.17g, %.17g",
                  s.theta, t.theta);
            CHECK(fabs(s.theta_max - t.theta_max) <= 4096 * 0x1p-53 * (1 + t.theta_max),
                  "theta_max %.17g, %.17g", s.theta_max, t.theta_max);
            for (int k = 0; k < 10; k++)
                CHECK(fabs(a[k] - b[k]) <= 1024 * 0x1p-53 * (1 + b[k]), "slice %d: theta %g, %g", k,
                      a[k], b[k]);
            lat_fix_close(dev);
            lat_field_free(&u);
            lat_field_free(&g);
        }
}

/* A group that the program was built without (make GPU_GROUPS=4, make quickstart). */
static void check_missing_group(void)
{
    const int nc = groups() + 1;
    CHECK(lat_device_check_group(false, 4, 4) == 0 && lat_device_check_group(true, 4, 4) == 0,
          "SU(4): %s", lat_error());
    CHECK(lat_device_check_group(false, 5, 4) == -1
              && strstr(lat_error(), "SU(5): this program was built for SU(2) to SU(4)"),
          "found: %s", lat_error());
    lat_error_clear();
    if (nc > LAT_FIX_MOST || !under->gpu)
        return;
    lat_field u = rough("4 4 4 4", nc, LAT_F64);
    const lat_condition c = lat_condition_of(LAT_LANDAU, &u.head.geom, -1);
    lat_fixer *dev = lat_fix_open(under, &u, &c, LAT_F64, 1);
    CHECK(!dev && strstr(lat_error(), "GPU_GROUPS"), "SU(%d): found: %s", nc, lat_error());
    if (dev)
        lat_fix_close(dev);
    lat_error_clear();
    lat_field_free(&u);
}

static void check_refusals(void)
{
    check_missing_group();
    static const struct {
        const char *dims;
        int nc, copies;
        lat_gauge gauge;
        const char *words;
    } bad[] = {
        {"4 5 4 4", 3, 1, LAT_LANDAU, "even extents"},
        {"4 4 4 4", 4, 1, LAT_MAG, "maximally Abelian"},
        {"4 4 4 4", 9, 1, LAT_LANDAU, "SU(2) to SU(8)"},
        {"8 8 8 8", 3, 8000000, LAT_LANDAU, "such GPUs would do"},
    };
    for (int i = 0; i < (int)(sizeof bad / sizeof *bad) - !under->gpu; i++) {
        lat_field u = rough(bad[i].dims, bad[i].nc, LAT_F64);
        const lat_condition c = lat_condition_of(bad[i].gauge, &u.head.geom, -1);
        lat_fixer *dev = lat_fix_open(under, &u, &c, LAT_F64, bad[i].copies);
        CHECK(!dev && strstr(lat_error(), bad[i].words), "expected ..%s.., found: %s", bad[i].words,
              lat_error());
        if (dev)
            lat_fix_close(dev);
        lat_error_clear();
        lat_field_free(&u);
    }
}

static void check_device(void)
{
    device_case(under, "in double it follows the CPU: every gauge and algorithm, SU(2) and SU(3)");
    check_trajectories(LAT_F64);
    device_case(under, "in single it follows the CPU: every gauge and algorithm, SU(2) and SU(3)");
    check_trajectories(LAT_F32);
    device_case(under, "on any lattice");
    check_lattices();
    device_case(under, "slices across any direction, weighted directions");
    check_conditions();
    device_case(under, "links that are in SU(N) to single precision only");
    check_rounded_links();
    device_case(under, "SU(4) and larger, as far as there is code");
    check_groups();
    device_case(under,
                "g that was got and is set goes on bit for bit, and runs repeat bit for bit");
    check_exact(LAT_F64);
    check_exact(LAT_F32);
    device_case(under, "a copy among others is what it is alone, bit for bit");
    for (int copies = 2; copies <= 10; copies += copies < 4 ? 1 : 3) {
        check_copies("4 6 4 8", 3, copies, LAT_LANDAU, LAT_F32);
        check_copies("4 6 4 8", 3, copies, LAT_COULOMB, LAT_F64);
        check_copies("4 6 4 8", 3, copies, LAT_MAG, LAT_F32);
        check_copies("4 2 4 6", 4, copies, LAT_LANDAU, LAT_F64);
        check_copies("4 2 4 6", 5, copies, LAT_COULOMB, LAT_F32);
    }
    if (!brief) /* 128 blocks that sum up */
        check_copies("16 16 16 8", 3, 5, LAT_LANDAU, LAT_F64);
    device_case(under, "sweeps of one call are those of as many calls");
    for (int k = 0; k < 2; k++)
        check_calls(LATTICE, all + k);
    check_calls(LATTICE, all + 5);
    device_case(under, "slices and copies are frozen and thawed");
    check_frozen();
    device_case(under, "functional and theta are those of the links that g makes");
    check_sums();
    device_case(under, "what cannot be done is refused in a sentence");
    check_refusals();
}

int main(int argc, char **argv)
{
    brief = argc > 1 && !strcmp(argv[1], "short");
    under = checking_device();
    if (argc < 2 || strcmp(argv[1], "gpu"))
        check_device();
    if (!(under = gpu_device())) {
        check_skipped("GPU: gauge fixing", lat_error());
        return check_done();
    }
    check_device();
    check_case("GPU: what was given back is not opened again");
    check_closed();
    return check_done();
}
