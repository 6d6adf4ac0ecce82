/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer_gpu.cu: restriction and prolongation, from batches and from vectors of coarse levels, of
 * the sites that cycles read, by P in half. Tensor cores take eight of its vectors, or rows, as 16
 * rows, re and im. */
#include "multigrid/cuda/cuda_columns.cuh"
#include "multigrid/cuda/cuda_tensor.cuh"

#include <cuda_pipeline.h>
#include <stdlib.h>

/* ROWS of a chirality at a time; each of the warps that have it takes SHARE steps of eight. */
enum { THREADS = 256, WARPS = THREADS / 64, SHARE = 2, ROWS = 8 * SHARE * WARPS };

/* A transfer's sites, those of parities from .. 1, and P of the sites from `first` of the list on.
 * A block of threads is a block of sites, `some` of them at a time. */
typedef struct transfer_args {
    const int64_t *start[2];
    const int32_t *site;
    int from, components, n, some, columns;
    int most;  /* sites of a block */
    int raw;   /* of a site, as it comes: units of 16 bytes */
    int pitch; /* of a site's numbers in a stage: banks of shared memory differ */
    const __half2 *p;
    int64_t first;
    int64_t of_coarse; /* numbers from one batch to the next, of z */
} transfer_args;

/* Columns that there are not stay 0. */
DEVICE void clear(const transfer_args &a, int batches, float2 *stage)
{
    for (int i = (int)threadIdx.x; i < batches * a.some * a.pitch; i += (int)blockDim.x)
        stage[i] = make_float2(0, 0);
}

/* Where rows of a chirality are, of some sites: of P in units of n, and of a stage. */
typedef struct row_place {
    uint16_t p, stage;
} row_place;

DEVICE void place_rows(const transfer_args &a, row_place *rows)
{
    const int half = a.components / 2;
    for (int i = (int)threadIdx.x; i < a.some * half; i += (int)blockDim.x)
        rows[i] = row_place{(uint16_t)(i / half * a.components + i % half),
                            (uint16_t)(i / half * a.pitch + i % half * LAT_EIGHT)};
}

/* A number of P as two rows, re and im. */
DEVICE void two_rows(__half2 p, float a[2])
{
    const float2 z = __half22float2(p);
    a[0] = z.x;
    a[1] = z.y;
}

/* Sums of a warp: P times re and im of a batch. */
struct half_sums {
    float of_re[4], of_im[4];
};

/* Some sites of a block, which lie side by side in a list, the first of `left` there, behind
 * `before` others of the block; none: there are no more. */
typedef struct chunk {
    int64_t at;
    int sites, left, list, before;
} chunk;

DEVICE chunk first_of(const transfer_args &a, int list, int before)
{
    const int64_t at = a.start[list][blockIdx.x];
    const int left = (int)(a.start[list][blockIdx.x + 1] - at);
    return chunk{at, left < a.some ? left : a.some, left, list, before};
}

DEVICE chunk chunk_after(const transfer_args &a, chunk c)
{
    c.at += c.sites;
    c.before += c.sites;
    c.left -= c.sites;
    c.sites = c.left < a.some ? c.left : a.some;
    return c.sites == 0 && c.list == 0 ? first_of(a, 1, c.before) : c;
}

DEVICE chunk first_chunk(const transfer_args &a)
{
    const chunk c = first_of(a, a.from, 0);
    return c.sites ? c : chunk_after(a, c);
}

/* What a block of threads has in shared memory. P of a chunk, and the numbers that are restricted
 * as they lie, come to one place while another chunk is at work; then they go to the stage. */
struct block_memory {
    __half2 *p;
    uint4 *raw;
    float2 *stage;
    uint2 *z;
    row_place *rows;
    int32_t *where; /* numbers of all sites of the block */
    int of_p, of_raw;

    METHOD block_memory(const transfer_args &a, int batches, bool restricts)
    {
        extern __shared__ uint4 shared[];
        of_p = a.some * a.components * a.n;
        of_raw = restricts ? a.some * a.raw : 0;
        raw = shared;
        p = (__half2 *)(raw + 2 * of_raw);
        stage = (float2 *)(p + 2 * of_p);
        z = (uint2 *)(stage + batches * a.some * a.pitch);
        where = (int32_t *)(z + (restricts ? 0 : batches * 2 * a.n * LAT_EIGHT));
        rows = (row_place *)(where + a.most);
    }
    METHOD const __half2 *p_of(int number) const { return p + number % 2 * of_p; }
    METHOD uint4 *raw_of(int number) const { return raw + number % 2 * of_raw; }
    METHOD void ask(const transfer_args &a, int number, chunk c) const
    {
        const int count = c.sites * a.components * a.n / 4;
        uint4 *const to = (uint4 *)(p + number % 2 * of_p);
        const uint4 *const from = (const uint4 *)(a.p + (c.at - a.first) * a.components * a.n);
        for (int i = (int)threadIdx.x; i < count; i += THREADS)
            __pipeline_memcpy_async(to + i, from + i, sizeof *to);
    }
    METHOD void find(const transfer_args &a, const int32_t *number) const
    {
        int before = 0;
        for (int list = a.from; list < 2; list++) {
            const int64_t at = a.start[list][blockIdx.x];
            const int sites = (int)(a.start[list][blockIdx.x + 1] - at);
            for (int i = (int)threadIdx.x; i < sites; i += THREADS)
                where[before + i] = number[at + i];
            before += sites;
        }
    }
};

/* sum += conj(P) r of rows `first` .. of a chunk and chirality. */
template <int TILES, int BATCHES>
DEVICE void restrict_rows(const transfer_args &a, int first, int count, const row_place *rows,
                          const __half2 *p, const float2 *r, half_sums sum[BATCHES][TILES])
{
    const int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4, batch = a.some * a.pitch;
#pragma unroll
    for (int k = 0; k < SHARE; k++) {
        const int i = first + 8 * k + t;
        const bool there[2] = {i < count, i + 4 < count};
        if (first + 8 * k >= count)
            break;
        const row_place row[2] = {rows[there[0] ? i : 0], rows[there[1] ? i + 4 : 0]};
        float w[TILES][4];
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                two_rows(p[row[h].p * a.n + 8 * tile + g], w[tile] + 2 * h);
#pragma unroll
        for (int b = 0; b < BATCHES; b++) {
            uint32_t re[2], im[2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float2 x = there[h] ? r[b * batch + row[h].stage + g] : make_float2(0, 0);
                re[h] = mg_rounded(x.x);
                im[h] = mg_rounded(x.y);
            }
#pragma unroll
            for (int tile = 0; tile < TILES; tile++) {
                mg_multiply(sum[b][tile].of_re, w[tile], re);
                mg_multiply(sum[b][tile].of_im, w[tile], im);
            }
        }
    }
}

/* The sums of the warps that share a chirality, one after the other, to z. part: [warp][lane]. */
template <int TILES, int BATCHES>
DEVICE void add_warps(const transfer_args &a, half_sums sum[BATCHES][TILES], half_sums *part,
                      lat_eight *z)
{
    const int warp = (int)threadIdx.x / 32, g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
#pragma unroll
    for (int b = 0; b < BATCHES; b++)
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            __syncthreads();
            part[threadIdx.x] = sum[b][tile];
            __syncthreads();
            if (warp >= 2)
                continue;
            half_sums all = part[threadIdx.x];
            for (int w = 1; w < WARPS; w++)
                for (int j = 0; j < 4; j++) {
                    all.of_re[j] += part[threadIdx.x + 64 * w].of_re[j];
                    all.of_im[j] += part[threadIdx.x + 64 * w].of_im[j];
                }
            lat_eight *const to = z + b * a.of_coarse + warp * a.n + 8 * tile + g;
#pragma unroll
            for (int j = 0; j < 2; j++) {
                to->re[2 * t + j] = all.of_re[j] + all.of_im[2 + j];
                to->im[2 * t + j] = all.of_im[j] - all.of_re[2 + j];
            }
        }
}

/* A warp has a chirality, a share of the rows, and all vectors of blockIdx.y. */
template <int TILES, int BATCHES, class From>
static __global__ void __launch_bounds__(THREADS)
    restrict_half(const __grid_constant__ transfer_args a, const __grid_constant__ From in,
                  lat_eight *z)
{
    __shared__ half_sums part[THREADS];
    const block_memory m(a, BATCHES, true);
    const int warp = (int)threadIdx.x / 32, half = a.components / 2, chirality = warp % 2,
              first = warp / 2 * 8 * SHARE, vector = (int)blockIdx.y * 8 * TILES;
    half_sums sum[BATCHES][TILES] = {};
    chunk c = first_chunk(a);
    place_rows(a, m.rows);
    clear(a, BATCHES, m.stage);
    m.find(a, in.place);
    __syncthreads();
    m.ask(a, 0, c);
    in.ask(c.list, m.where + c.before, c.sites, m.raw_of(0));
    __pipeline_commit();
    for (int k = 0; c.sites; k++) {
        const chunk next = chunk_after(a, c);
        __pipeline_wait_prior(0);
        __syncthreads();
        m.ask(a, k + 1, next);
        in.ask(next.list, m.where + next.before, next.sites, m.raw_of(k + 1));
        __pipeline_commit();
        in.keep(c.sites, a.some * a.pitch, a.pitch, m.raw_of(k), m.stage);
        __syncthreads();
        restrict_rows<TILES, BATCHES>(a, first, c.sites * half, m.rows,
                                      m.p_of(k) + chirality * half * a.n + vector,
                                      m.stage + chirality * half * LAT_EIGHT, sum);
        c = next;
    }
    add_warps<TILES, BATCHES>(a, sum, part, z + (int64_t)a.site[blockIdx.x] * 2 * a.n + vector);
}

/* z of a block, rounded: [batch][2 n][8]. */
template <int BATCHES> DEVICE void load_z(const transfer_args &a, const lat_eight *z, uint2 *to)
{
    const int all = 2 * a.n * LAT_EIGHT;
    for (int i = (int)threadIdx.x; i < BATCHES * all; i += (int)blockDim.x) {
        const lat_eight *const from = z + i / all * a.of_coarse
                                      + (int64_t)a.site[blockIdx.x] * 2 * a.n + i % all / LAT_EIGHT;
        to[i] = make_uint2(mg_rounded(from->re[i % LAT_EIGHT]),
                           mg_rounded(from->im[i % LAT_EIGHT]));
    }
}

/* Rows of P z, of a chirality from row `first` of some sites on, eight a step, to a stage. */
template <int BATCHES>
DEVICE void prolong_rows(const transfer_args &a, int first, int count, const row_place *rows,
                         const __half2 *p, const uint2 *z, float2 *e)
{
    const int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
    const __half2 *own[SHARE];
    half_sums sum[BATCHES][SHARE] = {};
#pragma unroll
    for (int k = 0; k < SHARE; k++) {
        const int i = first + 8 * k + g;
        own[k] = p + rows[i < count ? i : 0].p * a.n + 2 * t;
    }
#pragma unroll 3
    for (int j = 0; j < a.n; j += 8) {
        float w[SHARE][4];
#pragma unroll
        for (int k = 0; k < SHARE; k++) {
            const uint2 pair = *(const uint2 *)(own[k] + j);
            two_rows(*(const __half2 *)&pair.x, w[k]);
            two_rows(*(const __half2 *)&pair.y, w[k] + 2);
        }
#pragma unroll
        for (int b = 0; b < BATCHES; b++) {
            const uint2 *const at = z + (b * 2 * a.n + j + 2 * t) * LAT_EIGHT + g;
            const uint2 x = at[0], y = at[LAT_EIGHT];
            const uint32_t re[2] = {x.x, y.x}, im[2] = {x.y, y.y};
#pragma unroll
            for (int k = 0; k < SHARE; k++) {
                mg_multiply(sum[b][k].of_re, w[k], re);
                mg_multiply(sum[b][k].of_im, w[k], im);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < SHARE; k++) {
        const int i = first + 8 * k + g;
        if (i >= count)
            break;
#pragma unroll
        for (int b = 0; b < BATCHES; b++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                e[b * a.some * a.pitch + rows[i].stage + 2 * t + j] = make_float2(
                    sum[b][k].of_re[j] - sum[b][k].of_im[2 + j],
                    sum[b][k].of_im[j] + sum[b][k].of_re[2 + j]);
    }
}

/* A warp has a chirality and a share of the rows. */
template <int BATCHES, class To>
static __global__ void __launch_bounds__(THREADS)
    prolong_half(const __grid_constant__ transfer_args a, const lat_eight *z,
                 const __grid_constant__ To out)
{
    const block_memory m(a, BATCHES, false);
    const int warp = (int)threadIdx.x / 32, half = a.components / 2, chirality = warp % 2;
    chunk c = first_chunk(a);
    m.ask(a, 0, c);
    __pipeline_commit();
    place_rows(a, m.rows);
    load_z<BATCHES>(a, z, m.z);
    m.find(a, out.place);
    for (int k = 0; c.sites; k++) {
        const chunk next = chunk_after(a, c);
        __pipeline_wait_prior(0);
        __syncthreads();
        m.ask(a, k + 1, next);
        __pipeline_commit();
        prolong_rows<BATCHES>(a, warp / 2 * 8 * SHARE, c.sites * half, m.rows,
                              m.p_of(k) + chirality * half * a.n, m.z + chirality * a.n * LAT_EIGHT,
                              m.stage + chirality * half * LAT_EIGHT);
        __syncthreads();
        for (int b = 0; b < BATCHES; b++)
            out.store(b, c.list, m.where + c.before, c.sites, a.pitch,
                      m.stage + b * a.some * a.pitch);
        c = next;
    }
}

/* Bytes of block_memory. */
static size_t memory_of(const transfer_args &a, int batches, bool restricts)
{
    const int raw = restricts ? 2 * a.some * a.raw : 0,
              z = restricts ? 0 : batches * 2 * a.n * LAT_EIGHT;
    return (size_t)raw * sizeof(uint4) + (size_t)(2 * a.some * a.components * a.n) * sizeof(__half2)
           + (size_t)(batches * a.some * a.pitch) * sizeof(float2) + (size_t)z * sizeof(uint2)
           + (size_t)a.most * sizeof(int32_t)
           + (size_t)(a.some * a.components / 2) * sizeof(row_place);
}

/* As many sites at a time as there are rows and as the memory of a block of threads takes. */
static transfer_args args_of(const lat_transfer *t, int from, int columns)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    const int *e = t->blocks.block, batches = columns > LAT_EIGHT ? 2 : 1;
    transfer_args a = {};
    int most = 0;
    a.start[0] = g->start[0];
    a.start[1] = g->start[1];
    a.site = g->site;
    a.from = from;
    a.components = t->components;
    a.n = t->n;
    a.columns = columns;
    a.most = e[0] * e[1] * e[2] * e[3];
    a.raw = t->at ? batches * eights::RAW * t->components : batch::RAW * columns;
    a.pitch = t->components * LAT_EIGHT + 1;
    a.p = g->p;
    a.first = g->first;
    a.of_coarse = (int64_t)lat_coarse_numbers(t->to);
    a.some = t->components < 2 * ROWS ? 2 * ROWS / t->components : 1;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                           lat_cuda_device_number());
    most -= THREADS * (int)sizeof(half_sums);
    while (a.some > 1
           && (memory_of(a, batches, true) > (size_t)most
               || memory_of(a, batches, false) > (size_t)most))
        a.some /= 2;
    return a;
}

template <int TILES, class From>
static int start_tiles(const transfer_args &a, const lat_transfer *t, const From &in, lat_eight *z)
{
    const dim3 blocks((unsigned)t->blocks.count, (unsigned)(t->n / (8 * TILES)));
    if (a.columns > LAT_EIGHT)
        lat_mg_start(lat_mg_stream(t->dev), memory_of(a, 2, true), restrict_half<TILES, 2, From>,
                     blocks, THREADS, a, in, z);
    else
        lat_mg_start(lat_mg_stream(t->dev), memory_of(a, 1, true), restrict_half<TILES, 1, From>,
                     blocks, THREADS, a, in, z);
    return lat_mg_launched();
}

template <class From>
static int start_restrict(const transfer_args &a, const lat_transfer *t, const From &in,
                          lat_eight *z)
{
    return t->n % 32 == 0   ? start_tiles<4>(a, t, in, z)
           : t->n % 24 == 0 ? start_tiles<3>(a, t, in, z)
                            : start_tiles<1>(a, t, in, z);
}

template <class To>
static int start_prolong(const transfer_args &a, const lat_transfer *t, const lat_eight *z,
                         const To &out)
{
    const unsigned blocks = (unsigned)t->blocks.count;
    if (a.columns > LAT_EIGHT)
        lat_mg_start(lat_mg_stream(t->dev), memory_of(a, 2, false), prolong_half<2, To>, blocks,
                     THREADS, a, z, out);
    else
        lat_mg_start(lat_mg_stream(t->dev), memory_of(a, 1, false), prolong_half<1, To>, blocks,
                     THREADS, a, z, out);
    return lat_mg_launched();
}

/* ---- of ops.h -------------------------------------------------------------------------------- */

int lat_mg_gpu_restrict(const lat_transfer *t, int from, const lat_eight *r, lat_eight *z)
{
    return start_restrict(args_of(t, from, t->to->active * LAT_EIGHT), t, eights_of(t, r), z);
}

int lat_mg_gpu_prolong(const lat_transfer *t, int from, const lat_eight *z, lat_eight *e)
{
    return start_prolong(args_of(t, from, t->to->active * LAT_EIGHT), t, z, eights_of(t, e));
}

int lat_mg_gpu_fine_restrict(const lat_mg_fine *f, bool all, int columns, const int *column,
                             const lat_dfield *x, lat_eight *z)
{
    const lat_transfer *t = &f->down;
    const batch in = batch_of(f, columns, column, x);
    if (all)
        return lat_mg_gpu_restrict_all(t, in, z);
    int rc = start_restrict(args_of(t, 1, columns), t, in, z);
    for (int b = 0; b < t->to->active && !rc; b++)
        rc = lat_mg_gpu_gather(t->to, z + (size_t)b * lat_coarse_numbers(t->to));
    return rc;
}

int lat_mg_gpu_fine_prolong(const lat_mg_fine *f, bool all, int columns, const int *column,
                            lat_dfield *x, const lat_eight *z)
{
    const lat_transfer *t = &f->down;
    const batch out = batch_of(f, columns, column, x);
    return all ? lat_mg_gpu_prolong_all(t, z, out)
               : start_prolong(args_of(t, 1, columns), t, z, out);
}

/* ---- memory ---------------------------------------------------------------------------------- */

int lat_mg_gpu_transfer_open(lat_transfer *t)
{
    static const char what[] = "blocks";
    const lat_blocks *b = &t->blocks;
    const size_t count = (size_t)b->count;
    lat_mg_gpu_transfer *const g = (lat_mg_gpu_transfer *)lat_alloc_zero(1, sizeof *g, what);
    if (!(t->there = g))
        return -1;
    for (int p = 0; p < 2; p++)
        if (!(g->start[p] = (int64_t *)lat_mg_upload(t->dev, b->start[p],
                                                     (count + 1) * sizeof(int64_t), what)))
            return -1;
    g->first = t->at ? 0 : b->start[1][0];
    int32_t *const next = lat_blocks_next(b);
    if (next)
        g->next = (int32_t *)lat_mg_upload(t->dev, next, (size_t)b->sites * 4 * sizeof *next, what);
    free(next);
    g->site = (int32_t *)lat_mg_upload(t->dev, b->site, count * sizeof *g->site, what);
    g->p = (__half2 *)lat_mg_gpu_alloc(
        t->dev, (size_t)(b->sites - g->first) * (size_t)t->components * (size_t)t->n, sizeof *g->p,
        "the prolongation");
    if (t->at)
        g->at = (int32_t *)lat_mg_upload(t->dev, t->at, (size_t)b->sites * sizeof *g->at, what);
    return g->next && g->site && g->p && (!t->at || g->at) ? 0 : -1;
}

void lat_mg_gpu_transfer_close(lat_transfer *t)
{
    lat_mg_gpu_transfer *const g = lat_mg_gpu_transfer_of(t);
    if (!g)
        return;
    lat_cuda_free(g->start[0]);
    lat_cuda_free(g->start[1]);
    lat_cuda_free(g->site);
    lat_cuda_free(g->at);
    lat_cuda_free(g->next);
    lat_cuda_free(g->p);
    free(g);
}
