/* SPDX-License-Identifier: BSD-3-Clause */
/* gauss.c: Gaussian smearing, a slice at a time. The four spins of a spinor are the lanes of a
 * vector: [colour][re, im][spin]. */
#include "gauss.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "lattice/iterate.h"

typedef double spins __attribute__((vector_size(32)));

typedef struct job {
    const lat_field *u;
    size_t first; /* the own site with which the slice begins */
    int columns;
    double a;
    const spins *from;
    spins *to;
} job;

/* to += U from, or U^+ from, of N colours. */
LAT_INLINE void hop(int n, const double *u, bool dagger, int columns, spins *to, const spins *from)
{
    for (int k = 0; k < columns; k++, to += 2 * n, from += 2 * n)
        for (int i = 0; i < n; i++) {
            spins re = to[2 * i], im = to[2 * i + 1];
            for (int j = 0; j < n; j++) {
                const double *z = dagger ? u + 2 * (j * n + i) : u + 2 * (i * n + j);
                const double s = dagger ? -z[1] : z[1];
                re += z[0] * from[2 * j] - s * from[2 * j + 1];
                im += z[0] * from[2 * j + 1] + s * from[2 * j];
            }
            to[2 * i] = re;
            to[2 * i + 1] = im;
        }
}

/* A step at sites from .. to-1 of the slice. Links are scaled by a. */
LAT_INLINE void sites(const job *j, size_t from, size_t to, int n)
{
    const size_t each = (size_t)j->columns * 2 * (size_t)n;
    const double keep = 1 - 6 * j->a;
    lat_iterator w;
    for (lat_iterator_start(&w, j->u, j->first + from); w.site < j->first + to;
         lat_iterator_next(&w)) {
        spins *out = j->to + (w.site - j->first) * each;
        const spins *in = j->from + (w.site - j->first) * each;
        for (size_t i = 0; i < each; i++)
            out[i] = keep * in[i];
        for (int mu = 0; mu < 3; mu++) {
            const size_t up = lat_iterator_up(&w, mu), down = lat_iterator_down(&w, mu);
            double m[LAT_SUN_REALS];
            lat_load(j->u, w.site * 4 + (size_t)mu, n, m);
            for (int i = 0; i < 2 * n * n; i++)
                m[i] *= j->a;
            hop(n, m, false, j->columns, out, j->from + (up - j->first) * each);
            lat_load(j->u, down * 4 + (size_t)mu, n, m);
            for (int i = 0; i < 2 * n * n; i++)
                m[i] *= j->a;
            hop(n, m, true, j->columns, out, j->from + (down - j->first) * each);
        }
    }
}

LAT_INLINE void sites_any(const job *j, size_t from, size_t to)
{
    switch (j->u->head.nc) {
    case 2: sites(j, from, to, 2); break;
    case 3: sites(j, from, to, 3); break;
    default: sites(j, from, to, j->u->head.nc);
    }
}

typedef void sites_fn(const job *j, size_t from, size_t to);

static void sites_base(const job *j, size_t from, size_t to) { sites_any(j, from, to); }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void sites_avx2(const job *j, size_t from, size_t to)
{
    sites_any(j, from, to);
}

__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))) static void sites_avx512(const job *j,
                                                                                       size_t from,
                                                                                       size_t to)
{
    sites_any(j, from, to);
}
#endif

static sites_fn *const kinds[] = LAT_ISA_EACH(sites_, );

/* [spin][2N] of each spinor to [2N][spin], or back. */
static void transpose(int n, size_t spinors, double *to, const double *from, bool back)
{
    const int rows = back ? 2 * n : 4, columns = back ? 4 : 2 * n;
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < spinors; s++)
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < columns; k++)
                to[s * 8 * (size_t)n + (size_t)(k * rows + i)] =
                    from[s * 8 * (size_t)n + (size_t)(i * columns + k)];
}

int lat_gauss_slice(const lat_field *u, int t, double width, int steps, int columns, double *psi)
{
    const int n = u->head.nc;
    const size_t slice = lat_slice_sites(&u->head), each = 8 * (size_t)n * (size_t)columns;
    double *a = lat_alloc(slice * each, sizeof *a, "a smeared slice");
    double *b = lat_alloc(slice * each, sizeof *b, "a smeared slice");
    sites_fn *const run = kinds[lat_isa_widest()];
    for (int i = 0; a && b && i < steps; i++) {
        if (i == 0)
            transpose(n, slice * (size_t)columns, a, psi, false);
        const job j = {u,
                       slice * (size_t)t,
                       columns,
                       width * width / (4 * steps),
                       (spins *)(i % 2 ? b : a),
                       (spins *)(i % 2 ? a : b)};
#pragma omp parallel for schedule(static)
        for (size_t from = 0; from < slice; from += 64)
            run(&j, from, from + 64 < slice ? from + 64 : slice);
    }
    if (a && b && steps > 0)
        transpose(n, slice * (size_t)columns, psi, steps % 2 ? b : a, true);
    const int rc = a && b ? 0 : -1;
    free(a);
    free(b);
    return rc;
}
