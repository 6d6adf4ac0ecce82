/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_crc.c: the CRC that a field has in a stream, or would have: of a field that comes from
 * elsewhere, and of links that are stored in other ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/memory.h"
#include "deflate.h"
#include "lattice/iterate.h"
#include "stream.h"
#include "stream_blocks_internal.h"
#include "stream_reduced_internal.h"

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

/* The CRC of the field as its header has it stored. All ranks call it. */
static int crc_of(const lat_field *f, char text[LAT_CRC_TEXT])
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
    snprintf(text, LAT_CRC_TEXT, "%08x", (unsigned)crc);
    free(all);
    return 0;
}

int lat_stream_crc(lat_field *f) { return crc_of(f, f->head.read_crc); }

int lat_stream_natural_crc(lat_field *f)
{
    const lat_order order = f->head.order;
    f->head.order = (lat_order){.sites = ""};
    const int rc = crc_of(f, f->head.natural_crc);
    f->head.order = order;
    return rc;
}

/* ---- the same links, stored otherwise -------------------------------------------------------- */

/* Own matrices of f, as g stores them; false if some would be others when they are read again. */
static bool copy_exactly(const lat_field *f, lat_field *g)
{
    enum { SOME = 256 };
    const size_t all = lat_field_matrices(f), reals = lat_header_full_reals(&f->head);
    double is[LAT_SUN_REALS], was[LAT_SUN_REALS];
    for (size_t begin = 0; begin < all; begin += SOME) {
        const size_t end = begin + SOME < all ? begin + SOME : all;
        for (size_t i = begin; i < end; i++) {
            lat_field_get(f, i, was);
            lat_field_put(g, i, was);
        }
        if (lat_reduced(&g->head))
            lat_complete_all(&g->head, (char *)g->data + begin * reals * (size_t)g->head.real,
                             end - begin, 0, NULL);
        for (size_t i = begin; i < end; i++) {
            lat_field_get(f, i, was);
            lat_field_get(g, i, is);
            if (memcmp(is, was, reals * sizeof *is) != 0)
                return false;
        }
    }
    return true;
}

/* The CRC of f with `real` and `reals`, "" if those cannot hold its links. */
static int crc_with(const lat_field *f, lat_real real, int reals, char text[LAT_CRC_TEXT])
{
    lat_field g = {.head = f->head}; /* its lines are borrowed */
    g.head.real = real;
    g.head.reals = reals;
    g.head.order = (lat_order){.sites = ""};
    *text = '\0';
    if (lat_field_alloc(&g, f->comm))
        return -1;
    double other = !copy_exactly(f, &g);
    int rc = lat_field_shared(f) ? f->comm->max(f->comm, &other, 1) : 0;
    if (rc == 0 && other == 0)
        rc = crc_of(&g, text);
    free(g.data);
    return rc;
}

int lat_stream_same_crcs(const lat_field *f, char crc[LAT_STREAM_SAME][LAT_CRC_TEXT])
{
    const int all = (int)lat_header_full_reals(&f->head), nc = f->head.nc,
              few = nc == 3   ? 12
                    : nc == 2 ? 4
                              : all;
    const struct {
        lat_real real;
        int reals;
    } form[LAT_STREAM_SAME] = {{LAT_F64, all}, {LAT_F64, few}, {LAT_F32, all}, {LAT_F32, few}};
    for (int i = 0; i < LAT_STREAM_SAME; i++)
        if (crc_with(f, form[i].real, form[i].reals, crc[i]))
            return -1;
    return 0;
}
