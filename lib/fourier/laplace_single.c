/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_single.c: the inverse of the lattice Laplacian by FFTW in single precision.
 *
 * Planes of the first two axes are transformed in place, then lines along the third and the fourth
 * one. Lines, those of neighbouring sites together, are copied for that: where they lie, in strides
 * of powers of 2, they would share few places of the cache. On the last axis each line is divided
 * by the eigenvalues and transformed back at once. v . L^-1 v is a sum over momenta (Parseval),
 * taken on the way. */
#include "laplace_single.h"

#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

enum { SIDE_BY_SIDE = 16 }; /* lines at a time, at most */

const int lat_laplace_single_built = 1;

/* Lines along an axis. */
typedef struct lines {
    size_t extent, stride; /* sites from one to the next of a line */
    size_t side_by_side;   /* lines at a time: a divisor of stride */
    fftwf_plan there, back;
} lines;

struct lat_laplace_single {
    size_t reals, slice;    /* sites across the last axis */
    size_t plane;           /* sites of the axes before the third one and the last one */
    fftwf_plan there, back; /* of a plane; NULL: it is one site */
    lines middle, last;     /* middle: extent 0 without a third axis before the last one */
    float *factor;          /* 1 / (eigenvalue V): [slice / side by side][extent][side by side] */
};

/* In place; `sample` says how the numbers are aligned. */
static fftwf_plan plan(int rank, const int *slowest_first, size_t pairs, float *sample, int sign)
{
    const int n = (int)pairs;
    fftwf_complex *v = (fftwf_complex *)sample;
    return fftwf_plan_many_dft(rank, slowest_first, n, v, NULL, n, 1, v, NULL, n, 1, sign,
                               FFTW_ESTIMATE);
}

static size_t line_reals(const lat_laplace_single *l, const lines *s)
{
    return s->extent * s->side_by_side * l->reals;
}

/* Along the axis mu. */
static lines lines_along(const lat_geometry *geom, int mu)
{
    lines s = {.extent = (size_t)geom->dims[mu], .stride = 1};
    for (int i = 0; i < mu; i++)
        s.stride *= (size_t)geom->dims[i];
    for (s.side_by_side = SIDE_BY_SIDE; s.stride % s.side_by_side;)
        s.side_by_side /= 2;
    return s;
}

static bool plan_lines(const lat_laplace_single *l, lines *s, float *sample)
{
    const int extent = (int)s->extent;
    const size_t pairs = s->side_by_side * l->reals / 2;
    s->there = plan(1, &extent, pairs, sample, FFTW_FORWARD);
    s->back = plan(1, &extent, pairs, sample, FFTW_BACKWARD);
    return s->there && s->back;
}

static int make_plans(lat_laplace_single *l, const lat_geometry *geom)
{
    const int flat = geom->nd - 1 < 2 ? geom->nd - 1 : 2;
    int n[2];
    for (int i = 0; i < flat; i++) {
        n[i] = geom->dims[flat - 1 - i];
        l->plane *= (size_t)geom->dims[i];
    }
    l->last = lines_along(geom, geom->nd - 1);
    if (geom->nd == 4)
        l->middle = lines_along(geom, 2);
    size_t most = l->plane * l->reals;
    most = most > line_reals(l, &l->last) ? most : line_reals(l, &l->last);
    most = most > line_reals(l, &l->middle) ? most : line_reals(l, &l->middle);
    float *sample = lat_alloc(most, sizeof *sample, "a Fourier transform");
    if (!sample)
        return -1;
    bool good = plan_lines(l, &l->last, sample)
                && (geom->nd < 4 || plan_lines(l, &l->middle, sample));
    if (good && flat > 0) {
        l->there = plan(flat, n, l->reals / 2, sample, FFTW_FORWARD);
        l->back = plan(flat, n, l->reals / 2, sample, FFTW_BACKWARD);
        good = l->there && l->back;
    }
    free(sample);
    return good ? 0 : lat_fail("out of memory: a Fourier transform of %zu sites", l->slice);
}

static double eigenvalue(const lat_geometry *geom, const double *weight, size_t momentum)
{
    double sum = 0;
    for (int mu = 0; mu < geom->nd; mu++) {
        const size_t extent = (size_t)geom->dims[mu], k = momentum % extent;
        const double s = 2 * sin(M_PI * (double)k / (double)extent);
        sum += weight[mu] * s * s;
        momentum /= extent;
    }
    return sum;
}

static int make_factors(lat_laplace_single *l, const lat_geometry *geom, const double *weight)
{
    const size_t extent = l->last.extent, sites = l->slice * extent, wide = l->last.side_by_side;
    l->factor = lat_alloc(sites, sizeof *l->factor, "a Laplacian");
    if (!l->factor)
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < l->slice; i++)
        for (size_t t = 0; t < extent; t++) {
            const double e = i + t == 0 ? 0 : eigenvalue(geom, weight, i + t * l->slice);
            l->factor[(i / wide * extent + t) * wide + i % wide] =
                e > 0 ? (float)(1 / (e * (double)sites)) : 0;
        }
    return 0;
}

lat_laplace_single *lat_laplace_single_new(const lat_geometry *geom, const double *weight,
                                           int reals)
{
    lat_laplace_single *l = calloc(1, sizeof *l);
    if (!l) {
        lat_fail("out of memory: a Laplacian");
        return NULL;
    }
    l->reals = (size_t)reals;
    l->plane = 1;
    l->slice = lat_volume(geom) / (size_t)geom->dims[geom->nd - 1];
    if (make_plans(l, geom) || make_factors(l, geom, weight)) {
        lat_laplace_single_free(l);
        return NULL;
    }
    return l;
}

void lat_laplace_single_free(lat_laplace_single *l)
{
    if (!l)
        return;
    const fftwf_plan plans[] = {l->there,       l->back,       l->middle.there,
                                l->middle.back, l->last.there, l->last.back};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (plans[i])
            fftwf_destroy_plan(plans[i]);
    free(l->factor);
    free(l);
}

/* Lines that begin at v, from there to `line`, or back. */
static void copy_lines(const lat_laplace_single *l, const lines *s, float *v, float *line,
                       bool back)
{
    const size_t row = s->side_by_side * l->reals, stride = s->stride * l->reals;
    for (size_t t = 0; t < s->extent; t++)
        memcpy(back ? v + t * stride : line + t * row, back ? line + t * row : v + t * stride,
               row * sizeof *v);
}

static void transform_middle(const lat_laplace_single *l, bool back, float *v, float *line)
{
    const lines *s = &l->middle;
    const size_t row = s->side_by_side * l->reals;
    for (size_t i = 0; i < s->stride / s->side_by_side; i++) {
        copy_lines(l, s, v + i * row, line, false);
        fftwf_execute_dft(back ? s->back : s->there, (fftwf_complex *)line, (fftwf_complex *)line);
        copy_lines(l, s, v + i * row, line, true);
    }
}

/* A slice. */
static void transform_slice(const lat_laplace_single *l, bool back, float *v, float *line)
{
    if (l->middle.extent && back)
        transform_middle(l, back, v, line);
    for (size_t i = 0; i < l->slice / l->plane && l->there; i++) {
        fftwf_complex *at = (fftwf_complex *)(v + i * l->plane * l->reals);
        fftwf_execute_dft(back ? l->back : l->there, at, at);
    }
    if (l->middle.extent && !back)
        transform_middle(l, back, v, line);
}

/* The lines of group number `group` along the last axis. Returns their part of the dot product. */
static double invert_lines(const lat_laplace_single *l, size_t group, float *v, float *line)
{
    const lines *s = &l->last;
    const size_t sites = s->extent * s->side_by_side;
    const float *factor = l->factor + group * sites;
    double dot = 0;
    v += group * s->side_by_side * l->reals;
    copy_lines(l, s, v, line, false);
    fftwf_execute_dft(s->there, (fftwf_complex *)line, (fftwf_complex *)line);
    for (size_t i = 0; i < sites; i++) {
        float *at = line + i * l->reals, square = 0;
        for (size_t k = 0; k < l->reals; k++) {
            square += at[k] * at[k];
            at[k] *= factor[i];
        }
        dot += (double)(square * factor[i]);
    }
    fftwf_execute_dft(s->back, (fftwf_complex *)line, (fftwf_complex *)line);
    copy_lines(l, s, v, line, true);
    return dot;
}

int lat_laplace_single_invert(const lat_laplace_single *l, float *v, double *dot)
{
    const size_t groups = l->slice / l->last.side_by_side, slice = l->slice * l->reals,
                 most = line_reals(l, &l->middle) > line_reals(l, &l->last)
                            ? line_reals(l, &l->middle)
                            : line_reals(l, &l->last);
    double *part = lat_alloc(groups, sizeof *part, "sums of a Fourier transform");
    bool failed = !part;
#pragma omp parallel if (part)
    {
        float *line = part ? lat_alloc(most, sizeof *line, "a Fourier transform") : NULL;
#pragma omp for schedule(static)
        for (size_t t = 0; t < l->last.extent; t++)
            if (line)
                transform_slice(l, false, v + t * slice, line);
#pragma omp for schedule(static)
        for (size_t i = 0; i < groups; i++)
            if (line)
                part[i] = invert_lines(l, i, v, line);
#pragma omp for schedule(static)
        for (size_t t = 0; t < l->last.extent; t++)
            if (line)
                transform_slice(l, true, v + t * slice, line);
        if (!line) {
#pragma omp atomic write
            failed = true;
        }
        free(line);
    }
    *dot = 0;
    for (size_t i = 0; i < groups && !failed; i++)
        *dot += part[i];
    free(part);
    return failed ? -1 : 0;
}
