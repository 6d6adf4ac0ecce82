/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_stencil.cuh: the sum of a hop at a site: its eight directions, spinors and links asked
 * for some directions ahead of the arithmetic. */
#ifndef LAT_DIRAC_CUDA_HOP_STENCIL_CUH
#define LAT_DIRAC_CUDA_HOP_STENCIL_CUH

#include "cuda_hop_sites.cuh"

/* ---- a direction ----------------------------------------------------------------------------- */

/* gamma_k = ((0, -i sigma_k), (i sigma_k, 0)). The upper spins of (1 - s gamma_k) psi are
 * h = u + s i sigma_k l; the lower ones are - s i sigma_k of them. */
template <int K, class real> DEVICE void project(real h[12], const real p[24], real s)
{
#pragma unroll
    for (int c = 0; c < 6; c += 2) {
        const real *const u0 = p + c, *const u1 = p + 6 + c, *const l0 = p + 12 + c,
                          *const l1 = p + 18 + c;
        if (K == 0) {
            h[c] = u0[0] - s * l1[1];
            h[c + 1] = u0[1] + s * l1[0];
            h[6 + c] = u1[0] - s * l0[1];
            h[7 + c] = u1[1] + s * l0[0];
        } else if (K == 1) {
            h[c] = u0[0] + s * l1[0];
            h[c + 1] = u0[1] + s * l1[1];
            h[6 + c] = u1[0] - s * l0[0];
            h[7 + c] = u1[1] - s * l0[1];
        } else {
            h[c] = u0[0] - s * l0[1];
            h[c + 1] = u0[1] + s * l0[0];
            h[6 + c] = u1[0] + s * l1[1];
            h[7 + c] = u1[1] - s * l1[0];
        }
    }
}

/* a + s b of two 16-bit numbers as floats: differences of numbers below the exponent of 2^23 are
 * exact, and a sum is a difference from the complement, ~b = 65535 - b. */
template <bool HIGH_A, bool HIGH_B> DEVICE float fixed_sum(uint32_t a, uint32_t b, bool plus)
{
    const float x = HIGH_A ? high(a) : low(a);
    if (plus)
        return x - (HIGH_B ? high(~b) : low(~b)) - 1;
    return x - (HIGH_B ? high(b) : low(b));
}

/* project() of words in half, in their unit. P: s is 1, not -1. */
template <int K, bool P> DEVICE void project_fixed(float h[12], const uint32_t w[12], bool swap)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const uint32_t u0 = swap ? w[6 + c] : w[c], u1 = swap ? w[9 + c] : w[3 + c],
                       l0 = swap ? w[c] : w[6 + c], l1 = swap ? w[3 + c] : w[9 + c];
        if (K == 0) {
            h[2 * c] = fixed_sum<false, true>(u0, l1, !P);
            h[2 * c + 1] = fixed_sum<true, false>(u0, l1, P);
            h[6 + 2 * c] = fixed_sum<false, true>(u1, l0, !P);
            h[7 + 2 * c] = fixed_sum<true, false>(u1, l0, P);
        } else if (K == 1) {
            h[2 * c] = fixed_sum<false, false>(u0, l1, P);
            h[2 * c + 1] = fixed_sum<true, true>(u0, l1, P);
            h[6 + 2 * c] = fixed_sum<false, false>(u1, l0, !P);
            h[7 + 2 * c] = fixed_sum<true, true>(u1, l0, !P);
        } else {
            h[2 * c] = fixed_sum<false, true>(u0, l0, !P);
            h[2 * c + 1] = fixed_sum<true, false>(u0, l0, P);
            h[6 + 2 * c] = fixed_sum<false, true>(u1, l1, P);
            h[7 + 2 * c] = fixed_sum<true, false>(u1, l1, !P);
        }
    }
}

/* f times colour c of the product, x[0..1] for the first spin and x[2..3] for the second, to the
 * result. */
template <int K, bool BACK, class real>
DEVICE void spread(real r[24], int c, const real x[4], real f)
{
    const real s = BACK ? -f : f;
    real *const u0 = r + c, *const u1 = r + 6 + c, *const l0 = r + 12 + c, *const l1 = r + 18 + c;
    if (K == 3) { /* forward: the lower spins; back: the upper ones */
        real *const a = BACK ? u0 : l0, *const b = BACK ? u1 : l1;
        a[0] = fused(f, x[0], a[0]);
        a[1] = fused(f, x[1], a[1]);
        b[0] = fused(f, x[2], b[0]);
        b[1] = fused(f, x[3], b[1]);
        return;
    }
    u0[0] = fused(f, x[0], u0[0]);
    u0[1] = fused(f, x[1], u0[1]);
    u1[0] = fused(f, x[2], u1[0]);
    u1[1] = fused(f, x[3], u1[1]);
    if (K == 0) {
        l0[0] = fused(s, x[3], l0[0]);
        l0[1] = fused(-s, x[2], l0[1]);
        l1[0] = fused(s, x[1], l1[0]);
        l1[1] = fused(-s, x[0], l1[1]);
    } else if (K == 1) {
        l0[0] = fused(-s, x[2], l0[0]);
        l0[1] = fused(-s, x[3], l0[1]);
        l1[0] = fused(s, x[0], l1[0]);
        l1[1] = fused(s, x[1], l1[1]);
    } else if (K == 2) {
        l0[0] = fused(s, x[1], l0[0]);
        l0[1] = fused(-s, x[0], l0[1]);
        l1[0] = fused(-s, x[3], l1[0]);
        l1[1] = fused(s, x[2], l1[1]);
    }
}

/* r += f spread(U h), or of U^+. f is 1 but in half, where it is the unit of U and h. */
template <int K, bool BACK, class real>
DEVICE void multiply(real r[24], const real u[18], const real h[12], real f)
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        real x[4] = {0, 0, 0, 0};
#pragma unroll
        for (int j = 0; j < 3; j++) {
            const real re = BACK ? u[6 * j + 2 * i] : u[6 * i + 2 * j],
                       im = BACK ? -u[6 * j + 2 * i + 1] : u[6 * i + 2 * j + 1];
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const real hr = h[6 * k + 2 * j], hi = h[6 * k + 2 * j + 1];
                x[2 * k] += re * hr;
                x[2 * k] -= im * hi;
                x[2 * k + 1] += re * hi;
                x[2 * k + 1] += im * hr;
            }
        }
        spread<K, BACK>(r, 2 * i, x, f);
    }
}

/* ---- the hop at a site ----------------------------------------------------------------------- */

/* r = b x + shift gamma5 x but for its sign, spins being exchanged when r is stored (flip). */
template <int P>
DEVICE void affine(typename lat_form<P>::real r[24], const uint32_t *words, const lat_hop_args &a)
{
    typedef typename lat_form<P>::real real;
    const real b = (real)a.b, re = (real)a.shift[0], im = (real)a.shift[1];
#pragma unroll
    for (int k = 0; k < 24; k += 2) {
        const int other = k < 12 ? k + 12 : k - 12;
        const real x = word_real<P>(words, other), y = word_real<P>(words, other + 1);
        r[k] = fused(b, word_real<P>(words, k), fused(-im, y, rounded_product(re, x)));
        r[k + 1] = fused(b, word_real<P>(words, k + 1), fused(im, x, rounded_product(re, y)));
    }
}

/* Direction n of 0 .. 7: x+, x-, y+, .. t-. */
#define HOP_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* PHASES: any phases in any direction; otherwise a real one in t alone. (The branch would cost the
 * others registers.) */
/* GHOSTS: t is cut among ranks. */
template <int P, int R, bool MANY, bool PHASES, int SW, bool GHOSTS> struct hop {
    typedef lat_form<P> form;
    typedef typename form::real real;
    typedef lat_link_form<P, R> link;
    enum { LINKS = 8 * link::BLOCK, IN_SPACE = 6 * link::BLOCK }; /* bytes of a group's links */
    enum { TAKE = P != LAT_STORAGE_DOUBLE }; /* there registers do not do for it */

    struct raw { /* words on their way */
        uint32_t spinor[form::WORDS], u[MANY ? 1 : link::WORDS];
        float norm;
    };

    /* Has the site a link in direction N, or is it 1? */
    template <int N> static __device__ __forceinline__ bool linked(const lat_hop_site &p)
    {
        return N < 6 || p.crosses >> (N == 6 ? 11 : 15) & 1;
    }

    template <int N>
    static __device__ __forceinline__ void fetch(raw &w, const lat_hop_args &a,
                                                 const lat_hop_site &p, const char *in,
                                                 size_t ghost, uint64_t policy)
    {
        enum { K = N / 2, BACK = N % 2 };
        const uint32_t n = p.next[K + 4 * BACK];
        const bool cut = GHOSTS && K == 3 && p.crosses >> (K + 4 * BACK) & 1;
        const char *const group = (cut ? a.faces.ghost[!BACK] + ghost : in)
                                  + (size_t)(n / 32) * form::GROUP;
        if (!MANY && linked<N>(p))
            load_link<P, R>(w.u, a.links + (size_t)p.group * LINKS + N * link::BLOCK, p.i % 32,
                            policy);
        if (K < 3)
            load_spinor<P>(w.spinor, &w.norm, group, n % 32, P != LAT_STORAGE_HALF && SWAP(a));
        else if (cut && TAKE)
            take_two_spins<P>(w.spinor, &w.norm, (char *)group, n % 32, (!BACK) != SWAP(a));
        else
            load_two_spins<P>(w.spinor, &w.norm, group, n % 32, (!BACK) != SWAP(a));
    }

    /* The half spinor, times a complex phase; returns what else it is to be multiplied by: a real
     * phase, the weight of t, in half the units of spinor and link. */
    template <int N>
    static __device__ __forceinline__ real half_spinor(real h[12], const raw &w,
                                                       const lat_hop_args &a, const lat_hop_site &p)
    {
        enum { K = N / 2, BACK = N % 2, KK = K < 3 ? K : 0 };
        const bool crosses = p.crosses >> (K + 4 * BACK) & 1;
        real f = P == LAT_STORAGE_HALF ? (real)(w.norm * (LAT_FIXED_ONE * LAT_FIXED_ONE)) : (real)1;
        if (K < 3 && P == LAT_STORAGE_HALF) {
            project_fixed<KK, !BACK>((float *)h, w.spinor, SWAP(a));
        } else if (K < 3) {
            real v[24];
#pragma unroll
            for (int k = 0; k < 24; k++)
                v[k] = word_real<P>(w.spinor, k);
            project<KK>(h, v, BACK ? (real)-1 : (real)1);
        } else {
            const bool real_phase = crosses && !(PHASES && a.phases >> (K + 4 * BACK) & 1);
            f *= (real)(2 * a.t) * (real_phase ? (real)a.edge[BACK] : (real)1);
            const bool lower = P == LAT_STORAGE_HALF && (!BACK) != SWAP(a);
#pragma unroll
            for (int k = 0; k < 12; k++)
                h[k] = P != LAT_STORAGE_HALF ? word_real<P>(w.spinor, k)
                       : lower               ? word_real<P>(w.spinor, 4 + k)
                                             : word_real<P>(w.spinor, k);
        }
        if (PHASES && a.phases >> (K + 4 * BACK) & 1 && crosses) {
            const real re = (real)a.phase[K][0],
                       im = BACK ? -(real)a.phase[K][1] : (real)a.phase[K][1];
#pragma unroll
            for (int k = 0; k < 12; k += 2) {
                const real x = h[k], y = h[k + 1];
                h[k] = re * x - im * y;
                h[k + 1] = re * y + im * x;
            }
        }
        return f;
    }

    /* r += scale times direction N: where the link is 1; with the words of a link. */
    template <int N>
    static __device__ __forceinline__ void add_unit(real r[24], const raw &w, const lat_hop_args &a,
                                                    const lat_hop_site &p, real scale)
    {
        real h[12];
        const real f = scale * half_spinor<N>(h, w, a, p)
                       * (P == LAT_STORAGE_HALF ? (real)(1 / LAT_FIXED_ONE) : (real)1);
#pragma unroll
        for (int c = 0; c < 6; c += 2) {
            const real x[4] = {h[c], h[c + 1], h[6 + c], h[7 + c]};
            spread<N / 2, N % 2 != 0>(r, c, x, f);
        }
    }

    template <int N>
    static __device__ __forceinline__ void add(real r[24], const raw &w, const lat_hop_args &a,
                                               const lat_hop_site &p, const uint32_t *words,
                                               real scale)
    {
        real h[12], u[18];
        if (!linked<N>(p)) {
            add_unit<N>(r, w, a, p, scale);
            return;
        }
        open_link<P, R>(u, words);
        const real f = scale * half_spinor<N>(h, w, a, p);
        multiply<N / 2, N % 2 != 0>(r, u, h, f);
    }

    /* The same with the link that was fetched, or is in shared memory. */
    template <int N>
    static __device__ __forceinline__ void compute(real r[24], const raw &w, const lat_hop_args &a,
                                                   const lat_hop_site &p, const char *shared,
                                                   real scale)
    {
        uint32_t words[link::WORDS];
        if (MANY && linked<N>(p))
            shared_link<P, R>(words, shared + N * link::BLOCK, p.i % 32);
        add<N>(r, w, a, p, MANY ? words : w.u, scale);
    }

    /* r = scale h(x), loads AHEAD directions before their arithmetic. With x, a group of spinors, r
     * begins with what an affine end makes of it. */
    template <int AHEAD, bool AFFINE>
    static __device__ __forceinline__ void apply(real r[24], const lat_hop_args &a,
                                                 const lat_hop_site &p, const char *in,
                                                 size_t ghost, uint64_t policy, const char *shared,
                                                 real scale, const char *x)
    {
        raw w[AHEAD + 1];
        uint32_t words[AFFINE ? form::WORDS : 1];
#define FETCH(n) fetch<(n) < 8 ? (n) : 7>(w[(n) % (AHEAD + 1)], a, p, in, ghost, policy)
#define STEP(n) \
    if ((n) + AHEAD < 8 && (n) + AHEAD > 0) \
        FETCH((n) + AHEAD); \
    compute<n>(r, w[(n) % (AHEAD + 1)], a, p, shared, scale);
        if (AFFINE)
            load_spinor<P>(words, NULL, x, p.i % 32, SWAP(a));
        FETCH(0);
        if (AHEAD > 1)
            FETCH(1);
        if (AFFINE)
            affine<P>(r, words, a);
        else
#pragma unroll
            for (int k = 0; k < 24; k++)
                r[k] = 0;
        HOP_EACH(STEP)
#undef STEP
#undef FETCH
    }
};

#endif
