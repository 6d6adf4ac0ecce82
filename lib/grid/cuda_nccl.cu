/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_nccl.cu: the first exchange by NCCL, and the first gathering, which make its connections,
 * are a test. */
#include "cuda_nccl.cuh"

#include <string.h>
#include <unistd.h>

/* Words to each neighbour, words that a rank gives to all, and seconds until they are there: a
 * first connection takes some. */
enum { WORDS = 1 << 14, FEW = 64, TIMEOUT = 60 };

static int failed(cudaError_t e) { return lat_cuda_failed(e, "a test of NCCL"); }

/* Word i that a rank sends to one side. */
static uint32_t word(int rank, int side, uint32_t i)
{
    return (2 * (uint32_t)rank + (uint32_t)side) * WORDS + i;
}

/* Without waiting for what may never end. */
static int await(cudaStream_t stream)
{
    cudaError_t e;
    for (long polls = 0; (e = cudaStreamQuery(stream)) == cudaErrorNotReady; polls++) {
        if (polls > TIMEOUT * 1000L)
            return lat_fail("NCCL: a test exchange has not ended in %d s", TIMEOUT);
        usleep(1000);
    }
    return failed(e);
}

/* start() puts work on these bytes into the stream. They go to the device before, and come back. */
template <class START>
static int round_trip(cudaStream_t stream, uint32_t *there, uint32_t *here, size_t bytes,
                      const START &start)
{
    return lat_rc(failed(cudaMemcpyAsync(there, here, bytes, cudaMemcpyHostToDevice, stream))
                  || failed(cudaStreamSynchronize(stream)) || start() || await(stream)
                  || failed(cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, stream))
                  || failed(cudaStreamSynchronize(stream)));
}

/* Both faces of the buffers [out, in][side][WORDS]: what has come is what was sent. */
static int exchange(const lat_comm *comm, lat_nccl *n, cudaStream_t stream, uint32_t *there,
                    uint32_t *here)
{
    const size_t bytes = WORDS * sizeof *here;
    lat_message m[LAT_SIDES];
    for (int s = 0; s < LAT_SIDES; s++) {
        m[s] = lat_slab_message(comm, s, there + s * WORDS, there + (2 + s) * WORDS, bytes, bytes);
        for (uint32_t i = 0; i < WORDS; i++)
            here[s * WORDS + i] = word(comm->rank, s, i);
    }
    memset(here + 2 * WORDS, -1, 2 * bytes);
    if (round_trip(stream, there, here, 4 * bytes,
                   [&] { return lat_nccl_exchange(n, stream, LAT_SIDES, m); }))
        return -1;
    for (int s = 0; s < LAT_SIDES; s++)
        for (uint32_t i = 0; i < WORDS; i++)
            if (here[(2 + s) * WORDS + i] != word(m[s].from, m[s].in_tag, i))
                return lat_fail("NCCL: in a test exchange rank %d received something else from "
                                "rank %d than was sent",
                                comm->rank, m[s].from);
    return 0;
}

/* All ranks have the words of all, in buffers [rank][FEW]. */
static int gather(const lat_comm *comm, lat_nccl *n, cudaStream_t stream, uint32_t *there,
                  uint32_t *here)
{
    const size_t mine = FEW * sizeof *here, bytes = (size_t)comm->size * mine;
    memset(here, -1, bytes);
    for (uint32_t i = 0; i < FEW; i++)
        here[comm->rank * FEW + (int)i] = word(comm->rank, 0, i);
    if (round_trip(stream, there, here, bytes,
                   [&] { return lat_nccl_gather(n, stream, there, mine); }))
        return -1;
    for (int r = 0; r < comm->size; r++)
        for (uint32_t i = 0; i < FEW; i++)
            if (here[r * FEW + (int)i] != word(r, 0, i))
                return lat_fail("NCCL: in a test rank %d gathered something else from rank %d than "
                                "was given",
                                comm->rank, r);
    return 0;
}

/* Nobody waits for a gathering after an exchange that was wrong on another rank. */
static int test(const lat_comm *comm, lat_nccl *n, cudaStream_t stream, lat_nccl_reason *reason)
{
    const size_t words = 4 * WORDS > FEW * comm->size ? 4 * WORDS : (size_t)(FEW * comm->size),
                 bytes = words * sizeof(uint32_t);
    uint32_t *const here = (uint32_t *)lat_alloc(1, bytes, "a test of NCCL"), *there = NULL;
    int rc = lat_rc(!here || lat_cuda_malloc((void **)&there, bytes, "a test of NCCL"));
    rc = lat_nccl_agree(comm, rc ? rc : exchange(comm, n, stream, there, here), reason);
    if (rc == 1)
        rc = lat_nccl_agree(comm, gather(comm, n, stream, there, here), reason);
    if (rc == 1)
        lat_cuda_free(there); /* otherwise a kernel may still wait for it */
    free(here);
    return rc;
}

int lat_cuda_nccl_open(const lat_comm *comm, cudaStream_t stream, lat_nccl **n,
                       lat_nccl_reason *reason)
{
    cudaDeviceProp p;
    char gpu[LAT_NCCL_GPU];
    if (failed(cudaGetDeviceProperties(&p, lat_cuda_device_number())))
        return -1;
    memcpy(gpu, &p.uuid, sizeof gpu);
    int rc = lat_nccl_open(comm, gpu, n, reason);
    if (rc != 1)
        return rc;
    rc = test(comm, *n, stream, reason);
    reason->fault = true;
    if (rc == 1)
        return 1;
    lat_nccl_abort(*n);
    *n = NULL;
    return rc;
}
