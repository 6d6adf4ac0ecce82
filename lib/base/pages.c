/* SPDX-License-Identifier: BSD-3-Clause */
#include "pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels return EINVAL */
#endif

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
