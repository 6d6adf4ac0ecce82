/* SPDX-License-Identifier: BSD-3-Clause */
/* async.h: a function that runs in a thread of its own, beside its caller.
 *
 *     lat_async a = {0};
 *     if (lat_async_start(&a, lat_threads_beside(), read, with))
 *         ...                     no thread could be started: call read(with) here, or go without
 *     ...                         something else; nobody touches what `read` works on
 *     if (lat_async_wait(&a))     as if read(with) had been called here
 *         return -1;
 *
 * For all work beside the main thread: links and slices that are read ahead (run/quark/links.c,
 * feed.c), solutions that are written behind (run/quark/writer.c), space that is preallocated,
 * slices for other ranks, the start and the end of CUDA. What does not fit: a team of threads that
 * shares many small pieces of work, which is OpenMP, or jobs.h where pieces depend on each other. C
 * and C++. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include "error.h"

typedef int lat_async_fn(void *with); /* 0 or more, or -1 with lat_error set */

/* All zero: nothing was started. It stays where it is from the start to the end of the wait. */
typedef struct lat_async {
    lat_async_fn *f;
    void *with;
    int threads, rc; /* rc: what f returned, once lat_async_over */
    bool running;    /* started, and neither waited for nor left */
    bool over;
    pthread_t thread;
    lat_sentence why; /* the sentence of f */
} lat_async;

/* Runs f(with) in a thread that may use so many threads (threads.h). The thread gets no signals but
 * its own faults: all others are the main thread's. 0, or -1 without a sentence. What was started
 * before must have been waited for. */
int lat_async_start(lat_async *a, int threads, lat_async_fn *f, void *with);

/* Waits for f, and returns what it returned; its sentence becomes one of the caller. Once more: the
 * same. 0 where nothing was started. */
int lat_async_wait(lat_async *a);

/* Has f returned? */
bool lat_async_over(const lat_async *a);

/* Waits for f, and forgets what it returned. */
void lat_async_drop(lat_async *a);

/* For a run that has failed: nobody waits for f any more. *a, and all that f uses, stay until the
 * process ends. */
void lat_async_leave(lat_async *a);
