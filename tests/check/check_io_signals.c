/* SPDX-License-Identifier: BSD-3-Clause */
/* check_io_signals.c: signals and exit() remove the temporary files, and nothing else. */
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include "check_io.h"
#include "common/stop.h"

static void *killer(void *unused)
{
    raise(SIGTERM); /* to this thread */
    return unused;
}

static void check_signals(void)
{
    static const int deadly[] = {SIGINT,  SIGTERM, SIGHUP,  SIGPIPE,   SIGQUIT, SIGXCPU,
                                 SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGABRT,
                                 SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,    SIGBUS,  SIGSEGV,
                                 SIGPOLL, SIGPWR,  SIGXFSZ, SIGSTKFLT};
    const struct rlimit none = {0, 0};

    check_case("a signal removes the temporaries and is what the process dies of");
    put_file("kept", "kept", 4);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        pid_t pid = fork_flushed();
        int status;

        if (pid == 0) {
            lat_output *a, *b;

            setrlimit(RLIMIT_CORE, &none);
            signal(deadly[i], SIG_DFL); /* a shell ignores some of them for what runs behind it */
            a = lat_output_open("kept", 0, &lat_comm_self);
            b = lat_output_open("another", 0, &lat_comm_self);
            if (!a || !b || lat_output_write(a, pattern, LENGTH) < 0 || temporaries(NULL) != 2)
                _exit(1);
            raise(deadly[i]);
            _exit(2);
        }
        status = ended(pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == deadly[i], "signal %d: status %x",
              deadly[i], status);
        CHECK(temporaries(NULL) == 0 && file_is("kept", "kept", 4), "signal %d: %d left", deadly[i],
              temporaries(NULL));
    }
}

static void check_thread(void)
{
    check_case("a signal to another thread removes the temporary, too");
    put_file("kept", "kept", 4);
    const pid_t threaded = fork_flushed();
    if (threaded == 0) {
        pthread_t thread;

        if (!lat_output_open("kept", 0, &lat_comm_self)
            || pthread_create(&thread, NULL, killer, NULL) != 0)
            _exit(1);
        pthread_join(thread, NULL);
        _exit(2);
    }
    const int end = ended(threaded);
    CHECK(WIFSIGNALED(end) && WTERMSIG(end) == SIGTERM && temporaries(NULL) == 0, "status %x", end);
}

static void check_ignored(void)
{
    check_case("a signal that was ignored stays ignored");
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork_flushed();
        lat_output *out;

        if (pid == 0) {
            signal(i ? SIGHUP : SIGINT, SIG_IGN);
            out = lat_output_open("nohup", 0, &lat_comm_self);
            raise(i ? SIGHUP : SIGINT);
            _exit(!out || lat_output_write(out, "x", 1) < 0 || lat_output_commit(out) < 0);
        }
        CHECK(ended(pid) == 0 && file_is("nohup", "x", 1), "it was not");
        unlink("nohup");
    }
}

static void check_pipe(void)
{
    check_case("a closed pipe kills silently and removes the temporary of the other output");
    int p[2], status;
    if (pipe(p))
        abort();
    close(p[0]);
    pid_t pid = fork_flushed();
    if (pid == 0) {
        dup2(p[1], STDOUT_FILENO);
        if (!lat_output_open("beside", 0, &lat_comm_self))
            _exit(1);
        _exit(short_stdout() != 0);
    }
    close(p[1]);
    status = ended(pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE && temporaries(NULL) == 0, "status %x",
          status);
}

static void sleep_until(struct timespec t)
{
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Two SIGINTs, a while apart; the first one comes `before` the clock's next full second. 0, the
 * signal of which the process died, or -1. */
static int two_interrupts(long before, long apart)
{
    pid_t pid = fork_flushed();
    if (pid == 0) {
        struct timespec t;
        signal(SIGINT, SIG_DFL);
        if (!lat_output_open("interrupted", 0, &lat_comm_self))
            _exit(1);
        lat_stop_watch();
        clock_gettime(CLOCK_MONOTONIC, &t);
        sleep_until((t = (struct timespec){t.tv_sec + 1, 1000000000 - before}));
        raise(SIGINT);
        if (lat_stop_asked() != SIGINT)
            _exit(2);
        t.tv_nsec += apart;
        sleep_until((struct timespec){t.tv_sec + t.tv_nsec / 1000000000, t.tv_nsec % 1000000000});
        raise(SIGINT);
        lat_stop_exit(&lat_comm_self, SIGTERM);
    }
    const int end = ended(pid);
    return WIFSIGNALED(end) ? WTERMSIG(end) : -1;
}

static void check_interrupts(void)
{
    check_case(
        "a run that is to stop ends at once by a second SIGINT, if that comes a second later");
    const int soon = two_interrupts(20000000, 60000000), later = two_interrupts(1, 1050000000);
    CHECK(soon == SIGTERM, "the second one after 60 ms: ended by %d, expected by itself", soon);
    CHECK(later == SIGINT, "after 1.05 s: ended by %d, expected by it", later);
    CHECK(temporaries(NULL) == 0, "%d left", temporaries(NULL));
}

static void check_exit(void)
{
    /* Static, so that the leak checker finds them: the child leaves both on purpose. */
    static lat_output *volatile out, *volatile left;
    pid_t pid;

    check_case("exit removes the temporaries of this process and not those of its parent");
    out = opened("parent", 0);
    pid = fork_flushed();
    if (pid == 0) {
        left = lat_output_open("child", 0, &lat_comm_self);
        if (!left || temporaries(NULL) != 2)
            _exit(1);
        exit(0);
    }
    CHECK(ended(pid) == 0 && temporaries(NULL) == 1, "%d left", temporaries(NULL));
    CHECK(out && lat_output_write(out, "x", 1) == 0 && lat_output_commit(out) == 0
              && file_is("parent", "x", 1),
          "%s", lat_error());
}

int main(void)
{
    io_begin();
    check_signals();
    check_thread();
    check_ignored();
    check_pipe();
    check_interrupts();
    check_exit();
    return io_done();
}
