/* SPDX-License-Identifier: BSD-3-Clause */
/* format.h: what lat-convert knows about a file format.
 *
 * A format is one file, fmt_NAME.c, that defines one lat_format, and one line in the list in
 * formats.c. Byte order, missing rows, sums and the loop over the payload are in payload.h;
 * what every gauge field must satisfy is checked in validate.c after the reader has returned. */
#ifndef LAT_FORMAT_H
#define LAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lattice/field.h"
#include "common/io.h"
#include "measure/measure.h"
#include "payload.h"

/* What a file does not say about itself, and the command line may. */
typedef struct lat_hints {
    bool ordered; /* --order */
    lat_order order;
    int nc;   /* --group; 0 where not given, as the next one */
    int real; /* --type: LAT_F32 or LAT_F64 */
    int big;  /* --endian: 1 big, 0 little, -1 where not given */
} lat_hints;

/* Between a reader and those who called it. */
typedef struct lat_read_context {
    bool force;        /* in: a wrong stored number is a warning (lat_mismatch) */
    lat_geometry dims; /* in: --dims, for files that do not say; nd = 0 where not given */
    lat_hints told;    /* in */

    /* out: what the file states and how exactly, to be compared with what is measured;
     * NaN where it states nothing. */
    double plaquette, plaquette_within;
    double link_trace, link_trace_within;

    double largest; /* out, of our stream: modulus of a real */

    bool doubtful; /* out: how the links lie is only known when they were read (end) */

    void *own; /* of the format, from lat_own; freed for it */
} lat_read_context;

/* `size` bytes, zero at first, for what a format has to remember between begin and end; the same
 * ones on every call. NULL with lat_error. */
void *lat_own(lat_read_context *r, size_t size);

typedef struct lat_format {
    const char *name;      /* for --from and --to */
    const char *extension; /* usual ending of a file's name */
    const char *about;     /* one line for --list */
    bool many;             /* holds any number of fields one after another */
    bool foreign;          /* not ours: what it holds has to be judged */
    int fewer_rows;        /* can leave out the last row: of SU(2); 3: and of SU(3); 0: of none */
    lat_real only;         /* the only precision it can hold, 0 = any */
    bool told;             /* what --order, --group, --type and --endian are for */
    int nd, nc;            /* the only number of dimensions and of colours it holds, 0 = any */

    /* True if the n first bytes (at most LAT_PROBE) of a file of `size` bytes (-1 where not
     * known) begin this format. NULL: it cannot be told, --from names it. */
    bool (*probe)(const unsigned char *bytes, size_t n, int64_t size);

    /* Up to the first byte of the links: fills in the header and how the links lie. NULL: our
     * stream. What lat_error blames starts with lat_input_name; memory is taken only for what
     * lat_expect_bytes has seen. */
    int (*begin)(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r);

    /* After the last byte of the links, p->sum their sum and plaquette and link_trace of f->head as
     * measured: reads what else there is, and disputes checksums that are wrong. f->data: the
     * links, or NULL if they went by slice by slice. 0; -1; or 1: *p says now how the links lie,
     * and f->data, if there, was turned accordingly; they are read (or only measured) once more.
     * NULL: nothing to do. */
    int (*end)(lat_input *in, lat_field *f, lat_payload *p, lat_read_context *r);

    /* What it holds has to fit: even extents, counters of 16 bits. NULL: nothing more than the
     * above. */
    int (*admit)(const char *name, const lat_header *head);

    /* How it stores such a field: precision head->real, head->reals a matrix. NULL: read only. */
    void (*lay)(const lat_header *head, const lat_hints *told, lat_payload *p);

    /* What comes before the links, p->sum their sum if `sums` (they went through before, being
     * written or not), and what comes after, p->sum their sum in any case. head->plaquette and
     * link_trace are those of the numbers as they are written. NULL: nothing. Into a file that
     * nobody sees yet the links go first, after a head in which these numbers are not yet known
     * (0), whose place the true one takes if it is as long. So numbers are printed in a fixed width
     * (lat_mean_text). */
    bool sums;
    int (*head)(lat_output *out, const lat_header *head, const lat_payload *p);
    int (*tail)(lat_output *out, const lat_header *head, const lat_payload *p);
} lat_format;

#define LAT_PROBE 4096
#define LAT_MEAN_TEXT 330
#define LAT_AHEAD (64 << 10) /* as far as lat_input_peek sees */

/* The list, NULL at the end. */
extern const lat_format *const lat_formats[];

/* The format of the input told by its first bytes; NULL with a sentence that names what it is,
 * where that is known, and what to do. */
const lat_format *lat_format_of(lat_input *in);

/* Names of formats that are told by their first bytes but not read, NULL at the end. */
const char *lat_format_refused(size_t i);

/* For probes: the product of four extents of 32 bits, 0 unless each is from 1 to 1024; and whether
 * a file of `size` bytes holds just these (on a pipe, where the size is not known, yes). */
uint64_t lat_probe_volume(const unsigned char *b, bool big);
bool lat_probe_size(int64_t size, uint64_t bytes);

/* Four extents of 32 bits in a header, in the order x, y, z, t or t, x, y, z; whatever they are, to
 * be seen to by lat_header_check. */
void lat_dims_load(lat_geometry *geom, const unsigned char *b, bool big, bool time_first);
void lat_dims_store(const lat_geometry *geom, unsigned char *b, bool big, bool time_first);

/* A stated plaquette times `scale`, into r: finite and at most 1, or it is none. */
int lat_take_plaquette(lat_input *in, lat_read_context *r, double stated, double scale);

/* A plaquette or link trace in 17 characters; more only where its modulus is 10 or more. Returns
 * text. */
const char *lat_mean_text(double mean, char text[LAT_MEAN_TEXT]);

/* Something in the file contradicts something else: lat_fail, or with force only lat_warn and 0. */
int lat_mismatch(bool force, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Half a unit of the last digit printed in `text`: "0.571077" is exact to 5e-7. */
double lat_printed_error(const char *text);

/* `need` more bytes, for which `memory` bytes are going to be taken: fails at once where the input
 * has fewer, so that no memory is taken for what a header only promises. A file is known to have
 * them. Of a pipe, which is not, 64 KiB or a 16th of the memory have to have come. */
int lat_expect_bytes(lat_input *in, uint64_t need, uint64_t memory, const char *what);

/* For formats that do not say their extents, or where links begin but for how far from the end:
 * --dims has to be given, and the input a file and not a pipe. */
int lat_need_dims(lat_input *in, const lat_read_context *r);
int lat_need_size(lat_input *in);

/* The info line "source": where a field came from. */
__attribute__((format(printf, 2, 3))) int lat_says(lat_header *head, const char *format, ...);

/* To the end of a file that holds one field: blanks and NULs may follow, the rest is disputed. */
int lat_expect_end(lat_input *in, bool force);

#endif
