/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_check.c: gauge, boundary, source and operator of propagators, and momenta. */
#include "quark_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "formats/fields.h"
#include "lattice/anisotropy.h"
#include "lattice/fermion_numbers.h"
#include "quark/source.h"
#include "run/common/print.h"
#include "smear/smear.h"

int lat_quark_check_boundary(const lat_header *head, const char *name, const double n[4])
{
    char text[LAT_BOUNDARY_TEXT];
    for (int mu = 0; mu < 4; mu++) {
        const lat_phase *b = &head->quark.fermion.boundary[mu];
        const double off = n ? n[mu] - b->theta / 2 : 0;
        if (b->dirichlet
            && lat_mismatch(lat_opts.force,
                            "%s: expected a boundary with a phase, found Dirichlet along %c, where "
                            "momentum is not conserved (--force takes it)",
                            name, "xyzt"[mu]))
            return -1;
        if (!(fabs(off - round(off)) < 1e-8)
            && lat_mismatch(lat_opts.force,
                            "%s: expected n%c of the momentum to be a whole number plus %g, "
                            "because the boundary is %s, found %g (--force takes it)",
                            name, "xyzt"[mu], b -> theta / 2,
                            lat_boundary_text(head->quark.fermion.boundary, text), n[mu]))
            return -1;
    }
    return 0;
}

/* Landau gauge, of weights that are equal; on anisotropic lattices that of the last direction may
 * be another one, above 0. An exit code. */
static int check_condition(const lat_header *head, const char *name)
{
    const int last = head->geom.nd - 1;
    const double *w = head->weight;
    double xi;
    if (strcmp(head->gauge, "landau"))
        return lat_mismatch(lat_opts.force,
                            "%s: expected a propagator of links in Landau gauge, found gauge %s "
                            "(--force takes it)",
                            name, head->gauge)
                   ? LAT_UNCONVERGED
                   : LAT_DONE;
    if (lat_anisotropy(head, &xi)) {
        lat_error_name(name, NULL);
        return LAT_FAILED;
    }
    for (int mu = 0; mu <= last; mu++)
        if (!(w[mu] > 0) || (w[mu] != w[0] && (mu != last || xi == 1)))
            return lat_mismatch(lat_opts.force,
                                "%s: expected Landau gauge with equal weights, found weight %g of "
                                "direction %c for %g of x (--force takes it)",
                                name, w[mu], "xyzt"[mu], w[0])
                       ? LAT_UNCONVERGED
                       : LAT_DONE;
    return LAT_DONE;
}

int lat_quark_check_gauge(const lat_header *head, const char *name)
{
    const lat_gauge_state s = {.theta = head->theta, .theta_slice = head->theta};
    const int code = check_condition(head, name);
    if (code != LAT_DONE || strcmp(head->gauge, "landau") /* --force */ || !lat_gauge_is_off(&s))
        return code;
    if (lat_opts.force) {
        lat_warn("%s: measured although theta of the links is %.3g, above %g (--force)", name,
                 head->theta, lat_require_theta);
        return LAT_DONE;
    }
    lat_fail("%s: expected theta of the links at most %g, found %.3g (--require-theta, --force)",
             name, lat_require_theta, head->theta);
    return LAT_UNCONVERGED;
}

int lat_quark_source(const lat_header *head, const char *name, const char *asked, double v[4])
{
    static bool said;
    const lat_fermion *fermion = &head->quark.fermion;
    const char *text = head->quark.source ? head->quark.source : asked;
    if (!text)
        return lat_fail("%s: expected a source in the header, found none (--source says it)", name);
    if (asked && strcmp(text, asked)
        && lat_mismatch(lat_opts.force,
                        "%s: expected %s, as --source says, found %.200s in the header (--force "
                        "takes the one in the header)",
                        name, asked, text))
        return -1;
    if (!lat_fermion_bounded(fermion)
        && lat_mismatch(
            lat_opts.force,
            "%s: expected an operator in the header, found none (--boundary p,p,p,a "
            "states that of isotropic quarks; --force goes on, with periodic boundaries)",
            name))
        return -1;
    if (fermion->bounded && !lat_fermion_known(fermion) && !said) {
        lat_warn("%s: the operator is not known: quarks are taken as isotropic, without a mass",
                 name);
        said = true;
    }
    if (lat_source_numbers(text, "momentum", v)) {
        if (lat_quark_check_boundary(head, name, v))
            return -1;
        lat_kinematics_zone(head, v);
        return 0;
    }
    if (!lat_source_numbers(text, "point", v))
        return lat_fail("%s: expected the source momentum:nx,ny,nz,nt or point:x,y,z,t without "
                        "further steps, found %.200s",
                        name, text);
    for (int mu = 0; mu < 4; mu++)
        if (v[mu] != floor(v[mu]) || !(v[mu] >= 0) || !(v[mu] < head->geom.dims[mu]))
            return lat_fail("%s: expected a site of the lattice, found %.200s", name, text);
    return lat_quark_check_boundary(head, name, NULL) ? -1 : 1;
}

/* An operator as in sentences: its first difference from `than`, or its name. */
static const char *quark_text(const lat_header *head, const lat_header *than, char text[160])
{
    lat_fermion f = head->quark.fermion, g = than->quark.fermion;
    const char *smeared = lat_info_get(head, LAT_SMEARED_LINKS),
               *form = lat_info_get(head, LAT_INFO_PROPAGATOR);
    int i = 0;
    while (i < LAT_FERMION_NUMBERS && *lat_fermion_number(&f, i) == *lat_fermion_number(&g, i))
        i++;
    if (strcmp(f.name, g.name))
        snprintf(text, 160, "%s", *f.name ? f.name : "no operator");
    else if (i < LAT_FERMION_NUMBERS)
        snprintf(text, 160, "%s %.15g", lat_fermion_names[i], *lat_fermion_number(&f, i));
    else
        snprintf(text, 160, "links smeared by '%.60s', columns '%.30s'", smeared ? smeared : "",
                 form ? form : "");
    return text;
}

int lat_quark_different(const lat_header *a, const lat_header *b, const char *option,
                        const char *name)
{
    char x[160], y[160];
    return lat_mismatch(lat_opts.force,
                        "%s: %sexpected the operator of the first propagator, %s, found %s "
                        "(--force takes it)",
                        name, option, quark_text(a, b, x), quark_text(b, a, y));
}

int lat_quark_check_pair(const lat_header *a, const lat_header *b, const char *name)
{
    char x[64], y[64];
    if (!lat_header_alike(a, b))
        return lat_fail("%s: expected SU(%d) on %s as in the first propagator, found SU(%d) on %s",
                        name, a->nc, lat_dims_text(&a->geom, x), b->nc, lat_dims_text(&b->geom, y));
    return lat_kinematics_same_quark(a, b) ? 0 : lat_quark_different(a, b, "", name);
}

/* "landau", or "landau with weights 1,1,1,2". Returns text. */
static const char *gauge_text(const lat_header *head, char text[160])
{
    char weights[LAT_WEIGHTS_TEXT];
    lat_weights_text(head->weight, 4, 10, weights);
    snprintf(text, 160, "%s%s%s", head->gauge, *weights ? " with weights " : "", weights);
    return text;
}

int lat_quark_same_gauge(const lat_header *a, const lat_header *b, const char *name)
{
    char x[160], y[160];
    return strcmp(gauge_text(a, x), gauge_text(b, y))
               ? lat_mismatch(lat_opts.force,
                              "%s: expected links in the gauge of the first propagator, %s, found "
                              "%s (--force takes it)",
                              name, x, y)
               : 0;
}

/* ---- momenta of a point source --------------------------------------------------------------- */

/* Is n in the list? Both are in the zone. */
static bool listed(const lat_momenta *list, const double n[4])
{
    bool any = false;
    for (int m = 0; m < list->count; m++) {
        bool same = true;
        for (int mu = 0; mu < 4; mu++)
            same = same && fabs(list->n[m][mu] - n[mu]) < 1e-8;
        any = any || same;
    }
    return any;
}

static int momenta_listed(lat_momenta *list, const lat_header *head, const char *name)
{
    const char *const momenta = lat_quark_opts.momenta;
    for (const char *p = momenta; p;) {
        double n[4];
        int used = -1;
        if (sscanf(p, "%lf,%lf,%lf,%lf%n", &n[0], &n[1], &n[2], &n[3], &used) != 4 || used < 0
            || (p[used] && p[used] != '/' && p[used] != ';'))
            return lat_fail_usage("--momenta: expected a largest p^2, or nx,ny,nz,nt with / "
                                  "between, found '%s'",
                                  momenta);
        if (lat_quark_check_boundary(head, name, n))
            return -1;
        lat_kinematics_zone(head, n);
        if (listed(list, n))
            return lat_fail_usage("--momenta: expected different momenta modulo the extents, found "
                                  "%g,%g,%g,%g twice",
                                  n[0], n[1], n[2], n[3]);
        const lat_kinematics k = lat_kinematics_of(head, n, n);
        if (lat_quark_within(&k) && lat_momenta_add(list, n))
            return -1;
        p = p[used] ? p + used + 1 : NULL;
    }
    return 0;
}

int lat_quark_momenta(lat_momenta *list, const lat_header *head, const char *name)
{
    const char *const momenta = lat_quark_opts.momenta;
    const double width = isnan(lat_quark_opts.cylinder) ? 1 : lat_quark_opts.cylinder;
    char *end = NULL;
    const double most = momenta ? strtod(momenta, &end) : M_PI * M_PI;
    lat_momenta_free(list);
    return !momenta || (end != momenta && !*end && most >= 0)
               ? lat_momenta_upto(list, head, most, width)
               : momenta_listed(list, head, name);
}
