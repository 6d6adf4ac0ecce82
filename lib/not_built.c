/* SPDX-License-Identifier: BSD-3-Clause */
/* not_built.c: stands in for what is not built on this machine: GPU code, and what needs a library.
 * The Makefile defines LAT_HAS_CUDA and the like for what is there. No GPU can be opened without
 * CUDA: most of these are never called. */
#include "base/build.h"
#include "base/error.h"
#include "comm/comm_internal.h"
#include "dirac/dirac.h"
#include "fix/fix_internal.h"
#include "flow/flow_internal.h"
#include "fourier/fourier.h"
#include "fourier/laplace.h"
#include "generate/generate_internal.h"
#include "loops/loops_device.h"
#include "grid/grid_internal.h"
#include "multigrid/ops.h"

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
void lat_gpu_give_back(void) {}
int lat_gpu_check_memory(double bytes, const char *what) { return -1; }
double lat_gpu_copy_bandwidth(size_t bytes) { return -1; }

const lat_fix_device lat_fix_gpu = {.open = NULL};
const lat_generate_device lat_generate_gpu = {.open = NULL};
const lat_flow_device lat_flow_gpu = {.open = NULL};
const lat_loops_device lat_loops_gpu = {.open = NULL};
const lat_vector_ops lat_vector_gpu = {.open = NULL};
const lat_dirac_ops lat_dirac_gpu = {.open = NULL};
const lat_mg_ops lat_multigrid_gpu = {.alloc = NULL};

/* What only those who have opened a GPU call: each name stands for one of these two. */
static int refused(void) { return lat_fail(NO_GPU); }
static void *nothing(void) { return NULL; } /* false, too */
#define REFUSED(name) int name(void) __attribute__((alias("refused")));
#define NOTHING(name) void *name(void) __attribute__((alias("nothing")));

/* clang-format off */
REFUSED(lat_temporal_to_gpu) REFUSED(lat_temporal_on_gpu) NOTHING(lat_temporal_gpu_close)

NOTHING(lat_gauss_gpu_open) NOTHING(lat_gauss_gpu_close) REFUSED(lat_gauss_gpu_slice)

NOTHING(lat_mirror_takes) NOTHING(lat_mirror_open) NOTHING(lat_mirror_close)
NOTHING(lat_mirror_fits) REFUSED(lat_mirror_take) REFUSED(lat_mirror_lend)
REFUSED(lat_mirror_begin) NOTHING(lat_mirror_bytes) REFUSED(lat_mirror_get)
NOTHING(lat_mirror_data)

NOTHING(lat_plain_gpu_new) NOTHING(lat_plain_gpu_free) NOTHING(lat_plain_gpu_links)
REFUSED(lat_plain_gpu_residual) REFUSED(lat_laplace_gpu_check)

NOTHING(lat_ghost_gpu_new) NOTHING(lat_ghost_gpu_free) NOTHING(lat_ghost_gpu_alloc)
NOTHING(lat_ghost_gpu_release) REFUSED(lat_ghost_gpu_copy) REFUSED(lat_ghost_gpu_zero)
REFUSED(lat_ghost_gpu_fetch) REFUSED(lat_ghost_gpu_take) NOTHING(lat_ghost_gpu_upload)
REFUSED(lat_ghost_gpu_over) REFUSED(lat_ghost_gpu_invert) REFUSED(lat_ghost_gpu_source)
/* clang-format on */
#endif
