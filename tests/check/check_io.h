/* SPDX-License-Identifier: BSD-3-Clause */
/* check_io.h: what the programs check_io_*.c share: a pattern of bytes, a folder to work in, files
 * and child processes, and how an input is read and an output written in pieces of all sizes.
 *
 *     int main(void)
 *     {
 *         io_begin();
 *         check_...();
 *         return io_done();
 *     } */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "base/error.h"
#include "common/io.h"

/* More than two buffers of io_internal.h, and no round number. */
#define LENGTH ((size_t)(2 << 20) + 345679)

/* LENGTH random bytes that are written, and where they are read to. */
static unsigned char *pattern, *got;

/* xorshift32, so that a failure comes again. */
static inline uint32_t random_word(void)
{
    static uint32_t s = 2463534242u;
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    return s;
}

static char io_folder[] = "/tmp/check_io.XXXXXX";

/* Makes the pattern, and an empty folder that is the working directory from then on. */
static inline void io_begin(void)
{
    pattern = malloc(LENGTH);
    got = malloc(LENGTH + 1);
    if (!pattern || !got || !mkdtemp(io_folder) || chdir(io_folder) != 0) {
        perror(io_folder);
        exit(1);
    }
    for (size_t i = 0; i < LENGTH; i++)
        pattern[i] = (unsigned char)random_word();
    umask(022);
}

/* Removes the folder; the exit status. */
static inline int io_done(void)
{
    DIR *d = opendir(".");
    struct dirent *e;
    unlink("sub/real");
    rmdir("sub");
    while (d && (e = readdir(d)))
        unlink(e->d_name);
    if (d)
        closedir(d);
    if (chdir("/") != 0 || rmdir(io_folder) != 0)
        perror(io_folder);
    free(pattern);
    free(got);
    return check_done();
}

/* ---- files ---- */

static inline void put_file(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(name, "w");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
}

/* True if the file holds exactly these bytes. */
static inline bool file_is(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(name, "r");
    unsigned char *back = malloc(n + 1);
    bool same;

    if (!back)
        abort();
    same = f && fread(back, 1, n + 1, f) == n && memcmp(back, data, n) == 0;
    free(back);
    if (f)
        fclose(f);
    return same;
}

static inline bool exists(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0;
}

/* Temporaries in the folder; the last one's name into `name` if that is not NULL. */
static inline int temporaries(char *name)
{
    DIR *d = opendir(".");
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d))) {
        size_t length = strlen(e->d_name);

        if (e->d_name[0] != '.' || length < 5 || strcmp(e->d_name + length - 4, ".tmp") != 0)
            continue;
        n++;
        if (name)
            strcpy(name, e->d_name);
    }
    if (d)
        closedir(d);
    return n;
}

/* The kept sentence contains `text`; clears it. */
static inline bool sentence(const char *text)
{
    bool found = strstr(lat_error(), text) != NULL;

    if (!found)
        printf("# the sentence is '%s'\n", lat_error());
    lat_error_clear();
    return found;
}

/* ---- processes ---- */

static inline pid_t fork_flushed(void)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid < 0)
        abort();
    return pid;
}

/* Waits for a child; its wait status. */
static inline int ended(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            abort();
    return status;
}

static inline void tick(int sig) { (void)sig; }

/* A timer that interrupts system calls, hundreds of times a second. */
static inline void interrupts(bool on)
{
    struct sigaction sa = {.sa_handler = on ? tick : SIG_DFL}; /* no SA_RESTART */
    struct itimerval it = {{0, on ? 2000 : 0}, {0, on ? 2000 : 0}};

    if (!on)
        setitimer(ITIMER_REAL, &it, NULL);
    sigaction(SIGALRM, &sa, NULL);
    if (on)
        setitimer(ITIMER_REAL, &it, NULL);
}

/* ---- pieces of all sizes ---- */

/* Takes everything by a random mixture of all that io.h offers, comparing as it goes. */
static inline void take_mixed(lat_input *in, size_t length)
{
    size_t at = 0, n;
    ssize_t rc;

    while (at < length) {
        n = 1 + random_word() % (random_word() % 8 ? 3000 : 1500000);
        switch (random_word() % 4) {
        case 0:
            rc = lat_input_peek(in, got, n);
            n = n < 65536 ? n : 65536;
            n = n < length - at ? n : length - at;
            CHECK(rc == (ssize_t)n && memcmp(got, pattern + at, n) == 0, "peek at %zu: %zd of %zu",
                  at, rc, n);
            break;
        case 1:
            rc = lat_input_read_some(in, got, n);
            if (!CHECK(rc > 0 && (size_t)rc <= n && memcmp(got, pattern + at, (size_t)rc) == 0,
                       "some at %zu: %zd", at, rc))
                return;
            at += (size_t)rc;
            break;
        case 2:
            n = n < length - at ? n : length - at;
            if (!CHECK(lat_input_read(in, got, n) == 0 && memcmp(got, pattern + at, n) == 0,
                       "read at %zu", at))
                return;
            at += n;
            break;
        default:
            n = n < length - at ? n : length - at;
            if (!CHECK(lat_input_skip(in, n) == 0, "skip at %zu: %s", at, lat_error()))
                return;
            at += n;
        }
        CHECK(lat_input_offset(in) == at, "offset %llu, expected %zu",
              (unsigned long long)lat_input_offset(in), at);
    }
    CHECK(lat_input_peek(in, got, 10) == 0 && lat_input_read_some(in, got, 10) == 0,
          "there is more after the end");
}

/* The output, or a CHECK that fails. */
static inline lat_output *opened(const char *path, unsigned flags)
{
    lat_output *out = lat_output_open(path, flags, &lat_comm_self);

    CHECK(out, "%s: %s", path ? path : "stdout", lat_error());
    return out;
}

/* Writes the pattern in pieces of all sizes. */
static inline bool write_mixed(lat_output *out, size_t length)
{
    for (size_t at = 0, n; at < length; at += n) {
        n = random_word() % (random_word() % 8 ? 3000 : 1500000);
        if (n > length - at)
            n = length - at;
        if (lat_output_write(out, pattern + at, n) < 0
            || (random_word() % 16 == 0 && lat_output_flush(out) < 0))
            return false;
    }
    return true;
}

/* One byte to stdout: 0, or -1. */
static inline int short_stdout(void)
{
    lat_output *out = lat_output_open(NULL, 0, &lat_comm_self);

    return out && lat_output_write(out, "x", 1) == 0 && lat_output_commit(out) == 0 ? 0 : -1;
}
