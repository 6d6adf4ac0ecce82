/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow_sweeps.h: the product of a block with the shadow vector (template; vector_sweeps.h and the
 * hop expand it). */

/* to[2] = <e, x> of each site; flip: the lower spins of x are stored first. */
LAT_HOST_DEVICE void LAT_(shadow)(LAT_T *to, const LAT_T *x, const LAT_(bits) *signs, bool flip)
{
    const LAT_(bits) sign = *signs, first = ~(LAT_(bits)){0} << (8 * LAT_SIZE - 1);
    LAT_T sum[2] = {LAT_(set)(0), LAT_(set)(0)};
    for (int s = 0; s < 4; s++) {
        const LAT_(bits) minus = (flip ? sign << (s ^ 2) : sign << s) & first;
        LAT_T v[2] = {x[2 * LAT_N * s], x[2 * LAT_N * s + 1]};
        for (int c = 1; c < LAT_N; c++) {
            v[0] += x[2 * (LAT_N * s + c)];
            v[1] += x[2 * (LAT_N * s + c) + 1];
        }
        sum[0] += (LAT_T)((LAT_(bits))v[0] ^ minus);
        sum[1] += (LAT_T)((LAT_(bits))v[1] ^ minus);
    }
    to[0] = sum[0];
    to[1] = sum[1];
}
