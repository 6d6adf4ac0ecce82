/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.h: tables of one kind, as the numbers of a chain of configurations.
 *
 * A column of a table has one role. Columns of a KEY name an observable, and a row of results;
 * those of a SAMPLE name a configuration; FIXED ones belong to the key, and SAME ones to all of the
 * chain: rows where they differ are refused. VALUE columns are averaged. */
#pragma once

#include "names.h"
#include "samples.h"
#include "table.h"

enum { LAT_KEYS = 12, LAT_KEY_TEXT = 96, LAT_SAMES = 16 };

typedef struct lat_chain lat_chain;

/* Lists of columns, with blanks between, or NULL. A table is of the first kind all of whose marks
 * it has. */
typedef struct lat_table_kind {
    const char *tool, *marks;
    const char *sample, *key, *fixed, *same, *value, *ignored;
    const char *needed;  /* of `value`, those that quantities find by their place, or NULL */
    const char *refused; /* why such tables are refused without --value, or NULL */
    /* Makes a key the one that stands for all equivalent ones; cells in the order of `key`. NULL:
     * there are none. */
    void (*represent)(const lat_chain *c, const lat_table *t, char key[LAT_KEYS][LAT_KEY_TEXT]);
    /* The rows of one source are there (c->had), their values in c->one, which it may change. 0, or
     * -1 with a sentence. NULL: nothing is to be done. */
    int (*complete)(lat_chain *c);
    /* Takes away from the text of a SAME column what may differ. NULL: nothing may. */
    void (*strip)(const char *column, char *text);
} lat_table_kind;

/* What columns the user has given a role; lists with commas between, or NULL. */
typedef struct lat_roles {
    const char *sample, *key, *value, *ignored;
} lat_roles;

struct lat_chain {
    lat_table_kind kind;
    char *lists[6]; /* of a kind that the user has made, to be freed */
    bool force;     /* takes rows with forced = 1 */
    bool apart;     /* equivalent keys are not averaged */
    /* roles of the columns of the present table: numbers of columns, -1: not there */
    int sample[LAT_KEYS], key[LAT_KEYS], fixed[LAT_KEYS], same[LAT_SAMES], *value;
    int samples, keys, fixeds, sames, values;
    int links, forced, file, theta;
    char *same_text[LAT_SAMES];
    lat_names rows;    /* keys of the results, cells with a tab between */
    char **fixed_text; /* [rows], the same */
    lat_names raw;     /* keys as they are in tables */
    long *row_of;      /* [raw] */
    bool *missing;     /* [rows][values]: NaN in each configuration */
    lat_names configs;
    double *of_theta; /* [configs]: of column `theta`, NaN where there is none */
    char *last_file;  /* of column `file` */
    char *table;      /* name of the table that the row before is of */
    bool disordered, nameless;
    lat_names prints; /* of the numbers of each source, of tables of our tools */
    bool repeated;    /* a warning has said that some are there twice */
    /* the present configuration */
    long config, blocks;
    double *sum;         /* [rows][values] */
    long *members;       /* [rows] raw keys */
    uint32_t *count;     /* [raw] */
    double *one;         /* [raw][values] of the present source */
    bool *had;           /* [raw] */
    lat_samples numbers; /* number row * values + value */
};

/* An empty one is {.kind, .force, .apart, .numbers {.most, .bin}}. */
void lat_chain_free(lat_chain *c);

/* The columns of a table that is of this kind. 0, or -1 with a sentence: a column of no role, or
 * other columns than before. */
int lat_chain_columns(lat_chain *c, const lat_table *t);

/* Adds a row of it. `input` is the number of the file. */
int lat_chain_row(lat_chain *c, const lat_table *t, int input);

/* All tables were read: makes bins. */
int lat_chain_end(lat_chain *c);

/* The text of a SAME column, "" where it is not there. */
const char *lat_chain_same(const lat_chain *c, const char *column);

/* The numbers of a mean: of the value of this name, -1: none. Of a row. */
int lat_chain_value(const lat_chain *c, const char *name);
double lat_chain_mean(const lat_chain *c, const lat_means *m, long sample, long row, int value);

/* Cell i of the key of a row. Returns text. */
const char *lat_chain_cell(const lat_chain *c, long row, int i, char text[LAT_KEY_TEXT]);

/* The name of column i of a list, with blanks between; NULL beyond its end. Returns text. */
const char *lat_list_word(const char *list, int i, char text[LAT_KEY_TEXT]);
