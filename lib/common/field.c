/* SPDX-License-Identifier: BSD-3-Clause */
/* field.c: a field in host memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "field.h"

int lat_field_alloc(lat_field *f)
{
    /* Not one page is touched: a header may promise what never arrives. */
    f->data = lat_alloc(lat_field_reals(f), (size_t)f->head.real, "a field");
    return f->data ? 0 : -1;
}

void lat_field_free(lat_field *f)
{
    free(f->data);
    f->data = NULL;
    lat_header_free(&f->head);
}

void lat_field_get(const lat_field *f, size_t i, double *m)
{
    size_t n = 2 * (size_t)f->head.nc * (size_t)f->head.nc;
    if (f->head.real == LAT_F64) {
        memcpy(m, (const double *)f->data + i * n, n * sizeof *m);
        return;
    }
    const float *from = (const float *)f->data + i * n;
    for (size_t k = 0; k < n; k++)
        m[k] = (double)from[k];
}

void lat_field_put(lat_field *f, size_t i, const double *m)
{
    size_t n = 2 * (size_t)f->head.nc * (size_t)f->head.nc;
    if (f->head.real == LAT_F64) {
        memcpy((double *)f->data + i * n, m, n * sizeof *m);
        return;
    }
    float *to = (float *)f->data + i * n;
    for (size_t k = 0; k < n; k++)
        to[k] = (float)m[k];
}

int lat_field_convert(lat_field *f, lat_real real)
{
    if (real == f->head.real)
        return 0;
    size_t n = lat_field_reals(f);
    void *data = lat_alloc(n, (size_t)real, "a field in the other precision");
    if (!data)
        return -1;
    if (real == LAT_F64) {
        const float *from = f->data;
        double *to = data;
        #pragma omp parallel for schedule(static) if (n > 100000)
        for (size_t k = 0; k < n; k++)
            to[k] = (double)from[k];
    } else {
        const double *from = f->data;
        float *to = data;
        #pragma omp parallel for schedule(static) if (n > 100000)
        for (size_t k = 0; k < n; k++)
            to[k] = (float)from[k];
        /* Rounding moves these by up to 1e-7: they are measured again when written. */
        f->head.plaquette = f->head.link_trace = NAN;
    }
    free(f->data);
    f->data = data;
    f->head.real = real;
    return 0;
}
