/* SPDX-License-Identifier: BSD-3-Clause */
/* build.h: how these tools were built. The Makefile tells build.c alone, so that nothing else is
 * compiled again when it finds something more. */
#ifndef LAT_BUILD_H
#define LAT_BUILD_H

extern const char lat_built_with[]; /* the compiler, OpenMP, sanitizers */
extern const char lat_no_cuda[], lat_no_cufft[],
    lat_no_mpi[]; /* why it is left out; "" where it is not */

#endif
