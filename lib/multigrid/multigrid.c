/* SPDX-License-Identifier: BSD-3-Clause */
/* multigrid.c: a multigrid from an operator. */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "multigrid/multigrid_internal.h"

int lat_multigrid_takes(const lat_device *device, const lat_geometry *lattice, int nc)
{
    int block[LAT_MAX_DIMS];
    if (lattice->nd != 4 || (nc != 2 && nc != 3))
        return lat_fail("multigrid: expected SU(2) or SU(3) in four dimensions");
    return lat_mg_fine_check(lattice, device, block);
}

/* A cycle of an ordinary setup: |r| falls by this. */
#define GAIN .31

/* On a CPU, as bench-multigrid has measured it on 16^3x32 on three processors: a setup takes the
 * time of 8000 to 9300 applications of S to one of eight columns, most of it on coarse levels and
 * in transfers; a cycle takes the time of 11.6 to 16. */
#define SETUP_ON_CPU 8500.
#define CYCLE_ON_CPU 14.

/* Of a GPU, as bench-multigrid-gpu has measured it on 32^3x64 and 16^3x32: transfers and coarse
 * levels cost more there beside BiCGstab in half; and a setup has launches that do not depend on
 * the lattice. */
static double cost_on_gpu(const lat_geometry *lattice, double columns, double digits)
{
    const double setup = 9200 + 1200 * 0x1p21 / (double)lat_volume(lattice),
                 cycle = 16 + 12 / fmin(columns, 16);
    return setup + columns * cycle * digits / -log(GAIN);
}

double lat_multigrid_cost(const lat_device *device, const lat_geometry *lattice, double columns,
                          double digits)
{
    if (device->gpu)
        return cost_on_gpu(lattice, columns, digits);
    return SETUP_ON_CPU + CYCLE_ON_CPU * columns * digits / -log(GAIN);
}

/* ---- vectors of solves ----------------------------------------------------------------------- */

static int apply(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                 const lat_apply_end *end)
{
    const lat_system *s = &((lat_multigrid *)with)->caller;
    return s->apply(s->with, dagger, p, out, in, end);
}

static lat_dfield *vector(void *with, const char *what)
{
    lat_multigrid *m = with;
    return m->spares > 0 ? m->spare[--m->spares] : m->caller.vector(m->caller.with, what);
}

static void release(void *with, lat_dfield *v)
{
    lat_multigrid *m = with;
    if (v && m->spares < LAT_MULTIGRID_SPARE)
        m->spare[m->spares++] = v;
    else
        m->caller.release(m->caller.with, v);
}

static void take_system(lat_multigrid *m, const lat_system *s)
{
    m->caller = m->system = *s;
    m->system.apply = apply;
    m->system.vector = vector;
    m->system.release = release;
    m->system.with = m;
}

static void drop_spare(lat_multigrid *m)
{
    while (m->spares > 0)
        m->caller.release(m->caller.with, m->spare[--m->spares]);
}

/* ---- open and close -------------------------------------------------------------------------- */

static int open_fields(lat_multigrid *m)
{
    m->rhs = lat_vector_new_of(m->system.space, LAT_ODD, "test vectors");
    m->x = lat_vector_new(m->system.space, "test vectors");
    return m->rhs && m->x ? 0 : -1;
}

/* What the setup has. */
static void drop_setup(lat_multigrid *m)
{
    lat_dfield_free(m->rhs);
    lat_dfield_free(m->x);
    m->rhs = m->x = NULL;
    drop_spare(m);
}

void lat_multigrid_lighten(lat_multigrid *m)
{
    const lat_device *const dev = m->fine.down.dev;
    drop_setup(m);
    lat_transfer_lighten(&m->fine.down);
    for (lat_level *l = m->coarse; l->next; l = l->next)
        lat_transfer_lighten(&l->down);
    if (dev->gpu && !m->light)
        lat_gpu_give_back();
    m->light = true;
}

int lat_multigrid_smooth_in(lat_multigrid *m, const lat_system *s)
{
    if (m->half.system == s)
        return 0;
    lat_multigrid_smoothing_close(&m->half);
    lat_multigrid_smoothing_close(&m->single);
    return s ? lat_multigrid_smoothing_open(&m->half, s, true) : 0;
}

void lat_multigrid_leave(lat_multigrid *m)
{
    lat_multigrid_smoothing_close(&m->single);
    lat_multigrid_smoothing_close(&m->half);
    drop_setup(m);
    m->fine.box = NULL;
}

int lat_multigrid_move(lat_multigrid *m, const lat_system *s, lat_dirac *d)
{
    const double mass = d->fermion.mass - m->mass, twist = d->fermion.twist - m->twist;
    take_system(m, s);
    m->d = m->fine.d = d;
    m->fine.space = d->space;
    if (d->fermion.mass == m->set_mass && d->fermion.twist == m->set_twist)
        return 0;
    m->set_mass = d->fermion.mass;
    m->set_twist = d->fermion.twist;
    int rc = open_fields(m);
    for (lat_level *l = m->coarse; l && rc == 0; l = l->next)
        rc = lat_coarse_finish(&l->coarse, mass, twist, l->dense);
    if (rc == 0)
        rc = lat_multigrid_fit(m);
    drop_setup(m);
    return rc;
}

static int open_levels(lat_multigrid *m, const lat_field *links)
{
    lat_geometry coarse = m->d->space->grid->spec.lattice;
    const lat_device *dev = m->d->space->grid->dev;
    int block[LAT_MAX_DIMS];
    if (lat_mg_fine_check(&coarse, dev, block))
        return -1;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        coarse.dims[mu] /= block[mu];
    const int columns = m->options.beside ? m->options.beside : m->d->space->columns,
              batches = dev->gpu ? (columns + LAT_EIGHT - 1) / LAT_EIGHT : 1;
    m->coarse = lat_level_open(dev, &coarse, &m->d->space->grid->box, m->report.vectors,
                               batches < 2 ? batches : 2);
    m->ops = m->coarse ? m->coarse->coarse.ops : NULL;
    if (!m->coarse || !(m->z = lat_coarse_vector(&m->coarse->coarse))
        || !(m->correction = lat_coarse_vector(&m->coarse->coarse)))
        return -1;
    m->fine.links = links;
    m->fine.box = m->options.box;
    m->fine.at_hand = m->options.there;
    return lat_mg_fine_open(&m->fine, m->d, block, &m->coarse->coarse, m->report.vectors);
}

lat_multigrid *lat_multigrid_open(const lat_system *s, lat_dirac *d, const lat_field *links,
                                  const lat_multigrid_options *options)
{
    lat_multigrid *m = lat_alloc_zero(1, sizeof *m, "the multigrid");
    if (!m)
        return NULL;
    take_system(m, s);
    m->d = d;
    m->options = *options;
    m->links = links;
    m->report.vectors = options->known     ? (int)lat_header_objects(&options->known->head)
                        : options->vectors ? options->vectors
                                           : LAT_MULTIGRID_VECTORS;
    m->mass = m->set_mass = d->fermion.mass;
    m->twist = m->set_twist = d->fermion.twist;
    m->method = (lat_method){.system = &m->system, .precondition = lat_multigrid_cycle, .with = m};
    int rc = open_levels(m, links) || open_fields(m) ? -1 : lat_multigrid_setup(m);
    drop_spare(m); /* before solutions take memory */
    for (const lat_level *l = m->coarse; l; l = l->next)
        m->report.levels++;
    m->report.levels++;
    if (rc > 0)
        rc = lat_fail("multigrid: a matrix of a coarse level is singular");
    if (rc == 0)
        return m;
    lat_multigrid_close(m);
    return NULL;
}

void lat_multigrid_close(lat_multigrid *m)
{
    if (!m)
        return;
    lat_multigrid_leave(m);
    if (m->ops) {
        m->ops->free(m->z);
        m->ops->free(m->correction);
    }
    lat_mg_fine_close(&m->fine);
    lat_level_close(m->coarse);
    free(m);
}

const lat_method *lat_multigrid_method(const lat_multigrid *m) { return &m->method; }

const lat_multigrid_report *lat_multigrid_told(const lat_multigrid *m) { return &m->report; }

const int *lat_multigrid_blocks(const lat_multigrid *m) { return m->fine.down.blocks.block; }
