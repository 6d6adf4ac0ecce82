/* SPDX-License-Identifier: BSD-3-Clause */
/* temporal_gpu.cu: host matrices to a GPU: links, and the transformation to the temporal gauge. */
#include "vector/cuda/cuda_space.cuh"
#include "vector/cuda/cuda_host.cuh"
#include <float.h>
#include <math.h>
extern "C" {
#include "site/sun.h"
#include "grid/staging.h"
#include "vector/temporal.h"
}

#define THREADS 128

static int failed(cudaError_t e) { return lat_cuda_failed(e, "links"); }

/* u[site][mu][18] of `held` sites, ghosts too, become G(x) U_mu(x) G(x+mu)^+, g[site][18]
 * (temporal.h). unit: links of t are 1 but on the last of `slices` slices of the lattice, of which
 * number `first` is the first one here. */
static __global__ void rotate_links(const __grid_constant__ lat_gpu_sites s, const double *g,
                                    bool unit, uint32_t first, uint32_t slices, size_t held,
                                    double *u)
{
    const size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x, site = n / 4;
    const int mu = (int)(n % 4);
    if (site >= held)
        return;
    const uint32_t after = s.extent[3];
    uint32_t x[4];
    held_coordinates(s, site, x);
    const uint32_t t = (first + (x[3] > after ? slices - 1 : x[3])) % slices;
    double *const link = u + n * 18, v[18], m[18];
    if (mu == 3 && unit && t + 1 != slices) {
        lat_sun_one(3, link);
        return;
    }
    if (s.ghosts >> mu & 1 && x[mu] == s.extent[mu]) /* nobody reads it; what follows is not here */
        return;
    x[mu] = one_step(s, mu, x[mu], false);
    lat_sun_mul(3, v, g + site * 18, link);
    lat_sun_mul_dag(3, m, v, g + held_of(s, x) * 18);
    for (int k = 0; k < 18; k++)
        link[k] = m[k];
}

int lat_gpu_rotate_links(const lat_gpu_space *s, bool unit, size_t held, double *all)
{
    const lat_grid *grid = s->space.grid;
    if (!s->space.temporal)
        return 0;
    return failed(lat_cuda_start(false, rotate_links, lat_cuda_blocks(4 * held, THREADS), THREADS,
                                 lat_gpu_stream(&s->space), s->sites,
                                 (const double *)s->space.temporal->device, unit,
                                 grid->box.first[3], grid->spec.lattice.dims[3], held, all));
}

int lat_temporal_to_gpu(lat_temporal *t, lat_device *dev)
{
    double *g = NULL;
    const int rc = lat_cuda_upload_links(lat_cuda_device_of(dev), &t->g, &g);
    t->device = g;
    lat_field_free(&t->g);
    return rc;
}

/* The largest of numbers that `launch` gives to atomicMax, as bits: none is negative, and NaN is
 * beyond them all. */
template <class Launch>
static int largest(const lat_cuda_device *dev, double *most, const char *what, Launch launch)
{
    unsigned long long *bits = NULL;
    int rc = lat_cuda_malloc((void **)&bits, sizeof *bits, what)
             || failed(cudaMemsetAsync(bits, 0, sizeof *bits, dev->stream));
    if (!rc) {
        rc = failed(launch(bits))
             || failed(
                 cudaMemcpyAsync(most, bits, sizeof *most, cudaMemcpyDeviceToHost, dev->stream))
             || failed(cudaStreamSynchronize(dev->stream));
    }
    lat_cuda_free(bits);
    return rc ? -1 : 0;
}

/* A thread a link. */
static __global__ void last_rows(const double *links, size_t n, unsigned long long *most)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double u[18], v[18], m[18], off = 0;
    for (int k = 0; k < 18; k++)
        u[k] = links[i * 18 + k];
    lat_sun_dag(3, v, u);
    for (int dagger = 0; dagger < 2; dagger++) {
        const double *const w = dagger ? v : u;
        for (int k = 0; k < 12; k++)
            m[k] = w[k];
        lat_sun_last_row(3, m);
        for (int k = 12; k < 18; k++) {
            const double d = fabs(m[k] - w[k]);
            off = off != off || d <= off ? off : d;
        }
    }
    const unsigned long long bits = (unsigned long long)__double_as_longlong(off);
    if (bits > *(volatile unsigned long long *)most) /* else it would change nothing */
        atomicMax(most, bits);
}

int lat_gpu_last_rows(const lat_cuda_device *dev, const double *links, size_t n, double *most)
{
    return largest(dev, most, "links", [&](unsigned long long *bits) {
        return lat_cuda_start(0, last_rows, lat_cuda_blocks(n, THREADS), THREADS, dev->stream,
                              links, n, bits);
    });
}

/* G of a slice's site, from slice to slice, as temporal.c makes it, to the last bit (-fmad=false in
 * the Makefile); off: bits of the largest element of |G U_t G^+ - 1|. */
static __global__ void march(const double *links, size_t sites, size_t slices, double *g,
                             unsigned long long *off)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sites)
        return;
    double a[18], v[18], m[18], one[18], most = 0;
    lat_sun_one(3, a);
    for (size_t t = 0; t < slices; t++) {
        for (int k = 0; k < 18; k++)
            g[(t * sites + i) * 18 + k] = a[k];
        if (t + 1 == slices)
            break;
        for (int k = 0; k < 18; k++)
            v[k] = links[((t * sites + i) * 4 + 3) * 18 + k];
        lat_sun_mul(3, m, a, v);
        for (int k = 0; k < 18; k++)
            v[k] = m[k];
        if (lat_sun_gram_schmidt(3, m))
            most = HUGE_VAL;
        lat_sun_mul_dag(3, one, v, m);
        for (int k = 0; k < 18; k++) {
            const double d = fabs(one[k] - (k % 8 == 0));
            most = d <= most ? most : d <= DBL_MAX ? d : HUGE_VAL;
            a[k] = m[k];
        }
    }
    atomicMax(off, (unsigned long long)__double_as_longlong(most));
}

int lat_temporal_on_gpu(lat_temporal *t, lat_device *dev, const lat_geometry *lattice,
                        const double *there)
{
    const lat_cuda_device *const c = lat_cuda_device_of(dev);
    const size_t slices = (size_t)lattice->dims[3], sites = lat_volume(lattice) / slices;
    return lat_cuda_malloc(&t->device, sites * slices * LAT_STAGE_LINK * sizeof(double),
                           "the temporal gauge")
                   || largest(c, &t->off, "the temporal gauge",
                              [&](unsigned long long *off) {
                                  return lat_cuda_start(0, march, lat_cuda_blocks(sites, 64), 64,
                                                        c->stream, there, sites, slices,
                                                        (double *)t->device, off);
                              })
               ? -1
               : 0;
}

void lat_temporal_gpu_close(lat_temporal *t)
{
    if (t->device) /* else no GPU is woken */
        lat_cuda_free(t->device);
}
