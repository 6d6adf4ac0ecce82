/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h: what the files of lat-fit share: samples of correlators, and fits to them. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "stat/names.h"

enum { FIT_PARAMETERS = 40 };

/* One correlator: value[i * (samples + 1) + k] at t[i], which rise; k = 0 of all configurations. */
typedef struct fit_correlator {
    const char *name; /* the cells of its key, with a tab between */
    long points;
    double *t, *value, *error;
    long *image; /* [points]: that of T - t, whose samples are the same; -1: none, or up to T/2 */
} fit_correlator;

typedef struct fit_samples {
    lat_names names;
    fit_correlator *correlator; /* [names.count] */
    char *heading;              /* columns of the key, without t and sample */
    long samples, configurations;
    long bin;  /* configurations of a bin; 0 where the table does not say it */
    long bins; /* of the samples; 0 where they are not known */
    bool bootstrap;
    double extent;   /* T; 0 where the table does not say it */
    bool periodic;   /* all quarks go around in time in one way: mesons are cosh and sinh */
    bool has_column; /* of the table that was read */
} fit_samples;

/* The samples of one column of a table of lat-stat --samples, as a function of column x; of pcac
 * those of column `pcac`, where it is there (NULL: of the same). 0, or -1 with lat_error set;
 * fit_samples_free in any case. */
int fit_samples_read(fit_samples *s, const char *path, const char *column, const char *pcac,
                     const char *x);

/* Is it the PCAC mass? */
bool fit_is_pcac(const char *name);
void fit_samples_free(fit_samples *s);

/* sum_s A_s h(m_s t), m_1 > m_0; a plateau is a constant, which is m_0; a potential of distance t
 * is V0 - alpha / t + sigma t. */
typedef enum { FIT_AUTO, FIT_PLATEAU, FIT_EXP, FIT_COSH, FIT_SINH, FIT_POTENTIAL } fit_form;
#define FIT_FORMS "auto|plateau|exp|cosh|sinh|potential"
extern const char *const fit_form_names[];

/* The form of a correlator, by channel and boundary. */
fit_form fit_form_of(const fit_samples *s, const fit_correlator *c);

/* A fit of one or several correlators, which have the masses in common. */
typedef struct fit_problem {
    const fit_samples *s;
    const fit_correlator *c[FIT_PARAMETERS];
    fit_form form[FIT_PARAMETERS];
    int correlators, states;
    double first, last; /* t of the window */
    bool diagonal;      /* the covariance is */
} fit_problem;

/* Masses, then amplitudes of each correlator; of a potential V0, alpha, sigma, sqrt(sigma), r0. */
typedef struct fit_result {
    double value[FIT_PARAMETERS], error[FIT_PARAMETERS];
    double *sample; /* [samples + 1][values] */
    double chi2, p;
    double freedom[2]; /* of the distribution of p: F, or chi^2, whose second is 0 */
    long points, dof;
    int values;
    bool converged, diagonal;
} fit_result;

enum { FIT_POTENTIAL_VALUES = 5 };
enum { FIT_ENOUGH = 10 }; /* bins for each point, for a covariance that is not diagonal */

/* Is point i of a correlator fitted? Of two points that are one number, the first is. */
bool fit_within(const fit_problem *p, const fit_correlator *c, long i);

/* Points in the window, parameters. */
long fit_points(const fit_problem *p);
int fit_parameters(const fit_problem *p);

/* 0, or -1 with lat_error set: too few points, a singular covariance, no memory. Without
 * convergence it is 0, too. fit_result_free in any case. */
int fit_run(const fit_problem *p, fit_result *r);
void fit_result_free(fit_result *r);

/* The largest t up to which a correlator is known well enough, and where it may be fitted. */
double fit_last(const fit_samples *s, const fit_correlator *c, fit_form form);
