/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_list.h: lat-convert --list. */
#ifndef LAT_CONVERT_LIST_H
#define LAT_CONVERT_LIST_H

/* An exit status. */
int lat_convert_print_list(void);

#endif
