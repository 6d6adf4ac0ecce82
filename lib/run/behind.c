/* SPDX-License-Identifier: BSD-3-Clause */
/* behind.c: solutions that are written while others are solved. */
#include "behind.h"

#include <signal.h>
#include "base/error.h"
#include "base/thread.h"
#include "base/threads.h"
#include "stream/stream.h"

/* Pinned memory takes .04 s. */
static void *open_packer(void *with)
{
    lat_behind *w = with;
    lat_sentence ignored = {0};
    lat_error_apart(&ignored);
    w->packer = lat_packer_open(w->held);
    return NULL;
}

void lat_behind_prepare(lat_behind *w)
{
    if (!w->packs || w->opened)
        return;
    w->held = lat_stream_most_held();
    w->opened = w->opening = lat_thread_start(&w->opener, open_packer, w) == 0;
}

static void wait_for_packer(lat_behind *w)
{
    if (w->opening)
        pthread_join(w->opener, NULL);
    w->opening = false;
}

/* As bytes, or packed by the GPU where it has memory for it: the stream is the same. */
static int put_mirror(lat_behind *w, lat_stream_writer *s)
{
    wait_for_packer(w);
    if (!w->packer || !lat_stream_packs(w->out, &w->head, w->store) || lat_stream_held(s) > w->held)
        return lat_mirror_begin(w->mirror, lat_stream_held(s))
                       || lat_stream_put_from(s, lat_mirror_bytes, w->mirror)
                   ? -1
                   : 0;
    return lat_packer_begin(w->packer, lat_mirror_data(w->mirror), lat_header_bytes(&w->head))
                   || lat_stream_put_packed(s, lat_packer_block, lat_packer_rest, w->packer)
               ? -1
               : 0;
}

static int write_mirror(lat_behind *w)
{
    lat_stream_writer *s = lat_stream_open(w->out, &w->head, w->store);
    if (!s)
        return -1;
    if (put_mirror(w, s) == 0)
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
    w->packs = lat_stream_packs(out, head, store);
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

void lat_behind_close(lat_behind *w)
{
    wait_for_packer(w);
    lat_packer_close(w->packer);
    w->packer = NULL;
    w->opened = false;
}
