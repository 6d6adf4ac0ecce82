/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_gpu.cu: the inverse Laplacian on a GPU.
 *
 * Pairs of reals are complex numbers: L^-1 is real and even, so that it does not mix them. Lines of
 * sites along an axis are transformed one axis after the other, forwards; those of the last axis
 * are also divided by the eigenvalues of L, and go back at once; then the others go back. With L =
 * r s, n = s a + b, k = c + r d (Cooley, Tukey, Math. Comput. 19 (1965) 297) X(k) = sum_b w^(r b d)
 * [ w^(b c) sum_a w^(s a c) x(s a + b) ],   w = exp(-2 pi i / L). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_slices.cuh"
extern "C" {
#include "base/error.h"
#include "laplace_gpu.h"
}

enum { THREADS = 128, LANES = 16, SHARED = 48 << 10 };
static const char what[] = "the inverse Laplacian";

/* An axis whose lines are transformed. */
typedef struct axis {
    int extent, r, s;
    uint64_t step;       /* complex numbers from a site to the next */
    uint64_t lines;      /* of this rank */
    int lanes;           /* lines of a block */
    const double2 *w;    /* [extent] */
    const double *eigen; /* [extent]: weight 4 sin^2(pi k / extent) */
} axis;

struct lat_laplace_gpu {
    cudaStream_t stream;
    int nd, last; /* the axis that goes forwards and back at once */
    axis axes[4];
    bool used[4];
    double unit_sites;
    double2 *tables;
    bool cut; /* the ranks cut the last axis: its lines are whole in `whole` */
    lat_cuda_lines whole;
};

/* What the last axis needs: the momentum of a line along the other axes. */
typedef struct spectrum {
    int nd;
    uint64_t step[4];
    int extent[4];
    const double *eigen[4]; /* NULL: not part of L, or the axis itself */
    double scale;
    uint64_t first; /* complex numbers of a slice before those whose lines are here */
} spectrum;

/* Sums of R numbers for each of R others: of in[from + by k], k = 0 .. R-1, in registers, the sums
 * w^(k (start n + turn n)) .. to out[to + step n], n = 0 .. R-1; positions are those of a line. */
template <int R>
static __device__ __forceinline__ void butterfly(const axis &a, const double2 *w, const double2 *in,
                                                 int from, int by, double2 *out, int to, int step,
                                                 int start, int turn, bool back)
{
    double2 x[R];
#pragma unroll
    for (int k = 0; k < R; k++)
        x[k] = in[(from + by * k) * a.lanes];
#pragma unroll
    for (int n = 0; n < R; n++) {
        int at = start * n % a.extent;
        const int more = turn * n % a.extent;
        double re = 0, im = 0;
#pragma unroll
        for (int k = 0; k < R; k++) {
            const double2 t = w[at];
            const double s = back ? -t.y : t.y;
            re += x[k].x * t.x - x[k].y * s;
            im += x[k].x * s + x[k].y * t.x;
            at += more;
            at -= at >= a.extent ? a.extent : 0;
        }
        out[(to + step * n) * a.lanes] = make_double2(re, im);
    }
}

/* The same for any number of them, one sum after the other. */
static __device__ __forceinline__ void butterfly_of(const axis &a, const double2 *w,
                                                    const double2 *in, int from, int by,
                                                    double2 *out, int to, int step, int start,
                                                    int turn, bool back, int r)
{
    for (int n = 0; n < r; n++) {
        int at = start * n % a.extent;
        const int more = (int)((int64_t)turn * n % a.extent);
        double re = 0, im = 0;
        for (int k = 0; k < r; k++) {
            const double2 x = in[(from + by * k) * a.lanes], t = w[at];
            const double s = back ? -t.y : t.y;
            re += x.x * t.x - x.y * s;
            im += x.x * s + x.y * t.x;
            at += more;
            at -= at >= a.extent ? a.extent : 0;
        }
        out[(to + step * n) * a.lanes] = make_double2(re, im);
    }
}

static __device__ __forceinline__ void butterflies(const axis &a, const double2 *w,
                                                   const double2 *in, int from, int by,
                                                   double2 *out, int to, int step, int start,
                                                   int turn, bool back, int r)
{
#define RADIX(n) \
    case n: butterfly<n>(a, w, in, from, by, out, to, step, start, turn, back); break
    switch (r) {
        RADIX(2);
        RADIX(3);
        RADIX(4);
        RADIX(5);
        RADIX(6);
        RADIX(7);
        RADIX(8);
    default: butterfly_of(a, w, in, from, by, out, to, step, start, turn, back, r);
    }
#undef RADIX
}

/* y(c, b) from x, then X from y; w^-1 if `back`. in, where X comes, and out: [extent][lanes]. */
static __device__ __forceinline__ void transform(const axis &a, const double2 *w, double2 *in,
                                                 double2 *out, int lane, int first, int step,
                                                 bool back)
{
    for (int b = first; b < a.s; b += step)
        butterflies(a, w, in + lane, b, a.s, out + lane, b, a.s, b, a.s, back, a.r);
    __syncthreads();
    for (int c = first; c < a.r; c += step)
        butterflies(a, w, out + lane, a.s * c, 1, in + lane, c, a.r, 0, a.r, back, a.s);
    __syncthreads();
}

/* Lines of one axis, `lanes` of them a block. MODE 0: forwards; 1: forwards, by the spectrum, and
 * back; 2: back. */
template <int MODE>
static __global__ void __launch_bounds__(THREADS, 6)
    lines(const __grid_constant__ axis a, const __grid_constant__ spectrum e, double2 *v)
{
    extern __shared__ double2 shared[];
    double2 *const in = shared, *const out = in + a.extent * a.lanes,
                   *const w = out + a.extent * a.lanes;
    const int lane = (int)threadIdx.x % a.lanes, first = (int)threadIdx.x / a.lanes,
              step = (int)blockDim.x / a.lanes;
    const uint64_t line = (uint64_t)blockIdx.x * (uint64_t)a.lanes + (uint64_t)lane,
                   inner = line % a.step, outer = line / a.step,
                   from = outer * a.step * (uint64_t)a.extent + inner;
    const bool there = line < a.lines;
    for (int n = (int)threadIdx.x; n < a.extent; n += (int)blockDim.x)
        w[n] = a.w[n];
    for (int n = first; n < a.extent; n += step)
        in[n * a.lanes + lane] = there ? v[from + (uint64_t)n * a.step] : make_double2(0, 0);
    __syncthreads();
    transform(a, w, in, out, lane, first, step, MODE == 2);
    if (MODE == 1) {
        double sum = 0;
        bool zero = true;
        for (int mu = 0; mu < e.nd; mu++)
            if (e.eigen[mu]) {
                const int k = (int)((from + e.first) / e.step[mu] % (uint64_t)e.extent[mu]);
                sum += e.eigen[mu][k];
                zero = zero && k == 0;
            }
        for (int n = first; n < a.extent; n += step) {
            const double f = zero && n == 0 ? 0 : e.scale / (sum + a.eigen[n]);
            in[n * a.lanes + lane].x *= f;
            in[n * a.lanes + lane].y *= f;
        }
        __syncthreads();
        transform(a, w, in, out, lane, first, step, true);
    }
    for (int n = first; n < a.extent; n += step)
        if (there)
            v[from + (uint64_t)n * a.step] = in[n * a.lanes + lane];
}

/* ---- host ---- */

/* The factor next to the square root, at most that. */
static int factor(int extent)
{
    int r = (int)sqrt((double)extent);
    while (extent % r)
        r--;
    return r;
}

static size_t shared_bytes(const axis *a)
{
    return (size_t)a->extent * (2 * (size_t)a->lanes + 1) * sizeof(double2);
}

static int make_tables(lat_laplace_gpu *l, const lat_geometry *geom, const double *weight)
{
    size_t all = 0;
    for (int mu = 0; mu < geom->nd; mu++)
        all += 2 * (size_t)geom->dims[mu]; /* w, and eigenvalues in the place of as many */
    double2 *host = (double2 *)calloc(all, sizeof *host);
    if (!host)
        return lat_fail("out of memory: a Fourier transform");
    if (lat_cuda_malloc((void **)&l->tables, all * sizeof *host, "a Fourier transform")) {
        free(host);
        return -1;
    }
    size_t at = 0;
    for (int mu = 0; mu < geom->nd; mu++) {
        const int extent = geom->dims[mu];
        double *eigen = (double *)(host + at + extent);
        for (int k = 0; k < extent; k++) {
            const double angle = 2 * M_PI * k / extent, s = 2 * sin(angle / 2);
            host[at + (size_t)k] = make_double2(cos(angle), -sin(angle));
            eigen[k] = weight[mu] * s * s;
        }
        l->axes[mu].w = l->tables + at;
        l->axes[mu].eigen = (const double *)(l->tables + at + extent);
        at += 2 * (size_t)extent;
    }
    const cudaError_t e = cudaMemcpy(l->tables, host, all * sizeof *host, cudaMemcpyHostToDevice);
    free(host);
    return lat_cuda_failed(e, "a Fourier transform");
}

static int make_axes(lat_laplace_gpu *l, const lat_geometry *geom, const double *weight, int reals,
                     int slices)
{
    uint64_t step = (uint64_t)reals / 2;
    const uint64_t own = (uint64_t)lat_volume(geom) / (uint64_t)geom->dims[geom->nd - 1] * step
                         * (uint64_t)slices;
    l->unit_sites = 1;
    l->last = -1;
    for (int mu = 0; mu < geom->nd; mu++) {
        axis *a = l->axes + mu;
        a->extent = geom->dims[mu];
        a->r = factor(a->extent);
        a->s = a->extent / a->r;
        a->step = step;
        a->lines = own / (uint64_t)a->extent;
        for (a->lanes = LANES; a->lanes > 1 && shared_bytes(a) > SHARED; a->lanes /= 2)
            ;
        if (shared_bytes(a) > SHARED)
            return lat_fail("GPU: the inverse Laplacian needs extents of at most %d, found %d",
                            SHARED / 48, a->extent);
        l->used[mu] = weight[mu] != 0;
        if (l->used[mu]) {
            l->last = mu;
            l->unit_sites *= a->extent;
        }
        step *= (uint64_t)a->extent;
    }
    return make_tables(l, geom, weight);
}

/* Several ranks: whole lines along the last axis of the sites of a share of a slice. */
static int make_whole(lat_laplace_gpu *l, lat_device *dev, const lat_geometry *geom, int reals)
{
    const int last = geom->nd - 1;
    axis *a = l->axes + last;
    if (!l->cut)
        return 0;
    if (lat_cuda_lines_open(
            dev, geom->dims[last], (int)(lat_volume(geom) / (size_t)geom->dims[last]),
            (size_t)reals * sizeof(double), "lines of a Fourier transform", &l->whole))
        return -1;
    a->step = a->lines = (uint64_t)l->whole.share.count * (uint64_t)reals / 2;
    return 0;
}

lat_laplace_gpu *lat_laplace_gpu_new(lat_device *dev, const lat_geometry *geom,
                                     const double *weight, int reals)
{
    const int last = geom->nd - 1;
    lat_laplace_gpu *l = (lat_laplace_gpu *)calloc(1, sizeof *l);
    if (!l) {
        lat_fail("out of memory: a Fourier transform");
        return NULL;
    }
    l->stream = lat_cuda_device_of(dev)->stream;
    l->nd = geom->nd;
    l->cut = dev->comm->size > 1 && weight[last] != 0;
    const int slices = lat_slab_of(dev->comm, dev->comm->rank, geom->dims[last]).count;
    if (lat_agree(dev->comm, make_axes(l, geom, weight, reals, slices)) == 0
        && make_whole(l, dev, geom, reals) == 0)
        return l;
    lat_laplace_gpu_free(l);
    return NULL;
}

void lat_laplace_gpu_free(lat_laplace_gpu *l)
{
    if (!l)
        return;
    lat_cuda_lines_close(&l->whole);
    cudaFree(l->tables);
    free(l);
}

template <int MODE> static cudaError_t launch(const lat_laplace_gpu *l, int mu, double *v)
{
    const axis *a = l->axes + mu;
    spectrum e;
    if (!a->lines)
        return cudaSuccess;
    memset(&e, 0, sizeof e);
    e.nd = l->nd;
    e.scale = 1 / l->unit_sites;
    for (int i = 0; i < l->nd; i++) {
        e.step[i] = l->axes[i].step;
        e.extent[i] = l->axes[i].extent;
        e.eigen[i] = l->used[i] && i != mu ? l->axes[i].eigen : NULL;
    }
    e.first = l->cut ? (uint64_t)l->whole.share.first * l->axes[0].step : 0;
    lines<MODE>
        <<<lat_cuda_blocks(a->lines, (unsigned)a->lanes), THREADS, shared_bytes(a), l->stream>>>(
            *a, e, (double2 *)v);
    return cudaGetLastError();
}

/* The axes before the last one. */
template <int MODE> static int transform_slices(const lat_laplace_gpu *l, double *v)
{
    cudaError_t e = cudaSuccess;
    for (int mu = 0; mu < l->last && !e; mu++)
        e = l->used[mu] ? launch<MODE>(l, mu, v) : cudaSuccess;
    return lat_cuda_failed(e, what);
}

int lat_laplace_gpu_invert(lat_laplace_gpu *l, double *v)
{
    double *const lines_of = l->cut ? (double *)l->whole.window.mine : v;
    if (transform_slices<0>(l, v) || (l->cut && lat_cuda_lines_to(&l->whole, v))
        || lat_cuda_failed(launch<1>(l, l->last, lines_of), what)
        || (l->cut && lat_cuda_lines_from(&l->whole, v)))
        return -1;
    return transform_slices<2>(l, v);
}
