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
#include "lattice/fermion_numbers.h"

static void print_weights(FILE *to, const lat_header *head)
{
    bool any = false;
    for (int mu = 0; mu < head->geom.nd; mu++)
        any = any || head->weight[mu] != 1;
    for (int mu = 0; any && mu < head->geom.nd; mu++)
        fprintf(to, "%s%.17g%s", mu ? " " : "weights = ", head->weight[mu],
                mu + 1 < head->geom.nd ? "" : "\n");
}

static void print_real(FILE *to, const char *key, double value)
{
    if (!isnan(value))
        fprintf(to, "%s = %.17g\n", key, value);
}

/* Of a fixed length, for every value that a field can have: a tool that measures while it writes
 * the blocks replaces a number in the header afterwards (lat_stream_rewrite_head). */
static void print_mean(FILE *to, const char *key, double value)
{
    if (!isnan(value))
        fprintf(to, "%s = %.*e\n", key, signbit(value) ? 16 : 17, value);
}

static void print_columns(FILE *to, const char *key, const double *numbers, int columns)
{
    for (int i = 0; numbers && i < columns; i++)
        fprintf(to, "%s%s%.17g%s", i ? "" : key, i ? " " : " = ", numbers[i],
                i + 1 < columns ? "" : "\n");
}

static void print_numbers(FILE *to, lat_fermion f)
{
    const bool overlap = !strcmp(f.name, "overlap");
    fprintf(to, "operator = %s\n", f.name);
    for (int i = 0; i < LAT_FERMION_NUMBERS; i++) {
        if (lat_fermion_unusual(&f, i) || (i == LAT_FERMION_M0 && overlap))
            print_real(to, lat_fermion_names[i], *lat_fermion_number(&f, i));
        if (i == LAT_FERMION_MASS && !overlap)
            print_real(to, "kappa", lat_kappa_of_mass(f.mass));
    }
}

static void print_operator(FILE *to, const lat_fermion *f)
{
    char boundary[LAT_BOUNDARY_TEXT];
    if (lat_fermion_known(f))
        print_numbers(to, *f);
    if (lat_fermion_bounded(f))
        fprintf(to, "boundary = %s\n", lat_boundary_text(f->boundary, boundary));
}

static void print_quark(FILE *to, const lat_header *head)
{
    const lat_quark *q = &head->quark;
    fprintf(to, "basis = %s\n", q->basis);
    if (q->source)
        fprintf(to, "source = %s\n", q->source);
    print_operator(to, &q->fermion);
    print_columns(to, "residuals", q->residual, q->columns);
    print_columns(to, "eigenvalues", q->eigenvalue, q->columns);
    if (q->links[0])
        fprintf(to, "links_crc = %s\n", q->links);
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
    print_mean(to, "plaquette", head->plaquette);
    print_mean(to, "link_trace", head->link_trace);
    if (strcmp(head->gauge, "none") != 0) {
        fprintf(to, "gauge = %s\n", head->gauge);
        print_weights(to, head);
        print_real(to, "functional", head->functional);
        print_real(to, "theta", head->theta);
        fprintf(to, "sweeps = %ld\n", head->sweeps);
    }
    if (head->copies)
        fprintf(to, "copies = %ld\n", head->copies);
    if (lat_header_spinors(head))
        print_quark(to, head);
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
    int rc = 0;
    if (m.n + strlen(end) > LAT_MAX_HEADER)
        rc = lat_fail("%s: expected a header of at most %zu bytes, found %zu (a long history?)",
                      name, LAT_MAX_HEADER, m.n + strlen(end));
    rc = lat_rc(rc || lat_output_write(out, m.text, m.n)
                || lat_output_write(out, end, strlen(end)));
    free(m.text);
    return rc;
}
