/* SPDX-License-Identifier: BSD-3-Clause */
/* io_room.c: room on the disk for what will be written, taken by a thread while the caller works. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

#define FEW ((uint64_t)1 << 26)   /* bytes that are written as soon as a thread has been started */
#define PIECE ((uint64_t)1 << 26) /* taken at a time: nobody waits for more */

/* Not every file system can do it: then bytes find their room when they are written. */
static void *take_room(void *output)
{
    lat_output *out = output;

    while (out->room < out->expected && !atomic_load(&out->enough)) {
        const uint64_t n = out->expected - out->room < PIECE ? out->expected - out->room : PIECE;

        if (fallocate(out->fd, FALLOC_FL_KEEP_SIZE, (off_t)out->room, (off_t)n) < 0) {
            if (errno == ENOSPC || errno == EDQUOT) {
                lat_warn("%s: %.2f GB may not fit: %s", out->name, (double)(out->expected - out->put) * 1e-9, strerror(errno));
                if (ftruncate(out->fd, (off_t)out->put) == 0) /* others may have what we cannot use */
                    out->room = out->put;
            }
            break;
        }
        out->room += n;
    }
    return NULL;
}

void lat_output_expect(lat_output *out, uint64_t n)
{
    sigset_t all, before;

    lat_output_enough(out);
    if (lat_io_elsewhere() || !lat_output_is_hidden(out) || n < FEW || n > INT64_MAX / 2 - out->put)
        return;
    out->room = out->put;
    out->expected = out->put + n;
    atomic_store(&out->enough, false);
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    out->taking = pthread_create(&out->thread, NULL, take_room, out) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void lat_output_enough(lat_output *out)
{
    if (!out->taking)
        return;
    atomic_store(&out->enough, true);
    pthread_join(out->thread, NULL);
    out->taking = false;
}

int lat_output_trim(lat_output *out)
{
    lat_output_enough(out);
    return out->room > out->put && ftruncate(out->fd, (off_t)out->put) < 0 ? -1 : 0;
}
