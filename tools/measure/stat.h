/* SPDX-License-Identifier: BSD-3-Clause */
/* stat.h: what the files of lat-stat share: kinds of tables, and the quantities of a report. */
#pragma once

#include <stdio.h>
#include "stat/chain.h"

enum { STAT_QUANTITIES = 64, STAT_CHAINS = 2 };

typedef struct stat_report stat_report;

/* A number of a row, from means over configurations; `of` is a value of the table, or the
 * quantity's own. */
typedef double stat_function(const stat_report *r, const lat_means *m, long sample, long row,
                             int of);

typedef struct stat_quantity {
    char name[LAT_KEY_TEXT];
    stat_function *function;
    int of;
    bool derived; /* not a mean itself */
} stat_quantity;

/* A table of results. */
struct stat_report {
    lat_chain *chain;  /* the first one has the configurations */
    lat_chain *second; /* of alpha: ghosts */
    char *heading;     /* columns before the quantities, with a tab between */
    char **label;      /* [rows]: the same, of a row */
    long rows;
    stat_quantity quantity[STAT_QUANTITIES];
    int quantities;
    double *weight; /* [rows]: phat^2 and the like; of loops [separations][levels] */
    /* of correlators: the row of each slice, [groups][slices], -1: none; group and slice of a row;
     * the group of the pion at rest */
    long *index, *group, *slice, slices, pion;
    /* of loops: index [separations][times][levels][levels], group, slice: separation and T of a row
     */
    long levels;
    double *time;        /* of the flow: [chain rows] */
    const char *unknown; /* what is said of rows that are nan, or NULL */
    bool fold;           /* C(t) with C(T - t), where it is its image */
    bool joined;         /* means of both chains: sample number k of each */
};

/* Kinds of tables, until .tool is NULL; that of a user. */
extern const lat_table_kind stat_kinds[];
extern const lat_table_kind stat_other;

/* stat_equal.c: rows that are equal but for noise, and the parts of a text that may differ. */
void stat_equal_hadrons(const lat_chain *c, const lat_table *t, char key[LAT_KEYS][LAT_KEY_TEXT]);
void stat_equal_ghosts(const lat_chain *c, const lat_table *t, char key[LAT_KEYS][LAT_KEY_TEXT]);
void stat_equal_gluons(const lat_chain *c, const lat_table *t, char key[LAT_KEYS][LAT_KEY_TEXT]);
int stat_complete_hadrons(lat_chain *c);
void stat_strip_source(const char *column, char *text);

/* Adds a quantity. */
void stat_add(stat_report *r, const char *name, stat_function *f, int of, bool derived);

/* Adds the means of all values of the table, but of a list with blanks between. */
void stat_add_values(stat_report *r, const lat_chain *c, const char *but);

/* The mean of a value. */
double stat_plain(const stat_report *r, const lat_means *m, long sample, long row, int of);

/* The report of a chain, and the special ones; after a failure stat_report_free. 0 or -1. */
int stat_report_make(stat_report *r, lat_chain *c);
int stat_report_hadrons(stat_report *r);
int stat_report_potential(stat_report *r, lat_chain *c);
int stat_report_scales(stat_report *r, lat_chain *c, const char *density);
int stat_report_alpha(stat_report *r, lat_chain *gluons, lat_chain *ghosts);
void stat_report_free(stat_report *r);

/* Space for the labels of n rows. */
int stat_report_rows(stat_report *r, const char *heading, long n);

/* stat_print.c */
enum { STAT_TEXT, STAT_SAMPLES, STAT_AUTOCORRELATION, STAT_OUTPUTS };

typedef struct stat_options {
    const char *file[STAT_OUTPUTS]; /* names of the outputs; NULL: stdout, and no others */
    long bootstrap, bin, most;
    uint64_t seed;
    bool tau, gamma;
    double s; /* of the window */
} stat_options;

/* Prints the report to its outputs (NULL: not there). */
int stat_print(const stat_report *r, const stat_options *o, FILE *const to[STAT_OUTPUTS]);
