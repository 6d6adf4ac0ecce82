/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_data.c: the numbers of a set in an HDF5 file, in one piece or in chunks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "hdf5_bytes.h"

#define refuse lat_hdf5_unread
#define product lat_hdf5_product
#define chunk_bytes lat_hdf5_chunk_bytes
#define MOST_DEFLATED 1032 /* bytes that a deflated byte can stand for */
#define PART ((size_t)64 << 10)
#define ELEMENT 4608 /* bytes of a propagator at a site */

/* Fletcher's checksum of a chunk as it is stored: its last four bytes. */
typedef struct checksum {
    uint64_t a, b;
} checksum;

static uint64_t set_bytes(const lat_hdf5_set *s) { return product(s->rank, s->extent, s->element); }

static bool through(const lat_hdf5_set *s, const lat_hdf5_chunk *c, int filter)
{
    for (int i = 0; i < s->filters; i++)
        if (s->filter[i] == filter && !(c->skipped >> i & 1))
            return true;
    return false;
}

/* Bytes of a chunk in the file, without its checksum. */
static uint64_t stored_bytes(const lat_hdf5_set *s, const lat_hdf5_chunk *c)
{
    const uint64_t sum = through(s, c, LAT_HDF5_FLETCHER) ? 4 : 0;
    return c->stored > sum ? c->stored - sum : 0;
}

/* ---- is all of it there? --------------------------------------------------------------------- */

static bool inside(const lat_hdf5 *h, uint64_t address, uint64_t n)
{
    return n <= h->size && address <= h->size - n;
}

/* Reading chunks, or checking them. */
typedef struct sink {
    lat_hdf5 *h;
    const lat_hdf5_set *s;
    uint64_t first[8], extent[8]; /* what is wanted of the set */
    unsigned char *bytes;         /* of a chunk */
    lat_hdf5_put *put;
    void *context;
} sink;

static int check_chunk(void *context, const lat_hdf5_chunk *c)
{
    const sink *w = context;
    const uint64_t bytes = chunk_bytes(w->s);
    const uint64_t stored = stored_bytes(w->s, c);
    const bool packed = through(w->s, c, LAT_HDF5_DEFLATE);
    return inside(w->h, c->address, c->stored)
                   && (packed ? stored >= bytes / MOST_DEFLATED : stored == bytes)
               ? 0
               : refuse(w->h, w->s, "a chunk has not the bytes of its numbers (damaged?)");
}

static int check_chunks(lat_hdf5 *h, const lat_hdf5_set *s)
{
    sink w = {.h = h, .s = s};
    if (s->chunk_rank != s->rank || s->chunk_element != s->element)
        return refuse(h, s, "its chunks have another shape or other elements (damaged?)");
    for (int i = 0; i < s->rank; i++)
        if (s->chunk[i] < 1)
            return refuse(h, s, "its chunks have no extent (damaged?)");
    const uint64_t bytes = chunk_bytes(s);
    if (bytes == 0 || bytes > set_bytes(s) || bytes > UINT32_MAX)
        return refuse(h, s, "its chunks are larger than the dataset, or than 4 GiB");
    if (s->index == LAT_HDF5_GROWING && !s->first_grows)
        return refuse(h, s,
                      "it may grow, and not along its first axis alone: that is not read "
                      "(write it without maxshape)");
    if (s->address == LAT_HDF5_NOWHERE)
        return refuse(h, s, "its numbers were never written");
    const int64_t count = lat_hdf5_chunks(h, s, check_chunk, &w);
    const uint64_t wanted = lat_hdf5_chunk_count(s);
    if (count < 0)
        return -1;
    return (uint64_t)count == wanted
               ? 0
               : lat_fail("%s: dataset %s cannot be read: %llu of its %llu chunks were never "
                          "written",
                          h->name, s->name, (unsigned long long)(wanted - (uint64_t)count),
                          (unsigned long long)wanted);
}

int lat_hdf5_same_lattice(const lat_hdf5 *h, const lat_hdf5_set *s, const lat_geometry *geom)
{
    int d[4];
    char dims[64];
    if (!s->lattice[0]
        || (sscanf(s->lattice, "%d %d %d %d", d, d + 1, d + 2, d + 3) == 4
            && memcmp(d, geom->dims, sizeof d) == 0))
        return 0;
    return lat_fail("%s: expected the extents %s, which the shape of dataset %s has, as the "
                    "attribute Lattice, found '%s'",
                    h->name, lat_dims_text(geom, dims), s->name, s->lattice);
}

int lat_hdf5_complete(lat_hdf5 *h, const lat_hdf5_set *s)
{
    const uint64_t bytes = set_bytes(s);
    if (s->bad)
        return refuse(h, s, s->bad);
    if (bytes == 0 || s->element > ELEMENT)
        return refuse(h, s, "it has no elements, or too large ones");
    if (s->layout == LAT_HDF5_CHUNKS)
        return check_chunks(h, s);
    if (s->layout == LAT_HDF5_INSIDE)
        return refuse(h, s, "its numbers are inside its description, where they are not read");
    if (s->layout == LAT_HDF5_PIECE && s->address == LAT_HDF5_NOWHERE)
        return refuse(h, s, "its numbers were never written");
    return s->layout == LAT_HDF5_PIECE && s->stored >= bytes && inside(h, s->address, bytes)
               ? 0
               : refuse(h, s, "the file has not the bytes of its numbers (truncated?)");
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Hands over the elements of a box of this shape, from `first` on; what is not wanted, or beyond
 * the set, is left out. Bytes of a shuffled chunk are sorted by their place in an element. */
static void put_box(const sink *to, const lat_hdf5_set *s, const uint64_t *first,
                    const uint64_t *shape, bool shuffled)
{
    const uint64_t n = product(s->rank, shape, 1);
    uint64_t at[8] = {0}, index[8];
    unsigned char element[ELEMENT];
    for (uint64_t i = 0; i < n; i++) {
        const unsigned char *b = to->bytes + i * s->element;
        bool in = true;
        for (int k = 0; k < s->rank; k++) {
            index[k] = first[k] + at[k] - to->first[k]; /* before the first: too large */
            in = in && index[k] < to->extent[k];
        }
        if (shuffled && in) {
            for (size_t k = 0; k < s->element; k++)
                element[k] = to->bytes[k * n + i];
            b = element;
        }
        if (in)
            to->put(to->context, index, b);
        for (int k = s->rank - 1; k >= 0 && ++at[k] == shape[k]; k--)
            at[k] = 0;
    }
}

/* Goes on over n bytes; n is even but for the last ones. 16 bits at a time, big endian. */
static void add_to(checksum *sum, const unsigned char *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 2) {
        sum->a = (sum->a + (uint64_t)(b[i] << 8) + (i + 1 < n ? b[i + 1] : 0)) % 65535;
        sum->b = (sum->b + sum->a) % 65535;
    }
}

/* Is it the stored one? 65535 stands for 0, too. */
static bool right(lat_hdf5 *h, uint64_t address, const checksum *sum)
{
    unsigned char b[4];
    return lat_hdf5_bytes(h, address, 4, b) && lat_hdf5_number(b, 2) % 65535 == sum->a
           && lat_hdf5_number(b + 2, 2) % 65535 == sum->b;
}

/* Exactly `bytes` bytes come out of a zlib stream of `stored` bytes of the file. */
static bool inflate_chunk(const sink *w, const lat_hdf5_chunk *c, uint64_t stored, checksum *sum)
{
    const uint64_t bytes = chunk_bytes(w->s);
    unsigned char part[PART];
    z_stream z = {.next_in = NULL};
    uint64_t done = 0;
    int rc = Z_OK;
    if (inflateInit(&z) != Z_OK)
        return false;
    z.next_out = w->bytes;
    z.avail_out = (uInt)bytes;
    while (rc == Z_OK && done < stored) {
        const size_t n = stored - done < PART ? (size_t)(stored - done) : PART;
        if (!lat_hdf5_bytes(w->h, c->address + done, n, part))
            break;
        if (stored < c->stored)
            add_to(sum, part, n);
        done += n;
        z.next_in = part;
        z.avail_in = (uInt)n;
        rc = inflate(&z, Z_NO_FLUSH);
    }
    const bool whole = rc == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0 && done == stored;
    inflateEnd(&z);
    return whole;
}

static bool wanted(const sink *w, const lat_hdf5_chunk *c)
{
    for (int k = 0; k < w->s->rank; k++)
        if (c->first[k] >= w->first[k] + w->extent[k]
            || c->first[k] + w->s->chunk[k] <= w->first[k])
            return false;
    return true;
}

static int read_chunk(void *context, const lat_hdf5_chunk *c)
{
    const sink *w = context;
    if (!wanted(w, c))
        return 0;
    const uint64_t bytes = chunk_bytes(w->s), stored = stored_bytes(w->s, c);
    checksum sum = {0, 0};
    if (through(w->s, c, LAT_HDF5_DEFLATE)) {
        if (!inflate_chunk(w, c, stored, &sum))
            return refuse(w->h, w->s, "a chunk cannot be inflated (damaged?)");
    } else if (stored != bytes || !lat_hdf5_bytes(w->h, c->address, bytes, w->bytes)) {
        return refuse(w->h, w->s, "a chunk has not the bytes of its numbers (damaged?)");
    } else if (stored < c->stored) {
        add_to(&sum, w->bytes, bytes);
    }
    if (stored < c->stored && !right(w->h, c->address + stored, &sum))
        return refuse(w->h, w->s, "a chunk has another checksum than it states (damaged?)");
    put_box(w, w->s, c->first, w->s->chunk, through(w->s, c, LAT_HDF5_SHUFFLE));
    return 0;
}

/* What is in one piece is read in boxes of this shape, each without gaps, which have one value of
 * the first `outer` axes. */
static int read_piece(const sink *to, const uint64_t *shape, int outer)
{
    const lat_hdf5_set *s = to->s;
    const uint64_t bytes = product(s->rank, shape, s->element);
    uint64_t first[8];
    memcpy(first, to->first, sizeof first);
    for (uint64_t left = product(outer, to->extent, 1); left > 0; left--) {
        uint64_t at = 0;
        for (int k = 0; k < s->rank; k++)
            at = at * s->extent[k] + first[k];
        if (!lat_hdf5_bytes(to->h, s->address + at * s->element, bytes, to->bytes))
            return refuse(to->h, s, "the file has not the bytes of its numbers (truncated?)");
        put_box(to, s, first, shape, false);
        for (int k = outer - 1; k >= 0 && ++first[k] == to->first[k] + to->extent[k]; k--)
            first[k] = to->first[k];
    }
    return 0;
}

int lat_hdf5_read(lat_hdf5 *h, const lat_hdf5_set *s, const lat_hdf5_part *part, lat_hdf5_put *put,
                  void *context)
{
    const bool piece = s->layout == LAT_HDF5_PIECE;
    sink to = {.h = h, .s = s, .put = put, .context = context};
    uint64_t shape[8];
    int outer = 1;
    memcpy(to.extent, s->extent, sizeof to.extent);
    if (part && part->count < s->extent[part->axis]) {
        to.first[part->axis] = part->first;
        to.extent[part->axis] = part->count;
        outer = part->axis > 1 ? part->axis : 1;
    }
    memcpy(shape, to.extent, sizeof shape);
    for (int k = 0; k < outer; k++)
        shape[k] = 1;
    const uint64_t bytes = piece ? product(s->rank, shape, s->element) : chunk_bytes(s);
    if (!(to.bytes = lat_alloc((size_t)bytes, 1, "a part of a dataset")))
        return -1;
    const int rc = piece                                         ? read_piece(&to, shape, outer)
                   : lat_hdf5_chunks(h, s, read_chunk, &to) >= 0 ? 0
                                                                 : -1;
    free(to.bytes);
    return rc;
}

/* ---- to a field ------------------------------------------------------------------------------ */

void lat_hdf5_fill_plan(lat_hdf5_filler *w, const lat_hdf5_set *set, void *data,
                        const size_t stride[LAT_HDF5_RANK + 1])
{
    w->set = set;
    w->data = data;
    memcpy(w->stride, stride, (size_t)set->rank * sizeof *stride);
    w->inside[0] = 0;
    w->reals = 1;
    for (int k = set->axes; k >= set->rank; k--) {
        const size_t extent = k == set->axes ? 2 : (size_t)set->extent[k];
        for (size_t i = w->reals; i < w->reals * extent; i++)
            w->inside[i] = w->inside[i % w->reals] + i / w->reals * stride[k];
        w->reals *= extent;
    }
}

void lat_hdf5_fill(void *filler, const uint64_t *index, const unsigned char *element)
{
    const lat_hdf5_filler *w = filler;
    const bool swap = w->set->big != lat_big_endian();
    size_t at = 0;
    for (int k = 0; k < w->set->rank; k++)
        at += (size_t)index[k] * w->stride[k];
    for (size_t k = 0; k < w->reals; k++)
        if (w->set->real == LAT_F64) {
            const uint64_t v = lat_load64(element + 8 * k, swap);
            memcpy((double *)w->data + at + w->inside[k], &v, sizeof v);
        } else {
            const uint32_t v = lat_load32(element + 4 * k, swap);
            memcpy((float *)w->data + at + w->inside[k], &v, sizeof v);
        }
}
