/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-diff: differences of two streams, in their links and in gauge invariant observables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "measure/measure.h"
#include "common/options.h"
#include "formats/fields.h"
#include "run/common/print.h"
#include "site/sun.h"

enum { CHUNK = 256 }; /* matrices a partial sum: results do not depend on threads */

static bool invariant;
static double tolerance = NAN;

static const lat_option options[] = {
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "tolerance", 0, "T", &tolerance, 0, 1e300,
     "exit 3 if a difference is above T"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "invariant", 0, NULL, &invariant, 0, 0,
     "apply --tolerance only to plaquette and Polyakov loops, not to links and link trace; without "
     "--tolerance, print only these as text"},
    LAT_PRINT_OPTIONS("field", "field"),
    {0}};

static const lat_tool tool = {
    .name = "lat-diff",
    .args = "A B",
    .summary =
        "Compares two streams, field by field: links, plaquette, link trace, Polyakov loops; the "
        "numbers of gauge transformations, spinors and propagators.",
    .example = "lat-diff --invariant --tolerance 1e-12 before.lat after.lat\n"
               "lat-diff one.lat other.lat\n"
               "lat-diff --tsv --tolerance 0 sent.lat received.lat",
    .options = options,
    .min_files = 2,
    .max_files = 2,
    .common = LAT_HAS_THREADS,
};

/* Differences B - A; NaN where a kind of field has no such quantity. */
typedef struct difference {
    const lat_header *head;
    double largest, rms; /* of the moduli of the differences of matrix elements */
    double plaquette, link_trace, polyakov[LAT_MAX_DIMS][2];
    size_t worst; /* the matrix with the largest difference */
} difference;

static int comparable(const lat_field *a, const lat_field *b, const char *const name[2])
{
    const lat_header *p = &a->head, *q = &b->head;
    char d[64], e[64];
    if (p->kind != q->kind)
        return lat_fail("%s is %s and %s %s", name[0], lat_kind_text(p->kind), name[1],
                        lat_kind_text(q->kind));
    if (p->nc != q->nc)
        return lat_fail("%s is of SU(%d) and %s of SU(%d)", name[0], p->nc, name[1], q->nc);
    if (p->geom.nd != q->geom.nd
        || memcmp(p->geom.dims, q->geom.dims, sizeof(int) * (size_t)p->geom.nd))
        return lat_fail("%s has extents %s and %s %s", name[0], lat_dims_text(&p->geom, d), name[1],
                        lat_dims_text(&q->geom, e));
    if (lat_header_objects(p) != lat_header_objects(q))
        return lat_fail("%s has %zu columns and %s %zu", name[0], lat_header_objects(p), name[1],
                        lat_header_objects(q));
    return 0;
}

typedef struct partial {
    double sum, max;
    size_t worst;
} partial;

static partial compare_chunk(const lat_field *a, const lat_field *b, size_t from, size_t to)
{
    const size_t elements = lat_header_full_reals(&a->head) / 2;
    double p[LAT_SUN_REALS], q[LAT_SUN_REALS]; /* more than the 8 N of a spinor */
    partial part = {.worst = from};
    for (size_t i = from; i < to; i++) {
        lat_field_get(a, i, p);
        lat_field_get(b, i, q);
        for (size_t k = 0; k < elements; k++) {
            const double d = hypot(p[2 * k] - q[2 * k], p[2 * k + 1] - q[2 * k + 1]);
            part.sum += d * d;
            if (!(d <= part.max) && !isnan(part.max)) {
                part.max = d;
                part.worst = i;
            }
        }
    }
    return part;
}

static int compare_links(const lat_field *a, const lat_field *b, difference *d)
{
    const size_t matrices = lat_field_matrices(a), chunks = (matrices + CHUNK - 1) / CHUNK;
    partial *part = lat_alloc(chunks, sizeof *part, "a comparison");
    if (!part)
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < chunks; c++) {
        const size_t to = (c + 1) * CHUNK;
        part[c] = compare_chunk(a, b, c * CHUNK, to < matrices ? to : matrices);
    }
    double sum = 0;
    d->largest = 0;
    d->worst = 0;
    for (size_t c = 0; c < chunks; c++) {
        sum += part[c].sum;
        if (!(part[c].max <= d->largest) && !isnan(d->largest)) {
            d->largest = part[c].max;
            d->worst = part[c].worst;
        }
    }
    d->rms = sqrt(sum / ((double)matrices * (double)lat_header_full_reals(&a->head) / 2));
    free(part);
    return 0;
}

static int compare(const lat_field *a, const lat_field *b, difference *d)
{
    double p[2], l[2], x[2], y[2];
    d->plaquette = d->link_trace = NAN;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        d->polyakov[mu][0] = d->polyakov[mu][1] = NAN;
    if (compare_links(a, b, d))
        return -1;
    if (a->head.kind != LAT_GAUGE)
        return 0;
    if (lat_measure_plaquette(a, &p[0], &l[0]) || lat_measure_plaquette(b, &p[1], &l[1]))
        return -1;
    d->plaquette = p[1] - p[0];
    d->link_trace = l[1] - l[0];
    for (int mu = 0; mu < a->head.geom.nd; mu++) {
        if (lat_measure_polyakov(a, mu, x) || lat_measure_polyakov(b, mu, y))
            return -1;
        d->polyakov[mu][0] = y[0] - x[0];
        d->polyakov[mu][1] = y[1] - x[1];
    }
    return 0;
}

/* Is |x| above the tolerance? NaN is. */
static bool above(double x) { return !(fabs(x) <= tolerance); }

static bool above_tolerance(const lat_field *f, const difference *d)
{
    const bool links = f->head.kind == LAT_GAUGE;
    bool any = !invariant && above(d->largest);
    if (links && !invariant)
        any = any || above(d->link_trace);
    if (links && f->head.geom.nd > 1) /* one dimension has no plaquette */
        any = any || above(d->plaquette);
    for (int mu = 0; links && mu < f->head.geom.nd; mu++)
        any = any || above(d->polyakov[mu][0]) || above(d->polyakov[mu][1]);
    return any;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void links_text(FILE *to, const difference *d)
{
    char position[LAT_POSITION_TEXT];
    fprintf(to, "largest     %.6g", d->largest);
    if (d->largest > 0)
        fprintf(to, " at %s", lat_position_text(d->head, d->worst, position));
    fprintf(to, "\nrms         %.6g\n", d->rms);
}

static void text(lat_printer *r, const void *of)
{
    const difference *d = of;
    FILE *to = r->to;
    const bool all = !invariant || lat_opt_given("tolerance");
    if (r->several)
        fprintf(to, "%sfield       %ld\n", r->index ? "\n" : "", r->index);
    if (all)
        links_text(to, d);
    if (d->head->kind != LAT_GAUGE)
        return;
    fprintf(to, "plaquette   %.6g\n", d->plaquette);
    if (all)
        fprintf(to, "link trace  %.6g\n", d->link_trace);
    for (int mu = 0; mu < d->head->geom.nd; mu++) {
        const double *loop = d->polyakov[mu];
        fprintf(to, "Polyakov %c  %.6g %+.6gi\n", "xyzt"[mu], loop[0], loop[1]);
    }
}

static void values(lat_printer *r, const void *of)
{
    const difference *d = of;
    lat_print_real(r, "largest", d->largest);
    lat_print_real(r, "rms", d->rms);
    lat_print_real(r, "plaquette", d->plaquette);
    lat_print_real(r, "link_trace", d->link_trace);
    lat_print_loops(r, d->head->kind == LAT_GAUGE ? d->head->geom.nd : 0, d->polyakov);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* One pair of fields: an exit code. */
static int pair(const lat_field *a, const lat_field *b, lat_input *in, const char *const name[2],
                FILE *to, long index)
{
    const lat_print_kind kind = {
        .key = "field", .text = text, .values = values, .numbered = lat_print_opts.json};
    difference d = {.head = &a->head};
    if (comparable(a, b, name))
        return LAT_FAILED;
    if (invariant && a->head.kind != LAT_GAUGE) {
        lat_fail("%s: --invariant: expected links, which have plaquette and Polyakov loops, found "
                 "%s",
                 name[0], lat_kind_text(a->head.kind));
        return LAT_FAILED;
    }
    if (compare(a, b, &d))
        return LAT_FAILED;
    if (lat_print_object(to, in, &kind, &d, index, 1) != LAT_DONE)
        return LAT_FAILED;
    return lat_opt_given("tolerance") && above_tolerance(a, &d) ? LAT_UNCONVERGED : LAT_DONE;
}

/* Field by field of both inputs: an exit code. */
static int both(lat_input *const in[2], FILE *text)
{
    const char *const name[2] = {lat_input_name(in[0]), lat_input_name(in[1])};
    int code = LAT_DONE;
    for (long index = 0;; index++) {
        lat_field a, b;
        const int left = lat_fields_read(in[0], &a);
        if (left < 0)
            return LAT_FAILED;
        const int right = lat_fields_read(in[1], &b);
        int this = LAT_FAILED;
        if (right >= 0 && left != right)
            lat_fail("%s has %ld fields and %s more", name[left], index, name[right]);
        else if (left && right > 0)
            this = pair(&a, &b, in[0], name, text, index);
        if (left)
            lat_field_free(&a);
        if (right > 0)
            lat_field_free(&b);
        if (!left && !right)
            return code;
        if (this == LAT_FAILED)
            return LAT_FAILED;
        code = this == LAT_DONE ? code : this;
    }
}

static int all(lat_input *first, FILE *text)
{
    lat_input *const in[2] = {first, lat_input_open(lat_opts.files[1], lat_opts.comm)};
    const int code = in[1] ? both(in, text) : LAT_FAILED;
    lat_input_close(in[1]);
    return code;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    if (!strcmp(lat_opts.files[0], "-") && !strcmp(lat_opts.files[1], "-"))
        lat_usage("only one of the two can be stdin");
    lat_opts.input = lat_opts.files[0];
    lat_print_opts.pair = true;
    return lat_print_run(all, NULL);
}
