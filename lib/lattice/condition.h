/* SPDX-License-Identifier: BSD-3-Clause */
/* condition.h: the gauge conditions (docs/gauges.md). */
#ifndef LAT_CONDITION_H
#define LAT_CONDITION_H

#include "header.h"

typedef enum { LAT_LANDAU, LAT_COULOMB, LAT_MAG } lat_gauge;

/* Their names as the choices of an option, in the order of lat_gauge. */
#define LAT_GAUGES "landau|coulomb|mag"

typedef struct lat_condition {
    lat_gauge gauge;
    int time;                    /* Coulomb: slices are cut across this direction; -1 otherwise */
    double weight[LAT_MAX_DIMS]; /* of each direction in the functional; Coulomb: 0 along `time` */
} lat_condition;

const char *lat_gauge_name(lat_gauge gauge);

/* The condition with weight 1 in all its directions. `time` is for Coulomb gauge; -1: the last
 * direction. */
lat_condition lat_condition_of(lat_gauge gauge, const lat_geometry *geom, int time);

/* The condition that the options --gauge, --time (-1: the last direction) and --weights
 * ("1,1,1,0.5" or NULL) ask for, checked against each other and the lattice: 0, or -1 with a
 * sentence about usage. */
int lat_condition_make(lat_gauge gauge, int time, const char *weights, const lat_geometry *geom,
                       lat_condition *c);

/* The sum of the weights, D where all are 1. */
double lat_condition_weights(const lat_condition *c);

/* The number of slices that are fixed independently: 1, or the extent along `time`. */
int lat_condition_slices(const lat_condition *c, const lat_geometry *geom);

/* From a header, 0, or -1 if it names no condition that is known; and into a header. */
int lat_condition_read(const lat_header *head, lat_condition *c);
void lat_condition_write(lat_header *head, const lat_condition *c);

#endif
