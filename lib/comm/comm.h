/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h: the ranks that work on one lattice together. Only comm_mpi.c knows MPI; a run on one rank
 * never starts it.
 *
 * Every rank calls every function that takes a communicator, in the same order, unless it says who
 * does. They return 0, or -1 with lat_error set. A rank that waits sleeps.
 *
 * Failures: a rank that exits with a sentence (base/error.h) ends all ranks. The sentence appears
 * once, whichever rank had it. A rank that dies ends all ranks, too, and a sentence names it, its
 * host and its GPU (watch.h). So no rank waits for one that has gone. If only rank 0 does
 * something, such as reading and writing, and all ranks are to go on after a failure, lat_agree
 * must follow. Only rank 0 prints on stderr and has files (common/io.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The larger one; NaN is larger than anything. */
static inline double lat_worse(double a, double b) { return a != a || a >= b ? a : b; }

/* Slices first .. first+count-1 of the last axis of the lattice. */
typedef struct lat_slab {
    int first, count;
} lat_slab;

/* The sides of an axis: towards lower coordinates, and towards higher ones. */
enum { LAT_DOWN, LAT_UP, LAT_SIDES };

/* A part of an exchange: `out` goes to a rank, which awaits it with the same tag, and `in` comes
 * from one. Tags, of 0 .. LAT_TAGS - 1, tell messages between the same two ranks apart. */
typedef struct lat_message {
    int to, from, out_tag, in_tag;
    const void *out;
    void *in;
    size_t out_bytes, in_bytes;
} lat_message;
enum { LAT_TAGS = 81, LAT_MESSAGES = 18 }; /* the second: of an exchange, at most */

typedef struct lat_comm lat_comm;
struct lat_comm {
    const char *name;         /* "self", "mpi" */
    int rank, size;           /* this rank; number of ranks */
    int host_rank, host_size; /* the same among the ranks of this host */
    int host;                 /* the first rank of this host */
    /* v[0..n-1] becomes the sum over all ranks, in the order of the ranks; or the largest, NaN
     * being larger than anything. The same bits on all ranks. */
    int (*sum)(const lat_comm *comm, double *v, int n);
    int (*max)(const lat_comm *comm, double *v, int n);
    /* `bytes` of rank `root` to all ranks. */
    int (*broadcast)(const lat_comm *comm, void *buf, size_t bytes, int root);
    /* `bytes` of every rank to all ranks: `all` has size * bytes, in the order of the ranks. */
    int (*gather)(const lat_comm *comm, const void *mine, size_t bytes, void *all);
    /* From one rank to another. Only these two call it, one thread at a time. Messages arrive in
     * the order in which they were sent. */
    int (*send)(const lat_comm *comm, int to, const void *buf, size_t bytes);
    int (*receive)(const lat_comm *comm, int from, void *buf, size_t bytes);
    /* `begin` starts an exchange of n messages and does not wait; `finish` must follow, and until
     * then what they point to may not be touched. What one rank sends another awaits. One exchange
     * at a time, by one thread at a time; each message below 16 GiB (2 GiB if its length is no
     * multiple of 8). */
    int (*begin)(const lat_comm *comm, int n, const lat_message *m);
    int (*finish)(const lat_comm *comm);
    int (*barrier)(const lat_comm *comm);
};

extern const lat_comm lat_comm_self;

/* Joins or starts the ranks: their communicator, lat_comm_self where there is one. Called once,
 * with the arguments of main and the number of -n (0: not given), before any other function here.
 *
 * Where a launcher (mpirun, srun) has started this process with others, it joins them. Otherwise,
 * if -n asks for several ranks, it starts them, waits for them, exits as they do, and does not
 * return. NULL with lat_error set. */
const lat_comm *lat_comm_start(int ranks, char **argv);

/* True if the user's launcher, not lat_comm_start, has started the ranks: then stdin and stdout are
 * pipes of the launcher. */
extern bool lat_comm_external;

/* Ranks along x, y, z, t, as --grid has them, 0 for axes that it leaves out; all 0: the lattice
 * decides (lattice/box.h). */
extern int lat_comm_grid[4];

/* Names the device of this rank ("GPU 1 at 0000:3b:00"), for the sentence about a rank that has
 * died. All ranks call it; on a single rank it does nothing. 0 or -1. */
enum { LAT_DEVICE_PLACE = 40 };
int lat_comm_name_device(const lat_comm *comm, const char *place);

/* Removes the temporary files of this process; NULL: there are none. For a rank that ends the run
 * while its main thread waits. */
extern void (*lat_comm_remove_temporaries)(void);

/* Reports a temporary file, which the launcher removes if this process is killed. NULL where there
 * is no launcher. */
extern void (*lat_comm_report_temporary)(const char *path);

/* Reports to it that from now on SIGTERM asks this process to save its state and to end. When that
 * has come, lat_comm_stop_signal returns the signal that the launcher has received, or 0. NULL
 * where there is no launcher. */
extern void (*lat_comm_report_watch)(void);
extern int (*lat_comm_stop_signal)(void);

/* The part of `slices` slices that `rank` has: numbers of slices differ by at most one. */
lat_slab lat_slab_of(const lat_comm *comm, int rank, int slices);

/* Ranks have slabs, one above the other, periodically: our face on one side goes to the rank there,
 * and that rank's face comes to our ghost. */
lat_message lat_slab_message(const lat_comm *comm, int side, const void *out, void *in,
                             size_t out_bytes, size_t in_bytes);

/* comm->begin for `count` slices, each `slice` bytes behind the one before, and two ghosts behind
 * them: above, then below. `bytes` of each face are exchanged. */
int lat_begin_slices(const lat_comm *comm, void *slices, int count, size_t slice, size_t bytes);

/* 0 if rc >= 0 on all ranks, otherwise -1 on all of them; where another rank has failed and this
 * one has not, lat_error says LAT_ANOTHER_FAILED. */
int lat_agree(const lat_comm *comm, int rc);
#define LAT_ANOTHER_FAILED "another rank has failed"

/* The same; all ranks have the sentence of the first one that has failed, which one rank alone
 * would have found; of one for which another rank has failed only where there is no other. */
int lat_agree_on_first(const lat_comm *comm, int rc);

/* *all: is `mine` true on all ranks? 0 or -1. */
int lat_agree_all(const lat_comm *comm, bool mine, bool *all);
