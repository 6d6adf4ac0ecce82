/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h: a thread beside the main one. */
#ifndef LAT_THREAD_H
#define LAT_THREAD_H

#include <pthread.h>

/* As pthread_create, but no signal is delivered to the thread but those of its own faults: all
 * others are the main thread's. 0, or the number of the error. */
int lat_thread_start(pthread_t *thread, void *(*run)(void *with), void *with);

#endif
