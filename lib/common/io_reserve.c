/* SPDX-License-Identifier: BSD-3-Clause */
/* io_reserve.c: space for what will be written, preallocated by a thread while the caller computes.
 *
 * In tmpfs the file is also mapped into memory, so that all threads can copy their bytes to where
 * they belong. A write to a map without a free page is SIGBUS, so pages are populated first. Where
 * the file system is on a disk, the disk takes the time, and nothing is mapped. */
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/async.h"
#include "base/error.h"
#include "base/pages.h"
#include "base/threads.h"

#define MIN_BYTES ((uint64_t)1 << 26) /* fewer are written as soon as a thread is started */
#define STEP ((uint64_t)1 << 25) /* bytes preallocated at a time; lat_output_write waits for it */
#define MANY_THREADS 4           /* populate pages faster than one thread writes */

static uint64_t page(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

void lat_output_map(lat_output *out, uint64_t from, uint64_t end)
{
    struct rlimit most;
    struct statfs fs;
    if (fstatfs(out->fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC || getrlimit(RLIMIT_AS, &most) < 0
        || most.rlim_cur != RLIM_INFINITY)
        return;
    void *p = mmap(NULL, end - from, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, (off_t)from);
    if (p == MAP_FAILED)
        return;
    out->map = p;
    out->mapped = from;
    out->expected = end;
    /* Else the kernel keeps a list of pages that were used, behind one lock. */
    (void)madvise(out->map, end - from, MADV_SEQUENTIAL);
}

/* Not where one thread alone would copy: a page of a map is cleared first, and one that is written
 * is not. */
static void map(lat_output *out)
{
    if ((out->helpers > 1 || out->comm->size > 1) && ftruncate(out->fd, (off_t)out->expected) == 0)
        lat_output_map(out, out->position / page() * page(), out->expected);
}

/* By all threads, as munmap with one would take as long as all copies; and not block by block, as
 * every call interrupts all threads. */
static void unmap(lat_output *out)
{
    const uint64_t n = out->map ? out->expected - out->mapped : 0;
#pragma omp parallel for num_threads(lat_threads()) if (n > STEP)
    for (uint64_t at = 0; at < n; at += STEP)
        (void)madvise(out->map + at, n - at < STEP ? n - at : STEP, MADV_DONTNEED);
    if (n)
        munmap(out->map, n);
    out->map = NULL;
}

/* Populates the pages of the n bytes from `at` on: they can be written without SIGBUS then. */
static bool populate(const lat_output *out, uint64_t at, uint64_t n)
{
    const uint64_t from = at / page() * page();
    return lat_pages_populate(out->map + (from - out->mapped), at + n - from);
}

/* The same for the next n preallocated bytes, by all helpers. */
static bool populate_step(const lat_output *out, uint64_t n)
{
    const uint64_t part = STEP / MANY_THREADS;
    bool good = true;
#pragma omp parallel for num_threads(out->helpers) reduction(&& : good)
    for (uint64_t at = 0; at < n; at += part)
        good = populate(out, out->reserved + at, n - at < part ? n - at : part) && good;
    return good;
}

/* There is no space: warns, and gives back what was preallocated, which others may need. */
static void give_back(lat_output *out)
{
    lat_warn("%s: %.2f GB may not fit: %s", out->name, (double)(out->wanted - out->position) * 1e-9,
             strerror(errno));
    unmap(out);
    if (ftruncate(out->fd, (off_t)out->position) == 0)
        out->reserved = out->position;
}

/* The thread. A file system without fallocate allocates space when bytes are written. */
static int preallocate(void *output)
{
    lat_output *out = output;
    uint64_t n;
    for (map(out); out->reserved < out->wanted && !atomic_load(&out->stop); out->reserved += n) {
        n = out->wanted - out->reserved < STEP ? out->wanted - out->reserved : STEP;
        if (fallocate(out->fd, FALLOC_FL_KEEP_SIZE, (off_t)out->reserved, (off_t)n) < 0) {
            if (errno == ENOSPC || errno == EDQUOT)
                give_back(out);
            break;
        }
        if (out->map && !populate_step(out, n))
            unmap(out);
    }
    return 0;
}

void lat_output_preallocate(lat_output *out, uint64_t n, uint64_t most)
{
    if (out->preallocation.running && out->wanted == out->position + n)
        return;
    lat_output_unmap(out);
    if (lat_io_elsewhere(out->comm) || !lat_output_is_hidden(out) || n < MIN_BYTES
        || most > INT64_MAX / 2 - out->position)
        return;
    out->reserved = out->position;
    out->wanted = out->position + n;
    out->expected = out->position + most;
    out->helpers = lat_threads() < MANY_THREADS ? lat_threads() : MANY_THREADS;
    atomic_store(&out->stop, false);
    (void)lat_async_start(&out->preallocation, lat_threads(), preallocate, out);
}

void lat_output_stop_preallocation(lat_output *out)
{
    if (!out->preallocation.running)
        return;
    atomic_store(&out->stop, true);
    lat_async_wait(&out->preallocation);
}

void lat_output_unmap(lat_output *out)
{
    lat_output_stop_preallocation(out);
    unmap(out);
}

bool lat_output_reserve_mapped(lat_output *out, uint64_t n, uint64_t *at)
{
    lat_output_stop_preallocation(out);
    return out->map
           && lat_output_offset(out) + n
                  <= (lat_threads() < MANY_THREADS ? out->reserved : out->expected)
           && lat_output_reserve(out, n, at);
}

bool lat_output_write_mapped(const lat_output *out, uint64_t at, const void *buf, size_t n)
{
    if (!out->map || at < out->mapped || at > out->expected || n > out->expected - at
        || (at + n > out->reserved && !populate(out, at, n)))
        return false;
    unsigned char *to = out->map + (at - out->mapped);
    memcpy(to, buf, n);
    return true;
}

bool lat_output_mapped(lat_output *out)
{
    lat_output_stop_preallocation(out);
    return out->map && out->position >= out->mapped && out->position < out->expected;
}

int lat_output_trim(lat_output *out)
{
    lat_output_unmap(out);
    return out->expected > out->position && ftruncate(out->fd, (off_t)out->position) < 0 ? -1 : 0;
}
