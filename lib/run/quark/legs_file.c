/* SPDX-License-Identifier: BSD-3-Clause */
/* legs_file.c: legs and vertices before amputation as a field of a stream. */
#include "legs_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "run/common/tool.h"
#include "stream/stream.h"

static const char lattice_key[] = "legs.lattice",
                  ward_key[] = "legs.ward", *const momentum_key[2] = {"legs.p", "legs.k"};

/* Columns of 4 N complex numbers. */
static int columns_of(int nc, lat_legs_kind kind)
{
    return (int)(lat_legs_reals(kind, nc) / (8 * (size_t)nc));
}

static int note(lat_header *head, const lat_legs_note *what)
{
    char text[160];
    if (lat_info_set(head, lattice_key, lat_dims_text(&head->geom, text)))
        return -1;
    for (int i = 0; i < (what->kind == LAT_LEG ? 1 : 2); i++) {
        const double *n = what->n[i];
        snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g", n[0], n[1], n[2], n[3]);
        if (lat_info_set(head, momentum_key[i], text))
            return -1;
    }
    snprintf(text, sizeof text, "%.17g %.17g", what->mass, what->twist);
    if (what->kind != LAT_LEG && (what->mass != 0 || what->twist != 0)
        && lat_info_set(head, ward_key, text))
        return -1;
    for (int mu = 0; mu < head->geom.nd; mu++)
        head->geom.dims[mu] = 1;
    head->kind = LAT_MODES;
    head->real = LAT_F64;
    head->reals = 8 * head->nc;
    head->quark.columns = columns_of(head->nc, what->kind);
    return lat_quark_set_residuals(&head->quark, NULL) || lat_provenance(head, "legs") ? -1 : 0;
}

int lat_legs_write(lat_output *out, const lat_header *head, const lat_legs_note *what,
                   const double *legs)
{
    const size_t column = 8 * (size_t)head->nc;
    lat_field f = {.data = NULL};
    if (lat_header_copy(&f.head, head))
        return -1;
    int rc = note(&f.head, what) || lat_field_alloc(&f, NULL) ? -1 : 0;
    for (int i = 0; rc == 0 && i < f.head.quark.columns; i++)
        lat_field_put(&f, (size_t)i, legs + (size_t)i * column);
    rc = rc || lat_stream_write(out, &f, LAT_STORE_AUTO) ? -1 : 0;
    lat_field_free(&f);
    return rc;
}

bool lat_legs_noted(const lat_header *head)
{
    return head->kind == LAT_MODES && lat_info_get(head, lattice_key);
}

static bool read_momentum(const lat_header *head, const char *key, double n[4])
{
    int used = -1;
    const char *text = lat_info_get(head, key);
    if (!text || sscanf(text, "%lf %lf %lf %lf%n", &n[0], &n[1], &n[2], &n[3], &used) != 4
        || used < 0 || text[used])
        return false;
    for (int mu = 0; mu < 4; mu++)
        if (!(fabs(n[mu]) <= 65536))
            return false;
    return true;
}

/* A leg, or a pair with or without the current, as lines and columns say; false: neither. */
static bool find_kind(const lat_header *head, lat_legs_kind *kind)
{
    const bool pair = lat_info_get(head, momentum_key[1]);
    for (*kind = LAT_LEG; *kind <= LAT_PAIR_CURRENT; ++*kind)
        if ((*kind != LAT_LEG) == pair && head->quark.columns == columns_of(head->nc, *kind))
            return true;
    return false;
}

static bool read_ward(const lat_header *head, lat_legs_note *what)
{
    int used = -1;
    const char *text = lat_info_get(head, ward_key);
    return !text
           || (sscanf(text, "%lf %lf%n", &what->mass, &what->twist, &used) == 2 && used > 0
               && !text[used] && isfinite(what->mass) && isfinite(what->twist));
}

/* The lattice, momenta and kind of the propagator; false where info lines do not say them. */
static bool restore(lat_header *head, lat_legs_note *what)
{
    int used = -1;
    lat_geometry g = head->geom;
    const char *text = lat_info_get(head, lattice_key);
    *what = (lat_legs_note){.mass = 0};
    if (sscanf(text, "%d %d %d %d%n", &g.dims[0], &g.dims[1], &g.dims[2], &g.dims[3], &used) != 4
        || used < 0 || text[used] || lat_volume(&head->geom) != 1 || head->real != LAT_F64)
        return false;
    if (lat_geometry_check(&g, "legs.lattice") || !find_kind(head, &what->kind)
        || !read_momentum(head, momentum_key[0], what->n[0])
        || (what->kind != LAT_LEG && !read_momentum(head, momentum_key[1], what->n[1]))
        || !read_ward(head, what))
        return false;
    if (what->kind == LAT_LEG)
        memcpy(what->n[1], what->n[0], sizeof what->n[1]);
    head->geom = g;
    head->kind = LAT_PROPAGATOR;
    head->quark.columns = 4 * head->nc;
    lat_info_remove(head, lattice_key);
    lat_info_remove(head, momentum_key[0]);
    lat_info_remove(head, momentum_key[1]);
    lat_info_remove(head, ward_key);
    return true;
}

const double *lat_legs_read(lat_input *in, lat_field *f, lat_legs_note *what)
{
    const char *name = lat_input_name(in);
    const lat_comm *comm = lat_input_comm(in);
    if (comm && comm->size > 1)
        return lat_fail_null("%s: expected one rank to read legs, found %d", name, comm->size);
    if (lat_stream_body(in, f) < 0)
        return NULL;
    if (!restore(&f->head, what)) {
        lat_error_clear();
        return lat_fail_null(
            "%s: expected info lines legs.lattice, legs.p and perhaps legs.k that fit the "
            "columns, as lat-quark --legs writes them",
            name);
    }
    return f->data;
}
