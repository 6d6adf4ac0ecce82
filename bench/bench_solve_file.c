/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_solve_file.c: lat-solve from file to file beside its solves, on one core, `make
 * bench-solve`.
 *
 *     bench_solve_file LAT_SOLVE LINKS.lat PROPAGATOR.lat [KAPPA]
 *
 * Twelve columns of a point source, in turn by the command, whose propagator goes to a file that is
 * removed at the end, and here, by the same solver. Processor time, user and system, of the whole
 * command and of the solves alone: other programs on the machine count less. Files are best in
 * memory (/dev/shm). The two solutions have the same bits, or the program fails. Must: 1.3. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "common/io.h"
#include "common/progress.h"
#include "quark/source.h"
#include "solve/wilson.h"
#include "stream/stream.h"

enum { COLUMNS = 12, TIMES = 7 };

static const char source_text[] = "point:0,0,0,0";

static void need(bool good)
{
    if (!good)
        exit(lat_report(LAT_FAILED));
}

static lat_field read_field(const char *path)
{
    lat_field f;
    lat_input *in = lat_input_open(path, &lat_comm_self);
    need(in && lat_stream_read(in, &f) == 1);
    lat_input_close(in);
    return f;
}

/* Processor seconds of the whole command. */
static double whole(const char *tool, const char *links, const char *propagator, const char *kappa)
{
    struct rusage r;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        execl(tool, tool, "-q", "--device", "cpu", "--threads", "1", "--kappa", kappa, "--source",
              source_text, links, "-o", propagator, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &r) != child || !WIFEXITED(status)
        || WEXITSTATUS(status))
        exit((fprintf(stderr, "bench_solve_file: %s failed\n", tool), 1));
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec)
           + 1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* Processor seconds of lat_solve: those of the call, in the proportion that the clock has, as host
 * fields go in and out in some hundredths of it. x gets the solution, *iterations the most of any
 * column. */
static double solves(lat_device *dev, const lat_field *u, const lat_field *b, const char *kappa,
                     lat_field *x, long *iterations)
{
    const lat_wilson_options o = {
        .columns = COLUMNS, .form = LAT_SYMMETRIC, .inner = LAT_STORAGE_SINGLE};
    lat_fermion f;
    lat_solve_report report[COLUMNS] = {{0}};
    lat_wilson_cost cost[COLUMNS] = {{0}};
    int object[COLUMNS];
    double target[COLUMNS], seconds = 0;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = 1 / (2 * strtod(kappa, NULL)) - 4;
    f.boundary[3].theta = 1; /* that of lat-solve, too */
    for (int c = 0; c < COLUMNS; c++) {
        object[c] = c;
        target[c] = .95e-10; /* of lat-solve */
    }
    const lat_wilson_job job = {.b = b,
                                .x = x,
                                .columns = COLUMNS,
                                .object = object,
                                .target = target,
                                .solver = LAT_SOLVER_AUTO,
                                .max_iterations = 20000};
    lat_wilson *w = lat_wilson_open(dev, u, &f, &o);
    need(w != NULL);
    const double clock = bench_now(), cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    need(lat_wilson_solve(w, &job, report, cost) == 0);
    const double of_cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
                 of_clock = bench_now() - clock;
    lat_wilson_close(w);
    *iterations = 0;
    for (int c = 0; c < COLUMNS; c++) {
        seconds += cost[c].seconds;
        *iterations = report[c].iterations > *iterations ? report[c].iterations : *iterations;
    }
    return of_cpu * seconds / of_clock;
}

int main(int argc, char **argv)
{
    const char *kappa = argc > 4 ? argv[4] : "0.12";
    if (argc < 4)
        return fprintf(stderr, "usage: bench_solve_file LAT_SOLVE LINKS PROPAGATOR [KAPPA]\n"), 2;
    bench_threads(1);
    const lat_device_options options = {.choice = LAT_DEVICE_CPU};
    lat_device *dev = lat_device_open(&options, &lat_comm_self);
    lat_field u = read_field(argv[2]), b, x = {.data = NULL};
    lat_source *source = lat_source_new(source_text, &u.head);
    double all[TIMES], alone[TIMES], ratio[TIMES];
    char promise[64];
    long iterations;
    need(dev && source && lat_source_begin(source, &u, 0) == 0
         && lat_source_field(source, 0, &b) == 0 && lat_header_copy(&x.head, &b.head) == 0
         && lat_field_alloc(&x, b.comm) == 0);
    for (int i = 0; i < TIMES; i++) {
        all[i] = whole(argv[1], argv[2], argv[3], kappa);
        alone[i] = solves(dev, &u, &b, kappa, &x, &iterations);
        ratio[i] = all[i] / alone[i];
        lat_field file = read_field(argv[3]);
        const bool same = lat_field_reals(&file) == lat_field_reals(&x)
                          && !memcmp(file.data, x.data, lat_field_reals(&x) * sizeof(double));
        lat_field_free(&file);
        unlink(argv[3]);
        if (!same)
            return fprintf(stderr, "bench_solve_file: the command has another solution\n"), 1;
    }
    const double middle = bench_median(ratio, TIMES);
    printf("lat-solve from file to file, 12 columns, kappa = %s, %ld iterations, one core,\n"
           "processor seconds, medians of %d\n",
           kappa, iterations, TIMES);
    printf("whole %.3f  solves %.3f  ratio %.3f (%.3f to %.3f; must, aim: %s)\n",
           bench_median(all, TIMES), bench_median(alone, TIMES), middle, ratio[0], ratio[TIMES - 1],
           bench_promise(promise, "%.2f", middle, -1.3, -1.2));
    lat_source_free(source);
    lat_field_free(&u);
    lat_field_free(&b);
    lat_field_free(&x);
    lat_device_close(dev);
    return 0;
}
