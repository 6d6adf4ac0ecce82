/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.h: configurations of pure gauge theory made on a device (grid/device.h).
 *
 * A generator holds the links of one configuration and changes them, sweep by sweep, with weight
 * exp(beta/N sum_p w_p Re tr U_p), w_p = 1/xi for planes without the last direction and xi for
 * those with it (site/link.h). Links of one direction and parity are updated at a time. Functions
 * return 0, or -1 with lat_error set. Every rank of the device's communicator calls every function.
 * C and C++. */
#ifndef LAT_GENERATE_GENERATE_H
#define LAT_GENERATE_GENERATE_H

#include <math.h>
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

/* The CPU's or the GPU's own struct begins with it. */
typedef struct lat_generator lat_generator;

typedef struct lat_generate_ops {
    /* Links of `u` in precision `real`. For SU(2) and SU(3) the last row is dropped, here and
     * inside: it follows from the others. Nothing is borrowed but the device. */
    lat_generator *(*open)(lat_device *dev, const lat_field *u, lat_real real,
                           const lat_action *action);
    void (*close)(lat_generator *gen);

    /* Where it runs, for provenance: "cpu avx512". */
    const char *(*description)(const lat_generator *gen);

    /* n sweeps over all links; after the last one links are reunitarised. */
    int (*sweep)(lat_generator *gen, const lat_link_sweep *how, long n);

    /* Mean of Re tr U_p / N over planes without the last direction and over those with it, summed
     * slice by slice, then over slices (grid/reduce.h); NaN where there is none. */
    int (*plaquette)(lat_generator *gen, double *spatial, double *temporal);

    /* The links, bit for bit as they are inside: a field of that precision goes out and in without
     * a change. */
    int (*get)(lat_generator *gen, lat_field *u);

    int groups; /* its code is for SU(2) to SU(groups) */
} lat_generate_ops;

struct lat_generator {
    const lat_generate_ops *ops;
    lat_device *dev;
};

extern const lat_generate_ops lat_generate_cpu;
extern const lat_generate_ops lat_generate_gpu;

/* Means of Re tr U_p / N of the sums of Re tr U_p over all planes without and with the last
 * direction, sum[2]; NaN where there is none. */
static inline void lat_generate_means(const lat_geometry *geom, int nc, const double sum[2],
                                      double *spatial, double *temporal)
{
    const int nd = geom->nd;
    const double traces = (double)lat_volume(geom) * nc;
    *spatial = nd > 2 ? sum[0] / (traces * ((nd - 1) * (nd - 2) / 2)) : NAN;
    *temporal = nd > 1 ? sum[1] / (traces * (nd - 1)) : NAN;
}

static inline lat_generator *lat_generate_open(lat_device *dev, const lat_field *u, lat_real real,
                                               const lat_action *action)
{
    return (dev->gpu ? &lat_generate_gpu : &lat_generate_cpu)->open(dev, u, real, action);
}

#endif
