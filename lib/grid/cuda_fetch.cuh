/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_fetch.cuh: pieces of device memory on their way to the host, in order, through pinned memory
 * of some places, by a stream of their own: while one is used there, others travel. For one thread
 * at a time. Functions return 0 or a pointer, or -1 or NULL with lat_error set. */
#pragma once

#include "cuda_device.cuh"

/* All zero: closed. */
typedef struct lat_fetch {
    cudaStream_t stream;
    char *pinned;
    bool registered; /* it is of the host's own memory */
    cudaEvent_t *there;
    size_t places, bytes;  /* of a place */
    size_t begun, arrived; /* pieces so far */
} lat_fetch;

/* From piece 0 on, through at least so many places of so many bytes. */
int lat_fetch_open(lat_fetch *f, size_t places, size_t bytes);
void lat_fetch_close(lat_fetch *f);

/* The next piece sets out, once all that is in the stream is done: n bytes, at most f->bytes. It
 * takes the place of the piece f->places before it, which nobody may use any more. */
int lat_fetch_send(lat_fetch *f, const void *from, size_t n);

/* Piece k on the host, when it is there; of those that have set out, in order. */
const char *lat_fetch_wait(lat_fetch *f, size_t k);
