/* SPDX-License-Identifier: BSD-3-Clause */
/* smearer.h: where the Gaussian steps of sources and sinks are done: on the CPU, or on a GPU. All
 * ranks call these functions. */
#pragma once

#include "dirac/gauss_gpu.h"
#include "quark/source.h"

/* All zero: the CPU. */
typedef struct lat_smearer {
    lat_device *own; /* opened here */
    lat_gauss_gpu *gpu;
} lat_smearer;

/* From here on the Gaussian steps of s, on links of SU(nc), are done on `device`, if that is a GPU
 * and can do it. m outlives s. 0, or -1 with lat_error set. */
int lat_smearer_serve(lat_smearer *m, lat_source *s, int nc, lat_device *device);

/* The same on a device of its own, as the options say, for so many spinors of a configuration; AUTO
 * is a GPU if these are 3e7 steps of spinors or more: there is no gain in starting one for less. */
int lat_smearer_open(lat_smearer *m, lat_source *s, int nc, const lat_device_options *o,
                     const lat_comm *comm, double spinors);

/* Ends it; a device that was given must still be open. */
void lat_smearer_end(lat_smearer *m);
