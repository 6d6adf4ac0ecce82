/* SPDX-License-Identifier: BSD-3-Clause */
/* accuracy: what rounding does to gauge fixing, `make accuracy`.
 *
 * Repeats section 4.5 of the gauge-fixing paper: |1 - det U| and the Landau functional over 12000
 * overrelaxation sweeps. Runs "in-place-...": the links are rotated in place as there (in_place.h),
 * all 18 reals of them, in single, mixed (stored and rotated in single, hits computed in double)
 * and double, the first two also with links projected to SU(3) every 100 sweeps. Runs "ours-...":
 * links stay and g moves (docs/conventions.md), the same scheme and omega. All are measured on
 * their links in double precision.
 *
 * A table goes to stdout or -o. Then the last line of each method is judged, each against double of
 * its own: ours in single and mixed within 1e-6, relative, and after 1000 sweeps or more those
 * rotated in place in single not. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../tests/check/devices.h"
#include "fix/fix.h"
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "stream/stream.h"
#include "run/common/print.h"
#include "run/common/tool.h"
#include "lattice/transform.h"
#include "site/sun.h"

/* ---- links rotated in place ---- */

#define LANES 8

/* Sites have a slot each, even ones first. Links are stored real by real: u[mu][real][slot]. */
typedef struct board {
    size_t sites;
    int *slot[2],
        *down[4]; /* slot[0] of a site, slot[1] the site of a slot; slot of the neighbour behind */
} board;

#define IN_PLACE_STORE float
#define IN_PLACE_HIT float
#define IN_PLACE(x) single_##x
#include "in_place.h"

#define IN_PLACE_STORE float
#define IN_PLACE_HIT double
#define IN_PLACE(x) mixed_##x
#include "in_place.h"

#define IN_PLACE_STORE double
#define IN_PLACE_HIT double
#define IN_PLACE(x) double_##x
#include "in_place.h"

static void board_free(board *c)
{
    for (int i = 0; i < 2; i++)
        free(c->slot[i]);
    for (int mu = 0; mu < 4; mu++)
        free(c->down[mu]);
}

static int board_new(board *c, const lat_geometry *geom)
{
    *c = (board){.sites = lat_volume(geom)};
    for (int i = 0; i < 2; i++)
        if (!(c->slot[i] = lat_alloc(c->sites, sizeof(int), "the table of slots")))
            return -1;
    for (int mu = 0; mu < 4; mu++)
        if (!(c->down[mu] = lat_alloc(c->sites, sizeof(int), "the table of neighbours")))
            return -1;
    int next[2] = {0, (int)(c->sites / 2)}, at[LAT_MAX_DIMS];
    for (size_t x = 0; x < c->sites; x++) {
        lat_coordinates(geom, x, at);
        c->slot[0][x] = next[(at[0] + at[1] + at[2] + at[3]) & 1]++;
        c->slot[1][c->slot[0][x]] = (int)x;
    }
    for (int mu = 0; mu < 4; mu++)
        for (size_t x = 0; x < c->sites; x++)
            c->down[mu][c->slot[0][x]] = c->slot[0][lat_neighbour(geom, x, mu, -1)];
    return 0;
}

/* Between a field and links real by real. */
static void board_store(const board *c, void *links, lat_real real, const lat_field *u)
{
    for (size_t i = 0; i < 4 * c->sites; i++) {
        double m[18];
        lat_field_get(u, i, m);
        for (size_t e = 0; e < 18; e++) {
            const size_t to = ((i % 4) * 18 + e) * c->sites + (size_t)c->slot[0][i / 4];
            if (real == LAT_F32)
                ((float *)links)[to] = (float)m[e];
            else
                ((double *)links)[to] = m[e];
        }
    }
}

static void board_load(const board *c, const void *links, lat_real real, lat_field *u)
{
    for (size_t i = 0; i < 4 * c->sites; i++) {
        double m[18];
        for (size_t e = 0; e < 18; e++) {
            const size_t from = ((i % 4) * 18 + e) * c->sites + (size_t)c->slot[0][i / 4];
            m[e] = real == LAT_F32 ? (double)((const float *)links)[from]
                                   : ((const double *)links)[from];
        }
        lat_field_put(u, i, m);
    }
}

/* ---- the runs ---- */

static long sweeps = 12000, every = 100;
static double omega = 1.7;

static const lat_option options[] = {
    {LAT_OPT_INT, "sweeps", 0, "N", &sweeps, 1, 1e9, "sweeps of each run"},
    {LAT_OPT_INT, "every", 0, "N", &every, 1, 1e9, "sweeps between two lines, and two projections"},
    {LAT_OPT_REAL, "omega", 'w', "OMEGA", &omega, 1.0, 1.999, "overrelaxation"},
    {LAT_OPT_TEXT, "output", 'o', "FILE", &lat_print_opts.output, 0, 0,
     "the table (default: stdout)"},
    {0},
};

static const lat_tool tool = {
    .name = "accuracy",
    .args = "[FILE]",
    .summary =
        "Follow |1 - det U| and the functional over many sweeps, links rotated in place and ours.",
    .example =
        "lat-start weak --dims 8,8,8,8 --epsilon 0.35 | build/gcc/bench/accuracy -o accuracy.tsv",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
};

typedef struct in_place {
    lat_real real;
    void (*sweeps)(void *links, const board *c, double omega, long n);
    bool project;
} in_place;

typedef struct trial {
    const char *name;
    in_place theirs;   /* or, without sweeps, ours in ... */
    bool mixed;        /* ... first single, and double from where that ends; or in one precision */
    double functional; /* found in the end */
} trial;

enum { IN_SINGLE, IN_DOUBLE = 4, OUR_SINGLE, OUR_MIXED, OUR_DOUBLE, TRIALS };
static trial trials[TRIALS] = {
    {"in-place-single", {LAT_F32, single_sweeps, false}, false, 0},
    {"in-place-single-projected", {LAT_F32, single_sweeps, true}, false, 0},
    {"in-place-mixed", {LAT_F32, mixed_sweeps, false}, false, 0},
    {"in-place-mixed-projected", {LAT_F32, mixed_sweeps, true}, false, 0},
    {"in-place-double", {LAT_F64, double_sweeps, false}, false, 0},
    {"ours-single", {LAT_F32, NULL, false}, false, 0},
    {"ours-mixed", {LAT_F32, NULL, false}, true, 0},
    {"ours-double", {LAT_F64, NULL, false}, false, 0},
};

static int project(lat_field *u)
{
    int bad = 0;
    double m[LAT_SUN_REALS];
    for (size_t i = 0; i < lat_field_matrices(u); i++) {
        lat_field_get(u, i, m);
        bad |= lat_sun_gram_schmidt(u->head.nc, m);
        lat_field_put(u, i, m);
    }
    return bad ? lat_fail("a matrix has become singular") : 0;
}

/* A line of the table about the links u. */
static int print_row(FILE *text, trial *t, long done, const lat_field *u, lat_gauge_state *s)
{
    const lat_condition landau = lat_condition_of(LAT_LANDAU, &u->head.geom, -1);
    lat_deviation d;
    if (lat_measure_gauge(u, &landau, s, NULL, NULL) || lat_measure_deviation(u, &d))
        return -1;
    t->functional = s->functional;
    fprintf(text, "%s\t%ld\t%.6e\t%.6e\t%.15f\t%.6e\n", t->name, done, d.det_mean, d.det_max,
            s->functional, s->theta);
    return fflush(text) ? lat_fail("cannot write the table") : 0;
}

static int run_in_place(FILE *text, trial *t, const board *c, lat_field *u)
{
    const in_place *how = &t->theirs;
    lat_gauge_state s;
    void *links = lat_alloc(4 * c->sites, 18 * (size_t)how->real, "links");
    int rc = links ? 0 : -1;
    if (links)
        board_store(c, links, how->real, u);
    for (long done = 0; rc == 0; done += every) {
        board_load(c, links, how->real, u);
        if (how->project && (rc = project(u)) == 0) {
            board_store(c, links, how->real, u);
            board_load(c, links, how->real, u);
        }
        if (rc || (rc = print_row(text, t, done, u, &s)) || done >= sweeps)
            break;
        how->sweeps(links, c, omega, every);
    }
    free(links);
    return rc;
}

/* theta of links that g transforms is rounding in single precision from about here (lat-orelax). */
static double floor_of_single(void) { return 1200 * 0x1p-48 / (2 - omega); }

static int ours(FILE *text, trial *t, const lat_field *u, lat_field *v, lat_field *g)
{
    const lat_condition landau = lat_condition_of(LAT_LANDAU, &u->head.geom, -1);
    const lat_sweep how = {.update = LAT_UPDATE_RELAX_SU2, .omega = &omega};
    lat_real real = t->theirs.real;
    lat_gauge_state s;
    lat_fixer *dev = lat_fix_open(cpu_device(), u, &landau, real, 1);
    for (long done = 0; dev; done += every) {
        memcpy(v->data, u->data, lat_field_reals(u) * sizeof(double));
        if (lat_fix_get(dev, 0, g) || lat_transform_project(g) || lat_transform_apply(v, g)
            || print_row(text, t, done, v, &s))
            break;
        if (done >= sweeps) {
            lat_fix_close(dev);
            return 0;
        }
        if (t->mixed && real == LAT_F32 && s.theta < floor_of_single()) {
            lat_fix_close(dev);
            if (!(dev = lat_fix_open(cpu_device(), u, &landau, real = LAT_F64, 1))
                || lat_fix_set(dev, 0, g))
                break;
        }
        if (lat_fix_sweep(dev, &how, every))
            break;
    }
    lat_fix_close(dev);
    return -1;
}

static int run_ours(FILE *text, trial *t, const lat_field *u, lat_field *v)
{
    lat_field g;
    if (lat_transform_new(&g, &u->head, &lat_comm_self))
        return -1;
    const int rc = ours(text, t, u, v, &g);
    lat_field_free(&g);
    return rc;
}

/* ---- the judgement ---- */

#define GOOD 1e-6

static double drift(int run, int reference)
{
    return fabs(trials[run].functional / trials[reference].functional - 1);
}

static int judge(void)
{
    const double theirs = drift(IN_SINGLE, IN_DOUBLE), single = drift(OUR_SINGLE, OUR_DOUBLE),
                 mixed = drift(OUR_MIXED, OUR_DOUBLE);
    lat_warn("after %ld sweeps the functional is off double by, relative: in place in single %.1e; "
             "ours in single %.1e, mixed %.1e",
             sweeps, theirs, single, mixed);
    const bool good = single <= GOOD && mixed <= GOOD, drifts = theirs > GOOD || sweeps < 1000;
    if (!good)
        lat_warn("expected ours within %g of double", GOOD);
    if (!drifts)
        lat_warn(
            "expected links rotated in place in single to drift by more than %g, as in the paper",
            GOOD);
    return good && drifts ? LAT_DONE : LAT_UNCONVERGED;
}

static int all(FILE *text, const lat_field *u, const board *c)
{
    lat_field v = {.data = NULL};
    int rc = lat_header_copy(&v.head, &u->head) || lat_field_alloc(&v, &lat_comm_self);
    for (int i = 0; i < TRIALS && rc == 0; i++) {
        memcpy(v.data, u->data, lat_field_reals(u) * sizeof(double));
        rc = trials[i].theirs.sweeps ? run_in_place(text, trials + i, c, &v)
                                     : run_ours(text, trials + i, u, &v);
    }
    lat_field_free(&v);
    /* The table stays, whatever is to be said of it. */
    return rc ? LAT_FAILED : judge();
}

static int check(lat_field *u)
{
    const lat_geometry *geom = &u->head.geom;
    if (u->head.kind != LAT_GAUGE || u->head.nc != 3 || geom->nd != 4)
        return lat_fail("expected SU(3) links in four dimensions");
    for (int mu = 0; mu < 4; mu++)
        if (geom->dims[mu] % 2 || lat_volume(geom) > INT32_MAX)
            return lat_fail("expected even extents and fewer than 2^31 sites");
    return lat_field_convert(u, LAT_F64) || project(u) ? -1 : 0;
}

static int follow(lat_input *in, FILE *text)
{
    lat_field u = {.data = NULL};
    board c = {.sites = 0};
    fprintf(text, "run\tsweep\tdet_mean\tdet_max\tfunctional\ttheta\n");
    const int rc = lat_stream_read(in, &u) < 1 || check(&u) || board_new(&c, &u.head.geom)
                       ? LAT_FAILED
                       : all(text, &u, &c);
    board_free(&c);
    lat_field_free(&u);
    return rc;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    return lat_print_run(follow, NULL);
}
