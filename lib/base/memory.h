/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: memory whose failure is a sentence. */
#pragma once

#include <stddef.h>

/* Allocates count * size bytes, aligned to 64 bytes; from 2 MiB on aligned to 2 MiB and advised to
 * be huge pages. `what` names the purpose in the sentence of a failure:
 *
 *     out of memory: WHAT needs N bytes
 *
 * Returns NULL, with lat_error set, if there is no memory or count * size overflows. The contents
 * are undefined. The caller frees it by free(). */
void *lat_alloc(size_t count, size_t size, const char *what);

/* The same, all bytes 0. */
void *lat_alloc_zero(size_t count, size_t size, const char *what);

/* free() of each of these pointers, in order. */
#define LAT_FREE(...) \
    lat_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void lat_free_all(void *const *p, size_t n);

/* A text by printf's rules. NULL, with lat_error set, without memory. The caller frees it. */
char *lat_text_new(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Space for one element more, number `count`, which is zero, in a list that may move: `list` points
 * to the pointer to its first element. It was made by lat_grow alone, one element after the other,
 * or is NULL with count 0. 0, or -1 with lat_error set ("out of memory: WHAT"): the list stays as
 * it was. The caller frees it by free(). */
int lat_grow(void *list, long count, size_t size, const char *what);

/* n bytes from p on become 0, by all threads: a page of new memory is first touched here. */
void lat_zero(void *p, size_t n);
