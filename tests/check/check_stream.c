/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stream.c: fields come back bit for bit; nothing damaged, cut, or lying is accepted.
 *
 * Streams that our writer does not make are put together here by hand, from docs/format.md. */
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "check.h"
#include "fields.h"
#include "common/options.h"
#include "stream/codec.h"
#include "base/error.h"
#include "measure/measure.h"
#include "lattice/slices.h"
#include "stream/stream.h"
#include "site/sun.h"

static char folder[] = "/tmp/lat-check-stream.XXXXXX";
static char path[64];

/* ---- streams as bytes --------------------------------------------------------------------------
 */

typedef struct bytes {
    size_t n;
    unsigned char *at;
} bytes;

static void append(bytes *b, const void *p, size_t n)
{
    b->at = realloc(b->at, b->n + n + 1);
    need(b->at != NULL, "memory");
    if (n)
        memcpy(b->at + b->n, p, n);
    b->n += n;
}

static void append32(bytes *b, uint32_t v)
{
    unsigned char p[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                          (unsigned char)(v >> 24)};
    append(b, p, 4);
}

static bytes slurp(const char *from)
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

static void spill(const bytes *b)
{
    FILE *f = fopen(path, "wb");
    need(f && fwrite(b->at, 1, b->n, f) == b->n && fclose(f) == 0, path);
}

/* Opens the bytes as a file, or as a pipe of which they fill no more than its buffer. */
static lat_input *open_bytes(const bytes *b, bool piped)
{
    if (!piped) {
        spill(b);
        return lat_input_open(path);
    }
    int fd[2];
    need(pipe(fd) == 0, "pipe");
    (void)fcntl(fd[1], F_SETPIPE_SZ, 1 << 20);
    need((int)b->n <= fcntl(fd[1], F_GETPIPE_SZ) && write(fd[1], b->at, b->n) == (ssize_t)b->n,
         "a pipe that takes all");
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    close(fd[0]);
    return lat_input_open(NULL);
}

/* Reads all fields: how many, or -1. Keeps the last one in *last if that is not NULL. */
static int read_bytes(const bytes *b, bool piped, lat_field *last)
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

/* Never accepted, and a sentence says why. From a file and a pipe, of many cases by turns. */
static bool refused(const bytes *b, const char *format, size_t i)
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

static bytes written(lat_field *f, int store)
{
    lat_output *out = lat_output_open(path, 0);
    need(out && lat_stream_write(out, f, store) == 0 && lat_stream_commit(out) == 0, "writing");
    return slurp(path);
}

/* The same by slices, in portions of 1, 2, 3, ... of them. */
static bytes written_by_slices(const lat_field *f, int store)
{
    lat_output *out = lat_output_open(path, 0);
    lat_stream_writer *w = out ? lat_stream_open(out, &f->head, store) : NULL;
    const int all = lat_slices(&f->head);
    need(w != NULL, "writing by slices");
    for (int done = 0, n = 1; done < all; done += n, n = n + 1 < all - done ? n + 1 : all - done)
        need(lat_stream_put(w, (char *)f->data + (size_t)done * lat_slice_bytes(&f->head), n) == 0,
             "a portion");
    need(lat_stream_close(w) == 0 && lat_stream_commit(out) == 0, "the end");
    return slurp(path);
}

/* One field by slices, `first` of them and then the rest one by one. */
static int read_by_slices(const bytes *b, int first, lat_field *f)
{
    lat_error_clear();
    lat_input *in = open_bytes(b, false);
    lat_header_init(&f->head);
    f->data = NULL;
    if (!in || lat_stream_head(in, &f->head) != 1 || lat_field_alloc(f, lat_comm_world) < 0)
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

static int write_fails(lat_field *f)
{
    lat_error_clear();
    lat_output *out = lat_output_open(path, 0);
    need(out != NULL, "opening");
    int rc = lat_stream_write(out, f, LAT_STORE_RAW);
    lat_output_abort(out);
    return rc < 0;
}

/* ---- by hand -----------------------------------------------------------------------------------
 */

/* Header of these lines, each with its newline, the first and last are added here. */
static bytes head_of(const char *lines)
{
    bytes b = {0};
    char end[32];
    append(&b, LAT_STREAM_MAGIC, strlen(LAT_STREAM_MAGIC));
    append(&b, lines, strlen(lines));
    snprintf(end, sizeof end, "end = %08lx\n", crc32(0, b.at, (uInt)b.n));
    append(&b, end, strlen(end));
    return b;
}

static void append_block(bytes *b, const void *payload, size_t stored, size_t raw)
{
    size_t begin = b->n;
    append(b, "LATB", 4);
    append32(b, (uint32_t)stored);
    append32(b, (uint32_t)raw);
    uint32_t crc = (uint32_t)crc32(0, b->at + begin, 12);
    append32(b, (uint32_t)crc32(crc, payload, (uInt)stored));
    append(b, payload, stored);
}

static void append_frame(bytes *b, const char *tag, uint32_t first, uint32_t second)
{
    size_t begin = b->n;
    append(b, tag, 4);
    append32(b, first);
    append32(b, second);
    append32(b, (uint32_t)crc32(0, b->at + begin, 12));
}

/* Of a stream's only field, and the end mark. */
static void append_trailer(bytes *b, size_t blocks, uint32_t crc)
{
    append_frame(b, "LATE", (uint32_t)blocks, crc);
    append_frame(b, "LATZ", 1, 0);
}

/* How blocks are stored. */
typedef enum { PLAIN, ZLIB, FILTERED } storage;

/* The raw bytes as blocks and trailer. `swap`: reals are not in this machine's order, in which
 * the filter takes them. */
static void append_field(bytes *b, const unsigned char *raw, size_t n, size_t block, storage how,
                         int real, bool swap)
{
    size_t blocks = 0;
    unsigned char *work = malloc(block), *turned = malloc(block),
                  *packed = malloc(2 * block + 1024);
    need(work && turned && packed, "memory");
    for (size_t at = 0; at < n; at += block, blocks++) {
        size_t m = n - at < block ? n - at : block;
        uLongf size = (uLongf)(2 * block + 1024);
        memcpy(turned, raw + at, m);
        for (size_t i = 0; swap && i < m; i++)
            turned[i] = raw[at + (i ^ (size_t)(real - 1))];
        if (how == FILTERED)
            lat_filter(turned, m, real, work);
        if (how != PLAIN)
            need(compress2(packed, &size, how == FILTERED ? work : raw + at, (uLong)m, 1) == Z_OK,
                 "deflate");
        append_block(b, how == PLAIN ? raw + at : packed, how == PLAIN ? m : size, m);
    }
    append_trailer(b, blocks, (uint32_t)crc32(0, raw, (uInt)n));
    free(work);
    free(turned);
    free(packed);
}

/* ---- fields ------------------------------------------------------------------------------------
 */

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool same_lines(const lat_lines *a, const lat_lines *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->line[i], b->line[i]) == 0;
    return same;
}

static bool same_field(const lat_field *a, const lat_field *b)
{
    const lat_header *p = &a->head, *q = &b->head;
    return p->kind == q->kind && memcmp(&p->geom, &q->geom, sizeof p->geom) == 0 && p->nc == q->nc
           && p->real == q->real && p->reals == q->reals && same_number(p->plaquette, q->plaquette)
           && same_number(p->link_trace, q->link_trace) && strcmp(p->gauge, q->gauge) == 0
           && same_number(p->functional, q->functional) && same_number(p->theta, q->theta)
           && p->sweeps == q->sweeps && same_lines(&p->info, &q->info)
           && same_lines(&p->history, &q->history)
           && memcmp(a->data, b->data, lat_field_reals(a) * (size_t)p->real) == 0;
}

static const struct {
    lat_kind kind;
    const char *dims;
    int nc;
    lat_real real;
    int reals;
} shapes[] = {
    {LAT_GAUGE, "4 4 4 4", 3, LAT_F64, 18},     {LAT_GAUGE, "4 4 4 4", 3, LAT_F32, 18},
    {LAT_GAUGE, "2 3 4 5", 3, LAT_F64, 12},     {LAT_GAUGE, "2 3 4 5", 3, LAT_F32, 12},
    {LAT_GAUGE, "3 3 3 3", 2, LAT_F64, 8},      {LAT_GAUGE, "3 3 3 3", 2, LAT_F64, 4},
    {LAT_GAUGE, "3 3 3 3", 2, LAT_F32, 4},      {LAT_GAUGE, "5 3", 5, LAT_F32, 50},
    {LAT_GAUGE, "7", 4, LAT_F64, 32},           {LAT_GAUGE, "1 1 1 1", 16, LAT_F32, 512},
    {LAT_GAUGE, "3 1 5", 3, LAT_F64, 18},       {LAT_TRANSFORM, "4 4 4 2", 3, LAT_F64, 18},
    {LAT_TRANSFORM, "3 5 7 1", 3, LAT_F32, 12}, {LAT_TRANSFORM, "1", 2, LAT_F32, 4},
    {LAT_GAUGE, "8 8 8 8", 3, LAT_F64, 18},     {LAT_GAUGE, "8 8 8 12", 3, LAT_F32, 12},
    {LAT_GAUGE, "12 8 8 8", 3, LAT_F64, 12},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static lat_field shape(size_t s)
{
    return stored_field(shapes[s].kind, shapes[s].dims, shapes[s].nc, shapes[s].real,
                        shapes[s].reals, 17);
}

/* ---- cases -------------------------------------------------------------------------------------
 */

static void check_round_trips(void)
{
    for (size_t s = 0; s < SHAPES; s++)
        for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
            lat_field f = shape(s), back;
            need(lat_info_set(&f.head, "lfn", "lfn://somewhere/a = b") == 0
                     && lat_info_set(&f.head, "empty", "") == 0
                     && lat_lines_add(&f.head.history,
                                      "lat-start 0.1.0 | --seed 17 | \xc3\xa9tape %zu", s)
                            == 0
                     && lat_lines_add(&f.head.history, "%s", "") == 0,
                 "lines");
            if (s % 2) {
                strcpy(f.head.gauge, "landau");
                f.head.functional = 0.1 + 1. / 3;
                f.head.theta = 4.9406564584124654e-324;
                f.head.sweeps = 1234567890;
            }
            bytes b = written(&f, store);
            if (f.head.kind == LAT_GAUGE) {
                double p, l;
                need(lat_measure_plaquette(&f, &p, &l) == 0, "measuring");
                CHECK(same_number(f.head.plaquette, p) && f.head.link_trace == l,
                      "shape %zu: %g %g", s, p, l);
            }
            if (CHECK(read_bytes(&b, false, &back) == 1, "shape %zu store %d: %s", s, store,
                      lat_error())) {
                CHECK(same_field(&f, &back), "shape %zu store %d", s, store);
                CHECK(strcmp(lat_info_get(&back.head, "lfn"), "lfn://somewhere/a = b") == 0,
                      "shape %zu", s);
                lat_field_free(&back);
            }
            bytes c = written_by_slices(&f, store);
            CHECK(c.n == b.n && memcmp(c.at, b.at, b.n) == 0,
                  "shape %zu store %d: other bytes by slices", s, store);
            free(c.at);
            for (int first = 1; first < 4; first += 2)
                if (CHECK(read_by_slices(&b, first, &back) == 0, "shape %zu store %d by slices: %s",
                          s, store, lat_error())) {
                    CHECK(same_field(&f, &back), "shape %zu store %d by slices", s, store);
                    lat_field_free(&back);
                }
            if (b.n <= 65536
                && CHECK(read_bytes(&b, true, &back) == 1, "shape %zu piped: %s", s, lat_error())) {
                CHECK(same_field(&f, &back), "shape %zu store %d piped", s, store);
                lat_field_free(&back);
            }
            lat_field_free(&f);
            free(b.at);
        }
}

/* Writing what was read changes nothing: dropping rows twice is dropping them once. */
static void check_again(void)
{
    for (size_t s = 0; s < SHAPES; s++) {
        lat_field f = shape(s), back;
        bytes once = written(&f, LAT_STORE_ZLIB);
        need(read_bytes(&once, false, &back) == 1, "reading");
        bytes twice = written(&back, LAT_STORE_ZLIB);
        CHECK(once.n == twice.n && memcmp(once.at, twice.at, once.n) == 0, "shape %zu", s);
        lat_field_free(&f);
        lat_field_free(&back);
        free(once.at);
        free(twice.at);
    }
}

/* A field of two matrices of SU(2) in one dimension, as small as streams get. */
static bytes tiny(int store)
{
    lat_field f = stored_field(LAT_GAUGE, "2", 2, LAT_F32, 4, 17);
    bytes b = written(&f, store);
    lat_field_free(&f);
    return b;
}

static void check_flips(void)
{
    for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
        bytes b = tiny(store);
        for (size_t bit = 0; bit < 8 * b.n; bit++) {
            b.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
            refused(&b, "bit", bit);
            b.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        CHECK(read_bytes(&b, false, NULL) == 1, "the undamaged one: %s", lat_error());
        free(b.at);
    }
}

/* Any byte replaced by any other: not all of them, but every place, in several blocks. */
static void check_bytes(void)
{
    unsigned char raw[3 * 4096 - 96];
    uint64_t r = 88172645463325252u;
    for (size_t i = 0; i < sizeof raw / 4; i++) {
        float x = (float)(i % 37) / 37;
        memcpy(raw + 4 * i, &x, 4);
    }
    bytes b = head_of(
        "kind = transform\ngroup = SU(3)\ndims = 13 13\nreal = f32\nreals = 18\nsites = y x\n"
        "endian = little\nblock = 4096\ncompression = zlib\nfilter = none\n");
    _Static_assert(sizeof raw >= 13 * 13 * 72, "enough of it");
    append_field(&b, raw, 13 * 13 * 72, 4096, ZLIB, 4, false);
    CHECK(read_bytes(&b, false, NULL) == 1, "%s", lat_error());
    for (size_t i = 0; i < b.n; i++) {
        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
        unsigned char was = b.at[i];
        b.at[i] ^= (unsigned char)(1 + r % 255);
        refused(&b, "byte", i);
        b.at[i] = was;
    }
    free(b.at);
}

static void check_cuts(void)
{
    for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
        bytes b = tiny(store), two = {0};
        append(&two, b.at, b.n);
        append(&two, b.at, b.n);
        for (size_t n = 0; n < two.n; n++) {
            bytes cut = {n, two.at};
            if (n != b.n)
                refused(&cut, "cut after", n);
        }
        CHECK(read_bytes(&b, false, NULL) == 1 && read_bytes(&b, true, NULL) == 1, "one: %s",
              lat_error());
        CHECK(read_bytes(&two, false, NULL) == 2 && read_bytes(&two, true, NULL) == 2, "two: %s",
              lat_error());
        free(b.at);
        free(two.at);
    }
}

/* Fields in one stream, and what may stand for its end mark. */
static void check_end_mark(void)
{
    bytes b = tiny(LAT_STORE_RAW);
    const size_t field = b.n - 16;
    for (uint32_t said = 0; said < 4; said++)
        for (uint32_t there = 0; there < 4; there++) {
            bytes many = {0};
            for (uint32_t i = 0; i < there; i++)
                append(&many, b.at, field);
            append_frame(&many, "LATZ", said, 0);
            if (said == there && there > 0)
                CHECK(read_bytes(&many, false, NULL) == (int)there, "%u fields: %s", there,
                      lat_error());
            else
                refused(&many, "another number of fields", 4 * said + there);
            append(&many, "LATZ", 4);
            refused(&many, "followed by part of an end mark", there);
            free(many.at);
        }
    bytes twice = {0};
    append(&twice, b.at, b.n);
    append_frame(&twice, "LATZ", 0, 0);
    refused(&twice, "an end mark of nothing", 0);
    twice.n = b.n;
    append_frame(&twice, "LATZ", 1, 0);
    refused(&twice, "two end marks", 0);
    free(twice.at);
    b.n = field;
    refused(&b, "no end mark", 0);
    CHECK(strstr(lat_error(), "truncated") != NULL, "%s", lat_error());
    free(b.at);
}

static void check_garbage(void)
{
    bytes b = tiny(LAT_STORE_RAW), again = tiny(LAT_STORE_RAW);
    size_t n = b.n;
    for (int c = 0; c < 256; c++) {
        unsigned char byte = (unsigned char)c;
        b.n = n;
        append(&b, &byte, 1);
        refused(&b, "followed by byte", (size_t)c);
    }
    b.n = n;
    append(&b, again.at + 20, n - 20);
    refused(&b, "followed by a stream without its first bytes", 20);
    free(b.at);
    free(again.at);
    b = (bytes){0};
    append(&b, "BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE\n", 37);
    refused(&b, "another format", 0);
    free(b.at);
}

/* What another program may write: any block size, deflate without filter, the other byte order. */
static void check_foreign(void)
{
    const size_t blocks[] = {4096, 4104, 10000, 1 << 20};
    for (size_t s = 0; s < SHAPES; s++) {
        lat_field f = shape(s), back;
        bytes ours = written(&f, LAT_STORE_RAW); /* completes the matrices, measures */
        size_t real = (size_t)f.head.real, n = lat_header_bytes(&f.head);
        if (n > 200000) {
            free(ours.at);
            lat_field_free(&f);
            continue;
        }
        unsigned char *raw = malloc(n);
        need(raw != NULL, "memory");
        for (int big = 0; big < 2; big++)
            for (storage how = PLAIN; how <= FILTERED; how++)
                for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
                    char lines[1024], dims[64];
                    const char *const sites[] = {"", "x", "y x", "z y x", "t z y x"};
                    const char *const links[] = {"", "x", "x y", "x y z", "x y z t"};
                    int nd = f.head.geom.nd;
                    bool gauge = f.head.kind == LAT_GAUGE,
                         swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
                    /* the raw bytes are those that our writer stored as one block */
                    need(ours.n > n + 32 && n <= 1 << 20, "one block");
                    memcpy(raw, ours.at + ours.n - 32 - n, n);
                    if (big)
                        for (size_t i = 0; i < n; i += real)
                            for (size_t j = 0; j < real / 2; j++) {
                                unsigned char t = raw[i + j];
                                raw[i + j] = raw[i + real - 1 - j];
                                raw[i + real - 1 - j] = t;
                            }
                    snprintf(lines, sizeof lines,
                             "kind = %s\ngroup = SU(%d)\ndims = %s\nreal = f%d\nreals = %d\n"
                             "sites = %s\n%s%s%sendian = %s\nblock = %zu\ncompression = %s\nfilter "
                             "= %s\n",
                             gauge ? "gauge" : "transform", f.head.nc,
                             lat_dims_text(&f.head.geom, dims), (int)real * 8, f.head.reals,
                             sites[nd], gauge ? "links = " : "", gauge ? links[nd] : "",
                             gauge ? "\n" : "", big ? "big" : "little", blocks[k],
                             how == PLAIN ? "none" : "zlib",
                             how == FILTERED ? "rotate-shuffle" : "none");
                    bytes b = head_of(lines);
                    append_field(&b, raw, n, blocks[k], how, (int)real, swap);
                    if (CHECK(read_bytes(&b, false, &back) == 1, "shape %zu %s %d block %zu: %s", s,
                              big ? "big" : "little", how, blocks[k], lat_error())) {
                        CHECK(memcmp(f.data, back.data, lat_field_reals(&f) * real) == 0,
                              "shape %zu %s %d block %zu", s, big ? "big" : "little", how,
                              blocks[k]);
                        lat_field_free(&back);
                    }
                    if (CHECK(read_by_slices(&b, 2, &back) == 0,
                              "shape %zu block %zu by slices: %s", s, blocks[k], lat_error()))
                        CHECK(memcmp(f.data, back.data, lat_field_reals(&f) * real) == 0,
                              "shape %zu %s %d block %zu by slices", s, big ? "big" : "little", how,
                              blocks[k]);
                    lat_field_free(&back);
                    free(b.at);
                }
        free(raw);
        free(ours.at);
        lat_field_free(&f);
    }
}

/* The stream of f with another plaquette or trace, all checksums right. */
static int read_with(const lat_field *f, double plaquette, double link_trace)
{
    lat_field g = {.data = f->data};
    need(lat_header_copy(&g.head, &f->head) == 0, "copy");
    g.head.plaquette = plaquette;
    g.head.link_trace = link_trace;
    bytes b = written(&g, LAT_STORE_RAW);
    int rc = read_bytes(&b, false, NULL);
    free(b.at);
    lat_header_free(&g.head);
    return rc;
}

static void check_physics(void)
{
    const lat_real reals[] = {LAT_F32, LAT_F64};
    for (int i = 0; i < 2; i++) {
        lat_field f = stored_field(LAT_GAUGE, "4 4 4 4", 3, reals[i], 18, 17);
        double p, l;
        need(lat_measure_plaquette(&f, &p, &l) == 0, "measuring");
        /* Accepted: what rounding of the links may do, stream_read.c's tolerance() shows why;
         * refused: a few times that. u bounds the rounding of a real relative to it, 1024 links. */
        double u = reals[i] == LAT_F32 ? 0x1p-24 : 0x1p-53;
        double bound = 4 * u + (64 + 4 * 32) * DBL_EPSILON;
        CHECK(read_with(&f, p + 0.99 * bound, l) == 1, "f%d: %s", 8 * reals[i], lat_error());
        CHECK(read_with(&f, p - 0.99 * bound, l) == 1, "f%d: %s", 8 * reals[i], lat_error());
        CHECK(read_with(&f, p, l + 0.99 * bound) == 1, "f%d: %s", 8 * reals[i], lat_error());
        const double off[] = {2 * bound, -2 * bound, 1e-3, 1, -2, 1e300};
        for (size_t k = 0; k < sizeof off / sizeof *off; k++) {
            CHECK(read_with(&f, p + off[k], l) < 0, "f%d plaquette off by %g", 8 * reals[i],
                  off[k]);
            CHECK(strstr(lat_error(), "plaquette") != NULL, "%s", lat_error());
            CHECK(read_with(&f, p, l + off[k]) < 0, "f%d link trace off by %g", 8 * reals[i],
                  off[k]);
            CHECK(strstr(lat_error(), "link trace") != NULL, "%s", lat_error());
        }
        lat_field_free(&f);
    }
}

/* Which reals of a matrix are stored, and in which order. */
static void check_order(void)
{
    const float q[4] = {0.1f, 0.3f, 0.5f, 0.8f}; /* q0 to q3; their squares add to 0.99 */
    const double m[8] = {0.1f, 0.8f, 0.5f, 0.3f, -0.5f, 0.3f, 0.1f, -0.8f};
    lat_field f = stored_field(LAT_TRANSFORM, "3", 2, LAT_F32, 4, 17), back;
    lat_field_put(&f, 1, m);
    bytes b = written(&f, LAT_STORE_RAW);
    CHECK(memcmp(b.at + b.n - 32 - 2 * sizeof q, q, sizeof q) == 0, "not q0, q1, q2, q3");
    if (CHECK(read_bytes(&b, false, &back) == 1, "%s", lat_error())) {
        double n[8];
        lat_field_get(&back, 1, n);
        CHECK(memcmp(m, n, sizeof m) == 0, "another matrix");
        lat_field_free(&back);
    }
    free(b.at);
    lat_field_free(&f);
    f = stored_field(LAT_TRANSFORM, "3", 3, LAT_F64, 12, 17);
    b = written(&f, LAT_STORE_RAW);
    for (size_t i = 0; i < 3; i++)
        CHECK(memcmp(b.at + b.n - 32 - (3 - i) * 96, (double *)f.data + 18 * i, 96) == 0,
              "not two rows");
    free(b.at);
    lat_field_free(&f);
}

/* A plaquette measured in double precision, before links were rounded and rows dropped, is near
 * enough to what is measured after it. */
static void check_rounding(void)
{
    lat_field f = stored_field(LAT_GAUGE, "4 4 4 4", 3, LAT_F64, 18, 17);
    double p, l;
    need(lat_measure_plaquette(&f, &p, &l) == 0, "measuring");
    f.head.plaquette = p;
    need(lat_field_convert(&f, LAT_F32) == 0, "rounding");
    CHECK(isnan(f.head.plaquette), "a rounded field keeps its plaquette");
    CHECK(read_with(&f, p, l) == 1, "18 reals: %s", lat_error());
    lat_field_free(&f);
}

static void check_not_finite(void)
{
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        for (size_t at = 0; at < 3; at++) {
            size_t matrix = at == 0 ? 0 : at == 1 ? 777 : 2047;
            char where[32];
            snprintf(where, sizeof where, "matrix %zu", matrix);
            lat_field f = stored_field(LAT_TRANSFORM, "8 8 8 4", 3, LAT_F64, 18, 17);
            ((double *)f.data)[18 * matrix + 5 * at] = bad[k];
            CHECK(write_fails(&f) && strstr(lat_error(), where), "%s: %s", where, lat_error());
            bytes b = head_of(
                "kind = transform\ngroup = SU(3)\ndims = 8 8 8 4\nreal = f64\nreals = 18\nsites "
                "= t z y x\n"
                "endian = little\nblock = 16384\ncompression = zlib\nfilter = rotate-shuffle\n");
            append_field(&b, f.data, lat_header_bytes(&f.head), 16384, FILTERED, 8, false);
            CHECK(read_bytes(&b, false, NULL) < 0 && strstr(lat_error(), where), "%s: %s", where,
                  lat_error());
            free(b.at);
            lat_field_free(&f);
        }
}

/* Two rows are enough only of SU(3) matrices. */
static void check_not_unitary(void)
{
    lat_field f = stored_field(LAT_GAUGE, "4 4 4 4", 3, LAT_F64, 12, 17);
    double *m = (double *)f.data + 18 * 1000, was[18];
    memcpy(was, m, sizeof was);
    for (int k = 12; k < 18; k++)
        m[k] = -m[k]; /* det = -1, as where a boundary sign was folded in */
    CHECK(write_fails(&f) && strstr(lat_error(), "number 1000"), "%s", lat_error());
    for (int k = 12; k < 18; k++)
        m[k] = was[k] + 1e-9;
    bytes b = written(&f, LAT_STORE_RAW);
    CHECK(read_bytes(&b, false, NULL) == 1, "%s", lat_error());
    free(b.at);
    lat_field_free(&f);
}

static void check_threads(void)
{
#ifdef _OPENMP
    int usual = omp_get_max_threads();
    for (size_t s = 0; s < SHAPES; s++)
        for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
            bytes with[4];
            for (int t = 0; t < 4; t++) {
                lat_field f = shape(s), back;
                omp_set_num_threads(t + 1);
                with[t] = written(&f, store);
                CHECK(with[t].n == with[0].n && memcmp(with[t].at, with[0].at, with[0].n) == 0,
                      "shape %zu store %d: %d threads and 1", s, store, t + 1);
                if (CHECK(read_bytes(&with[t], false, &back) == 1, "%s", lat_error())) {
                    CHECK(same_field(&f, &back), "shape %zu store %d: %d threads", s, store, t + 1);
                    lat_field_free(&back);
                }
                lat_field_free(&f);
            }
            for (int t = 0; t < 4; t++)
                free(with[t].at);
        }
    omp_set_num_threads(usual);
#endif
}

static void check_skip(void)
{
    lat_field f = shape(SHAPES - 1);
    bytes b = written(&f, LAT_STORE_ZLIB), two = {0};
    append(&two, b.at, b.n);
    append(&two, b.at, b.n);
    spill(&two);
    lat_input *in = lat_input_open(path);
    need(in != NULL, path);
    unsigned crc = 0;
    for (int i = 0; i < 2; i++) {
        lat_header head;
        if (!CHECK(lat_stream_head(in, &head) == 1, "%s", lat_error()))
            break;
        lat_field g = {.head = head};
        CHECK((i ? lat_stream_body(in, &g) : lat_stream_skip(in, &head)) == 1, "%s", lat_error());
        const lat_stream_form *form = lat_stream_last(in);
        CHECK(form->compressed && form->block == 1 << 20 && form->blocks == 3, "%zu %u",
              form->block, form->blocks);
        CHECK(form->stored == b.n - 16, "%llu of %zu", form->stored,
              b.n); /* the end mark is no field's */
        CHECK(i == 0 || form->crc == crc, "%08x and %08x", form->crc, crc);
        crc = form->crc;
        lat_field_free(&g);
    }
    lat_header head;
    CHECK(lat_stream_head(in, &head) == 0, "%s", lat_error());
    lat_input_close(in);
    free(two.at);
    free(b.at);
    lat_field_free(&f);
}

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

/* Lines of a header, and a word that the sentence must have. */
static const struct {
    const char *lines, *word;
} hostile[] = {
    {"", "kind"},
    {GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {"kind = gauge|transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {"kind = \n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {"kind = gaug\n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {GOOD_KIND GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = U(1)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(1)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(17)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(-3)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(3))\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(4294967299)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(4)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_REAL GOOD_ORDER GOOD_STORE, "dims"},
    {WITH_DIMS(""), "dims"},
    {WITH_DIMS("0 2 2 2"), "dims"},
    {WITH_DIMS("2 2 2 -2"), "dims"},
    {WITH_DIMS("2 2 2 +2"), "dims"},
    {WITH_DIMS("2 2 2 02"), "dims"},
    {WITH_DIMS("2 2 2 0x2"), "dims"},
    {WITH_DIMS("2  2 2 2"), "dims"},
    {WITH_DIMS("2 2 2 2 "), "dims"},
    {WITH_DIMS(" 2 2 2 2"), "dims"},
    {WITH_DIMS("2 2 2 2 2"), "dims"},
    {WITH_DIMS("2,2,2,2"), "dims"},
    {WITH_DIMS("2 2 2 65536"), "dims"},
    {WITH_DIMS("2 2 2 4294967298"), "dims"},
    {WITH_DIMS("2 2 2 18446744073709551618"), "dims"},
    {WITH_DIMS("2 2 2 99999999999999999999999999"), "dims"},
    {WITH_DIMS("65535 65535 65535 65535"), "sites"},
    {WITH_DIMS("65535 65535 65535 2"), "blocks"},
    {WITH_DIMS("2 2 2"), "sites"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f16\nreals = 18\n" GOOD_ORDER GOOD_STORE, "real"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "reals = 18\n" GOOD_ORDER GOOD_STORE, "real"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = 0\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = 8\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = 4\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = -18\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL "links = x y z t\nendian = little\n" GOOD_STORE,
     "order"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = x y z z\nlinks = x y z t\nendian = little\n" GOOD_STORE,
     "such as 't z y x'"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = t z y x\nlinks = t x y x\nendian = little\n" GOOD_STORE,
     "such as 'x y z t'"},
    {"kind = transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = links t z y x\nendian = little\n" GOOD_STORE,
     "order of the sites"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL "sites = t z y x\nendian = little\n" GOOD_STORE,
     "links"},
    {"kind = transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "links"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = t z y x\nlinks = x y z t\nendian = middle\n" GOOD_STORE,
     "endian"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL "sites = t z y x\nlinks = x y z t\n" GOOD_STORE,
     "endian"},
    {WITH_BLOCK("0"), "block"},
    {WITH_BLOCK("4088"), "block"},
    {WITH_BLOCK("4097"), "block"},
    {WITH_BLOCK("67108872"), "block"},
    {WITH_BLOCK("18446744073709555712"), "block"},
    {WITH_BLOCK("-4096"), "block"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
     "block = 4096\ncompression = zstd\nfilter = none\n",
     "compression"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
     "block = 4096\ncompression = none\nfilter = rotate-shuffle\n",
     "filter"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
     "block = 4096\ncompression = zlib\nfilter = shuffle\n",
     "filter"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER "block = 4096\ncompression = zlib\n",
     "filter"},
    {GOOD GOOD_DIMS, "twice"},
    {GOOD GOOD_KIND, "twice"},
    {GOOD "info.a = 1\ninfo.a = 1\n", "twice"},
    {GOOD "info. = 1\n", "info"},
    {GOOD "info.A = 1\n", "info"},
    {GOOD "info.a b = 1\n", "info"},
    {GOOD "colour = red\n", "newer"},
    {GOOD "Plaquette = 0.5\n", "newer"},
    {GOOD "plaquette 0.5\n", "key = value"},
    {GOOD "\n", "key = value"},
    {GOOD "plaquette = nan\n", "finite"},
    {GOOD "plaquette = inf\n", "finite"},
    {GOOD "plaquette = \n", "finite"},
    {GOOD "plaquette = 0x1p-1\n", "finite"},
    {GOOD "plaquette = 1e999\n", "finite"},
    {GOOD "plaquette = 0.5.\n", "finite"},
    {GOOD "theta = 1e-14\n", "gauge"},
    {GOOD "gauge = none\nsweeps = 3\n", "gauge"},
    {GOOD "gauge = a b\n", "gauge"},
    {GOOD "gauge = \n", "gauge"},
    {GOOD "gauge = landaulandaulandau\n", "gauge"},
    {GOOD "gauge = landau\nsweeps = -1\n", "sweeps"},
    {GOOD "gauge = landau\nsweeps = 9999999999999999999999\n", "sweeps"},
    {GOOD "gauge = landau\ntheta = -inf\n", "theta"},
    {GOOD "history = bell \a\n", "byte 07"},
    {GOOD "history = \xe9tape\n", "UTF-8"},
    {GOOD "info.author = Andr\xe9\n", "UTF-8"},
    {GOOD "weights = 2 1 1 1\n", "weights"},
    {GOOD "gauge = coulomb\nweights = 2 1 1 1\n", "weights"},
    {GOOD "gauge = landau\nweights = 0 0 0 0\n", "weights"},
    {GOOD "history = tab \t\n", "byte 09"},
    {GOOD "history = carriage return \r\n", "byte 0d"},
    {"kind = transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = t z y x\nendian = little\n" GOOD_STORE "plaquette = 0.5\n",
     "plaquette"},
    {GOOD_KIND GOOD_GROUP "dims = 2\n" GOOD_REAL
                          "sites = x\nlinks = x\nendian = little\n" GOOD_STORE "plaquette = 0.5\n",
     "plaquette"},
};

static void check_hostile(void)
{
    bytes good = head_of(GOOD);
    CHECK(read_bytes(&good, true, NULL) < 0 && strstr(lat_error(), "truncated"), "%s", lat_error());
    free(good.at);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        bytes b = head_of(hostile[i].lines);
        lat_header head;
        lat_error_clear();
        lat_input *in = open_bytes(&b, true);
        CHECK(in && lat_stream_head(in, &head) < 0, "header %zu (%s) was accepted", i,
              hostile[i].word);
        CHECK(strstr(lat_error(), hostile[i].word) != NULL, "header %zu: no '%s' in: %s", i,
              hostile[i].word, lat_error());
        lat_input_close(in);
        free(b.at);
    }
}

/* A header with one line of `n` bytes, newline and all, that begins so; and the field of GOOD. */
static bytes long_line(const char *begin, size_t n)
{
    unsigned char raw[16 * 4 * 72] = {0};
    char *lines = malloc(strlen(GOOD) + n + 1);
    need(lines != NULL, "memory");
    strcpy(lines, GOOD);
    char *line = lines + strlen(GOOD);
    memset(line, 'x', n);
    memcpy(line, begin, strlen(begin));
    memcpy(line + n - 4, "end\n", 5);
    bytes b = head_of(lines);
    append_field(&b, raw, sizeof raw, 4096, PLAIN, 4, false);
    free(lines);
    return b;
}

/* The longest lines that can be read are written again as they were, and copied; one more byte is
 * refused. */
static void check_longest(void)
{
    static const char *const begin[] = {
        "history = ", "info.k = ", "info.a.longer-key_2 = \xc3\xa9 = "};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        bytes b = long_line(begin[i], 65536);
        lat_field f, again;
        lat_header copy;
        if (!CHECK(read_bytes(&b, false, &f) == 1, "%s: %s", begin[i], lat_error())) {
            free(b.at);
            continue;
        }
        const char *line = (i ? f.head.info : f.head.history).line[0];
        const size_t key = strlen(i ? "info." : "history = ");
        const unsigned char *was = b.at + strlen(LAT_STREAM_MAGIC GOOD) + key;
        CHECK(strlen(line) == 65535 - key && memcmp(line, was, 65535 - key) == 0, "%s: %zu bytes",
              begin[i], strlen(line));
        bytes c = written(&f, LAT_STORE_RAW);
        CHECK(memmem(c.at, c.n, was - key, 65536) != NULL, "%s: another line is written", begin[i]);
        if (CHECK(read_bytes(&c, false, &again) == 1, "%s: %s", begin[i], lat_error())) {
            CHECK(same_lines(&f.head.info, &again.head.info)
                      && same_lines(&f.head.history, &again.head.history),
                  "%s: read again", begin[i]);
            lat_field_free(&again);
        }
        CHECK(lat_header_copy(&copy, &f.head) == 0 && same_lines(&f.head.info, &copy.info)
                  && same_lines(&f.head.history, &copy.history),
              "%s: copied", begin[i]);
        lat_header_free(&copy);
        lat_field_free(&f);
        free(b.at);
        free(c.at);
        b = long_line(begin[i], 65537);
        refused(&b, "a line longer than the longest", 65537);
        free(b.at);
    }
    char *value = malloc(LAT_MAX_INFO_LINE);
    lat_header head;
    need(value != NULL, "memory");
    lat_header_init(&head);
    memset(value, 'x', LAT_MAX_INFO_LINE - 4);
    value[LAT_MAX_INFO_LINE - 4] = 0;
    CHECK(lat_info_set(&head, "k", value) == 0 && strcmp(lat_info_get(&head, "k"), value) == 0,
          "%s", lat_error());
    strcat(value, "x");
    lat_error_clear();
    CHECK(lat_info_set(&head, "k", value) < 0 && strstr(lat_error(), "info line k"), "%s",
          lat_error());
    CHECK(head.info.count == 1 && strlen(lat_info_get(&head, "k")) == LAT_MAX_INFO_LINE - 4,
          "the old one is gone");
    lat_error_clear();
    lat_header_free(&head);
    free(value);
}

/* Headers of more than a header may have, and a NUL in one. */
static void check_endless(void)
{
    char *line = malloc(70001), *much = malloc(1200001);
    need(line && much, "memory");
    memset(line, 'x', 70000);
    memcpy(line, "history = ", 10);
    line[69999] = '\n';
    line[70000] = 0;
    bytes b = head_of(line);
    CHECK(read_bytes(&b, false, NULL) < 0 && strstr(lat_error(), "lines of at most"), "%s",
          lat_error());
    free(b.at);
    for (int i = 0; i < 1200000; i += 100) {
        memset(much + i, 'x', 99);
        memcpy(much + i, "history = ", 10);
        much[i + 99] = '\n';
    }
    much[1200000] = 0;
    b = head_of(much);
    CHECK(read_bytes(&b, false, NULL) < 0 && strstr(lat_error(), "header of at most"), "%s",
          lat_error());
    free(b.at);
    b = head_of(GOOD "history = a0b\n");
    *(unsigned char *)memchr(b.at + b.n - 20, '0', 20) = 0;
    refused(&b, "a NUL in line", 1);
    free(b.at);
    b = head_of(GOOD);
    b.at[b.n - 1] = 'x';
    append(&b, "\n", 1);
    CHECK(read_bytes(&b, true, NULL) < 0 && strstr(lat_error(), "checksum of the header"), "%s",
          lat_error());
    free(b.at);
    lat_field f = stored_field(LAT_GAUGE, "2", 2, LAT_F32, 4, 17);
    for (int i = 0; i < 17; i++)
        need(lat_lines_add(&f.head.history, "%.65000s", line) == 0, "a line");
    CHECK(write_fails(&f) && strstr(lat_error(), "header of at most"), "%s", lat_error());
    lat_field_free(&f);
    free(line);
    free(much);
}

/* Headers that claim terabytes, with nothing behind them, cost nothing. */
static void check_claims(void)
{
    const char *const claims[] = {
        WITH_DIMS("64 64 64 64"),
        WITH_DIMS("4096 512 512 16"),
        WITH_DIMS("65535 1024 64 1"),
        GOOD_KIND "group = SU(16)\ndims = 1024 1024 1024 64\nreal = f64\nreals = 512\n" GOOD_ORDER
                  "block = 67108864\ncompression = zlib\nfilter = rotate-shuffle\n",
    };
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        bytes b = head_of(claims[i]);
        CHECK(read_bytes(&b, true, NULL) < 0 && strstr(lat_error(), "truncated"), "claim %zu: %s",
              i, lat_error());
        CHECK(read_bytes(&b, false, NULL) < 0
                  && strstr(lat_error(), "bytes after the header, expected"),
              "claim %zu: %s", i, lat_error());
        free(b.at);
    }
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 200000, "%ld KiB more memory",
          after.ru_maxrss - before.ru_maxrss);
}

/* Five gigabytes claimed in an order in which each matrix is on a page of its own, and one block of
 * them: a 16th would have to come before they are taken. */
static void check_scattered(void)
{
    static const unsigned char zeros[524288];
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    bytes b = head_of(GOOD_KIND GOOD_GROUP
                      "dims = 64 64 64 64\n" GOOD_REAL
                      "sites = links x y z t\nlinks = x y z t\nendian = little\n"
                      "block = 524288\ncompression = none\nfilter = none\n");
    append_block(&b, zeros, sizeof zeros, sizeof zeros);
    CHECK(read_bytes(&b, true, NULL) < 0 && strstr(lat_error(), "truncated"), "%s", lat_error());
    CHECK(read_bytes(&b, false, NULL) < 0
              && strstr(lat_error(), "bytes after the header, expected"),
          "%s", lat_error());
    free(b.at);
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 100000, "%ld KiB more memory",
          after.ru_maxrss - before.ru_maxrss);
}

/* Refused by a sentence with that word, from a file and from a pipe. Frees the bytes. */
static void contradicts(bytes *b, const char *word)
{
    for (int piped = 0; piped < 2; piped++) {
        CHECK(read_bytes(b, piped, NULL) < 0, "accepted, expected '%s'", word);
        CHECK(strstr(lat_error(), word) != NULL, "no '%s' in: %s", word, lat_error());
    }
    free(b->at);
    *b = (bytes){0};
}

/* Frames that contradict the header, each with its checksum right. The field is 4096 bytes and 512.
 */
static void check_frames(void)
{
    unsigned char raw[16 * 4 * 72] = {0};
    const size_t n = sizeof raw;
    const uint32_t crc = (uint32_t)crc32(0, raw, (uInt)n);
    bytes b;

    b = head_of(GOOD), append_field(&b, raw, n, 4096, PLAIN, 4, false);
    CHECK(read_bytes(&b, true, NULL) == 1, "%s", lat_error());
    free(b.at);
    b = head_of(GOOD), append_field(&b, raw, n, 4608, PLAIN, 4, false);
    append(&b, raw, 100);
    contradicts(&b, "expected 4096 bytes in block 1 of 2, found 4608");
    b = head_of(GOOD), append_field(&b, raw, n, 4088, PLAIN, 4, false);
    contradicts(&b, "expected 4096 bytes in block 1 of 2, found 4088");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_trailer(&b, 1, crc),
    append(&b, raw, 1000);
    contradicts(&b, "expected block 2 of 2");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_trailer(&b, 3, crc);
    contradicts(&b, "expected the trailer of 2 blocks");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_trailer(&b, 2, crc ^ 1);
    contradicts(&b, "checksum of the field");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_block(&b, raw, 512, 512), append_trailer(&b, 3, crc);
    contradicts(&b, "expected the trailer of 2 blocks");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_frame(&b, "LATF", 2, crc), append_frame(&b, "LATZ", 1, 0);
    contradicts(&b, "expected the trailer of 2 blocks");
    b = head_of(GOOD), append_block(&b, raw, 0, 4096), append_trailer(&b, 1, crc),
    append(&b, raw, n);
    contradicts(&b, "found 4096 stored as 0");
}

/* A stream whose first block is what deflate makes of `deflated` bytes, and `more` bytes of
 * payload, where 4096 are expected. */
static bytes deflated_block(size_t deflated, int more)
{
    unsigned char raw[16 * 4 * 72] = {0}, payload[8192] = {0};
    uLongf size = sizeof payload, rest = 4000;
    bytes b = head_of(GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
                      "block = 4096\ncompression = zlib\nfilter = none\n");
    need(compress2(payload, &size, raw, (uLong)deflated, 9) == Z_OK, "deflate");
    append_block(&b, payload, (size_t)((long)size + more), 4096);
    need(compress2(payload, &rest, raw, 512, 9) == Z_OK, "deflate");
    append_block(&b, payload, rest, 512);
    append_trailer(&b, 2, (uint32_t)crc32(0, raw, sizeof raw));
    return b;
}

static void check_deflated(void)
{
    bytes b = deflated_block(4096, 0);
    CHECK(read_bytes(&b, true, NULL) == 1 && read_bytes(&b, false, NULL) == 1, "%s", lat_error());
    free(b.at);
    b = deflated_block(4096, 1), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(4096, -1), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(4095, 0), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(4104, 0), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(0, 0), contradicts(&b, "block 1 of 2 does not unpack");
    b = head_of(GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
                "block = 4096\ncompression = zlib\nfilter = none\n");
    append(&b, "LATB\xff\xff\xff\xff\x00\x10\x00\x00????", 16), append_trailer(&b, 1, 0);
    append_trailer(&b, 1, 0);
    contradicts(&b, "found 4096 stored as 4294967295");
}

/* A field larger than what is allocated on the word of a header comes through a pipe: memory grows
 * while it is read, and what was there stays. */
static void check_growth(const char *sites)
{
    enum { X = 16, T = 120 };
    char lines[256];
    snprintf(lines, sizeof lines,
             "kind = transform\ngroup = SU(3)\ndims = 16 16 16 120\nreal = f64\nreals = 18\n"
             "sites = %s\nendian = little\nblock = 4194304\ncompression = zlib\nfilter = none\n",
             sites);
    bytes b = head_of(lines);
    const size_t reals = (size_t)X * X * X * T * 18;
    double *data = calloc(reals, sizeof *data);
    lat_field f;
    need(data != NULL, "memory");
    for (size_t i = 0; i < reals; i += 99991)
        data[i] = (double)i;
    append_field(&b, (unsigned char *)data, reals * sizeof *data, 4194304, ZLIB, 8, false);
    if (CHECK(read_bytes(&b, true, &f) == 1, "%s", lat_error())) {
        lat_order order = {.sites = ""};
        lat_order_iterator w;
        need(lat_order_read_sites(&order, sites, 4, false) == 0, sites);
        lat_order_start(&w, &order, &f.head.geom, 1, 0);
        for (size_t i = 0; i < reals; i += 18, lat_order_next(&w))
            if (!CHECK(memcmp((double *)f.data + 18 * w.matrix, data + i, 18 * sizeof *data) == 0,
                       "%s: matrix %zu", sites, i / 18))
                break;
        lat_field_free(&f);
    }
    free(data);
    free(b.at);
}

/* Headers in memory: lines are made fit, keys are looked after. */
static void check_headers(void)
{
    lat_header a, b;
    char *longest = malloc(200001);
    need(longest != NULL, "memory");
    lat_header_init(&a);
    for (int i = 0; i < 200000; i += 2)
        memcpy(longest + i, "\xc3\xa9", 2);
    longest[200000] = 0;
    need(lat_lines_add(&a.history, "%s", "a\nb\tc\x7f\x01") == 0
             && lat_lines_add(
                    &a.history, "%s",
                    "\xc3\xa9 \xff \xc3 \xed\xa0\x80 \xe2\x82\xac \xf0\x9f\x98\x80 \xf8 \xc0\xaf")
                    == 0
             && lat_lines_add(&a.history, "%s", longest) == 0,
         "lines");
    CHECK(strcmp(a.history.line[0], "a b c  ") == 0, "'%s'", a.history.line[0]);
    CHECK(strcmp(a.history.line[1], "\xc3\xa9 ? ? ??? \xe2\x82\xac \xf0\x9f\x98\x80 ? ??") == 0,
          "'%s'", a.history.line[1]);
    /* Whole characters and three dots: of two bytes each and three, 65525 has room for all. */
    const size_t length = strlen(a.history.line[2]);
    CHECK(length == LAT_MAX_LINE && strcmp(a.history.line[2] + length - 5, "\xc3\xa9...") == 0,
          "%zu", length);
    longest[LAT_MAX_LINE + 1] = 0;
    need(lat_lines_add(&a.history, "x%s", longest + 2) == 0
             && lat_lines_add(&a.history, "x%s", longest) == 0,
         "lines");
    CHECK(strlen(a.history.line[3]) == LAT_MAX_LINE
              && strcmp(a.history.line[3] + 1, longest + 2) == 0,
          "the longest line, %zu", strlen(a.history.line[3]));
    CHECK(strlen(a.history.line[4]) == LAT_MAX_LINE - 1
              && strcmp(a.history.line[4] + LAT_MAX_LINE - 6, "\xc3\xa9...") == 0,
          "cut inside a character, %zu", strlen(a.history.line[4]));
    CHECK(lat_info_set(&a, "ensemble_id", "x") == 0 && lat_info_set(&a, "ensemble_label", "y") == 0
              && lat_info_set(&a, "ensemble_id", "z") == 0,
          "%s", lat_error());
    CHECK(a.info.count == 2 && strcmp(lat_info_get(&a, "ensemble_id"), "z") == 0
              && strcmp(lat_info_get(&a, "ensemble_label"), "y") == 0
              && !lat_info_get(&a, "ensemble"),
          "info lines");
    CHECK(lat_info_set(&a, "Upper", "x") < 0 && lat_info_set(&a, "", "x") < 0
              && lat_info_set(&a, "a b", "x") < 0 && lat_info_set(&a, "a=b", "x") < 0,
          "keys");
    strcpy(a.gauge, "landau");
    a.theta = 1e-14;
    a.sweeps = 7;
    CHECK(lat_header_copy(&b, &a) == 0 && same_lines(&a.info, &b.info)
              && same_lines(&a.history, &b.history) && b.info.line != a.info.line && b.sweeps == 7,
          "copy");
    CHECK(lat_header_check(&b, "b") == 0, "%s", lat_error());
    lat_error_clear();
    b.plaquette = INFINITY;
    CHECK(lat_header_check(&b, "b") < 0 && strstr(lat_error(), "finite"), "%s", lat_error());
    lat_error_clear();
    b.plaquette = NAN;
    b.sweeps = -1;
    CHECK(lat_header_check(&b, "b") < 0 && strstr(lat_error(), "negative"), "%s", lat_error());
    lat_error_clear();
    for (int i = b.info.count; i < LAT_MAX_INFO; i++) {
        char key[32];
        snprintf(key, sizeof key, "key.%d", i);
        need(lat_info_set(&b, key, "x") == 0, key);
    }
    CHECK(lat_info_set(&b, "one_more", "x") < 0 && lat_info_set(&b, "key.7", "y") == 0,
          "too many lines");
    lat_error_clear();
    lat_header_ungauge(&b);
    CHECK(strcmp(b.gauge, "none") == 0 && isnan(b.theta) && b.sweeps == 0
              && lat_header_check(&b, "b") == 0,
          "ungauge");
    lat_header_free(&b);
    CHECK(b.info.count == 0 && b.history.count == 0 && b.nc == 3, "freed");
    lat_header_free(&b);
    lat_header_free(&a);
    free(longest);
    lat_error_clear();
}

/* Precision in memory. */
static void check_convert(void)
{
    lat_field f = stored_field(LAT_GAUGE, "3 3 3 2", 3, LAT_F64, 18, 17);
    size_t n = lat_field_reals(&f);
    double *was = malloc(n * sizeof *was), m[18];
    need(was != NULL, "memory");
    memcpy(was, f.data, n * sizeof *was);
    need(lat_field_convert(&f, LAT_F32) == 0, "f32");
    for (size_t i = 0; i < n; i++)
        CHECK(((float *)f.data)[i] == (float)was[i], "real %zu", i);
    lat_field_get(&f, 5, m);
    CHECK(m[7] == (double)(float)was[5 * 18 + 7], "matrix 5");
    f.head.plaquette = 0.5;
    need(lat_field_convert(&f, LAT_F64) == 0, "f64");
    for (size_t i = 0; i < n; i++)
        CHECK(((double *)f.data)[i] == (double)(float)was[i], "real %zu", i);
    CHECK(f.head.plaquette == 0.5, "an exact conversion forgets the plaquette");
    lat_field_free(&f);
    CHECK(f.data == NULL, "freed");
    free(was);
}

int main(void)
{
    need(mkdtemp(folder) != NULL, folder);
    snprintf(path, sizeof path, "%s/stream", folder);
    check_case("lines, keys and copies of headers");
    check_headers();
    check_case("conversion between f32 and f64 rounds, and back is exact");
    check_convert();
    check_case("every field and header comes back, bit for bit");
    check_round_trips();
    check_case("what was read is written again to the same bytes");
    check_again();
    check_case("one thread and many write and read the same bytes");
    check_threads();
    check_case("big-endian, unfiltered and otherwise blocked streams are read");
    check_foreign();
    check_case("a stream with any one bit flipped is refused");
    check_flips();
    check_case("a stream with any byte changed is refused");
    check_bytes();
    check_case("a stream cut after any byte is refused, two in a row are read");
    check_cuts();
    check_case("a stream with anything after it is refused");
    check_garbage();
    check_case("a wrong plaquette or link trace is refused though all checksums are right");
    check_physics();
    check_case("a plaquette measured before rounding is accepted");
    check_rounding();
    check_case("the reals that are stored are those of docs/format.md");
    check_order();
    check_case("NaN and infinity are refused, written or read");
    check_not_finite();
    check_case("the end mark must stand there and count the fields");
    check_end_mark();
    check_case("two rows of matrices that are not SU(3) are not written");
    check_not_unitary();
    check_case("hostile headers are refused by a sentence that says why");
    check_hostile();
    check_case("the longest lines are written as they were read");
    check_longest();
    check_case("endless headers are refused");
    check_endless();
    check_case("headers that claim terabytes allocate nothing");
    check_claims();
    check_case("a block of a large field in another order takes memory in proportion");
    check_scattered();
    check_case("blocks and trailers that contradict the header are refused");
    check_frames();
    check_case("blocks that do not inflate to what was said are refused");
    check_deflated();
    check_case("a large field from a pipe is read into memory that grows");
    check_growth("t z y x");
    check_growth("parity t z y x");
    check_growth("x y z t");
    check_case("a field can be skipped, and says how it was stored");
    check_skip();
    unlink(path);
    rmdir(folder);
    return check_done();
}
