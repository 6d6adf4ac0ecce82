/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_fill.c: elements of a set become numbers of a field. */
#include "hdf5_fill.h"

#include <string.h>
#include "base/bytes.h"

void lat_hdf5_fill_plan(lat_hdf5_filler *w, const lat_hdf5_set *set, void *data,
                        const size_t stride[LAT_HDF5_RANK + 1])
{
    w->set = set;
    w->data = data;
    memcpy(w->stride, stride, (size_t)set->rank * sizeof *stride);
    w->inside[0] = 0;
    w->reals = 1;
    for (int k = set->axes; k >= set->rank; k--) {
        const size_t extent = k == set->axes ? 2 : (size_t)set->extent[k];
        for (size_t i = w->reals; i < w->reals * extent; i++)
            w->inside[i] = w->inside[i % w->reals] + i / w->reals * stride[k];
        w->reals *= extent;
    }
}

void lat_hdf5_fill(void *filler, const uint64_t *index, const unsigned char *element)
{
    const lat_hdf5_filler *w = filler;
    const bool swap = w->set->big != lat_big_endian();
    size_t at = 0;
    for (int k = 0; k < w->set->rank; k++)
        at += (size_t)index[k] * w->stride[k];
    for (size_t k = 0; k < w->reals; k++)
        if (w->set->real == LAT_F64) {
            const uint64_t v = lat_load64(element + 8 * k, swap);
            memcpy((double *)w->data + at + w->inside[k], &v, sizeof v);
        } else {
            const uint32_t v = lat_load32(element + 4 * k, swap);
            memcpy((float *)w->data + at + w->inside[k], &v, sizeof v);
        }
}
