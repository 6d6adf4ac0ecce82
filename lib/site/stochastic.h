/* SPDX-License-Identifier: BSD-3-Clause */
/* stochastic.h: stochastic relaxation of one site (template, see real.h): with probability p the
 * update is the reflection about the maximum instead of the overrelaxed maximum; it leaves the
 * functional (arXiv:1212.5221, section 2.2.5). Scheme su2: each hit decides for itself. Scheme su3:
 * the site decides, and all its hits are reflections then, because for a whole SU(N) element there
 * is no reflection that leaves the functional. */

/* Uniform number n of a site update, n rising from 0. A draw gives four, which `u` keeps from call
 * to call. */
LAT_HOST_DEVICE LAT_T LAT_(next_uniform)(const LAT_(rng) *rng, uint32_t n, LAT_T u[4])
{
    if (n % 4 == 0)
        LAT_(uniforms)(rng, n / 4, u);
    return u[n % 4];
}

/* h, the maximum, becomes h^omega or, where u < p, h^2, the reflection of 1 about it. */
LAT_HOST_DEVICE void LAT_(overrelax_or_reflect)(LAT_T h[4], LAT_T omega, LAT_T p, LAT_T u)
{
    LAT_T reflected[4];
    for (int i = 0; i < 4; i++)
        reflected[i] = h[i];
    LAT_(su2_square)(reflected);
    LAT_(hit_power)(h, omega);
    for (int i = 0; i < 4; i++)
        h[i] = LAT_(where_gt)(p, u, reflected[i], h[i]);
}

/* *g <- other where u < p. */
LAT_HOST_DEVICE void LAT_(select)(LAT_(m) *g, const LAT_(m) *other, LAT_T p, LAT_T u)
{
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            g->e[a][b].re = LAT_(where_gt)(p, u, other->e[a][b].re, g->e[a][b].re);
            g->e[a][b].im = LAT_(where_gt)(p, u, other->e[a][b].im, g->e[a][b].im);
        }
}

/* One site update, Landau and Coulomb gauge: x = g K (landau.h), p the probability. */
LAT_HOST_DEVICE void LAT_(stochastic_su2)(LAT_(m) *g, LAT_(m) x, LAT_T omega, LAT_T p,
                                          const LAT_(rng) *rng)
{
    LAT_T u[4];
    uint32_t n = 0;
    LAT_FOR_PAIRS (a, b) {
        LAT_T h[4];
        LAT_(hit_axis)(&x, a, b, h);
        LAT_(hit_unit)(h);
        LAT_(overrelax_or_reflect)(h, omega, p, LAT_(next_uniform)(rng, n++, u));
        LAT_(hit_apply)(&x, a, b, h);
        LAT_(hit_apply)(g, a, b, h);
    }
    LAT_(orthonormal)(g);
}

LAT_HOST_DEVICE void LAT_(stochastic_sun)(LAT_(m) *g, LAT_(m) x, LAT_T omega, LAT_T p,
                                          const LAT_(rng) *rng)
{
    LAT_T u[4];
    LAT_(m) reflected = *g;
    LAT_(heat)(&reflected, x, LAT_(set)(1), LAT_UPDATE_MICROCANONICAL, rng);
    LAT_(relax_sun)(g, x, omega);
    LAT_(select)(g, &reflected, p, LAT_(next_uniform)(rng, 0, u));
}

/* The same in maximally Abelian gauge; m: X_i of the first `count` columns (mag.h). */
LAT_HOST_DEVICE void LAT_(mag_stochastic_su2)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T omega,
                                              LAT_T p, const LAT_(rng) *rng)
{
    LAT_T u[4];
    uint32_t n = 0;
    LAT_FOR_PAIRS (a, b) {
        LAT_T h[4];
        LAT_(mag_hit)(&m, a, b, count, h);
        LAT_(overrelax_or_reflect)(h, omega, p, LAT_(next_uniform)(rng, n++, u));
        LAT_(mag_apply)(&m, a, b, count, h);
        LAT_(hit_apply)(g, a, b, h);
    }
    LAT_(orthonormal)(g);
}

LAT_HOST_DEVICE void LAT_(mag_stochastic_sun)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T omega,
                                              LAT_T p, const LAT_(rng) *rng)
{
    LAT_T u[4];
    LAT_(m) reflected = *g;
    LAT_(mag_heat)(&reflected, m, count, LAT_(set)(1), LAT_UPDATE_MICROCANONICAL, rng);
    LAT_(mag_relax_sun)(g, m, count, omega);
    LAT_(select)(g, &reflected, p, LAT_(next_uniform)(rng, 0, u));
}
