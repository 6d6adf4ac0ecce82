/* SPDX-License-Identifier: BSD-3-Clause */
/* legs_mean.h: means of propagators and vertices over configurations, and the jackknife errors of
 * what follows from them. */
#pragma once

#include "kinematics.h"
#include "values.h"

/* The legs of one configuration: their sum. */
typedef struct lat_legs_bin {
    char links[9]; /* CRC of the links, which tells configurations apart; empty: of none */
    long count;
    double *legs;
} lat_legs_bin;

/* All of one momentum. */
typedef struct lat_legs_group {
    lat_kinematics k;
    lat_legs_bin *bin;
    int bins;
} lat_legs_group;

typedef struct lat_legs_mean {
    lat_legs_kind kind;
    int nc;
    lat_legs_group *group;
    int groups;
} lat_legs_mean;

/* An empty one is {.kind, .nc}. */
void lat_legs_mean_free(lat_legs_mean *m);

/* Adds legs of this momentum and configuration. 0, or -1 without memory. */
int lat_legs_mean_add(lat_legs_mean *m, const char links[9], const lat_kinematics *k,
                      const double *legs);

/* The values of the mean over configurations of group i, and their errors, from the means over
 * all configurations but one: NaN where there is one alone. 0, or -1 as lat_values_of. */
int lat_legs_mean_values(const lat_legs_mean *m, int i, double v[LAT_VALUES], double e[LAT_VALUES]);
