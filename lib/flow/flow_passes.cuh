/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_passes.cuh: the kernels of the gradient flow for one N (template; flow_kernels.cu expands
 * it). A thread is a link, or a site. */
#include "grid/cuda_links.cuh"
#include "site/flow.h"

#define ALGEBRA_CHUNKS ((LAT_N * LAT_N + PER - 1) / PER)

/* Sites of a block, with a thread for each of their links; of one parity. */
#define SITES 32

/* How many blocks of the Wilson flow a processor takes at least: so many registers a thread may
 * have. */
#ifndef BLOCKS_A_PROCESSOR
#define BLOCKS_A_PROCESSOR (LAT_N == 2 ? 4 : LAT_N == 3 ? 3 : 2)
#endif

/* ---- memory ---------------------------------------------------------------------------------- */

/* One of the staples of the plane. */
static __device__ __forceinline__ LAT_(m)
    LAT_(read_staple)(const lat_cuda_flow &w, int parity, uint32_t i, int object)
{
    return LAT_(read_at)((const LAT_V *)w.plane
                         + LAT_(offset)(w, parity, i, LAT_FLOW_STAPLES, CH, object));
}

static __device__ __forceinline__ void LAT_(read_algebra)(const lat_cuda_flow &w, LAT_T *y,
                                                          const void *of, int parity, uint32_t i,
                                                          int mu)
{
    const LAT_V *p = (const LAT_V *)of + LAT_(offset)(w, parity, i, w.nd, ALGEBRA_CHUNKS, mu);
    LAT_UNROLL_ALL
    for (int c = 0; c < ALGEBRA_CHUNKS; c++)
        LAT_(unpack)(y + c * PER, p[c * LAT_CUDA_GROUP], LAT_(algebra) - c * PER);
}

static __device__ __forceinline__ void LAT_(write_algebra)(const lat_cuda_flow &w, const LAT_T *y,
                                                           void *of, int parity, uint32_t i, int mu)
{
    LAT_V *p = (LAT_V *)of + LAT_(offset)(w, parity, i, w.nd, ALGEBRA_CHUNKS, mu);
    LAT_UNROLL_ALL
    for (int c = 0; c < ALGEBRA_CHUNKS; c++) {
        LAT_V v;
        v.x = y[c * PER];
        v.y = c * PER + 1 < LAT_(algebra) ? y[c * PER + 1] : 0;
        p[c * LAT_CUDA_GROUP] = v;
    }
}

/* ---- which site ------------------------------------------------------------------------------ */

typedef struct {
    uint32_t i;
    int parity, side; /* 0 or 1 in the face below or above, else -1 */
    bool there;       /* otherwise the thread has no site */
} LAT_(place);

/* The site of a thread. Parities take turns: the second of the two sites that read a link finds it
 * in a cache. The faces come last, when what they wait for has come. In kernels with a number; all
 * threads come here. */
static __device__ __forceinline__ LAT_(place) LAT_(begin)(const lat_cuda_flow &w)
{
    LAT_(place) p;
    const uint32_t n = gridDim.x / 2, ahead = (w.face + blockDim.x - 1) / blockDim.x,
                   k = blockIdx.x / 2 + ahead, chunk = (k < n ? k : k - n) * blockDim.x,
                   at = chunk + threadIdx.x;
    p.parity = (int)(blockIdx.x % 2);
    p.i = w.from + at;
    p.there = at < w.own;
    p.side = !p.there ? -1 : at < w.face ? 0 : at >= w.own - w.face ? 1 : -1;
    if (!lat_cuda_sends(w.peers, p.side))
        p.side = -1;
    if (!w.peers.direct)
        return p;
    lat_cuda_signal_step(w.peers, w.number - 1);
    lat_cuda_await(w.peers,
                   w.peers.direct
                       & ((unsigned)(chunk < w.face) << LAT_DOWN
                          | (unsigned)(chunk + blockDim.x > w.own - w.face) << LAT_UP),
                   w.number - 1);
    return p;
}

/* Rows of a matrix to object `object` of w.to, and to the neighbour's ghost. */
static __device__ __forceinline__ void LAT_(write)(const lat_cuda_flow &w, const LAT_(place) &p,
                                                   int objects, int object, const LAT_(m) *u)
{
    LAT_(write_at)((LAT_V *)w.to + LAT_(offset)(w, p.parity, p.i, objects, CH, object), u);
    if (p.side >= 0)
        LAT_(write_at)(lat_cuda_ghost<LAT_V>(w, w.peers, p.side, 0, p.parity, p.i, objects * CH)
                           + object * CH * LAT_CUDA_GROUP,
                       u);
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* New links from y. */
static __device__ __forceinline__ void LAT_(move)(const lat_cuda_flow &w, const lat_flow_stage &s,
                                                  const LAT_(place) &p, int mu, const LAT_T *y)
{
    LAT_(m) u = LAT_(read)(w, w.u, p.parity, p.i, mu);
    LAT_(algebra_apply)(&u, y, s.eps, s.halvings);
    LAT_(write)(w, p, w.nd, mu, &u);
}

template <int D>
static __global__ void __launch_bounds__(4 * SITES, BLOCKS_A_PROCESSOR)
    LAT_(wilson)(const __grid_constant__ lat_cuda_flow w, const __grid_constant__ lat_flow_stage s)
{
    const LAT_(place) p = LAT_(begin)(w);
    if (!p.there)
        return;
    const int mu = (int)threadIdx.y, nd = D ? D : w.nd;
    const lat_cuda_axis *axis = w.along[mu];
    const lat_cuda_distances d = lat_cuda_find(w, axis, p.i, p.parity, 0);
    LAT_T y[ALGEBRA_CHUNKS * PER];
    LAT_(m) x;
    {
        LAT_(m) sum, v;
        memset(&sum, 0, sizeof sum);
        LAT_UNROLL
        for (int a = 1; a < 4; a++) {
            if (a >= nd)
                break;
            const LAT_(corner) c = LAT_(corner_of)(axis, d, a);
            const bool time = axis[a].dir == nd - 1;
            LAT_(staple_above)(w, w.u, p.parity, p.i, c, &v);
            LAT_(staple_add)(&sum, v, time ? (p.i < w.below ? 2 : 1) * w.temporal : 1);
            LAT_(staple_below)(w, w.u, p.parity, p.i, c, &v);
            LAT_(staple_add)(&sum, v, time ? (p.i >= w.above ? 2 : 1) * w.temporal : 1);
        }
        const LAT_(m) u = LAT_(read)(w, w.u, p.parity, p.i, mu);
        LAT_(times_dag)(&x, &u, &sum);
    }
    if (s.beta != 0)
        LAT_(read_algebra)(w, y, w.y, p.parity, p.i, mu);
    else
        memset(y, 0, sizeof y);
    if (s.again) {
        LAT_T z[ALGEBRA_CHUNKS * PER];
        for (int e = 0; e < LAT_(algebra); e++)
            z[e] = (s.b + s.a * s.beta) * y[e];
        LAT_(algebra_add)(z, 1, -s.a * s.alpha * w.c0, &x);
        LAT_(write_algebra)(w, z, w.again, p.parity, p.i, mu);
    }
    LAT_(algebra_add)(y, s.beta, -s.alpha * w.c0, &x);
    if (!s.last)
        LAT_(write_algebra)(w, y, w.y, p.parity, p.i, mu);
    LAT_(move)(w, s, p, mu, y);
}

static __global__ void __launch_bounds__(4 * SITES)
    LAT_(apply)(const __grid_constant__ lat_cuda_flow w, const __grid_constant__ lat_flow_stage s)
{
    const LAT_(place) p = LAT_(begin)(w);
    if (!p.there)
        return;
    const int mu = (int)threadIdx.y;
    LAT_T y[ALGEBRA_CHUNKS * PER], z[ALGEBRA_CHUNKS * PER];
    LAT_(read_algebra)(w, y, w.y, p.parity, p.i, mu);
    if (s.again) {
        LAT_(read_algebra)(w, z, w.again, p.parity, p.i, mu);
        for (int e = 0; e < LAT_(algebra); e++)
            z[e] = s.a * y[e] + s.b * z[e];
        LAT_(write_algebra)(w, z, w.again, p.parity, p.i, mu);
    }
    LAT_(move)(w, s, p, mu, y);
}

/* ---- rectangles ------------------------------------------------------------------------------ */

/* threadIdx.y: which staple. */
static __global__ void __launch_bounds__(LAT_FLOW_STAPLES *SITES)
    LAT_(staples)(const __grid_constant__ lat_cuda_flow w, const __grid_constant__ lat_cuda_plane q)
{
    const LAT_(place) p = LAT_(begin)(w);
    if (!p.there)
        return;
    const int object = (int)threadIdx.y;
    const lat_cuda_axis *axis = q.half[object / 2];
    const lat_cuda_distances d = lat_cuda_find(w, axis, p.i, p.parity, 0);
    const LAT_(corner) c = LAT_(corner_of)(axis, d, 1);
    LAT_(m) v;
    if (object % 2 == 0)
        LAT_(staple_above)(w, w.u, p.parity, p.i, c, &v);
    else
        LAT_(staple_below)(w, w.u, p.parity, p.i, c, &v);
    LAT_(write)(w, p, LAT_FLOW_STAPLES, object, &v);
}

/* threadIdx.y: mu or nu. */
static __global__ void __launch_bounds__(2 * SITES)
    LAT_(plane)(const __grid_constant__ lat_cuda_flow w, const __grid_constant__ lat_cuda_plane q,
                const __grid_constant__ lat_flow_stage s)
{
    const LAT_(place) p = LAT_(begin)(w);
    if (!p.there)
        return;
    const int half = (int)threadIdx.y, other = 1 - p.parity;
    const lat_cuda_axis *axis = q.half[half];
    const lat_cuda_distances d = lat_cuda_find(w, axis, p.i, p.parity, 0);
    const int mu = axis[0].dir, nu = axis[1].dir, mine = half ? LAT_FLOW_NU_UP : LAT_FLOW_MU_UP,
              across = half ? LAT_FLOW_MU_UP : LAT_FLOW_NU_UP;
    const uint32_t up = p.i + d.up[1], right = p.i + d.up[0], back = p.i + d.down[1];
    LAT_T y[ALGEBRA_CHUNKS * PER];
    const LAT_(path_weights) c01 = {(LAT_S)w.c0, (LAT_S)w.c1};
    LAT_(m) sum, v, x;
    {
        LAT_(m) a = LAT_(read)(w, w.u, p.parity, p.i, nu);
        const LAT_(m) b = LAT_(read)(w, w.u, other, up, mu),
                      c = LAT_(read)(w, w.u, other, right, nu),
                      l = LAT_(read_staple)(w, p.parity, p.i, across + 1),
                      over = LAT_(read_staple)(w, other, up, mine),
                      beyond = LAT_(read_staple)(w, other, right, across);
        LAT_(paths_above)(&sum, c01, &a, &b, &c, &l, &over, &beyond);
    }
    {
        LAT_(m) a = LAT_(read)(w, w.u, other, back, nu);
        const LAT_(m) b = LAT_(read)(w, w.u, other, back, mu),
                      c = LAT_(read)(w, w.u, p.parity, back + d.up[0], nu),
                      l = LAT_(read_staple)(w, other, back, across + 1),
                      under = LAT_(read_staple)(w, other, back, mine + 1),
                      beyond = LAT_(read_staple)(w, p.parity, back + d.up[0], across);
        LAT_(paths_below)(&v, c01, &a, &b, &c, &l, &under, &beyond);
    }
    LAT_(matrix_add)(&sum, 1, &v);
    const LAT_(m) u = LAT_(read)(w, w.u, p.parity, p.i, mu);
    LAT_(times_dag)(&x, &u, &sum);
    const LAT_T beta = q.first[half] ? s.beta : 1;
    if (beta != 0)
        LAT_(read_algebra)(w, y, w.y, p.parity, p.i, mu);
    else
        memset(y, 0, sizeof y);
    LAT_(algebra_add)(y, beta, -s.alpha, &x);
    LAT_(write_algebra)(w, y, w.y, p.parity, p.i, mu);
}

/* ---- measurements ---------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(LAT_CUDA_SUM_THREADS)
    LAT_(apart)(const __grid_constant__ lat_cuda_flow w, const __grid_constant__ lat_flow_stage s,
                const __grid_constant__ lat_cuda_sums sums)
{
    const lat_cuda_summand p = lat_cuda_summand_of(w, sums);
    double most[1] = {0};
#pragma unroll 1
    for (int mu = 0; p.there && mu < w.nd; mu++) {
        LAT_T z[ALGEBRA_CHUNKS * PER];
        LAT_(m) v = LAT_(read)(w, w.plane, p.parity, p.i, mu);
        LAT_(read_algebra)(w, z, w.again, p.parity, p.i, mu);
        LAT_(algebra_apply)(&v, z, s.eps, s.halvings);
        const LAT_(m) u = LAT_(read)(w, w.u, p.parity, p.i, mu);
        LAT_(matrix_add)(&v, -1, &u);
        most[0] = lat_cuda_worse(most[0], LAT_(link_overlap)(&v, &v));
    }
    lat_cuda_add_slices<1, 1>(sums, 0, most);
}

/* d = staple above minus staple below U_mu, and N - Re tr of the plaquette. */
static __device__ __forceinline__ LAT_T LAT_(difference)(const lat_cuda_flow &w, int parity,
                                                         uint32_t i, const LAT_(corner) &c,
                                                         const LAT_(m) *link, LAT_(m) *d)
{
    LAT_(m) v;
    LAT_(staple_above)(w, w.u, parity, i, c, d);
    LAT_(link_complete)(d);
    const LAT_T p = LAT_N - LAT_(link_overlap)(link, d);
    LAT_(staple_below)(w, w.u, parity, i, c, &v);
    LAT_(staple_add)(d, v, -1);
    return p;
}

/* 4 i F_{mu nu}, and N - Re tr of the plaquette, as in flow_lane_sweeps.h: mu = axis[0].dir is not
 * the last direction, so that x - mu is no ghost. */
static __device__ __forceinline__ LAT_T LAT_(strength)(const lat_cuda_flow &w,
                                                       const lat_cuda_summand &p,
                                                       const lat_cuda_axis *axis,
                                                       LAT_T f[LAT_(algebra)])
{
    const int mu = axis[0].dir;
    const lat_cuda_distances s = lat_cuda_find(w, axis, p.i, p.parity, 0);
    LAT_(corner) c = LAT_(corner_of)(axis, s, 1);
    LAT_(m) d, x, y;
    const LAT_(m) here = LAT_(read)(w, w.u, p.parity, p.i, mu);
    const LAT_T plaquette = LAT_(difference)(w, p.parity, p.i, c, &here, &d);
    LAT_(times_dag)(&x, &here, &d);
    const uint32_t back = p.i + s.down[0];
    c.right = 0 - s.down[0]; /* from there: other distances are as they are here */
    const LAT_(m) behind = LAT_(read)(w, w.u, 1 - p.parity, back, mu);
    LAT_(difference)(w, 1 - p.parity, back, c, &behind, &d);
    LAT_(dag_times)(&y, &d, &behind);
    LAT_(matrix_add)(&x, 1, &y);
    for (int i = 0; i < LAT_(algebra); i++)
        f[i] = 0;
    LAT_(algebra_add)(f, 0, 1, &x);
    return plaquette;
}

/* 4 i F of a plane, and what it adds to the numbers of the site. */
static __device__ __forceinline__ void LAT_(add_plane)(const lat_cuda_flow &w,
                                                       const lat_cuda_summand &p,
                                                       const lat_cuda_axis *axis,
                                                       LAT_T f[LAT_(algebra)],
                                                       double sum[LAT_FLOW_NUMBERS])
{
    const bool time = axis[1].dir == w.nd - 1;
    const double plaquette = LAT_(strength)(w, p, axis, f),
                 square = LAT_(algebra_overlap)(f, f) / 16;
    sum[LAT_FLOW_PLAQUETTE_T] += time ? plaquette : 0;
    sum[LAT_FLOW_PLAQUETTE_S] += time ? 0 : plaquette;
    sum[LAT_FLOW_CLOVER_T] += time ? square : 0;
    sum[LAT_FLOW_CLOVER_S] += time ? 0 : square;
}

/* In four dimensions planes and those across them together: k and 5 - k. */
static __global__ void __launch_bounds__(LAT_CUDA_SUM_THREADS)
    LAT_(numbers)(const __grid_constant__ lat_cuda_flow w,
                  const __grid_constant__ lat_cuda_planes q,
                  const __grid_constant__ lat_cuda_sums sums)
{
    const lat_cuda_summand p = lat_cuda_summand_of(w, sums);
    double sum[LAT_FLOW_NUMBERS] = {0, 0, 0, 0, 0};
    lat_cuda_signal_step(w.peers, w.number - 1);
    if (w.peers.direct)
        lat_cuda_await(w.peers, w.peers.direct, w.number - 1);
    const bool pairs = w.nd == 4;
#pragma unroll 1
    for (int k = 0; p.there && k < (pairs ? 3 : q.planes); k++) {
        LAT_T f[LAT_(algebra)], g[LAT_(algebra)];
        LAT_(add_plane)(w, p, q.axis[k], f, sum);
        if (!pairs)
            continue;
        LAT_(add_plane)(w, p, q.axis[5 - k], g, sum);
        sum[LAT_FLOW_CHARGE] += (k == 1 ? -1. : 1.) / 16 * LAT_(algebra_overlap)(f, g);
    }
    const bool last = p.i >= w.above, end = last || p.i < w.below;
    sum[LAT_FLOW_PLAQUETTE_T] *= last ? 0 : 1;
    sum[LAT_FLOW_PLAQUETTE_S] *= end ? .5 : 1;
    for (int i = LAT_FLOW_CLOVER_T; i < LAT_FLOW_NUMBERS; i++)
        sum[i] *= end ? 0 : 1;
    lat_cuda_add_slices<LAT_FLOW_NUMBERS, 0>(sums, 0, sum);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* A thread for `y` objects of each site of both parities. */
template <class... A>
static cudaError_t LAT_(launch)(void (*kernel)(lat_cuda_flow, A...), const lat_cuda_flow *w, int y,
                                cudaStream_t stream, A... a)
{
    return lat_cuda_start(0, kernel, 2 * lat_cuda_blocks(w->own, SITES), dim3(SITES, (unsigned)y),
                          stream, *w, a...);
}

static cudaError_t LAT_(launch_wilson)(const lat_cuda_flow *w, const lat_flow_stage *s,
                                       cudaStream_t stream)
{
#if LAT_N <= LAT_REGISTERS
    if (w->nd == 4)
        return LAT_(launch)(LAT_(wilson) < 4 >, w, 4, stream, *s);
#endif
    return LAT_(launch)(LAT_(wilson) < 0 >, w, w->nd, stream, *s);
}

static cudaError_t LAT_(launch_staples)(const lat_cuda_flow *w, const lat_cuda_plane *q,
                                        cudaStream_t stream)
{
    return LAT_(launch)(LAT_(staples), w, LAT_FLOW_STAPLES, stream, *q);
}

static cudaError_t LAT_(launch_plane)(const lat_cuda_flow *w, const lat_cuda_plane *q,
                                      const lat_flow_stage *s, cudaStream_t stream)
{
    return LAT_(launch)(LAT_(plane), w, 2, stream, *q, *s);
}

static cudaError_t LAT_(launch_apply)(const lat_cuda_flow *w, const lat_flow_stage *s,
                                      cudaStream_t stream)
{
    return LAT_(launch)(LAT_(apply), w, w->nd, stream, *s);
}

static cudaError_t LAT_(launch_apart)(const lat_cuda_flow *w, const lat_flow_stage *s,
                                      const lat_cuda_sums *sums, cudaStream_t stream)
{
    return lat_cuda_start(0, LAT_(apart), lat_cuda_sums_blocks(sums), LAT_CUDA_SUM_THREADS, stream,
                          *w, *s, *sums);
}

static cudaError_t LAT_(launch_numbers)(const lat_cuda_flow *w, const lat_cuda_planes *q,
                                        const lat_cuda_sums *sums, cudaStream_t stream)
{
    return lat_cuda_start(0, LAT_(numbers), lat_cuda_sums_blocks(sums), LAT_CUDA_SUM_THREADS,
                          stream, *w, *q, *sums);
}
