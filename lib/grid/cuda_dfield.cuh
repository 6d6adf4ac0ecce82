/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_dfield.cuh: fields on a GPU (cuda_grid.cuh says how they lie): host fields in and out. */
#pragma once

#include <stdint.h>
#include "cuda_device.cuh"
#include "cuda_grid.cuh"

/* For lat_grid_ops. */
void *lat_cuda_field_alloc(lat_dfield *f, size_t bytes, const char *what);
void lat_cuda_field_free(lat_dfield *f);
int lat_cuda_put(lat_dfield *f, int member, const lat_field *host, const double *weight);
int lat_cuda_get(const lat_dfield *f, int member, lat_field *host);
/* As lat_cuda_get, to memory on the device, in double. */
int lat_cuda_get_there(const lat_dfield *f, int member, double *there);
int lat_cuda_migrate(lat_dfield *f, int unit, int rank, bool send);

/* 1 if the rows that lat_dfield_put has left out since the field was made follow from the others,
 * on all ranks; 0 if rows are not orthonormal, or the last one is not what the others make it,
 * beyond a few roundings in the grid's storage: links of a single precision file miss it in double.
 * -1 with lat_error set. Every rank calls it. */
int lat_cuda_rows_follow(const lat_dfield *f);

/* Words behind the numbers of a field, 0 at first. */
enum {
    LAT_CUDA_RECEIVED = 0,  /* [2] flags of the neighbours below and above (cuda_halo.cuh) */
    LAT_CUDA_FACE_DONE = 2, /* [2] blocks that are done with a face */
    LAT_CUDA_DIFFERS = 4,   /* not 0: a row that was left out does not follow from the others */
    LAT_CUDA_FLAGS = 5
};
static inline size_t lat_cuda_field_bytes(const lat_dfield *f)
{
    return (size_t)f->members * (size_t)f->grid->slots * f->unit_bytes;
}
static inline uint32_t *lat_cuda_flags(const lat_dfield *f)
{
    return (uint32_t *)((char *)f->data + lat_cuda_field_bytes(f));
}

/* A kernel of lib/grid: is there code for a device? */
const void *lat_cuda_any_kernel(void);
