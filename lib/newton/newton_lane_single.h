/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_lane_single.h: conjugate gradients in single (template; after newton_algebra.h). */

#define LINK (2 * (LAT_N - 1) * LAT_N) /* reals of a link */

/* The reals of the sites of a block from their rows; 0 in idle lanes. */
LAT_HOST_DEVICE void LAT_(from_rows)(const lat_layout *lay, int b, const float *rows, int row,
                                     LAT_T *v, int n)
{
    const int64_t *site = lay->site + (size_t)b * LAT_WIDTH;
    for (int l = 0; l < LAT_WIDTH; l++)
        for (int i = 0; i < n; i++)
            v[i][l] = site[l] >= 0 ? rows[site[l] * row + i] : 0;
}

LAT_HOST_DEVICE void LAT_(to_rows)(const lat_layout *lay, int b, float *rows, const LAT_T *v)
{
    const int64_t *site = lay->site + (size_t)b * LAT_WIDTH;
    for (int l = 0; l < LAT_WIDTH; l++)
        if (site[l] >= 0)
            for (int i = 0; i < COLOURS; i++)
                rows[site[l] * ROW + i] = v[i][l];
}

LAT_HOST_DEVICE double LAT_(add_lanes)(LAT_T v)
{
    double sum = 0;
    for (int l = 0; l < LAT_WIDTH; l++)
        sum += (double)v[l];
    return sum;
}

LAT_HOST_DEVICE void LAT_(load_link)(LAT_(m) *u, const LAT_T *w)
{
    LAT_UNROLL
    for (int a = 0; a < LAT_N - 1; a++)
        LAT_UNROLL
    for (int b = 0; b < LAT_N; b++)
        u->e[a][b] = LAT_(load)(w + 2 * (a * LAT_N + b));
    LAT_(fill_last)(u);
}

/* ---- links ----------------------------------------------------------------------------------- */

APART void LAT_(rotate_link)(LAT_T *w, const LAT_T *e, const LAT_T *next)
{
    LAT_(m) u, v;
    LAT_(load_link)(&u, w);
    v = LAT_(mul_left)(e, &u);
    for (int a = 0; a < LAT_N - 1; a++)
        for (int b = 0; b < LAT_N; b++) {
            LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
            for (int c = 0; c < LAT_N; c++)
                s = LAT_(fma_conj)(s, v.e[a][c], LAT_(load)(next + 2 * (b * LAT_N + c)));
            u.e[a][b] = s;
        }
    memcpy(w, &u, LINK * sizeof *w);
}

static void LAT_(rotate)(const lat_newton_fields *f, int begin, int end)
{
    const lat_layout *lay = f->lay;
    const int nd = lay->geom.nd, elements = 2 * LAT_N * LAT_N;
    const LAT_T *e = (const LAT_T *)f->e;
    for (int b = begin; b < end; b++)
        for (int i = 0; i < 2 * nd; i++) {
            LAT_T gathered[2 * LAT_N * LAT_N];
            const size_t link = (size_t)b * (size_t)(2 * nd) + (size_t)i;
            LAT_(rotate_link)((LAT_T *)f->w + link * LINK, e + (size_t)b * (size_t)elements,
                              LAT_(next_block)(lay, e, lay->step[link], elements, gathered));
        }
}

/* ---- the operator ---------------------------------------------------------------------------- */

APART void LAT_(hop_block)(const lat_newton_fields *f, int b, LAT_T *q)
{
    const lat_layout *lay = f->lay;
    const int nd = lay->geom.nd;
    const LAT_T *p = (const LAT_T *)f->p,
                *w = (const LAT_T *)f->w + (size_t)b * (size_t)(2 * nd * LINK);
    const lat_step *step = lay->step + (size_t)b * (size_t)(2 * nd);
    LAT_(m) s, u;
    LAT_T sd[LAT_N], gathered[COLOURS];
    LAT_(site_part)(&s, sd, (const LAT_T *)f->h + (size_t)b * (LAT_N * LAT_N),
                    p + (size_t)b * COLOURS);
    for (int i = 0; i < 2 * nd; i++, w += LINK) {
        LAT_(ask)(w + 2 * nd * LINK, LINK);
        LAT_(load_link)(&u, w);
        LAT_(add_link)(&s, sd, &u, LAT_(next_block)(lay, p, step[i], COLOURS, gathered),
                       LAT_(set)(f->weight[i % nd]));
    }
    LAT_(components)(q, &s, sd);
}

static double LAT_(hop)(const lat_newton_fields *f, int begin, int end)
{
    LAT_T dot = LAT_(set)(0);
    for (int b = begin; b < end; b++) {
        LAT_T *q = (LAT_T *)f->q + (size_t)b * COLOURS;
        const LAT_T *p = (const LAT_T *)f->p + (size_t)b * COLOURS;
        LAT_(hop_block)(f, b, q);
        for (int i = 0; i < COLOURS; i++) {
            q[i] *= LAT_(set)(-ROOT_HALF);
            dot += p[i] * q[i];
        }
    }
    return LAT_(add_lanes)(dot);
}

/* ---- vectors --------------------------------------------------------------------------------- */

static void LAT_(begin)(const lat_newton_fields *f, int begin, int end, double scale,
                        const float *hermitian)
{
    const size_t bytes = COLOURS * sizeof(LAT_T);
    for (int b = begin; b < end; b++) {
        LAT_T *r = (LAT_T *)f->r + (size_t)b * COLOURS;
        LAT_(from_rows)(f->lay, b, f->rows, ROW, r, COLOURS);
        for (int i = 0; i < COLOURS; i++)
            r[i] *= LAT_(set)((LAT_S)-scale);
        LAT_(to_rows)(f->lay, b, f->rows, r);
        memset((LAT_T *)f->s + (size_t)b * COLOURS, 0, bytes);
        memset((LAT_T *)f->p + (size_t)b * COLOURS, 0, bytes);
        LAT_(from_rows)(f->lay, b, hermitian, LAT_N * LAT_N,
                        (LAT_T *)f->h + (size_t)b * (LAT_N * LAT_N), LAT_N * LAT_N);
    }
}

static void LAT_(direction)(const lat_newton_fields *f, int begin, int end, double b)
{
    for (int block = begin; block < end; block++) {
        LAT_T z[COLOURS], *p = (LAT_T *)f->p + (size_t)block * COLOURS;
        LAT_(from_rows)(f->lay, block, f->rows, ROW, z, COLOURS);
        for (int i = 0; i < COLOURS; i++)
            p[i] = z[i] + LAT_(set)((LAT_S)b) * p[i];
    }
}

static double LAT_(update)(const lat_newton_fields *f, int begin, int end, double a)
{
    LAT_T square = LAT_(set)(0);
    const LAT_T step = LAT_(set)((LAT_S)a);
    for (int b = begin; b < end; b++) {
        const size_t at = (size_t)b * COLOURS;
        LAT_T *s = (LAT_T *)f->s + at, *r = (LAT_T *)f->r + at;
        const LAT_T *p = (const LAT_T *)f->p + at, *q = (const LAT_T *)f->q + at;
        for (int i = 0; i < COLOURS; i++) {
            s[i] += step * p[i];
            r[i] -= step * q[i];
            square += r[i] * r[i];
        }
        LAT_(to_rows)(f->lay, b, f->rows, r);
    }
    return LAT_(add_lanes)(square);
}

static void LAT_(take)(const lat_newton_fields *f, int begin, int end, double scale)
{
    for (int b = begin; b < end; b++) {
        const LAT_T *s = (const LAT_T *)f->s + (size_t)b * COLOURS;
        LAT_T w[COLOURS];
        LAT_(to_rows)(f->lay, b, f->rows, s);
        for (int i = 0; i < COLOURS; i++)
            w[i] = LAT_(set)((LAT_S)scale) * s[i];
        LAT_(exponential)((LAT_(m) *)f->e + b, w);
    }
}
