/* SPDX-License-Identifier: BSD-3-Clause */
/* tuned.h: which of several ways a device was fastest with, remembered from run to run.
 *
 * Results never depend on it: ways differ in the order of work alone. What was measured once, for a
 * card, a lattice and a precision, is a line of the file
 *
 *     $XDG_CACHE_HOME/lat/tuned-1      (~/.cache/lat/tuned-1 where that is not set)
 *
 * which may be deleted at any time. Its lines have five columns, with tabs between:
 *
 *     program and version, what runs where, the fastest way, its time, the usual way's time
 *
 * A line that is none, or a file that is none, is ignored with a warning, and measured anew. Lines
 * of other versions and cards stay as they are. Many processes may have the file at once: it is
 * replaced as a whole. C and C++. */
#ifndef LAT_GRID_TUNED_H
#define LAT_GRID_TUNED_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    LAT_TUNE_ONCE, /* measure what is not known */
    LAT_TUNE_ANEW, /* measure all that runs, once a run, and say what is found */
    LAT_TUNE_NEVER /* neither measure nor look: the usual way */
} lat_tune;

enum { LAT_TUNED_WAY = 64 };

/* How a way was found. */
typedef struct lat_tuned {
    char way[LAT_TUNED_WAY]; /* words of whoever measures */
    double time, usual;      /* microseconds, of this way and of the usual one */
} lat_tuned;

/* For the whole process; LAT_TUNE_ONCE unless set. */
void lat_tuned_set(lat_tune mode);
lat_tune lat_tuned_mode(void);

/* The way for `what` ("card, lattice, precision, ..", without tabs and newlines), if it is known
 * and need not be measured. */
bool lat_tuned_find(const char *what, lat_tuned *found);

/* Keeps it, here and in the file. A file that cannot be written is no failure: with -v it is said.
 */
void lat_tuned_keep(const char *what, const lat_tuned *found);

/* What was found for `what` makes no sense to whoever measures: a warning; it is forgotten. */
void lat_tuned_reject(const char *what, const char *expected);

/* Forgets what is in memory; the file is read again. */
void lat_tuned_forget(void);

#ifdef __cplusplus
}
#endif
#endif
