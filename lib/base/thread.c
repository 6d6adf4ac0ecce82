/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread.h"

#include <signal.h>
#include <stddef.h>

int lat_thread_start(pthread_t *thread, void *(*run)(void *with), void *with)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
    sigset_t all, before;
    sigfillset(&all); /* the thread inherits what is blocked */
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(thread, NULL, run, with);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
