/* SPDX-License-Identifier: BSD-3-Clause */
/* options_values.c: values of options, from text and to text. */
#include "options_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "geometry.h"
#include "memory_stream.h"

/* "--OPTION: expected WHAT from 1 to 5, found 'TEXT'"; a long text is cut. */
static void __attribute__((noreturn))
bad_range(const lat_option *o, const char *what, const char *text)
{
    if (o->min == 0 && o->max == 0)
        lat_usage("--%s: expected %s, found '%.80s'", o->name, what, text);
    if (isinf(o->max))
        lat_usage("--%s: expected %s of at least %.15g, found '%.80s'", o->name, what, o->min,
                  text);
    lat_usage("--%s: expected %s from %.15g to %.15g, found '%.80s'", o->name, what, o->min, o->max,
              text);
}

static bool in_range(const lat_option *o, double v)
{
    return (o->min == 0 && o->max == 0) || (v >= o->min && v <= o->max);
}

static void set_int(const lat_option *o, const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*digits) || *end || errno || !in_range(o, (double)v))
        bad_range(o, "a whole number", text);
    *(long *)o->value = v;
}

static void set_real(const lat_option *o, const char *text)
{
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    /* strtod alone would accept blanks, hexadecimal, "inf" and "nan". */
    if (!*text || *end || text[strspn(text, "0123456789.eE+-")] || errno || !isfinite(v)
        || !in_range(o, v))
        bad_range(o, "a number", text);
    *(double *)o->value = v;
}

static void set_seed(const lat_option *o, const char *text)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(digits, &end, hex ? 16 : 10);
    if (!isxdigit((unsigned char)*digits) || (hex && (digits[1] == 'x' || digits[1] == 'X')) || *end
        || errno || v > UINT64_MAX)
        lat_usage("--%s: expected a whole number from 0 to 2^64 - 1, found '%.80s'", o->name, text);
    *(uint64_t *)o->value = v;
}

/* Choice number i of "a|b|c": returns its start, NULL after the last one; its length in *length. */
static const char *choice(const char *choices, int i, size_t *length)
{
    for (; i > 0; i--) {
        choices = strchr(choices, '|');
        if (!choices)
            return NULL;
        choices++;
    }
    *length = strcspn(choices, "|");
    return choices;
}

char *lat_option_choices(const char *choices)
{
    const char *name, *last;
    size_t n, more;
    lat_memory_stream m;
    FILE *f = lat_memory_stream_open(&m);
    for (int i = 0; f && (name = choice(choices, i, &n)); i++) {
        last = choice(choices, i + 1, &more);
        fprintf(f, "%s%.*s", i == 0 ? "" : last ? ", " : " or ", (int)n, name);
    }
    return f && lat_memory_stream_close(f, &m) == 0 ? m.text : NULL;
}

static void set_choice(const lat_option *o, const char *text)
{
    const char *name;
    size_t n;
    for (int i = 0; (name = choice(o->arg, i, &n)); i++)
        if (strlen(text) == n && memcmp(text, name, n) == 0) {
            *(int *)o->value = i;
            return;
        }
    const char *list = lat_option_choices(o->arg);
    lat_usage("--%s: expected %s, found '%.80s'", o->name, list ? list : o->arg, text);
}

static void set_dims(const lat_option *o, const char *text)
{
    char why[256];
    if (lat_dims_parse(text, o->value) == 0)
        return;
    snprintf(why, sizeof why, "%s", lat_error());
    lat_usage("--%s: %s", o->name, why);
}

void lat_option_set(const lat_option *o, const char *text)
{
    switch (lat_option_type(o)) {
    case LAT_OPT_FLAG: *(bool *)o->value = true; break;
    case LAT_OPT_INT: set_int(o, text); break;
    case LAT_OPT_SEED: set_seed(o, text); break;
    case LAT_OPT_REAL: set_real(o, text); break;
    case LAT_OPT_TEXT: *(const char **)o->value = text; break;
    case LAT_OPT_CHOICE: set_choice(o, text); break;
    case LAT_OPT_DIMS: set_dims(o, text); break;
    case LAT_OPT_ALIAS:
    case LAT_OPT_HEADING:
    case LAT_OPT_END: break;
    }
}

/* The shortest decimal number that reads back as v. */
static void shortest(char *buf, size_t size, double v)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, size, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            return;
    }
}

void lat_option_default(const lat_option *o, char *buf, size_t size)
{
    const char *name;
    size_t n;
    buf[0] = '\0';
    if (lat_option_type(o) == LAT_OPT_INT)
        snprintf(buf, size, "%ld", *(const long *)o->value);
    else if (lat_option_type(o) == LAT_OPT_SEED)
        snprintf(buf, size, "%llu", (unsigned long long)*(const uint64_t *)o->value);
    else if (lat_option_type(o) == LAT_OPT_REAL && !isnan(*(const double *)o->value))
        shortest(buf, size, *(const double *)o->value);
    else if (lat_option_type(o) == LAT_OPT_TEXT && *(const char *const *)o->value)
        snprintf(buf, size, "%s", *(const char *const *)o->value);
    else if (lat_option_type(o) == LAT_OPT_CHOICE && *(const int *)o->value >= 0
             && (name = choice(o->arg, *(const int *)o->value, &n)))
        snprintf(buf, size, "%.*s", (int)n, name);
    else if (lat_option_type(o) == LAT_OPT_DIMS && ((const lat_geometry *)o->value)->nd > 0) {
        lat_dims_text(o->value, buf);
        for (char *p = buf; (p = strchr(p, ' '));)
            *p = ',';
    }
}

void lat_option_quote(FILE *f, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%^-";
    bool control = false;
    if (*text && !text[strspn(text, plain)]) {
        fputs(text, f);
        return;
    }
    for (const char *p = text; *p; p++)
        control |= iscntrl((unsigned char)*p) != 0;
    fputs(control ? "$'" : "'", f);
    for (const char *p = text; *p; p++) {
        if (iscntrl((unsigned char)*p))
            fprintf(f, "\\%03o", (unsigned char)*p); /* three digits: a digit may follow */
        else if (control && (*p == '\'' || *p == '\\'))
            fprintf(f, "\\%c", *p);
        else if (*p == '\'')
            fputs("'\\''", f);
        else
            fputc(*p, f);
    }
    fputc('\'', f);
}

void lat_option_grid(const lat_tool *tool)
{
    lat_geometry g;
    if (!lat_opts.grid)
        return;
    if (lat_dims_parse(lat_opts.grid, &g))
        lat_usage("--grid: expected numbers of ranks such as 1,1,%d,4, found '%.60s'",
                  tool->common & LAT_HAS_BOXES ? 2 : 1, lat_opts.grid);
    const long ranks = (long)lat_volume(&g);
    for (int mu = 0; mu < g.nd; mu++)
        lat_comm_grid[mu] = g.dims[mu];
    if (lat_opts.ranks && lat_opts.ranks != ranks)
        lat_usage("--grid %s: expected as many ranks as -n says, %ld, found %ld", lat_opts.grid,
                  lat_opts.ranks, ranks);
    if (!(tool->common & LAT_HAS_BOXES) && ranks != g.dims[g.nd - 1])
        lat_usage("--grid %s: %s cuts the last axis of a lattice alone; -n %ld does so",
                  lat_opts.grid, tool->name, ranks);
    if (ranks > 65535)
        lat_usage("--grid %s: expected at most 65535 ranks, found %ld", lat_opts.grid, ranks);
    lat_opts.ranks = ranks;
}
