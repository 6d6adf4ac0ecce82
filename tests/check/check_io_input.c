/* SPDX-License-Identifier: BSD-3-Clause */
/* check_io_input.c: lat_input gives every byte of a file or a pipe, in any pieces, and refuses
 * what ends too early or is no file. */
#include "check_io.h"

/* A pipe whose other end a child fills with the pattern, in odd pieces, with rests. */
static int pipe_of_pattern(pid_t *pid, size_t length)
{
    int fd[2];

    if (pipe(fd))
        abort();
    *pid = fork_flushed();
    if (*pid == 0) {
        close(fd[0]);
        for (size_t at = 0, n; at < length; at += n) {
            n = 1 + random_word() % 70000;
            if (n > length - at)
                n = length - at;
            if (write(fd[1], pattern + at, n) != (ssize_t)n)
                _exit(1);
            if (random_word() % 4 == 0)
                usleep(200);
        }
        _exit(0);
    }
    close(fd[1]);
    return fd[0];
}

static void check_reading(void)
{
    lat_input *in;
    pid_t pid;
    int fd;

    put_file("data", pattern, LENGTH);
    check_case("a file is read by any mixture of peek, some, read and skip");
    for (int i = 0; i < 10; i++) {
        in = lat_input_open("data", &lat_comm_self);
        if (!CHECK(in, "%s", lat_error()))
            return;
        CHECK(lat_input_size(in) == (int64_t)LENGTH && strcmp(lat_input_name(in), "data") == 0,
              "size, name");
        take_mixed(in, LENGTH);
        lat_input_close(in);
    }

    check_case("a long skip in a file lands where it should");
    in = lat_input_open("data", &lat_comm_self);
    CHECK(in && lat_input_read(in, got, 5) == 0 && lat_input_skip(in, LENGTH - 25) == 0, "%s",
          lat_error());
    CHECK(in && lat_input_offset(in) == LENGTH - 20, "offset %llu",
          in ? (unsigned long long)lat_input_offset(in) : 0);
    CHECK(in && lat_input_read(in, got, 20) == 0 && memcmp(got, pattern + LENGTH - 20, 20) == 0,
          "content");
    lat_input_close(in);

    check_case("a pipe on stdin is read by any mixture too, interrupted by signals, and a "
               "non-blocking one");
    for (int i = 0; i < 6; i++) {
        fd = pipe_of_pattern(&pid, LENGTH);
        dup2(fd, STDIN_FILENO);
        close(fd);
        if (i % 2)
            fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        interrupts(true);
        in = lat_input_open(i % 3 ? "-" : NULL, &lat_comm_self);
        if (CHECK(in, "%s", lat_error())) {
            CHECK(lat_input_size(in) == -1 && strcmp(lat_input_name(in), "<stdin>") == 0,
                  "size, name");
            take_mixed(in, LENGTH);
        }
        lat_input_close(in);
        interrupts(false);
        CHECK(ended(pid) == 0, "the writer failed");
    }

    check_case("a file on stdin counts from where it stands");
    fd = open("data", O_RDONLY);
    if (fd < 0 || lseek(fd, 1000, SEEK_SET) != 1000 || dup2(fd, STDIN_FILENO) != STDIN_FILENO)
        abort();
    close(fd);
    in = lat_input_open(NULL, &lat_comm_self);
    CHECK(in && lat_input_size(in) == (int64_t)LENGTH - 1000, "size %lld",
          in ? (long long)lat_input_size(in) : -2);
    CHECK(in && lat_input_read(in, got, 10) == 0 && memcmp(got, pattern + 1000, 10) == 0
              && lat_input_offset(in) == 10,
          "%s", lat_error());
    lat_input_close(in);
}

static void check_again(void)
{
    lat_input *in;
    pid_t pid;
    FILE *f;
    int fd;

    check_case("a file can be read again while it stays as it was, a pipe cannot");
    put_file("again", pattern, LENGTH);
    in = lat_input_open("again", &lat_comm_self);
    for (size_t from = 0; in && from < LENGTH; from += LENGTH / 3 + 1) {
        CHECK(lat_input_rewind(in, from) == 0 && lat_input_offset(in) == from, "from %zu: %s", from,
              lat_error());
        CHECK(lat_input_read(in, got, LENGTH - from) == 0
                  && memcmp(got, pattern + from, LENGTH - from) == 0,
              "from %zu: other bytes", from);
        CHECK(lat_input_read_some(in, got, 1) == 0, "from %zu: no end", from);
    }
    CHECK(in && lat_input_rewind(in, LENGTH + 1) < 0, "beyond the end");
    f = fopen("again", "ab");
    CHECK(f && fputc('x', f) == 'x' && fclose(f) == 0, "one more byte");
    lat_error_clear();
    CHECK(in && lat_input_rewind(in, 0) < 0 && strstr(lat_error(), "has changed"), "'%s'",
          lat_error());
    lat_input_close(in);
    unlink("again");
    fd = pipe_of_pattern(&pid, LENGTH);
    dup2(fd, STDIN_FILENO);
    close(fd);
    in = lat_input_open(NULL, &lat_comm_self);
    lat_error_clear();
    CHECK(in && lat_input_read(in, got, LENGTH) == 0 && lat_input_rewind(in, 0) < 0, "a pipe: %s",
          lat_error());
    lat_input_close(in);
    CHECK(ended(pid) == 0, "the writer failed");
    lat_error_clear();
}

static void check_truncated(void)
{
    static const size_t lengths[] = {0, 1, 999, 65536, LENGTH};
    char expected[64];

    check_case("what ends too early is truncated after as many bytes as it has, read or skipped, "
               "file or pipe");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int how = 0; how < 4; how++) {
            bool skip = how & 1, piped = how & 2;
            lat_input *in;
            pid_t pid = 0;
            int fd = -1, rc;

            put_file("short", pattern, lengths[i]);
            if (piped) {
                fd = pipe_of_pattern(&pid, lengths[i]);
                dup2(fd, STDIN_FILENO);
                close(fd);
            }
            in = lat_input_open(piped ? NULL : "short", &lat_comm_self);
            if (!CHECK(in, "%s", lat_error()))
                return;
            if (lengths[i] > 10)
                CHECK(lat_input_peek(in, got, 10) == 10, "peek");
            rc = skip ? lat_input_skip(in, lengths[i] + 1)
                      : lat_input_read(in, got, lengths[i] + 1);
            snprintf(expected, sizeof expected, "%s: truncated after %zu bytes",
                     piped ? "<stdin>" : "short", lengths[i]);
            CHECK(rc < 0 && strcmp(lat_error(), expected) == 0, "'%s', expected '%s'", lat_error(),
                  expected);
            lat_error_clear();
            lat_input_close(in);
            if (piped)
                ended(pid);
        }
}

static void check_input_refusals(void)
{
    int fd = open(".", O_RDONLY);

    check_case("a missing file, a directory, a closed stdin and one for writing are refused");
    CHECK(!lat_input_open("missing", &lat_comm_self)
              && sentence("missing: cannot be opened: No such file"),
          "missing");
    CHECK(!lat_input_open(".", &lat_comm_self) && sentence(".: expected a file, found a directory"),
          "directory");
    dup2(fd, STDIN_FILENO);
    close(fd);
    CHECK(!lat_input_open(NULL, &lat_comm_self)
              && sentence("<stdin>: expected a file, found a directory"),
          "directory on stdin");
    close(STDIN_FILENO);
    CHECK(!lat_input_open("-", &lat_comm_self) && sentence("<stdin>: is closed"), "closed");
    lat_io_guard();
    CHECK(!lat_input_open("-", &lat_comm_self) && sentence("<stdin>: is closed"),
          "closed and guarded");
    lat_input_close(NULL);
    dup2(STDOUT_FILENO, STDIN_FILENO); /* something harmless again */
}

int main(void)
{
    io_begin();
    check_reading();
    check_again();
    check_truncated();
    check_input_refusals();
    return io_done();
}
