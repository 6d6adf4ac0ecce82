/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h: what a rank computes on: the CPU or one GPU. A device is opened once and serves any
 * number of grids (grid.h), fields and operations. Functions return 0 or a pointer, or -1 or NULL
 * with lat_error set. Every rank of the communicator calls every function. C and C++. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "comm/comm.h"

typedef enum { LAT_DEVICE_AUTO, LAT_DEVICE_CPU, LAT_DEVICE_GPU } lat_device_choice;
#define LAT_DEVICES "auto|cpu|gpu"

/* How faces travel between GPUs: kernels write to the neighbour's memory (PEER), NCCL or MPI take
 * device memory (NCCL, CUDA_AWARE), or faces go through the host (STAGED). */
typedef enum {
    LAT_TRANSPORT_AUTO,
    LAT_TRANSPORT_PEER,
    LAT_TRANSPORT_STAGED,
    LAT_TRANSPORT_CUDA_AWARE,
    LAT_TRANSPORT_NCCL
} lat_transport;
#define LAT_TRANSPORTS "auto|peer|staged|cuda-aware|nccl"

typedef struct lat_device_options {
    int choice;       /* lat_device_choice; AUTO is the GPU if all ranks have one, else the CPU */
    const char *gpus; /* GPUs that the ranks of a host take in turn: "0,2,3"; NULL: all there are */
    int transport;    /* lat_transport */
    bool tune;        /* does nothing, which a warning says (0.1.0 measured orders of sites) */
    bool check;       /* the CPU as a checking device: every grid has a halo, also on one rank, and
                         ghosts are NaN whenever they are not up to date (halo.h) */
} lat_device_options;

typedef struct lat_device {
    const struct lat_grid_ops *grid; /* grid_ops.h: the CPU's or the GPU's */
    const lat_comm *comm;
    lat_device_options options;
    bool gpu;
    char name[64];                /* for provenance: "cpu avx512", "gpu NVIDIA H200" */
    char place[LAT_DEVICE_PLACE]; /* "GPU 1 at 0000:3b:00"; "": the CPU */
    struct lat_device *cpu;       /* what works in its place, and is closed with it; or NULL */
} lat_device;

/* Starts what takes long before the device can be opened (the driver of a GPU) in a thread, so that
 * the caller can read its input meanwhile. Optional. -1 if it is plain already that the device
 * cannot be opened, or that the options contradict each other. */
int lat_device_begin(const lat_device_options *options, const lat_comm *comm);

/* The device that was asked for. Borrows `comm`. */
lat_device *lat_device_open(const lat_device_options *options, const lat_comm *comm);

/* The same for fields of SU(nc), where GPU code was built for SU(2) to SU(groups): AUTO is the CPU,
 * with a warning, if that does not include nc. */
lat_device *lat_device_open_for(const lat_device_options *options, const lat_comm *comm, int nc,
                                int groups);

/* -1 if sweeps on a GPU, or on the CPU, were built for SU(2) to SU(groups) alone and nc is larger:
 * the sentence says how to build more. */
int lat_device_check_group(bool gpu, int nc, int groups);

/* Bytes that are free on the device, the fewest of any rank; INFINITY on the CPU, which is not
 * asked. Below zero with lat_error set. All ranks call it. */
double lat_device_free_bytes(const lat_device *dev);

/* Will that many bytes fit? On the CPU they always do. `what` begins the sentence otherwise:
 * "lattice 4 4 4 4 in single". Without asking other ranks. 0, or -1 with lat_error set. */
int lat_device_check_memory(const lat_device *dev, double bytes, const char *what);

/* The same for this rank's GPU. What is kept there for later and not used is free;
 * lat_gpu_give_back gives it to other processes, but for an eighth of the GPU's. */
double lat_gpu_free_bytes(void);
void lat_gpu_give_back(void);
int lat_gpu_check_memory(double bytes, const char *what);

/* For benchmarks: bytes read and written by copies on the GPU, GB a second; below zero on failure.
 */
double lat_gpu_copy_bandwidth(size_t bytes);

/* Ends it; all ranks call it. All grids of it are freed before. What takes long to be given back
 * goes on in a thread; nothing can be opened afterwards. */
void lat_device_close(lat_device *dev); /* NULL is allowed */

/* Waits for the threads of lat_device_begin and lat_device_close; before the process ends. */
void lat_device_end(void);
