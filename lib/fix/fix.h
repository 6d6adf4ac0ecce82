/* SPDX-License-Identifier: BSD-3-Clause */
/* fix.h: where sweeps run.
 *
 * A backend holds the links U of one configuration, read-only, and for each of its copies the gauge
 * transformation g, which is all that changes; docs/conventions.md says what is computed in which
 * precision. Fields come and go as host fields (lattice/field.h). Functions return 0, or -1 with
 * lat_error set. Every rank of the communicator calls every function. */
#ifndef LAT_BACKEND_H
#define LAT_BACKEND_H

#include <stdbool.h>
#include <stdint.h>
#include "lattice/condition.h"
#include "comm/comm.h"
#include "lattice/field.h"
#include "measure/measure.h"

/* What one sweep does at a site (site/hit.h). */
typedef enum {
    LAT_OVERRELAX_SU3, /* the whole SU(N) element, overrelaxed at once */
    LAT_OVERRELAX_SU2  /* SU(2) subgroup by SU(2) subgroup, as the papers do */
} lat_overrelax;

/* What a sweep is for. */
typedef enum {
    LAT_SWEEP_RELAX,     /* to the maximum, overrelaxed by scheme and omega */
    LAT_SWEEP_HEATBATH,  /* g drawn with weight exp(f / T), site/heat.h */
    LAT_SWEEP_MICRO,     /* to the mirror image: the functional stays */
    LAT_SWEEP_METROPOLIS /* as heatbath, by proposals: the reference of its tests */
} lat_sweep_kind;

typedef struct lat_sweep {
    lat_sweep_kind kind;
    lat_overrelax scheme;
    const double *omega; /* [copies] 1: relaxation; below 2 (RELAX only) */
    double stochastic; /* RELAX: probability that a hit (su2) or a visit (su3) is microcanonical */
    double temperature;
    uint64_t seed; /* copy c draws with seed + c; numbers depend on that, on the number of ... */
    uint32_t config,
        step; /* ... the configuration, of the sweep (step: the first of a call) and on the site */
} lat_sweep;

/* One configuration on a device; the backend's own struct begins with it. */
typedef struct lat_device lat_device;

typedef struct lat_backend {
    const char *name; /* "cpu", "gpu" */

    /* Starts, beside what the caller goes on with, what takes long before it can run: false if it
     * is plain already that it cannot. And waits until nothing of that kind is under way. Both may
     * be NULL. */
    bool (*begin)(void);
    void (*end)(void);

    /* Nothing is open, and nothing more will be: what takes long to be given back goes, beside what
     * the caller goes on with, until `end`. Whoever opens something all the same waits for a new
     * start. May be NULL. */
    void (*leave)(void);

    /* True if it can run here; otherwise lat_error says why not. */
    bool (*available)(void);

    /* U in precision `real`, to be brought to the condition c from `copies` starts that share it,
     * all g = 1. Nothing is borrowed. */
    lat_device *(*open)(const lat_field *u, const lat_condition *c, lat_real real, int copies,
                        const lat_comm *comm);
    void (*close)(lat_device *dev);

    /* A few words for provenance: "cpu avx512". */
    const char *(*words)(const lat_device *dev);

    /* g of a copy from (NULL: 1) and to a host transformation (f64), bit for bit as the sweeps have
     * it: what was got and is set again goes on as if nothing had been. Not projected onto SU(N).
     */
    int (*set)(lat_device *dev, int copy, const lat_field *g);
    int (*get)(lat_device *dev, int copy, lat_field *g);

    /* n sweeps of the slices of every copy that are not frozen: even sites, then odd ones. */
    int (*sweep)(lat_device *dev, const lat_sweep *how, long n);

    /* Functional and theta of the links as each copy's g transforms them, in the device's
     * precision, summed in double: s[copies]. `slices`, if not NULL, gets theta of each slice,
     * [copies][slices]. */
    int (*state)(lat_device *dev, lat_gauge_state *s, double *slices);

    /* Slices whose theta was below their copy's bound, theta[copies], when `state` last looked are
     * swept no more (INFINITY ends a copy); the others are, also if they were frozen before.
     * Returns how many are left in all, -1 on failure. */
    long (*freeze)(lat_device *dev, const double *theta);
} lat_backend;

struct lat_device {
    const lat_backend *backend;
    const lat_comm *comm;
};

/* What several ranks with GPUs do, to be set before lat_backend_begin: which GPUs the ranks of a
 * host take in turn, "0,2,3" (NULL: all there are), and how the rims of their slabs go from one to
 * another. */
typedef enum {
    LAT_TRANSPORT_AUTO,
    LAT_TRANSPORT_PEER,
    LAT_TRANSPORT_STAGED,
    LAT_TRANSPORT_CUDA_AWARE
} lat_transport;
#define LAT_TRANSPORTS "auto|peer|staged|cuda-aware"
typedef struct lat_gpu_options {
    const char *list;
    int transport;
} lat_gpu_options;
extern lat_gpu_options lat_gpu_opts;
#define LAT_GPU_OPTIONS /* for a table of options (common/options.h) */ \
    {LAT_OPT_TEXT, \
     "gpus", \
     'g', \
     "LIST", \
     &lat_gpu_opts.list, \
     0, \
     0, \
     "numbers of the GPUs that the ranks of a host take in turn, such as 0,2,3 (default: all)", \
     true}, \
    { \
        LAT_OPT_CHOICE, "transport", 0, LAT_TRANSPORTS, &lat_gpu_opts.transport, 0, 0, \
            "how rims go from GPU to GPU; auto: between those of one host directly", true \
    }

/* The backend that was asked for; auto is the fastest one that can run on all ranks, and a GPU
 * where lat_gpu_opts has a list. NULL with lat_error set if it cannot run here. */
typedef enum { LAT_DEVICE_AUTO, LAT_DEVICE_CPU, LAT_DEVICE_GPU } lat_device_choice;
#define LAT_DEVICES "auto|cpu|gpu"
const lat_backend *lat_backend_find(lat_device_choice choice);

/* Says that lat_backend_find will be asked, once there is something to do: what it will find begins
 * to start. Where it is plain already that there is nothing to be found, -1. lat_backend_release
 * says that nothing will be opened any more, so that the device comes to its end beside what is
 * left to do. lat_backend_end comes before the end of a run that has begun. */
int lat_backend_begin(lat_device_choice choice);
void lat_backend_release(void);
void lat_backend_end(void);

extern const lat_backend lat_backend_cpu;
extern const lat_backend lat_backend_gpu; /* fix_gpu.cu, or nocuda.c where that was not built */

#endif
