/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_read.c: reads blocks and trailer of a field, by slices or from a pipeline of the caller,
 * docs/format.md. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "codec.h"
#include "lattice/slices.h"
#include "stream_blocks_internal.h"
#include "stream_reduced_internal.h"

#define TRUSTED ((size_t)1 << 26) /* bytes allocated because a header claims them */

/* ---- one block ------------------------------------------------------------------------------- */

/* Unpacks the payload to raw bytes in the order of the stream, and sets b->crc. NULL if damaged. */
static unsigned char *decode_raw(const lat_pipeline *p, lat_block *b)
{
    uint32_t crc = lat_crc(0, b->head, 12), stored = lat_crc(0, b->payload, b->stored);
    if (lat_crc_join(crc, stored, b->stored) != lat_load_le32(b->head + 12)) {
        b->error = "has a wrong checksum (damaged?)";
        return NULL;
    }
    b->crc = stored;
    if (!p->compressed)
        return b->payload;
    unsigned char *raw = p->direct && b != &p->partial ? lat_block_memory(p, b) : b->plain;
    if (lat_codec_unpack(b->payload, b->stored, lat_pipeline_codec_real(p), lat_pipeline_work(p),
                         raw, b->raw)
        < 0) {
        b->error = "does not unpack to its length (damaged?)";
        return NULL;
    }
    if (p->swapped && p->filtered) /* the filter has left the byte order of this machine */
        lat_reals_swap_bytes(raw, raw, b->raw / (size_t)p->head->real, p->head->real);
    b->crc = lat_crc(0, raw, b->raw);
    return raw;
}

/* A job; b->error says what is wrong. */
static void decode(void *pipeline, void *block)
{
    const lat_pipeline *p = pipeline;
    lat_block *b = block;
    unsigned char *raw = decode_raw(p, b);
    if (!raw)
        return;
    if (p->swapped)
        lat_reals_swap_bytes(raw, raw, b->raw / (size_t)p->head->real, p->head->real);
    if (lat_block_finite(p, b, raw) && !p->direct && b != &p->partial)
        lat_block_scatter(p, b);
}

/* Compares the head of block i with what the header of the field says. */
static int check_head(const lat_pipeline *p, const lat_block *b, size_t i)
{
    size_t stored = lat_load_le32(b->head + 4), raw = lat_load_le32(b->head + 8);
    if (memcmp(b->head, LAT_BLOCK_TAG, 4) != 0)
        return lat_fail("%s: expected block %zu of %zu, found something else (damaged?)", p->name,
                        i + 1, p->blocks);
    if (raw != b->raw
        || (p->compressed ? stored == 0 || stored > lat_payload_bound(raw) : stored != raw))
        return lat_fail(
            "%s: expected %zu bytes in block %zu of %zu, found %zu stored as %zu (damaged?)",
            p->name, b->raw, i + 1, p->blocks, raw, stored);
    return 0;
}

static unsigned char *payload_buffer(const lat_pipeline *p, const lat_block *b)
{
    return p->compressed                   ? b->packed
           : p->direct && b != &p->partial ? lat_block_memory(p, b)
                                           : b->plain;
}

/* The head of block i has been read: where its payload goes, and how long it is. */
static int take_head(const lat_pipeline *p, lat_block *b, size_t i)
{
    if (check_head(p, b, i) < 0)
        return -1;
    b->stored = lat_load_le32(b->head + 4);
    b->payload = payload_buffer(p, b);
    return 0;
}

static int read_block(lat_input *in, const lat_pipeline *p, lat_block *b, size_t i)
{
    lat_block_init(p, b, i);
    if (lat_input_read(in, b->head, LAT_FRAME) < 0 || take_head(p, b, i) < 0)
        return -1;
    return lat_input_read(in, b->payload, b->stored);
}

static const char cut[] = "is cut off";

/* A job: as decode, of a block in a regular file, whose payload is read by the thread: several of
 * them are several times as fast where the file is in the page cache (bench/history). */
static void fetch(void *pipeline, void *block)
{
    const lat_pipeline *p = pipeline;
    lat_block *b = block;
    if (lat_input_pread(p->in, b->input_at, b->payload, b->stored))
        decode(pipeline, block);
    else
        b->error = cut;
}

/* The file does not have what it should from `offset` on: reads n bytes as ever, to say so. */
static int say_cut(lat_input *in, uint64_t offset, void *to, size_t n)
{
    return lat_input_skip(in, offset - lat_input_offset(in)) < 0 || lat_input_read(in, to, n) < 0
               ? -1
               : lat_fail("%s: has changed while it was read", lat_input_name(in));
}

/* As read_block, of block i that begins at `offset` of a regular file, but for its payload. */
static int find_block(lat_input *in, const lat_pipeline *p, lat_block *b, size_t i, uint64_t offset)
{
    lat_block_init(p, b, i);
    if (!lat_input_pread(in, offset, b->head, LAT_FRAME))
        return say_cut(in, offset, b->head, LAT_FRAME);
    b->input_at = offset + LAT_FRAME;
    return take_head(p, b, i);
}

/* ---- all blocks ------------------------------------------------------------------------------ */

lat_pipeline lat_pipeline_of_input(const lat_input *in, const lat_header *head,
                                   const lat_stream_state *s)
{
    const size_t bytes = lat_header_bytes(head), block_bytes = s->form.block;
    return (lat_pipeline){.head = head,
                          .name = lat_input_name(in),
                          .bytes = bytes,
                          .block_bytes = block_bytes,
                          .blocks = (bytes + block_bytes - 1) / block_bytes,
                          .order = s->form.order,
                          .compressed = s->form.compressed,
                          .filtered = s->filtered,
                          .swapped = s->swapped};
}

int lat_blocks_check_size(const lat_input *in, const lat_pipeline *p, size_t *trusted)
{
    int64_t size = lat_input_size(in);
    uint64_t frames = LAT_FRAME * ((uint64_t)p->blocks + 1);
    uint64_t least = (p->compressed ? p->bytes / LAT_MAX_DEFLATE : p->bytes) + frames;
    *trusted = TRUSTED;
    if (size < 0)
        return 0;
    uint64_t left = (uint64_t)size > lat_input_offset(in) ? (uint64_t)size - lat_input_offset(in)
                                                          : 0;
    if (left < least)
        return lat_fail("%s: truncated: %llu bytes after the header, expected %llu%s", p->name,
                        (unsigned long long)left, (unsigned long long)least,
                        p->compressed ? " at least" : "");
    if (left > TRUSTED / 2)
        *trusted = 2 * (size_t)left;
    return 0;
}

/* While one block is read, or found, those before it are decoded. */
static int read_blocks(lat_input *in, lat_pipeline *p, size_t from, size_t end, lat_jobs *jobs)
{
    uint64_t offset = lat_input_offset(in);
    int rc = 0;
    for (size_t i = from; rc == 0 && i < end + p->ring_size; i++) {
        if (i >= from + p->ring_size) {
            lat_block *before = lat_pipeline_block(p, i - p->ring_size);
            lat_jobs_wait(jobs, &before->job);
            rc = before->error == cut
                     ? say_cut(in, before->input_at, before->payload, before->stored)
                     : lat_pipeline_verify_block(p, before);
        }
        if (rc == 0 && i < end) {
            lat_block *b = lat_pipeline_block(p, i);
            rc = p->in ? find_block(in, p, b, i, offset) : read_block(in, p, b, i);
            offset += LAT_FRAME + b->stored; /* before others change it */
            if (rc == 0)
                lat_jobs_give(jobs, &b->job, p->in ? fetch : decode, p, b);
        }
    }
    return rc == 0 && p->in ? lat_input_skip(in, offset - lat_input_offset(in)) : rc;
}

int lat_blocks_read(lat_input *in, lat_pipeline *p, size_t from, size_t end)
{
    int rc = 0;
    p->in = lat_input_size(in) >= 0 ? in : NULL;
    lat_jobs jobs = LAT_JOBS;
#pragma omp parallel if (end - from > 1) num_threads(p->threads)
    if (lat_jobs_enter(&jobs)) {
        rc = read_blocks(in, p, from, end, &jobs);
        lat_jobs_end(&jobs);
    }
    return rc;
}

int lat_blocks_find(lat_input *in, const lat_pipeline *p, size_t from, size_t to, uint64_t *at)
{
    if (!p->compressed) {
        *at += lat_blocks_plain(p, to) - lat_blocks_plain(p, from);
        return 0;
    }
    for (size_t i = from; i < to; i++) {
        lat_block b = {.packed = NULL};
        if (find_block(in, p, &b, i, *at))
            return -1;
        *at += LAT_FRAME + b.stored;
    }
    return 0;
}

/* ---- the trailer ----------------------------------------------------------------------------- */

/* Reads the trailer after `blocks` blocks, and the field's CRC from it. */
static int read_trailer(lat_input *in, size_t blocks, uint32_t *crc)
{
    unsigned char t[LAT_FRAME], expected[LAT_FRAME];
    if (lat_input_read(in, t, LAT_FRAME) < 0)
        return -1;
    lat_stream_frame(expected, LAT_TRAILER_TAG, (unsigned)blocks, lat_load_le32(t + 8));
    if (memcmp(t, expected, LAT_FRAME) != 0)
        return lat_fail("%s: expected the trailer of %zu blocks before byte %llu, found something "
                        "else (damaged?)",
                        lat_input_name(in), blocks, (unsigned long long)lat_input_offset(in));
    *crc = lat_load_le32(t + 8);
    return 0;
}

static void set_form(const lat_input *in, lat_stream_state *s, size_t blocks, uint32_t crc)
{
    s->form.blocks = (unsigned)blocks;
    s->form.stored = lat_input_offset(in) - s->begin;
    s->form.crc = crc;
}

int lat_blocks_finish(lat_input *in, lat_stream_state *s, const lat_pipeline *p, lat_header *head)
{
    uint32_t crc;
    if (read_trailer(in, p->blocks, &crc) < 0)
        return -1;
    if (crc != p->crc)
        return lat_fail("%s: checksum of the field %08x, expected %08x (damaged?)", p->name, p->crc,
                        crc);
    set_form(in, s, p->blocks, crc);
    snprintf(head->read_crc, sizeof head->read_crc, "%08x", (unsigned)crc);
    return 0;
}

int lat_stream_skip(lat_input *in, const lat_header *head)
{
    lat_stream_state *s = lat_stream_state_of(in);
    size_t trusted;
    uint32_t crc;
    if (!s)
        return -1;
    const lat_pipeline p = lat_pipeline_of_input(in, head, s);
    if (lat_blocks_check_size(in, &p, &trusted) < 0)
        return -1;
    for (size_t i = 0; i < p.blocks; i++) {
        lat_block b;
        lat_block_init(&p, &b, i);
        if (lat_input_read(in, b.head, LAT_FRAME) < 0 || check_head(&p, &b, i) < 0
            || lat_input_skip(in, lat_load_le32(b.head + 4)) < 0)
            return -1;
    }
    if (read_trailer(in, p.blocks, &crc) < 0)
        return -1;
    set_form(in, s, p.blocks, crc);
    return 1;
}

/* ---- slices ---------------------------------------------------------------------------------- */

lat_stream_reader *lat_stream_begin(lat_input *in, const lat_header *head)
{
    const lat_stream_state *s = lat_stream_state_of(in);
    size_t trusted;
    lat_stream_reader *r = s ? lat_alloc(1, sizeof *r, "a stream") : NULL;
    if (!r)
        return NULL;
    *r = (lat_stream_reader){.in = in, .p = lat_pipeline_of_input(in, head, s)};
    if (lat_blocks_check_size(in, &r->p, &trusted) == 0 && lat_pipeline_init(&r->p) == 0)
        return r;
    lat_pipeline_free(&r->p);
    free(r);
    return NULL;
}

int lat_stream_get_stored(lat_stream_reader *r, void *slices, int count)
{
    lat_pipeline *p = &r->p;
    const size_t slice = p->bytes / (size_t)lat_slices(p->head);
    p->data = slices;
    p->begin = r->offset;
    p->end = r->offset + (size_t)count * slice;
    if (count < 1 || p->end > p->bytes)
        return lat_fail("%s: has %d slices, and others were asked for", p->name,
                        lat_slices(p->head));
    if (p->end - p->begin < p->bytes && !lat_order_sliced(&p->order, p->head->geom.nd))
        return lat_fail("%s: is in an order that goes across slices, and cannot be read by slices",
                        p->name);
    const size_t end = (p->end + p->block_bytes - 1) / p->block_bytes;
    if (r->next * p->block_bytes > p->begin)
        lat_block_scatter(p, &p->partial);
    if (end > r->next) {
        if (lat_blocks_read(r->in, p, r->next, end) < 0)
            return -1;
        if (lat_pipeline_block(p, end - 1) == &p->partial)
            lat_block_scatter(p, &p->partial);
        r->next = end;
    }
    r->offset = p->end;
    return 0;
}

int lat_stream_get(lat_stream_reader *r, void *slices, int count)
{
    if (lat_stream_get_stored(r, slices, count) < 0)
        return -1;
    if (lat_reduced(r->p.head))
        lat_complete_all(r->p.head, slices, (size_t)count * lat_slice_matrices(r->p.head), 0, NULL);
    return 0;
}

double lat_stream_largest(const lat_stream_reader *r) { return lat_pipeline_largest(&r->p); }

int lat_stream_end(lat_stream_reader *r, lat_header *head)
{
    if (!r)
        return 0;
    lat_stream_state *s = lat_stream_state_of(r->in);
    int rc = s ? 0 : -1;
    if (rc == 0 && head && r->offset < r->p.bytes)
        rc = lat_fail("%s: %zu bytes of a field were read, expected %zu", r->p.name, r->offset,
                      r->p.bytes);
    if (rc == 0 && head)
        rc = lat_blocks_finish(r->in, s, &r->p, head);
    lat_pipeline_free(&r->p);
    free(r);
    return rc;
}

/* ---- plaquette and link trace ---------------------------------------------------------------- */

/* How far a plaquette or link trace, measured on what was read, may be from the header's.
 *
 * Let u be the rounding of the stored reals, 2^-24 or 2^-53. If the writer measured before it
 * rounded, a link with elements rounded to a relative u has moved by dU, |dU| <= u |U| = u sqrt N
 * in the Frobenius norm, and Re tr(dU S) / N <= |dU| |S| / N = u for the unitary product S of the
 * other links: 4 u for a plaquette of four links, u for the trace. Reals that were dropped are
 * products of rounded ones, with at most 3 u: |dU| <= sqrt(11/3) u |U|, less than twice as much.
 * Arithmetic in double precision adds a few rounding errors a plaquette (64 are allowed) and
 * those of a sum of n terms, at most n, typically sqrt n, for which one deviation is not enough
 * and 4 are allowed. Links larger than unitary ones scale all of it by the fourth power of
 * their size. */
static double tolerance(const lat_header *head, double largest)
{
    double u = head->real == LAT_F32 ? 0x1p-24 : 0x1p-53;
    double stored = (lat_reduced(head) ? 8 : 4) * u;
    double summed = (64 + 4 * sqrt((double)lat_header_matrices(head))) * DBL_EPSILON;
    double size = largest > 1 ? largest : 1;
    return (stored + summed) * size * size * size * size;
}

static int check_number(const char *name, const char *what, double said, double found, double bound)
{
    if (isnan(said) || fabs(said - found) <= bound)
        return 0;
    return lat_fail("%s: %s %.15g in the header, %.15g in the field, further apart than %.2g", name,
                    what, said, found, bound);
}

int lat_stream_verify(const lat_header *head, const char *name, double plaquette, double link_trace,
                      double largest)
{
    const double bound = tolerance(head, largest);
    return lat_rc(check_number(name, "plaquette", head->plaquette, plaquette, bound) < 0
                  || check_number(name, "link trace", head->link_trace, link_trace, bound) < 0);
}
