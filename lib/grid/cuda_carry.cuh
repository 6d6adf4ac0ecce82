/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_carry.cuh: packed buffers in device memory, from rank to rank: by NCCL, by an MPI that takes
 * device memory, or by any MPI, staged through pinned memory of the host.
 *
 * A device of several ranks has one carrier. Functions return 0, or -1 with lat_error set; every
 * rank calls them, in the same order. */
#pragma once

#include "cuda_device.cuh"

typedef struct lat_cuda_carrier lat_cuda_carrier;

/* For the device, by what its option --transport asks for. NULL with lat_error set. */
lat_cuda_carrier *lat_cuda_carrier_open(const lat_device *dev);
void lat_cuda_carrier_close(lat_cuda_carrier *c); /* NULL is allowed */

static inline lat_cuda_carrier *lat_cuda_carrier_of(const lat_device *dev)
{
    return lat_cuda_device_of(dev)->carrier;
}

/* Faces or sums of some ranks will go by it, since no kernel writes them to the other ranks: where
 * --transport leaves the choice it tries NCCL, once. */
int lat_cuda_carrier_prepare(lat_cuda_carrier *c);

enum { LAT_CUDA_WAYS = 96 };

/* Some faces go to peers, or some are carried, or both, on any rank: "gpu NVIDIA H200 x 4, peer and
 * nccl", or "cuda-aware", "staged". */
void lat_cuda_describe_faces(const lat_device *dev, bool peer, bool carried, char *text,
                             size_t size);

/* n messages (comm.h) between buffers on the device, LAT_MESSAGES at most: what comes after this in
 * the stream finds there what has come, and what came before it has packed. `begin` does not wait;
 * until `finish`, which waits unless NCCL carries them, kernels that touch no buffer can go into
 * the stream. One exchange at a time. */
int lat_cuda_carry_begin(lat_cuda_carrier *c, cudaStream_t stream, int n, const lat_message *m);
int lat_cuda_carry_finish(lat_cuda_carrier *c, cudaStream_t stream);

/* Is NCCL there? Then each rank gives `bytes` at all + rank * bytes on the device to all ranks, in
 * the order of the stream. Messages travel in another stream: NCCL takes what both ask for in the
 * order of the calls. */
bool lat_cuda_carrier_has_nccl(const lat_cuda_carrier *c);
int lat_cuda_carry_gather(lat_cuda_carrier *c, cudaStream_t stream, void *all, size_t bytes);
