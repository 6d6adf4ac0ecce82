/* SPDX-License-Identifier: BSD-3-Clause */
/* build.c: how these tools were built, defined by the Makefile. */
#include "build.h"

#ifndef LAT_BUILD
#define LAT_BUILD "an unknown compiler"
#define LAT_NO_CUDA "not built"
#define LAT_NO_CUFFT "not built"
#define LAT_NO_MPI "not built"
#endif

const char lat_built_with[] = LAT_BUILD;
const char lat_no_cuda[] = LAT_NO_CUDA, lat_no_cufft[] = LAT_NO_CUFFT, lat_no_mpi[] = LAT_NO_MPI;
