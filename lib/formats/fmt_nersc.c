/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_nersc.c: the NERSC archive format (Gauge Connection).
 *
 * A text header of `KEY = VALUE` lines between BEGIN_HEADER and END_HEADER, then the links, sites
 * with x fastest, directions x, y, z, t, row-major. DATATYPE 4D_SU3_GAUGE stores rows 0 and 1,
 * 4D_SU3_GAUGE_3x3 all; 4D_SUn_GAUGE and 4D_SUn_GAUGE_nxn likewise n - 1 rows and all.
 * CHECKSUM is the sum of the payload as 32-bit words in the byte order of the file.
 *
 * FLOATING_POINT says IEEE32 or IEEE64 and BIG or LITTLE; without the line it is IEEE32BIG. A
 * bare IEEE32 or IEEE64 is read as big endian by MILC, QDP++, SIMULATeQCD and GLU, as little by
 * Grid and PyQUDA: here the one that has the stated CHECKSUM is taken, and where neither or both
 * have, the one that has the stated PLAQUETTE.
 *
 * Lines of our own begin with LAT_: LAT_GAUGE, LAT_WEIGHTS, LAT_FUNCTIONAL, LAT_THETA, LAT_SWEEPS,
 * and those of the history (record.h). */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lattice/boundary.h"
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/memory_stream.h"
#include "format.h"
#include "record.h"

#define LIMIT ((size_t)64 << 10) /* of the header */
#define MOST_LINES 256           /* kept as info */

/* Tolerances of the readers in use (QDP++ and Grid: 1e-5 and 1e-5, 1e-6); more where fewer
 * digits are printed, within reason. */
#define PLAQUETTE_WITHIN 1e-5
#define LINK_TRACE_WITHIN 1e-6
#define PRINTED_WITHIN 1e-4

typedef struct nersc {
    char type[64], floating[64], checksum[64], plaquette[64], trace[64];
    char dim[4][64];
    int rows;
    bool big, bare; /* bare: the byte order is not stated */
    bool summed;    /* a checksum is stated */
    uint32_t sum;
} nersc;

static bool probe(const unsigned char *b, size_t n, LAT_UNUSED int64_t size)
{
    static const char word[] = "BEGIN_HEADER";
    return n > sizeof word && memcmp(b, word, sizeof word - 1) == 0 && isspace(b[sizeof word - 1]);
}

/* ---- header ---------------------------------------------------------------------------------- */

/* Cuts blanks off both ends, in the same memory. */
static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    char *end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1]))
        end--;
    *end = 0;
    return s;
}

/* The member for KEY, or NULL: it is information only. */
static char *member_of(nersc *n, const char *key)
{
    const struct {
        const char *key;
        char *at;
    } known[] = {
        {"DATATYPE", n->type},       {"FLOATING_POINT", n->floating}, {"CHECKSUM", n->checksum},
        {"PLAQUETTE", n->plaquette}, {"LINK_TRACE", n->trace},        {"DIMENSION_1", n->dim[0]},
        {"DIMENSION_2", n->dim[1]},  {"DIMENSION_3", n->dim[2]},      {"DIMENSION_4", n->dim[3]},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i].key) == 0)
            return known[i].at;
    return NULL;
}

/* Other keys become info lines, in lower case; the first one counts. */
static int keep_info(lat_header *h, char *key, char *value)
{
    size_t n = strlen(value);
    for (char *c = key; *c; c++)
        *c = (char)(isalnum((unsigned char)*c) || strchr("_.-", *c) ? tolower((unsigned char)*c)
                                                                    : '_');
    if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
        value[n - 1] = 0;
        value++;
    }
    if (!*key || strlen(key) > 60 || !*value || h->info.count >= MOST_LINES || lat_info_get(h, key)
        || strcmp(key, "milc_info") == 0 || strcmp(key, "hdr_version") == 0
        || strcmp(key, "storage_format") == 0)
        return 0;
    if (strncmp(key, "boundary_", 9) == 0 && strcmp(value, "PERIODIC") == 0)
        return 0;
    return lat_info_set(h, key, value);
}

/* A line of ours, without LAT_. */
static int take_ours(const char *name, lat_header *h, char *key, char *value)
{
    if (strncmp(key, "HISTORY_", 8) == 0)
        return lat_record_take_history(h, strchr(key + 8, '_') != NULL, value);
    for (char *c = key; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return lat_record_take(name, h, key, value) < 0 ? -1 : 0;
}

static int take_line(const char *name, nersc *n, lat_header *h, char *line)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return 0;
    *equals = 0;
    char *key = trim(line), *value = trim(equals + 1), *at = member_of(n, key);
    if (!at)
        return strncmp(key, "LAT_", 4) == 0 ? take_ours(name, h, key + 4, value)
                                            : keep_info(h, key, value);
    if (!*at) {
        snprintf(at, sizeof n->type, "%s", value);
        return 0;
    }
    /* The first one counts; but two readers must not see two lattices. */
    return strncmp(key, "DIMENSION_", 10) != 0 || strcmp(at, value) == 0
               ? 0
               : lat_fail("%s: states %s twice, as '%s' and as '%.60s'", name, key, at, value);
}

static int read_lines(lat_input *in, nersc *n, lat_header *h)
{
    char *text = lat_alloc(LIMIT + 1, 1, "a NERSC header");
    if (!text)
        return -1;
    ssize_t got = lat_input_peek(in, text, LIMIT);
    int bad = got < 0 ? -1 : 0;
    size_t at = 0;
    bool ended = false, first = true;
    while (!bad && !ended) {
        char *line = text + at, *newline = memchr(line, '\n', (size_t)got - at);
        if (!newline) {
            bad = lat_fail("%s: expected END_HEADER within %zu bytes, not found (truncated?)",
                           lat_input_name(in), (size_t)got);
            break;
        }
        *newline = 0;
        at = (size_t)(newline - text) + 1;
        if (first && strcmp(trim(line), "BEGIN_HEADER") != 0)
            bad = lat_fail("%s: expected BEGIN_HEADER in the first line", lat_input_name(in));
        else if (strcmp(trim(line), "END_HEADER") == 0)
            ended = true;
        else if (!first)
            bad = take_line(lat_input_name(in), n, h, line);
        first = false;
    }
    free(text);
    return bad ? -1 : lat_input_skip(in, at);
}

static void set_group(nersc *n, lat_header *h, int nc)
{
    n->rows = n->rows < h->nc ? nc - 1 : nc;
    h->nc = nc;
    h->reals = n->rows == nc || nc > 3 ? 2 * nc * nc : 2 * nc * (nc - 1);
}

static int parse_type(const char *name, nersc *n, lat_header *h)
{
    int nc = 0, a = 0, b = 0, end = 0;
    const char *t = n->type;
    if (sscanf(t, "4D_SU%2d_GAUGE%n", &nc, &end) == 1 && end && t[end] == 0 && nc >= 2)
        n->rows = nc - 1;
    else if (end && sscanf(t + end, "_%2dx%2d", &a, &b) == 2 && a == nc && b == nc && nc >= 2)
        n->rows = nc;
    else
        return lat_fail("%s: expected DATATYPE 4D_SUn_GAUGE or 4D_SUn_GAUGE_nxn, found '%s'", name,
                        t);
    char canonical[64];
    snprintf(canonical, sizeof canonical, n->rows == nc ? "4D_SU%d_GAUGE_%dx%d" : "4D_SU%d_GAUGE",
             nc, nc, nc);
    if (strcmp(canonical, t) != 0 || nc > LAT_MAX_COLOURS)
        return lat_fail(
            "%s: expected DATATYPE 4D_SUn_GAUGE or 4D_SUn_GAUGE_nxn, n from 2 to %d, found '%s'",
            name, LAT_MAX_COLOURS, t);
    h->nc = nc;
    set_group(n, h, nc);
    return 0;
}

static int parse_floating(const char *name, nersc *n, lat_header *h)
{
    static const struct {
        const char *word;
        lat_real real;
        bool big, bare;
    } known[] = {
        {"", LAT_F32, true, false}, /* MILC writes no such line */
        {"IEEE32BIG", LAT_F32, true, false},
        {"IEEE64BIG", LAT_F64, true, false},
        {"IEEE32LITTLE", LAT_F32, false, false},
        {"IEEE64LITTLE", LAT_F64, false, false},
        {"IEEE32SMALL", LAT_F32, false, false},
        {"IEEE64SMALL", LAT_F64, false, false},
        {"IEEE32", LAT_F32, true, true},
        {"IEEE64", LAT_F64, true, true},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(n->floating, known[i].word) == 0) {
            h->real = known[i].real;
            n->big = known[i].big;
            n->bare = known[i].bare;
            return 0;
        }
    return lat_fail("%s: expected FLOATING_POINT IEEE32 or IEEE64, with BIG or LITTLE, found '%s'",
                    name, n->floating);
}

static int parse_dims(const char *name, nersc *n, lat_header *h)
{
    for (int i = 0; i < 4; i++) {
        char *end;
        errno = 0;
        long extent = strtol(n->dim[i], &end, 10);
        if (end == n->dim[i] || *end || errno || extent < 1 || extent > 65535)
            return lat_fail("%s: expected DIMENSION_%d from 1 to 65535, found '%s'", name, i + 1,
                            n->dim[i]);
        h->geom.dims[i] = (int)extent;
    }
    return 0;
}

/* A number of the header; NaN where there is none. */
static int parse_number(const char *name, const char *key, const char *text, double *value)
{
    char *end;
    *value = NAN;
    if (!*text)
        return 0;
    *value = strtod(text, &end);
    if (*end || !isfinite(*value))
        return lat_fail("%s: expected a number as %s, found '%s'", name, key, text);
    return 0;
}

static double tolerance(double usual, const char *printed)
{
    return fmax(usual, fmin(PRINTED_WITHIN, 1.01 * lat_printed_error(printed)));
}

/* Checksum, plaquette, link trace. A PLAQUETTE or LINK_TRACE of 0 was never recorded, and neither
 * was a CHECKSUM of 0 beside it (cuLGT writes so). */
static int parse_stated(const char *name, nersc *n, lat_read_context *r)
{
    char *end;
    errno = 0;
    unsigned long long sum = strtoull(n->checksum, &end, 16);
    if (!*n->checksum) {
        if (lat_mismatch(r->force, "%s: expected a CHECKSUM line, found none", name) < 0)
            return -1;
    } else if (*end || errno || n->checksum[0] == '-' || sum > UINT32_MAX) {
        return lat_fail("%s: expected CHECKSUM in at most 8 hexadecimal digits, found '%s'", name,
                        n->checksum);
    }
    if (parse_number(name, "PLAQUETTE", n->plaquette, &r->plaquette) < 0
        || parse_number(name, "LINK_TRACE", n->trace, &r->link_trace) < 0)
        return -1;
    n->sum = (uint32_t)sum;
    n->summed = *n->checksum != 0;
    if (n->summed && (r->plaquette == 0 || r->link_trace == 0)) {
        n->summed = n->sum != 0;
        r->plaquette = r->plaquette == 0 ? NAN : r->plaquette;
        r->link_trace = r->link_trace == 0 ? NAN : r->link_trace;
    }
    r->plaquette_within = tolerance(PLAQUETTE_WITHIN, n->plaquette);
    r->link_trace_within = tolerance(LINK_TRACE_WITHIN, n->trace);
    return 0;
}

static int set_source(lat_header *h, const nersc *n, uint32_t sum)
{
    return lat_set_source(h, "NERSC %s IEEE%d%s, %s %08lx", n->type, 8 * (int)h->real,
                          n->big ? "BIG" : "LITTLE",
                          n->summed ? "checksum" : "no checksum stated, found", (unsigned long)sum);
}

/* Some programs write SU(3) of any group, and a word about numbers of another size: --group says
 * which group it is, and the length both. */
static int check_length(lat_input *in, nersc *n, lat_header *h, const lat_read_context *r)
{
    const int64_t size = lat_input_size(in);
    if (r->hints.nc)
        set_group(n, h, r->hints.nc);
    const uint64_t rest = size < 0 ? 0 : (uint64_t)size - lat_input_offset(in);
    lat_header other = *h; /* borrowed */
    if (size < 0 || rest == lat_payload_bytes(h, n->rows))
        return 0;
    other.real = h->real == LAT_F64 ? LAT_F32 : LAT_F64;
    if (rest == lat_payload_bytes(&other, n->rows))
        return lat_fail("%s: FLOATING_POINT is '%s', and the length is that of numbers of %d bits",
                        lat_input_name(in), n->floating, 8 * (int)other.real);
    other.real = h->real;
    for (other.nc = 2; other.nc <= LAT_MAX_COLOURS; other.nc++)
        if (rest == lat_payload_bytes(&other, n->rows < h->nc ? other.nc - 1 : other.nc))
            return r->hints.nc
                       ? lat_fail("%s: expected the length of SU(%d), as --group says, found that "
                                  "of SU(%d)",
                                  lat_input_name(in), h->nc, other.nc)
                       : lat_fail("%s: DATATYPE is %s, and the length is that of SU(%d): --group "
                                  "%d of lat-convert reads it as that",
                                  lat_input_name(in), n->type, other.nc, other.nc);
    return 0;
}

static int begin(lat_input *in, lat_header *h, lat_payload *p, lat_read_context *r)
{
    nersc *n = lat_format_state(r, sizeof *n);
    const char *name = lat_input_name(in);
    if (!n || read_lines(in, n, h) < 0 || parse_type(name, n, h) < 0
        || parse_floating(name, n, h) < 0 || parse_dims(name, n, h) < 0
        || parse_stated(name, n, r) < 0 || check_length(in, n, h, r) < 0)
        return -1;
    *p = (lat_payload){.big = n->big, .rows = n->rows, .digest = lat_nersc_digest};
    r->ambiguous = n->bare;
    return set_source(h, n, n->sum);
}

/* ---- payload --------------------------------------------------------------------------------- */

/* The field was read as big endian: is it? */
static bool is_big(const lat_field *f, const nersc *n, const lat_nersc_sum *sum,
                   const lat_read_context *r)
{
    const bool big_fits = n->summed && sum->big == n->sum,
               little_fits = n->summed && sum->little == n->sum;
    if (big_fits != little_fits)
        return big_fits;
    /* Read in the wrong order links are of all sizes, and seldom finite. */
    return isnan(r->plaquette) ? fabs(f->head.plaquette) <= 1
                               : fabs(f->head.plaquette - r->plaquette) <= r->plaquette_within;
}

static void make_little(lat_field *f, nersc *n, lat_payload *p)
{
    n->big = p->big = false;
    if (!f->data)
        return;
    lat_field_swap(f);
    if (n->rows < f->head.nc)
        lat_rows_complete(&f->head, f->data, lat_field_matrices(f));
}

static int check_sum(const char *name, const nersc *n, const lat_nersc_sum *sum, bool force)
{
    const uint32_t found = n->big ? sum->big : sum->little, other = n->big ? sum->little : sum->big;
    if (!n->summed || found == n->sum)
        return 0;
    return lat_mismatch(force, "%s: CHECKSUM %lx is stated, %lx found in the data (%s)", name,
                        (unsigned long)n->sum, (unsigned long)found,
                        other == n->sum ? "it fits the other byte order: FLOATING_POINT is wrong"
                                        : "damaged copy?");
}

static int end(lat_input *in, lat_field *f, lat_payload *p, lat_read_context *r)
{
    nersc *n = r->state;
    const lat_nersc_sum *sum = &p->sum.nersc;
    if (n->bare) {
        n->bare = false;
        if (!is_big(f, n, sum, r)) {
            lat_warn("%s: FLOATING_POINT = %s does not say the byte order, and it is little "
                     "endian: so its %s",
                     lat_input_name(in), n->floating,
                     n->summed && sum->little == n->sum ? "CHECKSUM is as stated"
                     : isnan(r->plaquette)              ? "plaquette is at most 1"
                                                        : "PLAQUETTE is as stated");
            make_little(f, n, p);
            return 1;
        }
    }
    if (check_sum(lat_input_name(in), n, sum, r->force) < 0)
        return -1;
    return set_source(&f->head, n, n->big ? sum->big : sum->little);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void info_line(FILE *to, const lat_header *h, const char *upper, const char *key,
                      const char *otherwise)
{
    const char *value = lat_info_get(h, key);
    if (value || otherwise)
        fprintf(to, "%s = %s\n", upper, value ? value : otherwise);
}

/* Grid reads SEQUENCE_NUMBER as a number and stops if it is none; GLU stops at 0, too. So it is 1
 * where the header has none; a 0 that it has is kept. */
static long sequence_number(const lat_header *h)
{
    const char *text = lat_info_get(h, "sequence_number");
    char *end;
    const long number = text ? strtol(text, &end, 10) : 1;
    return text && end == text ? 1 : number;
}

static void print_ours(FILE *to, const char *key, const char *value)
{
    fputs("LAT_", to);
    for (; *key; key++)
        fputc(toupper((unsigned char)*key), to);
    fprintf(to, " = %s\n", value);
}

/* Info lines about the physics of the links, which become info lines again. */
static void print_info(FILE *to, const lat_header *h)
{
    static const char *const kept[][2] = {{"BETA", "beta"},
                                          {"XI", "xi"},
                                          {"XI_AXIS", "xi_axis"},
                                          {"UPDATE", "update"},
                                          {"OVERRELAX", "overrelax"},
                                          {"SEED", "seed"},
                                          {"SWEEP", "sweep"},
                                          {"EVERY", "every"},
                                          {"FLOW_TIME", LAT_INFO_FLOW_TIME},
                                          {"FLOW_ACTION", LAT_INFO_FLOW_ACTION},
                                          {"SMEARING", LAT_INFO_SMEARING},
                                          {"PROJECTION", LAT_INFO_PROJECTION},
                                          {"COPY.SEED", "copy.seed"},
                                          {"ANNEALED_FOR", LAT_INFO_ANNEALED},
                                          {"ANNEALED_WEIGHTS", LAT_INFO_ANNEALED_WEIGHTS},
                                          {"NOT_IN_GROUP", LAT_INFO_NOT_IN_GROUP}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        info_line(to, h, kept[i][0], kept[i][1], NULL);
}

static void print_head(FILE *to, const lat_header *h, int rows, uint32_t sum)
{
    char mean[LAT_MEAN_TEXT];
    fprintf(to, "BEGIN_HEADER\nHDR_VERSION = 1.0\n");
    fprintf(to, rows < h->nc ? "DATATYPE = 4D_SU%d_GAUGE\n" : "DATATYPE = 4D_SU%d_GAUGE_%dx%d\n",
            h->nc, h->nc, h->nc);
    fprintf(to, "STORAGE_FORMAT = 1.0\n");
    for (int i = 0; i < 4; i++)
        fprintf(to, "DIMENSION_%d = %d\n", i + 1, h->geom.dims[i]);
    fprintf(to, "LINK_TRACE = %s\n", lat_mean_text(h->link_trace, mean));
    fprintf(to, "PLAQUETTE = %s\n", lat_mean_text(h->plaquette, mean));
    for (int i = 0; i < 4; i++)
        fprintf(to, "BOUNDARY_%d = %s\n", i + 1, lat_boundary(h, i));
    fprintf(to, "CHECKSUM = %08lx\n", (unsigned long)sum);
    info_line(to, h, "ENSEMBLE_ID", "ensemble_id", "unknown");
    info_line(to, h, "ENSEMBLE_LABEL", "ensemble_label", "unknown");
    fprintf(to, "SEQUENCE_NUMBER = %ld\n", sequence_number(h));
    info_line(to, h, "CREATOR", "creator", "lat-convert " LAT_VERSION);
    info_line(to, h, "CREATOR_HARDWARE", "creator_hardware", NULL);
    info_line(to, h, "CREATION_DATE", "creation_date", NULL);
    info_line(to, h, "ARCHIVE_DATE", "archive_date", NULL);
    print_info(to, h);
    lat_record_gauge(h, print_ours, to);
    lat_record_history(&h->history, to);
    fprintf(to, "FLOATING_POINT = IEEE%dBIG\nEND_HEADER\n", 8 * (int)h->real);
}

static int write_head(lat_output *out, const lat_header *h, const lat_payload *p)
{
    lat_memory_stream m;
    FILE *to = lat_memory_stream_open(&m);
    if (to)
        print_head(to, h, p->rows, p->sum.nersc.big);
    if (!to || lat_memory_stream_close(to, &m) < 0)
        return lat_fail("out of memory for a NERSC header");
    const int bad = lat_output_write(out, m.text, m.n);
    free(m.text);
    return bad ? -1 : 0;
}

const lat_format lat_format_nersc = {
    .name = "nersc",
    .about = "NERSC archive, with and without last rows; written big endian",
    .fewer_rows = 3,
    .takes = LAT_TAKES_GROUP,
    .probe = probe,
    .begin = begin,
    .end = end,
    .stored = {.big = true, .digest = lat_nersc_digest},
    .sums = true,
    .head = write_head,
};
