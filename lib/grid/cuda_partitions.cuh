/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_partitions.cuh: the partitions of the second cache. On large GPUs it has two, each with half
 * of the memory and half of the multiprocessors; what one of the latter reads from the other half
 * comes through both. */
#ifndef LAT_GRID_CUDA_PARTITIONS_CUH
#define LAT_GRID_CUDA_PARTITIONS_CUH

#include "cuda_device.cuh"

enum { LAT_CUDA_NEAR = 8 }; /* words for multiprocessors, of 32 bits each */

/* Bit m % 32 of near[m / 32]: multiprocessor m is near another partition than the first one is;
 * none where no partitions are found. Measured once in a process. 0, or -1 with lat_error set. */
int lat_cuda_partitions(const lat_cuda_device *dev, uint32_t near[LAT_CUDA_NEAR]);

#endif
