/* SPDX-License-Identifier: BSD-3-Clause */
/* not_built.c: stands in for what is not built on this machine: GPU code, and what needs a library.
 * The Makefile defines LAT_HAS_CUDA and the like for what is there. No GPU can be opened without
 * CUDA: most of these are never called. */
#include "base/build.h"
#include "base/error.h"
#include "certify/plain_gpu.h"
#include "comm/comm_internal.h"
#include "dirac/dirac.h"
#include "dirac/gauss_gpu.h"
#include "vector/mirror.h"
#include "vector/temporal.h"
#include "fix/fix_internal.h"
#include "flow/flow_internal.h"
#include "fourier/fourier.h"
#include "fourier/laplace.h"
#include "fourier/laplace_gpu.h"
#include "fourier/laplace_single.h"
#include "generate/generate_internal.h"
#include "ghost/ghost_gpu.h"
#include "ghost/ghost_gpu.h"
#include "grid/bandwidth.h"
#include "grid/grid_internal.h"
#include "grid/memory.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* NULL, with this sentence. */
#define REFUSE(...) return lat_fail(__VA_ARGS__), NULL

#ifndef LAT_HAS_MPI /* comm_mpi.c */
const char *const lat_comm_mpi_options[] = {NULL};

const lat_comm *lat_comm_mpi(void)
{
    REFUSE("several ranks were launched, but this lat was built without MPI (%s)", lat_no_mpi);
}
#endif

#ifndef LAT_HAS_FFTW /* laplace.c */
const int lat_laplace_built = 0;

lat_laplace *lat_laplace_new(const lat_geometry *geom, const double *weight, int reals,
                             const lat_comm *comm)
{
    REFUSE("the inverse Laplacian needs FFTW, and this program was built without it");
}

void lat_laplace_free(lat_laplace *l) {}
int lat_laplace_invert(const lat_laplace *l, double *v) { return -1; }
#endif

#ifndef LAT_HAS_FFTWF /* laplace_single.c */
const int lat_laplace_single_built = 0;

lat_single_laplace *lat_single_laplace_new(const lat_geometry *geom, const double *weight,
                                           int reals, const lat_comm *comm)
{
    REFUSE("the inverse Laplacian in single precision needs FFTW (libfftw3f), and this program "
           "was built without it");
}

void lat_single_laplace_free(lat_single_laplace *l) {}
int lat_single_laplace_invert(const lat_single_laplace *l, float *v) { return -1; }
#endif

#ifndef LAT_HAS_CUFFT /* fourier.cu */
lat_fourier *lat_fourier_new(int nd, const int *extent)
{
    REFUSE("this lat was built without cuFFT (%s)", lat_no_cufft);
}

void lat_fourier_free(lat_fourier *f) {}
int lat_fourier_run(lat_fourier *f, const double *a, double *transform) { return -1; }
#endif

#ifndef LAT_HAS_CUDA
#define NO_GPU "GPU: built without CUDA"

/* grid */
bool lat_cuda_begin(const lat_device_options *options, const lat_comm *comm) { return false; }

bool lat_cuda_available(const lat_device_options *options, const lat_comm *comm)
{
    lat_fail("this lat was built without CUDA (%s)", lat_no_cuda);
    return false;
}

lat_device *lat_device_gpu(const lat_device_options *o, const lat_comm *comm) { return NULL; }
void lat_cuda_end(void) {}
double lat_gpu_free_bytes(void) { return -1; }
int lat_gpu_check_memory(double bytes, const char *what) { return -1; }
double lat_gpu_copy_bandwidth(size_t bytes) { return -1; }

/* fix, generate, flow, dirac */
const lat_fix_device lat_fix_gpu = {.open = NULL};
const lat_generate_device lat_generate_gpu = {.open = NULL};
const lat_flow_device lat_flow_gpu = {.open = NULL};
const lat_vector_ops lat_vector_gpu = {.open = NULL};
const lat_dirac_ops lat_dirac_gpu = {.open = NULL};

int lat_temporal_to_gpu(lat_temporal *t, lat_device *dev) { return -1; }
int lat_temporal_on_gpu(lat_temporal *t, lat_device *dev, const lat_geometry *lattice,
                        const double *there)
{
    return -1;
}
void lat_temporal_gpu_close(lat_temporal *t) {}

lat_gauss_gpu *lat_gauss_gpu_open(lat_device *dev) { return NULL; }
void lat_gauss_gpu_close(lat_gauss_gpu *g) {}
int lat_gauss_gpu_slice(lat_gauss_gpu *g, const lat_field *u, int t, double width, int steps,
                        int columns, double *psi)
{
    return -1;
}

bool lat_mirror_takes(const lat_device *dev, const lat_header *head) { return false; }
lat_mirror *lat_mirror_open(lat_device *dev, const lat_header *head) { return NULL; }
void lat_mirror_close(lat_mirror *m) {}
bool lat_mirror_fits(const lat_mirror *m, const lat_header *head) { return false; }
int lat_mirror_take(lat_mirror *m, lat_space *s, const lat_part *p, const lat_dfield *x,
                    const int *object)
{
    return -1;
}
int lat_mirror_lend(lat_mirror *m, lat_async *reader) { return -1; }
int lat_mirror_begin(lat_mirror *m, size_t held) { return -1; }
const void *lat_mirror_bytes(void *mirror, size_t from, size_t n, size_t done) { return NULL; }
int lat_mirror_get(lat_mirror *m, lat_field *host) { return -1; }
const double *lat_mirror_data(const lat_mirror *m) { return NULL; }

lat_plain_gpu *lat_plain_gpu_new(lat_device *dev, const lat_field *links, const lat_fermion *action)
{
    return NULL;
}
void lat_plain_gpu_free(lat_plain_gpu *m) {}
const double *lat_plain_gpu_links(const lat_plain_gpu *m) { return NULL; }
int lat_plain_gpu_residual(lat_plain_gpu *m, const double *x, const lat_field *b, int columns,
                           const int *column, double *residual)
{
    return -1;
}

/* fourier */
int lat_laplace_gpu_check(const lat_geometry *geom, bool single) { return lat_fail(NO_GPU); }

/* ghost, newton */
lat_ghost_gpu *lat_ghost_gpu_new(lat_device *dev, const lat_ghost_sites *s, const double *links)
{
    REFUSE(NO_GPU);
}
void lat_ghost_gpu_free(lat_ghost_gpu *g) {}
void *lat_ghost_gpu_alloc(size_t bytes, const char *what) { return NULL; }
void lat_ghost_gpu_release(void *v) {}
int lat_ghost_gpu_copy(lat_ghost_gpu *g, void *to, const void *from, size_t bytes) { return -1; }
int lat_ghost_gpu_zero(lat_ghost_gpu *g, void *v, size_t bytes) { return -1; }
int lat_ghost_gpu_fetch(lat_ghost_gpu *g, void *host, const void *from, size_t bytes) { return -1; }
int lat_ghost_gpu_take(const lat_dfield *sweeps, int copy, double *g) { return -1; }
double *lat_ghost_gpu_upload(lat_ghost_gpu *g, const lat_field *u) { return NULL; }
int lat_ghost_gpu_over(lat_ghost_gpu *g, lat_ghost_pass_name pass, const lat_ghost_call *c,
                       int numbers, double *sums)
{
    return -1;
}
int lat_ghost_gpu_invert(lat_ghost_gpu *g, double *v, const bool *idle) { return -1; }
int lat_ghost_gpu_source(lat_ghost_gpu *g, double *b, const lat_ghost_sources *c,
                         const double *wave)
{
    return -1;
}
#endif
