/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c: sources: waves and points, on the CPU and a GPU. */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "ghost_internal.h"

/* cos and sin of 2 pi j / extent, exact where they are 0 and 1. */
static void wave(int j, int extent, double *cosine, double *sine)
{
    const double angle = 2 * M_PI * (((j % extent) + extent) % extent) / extent;
    const int quarter = 4 * (((j % extent) + extent) % extent);
    *cosine = quarter == extent || quarter == 3 * extent ? 0 : cos(angle);
    *sine = quarter == 0 || quarter == 2 * extent ? 0 : sin(angle);
}

/* exp(ikx), the product over axes. */
static void plane_wave(const lat_ghost *m, const int *n, const int *x, double value[2])
{
    value[0] = 1;
    value[1] = 0;
    for (int d = 0; d < m->directions; d++) {
        const int i = m->direction[d], mu = m->axis[i];
        double c, s;
        wave((int)((long)n[mu] * x[i] % m->lattice.head.geom.dims[i]), m->lattice.head.geom.dims[i],
             &c, &s);
        const double re = value[0] * c - value[1] * s;
        value[1] = value[0] * s + value[1] * c;
        value[0] = re;
    }
}

static bool zero_momentum(const lat_ghost *m, const int *n)
{
    for (int d = 0; d < m->directions; d++)
        if (n[m->axis[m->direction[d]]] % m->lattice.head.geom.dims[m->direction[d]])
            return false;
    return true;
}

static double source_value(const lat_ghost *m, const lat_ghost_column *s, const int *x)
{
    double v[2];
    switch (s->kind) {
    case LAT_GHOST_ZERO: return 0;
    case LAT_GHOST_COS:
    case LAT_GHOST_SIN:
        plane_wave(m, s->n, x, v);
        return zero_momentum(m, s->n) ? 0 : v[s->kind == LAT_GHOST_SIN];
    case LAT_GHOST_POINT:
        for (int d = 0; d < m->directions; d++) {
            const int i = m->direction[d];
            if (x[i] != s->n[m->axis[i]])
                return -1 / lat_ghost_unit_sites(m);
        }
        return 1 - 1 / lat_ghost_unit_sites(m);
    }
    return 0;
}

/* The columns that repeat a wave, for another colour, take its value. */
static bool same_wave(const lat_ghost_column *a, const lat_ghost_column *b)
{
    return a->kind == b->kind && !memcmp(a->n, b->n, sizeof a->n);
}

static void make_source(const lat_ghost *m, double *b, const lat_ghost_column *column)
{
    const size_t reals = lat_ghost_reals(m), row = (size_t)m->lattice.head.geom.dims[0];
    const int first = lat_field_slab(&m->lattice).first, last = m->lattice.head.geom.nd - 1;
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < m->sites; from += row) {
        lat_iterator at;
        for (lat_iterator_start(&at, &m->lattice, from); at.site < from + row;
             lat_iterator_next(&at)) {
            double *to = b + at.site * reals, value = 0;
            int x[LAT_MAX_DIMS];
            memcpy(x, at.x, sizeof x);
            x[last] += first;
            memset(to, 0, reals * sizeof *to);
            for (int k = 0; k < m->columns; k++) {
                if (k == 0 || !same_wave(&column[k - 1], &column[k]))
                    value = source_value(m, &column[k], x);
                to[(k / 8 * m->colours + column[k].colour) * 8 + k % 8] = value;
            }
        }
    }
}

/* On a GPU: what columns are, and the waves of each axis. */
static int gpu_source(lat_ghost *m, double *b, const lat_ghost_column *column)
{
    static const lat_ghost_what whats[] = {[LAT_GHOST_ZERO] = LAT_GHOST_NONE,
                                           [LAT_GHOST_COS] = LAT_GHOST_WAVE_COS,
                                           [LAT_GHOST_SIN] = LAT_GHOST_WAVE_SIN,
                                           [LAT_GHOST_POINT] = LAT_GHOST_AT};
    const int *dims = m->lattice.head.geom.dims;
    lat_ghost_sources c = {.constant = 1 / lat_ghost_unit_sites(m)};
    size_t waves = 0;
    for (int d = 0; d < m->directions; d++) {
        c.first[d] = (int)waves;
        waves += (size_t)dims[m->direction[d]];
    }
    for (int k = 0; k < m->columns; k++) {
        const bool zero = column[k].kind != LAT_GHOST_POINT && zero_momentum(m, column[k].n);
        c.colour[k] = column[k].colour;
        c.what[k] = zero ? LAT_GHOST_NONE : whats[column[k].kind];
        for (int d = 0; d < m->directions; d++) {
            const int extent = dims[m->direction[d]], n = column[k].n[m->axis[m->direction[d]]];
            c.n[k][d] = (n % extent + extent) % extent;
        }
    }
    double *wave_of = lat_alloc(2 * waves, sizeof *wave_of, "a source");
    if (!wave_of)
        return -1;
    for (int d = 0; d < m->directions; d++)
        for (int j = 0; j < dims[m->direction[d]]; j++) {
            double *w = wave_of + 2 * (c.first[d] + j);
            wave(j, dims[m->direction[d]], w, w + 1);
        }
    const int rc = lat_ghost_gpu_source(m->gpu, b, &c, wave_of, waves);
    free(wave_of);
    return rc;
}

int lat_ghost_source(lat_ghost *m, double *b, const lat_ghost_column *column)
{
    if (m->gpu)
        return gpu_source(m, b, column);
    make_source(m, b, column);
    return 0;
}
