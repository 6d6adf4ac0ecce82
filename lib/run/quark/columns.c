/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.c: columns of a solution, and sections of a checkpoint. */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

/* What follows the mass and the twist, or (`last`) the source, up to the column. */
static const char *end_of(const char *name, bool last, size_t *n)
{
    const char *links = strstr(name, " links "), *source = links ? strstr(links, " source ") : NULL,
               *from = !last    ? links
                       : source ? source + 8 + strcspn(source + 8, " ")
                                : NULL,
               *end = from ? strstr(from, " column ") : NULL;
    *n = end ? (size_t)(end - from) : strlen(name);
    return from ? from : name;
}

/* Mass and twist aside, which stand between (lat_inverter_name): of a family of twists, those of
 * another one may be there alone. Of an input before this one, which is written, its modes alone
 * count. */
static bool alike(const char *its, const char *mine)
{
    long before = -1, now = -1;
    int head = 0;
    size_t n, m;
    sscanf(its, "config %*d field %ld", &before);
    sscanf(mine, "config %*d field %ld%n", &now, &head);
    const char *of_its = end_of(its, before < now, &n), *of_mine = end_of(mine, before < now, &m);
    return n == m && !strncmp(of_its, of_mine, n)
           && (before < now || !strncmp(its, mine, (size_t)head));
}

const lat_section_kind lat_columns = {"checkpoint.column", "columns", "other links or sources",
                                      LAT_SPINOR, alike};

bool lat_columns_used(const lat_sections *k) { return k->path || k->count > 0; }

static char *name_of(const char *solution, int column)
{
    return lat_text_new("%s column %d", solution, column);
}

/* One column of x as a spinor, or back. */
static void copy_column(lat_field *x, int column, lat_field *psi, bool out)
{
    const size_t columns = lat_header_objects(&x->head), sites = lat_field_sites(x);
    const size_t bytes = lat_header_full_reals(&x->head) * (size_t)x->head.real;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++) {
        char *of_x = (char *)x->data + (i * columns + (size_t)column) * bytes,
             *of_psi = (char *)psi->data + i * bytes;
        memcpy(out ? of_psi : of_x, out ? of_x : of_psi, bytes);
    }
}

int lat_columns_save(lat_sections *k, const char *solution, const lat_field *x, int column,
                     const double *numbers, int count)
{
    char *name = name_of(solution, column);
    lat_section *s = name ? lat_sections_add(k, name, numbers, count) : NULL;
    bool due;
    free(name);
    if (lat_agree(k->comm, s ? 0 : -1)
        || lat_agree(k->comm, lat_field_spinors(&s->f, x, LAT_SPINOR, 1)))
        return -1;
    lat_field view = *x; /* is not changed */
    copy_column(&view, column, &s->f, true);
    if (lat_sections_due(k, &due))
        return -1;
    if (due)
        lat_sections_save(k);
    return 0;
}

int lat_columns_restore(lat_sections *k, const char *solution, lat_field *x, int column,
                        double *numbers, int count)
{
    char *name = name_of(solution, column);
    lat_section *s;
    const int rc = name ? lat_sections_get(k, name, &s) : -1;
    free(name);
    if (rc <= 0)
        return rc;
    if (!lat_header_alike(&s->f.head, &x->head) || s->f.head.real != x->head.real
        || s->numbers != count)
        return lat_fail("the checkpoint: expected spinors of this lattice, found others");
    copy_column(x, column, &s->f, false);
    memcpy(numbers, s->number, sizeof *numbers * (size_t)count);
    return 1;
}
