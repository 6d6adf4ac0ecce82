/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_carry.cu: packed buffers in device memory, from rank to rank. */
#include "cuda_carry.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_nccl.cuh"

struct lat_cuda_carrier {
    const lat_comm *comm;
    int wish;            /* lat_transport */
    lat_nccl *nccl;      /* or NULL */
    bool tried;          /* whether NCCL is there is known */
    bool aware;          /* MPI takes device memory */
    cudaStream_t stream; /* on which bytes travel */
    cudaEvent_t packed, arrived;
    char *out, *in; /* on the host, where it does not */
    size_t out_reserved, in_reserved;
    int n; /* messages under way */
    lat_message m[LAT_MESSAGES];
};

static int failed(cudaError_t e) { return lat_cuda_failed(e, "bytes for other ranks"); }

/* MPI says of itself that it takes device memory: OpenMPI's function, and MPICH's. */
static bool mpi_is_aware(void)
{
    int (*query)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    return query && query() == 1;
}

/* What travels comes before the interior. */
static cudaError_t make_stream(lat_cuda_carrier *c)
{
    int lowest, highest;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
    e = e ? e : cudaStreamCreateWithPriority(&c->stream, cudaStreamNonBlocking, highest);
    e = e ? e : cudaEventCreateWithFlags(&c->packed, cudaEventDisableTiming);
    return e ? e : cudaEventCreateWithFlags(&c->arrived, cudaEventDisableTiming);
}

int lat_cuda_carrier_prepare(lat_cuda_carrier *c)
{
    if (c->tried || (c->wish != LAT_TRANSPORT_AUTO && c->wish != LAT_TRANSPORT_NCCL))
        return 0;
    lat_nccl_reason why;
    const int rc = lat_cuda_nccl_open(c->comm, c->stream, &c->nccl, &why);
    c->tried = true;
    if (rc == 0 && c->wish == LAT_TRANSPORT_NCCL)
        return lat_fail("--transport nccl: %s", why.text);
    if (rc == 0 && why.fault)
        lat_warn("%s; faces and sums go on without NCCL", why.text);
    return rc < 0 ? -1 : 0;
}

lat_cuda_carrier *lat_cuda_carrier_open(const lat_device *dev)
{
    const int wish = dev->options.transport;
    lat_cuda_carrier *c = (lat_cuda_carrier *)lat_alloc_zero(1, sizeof *c, "a carrier");
    if (!c)
        return NULL;
    c->comm = dev->comm;
    c->wish = wish;
    c->aware = (wish == LAT_TRANSPORT_AUTO || wish == LAT_TRANSPORT_CUDA_AWARE) && mpi_is_aware();
    int rc = lat_cuda_failed(make_stream(c), "making a stream");
    if (rc == 0 && wish == LAT_TRANSPORT_CUDA_AWARE && !c->aware)
        rc = lat_fail_usage("--transport cuda-aware: this MPI does not say that it is");
    if (rc == 0 && wish == LAT_TRANSPORT_NCCL)
        rc = lat_cuda_carrier_prepare(c);
    if (rc == 0)
        return c;
    lat_cuda_carrier_close(c);
    return NULL;
}

void lat_cuda_carrier_close(lat_cuda_carrier *c)
{
    if (!c)
        return;
    lat_nccl_close(c->nccl);
    cudaFreeHost(c->out);
    cudaFreeHost(c->in);
    if (c->packed)
        cudaEventDestroy(c->packed);
    if (c->arrived)
        cudaEventDestroy(c->arrived);
    if (c->stream)
        cudaStreamDestroy(c->stream);
    free(c);
}

void lat_cuda_describe_faces(const lat_device *dev, bool peer, bool carried, char *text,
                             size_t size)
{
    const lat_cuda_carrier *c = lat_cuda_carrier_of(dev);
    snprintf(text, size, "%s, %s%s%s", dev->name, peer ? "peer" : "",
             peer && carried ? " and " : "",
             !carried   ? ""
             : c->nccl  ? "nccl"
             : c->aware ? "cuda-aware"
                        : "staged");
}

/* ---- through the host ------------------------------------------------------------------------ */

static int reserve(lat_cuda_carrier *c, char **buffer, size_t *reserved, size_t bytes)
{
    if (bytes <= *reserved)
        return 0;
    *reserved = 0;
    if (failed(cudaStreamSynchronize(c->stream)) || failed(cudaFreeHost(*buffer)))
        return -1;
    *buffer = NULL;
    if (lat_cuda_failed(cudaMallocHost((void **)buffer, bytes), "pinning memory"))
        return -1;
    *reserved = bytes;
    return 0;
}

/* The same messages between the buffers of the host, one behind the other. */
static void on_host(const lat_cuda_carrier *c, lat_message *m)
{
    char *out = c->out, *in = c->in;
    for (int i = 0; i < c->n; i++) {
        m[i] = c->m[i];
        m[i].out = out;
        m[i].in = in;
        out += m[i].out_bytes;
        in += m[i].in_bytes;
    }
}

static int fetch(lat_cuda_carrier *c)
{
    size_t out = 0, in = 0;
    for (int i = 0; i < c->n; i++) {
        out += c->m[i].out_bytes;
        in += c->m[i].in_bytes;
    }
    if (reserve(c, &c->out, &c->out_reserved, out) || reserve(c, &c->in, &c->in_reserved, in))
        return -1;
    lat_message host[LAT_MESSAGES];
    on_host(c, host);
    for (int i = 0; i < c->n; i++)
        if (failed(cudaMemcpyAsync((void *)host[i].out, c->m[i].out, host[i].out_bytes,
                                   cudaMemcpyDeviceToHost, c->stream)))
            return -1;
    return 0;
}

static int exchange_staged(lat_cuda_carrier *c)
{
    lat_message host[LAT_MESSAGES];
    on_host(c, host);
    if (c->comm->begin(c->comm, c->n, host) || c->comm->finish(c->comm))
        return -1;
    for (int i = 0; i < c->n; i++)
        if (failed(cudaMemcpyAsync(c->m[i].in, host[i].in, host[i].in_bytes, cudaMemcpyHostToDevice,
                                   c->stream)))
            return -1;
    return 0;
}

/* ---- exchange -------------------------------------------------------------------------------- */

int lat_cuda_carry_begin(lat_cuda_carrier *c, cudaStream_t stream, int n, const lat_message *m)
{
    if (n > LAT_MESSAGES)
        return lat_fail("%d messages are too many to exchange at once", n);
    c->n = n;
    memcpy(c->m, m, (size_t)n * sizeof *m);
    if (failed(cudaEventRecord(c->packed, stream))
        || failed(cudaStreamWaitEvent(c->stream, c->packed, 0)))
        return -1;
    if (c->nccl)
        return lat_rc(lat_nccl_exchange(c->nccl, c->stream, n, m)
                      || failed(cudaEventRecord(c->arrived, c->stream)));
    return c->aware ? 0 : fetch(c);
}

int lat_cuda_carry_finish(lat_cuda_carrier *c, cudaStream_t stream)
{
    if (c->nccl)
        return failed(cudaStreamWaitEvent(stream, c->arrived, 0));
    if (failed(cudaStreamSynchronize(c->stream)))
        return -1;
    if (c->aware ? c->comm->begin(c->comm, c->n, c->m) || c->comm->finish(c->comm)
                 : exchange_staged(c))
        return -1;
    return lat_rc(failed(cudaEventRecord(c->arrived, c->stream))
                  || failed(cudaStreamWaitEvent(stream, c->arrived, 0)));
}

bool lat_cuda_carrier_has_nccl(const lat_cuda_carrier *c) { return c->nccl != NULL; }

int lat_cuda_carry_gather(lat_cuda_carrier *c, cudaStream_t stream, void *all, size_t bytes)
{
    return lat_nccl_gather(c->nccl, stream, all, bytes);
}
