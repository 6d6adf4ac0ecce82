/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_site.h: the operator at a site (template), one text for CPU and GPU: V is a vector of REAL,
 * columns or sites side by side, or one number; LINK is the type of a link's reals: REAL, or V
 * where sites are side by side; COLOUR(v, c) is colour number c of v, which is a VECTOR; SIZE is N,
 * or the largest one, and UNROLL is for loops over it, UNROLL_AXES for
 * loops over axes; NAME(x) gives names. columns_site.h and
 * single_site.h are made of it.
 *
 * With W = 2 w^a T^a and the links halved, M w is the Hermitian part of
 *     S W(x) - sum_mu [ U_mu(x) W(x+mu) + U_mu(x-mu)^+ W(x-mu) ],     S the diagonal,
 * projected on T^a: for P^a[X] = 2 Re tr(T^a X) depends on the Hermitian part alone, and
 * P^a[W U] = P^a[U^+ W]. Of the Hermitian part g has, for i < k, X_ik + conj(X_ki), and on its
 * diagonal Re X_ii. */

/* W from its colours: the diagonal, and above it re, im. */
LAT_INLINE void NAME(matrix)(int n, const VECTOR *v, V w[SIZE][SIZE][2])
{
    V sum = {0}; /* of the diagonal matrices k > i */
    UNROLL
    for (int k = n - 1; k > 0; k--) {
        int c = k * k - 1;
        UNROLL
        for (int i = 0; i < k; i++, c += 2) {
            w[i][k][0] = COLOUR(v, c);
            w[i][k][1] = -COLOUR(v, c + 1);
        }
        const V d = COLOUR(v, c) * (REAL)diagonal_factor(k);
        w[k][k][0] = sum - d * (REAL)k;
        sum += d;
    }
    w[0][0][0] = sum;
}

/* y += x a, or y -= x a. */
LAT_INLINE void NAME(more)(V *y, V x, LINK a, bool minus)
{
    if (minus)
        *y -= x * a;
    else
        *y += x * a;
}

/* g += the Hermitian part of U W, or of U^+ W; or -= it. */
LAT_INLINE void NAME(add)(int n, V g[SIZE][SIZE][2], const LINK *u, bool dagger, bool minus,
                          V w[SIZE][SIZE][2])
{
    UNROLL
    for (int i = 0; i < n; i++)
        UNROLL
    for (int k = i; k < n; k++)
        UNROLL
    for (int j = 0; j < n; j++) {
        /* U_ij W_jk + conj(U_kj) W_ij; on the diagonal the real part of the first alone.
         * Below its diagonal W is the complex conjugate; U^+ is that of U transposed. */
        const LINK *p = u + 2 * (dagger ? j * n + i : i * n + j),
                   *q = u + 2 * (dagger ? j * n + k : k * n + j);
        const V *wp = j < k ? w[j][k] : w[k][j], *wq = i < j ? w[i][j] : w[j][i];
        const bool below_p = j > k, below_q = j < i;
        NAME(more)(&g[i][k][0], wp[0], p[0], minus);
        if (j != k) /* - Im U Im W */
            NAME(more)(&g[i][k][0], wp[1], p[1], minus != (dagger == below_p));
        if (i == k)
            continue;
        NAME(more)(&g[i][k][1], wp[0], p[1], minus != dagger);
        if (j != k)
            NAME(more)(&g[i][k][1], wp[1], p[0], minus != below_p);
        NAME(more)(&g[i][k][0], wq[0], q[0], minus);
        NAME(more)(&g[i][k][1], wq[0], q[1], minus == dagger);
        if (i != j) {
            NAME(more)(&g[i][k][0], wq[1], q[1], minus != (dagger != below_q));
            NAME(more)(&g[i][k][1], wq[1], q[0], minus != below_q);
        }
    }
}

/* The colours of g to `out`; their sums, unless NULL, and products with `in`. */
LAT_INLINE void NAME(project)(int n, V g[SIZE][SIZE][2], VECTOR *out, const VECTOR *in, V *dot,
                              VECTOR *sum)
{
    V trace = g[0][0][0], product = *dot;
    int c = 0;
    UNROLL
    for (int k = 1; k < n; k++) {
        UNROLL
        for (int i = 0; i <= k; i++)
            for (int part = 0; part < (i < k ? 2 : 1); part++, c++) {
                const V v = i == k ? (trace - g[k][k][0] * (REAL)k) * (REAL)diagonal_factor(k)
                            : part ? -g[i][k][1]
                                   : g[i][k][0];
                COLOUR(out, c) = v;
                if (sum)
                    COLOUR(sum, c) += v;
                product += v * COLOUR(in, c);
            }
        trace += g[k][k][0];
    }
    *dot = product;
}
