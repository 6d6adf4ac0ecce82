/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_halo.cu: faces to neighbours' ghosts: connection, buffers. */
#include "cuda_halo.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_carry.cuh"
#include "cuda_dfield.cuh"

struct lat_halo {
    lat_cuda_peers peers;
    int how;       /* what of all ranks is mapped (cuda_window.cuh) */
    char **mapped; /* [ranks]: the neighbours' memory */
    /* What an exchange needs: buffers [2 sides][units][chunks][face], 16 bytes each. */
    void *send, *receive;
    size_t reserved; /* bytes of a side */
    int *unit, *unit_host, units, units_reserved;
    const lat_halo_part *part; /* of the exchange that is under way, */
    int first, end;            /* and its sides */
};

static cudaStream_t stream_of(const lat_dfield *f)
{
    return lat_cuda_device_of(f->grid->dev)->stream;
}

/* ---- packing --------------------------------------------------------------------------------- */

#define THREADS 128

/* Chunks of sites of one parity: `chunks` of a site, of which `count` from `first` on are
 * exchanged. */
typedef struct faces {
    char *data;
    size_t unit_bytes, parity_bytes;
    int chunks, first, count;
    const int *unit;
    int units, side; /* the first of the sides */
} faces;

/* Faces to the send buffers, or the receive buffers to ghosts: a block row is a unit. */
static __global__ void copy_faces(const __grid_constant__ lat_cuda_grid w,
                                  const __grid_constant__ faces f, int4 *buffer, int to_ghosts)
{
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x, side = (uint32_t)f.side + blockIdx.z;
    if (n >= w.face)
        return;
    /* The ghosts are at both ends of a slot, beside the faces. */
    const uint32_t i = side ? (to_ghosts ? w.from + w.own : w.from + w.own - w.face) + n
                            : (to_ghosts ? w.from - w.face : w.from) + n;
    for (int u = (int)blockIdx.y; u < f.units; u += (int)gridDim.y) {
        int4 *site = (int4 *)(f.data + (size_t)f.unit[u] * f.unit_bytes + f.parity_bytes)
                     + lat_cuda_at(i, f.chunks) + (size_t)f.first * LAT_CUDA_GROUP;
        int4 *b = buffer + ((size_t)side * (size_t)f.units + (size_t)u) * (size_t)f.count * w.face
                  + n;
        for (int c = 0; c < f.count; c++)
            if (to_ghosts)
                site[c * LAT_CUDA_GROUP] = b[(size_t)c * w.face];
            else
                b[(size_t)c * w.face] = site[c * LAT_CUDA_GROUP];
    }
}

static size_t object_chunks(const lat_dfield *f)
{
    return lat_cuda_object_bytes(f->grid, f->shape) / 16;
}

static size_t side_bytes(const lat_dfield *f, const lat_halo_part *part)
{
    return 16 * (size_t)part->units * (size_t)part->objects * object_chunks(f)
           * lat_cuda(f->grid)->face;
}

static cudaError_t launch_copy(const lat_dfield *f, void *buffer, int to_ghosts)
{
    const lat_cuda_grid *w = lat_cuda(f->grid);
    const lat_halo_part *part = f->halo->part;
    const int sides = f->halo->end - f->halo->first;
    const int chunks = (int)object_chunks(f);
    if (part->units == 0 || sides == 0)
        return cudaSuccess;
    const faces p = {(char *)f->data,
                     f->unit_bytes,
                     part->parity ? f->unit_bytes / 2 : 0,
                     f->shape.objects * chunks,
                     part->object * chunks,
                     part->objects * chunks,
                     f->halo->unit,
                     part->units,
                     f->halo->first};
    const dim3 grid(lat_cuda_blocks(w->face, THREADS),
                    (unsigned)(part->units < 65535 ? part->units : 65535), (unsigned)sides);
    return lat_cuda_start(0, copy_faces, grid, THREADS, stream_of(f), *w, p, (int4 *)buffer,
                          to_ghosts);
}

/* ---- exchange -------------------------------------------------------------------------------- */

int lat_cuda_halo_new(lat_dfield *f)
{
    f->halo = (lat_halo *)lat_alloc_zero(1, sizeof *f->halo, "a halo");
    return f->halo ? 0 : -1;
}

static void free_buffers(lat_halo *h)
{
    lat_cuda_free_shared(h->send);
    lat_cuda_free_shared(h->receive);
    h->send = h->receive = NULL;
    h->reserved = 0;
}

/* Buffers for so many bytes to and from a side. */
static int reserve(lat_halo *h, size_t bytes)
{
    if (bytes <= h->reserved)
        return 0;
    if (lat_cuda_failed(cudaDeviceSynchronize(), "faces"))
        return -1;
    free_buffers(h);
    if (lat_cuda_malloc_shared(&h->send, 2 * bytes, "send buffers")
        || lat_cuda_malloc_shared(&h->receive, 2 * bytes, "receive buffers"))
        return -1;
    h->reserved = bytes;
    return 0;
}

/* The list of units to the device, if it has changed. */
static int send_units(lat_halo *h, const lat_halo_part *part, cudaStream_t stream)
{
    const size_t bytes = (size_t)part->units * sizeof *part->unit;
    if (part->units == h->units && !memcmp(h->unit_host, part->unit, bytes))
        return 0;
    if (part->units > h->units_reserved) {
        lat_cuda_free(h->unit);
        free(h->unit_host);
        h->unit = NULL;
        h->units = h->units_reserved = 0;
        h->unit_host = (int *)lat_alloc((size_t)part->units, sizeof *h->unit_host,
                                        "the list of units");
        if (!h->unit_host || lat_cuda_malloc((void **)&h->unit, bytes, "the list of units"))
            return -1;
        h->units_reserved = part->units;
    }
    memcpy(h->unit_host, part->unit, bytes);
    h->units = part->units;
    /* From pageable memory: it is free again when the call returns. */
    return lat_cuda_failed(
        cudaMemcpyAsync(h->unit, part->unit, bytes, cudaMemcpyHostToDevice, stream),
        "sending the list of units");
}

/* On the sides that are not in `without`. */
static int begin(lat_dfield *f, const lat_halo_part *part, unsigned without)
{
    lat_halo *h = f->halo;
    const cudaStream_t stream = stream_of(f);
    const size_t bytes = side_bytes(f, part);
    h->part = part;
    h->first = without >> LAT_DOWN & 1 ? LAT_UP : LAT_DOWN;
    h->end = without >> LAT_UP & 1 ? LAT_UP : LAT_SIDES;
    if (reserve(h, bytes) || send_units(h, part, stream)
        || lat_cuda_failed(launch_copy(f, h->send, 0), "packing faces"))
        return -1;
    lat_message m[LAT_SIDES];
    for (int s = h->first; s < h->end; s++)
        m[s - h->first] = lat_slab_message(f->grid->dev->comm, s,
                                           (char *)h->send + (size_t)s * bytes,
                                           (char *)h->receive + (size_t)s * bytes, bytes, bytes);
    return lat_cuda_carry_begin(lat_cuda_carrier_of(f->grid->dev), stream, h->end - h->first, m);
}

int lat_cuda_halo_begin(lat_dfield *f, const lat_halo_part *part)
{
    return begin(f, part, f->halo->peers.direct);
}

int lat_cuda_halo_finish(lat_dfield *f)
{
    return lat_rc(lat_cuda_carry_finish(lat_cuda_carrier_of(f->grid->dev), stream_of(f))
                  || lat_cuda_failed(launch_copy(f, f->halo->receive, 1), "unpacking ghosts"));
}

int lat_cuda_halo_exchange(lat_dfield *f, const lat_halo_part *part)
{
    const lat_comm *comm = f->grid->dev->comm;
    if (begin(f, part, 0) || lat_cuda_halo_finish(f))
        return -1;
    if (f->halo->how == LAT_CUDA_MAP_NONE)
        return 0;
    /* No neighbour's next kernel writes ghosts before these are there. */
    return lat_rc(lat_cuda_failed(cudaStreamSynchronize(stream_of(f)), "unpacking ghosts")
                  || comm->barrier(comm));
}

/* ---- connection ------------------------------------------------------------------------------ */

/* What a rank says of its field. */
typedef struct description {
    uint64_t bytes; /* of the numbers; flags are behind them */
    uint32_t groups, ghost[LAT_SIDES];
} description;

/* Where the neighbours whose memory is mapped want our faces. */
static int find_ghosts(lat_dfield *f)
{
    lat_halo *h = f->halo;
    const lat_cuda_grid *w = lat_cuda(f->grid);
    const lat_comm *comm = f->grid->dev->comm;
    const description my = {lat_cuda_field_bytes(f), w->groups, {0, w->from + w->own}};
    description *all = (description *)lat_alloc((size_t)comm->size, sizeof *all,
                                                "what ranks say of their fields");
    const int rc = all ? comm->gather(comm, &my, sizeof my, all) : -1;
    for (int s = 0; s < LAT_SIDES && rc == 0; s++) {
        const int rank = (comm->rank + comm->size + (s == LAT_UP ? 1 : -1)) % comm->size;
        lat_cuda_neighbour *side = h->peers.side + s;
        if (!h->mapped[rank])
            continue;
        h->peers.direct |= 1u << s;
        side->data = h->mapped[rank];
        side->groups = all[rank].groups;
        side->ghost = all[rank].ghost[1 - s];
        side->flag = (uint32_t *)(h->mapped[rank] + all[rank].bytes) + LAT_CUDA_RECEIVED + (1 - s);
    }
    free(all);
    return rc;
}

int lat_cuda_connect(lat_dfield *f, lat_cuda_peers *peers)
{
    lat_halo *h = f->halo;
    const lat_comm *comm = f->grid->dev->comm;
    memset(peers, 0, sizeof *peers);
    if (!h)
        return 0;
    h->mapped = (char **)calloc((size_t)comm->size, sizeof *h->mapped);
    h->how = h->mapped ? lat_cuda_map(f->grid->dev, f->data, false, h->mapped)
                       : lat_fail("out of memory: a halo");
    if (h->how < 0 || (h->how > LAT_CUDA_MAP_NONE && find_ghosts(f))
        || (h->how < LAT_CUDA_MAP_ALL
            && lat_cuda_carrier_prepare(lat_cuda_carrier_of(f->grid->dev))))
        return -1;
    h->peers.received = lat_cuda_flags(f) + LAT_CUDA_RECEIVED;
    h->peers.face_done = lat_cuda_flags(f) + LAT_CUDA_FACE_DONE;
    *peers = h->peers;
    return lat_rc(lat_cuda_failed(cudaStreamSynchronize(stream_of(f)), "setting ghosts")
                  || comm->barrier(comm));
}

void lat_cuda_describe(const lat_dfield *f, char *text, size_t size)
{
    const lat_halo *h = f->halo;
    if (h)
        lat_cuda_describe_faces(f->grid->dev, h->how > LAT_CUDA_MAP_NONE, h->how < LAT_CUDA_MAP_ALL,
                                text, size);
    else
        snprintf(text, size, "%s", f->grid->dev->name);
}

void lat_cuda_halo_free(lat_dfield *f)
{
    lat_halo *h = f->halo;
    /* After a failure neighbours may still be at work in the field, and kernels may wait for them:
     * it stays until the process ends, soon. */
    if (h->how > LAT_CUDA_MAP_NONE && lat_cuda_unmap(f->grid->dev, h->mapped)) {
        f->data = NULL;
        return;
    }
    free_buffers(h);
    lat_cuda_free(h->unit);
    free(h->unit_host);
    free(h->mapped);
    free(h);
}

bool lat_cuda_direct(const lat_dfield *f)
{
    return !f->halo || f->halo->peers.direct == LAT_CUDA_BOTH;
}
