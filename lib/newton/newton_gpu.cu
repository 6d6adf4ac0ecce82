/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_gpu.cu: Newton's method on a GPU. Links, g, gradients and steps are in double, as lib/grid
 * has them there; the solver is in single, in rows in natural order, which Fourier transforms want:
 * [unit][site][lat_newton_row()], and the links that g transforms as [unit][direction][16
 * bytes][site].
 *
 * The scalars of a solve are on the device (newton_cg.h): the host launches some iterations, then
 * asks which units are done; these are idle meanwhile. Sums are taken block by block, in order: the
 * bits are the same each time. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fourier/lines.cuh"
#include "grid/cuda_dfield.cuh"
extern "C" {
#include "base/error.h"
#include "base/memory.h"
#include "newton_internal.h"
}

enum {
    THREADS = 128,
    ADDERS = 256,
    AT_A_TIME = 6 /* iterations */
};

/* A unit, on the device. */
typedef struct unit_state {
    double size;    /* |A| */
    double delta;   /* lat_newton_unit */
    double sums[2]; /* of a gradient */
    lat_newton_cg cg;
} unit_state;

/* What kernels know: double fields by their grid, and rows. */
typedef struct fields : lat_cuda_grid {
    const void *u;
    int rows;                      /* of the links */
    bool single;                   /* the links */
    void *g;                       /* two members */
    double weight[4], unweight[4]; /* weights are in the links, or not: both 1, or what they are */
    float weight_of[4];            /* what they are */
    uint32_t sites, dims[4];       /* of a unit, in natural order */
    lat_cuda_divisor by_dim[3];
    float4 *w;
    float *a, *s, *r, *p, *q, *v;
    double *partial; /* [units][blocks][numbers] */
    unit_state *unit;
    int *idle, *now; /* [units]: nothing is to be done; which member is g */
} fields;

/* Chunks of so many reals, stored in V, and reals from and to them, in double. */
template <class V> static __host__ __device__ constexpr int chunks_of(int reals)
{
    return (reals * (int)sizeof(V{}.x) + 15) / 16;
}

template <int REALS> static __device__ __forceinline__ void load_reals(double *m, const float4 *p)
{
#pragma unroll
    for (int c = 0; c < chunks_of<float4>(REALS); c++) {
        const float4 v = __ldg(p + c * LAT_CUDA_GROUP);
        const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (4 * c + i < REALS)
                m[4 * c + i] = (double)four[i];
    }
}

template <int REALS> static __device__ __forceinline__ void load_reals(double *m, const double2 *p)
{
#pragma unroll
    for (int c = 0; c < REALS / 2; c++) {
        const double2 v = __ldg(p + c * LAT_CUDA_GROUP);
        m[2 * c] = v.x;
        m[2 * c + 1] = v.y;
    }
}

template <int REALS> static __device__ __forceinline__ void store_reals(float4 *p, const double *m)
{
    static_assert(REALS % 4 == 0, "whole chunks");
#pragma unroll
    for (int c = 0; c < REALS / 4; c++)
        p[c * LAT_CUDA_GROUP] = make_float4((float)m[4 * c], (float)m[4 * c + 1],
                                            (float)m[4 * c + 2], (float)m[4 * c + 3]);
}

template <int REALS> static __device__ __forceinline__ void store_reals(double2 *p, const double *m)
{
#pragma unroll
    for (int c = 0; c < REALS / 2; c++)
        p[c * LAT_CUDA_GROUP] = make_double2(m[2 * c], m[2 * c + 1]);
}

#define LAT_N 2
#define LAT_SIZE 8
#include "grid/cuda_real.cuh"
#include "grid/cuda_matrix.cuh"
#include "newton_algebra.h"
#include "newton_kernels.cuh"
#undef LAT_SIZE
#define LAT_SIZE 4
#include "grid/cuda_real.cuh"
#include "grid/cuda_matrix.cuh"
#include "newton_algebra.h"
#include "newton_kernels.cuh"
#undef LAT_SIZE
#undef LAT_N
#define LAT_N 3
#define LAT_SIZE 8
#include "grid/cuda_real.cuh"
#include "grid/cuda_matrix.cuh"
#include "newton_algebra.h"
#include "newton_kernels.cuh"
#undef LAT_SIZE
#define LAT_SIZE 4
#include "grid/cuda_real.cuh"
#include "grid/cuda_matrix.cuh"
#include "newton_algebra.h"
#include "newton_kernels.cuh"

/* ---- vectors --------------------------------------------------------------------------------- */

/* r = - a / |A|, s = p = q = 0; a thread is 16 bytes. */
static __global__ void __launch_bounds__(THREADS)
    begin(const __grid_constant__ fields f, uint32_t each)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (f.idle[blockIdx.y] || i >= each)
        return;
    const size_t at = (size_t)blockIdx.y * each + i;
    const float scale = (float)(-1 / f.unit[blockIdx.y].size);
    const float4 zero = make_float4(0, 0, 0, 0), a = ((const float4 *)f.a)[at];
    ((float4 *)f.r)[at] = make_float4(scale * a.x, scale * a.y, scale * a.z, scale * a.w);
    ((float4 *)f.s)[at] = zero;
    ((float4 *)f.p)[at] = zero;
    ((float4 *)f.q)[at] = zero;
}

/* s += along p, r -= along q, and the transform begins with r: sums of r.r. */
struct update {
    const float2 *p, *q;
    float2 *r, *s, *v;
    const unit_state *unit;
    const int *idle;
    __device__ __forceinline__ bool skip(unsigned u) const { return idle[u] != 0; }
    template <int N>
    __device__ __forceinline__ double load(float2 (&x)[N], unsigned u, size_t first,
                                           uint32_t step) const
    {
        constexpr int B = N % LAT_LINES_BATCH ? N : LAT_LINES_BATCH;
        const float along = (float)unit[u].cg.along;
        float square = 0;
#pragma unroll
        for (int n = 0; n < N; n += B) { /* loads first: they could be of what is stored */
            float2 t[B], d[B];
#pragma unroll
            for (int i = 0; i < B; i++) {
                const size_t at = first + (size_t)(n + i) * step;
                x[n + i] = r[at];
                d[i] = __ldg(q + at);
            }
#pragma unroll
            for (int i = 0; i < B; i++) {
                x[n + i].x -= along * d[i].x;
                x[n + i].y -= along * d[i].y;
                square += x[n + i].x * x[n + i].x + x[n + i].y * x[n + i].y;
            }
#pragma unroll
            for (int i = 0; i < B; i++) {
                const size_t at = first + (size_t)(n + i) * step;
                t[i] = s[at];
                d[i] = __ldg(p + at);
            }
#pragma unroll
            for (int i = 0; i < B; i++) {
                const size_t at = first + (size_t)(n + i) * step;
                r[at] = x[n + i];
                s[at] = make_float2(t[i].x + along * d[i].x, t[i].y + along * d[i].y);
            }
        }
        return (double)square;
    }
    template <int N>
    __device__ __forceinline__ void store(const float2 (&x)[N], unsigned, size_t first,
                                          uint32_t step) const
    {
        lat_store_line(x, v, first, step);
    }
};

/* p = z + b p, z being what the transform ends with. */
struct direction {
    const float2 *v;
    float2 *p;
    const unit_state *unit;
    const int *idle;
    __device__ __forceinline__ bool skip(unsigned u) const { return idle[u] != 0; }
    template <int N>
    __device__ __forceinline__ double load(float2 (&x)[N], unsigned, size_t first,
                                           uint32_t step) const
    {
        lat_load_line(x, v, first, step);
        return 0;
    }
    template <int N>
    __device__ __forceinline__ void store(const float2 (&x)[N], unsigned u, size_t first,
                                          uint32_t step) const
    {
        constexpr int B = N % LAT_LINES_BATCH ? N : LAT_LINES_BATCH;
        const float b = (float)unit[u].cg.b;
#pragma unroll
        for (int n = 0; n < N; n += B) {
            float2 t[B];
#pragma unroll
            for (int i = 0; i < B; i++)
                t[i] = p[first + (size_t)(n + i) * step];
#pragma unroll
            for (int i = 0; i < B; i++)
                p[first + (size_t)(n + i) * step] = make_float2(x[n + i].x + b * t[i].x,
                                                                x[n + i].y + b * t[i].y);
        }
    }
};

/* ---- scalars, a block for each unit ---------------------------------------------------------- */

/* Of a unit, in the order of its blocks; thread 0 has it. */
static __device__ __forceinline__ double total(const double *partial, uint32_t blocks, int numbers)
{
    double sum = 0;
    for (uint32_t i = threadIdx.x; i < blocks; i += ADDERS)
        sum += partial[((size_t)blockIdx.x * blocks + i) * (size_t)numbers];
    return lat_add_block<ADDERS>(sum);
}

static __global__ void __launch_bounds__(ADDERS)
    after_gradient(const __grid_constant__ fields f, uint32_t blocks)
{
    if (f.idle[blockIdx.x])
        return;
    for (int i = 0; i < 2; i++) {
        const double sum = total(f.partial + i, blocks, 2);
        if (threadIdx.x == 0)
            f.unit[blockIdx.x].sums[i] = sum;
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(ADDERS)
    after_hop(const __grid_constant__ fields f, uint32_t blocks)
{
    if (f.idle[blockIdx.x])
        return;
    const double pq = total(f.partial, blocks, 1);
    if (threadIdx.x == 0)
        lat_newton_cg_hop(&f.unit[blockIdx.x].cg, pq);
}

/* After the first transform of a solve, or of an iteration. */
static __global__ void __launch_bounds__(ADDERS)
    after_inverse(const __grid_constant__ fields f, const double *rr_of, uint32_t rr_blocks,
                  const double *rz_of, uint32_t rz_blocks, bool first)
{
    if (f.idle[blockIdx.x])
        return;
    unit_state *const u = f.unit + blockIdx.x;
    const double rr = total(rr_of, rr_blocks, 1);
    __syncthreads();
    const double rz = total(rz_of, rz_blocks, 1);
    if (threadIdx.x)
        return;
    if (first) {
        u->delta = lat_newton_delta(u->delta, u->size, rz);
        lat_newton_cg_begin(&u->cg, u->delta / u->size, rz);
    } else if (lat_newton_cg_stop(&u->cg, rr))
        f.idle[blockIdx.x] = 1;
    else
        lat_newton_cg_next(&u->cg, rz);
}

/* ---- host ------------------------------------------------------------------------------------ */

typedef struct gpu {
    lat_newton newton;
    cudaStream_t stream;
    lat_grid *grid;
    lat_dfield *u, *g; /* u: NULL as long as the links of the sweeps will do */
    fields f;
    lat_lines_plan<float2> plan;
    double *rr, *rz;   /* [units][blocks] */
    unit_state *state; /* on the host */
    int *idle, *now;
} gpu;

static int failed(cudaError_t e) { return lat_cuda_failed(e, "Newton's method"); }

static void gpu_close(lat_newton *newton)
{
    gpu *n = (gpu *)newton;
    cudaStreamSynchronize(n->stream);
    lat_dfield_free(n->u);
    lat_dfield_free(n->g);
    lat_grid_free(n->grid);
    lat_lines_close(&n->plan);
    void *const there[] = {n->f.w, n->f.a, n->f.s,       n->f.r,    n->f.p,    n->f.q,  n->f.v,
                           n->rr,  n->rz,  n->f.partial, n->f.unit, n->f.idle, n->f.now};
    for (void *p : there)
        cudaFree(p);
    free(n->state);
    free(n->idle);
    free(n->now);
    free(n);
}

static unsigned blocks_of(const gpu *n) { return lat_cuda_blocks(n->newton.sites, THREADS); }
static dim3 site_blocks(const gpu *n) { return dim3(blocks_of(n), (unsigned)n->newton.units); }
static dim3 slot_blocks(const gpu *n) /* of parities in turn */
{
    return dim3(lat_cuda_blocks(2 * (uint64_t)n->f.groups * LAT_CUDA_GROUP, THREADS),
                (unsigned)n->newton.units);
}
static const lat_line_axis<float2> *last_pass(const gpu *n)
{
    return n->plan.pass + n->plan.passes - 1;
}

/* Weights of whole links are in the links, here and in fix_gpu.cu. */
static bool weights_within(int nc, int rows) { return rows == nc || nc == 2; }

/* Links with fewer rows if all are in SU(N) to rounding, else with all of them, as fix_gpu.cu. */
static int load_links(gpu *n)
{
    const int nc = n->newton.nc;
    int rows, follow = 0;
    for (rows = nc - 1;; rows = nc) {
        const lat_shape links = {n->grid->slot.nd, 2 * nc * rows, nc, false, false};
        const bool within = weights_within(nc, rows);
        if (!(n->u = lat_dfield_new(n->grid, links, 1, "the links"))
            || lat_dfield_put(n->u, 0, n->newton.links, within ? n->newton.condition.weight : NULL)
            || (follow = lat_cuda_rows_follow(n->u)) < 0)
            return -1;
        if (follow)
            return 0;
        lat_dfield_free(n->u);
        n->u = NULL;
    }
}

/* The gradient's links: those of the sweeps where these are in double, or theta is far above that
 * of links that are rounded to single (3e-15 to 4e-15 on thermal lattices, weights 1); else our
 * own. */
#define SINGLE_IS_ENOUGH 1e-13
/* and what is below theta for them is below so much of it. */
#define SINGLE_MARGIN 0.9

static int choose_links(gpu *n, lat_dfield *of_sweeps, double theta)
{
    const int nc = n->newton.nc;
    bool plain = true;
    for (int a = 0; a < n->grid->slot.nd; a++)
        plain = plain && n->newton.condition.weight[n->grid->axis[a]] == 1;
    const bool theirs = of_sweeps && !n->u
                        && (of_sweeps->grid->spec.storage == LAT_STORAGE_DOUBLE
                            || (plain && theta >= SINGLE_IS_ENOUGH));
    if (!theirs && !n->u && load_links(n))
        return -1;
    const lat_dfield *u = theirs ? of_sweeps : n->u;
    n->f.u = u->data;
    n->f.rows = u->shape.reals / (2 * nc);
    n->f.single = u->grid->spec.storage == LAT_STORAGE_SINGLE;
    for (int a = 0; a < n->grid->slot.nd; a++) {
        const double weight = n->newton.condition.weight[n->grid->axis[a]];
        const bool within = weights_within(nc, n->f.rows);
        n->f.weight[a] = within ? 1 : weight;
        n->f.unweight[a] = within ? 1 / weight : 1;
        n->f.weight_of[a] = (float)weight;
    }
    return 0;
}

static int alloc_rows(gpu *n)
{
    static const char what[] = "Newton's method";
    const int nc = n->newton.nc;
    const size_t units = (size_t)n->newton.units, all = units * n->newton.sites,
                 row = all * (size_t)lat_newton_row(nc) * sizeof(float);
    float **const rows[] = {&n->f.a, &n->f.s, &n->f.r, &n->f.p, &n->f.q, &n->f.v};
    for (float **p : rows)
        if (lat_cuda_malloc((void **)p, row, what))
            return -1;
    const size_t link = all * (size_t)(n->f.nd * nc * (nc - 1) / 2) * sizeof(float4),
                 real = sizeof(double);
    n->state = (unit_state *)lat_alloc(units, sizeof *n->state, what);
    n->idle = (int *)lat_alloc(units, sizeof *n->idle, what);
    n->now = (int *)lat_alloc(units, sizeof *n->now, what);
    return !n->state || !n->idle || !n->now || lat_cuda_malloc((void **)&n->f.w, link, "links")
                   || lat_cuda_malloc((void **)&n->f.partial, 2 * units * slot_blocks(n).x * real,
                                      what)
                   || lat_cuda_malloc((void **)&n->rr,
                                      units * lat_lines_blocks(n->plan.pass) * real, what)
                   || lat_cuda_malloc((void **)&n->rz,
                                      units * lat_lines_blocks(last_pass(n)) * real, what)
                   || lat_cuda_malloc((void **)&n->f.unit, units * sizeof *n->f.unit, what)
                   || lat_cuda_malloc((void **)&n->f.idle, units * sizeof *n->f.idle, what)
                   || lat_cuda_malloc((void **)&n->f.now, units * sizeof *n->f.now, what)
               ? -1
               : 0;
}

static int open_fields(gpu *n)
{
    const lat_grid_spec spec = {n->newton.links->head.geom, LAT_STORAGE_DOUBLE,
                                n->newton.condition.time, false};
    if (!(n->grid = lat_grid_new(n->newton.dev, &spec)))
        return -1;
    const lat_geometry *slot = &n->grid->slot;
    const int nc = n->newton.nc;
    const lat_shape matrix = {1, 2 * nc * (nc - 1), nc, false, false};
    double weight[4] = {1, 1, 1, 1};
    n->newton.units = n->grid->slices;
    n->newton.sites = lat_volume(slot);
    *(lat_cuda_grid *)&n->f = *lat_cuda(n->grid);
    n->f.sites = (uint32_t)n->newton.sites;
    for (int a = 0; a < 4; a++) {
        n->f.dims[a] = a < slot->nd ? (uint32_t)slot->dims[a] : 1;
        if (a < 3)
            n->f.by_dim[a] = lat_cuda_divide_by(n->f.dims[a]);
        if (a < slot->nd)
            weight[a] = n->newton.condition.weight[n->grid->axis[a]];
    }
    if (!(n->g = lat_dfield_new(n->grid, matrix, 2, "transformations"))
        || lat_lines_open(&n->plan, slot, weight, lat_newton_row(nc), NULL) || alloc_rows(n))
        return -1;
    n->f.g = n->g->data;
    return 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* idle and now from the host; of all units. */
static int send_units(gpu *n)
{
    const size_t bytes = (size_t)n->newton.units * sizeof(int);
    return failed(cudaMemcpyAsync(n->f.idle, n->idle, bytes, cudaMemcpyHostToDevice, n->stream))
                   || failed(
                       cudaMemcpyAsync(n->f.now, n->now, bytes, cudaMemcpyHostToDevice, n->stream))
               ? -1
               : 0;
}

static int copy_states(gpu *n, bool there)
{
    const size_t bytes = (size_t)n->newton.units * sizeof *n->state;
    return failed(cudaMemcpyAsync(there ? n->f.unit : n->state, there ? n->state : n->f.unit, bytes,
                                  cudaMemcpyDefault, n->stream))
                   || failed(cudaStreamSynchronize(n->stream))
               ? -1
               : 0;
}

/* The gradient of g, or of what a step has made of it: its sums are in n->state then. */
static int gradient(gpu *n, int next)
{
    const dim3 blocks = slot_blocks(n);
    cudaError_t e = n->newton.nc == 2 ? launch_gradient_d2(n->f, blocks, next, n->stream)
                                      : launch_gradient_d3(n->f, blocks, next, n->stream);
    if (!e) {
        after_gradient<<<(unsigned)n->newton.units, ADDERS, 0, n->stream>>>(n->f, blocks.x);
        e = cudaGetLastError();
    }
    return failed(e) || copy_states(n, false) ? -1 : 0;
}

static cudaError_t hop(gpu *n)
{
    return n->newton.nc == 2 ? launch_hop_f2(n->f, site_blocks(n), n->stream)
                             : launch_hop_f3(n->f, site_blocks(n), n->stream);
}

/* s and r move on by p and q; then z = L^-1 r, and the next p. */
static cudaError_t precondition(gpu *n, bool first)
{
    const fields *f = &n->f;
    const lat_lines_plan<float2> *l = &n->plan;
    const int units = n->newton.units;
    const update there = {(const float2 *)f->p,
                          (const float2 *)f->q,
                          (float2 *)f->r,
                          (float2 *)f->s,
                          (float2 *)f->v,
                          f->unit,
                          f->idle};
    const lat_lines_plain<float2> plain = {(float2 *)f->v, f->idle};
    const direction back = {(const float2 *)f->v, (float2 *)f->p, f->unit, f->idle};
    const int last = l->passes - 1;
    cudaError_t e = lat_lines_launch<LAT_LINES_FORWARDS>(l, 0, units, n->stream, there, n->rr);
    for (int i = 1; i < last && !e; i++)
        e = lat_lines_launch<LAT_LINES_FORWARDS>(l, i, units, n->stream, plain, NULL);
    e = e ? e : lat_lines_launch<LAT_LINES_INVERT>(l, last, units, n->stream, plain, n->rz);
    if (!e) {
        after_inverse<<<(unsigned)units, ADDERS, 0, n->stream>>>(
            *f, n->rr, lat_lines_blocks(l->pass), n->rz, lat_lines_blocks(last_pass(n)), first);
        e = cudaGetLastError();
    }
    for (int i = last - 1; i > 0 && !e; i--)
        e = lat_lines_launch<LAT_LINES_BACK>(l, i, units, n->stream, plain, NULL);
    return e ? e : lat_lines_launch<LAT_LINES_BACK>(l, 0, units, n->stream, back, NULL);
}

static cudaError_t iterate(gpu *n)
{
    cudaError_t e = hop(n);
    if (!e) {
        after_hop<<<(unsigned)n->newton.units, ADDERS, 0, n->stream>>>(n->f, blocks_of(n));
        e = cudaGetLastError();
    }
    return e ? e : precondition(n, false);
}

/* M s = -A of all units that are not idle; the scalars are in n->state then. */
static int solve(gpu *n)
{
    const uint32_t each = (uint32_t)(n->newton.sites * (size_t)lat_newton_row(n->newton.nc) / 4);
    const dim3 blocks(lat_cuda_blocks(each, THREADS), (unsigned)n->newton.units);
    begin<<<blocks, THREADS, 0, n->stream>>>(n->f, each);
    cudaError_t e = cudaGetLastError();
    e = e ? e : precondition(n, true);
    for (bool left = true; left && !e;) {
        for (int k = 0; k < AT_A_TIME && !e; k++)
            e = iterate(n);
        e = e ? e
              : cudaMemcpyAsync(n->idle, n->f.idle, (size_t)n->newton.units * sizeof *n->idle,
                                cudaMemcpyDeviceToHost, n->stream);
        e = e ? e : cudaStreamSynchronize(n->stream);
        left = false;
        for (int i = 0; i < n->newton.units; i++)
            left = left || !n->idle[i];
    }
    return failed(e) || copy_states(n, false) ? -1 : 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Which units are idle, from the host: those that are not busy. true if some are busy. */
static bool choose(gpu *n, const lat_newton_unit *unit)
{
    bool busy = false;
    for (int i = 0; i < n->newton.units; i++) {
        n->idle[i] = !unit[i].busy;
        busy = busy || unit[i].busy;
    }
    return busy;
}

/* A step of each unit that is busy. */
static int step(gpu *n, lat_newton_unit *unit, double theta)
{
    const dim3 blocks = slot_blocks(n);
    for (int i = 0; i < n->newton.units; i++) {
        memset(&n->state[i], 0, sizeof n->state[i]);
        n->state[i].size = sqrt(unit[i].square);
        n->state[i].delta = unit[i].delta;
        n->state[i].cg.tolerance = unit[i].busy ? lat_newton_tolerance(&n->newton, &unit[i], theta)
                                                : 0;
    }
    if (copy_states(n, true) || send_units(n) || solve(n))
        return -1;
    choose(n, unit);
    if (send_units(n)
        || failed(n->newton.nc == 2 ? launch_step_d2(n->f, blocks, n->stream)
                                    : launch_step_d3(n->f, blocks, n->stream))
        || gradient(n, 1))
        return -1;
    for (int i = 0; i < n->newton.units; i++)
        if (unit[i].busy) {
            const unit_state *s = n->state + i;
            unit[i].delta = s->delta;
            n->now[i] ^= lat_newton_judge(&n->newton, &unit[i], &s->cg, s->sums, theta);
        }
    return 0;
}

/* g of a copy of the sweeps to member 0 of ours, or back, of units that are not idle. */
static int exchange(gpu *n, lat_dfield *other, int copy, bool back)
{
    const bool single = other->grid->spec.storage == LAT_STORAGE_SINGLE;
    void *member = (char *)other->data
                   + (size_t)copy * (size_t)other->grid->slots * other->unit_bytes;
    return failed(n->newton.nc == 2
                      ? launch_exchange_d2(n->f, single, back, member, slot_blocks(n), n->stream)
                      : launch_exchange_d3(n->f, single, back, member, slot_blocks(n), n->stream));
}

/* The gradient of the units that are busy, of member 0. */
static int start(gpu *n)
{
    memset(n->now, 0, (size_t)n->newton.units * sizeof *n->now);
    return send_units(n) || gradient(n, 0) ? -1 : 0;
}

/* What steps have made of member 0 to its place. */
static int gather(gpu *n)
{
    char *const data = (char *)n->g->data;
    const size_t bytes = n->g->unit_bytes, member = bytes * (size_t)n->grid->slots;
    for (int i = 0; i < n->newton.units; i++)
        if (n->now[i]
            && failed(cudaMemcpyAsync(data + (size_t)i * bytes, data + member + (size_t)i * bytes,
                                      bytes, cudaMemcpyDeviceToDevice, n->stream)))
            return -1;
    return 0;
}

/* The result, to the host or to the sweeps. */
static int finish(gpu *n, lat_dfield *of_sweeps, int copy, lat_field *g,
                  const lat_newton_unit *unit, double theta)
{
    if (gather(n))
        return -1;
    if (!of_sweeps || lat_newton_ended(&n->newton, unit, theta))
        return lat_dfield_get(n->g, 0, g, true);
    for (int i = 0; i < n->newton.units; i++)
        n->idle[i] = unit[i].steps == 0;
    return send_units(n) || exchange(n, of_sweeps, copy, true) ? -1 : 0;
}

static int gpu_run(lat_newton *newton, lat_fixer *from, int copy, lat_field *g,
                   lat_newton_unit *unit, double theta)
{
    gpu *n = (gpu *)newton;
    lat_dfield *links = NULL, *sweeps = NULL;
    choose(n, unit);
    if ((from && from->ops->fields(from, &links, &sweeps)) || choose_links(n, links, theta)
        || (from ? exchange(n, sweeps, copy, false) : lat_dfield_put(n->g, 0, g, NULL)) || start(n))
        return -1;
    const double goal = n->f.single ? SINGLE_MARGIN * theta : theta;
    for (int i = 0; i < newton->units; i++)
        if (unit[i].busy) {
            unit[i].share = n->state[i].sums[0];
            unit[i].square = n->state[i].sums[1];
            unit[i].busy = lat_newton_theta(newton, unit[i].square) >= goal;
        }
    while (choose(n, unit))
        if (step(n, unit, goal))
            return -1;
    for (int i = 0; i < newton->units; i++)
        unit[i].square *= theta / goal;
    return finish(n, sweeps, copy, g, unit, theta);
}

/* ---- for check programs ---------------------------------------------------------------------- */

static size_t row_bytes(const gpu *n)
{
    return (size_t)n->newton.units * n->newton.sites * (size_t)lat_newton_row(n->newton.nc)
           * sizeof(float);
}

static int gpu_apply(lat_newton *newton, lat_field *g, float *out, const float *in)
{
    gpu *n = (gpu *)newton;
    memset(n->idle, 0, (size_t)newton->units * sizeof *n->idle);
    if (choose_links(n, NULL, 0) || lat_dfield_put(n->g, 0, g, NULL) || start(n))
        return -1;
    cudaError_t e = cudaMemcpyAsync(n->f.p, in, row_bytes(n), cudaMemcpyHostToDevice, n->stream);
    e = e ? e : hop(n);
    e = e ? e : cudaMemcpyAsync(out, n->f.q, row_bytes(n), cudaMemcpyDeviceToHost, n->stream);
    return failed(e ? e : cudaStreamSynchronize(n->stream));
}

static int gpu_precondition(lat_newton *newton, float *v, double *dot)
{
    gpu *n = (gpu *)newton;
    const int units = newton->units;
    memset(n->idle, 0, (size_t)units * sizeof *n->idle);
    memset(n->now, 0, (size_t)units * sizeof *n->now);
    memset(n->state, 0, (size_t)units * sizeof *n->state);
    for (int i = 0; i < units; i++)
        n->state[i].size = 1;
    /* r = v; p = z */
    if (failed(cudaMemcpyAsync(n->f.r, v, row_bytes(n), cudaMemcpyHostToDevice, n->stream))
        || failed(cudaMemsetAsync(n->f.s, 0, row_bytes(n), n->stream))
        || failed(cudaMemsetAsync(n->f.p, 0, row_bytes(n), n->stream))
        || failed(cudaMemsetAsync(n->f.q, 0, row_bytes(n), n->stream)) || send_units(n)
        || copy_states(n, true) || failed(precondition(n, true)) || copy_states(n, false)
        || failed(cudaMemcpy(v, n->f.p, row_bytes(n), cudaMemcpyDeviceToHost)))
        return -1;
    for (int i = 0; i < units; i++)
        dot[i] = n->state[i].cg.rz;
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static const lat_newton_side side = {gpu_close, gpu_run, gpu_apply, gpu_precondition};

int lat_newton_gpu_check(const lat_geometry *unit) { return lat_lines_check<float2>(unit); }

lat_newton *lat_newton_gpu(lat_device *dev, const lat_field *u, const lat_condition *c)
{
    gpu *n = (gpu *)calloc(1, sizeof *n);
    if (!n) {
        lat_fail("out of memory: Newton's method");
        return NULL;
    }
    n->newton.side = &side;
    n->newton.dev = dev;
    n->newton.condition = *c;
    n->newton.links = u;
    n->newton.nc = u->head.nc;
    n->stream = lat_cuda_device_of(dev)->stream;
    if (open_fields(n) == 0)
        return &n->newton;
    gpu_close(&n->newton);
    return NULL;
}
