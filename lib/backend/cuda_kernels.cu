/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_kernels.cu: the kernels of the CUDA backend, compiled once for each N (LAT_N) and precision (LAT_SIZE) */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <cuda_pipeline_primitives.h>
#include "cuda.cuh"

#define LAT_WIDTH 1
#if LAT_SIZE == 4
#define LAT_T float
#define LAT_S float
#define LAT_V float4
#define LETTER f
#define WEIGHT(w) (w).weight_single
#define HOW(how) (how).single
#else
#define LAT_T double
#define LAT_S double
#define LAT_V double2
#define LETTER d
#define WEIGHT(w) (w).weight
#define HOW(how) (how).real
#endif
#define LAT_HD static __device__ __forceinline__
#if LAT_N <= 3
#define LAT_UNROLL _Pragma("unroll")
#else
#define LAT_UNROLL _Pragma("unroll 1")
#endif
#define JOIN_(a, b, c) a##_##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define LAT_(x) JOIN(x, LETTER, LAT_N)

/* Threads of a block, and how many such blocks a processor has room for: so many registers a thread may have. With one site a
 * thread 128 of them are enough; matrices of larger N are in memory anyway, and draws in double are slower with fewer. */
#define BLOCK 128
#define BOUNDS(copies, visit) __launch_bounds__(256, (copies) > 1 || LAT_N > 3 || (LAT_SIZE == 8 && (visit) == LAT_VISIT_BATH) ? 1 : 2)

/* Lets the next kernel begin where this one has begun everywhere, and waits for the one before to be done (start() in
 * cuda_sweeps.cuh): what does not depend on that one comes before this. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WAIT_FOR_GRID() (cudaTriggerProgrammaticLaunchCompletion(), cudaGridDependencySynchronize())
#else
#define WAIT_FOR_GRID() ((void)0)
#endif

#include "cuda_sweeps.cuh"

extern "C" const lat_cuda_ops LAT_(lat_cuda_ops);
const lat_cuda_ops LAT_(lat_cuda_ops) = {
    LAT_N, LAT_SIZE, (const void *)LAT_(total),
    LAT_(load), LAT_(set), LAT_(get), LAT_(sweep), LAT_(sum), LAT_(state_blocks),
};
