/* SPDX-License-Identifier: BSD-3-Clause */
/* box.c: boxes of ranks, and host fields from slabs to boxes and back. */
#include "box.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

/* ---- grids of ranks -------------------------------------------------------------------------- */

/* Can ranks so cut it? */
static bool can_be(const lat_geometry *lattice, const int ranks[LAT_MAX_DIMS])
{
    const int last = lattice->nd - 1;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const int n = ranks[mu], extent = lattice->dims[mu];
        if (n < 1 || (n > 1 && (mu > last || (mu == 0 && last > 0))))
            return false;
        if (n > 1 && (mu == last ? extent < 2 * n : extent % (2 * n) != 0))
            return false;
    }
    return true;
}

/* Slabs, or else the fewest parts of the axis before the last one; false: there is none. */
static bool by_lattice(const lat_comm *comm, const lat_geometry *lattice, int ranks[LAT_MAX_DIMS])
{
    const int last = lattice->nd - 1;
    for (int parts = 1; parts <= (last > 1 ? 8 : 1); parts *= 2) {
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            ranks[mu] = 1;
        ranks[last > 1 ? last - 1 : last] = parts;
        ranks[last] = comm->size / parts;
        if (comm->size % parts == 0 && can_be(lattice, ranks))
            return true;
    }
    return false;
}

static const char *grid_text(int nd, const int ranks[LAT_MAX_DIMS], char text[64])
{
    int at = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS && ranks[mu] && mu < nd; mu++)
        at += snprintf(text + at, 64 - (size_t)at, "%s%d", mu ? "," : "", ranks[mu]);
    return text;
}

const char *lat_box_text(const lat_comm *comm, const lat_geometry *lattice, char text[64])
{
    int ranks[LAT_MAX_DIMS] = {1};
    if (lat_comm_grid[0])
        return grid_text(LAT_MAX_DIMS, lat_comm_grid, text);
    return grid_text(by_lattice(comm, lattice, ranks) ? lattice->nd : 1, ranks, text);
}

static int refuse(const lat_comm *comm, const lat_geometry *lattice)
{
    char dims[64], found[64], text[64], nearest[96] = "no grid of so many ranks";
    int ranks[LAT_MAX_DIMS];
    if (by_lattice(comm, lattice, ranks))
        snprintf(nearest, sizeof nearest, "such as --grid %s", grid_text(lattice->nd, ranks, text));
    lat_dims_text(lattice, dims);
    if (!lat_comm_grid[0])
        return lat_fail_usage(
            "lattice %s: expected at most %d ranks, two slices each, or 2, 4 or 8 times "
            "as many that cut the axis before the last one, too, found %d",
            dims, lattice->dims[lattice->nd - 1] / 2, comm->size);
    return lat_fail_usage("--grid %s: expected for lattice %s and %d ranks parts of two slices "
                          "or more, even but along the last axis, and x whole, %s",
                          grid_text(LAT_MAX_DIMS, lat_comm_grid, found), dims, comm->size, nearest);
}

lat_box lat_box_at(const lat_box *box, const lat_geometry *lattice, int rank)
{
    lat_box b = *box;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const long n = b.ranks[mu], at = rank % n, extent = lattice->dims[mu];
        b.at[mu] = (int)at;
        b.first[mu] = (int)(extent * at / n);
        b.count[mu] = (int)(extent * (at + 1) / n) - b.first[mu];
        rank /= (int)n;
    }
    return b;
}

int lat_box_of(const lat_comm *comm, const lat_geometry *lattice, lat_box *box)
{
    const bool asked = lat_comm_grid[0] && comm->size > 1;
    bool fits = asked || by_lattice(comm, lattice, box->ranks);
    int all = 1;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        if (asked) {
            box->ranks[mu] = mu < lattice->nd ? lat_comm_grid[mu] : 1;
            fits = fits && (mu < lattice->nd || lat_comm_grid[mu] == 0);
        }
        all *= box->ranks[mu];
    }
    if (!fits || all != comm->size || !can_be(lattice, box->ranks))
        return refuse(comm, lattice);
    *box = lat_box_at(box, lattice, comm->rank);
    return 0;
}

int lat_box_rank(const lat_box *box, const int step[LAT_MAX_DIMS])
{
    int rank = 0;
    for (int mu = LAT_MAX_DIMS - 1; mu >= 0; mu--) {
        const int n = box->ranks[mu];
        rank = rank * n + (box->at[mu] + step[mu] + n) % n;
    }
    return rank;
}

bool lat_box_slab(const lat_box *box, const lat_geometry *lattice)
{
    for (int mu = 0; mu < lattice->nd - 1; mu++)
        if (box->ranks[mu] > 1)
            return false;
    return true;
}

/* ---- from slabs to boxes and back ------------------------------------------------------------ */

/* What is exchanged: these objects of the sites that a rank's part and another one's slab share. */
typedef struct transfer {
    const lat_box *box;
    const lat_field *slab; /* with all its objects */
    const lat_field *part; /* with n of them */
    int n;
    const int *object;
    bool ghosts, give; /* from parts to slabs */
} transfer;

static lat_part_of_lattice part_of(const transfer *t, int rank)
{
    const lat_geometry *lattice = &t->slab->head.geom;
    const lat_box b = lat_box_at(t->box, lattice, rank);
    lat_part_of_lattice p = {.extent = *lattice};
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const int more = t->ghosts && b.ranks[mu] > 1;
        p.first[mu] = b.first[mu] - more;
        p.extent.dims[mu] = b.count[mu] + 2 * more;
    }
    return p;
}

static size_t object_bytes(const transfer *t)
{
    return lat_header_full_reals(&t->slab->head) * (size_t)t->slab->head.real;
}

/* Copies what the part of one rank and the slab of another share: between a buffer and the slab or
 * the part of this one (buffer NULL: nothing is copied). Returns the bytes. */
enum { PACK, UNPACK };
static size_t copy_shared(const transfer *t, int part, int slab, char *buffer, int how)
{
    const lat_part_of_lattice p = part_of(t, part);
    const lat_geometry *lattice = &t->slab->head.geom;
    const int last = lattice->nd - 1;
    const size_t bytes = object_bytes(t),
                 slice = lat_volume(&p.extent) / (size_t)p.extent.dims[last];
    const lat_slab s = lat_slab_of(t->slab->comm, slab, lattice->dims[last]);
    const bool here = (how == PACK) != t->give; /* the slab is this rank's */
    const lat_field whole = {.head = t->slab->head, .part = (lat_part_of_lattice *)&p};
    const lat_field *f = here ? t->slab : t->part;
    const size_t objects = here ? lat_header_objects(&f->head) : (size_t)t->n;
    size_t at = 0;
    for (int k = 0; k < p.extent.dims[last]; k++) {
        const int time = (k + p.first[last] + lattice->dims[last]) % lattice->dims[last];
        if (time < s.first || time >= s.first + s.count)
            continue;
        for (size_t i = (size_t)k * slice; buffer && i < (size_t)(k + 1) * slice; i++) {
            const size_t site = here ? lat_field_index(f, lat_field_site(&whole, i)) : i;
            for (int j = 0; j < t->n; j++) {
                const size_t o = site * objects + (size_t)(here ? t->object[j] : j);
                char *const there = (char *)f->data + o * bytes,
                            *const packed = buffer + at
                                            + ((i - (size_t)k * slice) * (size_t)t->n + (size_t)j)
                                                  * bytes;
                memcpy(how == PACK ? packed : there, how == PACK ? there : packed, bytes);
            }
        }
        at += slice * (size_t)t->n * bytes;
    }
    return at;
}

/* With one rank after the other, each with the one that has the same distance on the other side. */
static int exchange(const transfer *t)
{
    const lat_comm *comm = t->slab->comm;
    int rc = 0;
    for (int d = 0; d < comm->size && rc == 0; d++) {
        const int here = comm->rank, to = (here + d) % comm->size,
                  from = (here + comm->size - d) % comm->size, out_part = t->give ? here : to,
                  out_slab = t->give ? to : here, in_part = t->give ? from : here,
                  in_slab = t->give ? here : from;
        const size_t out = copy_shared(t, out_part, out_slab, NULL, PACK),
                     in = copy_shared(t, in_part, in_slab, NULL, UNPACK);
        char *buffer = lat_alloc(1, out + in + 1, "parts of a field");
        rc = lat_agree(comm, buffer ? 0 : -1);
        if (rc == 0) {
            const lat_message m = {to, from, 0, 0, buffer, buffer + out, out, in};
            copy_shared(t, out_part, out_slab, buffer, PACK);
            rc = lat_rc(comm->begin(comm, 1, &m) || comm->finish(comm));
        }
        if (rc == 0)
            copy_shared(t, in_part, in_slab, buffer + out, UNPACK);
        free(buffer);
    }
    return rc;
}

int lat_box_part(const lat_box *box, const lat_field *u, int n, bool ghosts, lat_field *v)
{
    const transfer t = {.box = box, .slab = u, .ghosts = ghosts};
    const lat_part_of_lattice part = part_of(&t, u->comm->rank);
    *v = (lat_field){.data = NULL};
    lat_header_init(&v->head);
    v->head.geom = u->head.geom;
    v->head.nc = u->head.nc;
    v->head.real = u->head.real;
    v->head.kind = u->head.kind;
    v->head.reals = u->head.reals;
    if (lat_header_spinors(&u->head))
        lat_header_make_spinors(&v->head, LAT_MODES, n);
    v->part = lat_alloc(1, sizeof *v->part, "a part of a field");
    if (v->part)
        *v->part = part;
    v->data = lat_alloc(lat_volume(&part.extent), (size_t)n * object_bytes(&t),
                        "a part of a field");
    if (v->part && v->data)
        return 0;
    lat_field_free(v);
    return -1;
}

int lat_box_take(const lat_box *box, const lat_field *u, int n, const int *object, bool ghosts,
                 lat_field *v)
{
    const transfer t = {box, u, v, n, object, ghosts, false};
    const int rc = lat_box_part(box, u, n, ghosts, v);
    if (lat_agree(u->comm, rc) == 0 && exchange(&t) == 0)
        return 0;
    lat_field_free(v);
    return -1;
}

int lat_box_take_own(const lat_comm *comm, const lat_field *u, lat_field *v)
{
    static const int all[] = {0, 1, 2, 3};
    lat_box box;
    *v = (lat_field){.data = NULL};
    if (comm->size == 1)
        return 0;
    if (lat_box_of(comm, &u->head.geom, &box))
        return -1;
    if (lat_box_slab(&box, &u->head.geom))
        return 0;
    return lat_box_take(&box, u, (int)lat_header_objects(&u->head), all, true, v);
}

int lat_box_give(const lat_box *box, const lat_field *v, int n, const int *object, lat_field *u)
{
    const transfer t = {box, u, v, n, object, false, true};
    return exchange(&t);
}
