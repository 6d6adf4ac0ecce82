/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_window.cuh: device memory of each rank that kernels of all ranks write to: ghosts, sums.
 *
 * Two ranks of one host whose GPUs reach each other's memory map it (CUDA IPC), both of them or
 * none. Functions return 0, or -1 with lat_error set; every rank calls them. */
#pragma once

#include "cuda_device.cuh"
#include "grid/cuda_ptx.cuh"

enum { LAT_CUDA_WINDOW_RANKS = 16 };

typedef struct lat_cuda_window {
    const lat_device *dev;
    char *mine, **of; /* of[rank]: its window, mapped, and this rank's; NULL: not mapped */
    bool mapped;      /* some ranks have mapped others' */
    bool direct;      /* all have, and there are at most LAT_CUDA_WINDOW_RANKS */
} lat_cuda_window;

/* Into of[ranks], zeros at first: `mine` of other ranks, mapped, and this rank's: of all ranks, or
 * of the two neighbours in their order. Those of another host are left out, and pairs of ranks of
 * which one cannot; with `all` also ranks that share a GPU, unless the device's option --transport
 * asks for this. It tells what all ranks have: nothing, which it may ask for; some; or all that was
 * wanted. */
enum { LAT_CUDA_MAP_NONE, LAT_CUDA_MAP_SOME, LAT_CUDA_MAP_ALL };
int lat_cuda_map(const lat_device *dev, void *mine, bool all, char **of);

/* Ends that, when all ranks are here. */
int lat_cuda_unmap(const lat_device *dev, char **of);

/* `bytes` of zeros on each rank, mapped where the device's option --transport lets them. */
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
