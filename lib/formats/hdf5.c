/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.c: descriptions in HDF5 files: object headers, groups, types. */
#include "hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "hdf5_bytes.h"

#define DEPTH 16                   /* most groups in each other, and most types */
#define BLOCKS 64                  /* most parts of an object header */
#define HEADER ((uint64_t)1 << 20) /* most bytes of one */
#define XML (1 << 18)              /* most bytes of a record */
#define LINK_BYTES 1024            /* of a link in a heap */

#define number lat_hdf5_number
#define take lat_hdf5_take
#define refuse lat_hdf5_refuse

#define damaged lat_hdf5_damaged

typedef lat_hdf5_reader reader;

/* ---- messages of an object header ------------------------------------------------------------ */

/* What an object is. */
typedef struct object {
    bool dataset, group, symbols, indexed; /* indexed: its links are in a heap */
    uint64_t tree, heap;                   /* of a group with a symbol table, or indexed */
    lat_hdf5_set set;
    unsigned char type[512]; /* the message about it; types come before or after extents */
    size_t type_size;
    char lattice[64];
    char *xml; /* owned */
} object;

/* One thing in a group. */
typedef struct link_text {
    char name[256];
    enum { HARD = 0, SOFT = 1, EXTERNAL = 64 } kind;
    uint64_t address;
} link_text;

typedef struct block {
    uint64_t address, size;
} block;

/* Reading an object. */
typedef struct traversal {
    lat_hdf5 *h;
    object *o;
    bool shared; /* it is a type that another object refers to */
    int version; /* of its header */
    unsigned flags;
    size_t head;        /* bytes before the messages, in version 2 */
    block list[BLOCKS]; /* its parts */
    int count;
    lat_hdf5_each *each; /* NULL: links are not followed */
    void *context;
    const char *path;
    int depth;
} traversal;

static int follow(const traversal *w, const link_text *link);
static int read_object(traversal *w, uint64_t address);

/* A link in the header of a group. */
static int take_link(const traversal *w, reader r)
{
    link_text link = {.kind = HARD};
    const unsigned char *b = take(&r, 2);
    const unsigned flags = b ? b[1] : 0;
    const size_t width = (size_t)1 << (flags & 3);
    if (!b || b[0] != 1)
        return damaged(w->h);
    if ((flags & 8) && (b = take(&r, 1)))
        link.kind = b[0];
    take(&r, (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    const uint64_t n = (b = take(&r, width)) ? number(b, (int)width) : 0;
    if (n < 1 || n >= sizeof link.name || !(b = take(&r, (size_t)n)))
        return damaged(w->h);
    memcpy(link.name, b, (size_t)n);
    if (link.kind == HARD && !(b = take(&r, 8)))
        return damaged(w->h);
    link.address = link.kind == HARD ? number(b, 8) : 0;
    return follow(w, &link);
}

/* Version, class and address of an object that has the type. */
static void take_shared_type(const traversal *w, reader r)
{
    const unsigned char *b = take(&r, 2);
    object other = {.dataset = false};
    traversal to_type = {.h = w->h, .o = &other, .shared = true};
    if (b && !w->shared && b[0] >= 1 && b[0] <= 3 && (b[0] > 1 || take(&r, 6)) && (b = take(&r, 8))
        && read_object(&to_type, number(b, 8)) == 0 && other.type_size) {
        memcpy(w->o->type, other.type, other.type_size);
        w->o->type_size = other.type_size;
    } else {
        lat_error_clear();
    }
    free(other.xml);
}

enum {
    SPACE = 1,
    LINKS = 2,
    TYPE = 3,
    LINK = 6,
    FILES = 7,
    LAYOUT = 8,
    FILTERS = 11,
    ATTRIBUTE = 12,
    MORE = 16,
    SYMBOLS = 17,
    ATTRIBUTES = 21
};

static void take_type_message(const traversal *w, bool shared, reader r)
{
    object *o = w->o;
    if (shared) {
        take_shared_type(w, r);
    } else if (r.left <= sizeof o->type) {
        memcpy(o->type, r.b, r.left);
        o->type_size = r.left;
    }
}

static void take_group(object *o, int type, reader r)
{
    const unsigned char *b = take(&r, 2);
    o->group = true;
    if (type == LINKS) {
        take(&r, b && b[1] & 1 ? 8 : 0);
        b = b ? take(&r, 16) : NULL;
        o->heap = b ? number(b, 8) : LAT_HDF5_NOWHERE;
        o->tree = b ? number(b + 8, 8) : 0;
        o->indexed = o->heap != LAT_HDF5_NOWHERE;
    } else if (b && r.left >= 14) {
        o->symbols = true;
        o->tree = number(b, 8);
        o->heap = number(b + 8, 8);
    }
}

static void take_attribute(const traversal *w, reader r)
{
    object *o = w->o;
    lat_hdf5_attribute(w->h, r, ".kind", o->set.kind, sizeof o->set.kind);
    lat_hdf5_attribute(w->h, r, "Lattice", o->lattice, sizeof o->lattice);
    const size_t n = o->xml ? 0 : lat_hdf5_attribute(w->h, r, "record_xml", NULL, 0);
    if (n && n < XML && (o->xml = calloc(n + 1, 1)))
        lat_hdf5_attribute(w->h, r, "record_xml", o->xml, n + 1);
}

/* Objects of a heap, which an index lists: links or attributes. */
typedef struct heap_traversal {
    const traversal *w;
    lat_hdf5_heap heap;
    bool links;
    unsigned char *object; /* memory for one */
} heap_traversal;

/* The name of an object of the heap comes after its hash (links) or first (attributes). */
static int take_object(void *context, const unsigned char *record, size_t bytes)
{
    const heap_traversal *t = context;
    const size_t at = t->links ? 4 : 0;
    const size_t n = bytes < at + t->heap.id
                         ? 0
                         : lat_hdf5_heap_object(&t->heap, record + at, t->object,
                                                t->links ? LINK_BYTES : XML);
    if (t->links)
        return n ? take_link(t->w, (reader){t->object, n}) : damaged(t->w->h);
    if (n) {
        take_attribute(t->w, (reader){t->object, n});
        return 0;
    }
    lat_error_clear();
    refuse(&t->w->o->set, "an attribute of it is not where it is expected, or too large");
    return 0;
}

static int take_heap(const traversal *w, bool links, uint64_t heap, uint64_t tree)
{
    heap_traversal t = {.w = w, .links = links};
    int rc = -1;
    if (!lat_hdf5_heap_open(w->h, heap, &t.heap))
        damaged(w->h);
    else if ((t.object = lat_alloc(links ? LINK_BYTES : XML, 1, "an object in HDF5")))
        rc = lat_hdf5_index(w->h, tree, links ? 5 : 8, take_object, &t);
    free(t.object);
    return rc;
}

static int take_attributes(const traversal *w, reader r)
{
    const unsigned char *b = take(&r, 2);
    take(&r, b && b[1] & 1 ? 2 : 0);
    b = b ? take(&r, 16) : NULL;
    return b && number(b, 8) != LAT_HDF5_NOWHERE
               ? take_heap(w, false, number(b, 8), number(b + 8, 8))
               : 0;
}

static int take_message(traversal *w, int type, bool shared, reader r)
{
    object *o = w->o;
    switch (type) {
    case SPACE: lat_hdf5_space(&o->set, &r); break;
    case TYPE: take_type_message(w, shared, r); break;
    case FILES: refuse(&o->set, "its numbers are in other files"); break;
    case LAYOUT:
        o->dataset = true;
        lat_hdf5_layout(&o->set, &r);
        break;
    case FILTERS: lat_hdf5_filters(&o->set, &r); break;
    case ATTRIBUTE: take_attribute(w, r); break;
    case ATTRIBUTES: return take_attributes(w, r);
    case LINKS:
    case SYMBOLS: take_group(o, type, r); break;
    case LINK: return w->each ? take_link(w, r) : 0;
    case MORE:
        if (r.left < 16 || w->count == BLOCKS)
            return damaged(w->h);
        w->list[w->count++] = (block){number(r.b, 8), number(r.b + 8, 8)};
    }
    return 0;
}

/* ---- object headers -------------------------------------------------------------------------- */

static int take_messages(traversal *w, reader r)
{
    const bool old = w->version == 1;
    const size_t head = old ? 8 : w->flags & 4 ? 6 : 4;
    int rc = 0;
    while (rc == 0 && r.left >= head) {
        const unsigned char *b = take(&r, head);
        const size_t n = number(b + (old ? 2 : 1), 2);
        const reader message = {r.b, n};
        rc = take(&r, n)
                 ? take_message(w, old ? (int)number(b, 2) : b[0], b[old ? 4 : 3] & 2, message)
                 : damaged(w->h);
    }
    return rc;
}

/* One part of the header; those of version 2 have a mark, and a sum at the end. The first one has
 * more at its beginning. */
static int take_block(traversal *w, int i)
{
    const uint64_t size = w->list[i].size;
    const bool summed = w->version == 2;
    const size_t head = !summed ? 0 : i ? 4 : w->head, around = head + (summed ? 4 : 0);
    unsigned char *bytes = size >= around && size <= HEADER && size <= w->h->left
                               ? lat_alloc((size_t)size + 1, 1, "a description in HDF5")
                               : NULL;
    int rc = -1;
    if (!bytes || !lat_hdf5_description(w->h, w->list[i].address, size, bytes)
        || (summed
            && (memcmp(bytes, i ? "OCHK" : "OHDR", 4) != 0
                || !lat_hdf5_sum_right(bytes, (size_t)size))))
        damaged(w->h);
    else
        rc = take_messages(w, (reader){bytes + head, (size_t)size - around});
    free(bytes);
    return rc;
}

static int read_object(traversal *w, uint64_t address)
{
    unsigned char b[16 + 26];
    w->version = 1;
    w->count = 1;
    if (!lat_hdf5_description(w->h, address, 16, b))
        return damaged(w->h);
    if (memcmp(b, "OHDR", 4) != 0) {
        w->list[0] = (block){address + 16, number(b + 8, 4)};
    } else {
        w->version = 2;
        w->flags = b[5];
        const int width = 1 << (w->flags & 3);
        const uint64_t at = 6 + (w->flags & 32 ? 16 : 0) + (w->flags & 16 ? 4 : 0);
        if (!lat_hdf5_description(w->h, address + at, (uint64_t)width, b + 16))
            return damaged(w->h);
        w->head = (size_t)at + (size_t)width;
        const uint64_t n = number(b + 16, width);
        w->list[0] = (block){address, n > HEADER ? UINT64_MAX : w->head + n + 4};
    }
    int rc = w->version == 1 && b[0] != 1 ? damaged(w->h) : 0;
    for (int i = 0; i < w->count && rc == 0; i++)
        rc = take_block(w, i);
    return rc;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* A name in the heap of a group. */
static bool heap_text(lat_hdf5 *h, uint64_t heap, uint64_t at, char *text, size_t size)
{
    unsigned char b[32];
    if (!lat_hdf5_description(h, heap, 32, b) || memcmp(b, "HEAP", 4) != 0)
        return false;
    const uint64_t all = number(b + 8, 8), address = number(b + 24, 8);
    const uint64_t n = at < all ? (all - at < size ? all - at : size) : 0;
    return n && address < h->size && at < h->size && lat_hdf5_description(h, address + at, n, text)
           && strnlen(text, (size_t)n) < (size_t)n;
}

/* A leaf: things of the group side by side. */
static int take_symbols(const traversal *w, uint64_t heap, uint64_t address)
{
    unsigned char b[40];
    if (!lat_hdf5_description(w->h, address, 8, b) || memcmp(b, "SNOD", 4) != 0)
        return damaged(w->h);
    const uint64_t n = number(b + 6, 2);
    int rc = 0;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        link_text link;
        if (!lat_hdf5_description(w->h, address + 8 + 40 * i, 40, b)
            || !heap_text(w->h, heap, number(b, 8), link.name, sizeof link.name))
            return damaged(w->h);
        link.kind = number(b + 16, 4) == 2 ? SOFT : HARD;
        link.address = number(b + 8, 8);
        rc = follow(w, &link);
    }
    return rc;
}

/* The tree of a symbol table; levels get less, so it ends. */
static int take_tree(const traversal *w, uint64_t heap, uint64_t address, int level)
{
    unsigned char b[24];
    if (!lat_hdf5_description(w->h, address, 24, b) || memcmp(b, "TREE", 4) != 0 || b[4] != 0
        || (level >= 0 && b[5] != level))
        return damaged(w->h);
    const uint64_t n = number(b + 6, 2);
    const int here = b[5];
    int rc = 0;
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        if (!lat_hdf5_description(w->h, address + 24 + 16 * i + 8, 8, b))
            return damaged(w->h);
        rc = here ? take_tree(w, heap, number(b, 8), here - 1)
                  : take_symbols(w, heap, number(b, 8));
    }
    return rc;
}

/* Hands it over, if it is a dataset. */
static int take_dataset(const traversal *from, object *o, const char *path, const char *lattice)
{
    reader r = {o->type, o->type_size};
    lat_hdf5_type(&o->set, &r);
    snprintf(o->set.name, sizeof o->set.name, "%s", path);
    snprintf(o->set.lattice, sizeof o->set.lattice, "%s", lattice);
    o->set.xml = o->xml;
    return from->each(from->context, &o->set);
}

static int search_object(const traversal *from, uint64_t address, const char *path,
                         const char *lattice)
{
    object o = {.dataset = false};
    traversal w = {.h = from->h, .o = &o};
    int rc = from->depth < DEPTH
                 ? read_object(&w, address)
                 : lat_fail("%s: expected groups at most %d deep in each other, found more, or one "
                            "that is inside itself, at %.200s",
                            from->h->name, DEPTH, path);
    const bool dataset = rc == 0 && o.dataset;
    if (dataset)
        rc = take_dataset(from, &o, path, lattice);
    free(o.xml);
    o.xml = NULL;
    if (rc || dataset)
        return rc;
    w.each = from->each;
    w.context = from->context;
    w.path = path;
    w.depth = from->depth + 1;
    rc = o.symbols   ? take_tree(&w, o.heap, o.tree, -1)
         : o.indexed ? take_heap(&w, true, o.heap, o.tree)
         : o.group   ? read_object(&w, address)
                     : 0;
    free(o.xml); /* of a group, once more */
    return rc;
}

static int follow(const traversal *w, const link_text *link)
{
    lat_hdf5_set set = {.rank = 0};
    const int n = snprintf(set.name, sizeof set.name, "%s%s%s", w->path, *w->path ? "/" : "",
                           link->name);
    if (n < 0 || (size_t)n >= sizeof set.name)
        return damaged(w->h);
    if (link->kind == HARD)
        return search_object(w, link->address, set.name, w->o->lattice);
    set.bad = link->kind == SOFT ? "it is a soft link: expected the name of the dataset itself"
                                 : "it is a link to another file";
    return w->each(w->context, &set);
}

int lat_hdf5_search(lat_hdf5 *h, lat_hdf5_each *each, void *context)
{
    const traversal root = {.h = h, .each = each, .context = context, .path = ""};
    h->left = 16 * h->size + 65536;
    return search_object(&root, h->root, "", "");
}
