/* SPDX-License-Identifier: BSD-3-Clause */
/* landau.h: Landau gauge at one site (template, see real.h).
 *
 *     K(x) = sum_mu [ U_mu(x) g(x+mu)^+ + U_mu(x-mu)^+ g(x-mu)^+ ]
 * is summed by LAT_(add_mul_dag) over the 2D links of the site, each in the direction away from
 * it. With x = g K:
 *     Re tr x       its share of the functional: F = 1/(2 N D V) sum_x Re tr x
 *     x - x^+ - tr  is Delta(x) = sum_mu (U_mu(x) - U_mu(x-mu)) - h.c. - trace of the links as g
 *                   has transformed them; theta(x) = tr Delta Delta^+ / N */

LAT_HOST_DEVICE void LAT_(landau_state)(const LAT_(m) *x, LAT_T *trace, LAT_T *theta)
{
    LAT_T re = x->e[0][0].re, im = x->e[0][0].im, sum = LAT_(set)(0);
    for (int a = 1; a < LAT_N; a++) {
        re += x->e[a][a].re;
        im += x->e[a][a].im;
    }
    im *= LAT_(set)((LAT_S)(1.0 / LAT_N));
    for (int a = 0; a < LAT_N; a++) {
        LAT_T d = x->e[a][a].im - im; /* Delta_aa = 2 i d */
        sum += LAT_(set)(4) * d * d;
        for (int b = a + 1; b < LAT_N; b++) {
            LAT_T p = x->e[a][b].re - x->e[b][a].re, q = x->e[a][b].im + x->e[b][a].im;
            sum += LAT_(set)(2) * (p * p + q * q);
        }
    }
    *trace = re;
    *theta = sum * LAT_(set)((LAT_S)(1.0 / LAT_N));
}
