/* SPDX-License-Identifier: BSD-3-Clause */
/* wilson.h: a direction of the Wilson hop at a site, (1 -+ gamma_mu) U psi (template, see real.h;
 * after spinor.h and elementary.h). */

/* All directions, in the order of whoever expands X. */
#undef LAT_EACH_DIRECTION
#define LAT_EACH_DIRECTION(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* r += f spread(U h), or of U^+. The rows of U but the last are at u, and that at `last`. */
#define ROW(i) ((i) == LAT_N - 1 ? last : u + (i)*2 * LAT_N)
#define LINK(j) \
    { \
        const LAT_T *at = dagger ? ROW(j) + 2 * c : ROW(c) + 2 * (j); \
        w[0] = at[0]; \
        w[1] = dagger ? -at[1] : at[1]; \
        LAT_KEEP(w[0]); \
        LAT_KEEP(w[1]); \
    }
#define MUL(x, y) \
    x[0] = LAT_(product_of)(w[0], y[0]); \
    x[1] = LAT_(product_of)(w[0], y[1]); \
    x[0] -= w[1] * y[1]; \
    x[1] += w[1] * y[0];
#define MAC(x, y) \
    x[0] += w[0] * y[0]; \
    x[1] += w[0] * y[1]; \
    x[0] -= w[1] * y[1]; \
    x[1] += w[1] * y[0];
LAT_HOST_DEVICE void LAT_(add_link)(LAT_(spinor) *r, const LAT_T *u, const LAT_T *last, bool dagger,
                                    const LAT_(half) *h, int d, LAT_T weight, LAT_T f)
{
    LAT_T a[2], b[2], w[2];
#if LAT_N == 3
#define THIRD LINK(2) MAC(a, h->v[0][2]) MAC(b, h->v[1][2])
#else
#define THIRD
#endif
    LAT_COLOURS(LINK(0) MUL(a, h->v[0][0]) MUL(b, h->v[1][0]) LINK(1) MAC(a, h->v[0][1])
                    MAC(b, h->v[1][1]) THIRD LAT_(spread)(r, a, b, c, d, weight, f);)
#undef THIRD
}
#undef ROW
#undef LINK
#undef MUL
#undef MAC

/* The same where U is 1. */
LAT_HOST_DEVICE void LAT_(add_unit)(LAT_(spinor) *r, const LAT_(half) *h, int d, LAT_T weight,
                                    LAT_T f)
{
    LAT_COLOURS(LAT_(spread)(r, h->v[0][c], h->v[1][c], c, d, weight, f);)
}

/* The last row of an SU(3) or SU(2) matrix from the others. */
#define U(i, j, k) u[((i)*LAT_N + (j)) * 2 + (k)]
#if LAT_N == 3
#define CROSS(j, a, b) \
    { \
        LAT_T re = U(0, a, 0) * U(1, b, 0), im = U(0, a, 0) * U(1, b, 1); \
        re -= U(0, a, 1) * U(1, b, 1); \
        im += U(0, a, 1) * U(1, b, 0); \
        re -= U(0, b, 0) * U(1, a, 0); \
        im -= U(0, b, 0) * U(1, a, 1); \
        re += U(0, b, 1) * U(1, a, 1); \
        im -= U(0, b, 1) * U(1, a, 0); \
        last[2 * j] = re; \
        last[2 * j + 1] = -im; \
    }
LAT_HOST_DEVICE void LAT_(last_row)(LAT_T last[2 * LAT_N],
                                    const LAT_T *u){CROSS(0, 1, 2) CROSS(1, 2, 0) CROSS(2, 0, 1)}
#undef CROSS
#else
LAT_HOST_DEVICE void LAT_(last_row)(LAT_T last[2 * LAT_N], const LAT_T *u)
{
    last[0] = -U(0, 1, 0);
    last[1] = U(0, 1, 1);
    last[2] = U(0, 0, 0);
    last[3] = -U(0, 0, 1);
}
#endif
#undef U
