/* SPDX-License-Identifier: BSD-3-Clause */
/* stop.c: a run that is asked to stop saves its state first. */
#include "stop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static const struct {
    int signal;
    const char *name;
} watched[] = {{SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGHUP, "SIGHUP"},
               {SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}, {SIGPIPE, "SIGPIPE"}};
#define WATCHED (sizeof watched / sizeof *watched)

static struct sigaction before[NSIG];
static volatile sig_atomic_t asked;
static bool held;
static struct timespec since; /* it was asked */
static int event_fd = -1;     /* can be read from then on */

static bool second_since(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec - since.tv_sec > (t.tv_nsec < since.tv_nsec);
}

static void ask(int sig)
{
    const uint64_t one = 1;
    const int saved = errno;
    if (asked && sig == SIGINT && second_since()) {
        sigaction(sig, &before[sig], NULL);
        raise(sig); /* when this function has returned */
    } else if (!asked) {
        asked = sig;
        clock_gettime(CLOCK_MONOTONIC, &since);
        (void)!write(event_fd, &one, sizeof one);
    }
    errno = saved;
}

/* A system call that is interrupted begins anew (SA_RESTART): MPI and CUDA expect no EINTR. */
void lat_stop_watch(void)
{
    struct sigaction ours = {.sa_handler = ask, .sa_flags = SA_RESTART};
    if (event_fd >= 0 || (event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return;
    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < WATCHED; i++) {
        const int sig = watched[i].signal;
        if (sigaction(sig, NULL, &before[sig]) == 0 && before[sig].sa_handler != SIG_IGN)
            sigaction(sig, &ours, NULL);
    }
    if (lat_comm_report_watch)
        lat_comm_report_watch();
}

/* Behind a launcher every request arrives as SIGTERM. */
int lat_stop_asked(void)
{
    static int launchers;
    if (asked == SIGTERM && lat_comm_stop_signal && !launchers)
        launchers = lat_comm_stop_signal();
    return launchers ? launchers : asked;
}

void lat_stop_hold(bool on) { held = on; }

bool lat_stop_watched(void) { return event_fd >= 0; }

bool lat_stop_wait(int fd, bool writing)
{
    return held || lat_stop_wait_for(fd, writing, event_fd);
}

bool lat_stop_wait_for(int fd, bool writing, int event)
{
    struct pollfd p[] = {{fd, writing ? POLLOUT : POLLIN, 0}, {event, POLLIN, 0}};
    if (event < 0 || fd < 0)
        return true;
    while (poll(p, 2, -1) < 0)
        if (errno != EINTR)
            return true;
    return (writing && p[0].revents) || !p[1].revents; /* what flows is written to its end */
}

const char *lat_stop_name(int sig)
{
    for (size_t i = 0; i < WATCHED; i++)
        if (watched[i].signal == sig)
            return watched[i].name;
    return "a signal";
}

void lat_stop_exit(const lat_comm *comm, int sig)
{
    sigset_t it;
    if (comm->size > 1)
        exit(128 + sig);
    sigaction(sig, &before[sig], NULL); /* removes temporaries, or does nothing but to end */
    sigemptyset(&it);
    sigaddset(&it, sig);
    pthread_sigmask(SIG_UNBLOCK, &it, NULL);
    raise(sig);
    _exit(128 + sig);
}
