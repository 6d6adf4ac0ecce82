/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h: the ranks that work on one lattice together. Only comm_mpi.c knows MPI; a run on one rank
 * never starts it.
 *
 * Every rank calls every function that takes a communicator, unless it says who does. They return
 * 0, or -1 with lat_error set. Waiting sleeps. A rank that ends with a sentence (error.h) ends them
 * all: the sentence appears once, whoever had it, and nobody waits for one who has gone. What
 * happens on rank 0 alone, such as reading and writing, is thus followed by lat_agree where all of
 * them are to go on after a failure. Words on stderr are rank 0's alone; so are the files (io.h).
 */
#ifndef LAT_COMM_H
#define LAT_COMM_H

#include <stdbool.h>
#include <stddef.h>

/* The larger one; NaN is larger than anything. */
static inline double lat_worse(double a, double b) { return a != a || a >= b ? a : b; }

/* Time slices first .. first+count-1, cut across the last axis of the lattice. */
typedef struct lat_slab {
    int first, count;
} lat_slab;

/* Bytes to and from the ranks that have the slabs before (down) and after (up), periodically. */
typedef struct lat_exchange {
    const void *to_down, *to_up;
    void *from_down, *from_up;
    size_t to_down_bytes, to_up_bytes, from_down_bytes, from_up_bytes;
} lat_exchange;

typedef struct lat_comm lat_comm;
struct lat_comm {
    const char *name; /* "self", "mpi" */
    int rank, size;
    int host_rank, host_size; /* among the ranks of this host */
    /* v[0..n-1] of all ranks, added up in the order of the ranks; the largest, NaN being larger
     * than anything. The same bits on all of them. */
    int (*sum)(const lat_comm *comm, double *v, int n);
    int (*max)(const lat_comm *comm, double *v, int n);
    int (*broadcast)(const lat_comm *comm, void *buf, size_t bytes, int root);
    /* `bytes` of every rank, in the order of the ranks, on all of them. */
    int (*gather)(const lat_comm *comm, const void *mine, size_t bytes, void *all);
    /* From one rank to another; these two call it, from any thread, one at a time. In the order in
     * which they were sent. */
    int (*send)(const lat_comm *comm, int to, const void *buf, size_t bytes);
    int (*receive)(const lat_comm *comm, int from, void *buf, size_t bytes);
    /* Starts an exchange; its buffers are the communicator's until `finish`. One at a time, below
     * 16 GiB a piece (2 GiB if it is no whole number of 8 bytes); from the thread that called main,
     * and from any one at a time. */
    int (*begin)(const lat_comm *comm, const lat_exchange *x);
    int (*finish)(const lat_comm *comm);
    int (*barrier)(const lat_comm *comm);
};

extern const lat_comm lat_comm_self;

/* The ranks of this run: lat_comm_self, until lat_comm_start has found others. */
extern const lat_comm *lat_comm_world;

/* If not NULL, to be told of a file that is to go if this process cannot remove it any more. */
extern void (*lat_comm_note)(const char *path);

/* Called once with the arguments of main and `ranks` of -n (0: not given). Where a launcher
 * (mpirun, srun) has started this process with others, it joins them. Otherwise, if several ranks
 * are asked for, they are launched, and this process waits for them and exits as they do: no
 * return. -1 with lat_error set. */
int lat_comm_start(int ranks, char **argv);

/* A launcher that was not ours has started this run: stdin and stdout are not what they seem. */
extern bool lat_comm_foreign;

/* Slices 0 .. slices-1 dealt out as evenly as can be. */
lat_slab lat_slab_of(const lat_comm *comm, int rank, int slices);

/* All ranks: the worst of their return codes, 0 or -1. Where another one has failed, lat_error says
 * so. */
int lat_agree(const lat_comm *comm, int rc);
#define LAT_ANOTHER_FAILED "another rank has failed"

/* Memory that all ranks see, zero at first: what one has written there others may read once they
 * know of it by an atomic operation or a message. All call it; .at is NULL where that cannot be
 * had: ranks on several hosts, or LAT_SHARED=no in the environment of rank 0. No page is there yet:
 * rank 0 has them brought (`take`: -1 if there are none left) before anybody writes. */
typedef struct lat_shared {
    void *at;
    size_t bytes;
    int file; /* on rank 0 */
} lat_shared;
int lat_shared_make(const lat_comm *comm, size_t bytes, lat_shared *s);
int lat_shared_reserve(const lat_shared *s);
void lat_shared_free(lat_shared *s); /* each rank for itself */

/* ---- between comm.c, comm_mpi.c (or nompi.c) and launch.c, for nobody else ---- */

/* Joins the others; NULL with lat_error set. */
const lat_comm *lat_comm_mpi(void);
extern const char *const lat_comm_mpi_options[]; /* of the mpirun of this MPI, NULL at the end */

/* Starts `ranks` times argv under mpirun and passes on stdin, stdout and stderr: exits as they do.
 */
void lat_launch(int ranks, char **argv) __attribute__((noreturn));

/* In a rank that lat_launch has started, before MPI; and, rank 0 only, after: takes stdin, stdout,
 * stderr and what the arguments name over. */
void lat_launch_reserve(char **argv);
int lat_launch_join(void);
void lat_launch_exit_code(int code); /* says how it will exit */
int lat_launched(void);

#endif
