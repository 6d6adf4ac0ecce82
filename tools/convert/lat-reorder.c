/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-reorder: the order in which a stream holds a field, and symmetries of the lattice.
 *
 * Two things, kept apart: --sites and --links choose the order of the output and change nothing of
 * the configuration (docs/format.md, "Orders"); the others make another, equivalent configuration
 * (docs/conventions.md, "Symmetries of the lattice"). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "lattice/condition.h"
#include "run/common/tool.h"
#include "site/sun.h"

static const char *sites = "natural", *links, *shift, *reflect, *axes;
static bool conjugate;

static const lat_option options[] = {
    {LAT_OPT_TEXT, "sites", 0, "ORDER", &sites, 0, 0,
     "store sites in this order: " LAT_ORDERS
     ", or a list, slowest first, such as t,parity,links,z,y,x"},
    {LAT_OPT_TEXT, "links", 0, "AXES", &links, 0, 0,
     "store the directions of a site in this order, such as t,x,y,z (default: x,y,z,t)"},
    {LAT_OPT_TEXT, "shift", 0, "X,Y,Z,T", &shift, 0, 0,
     "shift the configuration cyclically by X,Y,Z,T sites"},
    {LAT_OPT_TEXT, "reflect", 0, "AXES", &reflect, 0, 0,
     "reflect these axes: t for time, x,y,z for parity"},
    {LAT_OPT_TEXT, "axes", 0, "AXES", &axes, 0, 0,
     "permute the axes: with t,x,y,z the old t axis becomes x, the old x axis y ..."},
    {LAT_OPT_FLAG, "conjugate", 0, NULL, &conjugate, 0, 0, "apply charge conjugation, U -> U*"},
    {0}};

static const lat_tool tool = {
    .name = "lat-reorder",
    .args = "[FILE]",
    .summary = "Stores fields in another order of sites, links and columns, or in natural order "
               "again, and applies symmetries of the lattice to links and gauge transformations: "
               "first a shift, then reflections, then a "
               "permutation of axes, and charge conjugation.",
    .example =
        "lat-reorder --sites parity cfg.lat -o cfg.parity.lat\n"
        "lat-reorder --axes t,x,y,z cfg.lat | lat-orelax --gauge coulomb --time x -o fixed.lat\n"
        "lat-reorder --shift 0,0,0,4 cfg.lat -o shifted.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS,
};

/* ---- symmetries (docs/conventions.md, "Symmetries of the lattice") -----------------------------
 */

/* First the shift, then the reflections, then the permutation; conjugation commutes with them. */
typedef struct symmetry {
    long shift[LAT_MAX_DIMS];   /* x goes to x + shift, periodically */
    bool reflect[LAT_MAX_DIMS]; /* x_mu goes to -x_mu */
    int axes[LAT_MAX_DIMS];     /* axis i of the result was axis axes[i] */
    bool conjugate;             /* every matrix becomes its complex conjugate */
} symmetry;

/* ---- the header ------------------------------------------------------------------------------ */

/* The conditions known here are invariant, but for their directions; unknown ones are refused. */
static lat_condition permuted(const lat_condition *was, int nd, const symmetry *s)
{
    lat_condition is = *was;
    for (int i = 0; i < nd; i++) {
        is.weight[i] = was->weight[s->axes[i]];
        if (was->time == s->axes[i])
            is.time = i;
    }
    return is;
}

static int permute_condition(lat_header *head, const symmetry *s)
{
    lat_condition c;
    const int annealed = lat_condition_read_annealed(head, &c);
    if (annealed > 0)
        c = permuted(&c, head->geom.nd, s);
    if (annealed < 0 || (annealed && lat_condition_write_annealed(head, &c)))
        return -1;
    if (!strcmp(head->gauge, "none"))
        return 0;
    if (lat_condition_read(head, &c))
        return -1;
    c = permuted(&c, head->geom.nd, s);
    lat_condition_write(head, &c);
    return 0;
}

static void permute_extents(lat_geometry *geom, const symmetry *s)
{
    const lat_geometry was = *geom;
    for (int i = 0; i < geom->nd; i++)
        geom->dims[i] = was.dims[s->axes[i]];
}

/* ---- the matrices ---------------------------------------------------------------------------- */

typedef struct mapping {
    const lat_field *from;
    lat_field *to;
    const symmetry *s;
} mapping;

/* x: the old site of what is at site y of the result. */
static void old_site(const mapping *m, size_t y, int x[LAT_MAX_DIMS])
{
    const lat_geometry *was = &m->from->head.geom;
    int to[LAT_MAX_DIMS];
    lat_coordinates(&m->to->head.geom, y, to);
    for (int i = 0; i < was->nd; i++) {
        const int mu = m->s->axes[i], extent = was->dims[mu];
        const long z = (m->s->reflect[mu] ? -to[i] : to[i]) - m->s->shift[mu] % extent;
        x[mu] = (int)((z % extent + extent) % extent);
    }
}

/* Matrix `a` of the old field becomes matrix `b` of the new one. */
static void map_matrix(const mapping *m, size_t a, size_t b, bool dagger)
{
    const int n = m->from->head.nc;
    double was[LAT_SUN_REALS], is[LAT_SUN_REALS];
    lat_field_get(m->from, a, was);
    if (dagger)
        lat_sun_dag(n, is, was);
    else
        memcpy(is, was, 2 * (size_t)(n * n) * sizeof *is);
    for (int k = 1; m->s->conjugate && k < 2 * n * n; k += 2)
        is[k] = -is[k];
    lat_field_put(m->to, b, is);
}

/* A reflected link leads from y to y + i, that is in the old field from x to x - mu: backwards
 * along U_mu(x - mu). */
static void map_links(const mapping *m, size_t y, int x[LAT_MAX_DIMS])
{
    const lat_geometry *was = &m->from->head.geom;
    const size_t nd = (size_t)was->nd, here = lat_site(was, x);
    for (size_t i = 0; i < nd; i++) {
        const int mu = m->s->axes[i];
        const bool back = m->s->reflect[mu];
        const size_t site = back ? lat_neighbour(was, here, mu, -1) : here;
        map_matrix(m, site * nd + (size_t)mu, y * nd + i, back);
    }
}

static void map_all(const mapping *m)
{
    const size_t volume = lat_volume(&m->to->head.geom);
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < volume; y++) {
        int x[LAT_MAX_DIMS] = {0};
        old_site(m, y, x);
        if (m->to->head.kind == LAT_GAUGE)
            map_links(m, y, x);
        else
            map_matrix(m, lat_site(&m->from->head.geom, x), y, false);
    }
}

/* Applies s to a field of either kind; U and g that belong together still do, if both are mapped.
 * Bits are copied and signs are changed; nothing is rounded. Plaquette, functional and theta are
 * invariant and stay in the header. Extents, weights, the time axis of Coulomb gauge, boundaries
 * and the axis of the anisotropy are permuted. A reflection daggers links, so that two stored rows
 * of SU(3) become three. For one rank. 0, or -1 with lat_error set. */
static int apply(lat_field *f, const symmetry *s)
{
    lat_field to = *f;
    bool reflects = false;
    if (permute_condition(&to.head, s))
        return -1;
    lat_boundary_permute(&to.head, s->axes);
    permute_extents(&to.head.geom, s);
    if (lat_field_alloc(&to, f->comm))
        return -1;
    map_all(&(mapping){.from = f, .to = &to, .s = s});
    free(f->data);
    for (int mu = 0; mu < f->head.geom.nd; mu++)
        reflects = reflects || s->reflect[mu];
    *f = to; /* its header has the same lines */
    if (reflects && f->head.kind == LAT_GAUGE && f->head.nc > 2)
        f->head.reals = 2 * f->head.nc * f->head.nc;
    return lat_anisotropy_permute(&f->head, s->axes);
}

/* ---- options, which have to fit the lattice -------------------------------------------------- */

static int parse_shift(symmetry *s, int nd)
{
    const char *at = shift;
    char *end = NULL;
    for (int mu = 0; mu < nd; mu++, at = end + 1) {
        s->shift[mu] = strtol(at, &end, 10);
        if (end == at || *end != (mu + 1 < nd ? ',' : '\0') || s->shift[mu] < -INT_MAX
            || s->shift[mu] > INT_MAX)
            return lat_fail_usage("--shift %s: expected %d integers with commas between", shift,
                                  nd);
    }
    return 0;
}

static int parse_axes(symmetry *s, int nd)
{
    int list[LAT_MAX_DIMS];
    const int n = reflect ? lat_axes_parse(reflect, nd, list) : 0;
    if (n < 0)
        return lat_fail_usage("--reflect %s: expected axes of %d, each once, such as t or x,y",
                              reflect, nd);
    for (int i = 0; i < n; i++)
        s->reflect[list[i]] = true;
    if (axes && lat_axes_parse(axes, nd, s->axes) != nd)
        return lat_fail_usage("--axes %s: expected all %d axes, each once, such as t,x,y,z", axes,
                              nd);
    return 0;
}

static int change(lat_field *f)
{
    symmetry s = {.conjugate = conjugate};
    if (!shift && !reflect && !axes && !conjugate)
        return 0;
    if (lat_header_spinors(&f->head))
        return lat_fail("%s: expected links or a gauge transformation, which have symmetries, "
                        "found %s (--sites takes it)",
                        lat_filter_name(), lat_kind_text(f->head.kind));
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        s.axes[mu] = mu;
    if ((shift && parse_shift(&s, f->head.geom.nd)) || parse_axes(&s, f->head.geom.nd))
        return -1;
    return apply(f, &s);
}

/* --links alone is for a stream that has links, perhaps with copies behind them. */
static int expect_links(const lat_header *head)
{
    static bool seen;
    const bool alone = links && !lat_opt_given("sites") && !shift && !reflect && !axes
                       && !conjugate;
    seen = seen || head->kind == LAT_GAUGE;
    return seen || !alone
               ? 0
               : lat_fail("%s: --links: expected links, whose directions it orders, found %s "
                          "(--sites takes it)",
                          lat_filter_name(), lat_kind_text(head->kind));
}

static int order(lat_header *head)
{
    const int nd = head->geom.nd;
    if (lat_order_parse_sites(&head->order, sites, nd, lat_header_order_objects(head)))
        return lat_fail_usage("--sites %s: expected " LAT_ORDERS
                              ", or all %d axes, each once, perhaps with parity and "
                              "links or columns between",
                              sites, nd);
    lat_order other = head->order; /* of a field without links */
    if (links && lat_order_parse_links(head->kind == LAT_GAUGE ? &head->order : &other, links, nd))
        return lat_fail_usage("--links %s: expected all %d directions, each once, such as t,x,y,z",
                              links, nd);
    return expect_links(head);
}

/* Along an open axis the links of the last slice are missing, for operators of quarks too: a word
 * if they are elsewhere now. */
static void say_moved(const lat_field *f)
{
    const lat_geometry *geom = &f->head.geom;
    size_t site = 1; /* the last one of the axis, where others are 0 */
    for (int mu = 0; mu < geom->nd; mu++) {
        const size_t at = site * (size_t)(geom->dims[mu] - 1);
        double m[LAT_SUN_REALS];
        site *= (size_t)geom->dims[mu];
        if (f->head.kind != LAT_GAUGE || !lat_boundary_is(&f->head, mu, LAT_OPEN))
            continue;
        lat_field_get(f, at * (size_t)geom->nd + (size_t)mu, m);
        if (!lat_boundary_none(1, 0, m, 2 * f->head.nc * f->head.nc))
            lat_warn("%s: the links that are missing along %c are no longer in its last slice, "
                     "where operators of quarks expect them",
                     lat_filter_name(), "xyzt"[mu]);
    }
}

/* ---- the story ------------------------------------------------------------------------------- */

static int each(lat_field *f, long index, void *context)
{
    char s[LAT_ORDER_TEXT], l[LAT_ORDER_TEXT];
    lat_header *head = &f->head;
    const bool gauge = head->kind == LAT_GAUGE;
    (void)index, (void)context;
    if (change(f))
        return LAT_FAILED;
    if (shift || reflect || axes)
        say_moved(f);
    if (order(head))
        return LAT_FAILED;
    lat_order_sites_text(&head->order, head->geom.nd, s);
    lat_order_links_text(&head->order, head->geom.nd, l);
    return lat_provenance(head, "sites %s%s%s", s, gauge ? ", links " : "", gauge ? l : "")
               ? LAT_FAILED
               : LAT_DONE;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    return lat_filter_run(each, NULL, NULL);
}
