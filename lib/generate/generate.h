/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.h: where configurations of pure gauge theory are made.
 *
 * A generator holds the links of one configuration and changes them, sweep by sweep, with weight
 * exp(beta/N sum_p w_p Re tr U_p), w_p = 1/xi for planes without the last direction and xi for
 * those with it (site/link.h). Links of one direction and parity are updated at a time. Functions
 * return 0, or -1 with lat_error set. Every rank of the communicator calls every function. */
#ifndef LAT_BACKEND_GENERATE_H
#define LAT_BACKEND_GENERATE_H

#include <stdbool.h>
#include <stdint.h>
#include "fix/fix.h"
#include "comm/comm.h"
#include "lattice/field.h"

typedef struct lat_action {
    double beta, xi;
} lat_action;

typedef enum {
    LAT_UPDATE_HEATBATH,
    LAT_UPDATE_OVERRELAX, /* the mirror image in each SU(2) subgroup: the action stays */
    LAT_UPDATE_METROPOLIS /* as heatbath, by proposals: the reference of its tests */
} lat_update_kind;

typedef struct lat_update {
    lat_update_kind kind;
    uint64_t
        seed; /* random numbers depend on seed, config, step and the link; step is that of the */
    uint32_t config, step; /* first sweep of a call */
} lat_update;

/* The backend's own struct begins with it. */
typedef struct lat_generator lat_generator;

typedef struct lat_generate {
    const char *name; /* "cpu", "gpu" */
    /* Links of `u` in precision `real`. Of SU(2) and SU(3) the last row is dropped, here and
     * inside: it follows from the others. Nothing is borrowed. */
    lat_generator *(*open)(const lat_field *u, lat_real real, const lat_action *action,
                           const lat_comm *comm);
    void (*close)(lat_generator *gen);

    /* A few words for provenance: "cpu avx512". */
    const char *(*words)(const lat_generator *gen);

    /* n sweeps over all links; after the last one links are reunitarised. */
    int (*sweep)(lat_generator *gen, const lat_update *how, long n);

    /* Mean of Re tr U_p / N over planes without the last direction and over those with it; NaN
     * where there is none. */
    int (*plaquette)(lat_generator *gen, double *spatial, double *temporal);

    /* The links, bit for bit as they are inside: a field of that precision goes out and in without
     * a change. */
    int (*get)(lat_generator *gen, lat_field *u);
} lat_generate;

struct lat_generator {
    const lat_generate *backend;
    const lat_comm *comm;
};

/* Beside the backend that lat_backend_find finds. */
const lat_generate *lat_generate_find(lat_device_choice choice);

/* For benchmarks: links of SU(3) keep all their rows inside. */
extern bool lat_generate_all_rows;

extern const lat_generate lat_generate_cpu;
extern const lat_generate lat_generate_gpu;

#endif
