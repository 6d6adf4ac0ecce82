/* SPDX-License-Identifier: BSD-3-Clause */
/* smear.h: smearing of links: APE, stout and HYP (docs/flow.md, "Smeared links").
 *
 * A link becomes a mean of paths from x to x + mu, projected to SU(N). With C the sum of the 2
 * (d-1) staples, which lead from x to x + mu as the link does, a step is
 *
 *   ape:A,N      V = P[(1-A) U + A/(2(d-1)) C]  (Albanese et al., Phys. Lett. B 192 (1987) 163)
 *   stout:R,N    V = exp(X) U, X the traceless anti-Hermitian part of R C U^+
 *                (Morningstar, Peardon, Phys. Rev. D 69 (2004) 054501)
 *   hyp:A1,A2,A3,N  APE with staples of links that were smeared within the hypercubes of the link
 *                alone, A3 first (Hasenfratz, Knechtli, Phys. Rev. D 64 (2001) 034504)
 *
 * and is done N times. P is the nearest unitary matrix, W (W^+ W)^-1/2, over the N-th root of its
 * determinant. With ",spatial" only links outside of the last axis are smeared, with staples of
 * such links alone. d is one less, and HYP has two numbers, hyp:A1,A2,N,spatial.
 *
 * The smeared links transform as links: V[U^g] = (V[U])^g. Links that are 1 stay. Missing links of
 * an open boundary stay missing, and staples that need them do not count. */
#pragma once

#include "lattice/field.h"

typedef enum { LAT_SMEAR_APE, LAT_SMEAR_STOUT, LAT_SMEAR_HYP } lat_smear_kind;

typedef struct lat_smear {
    lat_smear_kind kind;
    double weight[3]; /* A; R; A1 A2 A3 */
    int steps;
    bool spatial;
} lat_smear;

/* The info line of a propagator whose operator has smeared links: their text. */
#define LAT_SMEARED_LINKS "smeared_links"

/* 0, or -1 with a sentence about usage. */
int lat_smear_parse(const char *text, lat_smear *s);

/* -1 with a sentence where links of u cannot be smeared so. Weights with which smearing makes links
 * rougher are said in a warning, once (docs/flow.md). */
int lat_smear_check(const lat_field *u, const lat_smear *s);

/* What is said where P does not exist. */
#define LAT_SMEAR_SINGULAR \
    lat_fail("a smeared link is singular and cannot be projected to SU(N): smaller weights may " \
             "help")

/* *v: the smeared links, f64, on the ranks of u, halos exchanged, to be freed by the caller. Its
 * header is u's without what holds for the links of u alone (plaquette, gauge, flow time).
 * The ghosts of u must be up to date; it is checked (lat_smear_check). All ranks call it: 0, or -1
 * with lat_error set. */
int lat_smear_links(const lat_field *u, const lat_smear *s, lat_field *v);
