/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: lines from a buffer that grows with the longest one. */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

enum { FIRST = 1 << 16, LONGEST = 1 << 24 };

int lat_table_open(lat_table *t, const char *path)
{
    *t = (lat_table){.table = -1, .capacity = FIRST};
    if (!(t->in = lat_input_open(path && strcmp(path, "-") ? path : NULL, &lat_comm_self)))
        return -1;
    t->name = lat_input_name(t->in);
    return lat_rc(!(t->text = lat_alloc(t->capacity, 1, "lines of a table")));
}

void lat_table_close(lat_table *t)
{
    lat_input_close(t->in);
    LAT_FREE(t->text, t->heading, t->names, t->column, t->cell);
    *t = (lat_table){.table = -1};
}

/* More bytes behind text[begin .. end). */
static int fill(lat_table *t)
{
    memmove(t->text, t->text + t->begin, t->end - t->begin);
    t->end -= t->begin;
    t->begin = 0;
    if (t->end == t->capacity) {
        char *more = t->capacity < LONGEST ? realloc(t->text, 2 * t->capacity) : NULL;
        if (!more)
            return lat_fail("%s: line %ld: expected lines of at most %d bytes", t->name,
                            t->line + 1, LONGEST);
        t->text = more;
        t->capacity *= 2;
    }
    const ssize_t got = lat_input_read_some(t->in, t->text + t->end, t->capacity - t->end);
    if (got < 0)
        return -1;
    t->over = got == 0;
    t->end += (size_t)got;
    return 0;
}

/* The next line that is not empty, ended by a zero. 1, 0 at the end, or -1. */
static int next_line(lat_table *t, char **line)
{
    for (;;) {
        char *from = t->text + t->begin, *end = memchr(from, '\n', t->end - t->begin);
        if (!end && !t->over) {
            if (fill(t))
                return -1;
            continue;
        }
        if (!end && t->begin == t->end)
            return 0;
        if (!end && t->end == t->capacity)
            return lat_fail("%s: line %ld: expected a newline at its end", t->name, t->line + 1);
        if (t->line == 0 && t->end - t->begin >= 3 && !memcmp(from, "\xef\xbb\xbf", 3)) {
            t->begin += 3; /* the byte order mark of UTF-8 */
            continue;
        }
        const size_t length = end ? (size_t)(end - from) : t->end - t->begin;
        if (memchr(from, '\0', length))
            return lat_fail("%s: line %ld: expected text, found a zero byte", t->name, t->line + 1);
        from[length] = '\0';
        t->begin += length + (end ? 1 : 0);
        t->line++;
        if (length && from[length - 1] == '\r')
            from[length - 1] = '\0';
        if (from[strspn(from, " \t")]) {
            *line = from;
            return 1;
        }
    }
}

/* Where the next cell begins, behind the end of this one, which becomes a zero; NULL: none. */
static char *cut(char *at, bool aligned)
{
    char *end = aligned ? strstr(at, "  ") : strchr(at, '\t');
    if (!end)
        return NULL;
    *end++ = '\0';
    return aligned ? end + strspn(end, " ") : end;
}

static char *trimmed(char *s)
{
    s += strspn(s, " ");
    size_t n = strlen(s);
    while (n && s[n - 1] == ' ')
        s[--n] = '\0';
    return s;
}

/* The cells of a line; of more than `most` their number alone. */
static int cells(char *line, bool aligned, char **cell, int most)
{
    int n = 0;
    if (aligned)
        line = trimmed(line);
    for (char *next; line; line = next) {
        next = cut(line, aligned);
        if (n < most)
            cell[n] = trimmed(line);
        n++;
    }
    return n;
}

static int take_names(lat_table *t, const char *line)
{
    const int most = (int)strlen(line) / 2 + 1;
    LAT_FREE(t->heading, t->names, t->column, t->cell);
    t->heading = strdup(line);
    t->names = strdup(line);
    t->column = lat_alloc((size_t)most, sizeof *t->column, "names of columns");
    t->cell = lat_alloc((size_t)most, sizeof *t->cell, "cells of a row");
    if (!t->heading || !t->names || !t->column || !t->cell)
        return lat_fail("out of memory: names of columns");
    if (*line == '{')
        return lat_fail("%s: expected a table with names of columns (--tsv), found JSON", t->name);
    t->aligned = !strchr(line, '\t');
    t->columns = cells(t->names, t->aligned, t->column, most);
    t->table++;
    t->rows = 0;
    return LAT_TABLE_NAMES;
}

/* Are these names of columns again: is the first cell, and no number stands in the others? */
static bool names_again(const lat_table *t, const char *line)
{
    const size_t n = strlen(t->column[0]);
    return !strcmp(line, t->heading)
           || (!strncmp(line, t->column[0], n) && (line[n] == '\t' || line[n] == ' '));
}

static int without_rows(const lat_table *t)
{
    return lat_fail("%s: expected a table with rows, found none", t->name);
}

int lat_table_next(lat_table *t)
{
    char *line = NULL;
    const int rc = next_line(t, &line);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return t->rows ? LAT_TABLE_END : without_rows(t);
    if (!t->heading)
        return take_names(t, line);
    if (names_again(t, line))
        return t->rows ? take_names(t, line) : without_rows(t);
    const int n = cells(line, t->aligned, t->cell, t->columns);
    if (n != t->columns)
        return lat_fail("%s: row %ld: expected %d cells as in the first row, found %d", t->name,
                        t->line, t->columns, n);
    t->rows++;
    return LAT_TABLE_ROW;
}

int lat_table_column(const lat_table *t, const char *name)
{
    for (int i = 0; i < t->columns; i++)
        if (!strcmp(t->column[i], name))
            return i;
    return -1;
}

int lat_table_number(const lat_table *t, int column, bool nan, double *x)
{
    const char *text = t->cell[column];
    char *end;
    *x = strtod(text, &end);
    const bool whole = *text && !*end && text[strcspn(text, "xX")] == '\0';
    if (whole && (isfinite(*x) || (nan && isnan(*x))))
        return 0;
    return lat_fail("%s: row %ld: expected a number in column %s, found '%s'", t->name, t->line,
                    t->column[column], text);
}
