/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_host.cu: errors, memory and fields on their way, for all that runs on a GPU. */
#include <math.h>
#include "cuda_host.cuh"
extern "C" {
#include "base/error.h"
#include "bandwidth.h"
#include "base/threads.h"
}

#define STAGE ((size_t)16 << 20) /* bytes of a buffer */

int lat_cuda_failed(cudaError_t e, const char *what)
{
    return e == cudaSuccess ? 0 : lat_fail("GPU: %s: %s", what, cudaGetErrorString(e));
}

/* ---- memory ---- */

static double gigabytes(double bytes) { return bytes * 1e-9; }

int lat_cuda_malloc(void **p, size_t bytes, const char *what)
{
    const cudaError_t e = cudaMalloc(p, bytes ? bytes : 1);
    if (e != cudaErrorMemoryAllocation)
        return lat_cuda_failed(e, what);
    size_t available = 0, total = 0;
    cudaMemGetInfo(&available, &total);
    return lat_fail("GPU: out of memory: %s need %.2f GB, %.2f GB of %.2f GB are free", what,
                    gigabytes((double)bytes), gigabytes((double)available),
                    gigabytes((double)total));
}

int lat_cuda_check_memory(double bytes, const char *what)
{
    size_t available = 0, total = 0;
    if (lat_cuda_failed(cudaMemGetInfo(&available, &total), "asking for its memory"))
        return -1;
    if (bytes <= (double)available)
        return 0;
    const double gpus = ceil(bytes / (0.97 * (double)total));
    return lat_fail(
        "%s needs %.2f GB on the GPU, which has %.2f GB free of %.2f GB; %.0f such GPU%s would do",
        what, gigabytes(bytes), gigabytes((double)available), gigabytes((double)total), gpus,
        gpus > 1 ? "s" : " with nothing else on it");
}

/* n / d = (n * mul >> 32) >> shift for n < 2^31: with L = ceil(log2 d), mul = ceil(2^(31+L) / d) <
 * 2^32 and the error n (mul d - 2^(31+L)) / 2^(31+L) < d n / 2^(31+L) <= n / 2^31 < 1 (Granlund,
 * Montgomery 1994). */
lat_cuda_divisor lat_cuda_divide_by(uint32_t d)
{
    lat_cuda_divisor by = {0, 0};
    if (d == 1)
        return by;
    uint32_t log = 0;
    while ((UINT64_C(1) << log) < d)
        log++;
    by.mul = (uint32_t)(((UINT64_C(1) << (31 + log)) + d - 1) / d);
    by.shift = log - 1;
    return by;
}

int lat_cuda_check_group(int nc, int groups)
{
    if (nc <= groups)
        return 0;
    return lat_fail("SU(%d): this program was built with GPU code for SU(2) to SU(%d); "
                    "make GPU_GROUPS=%d builds it with more",
                    nc, groups, nc);
}

/* ---- fields in natural order ---- */

size_t lat_cuda_staging_bytes(void) { return 2 * STAGE; }

int lat_cuda_staging_open(lat_cuda_staging *f, cudaStream_t stream)
{
    f->stream = stream;
    for (int i = 0; i < 2; i++)
        if (lat_cuda_malloc(&f->raw[i], STAGE, "staging buffers")
            || lat_cuda_failed(cudaMallocHost(&f->pinned[i], STAGE), "pinning memory")
            || lat_cuda_failed(cudaEventCreateWithFlags(&f->done[i], cudaEventDisableTiming),
                               "making an event"))
            return -1;
    return 0;
}

void lat_cuda_staging_close(lat_cuda_staging *f)
{
    for (int i = 0; i < 2; i++) {
        cudaFree(f->raw[i]);
        cudaFreeHost(f->pinned[i]);
        if (f->done[i])
            cudaEventDestroy(f->done[i]);
    }
}

static size_t matrix_bytes(const lat_field *f)
{
    return 2 * (size_t)f->head.nc * (size_t)f->head.nc * (size_t)f->head.real;
}

int lat_cuda_upload(lat_cuda_staging *f, const lat_field *from, size_t first, size_t n, size_t to,
                    lat_cuda_chunk_fn *place, void *context)
{
    const size_t size = matrix_bytes(from), most = STAGE / size;
    int b = 0;
    for (size_t at = 0; at < n; at += most, b = 1 - b) {
        const size_t count = n - at < most ? n - at : most;
        if (lat_cuda_failed(cudaEventSynchronize(f->done[b]), "sending a field"))
            return -1;
        lat_memcpy(f->pinned[b], (const char *)from->data + (first + at) * size, count * size);
        if (lat_cuda_failed(cudaMemcpyAsync(f->raw[b], f->pinned[b], count * size,
                                            cudaMemcpyHostToDevice, f->stream),
                            "sending a field")
            || lat_cuda_failed(place(context, f->raw[b], to + at, count), "sending a field")
            || lat_cuda_failed(cudaEventRecord(f->done[b], f->stream), "sending a field"))
            return -1;
    }
    return 0;
}

int lat_cuda_download(lat_cuda_staging *f, lat_field *field, size_t from, lat_cuda_chunk_fn *place,
                      void *context)
{
    const size_t size = matrix_bytes(field), n = lat_field_matrices(field), most = STAGE / size;
    const size_t buffers = (n + most - 1) / most;
    for (size_t k = 0; k <= buffers; k++) {
        const int b = (int)(k % 2);
        if (k < buffers) {
            const size_t first = k * most, count = n - first < most ? n - first : most;
            if (lat_cuda_failed(place(context, f->raw[b], from + first, count), "fetching a field")
                || lat_cuda_failed(cudaMemcpyAsync(f->pinned[b], f->raw[b], count * size,
                                                   cudaMemcpyDeviceToHost, f->stream),
                                   "fetching a field")
                || lat_cuda_failed(cudaEventRecord(f->done[b], f->stream), "fetching a field"))
                return -1;
        }
        if (k > 0) {
            const size_t first = (k - 1) * most, count = n - first < most ? n - first : most;
            if (lat_cuda_failed(cudaEventSynchronize(f->done[1 - b]), "fetching a field"))
                return -1;
            lat_memcpy((char *)field->data + first * size, f->pinned[1 - b], count * size);
        }
    }
    return 0;
}

int lat_cuda_migrate(lat_cuda_staging *f, void *p, size_t bytes, const lat_comm *comm, int rank,
                     bool send)
{
    static const char what[] = "sending a slice";
    void *here = f->pinned[0];
    for (size_t at = 0; at < bytes; at += STAGE) {
        const size_t n = bytes - at < STAGE ? bytes - at : STAGE;
        void *there = (char *)p + at;
        if (!send && comm->receive(comm, rank, here, n))
            return -1;
        if (lat_cuda_failed(cudaMemcpyAsync(send ? here : there, send ? there : here, n,
                                            cudaMemcpyDefault, f->stream),
                            what)
            || lat_cuda_failed(cudaStreamSynchronize(f->stream), what)
            || (send && comm->send(comm, rank, here, n)))
            return -1;
    }
    return 0;
}

/* ---- for benchmarks ---- */

/* Milliseconds of a copy. */
static int time_copy(void *to, const void *from, size_t bytes, cudaEvent_t begin, cudaEvent_t end,
                     float *ms)
{
    static const char what[] = "a benchmark";
    return lat_cuda_failed(cudaEventRecord(begin, 0), what)
                   || lat_cuda_failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0),
                                      what)
                   || lat_cuda_failed(cudaEventRecord(end, 0), what)
                   || lat_cuda_failed(cudaEventSynchronize(end), what)
                   || lat_cuda_failed(cudaEventElapsedTime(ms, begin, end), what)
               ? -1
               : 0;
}

double lat_gpu_copy_bandwidth(size_t bytes)
{
    static const char what[] = "a benchmark";
    void *a = NULL, *b = NULL;
    cudaEvent_t begin = NULL, end = NULL;
    float ms = 0, best = INFINITY;
    int bad = lat_cuda_malloc(&a, bytes, what) || lat_cuda_malloc(&b, bytes, what)
              || lat_cuda_failed(cudaMemset(a, 1, bytes), what)
              || lat_cuda_failed(cudaEventCreate(&begin), what)
              || lat_cuda_failed(cudaEventCreate(&end), what);
    for (int i = 0; i < 10 && !bad; i++) {
        bad = time_copy(b, a, bytes, begin, end, &ms);
        best = fminf(best, ms);
    }
    for (cudaEvent_t e : {begin, end})
        if (e)
            cudaEventDestroy(e);
    cudaFree(a);
    cudaFree(b);
    return bad ? -1 : 2.0 * (double)bytes / (double)best * 1e-6;
}
