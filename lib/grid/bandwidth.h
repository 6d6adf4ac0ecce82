/* SPDX-License-Identifier: BSD-3-Clause */
/* bandwidth.h: what benchmarks compare with. */
#pragma once

#include <stddef.h>

/* Bytes read and written by copies on the GPU, GB a second; below zero on failure. */
double lat_gpu_copy_bandwidth(size_t bytes);
