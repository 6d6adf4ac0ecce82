/* SPDX-License-Identifier: BSD-3-Clause */
/* smearer.c: a slice to the GPU, if there is one and it can do it. */
#include "smearer.h"

#include "quark/gauss.h"

/* A step of a spinor takes a core some 100 ns; a GPU takes .3 s to start. */
#define STEPS_OF_A_START 3e7

static int smear(void *with, const lat_field *u, int t, double width, int steps, int columns,
                 double *psi)
{
    const lat_smearer *m = with;
    return lat_gauss_gpu_takes(u->head.nc)
               ? lat_gauss_gpu_slice(m->gpu, u, t, width, steps, columns, psi)
               : lat_gauss_slice(u, t, width, steps, columns, psi);
}

int lat_smearer_serve(lat_smearer *m, lat_source *s, lat_device *device)
{
    if (!device->gpu)
        return 0;
    if (!m->gpu && !(m->gpu = lat_gauss_gpu_open(device)))
        return -1;
    lat_source_smear_by(s, smear, m);
    return 0;
}

int lat_smearer_open(lat_smearer *m, lat_source *s, const lat_device_options *o,
                     const lat_comm *comm, double spinors)
{
    const double steps = lat_source_gauss_steps(s) * spinors;
    if (steps == 0 || (o->choice == LAT_DEVICE_AUTO && !o->gpus && steps < STEPS_OF_A_START))
        return 0;
    if (!m->own && !(m->own = lat_device_open(o, comm)))
        return -1;
    return lat_smearer_serve(m, s, m->own);
}

void lat_smearer_end(lat_smearer *m)
{
    lat_gauss_gpu_close(m->gpu);
    lat_device_close(m->own);
    *m = (lat_smearer){0};
}
