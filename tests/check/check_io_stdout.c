/* SPDX-License-Identifier: BSD-3-Clause */
/* check_io_stdout.c: stdout as an output: every byte or an error; closed descriptors; one output
 * at a time. */
#include "check_io.h"

/* Runs `what` in a child with stdout on fd (-1: closed); true if it returns 0. */
static bool in_child(int (*what)(void), int fd)
{
    pid_t pid = fork_flushed();

    if (pid == 0) {
        if (fd < 0)
            close(STDOUT_FILENO);
        else
            dup2(fd, STDOUT_FILENO);
        _exit(what() == 0 ? 0 : 1);
    }
    return ended(pid) == 0;
}

static int write_stdout(void)
{
    lat_output *out = lat_output_open("-", 0, &lat_comm_self);

    return out && write_mixed(out, LENGTH) && lat_output_commit(out) == 0 ? 0 : -1;
}

static int full_stdout(void)
{
    return short_stdout() < 0 && write_stdout() < 0
                   && strcmp(lat_error(), "<stdout>: cannot be written: No space left on device")
                          == 0
               ? 0
               : -1;
}

static int closed_stdout(void)
{
    if (lat_output_open(NULL, 0, &lat_comm_self) || strcmp(lat_error(), "<stdout>: is closed") != 0)
        return -1;
    lat_io_guard();
    return lat_output_open("-", LAT_OUTPUT_FORCE, &lat_comm_self) ? -1 : 0;
}

/* With 0, 1 and 2 closed, files get other numbers all the same. */
static int high_numbers(void)
{
    lat_input *in;
    lat_output *out;
    int rc = -1;

    close(STDIN_FILENO);
    close(STDERR_FILENO);
    in = lat_input_open("data", &lat_comm_self);
    out = lat_output_open("high", 0, &lat_comm_self);
    if (in && out && fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0) {
        lat_io_guard();
        rc = fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0;
        rc |= read(0, got, 1) >= 0 || write(1, "x", 1) >= 0;
        rc |= lat_output_write(out, "high", 4) < 0 || lat_output_commit(out) < 0
              || !file_is("high", "high", 4);
    }
    lat_input_close(in);
    return rc;
}

static int appending_stdout(void)
{
    lat_input *in = lat_input_open("appended", &lat_comm_self);
    int rc = in && !lat_output_open(NULL, 0, &lat_comm_self)
                     && strcmp(lat_error(), "appended: is the output as well") == 0
                 ? 0
                 : -1;

    lat_input_close(in);
    return rc;
}

/* Neither stdout nor the file that it goes to can be opened again before it is committed or
 * aborted. */
static int twice_stdout(void)
{
    lat_output *out = lat_output_open(NULL, 0, &lat_comm_self);
    bool good = out && !lat_output_open("-", 0, &lat_comm_self)
                && sentence("<stdout>: cannot be two outputs of one run")
                && !lat_output_open("./stdout", 0, &lat_comm_self)
                && sentence("./stdout: is the same output as <stdout>");

    lat_output_abort(out);
    return good && short_stdout() == 0 && short_stdout() == 0 ? 0 : -1;
}

static void check_stdout(void)
{
    int fd = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666), p[2];
    lat_input *in;
    pid_t pid;

    check_case("stdout takes every byte, into a file and into a non-blocking pipe under signals");
    CHECK(in_child(write_stdout, fd) && file_is("stdout", pattern, LENGTH), "file");
    close(fd);
    if (pipe(p))
        abort();
    pid = fork_flushed();
    if (pid == 0) {
        close(p[0]);
        dup2(p[1], STDOUT_FILENO);
        fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
        interrupts(true);
        _exit(write_stdout() != 0);
    }
    close(p[1]);
    dup2(p[0], STDIN_FILENO);
    close(p[0]);
    in = lat_input_open(NULL, &lat_comm_self);
    usleep(20000); /* let the pipe become full */
    if (CHECK(in, "%s", lat_error()))
        take_mixed(in, LENGTH);
    lat_input_close(in);
    CHECK(ended(pid) == 0, "the writer failed");
}

static void check_errors(void)
{
    const int full = open("/dev/full", O_WRONLY);

    check_case("a full device is an error at commit, a closed stdout at once");
    CHECK(full < 0 || in_child(full_stdout, full), "full");
    CHECK(in_child(closed_stdout, -1), "closed");
    if (full >= 0)
        close(full);

    check_case("without stdin, stdout and stderr no file gets their numbers");
    put_file("data", pattern, LENGTH);
    CHECK(in_child(high_numbers, -1), "they did");
}

static void check_taken(void)
{
    int fd;

    check_case("stdout is one output at a time");
    fd = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(fd >= 0 && in_child(twice_stdout, fd) && file_is("stdout", "xx", 2), "it is not");
    close(fd);

    check_case("an input that is the output as well is refused");
    put_file("appended", "x", 1);
    fd = open("appended", O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && in_child(appending_stdout, fd), "it is not");
    close(fd);
}

int main(void)
{
    io_begin();
    check_stdout();
    check_errors();
    check_taken();
    return io_done();
}
