/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_columns.cuh: where transfers on a GPU get their numbers, and where these go: columns of
 * batches, and vectors of coarse levels. */
#pragma once

#include "multigrid/cuda/cuda_multigrid.cuh"
#include "vector/cuda/cuda_host.cuh"

/* Vectors of a coarse level. Sites of the list from `first` on to a stage [site][component][8], by
 * all threads of a block, and back. */
typedef struct eights {
    lat_eight *v;
    const int32_t *at;
    int components;
    int64_t batch; /* numbers from one, blockIdx.y, to the next */

    __device__ __forceinline__ float *number(int64_t first, int i) const
    {
        lat_eight *const z = v + blockIdx.y * batch
                             + (int64_t)at[first + i / LAT_EIGHT / components] * components
                             + i / LAT_EIGHT % components;
        return (float *)z + i % LAT_EIGHT;
    }
    __device__ __forceinline__ void load(int64_t first, int sites, float2 *to) const
    {
        for (int i = (int)threadIdx.x; i < sites * components * LAT_EIGHT; i += (int)blockDim.x) {
            const float *const z = number(first, i);
            to[i] = make_float2(z[0], z[LAT_EIGHT]);
        }
    }
    __device__ __forceinline__ void store(int64_t first, int sites, const float2 *from) const
    {
        for (int i = (int)threadIdx.x; i < sites * components * LAT_EIGHT; i += (int)blockDim.x) {
            float *const z = number(first, i);
            z[0] = from[i].x;
            z[LAT_EIGHT] = from[i].y;
        }
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
    /* A site's numbers of column k: [12], so far apart; 0 of columns that there are not. */
    __device__ __forceinline__ void get(int64_t i, int k, float2 *to, int apart) const
    {
        float w[24], v[24] = {};
        if (k < columns) {
            get_spinor<LAT_STORAGE_SINGLE>(w, group(i, k), (uint32_t)place[i] % 32, false);
            to_outside(v, w);
        }
#pragma unroll
        for (int c = 0; c < 12; c++)
            to[c * apart] = make_float2(v[2 * c], v[2 * c + 1]);
    }
    __device__ __forceinline__ void put(int64_t i, int k, const float v[24]) const
    {
        float w[24];
        to_inside(w, v);
        put_spinor<LAT_STORAGE_SINGLE, false>(group(i, k), (uint32_t)place[i] % 32, w, false, 0);
    }
    __device__ __forceinline__ void load(int64_t first, int sites, float2 *to) const
    {
        for (int i = (int)threadIdx.x; i < sites * LAT_EIGHT; i += (int)blockDim.x)
            get(first + i / LAT_EIGHT, i % LAT_EIGHT,
                to + i / LAT_EIGHT * 12 * LAT_EIGHT + i % LAT_EIGHT, LAT_EIGHT);
    }
    __device__ __forceinline__ void store(int64_t first, int sites, const float2 *from) const
    {
        for (int i = (int)threadIdx.x; i < sites * columns; i += (int)blockDim.x) {
            const int site = i / columns, k = i % columns;
            float v[24];
#pragma unroll
            for (int c = 0; c < 12; c++) {
                const float2 z = from[(site * 12 + c) * LAT_EIGHT + k];
                v[2 * c] = z.x;
                v[2 * c + 1] = z.y;
            }
            put(first + site, k, v);
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
