/* SPDX-License-Identifier: BSD-3-Clause */
/* fix.h: gauge fixing on a device (grid/device.h): sweeps that change gauge transformations.
 *
 * docs/conventions.md says what is computed in which precision. Fields come and go as host fields
 * (lattice/field.h). Functions return 0, or -1 with lat_error set. Every rank of the device's
 * communicator calls every function. C and C++. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "lattice/condition.h"
#include "grid/device.h"
#include "lattice/field.h"
#include "measure/measure.h"
#include "site/update.h"

typedef struct lat_sweep {
    lat_update update;
    const double *omega; /* [copies] 1: relaxation; below 2. For relaxations, else NULL */
    double stochastic;   /* of stochastic relaxation: the probability that a hit (SU2) or a site
                            (SUN) is microcanonical */
    double temperature;
    uint64_t seed; /* copy c draws with seed + c; numbers depend on that, on the number of ... */
    uint32_t config,
        step; /* ... the configuration, of the sweep (step: the first of a call) and on the site */
} lat_sweep;

/* One configuration that is fixed: its links, read-only, and for each copy the gauge transformation
 * g, which is all that changes. */
typedef struct lat_fixer lat_fixer;
struct lat_dfield;

/* The code for the CPU, or for a GPU, is for SU(2) to SU(lat_fix_groups). */
int lat_fix_groups(bool gpu);

/* U in precision `real`, to be brought to the condition c from `copies` starts that share it, all
 * g = 1. Nothing is borrowed but the device. */
lat_fixer *lat_fix_open(lat_device *dev, const lat_field *u, const lat_condition *c, lat_real real,
                        int copies);
void lat_fix_close(lat_fixer *f); /* NULL is allowed */

/* Where it runs, for provenance: "cpu avx512". */
const char *lat_fix_description(const lat_fixer *f);

/* g of a copy from (NULL: 1) and to a host transformation (f64), bit for bit as the sweeps have it.
 * A copy that is read and set again continues as if nothing had happened. Not projected onto SU(N).
 */
int lat_fix_set(lat_fixer *f, int copy, const lat_field *g);
int lat_fix_get(lat_fixer *f, int copy, lat_field *g);

/* n sweeps of the slices of every copy that are not frozen: even sites, then odd ones. */
int lat_fix_sweep(lat_fixer *f, const lat_sweep *how, long n);

/* Functional and theta of the links as each copy's g transforms them, in the precision of the
 * sweeps, summed in double slice by slice, then over slices (grid/reduce.h): s[copies]. `slices`,
 * if not NULL, gets theta of each independent slice, [copies][slices]. */
int lat_fix_state(lat_fixer *f, lat_gauge_state *s, double *slices);

/* Slices whose theta was below their copy's bound, theta[copies], when lat_fix_state was last
 * called are swept no more (INFINITY ends a copy). The others are swept, also if they were frozen
 * before. Returns how many are left in all, -1 on failure. */
long lat_fix_freeze(lat_fixer *f, const double *theta);

/* On a GPU: g with a member for each copy, as it lies there (grid/grid.h), all slices. Borrowed
 * until the next sweep. NULL with lat_error set. */
struct lat_dfield *lat_fix_transformations(lat_fixer *f);
