/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h: tables of text, row by row: names of columns in the first line, then a row a line.
 *
 * Cells have a tab between, or, where the first line has none, two blanks or more (as column -t
 * aligns them). The first line may come again: a table behind another one, with the same or other
 * columns. */
#pragma once

#include <stdbool.h>
#include "common/io.h"

typedef struct lat_table {
    lat_input *in;
    const char *name; /* of the file, for sentences */
    char **column;    /* [columns] names */
    int columns;
    char **cell; /* [columns] of the present row, without blanks around; they may be changed */
    long line;   /* number of the present line in the file, from 1 */
    long table;  /* number of the present table in the file, from 0; -1 before the first */
    long rows;   /* of the present table */
    /* of table.c */
    char *heading, *names, *text;
    size_t capacity, begin, end;
    bool aligned, over;
} lat_table;

/* 0, or -1; lat_table_close in any case. */
int lat_table_open(lat_table *t, const char *path);
void lat_table_close(lat_table *t);

/* The next row, or a line with names of columns, after which rows are of these. A table without
 * rows is refused, and a row with another number of cells. -1 with lat_error set. */
typedef enum { LAT_TABLE_END, LAT_TABLE_NAMES, LAT_TABLE_ROW } lat_table_line;
int lat_table_next(lat_table *t);

/* The number of a column, or -1. */
int lat_table_column(const lat_table *t, const char *name);

/* A cell as a number, all of it: 0, or -1 with a sentence. "nan" is one where it is allowed. */
int lat_table_number(const lat_table *t, int column, bool nan, double *x);
