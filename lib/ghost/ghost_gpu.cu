/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_gpu.cu: the Faddeev-Popov operator on a GPU. Sums are taken chunk by chunk of a block,
 * always in the same order, and those of blocks go to the host. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_dfield.cuh"
#include "grid/cuda_tuning.h"
#include "site/sun.h"
extern "C" {
#include "fourier/laplace_gpu.h"
#include "ghost_gpu.h"
#include "grid/staging.h"
}

#include "ghost_kernels.cuh"

struct lat_ghost_gpu {
    lat_ghost_sites s;
    const lat_cuda_device *dev;
    cudaStream_t stream;
    lat_laplace_gpu *laplace;
    double *links, *partial, *scalars; /* on the device */
    bool *idle;                        /* [2][units], there: idle, and which g they have */
    double *links_of_u;                /* for Newton's method */
    double *host;                      /* where the device writes sums */
    double *gram, *coefficients, *products_host; /* for modes */
    unsigned blocks, chunks;
    int columns, reals; /* of a site */
};

/* At most so many chunks a block for products of columns with columns. */
enum { GRAM_CHUNKS = 64 };

static unsigned gram_chunk(const lat_ghost_gpu *g)
{
    return (unsigned)((g->s.block + GRAM_CHUNKS - 1) / GRAM_CHUNKS);
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "the Faddeev-Popov operator"); }

/* Bytes of the links and the diagonal. */
static size_t link_bytes(const lat_ghost_sites *s)
{
    const size_t n = (size_t)s->nc, link = 2 * n * n;
    return s->single ? s->sites / s->block * s->groups * s->group_reals * sizeof(float)
                     : s->sites * (size_t)(s->directions + 1) * link * sizeof(double);
}

static int open(lat_ghost_gpu *g, lat_device *dev, const double *links)
{
    const lat_ghost_sites *s = &g->s;
    const size_t numbers = (size_t)(g->columns + g->reals) * g->blocks, units = (size_t)s->units;
    lat_geometry geom = {s->single && s->time >= 0 ? s->nd - 1 : s->nd, {1, 1, 1, 1}};
    memcpy(geom.dims, s->dims, sizeof geom.dims);
    return lat_rc(
        lat_cuda_malloc((void **)&g->links, link_bytes(s), "links")
        || lat_cuda_malloc((void **)&g->partial, g->chunks * numbers * sizeof(double),
                           "partial sums")
        || lat_cuda_malloc((void **)&g->scalars,
                           units * (size_t)(g->columns + g->reals) * sizeof(double), "scalars")
        || lat_cuda_malloc((void **)&g->idle, 2 * units * sizeof *g->idle, "scalars")
        || failed(cudaMallocHost((void **)&g->host, numbers * sizeof(double)))
        || (links && failed(cudaMemcpy(g->links, links, link_bytes(s), cudaMemcpyHostToDevice)))
        || !(g->laplace = lat_laplace_gpu_new(dev, &geom, s->weight, g->reals, s->single,
                                              s->single ? s->units : 1)));
}

lat_ghost_gpu *lat_ghost_gpu_new(lat_device *dev, const lat_ghost_sites *s, const double *links)
{
    lat_ghost_gpu *g = (lat_ghost_gpu *)lat_alloc_zero(1, sizeof *g, "the Faddeev-Popov operator");
    const int colours = s->nc * s->nc - 1;
    if (!g)
        return NULL;
    g->s = *s;
    g->dev = lat_cuda_device_of(dev);
    g->stream = g->dev->stream;
    g->columns = s->single ? 1 : s->packs * LAT_GHOST_PACK;
    g->reals = s->single ? (colours + 1) / 2 * 2 : g->columns * colours;
    g->blocks = (unsigned)(s->sites / s->block);
    g->chunks = lat_cuda_blocks(s->block, s->single ? THREADS : CHUNK);
    int rc = 0;
    if (s->sites > UINT32_MAX / 2 || g->blocks > 65535)
        rc = lat_fail("GPU: the Faddeev-Popov operator: too large a lattice");
    if (rc == 0 && open(g, dev, links) == 0)
        return g;
    lat_ghost_gpu_free(g);
    return NULL;
}

void lat_ghost_gpu_free(lat_ghost_gpu *g)
{
    if (!g)
        return;
    cudaStreamSynchronize(g->stream);
    lat_laplace_gpu_free(g->laplace);
    lat_cuda_free(g->links);
    lat_cuda_free(g->partial);
    lat_cuda_free(g->scalars);
    lat_cuda_free(g->idle);
    lat_cuda_free(g->links_of_u);
    cudaFreeHost(g->host);
    cudaFreeHost(g->products_host);
    lat_cuda_free(g->gram);
    lat_cuda_free(g->coefficients);
    free(g);
}

void *lat_ghost_gpu_alloc(size_t bytes, const char *what)
{
    void *v = NULL;
    return lat_cuda_malloc(&v, bytes, what) ? NULL : v;
}

void lat_ghost_gpu_release(void *v) { lat_cuda_free(v); }

int lat_ghost_gpu_copy(lat_ghost_gpu *g, void *to, const void *from, size_t bytes)
{
    return lat_rc(failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, g->stream))
                  || failed(cudaStreamSynchronize(g->stream)));
}

int lat_ghost_gpu_zero(lat_ghost_gpu *g, void *v, size_t bytes)
{
    return failed(cudaMemsetAsync(v, 0, bytes, g->stream));
}

int lat_ghost_gpu_fetch(lat_ghost_gpu *g, void *host, const void *from, size_t bytes)
{
    return lat_cuda_transfer(g->dev, false, (void *)from, host, bytes, "the result");
}

int lat_ghost_gpu_take(const lat_dfield *sweeps, int copy, double *g)
{
    return lat_cuda_get_there(sweeps, copy, g);
}

double *lat_ghost_gpu_upload(lat_ghost_gpu *g, const lat_field *u)
{
    return lat_cuda_upload_links(g->dev, u, &g->links_of_u) ? NULL : g->links_of_u;
}

/* Scalars of the host to the device. */
static const double *send(lat_ghost_gpu *g, const double *from, int each, double *to, int *rc)
{
    const size_t bytes = (size_t)g->s.units * (size_t)each * sizeof *to;
    if (!from)
        return NULL;
    *rc = *rc || failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, g->stream));
    return to;
}

static void set_factor(lat_ghost_gpu *g, const double *factor, call *k, int *rc)
{
    const int n = g->s.units * g->columns;
    k->given = factor != NULL;
    if (n > FEW)
        k->factor = send(g, factor, g->columns, g->scalars, rc);
    else if (factor)
        memcpy(k->few, factor, (size_t)n * sizeof *factor);
}

/* Memory for products of columns with columns, and for coefficients, once they are asked for. */
static int reserve_modes(lat_ghost_gpu *g)
{
    const size_t square = (size_t)g->columns * (size_t)g->columns, units = (size_t)g->s.units;
    if (g->gram)
        return 0;
    return lat_rc(lat_cuda_malloc((void **)&g->gram,
                                  GRAM_CHUNKS * (size_t)g->blocks * square * sizeof(double),
                                  "products")
                  || failed(cudaMallocHost((void **)&g->products_host,
                                           (size_t)g->blocks * square * sizeof(double)))
                  || lat_cuda_malloc((void **)&g->coefficients, 3 * units * square * sizeof(double),
                                     "coefficients"));
}

/* Sums of the chunks of each block, by way of `pinned`, memory of the host. */
static int add_up(lat_ghost_gpu *g, const double *partial, unsigned chunks, unsigned numbers,
                  double *pinned, double *sums)
{
    add_chunks<<<dim3(numbers, g->blocks), ADDERS, 0, g->stream>>>(partial, pinned, chunks);
    const cudaError_t e = cudaGetLastError();
    if (failed(e ? e : cudaStreamSynchronize(g->stream)))
        return -1;
    memcpy(sums, pinned, (size_t)g->blocks * numbers * sizeof *sums);
    return 0;
}

static int gpu_gram(lat_ghost_gpu *g, const lat_ghost_call *c, double *sums)
{
    const lat_ghost_sites *s = &g->s;
    const unsigned chunk = gram_chunk(g), chunks = (unsigned)((s->block + chunk - 1) / chunk),
                   packs = (unsigned)s->packs, square = (unsigned)(g->columns * g->columns);
    if (reserve_modes(g))
        return -1;
    call k = {};
    (lat_ghost_call &)k = *c;
    k.partial = g->gram;
    gram<<<dim3(chunks, g->blocks, packs * packs), 64, 0, g->stream>>>(*s, k, s->nc * s->nc - 1,
                                                                       chunk);
    return lat_rc(failed(cudaGetLastError())
                  || add_up(g, g->gram, chunks, square, g->products_host, sums));
}

static int gpu_combine(lat_ghost_gpu *g, const lat_ghost_call *c)
{
    const lat_ghost_sites *s = &g->s;
    const int colours = s->nc * s->nc - 1, each = THREADS / g->columns;
    const size_t bytes = 3 * (size_t)s->units * (size_t)(g->columns * g->columns) * sizeof(double);
    call k = {};
    (lat_ghost_call &)k = *c;
    if (reserve_modes(g)
        || failed(cudaMemcpyAsync(g->coefficients, c->a, bytes, cudaMemcpyHostToDevice, g->stream)))
        return -1;
    k.factor = g->coefficients;
    combine<<<dim3(lat_cuda_blocks(s->block * (unsigned)colours, (unsigned)each), g->blocks, 2),
              (unsigned)(each * g->columns), 3 * (size_t)(each * g->columns) * sizeof(double),
              g->stream>>>(*s, k, colours);
    return failed(cudaGetLastError());
}

static int launch(const lat_ghost_gpu *g, lat_ghost_pass_name pass, const call *k)
{
    static kernel *const *const wide[] = {kernels_2, kernels_3, kernels_4};
    static kernel *const *const single[] = {kernels_single_2, kernels_single_3};
    const lat_ghost_sites *s = &g->s;
    kernel *const run = (s->single ? single : wide)[s->nc - 2][pass];
    run<<<dim3(g->chunks, g->blocks), (unsigned)(THREADS / g->columns * g->columns), 0,
          g->stream>>>(*s, *k);
    return failed(cudaGetLastError());
}

/* Flags of units to the device. */
static const bool *send_flags(lat_ghost_gpu *g, const bool *flag, bool *to, int *rc)
{
    if (!flag)
        return NULL;
    *rc = *rc
          || failed(cudaMemcpyAsync(to, flag, (size_t)g->s.units * sizeof *flag,
                                    cudaMemcpyHostToDevice, g->stream));
    return to;
}

/* NULL for a lattice of one unit that is not idle. */
static const bool *send_idle(lat_ghost_gpu *g, const bool *idle, int *rc)
{
    return send_flags(g, idle && (g->s.units > 1 || *idle) ? idle : NULL, g->idle, rc);
}

int lat_ghost_gpu_over(lat_ghost_gpu *g, lat_ghost_pass_name pass, const lat_ghost_call *c,
                       int numbers, double *sums)
{
    if (pass == LAT_GHOST_GRAM)
        return gpu_gram(g, c, sums);
    if (pass == LAT_GHOST_COMBINE)
        return gpu_combine(g, c);
    int rc = 0;
    call k = {};
    (lat_ghost_call &)k = *c;
    k.links = g->links;
    k.partial = g->partial;
    set_factor(g, c->a ? c->a : c->b, &k, &rc);
    k.mean = send(g, c->mean, g->reals, g->scalars + g->s.units * g->columns, &rc);
    k.idle = send_idle(g, c->idle, &rc);
    k.now = send_flags(g, c->now, g->idle + g->s.units, &rc);
    if (c->plain)
        k.plain = *c->plain;
    if (c->newton)
        k.newton = *c->newton;
    if (rc || launch(g, pass, &k))
        return -1;
    return numbers ? add_up(g, g->partial, g->chunks, (unsigned)numbers, g->host, sums) : 0;
}

int lat_ghost_gpu_invert(lat_ghost_gpu *g, double *v, const bool *idle)
{
    int rc = 0;
    const bool *there = send_idle(g, idle, &rc);
    return rc || lat_laplace_gpu_invert(g->laplace, v, there) ? -1 : 0;
}

int lat_ghost_gpu_source(lat_ghost_gpu *g, double *b, const lat_ghost_sources *c,
                         const double *wave)
{
    const size_t bytes = (size_t)c->waves * 2 * sizeof *wave;
    double *there = (double *)lat_ghost_gpu_alloc(bytes, "a source");
    int rc = there ? lat_ghost_gpu_copy(g, there, wave, bytes) : -1;
    if (rc == 0) {
        make_source<<<lat_cuda_blocks(g->s.sites * (uint64_t)g->columns, THREADS), THREADS, 0,
                      g->stream>>>(g->s, *c, there, b);
        rc = failed(cudaGetLastError()) || failed(cudaStreamSynchronize(g->stream)) ? -1 : 0;
    }
    lat_cuda_free(there);
    return rc;
}
