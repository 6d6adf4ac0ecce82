/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_multigrid: a multigrid's setup and solves on one core, or on the GPUs of ranks.
 *
 *     bench_multigrid cpu|gpu LINKS.lat KAPPA CSW COLUMNS [SOLVER ..]
 *
 * Antiperiodic in t, random sources, to |b - M x| = 1e-10 |b|. SOLVER: auto, mg, bicgstab, cg; mg
 * unless told. Each has a line: iterations, seconds a column, and seconds a column with the setup,
 * which auto has in both. Time is the processor's. On a GPU it is the clock's, without the way of
 * fields to the GPU and back: a second solve's, and with the setup a first one's, which makes
 * vectors. mg tells of its transfers, of its levels (the time of a solve, with the levels below it)
 * and of a GPU's memory. Its setup is one for twelve columns, however many are solved. Solvers
 * after cg stop after three times its iterations. The plain operator of lib/certify computes the
 * residual. */
#include "bench_ranks.h"
#include "base/threads.h"
#include "certify/plain.h"
#include "common/io.h"
#include "multigrid/multigrid_internal.h"
#include "stream/stream.h"
#include "wilson/wilson.h"

enum { MOST = 16, TO_COME = 12 };
static bool gpu;
static lat_device *dev;
static const lat_comm *comm;

static lat_field read_links(const char *name)
{
    lat_field u = {.data = NULL};
    lat_input *in = lat_input_open(name, comm);
    need(in && lat_stream_read(in, &u) == 1 && lat_field_exchange(&u) == 0, name);
    lat_input_close(in);
    return u;
}

static lat_solver solver_of(const char *name)
{
    for (int s = LAT_SOLVER_AUTO; s <= LAT_SOLVER_MG; s++)
        if (!strcmp(lat_solver_name((lat_solver)s), name))
            return (lat_solver)s;
    need(false, name);
    return LAT_SOLVER_AUTO;
}

/* The largest |b - M x|/|b| of the columns. */
static double residual(lat_plain *plain, const lat_field *b, lat_field *x, int columns)
{
    int object[MOST];
    double found[MOST], worst = 0;
    for (int k = 0; k < columns; k++)
        object[k] = k;
    need(lat_field_exchange(x) == 0, "ghosts");
    need(lat_plain_residual(plain, x, b, columns, object, found) == 0, "residuals");
    for (int k = 0; k < columns; k++)
        worst = fmax(worst, found[k]);
    return worst;
}

/* Milliseconds of a solve of a level and the levels below it, from as many columns of random
 * numbers. */
static double level_time(lat_level *first, lat_level *l, int columns)
{
    enum { TIMES = 10 };
    const int clock = gpu ? 0 : 1;
    const lat_coarse *c = &l->coarse;
    float one;
    lat_level_batches(first, (columns + LAT_EIGHT - 1) / LAT_EIGHT);
    need(lat_coarse_random(c, 5, l->from) == 0, "random numbers");
    double start = 0;
    for (int k = -1; k < TIMES; k++) { /* once to begin with */
        need(lat_level_solve(l, l->to, l->from) == 0
                 && c->ops->fetch(c->dev, &one, l->to, sizeof one) == 0,
             "a level");
        if (k < 0)
            start = bench_time(clock);
    }
    const double seconds = (bench_time(clock) - start) / TIMES;
    lat_level_batches(first, 1);
    return 1e3 * seconds;
}

/* Milliseconds of a restriction of so many columns of the finest level, and of a prolongation. */
static void transfer_times(lat_multigrid *m, int columns, double ms[2])
{
    enum { TIMES = 20 };
    const lat_mg_ops *ops = m->ops;
    const lat_device *at = m->coarse->coarse.dev;
    float one;
    lat_dfield *x = lat_vector_new_of(m->system.space, LAT_ODD, "transfers");
    need(x != NULL, "a vector");
    lat_level_batches(m->coarse, (columns + LAT_EIGHT - 1) / LAT_EIGHT);
    for (int back = 0; back < 2; back++) {
        double start = 0;
        for (int k = -1; k < TIMES; k++) {
            need((back ? ops->fine_prolong(&m->fine, false, columns, lat_column_numbers, x, m->z)
                       : ops->fine_restrict(&m->fine, false, columns, lat_column_numbers, x, m->z))
                     == 0,
                 "a transfer");
            if (k < 0 || k == TIMES - 1)
                need(ops->fetch(at, &one, m->z, sizeof one) == 0, "a transfer");
            if (k < 0)
                start = bench_time(gpu ? 0 : 1);
        }
        ms[back] = 1e3 * (bench_time(gpu ? 0 : 1) - start) / TIMES;
    }
    lat_level_batches(m->coarse, 1);
    lat_dfield_free(x);
}

static void print_levels(lat_multigrid *m, int columns, double seconds)
{
    const lat_multigrid_report *r = lat_multigrid_told(m);
    const int at_once = LAT_EIGHT * m->coarse->coarse.batches;
    double both[2];
    transfer_times(m, columns < at_once ? columns : at_once, both);
    if (comm->rank == 0)
        printf("setup %.2f s: %d levels, %d vectors, %d rounds, %.1f S a vector, rate %.3f\n"
               "  restriction %.3f ms, prolongation %.3f\n",
               seconds, r->levels, r->vectors, r->rounds, r->applied, r->rate, both[0], both[1]);
    for (lat_level *l = m->coarse; l; l = l->next) {
        const double solves = (double)l->solves, iterations = (double)l->iterations / solves,
                     ran = (double)l->ran / solves, applied = (double)l->applied / solves;
        const double ms = level_time(m->coarse, l, columns);
        if (comm->rank == 0 && l->dense)
            printf("  %d sites, %d rows, dense: %.3f ms\n", l->coarse.sites.count, l->coarse.rows,
                   ms);
        else if (comm->rank == 0)
            printf("  %d sites, %d rows: %.2f iterations of %.2f, %.1f applications a solve, %.3f "
                   "ms\n",
                   l->coarse.sites.count, l->coarse.rows, iterations, ran, applied, ms);
    }
}

/* A job that has nothing to solve: what the first one takes is memory. */
static void solve_nothing(lat_wilson *w, const lat_wilson_job *job)
{
    double target[MOST];
    lat_solve_report report[MOST] = {{0}};
    lat_wilson_job none = *job;
    for (int k = 0; k < job->columns; k++)
        target[k] = 2;
    none.target = target;
    need(lat_wilson_solve(w, &none, report, NULL) == 0, "nothing to solve");
}

static long largest(const lat_solve_report *report, int columns)
{
    long most = 0;
    for (int k = 0; k < columns; k++)
        most = report[k].iterations > most ? report[k].iterations : most;
    return most;
}

/* Seconds of the job, on a GPU by its own clock, which leaves out the way of fields. */
static double seconds_of(lat_wilson *w, const lat_wilson_job *job, lat_solve_report *report)
{
    lat_wilson_cost cost[MOST] = {{0}};
    if (gpu)
        solve_nothing(w, job);
    const double begin = bench_time(1);
    need(lat_wilson_solve(w, job, report, cost) == 0, "a solve");
    double seconds = gpu ? 0 : bench_time(1) - begin;
    for (int k = 0; k < job->columns && gpu; k++)
        seconds += cost[k].seconds;
    return seconds;
}

/* Iterations, at most `most`. */
static long run(const lat_field *u, const lat_fermion *f, int columns, lat_solver solver, long most)
{
    const int clock = gpu ? 0 : 1;
    const bool mg = solver == LAT_SOLVER_MG;
    const lat_wilson_options o = {.columns = columns,
                                  .form = LAT_SYMMETRIC,
                                  .inner = gpu ? LAT_STORAGE_HALF : LAT_STORAGE_SINGLE,
                                  .multigrid = mg || solver == LAT_SOLVER_AUTO,
                                  .setup = {.columns = mg ? TO_COME : columns},
                                  .made_mass = f->mass,
                                  .made_twist = f->twist};
    lat_field b = spinor_field(u, columns), x = spinor_field(u, columns);
    lat_plain *plain = lat_plain_new(u, f);
    lat_wilson *w = lat_wilson_open(dev, u, f, &o);
    need(plain && w, "an operator");
    fill_spinors(&b, 11);
    const double start = bench_time(clock), available = lat_device_free_bytes(dev);
    need(!mg || lat_wilson_make_multigrid(w) == 0, "a multigrid");
    lat_multigrid *m = lat_wilson_multigrid(w);
    const double setup = bench_time(clock) - start;
    double target[MOST];
    lat_solve_report report[MOST] = {{0}};
    for (int k = 0; k < columns; k++)
        target[k] = 1e-10;
    const lat_wilson_job job = {.b = &b,
                                .x = &x,
                                .columns = columns,
                                .object = lat_column_numbers,
                                .target = target,
                                .solver = solver,
                                .max_iterations = most};
    for (lat_level *l = m ? m->coarse : NULL; l; l = l->next)
        l->solves = l->iterations = l->ran = l->applied = 0;
    const double first = seconds_of(w, &job, report);
    double seconds = first;
    if (gpu) {
        memset(report, 0, sizeof report);
        seconds = seconds_of(w, &job, report);
    }
    const long iterations = largest(report, columns);
    if (m)
        print_levels(m, columns, setup);
    const double found = residual(plain, &b, &x, columns), left = lat_device_free_bytes(dev);
    if (m && gpu && comm->rank == 0)
        printf("  %.2f GB of the GPU; the first solve, which makes vectors: %.4f s a column\n",
               (available - left) * 1e-9, first / columns);
    if (comm->rank == 0)
        printf("%-9s %5ld iterations, %d updates, %s by %s, residual %.2e, %.4f s a column, %.3f "
               "with the setup\n",
               lat_solver_name(solver), iterations, (int)report[0].updates,
               lat_end_text(report[0].end), lat_solver_name(report[0].solver), found,
               seconds / columns, (first + setup) / columns);
    fflush(stdout);
    lat_wilson_close(w);
    lat_plain_free(plain);
    lat_field_free(&b);
    lat_field_free(&x);
    return iterations;
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_multigrid";
    if (argc < 6) {
        fprintf(stderr, "usage: bench_multigrid cpu|gpu LINKS.lat KAPPA CSW COLUMNS [SOLVER ..]\n");
        return 2;
    }
    if (!(comm = lat_comm_start(0, argv)))
        bench_stop();
    gpu = !strcmp(*++argv, "gpu");
    argc--;
    if (!gpu)
        bench_threads(1);
    dev = bench_device(!gpu, comm);
    lat_field u = read_links(argv[1]);
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = lat_mass_of_kappa(atof(argv[2]));
    f.csw = f.csw_t = atof(argv[3]);
    f.boundary[3].theta = 1;
    const int columns = atoi(argv[4]);
    need(columns >= 1 && columns <= MOST, "1 to 16 columns");
    long most = 20000;
    for (int i = 5; i < argc || i == 5; i++) {
        const lat_solver solver = i < argc ? solver_of(argv[i]) : LAT_SOLVER_MG;
        const long iterations = run(&u, &f, columns, solver, most);
        if (solver == LAT_SOLVER_CG)
            most = 3 * iterations;
    }
    lat_field_free(&u);
    lat_device_close(dev);
    lat_device_end();
    return 0;
}
