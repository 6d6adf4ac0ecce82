/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_gpu.cu: the Faddeev-Popov operator on a GPU. Sums are taken chunk by chunk of a block,
 * always in the same order, and those of blocks go to the host. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_slices.cuh"
extern "C" {
#include "base/error.h"
#include "fourier/laplace_gpu.h"
#include "ghost_gpu.h"
}

enum { LAT_GHOST_PACK = 8, THREADS = 128, CHUNK = 32, ADDERS = 128 };

/* lat_ghost_call, all of it on the device. */
typedef struct call {
    const double *links, *in, *other;
    double *out, *also, *third;
    const double *a, *b, *mean;
    double *partial;
    uint32_t first;      /* block */
    const double *plain; /* links as they were read */
    const lat_ghost_element *product;
    uint32_t products;
    double *array[6];
} call;

/* The unit of own block number `block`. */
static __device__ __forceinline__ int unit_of(const lat_ghost_sites &s, uint32_t block)
{
    return s.time < 0           ? 0
           : s.time == s.nd - 1 ? s.first + (int)block
                                : (int)(block % (uint32_t)s.blocks);
}

/* Element of 2 T^a for the diagonal one number k: the first k are this, the next is -k times it. */
static __device__ __forceinline__ double diagonal_factor(int k)
{
    return sqrt(2.0 / (k * (k + 1)));
}

#define LAT_INLINE static __device__ __forceinline__
#define V double
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

/* ---- modes ---- */

/* Products of 8 columns with 8 others: partial[block][columns][columns]; blockIdx.z: which. */
static __global__ void __launch_bounds__(64)
    gram(const __grid_constant__ lat_ghost_sites s, const __grid_constant__ call c, int colours,
         uint32_t chunk)
{
    const uint32_t columns = (uint32_t)(s.packs * LAT_GHOST_PACK),
                   pack = (uint32_t)(colours * LAT_GHOST_PACK), p = blockIdx.z / (uint32_t)s.packs,
                   q = blockIdx.z % (uint32_t)s.packs, i = threadIdx.x / LAT_GHOST_PACK,
                   j = threadIdx.x % LAT_GHOST_PACK, from = blockIdx.x * chunk,
                   to = from + chunk < s.block ? from + chunk : (uint32_t)s.block;
    const size_t reals = (size_t)columns * (uint32_t)colours;
    double sum = 0;
    for (uint32_t site = from; site < to; site++) {
        const size_t at = ((size_t)blockIdx.y * s.block + site) * reals;
        const double *a = c.in + at + p * pack + i, *b = c.other + at + q * pack + j;
        for (uint32_t k = 0; k < pack; k += LAT_GHOST_PACK)
            sum += a[k] * b[k];
    }
    c.partial[(((size_t)blockIdx.y * gridDim.x + blockIdx.x) * columns + p * LAT_GHOST_PACK + i)
                  * columns
              + q * LAT_GHOST_PACK + j] = sum;
}

/* A colour of a site, of X, W and Q, or of M of these (blockIdx.z): a thread is a column. */
static __global__ void __launch_bounds__(THREADS)
    combine(const __grid_constant__ lat_ghost_sites s, const __grid_constant__ call c, int colours)
{
    extern __shared__ double shared[]; /* [3][threads] */
    const uint32_t columns = (uint32_t)(s.packs * LAT_GHOST_PACK), j = threadIdx.x % columns,
                   own = threadIdx.x - j,
                   n = blockIdx.x * (blockDim.x / columns) + threadIdx.x / columns,
                   site = n / (uint32_t)colours, colour = n % (uint32_t)colours;
    const bool there = site < s.block;
    double *const *array = c.array + 3 * blockIdx.z;
    const size_t at = (((size_t)blockIdx.y * s.block + site) * (uint32_t)s.packs
                       + j / LAT_GHOST_PACK)
                          * (uint32_t)(colours * LAT_GHOST_PACK)
                      + colour * LAT_GHOST_PACK + j % LAT_GHOST_PACK;
    for (int part = 0; part < 3; part++)
        shared[part * (int)blockDim.x + (int)threadIdx.x] = there ? array[part][at] : 0;
    __syncthreads();
    double sum[3];
    const double *a = c.a + (size_t)unit_of(s, blockIdx.y) * 3 * columns * columns + j;
    for (int part = 0; part < 3; part++) {
        sum[part] = 0;
        for (uint32_t i = 0; i < columns; i++, a += columns)
            sum[part] += *a * shared[part * (int)blockDim.x + (int)(own + i)];
    }
    if (there) {
        array[0][at] = sum[0] + (sum[1] + sum[2]);
        array[2][at] = sum[1] + sum[2];
    }
}

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
        const uint32_t extent = (uint32_t)s.dims[i],
                       x = rest % extent + (i == s.nd - 1 ? (uint32_t)s.first : 0);
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
    lat_cuda_ghosts ghosts;
    size_t held;                                      /* sites of a vector with ghosts */
    double *links, *partial, *sums, *scalars, *plain; /* on the device */
    double *gram, *coefficients;                      /* for modes */
    lat_ghost_element *product;
    size_t products;
    unsigned blocks, chunks;
    int columns, reals;
};

/* At most so many chunks a block for products of columns with columns. */
enum { GRAM_CHUNKS = 64 };

static unsigned gram_chunk(const lat_ghost_gpu *g)
{
    return (unsigned)((g->s.block + GRAM_CHUNKS - 1) / GRAM_CHUNKS);
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "the Faddeev-Popov operator"); }

static size_t slice_sites(const lat_ghost_gpu *g) { return g->s.block * g->s.blocks; }

static int open(lat_ghost_gpu *g, const double *links)
{
    const lat_ghost_sites *s = &g->s;
    const size_t bytes = g->held * (size_t)((s->directions + 1) * 2 * s->nc * s->nc)
                         * sizeof(double),
                 numbers = (size_t)(g->columns + g->reals), units = (size_t)s->units;
    return lat_cuda_malloc((void **)&g->links, bytes, "links")
                   || lat_cuda_malloc((void **)&g->partial,
                                      (size_t)g->blocks * g->chunks * numbers * sizeof(double),
                                      "partial sums")
                   || lat_cuda_malloc((void **)&g->sums, g->blocks * numbers * sizeof(double),
                                      "sums")
                   || lat_cuda_malloc((void **)&g->scalars,
                                      units * (size_t)(2 * g->columns + g->reals) * sizeof(double),
                                      "scalars")
                   || failed(cudaMemcpy(g->links, links, bytes, cudaMemcpyHostToDevice))
               ? -1
               : 0;
}

/* What the ranks open together. */
static int open_shared(lat_ghost_gpu *g, lat_device *dev)
{
    const lat_ghost_sites *s = &g->s;
    lat_geometry geom = {s->nd, {1, 1, 1, 1}};
    memcpy(geom.dims, s->dims, sizeof geom.dims);
    if (s->halo
        && lat_cuda_ghosts_open(dev, (int)(s->sites / slice_sites(g)),
                                slice_sites(g) * (size_t)g->reals * sizeof(double),
                                "ghosts of vectors", &g->ghosts))
        return -1;
    return (g->laplace = lat_laplace_gpu_new(dev, &geom, s->weight, g->reals)) ? 0 : -1;
}

lat_ghost_gpu *lat_ghost_gpu_new(lat_device *dev, const lat_ghost_sites *s, const double *links)
{
    lat_ghost_gpu *g = (lat_ghost_gpu *)calloc(1, sizeof *g);
    if (!g) {
        lat_fail("out of memory: the Faddeev-Popov operator");
        return NULL;
    }
    g->s = *s;
    g->stream = lat_cuda_device_of(dev)->stream;
    g->columns = s->packs * LAT_GHOST_PACK;
    g->reals = g->columns * (s->nc * s->nc - 1);
    g->blocks = (unsigned)(s->sites / s->block);
    g->chunks = (unsigned)((s->block + CHUNK - 1) / CHUNK);
    g->held = s->sites + (s->halo ? 2 * slice_sites(g) : 0);
    uint32_t stride = 1;
    for (int i = 0; i < s->nd; i++) {
        const bool cut = s->halo && i == s->nd - 1; /* the ghosts below lie behind those above */
        g->s.back[i] = cut ? (uint32_t)s->sites + stride : ((uint32_t)s->dims[i] - 1) * stride;
        stride *= (uint32_t)s->dims[i];
    }
    int rc = 0;
    if (g->held > UINT32_MAX / 2 || g->blocks > 65535)
        rc = lat_fail("GPU: the Faddeev-Popov operator: too large a lattice");
    if (lat_agree(dev->comm, rc ? rc : open(g, links)) == 0 && open_shared(g, dev) == 0)
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
    lat_cuda_ghosts_close(&g->ghosts);
    cudaFree(g->links);
    cudaFree(g->partial);
    cudaFree(g->sums);
    cudaFree(g->scalars);
    cudaFree(g->plain);
    cudaFree(g->gram);
    cudaFree(g->coefficients);
    cudaFree(g->product);
    free(g);
}

static size_t vector_bytes(const lat_ghost_gpu *g)
{
    return g->s.sites * (size_t)g->reals * sizeof(double);
}

double *lat_ghost_gpu_vector(lat_ghost_gpu *g, const char *what)
{
    void *v = NULL;
    const size_t bytes = g->held * (size_t)g->reals * sizeof(double);
    return lat_cuda_malloc(&v, bytes, what) ? NULL : (double *)v;
}

void lat_ghost_gpu_vector_free(double *v) { cudaFree(v); }

static int copy(lat_ghost_gpu *g, void *to, const void *from)
{
    return failed(cudaMemcpyAsync(to, from, vector_bytes(g), cudaMemcpyDefault, g->stream));
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
    return failed(cudaMemsetAsync(v, 0, vector_bytes(g), g->stream));
}

/* Scalars of the host to *at on the device; NULL: none. */
static const double *send(lat_ghost_gpu *g, const double *from, int each, double **at, int *rc)
{
    const size_t n = (size_t)g->s.units * (size_t)each;
    double *to = *at;
    if (!from)
        return NULL;
    *at += n;
    *rc = *rc
          || failed(cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyHostToDevice, g->stream));
    return to;
}

/* Memory for products of columns with columns, and for coefficients, once they are asked for. */
static int reserve_modes(lat_ghost_gpu *g)
{
    const size_t square = (size_t)g->columns * (size_t)g->columns, units = (size_t)g->s.units;
    if (g->gram)
        return 0;
    return lat_cuda_malloc((void **)&g->gram,
                           (GRAM_CHUNKS + 1) * (size_t)g->blocks * square * sizeof(double),
                           "products")
                   || lat_cuda_malloc((void **)&g->coefficients,
                                      3 * units * square * sizeof(double), "coefficients")
               ? -1
               : 0;
}

/* Sums of the chunks of each block, to the host. */
static int add_up(lat_ghost_gpu *g, const double *partial, unsigned chunks, unsigned numbers,
                  double *there, double *sums)
{
    add_chunks<<<dim3(numbers, g->blocks), ADDERS, 0, g->stream>>>(partial, there, chunks);
    cudaError_t e = cudaGetLastError();
    e = e ? e
          : cudaMemcpyAsync(sums, there, (size_t)g->blocks * numbers * sizeof *sums,
                            cudaMemcpyDeviceToHost, g->stream);
    return failed(e ? e : cudaStreamSynchronize(g->stream));
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
    return failed(cudaGetLastError())
                   || add_up(g, g->gram, chunks, square,
                             g->gram + (size_t)GRAM_CHUNKS * g->blocks * square, sums)
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
    k.a = g->coefficients;
    combine<<<dim3(lat_cuda_blocks(s->block * (unsigned)colours, (unsigned)each), g->blocks, 2),
              (unsigned)(each * g->columns), 3 * (size_t)(each * g->columns) * sizeof(double),
              g->stream>>>(*s, k, colours);
    return failed(cudaGetLastError());
}

/* The pass for `blocks` blocks from `first` on. */
static int launch(const lat_ghost_gpu *g, lat_ghost_pass_name pass, call *k, unsigned first,
                  unsigned blocks)
{
    const dim3 grid(g->chunks, blocks);
    const unsigned threads = (unsigned)(THREADS / g->columns * g->columns);
    const lat_ghost_sites *s = &g->s;
    if (!blocks)
        return 0;
    k->first = first;
    return failed(s->nc == 2   ? launch_2(*s, *k, pass, grid, threads, g->stream)
                  : s->nc == 3 ? launch_3(*s, *k, pass, grid, threads, g->stream)
                               : launch_4(*s, *k, pass, grid, threads, g->stream));
}

/* A pass that reads `in` at neighbours, on several ranks: the interior while faces travel, then the
 * first and the last slice. (All ranks meet in the sums that follow.) */
static int launch_with_ghosts(lat_ghost_gpu *g, lat_ghost_pass_name pass, call *k)
{
    const unsigned face = (unsigned)g->s.blocks, last = g->blocks - face;
    return lat_cuda_ghosts_begin(&g->ghosts, (void *)k->in)
                   || launch(g, pass, k, face, last > face ? last - face : 0)
                   || lat_cuda_ghosts_finish(&g->ghosts) || launch(g, pass, k, 0, face)
                   || launch(g, pass, k, last, last ? face : 0)
               ? -1
               : 0;
}

int lat_ghost_gpu_over(lat_ghost_gpu *g, lat_ghost_pass_name pass, const lat_ghost_call *c,
                       int numbers, double *sums)
{
    if (pass == LAT_GHOST_GRAM)
        return gpu_gram(g, c, sums);
    if (pass == LAT_GHOST_COMBINE)
        return gpu_combine(g, c);
    int rc = 0;
    double *at = g->scalars;
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
    k.a = send(g, c->a, g->columns, &at, &rc);
    k.b = send(g, c->b, g->columns, &at, &rc);
    k.mean = send(g, c->mean, g->reals, &at, &rc);
    const bool neighbours = pass == LAT_GHOST_HOP || pass == LAT_GHOST_PLAIN;
    if (rc
        || (g->s.halo && neighbours ? launch_with_ghosts(g, pass, &k)
                                    : launch(g, pass, &k, 0, g->blocks)))
        return -1;
    return numbers ? add_up(g, g->partial, g->chunks, (unsigned)numbers, g->sums, sums) : 0;
}

int lat_ghost_gpu_invert(lat_ghost_gpu *g, double *v)
{
    return lat_laplace_gpu_invert(g->laplace, v);
}

int lat_ghost_gpu_plain(lat_ghost_gpu *g, const lat_ghost_element *product, size_t products,
                        const double *links)
{
    const size_t bytes = g->held * (size_t)(g->s.directions * 2 * g->s.nc * g->s.nc)
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
