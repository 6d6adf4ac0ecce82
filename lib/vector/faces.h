/* SPDX-License-Identifier: BSD-3-Clause */
/* faces.h: where the faces of a rank's box lie among the spinors of a GPU, and in what order they
 * travel to the ghosts of a neighbour.
 *
 * Sites of a parity are in planes in z, those in slices of t (vector/cuda/cuda_sites.cuh):
 * i = xy + plane (z + Z t). A face of t is a slice. A face of z is a plane of each slice, in the
 * order of t. What is counted are sites, or groups of 32 of them. C and CUDA. */
#pragma once

#include <stdint.h>

#if defined(__CUDACC__)
#define LAT_FACE static __host__ __device__ __forceinline__
#else
#define LAT_FACE static inline
#endif

/* Sides of a box; s ^ 1 is opposite to s, and s / 2 its axis, 0 for t and 1 for z. */
enum { LAT_T_DOWN, LAT_T_UP, LAT_Z_DOWN, LAT_Z_UP, LAT_FACES };

/* Number n of a face, among all. */
LAT_FACE uint32_t lat_face_place(uint32_t plane, uint32_t slice, uint32_t slices, int side,
                                 uint32_t n)
{
    if (side < LAT_Z_DOWN)
        return (side == LAT_T_UP ? (slices - 1) * slice : 0) + n;
    const uint32_t t = n / plane;
    return t * slice + (side == LAT_Z_UP ? slice - plane : 0) + n - t * plane;
}

/* The number of site i, at z and t, in a face of z, from whichever plane of its slice. */
LAT_FACE uint32_t lat_face_number_z(uint32_t plane, uint32_t slice, uint32_t z, uint32_t t,
                                    uint32_t i)
{
    return i - z * plane - t * (slice - plane);
}
