/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h: a word to whoever waits, and the log of a run. */
#ifndef LAT_PROGRESS_H
#define LAT_PROGRESS_H

#include <stdio.h>

/* Seconds since the first call. */
double lat_seconds(void);

/* One line that rewrites itself where stderr is a terminal, a plain line every so many seconds
 * with --progress, nothing otherwise and with -q. */
void lat_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Clears the line; before any other words and at the end. */
void lat_progress_end(void);

/* A log is tab-separated columns under one plain line of names; each line is flushed as it is
 * written, so that a run can be watched and what a killed one wrote is there. */
FILE *lat_log_open(const char *path, const char *columns); /* NULL with lat_error set */
int lat_log_close(FILE *log, const char *path);            /* 0, or -1 if anything was lost */

#endif
