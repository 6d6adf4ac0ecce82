/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_sweeps.cuh: the kernels that make configurations, for one N and one precision (template;
 * generate_kernels.cu expands it). A thread is a link. */
#include "grid/cuda_memory.cuh"
#include "site/link.h"

#define CH CHUNKS(LAT_LINK_ROWS)

/* Threads of a block, and how many blocks a processor has room for: so many registers a thread may
 * have. */
#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef ROOM
#define ROOM \
    (LAT_N > LAT_REGISTERS ? 2 \
     : LAT_N == 2          ? LAT_SIZE == 4 ? 8 : 5 \
     : LAT_N == 3          ? LAT_SIZE == 4 ? 4 : 2 \
     : LAT_SIZE == 4       ? 3 \
                           : 2)
#endif

/* ---- sites ---- */

/* Distances in i to the next site along each axis and to the one before. */
typedef struct {
    uint32_t up[4], down[4];
    uint64_t site;
} LAT_(steps);

static __device__ __forceinline__ LAT_(steps)
    LAT_(find)(const lat_cuda_links &w, uint32_t i, int parity)
{
    LAT_(steps) s;
    uint32_t c[4], sum = (uint32_t)parity + w.odd;
    s.site = (uint64_t)w.site_from;
#pragma unroll
    for (int a = 0; a < 4; a++) {
        const uint32_t q = LAT_(quotient)(i, w.axis[a].by_stride);
        c[a] = q - LAT_(quotient)(q, w.axis[a].by_extent) * w.axis[a].extent;
        if (w.axis[a].dir)
            sum += c[a];
    }
    const uint32_t late = sum & 1; /* x is 2 c + 1, not 2 c */
#pragma unroll
    for (int a = 0; a < 4; a++) {
        const uint32_t one = w.axis[a].stride, round = one * w.axis[a].extent;
        s.up[a] = c[a] + 1 == w.axis[a].extent ? one - round : one;
        s.down[a] = c[a] == 0 ? round - one : 0 - one;
        if (w.axis[a].dir == 0) {
            s.up[a] = late ? s.up[a] : 0;
            s.down[a] = late ? 0 : s.down[a];
            c[a] = 2 * c[a] + late;
        }
        s.site += c[a] * w.axis[a].site_step;
    }
    return s;
}

/* Where the link of site i of a parity is. */
static __device__ __forceinline__ LAT_V *LAT_(link_at)(const lat_cuda_links &w, int parity,
                                                       uint32_t i, int dir)
{
    return (LAT_V *)w.u
           + ((size_t)(parity ? w.groups : 0) + i / LAT_CUDA_GROUP)
                 * (uint32_t)(w.nd * CH * LAT_CUDA_GROUP)
           + (uint32_t)(dir * CH * LAT_CUDA_GROUP) + i % LAT_CUDA_GROUP;
}

static __device__ __forceinline__ LAT_(m)
    LAT_(read)(const lat_cuda_links &w, int parity, uint32_t i, int dir)
{
    LAT_T m[CH * PER];
    LAT_(fetch)<LAT_LINK_ROWS>(m, LAT_(link_at)(w, parity, i, dir));
    return LAT_(link_load)(m);
}

static __device__ __forceinline__ void LAT_(write)(const lat_cuda_links &w, int parity, uint32_t i,
                                                   int dir, const LAT_(m) *u)
{
    LAT_T m[CH * PER];
    LAT_(link_store)(m, u);
    LAT_(store)<LAT_LINK_ROWS>(LAT_(link_at)(w, parity, i, dir), m);
}

/* ---- updates ---- */

/* The two staples over axis a. */
static __device__ __forceinline__ void LAT_(add_staples)(const lat_cuda_links &w, int parity,
                                                         uint32_t i, const LAT_(steps) &s, int a,
                                                         LAT_(m) *sum)
{
    const int mu = w.axis[0].dir, nu = w.axis[a].dir, other = 1 - parity;
    const LAT_T weight = (LAT_T)w.axis[a].weight;
    LAT_(m) v;
    {
        const LAT_(m) x = LAT_(read)(w, parity, i, nu), y = LAT_(read)(w, other, i + s.up[a], mu),
                      z = LAT_(read)(w, other, i + s.up[0], nu);
        LAT_(staple_up)(&v, &x, &y, &z);
        LAT_(staple_add)(sum, v, weight);
    }
    {
        const uint32_t back = i + s.down[a];
        const LAT_(m) x = LAT_(read)(w, other, back, nu), y = LAT_(read)(w, other, back, mu),
                      z = LAT_(read)(w, parity, back + s.up[0], nu);
        LAT_(staple_down)(&v, &x, &y, &z);
        LAT_(staple_add)(sum, v, weight);
    }
}

/* The link for this thread, w.half or more if there is none; *side: 0 or 1 in the rim below or
 * above, otherwise -1. Updates go through the lattice to and fro: what the last one touched last is
 * still in the second cache. */
static __device__ __forceinline__ uint32_t LAT_(link_to_visit)(const lat_cuda_links &w,
                                                               const lat_cuda_draw &how, int parity,
                                                               int *side)
{
    const uint32_t b = LAT_(block_of)(how.rim_blocks, how.lead, how.spread, side);
    if (*side >= 0) {
        const uint32_t n = b * BLOCK + threadIdx.x;
        return n < w.rim ? w.from + n + (*side ? w.own - w.rim : 0) : w.half;
    }
    const uint32_t n = (parity ? gridDim.x - 2 * how.rim_blocks - 1 - b : b) * BLOCK + threadIdx.x;
    return n < w.own - 2 * w.rim ? w.from + w.rim + n : w.half;
}

/* Where the neighbour's ghost of the link of site i in our rim is. */
static __device__ __forceinline__ LAT_V *LAT_(neighbour_ghost)(const lat_cuda_links &w, int side,
                                                               int parity, uint32_t i, int dir)
{
    const lat_cuda_neighbour &s = w.side[side];
    const uint32_t j = s.ghost + i - w.from - (side ? w.own - w.rim : 0);
    return (LAT_V *)s.g
           + ((size_t)(parity ? s.groups : 0) + j / LAT_CUDA_GROUP)
                 * (uint32_t)(w.nd * CH * LAT_CUDA_GROUP)
           + (uint32_t)(dir * CH * LAT_CUDA_GROUP) + j % LAT_CUDA_GROUP;
}

/* Says to the neighbours that all steps up to `number`, of kernels before this one, are done: rims
 * have come, ghosts have been read. In the block that is the first one. */
static __device__ __forceinline__ void LAT_(signal_step)(const lat_cuda_links &w, uint32_t number)
{
    if (threadIdx.x < 2) {
        __threadfence_system(); /* what kernels before have written is seen here, and hence there */
        *(volatile uint32_t *)w.side[threadIdx.x].told = number;
    }
}

/* D: directions, or 0 for w.nd. KIND: the update, or -1 for how.update.
 * A staple over a link at the rim reaches into the ghost: links of the last direction of the slice
 * below, of other directions of both. These have come where the neighbour is done with the step
 * before; and it has read there, for that step, what this one overwrites in its ghost, which it
 * does not read in this one. So one word a step, at the beginning of the next one, is all that
 * neighbours say to each other; what waits for it, the rim, comes somewhat later. */
template <int D, int KIND>
static __global__ void __launch_bounds__(BLOCK, ROOM)
    LAT_(visit)(const __grid_constant__ lat_cuda_links w, const __grid_constant__ lat_cuda_draw how,
                int parity)
{
    int side;
    const uint32_t i = LAT_(link_to_visit)(w, how, parity, &side);
    const bool rim = side >= 0 && w.peer, first = w.peer && blockIdx.x == 0;
    if (i >= w.half && !rim && !first)
        return;
    const int mu = w.axis[0].dir, nd = D ? D : w.nd;
    const LAT_(steps) steps = LAT_(find)(w, i, parity);
    const int64_t link = (int64_t)steps.site * nd + mu;
    const LAT_(rng) dice = {how.seed, &link, how.config, how.step};
    LAT_(m) s, u;
    memset(&s, 0, sizeof s);
    WAIT_FOR_GRID();
    if (first)
        LAT_(signal_step)(w, how.number - 1);
    if (rim) {
        if (threadIdx.x == 0)
            LAT_(wait_flag)(w.heard, side, how.number - 1);
        __syncthreads();
    }
    if (i < w.half) {
        LAT_UNROLL
        for (int a = 1; a < 4; a++)
            if (D == 4 || a < nd)
                LAT_(add_staples)(w, parity, i, steps, a, &s);
        u = LAT_(read)(w, parity, i, mu);
        LAT_(link_update)(&u, &s, (LAT_T)how.k, KIND >= 0 ? (lat_update)KIND : how.update, &dice);
        LAT_T m[CH * PER];
        LAT_(link_store)(m, &u);
        LAT_(store)<LAT_LINK_ROWS>(LAT_(link_at)(w, parity, i, mu), m);
        if (rim && (side == 1 || mu != nd - 1)) /* nobody reads links of the last direction above */
            LAT_(store)<LAT_LINK_ROWS>(LAT_(neighbour_ghost)(w, side, parity, i, mu), m);
    }
}

#if LAT_N > 3
/* The "rims" of this kernel are the ghosts. */
static __global__ void __launch_bounds__(BLOCK)
    LAT_(reunitarise)(const __grid_constant__ lat_cuda_links w,
                      const __grid_constant__ lat_cuda_draw how)
{
    int side;
    const uint32_t n = LAT_(block_of)(how.rim_blocks, 0, 0, &side) * BLOCK + threadIdx.x;
    const uint32_t from = side < 0 ? w.from : side ? w.from + w.own : w.from - w.rim;
    const int dir = (int)blockIdx.y / 2, parity = (int)blockIdx.y % 2;
    if (w.peer && blockIdx.x == 0 && blockIdx.y == 0)
        LAT_(signal_step)(w, how.number - 1);
    if (w.peer && side >= 0) {
        if (threadIdx.x == 0)
            LAT_(wait_flag)(w.heard, side, how.number - 1);
        __syncthreads();
    }
    if (n < (side < 0 ? w.own : w.rim)) {
        LAT_(m) u = LAT_(read)(w, parity, from + n, dir);
        LAT_(link_reunit)(&u);
        LAT_(write)(w, parity, from + n, dir, &u);
    }
}
#endif

/* ---- plaquettes ---- */

/* v[0], v[1] added up over the threads of a block, always in the same order; for thread 0. */
static __device__ __forceinline__ void LAT_(add_up)(double v[2])
{
    __shared__ double warp[BLOCK / 32][2];
#pragma unroll
    for (int d = 16; d; d /= 2)
        for (int k = 0; k < 2; k++)
            v[k] += __shfl_down_sync(~0u, v[k], d);
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < 2; k++)
            warp[threadIdx.x / 32][k] = v[k];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int j = 1; j < BLOCK / 32; j++)
            for (int k = 0; k < 2; k++)
                v[k] += warp[j][k];
}

/* axis[] is in order here. */
static __global__ void __launch_bounds__(BLOCK)
    LAT_(plaquettes)(const __grid_constant__ lat_cuda_links w, double *partial, uint32_t number)
{
    double sum[2] = {0, 0};
    if (w.peer) {
        if (blockIdx.x == 0)
            LAT_(signal_step)(w, number);
        if (threadIdx.x == 0)
            LAT_(wait_flag)(w.heard, 1, number);
        __syncthreads();
    }
    for (uint64_t n = (uint64_t)blockIdx.x * BLOCK + threadIdx.x; n < 2 * (uint64_t)w.own;
         n += (uint64_t)gridDim.x * BLOCK) {
        const int parity = n >= w.own, other = 1 - parity;
        const uint32_t i = w.from + (uint32_t)(parity ? n - w.own : n);
        const LAT_(steps) s = LAT_(find)(w, i, parity);
        LAT_UNROLL
        for (int mu = 0; mu < 3; mu++)
            LAT_UNROLL
        for (int nu = mu + 1; nu < 4; nu++) {
            if (nu >= w.nd)
                break;
            LAT_(m) v;
            const LAT_(m) x = LAT_(read)(w, parity, i, nu),
                          y = LAT_(read)(w, other, i + s.up[nu], mu),
                          z = LAT_(read)(w, other, i + s.up[mu], nu);
            LAT_(staple_up)(&v, &x, &y, &z);
            LAT_(link_complete)(&v);
            const LAT_(m) u = LAT_(read)(w, parity, i, mu);
            sum[nu == w.nd - 1] += (double)LAT_(link_overlap)(&u, &v);
        }
    }
    LAT_(add_up)(sum);
    if (threadIdx.x == 0)
        for (int k = 0; k < 2; k++)
            partial[2 * blockIdx.x + (unsigned)k] = sum[k];
}

/* ---- fields in natural order ---- */

/* Parity and number of a site, by its natural index here. */
static __device__ void LAT_(locate)(const lat_cuda_links &w, uint64_t site, int *parity,
                                    uint32_t *i)
{
    uint32_t sum = 0, at = 0, stride = 1;
    for (int mu = 0; mu < 4; mu++) {
        const uint32_t x = (uint32_t)(site % w.dims[mu]);
        site /= w.dims[mu];
        sum += x;
        at += (mu ? x : x / 2) * stride;
        stride *= mu ? w.dims[mu] : w.dims[0] / 2;
    }
    *parity = (sum + w.odd) & 1;
    *i = at;
}

template <class RAW>
static __global__ void LAT_(load_links)(const __grid_constant__ lat_cuda_links w, const RAW *raw,
                                        uint64_t first, uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (n >= count)
        return;
    int parity;
    uint32_t i;
    LAT_T m[CH * PER] = {};
    LAT_(locate)(w, (first + n) / (uint64_t)w.nd, &parity, &i);
    for (int e = 0; e < 2 * LAT_N * LAT_LINK_ROWS; e++)
        m[e] = (LAT_T)raw[n * FULL + (unsigned)e];
    LAT_(store)<LAT_LINK_ROWS>(LAT_(link_at)(w, parity, i, (int)((first + n) % (uint64_t)w.nd)), m);
}

/* The last row in double, as the CPU has it on its way out. */
static __device__ void LAT_(last_row)(double *m)
{
#if LAT_N == 2
    m[4] = -m[2], m[5] = m[3], m[6] = m[0], m[7] = -m[1];
#elif LAT_N == 3
    for (int c = 0; c < 3; c++) {
        const double *x = m + 2 * ((c + 1) % 3), *y = m + 2 * ((c + 2) % 3);
        m[12 + 2 * c] = (x[0] * y[6] - x[1] * y[7]) - (y[0] * x[6] - y[1] * x[7]);
        m[13 + 2 * c] = (y[0] * x[7] + y[1] * x[6]) - (x[0] * y[7] + x[1] * y[6]);
    }
#else
    (void)m;
#endif
}

template <class RAW>
static __global__ void LAT_(get_links)(const __grid_constant__ lat_cuda_links w, RAW *raw,
                                       uint64_t first, uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (n >= count)
        return;
    int parity;
    uint32_t i;
    LAT_T m[CH * PER];
    double full[FULL];
    LAT_(locate)(w, (first + n) / (uint64_t)w.nd, &parity, &i);
    LAT_(fetch)<LAT_LINK_ROWS>(m, LAT_(link_at)(w, parity, i, (int)((first + n) % (uint64_t)w.nd)));
    for (int e = 0; e < 2 * LAT_N * LAT_LINK_ROWS; e++)
        full[e] = (double)m[e];
    if (LAT_LINK_ROWS < LAT_N)
        LAT_(last_row)(full);
    for (int e = 0; e < FULL; e++)
        raw[n * FULL + (unsigned)e] = (RAW)full[e];
}

/* ---- rims by way of the host ---- */

static __global__ void LAT_(copy_face)(const __grid_constant__ lat_cuda_links w, int parity,
                                       LAT_V *box, int into_ghosts)
{
    const uint32_t n = blockIdx.x * BLOCK + threadIdx.x, side = blockIdx.y;
    if (n >= w.rim)
        return;
    /* The ghosts are at both ends, beside the rims. */
    const uint32_t i = side ? (into_ghosts ? w.from + w.own : w.from + w.own - w.rim) + n
                            : (into_ghosts ? w.from - w.rim : w.from) + n;
    LAT_V *u = LAT_(link_at)(w, parity, i, w.axis[0].dir), *b = box + (size_t)side * CH * w.rim + n;
#pragma unroll
    for (int c = 0; c < CH; c++)
        if (into_ghosts)
            u[c * LAT_CUDA_GROUP] = b[(size_t)c * w.rim];
        else
            b[(size_t)c * w.rim] = u[c * LAT_CUDA_GROUP];
}

/* ---- launches ---- */

static unsigned LAT_(blocks)(uint64_t n) { return (unsigned)((n + BLOCK - 1) / BLOCK); }

static cudaError_t LAT_(load_field)(const lat_cuda_links *w, const void *raw, int real_raw,
                                    uint64_t first, uint64_t count, cudaStream_t stream)
{
    if (real_raw == 4)
        LAT_(load_links)<<<LAT_(blocks)(count), BLOCK, 0, stream>>>(*w, (const float *)raw, first,
                                                                    count);
    else
        LAT_(load_links)<<<LAT_(blocks)(count), BLOCK, 0, stream>>>(*w, (const double *)raw, first,
                                                                    count);
    return cudaGetLastError();
}

static cudaError_t LAT_(get_field)(const lat_cuda_links *w, void *raw, int real_raw, uint64_t first,
                                   uint64_t count, cudaStream_t stream)
{
    if (real_raw == 4)
        LAT_(get_links)<<<LAT_(blocks)(count), BLOCK, 0, stream>>>(*w, (float *)raw, first, count);
    else
        LAT_(get_links)<<<LAT_(blocks)(count), BLOCK, 0, stream>>>(*w, (double *)raw, first, count);
    return cudaGetLastError();
}

/* Kernels may begin while the last blocks of the one before are still at work: they wait for them
 * themselves. */
static cudaError_t LAT_(launch)(void (*kernel)(lat_cuda_links, lat_cuda_draw, int),
                                const lat_cuda_links *w, const lat_cuda_draw *how, int parity,
                                cudaStream_t stream)
{
    lat_cuda_draw h = *how;
    h.rim_blocks = how->part == LAT_CUDA_INTERIOR ? 0 : LAT_(blocks)(w->rim);
    const unsigned inner = how->part == LAT_CUDA_FACE ? 0 : LAT_(blocks)(w->own - 2 * w->rim);
    h.lead = inner / 4;
    h.spread = inner - h.lead >= 2 * h.rim_blocks;
    if (2 * h.rim_blocks + inner == 0)
        return cudaSuccess;
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 2 * h.rim_blocks + inner;
    config.blockDim = BLOCK;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = w->overlap ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, *w, h, parity);
}

static cudaError_t LAT_(update)(const lat_cuda_links *w, const lat_cuda_draw *how, int parity,
                                cudaStream_t stream)
{
#if LAT_N <= LAT_REGISTERS
    if (w->nd == 4 && how->update == LAT_UPDATE_HEATBATH)
        return LAT_(launch)(LAT_(visit) < 4, LAT_UPDATE_HEATBATH >, w, how, parity, stream);
    if (w->nd == 4 && how->update == LAT_UPDATE_MICROCANONICAL)
        return LAT_(launch)(LAT_(visit) < 4, LAT_UPDATE_MICROCANONICAL >, w, how, parity, stream);
#endif
    return LAT_(launch)(LAT_(visit) < 0, -1 >, w, how, parity, stream);
}

#if LAT_N > 3
static cudaError_t LAT_(reunit)(const lat_cuda_links *w, const lat_cuda_draw *how,
                                cudaStream_t stream)
{
    lat_cuda_draw h = *how;
    h.rim_blocks = LAT_(blocks)(w->rim);
    LAT_(reunitarise)<<<dim3(2 * h.rim_blocks + LAT_(blocks)(w->own), 2 * (unsigned)w->nd), BLOCK,
                        0, stream>>>(*w, h);
    return cudaGetLastError();
}
#define REUNIT LAT_(reunit)
#else
#define REUNIT NULL
#endif

static cudaError_t LAT_(plaquette)(const lat_cuda_links *w, double *partial, uint32_t number,
                                   cudaStream_t stream)
{
    LAT_(plaquettes)<<<LAT_CUDA_PARTIALS, BLOCK, 0, stream>>>(*w, partial, number);
    return cudaGetLastError();
}

static cudaError_t LAT_(face_copy)(const lat_cuda_links *w, int parity, void *box, int into_ghosts,
                                   cudaStream_t stream)
{
    LAT_(copy_face)<<<dim3(LAT_(blocks)(w->rim), 2), BLOCK, 0, stream>>>(*w, parity, (LAT_V *)box,
                                                                         into_ghosts);
    return cudaGetLastError();
}
