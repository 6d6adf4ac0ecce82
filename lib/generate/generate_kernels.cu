/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_kernels.cu: the kernels that make configurations, compiled once for each N (LAT_N) and
 * precision (LAT_SIZE). */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "generate_cuda.cuh"

#define LAT_REGISTERS 4 /* matrices of such N are in registers */
#if LAT_N \
    == 4 /* Six copies of a draw would outgrow the cache of instructions. (Where matrices are in \
            memory nvcc 13.0 makes wrong code of calls, and of some loops: bench/NOTES.md.) */
#define LAT_NOINLINE static __device__ __noinline__
#endif
#include "grid/cuda_real.cuh"
#include "generate_sweeps.cuh"

extern "C" const lat_cuda_link_ops LAT_(lat_cuda_link_ops);
const lat_cuda_link_ops LAT_(lat_cuda_link_ops) = {
    LAT_LINK_ROWS,
    LAT_(update),
    REUNIT,
    LAT_(plaquette),
};
