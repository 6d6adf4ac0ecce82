/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse.h: the operator of a coarse level, M_c = P^+ M P:
 *
 *     (M_c z)(B) = X(B) z(B) + sum_mu [Y_mu(B) z(B+mu) + Y_-mu(B) z(B-mu)]
 *
 * with matrices of 2n rows, and Y_-mu(B) = Gamma5 Y_mu(B-mu)^+ Gamma5, so that only forward hops
 * are kept. It is solved with even and odd sites: with H = X^-1 Y,
 *
 *     (1 - H_oe H_eo) z_o = X^-1 b_o - H_oe X^-1 b_e,     z_e = X^-1 b_e - H_eo z_o
 *
 * Where a lattice has no even and odd sites all count as odd: (1 + H) z = X^-1 b.
 *
 * Vectors are [site][2 n] of eight columns, the same on all ranks; of a distributed level a rank
 * on a CPU computes its sites, and gathers those of others; one on a GPU computes all. All ranks
 * call all functions that return int: 0, or -1 with lat_error set. C and C++. */
#pragma once

#include "multigrid/blocks.h"
#include "multigrid/ops.h"

enum { LAT_COARSE_HOPS = 4, LAT_COARSE_MATRICES = 5 };

typedef struct lat_coarse {
    const lat_mg_ops *ops;
    const lat_device *dev;
    lat_mg_sites sites;
    const lat_comm *comm;
    bool ranks;
    bool divided;    /* ranks with GPUs that reach each other: of two batches 0, 2, .. solve the
                      * first, the others the second */
    int n, rows;     /* 2 n */
    double shift;    /* the mass and ... */
    double twist;    /* ... the twist in X beyond those that Galerkin's product had */
    int batches;     /* of eight columns, that vectors have, one behind the other: on a CPU 1 */
    int active;      /* of them, those that functions work on; 1 at first */
    lat_eight *even; /* to work with */
    void *there;     /* matrices: of the device (cpu/multigrid_cpu.h, cuda/cuda_multigrid.cuh) */
} lat_coarse;

/* ops, dev, comm, ranks and batches are set, sites are open. lat_coarse_close in either case. */
int lat_coarse_open(lat_coarse *c, int n);
void lat_coarse_close(lat_coarse *c);

/* A vector of zeros, of c->ops; NULL, with lat_error set, without memory. */
lat_eight *lat_coarse_vector(const lat_coarse *c);

/* Of a batch: its numbers, and their bytes. */
static inline size_t lat_coarse_numbers(const lat_coarse *c)
{
    return (size_t)c->sites.count * (size_t)c->rows;
}

static inline size_t lat_coarse_bytes(const lat_coarse *c)
{
    return lat_coarse_numbers(c) * sizeof(lat_eight);
}

/* Batch 0: numbers from -1 to 1, by site, component and number of the vector, from `first` on. */
int lat_coarse_random(const lat_coarse *c, uint64_t first, lat_eight *x);

/* |x| of each column, on all sites; x is in the memory of the host. */
void lat_coarse_norms(const lat_coarse *c, const lat_eight *x, double norm[LAT_EIGHT]);

/* Once the matrices of this rank's sites are made: H and X^-1 with this shift of the mass and the
 * twist; and with `dense` the inverse of the complement. 1: a matrix is singular. */
int lat_coarse_finish(lat_coarse *c, double shift, double twist, bool dense);

/* On odd sites: out = the complement times in; r = its right-hand side, b_e is kept; and from the
 * solution on odd sites to that on even ones. */
int lat_coarse_complement(const lat_coarse *c, lat_eight *out, const lat_eight *in);
int lat_coarse_prepare(const lat_coarse *c, lat_eight *r, lat_eight *b_e, const lat_eight *b);
int lat_coarse_reconstruct(const lat_coarse *c, lat_eight *x, const lat_eight *b_e);
