/* SPDX-License-Identifier: BSD-3-Clause */
/* chroma_xml.c: Chroma's record XML of a propagator. */
#include "chroma_xml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "lime.h"
#include "smear/smear.h"
#include "xml.h"

#define XML LAT_LIME_XML
#define LINKS "links_crc"
#define SMEAR_TEXT 80
#define MASS_DIGITS 1e-5 /* by how much the mass and that of kappa, as printed, may differ */
#define SOURCE_TEXT 160

static bool text_element(const char *xml, const char *tag, char *text, size_t size)
{
    return lat_xml_text(xml, strlen(xml), tag, text, size) > 0;
}

/* Is it nothing else than one of two words, or left out? */
static bool only_says(const char *xml, const char *tag, const char *word, const char *other)
{
    char text[64];
    const int found = lat_xml_text(xml, strlen(xml), tag, text, sizeof text);
    return found == 0 || (found > 0 && (!strcmp(text, word) || !strcmp(text, other)));
}

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
    if (!only_says(xml, "FermBC", "SIMPLE_FERMBC", "SIMPLE_FERMBC")
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
    char number[32], steps[32], along[16];
    double rho;
    smear[0] = '\0';
    if (only_says(xml, "Name", "SIMPLE_FERM_STATE", "SIMPLE_FERM_STATE"))
        return true;
    if (!only_says(xml, "Name", "STOUT_FERM_STATE", "STOUT_FERM_STATE")
        || !real_element(xml, "rho", &rho) || !text_element(xml, "n_smear", steps, sizeof steps)
        || !only_says(xml, "orthog_dir", "-1", "3"))
        return false;
    if (!text_element(xml, "orthog_dir", along, sizeof along))
        strcpy(along, "-1");
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
    char action[64] = "";
    double kappa, mass;
    if (!lat_xml_only(xml, strlen(xml), known)
        || lat_xml_text(xml, strlen(xml), "FermAct", action, sizeof action) <= 0
        || (strcmp(action, "WILSON") && strcmp(action, "CLOVER")
            && strcmp(action, "UNPRECONDITIONED_WILSON")
            && strcmp(action, "UNPRECONDITIONED_CLOVER"))
        || !links_of(xml, smear))
        return false;
    if (!only_says(xml, "anisoP", "false", "0"))
        return false;
    const bool by_kappa = real_element(xml, "Kappa", &kappa) && kappa > 0,
               by_mass = real_element(xml, "Mass", &mass);
    if (by_kappa)
        f->mass = lat_mass_of_kappa(kappa);
    else if (by_mass)
        f->mass = mass;
    if ((!by_kappa && !by_mass) || (by_mass && fabs(f->mass - mass) > MASS_DIGITS))
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

/* The source as lat-source names it, where every word of its element is known: a point, also
 * smeared by Gaussian steps, or a wall. */
static bool source_of(const char *xml, char text[SOURCE_TEXT])
{
    static const char *const known[] = {"PropSource", "version",   "Source",    "SourceType",
                                        "j_decay",    "t_srce",    "t_source",  "SmearingParam",
                                        "wvf_kind",   "wvf_param", "wvfIntPar", "no_smear_dir",
                                        NULL};
    char type[64] = "", wave[64] = "", decay[16] = "", steps[16] = "";
    double width = 0;
    int x[4], end = 0;
    if (!lat_xml_only(xml, strlen(xml), known)
        || !text_element(xml, "SourceType", type, sizeof type)
        || !only_says(xml, "j_decay", "3", "3"))
        return false;
    if (!strcmp(type, "WALL_SOURCE"))
        return text_element(xml, "t_source", decay, sizeof decay)
               && sscanf(decay, "%d%n", &x[3], &end) == 1 && !decay[end]
               && snprintf(text, SOURCE_TEXT, "wall:%d", x[3]) > 0;
    const bool shell = !strcmp(type, "SHELL_SOURCE");
    if ((!shell && strcmp(type, "POINT_SOURCE") != 0)
        || !text_element(xml, "t_srce", text, SOURCE_TEXT)
        || sscanf(text, "%d %d %d %d%n", &x[0], &x[1], &x[2], &x[3], &end) != 4 || text[end])
        return false;
    if (x[0] < 0 || x[1] < 0 || x[2] < 0 || x[3] < 0)
        return false;
    end = snprintf(text, SOURCE_TEXT, "point:%d,%d,%d,%d", x[0], x[1], x[2], x[3]);
    if (!shell)
        return lat_xml_text(xml, strlen(xml), "wvf_kind", wave, sizeof wave) == 0;
    if (!text_element(xml, "wvf_kind", wave, sizeof wave) || strcmp(wave, "GAUGE_INV_GAUSSIAN") != 0
        || !real_element(xml, "wvf_param", &width) || !only_says(xml, "no_smear_dir", "3", "3")
        || !text_element(xml, "wvfIntPar", steps, sizeof steps)
        || strspn(steps, "0123456789") != strlen(steps))
        return false;
    snprintf(text + end, SOURCE_TEXT - (size_t)end, "/gauss:%.15g,%s", width, steps);
    return true;
}

/* Are the sinks smeared, so that the numbers solve nothing? */
static bool smeared_sink(const char *xml)
{
    return !only_says(xml, "SinkType", "POINT_SINK", "POINT_SINK");
}

static int take_source(const char *xml, lat_header *head)
{
    char text[SOURCE_TEXT], *source = element(xml, "PropSource");
    const bool known = source && source_of(source, text);
    free(source);
    return known ? lat_quark_set_source(&head->quark, text) : 0;
}

int lat_chroma_fermion(const char *xml, lat_header *head)
{
    lat_fermion bounded;
    char crc[16], smear[SMEAR_TEXT] = "", *action = element(xml, "FermionAction");
    if (text_element(xml, LINKS, crc, sizeof crc) && strspn(crc, "0123456789abcdef") == 8
        && !crc[8])
        strcpy(head->quark.links, crc);
    lat_fermion_init(&bounded);
    bounded.bounded = signs_element(action ? action : xml, bounded.boundary);
    lat_fermion f = bounded;
    const bool known = action && f.bounded && operator_of(action, &f, smear) && !smeared_sink(xml);
    free(action);
    f.bounded = false;
    if (bounded.bounded)
        head->quark.fermion = known ? f : bounded;
    if (bounded.bounded && take_source(xml, head)) /* a source without a boundary is no solution */
        return -1;
    return known && *smear ? lat_info_set(head, LAT_SMEARED_LINKS, smear) : 0;
}

/* The source as Chroma has it, or nothing. */
static void print_source(const char *source, char text[480])
{
    int x[4], steps, end = 0;
    double width;
    char smearing[200] = "";
    text[0] = '\0';
    if (!source || sscanf(source, "point:%d,%d,%d,%d%n", &x[0], &x[1], &x[2], &x[3], &end) != 4)
        return;
    const char *rest = source + end;
    end = 0;
    const bool shell = sscanf(rest, "/gauss:%lf,%d%n", &width, &steps, &end) == 2 && !rest[end];
    if (shell)
        snprintf(
            smearing, sizeof smearing,
            "<SmearingParam><wvf_kind>GAUGE_INV_GAUSSIAN</wvf_kind><wvf_param>%.15g</wvf_param>"
            "<wvfIntPar>%d</wvfIntPar><no_smear_dir>3</no_smear_dir></SmearingParam>",
            width, steps);
    else if (*rest)
        return;
    snprintf(text, 480,
             "<PropSource><version>6</version><Source><version>2</version><SourceType>%s_SOURCE"
             "</SourceType><j_decay>3</j_decay><t_srce>%d %d %d %d</t_srce>%s</Source>"
             "<j_decay>3</j_decay><t_source>%d</t_source></PropSource>",
             shell ? "SHELL" : "POINT", x[0], x[1], x[2], x[3], smearing, x[3]);
}

char *lat_chroma_record(const lat_header *h)
{
    const lat_fermion *f = &h->quark.fermion;
    const char *text = lat_info_get(h, LAT_SMEARED_LINKS);
    char action[160] = "", state[160] = "", source[480], links[64] = "";
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
                       && f->csw == f->csw_t && f->cf == 1 && (!text || smeared);
    lat_error_clear();
    print_source(h->quark.source, source);
    if (*h->quark.links)
        snprintf(links, sizeof links, "<" LINKS ">%s</" LINKS ">", h->quark.links);
    if (!bounded)
        return lat_text_new(XML "<Propagator><lat>%s</lat>%s</Propagator>", LAT_VERSION, links);
    if (known)
        snprintf(action, sizeof action,
                 "<FermAct>%s</FermAct><Mass>%.17g</Mass><clovCoeff>%.17g</clovCoeff>",
                 f->csw != 0 ? "CLOVER" : "WILSON", f->mass, f->csw);
    if (known && smeared)
        snprintf(state, sizeof state,
                 "<FermState><Name>STOUT_FERM_STATE</Name><rho>%.17g</rho><n_smear>%d</n_smear>"
                 "<orthog_dir>%d</orthog_dir>",
                 s.weight[0], s.steps, s.spatial ? 3 : -1);
    return lat_text_new(
        XML "<Propagator><ForwardProp><FermionAction>%s%s<FermionBC><FermBC>SIMPLE_FERMBC</FermBC>"
            "<boundary>%d %d %d %d</boundary></FermionBC>%s</FermionAction></ForwardProp>%s"
            "<lat>%s</lat>%s</Propagator>",
        action, state, sign[0], sign[1], sign[2], sign[3], *state ? "</FermState>" : "", source,
        LAT_VERSION, links);
}

int lat_chroma_keeps(const lat_header *head, lat_header *kept)
{
    char *xml = lat_chroma_record(head);
    const int rc = xml ? lat_chroma_fermion(xml, kept) : -1;
    free(xml);
    return rc;
}
