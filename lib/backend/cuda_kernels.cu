/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_kernels.cu: the kernels of the CUDA backend, compiled once for each N (LAT_N) and precision (LAT_SIZE) */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <cuda_pipeline_primitives.h>
#include "cuda.cuh"
#include "cuda_real.cuh"

/* Threads of a block, and how many such blocks a processor has room for: so many registers a thread may have. With one site a
 * thread 128 of them are enough; matrices of larger N are in memory anyway, and draws in double are slower with fewer. */
#define BLOCK 128
#define BOUNDS(copies, visit) __launch_bounds__(256, (copies) > 1 || LAT_N > 3 || (LAT_SIZE == 8 && (visit) == LAT_VISIT_BATH) ? 1 : 2)

#include "cuda_sweeps.cuh"

extern "C" const lat_cuda_ops LAT_(lat_cuda_ops);
const lat_cuda_ops LAT_(lat_cuda_ops) = {
    LAT_N, LAT_SIZE, (const void *)LAT_(set_g),
    LAT_(load), LAT_(set), LAT_(get), LAT_(sweep), LAT_(sum), LAT_(state_blocks), LAT_(rim),
};
