/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_sweeps.cuh: the kernels for one N and one precision (template; cuda_kernels.cu expands it). A thread is
 * a site. */
#include "cuda_parts.cuh"

#define COUNT(rows) ((rows) < LAT_N ? LAT_N - 1 : LAT_N) /* X_i that are kept (site/mag.h) */

/* w = u^+ */
static __device__ __forceinline__ void LAT_(dag)(LAT_T *w, const LAT_T *u)
{
#pragma unroll
    for (int a = 0; a < LAT_N; a++)
#pragma unroll
        for (int b = 0; b < LAT_N; b++) {
            w[2 * (a * LAT_N + b)] = u[2 * (b * LAT_N + a)];
            w[2 * (a * LAT_N + b) + 1] = -u[2 * (b * LAT_N + a) + 1];
        }
}

/* ---- sites ---- */

typedef struct { uint32_t i, c[4]; int late; } LAT_(place); /* late: x is 2 c[0] + 1, not 2 c[0] */

static __device__ __forceinline__ LAT_(place) LAT_(find)(const lat_cuda_work &w, uint32_t i, int parity)
{
    LAT_(place) p;
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

static __device__ __forceinline__ uint32_t LAT_(up)(const lat_cuda_work &w, const LAT_(place) &p, int mu)
{
    if (mu == 0 && !p.late)
        return p.i;
    return p.c[mu] + 1 == w.extent[mu] ? p.i - p.c[mu] * w.stride[mu] : p.i + w.stride[mu];
}

static __device__ __forceinline__ uint32_t LAT_(down)(const lat_cuda_work &w, const LAT_(place) &p, int mu)
{
    if (mu == 0 && p.late)
        return p.i;
    return p.c[mu] == 0 ? p.i + (w.extent[mu] - 1) * w.stride[mu] : p.i - w.stride[mu];
}

/* The lattice's natural index, from that of the slice's site 0 on. */
static __device__ __forceinline__ int64_t LAT_(site)(const lat_cuda_work &w, const LAT_(place) &p, int64_t from)
{
    uint64_t s = (uint64_t)(2 * p.c[0] + (uint32_t)p.late) * w.site_step[0];
#pragma unroll
    for (int a = 1; a < 4; a++)
        s += p.c[a] * w.site_step[a];
    return (int64_t)s + from;
}

/* ---- a visit ---- */

/* The fields as the sites of one parity of a slice of `C` copies see them: their own, and those of the other parity. */
template <int C> struct LAT_(view) { const LAT_V *u, *u_other; LAT_V *g[C]; const LAT_V *g_other[C]; };

static __device__ __forceinline__ size_t LAT_(g_size)(const lat_cuda_work &w) /* of a parity of a slice, in chunks */
{
    return (size_t)w.groups * LAT_CUDA_GROUP * CHUNKS(FEW);
}

template <int R, int C>
static __device__ __forceinline__ LAT_(view)<C> LAT_(look)(const lat_cuda_work &w, int slice, const int copy[C], int parity)
{
    const size_t link = (size_t)w.groups * LAT_CUDA_GROUP * (size_t)(w.nd * CHUNKS(R)), s = 2 * (size_t)slice;
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
template <int R> static __device__ __forceinline__ const LAT_V *LAT_(link)(const LAT_V *u, uint32_t i, int nd, int mu)
{
    return u + LAT_(at)(i, nd * CHUNKS(R)) + mu * CHUNKS(R) * LAT_CUDA_GROUP;
}

/* Calls add(c, w, g, weight) for each of the 2 nd links w away from the site and each copy c, g being the
 * neighbour's. D: directions, all of weight 1; or 0 for w.nd and w.weight. */
template <int R, int D, int C, class F>
static __device__ __forceinline__ void LAT_(links)(const lat_cuda_work &w, const LAT_(view)<C> &v, const LAT_(place) &p, F add)
{
    const int nd = D ? D : w.nd;
#if LAT_N <= 3
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int mu = 0; mu < 4; mu++) {
        if (mu >= nd)
            break;
        const LAT_T weight = D ? (LAT_T)1 : WEIGHT(w)[mu];
        LAT_T m[FULL], n[FULL], h[FULL];
        const uint32_t up = LAT_(up)(w, p, mu), down = LAT_(down)(w, p, mu);
        LAT_(fetch_link)<R>(m, LAT_(link)<R>(v.u, p.i, nd, mu));
        if (R < LAT_N)
            LAT_(complete)(m);
#pragma unroll
        for (int c = 0; c < C; c++) {
            LAT_(fetch)<FEW>(h, v.g_other[c] + LAT_(at)(up, CHUNKS(FEW)));
            LAT_(complete)(h);
            add(c, m, h, weight);
        }
        LAT_(fetch_link)<R>(m, LAT_(link)<R>(v.u_other, down, nd, mu));
        if (R < LAT_N)
            LAT_(complete)(m);
        LAT_(dag)(n, m);
#pragma unroll
        for (int c = 0; c < C; c++) {
            LAT_(fetch)<FEW>(h, v.g_other[c] + LAT_(at)(down, CHUNKS(FEW)));
            LAT_(complete)(h);
            add(c, n, h, weight);
        }
    }
}

/* k += u g^+ */
template <int R> static __device__ __forceinline__ void LAT_(add)(LAT_(m) *k, const LAT_T *u, const LAT_T *g, LAT_T weight)
{
#if LAT_N == 3
    if (R < LAT_N) {
        LAT_(add_mul_dag_columns)(k, u, g, weight);
        return;
    }
#endif
    LAT_(add_mul_dag)(k, u, g, LAT_N, weight);
}

/* The local problem of a site: x = g K, or the X_i of maximally Abelian gauge. */
template <int P> struct LAT_(problem) { LAT_(m) x; };
#if LAT_N <= 3
template <> struct LAT_(problem)<LAT_CUDA_ABELIAN> { LAT_(mag) x; };
#endif

template <int R>
static __device__ __forceinline__ void LAT_(take)(LAT_(problem)<LAT_CUDA_LINEAR> *l, const LAT_T *u, const LAT_T *g, LAT_T weight)
{
    LAT_(add)<R>(&l->x, u, g, weight);
}

template <int R> static __device__ __forceinline__ void LAT_(turn_to)(LAT_(problem)<LAT_CUDA_LINEAR> *l, const LAT_T *own)
{
    const LAT_(m) k = l->x;
    l->x = LAT_(mul_left)(own, &k);
}

#if LAT_N <= 3
template <int R>
static __device__ __forceinline__ void LAT_(take)(LAT_(problem)<LAT_CUDA_ABELIAN> *l, const LAT_T *u, const LAT_T *g, LAT_T)
{
    LAT_(mag_add)(&l->x, u, g, LAT_N, COUNT(R));
}

template <int R> static __device__ __forceinline__ void LAT_(turn_to)(LAT_(problem)<LAT_CUDA_ABELIAN> *l, const LAT_T *own)
{
    LAT_(mag_rotate)(&l->x, own, COUNT(R));
}
#endif

/* What h, the site's g, becomes. */
template <int R>
static __device__ __forceinline__ void LAT_(visit)(LAT_(m) *h, const LAT_(problem)<LAT_CUDA_LINEAR> &l, int visit, LAT_T omega, const lat_cuda_how &how, const LAT_(dice) *d)
{
    const LAT_T beta = HOW(how).beta, p = HOW(how).stochastic;
    switch (visit) {
    case LAT_VISIT_SU2: LAT_(relax_su2)(h, l.x, omega); break;
    case LAT_VISIT_SUN: LAT_(relax_sun)(h, l.x, omega); break;
    case LAT_VISIT_STIR_SU2: LAT_(stochastic_su2)(h, l.x, omega, p, d); break;
    case LAT_VISIT_STIR_SUN: LAT_(stochastic_sun)(h, l.x, omega, p, d); break;
    case LAT_VISIT_BATH: LAT_(heat)(h, l.x, beta, LAT_HEAT_BATH, d); break;
    case LAT_VISIT_MICRO: LAT_(heat)(h, l.x, beta, LAT_HEAT_MICRO, d); break;
    default: LAT_(heat)(h, l.x, beta, LAT_HEAT_METROPOLIS, d); break;
    }
}

#if LAT_N <= 3
template <int R>
static __device__ __forceinline__ void LAT_(visit)(LAT_(m) *h, const LAT_(problem)<LAT_CUDA_ABELIAN> &l, int visit, LAT_T omega, const lat_cuda_how &how, const LAT_(dice) *d)
{
    const LAT_T beta = HOW(how).beta, p = HOW(how).stochastic;
    switch (visit) {
    case LAT_VISIT_SU2: LAT_(mag_relax_su2)(h, l.x, COUNT(R), omega); break;
    case LAT_VISIT_SUN: LAT_(mag_relax_sun)(h, l.x, COUNT(R), omega); break;
    case LAT_VISIT_STIR_SU2: LAT_(mag_stochastic_su2)(h, l.x, COUNT(R), omega, p, d); break;
    case LAT_VISIT_STIR_SUN: LAT_(mag_stochastic_sun)(h, l.x, COUNT(R), omega, p, d); break;
    case LAT_VISIT_BATH: LAT_(mag_heat)(h, l.x, COUNT(R), beta, LAT_HEAT_BATH, d); break;
    case LAT_VISIT_MICRO: LAT_(mag_heat)(h, l.x, COUNT(R), beta, LAT_HEAT_MICRO, d); break;
    default: LAT_(mag_heat)(h, l.x, COUNT(R), beta, LAT_HEAT_METROPOLIS, d); break;
    }
}
#endif

/* The rest of a visit, once the links have been added up. */
template <int P, int R, int VISIT>
static __device__ __forceinline__ void LAT_(settle)(LAT_(problem)<P> *l, LAT_V *mine, const lat_cuda_how &how, int64_t site, int copy)
{
    const LAT_(dice) dice = {how.seed + (uint64_t)copy, &site, how.config, how.step};
    const LAT_T omega = (LAT_T)how.omega[copy];
    LAT_T own[FULL];
    LAT_(m) h;
    LAT_(fetch)<FEW>(own, mine);
    LAT_(complete)(own);
    LAT_(turn_to)<R>(l, own);
    memcpy(&h, own, sizeof h);
    LAT_(visit)<R>(&h, *l, VISIT >= 0 ? VISIT : how.visit, omega, how, &dice);
    LAT_(store)<FEW>(mine, (const LAT_T *)&h);
}

/* The site for this thread, w.half or more if there is none; *side: 0 or 1 in the rim below or above, otherwise -1. Half sweeps go through the
 * rest of the lattice to and fro: what the last one touched last is still in the
 * second cache. And where three time slices do not fit there, they go strip by strip through the lattice, a strip being some
 * z of all times, so that g is there still for the next time slice. */
static __device__ __forceinline__ uint32_t LAT_(site_to_visit)(const lat_cuda_work &w, const lat_cuda_how &how, int parity, uint32_t threads, int *side)
{
    const uint32_t b = LAT_(block_of)(how.rim_blocks, 0, how.spread, side);
    if (*side >= 0) {
        const uint32_t n = b * threads + threadIdx.x;
        return n < w.rim ? w.from + n + (*side ? w.own - w.rim : 0) : w.half;
    }
    const uint32_t inner = gridDim.x - 2 * how.rim_blocks, block = parity ? inner - 1 - b : b;
    const uint32_t n = block * threads + threadIdx.x, from = w.from + w.rim;
    if (n >= w.own - 2 * w.rim)
        return w.half;
    if (!w.strip)
        return from + n;
    const uint32_t q = LAT_(quotient)(n, w.by_strip), number = LAT_(quotient)(q, w.by_time);
    return from + n - q * w.strip + number * w.strip + (q - number * w.times) * w.stride[3];
}

/* ---- rims and ghosts ---- */

/* Where unit's ghost for site i of our rim is, at the neighbour's. */
static __device__ __forceinline__ LAT_V *LAT_(beyond)(const lat_cuda_work &w, int side, uint64_t unit, int parity, uint32_t i)
{
    const lat_cuda_side &s = w.side[side];
    const uint32_t n = i - w.from - (side ? w.own - w.rim : 0);
    return (LAT_V *)s.g + (2 * unit + (uint64_t)parity) * s.groups * (LAT_CUDA_GROUP * CHUNKS(FEW)) + LAT_(at)(s.ghost + n, CHUNKS(FEW));
}

static __global__ void LAT_(carry)(const __grid_constant__ lat_cuda_work w, int unit, int parity, LAT_V *box, int into_ghosts)
{
    const uint32_t n = blockIdx.x * blockDim.x + threadIdx.x, side = blockIdx.z;
    if (n >= w.rim)
        return;
    /* The ghosts are at both ends of a slice, beside the rims. */
    const uint32_t i = side ? (into_ghosts ? w.from + w.own : w.from + w.own - w.rim) + n : (into_ghosts ? w.from - w.rim : w.from) + n;
    LAT_V *g = (LAT_V *)w.g + (2 * (size_t)(unit + (int)blockIdx.y) + (size_t)parity) * LAT_(g_size)(w) + LAT_(at)(i, CHUNKS(FEW));
    LAT_V *b = box + ((size_t)side * gridDim.y + blockIdx.y) * CHUNKS(FEW) * w.rim + n;
#pragma unroll
    for (int c = 0; c < CHUNKS(FEW); c++)
        if (into_ghosts)
            g[c * LAT_CUDA_GROUP] = b[(size_t)c * w.rim];
        else
            b[(size_t)c * w.rim] = g[c * LAT_CUDA_GROUP];
}

/* ---- a half sweep ---- */

/* One parity. VISIT: what is done, or -1 for how.visit. A thread visits its site in C copies. */
template <int P, int R, int D, int C, int VISIT>
static __global__ void BOUNDS(C, VISIT) LAT_(half)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_how how, int parity)
{
    int side, copy[C];
    const uint32_t i = LAT_(site_to_visit)(w, how, parity, blockDim.x, &side);
    const lat_cuda_unit *const unit = how.unit + blockIdx.y * (unsigned)how.beside + threadIdx.y * C;
    copy[0] = unit[0].copy;
    const bool busy = i < w.half && copy[0] >= 0, rim = side >= 0 && w.peer;
    if (!busy && !rim)
        return;
#pragma unroll
    for (int c = 1; c < C; c++) /* nobody: the first one again, and nothing is written */
        copy[c] = threadIdx.y * C + c < (unsigned)how.beside && unit[c].copy >= 0 ? unit[c].copy : copy[0];
    const int slice = unit[0].slice;
    const LAT_(view)<C> v = LAT_(look)<R, C>(w, slice, copy, parity);
    const LAT_(place) p = LAT_(find)(w, i, parity);
    const int64_t site = LAT_(site)(w, p, unit[0].from);
    WAIT_FOR_GRID();
    if (rim) {
        /* The ghost of the half sweep before has come. So the neighbour has visited its rim there, which has read the ghost that
         * this block is to write: there is nothing else to be waited for. */
        if (threadIdx.x == 0 && threadIdx.y == 0)
            LAT_(hear)(w.heard, side, how.number - 1);
        __syncthreads();
    }
    if (busy) {
        LAT_(problem)<P> l[C] = {};
        LAT_(links)<R, D, C>(w, v, p, [&](int c, const LAT_T *u, const LAT_T *g, LAT_T weight) {
            LAT_(take)<R>(l + c, u, g, weight);
        });
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c == 0 || copy[c] != copy[0]) {
                LAT_V *mine = v.g[c] + LAT_(at)(i, CHUNKS(FEW));
                LAT_(settle)<P, R, VISIT>(l + c, mine, how, site, copy[c]);
                if (rim) {
                    LAT_V *there = LAT_(beyond)(w, side, (uint64_t)copy[c] * (uint64_t)w.slices + (uint64_t)slice, parity, i);
#pragma unroll
                    for (int k = 0; k < CHUNKS(FEW); k++)
                        there[k * LAT_CUDA_GROUP] = mine[k * LAT_CUDA_GROUP];
                }
            }
    }
    if (rim)
        LAT_(tell)(w.rim_arrived + side, w.side[side].told, how.rim_blocks * gridDim.y, how.number);
}

#if LAT_N == 3
/* The same for a lattice so small that a processor has hardly more than one site for each of its lanes, and waiting for memory is all
 * there is: everything is asked for at once, to shared memory; the links before the other parity is done. g goes through the
 * first cache, where neighbours find it. The shared memory allows a processor four blocks: were there more, the next kernel's would
 * crowd where there is room already. */
#define SMALL_THREADS (LAT_SIZE == 4 ? 64 : 32)
#define SMALL_SITES 256 /* of a half sweep, for each processor */

static __device__ __forceinline__ void LAT_(ask)(LAT_V *to, const LAT_V *from, int chunks, bool cached)
{
#pragma unroll
    for (int c = 0; c < chunks; c++) {
        const uint32_t at = (uint32_t)__cvta_generic_to_shared(to + c * SMALL_THREADS);
        const LAT_V *p = from + c * LAT_CUDA_GROUP;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
        (void)at, (void)cached;
        to[c * SMALL_THREADS] = *p;
#else
        if (cached)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" : : "r"(at), "l"(p) : "memory");
        else
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(at), "l"(p) : "memory");
#endif
    }
}

template <int CH> static __device__ __forceinline__ void LAT_(answer)(LAT_T *m, const LAT_V *p)
{
#pragma unroll
    for (int c = 0; c < CH; c++)
        LAT_(unpack)(m + c * PER, p[c * SMALL_THREADS], PER);
}

template <int P, int D, int VISIT>
static __global__ void __launch_bounds__(SMALL_THREADS)
LAT_(half_small)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_how how, int parity)
{
    constexpr int R = FEW, CH = CHUNKS(FEW), STEP = CH * SMALL_THREADS;
    __shared__ LAT_V room[4 * D * STEP];
    LAT_V *const links = room + threadIdx.x, *const gs = links + 2 * D * STEP;
    const uint32_t i = blockIdx.x * SMALL_THREADS + threadIdx.x;
    const lat_cuda_unit unit = how.unit[blockIdx.y * (unsigned)how.beside + threadIdx.y];
    if (i >= w.half || unit.copy < 0)
        return;
    const LAT_(view)<1> v = LAT_(look)<R, 1>(w, unit.slice, &unit.copy, parity);
    const LAT_(place) p = LAT_(find)(w, i, parity);
#pragma unroll
    for (int mu = 0; mu < D; mu++) {
        LAT_(ask)(links + 2 * mu * STEP, LAT_(link)<R>(v.u, i, D, mu), CH, false);
        LAT_(ask)(links + (2 * mu + 1) * STEP, LAT_(link)<R>(v.u_other, LAT_(down)(w, p, mu), D, mu), CH, false);
    }
    WAIT_FOR_GRID();
#pragma unroll
    for (int mu = 0; mu < D; mu++) {
        LAT_(ask)(gs + 2 * mu * STEP, v.g_other[0] + LAT_(at)(LAT_(up)(w, p, mu), CH), CH, true);
        LAT_(ask)(gs + (2 * mu + 1) * STEP, v.g_other[0] + LAT_(at)(LAT_(down)(w, p, mu), CH), CH, true);
        __pipeline_commit();
    }
    LAT_(problem)<P> l = {};
#pragma unroll
    for (int mu = 0; mu < D; mu++) {
        LAT_T m[FULL], n[FULL], h[FULL];
        __pipeline_wait_prior(D - 1 - mu);
        LAT_(answer)<CH>(m, links + 2 * mu * STEP);
        LAT_(complete)(m);
        LAT_(answer)<CH>(h, gs + 2 * mu * STEP);
        LAT_(take)<R>(&l, m, h, (LAT_T)1);
        LAT_(answer)<CH>(m, links + (2 * mu + 1) * STEP);
        LAT_(complete)(m);
        LAT_(dag)(n, m);
        LAT_(answer)<CH>(h, gs + (2 * mu + 1) * STEP);
        LAT_(take)<R>(&l, n, h, (LAT_T)1);
    }
    LAT_(settle)<P, R, VISIT>(&l, v.g[0] + LAT_(at)(i, CH), how, LAT_(site)(w, p, unit.from), unit.copy);
}
#endif

/* ---- functional and theta ---- */

#define SUM_THREADS 256

/* The larger one; NaN is larger than anything. */
static __device__ __forceinline__ double LAT_(worse)(double a, double b)
{
    return a >= b || a != a ? a : b;
}

/* s[0], s[1] added up and s[2] the largest over the threads of a block, always in the same order; for thread 0. */
static __device__ __forceinline__ void LAT_(reduce)(double s[3])
{
    __shared__ double warp[SUM_THREADS / 32][3];
#pragma unroll
    for (int d = 16; d; d /= 2) {
        s[0] += __shfl_down_sync(~0u, s[0], d);
        s[1] += __shfl_down_sync(~0u, s[1], d);
        s[2] = LAT_(worse)(s[2], __shfl_down_sync(~0u, s[2], d));
    }
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < 3; k++)
            warp[threadIdx.x / 32][k] = s[k];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int j = 1; j < SUM_THREADS / 32; j++) {
            s[0] += warp[j][0];
            s[1] += warp[j][1];
            s[2] = LAT_(worse)(s[2], warp[j][2]);
        }
}

/* The sums of a block, in thread 0, to memory. The block that is the last one to come adds up those of all, always in the
 * same order, for the host. */
static __device__ __forceinline__ void LAT_(total)(const lat_cuda_look &look, int unit, double s[3])
{
    __shared__ bool last;
    double *const p = look.partial + 3 * (size_t)unit * gridDim.x;
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; k++)
            __stcg(p + 3 * blockIdx.x + k, s[k]);
        __threadfence();
        last = atomicInc(look.arrived + unit, gridDim.x - 1) == gridDim.x - 1; /* and 0 again after the last one */
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    s[0] = s[1] = s[2] = 0;
#pragma unroll 4
    for (uint32_t b = threadIdx.x; b < gridDim.x; b += SUM_THREADS) {
        s[0] += __ldcg(p + 3 * b);
        s[1] += __ldcg(p + 3 * b + 1);
        s[2] = LAT_(worse)(s[2], __ldcg(p + 3 * b + 2));
    }
    LAT_(reduce)(s);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; k++)
            look.sum[4 * (size_t)unit + (size_t)k] = s[k];
        __threadfence_system();
        *(volatile double *)(look.sum + 4 * (size_t)unit + 3) = look.number;
    }
}

template <int R>
static __device__ __forceinline__ void LAT_(state_of)(const lat_cuda_work &, const LAT_(problem)<LAT_CUDA_LINEAR> &l, LAT_T *share, LAT_T *theta)
{
    LAT_(landau_state)(&l.x, share, theta);
}

#if LAT_N <= 3
template <int R>
static __device__ __forceinline__ void LAT_(state_of)(const lat_cuda_work &w, const LAT_(problem)<LAT_CUDA_ABELIAN> &l, LAT_T *share, LAT_T *theta)
{
    LAT_(mag_state)(&l.x, COUNT(R), (LAT_S)(2 * w.nd), share, theta);
}
#endif

template <int P, int R, int D>
static __global__ void __launch_bounds__(SUM_THREADS, LAT_N <= 3 ? 2 : 1) LAT_(state)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_look look)
{
    /* Warps take the parities in turn: the second of the two sites that read a link finds it in a cache. */
    const uint32_t n = blockIdx.x * SUM_THREADS + threadIdx.x, pair = n / (2 * LAT_CUDA_GROUP);
    const int parity = (int)(n / LAT_CUDA_GROUP % 2), copy = (int)blockIdx.y / look.slices, slice = (int)blockIdx.y % look.slices;
    const uint32_t own = pair * LAT_CUDA_GROUP + n % LAT_CUDA_GROUP, i = w.from + own;
    double s[3] = {0, 0, 0};
    WAIT_FOR_GRID();
    if (w.peer) {
        if (threadIdx.x < 2)
            LAT_(hear)(w.heard, (int)threadIdx.x, look.half);
        __syncthreads();
    }
    if (own < w.own) {
        const LAT_(view)<1> v = LAT_(look)<R, 1>(w, slice, &copy, parity);
        const LAT_(place) p = LAT_(find)(w, i, parity);
        LAT_T own[FULL], share, theta;
        LAT_(problem)<P> l = {};
        LAT_(links)<R, D, 1>(w, v, p, [&](int, const LAT_T *u, const LAT_T *g, LAT_T weight) {
            LAT_(take)<R>(&l, u, g, weight);
        });
        LAT_(fetch)<FEW>(own, v.g[0] + LAT_(at)(i, CHUNKS(FEW)));
        LAT_(complete)(own);
        LAT_(turn_to)<R>(&l, own);
        LAT_(state_of)<R>(w, l, &share, &theta);
        s[0] = (double)share;
        s[1] = s[2] = (double)theta;
    }
    LAT_(reduce)(s);
    LAT_(total)(look, copy * w.slices + slice, s);
}

/* ---- fields in natural order ---- */

/* Slice, parity and number of a site of the lattice. */
static __device__ void LAT_(locate)(const lat_cuda_work &w, uint64_t site, int *slice, int *parity, uint32_t *i)
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

/* False where the rows are not orthonormal, or the last one not what the others make it, beyond a few roundings in the
 * precision of the sweeps: links of a single precision file miss it in double, and are then used as they are. */
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
static __global__ void LAT_(load_links)(const __grid_constant__ lat_cuda_work w, const RAW *raw, uint64_t first, uint64_t count, int *bad)
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
    const LAT_(view)<1> v = LAT_(look)<R, 1>(w, slice, &none, parity);
    LAT_(store)<R>((LAT_V *)v.u + LAT_(at)(i, w.nd * CHUNKS(R)) + axis * CHUNKS(R) * LAT_CUDA_GROUP, m);
}

static __global__ void LAT_(set_g)(const __grid_constant__ lat_cuda_work w, int copy, const double *raw, uint64_t first, uint64_t count)
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
    const LAT_(view)<1> v = LAT_(look)<FEW, 1>(w, slice, &copy, parity);
    LAT_(store)<FEW>(v.g[0] + LAT_(at)(i, CHUNKS(FEW)), m);
}

static __global__ void LAT_(get_g)(const __grid_constant__ lat_cuda_work w, int copy, double *raw, uint64_t first, uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    int slice, parity;
    uint32_t i;
    LAT_(locate)(w, first + n, &slice, &parity, &i);
    const LAT_(view)<1> v = LAT_(look)<FEW, 1>(w, slice, &copy, parity);
    LAT_T m[FULL];
    LAT_(fetch)<FEW>(m, v.g[0] + LAT_(at)(i, CHUNKS(FEW)));
    LAT_(complete)(m);
    for (int e = 0; e < FULL; e++)
        raw[n * FULL + e] = (double)m[e];
}

/* ---- launches ---- */

static unsigned LAT_(blocks)(uint64_t n, unsigned threads)
{
    return (unsigned)((n + threads - 1) / threads);
}

static cudaError_t LAT_(load)(const lat_cuda_work *w, const void *raw, int real_raw, uint64_t first, uint64_t count, int *bad, cudaStream_t stream)
{
    const unsigned threads = 128, blocks = LAT_(blocks)(count, threads);
    if (w->rows < LAT_N && real_raw == 4)
        LAT_(load_links)<FEW, float><<<blocks, threads, 0, stream>>>(*w, (const float *)raw, first, count, bad);
    else if (w->rows < LAT_N)
        LAT_(load_links)<FEW, double><<<blocks, threads, 0, stream>>>(*w, (const double *)raw, first, count, bad);
    else if (real_raw == 4)
        LAT_(load_links)<LAT_N, float><<<blocks, threads, 0, stream>>>(*w, (const float *)raw, first, count, bad);
    else
        LAT_(load_links)<LAT_N, double><<<blocks, threads, 0, stream>>>(*w, (const double *)raw, first, count, bad);
    return cudaGetLastError();
}

static cudaError_t LAT_(set)(const lat_cuda_work *w, int copy, const double *raw, uint64_t first, uint64_t count, cudaStream_t stream)
{
    LAT_(set_g)<<<LAT_(blocks)(count, 128), 128, 0, stream>>>(*w, copy, raw, first, count);
    return cudaGetLastError();
}

static cudaError_t LAT_(get)(const lat_cuda_work *w, int copy, double *raw, uint64_t first, uint64_t count, cudaStream_t stream)
{
    LAT_(get_g)<<<LAT_(blocks)(count, 128), 128, 0, stream>>>(*w, copy, raw, first, count);
    return cudaGetLastError();
}

/* A kernel that may begin while the last blocks of the one before are still at work: it waits for them itself. */
template <class... A>
static cudaError_t LAT_(start)(void (*kernel)(A...), const lat_cuda_work *w, dim3 grid, dim3 block, cudaStream_t stream, A... a)
{
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = w->overlap ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, a...);
}

/* `beside` copies of a slice share a block, and the links that it reads in its cache. */
template <int P, int R, int D, int C, int VISIT>
static cudaError_t LAT_(launch)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t stream)
{
    const unsigned y = (unsigned)(how->beside + C - 1) / C, x = y == 1 ? BLOCK : y == 2 ? 64 : 32;
    lat_cuda_how h = *how;
    h.rim_blocks = how->part == LAT_CUDA_INNER ? 0 : LAT_(blocks)(w->rim, x);
    const unsigned inner = how->part == LAT_CUDA_RIM ? 0 : LAT_(blocks)(w->own - 2 * w->rim, x);
    h.spread = inner >= 6 * h.rim_blocks ? 2 : inner >= 2 * h.rim_blocks ? 1 : 0;
    const dim3 block(x, y), grid(2 * h.rim_blocks + inner, (unsigned)how->nrows);
    if (grid.x == 0)
        return cudaSuccess;
    return LAT_(start)(LAT_(half)<P, R, D, C, VISIT>, w, grid, block, stream, *w, h, parity);
}

#if LAT_N <= 3
/* For what matters most: SU(3) links of four directions. */
template <int P, int D, int VISIT>
static cudaError_t LAT_(launch_tuned)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t stream)
{
#if LAT_N == 3
    if (how->beside == 1 && w->rim == 0 && (uint64_t)w->half * (uint64_t)how->nrows <= (uint64_t)w->processors * SMALL_SITES) {
        const dim3 block(SMALL_THREADS, 1), grid(LAT_(blocks)(w->half, SMALL_THREADS), (unsigned)how->nrows);
        return LAT_(start)(LAT_(half_small)<P, D, VISIT>, w, grid, block, stream, *w, *how, parity);
    }
#if LAT_SIZE == 4
    if constexpr (P == LAT_CUDA_LINEAR && D == 4)
        if (how->beside > 1)
            return LAT_(launch)<P, FEW, D, 2, VISIT>(w, how, parity, stream);
#endif
#endif
    return LAT_(launch)<P, FEW, D, 1, VISIT>(w, how, parity, stream);
}

template <int P, int D>
static cudaError_t LAT_(tuned)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t stream)
{
    switch (how->visit) {
    case LAT_VISIT_SU2: return LAT_(launch_tuned)<P, D, LAT_VISIT_SU2>(w, how, parity, stream);
    case LAT_VISIT_SUN: return LAT_(launch_tuned)<P, D, LAT_VISIT_SUN>(w, how, parity, stream);
    case LAT_VISIT_BATH: return LAT_(launch_tuned)<P, D, LAT_VISIT_BATH>(w, how, parity, stream);
    default: return LAT_(launch_tuned)<P, D, LAT_VISIT_MICRO>(w, how, parity, stream);
    }
}

/* nd directions of weight 1, links in SU(N). */
static bool LAT_(plain)(const lat_cuda_work *w, int nd)
{
    for (int a = 0; a < nd; a++)
        if (w->weight[a] != 1)
            return false;
    return w->nd == nd && w->rows < LAT_N;
}
#endif

/* The kernels that are there for all that matters, and those that do all else. */
static cudaError_t LAT_(sweep)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t stream)
{
#if LAT_N <= 3
    const bool mag = w->problem == LAT_CUDA_ABELIAN;
    const bool common = how->visit == LAT_VISIT_SU2 || how->visit == LAT_VISIT_SUN || how->visit == LAT_VISIT_BATH || how->visit == LAT_VISIT_MICRO;
    if (common && LAT_(plain)(w, 4))
        return mag ? LAT_(tuned)<LAT_CUDA_ABELIAN, 4>(w, how, parity, stream) : LAT_(tuned)<LAT_CUDA_LINEAR, 4>(w, how, parity, stream);
    if (common && !mag && LAT_(plain)(w, 3))
        return LAT_(tuned)<LAT_CUDA_LINEAR, 3>(w, how, parity, stream);
    if (w->rows < LAT_N)
        return mag ? LAT_(launch)<LAT_CUDA_ABELIAN, FEW, 0, 1, -1>(w, how, parity, stream)
                   : LAT_(launch)<LAT_CUDA_LINEAR, FEW, 0, 1, -1>(w, how, parity, stream);
    if (mag)
        return LAT_(launch)<LAT_CUDA_ABELIAN, LAT_N, 0, 1, -1>(w, how, parity, stream);
#endif
    return LAT_(launch)<LAT_CUDA_LINEAR, LAT_N, 0, 1, -1>(w, how, parity, stream);
}

static uint64_t LAT_(state_blocks)(const lat_cuda_work *w)
{
    const uint64_t groups = (w->own + LAT_CUDA_GROUP - 1) / LAT_CUDA_GROUP;
    return LAT_(blocks)(2 * groups * LAT_CUDA_GROUP, SUM_THREADS);
}

template <int P, int R, int D>
static cudaError_t LAT_(launch_state)(const lat_cuda_work *w, int copies, const lat_cuda_look *look, cudaStream_t stream)
{
    const dim3 grid((unsigned)LAT_(state_blocks)(w), (unsigned)(copies * look->slices));
    return LAT_(start)(LAT_(state)<P, R, D>, w, grid, SUM_THREADS, stream, *w, *look);
}

static cudaError_t LAT_(sum)(const lat_cuda_work *w, int copies, const lat_cuda_look *look, cudaStream_t stream)
{
#if LAT_N <= 3
    if (w->problem == LAT_CUDA_ABELIAN)
        return w->rows < LAT_N ? LAT_(launch_state)<LAT_CUDA_ABELIAN, FEW, 0>(w, copies, look, stream)
                               : LAT_(launch_state)<LAT_CUDA_ABELIAN, LAT_N, 0>(w, copies, look, stream);
    if (w->rows < LAT_N)
        return LAT_(plain)(w, 4) ? LAT_(launch_state)<LAT_CUDA_LINEAR, FEW, 4>(w, copies, look, stream)
                                 : LAT_(launch_state)<LAT_CUDA_LINEAR, FEW, 0>(w, copies, look, stream);
#endif
    return LAT_(launch_state)<LAT_CUDA_LINEAR, LAT_N, 0>(w, copies, look, stream);
}

static cudaError_t LAT_(rim)(const lat_cuda_work *w, int unit, int units, int parity, void *box, int into_ghosts, cudaStream_t stream)
{
    const dim3 grid(LAT_(blocks)(w->rim, 128), (unsigned)units, 2);
    LAT_(carry)<<<grid, 128, 0, stream>>>(*w, unit, parity, (LAT_V *)box, into_ghosts);
    return cudaGetLastError();
}
