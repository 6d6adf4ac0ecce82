/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h: text to an output: plain lines and JSON. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "io.h"

/* A stream for printf and friends, whose characters go to `out`; all of them by fflush. NULL with
 * lat_error set. It does not own `out`. */
FILE *lat_text_open(lat_output *out);

/* Closes the stream, and commits `out`, or aborts it after any failure: 0, or -1. */
int lat_text_close(FILE *text, lat_output *out);

/* Text of a header or a name, with "?" for control characters. */
void lat_plain_text(FILE *to, const char *s);

/* "...", with escapes for what JSON does not allow and for control characters (base/error.h). Other
 * bytes above 127 stay: headers are UTF-8. */
void lat_json_string(FILE *to, const char *s);

/* A number of 17 digits, which reads back as the same double; null if it is not finite. */
void lat_json_number(FILE *to, double x);

/* "key": before a value of an object; with a comma before it unless it is the first. */
void lat_json_key(FILE *to, bool first, const char *key);
