/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_stream.h: text into memory that grows. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Like open_memstream(3). glibc's own drops bytes for which it finds no memory, and neither ferror
 * nor fclose reports it. */
typedef struct lat_memory_stream {
    char *text; /* after lat_memory_stream_close: n bytes and a zero, to be freed */
    size_t n, capacity;
} lat_memory_stream;

/* A stream for printf and friends; NULL, without a sentence, if there is no memory. */
FILE *lat_memory_stream_open(lat_memory_stream *m);

/* Closes the stream: 0 and m->text, or -1, without a sentence, if any byte was lost; then there is
 * nothing to free. */
int lat_memory_stream_close(FILE *to, lat_memory_stream *m);
