/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.c: the choice of a backend. */
#include "backend.h"

#include <stddef.h>
#include "common/error.h"

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
