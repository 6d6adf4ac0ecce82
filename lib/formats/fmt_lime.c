/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_lime.c: ILDG and SciDAC (QIO) gauge fields in a LIME container.
 *
 * Records are as lime.h says; their flags are not looked at, as every combination occurs. The links
 * are in ildg-binary-data or scidac-binary-data: big endian, sites with x fastest, directions x, y,
 * z, t, row-major. Extents and precision are in ildg-format or in the SciDAC private XML, or only
 * --dims knows them. scidac-checksum belongs to the binary record before it, and is verified when
 * all is read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "format.h"
#include "lime.h"
#include "lime_record.h"

#define XML LAT_LIME_XML
#define TEXT_LIMIT ((uint64_t)64 << 10) /* of the records that are parsed */
#define OUR_LIMIT ((uint64_t)8 << 20)   /* of ours: a header of 1 MiB, each < written as &lt; */

/* ---- reading: the container ------------------------------------------------------------------ */

/* What has been read of a file so far. */
typedef struct lime {
    lat_input *in;
    const char *name;
    lat_header *head;
    lat_read_context *r;

    lat_geometry geom;      /* nd = 0 until a record says */
    int ildg_nc, ildg_bits; /* of ildg-format, 0 until there is one */
    int colours, bits;      /* of the private record XML before a binary record; 0 where not said */
    uint64_t site_bytes;    /* typesize * datacount of it */

    int gauge, others;     /* binary records */
    bool last_gauge;       /* the last one was the gauge field */
    bool ildg;             /* that was in ildg-binary-data */
    bool stated;           /* a checksum is stated for it */
    bool ours;             /* lat-convert wrote it, which always states one, after the links */
    lat_lime_record links; /* its record */
    uint64_t last;         /* byte after the last record; 0 until that is known */
    lat_scidac_sum stated_sum;
} lime;

/* ---- reading: XML ---------------------------------------------------------------------------- */

/* Extents that a record states: the first time they are kept, then they have to agree. */
static int take_dims(lime *l, const char *record_type, const lat_geometry *geom)
{
    char here[64], before[64];
    if (lat_geometry_check(geom, l->name) < 0)
        return -1;
    if (l->geom.nd == 0) {
        l->geom = *geom;
        return 0;
    }
    if (memcmp(l->geom.dims, geom->dims, sizeof geom->dims) == 0)
        return 0;
    return lat_fail("%s: record '%s' states the extents %s, expected %s as %s", l->name,
                    record_type, lat_dims_text(geom, here), lat_dims_text(&l->geom, before),
                    l->r->dims.nd ? "--dims says" : "stated before");
}

static int take_ildg_format(lime *l, const lat_lime_xml *x)
{
    static const char *const tag[4] = {"lx", "ly", "lz", "lt"};
    lat_geometry geom = {.nd = 4};
    char field[64] = "";
    long bits = 0;
    int nc = 0, end = 0;
    for (int i = 0; i < 4; i++) {
        long extent = 0;
        if (lat_lime_number(x, tag[i], 65535, &extent) < 0)
            return -1;
        geom.dims[i] = (int)extent;
    }
    if (lat_lime_element(x, "field", field, sizeof field) < 0
        || lat_lime_number(x, "precision", 1024, &bits) < 0)
        return -1;
    if (sscanf(field, "su%2dgauge%n", &nc, &end) != 1 || !end || field[end] || nc < 2
        || nc > LAT_MAX_COLOURS)
        return lat_fail("%s: expected field su3gauge in record '%s', found '%s'", l->name, x->type,
                        field);
    if (bits != 32 && bits != 64)
        return lat_fail("%s: expected precision 32 or 64 in record '%s', found %ld", l->name,
                        x->type, bits);
    l->ildg_nc = nc;
    l->ildg_bits = (int)bits;
    return take_dims(l, x->type, &geom);
}

static int take_private_file(lime *l, const lat_lime_xml *x)
{
    long spacetime = 4;
    lat_geometry geom;
    if (lat_lime_number(x, "spacetime", 16, &spacetime) < 0)
        return -1;
    const int found = lat_lime_dims(x, &l->r->dims, &geom);
    if (found < 0)
        return -1;
    if (spacetime != 4)
        return lat_fail("%s: expected 4 dimensions, found %ld in record '%s'", l->name, spacetime,
                        x->type);
    return found ? take_dims(l, x->type, &geom) : 0;
}

static int take_private_record(lime *l, const lat_lime_xml *x)
{
    char precision[16] = "";
    long colours = 0, typesize = 0, datacount = 0;
    if (lat_lime_element(x, "precision", precision, sizeof precision) < 0
        || lat_lime_number(x, "colors", 1000, &colours) < 0
        || lat_lime_number(x, "typesize", 1 << 30, &typesize) < 0
        || lat_lime_number(x, "datacount", 1 << 30, &datacount) < 0)
        return -1;
    l->bits = strcmp(precision, "F") == 0 ? 32 : strcmp(precision, "D") == 0 ? 64 : 0;
    l->colours = (int)colours;
    l->site_bytes = (uint64_t)typesize * (uint64_t)datacount;
    return 0;
}

/* ---- reading: sums and plaquette ------------------------------------------------------------- */

/* Sums of the binary record before; where there was none yet, of the one to come. */
static int take_checksum(lime *l, const lat_lime_xml *x)
{
    lat_scidac_sum s;
    if (lat_lime_checksum(x, &s))
        return -1;
    if (l->stated || !(l->last_gauge || l->gauge + l->others == 0))
        return 0;
    l->stated = true;
    l->stated_sum = s;
    return 0;
}

static int verify_checksum(const lime *l, const lat_scidac_sum *found)
{
    if (!l->stated && l->ours)
        return lat_mismatch(l->r->force,
                            "%s: truncated: lat-convert wrote it, with SciDAC checksums after the "
                            "links, and none are there",
                            l->name);
    l->r->no_checksum = !l->stated;
    l->r->sums_agree = l->stated && l->stated_sum.a == found->a && l->stated_sum.b == found->b;
    return l->stated ? lat_lime_verify(l->name, &l->stated_sum, found, l->r->force) : 0;
}

/* tmLQCD's text: "plaquette = 0.571077" among others. */
static int take_xlf_info(lime *l, const lat_lime_xml *x)
{
    const char *at = strstr(x->text, "plaquette");
    char number[64] = "", *end;
    if (!at || sscanf(at, "plaquette = %63[-+.0-9eE]", number) != 1)
        return 0;
    double p = strtod(number, &end);
    if (*end || !isfinite(p))
        return lat_fail("%s: expected a plaquette in record 'xlf-info', found '%s'", l->name,
                        number);
    if (p == 0) /* never measured */
        return 0;
    l->r->plaquette = p;
    l->r->plaquette_within = 1.01 * lat_printed_error(number);
    return 0;
}

static int take_ours(lime *l, const lat_lime_xml *x)
{
    return lat_lime_take_ours(x, l->head, l->r);
}

static int take_lfn(lime *l, const lat_lime_xml *x)
{
    return *x->text ? lat_info_set(l->head, "lfn", x->text) : 0;
}

/* Records of text that are read. */
static const struct text {
    const char *type;
    int (*take)(lime *l, const lat_lime_xml *x);
    uint64_t limit;
} texts[] = {{"ildg-format", take_ildg_format, TEXT_LIMIT},
             {"scidac-private-file-xml", take_private_file, TEXT_LIMIT},
             {"scidac-private-record-xml", take_private_record, TEXT_LIMIT},
             {"scidac-checksum", take_checksum, TEXT_LIMIT},
             {"xlf-info", take_xlf_info, TEXT_LIMIT},
             {"ildg-data-lfn", take_lfn, TEXT_LIMIT},
             {"scidac-record-xml", take_ours, OUR_LIMIT}};

static int take_text(lime *l, const lat_lime_record *rec, const struct text *known)
{
    char *text = lat_lime_text(l->in, rec, known->limit);
    const int bad = text ? known->take(l, &(lat_lime_xml){l->name, rec->type, text}) : -1;
    free(text);
    return bad;
}

/* ---- reading: the links ---------------------------------------------------------------------- */

static int describe_mismatch(const lime *l, const lat_lime_record *rec, uint64_t volume)
{
    char dims[64];
    return lat_fail(
        "%s: record '%s' has %llu bytes, expected %llu for a su%dgauge of %d bits on %s", l->name,
        rec->type, (unsigned long long)rec->length,
        (unsigned long long)(volume * 4 * 2 * (uint64_t)l->ildg_nc * (uint64_t)l->ildg_nc
                             * (uint64_t)l->ildg_bits / 8),
        l->ildg_nc, l->ildg_bits, lat_dims_text(&l->geom, dims));
}

/* Is this record 4 N x N links a site? Sets nc and real: they follow from the length alone, since
 * 4 N^2 = 8 M^2 has no solution, and then have to agree with what the XML says. 1, 0 or -1. */
static int is_gauge(lime *l, const lat_lime_record *rec, int *nc, lat_real *real)
{
    const uint64_t volume = lat_volume(&l->geom);
    const bool ildg = l->ildg_nc && strcmp(rec->type, "ildg-binary-data") == 0;
    *nc = 0;
    for (uint64_t n = 2; n <= LAT_MAX_COLOURS; n++)
        for (uint64_t w = 4; w <= 8; w += 4)
            if (rec->length == volume * 4 * 2 * n * n * w) {
                *nc = (int)n;
                *real = w == 4 ? LAT_F32 : LAT_F64;
            }
    if (ildg && (*nc != l->ildg_nc || (int)*real * 8 != l->ildg_bits))
        return describe_mismatch(l, rec, volume);
    if (*nc == 0)
        return 0;
    if (l->site_bytes && l->site_bytes != rec->length / volume)
        return ildg ? lat_fail("%s: typesize times datacount is %llu in scidac-private-record-xml, "
                               "expected %llu as ildg-format says",
                               l->name, (unsigned long long)l->site_bytes,
                               (unsigned long long)(rec->length / volume))
                    : 0;
    return (!l->colours || l->colours == *nc) && (!l->bits || l->bits == (int)*real * 8);
}

/* The links come next. */
static void take_gauge(lime *l, const lat_lime_record *rec, int nc, lat_real real)
{
    lat_header *h = l->head;
    h->geom = l->geom;
    h->nc = nc;
    h->real = real;
    h->reals = 2 * nc * nc;
    l->ildg = rec->type[0] == 'i';
    l->links = *rec;
}

/* 1: the gauge field, whose links come next; 0 after any other; -1. */
static int take_binary(lime *l, const lat_lime_record *rec)
{
    int nc;
    lat_real real = LAT_F64;
    if (l->geom.nd == 0)
        return lat_fail(
            "%s: does not say its extents (no ildg-format before the data): give --dims X,Y,Z,T to "
            "lat-convert",
            l->name);
    int gauge = is_gauge(l, rec, &nc, &real);
    l->site_bytes = 0;
    l->colours = l->bits = 0;
    l->last_gauge = gauge > 0;
    if (gauge < 0)
        return -1;
    if (!gauge) {
        l->others++;
        return lat_input_skip(l->in, rec->length);
    }
    if (l->gauge++)
        return lat_fail(
            "%s: holds more than one gauge field: take out the one you want, for instance with "
            "lime_extract_record",
            l->name);
    take_gauge(l, rec, nc, real);
    return 1;
}

/* As take_binary. */
static int take_record(lime *l, const lat_lime_record *rec)
{
    if (strcmp(rec->type, "scidac-sitelist") == 0)
        return lat_fail("%s: is one volume of a QIO file in several (it has a list of sites): put "
                        "it together into a single file first, for instance with qio-convert-mesh",
                        l->name);
    if (strcmp(rec->type, "ildg-binary-data") == 0 || strcmp(rec->type, "scidac-binary-data") == 0)
        return take_binary(l, rec);
    const bool xml = strcmp(rec->type, "scidac-record-xml") == 0,
               may_be_ours = !l->gauge && !l->ours;
    if (xml && may_be_ours && lat_lime_next_is_ours(l->in, &l->ours))
        return -1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(rec->type, texts[i].type) == 0 && (!xml || (may_be_ours && l->ours)))
            return take_text(l, rec, &texts[i]);
    return lat_input_skip(l->in, rec->length);
}

/* Records up to the gauge field, 1; or to the end of the file, 0; or -1. */
static int next_gauge(lime *l)
{
    lat_lime_record rec;
    int more;
    while ((more = lat_lime_next(l->in, &rec)) > 0) {
        const int found = take_record(l, &rec);
        if (found)
            return found;
        if (lat_lime_skip_padding(l->in, &rec) < 0)
            return -1;
    }
    return more < 0 ? -1 : lat_expect_end(l->in, l->r->force);
}

/* The records after the links. */
static int take_rest(lime *l)
{
    if (lat_lime_skip_padding(l->in, &l->links) < 0 || next_gauge(l) < 0)
        return -1;
    l->last = lat_input_offset(l->in);
    return 0;
}

/* Of a file, the records after the links are read first. */
static int read_ahead(lime *l)
{
    const uint64_t links = lat_input_offset(l->in);
    return lat_rc(lat_input_skip(l->in, l->links.length) < 0 || take_rest(l) < 0
                  || lat_input_rewind(l->in, links));
}

static int set_source(const lime *l, lat_header *h, const lat_scidac_sum *sum)
{
    return lat_set_source(h, "%s su%dgauge %d bits, %s %08lx %08lx", l->ildg ? "ILDG" : "SciDAC",
                          h->nc, 8 * (int)h->real,
                          l->stated ? "checksums" : "no checksums stated, found",
                          (unsigned long)sum->a, (unsigned long)sum->b);
}

static int begin(lat_input *in, lat_header *head, LAT_UNUSED lat_payload *p, lat_read_context *r)
{
    lime *l = lat_format_state(r, sizeof *l);
    if (!l)
        return -1;
    *l = (lime){.in = in, .name = lat_input_name(in), .head = head, .r = r, .geom = r->dims};
    const int found = next_gauge(l);
    if (found == 0)
        return lat_fail("%s: expected a gauge field among its records, found none, and %d other "
                        "binary record%s",
                        l->name, l->others, l->others == 1 ? "" : "s");
    /* From a pipe the line about the source waits for `end`, so that it is the last one, too. */
    if (found < 0 || lat_input_size(in) < 0)
        return found < 0 ? -1 : 0;
    return read_ahead(l) < 0 ? -1 : set_source(l, head, &l->stated_sum);
}

static int end(lat_input *in, lat_field *f, lat_payload *p, lat_read_context *r)
{
    lime *l = r->state;
    const lat_scidac_sum *sum = &p->sum.scidac;
    l->head = &f->head;
    if (l->last ? lat_input_skip(in, l->last - lat_input_offset(in)) < 0 : take_rest(l) < 0)
        return -1;
    if (l->others)
        lat_warn("%s: only the gauge field is read, %d other binary record%s left out", l->name,
                 l->others, l->others == 1 ? " is" : "s are");
    /* Printed digits are those of the writer's double precision; the links may be rounded after. */
    const double rounding = f->head.real == LAT_F32 ? 1e-6 : 1e-10;
    r->plaquette_within += rounding;
    r->link_trace_within += rounding;
    return set_source(l, &f->head, sum) < 0 ? -1 : verify_checksum(l, sum);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_before(lat_output *out, const lat_header *h)
{
    char type[32];
    snprintf(type, sizeof type, "%d_ColorMatrix", h->nc);
    if (lat_lime_write_scidac_file(out, &h->geom) < 0
        || lat_lime_write_text(out, LAT_LIME_ENDS, "scidac-file-xml",
                               XML "<title>gauge configuration</title>")
        || lat_lime_write_scidac_record(out, h, type, 2 * (size_t)h->nc * (size_t)h->nc, 4) < 0)
        return -1;
    return lat_lime_write_ours(out, h);
}

static int write_ildg_records(lat_output *out, const lat_header *h)
{
    const int *d = h->geom.dims;
    const char *lfn = lat_info_get(h, "lfn");
    if (lat_lime_write_text(out, 0, "ildg-format",
                            XML "<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" "
                                "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                                "xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\">"
                                "<version>1.0</version><field>su%dgauge</field>"
                                "<precision>%d</precision><lx>%d</lx><ly>%d</ly><lz>%d</lz>"
                                "<lt>%d</lt></ildgFormat>",
                            h->nc, 8 * (int)h->real, d[0], d[1], d[2], d[3]))
        return -1;
    return lat_lime_write_text(out, 0, "ildg-data-lfn", "%s", lfn ? lfn : "lfn://unknown");
}

static int write_head(lat_output *out, const lat_header *head, const lat_payload *p)
{
    return lat_rc(
        write_before(out, head) < 0
        || lat_lime_write_head(out, 0, "scidac-binary-data", lat_payload_bytes(head, p->rows)));
}

static int write_ildg_head(lat_output *out, const lat_header *head, const lat_payload *p)
{
    return lat_rc(
        write_before(out, head) < 0 || write_ildg_records(out, head) < 0
        || lat_lime_write_head(out, 0, "ildg-binary-data", lat_payload_bytes(head, p->rows)));
}

static int write_tail(lat_output *out, const lat_header *head, const lat_payload *p)
{
    return lat_rc(lat_lime_write_padding(out, lat_payload_bytes(head, p->rows)) < 0
                  || lat_lime_write_checksum(out, &p->sum.scidac));
}

const lat_format lat_format_ildg = {
    .name = "ildg",
    .also = ".lime",
    .about = "ILDG in a LIME container, as QIO writes it; reads SciDAC too",
    .begins = {LAT_LIME_BEGIN},
    .begin = begin,
    .end = end,
    .stored = {.big = true, .digest = lat_scidac_digest},
    .head = write_ildg_head,
    .tail = write_tail,
};

const lat_format lat_format_scidac = {
    .name = "scidac",
    .also = ".lime",
    .about = "SciDAC (QIO) in a LIME container, one volume; reads ILDG too",
    .begins = {LAT_LIME_BEGIN},
    .begin = begin,
    .end = end,
    .stored = {.big = true, .digest = lat_scidac_digest},
    .head = write_head,
    .tail = write_tail,
};
