/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac.h: Dirac operators on a device (grid/device.h), for batches of spinors (vector/space.h).
 *
 *     M psi(x) = (1 + 3 nu/xi + m) psi(x) + i twist gamma5 psi(x)
 *                - 1/2 sum_mu w_mu [(1 - gamma_mu) U_mu(x) psi(x+mu)
 *                                   + (1 + gamma_mu) U_mu(x-mu)^+ psi(x-mu)]
 *                - 1/2 sum_{mu<nu} c_munu sigma_munu F_munu(x) psi(x)
 *
 * with w = nu/xi for spatial mu and 1 for t, c = csw/xi in spatial planes and csw_t in those with
 * t, sigma_munu = (i/2)[gamma_mu, gamma_nu], F_munu = -i (S - S^+)/8, S the sum of the four leaves
 * counterclockwise from x. The trace of F stays unless `traceless`. gamma matrices are those of
 * docs/conventions.md. The forward hop across a boundary carries exp(i pi theta), the backward hop
 * its conjugate; neither is there if the boundary is Dirichlet. With open time (lattice/fermion.h)
 * no hop leads to the first and the last slice, and slices 1 and T - 2 have c_F - 1 more on the
 * diagonal. Leaves of the clover term are periodic always.
 *
 * In terms of parities, A being all that is diagonal in sites (positive definite or not), and
 * D_eo, D_oe the sums in brackets with w:
 *
 *     M = A - D/2
 *     asymmetric:  S = A_oo - 1/4 D_oe A_ee^-1 D_eo
 *     symmetric:   S = 1 - 1/4 A_oo^-1 D_oe A_ee^-1 D_eo
 *     M x = b:     S x_o = b_o + 1/2 D_oe A_ee^-1 b_e   (symmetric: A_oo^-1 of it)
 *                  x_e = A_ee^-1 (b_e + 1/2 D_eo x_o)
 *
 * and likewise with even and odd exchanged. An operator has the precision of its space; a mixed
 * solver has two. Functions return 0 or a pointer, or -1 or NULL with lat_error set. Every rank of
 * the device calls every function. C and C++. */
#pragma once

#include "lattice/fermion.h"
#include "vector/apply.h"

typedef enum { LAT_FULL, LAT_ASYMMETRIC, LAT_SYMMETRIC } lat_dirac_form;

/* M, M^+, M^+M, gamma5 M; or of S instead of M. */
typedef enum { LAT_PLAIN, LAT_DAGGER, LAT_NORMAL, LAT_GAMMA5 } lat_dirac_kind;

/* Which matrix: {LAT_SYMMETRIC, LAT_DAGGER} is S^+. FULL works on both parities, the others on the
 * one that the part says. */
typedef struct lat_dirac_matrix {
    lat_dirac_form form;
    lat_dirac_kind kind;
} lat_dirac_matrix;

typedef struct lat_dirac_options {
    /* Reals a link: SU(3) 18, 12 or 8, SU(2) 8 or 4; 0: the 12 (4) if all links are unitary to the
     * precision, else all. 12 and 8 of links that are not are refused. A GPU has no 8 of SU(3), and
     * embeds SU(2) in SU(3): 8 or 4 take 18 or 12 there. */
    int reals;
    bool unitary; /* the links of SU(3) are known to be, in double: with reals 0 none is examined */
    bool traceless; /* F without its trace */
    bool in_turn;   /* exchange ghosts, then compute, without overlap: to compare; the same bits.
                     * LAT_HALO=first in the environment sets it, too */
    const double
        *there; /* on one GPU: the links, if they are there already (certify/plain_gpu.h) */
    const lat_field *box; /* those of this rank's box (grid.h, lat_grid_host), if there are */
} lat_dirac_options;

typedef struct lat_dirac {
    const struct lat_dirac_ops *ops;
    lat_space *space;
    lat_fermion fermion;
    int reals;   /* a link in the device's memory */
    int links;   /* a site that a hop reads: 8, but 6 where those of t are 1 (temporal.h) */
    bool clover; /* the diagonal differs from site to site: lat_fermion_blocks */
    bool fuses;  /* ends of recursions take no pass of their own: shifts of gamma5 M and S, real
                  * ones with add */
} lat_dirac;

/* Fields of a call are of the operator's space and differ from each other. A field that goes in is
 * not changed, but for ghosts. end may be NULL. */
typedef struct lat_dirac_ops {
    /* Nothing is borrowed but the space. Ghosts of u are up to date (lat_field_exchange). */
    lat_dirac *(*open)(lat_space *s, const lat_field *u, const lat_fermion *fermion,
                       const lat_dirac_options *options);
    void (*close)(lat_dirac *d);

    /* The matrix times `in`, on the part's sites. */
    int (*apply)(lat_dirac *d, lat_dirac_matrix matrix, const lat_part *p, lat_dfield *out,
                 lat_dfield *in, const lat_apply_end *end);

    /* a chi + b D in (dagger: D^+) on the part's sites, D the sum in brackets with w; chi NULL:
     * b D in. */
    int (*hop)(lat_dirac *d, bool dagger, const lat_part *p, double a, const lat_dfield *chi,
               double b, lat_dfield *out, lat_dfield *in);

    /* A in, or A^-1 in (dagger: A^+). In place if out is in. */
    int (*diagonal)(lat_dirac *d, bool inverse, bool dagger, const lat_part *p, lat_dfield *out,
                    const lat_dfield *in);

    /* log |det A| of the sites of that parity, and how many of their blocks (two a site) have a
     * negative determinant; 0 with a twist. */
    int (*logdet)(lat_dirac *d, lat_parity parity, double *log, long *negative);

    /* From b to the right-hand side of S on the part's parity, which `rhs` gets; b is read on both
     * parities and rhs may be b. And from x on that parity to x on the other one, into the same
     * field, which may be b. form is not FULL; p->parity is not BOTH. */
    int (*prepare)(lat_dirac *d, lat_dirac_form form, const lat_part *p, lat_dfield *rhs,
                   lat_dfield *b);
    int (*reconstruct)(lat_dirac *d, const lat_part *p, lat_dfield *x, const lat_dfield *b);

    /* Real operations of `apply` a column and site of the lattice, additions and multiplications,
     * by the usual count (a hop 1320 for SU(3)); for Gflop/s. */
    double (*flops)(const lat_dirac *d, lat_dirac_matrix matrix);
} lat_dirac_ops;

/* For the tables of all devices: the matrix with an end of a recursion, and the sums of an end, by
 * passes of their own. */
int lat_dirac_in_passes(lat_dirac *d, lat_dirac_matrix matrix, const lat_part *p, lat_dfield *out,
                        lat_dfield *in, const lat_apply_end *end);
int lat_dirac_sums_apart(const lat_dirac *d, const lat_part *p, const lat_dfield *out,
                         const lat_dfield *in, const lat_apply_end *end);
double lat_dirac_flops(const lat_dirac *d, lat_dirac_matrix matrix);

extern const lat_dirac_ops lat_dirac_cpu, lat_dirac_gpu;

/* Fails with a sentence where a block of A cannot be inverted, where links are not SU(N) and are to
 * be stored in 12 or 8 reals, and where a parameter is none (NaN). */
lat_dirac *lat_dirac_open(lat_space *s, const lat_field *u, const lat_fermion *fermion,
                          const lat_dirac_options *options);
void lat_dirac_close(lat_dirac *d); /* NULL is allowed */
