/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse_finish_gpu.cu: X^-1 and H = X^-1 Y. */
#include "multigrid/cuda/cuda_multigrid.cuh"

#include <stdlib.h>

/* What the inverses of some sites are made of. */
typedef struct finish_args {
    const float2 *matrix;
    const int32_t *next;
    int rows, first, odd; /* sites from `first` on */
    double shift, twist;
    double2 *a; /* [site - first][rows][rows]: X, then its inverse */
    float2 *inverse;
    __half2 *packed_inverse, *middle, *hop;
    int *singular;
} finish_args;

/* ---- X^-1 ------------------------------------------------------------------------------------ */

/* X of a site with its shift. A direction that no test vector has is left out: its row and column
 * of X are 0, and 1 stands for them. */
DEVICE void load_site(const finish_args &f, int site, double2 *a)
{
    const int n = f.rows;
    const float2 *const x = f.matrix
                            + ((int64_t)site * LAT_COARSE_MATRICES + LAT_COARSE_HOPS) * n * n;
    for (int i = (int)threadIdx.x; i < n * n; i += (int)blockDim.x) {
        const int row = i / n, column = i % n;
        double2 z = make_double2((double)x[i].x, (double)x[i].y);
        if (row == column && z.x == 0 && z.y == 0)
            z.x = 1;
        else if (row == column) {
            z.x += f.shift;
            z.y += row < n / 2 ? f.twist : -f.twist;
        }
        a[i] = z;
        if (site >= f.odd)
            f.middle[(int64_t)(site - f.odd) * n * n + mg_packed_at(n / 16, row, column)] =
                __floats2half2_rn((float)z.x, (float)z.y);
    }
}

/* The row at or below k with the largest number in column k. */
DEVICE int pivot_of(const double2 *a, int n, int k)
{
    double most = -1;
    int row = k;
    for (int i = k + (int)threadIdx.x % 32; i < n; i += 32) {
        const double2 z = a[i * n + k];
        const double square = z.x * z.x + z.y * z.y;
        if (square > most) {
            most = square;
            row = i;
        }
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const double other = __shfl_xor_sync(~0u, most, apart);
        const int at = __shfl_xor_sync(~0u, row, apart);
        if (other > most || (other == most && at < row)) {
            most = other;
            row = at;
        }
    }
    return row;
}

/* Gauss-Jordan elimination in place, rows exchanged; a block is a site. */
static __global__ void invert(const __grid_constant__ finish_args f)
{
    enum { MOST = 2 * LAT_MULTIGRID_MOST_VECTORS };
    __shared__ int pivot[MOST];
    __shared__ double2 column[MOST];
    const int n = f.rows, site = f.first + (int)blockIdx.x;
    double2 *const a = f.a + (int64_t)blockIdx.x * n * n;
    load_site(f, site, a);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        const int row = pivot_of(a, n, k); /* all warps find the same */
        const double2 p = a[row * n + k];
        const double square = p.x * p.x + p.y * p.y;
        const double2 by = make_double2(p.x / square, -p.y / square);
        if (threadIdx.x == 0) {
            pivot[k] = row;
            if (!(square > 0) || !isfinite(square))
                *f.singular = 1;
        }
        __syncthreads();
        for (int j = (int)threadIdx.x; j < n; j += (int)blockDim.x) {
            const double2 z = j == k ? make_double2(1, 0) : a[row * n + j];
            a[row * n + j] = a[k * n + j];
            a[k * n + j] = mg_times(by, z);
        }
        __syncthreads();
        for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
            column[i] = a[i * n + k];
        __syncthreads();
        for (int i = (int)threadIdx.x; i < n * n; i += (int)blockDim.x) {
            const int r = i / n, j = i % n;
            if (r == k)
                continue;
            const double2 z = mg_times(column[r], a[k * n + j]),
                          old = j == k ? make_double2(0, 0) : a[i];
            a[i] = make_double2(old.x - z.x, old.y - z.y);
        }
        __syncthreads();
    }
    for (int k = n - 1; k >= 0; k--) { /* columns go back */
        for (int i = (int)threadIdx.x; i < n && pivot[k] != k; i += (int)blockDim.x) {
            const double2 z = a[i * n + k];
            a[i * n + k] = a[i * n + pivot[k]];
            a[i * n + pivot[k]] = z;
        }
        __syncthreads();
    }
    for (int i = (int)threadIdx.x; i < n * n; i += (int)blockDim.x) {
        const float re = (float)a[i].x, im = (float)a[i].y;
        f.inverse[(int64_t)blockIdx.x * n * n + i] = make_float2(re, im);
        f.packed_inverse[(int64_t)site * n * n + mg_packed_at(n / 16, i / n, i % n)] =
            __floats2half2_rn(re, im);
    }
}

/* ---- H --------------------------------------------------------------------------------------- */

/* A number of Y of direction d at a site: of Gamma5 Y^+ Gamma5 of the site behind, where it leads
 * back. */
DEVICE float2 hop_number(const finish_args &f, int site, int d, int row, int column)
{
    const int n = f.rows;
    if (d < LAT_COARSE_HOPS)
        return f.matrix[(((int64_t)site * LAT_COARSE_MATRICES + d) * n + row) * n + column];
    const int64_t from = f.next[8 * site + d];
    const float2 z =
        f.matrix[((from * LAT_COARSE_MATRICES + d - LAT_COARSE_HOPS) * n + column) * n + row];
    const float sign = (row < n / 2) == (column < n / 2) ? 1.f : -1.f;
    return make_float2(sign * z.x, -sign * z.y);
}

/* H of a site and direction; a thread has T x T numbers, rows and columns 16 apart. */
template <int T>
static __global__ void __launch_bounds__(256) make_hops(const __grid_constant__ finish_args f)
{
    enum { N = 16 * T, DEPTH = 8 };
    __shared__ float2 a[DEPTH][N + 1], b[DEPTH][N];
    const int site = f.first + (int)blockIdx.x, d = (int)blockIdx.y, row = (int)threadIdx.x / 16,
              column = (int)threadIdx.x % 16;
    const float2 *const inverse = f.inverse + (int64_t)blockIdx.x * N * N;
    float2 sum[T][T] = {};
    for (int k = 0; k < N; k += DEPTH) {
        for (int i = (int)threadIdx.x; i < DEPTH * N; i += 256) {
            a[i % DEPTH][i / DEPTH] = inverse[i / DEPTH * N + k + i % DEPTH];
            if (d < LAT_COARSE_HOPS)
                b[i / N][i % N] = hop_number(f, site, d, k + i / N, i % N);
            else
                b[i % DEPTH][i / DEPTH] = hop_number(f, site, d, k + i % DEPTH, i / DEPTH);
        }
        __syncthreads();
        for (int j = 0; j < DEPTH; j++)
#pragma unroll
            for (int r = 0; r < T; r++)
#pragma unroll
                for (int c = 0; c < T; c++)
                    sum[r][c] = mg_add_times(sum[r][c], a[j][row + 16 * r], b[j][column + 16 * c]);
        __syncthreads();
    }
    __half2 *const to = f.hop + ((int64_t)site * 8 + d) * N * N;
#pragma unroll
    for (int r = 0; r < T; r++)
#pragma unroll
        for (int c = 0; c < T; c++)
            to[mg_packed_at(T, row + 16 * r, column + 16 * c)] = __floats2half2_rn(sum[r][c].x,
                                                                                   sum[r][c].y);
}

static void start_hops(const finish_args *f, int sites, cudaStream_t s)
{
    const dim3 blocks((unsigned)sites, 8);
    switch (f->rows / 16) {
    case 1: lat_mg_start(s, 0, make_hops<1>, blocks, 256, *f); break;
    case 2: lat_mg_start(s, 0, make_hops<2>, blocks, 256, *f); break;
    case 3: lat_mg_start(s, 0, make_hops<3>, blocks, 256, *f); break;
    case 4: lat_mg_start(s, 0, make_hops<4>, blocks, 256, *f); break;
    case 5: lat_mg_start(s, 0, make_hops<5>, blocks, 256, *f); break;
    case 6: lat_mg_start(s, 0, make_hops<6>, blocks, 256, *f); break;
    case 7: lat_mg_start(s, 0, make_hops<7>, blocks, 256, *f); break;
    default: lat_mg_start(s, 0, make_hops<8>, blocks, 256, *f); break;
    }
}

static int finish_sites(const lat_coarse *c, finish_args *f)
{
    const int most = 4096; /* sites at a time */
    const cudaStream_t stream = lat_mg_stream(c->dev);
    const size_t each = (size_t)c->rows * (size_t)c->rows,
                 some = (size_t)(c->sites.count < most ? c->sites.count : most);
    int singular = 0;
    f->a = (double2 *)lat_mg_gpu_alloc(c->dev, some * each, sizeof *f->a, "a coarse operator");
    f->inverse = (float2 *)lat_mg_gpu_alloc(c->dev, some * each, sizeof *f->inverse,
                                            "a coarse operator");
    f->singular = (int *)lat_mg_gpu_alloc(c->dev, 1, sizeof *f->singular, "a coarse operator");
    int rc = f->a && f->inverse && f->singular ? 0 : -1;
    for (f->first = 0; f->first < c->sites.count && rc == 0; f->first += most) {
        const int left = c->sites.count - f->first, sites = left < most ? left : most;
        lat_mg_start(stream, 0, invert, (unsigned)sites, 256, *f);
        start_hops(f, sites, stream);
        rc = lat_mg_launched();
    }
    if (rc == 0)
        rc = lat_mg_gpu_fetch(c->dev, &singular, f->singular, sizeof singular);
    lat_cuda_free(f->a);
    lat_cuda_free(f->inverse);
    lat_cuda_free(f->singular);
    return rc ? -1 : singular;
}

int lat_mg_gpu_finish(lat_coarse *c, bool dense)
{
    const lat_mg_gpu *g = lat_mg_gpu_of(c);
    finish_args f = {};
    f.matrix = g->matrix;
    f.next = g->next;
    f.rows = c->rows;
    f.odd = c->sites.odd;
    f.shift = c->shift;
    f.twist = c->twist;
    f.packed_inverse = (__half2 *)g->inverse;
    f.middle = (__half2 *)g->middle;
    f.hop = (__half2 *)g->hop;
    const int rc = finish_sites(c, &f);
    return rc ? rc : dense ? lat_mg_gpu_make_dense(c) : 0;
}
