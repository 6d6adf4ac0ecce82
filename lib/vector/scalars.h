/* SPDX-License-Identifier: BSD-3-Clause */
/* scalars.h: the scalars of an iteration, where its device computes.
 *
 * An iteration has rows of a complex number a column (steps.h). An operator or a pass whose end
 * names a step makes new ones from its sums, and passes take their coefficients from rows. The
 * host reads what steps report: at once on the CPU; on a GPU, whose kernels it does not wait for,
 * that of the iteration before, while the present one runs. C and C++. */
#pragma once

#include "vector/steps.h"

#define LAT_VECTOR_COLUMNS 64 /* of a batch, at most */

struct lat_part;
struct lat_space;

/* Opaque; the host's is the struct below. */
typedef struct lat_scalars lat_scalars;

/* 0 or a pointer, or -1 or NULL with lat_error set. Columns are those of the part. */
typedef struct lat_scalar_ops {
    lat_scalars *(*open)(struct lat_space *s); /* all 0 */
    void (*close)(lat_scalars *s);             /* NULL is allowed */
    int (*set)(lat_scalars *s, const struct lat_part *p, lat_row row, const lat_scalar *to);

    /* number[column]: what this step has reported, the last time or, with ago 1, the time before.
     * The part is that of the step. */
    int (*read)(lat_scalars *s, const struct lat_part *p, lat_scalar_step step, int ago,
                double *number);
} lat_scalar_ops;

/* A coefficient of a pass, a number a column: the host's (NULL: 1), or a row of scalars. */
typedef struct lat_coefficient {
    const lat_scalar *number;
    const lat_scalars *scalars; /* NULL: the host's */
    lat_row row;
} lat_coefficient;

static inline lat_coefficient lat_number(const lat_scalar *number)
{
    const lat_coefficient c = {number, NULL, LAT_ROW_GAMMA};
    return c;
}

static inline lat_coefficient lat_row_of(const lat_scalars *s, lat_row row)
{
    const lat_coefficient c = {NULL, s, row};
    return c;
}

struct lat_scalars {
    lat_scalar row[LAT_ROWS][LAT_VECTOR_COLUMNS];
    double number[LAT_STEPS][2][LAT_VECTOR_COLUMNS]; /* reported, in turn */
    long taken[LAT_STEPS];
};

extern const lat_scalar_ops lat_scalars_host;

/* Takes a step of the part's columns; sum[active column][numbers]. */
void lat_scalars_take(lat_scalars *s, const struct lat_part *p, lat_scalar_step step,
                      double epsilon, int numbers, const double *sum);

static inline const lat_scalar *lat_coefficient_host(lat_coefficient c)
{
    return c.scalars ? c.scalars->row[c.row] : c.number;
}
