/* SPDX-License-Identifier: BSD-3-Clause */
/* formats.c: the list of formats, and which of them a file is in. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "format.h"
#include "lime.h"
#include "npy.h"
#include "payload.h"

/* A new format is one line here: FORMAT(name), defined as lat_format_name in fmt_name.c. */
#define FORMATS \
    FORMAT(lat) \
    FORMAT(chroma_prop) \
    FORMAT(usqcd_prop) \
    FORMAT(etmc_prop) \
    FORMAT(npy_prop) \
    FORMAT(hdf5_prop) \
    FORMAT(milc_prop) \
    FORMAT(fermilab_prop) \
    FORMAT(openqcd_sfld) \
    FORMAT(ddalphaamg_vector) \
    FORMAT(kyu_prop) \
    FORMAT(xqcd_prop) \
    FORMAT(nersc) \
    FORMAT(ildg) \
    FORMAT(scidac) \
    FORMAT(milc) \
    FORMAT(milcold) \
    FORMAT(milc1996) \
    FORMAT(fnal) \
    FORMAT(bmw) \
    FORMAT(mdp) \
    FORMAT(cppacs) \
    FORMAT(szin) \
    FORMAT(vogt) \
    FORMAT(hirep) \
    FORMAT(openqcd) \
    FORMAT(ddalphaamg) \
    FORMAT(npy) \
    FORMAT(hdf5) \
    FORMAT(fortran) \
    FORMAT(bridgetext) \
    FORMAT(bridge) \
    FORMAT(kyu) \
    FORMAT(headeronly) \
    FORMAT(raw)

#define FORMAT(name) extern const lat_format lat_format_##name;
FORMATS
#undef FORMAT

#define FORMAT(name) &lat_format_##name,
const lat_format *const lat_formats[] = {FORMATS NULL};

/* ---- recognised, but not read ---------------------------------------------------------------- */

static const struct refused {
    const char *name, *begin, *advice;
} refused[] = {
    {"a Git LFS pointer", "version https://git-lfs",
     "the file holds only the address of the data: run 'git lfs pull' where it came from"},
    {"a compressed file", "\x1f\x8b\x08",
     "decompress it on the way: 'gzip -dc FILE | lat-convert'"},
    {"a file of bzip2", "BZh", "decompress it on the way: 'bzip2 -dc FILE | lat-convert'"},
    {"a file of xz", "\3757zXZ", "decompress it on the way: 'xz -dc FILE | lat-convert'"},
    {"a file of zstd", "\x28\xb5\x2f\xfd",
     "decompress it on the way: 'zstd -dc FILE | lat-convert'"},
    {"a ZIP archive", "PK\3\4", "take the array out of it, if it is NumPy's: numpy.save"},
    {"a NumPy array", LAT_NPY_MAGIC, NULL},
    {NULL, NULL, NULL}};

const char *lat_format_refused(size_t i)
{
    return i < sizeof refused / sizeof *refused ? refused[i].name : NULL;
}

bool lat_format_extension_refused(const char *extension)
{
    static const char *const list[] = {".gz", ".bz2", ".xz", ".zst", ".hdf", ".hdf5", ".npz"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(extension, list[i]) == 0)
            return true;
    return false;
}

/* ---- recognition ----------------------------------------------------------------------------- */

bool lat_begins(const unsigned char *b, size_t n, const char *text)
{
    return n >= strlen(text) && memcmp(b, text, strlen(text)) == 0;
}

bool lat_begins_number(const unsigned char *b, size_t n, uint32_t number)
{
    return n >= 4 && (lat_load_u32(b, true) == number || lat_load_u32(b, false) == number);
}

bool lat_format_fits(const lat_format *f, const unsigned char *b, size_t n, int64_t size)
{
    for (int i = 0; i < 2; i++)
        if ((f->begins[i] && lat_begins(b, n, f->begins[i]))
            || (f->magic[i] && lat_begins_number(b, n, f->magic[i]))
            || (f->lime[i] && lat_lime_has(b, n, f->lime[i])))
            return true;
    return f->probe && f->probe(b, n, size);
}

static void no_format(lat_input *in, const unsigned char *b, size_t n)
{
    const char *name = lat_input_name(in);
    char text[LAT_NPY_MOST];
    for (const struct refused *r = refused; r->name; r++)
        if (lat_begins(b, n, r->begin)) {
            if (r->advice)
                lat_fail("%s: is %s: %s", name, r->name, r->advice);
            else
                lat_fail("%s: is a NumPy array: expected complex numbers of shape (4, T, Z, Y, X, "
                         "N, N) or (T, Z, Y, X, 4, N, N), or of spinors, found %.200s",
                         name, lat_npy_text(b, n, text) ? text : "a head that is not read");
            return;
        }
    char hex[3 * 8 + 1] = "";
    for (size_t i = 0; i < n && i < 8; i++)
        snprintf(hex + 3 * i, 4, "%02x ", b[i]);
    lat_fail("%s: begins like no format that is known (%s...): see lat-convert --list, or "
             "say lat-convert --from NAME",
             name, hex);
}

const lat_format *lat_format_of(lat_input *in)
{
    unsigned char b[LAT_PROBE];
    ssize_t n = lat_input_peek(in, b, sizeof b);
    if (n < 0)
        return NULL;
    if (n == 0)
        return lat_fail_null("%s: empty, expected a configuration", lat_input_name(in));
    for (const lat_format *const *f = lat_formats; *f; f++)
        if (lat_format_fits(*f, b, (size_t)n, lat_input_size(in))
            && !((*f)->leaves && (*f)->leaves(in)))
            return *f;
    no_format(in, b, (size_t)n);
    return NULL;
}

/* ---- how a field is stored ------------------------------------------------------------------- */

lat_payload lat_format_layout(const lat_format *f, const lat_header *head, const lat_hints *hints)
{
    lat_payload p = f->stored;
    const int nc = head->nc;
    if (f->layout)
        f->layout(head, hints, &p);
    if (!p.rows)
        p.rows = head->reals < 2 * nc * nc && nc <= f->fewer_rows ? nc - 1 : nc;
    return p;
}

bool lat_format_writes(const lat_format *f)
{
    return f->stream || f->head || f->layout || f->write || f->array.axes;
}

/* ---- helpers of readers ---------------------------------------------------------------------- */

uint64_t lat_probe_volume(const unsigned char *b, bool big)
{
    uint64_t v = 1;
    for (int i = 0; i < 4; i++) {
        const uint32_t e = lat_load_u32(b + 4 * i, big);
        if (e < 1 || e > 1024)
            return 0;
        v *= e;
    }
    return v;
}

bool lat_probe_size(int64_t size, uint64_t bytes) { return size < 0 || (uint64_t)size == bytes; }

void lat_dims_load(lat_geometry *geom, const unsigned char *b, bool big, bool time_first)
{
    geom->nd = 4;
    for (int i = 0; i < 4; i++)
        geom->dims[time_first ? (i + 3) % 4 : i] = (int32_t)lat_load_u32(b + 4 * i, big);
}

void lat_dims_store(const lat_geometry *geom, unsigned char *b, bool big, bool time_first)
{
    for (int i = 0; i < 4; i++)
        lat_store_u32(b + 4 * i, (uint32_t)geom->dims[time_first ? (i + 3) % 4 : i], big);
}

int lat_take_plaquette(lat_input *in, lat_read_context *r, double stated, double scale)
{
    if (!(fabs(stated * scale) <= 1 + 1e-6))
        return lat_fail("%s: expected a plaquette from %g to %g in the header, found %g",
                        lat_input_name(in), -1 / scale, 1 / scale, stated);
    r->plaquette = stated * scale;
    /* All digits are stored; programs differ in the order of their sums only. */
    r->plaquette_within = 1e-10;
    return 0;
}

int lat_mismatch(bool force, const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n < 0)
        return lat_fail("out of memory for a message");
    if (force)
        lat_warn("%s", text);
    else
        lat_fail("%s", text);
    free(text);
    return force ? 0 : -1;
}

double lat_printed_error(const char *text)
{
    const char *dot = strchr(text, '.'), *e = strpbrk(text, "eE");
    const char *end = e ? e : text + strlen(text);
    long decimals = 0;
    if (dot && dot < end)
        for (const char *c = dot + 1; c < end && isdigit((unsigned char)*c); c++)
            decimals++;
    return 0.5 * pow(10, (e ? (double)strtol(e + 1, NULL, 10) : 0) - (double)decimals);
}

int lat_expect_bytes(lat_input *in, uint64_t need, uint64_t memory, const char *what)
{
    uint64_t there, ask = need < LAT_PEEK ? need : LAT_PEEK;
    ask = memory / 16 > ask ? memory / 16 : ask;
    if (lat_input_wait(in, ask, &there) < 0)
        return -1;
    if (there >= (lat_input_size(in) < 0 ? ask : need))
        return 0;
    return lat_fail("%s: truncated: %s takes %llu bytes from byte %llu, and only %llu are there",
                    lat_input_name(in), what, (unsigned long long)need,
                    (unsigned long long)lat_input_offset(in), (unsigned long long)there);
}

const char *lat_mean_text(double mean, char text[LAT_MEAN_TEXT])
{
    snprintf(text, LAT_MEAN_TEXT, "%.*f", signbit(mean) ? 14 : 15, mean);
    return text;
}

int lat_take_dims(lat_input *in, lat_geometry *geom, const lat_geometry *dims)
{
    *geom = *dims;
    return dims->nd ? 0
                    : lat_fail("%s: does not say its extents: give --dims X,Y,Z,T to lat-convert",
                               lat_input_name(in));
}

int lat_need_size(lat_input *in)
{
    return lat_input_size(in) >= 0
               ? 0
               : lat_fail("%s: in this format links are found from the end, so a "
                          "file is expected, found a pipe",
                          lat_input_name(in));
}

int lat_skip_to_links(lat_input *in, const lat_header *head, int rows)
{
    const uint64_t need = lat_payload_bytes(head, rows);
    return lat_rc(
        lat_expect_bytes(in, need, 0, "a configuration of that size") < 0
        || lat_input_skip(in, (uint64_t)lat_input_size(in) - lat_input_offset(in) - need));
}

void *lat_format_state(lat_read_context *r, size_t size)
{
    return r->state = r->state ? r->state : lat_alloc_zero(1, size, "a file");
}

int lat_set_source(lat_header *head, const char *format, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return lat_info_set(head, "source", text);
}

/* Of what follows a configuration. */
typedef struct rest {
    bool blank; /* nothing but white space and zero bytes */
    unsigned long long zeros;
} rest;

static void add_to_rest(rest *r, const unsigned char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        r->blank = r->blank && (!b[i] || isspace(b[i]));
        r->zeros += !b[i];
    }
}

int lat_expect_end(lat_input *in, bool force)
{
    const char *name = lat_input_name(in);
    const unsigned long long end = lat_input_offset(in);
    unsigned char b[16384];
    rest r = {.blank = true};
    ssize_t n;
    while ((n = lat_input_read_some(in, b, sizeof b)) > 0)
        add_to_rest(&r, b, (size_t)n);
    if (n < 0)
        return -1;
    if (!r.blank)
        return lat_mismatch(
            force, "%s: goes on after the end of its configuration at byte %llu, for %llu bytes",
            name, end, lat_input_offset(in) - end);
    if (r.zeros)
        lat_warn(
            "%s: %llu zero byte%s follow%s the end of its configuration at byte %llu: padding?",
            name, r.zeros, r.zeros == 1 ? "" : "s", r.zeros == 1 ? "s" : "", end);
    return 0;
}
