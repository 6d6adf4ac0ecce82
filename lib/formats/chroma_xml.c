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
#include "smear/smear.h"
#include "xml.h"

#define XML LAT_LIME_XML
#define SMEAR_TEXT 80

static bool real_element(const char *xml, const char *tag, double *value)
{
    char text[64], *end;
    if (lat_xml_text(xml, strlen(xml), tag, text, sizeof text) <= 0)
        return false;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

/* "1 1 1 -1", where nothing else is at the boundary, as phases of TWISTED_FERMBC are. */
static bool signs_element(const char *xml, lat_phase boundary[LAT_MAX_DIMS])
{
    char text[64];
    int sign[4], end = 0;
    if ((lat_xml_text(xml, strlen(xml), "FermBC", text, sizeof text) > 0
         && strcmp(text, "SIMPLE_FERMBC") != 0)
        || lat_xml_text(xml, strlen(xml), "boundary", text, sizeof text) <= 0
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

/* The links of the operator: thin ones, or `smear` gets how they are smeared. */
static bool links_of(const char *xml, char smear[SMEAR_TEXT])
{
    char name[64] = "", number[32], steps[32], along[16] = "-1";
    double rho;
    smear[0] = '\0';
    if (lat_xml_text(xml, strlen(xml), "Name", name, sizeof name) <= 0
        || !strcmp(name, "SIMPLE_FERM_STATE"))
        return true;
    if (strcmp(name, "STOUT_FERM_STATE") != 0 || !real_element(xml, "rho", &rho)
        || lat_xml_text(xml, strlen(xml), "n_smear", steps, sizeof steps) <= 0
        || (lat_xml_text(xml, strlen(xml), "orthog_dir", along, sizeof along) > 0
            && strcmp(along, "-1") != 0 && strcmp(along, "3") != 0))
        return false;
    lat_smear s;
    snprintf(number, sizeof number, "%.15g", rho);
    snprintf(smear, SMEAR_TEXT, "stout:%.*g,%s%s", strtod(number, NULL) == rho ? 15 : 17, rho,
             steps, *along == '3' ? ",spatial" : "");
    if (!strcmp(steps, "0"))
        smear[0] = '\0';
    else if (lat_smear_parse(smear, &s)) {
        lat_error_clear();
        return false;
    }
    return true;
}

/* Wilson or clover, of which every word is known: an element that is not known may change M, as
 * <TwistedM> does. */
static bool operator_of(const char *xml, lat_fermion *f, char smear[SMEAR_TEXT])
{
    static const char *const known[] = {
        "FermionAction", "FermAct",   "Mass", "Kappa", "clovCoeff", "FermionBC",  "FermBC",
        "boundary",      "FermState", "Name", "rho",   "n_smear",   "orthog_dir", "AnisoParam",
        "anisoP",        "t_dir",     "xi_0", "nu",    NULL};
    char action[64] = "", anisotropic[16] = "";
    double kappa;
    if (!lat_xml_only(xml, strlen(xml), known)
        || lat_xml_text(xml, strlen(xml), "FermAct", action, sizeof action) <= 0
        || (strcmp(action, "WILSON") && strcmp(action, "CLOVER")
            && strcmp(action, "UNPRECONDITIONED_WILSON")
            && strcmp(action, "UNPRECONDITIONED_CLOVER"))
        || !links_of(xml, smear))
        return false;
    if (lat_xml_text(xml, strlen(xml), "anisoP", anisotropic, sizeof anisotropic) > 0
        && strcmp(anisotropic, "false") != 0)
        return false;
    if (real_element(xml, "Kappa", &kappa) && kappa > 0)
        f->mass = lat_mass_of_kappa(kappa);
    else if (!real_element(xml, "Mass", &f->mass))
        return false;
    if (strstr(action, "CLOVER") && !real_element(xml, "clovCoeff", &f->csw))
        return false;
    f->csw_t = f->csw;
    strcpy(f->name, "wilson");
    if (lat_fermion_check(f, "") == 0)
        return true;
    lat_error_clear();
    return false;
}

/* A copy of the first element of this name, whose tags have no attributes; NULL: none. */
static char *element(const char *xml, const char *tag)
{
    char begin[64], end[64];
    snprintf(begin, sizeof begin, "<%s>", tag);
    snprintf(end, sizeof end, "</%s>", tag);
    const char *from = strstr(xml, begin), *to = from ? strstr(from, end) : NULL;
    return to ? strndup(from, (size_t)(to - from) + strlen(end)) : NULL;
}

int lat_chroma_fermion(const char *xml, lat_header *head)
{
    lat_fermion bounded;
    char smear[SMEAR_TEXT] = "", *action = element(xml, "FermionAction");
    lat_fermion_init(&bounded);
    bounded.bounded = signs_element(action ? action : xml, bounded.boundary);
    lat_fermion f = bounded;
    const bool known = action && f.bounded && operator_of(action, &f, smear);
    free(action);
    f.bounded = false;
    if (bounded.bounded)
        head->quark.fermion = known ? f : bounded;
    return known && *smear ? lat_info_set(head, LAT_SMEARED_LINKS, smear) : 0;
}

int lat_chroma_write_fermion(lat_output *out, const lat_header *h)
{
    const lat_fermion *f = &h->quark.fermion;
    const char *text = lat_info_get(h, LAT_SMEARED_LINKS);
    char action[160] = "", state[160] = "";
    lat_smear s = {.kind = LAT_SMEAR_STOUT};
    int sign[4];
    bool bounded = lat_fermion_bounded(f);
    for (int mu = 0; mu < 4; mu++) {
        const lat_phase *b = &f->boundary[mu];
        bounded = bounded && !b->open && (b->dirichlet || b->theta == 0 || b->theta == 1);
        sign[mu] = b->dirichlet ? 0 : b->theta == 1 ? -1 : 1;
    }
    const bool smeared = text && lat_smear_parse(text, &s) == 0 && s.kind == LAT_SMEAR_STOUT,
               known = !strcmp(f->name, "wilson") && f->xi == 1 && f->nu == 1 && f->twist == 0
                       && f->csw == f->csw_t && (!text || smeared);
    lat_error_clear();
    if (!bounded)
        return lat_lime_write_text(out, 0, "scidac-record-xml",
                                   XML "<Propagator><lat>%s</lat></Propagator>", LAT_VERSION);
    if (known)
        snprintf(action, sizeof action,
                 "<FermAct>%s</FermAct><Mass>%.17g</Mass><clovCoeff>%.17g</clovCoeff>",
                 f->csw != 0 ? "CLOVER" : "WILSON", f->mass, f->csw);
    if (known && smeared)
        snprintf(state, sizeof state,
                 "<FermState><Name>STOUT_FERM_STATE</Name><rho>%.17g</rho><n_smear>%d</n_smear>"
                 "<orthog_dir>%d</orthog_dir>",
                 s.weight[0], s.steps, s.spatial ? 3 : -1);
    return lat_lime_write_text(
        out, 0, "scidac-record-xml",
        XML "<Propagator><ForwardProp><FermionAction>%s%s<FermionBC><FermBC>SIMPLE_FERMBC</FermBC>"
            "<boundary>%d %d %d %d</boundary></FermionBC>%s</FermionAction></ForwardProp>"
            "<lat>%s</lat></Propagator>",
        action, state, sign[0], sign[1], sign[2], sign[3], *state ? "</FermState>" : "",
        LAT_VERSION);
}
