/* SPDX-License-Identifier: BSD-3-Clause */
/* check_watch.c: a rank that dies or fails ends all ranks, although the others wait where nothing
 * would ever wake them, with a launcher that ends ranks itself and with one that does not. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "check.h"
#include "devices.h"
#include "base/build.h"
#include "base/error.h"
#include "comm/comm.h"
#include "comm/report.h"

enum { RANKS = 3, LIMIT = 10 + 5, TIMEOUT = 30 }; /* s: to end, and before that to start */
#define RECOVERY "LAT_MPIRUN='mpirun --oversubscribe --bind-to none --enable-recovery'"

/* As a kernel that waits for a face: it sees no message. */
static void __attribute__((noreturn)) wait_for_ever(void)
{
    for (;;)
        pause();
}

/* Rank 0 waits for a message of rank 1, which comes after rank 2 has failed, and then warns. */
static void warn_late(const lat_comm *comm)
{
    char c = 0;
    if (comm->rank == 1)
        usleep(50000);
    if (comm->rank == 1 ? comm->send(comm, 0, &c, 1) : comm->receive(comm, 1, &c, 1))
        lat_report(LAT_FAILED);
    lat_warn("a warning");
}

/* check_watch WHAT RANK: what one of three ranks does. */
static int rank_main(char **argv)
{
    const int which = atoi(argv[2]);
    char place[LAT_DEVICE_PLACE];
    lat_tool_name = "check";
    const lat_comm *comm = lat_comm_start(RANKS, argv);
    if (!comm)
        return lat_report(LAT_FAILED);
    snprintf(place, sizeof place, "GPU %d", 7 - comm->rank);
    if (lat_comm_name_device(comm, place))
        return lat_report(LAT_FAILED);
    if (!strcmp(argv[1], "late"))
        return sleep(comm->rank == which ? 5 : 0) ? LAT_FAILED : LAT_DONE;
    if (!strcmp(argv[1], "resumes"))
        lat_comm_report_checkpoint("the.ck");
    if (comm->barrier(comm))
        return lat_report(LAT_FAILED);
    const bool warns = !strcmp(argv[1], "warns");
    if (warns && comm->rank != which)
        warn_late(comm);
    if (comm->rank != which)
        wait_for_ever();
    if (warns || !strcmp(argv[1], "fails")) {
        lat_fail("rank %d has no paper", which);
        return lat_report(LAT_UNCONVERGED);
    }
    raise(SIGKILL);
    return LAT_DONE;
}

/* What the run prints, in one line: *status and the seconds that it took. */
static const char *run(const char *program, const char *environment, const char *what, int rank,
                       int *status, double *seconds)
{
    static char text[4096];
    char command[4200];
    struct timespec t0, t1;
    snprintf(command, sizeof command,
             "exec 2>&1; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "ASAN_OPTIONS=\"${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0\"; " /* of MPI */
             "%s timeout %d '%s' %s %d",
             environment, TIMEOUT, program, what, rank);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    FILE *pipe = popen(command, "r");
    const size_t n = pipe ? fread(text, 1, sizeof text - 1, pipe) : 0;
    const int rc = pipe ? pclose(pipe) : -1;
    clock_gettime(CLOCK_MONOTONIC, &t1);
    text[n] = '\0';
    *status = WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
    *seconds = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
    return text;
}

static void expect(const char *program, const char *environment, const char *what, int rank,
                   int code, const char *sentence)
{
    int status;
    double seconds;
    const char *text = run(program, environment, what, rank, &status, &seconds);
    CHECK(!strcmp(text, sentence), "%s %d: found '%s', expected '%s'", what, rank, text, sentence);
    CHECK(status == code, "%s %d: status %d, expected %d", what, rank, status, code);
    CHECK(seconds < LIMIT, "%s %d: %.1f s", what, rank, seconds);
}

static void check_deaths(const char *program, const char *environment, const char *how)
{
    char host[64], sentence[256];
    gethostname(host, sizeof host);
    for (int rank = 0; rank < RANKS; rank++) {
        const bool resumes = rank < 2;
        snprintf(sentence, sizeof sentence, "check: rank %d of %d (host %s, GPU %d) %s; %s\n", rank,
                 RANKS, host, 7 - rank, how,
                 resumes ? "the same command with --resume the.ck goes on" : "nothing was written");
        expect(program, environment, resumes ? "resumes" : "dies", rank, LAT_FAILED, sentence);
    }
}

static void check_all(const char *program)
{
    char sentence[64];
    check_case("a rank that dies ends all ranks: the launcher knows the signal");
    check_deaths(program, "", "was ended by signal 9 (Killed)");
    check_case("also under a launcher that leaves the others alone");
    check_deaths(program, RECOVERY, "has died");
    check_case("a rank that fails ends all ranks with its sentence and its code");
    for (int rank = 0; rank < RANKS; rank++) {
        snprintf(sentence, sizeof sentence, "check: rank %d has no paper\n", rank);
        expect(program, "", "fails", rank, LAT_UNCONVERGED, sentence);
    }
    check_case("rank 0 warns of what it finds in messages that were under way");
    expect(program, "", "warns", 2, LAT_UNCONVERGED,
           "check: a warning\ncheck: rank 2 has no paper\n");
    check_case("ranks that end in good order, late or early, are not taken for dead");
    for (int rank = 0; rank < RANKS; rank++)
        expect(program, "", "late", rank, LAT_DONE, "");
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return rank_main(argv);
    if (*lat_no_mpi || system("mpirun --version 2>/dev/null | grep -q 'Open MPI'"))
        check_skipped("ranks", "no mpirun of OpenMPI");
    else
        check_all(argv[0]);
    return check_done();
}
