/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.h: slices that are fixed independently, of which each rank has some at home, and others
 * for a while.
 *
 * There is nothing to be told between two looks at theta, and slices are done at different times:
 * those that are not are dealt out again (assign.h). One whose home is here may so be swept
 * elsewhere, as a guest: its links and g go there, and g comes back. A rank has places for its own
 * slices and then for guests; a unit is what a backend has of a copy at a place, number copy *
 * places + place. Where ranks share slices, all of these are at home everywhere. C and C++.
 *
 * Functions return 0, or -1 with lat_error set; every rank calls all of them. */
#ifndef LAT_BACKEND_GUESTS_H
#define LAT_BACKEND_GUESTS_H

#include <stdbool.h>
#include "comm/comm.h"

/* What a backend does: g of a copy at a place, or its links (copy -1), to another rank, or what
 * comes from there to this place. It says which sites these are when links come:
 * guests.slice[place]. */
typedef int lat_migrate_fn(void *device, int place, int copy, int rank, bool send);

typedef struct lat_balance {
    const lat_comm *comm;
    lat_slab mine;   /* slices at home here */
    int all, copies; /* slices on all ranks */
    int places;
    int *slice; /* [places]: which one is there, or -1 */
    bool *live; /* [copies][all]: is to be swept */
    int *at;    /* [all]: the rank that sweeps it; NULL where none may go elsewhere */
    int *room;  /* [ranks]: places for guests */
    lat_migrate_fn *post;
    void *device;
    double price;      /* of a move, in sweeps of a unit */
    double less, lost; /* units by which the busiest rank could have less; what it has swept more
                          than it had to, since then */
} lat_balance;

/* The slices `mine` are here of `all`; `guests`: places for more, on all ranks below 0 where none
 * may go elsewhere. lat_balance_close takes what is all zero as well. */
int lat_balance_open(lat_balance *h, const lat_comm *comm, lat_slab mine, int all, int copies,
                     int guests, double price, lat_migrate_fn *post, void *device);
void lat_balance_close(lat_balance *h);

/* As many as a rank wants: half of what it has. */
int lat_balance_capacity(lat_slab mine);

/* Places up to the last one that somebody has. */
int lat_balance_slots_used(const lat_balance *h);

/* The number of a unit among those of all ranks, copy * all + slice; -1 if it is elsewhere, or
 * nobody. And is it swept here? */
int lat_balance_unit(const lat_balance *h, int unit);
bool lat_balance_active(const lat_balance *h, int unit);

/* As lat_backend's freeze, theta[copies][all] and bound[copies]; then slices are dealt out again.
 * Those that are left have been swept n times: a move is made when whoever is waited for has lost
 * what it costs. */
int lat_balance_freeze(lat_balance *h, const double *theta, const double *bound);
void lat_balance_swept(lat_balance *h, long n);

/* All of them go home. */
int lat_balance_return(lat_balance *h);

#endif
