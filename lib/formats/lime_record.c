/* SPDX-License-Identifier: BSD-3-Clause */
/* lime_record.c: our record in the LIME files of links. */
#include "lime_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/memory_stream.h"
#include "common/options.h"
#include "record.h"
#include "xml.h"

#define ROOT "<lat><version>"

typedef struct taker {
    const char *file;
    lat_header *head;
    lat_read_context *r;
} taker;

int lat_lime_next_is_ours(lat_input *in, bool *ours)
{
    char found[sizeof LAT_LIME_XML ROOT] = "";
    const ssize_t n = lat_input_peek(in, found, sizeof found - 1);
    *ours = n > 0 && lat_lime_is_ours(found);
    return lat_rc(n < 0);
}

/* A plaquette or link trace of 17 digits, that of these links in another order of summation; their
 * rounding is added in `end`. */
static int take_mean(const char *file, const char *tag, const char *text, double *stated)
{
    char *end;
    *stated = strtod(text, &end);
    return end == text || *end || !isfinite(*stated)
               ? lat_fail("%s: expected <%s> of record 'scidac-record-xml' as a number, found "
                          "'%.60s'",
                          file, tag, text)
               : 0;
}

static int take_info(taker *t, char *line)
{
    char *equals = strstr(line, " = ");
    if (!equals)
        return lat_fail("%s: expected 'key = value' as <info> of record 'scidac-record-xml', found "
                        "'%.60s'",
                        t->file, line);
    *equals = 0;
    return strcmp(line, "source") == 0 ? 0 : lat_info_set(t->head, line, equals + 3);
}

/* One element of our record (record_xml). Means vouch that it is about these links: programs copy
 * the record of what they read. */
static int take_element(void *context, const char *tag, const char *text)
{
    taker *t = context;
    if (strcmp(tag, "plaquette") == 0)
        return take_mean(t->file, tag, text, &t->r->plaquette);
    if (strcmp(tag, "linkTrace") == 0)
        return take_mean(t->file, tag, text, &t->r->link_trace);
    if (strcmp(tag, "history") == 0)
        return lat_lines_add(&t->head->history, "%s", text);
    if (strcmp(tag, "info") != 0)
        return lat_record_take(t->file, t->head, tag, text);
    char *line = strdup(text);
    const int bad = line ? take_info(t, line) : lat_fail("out of memory: an info line");
    free(line);
    return bad;
}

int lat_lime_take_ours(const lat_lime_xml *x, lat_header *head, lat_read_context *r)
{
    taker t = {x->file, head, r};
    char why[LAT_XML_WHY];
    r->plaquette_within = r->link_trace_within = 0;
    if (lat_xml_each(x->text, strlen(x->text), take_element, &t, why) == 0)
        return 0;
    return *why ? lat_fail("%s: record '%s' is not proper XML: %s", x->file, x->type, why) : -1;
}

bool lat_lime_is_ours(const char *text)
{
    return strncmp(text, LAT_LIME_XML ROOT, strlen(LAT_LIME_XML ROOT)) == 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void escaped(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '>')
            fputs("&gt;", to);
        else if (*text == '&')
            fputs("&amp;", to);
        else
            putc(*text, to);
}

static void print_element(FILE *to, const char *tag, const char *text)
{
    fprintf(to, "<%s>", tag);
    escaped(to, text);
    fprintf(to, "</%s>", tag);
}

char *lat_lime_record_text(const lat_header *h)
{
    char mean[LAT_MEAN_TEXT];
    lat_memory_stream m;
    FILE *to = lat_memory_stream_open(&m);
    if (!to)
        return NULL;
    fprintf(to, LAT_LIME_XML ROOT "%s</version><plaquette>%s</plaquette>", LAT_VERSION,
            lat_mean_text(h->plaquette, mean));
    fprintf(to, "<linkTrace>%s</linkTrace>", lat_mean_text(h->link_trace, mean));
    lat_record_gauge(h, print_element, to);
    for (int i = 0; i < h->info.count; i++)
        print_element(to, "info", h->info.line[i]);
    for (int i = 0; i < h->history.count; i++)
        print_element(to, "history", h->history.line[i]);
    fputs("</lat>", to);
    return lat_memory_stream_close(to, &m) == 0 ? m.text : NULL;
}

int lat_lime_write_ours(lat_output *out, const lat_header *h)
{
    char *text = lat_lime_record_text(h);
    const int bad = text ? lat_lime_write_text(out, 0, "scidac-record-xml", "%s", text) : -1;
    free(text);
    return bad;
}
