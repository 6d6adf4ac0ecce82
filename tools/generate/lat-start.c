/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-start: configurations to start from: cold, hot, or weak field. */
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "stream/stream.h"
#include "run/tool.h"
#include "site/sun.h"

enum { COLD, HOT, WEAK };
static const char *const names[] = {"cold", "hot", "weak"};

static int start = COLD, precision = 1;
static long group = 3, rows, count = 1;
static uint64_t seed = 1;
static double epsilon = 0.1;
static lat_geometry geom;

static const lat_option options[] = {
    {LAT_OPT_DIMS, "dims", 'd', "X,Y,Z,T", &geom, 0, 0, "extents, 1 to 4 (needed)", false},
    {LAT_OPT_CHOICE, "start", 0, "cold|hot|weak", &start, 0, 0,
     "cold: all links 1; hot: Haar random links; weak: links near 1", false},
    {LAT_OPT_INT, "group", 'N', "N", &group, 2, LAT_MAX_COLOURS, "SU(N)", false},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "seed of the random numbers", false},
    {LAT_OPT_REAL, "epsilon", 0, "EPS", &epsilon, 0, 100,
     "width of the weak field: <1 - Re tr U/N> is EPS^2 (N^2-1)/(4N)", false},
    {LAT_OPT_INT, "count", 0, "K", &count, 1, 1 << 24, "number of configurations, all different",
     false},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0, "precision of the links",
     false},
    {LAT_OPT_INT, "rows", 0, "ROWS", &rows, 1, LAT_MAX_COLOURS,
     "rows of each link to store: N, or N-1 for SU(2) and SU(3) (default: N)", false},
    {0}};

static const lat_tool tool = {
    .name = "lat-start",
    .args = "[cold|hot|weak]",
    .summary = "Makes start configurations: cold, hot, or weak field.",
    .example = "lat-start hot --dims 8,8,8,16 --seed 7 | lat-theta",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_OUTPUT | LAT_HAS_THREADS,
};

static void check_usage(void)
{
    if (lat_opts.nfiles == 1) {
        int given = COLD;
        while (given <= WEAK && strcmp(lat_opts.files[0], names[given]))
            given++;
        if (given > WEAK)
            lat_usage("expected cold, hot or weak, found '%s'", lat_opts.files[0]);
        if (lat_opt_given("start") && given != start)
            lat_usage("'%s' and --start %s contradict each other", names[given], names[start]);
        start = given;
    }
    if (!lat_opt_given("dims"))
        lat_usage("--dims is needed, for example --dims 8,8,8,16");
    if (lat_opt_given("epsilon") && start != WEAK)
        lat_usage("--epsilon is for a weak start, not for a %s one", names[start]);
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
    if (start == COLD ? lat_provenance(head, "cold")
                      : lat_provenance(head, "%s, seed %llu, configuration %ld", names[start],
                                       (unsigned long long)seed, index))
        return -1;
    return lat_header_check(head, "--dims");
}

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
