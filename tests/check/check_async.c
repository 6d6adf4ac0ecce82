/* SPDX-License-Identifier: BSD-3-Clause */
/* check_async.c: what a function leaves that runs beside its caller: its result, its sentence, when
 * that is asked for and not before; it has its own number of threads, and no signals. */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "base/async.h"
#include "base/threads.h"
#include "check.h"

/* What the function is to do, and what it has seen. */
typedef struct work {
    int ask[2]; /* it waits for a byte from this pipe */
    int rc, threads;
    sigset_t blocked;
} work;

static int run(void *with)
{
    work *w = with;
    char byte;
    w->threads = lat_threads();
    pthread_sigmask(SIG_BLOCK, NULL, &w->blocked);
    if (read(w->ask[0], &byte, 1) != 1)
        return lat_fail("the pipe");
    return w->rc < 0 ? lat_fail("gone wrong") : w->rc;
}

static void begin(lat_async *a, work *w, int rc)
{
    w->rc = rc;
    CHECK(lat_async_start(a, 2, run, w) == 0, "no thread");
}

static void let_go(const work *w) { CHECK(write(w->ask[1], "", 1) == 1, "the pipe"); }

static void wait_until_over(const lat_async *a)
{
    for (int i = 0; i < 10000 && !lat_async_over(a); i++)
        usleep(1000);
    CHECK(lat_async_over(a), "not over");
}

static void check_result(work *w)
{
    lat_async a = {0};
    CHECK(lat_async_wait(&a) == 0, "nothing was started");
    begin(&a, w, 7);
    CHECK(!lat_async_over(&a), "over, before it could be");
    let_go(w);
    CHECK(lat_async_wait(&a) == 7 && lat_async_wait(&a) == 7 && lat_async_over(&a), "found %d",
          a.rc);
    CHECK(!*lat_error(), "%s", lat_error());
}

static void check_failure(work *w)
{
    lat_async a = {0};
    begin(&a, w, -1);
    let_go(w);
    wait_until_over(&a);
    CHECK(!*lat_error(), "said before it was asked for: %s", lat_error());
    CHECK(lat_async_wait(&a) == -1 && !strcmp(lat_error(), "gone wrong"), "'%s'", lat_error());
    lat_error_clear();

    begin(&a, w, -1);
    let_go(w);
    lat_fail("the first cause");
    CHECK(lat_async_wait(&a) == -1 && !strcmp(lat_error(), "the first cause"), "'%s'", lat_error());
    lat_error_clear();
}

static void check_forgotten(work *w)
{
    static lat_async a; /* it outlives this function */
    begin(&a, w, -1);
    let_go(w);
    lat_async_drop(&a);
    CHECK(lat_async_wait(&a) == 0 && !*lat_error(), "'%s'", lat_error());
    begin(&a, w, -1);
    lat_async_leave(&a);
    CHECK(!a.running && lat_async_wait(&a) == 0, "waited for what was left");
    let_go(w);
    wait_until_over(&a);
    CHECK(!*lat_error(), "'%s'", lat_error());
}

/* The main thread has the signals; a fault is the thread's own. */
static void check_thread(work *w)
{
    lat_async a = {0};
    const int before = lat_threads();
    sigset_t now;
    begin(&a, w, 0);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(!sigismember(&now, SIGTERM), "the caller lost a signal");
    let_go(w);
    lat_async_wait(&a);
    CHECK(sigismember(&w->blocked, SIGTERM) && sigismember(&w->blocked, SIGPIPE)
              && !sigismember(&w->blocked, SIGSEGV),
          "the signals of the thread");
#ifdef _OPENMP
    CHECK(w->threads == 2, "%d threads", w->threads);
#endif
    CHECK(lat_threads() == before, "%d threads of the caller", lat_threads());
}

int main(void)
{
    work w = {0};
    if (pipe(w.ask))
        return 1;
    check_case("the result is there when it is waited for, once and once more");
    check_result(&w);
    check_case("the sentence is taken over when it is waited for; the first cause stays");
    check_failure(&w);
    check_case("what is dropped or left says nothing");
    check_forgotten(&w);
    check_case("the thread has its own number of threads, and no signals but faults");
    check_thread(&w);
    return check_done();
}
