/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_fields.cuh: links and g as a site sees them (template; the first one that fix_kernels.cu
 * includes). How they lie is in grid/cuda_grid.cuh. */
#include "grid/cuda_matrix.cuh"

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
        const size_t unit = 2 * ((size_t)copy[c] * (size_t)w.slots + (size_t)slice);
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
    return u + lat_cuda_at(i, nd * CHUNKS(R)) + mu * CHUNKS(R) * LAT_CUDA_GROUP;
}

/* What site i, of the interior where side < 0, becomes where half sweeps go strip by strip. Where
 * three time slices do not fit into the second cache they do, a strip being some z of all times, so
 * that g is there still for the next time slice. */
static __device__ __forceinline__ uint32_t LAT_(in_strips)(const lat_cuda_work &w, uint32_t i,
                                                           int side)
{
    if (!w.strip || side >= 0 || i >= w.half)
        return i;
    const uint32_t from = w.from + w.face, n = i - from;
    const uint32_t q = lat_cuda_quotient(n, w.by_strip), number = lat_cuda_quotient(q, w.by_time);
    return from + n - q * w.strip + number * w.strip + (q - number * w.times) * w.stride[3];
}

#if LAT_N > 3
/* lat_cuda_up and lat_cuda_down of a direction that the compiler does not know. */
static __device__ __forceinline__ void LAT_(next_sites)(const lat_cuda_work &w,
                                                        const lat_cuda_coordinates &p, int mu,
                                                        uint32_t *up, uint32_t *down)
{
    const uint32_t c = LAT_(one_of)(p.c, mu), step = w.stride[mu], last = w.extent[mu] - 1;
    *up = mu == 0 && !p.late ? p.i : c == last ? p.i - c * step : p.i + step;
    *down = mu == 0 && p.late ? p.i : c == 0 ? p.i + last * step : p.i - step;
}
#endif

/* h's blocks of a face, and how they are spread among others; returns how many these are. */
static unsigned LAT_(share_blocks)(const lat_cuda_work *w, lat_cuda_how *h, unsigned sites)
{
    const unsigned inner = lat_cuda_divide(w, h, sites);
    h->spread = inner >= 6 * h->face_blocks ? 2 : inner >= 2 * h->face_blocks ? 1 : 0;
    return inner;
}
