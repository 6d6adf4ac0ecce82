/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h: a list of different texts, each found by its number and by itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An empty one is {0}. */
typedef struct lat_names {
    char **name; /* [count] */
    long count;
    long *slot; /* [slots]: number + 1, or 0 */
    size_t slots;
} lat_names;

void lat_names_free(lat_names *n);

/* The number of a text, or -1 where it is not there. */
long lat_names_find(const lat_names *n, const char *name);

/* The same; it is added where it is not there. -1 with lat_error set, without memory. */
long lat_names_add(lat_names *n, const char *name);

/* Is a word among the words of a list, with blanks between? */
bool lat_names_word(const char *list, const char *word);
