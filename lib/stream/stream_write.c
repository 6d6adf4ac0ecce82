/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_write.c: writes header, blocks and trailer of a field by slices, and the end mark,
 * docs/format.md. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "codec.h"
#include "comm/comm.h"
#include "common/options.h"
#include "lattice/slices.h"
#include "stream_blocks_internal.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Numbers of spinors are noise, of which compression saves an eighth; sources are mostly zeros. */
bool lat_blocks_compressed(const lat_output *out, const lat_header *head, int store)
{
    return store == LAT_STORE_AUTO
               ? lat_output_is_file(out) && (!lat_header_spinors(head) || lat_header_source(head))
               : store != LAT_STORE_RAW;
}

/* The block's head, in front of a payload whose CRC that is. */
static void make_head(lat_block *b, uint32_t payload)
{
    lat_stream_frame(b->head, LAT_BLOCK_TAG, (uint32_t)b->stored, (uint32_t)b->raw);
    lat_store_le32(b->head + 12, lat_crc_join(lat_load_le32(b->head + 12), payload, b->stored));
}

/* A job. Raw bytes of the partial block are in `plain` already. */
static void encode(void *pipeline, void *block)
{
    const lat_pipeline *p = pipeline;
    lat_block *b = block;
    const bool partial = b == &p->partial;
    unsigned char *raw = b->given                ? (unsigned char *)b->given
                         : p->direct && !partial ? lat_block_memory(p, b)
                                                 : b->plain;
    lat_real real = p->head->real;
    if (!p->direct && !partial)
        lat_block_gather(p, b);
    if (!lat_block_finite(p, b, raw))
        return;
    b->payload = raw;
    b->stored = b->raw;
    if (p->compressed) { /* before swapping: the filter takes our byte order */
        b->stored = lat_codec_pack(raw, b->raw, lat_pipeline_codec_real(p), lat_pipeline_work(p),
                                   b->packed);
        b->payload = b->packed;
        if (b->stored == 0) {
            b->error = "could not be compressed";
            return;
        }
    }
    if (p->swapped)
        lat_reals_swap_bytes(raw, raw, b->raw / (size_t)real, real);
    b->crc = lat_crc(0, raw, b->raw);
    make_head(b, p->compressed ? lat_crc(0, b->payload, b->stored) : b->crc);
}

static void keep_block(lat_pipeline *p, const lat_block *b)
{
    unsigned char *to = p->kept + p->kept_bytes;
    memcpy(to, b->head, LAT_FRAME);
    memcpy(to + LAT_FRAME, b->payload, b->stored);
    p->kept_bytes += LAT_FRAME + b->stored;
}

/* Writes the block, or reserves bytes for it: then b->output_at is not 0, and write_reserved
 * follows. */
static int write_block(lat_output *out, lat_pipeline *p, lat_block *b)
{
    b->output_at = p->output_at ? p->output_at + lat_blocks_plain(p, b->offset / p->block_bytes)
                                : 0;
    if (lat_pipeline_verify_block(p, b) < 0)
        return -1;
    if (p->kept)
        keep_block(p, b);
    if (p->kept || p->output_at)
        return 0;
    if (lat_output_reserve_mapped(out, LAT_FRAME + b->stored, &b->output_at))
        return 0;
    b->output_at = 0;
    return lat_rc(lat_output_write(out, b->head, LAT_FRAME)
                  || lat_output_write(out, b->payload, b->stored));
}

/* A job. */
static void write_reserved(void *output, void *block)
{
    lat_output *out = output;
    const lat_block *b = block;
    lat_output_write_at(out, b->output_at, b->head, LAT_FRAME);
    lat_output_write_at(out, b->output_at + LAT_FRAME, b->payload, b->stored);
}

/* Where raw bytes come from; NULL: p->data has them. */
typedef struct source {
    lat_stream_bytes *bytes;
    void *with;
    size_t held;
} source;

/* Block i begins. 0, or -1 if its bytes do not come. */
static int begin_block(lat_pipeline *p, lat_block *b, size_t i, const source *s)
{
    if (b != &p->partial)
        lat_block_init(p, b, i);
    if (!s)
        return 0;
    const size_t end = b->offset + p->block_bytes, done = end > s->held ? end - s->held : 0;
    b->given = s->bytes(s->with, b->offset, b->raw, done);
    return b->given ? 0 : -1;
}

/* Writes blocks number `from` up to `end`: while one is written, those after it are encoded, and
 * those before it copied to where they belong, where the output is mapped. */
static int write_blocks(lat_output *out, lat_pipeline *p, size_t from, size_t end, const source *s,
                        lat_jobs *jobs)
{
    /* Block i is written when block i + delay is under way; a third of the ring may be copied. */
    const size_t delay = p->ring_size - (p->ring_size + 2) / 3;
    int rc = 0;
    for (size_t i = from; rc == 0 && i < end + delay; i++) {
        if (i < end) {
            lat_block *b = lat_pipeline_block(p, i);
            lat_jobs_wait(jobs, &b->job); /* of the block before it in its place */
            if (begin_block(p, b, i, s))
                return -1;
            lat_jobs_give(jobs, &b->job, encode, p, b);
        }
        if (i >= from + delay) {
            lat_block *b = lat_pipeline_block(p, i - delay);
            lat_jobs_wait(jobs, &b->job);
            rc = write_block(out, p, b);
            if (rc == 0 && b->output_at)
                lat_jobs_give(jobs, &b->job, write_reserved, out, b);
        }
    }
    return rc;
}

/* The same, by a team. */
static int write_by_all(lat_output *out, lat_pipeline *p, size_t from, size_t end, const source *s)
{
    lat_jobs jobs = LAT_JOBS;
    int rc = 0;
#pragma omp parallel if (end - from > 1) num_threads(p->threads)
    if (lat_jobs_enter(&jobs)) {
        rc = write_blocks(out, p, from, end, s, &jobs);
        lat_jobs_end(&jobs);
    }
    return rc;
}

static int write_trailer(lat_output *out, const lat_pipeline *p)
{
    unsigned char t[LAT_FRAME];
    lat_stream_frame(t, LAT_TRAILER_TAG, (uint32_t)p->blocks, p->crc);
    return lat_output_write(out, t, LAT_FRAME);
}

/* ---- slices ---------------------------------------------------------------------------------- */

lat_stream_writer *lat_stream_open(lat_output *out, const lat_header *head, int store)
{
    const bool compressed = lat_blocks_compressed(out, head, store);
    if (lat_header_check(head, lat_output_name(out)) < 0)
        return NULL;
    lat_stream_writer *w = lat_alloc(1, sizeof *w, "a stream");
    if (!w)
        return NULL;
    *w = (lat_stream_writer){.out = out,
                             .head_at = lat_output_offset(out),
                             .p = {.head = head,
                                   .name = lat_output_name(out),
                                   .block_bytes = LAT_STREAM_BLOCK,
                                   .order = head->order,
                                   .compressed = compressed,
                                   .filtered = compressed,
                                   .swapped = lat_big_endian()}};
    const int rc = lat_rc(lat_pipeline_init(&w->p) < 0
                          || lat_stream_write_head(out, head, LAT_STREAM_BLOCK, compressed));
    w->field_at = lat_output_offset(out);
    if (rc == 0)
        return w;
    lat_stream_abort(w);
    return NULL;
}

int lat_stream_rewrite_head(lat_stream_writer *w)
{
    const uint64_t end = lat_output_offset(w->out);
    if (lat_output_seek(w->out, w->head_at, false) < 0
        || lat_stream_write_head(w->out, w->p.head, LAT_STREAM_BLOCK, w->p.compressed) < 0)
        return -1;
    return lat_output_offset(w->out) != w->field_at ? 1 : lat_output_seek(w->out, end, false);
}

int lat_blocks_write(lat_stream_writer *w, size_t from, size_t end)
{
    return write_by_all(w->out, &w->p, from, end, NULL);
}

void lat_blocks_fill_partial(lat_pipeline *p, size_t i)
{
    if (i * p->block_bytes >= p->begin)
        lat_block_init(p, &p->partial, i);
    lat_block_gather(p, &p->partial);
}

int lat_stream_put(lat_stream_writer *w, const void *slices, int count)
{
    lat_pipeline *p = &w->p;
    const size_t slice = p->bytes / (size_t)lat_slices(p->head);
    p->data = (unsigned char *)slices; /* read only, unless bytes are swapped in place */
    p->begin = w->offset;
    p->end = w->offset + (size_t)count * slice;
    if (count < 1 || p->end > p->bytes)
        return lat_fail("%s: expected %zu bytes in all, got more", p->name, p->bytes);
    if (p->end - p->begin < p->bytes && !lat_order_sliced(&p->order, p->head->geom.nd))
        return lat_fail("%s: an order that goes across slices was to be written by slices",
                        p->name);
    const size_t first = p->begin / p->block_bytes,
                 end = p->end == p->bytes ? p->blocks : p->end / p->block_bytes;
    int rc = 0;
    w->offset = p->end;
    if (first * p->block_bytes < p->begin)
        lat_blocks_fill_partial(p, first);
    if (first < end)
        rc = lat_blocks_write(w, first, end);
    if (rc == 0 && end * p->block_bytes < p->end
        && (end > first || first * p->block_bytes == p->begin))
        lat_blocks_fill_partial(p, end);
    return rc;
}

/* A block is given back when the next one in its place is begun. */
size_t lat_stream_held(const lat_stream_writer *w) { return w->p.ring_size * w->p.block_bytes; }

int lat_stream_put_from(lat_stream_writer *w, lat_stream_bytes *bytes, void *with)
{
    lat_pipeline *p = &w->p;
    const source s = {bytes, with, lat_stream_held(w)};
    if (!p->direct || w->offset)
        return lat_fail("%s: expected a whole field in natural order with all reals", p->name);
    p->begin = 0;
    p->end = w->offset = p->bytes;
    return write_by_all(w->out, p, 0, p->blocks, &s);
}

void lat_stream_abort(lat_stream_writer *w)
{
    if (!w)
        return;
    lat_pipeline_free(&w->p);
    free(w);
}

unsigned *lat_stream_written(lat_output *out) { return lat_output_attach(out, sizeof(unsigned)); }

int lat_stream_close(lat_stream_writer *w)
{
    unsigned *fields = lat_stream_written(w->out);
    int rc = fields ? 0 : -1;
    if (rc == 0 && w->offset < w->p.bytes)
        rc = lat_fail("%s: expected %zu bytes of a field, got %zu", w->p.name, w->p.bytes,
                      w->offset);
    if (rc == 0)
        rc = write_trailer(w->out, &w->p);
    if (rc == 0) {
        ++*fields;
        rc = lat_output_flush(w->out);
    }
    lat_stream_abort(w);
    return rc;
}

/* ---- the end --------------------------------------------------------------------------------- */

int lat_stream_commit(lat_output *out)
{
    unsigned char mark[LAT_FRAME];
    const lat_comm *comm = lat_output_comm(out);
    const unsigned *fields = lat_stream_written(out);
    int rc = fields ? 0 : -1;
    if (rc == 0 && comm->barrier(comm)) /* no rank has failed so far */
        rc = -1;
    if (rc == 0 && *fields) {
        lat_stream_frame(mark, LAT_END_TAG, *fields, 0);
        rc = lat_output_write(out, mark, LAT_FRAME);
    }
    if (rc == 0)
        rc = lat_output_commit(out);
    else
        lat_output_abort(out);
    return lat_agree(comm, rc);
}
