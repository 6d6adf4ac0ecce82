/* SPDX-License-Identifier: BSD-3-Clause */
/* overlap.h: the overlap operator as an --operator of tools: options, the operator of some links
 * with the code that certifies its solutions, propagators as they are written. */
#pragma once

#include "fermion_options.h"
#include "modefile.h"
#include "overlap/deflate.h"
#include "certify/plain_overlap.h"
#include "overlap/solve.h"

enum { LAT_OPERATOR_WILSON, LAT_OPERATOR_OVERLAP };

typedef struct lat_overlap_choice {
    int operator; /* LAT_OPERATOR_WILSON .. */
    double m0, mu, error;
    int sign;
    long order, project;
    const char *interval, *modes;
    bool force, keep_contact;
} lat_overlap_choice;
extern lat_overlap_choice lat_overlap_opts;

/* clang-format off */
#define LAT_OVERLAP_OPTIONS \
    {LAT_OPT_CHOICE, "operator", 0, "wilson|overlap", &lat_overlap_opts.operator, 0, 0, \
     "operator to use; overlap: [(1 + MU) + (1 - MU) gamma5 sign(gamma5 (D_W - M0))]/2, where " \
     "--csw, --xi, --nu and --boundary set D_W"}, \
    LAT_SIGN_OPTIONS, \
    {LAT_OPT_REAL, "mu", 0, "MU", &lat_overlap_opts.mu, 0, 0, \
     "mass of the overlap operator, instead of --mass M, which is 2 M0 MU"}

/* Of H = gamma5 (D_W - M0) and its sign. */
#define LAT_SIGN_OPTIONS \
    {LAT_OPT_REAL, "m0", 0, "M0", &lat_overlap_opts.m0, 0, 0, \
     "minus the mass of the kernel (default: 1.4)"}, \
    {LAT_OPT_CHOICE, "sign", 0, LAT_SIGN_METHODS, &lat_overlap_opts.sign, 0, 0, \
     "approximation of the sign function: a polynomial (minmax) or a rational function " \
     "(zolotarev)"}, \
    {LAT_OPT_REAL, "sign-error", 0, "DELTA", &lat_overlap_opts.error, 0, 0, \
     "largest error of the approximation"}, \
    {LAT_OPT_INT, "order", 0, "N", &lat_overlap_opts.order, 0, LAT_MINMAX_DEGREE, \
     "degree of the polynomial, or number of poles (default: what --sign-error needs)"}, \
    {LAT_OPT_INT, "project", 0, "K", &lat_overlap_opts.project, 0, 1000, \
     "treat K low modes of H exactly (default: 4 to 12, whichever leaves the widest gap; with " \
     "--modes at least three quarters of them)"}, \
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "modes", 0, "FILE", &lat_overlap_opts.modes, 0, 0, \
     "read modes of H, which lat-modes --mass -M0 found, from FILE instead of searching"}, \
    {LAT_OPT_TEXT, "interval", 0, "A,B", &lat_overlap_opts.interval, 0, 0, \
     "approximate the sign function from A to B (default: the interval that the low modes " \
     "leave)"}, \
    {LAT_OPT_FLAG, "force-interval", 0, NULL, &lat_overlap_opts.force, 0, 0, \
     "accept an interval that does not contain the spectrum of H"}
/* clang-format on */

/* The operator of the options, Wilson or overlap, as by lat_fermion_of_options. An overlap operator
 * has the name overlap, mu as its mass. */
void lat_operator_of_options(lat_fermion *f, bool massless);

/* Ends with a word about usage where an option of the operator is out of range. */
void lat_overlap_check_options(const lat_fermion *f);

/* mu of a mass m of the options: m/(2 m0), and m itself of a Wilson operator. */
double lat_mass_of_options(const lat_fermion *f, double m);

/* Options of the operator. `residual` is what is asked of solutions: the sign function is ten times
 * as accurate, unless --sign-error says else. */
void lat_overlap_of_options(lat_overlap_options *o, int columns, double residual);

/* The modes of --modes, if there are any, for the links that are being used. */
typedef struct lat_overlap_known {
    lat_input *in;
    lat_field modes;
    long of;       /* links, by a number that the caller gives */
    char text[40]; /* "12 modes, CRC 89abcdef": those that are projected; or "" */
} lat_overlap_known;

/* Opens the file of the options. 0, or -1 with lat_error set. */
int lat_overlap_known_open(lat_overlap_known *k, const lat_comm *comm);

/* Reads on to the modes of these links, unless `number` is that of the call before. */
int lat_overlap_known_find(lat_overlap_known *k, long number, const lat_field *links,
                           const lat_fermion *overlap, const char *smearing);
void lat_overlap_known_close(lat_overlap_known *k);

/* The operator with them, tested with a random spinor (lat_overlap_verify); k says which of them it
 * has projected. `links` are borrowed while it opens. */
lat_overlap *lat_overlap_open_known(lat_device *device, const lat_field *links,
                                    const lat_fermion *fermion, lat_overlap_options *options,
                                    lat_overlap_known *k);

typedef struct lat_overlap_pair {
    lat_overlap *fast;
    lat_plain_overlap *plain;
} lat_overlap_pair;

/* Both operators; mixed: for solutions, of which
 * the fast one makes iterations in single precision, too. 0, or -1 with lat_error set. `links` are
 * borrowed. */
int lat_overlap_pair_open(lat_overlap_pair *p, lat_device *device, const lat_field *links,
                          const lat_fermion *fermion, int columns, bool mixed, double residual,
                          lat_overlap_known *known);
void lat_overlap_pair_mass(lat_overlap_pair *p, double mu);
void lat_overlap_pair_close(lat_overlap_pair *p);

#define LAT_OVERLAP_BOUND "overlap_bound" /* of |D~ - D| */
#define LAT_OVERLAP_MODES "overlap_modes" /* those of --modes that are projected */
typedef enum {
    LAT_PROPAGATOR_INVERSE = 0,    /* x */
    LAT_PROPAGATOR_SUBTRACTED = 1, /* (x - b)/(1 - mu): without the contact term */
    LAT_PROPAGATOR_DIVIDED = 2     /* divided by 2 m0: of D_m, or 1/(D_c + m) if subtracted */
} lat_propagator;

/* The bound, and the modes if they are of a file, into a header. */
int lat_overlap_describe(lat_header *head, const lat_overlap *o, const lat_overlap_known *known);

/* As the options say. */
lat_propagator lat_propagator_of_options(bool masses);
const char *lat_propagator_text(int form);
int lat_propagator_of(const lat_header *head); /* form, or -1 with lat_error set */

/* x becomes what is written; `back`: from it. Both in place, of these columns; x is in double. */
void lat_propagator_make(int form, bool back, const lat_fermion *f, const lat_field *b, int columns,
                         const int *column, lat_field *x);
