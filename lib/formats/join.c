/* SPDX-License-Identifier: BSD-3-Clause */
/* join.c: spinors become a propagator. */
#include "join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "smear/smear.h"

/* A source's text without its column, which is -1 where there is none; the caller frees it. */
static char *source_of(const lat_quark *q, int *column)
{
    char *text = strdup(q->source ? q->source : ""), *at = NULL, end;
    *column = -1;
    for (char *next = text; next && (next = strstr(next, "column ")); next++)
        at = next;
    if (at && sscanf(at, "column %d%c", column, &end) == 1)
        at[at > text + 1 && !strncmp(at - 2, ", ", 2) ? -2 : 0] = '\0';
    else
        *column = -1;
    if (!text)
        lat_fail("out of memory: the text of a source");
    return text;
}

static int begin(lat_join *j, const lat_field *psi, const char *source)
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
static int fits(const lat_join *j, const char *name, const lat_field *psi, const char *source,
                int column)
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

static void put(lat_join *j, const lat_field *psi)
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

int lat_join_add(lat_join *j, const char *name, const lat_field *psi)
{
    int column;
    if (psi->head.kind != LAT_SPINOR)
        return lat_fail("%s: expected a spinor, to be joined with others, found %s", name,
                        lat_kind_text(psi->head.kind));
    char *source = source_of(&psi->head.quark, &column);
    int rc = !source || fits(j, name, psi, source, column)
             || (j->count == 0 && begin(j, psi, source));
    free(source);
    if (rc)
        return -1;
    if ((column = column_again(j, psi)) >= 0)
        return lat_fail("%s: expected column %d of the propagator, found column %d again", name,
                        j->count, column);
    put(j, psi);
    if (j->count < j->whole.head.quark.columns)
        return 0;
    return lat_quark_set_residuals(&j->whole.head.quark, j->residual) ? -1 : 1;
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
