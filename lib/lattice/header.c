/* SPDX-License-Identifier: BSD-3-Clause */
/* header.c: the header of a field. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "condition.h"
#include "header.h"

/* ---- lines ------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character at s (at least one byte before the NUL), 0 if it is none. */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
            : (s[0] & 0xf0) == 0xe0       ? 3
            : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
        return 0; /* overlong, or a surrogate */
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
        return 0;
    return n;
}

bool lat_utf8(const char *text)
{
    for (int n; *text; text += n)
        if ((n = utf8_length((const unsigned char *)text)) == 0)
            return false;
    return true;
}

/* Makes any text a header line: a control character becomes a blank, a byte that is not UTF-8 a
 * question mark. */
static void clean(char *text)
{
    int n;
    for (unsigned char *s = (unsigned char *)text; *s; s += n) {
        n = utf8_length(s);
        if (n == 0)
            *s = '?', n = 1;
        else if (*s < 0x20 || *s == 0x7f)
            *s = ' ';
    }
}

/* Cuts UTF-8 to `most` bytes including "...", between two characters. */
static void cut(char *text, size_t most)
{
    size_t end = most - strlen("...");
    if (strlen(text) <= most)
        return;
    while (((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    strcpy(text + end, "...");
}

/* Appends `text` and owns it then; NULL: there was no memory for it. */
static int append(lat_lines *lines, char *text)
{
    char **line = text ? realloc(lines->line, ((size_t)lines->count + 1) * sizeof *line) : NULL;
    if (!line) {
        free(text);
        return lat_fail("out of memory: %d lines of the header", lines->count + 1);
    }
    lines->line = line;
    line[lines->count++] = text;
    return 0;
}

int lat_lines_add(lat_lines *lines, const char *format, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n < 0)
        return append(lines, NULL);
    clean(text);
    cut(text, LAT_MAX_LINE);
    return append(lines, text);
}

void lat_lines_free(lat_lines *lines)
{
    for (int i = 0; i < lines->count; i++)
        free(lines->line[i]);
    free(lines->line);
    *lines = (lat_lines){0};
}

static int lines_copy(lat_lines *to, const lat_lines *from)
{
    for (int i = 0; i < from->count; i++)
        if (append(to, strdup(from->line[i])) < 0)
            return -1;
    return 0;
}

/* ---- header ------------------------------------------------------------------------------ */

void lat_header_init(lat_header *head)
{
    *head = (lat_header){
        .kind = LAT_GAUGE,
        .geom = {.nd = LAT_MAX_DIMS, .dims = {1, 1, 1, 1}},
        .nc = 3,
        .real = LAT_F64,
        .reals = 18,
        .plaquette = NAN,
        .link_trace = NAN,
        .gauge = "none",
        .weight = {1, 1, 1, 1},
        .functional = NAN,
        .theta = NAN,
    };
    lat_quark_init(&head->quark);
}

void lat_header_free(lat_header *head)
{
    lat_lines_free(&head->info);
    lat_lines_free(&head->history);
    lat_quark_free(&head->quark);
    lat_header_init(head);
}

int lat_header_copy(lat_header *to, const lat_header *from)
{
    *to = *from;
    to->info = to->history = (lat_lines){0};
    lat_quark_init(&to->quark);
    if (lat_quark_copy(&to->quark, &from->quark) < 0 || lines_copy(&to->info, &from->info) < 0
        || lines_copy(&to->history, &from->history) < 0) {
        lat_header_free(to);
        return -1;
    }
    return 0;
}

/* ---- kinds ------------------------------------------------------------------------------- */

static const struct {
    const char *word, *text;
} kinds[] = {
    [LAT_GAUGE] = {"gauge", "a gauge field"},
    [LAT_TRANSFORM] = {"transform", "a gauge transformation"},
    [LAT_SPINOR] = {"spinor", "a spinor field"},
    [LAT_PROPAGATOR] = {"propagator", "a quark propagator"},
    [LAT_MODES] = {"modes", "a field of modes"},
};

const char *lat_kind_word(lat_kind kind) { return kinds[kind].word; }
const char *lat_kind_text(lat_kind kind) { return kinds[kind].text; }

int lat_header_need(const lat_header *head, lat_kind kind, const char *name)
{
    return head->kind == kind ? 0
                              : lat_fail("%s: expected %s, found %s", name, lat_kind_text(kind),
                                         lat_kind_text(head->kind));
}

void lat_header_make_spinors(lat_header *head, lat_kind kind, int columns)
{
    lat_quark_free(&head->quark);
    head->kind = kind;
    head->quark.columns = kind == LAT_MODES ? columns : kind == LAT_PROPAGATOR ? 4 * head->nc : 1;
    head->reals = 8 * head->nc;
    head->plaquette = head->link_trace = NAN;
    head->copies = 0;
}

bool lat_header_source(const lat_header *head)
{
    const lat_quark *q = &head->quark;
    return lat_header_spinors(head) && q->source && !q->residual
           && !lat_fermion_bounded(&q->fermion);
}

size_t lat_header_objects(const lat_header *head)
{
    return head->kind == LAT_GAUGE    ? (size_t)head->geom.nd
           : lat_header_spinors(head) ? (size_t)head->quark.columns
                                      : 1;
}

size_t lat_header_full_reals(const lat_header *head)
{
    return lat_header_spinors(head) ? 8 * (size_t)head->nc
                                    : 2 * (size_t)head->nc * (size_t)head->nc;
}

lat_order_objects lat_header_order_objects(const lat_header *head)
{
    return head->kind == LAT_GAUGE                                   ? LAT_ORDER_LINKS
           : head->kind == LAT_PROPAGATOR || head->kind == LAT_MODES ? LAT_ORDER_COLUMNS
                                                                     : LAT_ORDER_ONE;
}

/* ---- checks ------------------------------------------------------------------------------ */

/* Numbers of reals that a stream may hold of an object: all, of links and g two rows of SU(3) or
 * one of SU(2). */
static bool reals_known(const lat_header *head)
{
    return (size_t)head->reals == lat_header_full_reals(head)
           || (!lat_header_spinors(head)
               && ((head->nc == 3 && head->reals == 12) || (head->nc == 2 && head->reals == 4)));
}

/* A condition is a word: letters, digits, '-', '_' and '.'. */
static bool gauge_named(const lat_header *head)
{
    size_t n = strnlen(head->gauge, sizeof head->gauge);
    return n > 0 && n < sizeof head->gauge
           && strspn(head->gauge,
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
                  == n;
}

static int check_numbers(const lat_header *head, const char *name)
{
    if (isinf(head->plaquette) || isinf(head->link_trace))
        return lat_fail("%s: plaquette and link trace must be finite, found %g and %g", name,
                        head->plaquette, head->link_trace);
    if (head->kind != LAT_GAUGE && !(isnan(head->plaquette) && isnan(head->link_trace)))
        return lat_fail("%s: %s has no plaquette and no link trace, found %g and %g", name,
                        lat_kind_text(head->kind), head->plaquette, head->link_trace);
    if (isinf(head->functional) || isinf(head->theta))
        return lat_fail("%s: functional and theta must be finite, found %g and %g", name,
                        head->functional, head->theta);
    double weights = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        if (!(head->weight[mu] >= 0 && head->weight[mu] <= 1e6))
            return lat_fail("%s: weights of directions must be from 0 to 1e6, found %g", name,
                            head->weight[mu]);
    for (int mu = 0; mu < head->geom.nd; mu++)
        weights += head->weight[mu];
    if (!(weights > 0))
        return lat_fail("%s: weights of directions must not all be 0", name);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        if (head->weight[mu] != 1 && strcmp(head->gauge, "landau") != 0)
            return lat_fail("%s: weights of directions need gauge landau, found gauge %s", name,
                            head->gauge);
    if (head->sweeps < 0)
        return lat_fail("%s: sweeps must not be negative, found %ld", name, head->sweeps);
    if (head->copies < 0 || head->copies > (head->kind == LAT_GAUGE ? LAT_MAX_COPIES : 0))
        return lat_fail(
            "%s: a gauge field may have up to %d copies and another field none, found %ld", name,
            LAT_MAX_COPIES, head->copies);
    if (strcmp(head->gauge, "none") == 0
        && !(isnan(head->functional) && isnan(head->theta) && head->sweeps == 0))
        return lat_fail("%s: functional, theta and sweeps need a gauge condition, found gauge none",
                        name);
    return 0;
}

/* Four dimensions, a number of columns that fits the kind, and bytes that 63 bits count. */
static int check_spinors(const lat_header *head, const char *name)
{
    const int columns = head->quark.columns, one = head->kind == LAT_SPINOR,
              expected = one ? 1 : 4 * head->nc;
    uint64_t bytes = 64 * (uint64_t)head->nc * (uint64_t)(columns < 1 ? 1 : columns);
    if (head->geom.nd != LAT_MAX_DIMS)
        return lat_fail("%s: %s is in four dimensions, found %d", name, lat_kind_text(head->kind),
                        head->geom.nd);
    if (head->kind != LAT_MODES && columns != expected)
        return lat_fail("%s: expected %d columns of %s of SU(%d), found %d", name, expected,
                        lat_kind_text(head->kind), head->nc, columns);
    if (columns < 1 || columns > LAT_MAX_COLUMNS)
        return lat_fail("%s: expected 1 to %d columns, found %d", name, LAT_MAX_COLUMNS, columns);
    if (bytes > INT64_MAX / lat_volume(&head->geom))
        return lat_fail("%s: expected fewer than 2^63 bytes, found %d columns on %zu sites", name,
                        columns, lat_volume(&head->geom));
    if (head->quark.eigenvalue && head->kind != LAT_MODES)
        return lat_fail("%s: eigenvalues belong to modes, found %s", name,
                        lat_kind_text(head->kind));
    return lat_quark_check(&head->quark, name);
}

int lat_header_check(const lat_header *head, const char *name)
{
    if ((unsigned)head->kind > LAT_MODES)
        return lat_fail("%s: expected a kind of field, found number %d", name, (int)head->kind);
    if (lat_geometry_check(&head->geom, name) < 0)
        return -1;
    if (head->nc < 2 || head->nc > LAT_MAX_COLOURS)
        return lat_fail("%s: expected SU(2) to SU(%d), found SU(%d)", name, LAT_MAX_COLOURS,
                        head->nc);
    if (head->real != LAT_F32 && head->real != LAT_F64)
        return lat_fail("%s: expected reals of 4 or 8 bytes, found %d", name, (int)head->real);
    if (!reals_known(head))
        return lat_fail("%s: expected %zu%s reals a %s of SU(%d), found %d", name,
                        lat_header_full_reals(head),
                        lat_header_spinors(head) ? ""
                        : head->nc == 3          ? " or 12"
                        : head->nc == 2          ? " or 4"
                                                 : "",
                        lat_header_spinors(head) ? "spinor" : "matrix", head->nc, head->reals);
    if (lat_header_spinors(head) && check_spinors(head, name) < 0)
        return -1;
    if (!lat_order_fits(&head->order, head->geom.nd, lat_header_order_objects(head)))
        return lat_fail("%s: expected an order of sites, links or columns for %d dimensions and %s",
                        name, head->geom.nd, lat_kind_text(head->kind));
    if (!gauge_named(head))
        return lat_fail("%s: expected the gauge condition as a word of 1 to %d letters", name,
                        (int)sizeof head->gauge - 1);
    return check_numbers(head, name);
}

bool lat_header_alike(const lat_header *a, const lat_header *b)
{
    return a->nc == b->nc && a->geom.nd == b->geom.nd
           && memcmp(a->geom.dims, b->geom.dims, sizeof a->geom.dims) == 0;
}

size_t lat_header_matrices(const lat_header *head)
{
    return lat_volume(&head->geom) * lat_header_objects(head);
}

size_t lat_header_bytes(const lat_header *head)
{
    return lat_header_matrices(head) * (size_t)head->reals * (size_t)head->real;
}

const char *lat_position_text(const lat_header *head, size_t i, char buf[LAT_POSITION_TEXT])
{
    const size_t per = lat_header_objects(head);
    int x[LAT_MAX_DIMS], n = 0;
    lat_coordinates(&head->geom, i / per, x);
    for (int mu = 0; mu < head->geom.nd; mu++)
        n += snprintf(buf + n, LAT_POSITION_TEXT - (size_t)n, "%s%d", mu ? "," : "", x[mu]);
    if (head->kind == LAT_GAUGE)
        snprintf(buf + n, LAT_POSITION_TEXT - (size_t)n, " %c", "xyzt"[i % per]);
    else if (per > 1)
        snprintf(buf + n, LAT_POSITION_TEXT - (size_t)n, " column %zu", i % per);
    return buf;
}

void lat_header_measured(lat_header *head, double plaquette, double link_trace)
{
    if (isnan(head->plaquette) && isfinite(plaquette))
        head->plaquette = plaquette;
    if (isnan(head->link_trace) && isfinite(link_trace))
        head->link_trace = link_trace;
}

void lat_header_ungauge(lat_header *head)
{
    strcpy(head->gauge, "none");
    head->functional = head->theta = NAN;
    head->sweeps = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        head->weight[mu] = 1;
    lat_info_remove(head, LAT_INFO_ANNEALED);
    lat_info_remove(head, LAT_INFO_ANNEALED_WEIGHTS);
    lat_info_remove(head, LAT_INFO_RESIDUAL);
    lat_info_remove(head, "lfn"); /* names a file in ILDG's catalogue, which has other links */
}

void lat_header_unflow(lat_header *head)
{
    lat_info_remove(head, LAT_INFO_FLOW_TIME);
    lat_info_remove(head, LAT_INFO_FLOW_ACTION);
}

/* ---- info -------------------------------------------------------------------------------- */

/* The line of that key, or -1. */
static int info_find(const lat_header *head, const char *key)
{
    size_t n = strlen(key);
    for (int i = 0; i < head->info.count; i++)
        if (strncmp(head->info.line[i], key, n) == 0
            && strncmp(head->info.line[i] + n, " = ", 3) == 0)
            return i;
    return -1;
}

const char *lat_info_get(const lat_header *head, const char *key)
{
    int i = info_find(head, key);
    return i < 0 ? NULL : head->info.line[i] + strlen(key) + 3;
}

bool lat_info_key(const char *key)
{
    size_t n = strlen(key);
    return n > 0 && n <= LAT_MAX_KEY && strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == n;
}

/* The line "key = value", to be freed; NULL with lat_error set. */
static char *info_line(const char *key, const char *value)
{
    char *text = lat_text_new("%s = %s", key, value);
    if (!text)
        return NULL;
    clean(text);
    if (strlen(text) <= LAT_MAX_INFO_LINE)
        return text;
    lat_fail("expected at most %zu bytes in info line %s, found %zu",
             LAT_MAX_INFO_LINE - strlen(key) - strlen(" = "), key, strlen(value));
    free(text);
    return NULL;
}

int lat_info_set(lat_header *head, const char *key, const char *value)
{
    if (!lat_info_key(key))
        return lat_fail(
            "expected a key of 1 to %d lower case letters, digits, '_', '.' and '-', found '%.80s'",
            LAT_MAX_KEY, key);
    const int old = info_find(head, key);
    if (old < 0 && head->info.count >= LAT_MAX_INFO)
        return lat_fail("expected at most %d info lines in a header, found more", LAT_MAX_INFO);
    char *text = info_line(key, value);
    if (!text)
        return -1;
    if (old < 0)
        return append(&head->info, text);
    free(head->info.line[old]);
    head->info.line[old] = text;
    return 0;
}

void lat_info_remove(lat_header *head, const char *key)
{
    const int i = info_find(head, key);
    if (i < 0)
        return;
    free(head->info.line[i]);
    head->info.count--;
    memmove(head->info.line + i, head->info.line + i + 1,
            (size_t)(head->info.count - i) * sizeof *head->info.line);
}
