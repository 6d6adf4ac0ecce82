/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.c: solutions to the output, from the host or from a GPU. */
#include "writer.h"

#include <signal.h>
#include "base/threads.h"
#include "stream/stream.h"

static int write_mirror(lat_writer *w, lat_mirror *m)
{
    lat_stream_writer *s = lat_stream_open(w->out, &w->head, w->store);
    if (!s)
        return -1;
    if (lat_mirror_begin(m, lat_stream_held(s)) == 0
        && lat_stream_put_from(s, lat_mirror_bytes, m) == 0)
        return lat_stream_close(s);
    lat_stream_abort(s);
    return -1;
}

/* The thread. It has one signal of its own: the next tool of a pipe has ended. */
static int write_beside(void *writer)
{
    lat_writer *w = writer;
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &pipes, NULL);
    const int rc = write_mirror(w, w->from);
    if (rc == 0 && w->expects)
        lat_stream_preallocate(w->out, &w->head, w->store);
    return rc;
}

int lat_writer_begin(lat_writer *w)
{
    if (!w->kept)
        return 0;
    if (lat_mirror_lend(w->kept, &w->async))
        return -1;
    w->from = w->kept;
    if (lat_async_start(&w->async, lat_threads_beside(), write_beside, w))
        return lat_writer_end(w);
    w->kept = NULL;
    return 0;
}

int lat_writer_look(lat_writer *w)
{
    return w->from && lat_async_over(&w->async) && w->async.rc ? lat_writer_end(w) : 0;
}

int lat_writer_end(lat_writer *w)
{
    if (w->kept) { /* not begun: here, by all threads */
        w->from = w->kept;
        w->kept = NULL;
        w->async = (lat_async){.rc = write_mirror(w, w->from)};
    }
    if (!w->from)
        return 0;
    const int rc = lat_async_wait(&w->async);
    lat_header_free(&w->head);
    w->from = NULL;
    w->failed = w->failed || rc;
    return rc;
}

int lat_writer_put(lat_writer *w, lat_field *x, lat_mirror *mirror, bool soon)
{
    if (lat_writer_end(w))
        return -1;
    if (!mirror)
        return lat_stream_write(w->out, x, w->store);
    if (lat_header_copy(&w->head, &x->head))
        return -1;
    w->kept = mirror;
    w->expects = false;
    if (!lat_output_is_file(w->out))
        return lat_writer_begin(w);
    return soon ? 0 : lat_writer_end(w);
}

void lat_writer_expect(lat_writer *w, const lat_header *head)
{
    if (w->kept)
        w->expects = true;
    else if (!w->from) /* into a pipe, where there is no space to be had */
        lat_stream_preallocate(w->out, head, w->store);
}
