/* SPDX-License-Identifier: BSD-3-Clause */
/* options_internal.h: between options.c and options_values.c, for nobody else. */
#ifndef LAT_OPTIONS_INTERNAL_H
#define LAT_OPTIONS_INTERNAL_H

#include <stdio.h>
#include "options.h"

/* The option's value from text; a usage error where that is none. */
void lat_option_set(const lat_option *o, const char *text);

/* What stands there before parsing, as text; "" where nothing does. */
void lat_option_default(const lat_option *o, char *buf, size_t size);

/* "single|mixed|double" as "single, mixed or double", to be freed; NULL if there is no memory. */
char *lat_option_choices(const char *choices);

/* Quotes for a shell, on one line whatever the text holds. */
void lat_option_quote(FILE *f, const char *text);

#endif
