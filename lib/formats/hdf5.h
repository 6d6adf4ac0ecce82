/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.h: arrays of numbers in HDF5 files, without the HDF5 library: a stranger's file can name
 * other files, and what the library does with a damaged one is up to the file. This reader opens
 * nothing, and takes no memory for what the file only promises.
 *
 * It reads what programs of the field write (QDP++, lalibe, Qlua, PyQUDA, h5py):
 * superblocks 0 to 3; groups with symbol tables, with links in their headers or in a heap; numbers
 * in one piece or in chunks, deflated, shuffled and summed by fletcher32 or not. Sums of
 * descriptions and chunks are verified where there are some. Everything else is refused by its
 * name: external storage, virtual datasets, external and soft links, other filters. Source: the
 * HDF5 File Format Specification, version 3, and 4 for layouts of version 5. */
#pragma once

#include <stdbool.h>
#include "common/io.h"
#include "lattice/header.h"

#define LAT_HDF5_MAGIC "\x89HDF\r\n\x1a\n"
#define LAT_HDF5_RANK 12   /* most axes */
#define LAT_HDF5_NAME 1000 /* bytes of a name, with the names of the groups before it */

typedef struct lat_hdf5 {
    lat_input *in;
    const char *name;
    unsigned char *image; /* of a pipe: the whole file */
    uint64_t size;        /* bytes of it */
    uint64_t left;        /* bytes of descriptions that may still be read: a bound on the time */
    uint64_t root;
} lat_hdf5;

/* An array of IEEE numbers, real or complex; its elements may be arrays, too. */
typedef struct lat_hdf5_set {
    char name[LAT_HDF5_NAME];
    const char *bad; /* why it cannot be read; NULL: it can */
    int rank;        /* of the dataset: elements are found by so many indices */
    int axes;        /* with those of the arrays that are its elements */
    uint64_t extent[LAT_HDF5_RANK];
    bool first_grows; /* its first axis may grow, and no other one */
    bool numbers, complex, big;
    lat_real real;
    size_t element; /* bytes, in the file */

    char kind[64];    /* its attribute .kind, of Qlua, "" where there is none */
    char lattice[64]; /* attribute Lattice of the group, of PyQUDA */
    const char *xml;  /* attribute record_xml, of QDP++, while lat_hdf5_each has the set; or NULL */

    /* of hdf5.c */
    enum { LAT_HDF5_NONE, LAT_HDF5_INSIDE, LAT_HDF5_PIECE, LAT_HDF5_CHUNKS } layout;
    uint64_t address, stored; /* of the numbers, or of the index of the chunks */
    int chunk_rank;
    uint64_t chunk[LAT_HDF5_RANK];
    uint64_t chunk_element; /* bytes */
    enum {
        LAT_HDF5_TREE = 0,
        LAT_HDF5_SINGLE = 1,
        LAT_HDF5_NEXT = 2,
        LAT_HDF5_ARRAY = 3,
        LAT_HDF5_GROWING = 4,
        LAT_HDF5_TREE2 = 5
    } index;          /* of the chunks */
    unsigned skipped; /* filters, by a single chunk */
    bool whole_edges; /* chunks that stick out went through no filter */
    int filters;
    int filter[4];
} lat_hdf5_set;

/* Reads the first bytes of a file; from a pipe all of it. To be closed after 0. 0 or -1. */
int lat_hdf5_open(lat_hdf5 *h, lat_input *in);

/* Goes to the end of the input. 0 or -1. */
int lat_hdf5_close(lat_hdf5 *h);

/* Calls each(context, set) for all datasets, or for links (numbers = false and `bad` set). 0, -1 or
 * what `each` returned, if that is not 0. */
typedef int lat_hdf5_each(void *context, const lat_hdf5_set *set);
int lat_hdf5_search(lat_hdf5 *h, lat_hdf5_each *each, void *context);

/* What it holds, for a sentence: "real numbers of shape 4 2 2 2". Returns `text`. */
#define LAT_HDF5_TEXT 256
const char *lat_hdf5_set_text(const lat_hdf5_set *set, char text[LAT_HDF5_TEXT]);

/* Are these the extents x, y, z, t that an attribute Lattice states, if there is one? 0 or -1. */
int lat_hdf5_same_lattice(const lat_hdf5 *h, const lat_hdf5_set *set, const lat_geometry *geom);

/* Are all its numbers in the file? No memory is taken. 0 or -1. */
int lat_hdf5_complete(lat_hdf5 *h, const lat_hdf5_set *set);

/* Of a set: `count` values of an axis, from `first` on. */
typedef struct lat_hdf5_part {
    int axis;
    uint64_t first, count;
} lat_hdf5_part;

/* Calls put(context, index, element) for each element of a part of a complete set (NULL: all): its
 * `rank` indices, from the beginning of the part on, and its bytes as they are in the file. Memory:
 * a chunk, which is no more than the set. 0 or -1. */
typedef void lat_hdf5_put(void *context, const uint64_t *index, const unsigned char *element);
int lat_hdf5_read(lat_hdf5 *h, const lat_hdf5_set *set, const lat_hdf5_part *part,
                  lat_hdf5_put *put, void *context);

/* From the elements of a set to the numbers of a field. */
#define LAT_HDF5_INSIDE_MOST (4 * 16 * 16 * 2) /* reals of an element: four links of SU(16) */

typedef struct lat_hdf5_filler {
    const lat_hdf5_set *set;
    void *data;                                     /* reals of the set's precision */
    size_t stride[8], inside[LAT_HDF5_INSIDE_MOST]; /* of its axes; of the reals of an element */
    size_t reals;
} lat_hdf5_filler;

/* `stride`: reals of the field between two values of each axis of the set, its nested arrays
 * included, and of re and im. An element has at most LAT_HDF5_INSIDE_MOST reals. */
void lat_hdf5_fill_plan(lat_hdf5_filler *w, const lat_hdf5_set *set, void *data,
                        const size_t stride[LAT_HDF5_RANK + 1]);

/* A lat_hdf5_put with a filler. */
void lat_hdf5_fill(void *filler, const uint64_t *index, const unsigned char *element);

/* Are there links, and no spinors? Not on a pipe. (fmt_hdf5.c) */
bool lat_hdf5_has_links(lat_input *in);
