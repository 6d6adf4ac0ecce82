/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_single.cuh: passes over vectors of one column in single precision for one N (template;
 * ghost_gpu.cu expands it): SIZE is N, NAME(x) gives names. A vector is [site][ROW]; links that g
 * transforms are [unit][direction][16 bytes of N - 1 rows][site of a unit], without weights. A
 * thread is a site of a chunk. */
#define COLOURS (SIZE * SIZE - 1)
#define ROW (SIZE * SIZE / 2 * 2)
#define PIECES (SIZE * (SIZE - 1) / 2)
#include "hop_site.h"

static __device__ __forceinline__ void NAME(fetch)(float v[ROW], const float *from, uint32_t site)
{
#pragma unroll
    for (int i = 0; i < ROW; i += 4) {
        const float4 four = ((const float4 *)from)[(size_t)site * (ROW / 4) + (size_t)(i / 4)];
        v[i] = four.x;
        v[i + 1] = four.y;
        v[i + 2] = four.z;
        v[i + 3] = four.w;
    }
}

static __device__ __forceinline__ void NAME(put)(float *to, uint32_t site, const float v[ROW])
{
#pragma unroll
    for (int i = 0; i < ROW; i += 4)
        ((float4 *)to)[(size_t)site * (ROW / 4) + (size_t)(i / 4)] = make_float4(
            v[i], v[i + 1], v[i + 2], v[i + 3]);
}

/* A link, with the row that follows from the others; piece 0 is at w. */
static __device__ __forceinline__ void NAME(link)(float u[2 * SIZE * SIZE], const float4 *w,
                                                  uint32_t sites)
{
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
        const float4 four = __ldg(w + (size_t)i * sites);
        u[4 * i] = four.x;
        u[4 * i + 1] = four.y;
        u[4 * i + 2] = four.z;
        u[4 * i + 3] = four.w;
    }
    float *last = u + 4 * PIECES;
    if (SIZE == 2) { /* - conj(u01), conj(u00) */
        last[0] = -u[2];
        last[1] = u[3];
        last[2] = u[0];
        last[3] = -u[1];
    } else {
#pragma unroll
        for (int j = 0; j < SIZE; j++) {
            const int k = 2 * ((j + 1) % SIZE), l = 2 * ((j + 2) % SIZE), row = 2 * SIZE;
            last[2 * j] = u[k] * u[row + l] - u[k + 1] * u[row + l + 1]
                          - (u[l] * u[row + k] - u[l + 1] * u[row + k + 1]);
            last[2 * j + 1] = u[l] * u[row + k + 1] + u[l + 1] * u[row + k]
                              - (u[k] * u[row + l + 1] + u[k + 1] * u[row + l]);
        }
    }
}

/* s += factor (u + u^+) */
static __device__ __forceinline__ void NAME(add_hermitian)(float s[2 * SIZE * SIZE],
                                                           const float u[2 * SIZE * SIZE],
                                                           float factor)
{
#pragma unroll
    for (int i = 0; i < SIZE; i++)
#pragma unroll
        for (int k = 0; k < SIZE; k++) {
            const float *a = u + 2 * (i * SIZE + k), *b = u + 2 * (k * SIZE + i);
            s[2 * (i * SIZE + k)] += factor * (a[0] + b[0]);
            s[2 * (i * SIZE + k) + 1] += factor * (a[1] - b[1]);
        }
}

/* out = M in at a site; returns their product there. */
static __device__ __forceinline__ float NAME(hop_site)(const lat_ghost_sites &s, const float *links,
                                                       const float *in, float *out, uint32_t unit,
                                                       uint32_t site)
{
    const uint32_t sites = (uint32_t)(s.time < 0 ? s.sites : s.block), first = unit * sites;
    float w[SIZE][SIZE][2], g[SIZE][SIZE][2], u[2 * SIZE * SIZE], diagonal[2 * SIZE * SIZE], v[ROW],
        dot = 0;
#pragma unroll
    for (int i = 0; i < SIZE; i++)
#pragma unroll
        for (int k = 0; k < SIZE; k++)
            g[i][k][0] = g[i][k][1] = diagonal[2 * (i * SIZE + k)] =
                diagonal[2 * (i * SIZE + k) + 1] = 0;
    uint32_t stride = 1, rest = site - first;
#pragma unroll
    for (int d = 0; d < LAT_MAX_DIMS; d++) {
        if (d >= s.directions)
            break;
        const uint32_t extent = (uint32_t)s.dims[d], x = rest % extent,
                       up = x + 1 == extent ? site - x * stride : site + stride,
                       down = x == 0 ? site + (extent - 1) * stride : site - stride;
        const float4 *at = (const float4 *)links
                           + (size_t)(unit * (uint32_t)s.directions + (uint32_t)d) * PIECES * sites;
        const float half = (float)(s.weight[d] / 2);
        for (int back = 0; back < 2; back++) {
            NAME(fetch)(v, in, back ? down : up);
#pragma unroll
            for (int c = 0; c < COLOURS; c++)
                v[c] *= half;
            NAME(matrix)(SIZE, v, w);
            NAME(link)(u, at + ((back ? down : site) - first), sites);
            NAME(add)(SIZE, g, u, back, true, w);
            NAME(add_hermitian)(diagonal, u, half / 2);
        }
        rest /= extent;
        stride *= extent;
    }
    NAME(fetch)(v, in, site);
    NAME(matrix)(SIZE, v, w);
    NAME(add)(SIZE, g, diagonal, false, false, w);
    float result[ROW] = {0};
    NAME(project)(SIZE, g, result, v, &dot, NULL);
    NAME(put)(out, site, result);
    return dot;
}

/* The other passes, a row. */
template <lat_ghost_pass_name PASS>
static __device__ __forceinline__ void NAME(row)(const call &c, uint32_t site, float factor,
                                                 float *product, float *square)
{
    float a[ROW], b[ROW], r[ROW];
    NAME(fetch)(a, (const float *)c.in, site);
    if (PASS == LAT_GHOST_UPDATE) { /* x += a p; z = r -= a q */
        NAME(fetch)(r, (const float *)c.also, site);
        NAME(fetch)(b, (const float *)c.third, site);
#pragma unroll
        for (int k = 0; k < ROW; k++)
            r[k] -= factor * b[k];
        NAME(put)((float *)c.also, site, r);
        NAME(put)((float *)c.third, site, r);
    }
    NAME(fetch)(b, (const float *)(PASS == LAT_GHOST_NORMS ? c.other : c.out), site);
#pragma unroll
    for (int k = 0; k < ROW; k++) {
        *product += a[k] * b[k];
        *square += a[k] * a[k];
        b[k] = PASS == LAT_GHOST_UPDATE ? b[k] + factor * a[k] : a[k] + factor * b[k];
    }
    if (PASS != LAT_GHOST_NORMS)
        NAME(put)((float *)c.out, site, b);
}

template <lat_ghost_pass_name PASS>
static __global__ void __launch_bounds__(THREADS, 4)
    NAME(over)(const __grid_constant__ lat_ghost_sites s, const __grid_constant__ call c)
{
    constexpr int EACH = PASS == LAT_GHOST_HOP ? 1 : PASS == LAT_GHOST_NORMS ? 2 : 0;
    const uint32_t block = blockIdx.y, unit = (uint32_t)unit_of(s, block),
                   from = blockIdx.x * THREADS + threadIdx.x,
                   site = block * (uint32_t)s.block + from;
    float product = 0, square = 0;
    if (from < s.block && !(c.idle && c.idle[unit])) {
        if (PASS == LAT_GHOST_HOP)
            product = NAME(hop_site)(s, (const float *)c.links, (const float *)c.in, (float *)c.out,
                                     unit, site);
        else
            NAME(row)<PASS>(c, site, (float)factor_of(c, (int)unit), &product, &square);
    }
    double *sums = c.partial + ((size_t)block * gridDim.x + blockIdx.x) * EACH;
    for (int i = 0; i < EACH; i++) {
        const double sum = add_block((double)(i ? square : product));
        if (threadIdx.x == 0)
            sums[i] = sum;
    }
}

static cudaError_t NAME(launch)(const lat_ghost_sites &s, const call &c, lat_ghost_pass_name pass,
                                dim3 blocks, cudaStream_t stream)
{
    switch (pass) {
    case LAT_GHOST_HOP: NAME(over)<LAT_GHOST_HOP><<<blocks, THREADS, 0, stream>>>(s, c); break;
    case LAT_GHOST_UPDATE:
        NAME(over)<LAT_GHOST_UPDATE><<<blocks, THREADS, 0, stream>>>(s, c);
        break;
    case LAT_GHOST_NORMS: NAME(over)<LAT_GHOST_NORMS><<<blocks, THREADS, 0, stream>>>(s, c); break;
    case LAT_GHOST_EXTEND:
        NAME(over)<LAT_GHOST_EXTEND><<<blocks, THREADS, 0, stream>>>(s, c);
        break;
    default: return cudaErrorInvalidValue; /* not for one column */
    }
    return cudaGetLastError();
}
#undef COLOURS
#undef ROW
#undef PIECES
