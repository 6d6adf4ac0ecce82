/* SPDX-License-Identifier: BSD-3-Clause */
/* make_gpu.cu: test vectors become orthonormal on the whole lattice, then in blocks. */
#include "multigrid/cuda/cuda_multigrid.cuh"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, ROWS = 32 }; /* rows of the vectors' numbers at a time */

/* Blocks of threads are those of sites, two of each: its chiralities. */
typedef struct make_args {
    const int64_t *start[2];
    int components, n;
    float2 *v, *p;
    double2 *gram;                /* [block, chirality][n][n]; */
    const int32_t *site, *number; /* or [site of the coarse lattice, chirality][n][n] of all ranks:
                                   * those of blocks here, and of all in natural order */
} make_args;

/* Row i of a block and chirality, of `evens` sites of the first list. */
DEVICE int64_t row_at(const make_args &a, int block, int chirality, int i)
{
    const int half = a.components / 2, s = i / half;
    const int evens = (int)(a.start[0][block + 1] - a.start[0][block]);
    const int64_t site = s < evens ? a.start[0][block] + s : a.start[1][block] + s - evens;
    return (site * a.components + chirality * half + i % half) * a.n;
}

DEVICE int rows_of(const make_args &a, int block)
{
    return (int)(a.start[0][block + 1] - a.start[0][block] + a.start[1][block + 1]
                 - a.start[1][block])
           * (a.components / 2);
}

DEVICE void load_rows(const make_args &a, int block, int chirality, int at, int count, float2 *to)
{
    for (int i = (int)threadIdx.x; i < count * a.n; i += THREADS)
        to[i] = a.v[row_at(a, block, chirality, at + i / a.n) + i % a.n];
    __syncthreads();
}

/* sum += conj(x) y, in double. */
DEVICE void add_double(double2 *sum, float2 x, float2 y)
{
    const double a = (double)x.x, b = (double)x.y, c = (double)y.x, d = (double)y.y;
    sum->x = fma(a, c, fma(b, d, sum->x));
    sum->y = fma(a, d, fma(-b, c, sum->y));
}

/* Products of the vectors; a thread has 2 x 2 of them at a time. */
static __global__ void __launch_bounds__(THREADS) gram(const __grid_constant__ make_args a)
{
    __shared__ float2 stage[ROWS * LAT_MULTIGRID_MOST_VECTORS];
    const int block = (int)blockIdx.x / 2, chirality = (int)blockIdx.x % 2, n = a.n, side = n / 2,
              rows = rows_of(a, block);
    double2 *const to = a.gram
                        + (a.site ? 2 * (int64_t)a.site[block] + chirality : blockIdx.x) * n * n;
    for (int first = 0; first < side * side; first += THREADS) {
        const int tile = first + (int)threadIdx.x, i = tile / side * 2, j = tile % side * 2;
        double2 sum[2][2] = {};
        for (int at = 0; at < rows; at += ROWS) {
            const int count = rows - at < ROWS ? rows - at : ROWS;
            load_rows(a, block, chirality, at, count, stage);
            for (int r = 0; r < count && tile < side * side; r++)
                for (int k = 0; k < 4; k++)
                    add_double(&sum[k / 2][k % 2], stage[r * n + i + k / 2],
                               stage[r * n + j + k % 2]);
            __syncthreads();
        }
        for (int k = 0; k < 4 && tile < side * side; k++)
            to[(i + k / 2) * n + j + k % 2] = sum[k / 2][k % 2];
    }
}

/* Adds up number blockIdx.x of the `count` matrices of slice blockIdx.y. */
static __global__ void __launch_bounds__(THREADS)
    sum_grams(const __grid_constant__ make_args a, int count, int numbers, double2 *to)
{
    __shared__ double2 part[THREADS];
    double2 sum = make_double2(0, 0);
    for (int b = (int)threadIdx.x; b < count; b += THREADS) {
        const int64_t at = (int64_t)blockIdx.y * count + b;
        const double2 z =
            a.gram[(a.number ? 2 * (int64_t)a.number[at / 2] + at % 2 : at) * numbers + blockIdx.x];
        sum.x += z.x;
        sum.y += z.y;
    }
    part[threadIdx.x] = sum;
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < apart) {
            part[threadIdx.x].x += part[threadIdx.x + apart].x;
            part[threadIdx.x].y += part[threadIdx.x + apart].y;
        }
    }
    if (threadIdx.x == 0)
        to[blockIdx.y * numbers + blockIdx.x] = part[0];
}

/* to <- v t, t upper triangular: [n][n], of the whole lattice or (apart) of each block. to may be
 * v. */
static __global__ void __launch_bounds__(THREADS)
    triangular(const __grid_constant__ make_args a, const double2 *all, bool apart, float2 *to)
{
    __shared__ float2 stage[ROWS * LAT_MULTIGRID_MOST_VECTORS];
    const int block = (int)blockIdx.x / 2, chirality = (int)blockIdx.x % 2, n = a.n,
              rows = rows_of(a, block);
    const double2 *const t = apart ? all + (int64_t)blockIdx.x * n * n : all;
    for (int at = 0; at < rows; at += ROWS) {
        const int count = rows - at < ROWS ? rows - at : ROWS;
        load_rows(a, block, chirality, at, count, stage);
        for (int i = (int)threadIdx.x; i < count * n; i += THREADS) {
            const float2 *const x = stage + i / n * n;
            const int j = i % n;
            double2 sum = make_double2(0, 0);
            for (int k = 0; k <= j; k++) {
                const double2 z = t[k * n + j];
                const double re = (double)x[k].x, im = (double)x[k].y;
                sum.x = fma(re, z.x, fma(-im, z.y, sum.x));
                sum.y = fma(re, z.y, fma(im, z.x, sum.y));
            }
            to[row_at(a, block, chirality, at + i / n) + j] = make_float2((float)sum.x,
                                                                          (float)sum.y);
        }
        __syncthreads();
    }
}

/* a - conj(b) c */
DEVICE double2 without(double2 a, double2 b, double2 c)
{
    return make_double2(a.x - b.x * c.x - b.y * c.y, a.y - b.x * c.y + b.y * c.x);
}

/* g = R^+ R of each block and chirality becomes R^-1, upper triangular: row i is a thread's. A
 * dependent vector has a column of 0 (transfer.h). */
static __global__ void orthonormal(const __grid_constant__ make_args a)
{
    extern __shared__ double2 r[]; /* R, upper triangular: [n][n] */
    const int n = a.n, j = (int)threadIdx.x;
    double2 *const g = a.gram + (int64_t)blockIdx.x * n * n;
    for (int i = 0; i < n; i++) { /* row i of R: (g_ij - sum_k<i conj(R_ki) R_kj) / R_ii */
        double2 s = make_double2(0, 0);
        if (j >= i && j < n) {
            s = g[i * n + j];
            for (int k = 0; k < i; k++)
                s = without(s, r[k * n + i], r[k * n + j]);
        }
        __shared__ double pivot;
        if (j == i)
            pivot = s.x > LAT_DEPENDENT * g[i * n + i].x ? sqrt(s.x) : 0;
        __syncthreads();
        if (j >= i && j < n)
            r[i * n + j] = pivot > 0 ? make_double2(s.x / pivot, s.y / pivot) : make_double2(0, 0);
        __syncthreads();
    }
    if (j >= n)
        return;
    const int i = j;
    for (int k = 0; k < n; k++) { /* row i of T: T_ik = (1_ik - sum_i<=l<k T_il R_lk) / R_kk */
        double2 s = make_double2(i == k ? 1 : 0, 0);
        for (int l = i; l < k; l++) {
            const double2 t = g[i * n + l], u = r[l * n + k];
            s.x -= t.x * u.x - t.y * u.y;
            s.y -= t.x * u.y + t.y * u.x;
        }
        const double pivot = r[k * n + k].x;
        g[i * n + k] = k >= i && pivot > 0 ? make_double2(s.x / pivot, s.y / pivot)
                                           : make_double2(0, 0);
    }
}

/* P in half, of the sites that cycles read. */
static __global__ void round_p(const float2 *p, int64_t count, __half2 *to)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = __floats2half2_rn(p[i].x, p[i].y);
}

/* Blocks whose matrices are here: where slices have blocks of several ranks, all of them, as a
 * slice's sum is no tree. */
static const lat_geometry *blocks_of(const lat_transfer *t)
{
    return t->ranks && t->to->sites.blocks ? &t->to->sites.geom : &t->blocks.coarse;
}

/* The sum of all matrices of all ranks, in the order of slices, by way of `slice`, to g. */
static int sum_slices(const lat_transfer *t, const make_args *a, double2 *slice, double *g)
{
    const lat_geometry *blocks = blocks_of(t);
    const int n = t->n, slices = blocks->dims[3],
              ranks = t->ranks && !a->number ? t->comm->size : 1;
    const size_t numbers = (size_t)n * (size_t)n, mine = (size_t)slices * numbers,
                 pitch = LAT_PITCH((size_t)n);
    double2 *const all = (double2 *)lat_alloc((size_t)(ranks + 1) * mine, sizeof *all,
                                              "test vectors");
    double2 *const own = all + (size_t)ranks * mine;
    if (!all)
        return -1;
    lat_mg_start(lat_mg_stream(t->dev), 0, sum_grams, dim3((unsigned)numbers, (unsigned)slices),
                 THREADS, *a, 2 * (int)lat_volume(blocks) / slices, (int)numbers, slice);
    int rc = lat_mg_launched() || lat_mg_gpu_fetch(t->dev, own, slice, mine * sizeof *own);
    if (rc == 0 && ranks > 1)
        rc = t->comm->gather(t->comm, own, mine * sizeof *own, all);
    else if (rc == 0)
        memcpy(all, own, mine * sizeof *own);
    for (size_t s = 0; s < (size_t)(ranks * slices) && rc == 0; s++)
        for (size_t i = 0; i < (size_t)n; i++)
            for (size_t j = 0; j <= i; j++) {
                g[i * pitch + j] += all[s * numbers + i * (size_t)n + j].x;
                g[((size_t)n + i) * pitch + j] += all[s * numbers + i * (size_t)n + j].y;
            }
    free(all);
    return rc ? -1 : 0;
}

/* The triangular matrix that makes vectors orthonormal on the whole lattice, on the device. */
static int whole_of(const lat_transfer *t, const make_args *a, double2 *whole)
{
    const int n = t->n;
    const size_t doubles = lat_small_doubles(n), pitch = LAT_PITCH((size_t)n);
    double2 *const host = (double2 *)lat_alloc((size_t)n * (size_t)n, sizeof *host, "test vectors");
    double *const g = (double *)lat_alloc_zero(3 * doubles, sizeof *g, "test vectors");
    int rc = host && g ? sum_slices(t, a, whole, g) : -1;
    if (rc == 0)
        lat_small_orthonormal(n, g, g + doubles, g + 2 * doubles);
    for (int i = 0; i < n && rc == 0; i++)
        for (int j = 0; j < n; j++)
            host[i * n + j] = make_double2(g[2 * doubles + (size_t)i * pitch + j],
                                           g[2 * doubles + (size_t)(n + i) * pitch + j]);
    if (rc == 0)
        rc = lat_mg_gpu_send(t->dev, whole, host, (size_t)(n * n) * sizeof *host);
    free(host);
    free(g);
    return rc ? -1 : 0;
}

static int make(const lat_transfer *t, make_args *a, double2 *whole)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    const cudaStream_t stream = lat_mg_stream(t->dev);
    const unsigned blocks = 2 * (unsigned)t->blocks.count,
                   threads = ((unsigned)t->n + 31) / 32 * 32;
    const size_t r = (size_t)(t->n * t->n) * sizeof(double2);
    const int64_t count = (t->blocks.sites - g->first) * t->components * t->n;
    lat_mg_start(stream, 0, gram, blocks, THREADS, *a);
    if (lat_mg_launched() || (a->site && lat_mg_gather_sites(t->to, 2 * r, a->gram))
        || whole_of(t, a, whole))
        return -1;
    a->site = NULL;
    lat_mg_start(stream, 0, triangular, blocks, THREADS, *a, whole, false, a->v);
    lat_mg_start(stream, 0, gram, blocks, THREADS, *a);
    lat_mg_start(stream, r, orthonormal, blocks, threads, *a);
    lat_mg_start(stream, 0, triangular, blocks, THREADS, *a, a->gram, true, a->p);
    lat_mg_start(stream, 0, round_p, lat_cuda_blocks((uint64_t)count, THREADS), THREADS,
                 a->p + g->first * t->components * t->n, count, g->p);
    return lat_mg_launched();
}

int lat_mg_gpu_make(lat_transfer *t)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    const lat_geometry *blocks = blocks_of(t);
    const bool all = blocks != &t->blocks.coarse;
    const size_t each = (size_t)t->n * (size_t)t->n, count = lat_volume(blocks);
    make_args a = {
        {g->start[0], g->start[1]}, t->components, t->n, (float2 *)t->v, (float2 *)t->p, NULL,
        all ? g->site : NULL,       NULL};
    a.gram = (double2 *)lat_mg_gpu_alloc(t->dev, 2 * count * each, sizeof *a.gram, "test vectors");
    double2 *const whole = (double2 *)lat_mg_gpu_alloc(t->dev, (size_t)blocks->dims[3] * each,
                                                       sizeof *whole, "test vectors");
    if (all)
        a.number = (const int32_t *)lat_mg_upload(t->dev, t->to->sites.number,
                                                  count * sizeof *a.number, "test vectors");
    const int rc = a.gram && whole && (!all || a.number) ? make(t, &a, whole) : -1;
    lat_cuda_free(a.gram);
    lat_cuda_free((void *)a.number);
    lat_cuda_free(whole);
    return rc;
}
