/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h: a thread beside the main one. */
#ifndef LAT_THREAD_H
#define LAT_THREAD_H

#include <pthread.h>

/* Like pthread_create, but the thread gets no signals except for its own faults: all
 * others are the main thread's. 0, or the number of the error. */
int lat_thread_start(pthread_t *thread, void *(*run)(void *with), void *with);

#endif
