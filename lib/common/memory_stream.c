/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_stream.c: text into memory that grows. */
#include "memory_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* m->capacity is larger than m->n: there is always a byte for the zero. */
static ssize_t append(void *memory, const char *buf, size_t n)
{
    lat_memory_stream *m = memory;
    if (n >= m->capacity - m->n) {
        const size_t capacity = 2 * m->capacity + n;
        char *text = realloc(m->text, capacity);
        if (!text)
            return 0; /* ferror() from here on */
        m->text = text;
        m->capacity = capacity;
    }
    memcpy(m->text + m->n, buf, n);
    m->n += n;
    return (ssize_t)n;
}

FILE *lat_memory_stream_open(lat_memory_stream *m)
{
    *m = (lat_memory_stream){.capacity = 256, .text = malloc(256)};
    FILE *to = m->text ? fopencookie(m, "w", (cookie_io_functions_t){.write = append}) : NULL;
    if (!to)
        free(m->text);
    return to;
}

int lat_memory_stream_close(FILE *to, lat_memory_stream *m)
{
    const int bad = ferror(to);
    if (fclose(to) || bad) {
        free(m->text);
        m->text = NULL;
        return -1;
    }
    m->text[m->n] = 0;
    return 0;
}
