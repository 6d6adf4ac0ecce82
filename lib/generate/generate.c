/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.c: what making configurations on the CPU and on a GPU share. */
#include "generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "generate_internal.h"
#include "site/groups.h"

static const lat_generate_device *device_of(bool gpu)
{
    return gpu ? &lat_generate_gpu : &lat_generate_cpu;
}

int lat_generate_groups(bool gpu) { return device_of(gpu)->groups; }

const char *lat_generate_description(const lat_generator *gen) { return gen->description; }

static int open_links(lat_generator *gen, const lat_field *u)
{
    char text[64], what[96];
    const lat_geometry *geom = &u->head.geom;
    const lat_grid_spec spec = {
        .lattice = *geom, .storage = lat_storage_of(gen->real), .across = -1};
    const lat_shape links = lat_shape_of_links(geom->nd, gen->nc);
    if (!(gen->grid = lat_grid_new(gen->dev, &spec)))
        return -1;
    snprintf(what, sizeof what, "lattice %s of SU(%d) in %s", lat_dims_text(geom, text), gen->nc,
             lat_storage_name(spec.storage));
    return lat_rc(
        lat_device_check_memory(gen->dev, (double)lat_dfield_unit_bytes(gen->grid, links), what)
        || !(gen->u = lat_dfield_new(gen->grid, links, 1, "the links"))
        || lat_dfield_put(gen->u, 0, u, NULL) || gen->device->open(gen));
}

lat_generator *lat_generate_open(lat_device *dev, const lat_field *u, lat_real real,
                                 const lat_action *action)
{
    const lat_generate_device *device = device_of(dev->gpu);
    const int nc = u->head.nc;
    if (nc > LAT_LINKS_MOST)
        return lat_fail_null("SU(%d): links are updated of SU(2) to SU(%d)", nc, LAT_LINKS_MOST);
    if (lat_device_check_group(dev->gpu, nc, device->groups))
        return NULL;
    lat_generator *gen = lat_alloc_zero(1, device->size, "a generator");
    if (!gen)
        return NULL;
    gen->device = device;
    gen->dev = dev;
    gen->action = *action;
    gen->nc = nc;
    gen->real = real;
    snprintf(gen->description, sizeof gen->description, "%s", dev->name);
    if (open_links(gen, u) == 0)
        return gen;
    lat_generate_close(gen);
    return NULL;
}

void lat_generate_close(lat_generator *gen)
{
    if (!gen || lat_grid_stuck(gen->grid))
        return;
    lat_grid_free(gen->grid);
    free(gen);
}

int lat_generate_get(const lat_generator *gen, lat_field *u)
{
    return lat_dfield_get(gen->u, 0, u) || lat_field_exchange(u) ? -1 : 0;
}

int lat_generate_sweep(lat_generator *gen, const lat_link_sweep *how, long n)
{
    return gen->device->sweep(gen, how, n);
}

int lat_generate_plaquette(lat_generator *gen, double *spatial, double *temporal)
{
    const lat_geometry *geom = &gen->grid->spec.lattice;
    const int nd = geom->nd;
    const double traces = (double)lat_volume(geom) * gen->nc;
    double sum[2];
    if (gen->device->plaquettes(gen, sum))
        return -1;
    *spatial = nd > 2 ? sum[0] / (traces * ((nd - 1) * (nd - 2) / 2)) : NAN;
    *temporal = nd > 1 ? sum[1] / (traces * (nd - 1)) : NAN;
    return 0;
}
