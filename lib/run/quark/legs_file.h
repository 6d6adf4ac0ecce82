/* SPDX-License-Identifier: BSD-3-Clause */
/* legs_file.h: what lat-quark sums of a propagator (quark/legs.h) as a field of a stream, so that
 * an ensemble is averaged without its propagators (docs/momentum.md).
 *
 * The field is one of modes on one site: its columns are those of S(p), or of S(p1), S(p2) and G of
 * the sixteen bilinears. Its header is that of the propagator, but for the lattice, the residuals
 * and these info lines:
 *     legs.lattice    extents of the lattice, "8 8 8 16"
 *     legs.p          n of the momentum, of 17 digits, with blanks between; of a pair p1
 *     legs.k          of a pair, p2
 *     legs.ward       of a pair, where one is not 0: m1 - m2 and
 *                     twist1 + twist2 (lat_ward) */
#pragma once

#include <stdbool.h>
#include "common/io.h"
#include "lattice/field.h"
#include "quark/legs.h"

/* What they are. */
typedef struct lat_legs_note {
    lat_legs_kind kind;
    double n[2][4];     /* of p1, p2 */
    double mass, twist; /* of lat_ward */
} lat_legs_note;

/* Writes lat_legs_reals numbers. `head` is that of the propagator. All ranks call it, with the same
 * numbers: 0, or -1. */
int lat_legs_write(lat_output *out, const lat_header *head, const lat_legs_note *what,
                   const double *legs);

/* Is it the header of such a field? */
bool lat_legs_noted(const lat_header *head);

/* After lat_stream_head of such a field, on one rank: reads its numbers, which f owns, and makes
 * f->head that of a propagator on the whole lattice again. what->n[1] is n[0] where there is no
 * pair. Returns the numbers, or NULL with a sentence. */
const double *lat_legs_read(lat_input *in, lat_field *f, lat_legs_note *what);
