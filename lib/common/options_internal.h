/* SPDX-License-Identifier: BSD-3-Clause */
/* options_internal.h: values of options, between options.c and options_values.c. */
#ifndef LAT_OPTIONS_INTERNAL_H
#define LAT_OPTIONS_INTERNAL_H

#include <stdio.h>
#include "options.h"

/* Sets the option's variable from text; a usage error if the text is no value of its type. */
void lat_option_set(const lat_option *o, const char *text);

/* The default, the variable's value before parsing, as text; "" if there is none. */
void lat_option_default(const lat_option *o, char *buf, size_t size);

/* "single|mixed|double" as "single, mixed or double", to be freed; NULL if there is no memory. */
char *lat_option_choices(const char *choices);

/* Prints the text quoted for a shell, on one line. */
void lat_option_quote(FILE *f, const char *text);

#endif
