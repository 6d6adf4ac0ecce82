/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_kernels.cu: the kernels of the CUDA backend, compiled once for each N (LAT_N) and precision
 * (LAT_SIZE); each template here needs those before it. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <cuda_pipeline_primitives.h>
#include "fix_cuda.cuh"

#define LAT_REGISTERS 4 /* matrices of such N are in registers of one thread */
#if LAT_N == 4          /* Six copies of a draw would outgrow the cache of instructions. */
#define LAT_NOINLINE static __device__ __noinline__
#endif
#include "grid/cuda_real.cuh"
#include "grid/cuda_tuning.h"
#include "fix_fields.cuh"  /* links and g as a site sees them */
#if LAT_N <= LAT_REGISTERS /* a thread is a site */
#include "fix_sweeps.cuh"  /* a new g */
#include "fix_state.cuh"   /* how good it is */
#include "fix_launch.cuh"  /* all this for the host side */
#else
#include "fix_tiles.cuh" /* the same: a tile of threads is a site */
#endif

extern "C" const lat_cuda_ops LAT_(lat_cuda_ops);
const lat_cuda_ops LAT_(lat_cuda_ops) = {LAT_(sweep), LAT_(sum)};
