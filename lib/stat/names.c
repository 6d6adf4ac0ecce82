/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c: a hash table with open addressing, at most half full. */
#include "names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

void lat_names_free(lat_names *n)
{
    for (long i = 0; i < n->count; i++)
        free(n->name[i]);
    LAT_FREE(n->name, n->slot);
    *n = (lat_names){0};
}

/* FNV-1a */
static size_t hash(const char *s)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

/* The slot of a text, or the empty one where it would be. */
static size_t slot_of(const lat_names *n, const char *name)
{
    size_t i = hash(name) & (n->slots - 1);
    while (n->slot[i] && strcmp(n->name[n->slot[i] - 1], name))
        i = (i + 1) & (n->slots - 1);
    return i;
}

long lat_names_find(const lat_names *n, const char *name)
{
    return n->slots ? n->slot[slot_of(n, name)] - 1 : -1;
}

static int widen(lat_names *n)
{
    const size_t slots = n->slots ? 2 * n->slots : 64;
    long *slot = lat_alloc_zero(slots, sizeof *slot, "names"), *old = n->slot;
    if (!slot)
        return -1;
    n->slot = slot;
    n->slots = slots;
    for (long i = 0; i < n->count; i++)
        slot[slot_of(n, n->name[i])] = i + 1;
    free(old);
    return 0;
}

long lat_names_add(lat_names *n, const char *name)
{
    const long found = lat_names_find(n, name);
    if (found >= 0)
        return found;
    if (2 * ((size_t)n->count + 1) > n->slots && widen(n))
        return -1;
    if (lat_grow(&n->name, n->count, sizeof *n->name, "names")
        || !(n->name[n->count] = lat_text_new("%s", name)))
        return -1;
    n->slot[slot_of(n, name)] = n->count + 1;
    return n->count++;
}

bool lat_names_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; n && (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
            return true;
    return false;
}
