/* SPDX-License-Identifier: BSD-3-Clause */
/* geometry.h: the lattice, and the natural order of its sites.
 *
 * Axes are x, y, z, t = 0, 1, 2, 3; in fewer dimensions the last ones are absent. The natural
 * index runs with x fastest: i = x + X (y + Y (z + Z t)). Boundaries are periodic. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LAT_MAX_DIMS 4

typedef struct lat_geometry {
    int nd;                 /* 1 to 4 */
    int dims[LAT_MAX_DIMS]; /* extents in x, y, z, t; unused ones are 1 */
} lat_geometry;

/* Number of sites. It does not overflow after lat_geometry_check. */
size_t lat_volume(const lat_geometry *geom);

/* Fails unless 1 <= nd <= 4, every extent is in 1..65535 and volume * 4 * 2 * 16 * 16 * 8
 * bytes fit in a signed 64-bit number. `name` names the file, for the sentence. */
int lat_geometry_check(const lat_geometry *geom, const char *name);

/* Coordinates of the site with a natural index, and the index of the site with coordinates; unused
 * coordinates are 0. */
void lat_coordinates(const lat_geometry *geom, size_t site, int x[LAT_MAX_DIMS]);
size_t lat_site(const lat_geometry *geom, const int x[LAT_MAX_DIMS]);

/* Natural index of the neighbour of `site` in direction mu (step = +1 or -1). */
size_t lat_neighbour(const lat_geometry *geom, size_t site, int mu, int step);

/* Are the first `axes` coordinates, or numbers of momenta, the same modulo the extents? */
bool lat_same_modulo(const lat_geometry *geom, int axes, const int *a, const int *b);

/* Writes "8 8 8 16" to buf, and returns it. */
const char *lat_dims_text(const lat_geometry *geom, char buf[64]);

/* Reads "4,11", two numbers of slices: 0, or -1 (lat_error is not set). */
int lat_window_parse(const char *text, int window[2]);

/* Reads "8,8,8,16", "8x8x8x16" or "8 8 8 16" and nothing after it; -1 with lat_error. */
int lat_dims_parse(const char *text, lat_geometry *geom);
