/* SPDX-License-Identifier: BSD-3-Clause */
/* prepared.h: the heat bath of heat.h in two steps, for one site a thread (template, see real.h):
 * first what is drawn, whatever the maximum is; then, at the hit, what depends on it. The draws are
 * those of LAT_(heat_sphere3) in a site update: number n and every N (N - 1) / 2-th after it. */

#define LAT_PREPARED 7 /* numbers of a hit */

/* d: both proposals of LAT_(heat_kennedy_pendleton) times -k, the squares that decide on them, the
 * direction of (a_1, a_2, a_3). */
LAT_HOST_DEVICE void LAT_(heat_prepare)(LAT_T d[LAT_PREPARED], const LAT_(rng) *rng, uint32_t n)
{
    const LAT_T one = 1, two = 2, half = (LAT_T)0.5;
    LAT_T u[8];
    LAT_(uniforms_of_two)(rng, n, n + LAT_N * (LAT_N - 1) / 2, u);
    const LAT_T sine = LAT_(sine)(u[1] - half), normal = half * LAT_(log)(u[2]),
                z = two * u[6] - one, across = LAT_(sqrt)(one - z * z);
    d[0] = LAT_(log)(u[0]) + normal * (one - sine);
    d[1] = LAT_(log)(u[4]) + normal * (one + sine);
    d[2] = u[3] * u[3];
    d[3] = u[5] * u[5];
    LAT_(sincos_2pi)(u[7], d + 5, d + 4);
    d[4] *= across;
    d[5] *= across;
    d[6] = z;
}

/* What both proposals do not do for. (Values, so that a caller's numbers stay in registers where
 * this is called.) */
LAT_NOINLINE LAT_T LAT_(heat_anew)(LAT_T k, uint64_t seed, int64_t site, uint32_t config,
                                   uint32_t step, uint32_t n)
{
    const LAT_(rng) rng = {seed, &site, config, step};
    LAT_T spare[2];
    return LAT_(heat_one_minus_a0)(k, &rng, n, LAT_N * (LAT_N - 1) / 2, spare);
}

/* a with density exp(k a_0) on S^3. What was prepared does not do where k is small or both
 * proposals are rejected: there it begins anew. */
LAT_HOST_DEVICE void LAT_(heat_prepared)(LAT_T a[4], LAT_T k, const LAT_(rng) *rng, uint32_t n,
                                         const LAT_T d[LAT_PREPARED])
{
    const LAT_T one = 1, two = 2, half = (LAT_T)0.5, scale = -one / k;
    const LAT_T x = scale * d[0], y = scale * d[1];
    LAT_T one_minus_a0;
    if (k > (LAT_T)LAT_HEAT_SWITCH && !(d[2] > one - half * x))
        one_minus_a0 = x;
    else if (k > (LAT_T)LAT_HEAT_SWITCH && !(d[3] > one - half * y))
        one_minus_a0 = y;
    else
        one_minus_a0 = LAT_(heat_anew)(k, rng->seed, *rng->site, rng->config, rng->step, n);
    const LAT_T length = LAT_(sqrt)(one_minus_a0 * (two - one_minus_a0));
    a[0] = one - one_minus_a0;
    a[1] = length * d[4];
    a[2] = length * d[5];
    a[3] = length * d[6];
}
