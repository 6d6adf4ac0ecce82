/* SPDX-License-Identifier: BSD-3-Clause */
/* chroma_xml.c: Chroma's record XML of a propagator. */
#include "chroma_xml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "lime.h"
#include "xml.h"

#define XML LAT_LIME_XML

static bool real_element(const char *xml, const char *tag, double *value)
{
    char text[64], *end;
    if (lat_xml_text(xml, strlen(xml), tag, text, sizeof text) <= 0)
        return false;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

/* "1 1 1 -1" */
static bool signs_element(const char *xml, lat_phase boundary[LAT_MAX_DIMS])
{
    char text[64];
    int sign[4], end = 0;
    if (lat_xml_text(xml, strlen(xml), "boundary", text, sizeof text) <= 0
        || sscanf(text, "%d %d %d %d%n", &sign[0], &sign[1], &sign[2], &sign[3], &end) != 4
        || text[end])
        return false;
    for (int mu = 0; mu < 4; mu++) {
        if (sign[mu] != 1 && sign[mu] != -1 && sign[mu] != 0)
            return false;
        boundary[mu] = (lat_phase){.dirichlet = sign[mu] == 0, .theta = sign[mu] < 0};
    }
    return true;
}

void lat_chroma_fermion(const char *xml, lat_fermion *to)
{
    char action[64] = "", anisotropic[16] = "";
    double kappa;
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    if (lat_xml_text(xml, strlen(xml), "FermAct", action, sizeof action) <= 0
        || (strcmp(action, "WILSON") && strcmp(action, "CLOVER")
            && strcmp(action, "UNPRECONDITIONED_WILSON")
            && strcmp(action, "UNPRECONDITIONED_CLOVER"))
        || !signs_element(xml, f.boundary))
        return;
    if (lat_xml_text(xml, strlen(xml), "anisoP", anisotropic, sizeof anisotropic) > 0
        && strcmp(anisotropic, "false") != 0)
        return;
    if (real_element(xml, "Kappa", &kappa) && kappa > 0)
        f.mass = lat_mass_of_kappa(kappa);
    else if (!real_element(xml, "Mass", &f.mass))
        return;
    if (strstr(action, "CLOVER") && !real_element(xml, "clovCoeff", &f.csw))
        return;
    f.csw_t = f.csw;
    if (lat_fermion_check(&f, "") == 0)
        *to = f;
    else
        lat_error_clear();
}

int lat_chroma_write_fermion(lat_output *out, const lat_header *h)
{
    const lat_fermion *f = &h->quark.fermion;
    int sign[4];
    bool known = !strcmp(f->name, "wilson") && f->xi == 1 && f->nu == 1 && f->twist == 0
                 && f->csw == f->csw_t;
    for (int mu = 0; mu < 4; mu++) {
        const lat_phase *b = &f->boundary[mu];
        known = known && !b->open && (b->dirichlet || b->theta == 0 || b->theta == 1);
        sign[mu] = b->dirichlet ? 0 : b->theta == 1 ? -1 : 1;
    }
    if (!known)
        return lat_lime_write_text(out, 0, "scidac-record-xml",
                                   XML "<Propagator><lat>%s</lat></Propagator>", LAT_VERSION);
    return lat_lime_write_text(
        out, 0, "scidac-record-xml",
        XML "<Propagator><ForwardProp><FermionAction><FermAct>%s</FermAct><Mass>%.17g</Mass>"
            "<clovCoeff>%.17g</clovCoeff><FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>%d %d "
            "%d %d</boundary></FermionBC></FermionAction></ForwardProp><lat>%s</lat></Propagator>",
        f->csw != 0 ? "CLOVER" : "WILSON", f->mass, f->csw, sign[0], sign[1], sign[2], sign[3],
        LAT_VERSION);
}
