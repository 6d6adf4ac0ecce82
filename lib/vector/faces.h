/* SPDX-License-Identifier: BSD-3-Clause */
/* faces.h: where the faces of a rank's box lie among the spinors of a GPU, and in what order they
 * travel to the ghosts of a neighbour.
 *
 * Sites of a parity are in planes in z, those in slices of t (vector/cuda/cuda_sites.cuh):
 * i = xy + plane (z + Z t). A face of t is a slice. A face of z is a plane of each slice, in the
 * order of t. What is counted are sites, or groups of 32 of them. A face of y is a row of x of each
 * plane, site by site, X/2 of a parity, in the order of x, z, t; it is filled up to whole groups. C
 * and CUDA. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define LAT_FACE static __host__ __device__ __forceinline__
#else
#define LAT_FACE static inline
#endif

/* Sides of a box; s ^ 1 is opposite to s, and s / 2 its axis, 0 for t, 1 for z, 2 for y. */
enum { LAT_T_DOWN, LAT_T_UP, LAT_Z_DOWN, LAT_Z_UP, LAT_Y_DOWN, LAT_Y_UP, LAT_FACES };

/* The lattice's axis. */
LAT_FACE int lat_face_axis(int side) { return 3 - side / 2; }

/* Number n of a face of t or z, among all. */
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

/* The number of a site at x/2 in a face of y; zt = z + Z t, row = X/2. */
LAT_FACE uint32_t lat_face_number_y(uint32_t row, uint32_t x, uint32_t zt) { return x + row * zt; }

/* Where number n of a face of y is: *zt, and x/2. */
LAT_FACE uint32_t lat_face_place_y(uint32_t row, uint32_t n, uint32_t *zt)
{
    *zt = n / row;
    return n - *zt * row;
}

/* Groups of 32 sites of a parity are bricks in (x/2, y), of whole planes of so many rows of x/2, if
 * one of these fits: false if none does. Ranks that cut y have whole bricks. */
static inline bool lat_gpu_brick(uint32_t row, uint32_t rows, uint32_t brick[2])
{
    static const uint32_t bricks[][2] = {{16, 2}, {8, 4}, {4, 8}, {32, 1}, {2, 16}, {1, 32}};
    for (int k = 0; k < 6; k++)
        if (row % bricks[k][0] == 0 && rows % bricks[k][1] == 0) {
            brick[0] = bricks[k][0];
            brick[1] = bricks[k][1];
            return true;
        }
    return false;
}
