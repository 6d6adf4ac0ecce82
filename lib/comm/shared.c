/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.c: memory that the ranks of one host have in common. Rank 0 makes a file without a name
 * (memfd_create), and the others open it under /proc: nothing is left behind, however they end, and
 * /dev/shm need not be large enough. */
#include "shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"

/* Where the file is, and which file it is: in another PID namespace the same process number is
 * another process, with another file. */
typedef struct address {
    long process;
    int fd;
    dev_t device;
    ino_t inode;
} address;

/* On rank 0. RLIMIT_FSIZE holds for this file, too: beyond it a write is SIGXFSZ. */
static int create(size_t bytes, address *a)
{
    struct rlimit most;
    struct stat st;
    const int fd = getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur >= bytes
                       ? memfd_create("lat", MFD_CLOEXEC)
                       : -1;
    if (fd >= 0 && (ftruncate(fd, (off_t)bytes) || fstat(fd, &st))) {
        close(fd);
        return -1;
    }
    if (fd >= 0)
        *a = (address){getpid(), fd, st.st_dev, st.st_ino};
    return fd;
}

static int open_of_rank0(const address *a)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", a->process, a->fd);
    const int fd = a->fd >= 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0 || (fstat(fd, &st) == 0 && st.st_dev == a->device && st.st_ino == a->inode))
        return fd;
    close(fd);
    return -1;
}

bool lat_shared_none(const lat_comm *comm)
{
    const char *choice = getenv("LAT_SHARED");
    return comm->host_size < comm->size || (choice && !strcmp(choice, "no"));
}

int lat_shared_alloc(const lat_comm *comm, size_t bytes, lat_shared *s)
{
    address a = {.fd = -1};
    *s = (lat_shared){NULL, bytes, -1};
    if (comm->size == 1 || comm->host_size < comm->size)
        return 0;
    if (comm->rank == 0 && !lat_shared_none(comm))
        s->file = create(bytes, &a);
    if (comm->broadcast(comm, &a, sizeof a, 0))
        return -1;
    if (comm->rank != 0)
        s->file = open_of_rank0(&a);
    void *p = s->file < 0 ? MAP_FAILED
                          : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
    bool all;
    s->at = p == MAP_FAILED ? NULL : p;
    const int rc = lat_agree_all(comm, s->at != NULL, &all); /* all ranks have opened the file */
    if (rc || !all)
        lat_shared_free(s);
    return rc;
}

int lat_shared_reserve(const lat_shared *s)
{
    return fallocate(s->file, 0, 0, (off_t)s->bytes)
               ? lat_fail("out of memory: shared memory of the ranks needs %zu bytes", s->bytes)
               : 0;
}

void lat_shared_free(lat_shared *s)
{
    if (s->at)
        munmap(s->at, s->bytes);
    if (s->file >= 0)
        close(s->file);
    *s = (lat_shared){NULL, 0, -1};
}
