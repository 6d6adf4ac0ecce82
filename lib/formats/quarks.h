/* SPDX-License-Identifier: BSD-3-Clause */
/* quarks.h: spinors and quark propagators in files of other programs.
 *
 * A format is one lat_format (format.h) whose `quarks` points to a lat_quark_format. Its reader
 * gives the numbers as the file has them, in natural order. lat_quarks_read and _write change spin
 * basis and normalisation, in double precision and with one rounding. A field is in memory as a
 * whole. */
#ifndef LAT_QUARKS_H
#define LAT_QUARKS_H

#include "format.h"
#include "quark/gamma.h"

/* What M^-1 of docs/format.md is divided by in a file. */
typedef enum { LAT_NORM_FORMAT, LAT_NORM_MASS, LAT_NORM_KAPPA } lat_norm; /* -, 1, 2 kappa */

/* What a file does not state, and options may. */
typedef struct lat_quark_hints {
    lat_geometry dims;         /* nd = 0 where not given */
    const lat_basis *basis;    /* of the foreign file; NULL: the usual one of its format */
    lat_norm norm;             /* likewise */
    double kappa;              /* NaN where not given */
    const char *dataset;       /* of HDF5; NULL: the only one */
    const char *source;        /* what was solved for; NULL: what the file states */
    const lat_phase *boundary; /* of quarks, x to t; likewise */
    const double *spread; /* angles of it, in units of pi, that the program has in all links of an
                             axis in equal parts; NULL: none */
    bool force;           /* what is stated and wrong is a warning */
    bool no_checksum;     /* of an algorithm that is not known any more */
} lat_quark_hints;

typedef struct lat_quark_format {
    bool propagator, spinor; /* which it holds */
    bool proven;             /* compared with a file of the program; else made from its source */
    lat_norm norm;
    const char *basis;

    /* Reads a field: f->head is initialised; sets its extents and what else is stated, makes it a
     * header of spinors, and allocates and fills the data. 0 or -1. NULL: only written. */
    int (*read)(lat_input *in, lat_field *f, const lat_quark_hints *h);
    int (*write)(lat_output *out, const lat_field *f); /* NULL: only read */
} lat_quark_format;

/* The boundary of quarks in the header of spinors: what the header states stays, where `boundary`
 * is it or is NULL; another one is a mismatch. 0 or -1. */
int lat_quarks_state_boundary(const char *name, lat_header *head, const lat_phase *boundary,
                              bool force);

/* What h says of a field in our basis: its boundary and its source in the header, as above; and
 * with `spread` the phases exp(i pi theta (x - x0)/L) on its numbers that bring the angles to the
 * boundary, x0 the place of the source. 0 or -1. */
int lat_quarks_state(const char *name, lat_field *f, const lat_quark_hints *h);

/* A propagator whose twelve sources are the unit vectors of this basis, and whose sinks are in
 * ours: in ours both. */
void lat_quarks_source_basis(lat_field *f, const lat_basis *b);

/* What M^-1 is divided by in files of this format, which holds spinors. */
lat_norm lat_quarks_norm(const lat_format *format, const lat_quark_hints *h);

/* Reads the field of a file of such a format: in the basis of DeGrand and Rossi, M^-1; `real`: in
 * this precision, 0: in the file's precision. 0 and a field to be freed, or -1. */
int lat_quarks_read(lat_input *in, lat_field *f, const lat_format *from, const lat_quark_hints *h,
                    int real);

/* Writes f, whose numbers are changed to the file's; `name` names where they come from.
 * 0 or -1. */
int lat_quarks_write(const char *name, lat_output *out, lat_field *f, const lat_format *to,
                     const lat_quark_hints *h, int real);

/* ---- for formats ----------------------------------------------------------------------------- */

/* A part of a field as a file has it: an array of reals without gaps, its axes slowest first as
 * letters: t z y x; S C spin and colour of the source, s c of the sink; i re, im. Axes that are not
 * named have one value. */
typedef struct lat_quark_array {
    const char *axes;
    bool big;           /* big endian */
    size_t column, t;   /* where S, C and where t are not named */
    lat_digest *digest; /* checksum of the bytes, in units of `unit` bytes; NULL: none */
    void *sum;          /* of the digest */
    size_t unit;        /* bytes of a site */
} lat_quark_array;

/* Bytes of such an array of f in a file. */
uint64_t lat_quark_array_bytes(const lat_header *head, const lat_quark_array *a);

/* The next bytes of the file to the numbers of f, and back. Reals of the file are of head.real.
 * write with out NULL computes the checksum alone. 0 or -1. */
int lat_quark_array_read(lat_input *in, lat_field *f, const lat_quark_array *a);
int lat_quark_array_write(lat_output *out, const lat_field *f, const lat_quark_array *a);

/* The same of an array in memory, in the byte order of this machine: the numbers of f become the
 * numbers of the array (set), or the array the numbers of f (take). */
void lat_quark_array_set(lat_field *f, const lat_quark_array *a, void *reals);
void lat_quark_array_take(const lat_field *f, const lat_quark_array *a, void *reals);

/* Makes f->head, whose extents and precision are set, one of SU(3) spinors of this kind, checks it,
 * expects `bytes` more bytes, and allocates the data. 0 or -1. */
int lat_quark_alloc(lat_input *in, lat_field *f, lat_kind kind, uint64_t bytes);

#endif
