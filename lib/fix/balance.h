/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.h: load balancing of slices that are fixed independently (Coulomb gauge) among ranks.
 *
 * Slices converge at different times, and those that have are swept no more. Each time theta is
 * looked at, the slices that are left may be assigned to ranks anew (assign.h). Every slice has an
 * owner, the rank whose slab it is in. A slice that migrates takes its links and the g of all
 * copies to a free slot of another rank, and its g comes back. Where ranks share slices nothing
 * migrates.
 *
 * Functions return 0, or -1 with lat_error set; every rank calls all of them. C and C++. */
#pragma once

#include "grid/grid.h"

typedef struct lat_balance {
    lat_grid *grid;    /* slots: own slices, then capacity for migrated ones */
    lat_dfield *u, *g; /* links: one member; g: a member a copy */
    int copies, owned; /* slots of own slices */
    bool *active;      /* [copies][slices]: is to be swept */
    bool *here;        /* [units] (grid.h): held here, not by another rank or by nobody */
    int *list, listed; /* units that are here and to be swept */
    int *rank_of;      /* [slices]: the rank that sweeps it; NULL where none may migrate */
    int *capacity;     /* [ranks]: slices that each can take */
    double cost;       /* of a migration, in sweeps of a slice with all its copies */
    double gain;       /* by which the busiest rank could have less to do, in slices and copies */
    double lost;       /* what it has swept since then that another could have swept */
} lat_balance;

/* How many slots a rank wants beyond its own slices: half as many. */
int lat_balance_capacity(const lat_grid *grid);

/* For the fields of a grid whose slots have been set. `may`: slices may migrate, if the grid is
 * distributed; the same on all ranks. lat_balance_close takes what is all zero as well. */
int lat_balance_open(lat_balance *b, lat_dfield *u, lat_dfield *g, bool may, double cost);
void lat_balance_close(lat_balance *b);

/* Brings `here` and `list` up to date, after the functions below; no rank communicates. */
void lat_balance_list(lat_balance *b);

/* As lat_fix_freeze, theta[copies][slices] and bound[copies]; then slices may migrate: when
 * the busiest rank has lost what the migrations cost. lat_balance_swept says that the slices that
 * are left have been swept n times. */
int lat_balance_freeze(lat_balance *b, const double *theta, const double *bound);
void lat_balance_swept(lat_balance *b, long n);

/* All slices return to their owners. */
int lat_balance_return(lat_balance *b);
