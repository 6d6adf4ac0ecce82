/* SPDX-License-Identifier: BSD-3-Clause */
/* format.h: a file format of another program.
 *
 * A format is one file, fmt_NAME.c, that defines one lat_format, and one line in the list in
 * formats.c. Byte order, missing rows, checksums and the loop over the links are in payload.h. What
 * every gauge field must satisfy is checked in validate.c, after the reader has returned. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lattice/field.h"
#include "common/io.h"
#include "measure/measure.h"
#include "payload.h"

/* What a file does not state, and options may. */
typedef struct lat_hints {
    bool ordered; /* --order */
    lat_order order;
    int nc;   /* --group; 0 where not given, as the next one */
    int real; /* --type: LAT_F32 or LAT_F64 */
    int big;  /* --endian: 1 big, 0 little, -1 where not given */
} lat_hints;

/* Between a reader and its caller. */
typedef struct lat_read_context {
    bool force;        /* in: what is stated and wrong is a warning (lat_mismatch) */
    lat_geometry dims; /* in: --dims, for files that do not state extents; nd = 0 where not given */
    lat_hints hints;   /* in */
    const struct lat_format *format; /* in: whose file it is */

    /* out: what the file states and to which accuracy, to be compared with what is measured; NaN
     * where it states nothing. */
    double plaquette, plaquette_within;
    double link_trace, link_trace_within;

    bool sums_agree;  /* out: both checksums of the file are those of the links */
    bool no_checksum; /* out: the file states none, and its format has one */

    double largest; /* out, of our stream: largest modulus of a real */

    bool vouched; /* out, of a format that is unvouched: this file says extents and order */

    bool ambiguous; /* out: byte order or order of the links is known only after they are read (end)
                     */

    void *state; /* of the format, by lat_format_state; freed by the caller */
} lat_read_context;

/* `size` bytes, zero at first, for what a format keeps from begin to end; the same ones on every
 * call. NULL with lat_error set. */
void *lat_format_state(lat_read_context *r, size_t size);

/* What a format holds, if it is no format of links: bits. */
enum { LAT_HOLDS_PROPAGATORS = 1, LAT_HOLDS_SPINORS = 2 };

/* What M^-1 of docs/format.md is divided by in a file: 1, 2 kappa, or as usual in its format. */
typedef enum { LAT_NORM_FORMAT, LAT_NORM_MASS, LAT_NORM_KAPPA } lat_norm;

/* Options about what a file does not state; a raw one takes all of them. */
enum { LAT_TAKES_ORDER = 1, LAT_TAKES_GROUP = 2, LAT_TAKES_TYPE = 4, LAT_TAKES_ALL = 7 };

struct lat_quark_hints; /* quarks.h */

/* A part of a field of spinors as a file has it: an array of reals without gaps, its axes slowest
 * first as letters: t z y x; S C spin and colour of the source, s c of the sink; i re, im. Axes
 * that are not named, S and C alone, have one value. */
typedef struct lat_quark_array {
    const char *axes;
    bool big;           /* big endian */
    size_t column;      /* where S and C are not named */
    lat_digest *digest; /* checksum of the bytes, in units of `unit` bytes; NULL: none */
    lat_sum *sum;       /* of the digest */
    size_t unit;        /* bytes of a site */
} lat_quark_array;

/* Is the n bytes b, the first ones of a file of `size` bytes (-1 where not known), of a format? */
typedef bool lat_probe(const unsigned char *b, size_t n, int64_t size);

/* What is 0 or NULL need not be named. All formats but our stream hold fields of four dimensions,
 * and those of spinors SU(3). */
typedef struct lat_format {
    const char *name;      /* for --from and --to */
    const char *extension; /* usual ending of the name of a file; NULL: "." and `name`, which is one
                            * in any case */
    const char *also;      /* another ending, or NULL */
    const char *about;     /* one line for --list */
    const char *source;    /* info line of what is read, where the reader does not set it */
    const char *program;   /* for the reader's own text about the source */
    bool stream;     /* ours: any number of fields one after another, which verify themselves; files
                      * of all others hold one, which is validated */
    int fewer_rows;  /* can omit the last row: 2: of SU(2), 3: of SU(2) and SU(3), 0: of none */
    lat_real only;   /* the only precision it can hold, 0 = any */
    bool unvouched;  /* nothing in the file says that --dims and the other options are right */
    int takes;       /* LAT_TAKES_..: which of --order, --group, --type and --endian are for it */
    lat_hints known; /* those of them that the format has where they are not given */
    bool after_head; /* of these, some header is before the links */
    int nc;          /* the only number of colours of its links, 0 = any */

    /* How files are recognised: they begin with one of these texts; or their first 32 bits are one
     * of these numbers in either byte order; or this says so of the first bytes, at most LAT_PROBE.
     * None: --from names the format. */
    const char *begins[2];
    uint32_t magic[2];
    const char *lime[2]; /* or they are LIME, and have one of these texts in the first bytes */
    lat_probe *probe;
    /* A file that is recognised, and is another format's that comes later in the list; NULL: none.
     */
    bool (*leaves)(lat_input *in);

    /* Reads up to the first byte of the links; fills in the header and how the links are stored:
     * *p is `stored` before, and rows is N after it where that is 0. NULL: our stream, or spinors.
     * A sentence in lat_error begins with lat_input_name; no memory is allocated before
     * lat_expect_bytes has succeeded. 0 or -1. */
    int (*begin)(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r);
    /* Frees what the state points to; NULL: nothing. */
    void (*drop)(void *state);

    /* Reads what follows the last byte of the links; compares stated checksums with p->sum
     * (lat_mismatch). f->head has the measured plaquette and link trace; f->data has the links, or
     * is NULL if they were read slice by slice. 0; -1; or 1: *p has changed, f->data, if it is
     * there, was rearranged accordingly, and the links have to be read (or measured) once more.
     * NULL: nothing follows. */
    int (*end)(lat_input *in, lat_field *f, lat_payload *p, lat_read_context *r);

    /* Of spinors: what of `head` a file that is written states, in `kept`. NULL: nothing. */
    int (*keeps)(const lat_header *head, lat_header *kept);

    /* Can it hold the field: even extents, 16-bit counters, ..? 0 or -1. NULL: all that is within
     * the limits above. */
    int (*admit)(const char *name, const lat_header *head);

    /* How it stores a field of precision head->real, head->reals a matrix; `layout` changes what is
     * otherwise in a field like this. rows = 0: all, or as fewer_rows and head->reals say. */
    lat_payload stored;
    void (*layout)(const lat_header *head, const lat_hints *hints, lat_payload *p);

    /* Writes what comes before the links, and what comes after them; p->sum is the checksum of the
     * links. `sums`: `head` needs it, too, so the links are read before it is written. NULL:
     * nothing to write; without `head` and `layout` it is only read. head->plaquette and link_trace
     * belong to the numbers as they are written. Into a file that is not visible yet the links are
     * written first, after a head in which these numbers are 0. The final head replaces it if it
     * has the same length. So numbers are printed with a fixed width (lat_mean_text). */
    bool sums;
    int (*head)(lat_output *out, const lat_header *head, const lat_payload *p);
    int (*tail)(lat_output *out, const lat_header *head, const lat_payload *p);

    /* ---- of spinors and propagators, in place of begin to tail ---- */

    int quarks;        /* LAT_HOLDS_..: which; 0: gauge fields */
    bool proven;       /* compared with a file of the program; else made from its source */
    lat_norm norm;     /* LAT_NORM_FORMAT: as LAT_NORM_MASS */
    const char *basis; /* NULL: LAT_BASIS */

    /* The file is this array of the extents of --dims, of precision `only`, where the functions
     * below are NULL. */
    lat_quark_array array;

    /* Reads a field: f->head is initialised; sets its extents and what else is stated, makes it a
     * header of spinors, and allocates and fills the data; sets h->unvouched. 0 or -1. */
    int (*read)(lat_input *in, lat_field *f, struct lat_quark_hints *h);
    int (*write)(lat_output *out, const lat_field *f);
} lat_format;

#define LAT_PROBE 4096
#define LAT_MEAN_TEXT 330
#define LAT_PEEK (64 << 10) /* the most that lat_input_peek gives */

/* The list, NULL at the end. */
extern const lat_format *const lat_formats[];

/* Do the n bytes begin with this text, or with this number in either byte order? */
bool lat_begins(const unsigned char *b, size_t n, const char *text);
bool lat_begins_number(const unsigned char *b, size_t n, uint32_t number);

/* Are these first bytes of a file of this format? */
bool lat_format_fits(const lat_format *f, const unsigned char *b, size_t n, int64_t size);

/* How the format stores such a field. */
lat_payload lat_format_layout(const lat_format *f, const lat_header *head, const lat_hints *hints);

/* Can it be written? */
bool lat_format_writes(const lat_format *f);

/* The format of the input, recognised by its first bytes. NULL with lat_error set, which names a
 * file that is recognised and not read, and says what to do. */
const lat_format *lat_format_of(lat_input *in);

/* Names of formats that are recognised and not read, NULL at the end. */
const char *lat_format_refused(size_t i);

/* Is this (".h5") an extension of such files? */
bool lat_format_extension_refused(const char *extension);

/* For probes: the product of four 32-bit extents, 0 unless each is from 1 to 1024; and whether a
 * file of `size` bytes has exactly these many (on a pipe, where the size is not known, true). */
uint64_t lat_probe_volume(const unsigned char *b, bool big);
bool lat_probe_size(int64_t size, uint64_t bytes);

/* Four 32-bit extents in a header, in the order x, y, z, t or t, x, y, z. Their values are not
 * checked here; lat_header_check does that. */
void lat_dims_load(lat_geometry *geom, const unsigned char *b, bool big, bool time_first);
void lat_dims_store(const lat_geometry *geom, unsigned char *b, bool big, bool time_first);

/* r->plaquette = stated * scale: 0, or -1 where its modulus is above 1 or it is not finite. */
int lat_take_plaquette(lat_input *in, lat_read_context *r, double stated, double scale);

/* A plaquette or link trace in 17 characters, more only where its modulus is 10 or more. Returns
 * text. */
const char *lat_mean_text(double mean, char text[LAT_MEAN_TEXT]);

/* A mismatch between what a file states and what it holds: lat_fail; with force lat_warn and 0. */
int lat_mismatch(bool force, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Half a unit of the last digit in `text`: "0.571077" is exact to 5e-7. */
double lat_printed_error(const char *text);

/* Expects `need` more bytes, for which `memory` bytes will be allocated: -1 where the input has
 * fewer, so that no memory is taken for what a header only promises. The size of a file is known.
 * From a pipe 64 KiB or a 16th of the memory must have arrived. */
int lat_expect_bytes(lat_input *in, uint64_t need, uint64_t memory, const char *what);

/* head->geom = --dims, for formats that do not state their extents; -1 where it is not given. */
int lat_take_dims(lat_input *in, lat_geometry *geom, const lat_geometry *dims);

/* For formats whose links are the end of the file: -1 where the input is a pipe; skips what is
 * before the links, which have p->rows. */
int lat_need_size(lat_input *in);
int lat_skip_to_links(lat_input *in, const lat_header *head, int rows);

/* Sets the info line "source": which format the field was read from. 0 or -1. */
__attribute__((format(printf, 2, 3))) int lat_set_source(lat_header *head, const char *format, ...);

/* Reads to the end of a file that holds one field. White space may follow, and zero bytes, which
 * get a warning; anything else is a mismatch. */
int lat_expect_end(lat_input *in, bool force);
