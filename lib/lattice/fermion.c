/* SPDX-License-Identifier: BSD-3-Clause */
/* fermion.c: the parameters of a Dirac operator. */
#include "fermion_numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

#define MAX_THETA 2
#define MAX_NUMBER 1e6 /* modulus of a parameter */

void lat_fermion_init(lat_fermion *f) { *f = (lat_fermion){.name = "", .xi = 1, .nu = 1, .cf = 1}; }

const char *const lat_fermion_names[LAT_FERMION_NUMBERS] = {"mass", "csw",   "csw_t", "xi",
                                                            "nu",   "twist", "cf",    "m0"};

double *lat_fermion_number(lat_fermion *f, int i)
{
    double *const numbers[] = {&f->mass, &f->csw,   &f->csw_t, &f->xi,
                               &f->nu,   &f->twist, &f->cf,    &f->m0};
    return numbers[i];
}

bool lat_fermion_unusual(const lat_fermion *f, int i)
{
    lat_fermion is = *f, usual = {.mass = NAN, .csw_t = f->csw, .xi = 1, .nu = 1, .cf = 1};
    return *lat_fermion_number(&is, i) != *lat_fermion_number(&usual, i);
}

bool lat_fermion_same(const lat_fermion *a, const lat_fermion *b)
{
    lat_fermion f = *a, g = *b;
    bool same = !strcmp(a->name, b->name) && lat_fermion_bounded(a) == lat_fermion_bounded(b);
    for (int i = 0; i < LAT_FERMION_NUMBERS; i++)
        same = same && *lat_fermion_number(&f, i) == *lat_fermion_number(&g, i);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        same = same && a->boundary[mu].dirichlet == b->boundary[mu].dirichlet
               && a->boundary[mu].open == b->boundary[mu].open
               && a->boundary[mu].theta == b->boundary[mu].theta;
    return same;
}

int lat_fermion_check(const lat_fermion *f, const char *name)
{
    const bool overlap = !strcmp(f->name, "overlap");
    if (!lat_fermion_known(f))
        return 0;
    if (!overlap && strcmp(f->name, "wilson") != 0)
        return lat_fail("%s: expected operator wilson or overlap, found '%.15s'", name, f->name);
    lat_fermion of = *f;
    for (int i = 0; i < LAT_FERMION_NUMBERS; i++)
        if (!(fabs(*lat_fermion_number(&of, i)) <= MAX_NUMBER))
            return lat_fail("%s: expected parameters of operator %s from -1e6 to 1e6, found %g",
                            name, f->name, *lat_fermion_number(&of, i));
    if (!(f->xi > 0))
        return lat_fail("%s: expected an anisotropy xi above 0, found %g", name, f->xi);
    if (f->cf != 1 && (overlap || !f->boundary[LAT_MAX_DIMS - 1].open))
        return lat_fail("%s: expected c_F of operator wilson with open time (boundary o), found "
                        "c_F = %g",
                        name, f->cf);
    if (!overlap && f->m0 != 0)
        return lat_fail("%s: expected no m0 of operator wilson, found %g", name, f->m0);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        if (!(fabs(f->boundary[mu].theta) <= MAX_THETA)
            || (f->boundary[mu].dirichlet && f->boundary[mu].theta != 0))
            return lat_fail("%s: expected boundary phases from -%d to %d, in units of pi, found %g",
                            name, MAX_THETA, MAX_THETA, f->boundary[mu].theta);
    return 0;
}

double lat_kappa_of_mass(double mass)
{
    const double kappa = 1 / (2 * mass + 8);
    return isfinite(kappa) ? kappa : NAN;
}

double lat_mass_of_kappa(double kappa) { return 1 / (2 * kappa) - 4; }

/* One word of n characters. */
static int parse_phase(const char *word, size_t n, lat_phase *phase)
{
    char *end;
    const bool open = n == 1 && *word == 'o';
    *phase = (lat_phase){.dirichlet = open || (n == 1 && *word == 'd'),
                         .open = open,
                         .theta = n == 1 && *word == 'a'};
    if (n == 1 && strchr("pado", *word))
        return 0;
    if (n == 0 || strspn(word, "0123456789+-.e") < n)
        return -1;
    phase->theta = strtod(word, &end);
    return end == word + n && fabs(phase->theta) <= MAX_THETA ? 0 : -1;
}

int lat_boundary_parse(const char *text, lat_phase boundary[LAT_MAX_DIMS])
{
    lat_phase found[LAT_MAX_DIMS];
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const size_t n = strcspn(text, ",");
        if (parse_phase(text, n, &found[mu]) || (found[mu].open && mu + 1 < LAT_MAX_DIMS)
            || (text[n] == ',') != (mu + 1 < LAT_MAX_DIMS))
            return -1;
        text += n + 1;
    }
    memcpy(boundary, found, sizeof found);
    return 0;
}

char *lat_boundary_text(const lat_phase boundary[LAT_MAX_DIMS], char buf[LAT_BOUNDARY_TEXT])
{
    int n = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const double theta = boundary[mu].theta;
        const char *word = boundary[mu].open        ? "o"
                           : boundary[mu].dirichlet ? "d"
                           : theta == 0             ? "p"
                           : theta == 1             ? "a"
                                                    : "";
        n += snprintf(buf + n, LAT_BOUNDARY_TEXT - (size_t)n, "%s%s", mu ? "," : "", word);
        if (!*word)
            n += snprintf(buf + n, LAT_BOUNDARY_TEXT - (size_t)n, "%.17g", theta);
    }
    return buf;
}

const char *lat_fermion_text(const lat_fermion *f, char buf[LAT_FERMION_TEXT])
{
    char boundary[LAT_BOUNDARY_TEXT];
    if (!lat_fermion_bounded(f))
        return "none";
    int n = !lat_fermion_known(f) ? snprintf(buf, LAT_FERMION_TEXT, "unknown")
            : strcmp(f->name, "overlap")
                ? snprintf(buf, LAT_FERMION_TEXT, "kappa %.10g (mass %.10g)",
                           lat_kappa_of_mass(f->mass), f->mass)
                : snprintf(buf, LAT_FERMION_TEXT, "overlap, m0 %.10g, mu %.10g", f->m0, f->mass);
    if (f->csw != 0 || f->csw_t != 0)
        n += snprintf(buf + n, LAT_FERMION_TEXT - (size_t)n, ", csw %.10g", f->csw);
    if (f->csw_t != f->csw)
        n += snprintf(buf + n, LAT_FERMION_TEXT - (size_t)n, " and %.10g with t", f->csw_t);
    if (f->xi != 1 || f->nu != 1)
        n += snprintf(buf + n, LAT_FERMION_TEXT - (size_t)n, ", xi %.6g, nu %.6g", f->xi, f->nu);
    if (f->twist != 0)
        n += snprintf(buf + n, LAT_FERMION_TEXT - (size_t)n, ", twist %.10g", f->twist);
    if (f->cf != 1)
        n += snprintf(buf + n, LAT_FERMION_TEXT - (size_t)n, ", c_F %.10g", f->cf);
    snprintf(buf + n, LAT_FERMION_TEXT - (size_t)n, ", boundary %s",
             lat_boundary_text(f->boundary, boundary));
    return buf;
}

void lat_hop_phase(lat_phase boundary, bool backward, double *re, double *im)
{
    const double quarter = fmod(fmod(2 * boundary.theta, 4) + 4, 4);
    static const double cosine[] = {1, 0, -1, 0};
    *re = cos(M_PI * boundary.theta);
    *im = sin(M_PI * boundary.theta);
    if (quarter == floor(quarter)) {
        *re = cosine[(int)quarter];
        *im = cosine[((int)quarter + 3) % 4];
    }
    if (backward)
        *im = -*im;
}
