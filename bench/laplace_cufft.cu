/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_cufft: the inverse Laplacian of lib/fourier/laplace_gpu.h beside the same by cuFFT, on a
 * GPU, and what loading cuFFT takes. bench/history/fourier.md has the numbers.
 *
 *     nvcc -O3 -arch=sm_90 -Ilib bench/laplace_cufft.cu build/gcc/liblat.a ... -lcufft
 *     laplace_cufft EXTENT REALS [single]
 *
 * cuFFT has one to three dimensions, and its batches one stride: fields side by side are
 * transformed axis by axis, x y z in one plan with the fields as the fastest index, t in another
 * one. */
#include <cufft.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
extern "C" {
#include "base/error.h"
#include "comm/comm.h"
#include "fourier/laplace_gpu.h"
#include "grid/device.h"
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "laplace_cufft: %s: %s\n", what, lat_error());
    exit(1);
}

template <class C>
static __global__ void divide(C *v, const decltype(C::x) *eigen, int extent, int pairs, size_t all)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= all)
        return;
    size_t site = i / (size_t)pairs;
    decltype(C::x) e = 0;
    for (int mu = 0; mu < 4; mu++) {
        e += eigen[site % (size_t)extent];
        site /= (size_t)extent;
    }
    const decltype(C::x) f = e > 0 ? (decltype(C::x))(pairs / (double)all) / e : 0;
    v[i].x *= f;
    v[i].y *= f;
}

template <class C> struct by_cufft {
    cufftHandle space, time;
    decltype(C::x) *eigen;
    int extent, pairs;
    size_t all;

    void open(int extent_, int pairs_, cudaStream_t stream)
    {
        extent = extent_;
        pairs = pairs_;
        const int slice = extent * extent * extent * pairs;
        all = (size_t)slice * (size_t)extent;
        int n[3] = {extent, extent, extent};
        const cufftType type = sizeof(C) == 8 ? CUFFT_C2C : CUFFT_Z2Z;
        /* for each slice a plan of its own call: the batch is the fields */
        need(cufftPlanMany(&space, 3, n, n, pairs, 1, n, pairs, 1, type, pairs) == CUFFT_SUCCESS,
             "a plan");
        need(cufftPlanMany(&time, 1, n, n, slice, 1, n, slice, 1, type, slice) == CUFFT_SUCCESS,
             "a plan");
        cufftSetStream(space, stream);
        cufftSetStream(time, stream);
        decltype(C::x) *host = (decltype(C::x) *)malloc((size_t)extent * sizeof *host);
        for (int k = 0; k < extent; k++)
            host[k] = (decltype(C::x))(4 * pow(sin(M_PI * k / extent), 2));
        need(cudaMalloc(&eigen, (size_t)extent * sizeof *host) == cudaSuccess, "memory");
        cudaMemcpy(eigen, host, (size_t)extent * sizeof *host, cudaMemcpyHostToDevice);
        free(host);
    }

    static bool run(cufftHandle plan, float2 *v, int way)
    {
        return cufftExecC2C(plan, (cufftComplex *)v, (cufftComplex *)v, way) == CUFFT_SUCCESS;
    }
    static bool run(cufftHandle plan, double2 *v, int way)
    {
        return cufftExecZ2Z(plan, (cufftDoubleComplex *)v, (cufftDoubleComplex *)v, way)
               == CUFFT_SUCCESS;
    }

    void invert(C *v, cudaStream_t stream)
    {
        bool good = true;
        for (int t = 0; t < extent; t++)
            good = good && run(space, v + (size_t)t * (all / (size_t)extent), CUFFT_FORWARD);
        good = good && run(time, v, CUFFT_FORWARD);
        divide<<<(unsigned)((all + 255) / 256), 256, 0, stream>>>(v, eigen, extent, pairs, all);
        good = good && run(time, v, CUFFT_INVERSE);
        for (int t = 0; t < extent; t++)
            good = good && run(space, v + (size_t)t * (all / (size_t)extent), CUFFT_INVERSE);
        need(good, "a transform");
    }
};

template <class C> static void compare(lat_device *dev, int extent, int reals, bool single)
{
    const size_t all = (size_t)extent * extent * extent * extent * (size_t)reals / 2;
    const lat_geometry geom = {4, {extent, extent, extent, extent}};
    const double weight[4] = {1, 1, 1, 1};
    C *host = (C *)malloc(all * sizeof(C)), *other = (C *)malloc(all * sizeof(C)), *a, *b;
    for (size_t i = 0; i < all; i++) {
        host[i].x = (decltype(C::x))(rand() / (double)RAND_MAX - .5);
        host[i].y = (decltype(C::x))(rand() / (double)RAND_MAX - .5);
    }
    need(cudaMalloc(&a, all * sizeof(C)) == cudaSuccess
             && cudaMalloc(&b, all * sizeof(C)) == cudaSuccess,
         "memory");
    cudaMemcpy(a, host, all * sizeof(C), cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, all * sizeof(C), cudaMemcpyHostToDevice);
    lat_laplace_gpu *l = lat_laplace_gpu_new(dev, &geom, weight, reals, single, 1);
    need(l != NULL, "lines");
    by_cufft<C> c;
    const double start = now();
    c.open(extent, reals / 2, 0);
    cudaDeviceSynchronize();
    const double planned = now() - start;
    need(lat_laplace_gpu_invert(l, a, NULL) == 0, "lines");
    c.invert(b, 0);
    cudaDeviceSynchronize();
    cudaMemcpy(host, a, all * sizeof(C), cudaMemcpyDeviceToHost);
    cudaMemcpy(other, b, all * sizeof(C), cudaMemcpyDeviceToHost);
    double off = 0, most = 0, best[2] = {1e9, 1e9};
    for (size_t i = 0; i < all; i++) {
        off = fmax(off, fabs((double)host[i].x - (double)other[i].x));
        most = fmax(most, fabs((double)host[i].x));
    }
    for (int k = 0; k < 15; k++)
        for (int which = 0; which < 2; which++) {
            const double from = now();
            if (which)
                c.invert(b, 0);
            else
                need(lat_laplace_gpu_invert(l, a, NULL) == 0, "lines");
            cudaDeviceSynchronize();
            best[which] = fmin(best[which], now() - from);
        }
    printf("%d^4, %d reals, %s: differ by %.1g of %.1g; lines %.4f ms, cuFFT %.4f ms, plans %.1f "
           "ms\n",
           extent, reals, single ? "single" : "double", off, most, 1e3 * best[0], 1e3 * best[1],
           1e3 * planned);
    lat_laplace_gpu_free(l);
    cufftDestroy(c.space);
    cufftDestroy(c.time);
    cudaFree(a), cudaFree(b), cudaFree(c.eigen), free(host), free(other);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) /* the time to load cuFFT */
        return 0;
    const lat_device_options options = {LAT_DEVICE_GPU};
    lat_device *dev = lat_device_open(&options, &lat_comm_self);
    need(dev != NULL, "a GPU");
    const int extents[] = {8, 16, 24, 32};
    for (int extent : extents) {
        compare<float2>(dev, extent, 8, true);
        compare<double2>(dev, extent, 64, false);
        compare<double2>(dev, extent, 128, false);
    }
    return 0;
}
