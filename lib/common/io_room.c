/* SPDX-License-Identifier: BSD-3-Clause */
/* io_room.c: room for what will be written, taken by a thread while the caller works. In a file system that is memory, the file
 * is mapped as well, so that all threads can put their bytes where they belong. Not in one on a disk, which is what takes
 * its time there; and where a page that finds no place kills who touches it. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "error.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; others say EINVAL */
#endif

#define FEW ((uint64_t)1 << 26)   /* bytes that are written as soon as a thread has been started */
#define PIECE ((uint64_t)1 << 25) /* taken at a time: nobody waits for more */

static uint64_t page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Who has limited the memory of a process has not counted on this; ranks send their blocks to one who writes them. */
static void map(lat_output *out)
{
    const uint64_t from = out->put / page() * page();
    struct rlimit most;
    struct statfs fs;
    void *p;

    if (lat_comm_world->size > 1 || fstatfs(out->fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC || getrlimit(RLIMIT_AS, &most) < 0
        || most.rlim_cur != RLIM_INFINITY || ftruncate(out->fd, (off_t)out->expected) < 0)
        return;
    p = mmap(NULL, out->expected - from, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, (off_t)from);
    if (p == MAP_FAILED)
        return;
    out->map = p;
    out->mapped = from;
    out->ready = out->put;
}

/* n bytes more of the map, every page in memory: they can be filled without fail. */
static void populate(lat_output *out, uint64_t n)
{
    const uint64_t from = out->room / page() * page(), to = out->room + n;

    if (out->map && out->ready == out->room && madvise(out->map + (from - out->mapped), to - from, MADV_POPULATE_WRITE) == 0)
        out->ready = to;
}

/* Not every file system can do it: then bytes find their room when they are written. */
static void *take_room(void *output)
{
    lat_output *out = output;
    uint64_t n;

    for (map(out); out->room < out->expected && !atomic_load(&out->enough); out->room += n) {
        n = out->expected - out->room < PIECE ? out->expected - out->room : PIECE;
        if (fallocate(out->fd, FALLOC_FL_KEEP_SIZE, (off_t)out->room, (off_t)n) < 0) {
            if (errno == ENOSPC || errno == EDQUOT) {
                lat_warn("%s: %.2f GB may not fit: %s", out->name, (double)(out->expected - out->put) * 1e-9, strerror(errno));
                out->ready = out->put;
                if (ftruncate(out->fd, (off_t)out->put) == 0) /* others may have what we cannot use */
                    out->room = out->put;
            }
            break;
        }
        populate(out, n);
    }
    return NULL;
}

void lat_output_expect(lat_output *out, uint64_t n)
{
    sigset_t all, before;

    if (out->taking && out->expected == out->put + n)
        return;
    lat_output_unmap(out);
    if (lat_io_elsewhere() || !lat_output_is_hidden(out) || n < FEW || n > INT64_MAX / 2 - out->put)
        return;
    out->room = out->put;
    out->expected = out->put + n;
    atomic_store(&out->enough, false);
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    out->taking = pthread_create(&out->thread, NULL, take_room, out) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void lat_output_enough(lat_output *out)
{
    if (!out->taking)
        return;
    atomic_store(&out->enough, true);
    pthread_join(out->thread, NULL);
    out->taking = false;
}

void lat_output_unmap(lat_output *out)
{
    lat_output_enough(out);
    if (out->map)
        munmap(out->map, out->expected - out->mapped);
    out->map = NULL;
}

/* Pages are handed back by all threads, as they come: one alone would need as long for it as all for their copies. */
void lat_output_placed(void *p, size_t n)
{
    const uintptr_t size = (uintptr_t)page(), from = ((uintptr_t)p + size - 1) / size * size, to = ((uintptr_t)p + n) / size * size;

    if (from < to)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

int lat_output_trim(lat_output *out)
{
    lat_output_unmap(out);
    return out->expected > out->put && ftruncate(out->fd, (off_t)out->put) < 0 ? -1 : 0;
}
