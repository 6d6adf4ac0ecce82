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

#define LAT_LEFT 32 /* bytes of a text below */

/* "residual 1.2e-05  ", or "" if none is known: it is infinite. */
const char *lat_residual_text(double residual, char buf[LAT_LEFT]);

/* Parts of the work, one within another: with parts, lines of progress end in what is done of each,
 * and in the time left, as "slice 12 of 64  40 s left  configuration 2  file 3 of 10".
 *   begin   of the parts of one that is not done yet; `of` 0: nobody knows how many there are, and
 *           the time left is that of the parts within it; `what` NULL: for the time left alone
 *   at      so many are done
 *   done    the same, and prints a line, in tools with --progress
 *   end     of the innermost begin; a run that has failed need not call it */
void lat_part_begin(const char *what, double of);
void lat_part_at(double done);
void lat_part_done(double done);
void lat_part_end(void);

/* The part of the way to a residual `goal` that is done, 0 to 1, in digits from *first, the largest
 * one that was seen, which is 0 at first. */
double lat_digits_done(double *first, double now, double goal);

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
