/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_print.c: a header as text, docs/format.md, "Header". */
#include "stream_header_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/memory_stream.h"
#include "deflate.h"

static void print_weights(FILE *to, const lat_header *head)
{
    bool any = false;
    for (int mu = 0; mu < head->geom.nd; mu++)
        any = any || head->weight[mu] != 1;
    for (int mu = 0; any && mu < head->geom.nd; mu++)
        fprintf(to, "%s%.17g%s", mu ? " " : "weights = ", head->weight[mu],
                mu + 1 < head->geom.nd ? "" : "\n");
}

void lat_stream_print_real(FILE *to, lat_stream_key key, double value)
{
    if (!isnan(value))
        fprintf(to, "%s = %.17g\n", lat_stream_key_name[key], value);
}

/* Of a fixed length, for every value that a field can have: a tool that measures while it writes
 * the blocks replaces a number in the header afterwards (lat_stream_rewrite_head). */
static void print_mean(FILE *to, lat_stream_key key, double value)
{
    if (!isnan(value))
        fprintf(to, "%s = %.*e\n", lat_stream_key_name[key], signbit(value) ? 16 : 17, value);
}

/* All lines but the last one. */
static void print_header(FILE *to, const lat_header *head, size_t block, bool compressed)
{
    char dims[64], order[LAT_ORDER_TEXT];
    const int nd = head->geom.nd;
    fputs(LAT_STREAM_MAGIC, to);
    fprintf(to, "kind = %s\n", lat_kind_word(head->kind));
    fprintf(to, "group = SU(%d)\n", head->nc);
    fprintf(to, "dims = %s\n", lat_dims_text(&head->geom, dims));
    fprintf(to, "real = %s\n", head->real == LAT_F32 ? "f32" : "f64");
    fprintf(to, "reals = %d\n", head->reals);
    if (lat_header_order_objects(head) == LAT_ORDER_COLUMNS)
        fprintf(to, "columns = %d\n", head->quark.columns);
    fprintf(to, "sites = %s\n", lat_order_sites_text(&head->order, nd, order));
    if (head->kind == LAT_GAUGE)
        fprintf(to, "links = %s\n", lat_order_links_text(&head->order, nd, order));
    fprintf(to, "endian = little\n");
    fprintf(to, "block = %zu\n", block);
    fprintf(to, "compression = %s\n", compressed ? "zlib" : "none");
    fprintf(to, "filter = %s\n", compressed ? "rotate-shuffle" : "none");
    print_mean(to, LAT_KEY_PLAQUETTE, head->plaquette);
    print_mean(to, LAT_KEY_LINK_TRACE, head->link_trace);
    if (strcmp(head->gauge, "none") != 0) {
        fprintf(to, "gauge = %s\n", head->gauge);
        print_weights(to, head);
        lat_stream_print_real(to, LAT_KEY_FUNCTIONAL, head->functional);
        lat_stream_print_real(to, LAT_KEY_THETA, head->theta);
        fprintf(to, "sweeps = %ld\n", head->sweeps);
    }
    if (head->copies)
        fprintf(to, "copies = %ld\n", head->copies);
    if (lat_header_spinors(head))
        lat_stream_print_quark(to, head);
    for (int i = 0; i < head->info.count; i++)
        fprintf(to, "info.%s\n", head->info.line[i]);
    for (int i = 0; i < head->history.count; i++)
        fprintf(to, "history = %s\n", head->history.line[i]);
}

int lat_stream_write_head(lat_output *out, const lat_header *head, size_t block, bool compressed)
{
    const char *name = lat_output_name(out);
    char end[32];
    lat_memory_stream m;
    FILE *to = lat_memory_stream_open(&m);
    if (to)
        print_header(to, head, block, compressed);
    if (!to || lat_memory_stream_close(to, &m) < 0)
        return lat_fail("out of memory: the header of %s", name);
    snprintf(end, sizeof end, "end = %08x\n", lat_crc(0, m.text, m.n));
    int rc = m.n + strlen(end) > LAT_MAX_HEADER ? lat_fail(
                 "%s: expected a header of at most %zu bytes, found %zu (a long history?)", name,
                 LAT_MAX_HEADER, m.n + strlen(end))
                                                : 0;
    if (rc == 0
        && (lat_output_write(out, m.text, m.n) < 0 || lat_output_write(out, end, strlen(end)) < 0))
        rc = -1;
    free(m.text);
    return rc;
}
