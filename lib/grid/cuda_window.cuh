/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_window.cuh: device memory of each rank that kernels of all ranks write to: ghosts, sums.
 *
 * Ranks of one host whose GPUs reach each other's memory map it (CUDA IPC). Functions return 0, or
 * -1 with lat_error set; every rank calls them. */
#pragma once

#include "cuda_device.cuh"
#include "grid/cuda_ptx.cuh"

enum { LAT_CUDA_WINDOW_RANKS = 16 };

typedef struct lat_cuda_window {
    const lat_device *dev;
    char *mine;
    bool direct; /* `of` holds the windows of all ranks; else that of this rank alone */
    char *of[LAT_CUDA_WINDOW_RANKS];
} lat_cuda_window;

/* Into of[ranks], zeros at first: `mine` of other ranks, mapped, and this rank's: of all ranks, or
 * of the two neighbours in their order. 1; 0 where not all ranks can, or the device's option
 * --transport asks for something else; with `all` also where ranks share a GPU, unless it asks for
 * this. */
int lat_cuda_map(const lat_device *dev, void *mine, bool all, char **of);

/* Ends that, when all ranks are here. */
int lat_cuda_unmap(const lat_device *dev, char **of);

/* `bytes` of zeros on each rank. They are mapped if the device's option --transport lets them and
 * there are no more ranks than LAT_CUDA_WINDOW_RANKS. */
int lat_cuda_window_open(const lat_device *dev, size_t bytes, const char *what, lat_cuda_window *w);

/* Of a window of zeros: nothing. After an error the memory stays until the process ends: others may
 * still write to it. */
void lat_cuda_window_close(lat_cuda_window *w);

/* A thread waits until a flag in its window is `number` or beyond. */
static __device__ __forceinline__ void lat_cuda_wait_flag(const uint32_t *flag, uint32_t number)
{
    while ((int32_t)(poll_flag(flag) - number) < 0)
        ;
}
