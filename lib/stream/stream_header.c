/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_header.c: reads the header of a stream and the end mark, docs/format.md. */
#include "stream_header_internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "comm/comm.h"
#include "deflate.h"

#define MAX_LINE ((size_t)1 << 16) /* bytes of a line of the header, with its newline */

/* ---- what is known of an input --------------------------------------------------------------- */

lat_stream_state *lat_stream_state_of(lat_input *in)
{
    lat_stream_state *s = lat_input_attach(in, LAT_ATTACH_STREAM, sizeof *s);
    if (s && !s->known)
        lat_fail("%s: the header was not read before its blocks", lat_input_name(in));
    return s && s->known ? s : NULL;
}

bool lat_stream_last_field(const lat_input *in)
{
    const int64_t size = lat_input_size(in);
    return size >= 0 && (uint64_t)size - lat_input_offset(in) <= LAT_FRAME;
}

const lat_stream_form *lat_stream_last(lat_input *in)
{
    const lat_stream_state *s = lat_stream_state_of(in);
    return s ? &s->form : NULL;
}

/* ---- the end mark ---------------------------------------------------------------------------- */

void lat_stream_frame(unsigned char frame[LAT_FRAME], const char *tag, uint32_t a, uint32_t b)
{
    memcpy(frame, tag, 4);
    lat_store_le32(frame + 4, a);
    lat_store_le32(frame + 8, b);
    lat_store_le32(frame + 12, lat_crc(0, frame, 12));
}

/* Reads the end mark if it comes next: 1; 0 if something else does; -1. */
static int read_end_mark(lat_input *in, lat_stream_state *s)
{
    unsigned char found[LAT_FRAME], expected[LAT_FRAME];
    ssize_t n = lat_input_peek(in, found, LAT_FRAME);
    if (n < 4 || memcmp(found, LAT_END_TAG, 4) != 0)
        return n < 0 ? -1 : 0;
    if (lat_input_read(in, found, LAT_FRAME) < 0)
        return -1;
    lat_stream_frame(expected, LAT_END_TAG, s->fields, 0);
    if (!s->fields || memcmp(found, expected, LAT_FRAME) != 0)
        return lat_fail("%s: expected the end mark of %u fields before byte %llu, found something "
                        "else (damaged?)",
                        lat_input_name(in), s->fields, (unsigned long long)lat_input_offset(in));
    s->fields = 0;
    return 1;
}

/* On rank 0. */
static int more(lat_input *in)
{
    lat_stream_state *s = lat_input_attach(in, LAT_ATTACH_STREAM, sizeof *s);
    char c;
    if (!s || read_end_mark(in, s) < 0)
        return -1;
    const ssize_t n = lat_input_peek(in, &c, 1);
    if (n != 0)
        return n < 0 ? -1 : 1;
    if (lat_input_offset(in) == 0)
        return lat_fail("%s: empty, expected a lat stream", lat_input_name(in));
    if (s->fields)
        return lat_fail("%s: truncated after %llu bytes: expected the end mark or another field "
                        "after %u of them",
                        lat_input_name(in), (unsigned long long)lat_input_offset(in), s->fields);
    return 0;
}

int lat_stream_more(lat_input *in)
{
    const lat_comm *comm = lat_input_comm(in);
    int rc = comm->rank == 0 ? more(in) : 0;
    return rc < 0 || comm->broadcast(comm, &rc, sizeof rc, 0) ? -1 : rc;
}

/* ---- lines ----------------------------------------------------------------------------------- */

bool lat_stream_is(const void *bytes, size_t n)
{
    size_t length = strlen(LAT_STREAM_MAGIC);
    return n >= length && memcmp(bytes, LAT_STREAM_MAGIC, length) == 0;
}

/* Returns 1, or -1. */
static int read_first_line(lat_input *in)
{
    const char *magic = LAT_STREAM_MAGIC, *name = lat_input_name(in);
    unsigned long long begin = lat_input_offset(in);
    char c;
    for (size_t i = 0; magic[i]; i++) {
        if (lat_input_read(in, &c, 1) < 0)
            return -1;
        if (c == magic[i])
            continue;
        if (i >= strlen("lat-stream "))
            return lat_fail("%s: expected a lat stream of version 1, found another version "
                            "(of a newer program?)",
                            name);
        if (begin)
            return lat_fail("%s: expected another field or the end after %llu bytes, found "
                            "something else",
                            name, begin);
        return lat_fail("%s: expected a lat stream (lat-convert reads other formats), found "
                        "something else",
                        name);
    }
    return 1;
}

typedef struct header_text {
    char *at;
    size_t used;
} header_text;

static int append(header_text *t, char c)
{
    if (lat_grow(&t->at, (long)t->used, 1, "a header"))
        return -1;
    t->at[t->used++] = c;
    return 0;
}

/* Appends one line, with a zero in place of its newline. */
static int read_line(lat_input *in, header_text *t)
{
    const char *name = lat_input_name(in);
    size_t begin = t->used;
    for (;;) {
        unsigned char c;
        if (t->used + strlen(LAT_STREAM_MAGIC) == LAT_MAX_HEADER || t->used - begin == MAX_LINE)
            return lat_fail("%s: expected a header of at most %zu bytes in lines of at most %zu, "
                            "found more",
                            name, LAT_MAX_HEADER, MAX_LINE);
        if (lat_input_read(in, &c, 1) < 0)
            return -1;
        if (c == '\n')
            return append(t, 0);
        if (c < 0x20 || c == 0x7f)
            return lat_fail("%s: expected text in the header, found byte %02x at %llu", name, c,
                            (unsigned long long)lat_input_offset(in) - 1);
        if (append(t, (char)c) < 0)
            return -1;
    }
}

/* Reads the lines between the first and the last one, and checks the CRC that the last one has. */
static int read_lines(lat_input *in, header_text *t)
{
    uint32_t found, crc = lat_crc(0, LAT_STREAM_MAGIC, strlen(LAT_STREAM_MAGIC));
    for (;;) {
        size_t begin = t->used;
        if (read_line(in, t) < 0)
            return -1;
        const char *line = t->at + begin;
        if (strncmp(line, "end = ", 6) == 0) {
            if (!lat_stream_parse_crc(line + 6, &found) || found != crc)
                return lat_fail("%s: checksum of the header %08x, expected '%.8s' (damaged?)",
                                lat_input_name(in), crc, line + 6);
            t->used = begin;
            return 0;
        }
        crc = lat_crc(crc, line, t->used - 1 - begin);
        crc = lat_crc(crc, "\n", 1);
    }
}

/* ---- to all ranks ---------------------------------------------------------------------------- */

/* Writes the lines one after the other, each with its zero, unless `to` is NULL. Returns the number
 * of bytes. */
static size_t pack_lines(const lat_lines *lines, char *to)
{
    size_t n = 0;
    for (int i = 0; i < lines->count; i++) {
        const size_t length = strlen(lines->line[i]) + 1;
        if (to)
            memcpy(to + n, lines->line[i], length);
        n += length;
    }
    return n;
}

static int unpack_lines(lat_lines *lines, int count, const char **from)
{
    *lines = (lat_lines){0, NULL};
    for (int i = 0; i < count; i++, *from += strlen(*from) + 1)
        if (lat_lines_add(lines, "%s", *from))
            return -1;
    return 0;
}

/* The source and the numbers of columns, as pack_lines. */
static size_t pack_quark(const lat_quark *q, char *to)
{
    const size_t source = q->source ? strlen(q->source) + 1 : 0,
                 numbers = (size_t)q->columns * sizeof(double);
    size_t n = 0;
    if (to && source)
        memcpy(to, q->source, source);
    n += source;
    if (to && q->residual)
        memcpy(to + n, q->residual, numbers);
    n += q->residual ? numbers : 0;
    if (to && q->eigenvalue)
        memcpy(to + n, q->eigenvalue, numbers);
    return n + (q->eigenvalue ? numbers : 0);
}

static double *unpack_numbers(const double *there, int count, const char **from)
{
    const size_t bytes = (size_t)count * sizeof(double);
    double *numbers = there ? lat_alloc((size_t)count, sizeof *numbers, "numbers of columns")
                            : NULL;
    if (numbers)
        memcpy(numbers, *from, bytes);
    *from += there ? bytes : 0;
    return numbers;
}

/* The pointers of *q are those of rank 0, and say what there is. */
static int unpack_quark(lat_quark *q, const char **from)
{
    const lat_quark there = *q;
    q->source = there.source ? strdup(*from) : NULL;
    *from += there.source ? strlen(*from) + 1 : 0;
    q->residual = unpack_numbers(there.residual, q->columns, from);
    q->eigenvalue = unpack_numbers(there.eigenvalue, q->columns, from);
    return !q->source != !there.source || !q->residual != !there.residual
                   || !q->eigenvalue != !there.eigenvalue
               ? lat_fail("out of memory: a header")
               : 0;
}

/* From rank 0 to the other ranks, whose *head is overwritten. */
int lat_stream_share_head(const lat_comm *comm, lat_header *head)
{
    if (comm->size == 1)
        return 0;
    size_t bytes = comm->rank == 0
                       ? sizeof *head + pack_lines(&head->info, NULL)
                             + pack_lines(&head->history, NULL) + pack_quark(&head->quark, NULL)
                       : 0;
    if (comm->broadcast(comm, &bytes, sizeof bytes, 0))
        return -1;
    char *packed = lat_alloc(bytes, 1, "a header");
    int rc = packed ? 0 : -1;
    if (rc == 0 && comm->rank == 0) {
        memcpy(packed, head, sizeof *head);
        size_t n = sizeof *head + pack_lines(&head->info, packed + sizeof *head);
        n += pack_lines(&head->history, packed + n);
        pack_quark(&head->quark, packed + n);
    }
    if (rc == 0 && (rc = comm->broadcast(comm, packed, bytes, 0)) == 0 && comm->rank != 0) {
        const char *lines = packed + sizeof *head;
        memcpy(head, packed, sizeof *head);
        const int info = head->info.count, history = head->history.count;
        head->history = (lat_lines){0, NULL};
        rc = lat_rc(unpack_lines(&head->info, info, &lines)
                    || unpack_lines(&head->history, history, &lines)
                    || unpack_quark(&head->quark, &lines));
    }
    free(packed);
    return rc;
}

/* ---- the whole header ------------------------------------------------------------------------ */

static int read_head(lat_input *in, lat_header *head, lat_stream_state *state)
{
    header_text t = {0};
    int rc = read_first_line(in);
    if (rc > 0
        && (read_lines(in, &t) < 0
            || lat_stream_parse(t.at, t.used, lat_input_name(in), head, state) < 0))
        rc = -1;
    free(t.at);
    return rc;
}

int lat_stream_head(lat_input *in, lat_header *head)
{
    const lat_comm *comm = lat_input_comm(in);
    lat_header_init(head);
    int rc = lat_stream_more(in);
    if (rc > 0) {
        lat_stream_state *s = lat_input_attach(in, LAT_ATTACH_STREAM, sizeof *s);
        if (!s)
            return -1;
        *s = (lat_stream_state){
            .known = true, .begin = lat_input_offset(in), .fields = s->fields + 1};
        if (comm->rank == 0)
            rc = read_head(in, head, s);
        if (rc > 0 && lat_stream_share_head(comm, head))
            rc = -1;
    }
    if (rc < 0)
        lat_header_free(head);
    return rc;
}
