/* SPDX-License-Identifier: BSD-3-Clause */
/* dense_gpu.cu: the inverse of the last level's complement, by Gauss-Jordan elimination in double
 * with the largest pivot of a column. */
#include "multigrid/cuda/cuda_multigrid.cuh"

#include <stdlib.h>

enum { THREADS = 256, PIVOT_THREADS = 1024 };

typedef struct dense_args {
    int n;
    double2 *a; /* [row][column] */
    double2 *row, *column;
    int *pivot; /* [step] the row that it came from; [n]: a column had none */
} dense_args;

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Unit vectors first .. first+7. */
static __global__ void units(lat_eight *v, int n, int first)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = i / LAT_EIGHT,
              k = i % LAT_EIGHT;
    if (row >= n)
        return;
    v[row].re[k] = row == first + k;
    v[row].im[k] = 0;
}

static __global__ void take_columns(const lat_eight *v, int n, int first, double2 *a)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = i / LAT_EIGHT,
              k = i % LAT_EIGHT;
    if (row < n)
        a[(int64_t)row * n + first + k] = make_double2((double)v[row].re[k], (double)v[row].im[k]);
}

/* The complement, eight columns at a time. */
static int take_matrix(const lat_coarse *c, const dense_args *d, lat_eight *in, lat_eight *out)
{
    const int first = c->sites.odd * c->rows;
    const cudaStream_t stream = lat_mg_stream(c->dev);
    const dim3 blocks(lat_cuda_blocks((uint64_t)d->n * LAT_EIGHT, THREADS));
    for (int j = 0; j < d->n; j += LAT_EIGHT) {
        lat_mg_start(stream, 0, units, blocks, THREADS, in + first, d->n, j);
        if (lat_coarse_complement(c, out, in))
            return -1;
        lat_mg_start(stream, 0, take_columns, blocks, THREADS, out + first, d->n, j, d->a);
    }
    return lat_mg_launched();
}

/* ---- elimination ----------------------------------------------------------------------------- */

/* The row at or below k with the largest number in column k, the first one of several; n: all are 0
 * or not finite. All threads get it. */
DEVICE int find_pivot(const dense_args &d, int k)
{
    __shared__ double most[PIVOT_THREADS];
    __shared__ int at[PIVOT_THREADS];
    const int me = (int)threadIdx.x;
    double best = 0;
    int row = d.n;
    for (int i = k + me; i < d.n; i += PIVOT_THREADS) {
        const double2 z = d.a[(int64_t)i * d.n + k];
        const double square = z.x * z.x + z.y * z.y;
        if (square > best && isfinite(square)) {
            best = square;
            row = i;
        }
    }
    most[me] = best;
    at[me] = row;
    for (int apart = PIVOT_THREADS / 2; apart > 0; apart /= 2) {
        __syncthreads();
        const int other = me + apart;
        if (me < apart
            && (most[other] > most[me] || (most[other] == most[me] && at[other] < at[me]))) {
            most[me] = most[other];
            at[me] = at[other];
        }
    }
    __syncthreads();
    return at[0];
}

/* Step k, in one block: the pivot's row comes to row k and is divided by it; column k apart from it
 * goes to d.column, and is 0. */
static __global__ void __launch_bounds__(PIVOT_THREADS)
    take_pivot(const __grid_constant__ dense_args d, int k)
{
    const int found = find_pivot(d, k), p = found < d.n ? found : k;
    const double2 z = d.a[(int64_t)p * d.n + k];
    const double square = z.x * z.x + z.y * z.y;
    const double2 by = make_double2(z.x / square, -z.y / square);
    double2 *const own = d.a + (int64_t)k * d.n, *const other = d.a + (int64_t)p * d.n;
    __syncthreads();
    if (threadIdx.x == 0) {
        d.pivot[k] = p;
        if (found == d.n)
            d.pivot[d.n] = 1;
    }
    for (int j = (int)threadIdx.x; j < d.n; j += PIVOT_THREADS) {
        const double2 x = own[j], y = other[j];
        if (p != k)
            other[j] = x;
        own[j] = d.row[j] = j == k ? by : mg_times(y, by);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < d.n; i += PIVOT_THREADS) {
        double2 *const at = d.a + (int64_t)i * d.n + k;
        d.column[i] = i == k ? make_double2(0, 0) : *at;
        if (i != k)
            *at = make_double2(0, 0);
    }
}

/* The other rows lose their number in column k times row k. */
static __global__ void __launch_bounds__(THREADS) eliminate(const __grid_constant__ dense_args d)
{
    const int j = (int)(blockIdx.x * THREADS + threadIdx.x), i = (int)blockIdx.y;
    if (j >= d.n)
        return;
    double2 *const at = d.a + (int64_t)i * d.n + j;
    const double2 z = mg_times(d.column[i], d.row[j]);
    at->x -= z.x;
    at->y -= z.y;
}

/* Columns in their order to tiles of 16 rows, one after the other. */
static __global__ void pack_dense(const __grid_constant__ dense_args d, const int *order,
                                  __half2 *to)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = d.n;
    if (i >= n * n)
        return;
    const int row = (int)(i / n), column = (int)(i % n);
    const double2 z = d.a[row * n + order[column]];
    to[row / 16 * 16 * n + mg_packed_at(1, row % 16, column)] = __floats2half2_rn((float)z.x,
                                                                                  (float)z.y);
}

/* Exchanges of rows are undone as exchanges of columns: which is where. 1: singular. */
static int order_of(const lat_coarse *c, const dense_args *d, int *order)
{
    const size_t count = (size_t)d->n + 1;
    int *const pivot = (int *)lat_alloc(count, sizeof *pivot, "the last level");
    if (!pivot || lat_mg_gpu_fetch(c->dev, pivot, d->pivot, count * sizeof *pivot)) {
        free(pivot);
        return -1;
    }
    for (int k = 0; k < d->n; k++)
        order[k] = k;
    for (int k = d->n - 1; k >= 0; k--) {
        const int at = order[k];
        order[k] = order[pivot[k]];
        order[pivot[k]] = at;
    }
    const int rc = pivot[d->n] ? 1 : 0;
    free(pivot);
    return rc;
}

static int invert(const lat_coarse *c, const dense_args *d)
{
    lat_mg_gpu *const g = lat_mg_gpu_of(c);
    const cudaStream_t stream = lat_mg_stream(c->dev);
    const size_t bytes = (size_t)d->n * sizeof(int);
    int *const host = (int *)lat_alloc(1, bytes, "the last level");
    const dim3 blocks((unsigned)((d->n + THREADS - 1) / THREADS), (unsigned)d->n);
    if (!host)
        return -1;
    for (int k = 0; k < d->n; k++) {
        lat_mg_start(stream, 0, take_pivot, 1, PIVOT_THREADS, *d, k);
        lat_mg_start(stream, 0, eliminate, blocks, THREADS, *d);
    }
    int rc = lat_mg_launched() ? -1 : order_of(c, d, host);
    int *const order = rc ? NULL : (int *)lat_mg_upload(c->dev, host, bytes, "the last level");
    free(host);
    if (rc == 0 && order) {
        const uint64_t numbers = (uint64_t)d->n * (uint64_t)d->n;
        lat_mg_start(stream, 0, pack_dense, lat_cuda_blocks(numbers, THREADS), THREADS, *d, order,
                     (__half2 *)g->dense);
        rc = lat_cuda_failed(cudaStreamSynchronize(stream), "the last level");
    }
    lat_cuda_free(order);
    return rc ? rc : order ? 0 : -1;
}

int lat_mg_gpu_make_dense(const lat_coarse *c)
{
    static const char what[] = "the last level";
    lat_mg_gpu *const g = lat_mg_gpu_of(c);
    const size_t n = (size_t)(c->sites.count - c->sites.odd) * (size_t)c->rows;
    dense_args d = {};
    d.n = (int)n;
    d.a = (double2 *)lat_mg_gpu_alloc(c->dev, n * n, sizeof *d.a, what);
    d.row = (double2 *)lat_mg_gpu_alloc(c->dev, n, sizeof *d.row, what);
    d.column = (double2 *)lat_mg_gpu_alloc(c->dev, n, sizeof *d.column, what);
    d.pivot = (int *)lat_mg_gpu_alloc(c->dev, n + 1, sizeof *d.pivot, what);
    if (!g->dense)
        g->dense = (uint4 *)lat_mg_gpu_alloc(c->dev, n * n, sizeof(__half2), what);
    lat_eight *const in = lat_coarse_vector(c), *const out = lat_coarse_vector(c);
    int rc = -1;
    if (d.a && d.row && d.column && d.pivot && g->dense && in && out)
        rc = take_matrix(c, &d, in, out) ? -1 : invert(c, &d);
    lat_cuda_free(d.a);
    lat_cuda_free(d.row);
    lat_cuda_free(d.column);
    lat_cuda_free(d.pivot);
    lat_cuda_free(in);
    lat_cuda_free(out);
    return rc;
}
