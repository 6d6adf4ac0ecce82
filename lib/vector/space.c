/* SPDX-License-Identifier: BSD-3-Clause */
/* spinor.c: spaces of spinors: what devices share. */
#include "vector/space.h"
#include "grid/staging.h"

#include <math.h>
#include <string.h>
#include "base/error.h"
#include "site/random.h"
#include "vector/faces.h"

const int lat_column_numbers[LAT_VECTOR_COLUMNS] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
const lat_part lat_first_column = {LAT_BOTH, 1, lat_column_numbers};

lat_space *lat_space_open(lat_grid *grid, int nc, int columns)
{
    if (nc < 2 || nc > 3)
        return lat_fail_null("SU(%d): Dirac operators are for SU(2) and SU(3)", nc);
    if (grid->slot.nd != 4 || grid->spec.across >= 0)
        return lat_fail_null("%d dimensions: Dirac operators are for 4", grid->slot.nd);
    if (columns < 1 || columns > LAT_VECTOR_COLUMNS)
        return lat_fail_null("%d columns of spinors: expected 1 to %d", columns,
                             LAT_VECTOR_COLUMNS);
    if (grid->dev->gpu)
        return lat_vector_gpu.open(grid, nc, columns);
    return lat_vector_cpu.open(grid, nc, columns);
}

lat_space *lat_space_open_in(lat_grid *grid, int nc, int columns,
                             const struct lat_temporal *temporal)
{
    lat_space *s = lat_space_open(grid, nc, columns);
    if (s)
        s->temporal = temporal;
    return s;
}

bool lat_space_gpu_takes(const lat_geometry *lattice, const lat_comm *comm)
{
    const int *const dims = lattice->dims;
    lat_box box;
    if (comm->size == 1 || lat_box_of(comm, lattice, &box)) /* a grid will say what is wrong */
        return true;
    uint32_t brick[2];
    if (box.ranks[1] > 1)
        return lat_gpu_brick((uint32_t)dims[0] / 2, (uint32_t)dims[1], brick)
               && (uint32_t)box.count[1] % brick[1] == 0;
    return dims[0] * dims[1] * (box.ranks[2] > 1 ? 1 : dims[2]) % 64 == 0;
}

int lat_spinor_colours(const lat_device *dev, int nc) { return dev->gpu ? 3 : nc; }

void lat_space_close(lat_space *s)
{
    if (s)
        s->ops->close(s);
}

lat_dfield *lat_vector_raw_of(lat_space *s, lat_parity parity, const char *what)
{
    const bool gpu = s->grid->dev->gpu;
    lat_shape shape = {
        s->columns, 8 * lat_spinor_colours(s->grid->dev, s->nc),
        0,          true,
        false,      gpu && !s->grid->halo && parity != LAT_BOTH ? 1 + (int)parity : 0,
        false};
    shape.ghosts = shape.ghosts && !gpu; /* there the space has them */
    return lat_dfield_new(s->grid, shape, 1, what);
}

lat_dfield *lat_vector_raw(lat_space *s, const char *what)
{
    return lat_vector_raw_of(s, LAT_BOTH, what);
}

lat_dfield *lat_vector_new(lat_space *s, const char *what)
{
    return lat_vector_new_of(s, LAT_BOTH, what);
}

lat_dfield *lat_vector_new_of(lat_space *s, lat_parity parity, const char *what)
{
    lat_dfield *x = lat_vector_raw_of(s, parity, what);
    const lat_part p = {parity, s->columns, lat_column_numbers};
    if (x && s->ops->zero(s, &p, x)) {
        lat_dfield_free(x);
        return NULL;
    }
    return x;
}

int lat_vector_new_all(lat_space *s, int n, lat_dfield **v, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!(v[i] = lat_vector_new(s, what)))
            return -1;
    return 0;
}

void lat_vector_free_all(int n, lat_dfield *const *v)
{
    for (int i = 0; v && i < n; i++)
        lat_dfield_free(v[i]);
}

void lat_spinor_draw(uint64_t seed, uint64_t site, int column, int nc, double *spinor)
{
    for (int e = 0; e < 8 * nc; e += 2) {
        uint32_t w[4];
        lat_random(seed, site, (uint32_t)column, LAT_FOR_SPINORS, (uint32_t)e, w);
        const double r = sqrt(-log(lat_uniform(w[0], w[1]))),
                     angle = 2 * M_PI * lat_uniform(w[2], w[3]);
        spinor[e] = r * cos(angle);
        spinor[e + 1] = r * sin(angle);
    }
}

/* ---- host spinors ---------------------------------------------------------------------------- */

/* Where ranks have boxes, and host fields are slabs: a rank's part of such a field has the objects
 * of the columns alone, of[], and in[], by column, says where. */
typedef struct boxed {
    lat_field part;
    int of[LAT_VECTOR_COLUMNS], in[LAT_VECTOR_COLUMNS];
} boxed;

static int find_objects(const lat_space *s, const lat_part *p, const lat_field *host,
                        const int *object, boxed *b)
{
    const lat_geometry *there = &host->head.geom, *here = &s->grid->spec.lattice;
    char found[64], expected[64];
    if (!lat_header_spinors(&host->head) || host->head.nc != s->nc)
        return lat_fail("expected spinors of SU(%d), found %s of SU(%d)", s->nc,
                        lat_kind_text(host->head.kind), host->head.nc);
    if (there->nd != here->nd || memcmp(there->dims, here->dims, sizeof there->dims))
        return lat_fail("expected spinors on %s, found %s", lat_dims_text(here, expected),
                        lat_dims_text(there, found));
    for (int i = 0; i < p->columns; i++) {
        const int k = b->of[i] = object[p->column[i]];
        b->in[p->column[i]] = i;
        if (k < 0 || (size_t)k >= lat_header_objects(&host->head))
            return lat_fail("column %d: expected fewer than %zu", k,
                            lat_header_objects(&host->head));
    }
    return 0;
}

int lat_spinors_put(lat_space *s, const lat_part *p, lat_dfield *x, const lat_field *host,
                    const int *object)
{
    boxed b;
    if (find_objects(s, p, host, object, &b))
        return -1;
    if (!s->grid->boxed)
        return s->ops->put(s, p, x, host, object);
    if (lat_box_take(&s->grid->box, host, p->columns, b.of, false, &b.part))
        return -1;
    const int rc = s->ops->put(s, p, x, &b.part, b.in);
    lat_field_free(&b.part);
    return rc;
}

int lat_spinors_get(lat_space *s, const lat_part *p, const lat_dfield *x, lat_field *host,
                    const int *object)
{
    const lat_box *box = &s->grid->box;
    const lat_comm *comm = s->grid->dev->comm;
    boxed b;
    if (find_objects(s, p, host, object, &b))
        return -1;
    host->zeros = (struct lat_zero_slices){0};
    if (!s->grid->boxed)
        return s->ops->get(s, p, x, host, object);
    int rc = lat_agree(comm, lat_box_part(box, host, p->columns, false, &b.part));
    if (rc == 0)
        rc = lat_rc(lat_agree(comm, s->ops->get(s, p, x, &b.part, b.in))
                    || lat_box_give(box, &b.part, p->columns, b.of, host));
    lat_field_free(&b.part);
    return rc;
}

/* `object` of one column, where they look for it. */
static lat_part one_of(const int *column, int object, int by_column[LAT_VECTOR_COLUMNS])
{
    by_column[*column] = object;
    return (lat_part){LAT_BOTH, 1, column};
}

int lat_spinor_put(lat_space *s, lat_dfield *x, int column, const lat_field *host, int object)
{
    int by_column[LAT_VECTOR_COLUMNS];
    const lat_part p = one_of(&column, object, by_column);
    return lat_spinors_put(s, &p, x, host, by_column);
}

int lat_spinor_get(lat_space *s, const lat_dfield *x, int column, lat_field *host, int object)
{
    int by_column[LAT_VECTOR_COLUMNS];
    const lat_part p = one_of(&column, object, by_column);
    return lat_spinors_get(s, &p, x, host, by_column);
}

void lat_spinor_draw_sites(uint64_t seed, int column, int nc, size_t first, size_t count,
                           double *to)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        lat_spinor_draw(seed, first + i, column, nc, to + LAT_STAGE_SPINOR * i);
        lat_stage_widen(nc, 4, to + LAT_STAGE_SPINOR * i);
    }
}
