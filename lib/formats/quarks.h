/* SPDX-License-Identifier: BSD-3-Clause */
/* quarks.h: spinors and quark propagators in files of other programs.
 *
 * A format is one lat_format (format.h) whose `quarks` says what it holds. Its reader gives the
 * numbers as the file has them, in natural order. lat_quarks_read and _write change spin
 * basis and normalisation, in double precision and with one rounding.
 *
 * A field is in memory as a whole; or ranks read it side by side, each its slab: all of them read
 * what is before, between and after the numbers, and add up checksums. */
#pragma once

#include "format.h"
#include "quark/gamma.h"

/* What a file does not state, and options may. */
typedef struct lat_quark_hints {
    const lat_format *format;  /* of the file; lat_quarks_read sets it */
    lat_geometry dims;         /* nd = 0 where not given */
    const lat_basis *basis;    /* of the foreign file; NULL: the usual one of its format */
    lat_norm norm;             /* likewise */
    double kappa;              /* NaN where not given */
    const char *dataset;       /* of HDF5; NULL: the only one */
    char order[5];             /* of the sites, slowest first, where arrays do not state it; "" */
    const char *source;        /* what was solved for; NULL: what the file states */
    const lat_phase *boundary; /* of quarks, x to t; likewise */
    const double *spread; /* angles of it, in units of pi, that the program has in all links of an
                             axis in equal parts; NULL: none */
    const lat_comm *comm; /* ranks that have all opened the file (lat_input_everywhere) and share
                             the field; NULL: this one alone */
    bool force;           /* what is stated and wrong is a warning */
    bool unvouched;       /* out, of a reader: nothing vouches for the order of the sites */
    bool no_checksum;     /* of an algorithm that is not known any more */
} lat_quark_hints;

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
 * this precision, 0: in the file's precision. With h->comm all its ranks call it, and have the
 * sentence of the first one that fails. 0 and a field to be freed, or -1. */
int lat_quarks_read(lat_input *in, lat_field *f, const lat_format *from, const lat_quark_hints *h,
                    int real);

/* Writes f, whose numbers are changed to the file's; `name` names where they come from.
 * 0 or -1. */
int lat_quarks_write(const char *name, lat_output *out, lat_field *f, const lat_format *to,
                     const lat_quark_hints *h, int real);

/* ---- for formats ----------------------------------------------------------------------------- */

/* Bytes of such an array of f in a file. */
uint64_t lat_quark_array_bytes(const lat_header *head, const lat_quark_array *a);

/* The next bytes of the file to the numbers of f, and back. Reals of the file are of head.real. Of
 * a field that ranks share, each reads its slab, and the checksum becomes that of all of them.
 * write with out NULL computes the checksum alone. 0 or -1. */
int lat_quark_array_read(lat_input *in, lat_field *f, const lat_quark_array *a);
int lat_quark_array_write(lat_output *out, const lat_field *f, const lat_quark_array *a);

/* Of an axis, one of these letters: its extent, and the reals between two of its values. */
void lat_quark_axis(char axis, const lat_header *head, size_t *extent, size_t *stride);

/* Extents and axes of an array whose sites have the order of these four letters, slowest first, and
 * which has these extents; spins and colours follow, those of sink and source in turn. */
#define LAT_QUARK_AXES 12
void lat_quark_take_order(lat_geometry *geom, char axes[LAT_QUARK_AXES], const char *order,
                          lat_kind kind, const uint64_t *extent);

/* Reads a field that is one such array from here on; f->head has its extents and precision, which
 * are checked. 0 or -1. */
int lat_quark_read_whole(lat_input *in, lat_field *f, lat_kind kind, const lat_quark_array *a);

/* Makes f->head, whose extents and precision are set, one of SU(3) spinors of this kind, checks it,
 * expects `bytes` more bytes, and allocates the data, shared by the ranks of f->comm. 0 or -1. */
int lat_quark_alloc(lat_input *in, lat_field *f, lat_kind kind, uint64_t bytes);

/* Ranks may fail at any place of a reader, and each alone. So before they do something together
 * (f->comm) they meet: 0 if all have come here with rc >= 0, else -1 on all of them, which then
 * leave the reader. On one rank: rc. */
int lat_quark_meet(const lat_field *f, int rc);

/* After the reader all ranks come here: 0, and f is shared, ghosts included; or -1 on all of them,
 * with the sentence of the first one that has failed. */
int lat_quark_meet_at_end(const char *name, lat_field *f, const lat_comm *comm, int rc);
