/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h: a word to whoever waits, and the log of a run. */
#ifndef LAT_PROGRESS_H
#define LAT_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

/* Seconds since the first call. */
double lat_seconds(void);

/* One line that rewrites itself where stderr is a terminal, a plain line every so many seconds
 * with --progress, nothing otherwise and with -q; and a plain line in any case after SIGUSR1. */
void lat_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Clears the line at the end; other words on the way (error.h) do it themselves. */
void lat_progress_end(void);

/* How fast a number changes: zero it, then give it the number now and then. The change in a second,
 * smoothed over some ten looks; 0 before the second one. */
typedef struct lat_rate {
    double seconds, value, speed;
    int looks;
} lat_rate;
double lat_rate_sample(lat_rate *pace, double value);

/* ", 12 s left", or minutes, hours, days; nothing where that is not known: a negative number, NaN
 * or infinity. */
#define LAT_LEFT 32
const char *lat_left_text(double seconds, char buf[LAT_LEFT]);

/* From here on SIGUSR1, unless it is ignored, asks for a line of progress. lat_options_parse
 * calls it for the tools that have LAT_HAS_QUIET; the others die of the signal as is usual. */
void lat_progress_watch(void);

/* It has, and no line has been printed since: for those who would first have to find out what to
 * say. */
bool lat_progress_asked(void);

/* A log is tab-separated columns under one plain line of names; each line is flushed as it is
 * written, so that a run can be watched and what a killed one wrote is there. The file appears at
 * once. A run that fails before its first line leaves an old one as it was, and no new one. A log
 * is an output (io.h, LAT_OUTPUT_LIVE): it cannot be an input or another output too, nor stdout. */
FILE *lat_log_open(const char *path, const char *columns); /* NULL with lat_error set */
int lat_log_close(FILE *log, const char *path);            /* 0, or -1 if anything was lost */

#endif
