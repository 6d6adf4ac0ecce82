/* SPDX-License-Identifier: BSD-3-Clause */
/* join.h: 4N spinors, the solutions for all spins and colours of a source, become a propagator.
 *
 *     lat_join j = {.count = 0};
 *     while (..) if (lat_join_add(&j, name, &psi) > 0) { use j.whole; lat_join_free(&j) }
 *     lat_join_end(&j), lat_join_free(&j) */
#pragma once

#include "lattice/field.h"

typedef struct lat_join {
    lat_field whole;
    double *residual; /* NULL: not all are known */
    int count;        /* columns that it has */
} lat_join;

/* The next column: 1 if `whole` is complete, 0, or -1 with a sentence that begins with `name`,
 * where psi is no spinor, or is not of the lattice, the precision, the operator, the links and the
 * source of the first one, or its source says that it is another column ("point:0,0,0,0, column 7",
 * as lat-solve --columns writes it), or it is one of the columns before, number for number. Columns
 * come in order: spin slow, colour fast. */
int lat_join_add(lat_join *j, const char *name, const lat_field *psi);

/* 0, or -1 where columns are missing. */
int lat_join_end(const lat_join *j);

void lat_join_free(lat_join *j); /* may be used again */
