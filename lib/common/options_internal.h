/* SPDX-License-Identifier: BSD-3-Clause */
/* options_internal.h: between options.c, options_values.c, options_help.c and options_check.c. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "options.h"

static inline lat_opt_type lat_option_type(const lat_option *o)
{
    return (lat_opt_type)(o->type & ~(LAT_OPT_LOCAL | LAT_OPT_LIMIT));
}

/* Sets the option's variable from text; a usage error if the text is no value of its type. */
void lat_option_set(const lat_option *o, const char *text);

/* The default, the variable's value before parsing, as text; "" if there is none. */
void lat_option_default(const lat_option *o, char *buf, size_t size);

/* "single|mixed|double" as "single, mixed or double", to be freed; NULL if there is no memory. */
char *lat_option_choices(const char *choices);

/* Reads --grid into lat_comm_grid; it may stand without -n, and is refused where the tool, or -n,
 * does not allow it. */
void lat_option_grid(const lat_tool *tool);

/* Prints the text quoted for a shell, on one line. */
void lat_option_quote(FILE *f, const char *text);

/* ---- options_help.c -------------------------------------------------------------------------- */

#define LAT_HELP_WIDTH 79

/* p, or the end of the program where it is NULL. */
void *lat_option_require(void *p);

/* True if "      --name=choices" fits in a line of --help; otherwise the choices go to its text. */
bool lat_option_fits(const lat_option *o);

/* The text of an option, with its choices and its default; what argp prints above and below the
 * options. To be freed. */
char *lat_option_help(const lat_option *o);
char *lat_tool_description(const lat_tool *tool);

/* Is the word, "--NAME" or "--NAME=..", this name but for one letter or two that changed places? */
bool lat_option_near(const char *said, const char *name);

/* Prints the version and how it was built; ends a program that has printed what was asked for. */
void lat_options_version(const char *name) __attribute__((noreturn));
void lat_options_printed(void) __attribute__((noreturn));

/* ---- options_check.c ------------------------------------------------------------------------- */

/* Too many or too few FILEs, too small a stack, unknown vector lengths: ends the program. */
void lat_options_check(const lat_tool *tool);
