/* SPDX-License-Identifier: BSD-3-Clause */
/* io_part.c: lat_output: the first bytes of a hidden output, which another process goes on from. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"

/* ".NAME.part" beside the target; a name near NAME_MAX is shortened. */
static bool part_name(const char *target, char path[PATH_MAX])
{
    const int folder = lat_io_folder(target),
              n = snprintf(path, PATH_MAX, "%.*s.%.200s.part", folder, target, target + folder);
    return n > 0 && n < PATH_MAX;
}

/* The checksum of bytes `from` up to `to` of a file, after those whose checksum is `crc`; they go
 * to `copy`, too, if there is one. 0; 1: cannot be read; -1: cannot be copied, with lat_error set.
 */
static int checksum(int fd, uint64_t from, uint64_t to, lat_output *copy, uint32_t *crc)
{
    unsigned char *buf = malloc(BUFFER);
    int rc = !buf;

    for (uint64_t at = from; at < to && rc == 0;) {
        const ssize_t n = pread(fd, buf, to - at < BUFFER ? (size_t)(to - at) : BUFFER, (off_t)at);
        rc = n <= 0 ? 1 : copy ? lat_output_write(copy, buf, (size_t)n) : 0;
        if (rc == 0)
            *crc = (uint32_t)crc32(*crc, buf, (uInt)n);
        at += n > 0 ? (uint64_t)n : 0;
    }
    free(buf);
    return rc;
}

/* Does another process write to it? Where a file system knows no locks, nobody can tell. */
static bool is_taken(int fd) { return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; }

static bool taken_by_name(const char *path)
{
    const int fd = lat_io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    const bool taken = fd >= 0 && is_taken(fd);

    if (fd >= 0)
        close(fd);
    return taken;
}

int lat_output_park(lat_output *out, uint64_t bytes, lat_parked *part)
{
    char path[PATH_MAX];

    if (lat_io_elsewhere(out->comm) || (out->parked && bytes == part->bytes))
        return 0;
    if (checksum(out->fd, part->bytes, bytes, NULL, &part->crc))
        return lat_fail("%s: cannot be read back", out->name);
    part->bytes = bytes;
    if (lat_output_fsync(out) < 0)
        return -1;
    if (out->parked)
        return 0;
    if (!part_name(out->target, path))
        return lat_fail("%s: its name is too long for a checkpoint", out->name);
    if (taken_by_name(path) || is_taken(out->fd))
        return lat_fail("%s: another run with a checkpoint writes this output", out->name);
    if (lat_temporary_park(out->temp, path) < 0)
        return lat_fail("%s: cannot become %s: %s", out->name, path, strerror(errno));
    out->parked = true;
    return 0;
}

void lat_output_unpark(lat_output *out)
{
    if (out->parked)
        lat_temporary_own(out->temp);
    out->parked = false;
}

void lat_output_back(lat_output *out, uint64_t at)
{
    lat_output_unmap(out);
    out->used = 0;
    if (!lat_io_elsewhere(out->comm) && ftruncate(out->fd, (off_t)at) == 0)
        out->position = at;
}

/* The file, open, if it begins with these bytes, is ours, and nobody else goes on in it; or -1. */
static int open_part(const char *path, const lat_parked *part)
{
    struct stat it, now;
    uint32_t crc = 0;
    const int fd = lat_io_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (!is_taken(fd) && fstat(fd, &it) == 0 && stat(path, &now) == 0 && lat_io_same(&it, &now)
        && S_ISREG(it.st_mode) && it.st_uid == geteuid() && (uint64_t)it.st_size >= part->bytes
        && checksum(fd, 0, part->bytes, NULL, &crc) == 0 && crc == part->crc)
        return fd;
    close(fd);
    return -1;
}

/* The output becomes that file. */
static int adopt(lat_output *out, int fd, const char *path, const lat_parked *part)
{
    if (ftruncate(fd, (off_t)part->bytes) < 0 || lseek(fd, 0, SEEK_END) < 0) {
        lat_fail("%s: cannot be continued: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    lat_temporary_adopt(out->temp, path);
    close(out->fd);
    out->fd = fd;
    out->position = part->bytes;
    out->parked = true;
    return 0;
}

int lat_output_continue(lat_output *out, const lat_parked *part, bool keep)
{
    char beside[PATH_MAX] = "";
    uint32_t crc = 0;
    int fd = -1, rc;

    if (lat_io_elsewhere(out->comm))
        return 0;
    if (!lat_output_is_hidden(out) || !part_name(out->target, beside))
        return lat_fail("%s: expected the output file that the run of the checkpoint has begun",
                        out->name);
    lat_output_unmap(out);
    if ((fd = open_part(beside, part)) >= 0 && !keep)
        return adopt(out, fd, beside, part);
    if (fd < 0 && (fd = open_part(out->target, part)) < 0)
        return lat_fail("%s: expected what the run of the checkpoint has written, %llu bytes with "
                        "checksum %08x, in use by no other run, found none",
                        beside, (unsigned long long)part->bytes, (unsigned)part->crc);
    if ((rc = checksum(fd, 0, part->bytes, out, &crc)) == 0)
        rc = lat_output_flush(out);
    close(fd);
    return rc <= 0 && (rc || crc == part->crc)
               ? rc
               : lat_fail("%s: has changed while it was copied", out->name);
}
