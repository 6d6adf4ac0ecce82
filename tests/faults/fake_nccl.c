/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_nccl.c: what lat calls of NCCL, for ranks of one host that may share a GPU or have none. Its
 * calls wait until the bytes are there, and fail where sends and receives do not match: in number,
 * order, length, kind, or in the group that they belong to.
 *
 * A message is a file in a folder of LAT_FAKE_FOLDER, or of /tmp. In a process that has begun with
 * CUDA memory is the device's, otherwise the host's.
 *
 *   LAT_FAKE_NCCL=wrong     the last rank receives one bit too many in each message
 *                 refuses   the last rank cannot join
 *                 alone     ranks may not share a GPU
 *                 breaks    from the fourth exchange on something is wrong with the network */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DONE, CUDA_ERROR, SYSTEM_ERROR, INTERNAL, BAD_ARGUMENT, BAD_USAGE, REMOTE_ERROR };
enum { RANKS = 16, CALLS = 64, TIMEOUT = 20 /* s */, FOLDER = 128, PATH = FOLDER + 64 };

typedef struct unique_id {
    char folder[FOLDER];
} unique_id;

typedef struct communicator {
    unique_id id;
    int rank, ranks;
    long sent[RANKS], received[RANKS], group;
} communicator;

typedef struct call {
    bool send, gathers;
    char *p;
    size_t bytes;
    int other;
    communicator *of;
    void *stream;
} call;

typedef struct head {
    size_t bytes;
    long group;
    bool gathers;
} head;

static struct {
    int depth, n;
    call call[CALLS];
} group;

static bool asked(const char *what)
{
    const char *fault = getenv("LAT_FAKE_NCCL");
    return fault && !strcmp(fault, what);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *function(const char *name)
{
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver ? dlsym(driver, name) : NULL;
}

static int wait_for(void *stream)
{
    int (*const synchronize)(void *) = (int (*)(void *))function("cuStreamSynchronize");
    return synchronize && synchronize(stream) ? CUDA_ERROR : DONE;
}

/* From the device to the host, or back; in the order of the stream. */
static int copy(bool to_host, void *to, const void *from, size_t bytes, void *stream)
{
    const char *const name = to_host ? "cuMemcpyDtoHAsync_v2" : "cuMemcpyHtoDAsync_v2";
    int (*const move)(void *, const void *, size_t,
                      void *) = (int (*)(void *, const void *, size_t, void *))function(name);
    if (!move) {
        memcpy(to, from, bytes);
        return DONE;
    }
    return move(to, from, bytes, stream) ? CUDA_ERROR : wait_for(stream);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void path_of(const communicator *c, int from, int to, long number, char *path)
{
    snprintf(path, PATH, "%s/%d-%d-%ld", c->id.folder, from, to, number);
}

static int post(communicator *c, int to, bool gathers, const void *data, size_t bytes)
{
    char path[PATH], part[PATH + 8];
    const head h = {bytes, c->group, gathers};
    path_of(c, c->rank, to, c->sent[to]++, path);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *const f = fopen(part, "w");
    const bool good = f && fwrite(&h, sizeof h, 1, f) == 1 && fwrite(data, 1, bytes, f) == bytes;
    if ((f && fclose(f)) || !good || rename(part, path))
        return SYSTEM_ERROR;
    return DONE;
}

static FILE *await(const char *path)
{
    const time_t begin = time(NULL);
    FILE *f;
    while (!(f = fopen(path, "r")) && time(NULL) - begin < TIMEOUT)
        usleep(50);
    return f;
}

static int take(communicator *c, int from, bool gathers, void *data, size_t bytes)
{
    char path[PATH];
    head h;
    path_of(c, from, c->rank, c->received[from]++, path);
    FILE *const f = await(path);
    if (!f)
        return REMOTE_ERROR;
    int rc = SYSTEM_ERROR;
    if (fread(&h, sizeof h, 1, f) == 1)
        rc = h.bytes != bytes || h.group != c->group || h.gathers != gathers ? BAD_USAGE
             : fread(data, 1, bytes, f) != bytes                             ? SYSTEM_ERROR
                                                                             : DONE;
    fclose(f);
    unlink(path);
    return rc;
}

static int run(const call *q)
{
    char *const data = malloc(q->bytes);
    int rc = data ? DONE : SYSTEM_ERROR;
    if (q->send) {
        rc = rc ? rc : copy(true, data, q->p, q->bytes, q->stream);
        rc = rc ? rc : post(q->of, q->other, q->gathers, data, q->bytes);
    } else {
        rc = rc ? rc : take(q->of, q->other, q->gathers, data, q->bytes);
        if (rc == DONE && asked("wrong") && q->of->rank == q->of->ranks - 1)
            data[q->bytes / 2] ^= 4;
        rc = rc ? rc : copy(false, q->p, data, q->bytes, q->stream);
    }
    free(data);
    return rc;
}

/* ---- what lat calls -------------------------------------------------------------------------- */

bool lat_nccl_shared(void) { return !asked("alone"); }

int ncclGetVersion(int *number)
{
    *number = 22807;
    return DONE;
}

const char *ncclGetErrorString(int result)
{
    static const char *const text[] = {
        "no error",       "an error of CUDA",   "a system error",        "an internal error",
        "a bad argument", "calls do not match", "a remote rank has gone"};
    return result >= DONE && result <= REMOTE_ERROR ? text[result] : "unknown";
}

int ncclGetUniqueId(unique_id *id)
{
    const char *const folder = getenv("LAT_FAKE_FOLDER");
    const int n = snprintf(id->folder, FOLDER, "%s/fake_nccl.XXXXXX", folder ? folder : "/tmp");
    return n < FOLDER && mkdtemp(id->folder) ? DONE : SYSTEM_ERROR;
}

/* A rank that has joined keeps a file in the folder: the last one to leave removes it. */
static void leave(communicator *c)
{
    char path[PATH];
    path_of(c, c->rank, c->rank, -1, path);
    unlink(path);
    for (int r = 0; r < c->ranks; r++)
        for (long k = c->received[r];; k++) {
            path_of(c, r, c->rank, k, path);
            if (unlink(path))
                break;
        }
    rmdir(c->id.folder);
    free(c);
}

/* Ranks meet, by messages without a byte: the next ones that there are. */
static int meet(communicator *c)
{
    int rc = DONE;
    for (int r = 0; r < c->ranks && rc == DONE; r++)
        rc = post(c, r, false, NULL, 0);
    for (int r = 0; r < c->ranks && rc == DONE; r++)
        rc = take(c, r, false, NULL, 0);
    return rc;
}

int ncclCommInitRank(void **all, int ranks, unique_id id, int rank)
{
    communicator *const c = calloc(1, sizeof *c);
    if (!c || ranks > RANKS)
        return SYSTEM_ERROR;
    c->id = id;
    c->rank = rank;
    c->ranks = ranks;
    char path[PATH];
    path_of(c, rank, rank, -1, path);
    const int file = open(path, O_CREAT | O_WRONLY, 0600);
    int rc = file < 0 || close(file) ? SYSTEM_ERROR : DONE;
    rc = rc ? rc : meet(c);
    if (rc == DONE && asked("refuses") && rank == ranks - 1)
        rc = SYSTEM_ERROR;
    if (rc)
        leave(c);
    else
        *all = c;
    return rc;
}

int ncclCommGetAsyncError(void *all, int *error)
{
    const communicator *const c = all;
    *error = asked("breaks") && c->group > 3 ? REMOTE_ERROR : DONE;
    return DONE;
}

int ncclCommAbort(void *all)
{
    leave(all);
    return DONE;
}

/* As NCCL's it waits for all ranks, and every message has been received. */
int ncclCommDestroy(void *all)
{
    communicator *const c = all;
    if (meet(c)) {
        fprintf(stderr, "fake nccl: rank %d ends, and not all ranks, or not all messages\n",
                c->rank);
        abort();
    }
    leave(c);
    return DONE;
}

int ncclGroupStart(void)
{
    if (group.depth++ == 0)
        group.n = 0;
    return DONE;
}

/* All sends first: nobody waits for a message that waits. */
int ncclGroupEnd(void)
{
    if (group.depth == 0)
        return BAD_USAGE;
    if (--group.depth > 0 || group.n == 0)
        return DONE;
    communicator *const c = group.call[0].of;
    c->group++;
    int rc = DONE;
    for (int receive = 0; receive < 2; receive++)
        for (int k = 0; k < group.n && rc == DONE; k++)
            if (group.call[k].send != receive)
                rc = run(group.call + k);
    return rc;
}

static int add(bool send, void *p, size_t count, int type, int other, void *all, void *stream)
{
    communicator *const c = all;
    if (type != 0 || !p || count == 0 || !c || other < 0 || other >= c->ranks)
        return BAD_ARGUMENT;
    if (group.depth == 0 || group.n == CALLS)
        return BAD_USAGE;
    group.call[group.n++] = (call){send, false, p, count, other, c, stream};
    return DONE;
}

int ncclSend(const void *p, size_t count, int type, int to, void *all, void *stream)
{
    return add(true, (void *)p, count, type, to, all, stream);
}

int ncclRecv(void *p, size_t count, int type, int from, void *all, void *stream)
{
    return add(false, p, count, type, from, all, stream);
}

/* All sends first, as in a group of its own. */
int ncclAllGather(const void *p, void *to, size_t count, int type, void *all, void *stream)
{
    communicator *const c = all;
    if (type != 0 || !p || !to || count == 0 || !c || group.depth > 0)
        return BAD_ARGUMENT;
    if (p != (char *)to + (size_t)c->rank * count)
        return BAD_USAGE; /* NCCL would copy it */
    c->group++;
    int rc = DONE;
    for (int receive = 0; receive < 2; receive++)
        for (int r = 0; r < c->ranks && rc == DONE; r++) {
            char *const at = receive ? (char *)to + (size_t)r * count : (char *)p;
            const call q = {!receive, true, at, count, r, c, stream};
            if (r != c->rank)
                rc = run(&q);
        }
    return rc;
}
