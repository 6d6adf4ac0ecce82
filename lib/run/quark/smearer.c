/* SPDX-License-Identifier: BSD-3-Clause */
/* smearer.c: a slice to the GPU, if there is one and it can do it. */
#include "smearer.h"

#include "base/error.h"

/* A step of a spinor takes a core some 100 ns: ten cores as long as it takes to start a GPU. */
#define LEAST_STEPS 3e7

static int smear(void *with, const lat_field *u, int t, double width, int steps, int columns,
                 double *psi)
{
    return lat_gauss_gpu_slice(((const lat_smearer *)with)->gpu, u, t, width, steps, columns, psi);
}

int lat_smearer_serve(lat_smearer *m, lat_source *s, int nc, lat_device *device)
{
    if (!device->gpu || !lat_gauss_gpu_takes(nc))
        return 0;
    if (!m->gpu && !(m->gpu = lat_gauss_gpu_open(device)))
        return -1;
    lat_source_smear_by(s, smear, m);
    return 0;
}

int lat_smearer_open(lat_smearer *m, lat_source *s, int nc, const lat_device_options *o,
                     const lat_comm *comm, double spinors)
{
    const bool chosen = o->choice == LAT_DEVICE_GPU || o->gpus, can = lat_gauss_gpu_takes(nc);
    if (chosen && !can)
        return lat_fail("SU(%d): expected SU(2) or SU(3) for Gaussian smearing on a GPU", nc);
    if (!can || (!chosen && lat_source_gauss_steps(s) * spinors < LEAST_STEPS))
        return 0;
    if (!m->own && !(m->own = lat_device_open(o, comm)))
        return -1;
    return lat_smearer_serve(m, s, nc, m->own);
}

void lat_smearer_end(lat_smearer *m)
{
    lat_gauss_gpu_close(m->gpu);
    lat_device_close(m->own);
    *m = (lat_smearer){0};
}
