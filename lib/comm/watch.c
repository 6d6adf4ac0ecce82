/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c: connections between rank 0 and the others, and the threads that read them. */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "base/async.h"
#include "base/error.h"
#include "base/memory.h"
#include "comm_internal.h"
#include "report.h"

#define GRACE 3        /* s for the launcher to end the run of a rank that has died */
#define ARRIVAL .2     /* s for what a rank has sent before it failed to arrive */
#define TAKE_TIMEOUT 1 /* s for the main thread of rank 0 to end the run of a rank that fails */
#define MOST_DELAY 3   /* s: where rank 0 has died, rank 1 speaks first, a second later rank 2 .. */
#define ABORT_TIMEOUT 2  /* s */
#define ANSWER_TIMEOUT 2 /* s, for one address */
#define START_TIMEOUT 10 /* s, for all addresses */
#define MAX_ADDRESSES 32
#define LOWEST 64 /* number of a connection: lower ones are what arguments name, /dev/fd/9 */

enum { FAILED = 'F', ENDED = 'E', QUIT = 'Q' }; /* the first byte of a message */

/* Where rank 0 listens. Who connects proves by the token that it is a rank of this run. */
typedef struct invitation {
    unsigned char token[16];
    in_port_t port; /* 0: nowhere */
    int count;
    in_addr_t address[MAX_ADDRESSES];
} invitation;

typedef struct greeting {
    unsigned char token[16];
    int rank;
} greeting;

typedef struct member {
    char host[64], device[LAT_DEVICE_PLACE];
} member;

static struct {
    const lat_comm *comm;
    lat_watch_abort *abort;
    member *of; /* of each rank */
    invitation invitation;
    struct pollfd *fd;    /* rank 0: of rank r; [0] listens. The others: [0], of rank 0 */
    pthread_mutex_t lock; /* of what fd points to */
    lat_async thread;
    lat_watch_failure failure;
    atomic_bool failed, taken;
    char checkpoint[PATH_MAX]; /* from which a run goes on, or "" */
    void (*report_checkpoint)(const char *path);
} w = {.lock = PTHREAD_MUTEX_INITIALIZER};

void (*lat_comm_remove_temporaries)(void);

/* ---- who a rank is --------------------------------------------------------------------------- */

/* "rank 2 of 4 (host n17, GPU 1 at 0000:3b:00)" */
static void who(int rank, char *text, size_t n)
{
    const member *m = &w.of[rank];
    snprintf(text, n, "rank %d of %d (host %s%s%s)", rank, w.comm->size, m->host,
             *m->device ? ", " : "", m->device);
}

static void tell_launcher(void)
{
    char text[256];
    for (int rank = 0; rank < w.comm->size && w.comm->rank == 0; rank++) {
        who(rank, text, sizeof text);
        lat_launch_name(rank, text);
    }
}

int lat_comm_name_device(const lat_comm *comm, const char *place)
{
    member own, *all;
    if (!w.of || comm->size == 1)
        return 0;
    own = w.of[comm->rank];
    snprintf(own.device, sizeof own.device, "%s", place);
    if (!(all = lat_alloc((size_t)comm->size, sizeof *all, "names of ranks"))
        || comm->gather(comm, &own, sizeof own, all))
        return -1;
    memcpy(w.of, all, (size_t)comm->size * sizeof *all);
    free(all);
    tell_launcher();
    return 0;
}

static void note_checkpoint(const char *path)
{
    snprintf(w.checkpoint, sizeof w.checkpoint, "%s", path);
    if (w.report_checkpoint)
        w.report_checkpoint(path);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void nap(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(1e9 * fmod(seconds, 1))};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

static void tell_all(char what)
{
    const int n = w.comm && w.fd ? (w.comm->rank == 0 ? w.comm->size : 1) : 0;
    pthread_mutex_lock(&w.lock);
    for (int i = w.comm && w.comm->rank == 0; i < n; i++)
        if (w.fd[i].fd >= 0)
            (void)!send(w.fd[i].fd, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    pthread_mutex_unlock(&w.lock);
}

/* Prints the sentence, and ends all ranks. The main thread may be anywhere, so nothing is done but
 * what must be; and an MPI that cannot end the others does not keep this one. */
static void __attribute__((noreturn)) end_all(int code)
{
    code = lat_report(code);
    if (lat_comm_remove_temporaries)
        lat_comm_remove_temporaries();
    lat_launch_exit_code(code);
    tell_all(QUIT);
    signal(SIGALRM, SIG_DFL);
    alarm(ABORT_TIMEOUT);
    w.abort(code);
    _exit(code);
}

static void __attribute__((noreturn)) speak_of(int rank)
{
    char name[256];
    who(rank, name, sizeof name);
    if (*w.checkpoint)
        lat_fail("%s has died; the same command with --resume %s goes on", name, w.checkpoint);
    else
        lat_fail("%s has died; nothing was written", name);
    end_all(LAT_FAILED);
}

const lat_watch_failure *lat_watch_failed(void)
{
    return atomic_load(&w.failed) && !atomic_exchange(&w.taken, true) ? &w.failure : NULL;
}

bool lat_watch_fail(const lat_watch_failure *f)
{
    char message[1 + sizeof *f] = {FAILED};
    memcpy(message + 1, f, sizeof *f);
    return w.fd && w.fd->fd >= 0
           && send(w.fd->fd, message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

void lat_watch_quit(void) { tell_all(QUIT); }

void lat_watch_end(void) { tell_all(ENDED); }

/* ---- the threads ----------------------------------------------------------------------------- */

static void close_fd(struct pollfd *p)
{
    pthread_mutex_lock(&w.lock);
    close(p->fd);
    p->fd = -1;
    pthread_mutex_unlock(&w.lock);
}

/* 0 is the end of the connection. */
static char read_byte(int fd)
{
    char what = 0;
    ssize_t n;
    while ((n = recv(fd, &what, 1, 0)) < 0 && errno == EINTR)
        ;
    return n == 1 ? what : 0;
}

/* A message of a rank, or its death. Does not return from a failure or a death: the run ends. */
static void hear(int rank)
{
    const int fd = w.fd[rank].fd;
    const char what = read_byte(fd);
    if (what == ENDED) {
        close_fd(&w.fd[rank]);
        return;
    }
    if (what == FAILED
        && recv(fd, &w.failure, sizeof w.failure, MSG_WAITALL) == (ssize_t)sizeof w.failure) {
        nap(ARRIVAL); /* so that rank 0 first says what all ranks have to say */
        atomic_store(&w.failed, true);
        nap(TAKE_TIMEOUT);
        if (lat_watch_failed()) {
            lat_fail("%s", w.failure.sentence);
            end_all(w.failure.code);
        }
        pause(); /* the main thread ends the run */
    }
    nap(GRACE);
    speak_of(rank);
}

/* A silent connection stays open. It is closed a minute after the other host has gone. */
static void keep_alive(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, 20},
                   {IPPROTO_TCP, TCP_KEEPINTVL, 10},
                   {IPPROTO_TCP, TCP_KEEPCNT, 4}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

/* For sending, receiving and connecting; 0: none. */
static void limit_waits(int fd, int seconds)
{
    const struct timeval t = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

/* Out of the way of descriptors that arguments name. */
static int moved(int fd)
{
    const int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LOWEST);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* What is no rank of this run, or one that is connected already, is hung up on. */
static void accept_rank(void)
{
    greeting g;
    const int fd = moved(accept4(w.fd[0].fd, NULL, NULL, SOCK_CLOEXEC));
    if (fd < 0) {
        close_fd(&w.fd[0]); /* shut down: all ranks are connected */
        return;
    }
    limit_waits(fd, ANSWER_TIMEOUT);
    if (recv(fd, &g, sizeof g, MSG_WAITALL) != (ssize_t)sizeof g
        || memcmp(g.token, w.invitation.token, sizeof g.token) || g.rank < 1
        || g.rank >= w.comm->size || w.fd[g.rank].fd >= 0
        || send(fd, g.token, sizeof g.token, MSG_NOSIGNAL) != (ssize_t)sizeof g.token) {
        close(fd);
        return;
    }
    limit_waits(fd, 0);
    keep_alive(fd);
    pthread_mutex_lock(&w.lock);
    w.fd[g.rank].fd = fd;
    pthread_mutex_unlock(&w.lock);
}

static int watch_others(LAT_UNUSED void *with)
{
    int n;
    while ((n = poll(w.fd, (nfds_t)w.comm->size, -1)) >= 0 || errno == EINTR) {
        if (n <= 0)
            continue;
        if (w.fd[0].fd >= 0 && w.fd[0].revents)
            accept_rank();
        for (int rank = 1; rank < w.comm->size; rank++)
            if (w.fd[rank].fd >= 0 && w.fd[rank].revents)
                hear(rank);
    }
    return 0;
}

static int watch_rank0(LAT_UNUSED void *with)
{
    const char what = read_byte(w.fd->fd);
    const int delay = w.comm->rank - 1 < MOST_DELAY ? w.comm->rank - 1 : MOST_DELAY;
    if (what == ENDED)
        return 0;
    nap(what == QUIT ? ABORT_TIMEOUT : GRACE + delay);
    if (what == QUIT)
        _exit(LAT_FAILED);
    lat_mute = false;
    speak_of(0);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Addresses of this host, for ranks on others. */
static void list_addresses(invitation *to)
{
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list))
        return;
    for (const struct ifaddrs *i = list; i && to->count < MAX_ADDRESSES; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP
            && !(i->ifa_flags & IFF_LOOPBACK))
            to->address[to->count++] =
                ((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr.s_addr;
    freeifaddrs(list);
}

/* Rank 0 listens, for ranks of this host alone if there are no others. Where it cannot, nobody is
 * invited. */
static void listen_for_ranks(void)
{
    const bool here = w.comm->host_size == w.comm->size;
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(here ? INADDR_LOOPBACK : INADDR_ANY)};
    socklen_t n = sizeof a;
    const int fd = moved(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    w.fd[0].fd = fd;
    if (!here)
        list_addresses(&w.invitation);
    if (fd >= 0
        && getrandom(w.invitation.token, sizeof w.invitation.token, 0)
               == (ssize_t)sizeof w.invitation.token
        && bind(fd, (const void *)&a, sizeof a) == 0 && listen(fd, w.comm->size) == 0
        && getsockname(fd, (void *)&a, &n) == 0
        && lat_async_start(&w.thread, 1, watch_others, NULL) == 0)
        w.invitation.port = a.sin_port;
}

/* A descriptor, or -1. */
static int connect_to(in_addr_t address)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = w.invitation.port, .sin_addr.s_addr = address};
    greeting g = {.rank = w.comm->rank};
    unsigned char answer[sizeof g.token];
    const int fd = moved(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return -1;
    memcpy(g.token, w.invitation.token, sizeof g.token);
    limit_waits(fd, ANSWER_TIMEOUT);
    if (connect(fd, (const void *)&a, sizeof a)
        || send(fd, &g, sizeof g, MSG_NOSIGNAL) != (ssize_t)sizeof g
        || recv(fd, answer, sizeof answer, MSG_WAITALL) != (ssize_t)sizeof answer
        || memcmp(answer, g.token, sizeof answer)) {
        close(fd);
        return -1;
    }
    limit_waits(fd, 0);
    keep_alive(fd);
    return fd;
}

/* Tries this host, if rank 0 is here, then its addresses. */
static bool connect_to_rank0(void)
{
    const invitation *i = &w.invitation;
    const time_t begin = time(NULL);
    if (!i->port)
        return false;
    if (!strcmp(w.of[0].host, w.of[w.comm->rank].host))
        w.fd->fd = connect_to(htonl(INADDR_LOOPBACK));
    for (int k = 0; k < i->count && w.fd->fd < 0 && time(NULL) - begin < START_TIMEOUT; k++)
        w.fd->fd = connect_to(i->address[k]);
    return w.fd->fd >= 0 && lat_async_start(&w.thread, 1, watch_rank0, NULL) == 0;
}

/* Memory, and the host of each rank. */
static int prepare(const lat_comm *comm)
{
    member own = {"", ""};
    const int fds = comm->rank == 0 ? comm->size : 1;
    w.comm = comm;
    w.of = lat_alloc((size_t)comm->size, sizeof *w.of, "names of ranks");
    w.fd = lat_alloc((size_t)fds, sizeof *w.fd, "connections of ranks");
    if (!w.of || !w.fd)
        return -1;
    for (int i = 0; i < fds; i++)
        w.fd[i] = (struct pollfd){-1, POLLIN, 0};
    if (gethostname(own.host, sizeof own.host - 1) || !*own.host)
        snprintf(own.host, sizeof own.host, "unknown");
    return comm->gather(comm, &own, sizeof own, w.of);
}

int lat_watch_start(const lat_comm *comm, lat_watch_abort *abort)
{
    double alone = 0;
    w.abort = abort;
    if (prepare(comm))
        return -1;
    w.report_checkpoint = lat_comm_report_checkpoint;
    lat_comm_report_checkpoint = note_checkpoint;
    if (comm->rank == 0)
        listen_for_ranks();
    if (comm->broadcast(comm, &w.invitation, sizeof w.invitation, 0))
        return -1;
    alone = comm->rank != 0 && !connect_to_rank0();
    if (comm->max(comm, &alone, 1))
        return -1;
    if (comm->rank == 0 && w.fd[0].fd >= 0)
        shutdown(w.fd[0].fd, SHUT_RDWR);
    if (alone > 0 && comm->rank == 0)
        lat_warn("a rank cannot connect to rank 0 (host %s) by TCP: if a rank dies, only mpirun or "
                 "srun can end the others",
                 w.of[0].host);
    tell_launcher();
    return 0;
}
