/* SPDX-License-Identifier: BSD-3-Clause */
/* check_vector: numbers of a batch lie where vector/layout.h says, on every device, for each vector
 * length and storage. */
#include <math.h>
#include <string.h>
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "vector/space.h"

enum { COLUMNS = 3, REALS = 24 };

static const char *const storage_name[] = {"single", "double", "half"};

static lat_field host_spinors(const lat_geometry geom, int nc)
{
    lat_field f = {.data = NULL};
    lat_header_init(&f.head);
    f.head.geom = geom;
    f.head.nc = nc;
    f.head.real = LAT_F64;
    lat_header_make_spinors(&f.head, LAT_MODES, COLUMNS);
    need(lat_header_check(&f.head, "spinors") == 0 && lat_field_alloc(&f, &lat_comm_self) == 0,
         "spinors");
    fill_spinors(&f, 7);
    return f;
}

/* The spinor v of a host in the basis that space.h states, of `colours` colours, the third one of
 * SU(2) zero. On a GPU upper and lower are those of gamma matrices whose spins are (-1-3, 0+2, 1-3,
 * 2-0)/sqrt 2 of a host's. */
static void inside(const double *v, int nc, bool gpu, int colours, double *to)
{
    static const struct {
        int spin[2];
        double factor[2];
    } cpu_spin[4] = {{{0, 2}, {1, 1}}, {{1, 3}, {1, 1}}, {{0, 2}, {1, -1}}, {{1, 3}, {1, -1}}},
      gpu_spin[4] = {{{1, 3}, {-1, -1}}, {{0, 2}, {1, 1}}, {{1, 3}, {1, -1}}, {{0, 2}, {-1, 1}}};
    for (int e = 0; e < 8 * colours; e++) {
        const int spin = e / (2 * colours), colour = e / 2 % colours;
        to[e] = 0;
        for (int k = 0; k < 2 && colour < nc; k++)
            to[e] += (gpu ? gpu_spin : cpu_spin)[spin].factor[k] * M_SQRT1_2
                     * v[((gpu ? gpu_spin : cpu_spin)[spin].spin[k] * nc + colour) * 2 + e % 2];
    }
}

/* Raw memory of x against the host's field; each position is of one site, even ones first. */
static void compare(lat_space *s, const lat_dfield *x, const lat_field *host)
{
    const lat_vector_layout *l = &s->layout;
    const lat_geometry *geom = &host->head.geom;
    const int nc = host->head.nc;
    const size_t sites = lat_volume(geom);
    const bool gpu = s->grid->dev->gpu;
    /* Numbers of a host are below 1, and those inside below sqrt 2: some roundings of each. */
    const double bound = l->real == 8 ? 0x1p-51 : l->real == 4 ? 0x1p-22 : 0x1p-14;
    int64_t last = 0, first_odd = INT64_MAX, last_even = 0;
    for (size_t i = 0; i < sites; i++)
        last = s->ops->position(s, i) > last ? s->ops->position(s, i) : last;
    const size_t end = lat_vector_at(l, last, COLUMNS - 1, l->reals - 1) + (size_t)l->real;
    char *data = calloc(x->unit_bytes, 1), *taken = calloc((size_t)last + 1, 1);
    need(data && taken && end <= x->unit_bytes, "the memory of a batch");
    CHECK(s->ops->bytes(s, x, 0, x->unit_bytes, data) == 0, "%s", lat_error());
    for (size_t i = 0; i < sites; i++) {
        const int64_t p = s->ops->position(s, i);
        int c[LAT_MAX_DIMS];
        lat_coordinates(geom, i, c);
        CHECK(!taken[p]++, "site %zu: position %ld is of another one, too", i, (long)p);
        if ((c[0] + c[1] + c[2] + c[3]) % 2)
            first_odd = p < first_odd ? p : first_odd;
        else
            last_even = p > last_even ? p : last_even;
        for (int k = 0; k < COLUMNS; k++) {
            double v[REALS], expected[REALS];
            lat_field_get(host, i * COLUMNS + (size_t)k, v);
            inside(v, nc, gpu, l->reals / 8, expected);
            for (int e = 0; e < l->reals; e++)
                CHECK(fabs(lat_vector_real(l, data, p, k, e) - expected[e]) <= bound,
                      "site %zu, column %d, real %d: %g, expected %g", i, k, e,
                      lat_vector_real(l, data, p, k, e), expected[e]);
        }
    }
    CHECK(last_even < first_odd, "an even site at %ld, an odd one at %ld", (long)last_even,
          (long)first_odd);
    free(data);
    free(taken);
}

static void check_layout(lat_device *dev, const lat_geometry geom, int nc, lat_storage storage)
{
    const lat_grid_spec spec = {geom, storage, -1, false, true};
    static const int object[COLUMNS] = {0, 1, 2};
    const lat_part all = {LAT_BOTH, COLUMNS, lat_column_numbers};
    lat_field host = host_spinors(geom, nc);
    lat_grid *grid = lat_grid_new(dev, &spec);
    lat_space *s = grid ? lat_space_open(grid, nc, COLUMNS) : NULL;
    lat_dfield *x = s ? lat_vector_new(s, "x") : NULL;
    if (CHECK(x != NULL, "%s", lat_error())) {
        CHECK(s->layout.reals == (dev->gpu ? REALS : 8 * nc)
                  && s->layout.real == (int)lat_storage_bytes(storage)
                  && (dev->gpu || s->layout.run == 1),
              "%d reals of %d bytes", s->layout.reals, s->layout.real);
        CHECK(lat_spinors_put(s, &all, x, &host, object) == 0, "%s", lat_error());
        compare(s, x, &host);
    }
    lat_dfield_free(x);
    lat_space_close(s);
    lat_grid_free(grid);
    lat_field_free(&host);
}

static void check_device(lat_device *dev, const char *lanes)
{
    static const lat_geometry lattice[] = {{4, {4, 4, 4, 8}}, {4, {8, 2, 4, 4}},
                                           {4, {2, 2, 2, 2}}, {4, {6, 10, 2, 4}},
                                           {4, {4, 8, 6, 2}}, {4, {16, 4, 2, 2}}};
    char what[100];
    for (int storage = 0; storage < (dev->gpu ? 3 : 2); storage++) {
        snprintf(what, sizeof what, "numbers of a batch in %s lie where the layout says (%s)",
                 storage_name[storage], lanes);
        device_case(dev, what);
        for (size_t i = 0; i < sizeof lattice / sizeof *lattice; i++)
            for (int nc = 2; nc <= 3; nc++)
                check_layout(dev, lattice[i], nc, (lat_storage)storage);
    }
}

/* Batches of one parity, which share memory on a GPU, do not touch each other: each keeps its norm
 * while others are made, given back and filled. */
static void check_halves(lat_device *dev)
{
    enum { FIELDS = 6 };
    const lat_grid_spec spec = {{4, {6, 10, 2, 4}}, LAT_STORAGE_SINGLE, -1, false, true};
    lat_grid *grid = lat_grid_new(dev, &spec);
    lat_space *s = grid ? lat_space_open(grid, 3, COLUMNS) : NULL;
    lat_dfield *x[FIELDS] = {NULL};
    double norm[FIELDS][LAT_VECTOR_COLUMNS], again[LAT_VECTOR_COLUMNS];
    device_case(dev, "batches of one parity do not touch each other");
    need(s != NULL, "a space");
    for (int step = 0; step < 3 * FIELDS; step++) {
        const int k = 5 * step % FIELDS; /* one is given back, and made of another parity */
        const lat_part p = {(lat_parity)(step % 3 == 0), COLUMNS, lat_column_numbers};
        lat_dfield_free(x[k]);
        need((x[k] = lat_vector_new_of(s, p.parity, "a batch")) != NULL
                 && !s->ops->random(s, &p, (uint64_t)step, x[k])
                 && !s->ops->dots(s, &p, 0, NULL, x[k], NULL, norm[k]),
             "a batch");
        norm[k][LAT_VECTOR_COLUMNS - 1] = p.parity;
        for (int i = 0; i < FIELDS; i++) {
            const lat_part q = {(lat_parity)norm[i][LAT_VECTOR_COLUMNS - 1], COLUMNS,
                                lat_column_numbers};
            need(!x[i] || !s->ops->dots(s, &q, 0, NULL, x[i], NULL, again), "norms");
            for (int c = 0; c < COLUMNS && x[i]; c++)
                CHECK(again[c] == norm[i][c] && again[c] > 0, "batch %d, column %d: %g, %g", i, c,
                      again[c], norm[i][c]);
        }
    }
    lat_vector_free_all(FIELDS, x);
    lat_space_close(s);
    lat_grid_free(grid);
}

int main(void)
{
    static const char *const lanes[] = {"base", "avx2", "avx512"};
    for (size_t i = 0; i < 3; i++) {
        setenv("LAT_LANES", lanes[i],
               1); /* where there are none so wide, the widest that there are */
        check_device(cpu_device(), lanes[i]);
    }
    unsetenv("LAT_LANES");
    check_halves(cpu_device());
    lat_device *gpu = gpu_device();
    if (gpu)
        check_device(gpu, "groups of 32");
    if (gpu)
        check_halves(gpu);
    else
        check_skipped("GPU: numbers of a batch lie where the layout says", lat_error());
    return check_done();
}
