/* SPDX-License-Identifier: BSD-3-Clause */
/* spinor.c: spaces of spinors: what devices share. */
#include "vector/space.h"
#include "grid/staging.h"

#include <math.h>
#include "base/error.h"
#include "site/random.h"

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
    return box.ranks[1] == 1 && dims[0] * dims[1] * (box.ranks[2] > 1 ? 1 : dims[2]) % 64 == 0;
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

/* `object` of one column, where put and get look for it. */
static lat_part one_of(const int *column, int object, int by_column[LAT_VECTOR_COLUMNS])
{
    by_column[*column] = object;
    return (lat_part){LAT_BOTH, 1, column};
}

int lat_spinor_put(lat_space *s, lat_dfield *x, int column, const lat_field *host, int object)
{
    int by_column[LAT_VECTOR_COLUMNS];
    const lat_part p = one_of(&column, object, by_column);
    return s->ops->put(s, &p, x, host, by_column);
}

int lat_spinor_get(lat_space *s, const lat_dfield *x, int column, lat_field *host, int object)
{
    int by_column[LAT_VECTOR_COLUMNS];
    const lat_part p = one_of(&column, object, by_column);
    return s->ops->get(s, &p, x, host, by_column);
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
