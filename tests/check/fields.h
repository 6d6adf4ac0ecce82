/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h: random SU(N) links and gauge transformations for the check programs and the benchmarks.
 * All of them are made here.
 *
 *     lat_field u = field_new(LAT_GAUGE, geometry_of("4 4 4 4"), 3, LAT_F64);
 *     fill_near_one(&u, ROUGH, 3);
 *     lat_field g = haar_transform(&u, 5);
 *
 * A matrix depends on the seed and on its number in the lattice (site * nd + direction, or the
 * site) alone: ranks, threads and precisions have the same field. Each call names its seed, so that
 * a failure comes again. What cannot be made ends the program. The caller frees a field by
 * lat_field_free. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/field.h"
#include "lattice/transform.h"
#include "site/sun.h"

/* The epsilon of fill_near_one for rough links: SU(3) plaquettes of 0.72. Thermal ones of beta = 6
 * have 0.59. */
#define ROUGH 0.35

/* Ends the program unless `good`: a condition without which no case can run. */
static inline void need(bool good, const char *what)
{
    if (good)
        return;
    fflush(stdout);
    fprintf(stderr, "Bail out! %s: %s\n", what, lat_error());
    exit(1);
}

/* Extents as in --dims: "4 4 4 4", "8,8". */
static inline lat_geometry geometry_of(const char *dims)
{
    lat_geometry geom;
    need(lat_dims_parse(dims, &geom) == 0, dims);
    return geom;
}

enum { MODES = 5 }; /* columns of a field of modes */

/* A field with all reals of each matrix or spinor stored, which are undefined. */
static inline lat_field field_of_ranks(lat_kind kind, lat_geometry geom, int nc, lat_real real,
                                       const lat_comm *comm)
{
    lat_field f = {.data = NULL};
    lat_header_init(&f.head);
    f.head.kind = kind;
    f.head.geom = geom;
    f.head.nc = nc;
    f.head.real = real;
    f.head.reals = 2 * nc * nc;
    if (kind >= LAT_SPINOR)
        lat_header_make_spinors(&f.head, kind, MODES);
    need(lat_header_check(&f.head, "a field") == 0 && lat_field_alloc(&f, comm) == 0, "a field");
    return f;
}

static inline lat_field field_new(lat_kind kind, lat_geometry geom, int nc, lat_real real)
{
    return field_of_ranks(kind, geom, nc, real, &lat_comm_self);
}

/* The number in the lattice of this rank's matrix i. */
static inline uint64_t matrix_number(const lat_field *f, size_t i)
{
    const size_t each = lat_header_objects(&f->head);
    return lat_field_site(f, i / each) * each + i % each;
}

/* Haar distributed matrices. */
static inline void fill_haar(lat_field *f, uint64_t seed)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_matrices(f); i++) {
        double m[LAT_SUN_REALS];
        lat_sun_haar(f->head.nc, m, seed, matrix_number(f, i), 0, 0);
        lat_field_put(f, i, m);
    }
}

/* `columns` spinors a site on the lattice of u, in double, undefined. */
static inline lat_field spinor_field(const lat_field *u, int columns)
{
    lat_field f;
    need(lat_field_spinors(&f, u, LAT_MODES, columns) == 0, "spinors");
    return f;
}

/* Spinors of random numbers from -1 to 1. */
static inline void fill_spinors(lat_field *f, uint64_t seed)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_matrices(f); i++) {
        double psi[8 * LAT_MAX_COLOURS];
        for (uint32_t k = 0; k < 8 * (uint32_t)f->head.nc; k++) {
            uint32_t word[4];
            lat_random(seed, matrix_number(f, i), 0, k, 0, word);
            psi[k] = word[0] * 0x1p-31 - 1 + word[1] * 0x1p-63;
        }
        lat_field_put(f, i, psi);
    }
}

/* exp of epsilon times a Gaussian matrix of the algebra: a rough field for epsilon = ROUGH, a
 * smooth one for less. */
static inline void fill_near_one(lat_field *f, double epsilon, uint64_t seed)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_matrices(f); i++) {
        double m[LAT_SUN_REALS];
        lat_sun_near_one(f->head.nc, m, epsilon, seed, matrix_number(f, i), 0, 0);
        lat_field_put(f, i, m);
    }
}

/* As fill_near_one, but each matrix is one of 4096, chosen at random. Benchmarks fill large
 * lattices so: it takes less time. */
static inline void fill_near_one_fast(lat_field *f, double epsilon, uint64_t seed)
{
    enum { POOL = 4096 };
    const size_t size = 2 * (size_t)f->head.nc * (size_t)f->head.nc;
    double *pool = lat_alloc(POOL * size, sizeof *pool, "links");
    need(pool != NULL, "links");
    for (size_t i = 0; i < POOL; i++)
        lat_sun_near_one(f->head.nc, pool + i * size, epsilon, seed, i, 0, 0);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_matrices(f); i++) {
        uint32_t word[4];
        lat_random(seed, matrix_number(f, i), 0, 0, 0, word);
        lat_field_put(f, i, pool + word[0] % POOL * size);
    }
    free(pool);
}

/* Haar distributed matrices, or random spinors, of which a stream stores `reals` reals each
 * (docs/format.md). */
static inline lat_field stored_field(lat_kind kind, const char *dims, int nc, lat_real real,
                                     int reals, uint64_t seed)
{
    lat_field f = field_new(kind, geometry_of(dims), nc, real);
    f.head.reals = reals;
    if (lat_header_spinors(&f.head))
        fill_spinors(&f, seed);
    else
        fill_haar(&f, seed);
    return f;
}

/* A Haar distributed g(x) for the lattice and the group of u, in double. */
static inline lat_field haar_transform(const lat_field *u, uint64_t seed)
{
    lat_field g = field_new(LAT_TRANSFORM, u->head.geom, u->head.nc, LAT_F64);
    fill_haar(&g, seed);
    return g;
}
