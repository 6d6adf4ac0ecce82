/* SPDX-License-Identifier: BSD-3-Clause */
/* kinematics.h: momenta of quark propagators and vertices (docs/momentum.md):
 * p_mu = 2 pi n_mu / L_mu, n whole numbers plus theta/2 of the boundary. */
#pragma once

#include <stdbool.h>
#include "amputation.h"
#include "legs.h"
#include "lattice/header.h"

/* p1 and p2, and what follows from them; p2 = p1 except for vertices. */
typedef struct lat_kinematics {
    double n[2][4], pbar[2][4], q[4]; /* q = p1 - p2 */
    double square[2], q2;             /* p^2 */
    double pbar2, phat2;              /* of p1 */
    double distance;                  /* of p1 from the nearest diagonal, in units of 2 pi / X */
    lat_ward ward;
    double weight[4], middle[4]; /* w of M, (p1 + p2)/2 */
    double mass, tree;           /* m, B of the free operator; NaN: not known */
} lat_kinematics;

/* From a propagator's header, which has lattice and operator. */
lat_kinematics lat_kinematics_of(const lat_header *head, const double n1[4], const double n2[4]);

/* n is shifted to -L/2 < n <= L/2. */
void lat_kinematics_zone(const lat_header *head, double n[4]);

/* The same operator, except for boundaries and the sign of the twist, and the same form of an
 * overlap propagator? So must be the two quarks of a vertex. An ensemble has one sign, too. */
bool lat_kinematics_same_quark(const lat_header *a, const lat_header *b);

/* A list of momenta, and their spatial parts. */
typedef struct lat_momenta {
    double (*n)[4];
    double (*spatial)[3]; /* each once, where they follow each other */
    int *index;           /* of each momentum, its number among them */
    int count, spatials;
} lat_momenta;

/* 0, or -1 without memory; lat_momenta_free frees what there is. */
int lat_momenta_add(lat_momenta *m, const double n[4]);

/* Adds all that fit the boundary with p^2 up to `most`, at most `width` from the nearest diagonal
 * (lat_kinematics.distance). 0, or -1 without memory. */
int lat_momenta_upto(lat_momenta *m, const lat_header *head, double most, double width);
void lat_momenta_free(lat_momenta *m);
