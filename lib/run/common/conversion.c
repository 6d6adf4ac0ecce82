/* SPDX-License-Identifier: BSD-3-Clause */
/* conversion.c: a field from one format to another. */
#include "conversion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "lattice/boundary.h"
#include "lattice/slices.h"
#include "stream/stream.h"
#include "tool.h"

/* Largest deviation of a last row from the one that the others give, for --rows 2: files in single
 * precision have less than 2e-6. */
#define ROWS_WITHIN 1e-5

/* The conversion of a field. */
typedef struct job {
    const lat_conversion *how;
    lat_file_reader *s;
    const lat_format *target; /* of how */
    lat_header head; /* as it will be written; its lines are borrowed from s until `owned` */
    bool changed;    /* precision, rows or signs are not those of the input */
    bool drops;      /* the last rows are dropped */
    int signs[LAT_MAX_DIMS]; /* to be put into the links, for lat_flip_signs */
    double off;              /* largest deviation of a last row from the one that the others give */
    lat_slicewise *measurement; /* of changed numbers */
    lat_field rounded;          /* links in a gauge, as they will be read: for their theta */
    void *buffer[2];            /* for changed slices, used alternately */
    size_t capacity[2];         /* bytes */
    int current;
    lat_payload p; /* how a foreign target stores it */
    lat_output *out;
    lat_stream_writer *w;  /* our stream */
    bool owned;            /* the lines of head are its own */
    bool single_pass;      /* links are written in the first pass, after a provisional head */
    bool must_restart;     /* that has failed: they have to be written in a second pass */
    uint64_t begin, links; /* bytes of the output before the provisional head, and after it */
} job;

int lat_expect_dims(const lat_geometry *wanted, const char *name, const lat_header *h)
{
    char here[64], asked[64];
    const lat_geometry *geom = &h->geom;
    if (!wanted->nd
        || (geom->nd == wanted->nd && !memcmp(geom->dims, wanted->dims, sizeof wanted->dims)))
        return 0;
    return lat_fail("%s: states the extents %s, expected %s as --dims says", name,
                    lat_dims_text(geom, here), lat_dims_text(wanted, asked));
}

bool lat_stream_begins(const char *bytes, size_t n, lat_kind kind)
{
    static const char last[] = "\nend = ";
    const char *end = memmem(bytes, n, last, sizeof last - 1);
    char line[32];
    snprintf(line, sizeof line, "\nkind = %s\n", lat_kind_word(kind));
    return memmem(bytes, end ? (size_t)(end - bytes) : n, line, strlen(line)) != NULL;
}

/* Sets h->reals as --rows asks. */
static int choose_rows(int rows, const char *name, const lat_format *target, lat_header *h)
{
    if (rows == 0)
        return 0;
    if (lat_header_spinors(h))
        return lat_fail("%s: --rows is for matrices, and this is %s", name, lat_kind_text(h->kind));
    if (rows != h->nc && (rows != h->nc - 1 || h->nc > 3))
        return lat_fail("%s: expected --rows %d%s for SU(%d), found %d", name, h->nc,
                        h->nc == 3   ? " or 2"
                        : h->nc == 2 ? " or 1"
                                     : "",
                        h->nc, rows);
    if (rows < h->nc && h->nc > target->fewer_rows)
        return lat_fail("%s: expected --rows %d for %s files, which hold whole matrices%s, found "
                        "%d",
                        name, h->nc, target->name, target->fewer_rows ? " of that group" : "",
                        rows);
    h->reals = rows == h->nc ? 2 * h->nc * h->nc : 2 * h->nc * (h->nc - 1);
    return 0;
}

static int check_rows(const job *j)
{
    if (!j->drops || j->off <= ROWS_WITHIN)
        return 0;
    return lat_mismatch(lat_opts.force,
                        "%s: the last rows are up to %.2g off what the others make of them, "
                        "expected at most %g: --rows %d would lose that",
                        j->s->name, j->off, ROWS_WITHIN, j->how->rows);
}

/* As --precision says; without it that of the input, or double where the format has only that. */
static lat_real target_real(const lat_conversion *how, const lat_header *h)
{
    return how->real ? (lat_real)how->real : how->target->only == LAT_F64 ? LAT_F64 : h->real;
}

/* Can the format hold this field? */
static int admit(const char *name, const lat_format *format, const lat_header *h)
{
    if (!format->stream && h->kind != LAT_GAUGE)
        return lat_fail("%s: holds %s, and %s files hold gauge fields", name,
                        lat_kind_text(h->kind), format->name);
    if (!format->stream && h->geom.nd != 4)
        return lat_fail("%s: has %d dimensions, and %s files have 4", name, h->geom.nd,
                        format->name);
    if (format->nc && h->nc != format->nc)
        return lat_fail("%s: holds SU(%d), and %s files hold SU(%d)", name, h->nc, format->name,
                        format->nc);
    if (format->only == LAT_F32 && h->real != LAT_F32)
        return lat_fail(
            "%s: holds double precision, and %s files hold single: say --precision single to round",
            name, format->name);
    return format->admit ? format->admit(name, h) : 0;
}

/* Signs to be put into the links, once the header of the input is known. */
static int plan_signs(job *j)
{
    const lat_geometry *geom = &j->head.geom;
    bool any = false;
    for (int mu = 0; j->how->signs && mu < geom->nd; mu++)
        if (lat_boundary_is(&j->s->f.head, mu, LAT_ANTIPERIODIC))
            j->signs[mu] = geom->dims[mu], any = true;
    j->changed = j->changed || any;
    if (any && j->head.reals < 2 * j->head.nc * j->head.nc)
        return lat_fail("%s: links with signs have det U = -1, which without their last rows is "
                        "lost: --signs needs --rows %d",
                        j->s->name, j->head.nc);
    return 0;
}

/* After the first pass, which may have found boundaries of the links. */
static void say_unsigned(const job *j)
{
    bool any = !j->how->signs;
    for (int mu = 0; mu < j->head.geom.nd; mu++)
        any = any || j->signs[mu];
    if (!any)
        lat_warn("%s: --signs: expected a boundary that is ANTIPERIODIC in the header, found none: "
                 "the links are written as they are",
                 j->s->name);
}

/* What will be written, as far as the header of the input says. */
static int plan(job *j)
{
    static const lat_hints none = {.big = -1};
    lat_header *h = &j->head;
    *h = j->s->f.head;
    h->real = target_real(j->how, h);
    if (lat_expect_dims(&j->how->dims, j->s->name, h) < 0
        || choose_rows(j->how->rows, j->s->name, j->target, h) < 0
        || admit(j->s->name, j->target, h) < 0)
        return -1;
    j->drops = h->reals < j->s->f.head.reals;
    j->changed = h->reals != j->s->f.head.reals || h->real != j->s->f.head.real;
    if (!j->target->stream)
        j->p = lat_format_layout(j->target, h,
                                 j->s->format->takes == LAT_TAKES_ALL ? &none : &j->how->hints);
    return 0;
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* The other buffer, of at least so many bytes: the slices of the last call stay in memory. NULL
 * without memory. */
static void *next_buffer(job *j, size_t bytes)
{
    const int i = j->current = !j->current;
    if (bytes > j->capacity[i]) {
        free(j->buffer[i]);
        j->buffer[i] = lat_alloc(1, bytes, "slices");
        j->capacity[i] = j->buffer[i] ? bytes : 0;
    }
    return j->buffer[i];
}

/* Slices in the precision, with the signs and the rows that are written; NULL without memory. */
static const void *reshaped(job *j, const lat_header *head, const void *slices, int first,
                            int count)
{
    const size_t matrices = (size_t)count * lat_slice_matrices(head),
                 n = matrices * lat_header_full_reals(head);
    if (!j->changed)
        return slices;
    void *numbers = next_buffer(j, n * (size_t)j->head.real);
    if (!numbers)
        return NULL;
    lat_reals_convert(numbers, j->head.real, slices, head->real, n);
    lat_flip_signs(&j->head, j->signs, numbers, first, count);
    /* Measured are the links that a reader of the file will have. */
    if ((size_t)j->head.reals < lat_header_full_reals(head)
        || (size_t)head->reals < lat_header_full_reals(head))
        lat_rows_complete(&j->head, numbers, matrices);
    return numbers;
}

static int put(job *j, const void *slices, int first, int count)
{
    return j->w ? lat_stream_put(j->w, slices, count)
                : lat_payload_write(j->out, &j->head, &j->p, slices, first, count);
}

/* Functional and theta are not measured slice by slice: rounded links that have some are kept, in
 * j->rounded. */
static int keep_rounded(job *j)
{
    const lat_header *head = &j->s->f.head;
    const bool rounds = j->head.real < head->real || j->head.reals < head->reals
                        || (size_t)head->reals < lat_header_full_reals(head);
    lat_field_free(&j->rounded);
    if (!j->changed || !rounds || head->kind != LAT_GAUGE || !strcmp(head->gauge, "none"))
        return 0;
    if (lat_header_copy(&j->rounded.head, head))
        return -1;
    j->rounded.head.real = j->head.real;
    j->rounded.head.reals = j->head.reals;
    return lat_field_alloc(&j->rounded, NULL);
}

/* The first pass over the links: measures what is needed, and writes them if single_pass. Numbers
 * that our stream refuses are no gauge field; validate.c has the better message: writing waits. */
static int first_pass(void *context, const lat_header *head, const void *slices, int first,
                      int count)
{
    job *j = context;
    lat_part_done(first);
    if (j->drops)
        j->off = fmax(j->off,
                      lat_rows_error(head, slices, (size_t)count * lat_slice_matrices(head)));
    if ((j->measurement || j->target->sums || j->single_pass)
        && !(slices = reshaped(j, head, slices, first, count)))
        return -1;
    if (j->measurement && lat_slicewise_add(j->measurement, slices, count) < 0)
        return -1;
    if (j->rounded.data) {
        const size_t slice = lat_slice_matrices(head) * lat_header_full_reals(head)
                             * (size_t)j->head.real;
        void *kept = (char *)j->rounded.data + (size_t)first * slice;
        memcpy(kept, slices, (size_t)count * slice);
        lat_flip_signs(&j->head, j->signs, kept, first, count); /* takes signs off again */
    }
    if (!j->single_pass)
        return j->target->sums ? lat_payload_write(NULL, &j->head, &j->p, slices, first, count) : 0;
    if (j->must_restart || put(j, slices, first, count) == 0)
        return 0;
    if (!j->w || lat_output_flush(j->out) < 0)
        return -1;
    lat_error_clear();
    j->must_restart = true;
    return 0;
}

static int write_slices(void *context, const lat_header *head, const void *slices, int first,
                        int count)
{
    slices = reshaped(context, head, slices, first, count);
    if (!slices || put(context, slices, first, count))
        return -1;
    lat_part_done(first + count);
    return 0;
}

/* ---- one field ------------------------------------------------------------------------------- */

/* Fails where another field follows and the target holds only one. */
static int expect_last(const job *j)
{
    lat_input *in = j->s->in;
    char next[LAT_PROBE];
    if (j->target->stream || !j->s->format->stream || j->how->split)
        return 0;
    const ssize_t n = lat_input_peek(in, next, sizeof next);
    const ssize_t mark = n >= 16 && memcmp(next, "LATZ", 4) == 0 ? 16 : 0;
    if (n < 0)
        return -1;
    if (!lat_stream_is(next + mark, (size_t)(n - mark)))
        return 0;
    if (lat_stream_begins(next + mark, (size_t)(n - mark), LAT_TRANSFORM))
        return lat_fail("%s: holds a configuration with gauge transformations behind it, and a "
                        "file in format %s holds one configuration: lat-convert --split, as "
                        "streams, makes a file of each",
                        lat_input_name(in), j->target->name);
    return lat_fail("%s: holds more than one configuration, and a file in format %s holds "
                    "one: convert them one by one",
                    lat_input_name(in), j->target->name);
}

/* The header to be written, with all that is known. */
static int make_header(job *j)
{
    const lat_header plan = j->head, *source = &j->s->f.head;
    const char *what = j->s->format->stream ? "stream" : lat_info_get(source, "source");
    lat_slice_sums sums;
    if (j->owned)
        lat_header_free(&j->head);
    j->owned = true;
    if (lat_header_copy(&j->head, source) < 0) {
        j->head = (lat_header){0};
        return -1;
    }
    j->head.real = plan.real;
    j->head.reals = plan.reals;
    if (plan.real < source->real) { /* residuals are those of numbers that are rounded now */
        lat_info_remove(&j->head, LAT_INFO_RESIDUAL_SLICES);
        if (lat_quark_set_residuals(&j->head.quark, NULL) < 0)
            return -1;
    }
    if (j->measurement && !j->single_pass) {
        if (lat_slicewise_end(j->measurement, &sums) < 0)
            return -1;
        lat_measure_means(&j->head, &sums, &j->head.plaquette, &j->head.link_trace);
    }
    if (plan.real < source->real && j->head.kind == LAT_TRANSFORM)
        j->head.functional = j->head.theta = NAN; /* of what g leads to before it is rounded */
    if (j->rounded.data && !j->single_pass) {
        if (lat_measure_restate(&j->rounded) < 0)
            return -1;
        j->head.functional = j->rounded.head.functional;
        j->head.theta = j->rounded.head.theta;
        const char *residual = lat_info_get(&j->rounded.head, LAT_INFO_RESIDUAL);
        if (residual && lat_info_set(&j->head, LAT_INFO_RESIDUAL, residual))
            return -1;
    }
    if (j->single_pass && j->s->format->stream)
        strcpy(j->head.read_crc, "00000000");
    if (j->s->format->stream && j->target->stream)
        return lat_provenance(&j->head, "copied");
    return lat_provenance(&j->head, "from %s to %s", what ? what : j->s->format->name,
                          j->target->name);
}

/* Writes the provisional head, in which numbers not known yet are 0. */
static int begin_single_pass(job *j)
{
    lat_header *h = &j->head;
    lat_stream_abort(j->w);
    j->w = NULL;
    j->must_restart = false;
    if (lat_output_seek(j->out, j->begin, true) < 0 || make_header(j) < 0)
        return -1;
    if (h->kind == LAT_GAUGE && h->geom.nd > 1 && isnan(h->plaquette))
        h->plaquette = 0;
    if (h->kind == LAT_GAUGE && isnan(h->link_trace))
        h->link_trace = 0;
    if (j->target->stream)
        return (j->w = lat_stream_open(j->out, h, lat_opts.store)) ? 0 : -1;
    if (j->target->head && j->target->head(j->out, h, &j->p) < 0)
        return -1;
    j->links = lat_output_offset(j->out);
    return 0;
}

/* Before each reading of the first pass. */
static int restart(void *context)
{
    job *j = context;
    j->off = 0;
    lat_slicewise_free(j->measurement);
    j->measurement = NULL;
    /* The first reading may have found other extents. */
    if (!j->owned && plan(j) < 0)
        return -1;
    memset(&j->p.sum, 0, sizeof j->p.sum);
    if (plan_signs(j) < 0)
        return -1;
    if (j->changed && j->head.kind == LAT_GAUGE
        && (!(j->measurement = lat_slicewise_new(&j->head, false)) || keep_rounded(j) < 0))
        return -1;
    return j->single_pass ? begin_single_pass(j) : 0;
}

/* Replaces the provisional head by the final one: 1 if that has another length. */
static int replace_head(job *j)
{
    const uint64_t end = lat_output_offset(j->out);
    if (j->w)
        return lat_stream_rewrite_head(j->w);
    if (!j->target->head)
        return 0;
    if (lat_output_seek(j->out, j->begin, false) < 0
        || j->target->head(j->out, &j->head, &j->p) < 0)
        return -1;
    return lat_output_offset(j->out) != j->links ? 1 : lat_output_seek(j->out, end, false);
}

/* Writes what comes after the links. */
static int finish(job *j)
{
    lat_stream_writer *w = j->w;
    j->w = NULL;
    return w ? lat_stream_close(w) : j->target->tail ? j->target->tail(j->out, &j->head, &j->p) : 0;
}

static int second_pass(job *j, bool at_once)
{
    const lat_format *t = j->target;
    if (t->sums)
        j->p.digest = NULL;
    else
        memset(&j->p.sum, 0, sizeof j->p.sum);
    if (t->stream && !(j->w = lat_stream_open(j->out, &j->head, lat_opts.store)))
        return -1;
    return lat_rc((t->head && t->head(j->out, &j->head, &j->p) < 0)
                  || lat_file_reader_each(j->s, at_once, write_slices, j) < 0 || finish(j));
}

/* After a single pass: 0 if the output is complete. 1 if it has to be written again; then it is as
 * it was before. */
static int complete(job *j)
{
    const int rc = j->must_restart ? 1 : replace_head(j);
    if (rc <= 0)
        return rc < 0 ? -1 : finish(j);
    lat_stream_abort(j->w);
    j->w = NULL;
    return lat_output_seek(j->out, j->begin, true) < 0 ? -1 : 1;
}

static int convert(job *j)
{
    const bool at_once = !j->target->stream && !lat_payload_sliced(&j->p, &j->head);
    int rc = 1;
    j->s->whole = j->s->whole || at_once;
    j->begin = lat_output_offset(j->out);
    j->single_pass = lat_output_is_hidden(j->out) && !j->s->r.ambiguous;
    lat_part_begin("pass", j->single_pass ? 1 : 2);
    lat_part_begin("slice", lat_slices(&j->s->f.head));
    if (lat_file_reader_first(j->s, at_once, restart, first_pass, j) < 0 || check_rows(j) < 0
        || expect_last(j) < 0)
        return -1;
    lat_part_end();
    lat_part_at(1);
    say_unsigned(j);
    const bool written = j->single_pass;
    j->single_pass = false;
    if (make_header(j) < 0 || (written && (rc = complete(j)) < 0))
        return -1;
    lat_part_begin("slice", lat_slices(&j->head));
    rc = rc == 1 ? second_pass(j, at_once) : 0;
    lat_part_end();
    lat_part_end();
    return rc;
}

int lat_convert_field(const lat_conversion *how, lat_file_reader *s, lat_output *out)
{
    job j = {.how = how, .s = s, .target = how->target, .out = out};
    const int bad = plan(&j) < 0 || convert(&j) < 0 || lat_output_flush(out) < 0;
    lat_stream_abort(j.w);
    if (j.owned)
        lat_header_free(&j.head);
    lat_slicewise_free(j.measurement);
    lat_field_free(&j.rounded);
    LAT_FREE(j.buffer[0], j.buffer[1]);
    return bad ? -1 : 0;
}
