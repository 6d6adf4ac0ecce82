/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_columns.cuh: where transfers on a GPU get their numbers, and where these go: columns of
 * batches, and vectors of coarse levels. */
#pragma once

#include "multigrid/cuda/cuda_multigrid.cuh"
#include "vector/cuda/cuda_host.cuh"

/* Vectors of a coarse level. All threads of a block ask for batch b of sites of the list from
 * `first` on, and keep it in a stage [site][component][8], sites `pitch` numbers apart; or store a
 * stage. */
typedef struct eights {
    lat_eight *v;
    const int32_t *at;
    int components;
    int64_t batch; /* numbers from one to the next */

    __device__ __forceinline__ float *number(int b, int64_t site, int i) const
    {
        return (float *)(v + b * batch + (int64_t)at[site] * components + i / LAT_EIGHT)
               + i % LAT_EIGHT;
    }
    /* A thread's share, of at most 4 blockDim.x numbers. */
    struct held {
        float2 v[4];
    };
    __device__ __forceinline__ void ask(int b, int64_t first, int sites, held &h) const
    {
        const int each = components * LAT_EIGHT;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int i = (int)(threadIdx.x + k * blockDim.x);
            if (i < sites * each) {
                const float *const z = number(b, first + i / each, i % each);
                h.v[k] = make_float2(z[0], z[LAT_EIGHT]);
            }
        }
    }
    __device__ __forceinline__ void keep(int, int sites, int pitch, const held &h, float2 *to) const
    {
        const int each = components * LAT_EIGHT;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int i = (int)(threadIdx.x + k * blockDim.x);
            if (i < sites * each)
                to[i / each * pitch + i % each] = h.v[k];
        }
    }
    __device__ __forceinline__ void store(int b, int64_t first, int sites, int pitch,
                                          const float2 *from) const
    {
        const int each = components * LAT_EIGHT;
        for (int i = (int)threadIdx.x; i < sites * each; i += (int)blockDim.x) {
            float *const z = number(b, first + i / each, i % each);
            const float2 w = from[i / each * pitch + i % each];
            z[0] = w.x;
            z[LAT_EIGHT] = w.y;
        }
    }
} eights;

/* Columns of vectors of the finest level in single precision, eight a batch. */
typedef struct batch {
    char *column[LAT_VECTOR_COLUMNS];
    int columns;
    size_t parity;
    const int32_t *place;
    int64_t odd; /* the first odd site of the list */

    __device__ __forceinline__ char *group(int64_t i, int k) const
    {
        return column[k] + (i >= odd ? parity : 0)
               + (size_t)(place[i] / 32) * lat_form<LAT_STORAGE_SINGLE>::GROUP;
    }
    /* A site's numbers of column k in the basis of batches; and in that of hosts, [12], so far
     * apart.
     */
    __device__ __forceinline__ void inside(int64_t i, int k, float w[24]) const
    {
        get_spinor<LAT_STORAGE_SINGLE>(w, group(i, k), (uint32_t)place[i] % 32, false);
    }
    __device__ __forceinline__ void outside(const float w[24], float2 *to, int apart) const
    {
        float v[24];
        to_outside(v, w);
#pragma unroll
        for (int c = 0; c < 12; c++)
            to[c * apart] = make_float2(v[2 * c], v[2 * c + 1]);
    }
    __device__ __forceinline__ void get(int64_t i, int k, float2 *to, int apart) const
    {
        float w[24];
        inside(i, k, w);
        outside(w, to, apart);
    }
    __device__ __forceinline__ void put(int64_t i, int k, const float v[24]) const
    {
        float w[24];
        to_inside(w, v);
        put_spinor<LAT_STORAGE_SINGLE, false>(group(i, k), (uint32_t)place[i] % 32, w, false, 0);
    }
    /* Columns of batch b that there are. */
    __device__ __forceinline__ int some(int b) const
    {
        const int left = columns - b * LAT_EIGHT;
        return left < LAT_EIGHT ? left : LAT_EIGHT;
    }
    /* A thread has a site, of at most blockDim.x / 8, and a column; side by side are sites. Columns
     * that there are not are left alone. */
    struct held {
        float v[24];
    };
    __device__ __forceinline__ void ask(int b, int64_t first, int sites, held &h) const
    {
        const int i = (int)threadIdx.x;
        if (i < sites * some(b))
            inside(first + i % sites, b * LAT_EIGHT + i / sites, h.v);
    }
    __device__ __forceinline__ void keep(int b, int sites, int pitch, const held &h,
                                         float2 *to) const
    {
        const int i = (int)threadIdx.x;
        if (i < sites * some(b))
            outside(h.v, to + i % sites * pitch + i / sites, LAT_EIGHT);
    }
    __device__ __forceinline__ void store(int b, int64_t first, int sites, int pitch,
                                          const float2 *from) const
    {
        for (int i = (int)threadIdx.x; i < sites * some(b); i += (int)blockDim.x) {
            const float2 *const at = from + i % sites * pitch + i / sites;
            float v[24];
#pragma unroll
            for (int c = 0; c < 12; c++) {
                v[2 * c] = at[c * LAT_EIGHT].x;
                v[2 * c + 1] = at[c * LAT_EIGHT].y;
            }
            put(first + i % sites, b * LAT_EIGHT + i / sites, v);
        }
    }
} batch;

static inline batch batch_of(const lat_mg_fine *f, int columns, const int *column,
                             const lat_dfield *x)
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

static inline eights eights_of(const lat_transfer *t, const lat_eight *v)
{
    eights e = {(lat_eight *)v, lat_mg_gpu_transfer_of(t)->at, t->components,
                t->blocks.sites * t->components};
    return e;
}

/* Restriction and prolongation of all sites of the finest level and at most eight columns, by P in
 * single. */
int lat_mg_gpu_restrict_all(const lat_transfer *t, const batch &in, lat_eight *z);
int lat_mg_gpu_prolong_all(const lat_transfer *t, const lat_eight *z, const batch &out);
