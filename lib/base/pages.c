/* SPDX-License-Identifier: BSD-3-Clause */
#include "pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "thread.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels return EINVAL */
#endif

#define PIECE ((size_t)16 << 20) /* others who change the address space wait for each */

bool lat_pages_populate(void *at, size_t bytes)
{
    return madvise(at, bytes, MADV_POPULATE_WRITE) == 0;
}

void lat_pages_zero(void *data, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data,
                    from = (at + page - 1) & -page, to = (at + bytes) & -page;
    if (to <= from || madvise((void *)from, to - from, MADV_DONTNEED)) {
        lat_zero(data, bytes);
        return;
    }
    memset(data, 0, from - at);
    memset((void *)to, 0, at + bytes - to);
}

static void *populate(void *with)
{
    const lat_pages *p = with;
    for (size_t at = 0; at < p->bytes; at += PIECE)
        if (!lat_pages_populate(p->from + at, p->bytes - at < PIECE ? p->bytes - at : PIECE))
            break;
    return NULL;
}

void lat_pages_begin(lat_pages *p, void *data, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data,
                    from = (at + page - 1) & -page, to = (at + bytes) & -page;
    p->from = (char *)from;
    p->bytes = to > from ? to - from : 0;
    p->running = p->bytes && lat_thread_start(&p->thread, populate, p) == 0;
}

void lat_pages_end(lat_pages *p)
{
    if (p->running)
        pthread_join(p->thread, NULL);
    p->running = false;
}
