/* SPDX-License-Identifier: BSD-3-Clause */
/* gauss_gpu.cu: Gaussian smearing on a GPU. A thread is a spin of a column at a site; spins of all
 * columns of a site lie side by side, and read its links together. */
#include "grid/cuda_device.cuh"
#include "grid/cuda_tuning.h"
#include <stdlib.h>
extern "C" {
#include "dirac/gauss_gpu.h"
#include "grid/staging.h"
}

#define THREADS 192

static const char smearing[] = "Gaussian smearing";

static int failed(cudaError_t e) { return lat_cuda_failed(e, smearing); }

struct lat_gauss_gpu {
    const lat_cuda_device *dev;
    size_t psi_bytes, link_bytes; /* that are there: */
    double *psi[2], *links;       /* on the device; links [site][x, y, z][2 N N] of a slice, */
    double *host;                 /* and on the host */
};

/* ---- kernel ---------------------------------------------------------------------------------- */

typedef struct step_args {
    uint32_t extent[3], spins; /* of a site: 4 a column */
    double keep, a;            /* to = keep from + a sum of hops */
    const double *links;
    const double2 *from; /* [site][spin][colour] */
    double2 *to;
} step_args;

/* sum += U v, or U^+ v. */
template <int N, bool DAGGER>
__device__ __forceinline__ void add_product(double2 sum[N], const double2 *u, const double2 *from)
{
    double2 v[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        v[j] = from[j];
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            const double2 z = __ldg(DAGGER ? u + j * N + i : u + i * N + j);
            const double im = DAGGER ? -z.y : z.y;
            sum[i].x += z.x * v[j].x - im * v[j].y;
            sum[i].y += z.x * v[j].y + im * v[j].x;
        }
}

template <int N>
static __global__ void __launch_bounds__(THREADS) gauss_step(const __grid_constant__ step_args a)
{
    const uint32_t X = a.extent[0], Y = a.extent[1], Z = a.extent[2];
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t site = (uint32_t)(k / a.spins), spin = (uint32_t)(k % a.spins);
    if (site >= X * Y * Z)
        return;
    const uint32_t x = site % X, y = site / X % Y, z = site / X / Y;
    const uint32_t up[3] = {x + 1 == X ? site - x : site + 1, y + 1 == Y ? site - y * X : site + X,
                            z + 1 == Z ? site - z * X * Y : site + X * Y},
                   down[3] = {x ? site - 1 : site + X - 1, y ? site - X : site + (Y - 1) * X,
                              z ? site - X * Y : site + (Z - 1) * X * Y};
    const double2 *const links = (const double2 *)a.links;
    double2 sum[N] = {};
#pragma unroll
    for (int mu = 0; mu < 3; mu++) {
        add_product<N, false>(sum, links + (3 * (size_t)site + mu) * N * N,
                              a.from + ((size_t)up[mu] * a.spins + spin) * N);
        add_product<N, true>(sum, links + (3 * (size_t)down[mu] + mu) * N * N,
                             a.from + ((size_t)down[mu] * a.spins + spin) * N);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        const double2 v = a.from[k * N + i];
        a.to[k * N + i] = make_double2(a.keep * v.x + a.a * sum[i].x,
                                       a.keep * v.y + a.a * sum[i].y);
    }
}

static int step(const step_args *a, int nc, cudaStream_t stream)
{
    const uint64_t threads = (uint64_t)a->extent[0] * a->extent[1] * a->extent[2] * a->spins;
    return failed(lat_cuda_start(false, nc == 3 ? gauss_step<3> : gauss_step<2>,
                                 lat_cuda_blocks(threads, THREADS), THREADS, stream, *a));
}

/* ---- host and device ------------------------------------------------------------------------- */

static int put_links(lat_gauss_gpu *g, const lat_field *u, int t)
{
    const size_t sites = lat_slice_sites(&u->head);
    lat_stage_space_links(u, sites * (size_t)t, sites, g->host);
    return lat_cuda_transfer(g->dev, true, g->links, g->host, g->link_bytes, smearing);
}

/* ---- what others call ------------------------------------------------------------------------ */

lat_gauss_gpu *lat_gauss_gpu_open(lat_device *dev)
{
    lat_gauss_gpu *g = (lat_gauss_gpu *)lat_alloc_zero(1, sizeof *g, smearing);
    if (g)
        g->dev = lat_cuda_device_of(dev);
    return g;
}

static void release(lat_gauss_gpu *g)
{
    lat_cuda_free(g->psi[0]);
    lat_cuda_free(g->psi[1]);
    lat_cuda_free(g->links);
    free(g->host);
    g->psi[0] = g->psi[1] = g->links = g->host = NULL;
    g->psi_bytes = g->link_bytes = 0;
}

void lat_gauss_gpu_close(lat_gauss_gpu *g)
{
    if (!g)
        return;
    if (g->psi_bytes) /* else no GPU is woken */
        release(g);
    free(g);
}

static int reserve(lat_gauss_gpu *g, size_t psi, size_t links)
{
    static const char what[] = "a smeared slice";
    if (g->psi_bytes == psi && g->link_bytes == links)
        return 0;
    release(g);
    if (lat_cuda_malloc((void **)&g->psi[0], psi, what)
        || lat_cuda_malloc((void **)&g->psi[1], psi, what)
        || lat_cuda_malloc((void **)&g->links, links, what)
        || !(g->host = (double *)lat_alloc(1, links, what))) {
        release(g);
        return -1;
    }
    g->psi_bytes = psi;
    g->link_bytes = links;
    return 0;
}

int lat_gauss_gpu_slice(lat_gauss_gpu *g, const lat_field *u, int t, double width, int steps,
                        int columns, double *psi)
{
    const int n = u->head.nc, *const d = u->head.geom.dims;
    const size_t sites = lat_slice_sites(&u->head), link = 2 * (size_t)(n * n) * sizeof(double),
                 bytes = sites * (size_t)columns * 8 * (size_t)n * sizeof(double);
    const double a = width * width / (4 * steps);
    if (reserve(g, bytes, 3 * sites * link) || put_links(g, u, t)
        || lat_cuda_transfer(g->dev, true, g->psi[0], psi, bytes, smearing))
        return -1;
    for (int i = 0; i < steps; i++) {
        const step_args args = {{(uint32_t)d[0], (uint32_t)d[1], (uint32_t)d[2]},
                                4 * (uint32_t)columns,
                                1 - 6 * a,
                                a,
                                g->links,
                                (const double2 *)g->psi[i % 2],
                                (double2 *)g->psi[1 - i % 2]};
        if (step(&args, n, g->dev->stream))
            return -1;
    }
    return lat_cuda_transfer(g->dev, false, g->psi[steps % 2], psi, bytes, smearing);
}
