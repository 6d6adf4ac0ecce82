/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ranks.c: portions of slices between rank 0, which has the stream, and the others. */
#include "stream_ranks.h"

#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "slices.h"
#include "stream.h"

#define PORTION ((size_t)16 << 20) /* bytes, if that is not less than a slice */

/* So many slices at once of those that are left. */
static int portion(const lat_field *f, int left)
{
    const size_t n = PORTION / lat_slice_bytes(&f->head);
    return n < 1 ? 1 : n < (size_t)left ? (int)n : left;
}

static char *place(const lat_field *f, int slice)
{
    return (char *)f->data + (size_t)slice * lat_slice_bytes(&f->head);
}

/* What rank 0 needs to hand a portion on; NULL on the others. The same return code on all ranks. */
static int room_for(const lat_field *f, char **room)
{
    *room = NULL;
    if (f->comm->rank == 0)
        *room = lat_alloc((size_t)portion(f, lat_slices(&f->head)), lat_slice_bytes(&f->head), "slices of other ranks");
    return lat_agree(f->comm, f->comm->rank == 0 && !*room ? -1 : 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Rank 0: its own slices first, then those of the others. */
static int deal_out(lat_stream_reader *r, const lat_field *f, char *room)
{
    if (lat_stream_get(r, f->data, lat_field_slab(f).count))
        return -1;
    for (int rank = 1; rank < f->comm->size; rank++)
        for (int left = lat_slab_of(f->comm, rank, lat_slices(&f->head)).count; left > 0;) {
            const int n = portion(f, left);
            if (lat_stream_get(r, room, n) || f->comm->send(f->comm, rank, room, (size_t)n * lat_slice_bytes(&f->head)))
                return -1;
            left -= n;
        }
    return 0;
}

static int take_in(const lat_field *f)
{
    const int count = lat_field_slab(f).count;
    for (int done = 0; done < count;) {
        const int n = portion(f, count - done);
        if (f->comm->receive(f->comm, 0, place(f, done), (size_t)n * lat_slice_bytes(&f->head)))
            return -1;
        done += n;
    }
    return 0;
}

int lat_ranks_read(lat_input *in, lat_field *f, double *largest)
{
    struct { double largest; char crc[sizeof f->head.read_crc]; } found = {0, ""};
    char *room = NULL;
    int rc = lat_field_alloc(f) || room_for(f, &room) ? -1 : 0;
    if (rc == 0 && f->comm->rank == 0) {
        lat_stream_reader *r = lat_stream_begin(in, &f->head);
        rc = r ? deal_out(r, f, room) : -1;
        found.largest = rc ? 0 : lat_stream_largest(r);
        if (lat_stream_end(r, rc ? NULL : &f->head))
            rc = -1;
        memcpy(found.crc, f->head.read_crc, sizeof found.crc);
    } else if (rc == 0) {
        rc = take_in(f);
    }
    free(room);
    if (rc || f->comm->broadcast(f->comm, &found, sizeof found, 0))
        return -1;
    memcpy(f->head.read_crc, found.crc, sizeof found.crc);
    *largest = found.largest;
    return lat_field_share(f);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Rank 0: also after a failure all that is sent is taken. */
static int collect(lat_stream_writer *w, const lat_field *f, char *room)
{
    int rc = w ? lat_stream_put(w, f->data, lat_field_slab(f).count) : -1;
    for (int rank = 1; rank < f->comm->size; rank++)
        for (int left = lat_slab_of(f->comm, rank, lat_slices(&f->head)).count; left > 0;) {
            const int n = portion(f, left);
            if (f->comm->receive(f->comm, rank, room, (size_t)n * lat_slice_bytes(&f->head)))
                return -1;
            if (rc == 0)
                rc = lat_stream_put(w, room, n);
            left -= n;
        }
    return rc;
}

static int hand_in(const lat_field *f)
{
    const int count = lat_field_slab(f).count;
    for (int done = 0; done < count;) {
        const int n = portion(f, count - done);
        if (f->comm->send(f->comm, 0, place(f, done), (size_t)n * lat_slice_bytes(&f->head)))
            return -1;
        done += n;
    }
    return 0;
}

int lat_ranks_write(lat_output *out, const lat_field *f, int store)
{
    char *room;
    int rc = 0;
    if (room_for(f, &room))
        return -1;
    if (f->comm->rank == 0) {
        lat_stream_writer *w = lat_stream_open(out, &f->head, store);
        rc = collect(w, f, room);
        if (rc == 0)
            rc = lat_stream_close(w);
        else
            lat_stream_give_up(w);
    } else {
        rc = hand_in(f);
    }
    free(room);
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
