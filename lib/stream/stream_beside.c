/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_beside.c: ranks read and write their slices side by side, where all of them can open the
 * file, instead of sending them to rank 0 and back. Those of one host write so only where the file
 * is memory, and blocks are not compressed: on a disk one writer at a time is let in.
 *
 * A rank reads the blocks that hold bytes of its slices, and writes those that begin there: the end
 * of a block that begins in one rank's slices and ends in the next one's comes by a message. Blocks
 * of the CRC are counted where they begin. Where blocks are compressed, rank 0 finds those that
 * others read; and each rank keeps those that it writes until it knows how long those of the ranks
 * before are. */
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "comm/shared.h"
#include "common/options.h"
#include "stream_beside_internal.h"
#include "stream_blocks_internal.h"

/* ---- what both need -------------------------------------------------------------------------- */

/* Raw bytes of a field before slice `first`. */
static size_t bytes_before(const lat_pipeline *p, int first)
{
    return p->bytes / (size_t)lat_slices(p->head) * (size_t)first;
}

/* What a rank says of the blocks that begin in its slices. */
typedef struct counted {
    uint64_t bytes, stored, crc;
} counted;

/* Of each rank; to be freed. NULL with lat_error set, on all ranks. */
static counted *count(const lat_comm *comm, counted mine)
{
    counted *all = lat_alloc((size_t)comm->size, sizeof *all, "blocks of ranks");
    if (lat_agree(comm, all ? 0 : -1) == 0 && comm->gather(comm, &mine, sizeof mine, all) == 0)
        return all;
    free(all);
    return NULL;
}

/* p->crc becomes the field's, of the blocks from `from` up to `end` of each rank in order. */
static int join(const lat_comm *comm, lat_pipeline *p, size_t from, size_t end)
{
    const uint64_t bytes = lat_blocks_plain(p, end) - lat_blocks_plain(p, from)
                           - (end - from) * LAT_FRAME;
    counted *all = count(comm, (counted){.bytes = bytes, .crc = p->crc});
    if (!all)
        return -1;
    p->crc = 0;
    for (int r = 0; r < comm->size; r++)
        p->crc = lat_crc_join(p->crc, (uint32_t)all[r].crc, (size_t)all[r].bytes);
    free(all);
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

int lat_beside_input(lat_input *in, const lat_header *head, bool *beside)
{
    const lat_comm *comm = lat_input_comm(in);
    lat_stream_state *s = lat_input_attach(in, LAT_ATTACH_STREAM, sizeof *s);
    if (lat_agree(comm, s ? 0 : -1))
        return -1;
    *beside = comm->rank == 0 && lat_order_sliced(&s->form.order, head->geom.nd);
    if (lat_input_everywhere(in, beside))
        return -1;
    if (*beside)
        lat_verbose("%s: each rank reads its slices", lat_input_name(in));
    return *beside ? comm->broadcast(comm, s, sizeof *s, 0) : 0;
}

/* On rank 0: where the first block of each rank begins, and the trailer, to at[]. */
static int find_all(lat_input *in, const lat_pipeline *p, const lat_comm *comm, uint64_t *at)
{
    uint64_t here = lat_input_offset(in);
    size_t block = 0;
    for (int r = 0; r <= comm->size; r++) {
        const int slices = lat_slices(p->head);
        const size_t to = r < comm->size
                              ? bytes_before(p, lat_slab_of(comm, r, slices).first) / p->block_bytes
                              : p->blocks;
        if (lat_blocks_find(in, p, block, to, &here))
            return -1;
        block = to;
        at[r] = here;
    }
    return 0;
}

/* The reader goes on with its slices from `first` on; its next block begins at byte `at`. Of a
 * block that begins in the slices before only the bytes are taken. */
static int seek(lat_stream_reader *r, int first, uint64_t at)
{
    lat_pipeline *p = &r->p;
    r->offset = bytes_before(p, first);
    r->next = r->offset / p->block_bytes;
    if (lat_input_skip(r->in, at - lat_input_offset(r->in)))
        return -1;
    if (r->next * p->block_bytes == r->offset)
        return 0;
    p->begin = p->end = r->offset;
    if (lat_blocks_read(r->in, p, r->next, r->next + 1))
        return -1;
    r->next++;
    p->crc = 0;
    return 0;
}

/* Own slices; `at` as find_all leaves it. Rank 0 is behind all blocks then. */
static int read_own(lat_stream_reader *r, lat_field *f, uint64_t *at)
{
    const lat_comm *comm = f->comm;
    const lat_slab slab = lat_field_slab(f);
    const size_t ranks = (size_t)comm->size;
    int rc = lat_agree(comm, comm->rank == 0 ? find_all(r->in, &r->p, comm, at) : 0);
    if (rc || comm->broadcast(comm, at, (ranks + 1) * sizeof *at, 0))
        return -1;
    rc = lat_rc(seek(r, slab.first, at[comm->rank])
                || lat_stream_get_stored(r, f->data, slab.count));
    if (lat_agree_on_first(comm, rc))
        return -1;
    const size_t block = r->p.block_bytes, begin = bytes_before(&r->p, slab.first);
    if (join(comm, &r->p, (begin + block - 1) / block, r->next))
        return -1;
    if (comm->rank == 0) {
        rc = lat_input_skip(r->in, at[ranks] - lat_input_offset(r->in));
        r->offset = r->p.bytes;
    }
    return lat_agree(comm, rc);
}

int lat_beside_read(lat_input *in, lat_field *f, double *largest)
{
    const lat_comm *comm = f->comm;
    uint64_t *at = lat_alloc((size_t)comm->size + 1, sizeof *at, "places of ranks");
    lat_stream_reader *r = lat_stream_begin(in, &f->head);
    int rc = lat_agree_on_first(comm, r && at ? 0 : -1);
    if (rc == 0)
        rc = read_own(r, f, at);
    if (rc == 0) {
        *largest = lat_stream_largest(r);
        rc = comm->max(comm, largest, 1);
    }
    free(at);
    if (lat_stream_end(r, rc == 0 && comm->rank == 0 ? &f->head : NULL))
        rc = -1;
    return lat_agree(comm, rc);
}

/* ---- writing --------------------------------------------------------------------------------- */

int lat_beside_output(lat_output *out, const lat_header *head, int store, bool *beside)
{
    const lat_comm *comm = lat_output_comm(out);
    const int slices = lat_slices(head);
    const size_t least = lat_header_bytes(head) / (size_t)slices * (size_t)(slices / comm->size);
    *beside = comm->rank == 0 && lat_output_is_hidden(out) && least >= LAT_STREAM_BLOCK
              && (lat_shared_none(comm)
                  || (!lat_blocks_compressed(out, head, store) && lat_output_mapped(out)));
    if (lat_output_everywhere(out, beside))
        return -1;
    if (*beside)
        lat_verbose("%s: each rank writes its slices", lat_output_name(out));
    return 0;
}

/* The bytes of a block that begins in the slices of the rank before, to it; of the last block that
 * begins here those that the next rank has, from it, into the partial block. `from`, `end`: blocks
 * that begin here. */
static int complete_blocks(lat_pipeline *p, const lat_comm *comm, size_t from, size_t end)
{
    const size_t before = from * p->block_bytes - p->begin, behind = p->end % p->block_bytes;
    if (before) {
        lat_block_init(p, &p->partial, from - 1);
        lat_blocks_fill_partial(p, from - 1);
        if (comm->send(comm, comm->rank - 1, p->partial.plain + p->begin % p->block_bytes, before))
            return -1;
    }
    if (p->end == p->bytes || !behind)
        return 0;
    lat_blocks_fill_partial(p, end - 1);
    return comm->receive(comm, comm->rank + 1, p->partial.plain + behind, p->partial.raw - behind);
}

/* Space in the output for `stored` bytes of this rank, behind those of the ranks before: *at. */
static int reserve(const lat_comm *comm, lat_output *out, uint64_t stored, uint64_t *at)
{
    counted *all = count(comm, (counted){.stored = stored});
    uint64_t before = 0, sum = 0, first = 0;
    int rc = all ? 0 : -1;
    for (int r = 0; r < comm->size && rc == 0; r++) {
        before += r < comm->rank ? all[r].stored : 0;
        sum += all[r].stored;
    }
    if (rc == 0 && comm->rank == 0 && !lat_output_reserve(out, sum, &first))
        rc = lat_output_flush(out) ? -1 : lat_fail("%s: cannot be written", lat_output_name(out));
    free(all);
    rc = lat_agree_on_first(comm, rc);
    *at = before;
    if (rc == 0 && (rc = comm->broadcast(comm, &first, sizeof first, 0)) == 0)
        *at += first;
    return rc;
}

/* Blocks that are not compressed, each to its place. */
static int write_plain(lat_stream_writer *w, const lat_comm *comm, size_t from, size_t end)
{
    lat_pipeline *p = &w->p;
    const uint64_t here = lat_blocks_plain(p, from);
    uint64_t at;
    if (reserve(comm, w->out, lat_blocks_plain(p, end) - here, &at))
        return -1;
    p->output_at = at - here;
    return lat_blocks_write(w, from, end);
}

/* Compressed ones: into memory, and from there to the output. */
static int write_packed(lat_stream_writer *w, const lat_comm *comm, size_t from, size_t end)
{
    enum { PIECE = 1 << 23 };
    lat_pipeline *p = &w->p;
    uint64_t at;
    p->kept = lat_alloc(end - from, LAT_FRAME + lat_payload_bound(p->block_bytes),
                        "compressed blocks");
    int rc = p->kept ? lat_blocks_write(w, from, end) : -1;
    rc = lat_agree_on_first(comm, rc);
    if (rc == 0 && (rc = reserve(comm, w->out, p->kept_bytes, &at)) == 0) {
        const size_t n = p->kept_bytes;
#pragma omp parallel for num_threads(p->threads)
        for (size_t i = 0; i < n; i += PIECE)
            lat_output_write_at(w->out, at + i, p->kept + i, n - i < PIECE ? n - i : PIECE);
    }
    free(p->kept);
    p->kept = NULL;
    return rc;
}

static int write_own(lat_stream_writer *w, const lat_field *f)
{
    lat_pipeline *p = &w->p;
    const lat_comm *comm = f->comm;
    const lat_slab slab = lat_field_slab(f);
    p->data = f->data;
    p->begin = bytes_before(p, slab.first);
    p->end = bytes_before(p, slab.first + slab.count);
    const size_t from = (p->begin + p->block_bytes - 1) / p->block_bytes,
                 end = (p->end + p->block_bytes - 1) / p->block_bytes;
    if (lat_agree_on_first(comm, complete_blocks(p, comm, from, end)))
        return -1;
    int rc = (p->compressed ? write_packed : write_plain)(w, comm, from, end);
    if (rc == 0 && comm->rank > 0)
        rc = lat_output_settle(w->out);
    return lat_agree_on_first(comm, rc) ? -1 : join(comm, p, from, end);
}

int lat_beside_write(lat_output *out, const lat_field *f, int store)
{
    const lat_comm *comm = f->comm;
    lat_stream_writer *w = lat_stream_open(out, &f->head, store);
    int rc = lat_agree_on_first(comm, w ? 0 : -1);
    if (rc == 0)
        rc = write_own(w, f);
    if (rc || comm->rank > 0) {
        lat_stream_abort(w);
    } else {
        w->offset = w->p.bytes;
        rc = lat_stream_close(w);
    }
    return lat_agree(comm, rc);
}
