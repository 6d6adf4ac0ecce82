/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.h: the last stage of a solve: solutions go to the output. One that lies on a GPU is
 * written from there, by a thread, while the next one is solved. */
#pragma once

#include "base/async.h"
#include "common/io.h"
#include "vector/mirror.h"

/* Set `out` and `store`, all else zero. The output is used by functions of this header alone, until
 * lat_writer_end. Functions return 0, or -1 with lat_error set. */
typedef struct lat_writer {
    lat_output *out;
    int store;        /* as in lat_stream_write */
    bool failed;      /* a solution could not be written; lat_error is about that */
    lat_mirror *kept; /* is to be written; or NULL */
    lat_header head;  /* of it */
    bool expects;     /* a field will follow it */
    lat_async async;  /* writes from the mirror */
    lat_mirror *from; /* that it writes from, until somebody waits; or NULL */
} lat_writer;

/* Preallocates space for a field with this header, as soon as what was put before is written. */
void lat_writer_expect(lat_writer *w, const lat_header *head);

/* Writes x, after all that was put before. With a mirror the numbers are there, not in x; it
 * belongs to the writer from here on, and lat_mirror_take waits for the end of that. It is written
 * by a thread: into a pipe, which takes one thread and its time, from here on; into a file when
 * lat_writer_begin is called, if that will be `soon`, or else before this function returns. */
int lat_writer_put(lat_writer *w, lat_field *x, lat_mirror *mirror, bool soon);

/* Begins to write what was put and is not begun, by all threads but one. */
int lat_writer_begin(lat_writer *w);

/* Looks, without waiting, whether what was begun has failed. */
int lat_writer_look(lat_writer *w);

/* Waits until all is written. */
int lat_writer_end(lat_writer *w);
