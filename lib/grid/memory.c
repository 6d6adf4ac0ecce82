/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: free bytes of a device. */
#include "memory.h"

#include <math.h>

double lat_device_free_bytes(const lat_device *dev)
{
    double less = dev->gpu ? -lat_gpu_free_bytes() : -INFINITY;
    if (dev->comm->max(dev->comm, &less, 1))
        return -1;
    return -less;
}

int lat_device_check_memory(const lat_device *dev, double bytes, const char *what)
{
    return dev->gpu ? lat_gpu_check_memory(bytes, what) : 0;
}
