/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_internal.h: what the files of lib/ghost share. */
#pragma once

#include "fourier/laplace.h"
#include "ghost.h"
#include "ghost_gpu.h"
#include "lattice/iterate.h"

struct lat_ghost {
    LAT_GHOST_SITES
    lat_field lattice; /* geometry in our order, and ranks, never NULL; no data */
    int colours, columns;
    size_t held; /* sites with ghosts */
    bool halo;   /* neighbours are on other ranks */
    /* [held][directions + 1][2 N N]: w_mu U_mu(x) / 2; last the diagonal, the Hermitian part of the
     * sum of w_mu (U_mu(x) + U_mu(x-mu)) / 2 */
    double *links;
    lat_laplace *laplace;
    float *lanes; /* links of one column in single precision, for Newton's method: see below */
    lat_single_laplace *laplace_single;
    lat_ghost_gpu *gpu; /* NULL: on the CPU; otherwise vectors are there, and links, too */
    bool plain_there;   /* what plain.c has made: */
    lat_ghost_plain plain;
    lat_sums sums; /* of lat_ghost_run */
};

/* Reals of a vector at a site, and of a link. */
static inline size_t lat_ghost_reals(const lat_ghost *m)
{
    return m->single ? ((size_t)m->colours + 1) / 2 * 2 : (size_t)m->columns * (size_t)m->colours;
}
static inline size_t lat_ghost_link(const lat_ghost *m)
{
    return 2 * (size_t)m->nc * (size_t)m->nc;
}

/* The unit of block number `block` of all ranks; of this one. */
static inline int lat_ghost_unit_of(const lat_ghost *m, size_t block)
{
    if (m->time < 0)
        return 0;
    return (int)(m->time == m->lattice.head.geom.nd - 1 ? block : block % m->blocks);
}
static inline int lat_ghost_unit(const lat_ghost *m, size_t block)
{
    return lat_ghost_unit_of(m, (size_t)lat_field_slab(&m->lattice).first * m->blocks + block);
}

/* Element of 2 T^a for the diagonal one number k: the first k are this, the next is -k times it. */
LAT_INLINE double diagonal_factor(int k) { return __builtin_sqrt(2.0 / (k * (k + 1))); }

/* Works on the sites from .. to-1 of one unit, adds to sums. */
typedef void lat_ghost_pass(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                            size_t to, double *sums);

/* The passes over vectors, for each vector length: one text for columns side by side (kernels.c),
 * one for a column in single precision (single.c), chosen at run time. */
typedef lat_ghost_pass *lat_ghost_kernels[LAT_GHOST_PASSES];
lat_ghost_pass *const *lat_ghost_wide_kernels(void);
lat_ghost_pass *const *lat_ghost_single_kernels(void);
static inline lat_ghost_pass *lat_ghost_kernel(const lat_ghost *m, lat_ghost_pass_name pass)
{
    return (m->single ? lat_ghost_single_kernels() : lat_ghost_wide_kernels())[pass];
}

/* A pass over all own sites on the device of m; total[unit * numbers + i] are the sums over each
 * unit, the same bits on all ranks. NULL: none. */
int lat_ghost_run(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, int numbers,
                  double *total);

/* Its parts: memory for so many numbers a unit; on the CPU the pass over the blocks first .. last-1
 * of this rank; the sums of all. */
int lat_ghost_prepare(lat_ghost *m, int numbers);
void lat_ghost_over(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, size_t first,
                    size_t last);
int lat_ghost_add_up(lat_ghost *m, double *total);

/* Memory on the device of m, like a vector's, which lat_ghost_vector_free frees. A copy may also be
 * from or to the host. */
void *lat_ghost_alloc(const lat_ghost *m, size_t bytes, const char *what);
int lat_ghost_move(const lat_ghost *m, void *to, const void *from, size_t bytes);

/* v <- L^-1 v, of units that are not idle (NULL: all); v = 0. */
int lat_ghost_invert(lat_ghost *m, double *v, const bool *idle);
int lat_ghost_zero(lat_ghost *m, double *v);

/* means[unit][pack][colour][8] from the sums over units. */
void lat_ghost_means(const lat_ghost *m, const double *sums, int stride, int offset, double *means);

/* Faces to ghosts. */
int lat_ghost_exchange(const lat_ghost *m, double *v);

/* Like lat_ghost_apply without the projection, of units that are not idle (NULL: all); total: the
 * numbers of `hop`. */
int lat_ghost_hop(lat_ghost *m, double *out, double *in, const bool *idle, double *total);

/* ---- conjugate gradients (cg.c) -------------------------------------------------------------- */

/* Coefficients that the lowest Ritz value of L^-1 M is made of. */
enum { LAT_GHOST_COEFFICIENTS = 60 };
typedef struct lat_ghost_coefficients {
    double alpha[LAT_GHOST_COEFFICIENTS], beta[LAT_GHOST_COEFFICIENTS];
} lat_ghost_coefficients;

/* M x = b of a column in a unit, where |x|_L < delta, |x|_L^2 being <x, L x> (Steihaug, SIAM J.
 * Numer. Anal. 20 (1983) 626): a step that would leave the region, or along p with <p, M p> <= 0,
 * ends on its boundary. */
typedef struct lat_ghost_system {
    bool active;   /* it is to be solved */
    double target; /* of |r|^2 */
    double delta;  /* INFINITY: no bound, and the solve ends where <p, M p> <= 0; 0: 3 |L^-1 b|_L */
    lat_ghost_coefficients *coefficients; /* of that many iterations; NULL: not asked for */
    double rr;                            /* INFINITY; then |r|^2 */
    /* what was found: */
    double gain; /* <b, x> - <x, M x> / 2 */
    double xx;   /* |x|_L^2 */
    long iterations;
    bool saddle, bound; /* <p, M p> <= 0; x is on the boundary */
    double xp, pp;      /* of the iteration: <x, L p>, <p, L p> */
} lat_ghost_system;

/* x from b = r, which becomes the residual, for system[unit * columns + column]; x is defined by
 * it. watched: progress goes to the terminal, in units of this residual. 0, also where it has not
 * converged. */
int lat_ghost_cg(lat_ghost *m, double *x, double *r, lat_ghost_system *system, long max_iterations,
                 double watched, lat_ghost_report *report);

/* ---- one column in single precision -----------------------------------------------------------
 *
 * What lat_ghost_new_on makes for 0 packs, without links, which Newton's gradients bring. For SU(2)
 * and SU(3), in one process. A vector is [site][colour] of float, the colours and one 0 behind
 * those of SU(2); its pointer is cast. Units lie one after the other: time is the last axis. Sites
 * are in lanes, eight in natural order (`lanes`: [block][group of 8 sites]: first U_mu(x) of all
 * directions, then U_mu(x-mu)^+, N - 1 rows of each, without weights; then the diagonal of M, Re
 * H_aa, and Re and Im H_ab, a < b, row by row; [8] of each real). M's result is not projected: L^-1
 * takes the constants off. */
