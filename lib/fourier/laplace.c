/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace.c: the inverse of the lattice Laplacian by FFTW.
 *
 * L is real and even, so two real fields are one complex field, and the reals of a site are taken
 * as they lie. The axes before the last one are transformed slice by slice, in place. Along the
 * last one a line is copied, transformed, divided by the eigenvalues of L, transformed back.
 * Ranks exchange parts of their slices for that, so that each has whole lines of some sites. All
 * transforms are the same whoever does them. */
#include "laplace.h"

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

const int lat_laplace_built = 1;

struct lat_laplace {
    lat_geometry geom;
    const lat_comm *comm;
    size_t reals;
    int inner;            /* axes that are transformed in a slice */
    bool last;            /* the last axis is part of L */
    size_t block, blocks; /* sites that are transformed together; of them in a slice */
    lat_slab slab;
    double *eigenvalue[LAT_MAX_DIMS]; /* w_mu 4 sin^2(pi k / extent) */
    fftw_plan there, back;            /* of a block */
    fftw_plan line, line_back;
    double *lines, *buffer; /* several ranks: whole lines; what goes to one rank */
};

static int make_eigenvalues(lat_laplace *l, const double *weight)
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

/* In place; `sample` says how the numbers are aligned. */
static fftw_plan plan(const lat_laplace *l, int rank, const int *slowest_first, double *sample,
                      int sign)
{
    const int pairs = (int)(l->reals / 2);
    fftw_complex *v = (fftw_complex *)sample;
    return fftw_plan_many_dft(rank, slowest_first, pairs, v, NULL, pairs, 1, v, NULL, pairs, 1,
                              sign, FFTW_ESTIMATE);
}

static int make_plans(lat_laplace *l)
{
    const int nd = l->geom.nd, extent = l->geom.dims[nd - 1];
    const size_t most = l->block > (size_t)extent ? l->block : (size_t)extent;
    double *sample = lat_alloc(most * l->reals, sizeof *sample, "a Fourier transform");
    int n[LAT_MAX_DIMS];
    if (!sample)
        return -1;
    for (int i = 0; i < l->inner; i++)
        n[i] = l->geom.dims[l->inner - 1 - i];
    bool good = true;
    if (l->inner > 0) {
        l->there = plan(l, l->inner, n, sample, FFTW_FORWARD);
        l->back = plan(l, l->inner, n, sample, FFTW_BACKWARD);
        good = l->there && l->back;
    }
    if (l->last) {
        l->line = plan(l, 1, &extent, sample, FFTW_FORWARD);
        l->line_back = plan(l, 1, &extent, sample, FFTW_BACKWARD);
        good = good && l->line && l->line_back;
    }
    free(sample);
    return good ? 0 : lat_fail("out of memory: a Fourier transform of %zu sites", l->block);
}

/* The sites of a slice whose lines a rank has. */
static lat_slab share(const lat_laplace *l, int rank)
{
    return lat_slab_of(l->comm, rank, (int)(l->block * l->blocks));
}

static int make_lines(lat_laplace *l)
{
    if (l->comm->size == 1 || !l->last)
        return 0;
    const size_t slice = l->block * l->blocks, ranks = (size_t)l->comm->size;
    const size_t sites = (slice + ranks - 1) / ranks,
                 slices = ((size_t)l->geom.dims[l->geom.nd - 1] + ranks - 1) / ranks;
    l->lines = lat_alloc((size_t)l->geom.dims[l->geom.nd - 1] * sites, l->reals * sizeof(double),
                         "lines of a Fourier transform");
    l->buffer = lat_alloc(sites * slices, l->reals * sizeof(double),
                          "lines of a Fourier transform");
    return l->lines && l->buffer ? 0 : -1;
}

lat_laplace *lat_laplace_new(const lat_geometry *geom, const double *weight, int reals,
                             const lat_comm *comm)
{
    const int nd = geom->nd;
    lat_laplace *l = calloc(1, sizeof *l);
    if (!l) {
        lat_fail("out of memory: a Laplacian");
        return NULL;
    }
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
        lat_laplace_free(l);
        return NULL;
    }
    return l;
}

void lat_laplace_free(lat_laplace *l)
{
    if (!l)
        return;
    const fftw_plan plans[] = {l->there, l->back, l->line, l->line_back};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (plans[i])
            fftw_destroy_plan(plans[i]);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        free(l->eigenvalue[mu]);
    free(l->lines);
    free(l->buffer);
    free(l);
}

/* The transforms of all blocks of this rank. */
static void transform_blocks(const lat_laplace *l, fftw_plan plan, double *v)
{
    const size_t n = l->blocks * (size_t)l->slab.count;
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < n; b++) {
        fftw_complex *at = (fftw_complex *)(v + b * l->block * l->reals);
        if (l->inner > 0)
            fftw_execute_dft(plan, at, at);
    }
}

/* The eigenvalue of L for momentum number k of a block. */
static double inner_eigenvalue(const lat_laplace *l, size_t k)
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

/* Where nothing is left to be transformed. */
static void divide_blocks(const lat_laplace *l, double *v)
{
    const size_t sites = l->block * l->blocks * (size_t)l->slab.count;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++) {
        const double e = inner_eigenvalue(l, i), f = e > 0 ? 1 / (e * (double)l->block) : 0;
        for (size_t k = 0; k < l->reals; k++)
            v[i * l->reals + k] *= f;
    }
}

/* The line of site i of a slice, whose numbers are `stride` apart. `line` is for it alone. */
static void invert_line(const lat_laplace *l, size_t i, double *v, size_t stride, double *line)
{
    const int extent = l->geom.dims[l->geom.nd - 1];
    const double *along = l->eigenvalue[l->geom.nd - 1], inner = inner_eigenvalue(l, i),
                 sites = (double)l->block * extent;
    for (int t = 0; t < extent; t++)
        memcpy(line + (size_t)t * l->reals, v + (size_t)t * stride, l->reals * sizeof *v);
    fftw_execute_dft(l->line, (fftw_complex *)line, (fftw_complex *)line);
    for (int t = 0; t < extent; t++) {
        const double e = inner + along[t], f = e > 0 ? 1 / (e * sites) : 0;
        for (size_t k = 0; k < l->reals; k++)
            line[(size_t)t * l->reals + k] *= f;
    }
    fftw_execute_dft(l->line_back, (fftw_complex *)line, (fftw_complex *)line);
    for (int t = 0; t < extent; t++)
        memcpy(v + (size_t)t * stride, line + (size_t)t * l->reals, l->reals * sizeof *v);
}

/* The lines of `sites` sites of a slice from number `first` on: v[last axis][sites][reals]. */
static int invert_lines(const lat_laplace *l, size_t first, size_t sites, double *v)
{
    const size_t extent = (size_t)l->geom.dims[l->geom.nd - 1];
    bool failed = false;
#pragma omp parallel
    {
        double *line = lat_alloc(extent * l->reals, sizeof *line, "a Fourier transform");
#pragma omp for schedule(static)
        for (size_t i = 0; i < sites; i++)
            if (line)
                invert_line(l, first + i, v + i * l->reals, sites * l->reals, line);
        if (!line) {
#pragma omp atomic write
            failed = true;
        }
        free(line);
    }
    return failed ? -1 : 0;
}

/* Copies the sites of `part` in each own slice from v to a buffer, or back. */
static void pack(const lat_laplace *l, lat_slab part, double *v, double *buffer, bool back)
{
    const size_t slice = l->block * l->blocks * l->reals, n = (size_t)part.count * l->reals;
#pragma omp parallel for schedule(static)
    for (int t = 0; t < l->slab.count; t++) {
        double *there = v + (size_t)t * slice + (size_t)part.first * l->reals,
               *here = buffer + (size_t)t * n;
        memcpy(back ? there : here, back ? here : there, n * sizeof *v);
    }
}

/* Between v, slices, and l->lines: what each pair of ranks has for the other, in rounds in which
 * every rank has one partner. */
static int exchange(const lat_laplace *l, double *v, bool back)
{
    const lat_comm *comm = l->comm;
    const size_t mine = (size_t)share(l, comm->rank).count * l->reals;
    int rc = 0;
    for (int round = 0; round < comm->size && rc == 0; round++) {
        const int other = (round - comm->rank + comm->size) % comm->size;
        const lat_slab theirs = lat_slab_of(comm, other, l->geom.dims[l->geom.nd - 1]),
                       part = share(l, other);
        double *lines = l->lines + (size_t)theirs.first * mine;
        const size_t in_slices = (size_t)l->slab.count * (size_t)part.count * l->reals,
                     in_lines = (size_t)theirs.count * mine;
        if (other == comm->rank) {
            pack(l, part, v, lines, back);
            continue;
        }
        double *out = back ? lines : l->buffer, *in = back ? l->buffer : lines;
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

static int invert_last_axis(const lat_laplace *l, double *v)
{
    if (l->comm->size == 1)
        return invert_lines(l, 0, l->block * l->blocks, v);
    const lat_slab own = share(l, l->comm->rank);
    return exchange(l, v, false)
                   || lat_agree(l->comm,
                                invert_lines(l, (size_t)own.first, (size_t)own.count, l->lines))
                   || exchange(l, v, true)
               ? -1
               : 0;
}

int lat_laplace_invert(lat_laplace *l, double *v)
{
    transform_blocks(l, l->there, v);
    if (!l->last)
        divide_blocks(l, v);
    else if (invert_last_axis(l, v))
        return -1;
    transform_blocks(l, l->back, v);
    return 0;
}
