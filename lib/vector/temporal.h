/* SPDX-License-Identifier: BSD-3-Clause */
/* temporal.h: links and spinors on a device in the temporal gauge.
 *
 * With G(x, 0) = 1 and G(x, t+1) = G(x, t) U_t(x, t) links of t are 1 but on the last slice of the
 * lattice, where they are the Polyakov loops, and hops along t need neither to read nor to multiply
 * them. A space of spinors that is given one (`temporal` of space.h) holds G psi: put and get
 * rotate host fields, and operators of the space rotate links, G(x) U_mu(x) G(x+mu)^+. So hosts see
 * the gauge they have, norms and products are those of the host's, and results differ by rounding.
 *
 * G is made in double, of SU(N) to the last digits whatever the links. Where the products are 1 to
 * the precision of an operator (as links have 12 reals where they are unitary to it: links.h), it
 * takes them to be 1; else they are links as others. */
#pragma once

#include "grid/device.h"
#include "grid/grid.h"
#include "lattice/field.h"

typedef struct lat_temporal {
    lat_field g;  /* G, ghosts included; on a GPU without data */
    void *device; /* on a GPU: [own sites, ghosts][18] in double, natural order (staging.h) */
    double off;   /* the largest element of |G U_t G^+ - 1|, the last slice left out */
} lat_temporal;

/* *t of four-dimensional links of SU(2) or SU(3), whose ghosts are up to date, on their ranks; NULL
 * where links are not unitary to single precision, and where all of t is one slice. `there`: on one
 * GPU the links, if they are there already (certify/plain_gpu.h), or NULL; the same bits. All ranks
 * call it: 0, or -1 with lat_error set. To be closed after the spaces that have it. */
int lat_temporal_open(lat_device *dev, const lat_field *u, const double *there, lat_temporal **t);
void lat_temporal_close(lat_temporal *t); /* NULL is allowed */

/* By how much elements may differ from those of a link that they are taken for: links are as
 * unitary as the program that wrote them left them, 1024 roundings. */
static inline double lat_link_bound(lat_storage storage)
{
    return 1024 * (storage == LAT_STORAGE_DOUBLE ? 0x1p-53 : 0x1p-24);
}

/* Are links of t 1 for an operator of this precision? NULL: no. */
bool lat_temporal_unit(const lat_temporal *t, lat_storage storage);

/* To a GPU, whose host's memory is given back; made there, of links of SU(3) that are there; and
 * what it has there (temporal_gpu.cu). */
int lat_temporal_to_gpu(lat_temporal *t, lat_device *dev);
int lat_temporal_on_gpu(lat_temporal *t, lat_device *dev, const lat_geometry *lattice,
                        const double *there);
void lat_temporal_gpu_close(lat_temporal *t);
