/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_kernels.cuh: passes over vectors for one N (template; ghost_gpu.cu expands it): SIZE is N,
 * NAME(x) gives names. A thread is a column of the sites of a chunk, one after the other. */
#define COLOURS (SIZE * SIZE - 1)
#define ELEMENTS (2 * SIZE * SIZE)
#include "hop_site.h"

/* A link, 16 bytes at a time. */
static __device__ __forceinline__ void NAME(load)(double u[ELEMENTS], const double *p)
{
#pragma unroll
    for (int i = 0; i < ELEMENTS; i += 2) {
        const double2 v = *(const double2 *)(p + i);
        u[i] = v.x;
        u[i + 1] = v.y;
    }
}

/* out = M in at a site; sums: <in, out>, and those of out, 8 apart as colours are. */
static __device__ __forceinline__ void NAME(hop_site)(const lat_ghost_sites &s, const double *links,
                                                      const double *in, double *out, uint32_t site,
                                                      uint32_t offset, double *dot,
                                                      double sum[COLOURS * LAT_GHOST_PACK])
{
    const uint32_t reals = (uint32_t)(s.packs * COLOURS * LAT_GHOST_PACK),
                   per = (uint32_t)((s.directions + 1) * ELEMENTS);
    const double *here = in + (size_t)site * reals + offset;
    double w[SIZE][SIZE][2], g[SIZE][SIZE][2], u[ELEMENTS];
#pragma unroll
    for (int i = 0; i < SIZE; i++)
#pragma unroll
        for (int k = i; k < SIZE; k++)
            g[i][k][0] = g[i][k][1] = 0;
    NAME(matrix)(SIZE, here, w);
    NAME(load)(u, links + (size_t)site * per + (size_t)s.directions * ELEMENTS);
    NAME(add)(SIZE, g, u, false, false, w);
    uint32_t stride = 1, rest = site;
    int d = 0;
#pragma unroll
    for (int i = 0; i < LAT_MAX_DIMS; i++) {
        if (i >= s.nd)
            break;
        const uint32_t extent = (uint32_t)s.dims[i], x = rest % extent;
        const uint32_t up = x + 1 == extent ? site - x * stride : site + stride,
                       down = x == 0 ? site + (extent - 1) * stride : site - stride;
        rest /= extent;
        stride *= extent;
        if (i == s.time)
            continue;
        NAME(matrix)(SIZE, in + (size_t)up * reals + offset, w);
        NAME(load)(u, links + (size_t)site * per + (size_t)d * ELEMENTS);
        NAME(add)(SIZE, g, u, false, true, w);
        NAME(matrix)(SIZE, in + (size_t)down * reals + offset, w);
        NAME(load)(u, links + (size_t)down * per + (size_t)d * ELEMENTS);
        NAME(add)(SIZE, g, u, true, true, w);
        d++;
    }
    NAME(project)(SIZE, g, out + (size_t)site * reals + offset, here, dot, sum);
}

/* r - M x by the definition, r = b, or lambda x: see apply_site of plain.c. dot: <b, b>, or <x, x>.
 */
static __device__ __noinline__ void NAME(plain_site)(const lat_ghost_sites &s, const call &c,
                                                     uint32_t site, uint32_t offset,
                                                     const double *lambda, double *dot, double *sum)
{
    const uint32_t reals = (uint32_t)(s.packs * COLOURS * LAT_GHOST_PACK),
                   per = (uint32_t)(s.directions * ELEMENTS);
    double x[COLOURS], y[COLOURS], there[COLOURS];
    const size_t at = (size_t)site * reals + offset;
    for (int a = 0; a < COLOURS; a++) {
        x[a] = c.in[at + (size_t)(a * LAT_GHOST_PACK)];
        y[a] = lambda ? *lambda * x[a] : c.other[at + (size_t)(a * LAT_GHOST_PACK)];
        *dot += lambda ? x[a] * x[a] : y[a] * y[a];
    }
    uint32_t stride = 1, rest = site;
    for (int i = 0, d = 0; i < s.nd; i++) {
        const uint32_t extent = (uint32_t)s.dims[i], at_axis = rest % extent;
        const uint32_t up = at_axis + 1 == extent ? site - at_axis * stride : site + stride,
                       down = at_axis == 0 ? site + (extent - 1) * stride : site - stride;
        rest /= extent;
        stride *= extent;
        if (i == s.time)
            continue;
        for (int step = 0; step < 2; step++) {
            const uint32_t next = step ? down : up;
            const double *u = c.plain + (size_t)(step ? down : site) * per + (size_t)d * ELEMENTS;
            for (int a = 0; a < COLOURS; a++)
                there[a] = c.in[(size_t)next * reals + offset + (size_t)(a * LAT_GHOST_PACK)];
            for (uint32_t k = 0; k < c.products; k++) {
                const lat_ghost_element e = c.product[k];
                const double *m = u + 2 * (e.j * SIZE + e.i),
                             t = s.weight[i] * (e.re * m[0] - e.im * m[1]);
                y[e.a] -= t * x[e.b];
                y[e.b] -= t * x[e.a];
                if (step)
                    y[e.a] += 2 * t * there[e.b];
                else
                    y[e.b] += 2 * t * there[e.a];
            }
        }
        d++;
    }
    for (int a = 0; a < COLOURS; a++) {
        c.out[at + (size_t)(a * LAT_GHOST_PACK)] = y[a];
        sum[a * LAT_GHOST_PACK] += y[a];
    }
}

/* The other passes, at a site; `k` is that of a colour and column in a mean. Sums: two of norms. */
template <lat_ghost_pass_name PASS>
static __device__ __forceinline__ void NAME(pass_site)(const call &c, size_t at, double factor,
                                                       const double *mean, double *sum,
                                                       double *square)
{
#pragma unroll
    for (int k = 0; k < COLOURS * LAT_GHOST_PACK; k += LAT_GHOST_PACK) {
        const size_t i = at + (size_t)k;
        if (PASS == LAT_GHOST_SHIFT)
            c.out[i] -= mean[k];
        if (PASS == LAT_GHOST_EXTEND)
            c.out[i] = c.in[i] + factor * c.out[i];
        if (PASS == LAT_GHOST_DOT || PASS == LAT_GHOST_NORMS)
            *sum += c.in[i] * c.other[i];
        if (PASS == LAT_GHOST_NORMS)
            *square += c.in[i] * c.in[i];
        if (PASS == LAT_GHOST_DEFECT) {
            const double r = c.other[i] - factor * c.in[i];
            c.out[i] = r;
            *sum += r * r;
        }
        if (PASS == LAT_GHOST_UPDATE) {
            const double r = c.also[i] - factor * (c.third[i] - mean[k]);
            c.out[i] += factor * c.in[i];
            c.also[i] = r;
            c.third[i] = r;
        }
    }
}

/* Sums of the chunk: partial[block][numbers]. */
template <lat_ghost_pass_name PASS>
static __global__ void __launch_bounds__(THREADS)
    NAME(over)(const __grid_constant__ lat_ghost_sites s, const __grid_constant__ call c)
{
    constexpr bool HOP = PASS == LAT_GHOST_HOP || PASS == LAT_GHOST_PLAIN;
    constexpr int EACH = HOP                                                 ? 1 + COLOURS
                         : PASS == LAT_GHOST_NORMS                           ? 2
                         : PASS == LAT_GHOST_DOT || PASS == LAT_GHOST_DEFECT ? 1
                                                                             : 0;
    __shared__ double shared[THREADS * (EACH ? EACH : 1)];
    const int columns = s.packs * LAT_GHOST_PACK, column = (int)threadIdx.x % columns,
              part = (int)threadIdx.x / columns, parts = (int)blockDim.x / columns,
              pack = column / LAT_GHOST_PACK, lane = column % LAT_GHOST_PACK;
    const uint32_t block = blockIdx.y;
    const int unit = unit_of(s, block);
    const uint32_t offset = (uint32_t)(pack * COLOURS * LAT_GHOST_PACK + lane),
                   reals = (uint32_t)(columns * COLOURS), from = blockIdx.x * CHUNK,
                   to = from + CHUNK < s.block ? from + CHUNK : (uint32_t)s.block,
                   first = block * (uint32_t)s.block;
    const double factor = factor_of(c, unit * columns + column),
                 *mean = c.mean ? c.mean + (size_t)unit * reals + offset : NULL;
    double dot = 0, sum[COLOURS * LAT_GHOST_PACK];
#pragma unroll
    for (int k = 0; k < COLOURS * LAT_GHOST_PACK; k += LAT_GHOST_PACK)
        sum[k] = 0;
    for (uint32_t site = first + from + (uint32_t)part; site < first + to; site += (uint32_t)parts)
        if (PASS == LAT_GHOST_PLAIN)
            NAME(plain_site)(s, c, site, offset, c.given ? &factor : NULL, &dot, sum);
        else if (HOP)
            NAME(hop_site)(s, c.links, c.in, c.out, site, offset, &dot, sum);
        else
            NAME(pass_site)<PASS>(c, (size_t)site * reals + offset, factor, mean, &dot, sum);
    if (EACH == 0)
        return;
    shared[threadIdx.x] = dot;
    if (EACH > 1)
#pragma unroll
        for (int k = 0; k < EACH - 1; k++)
            shared[(k + 1) * (int)blockDim.x + (int)threadIdx.x] = sum[k * LAT_GHOST_PACK];
    __syncthreads();
    /* number n < columns is a dot, columns + n a square, columns + (pack COLOURS + colour) 8 + lane
     * a sum */
    double *to_sums = c.partial + ((size_t)block * gridDim.x + blockIdx.x) * (columns * EACH);
    for (int n = (int)threadIdx.x; n < columns * EACH; n += (int)blockDim.x) {
        const int m = n - columns, p = m / (COLOURS * LAT_GHOST_PACK),
                  colour = m / LAT_GHOST_PACK % COLOURS,
                  of = n < columns ? n
                       : !HOP      ? m + (int)blockDim.x
                                   : (colour + 1) * (int)blockDim.x + p * LAT_GHOST_PACK
                                    + m % LAT_GHOST_PACK;
        double all = 0;
        for (int i = 0; i < parts; i++)
            all += shared[of + i * columns];
        to_sums[n] = all;
    }
}

static cudaError_t NAME(launch)(const lat_ghost_sites &s, const call &c, lat_ghost_pass_name pass,
                                dim3 blocks, unsigned threads, cudaStream_t stream)
{
    switch (pass) {
    case LAT_GHOST_HOP: NAME(over)<LAT_GHOST_HOP><<<blocks, threads, 0, stream>>>(s, c); break;
    case LAT_GHOST_SHIFT: NAME(over)<LAT_GHOST_SHIFT><<<blocks, threads, 0, stream>>>(s, c); break;
    case LAT_GHOST_UPDATE:
        NAME(over)<LAT_GHOST_UPDATE><<<blocks, threads, 0, stream>>>(s, c);
        break;
    case LAT_GHOST_DOT: NAME(over)<LAT_GHOST_DOT><<<blocks, threads, 0, stream>>>(s, c); break;
    case LAT_GHOST_NORMS: NAME(over)<LAT_GHOST_NORMS><<<blocks, threads, 0, stream>>>(s, c); break;
    case LAT_GHOST_EXTEND:
        NAME(over)<LAT_GHOST_EXTEND><<<blocks, threads, 0, stream>>>(s, c);
        break;
    case LAT_GHOST_DEFECT:
        NAME(over)<LAT_GHOST_DEFECT><<<blocks, threads, 0, stream>>>(s, c);
        break;
    case LAT_GHOST_GRAM:
    case LAT_GHOST_COMBINE: break; /* below */
    case LAT_GHOST_PLAIN: NAME(over)<LAT_GHOST_PLAIN><<<blocks, threads, 0, stream>>>(s, c); break;
    }
    return cudaGetLastError();
}
#undef COLOURS
#undef ELEMENTS
