/* SPDX-License-Identifier: BSD-3-Clause */
/* geometry.c: extents, natural order, neighbours; dimensions as text. */
#include "geometry.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define MAX_EXTENT 65535
#define MAX_SITE_BYTES (4 * 2 * 16 * 16 * 8) /* four links of SU(16) in double precision */

size_t lat_volume(const lat_geometry *geom)
{
    size_t v = 1;
    for (int mu = 0; mu < geom->nd; mu++)
        v *= (size_t)geom->dims[mu];
    return v;
}

int lat_geometry_check(const lat_geometry *geom, const char *name)
{
    uint64_t v = 1; /* at most 65535^4 < 2^64 */
    if (geom->nd < 1 || geom->nd > LAT_MAX_DIMS)
        return lat_fail("%s: expected 1 to %d dimensions, found %d", name, LAT_MAX_DIMS, geom->nd);
    for (int mu = 0; mu < geom->nd; mu++) {
        if (geom->dims[mu] < 1 || geom->dims[mu] > MAX_EXTENT)
            return lat_fail("%s: expected an extent of 1 to %d in %c, found %d", name, MAX_EXTENT,
                            "xyzt"[mu], geom -> dims[mu]);
        v *= (uint64_t)geom->dims[mu];
    }
    if (v > INT64_MAX / MAX_SITE_BYTES || v > SIZE_MAX / MAX_SITE_BYTES)
        return lat_fail("%s: expected at most %llu sites, found %llu", name,
                        (unsigned long long)(INT64_MAX / MAX_SITE_BYTES), (unsigned long long)v);
    return 0;
}

void lat_coordinates(const lat_geometry *geom, size_t site, int x[LAT_MAX_DIMS])
{
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        size_t extent = mu < geom->nd ? (size_t)geom->dims[mu] : 1;
        x[mu] = (int)(site % extent);
        site /= extent;
    }
}

size_t lat_site(const lat_geometry *geom, const int x[LAT_MAX_DIMS])
{
    size_t site = 0;
    for (int mu = geom->nd - 1; mu >= 0; mu--)
        site = site * (size_t)geom->dims[mu] + (size_t)x[mu];
    return site;
}

size_t lat_neighbour(const lat_geometry *geom, size_t site, int mu, int step)
{
    size_t stride = 1, extent = (size_t)geom->dims[mu], x;
    for (int nu = 0; nu < mu; nu++)
        stride *= (size_t)geom->dims[nu];
    x = site / stride % extent;
    if (step > 0)
        return x + 1 < extent ? site + stride : site - x * stride;
    return x > 0 ? site - stride : site + (extent - 1) * stride;
}

bool lat_same_modulo(const lat_geometry *geom, int axes, const int *a, const int *b)
{
    bool same = true;
    for (int mu = 0; mu < axes; mu++)
        same = same && (a[mu] - b[mu]) % geom->dims[mu] == 0;
    return same;
}

const char *lat_dims_text(const lat_geometry *geom, char buf[64])
{
    int n = 0;
    buf[0] = '\0';
    for (int mu = 0; mu < geom->nd && mu < LAT_MAX_DIMS; mu++)
        n += snprintf(buf + n, 64 - (size_t)n, "%s%d", mu ? " " : "", geom->dims[mu]);
    return buf;
}

/* Parses digits at *text and moves behind them. A value beyond MAX_EXTENT does not grow any more;
 * lat_geometry_check refuses it. */
static int extent_parse(const char **text)
{
    int v = 0;
    for (; isdigit((unsigned char)**text); ++*text)
        if (v <= MAX_EXTENT)
            v = 10 * v + (**text - '0');
    return v;
}

int lat_window_parse(const char *text, int window[2])
{
    const bool digit = isdigit((unsigned char)*text);
    window[0] = extent_parse(&text);
    const bool comma = *text == ',' && isdigit((unsigned char)text[1]);
    text += comma;
    window[1] = extent_parse(&text);
    return digit && comma && !*text ? 0 : -1;
}

int lat_dims_parse(const char *text, lat_geometry *geom)
{
    lat_geometry g = {0, {1, 1, 1, 1}};
    const char *p = text;
    char separator = '\0';
    for (;;) {
        if (g.nd == LAT_MAX_DIMS || !isdigit((unsigned char)*p))
            break;
        g.dims[g.nd++] = extent_parse(&p);
        if (!*p) {
            char name[80];
            snprintf(name, sizeof name, "dimensions '%.60s'", text);
            if (lat_geometry_check(&g, name) < 0)
                return -1;
            *geom = g;
            return 0;
        }
        if (!strchr(",x ", *p) || (separator && *p != separator))
            break;
        separator = *p++;
    }
    return lat_fail("expected 1 to %d extents such as 8,8,8,16, found '%.60s'", LAT_MAX_DIMS, text);
}
