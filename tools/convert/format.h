/* SPDX-License-Identifier: BSD-3-Clause */
/* format.h: what lat-convert knows about a file format.
 *
 * A format is one file, fmt_NAME.c, that defines one lat_format, and one line in the list in
 * formats.c. Byte order, missing rows, sums and the loop over the payload are in payload.h;
 * what every gauge field must satisfy is checked in judge.c after the reader has returned. */
#ifndef LAT_FORMAT_H
#define LAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/field.h"
#include "common/io.h"

/* What a file does not say about itself, and the command line may. */
typedef struct lat_told {
    bool ordered;    /* --order */
    lat_order order;
    int nc;          /* --group; 0 where not given, as the next one */
    int real;        /* --type: LAT_F32 or LAT_F64 */
    int big;         /* --endian: 1 big, 0 little, -1 where not given */
} lat_told;

/* Between a reader and those who called it. */
typedef struct lat_reading {
    bool force;        /* in: a wrong stored number is a warning (lat_dispute) */
    lat_geometry dims; /* in: --dims, for files that do not say; nd = 0 where not given */
    lat_told told;     /* in */

    /* out: what the file states and how exactly, to be compared with what is measured;
     * NaN where it states nothing. */
    double plaquette, plaquette_within;
    double link_trace, link_trace_within;
} lat_reading;

typedef struct lat_writing {
    int store;     /* LAT_STORE_..., our stream only */
    lat_told told; /* raw files only */
} lat_writing;

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

    /* Reads the next field: 1 and a field to be freed, 0 at the end of the input (formats with
     * `many`; the others are called once), -1 with lat_error. Stored checksums are verified
     * here. Whatever lat_error blames starts with lat_input_name. On -1 nothing is to be freed. */
    int (*read)(lat_input *in, lat_field *f, lat_reading *r);

    /* What it holds has to fit: even extents, counters of 16 bits. NULL: nothing more than the above. */
    int (*admit)(const char *name, const lat_header *head);

    /* Writes f as it is: precision f->head.real, f->head.reals a matrix; head.plaquette and
     * link_trace are those of the numbers in memory. NULL: read only. */
    int (*write)(lat_output *out, lat_field *f, const lat_writing *w);
} lat_format;

#define LAT_PROBE 4096
#define LAT_AHEAD (64 << 10) /* as far as lat_input_peek sees */

/* The list, NULL at the end. */
extern const lat_format *const lat_formats[];

/* The format of the input told by its first bytes; NULL with a sentence that names what it is,
 * where that is known, and what to do. */
const lat_format *lat_format_of(lat_input *in);

/* Names of formats that are told by their first bytes but not read, NULL at the end. */
const char *lat_format_refused(size_t i);

/* For probes: the product of four extents of 32 bits, 0 unless each is from 1 to 1024; and whether a
 * file of `size` bytes holds just these (on a pipe, where the size is not known, yes). */
uint64_t lat_probe_volume(const unsigned char *b, bool big);
bool lat_probe_size(int64_t size, uint64_t bytes);

/* Four extents of 32 bits in a header, in the order x, y, z, t or t, x, y, z; whatever they are, to be
 * seen to by lat_header_check. */
void lat_dims_load(lat_geometry *geom, const unsigned char *b, bool big, bool time_first);
void lat_dims_store(const lat_geometry *geom, unsigned char *b, bool big, bool time_first);

/* A stated plaquette times `scale`, into r: finite and at most 1, or it is none. */
int lat_take_plaquette(lat_input *in, lat_reading *r, double stated, double scale);

/* Something in the file contradicts something else: lat_fail, or with force only lat_warn and 0. */
int lat_dispute(bool force, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Half a unit of the last digit printed in `text`: "0.571077" is exact to 5e-7. */
double lat_printed_error(const char *text);

/* `need` more bytes: fails at once where the input is known to have fewer (the size of a file; a
 * pipe that ends within 64 KiB), so that no memory is taken for what a header only promises. */
int lat_expect_bytes(lat_input *in, uint64_t need, const char *what);

/* For formats that do not say their extents, or where links begin but for how far from the end: --dims
 * has to be given, and the input a file and not a pipe. */
int lat_need_dims(lat_input *in, const lat_reading *r);
int lat_need_size(lat_input *in);

/* To the end of a file that holds one field: blanks and NULs may follow, the rest is disputed. */
int lat_expect_end(lat_input *in, bool force);

/* judge.c: measures plaquette and link trace into f->head, unless the reader has; refuses numbers that are not finite,
 * and disputes links that are not in SU(N) (telling fat links, open boundaries and folded signs
 * apart, in info lines too) and a plaquette or link trace other than r says. */
int lat_judge(const char *name, lat_field *f, const lat_reading *r);

#endif
