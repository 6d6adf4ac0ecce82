/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_gpu.cu: the CUDA backend: fields on one NVIDIA GPU, a thread a site (fix_cuda.cuh says how
 * they lie there).
 *
 * All work goes to one stream, in order. Sums are taken over fixed groups in a fixed order, and a
 * half sweep reads g of one parity and writes the other: results on one kind of GPU are the same
 * bit for bit. */
#include <atomic>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fix_gpu.cuh"
extern "C" {
#include "base/error.h"
#include "base/memory.h"
#include "fix_state.h"
#define DECLARE(n, of) extern const lat_cuda_ops lat_cuda_ops_f##n, lat_cuda_ops_d##n;
LAT_EACH_GROUP(LAT_GPU_FIX_MOST, DECLARE, )
#undef DECLARE
extern const lat_backend lat_backend_gpu;
}

#define ENTRY(n, of) &lat_cuda_ops_f##n, &lat_cuda_ops_d##n,
static const lat_cuda_ops *const all_ops[] = {LAT_EACH_GROUP(LAT_GPU_FIX_MOST, ENTRY, )};
#undef ENTRY
#define BESIDE 8 /* copies that share a block */

typedef lat_cuda_gpu gpu;

/* ---- memory ---- */

/* Links of a slice, and of all of them. */
static size_t slice_bytes(const gpu *c, int rows)
{
    return lat_cuda_padded_sites(c) * (size_t)c->work.nd * lat_cuda_matrix_bytes(c, rows);
}
static size_t link_bytes(const gpu *c, int rows)
{
    return (size_t)c->work.slices * slice_bytes(c, rows);
}

static size_t partial_bytes(const gpu *c)
{
    return (size_t)c->units * c->ops->state_blocks(&c->work) * 3 * sizeof(double);
}

/* Before anything is allocated: will it fit? */
static int enough(const gpu *c)
{
    char text[64], copies[32] = "", what[128];
    const double need = (double)link_bytes(c, lat_cuda_few_rows(c)) + (double)lat_cuda_g_bytes(c)
                        + (double)partial_bytes(c) + (double)lat_cuda_staging_bytes();
    if (c->copies > 1)
        snprintf(copies, sizeof copies, ", %d copies", c->copies);
    snprintf(what, sizeof what, "lattice %s in %s%s", lat_dims_text(&c->geom, text),
             c->ops->real == 4 ? "single" : "double", copies);
    return lat_cuda_check_memory(need, what);
}

static int allocate(gpu *c)
{
    const size_t units = (size_t)c->units, copies = (size_t)c->copies,
                 all = copies * (size_t)c->slices;
    if (lat_cuda_failed(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking),
                        "making a stream")
        || enough(c)
        || lat_cuda_malloc(&c->work.g, lat_cuda_g_bytes(c) + LAT_CUDA_FLAGS * sizeof(uint32_t),
                           "the transformations")
        || lat_cuda_malloc((void **)&c->partial, partial_bytes(c), "partial sums")
        || lat_cuda_malloc((void **)&c->unit, units * BESIDE * sizeof *c->unit,
                           "the list of slices")
        || lat_cuda_malloc((void **)&c->arrived, units * sizeof *c->arrived, "partial sums")
        || lat_cuda_failed(cudaMemsetAsync(c->arrived, 0, units * sizeof *c->arrived, c->stream),
                           "partial sums")
        || lat_cuda_malloc((void **)&c->omega, copies * sizeof(double), "omega")
        || lat_cuda_malloc((void **)&c->bad, sizeof(int), "a flag"))
        return -1;
    if (lat_cuda_staging_open(&c->ferry, c->stream)
        || lat_cuda_failed(cudaMallocHost((void **)&c->sum, units * 4 * sizeof(double)),
                           "pinning memory"))
        return -1;
    memset(c->sum, 0, units * 4 * sizeof(double));
    if (lat_cuda_failed(cudaMemsetAsync(c->omega, 0, copies * sizeof(double), c->stream),
                        "setting omega"))
        return -1;
    c->omega_host = (double *)calloc(copies, sizeof(double));
    c->total = (double *)lat_alloc(all, 3 * sizeof(double), "sums of slices");
    c->theta = (double *)lat_alloc(all, sizeof(double), "theta of slices");
    c->unit_host = (lat_cuda_unit *)lat_alloc(units * BESIDE, sizeof *c->unit_host,
                                              "the list of slices");
    if (!c->omega_host)
        return lat_fail("out of memory");
    if (!c->total || !c->theta || !c->unit_host)
        return -1;
    memset(c->unit_host, 0xff,
           units * BESIDE * sizeof *c->unit_host); /* nothing has been sent yet */
    return 0;
}

static void gpu_close(lat_device *dev)
{
    gpu *c = (gpu *)dev;
    if (!c)
        return;
    if (c->cut && *lat_error())
        return; /* neighbours may still be at work in what would go; the process is about to end */
    if (c->stream)
        cudaStreamSynchronize(c->stream);
    if (lat_cuda_halo_disconnect(&c->rims))
        return;
    void *const on_device[] = {c->work.u, c->work.g, c->partial, c->arrived,
                               c->unit,   c->omega,  c->bad};
    for (size_t i = 0; i < sizeof on_device / sizeof *on_device; i++)
        cudaFree(on_device[i]);
    cudaFreeHost(c->sum);
    lat_cuda_staging_close(&c->ferry);
    if (c->stream)
        cudaStreamDestroy(c->stream);
    free(c->omega_host);
    free(c->total);
    free(c->theta);
    free(c->unit_host);
    lat_balance_close(&c->guests);
    free(c);
}

/* ---- which slices are here, and which are swept ---- */

/* What a move costs, through the hosts and MPI: this many sweeps of the slice and all its copies.
 * Measured: 64^3 in single takes 7 ms, 230 of its sweeps; in double 10 to 18 ms, 120 to 220
 * (bench/NOTES.md). Both take as long as there are bytes, links once and g of every copy: so N,
 * precision and extents change the number little. */
#define PRICE 200

static int gpu_post(void *device, int place, int copy, int rank, bool send)
{
    gpu *c = (gpu *)device;
    const size_t unit = (size_t)copy * (size_t)c->work.slices + (size_t)place;
    const size_t bytes = copy < 0 ? slice_bytes(c, c->work.rows) : lat_cuda_unit_bytes(c);
    char *const at = copy < 0 ? (char *)c->work.u + (size_t)place * bytes
                              : (char *)c->work.g + unit * bytes;
    return lat_cuda_migrate(&c->ferry, at, bytes, c->dev.comm, rank, send);
}

/* Into the list, at the end; true if another one stood there. */
static bool add_unit(gpu *c, int *n, int place, int copy)
{
    lat_cuda_unit *p = c->unit_host + (*n)++;
    const lat_cuda_unit it = {
        place, copy, c->site_from + (int64_t)c->guests.slice[place] * (int64_t)c->slice_step};
    const bool other = memcmp(p, &it, sizeof it) != 0;
    *p = it;
    return other;
}

/* Rows of the copies of a slice that are swept; true if the list has changed. */
static bool list_units(gpu *c)
{
    const int places = c->work.slices, beside = c->beside;
    int most = 1, n = 0;
    bool other = false;
    for (int s = 0; s < places; s++) {
        int active = 0;
        for (int copy = 0; copy < c->copies; copy++)
            active += lat_balance_active(&c->guests, copy * places + s);
        most = active > most ? active : most;
    }
    c->beside = most < BESIDE ? most : BESIDE;
    for (int s = 0; s < places; s++) {
        for (int copy = 0; copy < c->copies; copy++)
            if (lat_balance_active(&c->guests, copy * places + s))
                other |= add_unit(c, &n, s, copy);
        while (n % c->beside)
            other |= add_unit(c, &n, s, -1);
    }
    c->nrows = n / c->beside;
    return other || c->beside != beside;
}

/* To the device, if it has changed. */
static int send_list(gpu *c)
{
    const bool other = list_units(c);
    const size_t bytes = (size_t)c->nrows * (size_t)c->beside * sizeof *c->unit;
    /* From pageable memory: it is free again when the call returns. */
    return other ? lat_cuda_failed(
               cudaMemcpyAsync(c->unit, c->unit_host, bytes, cudaMemcpyHostToDevice, c->stream),
               "sending the list of slices")
                 : 0;
}

/* Guests leave. */
static int go_home(gpu *c) { return lat_balance_return(&c->guests) || send_list(c) ? -1 : 0; }

/* ---- fields in natural order ---- */

/* Who is on the way: links (real), or g of a copy. */
typedef struct {
    const gpu *c;
    int real, copy;
} passenger;

static cudaError_t place_links(void *context, void *raw, uint64_t first, uint64_t count)
{
    const passenger *p = (const passenger *)context;
    return p->c->ops->load(&p->c->work, raw, p->real, first, count, p->c->bad, p->c->stream);
}

static cudaError_t place_set(void *context, void *raw, uint64_t first, uint64_t count)
{
    const passenger *p = (const passenger *)context;
    return p->c->ops->set(&p->c->work, p->copy, (const double *)raw, first, count, p->c->stream);
}

static cudaError_t place_get(void *context, void *raw, uint64_t first, uint64_t count)
{
    const passenger *p = (const passenger *)context;
    return p->c->ops->get(&p->c->work, p->copy, (double *)raw, first, count, p->c->stream);
}

/* Sites here before the own ones: those of the ghost below. */
static size_t lead(const gpu *c)
{
    return c->cut ? lat_volume(&c->geom) / (size_t)c->geom.dims[c->geom.nd - 1] : 0;
}

/* The own links, and those of the ghost below that lead up to own sites: the field has it behind
 * the ghost above. */
static int send_links(gpu *c, const lat_field *u)
{
    const size_t nd = (size_t)c->geom.nd, slice = lead(c) * nd, own = lat_field_matrices(u);
    passenger p = {c, u->head.real, 0};
    return lat_cuda_upload(&c->ferry, u, 0, own, slice, place_links, &p)
                   || (c->cut
                       && lat_cuda_upload(&c->ferry, u, own + slice, slice, 0, place_links, &p))
               ? -1
               : 0;
}

/* With fewer rows if all links are in SU(N) to rounding, else with all of them. */
static int load_links(gpu *c, const lat_field *u)
{
    const lat_comm *comm = c->dev.comm;
    c->work.rows = lat_cuda_few_rows(c);
    for (;;) {
        int bad = 0;
        if (lat_cuda_malloc(&c->work.u, link_bytes(c, c->work.rows), "the links")
            || lat_cuda_failed(cudaMemsetAsync(c->bad, 0, sizeof(int), c->stream),
                               "sending a field")
            || send_links(c, u)
            || lat_cuda_failed(
                cudaMemcpyAsync(&bad, c->bad, sizeof bad, cudaMemcpyDeviceToHost, c->stream),
                "sending a field")
            || lat_cuda_failed(cudaStreamSynchronize(c->stream), "sending a field"))
            return -1;
        double anywhere = bad;
        if (comm->max(comm, &anywhere, 1))
            return -1;
        if (anywhere == 0 || c->work.rows == c->ops->nc)
            return 0;
        cudaFree(c->work.u);
        c->work.u = NULL;
        c->work.rows = c->ops->nc;
    }
}

static int gpu_set(lat_device *dev, int copy, const lat_field *g)
{
    gpu *c = (gpu *)dev;
    passenger p = {c, 0, copy};
    if (go_home(c))
        return -1;
    if (!g) {
        uint64_t sites = 1;
        for (int mu = 0; mu < c->geom.nd; mu++)
            sites *= c->work.dims[mu];
        if (lat_cuda_failed(c->ops->set(&c->work, copy, NULL, 0, sites, c->stream), "setting g"))
            return -1;
    } else if (lat_cuda_upload(&c->ferry, g, 0, lat_field_matrices(g), lead(c), place_set, &p)
               || (c->cut && lat_cuda_set_ghosts(c, copy))) {
        return -1;
    }
    return c->cut ? lat_cuda_halo_ready(&c->rims, c->stream)
                  : 0; /* nobody sweeps, and writes our ghosts, before they are as they were set */
}

static int gpu_get(lat_device *dev, int copy, lat_field *g)
{
    gpu *c = (gpu *)dev;
    passenger p = {c, 0, copy};
    return go_home(c) || lat_cuda_download(&c->ferry, g, lead(c), place_get, &p) ? -1 : 0;
}

/* ---- opening ---- */

/* Strips, if links and g of a time slice are more than a part of the second cache: as thick as
 * fits, of whole z. */
static void strips(gpu *c)
{
    lat_cuda_work *w = &c->work;
    const double matrix = (double)lat_cuda_matrix_bytes(c, lat_cuda_few_rows(c)), most = 24e6,
                 plane = 2.0 * w->stride[2] * (w->nd + 1) * matrix;
    if (w->nd < 4 || plane * w->extent[2] <= most || (c->cut && c->slab.count < 3))
        return;
    uint32_t thick = w->extent[2] / 2;
    while (thick > 1 && (w->extent[2] % thick || plane * thick > most))
        thick--;
    if (w->stride[2] * thick % 128) /* blocks should not be torn */
        return;
    w->strip = w->stride[2] * thick;
    w->by_strip = lat_cuda_divide_by(w->strip);
    w->times = w->extent[3] - (c->cut ? 4 : 0); /* but ghosts and rims */
    w->by_time = lat_cuda_divide_by(w->times);
}

/* Its slab and whether slices are cut by it, or why not. */
static int take_slab(gpu *c)
{
    char text[64];
    const lat_comm *comm = c->dev.comm;
    const int last = c->geom.nd - 1, all = c->geom.dims[last];
    c->slab = lat_slab_of(comm, comm->rank, all);
    c->slices = lat_condition_slices(&c->condition, &c->geom);
    if (comm->size == 1)
        return 0;
    c->cut = c->condition.time != last;
    if (c->cut && all < 2 * comm->size)
        return lat_fail_usage("lattice %s: expected at most %d ranks, two slices each, found %d",
                              lat_dims_text(&c->geom, text), all / 2, comm->size);
    if (c->cut && c->geom.nd - (c->condition.time >= 0) < 2)
        return lat_fail_usage(
            "lattice %s: GPUs cannot share slices of one dimension, found %d ranks",
            lat_dims_text(&c->geom, text), comm->size);
    return 0;
}

/* The axes: of the lattice as it is here, and of a slice. */
static int take_axes(gpu *c)
{
    char text[64];
    lat_cuda_work *w = &c->work;
    uint64_t step = 1;
    const int last = c->geom.nd - 1;
    for (int a = 0; a < 4; a++)
        w->extent[a] = w->dims[a] = 1;
    for (int mu = 0; mu < c->geom.nd; mu++) {
        const int extent = c->geom.dims[mu],
                  here = mu == last ? c->slab.count + (c->cut ? 2 : 0) : extent;
        w->dims[mu] = (uint32_t)here;
        if (mu == w->time) {
            c->slice_step = step;
        } else {
            if (extent % 2)
                return lat_fail(
                    "lattice %s: extent %d is odd; even and odd sites need even extents",
                    lat_dims_text(&c->geom, text), extent);
            w->site_step[w->nd] = step;
            w->weight[w->nd] = c->condition.weight[mu];
            w->weight_single[w->nd] = (float)c->condition.weight[mu];
            w->extent[w->nd++] = (uint32_t)here;
        }
        if (mu == last)
            c->site_from = c->cut ? ((int64_t)c->slab.first - 1) * (int64_t)step : 0;
        step *= (uint64_t)extent;
    }
    w->odd = c->cut && c->slab.first % 2 == 0; /* site 0 here is one time before the first */
    w->extent[0] /= 2;
    return 0;
}

/* Which slices are here; and places for guests as long as they take no more than a quarter of what
 * is free beside all else. */
static int deal_out(gpu *c)
{
    lat_cuda_work *w = &c->work;
    const bool dealt = c->dev.comm->size > 1 && !c->cut;
    const lat_slab mine = dealt ? c->slab : (lat_slab){0, c->slices};
    size_t available = 0, total = 0;
    w->slices = mine.count;
    if (dealt && lat_cuda_failed(cudaMemGetInfo(&available, &total), "asking for its memory"))
        return -1;
    const double each = (double)(slice_bytes(c, c->ops->nc)
                                 + (size_t)c->copies * lat_cuda_unit_bytes(c)),
                 need = each * mine.count;
    const double room = ((double)available - need - (double)lat_cuda_staging_bytes()) / 4 / each;
    const int guests = (int)fmax(0, fmin(room, lat_balance_capacity(mine)));
    if (lat_balance_open(&c->guests, c->dev.comm, mine, c->slices, c->copies, dealt ? guests : -1,
                         PRICE * c->copies, gpu_post, c))
        return -1;
    w->slices = c->guests.places;
    c->units = c->copies * w->slices;
    return 0;
}

static int describe(gpu *c)
{
    char text[64];
    lat_cuda_work *w = &c->work;
    uint64_t half = 1;
    w->all = c->geom.nd;
    w->time = c->condition.time;
    w->problem = lat_gauge_table[c->condition.gauge].problem;
    if (take_slab(c) || take_axes(c))
        return -1;
    for (int a = 0; a < 4; a++) {
        w->stride[a] = (uint32_t)half;
        half *= w->extent[a];
        if (half >= (UINT64_C(1) << 31) - LAT_CUDA_GROUP)
            return lat_fail("lattice %s: too large for one GPU", lat_dims_text(&c->geom, text));
    }
    for (int a = 0; a < 3; a++)
        w->by[a] = lat_cuda_divide_by(w->extent[a]);
    w->half = (uint32_t)half;
    w->rim = c->cut ? w->stride[w->nd - 1] : 0;
    w->from = w->rim;
    w->own = w->half - 2 * w->rim;
    strips(c);
    w->groups = (w->half + LAT_CUDA_GROUP - 1) / LAT_CUDA_GROUP;
    if (c->copies > INT_MAX / BESIDE / 2 / c->slices)
        return lat_fail("%d copies of %d slices each are too many at once", c->copies, c->slices);
    return deal_out(c);
}

/* ---- opening ---- */

static lat_device *gpu_open(const lat_field *u, const lat_condition *condition, lat_real real,
                            int copies, const lat_comm *comm)
{
    const int nc = u->head.nc;
    lat_cuda_end();
    if (lat_cuda_released())
        return NULL;
    if (lat_gauge_check_group(condition->gauge, nc)
        || lat_cuda_check_group(nc, lat_backend_gpu.groups))
        return NULL;
    gpu *c = (gpu *)calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory");
        return NULL;
    }
    c->dev.backend = &lat_backend_gpu;
    c->dev.comm = comm;
    c->ops = all_ops[2 * (nc - 2) + (real == LAT_F64)];
    c->condition = *condition;
    c->geom = u->head.geom;
    c->copies = copies;
    cudaDeviceProp p = {};
    int bad = lat_cuda_failed(cudaGetDeviceProperties(&p, lat_cuda_device_number()),
                              "asking what it is");
    c->work.processors = p.multiProcessorCount;
    c->work.overlap = p.major >= 9;
    bad = bad || describe(c) || allocate(c) || (c->cut && lat_cuda_fix_connect(c))
          || load_links(c, u);
    for (int i = 0; i < copies && !bad; i++)
        bad = gpu_set(&c->dev, i, NULL);
    for (int i = 0; i < copies * c->slices && !bad; i++)
        c->theta[i] = INFINITY;
    if (bad) {
        gpu_close(&c->dev);
        return NULL;
    }
    if (comm->size > 1)
        snprintf(c->words, sizeof c->words, "gpu %.30s x %d%s%s", p.name, comm->size,
                 c->cut ? ", " : "", lat_cuda_halo_transport(&c->rims));
    else
        snprintf(c->words, sizeof c->words, "gpu %.50s", p.name);
    return &c->dev;
}

static const char *gpu_words(const lat_device *dev) { return ((const gpu *)dev)->words; }

/* ---- sweeps ---- */

static int send_omega(gpu *c, const double *omega)
{
    const size_t bytes = (size_t)c->copies * sizeof *omega;
    if (!memcmp(c->omega_host, omega, bytes))
        return 0;
    memcpy(c->omega_host, omega, bytes);
    return lat_cuda_failed(
        cudaMemcpyAsync(c->omega, omega, bytes, cudaMemcpyHostToDevice, c->stream),
        "sending omega");
}

static int gpu_sweep(lat_device *dev, const lat_sweep *how, long n)
{
    gpu *c = (gpu *)dev;
    lat_cuda_how h;
    memset(&h, 0, sizeof h);
    h.update = how->update;
    h.omega = c->omega;
    h.real.stochastic = how->stochastic;
    h.real.beta = 1 / how->temperature;
    h.single.stochastic = (float)how->stochastic;
    h.single.beta = (float)h.real.beta;
    h.seed = how->seed;
    h.config = how->config;
    h.step = how->step;
    h.unit = c->unit;
    h.nrows = c->nrows;
    h.beside = c->beside;
    lat_balance_swept(&c->guests, n);
    if (how->omega && send_omega(c, how->omega))
        return -1;
    if (c->nrows == 0)
        return 0;
    for (long k = 0; k < n; k++, h.step++)
        for (int parity = 0; parity < 2; parity++) {
            h.number = ++c->number;
            if (c->cut && !c->work.peer
                    ? lat_cuda_half_staged(c, &h, parity)
                    : lat_cuda_failed(c->ops->half(&c->work, &h, parity, c->stream), "a sweep"))
                return -1;
        }
    return 0;
}

/* ---- functional and theta ---- */

/* The device writes the sums of each unit, and then the number of the look, to the host's memory:
 * to see it there is quicker by microseconds than to wait for the stream, which is what is done
 * where it takes long. */
#define GLANCES 300000
static int await_sums(gpu *c, int slices)
{
    int n = 0;
    const int units = c->copies * slices;
    for (long i = 0; i < GLANCES && n < units; i++)
        while (
            n < units
            && *(const volatile double *)(c->sum
                                          + 4 * (size_t)(n / slices * c->work.slices + n % slices)
                                          + 3)
                   == c->looks)
            n++;
    std::atomic_thread_fence(std::memory_order_acquire);
    return n < units ? lat_cuda_failed(cudaStreamSynchronize(c->stream), "sweeps") : 0;
}

static int gpu_state(lat_device *dev, lat_gauge_state *s, double *slices)
{
    gpu *c = (gpu *)dev;
    const size_t states = (size_t)c->copies * (size_t)c->slices;
    const lat_cuda_sums look = {
        lat_balance_slots_used(&c->guests), c->partial, c->sum, c->arrived, ++c->looks, c->number};
    if (lat_cuda_failed(c->ops->state(&c->work, c->copies, &look, c->stream), "summing up")
        || await_sums(c, look.slices))
        return -1;
    memset(c->total, 0, states * 3 * sizeof *c->total);
    for (int unit = 0; unit < c->units; unit++)
        if (lat_balance_unit(&c->guests, unit) >= 0)
            memcpy(c->total + 3 * (size_t)lat_balance_unit(&c->guests, unit),
                   c->sum + 4 * (size_t)unit, 3 * sizeof *c->total);
    if (lat_state_total(dev->comm, &c->condition, &c->geom, c->ops->nc, c->copies, c->total,
                        c->theta, s))
        return -1;
    if (slices)
        memcpy(slices, c->theta, states * sizeof *slices);
    return 0;
}

static long gpu_freeze(lat_device *dev, const double *theta)
{
    gpu *c = (gpu *)dev;
    return lat_balance_freeze(&c->guests, c->theta, theta) || send_list(c)
               ? -1
               : lat_state_left(c->theta, theta, c->copies, c->slices);
}

const lat_backend lat_backend_gpu = {
    "gpu",     lat_cuda_begin, lat_cuda_end, lat_cuda_release, lat_cuda_available,
    gpu_open,  gpu_close,      gpu_words,    gpu_set,          gpu_get,
    gpu_sweep, gpu_state,      gpu_freeze,   LAT_GPU_FIX_MOST,
};
