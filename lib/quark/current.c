/* SPDX-License-Identifier: BSD-3-Clause */
/* current.c: the conserved vector current between two legs. */
#include "current.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lattice/iterate.h"
#include "site/sun.h"
#include "slice_sum.h"

typedef struct job {
    const lat_current *c;
    int t;
    const double *second;
} job;

/* to = z from, of a spinor or a propagator */
static void multiply(size_t reals, const double z[2], double *v)
{
    for (size_t i = 0; i < reals; i += 2) {
        const double re = v[i];
        v[i] = z[0] * re - z[1] * v[i + 1];
        v[i + 1] = z[0] * v[i + 1] + z[1] * re;
    }
}

/* z *= e^{-2 pi i n x / L} */
static void wind(double n, int x, int L, double z[2])
{
    double f[2];
    lat_momentum_phase(n, x, L, f);
    multiply(2, f, z);
}

/* e^{-ipx} at global x. */
static void wave(const lat_header *head, const double n[4], const int x[4], double z[2])
{
    z[0] = 1;
    z[1] = 0;
    for (int mu = 0; mu < 4; mu++)
        wind(n[mu], x[mu], head->geom.dims[mu], z);
}

/* b(x): [re, im][left index][right index]. */
static void load_left(const job *j, const int x[4], const double *s, double *b)
{
    const lat_header *head = &j->c->first->head;
    const int nc = head->nc, n = 4 * nc;
    double z[2];
    wave(head, j->c->n2, x, z);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            const double sign = (i < n / 2) == (k < n / 2) ? 1 : -1;
            const double re = s[2 * (i * n + k)], im = s[2 * (i * n + k) + 1];
            b[i * n + k] = sign * (z[0] * re - z[1] * im);
            b[n * n + i * n + k] = -sign * (z[0] * im + z[1] * re);
        }
}

/* h[re, im][spin, colour][column] += - way (w/2) (1 - way gamma_mu) U e^{i way p_mu} a(y), of the
 * neighbour y one step `way` along mu. */
static void add_hop(const job *j, int mu, int way, const int y[4], size_t site, const double *link,
                    double *h)
{
    const lat_field *f = j->c->first;
    const lat_header *head = &f->head;
    const int nc = head->nc, n = 4 * nc;
    const double w = mu < 3 ? head->quark.fermion.nu / head->quark.fermion.xi : 1;
    double z[2], psi[8 * LAT_MAX_COLOURS], rotated[8 * LAT_MAX_COLOURS];
    wave(head, j->c->n1, y, z);
    wind(-.5 * (j->c->n1[mu] + j->c->n2[mu]), way, head->geom.dims[mu], z);
    multiply(2, (double[2]){-way * w / 2, 0}, z);
    for (int col = 0; col < n; col++) {
        lat_field_get(f, site * (size_t)n + (size_t)col, psi);
        lat_gamma_apply(lat_gamma_of(1 << mu), nc, rotated, psi);
        for (int i = 0; i < 2 * n; i++)
            rotated[i] = psi[i] - way * rotated[i];
        multiply(2 * (size_t)n, z, rotated);
        for (int s = 0; s < 4; s++)
            for (int a = 0; a < nc; a++) {
                const double *from = rotated + 2 * s * nc;
                double re = 0, im = 0;
                for (int c = 0; c < nc; c++) {
                    const double *e = link + 2 * (way > 0 ? a * nc + c : c * nc + a);
                    const double v = way * e[1];
                    re += e[0] * from[2 * c] - v * from[2 * c + 1];
                    im += e[0] * from[2 * c + 1] + v * from[2 * c];
                }
                h[(s * nc + a) * n + col] += re;
                h[n * n + (s * nc + a) * n + col] += im;
            }
    }
}

/* g += b h, all with real and imaginary parts apart. */
LAT_INLINE void add_product(int n, const double *b, const double *h, double *g)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            const double re = b[i * n + k], im = b[n * n + i * n + k];
            const double *hr = h + k * n, *hi = hr + n * n;
            double *gr = g + i * n, *gi = gr + n * n;
            for (int c = 0; c < n; c++) {
                gr[c] += re * hr[c] - im * hi[c];
                gi[c] += re * hi[c] + im * hr[c];
            }
        }
}

/* Site w->site of the rank; sum: four matrices [re, im][left][right]. */
static void add_site(const job *j, const lat_iterator *w, const double *s, double *work,
                     double *sum)
{
    const lat_header *head = &j->c->first->head;
    const int first = lat_field_slab(j->c->first).first, nc = head->nc, n = 4 * nc;
    double *b = work, *h = work + 2 * n * n, link[LAT_SUN_REALS];
    int x[4];
    memcpy(x, w->x, sizeof x);
    x[3] += first;
    load_left(j, x, s, b);
    for (int mu = 0; mu < 4; mu++, sum += 2 * n * n) {
        const int L = head->geom.dims[mu];
        memset(h, 0, 2 * (size_t)(n * n) * sizeof *h);
        for (int way = 1; way >= -1; way -= 2) {
            const size_t next = way > 0 ? lat_iterator_up(w, mu) : lat_iterator_down(w, mu);
            int y[4];
            if (!lat_phase_hops(head->quark.fermion.boundary[mu], x[mu], L, way))
                continue;
            memcpy(y, x, sizeof y);
            y[mu] = (x[mu] + way + L) % L;
            lat_load(j->c->links, (way > 0 ? w->site : next) * 4 + (size_t)mu, nc, link);
            add_hop(j, mu, way, y, next, link, h);
        }
        if (n == 12)
            add_product(12, b, h, sum);
        else
            add_product(n, b, h, sum);
    }
}

/* work: b, and the hop of a, [re, im] apart. */
static void add_sites(const void *with, size_t from, size_t to, double *work, double *sum)
{
    const job *j = with;
    const size_t leg = lat_leg_reals(j->c->first->head.nc),
                 start = (size_t)j->t * lat_slice_sites(&j->c->first->head);
    lat_iterator w;
    for (lat_iterator_start(&w, j->c->first, start + from); w.site < start + to;
         lat_iterator_next(&w))
        add_site(j, &w, j->second + (w.site - start) * leg, work, sum);
}

/* Sums of matrices to legs, [right][left][re, im]. */
static void as_legs(int n, const double *sum, double *out)
{
    for (int mu = 0; mu < 4; mu++, sum += 2 * n * n, out += 2 * n * n)
        for (int i = 0; i < n; i++)
            for (int c = 0; c < n; c++) {
                out[2 * (c * n + i)] += sum[i * n + c];
                out[2 * (c * n + i) + 1] += sum[n * n + i * n + c];
            }
}

int lat_current_slice(const lat_current *c, int t, const double *second, double *out)
{
    const int nc = c->first->head.nc;
    const size_t leg = lat_leg_reals(nc);
    const job j = {.c = c, .t = t, .second = second};
    double *sum = lat_alloc(4 * leg, sizeof *sum, "sums over sites");
    const int rc = sum ? lat_slice_sum(lat_slice_sites(&c->first->head), 4 * leg, 2 * leg,
                                       add_sites, &j, sum)
                       : -1;
    if (rc == 0) {
        memset(out, 0, lat_current_reals(nc) * sizeof *out);
        as_legs(4 * nc, sum, out);
    }
    free(sum);
    return rc;
}
