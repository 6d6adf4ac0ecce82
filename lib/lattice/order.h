/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h: the order in which a stream holds the matrices of a field (docs/format.md, "Orders").
 *
 * In memory a field is in natural order always. The order of a stream is a list, slowest first, of
 * the axes, of `parity` (the parity of the sum of the coordinates whose axes come after it in the
 * list) and of `links` or `columns` (the objects of a site: directions, or columns of a propagator;
 * fastest where the list does not have them). Objects are sorted by this list. */
#pragma once

#include <stdbool.h>
#include "common/geometry.h"

/* All zeros is the natural order, of any lattice. */
typedef struct lat_order {
    char sites[LAT_MAX_DIMS + 3]; /* of "xyzt", 'p' parity, 'l' links, 'c' columns; "": natural */
    char links[LAT_MAX_DIMS + 1]; /* the directions of a site in their order; "": x, y, z, t */
} lat_order;

static inline bool lat_order_natural(const lat_order *o) { return !o->sites[0] && !o->links[0]; }

/* What the objects of a site are, and so which word a list may have. */
typedef enum { LAT_ORDER_ONE, LAT_ORDER_LINKS, LAT_ORDER_COLUMNS } lat_order_objects;

/* Is it an order of a lattice of nd dimensions with such objects? */
bool lat_order_fits(const lat_order *o, int nd, lat_order_objects objects);

/* From the text of a header, words with one blank between them: 0, or -1 if that is no order of
 * such a lattice. lat_error is not set, here and below. */
int lat_order_read_sites(lat_order *o, const char *text, int nd, lat_order_objects objects);
int lat_order_read_links(lat_order *o, const char *text, int nd);

/* The same from an option: for sites a name of LAT_ORDERS, or words with commas or blanks between;
 * for links letters, "txyz" or "t,x,y,z". A word of objects that the field does not have is left
 * out; `links` in a name is `columns` for columns. */
#define LAT_ORDERS "natural, standard, reversed, parity, timeslice, timeslice-parity"
int lat_order_parse_sites(lat_order *o, const char *text, int nd, lat_order_objects objects);
int lat_order_parse_links(lat_order *o, const char *text, int nd);

/* As the header has it. Returns buf. */
#define LAT_ORDER_TEXT 32
const char *lat_order_sites_text(const lat_order *o, int nd, char buf[LAT_ORDER_TEXT]);
const char *lat_order_links_text(const lat_order *o, int nd, char buf[LAT_ORDER_TEXT]);

/* Axes as an option has them, "t" or "x,t" or "xt", each at most once: how many, or -1. */
int lat_axes_parse(const char *text, int nd, int axes[LAT_MAX_DIMS]);

/* An iterator over the objects of a stream in their order. */
typedef struct lat_order_iterator {
    size_t matrix; /* the present one: its number in natural order */
    int levels;
    struct lat_order_level { /* slowest first */
        char what;           /* a letter of lat_order.sites */
        size_t extent, stride;
        size_t volume, objects; /* sites, and objects a site, of the levels below this one */
        size_t digit;
        size_t base; /* the part of `matrix` from the levels above */
        int parity;  /* of the sum of the coordinates from here on; -1: any */
    } level[LAT_MAX_DIMS + 2];
    bool permuted; /* are directions in another order than x, y, z, t? */
    size_t link[LAT_MAX_DIMS];
} lat_order_iterator;

/* Begins with object number i of the stream, i below their number. `objects`: of a site. */
void lat_order_start(lat_order_iterator *w, const lat_order *o, const lat_geometry *geom,
                     int objects, size_t i);
void lat_order_next(lat_order_iterator *w); /* not after the last one */
