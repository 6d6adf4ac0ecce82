/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_cpu.c: lines and loops on the CPU, a chunk of sites a thread; ranks have slices while lines
 * are made, and sites while loops are counted. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "loops_internal.h"
#include "site/sun.h"

/* step, line: of each level; `sum`: sums of the chunks of all n of a class. */
typedef struct cpu {
    lat_loops loops;
    lat_loops_frame frame;
    lat_loops_chunks chunks;
    lat_slab mine; /* chunks */
    size_t base;   /* the first site of them */
    lat_simd8 *links[LAT_LOOPS_LEVELS * (LAT_MAX_DIMS - 1)];
    const lat_simd8 *step[LAT_LOOPS_LEVELS];
    lat_simd8 *steps[LAT_LOOPS_LEVELS], *line[LAT_LOOPS_LEVELS], *all[LAT_LOOPS_LEVELS];
    double *sum;
    size_t numbers; /* of one n */
} cpu;

/* ---- lines ----------------------------------------------------------------------------------- */

static int make_steps(lat_loops *loops, const int *d)
{
    cpu *s = (cpu *)loops;
    const lat_loops_lanes *lanes = lat_loops_lanes_here();
    lat_loops_paths p;
    lat_loops_paths_of(d, &p);
    for (int level = 0; level < s->loops.how->levels; level++) {
        lat_simd8 **links = s->links + level * s->frame.axes, *to = s->steps[level];
        s->step[level] = p.length == 1 ? links[p.step[0][0] - 1] : to;
        if (p.length == 1)
            continue;
#pragma omp parallel for schedule(static) if (s->frame.wide)
        for (int c = 0; c < s->chunks.count; c++)
            lanes->paths(&s->frame.own, lat_loops_begin(&s->chunks, c),
                         lat_loops_begin(&s->chunks, c + 1), to, (const lat_simd8 *const *)links,
                         &p);
    }
    return 0;
}

/* Lines of n steps from those of n - 1, in a chunk of sites. */
static void lengthen(cpu *s, const int *d, int n, int chunk)
{
    int by[LAT_MAX_DIMS];
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        by[mu] = (n - 1) * d[mu];
    for (int level = 0; level < s->loops.how->levels && n > 1; level++)
        lat_loops_lanes_here()->multiply(&s->frame.own, lat_loops_begin(&s->chunks, chunk),
                                         lat_loops_begin(&s->chunks, chunk + 1), s->line[level],
                                         n == 2 ? s->step[level] : s->line[level], s->step[level],
                                         by);
}

static const lat_simd8 *line_of(const cpu *s, int level, int n)
{
    return n == 1 ? s->step[level] : s->line[level];
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Adds the loops of a chunk to its sums. */
static void count_loops(const cpu *s, const lat_loops_lines *l, int chunk, double *scratch,
                        lat_simd8 *sums, double *to)
{
    const int pairs = lat_loops_pairs(s->loops.how), time = s->loops.how->time,
              four = lat_loops_four(time);
    memset(sums, 0, (size_t)(pairs * four) * sizeof *sums);
    lat_loops_lanes_here()->gram(&s->frame.all, lat_loops_begin(&s->chunks, chunk),
                                 lat_loops_begin(&s->chunks, chunk + 1), l, scratch, sums);
    for (int t = 0; t < time; t++)
        for (int pair = 0; pair < pairs; pair++) {
            const lat_simd8 *v = sums + pair * four + t;
            double sum = 0;
            for (int lane = 0; lane < LAT_SIMD8; lane++)
                sum += (*v)[lane];
            to[t * pairs + pair] += sum;
        }
}

/* Loops of n steps. One rank lengthens the lines of a chunk and counts its loops while they are in
 * the cache. */
static int add_loops(lat_loops *loops, const int *d, int n)
{
    cpu *s = (cpu *)loops;
    const lat_loops_frame *f = &s->frame;
    const bool alone = f->comm->size == 1;
    const int levels = s->loops.how->levels;
    lat_loops_lines l = {.base = alone ? 0 : s->base,
                         .levels = levels,
                         .time = s->loops.how->time,
                         .slices = f->slices,
                         .around = s->loops.how->window ? NULL : f->around,
                         .extended = lat_loops_extended(f->slices, s->loops.how->time)};
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        l.by[mu] = n * d[mu];
    for (int level = 0; level < levels; level++)
        l.line[level] = alone ? line_of(s, level, n) : s->all[level];
#pragma omp parallel for schedule(static) if (f->wide && !alone)
    for (int c = 0; c < (alone ? 0 : s->chunks.count); c++)
        lengthen(s, d, n, c);
    for (int level = 0; level < levels && !alone; level++)
        if (lat_loops_gather(f, &s->chunks, line_of(s, level, n), s->all[level]))
            return -1;
    const size_t scratch_reals = (size_t)levels * 2 * (size_t)(f->n * f->n) * l.extended;
    const size_t vectors = (size_t)(lat_loops_pairs(s->loops.how)
                                    * lat_loops_four(s->loops.how->time));
    int bad = 0;
#pragma omp parallel reduction(| : bad) if (f->wide)
    {
        double *scratch = lat_alloc_zero(scratch_reals, sizeof *scratch, "loops");
        lat_simd8 *sums = lat_alloc(vectors, sizeof *sums, "loops");
        bad = !scratch || !sums;
#pragma omp for schedule(static)
        for (int c = s->mine.first; c < s->mine.first + s->mine.count; c++) {
            if (bad)
                continue;
            if (alone)
                lengthen(s, d, n, c);
            count_loops(s, &l, c, scratch, sums,
                        s->sum + (size_t)(n - 1) * s->numbers
                            + (size_t)(c * lat_loops_numbers(s->loops.how)));
        }
        LAT_FREE(scratch, sums);
    }
    return lat_agree(f->comm, bad ? -1 : 0);
}

/* ---- a configuration ------------------------------------------------------------------------- */

static int fields_new(cpu *s)
{
    const size_t sites = lat_loops_begin(&s->chunks, s->mine.first + s->mine.count) - s->base;
    const size_t own = s->frame.sites * lat_timewise_vectors(&s->frame.own),
                 all = sites * lat_timewise_vectors(&s->frame.all);
    const bool off_axis = lat_loops_off_axis(s->loops.how), lines = s->loops.how->distance > 1;
    bool there = true;
    for (int level = 0; level < s->loops.how->levels; level++) {
        if (off_axis)
            s->steps[level] = lat_alloc(own, sizeof(lat_simd8), "lines of links");
        if (lines)
            s->line[level] = lat_alloc(own, sizeof(lat_simd8), "lines of links");
        if (s->frame.comm->size > 1 && sites)
            s->all[level] = lat_alloc_zero(all, sizeof(lat_simd8), "lines of links");
        there = there && (s->steps[level] || !off_axis) && (s->line[level] || !lines)
                && (s->all[level] || s->frame.comm->size == 1 || !sites);
    }
    return lat_agree(s->frame.comm, there ? 0 : -1);
}

static int cpu_open(lat_loops *loops, const lat_field *u)
{
    cpu *s = (cpu *)loops;
    if (lat_loops_frame_open(&s->frame, u, loops->how, true))
        return -1;
    s->chunks = lat_loops_chunks_of(s->frame.sites);
    s->mine = lat_loops_chunks_own(&s->frame, &s->chunks, s->frame.comm->rank);
    s->base = lat_loops_begin(&s->chunks, s->mine.first);
    s->numbers = (size_t)(s->chunks.count * lat_loops_numbers(loops->how));
    return lat_rc(lat_loops_links(&s->frame, u, loops->how, s->links) || fields_new(s));
}

static void cpu_close(lat_loops *loops)
{
    cpu *s = (cpu *)loops;
    for (int i = 0; i < loops->how->levels * loops->axes; i++)
        free(s->links[i]);
    for (int level = 0; level < loops->how->levels; level++)
        LAT_FREE(s->steps[level], s->line[level], s->all[level]);
    free(s->sum);
    lat_loops_frame_close(&s->frame);
}

static int cpu_begin(lat_loops *loops, int count)
{
    cpu *s = (cpu *)loops;
    free(s->sum);
    s->sum = lat_alloc_zero((size_t)count * s->numbers, sizeof *s->sum, "loops");
    return lat_agree(loops->comm, s->sum ? 0 : -1);
}

/* Adds the chunks up, in their order. */
static int cpu_sums(lat_loops *loops, int count, double *sum)
{
    cpu *s = (cpu *)loops;
    const int numbers = lat_loops_numbers(loops->how);
    for (int n = 0; n < count; n++) {
        double *chunks = s->sum + (size_t)n * s->numbers, *to = sum + (size_t)n * (size_t)numbers;
        if (loops->comm->sum(loops->comm, chunks, (int)s->numbers))
            return -1;
        for (int i = 0; i < numbers; i++) {
            to[i] = 0;
            for (int c = 0; c < s->chunks.count; c++)
                to[i] += chunks[c * numbers + i];
        }
    }
    return 0;
}

static int cpu_polyakov(lat_loops *loops, const lat_field *u, double *p)
{
    lat_loops_frame f;
    const int rc = lat_loops_frame_open(&f, u, loops->how, false);
    for (size_t x = 0; x < f.sites && rc == 0; x++)
        lat_sun_trace(f.n, f.around + x * 2 * (size_t)(f.n * f.n), p + 2 * x);
    lat_loops_frame_close(&f);
    return rc;
}

const lat_loops_device lat_loops_cpu = {.size = sizeof(cpu),
                                        .open = cpu_open,
                                        .close = cpu_close,
                                        .begin = cpu_begin,
                                        .steps = make_steps,
                                        .add = add_loops,
                                        .sums = cpu_sums,
                                        .polyakov = cpu_polyakov};
