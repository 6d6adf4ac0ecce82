/* SPDX-License-Identifier: BSD-3-Clause */
/* numbered.h: names of numbered files, such as cfg.%04d.lat. */
#pragma once

/* How many numbers "%d" or "%04d" there are in a name (NULL: none); -1 if another % is in it. */
int lat_numbers_in(const char *name);

/* The name of file `number`, of a name with one number in it. NULL, with lat_error set, without
 * memory. The caller frees it. */
char *lat_numbered(const char *name, long number);
