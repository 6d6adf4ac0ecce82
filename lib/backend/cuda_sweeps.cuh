/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_sweeps.cuh: the kernels for one N and one precision (template; cuda_kernels.cu expands it). A thread is
 * a site. */
#include "site/template.h"

#define FULL (2 * LAT_N * LAT_N)             /* reals of a matrix */
#define FEW (LAT_N <= 3 ? LAT_N - 1 : LAT_N) /* rows of g; of links in SU(N) */
#define PER (16 / LAT_SIZE)                  /* reals a chunk */
#define CHUNKS(rows) ((2 * LAT_N * (rows) + PER - 1) / PER)
#define COUNT(rows) ((rows) < LAT_N ? LAT_N - 1 : LAT_N) /* X_i that are kept (site/mag.h) */

/* ---- matrices to and from memory ---- */

/* Where the matrix of site i is, counted in chunks, if `chunks` of them are a site's. */
static __device__ __forceinline__ size_t LAT_(at)(uint32_t i, int chunks)
{
    return (size_t)(i / LAT_CUDA_GROUP) * (uint32_t)(chunks * LAT_CUDA_GROUP) + i % LAT_CUDA_GROUP;
}

static __device__ __forceinline__ void LAT_(unpack)(LAT_T *m, LAT_V v, int n)
{
    m[0] = v.x;
    if (n > 1)
        m[1] = v.y;
#if LAT_SIZE == 4
    if (n > 2)
        m[2] = v.z;
    if (n > 3)
        m[3] = v.w;
#endif
}

template <int ROWS> static __device__ __forceinline__ void LAT_(fetch)(LAT_T *m, const LAT_V *p)
{
#pragma unroll
    for (int c = 0; c < CHUNKS(ROWS); c++)
        LAT_(unpack)(m + c * PER, p[c * LAT_CUDA_GROUP], 2 * LAT_N * ROWS - c * PER);
}

template <int ROWS> static __device__ __forceinline__ void LAT_(fetch_link)(LAT_T *m, const LAT_V *p)
{
#pragma unroll
    for (int c = 0; c < CHUNKS(ROWS); c++)
        LAT_(unpack)(m + c * PER, LOAD_LINK(p + c * LAT_CUDA_GROUP), 2 * LAT_N * ROWS - c * PER);
}

template <int ROWS> static __device__ __forceinline__ void LAT_(store)(LAT_V *p, const LAT_T *m)
{
#pragma unroll
    for (int c = 0; c < CHUNKS(ROWS); c++) {
        const int n = 2 * LAT_N * ROWS - c * PER;
        LAT_V v;
        v.x = m[c * PER];
        v.y = n > 1 ? m[c * PER + 1] : 0;
#if LAT_SIZE == 4
        v.z = n > 2 ? m[c * PER + 2] : 0;
        v.w = n > 3 ? m[c * PER + 3] : 0;
#endif
        p[c * LAT_CUDA_GROUP] = v;
    }
}

/* The last row from the others, as orthonormal() of site/matrix.h makes it. */
static __device__ __forceinline__ void LAT_(complete)(LAT_T *m)
{
#if LAT_N == 2
    m[4] = -m[2];
    m[5] = m[3];
    m[6] = m[0];
    m[7] = -m[1];
#elif LAT_N == 3
    LAT_(c) x[3], y[3], z[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        x[c] = LAT_(load)(m + 2 * c);
        y[c] = LAT_(load)(m + 6 + 2 * c);
    }
    LAT_(cross)(z, x, y);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        m[12 + 2 * c] = z[c].re;
        m[13 + 2 * c] = z[c].im;
    }
#else
    (void)m;
#endif
}

/* w = u^+, of which `rows` rows are wanted; u is whole. */
static __device__ __forceinline__ void LAT_(dag)(LAT_T *w, const LAT_T *u, int rows)
{
#pragma unroll
    for (int a = 0; a < rows; a++)
#pragma unroll
        for (int b = 0; b < LAT_N; b++) {
            w[2 * (a * LAT_N + b)] = u[2 * (b * LAT_N + a)];
            w[2 * (a * LAT_N + b) + 1] = -u[2 * (b * LAT_N + a) + 1];
        }
}

/* ---- sites ---- */

typedef struct { uint32_t i, c[4]; int late; } LAT_(place); /* late: x is 2 c[0] + 1, not 2 c[0] */

static __device__ __forceinline__ uint32_t LAT_(quotient)(uint32_t n, lat_cuda_divisor d)
{
    return d.mul ? __umulhi(n, d.mul) >> d.shift : n;
}

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
    p.late = (p.c[1] + p.c[2] + p.c[3] + (uint32_t)parity) & 1;
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

/* The lattice's natural index. */
static __device__ __forceinline__ int64_t LAT_(site)(const lat_cuda_work &w, const LAT_(place) &p, int slice)
{
    uint64_t s = (uint64_t)slice * w.slice_step + (uint64_t)(2 * p.c[0] + (uint32_t)p.late) * w.site_step[0];
#pragma unroll
    for (int a = 1; a < 4; a++)
        s += p.c[a] * w.site_step[a];
    return (int64_t)s;
}

/* ---- a visit ---- */

/* The fields as the sites of one parity of a slice of a copy see them: their own, and those of the other parity. */
typedef struct { const LAT_V *u, *u_other; LAT_V *g; const LAT_V *g_other; } LAT_(view);

template <int R> static __device__ __forceinline__ LAT_(view) LAT_(look)(const lat_cuda_work &w, int slice, int copy, int parity)
{
    const size_t link = (size_t)w.groups * LAT_CUDA_GROUP * (size_t)(w.nd * CHUNKS(R)), s = 2 * (size_t)slice;
    const size_t g = (size_t)w.groups * LAT_CUDA_GROUP * CHUNKS(FEW), unit = 2 * ((size_t)copy * (size_t)w.slices + (size_t)slice);
    LAT_(view) v;
    v.u = (const LAT_V *)w.u + (s + (size_t)parity) * link;
    v.u_other = (const LAT_V *)w.u + (s + (size_t)(1 - parity)) * link;
    v.g = (LAT_V *)w.g + (unit + (size_t)parity) * g;
    v.g_other = (const LAT_V *)w.g + (unit + (size_t)(1 - parity)) * g;
    return v;
}

/* Calls add(w, g, rows, weight) for each of the 2 nd links w away from the site, g being the neighbour's. */
template <int R, int D, class F>
static __device__ __forceinline__ void LAT_(links)(const lat_cuda_work &w, const LAT_(view) &v, const LAT_(place) &p, F add)
{
    const int nd = D ? D : w.nd;
    constexpr int use = LAT_N == 2 ? LAT_N : R; /* rows that sums are made with */
#if LAT_N <= 3
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int mu = 0; mu < 4; mu++) {
        if (mu >= nd)
            break;
        const LAT_T weight = WEIGHT(w)[mu];
        LAT_T m[FULL], n[FULL], h[FULL];
        const uint32_t up = LAT_(up)(w, p, mu), down = LAT_(down)(w, p, mu);
        LAT_(fetch_link)<R>(m, v.u + LAT_(at)(p.i, nd * CHUNKS(R)) + mu * CHUNKS(R) * LAT_CUDA_GROUP);
        LAT_(fetch)<FEW>(h, v.g_other + LAT_(at)(up, CHUNKS(FEW)));
        LAT_(complete)(h);
        if (use > R)
            LAT_(complete)(m);
        add(m, h, use, weight);
        LAT_(fetch_link)<R>(m, v.u_other + LAT_(at)(down, nd * CHUNKS(R)) + mu * CHUNKS(R) * LAT_CUDA_GROUP);
        LAT_(fetch)<FEW>(h, v.g_other + LAT_(at)(down, CHUNKS(FEW)));
        LAT_(complete)(h);
        if (R < LAT_N)
            LAT_(complete)(m);
        LAT_(dag)(n, m, use);
        add(n, h, use, weight);
    }
}

/* x = g K. */
template <int R, int D>
static __device__ __forceinline__ LAT_(m) LAT_(local)(const lat_cuda_work &w, const LAT_(view) &v, const LAT_(place) &p, const LAT_T *own)
{
    LAT_(m) k = {};
    LAT_(links)<R, D>(w, v, p, [&](const LAT_T *u, const LAT_T *g, int rows, LAT_T weight) {
        LAT_(add_mul_dag)(&k, u, g, rows, weight);
    });
    return LAT_(mul_left)(own, &k);
}

#if LAT_N <= 3
/* The X_i. */
template <int R, int D>
static __device__ __forceinline__ LAT_(mag) LAT_(local_mag)(const lat_cuda_work &w, const LAT_(view) &v, const LAT_(place) &p, const LAT_T *own)
{
    LAT_(mag) m = {};
    LAT_(links)<R, D>(w, v, p, [&](const LAT_T *u, const LAT_T *g, int rows, LAT_T) {
        LAT_(mag_add)(&m, u, g, rows, COUNT(R));
    });
    LAT_(mag_rotate)(&m, own, COUNT(R));
    return m;
}
#endif

/* What h, the site's g, becomes. */
static __device__ __forceinline__ void LAT_(visit)(LAT_(m) *h, const LAT_(m) &x, int visit, LAT_T omega, const lat_cuda_how &how, const LAT_(dice) *d)
{
    const LAT_T beta = HOW(how).beta, p = HOW(how).stochastic;
    switch (visit) {
    case LAT_VISIT_SU2: LAT_(relax_su2)(h, x, omega); break;
    case LAT_VISIT_SUN: LAT_(relax_sun)(h, x, omega); break;
    case LAT_VISIT_STIR_SU2: LAT_(stochastic_su2)(h, x, omega, p, d); break;
    case LAT_VISIT_STIR_SUN: LAT_(stochastic_sun)(h, x, omega, p, d); break;
    case LAT_VISIT_BATH: LAT_(heat)(h, x, beta, LAT_HEAT_BATH, d); break;
    case LAT_VISIT_MICRO: LAT_(heat)(h, x, beta, LAT_HEAT_MICRO, d); break;
    default: LAT_(heat)(h, x, beta, LAT_HEAT_METROPOLIS, d); break;
    }
}

#if LAT_N <= 3
static __device__ __forceinline__ void LAT_(visit_mag)(LAT_(m) *h, const LAT_(mag) &m, int count, int visit, LAT_T omega, const lat_cuda_how &how, const LAT_(dice) *d)
{
    const LAT_T beta = HOW(how).beta, p = HOW(how).stochastic;
    switch (visit) {
    case LAT_VISIT_SU2: LAT_(mag_relax_su2)(h, m, count, omega); break;
    case LAT_VISIT_SUN: LAT_(mag_relax_sun)(h, m, count, omega); break;
    case LAT_VISIT_STIR_SU2: LAT_(mag_stochastic_su2)(h, m, count, omega, p, d); break;
    case LAT_VISIT_STIR_SUN: LAT_(mag_stochastic_sun)(h, m, count, omega, p, d); break;
    case LAT_VISIT_BATH: LAT_(mag_heat)(h, m, count, beta, LAT_HEAT_BATH, d); break;
    case LAT_VISIT_MICRO: LAT_(mag_heat)(h, m, count, beta, LAT_HEAT_MICRO, d); break;
    default: LAT_(mag_heat)(h, m, count, beta, LAT_HEAT_METROPOLIS, d); break;
    }
}
#endif

/* One parity. VISIT: what is done, or -1 for how.visit. */
template <int P, int R, int D, int VISIT>
static __global__ void BOUNDS LAT_(half)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_how how, int parity)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const lat_cuda_unit unit = how.unit[blockIdx.y * blockDim.y + threadIdx.y];
    if (i >= w.half || unit.copy < 0)
        return;
    const LAT_(view) v = LAT_(look)<R>(w, unit.slice, unit.copy, parity);
    const LAT_(place) p = LAT_(find)(w, i, parity);
    LAT_V *mine = v.g + LAT_(at)(i, CHUNKS(FEW));
    const int64_t site = LAT_(site)(w, p, unit.slice);
    const LAT_(dice) dice = {how.seed + (uint64_t)unit.copy, &site, how.config, how.step};
    const LAT_T omega = (LAT_T)how.omega[unit.copy];
    const int visit = VISIT >= 0 ? VISIT : how.visit;
    LAT_(m) h;
#if LAT_N <= 3
    if (P == LAT_CUDA_ABELIAN) {
        LAT_T own[FULL];
        LAT_(fetch)<FEW>(own, mine);
        LAT_(complete)(own);
        const LAT_(mag) m = LAT_(local_mag)<R, D>(w, v, p, own);
        memcpy(&h, own, sizeof h);
        LAT_(visit_mag)(&h, m, COUNT(R), visit, omega, how, &dice);
    } else
#endif
    {
        LAT_T own[FULL];
        LAT_(fetch)<FEW>(own, mine);
        LAT_(complete)(own);
        const LAT_(m) x = LAT_(local)<R, D>(w, v, p, own);
        memcpy(&h, own, sizeof h);
        LAT_(visit)(&h, x, visit, omega, how, &dice);
    }
    LAT_(store)<FEW>(mine, (const LAT_T *)&h);
}

/* ---- functional and theta ---- */

#define SUM_THREADS 128

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

template <int P, int R, int D>
static __global__ void __launch_bounds__(SUM_THREADS) LAT_(state)(const __grid_constant__ lat_cuda_work w, double *partial)
{
    const uint32_t n = blockIdx.x * SUM_THREADS + threadIdx.x, padded = w.groups * LAT_CUDA_GROUP;
    const int parity = n >= padded, unit = (int)blockIdx.y;
    const uint32_t i = n - (parity ? padded : 0);
    double s[3] = {0, 0, 0};
    if (i < w.half) {
        const LAT_(view) v = LAT_(look)<R>(w, unit % w.slices, unit / w.slices, parity);
        const LAT_(place) p = LAT_(find)(w, i, parity);
        LAT_T own[FULL], share, theta;
        LAT_(fetch)<FEW>(own, v.g + LAT_(at)(i, CHUNKS(FEW)));
        LAT_(complete)(own);
#if LAT_N <= 3
        if (P == LAT_CUDA_ABELIAN) {
            const LAT_(mag) m = LAT_(local_mag)<R, D>(w, v, p, own);
            LAT_(mag_state)(&m, COUNT(R), (LAT_S)(2 * w.nd), &share, &theta);
        } else
#endif
        {
            const LAT_(m) x = LAT_(local)<R, D>(w, v, p, own);
            LAT_(landau_state)(&x, &share, &theta);
        }
        s[0] = (double)share;
        s[1] = s[2] = (double)theta;
    }
    LAT_(reduce)(s);
    if (threadIdx.x == 0)
        for (int k = 0; k < 3; k++)
            partial[3 * ((size_t)unit * gridDim.x + blockIdx.x) + (size_t)k] = s[k];
}

static __global__ void __launch_bounds__(SUM_THREADS) LAT_(total)(const double *partial, uint32_t blocks, double *sum)
{
    const double *p = partial + 3 * (size_t)blockIdx.x * blocks;
    double s[3] = {0, 0, 0};
    for (uint32_t b = threadIdx.x; b < blocks; b += SUM_THREADS) {
        s[0] += p[3 * b];
        s[1] += p[3 * b + 1];
        s[2] = LAT_(worse)(s[2], p[3 * b + 2]);
    }
    LAT_(reduce)(s);
    if (threadIdx.x == 0)
        for (int k = 0; k < 3; k++)
            sum[3 * (size_t)blockIdx.x + (size_t)k] = s[k];
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
    *parity = sum & 1;
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
    const LAT_(view) v = LAT_(look)<R>(w, slice, 0, parity);
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
    const LAT_(view) v = LAT_(look)<FEW>(w, slice, copy, parity);
    LAT_(store)<FEW>(v.g + LAT_(at)(i, CHUNKS(FEW)), m);
}

static __global__ void LAT_(get_g)(const __grid_constant__ lat_cuda_work w, int copy, double *raw, uint64_t first, uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    int slice, parity;
    uint32_t i;
    LAT_(locate)(w, first + n, &slice, &parity, &i);
    const LAT_(view) v = LAT_(look)<FEW>(w, slice, copy, parity);
    LAT_T m[FULL];
    LAT_(fetch)<FEW>(m, v.g + LAT_(at)(i, CHUNKS(FEW)));
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

/* beside copies of a slice share a block, and the links that it reads in its cache. */
static dim3 LAT_(block)(const lat_cuda_how *how)
{
    const unsigned y = (unsigned)how->beside;
    return dim3(y == 1 ? BLOCKX : y == 2 ? 64 : 32, y);
}

template <int P, int R, int D, int VISIT>
static cudaError_t LAT_(launch)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t stream)
{
    const dim3 block = LAT_(block)(how), grid(LAT_(blocks)(w->half, block.x), (unsigned)how->nrows);
    LAT_(half)<P, R, D, VISIT><<<grid, block, 0, stream>>>(*w, *how, parity);
    return cudaGetLastError();
}

/* The kernels that are there for all that matters, and the one that does all else. */
template <int P, int R, int D>
static cudaError_t LAT_(choose)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t stream)
{
#if LAT_N <= 3
    if (R < LAT_N)
        switch (how->visit) {
        case LAT_VISIT_SU2: return LAT_(launch)<P, R, D, LAT_VISIT_SU2>(w, how, parity, stream);
        case LAT_VISIT_SUN: return LAT_(launch)<P, R, D, LAT_VISIT_SUN>(w, how, parity, stream);
        case LAT_VISIT_BATH: return LAT_(launch)<P, R, D, LAT_VISIT_BATH>(w, how, parity, stream);
        case LAT_VISIT_MICRO: return LAT_(launch)<P, R, D, LAT_VISIT_MICRO>(w, how, parity, stream);
        }
#endif
    return LAT_(launch)<P, R, 0, -1>(w, how, parity, stream);
}

static cudaError_t LAT_(sweep)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t stream)
{
#if LAT_N <= 3
    const bool few = w->rows < LAT_N;
    if (w->problem == LAT_CUDA_ABELIAN)
        return few ? w->nd == 4 ? LAT_(choose)<LAT_CUDA_ABELIAN, FEW, 4>(w, how, parity, stream)
                                : LAT_(choose)<LAT_CUDA_ABELIAN, FEW, 0>(w, how, parity, stream)
                   : LAT_(choose)<LAT_CUDA_ABELIAN, LAT_N, 0>(w, how, parity, stream);
    if (few)
        return w->nd == 4 ? LAT_(choose)<LAT_CUDA_LINEAR, FEW, 4>(w, how, parity, stream)
             : w->nd == 3 ? LAT_(choose)<LAT_CUDA_LINEAR, FEW, 3>(w, how, parity, stream)
                          : LAT_(choose)<LAT_CUDA_LINEAR, FEW, 0>(w, how, parity, stream);
#endif
    return LAT_(choose)<LAT_CUDA_LINEAR, LAT_N, 0>(w, how, parity, stream);
}

static uint64_t LAT_(state_blocks)(const lat_cuda_work *w)
{
    return LAT_(blocks)(2 * (uint64_t)w->groups * LAT_CUDA_GROUP, SUM_THREADS);
}

static cudaError_t LAT_(sum)(const lat_cuda_work *w, int units, double *partial, double *sum, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)LAT_(state_blocks)(w);
    const dim3 grid(blocks, (unsigned)units);
#if LAT_N <= 3
    if (w->problem == LAT_CUDA_ABELIAN && w->rows < LAT_N)
        LAT_(state)<LAT_CUDA_ABELIAN, FEW, 0><<<grid, SUM_THREADS, 0, stream>>>(*w, partial);
    else if (w->problem == LAT_CUDA_ABELIAN)
        LAT_(state)<LAT_CUDA_ABELIAN, LAT_N, 0><<<grid, SUM_THREADS, 0, stream>>>(*w, partial);
    else if (w->rows < LAT_N)
        LAT_(state)<LAT_CUDA_LINEAR, FEW, 0><<<grid, SUM_THREADS, 0, stream>>>(*w, partial);
    else
#endif
        LAT_(state)<LAT_CUDA_LINEAR, LAT_N, 0><<<grid, SUM_THREADS, 0, stream>>>(*w, partial);
    LAT_(total)<<<(unsigned)units, SUM_THREADS, 0, stream>>>(partial, blocks, sum);
    return cudaGetLastError();
}
