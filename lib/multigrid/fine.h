/* SPDX-License-Identifier: BSD-3-Clause */
/* fine.h: the finest level: batches of lib/vector, whose vectors have sites in their lanes, and the
 * columns that transfers want.
 *
 * Components of a site are those of gamma5 = + and - of the host's basis,
 * [chirality][spin][colour]: (upper + lower)/sqrt 2 and (upper - lower)/sqrt 2 of a batch
 * (vector/space.h). On the CPU, in single precision. */
#pragma once

#include "dirac/dirac.h"
#include "multigrid/level.h"

typedef struct lat_mg_fine {
    lat_space *space;
    lat_dirac *d;
    const lat_field *links; /* ghosts are up to date */
    lat_transfer down;
    int32_t *at;         /* [positions]: number in the blocks' list; -1: idle */
    int64_t group[2][2]; /* groups of even and odd sites: from, to */
    lat_eight *column;   /* [odd sites][components] */
} lat_mg_fine;

/* Blocks for the lattice, which must fit ranks: 0, or -1 with lat_error set. */
int lat_mg_fine_check(const lat_geometry *lattice, const lat_comm *comm, int block[LAT_MAX_DIMS]);

/* Above `coarse`, with these blocks. n vectors. 0, or -1 with lat_error set; lat_mg_fine_close in
 * either case. */
int lat_mg_fine_open(lat_mg_fine *f, lat_dirac *d, const lat_field *links,
                     const int block[LAT_MAX_DIMS], const lat_mg_sites *coarse, int n);
void lat_mg_fine_close(lat_mg_fine *f);

/* z = P^+ x and x = P z of odd sites; at most eight columns. Other numbers of z's columns are 0. */
void lat_mg_fine_restrict(const lat_mg_fine *f, int columns, const int *column, const lat_dfield *x,
                          lat_eight *z);
void lat_mg_fine_prolong(const lat_mg_fine *f, int columns, const int *column, lat_dfield *x,
                         const lat_eight *z);

/* The same of columns 0 to 7 on all sites. 0, or -1 with lat_error set. */
int lat_mg_fine_restrict_all(const lat_mg_fine *f, const lat_dfield *x, lat_eight *z);
int lat_mg_fine_prolong_all(const lat_mg_fine *f, lat_dfield *x, const lat_eight *z);

/* Test vectors first .. first+count-1 <- columns 0 .. count-1 of x, on all sites, and back. */
void lat_mg_fine_take(const lat_mg_fine *f, int first, int count, const lat_dfield *x);
void lat_mg_fine_give(const lat_mg_fine *f, int first, int count, lat_dfield *x);

/* Columns first .. of P, of one chirality, to columns 0 .. 7 of x. */
void lat_mg_fine_columns(const lat_mg_fine *f, int first, int chirality, lat_dfield *x);

/* The matrices of the first coarse level. x: two batches of eight columns to work with. */
int lat_mg_fine_galerkin(const lat_mg_fine *f, lat_level *l, lat_dfield *const x[2]);
