/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_device.cu: is there a GPU, which one is this rank's, its start and its end. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda_carry.cuh"
#include "cuda_device.cuh"
#include "cuda_dfield.cuh"
#include "cuda_tuning.h"
extern "C" {
#include "base/async.h"
#include "grid_internal.h"
}

/* The start of CUDA takes a fifth of a second: a thread does it, and pins memory, while the input
 * is read. Its end takes a tenth: half of it is done while the output is written. */
static struct {
    bool begun, closed;
    lat_async async;  /* the start, or the end */
    const char *gpus; /* the options', and where this rank is */
    int host_rank, ranks;
    cudaError_t count, kernel; /* what was found: devices, and code for the one that is used */
    int devices, number;       /* how many there are; the one that is used */
    cudaDeviceProp device;
    void *pinned[2]; /* staging buffers of the device that is opened first; NULL: it has them */
    char bad_list[160];
} start;

/* Of the list, or of all there are, the one for this rank of its host. */
static cudaError_t choose_device(void)
{
    int list[64], n = 0;
    for (const char *p = start.gpus; p && *p && n < 64;) {
        char *end;
        const long v = strtol(p, &end, 10);
        if (end == p || v < 0 || v >= start.devices || (*end && *end != ',')) {
            snprintf(start.bad_list, sizeof start.bad_list,
                     "GPUs '%.40s': expected numbers from 0 to %d, such as 0,1", start.gpus,
                     start.devices - 1);
            return cudaErrorInvalidDevice;
        }
        list[n++] = (int)v;
        p = *end ? end + 1 : end;
    }
    start.number = n ? list[start.host_rank % n] : start.host_rank % start.devices;
    return cudaSetDevice(start.number);
}

/* What fails here is tried again, and reported, when the device is opened. */
static void pin_buffers(void)
{
    for (void *&p : start.pinned)
        if (cudaMallocHost(&p, LAT_CUDA_STAGE) != cudaSuccess) {
            p = NULL;
            (void)cudaGetLastError();
        }
}

static int start_device(void *nothing)
{
    (void)nothing;
    cudaFuncAttributes attributes;
    start.count = cudaGetDeviceCount(&start.devices);
    if (start.count == cudaSuccess && start.devices > 0) {
        start.kernel = choose_device();
        if (start.kernel == cudaSuccess)
            start.kernel = cudaFree(NULL); /* the context */
        if (start.kernel == cudaSuccess)
            start.kernel = cudaFuncGetAttributes(&attributes, lat_cuda_any_kernel());
        if (start.kernel == cudaErrorNoKernelImageForDevice
            && cudaGetDeviceProperties(&start.device, start.number) != cudaSuccess)
            start.kernel = cudaErrorUnknown;
        if (start.kernel == cudaSuccess)
            pin_buffers();
    }
    return 0;
}

/* The runtime would take a tenth of a second to find out. */
static bool driver_there(void)
{
    static void *library;
    if (!library)
        library = dlopen("libcuda.so.1", RTLD_LAZY);
    return library;
}

/* Queues to the device that are made with a context, 8 of each kind where nobody says: a tenth of a
 * second at its start and its end. A rank alone has one stream. */
static void few_queues(void)
{
    if (start.ranks > 1)
        return;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
    setenv("CUDA_DEVICE_MAX_COPY_CONNECTIONS", "1", 0);
}

static void set_choice(const lat_device_options *options, const lat_comm *comm)
{
    start.gpus = options->gpus;
    start.host_rank = comm->host_rank;
    start.ranks = comm->size;
    few_queues();
}

bool lat_cuda_begin(const lat_device_options *options, const lat_comm *comm)
{
    if (!start.begun && driver_there()) {
        set_choice(options, comm);
        start.begun = lat_async_start(&start.async, 1, start_device, NULL) == 0;
    }
    return start.begun;
}

void lat_cuda_end(void) { lat_async_drop(&start.async); }

/* The driver forgets the GPU when its descriptor for unified memory is closed, which takes a
 * twentieth of a second: at the end of the process nothing else would go on beside it. /dev/null
 * takes the number, so that no file of ours gets one that the driver knows. */
static void hand_back(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    DIR *descriptors = opendir("/proc/self/fd");
    for (const dirent *d; nothing >= 0 && descriptors && (d = readdir(descriptors));) {
        char is[32] = "";
        if (readlinkat(dirfd(descriptors), d->d_name, is, sizeof is - 1) > 0
            && !strcmp(is, "/dev/nvidia-uvm"))
            dup3(nothing, atoi(d->d_name), O_CLOEXEC);
    }
    if (descriptors)
        closedir(descriptors);
    if (nothing >= 0)
        close(nothing);
}

static int reset_device(void *nothing)
{
    (void)nothing;
    if (cudaSetDevice(start.number) == cudaSuccess && cudaDeviceReset() == cudaSuccess)
        hand_back();
    return 0;
}

bool lat_cuda_available(const lat_device_options *options, const lat_comm *comm)
{
    if (!driver_there()) {
        lat_fail("no GPU: no NVIDIA driver found");
        return false;
    }
    if (start.closed) {
        lat_fail("GPU: it was given back when the input had come to its end, and is wanted again");
        return false;
    }
    lat_cuda_end();
    if (!start.begun) {
        set_choice(options, comm);
        start_device(NULL);
    }
    start.begun = true;
    if (start.count != cudaSuccess || start.devices == 0) {
        lat_fail("no GPU: %s",
                 start.count != cudaSuccess ? cudaGetErrorString(start.count) : "no device found");
        return false;
    }
    if (*start.bad_list)
        lat_fail_usage("%s", start.bad_list);
    else if (start.kernel == cudaErrorNoKernelImageForDevice)
        lat_fail("%s: compute capability %d.%d is not among those this program was built for "
                 "(" LAT_CUDA_ARCH ")",
                 start.device.name, start.device.major, start.device.minor);
    else
        lat_cuda_failed(start.kernel, "starting it");
    return start.kernel == cudaSuccess
           && !lat_cuda_failed(cudaSetDevice(start.number), "choosing it"); /* for this thread */
}

int lat_cuda_device_number(void) { return start.number; }

/* ---- the device ------------------------------------------------------------------------------ */

static int open_device(lat_cuda_device *c)
{
    cudaDeviceProp p = {};
    if (lat_cuda_failed(cudaGetDeviceProperties(&p, start.number), "asking what it is")
        || lat_cuda_failed(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking),
                           "making a stream"))
        return -1;
    snprintf(c->dev.place, sizeof c->dev.place, "GPU %d at %04x:%02x:%02x", start.number,
             p.pciDomainID, p.pciBusID, p.pciDeviceID);
    c->processors = p.multiProcessorCount;
    c->overlap = p.major >= 9;
    if (start.ranks > 1)
        snprintf(c->dev.name, sizeof c->dev.name, "gpu %.30s x %d", p.name, start.ranks);
    else
        snprintf(c->dev.name, sizeof c->dev.name, "gpu %.50s", p.name);
    for (int i = 0; i < 2; i++) {
        c->pinned[i] = start.pinned[i];
        start.pinned[i] = NULL;
        if (lat_cuda_malloc(&c->raw[i], LAT_CUDA_STAGE, "staging buffers")
            || (!c->pinned[i]
                && lat_cuda_failed(cudaMallocHost(&c->pinned[i], LAT_CUDA_STAGE), "pinning memory"))
            || lat_cuda_failed(cudaEventCreateWithFlags(&c->done[i], cudaEventDisableTiming),
                               "making an event"))
            return -1;
    }
    if (start.ranks > 1 && !(c->carrier = lat_cuda_carrier_open(&c->dev)))
        return -1;
    return 0;
}

lat_device *lat_device_gpu(const lat_device_options *options, const lat_comm *comm)
{
    lat_cuda_device *c = (lat_cuda_device *)lat_alloc_zero(1, sizeof *c, "a device");
    if (!c)
        return NULL;
    c->dev.grid = &lat_grid_gpu;
    c->dev.comm = comm;
    c->dev.options = *options;
    c->dev.gpu = true;
    if (open_device(c)) {
        lat_cuda_device_close(&c->dev);
        return NULL;
    }
    return &c->dev;
}

void lat_cuda_device_close(lat_device *dev)
{
    lat_cuda_device *c = (lat_cuda_device *)dev;
    const int ranks = dev->comm->size;
    if (ranks > 1 && *lat_error())
        return; /* neighbours may still be at work in its memory; the process is about to end */
    lat_cuda_carrier_close(c->carrier);
    for (int i = 0; i < 2; i++) {
        lat_cuda_free(c->raw[i]);
        cudaFreeHost(c->pinned[i]);
        if (c->done[i])
            cudaEventDestroy(c->done[i]);
    }
    if (c->stream)
        cudaStreamDestroy(c->stream);
    free(c);
    if (ranks == 1) /* of several ranks MPI may have it in use, too */
        start.closed = lat_async_start(&start.async, 1, reset_device, NULL) == 0;
}
