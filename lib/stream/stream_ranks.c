/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ranks.c: portions of slices between rank 0, which has the stream, and the others.
 *
 * There are a few slots, each for a portion. Rank 0 reads and verifies into one, or writes from
 * one, with all its threads, while others go to their ranks or come from there. Ranks of one host
 * see the slots, and each copies its portions with all its threads; most of the time they wait for
 * rank 0, so it may use as many as they have together. For ranks elsewhere rank 0 has a thread that
 * carries them, the carrier: MPI moves a long message only while both ends ask how it is, so what
 * was begun and left alone would not have moved. */
#include "stream_ranks.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/threads.h"
#include "base/error.h"
#include "base/memory.h"
#include "lattice/slices.h"
#include "stream.h"
#include "stream_blocks.h"

#define PORTION ((size_t)8 << 20) /* bytes, if that is not less than a slice */
#define SLOTS 3

/* ---- portions -------------------------------------------------------------------------------- */

/* Some slices of a rank. Those of rank 0 go to and from their place and are no portions. */
typedef struct portion {
    int rank, slice, count; /* slices of the rank, from its own number `slice` on */
    uint32_t number;        /* of all portions, in the order of the stream */
} portion;

static int slices_of(const lat_field *f, int rank)
{
    return lat_slab_of(f->comm, rank, lat_slices(&f->head)).count;
}

/* The first one of a rank. */
static portion first_of(const lat_field *f, int rank)
{
    const size_t most = PORTION / lat_slice_bytes(&f->head);
    portion p = {0, 0, 0, 0};
    for (int r = 1; r <= rank; r++) {
        const int all = slices_of(f, r);
        p.number += r > 1 ? (uint32_t)((slices_of(f, r - 1) + p.count - 1) / p.count) : 0;
        p.count = most < 1 ? 1 : most < (size_t)all ? (int)most : all;
    }
    p.rank = rank;
    return p;
}

/* The one after p, and false if that was the last one of its rank. */
static bool next_of(const lat_field *f, portion *p)
{
    const int left = slices_of(f, p->rank) - p->slice - p->count;
    p->slice += p->count;
    p->count = left < p->count ? left : p->count;
    p->number++;
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

/* ---- the belt -------------------------------------------------------------------------------- */

/* Whose turn it is at a slot: to fill it for the first time 0, to empty it 1, to fill it again 2,
 * and so on. */
typedef struct slot {
    _Alignas(64) _Atomic uint32_t turn;
} slot;
#define STOPPED UINT32_MAX /* one of the two has failed: the other one waits for nothing more */

typedef struct belt {
    const lat_field *f;
    size_t portion;    /* bytes, at most */
    lat_shared shared; /* where ranks see the slots; .at is NULL where they do not */
    slot
        *slots; /* SLOTS, and their portions after a page; NULL where this rank does not see them */
    pthread_t carrier;
    int (*carry)(struct belt *b, int rank); /* the portions of a rank, by the carrier */
    int threads; /* before: now rank 0 has those of all, who wait for it */
} belt;

#define PAGE 4096

/* Its memory, before anything travels; with its pages if it will surely be needed. The same return
 * code on all ranks. */
static int make(belt *b, const lat_field *f, bool needed)
{
    *b = (belt){.f = f};
    for (int rank = 1; rank < f->comm->size; rank++) {
        const portion p = first_of(f, rank);
        b->portion = bytes_of(f, &p) > b->portion ? bytes_of(f, &p) : b->portion;
    }
    const size_t bytes = PAGE + SLOTS * b->portion;
    if (lat_shared_make(f->comm, bytes, &b->shared))
        return -1;
    b->slots = b->shared.at;
    if (!b->slots && f->comm->rank == 0
        && (b->slots = lat_alloc(bytes, 1, "slices of other ranks")))
        memset(b->slots, 0, PAGE);
    const bool bad = f->comm->rank == 0
                     && (!b->slots || (b->shared.at && needed && lat_shared_reserve(&b->shared)));
    b->threads = lat_threads_widen(b->shared.at && f->comm->rank == 0 ? f->comm->size : 1);
    return lat_agree(f->comm, bad ? -1 : 0);
}

static void take_apart(belt *b)
{
    lat_threads_set(b->threads);
    if (!b->shared.at)
        free(b->slots);
    lat_shared_free(&b->shared);
}

static long futex(_Atomic uint32_t *word, int what, uint32_t value)
{
    return syscall(SYS_futex, (uint32_t *)word, what, value, NULL, NULL, 0);
}

static uint32_t turn_of(const portion *p, bool full) { return 2 * (p->number / SLOTS) + full; }

/* A portion's place in its slot when that is full, or empty; NULL if it will not be. */
static char *await(const belt *b, const portion *p, bool full)
{
    slot *s = &b->slots[p->number % SLOTS];
    for (uint32_t is; (is = atomic_load(&s->turn)) != turn_of(p, full);
         futex(&s->turn, FUTEX_WAIT, is))
        if (is == STOPPED)
            return NULL;
    return (char *)b->slots + PAGE + p->number % SLOTS * b->portion;
}

/* It was full, or empty, and is not any more. */
static void pass(const belt *b, const portion *p, bool full)
{
    slot *s = &b->slots[p->number % SLOTS];
    uint32_t is = turn_of(p, full);
    atomic_compare_exchange_strong(&s->turn, &is, is + 1); /* unless it is STOPPED */
    futex(&s->turn, FUTEX_WAKE, INT32_MAX);
}

static void stop(const belt *b)
{
    for (int i = 0; i < SLOTS; i++) {
        atomic_store(&b->slots[i].turn, STOPPED);
        futex(&b->slots[i].turn, FUTEX_WAKE, INT32_MAX);
    }
}

/* All threads bring the pages of what is to come now: one alone, copying, would spend half its time
 * on that. */
static void touch(char *p, size_t n)
{
#pragma omp parallel for schedule(static) if (n > PORTION / 2)
    for (size_t at = 0; at < n; at += PAGE)
        ((volatile char *)p)[at] = 0;
}

/* ---- the carrier ----------------------------------------------------------------------------- */

/* A rank waits at its ease for this word of rank 0, before what is long travels. */
static int say_begin(const lat_field *f, int rank) { return f->comm->send(f->comm, rank, "", 1); }

static int await_begin(const lat_field *f)
{
    char nothing;
    return f->comm->receive(f->comm, 0, &nothing, 1);
}

static int carry_out(belt *b, int rank)
{
    portion p = first_of(b->f, rank);
    do {
        const char *from = await(b, &p, true);
        if (!from || say_begin(b->f, rank)
            || b->f->comm->send(b->f->comm, rank, from, bytes_of(b->f, &p)))
            return -1;
        pass(b, &p, true);
    } while (next_of(b->f, &p));
    return 0;
}

static int carry_in(belt *b, int rank)
{
    portion p = first_of(b->f, rank);
    if (say_begin(b->f, rank))
        return -1;
    do {
        char *to = await(b, &p, false);
        if (!to || b->f->comm->receive(b->f->comm, rank, to, bytes_of(b->f, &p)))
            return -1;
        pass(b, &p, false);
    } while (next_of(b->f, &p));
    return 0;
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
    if (b->shared.at)
        return 0;
    b->carry = carry;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int bad = pthread_create(&b->carrier, NULL, carry_all, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad ? lat_fail("no thread for what goes between ranks: %s", strerror(bad)) : 0;
}

/* Has all arrived? */
static int finish(belt *b)
{
    if (b->shared.at)
        return 0;
    pthread_join(b->carrier, NULL);
    return atomic_load(&b->slots[0].turn) == STOPPED ? -1 : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int put_on(belt *b, lat_stream_reader *r, int rank)
{
    portion p = first_of(b->f, rank);
    do {
        char *to = await(b, &p, false);
        if (!to || lat_stream_get_stored(r, to, p.count))
            return -1;
        pass(b, &p, false);
    } while (next_of(b->f, &p));
    return 0;
}

/* Rank 0: its own slices first, then those of the others. */
static int deal_out(belt *b, lat_stream_reader *r)
{
    int rc = lat_stream_get_stored(r, b->f->data, lat_field_slab(b->f).count);
    if (rc || (b->shared.at && lat_shared_reserve(&b->shared)) || start(b, carry_out))
        return -1;
    for (int rank = 1; rank < b->f->comm->size && rc == 0; rank++)
        rc = put_on(b, r, rank);
    if (rc)
        stop(b);
    return finish(b) || rc ? -1 : 0;
}

/* Rows that the stream does not have. */
static void complete(const lat_field *f, char *from, int slices)
{
    if (lat_reduced(&f->head))
        lat_complete_all(&f->head, from, (size_t)slices * lat_slice_matrices(&f->head), 0, NULL);
}

static int take_one(const belt *b, const portion *p)
{
    const lat_field *f = b->f;
    if (b->shared.at) {
        const char *from = await(b, p, true);
        if (!from)
            return lat_fail(LAT_ANOTHER_FAILED);
        lat_memcpy(place(f, p), from, bytes_of(f, p));
        pass(b, p, true);
        return 0;
    }
    if (await_begin(f))
        return -1;
    touch(place(f, p), bytes_of(f, p));
    return f->comm->receive(f->comm, 0, place(f, p), bytes_of(f, p));
}

static int take_in(const belt *b)
{
    portion p = first_of(b->f, b->f->comm->rank);
    int rc;
    do
        if ((rc = take_one(b, &p)) == 0)
            complete(b->f, place(b->f, &p), p.count);
    while (rc == 0 && next_of(b->f, &p));
    return rc;
}

int lat_ranks_read(lat_input *in, lat_field *f, double *largest)
{
    struct {
        double largest;
        char crc[sizeof f->head.read_crc];
    } found = {0, ""};
    belt b;
    if (lat_field_alloc(f, lat_comm_world)
        || make(&b, f, false)) /* a header may promise what never arrives */
        return -1;
    int rc;
    if (f->comm->rank == 0) {
        lat_stream_reader *r = lat_stream_begin(in, &f->head);
        rc = r ? deal_out(&b, r) : -1;
        if (rc == 0)
            complete(f, f->data, lat_field_slab(f).count);
        found.largest = rc ? 0 : lat_stream_largest(r);
        if (lat_stream_end(r, rc ? NULL : &f->head))
            rc = -1;
        memcpy(found.crc, f->head.read_crc, sizeof found.crc);
    } else {
        rc = take_in(&b);
    }
    take_apart(&b);
    if (rc || f->comm->broadcast(f->comm, &found, sizeof found, 0))
        return -1;
    memcpy(f->head.read_crc, found.crc, sizeof found.crc);
    *largest = found.largest;
    return lat_field_exchange(f);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Also after a failure to write all that is sent is taken: *rc. */
static int take_off(belt *b, lat_stream_writer *w, int rank, int *rc)
{
    portion p = first_of(b->f, rank);
    do {
        const char *from = await(b, &p, true);
        if (!from)
            return -1;
        if (*rc == 0)
            *rc = lat_stream_put(w, from, p.count);
        pass(b, &p, true);
    } while (next_of(b->f, &p));
    return 0;
}

/* Rank 0. The first portions of the others come while it writes its own slices. */
static int collect(belt *b, lat_stream_writer *w)
{
    if (start(b, carry_in))
        exit(lat_report(LAT_FAILED)); /* the others wait for what will not come */
    int rc = w ? lat_stream_put(w, b->f->data, lat_field_slab(b->f).count) : -1;
    for (int rank = 1; rank < b->f->comm->size; rank++)
        if (take_off(b, w, rank, &rc)) {
            rc = -1;
            break;
        }
    return finish(b) ? -1 : rc;
}

static int give_one(const belt *b, const portion *p)
{
    const lat_field *f = b->f;
    if (!b->shared.at)
        return f->comm->send(f->comm, 0, place(f, p), bytes_of(f, p));
    char *to = await(b, p, false);
    if (!to)
        return lat_fail(LAT_ANOTHER_FAILED);
    lat_memcpy(to, place(f, p), bytes_of(f, p));
    pass(b, p, false);
    return 0;
}

static int hand_in(const belt *b)
{
    portion p = first_of(b->f, b->f->comm->rank);
    int rc = b->shared.at ? 0 : await_begin(b->f);
    do
        rc = rc ? rc : give_one(b, &p);
    while (rc == 0 && next_of(b->f, &p));
    return rc;
}

int lat_ranks_write(lat_output *out, const lat_field *f, int store)
{
    belt b;
    int rc = 0;
    if (make(&b, f, true))
        return -1;
    if (f->comm->rank == 0) {
        lat_stream_writer *w = lat_stream_open(out, &f->head, store);
        rc = collect(&b, w);
        if (rc == 0)
            rc = lat_stream_close(w);
        else
            lat_stream_give_up(w);
    } else {
        rc = hand_in(&b);
    }
    take_apart(&b);
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
    size_t bytes = comm->rank == 0 ? sizeof *head + put_lines(&head->info, NULL)
                                         + put_lines(&head->history, NULL)
                                   : 0;
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
        rc = take_lines(&head->info, info, &lines) || take_lines(&head->history, history, &lines)
                 ? -1
                 : 0;
    }
    free(room);
    return rc;
}
