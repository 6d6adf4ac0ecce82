/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_fields.cuh: links as kernels see them (template; the first one that generate_kernels.cu
 * includes). How they lie is in grid/cuda_grid.cuh. */
#include "grid/cuda_matrix.cuh"
#include "site/link.h"

#define CH CHUNKS(LAT_LINK_ROWS)

/* Where the link of site i of a parity is. */
static __device__ __forceinline__ LAT_V *LAT_(link_at)(const lat_cuda_links &w, int parity,
                                                       uint32_t i, int dir)
{
    return (LAT_V *)w.u
           + ((size_t)(parity ? w.groups : 0) + i / LAT_CUDA_GROUP)
                 * (uint32_t)(w.nd * CH * LAT_CUDA_GROUP)
           + (uint32_t)(dir * CH * LAT_CUDA_GROUP) + i % LAT_CUDA_GROUP;
}
