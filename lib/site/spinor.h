/* SPDX-License-Identifier: BSD-3-Clause */
/* spinor.h: spinors of a site, and what a hop does to their spins (template, see real.h).
 *
 * The basis has gamma_t = diag(1, 1, -1, -1): a neighbour in t needs two spins alone. A direction d
 * is 0 for forward in t, 1 for backward, 2 .. 7 for x, y, z in turn. Forward in space
 *     x: psi_0 + i psi_3, psi_1 + i psi_2   y: psi_0 - psi_3, psi_1 + psi_2
 *     z: psi_0 + i psi_2, psi_1 - i psi_3
 * are the two spins of (1 - gamma_mu) psi that the others follow from. With the other sign of
 * gamma_y, as lib/vector/cuda/cuda_spinor.cuh has it, forward and backward of y change places. */

/* An index that the compiler knows when it first sees the text. */
#undef LAT_COLOUR
#undef LAT_COLOURS
#define LAT_COLOUR(n, ...) \
    { \
        enum { c = n }; \
        __VA_ARGS__ \
    }
#if LAT_N == 3
#define LAT_COLOURS(...) \
    { \
        LAT_COLOUR(0, __VA_ARGS__) LAT_COLOUR(1, __VA_ARGS__) LAT_COLOUR(2, __VA_ARGS__) \
    }
#else
#define LAT_COLOURS(...) \
    { \
        LAT_COLOUR(0, __VA_ARGS__) LAT_COLOUR(1, __VA_ARGS__) \
    }
#endif

/* To keep in a register what has been loaded, where the includer has a way. */
#ifndef LAT_KEEP
#define LAT_KEEP(x) (void)(x)
#endif

/* c + a b and c - a b in one rounding, a b in another one: on a GPU, where bits would depend on
 * which products the compiler fuses with a sum. */
#if !defined(__CUDA_ARCH__)
LAT_HOST_DEVICE LAT_T LAT_(product_of)(LAT_T a, LAT_T b) { return a * b; }
LAT_HOST_DEVICE LAT_T LAT_(plus_product)(LAT_T c, LAT_T a, LAT_T b) { return c + a * b; }
LAT_HOST_DEVICE LAT_T LAT_(minus_product)(LAT_T c, LAT_T a, LAT_T b) { return c - a * b; }
#elif LAT_SIZE == 4
LAT_HOST_DEVICE LAT_T LAT_(product_of)(LAT_T a, LAT_T b) { return __fmul_rn(a, b); }
LAT_HOST_DEVICE LAT_T LAT_(plus_product)(LAT_T c, LAT_T a, LAT_T b) { return __fmaf_rn(a, b, c); }
LAT_HOST_DEVICE LAT_T LAT_(minus_product)(LAT_T c, LAT_T a, LAT_T b) { return __fmaf_rn(-a, b, c); }
#else
LAT_HOST_DEVICE LAT_T LAT_(product_of)(LAT_T a, LAT_T b) { return __dmul_rn(a, b); }
LAT_HOST_DEVICE LAT_T LAT_(plus_product)(LAT_T c, LAT_T a, LAT_T b) { return __fma_rn(a, b, c); }
LAT_HOST_DEVICE LAT_T LAT_(minus_product)(LAT_T c, LAT_T a, LAT_T b) { return __fma_rn(-a, b, c); }
#endif

typedef struct {
    LAT_T v[2][LAT_N][2];
} LAT_(half);
typedef struct {
    LAT_T v[4][LAT_N][2];
} LAT_(spinor);

/* ---- to the neighbour's half spinor ---------------------------------------------------------- */

/* Spins 0 and 1 of a half spinor from those of psi: COPY(i, a): i is spin a; ADD, SUB, ADDI,
 * SUBI(i, a, b): a + b, a - b, a + i b, a - i b. */
#undef LAT_PROJECT
#define LAT_PROJECT(d) \
    switch (d) { \
    case 0: COPY(0, 2) COPY(1, 3) break; \
    case 1: COPY(0, 0) COPY(1, 1) break; \
    case 2: ADDI(0, 0, 3) ADDI(1, 1, 2) break; \
    case 3: SUBI(0, 0, 3) SUBI(1, 1, 2) break; \
    case 4: SUB(0, 0, 3) ADD(1, 1, 2) break; \
    case 5: ADD(0, 0, 3) SUB(1, 1, 2) break; \
    case 6: ADDI(0, 0, 2) SUBI(1, 1, 3) break; \
    default: SUBI(0, 0, 2) ADDI(1, 1, 3) break; \
    }

#define P(s, k) ((s) < 2 ? up : low)[((s) % 2 * LAT_N + c) * 2 + (k)]
#define H(i, re, im) LAT_COLOURS(h.v[i][c][0] = re; h.v[i][c][1] = im;)
#define COPY(i, a) H(i, P(a, 0), P(a, 1))
#define ADD(i, a, b) H(i, P(a, 0) + P(b, 0), P(a, 1) + P(b, 1))
#define SUB(i, a, b) H(i, P(a, 0) - P(b, 0), P(a, 1) - P(b, 1))
#define ADDI(i, a, b) H(i, P(a, 0) - P(b, 1), P(a, 1) + P(b, 0))
#define SUBI(i, a, b) H(i, P(a, 0) + P(b, 1), P(a, 1) - P(b, 0))
/* Of t only those two spins are read that are left. */
LAT_HOST_DEVICE LAT_(half) LAT_(project)(const LAT_T *up, const LAT_T *low, int d)
{
    LAT_(half) h;
    LAT_PROJECT(d)
    return h;
}
#undef P
#undef H
#undef COPY
#undef ADD
#undef SUB
#undef ADDI
#undef SUBI

/* h times a phase, re and im. */
LAT_HOST_DEVICE void LAT_(rotate)(LAT_(half) *h, const LAT_T phase[2])
{
    for (int i = 0; i < 2; i++)
        LAT_COLOURS(const LAT_T re = h->v[i][c][0]; const LAT_T im = h->v[i][c][1];
                    h->v[i][c][0] = re * phase[0] - im * phase[1];
                    h->v[i][c][1] = re * phase[1] + im * phase[0];)
}

/* ---- to the four spins of the sum ------------------------------------------------------------ */

/* f times colour c of the half spinor (a, b) is added to the sum r. Where a sum begins with t
 * (LAT_T_FIRST) its directions set it, and x+, the next but one, multiplies it by `weight`. */
#define R(s, k) r->v[s][c][k]
#if defined(LAT_T_FIRST)
#define W(s, k) (d == 2 ? weight * R(s, k) : R(s, k))
#define SET(s, x) \
    R(s, 0) = f * x[0]; \
    R(s, 1) = f * x[1];
#else
#define W(s, k) R(s, k)
#define SET(s, x) ADD(s, x)
#endif
#define TO(s, k, how, x) R(s, k) = LAT_(how)(W(s, k), f, x);
#define ADD(s, x) TO(s, 0, plus_product, x[0]) TO(s, 1, plus_product, x[1])
#define SUB(s, x) TO(s, 0, minus_product, x[0]) TO(s, 1, minus_product, x[1])
#define ADDI(s, x) TO(s, 0, minus_product, x[1]) TO(s, 1, plus_product, x[0])
#define SUBI(s, x) TO(s, 0, plus_product, x[1]) TO(s, 1, minus_product, x[0])
LAT_HOST_DEVICE void LAT_(spread)(LAT_(spinor) *r, const LAT_T a[2], const LAT_T b[2], int c, int d,
                                  LAT_T weight, LAT_T f)
{
    (void)weight;
    switch (d) {
    case 0: SET(2, a) SET(3, b) break;
    case 1: SET(0, a) SET(1, b) break;
    case 2: ADD(0, a) ADD(1, b) SUBI(2, b) SUBI(3, a) break;
    case 3: ADD(0, a) ADD(1, b) ADDI(2, b) ADDI(3, a) break;
    case 4: ADD(0, a) ADD(1, b) ADD(2, b) SUB(3, a) break;
    case 5: ADD(0, a) ADD(1, b) SUB(2, b) ADD(3, a) break;
    case 6: ADD(0, a) ADD(1, b) SUBI(2, a) ADDI(3, b) break;
    default: ADD(0, a) ADD(1, b) ADDI(2, a) SUBI(3, b) break;
    }
}
#undef R
#undef W
#undef TO
#undef ADD
#undef SUB
#undef ADDI
#undef SUBI
#undef SET

/* ---- the diagonal ---------------------------------------------------------------------------- */

/* y = H x, H one of the two Hermitian matrices of a site's clover term: its diagonal, then what is
 * below it, row by row. */
LAT_HOST_DEVICE void LAT_(hermitian)(LAT_T y[2 * LAT_N][2], LAT_T x[2 * LAT_N][2],
                                     const LAT_T *packed)
{
    const LAT_T *below = packed + 2 * LAT_N;
    LAT_UNROLL
    for (int i = 0; i < 2 * LAT_N; i++) {
        y[i][0] = LAT_(product_of)(packed[i], x[i][0]);
        y[i][1] = LAT_(product_of)(packed[i], x[i][1]);
        LAT_UNROLL
        for (int j = 0; j < i; j++, below += 2) {
            LAT_T re = below[0], im = below[1];
            LAT_KEEP(re);
            LAT_KEEP(im);
            y[i][0] += re * x[j][0];
            y[i][1] += re * x[j][1];
            y[i][0] -= im * x[j][1];
            y[i][1] += im * x[j][0];
            y[j][0] += re * x[i][0];
            y[j][1] += re * x[i][1];
            y[j][0] += im * x[i][1];
            y[j][1] -= im * x[i][0];
        }
    }
}

/* y += i s times x with upper and lower spins exchanged, which is gamma5 x but for its sign. */
LAT_HOST_DEVICE void LAT_(add_twist)(LAT_T *y, const LAT_T *x, LAT_T s)
{
    enum { HALF_REALS = 4 * LAT_N };
    for (int i = 0; i < 2 * HALF_REALS; i += 2) {
        const LAT_T *from = x + (i < HALF_REALS ? i + HALF_REALS : i - HALF_REALS);
        y[i] -= s * from[1];
        y[i + 1] += s * from[0];
    }
}
