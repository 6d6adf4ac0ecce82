/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_kernels.cu: the kernels that make configurations, compiled once for each N (LAT_N) and
 * precision (LAT_SIZE). */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <cuda_pipeline_primitives.h>
#include "generate_cuda.cuh"

#define LAT_REGISTERS 4 /* matrices of such N are in registers of one thread */
#if LAT_N == 4          /* Six copies of a draw would outgrow the cache of instructions. */
#define LAT_NOINLINE static __device__ __noinline__
#endif
#include "grid/cuda_real.cuh"
#include "grid/cuda_links.cuh"

/* Where the link of site i of a parity is. */
static __device__ __forceinline__ LAT_V *LAT_(link_at)(const lat_cuda_links &w, int parity,
                                                       uint32_t i, int dir)
{
    return (LAT_V *)w.u + LAT_(offset)(w, parity, i, w.nd, CH, dir);
}

#if LAT_N <= LAT_REGISTERS
#include "generate_sweeps.cuh" /* a thread is a link */
#else
#include "generate_tiles.cuh" /* a tile of threads is a link */
#endif
#include "generate_launch.cuh" /* all this for the host side */

extern "C" const lat_cuda_link_ops LAT_(lat_cuda_link_ops);
const lat_cuda_link_ops LAT_(lat_cuda_link_ops) = {
    LAT_(update),
    REUNIT,
    LAT_(plaquette),
};
