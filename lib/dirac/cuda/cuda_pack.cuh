/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_pack.cuh: links and clover blocks from host fields, in natural order on the device, to the
 * order of a GPU. */
#pragma once

#include "dirac/cuda/cuda_links.cuh"
#include "vector/cuda/cuda_host.cuh"

/* Reals of a lane's link or clover block: chunks of 16 bytes and what is left of one. */
template <int P>
DEVICE void encode(char *block, uint32_t lane, const double *v, int reals, double unit)
{
    enum { REALS = 16 / lat_form<P>::BYTES }; /* a chunk's */
    for (int k = 0; k < reals; k++) {
        const int chunk = k / REALS, left = reals - chunk * REALS;
        const int side = left < REALS ? left : REALS; /* reals of a lane in this row of 32 */
        char *const p = block + chunk * 512
                        + ((size_t)lane * (size_t)side + (size_t)(k % REALS)) * lat_form<P>::BYTES;
        if (P == LAT_STORAGE_DOUBLE)
            *(double *)p = v[k];
        else if (P == LAT_STORAGE_SINGLE)
            *(float *)p = (float)v[k];
        else
            *(uint16_t *)p = (uint16_t)(__double2int_rn(v[k] / unit * 32767) + 32768);
    }
}

/* u[held site][mu][18] -> links[group][8][chunk][32] of a parity; blockIdx.y: x+, x-, y+ .. */
template <int P, int R>
__global__ void pack_links(const __grid_constant__ lat_gpu_sites s, int parity, const double *u,
                           char *links)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = (int)blockIdx.y, mu = n / 2;
    if (i >= s.half)
        return;
    uint32_t x[4];
    coordinates_of(s, i, parity, x);
    if (n % 2)
        x[mu] = one_step(s, mu, x[mu], true);
    encode<P>(links + ((size_t)(i / 32) * 8 + (size_t)n) * lat_link_form<P, R>::BLOCK, i % 32,
              u + (held_of(s, x) * 4 + (size_t)mu) * 18, R, 1);
}
