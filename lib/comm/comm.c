/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c: the communicator of a single rank, and functions for any communicator. */
#include "comm.h"

#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "report.h"

/* ---- a single rank --------------------------------------------------------------------------- */

static int no_operation(const lat_comm *comm, double *v, int n)
{
    (void)comm, (void)v, (void)n;
    return 0;
}

static int broadcast(const lat_comm *comm, void *buf, size_t bytes, int root)
{
    (void)comm, (void)buf, (void)bytes, (void)root;
    return 0;
}

static int gather(LAT_UNUSED const lat_comm *comm, const void *mine, size_t bytes, void *all)
{
    if (bytes)
        memmove(all, mine, bytes);
    return 0;
}

static int no_other_rank(void) { return lat_fail("a single rank has no other to send to"); }

static int send(const lat_comm *comm, int to, const void *buf, size_t bytes)
{
    (void)comm, (void)to, (void)buf, (void)bytes;
    return no_other_rank();
}

static int receive(const lat_comm *comm, int from, void *buf, size_t bytes)
{
    (void)comm, (void)from, (void)buf, (void)bytes;
    return no_other_rank();
}

static int begin(LAT_UNUSED const lat_comm *comm, int n, const lat_message *m)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            if (m[i].out_tag != m[k].in_tag)
                continue;
            if (m[i].out_bytes != m[k].in_bytes)
                return lat_fail("a single rank sends itself other lengths than it receives");
            memmove(m[k].in, m[i].out, m[i].out_bytes);
        }
    return 0;
}

static int done(LAT_UNUSED const lat_comm *comm) { return 0; }

const lat_comm lat_comm_self = {"self",       0,         1,      0,    1,       0,     no_operation,
                                no_operation, broadcast, gather, send, receive, begin, done,
                                done};
bool lat_comm_external;
int lat_comm_grid[4];
void (*lat_comm_report_temporary)(const char *path);
void (*lat_comm_report_checkpoint)(const char *path);
void (*lat_comm_report_watch)(void);
int (*lat_comm_stop_signal)(void);

/* ---- any communicator ------------------------------------------------------------------------ */

lat_slab lat_slab_of(const lat_comm *comm, int rank, int slices)
{
    const long first = (long)slices * rank / comm->size,
               next = (long)slices * (rank + 1) / comm->size;
    return (lat_slab){(int)first, (int)(next - first)};
}

lat_message lat_slab_message(const lat_comm *comm, int side, const void *out, void *in,
                             size_t out_bytes, size_t in_bytes)
{
    const int rank = (comm->rank + comm->size + (side == LAT_UP ? 1 : -1)) % comm->size;
    return (lat_message){rank, rank, side, 1 - side, out, in, out_bytes, in_bytes};
}

int lat_begin_slices(const lat_comm *comm, void *slices, int count, size_t slice, size_t bytes)
{
    char *const own = slices, *const above = own + (size_t)count * slice;
    const lat_message m[] = {lat_slab_message(comm, LAT_DOWN, own, above + slice, bytes, bytes),
                             lat_slab_message(comm, LAT_UP, above - slice, above, bytes, bytes)};
    return comm->begin(comm, LAT_SIDES, m);
}

int lat_agree(const lat_comm *comm, int rc)
{
    double bad = rc < 0;
    if (comm->max(comm, &bad, 1))
        return -1;
    if (bad > 0 && rc >= 0)
        return lat_fail(LAT_ANOTHER_FAILED);
    return bad > 0 ? -1 : 0;
}

int lat_agree_on_first(const lat_comm *comm, int rc)
{
    char sentence[LAT_SENTENCE];
    /* The largest is the first rank's that knows why. */
    const int late = strcmp(lat_error(), LAT_ANOTHER_FAILED) ? 0 : comm->size;
    double first = rc ? -(comm->rank + late) : -2 * comm->size;
    if (comm->max(comm, &first, 1))
        return -1;
    if (first == -2 * comm->size)
        return 0;
    snprintf(sentence, sizeof sentence, "%s", lat_error());
    if (comm->broadcast(comm, sentence, sizeof sentence, (int)-first % comm->size))
        return -1;
    if (strcmp(lat_error(), sentence) == 0) /* its exit code stays, too */
        return -1;
    lat_error_clear();
    return lat_fail("%s", sentence);
}

int lat_agree_all(const lat_comm *comm, bool mine, bool *all)
{
    double none = !mine;
    const int rc = comm->max(comm, &none, 1);
    *all = none == 0;
    return rc;
}
