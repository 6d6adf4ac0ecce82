/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_device.h: what the measurement (loops_wilson.c, loops_polyakov.c) asks of a device
 * (loops_cpu.c, loops_gpu.cu). C and C++. */
#pragma once

#include "loops.h"
#include "loops_paths.h"
#include "site/groups.h"

/* A measurement of a configuration; a device's own struct begins with it. */
typedef struct lat_loops {
    const struct lat_loops_device *device;
    lat_device *dev;
    const lat_loops_how *how;
    const lat_comm *comm;
    lat_geometry space; /* of a slice */
    size_t sites;       /* of a slice */
    int n, axes, slices;
} lat_loops;

typedef struct lat_loops_device {
    size_t size; /* bytes of its struct */
    /* -1 with a sentence where it has no loops of u; NULL: it always has. */
    int (*check)(const lat_device *dev, const lat_field *u, const lat_loops_how *how);
    /* For Wilson loops of u, whose links are unitary: links of all levels in temporal gauge. */
    int (*open)(lat_loops *s, const lat_field *u);
    void (*close)(lat_loops *s); /* also where `open` has failed */
    /* A class with n = 1 to count: its sums are 0. Then for each direction d: its steps, and for
     * each n in order: loops are added to the sums. At the end N W, summed over all sites, times
     * and directions: [n][T][pair]. */
    int (*begin)(lat_loops *s, int count);
    int (*steps)(lat_loops *s, const int *d);
    int (*add)(lat_loops *s, const int *d, int n);
    int (*sums)(lat_loops *s, int count, double *sum);
    /* Traces of the Polyakov loops at the sites of a slice, re and im, on every rank; without
     * `open`. */
    int (*polyakov)(lat_loops *s, const lat_field *u, double *p);
} lat_loops_device;

extern const lat_loops_device lat_loops_cpu, lat_loops_gpu;

/* The device's struct for u; to be freed. */
lat_loops *lat_loops_new(lat_device *dev, const lat_field *u, const lat_loops_how *how);

/* N W of one n: numbers. */
static inline int lat_loops_numbers(const lat_loops_how *how)
{
    return how->time * lat_loops_pairs(how);
}

/* -1 with a sentence where links in time are missing elsewhere than across the boundary, and loops
 * lie in a window. All ranks call it. */
int lat_loops_missing(const lat_field *u, const lat_loops_how *how);
