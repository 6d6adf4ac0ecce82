/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_read.c: blocks and trailer of a field into memory, verified, docs/format.md. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "codec.h"
#include "base/error.h"
#include "base/memory.h"
#include "measure/measure.h"
#include "lattice/slices.h"
#include "stream_blocks.h"
#include "stream_ranks.h"

#define BELIEVED ((size_t)1 << 26) /* bytes allocated on the word of a header alone */

/* Payload to raw bytes, in the order of the stream; sets j->crc. NULL if damaged. */
static unsigned char *decode_raw(const lat_pipeline *m, lat_job *j)
{
    uint32_t crc = lat_crc(0, j->head, 12), stored = lat_crc(0, j->payload, j->stored);
    if (lat_crc_join(crc, stored, j->stored) != lat_load_le32(j->head + 12)) {
        j->wrong = "has a wrong checksum (damaged?)";
        return NULL;
    }
    j->crc = stored;
    if (!m->compressed)
        return j->payload;
    unsigned char *raw = m->direct && j != &m->edge ? lat_job_home(m, j) : j->plain;
    if (lat_codec_unpack(j->payload, j->stored, lat_pipeline_real(m), j->work, raw, j->raw) < 0) {
        j->wrong = "does not unpack to its length (damaged?)";
        return NULL;
    }
    if (m->swapped && m->filtered) /* unfiltering has put it into our order */
        lat_reals_swap_bytes(raw, raw, j->raw / (size_t)m->head->real, m->head->real);
    j->crc = lat_crc(0, raw, j->raw);
    return raw;
}

static void decode(const lat_pipeline *m, lat_job *j)
{
    unsigned char *raw = decode_raw(m, j);
    if (!raw)
        return;
    if (m->swapped)
        lat_reals_swap_bytes(raw, raw, j->raw / (size_t)m->head->real, m->head->real);
    j->largest = lat_reals_largest(raw, j->raw / (size_t)m->head->real, m->head->real);
    if (j->largest >= lat_infinity_bits(m->head->real)) {
        j->wrong = "holds a number that is not finite";
        j->stored = lat_first_bad(raw, j->raw, m->head->real);
        return;
    }
    if (!m->direct && j != &m->edge)
        lat_job_spread(m, j, true);
}

/* Checks the head of block i against what must stand there. */
static int check_frame(const lat_pipeline *m, const lat_job *j, size_t i)
{
    size_t stored = lat_load_le32(j->head + 4), raw = lat_load_le32(j->head + 8);
    if (memcmp(j->head, LAT_BLOCK_TAG, 4) != 0)
        return lat_fail("%s: expected block %zu of %zu, found something else (damaged?)", m->name,
                        i + 1, m->blocks);
    if (raw != j->raw
        || (m->compressed ? stored == 0 || stored > lat_payload_bound(raw) : stored != raw))
        return lat_fail(
            "%s: expected %zu bytes in block %zu of %zu, found %zu stored as %zu (damaged?)",
            m->name, j->raw, i + 1, m->blocks, raw, stored);
    return 0;
}

/* Where the payload of a block goes. */
static unsigned char *payload_of(const lat_pipeline *m, const lat_job *j)
{
    return m->compressed ? j->packed : m->direct && j != &m->edge ? lat_job_home(m, j) : j->plain;
}

static int read_job(lat_input *in, const lat_pipeline *m, lat_job *j, size_t i)
{
    lat_job_place(m, j, i);
    if (lat_input_read(in, j->head, LAT_FRAME) < 0 || check_frame(m, j, i) < 0)
        return -1;
    j->stored = lat_load_le32(j->head + 4);
    j->payload = payload_of(m, j);
    return lat_input_read(in, j->payload, j->stored);
}

/* The same of a file in which block i, stored as it is, begins at `offset`, by any thread. False if
 * something is not as it should be. */
static bool fetch_job(const lat_input *in, const lat_pipeline *m, lat_job *j, size_t i,
                      uint64_t offset)
{
    lat_job_place(m, j, i);
    j->stored = j->raw;
    j->payload = payload_of(m, j);
    return lat_input_ahead(in, offset, j->head, LAT_FRAME) && memcmp(j->head, LAT_BLOCK_TAG, 4) == 0
           && lat_load_le32(j->head + 4) == j->stored && lat_load_le32(j->head + 8) == j->raw
           && lat_input_ahead(in, offset + LAT_FRAME, j->payload, j->stored);
}

/* A regular file must be long enough for what its header claims (deflate saves 1032 to 1 at
 * most), and is worth memory in proportion to its own size. */
static int check_size(const lat_input *in, const lat_pipeline *m, size_t *believed)
{
    int64_t size = lat_input_size(in);
    uint64_t frames = LAT_FRAME * ((uint64_t)m->blocks + 1);
    uint64_t least = (m->compressed ? m->bytes / 1100 : m->bytes) + frames;
    *believed = BELIEVED;
    if (size < 0)
        return 0;
    uint64_t left = (uint64_t)size > lat_input_offset(in) ? (uint64_t)size - lat_input_offset(in)
                                                          : 0;
    if (left < least)
        return lat_fail("%s: truncated: %llu bytes after the header, expected %llu%s", m->name,
                        (unsigned long long)left, (unsigned long long)least,
                        m->compressed ? " at least" : "");
    if (left > BELIEVED / 2)
        *believed = 2 * (size_t)left;
    return 0;
}

/* Blocks number `from` up to `end`: while one is read, those before it are decoded. Run by the
 * first thread of a team; a task without delay waits for what was done to its job before. */
static int read_blocks(lat_input *in, lat_pipeline *m, size_t from, size_t end)
{
    int rc = 0;
    for (size_t i = from; rc == 0 && i < end; i++) {
        lat_job *j = lat_pipeline_block(m, i);
        if (i - from >= m->width) {
            lat_job *before = lat_pipeline_block(m, i - m->width);
#pragma omp task depend(inout : before[0]) if (0) shared(rc)
            rc = lat_pipeline_finish(m, before);
        }
        if (rc == 0 && (rc = read_job(in, m, j, i)) == 0) {
#pragma omp task depend(inout : j[0]) firstprivate(j)
            decode(m, j);
        }
    }
#pragma omp taskwait
    for (size_t i = end - from > m->width ? end - m->width : from; rc == 0 && i < end; i++)
        rc = lat_pipeline_finish(m, lat_pipeline_block(m, i));
    return rc;
}

/* Of a file whose blocks are stored as they are it is known where each of them is: threads read
 * them side by side, which is several times as fast from memory (bench/NOTES.md). How far it went:
 * up to `end`, or to where something is wrong, for read_blocks to say what; SIZE_MAX after a
 * failure. */
static size_t read_aside(lat_input *in, lat_pipeline *m, size_t from, size_t end)
{
    for (size_t next; from < end; from = next) {
        const uint64_t at = lat_input_offset(in), step = LAT_FRAME + m->block;
        uint64_t taken = 0;
        bool good = true;
        next = end - from < m->width ? end : from + m->width;
#pragma omp parallel for schedule(dynamic) reduction(&& : good)
        for (size_t i = from; i < next; i++) {
            lat_job *j = lat_pipeline_block(m, i);
            if (fetch_job(in, m, j, i, at + (i - from) * step))
                decode(m, j);
            else
                good = false;
        }
        if (!good)
            break;
        for (size_t i = from; i < next; i++) {
            const lat_job *j = lat_pipeline_block(m, i);
            taken += LAT_FRAME + j->raw;
            if (lat_pipeline_finish(m, j) < 0)
                return SIZE_MAX;
        }
        if (lat_input_skip(in, taken) < 0)
            return SIZE_MAX;
    }
    return from;
}

static int read_many(lat_input *in, lat_pipeline *m, size_t from, size_t end)
{
    int rc = 0;
    if (!m->compressed && lat_input_size(in) >= 0 && (from = read_aside(in, m, from, end)) >= end)
        return from == end ? 0 : -1;
#pragma omp parallel if (end - from > 1)
#pragma omp master
    rc = read_blocks(in, m, from, end);
    return rc;
}

/* The trailer after `blocks` blocks; puts the field's CRC into *crc. */
static int read_trailer(lat_input *in, size_t blocks, uint32_t *crc)
{
    unsigned char t[LAT_FRAME];
    if (lat_input_read(in, t, LAT_FRAME) < 0)
        return -1;
    if (memcmp(t, LAT_TRAILER_TAG, 4) != 0 || lat_load_le32(t + 12) != lat_crc(0, t, 12)
        || lat_load_le32(t + 4) != blocks)
        return lat_fail("%s: expected the trailer of %zu blocks before byte %llu, found something "
                        "else (damaged?)",
                        lat_input_name(in), blocks, (unsigned long long)lat_input_offset(in));
    *crc = lat_load_le32(t + 8);
    return 0;
}

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
    return check_number(name, "plaquette", head->plaquette, plaquette, bound) < 0
                   || check_number(name, "link trace", head->link_trace, link_trace, bound) < 0
               ? -1
               : 0;
}

static int check_physics(const lat_field *f, const char *name, double largest)
{
    double plaquette, link_trace;
    if (isnan(f->head.plaquette) && isnan(f->head.link_trace))
        return 0;
    return lat_measure_plaquette(f, &plaquette, &link_trace) < 0
               ? -1
               : lat_stream_verify(&f->head, name, plaquette, link_trace, largest);
}

static double bits_value(uint64_t bits, lat_real real)
{
    if (real == LAT_F64) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    uint32_t low = (uint32_t)bits;
    float s;
    memcpy(&s, &low, sizeof s);
    return (double)s;
}

static void note_end(const lat_input *in, lat_stream_state *s, size_t blocks, uint32_t crc)
{
    s->form.blocks = (unsigned)blocks;
    s->form.stored = lat_input_offset(in) - s->begin;
    s->form.crc = crc;
}

static lat_pipeline mill_of(const lat_input *in, const lat_header *head, const lat_stream_state *s)
{
    const size_t bytes = lat_header_bytes(head), block = s->form.block;
    return (lat_pipeline){.head = head,
                          .name = lat_input_name(in),
                          .bytes = bytes,
                          .block = block,
                          .blocks = (bytes + block - 1) / block,
                          .order = s->form.order,
                          .compressed = s->form.compressed,
                          .filtered = s->filtered,
                          .swapped = s->swapped};
}

/* Trailer and CRC after the last block. */
static int finish(lat_input *in, lat_stream_state *s, const lat_pipeline *m, lat_header *head)
{
    uint32_t crc;
    if (read_trailer(in, m->blocks, &crc) < 0)
        return -1;
    if (crc != m->crc)
        return lat_fail("%s: checksum of the field %08x, expected %08x (damaged?)", m->name, m->crc,
                        crc);
    note_end(in, s, m->blocks, crc);
    snprintf(head->read_crc, sizeof head->read_crc, "%08x", (unsigned)crc);
    return 0;
}

/* ---- slices ---------------------------------------------------------------------------------- */

struct lat_stream_reader {
    lat_input *in;
    lat_pipeline m;
    size_t at;   /* raw bytes that were given away */
    size_t next; /* the first block that was not read; the one before may be in m.edge */
};

lat_stream_reader *lat_stream_begin(lat_input *in, const lat_header *head)
{
    const lat_stream_state *s = lat_stream_state_of(in);
    size_t believed;
    lat_stream_reader *r = s ? lat_alloc(1, sizeof *r, "a stream") : NULL;
    if (!r)
        return NULL;
    *r = (lat_stream_reader){.in = in, .m = mill_of(in, head, s)};
    if (check_size(in, &r->m, &believed) == 0 && lat_pipeline_start(&r->m) == 0)
        return r;
    lat_pipeline_free(&r->m);
    free(r);
    return NULL;
}

int lat_stream_get_stored(lat_stream_reader *r, void *slices, int count)
{
    lat_pipeline *m = &r->m;
    const size_t slice = m->bytes / (size_t)lat_slices(m->head);
    m->data = slices;
    m->lo = r->at;
    m->hi = r->at + (size_t)count * slice;
    if (count < 1 || m->hi > m->bytes)
        return lat_fail("%s: has %d slices, and others were asked for", m->name,
                        lat_slices(m->head));
    if (m->hi - m->lo < m->bytes && !lat_order_sliced(&m->order, m->head->geom.nd))
        return lat_fail("%s: is in an order that goes across slices, and cannot be read by slices",
                        m->name);
    const size_t end = (m->hi + m->block - 1) / m->block;
    if (r->next * m->block > m->lo)
        lat_job_spread(m, &m->edge, true);
    if (end > r->next) {
        if (read_many(r->in, m, r->next, end) < 0)
            return -1;
        if (lat_pipeline_block(m, end - 1) == &m->edge)
            lat_job_spread(m, &m->edge, true);
        r->next = end;
    }
    r->at = m->hi;
    return 0;
}

int lat_stream_get(lat_stream_reader *r, void *slices, int count)
{
    if (lat_stream_get_stored(r, slices, count) < 0)
        return -1;
    if (lat_reduced(r->m.head))
        lat_complete_all(r->m.head, slices, (size_t)count * lat_slice_matrices(r->m.head), 0, NULL);
    return 0;
}

double lat_stream_largest(const lat_stream_reader *r)
{
    return bits_value(r->m.largest, r->m.head->real);
}

int lat_stream_end(lat_stream_reader *r, lat_header *head)
{
    if (!r)
        return 0;
    lat_stream_state *s = lat_stream_state_of(r->in);
    int rc = s ? 0 : -1;
    if (rc == 0 && head && r->at < r->m.bytes)
        rc = lat_fail("%s: %zu bytes of a field were read, expected %zu", r->m.name, r->at,
                      r->m.bytes);
    if (rc == 0 && head)
        rc = finish(r->in, s, &r->m, head);
    lat_pipeline_free(&r->m);
    free(r);
    return rc;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Bytes of the field in memory that the first `raw` bytes of the stream need. */
static size_t memory_of(const lat_pipeline *m, size_t raw)
{
    const lat_header *head = m->head;
    raw = lat_order_natural(&m->order) ? raw : m->bytes; /* the next matrix may belong anywhere */
    size_t each = (size_t)head->reals * (size_t)head->real;
    return (raw + each - 1) / each * lat_full_reals(head) * (size_t)head->real;
}

/* In another order than the natural one matrices are all over the field. Their pages come one by
 * one, not by the two megabytes: what is taken stays in proportion to what has arrived. */
static void take_slowly(void *data, size_t n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
                    from = ((uintptr_t)data + page - 1) / page * page;
    if ((uintptr_t)data + n > from)
        (void)madvise((void *)from, (uintptr_t)data + n - from,
                      MADV_NOHUGEPAGE); /* advice, no more */
}

/* Such a field is taken as a whole at once: on a pipe a 16th of the least that it can be has to
 * have come. */
static int check_arrival(lat_input *in, const lat_pipeline *m)
{
    const uint64_t ask = (m->compressed ? m->bytes / 1100 : m->bytes) / 16;
    uint64_t there = ask;
    if (lat_input_size(in) < 0 && !lat_order_natural(&m->order)
        && lat_input_arrived(in, ask, &there) < 0)
        return -1;
    return there < ask ? lat_fail("%s: truncated: %llu bytes after the header, expected %zu",
                                  m->name, (unsigned long long)there, m->bytes)
                       : 0;
}

/* Memory for the first `raw` bytes at least. What a header claims is allocated at once only where
 * it is no burden; more than that must have been on its way (a factor of four at a time), so that
 * a few lying bytes on a pipe cannot take a machine down. */
static int make_room(lat_pipeline *m, size_t raw, size_t believed, size_t *has)
{
    size_t all = memory_of(m, m->bytes), need = memory_of(m, raw);
    size_t room = *has > believed / 4 ? 4 * *has : believed;
    room = room < need ? need : room;
    room = room > all ? all : room;
    void *data = lat_alloc(room, 1, "a field");
    if (!data)
        return -1;
    if (room > believed && !lat_order_natural(&m->order))
        take_slowly(data, room);
    if (*has)
        memcpy(data, m->data, *has);
    free(m->data);
    m->data = data;
    *has = room;
    return 0;
}

/* Blocks and trailer into memory that grows with them. */
static int read_field(lat_input *in, lat_stream_state *s, lat_pipeline *m, lat_header *head)
{
    size_t believed, room = 0;
    if (check_size(in, m, &believed) < 0 || check_arrival(in, m) < 0
        || lat_pipeline_start(m) < 0) /* no memory for what a file cannot hold */
        return -1;
    m->hi = m->bytes;
    for (size_t done = 0, end; done < m->blocks; done = end) {
        if (make_room(m, (done + 1) * m->block < m->bytes ? (done + 1) * m->block : m->bytes,
                      believed, &room)
            < 0)
            return -1;
        for (end = done + 1; end < m->blocks && memory_of(m, (end + 1) * m->block) <= room;)
            end++;
        if (room == memory_of(m, m->bytes))
            end = m->blocks;
        if (read_many(in, m, done, end) < 0)
            return -1;
    }
    if (finish(in, s, m, head) < 0)
        return -1;
    if (lat_reduced(head))
        lat_complete_all(head, m->data, lat_header_matrices(head), 0, NULL);
    return check_physics(&(lat_field){.head = *head, .data = m->data}, m->name,
                         bits_value(m->largest, head->real));
}

static int body_of_ranks(lat_input *in, lat_field *f)
{
    double largest;
    if (lat_ranks_read(in, f, &largest) == 0 && check_physics(f, lat_input_name(in), largest) == 0)
        return 1;
    free(f->data);
    f->data = NULL;
    return -1;
}

int lat_stream_body(lat_input *in, lat_field *f)
{
    lat_stream_state *s = lat_stream_state_of(in);
    f->data = NULL;
    if (!s)
        return -1;
    f->comm = NULL;
    if (lat_comm_world->size > 1)
        return body_of_ranks(in, f);
    lat_pipeline m = mill_of(in, &f->head, s);
    int rc = read_field(in, s, &m, &f->head);
    lat_pipeline_free(&m);
    if (rc < 0) {
        free(m.data);
        return -1;
    }
    f->data = m.data;
    return 1;
}

int lat_stream_skip(lat_input *in, const lat_header *head)
{
    lat_stream_state *s = lat_stream_state_of(in);
    size_t believed;
    uint32_t crc;
    if (!s)
        return -1;
    lat_pipeline m = mill_of(in, head, s);
    if (check_size(in, &m, &believed) < 0)
        return -1;
    for (size_t i = 0; i < m.blocks; i++) {
        lat_job j;
        lat_job_place(&m, &j, i);
        if (lat_input_read(in, j.head, LAT_FRAME) < 0 || check_frame(&m, &j, i) < 0
            || lat_input_skip(in, lat_load_le32(j.head + 4)) < 0)
            return -1;
    }
    if (read_trailer(in, m.blocks, &crc) < 0)
        return -1;
    note_end(in, s, m.blocks, crc);
    return 1;
}

int lat_stream_read(lat_input *in, lat_field *f)
{
    f->data = NULL;
    int rc = lat_stream_head(in, &f->head);
    if (rc > 0)
        rc = lat_stream_body(in, f);
    if (rc <= 0)
        lat_field_free(f);
    return rc;
}
