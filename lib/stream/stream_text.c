/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_text.c: the header of a stream as text, docs/format.md, "Header". */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "deflate.h"
#include "base/error.h"
#include "stream_ranks.h"
#include "stream_text.h"
#include "common/text.h"

#define MAX_HEADER ((size_t)1 << 20)
#define MAX_TEXT ((size_t)1 << 16) /* a line of the header, with its newline */
#define MIN_BLOCK ((size_t)1 << 12)
#define MAX_BLOCK ((size_t)1 << 26)

/* ---- what is known of an input --------------------------------------------------------------- */

lat_stream_state *lat_stream_state_of(lat_input *in)
{
    lat_stream_state *s = lat_input_attach(in, sizeof *s);
    if (s && !s->known)
        lat_fail("%s: the header was not read before its blocks", lat_input_name(in));
    return s && s->known ? s : NULL;
}

const lat_stream_form *lat_stream_last(lat_input *in)
{
    const lat_stream_state *s = lat_stream_state_of(in);
    return s ? &s->form : NULL;
}

/* ---- reading --------------------------------------------------------- */

enum key {
    KIND,
    GROUP,
    DIMS,
    REAL,
    REALS,
    SITES,
    LINKS,
    ENDIAN,
    BLOCK,
    COMPRESSION,
    FILTER,
    PLAQUETTE,
    LINK_TRACE,
    GAUGE,
    WEIGHTS,
    FUNCTIONAL,
    THETA,
    SWEEPS,
    COPIES,
    KEYS
};
static const char *const key_name[KEYS] = {
    "kind",    "group",      "dims",        "real",   "reals",     "sites",      "links",
    "endian",  "block",      "compression", "filter", "plaquette", "link_trace", "gauge",
    "weights", "functional", "theta",       "sweeps", "copies"};

typedef struct parser {
    const char *name; /* of the input */
    const char *value[KEYS];
    lat_header *head;
    lat_stream_state *state;
} parser;

bool lat_stream_is(const void *bytes, size_t n)
{
    size_t length = strlen(LAT_STREAM_MAGIC);
    return n >= length && memcmp(bytes, LAT_STREAM_MAGIC, length) == 0;
}

void lat_stream_end_mark(unsigned fields, unsigned char mark[LAT_END_SIZE])
{
    memset(mark, 0, LAT_END_SIZE);
    memcpy(mark, LAT_END_TAG, 4);
    lat_store_le32(mark + 4, fields);
    lat_store_le32(mark + 12, lat_crc(0, mark, 12));
}

/* Takes the end mark if it comes next: 1, 0 if it does not, -1. */
static int take_end(lat_input *in, lat_stream_state *s)
{
    unsigned char found[LAT_END_SIZE], expected[LAT_END_SIZE];
    ssize_t n = lat_input_peek(in, found, LAT_END_SIZE);
    if (n < 4 || memcmp(found, LAT_END_TAG, 4) != 0)
        return n < 0 ? -1 : 0;
    if (lat_input_read(in, found, LAT_END_SIZE) < 0)
        return -1;
    lat_stream_end_mark(s->fields, expected);
    if (!s->fields || memcmp(found, expected, LAT_END_SIZE) != 0)
        return lat_fail("%s: expected the end mark of %u fields before byte %llu, found something "
                        "else (damaged?)",
                        lat_input_name(in), s->fields, (unsigned long long)lat_input_offset(in));
    s->fields = 0;
    return 1;
}

static int more(lat_input *in)
{
    lat_stream_state *s = lat_input_attach(in, sizeof *s);
    char c;
    if (!s || take_end(in, s) < 0)
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
    const lat_comm *comm = lat_comm_world;
    int rc = comm->rank == 0 ? more(in) : 0;
    return rc < 0 || comm->broadcast(comm, &rc, sizeof rc, 0) ? -1 : rc;
}

/* Takes the first line: 1, or -1. */
static int take_magic(lat_input *in)
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

/* Text that grows. */
typedef struct header_text {
    char *at;
    size_t used, room;
} header_text;

static int text_add(header_text *t, char c)
{
    if (t->used == t->room) {
        size_t room = t->room ? 2 * t->room : 4096;
        char *at = realloc(t->at, room);
        if (!at)
            return lat_fail("out of memory: a header of more than %zu bytes", t->used);
        t->at = at;
        t->room = room;
    }
    t->at[t->used++] = c;
    return 0;
}

/* Takes one line; a NUL takes the place of its newline. */
static int take_line(lat_input *in, header_text *t)
{
    const char *name = lat_input_name(in);
    size_t begin = t->used;
    for (;;) {
        unsigned char c;
        if (t->used + strlen(LAT_STREAM_MAGIC) == MAX_HEADER || t->used - begin == MAX_TEXT)
            return lat_fail("%s: expected a header of at most %zu bytes in lines of at most %zu, "
                            "found more",
                            name, MAX_HEADER, MAX_TEXT);
        if (lat_input_read(in, &c, 1) < 0)
            return -1;
        if (c == '\n')
            return text_add(t, 0);
        if (c < 0x20 || c == 0x7f)
            return lat_fail("%s: expected text in the header, found byte %02x at %llu", name, c,
                            (unsigned long long)lat_input_offset(in) - 1);
        if (text_add(t, (char)c) < 0)
            return -1;
    }
}

/* True for eight lower-case hexadecimal digits and nothing after them. */
static bool crc_parse(const char *s, uint32_t *crc)
{
    if (strlen(s) != 8 || strspn(s, "0123456789abcdef") != 8)
        return false;
    *crc = (uint32_t)strtoul(s, NULL, 16);
    return true;
}

/* Takes the lines between the first and the end line, and checks their CRC. */
static int take_lines(lat_input *in, header_text *t)
{
    uint32_t found, crc = lat_crc(0, LAT_STREAM_MAGIC, strlen(LAT_STREAM_MAGIC));
    for (;;) {
        size_t begin = t->used;
        if (take_line(in, t) < 0)
            return -1;
        const char *line = t->at + begin;
        if (strncmp(line, "end = ", 6) == 0) {
            if (!crc_parse(line + 6, &found) || found != crc)
                return lat_fail("%s: checksum of the header %08x, expected '%.8s' (damaged?)",
                                lat_input_name(in), crc, line + 6);
            t->used = begin;
            return 0;
        }
        crc = lat_crc(crc, line, t->used - 1 - begin);
        crc = lat_crc(crc, "\n", 1);
    }
}

/* A decimal number of at most max, without sign, blank or leading zero; moves *s behind it. */
static bool number_parse(const char **s, unsigned long max, unsigned long *value)
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

static int expected(const parser *p, enum key key, const char *what)
{
    return lat_fail("%s: expected %s = %s in the header, found %s%.60s%s", p->name, key_name[key],
                    what, p->value[key] ? "'" : "", p->value[key] ? p->value[key] : "nothing",
                    p->value[key] ? "'" : "");
}

/* The value as one of the words in `words` ("a|b|c"): which one, or -1. */
static int parse_word(const parser *p, enum key key, const char *words)
{
    const char *value = p->value[key];
    size_t n = value ? strlen(value) : 0;
    int which = 0;
    for (const char *w = words; n && !strchr(value, '|') && w;
         w = strchr(w, '|'), w = w ? w + 1 : NULL, which++)
        if (strncmp(w, value, n) == 0 && (w[n] == '|' || !w[n]))
            return which;
    return expected(p, key, words);
}

static int parse_number(const parser *p, enum key key, unsigned long min, unsigned long max,
                        unsigned long *value)
{
    char what[80];
    const char *s = p->value[key];
    if (s && number_parse(&s, max, value) && !*s && *value >= min)
        return 0;
    snprintf(what, sizeof what, "%lu to %lu", min, max);
    return expected(p, key, what);
}

/* A finite real, where the key is there. */
static int parse_real(const parser *p, enum key key, double *value)
{
    const char *s = p->value[key];
    char *end;
    if (!s)
        return 0;
    *value = strtod(s, &end);
    if (!*s || strspn(s, "0123456789+-.e") != strlen(s) || *end || !isfinite(*value))
        return expected(p, key, "a finite number");
    return 0;
}

static int parse_group(const parser *p)
{
    const char *s = p->value[GROUP];
    unsigned long n;
    if (!s || strncmp(s, "SU(", 3) != 0 || (s += 3, !number_parse(&s, LAT_MAX_COLOURS, &n))
        || strcmp(s, ")") != 0 || n < 2)
        return expected(p, GROUP, "SU(2) to SU(16)");
    p->head->nc = (int)n;
    return 0;
}

static int parse_dims(const parser *p)
{
    lat_geometry *geom = &p->head->geom;
    const char *s = p->value[DIMS];
    *geom = (lat_geometry){.nd = 0, .dims = {1, 1, 1, 1}};
    while (s && geom->nd < LAT_MAX_DIMS) {
        unsigned long n;
        if (!number_parse(&s, 65535, &n) || n < 1)
            break;
        geom->dims[geom->nd++] = (int)n;
        if (!*s)
            return 0;
        if (*s++ != ' ')
            break;
    }
    return expected(p, DIMS, "1 to 4 extents of 1 to 65535");
}

/* What is read is put into natural order; head->order is that of what will be written. */
static int parse_orders(const parser *p)
{
    lat_order *order = &p->state->form.order;
    const lat_order natural = {.sites = ""};
    char text[LAT_ORDER_TEXT];
    const int nd = p->head->geom.nd;
    const bool gauge = p->head->kind == LAT_GAUGE;
    const char *sites = p->value[SITES], *links = p->value[LINKS];
    if (!gauge && links)
        return lat_fail("%s: expected no links in a transformation, found links = %.60s", p->name,
                        links);
    if (!sites || lat_order_read_sites(order, sites, nd, gauge))
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
    int endian = parse_word(p, ENDIAN, "little|big");
    int compression = parse_word(p, COMPRESSION, "none|zlib");
    int filter = parse_word(p, FILTER, "none|rotate-shuffle");
    if (endian < 0 || compression < 0 || filter < 0
        || parse_number(p, BLOCK, MIN_BLOCK, MAX_BLOCK, &block) < 0)
        return -1;
    if (block % 8)
        return expected(p, BLOCK, "a multiple of 8");
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
    if (p->value[GAUGE]) {
        if (strlen(p->value[GAUGE]) >= sizeof head->gauge)
            return expected(p, GAUGE, "a word of at most 15 letters");
        strcpy(head->gauge, p->value[GAUGE]);
    }
    if (p->value[WEIGHTS]) {
        const char *at = p->value[WEIGHTS];
        char *end = NULL;
        for (int mu = 0; mu < head->geom.nd; mu++, at = end + 1) {
            head->weight[mu] = strtod(at, &end);
            if (end == at || *end != (mu + 1 < head->geom.nd ? ' ' : '\0'))
                return expected(p, WEIGHTS, "as many numbers as there are directions");
        }
    }
    if (p->value[SWEEPS]) {
        if (parse_number(p, SWEEPS, 0, LONG_MAX, &sweeps) < 0)
            return -1;
        head->sweeps = (long)sweeps;
    }
    return 0;
}

static int parse_copies(const parser *p)
{
    unsigned long copies = 0;
    if (p->value[COPIES] && parse_number(p, COPIES, 1, LAT_MAX_COPIES, &copies) < 0)
        return -1;
    p->head->copies = (long)copies;
    return 0;
}

/* The values of the keys into the header and the form. */
static int parse_values(const parser *p)
{
    lat_header *head = p->head;
    unsigned long reals;
    int kind = parse_word(p, KIND, "gauge|transform");
    int real = parse_word(p, REAL, "f32|f64");
    if (kind < 0 || real < 0)
        return -1;
    head->kind = kind == 0 ? LAT_GAUGE : LAT_TRANSFORM;
    head->real = real == 0 ? LAT_F32 : LAT_F64;
    if (parse_group(p) < 0 || parse_dims(p) < 0 || parse_number(p, REALS, 1, 512, &reals) < 0)
        return -1;
    head->reals = (int)reals;
    if (parse_orders(p) < 0 || parse_storage(p) < 0 || parse_gauge(p) < 0 || parse_copies(p) < 0
        || parse_real(p, PLAQUETTE, &head->plaquette) < 0
        || parse_real(p, LINK_TRACE, &head->link_trace) < 0
        || parse_real(p, FUNCTIONAL, &head->functional) < 0
        || parse_real(p, THETA, &head->theta) < 0 || lat_header_check(head, p->name) < 0)
        return -1;
    if (head->geom.nd == 1 && p->value[PLAQUETTE])
        return lat_fail("%s: expected no plaquette in one dimension, found %.60s", p->name,
                        p->value[PLAQUETTE]);
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
    for (int key = 0; key < KEYS; key++)
        if (strcmp(line, key_name[key]) == 0) {
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

/* All lines of the header into *head and the state. */
static int parse_text(parser *p, const header_text *t)
{
    for (size_t at = 0; at < t->used;) {
        size_t next = at + strlen(t->at + at) + 1; /* before parse_line puts a NUL into it */
        if (parse_line(p, t->at + at) < 0)
            return -1;
        at = next;
    }
    return parse_values(p);
}

static int read_head(lat_input *in, lat_header *head, lat_stream_state *state)
{
    parser p = {.name = lat_input_name(in), .head = head, .state = state};
    header_text t = {0};
    int rc = take_magic(in);
    if (rc > 0 && (take_lines(in, &t) < 0 || parse_text(&p, &t) < 0))
        rc = -1;
    free(t.at);
    return rc;
}

int lat_stream_head(lat_input *in, lat_header *head)
{
    lat_header_init(head);
    int rc = lat_stream_more(in);
    if (rc > 0) {
        lat_stream_state *s = lat_input_attach(in, sizeof *s);
        if (!s)
            return -1;
        *s = (lat_stream_state){
            .known = true, .begin = lat_input_offset(in), .fields = s->fields + 1};
        if (lat_comm_world->rank == 0)
            rc = read_head(in, head, s);
        if (rc > 0 && lat_header_broadcast(head))
            rc = -1;
    }
    if (rc < 0)
        lat_header_free(head);
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void print_weights(FILE *to, const lat_header *head)
{
    bool any = false;
    for (int mu = 0; mu < head->geom.nd; mu++)
        any = any || head->weight[mu] != 1;
    for (int mu = 0; any && mu < head->geom.nd; mu++)
        fprintf(to, "%s%.17g%s", mu ? " " : "weights = ", head->weight[mu],
                mu + 1 < head->geom.nd ? "" : "\n");
}

static void print_real(FILE *to, enum key key, double value)
{
    if (!isnan(value))
        fprintf(to, "%s = %.17g\n", key_name[key], value);
}

/* As many characters whatever the number is, but for what no field has: where it becomes known when
 * the links have gone by, it takes the place of another (lat_stream_restate). */
static void print_mean(FILE *to, enum key key, double value)
{
    if (!isnan(value))
        fprintf(to, "%s = %.*e\n", key_name[key], signbit(value) ? 16 : 17, value);
}

/* All lines but the end line. */
static void print_header(FILE *to, const lat_header *head, size_t block, bool compressed)
{
    char dims[64], order[LAT_ORDER_TEXT];
    const int nd = head->geom.nd;
    fputs(LAT_STREAM_MAGIC, to);
    fprintf(to, "kind = %s\n", head->kind == LAT_GAUGE ? "gauge" : "transform");
    fprintf(to, "group = SU(%d)\n", head->nc);
    fprintf(to, "dims = %s\n", lat_dims_text(&head->geom, dims));
    fprintf(to, "real = %s\n", head->real == LAT_F32 ? "f32" : "f64");
    fprintf(to, "reals = %d\n", head->reals);
    fprintf(to, "sites = %s\n", lat_order_sites_text(&head->order, nd, order));
    if (head->kind == LAT_GAUGE)
        fprintf(to, "links = %s\n", lat_order_links_text(&head->order, nd, order));
    fprintf(to, "endian = little\n");
    fprintf(to, "block = %zu\n", block);
    fprintf(to, "compression = %s\n", compressed ? "zlib" : "none");
    fprintf(to, "filter = %s\n", compressed ? "rotate-shuffle" : "none");
    print_mean(to, PLAQUETTE, head->plaquette);
    print_mean(to, LINK_TRACE, head->link_trace);
    if (strcmp(head->gauge, "none") != 0) {
        fprintf(to, "gauge = %s\n", head->gauge);
        print_weights(to, head);
        print_real(to, FUNCTIONAL, head->functional);
        print_real(to, THETA, head->theta);
        fprintf(to, "sweeps = %ld\n", head->sweeps);
    }
    if (head->copies)
        fprintf(to, "copies = %ld\n", head->copies);
    for (int i = 0; i < head->info.count; i++)
        fprintf(to, "info.%s\n", head->info.line[i]);
    for (int i = 0; i < head->history.count; i++)
        fprintf(to, "history = %s\n", head->history.line[i]);
}

int lat_stream_put_head(lat_output *out, const lat_header *head, size_t block, bool compressed)
{
    const char *name = lat_output_name(out);
    char end[32];
    lat_memory m;
    FILE *to = lat_memory_open(&m);
    if (to)
        print_header(to, head, block, compressed);
    if (!to || lat_memory_close(to, &m) < 0)
        return lat_fail("out of memory: the header of %s", name);
    snprintf(end, sizeof end, "end = %08x\n", lat_crc(0, m.text, m.n));
    int rc = m.n + strlen(end) > MAX_HEADER ? lat_fail(
                 "%s: expected a header of at most %zu bytes, found %zu (a long history?)", name,
                 MAX_HEADER, m.n + strlen(end))
                                            : 0;
    if (rc == 0
        && (lat_output_write(out, m.text, m.n) < 0 || lat_output_write(out, end, strlen(end)) < 0))
        rc = -1;
    free(m.text);
    return rc;
}
