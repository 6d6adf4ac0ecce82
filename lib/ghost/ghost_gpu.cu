/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_gpu.cu: the Faddeev-Popov operator on a GPU. Sums are taken chunk by chunk of a block,
 * always in the same order, and those of blocks go to the host. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "add_block.cuh"
#include "grid/cuda_device.cuh"
#include "grid/cuda_grid.cuh"
extern "C" {
#include "base/error.h"
#include "fourier/laplace_gpu.h"
#include "ghost_gpu.h"
}

enum { LAT_GHOST_PACK = 8, CHUNK = 32, ADDERS = 128, FEW = 16 };

/* lat_ghost_call, all of it on the device. */
typedef struct call {
    const double *links, *in, *other;
    double *out, *also, *third;
    const double *factor, *mean; /* factor: a, or b; NULL: `few` has them, if `given` */
    double few[FEW];
    bool given;
    double *partial;
    const bool *idle;    /* units; NULL: none is */
    const double *plain; /* links as they were read */
    const lat_ghost_element *product;
    uint32_t products;
    double *array[6];
} call;

/* a, or b, of a unit and column. */
static __device__ __forceinline__ double factor_of(const call &c, int i)
{
    return c.factor ? c.factor[i] : c.given ? c.few[i] : 0;
}

/* The unit of own block number `block`. */
static __device__ __forceinline__ int unit_of(const lat_ghost_sites &s, uint32_t block)
{
    return s.time < 0 ? 0 : s.time == s.nd - 1 ? (int)block : (int)(block % (uint32_t)s.blocks);
}

/* Element of 2 T^a for the diagonal one number k: the first k are this, the next is -k times it. */
static __device__ __forceinline__ double diagonal_factor(int k)
{
    return sqrt(2.0 / (k * (k + 1)));
}

#define LAT_INLINE static __device__ __forceinline__
#define V double
#define VECTOR double
#define REAL double
#define LINK double
#define COLOUR(v, c) ((v)[(c)*LAT_GHOST_PACK])
#define UNROLL _Pragma("unroll")
#define SIZE 2
#define NAME(x) x##_2
#include "ghost_kernels.cuh"
#undef SIZE
#undef NAME
#define SIZE 3
#define NAME(x) x##_3
#include "ghost_kernels.cuh"
#undef SIZE
#undef NAME
#define SIZE 4
#define NAME(x) x##_4
#include "ghost_kernels.cuh"
#undef SIZE
#undef NAME
#undef V
#undef VECTOR
#undef REAL
#undef LINK
#undef COLOUR
#define V float
#define VECTOR float
#define REAL float
#define LINK float
#define COLOUR(v, c) ((v)[c])
#define SIZE 2
#define NAME(x) x##_single_2
#include "ghost_single.cuh"
#undef SIZE
#undef NAME
#define SIZE 3
#define NAME(x) x##_single_3
#include "ghost_single.cuh"

/* sums[block][numbers] from partial[block][chunk][numbers]; a CUDA block is a number of a block. */
static __global__ void __launch_bounds__(ADDERS)
    add_chunks(const double *partial, double *sums, uint32_t chunks)
{
    __shared__ double shared[ADDERS];
    const uint32_t numbers = gridDim.x, number = blockIdx.x;
    double sum = 0;
    for (uint32_t i = threadIdx.x; i < chunks; i += ADDERS)
        sum += partial[((size_t)blockIdx.y * chunks + i) * numbers + number];
    shared[threadIdx.x] = sum;
    for (uint32_t d = ADDERS / 2; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            shared[threadIdx.x] += shared[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        sums[(size_t)blockIdx.y * numbers + number] = shared[0];
}

#include "ghost_modes.cuh"

/* ---- sources ---- */

/* A thread is a column of a site. */
static __global__ void __launch_bounds__(THREADS)
    make_source(const __grid_constant__ lat_ghost_sites s,
                const __grid_constant__ lat_ghost_sources c, int colours, const double2 *wave,
                double *b)
{
    const uint32_t columns = (uint32_t)(s.packs * LAT_GHOST_PACK);
    const uint64_t n = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    uint32_t rest = (uint32_t)(n / columns);
    const uint32_t k = (uint32_t)(n % columns);
    if (rest >= s.sites)
        return;
    double *to = b
                 + ((size_t)rest * (uint32_t)s.packs + k / LAT_GHOST_PACK)
                       * (uint32_t)(colours * LAT_GHOST_PACK)
                 + k % LAT_GHOST_PACK;
    double2 v = make_double2(1, 0);
    bool here = true;
    for (int i = 0, d = 0; i < s.nd; i++) {
        const uint32_t extent = (uint32_t)s.dims[i], x = rest % extent;
        rest /= extent;
        if (i == s.time)
            continue;
        const uint32_t m = (uint32_t)c.n[k][d];
        const double2 w = wave[(uint32_t)c.first[d] + m * x % extent];
        v = make_double2(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        here = here && x == m;
        d++;
    }
    const double value = c.what[k] == LAT_GHOST_WAVE_COS   ? v.x
                         : c.what[k] == LAT_GHOST_WAVE_SIN ? v.y
                         : c.what[k] == LAT_GHOST_AT       ? (here ? 1 : 0) - c.constant
                                                           : 0;
    for (int a = 0; a < colours; a++)
        to[a * LAT_GHOST_PACK] = a == c.colour[k] ? value : 0;
}

/* ---- host ---- */

struct lat_ghost_gpu {
    lat_ghost_sites s;
    cudaStream_t stream;
    lat_laplace_gpu *laplace;
    double *links, *partial, *scalars, *plain;   /* on the device */
    bool *idle;                                  /* of units, there */
    double *host;                                /* where the device writes sums */
    double *gram, *coefficients, *products_host; /* for modes */
    lat_ghost_element *product;
    size_t products;
    unsigned blocks, chunks;
    int columns, reals; /* of a site */
    size_t bytes;       /* of a vector */
};

/* At most so many chunks a block for products of columns with columns. */
enum { GRAM_CHUNKS = 64 };

static unsigned gram_chunk(const lat_ghost_gpu *g)
{
    return (unsigned)((g->s.block + GRAM_CHUNKS - 1) / GRAM_CHUNKS);
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "the Faddeev-Popov operator"); }

/* Bytes of the links: with the diagonal; of one column without it and in single precision. */
static size_t link_bytes(const lat_ghost_sites *s)
{
    const size_t n = (size_t)s->nc, d = (size_t)s->directions;
    return s->sites
           * (s->single ? d * 2 * n * (n - 1) * sizeof(float)
                        : (d + 1) * 2 * n * n * sizeof(double));
}

static int open(lat_ghost_gpu *g, lat_device *dev, const double *links)
{
    const lat_ghost_sites *s = &g->s;
    const size_t numbers = (size_t)(g->columns + g->reals) * g->blocks, units = (size_t)s->units;
    lat_geometry geom = {s->single && s->time >= 0 ? s->nd - 1 : s->nd, {1, 1, 1, 1}};
    memcpy(geom.dims, s->dims, sizeof geom.dims);
    return lat_cuda_malloc((void **)&g->links, link_bytes(s), "links")
                   || lat_cuda_malloc((void **)&g->partial, g->chunks * numbers * sizeof(double),
                                      "partial sums")
                   || lat_cuda_malloc((void **)&g->scalars,
                                      units * (size_t)(g->columns + g->reals) * sizeof(double),
                                      "scalars")
                   || lat_cuda_malloc((void **)&g->idle, units * sizeof *g->idle, "scalars")
                   || failed(cudaMallocHost((void **)&g->host, numbers * sizeof(double)))
                   || (links
                       && failed(
                           cudaMemcpy(g->links, links, link_bytes(s), cudaMemcpyHostToDevice)))
                   || !(g->laplace = lat_laplace_gpu_new(dev, &geom, s->weight, g->reals, s->single,
                                                         s->single ? s->units : 1))
               ? -1
               : 0;
}

lat_ghost_gpu *lat_ghost_gpu_new(lat_device *dev, const lat_ghost_sites *s, const double *links)
{
    lat_ghost_gpu *g = (lat_ghost_gpu *)calloc(1, sizeof *g);
    const int colours = s->nc * s->nc - 1;
    if (!g) {
        lat_fail("out of memory: the Faddeev-Popov operator");
        return NULL;
    }
    g->s = *s;
    g->stream = lat_cuda_device_of(dev)->stream;
    g->columns = s->single ? 1 : s->packs * LAT_GHOST_PACK;
    g->reals = s->single ? (colours + 1) / 2 * 2 : g->columns * colours;
    g->bytes = s->sites * (size_t)g->reals * (s->single ? sizeof(float) : sizeof(double));
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
    cudaFree(g->links);
    cudaFree(g->partial);
    cudaFree(g->scalars);
    cudaFree(g->idle);
    cudaFreeHost(g->host);
    cudaFreeHost(g->products_host);
    cudaFree(g->plain);
    cudaFree(g->gram);
    cudaFree(g->coefficients);
    cudaFree(g->product);
    free(g);
}

float *lat_ghost_gpu_links(lat_ghost_gpu *g) { return (float *)g->links; }

double *lat_ghost_gpu_vector(lat_ghost_gpu *g, const char *what)
{
    void *v = NULL;
    return lat_cuda_malloc(&v, g->bytes, what) ? NULL : (double *)v;
}

void lat_ghost_gpu_vector_free(double *v) { cudaFree(v); }

static int copy(lat_ghost_gpu *g, void *to, const void *from)
{
    return failed(cudaMemcpyAsync(to, from, g->bytes, cudaMemcpyDefault, g->stream));
}

int lat_ghost_gpu_put(lat_ghost_gpu *g, double *to, const double *host)
{
    return copy(g, to, host) || failed(cudaStreamSynchronize(g->stream)) ? -1 : 0;
}

int lat_ghost_gpu_get(lat_ghost_gpu *g, double *host, const double *from)
{
    return lat_ghost_gpu_put(g, host, from);
}

int lat_ghost_gpu_copy(lat_ghost_gpu *g, double *to, const double *from)
{
    return copy(g, to, from);
}

int lat_ghost_gpu_zero(lat_ghost_gpu *g, double *v)
{
    return failed(cudaMemsetAsync(v, 0, g->bytes, g->stream));
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
    return lat_cuda_malloc((void **)&g->gram,
                           GRAM_CHUNKS * (size_t)g->blocks * square * sizeof(double), "products")
                   || failed(cudaMallocHost((void **)&g->products_host,
                                            (size_t)g->blocks * square * sizeof(double)))
                   || lat_cuda_malloc((void **)&g->coefficients,
                                      3 * units * square * sizeof(double), "coefficients")
               ? -1
               : 0;
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
    call k;
    memset(&k, 0, sizeof k);
    k.in = c->in;
    k.other = c->other;
    k.partial = g->gram;
    gram<<<dim3(chunks, g->blocks, packs * packs), 64, 0, g->stream>>>(*s, k, s->nc * s->nc - 1,
                                                                       chunk);
    return failed(cudaGetLastError()) || add_up(g, g->gram, chunks, square, g->products_host, sums)
               ? -1
               : 0;
}

static int gpu_combine(lat_ghost_gpu *g, const lat_ghost_call *c)
{
    const lat_ghost_sites *s = &g->s;
    const int colours = s->nc * s->nc - 1, each = THREADS / g->columns;
    const size_t bytes = 3 * (size_t)s->units * (size_t)(g->columns * g->columns) * sizeof(double);
    call k;
    memset(&k, 0, sizeof k);
    memcpy(k.array, c->array, sizeof k.array);
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
    const dim3 grid(g->chunks, g->blocks);
    const unsigned threads = (unsigned)(THREADS / g->columns * g->columns);
    const lat_ghost_sites *s = &g->s;
    if (s->single)
        return failed(s->nc == 2 ? launch_single_2(*s, *k, pass, grid, g->stream)
                                 : launch_single_3(*s, *k, pass, grid, g->stream));
    return failed(s->nc == 2   ? launch_2(*s, *k, pass, grid, threads, g->stream)
                  : s->nc == 3 ? launch_3(*s, *k, pass, grid, threads, g->stream)
                               : launch_4(*s, *k, pass, grid, threads, g->stream));
}

/* idle to the device; NULL where none is, as in a lattice of one unit. */
static const bool *send_idle(lat_ghost_gpu *g, const bool *idle, int *rc)
{
    if (!idle || g->s.units == 1)
        return NULL;
    *rc = *rc
          || failed(cudaMemcpyAsync(g->idle, idle, (size_t)g->s.units * sizeof *idle,
                                    cudaMemcpyHostToDevice, g->stream));
    return g->idle;
}

int lat_ghost_gpu_over(lat_ghost_gpu *g, lat_ghost_pass_name pass, const lat_ghost_call *c,
                       int numbers, double *sums)
{
    if (pass == LAT_GHOST_GRAM)
        return gpu_gram(g, c, sums);
    if (pass == LAT_GHOST_COMBINE)
        return gpu_combine(g, c);
    int rc = 0;
    call k;
    memset(&k, 0, sizeof k);
    k.links = g->links;
    k.in = c->in;
    k.other = c->other;
    k.out = c->out;
    k.also = c->also;
    k.third = c->third;
    k.partial = g->partial;
    k.plain = g->plain;
    k.product = g->product;
    k.products = (uint32_t)g->products;
    set_factor(g, c->a ? c->a : c->b, &k, &rc);
    k.mean = send(g, c->mean, g->reals, g->scalars + g->s.units * g->columns, &rc);
    k.idle = send_idle(g, c->idle, &rc);
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

int lat_ghost_gpu_plain(lat_ghost_gpu *g, const lat_ghost_element *product, size_t products,
                        const double *links)
{
    const size_t bytes = g->s.sites * (size_t)(g->s.directions * 2 * g->s.nc * g->s.nc)
                         * sizeof(double);
    g->products = products;
    return lat_cuda_malloc((void **)&g->plain, bytes, "links")
                   || lat_cuda_malloc((void **)&g->product, products * sizeof *product,
                                      "products of generators")
                   || failed(cudaMemcpy(g->plain, links, bytes, cudaMemcpyHostToDevice))
                   || failed(cudaMemcpy(g->product, product, products * sizeof *product,
                                        cudaMemcpyHostToDevice))
               ? -1
               : 0;
}

int lat_ghost_gpu_source(lat_ghost_gpu *g, double *b, const lat_ghost_sources *c,
                         const double *wave, size_t waves)
{
    double2 *there = NULL;
    if (lat_cuda_malloc((void **)&there, waves * sizeof *there, "a source"))
        return -1;
    cudaError_t e = cudaMemcpyAsync(there, wave, waves * sizeof *there, cudaMemcpyHostToDevice,
                                    g->stream);
    if (!e) {
        make_source<<<lat_cuda_blocks(g->s.sites * (uint64_t)g->columns, THREADS), THREADS, 0,
                      g->stream>>>(g->s, *c, g->s.nc * g->s.nc - 1, there, b);
        e = cudaGetLastError();
    }
    e = e ? e : cudaStreamSynchronize(g->stream);
    cudaFree(there);
    return failed(e);
}
