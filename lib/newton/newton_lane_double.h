/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_lane_double.h: gradients and steps in double (template; after newton_algebra.h). */

/* Lane l of n reals to a row. */
LAT_HOST_DEVICE void LAT_(lane_to_row)(float *row, const LAT_T *v, int n, int l)
{
    for (int i = 0; i < n; i++)
        row[i] = (float)v[i][l];
}

LAT_HOST_DEVICE void LAT_(hermitian_part)(LAT_T *h, const LAT_(m) *x)
{
    const LAT_T half = LAT_(set)((LAT_S)0.5);
    int i = LAT_N;
    for (int a = 0; a < LAT_N; a++) {
        h[a] = x->e[a][a].re;
        for (int b = a + 1; b < LAT_N; b++, i += 2) {
            h[i] = half * (x->e[a][b].re + x->e[b][a].re);
            h[i + 1] = half * (x->e[a][b].im - x->e[b][a].im);
        }
    }
}

static void LAT_(gradient)(const lat_lane_work *w, int begin, int end, float *rows,
                           float *hermitian, double sums[2])
{
    for (int b = begin; b < end; b++) {
        LAT_(m) x;
        LAT_T d[LAT_N], a[ROW], h[LAT_N * LAT_N], trace = LAT_(set)(0), square = LAT_(set)(0);
#if LAT_N == 3
        if (w->rows == 2)
            LAT_(local_two)(w, b, &x);
        else
#endif
            LAT_(local)(w, b, &x);
        for (int i = 0; i < LAT_N; i++) {
            d[i] = x.e[i][i].im;
            trace += x.e[i][i].re;
        }
        a[ROW - 1] = LAT_(set)(0);
        LAT_(components)(a, &x, d);
        LAT_(hermitian_part)(h, &x);
        for (int i = 0; i < COLOURS; i++)
            square += a[i] * a[i];
        for (int l = 0; l < LAT_WIDTH; l++) {
            const int64_t site = w->lay->site[(size_t)b * LAT_WIDTH + (size_t)l];
            if (site < 0)
                continue;
            LAT_(lane_to_row)(rows + site * ROW, a, ROW, l);
            LAT_(lane_to_row)(hermitian + site * LAT_N * LAT_N, h, LAT_N * LAT_N, l);
            sums[0] += trace[l];
            sums[1] += square[l];
        }
    }
}

static void LAT_(step)(const lat_layout *lay, void *to, const void *from, int begin, int end,
                       const float *rows, double scale)
{
    for (int b = begin; b < end; b++) {
        LAT_T s[COLOURS];
        LAT_(m) e;
        memset(s, 0, sizeof s);
        for (int l = 0; l < LAT_WIDTH; l++) {
            const int64_t site = lay->site[(size_t)b * LAT_WIDTH + (size_t)l];
            for (int i = 0; site >= 0 && i < COLOURS; i++)
                s[i][l] = scale * (double)rows[site * ROW + i];
        }
        LAT_(exponential)(&e, s);
        const LAT_(m) g = ((const LAT_(m) *)from)[b];
        e = LAT_(product)(&e, &g);
        LAT_(orthonormal)(&e);
        ((LAT_(m) *)to)[b] = e;
    }
}
