/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_prop_lime.c: spinors and propagators in LIME containers.
 *
 * chroma-prop: QIO of Chroma and QDP++, one record of sites [spin][source spin][colour][source
 * colour]; its XML says how it was solved. Grid and Hadrons write the same, with a datatype of
 * theirs. usqcd-prop: QIO by the agreement of USQCD: a source (a complex field) and twelve sinks,
 * or pairs of source and sink. Sinks are [spin][colour] a site. Sources are left out. etmc-prop:
 * tmLQCD, one sink, or a source and sinks, or twelve of them.
 *
 * All are big endian, x fastest. The basis of USQCD's files is by agreement that of DeGrand and
 * Rossi. tmLQCD may write lx for lz: the length of the data tells. scidac-checksum belongs to the
 * binary record before it. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "chroma_xml.h"
#include "lime.h"
#include "quarks.h"

#define XML LAT_LIME_XML
#define TEXT_LIMIT ((uint64_t)16 << 20)
#define SPINOR_REALS 24
#define PROPAGATOR_REALS 288

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    lat_input *in;
    const char *name;
    lat_field *f;
    const lat_quark_hints *h;
    lat_geometry geom; /* nd = 0 until a record says */
    bool etmc;         /* of tmLQCD: geom.dims[2] may be wrong */
    bool pairs;        /* sinks are every second spinor */
    bool milc;         /* MILC wrote it */
    long spin, colour; /* of the sink that comes, -1: not stated */
    int spinors;       /* spinor records so far */
    unsigned seen;     /* bit for each column that was read */
    bool single;       /* a record of a whole propagator was read */
    bool stated;       /* a checksum follows the data that were kept */
    bool kept;         /* the last binary record is part of the field */
    lat_sum sum;
    char *record_xml; /* of Chroma */
} reader;

static int take_private_file(reader *r, const lat_lime_xml *x)
{
    const int found = lat_lime_dims(x, &r->h->dims, &r->geom);
    return found > 0 ? lat_geometry_check(&r->geom, r->name) : found;
}

static int take_etmc(reader *r, const lat_lime_xml *x)
{
    long precision = 0, flavours = 1, d[4] = {0};
    static const char *const tag[4] = {"lx", "ly", "lz", "lt"};
    for (int mu = 0; mu < 4; mu++)
        if (lat_lime_number(x, tag[mu], 65535, &d[mu]) < 0)
            return -1;
    if (lat_lime_number(x, "precision", 65535, &precision) < 0
        || lat_lime_number(x, "flavours", 65535, &flavours) < 0)
        return -1;
    if (flavours != 1)
        return lat_fail("%s: expected one flavour, found %ld", r->name, flavours);
    r->geom = (lat_geometry){.nd = 4, .dims = {(int)d[0], (int)d[1], (int)d[2], (int)d[3]}};
    r->etmc = true;
    r->f->head.real = precision == 32 ? LAT_F32 : LAT_F64;
    return lat_geometry_check(&r->geom, r->name);
}

/* Spin and colour of the source, of the sink that comes. */
static int take_record_xml(reader *r, const lat_lime_xml *x)
{
    r->spin = r->colour = -1;
    if (strstr(x->text, "<usqcdPropInfo") || strstr(x->text, "<usqcdInfo")
        || strstr(x->text, "<usqcdSourceInfo"))
        return lat_rc(lat_lime_number(x, "spin", 65535, &r->spin) < 0
                      || lat_lime_number(x, "color", 65535, &r->colour) < 0);
    free(r->record_xml);
    r->record_xml = strdup(x->text);
    return r->record_xml ? 0 : lat_fail("out of memory: the XML of a record");
}

static int take_checksum(reader *r, const lat_lime_xml *x)
{
    lat_scidac_sum s;
    if (!r->kept)
        return 0;
    r->kept = false;
    r->stated = true;
    return lat_lime_checksum(x, &s) ? -1
                                    : lat_lime_verify(r->name, &s, &r->sum.scidac, r->h->force);
}

/* propagator-type, scidac-file-xml */
static int take_pairs(reader *r, const lat_lime_xml *x)
{
    r->pairs = r->pairs || strstr(x->text, "DiracFermion_Source_Sink_Pairs")
               || strstr(x->text, "DiracFermion_ScalarSource_Sink_Pairs");
    /* keywords of MILC's info, which it has as the text of the file */
    r->milc = r->milc || strstr(x->text, "quark.description") || strstr(x->text, "gauge.filename")
              || strstr(x->text, "gauge.fix.description");
    return 0;
}

/* Records of text that are read. */
static const struct text {
    const char *type;
    int (*take)(reader *r, const lat_lime_xml *x);
} texts[] = {{"scidac-private-file-xml", take_private_file},
             {"scidac-file-xml", take_pairs},
             {"scidac-record-xml", take_record_xml},
             {"scidac-checksum", take_checksum},
             {"propagator-type", take_pairs},
             {"etmc-propagator-format", take_etmc},
             {"etmc-source-format", take_etmc}};

static int take_text(reader *r, const lat_lime_record *rec, const struct text *known)
{
    char *text = lat_lime_text(r->in, rec, TEXT_LIMIT);
    const int bad = text ? known->take(r, &(lat_lime_xml){r->name, rec->type, text}) : -1;
    free(text);
    return bad;
}

/* tmLQCD's lz from the length of a spinor record. */
static int mend_extents(reader *r, uint64_t length)
{
    int *d = r->geom.dims;
    const uint64_t plane = (uint64_t)d[0] * (uint64_t)d[1] * (uint64_t)d[3] * SPINOR_REALS
                           * (uint64_t)r->f->head.real;
    if (!r->etmc)
        return 0;
    if (length % plane || length / plane < 1 || length / plane > 65535)
        return lat_fail("%s: expected a multiple of %llu bytes of spinors on %d x %d x lz x %d, "
                        "found %llu",
                        r->name, (unsigned long long)plane, d[0], d[1], d[3],
                        (unsigned long long)length);
    d[2] = (int)(length / plane);
    return 0;
}

static int allocate(reader *r, lat_kind kind, lat_real real)
{
    lat_field *f = r->f;
    if (f->data)
        return f->head.real == real
                   ? 0
                   : lat_fail("%s: expected all its spinors in one precision, found two", r->name);
    f->head.geom = r->geom;
    f->head.real = real;
    return lat_quark_alloc(r->in, f, kind, 0);
}

/* The numbers of a binary record, and their sum, which begins with 0. */
static lat_quark_array data_array(const lat_field *f, const char *axes, size_t column, size_t reals,
                                  lat_sum *sum)
{
    memset(sum, 0, sizeof *sum);
    return (lat_quark_array){.axes = axes,
                             .big = true,
                             .column = column,
                             .digest = lat_scidac_digest,
                             .sum = sum,
                             .unit = reals * (size_t)f->head.real};
}

static int read_data(reader *r, const char *axes, size_t column, size_t reals)
{
    r->kept = true;
    const lat_quark_array a = data_array(r->f, axes, column, reals, &r->sum);
    return lat_quark_array_read(r->in, r->f, &a);
}

/* A spinor record that is a sink: which column? They come in order unless they say another one. */
static int read_sink(reader *r, lat_real real)
{
    const int next = __builtin_popcount(r->seen);
    const int column = r->spin >= 0 && r->colour >= 0 ? (int)(3 * r->spin + r->colour) : next;
    if (r->spin > 3 || r->colour > 2 || column > 11 || r->seen >> column & 1)
        return lat_fail("%s: expected each source spin and colour once, found column %d again",
                        r->name, column);
    r->seen |= 1u << column;
    /* One sink alone becomes a spinor; it is copied when the file has ended. */
    return lat_rc(allocate(r, LAT_PROPAGATOR, real) < 0
                  || read_data(r, "tzyxsci", (size_t)column, SPINOR_REALS));
}

static int take_binary(reader *r, const lat_lime_record *rec)
{
    if (r->geom.nd == 0 && r->h->dims.nd)
        r->geom = r->h->dims;
    if (r->geom.nd == 0)
        return lat_fail("%s: does not say its extents before the data: give --dims X,Y,Z,T "
                        "to lat-convert",
                        r->name);
    if (mend_extents(r, rec->length) < 0)
        return -1;
    const uint64_t volume = lat_volume(&r->geom);
    const uint64_t reals = rec->length / volume / 4;
    r->kept = false;
    if (rec->length == volume * PROPAGATOR_REALS * 4
        || rec->length == volume * PROPAGATOR_REALS * 8) {
        if (r->single || r->seen)
            return lat_fail("%s: holds more than one propagator", r->name);
        r->single = true;
        return lat_rc(allocate(r, LAT_PROPAGATOR, reals == PROPAGATOR_REALS ? LAT_F32 : LAT_F64) < 0
                      || read_data(r, "tzyxsScCi", 0, PROPAGATOR_REALS));
    }
    if (rec->length == volume * SPINOR_REALS * 4 || rec->length == volume * SPINOR_REALS * 8) {
        const bool source = r->pairs && r->spinors++ % 2 == 0;
        return source ? lat_input_skip(r->in, rec->length)
                      : read_sink(r, reals == SPINOR_REALS ? LAT_F32 : LAT_F64);
    }
    return lat_input_skip(r->in, rec->length); /* a complex source, or something else */
}

static int take_record(reader *r, const lat_lime_record *rec)
{
    if (!strcmp(rec->type, "scidac-binary-data") || !strcmp(rec->type, "ildg-binary-data"))
        return take_binary(r, rec);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(rec->type, texts[i].type))
            return take_text(r, rec, &texts[i]);
    return lat_input_skip(r->in, rec->length);
}

/* The only sink of a file is its first column: the others of each site are dropped. */
static int make_spinor(lat_field *f)
{
    lat_field one = {.head = f->head};
    double psi[SPINOR_REALS];
    lat_header_make_spinors(&one.head, LAT_SPINOR, 1);
    if (lat_field_alloc(&one, f->comm) < 0)
        return -1;
    for (size_t x = 0; x < lat_field_sites(&one); x++) {
        lat_field_get(f, 12 * x, psi);
        lat_field_put(&one, x, psi);
    }
    free(f->data);
    *f = one;
    return 0;
}

static int finish(reader *r, const char *what)
{
    lat_field *f = r->f;
    const int columns = __builtin_popcount(r->seen);
    if (!r->single && columns == 0)
        return lat_fail("%s: expected spinors or a propagator among its records, found none",
                        r->name);
    if (!r->single && columns > 1 && columns < 12)
        return lat_fail("%s: expected the twelve columns of a propagator, or one spinor, found %d",
                        r->name, columns);
    if (columns == 1 && make_spinor(f) < 0)
        return -1;
    if (r->record_xml && lat_chroma_fermion(r->record_xml, &f->head) < 0)
        return -1;
    return lat_set_source(&f->head, "%s %s, %s", what,
                          f->head.kind == LAT_SPINOR ? "spinor" : "propagator",
                          r->stated ? "checksums verified" : "no checksums stated");
}

/* USQCD's files state neither basis nor norm, and what MILC writes is not as others agreed on. */
static int check_milc(const reader *r)
{
    return !r->milc || r->h->basis || r->h->norm != LAT_NORM_FORMAT
               ? 0
               : lat_mismatch(r->h->force,
                              "%s: its file record is MILC's, whose propagators are in the basis "
                              "milc and divided by 2 kappa: expected --basis milc --normalisation "
                              "kappa of lat-convert, or what else they are, found neither",
                              r->name);
}

static int read_lime(lat_input *in, lat_field *f, lat_quark_hints *h)
{
    reader r = {.in = in, .name = lat_input_name(in), .f = f, .h = h, .spin = -1, .colour = -1};
    lat_lime_record rec;
    int more = 0, bad = 0;
    while (!bad && (more = lat_lime_next(in, &rec)) > 0)
        bad = take_record(&r, &rec) < 0 || lat_lime_skip_padding(in, &rec) < 0;
    if (!bad)
        bad = more < 0 || finish(&r, h->format->program) < 0 || check_milc(&r) < 0;
    free(r.record_xml);
    return bad ? -1 : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The binary record and its checksums. */
static int write_data(lat_output *out, const lat_field *f, const char *axes, size_t column,
                      size_t reals)
{
    lat_sum sum;
    const lat_quark_array a = data_array(f, axes, column, reals, &sum);
    const uint64_t bytes = lat_quark_array_bytes(&f->head, &a);
    if (lat_lime_write_head(out, 0, "scidac-binary-data", bytes) < 0
        || lat_quark_array_write(out, f, &a) < 0 || lat_lime_write_padding(out, bytes) < 0)
        return -1;
    return lat_lime_write_checksum(out, &sum.scidac);
}

static int write_record(lat_output *out, const lat_header *h)
{
    char *xml = lat_chroma_record(h);
    const int rc = xml ? lat_lime_write_text(out, 0, "scidac-record-xml", "%s", xml) : -1;
    free(xml);
    return rc;
}

static int write_chroma(lat_output *out, const lat_field *f)
{
    const lat_header *h = &f->head;
    if (lat_lime_write_scidac_file(out, &h->geom) < 0
        || lat_lime_write_text(out, LAT_LIME_ENDS, "scidac-file-xml",
                               XML "<propagator><id>0</id></propagator>")
        || lat_lime_write_scidac_record(out, h, "3_DiracPropagator", PROPAGATOR_REALS, 1) < 0
        || write_record(out, h) < 0)
        return -1;
    return write_data(out, f, "tzyxsScCi", 0, PROPAGATOR_REALS);
}

/* The scalar source, which we do not have: zeros. */
static int write_zeros(lat_output *out, const lat_header *h)
{
    const uint64_t bytes = lat_volume(&h->geom) * 2 * (uint64_t)h->real;
    static const char zeros[4096];
    lat_scidac_sum sum = {0};
    if (lat_lime_write_scidac_record(out, h, "_Complex", 2, 1) < 0
        || lat_lime_write_text(out, 0, "scidac-record-xml",
                               XML "<usqcdSourceInfo><version>1.0</version><info>not known: zeros"
                                   "</info></usqcdSourceInfo>")
        || lat_lime_write_head(out, 0, "scidac-binary-data", bytes) < 0)
        return -1;
    const size_t site = 2 * (size_t)h->real, each = sizeof zeros / site;
    for (uint64_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < sizeof zeros ? bytes - at : sizeof zeros;
        lat_scidac_digest(&sum, (const unsigned char *)zeros, (size_t)n / site, site,
                          (size_t)(at / sizeof zeros) * each);
        if (lat_output_write(out, zeros, (size_t)n) < 0)
            return -1;
    }
    return lat_lime_write_padding(out, bytes) < 0 ? -1 : lat_lime_write_checksum(out, &sum);
}

static int write_usqcd(lat_output *out, const lat_field *f)
{
    const lat_header *h = &f->head;
    if (lat_lime_write_scidac_file(out, &h->geom) < 0
        || lat_lime_write_text(out, LAT_LIME_ENDS, "scidac-file-xml",
                               XML "<usqcdPropFile><version>1.0</version><type>"
                                   "USQCD_DiracFermion_ScalarSource_TwelveSink</type><info>lat %s"
                                   "</info></usqcdPropFile>",
                               LAT_VERSION)
        || write_zeros(out, h) < 0)
        return -1;
    for (size_t column = 0; column < 12; column++)
        if (lat_lime_write_scidac_record(out, h, "3_DiracFermion", SPINOR_REALS, 1) < 0
            || lat_lime_write_text(out, 0, "scidac-record-xml",
                                   XML "<usqcdPropInfo><version>1.0</version><spin>%zu</spin>"
                                       "<color>%zu</color><info></info></usqcdPropInfo>",
                                   column / 3, column % 3)
            || write_data(out, f, "tzyxsci", column, SPINOR_REALS) < 0)
            return -1;
    return 0;
}

/* One sink, or twelve of them. */
static int write_etmc(lat_output *out, const lat_field *f)
{
    const lat_header *h = &f->head;
    const int *d = h->geom.dims;
    const size_t columns = lat_header_objects(h);
    if (lat_lime_write_text(out, LAT_LIME_BEGINS | LAT_LIME_ENDS, "propagator-type",
                            "DiracFermion_Sink"))
        return -1;
    for (size_t column = 0; column < columns; column++)
        if (lat_lime_write_text(out, LAT_LIME_BEGINS, "etmc-propagator-format",
                                XML "<etmcFormat><field>diracFermion</field><precision>%d"
                                    "</precision><flavours>1</flavours><lx>%d</lx><ly>%d</ly>"
                                    "<lz>%d</lz><lt>%d</lt></etmcFormat>",
                                8 * (int)h->real, d[0], d[1], d[2], d[3])
            || write_data(out, f, "tzyxsci", column, SPINOR_REALS) < 0)
            return -1;
    return 0;
}

/* ---- the list -------------------------------------------------------------------------------- */

const lat_format lat_format_chroma_prop = {
    .name = "chroma-prop",
    .extension = ".cprop",
    .about = "Chroma and QDP++ (QIO), one record",
    .program = "Chroma",
    .lime = {"_DiracPropagator</datatype>", "_SpinMatrix4_ColourMatrix3</datatype>"},
    .quarks = LAT_HOLDS_PROPAGATORS,
    .read = read_lime,
    .write = write_chroma,
    .keeps = lat_chroma_keeps,
};

const lat_format lat_format_usqcd_prop = {
    .name = "usqcd-prop",
    .extension = ".uprop",
    .about = "USQCD (QIO): twelve sinks; reads pairs",
    .program = "USQCD",
    .lime = {"<usqcdPropFile>", "_DiracFermion</datatype>"},
    .quarks = LAT_HOLDS_PROPAGATORS,
    .read = read_lime,
    .write = write_usqcd,
};

const lat_format lat_format_etmc_prop = {
    .name = "etmc-prop",
    .extension = ".etmc",
    .about = "spinor or propagator of tmLQCD (ETMC)",
    .program = "ETMC",
    .lime = {"etmc-propagator-format", "etmc-source-format"},
    .quarks = LAT_HOLDS_PROPAGATORS | LAT_HOLDS_SPINORS,
    .proven = true,
    .basis = "chiral",
    .read = read_lime,
    .write = write_etmc,
};
