/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.c: the choice of a backend for making configurations. */
#include "generate.h"

#include <stddef.h>

bool lat_generate_all_rows;

const lat_generate *lat_generate_find(lat_device_choice choice)
{
    const lat_backend *found = lat_backend_find(choice);
    return !found ? NULL : found == &lat_backend_gpu ? &lat_generate_gpu : &lat_generate_cpu;
}
