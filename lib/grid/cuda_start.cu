/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_start.cu: is there a GPU, which one is ours, and its start. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda_host.cuh"
extern "C" {
#include "fix/fix.h"
#include "base/error.h"
extern const lat_cuda_ops lat_cuda_ops_f2;
}

/* The start of CUDA takes a fifth of a second: a thread has it behind it while the input is read.
 * Its end takes a tenth: half of it is done while the output is written. */
static struct {
    bool begun, running, left;
    pthread_t thread;
    cudaError_t count, kernel; /* what was found: devices, and code for the one that is used */
    int devices, number;       /* how many there are; the one that is used */
    cudaDeviceProp device;
    char bad_list[160];
} start;

/* Of the list, or of all there are, the one for this rank of its host. */
static cudaError_t choose_device(void)
{
    const int rank = lat_comm_world->host_rank;
    int list[64], n = 0;
    for (const char *p = lat_gpu_opts.list; p && *p && n < 64;) {
        char *end;
        const long v = strtol(p, &end, 10);
        if (end == p || v < 0 || v >= start.devices || (*end && *end != ',')) {
            snprintf(start.bad_list, sizeof start.bad_list,
                     "GPUs '%.40s': expected numbers from 0 to %d, such as 0,1", lat_gpu_opts.list,
                     start.devices - 1);
            return cudaErrorInvalidDevice;
        }
        list[n++] = (int)v;
        p = *end ? end + 1 : end;
    }
    start.number = n ? list[rank % n] : rank % start.devices;
    return cudaSetDevice(start.number);
}

static void *start_device(void *nothing)
{
    cudaFuncAttributes attributes;
    start.count = cudaGetDeviceCount(&start.devices);
    if (start.count == cudaSuccess && start.devices > 0) {
        start.kernel = choose_device();
        if (start.kernel == cudaSuccess)
            start.kernel = cudaFree(NULL); /* the context */
        if (start.kernel == cudaSuccess)
            start.kernel = cudaFuncGetAttributes(&attributes, lat_cuda_ops_f2.any);
        if (start.kernel == cudaErrorNoKernelImageForDevice
            && cudaGetDeviceProperties(&start.device, start.number) != cudaSuccess)
            start.kernel = cudaErrorUnknown;
    }
    return nothing;
}

/* Signals are the main thread's. */
static bool in_thread(void *(*job)(void *))
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    start.running = pthread_create(&start.thread, NULL, job, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return start.running;
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
 * second at its start and its end. Alone we have one stream. */
static void few_queues(void)
{
    if (lat_comm_world->size > 1)
        return;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
    setenv("CUDA_DEVICE_MAX_COPY_CONNECTIONS", "1", 0);
}

bool lat_cuda_begin(void)
{
    if (!start.begun && driver_there()) {
        few_queues();
        start.begun = in_thread(start_device);
    }
    return start.begun;
}

void lat_cuda_end(void)
{
    if (start.running)
        pthread_join(start.thread, NULL);
    start.running = false;
}

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

static void *reset_device(void *nothing)
{
    if (cudaSetDevice(start.number) == cudaSuccess && cudaDeviceReset() == cudaSuccess)
        hand_back();
    return nothing;
}

void lat_cuda_release(void)
{
    if (!start.begun)
        return;
    lat_cuda_end();
    if (start.kernel == cudaSuccess
        && lat_comm_world->size == 1) /* of several ranks MPI may have it in use, too */
        start.left = in_thread(reset_device);
}

int lat_cuda_released(void)
{
    return start.left ? lat_fail(
               "GPU: it was given back when the input had come to its end, and is wanted again")
                      : 0;
}

bool lat_cuda_available(void)
{
    if (!driver_there()) {
        lat_fail("no GPU: no NVIDIA driver found");
        return false;
    }
    lat_cuda_end();
    if (!start.begun) {
        few_queues();
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
