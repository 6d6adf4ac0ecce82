/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_half.cu: hops in half precision. */
#define LAT_P LAT_STORAGE_HALF
#define LAT_HOP_LAUNCH lat_hop_half
#include "dirac/cuda/cuda_hop_launch.cuh"
