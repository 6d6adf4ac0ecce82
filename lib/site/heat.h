/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.h: visits that draw the rotation instead of taking the best one (template, see real.h), with
 * weight exp(f / T), f = sum over links of Re tr U (Landau, Coulomb) or of sum_i |U_ii|^2 (MAG),
 * not divided by anything. In an SU(2) subgroup f = k T h.n + const with n the maximum, so h = a n
 * with a distributed about 1: linear f: exp(k a_0) on the sphere S^3, k = |r| / T MAG: exp(k cos
 * theta) on S^2 for the direction that h turns to the pole, k = l / T */
#ifndef LAT_NOINLINE /* of a large part: the includer may prefer one copy of it to several */
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

/* The mirror image of 1 about h: h^2. The functional is the same on both sides of its maximum. */
LAT_HOST_DEVICE void LAT_(su2_square)(LAT_T h[4])
{
    const LAT_T two = LAT_(set)(2) * h[0];
    h[0] = two * h[0] - LAT_(set)(1);
    for (int i = 1; i < 4; i++)
        h[i] *= two;
}

/* 1 - cos theta, the density being exp(k cos theta) in (-1, 1), for uniform u: with v = 1-u it is
 * - ln(u + v e^{-2k}) / k, and its expansion for small k, where that is a quotient of small
 * numbers. The difference from 1 is drawn, here and below, since it is small where k is large. */
LAT_HOST_DEVICE LAT_T LAT_(polar)(LAT_T k, LAT_T u)
{
    const LAT_T one = LAT_(set)(1), two = LAT_(set)(2),
                small = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-2 : (LAT_S)1e-4);
    const LAT_T most = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)39 : (LAT_S)340);
    const LAT_T safe = LAT_(where_gt)(k, small, k, small), v = one - u;
    const LAT_T e = LAT_(exp)(LAT_(set)(-2) * LAT_(where_gt)(safe, most, most, safe));
    const LAT_T gap = LAT_(set)(-1) * LAT_(log)(u + v * e) / safe;
    const LAT_T flat = two * v * (one - k * u * (one - LAT_(set)((LAT_S)(2.0 / 3)) * k * (u - v)));
    const LAT_T x = LAT_(where_gt)(k, small, gap, flat);
    return LAT_(where_gt)(x, two, two, x); /* rounding */
}

/* Above this k Kennedy-Pendleton's proposal is accepted more often, below it Creutz's; here both
 * are in 71 % of cases. The rates are sqrt(2 pi k) exp(-k) I_1(k) and pi I_1(k) / (2 sinh k). */
#define LAT_HEAT_SWITCH 1.7

/* Proposals of 1 - a_0, and what the square of a uniform number must be below for the density to
 * become sqrt(1 - a_0^2) exp(k a_0). Kennedy, Pendleton (1985): k (1 - a_0) is a gamma variate of
 * shape 3/2, that is an exponential one and half the square of a normal one; accepted by sqrt((1 +
 * a_0)/2). The pair of normal variates of Box and Muller makes two proposals that are independent.
 */
LAT_HOST_DEVICE void LAT_(heat_gamma)(LAT_T k, const LAT_T u[6], LAT_T gap[2], LAT_T room[2])
{
    const LAT_T one = LAT_(set)(1), half = LAT_(set)((LAT_S)0.5), scale = LAT_(set)(-1) / k;
    /* cos^2 and sin^2 of an angle, by the sine of twice that. */
    const LAT_T sine = LAT_(sine)(u[1] - half), normal = half * LAT_(log)(u[2]);
    gap[0] = scale * (LAT_(log)(u[0]) + normal * (one - sine));
    gap[1] = scale * (LAT_(log)(u[4]) + normal * (one + sine));
    for (int i = 0; i < 2; i++)
        room[i] = one - half * gap[i];
}

/* Creutz (1980): exp(k a_0) alone, accepted by sqrt(1 - a_0^2). */
LAT_HOST_DEVICE void LAT_(heat_creutz)(LAT_T k, const LAT_T u[6], LAT_T gap[2], LAT_T room[2])
{
    gap[0] = LAT_(polar)(k, u[0]);
    gap[1] = LAT_(polar)(k, u[4]);
    for (int i = 0; i < 2; i++)
        room[i] = gap[i] * (LAT_(set)(2) - gap[i]);
}

/* Two proposals from six numbers. Where *open is 1, the first that is accepted becomes *gap, and
 * *open 0. What is no number is accepted, and seen later. */
LAT_HOST_DEVICE void LAT_(heat_try)(LAT_T k, const LAT_T u[6], LAT_T *gap, LAT_T *open)
{
    const LAT_T bound = LAT_(set)((LAT_S)LAT_HEAT_SWITCH), zero = LAT_(set)(0);
    const unsigned large = LAT_(mask_gt)(k, bound);
    LAT_T g[2] = {zero, zero}, room[2] = {zero, zero};
    if (large != LAT_ALL)
        LAT_(heat_creutz)(k, u, g, room);
    if (large) {
        LAT_T h[2], more[2];
        LAT_(heat_gamma)(LAT_(where_gt)(k, bound, k, bound), u, h, more);
        for (int i = 0; i < 2; i++) {
            g[i] = LAT_(where_gt)(k, bound, h[i], g[i]);
            room[i] = LAT_(where_gt)(k, bound, more[i], room[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        const LAT_T lot = u[3 + 2 * i], square = lot * lot;
        const LAT_T take = LAT_(where_gt)(square, room[i], zero, *open);
        *gap = LAT_(where_gt)(take, zero, g[i], *gap);
        *open = LAT_(where_gt)(take, zero, zero, *open);
    }
}

/* 1 - a_0, a_0 with density sqrt(1 - a_0^2) exp(k a_0). `draw` and every `stride` draws after it
 * are this one's, two for an attempt; `spare` gets the two numbers of the first that are left over.
 */
LAT_HOST_DEVICE LAT_T LAT_(heat_one_minus_a0)(LAT_T k, const LAT_(rng) *d, uint32_t draw,
                                              uint32_t stride, LAT_T spare[2])
{
    LAT_T gap = LAT_(set)(0), open = LAT_(set)(1), u[8];
    LAT_(uniforms_of_two)(d, draw, draw + stride, u);
    spare[0] = u[6];
    spare[1] = u[7];
    LAT_(heat_try)(k, u, &gap, &open);
    while (LAT_(mask_gt)(open, LAT_(set)(0))) {
        draw += 2 * stride;
        LAT_(uniforms_of_two)(d, draw, draw + stride, u);
        LAT_(heat_try)(k, u, &gap, &open);
    }
    return gap;
}

/* a with density exp(k a_0) on S^3; draw `pair` and every `pairs` draws after it. */
LAT_NOINLINE void LAT_(heat_sphere3)(LAT_T k, const LAT_(rng) *d, uint32_t pair, uint32_t pairs,
                                     LAT_T a[4])
{
    LAT_T u[2], s, c;
    const LAT_T one = LAT_(set)(1), two = LAT_(set)(2),
                gap = LAT_(heat_one_minus_a0)(k, d, pair, pairs, u);
    LAT_(sincos_2pi)(u[1], &s, &c);
    /* (1 - a_0^2)(1 - z^2) under one root */
    const LAT_T z = two * u[0] - one, square = gap * (two - gap),
                across = LAT_(sqrt)(square * (one - z * z));
    a[0] = one - gap;
    a[1] = across * c;
    a[2] = across * s;
    a[3] = LAT_(sqrt)(square) * z;
}

/* a with density exp(k cos theta) of the direction on S^2 that it turns to the pole. */
LAT_HOST_DEVICE void LAT_(heat_sphere2)(LAT_T k, const LAT_(rng) *d, uint32_t pair, LAT_T a[4])
{
    LAT_T u[4], s, c;
    LAT_(uniforms)(d, pair, u);
    LAT_(sincos_2pi)(u[1], &s, &c);
    const LAT_T half = LAT_(set)((LAT_S)0.5) * LAT_(polar)(k, u[0]), sine = LAT_(sqrt)(half);
    a[0] = LAT_(sqrt)(LAT_(set)(1) - half);
    a[1] = sine * c;
    a[2] = sine * s;
    a[3] = LAT_(set)(0);
}

/* Metropolis: h ~ (1, c v), v uniform in the cube, c so that about half is accepted where k = 5. */
#define LAT_METROPOLIS_STEP 0.7

/* A proposal, and the number that decides on it. */
LAT_HOST_DEVICE void LAT_(heat_propose)(const LAT_(rng) *d, uint32_t pair, LAT_T h[4], LAT_T *lot)
{
    LAT_T u[4];
    LAT_(uniforms)(d, pair, u);
    h[0] = LAT_(set)(1);
    for (int i = 0; i < 3; i++)
        h[i + 1] = LAT_(set)((LAT_S)LAT_METROPOLIS_STEP) * (LAT_(set)(2) * u[i] - LAT_(set)(1));
    LAT_(hit_unit)(h);
    *lot = u[3];
}

/* h where lot < exp(gain), else 1. */
LAT_HOST_DEVICE void LAT_(heat_accept)(LAT_T h[4], LAT_T gain, LAT_T lot)
{
    const LAT_T win = gain - LAT_(log)(lot), zero = LAT_(set)(0);
    h[0] = LAT_(where_gt)(win, zero, h[0], LAT_(set)(1));
    for (int i = 1; i < 4; i++)
        h[i] = LAT_(where_gt)(win, zero, h[i], zero);
}

/* One visit, Landau and Coulomb gauge; beta = 1/T. `kind` is one of LAT_HEAT_BATH, LAT_HEAT_MICRO
 * and LAT_HEAT_METROPOLIS. */
LAT_HOST_DEVICE void LAT_(heat)(LAT_(m) *g, LAT_(m) x, LAT_T beta, int kind, const LAT_(rng) *d)
{
    const uint32_t pairs = LAT_N * (LAT_N - 1) / 2;
    uint32_t pair = 0;
    LAT_FOR_PAIRS (p, q) {
        LAT_T r[4], n[4], h[4], a[4], lot;
        LAT_(hit_axis)(&x, p, q, r);
        for (int i = 0; i < 4; i++)
            n[i] = r[i];
        LAT_(hit_unit)(n);
        if (kind == LAT_HEAT_BATH) {
            const LAT_T k = beta * (r[0] * n[0] + r[1] * n[1] + r[2] * n[2] + r[3] * n[3]);
            LAT_(heat_sphere3)(k, d, pair, pairs, a);
            LAT_(su2_mul)(h, a, n);
        } else if (kind == LAT_HEAT_MICRO) {
            for (int i = 0; i < 4; i++)
                h[i] = n[i];
            LAT_(su2_square)(h);
        } else {
            LAT_(heat_propose)(d, pair, h, &lot);
            const LAT_T gain = (h[0] - LAT_(set)(1)) * r[0] + h[1] * r[1] + h[2] * r[2]
                               + h[3] * r[3];
            LAT_(heat_accept)(h, beta * gain, lot);
        }
        LAT_(hit_apply)(&x, p, q, h);
        LAT_(hit_apply)(g, p, q, h);
        pair++;
    }
    LAT_(orthonormal_again)(g);
}

/* h with its rotation about the pole, which nothing depends on, taken off: h3 = 0. */
LAT_HOST_DEVICE void LAT_(mag_plain)(LAT_T h[4])
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

/* One visit, maximally Abelian gauge. */
LAT_HOST_DEVICE void LAT_(mag_heat)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T beta, int kind,
                                    const LAT_(rng) *d)
{
    uint32_t pair = 0;
    LAT_FOR_PAIRS (p, q) {
        LAT_T h[4], a[4], n[4], y, lot;
        LAT_(c) e;
        LAT_(mag_axis)(&m, p, q, count, &y, &e);
        if (kind == LAT_HEAT_METROPOLIS) {
            LAT_(heat_propose)(d, pair, h, &lot);
            h[3] = LAT_(set)(0); /* a phase, which would change nothing */
            LAT_(hit_unit)(h);
            /* (h Y h^+)_pp - Y_pp, Y without its trace */
            const LAT_T b = h[1] * h[1] + h[2] * h[2];
            const LAT_T gain = LAT_(set)(2) * (h[0] * (h[2] * e.re + h[1] * e.im) - b * y);
            LAT_(heat_accept)(h, beta * gain, lot);
        } else {
            LAT_(mag_hit)(&m, p, q, count, n);
            if (kind == LAT_HEAT_BATH) {
                LAT_(heat_sphere2)(beta * LAT_(sqrt)(y * y + e.re * e.re + e.im * e.im), d, pair,
                                   a);
                LAT_(su2_mul)(h, a, n);
                LAT_(mag_plain)(h);
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
