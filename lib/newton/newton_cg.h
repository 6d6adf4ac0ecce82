/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_cg.h: the scalars of a solve, for CPU and GPU: conjugate gradients within a trust region
 * (Steihaug, SIAM J. Numer. Anal. 20 (1983) 626), preconditioned by L^-1. Vectors are in units of
 * the norm of the right-hand side; |s|_L^2 = s . L s. C and CUDA.
 *
 *     begin, then again and again:  hop;  s += along p, r -= along q;  stop, or next;  p = z + b p
 */
#ifndef LAT_NEWTON_NEWTON_CG_H
#define LAT_NEWTON_NEWTON_CG_H

#include <math.h>
#include <stdbool.h>

#ifdef __CUDACC__
#define LAT_NEWTON_INLINE static __host__ __device__ inline
#else
#define LAT_NEWTON_INLINE static inline
#endif

enum { LAT_NEWTON_ITERATIONS = 60 };

typedef struct lat_newton_cg {
    double delta2, tolerance; /* of |s|_L^2, and of |r|^2 */
    double rz, ss, sp, pp;    /* r.z; and s.s, s.p, p.p with L in between */
    double step, along, b;    /* without the trust region, and with it; of the next p */
    double gain;              /* of the functional, sum of Re tr x / 2, that the model promises */
    int k;                    /* iterations */
    bool saddle, bound;       /* p.q <= 0; s is on the boundary of the trust region */
    double a[LAT_NEWTON_ITERATIONS], beta[LAT_NEWTON_ITERATIONS]; /* for Ritz values */
} lat_newton_cg;

/* The trust region, if there is none yet (0): three times the length of A. */
LAT_NEWTON_INLINE double lat_newton_delta(double delta, double size, double rz)
{
    return delta == 0 ? 3 * sqrt(rz) * size : delta;
}

/* |s|_L is to be below delta; rz: r.z at s = 0. */
LAT_NEWTON_INLINE void lat_newton_cg_begin(lat_newton_cg *c, double delta, double rz)
{
    c->delta2 = delta * delta;
    c->rz = c->pp = rz;
    c->ss = c->sp = c->gain = c->b = 0;
    c->k = 0;
}

/* pq: p.q, q = M p. */
LAT_NEWTON_INLINE void lat_newton_cg_hop(lat_newton_cg *c, double pq)
{
    const double step = c->rz / pq, far = c->ss + 2 * step * c->sp + step * step * c->pp;
    c->a[c->k] = c->step = c->along = step;
    c->saddle = !(pq > 0);
    c->bound = c->saddle || far >= c->delta2;
    if (c->bound)
        c->along = (sqrt(fmax(0.0, c->sp * c->sp + c->pp * (c->delta2 - c->ss))) - c->sp) / c->pp;
    c->gain += c->along * c->rz - 0.5 * c->along * c->along * pq;
    c->ss = c->bound ? c->delta2 : far;
    c->k++;
}

/* rr: r.r */
LAT_NEWTON_INLINE bool lat_newton_cg_stop(const lat_newton_cg *c, double rr)
{
    return c->bound || !(rr > c->tolerance) || c->k == LAT_NEWTON_ITERATIONS;
}

/* rz: r.z of the new r. */
LAT_NEWTON_INLINE void lat_newton_cg_next(lat_newton_cg *c, double rz)
{
    c->beta[c->k - 1] = c->b = rz / c->rz;
    c->sp = c->b * (c->sp + c->step * c->pp);
    c->pp = rz + c->b * c->b * c->pp;
    c->rz = rz;
}

#endif
