/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h: where the numbers of a batch lie in the memory of a device.
 *
 * Each own site has a position, sites of odd parity behind those of even parity (`position` of
 * space.h). `side` sites lie side by side; these are a group. Real e of column k at position p is
 * at byte
 *
 *     (p / side) group + k column + ((e / run) side + p % side) run real + (e % run) real
 *
 *                       side     real  run   a batch
 *     CPU   double      lanes    8     1     [block][column][real][lane]
 *           single      lanes    4     1
 *     GPU   double      32       8     2     [column][parity][group][chunk of 16 bytes][32]
 *           single      32       4     4
 *           half        32       2     8     the same, then [32] norms in each group
 *
 * Reals of a spinor are [spin][colour][re, im], in the basis of space.h; on a GPU of 3 colours.
 * Half is fixed point: n of 16 bits without sign stands for (n - 32768)/32767 times a norm, a float
 * of the site and column. Some positions have no site: idle lanes, and the end of a last group.
 * C and C++. */
#pragma once

#include <stdint.h>
#include <string.h>

typedef struct lat_vector_layout {
    int reals, real, side, run; /* of a site and column; bytes of one; see above */
    size_t group, column;       /* bytes */
    size_t norm;                /* half: where in a group of a column norms begin; else 0 */
} lat_vector_layout;

/* The first byte of a real. */
static inline size_t lat_vector_at(const lat_vector_layout *l, int64_t position, int column, int e)
{
    const size_t place = (size_t)(e / l->run * l->side + position % l->side);
    return (size_t)(position / l->side) * l->group + (size_t)column * l->column
           + (place * (size_t)l->run + (size_t)(e % l->run)) * (size_t)l->real;
}

/* What a real is, of a batch's bytes on the host. */
static inline double lat_vector_real(const lat_vector_layout *l, const void *data, int64_t position,
                                     int column, int e)
{
    const char *const at = (const char *)data + lat_vector_at(l, position, column, e);
    double d;
    float f;
    uint16_t n;
    switch (l->real) {
    case 8: memcpy(&d, at, sizeof d); return d;
    case 4: memcpy(&f, at, sizeof f); return f;
    default: break;
    }
    memcpy(&n, at, sizeof n);
    memcpy(&f,
           (const char *)data + (size_t)(position / l->side) * l->group + (size_t)column * l->column
               + l->norm + (size_t)(position % l->side) * sizeof f,
           sizeof f);
    return (n - 32768) / 32767. * f;
}
