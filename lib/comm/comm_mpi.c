/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_mpi.c: ranks that talk by MPI, version 3. Nothing else knows MPI.
 *
 * All operations are begun without waiting and then waited for here, at first spinning and soon
 * sleeping: MPI's own waiting burns a core, and with more ranks than cores takes it from those that
 * work. While rank 0 waits it also looks whether another rank has failed. */
#include "comm.h"

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/error.h"
#include "base/memory.h"

#define PIECE ((size_t)1 << 30) /* MPI counts bytes in an int */
#define SPINS 500               /* some 50 us */
#define NAP 20000               /* ns, and up to ... */
#define LONG_NAP 300000
#define BULK 65536 /* bytes */
#define EAGER 0.02 /* s */
#define SENTENCE 4096

enum { TAG_BYTES, TAG_DOWN, TAG_UP, TAG_FAILED };

#ifdef OPEN_MPI
const char *const lat_comm_mpi_options[] = {"--quiet", "--oversubscribe", "--bind-to", "none",
                                            NULL};
#else
const char *const lat_comm_mpi_options[] = {NULL};
#endif

static MPI_Comm world, failures; /* a communicator of its own each */
static pthread_t main_thread;
static MPI_Request halo[4];
static size_t halo_bytes;

typedef struct failure {
    int code, rank;
    char sentence[SENTENCE];
} failure;

static int check(int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int n;
    if (rc == MPI_SUCCESS)
        return 0;
    MPI_Error_string(rc, text, &n);
    return lat_fail("MPI: %s", text);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void nap(long ns)
{
    const struct timespec t = {.tv_nsec = ns};
    nanosleep(&t, NULL);
}

/* On rank 0: has another rank come to its end? Then all do; the main thread does, with what another
 * one has found. */
static int listen(void)
{
    static failure f;
    MPI_Status status;
    int there = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILED, failures, &there, &status) != MPI_SUCCESS || !there)
        return 0;
    MPI_Recv(&f, sizeof f, MPI_BYTE, status.MPI_SOURCE, TAG_FAILED, failures, MPI_STATUS_IGNORE);
    lat_fail("%s", f.sentence); /* unless this rank has one of its own */
    if (!pthread_equal(pthread_self(), main_thread))
        return -1;
    exit(lat_report(f.code));
}

/* MPI moves long messages piece by piece, each time it is asked how they are: there, naps would be
 * what takes the time (bench/NOTES.md). For the while in which one that travels arrives, only other
 * processes that want the processor get it. */
static int finish_all(MPI_Request *r, int n, size_t bytes) /* at most four */
{
    const bool bulk = bytes > BULK;
    MPI_Status status[4];
    long ns = NAP;
    const double begin = bulk ? MPI_Wtime() : 0;
    for (int spins = 0;; spins++) {
        int done = 0;
        if (check(MPI_Testall(n, r, &done, status)))
            return -1;
        if (done)
            return 0;
        if (spins < SPINS)
            continue;
        if (lat_comm_world->rank == 0 && listen())
            return -1;
        if (bulk && MPI_Wtime() - begin < EAGER)
            sched_yield();
        else
            nap(ns);
        ns = bulk ? NAP : ns < LONG_NAP ? ns + ns / 4 : LONG_NAP;
        if (bulk)
            spins = 0;
    }
}

/* ---- the operations -------------------------------------------------------------------------- */

static int mpi_broadcast(const lat_comm *comm, void *buf, size_t bytes, int root)
{
    (void)comm;
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request r;
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (check(MPI_Ibcast((char *)buf + at, (int)n, MPI_BYTE, root, world, &r))
            || finish_all(&r, 1, n))
            return -1;
    }
    return 0;
}

static int mpi_gather(const lat_comm *comm, const void *mine, size_t bytes, void *all)
{
    MPI_Request r;
    (void)comm;
    if (bytes > PIECE)
        return lat_fail("MPI: %zu bytes are too many to gather", bytes);
    return check(MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, world, &r))
                   || finish_all(&r, 1, bytes)
               ? -1
               : 0;
}

/* Gathered, so that every rank does the same arithmetic in the same order. */
static double *gathered(const lat_comm *comm, const double *v, int n)
{
    double *all = lat_alloc((size_t)comm->size * (size_t)n, sizeof *all, "sums of all ranks");
    if (all && mpi_gather(comm, v, (size_t)n * sizeof *v, all)) {
        free(all);
        return NULL;
    }
    return all;
}

static int mpi_sum(const lat_comm *comm, double *v, int n)
{
    double *all = gathered(comm, v, n);
    if (!all)
        return -1;
    memcpy(v, all, (size_t)n * sizeof *v);
    for (int r = 1; r < comm->size; r++)
        for (int i = 0; i < n; i++)
            v[i] += all[(size_t)r * (size_t)n + (size_t)i];
    free(all);
    return 0;
}

static int mpi_max(const lat_comm *comm, double *v, int n)
{
    double *all = gathered(comm, v, n);
    if (!all)
        return -1;
    memcpy(v, all, (size_t)n * sizeof *v);
    for (int r = 1; r < comm->size; r++)
        for (int i = 0; i < n; i++)
            v[i] = lat_worse(v[i], all[(size_t)r * (size_t)n + (size_t)i]);
    free(all);
    return 0;
}

static int mpi_send(const lat_comm *comm, int to, const void *buf, size_t bytes)
{
    (void)comm;
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request r;
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (check(MPI_Isend((const char *)buf + at, (int)n, MPI_BYTE, to, TAG_BYTES, world, &r))
            || finish_all(&r, 1, n))
            return -1;
    }
    return 0;
}

static int mpi_receive(const lat_comm *comm, int from, void *buf, size_t bytes)
{
    (void)comm;
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request r;
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        if (check(MPI_Irecv((char *)buf + at, (int)n, MPI_BYTE, from, TAG_BYTES, world, &r))
            || finish_all(&r, 1, n))
            return -1;
    }
    return 0;
}

/* MPI counts in an int. What is exchanged are pairs of reals, 8 bytes and more: so 16 GiB are
 * within reach. */
static int post(bool send, void *p, size_t bytes, int rank, int tag, MPI_Request *r)
{
    const bool pairs = bytes % 8 == 0;
    const size_t n = pairs ? bytes / 8 : bytes;
    const MPI_Datatype type = pairs ? MPI_INT64_T : MPI_BYTE;
    if (n > INT32_MAX)
        return lat_fail("MPI: %zu bytes are too many to exchange at once", bytes);
    return check(send ? MPI_Isend(p, (int)n, type, rank, tag, world, r)
                      : MPI_Irecv(p, (int)n, type, rank, tag, world, r));
}

static int mpi_begin(const lat_comm *comm, const lat_exchange *x)
{
    const int down = (comm->rank + comm->size - 1) % comm->size, up = (comm->rank + 1) % comm->size;
    halo_bytes = x->to_up_bytes > x->from_up_bytes ? x->to_up_bytes : x->from_up_bytes;
    return post(false, x->from_up, x->from_up_bytes, up, TAG_DOWN, &halo[0])
                   || post(false, x->from_down, x->from_down_bytes, down, TAG_UP, &halo[1])
                   || post(true, (void *)x->to_down, x->to_down_bytes, down, TAG_DOWN, &halo[2])
                   || post(true, (void *)x->to_up, x->to_up_bytes, up, TAG_UP, &halo[3])
               ? -1
               : 0;
}

static int mpi_finish(const lat_comm *comm)
{
    (void)comm;
    return finish_all(halo, 4, halo_bytes);
}

static int mpi_barrier(const lat_comm *comm)
{
    MPI_Request r;
    (void)comm;
    return check(MPI_Ibarrier(world, &r)) || finish_all(&r, 1, 0) ? -1 : 0;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static lat_comm mpi = {
    "mpi",         0,          1,        0,           1,         mpi_sum,    mpi_max,
    mpi_broadcast, mpi_gather, mpi_send, mpi_receive, mpi_begin, mpi_finish, mpi_barrier};

/* Tells rank 0 why, and waits for the end. */
static void __attribute__((noreturn)) complain(int code)
{
    static failure f;
    MPI_Request r;
    int done;
    f.code = code;
    f.rank = mpi.rank;
    snprintf(f.sentence, sizeof f.sentence, "%s", lat_error());
    if (!strcmp(f.sentence, LAT_ANOTHER_FAILED))
        sleep(1); /* that one knows more */
    MPI_Isend(&f, sizeof f, MPI_BYTE, 0, TAG_FAILED, failures, &r);
    for (;;) {
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        nap(LONG_NAP);
    }
}

/* MPICH has a line of its own about it on stderr, where the sentence has been said. */
static void __attribute__((noreturn)) end_all(int code)
{
    const int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0)
        dup2(nothing, STDERR_FILENO);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

/* At exit. Who has no sentence is where all the others are. */
static void leave(int code, void *unused)
{
    (void)unused;
    if (mpi.rank == 0)
        lat_launch_exit_code(code);
    if (code != 0 && *lat_error() && mpi.rank != 0)
        complain(code);
    if (code != 0 && *lat_error())
        end_all(code);
    mpi_barrier(&mpi);
    MPI_Finalize();
}

static int join(void)
{
    MPI_Comm host;
    int level, bad = check(MPI_Comm_dup(MPI_COMM_WORLD, &world))
                     || check(MPI_Comm_dup(MPI_COMM_WORLD, &failures))
                     || check(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN))
                     || check(MPI_Query_thread(&level)) || check(MPI_Comm_rank(world, &mpi.rank))
                     || check(MPI_Comm_size(world, &mpi.size))
                     || check(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, mpi.rank,
                                                  MPI_INFO_NULL, &host))
                     || check(MPI_Comm_rank(host, &mpi.host_rank))
                     || check(MPI_Comm_size(host, &mpi.host_size)) || check(MPI_Comm_free(&host));
    if (!bad && level < MPI_THREAD_SERIALIZED)
        bad = lat_fail("MPI: expected a library that several threads may call one at a time, found "
                       "one that does not allow it");
    return bad ? -1 : 0;
}

/* What OpenMPI itself has to say of a rank that died stays with its mpirun: rank 0's stderr is the
 * user's, and has one sentence. */
static void speak_apart(void)
{
    char number[16];
    const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    snprintf(number, sizeof number, "%d", fd);
    if (fd >= 0)
        setenv("OPAL_OUTPUT_STDERR_FD", number, 0);
    setenv("OMPI_MCA_opal_stacktrace_output", "none", 0);
}

const lat_comm *lat_comm_mpi(void)
{
    int level;
    main_thread = pthread_self();
    if (lat_launched())
        speak_apart();
    if (check(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level)) || join())
        return NULL;
    lat_mute = mpi.rank != 0;
    on_exit(leave, NULL);
    /* What a rank prints must not get into the data of rank 0. */
    if (mpi.rank != 0 ? dup2(STDERR_FILENO, STDOUT_FILENO) < 0 : lat_launch_join()) {
        lat_fail("the descriptors of rank %d cannot be set up", mpi.rank);
        return NULL;
    }
    return &mpi;
}
