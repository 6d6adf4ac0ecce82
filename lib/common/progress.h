/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h: lines of progress on stderr, the time that is left, and the log of a run. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "comm/comm.h"

/* Seconds since the first call. */
double lat_seconds(void);

/* Prints a line of progress: where stderr is a terminal, one that replaces the line before; with
 * --progress, a plain line every so many seconds; otherwise, and with -q, nothing. After SIGUSR1
 * the next call prints a plain line in any case. */
void lat_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if the next call would print a line, on rank 0: for a caller that has to compute first what
 * it prints. */
bool lat_progress_due(void);

/* True if SIGUSR1 has come and no line has been printed since. */
bool lat_progress_asked(void);

/* Clears the line at the end. Warnings and errors (base/error.h) clear it themselves. */
void lat_progress_end(void);

/* Installs the handler of SIGUSR1, unless the signal is ignored. lat_options_parse calls it for
 * tools with LAT_HAS_QUIET; the others die of the signal, as is usual. */
void lat_progress_watch(void);

/* The rate of change of a number, an exponential mean over some ten samples. Zero at first. */
typedef struct lat_rate {
    double seconds, value; /* of the last sample */
    double per_second;
    int samples; /* up to 10 */
} lat_rate;

/* Adds a sample. Returns the change per second, 0 before the second sample. */
double lat_rate_sample(lat_rate *rate, double value);

/* "12 s left", or in minutes, hours, days; "- left" if it is not known: `seconds` is negative, NaN
 * or infinite. */
#define LAT_LEFT 32
const char *lat_left_text(double seconds, char buf[LAT_LEFT]);

/* "12 sweeps/s", "3.2 s/sweep", or "- sweeps/s" if it is not known: 0 or less. */
const char *lat_rate_text(double per_second, const char *what, char buf[LAT_LEFT]);

/* A log that cannot be written is a warning at once, and an error at the end; of a device already
 * when it is opened. */

/* A log: tab-separated columns under one line of names. Each line is flushed as it is written, so a
 * run can be watched, and the lines of one that was killed are there.
 *
 * It is an output (io.h, LAT_OUTPUT_LIVE): the file is there at once; a run that fails before its
 * first line leaves an old file as it was, and no new one; and the log can be neither an input or
 * another output, nor stdout; nor, with --no-clobber, a file that is there, except the log of a
 * run that is resumed. NULL with lat_error set. */
FILE *lat_log_open(const char *path, const char *columns, const lat_comm *comm);
int lat_log_close(FILE *log, const char *path); /* 0, or -1 if anything was lost */
