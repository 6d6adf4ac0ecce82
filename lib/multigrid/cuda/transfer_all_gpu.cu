/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer_all_gpu.cu: restriction and prolongation of all sites of the finest level, by P in
 * single: of setups and certificates. */
#include "multigrid/cuda/cuda_columns.cuh"

enum { THREADS = 256, COMPONENTS = 12, SOME = 8, PITCH = COMPONENTS * LAT_EIGHT };

/* A block of threads is a block of sites, SOME of them at a time. */
typedef struct transfer_args {
    const int64_t *start[2];
    const int32_t *site;
    int n;
    const float2 *p; /* [site of the list][component][n] */
} transfer_args;

static transfer_args args_of(const lat_transfer *t)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    const transfer_args a = {{g->start[0], g->start[1]}, g->site, t->n, (const float2 *)t->p};
    return a;
}

DEVICE int some_sites(int64_t at, int64_t end) { return end - at < SOME ? (int)(end - at) : SOME; }

/* A thread has a vector of both chiralities, and a column. */
static __global__ void restrict_all(const __grid_constant__ transfer_args a,
                                    const __grid_constant__ batch in, lat_eight *z)
{
    __shared__ float2 stage[SOME * PITCH];
    const int block = (int)blockIdx.x, k = (int)threadIdx.x % LAT_EIGHT,
              vector = (int)threadIdx.x / LAT_EIGHT;
    float2 sum[2] = {};
    for (int i = (int)threadIdx.x; i < SOME * PITCH; i += (int)blockDim.x)
        stage[i] = make_float2(0, 0);
    for (int list = 0; list < 2; list++)
        for (int64_t at = a.start[list][block]; at < a.start[list][block + 1]; at += SOME) {
            const int sites = some_sites(at, a.start[list][block + 1]);
            __syncthreads();
            for (int i = (int)threadIdx.x; i < sites * in.columns; i += (int)blockDim.x)
                in.get(list, in.place[at + i % sites], i / sites,
                       stage + i % sites * PITCH + i / sites, LAT_EIGHT);
            __syncthreads();
            for (int s = 0; s < sites; s++) {
                const float2 *const p = a.p + (at + s) * COMPONENTS * a.n + vector;
#pragma unroll
                for (int c = 0; c < COMPONENTS; c++)
                    sum[2 * c / COMPONENTS] = mg_add_conjugate(
                        sum[2 * c / COMPONENTS], p[c * a.n], stage[s * PITCH + c * LAT_EIGHT + k]);
            }
        }
    for (int chirality = 0; chirality < 2; chirality++) {
        lat_eight *const to = z + ((int64_t)a.site[block] * 2 + chirality) * a.n + vector;
        to->re[k] = sum[chirality].x;
        to->im[k] = sum[chirality].y;
    }
}

/* A thread has a component of a site, and a column. */
static __global__ void __launch_bounds__(THREADS)
    prolong_all(const __grid_constant__ transfer_args a, const lat_eight *z,
                const __grid_constant__ batch out)
{
    __shared__ float2 stage[SOME * PITCH];
    const int block = (int)blockIdx.x;
    const lat_eight *const own = z + (int64_t)a.site[block] * 2 * a.n;
    for (int list = 0; list < 2; list++)
        for (int64_t at = a.start[list][block]; at < a.start[list][block + 1]; at += SOME) {
            const int sites = some_sites(at, a.start[list][block + 1]);
            for (int i = (int)threadIdx.x; i < sites * PITCH; i += THREADS) {
                const int row = i % PITCH / LAT_EIGHT, k = i % LAT_EIGHT;
                const float2 *const p = a.p + ((at + i / PITCH) * COMPONENTS + row) * a.n;
                const lat_eight *const x = own + (2 * row >= COMPONENTS ? a.n : 0);
                float2 sum = make_float2(0, 0);
                for (int j = 0; j < a.n; j++)
                    sum = mg_add_times(sum, p[j], make_float2(x[j].re[k], x[j].im[k]));
                stage[i] = sum;
            }
            __syncthreads();
            out.store(0, list, out.place + at, sites, PITCH, stage);
            __syncthreads();
        }
}

int lat_mg_gpu_restrict_all(const lat_transfer *t, const batch &in, lat_eight *z)
{
    lat_mg_start(lat_mg_stream(t->dev), 0, restrict_all, (unsigned)t->blocks.count,
                 (unsigned)(t->n * LAT_EIGHT), args_of(t), in, z);
    return lat_mg_launched();
}

int lat_mg_gpu_prolong_all(const lat_transfer *t, const lat_eight *z, const batch &out)
{
    lat_mg_start(lat_mg_stream(t->dev), 0, prolong_all, (unsigned)t->blocks.count, THREADS,
                 args_of(t), z, out);
    return lat_mg_launched();
}
