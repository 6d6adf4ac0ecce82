/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_ghost: speed of the Faddeev-Popov operator, of its preconditioner and of the solver, of all
 * threads or of one, `make bench-ghost`.
 *
 * Columns are solved side by side, 16 for a momentum of SU(3). The answer is compared with the
 * plain operator first. Then each part is timed in samples, and a copy right before and after each
 * one, as the machine may be shared. Counted are flops and bytes of a site and column:
 *     flops   see flops(), below
 *     bytes   the vector once in and once out, with the line that a store reads first, and the
 *             links and the diagonal once for all columns
 *
 *     bench_ghost [THREADS [EXTENT [PACKS]]]    LAT_LANES=avx2, base: with vectors of that length;
 *                                               THREADS 0: on a GPU */
#include <stdio.h>
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"
#include "base/isa.h"
#include "bench.h"
#include "ghost/ghost_internal.h"

enum { SAMPLES = 9 };

/* Of a column and site: each of the 2 D + 1 products U W has 2 N^2 (N-1) products of complex
 * numbers for the upper triangle and N^2 real parts; W is real on its diagonal. */
static double flops(int n, int directions)
{
    const double upper = n * (n - 1) / 2. * (2 * n * 8 - 2 * 4), diagonal = n * (4. * (n - 1) + 2);
    return (2 * directions + 1) * (upper + diagonal) + 4 * (n * n - 1);
}

static double bytes(const lat_ghost *m)
{
    return (double)lat_ghost_link(m) * 8 * (m->directions + 1) / m->columns + 24. * m->colours;
}

typedef struct bed {
    lat_ghost *m;
    lat_field u;
    double *x, *y, *total;
} bed;

typedef int part(bed *b);

static int hop(bed *b) { return lat_ghost_hop(b->m, b->y, b->x, NULL, b->total); }
/* On a GPU a product waits for it. */
static int laplace(bed *b)
{
    return lat_ghost_invert(b->m, b->x, NULL)
                   || (b->m->gpu && lat_ghost_dot(b->m, b->x, b->x, b->total))
               ? -1
               : 0;
}

static int dot(bed *b) { return lat_ghost_dot(b->m, b->x, b->y, b->total); }

static double copied(int threads)
{
    return threads ? bench_copy_bandwidth((size_t)256 << 20, threads)
                   : lat_gpu_copy_bandwidth((size_t)1 << 30);
}

static void line(bed *b, const char *name, part *run, int threads, double of_flops, double of_bytes)
{
    double t[SAMPLES], ratio[SAMPLES];
    const double sites = (double)b->m->sites * b->m->columns;
    for (int i = 0; i < SAMPLES; i++) {
        const double before = copied(threads), start = bench_time(threads);
        need(run(b) == 0, name);
        t[i] = (bench_time(threads) - start) / sites;
        const double copy = (before + copied(threads)) / 2;
        ratio[i] = of_bytes / t[i] * 1e-9 / copy;
    }
    const double seconds = bench_median(t, SAMPLES);
    printf("%-12s %8.2f ns a site and column", name, 1e9 * seconds);
    if (of_flops > 0)
        printf("  %6.1f Gflop/s", of_flops / seconds * 1e-9);
    if (of_bytes > 0)
        printf("  %6.1f GB/s, %.2f of a copy", of_bytes / seconds * 1e-9,
               bench_median(ratio, SAMPLES));
    printf("\n");
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 1, extent = argc > 2 ? atoi(argv[2]) : 16,
              packs = argc > 3 ? atoi(argv[3]) : 2;
    bench_threads(threads ? threads : bench_most_threads());
    lat_device *const on = threads ? cpu_device() : gpu_device();
    need(on != NULL, "a device");
    for (int nc = 2; nc <= 3; nc++) {
        bed b;
        const lat_geometry geom = {4, {extent, extent, extent, extent}};
        const lat_condition c = lat_condition_of(LAT_LANDAU, &geom, -1);
        b.u = field_new(LAT_GAUGE, geom, nc, LAT_F64);
        fill_near_one_fast(&b.u, .05, 5);
        need((b.m = lat_ghost_new_on(on, &b.u, &c, packs))
                 && (b.x = lat_ghost_vector(b.m, "a vector"))
                 && (b.y = lat_ghost_vector(b.m, "a vector")),
             "an operator");
        b.total = lat_alloc(lat_ghost_reals(b.m) * 2, sizeof *b.total, "sums");
        double *r = lat_alloc((size_t)b.m->columns, sizeof *r, "residuals");
        lat_ghost_column column[64] = {{0}};
        for (int k = 0; k < b.m->columns; k++)
            column[k] = (lat_ghost_column){k % 2 ? LAT_GHOST_SIN : LAT_GHOST_COS,
                                           {1, 0, k / 2 / b.m->colours, 0},
                                           k / 2 % b.m->colours};
        need(lat_ghost_source(b.m, b.x, column) == 0 && lat_ghost_apply(b.m, b.y, b.x) == 0
                 && lat_ghost_residual(b.m, &b.u, b.y, b.x, NULL, r) == 0,
             "the operator");
        for (int k = 0; k < b.m->columns; k++)
            if (!(r[k] < 1e-13))
                printf("column %d differs from the plain operator by %g\n", k, r[k]), exit(1);
        printf(
            "SU(%d) %d^4, %d columns, %s, %d threads; %.0f flops, %.0f bytes a site and column\n",
            nc, extent, b.m->columns, threads ? lat_isa_name(lat_isa_widest()) : on->name, threads,
            flops(nc, 4), bytes(b.m));
        line(&b, "M", hop, threads, flops(nc, 4), bytes(b.m));
        line(&b, "L^-1", laplace, threads, 0, 0);
        line(&b, "dot", dot, threads, 2. * b.m->colours, 16. * b.m->colours);
        lat_ghost_report report;
        need(lat_ghost_source(b.m, b.x, column) == 0, "a source");
        const double start = bench_time(threads);
        need(lat_ghost_solve(b.m, b.y, b.x, 1e-10, 100, &report) == 0, "a solution");
        printf("%-12s %8.2f ns a site and column and iteration, %ld iterations to 1e-10\n",
               "solver",
               1e9 * (bench_time(threads) - start) / (double)report.iterations
                   / ((double)b.m->sites * b.m->columns),
               report.iterations);
        lat_ghost_vector_free(b.m, b.x);
        lat_ghost_vector_free(b.m, b.y);
        free(b.total), free(r);
        lat_ghost_free(b.m);
        lat_field_free(&b.u);
    }
    return 0;
}
