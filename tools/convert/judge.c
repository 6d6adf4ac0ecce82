/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.c: is what was read the gauge field that the file says it is? */
#include <math.h>
#include <stdlib.h>
#include "common/error.h"
#include "common/measure.h"
#include "format.h"
#include "site/sun.h"

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

static void find_odd(const lat_field *f, odd_links *odd)
{
    const size_t links = lat_field_matrices(f);
    const int nd = f->head.geom.nd;
    *odd = (odd_links){.aligned = {true, true, true, true}};
    for (size_t i = 0; i < links; i++) {
        double m[LAT_SUN_REALS];
        int x[LAT_MAX_DIMS], mu = (int)(i % (size_t)nd);
        lat_field_get(f, i, m);
        enum oddity k = kind_of(f->head.nc, m);
        if (k == ORDINARY)
            continue;
        lat_coordinates(&f->head.geom, i / (size_t)nd, x);
        if (odd->count[k]++ && (odd->mu[k] != mu || odd->slice[k] != x[mu]))
            odd->aligned[k] = false;
        odd->mu[k] = mu;
        odd->slice[k] = x[mu];
    }
}

/* All links of one kind fill one slice, and only they are odd. */
static bool whole_slice(const lat_field *f, const odd_links *odd, enum oddity k)
{
    const size_t all = odd->count[ZERO] + odd->count[MINUS] + odd->count[OTHER];
    return odd->aligned[k] && odd->count[k] == all &&
           odd->count[k] * (size_t)f->head.geom.dims[odd->mu[k]] == lat_volume(&f->head.geom);
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

static int judge_group(const char *name, lat_field *f, bool force)
{
    lat_deviation d;
    odd_links odd;
    if (lat_measure_deviation(f, &d) < 0)
        return -1;
    if (d.unitarity_max <= UNITARITY && d.det_max <= DETERMINANT)
        return 0;
    find_odd(f, &odd);
    if (whole_slice(f, &odd, ZERO) || whole_slice(f, &odd, MINUS))
        return judge_boundary(name, &f->head, &odd, odd.count[ZERO] > 0, force);
    if (d.unitarity_max > UNITARITY)
        return lat_dispute(
            force,
            "%s: |U U^+ - 1| is up to %.3g, expected below %g: not a gauge field (fat "
            "links, or a transformation?)",
            name, d.unitarity_max, UNITARITY);
    return lat_dispute(force,
                       "%s: |1 - det U| is up to %.3g, expected below %g, det U = -1 on %zu of %zu "
                       "links: phases folded into the links?",
                       name, d.det_max, DETERMINANT, odd.count[MINUS], lat_field_matrices(f));
}

static int judge_finite(const char *name, const lat_field *f)
{
    if (isfinite(f->head.plaquette) && isfinite(f->head.link_trace))
        return 0;
    const size_t n = lat_field_reals(f), each = 2 * (size_t)f->head.nc * (size_t)f->head.nc;
    for (size_t i = 0; i < n; i++) {
        double v = f->head.real == LAT_F64 ? ((double *)f->data)[i] : (double)((float *)f->data)[i];
        if (!isfinite(v))
            return lat_fail("%s: expected finite numbers, found %g in link %zu of site %zu", name,
                            v, i / each % (size_t)f->head.geom.nd,
                            i / each / (size_t)f->head.geom.nd);
    }
    return lat_fail("%s: numbers so large that the plaquette is not finite: not a gauge field, or "
                    "another byte order",
                    name);
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

int lat_judge(const char *name, lat_field *f, const lat_reading *r)
{
    lat_header *h = &f->head;
    if (isnan(h->plaquette) && lat_measure_plaquette(f, &h->plaquette, &h->link_trace) < 0)
        return -1;
    if (judge_finite(name, f) < 0 || judge_group(name, f, r->force) < 0)
        return -1;
    if (judge_claim(name, "plaquette", r->plaquette, r->plaquette_within, h->plaquette, r->force) <
        0)
        return -1;
    return judge_claim(name, "link trace", r->link_trace, r->link_trace_within, h->link_trace,
                       r->force);
}
