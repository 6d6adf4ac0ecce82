/* SPDX-License-Identifier: BSD-3-Clause */
/* abelian.h: Abelian projection of links in maximally Abelian gauge (docs/conventions.md, "Abelian
 * projection"). */
#pragma once

#include "lattice/field.h"

/* The phases of the diagonal SU(N) matrix that the N x N matrix u is projected to: the phases of
 * its diagonal elements minus an N-th of their sum, which is between -pi and pi (Brandstaeter,
 * Schierholz, Wiese, PLB 272 (1991) 319). For SU(2) it is the nearest matrix. */
void lat_abelian_phases(int n, const double *u, double *phase);

/* Own links of f, f64, become their projections, diagonal matrices. Missing links stay missing. */
void lat_abelian_project(lat_field *f);

/* Landau gauge of the projected links: how far the diagonal phases of g, which maximally Abelian
 * gauge leaves free, are from the residual gauge (docs/gauges.md). */
typedef struct lat_residual {
    double functional, theta;       /* lat_measure_gauge */
    double sector[LAT_MAX_COLOURS]; /* theta of phase i: theta is their mean */
    double worst;                   /* the largest one */
} lat_residual;

/* All ranks call it: 0, or -1. */
int lat_measure_residual(const lat_field *f, lat_residual *r);

/* The info line LAT_INFO_RESIDUAL: theta of each phase, with blanks between. 0, or -1. */
int lat_residual_note(lat_header *head, const lat_residual *r);
