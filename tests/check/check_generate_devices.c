/* SPDX-License-Identifier: BSD-3-Clause */
/* check_generate_devices: making configurations on the checking device and on the GPU against that
 * on the CPU: the same trajectory, plaquettes, links in and out, for any group and lattice. Where
 * there is no GPU its cases are skipped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "devices.h"
#include "links.h"

static lat_device *under; /* the device that is compared with the CPU */

/* The largest N that it has code for. */
static int largest(void) { return lat_generate_groups(under->gpu); }

static lat_field rough_links(int nc, lat_geometry geom, lat_real real)
{
    return links_near_one(nc, geom, real, ROUGH);
}

/* Groups of 32 that are full or not, extents of 2, strides that are no powers of two; one to four
 * directions. */
static const lat_geometry lattices[] = {{4, {8, 8, 4, 4}},   {4, {6, 2, 10, 4}}, {4, {2, 2, 2, 2}},
                                        {4, {2, 12, 6, 14}}, {3, {4, 6, 2, 1}},  {2, {16, 6, 1, 1}},
                                        {1, {8, 1, 1, 1}}};
#define LATTICES (sizeof lattices / sizeof *lattices)

static const int groups[] = {2, 3, 4, 5, 8, 16};
#define GROUPS (sizeof groups / sizeof *groups)

/* Plaquettes are those of the links, and links come back bit for bit. */
static void check_links(void)
{
    for (size_t i = 0; i < LATTICES; i++)
        for (size_t g = 0; g < GROUPS && groups[g] <= largest(); g++)
            for (int p = 4; p <= 8; p += 4) {
                lat_field f = haar_links(groups[g], lattices[i], (lat_real)p), out;
                lat_generator *gen = generator_of(under, &f, (lat_real)p, 1, 1);
                check_plaquettes_of(gen, &f);
                CHECK(!lat_generate_get(gen, &f), "%s",
                      lat_error()); /* its last rows are those of the GPU now */
                lat_generate_close(gen);
                out = rough_links(groups[g], lattices[i], (lat_real)p);
                gen = generator_of(under, &f, (lat_real)p, 1, 1);
                CHECK(!lat_generate_get(gen, &out)
                          && !memcmp(f.data, out.data, lat_field_reals(&f) * (size_t)p),
                      "SU(%d), lattice %zu, %d bytes: other links", groups[g], i, p);
                lat_generate_close(gen);
                lat_field_free(&f);
                lat_field_free(&out);
            }
}

/* The largest difference of any real. */
static double apart(const lat_field *a, const lat_field *b)
{
    double most = 0, m[LAT_SUN_REALS], n[LAT_SUN_REALS];
    for (size_t i = 0; i < lat_field_matrices(a); i++) {
        lat_field_get(a, i, m);
        lat_field_get(b, i, n);
        for (int e = 0; e < 2 * a->head.nc * a->head.nc; e++)
            most = fabs(m[e] - n[e]) <= most ? most : fabs(m[e] - n[e]);
    }
    return most;
}

/* Heat bath and Metropolis sweeps of four dimensions draw plaquettes together: rounding, some 1e-15
 * a link at first and 1e-12 where a random link has staples that nearly cancel, hardly grows; that
 * of the links, most of it a gauge transformation, does slowly. Overrelaxation is chaotic: from
 * links such as these, not thermal ones, differences grow 20-fold a sweep, and more with the number
 * of subgroups: SU(16) loses its way in one. */
static void follow(int nc, lat_geometry geom, lat_real real, lat_update kind, double beta,
                   long sweeps, double bound, double bound_links)
{
    const lat_link_sweep how = {kind, UINT64_C(0x123456789abcdef), 3, 17};
    lat_device *const where[2] = {cpu_device(), under};
    lat_field f[2];
    double s[2], t[2];
    for (int i = 0; i < 2; i++) {
        f[i] = (kind == LAT_UPDATE_MICROCANONICAL ? rough_links : haar_links)(nc, geom, real);
        lat_generator *gen = generator_of(where[i], &f[i], real, beta, 1.3);
        CHECK(!lat_generate_sweep(gen, &how, sweeps) && !lat_generate_plaquette(gen, s + i, t + i)
                  && !lat_generate_get(gen, &f[i]),
              "%s", lat_error());
        lat_generate_close(gen);
    }
    const double links = apart(&f[0], &f[1]);
    CHECK(links <= bound_links,
          "SU(%d), %d directions, kind %d, %d bytes: links apart by %g after %ld sweeps, at most "
          "%g expected",
          nc, geom.nd, kind, (int)real, links, sweeps, bound_links);
    CHECK(same_number(s[0], s[1], bound) && same_number(t[0], t[1], bound),
          "SU(%d), %d directions, kind %d, %d bytes: plaquettes %.16f %.16f, %.16f %.16f", nc,
          geom.nd, kind, (int)real, s[0], s[1], t[0], t[1]);
    lat_field_free(&f[0]);
    lat_field_free(&f[1]);
}

/* How far the CPU's links are from those of a run whose links begin one unit in the last place off:
 * what a rounding grows to. (SU(3) 6e-11 after 20 sweeps, SU(4) 2e-10, SU(5) 4e-9.) */
static double grown(int nc, lat_geometry geom, lat_update kind, double beta, long sweeps)
{
    const lat_link_sweep how = {kind, UINT64_C(0x123456789abcdef), 3, 17};
    lat_field f[2];
    for (int i = 0; i < 2; i++) {
        f[i] = haar_links(nc, geom, LAT_F64);
        double *v = f[i].data;
        for (size_t k = 0; i == 1 && k < lat_field_reals(&f[i]); k++)
            v[k] *= 1 + (double)((int)(k * 2654435761U >> 16 & 3) - 1) * 0x1p-52;
        lat_generator *gen = generator_of(cpu_device(), &f[i], LAT_F64, beta, 1.3);
        CHECK(!lat_generate_sweep(gen, &how, sweeps) && !lat_generate_get(gen, &f[i]), "%s",
              lat_error());
        lat_generate_close(gen);
    }
    const double d = apart(&f[0], &f[1]);
    lat_field_free(&f[0]);
    lat_field_free(&f[1]);
    return d;
}

static void check_trajectories(void)
{
    static const double beta[] = {2.4, 6, 10.9, 17, 40, 180}; /* of groups[] */
    static const lat_update drawn[] = {LAT_UPDATE_HEATBATH, LAT_UPDATE_METROPOLIS};
    for (size_t g = 0; g < GROUPS && groups[g] <= largest(); g++)
        for (size_t i = 0; i < LATTICES; i++) {
            const long sweeps = lattices[i].nd < 4 || groups[g] > 5 ? 3 : FEW(20);
            for (int k = 0; k < 2; k++) {
                const double off = sweeps < 20
                                       ? 0
                                       : grown(groups[g], lattices[i], drawn[k], beta[g], sweeps);
                follow(groups[g], lattices[i], LAT_F64, drawn[k], beta[g], sweeps, 1e-11,
                       fmax(1e-9, 10 * off));
            }
            if (groups[g] <= 8)
                follow(groups[g], lattices[i], LAT_F64, LAT_UPDATE_MICROCANONICAL, beta[g], 1,
                       1e-10, 1e-8);
        }
}

/* In single a draw that is near to the edge may fall otherwise, some ten in a million: few links on
 * a small lattice. */
static void check_single(void)
{
    for (size_t g = 0; g < 4 && groups[g] <= largest(); g++) {
        follow(groups[g], lattices[2], LAT_F32, LAT_UPDATE_HEATBATH, 2.0 * groups[g] * groups[g], 2,
               1e4 * 0x1p-24, 1e4 * 0x1p-24);
        follow(groups[g], lattices[1], LAT_F32, LAT_UPDATE_MICROCANONICAL,
               2.0 * groups[g] * groups[g], 1, 1e4 * 0x1p-24, 1e4 * 0x1p-24);
    }
}

/* Mirror images leave the action; all runs are the same bit for bit; sweeps one by one are those of
 * one call. */
static void check_exact(void)
{
    for (size_t g = 0; g < GROUPS && groups[g] <= largest(); g++)
        for (int p = 4; p <= 8; p += 4) {
            const lat_link_sweep draw = {LAT_UPDATE_HEATBATH, 1, 0, 5},
                                 mirror = {.update = LAT_UPDATE_MICROCANONICAL};
            const double eps = p == 4 ? 0x1p-24 : 0x1p-53;
            const int nc = groups[g];
            lat_field f[2];
            double s[3], t[3];
            for (int i = 0; i < 2; i++) {
                f[i] = rough_links(nc, lattices[3], (lat_real)p);
                lat_generator *gen = generator_of(under, &f[i], (lat_real)p, 2.0 * nc * nc, 1);
                lat_link_sweep next = draw;
                for (int k = 0; k < 3; k++, next.step++)
                    CHECK(!lat_generate_sweep(gen, &next, 1), "%s", lat_error());
                CHECK(!lat_generate_plaquette(gen, s + i, t + i) && !lat_generate_get(gen, &f[i])
                          && !lat_generate_sweep(gen, &mirror, 1)
                          && !lat_generate_plaquette(gen, s + 2, t + 2),
                      "%s", lat_error());
                lat_generate_close(gen);
            }
            CHECK(!memcmp(f[0].data, f[1].data, lat_field_reals(&f[0]) * (size_t)p) && s[0] == s[1]
                      && t[0] == t[1],
                  "SU(%d), %d bytes: another run, other links", nc, p);
            CHECK(fabs(s[2] + t[2] - s[1] - t[1]) <= 64 * nc * nc * eps,
                  "SU(%d), %d bytes: overrelaxation changed the action by %g", nc, p,
                  s[2] + t[2] - s[1] - t[1]);
            lat_field_free(&f[0]);
            lat_field_free(&f[1]);
        }
}

static void check_refusals(void)
{
    const lat_action action = {.beta = 6, .xi = 1};
    lat_field f = rough_links(3, (lat_geometry){4, {4, 3, 4, 4}}, LAT_F64);
    CHECK(!lat_generate_open(under, &f, LAT_F64, &action) && strstr(lat_error(), "is odd"), "%s",
          lat_error());
    lat_field_free(&f);
    lat_error_clear();
}

static void check_device(void)
{
    device_case(under, "plaquettes are those of the links, links come back bit for bit");
    check_links();
    device_case(under,
                "in double it follows the CPU for 20 sweeps of heat bath and Metropolis, and "
                "overrelaxation");
    check_trajectories();
    device_case(under, "in single it does so at first");
    check_single();
    device_case(under, "runs repeat bit for bit, overrelaxation leaves the action");
    check_exact();
    device_case(under, "odd extents are refused");
    check_refusals();
}

/* "gpu": on the GPU alone. */
int main(int argc, char **argv)
{
    under = checking_device();
    if (argc < 2 || strcmp(argv[1], "gpu"))
        check_device();
    if ((under = gpu_device()))
        check_device();
    else
        check_skipped("GPU: configurations", lat_error());
    return check_done();
}
