/* SPDX-License-Identifier: BSD-3-Clause */
/* space_cpu.c: batches on the CPU: in and out, linear algebra, sums. */
#include "vector/cpu/space_cpu.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "base/threads.h"
#include "grid/lanes.h"
#include "grid/reduce.h"
#include "vector/cpu/host_lanes.h"
#include "vector/shadow.h"
#include "vector/temporal.h"

LAT_LANES_TABLE(lat_vector_lanes, LAT_VECTOR_MOST);

void lat_cpu_blocks(const lat_grid *grid, lat_parity parity, int *begin, int *end)
{
    const lat_layout *lay = lat_cpu(grid)->lay;
    *begin = parity == LAT_ODD ? lay->neven : 0;
    *end = parity == LAT_EVEN ? lay->neven : lay->nblocks;
}

/* ---- the space ------------------------------------------------------------------------------- */

static void vector_cpu_close(lat_space *space)
{
    lat_cpu_space *s = lat_cpu_space_of(space);
    LAT_FREE(s->position, s->signs);
    lat_sum_order_free(&s->order);
    LAT_FREE(s->numbers, s->parts, s->slices, s->total, s);
}

/* The signs of e, as passes want them. */
static int draw_signs(lat_cpu_space *s)
{
    const lat_layout *lay = lat_cpu(s->space.grid)->lay;
    const int64_t sites = (int64_t)lay->nblocks * lay->lanes,
                  *site = lat_cpu_sites(lat_cpu(s->space.grid), 0);
    s->signs = lat_alloc((size_t)sites, (size_t)s->lanes->real, "signs of sites");
    if (!s->signs)
        return -1;
    for (int64_t i = 0; i < sites; i++) {
        const uint32_t sign = lat_shadow_signs((uint32_t)site[i]);
        if (s->lanes->real == 4)
            ((uint32_t *)s->signs)[i] = sign;
        else
            ((uint64_t *)s->signs)[i] = (uint64_t)sign << 32;
    }
    return 0;
}

/* Where sites are. */
static int find_sites(lat_cpu_space *s)
{
    const lat_grid *grid = s->space.grid;
    const lat_layout *lay = lat_cpu(grid)->lay;
    s->position = lat_alloc(lat_volume(&grid->here), sizeof *s->position, "the table of sites");
    if (!s->position)
        return -1;
    for (int64_t i = 0; i < (int64_t)lay->nblocks * lay->lanes; i++)
        if (lay->site[i] >= 0)
            s->position[lay->site[i]] = (int32_t)i;
    return 0;
}

static lat_space *vector_cpu_open(lat_grid *grid, int nc, int columns)
{
    lat_cpu_space *s = lat_alloc_zero(1, sizeof *s, "spinors");
    if (!s)
        return NULL;
    s->space = (lat_space){.ops = &lat_vector_cpu, .grid = grid, .nc = nc, .columns = columns};
    s->lanes = lat_vector_lanes_table[lat_isa_widest()][nc]
               + (grid->spec.storage == LAT_STORAGE_DOUBLE);
    const lat_vector_layout l = {
        .reals = 8 * nc, .real = s->lanes->real, .side = s->lanes->lanes, .run = 1};
    s->space.layout = l;
    s->space.layout.column = (size_t)(l.reals * l.real * l.side);
    s->space.layout.group = (size_t)columns * s->space.layout.column;
    const size_t rows = (size_t)columns * LAT_SUM_NUMBERS;
    s->total = lat_alloc(rows, sizeof(double), "sums");
    if (s->total && !find_sites(s) && !draw_signs(s) && !lat_sum_order_fill(&s->order, grid)) {
        const lat_reduce_parts own = lat_reduce_own(grid, &s->order.parts);
        s->slices = lat_alloc(
            rows, (size_t)(lat_reduce_slices(grid) * own.apart * own.z * own.y) * sizeof(double),
            "sums of slices");
        if (s->slices)
            return &s->space;
    }
    vector_cpu_close(&s->space);
    return NULL;
}

/* ---- in and out ------------------------------------------------------------------------------ */

static lat_lane_view view(const lat_dfield *x)
{
    return (lat_lane_view){x->data, (int)lat_storage_bytes(x->grid->spec.storage),
                           lat_cpu(x->grid)->lay->lanes, x->shape.objects * x->shape.reals};
}

static void each_block(const lat_host_spinors *t, const lat_dfield *x, int begin, int end,
                       void (*fn)(const lat_host_spinors *t, const int64_t *site, int64_t block))
{
    const int64_t *site = lat_cpu_sites(lat_cpu(x->grid), 0);
#pragma omp parallel for schedule(static)
    for (int b = begin; b < end; b++)
        fn(t, site + (int64_t)b * t->lanes.lanes, b);
}

static const lat_field *gauge_of(const lat_space *s)
{
    return s->temporal ? &s->temporal->g : NULL;
}

static int vector_cpu_put(lat_space *s, const lat_part *p, lat_dfield *x, const lat_field *host,
                          const int *object)
{
    const lat_host_spinors t = {
        .lanes = view(x), .nc = s->nc, .part = p, .object = object, .from = host, .g = gauge_of(s)};
    each_block(&t, x, 0, lat_cpu(s->grid)->lay->nblocks, lat_host_lanes_widest()->put);
    return 0;
}

static int vector_cpu_get(lat_space *s, const lat_part *p, const lat_dfield *x, lat_field *host,
                          const int *object)
{
    const lat_host_spinors t = {
        .lanes = view(x), .nc = s->nc, .part = p, .object = object, .to = host, .g = gauge_of(s)};
    each_block(&t, x, 0, lat_cpu(s->grid)->lay->nblocks, lat_host_lanes_widest()->get);
    return 0;
}

static int vector_cpu_random(lat_space *s, const lat_part *p, uint64_t seed, lat_dfield *x)
{
    const lat_host_spinors t = {.lanes = view(x), .nc = s->nc, .part = p, .seed = seed};
    int begin, end;
    lat_cpu_blocks(s->grid, p->parity, &begin, &end);
    each_block(&t, x, begin, end, lat_host_lanes_widest()->put);
    return 0;
}

void lat_cpu_round(lat_space *s, const lat_part *p, lat_dfield *x)
{
    const lat_host_spinors t = {.lanes = view(x), .nc = s->nc, .part = p, .g = gauge_of(s)};
    each_block(&t, x, 0, lat_cpu(s->grid)->lay->nblocks, lat_host_lanes_widest()->round);
}

/* ---- whole spinors --------------------------------------------------------------------------- */

static int64_t vector_cpu_position(const lat_space *s, size_t site)
{
    return ((const lat_cpu_space *)s)->position[site];
}

static int vector_cpu_bytes(LAT_UNUSED const lat_space *s, const lat_dfield *x, size_t from,
                            size_t n, void *to)
{
    memcpy(to, (const char *)x->data + from, n);
    return 0;
}

typedef void on_column(char *x, const char *y, size_t bytes);

static void to_zero(char *x, LAT_UNUSED const char *y, size_t bytes) { memset(x, 0, bytes); }

static void to_copy(char *x, const char *y, size_t bytes) { memcpy(x, y, bytes); }

static void to_exchange(char *x, LAT_UNUSED const char *y, size_t bytes)
{
    char t[24 * 64 / 2];
    memcpy(t, x, bytes / 2);
    memcpy(x, x + bytes / 2, bytes / 2);
    memcpy(x + bytes / 2, t, bytes / 2);
}

static void each_column(lat_space *s, const lat_part *p, lat_dfield *x, const lat_dfield *y,
                        on_column *fn)
{
    int begin, end;
    lat_cpu_blocks(s->grid, p->parity, &begin, &end);
#pragma omp parallel for schedule(static)
    for (int b = begin; b < end; b++)
        LAT_FOR_COLUMNS (k, p) {
            const size_t at = lat_vector_at(&s->layout, (int64_t)b * s->layout.side, k, 0);
            fn((char *)x->data + at, y ? (const char *)y->data + at : NULL, s->layout.column);
        }
}

static int vector_cpu_zero(lat_space *s, const lat_part *p, lat_dfield *x)
{
    each_column(s, p, x, NULL, to_zero);
    return 0;
}

static int vector_cpu_copy(lat_space *s, const lat_part *p, const lat_dfield *x, lat_dfield *y)
{
    each_column(s, p, y, x, to_copy);
    return 0;
}

static int vector_cpu_gamma5(lat_space *s, const lat_part *p, lat_dfield *x)
{
    each_column(s, p, x, NULL, to_exchange);
    return 0;
}

static int vector_cpu_convert(lat_space *s, const lat_part *p, const lat_space *from,
                              const lat_dfield *x, lat_dfield *y)
{
    const lat_layout *lay = lat_cpu(s->grid)->lay;
    const int32_t *position = ((const lat_cpu_space *)from)->position;
    const lat_lane_view a = view(x), b = view(y);
    const int reals = y->shape.reals;
    int begin, end;
    lat_cpu_blocks(s->grid, p->parity, &begin, &end);
#pragma omp parallel for schedule(static)
    for (int block = begin; block < end; block++)
        LAT_FOR_COLUMNS (k, p) {
            const int here = s->columns > 1 ? k * reals : 0,
                      there = from->columns > 1 ? k * reals : 0;
            for (int l = 0; l < b.lanes; l++) {
                const int64_t site = lay->site[(int64_t)block * b.lanes + l];
                if (site < 0)
                    continue;
                const int32_t at = position[site];
                double spinor[24];
                lat_lane_get_row(a, at / a.lanes, at % a.lanes, there, reals, spinor);
                lat_lane_put_row(b, block, l, here, reals, spinor);
            }
        }
    return 0;
}

/* ---- linear algebra -------------------------------------------------------------------------- */

/* A thread's share of a pass over blocks begin .. end-1, and of its sums. */
static void share_pass(lat_cpu_space *s, const lat_part *p, lat_pass_blocks *fn,
                       const lat_pass *pass, int begin, int end)
{
    int64_t from, to;
    lat_thread_range(end - begin, &from, &to);
    fn(pass, begin + (int)from, begin + (int)to);
    if (pass->numbers) {
        lat_barrier_wait(&s->barrier, lat_team_threads());
        lat_cpu_sum_slices(s, p, pass->numbers);
    }
}

/* (A parallel region of one thread would take a third of a microsecond.) */
int lat_cpu_pass(lat_space *space, const lat_part *p, lat_pass_blocks *fn, lat_pass *pass)
{
    lat_cpu_space *s = lat_cpu_space_of(space);
    int begin, end;
    lat_cpu_blocks(space->grid, p->parity, &begin, &end);
    pass->columns = p->columns;
    pass->all = space->columns;
    pass->column = p->column;
    if (pass->numbers && lat_cpu_sum_reserve(s, p, pass->numbers))
        return -1;
    pass->sums = s->numbers;
    if (lat_threads() == 1) {
        share_pass(s, p, fn, pass, begin, end);
    } else {
#pragma omp parallel
        share_pass(s, p, fn, pass, begin, end);
    }
    return pass->numbers ? lat_cpu_sum_total(s, p, pass->numbers) : 0;
}

static const lat_cpu_space *cpu_lanes_of(const lat_space *s) { return (const lat_cpu_space *)s; }

/* Number k of each active column. */
static void read_norm(const lat_space *s, const lat_part *p, int numbers, int k, double *norm)
{
    for (int i = 0; norm && i < p->columns; i++)
        norm[p->column[i]] = cpu_lanes_of(s)->total[i * numbers + k];
}

static int vector_cpu_axpby(lat_space *s, const lat_part *p, const lat_scalar *a,
                            const lat_dfield *x, const lat_scalar *b, lat_dfield *y, double *norm)
{
    lat_pass pass = {.x = {x->data}, .a = {a}, .y = y->data, .b = b, .numbers = norm != NULL};
    if (lat_cpu_pass(s, p, cpu_lanes_of(s)->lanes->axpby, &pass))
        return -1;
    read_norm(s, p, 1, 0, norm);
    return 0;
}

static int check_terms(int n)
{
    return n >= 0 && n <= LAT_VECTOR_TERMS
               ? 0
               : lat_fail("%d fields at once: expected at most %d", n, LAT_VECTOR_TERMS);
}

static int vector_cpu_axpys(lat_space *s, const lat_part *p, int n, const lat_scalar *const *a,
                            const lat_dfield *const *x, lat_dfield *y, double *norm)
{
    lat_pass pass = {.terms = n, .y = y->data, .numbers = norm != NULL};
    if (check_terms(n))
        return -1;
    for (int j = 0; j < n; j++) {
        pass.a[j] = a[j];
        pass.x[j] = x[j]->data;
    }
    if (lat_cpu_pass(s, p, cpu_lanes_of(s)->lanes->axpys, &pass))
        return -1;
    read_norm(s, p, 1, 0, norm);
    return 0;
}

static int vector_cpu_dots(lat_space *s, const lat_part *p, int n, const lat_dfield *const *x,
                           const lat_dfield *y, lat_scalar *const *dot, double *norm)
{
    lat_pass pass = {.terms = n, .y = y->data, .numbers = 2 * n + (norm != NULL)};
    if (check_terms(n))
        return -1;
    for (int j = 0; j < n; j++)
        pass.x[j] = x[j]->data;
    if (lat_cpu_pass(s, p, cpu_lanes_of(s)->lanes->dots, &pass))
        return -1;
    for (int j = 0; j < n; j++)
        lat_cpu_read_dot(s, p, pass.numbers, 2 * j, dot[j]);
    read_norm(s, p, pass.numbers, 2 * n, norm);
    return 0;
}

/* ---- solvers --------------------------------------------------------------------------------- */

static int vector_cpu_add(lat_space *s, const lat_part *p, lat_coefficient a, const lat_dfield *x,
                          lat_dfield *y)
{
    lat_pass pass = {.terms = 1, .x = {x->data}, .a = {lat_coefficient_host(a)}, .y = y->data};
    return lat_cpu_pass(s, p, cpu_lanes_of(s)->lanes->axpys, &pass);
}

static int vector_cpu_cg(lat_space *s, const lat_part *p, lat_coefficient a, lat_coefficient b,
                         lat_coefficient c, lat_dfield *x, lat_dfield *dir, const lat_dfield *r)
{
    lat_pass pass = {
        .x = {r->data},
        .a = {lat_coefficient_host(a), lat_coefficient_host(c), lat_coefficient_host(b)},
        .y = x->data,
        .z = dir->data};
    return lat_cpu_pass(s, p, cpu_lanes_of(s)->lanes->cg, &pass);
}

static int vector_cpu_bicgstab(lat_space *s, const lat_part *p, lat_scalars *by, lat_dfield *x,
                               lat_dfield *r, lat_dfield *dir, const lat_dfield *t,
                               const lat_dfield *v)
{
    lat_pass pass = {.x = {t->data, v->data},
                     .a = {by->row[LAT_ROW_ALPHA], by->row[LAT_ROW_OMEGA]},
                     .b = by->row[LAT_ROW_BETA],
                     .y = x->data,
                     .z = r->data,
                     .dir = dir->data,
                     .numbers = 1};
    if (lat_cpu_pass(s, p, cpu_lanes_of(s)->lanes->bicgstab, &pass))
        return -1;
    lat_scalars_take(by, p, LAT_STEP_NORM, 0, 1, cpu_lanes_of(s)->total);
    return 0;
}

static int vector_cpu_shadow(lat_space *s, const lat_part *p, const lat_dfield *x, lat_scalar *dot)
{
    lat_pass pass = {.y = x->data, .signs = cpu_lanes_of(s)->signs, .numbers = 2};
    if (lat_cpu_pass(s, p, cpu_lanes_of(s)->lanes->shadow, &pass))
        return -1;
    lat_cpu_read_dot(s, p, 2, 0, dot);
    return 0;
}

const lat_vector_ops lat_vector_cpu = {
    .open = vector_cpu_open,
    .close = vector_cpu_close,
    .put = vector_cpu_put,
    .get = vector_cpu_get,
    .zero = vector_cpu_zero,
    .copy = vector_cpu_copy,
    .random = vector_cpu_random,
    .gamma5 = vector_cpu_gamma5,
    .axpby = vector_cpu_axpby,
    .axpys = vector_cpu_axpys,
    .dots = vector_cpu_dots,
    .products = lat_cpu_products,
    .combine = lat_cpu_combine,
    .add = vector_cpu_add,
    .cg = vector_cpu_cg,
    .bicgstab = vector_cpu_bicgstab,
    .shadow = vector_cpu_shadow,
    .convert = vector_cpu_convert,
    .scalars = &lat_scalars_host,
    .position = vector_cpu_position,
    .bytes = vector_cpu_bytes,
};
