/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_list.h: the list of formats, for options and for --list. */
#pragma once

/* Their names, as words of an option, after what `names` has; 512 bytes suffice. */
void lat_convert_names(char *names);

/* --list; an exit status. */
int lat_convert_print_list(void);
