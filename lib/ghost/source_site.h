/* SPDX-License-Identifier: BSD-3-Clause */
/* source_site.h: the value of a source at a site (template), one text for CPU and GPU: source.c and
 * ghost_kernels.cuh are made of it. */

/* Of column k at the site of coordinates x along our axes of extents dims; wave: ghost_gpu.h. */
LAT_INLINE double source_at(const OPERATOR *m, const lat_ghost_sources *c, const double *wave,
                            const int *dims, const int *x, int k)
{
    double re = 1, im = 0;
    bool here = true;
    for (int d = 0; d < m->directions; d++) {
        const int i = m->direction[d], n = c->n[k][d];
        const long j = (long)n * x[i] % dims[i];
        const double *w = wave + 2 * (c->first[d] + j), r = re * w[0] - im * w[1];
        im = re * w[1] + im * w[0];
        re = r;
        here = here && x[i] == n;
    }
    switch (c->what[k]) {
    case LAT_GHOST_ZERO: return 0;
    case LAT_GHOST_COS: return re;
    case LAT_GHOST_SIN: return im;
    case LAT_GHOST_POINT: return (here ? 1 : 0) - c->constant;
    }
    return 0;
}
