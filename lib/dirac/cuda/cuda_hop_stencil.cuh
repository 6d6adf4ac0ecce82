/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_stencil.cuh: the sum of a hop at a site: its eight directions, spinors and links asked
 * for some directions ahead of the arithmetic, which is that of site/spinor.h and site/wilson.h.
 *
 * Where numbers come from is the business of accessors. Of spinors (in_memory; in_tile of
 * cuda_hop_tile.cuh):
 *     fetch<N>(words)      asks for the spinor of neighbour N, of t for two spins of it
 * of links (links_in_memory, links_at_hand):
 *     fetch<N>(words)      asks for link N, if there is one
 *     open<N>(u, words)    its 18 numbers
 * and of what the sum begins with (begin_zero, begin_affine):
 *     fetch(..), set(r). */
#pragma once

#include "dirac/cuda/cuda_hop_faces.cuh"
#include "dirac/cuda/cuda_links.cuh"

/* ---- what is read ---------------------------------------------------------------------------- */

template <int P> struct hop_words { /* of a spinor, on their way */
    uint32_t w[lat_form<P>::WORDS];
    float norm;
};

template <int P, int GHOSTS> struct in_memory {
    /* Ghosts are taken as they come where registers do for it: those of t, but in double, and in
     * half those of z; none where y is cut. For others, bits k of neighbours, a site waits before,
     * and empties them afterwards (edge_ghosts). */
    enum {
        OF_Y = GHOSTS == LAT_GHOSTS_OF_Y,
        FIRST = OF_Y ? 1 : 2, /* axis that may be cut */
        TAKES_T = P != LAT_STORAGE_DOUBLE && !OF_Y,
        TAKES_Z = P == LAT_STORAGE_HALF && !OF_Y,
        AWAITS = (TAKES_T ? 0 : 0x88) | (TAKES_Z ? 0 : 0x44) | (OF_Y ? 0x22 : 0)
    };
    const lat_hop_args &a;
    const lat_hop_site &p;
    const char *column; /* of the other parity */
    int place;          /* of the column in `active` */
    bool swap;

    /* Of neighbour N: the first group of the ghosts of the column. */
    template <int N> METHOD const char *ghost() const
    {
        enum { K = N / 2, BACK = N % 2, WHOLE = K < 3, SIDE = 2 * WHOLE + !BACK }; /* faces.h */
        if (K == 1)
            return a.rows.ghost[!BACK] + (size_t)place * a.rows.column;
        return a.faces.ghost[SIDE] + (size_t)place * a.faces.column[WHOLE];
    }
    template <int N> METHOD void fetch(hop_words<P> &to) const
    {
        enum { K = N / 2, BACK = N % 2, WHOLE = K < 3 };
        const uint32_t n = p.next[K + 4 * BACK];
        const bool cut = GHOSTS && K >= (int)FIRST && p.crosses >> (16 + K + 4 * BACK) & 1;
        const char *const group = (cut ? ghost<N>() : column)
                                  + (size_t)(n / 32) * lat_form<P>::GROUP;
        const bool lower = !BACK != swap; /* of t */
        if (cut && (WHOLE ? TAKES_Z : TAKES_T))
            take_ghost<P, WHOLE>(to.w, &to.norm, (char *)group, n % 32, WHOLE ? swap : lower);
        else if (WHOLE)
            load_spinor<P>(to.w, &to.norm, group, n % 32, swap);
        else
            load_two_spins<P>(to.w, &to.norm, group, n % 32, lower);
    }
};

template <int P, int R> struct links_in_memory {
    typedef lat_link_form<P, R> form;
    struct words {
        uint32_t w[form::WORDS];
    };
    const lat_hop_site &p;
    const char *group;
    uint64_t policy;

    template <int N> METHOD void fetch(words &to) const
    {
        if (linked<N>(p))
            load_link<P, R>(to.w, group + N * form::BLOCK, p.i % 32, policy);
    }
    template <int N> METHOD void open(real_of<P> u[18], const words &from) const
    {
        open_link<P, R>(u, from.w);
    }
};

/* Of the first HELD directions in registers, of others in shared memory. */
template <int P, int R, int HELD> struct links_at_hand {
    typedef lat_link_form<P, R> form;
    struct words {};
    uint32_t held[HELD ? HELD : 1][form::WORDS];
    const char *shared;
    uint32_t lane;

    template <int N> METHOD void hold(const lat_hop_site &p, const char *group, uint64_t policy)
    {
        if (N < HELD && linked<N>(p))
            load_link<P, R>(held[N < HELD ? N : 0], group + N * form::BLOCK, p.i % 32, policy);
    }
    template <int N> METHOD void fetch(words &) const {}
    template <int N> METHOD void open(real_of<P> u[18], const words &) const
    {
        uint32_t w[form::WORDS];
        if (N >= HELD)
            load_link<P, R, true>(w, shared + (N - HELD) * form::BLOCK, lane, 0);
        open_link<P, R>(u, N < HELD ? held[N < HELD ? N : 0] : w);
    }
};

template <int P> struct begin_zero {
    METHOD void fetch(const lat_hop_args &, const char *, uint32_t) {}
    METHOD void set(real_of<P> r[24], const lat_hop_args &) const
    {
#pragma unroll
        for (int k = 0; k < 24; k++)
            r[k] = 0;
    }
};

/* r = b x + shift gamma5 x but for its sign, spins being exchanged when r is stored (flip). */
template <int P> struct begin_affine {
    uint32_t words[lat_form<P>::WORDS];

    METHOD void fetch(const lat_hop_args &a, const char *x, uint32_t lane)
    {
        load_spinor<P>(words, NULL, x, lane, a.swap != 0);
    }
    METHOD void set(real_of<P> r[24], const lat_hop_args &a) const
    {
        typedef real_of<P> real;
        const real b = (real)a.end.b, re = (real)a.end.shift[0], im = (real)a.end.shift[1];
#pragma unroll
        for (int k = 0; k < 24; k += 2) {
            const int other = k < 12 ? k + 12 : k - 12;
            const real x = word_real<P>(words, other), y = word_real<P>(words, other + 1);
            r[k] = fused(b, word_real<P>(words, k), fused(-im, y, rounded_product(re, x)));
            r[k + 1] = fused(b, word_real<P>(words, k + 1), fused(im, x, rounded_product(re, y)));
        }
    }
};

/* Either, as a.rows.end says. */
template <int P> struct begin_any {
    begin_affine<P> affine;

    METHOD void fetch(const lat_hop_args &a, const char *x, uint32_t lane)
    {
        if (P != LAT_STORAGE_HALF && a.rows.end == LAT_END_AFFINE)
            affine.fetch(a, x, lane);
    }
    METHOD void set(real_of<P> r[24], const lat_hop_args &a) const
    {
        if (P != LAT_STORAGE_HALF && a.rows.end == LAT_END_AFFINE)
            affine.set(r, a);
        else
            begin_zero<P>().set(r, a);
    }
};

/* ---- a direction ----------------------------------------------------------------------------- */

/* Direction N of 0 .. 7 as site/spinor.h counts: t comes first there, and forward and backward of y
 * are exchanged. */
__host__ __device__ constexpr int site_direction(int n)
{
    return n >= 6 ? n - 6 : n == 2 ? 5 : n == 3 ? 4 : n + 2;
}

/* a + b or a - b of two 16-bit numbers as floats: differences of numbers below the exponent of 2^23
 * are exact, and a sum is a difference from the complement, ~b = 65535 - b. */
template <bool HIGH_A, bool HIGH_B> DEVICE float fixed_sum(uint32_t a, uint32_t b, bool plus)
{
    const float x = HIGH_A ? high(a) : low(a);
    if (plus)
        return x - (HIGH_B ? high(~b) : low(~b)) - 1;
    return x - (HIGH_B ? high(b) : low(b));
}

/* site/spinor.h's project() of words in half, in their unit; t: of two spins, which begin at word
 * 0, or at word 2 where they are the lower ones of what lies there. */
template <int D>
DEVICE void project_fixed(lat_algebra<float>::half &h, const uint32_t *w, bool swap)
{
#define WORD(s) (swap ? w[3 * ((s) ^ 2) + c] : w[3 * (s) + c])
#define OF_T(s) ((D == 0) != swap ? w[2 + (s) % 2 * 3 + c] : w[(s) % 2 * 3 + c])
#define H(i, re, im) \
    h.v[i][c][0] = re; \
    h.v[i][c][1] = im;
#define S(ha, a, hb, b, plus) fixed_sum<ha, hb>(WORD(a), WORD(b), plus)
#define COPY(i, a) H(i, low(OF_T(a)) - LAT_FIXED_ZERO, high(OF_T(a)) - LAT_FIXED_ZERO)
#define ADD(i, a, b) H(i, S(0, a, 0, b, true), S(1, a, 1, b, true))
#define SUB(i, a, b) H(i, S(0, a, 0, b, false), S(1, a, 1, b, false))
#define ADDI(i, a, b) H(i, S(0, a, 1, b, false), S(1, a, 0, b, true))
#define SUBI(i, a, b) H(i, S(0, a, 1, b, true), S(1, a, 0, b, false))
#pragma unroll
    for (int c = 0; c < 3; c++)
        LAT_PROJECT(D)
#undef WORD
#undef OF_T
#undef H
#undef S
#undef COPY
#undef ADD
#undef SUB
#undef ADDI
#undef SUBI
}

/* The half spinor of direction N, times a complex phase; returns what else it is to be multiplied
 * by: a real phase, the weight of t, in half the units of spinor and link. PHASES: there may be any
 * phases in any direction; otherwise a real one in t alone. (The branch costs registers.) */
template <int P, bool PHASES, int N>
DEVICE real_of<P> half_spinor(typename lat_algebra<real_of<P>>::half &h, const hop_words<P> &from,
                              const lat_hop_args &a, const lat_hop_site &p, bool swap)
{
    typedef real_of<P> real;
    enum { K = N / 2, BACK = N % 2, D = site_direction(N) };
    const lat_hop_lattice &l = a.lattice;
    const bool crosses = p.crosses >> (K + 4 * BACK) & 1,
               phase = PHASES && crosses && l.phases >> (K + 4 * BACK) & 1;
    real f = 1;
    if constexpr (P == LAT_STORAGE_HALF) {
        f = from.norm * (LAT_FIXED_ONE * LAT_FIXED_ONE);
        project_fixed<D>(h, from.w, swap);
    } else {
        real v[24];
#pragma unroll
        for (int k = 0; k < (K < 3 ? 24 : 12); k++)
            v[k] = word_real<P>(from.w, k);
        h = lat_algebra<real>::project(v, K < 3 ? v + 12 : v, D);
    }
    if (K == 3)
        f *= (real)(2 * l.t) * (crosses && !phase ? (real)l.edge[BACK] : (real)1);
    if (phase) {
        const real z[2] = {(real)l.phase[K][0], BACK ? -(real)l.phase[K][1] : (real)l.phase[K][1]};
        lat_algebra<real>::rotate(&h, z);
    }
    return f;
}

/* r += scale times direction N. */
template <int P, bool PHASES, int N, class Links>
DEVICE void add_direction(typename lat_algebra<real_of<P>>::spinor *r, const hop_words<P> &from,
                          const typename Links::words &words, const lat_hop_args &a,
                          const lat_hop_site &p, const Links &links, bool swap, real_of<P> scale)
{
    typedef real_of<P> real;
    typedef lat_algebra<real> site;
    enum { D = site_direction(N) };
    typename site::half h;
    real u[18];
    if (!linked<N>(p)) {
        const real f = scale * half_spinor<P, PHASES, N>(h, from, a, p, swap)
                       * (P == LAT_STORAGE_HALF ? (real)(1 / LAT_FIXED_ONE) : (real)1);
        site::add_unit(r, &h, D, 1, f);
        return;
    }
    links.template open<N>(u, words);
    const real f = scale * half_spinor<P, PHASES, N>(h, from, a, p, swap);
    site::add_link(r, u, u + 12, N % 2 != 0, &h, D, 1, f);
}

/* ---- the hop at a site ----------------------------------------------------------------------- */

/* r = what it begins with + scale h(x), loads AHEAD directions before their arithmetic. */
template <int P, bool PHASES, int AHEAD, class In, class Links, class Begin>
DEVICE void wilson_site(typename lat_algebra<real_of<P>>::spinor *r, const lat_hop_args &a,
                        const lat_hop_site &p, const In &in, const Links &links, const Begin &begin,
                        real_of<P> scale)
{
    hop_words<P> w[AHEAD + 1];
    typename Links::words u[AHEAD + 1];
#define FETCH(n) \
    if ((n) < 8) { \
        links.template fetch<(n) % 8>(u[(n) % (AHEAD + 1)]); \
        in.template fetch<(n) % 8>(w[(n) % (AHEAD + 1)]); \
    }
#define STEP(n) \
    if ((n) + AHEAD > 0) \
        FETCH((n) + AHEAD) \
    add_direction<P, PHASES, n>(r, w[(n) % (AHEAD + 1)], u[(n) % (AHEAD + 1)], a, p, links, \
                                in.swap, scale);
    FETCH(0)
    if (AHEAD > 1)
        FETCH(1)
    begin.set(&r->v[0][0][0], a);
    LAT_EACH_DIRECTION(STEP)
#undef STEP
#undef FETCH
}
