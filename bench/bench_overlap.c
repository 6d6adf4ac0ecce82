/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_overlap: speed of the sign function of H = gamma5 (D_W - 1.4), a degree of its polynomial
 * and the projection of low modes, of one column and of twelve, `make bench-overlap`.
 *
 * The answer is compared first: D of a smaller lattice with the operator that certifies solutions,
 * and on the lattice that is timed |sign(H) v| with |v|, to the error of the polynomial. Then each
 * part is timed in samples, and a copy right before and after each one, as the machine may be
 * shared. A degree is a part of 39: of what degree 40 takes more than degree 1. Counted of a site
 * and column are the bytes that have to move, and no more:
 *
 *     a degree   two applications of D_W, each with a spinor in and one out, and the links once for
 *                all columns: 2 (8 R/columns + 48) reals, R reals a link. (On a CPU Clenshaw's
 *                recursion adds two vectors.)
 *     a mode     four passes, in each of which all modes are read once for all columns, and the
 *                columns, for all modes, are read in two and read and written in two
 *
 *     bench_overlap [THREADS [EXTENT]]    LAT_LANES=avx2, base: with vectors of that length;
 *                                         THREADS 0: on a GPU, 16^4, 32^4 and 32^3 64;
 *                                         LAT_TEMPORAL=never: links in the gauge they have, not in
 *                                         the temporal one; all eight are counted in both */
#include <stdio.h>
#include <string.h>
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"
#include "base/isa.h"
#include "bench.h"
#include "overlap/overlap.h"

enum { SAMPLES = 7, LOW_MODES = 32, COLUMNS = 12, DEGREE = 40, SMALL = 4 };
static const double LOWER = .4, UPPER = 8.5; /* of H, on links near 1 */

static double copied(int threads)
{
    return threads ? bench_copy_bandwidth((size_t)256 << 20, threads)
                   : lat_gpu_copy_bandwidth((size_t)1 << 30);
}

static lat_field links(int extent, int time)
{
    lat_field u = field_new(LAT_GAUGE, (lat_geometry){4, {extent, extent, extent, time}}, 3,
                            LAT_F64);
    fill_near_one_fast(&u, .05, 5);
    need(lat_field_exchange(&u) == 0, "links");
    return u;
}

/* An overlap operator with an interval that is known, and copies of a random vector for modes. */
typedef struct bed {
    lat_overlap o;
    lat_dfield *in, *out;
    double value[LOW_MODES], residual[LOW_MODES];
    lat_dfield *mode[LOW_MODES];
} bed;

static const int list[COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const lat_part one = {LAT_BOTH, 1, list};

static lat_part part_of(const bed *b) { return (lat_part){LAT_BOTH, b->o.space->columns, list}; }

static void open_modes(bed *b, int modes)
{
    lat_space *s = b->o.one;
    for (int k = 0; k < modes; k++) {
        double norm = 1;
        b->value[k] = k % 2 ? -.1 : .1;
        need((b->mode[k] = lat_vector_new(s, "a mode"))
                 && (k ? s->ops->copy(s, &one, b->mode[0], b->mode[k])
                       : s->ops->random(s, &one, 1, b->mode[k]))
                        == 0
                 && s->ops->dots(s, &one, 0, NULL, b->mode[k], NULL, &norm) == 0,
             "a mode");
        const lat_scalar none = {0, 0}, by = {1 / sqrt(norm), 0};
        need(s->ops->axpby(s, &one, &none, b->mode[k], &by, b->mode[k], NULL) == 0, "a mode");
    }
    b->o.modes = (lat_modes){.count = modes,
                             .value = b->value,
                             .residual = b->residual,
                             .vector = b->mode,
                             .rest = LOWER,
                             .norm = UPPER};
}

/* The same random vector in all columns: to make others takes longer than what is timed. */
static int random_columns(bed *b, const lat_part *p)
{
    lat_dfield *v = lat_vector_new(b->o.one, "a random vector");
    int rc = v ? b->o.one->ops->random(b->o.one, &one, 7, v) : -1;
    for (int c = 0; c < p->columns && rc == 0; c++) {
        const lat_part to = {LAT_BOTH, 1, list + c};
        rc = b->o.space->ops->convert(b->o.space, &to, b->o.one, v, b->in);
    }
    lat_dfield_free(v);
    return rc;
}

static void open_bed(bed *b, lat_device *on, const lat_field *u, lat_storage storage, int columns,
                     int modes, int degree, lat_sign_series series)
{
    const lat_dirac_options how = {.reals = 0};
    const lat_sign_options sign = {.delta = 1e-10, .order = degree, .series = series};
    lat_fermion kernel;
    memset(b, 0, sizeof *b);
    lat_fermion_init(&b->o.fermion);
    strcpy(b->o.fermion.name, "overlap");
    b->o.fermion.m0 = 1.4;
    lat_overlap_kernel(&b->o.fermion, &kernel);
    need((b->o.grid = lat_grid_of_spinors(on, &u->head.geom, storage))
             && (!bench_temporal() || !lat_temporal_open(on, u, NULL, &b->o.gauge))
             && (b->o.one = lat_space_open_in(b->o.grid, 3, 1, b->o.gauge))
             && (b->o.space = lat_space_open_in(b->o.grid, 3, columns, b->o.gauge))
             && (b->o.h = lat_dirac_open(b->o.space, u, &kernel, &how)),
         "an operator");
    open_modes(b, modes);
    const lat_part p = part_of(b);
    need((b->o.sign = lat_sign_open(b->o.h, NULL, &b->o.modes, &sign))
             && (b->in = lat_vector_new(b->o.space, "spinors"))
             && (b->out = lat_vector_new(b->o.space, "spinors")) && random_columns(b, &p) == 0,
         "the sign function");
}

static void close_bed(bed *b)
{
    lat_sign_close(b->o.sign);
    for (int k = 0; k < b->o.modes.count; k++)
        lat_dfield_free(b->mode[k]);
    lat_dfield_free(b->in);
    lat_dfield_free(b->out);
    lat_dirac_close(b->o.h);
    lat_space_close(b->o.space);
    lat_space_close(b->o.one);
    lat_temporal_close(b->o.gauge);
    lat_grid_free(b->o.grid);
}

/* sign(H) of all columns; what it returns waits for a GPU. */
static double apply(bed *b)
{
    const lat_part p = part_of(b);
    double norm[COLUMNS];
    need(lat_sign_apply(b->o.sign, 0, &p, b->out, b->in) == 0
             && b->o.space->ops->dots(b->o.space, &p, 0, NULL, b->out, NULL, norm) == 0,
         "the sign function");
    return sqrt(norm[0]);
}

/* D of the device and of plain_overlap.h, which share the interval alone: apart by the errors of
 * both, and by rounding. */
static void check(lat_device *on, lat_storage storage, int columns, lat_sign_series series)
{
    lat_field u = links(SMALL, SMALL), x = field_new(LAT_SPINOR, u.head.geom, 3, LAT_F64),
              y = field_new(LAT_SPINOR, u.head.geom, 3, LAT_F64),
              z = field_new(LAT_SPINOR, u.head.geom, 3, LAT_F64);
    bed b;
    double off = 0, all = 0;
    open_bed(&b, on, &u, storage, columns, 0, 0, series);
    const lat_part p = part_of(&b);
    const int last = columns - 1;
    lat_space *s = b.o.space;
    lat_plain_overlap *m = lat_overlap_plain(&b.o, &u, 1e-12);
    need(m && lat_spinor_get(s, b.in, last, &x, 0) == 0
             && lat_plain_overlap_apply(m, &x, 1, list, &y) == 0
             && lat_overlap_apply(&b.o, LAT_OVERLAP_D, 0, &p, b.out, b.in) == 0
             && lat_spinor_get(s, b.out, last, &z, 0) == 0,
         "D");
    for (size_t i = 0; i < lat_field_reals(&y); i++) {
        const double a = ((double *)y.data)[i], c = ((double *)z.data)[i];
        off += (a - c) * (a - c);
        all += a * a;
    }
    const double most = 2e-10 + lat_sign_rounding(b.o.sign, 0);
    if (!(sqrt(off / all) <= most))
        printf("D differs from the plain operator by %g, expected %g\n", sqrt(off / all), most),
            exit(1);
    lat_plain_overlap_free(m);
    close_bed(&b);
    lat_field_free(&x);
    lat_field_free(&y);
    lat_field_free(&z);
    lat_field_free(&u);
}

/* Seconds of an application, and what a copy does meanwhile. */
static double timed(bed *b, int threads, double *copy)
{
    double t[SAMPLES], c[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        const double before = copied(threads), start = bench_time(threads);
        apply(b);
        t[i] = bench_time(threads) - start;
        c[i] = (before + copied(threads)) / 2;
    }
    *copy = bench_median(c, SAMPLES);
    return bench_median(t, SAMPLES);
}

static void print_line(const char *name, double seconds, double bytes, double flops, double copy)
{
    printf("%-18s %8.2f ns  %6.0f bytes  %7.1f GB/s, %.2f of a copy", name, 1e9 * seconds, bytes,
           bytes / seconds * 1e-9, bytes / seconds * 1e-9 / copy);
    if (flops > 0)
        printf("  %7.1f Gflop/s", flops / seconds * 1e-9);
    printf("\n");
    fflush(stdout);
}

/* Returns the seconds of a degree, of a site and column, that a copy would take for its bytes. */
static double measure(lat_device *on, const lat_field *u, lat_storage storage, int columns,
                      int threads, double *degree)
{
    const double real = storage == LAT_STORAGE_DOUBLE ? 8 : 4,
                 each = (double)lat_volume(&u->head.geom) * columns;
    double copy, more;
    bed b;
    open_bed(&b, on, u, storage, columns, 0, DEGREE, LAT_SIGN_AUTO);
    const lat_part p = part_of(&b);
    double norm[COLUMNS];
    need(b.o.space->ops->dots(b.o.space, &p, 0, NULL, b.in, NULL, norm) == 0, "a norm");
    const double off = fabs(apply(&b) / sqrt(norm[0]) - 1), delta = lat_sign_delta(b.o.sign, 0);
    if (!(off <= delta + lat_sign_rounding(b.o.sign, 0)))
        printf("|sign(H) v| differs from |v| by %g, expected %g\n", off, delta), exit(1);
    const double whole = timed(&b, threads, &copy), reals = 2 * (8. * b.o.h->reals / columns + 48),
                 flops = 2 * b.o.h->ops->flops(b.o.h, (lat_dirac_matrix){LAT_FULL, LAT_PLAIN});
    printf("%s, %d columns, %d reals a link\n", real == 8 ? "double" : "single", columns,
           b.o.h->reals);
    const double copied_while = copy * 1e9;
    close_bed(&b);
    /* Of one degree, with and without modes. */
    open_bed(&b, on, u, storage, columns, 0, 1, LAT_SIGN_AUTO);
    const double without = timed(&b, threads, &more);
    close_bed(&b);
    const double seconds = (whole - without) / (DEGREE - 1);
    print_line("  a degree", seconds / each, reals * real, flops, copy);
    open_bed(&b, on, u, storage, columns, LOW_MODES, 1, LAT_SIGN_AUTO);
    const double with = timed(&b, threads, &copy);
    close_bed(&b);
    print_line("  a mode", (with - without) / each / LOW_MODES,
               (4 * 24. / columns + 6 * 24. / LOW_MODES) * real, 4 * 96, (copy + more) / 2);
    *degree = seconds / each;
    return reals * real / copied_while;
}

/* As docs/peers.md has them for hops, of which a degree has four half ones. */
static const char peers[] =
    "published, of two hops of others, without what Clenshaw's recursion adds, ns a site and "
    "degree:\n"
    "  H200, 32^3x64, 1 and 12 columns: QUDA single .36 .21, double .74 .48\n"
    "  a core (Zen 5), 8^4: Grid single 23, double 46; QPhiX 25 (32x8^3), 51 (16x8^3); openQCD 56, "
    "83\n"
    "  the diploma thesis on Neuberger operators in CUDA (single, 12 reals): GTX 280 22 times, "
    "8800 "
    "GT 12\n"
    "  times as fast as a Core2Duo; modes 4 times; 1440 bytes, 1392 flops a site and D_W\n";

static const lat_storage storages[] = {LAT_STORAGE_DOUBLE, LAT_STORAGE_SINGLE};

/* Of a GPU a degree in single must take .8 of a copy's bandwidth (aim .95), and with twelve columns
 * 1.8 times as little a column. */
static void on_lattice(lat_device *on, int extent, int time, int threads)
{
    lat_field u = links(extent, time);
    double degree[4], copy[4];
    printf("sign function on %d^3 %d, %s, %d threads; of a site and column\n", extent, time,
           threads ? lat_isa_name(lat_isa_widest()) : on->name, threads);
    for (int k = 0; k < 4; k++)
        copy[k] = measure(on, &u, storages[k / 2], k % 2 ? COLUMNS : 1, threads, &degree[k]);
    if (!threads)
        printf("  single: 1 column %.2f of must; 12 columns %.2f of must, 1 column took %.2f times "
               "as long\n",
               copy[2] / .8 / degree[2], copy[2] / .8 / 1.8 / degree[3], degree[2] / degree[3]);
    lat_field_free(&u);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 1, extent = argc > 2 ? atoi(argv[2]) : 0;
    bench_threads(threads ? threads : bench_most_threads());
    lat_device *const on = threads ? cpu_device() : gpu_device();
    need(on != NULL, "a device");
    for (int k = 0; k < 4; k++)
        for (int series = LAT_SIGN_CLENSHAW; series <= LAT_SIGN_PRODUCT; series++)
            check(on, storages[k / 2], k % 2 ? COLUMNS : 1, (lat_sign_series)series);
    if (extent || threads)
        on_lattice(on, extent ? extent : 8, extent ? extent : 8, threads);
    else
        for (int k = 0; k < 3; k++)
            on_lattice(on, k ? 32 : 16, (int[]){16, 32, 64}[k], 0);
    printf("%s", peers);
    return 0;
}
