/* SPDX-License-Identifier: BSD-3-Clause */
/* fix.c: the choice of a backend. */
#include "fix.h"

#include <stddef.h>
#include "base/error.h"

lat_gpu_options lat_gpu_opts;

/* Who names GPUs wants one of them. */
static lat_device_choice wanted(lat_device_choice choice)
{
    return choice == LAT_DEVICE_AUTO && lat_gpu_opts.list ? LAT_DEVICE_GPU : choice;
}

const lat_backend *lat_backend_find(lat_device_choice choice)
{
    if (wanted(choice) == LAT_DEVICE_CPU)
        return &lat_backend_cpu;
    double missing = !lat_backend_gpu.available();
    if (wanted(choice) == LAT_DEVICE_GPU)
        return missing ? NULL : &lat_backend_gpu;
    if (missing)
        lat_error_clear(); /* the CPU will do */
    /* Ranks on different backends would not understand each other. */
    if (lat_comm_world->max(lat_comm_world, &missing, 1))
        return NULL;
    return missing ? &lat_backend_cpu : &lat_backend_gpu;
}

int lat_backend_begin(lat_device_choice choice)
{
    const lat_backend *gpu = &lat_backend_gpu;
    if (choice == LAT_DEVICE_CPU && lat_gpu_opts.list)
        return lat_fail_usage("--gpus %s and --device cpu contradict each other",
                              lat_gpu_opts.list);
    if (choice == LAT_DEVICE_CPU && lat_gpu_opts.transport != LAT_TRANSPORT_AUTO)
        return lat_fail_usage("--transport is for GPUs, and contradicts --device cpu");
    if (choice == LAT_DEVICE_CPU || (gpu->begin && gpu->begin())
        || wanted(choice) == LAT_DEVICE_AUTO)
        return 0;
    return gpu->available() ? 0 : -1;
}

void lat_backend_release(void)
{
    if (lat_backend_gpu.leave)
        lat_backend_gpu.leave();
}

void lat_backend_end(void)
{
    if (lat_backend_gpu.end)
        lat_backend_gpu.end();
}
