/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.h: visits that draw the rotation instead of taking the best one (template, see real.h).
 *
 * The functional is sampled with weight exp(f / T), f = sum over links of Re tr U (Landau, Coulomb) or of
 * sum_i |U_ii|^2 (MAG), not divided by anything. In an SU(2) subgroup f = k T h.n + const with n the
 * maximum, so h = a n with a distributed about 1:
 *     linear f: exp(k a_0) on the sphere S^3, k = |r| / T
 *     MAG: exp(k cos theta) on S^2 for the direction that h turns to the pole, k = l / T */

/* c = a b as SU(2) elements. */
LAT_HD void LAT_(su2_mul)(LAT_T c[4], const LAT_T a[4], const LAT_T b[4])
{
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
    c[2] = a[0] * b[2] + a[2] * b[0] - a[3] * b[1] + a[1] * b[3];
    c[3] = a[0] * b[3] + a[3] * b[0] - a[1] * b[2] + a[2] * b[1];
}

/* The mirror image of 1 about h: h^2. The functional is the same on both sides of its maximum. */
LAT_HD void LAT_(su2_square)(LAT_T h[4])
{
    const LAT_T two = LAT_(set)(2) * h[0];
    h[0] = two * h[0] - LAT_(set)(1);
    for (int i = 1; i < 4; i++)
        h[i] *= two;
}

/* ln(u + (1-u) e^{-2k}) / k + 1: cos theta with density exp(k cos theta) in (-1, 1) for uniform u. For small k
 * the quotient of small numbers is replaced by its expansion 1 - 2v + 2 k v (1-v), v = 1-u. */
LAT_HD LAT_T LAT_(polar)(LAT_T k, LAT_T u)
{
    const LAT_T one = LAT_(set)(1), small = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-3 : (LAT_S)1e-5);
    const LAT_T most = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)39 : (LAT_S)340);
    const LAT_T safe = LAT_(where_gt)(k, small, k, small), v = one - u;
    const LAT_T e = LAT_(exp)(LAT_(set)(-2) * LAT_(where_gt)(safe, most, most, safe));
    const LAT_T c = one + LAT_(log)(u + v * e) / safe;
    const LAT_T flat = one - LAT_(set)(2) * v + LAT_(set)(2) * k * v * u;
    const LAT_T x = LAT_(where_gt)(k, small, c, flat);
    return LAT_(where_gt)(LAT_(set)(-1), x, LAT_(set)(-1), x); /* rounding */
}

/* Above this k Kennedy-Pendleton's proposal is accepted more often, below it Creutz's. */
#define LAT_HEAT_SWITCH 1.7

/* a_0 with density sqrt(1 - a_0^2) exp(k a_0). `draw` and every `stride` draws after it are this one's. */
LAT_HD LAT_T LAT_(heat_a0)(LAT_T k, const LAT_(dice) *d, uint32_t draw, uint32_t stride)
{
    const LAT_T one = LAT_(set)(1), zero = LAT_(set)(0), bound = LAT_(set)((LAT_S)LAT_HEAT_SWITCH);
    const LAT_T kk = LAT_(where_gt)(k, bound, k, bound);
    LAT_T a0 = one, open = one;
    for (int waiting = 1; waiting; draw += stride) {
        LAT_T u[4], s, c;
        LAT_(fractions)(d, draw, u);
        LAT_(turn)(u[1], &s, &c);
        /* Kennedy, Pendleton (1985): (1 - a_0)/2 = lambda^2 is a gamma variate, accepted by sqrt(1 - lambda^2) */
        const LAT_T lambda2 = (LAT_(log)(u[0]) + c * c * LAT_(log)(u[2])) / (LAT_(set)(-2) * kk);
        const LAT_T kp = one - LAT_(set)(2) * lambda2, kp_room = one - lambda2;
        /* Creutz (1980): exp(k a_0) alone, accepted by sqrt(1 - a_0^2) */
        const LAT_T cr = LAT_(polar)(k, u[0]), cr_room = one - cr * cr;
        const LAT_T a = LAT_(where_gt)(k, bound, kp, cr), room = LAT_(where_gt)(k, bound, kp_room, cr_room);
        const LAT_T take = LAT_(where_gt)(room, u[3] * u[3], open, zero);
        a0 = LAT_(where_gt)(take, zero, a, a0);
        open = LAT_(where_gt)(take, zero, zero, open);
        LAT_S left[LAT_WIDTH];
        memcpy(left, &open, sizeof left);
        waiting = 0;
        for (int l = 0; l < LAT_WIDTH; l++)
            waiting |= left[l] > 0;
    }
    return a0;
}

/* a with density exp(k a_0) on S^3. */
LAT_HD void LAT_(heat_sphere3)(LAT_T k, const LAT_(dice) *d, uint32_t pair, uint32_t pairs, LAT_T a[4])
{
    LAT_T u[4], s, c;
    const LAT_T one = LAT_(set)(1);
    LAT_(fractions)(d, pair, u);
    a[0] = LAT_(heat_a0)(k, d, pairs + pair, pairs);
    LAT_(turn)(u[1], &s, &c);
    const LAT_T z = LAT_(set)(2) * u[0] - one, length = LAT_(root)(one - a[0] * a[0]), across = length * LAT_(root)(one - z * z);
    a[1] = across * c;
    a[2] = across * s;
    a[3] = length * z;
}

/* a with density exp(k cos theta) of the direction on S^2 that it turns to the pole. */
LAT_HD void LAT_(heat_sphere2)(LAT_T k, const LAT_(dice) *d, uint32_t pair, LAT_T a[4])
{
    LAT_T u[4], s, c;
    const LAT_T one = LAT_(set)(1), half = LAT_(set)((LAT_S)0.5);
    LAT_(fractions)(d, pair, u);
    LAT_(turn)(u[1], &s, &c);
    const LAT_T cosine = LAT_(polar)(k, u[0]), sine = LAT_(root)(half * (one - cosine));
    a[0] = LAT_(root)(half * (one + cosine));
    a[1] = sine * c;
    a[2] = sine * s;
    a[3] = LAT_(set)(0);
}

/* Metropolis: h ~ (1, c v), v uniform in the cube, c so that about half is accepted where k = 5. */
#define LAT_METROPOLIS_STEP 0.7

/* A proposal, and the number that decides on it. */
LAT_HD void LAT_(heat_propose)(const LAT_(dice) *d, uint32_t pair, LAT_T h[4], LAT_T *lot)
{
    LAT_T u[4];
    LAT_(fractions)(d, pair, u);
    h[0] = LAT_(set)(1);
    for (int i = 0; i < 3; i++)
        h[i + 1] = LAT_(set)((LAT_S)LAT_METROPOLIS_STEP) * (LAT_(set)(2) * u[i] - LAT_(set)(1));
    LAT_(hit_unit)(h);
    *lot = u[3];
}

/* h where lot < exp(gain), else 1. */
LAT_HD void LAT_(heat_accept)(LAT_T h[4], LAT_T gain, LAT_T lot)
{
    const LAT_T win = gain - LAT_(log)(lot), zero = LAT_(set)(0);
    h[0] = LAT_(where_gt)(win, zero, h[0], LAT_(set)(1));
    for (int i = 1; i < 4; i++)
        h[i] = LAT_(where_gt)(win, zero, h[i], zero);
}

/* One visit, Landau and Coulomb gauge; beta = 1/T. `kind` is one of LAT_HEAT_BATH, LAT_HEAT_MICRO and
 * LAT_HEAT_METROPOLIS. */
LAT_HD void LAT_(heat)(LAT_(m) *g, LAT_(m) x, LAT_T beta, int kind, const LAT_(dice) *d)
{
    const uint32_t pairs = LAT_N * (LAT_N - 1) / 2;
    uint32_t pair = 0;
    LAT_FOR_PAIRS(p, q)
    {
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
            const LAT_T gain = (h[0] - LAT_(set)(1)) * r[0] + h[1] * r[1] + h[2] * r[2] + h[3] * r[3];
            LAT_(heat_accept)(h, beta * gain, lot);
        }
        LAT_(hit_apply)(&x, p, q, h);
        LAT_(hit_apply)(g, p, q, h);
        pair++;
    }
    LAT_(orthonormal)(g);
}

/* h with its rotation about the pole, which nothing depends on, taken off: h3 = 0. */
LAT_HD void LAT_(mag_plain)(LAT_T h[4])
{
    const LAT_T tiny = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-30 : (LAT_S)1e-200);
    const LAT_T n = h[0] * h[0] + h[3] * h[3], s = LAT_(rsqrt)(LAT_(where_gt)(n, tiny, n, LAT_(set)(1)));
    const LAT_T c = LAT_(where_gt)(n, tiny, h[0] * s, LAT_(set)(1)), t = h[3] * s, b1 = h[1];
    h[1] = h[1] * c - h[2] * t;
    h[2] = h[2] * c + b1 * t;
    h[0] = n * s;
    h[3] = LAT_(set)(0);
    LAT_(hit_unit)(h);
}

/* One visit, maximally Abelian gauge. */
LAT_HD void LAT_(mag_heat)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T beta, int kind, const LAT_(dice) *d)
{
    uint32_t pair = 0;
    LAT_FOR_PAIRS(p, q)
    {
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
                LAT_(heat_sphere2)(beta * LAT_(root)(y * y + e.re * e.re + e.im * e.im), d, pair, a);
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
