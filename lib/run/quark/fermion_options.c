/* SPDX-License-Identifier: BSD-3-Clause */
/* fermion_options.c: an operator from options. */
#include "fermion_options.h"

#include <math.h>
#include <string.h>
#include "base/error.h"
#include "formats/format.h"
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "overlap.h"
#include "smear/smear.h"

lat_fermion_options lat_fermion_opts = {.kappa = NAN,
                                        .mass = NAN,
                                        .csw_t = NAN,
                                        .xi = 1,
                                        .nu = 1,
                                        .cf = 1,
                                        .gauge = -1,
                                        .gauge_theta = 1e-10};

void lat_fermion_of_options(lat_fermion *f, bool massless)
{
    const lat_fermion_options *o = &lat_fermion_opts;
    const bool kappa = lat_opt_given("kappa"), mass = lat_opt_given("mass");
    if (kappa && mass)
        lat_usage("--kappa and --mass exclude each other");
    if (!kappa && !mass && !massless)
        lat_usage("--kappa or --mass is needed, for example --kappa 0.135");
    if (kappa && o->kappa == 0)
        lat_usage("--kappa: expected a number other than 0");
    lat_usage_for("require-theta", o->gauge >= 0, "--gauge, and there is no --gauge");
    lat_fermion_init(f);
    strcpy(f->name, "wilson");
    f->mass = kappa ? lat_mass_of_kappa(o->kappa) : mass ? o->mass : 0;
    f->csw = o->csw;
    f->csw_t = isnan(o->csw_t) ? o->csw : o->csw_t;
    f->xi = o->xi;
    f->nu = o->nu;
    f->twist = o->twist;
    f->cf = o->cf;
    if (lat_boundary_parse(o->boundary ? o->boundary : "p,p,p,a", f->boundary))
        lat_usage(
            "--boundary: expected four of p, a, d or a number, with commas between, the last one "
            "perhaps o, found '%.80s'",
            o->boundary);
    if (lat_fermion_check(f, "the operator"))
        lat_usage("%s", lat_error());
}

int lat_fermion_check_links(const lat_fermion *f, const lat_header *links, const char *name)
{
    double xi;
    for (int mu = 0; mu < links->geom.nd; mu++)
        if (lat_boundary_is(links, mu, LAT_OPEN) && !f->boundary[mu].dirichlet
            && lat_mismatch(lat_opts.force,
                            "%s: expected a --boundary of quarks with d%s in %c, because the links "
                            "across it are missing (boundary_%d = OPEN; --force takes another)",
                            name, mu == 3 ? " or o" : "", "xyzt"[mu], mu + 1))
            return -1;
    if (lat_opt_given("xi") && f->xi == 1) /* as isotropic ones */
        return 0;
    if (lat_anisotropy(links, &xi))
        return -1;
    return xi == 1 || lat_opt_given("xi")
               ? 0
               : lat_mismatch(lat_opts.force,
                              "%s: the links have anisotropy %g: give --xi of the quarks "
                              "(--xi 1 or --force: they are isotropic)",
                              name, xi);
}

int lat_fermion_check_gauge(const lat_header *links, const char *name)
{
    static const char *const words[] = {"landau", "coulomb", "mag"};
    const lat_fermion_options *o = &lat_fermion_opts;
    if (o->gauge < 0)
        return 0;
    if (strncmp(links->gauge, words[o->gauge], strlen(words[o->gauge])) != 0)
        return lat_mismatch(lat_opts.force,
                            "%s: --gauge %s: the header says that the gauge is %s (--force takes "
                            "it)",
                            name, words[o->gauge], links->gauge);
    if (links->theta <= o->gauge_theta)
        return 0;
    if (lat_opts.force) {
        lat_warn("%s: theta of the links is %.3g, above %g (--force)", name, links->theta,
                 o->gauge_theta);
        return 0;
    }
    return lat_fail_tolerance("%s: --gauge %s: expected theta of the links at most %g, found %.3g "
                              "(--require-theta, --force)",
                              name, words[o->gauge], o->gauge_theta, links->theta);
}

void lat_header_no_operator(lat_header *head)
{
    static const char *const lines[] = {LAT_SMEARED_LINKS, LAT_INFO_PROPAGATOR, LAT_OVERLAP_BOUND,
                                        LAT_OVERLAP_MODES, LAT_INFO_RESIDUAL_SLICES};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        lat_info_remove(head, lines[i]);
    lat_fermion_init(&head->quark.fermion);
}

void lat_header_of_links(lat_header *head, const lat_header *links, const lat_fermion *f)
{
    lat_header_no_operator(head);
    head->quark.fermion = *f;
    strcpy(head->quark.links, lat_header_links_crc(links));
    memcpy(head->gauge, links->gauge, sizeof head->gauge);
    memcpy(head->weight, links->weight, sizeof head->weight);
    head->functional = links->functional;
    head->theta = links->theta;
    head->sweeps = links->sweeps;
}
