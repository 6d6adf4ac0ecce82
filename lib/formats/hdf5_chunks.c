/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_chunks.c: where the chunks of a set are: the tree of the first versions of HDF5, and the
 * indices of layouts of version 4 and 5 (libver='latest'). */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "hdf5_bytes.h"

#define number lat_hdf5_number
#define MOST_PAGE 16 /* power of two of the entries with one sum */
#define NO_INDEX "its chunks have no proper index (damaged?)"

typedef struct chunks {
    lat_hdf5 *h;
    const lat_hdf5_set *s;
    lat_hdf5_each_chunk *each;
    void *context;
    int64_t count;
    uint64_t last[8]; /* the one before */
} chunks;

int lat_hdf5_unread(const lat_hdf5 *h, const lat_hdf5_set *s, const char *why)
{
    return lat_fail("%s: dataset %s cannot be read: %s", h->name, s->name, why);
}

uint64_t lat_hdf5_product(int n, const uint64_t *d, uint64_t each)
{
    for (int i = 0; i < n; i++)
        each = each && d[i] > UINT64_MAX / each ? 0 : each * d[i]; /* 0: too many, or none */
    return each;
}

uint64_t lat_hdf5_chunk_bytes(const lat_hdf5_set *s)
{
    return lat_hdf5_product(s->rank, s->chunk, s->element);
}

/* Chunks side by side along an axis. */
static uint64_t along(const lat_hdf5_set *s, int i)
{
    return s->extent[i] / s->chunk[i] + (s->extent[i] % s->chunk[i] != 0);
}

uint64_t lat_hdf5_chunk_count(const lat_hdf5_set *s)
{
    uint64_t n = 1;
    for (int i = 0; i < s->rank; i++)
        n *= along(s, i);
    return n;
}

static int no_index(const chunks *w) { return lat_hdf5_unread(w->h, w->s, NO_INDEX); }

/* Chunks come in the order of their places, so none comes twice. */
static bool in_order(const chunks *w, const lat_hdf5_chunk *c)
{
    const lat_hdf5_set *s = w->s;
    int order = w->count ? 0 : 1;
    for (int i = 0; i < s->rank; i++) {
        if (c->first[i] >= s->extent[i] || c->first[i] % s->chunk[i])
            return false;
        if (!order)
            order = c->first[i] > w->last[i] ? 1 : c->first[i] < w->last[i] ? -1 : 0;
    }
    return order > 0;
}

static int hand_over(chunks *w, lat_hdf5_chunk *c)
{
    const lat_hdf5_set *s = w->s;
    if (c->address == LAT_HDF5_NOWHERE)
        return 0;
    if (!in_order(w, c))
        return no_index(w);
    for (int i = 0; i < s->rank && s->whole_edges; i++)
        if (s->extent[i] - c->first[i] < s->chunk[i])
            c->skipped = ~0u;
    memcpy(w->last, c->first, sizeof w->last);
    w->count++;
    return w->each(w->context, c);
}

/* A node of the tree, whose leaves are chunks; levels get less, so it ends. */
static int traverse(chunks *w, uint64_t address, int level)
{
    const lat_hdf5_set *s = w->s;
    const uint64_t key = 8 + 8 * ((uint64_t)s->rank + 1);
    unsigned char b[8 + 72 + 8];
    if (!lat_hdf5_description(w->h, address, 24, b) || memcmp(b, "TREE", 4) != 0 || b[4] != 1
        || (level >= 0 && b[5] != level))
        return no_index(w);
    const uint64_t n = number(b + 6, 2);
    const int here = b[5];
    int rc = 0;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        lat_hdf5_chunk c = {0};
        if (!lat_hdf5_description(w->h, address + 24 + i * (key + 8), key + 8, b))
            return no_index(w);
        c.address = number(b + key, 8);
        if (here) {
            rc = traverse(w, c.address, here - 1);
            continue;
        }
        c.stored = number(b, 4);
        c.skipped = (unsigned)number(b + 4, 4);
        for (int k = 0; k < s->rank; k++)
            c.first[k] = number(b + 8 + 8 * k, 8);
        rc = hand_over(w, &c);
    }
    return rc;
}

/* Address, and of filtered chunks their size and the filters that were skipped. */
static lat_hdf5_chunk entry(const lat_hdf5_set *s, const unsigned char *b, size_t bytes)
{
    lat_hdf5_chunk c = {.address = number(b, 8), .stored = lat_hdf5_chunk_bytes(s)};
    if (bytes > 8) {
        c.stored = number(b + 8, (int)bytes - 12);
        c.skipped = (unsigned)number(b + bytes - 4, 4);
    }
    return c;
}

/* Chunk i of all, the last axis first. */
static int hand_over_number(chunks *w, uint64_t i, lat_hdf5_chunk c)
{
    for (int k = w->s->rank - 1; k >= 0; k--) {
        c.first[k] = i % along(w->s, k) * w->s->chunk[k];
        i /= along(w->s, k);
    }
    return hand_over(w, &c);
}

/* A block that ends with its sum; NULL and a sentence: there is none. */
static unsigned char *block_with_sum(chunks *w, uint64_t address, const char *mark, uint64_t size)
{
    unsigned char *b = size <= w->h->left ? lat_alloc((size_t)size, 1, "an index in HDF5") : NULL;
    if (b && lat_hdf5_description(w->h, address, size, b) && lat_hdf5_sum_right(b, (size_t)size)
        && memcmp(b, mark, strlen(mark)) == 0)
        return b;
    free(b);
    no_index(w);
    return NULL;
}

/* n entries from number `first` on; those beyond the last chunk stand for none. */
static int take_entries(chunks *w, const unsigned char *b, uint64_t first, uint64_t n, size_t bytes)
{
    const uint64_t all = lat_hdf5_chunk_count(w->s);
    int rc = 0;
    for (uint64_t i = 0; i < n && first + i < all && rc == 0; i++)
        rc = hand_over_number(w, first + i, entry(w->s, b + i * bytes, bytes));
    return rc;
}

/* Entries behind `head` bytes of a block that ends with its sum. */
static int take_block(chunks *w, uint64_t address, const char *mark, size_t head, uint64_t first,
                      uint64_t n, size_t bytes)
{
    unsigned char *b = block_with_sum(w, address, mark, head + n * bytes + 4);
    const int rc = b ? take_entries(w, b + head, first, n, bytes) : -1;
    free(b);
    return rc;
}

/* An address, or with filters also a size of up to 8 bytes and those that were skipped. */
static bool is_entry(const lat_hdf5_set *s, int bytes)
{
    return s->filters ? bytes > 12 && bytes <= 20 : bytes == 8;
}

/* An array of entries: in one block or, if there are more than a page holds, in pages, of which a
 * map says which ones were written. */
static int take_array(chunks *w)
{
    const uint64_t n = lat_hdf5_chunk_count(w->s);
    unsigned char b[28];
    if (!lat_hdf5_description(w->h, w->s->address, sizeof b, b) || memcmp(b, "FAHD", 4) != 0
        || !lat_hdf5_sum_right(b, sizeof b) || b[7] > MOST_PAGE || !is_entry(w->s, b[6]))
        return no_index(w);
    if (number(b + 8, 8) != n)
        return lat_hdf5_unread(w->h, w->s, "its chunks have an index of other extents");
    const size_t bytes = b[6], head = 4 + 2 + 8;
    const uint64_t page = (uint64_t)1 << b[7], block = number(b + 16, 8);
    if (n <= page)
        return block == LAT_HDF5_NOWHERE ? 0 : take_block(w, block, "FADB", head, 0, n, bytes);
    const uint64_t map = ((n - 1) / page + 8) / 8;
    unsigned char *written = block_with_sum(w, block, "FADB", head + map + 4);
    int rc = written ? 0 : -1;
    for (uint64_t i = 0; i * page < n && rc == 0; i++)
        if (written[head + i / 8] & (0x80 >> i % 8))
            rc = take_block(w, block + head + map + 4 + i * (page * bytes + 4), "", 0, i * page,
                            n - i * page < page ? n - i * page : page, bytes);
    free(written);
    return rc;
}

/* An array that grows: the first entries are in its index, the others in blocks. Row u of blocks
 * has 2^(u/2) blocks of first 2^((u+1)/2) entries. The index has the addresses of the blocks of the
 * first rows, and of one block for each further row, which has those of that row. */
typedef struct growing {
    size_t bytes;       /* of an entry */
    uint64_t page, all; /* most entries with one sum; chunks of the set */
    size_t head;        /* bytes before the entries of a block */
    uint64_t at;        /* the next entry */
} growing;

static int take_grown_block(chunks *w, growing *g, uint64_t address, uint64_t n)
{
    const uint64_t first = g->at;
    g->at += n;
    if (first >= g->all || address == LAT_HDF5_NOWHERE)
        return 0;
    if (n <= g->page)
        return take_block(w, address, "EADB", g->head, first, n, g->bytes);
    int rc = take_block(w, address, "EADB", g->head, first, 0, g->bytes);
    address += g->head + 4;
    for (uint64_t i = 0; i < n && first + i < g->all && rc == 0; i += g->page)
        rc = take_block(w, address + i / g->page * (g->page * g->bytes + 4), "", 0, first + i,
                        g->page, g->bytes);
    return rc;
}

/* Row u, whose addresses are in a block of their own, behind a map of pages. */
static int take_grown_row(chunks *w, growing *g, uint64_t address, uint64_t blocks, uint64_t n)
{
    const uint64_t map = n > g->page ? blocks * ((n / g->page + 7) / 8) : 0;
    if (address == LAT_HDF5_NOWHERE || g->at >= g->all) {
        g->at += blocks * n;
        return 0;
    }
    unsigned char *b = block_with_sum(w, address, "EASB", g->head + map + 8 * blocks + 4);
    int rc = b ? 0 : -1;
    for (uint64_t i = 0; i < blocks && rc == 0; i++)
        rc = take_grown_block(w, g, number(b + g->head + map + 8 * i, 8), n);
    free(b);
    return rc;
}

static int take_growing(chunks *w)
{
    unsigned char b[72];
    if (!lat_hdf5_description(w->h, w->s->address, sizeof b, b) || memcmp(b, "EAHD", 4) != 0
        || !lat_hdf5_sum_right(b, sizeof b) || !is_entry(w->s, b[6]) || b[11] > MOST_PAGE)
        return no_index(w);
    const int bits = b[7], inside = b[8], first = lat_hdf5_power_of(b[9]),
              pointers = lat_hdf5_power_of(b[10]);
    const int rows = 1 + bits - first, direct = 2 * pointers;
    if (bits > 64 || first < 0 || pointers < 1 || rows < direct)
        return no_index(w);
    growing g = {b[6], (uint64_t)1 << b[11], lat_hdf5_chunk_count(w->s), 14, 0};
    const uint64_t named = 2 * (((uint64_t)1 << pointers) - 1), address = number(b + 60, 8);
    const uint64_t size = g.head + inside * g.bytes + 8 * (named + (uint64_t)(rows - direct)) + 4;
    unsigned char *index = address == LAT_HDF5_NOWHERE ? NULL
                                                       : block_with_sum(w, address, "EAIB", size);
    if (!index)
        return address == LAT_HDF5_NOWHERE ? 0 : -1;
    const unsigned char *to = index + g.head + inside * g.bytes;
    int rc = take_entries(w, index + g.head, 0, inside, g.bytes);
    g.at = inside;
    g.head += (size_t)(bits + 7) / 8;
    for (int u = 0; u < rows && g.at < g.all && rc == 0; u++) {
        const uint64_t blocks = (uint64_t)1 << u / 2, n = (uint64_t)1 << (first + (u + 1) / 2);
        for (uint64_t i = 0; u < direct && i < blocks && rc == 0; i++, to += 8)
            rc = take_grown_block(w, &g, number(to, 8), n);
        if (u >= direct) {
            rc = take_grown_row(w, &g, number(to, 8), blocks, n);
            to += 8;
        }
    }
    free(index);
    return rc;
}

/* A record of a tree: an entry and the numbers of the chunk along each axis. */
static int take_record(void *context, const unsigned char *b, size_t bytes)
{
    chunks *w = context;
    const lat_hdf5_set *s = w->s;
    const size_t place = 8 * (size_t)s->rank;
    if (bytes < 8 + place || !is_entry(s, (int)(bytes - place)))
        return no_index(w);
    lat_hdf5_chunk c = entry(s, b, bytes - place);
    for (int k = 0; k < s->rank; k++) {
        const uint64_t at = number(b + bytes - place + 8 * (size_t)k, 8);
        if (at >= along(s, k))
            return no_index(w);
        c.first[k] = at * s->chunk[k];
    }
    return hand_over(w, &c);
}

static int take_all(chunks *w)
{
    const lat_hdf5_set *s = w->s;
    const uint64_t bytes = lat_hdf5_chunk_bytes(s), n = lat_hdf5_chunk_count(s);
    lat_hdf5_chunk c = {.address = s->address, .stored = s->filters ? s->stored : bytes};
    int rc = 0;
    switch (s->index) {
    case LAT_HDF5_TREE: return traverse(w, s->address, -1);
    case LAT_HDF5_SINGLE: c.skipped = s->skipped; return n == 1 ? hand_over(w, &c) : no_index(w);
    case LAT_HDF5_NEXT: /* side by side, as many as bytes of the file can hold */
        for (uint64_t i = 0; i < n && rc == 0 && c.address < w->h->size; i++, c.address += bytes)
            rc = hand_over_number(w, i, c);
        return rc;
    case LAT_HDF5_ARRAY: return take_array(w);
    case LAT_HDF5_GROWING: return take_growing(w);
    case LAT_HDF5_TREE2:
        return lat_hdf5_index(w->h, s->address, s->filters ? 11 : 10, take_record, w);
    }
    return no_index(w);
}

int64_t lat_hdf5_chunks(lat_hdf5 *h, const lat_hdf5_set *s, lat_hdf5_each_chunk *each,
                        void *context)
{
    chunks w = {.h = h, .s = s, .each = each, .context = context};
    h->left = 16 * h->size + 65536;
    return take_all(&w) == 0 ? w.count : -1;
}
