/* SPDX-License-Identifier: BSD-3-Clause */
/* build.c: how these tools were built, defined by the Makefile. */
#include "build.h"

#ifndef LAT_BUILD
#define LAT_BUILD "an unknown compiler"
#define LAT_NO_CUDA "not built"
#define LAT_NO_CUFFT "not built"
#define LAT_NO_HDF5 "not built"
#define LAT_NO_MPI "not built"
#endif
#ifndef LAT_HDF5
#define LAT_HDF5 ""
#endif

const char lat_built_with[] = LAT_BUILD;
const char lat_no_cuda[] = LAT_NO_CUDA, lat_no_cufft[] = LAT_NO_CUFFT, lat_no_hdf5[] = LAT_NO_HDF5,
           lat_no_mpi[] = LAT_NO_MPI;
const char lat_hdf5_name[] = LAT_HDF5;
