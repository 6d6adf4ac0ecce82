/* SPDX-License-Identifier: BSD-3-Clause */
/* source_internal.h: a source, between source.c, which reads its text, and source_columns.c, which
 * makes its numbers. */
#pragma once

#include "smear/smear.h"
#include "source.h"

typedef enum {
    LAT_SOURCE_POINT = 1,
    LAT_SOURCE_WALL,
    LAT_SOURCE_MOMENTUM,
    LAT_SOURCE_BOX,
    LAT_SOURCE_BALL,
    LAT_SOURCE_GAUSS,
    LAT_SOURCE_NOISE
} lat_source_shape;
enum { LAT_DILUTE_SPIN = 1, LAT_DILUTE_COLOUR = 2, LAT_DILUTE_TIME = 4, LAT_DILUTE_EVENODD = 8 };
enum { LAT_SOURCE_STEPS = 16 };

/* A step: Gaussian smearing, or another kind of links from here on. */
typedef struct lat_source_step {
    bool gauss;
    double width;
    int times;
    lat_smear links;
    lat_field smeared; /* data NULL: none yet */
} lat_source_step;

struct lat_source {
    char *text;
    lat_geometry geom;
    int nc;
    lat_source_shape shape;
    int x[4], box[3];
    double n[4]; /* momentum */
    double r;
    bool everywhere; /* noise on all slices */
    int roots;       /* noise: 2 or 4 */
    uint64_t seed;
    unsigned dilute;
    lat_source_step step[LAT_SOURCE_STEPS];
    int steps;
    lat_gauss_fn *gauss; /* with `with`; NULL: lat_gauss_slice */
    void *with;
    const lat_field *u;
    long config;   /* random numbers depend on it */
    bool numbered; /* the text says it */
};

/* Frees the smeared links of its steps. */
void lat_source_drop_links(lat_source *s);
