/* SPDX-License-Identifier: BSD-3-Clause */
/* stochastic.h: stochastic relaxation (template, see real.h): with probability p a hit goes to the
 * mirror image beyond the maximum, at the same functional, instead of the overrelaxed maximum
 * (gauge-fixing paper, section 2.2). With `su2` every hit decides for itself, with `su3` a visit,
 * all of whose hits are then mirrored: the whole element has no mirror image of the same
 * functional. */

/* Number n of the visit; four of them come from a draw. `u` keeps a draw between calls. */
LAT_HOST_DEVICE LAT_T LAT_(next_uniform)(const LAT_(rng) *d, uint32_t n, LAT_T u[4])
{
    if (n % 4 == 0)
        LAT_(uniforms)(d, n / 4, u);
    return u[n % 4];
}

/* h, the maximum, overrelaxed or, where u < p, mirrored. */
LAT_HOST_DEVICE void LAT_(overrelax_or_mirror)(LAT_T h[4], LAT_T omega, LAT_T p, LAT_T u)
{
    LAT_T mirror[4];
    for (int i = 0; i < 4; i++)
        mirror[i] = h[i];
    LAT_(su2_square)(mirror);
    LAT_(hit_power)(h, omega);
    for (int i = 0; i < 4; i++)
        h[i] = LAT_(where_gt)(p, u, mirror[i], h[i]);
}

/* *g <- other where u < p. */
LAT_HOST_DEVICE void LAT_(choose)(LAT_(m) *g, const LAT_(m) *other, LAT_T p, LAT_T u)
{
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            g->e[a][b].re = LAT_(where_gt)(p, u, other->e[a][b].re, g->e[a][b].re);
            g->e[a][b].im = LAT_(where_gt)(p, u, other->e[a][b].im, g->e[a][b].im);
        }
}

/* One visit, Landau and Coulomb gauge. */
LAT_HOST_DEVICE void LAT_(stochastic_su2)(LAT_(m) *g, LAT_(m) x, LAT_T omega, LAT_T p,
                                          const LAT_(rng) *d)
{
    LAT_T u[4];
    uint32_t n = 0;
    LAT_FOR_PAIRS (a, b) {
        LAT_T h[4];
        LAT_(hit_axis)(&x, a, b, h);
        LAT_(hit_unit)(h);
        LAT_(overrelax_or_mirror)(h, omega, p, LAT_(next_uniform)(d, n++, u));
        LAT_(hit_apply)(&x, a, b, h);
        LAT_(hit_apply)(g, a, b, h);
    }
    LAT_(orthonormal)(g);
}

LAT_HOST_DEVICE void LAT_(stochastic_sun)(LAT_(m) *g, LAT_(m) x, LAT_T omega, LAT_T p,
                                          const LAT_(rng) *d)
{
    LAT_T u[4];
    LAT_(m) mirror = *g;
    LAT_(heat)(&mirror, x, LAT_(set)(1), LAT_HEAT_MICRO, d);
    LAT_(relax_sun)(g, x, omega);
    LAT_(choose)(g, &mirror, p, LAT_(next_uniform)(d, 0, u));
}

/* One visit, maximally Abelian gauge. */
LAT_HOST_DEVICE void LAT_(mag_stochastic_su2)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T omega,
                                              LAT_T p, const LAT_(rng) *d)
{
    LAT_T u[4];
    uint32_t n = 0;
    LAT_FOR_PAIRS (a, b) {
        LAT_T h[4];
        LAT_(mag_hit)(&m, a, b, count, h);
        LAT_(overrelax_or_mirror)(h, omega, p, LAT_(next_uniform)(d, n++, u));
        LAT_(mag_apply)(&m, a, b, count, h);
        LAT_(hit_apply)(g, a, b, h);
    }
    LAT_(orthonormal)(g);
}

LAT_HOST_DEVICE void LAT_(mag_stochastic_sun)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T omega,
                                              LAT_T p, const LAT_(rng) *d)
{
    LAT_T u[4];
    LAT_(m) mirror = *g;
    LAT_(mag_heat)(&mirror, m, count, LAT_(set)(1), LAT_HEAT_MICRO, d);
    LAT_(mag_relax_sun)(g, m, count, omega);
    LAT_(choose)(g, &mirror, p, LAT_(next_uniform)(d, 0, u));
}
