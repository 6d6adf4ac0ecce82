/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.h: updates of one site that draw g(x) at random (template, see real.h): heat bath,
 * microcanonical and Metropolis.
 *
 * The weight is exp(f / T). f is the functional of the site, not normalised: the sum over its links
 * of Re tr U (Landau, Coulomb) or of sum_i |U_ii|^2 (maximally Abelian gauge, MAG).
 *
 * Each update goes through the SU(2) subgroups (p,q). In one of them f = k T h.n + const, n the
 * maximum; so h = a n, with a distributed about 1:
 *     Landau, Coulomb  density exp(k a_0) on the sphere S^3, k = |r| / T, r of LAT_(hit_axis)
 *     MAG              density exp(k cos theta) on S^2, k = l / T, l of mag.h, for the direction
 *                      that h rotates to the pole
 * Cabibbo, Marinari, PLB 119 (1982) 387; in gauge fixing: arXiv:1212.5221, sections
 * 2.2.4 and 2.3. */
#include "update.h"

#ifndef LAT_NOINLINE /* the includer may prefer one copy of the largest function to several */
#define LAT_NOINLINE LAT_HOST_DEVICE
#endif
/* c = a b as SU(2) elements. */
LAT_HOST_DEVICE void LAT_(su2_mul)(LAT_T c[4], const LAT_T a[4], const LAT_T b[4])
{
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
    c[2] = a[0] * b[2] + a[2] * b[0] - a[3] * b[1] + a[1] * b[3];
    c[3] = a[0] * b[3] + a[3] * b[0] - a[1] * b[2] + a[2] * b[1];
}

/* h <- h^2, the reflection of 1 about the maximum h: the functional is the same as at 1
 * (microcanonical update). */
LAT_HOST_DEVICE void LAT_(su2_square)(LAT_T h[4])
{
    const LAT_T two = LAT_(set)(2) * h[0];
    h[0] = two * h[0] - LAT_(set)(1);
    for (int i = 1; i < 4; i++)
        h[i] *= two;
}

/* 1 - cos theta with density exp(k cos theta) on S^2, by inversion, u uniform in (0, 1): with
 * v = 1 - u it is - ln(u + v exp(-2k)) / k; for small k, where that is a quotient of small numbers,
 * its expansion. Here and below the difference from 1 is drawn, because it is small where k is
 * large. */
LAT_HOST_DEVICE LAT_T LAT_(one_minus_cos)(LAT_T k, LAT_T u)
{
    const LAT_T one = LAT_(set)(1), two = LAT_(set)(2),
                small = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-2 : (LAT_S)1e-4);
    const LAT_T limit = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)39 : (LAT_S)340);
    const LAT_T safe = LAT_(where_gt)(k, small, k, small), v = one - u;
    const LAT_T e = LAT_(exp)(LAT_(set)(-2) * LAT_(where_gt)(safe, limit, limit, safe));
    const LAT_T inverse = LAT_(set)(-1) * LAT_(log)(u + v * e) / safe;
    const LAT_T series = two * v
                         * (one - k * u * (one - LAT_(set)((LAT_S)(2.0 / 3)) * k * (u - v)));
    const LAT_T x = LAT_(where_gt)(k, small, inverse, series);
    return LAT_(where_gt)(x, two, two, x); /* rounding */
}

/* Above this k the proposal of Kennedy and Pendleton is accepted more often, below it the proposal
 * of Creutz; here both are in 71 % of cases. The rates are sqrt(2 pi k) exp(-k) I_1(k) and pi
 * I_1(k) / (2 sinh k). */
#define LAT_HEAT_SWITCH 1.7

/* The next two functions make two independent proposals of 1 - a_0 from six uniform numbers in
 * (0, 1), u[3] and u[5] left for the decisions. Where the square of a uniform number is at most
 * bound[i], proposal i is accepted: then a_0 has density sqrt(1 - a_0^2) exp(k a_0).
 *
 * Kennedy, Pendleton, PLB 156 (1985) 393: k (1 - a_0) is a gamma variate of shape 3/2, that is an
 * exponential variate plus half the square of a normal one, accepted with sqrt((1 + a_0) / 2). The
 * pair of normal variates of Box and Muller serves both proposals. */
LAT_HOST_DEVICE void LAT_(heat_kennedy_pendleton)(LAT_T k, const LAT_T u[6], LAT_T one_minus_a0[2],
                                                  LAT_T bound[2])
{
    const LAT_T one = LAT_(set)(1), half = LAT_(set)((LAT_S)0.5), scale = LAT_(set)(-1) / k;
    /* cos^2 and sin^2 of an angle, by the sine of twice that. */
    const LAT_T sine = LAT_(sine)(u[1] - half), normal = half * LAT_(log)(u[2]);
    one_minus_a0[0] = scale * (LAT_(log)(u[0]) + normal * (one - sine));
    one_minus_a0[1] = scale * (LAT_(log)(u[4]) + normal * (one + sine));
    for (int i = 0; i < 2; i++)
        bound[i] = one - half * one_minus_a0[i];
}

/* Creutz, PRD 21 (1980) 2308: density exp(k a_0) alone, accepted with sqrt(1 - a_0^2). */
LAT_HOST_DEVICE void LAT_(heat_creutz)(LAT_T k, const LAT_T u[6], LAT_T one_minus_a0[2],
                                       LAT_T bound[2])
{
    one_minus_a0[0] = LAT_(one_minus_cos)(k, u[0]);
    one_minus_a0[1] = LAT_(one_minus_cos)(k, u[4]);
    for (int i = 0; i < 2; i++)
        bound[i] = one_minus_a0[i] * (LAT_(set)(2) - one_minus_a0[i]);
}

/* Two proposals from six uniform numbers. In lanes where *pending is 1 the first one accepted
 * becomes *one_minus_a0, and *pending 0. NaN is accepted, so that this ends; the functional is NaN
 * then, and whoever measures it says so. */
LAT_HOST_DEVICE void LAT_(heat_try)(LAT_T k, const LAT_T u[6], LAT_T *one_minus_a0, LAT_T *pending)
{
    const LAT_T threshold = LAT_(set)((LAT_S)LAT_HEAT_SWITCH), zero = LAT_(set)(0);
    const unsigned large = LAT_(mask_gt)(k, threshold);
    LAT_T proposal[2] = {zero, zero}, bound[2] = {zero, zero};
    if (large != LAT_ALL)
        LAT_(heat_creutz)(k, u, proposal, bound);
    if (large) {
        LAT_T x[2], b[2];
        LAT_(heat_kennedy_pendleton)(LAT_(where_gt)(k, threshold, k, threshold), u, x, b);
        for (int i = 0; i < 2; i++) {
            proposal[i] = LAT_(where_gt)(k, threshold, x[i], proposal[i]);
            bound[i] = LAT_(where_gt)(k, threshold, b[i], bound[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        const LAT_T uniform = u[3 + 2 * i], square = uniform * uniform;
        const LAT_T accept = LAT_(where_gt)(square, bound[i], zero, *pending);
        *one_minus_a0 = LAT_(where_gt)(accept, zero, proposal[i], *one_minus_a0);
        *pending = LAT_(where_gt)(accept, zero, zero, *pending);
    }
}

/* 1 - a_0, where a_0 has density sqrt(1 - a_0^2) exp(k a_0). The draws are `draw` and every
 * `stride`-th after it, two for an attempt; `spare` gets the two numbers that the first attempt
 * leaves over. */
LAT_HOST_DEVICE LAT_T LAT_(heat_one_minus_a0)(LAT_T k, const LAT_(rng) *rng, uint32_t draw,
                                              uint32_t stride, LAT_T spare[2])
{
    LAT_T one_minus_a0 = LAT_(set)(0), pending = LAT_(set)(1), u[8];
    LAT_(uniforms_of_two)(rng, draw, draw + stride, u);
    spare[0] = u[6];
    spare[1] = u[7];
    LAT_(heat_try)(k, u, &one_minus_a0, &pending);
    while (LAT_(mask_gt)(pending, LAT_(set)(0))) {
        draw += 2 * stride;
        LAT_(uniforms_of_two)(rng, draw, draw + stride, u);
        LAT_(heat_try)(k, u, &one_minus_a0, &pending);
    }
    return one_minus_a0;
}

/* a with density exp(k a_0) on S^3. The draws are number `pair` and every `pairs`-th after it. */
LAT_NOINLINE void LAT_(heat_sphere3)(LAT_T k, const LAT_(rng) *rng, uint32_t pair, uint32_t pairs,
                                     LAT_T a[4])
{
    LAT_T u[2], s, c;
    const LAT_T one = LAT_(set)(1), two = LAT_(set)(2),
                one_minus_a0 = LAT_(heat_one_minus_a0)(k, rng, pair, pairs, u);
    LAT_(sincos_2pi)(u[1], &s, &c);
    /* |(a_1, a_2)|^2 = (1 - a_0^2)(1 - z^2), z uniform in (-1, 1) */
    const LAT_T z = two * u[0] - one, square = one_minus_a0 * (two - one_minus_a0),
                across = LAT_(sqrt)(square * (one - z * z));
    a[0] = one - one_minus_a0;
    a[1] = across * c;
    a[2] = across * s;
    a[3] = LAT_(sqrt)(square) * z;
}

/* a with density exp(k cos theta) of the direction on S^2 that it rotates to the pole; a_3 = 0. */
LAT_HOST_DEVICE void LAT_(heat_sphere2)(LAT_T k, const LAT_(rng) *rng, uint32_t pair, LAT_T a[4])
{
    LAT_T u[4], s, c;
    LAT_(uniforms)(rng, pair, u);
    LAT_(sincos_2pi)(u[1], &s, &c);
    const LAT_T half = LAT_(set)((LAT_S)0.5) * LAT_(one_minus_cos)(k, u[0]),
                sine = LAT_(sqrt)(half);
    a[0] = LAT_(sqrt)(LAT_(set)(1) - half);
    a[1] = sine * c;
    a[2] = sine * s;
    a[3] = LAT_(set)(0);
}

/* Metropolis: h ~ (1, c v), v uniform in the cube (-1, 1)^3, c so that about half of the proposals
 * are accepted at k = 5. */
#define LAT_METROPOLIS_STEP 0.7

/* A proposal h, and the uniform number that decides on it. */
LAT_HOST_DEVICE void LAT_(heat_propose)(const LAT_(rng) *rng, uint32_t pair, LAT_T h[4],
                                        LAT_T *uniform)
{
    LAT_T u[4];
    LAT_(uniforms)(rng, pair, u);
    h[0] = LAT_(set)(1);
    for (int i = 0; i < 3; i++)
        h[i + 1] = LAT_(set)((LAT_S)LAT_METROPOLIS_STEP) * (LAT_(set)(2) * u[i] - LAT_(set)(1));
    LAT_(hit_unit)(h);
    *uniform = u[3];
}

/* h stays where uniform < exp(gain), else it becomes 1. gain: the change of f / T by h. */
LAT_HOST_DEVICE void LAT_(heat_accept)(LAT_T h[4], LAT_T gain, LAT_T uniform)
{
    const LAT_T excess = gain - LAT_(log)(uniform), zero = LAT_(set)(0);
    h[0] = LAT_(where_gt)(excess, zero, h[0], LAT_(set)(1));
    for (int i = 1; i < 4; i++)
        h[i] = LAT_(where_gt)(excess, zero, h[i], zero);
}

/* One site update, Landau and Coulomb gauge: g <- h g, x = g K (landau.h) with the h of all SU(2)
 * subgroups one after the other; beta = 1/T. `update` is one of LAT_UPDATE_HEATBATH,
 * LAT_UPDATE_MICROCANONICAL and LAT_UPDATE_METROPOLIS. */
LAT_HOST_DEVICE void LAT_(heat)(LAT_(m) *g, LAT_(m) x, LAT_T beta, lat_update update,
                                const LAT_(rng) *rng)
{
    const uint32_t pairs = LAT_N * (LAT_N - 1) / 2;
    uint32_t pair = 0;
    LAT_FOR_PAIRS (p, q) {
        LAT_T r[4], n[4], h[4], a[4], uniform;
        LAT_(hit_axis)(&x, p, q, r);
        for (int i = 0; i < 4; i++)
            n[i] = r[i];
        LAT_(hit_unit)(n);
        if (update == LAT_UPDATE_HEATBATH) {
            const LAT_T k = beta * (r[0] * n[0] + r[1] * n[1] + r[2] * n[2] + r[3] * n[3]);
            LAT_(heat_sphere3)(k, rng, pair, pairs, a);
            LAT_(su2_mul)(h, a, n);
        } else if (update == LAT_UPDATE_MICROCANONICAL) {
            for (int i = 0; i < 4; i++)
                h[i] = n[i];
            LAT_(su2_square)(h);
        } else {
            LAT_(heat_propose)(rng, pair, h, &uniform);
            const LAT_T gain = (h[0] - LAT_(set)(1)) * r[0] + h[1] * r[1] + h[2] * r[2]
                               + h[3] * r[3];
            LAT_(heat_accept)(h, beta * gain, uniform);
        }
        LAT_(hit_apply)(&x, p, q, h);
        LAT_(hit_apply)(g, p, q, h);
        pair++;
    }
    LAT_(orthonormal_again)(g);
}

/* h without its rotation about the pole, on which the functional does not depend: h3 = 0. */
LAT_HOST_DEVICE void LAT_(mag_remove_h3)(LAT_T h[4])
{
    const LAT_T tiny = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-30 : (LAT_S)1e-200);
    const LAT_T n = h[0] * h[0] + h[3] * h[3],
                s = LAT_(rsqrt)(LAT_(where_gt)(n, tiny, n, LAT_(set)(1)));
    const LAT_T c = LAT_(where_gt)(n, tiny, h[0] * s, LAT_(set)(1)), t = h[3] * s, b1 = h[1];
    h[1] = h[1] * c - h[2] * t;
    h[2] = h[2] * c + b1 * t;
    h[0] = n * s;
    h[3] = LAT_(set)(0);
    LAT_(hit_unit)(h);
}

/* The same in maximally Abelian gauge; m: X_i of the first `count` columns (mag.h). */
LAT_HOST_DEVICE void LAT_(mag_heat)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T beta,
                                    lat_update update, const LAT_(rng) *rng)
{
    uint32_t pair = 0;
    LAT_FOR_PAIRS (p, q) {
        LAT_T h[4], a[4], n[4], y, uniform;
        LAT_(c) e;
        LAT_(mag_axis)(&m, p, q, count, &y, &e);
        if (update == LAT_UPDATE_METROPOLIS) {
            LAT_(heat_propose)(rng, pair, h, &uniform);
            h[3] = LAT_(set)(0); /* a phase does not change f */
            LAT_(hit_unit)(h);
            /* (h Y h^+)_pp - Y_pp, Y without its trace */
            const LAT_T b = h[1] * h[1] + h[2] * h[2];
            const LAT_T gain = LAT_(set)(2) * (h[0] * (h[2] * e.re + h[1] * e.im) - b * y);
            LAT_(heat_accept)(h, beta * gain, uniform);
        } else {
            LAT_(mag_hit)(&m, p, q, count, n);
            if (update == LAT_UPDATE_HEATBATH) {
                LAT_(heat_sphere2)(beta * LAT_(sqrt)(y * y + e.re * e.re + e.im * e.im), rng, pair,
                                   a);
                LAT_(su2_mul)(h, a, n);
                LAT_(mag_remove_h3)(h);
            } else {
                for (int i = 0; i < 4; i++)
                    h[i] = n[i];
                LAT_(su2_square)(h);
            }
        }
        LAT_(mag_apply)(&m, p, q, count, h);
        LAT_(hit_apply)(g, p, q, h);
        pair++;
    }
    LAT_(orthonormal)(g);
}
