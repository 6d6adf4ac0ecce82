/* SPDX-License-Identifier: BSD-3-Clause */
/* spinor_gpu.cu: linear algebra of batches of spinors on GPUs: the table of space.h. All have 3
 * colours; the third one of SU(2) is zero, and stays it, as no operator mixes it with the others
 * (staging.h). */
#include "vector/cuda/cuda_host.cuh"
#include "vector/cuda/cuda_pass.cuh"

extern "C" {
#include "lattice/field.h"
extern const lat_vector_ops lat_vector_gpu;
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "spinors"); }

/* ---- passes ---------------------------------------------------------------------------------- */

/* What a pass works on (cuda_pass.cuh); columns, scalars follow in groups of LAT_PASS_COLUMNS. */
struct job {
    lat_space *space;
    const lat_part *part;
    int numbers = 0; /* sums of a column */
    int terms = 0;
    const lat_dfield *x[LAT_VECTOR_TERMS] = {};
    lat_dfield *y, *z = NULL, *dir = NULL;
    lat_coefficient a[LAT_VECTOR_TERMS] = {};
    const lat_scalar *b = NULL; /* NULL: 1 */
    lat_scalars *by = NULL;     /* NULL: sums are awaited; else they report a norm */
};

/* But for the columns. */
static lat_pass_args args_of(const job *j, const lat_gpu_space *s)
{
    lat_pass_args a = {};
    a.half = s->sites.half;
    a.groups = s->groups;
    a.parity = s->parity;
    a.column = s->column;
    a.first = lat_part_first(j->part);
    a.terms = j->terms;
    for (int k = 0; k < j->terms; k++)
        a.x[k] = lat_gpu_at(s, j->x[k], 0);
    a.y = lat_gpu_at(s, j->y, 0);
    a.z = lat_gpu_at(s, j->z, 0);
    a.dir = lat_gpu_at(s, j->dir, 0);
    a.parity_y = s->groups * lat_gpu_group_bytes(j->y->grid->spec.storage);
    a.column_y = 2 * a.parity_y;
    a.whole = s->whole;
    a.in_planes = s->in_planes;
    a.numbers = j->numbers;
    a.arrays = (int)s->groups * lat_part_parities(j->part);
    a.scaled = j->b != NULL;
    for (int k = 0; k < LAT_PASS_ROWS; k++)
        a.row[k] = lat_gpu_row(j->a[k]);
    return a;
}

static lat_scalar scalar(const lat_scalar *a, int column)
{
    return a ? a[column] : lat_scalar_real(1);
}

/* 0, with sums in lat_gpu_space.sum: [active][numbers]. */
template <class What> static int run_pass(const job *j)
{
    lat_gpu_space *s = lat_gpu_space_of(j->space);
    const lat_part *p = j->part;
    lat_pass_args a = args_of(j, s);
    if (p->columns == 0)
        return 0;
    if (j->numbers && lat_gpu_sums_begin(s, p->columns, j->numbers, a.arrays))
        return -1;
    for (int from = 0; from < p->columns; from += LAT_PASS_COLUMNS) {
        const int n = p->columns - from < LAT_PASS_COLUMNS ? p->columns - from : LAT_PASS_COLUMNS;
        for (int k = 0; k < n; k++) {
            const int c = p->column[from + k];
            a.active[k] = (uint8_t)c;
            a.b[k] = scalar(j->b, c);
            for (int t = 0; t < LAT_VECTOR_TERMS; t++)
                a.a[t][k] = scalar(j->a[t].number, c);
        }
        a.partial = j->numbers ? s->partial + (size_t)from * (size_t)j->numbers * (size_t)a.arrays
                               : NULL;
        a.backwards = s->launches++ % 2;
        const dim3 blocks((a.groups + 3) / 4, (unsigned)n, (unsigned)lat_part_parities(p));
        if (failed(lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
                return lat_cuda_start(lat_gpu_early(s), pass<P, What>, blocks, 128,
                                      lat_gpu_stream(j->space), a);
            })))
            return -1;
    }
    if (j->by)
        return lat_gpu_sums_step(s, p, j->numbers, a.arrays, j->by, LAT_STEP_NORM, 0);
    return j->numbers ? lat_gpu_sums_finish(s, p->columns, j->numbers, a.arrays) : 0;
}

/* Number k of each column to norm[column]. */
static void take_norm(const job *j, int k, double *norm)
{
    for (int i = 0; i < j->part->columns && norm; i++)
        norm[j->part->column[i]] = lat_gpu_space_of(j->space)->sum[i * j->numbers + k];
}

static void take_dot(const job *j, int k, lat_scalar *dot)
{
    for (int i = 0; i < j->part->columns && dot; i++) {
        const double *const v = lat_gpu_space_of(j->space)->sum + i * j->numbers + k;
        dot[j->part->column[i]] = lat_scalar{v[0], v[1]};
    }
}

static int vector_gpu_axpby(lat_space *s, const lat_part *p, const lat_scalar *a,
                            const lat_dfield *x, const lat_scalar *b, lat_dfield *y, double *norm)
{
    const job j = {.space = s,
                   .part = p,
                   .numbers = norm != NULL,
                   .terms = 1,
                   .x = {x},
                   .y = y,
                   .a = {lat_number(a)},
                   .b = b};
    if (run_pass<pass_sum>(&j))
        return -1;
    take_norm(&j, 0, norm);
    return 0;
}

static int vector_gpu_axpys(lat_space *s, const lat_part *p, int n, const lat_scalar *const *a,
                            const lat_dfield *const *x, lat_dfield *y, double *norm)
{
    job j = {.space = s, .part = p, .numbers = norm != NULL, .terms = n, .y = y};
    for (int k = 0; k < n; k++) {
        j.x[k] = x[k];
        j.a[k] = lat_number(a[k]);
    }
    if (run_pass<pass_sum>(&j))
        return -1;
    take_norm(&j, 0, norm);
    return 0;
}

static int vector_gpu_dots(lat_space *s, const lat_part *p, int n, const lat_dfield *const *x,
                           const lat_dfield *y, lat_scalar *const *dot, double *norm)
{
    job j = {
        .space = s, .part = p, .numbers = 2 * n + (norm != NULL), .terms = n, .y = (lat_dfield *)y};
    for (int k = 0; k < n; k++)
        j.x[k] = x[k];
    if (run_pass<pass_dots>(&j))
        return -1;
    for (int k = 0; k < n; k++)
        take_dot(&j, 2 * k, dot[k]);
    take_norm(&j, 2 * n, norm);
    return 0;
}

static int vector_gpu_add(lat_space *s, const lat_part *p, lat_coefficient a, const lat_dfield *x,
                          lat_dfield *y)
{
    const job j = {.space = s, .part = p, .terms = 1, .x = {x}, .y = y, .a = {a}};
    return run_pass<pass_sum>(&j);
}

static int vector_gpu_cg(lat_space *s, const lat_part *p, lat_coefficient a, lat_coefficient b,
                         lat_coefficient c, lat_dfield *x, lat_dfield *dir, const lat_dfield *r)
{
    const job j = {.space = s, .part = p, .terms = 1, .x = {r}, .y = x, .z = dir, .a = {c, b, a}};
    return x->grid->spec.storage == s->grid->spec.storage ? run_pass<pass_cg>(&j)
                                                          : run_pass<pass_cg_single>(&j);
}

static int vector_gpu_bicgstab(lat_space *s, const lat_part *p, lat_scalars *by, lat_dfield *x,
                               lat_dfield *r, lat_dfield *dir, const lat_dfield *t,
                               const lat_dfield *v)
{
    const job j = {.space = s,
                   .part = p,
                   .numbers = 1,
                   .terms = 2,
                   .x = {t, v},
                   .y = x,
                   .z = r,
                   .dir = dir,
                   .a = {lat_row_of(by, LAT_ROW_ALPHA), lat_row_of(by, LAT_ROW_OMEGA),
                         lat_row_of(by, LAT_ROW_BETA)},
                   .by = by};
    return run_pass<pass_bicgstab>(&j);
}

static int vector_gpu_shadow(lat_space *s, const lat_part *p, const lat_dfield *x, lat_scalar *dot)
{
    const job j = {.space = s, .part = p, .numbers = 2, .y = (lat_dfield *)x};
    if (run_pass<pass_shadow>(&j))
        return -1;
    take_dot(&j, 0, dot);
    return 0;
}

static int vector_gpu_gamma5(lat_space *s, const lat_part *p, lat_dfield *x)
{
    const job j = {.space = s, .part = p, .y = x};
    return run_pass<pass_gamma5>(&j);
}

/* ---- whole columns --------------------------------------------------------------------------- */

static int vector_gpu_zero(lat_space *s, const lat_part *p, lat_dfield *x)
{
    const lat_gpu_space *g = lat_gpu_space_of(s);
    for (int i = 0; i < p->columns; i++)
        if (failed(cudaMemsetAsync(lat_gpu_at(g, x, lat_part_first(p))
                                       + (size_t)p->column[i] * g->column,
                                   0, (size_t)lat_part_parities(p) * g->parity, lat_gpu_stream(s))))
            return -1;
    return 0;
}

static int vector_gpu_copy(lat_space *s, const lat_part *p, const lat_dfield *x, lat_dfield *y)
{
    const lat_gpu_space *g = lat_gpu_space_of(s);
    for (int i = 0; i < p->columns; i++) {
        const size_t at = (size_t)p->column[i] * g->column;
        if (failed(cudaMemcpyAsync(lat_gpu_at(g, y, lat_part_first(p)) + at,
                                   lat_gpu_at(g, x, lat_part_first(p)) + at,
                                   (size_t)lat_part_parities(p) * g->parity,
                                   cudaMemcpyDeviceToDevice, lat_gpu_stream(s))))
            return -1;
    }
    return 0;
}

static int vector_gpu_convert(lat_space *s, const lat_part *p, const lat_space *from,
                              const lat_dfield *x, lat_dfield *y)
{
    const lat_gpu_space *g = lat_gpu_space_of(s), *f = lat_gpu_space_of(from);
    const uint32_t groups = g->groups * (uint32_t)lat_part_parities(p);
    for (int i = 0; i < p->columns; i++) {
        const size_t c = (size_t)p->column[i], in = from->columns > 1 ? c : 0,
                     out = s->columns > 1 ? c : 0;
        const char *const a = lat_gpu_at(f, x, lat_part_first(p)) + in * f->column;
        char *const b = lat_gpu_at(g, y, lat_part_first(p)) + out * g->column;
        if (failed(lat_by_storage(from->grid->spec.storage, [&](auto FROM) {
                return lat_by_storage(s->grid->spec.storage, [&](auto TO) {
                    return lat_cuda_start(false, convert_spinors<FROM, TO>, (groups + 3) / 4, 128,
                                          lat_gpu_stream(s), groups, a, b);
                });
            })))
            return -1;
    }
    return 0;
}

const lat_vector_ops lat_vector_gpu = {
    lat_gpu_open,        lat_gpu_close,     lat_gpu_put,        lat_gpu_get,      vector_gpu_zero,
    vector_gpu_copy,     lat_gpu_random,    vector_gpu_gamma5,  vector_gpu_axpby, vector_gpu_axpys,
    vector_gpu_dots,     lat_gpu_products,  lat_gpu_combine,    vector_gpu_add,   vector_gpu_cg,
    vector_gpu_bicgstab, vector_gpu_shadow, vector_gpu_convert, &lat_scalars_gpu, lat_gpu_position,
    lat_gpu_bytes,
};
