/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_slices.cuh: vectors of several GPUs whose slices across the last axis lie one after the
 * other, as fields of a host do: their ghosts, and the same numbers with whole lines along that
 * axis.
 *
 * The GPU copies to the windows of other ranks where these are mapped (cuda_window.cuh), and ranks
 * meet when it has; otherwise the copies go by way of the host and comm. No kernel waits for
 * another rank, so that ranks may share a GPU. Functions return 0, or -1 with lat_error set; every
 * rank calls them. */
#ifndef LAT_GRID_CUDA_SLICES_CUH
#define LAT_GRID_CUDA_SLICES_CUH

#include "cuda_window.cuh"

/* ---- ghosts ---------------------------------------------------------------------------------- */

/* Behind the own slices of a vector lie the slice above the last one and the slice below the first
 * one, as in field.h. */
typedef struct lat_cuda_ghosts {
    lat_cuda_window window; /* where neighbours send them */
    size_t bytes, own;      /* of a slice, of all own ones */
    char *staged;           /* on the host: two faces, two ghosts */
    char *ghosts;           /* of the vector */
    cudaStream_t stream;
    cudaEvent_t event;
} lat_cuda_ghosts;

int lat_cuda_ghosts_open(const lat_device *dev, int slices, size_t bytes, const char *what,
                         lat_cuda_ghosts *g);
void lat_cuda_ghosts_close(lat_cuda_ghosts *g); /* of zeros: nothing */

/* The first and the last own slice to the neighbours' ghosts. What is launched between the two may
 * read own slices, what follows the ghosts, too. Before the next exchange begins all ranks must
 * have met with nothing left to be done: a sum over all sites does that. */
int lat_cuda_ghosts_begin(lat_cuda_ghosts *g, void *vector);
int lat_cuda_ghosts_finish(lat_cuda_ghosts *g);

/* ---- lines ----------------------------------------------------------------------------------- */

/* lines: [slice of all ranks][site of `share`][bytes of a site] */
typedef struct lat_cuda_lines {
    lat_cuda_window window;
    int slices, sites; /* of the lattice; of a slice */
    size_t bytes;      /* of a site */
    lat_slab own, share;
    char *staged; /* on the host: what goes to a rank, what comes from it, of one slice */
} lat_cuda_lines;

int lat_cuda_lines_open(const lat_device *dev, int slices, int sites, size_t bytes,
                        const char *what, lat_cuda_lines *l);
void lat_cuda_lines_close(lat_cuda_lines *l); /* of zeros: nothing */

/* From the vector to l->window.mine, or back, in the device's stream. */
int lat_cuda_lines_to(lat_cuda_lines *l, void *vector);
int lat_cuda_lines_from(lat_cuda_lines *l, void *vector);

#endif
