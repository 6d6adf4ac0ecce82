/* SPDX-License-Identifier: BSD-3-Clause */
/* error.h: one sentence about what went wrong, and the exit codes.
 *
 * A library function that fails calls lat_fail, which keeps the sentence, and returns a
 * negative number. The tool prints the sentence with its own name in front and exits:
 *
 *     lat-orelax: cfg.0010: truncated after 12345 bytes, expected 73824
 *
 * So a sentence starts with the name of the file where there is one, says what was expected
 * and what was found, and has no newline and no full stop. The first sentence stays until
 * lat_error_clear: what fails later, on the way out, does not cover the cause. Control
 * characters in it (from file names, from headers) become "?".
 * All functions here may be called from any thread. */
#ifndef LAT_ERROR_H
#define LAT_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit codes of every tool. */
enum lat_exit {
    LAT_DONE = 0,       /* done */
    LAT_FAILED = 1,     /* could not: bad data, no memory, no space ... */
    LAT_USAGE = 2,      /* the command line is wrong */
    LAT_UNCONVERGED = 3 /* not converged, or above a tolerance that was asked for */
};

/* The name of the running tool, for messages; lat_options_parse sets it. */
extern const char *lat_tool_name;

/* Keeps the sentence; returns -1 always, so that `return lat_fail(...)` reads well. */
int lat_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for what the user should have typed differently (no FILE and stdin a terminal):
 * lat_report then adds where to look for help and turns any code into LAT_USAGE. */
int lat_fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Control characters become "?", for what is a line or a column elsewhere. */
void lat_make_plain(char *text);

/* The sentence kept, or "" . */
const char *lat_error(void);
void lat_error_clear(void);

/* Another rank speaks: this one says nothing on stderr (comm/comm.h). */
extern bool lat_mute;

/* All words on stderr go through these, each in one write. lat_say prints "TOOL: sentence"; one
 * that does not stay is cut to the width of the terminal, and what is said next takes its place.
 * lat_unsay takes it away. */
void lat_say(bool stays, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
void lat_unsay(void);

/* Prints "TOOL: sentence" on stderr at once. Warnings are printed even with -q. */
void lat_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the kept sentence, if there is one, as "TOOL: sentence"; returns `code`, or LAT_USAGE
 * after lat_fail_usage, for use in `return`. With LAT_USAGE a second line says where to look. */
int lat_report(int code);

#endif
