/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_fields.cuh: what is where (template; the first one that fix_kernels.cu includes): sites and
 * their neighbours, links and g as a site sees them, ghosts; and fields in natural order, in and
 * out. How they lie is in fix_cuda.cuh. */
#include "grid/cuda_memory.cuh"

/* ---- sites ---- */

typedef struct {
    uint32_t i, c[4];
    int late;
} LAT_(coords); /* late: x is 2 c[0] + 1, not 2 c[0] */

static __device__ __forceinline__ LAT_(coords)
    LAT_(find)(const lat_cuda_work &w, uint32_t i, int parity)
{
    LAT_(coords) p;
    p.i = i;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const uint32_t q = LAT_(quotient)(i, w.by[a]);
        p.c[a] = i - q * w.extent[a];
        i = q;
    }
    p.c[3] = i;
    p.late = (p.c[1] + p.c[2] + p.c[3] + (uint32_t)parity + w.odd) & 1;
    return p;
}

static __device__ __forceinline__ uint32_t LAT_(up)(const lat_cuda_work &w, const LAT_(coords) &p,
                                                    int mu)
{
    if (mu == 0 && !p.late)
        return p.i;
    return p.c[mu] + 1 == w.extent[mu] ? p.i - p.c[mu] * w.stride[mu] : p.i + w.stride[mu];
}

static __device__ __forceinline__ uint32_t LAT_(down)(const lat_cuda_work &w, const LAT_(coords) &p,
                                                      int mu)
{
    if (mu == 0 && p.late)
        return p.i;
    return p.c[mu] == 0 ? p.i + (w.extent[mu] - 1) * w.stride[mu] : p.i - w.stride[mu];
}

/* The lattice's natural index, from that of the slice's site 0 on. */
static __device__ __forceinline__ int64_t LAT_(site)(const lat_cuda_work &w, const LAT_(coords) &p,
                                                     int64_t from)
{
    uint64_t s = (uint64_t)(2 * p.c[0] + (uint32_t)p.late) * w.site_step[0];
#pragma unroll
    for (int a = 1; a < 4; a++)
        s += p.c[a] * w.site_step[a];
    return (int64_t)s + from;
}

/* ---- fields as sites see them ---- */

/* The fields as the sites of one parity of a slice of `C` copies see them: their own, and those of
 * the other parity. */
template <int C> struct LAT_(view) {
    const LAT_V *u, *u_other;
    LAT_V *g[C];
    const LAT_V *g_other[C];
};

static __device__ __forceinline__
    size_t LAT_(g_size)(const lat_cuda_work &w) /* of a parity of a slice, in chunks */
{
    return (size_t)w.groups * LAT_CUDA_GROUP * CHUNKS(FEW);
}

template <int R, int C>
static __device__ __forceinline__ LAT_(view)<C> LAT_(fields_of)(const lat_cuda_work &w, int slice,
                                                                const int copy[C], int parity)
{
    const size_t link = (size_t)w.groups * LAT_CUDA_GROUP * (size_t)(w.nd * CHUNKS(R)),
                 s = 2 * (size_t)slice;
    LAT_(view)<C> v;
    v.u = (const LAT_V *)w.u + (s + (size_t)parity) * link;
    v.u_other = (const LAT_V *)w.u + (s + (size_t)(1 - parity)) * link;
#pragma unroll
    for (int c = 0; c < C; c++) {
        const size_t unit = 2 * ((size_t)copy[c] * (size_t)w.slices + (size_t)slice);
        v.g[c] = (LAT_V *)w.g + (unit + (size_t)parity) * LAT_(g_size)(w);
        v.g_other[c] = (const LAT_V *)w.g + (unit + (size_t)(1 - parity)) * LAT_(g_size)(w);
    }
    return v;
}

/* Where the link of site i in direction mu is. */
template <int R>
static __device__ __forceinline__ const LAT_V *LAT_(link)(const LAT_V *u, uint32_t i, int nd,
                                                          int mu)
{
    return u + LAT_(at)(i, nd * CHUNKS(R)) + mu * CHUNKS(R) * LAT_CUDA_GROUP;
}

/* ---- rims and ghosts ---- */

/* Where unit's ghost for site i of our rim is, at the neighbour's. */
static __device__ __forceinline__ LAT_V *LAT_(neighbour_ghost)(const lat_cuda_work &w, int side,
                                                               uint64_t unit, int parity,
                                                               uint32_t i)
{
    const lat_cuda_neighbour &s = w.side[side];
    const uint32_t n = i - w.from - (side ? w.own - w.rim : 0);
    return (LAT_V *)s.g + (2 * unit + (uint64_t)parity) * s.groups * (LAT_CUDA_GROUP * CHUNKS(FEW))
           + LAT_(at)(s.ghost + n, CHUNKS(FEW));
}

/* g of both rims to box, or from box to both ghosts: a block row is a unit. The box is that of
 * rim() in fix_cuda.cuh. */
static __global__ void LAT_(copy_face)(const __grid_constant__ lat_cuda_work w, int unit,
                                       int parity, LAT_V *box, int into_ghosts)
{
    const uint32_t n = blockIdx.x * blockDim.x + threadIdx.x, side = blockIdx.z;
    if (n >= w.rim)
        return;
    /* The ghosts are at both ends of a slice, beside the rims. */
    const uint32_t i = side ? (into_ghosts ? w.from + w.own : w.from + w.own - w.rim) + n
                            : (into_ghosts ? w.from - w.rim : w.from) + n;
    LAT_V *g = (LAT_V *)w.g
               + (2 * (size_t)(unit + (int)blockIdx.y) + (size_t)parity) * LAT_(g_size)(w)
               + LAT_(at)(i, CHUNKS(FEW));
    LAT_V *b = box + ((size_t)side * gridDim.y + blockIdx.y) * CHUNKS(FEW) * w.rim + n;
#pragma unroll
    for (int c = 0; c < CHUNKS(FEW); c++)
        if (into_ghosts)
            g[c * LAT_CUDA_GROUP] = b[(size_t)c * w.rim];
        else
            b[(size_t)c * w.rim] = g[c * LAT_CUDA_GROUP];
}

/* ---- fields in natural order ---- */

/* Slice, parity and number of a site of the lattice. */
static __device__ void LAT_(locate)(const lat_cuda_work &w, uint64_t site, int *slice, int *parity,
                                    uint32_t *i)
{
    uint32_t c[4] = {0, 0, 0, 0}, sum = 0;
    *slice = 0;
    for (int mu = 0, a = 0; mu < w.all; mu++) {
        const uint32_t x = (uint32_t)(site % w.dims[mu]);
        site /= w.dims[mu];
        if (mu == w.time)
            *slice = (int)x;
        else
            c[a++] = x;
    }
    for (int a = 0; a < 4; a++)
        sum += c[a];
    *parity = (sum + w.odd) & 1;
    *i = c[0] / 2 + c[1] * w.stride[1] + c[2] * w.stride[2] + c[3] * w.stride[3];
}

/* False where the rows are not orthonormal, or the last one not what the others make it, beyond a
 * few roundings in the precision of the sweeps: links of a single precision file miss it in double,
 * and are then used as they are. */
template <class RAW> static __device__ bool LAT_(last_row_follows)(const RAW *u)
{
#if LAT_N <= 3
    const double bound = 32 * (LAT_SIZE == 4 ? 0x1p-24 : 0x1p-53);
    double m[FULL], r[2 * LAT_N];
    for (int e = 0; e < FULL; e++)
        m[e] = (double)u[e];
    for (int a = 0; a < LAT_N; a++)
        for (int b = a; b < LAT_N; b++) {
            double re = a == b ? -1 : 0, im = 0;
            for (int c = 0; c < LAT_N; c++) {
                const double *p = m + 2 * (a * LAT_N + c), *q = m + 2 * (b * LAT_N + c);
                re += p[0] * q[0] + p[1] * q[1];
                im += p[1] * q[0] - p[0] * q[1];
            }
            if (!(re * re + im * im <= bound * bound))
                return false;
        }
#if LAT_N == 2
    r[0] = -m[2], r[1] = m[3], r[2] = m[0], r[3] = -m[1];
#else
    for (int c = 0; c < 3; c++) {
        const double *x = m + 2 * ((c + 1) % 3), *y = m + 2 * ((c + 2) % 3);
        r[2 * c] = (x[0] * y[6] - x[1] * y[7]) - (y[0] * x[6] - y[1] * x[7]);
        r[2 * c + 1] = (y[0] * x[7] + y[1] * x[6]) - (x[0] * y[7] + x[1] * y[6]);
    }
#endif
    for (int e = 0; e < 2 * LAT_N; e++)
        if (!(fabs(r[e] - m[2 * LAT_N * (LAT_N - 1) + e]) <= bound))
            return false;
#else
    (void)u;
#endif
    return true;
}

template <int R, class RAW>
static __global__ void LAT_(load_links)(const __grid_constant__ lat_cuda_work w, const RAW *raw,
                                        uint64_t first, uint64_t count, int *bad)
{
    const uint64_t n = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    const RAW *u = raw + n * FULL;
    const int mu = (int)((first + n) % (uint64_t)w.all), axis = mu - (w.time >= 0 && mu > w.time);
    int slice, parity;
    uint32_t i;
    LAT_(locate)(w, (first + n) / (uint64_t)w.all, &slice, &parity, &i);
    if (R < LAT_N && !LAT_(last_row_follows)(u))
        *bad = 1; /* whoever says so says the same */
    if (mu == w.time)
        return;
    const double weight = R == LAT_N || LAT_N == 2 ? w.weight[axis] : 1;
    LAT_T m[FULL];
    for (int e = 0; e < 2 * LAT_N * R; e++)
        m[e] = (LAT_T)(weight * (double)u[e]);
    const int none = 0;
    const LAT_(view)<1> v = LAT_(fields_of)<R, 1>(w, slice, &none, parity);
    LAT_(store)<R>((LAT_V *)v.u + LAT_(at)(i, w.nd * CHUNKS(R)) + axis * CHUNKS(R) * LAT_CUDA_GROUP,
                   m);
}

static __global__ void LAT_(set_g)(const __grid_constant__ lat_cuda_work w, int copy,
                                   const double *raw, uint64_t first, uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    int slice, parity;
    uint32_t i;
    LAT_(locate)(w, first + n, &slice, &parity, &i);
    LAT_T m[FULL];
    for (int e = 0; e < FULL; e++)
        m[e] = raw ? (LAT_T)raw[n * FULL + e] : (LAT_T)(e % (2 * LAT_N + 2) == 0);
    const LAT_(view)<1> v = LAT_(fields_of)<FEW, 1>(w, slice, &copy, parity);
    LAT_(store)<FEW>(v.g[0] + LAT_(at)(i, CHUNKS(FEW)), m);
}

static __global__ void LAT_(get_g)(const __grid_constant__ lat_cuda_work w, int copy, double *raw,
                                   uint64_t first, uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    int slice, parity;
    uint32_t i;
    LAT_(locate)(w, first + n, &slice, &parity, &i);
    const LAT_(view)<1> v = LAT_(fields_of)<FEW, 1>(w, slice, &copy, parity);
    LAT_T m[FULL];
    LAT_(fetch)<FEW>(m, v.g[0] + LAT_(at)(i, CHUNKS(FEW)));
    LAT_(complete)(m);
    for (int e = 0; e < FULL; e++)
        raw[n * FULL + e] = (double)m[e];
}
