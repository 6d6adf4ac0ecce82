/* SPDX-License-Identifier: BSD-3-Clause */
/* check_grid: the shared lattice layer on the CPU, the checking device and the GPU: host fields in
 * and out; and where the test can look into a field, on the first two: ghosts, the orders of sweeps
 * and of operators, sums. A missing exchange must be found on the checking device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "grid/cpu_halo.h"
#include "grid/cpu_reduce.h"
#include "grid/grid.h"
#include "grid/reduce.h"

static lat_device *dev;

static const char *const lattices[] = {"4 4 4 4", "8 6 4 10", "2 2 6 4", "16 4 2 2", "6 8 4"};
enum { LATTICES = sizeof lattices / sizeof *lattices };

static lat_grid *grid_of(const char *dims, lat_storage storage, int across)
{
    const lat_grid_spec spec = {geometry_of(dims), storage, across, false, false};
    lat_grid *g = lat_grid_new(dev, &spec);
    need(g != NULL, dims);
    return g;
}

/* ---- host fields ----------------------------------------------------------------------------- */

/* Members of a field keep what was put into them, bit for bit, whatever is put beside it. */
static void round_trip(lat_kind kind, const char *dims, int nc, lat_real real, int across)
{
    enum { MEMBERS = 3 };
    lat_grid *grid = grid_of(dims, lat_storage_of(real), across);
    const int nd = grid->spec.lattice.nd, objects = kind == LAT_GAUGE ? nd : 1;
    const lat_shape shape = {objects, 2 * nc * nc, nc, true, false, 0, false};
    lat_dfield *f = lat_dfield_new(grid, shape, MEMBERS, "a field");
    lat_field in[MEMBERS], out = field_new(kind, grid->spec.lattice, nc, real);
    if (!CHECK(f != NULL, "%s", lat_error()))
        return;
    for (int i = 0; i < MEMBERS; i++) {
        in[i] = field_new(kind, grid->spec.lattice, nc, real);
        fill_haar(&in[i], 7 + (uint64_t)i);
        CHECK(!lat_dfield_put(f, i, &in[i], NULL), "%s", lat_error());
    }
    for (int i = 0; i < MEMBERS; i++) {
        CHECK(!lat_dfield_get(f, i, &out), "%s", lat_error());
        CHECK(!memcmp(out.data, in[i].data, lat_field_reals(&out) * real),
              "%s across %d, SU(%d), %d bytes, member %d", dims, across, nc, (int)real, i);
        lat_field_free(&in[i]);
    }
    lat_field_free(&out);
    lat_dfield_free(f);
    lat_grid_free(grid);
}

static void check_round_trips(void)
{
    for (int i = 0; i < LATTICES; i++)
        for (int nc = 2; nc <= 4; nc++)
            for (int real = 4; real <= 8; real += 4) {
                round_trip(LAT_GAUGE, lattices[i], nc, (lat_real)real, -1);
                for (int across = -1; across < geometry_of(lattices[i]).nd; across++)
                    round_trip(LAT_TRANSFORM, lattices[i], nc, (lat_real)real, across);
            }
}

/* Rows that are not stored come back to rounding; weights multiply what is stored. */
static void check_rows(void)
{
    const double weight[] = {1, 0.5, 2, 0.25};
    for (int nc = 2; nc <= 3; nc++)
        for (int real = 4; real <= 8; real += 4) {
            lat_grid *grid = grid_of("4 6 2 4", lat_storage_of((lat_real)real), -1);
            const lat_shape few = {4, 2 * nc * (nc - 1), nc, true, false, 0, false},
                            all = {4, 2 * nc * nc, nc, false, false, 0, false};
            lat_dfield *f = lat_dfield_new(grid, few, 1, "links");
            lat_dfield *w = lat_dfield_new(grid, all, 1, "links");
            lat_field u = field_new(LAT_GAUGE, grid->spec.lattice, nc, (lat_real)real), v, x;
            v = field_new(LAT_GAUGE, grid->spec.lattice, nc, (lat_real)real);
            x = field_new(LAT_GAUGE, grid->spec.lattice, nc, (lat_real)real);
            fill_haar(&u, 5);
            CHECK(f && w && !lat_dfield_put(f, 0, &u, NULL) && !lat_dfield_get(f, 0, &v)
                      && !lat_dfield_put(w, 0, &u, weight) && !lat_dfield_get(w, 0, &x),
                  "%s", lat_error());
            double off = 0, wrong = 0;
            for (size_t i = 0; i < lat_field_matrices(&u); i++) {
                double a[LAT_SUN_REALS], b[LAT_SUN_REALS], c[LAT_SUN_REALS];
                lat_field_get(&u, i, a);
                lat_field_get(&v, i, b);
                lat_field_get(&x, i, c);
                for (int e = 0; e < 2 * nc * nc; e++) {
                    off = fmax(off, fabs(a[e] - b[e]));
                    wrong += c[e] != weight[i % 4] * a[e];
                }
            }
            /* Products of two numbers below 1 each, twice. */
            CHECK(off <= 8 * (real == 4 ? 0x1p-24 : 0x1p-53), "SU(%d): off by %g", nc, off);
            CHECK(wrong == 0, "SU(%d): %g weighted reals are wrong", nc, wrong);
            lat_field_free(&u);
            lat_field_free(&v);
            lat_field_free(&x);
            lat_dfield_free(f);
            lat_dfield_free(w);
            lat_grid_free(grid);
        }
}

/* ---- ghosts ---------------------------------------------------------------------------------- */

/* A field of spinors' shape; object k of member m at site x is the number of all three. */
enum { OBJECTS = 2, REALS = 3, MEMBERS = 2 };
static double value(int64_t site, int member, int e)
{
    return (double)(site * 64 + member * 16 + e + 1);
}

static lat_dfield *numbers(lat_grid *grid)
{
    const lat_shape shape = {OBJECTS, REALS, 0, true, false, 0, false};
    lat_dfield *f = lat_dfield_new(grid, shape, MEMBERS, "numbers");
    need(f != NULL, "numbers");
    const lat_cpu_grid *g = lat_cpu(grid);
    const int lanes = g->lay->lanes, n = OBJECTS * REALS;
    for (int unit = 0; unit < MEMBERS * grid->slots; unit++)
        for (int64_t i = 0; i < (int64_t)g->lay->nblocks * lanes; i++)
            for (int e = 0; e < n; e++)
                ((double *)lat_cpu_unit(f, unit))[(i / lanes * n + e) * lanes + i % lanes] = value(
                    lat_cpu_sites(g, unit % grid->slots)[i], unit / grid->slots, e);
    return f;
}

/* The sum over neighbours of all that is at them. */
typedef struct stencil {
    const lat_dfield *f;
    double *sum; /* [units][blocks][lanes] */
} stencil;

static void add_neighbours(void *context, int unit, int begin, int end)
{
    const stencil *s = context;
    const lat_cpu_grid *g = lat_cpu(s->f->grid);
    const int lanes = g->lay->lanes, n = OBJECTS * REALS;
    const double *v = lat_cpu_unit(s->f, unit);
    double *sum = s->sum + (int64_t)unit * g->blocks * lanes;
    for (int64_t i = (int64_t)begin * lanes; i < (int64_t)end * lanes; i++) {
        sum[i] = 0;
        for (int k = 0; k < 2 * g->lay->geom.nd; k++) {
            const int64_t there = lat_position_next(g->lay, i, k);
            for (int e = 0; e < n; e++)
                sum[i] += v[(there / lanes * n + e) * lanes + there % lanes];
        }
    }
}

/* What it must be, by the lattice's own neighbours. */
static double expected(const lat_grid *grid, int64_t site, int member)
{
    double sum = 0;
    for (int mu = 0; mu < grid->spec.lattice.nd; mu++)
        for (int step = -1; step <= 1 && mu != grid->spec.across; step += 2)
            for (int e = 0; e < OBJECTS * REALS; e++)
                sum += value((int64_t)lat_neighbour(&grid->spec.lattice, (size_t)site, mu, step),
                             member, e);
    return sum;
}

/* Own sites of these parities whose sum is wrong. */
static size_t wrong_sums(const stencil *s, int parities)
{
    const lat_grid *grid = s->f->grid;
    const lat_cpu_grid *g = lat_cpu(grid);
    const int lanes = g->lay->lanes;
    size_t wrong = 0;
    for (int unit = 0; unit < MEMBERS * grid->slots; unit++)
        for (int64_t i = 0; i < (int64_t)g->lay->nblocks * lanes; i++) {
            const int64_t site = lat_cpu_sites(g, unit % grid->slots)[i];
            const int parity = i / lanes >= g->lay->neven;
            if (site >= 0 && (parities >> parity & 1))
                wrong += s->sum[(int64_t)unit * g->blocks * lanes + i]
                         != expected(grid, site, unit / grid->slots);
        }
    return wrong;
}

static stencil new_stencil(const lat_dfield *f)
{
    const lat_cpu_grid *g = lat_cpu(f->grid);
    const size_t n = (size_t)(MEMBERS * f->grid->slots * g->blocks * g->lay->lanes);
    stencil s = {f, calloc(n, sizeof(double))};
    need(s.sum != NULL, "sums");
    return s;
}

/* Exchanged ghosts serve a stencil; so does an operator, which exchanges them itself. Without an
 * exchange the checking device finds out. */
static void check_ghosts(const char *dims, int across)
{
    lat_grid *grid = grid_of(dims, LAT_STORAGE_DOUBLE, across);
    const lat_cpu_grid *g = lat_cpu(grid);
    lat_dfield *f = numbers(grid);
    stencil s = new_stencil(f);
    int *unit = malloc((size_t)(MEMBERS * grid->slots) * sizeof *unit);
    need(unit != NULL, "units");
    for (int i = 0; i < MEMBERS * grid->slots; i++)
        unit[i] = i;

    for (int m = 0; m < MEMBERS; m++)
        CHECK(!lat_halo_exchange(f, m), "%s", lat_error());
    for (int i = 0; i < MEMBERS * grid->slots; i++)
        add_neighbours(&s, unit[i], 0, g->lay->nblocks);
    CHECK(wrong_sums(&s, 3) == 0, "%s across %d: exchanged: %zu wrong", dims, across,
          wrong_sums(&s, 3));

    for (int parity = 0; parity < 2; parity++) {
        const lat_halo_part part = {1 - parity, unit, MEMBERS * grid->slots, 0, OBJECTS};
        lat_cpu_team team = {.rc = 0};
#pragma omp parallel
        lat_cpu_operator(&team, f, &part, add_neighbours, &s);
        CHECK(team.rc == 0 && wrong_sums(&s, 1 << parity) == 0,
              "%s across %d: operator on parity %d: %zu wrong", dims, across, parity,
              wrong_sums(&s, 1 << parity));
        add_neighbours(&s, 0, 0, g->lay->nblocks);
        if (f->halo)
            CHECK(wrong_sums(&s, 1 << parity) > 0, "a missing exchange was not found");
    }
    free(unit);
    free(s.sum);
    lat_dfield_free(f);
    lat_grid_free(grid);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* f(x) <- f(x) + the sum of its neighbours' first real / 16: a sweep that reads the other parity.
 */
static void relax(void *context, int unit, int begin, int end)
{
    const lat_dfield *f = context;
    const lat_layout *lay = lat_cpu(f->grid)->lay;
    const int lanes = lay->lanes;
    double *v = lat_cpu_unit(f, unit);
    for (int64_t i = (int64_t)begin * lanes; i < (int64_t)end * lanes; i++)
        for (int k = 0; k < 2 * lay->geom.nd; k++)
            v[i] += v[lat_position_next(lay, i, k)] / 16;
}

/* Sweeps with a halo are those without one, bit for bit. */
static void sweep_on(lat_device *on, const char *dims, lat_field *out)
{
    dev = on;
    lat_grid *grid = grid_of(dims, LAT_STORAGE_DOUBLE, -1);
    const lat_cpu_grid *g = lat_cpu(grid);
    const lat_shape one = {1, 1, 0, true, false, 0, false};
    lat_dfield *f = lat_dfield_new(grid, one, 1, "numbers");
    need(f != NULL, "numbers");
    const int64_t n = (int64_t)g->lay->nblocks * g->lay->lanes;
    for (int64_t i = 0; i < n; i++)
        ((double *)f->data)[i] = sin((double)lat_cpu_sites(g, 0)[i]);
    CHECK(!lat_halo_exchange(f, 0), "%s", lat_error());
    static const int unit = 0;
    lat_cpu_team team = {.rc = 0};
#pragma omp parallel
    for (int half = 0; half < 6; half++) {
        const lat_halo_part part = {half % 2, &unit, 1, 0, 1};
        lat_cpu_sweep(&team, f, &part, relax, f);
    }
    for (int64_t i = 0; i < n; i++)
        if (lat_cpu_sites(g, 0)[i] >= 0)
            ((double *)out->data)[lat_cpu_sites(g, 0)[i]] = ((double *)f->data)[i];
    lat_dfield_free(f);
    lat_grid_free(grid);
}

static void check_sweeps(lat_device *checking)
{
    for (int i = 0; i < LATTICES; i++) {
        const lat_geometry geom = geometry_of(lattices[i]);
        lat_field a = field_new(LAT_TRANSFORM, geom, 2, LAT_F64),
                  b = field_new(LAT_TRANSFORM, geom, 2, LAT_F64);
        sweep_on(cpu_device(), lattices[i], &a);
        sweep_on(checking, lattices[i], &b);
        CHECK(!memcmp(a.data, b.data, lat_volume(&geom) * sizeof(double)), "%s", lattices[i]);
        lat_field_free(&a);
        lat_field_free(&b);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void number_of_sites(void *context, int unit, int begin, int end, double *out)
{
    const lat_grid *grid = context;
    const lat_cpu_grid *g = lat_cpu(grid);
    const int lanes = g->lay->lanes;
    for (int64_t i = (int64_t)begin * lanes; i < (int64_t)end * lanes; i++) {
        const int64_t site = lat_cpu_sites(g, unit % grid->slots)[i];
        for (int k = 0; k < 2 && site >= 0; k++)
            out[2 * (g->lay->site[i]) + k] = cos((double)(site + k));
    }
}

/* The same where x is 0, and 0 elsewhere: rows have no rounding. */
static void number_of_rows(void *context, int unit, int begin, int end, double *out)
{
    const lat_grid *grid = context;
    const lat_cpu_grid *g = lat_cpu(grid);
    const int lanes = g->lay->lanes;
    number_of_sites(context, unit, begin, end, out);
    for (int64_t i = (int64_t)begin * lanes; i < (int64_t)end * lanes; i++) {
        const int64_t own = g->lay->site[i] < 0 ? 0 : g->lay->site[i];
        if (g->lay->site[i] >= 0 && own % grid->slot.dims[0] != 0)
            out[2 * own] = out[2 * own + 1] = 0;
    }
}

/* The sum of these numbers on the whole lattice, as reduce.h says: rows in pairs over y, z and t,
 * each filled up to a power of two. */
static double in_pairs(const lat_geometry *geom, int k)
{
    static double v[1 << 14];
    size_t n = 1, extent[LAT_MAX_DIMS];
    for (int mu = 1; mu < geom->nd; mu++)
        for (extent[mu] = 1; extent[mu] < (size_t)geom->dims[mu];)
            extent[mu] *= 2;
    for (int mu = 1; mu < geom->nd; mu++)
        n *= extent[mu];
    need(n <= sizeof v / sizeof *v, "room for rows");
    for (size_t i = 0; i < n; i++) {
        int x[LAT_MAX_DIMS] = {0};
        bool there = true;
        size_t rest = i;
        for (int mu = 1; mu < geom->nd; mu++) {
            x[mu] = (int)(rest % extent[mu]);
            rest /= extent[mu];
            there = there && x[mu] < geom->dims[mu];
        }
        v[i] = there ? cos((double)lat_site(geom, x) + k) : 0;
    }
    for (; n > 1; n /= 2)
        for (size_t i = 0; i < n / 2; i++)
            v[i] = v[2 * i] + v[2 * i + 1];
    return v[0];
}

/* The totals of all members and slices: the same bits on both devices; next to a plain sum. */
static void sum_on(lat_device *on, const char *dims, lat_storage storage, int across,
                   lat_cpu_numbers *fn, double *total)
{
    dev = on;
    lat_grid *grid = grid_of(dims, storage, across);
    CHECK(!lat_cpu_total(grid, MEMBERS, NULL, 2, 1, fn, grid, total), "%s", lat_error());
    lat_grid_free(grid);
}

static void check_sums(lat_device *checking)
{
    enum { MOST = MEMBERS * 16 * 3 };
    for (int i = 0; i < LATTICES; i++)
        for (int across = -1; across < geometry_of(lattices[i]).nd; across++) {
            const lat_geometry geom = geometry_of(lattices[i]);
            const int slices = across < 0 ? 1 : geom.dims[across];
            const size_t bytes = (size_t)(MEMBERS * slices * 3) * sizeof(double);
            double total[3][MOST], plain[2] = {0, 0}, sums[2] = {0, 0};
            sum_on(cpu_device(), lattices[i], LAT_STORAGE_DOUBLE, across, number_of_sites,
                   total[0]);
            sum_on(checking, lattices[i], LAT_STORAGE_DOUBLE, across, number_of_sites, total[1]);
            sum_on(cpu_device(), lattices[i], LAT_STORAGE_SINGLE, across, number_of_sites,
                   total[2]);
            CHECK(!memcmp(total[0], total[1], bytes) && !memcmp(total[0], total[2], bytes),
                  "%s across %d", lattices[i], across);
            for (size_t x = 0; x < lat_volume(&geom); x++)
                for (int k = 0; k < 2; k++)
                    plain[k] += cos((double)x + k);
            for (int s = 0; s < slices; s++)
                for (int k = 0; k < 2; k++)
                    sums[k] += total[0][3 * s + k];
            /* As many additions of numbers below 1, their partial sums below some 10. */
            for (int k = 0; k < 2; k++)
                CHECK(fabs(plain[k] - sums[k]) <= 10 * 0x1p-53 * (double)lat_volume(&geom),
                      "%s across %d: %.17g, expected %.17g", lattices[i], across, sums[k],
                      plain[k]);
            if (across >= 0 || geom.nd < 2)
                continue;
            sum_on(cpu_device(), lattices[i], LAT_STORAGE_DOUBLE, -1, number_of_rows, total[0]);
            for (int k = 0; k < 2; k++)
                CHECK(total[0][k] == in_pairs(&geom, k), "%s: %.17g, in pairs %.17g", lattices[i],
                      total[0][k], in_pairs(&geom, k));
        }
}

int main(void)
{
    lat_device *const devices[] = {cpu_device(), checking_device(), gpu_device()};
    for (int i = 0; i < 3; i++) {
        if (!(dev = devices[i])) {
            check_skipped("GPU: host fields go in and out", lat_error());
            lat_error_clear();
            continue;
        }
        device_case(dev, "host fields go in and out bit for bit");
        check_round_trips();
        device_case(dev, "rows that are not stored, and weights");
        check_rows();
        if (dev->gpu)
            continue;
        device_case(dev, "ghosts, and operators that read them");
        for (int n = 0; n < LATTICES; n++)
            for (int across = -1; across < geometry_of(lattices[n]).nd; across++)
                check_ghosts(lattices[n], across);
    }
    check_case("sweeps with a halo are those without, bit for bit");
    check_sweeps(checking_device());
    check_case("sums do not depend on lanes and halos");
    check_sums(checking_device());
    return check_done();
}
