/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stream.h: what the programs check_stream_*.c share: streams as bytes in memory, read from a
 * file or a pipe, and put together by hand from docs/format.md, as our writer would not make them.
 *
 *     int main(void)
 *     {
 *         stream_begin();
 *         check_case("...");
 *         check_...();
 *         return stream_done();
 *     } */
#pragma once

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "check.h"
#include "fields.h"
#include "common/options.h"
#include "stream/codec.h"
#include "measure/measure.h"
#include "lattice/slices.h"
#include "stream/stream.h"

static char stream_folder[] = "/tmp/lat-check-stream.XXXXXX";

/* The file that a case writes and reads. */
static char path[64];

static inline void stream_begin(void)
{
    need(mkdtemp(stream_folder) != NULL, stream_folder);
    snprintf(path, sizeof path, "%s/stream", stream_folder);
}

static inline int stream_done(void)
{
    unlink(path);
    rmdir(stream_folder);
    return check_done();
}

/* ---- streams as bytes ---- */

typedef struct bytes {
    size_t n;
    unsigned char *at;
} bytes;

static inline void append(bytes *b, const void *p, size_t n)
{
    b->at = realloc(b->at, b->n + n + 1);
    need(b->at != NULL, "memory");
    if (n)
        memcpy(b->at + b->n, p, n);
    b->n += n;
}

static inline void append32(bytes *b, uint32_t v)
{
    unsigned char p[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                          (unsigned char)(v >> 24)};
    append(b, p, 4);
}

static inline bytes file_bytes(const char *from)
{
    bytes b = {0};
    char buf[65536];
    size_t n;
    FILE *f = fopen(from, "rb");
    need(f != NULL, from);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        append(&b, buf, n);
    fclose(f);
    return b;
}

static inline void write_bytes(const bytes *b)
{
    FILE *f = fopen(path, "wb");
    need(f && fwrite(b->at, 1, b->n, f) == b->n && fclose(f) == 0, path);
}

/* Opens the bytes as a file, or as a pipe of which they fill no more than its buffer. */
static inline lat_input *open_bytes(const bytes *b, bool piped)
{
    if (!piped) {
        write_bytes(b);
        return lat_input_open(path, &lat_comm_self);
    }
    int fd[2];
    need(pipe(fd) == 0, "pipe");
    (void)fcntl(fd[1], F_SETPIPE_SZ, 1 << 20);
    need((int)b->n <= fcntl(fd[1], F_GETPIPE_SZ) && write(fd[1], b->at, b->n) == (ssize_t)b->n,
         "a pipe that takes all");
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    close(fd[0]);
    return lat_input_open(NULL, &lat_comm_self);
}

/* Reads all fields: how many, or -1. Keeps the last one in *last if that is not NULL. */
static inline int read_bytes(const bytes *b, bool piped, lat_field *last)
{
    lat_field f;
    int rc, count = 0;
    lat_error_clear();
    lat_input *in = open_bytes(b, piped);
    if (!in)
        return -1;
    if (last)
        last->data = NULL;
    while ((rc = lat_stream_read(in, &f)) > 0) {
        count++;
        if (last && last->data)
            lat_field_free(last);
        if (last)
            *last = f;
        else
            lat_field_free(&f);
    }
    lat_input_close(in);
    return rc < 0 ? -1 : count;
}

/* Never accepted, and a sentence says why. From a file and a pipe; of many cases from one of the
 * two. */
static inline bool refused(const bytes *b, const char *format, size_t i)
{
    bool good = true;
    char what[80];
    snprintf(what, sizeof what, "%s %zu", format, i);
    for (int piped = 0; piped < 2; piped++) {
        if (i && piped != (int)(i / 4 % 2))
            continue;
        good = CHECK(read_bytes(b, piped, NULL) < 0, "accepted: %s", what) && good;
        good = CHECK(lat_error()[0] && !strchr(lat_error(), '\n'), "no sentence: %s", what) && good;
    }
    return good;
}

/* Refused by a sentence with that word, from a file and from a pipe. Frees the bytes. */
static inline void contradicts(bytes *b, const char *word)
{
    for (int piped = 0; piped < 2; piped++) {
        CHECK(read_bytes(b, piped, NULL) < 0, "accepted, expected '%s'", word);
        CHECK(strstr(lat_error(), word) != NULL, "no '%s' in: %s", word, lat_error());
    }
    free(b->at);
    *b = (bytes){0};
}

static inline bytes written(lat_field *f, int store)
{
    lat_output *out = lat_output_open(path, 0, &lat_comm_self);
    need(out && lat_stream_write(out, f, store) == 0 && lat_stream_commit(out) == 0, "writing");
    return file_bytes(path);
}

/* One field by slices, `first` of them and then the rest one by one. */
static inline int read_by_slices(const bytes *b, int first, lat_field *f)
{
    lat_error_clear();
    lat_input *in = open_bytes(b, false);
    lat_header_init(&f->head);
    f->data = NULL;
    if (!in || lat_stream_head(in, &f->head) != 1 || lat_field_alloc(f, &lat_comm_self) < 0)
        return -1;
    lat_stream_reader *r = lat_stream_begin(in, &f->head);
    const int all = lat_slices(&f->head);
    int rc = r ? 0 : -1;
    for (int done = 0, n = first < all ? first : all; rc == 0 && done < all; done += n, n = 1)
        rc = lat_stream_get(r, (char *)f->data + (size_t)done * lat_slice_bytes(&f->head), n);
    if (rc == 0 && lat_stream_get(r, f->data, 1) == 0)
        rc = -1;
    if (lat_stream_end(r, rc == 0 ? &f->head : NULL) < 0 || rc < 0 || lat_stream_more(in) != 0)
        rc = -1;
    lat_input_close(in);
    return rc;
}

static inline int write_fails(lat_field *f)
{
    lat_error_clear();
    lat_output *out = lat_output_open(path, 0, &lat_comm_self);
    need(out != NULL, "opening");
    int rc = lat_stream_write(out, f, LAT_STORE_RAW);
    lat_output_abort(out);
    return rc < 0;
}

/* ---- streams by hand ---- */

/* Header of these lines, each with its newline, the first and last are added here. */
static inline bytes head_of(const char *lines)
{
    bytes b = {0};
    char end[32];
    append(&b, LAT_STREAM_MAGIC, strlen(LAT_STREAM_MAGIC));
    append(&b, lines, strlen(lines));
    snprintf(end, sizeof end, "end = %08lx\n", crc32(0, b.at, (uInt)b.n));
    append(&b, end, strlen(end));
    return b;
}

static inline void append_block(bytes *b, const void *payload, size_t stored, size_t raw)
{
    size_t begin = b->n;
    append(b, "LATB", 4);
    append32(b, (uint32_t)stored);
    append32(b, (uint32_t)raw);
    uint32_t crc = (uint32_t)crc32(0, b->at + begin, 12);
    append32(b, (uint32_t)crc32(crc, payload, (uInt)stored));
    append(b, payload, stored);
}

static inline void append_frame(bytes *b, const char *tag, uint32_t first, uint32_t second)
{
    size_t begin = b->n;
    append(b, tag, 4);
    append32(b, first);
    append32(b, second);
    append32(b, (uint32_t)crc32(0, b->at + begin, 12));
}

/* Of a stream's only field, and the end mark. */
static inline void append_trailer(bytes *b, size_t blocks, uint32_t crc)
{
    append_frame(b, "LATE", (uint32_t)blocks, crc);
    append_frame(b, "LATZ", 1, 0);
}

/* How blocks are stored. */
typedef enum { PLAIN, ZLIB, FILTERED } storage;

/* The raw bytes as blocks and trailer. `swap`: reals are not in this machine's order, in which
 * the filter takes them. */
static inline void append_field(bytes *b, const unsigned char *raw, size_t n, size_t block,
                                storage how, int real, bool swap)
{
    size_t blocks = 0;
    unsigned char *work = malloc(block), *swapped = malloc(block),
                  *packed = malloc(2 * block + 1024);
    need(work && swapped && packed, "memory");
    for (size_t at = 0; at < n; at += block, blocks++) {
        size_t m = n - at < block ? n - at : block;
        uLongf size = (uLongf)(2 * block + 1024);
        memcpy(swapped, raw + at, m);
        for (size_t i = 0; swap && i < m; i++)
            swapped[i] = raw[at + (i ^ (size_t)(real - 1))];
        if (how == FILTERED)
            lat_filter(swapped, m, real, work);
        if (how != PLAIN)
            need(compress2(packed, &size, how == FILTERED ? work : raw + at, (uLong)m, 1) == Z_OK,
                 "deflate");
        append_block(b, how == PLAIN ? raw + at : packed, how == PLAIN ? m : size, m);
    }
    append_trailer(b, blocks, (uint32_t)crc32(0, raw, (uInt)n));
    free(work);
    free(swapped);
    free(packed);
}

/* Lines of a good header of a small field, and of one with other extents or blocks. */
#define GOOD_KIND "kind = gauge\n"
#define GOOD_GROUP "group = SU(3)\n"
#define GOOD_DIMS "dims = 2 2 2 2\n"
#define GOOD_REAL "real = f32\nreals = 18\n"
#define GOOD_ORDER "sites = t z y x\nlinks = x y z t\nendian = little\n"
#define GOOD_STORE "block = 4096\ncompression = none\nfilter = none\n"
#define GOOD GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE
#define WITH_DIMS(dims) GOOD_KIND GOOD_GROUP "dims = " dims "\n" GOOD_REAL GOOD_ORDER GOOD_STORE
#define WITH_BLOCK(block) \
    GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER "block = " block \
                                                        "\ncompression = none\nfilter = none\n"

/* ---- fields ---- */

/* A field of two matrices of SU(2) in one dimension, as small as streams get. */
static inline bytes tiny(int store)
{
    lat_field f = stored_field(LAT_GAUGE, "2", 2, LAT_F32, 4, 17);
    bytes b = written(&f, store);
    lat_field_free(&f);
    return b;
}

static inline bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static inline bool same_lines(const lat_lines *a, const lat_lines *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->line[i], b->line[i]) == 0;
    return same;
}

/* Kinds, extents, groups and precisions of fields whose streams are compared. */
static const struct {
    lat_kind kind;
    const char *dims;
    int nc;
    lat_real real;
    int reals;
} shapes[] = {
    {LAT_GAUGE, "4 4 4 4", 3, LAT_F64, 18},
    {LAT_GAUGE, "4 4 4 4", 3, LAT_F32, 18},
    {LAT_GAUGE, "2 3 4 5", 3, LAT_F64, 12},
    {LAT_GAUGE, "2 3 4 5", 3, LAT_F32, 12},
    {LAT_GAUGE, "3 3 3 3", 2, LAT_F64, 8},
    {LAT_GAUGE, "3 3 3 3", 2, LAT_F64, 4},
    {LAT_GAUGE, "3 3 3 3", 2, LAT_F32, 4},
    {LAT_GAUGE, "5 3", 5, LAT_F32, 50},
    {LAT_GAUGE, "7", 4, LAT_F64, 32},
    {LAT_GAUGE, "1 1 1 1", 16, LAT_F32, 512},
    {LAT_GAUGE, "3 1 5", 3, LAT_F64, 18},
    {LAT_TRANSFORM, "4 4 4 2", 3, LAT_F64, 18},
    {LAT_TRANSFORM, "3 5 7 1", 3, LAT_F32, 12},
    {LAT_TRANSFORM, "1", 2, LAT_F32, 4},
    {LAT_SPINOR, "2 3 4 5", 3, LAT_F64, 24},
    {LAT_SPINOR, "1 1 1 1", 2, LAT_F32, 16},
    {LAT_PROPAGATOR, "3 3 2 4", 3, LAT_F32, 24},
    {LAT_PROPAGATOR, "2 1 3 2", 2, LAT_F64, 16},
    {LAT_PROPAGATOR, "4 4 4 4", 3, LAT_F64, 24},
    {LAT_MODES, "3 2 2 3", 3, LAT_F64, 24},
    {LAT_MODES, "1 2 1 2", 16, LAT_F32, 128},
    {LAT_GAUGE, "8 8 8 8", 3, LAT_F64, 18},
    {LAT_GAUGE, "8 8 8 12", 3, LAT_F32, 12},
    {LAT_GAUGE, "12 8 8 8", 3, LAT_F64, 12},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static inline lat_field shape(size_t s)
{
    return stored_field(shapes[s].kind, shapes[s].dims, shapes[s].nc, shapes[s].real,
                        shapes[s].reals, 17);
}
