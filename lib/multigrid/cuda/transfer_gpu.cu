/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer_gpu.cu: restriction and prolongation, from batches and from vectors of coarse levels.
 * P is in half for odd sites, which cycles take, and in single for all. */
#include "multigrid/cuda/cuda_columns.cuh"

#include <stdlib.h>

enum { THREADS = 256 };

DEVICE float2 number(float2 p) { return p; }
DEVICE float2 number(__half2 p) { return __half22float2(p); }

/* A transfer's sites, those of parities from .. 1, and P of the sites from `first` of the list on.
 * A block of threads is a block of sites, `some` of them at a time. */
template <class P> struct transfer_args {
    const int64_t *start[2];
    const int32_t *site;
    int from, components, n, some, columns;
    const P *p;
    int64_t first;
    int batches;       /* blockIdx.y */
    int64_t of_coarse; /* numbers from one to the next, of z */
};

/* Bytes of a block's stages: P and numbers of some sites. */
template <class P> static size_t bytes_of(const transfer_args<P> *a, int sites)
{
    return (size_t)(sites * a->components)
           * ((size_t)a->n * sizeof(P) + LAT_EIGHT * sizeof(float2));
}

template <class P>
static transfer_args<P> args_of(const lat_transfer *t, int from, const P *p, int64_t first,
                                int columns)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    transfer_args<P> a = {{g->start[0], g->start[1]},
                          g->site,
                          from,
                          t->components,
                          t->n,
                          16,
                          columns,
                          p,
                          first,
                          1,
                          0};
    while (a.some > 1 && bytes_of(&a, a.some) > 36864)
        a.some /= 2;
    return a;
}

static transfer_args<__half2> half_of(const lat_transfer *t, int from, int columns)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    return args_of<__half2>(t, from, g->p, g->first, columns);
}

static transfer_args<float2> single_of(const lat_transfer *t, int columns)
{
    return args_of<float2>(t, 0, (const float2 *)t->p, 0, columns);
}

/* P of some sites, which lie side by side, 16 bytes at a time. */
template <class P> DEVICE void load_p(const transfer_args<P> &a, int64_t at, int sites, P *to)
{
    const int count = (int)((size_t)(sites * a.components * a.n) * sizeof(P) / 16);
    const uint4 *const from = (const uint4 *)(a.p + (at - a.first) * a.components * a.n);
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        ((uint4 *)to)[i] = __ldg(from + i);
}

/* ---- restriction ----------------------------------------------------------------------------- */

/* sum[2][4] += conj(P) r: two vectors of a chirality, four columns, at every `lanes`th site. */
template <class P>
DEVICE void add_sites(const transfer_args<P> &a, int sites, int mine, int lane, int lanes,
                      const P *p, const float2 *r, float2 sum[2][4])
{
    const int chirality = mine / a.n, pair = mine % a.n / 2, side = mine % 2,
              half = a.components / 2;
    for (int s = lane; s < sites; s += lanes)
        for (int c = 0; c < half; c++) {
            const int row = s * a.components + chirality * half + c;
            const float2 *const from = r + row * LAT_EIGHT + 4 * side;
#pragma unroll
            for (int v = 0; v < 2; v++) {
                const float2 w = number(p[row * a.n + 2 * pair + v]);
#pragma unroll
                for (int k = 0; k < 4; k++)
                    sum[v][k] = mg_add_conjugate(sum[v][k], w, from[k]);
            }
        }
}

/* The sums of lanes, one after the other, to z of the block. part: [lane][mine][8]. */
template <class P>
DEVICE void add_lanes(const transfer_args<P> &a, int lanes, const float2 *part, lat_eight *z)
{
    const int all = 2 * a.n;
    for (int i = (int)threadIdx.x; i < all * 8; i += (int)blockDim.x) {
        float2 total = make_float2(0, 0);
        for (int l = 0; l < lanes; l++) {
            total.x += part[l * all * 8 + i].x;
            total.y += part[l * all * 8 + i].y;
        }
        const int of = i / 8, row = of / a.n * a.n + of % a.n / 2 * 2 + i % 8 / 4,
                  k = of % 2 * 4 + i % 4;
        z[row].re[k] = total.x;
        z[row].im[k] = total.y;
    }
}

template <class P, class From>
static __global__ void __launch_bounds__(THREADS)
    restrict_block(const __grid_constant__ transfer_args<P> a, const __grid_constant__ From in,
                   lat_eight *z)
{
    extern __shared__ uint4 stage[];
    const int block = (int)blockIdx.x, all = 2 * a.n, lanes = (int)blockDim.x / all,
              mine = (int)threadIdx.x % all, lane = (int)threadIdx.x / all;
    P *const p = (P *)stage;
    float2 *const r = (float2 *)(p + a.some * a.components * a.n);
    float2 sum[2][4] = {};
    for (int list = a.from; list < 2; list++)
        for (int64_t at = a.start[list][block]; at < a.start[list][block + 1]; at += a.some) {
            const int64_t left = a.start[list][block + 1] - at;
            const int sites = left < a.some ? (int)left : a.some;
            load_p(a, at, sites, p);
            in.load(at, sites, r);
            __syncthreads();
            add_sites(a, sites, mine, lane, lanes, p, r, sum);
            __syncthreads();
        }
    float2 *const part = (float2 *)stage;
    for (int i = 0; i < 8; i++)
        part[(lane * all + mine) * 8 + i] = sum[i / 4][i % 4];
    __syncthreads();
    add_lanes(a, lanes, part, z + blockIdx.y * a.of_coarse + (int64_t)a.site[block] * all);
}

template <class P, class From>
static int start_restrict(const lat_transfer *t, const transfer_args<P> &a, const From &in,
                          lat_eight *z)
{
    const int all = 2 * t->n;
    int lanes = 1;
    while (2 * lanes * all <= THREADS)
        lanes *= 2;
    const size_t bytes = bytes_of(&a, a.some), part = (size_t)(lanes * all) * 8 * sizeof(float2);
    lat_mg_start(lat_mg_stream(t->dev), bytes > part ? bytes : part, restrict_block<P, From>,
                 dim3((unsigned)t->blocks.count, (unsigned)a.batches), (unsigned)(lanes * all), a,
                 in, z);
    return lat_mg_launched();
}

/* ---- prolongation ---------------------------------------------------------------------------- */

/* Two components of P z at a site, of column k. z: [2 n][8]; to: [component][8]. */
template <class P>
DEVICE void two_components(const transfer_args<P> &a, int pair, int k, const P *p, const float2 *z,
                           float2 *to)
{
    const int c = 2 * pair, n = a.n;
    const P *const w = p + c * n;
    const float2 *const x = z + (2 * c >= a.components ? n * LAT_EIGHT : 0) + k;
    float2 sum[2] = {};
#pragma unroll 8
    for (int j = 0; j < n; j++) {
        const float2 y = x[j * LAT_EIGHT];
        sum[0] = mg_add_times(sum[0], number(w[j]), y);
        sum[1] = mg_add_times(sum[1], number(w[n + j]), y);
    }
    to[c * LAT_EIGHT + k] = sum[0];
    to[(c + 1) * LAT_EIGHT + k] = sum[1];
}

template <class P, class To>
static __global__ void __launch_bounds__(THREADS)
    prolong_block(const __grid_constant__ transfer_args<P> a, const lat_eight *z,
                  const __grid_constant__ To out)
{
    extern __shared__ uint4 stage[];
    const int block = (int)blockIdx.x, pairs = a.components / 2;
    float2 *const from = (float2 *)stage;
    P *const p = (P *)(from + 2 * a.n * LAT_EIGHT);
    float2 *const e = (float2 *)(p + a.some * a.components * a.n);
    const lat_eight *const own = z + blockIdx.y * a.of_coarse + (int64_t)a.site[block] * 2 * a.n;
    for (int i = (int)threadIdx.x; i < 2 * a.n * LAT_EIGHT; i += THREADS)
        from[i] = make_float2(own[i / LAT_EIGHT].re[i % LAT_EIGHT],
                              own[i / LAT_EIGHT].im[i % LAT_EIGHT]);
    for (int list = a.from; list < 2; list++)
        for (int64_t at = a.start[list][block]; at < a.start[list][block + 1]; at += a.some) {
            const int64_t left = a.start[list][block + 1] - at;
            const int sites = left < a.some ? (int)left : a.some;
            load_p(a, at, sites, p);
            __syncthreads();
            for (int i = (int)threadIdx.x; i < sites * pairs * a.columns; i += THREADS) {
                const int site = i / a.columns / pairs;
                two_components(a, i / a.columns % pairs, i % a.columns,
                               p + site * a.components * a.n, from,
                               e + site * a.components * LAT_EIGHT);
            }
            __syncthreads();
            out.store(at, sites, e);
        }
}

template <class P, class To>
static int start_prolong(const lat_transfer *t, const transfer_args<P> &a, const lat_eight *z,
                         const To &out)
{
    const size_t bytes = bytes_of(&a, a.some) + (size_t)(2 * t->n * LAT_EIGHT) * sizeof(float2);
    lat_mg_start(lat_mg_stream(t->dev), bytes, prolong_block<P, To>,
                 dim3((unsigned)t->blocks.count, (unsigned)a.batches), THREADS, a, z, out);
    return lat_mg_launched();
}

/* ---- of ops.h -------------------------------------------------------------------------------- */

/* Between two coarse levels: their active batches. */
static transfer_args<__half2> between(const lat_transfer *t, int from)
{
    transfer_args<__half2> a = half_of(t, from, LAT_EIGHT);
    a.batches = t->to->active;
    a.of_coarse = (int64_t)lat_coarse_numbers(t->to);
    return a;
}

int lat_mg_gpu_restrict(const lat_transfer *t, int from, const lat_eight *r, lat_eight *z)
{
    return start_restrict(t, between(t, from), eights_of(t, r), z);
}

int lat_mg_gpu_prolong(const lat_transfer *t, int from, const lat_eight *z, lat_eight *e)
{
    return start_prolong(t, between(t, from), z, eights_of(t, e));
}

int lat_mg_gpu_fine_restrict(const lat_mg_fine *f, bool all, int columns, const int *column,
                             const lat_dfield *x, lat_eight *z)
{
    const lat_transfer *t = &f->down;
    const batch in = batch_of(f, columns, column, x);
    return all ? start_restrict(t, single_of(t, columns), in, z)
               : start_restrict(t, half_of(t, 1, columns), in, z);
}

int lat_mg_gpu_fine_prolong(const lat_mg_fine *f, bool all, int columns, const int *column,
                            lat_dfield *x, const lat_eight *z)
{
    const lat_transfer *t = &f->down;
    const batch out = batch_of(f, columns, column, x);
    return all ? start_prolong(t, single_of(t, columns), z, out)
               : start_prolong(t, half_of(t, 1, columns), z, out);
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
    cudaFree(g->start[0]);
    cudaFree(g->start[1]);
    cudaFree(g->site);
    cudaFree(g->at);
    cudaFree(g->next);
    cudaFree(g->p);
    free(g);
}
