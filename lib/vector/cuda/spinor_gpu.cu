/* SPDX-License-Identifier: BSD-3-Clause */
/* spinor_gpu.cu: linear algebra of batches of spinors on GPUs: the table of space.h. All have 3
 * colours; the third one of SU(2) is zero, and stays it, as no operator mixes it with the others
 * (staging.h). */
#include "vector/cuda/cuda_host.cuh"
#include "vector/cuda/cuda_pass.cuh"

#include <stdlib.h>
#include <string.h>
#include "grid/cuda_grid.cuh"
#include "grid/cuda_tuning.h"
extern "C" {
#include "base/error.h"
#include "lattice/field.h"
#include "grid/staging.h"
#include "vector/temporal.h"
extern const lat_vector_ops lat_vector_gpu;
}

#define THREADS 128

static int failed(cudaError_t e) { return lat_cuda_failed(e, "spinors"); }

/* ---- passes ---------------------------------------------------------------------------------- */

/* What a pass works on; columns and scalars follow in groups of LAT_PASS_COLUMNS. */
typedef struct job {
    lat_pass_kind kind;
    lat_space *space;
    const lat_part *part;
    int terms;
    const lat_dfield *x[LAT_PASS_TERMS];
    lat_dfield *y, *z, *dir;
    const lat_scalar *a[LAT_PASS_TERMS], *b; /* by column; NULL: 1 */
    const lat_scalar *row[LAT_PASS_ROWS];    /* or the device's */
    lat_scalars *by;                         /* NULL: sums are awaited; else they report a norm */
    int numbers;
    bool norm;
} job;

template <int P, lat_pass_kind KIND>
static cudaError_t launch_pass(const lat_pass_args *a, dim3 blocks, cudaStream_t stream)
{
    return lat_cuda_start(a->early, pass<P, KIND>, blocks, 128, stream, *a);
}

template <int P>
static cudaError_t launch_kind(lat_pass_kind kind, const lat_pass_args *a, dim3 blocks,
                               cudaStream_t s)
{
    switch (kind) {
    case LAT_PASS_AXPBY: return launch_pass<P, LAT_PASS_AXPBY>(a, blocks, s);
    case LAT_PASS_AXPYS: return launch_pass<P, LAT_PASS_AXPYS>(a, blocks, s);
    case LAT_PASS_DOTS: return launch_pass<P, LAT_PASS_DOTS>(a, blocks, s);
    case LAT_PASS_CG: return launch_pass<P, LAT_PASS_CG>(a, blocks, s);
    case LAT_PASS_BICGSTAB: return launch_pass<P, LAT_PASS_BICGSTAB>(a, blocks, s);
    case LAT_PASS_SHADOW: return launch_pass<P, LAT_PASS_SHADOW>(a, blocks, s);
    case LAT_PASS_GAMMA5: return launch_pass<P, LAT_PASS_GAMMA5>(a, blocks, s);
    case LAT_PASS_CG_SUM:
        if constexpr (P == LAT_STORAGE_HALF)
            return launch_pass<P, LAT_PASS_CG_SUM>(a, blocks, s);
        break;
    }
    return cudaErrorNotSupported;
}

static cudaError_t start_pass(const lat_space *space, lat_pass_kind kind, const lat_pass_args *a,
                              int columns, int parities)
{
    const dim3 blocks((a->groups + 3) / 4, (unsigned)columns, (unsigned)parities);
    const cudaStream_t stream = lat_gpu_stream(space);
    switch (space->grid->spec.storage) {
    case LAT_STORAGE_DOUBLE: return launch_kind<LAT_STORAGE_DOUBLE>(kind, a, blocks, stream);
    case LAT_STORAGE_SINGLE: return launch_kind<LAT_STORAGE_SINGLE>(kind, a, blocks, stream);
    case LAT_STORAGE_HALF: return launch_kind<LAT_STORAGE_HALF>(kind, a, blocks, stream);
    }
    return cudaErrorNotSupported;
}

/* The arguments for a part, all else zero. */
static void set_part(const lat_gpu_space *s, const lat_part *p, lat_pass_args *a)
{
    memset(a, 0, sizeof *a);
    a->early = lat_cuda_device_of(s->space.grid->dev)->overlap != 0;
    a->half = s->sites.half;
    a->parity = s->parity;
    a->column = s->column;
    a->groups = s->groups;
    a->before = lat_gpu_before(s);
    a->first = lat_part_first(p);
    a->arrays = (int)s->groups * lat_part_parities(p);
}

static lat_scalar scalar(const lat_scalar *a, int column)
{
    const lat_scalar one = {1, 0};
    return a ? a[column] : one;
}

static char *data_of(const lat_dfield *x) { return x ? (char *)x->data : NULL; }

/* 0, with sums in lat_gpu_space.sum: [active][numbers]. */
static int run_pass(const job *j)
{
    lat_gpu_space *s = lat_gpu_space_of(j->space);
    const lat_part *p = j->part;
    lat_pass_args a;
    set_part(s, p, &a);
    a.terms = j->terms;
    for (int k = 0; k < j->terms; k++)
        a.x[k] = data_of(j->x[k]);
    a.y = data_of(j->y);
    a.parity_y = j->y ? s->groups * lat_gpu_group_bytes(j->y->grid->spec.storage) : 0;
    a.column_y = 2 * a.parity_y;
    a.z = data_of(j->z);
    a.dir = data_of(j->dir);
    a.norm = j->norm;
    for (int k = 0; k < LAT_PASS_ROWS; k++)
        a.row[k] = j->row[k];
    a.numbers = j->numbers;
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
            for (int t = 0; t < LAT_PASS_TERMS; t++)
                a.a[t][k] = scalar(j->a[t], c);
        }
        a.partial = j->numbers ? s->partial + (size_t)from * (size_t)j->numbers * (size_t)a.arrays
                               : NULL;
        a.backwards = s->launches++ % 2;
        if (failed(start_pass(j->space, j->kind, &a, n, lat_part_parities(p))))
            return -1;
    }
    if (j->by)
        return lat_gpu_sums_step(s, p, j->numbers, a.arrays, j->by, LAT_STEP_NORM, 0);
    return j->numbers ? lat_gpu_sums_finish(s, p->columns, j->numbers, a.arrays) : 0;
}

static void take_norm(const lat_space *space, const lat_part *p, int numbers, int k, double *norm)
{
    for (int i = 0; i < p->columns && norm; i++)
        norm[p->column[i]] = lat_gpu_space_of(space)->sum[i * numbers + k];
}

static void take_dot(const lat_space *space, const lat_part *p, int numbers, int k, lat_scalar *dot)
{
    const double *const sum = lat_gpu_space_of(space)->sum;
    for (int i = 0; i < p->columns && dot; i++) {
        dot[p->column[i]].re = sum[i * numbers + k];
        dot[p->column[i]].im = sum[i * numbers + k + 1];
    }
}

static int vector_gpu_axpby(lat_space *s, const lat_part *p, const lat_scalar *a,
                            const lat_dfield *x, const lat_scalar *b, lat_dfield *y, double *norm)
{
    job j = {};
    j.kind = LAT_PASS_AXPBY;
    j.space = s;
    j.part = p;
    j.terms = 1;
    j.x[0] = x;
    j.y = y;
    j.a[0] = a;
    j.b = b;
    j.numbers = norm ? 1 : 0;
    j.norm = norm != NULL;
    if (run_pass(&j))
        return -1;
    take_norm(s, p, 1, 0, norm);
    return 0;
}

static int vector_gpu_axpys(lat_space *s, const lat_part *p, int n, const lat_scalar *const *a,
                            const lat_dfield *const *x, lat_dfield *y, double *norm)
{
    job j = {};
    j.kind = LAT_PASS_AXPYS;
    j.space = s;
    j.part = p;
    j.terms = n;
    for (int k = 0; k < n; k++) {
        j.x[k] = x[k];
        j.a[k] = a[k];
    }
    j.y = y;
    j.numbers = norm ? 1 : 0;
    j.norm = norm != NULL;
    if (run_pass(&j))
        return -1;
    take_norm(s, p, 1, 0, norm);
    return 0;
}

static int vector_gpu_dots(lat_space *s, const lat_part *p, int n, const lat_dfield *const *x,
                           const lat_dfield *y, lat_scalar *const *dot, double *norm)
{
    job j = {};
    j.kind = LAT_PASS_DOTS;
    j.space = s;
    j.part = p;
    j.terms = n;
    for (int k = 0; k < n; k++)
        j.x[k] = x[k];
    j.y = (lat_dfield *)y;
    j.norm = norm != NULL;
    j.numbers = 2 * n + (norm ? 1 : 0);
    if (run_pass(&j))
        return -1;
    for (int k = 0; k < n; k++)
        take_dot(s, p, j.numbers, 2 * k, dot[k]);
    take_norm(s, p, j.numbers, 2 * n, norm);
    return 0;
}

static void set_coefficient(job *j, int term, lat_coefficient c)
{
    j->a[term] = c.number;
    j->row[term] = lat_gpu_row(c);
}

static int vector_gpu_add(lat_space *s, const lat_part *p, lat_coefficient a, const lat_dfield *x,
                          lat_dfield *y)
{
    job j = {};
    j.kind = LAT_PASS_AXPYS;
    j.space = s;
    j.part = p;
    j.terms = 1;
    j.x[0] = x;
    j.y = y;
    set_coefficient(&j, 0, a);
    return run_pass(&j);
}

static int vector_gpu_cg(lat_space *s, const lat_part *p, lat_coefficient a, lat_coefficient b,
                         lat_coefficient c, lat_dfield *x, lat_dfield *dir, const lat_dfield *r)
{
    job j = {};
    j.kind = x->grid->spec.storage == s->grid->spec.storage ? LAT_PASS_CG : LAT_PASS_CG_SUM;
    j.space = s;
    j.part = p;
    j.terms = 1;
    j.x[0] = r;
    j.y = x;
    j.z = dir;
    set_coefficient(&j, 0, c);
    set_coefficient(&j, 1, b);
    set_coefficient(&j, 2, a);
    return run_pass(&j);
}

static int vector_gpu_bicgstab(lat_space *s, const lat_part *p, lat_scalars *by, lat_dfield *x,
                               lat_dfield *r, lat_dfield *dir, const lat_dfield *t,
                               const lat_dfield *v)
{
    job j = {};
    j.kind = LAT_PASS_BICGSTAB;
    j.space = s;
    j.part = p;
    j.terms = 2;
    j.x[0] = t;
    j.x[1] = v;
    j.y = x;
    j.z = r;
    j.dir = dir;
    set_coefficient(&j, 0, lat_row_of(by, LAT_ROW_ALPHA));
    set_coefficient(&j, 1, lat_row_of(by, LAT_ROW_OMEGA));
    set_coefficient(&j, 2, lat_row_of(by, LAT_ROW_BETA));
    j.numbers = 1;
    j.by = by;
    return run_pass(&j);
}

static int vector_gpu_shadow(lat_space *s, const lat_part *p, const lat_dfield *x, lat_scalar *dot)
{
    job j = {};
    j.kind = LAT_PASS_SHADOW;
    j.space = s;
    j.part = p;
    j.y = (lat_dfield *)x;
    j.numbers = 2;
    if (run_pass(&j))
        return -1;
    take_dot(s, p, 2, 0, dot);
    return 0;
}

static int vector_gpu_gamma5(lat_space *s, const lat_part *p, lat_dfield *x)
{
    job j = {};
    j.kind = LAT_PASS_GAMMA5;
    j.space = s;
    j.part = p;
    j.y = x;
    return run_pass(&j);
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

template <int FROM>
static void convert_from(lat_storage to, uint32_t groups, const char *x, char *y,
                         cudaStream_t stream)
{
    const unsigned blocks = (groups + 3) / 4;
    switch (to) {
    case LAT_STORAGE_DOUBLE:
        convert_spinors<FROM, LAT_STORAGE_DOUBLE><<<blocks, 128, 0, stream>>>(groups, x, y);
        break;
    case LAT_STORAGE_SINGLE:
        convert_spinors<FROM, LAT_STORAGE_SINGLE><<<blocks, 128, 0, stream>>>(groups, x, y);
        break;
    case LAT_STORAGE_HALF:
        convert_spinors<FROM, LAT_STORAGE_HALF><<<blocks, 128, 0, stream>>>(groups, x, y);
        break;
    }
}

static int vector_gpu_convert(lat_space *s, const lat_part *p, const lat_space *from,
                              const lat_dfield *x, lat_dfield *y)
{
    const lat_gpu_space *g = lat_gpu_space_of(s), *f = lat_gpu_space_of(from);
    const lat_storage to = s->grid->spec.storage;
    const uint32_t groups = g->groups * (uint32_t)lat_part_parities(p);
    for (int i = 0; i < p->columns; i++) {
        const size_t c = (size_t)p->column[i], in = from->columns > 1 ? c : 0,
                     out = s->columns > 1 ? c : 0;
        const char *const a = lat_gpu_at(f, x, lat_part_first(p)) + in * f->column;
        char *const b = lat_gpu_at(g, y, lat_part_first(p)) + out * g->column;
        switch (from->grid->spec.storage) {
        case LAT_STORAGE_DOUBLE:
            convert_from<LAT_STORAGE_DOUBLE>(to, groups, a, b, lat_gpu_stream(s));
            break;
        case LAT_STORAGE_SINGLE:
            convert_from<LAT_STORAGE_SINGLE>(to, groups, a, b, lat_gpu_stream(s));
            break;
        case LAT_STORAGE_HALF:
            convert_from<LAT_STORAGE_HALF>(to, groups, a, b, lat_gpu_stream(s));
            break;
        }
    }
    return failed(cudaGetLastError());
}

const lat_vector_ops lat_vector_gpu = {
    lat_gpu_open,        lat_gpu_close,     lat_gpu_put,        lat_gpu_get,      vector_gpu_zero,
    vector_gpu_copy,     lat_gpu_random,    vector_gpu_gamma5,  vector_gpu_axpby, vector_gpu_axpys,
    vector_gpu_dots,     lat_gpu_products,  lat_gpu_combine,    vector_gpu_add,   vector_gpu_cg,
    vector_gpu_bicgstab, vector_gpu_shadow, vector_gpu_convert, &lat_scalars_gpu, lat_gpu_position,
    lat_gpu_bytes,
};
