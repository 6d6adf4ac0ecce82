/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ranks.c: portions of slices between rank 0, which has the stream, and the others.
 *
 * Rank 0 has a few slots, each for a portion. While it reads and verifies one, or writes one, with all its threads, a thread
 * of its own, the carrier, takes others to their ranks or fetches them from there: MPI moves a long message only while both
 * ends ask how it is, so what was begun and left alone would not have moved. */
#include "stream_ranks.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "slices.h"
#include "stream.h"

#define PORTION ((size_t)8 << 20) /* bytes, if that is not less than a slice */
#define SLOTS 3

/* ---- portions -------------------------------------------------------------------------------- */

/* Some slices of a rank. Those of rank 0 go to and from their place and are no portions. */
typedef struct portion {
    int rank, slice, count; /* slices of the rank, from its own number `slice` on */
} portion;

/* The first one of a rank. */
static portion first_of(const lat_field *f, int rank)
{
    const size_t most = PORTION / lat_slice_bytes(&f->head);
    const int all = lat_slab_of(f->comm, rank, lat_slices(&f->head)).count;
    return (portion){rank, 0, most < 1 ? 1 : most < (size_t)all ? (int)most : all};
}

/* The one after p, and false if that was the last one of its rank. */
static bool next_of(const lat_field *f, portion *p)
{
    const int left = lat_slab_of(f->comm, p->rank, lat_slices(&f->head)).count - p->slice - p->count;
    p->slice += p->count;
    p->count = left < p->count ? left : p->count;
    return left > 0;
}

static size_t bytes_of(const lat_field *f, const portion *p)
{
    return (size_t)p->count * lat_slice_bytes(&f->head);
}

/* Where it is on its rank. */
static char *place(const lat_field *f, const portion *p)
{
    return (char *)f->data + (size_t)p->slice * lat_slice_bytes(&f->head);
}

/* A rank waits at its ease for this word of rank 0, before what is long travels. */
static int say_begin(const lat_field *f, int rank)
{
    return f->comm->send(f->comm, rank, "", 1);
}

static int await_begin(const lat_field *f)
{
    char nothing;
    return f->comm->receive(f->comm, 0, &nothing, 1);
}

/* ---- the belt -------------------------------------------------------------------------------- */

/* Slots on rank 0, which one thread fills and another one empties in turn. */
typedef struct belt {
    const lat_field *f;
    char *room;      /* SLOTS slots of ... */
    size_t slot;     /* ... so many bytes */
    pthread_t carrier;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    long filled, emptied;
    bool stopped;    /* one of the two threads has failed: the other one waits for nothing more */
    int (*carry)(struct belt *b, int rank); /* the portions of a rank, by the carrier */
} belt;

/* Its memory, before anything travels. The same return code on all ranks. */
static int make(belt *b, const lat_field *f)
{
    *b = (belt){.f = f, .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    for (int rank = 1; rank < f->comm->size; rank++) {
        const portion p = first_of(f, rank);
        b->slot = bytes_of(f, &p) > b->slot ? bytes_of(f, &p) : b->slot;
    }
    if (f->comm->rank == 0)
        b->room = lat_alloc(SLOTS, b->slot, "slices of other ranks");
    return lat_agree(f->comm, f->comm->rank == 0 && !b->room ? -1 : 0);
}

/* The next slot to be filled, or to be emptied; NULL if there will be none. */
static char *next_slot(belt *b, bool fill)
{
    pthread_mutex_lock(&b->lock);
    while (!b->stopped && (fill ? b->filled == b->emptied + SLOTS : b->filled == b->emptied))
        pthread_cond_wait(&b->moved, &b->lock);
    char *slot = b->stopped ? NULL : b->room + (size_t)((fill ? b->filled : b->emptied) % SLOTS) * b->slot;
    pthread_mutex_unlock(&b->lock);
    return slot;
}

static void move_on(belt *b, bool fill)
{
    pthread_mutex_lock(&b->lock);
    ++*(fill ? &b->filled : &b->emptied);
    pthread_cond_broadcast(&b->moved);
    pthread_mutex_unlock(&b->lock);
}

static void stop(belt *b)
{
    pthread_mutex_lock(&b->lock);
    b->stopped = true;
    pthread_cond_broadcast(&b->moved);
    pthread_mutex_unlock(&b->lock);
}

static void *carry_all(void *belt_of_main)
{
    belt *b = belt_of_main;
    for (int rank = 1; rank < b->f->comm->size; rank++)
        if (b->carry(b, rank)) {
            stop(b);
            break;
        }
    return NULL;
}

/* Signals are the main thread's. */
static int start(belt *b, int (*carry)(belt *b, int rank))
{
    sigset_t all, before;
    b->carry = carry;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int bad = pthread_create(&b->carrier, NULL, carry_all, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad ? lat_fail("no thread for what goes between ranks: %s", strerror(bad)) : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int carry_out(belt *b, int rank)
{
    portion p = first_of(b->f, rank);
    do {
        const char *slot = next_slot(b, false);
        if (!slot || say_begin(b->f, rank) || b->f->comm->send(b->f->comm, rank, slot, bytes_of(b->f, &p)))
            return -1;
        move_on(b, false);
    } while (next_of(b->f, &p));
    return 0;
}

static int put_on(belt *b, lat_stream_reader *r, int rank)
{
    portion p = first_of(b->f, rank);
    do {
        char *slot = next_slot(b, true);
        if (!slot || lat_stream_get(r, slot, p.count))
            return -1;
        move_on(b, true);
    } while (next_of(b->f, &p));
    return 0;
}

/* Rank 0: its own slices first, then those of the others. */
static int deal_out(belt *b, lat_stream_reader *r)
{
    int rc = lat_stream_get(r, b->f->data, lat_field_slab(b->f).count);
    if (rc || start(b, carry_out))
        return -1;
    for (int rank = 1; rank < b->f->comm->size && rc == 0; rank++)
        rc = put_on(b, r, rank);
    if (rc)
        stop(b);
    pthread_join(b->carrier, NULL);
    return rc || b->stopped ? -1 : 0;
}

/* All threads bring the pages of what is to come now: one alone, copying, would spend half its time on that. */
static void touch(char *p, size_t n)
{
    const size_t page = 4096;
    #pragma omp parallel for schedule(static) if (n > PORTION / 2)
    for (size_t at = 0; at < n; at += page)
        ((volatile char *)p)[at] = 0;
}

static int take_in(const lat_field *f)
{
    portion p = first_of(f, f->comm->rank);
    int rc;
    do {
        rc = await_begin(f);
        if (rc == 0)
            touch(place(f, &p), bytes_of(f, &p));
        rc = rc ? rc : f->comm->receive(f->comm, 0, place(f, &p), bytes_of(f, &p));
    } while (rc == 0 && next_of(f, &p));
    return rc;
}

int lat_ranks_read(lat_input *in, lat_field *f, double *largest)
{
    struct { double largest; char crc[sizeof f->head.read_crc]; } found = {0, ""};
    belt b = {.room = NULL};
    int rc = lat_field_alloc(f) || make(&b, f) ? -1 : 0;
    if (rc == 0 && f->comm->rank == 0) {
        lat_stream_reader *r = lat_stream_begin(in, &f->head);
        rc = r ? deal_out(&b, r) : -1;
        found.largest = rc ? 0 : lat_stream_largest(r);
        if (lat_stream_end(r, rc ? NULL : &f->head))
            rc = -1;
        memcpy(found.crc, f->head.read_crc, sizeof found.crc);
    } else if (rc == 0) {
        rc = take_in(f);
    }
    free(b.room);
    if (rc || f->comm->broadcast(f->comm, &found, sizeof found, 0))
        return -1;
    memcpy(f->head.read_crc, found.crc, sizeof found.crc);
    *largest = found.largest;
    return lat_field_share(f);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int carry_in(belt *b, int rank)
{
    portion p = first_of(b->f, rank);
    if (say_begin(b->f, rank))
        return -1;
    do {
        char *slot = next_slot(b, true);
        if (!slot || b->f->comm->receive(b->f->comm, rank, slot, bytes_of(b->f, &p)))
            return -1;
        move_on(b, true);
    } while (next_of(b->f, &p));
    return 0;
}

/* Also after a failure to write all that is sent is taken: *rc. */
static int take_off(belt *b, lat_stream_writer *w, int rank, int *rc)
{
    portion p = first_of(b->f, rank);
    do {
        const char *slot = next_slot(b, false);
        if (!slot)
            return -1;
        if (*rc == 0)
            *rc = lat_stream_put(w, slot, p.count);
        move_on(b, false);
    } while (next_of(b->f, &p));
    return 0;
}

/* Rank 0. The first portions of the others come while it writes its own slices. */
static int collect(belt *b, lat_stream_writer *w)
{
    if (start(b, carry_in))
        exit(lat_report(LAT_FAILED)); /* the others wait for a word that will not come */
    int rc = w ? lat_stream_put(w, b->f->data, lat_field_slab(b->f).count) : -1;
    for (int rank = 1; rank < b->f->comm->size; rank++)
        if (take_off(b, w, rank, &rc)) {
            rc = -1;
            break;
        }
    pthread_join(b->carrier, NULL);
    return rc;
}

static int hand_in(const lat_field *f)
{
    portion p = first_of(f, f->comm->rank);
    int rc = await_begin(f);
    do {
        rc = rc ? rc : f->comm->send(f->comm, 0, place(f, &p), bytes_of(f, &p));
    } while (rc == 0 && next_of(f, &p));
    return rc;
}

int lat_ranks_write(lat_output *out, const lat_field *f, int store)
{
    belt b;
    int rc = 0;
    if (make(&b, f))
        return -1;
    if (f->comm->rank == 0) {
        lat_stream_writer *w = lat_stream_open(out, &f->head, store);
        rc = collect(&b, w);
        if (rc == 0)
            rc = lat_stream_close(w);
        else
            lat_stream_give_up(w);
    } else {
        rc = hand_in(f);
    }
    free(b.room);
    return lat_agree(f->comm, rc);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* The lines one after the other, with their zeros; how many bytes. */
static size_t put_lines(const lat_lines *lines, char *to)
{
    size_t n = 0;
    for (int i = 0; i < lines->count; i++) {
        const size_t length = strlen(lines->line[i]) + 1;
        if (to)
            memcpy(to + n, lines->line[i], length);
        n += length;
    }
    return n;
}

static int take_lines(lat_lines *lines, int count, const char **from)
{
    *lines = (lat_lines){0, NULL};
    for (int i = 0; i < count; i++, *from += strlen(*from) + 1)
        if (lat_lines_add(lines, "%s", *from))
            return -1;
    return 0;
}

int lat_header_broadcast(lat_header *head)
{
    const lat_comm *comm = lat_comm_world;
    if (comm->size == 1)
        return 0;
    size_t bytes = comm->rank == 0 ? sizeof *head + put_lines(&head->info, NULL) + put_lines(&head->history, NULL) : 0;
    if (comm->broadcast(comm, &bytes, sizeof bytes, 0))
        return -1;
    char *room = lat_alloc(bytes, 1, "a header");
    int rc = room ? 0 : -1;
    if (rc == 0 && comm->rank == 0) {
        memcpy(room, head, sizeof *head);
        const size_t n = put_lines(&head->info, room + sizeof *head);
        put_lines(&head->history, room + sizeof *head + n);
    }
    if (rc == 0 && (rc = comm->broadcast(comm, room, bytes, 0)) == 0 && comm->rank != 0) {
        const char *lines = room + sizeof *head;
        memcpy(head, room, sizeof *head);
        const int info = head->info.count, history = head->history.count;
        head->history = (lat_lines){0, NULL};
        rc = take_lines(&head->info, info, &lines) || take_lines(&head->history, history, &lines) ? -1 : 0;
    }
    free(room);
    return rc;
}
