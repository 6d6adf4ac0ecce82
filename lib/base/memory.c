/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: aligned memory whose failure is a sentence. */
#include "memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "error.h"

#define LINE ((size_t)64)           /* bytes of a cache line, and of the widest vectors */
#define HUGE_PAGE ((size_t)2 << 20) /* bytes */

void *lat_alloc(size_t count, size_t size, const char *what)
{
    size_t n;
    void *p;
    if (__builtin_mul_overflow(count, size, &n) || n > PTRDIFF_MAX - LINE)
        return lat_fail_null("out of memory: %s needs %zu times %zu bytes", what, count, size);
    if (posix_memalign(&p, n >= HUGE_PAGE ? HUGE_PAGE : LINE, n ? n : 1) != 0)
        return lat_fail_null("out of memory: %s needs %zu bytes", what, n);
    /* A sweep reads all of a field: huge pages save a fifth of its time. */
    if (n >= HUGE_PAGE)
        (void)madvise(p, n, MADV_HUGEPAGE);
    return p;
}

void *lat_alloc_zero(size_t count, size_t size, const char *what)
{
    void *p = lat_alloc(count, size, what);
    if (p)
        memset(p, 0, count * size);
    return p;
}

void lat_free_all(void *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(p[i]);
}

char *lat_text_new(const char *format, ...)
{
    char *text;
    va_list ap;
    va_start(ap, format);
    const int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n >= 0)
        return text;
    return lat_fail_null("out of memory: a text");
}

/* The capacity doubles when it is full: at 0, 1, 2, 4, .. elements. */
int lat_grow(void *list, long count, size_t size, const char *what)
{
    char *at;
    memcpy(&at, list, sizeof at);
    if ((count & (count - 1)) == 0)
        at = realloc(at, (size_t)(count ? 2 * count : 1) * size);
    if (!at)
        return lat_fail("out of memory: %s", what);
    memcpy(list, &at, sizeof at);
    memset(at + (size_t)count * size, 0, size);
    return 0;
}

void lat_zero(void *p, size_t n)
{
    const size_t pieces = n / HUGE_PAGE + 1;
#pragma omp parallel for schedule(static) if (pieces > 1)
    for (size_t i = 0; i < pieces; i++)
        memset((char *)p + i * HUGE_PAGE, 0, i + 1 < pieces ? HUGE_PAGE : n - i * HUGE_PAGE);
}
