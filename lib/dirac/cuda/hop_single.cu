/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_single.cu: hops in single precision. */
#define LAT_P LAT_STORAGE_SINGLE
#define LAT_HOP_LAUNCH lat_hop_single
#include "dirac/cuda/cuda_hop_launch.cuh"
