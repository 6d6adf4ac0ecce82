/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_columns.cuh: where transfers on a GPU get their numbers, and where these go: columns of
 * batches, and vectors of coarse levels. */
#pragma once

#include <cuda_pipeline.h>
#include "multigrid/cuda/cuda_multigrid.cuh"
#include "vector/cuda/cuda_host.cuh"

/* Vectors of a coarse level. All threads of a block ask for sites of the list, of which `where`
 * says the numbers, as they lie, in units of 16 bytes; then they keep them in stages, one of each
 * batch, [site][component][8], sites `pitch` numbers apart; or they store a stage. */
typedef struct eights {
    lat_eight *v;
    const int32_t *place;
    int components, batches;
    int64_t batch; /* numbers from one to the next */

    enum { RAW = sizeof(lat_eight) / 16 }; /* units of a component */

    __device__ __forceinline__ lat_eight *number(int b, int32_t at, int i) const
    {
        return v + b * batch + (int64_t)at * components + i;
    }
    __device__ __forceinline__ void ask(int, const int32_t *where, int sites, uint4 *raw) const
    {
        const int each = components * RAW;
        for (int i = (int)threadIdx.x; i < batches * sites * each; i += (int)blockDim.x) {
            const int b = i / (sites * each), site = i / each % sites, unit = i % each;
            __pipeline_memcpy_async(raw + i, (const uint4 *)number(b, where[site], 0) + unit,
                                    sizeof *raw);
        }
    }
    __device__ __forceinline__ void keep(int sites, int stage, int pitch, const uint4 *raw,
                                         float2 *to) const
    {
        const int each = components * LAT_EIGHT;
        for (int i = (int)threadIdx.x; i < batches * sites * each; i += (int)blockDim.x) {
            const float *const z = (const float *)(raw + i / LAT_EIGHT * RAW) + i % LAT_EIGHT;
            const int b = i / (sites * each), site = i / each % sites;
            to[b * stage + site * pitch + i % each] = make_float2(z[0], z[LAT_EIGHT]);
        }
    }
    __device__ __forceinline__ void store(int b, int, const int32_t *where, int sites, int pitch,
                                          const float2 *from) const
    {
        const int each = components * LAT_EIGHT;
        for (int i = (int)threadIdx.x; i < sites * each; i += (int)blockDim.x) {
            float *const z = (float *)number(b, where[i / each], i % each / LAT_EIGHT)
                             + i % LAT_EIGHT;
            const float2 w = from[i / each * pitch + i % each];
            z[0] = w.x;
            z[LAT_EIGHT] = w.y;
        }
    }
} eights;

/* Columns of vectors of the finest level in single precision, eight a batch; of even sites or of
 * odd ones. */
typedef struct batch {
    char *column[LAT_VECTOR_COLUMNS];
    int columns;
    size_t parity;
    const int32_t *place;

    enum { RAW = lat_form<LAT_STORAGE_SINGLE>::CHUNKS }; /* units of a column */

    __device__ __forceinline__ char *group(int odd, int32_t at, int k) const
    {
        return column[k] + (odd ? parity : 0)
               + (size_t)(at / 32) * lat_form<LAT_STORAGE_SINGLE>::GROUP;
    }
    /* A site's numbers of a column in the basis of hosts, [12], so far apart. */
    __device__ __forceinline__ void get(int odd, int32_t at, int k, float2 *to, int apart) const
    {
        float w[24], v[24];
        get_spinor<LAT_STORAGE_SINGLE>(w, group(odd, at, k), (uint32_t)at % 32, false);
        to_outside(v, w);
#pragma unroll
        for (int c = 0; c < 12; c++)
            to[c * apart] = make_float2(v[2 * c], v[2 * c + 1]);
    }
    __device__ __forceinline__ void put(int odd, int32_t at, int k, const float v[24]) const
    {
        float w[24];
        to_inside(w, v);
        put_spinor<LAT_STORAGE_SINGLE, false>(group(odd, at, k), (uint32_t)at % 32, w, false, 0);
    }
    /* [column][site][chunk]. Side by side are sites. */
    __device__ __forceinline__ void ask(int odd, const int32_t *where, int sites, uint4 *raw) const
    {
        for (int i = (int)threadIdx.x; i < columns * sites * RAW; i += (int)blockDim.x) {
            const int site = i % sites, chunk = i / sites % RAW, k = i / (sites * RAW);
            const int32_t at = where[site];
            __pipeline_memcpy_async(raw + (k * sites + site) * RAW + chunk,
                                    (const uint4 *)group(odd, at, k) + chunk * 32 + at % 32,
                                    sizeof *raw);
        }
    }
    /* A thread has a colour of a site and column. */
    __device__ __forceinline__ void keep(int sites, int stage, int pitch, const uint4 *raw,
                                         float2 *to) const
    {
        for (int i = (int)threadIdx.x; i < columns * sites * 3; i += (int)blockDim.x) {
            const int colour = i % 3, site = i / 3 % sites, k = i / (3 * sites);
            const float2 *const w = (const float2 *)(raw + i / 3 * RAW) + colour;
            float2 *const v = to + k / LAT_EIGHT * stage + site * pitch + colour * LAT_EIGHT
                              + k % LAT_EIGHT;
            spin_outside(v, 3 * LAT_EIGHT, w[0], w[3], w[6], w[9]);
        }
    }
    /* As to_outside, of a colour; spins so far apart. */
    __device__ __forceinline__ static void spin_outside(float2 *v, int apart, float2 a, float2 b,
                                                        float2 c, float2 d)
    {
        const float r2 = .70710678118654752440f;
        v[0] = make_float2(r2 * (b.x - d.x), r2 * (b.y - d.y));
        v[apart] = make_float2(r2 * (c.x - a.x), r2 * (c.y - a.y));
        v[2 * apart] = make_float2(r2 * (b.x + d.x), r2 * (b.y + d.y));
        v[3 * apart] = make_float2(-r2 * (a.x + c.x), -r2 * (a.y + c.y));
    }
    /* Columns of batch b that there are; others are left alone. */
    __device__ __forceinline__ int some(int b) const
    {
        const int left = columns - b * LAT_EIGHT;
        return left < LAT_EIGHT ? left : LAT_EIGHT;
    }
    __device__ __forceinline__ void store(int b, int odd, const int32_t *where, int sites,
                                          int pitch, const float2 *from) const
    {
        for (int i = (int)threadIdx.x; i < sites * some(b); i += (int)blockDim.x) {
            const float2 *const at = from + i % sites * pitch + i / sites;
            float v[24];
#pragma unroll
            for (int c = 0; c < 12; c++) {
                v[2 * c] = at[c * LAT_EIGHT].x;
                v[2 * c + 1] = at[c * LAT_EIGHT].y;
            }
            put(odd, where[i % sites], b * LAT_EIGHT + i / sites, v);
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
    return b;
}

static inline eights eights_of(const lat_transfer *t, const lat_eight *v)
{
    const eights e = {(lat_eight *)v, lat_mg_gpu_transfer_of(t)->at, t->components, t->to->active,
                      t->blocks.sites * t->components};
    return e;
}

/* Restriction and prolongation of all sites of the finest level and at most eight columns, by P in
 * single. */
int lat_mg_gpu_restrict_all(const lat_transfer *t, const batch &in, lat_eight *z);
int lat_mg_gpu_prolong_all(const lat_transfer *t, const lat_eight *z, const batch &out);
