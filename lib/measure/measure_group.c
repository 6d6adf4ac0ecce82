/* SPDX-License-Identifier: BSD-3-Clause */
/* measure_group.c: are the links in SU(N)? Which one is farthest? */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include "base/error.h"
#include "common/options.h"
#include "lattice/boundary.h"
#include "site/sun.h"

bool lat_accept_any_links;

void lat_farthest_search(lat_farthest *far, const lat_header *head, const void *links, size_t first,
                         size_t count)
{
    const lat_field f = {.head = *head, .data = (void *)links}; /* borrowed */
    const int n = head->nc, nd = head->geom.nd;
    const unsigned open = lat_boundary_open(head);
    for (size_t i = 0; i < count; i++) {
        double m[LAT_SUN_REALS], det[2];
        lat_field_get(&f, i, m);
        if (open && lat_boundary_none(open, (int)((first + i) % (size_t)nd), m, 2 * n * n))
            continue;
        lat_sun_det(n, m, det);
        const double unitarity = lat_sun_unitarity(n, m),
                     distance = lat_worse(unitarity, hypot(1 - det[0], det[1]));
        if (distance <= far->distance)
            continue;
        *far = (lat_farthest){distance, unitarity, first + i};
        if (isnan(distance))
            return;
    }
}

int lat_farthest_check(const lat_farthest *far, lat_header *head, const char *name)
{
    const char *stated = lat_info_get(head, LAT_INFO_NOT_IN_GROUP);
    char where[LAT_POSITION_TEXT], text[LAT_POSITION_TEXT + 40];
    if (far->distance <= LAT_SUN_WITHIN || lat_accept_any_links)
        return 0;
    lat_position_text(head, far->link, where);
    if (stated || lat_opts.force)
        lat_warn("%s: links are up to %.3g from SU(%d), at %s%s", name, far->distance, head->nc,
                 where, stated ? ", as the header says" : " (--force)");
    snprintf(text, sizeof text, "%.3g at %s", far->distance, where);
    if (stated)
        return 0;
    if (lat_opts.force)
        return lat_info_set(head, LAT_INFO_NOT_IN_GROUP, text);
    return lat_fail(
        "%s: expected links within %g of SU(%d), found one at %.3g, the farthest, at %s "
        "(lat-reunit projects links; --force goes on)",
        name, LAT_SUN_WITHIN, head->nc, far->distance, where);
}

int lat_measure_in_group(lat_field *f, double distance, const char *name)
{
    const size_t matrices = lat_field_matrices(f),
                 first = lat_field_site(f, 0) * (size_t)f->head.geom.nd;
    lat_farthest far = {0, 0, 0};
    if (distance <= LAT_SUN_WITHIN || lat_accept_any_links)
        return 0;
    lat_farthest_search(&far, &f->head, f->data, first, matrices);
    if (lat_field_shared(f)) {
        /* The largest distance, then the first link that has it. */
        double most = far.distance, link;
        if (f->comm->max(f->comm, &most, 1))
            return -1;
        link = far.distance == most ? -(double)far.link : -(double)SIZE_MAX;
        if (f->comm->max(f->comm, &link, 1))
            return -1;
        far = (lat_farthest){most, most, (size_t)-link};
    }
    return lat_farthest_check(&far, &f->head, name);
}

/* Missing links along mu of own sites that are 0 in all other directions. */
static int missing_of_line(const lat_field *f, int mu)
{
    const lat_geometry *geom = &f->head.geom;
    const size_t own = lat_field_sites(f), first = own ? lat_field_site(f, 0) : 0;
    size_t step = 1;
    int missing = 0;
    for (int nu = 0; nu < mu; nu++)
        step *= (size_t)geom->dims[nu];
    for (int x = 0; x < geom->dims[mu]; x++) {
        const size_t site = (size_t)x * step;
        double m[LAT_SUN_REALS];
        if (site < first || site >= first + own)
            continue;
        lat_field_get(f, (site - first) * (size_t)geom->nd + (size_t)mu, m);
        missing += lat_boundary_none(1, 0, m, 2 * f->head.nc * f->head.nc);
    }
    return missing;
}

int lat_measure_missing(const lat_field *f, const char *name)
{
    const unsigned open = lat_boundary_open(&f->head);
    for (int mu = 0; mu < f->head.geom.nd; mu++) {
        if (!(open >> mu & 1))
            continue;
        double missing = missing_of_line(f, mu);
        if (lat_field_shared(f) && f->comm->sum(f->comm, &missing, 1))
            return -1;
        char text[160];
        if (missing == 1)
            continue;
        snprintf(text, sizeof text,
                 "expected the %c-links of one slice to be zero, as boundary_%d = OPEN says, found "
                 "%g of the %d through the origin",
                 "xyzt"[mu], mu + 1, missing, f->head.geom.dims[mu]);
        if (!lat_opts.force)
            return lat_fail("%s: %s (--force goes on)", name, text);
        lat_warn("%s: %s (--force)", name, text);
    }
    return 0;
}
