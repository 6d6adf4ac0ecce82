/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h: memcpy by all threads: one alone does not fill the way to memory or to a device. */
#ifndef LAT_COPY_H
#define LAT_COPY_H

#include <stddef.h>

void lat_copy(void *to, const void *from, size_t bytes);

#endif
