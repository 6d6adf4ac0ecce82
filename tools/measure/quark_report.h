/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_report.h: what lat-quark asks of propagators, and what it prints. Functions return 0, or -1
 * with lat_error set, unless they say otherwise. */
#ifndef LAT_QUARK_REPORT_H
#define LAT_QUARK_REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include "quark/kinematics.h"
#include "quark/legs.h"

/* ---- quark_check.c --------------------------------------------------------------------------- */

/* Whole numbers plus theta/2 fit the boundary. */
int lat_quark_check_boundary(const lat_header *head, const char *name, const double n[4]);

/* In that gauge, and as near to it as is required? An exit code. */
int lat_quark_check_gauge(const lat_header *head, const char *name);

/* The momentum, or the place of a point source: 1 of a point, 0, or -1. */
int lat_quark_source(const lat_header *head, const char *name, const char *asked, double v[4]);

int lat_quark_different(const lat_header *a, const lat_header *b, const char *option,
                        const char *name);

/* Do the two of a vertex belong together? */
int lat_quark_check_pair(const lat_header *a, const lat_header *b, const char *name);

/* S(p) of two gauges is of two quantities. */
int lat_quark_same_gauge(const lat_header *a, const lat_header *b, const char *name);

/* Which momenta: those of the list, or up to a number (NULL: the usual one), within a cylinder
 * (NaN: the usual one). */
typedef struct lat_quark_range {
    const char *momenta;
    double cylinder;
} lat_quark_range;

static inline bool lat_quark_within(const lat_kinematics *k, double cylinder)
{
    return !(k->distance > cylinder + 1e-6);
}

/* The momenta of a point source. */
int lat_quark_momenta(lat_momenta *list, const lat_header *head, const lat_quark_range *range,
                      const char *name);

/* ---- quark_print.c --------------------------------------------------------------------------- */

/* What is printed: S(p), vertices, vertices with the conserved current; of a mean with errors. */
typedef struct lat_quark_form {
    lat_legs_kind kind;
    bool mean;
} lat_quark_form;

/* Rows of one momentum, after the heading where it is time for it; errors e, or NULL. */
void lat_quark_tsv(FILE *to, const lat_quark_form *f, long config, const lat_kinematics *k,
                   const double *v, const double *e);

/* An object up to its list of momenta; the object of one momentum. */
void lat_quark_json_begin(FILE *to, const lat_quark_form *f, const lat_header *head, long config);
void lat_quark_json(FILE *to, const lat_quark_form *f, const lat_kinematics *k, const double *v,
                    const double *e);

#endif
