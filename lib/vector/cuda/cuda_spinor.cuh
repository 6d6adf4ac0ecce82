/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_spinor.cuh: SU(3) spinors on a GPU: how their numbers lie, and how a thread reads and writes
 * those of its site. (cuda_links.cuh has links and clover matrices.)
 *
 * 32 sites are a group, a warp's work. A spinor is 24 reals: spin, colour, re and im, in the basis
 * with gamma_t = diag(1, 1, -1, -1), so that a neighbour in t needs two spins alone. Of a group
 *     double, single: [chunk of 16 bytes][32]                                    12 or 6 chunks
 *     half:           [3 chunks][32], then [32] norms                            1664 bytes
 * Half is fixed point of 16 bits: real = (n - 32768) / 32767 * norm, the norm being the largest
 * modulus of the site.
 *
 * gamma5 exchanges the upper two spins with the lower two and changes the sign of all. So D^+ =
 * gamma5 D gamma5 is D between two exchanges (`swap`), which cost nothing where a chunk is read.
 *
 * Loads are volatile: the compiler keeps their order, ahead of the arithmetic (cuda_hop). */
#pragma once

#include <type_traits>
#include "vector/cuda/cuda_algebra.cuh"
extern "C" {
#include "grid/grid.h"
}

/* a b + c in one rounding. Where two products are added the compiler fuses one or the other, not
 * the same one in each kernel; and it takes an operation more. */
DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEVICE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

/* A product that is not fused with anything. */
DEVICE float rounded_product(float a, float b) { return __fmul_rn(a, b); }
DEVICE double rounded_product(double a, double b) { return __dmul_rn(a, b); }

/* PAIR: what two spins are in a group: so many bytes, chunks that hold them. (Half: what is read of
 * them, half a chunk more.) */
template <int P> struct lat_form {
    typedef typename std::conditional<P == LAT_STORAGE_DOUBLE, double, float>::type real;
    enum {
        BYTES = P == LAT_STORAGE_DOUBLE   ? 8
                : P == LAT_STORAGE_SINGLE ? 4
                                          : 2,
        WORDS = 24 * BYTES / 4,
        CHUNKS = 24 * BYTES / 16,
        NORMS = CHUNKS * 512, /* where they begin, in half */
        NORM = P == LAT_STORAGE_HALF ? 128 : 0,
        GROUP = NORMS + NORM,
        CLOVER = 72 * BYTES * 32 + NORM,
        PAIR_CHUNKS = (CHUNKS + 1) / 2,
        PAIR = CHUNKS / 2 * 512
    };
};
template <int P> using real_of = typename lat_form<P>::real;

/* f(P), P the storage as a constant. */
template <class F> static inline auto lat_by_storage(lat_storage storage, F f)
{
    switch (storage) {
    case LAT_STORAGE_DOUBLE: return f(std::integral_constant<int, LAT_STORAGE_DOUBLE>());
    case LAT_STORAGE_SINGLE: return f(std::integral_constant<int, LAT_STORAGE_SINGLE>());
    case LAT_STORAGE_HALF: break;
    }
    return f(std::integral_constant<int, LAT_STORAGE_HALF>());
}

/* ---- fixed point ----------------------------------------------------------------------------- */

/* The 16 bits below the exponent of 2^23: 2^23 + n, exactly. Differences of two are exact, too. */
DEVICE float low(uint32_t w) { return __uint_as_float(__byte_perm(w, 0x4B00u, 0x5410)); }
DEVICE float high(uint32_t w) { return __uint_as_float(__byte_perm(w, 0x4B00u, 0x5432)); }
#define LAT_FIXED_ZERO 8421376.0f /* 2^23 + 32768 */
#define LAT_FIXED_ONE (1.0f / 32767)

DEVICE uint32_t to_fixed(float a, float b, float scale)
{
    const uint32_t x = __float_as_uint(__fmaf_rn(a, scale, 12615680.0f)); /* 1.5 2^23 + 2^15 + n */
    const uint32_t y = __float_as_uint(__fmaf_rn(b, scale, 12615680.0f));
    return __byte_perm(x, y, 0x5410);
}

/* ---- spinors --------------------------------------------------------------------------------- */

/* Real k of a spinor's, link's or matrix' words; in half, in its unit. */
template <int P> DEVICE real_of<P> word_real(const uint32_t *w, int k)
{
    if constexpr (P == LAT_STORAGE_DOUBLE)
        return __hiloint2double((int)w[2 * k + 1], (int)w[2 * k]);
    else if constexpr (P == LAT_STORAGE_SINGLE)
        return __uint_as_float(w[k]);
    else
        return (k % 2 ? high(w[k / 2]) : low(w[k / 2])) - LAT_FIXED_ZERO;
}

DEVICE void put4(uint32_t *w, uint4 v)
{
    w[0] = v.x;
    w[1] = v.y;
    w[2] = v.z;
    w[3] = v.w;
}

/* N chunks of a lane. */
template <int N> DEVICE void load_chunks(uint32_t *w, const char *p)
{
#pragma unroll
    for (int c = 0; c < N; c++)
        put4(w + 4 * c, load16(p + c * 512));
}

DEVICE void load_norm(float *norm, const char *group, uint32_t lane)
{
    *norm = load_float(group + lat_form<LAT_STORAGE_HALF>::NORMS + lane * 4);
}

/* The words of a spinor as they lie, upper spins first or, with `swap`, lower ones; *norm: what
 * they are multiplied by (half). In half words are not exchanged yet. */
template <int P>
DEVICE void load_spinor(uint32_t *w, float *norm, const char *group, uint32_t lane, bool swap)
{
    typedef lat_form<P> form;
    if (P == LAT_STORAGE_HALF) {
        load_norm(norm, group, lane);
        load_chunks<form::CHUNKS>(w, group + lane * 16);
    } else {
        load_chunks<form::PAIR_CHUNKS>(w, group + lane * 16 + (swap ? form::PAIR : 0));
        load_chunks<form::PAIR_CHUNKS>(w + form::WORDS / 2,
                                       group + lane * 16 + (swap ? 0 : form::PAIR));
    }
}

/* Two spins: the upper or the lower ones. In half they begin at word 0 or 2. */
template <int P>
DEVICE void load_two_spins(uint32_t *w, float *norm, const char *group, uint32_t lane, bool lower)
{
    typedef lat_form<P> form;
    if (P == LAT_STORAGE_HALF)
        load_norm(norm, group, lane);
    load_chunks<form::PAIR_CHUNKS>(w, group + lane * 16 + (lower ? form::PAIR : 0));
}

/* What no spinor has, in ghosts that have not come: a NaN, in single and in double, that arithmetic
 * does not make; of numbers in half 0, as they are 1 to 65535. 16 bytes are written and read as a
 * whole. */
enum { LAT_ABSENT = 0x7ff5c3d1 };
template <int P> DEVICE uint32_t absent(void) { return P == LAT_STORAGE_HALF ? 0 : LAT_ABSENT; }

/* Where a lane's two spins are in a group, and the norm, in half. */
template <int P> DEVICE char *pair_at(const char *group, uint32_t lane, bool lower)
{
    return (char *)group + lane * 16 + (lower ? lat_form<P>::PAIR : 0);
}
DEVICE volatile uint32_t *norm_at(const char *group, uint32_t lane)
{
    return (volatile uint32_t *)(group + lat_form<LAT_STORAGE_HALF>::NORMS + lane * 4);
}

/* What is in a ghost: WHOLE spinors, as load_spinor reads them with swap = lower, or two spins, as
 * load_two_spins does. Chunk c of it. */
template <int P, bool WHOLE> struct lat_ghost_form {
    enum { PAIR = lat_form<P>::PAIR_CHUNKS, CHUNKS = WHOLE ? (int)lat_form<P>::CHUNKS : (int)PAIR };
    DEVICE char *chunk(const char *group, uint32_t lane, bool lower, int c)
    {
        if (!WHOLE || P == LAT_STORAGE_HALF)
            return pair_at<P>(group, lane, !WHOLE && lower) + c * 512;
        return pair_at<P>(group, lane, (c < PAIR) == lower) + c % PAIR * 512;
    }
};

/* Leaves a ghost empty that has been read. */
template <int P, bool WHOLE> DEVICE void empty_ghost(char *group, uint32_t lane, bool lower)
{
    typedef lat_ghost_form<P, WHOLE> form;
    const uint32_t none = absent<P>();
    if (P == LAT_STORAGE_HALF)
        *norm_at(group, lane) = LAT_ABSENT;
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++)
        store16(form::chunk(group, lane, lower, c), uint4{none, none, none, none});
}

/* Reads a ghost, each chunk when it has come; leaves it empty. */
template <int P, bool WHOLE>
DEVICE void take_ghost(uint32_t *w, float *norm, char *group, uint32_t lane, bool lower)
{
    typedef lat_ghost_form<P, WHOLE> form;
    if (P == LAT_STORAGE_HALF)
        while (__float_as_uint(*norm = __uint_as_float(poll4(norm_at(group, lane)))) == LAT_ABSENT)
            ;
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++) {
        uint32_t *const v = w + 4 * c;
        do
            poll16(v, form::chunk(group, lane, lower, c));
        while (v[3] == absent<P>());
    }
    empty_ghost<P, WHOLE>(group, lane, lower);
}

/* Waits until it is there. */
template <int P, bool WHOLE>
DEVICE void wait_for_ghost(const char *group, uint32_t lane, bool lower)
{
    typedef lat_ghost_form<P, WHOLE> form;
    if (P == LAT_STORAGE_HALF)
        while (poll4(norm_at(group, lane)) == LAT_ABSENT)
            ;
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++)
        while (poll4(form::chunk(group, lane, lower, c) + 12) == absent<P>())
            ;
}

/* A ghost of which nothing has come. */
template <int P> __global__ void empty_ghosts(char *ghosts, size_t groups)
{
    const size_t group = blockIdx.x * (size_t)4 + threadIdx.x / 32;
    if (group >= groups)
        return;
    empty_ghost<P, true>(ghosts + group * lat_form<P>::GROUP, threadIdx.x % 32, false);
}

/* What take_ghost reads of a lane `own`, to a lane of another group. */
template <int P, bool WHOLE>
DEVICE void move_to_ghost(const char *from, uint32_t own, char *to, uint32_t lane, bool lower)
{
    typedef lat_ghost_form<P, WHOLE> form;
    uint4 v[form::CHUNKS];
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++)
        v[c] = load16(form::chunk(from, own, lower, c));
    if (P == LAT_STORAGE_HALF)
        *norm_at(to, lane) = *norm_at(from, own);
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++)
        store16(form::chunk(to, lane, lower, c), v[c]);
}

/* To the same place there. */
template <int P, bool WHOLE>
DEVICE void copy_to_ghost(const char *from, char *to, uint32_t lane, bool lower)
{
    move_to_ghost<P, WHOLE>(from, lane, to, lane, lower);
}

/* Spinor v of a site, upper and lower spins exchanged or not, in a unit that is returned. */
template <int P>
DEVICE real_of<P> get_in_unit(real_of<P> v[24], const char *group, uint32_t lane, bool swap)
{
    typedef real_of<P> real;
    uint32_t w[lat_form<P>::WORDS];
    float norm = 1;
    load_spinor<P>(w, &norm, group, lane, swap);
    const bool exchange = P == LAT_STORAGE_HALF && swap;
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const real a = word_real<P>(w, k), b = word_real<P>(w, 12 + k);
        v[k] = exchange ? b : a;
        v[12 + k] = exchange ? a : b;
    }
    return P == LAT_STORAGE_HALF ? (real)(norm * LAT_FIXED_ONE) : (real)1;
}

/* The same, in units of 1. */
template <int P>
DEVICE void get_spinor(real_of<P> v[24], const char *group, uint32_t lane, bool swap)
{
    const real_of<P> unit = get_in_unit<P>(v, group, lane, swap);
#pragma unroll
    for (int k = 0; k < 24 && P == LAT_STORAGE_HALF; k++)
        v[k] = rounded_product(v[k], unit);
}

/* ONCE: it is the first to leave the second cache. */
template <bool ONCE> DEVICE void store16(char *p, uint4 v, uint64_t policy)
{
    if (ONCE)
        store16_once(p, v, policy);
    else
        store16(p, v);
}

DEVICE uint4 chunk_of(const double *v)
{
    return make_uint4((uint32_t)__double2loint(v[0]), (uint32_t)__double2hiint(v[0]),
                      (uint32_t)__double2loint(v[1]), (uint32_t)__double2hiint(v[1]));
}
DEVICE uint4 chunk_of(const float *v)
{
    return make_uint4(__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]),
                      __float_as_uint(v[3]));
}

template <int P, bool ONCE>
DEVICE void put_spinor(char *group, uint32_t lane, const real_of<P> v[24], bool swap,
                       uint64_t policy)
{
    typedef lat_form<P> form;
    char *const p = group + lane * 16;
    if (P == LAT_STORAGE_HALF) {
        float largest = 0;
#pragma unroll
        for (int k = 0; k < 24; k++)
            largest = fmaxf(largest, fabsf((float)v[k]));
        const float scale = largest > 0 ? 32767.0f / largest : 0.0f;
        *norm_at(group, lane) = __float_as_uint(largest);
        uint32_t w[12];
#pragma unroll
        for (int k = 0; k < 6; k++) {
            const uint32_t a = to_fixed((float)v[2 * k], (float)v[2 * k + 1], scale),
                           b = to_fixed((float)v[12 + 2 * k], (float)v[13 + 2 * k], scale);
            w[k] = swap ? b : a;
            w[6 + k] = swap ? a : b;
        }
#pragma unroll
        for (int c = 0; c < 3; c++)
            store16<ONCE>(p + c * 512,
                          make_uint4(w[4 * c], w[4 * c + 1], w[4 * c + 2], w[4 * c + 3]), policy);
    } else {
        const int reals = 16 / form::BYTES;
        char *const upper = pair_at<P>(group, lane, swap), *const lower = pair_at<P>(group, lane,
                                                                                     !swap);
#pragma unroll
        for (int c = 0; c < form::PAIR_CHUNKS; c++) {
            store16<ONCE>(upper + c * 512, chunk_of(v + c * reals), policy);
            store16<ONCE>(lower + c * 512, chunk_of(v + 12 + c * reals), policy);
        }
    }
}
