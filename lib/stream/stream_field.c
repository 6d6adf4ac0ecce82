/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_field.c: reads and writes whole fields, on one rank or shared by several. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/error.h"
#include "base/memory.h"
#include "comm/comm.h"
#include "lattice/slices.h"
#include "measure/measure.h"
#include "stream_blocks_internal.h"
#include "stream_ranks_internal.h"
#include "stream_reduced_internal.h"

/* How far matrices may be from SU(N) for the dropped reals to be no loss: files in single
 * precision are within 1.4e-6; fat links, or a sign folded into the links, are not. */
#define NEAR_SUN 1e-5

/* ---- reading --------------------------------------------------------------------------------- */

/* One pass over the links: plaquette, link trace, distance from SU(N). */
static int check_links(lat_field *f, const char *name, double largest)
{
    double plaquette, link_trace;
    lat_slice_sums all;
    if (f->head.kind != LAT_GAUGE)
        return 0;
    if (lat_measure_sums(f, true, &all) < 0)
        return -1;
    lat_measure_means(&f->head, &all, &plaquette, &link_trace);
    return lat_rc(lat_stream_verify(&f->head, name, plaquette, link_trace, largest) < 0
                  || lat_measure_missing(f, name) || lat_measure_in_group(f, all.distance, name));
}

/* Bytes of the field in memory that the first `raw` bytes of the stream need. In another order than
 * the natural one the next matrix may be anywhere: all of them. */
static size_t memory_needed(const lat_pipeline *p, size_t raw)
{
    const lat_header *head = p->head;
    raw = lat_order_natural(&p->order) ? raw : p->bytes;
    size_t each = (size_t)head->reals * (size_t)head->real;
    return (raw + each - 1) / each * lat_header_full_reals(head) * (size_t)head->real;
}

/* In another order than the natural one matrices are written all over the field. With small pages,
 * not huge ones, the memory in use stays in proportion to the bytes that have arrived. */
static void use_small_pages(void *data, size_t n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
                    from = ((uintptr_t)data + page - 1) / page * page;
    if ((uintptr_t)data + n > from)
        (void)madvise((void *)from, (uintptr_t)data + n - from, MADV_NOHUGEPAGE);
}

/* A field in another order is allocated as a whole. On a pipe, a 16th of its smallest possible size
 * must have arrived before. */
static int check_arrival(lat_input *in, const lat_pipeline *p)
{
    const uint64_t ask = (p->compressed ? p->bytes / LAT_MAX_DEFLATE : p->bytes) / 16;
    uint64_t arrived = ask;
    if (lat_input_size(in) < 0 && !lat_order_natural(&p->order)
        && lat_input_wait(in, ask, &arrived) < 0)
        return -1;
    return arrived < ask ? lat_fail("%s: truncated: %llu bytes after the header, expected %zu",
                                    p->name, (unsigned long long)arrived, p->bytes)
                         : 0;
}

/* Grows p->data so that it holds at least the first `raw` bytes of the stream. Up to `trusted`
 * bytes are allocated because the header claims them; beyond that, a quarter must have been read
 * before: a header that lies, on a pipe, cannot exhaust the memory of the machine. *capacity: bytes
 * of p->data, before and after. */
static int grow_memory(lat_pipeline *p, size_t raw, size_t trusted, size_t *capacity)
{
    const size_t all = memory_needed(p, p->bytes), need = memory_needed(p, raw);
    size_t n = *capacity > trusted / 4 ? 4 * *capacity : trusted;
    n = n < need ? need : n;
    n = n > all ? all : n;
    void *data = lat_alloc(n, 1, "a field");
    if (!data)
        return -1;
    if (n > trusted && !lat_order_natural(&p->order))
        use_small_pages(data, n);
    if (*capacity)
        memcpy(data, p->data, *capacity);
    free(p->data);
    p->data = data;
    *capacity = n;
    return 0;
}

/* Reads blocks and trailer into memory that grows with them. */
static int read_field(lat_input *in, lat_stream_state *s, lat_pipeline *p, lat_header *head)
{
    size_t trusted, capacity = 0;
    if (lat_blocks_check_size(in, p, &trusted) < 0 || check_arrival(in, p) < 0
        || lat_pipeline_init(p) < 0)
        return -1;
    p->end = p->bytes;
    for (size_t done = 0, end; done < p->blocks; done = end) {
        const size_t raw = (done + 1) * p->block_bytes;
        if (grow_memory(p, raw < p->bytes ? raw : p->bytes, trusted, &capacity) < 0)
            return -1;
        for (end = done + 1;
             end < p->blocks && memory_needed(p, (end + 1) * p->block_bytes) <= capacity;)
            end++;
        if (capacity == memory_needed(p, p->bytes))
            end = p->blocks;
        if (lat_blocks_read(in, p, done, end) < 0)
            return -1;
    }
    if (lat_blocks_finish(in, s, p, head) < 0)
        return -1;
    if (lat_reduced(head))
        lat_complete_all(head, p->data, lat_header_matrices(head), 0, NULL);
    lat_field f = {.head = *head, .data = p->data}; /* borrowed */
    const int rc = check_links(&f, p->name, lat_pipeline_largest(p));
    *head = f.head;
    return rc;
}

static int read_shared(lat_input *in, lat_field *f)
{
    double largest;
    if (lat_ranks_read(in, f, &largest) == 0 && check_links(f, lat_input_name(in), largest) == 0)
        return 1;
    free(f->data);
    f->data = NULL;
    return -1;
}

int lat_stream_body(lat_input *in, lat_field *f)
{
    lat_stream_state *s = lat_stream_state_of(in);
    f->data = NULL;
    f->comm = NULL;
    f->part = NULL;
    f->zeros = (struct lat_zero_slices){0};
    if (!s)
        return -1;
    if (lat_input_comm(in)->size > 1)
        return read_shared(in, f);
    lat_pipeline p = lat_pipeline_of_input(in, &f->head, s);
    int rc = read_field(in, s, &p, &f->head);
    lat_pipeline_free(&p);
    if (rc < 0) {
        free(p.data);
        return -1;
    }
    f->data = p.data;
    if (!lat_order_natural(&s->form.order) && lat_stream_natural_crc(f)) {
        free(f->data);
        f->data = NULL;
        return -1;
    }
    return 1;
}

int lat_stream_read(lat_input *in, lat_field *f)
{
    f->data = NULL;
    f->part = NULL;
    int rc = lat_stream_head(in, &f->head);
    if (rc > 0)
        rc = lat_stream_body(in, f);
    if (rc <= 0)
        lat_field_free(f);
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Replaces the reals that will be dropped by those that a reader will compute; fails if a matrix is
 * not near SU(N). Then the header's plaquette and link trace are those of the written field. */
static int reduce(lat_field *f, const lat_output *out)
{
    const lat_comm *comm = lat_output_comm(out);
    const size_t matrices = lat_field_matrices(f),
                 first = lat_field_site(f, 0) * (matrices / lat_field_sites(f));
    bool changed;
    const size_t bad = lat_complete_all(&f->head, f->data, matrices, NEAR_SUN, &changed);
    if (bad != SIZE_MAX)
        return lat_fail("%s: expected SU(%d) matrices to write %d reals of each, found number %zu "
                        "further than %g from it (write all %zu reals, or reunitarise)",
                        lat_output_name(out), f->head.nc, f->head.reals, bad + first, NEAR_SUN,
                        lat_header_full_reals(&f->head));
    double any = changed;
    if (comm->max(comm, &any, 1))
        return -1;
    if (any == 0)
        return 0;
    f->head.plaquette = f->head.link_trace = NAN;
    return lat_field_exchange(f);
}

/* Measures plaquette and link trace, where the header does not have them yet. */
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

/* Of 1000 bytes compression leaves 878 of links in double precision, 826 in single; of propagators
 * 884 to 895, and 825 to 836, the more the faster they fall. One thread frees what is too much, and
 * all populate what is missing: the least, and a reserve. */
void lat_stream_preallocate(lat_output *out, const lat_header *head, int store)
{
    const bool spinors = lat_header_spinors(head);
    const uint64_t bytes = lat_header_bytes(head),
                   left = head->real == LAT_F64 ? (spinors ? 885 : 879) : (spinors ? 826 : 828);
    if (lat_blocks_compressed(out, head, store))
        lat_output_preallocate(out, bytes / 1000 * left, bytes / 32 * 29);
    else
        lat_output_preallocate(out, bytes, bytes);
}

int lat_stream_write(lat_output *out, lat_field *f, int store)
{
    if (lat_header_check(&f->head, lat_output_name(out)) < 0
        || (lat_reduced(&f->head) && reduce(f, out) < 0) || measure(f) < 0)
        return -1;
    if (lat_field_shared(f))
        return lat_ranks_write(out, f, store);
    lat_stream_writer *w = lat_stream_open(out, &f->head, store);
    if (!w)
        return -1;
    if (lat_stream_put(w, f->data, lat_slices(&f->head)) == 0)
        return lat_stream_close(w);
    lat_stream_abort(w);
    return -1;
}
