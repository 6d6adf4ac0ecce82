/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h: memcpy by all threads: one alone does not fill the way to a device. */
#ifndef LAT_BACKEND_COPY_H
#define LAT_BACKEND_COPY_H

#include <stddef.h>

void lat_copy(void *to, const void *from, size_t bytes);

/* For benchmarks: bytes read and written by copies on the GPU, GB a second; below zero on failure. */
double lat_gpu_copy_bandwidth(size_t bytes);

#endif
