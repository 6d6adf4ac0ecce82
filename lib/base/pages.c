/* SPDX-License-Identifier: BSD-3-Clause */
#include "pages.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels return EINVAL */
#endif

#define PIECE ((size_t)16 << 20) /* others who change the address space wait for each */

bool lat_pages_populate(void *at, size_t bytes)
{
    return madvise(at, bytes, MADV_POPULATE_WRITE) == 0;
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
    sigset_t all, before; /* signals are the main thread's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->running = p->bytes && pthread_create(&p->thread, NULL, populate, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void lat_pages_end(lat_pages *p)
{
    if (p->running)
        pthread_join(p->thread, NULL);
    p->running = false;
}
