/* SPDX-License-Identifier: BSD-3-Clause */
/* legs_file.c: legs and vertices before amputation as a field of a stream. */
#include "legs_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "quark/legs.h"
#include "tool.h"
#include "stream/stream.h"

static const char lattice_key[] = "legs.lattice", *const momentum_key[2] = {"legs.p", "legs.k"};

static size_t reals_of(int nc, bool pair) { return pair ? lat_pair_reals(nc) : lat_leg_reals(nc); }

/* Columns of 4 N complex numbers. */
static int columns_of(int nc, bool pair) { return (int)(reals_of(nc, pair) / (8 * (size_t)nc)); }

static int note(lat_header *head, const double n[2][4], bool pair)
{
    char text[160];
    if (lat_info_set(head, lattice_key, lat_dims_text(&head->geom, text)))
        return -1;
    for (int i = 0; i < (pair ? 2 : 1); i++) {
        snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g", n[i][0], n[i][1], n[i][2], n[i][3]);
        if (lat_info_set(head, momentum_key[i], text))
            return -1;
    }
    for (int mu = 0; mu < head->geom.nd; mu++)
        head->geom.dims[mu] = 1;
    head->kind = LAT_MODES;
    head->real = LAT_F64;
    head->reals = 8 * head->nc;
    head->quark.columns = columns_of(head->nc, pair);
    return lat_quark_set_residuals(&head->quark, NULL) || lat_provenance(head, "legs") ? -1 : 0;
}

int lat_legs_write(lat_output *out, const lat_header *head, const double n[2][4], bool pair,
                   const double *legs)
{
    const size_t column = 8 * (size_t)head->nc;
    lat_field f = {.data = NULL};
    if (lat_header_copy(&f.head, head))
        return -1;
    int rc = note(&f.head, n, pair) || lat_field_alloc(&f, NULL) ? -1 : 0;
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

/* The lattice, momenta and kind of the propagator; false where info lines do not say them. */
static bool restore(lat_header *head, double n[2][4], bool *pair)
{
    int used = -1;
    lat_geometry g = head->geom;
    const char *text = lat_info_get(head, lattice_key);
    if (sscanf(text, "%d %d %d %d%n", &g.dims[0], &g.dims[1], &g.dims[2], &g.dims[3], &used) != 4
        || used < 0 || text[used] || lat_volume(&head->geom) != 1 || head->real != LAT_F64)
        return false;
    *pair = lat_info_get(head, momentum_key[1]);
    if (lat_geometry_check(&g, "legs.lattice") || !read_momentum(head, momentum_key[0], n[0])
        || (*pair && !read_momentum(head, momentum_key[1], n[1]))
        || head->quark.columns != columns_of(head->nc, *pair))
        return false;
    if (!*pair)
        memcpy(n[1], n[0], sizeof n[1]);
    head->geom = g;
    head->kind = LAT_PROPAGATOR;
    head->quark.columns = 4 * head->nc;
    lat_info_remove(head, lattice_key);
    lat_info_remove(head, momentum_key[0]);
    lat_info_remove(head, momentum_key[1]);
    return true;
}

const double *lat_legs_read(lat_input *in, lat_field *f, double n[2][4], bool *pair)
{
    const char *name = lat_input_name(in);
    const lat_comm *comm = lat_input_comm(in);
    if (comm && comm->size > 1) {
        lat_fail("%s: expected one rank to read legs, found %d", name, comm->size);
        return NULL;
    }
    if (lat_stream_body(in, f) < 0)
        return NULL;
    if (!restore(&f->head, n, pair)) {
        lat_error_clear();
        lat_fail("%s: expected info lines legs.lattice, legs.p and perhaps legs.k that fit the "
                 "columns, as lat-quark --legs writes them",
                 name);
        return NULL;
    }
    return f->data;
}
