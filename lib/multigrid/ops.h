/* SPDX-License-Identifier: BSD-3-Clause */
/* ops.h: what a device does for a multigrid: a table of functions, of the CPU and of a GPU. What
 * they work on lies in the memory of the device, from `alloc`: vectors of coarse levels, test
 * vectors, P, matrices, scalars. On a GPU they return once the work is in its stream, but for
 * `fetch`, `found` and `finish`, which wait for it.
 *
 * Functions of coarse operators and of transfers between coarse levels work on the active batches
 * of a vector (coarse.h), those that `take` and `give` name, `apply` and `gather` on batch 0.
 *
 * All ranks call all functions. They return 0, or -1 with lat_error set. C and C++. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "grid/grid.h"
#include "multigrid/eight.h"

struct lat_coarse;
struct lat_level;
struct lat_mg_fine;
struct lat_transfer;

/* Steps of a level that work on its own vectors, its x and the ring's place k, and wait for no
 * device. */
typedef int lat_mg_steps(struct lat_level *l, int k);

typedef struct lat_mg_ops {
    /* Zeros; NULL with lat_error set. */
    void *(*alloc)(const lat_device *dev, size_t count, size_t size, const char *what);
    void (*free)(void *p); /* NULL is allowed */
    int (*send)(const lat_device *dev, void *to, const void *host, size_t bytes);
    int (*fetch)(const lat_device *dev, void *host, const void *from, size_t bytes);

    /* ---- a coarse operator (coarse.h), whose sites are open ---- */
    int (*coarse_open)(struct lat_coarse *c);
    void (*coarse_close)(struct lat_coarse *c); /* of zeros is allowed */

    /* From the matrices of this rank's sites: those of other ranks, H and X^-1; with `dense` the
     * inverse of the complement. 1: a matrix is singular. */
    int (*finish)(struct lat_coarse *c, bool dense);

    /* out = add + sign * sum_d H_d in(next), and out = X^-1 in, on sites of a parity; out = X in on
     * odd sites, with its shift; x = dense^-1 r there. add NULL: 0; add may be out. */
    int (*hop)(const struct lat_coarse *c, int parity, lat_eight *out, const lat_eight *add,
               float sign, const lat_eight *in);
    int (*inverse)(const struct lat_coarse *c, int parity, lat_eight *out, const lat_eight *in);
    int (*diagonal)(const struct lat_coarse *c, lat_eight *out, const lat_eight *in);
    int (*dense)(const struct lat_coarse *c, lat_eight *x, const lat_eight *r);

    /* out = M_c in on all sites, from the matrices themselves. */
    int (*apply)(const struct lat_coarse *c, lat_eight *out, const lat_eight *in);

    /* A vector of which each rank has its sites: those of others, too. */
    int (*gather)(const struct lat_coarse *c, lat_eight *v);

    /* Where each rank has solved a batch of its own (`divided`): the other batch, at the
     * sites of its blocks. NULL on a CPU. */
    int (*swap)(const struct lat_coarse *c, lat_eight *v);

    /* Linear algebra on odd sites: to[j] = <x[j], y>, j < n; y = add + sum_j f[j] x[j], add NULL:
     * 0, add may be y; n <= LAT_LEVEL_DEPTH. And lat_mg_look of all columns; what it found. */
    int (*dots)(const struct lat_coarse *c, int n, lat_eight *const *x, const lat_eight *y,
                lat_eight_sums *to);
    int (*adds)(const struct lat_coarse *c, int n, const lat_mg_factor *f, lat_eight *const *x,
                const lat_eight *add, lat_eight *y);
    int (*look)(const struct lat_coarse *c, lat_mg_scalars *s, bool begin, double tolerance);
    int (*found)(const struct lat_coarse *c, const lat_mg_scalars *s, lat_mg_found *found);

    /* Makes these steps, on a GPU in one launch from the second time on. */
    int (*run)(struct lat_level *l, lat_mg_steps *steps, int k);

    /* ---- to the next level (transfer.h), whose blocks are open ---- */
    int (*transfer_open)(struct lat_transfer *t);
    void (*transfer_close)(struct lat_transfer *t);

    /* The test vectors become orthonormal on the whole lattice (without which they all become the
     * lowest modes), and P is made of them. Directions of a block that are not there to rounding
     * are replaced by zero. The same bits on any ranks and threads. */
    int (*make)(struct lat_transfer *t);

    /* z = P^+ r, the sums over sites of the coarse level's parities from .. 1, and e = P z there.
     */
    int (*restrict_to)(const struct lat_transfer *t, int from, const lat_eight *r, lat_eight *z);
    int (*prolong)(const struct lat_transfer *t, int from, const lat_eight *z, lat_eight *e);

    /* Test vectors first .. first+7 of a coarse level <- x, on all sites, and back. */
    int (*take)(const struct lat_level *l, int first, const lat_eight *x);
    int (*give)(const struct lat_level *l, int first, lat_eight *x);
    int (*galerkin)(struct lat_level *l); /* the matrices of l->next */

    /* ---- the finest level (fine.h) ---- */
    int (*fine_open)(struct lat_mg_fine *f); /* its transfer is open */
    void (*fine_close)(struct lat_mg_fine *f);

    /* z = P^+ x and x = P z, on odd sites, or of at most eight columns on all. z: active batches of
     * the level below, whose other columns are 0; from odd sites z is as lat_level_solve wants it:
     * on a CPU at this rank's sites, on GPUs at all. */
    int (*fine_restrict)(const struct lat_mg_fine *f, bool all, int columns, const int *column,
                         const lat_dfield *x, lat_eight *z);
    int (*fine_prolong)(const struct lat_mg_fine *f, bool all, int columns, const int *column,
                        lat_dfield *x, const lat_eight *z);

    /* Test vectors first .. first+7 <- columns 0 .. 7 of x, on all sites, and back. */
    int (*fine_take)(const struct lat_mg_fine *f, int first, const lat_dfield *x);
    int (*fine_give)(const struct lat_mg_fine *f, int first, lat_dfield *x);

    /* Random numbers, the first columns of x, on all sites; and columns 0 .. 7 of x become what a
     * file in single precision has of them. */
    int (*fine_random)(const struct lat_mg_fine *f, int columns, uint64_t seed, lat_dfield *x);
    int (*fine_round)(const struct lat_mg_fine *f, lat_dfield *x);

    /* The matrices of the first coarse level. x: eight columns to work with. */
    int (*fine_galerkin)(const struct lat_mg_fine *f, struct lat_level *l, lat_dfield *x);

    bool waits; /* `found` waits for a device */
} lat_mg_ops;

extern const lat_mg_ops lat_multigrid_cpu, lat_multigrid_gpu;
