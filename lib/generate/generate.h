/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.h: configurations of pure gauge theory made on a device (grid/device.h).
 *
 * A generator holds the links of one configuration and changes them, sweep by sweep, with weight
 * exp(beta/N sum_p w_p Re tr U_p), w_p = 1/xi for planes without the last direction and xi for
 * those with it (site/link.h). Links of one direction and parity are updated at a time. Functions
 * return 0, or -1 with lat_error set. Every rank of the device's communicator calls every function.
 * C and C++. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "grid/device.h"
#include "lattice/field.h"
#include "site/update.h"

typedef struct lat_action {
    double beta, xi;
} lat_action;

typedef struct lat_link_sweep {
    lat_update update; /* heat bath, microcanonical or Metropolis */
    uint64_t
        seed; /* random numbers depend on seed, config, step and the link; step is that of the */
    uint32_t config, step; /* first sweep of a call */
} lat_link_sweep;

typedef struct lat_generator lat_generator;

/* The code for the CPU, or for a GPU, is for SU(2) to SU(lat_generate_groups). */
int lat_generate_groups(bool gpu);

/* Links of `u` in precision `real`. For SU(2) and SU(3) the last row is dropped, here and inside:
 * it follows from the others. Nothing is borrowed but the device. */
lat_generator *lat_generate_open(lat_device *dev, const lat_field *u, lat_real real,
                                 const lat_action *action);
void lat_generate_close(lat_generator *gen); /* NULL is allowed */

/* Where it runs, for provenance: "cpu avx512". */
const char *lat_generate_description(const lat_generator *gen);

/* n sweeps over all links; after the last one links are reunitarised. */
int lat_generate_sweep(lat_generator *gen, const lat_link_sweep *how, long n);

/* Mean of Re tr U_p / N over planes without the last direction and over planes with it, summed
 * slice by slice, then over slices (grid/reduce.h); NaN where there is none. */
int lat_generate_plaquette(lat_generator *gen, double *spatial, double *temporal);

/* The links, bit for bit as they are inside: a field of that precision goes out and in without a
 * change. */
int lat_generate_get(const lat_generator *gen, lat_field *u);
