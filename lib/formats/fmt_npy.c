/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_npy.c: links as a NumPy array of complex numbers, [mu][t][z][y][x][row][column], as PyQUDA
 * writes it, or [t][z][y][x][mu][row][column]. Nothing in it says which axis is which: --order. Of
 * files of lat-convert the mark in the head says it. */
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "format.h"
#include "npy.h"

#define DIRECTIONS_FIRST "ltzyx"

static bool has_links(const lat_npy *a)
{
    const uint64_t *d = a->extent;
    return a->rank == 7 && d[5] == d[6] && d[5] >= 2 && d[5] <= LAT_MAX_COLOURS
           && (d[0] == 4 || d[4] == 4);
}

static bool probe(const unsigned char *b, size_t n, LAT_UNUSED int64_t size)
{
    lat_npy array;
    return lat_npy_parse(b, n, &array) > 0 && has_links(&array);
}

/* Extents by the letters of the axes, slowest first. */
static int take_extents(const char *name, const lat_npy *a, const char *axes, lat_geometry *geom)
{
    geom->nd = 4;
    for (int k = 0; k < 5; k++) {
        const int extent = a->extent[k] <= 65535 ? (int)a->extent[k] : 65536;
        if (axes[k] != 'l')
            geom->dims[strchr("xyzt", axes[k]) - "xyzt"] = extent;
        else if (extent != 4)
            return lat_fail("%s: expected 4 directions as axis %d of the array (--order), found %d",
                            name, k, extent);
    }
    return 0;
}

static int begin(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    unsigned char b[LAT_NPY_MOST];
    char text[LAT_NPY_MOST];
    lat_npy array;
    const char *name = lat_input_name(in);
    const ssize_t n = lat_input_peek(in, b, sizeof b);
    const size_t bytes = n < 0 ? 0 : lat_npy_parse(b, (size_t)n, &array);
    if (n < 0)
        return -1;
    if (!bytes || !has_links(&array))
        return lat_fail("%s: expected a NumPy array of complex numbers of shape (4, T, Z, Y, X, N, "
                        "N) or (T, Z, Y, X, 4, N, N), found %.200s",
                        name, n > 0 && lat_npy_text(b, (size_t)n, text) ? text : "another head");
    if (array.fortran)
        return lat_fail("%s: expected an array in C's order, found Fortran's "
                        "(numpy.ascontiguousarray)",
                        name);
    r->vouched = array.marked && !r->hints.ordered;
    if (!r->hints.ordered && !array.marked && array.extent[0] == 4 && array.extent[4] == 4)
        return lat_fail(
            "%s: axes 0 and 4 of the array have 4 values each: expected --order "
            "links,t,z,y,x or --order t,z,y,x,links, which says where the directions are",
            name);
    lat_order order = {.sites = ""};
    if (r->hints.ordered)
        order = r->hints.order;
    else if (array.extent[0] == 4)
        strcpy(order.sites, DIRECTIONS_FIRST);
    char axes[8];
    snprintf(axes, sizeof axes, "%s%s", order.sites[0] ? order.sites : "tzyx",
             strchr(order.sites, 'l') ? "" : "l");
    if (strchr(axes, 'p'))
        return lat_fail("%s: expected an order of the axes of an array, found one by parity", name);
    head->nc = (int)array.extent[5];
    head->real = array.real;
    head->reals = 2 * head->nc * head->nc;
    *p = (lat_payload){.big = array.big, .rows = head->nc, .order = order};
    return take_extents(name, &array, axes, &head->geom) || lat_input_skip(in, bytes) ? -1 : 0;
}

static void layout(LAT_UNUSED const lat_header *head, LAT_UNUSED const lat_hints *hints,
                   lat_payload *p)
{
    p->order = (lat_order){.sites = DIRECTIONS_FIRST};
}

static int write_head(lat_output *out, const lat_header *head, LAT_UNUSED const lat_payload *p)
{
    char b[LAT_NPY_HEAD + 1], shape[64];
    const int *d = head->geom.dims;
    snprintf(shape, sizeof shape, "4, %d, %d, %d, %d, %d, %d", d[3], d[2], d[1], d[0], head->nc,
             head->nc);
    lat_npy_print(b, head->real, shape);
    lat_npy_mark(b);
    return lat_output_write(out, b, LAT_NPY_HEAD);
}

const lat_format lat_format_npy = {
    .name = "npy",
    .unvouched = true,
    .about = "NumPy array of links, as PyQUDA writes it; --order",
    .source = "NumPy array",
    .takes = LAT_TAKES_ORDER,
    .probe = probe,
    .begin = begin,
    .layout = layout,
    .head = write_head,
};
