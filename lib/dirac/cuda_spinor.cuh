/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_spinor.cuh: SU(3) spinors, links and clover blocks on a GPU: how their numbers lie, and how
 * a thread reads and writes those of its site.
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
 * Loads are volatile: the compiler keeps their order, which is ahead of the arithmetic (cuda_hop).
 */
#ifndef LAT_DIRAC_CUDA_SPINOR_CUH
#define LAT_DIRAC_CUDA_SPINOR_CUH

#include <cuda_runtime.h>
#include <stdint.h>
extern "C" {
#include "grid/grid.h"
}

#define DEVICE static __device__ __forceinline__

/* a b + c in one rounding. Where two products are added the compiler fuses one or the other, not
 * the same one in each kernel; and it takes an operation more. */
DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEVICE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

/* A product that is not fused with anything. */
DEVICE float rounded_product(float a, float b) { return __fmul_rn(a, b); }
DEVICE double rounded_product(double a, double b) { return __dmul_rn(a, b); }

template <int P> struct lat_form;
template <> struct lat_form<LAT_STORAGE_DOUBLE> {
    typedef double real;
    enum { BYTES = 8, CHUNKS = 12, WORDS = 48, GROUP = CHUNKS * 512, CLOVER = 36 * 512 };
};
template <> struct lat_form<LAT_STORAGE_SINGLE> {
    typedef float real;
    enum { BYTES = 4, CHUNKS = 6, WORDS = 24, GROUP = CHUNKS * 512, CLOVER = 18 * 512 };
};
template <> struct lat_form<LAT_STORAGE_HALF> {
    typedef float real;
    enum { BYTES = 2, CHUNKS = 3, WORDS = 12, GROUP = CHUNKS * 512 + 128, CLOVER = 9 * 512 + 128 };
};

/* ---- memory ---------------------------------------------------------------------------------- */

DEVICE uint4 load16(const void *p)
{
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

/* Memory instructions with a policy: when a line leaves the second cache. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define LAT_HINT(instruction) instruction ".L2::cache_hint"
#define LAT_POLICY(n) ", %" #n
#define LAT_MAKE_POLICY(policy, kind) \
    asm("createpolicy.fractional.L2::" kind ".b64 %0, 1.0;" : "=l"(policy))
#else
#define LAT_HINT(instruction) instruction
#define LAT_POLICY(n) ""
#define LAT_MAKE_POLICY(policy, kind) ((void)0)
#endif

/* What a kernel reads once: the first to leave. */
DEVICE uint64_t read_once(void)
{
    uint64_t policy = 0;
    LAT_MAKE_POLICY(policy, "evict_first");
    return policy;
}

/* What the next kernels read again, too: the last. */
DEVICE uint64_t read_again(void)
{
    uint64_t policy = 0;
    LAT_MAKE_POLICY(policy, "evict_last");
    return policy;
}

/* Past the first cache. */
DEVICE uint4 load16_once(const void *p, uint64_t policy)
{
    uint4 v;
    asm volatile(
        LAT_HINT("ld.global.nc.L1::no_allocate") ".v4.u32 {%0,%1,%2,%3}, [%4]" LAT_POLICY(5) ";"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(p), "l"(policy));
    return v;
}

DEVICE uint2 load8_once(const void *p, uint64_t policy)
{
    uint2 v;
    asm volatile(LAT_HINT("ld.global.nc.L1::no_allocate") ".v2.u32 {%0,%1}, [%2]" LAT_POLICY(3) ";"
                 : "=r"(v.x), "=r"(v.y)
                 : "l"(p), "l"(policy));
    return v;
}

DEVICE uint32_t load4_once(const void *p, uint64_t policy)
{
    uint32_t v;
    asm volatile(LAT_HINT("ld.global.nc.L1::no_allocate") ".u32 %0, [%1]" LAT_POLICY(2) ";"
                 : "=r"(v)
                 : "l"(p), "l"(policy));
    return v;
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

template <int P> DEVICE typename lat_form<P>::real word_real(const uint32_t *w, int k);
template <>
__device__ __forceinline__ double word_real<LAT_STORAGE_DOUBLE>(const uint32_t *w, int k)
{
    return __hiloint2double((int)w[2 * k + 1], (int)w[2 * k]);
}
template <> __device__ __forceinline__ float word_real<LAT_STORAGE_SINGLE>(const uint32_t *w, int k)
{
    return __uint_as_float(w[k]);
}
template <> __device__ __forceinline__ float word_real<LAT_STORAGE_HALF>(const uint32_t *w, int k)
{
    return (k % 2 ? high(w[k / 2]) : low(w[k / 2])) - LAT_FIXED_ZERO;
}

/* The chunks c .. c+n-1 of a lane of a group. */
template <int N> DEVICE void load_chunks(uint32_t *w, const char *p)
{
#pragma unroll
    for (int c = 0; c < N; c++) {
        const uint4 v = load16(p + c * 512);
        w[4 * c] = v.x;
        w[4 * c + 1] = v.y;
        w[4 * c + 2] = v.z;
        w[4 * c + 3] = v.w;
    }
}

/* The words of a spinor as they lie, upper spins first or, with `swap`, lower ones; *norm: what
 * they are multiplied by (half). In half words are not exchanged yet: use swapped(). */
template <int P>
DEVICE void load_spinor(uint32_t *w, float *norm, const char *group, uint32_t lane, bool swap)
{
    typedef lat_form<P> form;
    if (P == LAT_STORAGE_HALF) {
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(*norm) : "l"(group + 1536 + lane * 4));
        load_chunks<form::CHUNKS>(w, group + lane * 16);
    } else {
        const int half = form::CHUNKS / 2 * 512;
        load_chunks<form::CHUNKS / 2>(w, group + lane * 16 + (swap ? half : 0));
        load_chunks<form::CHUNKS / 2>(w + form::WORDS / 2, group + lane * 16 + (swap ? 0 : half));
    }
}

/* Two spins: the upper or the lower ones. In half they begin at word 0 or 2. */
template <int P>
DEVICE void load_two_spins(uint32_t *w, float *norm, const char *group, uint32_t lane, bool lower)
{
    typedef lat_form<P> form;
    if (P == LAT_STORAGE_HALF) {
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(*norm) : "l"(group + 1536 + lane * 4));
        load_chunks<2>(w, group + lane * 16 + (lower ? 512 : 0));
    } else {
        load_chunks<form::CHUNKS / 2>(w, group + lane * 16 + (lower ? form::CHUNKS / 2 * 512 : 0));
    }
}

/* What no spinor has, in ghosts that have not come: a NaN, in single and in double, that arithmetic
 * does not make; of numbers in half 0, as they are 1 to 65535. 16 bytes are written and read as a
 * whole. */
enum { LAT_ABSENT = 0x7ff5c3d1 };
template <int P> DEVICE uint32_t absent(void) { return P == LAT_STORAGE_HALF ? 0 : LAT_ABSENT; }

/* Leaves a ghost empty that has been read. */
template <int P> DEVICE void empty_two_spins(char *group, uint32_t lane, bool lower)
{
    typedef lat_form<P> form;
    enum { CHUNKS = P == LAT_STORAGE_HALF ? 2 : form::CHUNKS / 2 };
    char *const p = group + lane * 16 + (lower ? (form::CHUNKS - CHUNKS) * 512 : 0);
    const uint32_t none = absent<P>();
    if (P == LAT_STORAGE_HALF)
        *(uint32_t *)(group + 1536 + lane * 4) = LAT_ABSENT;
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        *(uint4 *)(p + c * 512) = uint4{none, none, none, none};
}

/* load_two_spins from a ghost, each chunk when it has come; leaves it empty. */
template <int P>
DEVICE void take_two_spins(uint32_t *w, float *norm, char *group, uint32_t lane, bool lower)
{
    typedef lat_form<P> form;
    enum { CHUNKS = P == LAT_STORAGE_HALF ? 2 : form::CHUNKS / 2 };
    const char *const p = group + lane * 16 + (lower ? (form::CHUNKS - CHUNKS) * 512 : 0);
    if (P == LAT_STORAGE_HALF)
        while (__float_as_uint(*norm = *(const volatile float *)(group + 1536 + lane * 4))
               == LAT_ABSENT)
            ;
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        uint32_t *const v = w + 4 * c;
        do
            asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                         : "l"(p + c * 512)
                         : "memory");
        while (v[3] == absent<P>());
    }
    empty_two_spins<P>(group, lane, lower);
}

/* Waits until what load_two_spins reads of a ghost is there. */
template <int P> DEVICE void wait_for_two_spins(const char *group, uint32_t lane, bool lower)
{
    typedef lat_form<P> form;
    enum { CHUNKS = P == LAT_STORAGE_HALF ? 2 : form::CHUNKS / 2 };
    const char *const p = group + lane * 16 + (lower ? (form::CHUNKS - CHUNKS) * 512 : 0) + 12;
    if (P == LAT_STORAGE_HALF)
        while (*(const volatile uint32_t *)(group + 1536 + lane * 4) == LAT_ABSENT)
            ;
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        while (*(const volatile uint32_t *)(p + c * 512) == absent<P>())
            ;
}

/* A ghost of which nothing has come. */
template <int P> __global__ void empty_ghosts(char *ghosts, size_t groups)
{
    const size_t group = blockIdx.x * (size_t)4 + threadIdx.x / 32;
    const uint32_t none = absent<P>(), lane = threadIdx.x % 32;
    if (group >= groups)
        return;
    char *const p = ghosts + group * lat_form<P>::GROUP;
    for (int c = 0; c < lat_form<P>::CHUNKS; c++)
        *(uint4 *)(p + c * 512 + lane * 16) = uint4{none, none, none, none};
    if (P == LAT_STORAGE_HALF)
        *(uint32_t *)(p + 1536 + lane * 4) = LAT_ABSENT;
}

/* What load_two_spins reads of a lane, to the same place of another group. */
template <int P> DEVICE void copy_two_spins(const char *from, char *to, uint32_t lane, bool lower)
{
    typedef lat_form<P> form;
    enum { CHUNKS = P == LAT_STORAGE_HALF ? 2 : form::CHUNKS / 2 };
    const uint32_t at = lane * 16 + (lower ? (form::CHUNKS - CHUNKS) * 512 : 0);
    uint4 v[CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        v[c] = load16(from + at + c * 512);
    if (P == LAT_STORAGE_HALF)
        *(float *)(to + 1536 + lane * 4) = *(const volatile float *)(from + 1536 + lane * 4);
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        *(uint4 *)(to + at + c * 512) = v[c];
}

/* Spinor v of a site, upper and lower spins exchanged or not, in a unit that is returned. */
template <int P>
DEVICE typename lat_form<P>::real get_in_unit(typename lat_form<P>::real v[24], const char *group,
                                              uint32_t lane, bool swap)
{
    typedef typename lat_form<P>::real real;
    uint32_t w[lat_form<P>::WORDS];
    float norm = 1;
    load_spinor<P>(w, &norm, group, lane, swap);
    const bool turn = P == LAT_STORAGE_HALF && swap;
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const real a = word_real<P>(w, k), b = word_real<P>(w, 12 + k);
        v[k] = turn ? b : a;
        v[12 + k] = turn ? a : b;
    }
    return P == LAT_STORAGE_HALF ? (real)(norm * LAT_FIXED_ONE) : (real)1;
}

/* The same, in units of 1. */
template <int P>
DEVICE void get_spinor(typename lat_form<P>::real v[24], const char *group, uint32_t lane,
                       bool swap)
{
    const typename lat_form<P>::real unit = get_in_unit<P>(v, group, lane, swap);
#pragma unroll
    for (int k = 0; k < 24 && P == LAT_STORAGE_HALF; k++)
        v[k] = rounded_product(v[k], unit);
}

/* ONCE: it is the first to leave the second cache. */
template <bool ONCE> DEVICE void store16(char *p, uint4 v, uint64_t policy)
{
    if (ONCE)
        asm volatile(LAT_HINT("st.global") ".v4.u32 [%0], {%1,%2,%3,%4}" LAT_POLICY(5) ";" ::"l"(p),
                     "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy)
                     : "memory");
    else
        *(uint4 *)p = v;
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
DEVICE void put_spinor(char *group, uint32_t lane, const typename lat_form<P>::real v[24],
                       bool swap, uint64_t policy)
{
    typedef lat_form<P> form;
    char *const p = group + lane * 16;
    if (P == LAT_STORAGE_HALF) {
        float largest = 0;
#pragma unroll
        for (int k = 0; k < 24; k++)
            largest = fmaxf(largest, fabsf((float)v[k]));
        const float scale = largest > 0 ? 32767.0f / largest : 0.0f;
        *(float *)(group + 1536 + lane * 4) = largest;
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
        const int half = form::CHUNKS / 2, reals = 16 / form::BYTES;
        char *const upper = p + (swap ? half * 512 : 0), *const lower = p + (swap ? 0 : half * 512);
#pragma unroll
        for (int c = 0; c < half; c++) {
            store16<ONCE>(upper + c * 512, chunk_of(v + c * reals), policy);
            store16<ONCE>(lower + c * 512, chunk_of(v + 12 + c * reals), policy);
        }
    }
}

/* ---- links ----------------------------------------------------------------------------------- */

/* R reals each of 32 links side by side, in chunks and what is left of one. Half: n / 32767, a link
 * of R = 12 is its first two rows. */
template <int P, int R> struct lat_link_form {
    enum {
        BYTES = lat_form<P>::BYTES,
        WORDS = R * BYTES / 4,
        CHUNKS = R * BYTES / 16,
        REST = R * BYTES % 16, /* bytes: 0, 4 or 8 */
        BLOCK = 32 * R * BYTES
    };
};

template <int P, int R>
DEVICE void load_link(uint32_t *w, const char *block, uint32_t lane, uint64_t policy)
{
    typedef lat_link_form<P, R> form;
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++) {
        const uint4 v = load16_once(block + c * 512 + lane * 16, policy);
        w[4 * c] = v.x;
        w[4 * c + 1] = v.y;
        w[4 * c + 2] = v.z;
        w[4 * c + 3] = v.w;
    }
    if (form::REST == 8) {
        const uint2 v = load8_once(block + form::CHUNKS * 512 + lane * 8, policy);
        w[4 * form::CHUNKS] = v.x;
        w[4 * form::CHUNKS + 1] = v.y;
    }
    if (form::REST == 4)
        w[4 * form::CHUNKS] = load4_once(block + form::CHUNKS * 512 + lane * 4, policy);
}

/* From shared memory. */
template <int P, int R> DEVICE void shared_link(uint32_t *w, const char *block, uint32_t lane)
{
    typedef lat_link_form<P, R> form;
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++) {
        const uint4 v = *(const uint4 *)(block + c * 512 + lane * 16);
        w[4 * c] = v.x;
        w[4 * c + 1] = v.y;
        w[4 * c + 2] = v.z;
        w[4 * c + 3] = v.w;
    }
    if (form::REST == 8) {
        const uint2 v = *(const uint2 *)(block + form::CHUNKS * 512 + lane * 8);
        w[4 * form::CHUNKS] = v.x;
        w[4 * form::CHUNKS + 1] = v.y;
    }
    if (form::REST == 4)
        w[4 * form::CHUNKS] = *(const uint32_t *)(block + form::CHUNKS * 512 + lane * 4);
}

/* All rows: the third is the conjugate of the cross product of the others. In half a link is in
 * units of 1 / 32767: the product is brought back to them. */
template <int P, int R> DEVICE void open_link(typename lat_form<P>::real u[18], const uint32_t *w)
{
    typedef typename lat_form<P>::real real;
#pragma unroll
    for (int k = 0; k < R; k++)
        u[k] = word_real<P>(w, k);
    if (R == 12) {
        const real unit = P == LAT_STORAGE_HALF ? (real)LAT_FIXED_ONE : (real)1;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const real *const a = u + 2 * ((c + 1) % 3), *const b = u + 2 * ((c + 2) % 3);
            const real re = a[0] * b[6] - a[1] * b[7] - b[0] * a[6] + b[1] * a[7];
            const real im = b[0] * a[7] + b[1] * a[6] - a[0] * b[7] - a[1] * b[6];
            u[12 + 2 * c] = P == LAT_STORAGE_HALF ? unit * re : re;
            u[13 + 2 * c] = P == LAT_STORAGE_HALF ? unit * im : im;
        }
    }
}

/* ---- clover ---------------------------------------------------------------------------------- */

/* v <- scale C v, C two Hermitian 6x6 matrices of the halves of chirality (upper -+ lower) / sqrt
 * 2, each 6 real diagonal entries and 15 complex ones below them, row by row. ANY: the matrices may
 * lie in shared memory. */
template <int P, bool ANY = false>
DEVICE void clover_times(typename lat_form<P>::real v[24], const char *group, uint32_t lane,
                         uint64_t policy, typename lat_form<P>::real scale = 1)
{
    typedef typename lat_form<P>::real real;
    real norm = (real)0.5 * scale; /* both 1 / sqrt 2 */
    if (P == LAT_STORAGE_HALF)
        norm *= (real)(*(const float *)(group + 9 * 512 + lane * 4) * LAT_FIXED_ONE);
    real a[2][12];
#pragma unroll
    for (int k = 0; k < 12; k++) {
        a[0][k] = v[k] - v[12 + k];
        a[1][k] = v[k] + v[12 + k];
    }
#pragma unroll
    for (int q = 0; q < 2; q++) {
        /* 36 reals: 18 chunks, 9, or half of 9 */
        enum { FIRST = 36 * lat_form<P>::BYTES / 16, CHUNKS = (36 * lat_form<P>::BYTES + 15) / 16 };
        uint32_t w[4 * CHUNKS];
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const char *const from = group + (FIRST * q + c) * 512 + lane * 16;
            const uint4 x = ANY ? *(const uint4 *)from : load16_once(from, policy);
            w[4 * c] = x.x;
            w[4 * c + 1] = x.y;
            w[4 * c + 2] = x.z;
            w[4 * c + 3] = x.w;
        }
        const uint32_t *const m = w + (P == LAT_STORAGE_HALF && q ? 2 : 0);
        real y[12];
#pragma unroll
        for (int i = 0; i < 6; i++) {
            const real d = word_real<P>(m, i);
            y[2 * i] = d * a[q][2 * i];
            y[2 * i + 1] = d * a[q][2 * i + 1];
        }
#pragma unroll
        for (int i = 1; i < 6; i++)
#pragma unroll
            for (int j = 0; j < i; j++) {
                const int k = 6 + i * (i - 1) + 2 * j;
                const real re = word_real<P>(m, k), im = word_real<P>(m, k + 1);
                y[2 * i] = fused(-im, a[q][2 * j + 1], fused(re, a[q][2 * j], y[2 * i]));
                y[2 * i + 1] = fused(im, a[q][2 * j], fused(re, a[q][2 * j + 1], y[2 * i + 1]));
                y[2 * j] = fused(im, a[q][2 * i + 1], fused(re, a[q][2 * i], y[2 * j]));
                y[2 * j + 1] = fused(-im, a[q][2 * i], fused(re, a[q][2 * i + 1], y[2 * j + 1]));
            }
#pragma unroll
        for (int k = 0; k < 12; k++)
            a[q][k] = y[k];
    }
#pragma unroll
    for (int k = 0; k < 12; k++) {
        v[k] = norm * (a[0][k] + a[1][k]);
        v[12 + k] = norm * (a[1][k] - a[0][k]);
    }
}

#endif
