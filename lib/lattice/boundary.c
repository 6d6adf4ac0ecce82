/* SPDX-License-Identifier: BSD-3-Clause */
/* boundary.c: boundary conditions in the header. */
#include <string.h>
#include "boundary.h"
#include "base/error.h"
#include "site/sun.h"

#define KEY "boundary_1"
#define DIGIT (sizeof KEY - 2)

static void name_axis(char key[sizeof KEY], int mu)
{
    strcpy(key, KEY);
    key[DIGIT] = (char)('1' + mu);
}

const char *lat_boundary(const lat_header *head, int mu)
{
    char key[sizeof KEY];
    name_axis(key, mu);
    const char *word = lat_info_get(head, key);
    return word ? word : "PERIODIC";
}

bool lat_boundary_is(const lat_header *head, int mu, const char *word)
{
    return strcmp(lat_boundary(head, mu), word) == 0;
}

int lat_boundary_set(lat_header *head, int mu, const char *word)
{
    char key[sizeof KEY];
    name_axis(key, mu);
    return lat_info_set(head, key, word);
}

/* The axis of an info line boundary_N; -1: another line. */
static int axis_of(const char *line, int nd)
{
    const int mu = strncmp(line, KEY, DIGIT) == 0 && strncmp(line + DIGIT + 1, " = ", 3) == 0
                       ? line[DIGIT] - '1'
                       : -1;
    return mu >= 0 && mu < nd ? mu : -1;
}

void lat_boundary_permute(lat_header *head, const int axes[LAT_MAX_DIMS])
{
    int to[LAT_MAX_DIMS];
    for (int i = 0; i < head->geom.nd; i++)
        to[axes[i]] = i;
    for (int k = 0; k < head->info.count; k++) {
        const int mu = axis_of(head->info.line[k], head->geom.nd);
        if (mu >= 0)
            head->info.line[k][DIGIT] = (char)('1' + to[mu]);
    }
}

unsigned lat_boundary_open(const lat_header *head)
{
    unsigned open = 0;
    for (int mu = 0; mu < head->geom.nd; mu++)
        open |= (unsigned)lat_boundary_is(head, mu, LAT_OPEN) << mu;
    return open;
}

size_t lat_boundary_missing(const lat_header *head)
{
    const unsigned open = lat_boundary_open(head);
    size_t missing = 0;
    for (int mu = 0; mu < head->geom.nd && head->kind == LAT_GAUGE; mu++)
        if (open >> mu & 1)
            missing += lat_volume(&head->geom) / (size_t)head->geom.dims[mu];
    return missing;
}

/* In the plane of mu and nu a plaquette exists if its corner x is not in the last slice along an
 * open axis. */
double lat_boundary_plaquettes(const lat_header *head)
{
    const unsigned open = lat_boundary_open(head);
    const int nd = head->geom.nd, *d = head->geom.dims;
    double fraction = 0;
    for (int mu = 0; mu < nd; mu++)
        for (int nu = 0; nu < mu; nu++)
            fraction += (open >> mu & 1 ? 1 - 1.0 / d[mu] : 1)
                        * (open >> nu & 1 ? 1 - 1.0 / d[nu] : 1);
    return fraction / (nd * (nd - 1) / 2);
}

int lat_boundary_closed(const lat_header *head, int except, const char *who, const char *name)
{
    for (int mu = 0; mu < head->geom.nd; mu++)
        if (mu != except && lat_boundary_is(head, mu, LAT_OPEN))
            return lat_fail("%s%s%s: expected periodic boundaries, found the %c axis open "
                            "(boundary_%d = OPEN), where links are missing",
                            name ? name : "", name ? ": " : "", who, "xyzt"[mu], mu + 1);
    return 0;
}

int lat_boundary_at_end(const lat_field *u)
{
    const lat_header *head = &u->head;
    const int last = head->geom.nd - 1;
    const lat_slab slab = lat_field_slab(u);
    const size_t sites = lat_slice_sites(head), nd = (size_t)head->geom.nd;
    double missing[2] = {0, 0}, m[LAT_SUN_REALS]; /* elsewhere, and on the last slice */
    if (!(lat_boundary_open(head) >> last & 1))
        return 0;
    for (size_t i = 0; i < (size_t)slab.count * sites; i++) {
        lat_field_get(u, i * nd + (size_t)last, m);
        const bool end = slab.first + (int)(i / sites) == head->geom.dims[last] - 1;
        missing[end] += lat_boundary_none(1, 0, m, 2 * head->nc * head->nc);
    }
    if (u->comm && u->comm->sum(u->comm, missing, 2))
        return -1;
    return missing[0] == 0 && missing[1] == (double)sites
               ? 0
               : lat_fail("expected the %c-links of the last slice to be zero, and no others, as "
                          "boundary_%d = OPEN says, found %g of %zu there and %g elsewhere "
                          "(lat-reorder --shift moves slices)",
                          "xyzt"[last], last + 1, missing[1], sites, missing[0]);
}

int lat_boundary_check_quarks(const lat_fermion *action, const lat_field *x, int columns,
                              const int *column, const char *name)
{
    const lat_slab slab = lat_field_slab(x);
    const size_t sites = lat_slice_sites(&x->head), objects = lat_header_objects(&x->head),
                 reals = lat_header_full_reals(&x->head);
    const int last = lat_slices(&x->head) - 1;
    double found[1] = {-1}, psi[8 * LAT_MAX_COLOURS];
    for (int t = 0; t < slab.count && action->boundary[3].open; t++)
        for (size_t i = 0; i < sites && (slab.first + t == 0 || slab.first + t == last); i++)
            for (int c = 0; c < columns; c++) {
                lat_field_get(x, ((size_t)t * sites + i) * objects + (size_t)column[c], psi);
                for (size_t k = 0; k < reals; k++)
                    if (psi[k] != 0)
                        found[0] = slab.first + t;
            }
    if (x->comm && x->comm->max(x->comm, found, 1))
        return -1;
    if (!(found[0] < 0))
        return lat_fail("%s: expected zeros on slices 0 and %d, as time is open and quarks live on "
                        "those between, found other numbers on slice %d",
                        name, last, (int)found[0]);
    return 0;
}
