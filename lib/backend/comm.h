/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h: the ranks that work on one lattice together. Only the MPI communicator knows MPI; a
 * run on one rank never starts it. */
#ifndef LAT_BACKEND_COMM_H
#define LAT_BACKEND_COMM_H

typedef struct lat_comm lat_comm;
struct lat_comm {
    const char *name; /* "self", "mpi" */
    int rank, size;
    /* Sums v[0..n-1] over the ranks, the result on all of them: 0 or -1. */
    int (*sum)(const lat_comm *comm, double *v, int n);
    int (*max)(const lat_comm *comm, double *v, int n);
};

/* The communicator for `ranks` ranks; NULL with lat_error set where there is none. */
const lat_comm *lat_comm_open(int ranks);

extern const lat_comm lat_comm_self;

#endif
