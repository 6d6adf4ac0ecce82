/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer_gpu.cu: restriction and prolongation, from batches and from vectors of coarse levels.
 * P is in half for odd sites, which cycles take, and in single for all. */
#include "multigrid/cuda/cuda_multigrid.cuh"
#include "vector/cuda/cuda_host.cuh"

#include <stdlib.h>

enum { SOME = 16, THREADS = 256 }; /* sites at a time */

/* ---- where numbers come from and go to ------------------------------------------------------- */

/* Vectors of a coarse level. */
typedef struct eights {
    lat_eight *v;
    const int32_t *at;
    int components;

    __device__ __forceinline__ void load(int64_t i, int k, float2 *to, int stride) const
    {
        const lat_eight *const from = v + (int64_t)at[i] * components;
        for (int c = 0; c < components; c++)
            to[c * stride] = make_float2(from[c].re[k], from[c].im[k]);
    }
} eights;

/* Columns of a batch in single precision. */
typedef struct batch {
    char *column[LAT_EIGHT];
    int columns;
    size_t parity;
    const int32_t *place;
    int64_t odd; /* the first odd site of the list */

    __device__ __forceinline__ char *group(int64_t i, int k) const
    {
        return column[k] + (i >= odd ? parity : 0)
               + (size_t)(place[i] / 32) * lat_form<LAT_STORAGE_SINGLE>::GROUP;
    }
    __device__ __forceinline__ void load(int64_t i, int k, float2 *to, int stride) const
    {
        float w[24], v[24] = {};
        if (k < columns) {
            get_spinor<LAT_STORAGE_SINGLE>(w, group(i, k), (uint32_t)place[i] % 32, false);
            to_outside(v, w);
        }
#pragma unroll
        for (int c = 0; c < 12; c++)
            to[c * stride] = make_float2(v[2 * c], v[2 * c + 1]);
    }
    __device__ __forceinline__ void store(int64_t i, int k, const float v[24]) const
    {
        float w[24];
        to_inside(w, v);
        put_spinor<LAT_STORAGE_SINGLE, false>(group(i, k), (uint32_t)place[i] % 32, w, false, 0);
    }
} batch;

static batch batch_of(const lat_mg_fine *f, int columns, const int *column, const lat_dfield *x)
{
    const lat_gpu_space *s = lat_gpu_space_of(f->space);
    batch b = {};
    for (int k = 0; k < columns; k++)
        b.column[k] = (char *)x->data + (size_t)column[k] * s->column;
    b.columns = columns;
    b.parity = s->parity;
    b.place = lat_mg_gpu_fine_of(f)->place;
    b.odd = f->down.blocks.start[1][0];
    return b;
}

DEVICE float2 number(const float2 *p) { return *p; }
DEVICE float2 number(const __half2 *p) { return __half22float2(*p); }

/* A transfer's sites and P of the sites from `first` of the list on. */
template <class P> struct transfer_args {
    const int64_t *start[2];
    const int32_t *site;
    int from, components, n;
    const P *p;
    int64_t first;
};

template <class P> static transfer_args<P> args_of(const lat_transfer *t, int from)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    transfer_args<P> a = {{g->start[0], g->start[1]}, g->site, from, t->components, t->n, NULL, 0};
    return a;
}

static transfer_args<__half2> half_of(const lat_transfer *t, int from)
{
    transfer_args<__half2> a = args_of<__half2>(t, from);
    a.p = lat_mg_gpu_transfer_of(t)->p;
    a.first = lat_mg_gpu_transfer_of(t)->first;
    return a;
}

static transfer_args<float2> single_of(const lat_transfer *t)
{
    transfer_args<float2> a = args_of<float2>(t, 0);
    a.p = (const float2 *)t->p;
    return a;
}

/* ---- restriction ----------------------------------------------------------------------------- */

/* Sites of a block, of both lists, one after the other. */
template <class P> DEVICE int64_t site_of(const transfer_args<P> &a, int block, int64_t i)
{
    const int64_t evens = a.from == 0 ? a.start[0][block + 1] - a.start[0][block] : 0;
    return i < evens ? a.start[0][block] + i : a.start[1][block] + i - evens;
}

template <class P> DEVICE int64_t sites_of(const transfer_args<P> &a, int block)
{
    int64_t sites = 0;
    for (int p = a.from; p < 2; p++)
        sites += a.start[p][block + 1] - a.start[p][block];
    return sites;
}

/* sum[2][4] += conj(P) r: two vectors of a chirality, four columns, at some sites of the stage
 * r[site][component][8]. */
template <class P>
DEVICE void add_sites(const transfer_args<P> &a, int block, int64_t at, int sites, int mine,
                      int lane, int lanes, const float2 *r, float2 sum[2][4])
{
    const int chirality = mine / a.n, pair = mine % a.n / 2, side = mine % 2,
              half = a.components / 2;
    for (int s = lane; s < sites; s += lanes) {
        const P *p = a.p
                     + ((site_of(a, block, at + s) - a.first) * a.components + chirality * half)
                           * a.n
                     + 2 * pair;
        const float2 *from = r + (s * a.components + chirality * half) * LAT_EIGHT + 4 * side;
        for (int c = 0; c < half; c++, p += a.n, from += LAT_EIGHT)
#pragma unroll
            for (int v = 0; v < 2; v++) {
                const float2 w = number(p + v);
#pragma unroll
                for (int k = 0; k < 4; k++)
                    sum[v][k] = mg_add_conjugate(sum[v][k], w, from[k]);
            }
    }
}

/* A block of threads is a block of sites. Dynamic shared memory: the stage. */
template <class P, class From> static __global__ void __launch_bounds__(THREADS)
    restrict_block(const __grid_constant__ transfer_args<P> a, const __grid_constant__ From in,
                   int some, lat_eight *z)
{
    extern __shared__ float2 stage[];
    const int block = (int)blockIdx.x, all = 2 * a.n, lanes = (int)blockDim.x / all,
              mine = (int)threadIdx.x % all, lane = (int)threadIdx.x / all;
    const int64_t sites = sites_of(a, block);
    float2 sum[2][4] = {};
    for (int64_t at = 0; at < sites; at += some) {
        const int count = sites - at < some ? (int)(sites - at) : some;
        for (int i = (int)threadIdx.x; i < count * LAT_EIGHT; i += (int)blockDim.x)
            in.load(site_of(a, block, at + i / LAT_EIGHT), i % LAT_EIGHT,
                    stage + i / LAT_EIGHT * a.components * LAT_EIGHT + i % LAT_EIGHT, LAT_EIGHT);
        __syncthreads();
        if (lane < lanes)
            add_sites(a, block, at, count, mine, lane, lanes, stage, sum);
        __syncthreads();
    }
    float2 *const part = stage; /* [lane][thread][8] */
    for (int i = 0; i < 8 && lane < lanes; i++)
        part[(lane * all + mine) * 8 + i] = sum[i / 4][i % 4];
    __syncthreads();
    for (int i = (int)threadIdx.x; i < all * 8; i += (int)blockDim.x) {
        float2 total = make_float2(0, 0);
        for (int l = 0; l < lanes; l++) {
            total.x += part[l * all * 8 + i].x;
            total.y += part[l * all * 8 + i].y;
        }
        const int of = i / 8, row = of / a.n * a.n + of % a.n / 2 * 2 + i % 8 / 4,
                  k = of % 2 * 4 + i % 4;
        z[(int64_t)a.site[block] * all + row].re[k] = total.x;
        z[(int64_t)a.site[block] * all + row].im[k] = total.y;
    }
}

template <class P, class From>
static int start_restrict(const lat_transfer *t, const transfer_args<P> &a, const From &in,
                          lat_eight *z)
{
    const int all = 2 * t->n;
    int lanes = 1;
    while (2 * lanes * all <= THREADS)
        lanes *= 2;
    const int some = t->components <= 12 ? SOME : 4;
    const size_t stage = (size_t)some * (size_t)t->components * LAT_EIGHT * sizeof(float2),
                 part = (size_t)(lanes * all) * 8 * sizeof(float2);
    restrict_block<P, From><<<(unsigned)t->blocks.count, (unsigned)(lanes * all),
                              stage > part ? stage : part, lat_mg_stream(t->dev)>>>(a, in, some, z);
    return lat_mg_launched();
}

/* ---- prolongation ---------------------------------------------------------------------------- */

/* Components c .. c + G - 1 of P z at a site. */
template <int G, class P>
DEVICE void some_components(const transfer_args<P> &a, const P *p, const float2 *z, float2 sum[G])
{
#pragma unroll
    for (int g = 0; g < G; g++)
        sum[g] = make_float2(0, 0);
#pragma unroll 4
    for (int j = 0; j < a.n; j++) {
        const float2 x = z[j * LAT_EIGHT];
#pragma unroll
        for (int g = 0; g < G; g++)
            sum[g] = mg_add_times(sum[g], number(p + g * a.n + j), x);
    }
}

/* z of a block in shared memory: [2 n][8]. */
template <class P>
DEVICE void load_block(const transfer_args<P> &a, int block, const lat_eight *z, float2 *to)
{
    const lat_eight *const from = z + (int64_t)a.site[block] * 2 * a.n;
    for (int i = (int)threadIdx.x; i < 2 * a.n * LAT_EIGHT; i += (int)blockDim.x)
        to[i] = make_float2(from[i / LAT_EIGHT].re[i % LAT_EIGHT],
                            from[i / LAT_EIGHT].im[i % LAT_EIGHT]);
    __syncthreads();
}

/* A thread is a site and a column. */
template <class P> static __global__ void __launch_bounds__(THREADS)
    prolong_batch(const __grid_constant__ transfer_args<P> a, const lat_eight *z,
                  const __grid_constant__ batch out)
{
    __shared__ float2 from[2 * LAT_MULTIGRID_MOST_VECTORS * LAT_EIGHT];
    const int block = (int)blockIdx.x;
    const int64_t sites = sites_of(a, block);
    load_block(a, block, z, from);
    for (int64_t i = threadIdx.x; i < sites * out.columns; i += THREADS) {
        const int64_t site = site_of(a, block, i / out.columns);
        const int k = (int)(i % out.columns);
        const P *const p = a.p + (site - a.first) * 12 * a.n;
        float v[24];
#pragma unroll
        for (int c = 0; c < 2; c++)
            some_components<6>(a, p + 6 * c * a.n, from + c * a.n * LAT_EIGHT + k,
                               (float2 *)v + 6 * c);
        out.store(site, k, v);
    }
}

static __global__ void __launch_bounds__(THREADS)
    prolong_eights(const __grid_constant__ transfer_args<__half2> a, const lat_eight *z,
                   const __grid_constant__ eights out)
{
    enum { G = 4 };
    __shared__ float2 from[2 * LAT_MULTIGRID_MOST_VECTORS * LAT_EIGHT];
    const int block = (int)blockIdx.x, groups = a.components / G;
    const int64_t sites = sites_of(a, block);
    load_block(a, block, z, from);
    for (int64_t i = threadIdx.x; i < sites * groups * LAT_EIGHT; i += THREADS) {
        const int k = (int)(i % LAT_EIGHT), g = (int)(i / LAT_EIGHT % groups),
                  chirality = 2 * G * g >= a.components;
        const int64_t site = site_of(a, block, i / LAT_EIGHT / groups);
        float2 sum[G];
        some_components<G>(a, a.p + ((site - a.first) * a.components + G * g) * a.n,
                           from + chirality * a.n * LAT_EIGHT + k, sum);
        lat_eight *const to = out.v + (int64_t)out.at[site] * a.components + G * g;
        for (int c = 0; c < G; c++) {
            to[c].re[k] = sum[c].x;
            to[c].im[k] = sum[c].y;
        }
    }
}

/* ---- of ops.h -------------------------------------------------------------------------------- */

static eights eights_of(const lat_transfer *t, const lat_eight *v)
{
    eights e = {(lat_eight *)v, lat_mg_gpu_transfer_of(t)->at, t->components};
    return e;
}

int lat_mg_gpu_restrict(const lat_transfer *t, int from, const lat_eight *r, lat_eight *z)
{
    return start_restrict(t, half_of(t, from), eights_of(t, r), z);
}

int lat_mg_gpu_prolong(const lat_transfer *t, int from, const lat_eight *z, lat_eight *e)
{
    prolong_eights<<<(unsigned)t->blocks.count, THREADS, 0, lat_mg_stream(t->dev)>>>(
        half_of(t, from), z, eights_of(t, e));
    return lat_mg_launched();
}

int lat_mg_gpu_fine_restrict(const lat_mg_fine *f, bool all, int columns, const int *column,
                             const lat_dfield *x, lat_eight *z)
{
    const lat_transfer *t = &f->down;
    const batch in = batch_of(f, columns, column, x);
    return all ? start_restrict(t, single_of(t), in, z) : start_restrict(t, half_of(t, 1), in, z);
}

int lat_mg_gpu_fine_prolong(const lat_mg_fine *f, bool all, int columns, const int *column,
                            lat_dfield *x, const lat_eight *z)
{
    const lat_transfer *t = &f->down;
    const batch out = batch_of(f, columns, column, x);
    const unsigned blocks = (unsigned)t->blocks.count;
    const cudaStream_t stream = lat_mg_stream(t->dev);
    if (all)
        prolong_batch<<<blocks, THREADS, 0, stream>>>(single_of(t), z, out);
    else
        prolong_batch<<<blocks, THREADS, 0, stream>>>(half_of(t, 1), z, out);
    return lat_mg_launched();
}

/* ---- test vectors ---------------------------------------------------------------------------- */

typedef struct vector_args {
    float2 *v; /* [site of the list][component][n] */
    int components, n, first, chirality; /* -1: both */
    int64_t sites;
} vector_args;

static vector_args vectors_of(const lat_transfer *t, float *v, int first)
{
    const vector_args a = {(float2 *)v, t->components, t->n, first, -1, t->blocks.sites};
    return a;
}

static unsigned blocks_of(const vector_args *a)
{
    return lat_cuda_blocks((uint64_t)a->sites * LAT_EIGHT, THREADS);
}

template <class From> static __global__ void take_columns(const __grid_constant__ vector_args a,
                                                          const __grid_constant__ From in)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, site = i / LAT_EIGHT;
    if (site < a.sites)
        in.load(site, (int)(i % LAT_EIGHT),
                a.v + site * a.components * a.n + a.first + i % LAT_EIGHT, a.n);
}

static __global__ void give_batch(const __grid_constant__ vector_args a,
                                  const __grid_constant__ batch out)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, site = i / LAT_EIGHT;
    const int k = (int)(i % LAT_EIGHT);
    float v[24];
    if (site >= a.sites)
        return;
#pragma unroll
    for (int c = 0; c < 12; c++) {
        const float2 z = a.chirality < 0 || c / 6 == a.chirality
                             ? a.v[(site * 12 + c) * a.n + a.first + k]
                             : make_float2(0, 0);
        v[2 * c] = z.x;
        v[2 * c + 1] = z.y;
    }
    out.store(site, k, v);
}

static __global__ void give_eights(const __grid_constant__ vector_args a,
                                   const __grid_constant__ eights out)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, site = i / LAT_EIGHT;
    const int k = (int)(i % LAT_EIGHT);
    if (site >= a.sites)
        return;
    for (int c = 0; c < a.components; c++) {
        const float2 z = a.v[(site * a.components + c) * a.n + a.first + k];
        out.v[(int64_t)out.at[site] * a.components + c].re[k] = z.x;
        out.v[(int64_t)out.at[site] * a.components + c].im[k] = z.y;
    }
}

int lat_mg_gpu_take(const lat_level *l, int first, const lat_eight *x)
{
    const vector_args a = vectors_of(&l->down, l->down.v, first);
    take_columns<<<blocks_of(&a), THREADS, 0, lat_mg_stream(l->down.dev)>>>(a,
                                                                            eights_of(&l->down, x));
    return lat_mg_launched();
}

int lat_mg_gpu_give(const lat_level *l, int first, lat_eight *x)
{
    const vector_args a = vectors_of(&l->down, l->down.v, first);
    give_eights<<<blocks_of(&a), THREADS, 0, lat_mg_stream(l->down.dev)>>>(a,
                                                                           eights_of(&l->down, x));
    return lat_mg_launched();
}

int lat_mg_gpu_fine_take(const lat_mg_fine *f, int first, const lat_dfield *x)
{
    const vector_args a = vectors_of(&f->down, f->down.v, first);
    take_columns<<<blocks_of(&a), THREADS, 0, lat_mg_stream(f->down.dev)>>>(
        a, batch_of(f, LAT_EIGHT, lat_column_numbers, x));
    return lat_mg_launched();
}

static int give(const lat_mg_fine *f, vector_args a, int chirality, lat_dfield *x)
{
    a.chirality = chirality;
    give_batch<<<blocks_of(&a), THREADS, 0, lat_mg_stream(f->down.dev)>>>(
        a, batch_of(f, LAT_EIGHT, lat_column_numbers, x));
    return lat_mg_launched();
}

int lat_mg_gpu_fine_give(const lat_mg_fine *f, int first, lat_dfield *x)
{
    return give(f, vectors_of(&f->down, f->down.v, first), -1, x);
}

int lat_mg_gpu_columns(const lat_mg_fine *f, int first, int chirality, lat_dfield *x)
{
    return give(f, vectors_of(&f->down, f->down.p, first), chirality, x);
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
