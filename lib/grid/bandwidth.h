/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.h: what benchmarks compare with. */
#ifndef LAT_GRID_BANDWIDTH_H
#define LAT_GRID_BANDWIDTH_H

#include <stddef.h>

/* Bytes read and written by copies on the GPU, GB a second; below zero on failure. */
double lat_gpu_copy_bandwidth(size_t bytes);

#endif
