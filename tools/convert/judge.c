/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.c: is what was read the gauge field that the file says it is? */
#include <math.h>
#include "common/error.h"
#include "common/slices.h"
#include "site/sun.h"
#include "source.h"

/* Real files, of every writer and precision, have |U U^+ - 1| below 2e-6; smeared ("fat") links,
 * gauge transformations of other groups and wrong byte orders are off by 0.1 and more. */
#define UNITARITY   1e-2
#define DETERMINANT 1e-2

enum oddity { ORDINARY, ZERO, MINUS, OTHER };

static enum oddity kind_of(int n, const double *m)
{
    double largest = 0, det[2];
    for (int k = 0; k < 2 * n * n; k++)
        largest = fmax(largest, fabs(m[k]));
    if (largest < 1e-6)
        return ZERO;
    if (lat_sun_unitarity(n, m) > UNITARITY)
        return OTHER;
    lat_sun_det(n, m, det);
    if (hypot(det[0] - 1, det[1]) < DETERMINANT)
        return ORDINARY;
    return hypot(det[0] + 1, det[1]) < DETERMINANT ? MINUS : OTHER;
}

/* Where the odd links are: how many of each kind, and the direction and slice of the last one. */
typedef struct odd_links {
    size_t count[4];
    int mu[4], slice[4];
    bool aligned[4]; /* all of that kind have that direction and slice */
} odd_links;

static void count_odd(odd_links *odd, enum oddity k, int mu, int slice)
{
    if (odd->count[k]++ && (odd->mu[k] != mu || odd->slice[k] != slice))
        odd->aligned[k] = false;
    odd->mu[k] = mu;
    odd->slice[k] = slice;
}

static int find_odd(void *context, const lat_header *head, const void *slices, int first, int count)
{
    const lat_field f = {.head = *head, .data = (void *)slices}; /* borrowed */
    const size_t each = lat_slice_matrices(head), nd = (size_t)head->geom.nd;
    for (size_t i = 0; i < (size_t)count * each; i++) {
        double m[LAT_SUN_REALS];
        int x[LAT_MAX_DIMS];
        lat_field_get(&f, i, m);
        const enum oddity k = kind_of(head->nc, m);
        if (k == ORDINARY)
            continue;
        lat_coordinates(&head->geom, (i + (size_t)first * each) / nd, x);
        count_odd(context, k, (int)(i % nd), x[i % nd]);
    }
    return 0;
}

/* All links of one kind fill one slice, and only they are odd. */
static bool whole_slice(const lat_geometry *geom, const odd_links *odd, enum oddity k)
{
    const size_t all = odd->count[ZERO] + odd->count[MINUS] + odd->count[OTHER];
    return odd->aligned[k] && odd->count[k] == all &&
           odd->count[k] * (size_t)geom->dims[odd->mu[k]] == lat_volume(geom);
}

/* The NERSC header's key, and as there axes are counted from 1. */
static int record_boundary(lat_header *h, int mu, const char *kind)
{
    char key[] = "boundary_1";
    key[sizeof key - 2] = (char)('1' + mu);
    return lat_info_set(h, key, kind);
}

static int judge_boundary(const char *name, lat_header *h, const odd_links *odd, bool open,
                          bool force)
{
    const int k = open ? ZERO : MINUS, mu = odd->mu[k];
    const char axis = "xyzt"[mu];
    const int bad =
        open ? lat_dispute(force,
                           "%s: all %c-links of slice %d are zero: an open boundary, which "
                           "periodic gauge fixing would not respect (--force reads it)",
                           name, axis, odd->slice[k])
             : lat_dispute(force,
                           "%s: all %c-links of slice %d have det U = -1: an antiperiodic boundary "
                           "is folded into the links (--force reads it)",
                           name, axis, odd->slice[k]);
    return bad ? -1 : record_boundary(h, mu, open ? "OPEN" : "ANTIPERIODIC");
}

static int judge_group(lat_source *s, const lat_slice_sums *sums)
{
    const bool force = s->r.force;
    lat_header *h = &s->f.head;
    odd_links odd = {.aligned = {true, true, true, true}};
    if (sums->unitarity <= UNITARITY && sums->det <= DETERMINANT)
        return 0;
    if (lat_source_each(s, false, find_odd, &odd) < 0)
        return -1;
    if (whole_slice(&h->geom, &odd, ZERO) || whole_slice(&h->geom, &odd, MINUS))
        return judge_boundary(s->name, h, &odd, odd.count[ZERO] > 0, force);
    if (sums->unitarity > UNITARITY)
        return lat_dispute(
            force,
            "%s: |U U^+ - 1| is up to %.3g, expected below %g: not a gauge field (fat "
            "links, or a transformation?)",
            s->name, sums->unitarity, UNITARITY);
    return lat_dispute(force,
                       "%s: |1 - det U| is up to %.3g, expected below %g, det U = -1 on %zu of %zu "
                       "links: phases folded into the links?",
                       s->name, sums->det, DETERMINANT, odd.count[MINUS], lat_header_matrices(h));
}

/* Fails at the first number that is not finite. */
static int find_not_finite(void *context, const lat_header *head, const void *slices, int first, int count)
{
    const size_t each = 2 * (size_t)head->nc * (size_t)head->nc, matrices = lat_slice_matrices(head);
    const size_t before = (size_t)first * matrices, nd = (size_t)head->geom.nd;
    for (size_t i = 0; i < (size_t)count * matrices * each; i++) {
        const double v = head->real == LAT_F64 ? ((const double *)slices)[i] : (double)((const float *)slices)[i];
        if (!isfinite(v))
            return lat_fail("%s: expected finite numbers, found %g in link %zu of site %zu", (const char *)context,
                            v, i / each % nd, (i / each + before) / nd);
    }
    return 0;
}

static int judge_finite(lat_source *s, const lat_slice_sums *sums)
{
    if (isfinite(sums->plaquette) && isfinite(sums->trace))
        return 0;
    if (lat_source_each(s, false, find_not_finite, (void *)s->name) < 0)
        return -1;
    return lat_fail("%s: numbers so large that the plaquette is not finite: not a gauge field, or "
                    "another byte order",
                    s->name);
}

static int judge_claim(const char *name, const char *what, double stated, double within,
                       double found, bool force)
{
    if (isnan(stated) || fabs(stated - found) <= within)
        return 0;
    return lat_dispute(force,
                       "%s: %s %.12g is stated, %.12g found, which differs by more than %.2g", name,
                       what, stated, found, within);
}

int lat_judge(lat_source *s, const lat_slice_sums *sums)
{
    const lat_header *h = &s->f.head;
    const lat_reading *r = &s->r;
    if (judge_finite(s, sums) < 0 || judge_group(s, sums) < 0 ||
        judge_claim(s->name, "plaquette", r->plaquette, r->plaquette_within, h->plaquette, r->force) < 0)
        return -1;
    return judge_claim(s->name, "link trace", r->link_trace, r->link_trace_within, h->link_trace, r->force);
}
