/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: how much memory a device has left. */
#ifndef LAT_GRID_MEMORY_H
#define LAT_GRID_MEMORY_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that are free on the device, the fewest of any rank; INFINITY on the CPU, which is not
 * asked. Below zero with lat_error set. All ranks call it. */
double lat_device_free_bytes(const lat_device *dev);

/* For this rank's GPU, without asking others. */
double lat_gpu_free_bytes(void);

#ifdef __cplusplus
}
#endif
#endif
