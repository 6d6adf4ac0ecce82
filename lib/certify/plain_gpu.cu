/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_gpu.cu: M from its definition (plain.h), a thread a site and column. It shares nothing with
 * the kernels of lib/dirac: neither order of sites, basis nor gauge, no even and odd. Operations
 * and sums are in the order of plain.c, and products are not fused with sums (-fmad=false), so that
 * residuals are those of the CPU to the last bit. */
#include "grid/cuda_device.cuh"
#include "grid/cuda_tuning.h"
#include "plain_sites.cuh"
#include <math.h>
#include <stdlib.h>
#include <string.h>
extern "C" {
#include "grid/staging.h"
#include "lattice/iterate.h"
#include "lattice/slices.h"
#include "plain_gpu.h"
#include "site/sun.h"
}

enum { PLANES = 6, AT_ONCE = 64 /* columns of a launch */, SLICES = 4 /* where b is zero */ };
#define THREADS 128

static int failed(cudaError_t e) { return lat_cuda_failed(e, "residuals"); }

/* M, and a call's columns. */
typedef struct operands {
    uint32_t extent[4];
    double diagonal, twist, csw, csw_t;
    double edge;        /* more on the diagonal of slices 1 and T - 2 */
    double *links;      /* [site][4][18] */
    double *clover;     /* [site][plane][18]: S - S^+ of each plane; NULL without clover term */
    double2 *factor[4]; /* [x_mu][forwards, backwards]: - weight/2 and the phase; 0: no hop */
    size_t sites;
    size_t slice, of_slice; /* sites of a slice; its chunks */
    uint32_t objects;       /* of x: */
    const double *x;
    int column[AT_ONCE];
    size_t first, count;  /* sites; in plain_residual and sum_chunks: */
    const double *b;      /* [column][count][24], or NULL: it is zero there */
    double2 *norms;       /* [column][count]: |b - M x|^2, |b|^2 */
    double2 *part;        /* [column][chunk]: their sums */
    size_t chunk, chunks; /* the first one; all, of the lattice */
} operands;

struct lat_plain_gpu {
    const lat_cuda_device *dev;
    operands m; /* without columns */
};

/* ---- the clover term ------------------------------------------------------------------------- */

/* The planes mu < nu. */
static __device__ constexpr int plane_mu[PLANES] = {0, 0, 1, 0, 1, 2},
                                plane_nu[PLANES] = {1, 2, 2, 3, 3, 3};

/* path <- path times the link that leads from p along mu, or back; p goes there. */
static __device__ void follow(const operands &a, place *p, int mu, int way, double *path)
{
    const place to = step(a.extent, *p, mu, way);
    const double *const link = a.links + (site_of(a.extent, way > 0 ? *p : to) * 4 + mu) * 18;
    double product[18];
    if (way > 0)
        lat_sun_mul(3, product, path, link);
    else
        lat_sun_mul_dag(3, product, path, link);
    for (int k = 0; k < 18; k++)
        path[k] = product[k];
    *p = to;
}

/* S - S^+ of a plane mu < nu: leaves counterclockwise from the site. */
static __global__ void make_plain_clover(const __grid_constant__ operands a)
{
    const size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x, site = n / PLANES;
    const int mu = plane_mu[n % PLANES], nu = plane_nu[n % PLANES];
    if (site >= a.sites)
        return;
    double sum[18] = {};
    for (int leaf = 0; leaf < 4; leaf++) {
        /* mu nu, nu -mu, -mu -nu, -nu mu */
        const int first = leaf % 2 ? nu : mu, second = leaf % 2 ? mu : nu, way1 = leaf < 2 ? 1 : -1,
                  way2 = leaf == 0 || leaf == 3 ? 1 : -1;
        double path[18];
        place p = place_of(a.extent, site);
        lat_sun_one(3, path);
        follow(a, &p, first, way1, path);
        follow(a, &p, second, way2, path);
        follow(a, &p, first, -way1, path);
        follow(a, &p, second, -way2, path);
        for (int k = 0; k < 18; k++)
            sum[k] += path[k];
    }
    double *const f = a.clover + n * 18;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            f[2 * (3 * i + j)] = sum[2 * (3 * i + j)] - sum[2 * (3 * j + i)];
            f[2 * (3 * i + j) + 1] = sum[2 * (3 * i + j) + 1] + sum[2 * (3 * j + i) + 1];
        }
}

/* ---- the operator at a site ------------------------------------------------------------------ */

/* gamma_mu has one entry in each row: i^power in column `column`. */
static __host__ __device__ constexpr int gamma_column(int mu, int row)
{
    return mu < 2 ? 3 - row : row ^ 2;
}

static __host__ __device__ constexpr int gamma_power(int mu, int row)
{
    return mu == 0   ? (row < 2 ? 1 : 3)
           : mu == 1 ? (row == 0 || row == 3 ? 2 : 0)
           : mu == 2 ? (row == 0 || row == 3 ? 1 : 3)
                     : 0;
}

/* sum += factor i^power v */
static __device__ __forceinline__ void add_power(double2 &sum, double factor, int power, double2 v)
{
    const double f = power & 2 ? -factor : factor;
    sum.x += power & 1 ? -f * v.y : f * v.x;
    sum.y += power & 1 ? f * v.x : f * v.y;
}

/* to = m from */
static __device__ __forceinline__ void multiply(const double2 m[9], const double2 from[3],
                                                double2 to[3])
{
#pragma unroll
    for (int a = 0; a < 3; a++) {
        to[a] = make_double2(0, 0);
#pragma unroll
        for (int b = 0; b < 3; b++) {
            const double2 u = m[3 * a + b];
            to[a].x += u.x * from[b].x - u.y * from[b].y;
            to[a].y += u.x * from[b].y + u.y * from[b].x;
        }
    }
}

/* m = factor U, or factor U^+ */
static __device__ __forceinline__ void load_link(double2 m[9], const double *from, bool dagger,
                                                 double2 factor)
{
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++) {
            const double2 e = ((const double2 *)from)[dagger ? 3 * j + i : 3 * i + j];
            const double v = dagger ? -e.y : e.y;
            m[3 * i + j] = make_double2(factor.x * e.x - factor.y * v,
                                        factor.x * v + factor.y * e.x);
        }
}

static __device__ __forceinline__ void load_spinor(double2 psi[12], const double *from)
{
#pragma unroll
    for (int k = 0; k < 12; k++)
        psi[k] = ((const double2 *)from)[k];
}

/* sum += factor (1 - way gamma_mu) U psi, U being the link of a step forwards, or its inverse. */
static __device__ __forceinline__ void add_hop(const operands &a, const place &p, int column,
                                               int mu, int way, double2 sum[12])
{
    const double2 factor = a.factor[mu][2 * p.x[mu] + (way < 0)];
    if (factor.x == 0 && factor.y == 0)
        return;
    const size_t from = site_of(a.extent, step(a.extent, p, mu, way));
    const size_t link = way > 0 ? site_of(a.extent, p) : from;
    double2 u[9], psi[12];
    load_link(u, a.links + (link * 4 + mu) * 18, way < 0, factor);
    load_spinor(psi, a.x + (from * a.objects + (size_t)column) * LAT_STAGE_SPINOR);
#pragma unroll
    for (int s = 0; s < 2; s++) { /* upper spins; the lower ones are -way gamma times these */
        const int lower = gamma_column(mu, s);
        double2 half[3], out[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            half[k] = psi[3 * s + k];
            add_power(half[k], -way, gamma_power(mu, s), psi[3 * lower + k]);
        }
        multiply(u, half, out);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            sum[3 * s + k].x += out[k].x;
            sum[3 * s + k].y += out[k].y;
            add_power(sum[3 * lower + k], -way, gamma_power(mu, lower), out[k]);
        }
    }
}

/* sum -= c/16 gamma_mu gamma_nu (S - S^+) psi */
static __device__ __forceinline__ void add_plane(const operands &a, size_t site, int plane,
                                                 const double2 psi[12], double2 sum[12])
{
    const int mu = plane_mu[plane], nu = plane_nu[plane];
    const double c = nu == 3 ? a.csw_t : a.csw;
    const double2 *const from_here = (const double2 *)(a.clover + (site * PLANES + plane) * 18);
    double2 f[9];
#pragma unroll
    for (int k = 0; k < 9; k++)
        f[k] = from_here[k];
#pragma unroll
    for (int s = 0; s < 4; s++) {
        const int by = gamma_column(mu, s), from = gamma_column(nu, by);
        const int power = gamma_power(mu, s) + gamma_power(nu, by);
        double2 out[3];
        multiply(f, psi + 3 * from, out);
#pragma unroll
        for (int k = 0; k < 3; k++)
            add_power(sum[3 * s + k], -c / 16, power, out[k]);
    }
}

/* (M x)(site) */
static __device__ __forceinline__ void apply(const operands &a, size_t site, int column,
                                             double2 sum[12])
{
    const place p = place_of(a.extent, site);
    double diagonal = a.diagonal;
    if (a.edge != 0 && (p.x[3] == 1 || p.x[3] == a.extent[3] - 2))
        diagonal += a.edge;
    double2 psi[12];
    load_spinor(psi, a.x + (site * a.objects + (size_t)column) * LAT_STAGE_SPINOR);
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const double t = k < 6 ? a.twist : -a.twist; /* gamma5 = diag(1, 1, -1, -1) */
        sum[k] = make_double2(diagonal * psi[k].x - t * psi[k].y,
                              diagonal * psi[k].y + t * psi[k].x);
    }
#pragma unroll
    for (int plane = 0; plane < PLANES; plane++)
        if (a.clover)
            add_plane(a, site, plane, psi, sum);
#pragma unroll
    for (int mu = 0; mu < 4; mu++)
#pragma unroll
        for (int way = 1; way >= -1; way -= 2)
            add_hop(a, p, column, mu, way, sum);
}

/* Columns of a site side by side, as they lie in x: they have its links in common. */
static __global__ void __launch_bounds__(THREADS)
    plain_residual(const __grid_constant__ operands a, uint32_t columns)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, n = i / columns;
    const uint32_t column = (uint32_t)(i - n * columns);
    if (n >= a.count)
        return;
    double2 mx[12], b[12] = {}, sum = make_double2(0, 0);
    apply(a, a.first + n, a.column[column], mx);
    if (a.b)
        load_spinor(b, a.b + (column * a.count + n) * LAT_STAGE_SPINOR);
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const double re = b[k].x - mx[k].x, im = b[k].y - mx[k].y;
        sum.x += re * re;
        sum.x += im * im;
        sum.y += b[k].x * b[k].x;
        sum.y += b[k].y * b[k].y;
    }
    a.norms[column * a.count + n] = sum;
}

/* Sites of a chunk one after the other; a thread a chunk of a column. */
static __global__ void sum_chunks(const __grid_constant__ operands a)
{
    const size_t chunk = (size_t)blockIdx.x * blockDim.x + threadIdx.x, t = chunk / a.of_slice,
                 in_slice = (chunk - t * a.of_slice) * LAT_CHUNK, from = t * a.slice + in_slice,
                 to = in_slice + LAT_CHUNK < a.slice ? from + LAT_CHUNK : (t + 1) * a.slice;
    double2 sum = make_double2(0, 0);
    if (t * a.slice >= a.count)
        return;
    for (size_t i = from; i < to; i++) {
        const double2 v = a.norms[blockIdx.y * a.count + i];
        sum.x += v.x;
        sum.y += v.y;
    }
    a.part[blockIdx.y * a.chunks + a.chunk + chunk] = sum;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* - weight/2 of a hop from a site with coordinate x, and its phase. */
static double2 factor_of(const lat_fermion *f, int mu, int x, int extent, int way)
{
    const lat_phase *const b = &f->boundary[mu];
    const double re = -(mu == 3 ? 1 : f->nu / f->xi) / 2;
    if (!lat_phase_hops(*b, x, extent, way))
        return make_double2(0, 0);
    return x == (way > 0 ? extent - 1 : 0)
               ? make_double2(re * cos(M_PI * b->theta), way * re * sin(M_PI * b->theta))
               : make_double2(re, 0);
}

static int send_factors(lat_plain_gpu *p, const lat_fermion *action, int mu)
{
    const int extent = (int)p->m.extent[mu];
    const size_t bytes = 2 * (size_t)extent * sizeof(double2);
    double2 *const host = (double2 *)lat_alloc(1, bytes, "phases");
    if (!host)
        return -1;
    for (int x = 0; x < extent; x++)
        for (int back = 0; back < 2; back++)
            host[2 * x + back] = factor_of(action, mu, x, extent, back ? -1 : 1);
    const int rc = lat_cuda_malloc((void **)&p->m.factor[mu], bytes, "phases")
                   || failed(cudaMemcpyAsync(p->m.factor[mu], host, bytes, cudaMemcpyHostToDevice,
                                             p->dev->stream))
                   || failed(cudaStreamSynchronize(p->dev->stream));
    free(host);
    return rc;
}

static int send_clover(lat_plain_gpu *p)
{
    if (p->m.csw == 0 && p->m.csw_t == 0)
        return 0;
    const uint64_t n = p->m.sites * PLANES;
    return lat_rc(lat_cuda_malloc((void **)&p->m.clover, n * 18 * sizeof(double), "the clover term")
                  || failed(lat_cuda_start(false, make_plain_clover, lat_cuda_blocks(n, THREADS),
                                           THREADS, p->dev->stream, p->m)));
}

lat_plain_gpu *lat_plain_gpu_new(lat_device *dev, const lat_field *links, const lat_fermion *action)
{
    if (links->head.geom.nd != 4 || links->head.nc != 3 || strcmp(action->name, "wilson")) {
        lat_fail("residuals on a GPU: expected links of SU(3) in four dimensions, and the Wilson "
                 "operator");
        return NULL;
    }
    lat_plain_gpu *p = (lat_plain_gpu *)lat_alloc_zero(1, sizeof *p, "residuals");
    if (!p)
        return NULL;
    p->dev = lat_cuda_device_of(dev);
    p->m.diagonal = 1 + 3 * action->nu / action->xi + action->mass;
    p->m.twist = action->twist;
    p->m.csw = action->csw / action->xi;
    p->m.csw_t = action->csw_t;
    p->m.edge = lat_fermion_edge(action, 1, links->head.geom.dims[3]);
    p->m.sites = lat_volume(&links->head.geom);
    int rc = lat_cuda_upload_links(p->dev, links, &p->m.links);
    for (int mu = 0; mu < 4 && rc == 0; mu++) {
        p->m.extent[mu] = (uint32_t)links->head.geom.dims[mu];
        rc = send_factors(p, action, mu);
    }
    if (rc == 0 && send_clover(p) == 0)
        return p;
    lat_plain_gpu_free(p);
    return NULL;
}

void lat_plain_gpu_free(lat_plain_gpu *p)
{
    if (!p)
        return;
    lat_cuda_free(p->m.links);
    lat_cuda_free(p->m.clover);
    for (int mu = 0; mu < 4; mu++)
        lat_cuda_free(p->m.factor[mu]);
    free(p);
}

const double *lat_plain_gpu_links(const lat_plain_gpu *p) { return p->m.links; }

/* ---- residuals ------------------------------------------------------------------------------- */

/* Columns of b on a slice to the device, [column][site][24]; *zero: there is nothing but zeros. */
static int send_slice(const lat_cuda_device *dev, const lat_field *b, int columns,
                      const int *column, size_t first, size_t count, double *to, bool *zero)
{
    const size_t each = LAT_STAGE_SPINOR * sizeof(double), all = (size_t)columns;
    *zero = lat_stage_zero(b, columns, column, first, count);
    return *zero ? 0
                 : lat_cuda_staged(
                     dev, true, count, LAT_CUDA_STAGE / (all * each), "residuals",
                     [&](size_t at, size_t n, int k) {
                         lat_stage_spinors(b, columns, column, first + at, n,
                                           (double *)dev->pinned[k]);
                         return true;
                     },
                     [&](size_t at, size_t n, int k) {
                         return cudaMemcpy2DAsync(to + at * LAT_STAGE_SPINOR, count * each,
                                                  dev->pinned[k], n * each, n * each, all,
                                                  cudaMemcpyHostToDevice, dev->stream);
                     });
}

/* Slice after slice of time, and some together where b is zero; at most AT_ONCE columns: to `host`,
 * [column][chunk]. */
static int run(const lat_cuda_device *dev, operands *a, const lat_field *b, int columns,
               const int *column, double *of_b, double2 *host)
{
    const unsigned all = (unsigned)columns;
    const cudaStream_t stream = dev->stream;
    memcpy(a->column, column, (size_t)columns * sizeof *column);
    for (size_t t = 0, slices; t < a->extent[3]; t += slices) {
        bool zero;
        a->first = t * a->slice;
        a->chunk = t * a->of_slice;
        if (send_slice(dev, b, columns, column, a->first, a->slice, of_b, &zero))
            return -1;
        slices = 1;
        while (zero && slices < SLICES && t + slices < a->extent[3]
               && lat_stage_zero(b, columns, column, a->first + slices * a->slice, a->slice))
            slices++;
        a->b = zero ? NULL : of_b;
        a->count = slices * a->slice;
        if (failed(lat_cuda_start(false, plain_residual, lat_cuda_blocks(a->count * all, THREADS),
                                  THREADS, stream, *a, all))
            || failed(lat_cuda_start(false, sum_chunks,
                                     dim3(lat_cuda_blocks(slices * a->of_slice, 32), all), 32,
                                     stream, *a)))
            return -1;
    }
    return lat_rc(failed(cudaMemcpyAsync(host, a->part, a->chunks * all * sizeof *host,
                                         cudaMemcpyDeviceToHost, stream))
                  || failed(cudaStreamSynchronize(stream)));
}

/* Chunks of a slice are added in order, then the slices. */
static double residual_of(const double2 *part, size_t slices, size_t of_slice)
{
    double2 sum = make_double2(0, 0);
    for (size_t t = 0; t < slices; t++) {
        double2 slice = make_double2(0, 0);
        for (size_t c = 0; c < of_slice; c++) {
            slice.x += part[t * of_slice + c].x;
            slice.y += part[t * of_slice + c].y;
        }
        sum.x += slice.x;
        sum.y += slice.y;
    }
    return sum.x == 0 ? 0 : sqrt(sum.x / sum.y);
}

int lat_plain_gpu_residual(lat_plain_gpu *p, const double *x, const lat_field *b, int columns,
                           const int *column, double *residual)
{
    static const char what[] = "residuals";
    const size_t slice = lat_slice_sites(&b->head), of_slice = (slice + LAT_CHUNK - 1) / LAT_CHUNK,
                 chunks = of_slice * p->m.extent[3],
                 most = (size_t)(columns < AT_ONCE ? columns : (int)AT_ONCE);
    double *of_b = NULL;
    operands a = p->m;
    a.objects = (uint32_t)lat_header_objects(&b->head);
    a.slice = slice;
    a.of_slice = of_slice;
    a.chunks = chunks;
    a.x = x;
    double2 *const host = (double2 *)lat_alloc(chunks, most * sizeof *host, what);
    int rc = lat_rc(
        !host
        || lat_cuda_malloc((void **)&of_b, slice * most * LAT_STAGE_SPINOR * sizeof(double), what)
        || lat_cuda_malloc((void **)&a.norms, SLICES * slice * most * sizeof(double2), what)
        || lat_cuda_malloc((void **)&a.part, chunks * most * sizeof(double2), what));
    for (int i = 0; i < columns && rc == 0; i += AT_ONCE) {
        const int n = columns - i < AT_ONCE ? columns - i : (int)AT_ONCE;
        rc = run(p->dev, &a, b, n, column + i, of_b, host);
        for (int k = 0; k < n && rc == 0; k++)
            residual[i + k] = residual_of(host + (size_t)k * chunks, a.extent[3], of_slice);
    }
    lat_cuda_free(of_b);
    lat_cuda_free(a.norms);
    lat_cuda_free(a.part);
    free(host);
    return rc;
}
