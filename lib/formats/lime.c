/* SPDX-License-Identifier: BSD-3-Clause */
/* lime.c: records of a LIME container. */
#include "lime.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "format.h"
#include "xml.h"

#define MAGIC 0x456789abu
#define HEAD 144

bool lat_lime_has(const unsigned char *bytes, size_t n, const char *text)
{
    return lat_begins(bytes, n, LAT_LIME_BEGIN) && memmem(bytes, n, text, strlen(text));
}

static void printable(char *s)
{
    for (; *s; s++)
        if (!isprint((unsigned char)*s))
            *s = '?';
}

int lat_lime_next(lat_input *in, lat_lime_record *rec)
{
    unsigned char b[HEAD];
    const char *name = lat_input_name(in);
    const ssize_t n = lat_input_peek(in, b, sizeof b);
    if (n <= 0)
        return (int)n;
    const bool begins = lat_begins(b, (size_t)n, LAT_LIME_BEGIN);
    if (!begins && lat_input_offset(in) == 0)
        return lat_fail("%s: expected a LIME file, which begins with 45 67 89 ab, found %02x %02x "
                        "%02x %02x",
                        name, b[0], n > 1 ? b[1] : 0, n > 2 ? b[2] : 0, n > 3 ? b[3] : 0);
    if (!begins)
        return 0; /* blanks at the end, or something else: lat_expect_end tells */
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    memcpy(rec->type, b + 16, 128);
    rec->type[128] = 0;
    printable(rec->type);
    rec->length = lat_load_be64(b + 8);
    if (b[4] != 0 || b[5] != 1)
        return lat_fail("%s: expected LIME version 1, found %d in record '%s'", name,
                        b[4] << 8 | b[5], rec->type);
    if (rec->length > INT64_MAX - 8)
        return lat_fail("%s: expected a length below 2^63, found %llu in record '%s'", name,
                        (unsigned long long)rec->length, rec->type);
    return lat_expect_bytes(in, rec->length, 0, rec->type) < 0 ? -1 : 1;
}

int lat_lime_skip_padding(lat_input *in, const lat_lime_record *rec)
{
    unsigned char b[8];
    const ssize_t there = lat_input_peek(in, b, (size_t)(-rec->length & 7));
    return there < 0 ? -1 : lat_input_skip(in, (uint64_t)there);
}

static bool proper_xml(const char *text, char *why, size_t size)
{
    return lat_xml_text(text, strlen(text), "", why, size) >= 0;
}

static void without_high_bytes(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            *text = '?';
}

/* What programs do to XML, and what is done about it: no value that is read is in an attribute, and
 * none but comments and names has letters beyond ASCII, which some write in Latin-1. */
static void mend_xml(const char *name, const char *type, char *text)
{
    static const struct {
        void (*mend)(char *text);
        const char *how;
    } ways[] = {{lat_xml_drop_attributes, "it is read without its attributes"},
                {without_high_bytes, "letters that are not ASCII are read as '?'"}};
    char why[LAT_XML_WHY], other[LAT_XML_WHY];
    if (!strchr(text, '<') || proper_xml(text, why, sizeof why) || !strcmp(why, LAT_XML_NO_MEMORY))
        return; /* without memory it may be proper: whoever reads it says so */
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *mended = strdup(text);
        if (mended)
            ways[i].mend(mended);
        const bool good = mended && proper_xml(mended, other, sizeof other);
        if (good) {
            lat_warn("%s: record '%s' is not proper XML (%s): %s", name, type, why, ways[i].how);
            strcpy(text, mended);
        }
        free(mended);
        if (good)
            return;
    }
}

char *lat_lime_text(lat_input *in, const lat_lime_record *rec, uint64_t limit)
{
    if (rec->length > limit)
        return lat_fail_null("%s: expected at most %llu bytes in record '%s', found %llu",
                             lat_input_name(in), (unsigned long long)limit, rec->type,
                             (unsigned long long)rec->length);
    char *text = lat_alloc((size_t)rec->length + 1, 1, "a record");
    if (text && lat_input_read(in, text, (size_t)rec->length) < 0) {
        free(text);
        return NULL;
    }
    if (text) {
        text[rec->length] = 0;
        mend_xml(lat_input_name(in), rec->type, text);
    }
    return text;
}

/* ---- elements of XML ------------------------------------------------------------------------- */

/* White space of any kind between two words becomes a blank. */
static void squeeze(char *s)
{
    char *to = s;
    for (; *s; s++)
        if (!isspace((unsigned char)*s))
            *to++ = *s;
        else if (!isspace((unsigned char)s[1]))
            *to++ = ' ';
    *to = 0;
}

int lat_lime_element(const lat_lime_xml *x, const char *tag, char *text, size_t size)
{
    const int found = lat_xml_text(x->text, strlen(x->text), tag, text, size);
    if (found == LAT_XML_TWICE)
        return lat_fail("%s: record '%s' states <%s> more than once, and not the same", x->file,
                        x->type, tag);
    if (found < 0)
        return lat_fail("%s: record '%s' is not proper XML: %s", x->file, x->type, text);
    squeeze(text);
    printable(text);
    return found;
}

int lat_lime_number(const lat_lime_xml *x, const char *tag, long most, long *value)
{
    char text[64], *end;
    const int found = lat_lime_element(x, tag, text, sizeof text);
    if (found <= 0)
        return found;
    errno = 0;
    const long v = strtol(text, &end, 10);
    if (end == text || *end || errno || v < 0 || v > most)
        return lat_fail("%s: expected <%s> of record '%s' from 0 to %ld, found '%s'", x->file, tag,
                        x->type, most, text);
    *value = v;
    return 1;
}

int lat_lime_dims(const lat_lime_xml *x, const lat_geometry *given, lat_geometry *geom)
{
    char text[128];
    long volfmt = 0;
    if (lat_lime_number(x, "volfmt", 16, &volfmt) < 0)
        return -1;
    if (volfmt != 0)
        return lat_fail("%s: is one volume of a QIO file in several (volfmt %ld): put it together "
                        "into a single file first, for instance with qio-convert-mesh",
                        x->file, volfmt);
    const int found = lat_lime_element(x, "dims", text, sizeof text);
    if (found <= 0)
        return found;
    if (lat_dims_parse(text, geom) == 0 && geom->nd == 4)
        return 1;
    lat_error_clear();
    if (given->nd) {
        lat_warn("%s: <dims> of record '%s' is '%s', and --dims is taken", x->file, x->type, text);
        return 0;
    }
    return lat_fail("%s: expected four extents in <dims> of record '%s', found '%s'", x->file,
                    x->type, text);
}

static int hex(const lat_lime_xml *x, const char *tag, uint32_t *value)
{
    char text[64] = "", *end;
    const int found = lat_lime_element(x, tag, text, sizeof text);
    if (found < 0)
        return -1;
    errno = 0;
    const unsigned long long v = strtoull(text, &end, 16);
    if (!found || !isxdigit((unsigned char)*text) || *end || errno || v > UINT32_MAX)
        return lat_fail("%s: expected <%s> of record '%s' in at most 8 hexadecimal digits, found "
                        "'%s'",
                        x->file, tag, x->type, text);
    *value = (uint32_t)v;
    return 0;
}

int lat_lime_checksum(const lat_lime_xml *x, lat_scidac_sum *sum)
{
    return hex(x, "suma", &sum->a) || hex(x, "sumb", &sum->b) ? -1 : 0;
}

int lat_lime_verify(const char *file, const lat_scidac_sum *stated, const lat_scidac_sum *found,
                    bool force)
{
    if (stated->a == found->a && stated->b == found->b)
        return 0;
    return lat_mismatch(force,
                        "%s: SciDAC checksums %08lx %08lx are stated, %08lx %08lx found in the "
                        "data (damaged copy?)",
                        file, (unsigned long)stated->a, (unsigned long)stated->b,
                        (unsigned long)found->a, (unsigned long)found->b);
}

/* ---- writing --------------------------------------------------------------------------------- */

int lat_lime_write_head(lat_output *out, unsigned flags, const char *type, uint64_t length)
{
    unsigned char b[HEAD] = {0};
    lat_store_be32(b, MAGIC);
    lat_store_be32(b + 4, 1u << 16 | flags);
    lat_store_be64(b + 8, length);
    memcpy(b + 16, type, strlen(type));
    return lat_output_write(out, b, sizeof b);
}

int lat_lime_write_padding(lat_output *out, uint64_t length)
{
    static const unsigned char zeros[8];
    return lat_output_write(out, zeros, (size_t)(-length & 7));
}

int lat_lime_write_text(lat_output *out, unsigned flags, const char *type, const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, format);
    const int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n < 0)
        return lat_fail("out of memory for record '%s'", type);
    const int bad = lat_lime_write_head(out, flags, type, (uint64_t)n) < 0
                    || lat_output_write(out, text, (size_t)n) < 0
                    || lat_lime_write_padding(out, (uint64_t)n) < 0;
    free(text);
    return bad ? -1 : 0;
}

int lat_lime_write_scidac_file(lat_output *out, const lat_geometry *geom)
{
    const int *d = geom->dims;
    return lat_lime_write_text(out, LAT_LIME_BEGINS, "scidac-private-file-xml",
                               LAT_LIME_XML
                               "<scidacFile><version>1.1</version><spacetime>4</spacetime>"
                               "<dims>%d %d %d %d </dims><volfmt>0</volfmt></scidacFile>",
                               d[0], d[1], d[2], d[3]);
}

int lat_lime_write_scidac_record(lat_output *out, const lat_header *h, const char *datatype,
                                 size_t reals, int count)
{
    const char f = h->real == LAT_F32 ? 'F' : 'D';
    return lat_lime_write_text(
        out, LAT_LIME_BEGINS, "scidac-private-record-xml",
        LAT_LIME_XML
        "<scidacRecord><version>1.1</version><date>Thu Jan  1 00:00:00 1970 UTC</date>"
        "<recordtype>0</recordtype><datatype>QDP_%c%s</datatype><precision>%c</precision>"
        "<colors>%d</colors>%s<typesize>%zu</typesize><datacount>%d</datacount></scidacRecord>",
        f, datatype, f, h->nc, h->kind == LAT_GAUGE ? "" : "<spins>4</spins>",
        reals * (size_t)h->real, count);
}

int lat_lime_write_checksum(lat_output *out, const lat_scidac_sum *sum)
{
    return lat_lime_write_text(out, LAT_LIME_ENDS, "scidac-checksum",
                               LAT_LIME_XML "<scidacChecksum><version>1.0</version><suma>%x</suma>"
                                            "<sumb>%x</sumb></scidacChecksum>",
                               sum->a, sum->b);
}
