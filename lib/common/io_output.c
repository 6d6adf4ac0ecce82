/* SPDX-License-Identifier: BSD-3-Clause */
/* io_output.c: buffered bytes to stdout, a device, or a temporary that takes a file's place when it
 * is whole. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#define DIRECT \
    ((size_t)1 << 16) /* so many bytes go out from where they are: to the buffer first would take \
                         half as long again */
#define SEND \
    ((size_t)1 \
     << 24) /* bytes that the disk is given at a time: at the end fsync has little to wait for */

static int output_standard(lat_output *out)
{
    struct stat st;

    if (!lat_io_usable(STDOUT_FILENO, O_RDONLY) || fstat(STDOUT_FILENO, &st) < 0)
        return lat_fail("<stdout>: is closed");
    out->fd = STDOUT_FILENO;
    out->regular = S_ISREG(st.st_mode);
    return 0;
}

/* A device, FIFO or the like, which exists and stays; and is what it was when it was examined. */
static int output_direct(lat_output *out, const char *path)
{
    struct stat now;

    out->fd = lat_io_open(path, O_WRONLY, 0);
    if (out->fd < 0)
        return lat_fail("%s: cannot be opened for writing: %s", path, strerror(errno));
    if (fstat(out->fd, &now) < 0 || !lat_io_same(&now, &out->file))
        return lat_fail("%s: became another file while it was opened", path);
    return 0;
}

/* Where everybody may make files, a stranger's link or FIFO is a trap: what we write would go where
 * they want it. (The kernel refuses these as well where its protected_symlinks is set.) */
static bool trap(const char *path)
{
    char folder[PATH_MAX];
    struct stat it, in;

    if (lstat(path, &it) < 0 || !(S_ISLNK(it.st_mode) || S_ISFIFO(it.st_mode))
        || it.st_uid == geteuid())
        return false;
    snprintf(folder, sizeof folder, "%.*s", lat_io_folder(path), path);
    return stat(*folder ? folder : ".", &in) == 0 && in.st_mode & S_IWOTH && it.st_uid != in.st_uid;
}

/* A file that replaces one is for the same people. Where we cannot give it to the same group,
 * ours gets no more than everybody has. */
static void keep_permissions(int fd, const struct stat *was)
{
    mode_t mode = was->st_mode & 0777;
    struct stat now;

    if (fstat(fd, &now) == 0 && now.st_gid != was->st_gid && fchown(fd, (uid_t)-1, was->st_gid) < 0)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    (void)fchmod(fd, mode); /* without it the mode is what umask has left of this one */
}

/* Nobody else reads what is not whole yet. A file system without permissions has nothing to hide.
 */
static void output_hide(lat_output *out)
{
    struct stat now;

    out->hidden = fstat(out->fd, &now) == 0 && fchmod(out->fd, now.st_mode & 0700) == 0;
    out->mode = now.st_mode & 0777;
}

static int output_show(lat_output *out)
{
    if (out->hidden && fchmod(out->fd, out->mode) < 0)
        return lat_fail("%s: cannot be given its permissions: %s", out->name, strerror(errno));
    return 0;
}

static int output_create(lat_output *out)
{
    const bool old = out->file.st_mode != 0;
    int folder;

    out->temp = lat_temporary_take();
    if (!out->temp)
        return -1;
    out->regular = true;
    out->fd = out->live ? lat_temporary_in_place(out->temp, out->target)
                        : lat_temporary_beside(out->temp, out->target,
                                               old ? out->file.st_mode & 0777 : 0666);
    if (out->fd >= 0) {
        if (old)
            keep_permissions(out->fd, &out->file);
        if (!out->live)
            output_hide(out);
        return 0;
    }
    folder = lat_io_folder(out->target);
    return lat_fail("%s: cannot create a file in %.*s: %s", out->name, folder ? folder : 1,
                    folder ? out->target : ".", strerror(errno));
}

/* A FILE that exists and is a file: may we replace it, and where is it really? */
static int output_existing(lat_output *out, const char *path)
{
    if (out->no_clobber)
        return lat_fail("%s: exists already (--no-clobber)", path);
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
        return lat_fail("%s: cannot be replaced: %s", path, strerror(errno));
    out->target = realpath(path, NULL);
    if (!out->target)
        return lat_fail("%s: cannot be followed: %s", path, strerror(errno));
    if (!out->live)
        return output_create(out);
    out->regular = true;
    return output_direct(out, path);
}

static int output_new(lat_output *out, const char *path)
{
    struct stat st;
    size_t n = strlen(path);

    if (n == 0)
        return lat_fail_usage("expected the name of an output file, found ''");
    if (path[n - 1] == '/')
        return lat_fail("%s: expected a file, found the name of a directory", path);
    if (lstat(path, &st) == 0)
        return lat_fail("%s: is a symbolic link to nothing", path);
    out->target = strdup(path);
    if (!out->target)
        return lat_fail("out of memory: the name of an output");
    return output_create(out);
}

static int output_file(lat_output *out, const char *path)
{
    int rc;

    if (trap(path))
        return lat_fail(
            "%s: is a link or FIFO of another user in a folder where everybody may make files",
            path);
    if (stat(path, &out->file) < 0) {
        rc = errno;
        out->file = (struct stat){.st_mode = 0};
        if (rc != ENOENT)
            return lat_fail("%s: cannot be written: %s", path, strerror(rc));
        rc = output_new(out, path);
    } else if (S_ISDIR(out->file.st_mode)) {
        return lat_fail("%s: expected a file, found a directory", path);
    } else {
        rc = S_ISREG(out->file.st_mode) ? output_existing(out, path) : output_direct(out, path);
    }
    out->untouched = out->live && out->regular;
    return rc;
}

/* Everything needed to write, the memory first: a FIFO's reader should not wait for it. */
static int output_prepare(lat_output *out, const char *path, unsigned flags)
{
    out->name = strdup(out->standard ? "<stdout>" : path);
    out->buf = lat_alloc(BUFFER, 1, "an output buffer");
    if (!out->name || !out->buf)
        return lat_fail("out of memory: the name of an output");
    if (lat_io_elsewhere())
        return 0;
    if ((out->standard ? output_standard(out) : output_file(out, path)) < 0)
        return -1;
    if (!(flags & (LAT_OUTPUT_FORCE | LAT_OUTPUT_TEXT)) && isatty(out->fd))
        return lat_fail_usage(
            "%s: not writing a configuration to a terminal (use -o FILE, or --force)", out->name);
    lat_io_widen(out->fd);
    return lat_output_register(out);
}

lat_output *lat_output_open(const char *path, unsigned flags)
{
    lat_output *out = lat_alloc(1, sizeof *out, "an output");

    if (!out)
        return NULL;
    *out = (lat_output){.fd = -1,
                        .standard = lat_io_is_standard(path),
                        .no_clobber = flags & LAT_OUTPUT_NO_CLOBBER,
                        .live = flags & LAT_OUTPUT_LIVE && !lat_io_is_standard(path)};
    if (output_prepare(out, path, flags) == 0)
        return out;
    lat_output_abort(out);
    return NULL;
}

void *lat_output_attach(lat_output *out, size_t size)
{
    return lat_io_attach(&out->attached, size, out->name);
}

const char *lat_output_name(const lat_output *out) { return out->name; }

bool lat_output_is_file(const lat_output *out) { return out->regular; }

bool lat_output_is_hidden(const lat_output *out) { return out->temp && !out->live; }

static int output_fail(lat_output *out)
{
    if (!out->failed)
        out->failed = errno;
    return lat_fail("%s: cannot be written: %s", out->name, strerror(out->failed));
}

/* From here on a live FILE is ours. */
static int output_touch(lat_output *out)
{
    if (!out->untouched)
        return 0;
    out->untouched = false;
    if (out->temp) {
        lat_temporary_forget(out->temp);
        out->temp = NULL;
        return 0;
    }
    return ftruncate(out->fd, 0) < 0 ? output_fail(out) : 0;
}

/* What is before byte `end` goes to the disk, but for what other threads have not filled yet. */
static void output_send(lat_output *out, uint64_t end)
{
    const uint64_t from = atomic_exchange(&out->sent, end);

    if (from < end)
        (void)sync_file_range(out->fd, (off_t)from, (off_t)(end - from), SYNC_FILE_RANGE_WRITE);
}

static int output_put(lat_output *out, const void *buf, size_t n)
{
    if (lat_io_elsewhere())
        return 0;
    if (out->failed)
        return output_fail(out);
    if (n > 0 && output_touch(out) < 0)
        return -1;
    lat_output_check_space(out);
    if ((out->ahead && lseek(out->fd, (off_t)out->put, SEEK_SET) < 0)
        || lat_io_write(out->fd, buf, n, -1) < 0)
        return output_fail(out);
    out->ahead = false;
    out->put += n;
    if (out->temp && out->put >= out->sent + SEND)
        output_send(out, out->put);
    return 0;
}

int lat_output_flush(lat_output *out)
{
    size_t n = out->used;

    out->used = 0;
    return output_put(out, out->buf, n);
}

int lat_output_write(lat_output *out, const void *buf, size_t n)
{
    const bool direct = n >= DIRECT;

    if ((direct || n > BUFFER - out->used) && lat_output_flush(out) < 0)
        return -1;
    if (direct)
        return output_put(out, buf, n);
    if (n)
        memcpy(out->buf + out->used, buf, n);
    out->used += n;
    return 0;
}

uint64_t lat_output_offset(const lat_output *out) { return out->put + out->used; }

int lat_output_seek(lat_output *out, uint64_t at, bool cut)
{
    if (lat_output_flush(out) < 0)
        return -1;
    if (lseek(out->fd, (off_t)at, SEEK_SET) < 0 || (cut && ftruncate(out->fd, (off_t)at) < 0))
        return output_fail(out);
    out->put = at;
    out->ahead = false;
    if (cut && out->sent > at)
        out->sent = at;
    return 0;
}

bool lat_output_reserve_at(lat_output *out, uint64_t n, uint64_t *at)
{
    *at = lat_output_offset(out);
    if (!lat_output_is_hidden(out) || out->failed || n > INT64_MAX - *at
        || (out->used > 0 && lat_output_flush(out) < 0))
        return false;
    lat_output_check_space(out);
    out->put += n;
    out->ahead = true;
    return true;
}

void lat_output_fill(lat_output *out, uint64_t at, const void *buf, size_t n)
{
    int none = 0;

    if (out->failed || lat_output_write_at(out, at, buf, n))
        return;
    if (lat_io_write(out->fd, buf, n, (off_t)at) < 0)
        atomic_compare_exchange_strong(&out->failed, &none, errno);
    else if ((atomic_fetch_add(&out->filled, n) + n) % SEND < n)
        output_send(out, at);
}

/* Closes, because network file systems report a full disk only then. Of stdout a copy is
 * closed, which asks the same question and keeps the number 1 taken. */
static int output_close(lat_output *out)
{
    int fd = out->standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : out->fd;

    if (!out->standard)
        out->fd = -1;
    if (fd < 0 || (close(fd) < 0 && errno != EINTR))
        return output_fail(out);
    return 0;
}

/* To the disk; a file system that cannot do it says so by EINVAL. */
static int output_sync(lat_output *out)
{
    int rc;

    do
        rc = fsync(out->fd);
    while (rc < 0 && errno == EINTR);
    return rc == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : output_fail(out);
}

/* Makes the temporary the target unless there is one. Not every file system has the flag, and
 * not every one has links; then an empty file of that name, made by O_EXCL, takes the place. */
static int rename_new(const char *from, const char *to)
{
    int fd;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) == 0)
        return unlink(from);
    if (errno == EEXIST)
        return -1;
    fd = lat_io_open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -1;
    close(fd);
    return rename(from, to);
}

static int output_rename(lat_output *out)
{
    int rc;

    rc = out->no_clobber ? rename_new(out->temp->path, out->target)
                         : rename(out->temp->path, out->target);
    if (rc < 0 && out->no_clobber && errno == EEXIST)
        return lat_fail("%s: exists already (--no-clobber), created by another meanwhile",
                        out->name);
    if (rc < 0)
        return lat_fail("%s: cannot be renamed from its temporary: %s", out->name, strerror(errno));
    lat_temporary_forget(out->temp);
    out->temp = NULL;
    return 0;
}

int lat_output_commit(lat_output *out)
{
    int rc = lat_output_flush(out);

    if (lat_io_elsewhere()) {
        lat_output_abort(out);
        return 0;
    }
    if (rc == 0)
        rc = output_touch(out); /* an empty one is complete, too */
    if (rc == 0 && lat_output_trim(out) < 0)
        rc = output_fail(out);
    if (rc == 0 && out->temp)
        rc = output_show(out);
    if (rc == 0 && out->temp)
        rc = output_sync(out);
    if (rc == 0)
        rc = output_close(out);
    if (rc == 0 && out->temp)
        rc = output_rename(out);
    lat_output_abort(out); /* nothing is left to give up unless something failed */
    return rc;
}

void lat_output_abort(lat_output *out)
{
    if (!out)
        return;
    lat_output_unregister(out);
    lat_output_unmap(out);
    if (out->fd >= 0 && !out->standard)
        close(out->fd);
    if (out->temp)
        lat_temporary_remove(out->temp);
    free(out->target);
    free(out->name);
    free(out->buf);
    free(out->attached);
    free(out);
}
