/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_halo.cuh: how the rims of a rank's slab get to the ghosts of the ranks below and above, GPU
 * to GPU: kernels write there themselves (CUDA IPC, one host), or rims go in boxes through MPI, by
 * way of the host where MPI does not know device memory. Functions return 0, or -1 with lat_error
 * set; every rank calls all of them. */
#ifndef LAT_BACKEND_CUDA_NEIGHBOURS_CUH
#define LAT_BACKEND_CUDA_NEIGHBOURS_CUH

#include "cuda_host.cuh"
extern "C" {
#include "fix/fix.h"
}

typedef struct lat_cuda_halo {
    const lat_comm *comm;
    lat_transport transport;
    void *mapped[2]; /* memory of the neighbours below and above; one may be both */
    void *box[2],
        *box_host[2]; /* rims on their way out, and in: that below or from there, then the other */
    cudaStream_t travel;
    cudaEvent_t packed, arrived;
} lat_cuda_halo;

/* What of a rank its neighbours write to. Behind the `bytes` of `memory` there is room for
 * LAT_CUDA_FLAGS words, which become 0: heard[2] and rim_arrived[2] of fix_cuda.cuh. */
#define LAT_CUDA_FLAGS 4
typedef struct lat_cuda_window {
    void *memory;
    uint64_t bytes;
    uint32_t groups, ghost[2]; /* as in lat_cuda_neighbour; the first sites of both ghosts */
} lat_cuda_window;

static inline uint32_t *lat_cuda_flags(const lat_cuda_window *s)
{
    return (uint32_t *)((char *)s->memory + s->bytes);
}

/* Finds the neighbours and the transport; where kernels are to write themselves, side[2] says where
 * to. Nothing is written before lat_cuda_halo_ready. */
int lat_cuda_halo_connect(lat_cuda_halo *r, const lat_comm *comm, const lat_cuda_window *mine,
                          lat_cuda_neighbour side[2]);
int lat_cuda_halo_ready(
    const lat_cuda_halo *r,
    cudaStream_t stream); /* once ghosts and all else are as they are to be at first */
bool lat_cuda_halo_is_peer(const lat_cuda_halo *r);
const char *lat_cuda_halo_transport(const lat_cuda_halo *r); /* "peer"; "" before they have met */

/* Where they do not: what `stream` has put into box[0], `bytes` to either side, comes out of the
 * neighbours' box[1]. In two parts, the first of which waits for nothing: what is put into `stream`
 * between them runs while rims travel. Before that boxes are made, with room for that many. */
int lat_cuda_halo_buffers(lat_cuda_halo *r, size_t bytes);
int lat_cuda_halo_begin(lat_cuda_halo *r, cudaStream_t stream);
int lat_cuda_halo_finish(lat_cuda_halo *r, size_t bytes, cudaStream_t stream);

/* Nobody's memory goes while another one has it mapped. After a failure neighbours may still be at
 * work in it: -1, and nothing may be freed. */
int lat_cuda_halo_disconnect(lat_cuda_halo *r);

#endif
