/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h: from a level to the next coarser one and back.
 *
 * n test vectors v_j, near-null vectors of the level's operator, are made orthonormal in each block
 * B and chirality c: w_Bcj. With them
 *
 *     (P z)(x) = sum_cj w_Bcj(x) z_cj(B),  x in B,     P^+ P = 1,     gamma5 P = P Gamma5
 *
 * Components of a site are those of chirality + first, then those of -. v and p are
 * [site][component][n][re, im], sites in the order of the blocks. */
#pragma once

#include "multigrid/blocks.h"
#include "multigrid/kernels.h"

typedef struct lat_transfer {
    lat_blocks blocks;
    const lat_comm *comm;
    bool ranks;        /* the level's sites are distributed: blocks are those of this rank */
    int components, n; /* of a site; n is a multiple of 4 */
    float *v, *p;
} lat_transfer;

/* blocks are opened before. 0, or -1 with lat_error set; lat_transfer_close in either case. */
int lat_transfer_open(lat_transfer *t, int components, int n);
void lat_transfer_close(lat_transfer *t);

/* The test vectors become orthonormal on the whole lattice (without which they all become the
 * lowest modes), and P is made of them. Directions of a block that are not there to rounding are
 * replaced by zero. The same bits on any ranks and threads. */
int lat_transfer_make(lat_transfer *t);

/* z = P^+ r, the sums over sites of these parities, and e = P z there. r and e are
 * [site][component], site i of the blocks' list at number at[i], or NULL: at i - first. z is
 * [coarse site][2 n]; of other ranks' blocks it is left alone. */
typedef struct lat_transfer_part {
    int from, to; /* parities from .. to-1 */
    const int32_t *at;
    int64_t first;
} lat_transfer_part;

void lat_restrict(const lat_transfer *t, lat_transfer_part part, const lat_eight *r, lat_eight *z);
void lat_prolong(const lat_transfer *t, lat_transfer_part part, const lat_eight *z, lat_eight *e);
