/* SPDX-License-Identifier: BSD-3-Clause */
/* contract.h: correlators of mesons and baryons, a slice at a time (docs/correlators.md).
 *
 * S(x) is the propagator from the source to x. With two propagators, S1 belongs to the quark and S2
 * to the antiquark; in baryons the quarks u and d are S1, and s is S2.
 *
 *   mesons    C(p) = - sum_x e^{ip(x-x0)} tr[ A S1 Bbar gamma5 S2^+ gamma5 ], Bbar = gamma_t B^+
 *             gamma_t, for the matrix A of the sink and B of the source; the pion is sum tr S1 S2^+
 *   baryons   C(p) = sum_x e^{ip(x-x0)} tr[ P <O Obar> ], P = (1 + gamma_t)/2, and with
 *             "_backward" (1 - gamma_t)/2, of O =
 *               nucleon  eps_abc (u_a^T C gamma5 d_b) u_c
 *               sigma    eps_abc (u_a^T C gamma5 s_b) u_c
 *               xi       eps_abc (s_a^T C gamma5 u_b) s_c
 *               lambda   {2 [ud]s + [us]d - [ds]u} / sqrt 6,
 *                        [qr]p = eps_abc (q_a^T C gamma5 r_b) p_c
 *               delta    eps_abc (u_a^T C gamma_k u_b) u_c, the mean over k = x, y, z with all
 *                        Wick contractions
 *   _nr       with the upper components 1, 2 of the basis of Dirac and Pauli alone:
 *               nucleon_nr  eps_abc u1_a (u1_b d2_c - u2_b d1_c) / sqrt 2, sigma_nr with s for d
 *               delta_nr    eps_abc u1_a u1_b u1_c
 *
 * Sums are over chunks of a slice in their order: the bits do not depend on threads. */
#pragma once

#include "gamma.h"
#include "lattice/header.h"

typedef enum {
    LAT_MESON,
    LAT_NUCLEON,
    LAT_SIGMA,
    LAT_XI,
    LAT_LAMBDA,
    LAT_DELTA,
    LAT_NUCLEON_NR,
    LAT_SIGMA_NR,
    LAT_DELTA_NR,
    LAT_PCAC
} lat_channel_kind;

typedef struct lat_channel {
    char name[40];
    lat_channel_kind kind;
    bool backward;          /* baryons with (1 - gamma_t)/2 */
    lat_gamma sink, source; /* mesons */
} lat_channel;

static inline bool lat_channel_baryon(const lat_channel *c)
{
    return c->kind != LAT_MESON && c->kind != LAT_PCAC;
}

/* Reads names with commas between: the names in the table above; pion, rho_x, a0, a1_x, b1_x (and
 * y, z; rho, a1 and b1 are three), axial_t, pcac; A:B of products of gamma matrices (gamma.h), sink
 * first; mesons, baryons, all. Returns a list that the caller frees, and *count; NULL with a
 * sentence about usage. */
lat_channel *lat_channels_parse(const char *text, int nc, int *count);

typedef struct lat_contraction {
    const lat_header *head; /* of the propagators */
    const lat_channel *channel;
    const int (*momentum)[3]; /* n of p = 2 pi (n + shift) / L */
    const double (*shift)[3]; /* of each channel: what twisted boundaries of its quarks, together,
                               * add to n (not of LAT_PCAC); NULL: 0 */
    int channels, momenta;
    int place[3]; /* x0; x - x0 is from -x0 to L - 1 - x0, so that no boundary lies between */
} lat_contraction;

/* The correlators of one slice: out[2 (channel * momenta + momentum)] re, and im. `first` and
 * `second`, which may be one, are slices of propagators in doubles, [site][source spin][source
 * colour][spin][colour][re, im]. For LAT_PCAC it is (C_A, C_P) of momentum 0 instead. 0, or -1
 * without memory. */
int lat_contract_slice(const lat_contraction *c, const double *first, const double *second,
                       double *out);

/* Momenta of a text: of a number from 0 to 1000, all -L/2 < n <= L/2 with n^2 up to it, in rising
 * n^2; or the list "1,0,0;1,1,0", with ; or / between, in this order. [count][x, y, z], to be
 * freed; NULL with a sentence about usage. */
int (*lat_momenta_parse(const char *text, const lat_geometry *geom, int *count))[3];

/* Is a momentum 2 pi n / L of a user within 1e6? Products with coordinates are numbers, then. */
bool lat_momentum_small(const long n[3]);
