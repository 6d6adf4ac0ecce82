/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_szin.c: SZIN, versions 1 to 7, and CP-PACS; both are read only.
 *
 * SZIN: big endian. i32 length of a date, of a banner, of a record; both texts, an i32 a character;
 * i32 version, a number of words that depends on it, with dimensions and N among them, i32 X, Y, Z,
 * T, things that we leave; the links are the end of the file: f32, direction slowest, even sites,
 * then odd ones, x fastest, and matrices column by column.
 *
 * CP-PACS: i32 19920410 (which tells the byte order) and 1020 bytes; f64 in the order of ILDG. Two
 * digits at byte 18 are X = Y = Z, two at 21 are T; they are not always right, and --dims goes
 * before them. */
#include <stdlib.h>
#include "base/bytes.h"
#include "base/error.h"
#include "format.h"

/* ---- SZIN ------------------------------------------------------------------------------------ */

#define VERSIONS 7

/* The byte where `version` stands; 0 if this is no such header. */
static size_t version_at(const unsigned char *b, size_t n)
{
    if (n < 12)
        return 0;
    const uint32_t date = lat_load_be32(b), banner = lat_load_be32(b + 4);
    const size_t at = 12 + 4 * ((size_t)date + banner);
    if (date < 1 || date > 99 || banner > 500 || at + 4 > n)
        return 0;
    const uint32_t version = lat_load_be32(b + at);
    return version >= 1 && version <= VERSIONS ? at : 0;
}

/* Dimensions, N and extents. */
static bool parse(const unsigned char *b, size_t n, uint32_t *nd, uint32_t *nc, lat_geometry *geom)
{
    static const unsigned char words[VERSIONS] = {7, 9, 10, 12, 13, 17, 25};
    const size_t at = version_at(b, n);
    if (!at)
        return false;
    const uint32_t version = lat_load_be32(b + at);
    const size_t first = at + 4 * (version < 5 ? 1u : 2u);
    const size_t extents = at + 4 + 4 * (size_t)words[version - 1];
    if (extents + 16 > n)
        return false;
    *nd = lat_load_be32(b + first);
    *nc = lat_load_be32(b + first + 4);
    lat_dims_load(geom, b + extents, true, false);
    return true;
}

static bool probe_szin(const unsigned char *b, size_t n, LAT_UNUSED int64_t size)
{
    lat_geometry geom;
    uint32_t nd, nc;
    return parse(b, n, &nd, &nc, &geom) && nd == 4 && nc >= 2 && nc <= LAT_MAX_COLOURS;
}

static int read_szin_head(lat_input *in, lat_header *h)
{
    const char *name = lat_input_name(in);
    unsigned char b[LAT_PROBE];
    uint32_t nd = 0, nc = 0;
    const ssize_t n = lat_input_peek(in, b, sizeof b);
    if (n < 0)
        return -1;
    if (!parse(b, (size_t)n, &nd, &nc, &h->geom) || nd != 4 || nc < 2 || nc > LAT_MAX_COLOURS)
        return lat_fail("%s: expected a SZIN header of version 1 to %d with 4 dimensions", name,
                        VERSIONS);
    h->nc = (int)nc;
    h->reals = 2 * h->nc * h->nc;
    h->real = LAT_F32;
    return lat_header_check(h, name);
}

static int begin_szin(lat_input *in, lat_header *head, lat_payload *p,
                      LAT_UNUSED lat_read_context *r)
{
    if (lat_need_size(in) < 0 || read_szin_head(in, head) < 0)
        return -1;
    *p = (lat_payload){
        .big = true, .rows = head->nc, .shape = LAT_BY_COLUMNS, .order = {.sites = "lptzyx"}};
    return lat_skip_to_links(in, head, p->rows);
}

/* ---- CP-PACS --------------------------------------------------------------------------------- */

#define MAGIC 19920410u
#define HEAD 1024

static int two_digits(const unsigned char *b)
{
    const char text[3] = {(char)b[0], (char)b[1], 0};
    return atoi(text);
}

static int begin_cppacs(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    unsigned char b[HEAD];
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    if (!lat_begins_number(b, sizeof b, MAGIC))
        return lat_fail("%s: expected the number %u of CP-PACS, found %lu", lat_input_name(in),
                        MAGIC, (unsigned long)lat_load_be32(b));
    *p = (lat_payload){.big = lat_load_be32(b) == MAGIC, .rows = 3};
    const int l = two_digits(b + 18), t = two_digits(b + 21);
    head->geom = (lat_geometry){.nd = 4, .dims = {l, l, l, t}};
    if ((r->dims.nd || l < 1 || t < 1) && lat_take_dims(in, &head->geom, &r->dims) < 0)
        return -1;
    return lat_set_source(head, p->big ? "CP-PACS, big endian" : "CP-PACS, little endian");
}

const lat_format lat_format_szin = {
    .name = "szin",
    .about = "SZIN, versions 1 to 7, in a file (not on a pipe)",
    .source = "SZIN",
    .probe = probe_szin,
    .begin = begin_szin,
};

const lat_format lat_format_cppacs = {
    .name = "cppacs",
    .about = "CP-PACS; --dims where its header does not say the extents",
    .nc = 3,
    .magic = {MAGIC},
    .begin = begin_cppacs,
};
