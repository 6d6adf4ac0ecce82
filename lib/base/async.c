/* SPDX-License-Identifier: BSD-3-Clause */
/* async.c: a function in a thread of its own. */
#include "async.h"

#include <signal.h>
#include <stddef.h>
#include "threads.h"

static void *run(void *async)
{
    lat_async *a = async;
    lat_threads_set(a->threads); /* a number of the calling thread */
    lat_error_apart(&a->why);
    a->rc = a->f(a->with);
    __atomic_store_n(&a->over, true, __ATOMIC_RELEASE);
    return NULL;
}

int lat_async_start(lat_async *a, int threads, lat_async_fn *f, void *with)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
    sigset_t all, before;
    *a = (lat_async){.f = f, .with = with, .threads = threads};
    sigfillset(&all); /* the thread inherits what is blocked */
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    a->running = pthread_create(&a->thread, NULL, run, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return a->running ? 0 : -1;
}

static void join(lat_async *a)
{
    if (a->running)
        pthread_join(a->thread, NULL);
    a->running = false;
}

int lat_async_wait(lat_async *a)
{
    join(a);
    if (a->rc < 0)
        lat_error_take_over(&a->why);
    return a->rc;
}

bool lat_async_over(const lat_async *a) { return __atomic_load_n(&a->over, __ATOMIC_ACQUIRE); }

void lat_async_drop(lat_async *a)
{
    join(a);
    a->rc = 0;
}

void lat_async_leave(lat_async *a)
{
    if (a->running)
        pthread_detach(a->thread);
    a->running = false;
}
