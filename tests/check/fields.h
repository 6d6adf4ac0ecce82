/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h: fields for the checks of streams. */
#ifndef CHECK_FIELDS_H
#define CHECK_FIELDS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "lattice/field.h"
#include "site/sun.h"

static void need(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s: %s\n", what, lat_error());
    exit(1);
}

/* Random links, the same ones each time. */
static lat_field field_of(lat_kind kind, const char *dims, int nc, lat_real real, int reals)
{
    lat_field f;
    lat_header_init(&f.head);
    need(lat_dims_parse(dims, &f.head.geom) == 0, dims);
    f.head.kind = kind;
    f.head.nc = nc;
    f.head.real = real;
    f.head.reals = reals;
    need(lat_field_alloc(&f, lat_comm_world) == 0, "a field");
    for (size_t i = 0; i < lat_field_matrices(&f); i++) {
        double m[LAT_SUN_REALS];
        lat_sun_haar(nc, m, 17, i, 0, 0);
        lat_field_put(&f, i, m);
    }
    return f;
}

#endif
