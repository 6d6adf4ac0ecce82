/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h: how many threads there are, and memcpy by all of them: one alone does not fill the way
 * to memory or to a device. */
#ifndef LAT_COPY_H
#define LAT_COPY_H

#include <stddef.h>

/* Those that a team will have. */
int lat_threads(void);

/* `times` as many from now on, as far as there are processors for them; how many there were, for
 * lat_threads_set. */
int lat_threads_widen(int times);
void lat_threads_set(int n);

void lat_memcpy(void *to, const void *from, size_t bytes);

#endif
