/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_end.cuh: epilogues: what is done to the sum h of a hop before it is stored, and sums of
 * the result for each column (lat_epilogue, cuda_hop_sites.cuh).
 *
 *     end_store      a h
 *     end_affine     a h + b x + shift gamma5 x; h has begun with x (begin_affine)
 *     end_general    all but clover matrices and twisted masses: x, add, recursions, sums
 *     end_clover     the same without recursions, where clover_h is all that the diagonal has, and
 *                    an image of the result
 *     end_diagonal   any diagonal, without recursions and images; and phases in any direction
 *     end_any        the one of these that the kernel is told, where y is cut
 *
 * begin: what h begins with. SCALED: `a` is a factor of half spinors, where it costs nothing.
 * CLOVER: has it clover matrices? PHASES: has hop_one phases in any direction? */
#pragma once

#include "dirac/cuda/cuda_hop_stencil.cuh"
#include "vector/cuda/cuda_site.cuh"

/* ---- parts of them --------------------------------------------------------------------------- */

/* Where an end is: a site of a column. */
template <int P> struct end_site {
    const lat_hop_args &a;
    const lat_hop_site &p;
    int n;           /* the place of the column in `active` */
    bool there;      /* the thread has a site */
    uint64_t policy; /* by which clover matrices are read; */
    bool held;       /* those of held_clover() are in shared memory: */
    const char *shared;
    bool swap;

    METHOD uint32_t lane() const { return p.i % 32; }
    METHOD bool flips() const /* upper and lower spins of `out` */
    {
        return P == LAT_STORAGE_HALF ? swap : swap != a.end.flip;
    }
    METHOD size_t at() const /* of a field */
    {
        return (size_t)p.group * lat_form<P>::GROUP + (size_t)a.active[n] * a.lattice.column;
    }
    METHOD size_t block() const /* of clover matrices */
    {
        return (size_t)p.group * lat_form<P>::CLOVER;
    }
};

/* Clover matrices that all columns of a block share. */
DEVICE const char *held_clover(const lat_hop_args &a)
{
    return a.end.clover_h ? a.end.clover_h : a.end.clover_x;
}

/* v <- s C v, C of held_clover(). */
template <int P> DEVICE void held_times(real_of<P> v[24], const end_site<P> &e, real_of<P> s)
{
    if (e.held)
        clover_times<P, true>(v, e.shared, e.lane(), e.policy, s);
    else
        clover_times<P>(v, held_clover(e.a) + e.block(), e.lane(), e.policy, s);
}

/* Sums of a site, and of a column. */
template <int P> struct end_sums {
    double norm = 0, product[2] = {0, 0}, shadow[2] = {0, 0}, shadow_x[2] = {0, 0};

    /* Those that have x, in a unit. */
    template <class End>
    METHOD void of_x(const end_site<P> &e, const real_of<P> h[24], const real_of<P> x[24],
                     real_of<P> unit)
    {
        if (e.a.end.sums & LAT_SUM_DOT && !e.a.end.with)
            dot(product, x, h, unit);
        if (e.a.end.sums & LAT_SUM_SHADOW_IN)
            shadow_of(shadow_x, x, End::template number<P>(e), parity_of(e.a), e.swap, unit);
    }
    template <class End> METHOD void of_result(const end_site<P> &e, const real_of<P> h[24])
    {
        if (e.a.end.with) {
            real_of<P> y[24];
            get_spinor<P>(y, e.a.end.with + e.at(), e.lane(), e.flips());
            dot(product, y, h);
        }
        if (e.a.end.sums & LAT_SUM_SHADOW)
            shadow_of(shadow, h, End::template number<P>(e), parity_of(e.a), e.flips());
        if (e.a.end.sums & LAT_SUM_NORM)
            norm = norm_of(h);
    }
    /* To partial[]; all threads of a warp call it. */
    METHOD void add_up(const end_site<P> &e) const
    {
        const lat_epilogue &end = e.a.end;
        if (!end.sums)
            return;
        double *const to = end.partial + (size_t)e.n * (size_t)__popc(end.sums) * (size_t)end.arrays
                           + e.p.group;
        if (end.sums == LAT_SUM_NORM) {
            sum_up(to, norm);
            return;
        }
        double v[8] = {norm,      product[0],  product[1],  shadow[0],
                       shadow[1], shadow_x[0], shadow_x[1], 0};
        const double sum = sum_over_warp<8>(v);
        const uint32_t k = threadIdx.x % 32 / 4;
        if (threadIdx.x % 4 == 0 && end.sums >> k & 1)
            to[__popc(end.sums & ((1u << k) - 1)) * end.arrays] = sum;
    }
};

/* h <- a h + b y, y in memory. */
template <int P>
DEVICE void scale_add(real_of<P> h[24], double a, const char *group, double b, uint32_t lane,
                      bool swap)
{
    real_of<P> y[24];
    get_spinor<P>(y, group, lane, swap);
#pragma unroll
    for (int k = 0; k < 24; k++)
        h[k] = (real_of<P>)a * h[k] + (real_of<P>)b * y[k];
}

/* h += b x */
template <class real> DEVICE void add_real(real h[24], real b, const real x[24])
{
#pragma unroll
    for (int k = 0; k < 24; k++)
        h[k] = fused(b, x[k], h[k]);
}

template <int P, bool ONCE> DEVICE void store(const real_of<P> h[24], const end_site<P> &e)
{
    put_spinor<P, ONCE>(e.a.out + e.at(), e.lane(), h, e.flips(), read_once());
}

/* ---- the ends -------------------------------------------------------------------------------- */

struct end_store {
    enum { SCALED = true, CLOVER = false, PHASES = false };
    template <int P> using begin = begin_zero<P>;

    template <int P, bool ONCE> DEVICE void apply(const end_site<P> &e, real_of<P> h[24])
    {
        if (e.there)
            store<P, ONCE>(h, e);
    }
};

struct end_affine : end_store {
    template <int P> using begin = begin_affine<P>;
};

/* What ends with sums have in common. Any of number(), of the site in the whole lattice; factor(),
 * of h; add_x(), which leaves x in a unit that is returned; add_out(); and image() may be another
 * one's. */
template <class End> struct end_summed {
    template <int P> using begin = begin_zero<P>;

    template <int P> DEVICE uint32_t number(const end_site<P> &e)
    {
        return whole_number(e.a.lattice.whole, e.p.i);
    }
    template <int P> DEVICE void factor(real_of<P> *, const end_site<P> &) {}
    template <int P> DEVICE real_of<P> add_x(real_of<P> *h, real_of<P> *x, const end_site<P> &e)
    {
        const real_of<P> unit = get_in_unit<P>(x, e.a.end.x + e.at(), e.lane(), e.swap);
        add_real(h, (real_of<P>)e.a.end.b * unit, x);
        return unit;
    }
    /* h <- keep onto + alpha h */
    template <int P> DEVICE void add_out(real_of<P> *h, const end_site<P> &e)
    {
        typedef real_of<P> real;
        const lat_epilogue &end = e.a.end;
        real y[24];
        get_spinor<P>(y, end.onto + e.at(), e.lane(), e.flips());
        const real alpha = (real)(end.later ? known(end.later, e.a.active[e.n]).re
                                            : end.alpha[e.n]);
#pragma unroll
        for (int k = 0; k < 24; k++)
            h[k] = fused(alpha, h[k], rounded_product((real)end.keep[e.n], y[k]));
    }
    template <int P, bool ONCE> DEVICE void image(real_of<P> *, const end_site<P> &) {}

    template <int P, bool ONCE> DEVICE void apply(const end_site<P> &e, real_of<P> h[24])
    {
        end_sums<P> sums;
        if (e.there) {
            End::template factor<P>(h, e);
            if (e.a.end.x) {
                real_of<P> x[24];
                const real_of<P> unit = End::template add_x<P>(h, x, e);
                sums.template of_x<End>(e, h, x, unit);
            }
            if (e.a.end.add)
                End::template add_out<P>(h, e);
            sums.template of_result<End>(e, h);
            store<P, ONCE>(h, e);
            End::template image<P, ONCE>(h, e);
        }
        sums.add_up(e);
    }
};

struct end_general : end_summed<end_general> {
    enum { SCALED = true, CLOVER = false, PHASES = false };

    /* Half has no recursions. */
    template <int P> DEVICE bool recursion(const end_site<P> &e)
    {
        return P != LAT_STORAGE_HALF && e.a.end.recursion;
    }
    /* And h += shift x: upper and lower spins are exchanged when h is stored. */
    template <int P> DEVICE real_of<P> add_x(real_of<P> *h, real_of<P> *x, const end_site<P> &e)
    {
        typedef real_of<P> real;
        const real unit = end_summed::add_x<P>(h, x, e), re = (real)e.a.end.shift[0],
                   im = (real)e.a.end.shift[1];
        if (!recursion<P>(e))
            return unit;
#pragma unroll
        for (int k = 0; k < 24; k++)
            h[k] = fused(re, x[k < 12 ? k + 12 : k - 12], h[k]);
        if (im != 0)
            lat_algebra<real>::add_twist(h, x, im);
        return unit;
    }
    /* Or h <- keep out + alpha h + by more. */
    template <int P> DEVICE void add_out(real_of<P> *h, const end_site<P> &e)
    {
        const lat_epilogue &end = e.a.end;
        if (!recursion<P>(e)) {
            end_summed::add_out<P>(h, e);
            return;
        }
        scale_add<P>(h, end.alpha[e.n], e.a.out + e.at(), end.keep[e.n], e.lane(), e.flips());
#pragma unroll
        for (int j = 0; j < LAT_APPLY_TERMS; j++)
            if (j < end.terms)
                scale_add<P>(h, 1, end.more[j] + e.at(), end.by[j][e.n], e.lane(), e.flips());
    }
};

struct end_clover : end_summed<end_clover> {
    enum { SCALED = false, CLOVER = true, PHASES = false };

    template <int P> DEVICE void factor(real_of<P> *h, const end_site<P> &e)
    {
        if (e.a.end.clover_h) /* always: a branch keeps its loads from coming too early */
            held_times<P>(h, e, (real_of<P>)e.a.end.a);
    }
    template <int P, bool ONCE> DEVICE void image(real_of<P> *h, const end_site<P> &e)
    {
        if (!e.a.end.image)
            return;
        held_times<P>(h, e, 1);
        put_spinor<P, ONCE>(e.a.end.image + e.at(), e.lane(), h, e.swap, read_once());
    }
};

struct end_diagonal : end_summed<end_diagonal> {
    enum { SCALED = false, CLOVER = true, PHASES = true };

    /* h <- a C' h + i g gamma5 h */
    template <int P> DEVICE void factor(real_of<P> *h, const end_site<P> &e)
    {
        typedef real_of<P> real;
        const lat_epilogue &end = e.a.end;
        const bool twisted = end.g5_h != 0;
        if (end.clover_h)
            held_times<P>(h, e, twisted ? (real)1 : (real)end.a);
        if (!twisted && end.clover_h)
            return;
        real v[24];
#pragma unroll
        for (int k = 0; k < 24; k++)
            v[k] = h[k];
        if (end.clover_h2)
            clover_times<P>(h, end.clover_h2 + e.block(), e.lane(), e.policy);
#pragma unroll
        for (int k = 0; k < 24; k++)
            h[k] *= (real)end.a;
        if (twisted)
            add_gamma5(h, v, (real)(e.swap ? -end.g5_h : end.g5_h));
    }
    /* h += b C x + i g gamma5 x */
    template <int P> DEVICE real_of<P> add_x(real_of<P> *h, real_of<P> *x, const end_site<P> &e)
    {
        typedef real_of<P> real;
        const lat_epilogue &end = e.a.end;
        real c[24];
        get_spinor<P>(x, end.x + e.at(), e.lane(), e.swap);
        if (end.g5_x != 0)
            add_gamma5(h, x, (real)(e.swap ? -end.g5_x : end.g5_x));
#pragma unroll
        for (int k = 0; k < 24; k++)
            c[k] = x[k];
        if (end.clover_x && end.clover_h)
            clover_times<P>(c, end.clover_x + e.block(), e.lane(), e.policy);
        else if (end.clover_x)
            held_times<P>(c, e, 1);
        add_real(h, (real)end.b, c);
        return 1;
    }
};

/* An end with sums, where y is cut. */
template <class End> struct end_of_rows : End {
    template <int P> DEVICE uint32_t number(const end_site<P> &e)
    {
        return whole_number(e.a.lattice.whole, e.a.rows.in_planes, e.p.i);
    }
    template <int P, bool ONCE> DEVICE void apply(const end_site<P> &e, real_of<P> h[24])
    {
        end_summed<end_of_rows<End>>::template apply<P, ONCE>(e, h);
    }
};

struct end_any {
    enum { SCALED = true, CLOVER = true, PHASES = true };
    template <int P> using begin = begin_any<P>;

    DEVICE double scale(const lat_hop_args &a) { return a.rows.end < LAT_END_CLOVER ? a.end.a : 1; }
    template <int P, bool ONCE> DEVICE void apply(const end_site<P> &e, real_of<P> h[24])
    {
        switch (e.a.rows.end) {
        case LAT_END_STORE:
        case LAT_END_AFFINE: end_store::apply<P, ONCE>(e, h); break;
        case LAT_END_GENERAL: end_of_rows<end_general>::apply<P, ONCE>(e, h); break;
        case LAT_END_CLOVER: end_of_rows<end_clover>::apply<P, ONCE>(e, h); break;
        case LAT_END_DIAGONAL: end_of_rows<end_diagonal>::apply<P, ONCE>(e, h); break;
        }
    }
};
