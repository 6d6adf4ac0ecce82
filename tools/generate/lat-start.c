/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-start: configurations to start from: cold, hot, weak field; and classical ones of known
 * charge: uniform flux, instanton. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "stream/stream.h"
#include "run/common/tool.h"
#include "site/sun.h"

enum { COLD, HOT, WEAK, FLUX, INSTANTON, STARTS };
static const char *const names[] = {"cold", "hot", "weak", "flux", "instanton"};

static int start = COLD, precision = 1;
static long group = 3, rows, count = 1, n12, n34;
static uint64_t seed = 1;
static double epsilon = 0.1, radius = NAN;
static bool anti;
static lat_geometry geom;

static const lat_option options[] = {
    {LAT_OPT_DIMS, "dims", 'd', "X,Y,Z,T", &geom, 0, 0, "extents, 1 to 4 (needed)"},
    {LAT_OPT_CHOICE, "start", 0, "cold|hot|weak|flux|instanton", &start, 0, 0,
     "cold: all links 1; hot: Haar random links; weak: links near 1; flux: uniform, Abelian; "
     "instanton: in singular gauge, in an SU(2) subgroup, at the centre"},
    {LAT_OPT_INT, "group", 'N', "N", &group, 2, LAT_MAX_COLOURS, "SU(N)"},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "seed of the random numbers"},
    {LAT_OPT_REAL, "epsilon", 0, "EPS", &epsilon, 0, 100,
     "width of the weak field: <1 - Re tr U/N> is EPS^2 (N^2-1)/(4N)"},
    {LAT_OPT_INT, "n12", 0, "N", &n12, -65535, 65535,
     "flux through each x-y plane, in units of 2 pi: F_12 is 2 pi N/(X Y)"},
    {LAT_OPT_INT, "n34", 0, "N", &n34, -65535, 65535,
     "flux through each z-t plane, in units of 2 pi: F_34 is 2 pi N/(Z T)"},
    {LAT_OPT_REAL, "radius", 0, "R", &radius, 1e-6, 1e6,
     "radius of the instanton, at most half the smallest extent (needed for it)"},
    {LAT_OPT_FLAG, "anti", 0, NULL, &anti, 0, 0, "make the instanton of the opposite charge"},
    {LAT_OPT_INT, "count", 0, "K", &count, 1, 1 << 24, "number of configurations, all different"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0, "precision of the links"},
    {LAT_OPT_INT, "rows", 0, "ROWS", &rows, 1, LAT_MAX_COLOURS,
     "rows of each link to store: N, or N-1 for SU(2) and SU(3) (default: N)"},
    {0}};

static const lat_tool tool = {
    .name = "lat-start",
    .args = "[cold|hot|weak|flux|instanton]",
    .summary = "Makes start configurations: cold, hot, weak field, uniform flux, instanton.",
    .example = "lat-start hot --dims 8,8,8,16 --seed 7 | lat-theta\n"
               "lat-start cold --dims 4,4,4,8 --group 2 -o cold.lat\n"
               "lat-start weak --epsilon 0.1 --dims 8,8,8,8 --count 10 -o weak.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_OUTPUT | LAT_HAS_THREADS,
};

/* A larger instanton does not fit between its images on the torus. */
static void check_radius(void)
{
    int least = geom.dims[0];
    for (int mu = 1; mu < 4; mu++)
        least = geom.dims[mu] < least ? geom.dims[mu] : least;
    if (radius > .5 * least)
        lat_usage("--radius: expected at most half the smallest extent, %g, found %.10g",
                  .5 * least, radius);
}

/* A phase of a plaquette is known up to 2 pi: from pi on the flux is another one. */
static void check_flux(const char *option, long n, int a, int b)
{
    const long most = ((long)a * b - 1) / 2;
    if (labs(n) > most)
        lat_usage("--%s: expected at most %ld, below half the %d x %d plaquettes of a plane, found "
                  "%ld",
                  option, most, a, b, n);
}

static void check_classical(void)
{
    static const struct {
        const char *option;
        int start;
    } of[] = {{"n12", FLUX}, {"n34", FLUX}, {"radius", INSTANTON}, {"anti", INSTANTON}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (lat_opt_given(of[i].option) && start != of[i].start)
            lat_usage("--%s is for a start %s, not for %s", of[i].option, names[of[i].start],
                      names[start]);
    if (start != FLUX && start != INSTANTON)
        return;
    if (geom.nd != 4)
        lat_usage("--dims: expected four extents for %s, found %d", names[start], geom.nd);
    if (lat_opt_given("count") && count > 1)
        lat_usage("--count: %s is one configuration", names[start]);
    if (start == FLUX && n12 == 0 && n34 == 0)
        lat_usage("--n12 or --n34 is needed for flux, other than 0");
    check_flux("n12", n12, geom.dims[0], geom.dims[1]);
    check_flux("n34", n34, geom.dims[2], geom.dims[3]);
    if (start == INSTANTON && isnan(radius))
        lat_usage("--radius is needed for an instanton, for example --radius 2");
    for (int mu = 0; mu < 4 && start == INSTANTON; mu++)
        if (geom.dims[mu] % 2)
            lat_usage("--dims: expected even extents, so that the centre of the instanton lies "
                      "between sites, found %d",
                      geom.dims[mu]);
    if (start == INSTANTON)
        check_radius();
}

static void check_usage(void)
{
    if (lat_opts.nfiles == 1) {
        int given = COLD;
        while (given < STARTS && strcmp(lat_opts.files[0], names[given]))
            given++;
        if (given == STARTS)
            lat_usage("expected cold, hot, weak, flux or instanton, found '%s'", lat_opts.files[0]);
        if (lat_opt_given("start") && given != start)
            lat_usage("'%s' and --start %s contradict each other", names[given], names[start]);
        start = given;
    }
    if (!lat_opt_given("dims"))
        lat_usage("--dims is needed, for example --dims 8,8,8,16");
    if (lat_opt_given("epsilon") && start != WEAK)
        lat_usage("--epsilon is for a weak start, not for a %s one", names[start]);
    if (lat_opt_given("seed") && start != HOT && start != WEAK)
        lat_usage("--seed is for a hot or weak start: %s has no random numbers", names[start]);
    if (count > 1 && (start == COLD || (start == WEAK && epsilon == 0)))
        lat_usage("--count: expected one configuration, as all would be the same (%s), found %ld",
                  start == COLD ? "cold" : "--epsilon 0", count);
    check_classical();
    if (!lat_opt_given("rows"))
        rows = group;
    if (rows != group && (rows != group - 1 || group > 3))
        lat_usage("SU(%ld) is stored with %s%ld rows, not %ld", group,
                  group == 2   ? "1 or "
                  : group == 3 ? "2 or "
                               : "",
                  group, rows);
}

static int describe(lat_header *head, long index)
{
    lat_header_init(head);
    head->geom = geom;
    head->nc = (int)group;
    head->real = precision ? LAT_F64 : LAT_F32;
    head->reals = 2 * (int)(rows * group);
    if (count > 1) {
        char number[24];
        snprintf(number, sizeof number, "%ld", index);
        if (lat_info_set(head, "sequence_number", number))
            return -1;
    }
    if (start == COLD || start == FLUX || start == INSTANTON
            ? lat_provenance(head, "%s", names[start])
            : lat_provenance(head, "%s, seed %llu, configuration %ld", names[start],
                             (unsigned long long)seed, index))
        return -1;
    return lat_header_check(head, "--dims");
}

/* ---- classical fields ------------------------------------------------------------------------ */

/* m = 1, but in the first two rows and columns a0 + i (a1 tau1 + a2 tau2 + a3 tau3). */
static void in_corner(double m[], const double a[4])
{
    const int n = (int)group;
    const double su2[2][4] = {{a[0], a[3], a[2], a[1]}, {-a[2], a[1], a[0], -a[3]}};
    lat_sun_one(n, m);
    memcpy(m, su2[0], sizeof su2[0]);
    memcpy(m + 2 * n, su2[1], sizeof su2[1]);
}

/* U_2 = diag(e^iwx, e^-iwx, 1 ..), w = 2 pi n12/(X Y); on the last slice U_1 = diag(e^-iwXy, ..),
 * which closes the torus; the same with n34 in z and t. Then F_12 = w tau_3 everywhere. */
static void flux_link(const int x[4], int mu, double m[])
{
    const int axis = mu / 2 * 2, *l = geom.dims + axis;
    const double w = 2 * M_PI * (double)(mu < 2 ? n12 : n34) / ((double)l[0] * l[1]);
    double angle = w * x[axis];
    if (mu == axis)
        angle = x[axis] == l[0] - 1 ? -w * l[0] * x[axis + 1] : 0;
    in_corner(m, (const double[]){cos(angle), 0, 0, sin(angle)});
}

/* The symbol of 't Hooft, eta^a_mu nu; the other one with --anti. */
static double eta(int a, int mu, int nu)
{
    if (mu == nu)
        return 0;
    if (nu == 3)
        return (a == mu) * (anti ? -1 : 1);
    if (mu == 3)
        return (a == nu) * (anti ? 1 : -1);
    return (nu - mu + 3) % 3 == 1 ? a == 3 - mu - nu : -(a == 3 - mu - nu);
}

/* The path-ordered exponential, exact, of A_mu = - tau^a eta^a_mu nu n_nu rho^2/(n^2 (n^2 + rho^2))
 * along the link: exp(-i tau^a eta^a_mu nu n_nu f). */
static void instanton_link(const int x[4], int mu, double m[])
{
    double n[4], nn = 0, v[3] = {0}, size = 0, a[4];
    for (int nu = 0; nu < 4; nu++) {
        n[nu] = x[nu] - .5 * (geom.dims[nu] - 1);
        nn += n[nu] * n[nu];
    }
    const double s0 = sqrt(nn - n[mu] * n[mu]), s = hypot(s0, radius), b = nn + n[mu],
                 f = atan2(s0, b) / s0 - atan2(s, b + radius * radius) / s;
    for (int i = 0; i < 3; i++) {
        for (int nu = 0; nu < 4; nu++)
            v[i] += eta(i, mu, nu) * n[nu] * f;
        size += v[i] * v[i];
    }
    size = sqrt(size);
    a[0] = cos(size);
    for (int i = 0; i < 3; i++)
        a[i + 1] = size > 0 ? -sin(size) * v[i] / size : 0;
    in_corner(m, a);
}

static void classical_link(size_t site, int mu, double m[])
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(&geom, site, x);
    if (start == FLUX)
        flux_link(x, mu, m);
    else
        instanton_link(x, mu, m);
}

/* ---- one configuration ----------------------------------------------------------------------- */

/* The counter of the random numbers of a link: its index x * nd + mu, and the configuration. */
static void fill(lat_field *f, long index)
{
    const size_t links = lat_field_matrices(f);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < links; i++) {
        double m[LAT_SUN_REALS];
        if (start == COLD)
            lat_sun_one(f->head.nc, m);
        else if (start == HOT)
            lat_sun_haar(f->head.nc, m, seed, i, (uint32_t)index, LAT_FOR_START);
        else if (start == FLUX || start == INSTANTON)
            classical_link(i / 4, (int)(i % 4), m);
        else
            lat_sun_near_one(f->head.nc, m, epsilon, seed, i, (uint32_t)index, LAT_FOR_START);
        lat_field_put(f, i, m);
    }
}

static int make(lat_output *out, long index)
{
    lat_field f = {.data = NULL};
    int rc = describe(&f.head, index) || lat_field_alloc(&f, lat_opts.comm) ? -1 : 0;
    if (rc == 0) {
        fill(&f, index);
        rc = lat_stream_write(out, &f, lat_opts.store);
    }
    lat_field_free(&f);
    return rc;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    check_usage();
    lat_output *out = lat_output_open(lat_opts.output, lat_output_flags(), lat_opts.comm);
    if (!out)
        return lat_report(LAT_FAILED);
    for (long index = 0; index < count; index++)
        if (make(out, index)) {
            lat_output_abort(out);
            return lat_report(LAT_FAILED);
        }
    return lat_stream_commit(out) ? lat_report(LAT_FAILED) : LAT_DONE;
}
