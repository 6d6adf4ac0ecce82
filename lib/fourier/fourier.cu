/* SPDX-License-Identifier: BSD-3-Clause */
/* fourier.cu: Fourier transforms by cuFFT, in double precision.
 *
 * cuFFT knows three dimensions at most. Of four the first three are transformed slice by slice, in
 * one call, and then the last one, whose numbers lie half a slice apart. */
#include <cufft.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include "grid/cuda_device.cuh"
extern "C" {
#include "fourier.h"
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define LIBRARY "libcufft.so." TEXT(CUFFT_VER_MAJOR)

static struct {
    void *library;
    decltype(&cufftPlanMany) plan_many;
    decltype(&cufftExecD2Z) real_to_complex;
    decltype(&cufftExecZ2Z) complex_to_complex;
    decltype(&cufftDestroy) destroy;
} fft;

struct lat_fourier {
    size_t sites, half;
    cufftHandle slices, last; /* the last direction of four */
    bool planned, four;
    double *a; /* on the device: the field, its transform */
    cufftDoubleComplex *f;
};

static void *find(void *library, const char *name)
{
    void *f = dlsym(library, name);
    if (!f)
        lat_fail("Fourier transforms on the GPU: %s without %s", LIBRARY, name);
    return f;
}

static int load(void)
{
    if (fft.library)
        return 0;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return lat_fail("Fourier transforms on the GPU: %s not found", LIBRARY);
    if (!(fft.plan_many = (decltype(fft.plan_many))find(library, "cufftPlanMany"))
        || !(fft.real_to_complex = (decltype(fft.real_to_complex))find(library, "cufftExecD2Z"))
        || !(fft.complex_to_complex = (decltype(fft.complex_to_complex))find(library,
                                                                             "cufftExecZ2Z"))
        || !(fft.destroy = (decltype(fft.destroy))find(library, "cufftDestroy")))
        return -1;
    fft.library = library;
    return 0;
}

static int failed(cufftResult r, const char *what)
{
    return r == CUFFT_SUCCESS ? 0
                              : lat_fail("GPU: %s: cuFFT's error %d%s", what, (int)r,
                                         r == CUFFT_ALLOC_FAILED ? ", out of memory" : "");
}

/* Extents as cuFFT has them: slowest first. */
static int plan(lat_fourier *c, int nd, const int *extent)
{
    const int inner = nd < 4 ? nd : 3, slices = nd < 4 ? 1 : extent[3];
    const size_t half = c->half / (size_t)slices;
    int n[3], last = slices;
    for (int i = 0; i < inner; i++)
        n[i] = extent[inner - 1 - i];
    if (c->sites / (size_t)slices > INT_MAX)
        return lat_fail("Fourier transforms on the GPU: expected slices of at most %d sites",
                        INT_MAX);
    if (failed(fft.plan_many(&c->slices, inner, n, NULL, 1, 0, NULL, 1, 0, CUFFT_D2Z, slices),
               "planning a Fourier transform"))
        return -1;
    c->planned = true;
    c->four = nd == 4
              && !failed(fft.plan_many(&c->last, 1, &last, &last, (int)half, 1, &last, (int)half, 1,
                                       CUFFT_Z2Z, (int)half),
                         "planning a Fourier transform");
    return nd == 4 && !c->four ? -1 : 0;
}

lat_fourier *lat_fourier_new(int nd, const int *extent)
{
    const lat_device_options any = {};
    if (!lat_cuda_available(&any, &lat_comm_self) || load())
        return NULL;
    lat_fourier *c = (lat_fourier *)lat_alloc_zero(1, sizeof *c, "a Fourier transform");
    if (!c)
        return NULL;
    c->sites = 1;
    for (int i = 0; i < nd; i++)
        c->sites *= (size_t)extent[i];
    c->half = c->sites / (size_t)extent[0] * ((size_t)extent[0] / 2 + 1);
    if (lat_cuda_malloc((void **)&c->a, c->sites * sizeof *c->a, "a field")
        || lat_cuda_malloc((void **)&c->f, c->half * sizeof *c->f, "its Fourier transform")
        || plan(c, nd, extent)) {
        lat_fourier_free(c);
        return NULL;
    }
    return c;
}

void lat_fourier_free(lat_fourier *c)
{
    if (!c)
        return;
    if (c->planned)
        fft.destroy(c->slices);
    if (c->four)
        fft.destroy(c->last);
    lat_cuda_free(c->a);
    lat_cuda_free(c->f);
    free(c);
}

int lat_fourier_run(lat_fourier *c, const double *a, double *transform)
{
    if (lat_cuda_failed(cudaMemcpy(c->a, a, c->sites * sizeof *c->a, cudaMemcpyHostToDevice),
                        "copying a field there")
        || failed(fft.real_to_complex(c->slices, c->a, c->f), "a Fourier transform")
        || (c->four
            && failed(fft.complex_to_complex(c->last, c->f, c->f, CUFFT_FORWARD),
                      "a Fourier transform")))
        return -1;
    return lat_cuda_failed(
        cudaMemcpy(transform, c->f, c->half * sizeof *c->f, cudaMemcpyDeviceToHost),
        "copying a transform back");
}
