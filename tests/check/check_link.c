/* SPDX-License-Identifier: BSD-3-Clause */
/* check_link.c: links in lanes have the plaquettes of natural order; overrelaxation leaves the
 * action; the clover finds the charge of a field whose charge is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "devices.h"
#include "links.h"

/* Cut into boxes by every vector, by some, by none; an extent of 2; two, three and four directions.
 */
static const lat_geometry lattices[] = {{4, {8, 8, 4, 4}}, {4, {4, 2, 4, 4}}, {4, {6, 2, 6, 2}},
                                        {4, {2, 2, 2, 2}}, {3, {4, 6, 2, 1}}, {2, {6, 4, 1, 1}},
                                        {2, {16, 8, 1, 1}}};
#define LATTICES (sizeof lattices / sizeof *lattices)

static const int groups[] = {2, 3, 4, 5, 9};
#define GROUPS (sizeof groups / sizeof *groups)

static void check_plaquettes(void)
{
    for (size_t i = 0; i < LATTICES; i++)
        for (size_t g = 0; g < GROUPS && groups[g] <= lat_generate_groups(false); g++)
            for (int p = 4; p <= 8; p += 4) {
                lat_field f = haar_links(groups[g], lattices[i], (lat_real)p);
                lat_generator *gen = generator_of(cpu_device(), &f, (lat_real)p, 1, 1);
                check_plaquettes_of(gen, &f);
                lat_generate_close(gen);
                lat_field_free(&f);
            }
}

static void check_there_and_back(void)
{
    for (size_t i = 0; i < LATTICES; i++)
        for (size_t g = 0; g < GROUPS && groups[g] <= lat_generate_groups(false); g++)
            for (int p = 4; p <= 8; p += 4) {
                const lat_link_sweep draw = {LAT_UPDATE_HEATBATH, 5, 0, 1};
                lat_field f = haar_links(groups[g], lattices[i], (lat_real)p), out;
                lat_generator *gen = generator_of(cpu_device(), &f, (lat_real)p, 4, 1);
                lat_generate_sweep(gen, &draw, 2);
                lat_generate_get(gen, &f);
                lat_generate_close(gen);
                out = haar_links(groups[g], lattices[i], (lat_real)p);
                gen = generator_of(cpu_device(), &f, (lat_real)p, 4, 1);
                lat_generate_get(gen, &out);
                CHECK(!memcmp(f.data, out.data, lat_field_reals(&f) * (size_t)p),
                      "SU(%d), lattice %zu, %d bytes", groups[g], i, p);
                lat_generate_close(gen);
                lat_field_free(&f);
                lat_field_free(&out);
            }
}

/* The weighted sum of plaquettes: xi and 1/xi. */
static double action_of(lat_generator *gen, const lat_geometry *geom, double xi)
{
    double s, t;
    const int nd = geom->nd;
    lat_generate_plaquette(gen, &s, &t);
    return (nd > 2 ? s * ((nd - 1) * (nd - 2) / 2) / xi : 0) + t * (nd - 1) * xi;
}

/* The staple sum is the derivative of the action in each link: a sweep of mirror images changes
 * every link a lot, and leaves the action alone only if every staple is right. */
static void check_overrelaxation(void)
{
    for (size_t i = 0; i < LATTICES; i++)
        for (size_t g = 0; g < GROUPS && groups[g] <= lat_generate_groups(false); g++)
            for (int p = 4; p <= 8; p += 4) {
                const double xi = 1.5;
                const int nc = groups[g], nd = lattices[i].nd, sweeps = 3;
                const lat_link_sweep mirror = {.update = LAT_UPDATE_MICROCANONICAL};
                lat_field f = links_near_one(nc, lattices[i], (lat_real)p, 0.4), out;
                out = links_near_one(nc, lattices[i], (lat_real)p, 0.4);
                lat_generator *gen = generator_of(cpu_device(), &f, (lat_real)p, 4, xi);
                const double before = action_of(gen, &lattices[i], xi);
                lat_generate_sweep(gen, &mirror, sweeps);
                const double after = action_of(gen, &lattices[i], xi);
                lat_generate_get(gen, &out);
                /* N (N-1)/2 mirrors of a trace of 2 (D-1) staples, each a few roundings, D links a
                 * site. */
                const double bound = 8.0 * sweeps * nc * nc * 2 * nd * nd
                                     * (p == 4 ? 0x1p-24 : 0x1p-53);
                CHECK(fabs(after - before) <= bound,
                      "SU(%d), lattice %zu, %d bytes: action %.17g, was %.17g", nc, i, p, after,
                      before);
                double moved = 0;
                for (size_t k = 0; k < lat_field_matrices(&f); k++) {
                    double a[LAT_SUN_REALS], b[LAT_SUN_REALS];
                    lat_field_get(&f, k, a);
                    lat_field_get(&out, k, b);
                    moved += lat_sun_distance(nc, a, b);
                }
                CHECK(moved > 0.1 * (double)lat_field_matrices(&f),
                      "SU(%d), lattice %zu: moved by %g", nc, i, moved);
                lat_generate_close(gen);
                lat_field_free(&f);
                lat_field_free(&out);
            }
}

/* Constant field strengths 2 pi a / (X Y) in the xy plane and 2 pi b / (Z T) in zt, along sigma_3
 * ('t Hooft 1981): charge 2 a b; of the clover, with sines instead of angles, V sin sin / (2
 * pi^2). */
static void check_charge(void)
{
    const lat_geometry geom = {4, {6, 8, 4, 10}};
    static const int flux[][2] = {{1, 1}, {2, -1}, {0, 3}};
    for (size_t i = 0; i < sizeof flux / sizeof *flux; i++) {
        lat_clover c;
        lat_field f = haar_links(2, geom, LAT_F64);
        const double angle[2] = {2 * M_PI * flux[i][0] / 48, 2 * M_PI * flux[i][1] / 40};
        for (size_t x = 0; x < lat_volume(&geom); x++) {
            int at[LAT_MAX_DIMS];
            lat_coordinates(&geom, x, at);
            for (int mu = 0; mu < 4; mu++) {
                const int plane = mu / 2, first = 2 * plane, extent = geom.dims[first];
                double phi = mu % 2 ? angle[plane] * at[first] : 0;
                if (mu % 2 == 0 && at[first] == extent - 1)
                    phi = -angle[plane] * extent * at[first + 1];
                const double m[8] = {cos(phi), sin(phi), 0, 0, 0, 0, cos(phi), -sin(phi)};
                lat_field_put(&f, x * 4 + (size_t)mu, m);
            }
        }
        if (lat_measure_clover(&f, &c))
            exit(lat_report(LAT_FAILED));
        const double s = sin(angle[0]), t = sin(angle[1]), volume = (double)lat_volume(&geom);
        CHECK(fabs(c.charge - volume * s * t / (2 * M_PI * M_PI)) <= 1e-12,
              "charge %.15g of flux %d, %d", c.charge, flux[i][0], flux[i][1]);
        CHECK(fabs(c.density - 2 * (s * s + t * t)) <= 1e-12, "density %.15g", c.density);
        lat_field_free(&f);
    }
}

/* A centre element on all time links of a slice leaves plaquettes and multiplies the Polyakov loop.
 */
static void check_centre(void)
{
    const lat_geometry geom = {4, {4, 2, 4, 6}};
    double before[2], after[2], loop[2], turned[2];
    lat_field f = links_near_one(3, geom, LAT_F64, 0.3);
    lat_measure_planes(&f, &before[0], &before[1]);
    lat_measure_polyakov(&f, 3, loop);
    const double z[2] = {-0.5, sqrt(0.75)};
    for (size_t x = 0; x < lat_volume(&geom); x++) {
        int at[LAT_MAX_DIMS];
        double m[18];
        lat_coordinates(&geom, x, at);
        if (at[3] != 2)
            continue;
        lat_field_get(&f, x * 4 + 3, m);
        for (int i = 0; i < 9; i++)
            lat_sun_cmul(m + 2 * i, m + 2 * i, z);
        lat_field_put(&f, x * 4 + 3, m);
    }
    lat_measure_planes(&f, &after[0], &after[1]);
    lat_measure_polyakov(&f, 3, turned);
    lat_sun_cmul(loop, loop, z);
    CHECK(fabs(before[0] - after[0]) <= 1e-14 && fabs(before[1] - after[1]) <= 1e-14,
          "plaquettes %.15g %.15g", after[0], after[1]);
    CHECK(fabs(loop[0] - turned[0]) <= 1e-14 && fabs(loop[1] - turned[1]) <= 1e-14,
          "loop %.15g %+.15gi", turned[0], turned[1]);
    lat_field_free(&f);
}

int main(void)
{
    check_case("plaquettes in lanes are those in natural order");
    check_plaquettes();
    check_case("links go into lanes and come back bit for bit");
    check_there_and_back();
    check_case("overrelaxation leaves the action and moves the links");
    check_overrelaxation();
    check_case("the clover finds the charge of constant fields");
    check_charge();
    check_case("a centre transformation leaves plaquettes and multiplies the Polyakov loop");
    check_centre();
    if (lat_generate_groups(false) < groups[GROUPS - 1])
        check_skipped("links of larger groups", "built without them");
    return check_done();
}
