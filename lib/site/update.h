/* SPDX-License-Identifier: BSD-3-Clause */
/* update.h: the list of what a sweep does at a site, and the local problems there (C and CUDA).
 * The enum lat_update, the CPU's tables, and the GPU's switch and launch are expanded from it. */
#pragma once

/* The local problem: what g of one site is to maximise. */
typedef enum {
    LAT_LINEAR, /* Re tr g K, K the sum of 2 nd links: Landau gauge, Coulomb gauge in a slice */
    LAT_ABELIAN /* sum_i (g M_i g^+)_ii: maximally Abelian gauge (mag.h) */
} lat_problem;

/* X(NAME, call for LAT_LINEAR, call for LAT_ABELIAN, ...). A call changes *g by the local problem
 * *x, x = g K or the X_i, `count` of them; omega: overrelaxation, beta = 1/T, p: probability of a
 * mirror image, d: random numbers. For tuned updates GPUs have kernels of their own. */
#define LAT_EACH_TUNED_UPDATE(X, ...) \
    /* Overrelaxation to the maximum, SU(2) subgroup by SU(2) subgroup (hit.h) ... */ \
    X(RELAX_SU2, LAT_(relax_su2)(g, *x, omega), LAT_(mag_relax_su2)(g, *x, count, omega), \
      __VA_ARGS__) \
    /* ... and of the whole SU(N) element at once. */ \
    X(RELAX_SUN, LAT_(relax_sun)(g, *x, omega), LAT_(mag_relax_sun)(g, *x, count, omega), \
      __VA_ARGS__) \
    /* Heat bath: drawn with weight exp(beta f) in each subgroup (heat.h). */ \
    X(HEATBATH, LAT_(heat)(g, *x, beta, LAT_UPDATE_HEATBATH, d), \
      LAT_(mag_heat)(g, *x, count, beta, LAT_UPDATE_HEATBATH, d), __VA_ARGS__) \
    /* Microcanonical: to the mirror image in each subgroup, where the functional is the same. */ \
    X(MICROCANONICAL, LAT_(heat)(g, *x, beta, LAT_UPDATE_MICROCANONICAL, d), \
      LAT_(mag_heat)(g, *x, count, beta, LAT_UPDATE_MICROCANONICAL, d), __VA_ARGS__)

#define LAT_EACH_OTHER_UPDATE(X, ...) \
    /* Stochastic relaxation: overrelaxation or, with probability p, microcanonical; decided for \
     * each subgroup, or for the site (stochastic.h). */ \
    X(STOCHASTIC_SU2, LAT_(stochastic_su2)(g, *x, omega, p, d), \
      LAT_(mag_stochastic_su2)(g, *x, count, omega, p, d), __VA_ARGS__) \
    X(STOCHASTIC_SUN, LAT_(stochastic_sun)(g, *x, omega, p, d), \
      LAT_(mag_stochastic_sun)(g, *x, count, omega, p, d), __VA_ARGS__) \
    /* Metropolis: the heat bath's weight by proposals, the reference of its tests. */ \
    X(METROPOLIS, LAT_(heat)(g, *x, beta, LAT_UPDATE_METROPOLIS, d), \
      LAT_(mag_heat)(g, *x, count, beta, LAT_UPDATE_METROPOLIS, d), __VA_ARGS__)

#define LAT_EACH_UPDATE(X, ...) \
    LAT_EACH_TUNED_UPDATE(X, __VA_ARGS__) LAT_EACH_OTHER_UPDATE(X, __VA_ARGS__)

#define LAT_UPDATE_ENUM(NAME, linear, abelian, ...) LAT_UPDATE_##NAME,
#define LAT_UPDATE_ONE(NAME, linear, abelian, ...) +1
typedef enum { LAT_EACH_UPDATE(LAT_UPDATE_ENUM, ) } lat_update;
enum { LAT_TUNED_UPDATES = 0 LAT_EACH_TUNED_UPDATE(LAT_UPDATE_ONE, ) }; /* they come first */
