/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_text.h: the inverse of the lattice Laplacian by FFTW (template; laplace.c and
 * laplace_single.c expand it): REAL is double or float, SIDE_BY_SIDE says how many neighbouring
 * lines are transformed at a time, at most; FFT(x) and NAME(x) give names.
 *
 * L is real and even, so two real fields are one complex field, and the reals of a site are taken
 * as they lie. A block is what is transformed in a slice across the last axis: planes of the first
 * two axes in place, lines of the third one; a small block of many fields as a whole. Along the
 * last axis a line is transformed, divided by the eigenvalues of L, transformed back. Lines are
 * copied for that: where they lie, in strides of powers of 2, they would share few places of the
 * cache. Ranks exchange parts of their slices, so that each has whole lines of some sites along the
 * last axis. All transforms are the same whoever does them. */
#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

typedef FFT(plan) fft_plan;

enum { SMALL = 1 << 20 }; /* bytes of a block that stay in a cache */

/* Lines along an axis, or planes. */
typedef struct lines {
    size_t extent, stride; /* sites from one to the next of a line */
    size_t wide;           /* lines at a time: a divisor of stride */
    fft_plan there, back;  /* NULL: nothing is transformed */
} lines;

struct NAME(laplace) {
    lat_geometry geom;
    const lat_comm *comm;
    size_t reals;
    int inner;            /* axes that are transformed in a slice */
    bool last;            /* the last axis is part of L */
    size_t block, blocks; /* sites that are transformed together; of them in a slice */
    lat_slab slab;
    double *eigenvalue[LAT_MAX_DIMS]; /* w_mu 4 sin^2(pi k / extent) */
    size_t plane;                     /* sites of one */
    lines planes, middle, ends;       /* ends: along the last axis */
    size_t line;                      /* reals of the longest lines */
    REAL *lines, *buffer;             /* several ranks: whole lines; what goes to one rank */
};

/* ---- plans ----------------------------------------------------------------------------------- */

static int make_eigenvalues(NAME(laplace) * l, const double *weight)
{
    for (int mu = 0; mu < l->geom.nd; mu++) {
        const int extent = l->geom.dims[mu];
        if (!(l->eigenvalue[mu] = lat_alloc((size_t)extent, sizeof(double), "a Laplacian")))
            return -1;
        for (int k = 0; k < extent; k++) {
            const double s = 2 * sin(M_PI * k / extent);
            l->eigenvalue[mu][k] = weight[mu] * s * s;
        }
    }
    return 0;
}

/* Both ways, in place, `wide` fields of l->reals side by side; `sample` says how the numbers are
 * aligned. */
static bool plan(const NAME(laplace) * l, lines *s, int rank, const int *slowest_first,
                 REAL *sample)
{
    const int n = (int)(s->wide * l->reals / 2);
    FFT(complex) *v = (FFT(complex) *)sample;
    s->there = FFT(plan_many_dft)(rank, slowest_first, n, v, NULL, n, 1, v, NULL, n, 1,
                                  FFTW_FORWARD, FFTW_ESTIMATE);
    s->back = FFT(plan_many_dft)(rank, slowest_first, n, v, NULL, n, 1, v, NULL, n, 1,
                                 FFTW_BACKWARD, FFTW_ESTIMATE);
    return s->there && s->back;
}

/* Along the axis mu. */
static void lines_along(NAME(laplace) * l, lines *s, int mu)
{
    s->extent = (size_t)l->geom.dims[mu];
    s->stride = 1;
    for (int i = 0; i < mu; i++)
        s->stride *= (size_t)l->geom.dims[i];
    for (s->wide = SIDE_BY_SIDE; s->stride % s->wide;)
        s->wide /= 2;
    if (s->extent * s->wide * l->reals > l->line)
        l->line = s->extent * s->wide * l->reals;
}

static int make_plans(NAME(laplace) * l)
{
    const bool whole = SIDE_BY_SIDE == 1 && l->block * l->reals * sizeof(REAL) <= SMALL;
    const int nd = l->geom.nd, flat = l->inner < 2 || whole ? l->inner : 2,
              extent = l->geom.dims[nd - 1], third = nd > 2 ? l->geom.dims[2] : 1;
    int n[3] = {1, 1, 1};
    l->plane = 1;
    for (int i = 0; i < flat; i++) {
        n[i] = l->geom.dims[flat - 1 - i];
        l->plane *= (size_t)l->geom.dims[i];
    }
    l->planes.wide = 1;
    lines_along(l, &l->ends, nd - 1);
    if (l->inner > flat)
        lines_along(l, &l->middle, 2);
    const size_t plane = l->plane * l->reals;
    REAL *sample = lat_alloc(plane > l->line ? plane : l->line, sizeof *sample,
                             "a Fourier transform");
    if (!sample)
        return -1;
    const bool good = (flat == 0 || plan(l, &l->planes, flat, n, sample))
                      && (l->inner == flat || plan(l, &l->middle, 1, &third, sample))
                      && (!l->last || plan(l, &l->ends, 1, &extent, sample));
    free(sample);
    return good ? 0 : lat_fail("out of memory: a Fourier transform of %zu sites", l->block);
}

/* The sites of a slice whose lines a rank has. */
static lat_slab share(const NAME(laplace) * l, int rank)
{
    return lat_slab_of(l->comm, rank, (int)(l->block * l->blocks));
}

static int make_lines(NAME(laplace) * l)
{
    if (l->comm->size == 1 || !l->last)
        return 0;
    const size_t slice = l->block * l->blocks, ranks = (size_t)l->comm->size;
    const size_t sites = (slice + ranks - 1) / ranks,
                 slices = ((size_t)l->geom.dims[l->geom.nd - 1] + ranks - 1) / ranks;
    l->lines = lat_alloc((size_t)l->geom.dims[l->geom.nd - 1] * sites, l->reals * sizeof(REAL),
                         "lines of a Fourier transform");
    l->buffer = lat_alloc(sites * slices, l->reals * sizeof(REAL), "lines of a Fourier transform");
    return l->lines && l->buffer ? 0 : -1;
}

NAME(laplace)
*NAME(laplace_new)(const lat_geometry *geom, const double *weight, int reals, const lat_comm *comm)
{
    const int nd = geom->nd;
    NAME(laplace) *l = lat_alloc_zero(1, sizeof *l, "a Laplacian");
    if (!l)
        return NULL;
    l->geom = *geom;
    l->comm = comm ? comm : &lat_comm_self;
    l->reals = (size_t)reals;
    l->last = weight[nd - 1] > 0;
    l->inner = nd > 1 && weight[nd - 1] > 0 && !(weight[nd - 2] > 0) ? nd - 2 : nd - 1;
    l->block = l->blocks = 1;
    for (int mu = 0; mu < nd - 1; mu++)
        if (mu < l->inner)
            l->block *= (size_t)geom->dims[mu];
        else
            l->blocks *= (size_t)geom->dims[mu];
    l->slab = lat_slab_of(l->comm, l->comm->rank, geom->dims[nd - 1]);
    const int made = make_eigenvalues(l, weight) || make_plans(l) || make_lines(l) ? -1 : 0;
    if (lat_agree(l->comm, made)) {
        NAME(laplace_free)(l);
        return NULL;
    }
    return l;
}

void NAME(laplace_free)(NAME(laplace) * l)
{
    if (!l)
        return;
    const fft_plan plans[] = {l->planes.there, l->planes.back, l->middle.there,
                              l->middle.back,  l->ends.there,  l->ends.back};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (plans[i])
            FFT(destroy_plan)(plans[i]);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        free(l->eigenvalue[mu]);
    free(l->lines);
    free(l->buffer);
    free(l);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void transform(fft_plan p, REAL *v)
{
    FFT(execute_dft)(p, (FFT(complex) *)v, (FFT(complex) *)v);
}

/* The `row` reals at v of each site of lines, `stride` reals apart, to `line`, or back. */
static void copy_lines(const lines *s, size_t row, size_t stride, REAL *v, REAL *line, bool back)
{
    for (size_t t = 0; t < s->extent; t++)
        memcpy(back ? v + t * stride : line + t * row, back ? line + t * row : v + t * stride,
               row * sizeof *v);
}

static void transform_middle(const NAME(laplace) * l, bool back, REAL *v, REAL *line)
{
    const lines *s = &l->middle;
    const size_t row = s->wide * l->reals, stride = s->stride * l->reals;
    for (size_t i = 0; i < s->stride / s->wide; i++) {
        copy_lines(s, row, stride, v + i * row, line, false);
        transform(back ? s->back : s->there, line);
        copy_lines(s, row, stride, v + i * row, line, true);
    }
}

static void transform_block(const NAME(laplace) * l, bool back, REAL *v, REAL *line)
{
    if (back && l->middle.there)
        transform_middle(l, back, v, line);
    for (size_t i = 0; i < l->block && l->planes.there; i += l->plane)
        transform(back ? l->planes.back : l->planes.there, v + i * l->reals);
    if (!back && l->middle.there)
        transform_middle(l, back, v, line);
}

/* The eigenvalue of L for momentum number k of a block. */
static double inner_eigenvalue(const NAME(laplace) * l, size_t k)
{
    double sum = 0;
    k %= l->block;
    for (int mu = 0; mu < l->inner; mu++) {
        const size_t extent = (size_t)l->geom.dims[mu];
        sum += l->eigenvalue[mu][k % extent];
        k /= extent;
    }
    return sum;
}

static void scale(REAL *v, size_t n, double eigenvalue, double sites)
{
    const REAL f = eigenvalue > 0 ? (REAL)(1 / (eigenvalue * sites)) : 0;
    for (size_t k = 0; k < n; k++)
        v[k] *= f;
}

/* ---- the last axis --------------------------------------------------------------------------- */

/* The lines of `wide` sites of a slice from number i on, whose numbers are `stride` apart. */
static void invert_line(const NAME(laplace) * l, size_t i, size_t wide, REAL *v, size_t stride,
                        REAL *line)
{
    const double *along = l->eigenvalue[l->geom.nd - 1],
                 sites = (double)l->block * (double)l->ends.extent;
    copy_lines(&l->ends, wide * l->reals, stride, v, line, false);
    transform(l->ends.there, line);
    for (size_t k = 0; k < wide; k++) {
        const double inner = inner_eigenvalue(l, i + k);
        for (size_t t = 0; t < l->ends.extent; t++)
            scale(line + (t * wide + k) * l->reals, l->reals, inner + along[t], sites);
    }
    transform(l->ends.back, line);
    copy_lines(&l->ends, wide * l->reals, stride, v, line, true);
}

/* Copies the sites of `part` in each own slice from v to a buffer, or back. */
static void pack(const NAME(laplace) * l, lat_slab part, REAL *v, REAL *buffer, bool back)
{
    const size_t slice = l->block * l->blocks * l->reals, n = (size_t)part.count * l->reals;
#pragma omp parallel for schedule(static)
    for (int t = 0; t < l->slab.count; t++) {
        REAL *there = v + (size_t)t * slice + (size_t)part.first * l->reals,
             *here = buffer + (size_t)t * n;
        memcpy(back ? there : here, back ? here : there, n * sizeof *v);
    }
}

/* Between v, slices, and l->lines: what each pair of ranks has for the other, in rounds in which
 * every rank has one partner. */
static int exchange(const NAME(laplace) * l, REAL *v, bool back)
{
    const lat_comm *comm = l->comm;
    const size_t mine = (size_t)share(l, comm->rank).count * l->reals;
    int rc = 0;
    for (int round = 0; round < comm->size && rc == 0; round++) {
        const int other = (round - comm->rank + comm->size) % comm->size;
        const lat_slab theirs = lat_slab_of(comm, other, l->geom.dims[l->geom.nd - 1]),
                       part = share(l, other);
        REAL *all = l->lines + (size_t)theirs.first * mine;
        const size_t in_slices = (size_t)l->slab.count * (size_t)part.count * l->reals,
                     in_lines = (size_t)theirs.count * mine;
        if (other == comm->rank) {
            pack(l, part, v, all, back);
            continue;
        }
        REAL *out = back ? all : l->buffer, *in = back ? l->buffer : all;
        const size_t out_bytes = (back ? in_lines : in_slices) * sizeof *v,
                     in_bytes = (back ? in_slices : in_lines) * sizeof *v;
        if (!back)
            pack(l, part, v, l->buffer, false);
        if (comm->rank < other)
            rc = comm->send(comm, other, out, out_bytes)
                 || comm->receive(comm, other, in, in_bytes);
        else
            rc = comm->receive(comm, other, in, in_bytes)
                 || comm->send(comm, other, out, out_bytes);
        if (back)
            pack(l, part, v, l->buffer, true);
    }
    return rc ? -1 : 0;
}

/* ---- the inverse ----------------------------------------------------------------------------- */

typedef enum { THERE, ENDS, DIVIDE, BACK } stage;

/* Item number i of a stage: a block, or lines of v[last axis][sites], the first being of site
 * number `first` of a slice. */
static void work(const NAME(laplace) * l, stage what, size_t i, size_t first, size_t sites, REAL *v,
                 REAL *line)
{
    const size_t block = l->block * l->reals, wide = l->ends.wide;
    if (what == ENDS)
        invert_line(l, first + i * wide, wide, v + i * wide * l->reals, sites * l->reals, line);
    else if (what != DIVIDE)
        transform_block(l, what == BACK, v + i * block, line);
    else
        for (size_t k = 0; k < l->block; k++)
            scale(v + i * block + k * l->reals, l->reals, inner_eigenvalue(l, k), (double)l->block);
}

static int each(const NAME(laplace) * l, stage what, size_t n, size_t first, size_t sites, REAL *v)
{
    bool failed = false;
#pragma omp parallel
    {
        REAL *line = lat_alloc(l->line, sizeof *line, "a Fourier transform");
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++)
            if (line)
                work(l, what, i, first, sites, v, line);
        if (!line) {
#pragma omp atomic write
            failed = true;
        }
        free(line);
    }
    return failed ? -1 : 0;
}

static int invert_ends(const NAME(laplace) * l, REAL *v)
{
    const size_t slice = l->block * l->blocks;
    if (l->comm->size == 1)
        return each(l, ENDS, slice / l->ends.wide, 0, slice, v);
    const lat_slab own = share(l, l->comm->rank);
    const size_t sites = (size_t)own.count;
    return lat_rc(exchange(l, v, false)
                  || lat_agree(l->comm, each(l, ENDS, sites, (size_t)own.first, sites, l->lines))
                  || exchange(l, v, true));
}

int NAME(laplace_invert)(const NAME(laplace) * l, REAL *v)
{
    const size_t n = l->blocks * (size_t)l->slab.count;
    return lat_rc(lat_agree(l->comm, each(l, THERE, n, 0, 0, v))
                  || (l->last ? invert_ends(l, v) : lat_agree(l->comm, each(l, DIVIDE, n, 0, 0, v)))
                  || lat_agree(l->comm, each(l, BACK, n, 0, 0, v)));
}
