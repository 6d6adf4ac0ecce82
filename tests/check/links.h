/* SPDX-License-Identifier: BSD-3-Clause */
/* links.h: links for the checks of lib/generate, and their plaquettes. */
#pragma once

#include <math.h>
#include "check.h"
#include "fields.h"
#include "generate/generate.h"
#include "measure/measure.h"

static inline lat_field haar_links(int nc, lat_geometry geom, lat_real real)
{
    lat_field f = field_new(LAT_GAUGE, geom, nc, real);
    fill_haar(&f, 3);
    return f;
}

/* As fill_near_one. */
static inline lat_field links_near_one(int nc, lat_geometry geom, lat_real real, double epsilon)
{
    lat_field f = field_new(LAT_GAUGE, geom, nc, real);
    fill_near_one(&f, epsilon, 3);
    return f;
}

static inline lat_generator *generator_of(lat_device *dev, const lat_field *f, lat_real real,
                                          double beta, double xi)
{
    const lat_action action = {.beta = beta, .xi = xi};
    lat_generator *gen = lat_generate_open(dev, f, real, &action);
    need(gen != NULL, "a generator");
    return gen;
}

/* Both NaN: a plane that the lattice does not have. */
static inline bool same_number(double a, double b, double tolerance)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance;
}

/* The generator's plaquettes are those of f, from which it was opened. */
static inline void check_plaquettes_of(lat_generator *gen, const lat_field *f)
{
    char text[64];
    double a[2], b[2];
    const int nc = f->head.nc, bytes = (int)f->head.real;
    CHECK(!lat_generate_plaquette(gen, &a[0], &a[1]), "%s", lat_error());
    CHECK(!lat_measure_planes(f, &b[0], &b[1]), "%s", lat_error());
    /* Products of four matrices: N + 1 roundings each, traces of order 1. */
    const double bound = 16 * nc * (bytes == 4 ? 0x1p-24 : 0x1p-53);
    for (int k = 0; k < 2; k++)
        CHECK(same_number(a[k], b[k], bound), "SU(%d), lattice %s, %d bytes: %.17g, expected %.17g",
              nc, lat_dims_text(&f->head.geom, text), bytes, a[k], b[k]);
}
