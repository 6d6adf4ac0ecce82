/* SPDX-License-Identifier: BSD-3-Clause */
/* mirror_gpu.cu: host fields of spinors on a GPU, mirror.h. */
#include "vector/cuda/cuda_space.cuh"
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_fetch.cuh"
extern "C" {
#include "base/threads.h"
#include "vector/mirror.h"
#include "grid/staging.h"
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "solutions"); }

struct lat_mirror {
    const lat_cuda_device *dev;
    size_t bytes, sites, objects;
    double *data;
    lat_async *reader; /* or NULL */
    lat_fetch fetch;
};

bool lat_mirror_takes(const lat_device *dev, const lat_header *head)
{
    return dev->gpu && dev->comm->size == 1 && head->nc == 3 && head->geom.nd == 4
           && head->real == LAT_F64 && lat_order_natural(&head->order);
}

lat_mirror *lat_mirror_open(lat_device *dev, const lat_header *head)
{
    lat_mirror *m = (lat_mirror *)lat_alloc_zero(1, sizeof *m, "solutions");
    if (!m)
        return NULL;
    m->dev = lat_cuda_device_of(dev);
    m->bytes = lat_header_bytes(head);
    m->sites = lat_volume(&head->geom);
    m->objects = lat_header_objects(head);
    if (lat_cuda_malloc((void **)&m->data, m->bytes, "solutions") == 0)
        return m;
    lat_mirror_close(m);
    return NULL;
}

void lat_mirror_close(lat_mirror *m)
{
    if (!m)
        return;
    lat_fetch_close(&m->fetch);
    lat_cuda_free(m->data);
    free(m);
}

bool lat_mirror_fits(const lat_mirror *m, const lat_header *head)
{
    return lat_mirror_takes(&m->dev->dev, head) && lat_volume(&head->geom) == m->sites
           && lat_header_objects(head) == m->objects;
}

int lat_mirror_lend(lat_mirror *m, lat_async *reader)
{
    m->reader = reader;
    return failed(cudaStreamSynchronize(m->dev->stream));
}

int lat_mirror_take(lat_mirror *m, lat_space *space, const lat_part *p, const lat_dfield *x,
                    const int *object)
{
    const lat_gpu_space *s = lat_gpu_space_of(space);
    if (space->grid->spec.storage != LAT_STORAGE_DOUBLE || space->nc != 3)
        return lat_fail("solutions: expected spinors of SU(3) in double");
    if (m->reader && lat_async_wait(m->reader) < 0)
        return -1;
    for (int i = 0; i < p->columns; i++) {
        const int c = p->column[i];
        const lat_gpu_piece piece = {m->data + (size_t)object[c] * LAT_STAGE_SPINOR,
                                     m->objects * LAT_STAGE_SPINOR,
                                     0,
                                     m->sites,
                                     LAT_BOTH,
                                     true};
        if (failed(lat_gpu_move(s, false, &piece, (char *)x->data + (size_t)c * s->column)))
            return -1;
    }
    return 0;
}

/* Pieces that wait at a time: those that are held, one that is on its way, the rest of one. */
int lat_mirror_begin(lat_mirror *m, size_t held)
{
    const size_t all = (m->bytes + LAT_MIRROR_PIECE - 1) / LAT_MIRROR_PIECE,
                 wanted = (held + LAT_MIRROR_PIECE - 1) / LAT_MIRROR_PIECE + 2;
    return lat_fetch_open(&m->fetch, wanted < all ? wanted : all, LAT_MIRROR_PIECE);
}

const void *lat_mirror_bytes(void *mirror, size_t from, size_t n, size_t done)
{
    lat_mirror *const m = (lat_mirror *)mirror;
    lat_fetch *const f = &m->fetch;
    const size_t k = from / LAT_MIRROR_PIECE, free_below = done / LAT_MIRROR_PIECE + f->places;
    for (size_t at; f->begun < free_below && (at = f->begun * LAT_MIRROR_PIECE) < m->bytes;) {
        const size_t left = m->bytes - at;
        if (lat_fetch_send(f, (const char *)m->data + at,
                           left < LAT_MIRROR_PIECE ? left : LAT_MIRROR_PIECE))
            return NULL;
    }
    if (from + n > m->bytes || (from + n - 1) / LAT_MIRROR_PIECE != k || k >= f->begun) {
        lat_fail("solutions: %zu bytes from %zu on are not there", n, from);
        return NULL;
    }
    const char *const piece = lat_fetch_wait(f, k);
    return piece ? piece + from % LAT_MIRROR_PIECE : NULL;
}

int lat_mirror_get(lat_mirror *m, lat_field *host)
{
    if (!lat_mirror_fits(m, &host->head))
        return lat_fail("solutions: expected a field of %zu spinors a site", m->objects);
    if (failed(cudaStreamSynchronize(m->dev->stream)) || lat_mirror_begin(m, LAT_MIRROR_PIECE))
        return -1;
    for (size_t at = 0; at < m->bytes; at += LAT_MIRROR_PIECE) {
        const size_t left = m->bytes - at, n = left < LAT_MIRROR_PIECE ? left : LAT_MIRROR_PIECE;
        const void *const piece = lat_mirror_bytes(m, at, n, at);
        if (!piece)
            return -1;
        lat_memcpy((char *)host->data + at, piece, n);
    }
    return 0;
}

const double *lat_mirror_data(const lat_mirror *m) { return m->data; }
