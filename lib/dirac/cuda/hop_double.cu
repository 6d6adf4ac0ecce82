/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_double.cu: hops in double precision. */
#define LAT_P LAT_STORAGE_DOUBLE
#define LAT_HOP_LAUNCH lat_hop_double
#include "dirac/cuda/cuda_hop_launch.cuh"
