/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_nocuda.c: stands in for spinor_gpu.cu, dirac_gpu.cu, temporal_gpu.cu, gauss_gpu.cu,
 * and mirror_gpu.cu where CUDA was not built; no GPU can be opened there. */
#include "dirac.h"
#include "gauss_gpu.h"
#include "mirror.h"
#include "temporal.h"

const lat_spinor_ops lat_spinor_gpu = {.open = NULL};
const lat_dirac_ops lat_dirac_gpu = {.open = NULL};

int lat_temporal_to_gpu(lat_temporal *t, lat_device *dev)
{
    (void)t;
    (void)dev;
    return -1;
}

int lat_temporal_on_gpu(lat_temporal *t, lat_device *dev, const lat_geometry *lattice,
                        const double *there)
{
    (void)t, (void)dev, (void)lattice, (void)there;
    return -1;
}

void lat_temporal_gpu_close(lat_temporal *t) { (void)t; }

lat_gauss_gpu *lat_gauss_gpu_open(lat_device *dev)
{
    (void)dev;
    return NULL;
}

void lat_gauss_gpu_close(lat_gauss_gpu *g) { (void)g; }

int lat_gauss_gpu_slice(lat_gauss_gpu *g, const lat_field *u, int t, double width, int steps,
                        int columns, double *psi)
{
    (void)g, (void)u, (void)t, (void)width, (void)steps, (void)columns, (void)psi;
    return -1;
}

bool lat_mirror_takes(const lat_device *dev, const lat_header *head)
{
    (void)dev, (void)head;
    return false;
}

lat_mirror *lat_mirror_open(lat_device *dev, const lat_header *head)
{
    (void)dev, (void)head;
    return NULL;
}

void lat_mirror_close(lat_mirror *m) { (void)m; }

bool lat_mirror_fits(const lat_mirror *m, const lat_header *head)
{
    (void)m, (void)head;
    return false;
}

int lat_mirror_take(lat_mirror *m, lat_spinor_space *s, const lat_spinor_part *p,
                    const lat_dfield *x, const int *object)
{
    (void)m, (void)s, (void)p, (void)x, (void)object;
    return -1;
}

int lat_mirror_lend(lat_mirror *m, lat_async *reader)
{
    (void)m, (void)reader;
    return -1;
}

int lat_mirror_begin(lat_mirror *m, size_t held)
{
    (void)m, (void)held;
    return -1;
}

const void *lat_mirror_bytes(void *mirror, size_t from, size_t n, size_t done)
{
    (void)mirror, (void)from, (void)n, (void)done;
    return NULL;
}

int lat_mirror_get(lat_mirror *m, lat_field *host)
{
    (void)m, (void)host;
    return -1;
}

const double *lat_mirror_data(const lat_mirror *m)
{
    (void)m;
    return NULL;
}
