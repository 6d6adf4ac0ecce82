/* SPDX-License-Identifier: BSD-3-Clause */
/* multigrid_cpu.h: the CPU's functions of ops.h, and where its matrices lie. */
#pragma once

#include "multigrid/cpu/kernels.h"
#include "multigrid/fine.h"

enum { LAT_COARSE_PIECES = 64 }; /* of a sum */

/* A coarse operator's. */
typedef struct lat_mg_host {
    float *matrix;  /* [site][Y_x, Y_y, Y_z, Y_t, X], in tiles (kernels.h) */
    float *hop;     /* [own site][8] H */
    float *inverse; /* [own site] X^-1 */
    float *dense;   /* of the last level: the inverse of the complement; or NULL */
    lat_eight *sent;
    lat_eight_sums *partial; /* [LAT_COARSE_PIECES] */
} lat_mg_host;

static inline lat_mg_host *lat_mg_host_of(const lat_coarse *c) { return (lat_mg_host *)c->there; }

/* Matrix 0 to 4 of a site. */
float *lat_coarse_matrix(const lat_coarse *c, int site, int which);

/* Element of a matrix in tiles: its real part; the imaginary one follows. */
static inline int64_t lat_tile_at(int columns, int row, int column)
{
    return 2 * (((int64_t)(row / 4) * columns + column) * 4 + row % 4);
}

/* Columns first .. first+7 of such a matrix of c->rows rows get what is in `from`. */
void lat_tile_columns(int rows, int first, const lat_eight *from, float *matrix);

int lat_mg_cpu_coarse_open(lat_coarse *c);
void lat_mg_cpu_coarse_close(lat_coarse *c);
int lat_mg_cpu_finish(lat_coarse *c, bool dense);
int lat_mg_cpu_hop(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *add,
                   float sign, const lat_eight *in);
int lat_mg_cpu_inverse(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *in);
int lat_mg_cpu_diagonal(const lat_coarse *c, lat_eight *out, const lat_eight *in);
int lat_mg_cpu_dense(const lat_coarse *c, lat_eight *x, const lat_eight *r);
int lat_mg_cpu_apply(const lat_coarse *c, lat_eight *out, const lat_eight *in);
int lat_mg_cpu_gather(const lat_coarse *c, lat_eight *v);

/* Each rank has a record of its blocks (sites.blocks), by coarse site; all get all records. */
int lat_mg_cpu_gather_blocks(const lat_coarse *c, size_t bytes, void *records);
int lat_mg_cpu_dots(const lat_coarse *c, int n, lat_eight *const *x, const lat_eight *y,
                    lat_eight_sums *to);
int lat_mg_cpu_adds(const lat_coarse *c, int n, const lat_mg_factor *f, lat_eight *const *x,
                    const lat_eight *add, lat_eight *y);
int lat_mg_cpu_look(const lat_coarse *c, lat_mg_scalars *s, bool begin, double tolerance);
int lat_mg_cpu_found(const lat_coarse *c, const lat_mg_scalars *s, lat_mg_found *found);
int lat_mg_cpu_transfer_open(lat_transfer *t);
void lat_mg_cpu_transfer_close(lat_transfer *t);
int lat_mg_cpu_make(lat_transfer *t);
int lat_mg_cpu_restrict(const lat_transfer *t, int from, const lat_eight *r, lat_eight *z);
int lat_mg_cpu_prolong(const lat_transfer *t, int from, const lat_eight *z, lat_eight *e);

/* The same of the sites of a parity; z of the first one begins with 0, that of the next is added.
 */
void lat_mg_cpu_restrict_parity(const lat_transfer *t, int parity, bool first, const lat_eight *r,
                                lat_eight *z);
void lat_mg_cpu_prolong_parity(const lat_transfer *t, int parity, const lat_eight *z, lat_eight *e);

int lat_mg_cpu_galerkin(lat_level *l);
int lat_mg_cpu_take(const lat_level *l, int first, const lat_eight *x);
int lat_mg_cpu_give(const lat_level *l, int first, lat_eight *x);
int lat_mg_cpu_fine_open(lat_mg_fine *f);
void lat_mg_cpu_fine_close(lat_mg_fine *f);
int lat_mg_cpu_fine_restrict(const lat_mg_fine *f, bool all, int columns, const int *column,
                             const lat_dfield *x, lat_eight *z);
int lat_mg_cpu_fine_prolong(const lat_mg_fine *f, bool all, int columns, const int *column,
                            lat_dfield *x, const lat_eight *z);
int lat_mg_cpu_fine_take(const lat_mg_fine *f, int first, const lat_dfield *x);
int lat_mg_cpu_fine_give(const lat_mg_fine *f, int first, lat_dfield *x);
int lat_mg_cpu_fine_random(const lat_mg_fine *f, int columns, uint64_t seed, lat_dfield *x);
int lat_mg_cpu_fine_round(const lat_mg_fine *f, lat_dfield *x);
int lat_mg_cpu_fine_galerkin(const lat_mg_fine *f, lat_level *l, lat_dfield *x);

/* Columns first .. of P, of one chirality, to columns 0 .. 7 of x. */
void lat_mg_cpu_columns(const lat_mg_fine *f, int first, int chirality, lat_dfield *x);
