/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_quarks.c: lat-convert of spinors and propagators. */
#include "convert_quarks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "formats/milc_info.h"
#include "smear/smear.h"
#include "stream/stream.h"
#include "run/common/conversion.h"
#include "run/common/tool.h"

/* 1, 0 where there is none any more, -1. */
static int read_field(const lat_convert_quarks *c, lat_input *in, lat_field *f,
                      const lat_format *format, long index)
{
    const char *name = lat_input_name(in);
    int rc = 1;
    if (format->stream)
        rc = lat_stream_read(in, f);
    else if (!format->quarks)
        return lat_fail("%s: is in format %s, which holds gauge fields, and spinors are expected",
                        name, format->name);
    else if (index > 0)
        return 0;
    else if (lat_quarks_read(in, f, format, &c->hints, c->real) < 0)
        return -1;
    else if (c->milc_info && lat_milc_info_take(c->milc_info, name, &f->head)) {
        lat_field_free(f);
        return -1;
    }
    if (rc <= 0 || !lat_header_spinors(&f->head) || lat_quarks_state(name, f, &c->hints) == 0)
        return rc;
    lat_field_free(f);
    return -1;
}

/* Says what the header states and the file does not. */
static int say_lost(const char *name, const lat_header *head, const lat_format *to)
{
    const lat_quark *q = &head->quark;
    char lost[100] = "";
    lat_header kept;
    lat_header_init(&kept);
    const int rc = to->keeps ? to->keeps(head, &kept) : 0;
    const lat_quark *k = &kept.quark;
    const char *smeared = lat_info_get(head, LAT_SMEARED_LINKS),
               *still = lat_info_get(&kept, LAT_SMEARED_LINKS);
    if (lat_fermion_bounded(&q->fermion) && !lat_fermion_same(&q->fermion, &k->fermion))
        strcat(lost, !lat_fermion_known(&q->fermion)    ? ", the boundary"
                     : lat_fermion_bounded(&k->fermion) ? ", the operator"
                                                        : ", the operator with its boundary");
    if (q->source && (!k->source || strcmp(q->source, k->source)))
        strcat(lost, ", the source");
    if (*q->links && strcmp(q->links, k->links))
        strcat(lost, ", the CRC of the links");
    if (smeared && (!still || strcmp(smeared, still)))
        strcat(lost, ", the smearing");
    if (rc == 0 && *lost)
        lat_warn("%s: %s files do not hold %s, which its header states: keep that too", name,
                 to->name, lost + 2);
    lat_header_free(&kept);
    return rc;
}

static int write_field(const lat_convert_quarks *c, const char *name, lat_output *out, lat_field *f,
                       const lat_format *format)
{
    const lat_format *target = c->target;
    const char *what = format->stream ? "stream" : lat_info_get(&f->head, "source");
    if (lat_provenance(&f->head, "from %s to %s", what ? what : format->name, target->name) < 0)
        return -1;
    if (target->quarks)
        return lat_rc(lat_quarks_write(name, out, f, target, &c->hints, c->real) < 0
                      || say_lost(name, &f->head, target));
    return target->stream ? lat_stream_write(out, f, lat_opts.store)
                          : lat_fail("%s: holds %s, and %s files hold gauge fields", name,
                                     lat_kind_text(f->head.kind), target->name);
}

/* ---- spinors become a propagator --------------------------------------------------------------
 */

/* A source's text without its column, which is -1 where there is none; the caller frees it. */
static char *source_of(const lat_quark *q, int *column)
{
    char *text = lat_text_new("%s", q->source ? q->source : ""), *at = NULL, end;
    *column = -1;
    for (char *next = text; next && (next = strstr(next, "column ")); next++)
        at = next;
    if (at && sscanf(at, "column %d%c", column, &end) == 1)
        at[at > text + 1 && !strncmp(at - 2, ", ", 2) ? -2 : 0] = '\0';
    else
        *column = -1;
    return text;
}

static int begin_join(lat_join *j, const lat_field *psi, const char *source)
{
    lat_header *head = &j->whole.head;
    const lat_quark *q = &psi->head.quark;
    if (lat_header_copy(head, &psi->head))
        return -1;
    lat_header_make_spinors(head, LAT_PROPAGATOR, 1);
    head->quark.fermion = q->fermion;
    lat_info_remove(head, LAT_INFO_RESIDUAL_SLICES); /* of one column */
    memcpy(head->quark.links, q->links, sizeof q->links);
    const size_t columns = lat_header_objects(head);
    if ((*source && lat_quark_set_source(&head->quark, source)) || lat_field_alloc(&j->whole, NULL))
        return -1;
    j->residual = q->residual ? lat_alloc(columns, sizeof *j->residual, "residuals") : NULL;
    return q->residual && !j->residual ? -1 : 0;
}

/* Does psi belong to the columns before it? */
static int fits_columns(const lat_join *j, const char *name, const lat_field *psi,
                        const char *source, int column)
{
    const lat_header *head = &j->whole.head, *mine = &psi->head;
    static const char *const infos[] = {LAT_SMEARED_LINKS, LAT_INFO_PROPAGATOR};
    const char *known = head->quark.source ? head->quark.source : "";
    char first[LAT_FERMION_TEXT], its[LAT_FERMION_TEXT];
    if (column >= 0 && column != j->count)
        return lat_fail("%s: expected column %d of the propagator, found column %d", name, j->count,
                        column);
    if (j->count == 0)
        return 0;
    if (!lat_header_alike(head, mine) || head->real != mine->real)
        return lat_fail("%s: expected the lattice and the precision of column 0, found others",
                        name);
    if (!lat_fermion_same(&head->quark.fermion, &mine->quark.fermion))
        return lat_fail("%s: expected the operator of column 0, %s, found %s", name,
                        lat_fermion_text(&head->quark.fermion, first),
                        lat_fermion_text(&mine->quark.fermion, its));
    if (strcmp(head->quark.links, mine->quark.links) != 0)
        return lat_fail("%s: expected links of CRC %s, like column 0, found %s", name,
                        *head->quark.links ? head->quark.links : "unknown",
                        *mine->quark.links ? mine->quark.links : "unknown");
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++) {
        const char *a = lat_info_get(head, infos[i]), *b = lat_info_get(mine, infos[i]);
        if (strcmp(a ? a : "none", b ? b : "none") != 0)
            return lat_fail("%s: expected %s %s, like column 0, found %s", name, infos[i],
                            a ? a : "none", b ? b : "none");
    }
    if (strcmp(known, source) != 0)
        return lat_fail("%s: expected the source of column 0, '%.200s', found '%.200s'", name,
                        known, source);
    return 0;
}

/* The column that psi is, number for number; -1: none, as it should be. */
static int column_again(const lat_join *j, const lat_field *psi)
{
    const size_t columns = lat_header_objects(&j->whole.head), sites = lat_field_sites(psi),
                 bytes = lat_header_full_reals(&psi->head) * (size_t)psi->head.real;
    const char *whole = j->whole.data, *one = psi->data;
    for (int c = 0; c < j->count; c++) {
        size_t i = 0;
        while (i < sites
               && !memcmp(whole + (i * columns + (size_t)c) * bytes, one + i * bytes, bytes))
            i++;
        if (i == sites)
            return c;
    }
    return -1;
}

static void put_column(lat_join *j, const lat_field *psi)
{
    const size_t columns = lat_header_objects(&j->whole.head),
                 bytes = lat_header_full_reals(&psi->head) * (size_t)psi->head.real;
    for (size_t i = 0; i < lat_field_sites(psi); i++)
        memcpy((char *)j->whole.data + (i * columns + (size_t)j->count) * bytes,
               (const char *)psi->data + i * bytes, bytes);
    if (j->residual && psi->head.quark.residual) {
        j->residual[j->count] = psi->head.quark.residual[0];
    } else {
        free(j->residual);
        j->residual = NULL;
    }
    j->count++;
}

/* The next column: 1 if `whole` is complete, 0, or -1 with a sentence that begins with `name`,
 * where psi is no spinor, or is not of the lattice, the precision, the operator, the links and the
 * source of the first one, or its source says that it is another column ("point:0,0,0,0, column 7",
 * as lat-solve --columns writes it), or it is one of the columns before, number for number. Columns
 * come in order: spin slow, colour fast. */
static int join_add(lat_join *j, const char *name, const lat_field *psi)
{
    int column;
    if (psi->head.kind != LAT_SPINOR)
        return lat_fail("%s: expected a spinor, to be joined with others, found %s", name,
                        lat_kind_text(psi->head.kind));
    char *source = source_of(&psi->head.quark, &column);
    int rc = !source || fits_columns(j, name, psi, source, column)
             || (j->count == 0 && begin_join(j, psi, source));
    free(source);
    if (rc)
        return -1;
    if ((column = column_again(j, psi)) >= 0)
        return lat_fail("%s: expected column %d of the propagator, found column %d again", name,
                        j->count, column);
    put_column(j, psi);
    if (j->count < j->whole.head.quark.columns)
        return 0;
    return lat_quark_set_residuals(&j->whole.head.quark, j->residual) ? -1 : 1;
}

/* The basis whose unit vectors the sources of joined spinors are: in memory the sinks are in ours,
 * and nothing in a spinor's file says of which propagator's column it is. */
static int find_sources(lat_convert_quarks *c, const char *name, const lat_format *format)
{
    const lat_basis *b = format->stream   ? lat_basis_find(LAT_BASIS)
                         : c->hints.basis ? c->hints.basis
                         : !format->quarks
                             ? NULL
                             : lat_basis_find(format->basis ? format->basis : LAT_BASIS);
    if (c->sources || !b)
        return b ? 0 : -1;
    if (c->joined.count > 0 && c->basis != b)
        return lat_fail("%s: --join: expected all spinors in the basis of the first one, %s, found "
                        "%s (--source-basis says which basis the sources are of)",
                        name, c->basis->name, b->name);
    if (c->joined.count == 0 && strcmp(b->name, LAT_BASIS))
        lat_warn("%s: --join: the sources are taken as the unit vectors of the basis of the file, "
                 "%s (--source-basis says another one)",
                 name, b->name);
    c->basis = b;
    return 0;
}

static int join_field(lat_convert_quarks *c, const char *name, lat_output *out, const lat_field *f,
                      const lat_format *format)
{
    lat_join *j = &c->joined;
    int rc = find_sources(c, name, format) ? -1 : join_add(j, name, f);
    if (rc > 0) {
        if (j->whole.head.nc == 3)
            lat_quarks_source_basis(&j->whole, c->sources ? c->sources : c->basis);
        rc = c->written++ > 0 && !c->target->stream
                 ? lat_fail("%s: belongs to a second propagator, and a file in format %s holds one",
                            name, c->target->name)
                 : write_field(c, name, out, &j->whole, format);
        lat_join_free(j);
    }
    return rc;
}

int lat_join_end(const lat_join *j)
{
    return j->count == 0 ? 0
                         : lat_fail("--join: expected %d spinors for a propagator, found %d",
                                    j->whole.head.quark.columns, j->count);
}

void lat_join_free(lat_join *j)
{
    free(j->residual);
    lat_field_free(&j->whole);
    *j = (lat_join){.count = 0};
}

/* ---- a file -----------------------------------------------------------------------------------
 */

/* Do the options fit the field? */
static int check_options(const lat_convert_quarks *c, const char *name, const lat_header *head)
{
    const lat_quark_hints *h = &c->hints;
    if (c->of_links && lat_header_spinors(head))
        return lat_fail("%s: %s is for matrices, and this is %s", name, c->of_links,
                        lat_kind_text(head->kind));
    if ((h->boundary || h->source || h->spread) && !lat_header_spinors(head))
        return lat_fail("%s: --boundary, --source and --spread are for spinors, and this is %s",
                        name, lat_kind_text(head->kind));
    return lat_expect_dims(&h->dims, name, head);
}

int lat_convert_quarks_file(lat_convert_quarks *c, lat_input *in, lat_output *out,
                            const lat_format *format)
{
    const char *name = lat_input_name(in);
    lat_field f;
    int rc;
    for (long index = 0; (rc = read_field(c, in, &f, format, index)) > 0; index++) {
        const int bad = check_options(c, name, &f.head) ? -1
                        : c->join                       ? join_field(c, name, out, &f, format)
                        : index > 0 && !c->target->stream
                            ? lat_fail("%s: holds more than one field, and a file in format %s "
                                       "holds one: convert them one by one",
                                       name, c->target->name)
                            : write_field(c, name, out, &f, format);
        lat_field_free(&f);
        if (bad)
            return -1;
    }
    return rc;
}
