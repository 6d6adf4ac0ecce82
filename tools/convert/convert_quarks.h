/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_quarks.h: lat-convert of spinors and propagators, which are in memory as a whole. */
#pragma once

#include "formats/quarks.h"

/* 4N spinors, the solutions for all spins and colours of a source, become a propagator. */
typedef struct lat_join {
    lat_field whole;
    double *residual; /* NULL: not all are known */
    int count;        /* columns that it has */
} lat_join;

/* 0, or -1 where columns are missing. */
int lat_join_end(const lat_join *j);
void lat_join_free(lat_join *j); /* may be used again */

typedef struct lat_convert_quarks {
    const char *milc_info; /* a file beside the input, or NULL */
    lat_quark_hints hints;
    const lat_format *target;
    int real;             /* precision of what is written; 0: as it is read */
    const char *of_links; /* an option that was given and is for matrices; NULL: none */

    bool join;                /* 12 fields become one */
    const lat_basis *sources; /* of them: unit vectors of this basis; NULL: of the files' basis */
    lat_join joined;
    const lat_basis *basis; /* of the files of `joined` */
    long written;           /* fields of --join */
} lat_convert_quarks;

/* All fields of a file of `format`: 0, or -1. */
int lat_convert_quarks_file(lat_convert_quarks *c, lat_input *in, lat_output *out,
                            const lat_format *format);
