/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_bridge.c: Bridge++ text and Fortran files (its binary files are raw ones, fmt_raw.c).
 *
 * Text: one number after the other in decimal, in the order of ILDG, no header. Fortran: one
 * unformatted record, a u32 that counts its bytes at either end, doubles with the direction slowest
 * (JLQCD; with --order natural that of ILDG). Neither says its extents. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "format.h"

static int take_hints(lat_input *in, lat_header *head, const lat_read_context *r)
{
    head->nc = r->hints.nc ? r->hints.nc : 3;
    head->reals = 2 * head->nc * head->nc;
    return lat_rc(lat_take_dims(in, &head->geom, &r->dims) < 0
                  || lat_header_check(head, lat_input_name(in)));
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool probe_text(const unsigned char *b, size_t n, LAT_UNUSED int64_t size)
{
    bool digit = false;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit(b[i]) && !isspace(b[i]) && (!b[i] || !strchr("+-.eE", b[i])))
            return false;
        digit = digit || isdigit(b[i]);
    }
    return digit;
}

/* Numbers from text[*at] on, as many as are complete: `last` if the text ends there. How many, or
 * -1. */
static long numbers(const char *name, char *text, size_t n, bool last, size_t *at, double *to,
                    size_t want)
{
    size_t got = 0;
    while (got < want) {
        size_t from = *at, end;
        while (from < n && isspace((unsigned char)text[from]))
            from++;
        for (end = from; end < n && !isspace((unsigned char)text[end]);)
            end++;
        if (from == n || (end == n && !last)) {
            *at = from;
            break;
        }
        char *stop;
        text[end] = 0;
        to[got++] = strtod(text + from, &stop);
        if (stop != text + end)
            return lat_fail("%s: expected a number, found '%.40s'", name, text + from);
        *at = end < n ? end + 1 : n;
    }
    return (long)got;
}

static int read_reals(lat_input *in, lat_payload *p, void *to, size_t all)
{
    const char *name = lat_input_name(in);
    char *text = lat_alloc(LAT_PEEK + 1, 1, "text");
    int bad = text ? 0 : -1;
    for (size_t done = 0; !bad && done < all;) {
        size_t at = 0;
        const ssize_t n = lat_input_peek(in, text, LAT_PEEK);
        if (n < 0) {
            bad = -1;
            break;
        }
        const long got = numbers(name, text, (size_t)n, n < LAT_PEEK, &at, (double *)to + done,
                                 all - done);
        bad = got < 0 || lat_input_skip(in, at) < 0;
        if (!bad && at == 0)
            bad = lat_fail(n ? "%s: expected numbers, found %zu and no end to the next one"
                             : "%s: truncated: after %zu numbers",
                           name, p->reals_read);
        done += got > 0 ? (size_t)got : 0;
        p->reals_read += got > 0 ? (size_t)got : 0;
    }
    free(text);
    return bad ? -1 : 0;
}

static int begin_text(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    p->read_reals = read_reals;
    if (take_hints(in, head, r) < 0)
        return -1;
    return lat_expect_bytes(in, 4 * (uint64_t)head->reals * lat_volume(&head->geom) * 2 - 1, 0,
                            "a configuration of that size");
}

/* ---- Fortran --------------------------------------------------------------------------------- */

static bool probe_fortran(const unsigned char *b, size_t n, int64_t size)
{
    return n >= 4 && size > 8 && (size - 8) % 256 == 0
           && ((int64_t)lat_load_le32(b) == size - 8 || (int64_t)lat_load_be32(b) == size - 8);
}

static int begin_fortran(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    unsigned char b[4], *length = lat_format_state(r, sizeof b);
    if (!length || take_hints(in, head, r) < 0 || lat_input_read(in, b, 4) < 0)
        return -1;
    const uint64_t need = lat_payload_bytes(head, head->nc);
    *p = (lat_payload){
        .big = lat_load_be32(b) == need, .rows = head->nc, .order = {.sites = "ltzyx"}};
    if (!p->big && lat_load_le32(b) != need)
        return lat_fail(
            "%s: expected a Fortran record of %llu bytes as --dims says, found %lu (or %lu)",
            lat_input_name(in), (unsigned long long)need, (unsigned long)lat_load_le32(b),
            (unsigned long)lat_load_be32(b));
    if (r->hints.ordered)
        p->order = r->hints.order;
    memcpy(length, b, sizeof b);
    return lat_set_source(head, p->big ? "Fortran record, big endian" : "Fortran record");
}

static int end_fortran(lat_input *in, LAT_UNUSED lat_field *f, LAT_UNUSED lat_payload *p,
                       lat_read_context *r)
{
    unsigned char e[4];
    if (lat_input_read(in, e, 4) < 0)
        return -1;
    if (memcmp(r->state, e, 4))
        return lat_fail("%s: the Fortran record does not end with its length", lat_input_name(in));
    return 0;
}

const lat_format lat_format_bridgetext = {
    .name = "bridgetext",
    .unvouched = true,
    .extension = ".txt",
    .about = "Bridge++ text: numbers in the order of ILDG; --dims",
    .source = "Bridge++ text",
    .takes = LAT_TAKES_ALL,
    .probe = probe_text,
    .begin = begin_text,
};

const lat_format lat_format_fortran = {
    .name = "fortran",
    .unvouched = true,
    .extension = ".f77",
    .about = "Bridge++ Fortran, direction slowest (or --order natural); --dims",
    .takes = LAT_TAKES_ALL,
    .probe = probe_fortran,
    .begin = begin_fortran,
    .end = end_fortran,
};
