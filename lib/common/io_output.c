/* SPDX-License-Identifier: BSD-3-Clause */
/* io_output.c: lat_output: buffered bytes to stdout, to a device, or to a temporary file that
 * replaces FILE when it is complete. */
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

#define DIRECT ((size_t)1 << 16) /* bytes that are written without the buffer: a copy less */
#define SYNC ((size_t)1 << 24)   /* bytes that go to the disk at a time: fsync then waits for few */

static int output_standard(lat_output *out)
{
    struct stat st;
    if (!lat_io_usable(STDOUT_FILENO, O_RDONLY) || fstat(STDOUT_FILENO, &st) < 0)
        return lat_fail("<stdout>: is closed");
    out->fd = STDOUT_FILENO;
    out->regular = S_ISREG(st.st_mode);
    return 0;
}

/* Opens what exists and stays: a device, a FIFO; or a live FILE. It must still be the file that was
 * examined. */
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

/* True for a link or FIFO of another user in a folder that everybody may write to: it would lead
 * our bytes to where that user wants them. (The kernel refuses these, too, with
 * protected_symlinks.) */
static bool is_trap(const char *path)
{
    char folder[PATH_MAX];
    struct stat it, in;
    if (lstat(path, &it) < 0 || !(S_ISLNK(it.st_mode) || S_ISFIFO(it.st_mode))
        || it.st_uid == geteuid())
        return false;
    snprintf(folder, sizeof folder, "%.*s", lat_io_folder(path), path);
    return stat(*folder ? folder : ".", &in) == 0 && in.st_mode & S_IWOTH && it.st_uid != in.st_uid;
}

/* True for a file of another user in a folder with the sticky bit, such as /tmp, of another user:
 * it can be written to, and not replaced. */
static bool is_of_another(const struct stat *file, const char *target)
{
    char folder[PATH_MAX];
    struct stat in;
    snprintf(folder, sizeof folder, "%.*s", lat_io_folder(target), target);
    return geteuid() != 0 && file->st_uid != geteuid() && stat(*folder ? folder : ".", &in) == 0
           && in.st_mode & S_ISVTX && in.st_uid != geteuid();
}

/* Gives a file the permissions of the one that it replaces. Where it cannot get the same group, its
 * own group gets no more than everybody has. */
static void copy_permissions(int fd, const struct stat *was)
{
    mode_t mode = was->st_mode & 0777;
    struct stat now;
    if (fstat(fd, &now) == 0 && now.st_gid != was->st_gid && fchown(fd, (uid_t)-1, was->st_gid) < 0)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    (void)fchmod(fd, mode); /* on failure it has this mode less umask */
}

/* Others may not read an incomplete file. A file system without permissions cannot hide it. */
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
    out->temp = lat_temporary_take();
    if (!out->temp)
        return -1;
    out->regular = true;
    out->fd = out->live ? lat_temporary_in_place(out->temp, out->target)
                        : lat_temporary_beside(out->temp, out->target,
                                               old ? out->file.st_mode & 0777 : 0666);
    if (out->fd >= 0) {
        if (old)
            copy_permissions(out->fd, &out->file);
        if (!out->live)
            output_hide(out);
        return 0;
    }
    int folder = lat_io_folder(out->target);
    return lat_fail("%s: cannot create a file in %.*s: %s", out->name, folder ? folder : 1,
                    folder ? out->target : ".", strerror(errno));
}

/* A FILE that is a regular file: may it be replaced, and where is it, links resolved? */
static int output_existing(lat_output *out, const char *path)
{
    if (out->no_clobber)
        return lat_fail("%s: exists already (--no-clobber)", path);
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
        return lat_fail("%s: cannot be replaced: %s", path, strerror(errno));
    out->target = realpath(path, NULL);
    if (!out->target)
        return lat_fail("%s: cannot be followed: %s", path, strerror(errno));
    if (!out->live && is_of_another(&out->file, out->target))
        return lat_fail("%s: cannot be replaced: it belongs to another user, in a folder where "
                        "everybody may replace only his own files",
                        path);
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
    out->target = lat_text_new("%s", path);
    return out->target ? output_create(out) : -1;
}

static int output_file(lat_output *out, const char *path)
{
    int rc;
    if (is_trap(path))
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

/* Allocates, then opens: the reader of a FIFO is not to wait for memory that there is not. */
static int output_prepare(lat_output *out, const char *path, unsigned flags)
{
    out->name = lat_text_new("%s", out->standard ? "<stdout>" : path);
    out->buf = lat_alloc(BUFFER, 1, "an output buffer");
    if (!out->name || !out->buf)
        return -1;
    if (lat_io_elsewhere(out->comm))
        return 0;
    if ((out->standard ? output_standard(out) : output_file(out, path)) < 0)
        return -1;
    if (!(flags & (LAT_OUTPUT_FORCE | LAT_OUTPUT_TEXT)) && isatty(out->fd))
        return lat_fail_usage(
            "%s: not writing a configuration to a terminal (use -o FILE, or --force)", out->name);
    lat_io_widen(out->fd);
    return lat_output_register(out);
}

lat_output *lat_output_open(const char *path, unsigned flags, const lat_comm *comm)
{
    lat_output *out = lat_alloc(1, sizeof *out, "an output");
    if (!out)
        return NULL;
    *out = (lat_output){.comm = comm,
                        .fd = -1,
                        .standard = lat_io_is_standard(path),
                        .no_clobber = flags & LAT_OUTPUT_NO_CLOBBER,
                        .other = flags & (LAT_OUTPUT_TEXT | LAT_OUTPUT_OTHER),
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

const lat_comm *lat_output_comm(const lat_output *out) { return out->comm; }

bool lat_output_is_file(const lat_output *out) { return out->regular; }

bool lat_output_is_hidden(const lat_output *out) { return out->temp && !out->live; }

static int output_fail(lat_output *out)
{
    if (!out->failed)
        out->failed = errno;
    return lat_fail("%s: cannot be written: %s", out->name, strerror(out->failed));
}

/* Before the first byte: empties a live FILE, and keeps it whatever happens from now on. */
static int output_claim(lat_output *out)
{
    if (!out->untouched)
        return 0;
    out->untouched = false;
    if (out->temp) {
        lat_temporary_keep(out->temp);
        out->temp = NULL;
        return 0;
    }
    return ftruncate(out->fd, 0) < 0 ? output_fail(out) : 0;
}

/* Begins to write what is before byte `end` to the disk. */
static void output_sync_to(lat_output *out, uint64_t end)
{
    const uint64_t from = atomic_exchange(&out->synced, end);
    if (from < end)
        (void)sync_file_range(out->fd, (off_t)from, (off_t)(end - from), SYNC_FILE_RANGE_WRITE);
}

static int output_write(lat_output *out, const void *buf, size_t n)
{
    if (lat_io_elsewhere(out->comm))
        return 0;
    if (out->failed)
        return output_fail(out);
    if (n > 0 && output_claim(out) < 0)
        return -1;
    lat_output_stop_preallocation(out);
    if ((out->repositioned && lseek(out->fd, (off_t)out->position, SEEK_SET) < 0)
        || lat_io_write(out->fd, buf, n, -1) < 0)
        return output_fail(out);
    out->repositioned = false;
    out->position += n;
    if (out->temp && out->position >= out->synced + SYNC)
        output_sync_to(out, out->position);
    return 0;
}

int lat_output_flush(lat_output *out)
{
    size_t n = out->used;
    out->used = 0;
    return output_write(out, out->buf, n);
}

int lat_output_write(lat_output *out, const void *buf, size_t n)
{
    const bool direct = n >= DIRECT;
    if ((direct || n > BUFFER - out->used) && lat_output_flush(out) < 0)
        return -1;
    if (direct)
        return output_write(out, buf, n);
    if (n)
        memcpy(out->buf + out->used, buf, n);
    out->used += n;
    return 0;
}

uint64_t lat_output_offset(const lat_output *out) { return out->position + out->used; }

int lat_output_seek(lat_output *out, uint64_t at, bool cut)
{
    if (lat_output_flush(out) < 0)
        return -1;
    if (lseek(out->fd, (off_t)at, SEEK_SET) < 0 || (cut && ftruncate(out->fd, (off_t)at) < 0))
        return output_fail(out);
    out->position = at;
    out->repositioned = false;
    if (cut && out->synced > at)
        out->synced = at;
    return 0;
}

bool lat_output_reserve(lat_output *out, uint64_t n, uint64_t *at)
{
    *at = lat_output_offset(out);
    if (!lat_output_is_hidden(out) || out->failed || n > INT64_MAX - *at
        || (out->used > 0 && lat_output_flush(out) < 0))
        return false;
    lat_output_stop_preallocation(out);
    out->position += n;
    out->repositioned = true;
    return true;
}

void lat_output_write_at(lat_output *out, uint64_t at, const void *buf, size_t n)
{
    int none = 0;
    if (out->failed || lat_output_write_mapped(out, at, buf, n))
        return;
    if (lat_io_write(out->fd, buf, n, (off_t)at) < 0)
        atomic_compare_exchange_strong(&out->failed, &none, errno);
    else if ((atomic_fetch_add(&out->written_at, n) + n) % SYNC < n)
        output_sync_to(out, at);
}

/* Network file systems report a full disk only at close. Of stdout a copy is closed, which gives
 * the same answer and keeps the number 1 taken. */
static int output_close(lat_output *out)
{
    int fd = out->standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : out->fd;
    if (!out->standard)
        out->fd = -1;
    if (fd < 0 || (close(fd) < 0 && errno != EINTR))
        return output_fail(out);
    return 0;
}

/* A file system without fsync returns EINVAL. */
int lat_output_fsync(lat_output *out)
{
    int rc;
    do
        rc = fsync(out->fd);
    while (rc < 0 && errno == EINTR);
    return rc == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : output_fail(out);
}

int lat_output_settle(lat_output *out)
{
    lat_output_unmap(out);
    return out->failed ? output_fail(out) : lat_output_fsync(out);
}

/* Renames the temporary to the target unless that exists. Not every file system has
 * RENAME_NOREPLACE, and not every one has links: then O_EXCL creates an empty file of that name,
 * which is renamed over. */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) == 0)
        return unlink(from);
    if (errno == EEXIST)
        return -1;
    int fd = lat_io_open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -1;
    close(fd);
    return rename(from, to);
}

static int output_rename(lat_output *out)
{
    int rc = out->no_clobber ? rename_new(out->temp->path, out->target)
                             : rename(out->temp->path, out->target);
    if (rc < 0 && out->no_clobber && errno == EEXIST)
        return lat_fail("%s: exists already (--no-clobber), created by another meanwhile",
                        out->name);
    if (rc < 0)
        return lat_fail("%s: cannot be renamed from its temporary: %s", out->name, strerror(errno));
    lat_temporary_keep(out->temp);
    out->temp = NULL;
    return 0;
}

int lat_output_commit(lat_output *out)
{
    int rc = lat_output_flush(out);
    if (lat_io_elsewhere(out->comm)) {
        lat_output_abort(out);
        return 0;
    }
    /* An output of no bytes is complete, too. */
    rc = lat_rc(rc || output_claim(out) || (lat_output_trim(out) < 0 && output_fail(out))
                || (out->temp && (output_show(out) || lat_output_fsync(out))) || output_close(out)
                || (out->temp && output_rename(out)));
    lat_output_abort(out); /* frees; removes a temporary only after a failure */
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
    if (out->temp && out->parked)
        lat_temporary_keep(out->temp);
    else if (out->temp)
        lat_temporary_remove(out->temp);
    LAT_FREE(out->target, out->name, out->buf, out->attached, out);
}
