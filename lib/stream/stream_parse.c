/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_parse.c: the lines of a header into values, docs/format.md, "Header". */
#include "stream_header_internal.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"

/* Characters of a decimal number: no hexadecimal one, no infinity, no blank before it. */
#define DECIMAL "0123456789+-.e"

#define MIN_BLOCK ((size_t)1 << 12)
#define MAX_BLOCK ((size_t)1 << 26)

const char *const lat_stream_key_name[LAT_KEYS] = {
    "kind",   "group",    "dims",       "real",        "reals",     "columns",     "sites",
    "links",  "endian",   "block",      "compression", "filter",    "plaquette",   "link_trace",
    "gauge",  "weights",  "functional", "theta",       "sweeps",    "copies",      "basis",
    "source", "operator", "mass",       "kappa",       "csw",       "csw_t",       "xi",
    "nu",     "twist",    "m0",         "boundary",    "residuals", "eigenvalues", "links_crc"};

typedef lat_stream_parser parser;

bool lat_stream_parse_crc(const char *s, uint32_t *crc)
{
    if (strlen(s) != 8 || strspn(s, "0123456789abcdef") != 8)
        return false;
    *crc = (uint32_t)strtoul(s, NULL, 16);
    return true;
}

/* Parses a decimal number of at most max, without sign, blank or leading zero, and moves *s behind
 * it. */
static bool parse_digits(const char **s, unsigned long max, unsigned long *value)
{
    const char *p = *s;
    unsigned long v = 0;
    if (!isdigit((unsigned char)*p) || (*p == '0' && isdigit((unsigned char)p[1])))
        return false;
    for (; isdigit((unsigned char)*p); p++) {
        unsigned long digit = (unsigned long)(*p - '0');
        if (v > (max - digit) / 10)
            return false;
        v = 10 * v + digit;
    }
    *s = p;
    *value = v;
    return true;
}

int lat_stream_expected(const parser *p, lat_stream_key key, const char *what)
{
    return lat_fail("%s: expected %s = %s in the header, found %s%.60s%s", p->name,
                    lat_stream_key_name[key], what, p->value[key] ? "'" : "",
                    p->value[key] ? p->value[key] : "nothing", p->value[key] ? "'" : "");
}

/* Index of the value among `words` ("a|b|c"), or -1 with lat_error set. */
static int parse_word(const parser *p, lat_stream_key key, const char *words)
{
    const char *value = p->value[key];
    size_t n = value ? strlen(value) : 0;
    int which = 0;
    for (const char *w = words; n && !strchr(value, '|') && w;
         w = strchr(w, '|'), w = w ? w + 1 : NULL, which++)
        if (strncmp(w, value, n) == 0 && (w[n] == '|' || !w[n]))
            return which;
    return lat_stream_expected(p, key, words);
}

int lat_stream_parse_number(const parser *p, lat_stream_key key, unsigned long min,
                            unsigned long max, unsigned long *value)
{
    char what[80];
    const char *s = p->value[key];
    if (s && parse_digits(&s, max, value) && !*s && *value >= min)
        return 0;
    snprintf(what, sizeof what, "%lu to %lu", min, max);
    return lat_stream_expected(p, key, what);
}

int lat_stream_parse_real(const parser *p, lat_stream_key key, double *value)
{
    const char *s = p->value[key];
    char *end;
    if (!s)
        return 0;
    *value = strtod(s, &end);
    if (!*s || strspn(s, DECIMAL) != strlen(s) || *end || !isfinite(*value))
        return lat_stream_expected(p, key, "a finite number");
    return 0;
}

int lat_stream_parse_reals(const parser *p, lat_stream_key key, int n, double *values)
{
    char what[64];
    const char *at = p->value[key];
    char *end = NULL;
    snprintf(what, sizeof what, "%d finite numbers", n);
    for (int i = 0; i < n; i++, at = end + 1) {
        const size_t digits = strspn(at, DECIMAL);
        values[i] = strtod(at, &end);
        if (digits == 0 || end != at + digits || *end != (i + 1 < n ? ' ' : '\0')
            || !isfinite(values[i]))
            return lat_stream_expected(p, key, what);
    }
    return 0;
}

static int parse_group(const parser *p)
{
    const char *s = p->value[LAT_KEY_GROUP];
    unsigned long n;
    if (!s || strncmp(s, "SU(", 3) != 0 || (s += 3, !parse_digits(&s, LAT_MAX_COLOURS, &n))
        || strcmp(s, ")") != 0 || n < 2)
        return lat_stream_expected(p, LAT_KEY_GROUP, "SU(2) to SU(16)");
    p->head->nc = (int)n;
    return 0;
}

static int parse_dims(const parser *p)
{
    lat_geometry *geom = &p->head->geom;
    const char *s = p->value[LAT_KEY_DIMS];
    *geom = (lat_geometry){.nd = 0, .dims = {1, 1, 1, 1}};
    while (s && geom->nd < LAT_MAX_DIMS) {
        unsigned long n;
        if (!parse_digits(&s, 65535, &n) || n < 1)
            break;
        geom->dims[geom->nd++] = (int)n;
        if (!*s)
            return 0;
        if (*s++ != ' ')
            break;
    }
    return lat_stream_expected(p, LAT_KEY_DIMS, "1 to 4 extents of 1 to 65535");
}

/* Sets the order of the stream in the state. In memory the field has natural order, and head->order
 * is that of a field to be written. */
static int parse_orders(const parser *p)
{
    lat_order *order = &p->state->form.order;
    const lat_order natural = {.sites = ""};
    char text[LAT_ORDER_TEXT];
    const int nd = p->head->geom.nd;
    const bool gauge = p->head->kind == LAT_GAUGE;
    const char *sites = p->value[LAT_KEY_SITES], *links = p->value[LAT_KEY_LINKS];
    if (!gauge && links)
        return lat_fail("%s: expected no links in %s, found links = %.60s", p->name,
                        lat_kind_text(p->head->kind), links);
    if (!sites || lat_order_read_sites(order, sites, nd, lat_header_order_objects(p->head)))
        return lat_fail(
            "%s: expected an order of the sites of %d dimensions such as '%s', slowest first, "
            "found '%.60s', an order that this version does not read",
            p->name, nd, lat_order_sites_text(&natural, nd, text), sites ? sites : "");
    if (gauge && (!links || lat_order_read_links(order, links, nd)))
        return lat_fail(
            "%s: expected an order of the links of %d dimensions such as '%s', found '%.60s', "
            "an order that this version does not read",
            p->name, nd, lat_order_links_text(&natural, nd, text), links ? links : "");
    return 0;
}

static int parse_storage(const parser *p)
{
    unsigned long block;
    int endian = parse_word(p, LAT_KEY_ENDIAN, "little|big");
    int compression = parse_word(p, LAT_KEY_COMPRESSION, "none|zlib");
    int filter = parse_word(p, LAT_KEY_FILTER, "none|rotate-shuffle");
    if (endian < 0 || compression < 0 || filter < 0
        || lat_stream_parse_number(p, LAT_KEY_BLOCK, MIN_BLOCK, MAX_BLOCK, &block) < 0)
        return -1;
    if (block % 8)
        return lat_stream_expected(p, LAT_KEY_BLOCK, "a multiple of 8");
    if (filter && !compression)
        return lat_fail(
            "%s: expected filter = none with compression = none, found filter = rotate-shuffle",
            p->name);
    p->state->swapped = (endian == 1) != lat_big_endian();
    p->state->filtered = filter == 1;
    p->state->form.compressed = compression == 1;
    p->state->form.block = block;
    return 0;
}

static int parse_gauge(const parser *p)
{
    lat_header *head = p->head;
    unsigned long sweeps;
    if (p->value[LAT_KEY_GAUGE]) {
        if (strlen(p->value[LAT_KEY_GAUGE]) >= sizeof head->gauge)
            return lat_stream_expected(p, LAT_KEY_GAUGE, "a word of at most 15 letters");
        strcpy(head->gauge, p->value[LAT_KEY_GAUGE]);
    }
    if (p->value[LAT_KEY_WEIGHTS]
        && lat_stream_parse_reals(p, LAT_KEY_WEIGHTS, head->geom.nd, head->weight) < 0)
        return -1;
    if (p->value[LAT_KEY_SWEEPS]) {
        if (lat_stream_parse_number(p, LAT_KEY_SWEEPS, 0, LONG_MAX, &sweeps) < 0)
            return -1;
        head->sweeps = (long)sweeps;
    }
    return 0;
}

static int parse_copies(const parser *p)
{
    unsigned long copies = 0;
    if (p->value[LAT_KEY_COPIES]
        && lat_stream_parse_number(p, LAT_KEY_COPIES, 1, LAT_MAX_COPIES, &copies) < 0)
        return -1;
    p->head->copies = (long)copies;
    return 0;
}

/* Parses the values of all keys, in an order such that each has what it needs. */
static int parse_values(const parser *p)
{
    lat_header *head = p->head;
    unsigned long reals;
    int kind = parse_word(p, LAT_KEY_KIND, "gauge|transform|spinor|propagator|modes");
    int real = parse_word(p, LAT_KEY_REAL, "f32|f64");
    if (kind < 0 || real < 0)
        return -1;
    head->kind = (lat_kind)kind; /* in the order of the enum */
    head->real = real == 0 ? LAT_F32 : LAT_F64;
    if (parse_group(p) < 0 || parse_dims(p) < 0
        || lat_stream_parse_number(p, LAT_KEY_REALS, 1, 512, &reals) < 0)
        return -1;
    head->reals = (int)reals;
    if (lat_stream_parse_columns(p) < 0 || parse_orders(p) < 0 || parse_storage(p) < 0
        || parse_gauge(p) < 0 || parse_copies(p) < 0
        || lat_stream_parse_real(p, LAT_KEY_PLAQUETTE, &head->plaquette) < 0
        || lat_stream_parse_real(p, LAT_KEY_LINK_TRACE, &head->link_trace) < 0
        || lat_stream_parse_real(p, LAT_KEY_FUNCTIONAL, &head->functional) < 0
        || lat_stream_parse_real(p, LAT_KEY_THETA, &head->theta) < 0
        || lat_stream_parse_quark(p) < 0 || lat_header_check(head, p->name) < 0)
        return -1;
    if (head->geom.nd == 1 && p->value[LAT_KEY_PLAQUETTE])
        return lat_fail("%s: expected no plaquette in one dimension, found %.60s", p->name,
                        p->value[LAT_KEY_PLAQUETTE]);
    if ((lat_header_bytes(head) - 1) / p->state->form.block >= UINT32_MAX)
        return lat_fail(
            "%s: expected fewer than %u blocks, found blocks of %zu bytes for a field of %zu",
            p->name, UINT32_MAX, p->state->form.block, lat_header_bytes(head));
    return 0;
}

/* One line "key = value", without its newline. */
static int parse_line(parser *p, char *line)
{
    if (!lat_utf8(line))
        return lat_fail("%s: expected UTF-8 in the header, found other bytes in a line of %zu",
                        p->name, strlen(line));
    char *equals = strstr(line, " = ");
    if (!equals)
        return lat_fail("%s: expected 'key = value' in the header, found '%.60s'", p->name, line);
    *equals = 0;
    const char *value = equals + 3;
    if (strcmp(line, "history") == 0)
        return lat_lines_add(&p->head->history, "%s", value);
    if (strncmp(line, "info.", 5) == 0) {
        if (!lat_info_key(line + 5) || p->head->info.count == LAT_MAX_INFO)
            return lat_fail(
                "%s: expected at most %d info lines, each with a key of lower case letters, "
                "found '%.60s'",
                p->name, LAT_MAX_INFO, line);
        if (lat_info_get(p->head, line + 5))
            return lat_fail("%s: expected each key once in the header, found '%.60s' twice",
                            p->name, line);
        return lat_info_set(p->head, line + 5, value);
    }
    for (int key = 0; key < LAT_KEYS; key++)
        if (strcmp(line, lat_stream_key_name[key]) == 0) {
            if (p->value[key])
                return lat_fail("%s: expected each key once in the header, found '%s' twice",
                                p->name, line);
            p->value[key] = value;
            return 0;
        }
    return lat_fail("%s: expected a key of version 1 in the header, found '%.60s' (written by a "
                    "newer version?)",
                    p->name, line);
}

int lat_stream_parse(char *text, size_t n, const char *name, lat_header *head,
                     lat_stream_state *state)
{
    parser p = {.name = name, .head = head, .state = state};
    for (size_t at = 0; at < n;) {
        const size_t next = at + strlen(text + at) + 1; /* before parse_line puts a zero into it */
        if (parse_line(&p, text + at) < 0)
            return -1;
        at = next;
    }
    return parse_values(&p);
}
