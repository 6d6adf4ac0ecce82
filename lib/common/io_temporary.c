/* SPDX-License-Identifier: BSD-3-Clause */
/* io_temporary.c: temporary files, removed at exit and by signals. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define TEMPORARIES 16
static lat_temporary temporaries[TEMPORARIES];

/* Signals that end a process and can be caught: from outside, or because of a fault. (Real-time
 * signals are those of libraries.) */
static const int deadly[] = {SIGINT,  SIGTERM, SIGHUP,  SIGPIPE,  SIGQUIT, SIGALRM,
                             SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2,  SIGPROF, SIGVTALRM,
                             SIGPOLL, SIGPWR,  SIGABRT, SIGBUS,   SIGFPE,  SIGILL,
                             SIGSEGV, SIGSYS,  SIGTRAP, SIGSTKFLT};
#define DEADLY (sizeof deadly / sizeof *deadly)

static void remove_temporaries(void)
{
    long me = (long)getpid();
    for (int i = 0; i < TEMPORARIES; i++)
        if (atomic_load(&temporaries[i].owner) == me)
            (void)unlink(temporaries[i].path);
}

static void remove_and_die(int sig)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t it;
    remove_temporaries();
    sigaction(sig, &usual, NULL);
    raise(sig);
    sigemptyset(&it);
    sigaddset(&it, sig);
    pthread_sigmask(SIG_UNBLOCK, &it, NULL); /* the process dies here */
}

/* A signal that is ignored (nohup) or that the tool handles itself is left alone. */
static void install_handlers(void)
{
    static char stack[1 << 14]; /* for the main thread's handler where its own stack is full */
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction ours = {.sa_handler = remove_and_die, .sa_flags = SA_ONSTACK}, was;
    stack_t used;
    if (sigaltstack(NULL, &used) == 0 && used.ss_flags & SS_DISABLE)
        (void)sigaltstack(&alternative, NULL);
    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < DEADLY; i++)
        if (sigaction(deadly[i], NULL, &was) == 0 && !(was.sa_flags & SA_SIGINFO)
            && was.sa_handler == SIG_DFL)
            sigaction(deadly[i], &ours, NULL);
    atexit(remove_temporaries);
    lat_comm_remove_temporaries = remove_temporaries;
}

lat_temporary *lat_temporary_take(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_handlers);
    for (int i = 0; i < TEMPORARIES; i++)
        if (!atomic_exchange(&temporaries[i].taken, true))
            return &temporaries[i];
    return lat_fail_null("more than %d output files at once", TEMPORARIES);
}

void lat_temporary_keep(lat_temporary *t)
{
    atomic_store(&t->owner, 0);
    atomic_store(&t->taken, false);
}

void lat_temporary_remove(lat_temporary *t)
{
    (void)unlink(t->path);
    lat_temporary_keep(t);
}

int lat_temporary_park(lat_temporary *t, const char *path)
{
    if (rename(t->path, path) < 0)
        return -1;
    atomic_store(&t->owner, 0);
    strcpy(t->path, path);
    return 0;
}

void lat_temporary_adopt(lat_temporary *t, const char *path)
{
    (void)unlink(t->path);
    atomic_store(&t->owner, 0);
    strcpy(t->path, path);
}

void lat_temporary_own(lat_temporary *t) { atomic_store(&t->owner, (long)getpid()); }

/* ".NAME.PID.tmp" beside the target; a name near NAME_MAX is shortened. `attempt`, if
 * not 0, is appended: a crashed process of the same number, or one on another host, may have left a
 * file of that name. */
static int temporary_name(lat_temporary *t, const char *target, int attempt)
{
    int folder = lat_io_folder(target), n;
    char suffix[16] = "";
    if (attempt)
        snprintf(suffix, sizeof suffix, ".%d", attempt);
    n = snprintf(t->path, sizeof t->path, "%.*s.%.200s.%ld%s.tmp", folder, target, target + folder,
                 (long)getpid(), suffix);
    if (n < 0 || (size_t)n >= sizeof t->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

/* Creates t->path. Signals are blocked meanwhile: none comes between the file and its owner. */
static int temporary_open(lat_temporary *t, mode_t mode)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int fd = lat_io_open(t->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    int saved = errno;
    if (fd >= 0)
        atomic_store(&t->owner, (long)getpid());
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return fd;
}

int lat_temporary_beside(lat_temporary *t, const char *target, mode_t mode)
{
    int fd = -1;
    for (int attempt = 0; attempt < 100; attempt++) {
        if (temporary_name(t, target, attempt) < 0)
            return -1;
        fd = temporary_open(t, mode);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd >= 0 && lat_comm_report_temporary)
        lat_comm_report_temporary(t->path);
    return fd;
}

int lat_temporary_in_place(lat_temporary *t, const char *target)
{
    if (strlen(target) >= sizeof t->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(t->path, target);
    return temporary_open(t, 0666);
}
