/* SPDX-License-Identifier: BSD-3-Clause */
/* behind.h: a solution that stays on a GPU is written by a thread, while the next one is solved. */
#ifndef LAT_RUN_BEHIND_H
#define LAT_RUN_BEHIND_H

#include <pthread.h>
#include "base/error.h"
#include "common/io.h"
#include "dirac/mirror.h"

/* All zero: nothing is to be written. Else the output is used by functions of this header alone. */
typedef struct lat_behind {
    bool kept, running; /* it is to be written; a thread does it, or has done it */
    pthread_t thread;
    int threads, store, rc;
    lat_output *out;
    lat_mirror *mirror;
    lat_header head;
    pthread_mutex_t lock;
    bool over, expects; /* the thread has ended; a field is expected after this one */
    lat_sentence why;   /* the thread's */
} lat_behind;

/* What is in the mirror is to be written, with this header, as lat_stream_write has it. Until it is
 * nobody takes anything into the mirror, but after lat_behind_begin. Ends what was before. 0, or -1
 * with lat_error set. */
int lat_behind_keep(lat_behind *w, lat_output *out, const lat_header *head, int store,
                    lat_mirror *mirror);

/* Begins to write what is kept, if something is, in a thread, by all threads but one. */
int lat_behind_begin(lat_behind *w);

/* lat_stream_preallocate for a field that will come, once nothing is to be written any more. */
void lat_behind_expect(lat_behind *w, lat_output *out, const lat_header *head, int store);

/* Could it not be written, as far as is known? lat_behind_end says why. */
bool lat_behind_failed(lat_behind *w);

/* Waits for the thread, or writes what is kept: 0, or -1 with lat_error set. */
int lat_behind_end(lat_behind *w);

#endif
