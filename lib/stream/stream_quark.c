/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_quark.c: the header lines of spinors, propagators and modes, docs/format.md, "Spinors". */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "stream_header_internal.h"

/* kappa (2 m + 8) of numbers with 17 digits differs from 1 by a few roundings. */
#define KAPPA_WITHIN 1e-14

static const char *name_of(lat_stream_key key) { return lat_stream_key_name[key]; }

/* ---- reading --------------------------------------------------------------------------------- */

int lat_stream_parse_columns(const lat_stream_parser *p)
{
    lat_header *head = p->head;
    unsigned long columns = 1;
    const bool has = lat_header_order_objects(head) == LAT_ORDER_COLUMNS;
    if (!has && p->value[LAT_KEY_COLUMNS])
        return lat_fail("%s: expected columns of a propagator or of modes, found kind = %s",
                        p->name, lat_kind_word(head->kind));
    if (has && lat_stream_parse_number(p, LAT_KEY_COLUMNS, 1, LAT_MAX_COLUMNS, &columns) < 0)
        return -1;
    head->quark.columns = lat_header_spinors(head) ? (int)columns : 0;
    return 0;
}

/* One number a column. */
static int parse_columns(const lat_stream_parser *p, lat_stream_key key, double **numbers)
{
    const int columns = p->head->quark.columns;
    if (!p->value[key])
        return 0;
    *numbers = lat_alloc((size_t)columns, sizeof **numbers, "numbers of columns");
    return *numbers ? lat_stream_parse_reals(p, key, columns, *numbers) : -1;
}

static int parse_numbers(const lat_stream_parser *p)
{
    lat_fermion *f = &p->head->quark.fermion;
    double kappa = NAN;
    if (!p->value[LAT_KEY_MASS])
        return lat_stream_expected(p, LAT_KEY_MASS, "a number beside operator");
    if (lat_stream_parse_real(p, LAT_KEY_MASS, &f->mass) < 0
        || lat_stream_parse_real(p, LAT_KEY_KAPPA, &kappa) < 0
        || lat_stream_parse_real(p, LAT_KEY_CSW, &f->csw) < 0)
        return -1;
    f->csw_t = f->csw;
    if (lat_stream_parse_real(p, LAT_KEY_CSW_T, &f->csw_t) < 0
        || lat_stream_parse_real(p, LAT_KEY_XI, &f->xi) < 0
        || lat_stream_parse_real(p, LAT_KEY_NU, &f->nu) < 0
        || lat_stream_parse_real(p, LAT_KEY_TWIST, &f->twist) < 0
        || lat_stream_parse_real(p, LAT_KEY_M0, &f->m0) < 0)
        return -1;
    if (!isnan(kappa) && !(fabs(kappa * (2 * f->mass + 8) - 1) <= KAPPA_WITHIN))
        return lat_stream_expected(p, LAT_KEY_KAPPA, "1/(2 mass + 8)");
    return 0;
}

static int parse_operator(const lat_stream_parser *p)
{
    lat_fermion *f = &p->head->quark.fermion;
    const char *name = p->value[LAT_KEY_OPERATOR], *boundary = p->value[LAT_KEY_BOUNDARY];
    f->bounded = !name && boundary;
    if ((name || boundary) && (!boundary || lat_boundary_parse(boundary, f->boundary)))
        return lat_stream_expected(p, LAT_KEY_BOUNDARY,
                                   "four of p, a, d and numbers from -2 to 2 with commas");
    if (!name) {
        for (int key = LAT_KEY_OPERATOR; key <= LAT_KEY_RESIDUALS; key++)
            if (p->value[key] && key != LAT_KEY_BOUNDARY)
                return lat_fail("%s: expected an operator in the header beside %s, found none",
                                p->name, name_of((lat_stream_key)key));
        return 0;
    }
    if (strcmp(name, "wilson") != 0 && strcmp(name, "overlap") != 0)
        return lat_stream_expected(p, LAT_KEY_OPERATOR, "wilson|overlap");
    strcpy(f->name, name);
    const bool overlap = !strcmp(name, "overlap");
    if (overlap != !!p->value[LAT_KEY_M0] || (overlap && p->value[LAT_KEY_KAPPA]))
        return lat_fail("%s: expected m0 of operator overlap alone and kappa of wilson alone, "
                        "found operator = %s",
                        p->name, name);
    return parse_numbers(p);
}

int lat_stream_parse_quark(const lat_stream_parser *p)
{
    lat_quark *q = &p->head->quark;
    const char *basis = p->value[LAT_KEY_BASIS], *crc = p->value[LAT_KEY_LINKS_CRC];
    uint32_t number;
    if (!lat_header_spinors(p->head)) {
        for (int key = LAT_KEY_BASIS; key < LAT_KEYS; key++)
            if (p->value[key])
                return lat_fail("%s: expected %s of spinors, found it in %s", p->name,
                                name_of((lat_stream_key)key), lat_kind_text(p->head->kind));
        return 0;
    }
    if (!basis || strcmp(basis, LAT_BASIS) != 0)
        return lat_stream_expected(p, LAT_KEY_BASIS, LAT_BASIS);
    if (crc && !lat_stream_parse_crc(crc, &number))
        return lat_stream_expected(p, LAT_KEY_LINKS_CRC, "8 hexadecimal digits");
    if (crc)
        strcpy(q->links, crc);
    return (p->value[LAT_KEY_SOURCE] && lat_quark_set_source(q, p->value[LAT_KEY_SOURCE]) < 0)
                   || parse_operator(p) < 0 || parse_columns(p, LAT_KEY_RESIDUALS, &q->residual) < 0
                   || parse_columns(p, LAT_KEY_EIGENVALUES, &q->eigenvalue) < 0
               ? -1
               : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void print_unless(FILE *to, lat_stream_key key, double value, double usual)
{
    if (value != usual)
        lat_stream_print_real(to, key, value);
}

static void print_columns(FILE *to, lat_stream_key key, const double *numbers, int columns)
{
    for (int i = 0; numbers && i < columns; i++)
        fprintf(to, "%s%s%.17g%s", i ? "" : name_of(key), i ? " " : " = ", numbers[i],
                i + 1 < columns ? "" : "\n");
}

static void print_numbers(FILE *to, const lat_fermion *f)
{
    const bool overlap = !strcmp(f->name, "overlap");
    fprintf(to, "%s = %s\n", name_of(LAT_KEY_OPERATOR), f->name);
    lat_stream_print_real(to, LAT_KEY_MASS, f->mass);
    if (!overlap)
        lat_stream_print_real(to, LAT_KEY_KAPPA, lat_kappa_of_mass(f->mass));
    print_unless(to, LAT_KEY_CSW, f->csw, 0);
    print_unless(to, LAT_KEY_CSW_T, f->csw_t, f->csw);
    print_unless(to, LAT_KEY_XI, f->xi, 1);
    print_unless(to, LAT_KEY_NU, f->nu, 1);
    print_unless(to, LAT_KEY_TWIST, f->twist, 0);
    if (overlap)
        lat_stream_print_real(to, LAT_KEY_M0, f->m0);
}

static void print_operator(FILE *to, const lat_fermion *f)
{
    char boundary[LAT_BOUNDARY_TEXT];
    if (lat_fermion_known(f))
        print_numbers(to, f);
    if (lat_fermion_bounded(f))
        fprintf(to, "%s = %s\n", name_of(LAT_KEY_BOUNDARY),
                lat_boundary_text(f->boundary, boundary));
}

void lat_stream_print_quark(FILE *to, const lat_header *head)
{
    const lat_quark *q = &head->quark;
    fprintf(to, "%s = %s\n", name_of(LAT_KEY_BASIS), q->basis);
    if (q->source)
        fprintf(to, "%s = %s\n", name_of(LAT_KEY_SOURCE), q->source);
    print_operator(to, &q->fermion);
    print_columns(to, LAT_KEY_RESIDUALS, q->residual, q->columns);
    print_columns(to, LAT_KEY_EIGENVALUES, q->eigenvalue, q->columns);
    if (q->links[0])
        fprintf(to, "%s = %s\n", name_of(LAT_KEY_LINKS_CRC), q->links);
}
