/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_gpu.cu: Newton's method on a GPU: links, g, gradients and steps in double, as lib/grid has
 * them there. The operator's links and vectors are those of ghost_gpu.cu. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "add_block.cuh"
#include "grid/cuda_dfield.cuh"
extern "C" {
#include "base/error.h"
#include "base/memory.h"
#include "newton_internal.h"
}

/* What kernels know: double fields by their grid, vectors and the operator's links. */
typedef struct fields : lat_cuda_grid {
    const void *u;
    int rows;                      /* of the links */
    bool single;                   /* the links */
    void *g;                       /* two members */
    double weight[4], unweight[4]; /* weights are in the links, or not: both 1, or what they are */
    uint32_t sites;                /* of a unit */
    float4 *w;
    float *a, *s;
    double *partial; /* [units][blocks][2] */
    double *scale;   /* [units] */
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

#define LAT_SIZE 8
#define LAT_N 2
#include "grid/cuda_real.cuh"
#include "grid/cuda_matrix.cuh"
#include "newton_algebra.h"
#include "newton_kernels.cuh"
#undef LAT_N
#define LAT_N 3
#include "grid/cuda_real.cuh"
#include "grid/cuda_matrix.cuh"
#include "newton_algebra.h"
#include "newton_kernels.cuh"

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct gpu {
    lat_newton newton;
    cudaStream_t stream;
    lat_grid *grid;
    lat_dfield *u, *g;  /* u: NULL as long as the links of the sweeps will do */
    lat_dfield *sweeps; /* g of the sweeps, since `begin` */
    fields f;
    double *partial; /* on the host */
    int *flags;
} gpu;

static int failed(cudaError_t e) { return lat_cuda_failed(e, "Newton's method"); }

static void gpu_close(lat_newton *newton)
{
    gpu *n = (gpu *)newton;
    cudaStreamSynchronize(n->stream);
    lat_dfield_free(n->u);
    lat_dfield_free(n->g);
    lat_grid_free(n->grid);
    cudaFree(n->f.partial);
    cudaFree(n->f.scale);
    cudaFree(n->f.idle);
    free(n->partial);
    free(n->flags);
}

static dim3 slot_blocks(const gpu *n) /* of parities in turn */
{
    return dim3(lat_cuda_blocks(2 * (uint64_t)n->f.groups * LAT_CUDA_GROUP, THREADS),
                (unsigned)n->newton.units);
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
    }
    return 0;
}

static int gpu_open(lat_newton *newton)
{
    static const char what[] = "Newton's method";
    gpu *n = (gpu *)newton;
    const lat_grid_spec spec = {newton->links->head.geom, LAT_STORAGE_DOUBLE,
                                newton->condition.time, false};
    const int nc = newton->nc;
    const lat_shape matrix = {1, 2 * nc * (nc - 1), nc, false, false};
    n->stream = lat_cuda_device_of(newton->dev)->stream;
    if (!(n->grid = lat_grid_new(newton->dev, &spec))
        || !(n->g = lat_dfield_new(n->grid, matrix, 2, "transformations")))
        return -1;
    *(lat_cuda_grid *)&n->f = *lat_cuda(n->grid);
    n->f.g = n->g->data;
    n->f.sites = (uint32_t)newton->sites;
    n->f.w = (float4 *)lat_ghost_gpu_links(lat_ghost_gpu_of(newton->m));
    n->f.a = (float *)newton->r;
    n->f.s = (float *)newton->x;
    const size_t units = (size_t)newton->units, sums = 2 * units * slot_blocks(n).x;
    n->partial = (double *)lat_alloc(sums, sizeof(double), what);
    n->flags = (int *)lat_alloc(2 * units, sizeof(int), what);
    if (!n->partial || !n->flags
        || lat_cuda_malloc((void **)&n->f.partial, sums * sizeof(double), what)
        || lat_cuda_malloc((void **)&n->f.scale, units * sizeof(double), what)
        || lat_cuda_malloc((void **)&n->f.idle, 2 * units * sizeof(int), what))
        return -1;
    n->f.now = n->f.idle + units;
    return 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* idle and now from the host. */
static int send_units(gpu *n)
{
    const int units = n->newton.units;
    for (int i = 0; i < units; i++) {
        n->flags[i] = n->newton.idle[i];
        n->flags[units + i] = n->newton.now[i];
    }
    return failed(cudaMemcpyAsync(n->f.idle, n->flags, 2 * (size_t)units * sizeof(int),
                                  cudaMemcpyHostToDevice, n->stream));
}

static int gpu_gradient(lat_newton *newton, bool next, double *sums)
{
    gpu *n = (gpu *)newton;
    const dim3 blocks = slot_blocks(n);
    const size_t each = 2 * blocks.x, all = each * (size_t)newton->units;
    if (send_units(n)
        || failed(newton->nc == 2 ? launch_gradient_d2(n->f, blocks, next, n->stream)
                                  : launch_gradient_d3(n->f, blocks, next, n->stream))
        || failed(cudaMemcpyAsync(n->partial, n->f.partial, all * sizeof(double),
                                  cudaMemcpyDeviceToHost, n->stream))
        || failed(cudaStreamSynchronize(n->stream)))
        return -1;
    for (size_t unit = 0; unit < (size_t)newton->units; unit++) {
        sums[2 * unit] = sums[2 * unit + 1] = 0;
        for (size_t i = 0; i < each && !newton->idle[unit]; i++)
            sums[2 * unit + i % 2] += n->partial[unit * each + i];
    }
    return 0;
}

static int gpu_step(lat_newton *newton, const double *scale)
{
    gpu *n = (gpu *)newton;
    const size_t bytes = (size_t)newton->units * sizeof *scale;
    return send_units(n)
                   || failed(
                       cudaMemcpyAsync(n->f.scale, scale, bytes, cudaMemcpyHostToDevice, n->stream))
                   || failed(newton->nc == 2 ? launch_step_d2(n->f, slot_blocks(n), n->stream)
                                             : launch_step_d3(n->f, slot_blocks(n), n->stream))
               ? -1
               : 0;
}

/* ---- from and to the sweeps ------------------------------------------------------------------ */

/* g of a copy of the sweeps to member 0 of ours, or back, of units that are not idle. */
static int exchange(gpu *n, int copy, bool back)
{
    const lat_dfield *other = n->sweeps;
    const bool single = other->grid->spec.storage == LAT_STORAGE_SINGLE;
    void *member = (char *)other->data
                   + (size_t)copy * (size_t)other->grid->slots * other->unit_bytes;
    return failed(n->newton.nc == 2
                      ? launch_exchange_d2(n->f, single, back, member, slot_blocks(n), n->stream)
                      : launch_exchange_d3(n->f, single, back, member, slot_blocks(n), n->stream));
}

static int gpu_begin(lat_newton *newton, lat_fixer *from, int copy, const lat_field *g,
                     double theta)
{
    gpu *n = (gpu *)newton;
    lat_dfield *links = NULL;
    n->sweeps = NULL;
    if ((from && lat_fix_fields(from, &links, &n->sweeps)) || choose_links(n, links, theta))
        return -1;
    newton->margin = n->f.single ? SINGLE_MARGIN : 1;
    return from ? exchange(n, copy, false) : lat_dfield_put(n->g, 0, g, NULL);
}

/* What steps have made of member 0 to its place. */
static int gather(gpu *n)
{
    char *const data = (char *)n->g->data;
    const size_t bytes = n->g->unit_bytes, member = bytes * (size_t)n->grid->slots;
    for (int i = 0; i < n->newton.units; i++)
        if (n->newton.now[i]
            && failed(cudaMemcpyAsync(data + (size_t)i * bytes, data + member + (size_t)i * bytes,
                                      bytes, cudaMemcpyDeviceToDevice, n->stream)))
            return -1;
    return 0;
}

static int gpu_end(lat_newton *newton, lat_fixer *from, int copy, lat_field *g, bool back)
{
    gpu *n = (gpu *)newton;
    (void)from;
    if (gather(n))
        return -1;
    if (!back)
        return lat_dfield_get(n->g, 0, g);
    for (int i = 0; i < newton->units; i++)
        newton->idle[i] = newton->unit[i].steps == 0;
    return send_units(n) || exchange(n, copy, true) ? -1 : 0;
}

lat_newton *lat_newton_gpu(void)
{
    static const lat_newton_side side = {gpu_open,     gpu_close, gpu_begin,
                                         gpu_gradient, gpu_step,  gpu_end};
    gpu *n = (gpu *)calloc(1, sizeof *n);
    if (!n) {
        lat_fail("out of memory: Newton's method");
        return NULL;
    }
    n->newton.side = &side;
    return &n->newton;
}
