/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_columns.cuh: passes over columns side by side for one N (template; ghost_kernels.cuh
 * expands it): SIZE is N, NAME(x) gives names. A thread is a column of the sites of a chunk, one
 * after the other. */
#define COLOURS (SIZE * SIZE - 1)
#define ELEMENTS (2 * SIZE * SIZE)
#include "hop_site.h"

/* A link, 16 bytes at a time. */
static __device__ __forceinline__ const double *NAME(load)(const double *p, double *u)
{
#pragma unroll
    for (int i = 0; i < ELEMENTS; i += 2) {
        const double2 v = *(const double2 *)(p + i);
        u[i] = v.x;
        u[i + 1] = v.y;
    }
    return u;
}
static __device__ void NAME(ahead)(const lat_ghost_sites *, const double *, const double *) {}

#include "columns_site.h"
#include "plain_site.h"

/* out = M in at a site; sums: <in, out>, and those of out, 8 apart as colours are. */
static __device__ __forceinline__ void NAME(hop_site)(const lat_ghost_sites &s, const call &c,
                                                      uint32_t site, uint32_t offset, double *dot,
                                                      double sum[COLOURS * LAT_GHOST_PACK])
{
    const size_t here = (size_t)site * (uint32_t)(s.packs * COLOURS * LAT_GHOST_PACK) + offset;
    const place at = place_of(s, site);
    double g[SIZE][SIZE][2];
    NAME(apply)(&s, c.links, c.in + offset, &at, SIZE, g);
    NAME(project)(SIZE, g, c.out + here, c.in + here, dot, sum);
}

static __device__ __noinline__ void NAME(plain)(const lat_ghost_sites &s, const call &c,
                                                uint32_t site, uint32_t offset,
                                                const double *lambda, double *dot, double *sum)
{
    const place at = place_of(s, site);
    NAME(plain_site)(&s, &c.plain, &c, &at, offset, lambda, dot, sum);
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
            NAME(plain)(s, c, site, offset, c.given ? &factor : NULL, &dot, sum);
        else if (HOP)
            NAME(hop_site)(s, c, site, offset, &dot, sum);
        else
#pragma unroll
            for (int k = 0; k < COLOURS * LAT_GHOST_PACK; k += LAT_GHOST_PACK)
                pass_at<PASS>(c, (size_t)site * reals + offset + (size_t)k, factor,
                              mean ? mean[k] : 0, &dot, sum);
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

static kernel *const NAME(kernels)[LAT_GHOST_PASSES] = {OVER(HOP),    OVER(SHIFT), OVER(UPDATE),
                                                        OVER(DOT),    OVER(NORMS), OVER(EXTEND),
                                                        OVER(DEFECT), OVER(PLAIN)};
#undef COLOURS
#undef ELEMENTS
