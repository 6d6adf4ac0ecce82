/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_kernels.cu: products of links and lines, compiled once for each LAT_N, in double. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "loops_cuda.cuh"

#define LAT_REGISTERS 4 /* matrices of such N are in registers */
#include "grid/cuda_real.cuh"
#include "loops_sites.cuh"

extern "C" const lat_cuda_loops_ops LAT_(lat_cuda_loops_ops) = {
    LAT_(launch_smear), LAT_(launch_gauge),    LAT_(launch_transform),
    LAT_(launch_steps), LAT_(launch_lengthen),
};
