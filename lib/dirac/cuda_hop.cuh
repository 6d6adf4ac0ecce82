/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop.cuh: the Wilson hop on a GPU, and what is done to its result before it is stored.
 *
 *     h(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^+ psi(x-mu)
 *     out  = b C x + a C' h,   or y - alpha (that),   and sums of it for each column
 *
 * from sites of one parity to those of the other; C, C' are clover matrices or 1. A thread is a
 * site. The links of a site's eight directions lie side by side, those of x-mu copied: a warp reads
 * one contiguous piece. One right-hand side: links go from memory to registers, loads run ahead of
 * the arithmetic. Several: the links of a block are brought to shared memory once, by a bulk copy
 * for each warp, and the threads loop over the columns.
 *
 * Several ranks: a slab of slices each. The first blocks of a hop send the two spins that a
 * neighbour needs of each site of both faces to its ghosts. Sites of the first and the last slice,
 * which are in the middle of the order, wait for them, chunk by chunk: a chunk that has not come
 * holds what no spinor has, and who has read it puts that back (cuda_spinor.cuh). No flags, no
 * fences.
 *
 * bench/NOTES.md has what was measured. */
#ifndef LAT_DIRAC_CUDA_HOP_CUH
#define LAT_DIRAC_CUDA_HOP_CUH

#include "cuda_spinor.cuh"
#include "grid/cuda_grid.cuh"
#include "shadow.h"
extern "C" {
#include "spinor.h"
}

/* Sites of a parity: i = within a brick of bx x by sites in (x/2, y) + bricks + slices of z and t.
 * A brick of 32 sites is a group: neighbours in z and t are whole groups then. Where no brick fits
 * it is the whole plane, and i is x/2 + X/2 (y + Y (z + Z t)). */
typedef struct lat_hop_sites {
    uint32_t extent[4];        /* the first one halved */
    uint32_t half;             /* sites of a parity */
    uint32_t brick[2], across; /* bx, by; bricks side by side in x */
    uint32_t plane, slice;     /* sites of an (x, y) plane, of a slice of t */
    uint32_t strip; /* pairs of z that a walk takes before the next pair of t; 0: no walk */
    lat_cuda_divisor by_brick[2], by_across, by_size, by_plane, by_z; /* by_size: bx by */
    lat_cuda_divisor by_groups, by_strip, by_pairs_t; /* of the walk: groups of a plane, .. */
    uint32_t odd;
    uint32_t
        back; /* from a site of slice 0 to its neighbour back in t: the last slice, or a ghost */
    uint32_t middle; /* pairs of t by which the walk begins later */
    bool ghosts;     /* t is cut among ranks */
} lat_hop_sites;

/* Ghosts: slices of one parity, of all columns that are active, as groups of spinors of which two
 * spins are there. Sides: 0 below, 1 above. All zero: t is not cut. */
typedef struct lat_hop_faces {
    char *ghost[2], *to[2]; /* where the neighbours want our faces */
    size_t column;          /* bytes of a column of a face */
    uint32_t groups;        /* of a face */
    uint32_t blocks;        /* that send a face; 0: it has been sent */
} lat_hop_faces;

enum { LAT_HOP_COLUMNS = 64, LAT_HOP_TERMS = 2 };

/* Sums of a column, in this order; of the two products one at most. */
enum {
    LAT_HOP_NORM = 1, /* |out|^2, <x, out>, <with, out>, shadows of out and of x */
    LAT_HOP_DOT_X = 2,
    LAT_HOP_DOT = 4,
    LAT_HOP_SHADOW = 8,
    LAT_HOP_SHADOW_X = 16
};

typedef struct lat_hop_args {
    lat_hop_sites sites;
    const char *links;               /* of the sites that are written */
    const char *in;                  /* column 0 of the other parity */
    char *out;                       /* column 0 of this parity; likewise x, with */
    const char *x, *with;            /* NULL: none */
    const char *clover_x, *clover_h; /* blocks of this parity, or NULL */
    const char *clover_h2;           /* with clover_h: another factor, from the left */
    size_t column;                   /* bytes from column to column */
    double a, b;
    double g5_x, g5_h;  /* i g gamma5 is added to b C, to a C' (but clover_h2): twisted mass */
    int parity, swap;   /* swap: D^+ */
    double phase[4][2]; /* of the forward hop across the boundary, re and im; its conjugate back */
    double edge[2];     /* a real one of t, forward and back; 1 where ranks meet */
    int phases; /* bits mu, mu + 4 (forward, back; x, y, z): it is not 1; of t: it has an im */
    lat_hop_faces faces;
    double t;  /* weight of hops in t over that of the others */
    bool unit; /* links of t are 1 and not read, but where bits 3 and 7 (forward, back) of
                * `walls` say that the ends of t have them */
    uint32_t walls;
    int sums;            /* LAT_HOP_NORM and others */
    uint32_t before;     /* sites of a parity that ranks below have: for the shadow's signs */
    int numbers, arrays; /* how many numbers these are; and groups of a number in `partial` */
    double *partial;     /* [columns that are active][numbers][arrays] */
    int add;             /* out + alpha[] (..) */
    double alpha[LAT_HOP_COLUMNS]; /* what is added, by the place in `active`; */
    const lat_scalar *later;       /* or, if not NULL, what the device knows by then, by column */
    char *image;                   /* NULL, or where clover_h times out goes, too */
    bool recursion;                /* as follows; without clover matrices and sums */
    double shift[2];               /* with flip: shift x besides, once gamma5 is done; re and im,
                                    * with add re alone */
    int terms;                     /* with add: keep[] out + alpha[] (..) + by[j][] more[j] */
    const char *more[LAT_HOP_TERMS];
    double keep[LAT_HOP_COLUMNS], by[LAT_HOP_TERMS][LAT_HOP_COLUMNS];
    bool both; /* sites of both parities: what is said of this one holds of even sites, odd ones lie
                * behind them; no ghosts */
    bool flip; /* gamma5 of the result; not in half */
    bool tiles;      /* several columns: by hop_tile, where it can do it */
    bool again;      /* links and clover matrices stay in the second cache from hop to hop */
    bool backwards;  /* the walk begins at its end: there is what the kernel before had last in the
                      * second cache */
    bool early;      /* the kernel may begin while the one before ends (compute capability 9) */
    int most_shared; /* bytes of shared memory that a block may take */
    int processors;  /* multiprocessors */
    int columns;
    uint8_t active[LAT_HOP_COLUMNS];
} lat_hop_args;

/* ---- sites ----------------------------------------------------------------------------------- */

typedef struct lat_hop_site {
    uint32_t i, next[8]; /* of x+, y+, z+, t+, x-, .. */
    uint32_t group;      /* of links and of what is written: i / 32, odd sites behind even ones */
    uint32_t crosses;    /* bit k: neighbour k is across the boundary; bits 11 and 15: the links
                          * forward and back in t are not 1 */
} lat_hop_site;

DEVICE uint32_t hop_x(const lat_hop_sites &s, uint32_t x)
{
    const uint32_t q = lat_cuda_quotient(x, s.by_brick[0]);
    return q * (s.brick[0] * s.brick[1]) + x - q * s.brick[0];
}

DEVICE uint32_t hop_y(const lat_hop_sites &s, uint32_t y)
{
    const uint32_t q = lat_cuda_quotient(y, s.by_brick[1]);
    return q * (s.extent[0] * s.brick[1]) + (y - q * s.brick[1]) * s.brick[0];
}

/* The number of a thread's site, s.half or more if it has none. Blocks are 4 groups. Where planes
 * are whole groups a block takes the same group of 2 x 2 planes in (z, t), and blocks walk through
 * the plane, a strip of z, t, strips: neighbours in t are still in the second cache. */
DEVICE uint32_t hop_number(const lat_hop_sites &s, uint32_t block, uint32_t thread)
{
    if (!s.strip)
        return block * 128 + thread;
    const uint32_t warp = thread / 32, groups = s.plane / 32;
    uint32_t q = lat_cuda_quotient(block, s.by_groups);
    const uint32_t group = block - q * groups;
    uint32_t n = lat_cuda_quotient(q, s.by_strip);
    const uint32_t z = q - n * s.strip;
    q = lat_cuda_quotient(n, s.by_pairs_t);
    uint32_t t = n - q * (s.extent[3] / 2) + s.middle;
    if (t >= s.extent[3] / 2)
        t -= s.extent[3] / 2;
    const uint32_t plane = (2 * t + warp / 2) * s.extent[2] + 2 * (q * s.strip + z) + warp % 2;
    return plane * s.plane + group * 32 + thread % 32;
}

/* Coordinates of site i, c[0] being half of x; returns whether x is odd. */
DEVICE bool hop_coordinates(const lat_hop_sites &s, uint32_t i, int parity, uint32_t c[4])
{
    const uint32_t zt = lat_cuda_quotient(i, s.by_plane), r = i - zt * s.plane;
    const uint32_t size = s.brick[0] * s.brick[1];
    const uint32_t b = lat_cuda_quotient(r, s.by_size), in = r - b * size;
    const uint32_t by = lat_cuda_quotient(b, s.by_across), bx = b - by * s.across;
    const uint32_t iy = lat_cuda_quotient(in, s.by_brick[0]), ix = in - iy * s.brick[0];
    c[0] = bx * s.brick[0] + ix;
    c[1] = by * s.brick[1] + iy;
    c[3] = lat_cuda_quotient(zt, s.by_z);
    c[2] = zt - c[3] * s.extent[2];
    return (c[1] + c[2] + c[3] + (uint32_t)parity + s.odd) & 1;
}

DEVICE lat_hop_site hop_site(const lat_hop_sites &s, uint32_t i, int parity)
{
    lat_hop_site p;
    uint32_t c[4];
    const bool late = hop_coordinates(s, i, parity, c);
    const uint32_t x = c[0], y = c[1], z = c[2], t = c[3];
    const uint32_t X = s.extent[0], Y = s.extent[1], Z = s.extent[2], T = s.extent[3];
    const uint32_t x0 = hop_x(s, x), y0 = hop_y(s, y);
    p.i = i;
    p.next[0] = late ? i - x0 + hop_x(s, x + 1 == X ? 0 : x + 1) : i;
    p.next[4] = late ? i : i - x0 + hop_x(s, x ? x - 1 : X - 1);
    p.next[1] = i - y0 + hop_y(s, y + 1 == Y ? 0 : y + 1);
    p.next[5] = i - y0 + hop_y(s, y ? y - 1 : Y - 1);
    p.next[2] = z + 1 == Z ? i - z * s.plane : i + s.plane;
    p.next[6] = z ? i - s.plane : i + (Z - 1) * s.plane;
    p.next[3] = t + 1 == T ? i - t * s.slice : i + s.slice;
    p.next[7] = t ? i - s.slice : i + s.back;
    p.crosses = (uint32_t)(late && x + 1 == X) | (uint32_t)(y + 1 == Y) << 1
                | (uint32_t)(z + 1 == Z) << 2 | (uint32_t)(t + 1 == T) << 3
                | (uint32_t)(!late && x == 0) << 4 | (uint32_t)(y == 0) << 5
                | (uint32_t)(z == 0) << 6 | (uint32_t)(t == 0) << 7;
    return p;
}

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
/* SW: 0 or 1, or -1: args.swap decides. */
#define SWAP(a) (SW < 0 ? (a).swap != 0 : SW != 0)
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

    /* r += scale times direction N: with a link u; where it is 1; with the words of a link. */
    template <int N>
    static __device__ __forceinline__ void add_opened(real r[24], const raw &w,
                                                      const lat_hop_args &a, const lat_hop_site &p,
                                                      const real u[18], real scale)
    {
        real h[12];
        const real f = scale * half_spinor<N>(h, w, a, p);
        multiply<N / 2, N % 2 != 0>(r, u, h, f);
    }

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
        real u[18];
        if (!linked<N>(p)) {
            add_unit<N>(r, w, a, p, scale);
            return;
        }
        open_link<P, R>(u, words);
        add_opened<N>(r, w, a, p, u, scale);
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

/* ---- ends ------------------------------------------------------------------------------------ */

/* Clover matrices that all columns of a block share. */
DEVICE const char *held_clover(const lat_hop_args &a)
{
    return a.clover_h ? a.clover_h : a.clover_x;
}

/* unit <y, v> */
template <class real>
DEVICE void dot(double sum[2], const real y[24], const real v[24], real unit = 1)
{
    real re = 0, im = 0;
#pragma unroll
    for (int k = 0; k < 24; k += 2) {
        re = fused(y[k + 1], v[k + 1], fused(y[k], v[k], re));
        im = fused(-y[k + 1], v[k], fused(y[k], v[k + 1], im));
    }
    sum[0] = unit * re;
    sum[1] = unit * im;
}

/* unit <e, v> of site i of a parity (shadow.h); swap: the lower spins of v are stored first. */
template <class real>
DEVICE void shadow_of(double sum[2], const real v[24], uint32_t i, int parity, bool swap,
                      real unit = 1)
{
    const uint32_t signs = lat_shadow_signs(2 * i + (uint32_t)parity);
    real re = 0, im = 0;
#pragma unroll
    for (int s = 0; s < 4; s++) {
        const real e = signs << (swap ? s ^ 2 : s) & 0x80000000u ? (real)-1 : (real)1;
        re += e * (v[6 * s] + v[6 * s + 2] + v[6 * s + 4]);
        im += e * (v[6 * s + 1] + v[6 * s + 3] + v[6 * s + 5]);
    }
    sum[0] = unit * re;
    sum[1] = unit * im;
}

/* v += i g gamma5 x */
template <class real> DEVICE void add_gamma5(real v[24], const real x[24], real g)
{
#pragma unroll
    for (int k = 0; k < 12; k += 2) { /* gamma5 x = (- lower, - upper) */
        v[k] = fused(g, x[13 + k], v[k]);
        v[k + 1] = fused(-g, x[12 + k], v[k + 1]);
        v[12 + k] = fused(g, x[k + 1], v[12 + k]);
        v[13 + k] = fused(-g, x[k], v[13 + k]);
    }
}

/* Is the factor of a hop that of its half spinors, where it costs nothing? */
template <int END> DEVICE constexpr bool scales_hop(void)
{
    return END < 2 || END == 3 || END == 5;
}

/* Has a kernel clover matrices? */
template <int END> __host__ __device__ constexpr bool has_clover(void)
{
    return END == 2 || END == 4;
}

/* A number that the kernel before this one has made. */
DEVICE lat_scalar known(const lat_scalar *later, int column)
{
    const volatile lat_scalar *const at = later + column;
    return lat_scalar{at->re, at->im};
}

/* The sum of a warp's numbers to partial[], always in the same order. */
DEVICE void sum_up(double *partial, double v)
{
#pragma unroll
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        *partial = v;
}

/* The same sums of eight numbers, in the same order: number k is returned to lane 4 k. At each step
 * a lane keeps half of its numbers and gives the other half away, so that there are 9 exchanges in
 * place of 40. */
DEVICE double sum_up_eight(const double v[8])
{
    const uint32_t lane = threadIdx.x % 32;
    double w[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = (lane & 16 ? v[k + 4] : v[k])
               + __shfl_xor_sync(~0u, lane & 16 ? v[k] : v[k + 4], 16);
#pragma unroll
    for (int k = 0; k < 2; k++)
        w[k] = (lane & 8 ? w[k + 2] : w[k]) + __shfl_xor_sync(~0u, lane & 8 ? w[k] : w[k + 2], 8);
    w[0] = (lane & 4 ? w[1] : w[0]) + __shfl_xor_sync(~0u, lane & 4 ? w[0] : w[1], 4);
    w[0] += __shfl_xor_sync(~0u, w[0], 2);
    return w[0] + __shfl_xor_sync(~0u, w[0], 1);
}

/* h <- a h + b y, y in memory, chunk by chunk. */
template <int P>
DEVICE void scale_add(typename lat_form<P>::real h[24], typename lat_form<P>::real a,
                      const char *group, typename lat_form<P>::real b, uint32_t lane, bool swap)
{
    typename lat_form<P>::real y[24];
    get_spinor<P>(y, group, lane, swap);
#pragma unroll
    for (int k = 0; k < 24; k++)
        h[k] = a * h[k] + b * y[k];
}

/* The number of a block in a walk, behind `senders`, which send faces. */
DEVICE uint32_t walked(bool backwards, uint32_t senders)
{
    return backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x - senders;
}

/* Of the sites that a block writes. */
DEVICE int parity_of(const lat_hop_args &a)
{
    return a.both ? (int)(walked(a.backwards, 0) & 1) : a.parity;
}

/* From h to out, and its sums. n: the place of the column in `active`; `there`: the thread has a
 * site. END: 0 stores a h; 1 all but clover matrices and recursions; 2 all but recursions and
 * images; 3 all but clover matrices and sums; 4: of what is diagonal clover_h alone, and an image
 * of it; 5: an affine end, with which h has begun: b x and a shift. HELD: `held` are the blocks of
 * held_clover() of the group, in shared memory; others are read by `policy`. */
template <int P, int END, int SW, bool ONCE, bool HELD>
DEVICE void finish(const lat_hop_args &a, const lat_hop_site &p, int n, bool there,
                   typename lat_form<P>::real h[24], uint64_t policy, const char *held)
{
    typedef lat_form<P> form;
    typedef typename form::real real;
    const uint32_t lane = p.i % 32, group = p.group;
    const bool turn = P == LAT_STORAGE_HALF ? SWAP(a) : SWAP(a) != a.flip; /* of what is written */
    const size_t at = (size_t)group * form::GROUP + (size_t)a.active[n] * a.column;
    const size_t block = (size_t)group * form::CLOVER;
    double norm = 0, product[2] = {0, 0}, shadow[2] = {0, 0}, shadow_x[2] = {0, 0};
    if (END == 0 || END == 5) {
        if (there)
            put_spinor<P, ONCE>(a.out + at, lane, h, END == 5 ? turn : SWAP(a), read_once());
        return;
    }
    if (there) {
        const real s = (real)a.a;
        const bool twisted = END == 2 && a.g5_h != 0;
        if (has_clover<END>()
            && a.clover_h) /* in 4, too: a branch keeps its loads from coming too early */
            clover_times<P, HELD>(h, HELD ? held : a.clover_h + block, lane, policy,
                                  twisted ? (real)1 : s);
        if (twisted) {
            real v[24];
#pragma unroll
            for (int k = 0; k < 24; k++)
                v[k] = h[k];
            if (a.clover_h2)
                clover_times<P>(h, a.clover_h2 + block, lane, policy);
#pragma unroll
            for (int k = 0; k < 24; k++)
                h[k] *= s;
            add_gamma5(h, v, (real)(SWAP(a) ? -a.g5_h : a.g5_h));
        } else if (END == 2 && !a.clover_h) {
#pragma unroll
            for (int k = 0; k < 24; k++)
                h[k] *= s;
        }
        if (a.x) {
            real x[24], b = (real)a.b, unit = 1;
            if (END == 2)
                get_spinor<P>(x, a.x + at, lane, SWAP(a));
            else
                b *= unit = get_in_unit<P>(x, a.x + at, lane, SWAP(a));
            if (END == 2 && a.g5_x != 0)
                add_gamma5(h, x, (real)(SWAP(a) ? -a.g5_x : a.g5_x));
            if (END == 2 && a.clover_x) {
                real c[24];
#pragma unroll
                for (int k = 0; k < 24; k++)
                    c[k] = x[k];
                clover_times<P, HELD>(c, HELD && !a.clover_h ? held : a.clover_x + block, lane,
                                      policy);
#pragma unroll
                for (int k = 0; k < 24; k++)
                    h[k] = fused(b, c[k], h[k]);
            } else {
#pragma unroll
                for (int k = 0; k < 24; k++)
                    h[k] = fused(b, x[k], h[k]);
            }
            if (END == 3) {
                const real shift = (real)a.shift[0];
#pragma unroll
                for (int k = 0; k < 12; k++) { /* spins are exchanged when h is stored */
                    h[k] = fused(shift, x[12 + k], h[k]);
                    h[12 + k] = fused(shift, x[k], h[12 + k]);
                }
            }
            if (END != 3 && !a.add && a.sums & LAT_HOP_DOT_X)
                dot(product, x, h, unit);
            if (END != 3 && a.sums & LAT_HOP_SHADOW_X)
                shadow_of(shadow_x, x, p.i + a.before, parity_of(a), SWAP(a), unit);
        }
        if (END == 3 && a.add) {
            scale_add<P>(h, (real)a.alpha[n], a.out + at, (real)a.keep[n], lane, turn);
#pragma unroll
            for (int j = 0; j < LAT_HOP_TERMS; j++)
                if (j < a.terms)
                    scale_add<P>(h, (real)1, a.more[j] + at, (real)a.by[j][n], lane, turn);
        } else if (END != 3 && a.add) {
            real y[24];
            get_spinor<P>(y, a.out + at, lane, turn);
            const real alpha = (real)(a.later ? known(a.later, a.active[n]).re : a.alpha[n]);
#pragma unroll
            for (int k = 0; k < 24; k++)
                h[k] = fused(alpha, h[k], y[k]);
        }
        if (END != 3 && a.sums & LAT_HOP_DOT) {
            real y[24];
            get_spinor<P>(y, a.with + at, lane, turn);
            dot(product, y, h);
        }
        if (END != 3 && a.sums & LAT_HOP_SHADOW)
            shadow_of(shadow, h, p.i + a.before, parity_of(a), turn);
        if (END != 3 && a.sums & LAT_HOP_NORM) {
            real q = 0;
#pragma unroll
            for (int k = 0; k < 24; k++)
                q += h[k] * h[k];
            norm = q;
        }
        put_spinor<P, ONCE>(a.out + at, lane, h, turn, read_once());
        if (END == 4 && a.image) {
            clover_times<P, HELD>(h, HELD ? held : a.clover_h + block, lane, policy);
            put_spinor<P, ONCE>(a.image + at, lane, h, SWAP(a), read_once());
        }
    }
    if (END != 3 && a.sums) {
        double *const to = a.partial + (size_t)n * (size_t)a.numbers * (size_t)a.arrays + group;
        if (a.sums == LAT_HOP_NORM) {
            sum_up(to, norm);
            return;
        }
        const double v[8] = {norm,      product[0],  product[1],  shadow[0],
                             shadow[1], shadow_x[0], shadow_x[1], 0};
        const double sum = sum_up_eight(v);
        const int k = (int)(threadIdx.x % 32) / 4; /* of v */
        const int norms = (a.sums & LAT_HOP_NORM) != 0,
                  products = 2 * ((a.sums & (LAT_HOP_DOT_X | LAT_HOP_DOT)) != 0),
                  shadows = 2 * ((a.sums & LAT_HOP_SHADOW) != 0),
                  shadows_x = 2 * ((a.sums & LAT_HOP_SHADOW_X) != 0);
        const int wanted = k == 0 ? norms : k < 3 ? products : k < 5 ? shadows : shadows_x;
        const int before = (k > 0) * norms + (k > 2) * products + (k > 4) * shadows;
        if (threadIdx.x % 4 == 0 && k < 7 && wanted)
            to[(before + (k > 0 && k % 2 == 0)) * a.arrays] = sum;
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A hop begins while the kernel before it ends, which it waits for before it reads spinors; so the
 * next one may begin, too. Links and clover matrices are older than any hop. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WAIT_FOR_SPINORS() \
    (cudaTriggerProgrammaticLaunchCompletion(), cudaGridDependencySynchronize())
#else
#define WAIT_FOR_SPINORS() ((void)0)
#endif

/* Block `block` of those that send a face, side 0 or 1: two spins of each site of `in`. From a
 * slice the hop goes down (to the rank below) with the spins that a forward hop reads. Out of line:
 * it is not to take the place of the hop's instructions. */
template <int P>
static __device__ __noinline__ void send_face(const lat_hop_args &a, uint32_t block,
                                              uint32_t blocks, int side)
{
    typedef lat_form<P> form;
    const lat_hop_faces &f = a.faces;
    const uint32_t lane = threadIdx.x % 32, first = side ? a.sites.half / 32 - f.groups : 0;
    const bool lower = (side == 0) != (a.swap != 0);
    for (uint32_t group = block * 4 + threadIdx.x % 128 / 32; group < f.groups; group += 4 * blocks)
        for (uint32_t n = threadIdx.x / 128; n < (uint32_t)a.columns; n += blockDim.x / 128)
            copy_two_spins<P>(a.in + (size_t)a.active[n] * a.column
                                  + (size_t)(first + group) * form::GROUP,
                              f.to[side] + n * f.column + (size_t)group * form::GROUP, lane, lower);
}

/* Is this block one of those? It sends its part then. */
template <int P> DEVICE bool sends(const lat_hop_args &a)
{
    if (blockIdx.x >= 2 * a.faces.blocks)
        return false;
    WAIT_FOR_SPINORS();
    const int side = blockIdx.x >= a.faces.blocks;
    if (blockIdx.y == 0)
        send_face<P>(a, blockIdx.x - (side ? a.faces.blocks : 0), a.faces.blocks, side);
    return true;
}

/* Where a hop does not take ghosts as they come: before a site is computed it waits for those of a
 * column that it reads, and empties them afterwards. Out of line as send_face is. */
template <int P, bool EMPTY>
static __device__ __noinline__ void ghost_of(char *ghost, uint32_t next, bool lower)
{
    char *const group = ghost + (size_t)(next / 32) * (size_t)lat_form<P>::GROUP;
    if (EMPTY)
        empty_two_spins<P>(group, next % 32, lower);
    else
        wait_for_two_spins<P>(group, next % 32, lower);
}

template <int P, bool EMPTY>
DEVICE void edge_ghosts(const lat_hop_args &a, const lat_hop_site &p, size_t column)
{
    if (p.crosses >> 3 & 1)
        ghost_of<P, EMPTY>(a.faces.ghost[1] + column, p.next[3], !a.swap);
    if (p.crosses >> 7 & 1)
        ghost_of<P, EMPTY>(a.faces.ghost[0] + column, p.next[7], a.swap);
}

/* A kernel of its own, where faces go through the host. */
template <int P> __global__ void send_faces(const __grid_constant__ lat_hop_args a)
{
    send_face<P>(a, blockIdx.x, gridDim.x, (int)blockIdx.y);
}

/* Which sites a block takes: of both parities each group of planes is taken by two blocks side by
 * side, so that spinors of both are in the second cache when both are read. */
typedef struct hop_block {
    uint32_t number, odd;
} hop_block;

template <bool GHOSTS> DEVICE hop_block block_of(const lat_hop_args &a)
{
    const uint32_t block = walked(a.backwards, GHOSTS ? 2 * a.faces.blocks : 0);
    const bool both = !GHOSTS && a.both;
    return hop_block{both ? block / 2 : block, both ? block & 1 : 0};
}

DEVICE lat_hop_site site_of(const lat_hop_args &a, uint32_t i, hop_block b)
{
    lat_hop_site p = hop_site(a.sites, i, a.parity ^ (int)b.odd);
    p.group = i / 32 + (b.odd ? (a.sites.half + 31) / 32 : 0);
    p.crosses |= (a.unit ? p.crosses & a.walls : 0x88) << 8;
    return p;
}

/* Of the other parity than the sites of the block. */
template <int P> DEVICE const char *spinors_in(const lat_hop_args &a, hop_block b)
{
    return a.in - (b.odd ? (size_t)((a.sites.half + 31) / 32) * lat_form<P>::GROUP : 0);
}

/* How links and clover matrices are read. */
DEVICE uint64_t policy_of(const lat_hop_args &a) { return a.again ? read_again() : read_once(); }

/* blockIdx.y: the column. */
template <int P, int R, int END, bool PHASES, int SW, bool GHOSTS, bool ONCE, int AHEAD, int BLOCKS>
__global__ void __launch_bounds__(128, BLOCKS) hop_one(const __grid_constant__ lat_hop_args a)
{
    typedef hop<P, R, false, PHASES, SW, GHOSTS> H;
    if (GHOSTS && sends<P>(a))
        return;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.sites, b.number, threadIdx.x);
    const bool there = i < a.sites.half;
    const size_t column = (size_t)a.active[blockIdx.y] * a.column;
    const lat_hop_site p = site_of(a, there ? i : a.sites.half - 1, b);
    typename H::real h[24];
    const uint64_t policy = policy_of(a);
    WAIT_FOR_SPINORS();
    if (i / 32 * 32 >= a.sites.half) /* the whole warp */
        return;
    const size_t ghost = GHOSTS ? blockIdx.y * a.faces.column : 0;
    if (GHOSTS && !H::TAKE)
        edge_ghosts<P, false>(a, p, ghost);
    H::template apply<AHEAD, END == 5>(h, a, p, spinors_in<P>(a, b) + column, ghost, policy, NULL,
                                       scales_hop<END>() ? (typename H::real)a.a : 1,
                                       a.x + (size_t)p.group * lat_form<P>::GROUP + column);
    if (GHOSTS && !H::TAKE)
        edge_ghosts<P, true>(a, p, ghost);
    finish<P, END, SW, ONCE, false>(a, p, (int)blockIdx.y, there, h, policy, NULL);
}

/* Of one column, where a multiprocessor has two blocks at most (16^4), so that a thread may have
 * 255 registers: links of all directions come before the wait, spinors run two directions ahead. */
template <int P, int R, int END, int SW, bool GHOSTS>
__global__ void __launch_bounds__(128, 2) hop_small(const __grid_constant__ lat_hop_args a)
{
    typedef hop<P, R, true, false, SW, GHOSTS> H;
    if (GHOSTS && sends<P>(a))
        return;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.sites, b.number, threadIdx.x);
    const bool there = i < a.sites.half;
    const lat_hop_site p = site_of(a, there ? i : a.sites.half - 1, b);
    typename H::real h[24];
    typename H::raw w[3];
    uint32_t u[8][H::link::WORDS];
    const uint64_t policy = policy_of(a);
#define LINK(n) \
    if (H::template linked<n>(p)) \
        load_link<P, R>(u[n], a.links + (size_t)p.group * H::LINKS + (n)*H::link::BLOCK, p.i % 32, \
                        policy);
    HOP_EACH(LINK)
#undef LINK
    const size_t column = (size_t)a.active[0] * a.column;
    const char *const in = spinors_in<P>(a, b) + column;
    const typename H::real scale = scales_hop<END>() ? (typename H::real)a.a : 1;
    WAIT_FOR_SPINORS();
    if (i / 32 * 32 >= a.sites.half) /* the whole warp */
        return;
#define FETCH(n) H::template fetch<(n) < 8 ? (n) : 7>(w[(n) % 3], a, p, in, 0, policy)
#define STEP(n) \
    if ((n) < 6) \
        FETCH((n) + 2); \
    H::template add<n>(h, w[(n) % 3], a, p, u[n], scale);
    FETCH(0);
    FETCH(1);
#pragma unroll
    for (int k = 0; k < 24; k++)
        h[k] = 0;
    HOP_EACH(STEP)
#undef STEP
#undef FETCH
    finish<P, END, SW, false, false>(a, p, 0, there, h, policy, NULL);
}

/* LINKS bytes of links, and CLOVER of clover matrices behind them, to shared memory of this warp of
 * a side of four; NULL: none. Of links IN_SPACE bytes alone where p says of all sites of the warp
 * that those of t are 1. All threads of a block call it once, then wait_for_brought(). */
template <int LINKS, int IN_SPACE, int CLOVER, int SIDES>
DEVICE void bring(char *to, const char *links, const char *clover, const lat_hop_site &p,
                  uint64_t *barrier, uint64_t policy)
{
    const uint32_t side = threadIdx.x / 128, lane = threadIdx.x % 32,
                   wanted = __any_sync(~0u, (p.crosses & 0x8800) != 0) ? LINKS : IN_SPACE;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(barrier),
                   at = (uint32_t)__cvta_generic_to_shared(to);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;\n"
                     "fence.proxy.async.shared::cta;" ::"r"(bar)
                     : "memory");
    __syncthreads();
    if (side || lane)
        return;
    const uint32_t bytes = (links ? wanted : 0) + (clover ? CLOVER : 0);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
                 : "memory");
#define BULK(to, from, bytes) \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" \
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to), \
                 "l"(from), "r"((uint32_t)(bytes)), "r"(bar), "l"(policy) \
                 : "memory")
    if (links && wanted)
        BULK(at, links, wanted);
    if (CLOVER && clover)
        BULK(at + LINKS, clover, CLOVER);
#undef BULK
#else
    for (uint32_t k = (side * 32 + lane) * 16; links && k < wanted; k += SIDES * 512)
        *(uint4 *)(to + k) = load16_once(links + k, policy);
    for (uint32_t k = (side * 32 + lane) * 16; CLOVER && clover && k < CLOVER; k += SIDES * 512)
        *(uint4 *)(to + LINKS + k) = load16_once(clover + k, policy);
    __syncthreads();
    (void)barrier;
#endif
}

DEVICE void wait_for_brought(uint64_t *barrier)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(barrier);
    for (uint32_t done = 0; !done;)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(bar)
                     : "memory");
#else
    (void)barrier;
#endif
}

/* SIDES threads a site, which take the columns in turn, as blocks of the same sites do
 * (blockIdx.y). Links, and clover matrices if HOLD, of each warp's group are copied to shared
 * memory. */
template <int P, int R, int END, bool PHASES, int SW, bool GHOSTS, bool ONCE, int AHEAD, int SIDES,
          int BLOCKS, bool HOLD>
__global__ void __launch_bounds__(128 * SIDES, BLOCKS)
    hop_many(const __grid_constant__ lat_hop_args a)
{
    typedef hop<P, R, true, PHASES, SW, GHOSTS> H;
    enum { EACH = H::LINKS + (HOLD ? lat_form<P>::CLOVER : 0) };
    extern __shared__ __align__(128) char shared[];
    if (GHOSTS && sends<P>(a))
        return;
    const uint32_t thread = threadIdx.x % 128, side = threadIdx.x / 128, warp = thread / 32;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.sites, b.number, thread), groups = (a.sites.half + 31) / 32;
    const bool there = i < a.sites.half, some = i / 32 < groups;
    const uint64_t policy = policy_of(a);
    const lat_hop_site p = site_of(a, there ? i : a.sites.half - 1, b);
    __shared__ __align__(8) uint64_t barrier;
    const char *const matrices = HOLD ? held_clover(a) : NULL;
    bring<H::LINKS, H::IN_SPACE, HOLD ? (int)lat_form<P>::CLOVER : 0, SIDES>(
        shared + warp * EACH, some ? a.links + (size_t)p.group * H::LINKS : NULL,
        some && matrices ? matrices + (size_t)p.group * lat_form<P>::CLOVER : NULL, p, &barrier,
        policy);
    WAIT_FOR_SPINORS();
    wait_for_brought(&barrier);
    if (!some)
        return;
#pragma unroll 1
    for (int n = (int)(blockIdx.y * SIDES + side); n < a.columns; n += SIDES * (int)gridDim.y) {
        const size_t column = (size_t)a.active[n] * a.column;
        typename H::real h[24];
        const size_t ghost = GHOSTS ? (size_t)n * a.faces.column : 0;
        if (GHOSTS && !H::TAKE)
            edge_ghosts<P, false>(a, p, ghost);
        H::template apply<AHEAD, END == 5>(h, a, p, spinors_in<P>(a, b) + column, ghost, policy,
                                           shared + warp * EACH,
                                           scales_hop<END>() ? (typename H::real)a.a : 1,
                                           a.x + (size_t)p.group * lat_form<P>::GROUP + column);
        if (GHOSTS && !H::TAKE)
            edge_ghosts<P, true>(a, p, ghost);
        finish<P, END, SW, ONCE, HOLD>(a, p, n, there, h, read_again(),
                                       shared + warp * EACH + H::LINKS);
    }
}

/* hop_many in half with links of t that are 1: each thread opens its links of space, 18 numbers,
 * once for all columns, as instructions are what it takes. They are in shared memory as those of
 * single are; links at the ends of t are opened for each column. */
enum { HOP_OPENED = 6 * lat_link_form<LAT_STORAGE_SINGLE, 18>::BLOCK }; /* bytes of a warp */

/* Blocks of it that a multiprocessor holds. */
constexpr int opened_blocks(bool hold) { return hold ? 3 : 4; }

template <int R, int END, int SW, bool GHOSTS, bool HOLD>
__global__ void __launch_bounds__(128, opened_blocks(HOLD))
    hop_opened(const __grid_constant__ lat_hop_args a)
{
    typedef hop<LAT_STORAGE_HALF, R, true, false, SW, GHOSTS> H;
    typedef typename H::link link;
    typedef lat_link_form<LAT_STORAGE_SINGLE, 18> opened;
    extern __shared__ __align__(128) char shared[];
    if (GHOSTS && sends<LAT_STORAGE_HALF>(a))
        return;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.sites, b.number, threadIdx.x), lane = threadIdx.x % 32;
    const bool there = i < a.sites.half;
    const uint64_t policy = policy_of(a);
    const lat_hop_site p = site_of(a, there ? i : a.sites.half - 1, b);
    enum { CLOVER = HOLD ? (int)lat_form<LAT_STORAGE_HALF>::CLOVER : 0 };
    char *const own = shared + threadIdx.x / 32 * (HOP_OPENED + CLOVER);
    __shared__ __align__(8) uint64_t barrier;
    const char *const matrices = HOLD && i / 32 * 32 < a.sites.half ? held_clover(a) : NULL;
    if (HOLD)
        bring<HOP_OPENED, 0, CLOVER, 1>(
            own, NULL, matrices ? matrices + (size_t)p.group * CLOVER : NULL, p, &barrier, policy);
    const char *const links = a.links + (size_t)p.group * H::LINKS;
#pragma unroll
    for (int n = 0; n < 6; n++) {
        uint32_t words[link::WORDS];
        float u[18];
        load_link<LAT_STORAGE_HALF, R>(words, links + n * link::BLOCK, p.i % 32, policy);
        open_link<LAT_STORAGE_HALF, R>(u, words);
#pragma unroll
        for (int c = 0; c < 4; c++)
            *(float4 *)(own + n * opened::BLOCK + c * 512 + lane * 16) = make_float4(
                u[4 * c], u[4 * c + 1], u[4 * c + 2], u[4 * c + 3]);
        *(float2 *)(own + n * opened::BLOCK + 2048 + lane * 8) = make_float2(u[16], u[17]);
    }
    WAIT_FOR_SPINORS();
    if (HOLD)
        wait_for_brought(&barrier);
    if (i / 32 * 32 >= a.sites.half) /* the whole warp */
        return;
    const float scale = scales_hop<END>() ? (float)a.a : 1;
#pragma unroll 1
    for (int n = (int)blockIdx.y; n < a.columns; n += (int)gridDim.y) {
        const char *const in = spinors_in<LAT_STORAGE_HALF>(a, b) + (size_t)a.active[n] * a.column;
        const size_t ghost = GHOSTS ? (size_t)n * a.faces.column : 0;
        float h[24];
        typename H::raw w[2];
#define FETCH(k) H::template fetch<(k) < 8 ? (k) : 7>(w[(k) % 2], a, p, in, ghost, policy)
#define SPACE(k) \
    { \
        float u[18]; \
        FETCH(k + 1); \
        shared_link<LAT_STORAGE_SINGLE, 18>((uint32_t *)u, own + (k)*opened::BLOCK, lane); \
        H::template add_opened<k>(h, w[(k) % 2], a, p, u, scale); \
    }
#define TIME(k) \
    { \
        uint32_t words[link::WORDS]; \
        if (H::template linked<k>(p)) \
            load_link<LAT_STORAGE_HALF, R>(words, links + (k)*link::BLOCK, p.i % 32, policy); \
        H::template add<k>(h, w[(k) % 2], a, p, words, scale); \
    }
#pragma unroll
        for (int k = 0; k < 24; k++)
            h[k] = 0;
        FETCH(0);
        SPACE(0) SPACE(1) SPACE(2) SPACE(3) SPACE(4) SPACE(5);
        FETCH(7);
        TIME(6);
        TIME(7);
#undef FETCH
#undef SPACE
#undef TIME
        finish<LAT_STORAGE_HALF, END, SW, true, HOLD>(a, p, n, there, h, read_again(),
                                                      own + HOP_OPENED);
    }
}

#endif
