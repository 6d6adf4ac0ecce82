/* SPDX-License-Identifier: BSD-3-Clause */
/* io_reserve.c: room for what will be written, taken by threads while the caller works. In a file
 * system that is memory, the file is mapped as well, so that all threads can put their bytes where
 * they belong; whoever finds no pages there asks for them first, since one that finds no place
 * kills who touches it. Not in a file system on a disk, which is what takes its time there. */
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

#include "base/threads.h"
#include "base/error.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; others say EINVAL */
#endif

#define FEW ((uint64_t)1 << 26)   /* bytes that are written as soon as a thread has been started */
#define PIECE ((uint64_t)1 << 25) /* taken at a time: nobody waits for more */
#define MANY 4                    /* threads, which together make pages faster than one can write */

static uint64_t page(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* Who has limited the memory of a process has not counted on this. */
static void map(lat_output *out)
{
    const uint64_t from = out->put / page() * page();
    struct rlimit most;
    struct statfs fs;
    void *p;

    if (fstatfs(out->fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC || getrlimit(RLIMIT_AS, &most) < 0
        || most.rlim_cur != RLIM_INFINITY || ftruncate(out->fd, (off_t)out->expected) < 0)
        return;
    p = mmap(NULL, out->expected - from, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, (off_t)from);
    out->map = p == MAP_FAILED ? NULL : p;
    out->mapped = from;
}

static void unmap(lat_output *out)
{
    if (out->map)
        munmap(out->map, out->expected - out->mapped);
    out->map = NULL;
}

/* Pages of the map for the n bytes from `at` on: they can be filled without fail then. */
static bool populate(const lat_output *out, uint64_t at, uint64_t n)
{
    const uint64_t from = at / page() * page();

    return madvise(out->map + (from - out->mapped), at + n - from, MADV_POPULATE_WRITE) == 0;
}

/* The same where room has been taken, by the helpers. */
static bool populate_piece(const lat_output *out, uint64_t n)
{
    const uint64_t part = PIECE / MANY;
    bool good = true;

#pragma omp parallel for num_threads(out->helpers) reduction(&& : good)
    for (uint64_t at = 0; at < n; at += part)
        good = populate(out, out->room + at, n - at < part ? n - at : part) && good;
    return good;
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
                lat_warn("%s: %.2f GB may not fit: %s", out->name,
                         (double)(out->expected - out->put) * 1e-9, strerror(errno));
                unmap(out);
                if (ftruncate(out->fd, (off_t)out->put)
                    == 0) /* others may have what we cannot use */
                    out->room = out->put;
            }
            break;
        }
        if (out->map && !populate_piece(out, n))
            unmap(out);
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
    out->helpers = lat_threads() < MANY ? lat_threads() : MANY;
    atomic_store(&out->enough, false);
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    out->taking = pthread_create(&out->thread, NULL, take_room, out) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void lat_output_check_space(lat_output *out)
{
    if (!out->taking)
        return;
    atomic_store(&out->enough, true);
    pthread_join(out->thread, NULL);
    out->taking = false;
}

void lat_output_unmap(lat_output *out)
{
    lat_output_check_space(out);
    unmap(out);
}

/* Pages are handed back by all threads, as they come: one alone would need as long for it as all
 * for their copies. */
static void hand_back(unsigned char *p, size_t n)
{
    const uintptr_t size = (uintptr_t)page(), from = ((uintptr_t)p + size - 1) / size * size,
                    to = ((uintptr_t)p + n) / size * size;

    if (from < to)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

bool lat_output_reserve(lat_output *out, uint64_t n, uint64_t *at)
{
    lat_output_check_space(out);
    return out->map
           && lat_output_offset(out) + n <= (lat_threads() < MANY ? out->room : out->expected)
           && lat_output_reserve_at(out, n, at);
}

bool lat_output_write_at(const lat_output *out, uint64_t at, const void *buf, size_t n)
{
    unsigned char *to;

    if (!out->map || at < out->mapped || at > out->expected || n > out->expected - at
        || (at + n > out->room && !populate(out, at, n)))
        return false;
    to = out->map + (at - out->mapped);
    memcpy(to, buf, n);
    hand_back(to, n);
    return true;
}

int lat_output_trim(lat_output *out)
{
    lat_output_unmap(out);
    return out->expected > out->put && ftruncate(out->fd, (off_t)out->put) < 0 ? -1 : 0;
}
