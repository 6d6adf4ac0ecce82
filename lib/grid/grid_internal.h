/* SPDX-License-Identifier: BSD-3-Clause */
/* grid_internal.h: what a kind of device does for grid.h, halo.h; for lib/grid alone. C and C++. */
#pragma once

#include "halo.h"

/* The two tables have the functions of grid.h and halo.h, once grid.c has done what both
 * kinds share. */
typedef struct lat_grid_ops {
    void (*close)(lat_device *dev);
    /* A grid that begins with *common, whose slots are assigned already; owns nothing of it. */
    lat_grid *(*grid_new)(const lat_grid *common);
    void (*grid_free)(lat_grid *grid);    /* but not grid->slice */
    int (*slots_changed)(lat_grid *grid); /* grid->slots, grid->slice have been set */
    void (*assigned)(lat_grid *grid, int slot);
    size_t (*unit_bytes)(const lat_grid *grid, lat_shape shape);
    void *(*field_alloc)(lat_dfield *f, size_t bytes, const char *what);
    void (*field_free)(lat_dfield *f);
    int (*put)(lat_dfield *f, int member, const lat_field *host, const double *weight);
    int (*get)(const lat_dfield *f, int member, lat_field *host);
    int (*migrate)(lat_dfield *f, int unit, int rank, bool send);
    int (*halo_new)(lat_dfield *f); /* f->halo */
    void (*halo_free)(lat_dfield *f);
    int (*halo_exchange)(lat_dfield *f, const lat_halo_part *part);
} lat_grid_ops;

extern const lat_grid_ops lat_grid_cpu, lat_grid_gpu;

/* lat_device_begin, _open, _close and _end of the CPU and of GPUs (cuda_device.cu). */
lat_device *lat_device_cpu(const lat_device_options *options, const lat_comm *comm);
bool lat_cuda_begin(const lat_device_options *options, const lat_comm *comm);
bool lat_cuda_available(const lat_device_options *options, const lat_comm *comm);
lat_device *lat_device_gpu(const lat_device_options *options, const lat_comm *comm);
void lat_cuda_end(void);
