/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_hdf5.c: links in HDF5 files: four datasets of matrices in one group, whose names end with 0
 * to 3, 1 to 4 or x to t, or one dataset.
 *
 * PyQUDA: complex numbers [t][z][y][x][row][column], a dataset for each direction in a group with
 * an attribute Lattice. Qlua: [x][y][z][t] of nested arrays, with an attribute .kind. QDP++ and
 * others: one dataset [t][z][y][x][mu] of nested arrays, or of complex numbers, or
 * [mu][t][z][y][x]. hdf5.h says what of HDF5 is read.
 *
 * Written is PyQUDA's layout, group LatticeColorMatrix, datasets 0 to 3, and beside the first one
 * our record (lime_record.h) as the attribute record_xml. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "format.h"
#include "hdf5.h"
#include "hdf5_write.h"
#include "lime_record.h"

/* ---- which datasets -------------------------------------------------------------------------- */

typedef struct links {
    lat_hdf5 h;
    lat_hdf5_set set[4]; /* by direction, or one */
    char last[4];        /* the letters that their names end with */
    int sets, others;    /* others: matrices that belong to none of these */
    bool spinors;
    lat_hdf5_set bad;   /* one that may have been it */
    lat_hdf5_set other; /* of what is nothing of the kind, the one with the most axes */
    char axes[12];      /* of a set, slowest first */
    char *xml;          /* a record, or NULL; owned */
} links;

static bool square(const lat_hdf5_set *s, int k)
{
    return s->extent[k] == s->extent[k + 1] && s->extent[k] >= 2 && s->extent[k] <= LAT_MAX_COLOURS;
}

/* Has it links of one direction, or of four? */
static bool has_one(const lat_hdf5_set *s)
{
    return s->numbers && s->complex && s->rank >= 4 && s->axes == 6 && square(s, 4);
}

static bool has_four(const lat_hdf5_set *s)
{
    return s->numbers && s->complex && s->rank >= 4 && s->axes == 7 && square(s, 5)
           && ((s->extent[0] == 4 && s->rank >= 5) || s->extent[4] == 4);
}

/* Does it belong to those before it: the same name but for the last letter, the same type? */
static bool belongs(const links *l, const lat_hdf5_set *s)
{
    const lat_hdf5_set *first = &l->set[0];
    const size_t n = strlen(s->name);
    return l->sets < 4 && n > 0 && strlen(first->name) == n && !strncmp(first->name, s->name, n - 1)
           && has_one(first) && s->rank == first->rank && s->real == first->real
           && s->big == first->big && !memcmp(s->extent, first->extent, 6 * sizeof *s->extent);
}

static int on_set(void *context, const lat_hdf5_set *set)
{
    links *l = context;
    const size_t n = strlen(set->name);
    l->spinors = l->spinors
                 || (set->numbers && set->complex && set->extent[4] == 4
                     && ((set->axes == 8 && set->extent[5] == 4)
                         || (set->axes == 6 && set->extent[5] == 3)));
    if (!has_one(set) && !has_four(set)) {
        if (set->bad)
            l->bad = *set;
        else if (set->rank > l->other.rank)
            l->other = *set;
        return 0;
    }
    if (l->sets && !(has_one(set) && belongs(l, set))) {
        l->others++;
        return 0;
    }
    if (!l->sets && set->xml)
        l->xml = strdup(set->xml);
    l->last[l->sets] = n ? (char)tolower((unsigned char)set->name[n - 1]) : ' ';
    l->set[l->sets++] = *set;
    return 0;
}

static void swap_sets(links *l, int a, int b)
{
    const lat_hdf5_set s = l->set[a];
    const char c = l->last[a];
    l->set[a] = l->set[b];
    l->last[a] = l->last[b];
    l->set[b] = s;
    l->last[b] = c;
}

/* Four sets in the order of the directions that their names say: false where they do not. */
static bool order_sets(links *l)
{
    static const char *const ends[] = {"0123", "1234", "xyzt"};
    for (int k = 0; k < 3; k++) {
        bool all = true;
        for (int mu = 0; mu < 4; mu++)
            all = all && memchr(l->last, ends[k][mu], 4);
        for (int mu = 0; mu < 4 && all; mu++)
            for (int i = mu + 1; i < 4; i++)
                if (l->last[i] == ends[k][mu])
                    swap_sets(l, mu, i);
        if (all)
            return true;
    }
    return false;
}

static int choose(links *l)
{
    const char *name = l->h.name;
    char text[LAT_HDF5_TEXT];
    if (lat_hdf5_search(&l->h, on_set, l) < 0)
        return -1;
    if (l->others == 0 && l->sets == 1 && has_four(&l->set[0]))
        return 0;
    if (l->others == 0 && l->sets == 4 && order_sets(l))
        return 0;
    if (l->sets == 0 && l->bad.bad)
        return lat_fail("%s: expected links, found none, and dataset %.400s cannot be read: %s",
                        name, l->bad.name, l->bad.bad);
    const bool other = l->sets == 0 && l->other.rank > 0;
    return lat_fail("%s: expected one dataset of links, or four of matrices whose names end with 0 "
                    "to 3, 1 to 4 or x to t, found %d%s%.400s%s%s",
                    name, l->sets + l->others,
                    l->sets ? " (the first one: "
                    : other ? "; dataset "
                            : "",
                    l->sets ? l->set[0].name
                    : other ? l->other.name
                            : "",
                    l->sets ? ")"
                    : other ? " has "
                            : "",
                    other ? lat_hdf5_set_text(&l->other, text) : "");
}

/* On a pipe nobody can look before all of it is there. */
bool lat_hdf5_has_links(lat_input *in)
{
    links *l = lat_input_size(in) < 0 ? NULL : calloc(1, sizeof *l);
    bool has = false;
    if (l && lat_hdf5_open(&l->h, in) == 0)
        has = lat_hdf5_search(&l->h, on_set, l) == 0 && !l->spinors
              && (l->sets
                  || ((l->bad.axes == 6 || l->bad.axes == 7) && square(&l->bad, l->bad.axes - 2)));
    lat_error_clear();
    if (l)
        free(l->xml);
    free(l);
    return has;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The axes of the sites, and of the directions: as --order says, or the program that wrote them, or
 * t, z, y, x. 0 or -1. */
static int name_axes(links *l, const lat_hints *hints)
{
    const lat_hdf5_set *s = &l->set[0];
    const bool four = l->sets == 1, first = four && s->rank >= 5 && s->extent[0] == 4,
               last = four && s->extent[4] == 4;
    const char *sites = strncmp(s->kind, "Lattice", 7) == 0 ? "xyzt" : "tzyx";
    if (hints->ordered)
        sites = hints->order.sites[0] ? hints->order.sites : "tzyx";
    else if (first && last)
        return lat_fail(
            "%s: axes 0 and 4 of dataset %s have 4 values each: expected --order "
            "links,t,z,y,x or --order t,z,y,x,links, which says where the directions are",
            l->h.name, s->name);
    const bool before = first && !hints->ordered, behind = four && !before && !strchr(sites, 'l');
    snprintf(l->axes, sizeof l->axes, "%s%s%src", before ? "l" : "", sites, behind ? "l" : "");
    return 0;
}

/* Does the file say it? */
static bool says_order(const lat_hdf5_set *s)
{
    return strncmp(s->kind, "Lattice", 7) == 0 || s->rank == 4 || s->lattice[0];
}

/* Reals between two values of each axis, of a field with this header. */
static void strides(const lat_header *head, const char *axes, size_t stride[LAT_HDF5_RANK + 1])
{
    const size_t n = (size_t)head->nc, matrix = 2 * n * n;
    const int *d = head->geom.dims;
    size_t of[4] = {4 * matrix};
    for (int mu = 1; mu < 4; mu++)
        of[mu] = of[mu - 1] * (size_t)d[mu - 1];
    int k = 0;
    for (; axes[k]; k++)
        switch (axes[k]) {
        case 'l': stride[k] = matrix; break;
        case 'r': stride[k] = 2 * n; break;
        case 'c': stride[k] = 2; break;
        default: stride[k] = of[strchr("xyzt", axes[k]) - "xyzt"];
        }
    stride[k] = 1;
}

static int take_head(links *l, lat_header *head)
{
    const lat_hdf5_set *s = &l->set[0];
    head->geom.nd = 4;
    if (strlen(l->axes) != (size_t)s->axes || strchr(l->axes, 'p'))
        return lat_fail("%s: expected an order of the axes of dataset %s (--order)", l->h.name,
                        s->name);
    for (int k = 0; k < s->axes - 2; k++) {
        const int extent = s->extent[k] <= 65535 ? (int)s->extent[k] : 65536;
        if (l->axes[k] != 'l')
            head->geom.dims[strchr("xyzt", l->axes[k]) - "xyzt"] = extent;
        else if (extent != 4)
            return lat_fail(
                "%s: expected 4 directions as axis %d of dataset %s (--order), found %d", l->h.name,
                k, s->name, extent);
    }
    head->nc = (int)s->extent[s->axes - 1];
    head->real = s->real;
    head->reals = 2 * head->nc * head->nc;
    return lat_header_check(head, l->h.name);
}

static int read_links(LAT_UNUSED lat_input *in, const lat_header *head, lat_payload *p, void *to)
{
    links *l = p->with;
    const size_t matrix = 2 * (size_t)head->nc * (size_t)head->nc * (size_t)head->real;
    size_t stride[LAT_HDF5_RANK + 1];
    lat_hdf5_filler *w = lat_alloc(1, sizeof *w, "links");
    int rc = w ? 0 : -1;
    strides(head, l->axes, stride);
    for (int mu = 0; mu < l->sets && rc == 0; mu++) {
        lat_hdf5_fill_plan(w, &l->set[mu], (char *)to + (size_t)mu * matrix, stride);
        rc = lat_hdf5_read(&l->h, &l->set[mu], NULL, lat_hdf5_fill, w);
    }
    free(w);
    return lat_hdf5_close(&l->h) < 0 ? -1 : rc;
}

static int begin(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    links *l = lat_format_state(r, sizeof *l);
    if (!l || lat_hdf5_open(&l->h, in) < 0 || choose(l) < 0)
        return -1;
    r->vouched = says_order(&l->set[0]);
    if (name_axes(l, &r->hints) < 0 || take_head(l, head) < 0
        || lat_hdf5_same_lattice(&l->h, &l->set[0], &head->geom))
        return -1;
    for (int mu = 0; mu < l->sets; mu++)
        if (lat_hdf5_complete(&l->h, &l->set[mu]) < 0)
            return -1;
    *p = (lat_payload){.rows = head->nc, .read_links = read_links, .with = l, .found = true};
    const char *program = l->set[0].kind[0] ? " of Qlua" : l->set[0].lattice[0] ? " of PyQUDA" : "";
    const lat_lime_xml record = {l->h.name, "record_xml", l->xml};
    if (l->xml && lat_lime_is_ours(l->xml)) {
        if (lat_lime_take_ours(&record, head, r))
            return -1;
        r->plaquette_within = r->link_trace_within = head->real == LAT_F32 ? 1e-6 : 1e-10;
    }
    return lat_set_source(head, "HDF5%s, dataset %s", program, l->set[0].name);
}

static void drop(void *state)
{
    links *l = state;
    free(l->h.image);
    free(l->xml);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void layout(LAT_UNUSED const lat_header *head, LAT_UNUSED const lat_hints *hints,
                   lat_payload *p)
{
    p->order = (lat_order){.sites = "ltzyx"};
}

/* The header of a dataset of one direction. */
static void put_set(lat_hdf5_writer *w, const lat_header *head, uint64_t address, const char *xml)
{
    const uint64_t sites = lat_volume(&head->geom), nc = (uint64_t)head->nc;
    lat_hdf5_put_number(w, 8, xml ? 0x0000000100050001 : 0x0000000100040001);
    lat_hdf5_put_number(w, 8,
                        8 + 104 + 8 + LAT_HDF5_COMPLEX + LAT_HDF5_PLACE
                            + (xml ? lat_hdf5_text_bytes("record_xml", xml) : 0));
    lat_hdf5_put_message(w, 1, 104, 0);
    lat_hdf5_put_number(w, 8, 0x00010601); /* version 1, six extents, and as many at most */
    for (int i = 0; i < 12; i++)
        lat_hdf5_put_number(w, 8, i % 6 < 4 ? (uint64_t)head->geom.dims[3 - i % 6] : nc);
    lat_hdf5_put_message(w, 3, LAT_HDF5_COMPLEX, 1);
    lat_hdf5_put_complex(w, head->real);
    lat_hdf5_put_place(w, address, sites * nc * nc * 2 * (uint64_t)head->real, xml);
}

static const char *const names[] = {"0", "1", "2", "3"}, *const group = "LatticeColorMatrix";

/* Bytes before the numbers. */
static size_t head_bytes(const char *xml)
{
    return (96 + 40 + 2 * LAT_HDF5_GROUP + 512 + 4 * 512 + strlen(xml) + 511) / 512 * 512;
}

/* The root group with one group in it, in that four datasets. */
static void describe(lat_hdf5_writer *w, const lat_header *head, const char *xml)
{
    char lattice[64], colours[16];
    const int *d = head->geom.dims;
    const uint64_t n = (uint64_t)head->nc, numbers = head_bytes(xml),
                   bytes = lat_volume(&head->geom) * n * n * 2 * (uint64_t)head->real;
    const uint64_t tree = LAT_HDF5_ROOT + 40, own = tree + LAT_HDF5_GROUP, own_tree = own + 256,
                   first = own_tree + LAT_HDF5_GROUP;
    uint64_t header[4];
    snprintf(lattice, sizeof lattice, "%d %d %d %d", d[0], d[1], d[2], d[3]);
    snprintf(colours, sizeof colours, "%d", head->nc);
    lat_hdf5_put_superblock(w, numbers + 4 * bytes, tree, tree + LAT_HDF5_TREE);
    lat_hdf5_put_group(w, 1, &group, &own, 0);
    w->at = own;
    lat_hdf5_put_number(w, 8, 0x0000000100030001);
    lat_hdf5_put_number(
        w, 8, 24 + lat_hdf5_text_bytes("Lattice", lattice) + lat_hdf5_text_bytes("Color", colours));
    lat_hdf5_put_message(w, 17, 16, 0);
    lat_hdf5_put_number(w, 8, own_tree);
    lat_hdf5_put_number(w, 8, own_tree + LAT_HDF5_TREE);
    lat_hdf5_put_attribute(w, "Lattice", lattice);
    lat_hdf5_put_attribute(w, "Color", colours);
    w->at = first;
    for (int mu = 3; mu >= 0; mu--) { /* the record last */
        header[mu] = w->at;
        put_set(w, head, numbers + (uint64_t)mu * bytes, mu ? NULL : xml);
    }
    w->at = own_tree;
    lat_hdf5_put_group(w, 4, names, header, 0);
}

static int write_head(lat_output *out, const lat_header *head, LAT_UNUSED const lat_payload *p)
{
    char *xml = lat_lime_record_text(head);
    const size_t n = xml ? head_bytes(xml) : 0;
    lat_hdf5_writer w = {.b = xml ? calloc(n, 1) : NULL};
    int rc = w.b ? 0 : xml ? lat_fail("out of memory: the head of a file") : -1;
    if (rc == 0 && strlen(xml) > 65000)
        rc = lat_fail(
            "expected a header of at most 65000 bytes for an attribute of HDF5, found %zu",
            strlen(xml));
    if (rc == 0) {
        describe(&w, head, xml);
        rc = lat_output_write(out, w.b, n);
    }
    free(w.b);
    free(xml);
    return rc;
}

const lat_format lat_format_hdf5 = {
    .name = "hdf5",
    .unvouched = true,
    .extension = ".h5",
    .about = "HDF5 of PyQUDA, Qlua and others; --order",
    .takes = LAT_TAKES_ORDER,
    .begins = {LAT_HDF5_MAGIC},
    .begin = begin,
    .drop = drop,
    .layout = layout,
    .head = write_head,
};
