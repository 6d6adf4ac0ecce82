/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_gpu.h: the operator of plain.h on a GPU, in double, that certifies solutions where they
 * are, written from the definition that stands there. On one rank, of SU(3). C and C++. */
#pragma once

#include "grid/device.h"
#include "lattice/fermion.h"
#include "lattice/field.h"

typedef struct lat_plain_gpu lat_plain_gpu;

/* Bytes that it takes on a GPU: links, and the clover term of six planes. */
static inline double lat_plain_gpu_bytes(const lat_header *links, const lat_fermion *action)
{
    const int matrices = action->csw != 0 || action->csw_t != 0 ? 4 + 6 : 4;
    return (double)lat_volume(&links->geom) * matrices * 18 * sizeof(double);
}

/* The links are copied; 0 or a pointer, or -1 or NULL with lat_error set. */
lat_plain_gpu *lat_plain_gpu_new(lat_device *dev, const lat_field *links,
                                 const lat_fermion *action);
void lat_plain_gpu_free(lat_plain_gpu *p); /* NULL is allowed */

/* The links on the device, [site][4][18] in natural order (grid/staging.h). */
const double *lat_plain_gpu_links(const lat_plain_gpu *p);

/* residual[i] = |b - M x| / |b| of column[i], as lat_plain_residual; x is on the device, in the
 * bytes of a host field with the header of b, in double. */
int lat_plain_gpu_residual(lat_plain_gpu *p, const double *x, const lat_field *b, int columns,
                           const int *column, double *residual);
