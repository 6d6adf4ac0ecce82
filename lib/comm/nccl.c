/* SPDX-License-Identifier: BSD-3-Clause */
/* nccl.c: NCCL by dlopen, the ranks that join, exchanges. */
#include "nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

static const char library[] = "libnccl.so.2";

/* ncclUniqueId: what ranks find each other by. */
typedef struct unique_id {
    char bytes[128];
} unique_id;

/* What is called of the library, without its prefix nccl: a communicator is `all`, a result an int
 * (0: done), a type of data an int (0: bytes). The same since 2.7, which brought Send. */
#define EACH_FUNCTION(F) \
    F(int, GetVersion, (int *number)) \
    F(int, GetUniqueId, (unique_id * id)) \
    F(int, CommInitRank, (void **all, int ranks, unique_id id, int rank)) \
    F(int, CommDestroy, (void *all)) \
    F(int, CommAbort, (void *all)) \
    F(int, CommGetAsyncError, (void *all, int *error)) \
    F(const char *, GetErrorString, (int result)) \
    F(int, GroupStart, (void)) \
    F(int, GroupEnd, (void)) \
    F(int, Send, (const void *p, size_t count, int type, int to, void *all, void *stream)) \
    F(int, Recv, (void *p, size_t count, int type, int from, void *all, void *stream)) \
    F(int, AllGather, (const void *p, void *to, size_t count, int type, void *all, void *stream))
enum { BYTES = 0 };

struct lat_nccl {
#define MEMBER(type, name, arguments) type(*name) arguments;
    EACH_FUNCTION(MEMBER)
    void *all;
    int rank;
    char version[16];
    bool shared; /* ranks may share a GPU: no NCCL says so, the tests' library does */
};

static int check(const lat_nccl *n, int result, const char *what)
{
    return result == 0 ? 0
                       : lat_fail("NCCL %s: %s: %s", n->version, what, n->GetErrorString(result));
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The library stays until the process ends: it has threads. */
static int load(lat_nccl *n, const char *file)
{
    int v = 0;
    setenv("NCCL_DEBUG_FILE", "/dev/stderr", 0); /* stdout is for data */
    void *const p = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!p)
        return lat_fail("%s", dlerror());
#define FIND(type, name, arguments) \
    if (!(*(void **)&n->name = dlsym(p, "nccl" #name))) \
        return lat_fail("%s: expected NCCL, found a library without nccl" #name, file);
    EACH_FUNCTION(FIND)
    bool (*shared)(void);
    *(void **)&shared = dlsym(p, "lat_nccl_shared");
    n->shared = shared && shared();
    snprintf(n->version, sizeof n->version, "?");
    if (check(n, n->GetVersion(&v), "ncclGetVersion"))
        return -1;
    snprintf(n->version, sizeof n->version, "%d.%d.%d", v / 10000 % 100, v / 100 % 100, v % 100);
    return 0;
}

int lat_nccl_agree(const lat_comm *comm, int rc, lat_nccl_reason *reason)
{
    const size_t size = sizeof reason->text;
    char *const all = lat_alloc((size_t)comm->size, size, "what ranks say of NCCL");
    int failed = 0;
    snprintf(reason->text, size, "%.*s", (int)size - 1, rc < 0 ? lat_error() : "");
    if (!all || comm->gather(comm, reason->text, size, all)) {
        free(all);
        return -1;
    }
    if (rc < 0)
        lat_error_clear();
    for (int r = comm->size; r-- > 0;) {
        const char *text = all + (size_t)r * size;
        failed += *text != 0;
        if (*text)
            snprintf(reason->text, size, "%.*s", (int)size - 1, text);
    }
    free(all);
    reason->fault = failed < comm->size;
    return failed == 0;
}

/* 1 if each rank has a GPU of its own. (NCCL would find two ranks with one, but their neighbours
 * would wait for ever.) */
static int apart(const lat_comm *comm, const char *gpu, lat_nccl_reason *reason)
{
    char *const all = lat_alloc((size_t)comm->size, LAT_NCCL_GPU, "the GPUs of ranks");
    int rc = all ? comm->gather(comm, gpu, LAT_NCCL_GPU, all) : -1;
    for (int a = 0; a < comm->size && rc == 0; a++)
        for (int b = 0; b < a && rc == 0; b++)
            if (!memcmp(all + a * LAT_NCCL_GPU, all + b * LAT_NCCL_GPU, LAT_NCCL_GPU)) {
                snprintf(reason->text, sizeof reason->text, "ranks %d and %d share a GPU", b, a);
                reason->fault = false;
                rc = 1;
            }
    free(all);
    return rc < 0 ? -1 : rc == 0;
}

/* 1 when all have joined. */
static int join(const lat_comm *comm, lat_nccl *n, lat_nccl_reason *reason)
{
    unique_id id = {{0}};
    const int first = comm->rank == 0 ? check(n, n->GetUniqueId(&id), "ncclGetUniqueId") : 0;
    int rc = lat_nccl_agree(comm, first, reason);
    if (rc != 1 || comm->broadcast(comm, &id, sizeof id, 0))
        return rc == 1 ? -1 : rc;
    const int mine = check(n, n->CommInitRank(&n->all, comm->size, id, comm->rank),
                           "ncclCommInitRank");
    if (mine)
        n->all = NULL;
    n->rank = comm->rank;
    return lat_nccl_agree(comm, mine, reason);
}

int lat_nccl_open(const lat_comm *comm, const char gpu[LAT_NCCL_GPU], lat_nccl **n,
                  lat_nccl_reason *reason)
{
    char file[PATH_MAX];
    const char *given = getenv("LAT_NCCL");
    *n = NULL;
    snprintf(file, sizeof file, "%s", given && *given ? given : library);
    if (comm->broadcast(comm, file, sizeof file, 0))
        return -1;
    const bool named = strcmp(file, library) != 0;
    *reason = (lat_nccl_reason){"LAT_NCCL=no", false};
    if (!strcmp(file, "no"))
        return 0;
    *n = lat_alloc_zero(1, sizeof **n, "NCCL");
    int rc = lat_nccl_agree(comm, *n ? load(*n, file) : -1, reason);
    reason->fault |= named;
    if (rc == 1 && !(*n)->shared)
        rc = apart(comm, gpu, reason);
    if (rc == 1) {
        rc = join(comm, *n, reason);
        reason->fault = true;
    }
    if (rc == 1)
        return 1;
    lat_nccl_abort(*n);
    *n = NULL;
    return rc;
}

/* CommDestroy waits for other ranks, which after a failure may not come. */
void lat_nccl_close(lat_nccl *n)
{
    if (n && n->all && !*lat_error())
        n->CommDestroy(n->all);
    free(n);
}

void lat_nccl_abort(lat_nccl *n)
{
    if (n && n->all)
        n->CommAbort(n->all);
    free(n);
}

/* ---- exchange -------------------------------------------------------------------------------- */

/* NCCL has no tags: between two ranks the first send meets the first receive. So both sides take
 * messages in the order of their tags. */
static void sort(const lat_message *m, int count, bool out, int *order)
{
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0; at--) {
            const lat_message *before = m + order[at - 1];
            if ((out ? before->out_tag : before->in_tag) <= (out ? m[i].out_tag : m[i].in_tag))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

/* Has all gone well that was begun before? */
static int check_before(const lat_nccl *n)
{
    int late = 0;
    return lat_rc(check(n, n->CommGetAsyncError(n->all, &late), "ncclCommGetAsyncError")
                  || check(n, late, "an exchange"));
}

int lat_nccl_exchange(lat_nccl *n, void *stream, int count, const lat_message *m)
{
    int out[LAT_MESSAGES], in[LAT_MESSAGES];
    if (count > LAT_MESSAGES)
        return lat_fail("NCCL: %d messages are too many to exchange at once", count);
    if (check_before(n) || check(n, n->GroupStart(), "ncclGroupStart"))
        return -1;
    sort(m, count, true, out);
    sort(m, count, false, in);
    int rc = 0;
    for (int i = 0; i < count && rc == 0; i++) {
        const lat_message *to = m + out[i], *from = m + in[i];
        if (to->out_bytes)
            rc = check(n, n->Send(to->out, to->out_bytes, BYTES, to->to, n->all, stream),
                       "ncclSend");
        if (from->in_bytes && rc == 0)
            rc = check(n, n->Recv(from->in, from->in_bytes, BYTES, from->from, n->all, stream),
                       "ncclRecv");
    }
    return check(n, n->GroupEnd(), "ncclGroupEnd") || rc ? -1 : 0;
}

int lat_nccl_gather(lat_nccl *n, void *stream, void *all, size_t bytes)
{
    const char *const mine = (const char *)all + (size_t)n->rank * bytes;
    return lat_rc(
        check_before(n)
        || check(n, n->AllGather(mine, all, bytes, BYTES, n->all, stream), "ncclAllGather"));
}
