/* SPDX-License-Identifier: BSD-3-Clause */
/* subspace.c: test vectors as host fields, and what other code may compare. */
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/iterate.h"
#include "multigrid/multigrid_internal.h"

static const lat_part both = {LAT_BOTH, LAT_EIGHT, lat_column_numbers};

/* Test vectors from k on become those of a batch. */
static int take(lat_multigrid *m, int k, lat_field *stage)
{
    return lat_spinors_put(m->system.space, &both, m->x, stage, lat_column_numbers)
                   || m->ops->fine_take(&m->fine, k, m->x)
               ? -1
               : 0;
}

/* In single precision they are those of `kept`. */
static int keep(lat_multigrid *m, int k, lat_field *stage, lat_field *kept)
{
    lat_space *s = m->system.space;
    if (lat_spinors_get(s, &both, m->x, stage, lat_column_numbers))
        return -1;
    lat_mg_from_stage(stage, k, kept);
    lat_mg_to_stage(kept, k, stage);
    return take(m, k, stage);
}

int lat_multigrid_round(lat_multigrid *m, lat_field *kept)
{
    lat_field stage;
    int rc = kept->data ? lat_field_spinors(&stage, m->links, LAT_MODES, LAT_EIGHT) : 0;
    for (int k = 0; k < m->fine.down.n && rc == 0; k += LAT_EIGHT)
        rc = m->ops->fine_give(&m->fine, k, m->x)
             || (kept->data
                     ? keep(m, k, &stage, kept)
                     : m->ops->fine_round(&m->fine, m->x) || m->ops->fine_take(&m->fine, k, m->x));
    if (kept->data)
        lat_field_free(&stage);
    return rc ? -1 : 0;
}

int lat_multigrid_take_known(lat_multigrid *m)
{
    lat_field stage;
    int rc = lat_field_spinors(&stage, m->links, LAT_MODES, LAT_EIGHT);
    for (int k = 0; k < m->fine.down.n && rc == 0; k += LAT_EIGHT) {
        lat_mg_to_stage(m->options.known, k, &stage);
        rc = take(m, k, &stage);
    }
    lat_field_free(&stage);
    return rc;
}

/* ---- for a certificate ----------------------------------------------------------------------- */

/* Vectors of random numbers that no test vector has. */
#define SAMPLE UINT64_C(0x100000000)

/* <a_i, b_j> of all columns. */
static void products(const lat_coarse *c, const lat_eight *a, const lat_eight *b,
                     lat_scalar dot[LAT_EIGHT][LAT_EIGHT])
{
    for (int i = 0; i < LAT_EIGHT; i++)
        for (int j = 0; j < LAT_EIGHT; j++) {
            lat_scalar sum = {0, 0};
            for (int64_t k = 0; k < (int64_t)c->sites.count * c->rows; k++) {
                const double are = a[k].re[i], aim = a[k].im[i], bre = b[k].re[j], bim = b[k].im[j];
                sum.re += are * bre + aim * bim;
                sum.im += are * bim - aim * bre;
            }
            dot[i][j] = sum;
        }
}

static int sample(lat_multigrid *m, lat_eight *z, lat_eight *image, lat_multigrid_sample *to)
{
    const lat_coarse *c = &m->coarse->coarse;
    if (m->ops->fetch(c->dev, z, m->z, lat_coarse_bytes(c))
        || m->ops->fetch(c->dev, image, m->correction, lat_coarse_bytes(c)))
        return -1;
    products(c, z, z, to->one);
    products(c, z, image, to->coarse);
    lat_coarse_norms(c, image, to->image);
    to->dimension = (double)c->sites.count * c->rows;
    return 0;
}

int lat_multigrid_draw(lat_multigrid *m, lat_field *x, lat_multigrid_sample *to)
{
    lat_space *s = m->system.space;
    const lat_coarse *c = &m->coarse->coarse;
    if (m->light)
        return lat_fail("multigrid: expected test vectors and P, which solves have given back");
    lat_dfield *const drawn = lat_vector_new(s, "a certificate");
    const int failed = !drawn || lat_coarse_random(c, SAMPLE, m->z)
                       || m->ops->fine_prolong(&m->fine, true, LAT_EIGHT, lat_column_numbers, drawn,
                                               m->z)
                       || lat_spinors_get(s, &both, drawn, x, lat_column_numbers)
                       || m->ops->apply(c, m->correction, m->z);
    lat_dfield_free(drawn);
    if (failed)
        return -1;
    lat_eight *const z = lat_alloc(2, lat_coarse_bytes(c), "a certificate");
    const int rc = z ? sample(m, z, z + lat_coarse_bytes(c) / sizeof *z, to) : -1;
    free(z);
    return rc;
}
