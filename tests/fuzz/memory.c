/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: counts what the code under test allocates. The linker replaces malloc, calloc,
 * realloc, posix_memalign and free by these functions (-Wl,--wrap) in our objects only: expat, zlib
 * and libc keep theirs. The same for open. */
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "feed.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **p, size_t alignment, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **p, size_t alignment, size_t n);
void __wrap_free(void *p);

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

static bool files_refused;

void feed_files(bool allowed) { files_refused = !allowed; }

int __wrap_open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const int mode = flags & O_CREAT ? va_arg(ap, int) : 0;
    va_end(ap);
    if (files_refused && strncmp(path, "/proc/self/fd/", 14) != 0)
        feed_broken("opens %s", path);
    return __real_open(path, flags, mode);
}

static size_t most; /* 0: not counting */
static int64_t
    live; /* below 0 where memory that libc has allocated is freed: strdup, open_memstream */

void feed_memory(size_t limit)
{
    most = limit;
    live = 0;
}

static void ask(size_t n)
{
    if (most && (n > most || live + (int64_t)n > (int64_t)most)) {
        const size_t limit = most;
        most = 0;
        feed_broken("%zu bytes more than the %lld there are, allowed are %zu", n, (long long)live,
                    limit);
    }
}

static void *got(void *p)
{
    live += p ? (int64_t)malloc_usable_size(p) : 0;
    return p;
}

void *__wrap_malloc(size_t n)
{
    ask(n);
    return got(__real_malloc(n));
}

void *__wrap_calloc(size_t count, size_t n)
{
    ask(count * n);
    return got(__real_calloc(count, n));
}

void *__wrap_realloc(void *p, size_t n)
{
    live -= p ? (int64_t)malloc_usable_size(p) : 0;
    ask(n);
    return got(__real_realloc(p, n));
}

int __wrap_posix_memalign(void **p, size_t alignment, size_t n)
{
    ask(n);
    const int bad = __real_posix_memalign(p, alignment, n);
    if (!bad)
        got(*p);
    return bad;
}

void __wrap_free(void *p)
{
    live -= p ? (int64_t)malloc_usable_size(p) : 0;
    __real_free(p);
}
