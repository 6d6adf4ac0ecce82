/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.h: the gradient flow of one link (template, see real.h; after link.h).
 *
 * An element of the algebra, anti-Hermitian and traceless, is N N reals: the imaginary parts of its
 * diagonal, then for a < b, row by row, re and im of X_ab; X_ba = -conj(X_ab). */

enum { LAT_(algebra) = LAT_N * LAT_N };

/* The position of X_ab, a < b. */
LAT_HOST_DEVICE int LAT_(off_diagonal)(int a, int b)
{
    return LAT_N + 2 * (a * LAT_N - a * (a + 1) / 2 + b - a - 1);
}

/* y = beta y + alpha P[x], P the traceless anti-Hermitian part: (x - x^+)/2 minus its trace. */
LAT_HOST_DEVICE void LAT_(algebra_add)(LAT_T *y, LAT_T beta, LAT_T alpha, const LAT_(m) *x)
{
    LAT_T mean = x->e[0][0].im;
    for (int a = 1; a < LAT_N; a++)
        mean += x->e[a][a].im;
    mean *= LAT_(set)((LAT_S)(1.0 / LAT_N));
    const LAT_T half = alpha * LAT_(set)((LAT_S)0.5);
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++) {
        y[a] = beta * y[a] + alpha * (x->e[a][a].im - mean);
        LAT_UNROLL
        for (int b = a + 1; b < LAT_N; b++) {
            LAT_T *o = y + LAT_(off_diagonal)(a, b);
            o[0] = beta * o[0] + half * (x->e[a][b].re - x->e[b][a].re);
            o[1] = beta * o[1] + half * (x->e[a][b].im + x->e[b][a].im);
        }
    }
}

/* - tr x y. */
LAT_HOST_DEVICE LAT_T LAT_(algebra_overlap)(const LAT_T *x, const LAT_T *y)
{
    LAT_T d = x[0] * y[0], o = LAT_(set)(0);
    for (int a = 1; a < LAT_N; a++)
        d += x[a] * y[a];
    for (int i = LAT_N; i < LAT_(algebra); i++)
        o += x[i] * y[i];
    return d + o + o;
}

/* All elements of s x. */
LAT_HOST_DEVICE void LAT_(algebra_matrix)(LAT_(m) *m, const LAT_T *x, LAT_T s)
{
    for (int a = 0; a < LAT_N; a++) {
        m->e[a][a].re = LAT_(set)(0);
        m->e[a][a].im = s * x[a];
        for (int b = a + 1; b < LAT_N; b++) {
            const LAT_T *o = x + LAT_(off_diagonal)(a, b);
            m->e[a][b].re = s * o[0];
            m->e[a][b].im = s * o[1];
            m->e[b][a].re = LAT_(set)(0) - m->e[a][b].re;
            m->e[b][a].im = m->e[a][b].im;
        }
    }
}

/* The first `rows` rows of a b. */
LAT_HOST_DEVICE void LAT_(matrix_mul)(LAT_(m) *c, const LAT_(m) *a, const LAT_(m) *b, int rows)
{
    LAT_UNROLL
    for (int i = 0; i < rows; i++)
        LAT_(row_times)(c->e[i], a->e[i], b);
}

/* Products of whole matrices. The includer may say APART: copies of them would take a compiler
 * minutes. */
#ifndef APART
#define APART LAT_HOST_DEVICE
#endif
APART void LAT_(times)(LAT_(m) *c, const LAT_(m) *a, const LAT_(m) *b)
{
    LAT_(matrix_mul)(c, a, b, LAT_N);
}

/* a b^+ */
APART void LAT_(times_dag)(LAT_(m) *c, const LAT_(m) *a, const LAT_(m) *b)
{
    LAT_UNROLL
    for (int i = 0; i < LAT_N; i++)
        LAT_(row_times_dag)(c->e[i], a->e[i], b);
}

/* a^+ b */
APART void LAT_(dag_times)(LAT_(m) *c, const LAT_(m) *a, const LAT_(m) *b)
{
    LAT_UNROLL
    for (int i = 0; i < LAT_N; i++)
        LAT_(row_dag_times)(c->e[i], a, i, b);
}

LAT_HOST_DEVICE void LAT_(matrix_one)(LAT_(m) *m, LAT_T s)
{
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            m->e[a][b].re = a == b ? s : LAT_(set)(0);
            m->e[a][b].im = LAT_(set)(0);
        }
}

/* ---- plaquettes and rectangles of a plane ----
 * A staple over U_mu(x) on the side of nu, a b c^+ with a = U_nu(x), b = U_mu(x+nu), c =
 * U_nu(x+mu), is one side of a plaquette; of a rectangle that begins with U_mu, if the staple
 * beyond a, b or c takes its place. */

/* t = c0 a + c1 l, a <- c1 a: a side of the plaquette together with the staple that takes its
 * place in a rectangle. */
LAT_HOST_DEVICE void LAT_(mix)(LAT_S c0, LAT_S c1, LAT_(m) *t, LAT_(m) *a, const LAT_(m) *l)
{
    LAT_(matrix_one)(t, LAT_(set)(0));
    LAT_(matrix_add)(t, LAT_(set)(c0), a);
    LAT_(matrix_add)(t, LAT_(set)(c1), l);
    for (int i = 0; i < LAT_N; i++)
        for (int j = 0; j < LAT_N; j++) {
            a->e[i][j].re *= LAT_(set)(c1);
            a->e[i][j].im *= LAT_(set)(c1);
        }
}

typedef struct {
    LAT_S c0, c1;
} LAT_(path_weights);

/* s = c0 a b c^+ + c1 (l b c^+ + a up c^+ + a b right^+). a changes. */
APART void LAT_(paths_above)(LAT_(m) *s, LAT_(path_weights) w, LAT_(m) *a, const LAT_(m) *b,
                             const LAT_(m) *c, const LAT_(m) *l, const LAT_(m) *up,
                             const LAT_(m) *right)
{
    LAT_(m) t, v, x;
    LAT_(mix)(w.c0, w.c1, &t, a, l);
    LAT_(times)(&v, &t, b);
    LAT_(times)(&x, a, up);
    LAT_(matrix_add)(&v, LAT_(set)(1), &x);
    LAT_(times_dag)(s, &v, c);
    LAT_(times)(&v, a, b);
    LAT_(times_dag)(&x, &v, right);
    LAT_(matrix_add)(s, LAT_(set)(1), &x);
}

/* s = c0 a^+ b c + c1 (l^+ b c + a^+ down c + a^+ b right). a changes. */
APART void LAT_(paths_below)(LAT_(m) *s, LAT_(path_weights) w, LAT_(m) *a, const LAT_(m) *b,
                             const LAT_(m) *c, const LAT_(m) *l, const LAT_(m) *down,
                             const LAT_(m) *right)
{
    LAT_(m) t, v, x;
    LAT_(mix)(w.c0, w.c1, &t, a, l);
    LAT_(dag_times)(&v, &t, b);
    LAT_(dag_times)(&x, a, down);
    LAT_(matrix_add)(&v, LAT_(set)(1), &x);
    LAT_(times)(s, &v, c);
    LAT_(dag_times)(&v, a, b);
    LAT_(times)(&x, &v, right);
    LAT_(matrix_add)(s, LAT_(set)(1), &x);
}

/* ---- exponentials ---- */

/* e = exp(x) by Taylor's series to x^LAT_EXP_ORDER, for x whose eigenvalues are at most 1: what is
 * left out is 1/19! = 8e-18. */
enum { LAT_(exp_order) = 18 };

#if LAT_N == 2
/* x^2 = -r^2, r^2 = - tr x^2 / 2: cos r + x sin(r)/r. */
LAT_HOST_DEVICE void LAT_(algebra_exp_small)(LAT_(m) *e, const LAT_(m) *x, const LAT_T *y, LAT_T s)
{
    const LAT_T t = LAT_(set)((LAT_S)-0.5) * s * s * LAT_(algebra_overlap)(y, y);
    LAT_T c = LAT_(set)(1), f = LAT_(set)(1);
    for (int k = LAT_(exp_order) / 2; k > 0; k--) {
        c = LAT_(set)(1) + t * c * LAT_(set)((LAT_S)(1.0 / ((2 * k - 1) * (2 * k))));
        f = LAT_(set)(1) + t * f * LAT_(set)((LAT_S)(1.0 / ((2 * k) * (2 * k + 1))));
    }
    LAT_(matrix_one)(e, c);
    LAT_(matrix_add)(e, f, x);
}
#elif LAT_N == 3
/* x^3 = t x + i d, t = tr x^2 / 2, i d = det x (Cayley and Hamilton): the series, by Horner's
 * scheme, is q0 + q1 x + q2 x^2 (Morningstar, Peardon, Phys. Rev. D 69 (2004) 054501, have the sum
 * of it). */
LAT_HOST_DEVICE void LAT_(algebra_exp_small)(LAT_(m) *e, const LAT_(m) *x, const LAT_T *y, LAT_T s)
{
    const LAT_T t = LAT_(set)((LAT_S)-0.5) * s * s * LAT_(algebra_overlap)(y, y);
    /* x = i h: i d = - i det h, h_ab = x_ab / i */
    const LAT_(c) h01 = {x->e[0][1].im, -x->e[0][1].re}, h12 = {x->e[1][2].im, -x->e[1][2].re},
                  h02 = {x->e[0][2].im, -x->e[0][2].re};
    const LAT_(c) p = LAT_(mul)(h01, h12);
    const LAT_T h0 = x->e[0][0].im, h1 = x->e[1][1].im, h2 = x->e[2][2].im;
    const LAT_T det = h0 * h1 * h2 + LAT_(set)(2) * (p.re * h02.re + p.im * h02.im)
                      - h0 * (h12.re * h12.re + h12.im * h12.im)
                      - h1 * (h02.re * h02.re + h02.im * h02.im)
                      - h2 * (h01.re * h01.re + h01.im * h01.im);
    const LAT_T zero = LAT_(set)(0);
    LAT_(c) q0 = {LAT_(set)(1), zero}, q1 = {zero, zero}, q2 = {zero, zero};
    /* exp(x) = 1 + x/1 (1 + x/2 (1 + x/3 (..))) from inside. */
    LAT_UNROLL_ALL
    for (int k = LAT_(exp_order); k > 0; k--) {
        const LAT_T r = LAT_(set)((LAT_S)(1.0 / k));
        const LAT_(c) last = {q2.re * r, q2.im * r};
        q2.re = q1.re * r;
        q2.im = q1.im * r;
        q1.re = q0.re * r + t * last.re;
        q1.im = q0.im * r + t * last.im;
        q0.re = LAT_(set)(1) + det * last.im;
        q0.im = zero - det * last.re;
    }
    LAT_(m) square;
    LAT_(matrix_mul)(&square, x, x, LAT_N);
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            e->e[a][b] = LAT_(mul)(q1, x->e[a][b]);
            e->e[a][b] = LAT_(fma)(e->e[a][b], q2, square.e[a][b]);
        }
    for (int a = 0; a < LAT_N; a++) {
        e->e[a][a].re += q0.re;
        e->e[a][a].im += q0.im;
    }
}
#else
/* In groups of four powers (Paterson, Stockmeyer, SIAM J. Comput. 2 (1973) 60). */
LAT_HOST_DEVICE void LAT_(algebra_exp_small)(LAT_(m) *e, const LAT_(m) *x, const LAT_T *y, LAT_T s)
{
    LAT_(m) x2, x3, x4, next;
    double factorial = 1;
    (void)y;
    (void)s;
    LAT_(matrix_mul)(&x2, x, x, LAT_N);
    LAT_(matrix_mul)(&x3, &x2, x, LAT_N);
    LAT_(matrix_mul)(&x4, &x2, &x2, LAT_N);
    for (int k = 2; k <= 19; k++)
        factorial *= k;
    for (int k = 16; k >= 0; k -= 4) { /* of the powers k to k + 3; factorial is (k + 3)! */
        const double c3 = 1 / factorial, c2 = c3 * (k + 3), c1 = c2 * (k + 2), c0 = c1 * (k + 1);
        LAT_(matrix_one)(&next, LAT_(set)((LAT_S)c0));
        LAT_(matrix_add)(&next, LAT_(set)((LAT_S)c1), x);
        LAT_(matrix_add)(&next, LAT_(set)((LAT_S)c2), &x2);
        LAT_(matrix_add)(&next, LAT_(set)((LAT_S)c3), &x3);
        if (k < 16) {
            LAT_(m) product;
            LAT_(matrix_mul)(&product, e, &x4, LAT_N);
            LAT_(matrix_add)(&next, LAT_(set)(1), &product);
        }
        *e = next;
        factorial /= k > 0 ? (double)(k + 3) * (k + 2) * (k + 1) * k : 1;
    }
}
#endif

/* u <- exp(eps y) u, its rows orthonormal to rounding. The eigenvalues of eps y are at most
 * 2^halvings: exp of its 2^halvings-th part is squared so often. */
LAT_HOST_DEVICE void LAT_(algebra_apply)(LAT_(m) *u, const LAT_T *y, LAT_S eps, int halvings)
{
    LAT_S part = eps;
    LAT_(m) x, e, v;
    for (int i = 0; i < halvings; i++)
        part *= (LAT_S)0.5;
    LAT_(algebra_matrix)(&x, y, LAT_(set)(part));
    LAT_(algebra_exp_small)(&e, &x, y, LAT_(set)(part));
    for (int i = 0; i < halvings; i++) {
        v = e;
        LAT_(matrix_mul)(&e, &v, &v, LAT_N);
    }
    LAT_(matrix_mul)(&v, &e, u, LAT_LINK_ROWS);
    LAT_(orthonormal_again)(&v);
    *u = v;
}
