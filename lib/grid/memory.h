/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: how much memory a device has left. */
#pragma once

#include "device.h"

/* Bytes that are free on the device, the fewest of any rank; INFINITY on the CPU, which is not
 * asked. Below zero with lat_error set. All ranks call it. */
double lat_device_free_bytes(const lat_device *dev);

/* Will that many bytes fit? On the CPU they always do. `what` begins the sentence otherwise:
 * "lattice 4 4 4 4 in single". Without asking other ranks. 0, or -1 with lat_error set. */
int lat_device_check_memory(const lat_device *dev, double bytes, const char *what);

/* The same for this rank's GPU. */
double lat_gpu_free_bytes(void);
int lat_gpu_check_memory(double bytes, const char *what);
