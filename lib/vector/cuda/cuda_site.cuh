/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_site.cuh: what ends of hops and passes share: products of the spinors of a site that are in
 * registers, sums of them over a warp, scalars that are on the device. */
#pragma once

#include "vector/cuda/cuda_spinor.cuh"
#include "vector/shadow.h"
extern "C" {
#include "vector/space.h"
}

/* unit <y, v> */
template <class real>
DEVICE void dot(double sum[2], const real y[24], const real v[24], real unit = 1)
{
    real re = 0, im = 0;
#pragma unroll
    for (int k = 0; k < 24; k += 2) {
        re = fused(y[k + 1], v[k + 1], fused(y[k], v[k], re));
        im = fused(-y[k + 1], v[k], fused(y[k], v[k + 1], im));
    }
    sum[0] = unit * re;
    sum[1] = unit * im;
}

/* unit <e, v> of site i of a parity (shadow.h); swap: the lower spins of v are stored first. */
template <class real>
DEVICE void shadow_of(double sum[2], const real v[24], uint32_t i, int parity, bool swap,
                      real unit = 1)
{
    const uint32_t signs = lat_shadow_signs(2 * i + (uint32_t)parity);
    real re = 0, im = 0;
#pragma unroll
    for (int s = 0; s < 4; s++) {
        const real e = signs << (swap ? s ^ 2 : s) & 0x80000000u ? (real)-1 : (real)1;
        re += e * (v[6 * s] + v[6 * s + 2] + v[6 * s + 4]);
        im += e * (v[6 * s + 1] + v[6 * s + 3] + v[6 * s + 5]);
    }
    sum[0] = unit * re;
    sum[1] = unit * im;
}

/* y += a x, and a complex. */
template <class real> DEVICE void add_times(real y[24], lat_scalar a, const real x[24])
{
    const real re = (real)a.re, im = (real)a.im;
#pragma unroll
    for (int k = 0; k < 24; k += 2) {
        y[k] += re * x[k] - im * x[k + 1];
        y[k + 1] += re * x[k + 1] + im * x[k];
    }
}

template <class real> DEVICE void times(real y[24], lat_scalar a)
{
    const real re = (real)a.re, im = (real)a.im;
#pragma unroll
    for (int k = 0; k < 24; k += 2) {
        const real r = y[k];
        y[k] = re * r - im * y[k + 1];
        y[k + 1] = re * y[k + 1] + im * r;
    }
}

/* v += i g gamma5 x */
template <class real> DEVICE void add_gamma5(real v[24], const real x[24], real g)
{
    lat_algebra<real>::add_twist(v, x, -g); /* gamma5 x = (- lower, - upper) */
}

template <class real> DEVICE real norm_of(const real y[24])
{
    real q = 0;
#pragma unroll
    for (int k = 0; k < 24; k++)
        q += y[k] * y[k];
    return q;
}

/* A number that the kernel before this one has made. */
DEVICE lat_scalar known(const lat_scalar *later, int column)
{
    const volatile lat_scalar *const at = later + column;
    return lat_scalar{at->re, at->im};
}

/* Sums of N numbers over a warp, N a power of 2 up to 32: lanes k 32/N and up get number k. At each
 * step a lane keeps half of its numbers and gives the other half away. Lanes are added in pairs
 * that are 16, 8, 4, 2, 1 apart, whatever N. */
template <int N, int APART = 16, class real> DEVICE real sum_over_warp(real *v)
{
    enum { KEPT = N > 1 ? N / 2 : 1, OTHER = N / 2 };
    const bool upper = threadIdx.x & APART;
#pragma unroll
    for (int i = 0; i < KEPT; i++) {
        const real mine = upper ? v[i + OTHER] : v[i], other = upper ? v[i] : v[i + OTHER];
        v[i] = mine + __shfl_xor_sync(~0u, other, APART);
    }
    if constexpr (APART > 1)
        return sum_over_warp<KEPT, APART / 2>(v);
    return v[0];
}

/* The sum of a warp's numbers to partial[]. */
DEVICE void sum_up(double *partial, double v)
{
    const double sum = sum_over_warp<1>(&v);
    if (threadIdx.x % 32 == 0)
        *partial = sum;
}
