/* SPDX-License-Identifier: BSD-3-Clause */
/* io_input.c: lat_input: buffered bytes of a file or a pipe. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "comm/comm.h"
#include "base/error.h"
#include "base/memory.h"
#include "stop.h"

#define PEEK ((size_t)1 << 16)   /* bytes that lat_input_peek can show */
#define DIRECT ((size_t)1 << 16) /* bytes that are read without the buffer */
#define FILL ((size_t)1 << 14)   /* bytes that fewer than DIRECT read ahead: more would be copied */

static int input_descriptor(const char *path, bool standard)
{
    int fd;
    if (!standard && !*path) /* "$CONFIG", and no such variable */
        return lat_fail_usage("expected the name of an input file, found ''");
    if (!standard) {
        fd = lat_io_open(path, O_RDONLY, 0);
        return fd >= 0 ? fd : lat_fail("%s: cannot be opened: %s", path, strerror(errno));
    }
    if (!lat_io_usable(STDIN_FILENO, O_WRONLY))
        return lat_fail("<stdin>: is closed");
    if (isatty(STDIN_FILENO))
        return lat_fail_usage("<stdin>: is a terminal (give a FILE, or pipe data in)");
    if (lat_comm_external)
        lat_warn("<stdin> comes through the launcher of the ranks, slowly: give -i FILE, or start "
                 "with -n N instead");
    return STDIN_FILENO;
}

static int input_examine(lat_input *in)
{
    const struct stat *st = &in->file;
    off_t here;
    if (fstat(in->fd, &in->file) < 0)
        return lat_fail("%s: cannot be examined: %s", in->name, strerror(errno));
    if (S_ISDIR(st->st_mode))
        return lat_fail("%s: expected a file, found a directory", in->name);
    in->size = -1;
    in->regular = S_ISREG(st->st_mode);
    if (in->regular) {
        here = lseek(in->fd, 0, SEEK_CUR);
        in->size = here >= 0 && here < st->st_size ? st->st_size - here : 0;
        in->begin = here;
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(st->st_mode))
        lat_io_widen(in->fd);
    return lat_input_register(in);
}

lat_input *lat_input_open(const char *path, const lat_comm *comm)
{
    lat_input *in = lat_alloc(1, sizeof *in, "an input");
    if (!in)
        return NULL;
    *in = (lat_input){
        .comm = comm, .fd = -1, .end_fd = -1, .standard = lat_io_is_standard(path), .size = -1};
    if (!lat_io_elsewhere(comm) && (in->fd = input_descriptor(path, in->standard)) < 0)
        goto fail;
    in->name = lat_text_new("%s", in->standard ? "<stdin>" : path);
    in->buf = lat_alloc(BUFFER, 1, "an input buffer");
    in->capacity = BUFFER;
    if (!in->name || !in->buf)
        goto fail;
    if (lat_io_elsewhere(comm) || input_examine(in) == 0)
        return in;
fail:
    lat_input_close(in);
    return NULL;
}

void lat_input_close(lat_input *in)
{
    if (!in)
        return;
    lat_input_unregister(in);
    if (in->fd >= 0 && !in->standard)
        close(in->fd);
    if (in->end_fd >= 0)
        close(in->end_fd);
    LAT_FREE(in->name, in->buf);
    for (int i = 0; i < LAT_ATTACHMENTS; i++)
        free(in->attached[i]);
    free(in);
}

void *lat_input_attach(lat_input *in, lat_attachment which, size_t size)
{
    return lat_io_attach(&in->attached[which], size, in->name);
}

const char *lat_input_name(const lat_input *in) { return in->name; }

const lat_comm *lat_input_comm(const lat_input *in) { return in->comm; }

uint64_t lat_input_offset(const lat_input *in) { return in->offset; }

int64_t lat_input_size(const lat_input *in) { return in->size; }

void lat_input_may_end(lat_input *in)
{
    if (in->end_fd < 0)
        in->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void lat_input_end(lat_input *in)
{
    const uint64_t one = 1;
    if (in->end_fd >= 0)
        (void)!write(in->end_fd, &one, sizeof one);
}

/* Reads once into p; 0 at the end, -1 with a sentence. */
static ssize_t input_read(lat_input *in, void *p, size_t n)
{
    if (in->ended || n == 0)
        return 0;
    if (!lat_stop_wait_for(in->fd, false, in->end_fd))
        return lat_fail("%s: is not wanted any more", in->name);
    ssize_t got = lat_io_read(in->fd, p, n);
    if (got < 0)
        return lat_fail("%s: cannot be read: %s", in->name, strerror(errno));
    in->ended = got == 0;
    return got;
}

/* Reads once into the buffer, at most `most` bytes; the caller knows that there is space behind
 * `end`. */
static ssize_t input_fill(lat_input *in, size_t most)
{
    const size_t left = in->capacity - in->end;
    ssize_t got = input_read(in, in->buf + in->end, left < most ? left : most);
    if (got > 0)
        in->end += (size_t)got;
    return got;
}

/* Moves unread bytes to the front of the buffer. */
static void input_compact(lat_input *in)
{
    memmove(in->buf, in->buf + in->at, in->end - in->at);
    in->end -= in->at;
    in->at = 0;
}

ssize_t lat_input_peek(lat_input *in, void *buf, size_t n)
{
    if (n > PEEK)
        n = PEEK;
    if (in->capacity - in->at < n)
        input_compact(in);
    while (in->end - in->at < n && !in->ended)
        if (input_fill(in, PEEK) < 0)
            return -1;
    if (in->end - in->at < n)
        n = in->end - in->at;
    memcpy(buf, in->buf + in->at, n);
    return (ssize_t)n;
}

static int input_resize(lat_input *in, size_t capacity)
{
    unsigned char *buf = realloc(in->buf, capacity);
    if (!buf)
        return lat_fail("out of memory: %zu bytes of %s", capacity, in->name);
    in->buf = buf;
    in->capacity = capacity;
    return 0;
}

int lat_input_wait(lat_input *in, uint64_t n, uint64_t *arrived)
{
    if (in->size >= 0) {
        *arrived = (uint64_t)in->size > in->offset ? (uint64_t)in->size - in->offset : 0;
        return 0;
    }
    if (n > in->end - in->at)
        input_compact(in);
    while (in->end < n && !in->ended) {
        if (in->end == in->capacity && input_resize(in, 2 * in->capacity) < 0)
            return -1;
        if (input_fill(in, SIZE_MAX) < 0)
            return -1;
    }
    *arrived = in->end - in->at;
    return 0;
}

/* Takes up to n bytes out of the buffer, to buf unless that is NULL. Returns how many. */
static size_t input_take(lat_input *in, unsigned char *buf, size_t n)
{
    if (n > in->end - in->at)
        n = in->end - in->at;
    if (buf && n)
        memcpy(buf, in->buf + in->at, n);
    in->at += n;
    in->offset += n;
    if (in->at == in->end) {
        in->at = in->end = 0;
        if (in->capacity > BUFFER && input_resize(in, BUFFER) < 0)
            lat_error_clear(); /* the buffer stays large */
    }
    return n;
}

ssize_t lat_input_read_some(lat_input *in, void *buf, size_t n)
{
    ssize_t got;
    if (in->at < in->end || n == 0)
        return (ssize_t)input_take(in, buf, n);
    if (n < DIRECT) {
        got = input_fill(in, FILL);
        return got > 0 ? (ssize_t)input_take(in, buf, n) : got;
    }
    got = input_read(in, buf, n);
    if (got > 0)
        in->offset += (uint64_t)got;
    return got;
}

static int truncated(const lat_input *in)
{
    return lat_fail("%s: truncated after %llu bytes", in->name, (unsigned long long)in->offset);
}

int lat_input_read(lat_input *in, void *buf, size_t n)
{
    unsigned char *p = buf;
    while (n > 0) {
        ssize_t got = lat_input_read_some(in, p, n);
        if (got < 0)
            return -1;
        if (got == 0)
            return truncated(in);
        p += got;
        n -= (size_t)got;
    }
    return 0;
}

/* Skips n bytes of a regular file; false if it does not have them. */
static bool input_seek(lat_input *in, uint64_t n)
{
    struct stat st;
    if (!in->regular || in->ended || fstat(in->fd, &st) < 0)
        return false;
    off_t here = lseek(in->fd, 0, SEEK_CUR);
    if (here < 0 || here > st.st_size || n > (uint64_t)(st.st_size - here))
        return false;
    if (lseek(in->fd, (off_t)n, SEEK_CUR) < 0)
        return false;
    in->offset += n;
    return true;
}

int lat_input_skip(lat_input *in, uint64_t n)
{
    n -= input_take(in, NULL, n < SIZE_MAX ? (size_t)n : SIZE_MAX);
    if (n >= BUFFER && input_seek(in, n))
        return 0;
    while (n > 0) {
        ssize_t got = input_fill(in, BUFFER); /* the buffer is empty here */
        if (got < 0)
            return -1;
        if (got == 0)
            return truncated(in);
        n -= input_take(in, NULL, n < BUFFER ? (size_t)n : BUFFER);
    }
    return 0;
}

bool lat_input_pread(const lat_input *in, uint64_t offset, void *buf, size_t n)
{
    if (!in->regular || offset > (uint64_t)in->size || n > (uint64_t)in->size - offset)
        return false;
    return pread(in->fd, buf, n, in->begin + (off_t)offset) == (ssize_t)n;
}

int lat_input_rewind(lat_input *in, uint64_t offset)
{
    struct stat now;
    if (!in->regular || offset > in->offset)
        return lat_fail("%s: cannot be read again from byte %llu", in->name,
                        (unsigned long long)offset);
    if (fstat(in->fd, &now) < 0 || !lat_io_unchanged(&in->file, &now))
        return lat_fail("%s: has changed while it was read", in->name);
    if (lseek(in->fd, in->begin + (off_t)offset, SEEK_SET) < 0)
        return lat_fail("%s: cannot be read again: %s", in->name, strerror(errno));
    in->at = in->end = 0;
    in->ended = false;
    in->offset = offset;
    return 0;
}
