/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_end.cuh: what is done to the sum of a hop before it is stored, and the sums of it for
 * each column. */
#ifndef LAT_DIRAC_CUDA_HOP_END_CUH
#define LAT_DIRAC_CUDA_HOP_END_CUH

#include "cuda_hop_sites.cuh"
#include "cuda_site.cuh"

/* Clover matrices that all columns of a block share. */
DEVICE const char *held_clover(const lat_hop_args &a)
{
    return a.clover_h ? a.clover_h : a.clover_x;
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

#endif
