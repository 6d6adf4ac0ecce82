/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_index.c: B-trees of version 2 and fractal heaps: where links and attributes of large groups
 * are, and chunks that may grow along several axes. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "hdf5_bytes.h"

#define number lat_hdf5_number
#define DEPTH 8            /* most levels of a tree */
#define NODE (1 << 14)     /* most bytes of a node */
#define ROWS 62            /* most rows of a heap: each is twice the one before */
#define AROUND (4 + 2 + 4) /* mark, version and type, sum */

/* ---- trees ----------------------------------------------------------------------------------- */

typedef struct tree {
    lat_hdf5 *h;
    lat_hdf5_record *each;
    void *context;
    int type;
    size_t node, record; /* bytes */
    struct {
        uint64_t most;  /* records of a node */
        int count, all; /* bytes of the numbers of records in a child, and in all below it */
    } level[DEPTH + 1];
} tree;

/* Bytes that hold numbers up to n. */
static int bytes_of(uint64_t n)
{
    int bytes = 1;
    while (bytes < 8 && n >> 8 * bytes)
        bytes++;
    return bytes;
}

/* The size of a node says how many records it can hold; these how wide counts of them are. */
static bool measure(tree *t, int depth)
{
    if (depth > DEPTH || t->node > NODE || t->node < AROUND || t->record < 1
        || t->record > t->node - AROUND)
        return false;
    uint64_t all = t->level[0].most = (t->node - AROUND) / t->record;
    for (int u = 1; u <= depth; u++) {
        t->level[u].count = bytes_of(t->level[0].most);
        t->level[u].all = u > 1 ? bytes_of(all) : 0;
        const size_t pointer = 8 + (size_t)(t->level[u].count + t->level[u].all);
        if (t->node < AROUND + pointer)
            return false;
        const uint64_t most = (t->node - AROUND - pointer) / (t->record + pointer);
        t->level[u].most = most;
        all = all > UINT64_MAX / (most + 2) ? UINT64_MAX : (most + 1) * all + most;
    }
    return true;
}

static int take_node(const tree *t, uint64_t address, uint64_t n, int level);

/* Records and, between them, what is below. */
static int take_records(const tree *t, const unsigned char *b, uint64_t n, int level)
{
    const int count = t->level[level].count;
    const unsigned char *child = b + n * t->record;
    int rc = 0;
    for (uint64_t i = 0; i <= n && rc == 0; i++) {
        if (level) {
            rc = take_node(t, number(child, 8), number(child + 8, count), level - 1);
            child += 8 + count + t->level[level].all;
        }
        if (i < n && rc == 0)
            rc = t->each(t->context, b + i * t->record, t->record);
    }
    return rc;
}

static int take_node(const tree *t, uint64_t address, uint64_t n, int level)
{
    const int pointer = level ? 8 + t->level[level].count + t->level[level].all : 0;
    if (n > t->level[level].most)
        return lat_hdf5_damaged(t->h);
    const size_t size = AROUND + (size_t)n * t->record + (size_t)(n + 1) * (size_t)pointer;
    unsigned char *b = lat_alloc(size, 1, "an index in HDF5");
    int rc = -1;
    if (b && lat_hdf5_description(t->h, address, size, b)
        && memcmp(b, level ? "BTIN" : "BTLF", 4) == 0 && b[5] == t->type
        && lat_hdf5_sum_right(b, size))
        rc = take_records(t, b + 6, n, level);
    else if (b)
        lat_hdf5_damaged(t->h);
    free(b);
    return rc;
}

int lat_hdf5_index(lat_hdf5 *h, uint64_t address, int type, lat_hdf5_record *each, void *context)
{
    unsigned char b[38];
    tree t = {.h = h, .each = each, .context = context, .type = type};
    if (!lat_hdf5_description(h, address, sizeof b, b) || memcmp(b, "BTHD", 4) != 0 || b[5] != type
        || !lat_hdf5_sum_right(b, sizeof b))
        return lat_hdf5_damaged(h);
    t.node = number(b + 6, 4);
    t.record = number(b + 10, 2);
    const int depth = (int)number(b + 12, 2);
    const uint64_t n = number(b + 24, 2);
    if (!measure(&t, depth))
        return lat_hdf5_damaged(h);
    return n ? take_node(&t, number(b + 16, 8), n, depth) : 0;
}

/* ---- heaps ----------------------------------------------------------------------------------- */

bool lat_hdf5_heap_open(lat_hdf5 *h, uint64_t address, lat_hdf5_heap *heap)
{
    unsigned char b[146];
    *heap = (lat_hdf5_heap){.h = h};
    if (!lat_hdf5_description(h, address, sizeof b, b) || memcmp(b, "FRHP", 4) != 0
        || number(b + 7, 2) != 0 || !lat_hdf5_sum_right(b, sizeof b))
        return false;
    heap->id = number(b + 5, 2);
    heap->huge = number(b + 22, 8);
    heap->width = lat_hdf5_power_of(number(b + 110, 2));
    heap->start = lat_hdf5_power_of(number(b + 112, 8));
    heap->direct = lat_hdf5_power_of(number(b + 120, 8));
    heap->root = number(b + 132, 8);
    heap->rows = (int)number(b + 140, 2);
    heap->offset_bytes = (int)(number(b + 128, 2) + 7) / 8;
    const int of_object = bytes_of(number(b + 10, 4)), of_block = (heap->direct + 7) / 8;
    heap->length_bytes = of_object < of_block ? of_object : of_block;
    return heap->width >= 0 && heap->start >= 0 && heap->direct >= heap->start && heap->rows <= ROWS
           && heap->offset_bytes >= 1 && heap->offset_bytes <= 8 && heap->length_bytes >= 1
           && heap->id >= 1 + (size_t)(heap->offset_bytes + heap->length_bytes);
}

/* The block that holds byte `at` of the heap, which becomes a byte of the block. Rows of blocks:
 * the first two have blocks of the first size, each further one of twice that; blocks that are too
 * large to hold objects hold rows of blocks. */
static bool find_block(const lat_hdf5_heap *heap, uint64_t *at, uint64_t *block, int *size)
{
    const uint64_t head = 4 + 1 + 8 + (uint64_t)heap->offset_bytes;
    int rows = heap->rows;
    *block = heap->root;
    *size = heap->start;
    while (rows > 0) {
        int row = 0, power = heap->start;
        unsigned char b[8];
        while (row < rows && power + heap->width < 63 && *at >> power >> heap->width) {
            *at -= (uint64_t)1 << (power + heap->width);
            power = heap->start + row++;
        }
        if (row == rows || power + heap->width >= 63 || !lat_hdf5_description(heap->h, *block, 4, b)
            || memcmp(b, "FHIB", 4) != 0)
            return false;
        const uint64_t entry = ((uint64_t)row << heap->width) + (*at >> power);
        if (!lat_hdf5_description(heap->h, *block + head + 8 * entry, 8, b))
            return false;
        *at &= ((uint64_t)1 << power) - 1;
        *block = number(b, 8);
        *size = power;
        rows = power > heap->direct ? power - heap->start - heap->width + 1 : 0;
    }
    return rows == 0;
}

/* A huge object lies in the file on its own: an index has its address, size and key. */
typedef struct huge_object {
    uint64_t key, address, size;
} huge_object;

static int compare_key(void *context, const unsigned char *record, size_t bytes)
{
    huge_object *o = context;
    if (bytes < 24 || number(record + 16, 8) != o->key)
        return 0;
    o->address = number(record, 8);
    o->size = number(record + 8, 8);
    return 1;
}

static size_t take_huge(const lat_hdf5_heap *heap, const unsigned char *id, void *to, size_t most)
{
    huge_object o = {.key = number(id + 1, heap->id > 8 ? 8 : (int)heap->id - 1)};
    return lat_hdf5_index(heap->h, heap->huge, 1, compare_key, &o) == 1 && o.size <= most
                   && lat_hdf5_description(heap->h, o.address, o.size, to)
               ? (size_t)o.size
               : 0;
}

size_t lat_hdf5_heap_object(const lat_hdf5_heap *heap, const unsigned char *id, void *to,
                            size_t most)
{
    if (id[0] == 0x10)
        return take_huge(heap, id, to, most);
    uint64_t at = number(id + 1, heap->offset_bytes), block;
    const uint64_t n = number(id + 1 + heap->offset_bytes, heap->length_bytes);
    unsigned char mark[4];
    int size;
    if (id[0] != 0 || n > most || !find_block(heap, &at, &block, &size) || at > (uint64_t)1 << size
        || n > ((uint64_t)1 << size) - at || !lat_hdf5_description(heap->h, block, 4, mark)
        || memcmp(mark, "FHDB", 4) != 0 || !lat_hdf5_description(heap->h, block + at, n, to))
        return 0;
    return (size_t)n;
}
