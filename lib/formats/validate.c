/* SPDX-License-Identifier: BSD-3-Clause */
/* validate.c: is what was read the gauge field that the file states? */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "lattice/boundary.h"
#include "base/error.h"
#include "lattice/slices.h"
#include "site/sun.h"
#include "file_reader.h"

/* The class of a link: in SU(N); zero; det = -1; neither. */
enum link_class { SUN, ZERO, MINUS, OTHER, CLASSES };

static enum link_class classify(int n, const double *m)
{
    double largest = 0, det[2];
    for (int k = 0; k < 2 * n * n; k++)
        largest = fmax(largest, fabs(m[k]));
    if (largest < 1e-6)
        return ZERO;
    if (!(lat_sun_unitarity(n, m) <= LAT_SUN_WITHIN))
        return OTHER;
    lat_sun_det(n, m, det);
    if (hypot(det[0] - 1, det[1]) <= LAT_SUN_WITHIN)
        return SUN;
    return hypot(det[0] + 1, det[1]) <= LAT_SUN_WITHIN ? MINUS : OTHER;
}

/* The links of a direction that are not in SU(N), by class. */
typedef struct link_counts {
    size_t count[CLASSES];
    int slice[CLASSES];   /* the slice along the direction that has the last one found */
    bool spread[CLASSES]; /* they are not all in that slice */
} link_counts;

/* Links of zero by slices of the last axis; of the first few slices how many there are. */
#define ZERO_SLICES 4
typedef struct zero_links {
    size_t all;
    int slices, last;
    struct {
        int slice;
        size_t links;
    } in[ZERO_SLICES];
} zero_links;

typedef struct findings {
    link_counts counts[LAT_MAX_DIMS];
    zero_links zero;
    lat_farthest far; /* of all links */
} findings;

/* Links come slice by slice. */
static void count_zero(zero_links *z, int slice)
{
    if (z->all++ == 0 || slice != z->last)
        z->slices++;
    z->last = slice;
    if (z->slices <= ZERO_SLICES) {
        z->in[z->slices - 1].slice = slice;
        z->in[z->slices - 1].links++;
    }
}

static int count_links(void *context, const lat_header *head, const void *slices, int first,
                       int count)
{
    const lat_field f = {.head = *head, .data = (void *)slices}; /* borrowed */
    const size_t each = lat_slice_matrices(head), nd = (size_t)head->geom.nd;
    for (size_t i = 0; i < (size_t)count * each; i++) {
        double m[LAT_SUN_REALS];
        int x[LAT_MAX_DIMS];
        lat_field_get(&f, i, m);
        const enum link_class k = classify(head->nc, m);
        link_counts *counts = ((findings *)context)->counts + i % nd;
        if (k == SUN)
            continue;
        if (k == ZERO)
            count_zero(&((findings *)context)->zero, first + (int)(i / each));
        lat_farthest_search(&((findings *)context)->far, head,
                            (const char *)slices
                                + i * 2 * (size_t)(head->nc * head->nc) * (size_t)head->real,
                            i + (size_t)first * each, 1);
        lat_coordinates(&head->geom, (i + (size_t)first * each) / nd, x);
        counts->spread[k] |= counts->count[k] > 0 && counts->slice[k] != x[i % nd];
        counts->slice[k] = x[i % nd];
        counts->count[k]++;
    }
    return 0;
}

/* The class that explains the direction mu: ZERO or MINUS if these links fill one slice and all
 * others are in SU(N); SUN if all are; else OTHER. */
static enum link_class explained(const lat_geometry *geom, const link_counts *counts, int mu)
{
    const size_t slice = lat_volume(geom) / (size_t)geom->dims[mu];
    const size_t all = counts->count[ZERO] + counts->count[MINUS] + counts->count[OTHER];
    if (all == 0)
        return SUN;
    for (enum link_class k = ZERO; k <= MINUS; k++)
        if (counts->count[k] == slice && all == slice && !counts->spread[k])
            return k;
    return OTHER;
}

static bool all_explained(const lat_geometry *geom, const link_counts *counts)
{
    for (int mu = 0; mu < geom->nd; mu++)
        if (explained(geom, &counts[mu], mu) == OTHER)
            return false;
    return true;
}

/* 1: there are signs to be removed. */
static int record_boundaries(lat_file_reader *s, const link_counts *counts)
{
    lat_header *h = &s->f.head;
    int signs = 0;
    for (int mu = 0; mu < h->geom.nd; mu++) {
        const enum link_class k = explained(&h->geom, &counts[mu], mu);
        if (k == SUN)
            continue;
        if (lat_boundary_set(h, mu, k == ZERO ? LAT_OPEN : LAT_ANTIPERIODIC) < 0)
            return -1;
        if (k == MINUS)
            s->signs[mu] = counts[mu].slice[k] + 1, signs = 1;
        lat_warn(k == ZERO ? "%s: all %c-links of slice %d are zero: an open boundary, recorded as "
                             "boundary_%d = OPEN"
                           : "%s: all %c-links of slice %d have det U = -1: the signs of an "
                             "antiperiodic boundary are taken off, "
                             "and recorded as boundary_%d = ANTIPERIODIC",
                 s->name, "xyzt"[mu], counts[mu].slice[k], mu + 1);
    }
    return signs;
}

/* "192 of 1024 links are zero: 128 in slice t = 0, 64 in slice t = 7" */
static void zero_text(const lat_header *h, const zero_links *z, char *text, size_t size)
{
    const char axis = "xyzt"[h->geom.nd - 1];
    int n = snprintf(text, size, "%zu of %zu links are zero:", z->all, lat_header_matrices(h));
    for (int i = 0; i < z->slices && i < ZERO_SLICES; i++)
        n += snprintf(text + n, size - (size_t)n, "%s %zu in slice %c = %d", i ? "," : "",
                      z->in[i].links, axis, z->in[i].slice);
    if (z->slices > ZERO_SLICES)
        snprintf(text + n, size - (size_t)n, ", the rest in %d more", z->slices - ZERO_SLICES);
}

static size_t count_all(const findings *found, int nd, enum link_class k)
{
    size_t n = 0;
    for (int mu = 0; mu < nd; mu++)
        n += found->counts[mu].count[k];
    return n;
}

/* The sentence about links that are not in SU(N). */
static int refuse_links(const lat_file_reader *s, const findings *found, const char *where)
{
    const lat_header *h = &s->f.head;
    const int nd = h->geom.nd;
    char zeros[300];
    if (found->zero.all && count_all(found, nd, OTHER) == 0) {
        zero_text(h, &found->zero, zeros, sizeof zeros);
        return lat_mismatch(
            s->r.force,
            "%s: %s; expected none, or all links of an open boundary, along one axis in one slice "
            "of it: not a gauge field (damage, or a Schroedinger functional?)",
            s->name, zeros);
    }
    if (!(found->far.unitarity <= LAT_SUN_WITHIN))
        return lat_mismatch(s->r.force,
                            "%s: |U U^+ - 1| is up to %.3g, at %s, expected below %g: not a gauge "
                            "field (fat links, or a transformation?)",
                            s->name, found->far.unitarity, where, LAT_SUN_WITHIN);
    return lat_mismatch(
        s->r.force,
        "%s: |1 - det U| is up to %.3g, at %s, expected below %g, det U = -1 on %zu "
        "of %zu links: phases folded into the links?",
        s->name, found->far.distance, where, LAT_SUN_WITHIN, count_all(found, nd, MINUS),
        lat_header_matrices(h));
}

static int not_in_group(lat_file_reader *s, const findings *found)
{
    lat_header *h = &s->f.head;
    char where[LAT_POSITION_TEXT], text[LAT_POSITION_TEXT + 40];
    lat_position_text(h, found->far.link, where);
    snprintf(text, sizeof text, "%.3g at %s", found->far.distance, where);
    return refuse_links(s, found, where) < 0 ? -1 : lat_info_set(h, LAT_INFO_NOT_IN_GROUP, text);
}

static int validate_group(lat_file_reader *s, const lat_slice_sums *sums)
{
    findings found = {.far = {0, 0, 0}};
    if (sums->distance <= LAT_SUN_WITHIN)
        return 0;
    if (lat_file_reader_each(s, false, count_links, &found) < 0)
        return -1;
    if (all_explained(&s->f.head.geom, found.counts))
        return record_boundaries(s, found.counts);
    return not_in_group(s, &found);
}

/* Fails at the first number that is not finite. */
static int find_not_finite(void *context, const lat_header *head, const void *slices, int first,
                           int count)
{
    const size_t each = 2 * (size_t)head->nc * (size_t)head->nc,
                 matrices = lat_slice_matrices(head);
    const size_t before = (size_t)first * matrices, nd = (size_t)head->geom.nd;
    for (size_t i = 0; i < (size_t)count * matrices * each; i++) {
        const double v = head->real == LAT_F64 ? ((const double *)slices)[i]
                                               : (double)((const float *)slices)[i];
        if (!isfinite(v))
            return lat_fail("%s: expected finite numbers, found %g in link %zu of site %zu",
                            (const char *)context, v, i / each % nd, (i / each + before) / nd);
    }
    return 0;
}

static int validate_finite(lat_file_reader *s, const lat_slice_sums *sums)
{
    if (isfinite(sums->plaquette) && isfinite(sums->trace))
        return 0;
    if (lat_file_reader_each(s, false, find_not_finite, (void *)s->name) < 0)
        return -1;
    return lat_fail("%s: numbers so large that the plaquette is not finite: not a gauge field, or "
                    "another byte order",
                    s->name);
}

static int validate_stated(const lat_file_reader *s, const char *what, double stated, double within,
                           double found)
{
    if (isnan(stated) || fabs(stated - found) <= within)
        return 0;
    /* With an open boundary programs differ in the plaquettes that they average over. */
    return lat_mismatch(s->r.force || lat_boundary_open(&s->f.head),
                        "%s: %s %.12g is stated, %.12g found, which differs by more than %.2g%s",
                        s->name, what, stated, found, within,
                        s->r.sums_agree ? "; both checksums are those of the links" : "");
}

/* An open boundary of axis mu is stated: are all links of one slice along it zero, no others? */
static int validate_open_axis(lat_file_reader *s, const link_counts *counts, int mu)
{
    lat_header *h = &s->f.head;
    const size_t zero = counts->count[ZERO];
    if (explained(&h->geom, counts, mu) == ZERO)
        return 0;
    if (zero)
        return lat_mismatch(s->r.force,
                            "%s: an open boundary of the %c axis is stated, expected all %zu links "
                            "of one slice along it to be zero, found %zu%s",
                            s->name, "xyzt"[mu], lat_volume(&h->geom) / (size_t)h->geom.dims[mu],
                            zero, counts->spread[ZERO] ? ", not in one slice" : "");
    return lat_rc(
        lat_mismatch(s->r.force,
                     "%s: an open boundary of the %c axis is stated, and no link along it "
                     "is zero (--force takes it for periodic)",
                     s->name, "xyzt"[mu])
        || lat_boundary_set(h, mu, "PERIODIC") < 0);
}

/* A file that states an open boundary (NERSC can) has links of zero there, which the sums leave
 * out; else it is a mismatch. */
static int validate_open(lat_file_reader *s, const lat_slice_sums *sums)
{
    const lat_header *h = &s->f.head;
    findings found = {.far = {0, 0, 0}};
    if (!lat_boundary_open(h) || sums->distance > LAT_SUN_WITHIN)
        return 0;
    if (lat_file_reader_each(s, false, count_links, &found) < 0)
        return -1;
    for (int mu = 0; mu < h->geom.nd; mu++)
        if (lat_boundary_is(h, mu, LAT_OPEN) && validate_open_axis(s, &found.counts[mu], mu))
            return -1;
    return 0;
}

/* ---- files that do not say what they are ----------------------------------------------------- */

/* Another order of the extents of --dims, on which the same links have a plaquette. */
typedef struct trial {
    double least; /* modulus of the plaquette that is asked for */
    bool found;
    lat_geometry geom;
    double plaquette;
} trial;

/* The permutation number i, below 256, of four extents; false if it is none. */
static bool permuted(const lat_geometry *from, int i, lat_geometry *to)
{
    unsigned used = 0;
    *to = *from;
    for (int mu = 0; mu < 4; mu++) {
        to->dims[mu] = from->dims[i >> 2 * mu & 3];
        used |= 1u << (i >> 2 * mu & 3);
    }
    return used == 15 && memcmp(to->dims, from->dims, sizeof to->dims) != 0;
}

/* With all slices at once. The order of the links is that of ILDG; else none is found. */
static int try_extents(void *context, const lat_header *head, const void *slices,
                       LAT_UNUSED int first, LAT_UNUSED int count)
{
    trial *t = context;
    lat_field f = {.head = *head, .data = (void *)slices}; /* borrowed */
    for (int i = 0; i < 256 && !t->found; i++) {
        double trace;
        lat_slice_sums all;
        if (!permuted(&head->geom, i, &f.head.geom))
            continue;
        if (lat_measure_sums(&f, false, &all) < 0)
            return -1;
        lat_measure_means(&f.head, &all, &t->plaquette, &trace);
        t->found = fabs(t->plaquette) >= t->least;
        t->geom = f.head.geom;
    }
    return 0;
}

/* Products of links that are far apart, or not connected, have the mean 0; Re tr U / N of random
 * ones has the variance 1 / 2 N^2, of SU(2) twice that. Where the plaquette is 0 to 5 standard
 * deviations, another order of the extents may have one of 50. 0 or -1. */
static int find_extents(lat_file_reader *s, trial *t)
{
    const lat_header *h = &s->f.head;
    const double deviation = 1 / (h->nc * sqrt(6 * (double)lat_volume(&h->geom)));
    *t = (trial){.least = 50 * deviation};
    return fabs(h->plaquette) > 5 * deviation ? 0 : lat_file_reader_each(s, true, try_extents, t);
}

/* One sentence about what the user vouches for. */
static int validate_unvouched(lat_file_reader *s, const lat_slice_sums *sums)
{
    const lat_header *h = &s->f.head;
    char here[64], there[64];
    trial t;
    if (!s->format->unvouched || s->r.vouched)
        return 0;
    if (find_extents(s, &t) < 0)
        return -1;
    if (t.found)
        return lat_mismatch(
            s->r.force,
            "%s: on %s the plaquette is %.6g, typical of random links, and on %s it "
            "is %.6g: expected %s for that lattice",
            s->name, lat_dims_text(&h->geom, here), h->plaquette, lat_dims_text(&t.geom, there),
            t.plaquette, s->format->takes == LAT_TAKES_ORDER ? "--order" : "--dims");
    lat_warn(
        "%s: nothing in a %s file vouches for extents and order: as %s SU(%d) its plaquette is "
        "%.6g, and links are within %.2g of the group",
        s->name, s->format->name, lat_dims_text(&h->geom, here), h->nc, h->plaquette,
        sums->distance);
    return 0;
}

int lat_validate(lat_file_reader *s, const lat_slice_sums *sums)
{
    const lat_header *h = &s->f.head;
    const lat_read_context *r = &s->r;
    const int signs = validate_finite(s, sums) < 0 || validate_open(s, sums) < 0
                          ? -1
                          : validate_group(s, sums);
    if (signs < 0
        || validate_stated(s, "plaquette", r->plaquette, r->plaquette_within, h->plaquette) < 0
        || validate_stated(s, "link trace", r->link_trace, r->link_trace_within, h->link_trace) < 0)
        return -1;
    return validate_unvouched(s, sums) < 0 ? -1 : signs;
}
