/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_kernels.cu: the kernels of the gradient flow, compiled once for each LAT_N, in double. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "flow_cuda.cuh"

#define LAT_REGISTERS 4 /* matrices of such N are in registers */
#include "grid/cuda_real.cuh"
#include "flow_passes.cuh"

extern "C" const lat_cuda_flow_ops LAT_(lat_cuda_flow_ops) = {
    LAT_(launch_wilson), LAT_(launch_staples), LAT_(launch_plane),
    LAT_(launch_apply),  LAT_(launch_apart),   LAT_(launch_numbers),
};
