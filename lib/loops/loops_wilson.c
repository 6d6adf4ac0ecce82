/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_wilson.c: all Wilson loops of a configuration. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/unitary.h"
#include "loops_internal.h"

/* Of a configuration. step, line: of each level; `sum`: sums of the chunks of all n of a class. */
typedef struct wilson {
    const lat_loops_how *how;
    lat_loops_frame frame;
    lat_loops_chunks chunks;
    lat_slab mine; /* chunks */
    size_t base;   /* the first site of them */
    lat_simd8 *links[LAT_LOOPS_LEVELS * (LAT_MAX_DIMS - 1)];
    const lat_simd8 *step[LAT_LOOPS_LEVELS];
    lat_simd8 *steps[LAT_LOOPS_LEVELS], *line[LAT_LOOPS_LEVELS], *all[LAT_LOOPS_LEVELS];
    double *sum;
    size_t numbers; /* of one n */
} wilson;

static int numbers_of(const lat_loops_how *how) { return how->time * lat_loops_pairs(how); }

/* ---- lines ----------------------------------------------------------------------------------- */

/* The steps of direction d. */
static void make_steps(wilson *s, const int *d)
{
    const lat_loops_lanes *lanes = lat_loops_lanes_here();
    lat_loops_paths p;
    lat_loops_paths_of(d, &p);
    for (int level = 0; level < s->how->levels; level++) {
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
}

/* Lines of n steps from those of n - 1, in a chunk of sites. */
static void lengthen(wilson *s, const int *d, int n, int chunk)
{
    int by[LAT_MAX_DIMS];
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        by[mu] = (n - 1) * d[mu];
    for (int level = 0; level < s->how->levels && n > 1; level++)
        lat_loops_lanes_here()->multiply(&s->frame.own, lat_loops_begin(&s->chunks, chunk),
                                         lat_loops_begin(&s->chunks, chunk + 1), s->line[level],
                                         n == 2 ? s->step[level] : s->line[level], s->step[level],
                                         by);
}

static const lat_simd8 *line_of(const wilson *s, int level, int n)
{
    return n == 1 ? s->step[level] : s->line[level];
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Adds the loops of a chunk to its sums. */
static void count_loops(const wilson *s, const lat_loops_lines *l, int chunk, double *scratch,
                        lat_simd8 *sums, double *to)
{
    const int pairs = lat_loops_pairs(s->how), time = s->how->time, four = lat_loops_four(time);
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
static int loops_of(wilson *s, const int *d, int n)
{
    const lat_loops_frame *f = &s->frame;
    const bool alone = f->comm->size == 1;
    const int levels = s->how->levels;
    lat_loops_lines l = {.base = alone ? 0 : s->base,
                         .levels = levels,
                         .time = s->how->time,
                         .slices = f->slices,
                         .around = s->how->window ? NULL : f->around,
                         .extended = lat_loops_extended(f->slices, s->how->time)};
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
    const size_t vectors = (size_t)(lat_loops_pairs(s->how) * lat_loops_four(s->how->time));
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
                        s->sum + (size_t)(n - 1) * s->numbers + (size_t)(c * numbers_of(s->how)));
        }
        LAT_FREE(scratch, sums);
    }
    return lat_agree(f->comm, bad ? -1 : 0);
}

/* ---- means ----------------------------------------------------------------------------------- */

/* Adds the chunks up, in their order, and divides by the number of loops. */
static void means(const wilson *s, int n, int directions, double *w)
{
    const lat_loops_how *how = s->how;
    const int numbers = numbers_of(how), pairs = lat_loops_pairs(how);
    const double *sum = s->sum + (size_t)(n - 1) * s->numbers;
    for (int i = 0; i < numbers; i++) {
        const int time = i / pairs + 1,
                  times = how->window ? how->last - how->first + 1 - time : s->frame.slices;
        w[i] = 0;
        for (int c = 0; c < s->chunks.count; c++)
            w[i] += sum[c * numbers + i];
        w[i] /= (double)s->frame.sites * directions * s->frame.n * times;
    }
    int pair = 0;
    for (int i = 0; i < how->levels; i++)
        for (int j = i; j < how->levels; j++, pair++)
            for (int t = 0; t < how->time && j > i; t++)
                w[t * pairs + pair] /= 2; /* i and j at either end */
}

/* All n of class c, `count` of them, to w. */
static int class_of(wilson *s, int c, int count, double *w)
{
    int d[LAT_LOOPS_DIRECTIONS][LAT_MAX_DIMS];
    const int directions = lat_loops_directions(s->how->vector[c], s->frame.axes, d);
    const size_t numbers = (size_t)count * s->numbers;
    s->sum = lat_alloc_zero(numbers, sizeof *s->sum, "loops");
    int rc = lat_agree(s->frame.comm, s->sum ? 0 : -1);
    for (int i = 0; i < directions && rc == 0; i++) {
        make_steps(s, d[i]);
        for (int n = 1; n <= count && rc == 0; n++)
            rc = loops_of(s, d[i], n);
    }
    for (int n = 1; n <= count && rc == 0; n++) {
        rc = s->frame.comm->sum(s->frame.comm, s->sum + (size_t)(n - 1) * s->numbers,
                                (int)s->numbers);
        if (rc == 0)
            means(s, n, directions, w + (n - 1) * numbers_of(s->how));
    }
    free(s->sum);
    return rc;
}

/* ---- a configuration ------------------------------------------------------------------------- */

static int fields_new(wilson *s)
{
    const size_t sites = lat_loops_begin(&s->chunks, s->mine.first + s->mine.count) - s->base;
    const size_t own = s->frame.sites * lat_timewise_vectors(&s->frame.own),
                 all = sites * lat_timewise_vectors(&s->frame.all);
    bool off_axis = false, lines = false, there = true;
    for (int c = 0; c < s->how->classes; c++) {
        lat_loops_paths p;
        lat_loops_paths_of(s->how->vector[c], &p);
        off_axis = off_axis || p.length > 1;
    }
    lines = s->how->distance > 1;
    for (int level = 0; level < s->how->levels; level++) {
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

static void wilson_free(wilson *s)
{
    for (int i = 0; i < s->how->levels * s->frame.axes; i++)
        free(s->links[i]);
    for (int level = 0; level < s->how->levels; level++)
        LAT_FREE(s->steps[level], s->line[level], s->all[level]);
    lat_loops_frame_close(&s->frame);
}

static int all_classes(wilson *s, double *w)
{
    int rc = 0;
    for (int c = 0; c < s->how->classes && rc == 0; c++) {
        lat_loops_how one = *s->how;
        one.classes = 1;
        memcpy(one.vector[0], s->how->vector[c], sizeof one.vector[0]);
        const int count = lat_loops_separations(&one, NULL);
        rc = count ? class_of(s, c, count, w) : 0;
        w += count * numbers_of(s->how);
    }
    return rc;
}

int lat_loops_wilson(lat_field *u, const lat_loops_how *how, double *w)
{
    wilson s = {.how = how};
    if (lat_links_unitary(u, "loops"))
        return -1;
    int rc = lat_loops_frame_open(&s.frame, u, how, true);
    s.chunks = lat_loops_chunks_of(s.frame.sites);
    s.mine = lat_loops_chunks_own(&s.frame, &s.chunks, s.frame.comm->rank);
    s.base = lat_loops_begin(&s.chunks, s.mine.first);
    s.numbers = (size_t)(s.chunks.count * numbers_of(how));
    if (rc == 0)
        rc = lat_rc(lat_loops_links(&s.frame, u, how, s.links) || fields_new(&s)
                    || all_classes(&s, w));
    wilson_free(&s);
    return rc;
}
