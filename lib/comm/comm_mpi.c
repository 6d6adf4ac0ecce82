/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_mpi.c: the communicator of several ranks, by MPI version 3. No other file knows MPI.
 *
 * Every operation is a nonblocking one of MPI, and finish_all waits for it: it polls a short time
 * and then sleeps between polls. A blocking call of MPI keeps a processor busy, and with more ranks
 * than processors it takes one from ranks that work. While rank 0 waits, it also asks whether
 * another rank has failed (watch.h). */
#include "comm_internal.h"

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
#include "watch.h"

#define MAX_MESSAGE ((size_t)1 << 30) /* bytes; MPI counts them in an int */
#define POLLS 500                     /* before the first sleep, some 50 us */
#define MIN_SLEEP 20000               /* ns */
#define MAX_SLEEP 300000              /* ns */
#define LONG_MESSAGE 65536            /* bytes */
#define END_TIMEOUT 10                /* s for rank 0 to end the run */
#define YIELD_TIME 0.02               /* s, in which a long message is polled for without sleep */

/* The tag of send and receive, and the first tag of exchanges. */
enum { TAG_BYTES, TAG_EXCHANGE };

#ifdef OPEN_MPI
const char *const lat_comm_mpi_options[] = {"--oversubscribe", "--bind-to", "none", NULL};
#else
const char *const lat_comm_mpi_options[] = {NULL};
#endif

static lat_comm mpi;
static MPI_Comm world; /* apart from MPI_COMM_WORLD */
static pthread_t main_thread;
static MPI_Request exchange[2 * LAT_MESSAGES];
static int exchanged;
static size_t exchange_bytes; /* of the longest one */

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

static void sleep_ns(long ns)
{
    const struct timespec t = {.tv_nsec = ns};
    nanosleep(&t, NULL);
}

/* The main thread of rank 0: has another rank failed? Then it exits with that rank's sentence. */
static void poll_failures(void)
{
    const lat_watch_failure *f = pthread_equal(pthread_self(), main_thread) ? lat_watch_failed()
                                                                            : NULL;
    if (!f)
        return;
    lat_fail("%s", f->sentence); /* a sentence that rank 0 has already stays */
    exit(lat_report(f->code));
}

/* Waits for n requests, the longest of `bytes` bytes.
 *
 * MPI moves a part of a long message at each poll, so sleeps would make it slow (bench/history).
 * For YIELD_TIME, in which a message that is under way arrives, the processor is only yielded to
 * other processes. */
static int finish_all(MPI_Request *r, int n, size_t bytes)
{
    const bool is_long = bytes > LONG_MESSAGE;
    long ns = MIN_SLEEP;
    const double begin = is_long ? MPI_Wtime() : 0;
    for (int polls = 0;; polls++) {
        int done = 0;
        if (check(MPI_Testall(n, r, &done, MPI_STATUSES_IGNORE)))
            return -1;
        if (done)
            return 0;
        if (polls < POLLS)
            continue;
        if (mpi.rank == 0)
            poll_failures();
        if (is_long && MPI_Wtime() - begin < YIELD_TIME)
            sched_yield();
        else
            sleep_ns(ns);
        ns = is_long ? MIN_SLEEP : ns < MAX_SLEEP ? ns + ns / 4 : MAX_SLEEP;
        if (is_long)
            polls = 0;
    }
}

/* ---- the operations -------------------------------------------------------------------------- */

static int mpi_broadcast(LAT_UNUSED const lat_comm *comm, void *buf, size_t bytes, int root)
{
    for (size_t at = 0; at < bytes; at += MAX_MESSAGE) {
        MPI_Request r;
        const size_t n = bytes - at < MAX_MESSAGE ? bytes - at : MAX_MESSAGE;
        if (check(MPI_Ibcast((char *)buf + at, (int)n, MPI_BYTE, root, world, &r))
            || finish_all(&r, 1, n))
            return -1;
    }
    return 0;
}

static int mpi_gather(LAT_UNUSED const lat_comm *comm, const void *mine, size_t bytes, void *all)
{
    MPI_Request r;
    if (bytes > MAX_MESSAGE)
        return lat_fail("MPI: %zu bytes are too many to gather", bytes);
    return lat_rc(
        check(MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, world, &r))
        || finish_all(&r, 1, bytes));
}

/* Of all ranks' v: every rank does the same arithmetic in the same order. */
static int combine(const lat_comm *comm, double *v, int n, bool largest)
{
    const size_t count = (size_t)n;
    double *all = lat_alloc((size_t)comm->size, count * sizeof *all, "sums of all ranks");
    if (!all || mpi_gather(comm, v, count * sizeof *v, all)) {
        free(all);
        return -1;
    }
    memcpy(v, all, count * sizeof *v);
    for (const double *w = all + count; w < all + (size_t)comm->size * count; w += count)
        for (size_t i = 0; i < count; i++)
            v[i] = largest ? lat_worse(v[i], w[i]) : v[i] + w[i];
    free(all);
    return 0;
}

static int mpi_sum(const lat_comm *comm, double *v, int n) { return combine(comm, v, n, false); }

static int mpi_max(const lat_comm *comm, double *v, int n) { return combine(comm, v, n, true); }

/* To a rank, or from it. */
static int move_bytes(bool send, int rank, char *buf, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += MAX_MESSAGE) {
        MPI_Request r;
        const size_t n = bytes - at < MAX_MESSAGE ? bytes - at : MAX_MESSAGE;
        if (check(send ? MPI_Isend(buf + at, (int)n, MPI_BYTE, rank, TAG_BYTES, world, &r)
                       : MPI_Irecv(buf + at, (int)n, MPI_BYTE, rank, TAG_BYTES, world, &r))
            || finish_all(&r, 1, n))
            return -1;
    }
    return 0;
}

static int mpi_send(LAT_UNUSED const lat_comm *comm, int to, const void *buf, size_t bytes)
{
    return move_bytes(true, to, (char *)buf, bytes);
}

static int mpi_receive(LAT_UNUSED const lat_comm *comm, int from, void *buf, size_t bytes)
{
    return move_bytes(false, from, buf, bytes);
}

/* MPI counts in an int. Faces consist of pairs of reals, a multiple of 8 bytes: counted in units of
 * 8 bytes, messages of 16 GiB are possible. */
static int post(bool send, void *p, size_t bytes, int rank, int tag, MPI_Request *r)
{
    const bool words = bytes % 8 == 0;
    const size_t n = words ? bytes / 8 : bytes;
    const MPI_Datatype type = words ? MPI_INT64_T : MPI_BYTE;
    if (n > INT32_MAX)
        return lat_fail("MPI: %zu bytes are too many to exchange at once", bytes);
    return check(send ? MPI_Isend(p, (int)n, type, rank, tag, world, r)
                      : MPI_Irecv(p, (int)n, type, rank, tag, world, r));
}

/* All receives come first. */
static int mpi_begin(LAT_UNUSED const lat_comm *comm, int n, const lat_message *m)
{
    exchanged = 0;
    exchange_bytes = 0;
    if (n > LAT_MESSAGES)
        return lat_fail("MPI: %d messages are too many to exchange at once", n);
    for (int i = 0; i < 2 * n; i++) {
        const lat_message *x = m + i % n;
        const bool send = i >= n;
        const size_t bytes = send ? x->out_bytes : x->in_bytes;
        if (post(send, send ? (void *)x->out : x->in, bytes, send ? x->to : x->from,
                 TAG_EXCHANGE + (send ? x->out_tag : x->in_tag), exchange + exchanged))
            return -1;
        exchanged++;
        exchange_bytes = bytes > exchange_bytes ? bytes : exchange_bytes;
    }
    return 0;
}

static int mpi_finish(LAT_UNUSED const lat_comm *comm)
{
    return finish_all(exchange, exchanged, exchange_bytes);
}

static int mpi_barrier(LAT_UNUSED const lat_comm *comm)
{
    MPI_Request r;
    return check(MPI_Ibarrier(world, &r)) || finish_all(&r, 1, 0) ? -1 : 0;
}

/* ---- start and end --------------------------------------------------------------------------- */

static lat_comm mpi = {
    "mpi",         0,          1,        0,           1,         0,          mpi_sum,    mpi_max,
    mpi_broadcast, mpi_gather, mpi_send, mpi_receive, mpi_begin, mpi_finish, mpi_barrier};

/* The sentence has been printed. MPICH would print a line of its own after it. */
static void abort_all_ranks(int code)
{
    const int null = open("/dev/null", O_WRONLY);
    if (null >= 0)
        dup2(null, STDERR_FILENO);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

/* Sends rank 0 the sentence, and waits until rank 0 ends all ranks; or does both itself. */
static void report_failure(int code)
{
    static lat_watch_failure f;
    f.code = code;
    snprintf(f.sentence, sizeof f.sentence, "%s", lat_error());
    if (!strcmp(f.sentence, LAT_ANOTHER_FAILED))
        sleep(1); /* that rank has the cause, and its message is to be the first */
    if (lat_watch_fail(&f))
        sleep(END_TIMEOUT);
    lat_mute = false;
    lat_report(code);
    abort_all_ranks(code);
}

/* At exit. A rank without a sentence ends normally, and so do all the others. */
static void finalize(int code, LAT_UNUSED void *unused)
{
    if (mpi.rank == 0)
        lat_launch_exit_code(code);
    if (code != 0 && *lat_error() && mpi.rank != 0)
        report_failure(code);
    if (code != 0 && *lat_error()) {
        lat_watch_quit();
        abort_all_ranks(code);
    }
    mpi_barrier(&mpi);
    MPI_Finalize();
    lat_watch_end();
}

static int set_up_communicators(void)
{
    MPI_Comm host;
    int level, bad = check(MPI_Comm_dup(MPI_COMM_WORLD, &world))
                     || check(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN))
                     || check(MPI_Query_thread(&level)) || check(MPI_Comm_rank(world, &mpi.rank))
                     || check(MPI_Comm_size(world, &mpi.size))
                     || check(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, mpi.rank,
                                                  MPI_INFO_NULL, &host))
                     || check(MPI_Comm_rank(host, &mpi.host_rank))
                     || check(MPI_Comm_size(host, &mpi.host_size));
    mpi.host = mpi.rank;
    bad = bad || check(MPI_Bcast(&mpi.host, 1, MPI_INT, 0, host)) || check(MPI_Comm_free(&host));
    if (!bad && level < MPI_THREAD_SERIALIZED)
        bad = lat_fail("MPI: expected a library that several threads may call one at a time, found "
                       "one that does not allow it");
    return bad ? -1 : 0;
}

/* OpenMPI's own messages about a rank that died go to the stderr of mpirun, which launch.c reads.
 * The stderr that rank 0 receives later is the user's, for one sentence. */
static void redirect_openmpi_messages(void)
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
        redirect_openmpi_messages();
    if (check(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level)) || set_up_communicators())
        return NULL;
    lat_mute = mpi.rank != 0;
    on_exit(finalize, NULL);
    /* What another rank prints must not get into the data that rank 0 writes. */
    if (mpi.rank != 0 ? dup2(STDERR_FILENO, STDOUT_FILENO) < 0 : lat_launch_join())
        return lat_fail_null("the descriptors of rank %d cannot be set up", mpi.rank);
    return lat_watch_start(&mpi, abort_all_ranks) ? NULL : &mpi;
}
