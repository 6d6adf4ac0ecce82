/* SPDX-License-Identifier: BSD-3-Clause */
/* behind.c: solutions that are written while others are solved. */
#include "behind.h"

#include <signal.h>
#include "base/error.h"
#include "base/thread.h"
#include "base/threads.h"
#include "stream/stream.h"

static int write_mirror(lat_behind *w)
{
    lat_stream_writer *s = lat_stream_open(w->out, &w->head, w->store);
    if (!s)
        return -1;
    if (lat_mirror_begin(w->mirror, lat_stream_held(s)) == 0
        && lat_stream_put_from(s, lat_mirror_bytes, w->mirror) == 0)
        return lat_stream_close(s);
    lat_stream_abort(s);
    return -1;
}

/* The one signal of a thread's own: the next tool of a pipe has ended. */
static void die_of_pipes(void)
{
    sigset_t it;
    sigemptyset(&it);
    sigaddset(&it, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &it, NULL);
}

static void *write_behind(void *with)
{
    lat_behind *w = with;
    die_of_pipes();
    lat_threads_set(w->threads);
    lat_error_apart(&w->why);
    w->rc = write_mirror(w);
    lat_mirror_give_back(w->mirror);
    pthread_mutex_lock(&w->lock);
    if (w->rc == 0 && w->expects)
        lat_stream_preallocate(w->out, &w->head, w->store);
    w->over = true;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int lat_behind_keep(lat_behind *w, lat_output *out, const lat_header *head, int store,
                    lat_mirror *mirror)
{
    if (lat_behind_end(w) || lat_header_copy(&w->head, head))
        return -1;
    w->kept = true;
    w->expects = false;
    w->out = out;
    w->store = store;
    w->mirror = mirror;
    return 0;
}

int lat_behind_begin(lat_behind *w)
{
    if (!w->kept)
        return 0;
    if (lat_mirror_lend(w->mirror))
        return -1;
    pthread_mutex_init(&w->lock, NULL);
    w->threads = lat_threads_beside();
    w->over = w->kept = false;
    w->running = lat_thread_start(&w->thread, write_behind, w) == 0;
    if (w->running)
        return 0;
    pthread_mutex_destroy(&w->lock);
    lat_mirror_give_back(w->mirror);
    w->kept = true;
    return lat_behind_end(w);
}

void lat_behind_expect(lat_behind *w, lat_output *out, const lat_header *head, int store)
{
    bool now = true;
    if (w->kept) {
        w->expects = true;
        now = false;
    } else if (w->running) {
        pthread_mutex_lock(&w->lock);
        now = w->over;
        w->expects = true;
        pthread_mutex_unlock(&w->lock);
    }
    if (now)
        lat_stream_preallocate(out, head, store);
}

bool lat_behind_failed(lat_behind *w)
{
    if (!w->running)
        return false;
    pthread_mutex_lock(&w->lock);
    const bool failed = w->over && w->rc;
    pthread_mutex_unlock(&w->lock);
    return failed;
}

int lat_behind_end(lat_behind *w)
{
    if (!w->running && !w->kept)
        return 0;
    if (w->running) {
        pthread_join(w->thread, NULL);
        pthread_mutex_destroy(&w->lock);
        if (w->rc)
            lat_error_take_over(&w->why);
    } else
        w->rc = write_mirror(w);
    lat_header_free(&w->head);
    w->running = w->kept = false;
    return w->rc;
}
