/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_dirac.h: the Dirac operator as docs/format.md and lib/dirac/dirac.h define it, in a few
 * plain loops: complex numbers, explicit gamma matrices, one rank. For check_dirac and
 * bench_dirac. */
#pragma once

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "fields.h"
#include "lattice/fermion.h"

/* Complex products without C's tests for infinities, which take most of the time. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("cx-limited-range")
#endif

typedef double complex cd;

/* gamma_x, gamma_y, gamma_z, gamma_t, gamma5 */
static const cd plain_gamma[5][4][4] = {{{0, 0, 0, I}, {0, 0, I, 0}, {0, -I, 0, 0}, {-I, 0, 0, 0}},
                                        {{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}},
                                        {{0, 0, I, 0}, {0, 0, 0, -I}, {-I, 0, 0, 0}, {0, I, 0, 0}},
                                        {{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}},
                                        {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}}};

typedef struct plain {
    const lat_field *u;
    lat_fermion f;
    bool traceless;
    cd (*site)[12][12]; /* A of each site, by plain_keep; or NULL */
} plain;

static inline int plain_spins(const plain *p) { return 4 * p->u->head.nc; }

static inline size_t plain_reals(const plain *p)
{
    return lat_volume(&p->u->head.geom) * (size_t)plain_spins(p) * 2;
}

/* The phase of a hop from x along mu. */
static inline cd plain_phase(const plain *p, size_t x, int mu, int step)
{
    int at[LAT_MAX_DIMS];
    const lat_phase b = p->f.boundary[mu];
    lat_coordinates(&p->u->head.geom, x, at);
    const int T = p->u->head.geom.dims[mu], first = at[mu], second = (first + T + step) % T;
    if (b.open && (first == 0 || first == T - 1 || second == 0 || second == T - 1))
        return 0;
    if (first != (step > 0 ? T - 1 : 0))
        return 1;
    return b.dirichlet ? 0 : cexp(I * M_PI * b.theta * step);
}

/* m = m U_mu(x), or m U_mu(x-mu)^+; returns where it leads. */
static inline size_t plain_walk(const plain *p, size_t x, int mu, int step, cd m[3][3])
{
    const int n = p->u->head.nc;
    const size_t to = lat_neighbour(&p->u->head.geom, x, mu, step);
    cd u[3][3], r[3][3] = {{0}};
    double v[LAT_SUN_REALS];
    lat_field_get(p->u, (step > 0 ? x : to) * 4 + (size_t)mu, v);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            u[i][j] = v[2 * (i * n + j)] + I * v[2 * (i * n + j) + 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                r[i][j] += m[i][k] * (step > 0 ? u[k][j] : conj(u[j][k]));
    memcpy(m, r, sizeof r);
    return to;
}

static inline void plain_one(cd m[3][3])
{
    for (int i = 0; i < 9; i++)
        m[i / 3][i % 3] = i % 4 == 0;
}

/* out = D in on all sites, or D^+: the sum in brackets of dirac.h. */
static inline void plain_hop(const plain *p, bool dagger, const cd *in, cd *out)
{
    const int n = p->u->head.nc;
    const size_t volume = lat_volume(&p->u->head.geom);
    for (size_t x = 0; x < volume; x++) {
        cd *o = memset(out + x * 4 * (size_t)n, 0, sizeof(cd) * 4 * (size_t)n);
        for (int k = 0; k < 8; k++) {
            const int mu = k / 2, step = k % 2 ? -1 : 1;
            cd u[3][3], h[4][3] = {{0}};
            plain_one(u);
            const size_t y = plain_walk(p, x, mu, step, u);
            const cd w = plain_phase(p, x, mu, step) * (mu < 3 ? p->f.nu / p->f.xi : 1);
            for (int s = 0; s < 4; s++)
                for (int a = 0; a < n; a++)
                    for (int b = 0; b < n; b++)
                        h[s][a] += w * u[a][b] * in[(y * 4 + (size_t)s) * (size_t)n + (size_t)b];
            for (int s = 0; s < 4; s++)
                for (int r = 0; r < 4; r++)
                    for (int a = 0; a < n; a++)
                        o[s * n + a] += ((s == r) - (dagger ? -step : step) * plain_gamma[mu][s][r])
                                        * h[r][a];
        }
    }
}

/* F_munu(x) */
static inline void plain_strength(const plain *p, size_t x, int mu, int nu, cd f[3][3])
{
    const int n = p->u->head.nc;
    static const int turn[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}; /* mu, nu, -mu, -nu */
    cd s[3][3] = {{0}}, trace = 0;
    for (int leaf = 0; leaf < 4; leaf++) {
        cd m[3][3];
        size_t y = x;
        plain_one(m);
        for (int k = 0; k < 4; k++) {
            const int *t = turn[(leaf + k) % 4];
            y = t[0] ? plain_walk(p, y, mu, t[0], m) : plain_walk(p, y, nu, t[1], m);
        }
        for (int i = 0; i < 9; i++)
            s[i / 3][i % 3] += m[i / 3][i % 3];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            f[i][j] = -I * (s[i][j] - conj(s[j][i])) / 8;
    for (int i = 0; i < n; i++)
        trace += f[i][i] / n;
    for (int i = 0; i < n && p->traceless; i++)
        f[i][i] -= trace;
}

/* A at x, [row][column] of 4N; dagger: A^+. */
static inline void plain_diagonal(const plain *p, size_t x, bool dagger, cd a[12][12])
{
    const int n = p->u->head.nc;
    if (p->site) {
        for (int i = 0; i < 144; i++)
            a[i / 12][i % 12] = dagger ? conj(p->site[x][i % 12][i / 12])
                                       : p->site[x][i / 12][i % 12];
        return;
    }
    memset(a, 0, 144 * sizeof(cd));
    int at[LAT_MAX_DIMS];
    lat_coordinates(&p->u->head.geom, x, at);
    const int T = p->u->head.geom.dims[3];
    const bool edge = p->f.boundary[3].open && T > 2 && (at[3] == 1 || at[3] == T - 2);
    for (int i = 0; i < 4 * n; i++)
        a[i][i] = 1 + 3 * p->f.nu / p->f.xi + p->f.mass + (edge ? p->f.cf - 1 : 0)
                  + I * (dagger ? -1 : 1) * p->f.twist * plain_gamma[4][i / n][i / n];
    for (int mu = 0; mu < 4; mu++)
        for (int nu = mu + 1; nu < 4; nu++) {
            const double csw = nu == 3 ? p->f.csw_t : p->f.csw / p->f.xi;
            cd f[3][3], sigma[4][4] = {{0}};
            if (csw == 0)
                continue;
            plain_strength(p, x, mu, nu, f);
            for (int i = 0; i < 64; i++)
                sigma[i / 16][i / 4 % 4] +=
                    I / 2
                    * (plain_gamma[mu][i / 16][i % 4] * plain_gamma[nu][i % 4][i / 4 % 4]
                       - plain_gamma[nu][i / 16][i % 4] * plain_gamma[mu][i % 4][i / 4 % 4]);
            for (int i = 0; i < 4 * n; i++)
                for (int j = 0; j < 4 * n; j++)
                    a[i][j] -= csw / 2 * sigma[i / n][j / n] * f[i % n][j % n];
        }
}

/* Computes A once for all calls; the caller frees p->site. */
static inline void plain_keep(plain *p)
{
    const size_t volume = lat_volume(&p->u->head.geom);
    cd(*site)[12][12] = calloc(volume, sizeof *site);
    need(site != NULL, "the diagonal");
    for (size_t x = 0; x < volume; x++)
        plain_diagonal(p, x, false, site[x]);
    p->site = site;
}

/* b becomes a^-1 b; a is destroyed. The logarithm of |det a|. */
static inline double plain_solve(int n, cd a[12][12], cd *b)
{
    double log_det = 0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++)
            if (cabs(a[i][k]) > cabs(a[best][k]))
                best = i;
        for (int j = 0; j < n; j++) {
            const cd t = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = t;
        }
        const cd t = b[k];
        b[k] = b[best];
        b[best] = t;
        log_det += log(cabs(a[k][k]));
        for (int i = 0; i < n; i++) {
            const cd q = a[i][k] / a[k][k];
            if (i == k)
                continue;
            for (int j = k; j < n; j++)
                a[i][j] -= q * a[k][j];
            b[i] -= q * b[k];
        }
    }
    for (int k = 0; k < n; k++)
        b[k] /= a[k][k];
    return log_det;
}

/* out = A in on all sites, A^+, or their inverses. */
static inline void plain_block(const plain *p, bool inverse, bool dagger, const cd *in, cd *out)
{
    const int n = plain_spins(p);
    for (size_t x = 0; x < lat_volume(&p->u->head.geom); x++) {
        cd a[12][12];
        const cd *from = in + x * (size_t)n;
        cd *to = out + x * (size_t)n;
        plain_diagonal(p, x, dagger, a);
        for (int i = 0; i < n; i++) {
            to[i] = inverse ? from[i] : 0;
            for (int j = 0; j < n && !inverse; j++)
                to[i] += a[i][j] * from[j];
        }
        if (inverse)
            plain_solve(n, a, to);
    }
}

/* out = M in, or M^+ in. */
static inline void plain_full(const plain *p, bool dagger, const cd *in, cd *out)
{
    const size_t n = plain_reals(p) / 2;
    cd *h = malloc(n * sizeof *h);
    need(h != NULL, "a spinor");
    plain_hop(p, dagger, in, h);
    plain_block(p, false, dagger, in, out);
    for (size_t i = 0; i < n; i++)
        out[i] -= h[i] / 2;
    free(h);
}

static inline int plain_parity(const plain *p, size_t x)
{
    int at[LAT_MAX_DIMS];
    lat_coordinates(&p->u->head.geom, x, at);
    return (at[0] + at[1] + at[2] + at[3]) & 1;
}

/* Zero on the sites of the other parity. */
static inline void plain_only(const plain *p, int parity, cd *v)
{
    const size_t n = (size_t)plain_spins(p);
    for (size_t x = 0; x < lat_volume(&p->u->head.geom); x++)
        if (plain_parity(p, x) != parity)
            memset(v + x * n, 0, n * sizeof *v);
}

/* The Schur complement on sites of a parity, or its adjoint. */
static inline void plain_schur(const plain *p, bool symmetric, bool dagger, int parity,
                               const cd *in, cd *out)
{
    const size_t n = plain_reals(p) / 2;
    cd *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    need(a && b, "spinors");
    memcpy(a, in, n * sizeof *a);
    plain_only(p, parity, a);
    memcpy(out, a, n * sizeof *a);
    if (!symmetric)
        plain_block(p, false, dagger, a, out);
    if (symmetric && dagger) {
        plain_block(p, true, true, a, b);
        memcpy(a, b, n * sizeof *a);
    }
    plain_hop(p, dagger, a, b);
    plain_only(p, 1 - parity, b);
    plain_block(p, true, dagger, b, a);
    plain_hop(p, dagger, a, b);
    plain_only(p, parity, b);
    if (symmetric && !dagger) {
        plain_block(p, true, false, b, a);
        memcpy(b, a, n * sizeof *a);
    }
    for (size_t i = 0; i < n; i++)
        out[i] -= b[i] / 4;
    free(a);
    free(b);
}
