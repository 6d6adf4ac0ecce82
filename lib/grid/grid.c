/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c: what grids and fields of the CPU and of GPUs share. */
#include "grid.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "grid_internal.h"

/* ---- grids ----------------------------------------------------------------------------------- */

/* The lattice of a slot, and where its axes are in the whole one. */
static int make_slot(lat_grid *g)
{
    char text[64];
    const lat_geometry *all = &g->spec.lattice;
    g->slot = (lat_geometry){.nd = 0, .dims = {1, 1, 1, 1}};
    for (int mu = 0; mu < all->nd; mu++) {
        if (mu == g->spec.across)
            continue;
        if (all->dims[mu] % 2 && (!g->spec.odd || g->dev->gpu))
            return lat_fail("lattice %s: extent %d is odd; even and odd sites need even extents",
                            lat_dims_text(all, text), all->dims[mu]);
        g->axis[g->slot.nd] = mu;
        g->slot.dims[g->slot.nd++] = all->dims[mu];
    }
    return 0;
}

/* Can GPUs so cut it? */
static int check_gpus(const lat_grid *g)
{
    const lat_geometry *all = &g->spec.lattice;
    if (!g->dev->gpu || lat_box_slab(&g->box, all))
        return 0;
    if (!g->spec.spinors)
        return lat_fail_usage("ranks with GPUs cut the last axis of a lattice alone: expected at "
                              "most %d ranks and no --grid, or --device cpu",
                              all->dims[all->nd - 1] / 2);
    return 0;
}

/* What is here, and where it ends in ghosts. */
static int divide(lat_grid *g)
{
    const lat_comm *comm = g->dev->comm;
    const lat_geometry *all = &g->spec.lattice;
    const int last = all->nd - 1, across = g->spec.across;
    g->slices = across < 0 ? 1 : all->dims[across];
    g->distributed = across == last && comm->size > 1;
    g->slab = lat_slab_of(comm, comm->rank, all->dims[last]);
    g->here = g->slot;
    if (across == last)
        return 0;
    if (lat_box_of(comm, all, &g->box) || check_gpus(g))
        return -1;
    const int first = g->axis[0], whole = across < 0 || g->box.ranks[across] == 1 ? first : across;
    if (g->box.ranks[whole] > 1 && whole != last)
        return lat_fail_usage("slices across %c: expected a --grid with one rank along %c",
                              "xyzt"[across], "xyzt"[whole]);
    g->slab = (lat_slab){g->box.first[last], g->box.count[last]};
    for (int i = 0; i < g->slot.nd; i++) {
        const int mu = g->axis[i];
        /* The checking device has ghosts along one axis more than slabs. */
        g->cut[i] = g->box.ranks[mu] > 1
                    || (g->dev->options.check
                        && (mu == last || (mu > 0 && mu == last - 1 && all->dims[mu] % 2 == 0)));
        g->here.dims[i] = g->box.count[mu];
        g->halo = g->halo || g->cut[i];
    }
    g->boxed = !lat_box_slab(&g->box, all);
    return 0;
}

int lat_grid_set_slots(lat_grid *g, int slots)
{
    int *slice = lat_alloc((size_t)slots, sizeof *slice, "the list of slices");
    if (!slice)
        return -1;
    const int own = g->distributed ? g->slab.count : g->slices,
              first = g->distributed ? g->slab.first : 0;
    for (int s = 0; s < slots; s++)
        slice[s] = s < own ? first + s : -1;
    free(g->slice);
    g->slice = slice;
    g->slots = slots;
    return g->dev->grid->slots_changed(g);
}

void lat_grid_assign(lat_grid *g, int slot, int slice)
{
    g->slice[slot] = slice;
    if (slice >= 0)
        g->dev->grid->assigned(g, slot);
}

lat_grid *lat_grid_new(lat_device *dev, const lat_grid_spec *spec)
{
    lat_grid common = {.dev = dev, .spec = *spec};
    if (make_slot(&common) || divide(&common))
        return NULL;
    lat_grid *g = dev->grid->grid_new(&common);
    if (g && lat_grid_set_slots(g, g->distributed ? g->slab.count : g->slices)) {
        lat_grid_free(g);
        return NULL;
    }
    return g;
}

lat_grid *lat_grid_of_spinors(lat_device *dev, const lat_geometry *lattice, lat_storage storage)
{
    const lat_grid_spec spec = {
        .lattice = *lattice, .storage = storage, .across = -1, .spinors = true};
    return lat_grid_new(dev, &spec);
}

void lat_grid_free(lat_grid *g)
{
    if (!g)
        return;
    while (g->fields)
        lat_dfield_free(g->fields);
    free(g->slice);
    g->dev->grid->grid_free(g);
}

bool lat_grid_stuck(const lat_grid *g) { return g && g->dev->gpu && g->halo && *lat_error(); }

/* ---- fields ---------------------------------------------------------------------------------- */

size_t lat_dfield_unit_bytes(const lat_grid *g, lat_shape shape)
{
    return g->dev->grid->unit_bytes(g, shape);
}

lat_dfield *lat_dfield_new(lat_grid *g, lat_shape shape, int members, const char *what)
{
    lat_dfield *f = lat_alloc_zero(1, sizeof *f, what);
    if (!f)
        return NULL;
    shape.ghosts = shape.ghosts && g->halo;
    *f = (lat_dfield){.grid = g,
                      .shape = shape,
                      .members = members,
                      .unit_bytes = lat_dfield_unit_bytes(g, shape),
                      .next = g->fields};
    g->fields = f;
    const lat_grid_ops *ops = g->dev->grid;
    f->data = ops->field_alloc(f, (size_t)members * (size_t)g->slots * f->unit_bytes, what);
    if (!f->data || (shape.ghosts && ops->halo_new(f))) {
        lat_dfield_free(f);
        return NULL;
    }
    return f;
}

void lat_dfield_free(lat_dfield *f)
{
    if (!f)
        return;
    const lat_grid_ops *ops = f->grid->dev->grid;
    lat_dfield **at = &f->grid->fields;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    if (f->halo)
        ops->halo_free(f);
    ops->field_free(f);
    free(f);
}

/* All objects of a site. */
static const int all_objects[] = {0, 1, 2, 3};

const lat_field *lat_grid_host(const lat_grid *g, const lat_field *host, lat_field *part)
{
    *part = (lat_field){.data = NULL};
    if (!g->boxed || !host)
        return host;
    return lat_box_take(&g->box, host, (int)lat_header_objects(&host->head), all_objects, true,
                        part)
               ? NULL
               : part;
}

const lat_field *lat_grid_there(const lat_grid *g, const lat_field *host, const lat_field *there,
                                lat_field *part)
{
    *part = (lat_field){.data = NULL};
    return there ? there : lat_grid_host(g, host, part);
}

int lat_dfield_put(lat_dfield *f, int member, const lat_field *host, const double *weight)
{
    lat_field part;
    const lat_field *from = lat_grid_host(f->grid, host, &part);
    const int rc = lat_rc((host && !from) || f->grid->dev->grid->put(f, member, from, weight)
                          || lat_halo_exchange(f, member));
    lat_field_free(&part);
    return rc;
}

int lat_dfield_get(const lat_dfield *f, int member, lat_field *host)
{
    const lat_grid *g = f->grid;
    const int n = (int)lat_header_objects(&host->head);
    if (!g->boxed)
        return g->dev->grid->get(f, member, host);
    lat_field part;
    int rc = lat_agree(g->dev->comm, lat_box_part(&g->box, host, n, false, &part));
    if (rc == 0)
        rc = lat_rc(g->dev->grid->get(f, member, &part)
                    || lat_box_give(&g->box, &part, n, all_objects, host));
    lat_field_free(&part);
    return rc;
}

int lat_dfield_migrate(lat_dfield *f, int unit, int rank, bool send)
{
    return f->grid->dev->grid->migrate(f, unit, rank, send);
}

/* ---- halos ----------------------------------------------------------------------------------- */

int lat_halo_exchange(lat_dfield *f, int member)
{
    const lat_grid_ops *ops = f->grid->dev->grid;
    for (int slot = 0; f->halo && slot < f->grid->slots; slot++)
        for (int parity = 0; parity < 2; parity++) {
            const int unit = member * f->grid->slots + slot;
            const lat_halo_part part = {parity, &unit, 1, 0, f->shape.objects};
            if (ops->halo_exchange(f, &part))
                return -1;
        }
    return 0;
}
