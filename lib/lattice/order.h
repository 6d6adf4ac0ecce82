/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h: in which order a stream holds the matrices of a field (docs/format.md, "Orders").
 *
 * In memory a field is always in natural order. An order of a stream is a list, slowest first, of
 * the axes, of `parity` (that of the sum of the coordinates whose axes come after it) and of
 * `links` (the directions of a site, which are fastest where the list does not have them): matrices
 * are sorted by these. */
#ifndef LAT_ORDER_H
#define LAT_ORDER_H

#include <stdbool.h>
#include "common/geometry.h"

/* All zeros is the natural order, of any lattice. */
typedef struct lat_order {
    char sites[LAT_MAX_DIMS + 3]; /* of "xyzt", 'p' for parity, 'l' for links; "": natural */
    char links[LAT_MAX_DIMS + 1]; /* the directions of a site as they come; "": x, y, z, t */
} lat_order;

static inline bool lat_order_natural(const lat_order *o) { return !o->sites[0] && !o->links[0]; }

/* Is it an order of a lattice of nd dimensions? `links`: whether there is a matrix for each
 * direction. */
bool lat_order_fits(const lat_order *o, int nd, bool links);

/* From the text of a header, words with one blank between: 0, or -1 if that is no order of such a
 * lattice. */
int lat_order_read_sites(lat_order *o, const char *text, int nd, bool links);
int lat_order_read_links(lat_order *o, const char *text, int nd);

/* The same from an option: for sites a name of LAT_ORDERS, or words with commas or blanks between;
 * for links letters, "txyz" or "t,x,y,z". Where there are no links, `links` is left out. */
#define LAT_ORDERS "natural, standard, reversed, parity, timeslice, timeslice-parity"
int lat_order_parse_sites(lat_order *o, const char *text, int nd, bool links);
int lat_order_parse_links(lat_order *o, const char *text, int nd);

/* What the header says of it. */
#define LAT_ORDER_TEXT 32
const char *lat_order_sites_text(const lat_order *o, int nd, char buf[LAT_ORDER_TEXT]);
const char *lat_order_links_text(const lat_order *o, int nd, char buf[LAT_ORDER_TEXT]);

/* Axes as an option has them, "t" or "x,t" or "xt", each at most once: how many, or -1. */
int lat_axes_parse(const char *text, int nd, int axes[LAT_MAX_DIMS]);

/* A walk over the matrices of a stream in their order. */
typedef struct lat_order_iterator {
    size_t matrix; /* where the present one belongs: its number in natural order */
    int levels;
    struct lat_order_level { /* slowest first */
        char what;           /* a letter of lat_order.sites */
        size_t extent, stride;
        size_t volume, links; /* sites, and links a site, that the levels below this one make */
        size_t digit;
        size_t base; /* what the levels above add to `matrix` */
        int parity;  /* that the coordinates from here on must add up to; -1: any */
    } level[LAT_MAX_DIMS + 2];
    size_t link[LAT_MAX_DIMS];
} lat_order_iterator;

/* Begins with matrix number i of the stream, i below the number of all. `links`: matrices a site,
 * that is 1 or geom->nd. */
void lat_order_start(lat_order_iterator *w, const lat_order *o, const lat_geometry *geom, int links,
                     size_t i);
void lat_order_next(lat_order_iterator *w); /* not beyond the last one */

#endif
