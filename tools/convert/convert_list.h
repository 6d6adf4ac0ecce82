/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_list.h: the list of formats, for options and for --list. */
#pragma once

#include "formats/format.h"

/* Their names, as words of an option, after what `names` has; 512 bytes suffice. */
void lat_convert_names(char *names);

/* --list; an exit status. */
int lat_convert_print_list(void);

/* Does a file of this format have such an extension, ".nersc"? */
bool lat_convert_extends(const lat_format *f, const char *dot);

/* The format with this extension that holds what `in`, of `format`, has: matrices or spinors; `to`
 * where there is no other one. A number in lat_formats. */
int lat_convert_twin(lat_input *in, const lat_format *format, const char *dot, int to);
