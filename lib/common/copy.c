/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c: memcpy by all threads. */
#include "copy.h"

#include <string.h>

#define PIECE ((size_t)1 << 18)

void lat_copy(void *to, const void *from, size_t bytes)
{
#pragma omp parallel for schedule(static) if (bytes > 4 * PIECE)
    for (size_t at = 0; at < bytes; at += PIECE)
        memcpy((char *)to + at, (const char *)from + at, bytes - at < PIECE ? bytes - at : PIECE);
}
