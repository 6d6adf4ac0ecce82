/* SPDX-License-Identifier: BSD-3-Clause */
/* fermion_options.h: options that say which Dirac operator, for the tables of lat-solve, lat-modes
 * and lat-dirac. */
#pragma once

#include "common/options.h"
#include "lattice/fermion.h"
#include "lattice/header.h"

typedef struct lat_fermion_options {
    double kappa, mass, csw, csw_t, xi, nu, twist, cf;
    const char *boundary;
    int gauge; /* of LAT_FERMION_GAUGES, -1: any */
    double gauge_theta;
} lat_fermion_options;
extern lat_fermion_options lat_fermion_opts;

#define LAT_FERMION_GAUGES "landau|coulomb|mag"

/* clang-format off */
#define LAT_FERMION_OPTIONS \
    {LAT_OPT_REAL, "kappa", 0, "KAPPA", &lat_fermion_opts.kappa, 0, 0, \
     "hopping parameter; the mass is 1/(2 KAPPA) - 4, also on anisotropic lattices"}, \
    {LAT_OPT_REAL, "mass", 0, "M", &lat_fermion_opts.mass, 0, 0, \
     "bare quark mass, instead of --kappa"}, \
    {LAT_OPT_REAL, "csw", 0, "C", &lat_fermion_opts.csw, 0, 0, \
     "clover coefficient; with --csw-t the coefficient of spatial planes"}, \
    {LAT_OPT_REAL, "csw-t", 0, "C", &lat_fermion_opts.csw_t, 0, 0, \
     "clover coefficient of planes with t (default: the value of --csw)"}, \
    {LAT_OPT_REAL, "xi", 0, "XI", &lat_fermion_opts.xi, 1e-3, 1e3, \
     "bare anisotropy: spatial hops have weight NU/XI"}, \
    {LAT_OPT_REAL, "nu", 0, "NU", &lat_fermion_opts.nu, 1e-3, 1e3, \
     "bare velocity of light"}, \
    {LAT_OPT_REAL, "twist", 0, "MU", &lat_fermion_opts.twist, 0, 0, \
     "twisted mass: M + i MU gamma5"}, \
    {LAT_OPT_REAL, "cf", 0, "C", &lat_fermion_opts.cf, 0, 0, \
     "c_F of open time: C - 1 more on the diagonal of slices 1 and T - 2 (default: 1)"}, \
    {LAT_OPT_TEXT, "boundary", 0, "X,Y,Z,T", &lat_fermion_opts.boundary, 0, 0, \
     "boundary of quarks in each direction: p periodic, a antiperiodic, d Dirichlet, o (t only) " \
     "open: quarks are zero on the first and the last slice, like openQCD's; or a phase in units " \
     "of pi (default: p,p,p,a)"}, \
    {LAT_OPT_CHOICE | LAT_OPT_LOCAL, "gauge", 0, LAT_FERMION_GAUGES, &lat_fermion_opts.gauge, 0, \
     0, "refuse links that are not in this gauge"}, \
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "require-theta", 0, "X", &lat_fermion_opts.gauge_theta, 0, \
     1e300, "refuse (exit 3) links whose theta is above X; needs --gauge"}, \
    {LAT_OPT_ALIAS, "theta", 0, NULL, NULL, 0, 0, NULL}

/* Of the links of an operator; `more` is for its text. */
#define LAT_SMEAR_LINKS_OPTION(variable, more) \
    {LAT_OPT_TEXT, "smear-links", 0, "SMEARING", &variable, 0, 0, \
     "smear the links of the operator: ape:A,N, stout:R,N or hyp:A,B,C,N, optionally followed by " \
     ",spatial" more}

/* Of a search for modes. */
#define LAT_SEARCH_MEMORY_OPTION(variable) \
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "memory", 0, "GB", &variable, 0, 1e9, \
     "refuse a search whose vectors need more memory of the device (default: the free memory of " \
     "a GPU; no limit on the CPU)"}
/* clang-format on */

/* The operator of the options; a wrong one is a usage error. Fails nowhere else. Without --kappa
 * and --mass it is a usage error, too, unless `massless`: then m is 0. */
void lat_fermion_of_options(lat_fermion *f, bool massless);

/* Are these links what --gauge asks for? 0, or -1 with a sentence that begins with `name`; with
 * --force it is a warning. */
int lat_fermion_check_gauge(const lat_header *links, const char *name);

/* Does M of the options, f, fit these links? Of anisotropic ones --xi was given, and quarks have a
 * wall (Dirichlet or open) where links across a boundary are missing. 0, or -1 with a sentence that
 * begins with `name`; with --force it is a warning. */
int lat_fermion_check_links(const lat_fermion *f, const lat_header *links, const char *name);

/* A header that says nothing of an operator any more: for spinors that are no solution. Of links
 * it says what it did. */
void lat_header_no_operator(lat_header *head);

/* The operator, and the links with their gauge, in the header of spinors that are made of them,
 * in place of what it said of another one. How links are smeared is for the caller to add. */
void lat_header_of_links(lat_header *head, const lat_header *links, const lat_fermion *f);
