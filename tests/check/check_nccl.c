/* SPDX-License-Identifier: BSD-3-Clause */
/* check_nccl.c: a library of NCCL that is not there or not right is a reason, the same on all
 * ranks; exchanges bring what was sent, in any order of lists, also between two ranks that are each
 * other's neighbours on both sides. By faults/fake_nccl.c: ranks are processes, and memory is the
 * host's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "base/error.h"
#include "comm/nccl.h"

enum { MOST = 5, SHARED = 8192, LENGTH = 300, TIMEOUT = 60 /* s */ };

/* ---- ranks ----------------------------------------------------------------------------------- */

static struct meeting {
    pthread_barrier_t barrier;
    char data[MOST][SHARED];
} * shared;

static int gather(const lat_comm *comm, const void *mine, size_t bytes, void *all)
{
    if (bytes > SHARED)
        return lat_fail("check_nccl: %zu bytes of a rank", bytes);
    memcpy(shared->data[comm->rank], mine, bytes);
    pthread_barrier_wait(&shared->barrier);
    for (int r = 0; r < comm->size; r++)
        memcpy((char *)all + (size_t)r * bytes, shared->data[r], bytes);
    pthread_barrier_wait(&shared->barrier);
    return 0;
}

static int broadcast(const lat_comm *comm, void *data, size_t bytes, int root)
{
    if (bytes > SHARED)
        return lat_fail("check_nccl: %zu bytes of a rank", bytes);
    if (comm->rank == root)
        memcpy(shared->data[root], data, bytes);
    pthread_barrier_wait(&shared->barrier);
    memcpy(data, shared->data[root], bytes);
    pthread_barrier_wait(&shared->barrier);
    return 0;
}

/* what(comm) on `ranks` ranks, with LAT_NCCL in the environment of rank 0, LAT_FAKE_NCCL of all. */
static void on_ranks(int ranks, const char *file, const char *fault, void what(const lat_comm *))
{
    pthread_barrierattr_t a;
    pthread_barrierattr_init(&a);
    pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &a, (unsigned)ranks);
    fflush(stdout);
    for (int r = 0; r < ranks; r++) {
        if (fork())
            continue;
        lat_comm comm = lat_comm_self;
        comm.rank = r;
        comm.size = ranks;
        comm.gather = gather;
        comm.broadcast = broadcast;
        alarm(TIMEOUT);
        setenv("LAT_FAKE_NCCL", fault, 1);
        unsetenv("LAT_NCCL");
        if (r == 0 && *file)
            setenv("LAT_NCCL", file, 1);
        what(&comm);
        fflush(stdout);
        _exit(check_state.bad);
    }
    for (int r = 0; r < ranks; r++) {
        int status = -1;
        wait(&status);
        CHECK(status == 0, "%d ranks, %s %s: status %#x", ranks, file, fault, status);
    }
}

/* ---- reasons --------------------------------------------------------------------------------- */

static const char *expected;
static bool is_fault;
static char gpus[MOST][LAT_NCCL_GPU];

static void refused(const lat_comm *comm)
{
    lat_nccl *n;
    lat_nccl_reason why;
    const int rc = lat_nccl_open(comm, gpus[comm->rank], &n, &why);
    CHECK(rc == 0 && !n, "%d, expected 0", rc);
    CHECK(!strcmp(why.text, expected), "found '%s', expected '%s'", why.text, expected);
    CHECK(why.fault == is_fault, "%s: %d", why.text, why.fault);
    CHECK(!*lat_error(), "'%s' is kept", lat_error());
}

static void expect(int ranks, const char *file, const char *fault, bool fails, const char *text)
{
    expected = text;
    is_fault = fails;
    on_ranks(ranks, file, fault, refused);
}

static void agree(const lat_comm *comm)
{
    lat_nccl_reason why;
    CHECK(lat_nccl_agree(comm, 0, &why) == 1, "%s", why.text);
    if (comm->rank > 0)
        lat_fail("rank %d has no paper", comm->rank);
    CHECK(lat_nccl_agree(comm, comm->rank > 0 ? -1 : 0, &why) == 0, "agreed");
    CHECK(!strcmp(why.text, "rank 1 has no paper") && why.fault, "found '%s'", why.text);
    CHECK(!*lat_error(), "'%s' is kept", lat_error());
    lat_fail("no ink");
    CHECK(lat_nccl_agree(comm, -1, &why) == 0 && !why.fault, "%s", why.text);
}

static void check_reasons(const char *fake)
{
    for (int r = 0; r < MOST; r++)
        gpus[r][0] = (char)r;
    check_case("NCCL that is not there, or another library, is one sentence on all ranks");
    expect(3, "no", "", false, "LAT_NCCL=no");
    expect(3, "/no/libnccl.so.2", "", true,
           "/no/libnccl.so.2: cannot open shared object file: No such file or directory");
    expect(2, "libm.so.6", "", true,
           "libm.so.6: expected NCCL, found a library without ncclGetVersion");
    check_case("a rank that cannot join keeps all from it");
    expect(3, fake, "refuses", true, "NCCL 2.28.7: ncclCommInitRank: a system error");
    check_case("ranks that share a GPU do without, whatever library LAT_NCCL names");
    gpus[2][0] = gpus[1][0];
    expect(4, fake, "alone", false, "ranks 1 and 2 share a GPU");
    check_case("ranks agree, or have the sentence of the lowest that has failed");
    on_ranks(3, "", "", agree);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static unsigned long state;

static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % n;
}

/* The message with a tag from one rank to another in a round: its length, and its bytes. */
static size_t length(int round, int from, int to, int tag)
{
    state = (unsigned long)(((round * 64 + from) * 64 + to) * 128 + tag);
    return draw(3) ? draw(LENGTH) : 0;
}

static char byte(int from, int to, int tag, size_t i)
{
    return (char)(from * 31 + to * 17 + tag * 7 + (int)i);
}

/* n numbers in any order, another one on each rank. */
static void shuffle(int *v, int n, int seed)
{
    state = (unsigned long)seed;
    for (int i = 0; i < n; i++)
        v[i] = i;
    for (int i = n; i-- > 1;) {
        const int k = (int)draw((unsigned)i + 1), kept = v[i];
        v[i] = v[k];
        v[k] = kept;
    }
}

/* Of each other rank, and this one, 3 messages at most: their tags are 9 apart. */
static void exchange_round(const lat_comm *comm, lat_nccl *n, int round)
{
    static char out[LAT_MESSAGES][LENGTH], in[LAT_MESSAGES][LENGTH];
    const int me = comm->rank, count = 3 * comm->size;
    int order[LAT_MESSAGES], other[LAT_MESSAGES], wrong = 0;
    lat_message m[LAT_MESSAGES];
    shuffle(order, count, 100 * round + me);
    shuffle(other, count, 100 * round + me + 50);
    memset(in, -1, sizeof in);
    for (int k = 0; k < count; k++) {
        const int to = order[k] / 3, from = other[k] / 3, out_tag = 9 * (order[k] % 3),
                  in_tag = 9 * (other[k] % 3);
        m[k] = (lat_message){to,
                             from,
                             out_tag,
                             in_tag,
                             out[k],
                             in[k],
                             length(round, me, to, out_tag),
                             length(round, from, me, in_tag)};
        for (size_t i = 0; i < m[k].out_bytes; i++)
            out[k][i] = byte(me, to, out_tag, i);
    }
    CHECK(lat_nccl_exchange(n, NULL, count, m) == 0, "%s", lat_error());
    for (int k = 0; k < count; k++)
        for (size_t i = 0; i < LENGTH; i++)
            wrong += in[k][i] != (i < m[k].in_bytes ? byte(m[k].from, me, m[k].in_tag, i) : -1);
    CHECK(wrong == 0, "round %d, rank %d of %d: %d bytes", round, me, comm->size, wrong);
}

static lat_nccl *open_all(const lat_comm *comm)
{
    lat_nccl *n = NULL;
    lat_nccl_reason why = {"", false};
    CHECK(lat_nccl_open(comm, gpus[0], &n, &why) == 1, "%s", why.text);
    return n;
}

static void exchange(const lat_comm *comm)
{
    lat_nccl *const n = open_all(comm);
    for (int round = 0; n && round < 30; round++)
        exchange_round(comm, n, round);
    lat_nccl_close(n);
}

/* Ranks gather, and exchange in between; all is in the host's memory. */
static void gather_all(const lat_comm *comm)
{
    lat_nccl *const n = open_all(comm);
    char all[MOST][LENGTH];
    for (int round = 1; n && round < 20; round++) {
        const size_t bytes = (size_t)length(round, 0, 0, 0) + 1;
        char *const v = all[0];
        int wrong = 0;
        memset(all, -1, sizeof all);
        for (size_t i = 0; i < bytes; i++)
            v[(size_t)comm->rank * bytes + i] = byte(comm->rank, round, 0, i);
        CHECK(lat_nccl_gather(n, NULL, all, bytes) == 0, "%s", lat_error());
        for (int r = 0; r < comm->size; r++)
            for (size_t i = 0; i < bytes; i++)
                wrong += v[(size_t)r * bytes + i] != byte(r, round, 0, i);
        for (size_t i = (size_t)comm->size * bytes; i < sizeof all; i++)
            wrong += v[i] != -1;
        CHECK(wrong == 0, "round %d, rank %d of %d: %d bytes", round, comm->rank, comm->size,
              wrong);
        exchange_round(comm, n, round);
    }
    lat_nccl_close(n);
}

static void exchange_wrong(const lat_comm *comm)
{
    lat_nccl *const n = open_all(comm);
    char out[8] = "1234567", in[16] = "";
    /* The second rank awaits other lengths than the first one sends. */
    const int other = 1 - comm->rank;
    const lat_message m = {other, other, 0, 0, out, in, 8, comm->rank ? 16 : 8};
    const int rc = n ? lat_nccl_exchange(n, NULL, 1, &m) : 0;
    CHECK(comm->rank ? rc < 0 && strstr(lat_error(), "ncclGroupEnd: calls do not match") : rc == 0,
          "%d '%s'", rc, lat_error());
    lat_nccl_abort(n);
}

/* The first rank gives 8 bytes to all; the second one other lengths, or it exchanges. */
static void gather_wrong(const lat_comm *comm)
{
    for (int exchanges = 0; exchanges < 2; exchanges++) {
        lat_nccl *const n = open_all(comm);
        char all[32] = "", out[8] = "1234567", in[8];
        const lat_message m = {0, 0, 0, 0, out, in, 8, 8};
        const bool second = comm->rank == 1;
        const int rc = !n                    ? 0
                       : second && exchanges ? lat_nccl_exchange(n, NULL, 1, &m)
                                             : lat_nccl_gather(n, NULL, all, second ? 16 : 8);
        CHECK(rc < 0 && strstr(lat_error(), "calls do not match"), "%d '%s'", rc, lat_error());
        lat_error_clear();
        lat_nccl_abort(n);
    }
}

static void gather_broken(const lat_comm *comm)
{
    lat_nccl *const n = open_all(comm);
    int done = 0;
    for (char all[2]; n && !lat_nccl_gather(n, NULL, all, 1);)
        done++;
    CHECK(done == 4 && !strcmp(lat_error(), "NCCL 2.28.7: an exchange: a remote rank has gone"),
          "%d times: '%s'", done, lat_error());
    lat_nccl_abort(n);
}

static void exchange_broken(const lat_comm *comm)
{
    lat_nccl *const n = open_all(comm);
    int done = 0;
    for (const lat_message m = {comm->rank, comm->rank, 0, 0, "x", &(char){0}, 1, 1}; n; done++)
        if (lat_nccl_exchange(n, NULL, 1, &m))
            break;
    CHECK(done == 4 && !strcmp(lat_error(), "NCCL 2.28.7: an exchange: a remote rank has gone"),
          "%d exchanges: '%s'", done, lat_error());
    lat_nccl_abort(n);
}

static void check_exchanges(const char *fake)
{
    check_case("exchanges bring what was sent, whatever the order of the lists");
    for (int ranks = 1; ranks <= MOST; ranks++)
        on_ranks(ranks, fake, "", exchange);
    check_case("ranks gather what each of them has");
    for (int ranks = 1; ranks <= MOST; ranks++)
        on_ranks(ranks, fake, "", gather_all);
    check_case("lengths that do not match, and a network that breaks, are sentences");
    on_ranks(2, fake, "", exchange_wrong);
    on_ranks(2, fake, "breaks", exchange_broken);
    on_ranks(2, fake, "", gather_wrong);
    on_ranks(2, fake, "breaks", gather_broken);
}

int main(LAT_UNUSED int argc, char **argv)
{
    char fake[4096];
    const char *const end = strrchr(argv[0], '/');
    snprintf(fake, sizeof fake, "%.*s../faults/fake_nccl.so", end ? (int)(end + 1 - argv[0]) : 0,
             argv[0]);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    check_reasons(fake);
    check_exchanges(fake);
    return check_done();
}
