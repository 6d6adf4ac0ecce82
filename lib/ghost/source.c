/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c: sources: waves and points, on the CPU and a GPU. */
#include <math.h>
#include <stdlib.h>
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

static bool zero_momentum(const lat_ghost *m, const int *n)
{
    for (int d = 0; d < m->directions; d++)
        if (n[m->axis[m->direction[d]]] % m->lattice.head.geom.dims[m->direction[d]])
            return false;
    return true;
}

/* What columns are, and the waves of each axis: in memory that the caller frees. */
static double *sources_of(const lat_ghost *m, const lat_ghost_column *column, lat_ghost_sources *c)
{
    const int *dims = m->lattice.head.geom.dims;
    c->constant = 1 / lat_ghost_unit_sites(m);
    c->waves = 0;
    for (int d = 0; d < m->directions; d++) {
        c->first[d] = c->waves;
        c->waves += dims[m->direction[d]];
    }
    for (int k = 0; k < m->columns; k++) {
        const bool zero = column[k].kind != LAT_GHOST_POINT && zero_momentum(m, column[k].n);
        c->colour[k] = column[k].colour;
        c->what[k] = zero ? LAT_GHOST_ZERO : column[k].kind;
        for (int d = 0; d < m->directions; d++) {
            const int extent = dims[m->direction[d]], n = column[k].n[m->axis[m->direction[d]]];
            c->n[k][d] = (n % extent + extent) % extent;
        }
    }
    double *waves = lat_alloc((size_t)c->waves, 2 * sizeof *waves, "a source");
    for (int d = 0; waves && d < m->directions; d++)
        for (int j = 0; j < dims[m->direction[d]]; j++) {
            double *w = waves + 2 * (c->first[d] + j);
            wave(j, dims[m->direction[d]], w, w + 1);
        }
    return waves;
}

#define OPERATOR lat_ghost
#include "source_site.h"

/* Columns that repeat a wave, for another colour, take its value. */
static bool same_wave(const lat_ghost *m, const lat_ghost_sources *c, int j, int k)
{
    return c->what[j] == c->what[k]
           && !memcmp(c->n[j], c->n[k], (size_t)m->directions * sizeof *c->n[j]);
}

static void make_source(const lat_ghost *m, double *b, const lat_ghost_sources *c,
                        const double *waves)
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
                if (k == 0 || !same_wave(m, c, k - 1, k))
                    value = source_at(m, c, waves, m->lattice.head.geom.dims, x, k);
                to[(k / 8 * m->colours + c->colour[k]) * 8 + k % 8] = value;
            }
        }
    }
}

int lat_ghost_source(lat_ghost *m, double *b, const lat_ghost_column *column)
{
    lat_ghost_sources c;
    double *waves = sources_of(m, column, &c);
    int rc = waves ? 0 : -1;
    if (rc == 0 && m->gpu)
        rc = lat_ghost_gpu_source(m->gpu, b, &c, waves);
    else if (rc == 0)
        make_source(m, b, &c, waves);
    free(waves);
    return rc;
}
