/* SPDX-License-Identifier: BSD-3-Clause */
/* fermion.h: the parameters of a Dirac operator M, as options and headers have them.
 *
 * M is the operator of docs/format.md, "The operator": 4 + m on the diagonal, half of each hop.
 * Programs that divide it by 2 kappa or count its mass in another way are converted where their
 * files are read. */
#pragma once

#include <stdbool.h>
#include "common/geometry.h"

/* The hop across one boundary, from the last site of an axis to the first one: forward hops carry
 * exp(i pi theta), backward hops its conjugate; or there is none (Dirichlet). */
typedef struct lat_phase {
    bool dirichlet;
    bool open;    /* of t alone, and then dirichlet, too: open time, see lat_phase_hops */
    double theta; /* -2 to 2; 0 periodic, 1 antiperiodic; 0 with dirichlet */
} lat_phase;

typedef struct lat_fermion {
    char name[16];     /* "wilson" or "overlap"; "": there is no operator, or it is not known */
    double mass;       /* m = 1/(2 kappa) - 4; M has m + 1 + 3 nu/xi on the diagonal */
    double csw, csw_t; /* of spatial planes, and of planes with time; 0: no clover term */
    double xi, nu;     /* bare anisotropy; 1, 1 */
    double twist;      /* M + i twist gamma5 */
    double cf;         /* c_F of open time; 1 with other boundaries */
    double m0;         /* overlap: of the kernel D_W - m0 */
    bool bounded;      /* without a name: the boundary is known all the same */
    lat_phase boundary[LAT_MAX_DIMS];
} lat_fermion;

/* Open time (Luescher, Schaefer, Comput. Phys. Commun. 184 (2013) 519; openQCD's boundary
 * conditions of type 0): quarks live on slices 1 to T - 2, and are zero on the first and the last
 * one. In M no hop leads to these slices or from them, so that they are apart from all others.
 * Slices 1 and T - 2 have c_F - 1 more on the diagonal.
 *
 * Is there a hop from a site with coordinate x of `extent` to the next one (step 1) or the one
 * before (-1)? Across a boundary it has the phase. */
static inline bool lat_phase_hops(lat_phase p, int x, int extent, int step)
{
    const int to = x + step;
    if (p.open)
        return x > 0 && x < extent - 1 && to > 0 && to < extent - 1;
    return !p.dirichlet || (to >= 0 && to < extent);
}

/* c_F - 1 on slices 1 and T - 2 of open time, else 0. */
static inline double lat_fermion_edge(const lat_fermion *f, int t, int extent)
{
    const bool edge = t > 0 && t < extent - 1 && (t == 1 || t == extent - 2);
    return f->boundary[LAT_MAX_DIMS - 1].open && edge ? f->cf - 1 : 0;
}

/* Does what M has on the diagonal differ from site to site? */
static inline bool lat_fermion_blocks(const lat_fermion *f)
{
    return f->csw != 0 || f->csw_t != 0 || f->cf != 1;
}

/* No operator: name "", xi, nu and c_F 1, all else 0, periodic. */
void lat_fermion_init(lat_fermion *f);

static inline bool lat_fermion_known(const lat_fermion *f) { return f->name[0] != '\0'; }
static inline bool lat_fermion_bounded(const lat_fermion *f)
{
    return lat_fermion_known(f) || f->bounded;
}
bool lat_fermion_same(const lat_fermion *a, const lat_fermion *b);

/* 0, or -1 where a number is out of range; `name` begins the sentence. */
int lat_fermion_check(const lat_fermion *f, const char *name);

/* kappa = 1/(2 m + 8); NaN where it is not finite. And back. */
double lat_kappa_of_mass(double mass);
double lat_mass_of_kappa(double kappa);

/* exp(i pi theta) of a hop across this boundary, or its conjugate; exact where theta is a multiple
 * of 1/2. */
void lat_hop_phase(lat_phase boundary, bool backward, double *re, double *im);

/* Four boundaries, x to t, with commas between: p periodic, a antiperiodic, d Dirichlet, o open (t
 * alone), or theta as a number: "p,p,p,a", "0,0,0,0.5". 0, or -1 (lat_error is not set) and the
 * boundaries are as before. Text returns buf. */
#define LAT_BOUNDARY_TEXT 128
int lat_boundary_parse(const char *text, lat_phase boundary[LAT_MAX_DIMS]);
char *lat_boundary_text(const lat_phase boundary[LAT_MAX_DIMS], char buf[LAT_BOUNDARY_TEXT]);

/* "kappa 0.11 (mass 0.5454545455), csw 1.2, boundary p,p,p,a" in buf; "none", or "unknown,
 * boundary p,p,p,a". For people: numbers have 10 digits. */
#define LAT_FERMION_TEXT 256
const char *lat_fermion_text(const lat_fermion *f, char buf[LAT_FERMION_TEXT]);
