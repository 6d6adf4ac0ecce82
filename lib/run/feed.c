/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c: quark propagators, read slice by slice. */
#include "feed.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/threads.h"
#include "common/options.h"
#include "formats/fields.h"
#include "legs_file.h"
#include "stream/stream.h"

/* ---- a pipe ---------------------------------------------------------------------------------- */

/* What comes through a pipe is copied by the kernel, by one thread, for longer than slices are
 * used. So another thread reads the next ones meanwhile, into one of two buffers in turn. */
enum { AHEAD = 2 };

typedef struct lat_feed_ahead {
    struct lat_stream_reader *reader;
    int threads, slices;
    void *raw[AHEAD];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int read, used; /* slices so far */
    bool failed, stop;
    lat_sentence why;
} ahead;

/* Waits until a buffer is free; false: nothing is wanted any more. */
static bool may_read(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (!a->stop && a->read == a->used + AHEAD)
        pthread_cond_wait(&a->change, &a->lock);
    const bool may = !a->stop && a->read < a->slices;
    pthread_mutex_unlock(&a->lock);
    return may;
}

static void *read_slices(void *with)
{
    ahead *a = with;
    int rc = 0;
    lat_threads_set(a->threads);
    lat_error_apart(&a->why);
    while (rc == 0 && may_read(a)) {
        rc = lat_stream_get(a->reader, a->raw[a->read % AHEAD], 1);
        pthread_mutex_lock(&a->lock);
        a->failed = rc < 0;
        a->read += rc == 0;
        pthread_cond_signal(&a->change);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void free_ahead(ahead *a)
{
    if (!a)
        return;
    for (int i = 0; i < AHEAD; i++)
        free(a->raw[i]);
    free(a);
}

/* NULL with lat_error set. */
static ahead *begin_ahead(lat_input *in, struct lat_stream_reader *reader, int slices, size_t bytes)
{
    ahead *a = lat_alloc(1, sizeof *a, "slices of a pipe");
    if (!a)
        return NULL;
    *a = (ahead){.reader = reader, .threads = lat_threads(), .slices = slices};
    lat_input_may_end(in);
    for (int i = 0; i < AHEAD; i++)
        if (!(a->raw[i] = lat_alloc(bytes, 1, "a slice of a propagator"))) {
            free_ahead(a);
            return NULL;
        }
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->change, NULL);
    if (lat_thread_start(&a->thread, read_slices, a) == 0)
        return a;
    lat_fail("a thread could not be started");
    free_ahead(a);
    return NULL;
}

/* The next slice, until give_back; NULL with lat_error set. */
static const void *wait_for_slice(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (!a->failed && a->read == a->used)
        pthread_cond_wait(&a->change, &a->lock);
    const void *slice = a->read > a->used ? a->raw[a->used % AHEAD] : NULL;
    pthread_mutex_unlock(&a->lock);
    if (!slice)
        lat_error_take_over(&a->why);
    return slice;
}

static void give_back(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->used++;
    pthread_cond_signal(&a->change);
    pthread_mutex_unlock(&a->lock);
}

/* Where not all was used the run has failed, and what is on its way may never come. */
static void end_ahead(lat_feed *d)
{
    ahead *a = d->ahead;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    if (a->used < a->slices)
        lat_input_end(d->in);
    pthread_cond_signal(&a->change);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->change);
    pthread_mutex_destroy(&a->lock);
    free_ahead(a);
    d->ahead = NULL;
}

/* ---- a propagator ---------------------------------------------------------------------------- */

void lat_feed_free(lat_feed *d)
{
    end_ahead(d);
    if (d->reader)
        lat_stream_end(d->reader, NULL);
    d->reader = NULL;
    free(d->raw);
    free(d->slice);
    d->raw = NULL;
    d->slice = NULL;
    lat_field_free(&d->f);
}

static size_t slice_reals(const lat_header *head)
{
    return lat_slice_matrices(head) * lat_header_full_reals(head);
}

int lat_feed_start(lat_feed *d)
{
    const lat_header *head = &d->f.head;
    d->slice = lat_alloc(slice_reals(head), sizeof *d->slice, "a slice of a propagator");
    if (!d->slice)
        return -1;
    if (d->f.data)
        return 0;
    d->f.comm = lat_opts.comm;
    if (d->whole || lat_field_shared(&d->f)
        || !lat_order_sliced(&lat_stream_last(d->in)->order, head->geom.nd))
        return lat_stream_body(d->in, &d->f) < 0 ? -1 : 0;
    const size_t bytes = slice_reals(head) * (size_t)head->real;
    if (!(d->reader = lat_stream_begin(d->in, head)))
        return -1;
    if (lat_input_size(d->in) < 0)
        return (d->ahead = begin_ahead(d->in, d->reader, lat_slices(head), bytes)) ? 0 : -1;
    return (d->raw = lat_alloc(bytes, 1, "a slice of a propagator")) ? 0 : -1;
}

/* The reals of slice t, as they are stored; NULL with lat_error set. */
static const void *stored_slice(lat_feed *d, int t)
{
    if (d->ahead)
        return wait_for_slice(d->ahead);
    if (d->reader)
        return lat_stream_get(d->reader, d->raw, 1) < 0 ? NULL : d->raw;
    return (const char *)d->f.data + (size_t)t * slice_reals(&d->f.head) * (size_t)d->f.head.real;
}

int lat_feed_slice(lat_feed *d, int t)
{
    const size_t n = slice_reals(&d->f.head);
    const void *from = stored_slice(d, t);
    if (!from)
        return -1;
    if (d->f.head.real == LAT_F64)
        lat_memcpy(d->slice, from, n * sizeof *d->slice);
    else
        for (size_t i = 0; i < n; i++)
            d->slice[i] = ((const float *)from)[i];
    if (d->ahead)
        give_back(d->ahead);
    return 0;
}

int lat_feed_end(lat_feed *d)
{
    if (!d->reader)
        return 0;
    end_ahead(d);
    const double largest = lat_stream_largest(d->reader);
    lat_stream_reader *reader = d->reader;
    d->reader = NULL;
    return lat_stream_end(reader, &d->f.head) < 0
                   || lat_stream_verify(&d->f.head, lat_input_name(d->in), NAN, NAN, largest)
               ? -1
               : 0;
}

int lat_need_solution(const lat_header *head, const char *name)
{
    if (lat_header_source(head))
        return lat_mismatch(lat_opts.force,
                            "%s: expected a propagator, found a source (no operator in its header; "
                            "lat-solve makes the propagator; --force takes it)",
                            name);
    return 0;
}

int lat_feed_next(lat_feed *d)
{
    char text[64];
    memset(&d->f, 0, sizeof d->f);
    const int foreign = lat_fields_foreign(d->in);
    const int rc = foreign < 0 ? -1
                   : foreign   ? lat_fields_read(d->in, &d->f)
                               : lat_stream_head(d->in, &d->f.head);
    const lat_header *head = &d->f.head;
    const char *name = lat_input_name(d->in);
    if (rc <= 0 || (d->legs && !foreign && lat_legs_noted(head)))
        return rc;
    if (lat_header_need(head, LAT_PROPAGATOR, name))
        return -1;
    if (head->geom.nd != 4)
        return lat_fail("%s: expected four dimensions, found %s", name,
                        lat_dims_text(&head->geom, text));
    return lat_need_solution(head, name) ? -1 : 1;
}
