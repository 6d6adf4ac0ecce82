/* SPDX-License-Identifier: BSD-3-Clause */
/* error.h: one sentence about what went wrong, and the exit codes.
 *
 * A library function that fails calls lat_fail, which keeps the sentence, and returns a negative
 * number. The tool prints the sentence after its own name (lat_report) and exits:
 *
 *     lat-orelax: cfg.0010: truncated after 12345 bytes, expected 73824
 *
 * So a sentence begins with the name of the file, if there is one. It says what was expected and
 * what was found, and has no newline and no full stop. The first sentence is kept until
 * lat_error_clear: a later failure, while the tool cleans up, does not replace the cause. Control
 * characters in it (from file names, from headers) become "?".
 *
 * All functions here may be called from any thread. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum { LAT_SENTENCE = 8192 }; /* bytes: a path of PATH_MAX and a sentence about it */

/* Exit codes of every tool. */
enum lat_exit {
    LAT_DONE = 0,       /* done */
    LAT_FAILED = 1,     /* bad data, no memory, no space ... */
    LAT_USAGE = 2,      /* the command line is wrong */
    LAT_UNCONVERGED = 3 /* not converged, or above a tolerance that was asked for */
};

/* The name of the running tool, for messages; lat_options_parse sets it. */
extern const char *lat_tool_name;

/* A parameter that its function has no use for. */
#define LAT_UNUSED __attribute__((unused))

/* Keeps the sentence, and returns -1, for `return lat_fail(...)`. */
int lat_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and returns NULL. */
void *lat_fail_null(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For `return lat_rc(first() || second())`: -1 if one of them failed, else 0. */
static inline int lat_rc(bool failed) { return failed ? -1 : 0; }

/* lat_fail for a wrong command line (no FILE, and stdin is a terminal): lat_report then adds where
 * to look for help, and returns LAT_USAGE. */
int lat_fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for data above a tolerance that was asked for: lat_report returns LAT_UNCONVERGED. */
int lat_fail_tolerance(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Number of bytes of the character (UTF-8; bytes that are none count one by one) at s, in a text
 * that is not trusted, such as a file name; not at its end. Negative if it is a control character,
 * of ASCII or of Latin 1 (U+0080 to U+009F), or one that changes the direction of text: it is not
 * to reach a terminal. */
int lat_plain_length(const char *s);

/* Replaces control characters by "?", in a text that becomes a line or a column. */
void lat_make_plain(char *text);

/* The sentence that is kept, or "". */
const char *lat_error(void);

/* Puts "NAME: " before the sentence that is kept, for a failure of what does not know the file that
 * it works on; unless it begins with that, or with another file that may be the cause (or NULL).
 * Returns -1. */
int lat_error_name(const char *name, const char *other);
void lat_error_clear(void);

/* A thread that works ahead of others keeps its sentence apart. The sentence is printed when the
 * work is needed, and not if the run fails before.
 *   apart      from here on the functions above are about *own where this thread calls them; it is
 *              empty at first
 *   take_over  keeps that sentence for this thread, as lat_fail would */
typedef struct lat_sentence {
    char text[LAT_SENTENCE];
    int code; /* of the exit, where the sentence decides it; else LAT_DONE */
} lat_sentence;
void lat_error_apart(lat_sentence *own);
void lat_error_take_over(const lat_sentence *of_another);

/* True on ranks that print nothing on stderr: all but rank 0 (comm/comm.h). */
extern bool lat_mute;

/* All output on stderr goes through these functions, each line by one write(2). lat_stderr_print
 * prints "TOOL: sentence". A sentence that does not stay is cut to the width of the terminal, and
 * the next one replaces it; lat_stderr_clear clears it. */
void lat_stderr_print(bool stays, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));
void lat_stderr_clear(void);

/* Prints "TOOL: sentence" on stderr at once. Warnings are printed even with -q. */
void lat_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the sentence that is kept, if there is one, as "TOOL: sentence". Returns `code`, or
 * LAT_USAGE after lat_fail_usage, LAT_UNCONVERGED after lat_fail_tolerance, for `return
 * lat_report(...)`. With LAT_USAGE a second line says where to look for help. */
int lat_report(int code);
