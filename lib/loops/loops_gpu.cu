/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_gpu.cu: loops on one NVIDIA GPU. All work goes to one stream, in order: links in temporal
 * gauge, levels of smearing; then for each direction and length a launch that lengthens the lines
 * of all levels, and two or three that sum their loops (loops_gram.cu). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "loops_cuda.cuh"
#include "grid/cuda_table.h"
#include "grid/cuda_tuning.h"
extern "C" {
#include "base/threads.h"
#include "grid/device.h"
}

LAT_CUDA_DOUBLES(lat_cuda_loops_ops, LAT_GPU_LOOPS_MOST);

typedef lat_loops_gpu_state gpu;

#define THREADS 256

static int failed(cudaError_t e) { return lat_cuda_failed(e, "loops"); }

/* ---- memory ---------------------------------------------------------------------------------- */

double *lat_loops_gpu_new(gpu *s, size_t doubles)
{
    void *p = NULL;
    if (s->fields == LAT_LOOPS_FIELDS) {
        lat_fail("GPU: too many fields of loops");
        return NULL;
    }
    if (lat_cuda_malloc(&p, doubles * sizeof(double), "loops"))
        return NULL;
    return s->all[s->fields++] = (double *)p;
}

void lat_loops_gpu_release(gpu *s, double *field)
{
    for (int i = 0; i < s->fields && field; i++)
        if (s->all[i] == field) {
            lat_cuda_free(field);
            s->all[i] = s->all[--s->fields];
            return;
        }
}

static void gpu_close(lat_loops *loops)
{
    gpu *s = (gpu *)loops;
    while (s->fields > 0)
        lat_loops_gpu_release(s, s->all[s->fields - 1]);
}

/* Bytes of a field of matrices. */
static double field_bytes(const lat_field *u)
{
    return (double)lat_volume(&u->head.geom) * 2 * u->head.nc * u->head.nc * sizeof(double);
}

/* Fields at once: while links in time are smeared; while levels are; while loops are summed. */
static double fields_needed(const lat_field *u, const lat_loops_how *how)
{
    const int nd = u->head.geom.nd, axes = nd - 1, levels = how->levels;
    const bool smeared = how->steps[levels - 1] > 0;
    const double first = nd + 1
                         + (how->time_links ? lat_loops_gpu_smear_fields(how->time_links, nd, true)
                                            : 0);
    lat_smear most = how->smear;
    most.steps = smeared ? 2 : 0;
    const double then = axes * levels
                        + (smeared ? lat_loops_gpu_smear_fields(&most, axes, false) : 0);
    const double last = axes * levels + (lat_loops_off_axis(how) ? levels : 0)
                        + levels * (1 + (double)how->time / lat_slices(&u->head));
    return first > then && first > last ? first : then > last ? then : last;
}

static int gpu_check(const lat_device *dev, const lat_field *u, const lat_loops_how *how)
{
    char dims[64], what[128];
    if (lat_field_shared(u))
        return lat_fail("on GPUs one rank alone measures loops, found %d ranks: one rank (-n 1) on "
                        "a GPU, or ranks on CPUs (--device cpu)",
                        u->comm->size);
    if (lat_device_check_group(true, u->head.nc, LAT_GPU_LOOPS_MOST))
        return -1;
    snprintf(what, sizeof what, "lattice %s: measuring loops of %d levels",
             lat_dims_text(&u->head.geom, dims), how->levels);
    return lat_device_check_memory(dev, field_bytes(u) * fields_needed(u, how), what);
}

/* ---- links ----------------------------------------------------------------------------------- */

typedef struct upload {
    uint32_t sites, slices, nd, reals;
    size_t plane;
    double *u[LAT_MAX_DIMS];
} upload;

/* raw[site][mu][real], of sites from `first` on in natural order, to the planes of each mu. */
static __global__ void spread(const __grid_constant__ upload w, const double *raw, size_t first,
                              size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, each = (size_t)w.nd * w.reals;
    if (i >= count * each)
        return;
    const size_t site = first + i / each, x = site % w.sites, t = site / w.sites;
    const uint32_t real = (uint32_t)(i % each);
    w.u[real / w.reals][real % w.reals * w.plane + x * w.slices + t] = raw[i];
}

/* Links in double. */
static int send_links(gpu *s, const lat_field *u)
{
    upload w = {s->w.sites, s->w.slices, (uint32_t)s->w.nd, (uint32_t)s->reals, s->w.volume, {}};
    const size_t each = (size_t)s->w.nd * s->reals, bytes = each * sizeof(double);
    const lat_cuda_device *dev = s->dev;
    for (int mu = 0; mu < s->w.nd; mu++)
        if (!(w.u[mu] = s->u[mu] = lat_loops_gpu_field(s)))
            return -1;
    return lat_cuda_staged(
        dev, true, s->w.volume, LAT_CUDA_STAGE / bytes, "links",
        [&](size_t at, size_t n, int b) {
            lat_memcpy(dev->pinned[b], (const double *)u->data + at * each, n * bytes);
            return true;
        },
        [&](size_t at, size_t n, int b) {
            const cudaError_t e = cudaMemcpyAsync(dev->raw[b], dev->pinned[b], n * bytes,
                                                  cudaMemcpyHostToDevice, dev->stream);
            return e ? e
                     : lat_cuda_start(0, spread, lat_cuda_blocks(n * each, THREADS), THREADS,
                                      dev->stream, w, (const double *)dev->raw[b], at, n);
        });
}

static lat_cuda_loops_sites sites_of(const lat_loops *l)
{
    lat_cuda_loops_sites w = {};
    w.nd = l->axes + 1;
    w.sites = (uint32_t)l->sites;
    w.slices = (uint32_t)l->slices;
    w.volume = w.sites * w.slices;
    uint32_t stride = w.slices;
    for (int mu = 0; mu < l->axes; mu++) {
        w.extent[mu] = (uint32_t)l->space.dims[mu];
        w.stride[mu] = stride;
        stride *= w.extent[mu];
    }
    w.extent[l->axes] = w.slices;
    w.stride[l->axes] = 1;
    return w;
}

/* Links on the GPU; the product of those in time, smeared or not, around the lattice, and with
 * `gauge` the transformation to temporal gauge. */
static int begin(gpu *s, const lat_field *u, bool gauge)
{
    const lat_smear *smear = s->loops.how->time_links;
    double *smeared[LAT_MAX_DIMS] = {};
    s->w = sites_of(&s->loops);
    s->reals = 2 * (size_t)(s->loops.n * s->loops.n);
    s->ops = lat_cuda_loops_ops_table[s->loops.n];
    s->dev = lat_cuda_device_of(s->loops.dev);
    s->stream = s->dev->stream;
    s->singular = (int *)lat_loops_gpu_new(s, 1);
    s->around = lat_loops_gpu_new(s, s->reals * s->w.sites);
    if (!s->singular || !s->around || lat_loops_missing(u, s->loops.how)
        || failed(cudaMemsetAsync(s->singular, 0, sizeof *s->singular, s->stream))
        || send_links(s, u)
        || (smear
            && (lat_smear_check(u, smear)
                || lat_loops_gpu_smear(s, smear, s->w.nd, s->u, smeared, true))))
        return -1;
    const int time = s->w.nd - 1;
    if ((gauge && !(s->g = lat_loops_gpu_field(s)))
        || failed(
            s->ops->gauge(&s->w, smear ? smeared[time] : s->u[time], s->g, s->around, s->stream)))
        return -1;
    lat_loops_gpu_release(s, smeared[time]);
    lat_loops_gpu_release(s, s->u[time]);
    return 0;
}

/* Waits; could all smeared links be projected? */
static int projected(gpu *s)
{
    int singular = 0;
    if (failed(cudaMemcpyAsync(&singular, s->singular, sizeof singular, cudaMemcpyDeviceToHost,
                               s->stream))
        || failed(cudaStreamSynchronize(s->stream)))
        return -1;
    return singular ? LAT_SMEAR_SINGULAR : 0;
}

/* Links of all levels: smeared in temporal gauge, as smearing in space commutes with it. */
static int make_levels(gpu *s, const lat_field *u)
{
    const lat_loops_how *how = s->loops.how;
    double **last = s->u;
    for (int level = 0; level < how->levels; level++) {
        lat_smear more = how->smear;
        more.steps = how->steps[level] - (level ? how->steps[level - 1] : 0);
        if (more.steps > 0
            && (lat_smear_check(u, &more)
                || lat_loops_gpu_smear(s, &more, s->loops.axes, last, s->links[level], false)))
            return -1;
        for (int axis = 0; axis < s->loops.axes; axis++)
            if (more.steps == 0)
                s->links[level][axis] = last[axis];
            else if (level == 0)
                lat_loops_gpu_release(s, last[axis]);
        last = s->links[level];
    }
    return projected(s);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static int make_lines(gpu *s)
{
    const lat_loops_how *how = s->loops.how;
    lat_cuda_lines *l = &s->lines;
    lat_cuda_gram *g = &s->gram;
    l->levels = g->levels = how->levels;
    l->around = how->window ? NULL : s->around;
    l->time = g->time = (uint32_t)how->time;
    l->columns = g->columns = s->w.slices + (how->window ? 0 : l->time);
    l->first = how->window ? (uint32_t)how->first : 0;
    l->last = how->window ? (uint32_t)how->last : s->w.slices - 1;
    g->pairs = lat_loops_pairs(how);
    g->rows = (uint64_t)s->reals * s->w.sites;
    g->slices = s->w.slices;
    if (lat_gram_plan(g) || !(g->partial = lat_loops_gpu_new(s, lat_gram_partial(g))))
        return -1;
    for (int level = 0; level < how->levels; level++) {
        double *line = lat_loops_gpu_new(s, g->rows * g->columns);
        g->line[level] = l->line[level] = line;
        if (lat_loops_off_axis(how))
            s->steps[level] = lat_loops_gpu_field(s);
        if (!line || (lat_loops_off_axis(how) && !s->steps[level]))
            return -1;
    }
    return 0;
}

static int gpu_open(lat_loops *loops, const lat_field *u)
{
    gpu *s = (gpu *)loops;
    if (begin(s, u, true))
        return -1;
    for (int axis = 0; axis < loops->axes; axis++)
        if (failed(s->ops->transform(&s->w, s->u[axis], s->g, axis, s->stream)))
            return -1;
    lat_loops_gpu_release(s, s->g);
    return lat_rc(make_levels(s, u) || make_lines(s));
}

static size_t numbers(const gpu *s) { return (size_t)lat_loops_numbers(s->loops.how); }

static int gpu_begin(lat_loops *loops, int count)
{
    gpu *s = (gpu *)loops;
    const size_t n = (size_t)count * numbers(s);
    lat_loops_gpu_release(s, s->sums);
    s->sums = lat_loops_gpu_new(s, n);
    return s->sums ? failed(cudaMemsetAsync(s->sums, 0, n * sizeof(double), s->stream)) : -1;
}

static int gpu_steps(lat_loops *loops, const int *d)
{
    gpu *s = (gpu *)loops;
    lat_cuda_steps p = {};
    lat_loops_paths_of(d, &p.paths);
    for (int level = 0; level < loops->how->levels; level++) {
        for (int axis = 0; axis < loops->axes; axis++)
            p.links[axis] = s->links[level][axis];
        p.to = s->steps[level];
        s->lines.step[level] = p.paths.length == 1 ? p.links[p.paths.step[0][0] - 1] : p.to;
        if (p.paths.length > 1 && failed(s->ops->steps(&s->w, &p, s->stream)))
            return -1;
    }
    return 0;
}

static int gpu_add(lat_loops *loops, const int *d, int n)
{
    gpu *s = (gpu *)loops;
    s->lines.n = n;
    for (int mu = 0; mu < loops->axes; mu++) {
        const int extent = loops->space.dims[mu], begin = (n - 1) * d[mu] % extent,
                  end = n * d[mu] % extent;
        s->lines.begin[mu] = (uint32_t)(begin < 0 ? begin + extent : begin);
        s->lines.end[mu] = (uint32_t)(end < 0 ? end + extent : end);
    }
    s->gram.sums = s->sums + (size_t)(n - 1) * numbers(s);
    return lat_rc(failed(s->ops->lengthen(&s->w, &s->lines, s->stream))
                  || failed(lat_gram_add(&s->gram, s->stream)));
}

static int fetch(gpu *s, double *to, const double *from, size_t doubles)
{
    return lat_rc(
        failed(cudaMemcpyAsync(to, from, doubles * sizeof *to, cudaMemcpyDeviceToHost, s->stream))
        || failed(cudaStreamSynchronize(s->stream)));
}

static int gpu_sums(lat_loops *loops, int count, double *sum)
{
    gpu *s = (gpu *)loops;
    return fetch(s, sum, s->sums, (size_t)count * numbers(s));
}

/* The diagonal of the Polyakov loops comes to the host. */
static int gpu_polyakov(lat_loops *loops, const lat_field *u, double *p)
{
    gpu *s = (gpu *)loops;
    const size_t sites = loops->sites;
    double *part = (double *)lat_alloc(2 * sites, sizeof *part, "Polyakov loops");
    int rc = lat_rc(!part || begin(s, u, false) || projected(s));
    memset(p, 0, 2 * sites * sizeof *p);
    for (int a = 0; a < loops->n && rc == 0; a++) {
        rc = fetch(s, part, s->around + (size_t)(2 * a * (loops->n + 1)) * sites, 2 * sites);
        for (size_t x = 0; x < sites && rc == 0; x++) {
            p[2 * x] += part[x];
            p[2 * x + 1] += part[sites + x];
        }
    }
    free(part);
    gpu_close(loops);
    return rc;
}

const lat_loops_device lat_loops_gpu = {
    sizeof(gpu), gpu_check, gpu_open, gpu_close,    gpu_begin,
    gpu_steps,   gpu_add,   gpu_sums, gpu_polyakov,
};
