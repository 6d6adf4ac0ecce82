/* SPDX-License-Identifier: BSD-3-Clause */
/* condition.h: the gauge conditions (docs/gauges.md). */
#pragma once

#include <stdbool.h>
#include "header.h"
#include "site/groups.h"
#include "site/update.h"

/* The list of gauges: X(NAME, name, title, local problem, largest N of SU(N) that is fixed, slices
 * are fixed independently of each other, directions may have weights). */
#define LAT_EACH_GAUGE(X) \
    X(LANDAU, "landau", "Landau gauge", LAT_LINEAR, LAT_FIX_MOST, false, true) \
    X(COULOMB, "coulomb", "Coulomb gauge", LAT_LINEAR, LAT_FIX_MOST, true, false) \
    X(MAG, "mag", "maximally Abelian gauge", LAT_ABELIAN, LAT_ABELIAN_MOST, false, false)

#define LAT_GAUGE_ENUM(NAME, ...) LAT_##NAME,
typedef enum { LAT_EACH_GAUGE(LAT_GAUGE_ENUM) } lat_gauge;

typedef struct lat_gauge_row {
    const char *name, *title;
    lat_problem problem;
    int groups;
    bool sliced, weighted;
} lat_gauge_row;
extern const lat_gauge_row lat_gauge_table[]; /* by lat_gauge */

/* The choices of an option, "landau|coulomb|...". */
#define LAT_GAUGE_CHOICE(NAME, name, ...) "|" name
#define LAT_GAUGES (&(LAT_EACH_GAUGE(LAT_GAUGE_CHOICE))[1])

typedef struct lat_condition {
    lat_gauge gauge;
    int time;                    /* Coulomb: slices are cut across this direction; -1 otherwise */
    double weight[LAT_MAX_DIMS]; /* of each direction in the functional; Coulomb: 0 along `time` */
} lat_condition;

const char *lat_gauge_name(lat_gauge gauge);

/* -1 with a sentence if this gauge of SU(nc) cannot be fixed. */
int lat_gauge_check_group(lat_gauge gauge, int nc);

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

/* nd weights with commas between, "1,1,1,0.5", in so many digits; "" if all are 1. Returns text. */
#define LAT_WEIGHTS_TEXT (LAT_MAX_DIMS * 32)
const char *lat_weights_text(const double *weight, int nd, int digits, char text[LAT_WEIGHTS_TEXT]);

/* The number of slices that are fixed independently: 1, or the extent along `time`. */
int lat_condition_slices(const lat_condition *c, const lat_geometry *geom);

/* From a header, 0, or -1 if it names no condition that is known; and into a header. */
int lat_condition_read(const lat_header *head, lat_condition *c);
void lat_condition_write(lat_header *head, const lat_condition *c);

/* The condition that links were annealed for, which they are near and not in, as info lines: gauge
 * "none" stays. 0 or -1. Read: 1; 0 if the header names none; -1. */
int lat_condition_write_annealed(lat_header *head, const lat_condition *c);
int lat_condition_read_annealed(const lat_header *head, lat_condition *c);

/* The info line of links in maximally Abelian and residual gauge: theta of the phases
 * (measure/abelian.h). lat_header_ungauge removes it. */
#define LAT_INFO_RESIDUAL "residual.theta"

bool lat_condition_same(const lat_condition *a, const lat_condition *b);

/* Its name in a header, "coulomb.x". Returns buf. */
#define LAT_CONDITION_TEXT 16
const char *lat_condition_text(const lat_condition *c, const lat_geometry *geom,
                               char buf[LAT_CONDITION_TEXT]);
