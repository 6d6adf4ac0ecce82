/* SPDX-License-Identifier: BSD-3-Clause */
/* propagator.c: Fourier transforms of the gauge field, component by component. */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "fourier/fourier.h"
#include "grid/device.h"
#include "lattice/iterate.h"
#include "measure/measure.h"
#include "propagator.h"

/* Buffers and the plan of the Fourier transform of a slice. */
typedef struct work {
    double *a;           /* [sites] a real component of A_mu(x) */
    fftw_complex *f;     /* [half] its transform */
    double complex *s;   /* [half] sum_mu phat_mu A_mu(p) of it */
    double *all, *along; /* [half] sums over components, all slices: |A|^2 and |phat A|^2 */
    fftw_plan plan;
    lat_fourier *gpu; /* NULL: by the plan */
} work;

static void work_free(work *w)
{
    if (w->plan)
        fftw_destroy_plan(w->plan);
    lat_fourier_free(w->gpu);
    fftw_free(w->f);
    fftw_free(w->a);
    LAT_FREE(w->s, w->all, w->along);
}

/* CUDA starts in 0.3 s, and then saves 0.12 s for each 10^6 sites (bench/RESULTS.md). */
#define SITES_FOR_GPU 3000000

/* cuFFT with --device gpu, or where there is a GPU and the lattice is large enough; else FFTW. */
static int choose_fourier(work *w, const lat_gluon_momenta *m, const int *slowest_first,
                          lat_device_choice device)
{
    if (device == LAT_DEVICE_GPU
        || (device == LAT_DEVICE_AUTO && m->sites * m->slices >= SITES_FOR_GPU))
        w->gpu = lat_fourier_new(m->nd, m->extent);
    if (w->gpu || device == LAT_DEVICE_GPU)
        return w->gpu ? 0 : -1;
    lat_error_clear(); /* there is no GPU */
    w->plan = fftw_plan_dft_r2c(m->nd, slowest_first, w->a, w->f, FFTW_ESTIMATE);
    return w->plan ? 0 : lat_fail("out of memory: a Fourier transform of %zu sites", m->sites);
}

static int work_new(work *w, const lat_gluon_momenta *m, lat_device_choice device)
{
    int n[LAT_MAX_DIMS];
    for (int i = 0; i < m->nd; i++)
        n[i] = m->extent[m->nd - 1 - i]; /* FFTW: slowest first */
    *w = (work){.a = fftw_malloc(m->sites * sizeof *w->a),
                .f = fftw_malloc(m->half * sizeof *w->f)};
    w->s = lat_alloc(m->half, sizeof *w->s, "a divergence");
    w->all = lat_alloc_zero(m->half, sizeof *w->all, "a propagator");
    w->along = lat_alloc_zero(m->half, sizeof *w->along, "a propagator");
    if (!w->a || !w->f)
        lat_fail("out of memory: a Fourier transform of %zu sites", m->sites);
    if (!w->a || !w->f || !w->s || !w->all || !w->along || choose_fourier(w, m, n, device))
        return work_free(w), -1;
    return 0;
}

/* The site of the lattice that is number i of a slice. */
static size_t site_of(const lat_gluon_momenta *m, size_t slice, size_t i)
{
    int x[LAT_MAX_DIMS] = {0};
    for (int k = 0; k < m->nd; k++) {
        x[m->axis[k]] = (int)(i % (size_t)m->extent[k]);
        i /= (size_t)m->extent[k];
    }
    if (m->time >= 0)
        x[m->time] = (int)slice;
    return lat_site(&m->geom, x);
}

/* Element (i,j) of A_mu(x + mu/2) = (U - U^+)/(2i) - trace: its real part for i <= j, its imaginary
 * part for i > j (that of (j,i)). A is agA of the continuum up to order a^2 (Mandula, Ogilvie, PLB
 * 185 (1987) 127). */
LAT_INLINE double element(int n, const double *u, int i, int j)
{
    const double *a = u + 2 * (i * n + j), *b = u + 2 * (j * n + i);
    double trace = 0;
    for (int k = 0; i == j && k < n; k++)
        trace += u[2 * (k * n + k) + 1];
    return i <= j ? (a[1] + b[1]) / 2 - trace / n : (a[0] - b[0]) / 2;
}

static void load_slice(const lat_field *f, const lat_gluon_momenta *m, size_t slice, int mu, int i,
                       int j, double *a)
{
    const int n = f->head.nc;
    const size_t nd = (size_t)m->geom.nd;
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < m->sites; x++) {
        double u[LAT_SUN_REALS];
        lat_load(f, site_of(m, slice, x) * nd + (size_t)mu, n, u);
        a[x] = element(n, u, i, j);
    }
}

/* Adds a component of A_mu in this slice, whose transform is w->f, mu = m->axis[k]:
 * A_mu(p) = sum_x exp(-i p (x + mu/2)) A_mu(x + mu/2). */
static void add_direction(work *w, const lat_gluon_momenta *m, int k, double factor)
{
#pragma omp parallel for schedule(static)
    for (size_t h = 0; h < m->half; h++) {
        int n[LAT_MAX_DIMS];
        lat_gluon_momentum(m, h, n);
        const double p = 2 * M_PI * n[k] / m->extent[k];
        const double complex a = w->f[h] * cexp(-I * (p / 2));
        w->s[h] = (k > 0 ? w->s[h] : 0) + 2 * sin(p / 2) * a;
        w->all[h] += factor * (creal(a) * creal(a) + cimag(a) * cimag(a));
    }
}

/* The same component of A_mu(p) of all legs. A is Hermitian in position space, and A(-p) is
 * A(p)^+. */
static void add_to_legs(const work *w, const lat_gluon_momenta *m, lat_gluon_chosen *c, int nc,
                        int k, int i, int j)
{
    for (int leg = 0; leg < c->count; leg++) {
        double complex *a = c->a + (size_t)(leg * m->nd + k) * (size_t)(nc * nc);
        const double p = 2 * M_PI * c->n[leg][k] / m->extent[k];
        const double complex f = w->f[c->h[leg]],
                             v = (c->minus[leg] ? conj(f) : f) * cexp(-I * (p / 2));
        if (i == j) {
            a[i * nc + j] += v;
        } else if (i < j) {
            a[i * nc + j] += v;
            a[j * nc + i] += v;
        } else {
            a[j * nc + i] += I * v;
            a[i * nc + j] -= I * v;
        }
    }
}

/* tr A A^+ has the diagonal elements once, real and imaginary parts of the others twice. */
static int add_component(const lat_field *f, work *w, const lat_gluon_momenta *m,
                         lat_gluon_chosen *c, size_t slice, int i, int j, double *square)
{
    const double factor = i == j ? 1 : 2;
    for (int k = 0; k < m->nd; k++) {
        double sum = 0;
        load_slice(f, m, slice, m->axis[k], i, j, w->a);
        for (size_t x = 0; x < m->sites; x++)
            sum += w->a[x] * w->a[x];
        *square += factor * sum;
        if (!w->gpu)
            fftw_execute(w->plan);
        else if (lat_fourier_run(w->gpu, w->a, (double *)w->f))
            return -1;
        add_direction(w, m, k, factor);
        if (c)
            add_to_legs(w, m, c, f->head.nc, k, i, j);
    }
#pragma omp parallel for schedule(static)
    for (size_t h = 0; h < m->half; h++)
        w->along[h] += factor * (creal(w->s[h]) * creal(w->s[h]) + cimag(w->s[h]) * cimag(w->s[h]));
    return 0;
}

static int count_colours(int nc, int colours)
{
    return colours == LAT_GLUON_DIAGONAL       ? nc - 1
           : colours == LAT_GLUON_OFF_DIAGONAL ? nc * nc - nc
                                               : nc * nc - 1;
}

/* D and L of every momentum into its orbit: with C colours, N^2 - 1 (2 tr T^a T^b = delta^ab),
 *     L = 2 sum |phat A|^2 / phat^2 / (C V), D = (2 sum |A|^2 / (C V) - L) /
 * polarisations, which are nd - 1; nd at p = 0, where nothing is longitudinal. */
static void into_orbits(const work *w, lat_gluon_momenta *m, int colours, lat_gluon_sums *s)
{
    const double volume = (double)m->sites, scale = 2 / (colours * volume * (double)m->slices);
    for (size_t h = 0; h < m->half; h++) {
        lat_gluon_orbit *o = &m->orbit[m->of[h]];
        int n[LAT_MAX_DIMS];
        lat_gluon_momentum(m, h, n);
        const double members = (double)lat_gluon_weight(m, n);
        const double l = o->phat2 > 0 ? scale * w->along[h] / o->phat2 : 0;
        const double d = (scale * w->all[h] - l) / (o->phat2 > 0 ? m->nd - 1 : m->nd);
        o->d += members * d;
        o->d2 += members * d * d;
        o->l += members * l;
        s->divergence += members * w->along[h];
    }
    for (size_t i = 0; i < m->orbits; i++) {
        lat_gluon_orbit *o = &m->orbit[i];
        const double members = (double)o->members;
        o->d /= members;
        o->l /= members;
        o->error = o->independent > 1
                       ? sqrt(fmax(o->d2 / members - o->d * o->d, 0) / (double)(o->independent - 1))
                       : NAN;
        if (m->nd == 1 && o->phat2 > 0)
            o->d = o->error = NAN; /* nothing is transverse in one dimension */
    }
}

int lat_gluon_measure(const lat_field *f, lat_gluon_momenta *m, lat_gluon_chosen *c,
                      lat_gluon_colours colours, lat_device_choice device, lat_gluon_sums *s)
{
    const int nc = f->head.nc;
    double plaquette, square = 0;
    work w;
    *s = (lat_gluon_sums){0, 0, 0};
    if (lat_measure_plaquette(f, &plaquette, &s->link_trace) || work_new(&w, m, device))
        return -1;
    for (size_t i = 0; i < m->orbits; i++)
        m->orbit[i].d = m->orbit[i].d2 = m->orbit[i].l = 0;
    if (c)
        memset(c->a, 0, (size_t)c->count * (size_t)(m->nd * nc * nc) * sizeof *c->a);
    int rc = 0;
    for (size_t slice = 0; slice < m->slices; slice++)
        for (int i = 0; i < nc; i++)
            for (int j = 0; rc == 0 && j < nc; j++)
                if (colours == LAT_GLUON_ALL || (i == j) == (colours == LAT_GLUON_DIAGONAL))
                    rc = add_component(f, &w, m, c, slice, i, j, &square);
    if (rc == 0)
        into_orbits(&w, m, count_colours(nc, colours), s);
    work_free(&w);
    if (rc)
        return -1;
    s->square = 2 * square
                / (count_colours(nc, colours) * (double)m->sites * (double)m->slices * m->nd);
    return 0;
}

/* theta of the gauge condition is 4 / (N V) sum_x tr |div A|^2, and a sum over momenta by
 * Parseval's equation. */
double lat_gluon_theta(const lat_gluon_momenta *m, int nc, const lat_gluon_sums *s)
{
    const double sites = (double)m->sites;
    return 4 * s->divergence / (nc * sites * sites * (double)m->slices);
}
