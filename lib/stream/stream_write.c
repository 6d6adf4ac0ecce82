/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_write.c: a field as header, blocks and trailer, and the end mark, docs/format.md. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "codec.h"
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "measure/measure.h"
#include "lattice/slices.h"
#include "stream_blocks.h"
#include "stream_ranks.h"

#define OUR_BLOCK ((size_t)1 << 20)

/* How far matrices may be from SU(N) for the dropped reals to be no loss: files in single
 * precision are within 1.4e-6; fat links, or a sign folded into the links, are not. */
#define NEAR_SUN 1e-5

/* Makes of each matrix what a reader of the reduced stream will get; refuses if that is not what
 * it was. The numbers of the header then describe what is written. */
static int reduce(lat_field *f, const char *name)
{
    const size_t matrices = lat_field_matrices(f),
                 first = lat_field_site(f, 0) * (matrices / lat_field_sites(f));
    bool changed;
    const size_t bad = lat_complete_all(&f->head, f->data, matrices, NEAR_SUN, &changed);
    if (bad != SIZE_MAX)
        return lat_fail("%s: expected SU(%d) matrices to write %d reals of each, found number %zu "
                        "further than %g from it (write all %zu reals, or reunitarise)",
                        name, f->head.nc, f->head.reals, bad + first, NEAR_SUN,
                        lat_full_reals(&f->head));
    double any = changed;
    if (lat_comm_world->max(lat_comm_world, &any, 1))
        return -1;
    if (any == 0)
        return 0;
    f->head.plaquette = f->head.link_trace = NAN;
    return lat_field_exchange(f);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Of the block at the edge, raw bytes are in `plain` already. */
static void encode(const lat_pipeline *m, lat_job *j)
{
    const bool edge = j == &m->edge;
    unsigned char *raw = m->direct && !edge ? lat_job_home(m, j) : j->plain;
    lat_real real = m->head->real;
    if (!m->direct && !edge)
        lat_job_spread(m, j, false);
    j->largest = lat_reals_largest(raw, j->raw / (size_t)real, real);
    if (j->largest >= lat_infinity_bits(real)) {
        j->wrong = "holds a number that is not finite";
        j->stored = lat_first_bad(raw, j->raw, real);
        return;
    }
    j->payload = raw;
    j->stored = j->raw;
    if (m->compressed) { /* before swapping: the filter takes our byte order */
        j->stored = lat_codec_pack(raw, j->raw, lat_pipeline_real(m), j->work, j->packed);
        j->payload = j->packed;
        if (j->stored == 0) {
            j->wrong = "could not be compressed (out of memory)";
            return;
        }
    }
    if (m->swapped)
        lat_reals_swap_bytes(raw, raw, j->raw / (size_t)real, real);
    j->crc = lat_crc(0, raw, j->raw);
    memcpy(j->head, LAT_BLOCK_TAG, 4);
    lat_store_le32(j->head + 4, (uint32_t)j->stored);
    lat_store_le32(j->head + 8, (uint32_t)j->raw);
    uint32_t payload = m->compressed ? lat_crc(0, j->payload, j->stored) : j->crc;
    lat_store_le32(j->head + 12, lat_crc_join(lat_crc(0, j->head, 12), payload, j->stored));
}

/* j->to: where others will put it, or 0. */
static int write_job(lat_output *out, lat_pipeline *m, lat_job *j)
{
    if (lat_pipeline_finish(m, j) < 0)
        return -1;
    if (lat_output_reserve(out, LAT_FRAME + j->stored, &j->to))
        return 0;
    j->to = 0;
    return lat_output_write(out, j->head, LAT_FRAME) || lat_output_write(out, j->payload, j->stored)
               ? -1
               : 0;
}

static void place_job(lat_output *out, const lat_job *j)
{
    lat_output_fill(out, j->to, j->head, LAT_FRAME);
    lat_output_fill(out, j->to + LAT_FRAME, j->payload, j->stored);
}

/* Blocks number `from` up to `end`: while one is written, those after it are encoded. Run by the
 * first thread of a team; a task without delay waits for what was done to its job before. */
static int write_blocks(lat_output *out, lat_pipeline *m, size_t from, size_t end)
{
    const size_t behind = m->width - 1;
    int rc = 0;
    for (size_t i = from; rc == 0 && i < end + behind; i++) {
        if (i < end) {
            lat_job *j = lat_pipeline_block(m, i);
            if (j != &m->edge)
                lat_job_place(m, j, i);
#pragma omp task depend(inout : j[0]) firstprivate(j)
            encode(m, j);
        }
        if (i >= from + behind) {
            lat_job *j = lat_pipeline_block(m, i - behind);
#pragma omp task depend(inout : j[0]) if (0) shared(rc)
            rc = write_job(out, m, j);
            if (rc == 0 && j->to) {
#pragma omp task depend(inout : j[0]) firstprivate(j)
                place_job(out, j);
            }
        }
    }
#pragma omp taskwait
    return rc;
}

static int write_trailer(lat_output *out, const lat_pipeline *m)
{
    unsigned char t[LAT_FRAME];
    memcpy(t, LAT_TRAILER_TAG, 4);
    lat_store_le32(t + 4, (uint32_t)m->blocks);
    lat_store_le32(t + 8, m->crc);
    lat_store_le32(t + 12, lat_crc(0, t, 12));
    return lat_output_write(out, t, LAT_FRAME);
}

/* ---- slices ---------------------------------------------------------------------------------- */

struct lat_stream_writer {
    lat_output *out;
    lat_pipeline m;
    size_t at;             /* raw bytes that were put */
    uint64_t begin, links; /* bytes of the output before the header, and after it */
};

static bool is_compressed(const lat_output *out, int store)
{
    return store == LAT_STORE_AUTO ? lat_output_is_file(out) : store != LAT_STORE_RAW;
}

lat_stream_writer *lat_stream_open(lat_output *out, const lat_header *head, int store)
{
    const bool compressed = is_compressed(out, store);
    if (lat_header_check(head, lat_output_name(out)) < 0)
        return NULL;
    lat_stream_writer *w = lat_alloc(1, sizeof *w, "a stream");
    if (!w)
        return NULL;
    *w = (lat_stream_writer){.out = out,
                             .begin = lat_output_offset(out),
                             .m = {.head = head,
                                   .name = lat_output_name(out),
                                   .block = OUR_BLOCK,
                                   .order = head->order,
                                   .compressed = compressed,
                                   .filtered = compressed,
                                   .swapped = lat_big_endian()}};
    const int rc = lat_pipeline_start(&w->m) < 0
                       ? -1
                       : lat_stream_put_head(out, head, OUR_BLOCK, compressed);
    w->links = lat_output_offset(out);
    if (rc == 0)
        return w;
    lat_stream_give_up(w);
    return NULL;
}

int lat_stream_restate(lat_stream_writer *w)
{
    const uint64_t end = lat_output_offset(w->out);
    if (lat_output_seek(w->out, w->begin, false) < 0
        || lat_stream_put_head(w->out, w->m.head, OUR_BLOCK, w->m.compressed) < 0)
        return -1;
    return lat_output_offset(w->out) != w->links ? 1 : lat_output_seek(w->out, end, false);
}

/* Raw bytes lo to hi of the block that is not wholly among them. */
static void fill_edge(lat_pipeline *m, size_t block)
{
    if (block * m->block >= m->lo)
        lat_job_place(m, &m->edge, block);
    lat_job_spread(m, &m->edge, false);
}

int lat_stream_put(lat_stream_writer *w, const void *slices, int count)
{
    lat_pipeline *m = &w->m;
    const size_t slice = m->bytes / (size_t)lat_slices(m->head);
    m->data = (unsigned char *)
        slices; /* only read, unless all bytes have to be turned in their own memory */
    m->lo = w->at;
    m->hi = w->at + (size_t)count * slice;
    if (count < 1 || m->hi > m->bytes)
        return lat_fail("%s: expected %zu bytes in all, got more", m->name, m->bytes);
    if (m->hi - m->lo < m->bytes && !lat_order_sliced(&m->order, m->head->geom.nd))
        return lat_fail("%s: an order that goes across slices was to be written by slices",
                        m->name);
    const size_t first = m->lo / m->block, end = m->hi == m->bytes ? m->blocks : m->hi / m->block;
    int rc = 0;
    w->at = m->hi;
    if (first * m->block < m->lo)
        fill_edge(m, first);
    if (first < end) {
#pragma omp parallel if (end - first > 1)
#pragma omp master
        rc = write_blocks(w->out, m, first, end);
    }
    if (rc == 0 && end * m->block < m->hi && (end > first || first * m->block == m->lo))
        fill_edge(m, end);
    return rc;
}

void lat_stream_give_up(lat_stream_writer *w)
{
    if (!w)
        return;
    lat_pipeline_free(&w->m);
    free(w);
}

int lat_stream_close(lat_stream_writer *w)
{
    unsigned *fields = lat_output_attach(w->out, sizeof *fields);
    int rc = fields ? 0 : -1;
    if (rc == 0 && w->at < w->m.bytes)
        rc = lat_fail("%s: expected %zu bytes of a field, got %zu", w->m.name, w->m.bytes, w->at);
    if (rc == 0)
        rc = write_trailer(w->out, &w->m);
    if (rc == 0) {
        ++*fields;
        rc = lat_output_flush(w->out);
    }
    lat_stream_give_up(w);
    return rc;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The numbers of the header that describe the links, where they are not known yet. */
static int measure(lat_field *f)
{
    lat_header *head = &f->head;
    double plaquette, link_trace;
    if (head->kind != LAT_GAUGE || !(isnan(head->plaquette) || isnan(head->link_trace)))
        return 0;
    if (lat_measure_plaquette(f, &plaquette, &link_trace) < 0)
        return -1;
    lat_header_measured(head, plaquette, link_trace);
    return 0;
}

/* Thermal links in double become 0.866 of their size, in single 0.85. */
void lat_stream_expect(lat_output *out, const lat_header *head, int store)
{
    const uint64_t bytes = lat_header_bytes(head);
    lat_output_expect(out, is_compressed(out, store) ? bytes / 8 * 7 : bytes);
}

int lat_stream_write(lat_output *out, lat_field *f, int store)
{
    const char *name = lat_output_name(out);
    if (lat_header_check(&f->head, name) < 0 || (lat_reduced(&f->head) && reduce(f, name) < 0)
        || measure(f) < 0)
        return -1;
    if (lat_field_shared(f))
        return lat_ranks_write(out, f, store);
    lat_stream_writer *w = lat_stream_open(out, &f->head, store);
    if (!w)
        return -1;
    if (lat_stream_put(w, f->data, lat_slices(&f->head)) == 0)
        return lat_stream_close(w);
    lat_stream_give_up(w);
    return -1;
}

int lat_stream_commit(lat_output *out)
{
    unsigned char mark[LAT_END_SIZE];
    const unsigned *fields = lat_output_attach(out, sizeof *fields);
    int rc = fields ? 0 : -1;
    if (rc == 0 && lat_comm_world->barrier(lat_comm_world)) /* all ranks have come so far */
        rc = -1;
    if (rc == 0 && *fields) {
        lat_stream_end_mark(*fields, mark);
        rc = lat_output_write(out, mark, LAT_END_SIZE);
    }
    if (rc == 0)
        rc = lat_output_commit(out);
    else
        lat_output_abort(out);
    return lat_agree(lat_comm_world, rc);
}
