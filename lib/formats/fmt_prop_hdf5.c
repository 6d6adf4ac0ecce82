/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_prop_hdf5.c: spinors and propagators in HDF5 files.
 *
 * QDP++ and lalibe: a dataset of shape [t][z][y][x] whose elements are nested arrays [spin][source
 * spin] of [colour][source colour] (or [spin] of [colour]) of a compound of re and im. Qlua: the
 * same with the shape [x][y][z][t], and an attribute .kind. PyQUDA: complex numbers of shape
 * [t][z][y][x][spin][source spin][colour][source colour] in a group with an attribute Lattice. A
 * file may hold several: --dataset names one. hdf5.h says what of HDF5 is read.
 *
 * QDP++ has Chroma's XML in an attribute record_xml (chroma_xml.h).
 *
 * Written is what version 1.10 of the HDF5 library writes for QDP++, to the byte, with that
 * attribute where the boundary of the quarks is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "chroma_xml.h"
#include "hdf5.h"
#include "hdf5_write.h"
#include "quarks.h"

/* ---- reading --------------------------------------------------------------------------------- */

/* What a dataset holds, or -1: four extents, then spins and colours. */
static int kind_of(const lat_hdf5_set *s)
{
    const uint64_t *d = s->extent;
    if (!s->numbers || !s->complex || s->rank < 4)
        return -1;
    if (s->axes == 8 && d[4] == 4 && d[5] == 4 && d[6] == 3 && d[7] == 3)
        return LAT_PROPAGATOR;
    return s->axes == 6 && d[4] == 4 && d[5] == 3 ? LAT_SPINOR : -1;
}

typedef struct search {
    const char *wanted;
    int found;
    char names[LAT_HDF5_NAME]; /* with commas between */
    lat_hdf5_set set;          /* the first one */
    lat_hdf5_set bad;          /* one that may have been it */
    lat_hdf5_set other;        /* of what is nothing of the kind, the one with the most axes */
    char *xml;                 /* the record of the first one, or NULL; owned */
} search;

static int on_set(void *context, const lat_hdf5_set *set)
{
    search *s = context;
    if (s->wanted ? strcmp(set->name, s->wanted) != 0 : kind_of(set) < 0) {
        if (set->bad)
            s->bad = *set;
        else if (set->rank > s->other.rank)
            s->other = *set;
        return 0;
    }
    const size_t n = strlen(s->names);
    if (!s->found) {
        s->set = *set;
        s->xml = set->xml ? strdup(set->xml) : NULL;
    }
    snprintf(s->names + n, sizeof s->names - n, "%s%s", s->found++ ? ", " : "", set->name);
    return 0;
}

static int not_one(const lat_hdf5 *h, const search *s)
{
    char text[LAT_HDF5_TEXT];
    if (s->found)
        return lat_fail("%s: expected one dataset of spinors or propagators, found %d (%.400s): "
                        "lat-convert --dataset names one",
                        h->name, s->found, s->names);
    if (s->bad.bad)
        return lat_fail("%s: expected one dataset of spinors or propagators, found 0, and dataset "
                        "%.400s cannot be read: %s",
                        h->name, s->bad.name, s->bad.bad);
    const bool other = s->other.rank > 0;
    return lat_fail("%s: expected one dataset of spinors or propagators, found 0%s%.400s%s%s%s",
                    h->name, other ? "; dataset " : "", other ? s->other.name : "",
                    other ? " has " : "", other ? lat_hdf5_set_text(&s->other, text) : "",
                    lat_input_size(h->in) < 0 ? " (links on a pipe: lat-convert --from hdf5)" : "");
}

static int choose(lat_hdf5 *h, const char *wanted, search *s)
{
    s->wanted = wanted ? wanted + (*wanted == '/') : NULL;
    if (lat_hdf5_search(h, on_set, s) < 0)
        return -1;
    if (s->wanted && !s->found)
        return lat_fail("%s: expected a dataset %s, found none", h->name, wanted);
    return s->wanted || s->found == 1 ? 0 : not_one(h, s);
}

/* `axes`: letters of all axes of the set, slowest first, and i. */
static void plan(lat_hdf5_filler *w, const lat_hdf5_set *set, lat_field *f, const char *axes)
{
    size_t extent, stride[LAT_HDF5_RANK + 1];
    for (int k = 0; k <= set->axes; k++)
        lat_quark_axis(axes[k], &f->head, &extent, &stride[k]);
    lat_hdf5_fill_plan(w, set, f->data, stride);
}

/* The order of sites: as the options say, or the program that wrote them; false if neither does. */
static bool order_of(const lat_hdf5_set *s, const lat_quark_hints *hints, char order[5])
{
    const bool qlua = strncmp(s->kind, "Lattice", 7) == 0, qdp = s->rank == 4;
    strcpy(order, hints->order[0] ? hints->order : qlua ? "xyzt" : "tzyx");
    return hints->order[0] || qlua || qdp || s->lattice[0];
}

static int read_set(lat_hdf5 *h, lat_field *f, lat_quark_hints *hints, const lat_hdf5_set *s)
{
    const int kind = kind_of(s);
    char order[5], axes[LAT_QUARK_AXES], text[LAT_HDF5_TEXT];
    if (s->bad)
        return lat_hdf5_complete(h, s);
    if (kind < 0)
        return lat_fail("%s: expected complex numbers of shape t z y x 4 4 3 3 or t z y x 4 3 in "
                        "dataset %s, found %s",
                        h->name, s->name, lat_hdf5_set_text(s, text));
    hints->unvouched = !order_of(s, hints, order);
    f->head.real = s->real;
    lat_quark_take_order(&f->head.geom, axes, order, (lat_kind)kind, s->extent);
    lat_hdf5_filler w;
    if (lat_geometry_check(&f->head.geom, h->name) < 0 || lat_hdf5_same_lattice(h, s, &f->head.geom)
        || lat_hdf5_complete(h, s) < 0 || lat_quark_alloc(h->in, f, (lat_kind)kind, 0) < 0)
        return -1;
    plan(&w, s, f, axes);
    const lat_slab slab = lat_field_slab(f);
    const lat_hdf5_part part = {(int)(strchr(axes, 't') - axes), (uint64_t)slab.first,
                                (uint64_t)slab.count};
    return lat_hdf5_read(h, s, &part, lat_hdf5_fill, &w);
}

static int read_hdf5(lat_input *in, lat_field *f, lat_quark_hints *hints)
{
    lat_hdf5 h;
    search *s = lat_alloc_zero(1, sizeof *s, "a search for datasets");
    int rc = s && lat_hdf5_open(&h, in) == 0 ? 0 : -1;
    if (rc == 0) {
        rc = choose(&h, hints->dataset, s) < 0 || read_set(&h, f, hints, &s->set) < 0 ? -1 : 0;
        rc = lat_hdf5_close(&h) < 0 ? -1 : rc;
    }
    if (rc == 0 && s->xml)
        rc = lat_chroma_fermion(s->xml, &f->head);
    if (rc == 0)
        rc = lat_set_source(&f->head, "HDF5%s, dataset %s",
                            s->set.kind[0]      ? " of Qlua"
                            : s->set.lattice[0] ? " of PyQUDA"
                            : s->set.rank == 4  ? " of QDP++"
                                                : "",
                            s->set.name);
    if (s)
        free(s->xml);
    free(s);
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Where things are in the file. */
enum { TREE = 0x88, HEAP = 0x2a8, SET = 0x320, DATA = 0x800, MOST = 0x1800 };

#define put lat_hdf5_put_number
#define put_message lat_hdf5_put_message

typedef lat_hdf5_writer writer;

/* An array of arrays of complex numbers. */
static void put_type(writer *w, size_t rank, lat_real real)
{
    size_t elements = rank == 2 ? 144 : 12;
    for (uint64_t extent = 4; extent >= 3; extent--) {
        put(w, 4, 0x2a); /* version 2, an array */
        put(w, 4, 2 * elements * (size_t)real);
        put(w, 4, rank);
        for (size_t i = 0; i < rank; i++)
            put(w, 4, extent);
        for (size_t i = 0; i < rank; i++)
            put(w, 4, i);
        elements /= rank == 2 ? 16 : 4;
    }
    lat_hdf5_put_complex(w, real);
}

static int write_hdf5(lat_output *out, const lat_field *f)
{
    const lat_header *head = &f->head;
    const lat_quark_array a = {.axes = head->kind == LAT_PROPAGATOR ? "tzyxsScCi" : "tzyxsci"};
    const size_t rank = head->kind == LAT_PROPAGATOR ? 2 : 1, type = 152 + 16 * rank,
                 plain = type + 136;
    static const char *const name = "propagator";
    static const uint64_t set = SET;
    const uint64_t bytes = lat_quark_array_bytes(head, &a);
    char *xml = lat_fermion_bounded(&head->quark.fermion) ? lat_chroma_record(head) : NULL;
    const size_t messages = plain + (xml ? lat_hdf5_text_bytes("record_xml", xml) : 0);
    const uint64_t data = xml ? MOST : DATA;
    unsigned char b[MOST] = {0};
    writer w = {.b = b};
    if (lat_fermion_bounded(&head->quark.fermion) && !xml)
        return -1;
    lat_hdf5_put_superblock(&w, data + bytes, TREE, HEAP);
    lat_hdf5_put_group(&w, 1, &name, &set, SET + 16 + messages);
    w.at = SET;
    put(&w, 8, xml ? 0x0000000100050001 : 0x0000000100040001); /* an object of so many messages */
    put(&w, 8, messages);
    put_message(&w, 1, 72, 0);
    put(&w, 8, 0x00010401); /* version 1, four extents, and as many at most */
    for (int i = 0; i < 8; i++)
        put(&w, 8, (uint64_t)head->geom.dims[3 - i % 4]);
    put_message(&w, 3, type, 1);
    put_type(&w, rank, head->real);
    lat_hdf5_put_place(&w, data, bytes, xml);
    free(xml);
    return lat_output_write(out, w.b, data) < 0 ? -1 : lat_quark_array_write(out, f, &a);
}

const lat_format lat_format_hdf5_prop = {
    .name = "hdf5-prop",
    .extension = ".h5",
    .about = "HDF5 of QDP++, lalibe, Qlua and PyQUDA; --dataset",
    .takes = LAT_TAKES_ORDER,
    .begins = {LAT_HDF5_MAGIC},
    .leaves = lat_hdf5_has_links,
    .quarks = LAT_HOLDS_PROPAGATORS | LAT_HOLDS_SPINORS,
    .proven = true,
    .read = read_hdf5,
    .write = write_hdf5,
    .keeps = lat_chroma_keeps,
};
