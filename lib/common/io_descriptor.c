/* SPDX-License-Identifier: BSD-3-Clause */
/* io_descriptor.c: descriptors: opened above the standard ones, read and written to the end. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stop.h"

#define MAX_CALL ((size_t)1 << 30) /* bytes; Linux moves at most 2 GiB - 4 KiB a call */

void lat_io_guard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0) {
            /* stdin for writing, stdout for reading: using them stays an error. */
            int got = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            if (got >= 0 && got != fd)
                close(got);
        }
}

/* fd, or if that is a standard descriptor, a copy above them; fd is closed then. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int saved = errno;
    close(fd);
    errno = saved;
    return high;
}

int lat_io_open(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return above_standard(fd);
}

/* After a call that failed: true if it is to be repeated. Another process that shares the pipe may
 * have made it nonblocking; then this waits. */
static bool retry(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return false;
    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

ssize_t lat_io_read(int fd, void *buf, size_t n)
{
    ssize_t got;
    if (lat_stop_watched() && !lat_stop_wait(fd, false)) {
        errno = EINTR;
        return -1;
    }
    do
        got = read(fd, buf, n < MAX_CALL ? n : MAX_CALL);
    while (got < 0 && retry(fd, POLLIN));
    return got;
}

/* A run that is watched for signals is not to sleep in a call that writes to a pipe. */
static bool stays_awake(int fd, off_t at)
{
    struct stat st;
    return lat_stop_watched() && at < 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
}

/* What a pipe that can be written takes at once: PIPE_BUF bytes where the kernel cannot say. A full
 * one, where nobody has waited for it (lat_stop_hold): EAGAIN. */
static ssize_t write_awake(int fd, const unsigned char *p, size_t n)
{
#ifdef RWF_NOWAIT
    const struct iovec all = {(void *)(uintptr_t)p, n};
    const ssize_t put = pwritev2(fd, &all, 1, -1, RWF_NOWAIT);
    if (put >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return put;
#endif
    return write(fd, p, n < PIPE_BUF ? n : PIPE_BUF);
}

int lat_io_write(int fd, const unsigned char *p, size_t n, off_t at)
{
    const bool awake = stays_awake(fd, at);
    while (n > 0) {
        const size_t some = n < MAX_CALL ? n : MAX_CALL;
        if (awake && !lat_stop_wait(fd, true)) { /* asked to stop */
            errno = EINTR;
            return -1;
        }
        ssize_t put = awake    ? write_awake(fd, p, some)
                      : at < 0 ? write(fd, p, some)
                               : pwrite(fd, p, some, at);
        if (put < 0 && retry(fd, POLLOUT))
            continue;
        if (put == 0)
            errno = ENOSPC; /* write has returned 0 without an error: no endless loop */
        if (put <= 0)
            return -1;
        p += put;
        n -= (size_t)put;
        at += at < 0 ? 0 : put;
    }
    return 0;
}

/* Fewer context switches between the tools of a pipe than with its 64 KiB. */
void lat_io_widen(int fd)
{
    int size = fcntl(fd, F_GETPIPE_SZ);
    if (size >= 0 && size < (int)BUFFER)
        (void)fcntl(fd, F_SETPIPE_SZ, (int)BUFFER);
}

bool lat_io_is_standard(const char *path) { return !path || strcmp(path, "-") == 0; }

bool lat_io_usable(int fd, int wrong)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != wrong;
}
