/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_fetch.cu: pieces of device memory on their way to the host. */
#include "cuda_fetch.cuh"
#include <stdlib.h>

static int failed(cudaError_t e) { return lat_cuda_failed(e, "pieces on their way to the host"); }

static void forget_places(lat_fetch *f)
{
    for (size_t k = 0; k < f->places; k++)
        if (f->there[k])
            cudaEventDestroy(f->there[k]);
    if (f->registered) {
        cudaHostUnregister(f->pinned);
        free(f->pinned);
    } else
        cudaFreeHost(f->pinned);
    free(f->there);
    f->pinned = NULL;
    f->registered = false;
    f->there = NULL;
    f->places = f->bytes = 0;
}

/* Huge pages that are there are pinned at once: cudaMallocHost would take .04 s for 80 MB. False:
 * not every system can. */
static bool get_pages(lat_fetch *f)
{
    const size_t n = f->places * f->bytes;
    f->pinned = (char *)lat_alloc(n, 1, "pieces");
    if (!f->pinned) {
        lat_error_clear();
        return false;
    }
    lat_zero(f->pinned, n);
    f->registered = cudaHostRegister(f->pinned, n, cudaHostRegisterDefault) == cudaSuccess;
    if (f->registered)
        return true;
    (void)cudaGetLastError();
    free(f->pinned);
    f->pinned = NULL;
    return false;
}

int lat_fetch_open(lat_fetch *f, size_t places, size_t bytes)
{
    f->begun = f->arrived = 0;
    if (failed(cudaSetDevice(lat_cuda_device_number())) /* in a thread */
        || (!f->stream && failed(cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking))))
        return -1;
    if (f->places >= places && f->bytes >= bytes)
        return 0;
    forget_places(f);
    f->there = (cudaEvent_t *)calloc(places, sizeof *f->there);
    if (!f->there)
        return lat_fail("out of memory: events");
    f->places = places;
    f->bytes = bytes;
    bool bad = false;
    for (size_t k = 0; k < places && !bad; k++)
        bad = failed(cudaEventCreateWithFlags(&f->there[k], cudaEventDisableTiming));
    if (!bad && (get_pages(f) || !failed(cudaMallocHost((void **)&f->pinned, places * bytes))))
        return 0;
    forget_places(f);
    return -1;
}

void lat_fetch_close(lat_fetch *f)
{
    forget_places(f);
    if (f->stream)
        cudaStreamDestroy(f->stream);
    f->stream = NULL;
}

int lat_fetch_send(lat_fetch *f, const void *from, size_t n)
{
    const size_t place = f->begun++ % f->places;
    return lat_rc(failed(cudaMemcpyAsync(f->pinned + place * f->bytes, from, n,
                                         cudaMemcpyDeviceToHost, f->stream))
                  || failed(cudaEventRecord(f->there[place], f->stream)));
}

const char *lat_fetch_wait(lat_fetch *f, size_t k)
{
    for (; f->arrived <= k; f->arrived++)
        if (failed(cudaEventSynchronize(f->there[f->arrived % f->places])))
            return NULL;
    return f->pinned + k % f->places * f->bytes;
}
