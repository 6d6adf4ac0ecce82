/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_library.h: the HDF5 library, opened when a file needs it.
 *
 * Every tool reads every format, but few runs meet an HDF5 file, and the library brings some thirty
 * others: a tool that is linked with it starts in three times the time. So tools know its name
 * alone (LAT_HDF5, by the Makefile: the one that a program asks for which is linked with it, whose
 * number is the version of the interface in hdf5.h).
 *
 * Its functions are called as h5->Tclose(type) for H5Tclose(type); its constants are *h5->T_..._g.
 * What is called stands in the list below. */
#ifndef LAT_HDF5_LIBRARY_H
#define LAT_HDF5_LIBRARY_H
#ifdef LAT_HDF5 /* hdf5.h is there */

#define H5_USE_110_API /* later versions have other ones of the same names */
#include <hdf5.h>

/* Macros of hdf5.h that call the library in a number; lat_hdf5_open did. */
#undef H5OPEN
#define H5OPEN
#undef H5CHECK
#define H5CHECK

/* clang-format off */
#define LAT_EACH_HDF5(X) \
    X(open) X(free_memory) X(Eset_auto2) \
    X(Fcreate) X(Fopen) X(Fflush) X(Fget_file_image) X(Fclose) X(Ovisit1) \
    X(Pcreate) X(Pset_fapl_core) X(Pset_file_image) X(Pset_obj_track_times) X(Pclose) \
    X(P_CLS_FILE_ACCESS_ID_g) X(P_CLS_DATASET_CREATE_ID_g) \
    X(Dcreate2) X(Dopen2) X(Dget_space) X(Dget_type) X(Dread) X(Dwrite) X(Dclose) \
    X(Screate_simple) X(Sget_simple_extent_dims) X(Sget_simple_extent_ndims) X(Sclose) \
    X(Tarray_create2) X(Tcopy) X(Tcreate) X(Tget_array_dims2) X(Tget_array_ndims) X(Tget_class) \
    X(Tget_member_class) X(Tget_member_name) X(Tget_nmembers) X(Tget_size) X(Tget_super) \
    X(Tinsert) X(Tclose) \
    X(T_IEEE_F32LE_g) X(T_IEEE_F64LE_g) X(T_NATIVE_FLOAT_g) X(T_NATIVE_DOUBLE_g)
/* clang-format on */

#define LAT_HDF5_POINTER(name) __typeof__(&H5##name) name;
typedef struct lat_hdf5 {
    LAT_EACH_HDF5(LAT_HDF5_POINTER)
} lat_hdf5;

/* The library, open until the program ends. NULL if it is not found, or has not all of these; the
 * sentence begins with `file`, the file that needs it. */
const lat_hdf5 *lat_hdf5_open(const char *file);

#endif
#endif
