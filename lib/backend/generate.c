/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.c: the choice of a backend for making configurations. */
#include "generate.h"

#include "common/error.h"

const lat_generate *lat_generate_find(lat_device_choice choice)
{
    if (choice == LAT_DEVICE_GPU)
        return lat_generate_gpu.available() ? &lat_generate_gpu : NULL;
    if (choice == LAT_DEVICE_AUTO && lat_generate_gpu.available())
        return &lat_generate_gpu;
    lat_error_clear();
    return &lat_generate_cpu;
}
