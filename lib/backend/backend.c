/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.c: the choice of a backend. */
#include "backend.h"

#include <stddef.h>
#include "common/error.h"

lat_gpu_options lat_gpu_opts;

const lat_backend *lat_backend_find(lat_device_choice choice)
{
    const lat_backend *const list[] = {&lat_backend_gpu, &lat_backend_cpu};
    if (choice != LAT_DEVICE_AUTO) {
        const lat_backend *one = choice == LAT_DEVICE_GPU ? &lat_backend_gpu : &lat_backend_cpu;
        return one->available() ? one : NULL;
    }
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (list[i]->available())
            return list[i];
        lat_error_clear(); /* the next one will do */
    }
    return NULL;
}

int lat_backend_begin(lat_device_choice choice)
{
    const lat_backend *gpu = &lat_backend_gpu;
    if (choice == LAT_DEVICE_CPU || (gpu->begin && gpu->begin()) || choice == LAT_DEVICE_AUTO)
        return 0;
    return gpu->available() ? 0 : -1;
}

void lat_backend_end(void)
{
    if (lat_backend_gpu.end)
        lat_backend_gpu.end();
}
