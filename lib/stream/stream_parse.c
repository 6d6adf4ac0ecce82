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
#include "base/memory.h"
#include "lattice/fermion_numbers.h"

/* Characters of a decimal number: no hexadecimal one, no infinity, no blank before it. */
#define DECIMAL "0123456789+-.e"

#define MIN_BLOCK ((size_t)1 << 12)
#define MAX_BLOCK ((size_t)1 << 26)

/* Keys of the lines, in the order of docs/format.md. */
static const char *const keys[] = {
    "kind",      "group",      "dims",     "real",      "reals",       "columns",
    "sites",     "links",      "endian",   "block",     "compression", "filter",
    "plaquette", "link_trace", "gauge",    "weights",   "functional",  "theta",
    "sweeps",    "copies",     "basis",    "source",    "operator",    "mass",
    "kappa",     "csw",        "csw_t",    "xi",        "nu",          "twist",
    "cf",        "m0",         "boundary", "residuals", "eigenvalues", "links_crc"};
enum { KEYS = sizeof keys / sizeof *keys };

typedef struct parser {
    const char *name; /* of the input */
    const char *value[KEYS];
    lat_header *head;
    lat_stream_state *state;
} parser;

/* The number of a key; KEYS if there is none. */
static int key_number(const char *key)
{
    int i = 0;
    while (i < KEYS && strcmp(key, keys[i]) != 0)
        i++;
    return i;
}

/* What the header says; NULL: nothing. */
static const char *value_of(const parser *p, const char *key) { return p->value[key_number(key)]; }

/* The first key from one to another, included, that has a value; NULL: none has. */
static const char *first_of(const parser *p, const char *from, const char *to)
{
    for (int i = key_number(from); i <= key_number(to); i++)
        if (p->value[i])
            return keys[i];
    return NULL;
}

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

/* -1, with a sentence. */
static int expected(const parser *p, const char *key, const char *what)
{
    const char *value = value_of(p, key);
    return lat_fail("%s: expected %s = %s in the header, found %s%.60s%s", p->name, key, what,
                    value ? "'" : "", value ? value : "nothing", value ? "'" : "");
}

/* Index of the value among `words` ("a|b|c"), or -1 with lat_error set. */
static int parse_word(const parser *p, const char *key, const char *words)
{
    const char *value = value_of(p, key);
    size_t n = value ? strlen(value) : 0;
    int which = 0;
    for (const char *w = words; n && !strchr(value, '|') && w;
         w = strchr(w, '|'), w = w ? w + 1 : NULL, which++)
        if (strncmp(w, value, n) == 0 && (w[n] == '|' || !w[n]))
            return which;
    return expected(p, key, words);
}

/* An integer from min to max. */
static int parse_number(const parser *p, const char *key, unsigned long min, unsigned long max,
                        unsigned long *value)
{
    char what[80];
    const char *s = value_of(p, key);
    if (s && parse_digits(&s, max, value) && !*s && *value >= min)
        return 0;
    snprintf(what, sizeof what, "%lu to %lu", min, max);
    return expected(p, key, what);
}

/* A finite real; *value stays if there is none. */
static int parse_real(const parser *p, const char *key, double *value)
{
    const char *s = value_of(p, key);
    char *end;
    if (!s)
        return 0;
    *value = strtod(s, &end);
    if (!*s || strspn(s, DECIMAL) != strlen(s) || *end || !isfinite(*value))
        return expected(p, key, "a finite number");
    return 0;
}

/* n finite reals with one blank between. */
static int parse_reals(const parser *p, const char *key, int n, double *values)
{
    char what[64];
    const char *at = value_of(p, key);
    char *end = NULL;
    snprintf(what, sizeof what, "%d finite numbers", n);
    for (int i = 0; i < n; i++, at = end + 1) {
        const size_t digits = strspn(at, DECIMAL);
        values[i] = strtod(at, &end);
        if (digits == 0 || end != at + digits || *end != (i + 1 < n ? ' ' : '\0')
            || !isfinite(values[i]))
            return expected(p, key, what);
    }
    return 0;
}

/* Before what depends on it. */
static int parse_columns(const parser *p)
{
    lat_header *head = p->head;
    unsigned long columns = 1;
    const bool has = lat_header_order_objects(head) == LAT_ORDER_COLUMNS;
    if (!has && value_of(p, "columns"))
        return lat_fail("%s: expected columns of a propagator or of modes, found kind = %s",
                        p->name, lat_kind_word(head->kind));
    if (has && parse_number(p, "columns", 1, LAT_MAX_COLUMNS, &columns) < 0)
        return -1;
    head->quark.columns = lat_header_spinors(head) ? (int)columns : 0;
    return 0;
}

static int parse_group(const parser *p)
{
    const char *s = value_of(p, "group");
    unsigned long n;
    if (!s || strncmp(s, "SU(", 3) != 0 || (s += 3, !parse_digits(&s, LAT_MAX_COLOURS, &n))
        || strcmp(s, ")") != 0 || n < 2)
        return expected(p, "group", "SU(2) to SU(16)");
    p->head->nc = (int)n;
    return 0;
}

static int parse_dims(const parser *p)
{
    lat_geometry *geom = &p->head->geom;
    const char *s = value_of(p, "dims");
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
    return expected(p, "dims", "1 to 4 extents of 1 to 65535");
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
    const char *sites = value_of(p, "sites"), *links = value_of(p, "links");
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
    int endian = parse_word(p, "endian", "little|big");
    int compression = parse_word(p, "compression", "none|zlib");
    int filter = parse_word(p, "filter", "none|rotate-shuffle");
    if (endian < 0 || compression < 0 || filter < 0
        || parse_number(p, "block", MIN_BLOCK, MAX_BLOCK, &block) < 0)
        return -1;
    if (block % 8)
        return expected(p, "block", "a multiple of 8");
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
    if (value_of(p, "gauge")) {
        if (strlen(value_of(p, "gauge")) >= sizeof head->gauge)
            return expected(p, "gauge", "a word of at most 15 letters");
        strcpy(head->gauge, value_of(p, "gauge"));
    }
    if (value_of(p, "weights") && parse_reals(p, "weights", head->geom.nd, head->weight) < 0)
        return -1;
    if (value_of(p, "sweeps")) {
        if (parse_number(p, "sweeps", 0, LONG_MAX, &sweeps) < 0)
            return -1;
        head->sweeps = (long)sweeps;
    }
    return 0;
}

static int parse_copies(const parser *p)
{
    unsigned long copies = 0;
    if (value_of(p, "copies") && parse_number(p, "copies", 1, LAT_MAX_COPIES, &copies) < 0)
        return -1;
    p->head->copies = (long)copies;
    return 0;
}

/* ---- spinors ---- */

/* kappa (2 m + 8) of numbers with 17 digits differs from 1 by a few roundings. */
#define KAPPA_WITHIN 1e-14

/* One number a column. */
static int parse_numbers(const parser *p, const char *key, double **numbers)
{
    const int columns = p->head->quark.columns;
    if (!value_of(p, key))
        return 0;
    *numbers = lat_alloc((size_t)columns, sizeof **numbers, "numbers of columns");
    return *numbers ? parse_reals(p, key, columns, *numbers) : -1;
}

static int parse_fermion(const parser *p)
{
    lat_fermion *f = &p->head->quark.fermion;
    double kappa = NAN;
    if (!value_of(p, "mass"))
        return expected(p, "mass", "a number beside operator");
    for (int i = 0; i < LAT_FERMION_NUMBERS; i++) {
        f->csw_t = i == LAT_FERMION_CSW_T ? f->csw : f->csw_t;
        if (parse_real(p, lat_fermion_names[i], lat_fermion_number(f, i)) < 0)
            return -1;
    }
    if (parse_real(p, "kappa", &kappa) < 0)
        return -1;
    if (!isnan(kappa) && !(fabs(kappa * (2 * f->mass + 8) - 1) <= KAPPA_WITHIN))
        return expected(p, "kappa", "1/(2 mass + 8)");
    return 0;
}

static int parse_operator(const parser *p)
{
    lat_fermion *f = &p->head->quark.fermion;
    const char *name = value_of(p, "operator"), *boundary = value_of(p, "boundary");
    f->bounded = !name && boundary;
    if ((name || boundary) && (!boundary || lat_boundary_parse(boundary, f->boundary)))
        return expected(p, "boundary", "four of p, a, d and numbers from -2 to 2 with commas");
    if (!name) {
        const char *other = first_of(p, "operator", "m0");
        other = other ? other : first_of(p, "residuals", "residuals");
        return other ? lat_fail("%s: expected an operator in the header beside %s, found none",
                                p->name, other)
                     : 0;
    }
    if (strcmp(name, "wilson") != 0 && strcmp(name, "overlap") != 0)
        return expected(p, "operator", "wilson|overlap");
    strcpy(f->name, name);
    const bool overlap = !strcmp(name, "overlap");
    if (overlap != !!value_of(p, "m0") || (overlap && value_of(p, "kappa")))
        return lat_fail("%s: expected m0 of operator overlap alone and kappa of wilson alone, "
                        "found operator = %s",
                        p->name, name);
    return parse_fermion(p);
}

static int parse_quark(const parser *p)
{
    lat_quark *q = &p->head->quark;
    const char *basis = value_of(p, "basis"), *crc = value_of(p, "links_crc");
    uint32_t number;
    if (!lat_header_spinors(p->head)) {
        const char *other = first_of(p, "basis", "links_crc");
        return other ? lat_fail("%s: expected %s of spinors, found it in %s", p->name, other,
                                lat_kind_text(p->head->kind))
                     : 0;
    }
    if (!basis || strcmp(basis, LAT_BASIS) != 0)
        return expected(p, "basis", LAT_BASIS);
    if (crc && !lat_stream_parse_crc(crc, &number))
        return expected(p, "links_crc", "8 hexadecimal digits");
    if (crc)
        strcpy(q->links, crc);
    return lat_rc((value_of(p, "source") && lat_quark_set_source(q, value_of(p, "source")) < 0)
                  || parse_operator(p) < 0 || parse_numbers(p, "residuals", &q->residual) < 0
                  || parse_numbers(p, "eigenvalues", &q->eigenvalue) < 0);
}

/* ---- all lines ---- */

/* Parses the values of all keys, in an order such that each has what it needs. */
static int parse_values(const parser *p)
{
    lat_header *head = p->head;
    unsigned long reals;
    int kind = parse_word(p, "kind", "gauge|transform|spinor|propagator|modes");
    int real = parse_word(p, "real", "f32|f64");
    if (kind < 0 || real < 0)
        return -1;
    head->kind = (lat_kind)kind; /* in the order of the enum */
    head->real = real == 0 ? LAT_F32 : LAT_F64;
    if (parse_group(p) < 0 || parse_dims(p) < 0 || parse_number(p, "reals", 1, 512, &reals) < 0)
        return -1;
    head->reals = (int)reals;
    if (parse_columns(p) < 0 || parse_orders(p) < 0 || parse_storage(p) < 0 || parse_gauge(p) < 0
        || parse_copies(p) < 0 || parse_real(p, "plaquette", &head->plaquette) < 0
        || parse_real(p, "link_trace", &head->link_trace) < 0
        || parse_real(p, "functional", &head->functional) < 0
        || parse_real(p, "theta", &head->theta) < 0 || parse_quark(p) < 0
        || lat_header_check(head, p->name) < 0)
        return -1;
    if (head->geom.nd == 1 && value_of(p, "plaquette"))
        return lat_fail("%s: expected no plaquette in one dimension, found %.60s", p->name,
                        value_of(p, "plaquette"));
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
    const int key = key_number(line);
    if (key == KEYS)
        return lat_fail("%s: expected a key of version 1 in the header, found '%.60s' (written by "
                        "a newer version?)",
                        p->name, line);
    if (p->value[key])
        return lat_fail("%s: expected each key once in the header, found '%s' twice", p->name,
                        line);
    p->value[key] = value;
    return 0;
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
