/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_crc.c: the CRC that a field has in a stream, of a field that comes from elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "deflate.h"
#include "stream.h"
#include "stream_blocks_internal.h"

#define CHUNK ((size_t)1 << 20)

/* The raw bytes that a rank has. */
typedef struct part {
    size_t bytes;
    uint32_t crc;
} part;

static int crc_of_own(const lat_field *f, part *own)
{
    const lat_header *head = &f->head;
    const lat_slab slab = lat_field_slab(f);
    const size_t slice = lat_header_bytes(head) / (size_t)lat_slices(head);
    const lat_pipeline p = {.head = head,
                            .data = f->data,
                            .begin = (size_t)slab.first * slice,
                            .end = (size_t)(slab.first + slab.count) * slice,
                            .order = head->order};
    lat_block b = {.plain = lat_alloc(1, CHUNK, "a checksum")};
    *own = (part){.bytes = p.end - p.begin};
    if (!b.plain)
        return -1;
    for (b.offset = p.begin; b.offset < p.end; b.offset += b.raw) {
        b.raw = p.end - b.offset < CHUNK ? p.end - b.offset : CHUNK;
        lat_block_gather(&p, &b);
        if (lat_big_endian())
            lat_reals_swap_bytes(b.plain, b.plain, b.raw / (size_t)head->real, head->real);
        own->crc = lat_crc(own->crc, b.plain, b.raw);
    }
    free(b.plain);
    return 0;
}

int lat_stream_crc(lat_field *f)
{
    const lat_comm *comm = f->comm ? f->comm : &lat_comm_self;
    part own, *all = lat_alloc((size_t)comm->size, sizeof *all, "a checksum");
    uint32_t crc = 0;
    int rc = crc_of_own(f, &own);
    if (!all || rc || (comm->size > 1 && comm->gather(comm, &own, sizeof own, all))) {
        free(all);
        return -1;
    }
    if (comm->size == 1)
        all[0] = own;
    for (int r = 0; r < comm->size; r++)
        crc = lat_crc_join(crc, all[r].crc, all[r].bytes);
    snprintf(f->head.read_crc, sizeof f->head.read_crc, "%08x", (unsigned)crc);
    free(all);
    return 0;
}
