/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c: what our header says about the gauge, in foreign files. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "record.h"

#define REAL_TEXT 32
#define HISTORY_LINES 14 /* of NERSC: 48, less 22 that are usual, 5 of a gauge and 7 of info */
#define HISTORY_PIECE 98 /* bytes of history in a line */

static void print_real(FILE *to, lat_record_line *line, const char *key, double value)
{
    char text[REAL_TEXT];
    snprintf(text, sizeof text, "%.17g", value);
    if (!isnan(value))
        line(to, key, text);
}

static void print_weights(FILE *to, lat_record_line *line, const lat_header *head)
{
    char text[LAT_MAX_DIMS * REAL_TEXT];
    bool any = false;
    size_t n = 0;
    for (int mu = 0; mu < head->geom.nd; mu++) {
        any = any || head->weight[mu] != 1;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.17g", mu ? " " : "",
                              head->weight[mu]);
    }
    if (any)
        line(to, "weights", text);
}

void lat_record_gauge(const lat_header *head, lat_record_line *line, FILE *to)
{
    char sweeps[REAL_TEXT];
    if (strcmp(head->gauge, "none") == 0)
        return;
    line(to, "gauge", head->gauge);
    print_weights(to, line, head);
    print_real(to, line, "functional", head->functional);
    print_real(to, line, "theta", head->theta);
    snprintf(sweeps, sizeof sweeps, "%ld", head->sweeps);
    line(to, "sweeps", sweeps);
}

/* Finite numbers, with blanks between. 1 or -1. */
static int take_reals(const char *name, const char *key, const char *value, int n, double *reals)
{
    char *end = (char *)value;
    bool good = true;
    for (int i = 0; i < n && good; i++) {
        const char *at = end;
        reals[i] = strtod(at, &end);
        good = end != at && isfinite(reals[i]);
    }
    return good && !*end ? 1
                         : lat_fail("%s: expected %s as %d finite number%s, found '%.60s'", name,
                                    key, n, n > 1 ? "s" : "", value);
}

static int take_sweeps(const char *name, lat_header *head, const char *value)
{
    char *end;
    errno = 0;
    head->sweeps = strtol(value, &end, 10);
    return end == value || *end || errno || head->sweeps < 0
               ? lat_fail("%s: expected sweeps as a number of them, found '%.60s'", name, value)
               : 1;
}

static int take_gauge(const char *name, lat_header *head, const char *value)
{
    if (strlen(value) >= sizeof head->gauge)
        return lat_fail("%s: expected the gauge condition as a word of 1 to %zu letters, found "
                        "'%.60s'",
                        name, sizeof head->gauge - 1, value);
    strcpy(head->gauge, value);
    return 1;
}

int lat_record_take(const char *name, lat_header *head, const char *key, const char *value)
{
    return strcmp(key, "gauge") == 0     ? take_gauge(name, head, value)
           : strcmp(key, "weights") == 0 ? take_reals(name, key, value, head->geom.nd, head->weight)
           : strcmp(key, "functional") == 0 ? take_reals(name, key, value, 1, &head->functional)
           : strcmp(key, "theta") == 0      ? take_reals(name, key, value, 1, &head->theta)
           : strcmp(key, "sweeps") == 0     ? take_sweeps(name, head, value)
                                            : 0;
}

/* Bytes of `text` for one line: no character is cut. */
static int piece_of(const char *text)
{
    size_t n = strlen(text);
    if (n <= HISTORY_PIECE)
        return (int)n;
    for (n = HISTORY_PIECE; ((unsigned char)text[n] & 0xc0) == 0x80; n--)
        ;
    return (int)n;
}

/* Prints line i of the history, unless `to` is NULL. Returns the number of lines that it takes. */
static int print_history_line(FILE *to, int i, const char *text)
{
    int pieces = 0;
    do {
        const int n = piece_of(text);
        char more[16] = "";
        if (pieces++)
            snprintf(more, sizeof more, "_%d", pieces);
        if (to)
            fprintf(to, "LAT_HISTORY_%d%s = \"%.*s\"\n", i + 1, more, n, text);
        text += n;
    } while (*text);
    return pieces;
}

void lat_record_history(const lat_lines *history, FILE *to)
{
    int first = history->count, lines = HISTORY_LINES;
    while (first > 0
           && (lines -= print_history_line(NULL, first - 1, history->line[first - 1])) >= 0)
        first--;
    for (int i = first; i < history->count; i++)
        print_history_line(to, i, history->line[i]);
}

int lat_record_take_history(lat_header *h, bool more, char *value)
{
    const size_t n = strlen(value);
    lat_lines *lines = &h->history;
    if (n < 2 || value[0] != '"' || value[n - 1] != '"')
        return 0;
    value[n - 1] = 0;
    more = more && lines->count > 0;
    if (lat_lines_add(lines, "%s%s", more ? lines->line[lines->count - 1] : "", value + 1) < 0)
        return -1;
    if (more) {
        free(lines->line[lines->count - 2]);
        lines->line[lines->count - 2] = lines->line[lines->count - 1];
        lines->count--;
    }
    return 0;
}
