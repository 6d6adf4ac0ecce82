/* SPDX-License-Identifier: BSD-3-Clause */
/* landau.h: functional and theta of one site in Landau and Coulomb gauge (template, see real.h).
 *
 *     K(x) = sum_mu w_mu [ U_mu(x) g(x+mu)^+ + U_mu(x-mu)^+ g(x-mu)^+ ]
 * is summed by LAT_(add_mul_dag) over the 2D links of the site, each in the direction away from it;
 * w_mu are the weights of the directions (Coulomb gauge: 0 for time). With x = g K
 *     Re tr x      is the site's part of the functional, F = 1/(2 N W V) sum_x Re tr x,
 *                  W = sum_mu w_mu;
 *     x - x^+ - its trace / N
 *                  is Delta(x) = sum_mu w_mu (U_mu(x) - U_mu(x-mu)) - h.c. - trace of the links
 *                  that g has transformed; theta(x) = tr Delta Delta^+ / N
 * (arXiv:1212.5221, section 2.1.1). */

/* *trace = Re tr x, *theta = theta(x). */
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
