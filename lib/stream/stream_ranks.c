/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ranks.c: moves slices between rank 0, which has the stream, and the other ranks.
 *
 * Chunks of slices go through a bounded ring buffer with one producer and one consumer:
 *
 *   reading   rank 0 decodes blocks into an entry     -> the rank that owns the slices
 *   writing   the rank that owns the slices           -> rank 0 encodes blocks from the entry
 *
 * (or, where it can, each rank reads and writes the file itself: stream_beside.c).
 *
 * Where all ranks are on one host, the ring is in shared memory, and each rank copies its chunks
 * with all its threads. Otherwise the ring is in rank 0's memory, and a transfer thread of rank 0
 * is the other end: it sends each chunk, or receives it. It exists because MPI moves a long message
 * only while both ends call MPI: a message that was begun and left alone would wait. Meanwhile the
 * other ranks sleep, so rank 0 may use as many threads as all of them together. */
#include "stream_ranks_internal.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/async.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "comm/shared.h"
#include "lattice/slices.h"
#include "stream.h"
#include "stream_beside_internal.h"
#include "stream_reduced_internal.h"

#define CHUNK_BYTES ((size_t)8 << 20) /* at most, or one slice if that is larger */
#define ENTRIES 3
#define PAGE 4096

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Slices slice .. slice+count-1 of those that `rank` has. Slices of rank 0 are in no chunk. */
typedef struct chunk {
    int rank, slice, count;
    uint32_t number; /* of all chunks, in the order of the stream */
} chunk;

static int slices_of(const lat_field *f, int rank)
{
    return lat_slab_of(f->comm, rank, lat_slices(&f->head)).count;
}

static chunk first_chunk(const lat_field *f, int rank)
{
    const size_t most = CHUNK_BYTES / lat_slice_bytes(&f->head);
    chunk c = {0, 0, 0, 0};
    for (int r = 1; r <= rank; r++) {
        const int all = slices_of(f, r);
        c.number += r > 1 ? (uint32_t)((slices_of(f, r - 1) + c.count - 1) / c.count) : 0;
        c.count = most < 1 ? 1 : most < (size_t)all ? (int)most : all;
    }
    c.rank = rank;
    return c;
}

/* Makes *c the next chunk of its rank; false if there is none. */
static bool next_chunk(const lat_field *f, chunk *c)
{
    const int left = slices_of(f, c->rank) - c->slice - c->count;
    c->slice += c->count;
    c->count = left < c->count ? left : c->count;
    c->number++;
    return left > 0;
}

static size_t chunk_bytes(const lat_field *f, const chunk *c)
{
    return (size_t)c->count * lat_slice_bytes(&f->head);
}

/* On its own rank. */
static char *chunk_data(const lat_field *f, const chunk *c)
{
    return (char *)f->data + (size_t)c->slice * lat_slice_bytes(&f->head);
}

/* ---- the ring buffer ------------------------------------------------------------------------- */

/* Chunk number c uses entry c % ENTRIES. With k = c / ENTRIES, the entry's sequence number is 2 k
 * while the producer may fill it, then 2 k + 1 while the consumer may empty it, then 2 k + 2. */
typedef struct entry {
    _Alignas(64) _Atomic uint32_t sequence;
} entry;
#define ABORTED UINT32_MAX /* producer or consumer has failed: the other one waits no longer */

typedef struct ring {
    const lat_field *f;
    size_t chunk_bytes; /* of the largest chunk */
    lat_shared shared;  /* .at is NULL where ranks have no memory in common */
    entry *entries;     /* one page, then ENTRIES chunks; NULL where this rank does not see them */
    lat_async async;    /* the transfer thread */
    int (*transfer)(struct ring *r, int rank); /* what it does for each other rank */
    int threads;                               /* that this rank had before */
} ring;

/* `needed`: memory is allocated at once, not when it is first touched. The same return code on all
 * ranks. ring_free must follow a success. */
static int ring_init(ring *r, const lat_field *f, bool needed)
{
    *r = (ring){.f = f};
    for (int rank = 1; rank < f->comm->size; rank++) {
        const chunk c = first_chunk(f, rank);
        r->chunk_bytes = chunk_bytes(f, &c) > r->chunk_bytes ? chunk_bytes(f, &c) : r->chunk_bytes;
    }
    const size_t bytes = PAGE + ENTRIES * r->chunk_bytes;
    if (lat_shared_alloc(f->comm, bytes, &r->shared))
        return -1;
    r->entries = r->shared.at;
    if (!r->entries && f->comm->rank == 0
        && (r->entries = lat_alloc(bytes, 1, "slices of other ranks")))
        memset(r->entries, 0, PAGE);
    const bool bad = f->comm->rank == 0
                     && (!r->entries || (r->shared.at && needed && lat_shared_reserve(&r->shared)));
    r->threads = lat_threads_widen(r->shared.at && f->comm->rank == 0 ? f->comm->size : 1);
    return lat_agree(f->comm, bad ? -1 : 0);
}

static void ring_free(ring *r)
{
    lat_threads_set(r->threads);
    if (!r->shared.at)
        free(r->entries);
    lat_shared_free(&r->shared);
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, (uint32_t *)word, operation, value, NULL, NULL, 0);
}

static uint32_t sequence_of(const chunk *c, bool full) { return 2 * (c->number / ENTRIES) + full; }

/* Waits until the chunk's entry is full (the consumer), or empty (the producer). Returns the
 * entry's memory, or NULL if the ring was aborted. */
static char *ring_wait(const ring *r, const chunk *c, bool full)
{
    entry *e = &r->entries[c->number % ENTRIES];
    for (uint32_t now; (now = atomic_load(&e->sequence)) != sequence_of(c, full);
         futex(&e->sequence, FUTEX_WAIT, now))
        if (now == ABORTED)
            return NULL;
    return (char *)r->entries + PAGE + c->number % ENTRIES * r->chunk_bytes;
}

/* Gives an entry, which was full or empty, to the other side. */
static void ring_advance(const ring *r, const chunk *c, bool full)
{
    entry *e = &r->entries[c->number % ENTRIES];
    uint32_t now = sequence_of(c, full);
    atomic_compare_exchange_strong(&e->sequence, &now, now + 1); /* unless it is ABORTED */
    futex(&e->sequence, FUTEX_WAKE, INT32_MAX);
}

static void ring_abort(const ring *r)
{
    for (int i = 0; i < ENTRIES; i++) {
        atomic_store(&r->entries[i].sequence, ABORTED);
        futex(&r->entries[i].sequence, FUTEX_WAKE, INT32_MAX);
    }
}

/* Touches the pages with all threads, before they are received into: one thread alone would spend
 * half its time on page faults. */
static void touch_pages(char *p, size_t n)
{
#pragma omp parallel for schedule(static) if (n > CHUNK_BYTES / 2)
    for (size_t at = 0; at < n; at += PAGE)
        ((volatile char *)p)[at] = 0;
}

/* ---- the transfer thread --------------------------------------------------------------------- */

/* A byte before the chunks of a rank: the rank sleeps until it comes, for waiting for a long
 * message would burn a processor. */
static int send_ready(const lat_field *f, int rank) { return f->comm->send(f->comm, rank, "", 1); }

static int wait_ready(const lat_field *f)
{
    char byte;
    return f->comm->receive(f->comm, 0, &byte, 1);
}

/* Consumes what rank 0 has read. */
static int send_chunks(ring *r, int rank)
{
    chunk c = first_chunk(r->f, rank);
    do {
        const char *from = ring_wait(r, &c, true);
        if (!from || send_ready(r->f, rank)
            || r->f->comm->send(r->f->comm, rank, from, chunk_bytes(r->f, &c)))
            return -1;
        ring_advance(r, &c, true);
    } while (next_chunk(r->f, &c));
    return 0;
}

/* Produces what rank 0 will write. */
static int receive_chunks(ring *r, int rank)
{
    chunk c = first_chunk(r->f, rank);
    if (send_ready(r->f, rank))
        return -1;
    do {
        char *to = ring_wait(r, &c, false);
        if (!to || r->f->comm->receive(r->f->comm, rank, to, chunk_bytes(r->f, &c)))
            return -1;
        ring_advance(r, &c, false);
    } while (next_chunk(r->f, &c));
    return 0;
}

static int transfer_all(void *ring_of_main)
{
    ring *r = ring_of_main;
    for (int rank = 1; rank < r->f->comm->size; rank++)
        if (r->transfer(r, rank)) {
            ring_abort(r);
            return -1;
        }
    return 0;
}

/* On rank 0. */
static int start_transfer(ring *r, int (*transfer)(ring *r, int rank))
{
    if (r->shared.at)
        return 0;
    r->transfer = transfer;
    return lat_async_start(&r->async, 1, transfer_all, r)
               ? lat_fail("no thread for transfers between ranks")
               : 0;
}

/* 0 if all chunks were sent or received. */
static int finish_transfer(ring *r) { return lat_async_wait(&r->async); }

/* ---- reading --------------------------------------------------------------------------------- */

/* Rank 0 is the producer, for the slices of `rank`. */
static int produce(ring *r, lat_next_slices *next, void *context, int rank)
{
    chunk c = first_chunk(r->f, rank);
    do {
        char *to = ring_wait(r, &c, false);
        if (!to || next(context, to, c.count))
            return -1;
        ring_advance(r, &c, false);
    } while (next_chunk(r->f, &c));
    return 0;
}

/* Rank 0: its own slices, then those of the others. The ring's memory is allocated after the first:
 * a header may claim slices that never arrive. */
static int produce_all(ring *r, lat_next_slices *next, void *context)
{
    int rc = next(context, r->f->data, lat_field_slab(r->f).count);
    if (rc || (r->shared.at && lat_shared_reserve(&r->shared)) || start_transfer(r, send_chunks))
        return -1;
    for (int rank = 1; rank < r->f->comm->size && rc == 0; rank++)
        rc = produce(r, next, context, rank);
    if (rc)
        ring_abort(r);
    return finish_transfer(r) || rc ? -1 : 0;
}

/* Each rank computes the rows that its own slices lack. */
static void complete(const lat_field *f, char *slices, int count)
{
    if (lat_reduced(&f->head))
        lat_complete_all(&f->head, slices, (size_t)count * lat_slice_matrices(&f->head), 0, NULL);
}

/* Another rank is the consumer: from shared memory, or by a message of the transfer thread. */
static int consume_chunk(const ring *r, const chunk *c)
{
    const lat_field *f = r->f;
    if (r->shared.at) {
        const char *from = ring_wait(r, c, true);
        if (!from)
            return lat_fail(LAT_ANOTHER_FAILED);
        lat_memcpy(chunk_data(f, c), from, chunk_bytes(f, c));
        ring_advance(r, c, true);
        return 0;
    }
    if (wait_ready(f))
        return -1;
    touch_pages(chunk_data(f, c), chunk_bytes(f, c));
    return f->comm->receive(f->comm, 0, chunk_data(f, c), chunk_bytes(f, c));
}

/* `reduced`: their rows are completed where the stream has fewer. */
static int consume_own_slices(const ring *r, bool reduced)
{
    chunk c = first_chunk(r->f, r->f->comm->rank);
    int rc;
    do
        if ((rc = consume_chunk(r, &c)) == 0 && reduced)
            complete(r->f, chunk_data(r->f, &c), c.count);
    while (rc == 0 && next_chunk(r->f, &c));
    return rc;
}

int lat_stream_share_slices(lat_field *f, lat_next_slices *next, void *context)
{
    ring r;
    if (ring_init(&r, f, false))
        return -1;
    const int rc = f->comm->rank == 0 ? produce_all(&r, next, context)
                                      : consume_own_slices(&r, false);
    ring_free(&r);
    return lat_agree(f->comm, rc) ? -1 : lat_field_exchange(f);
}

static int next_stored(void *reader, void *slices, int count)
{
    return lat_stream_get_stored(reader, slices, count);
}

/* Rank 0 reads, for all. */
static int read_for_all(lat_input *in, lat_field *f, double *largest)
{
    ring r;
    int rc;
    if (ring_init(&r, f, false))
        return -1;
    if (f->comm->rank == 0) {
        lat_stream_reader *reader = lat_stream_begin(in, &f->head);
        rc = reader ? produce_all(&r, next_stored, reader) : -1;
        if (rc == 0)
            complete(f, f->data, lat_field_slab(f).count);
        *largest = rc ? 0 : lat_stream_largest(reader);
        if (lat_stream_end(reader, rc ? NULL : &f->head))
            rc = -1;
    } else {
        rc = consume_own_slices(&r, true);
    }
    ring_free(&r);
    return rc;
}

/* Each rank reads its slices. */
static int read_beside(lat_input *in, lat_field *f, double *largest)
{
    if (lat_beside_read(in, f, largest))
        return -1;
    complete(f, f->data, lat_field_slab(f).count);
    return 0;
}

int lat_ranks_read(lat_input *in, lat_field *f, double *largest)
{
    struct {
        double largest;
        char crc[sizeof f->head.read_crc];
        bool natural;
    } found = {0, "", true};
    bool beside;
    if (lat_field_alloc(f, lat_input_comm(in)) || lat_beside_input(in, &f->head, &beside)
        || (beside ? read_beside : read_for_all)(in, f, &found.largest))
        return -1;
    if (f->comm->rank == 0) {
        memcpy(found.crc, f->head.read_crc, sizeof found.crc);
        found.natural = lat_order_natural(&lat_stream_last(in)->order);
    }
    if (f->comm->broadcast(f->comm, &found, sizeof found, 0))
        return -1;
    memcpy(f->head.read_crc, found.crc, sizeof found.crc);
    *largest = found.largest;
    return (!found.natural && lat_stream_natural_crc(f)) || lat_field_exchange(f) ? -1 : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Rank 0 is the consumer, for the slices of `rank`. After a failure to write, *rc, it still empties
 * the ring: the producers are not told. */
static int consume_into_stream(ring *r, lat_stream_writer *w, int rank, int *rc)
{
    chunk c = first_chunk(r->f, rank);
    do {
        const char *from = ring_wait(r, &c, true);
        if (!from)
            return -1;
        if (*rc == 0)
            *rc = lat_stream_put(w, from, c.count);
        ring_advance(r, &c, true);
    } while (next_chunk(r->f, &c));
    return 0;
}

/* Rank 0. While it writes its own slices, the first chunks of the others arrive. */
static int write_all_slices(ring *r, lat_stream_writer *w)
{
    if (start_transfer(r, receive_chunks))
        exit(lat_report(LAT_FAILED)); /* the others would wait for ever */
    int rc = w ? lat_stream_put(w, r->f->data, lat_field_slab(r->f).count) : -1;
    for (int rank = 1; rank < r->f->comm->size; rank++)
        if (consume_into_stream(r, w, rank, &rc)) {
            rc = -1;
            break;
        }
    return finish_transfer(r) ? -1 : rc;
}

/* Another rank is the producer: into shared memory, or by a message to the transfer thread. */
static int produce_chunk(const ring *r, const chunk *c)
{
    const lat_field *f = r->f;
    if (!r->shared.at)
        return f->comm->send(f->comm, 0, chunk_data(f, c), chunk_bytes(f, c));
    char *to = ring_wait(r, c, false);
    if (!to)
        return lat_fail(LAT_ANOTHER_FAILED);
    lat_memcpy(to, chunk_data(f, c), chunk_bytes(f, c));
    ring_advance(r, c, false);
    return 0;
}

static int produce_own_slices(const ring *r)
{
    chunk c = first_chunk(r->f, r->f->comm->rank);
    int rc = r->shared.at ? 0 : wait_ready(r->f);
    do
        rc = rc ? rc : produce_chunk(r, &c);
    while (rc == 0 && next_chunk(r->f, &c));
    return rc;
}

int lat_ranks_write(lat_output *out, const lat_field *f, int store)
{
    ring r;
    int rc = 0;
    bool beside;
    if (lat_beside_output(out, &f->head, store, &beside))
        return -1;
    if (beside)
        return lat_beside_write(out, f, store);
    if (ring_init(&r, f, true))
        return -1;
    if (f->comm->rank == 0) {
        lat_stream_writer *w = lat_stream_open(out, &f->head, store);
        rc = write_all_slices(&r, w);
        if (rc == 0)
            rc = lat_stream_close(w);
        else
            lat_stream_abort(w);
    } else {
        rc = produce_own_slices(&r);
    }
    ring_free(&r);
    return lat_agree(f->comm, rc);
}
