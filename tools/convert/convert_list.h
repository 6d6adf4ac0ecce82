/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_list.h: lat-convert --list. */
#ifndef LAT_CONVERT_LIST_H
#define LAT_CONVERT_LIST_H

#include <stdbool.h>
#include "formats/format.h"

/* ---- convert_list.c -------------------------------------------------------------------------- */

bool lat_convert_writes(const lat_format *f);

int lat_convert_print_list(void);

#endif
