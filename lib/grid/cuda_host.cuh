/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_host.cuh: what the host sides of all that runs on a GPU share: errors, memory, fields on
 * their way. Functions return 0, or -1 with lat_error set. */
#ifndef LAT_BACKEND_CUDA_HOST_CUH
#define LAT_BACKEND_CUDA_HOST_CUH

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "fix/fix_cuda.cuh"
extern "C" {
#include "lattice/field.h"
}

/* ---- the device (cuda_start.cu) ---- */

/* lat_backend's begin, end, leave and available. */
bool lat_cuda_begin(void);
void lat_cuda_end(void);
void lat_cuda_release(void);
bool lat_cuda_available(void);
/* -1 with lat_error set after lat_cuda_release: the driver has been closed. */
int lat_cuda_released(void);

/* Of the device that is used, once there is one. */
int lat_cuda_device_number(void);

/* ---- errors, memory, fields ---- */

/* e, and what was being done, as an error. */
int lat_cuda_failed(cudaError_t e, const char *what);

/* `bytes` on the device, for `what`. */
int lat_cuda_malloc(void **p, size_t bytes, const char *what);

/* Will that many bytes fit? `what` begins the sentence otherwise: "lattice 4 4 4 4 in single". */
int lat_cuda_check_memory(double bytes, const char *what);

/* -1 if there is no code for SU(nc): this program's is for SU(2) to SU(groups). */
int lat_cuda_check_group(int nc, int groups);

lat_cuda_divisor lat_cuda_divide_by(uint32_t d);

/* Fields in natural order, between the host and `raw` on the device, a buffer at a time. All work
 * is in `stream`. */
typedef struct lat_cuda_staging {
    cudaStream_t stream;
    void *raw[2], *pinned[2];
    cudaEvent_t done[2]; /* a pair of buffers is free again */
} lat_cuda_staging;

int lat_cuda_staging_open(lat_cuda_staging *f, cudaStream_t stream);
void lat_cuda_staging_close(lat_cuda_staging *f);
size_t lat_cuda_staging_bytes(void); /* on the device */

/* Starts what brings matrices first .. first+count-1 from `raw` to their places, or the other way.
 */
typedef cudaError_t lat_cuda_chunk_fn(void *context, void *raw, uint64_t first, uint64_t count);

/* n matrices of a field, from number `first` on, to number `to` on of what is here; and the own
 * ones of a field from there. */
int lat_cuda_upload(lat_cuda_staging *f, const lat_field *from, size_t first, size_t n, size_t to,
                    lat_cuda_chunk_fn *place, void *context);
int lat_cuda_download(lat_cuda_staging *f, lat_field *field, size_t from, lat_cuda_chunk_fn *place,
                      void *context);

/* `bytes` on the device as they are, to another rank or from it. */
int lat_cuda_migrate(lat_cuda_staging *f, void *p, size_t bytes, const lat_comm *comm, int rank,
                     bool send);

#endif
