/* SPDX-License-Identifier: BSD-3-Clause */
/* run_folder.c: a folder for one run of several ranks; folders that were left are removed. */
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define OURS (S_IFDIR | S_ISVTX | 0700)
#define RANDOM "XXXXXX"

/* TMPDIR without links in its path, whose ends may change. NULL with errno if it is none. */
static const char *temporary_folder(char path[PATH_MAX])
{
    const char *tmp = getenv("TMPDIR");
    return realpath(tmp && *tmp ? tmp : "/tmp", path);
}

/* "lat-ranks-HOST-". */
static void prefix(char name[NAME_MAX + 1])
{
    char host[128] = "host";
    gethostname(host, sizeof host - 1);
    host[strcspn(host, "./")] = '\0';
    snprintf(name, NAME_MAX + 1, "lat-ranks-%s-", host);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Without the sticky bit nobody takes it for a folder that was left; it is locked before. Where a
 * folder cannot be locked (NFS), none is removed either. */
static int make(lat_run_folder *f)
{
    char tmp[PATH_MAX], name[NAME_MAX + 1];
    prefix(name);
    if (!temporary_folder(tmp))
        return -1;
    errno = ENAMETOOLONG;
    if (snprintf(f->path, sizeof f->path, "%s/%s" RANDOM, tmp, name) >= (int)sizeof f->path
        || !mkdtemp(f->path)) {
        *f->path = '\0';
        return -1;
    }
    f->fd = open(f->path, OPEN_FOLDER);
    if (f->fd < 0)
        return -1;
    (void)flock(f->fd, LOCK_EX);
    return fchmod(f->fd, OURS & 07777);
}

int lat_run_folder_make(lat_run_folder *f)
{
    const char *tmp = getenv("TMPDIR");
    f->fd = -1;
    if (make(f) == 0)
        return 0;
    lat_fail("no folder for a socket in %s: %s", tmp && *tmp ? tmp : "/tmp", strerror(errno));
    lat_run_folder_remove(f);
    return -1;
}

struct sockaddr_un lat_run_folder_address(int fd, const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%s", fd, name);
    return a;
}

/* ---- removing -------------------------------------------------------------------------------- */

/* Removes all that is in the folder, which it closes. */
static void empty(int fd)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (unlinkat(fd, e->d_name, 0) == 0)
            continue;
        const int below = openat(fd, e->d_name, OPEN_FOLDER);
        if (below >= 0)
            empty(below);
        (void)unlinkat(fd, e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

/* Removes the folder that is open as fd, and closes it; the lock is held until it is gone. */
static void remove_folder(const char *path, int fd)
{
    const int again = openat(fd, ".", OPEN_FOLDER);
    if (again >= 0)
        empty(again);
    (void)rmdir(path);
    close(fd);
}

void lat_run_folder_remove(lat_run_folder *f)
{
    if (!*f->path)
        return;
    if (f->fd >= 0)
        remove_folder(f->path, f->fd);
    else
        (void)rmdir(f->path);
    *f->path = '\0';
    f->fd = -1;
}

/* ---- what was left --------------------------------------------------------------------------- */

static bool is_left(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_mode == OURS && st.st_uid == geteuid()
           && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void lat_run_folders_clear(void)
{
    char tmp[PATH_MAX], name[NAME_MAX + 1], path[PATH_MAX];
    DIR *d = temporary_folder(tmp) ? opendir(tmp) : NULL;
    if (!d)
        return;
    prefix(name);
    const size_t n = strlen(name);
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, name, n) != 0 || strlen(e->d_name + n) != strlen(RANDOM))
            continue;
        const int fd = openat(dirfd(d), e->d_name, OPEN_FOLDER);
        if (fd >= 0 && is_left(fd)
            && snprintf(path, sizeof path, "%s/%s", tmp, e->d_name) < (int)sizeof path)
            remove_folder(path, fd);
        else if (fd >= 0)
            close(fd);
    }
    closedir(d);
}
