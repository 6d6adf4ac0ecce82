/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.h: Wilson loops between static sources, Polyakov loops and their correlators
 * (docs/loops.md).
 *
 *     W_ij(R, T) = < Re tr S_i(x, t; R) L(x + R, t; T) S_j(x, t + T; R)^+ L(x, t; T)^+ > / N
 *
 * Mean over all x and t, and over all R that a permutation of the spatial axes or signs of its
 * components make of one. L(x, t; T) is the product of the T links along the last axis that begin
 * at x, t. S_i(x, t; n d) is the product of n steps from x to x + n d. A step along an axis is a
 * spatial link of smearing level i; a step along another d is the mean of the products of such
 * links along all shortest paths. For i < j the mean of W_ij and W_ji is one number.
 *
 *     C(R) = < Re p(x) p(x + R)^* >,   p(x) = tr L(x, 0; extent of the last axis) / N
 *
 * In temporal gauge a loop is the trace of one product, of a line at t and a line at t + T. Lines
 * lie with their times one after the other; so a vector has the loops of eight times.
 *
 * The bits of results depend neither on threads nor on ranks; on a GPU they are the same each time,
 * and one rank alone has loops. All ranks call a function: 0, or -1 with lat_error set. C and C++.
 */
#pragma once

#include "grid/device.h"
#include "lattice/field.h"
#include "smear/smear.h"

enum { LAT_LOOPS_LEVELS = 16, LAT_LOOPS_CLASSES = 16, LAT_LOOPS_LONGEST = 6 };

typedef struct lat_loops_how {
    int distance, time; /* largest |R|, and T */
    int classes;        /* of R that axes and signs make of one; n times each vector */
    int vector[LAT_LOOPS_CLASSES][LAT_MAX_DIMS]; /* d, components >= 0, LAT_LOOPS_LONGEST steps */
    int levels, steps[LAT_LOOPS_LEVELS];         /* of smearing: rising numbers of steps */
    lat_smear smear;                             /* of spatial links, where a level has steps */
    const lat_smear *time_links; /* smearing of the links along the last axis; NULL: none */
    bool window;                 /* the loops lie between slices `first` and `last`; */
    int first, last;             /* else they cross the boundary, too */
} lat_loops_how;

/* 0, or -1 with a sentence that begins with `name`, where these links have no such loops. */
int lat_loops_check(const lat_field *u, const lat_loops_how *how, const char *name);

/* The same where this device has none: too little memory, several ranks on GPUs, no code for N. */
int lat_loops_check_device(const lat_device *dev, const lat_field *u, const lat_loops_how *how);

/* The separations R: first those of the first class, n = 1, 2, ... Their number; list may be NULL.
 */
typedef struct lat_loops_separation {
    int kind, n;              /* number of the class */
    int vector[LAT_MAX_DIMS]; /* n d */
    double r;                 /* |R| */
} lat_loops_separation;
int lat_loops_separations(const lat_loops_how *how, lat_loops_separation *list);

/* Pairs of levels i <= j, in the order 00 01 .. 11 12 .. */
static inline int lat_loops_pairs(const lat_loops_how *how)
{
    return how->levels * (how->levels + 1) / 2;
}

/* w: for each separation, T = 1 to `time`, and pair, one after the other. The links of u become
 * unitary (lattice/unitary.h). */
int lat_loops_wilson(lat_device *dev, lat_field *u, const lat_loops_how *how, double *w);

/* loop: the mean of p, re and im; c: for each separation. The same of u. */
int lat_loops_polyakov(lat_device *dev, lat_field *u, const lat_loops_how *how, double loop[2],
                       double *c);
