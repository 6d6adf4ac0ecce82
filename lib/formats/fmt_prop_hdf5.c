/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_prop_hdf5.c: spinors and propagators in HDF5 files of QDP++ and lalibe.
 *
 * A dataset of shape [t][z][y][x] whose elements are nested arrays [spin][source spin] of
 * [colour][source colour] (or [spin] of [colour]) of a compound of re and im. A file may hold
 * several: --dataset names one.
 *
 * The file is in memory while the library reads or writes it, so it may come through a pipe. The
 * library is opened for the first one. Built without it (no LAT_HDF5) both functions say so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "quarks.h"
#ifdef LAT_HDF5
#include "hdf5_library.h"
#else
#include "base/build.h"
#endif

#define MAGIC "\x89HDF\r\n\x1a\n"

#ifdef LAT_HDF5

#define MOST ((size_t)1 << 36) /* bytes of a file */

static const lat_hdf5 *h5; /* the library, as soon as a file needs it */

static const char *axes_of(lat_kind kind)
{
    return kind == LAT_PROPAGATOR ? "tzyxsScCi" : "tzyxsci";
}

/* ---- reading --------------------------------------------------------------------------------- */

/* All bytes of the input; NULL with lat_error set. */
static char *read_all(lat_input *in, size_t *n)
{
    size_t capacity = (size_t)1 << 20;
    char *bytes = NULL;
    for (*n = 0;;) {
        char *more = realloc(bytes, capacity);
        const ssize_t got = more ? lat_input_read_some(in, more + *n, capacity - *n) : -1;
        bytes = more ? more : bytes;
        if (got <= 0) {
            if (got == 0)
                return bytes;
            free(bytes);
            return more ? NULL
                        : (lat_fail("%s: out of memory after %zu bytes", lat_input_name(in), *n),
                           NULL);
        }
        *n += (size_t)got;
        capacity = *n == capacity ? 2 * capacity : capacity;
        if (capacity > MOST) {
            free(bytes);
            lat_fail("%s: expected at most %zu bytes", lat_input_name(in), MOST);
            return NULL;
        }
    }
}

/* The elements of a dataset: bytes of a real, and which kind they are. False if they are none of
 * ours. */
static bool classify(hid_t type, lat_kind *kind, lat_real *real)
{
    hsize_t d[8], all[8];
    int rank = 0;
    hid_t inner = h5->Tcopy(type);
    while (inner >= 0 && h5->Tget_class(inner) == H5T_ARRAY) {
        const int n = h5->Tget_array_ndims(inner);
        if (n < 1 || n > 4 || rank + n > 8 || h5->Tget_array_dims2(inner, d) < 0)
            break;
        for (int i = 0; i < n; i++)
            all[rank++] = d[i];
        const hid_t super = h5->Tget_super(inner);
        h5->Tclose(inner);
        inner = super;
    }
    const bool complex = inner >= 0 && h5->Tget_class(inner) == H5T_COMPOUND
                         && h5->Tget_nmembers(inner) == 2
                         && h5->Tget_member_class(inner, 0) == H5T_FLOAT
                         && h5->Tget_member_class(inner, 1) == H5T_FLOAT;
    const size_t bytes = inner >= 0 ? h5->Tget_size(inner) : 0;
    if (inner >= 0)
        h5->Tclose(inner);
    *kind = rank == 4 ? LAT_PROPAGATOR : LAT_SPINOR;
    *real = bytes == 16 ? LAT_F64 : LAT_F32;
    return complex && (bytes == 8 || bytes == 16)
           && ((rank == 4 && all[0] == 4 && all[1] == 4 && all[2] == 3 && all[3] == 3)
               || (rank == 2 && all[0] == 4 && all[1] == 3));
}

typedef struct search {
    char name[1000]; /* of all, with commas between */
    int found;
} search;

/* H5Ovisit: datasets of spinors. */
static herr_t on_object(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
    search *s = context;
    lat_kind kind;
    lat_real real;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    const hid_t set = h5->Dopen2(file, name, H5P_DEFAULT);
    const hid_t type = set < 0 ? -1 : h5->Dget_type(set);
    if (type >= 0 && classify(type, &kind, &real)) {
        const size_t n = strlen(s->name);
        snprintf(s->name + n, sizeof s->name - n, "%s%s", s->found++ ? ", " : "", name);
    }
    if (type >= 0)
        h5->Tclose(type);
    if (set >= 0)
        h5->Dclose(set);
    return 0;
}

/* The type of a site in memory or, of little-endian reals, in a file that is written. Its bytes are
 * an array of reals without gaps. */
static hid_t site_type(lat_kind kind, lat_real real, const char member[2][64], bool in_file)
{
    const hid_t one = real == LAT_F64 ? (in_file ? *h5->T_IEEE_F64LE_g : *h5->T_NATIVE_DOUBLE_g)
                                      : (in_file ? *h5->T_IEEE_F32LE_g : *h5->T_NATIVE_FLOAT_g);
    const hsize_t spins[2] = {4, 4}, colours[2] = {3, 3};
    const unsigned rank = kind == LAT_PROPAGATOR ? 2 : 1;
    const hid_t complex = h5->Tcreate(H5T_COMPOUND, 2 * (size_t)real);
    h5->Tinsert(complex, member[0], 0, one);
    h5->Tinsert(complex, member[1], (size_t)real, one);
    const hid_t inner = h5->Tarray_create2(complex, rank, colours),
                whole = h5->Tarray_create2(inner, rank, spins);
    h5->Tclose(complex);
    h5->Tclose(inner);
    return whole;
}

/* The two members of a complex number, re and im: QDP++ and h5py call them r and i. */
static bool names_of(hid_t type, char name[2][64])
{
    hid_t inner = h5->Tcopy(type);
    while (h5->Tget_class(inner) == H5T_ARRAY) {
        const hid_t super = h5->Tget_super(inner);
        h5->Tclose(inner);
        inner = super;
    }
    bool good = true;
    for (unsigned i = 0; i < 2; i++) {
        char *text = h5->Tget_member_name(inner, i);
        good = good && text && strlen(text) < sizeof name[i];
        if (good)
            strcpy(name[i], text);
        h5->free_memory(text);
    }
    h5->Tclose(inner);
    return good;
}

/* The numbers, after the header is known. */
static int read_numbers(lat_input *in, lat_field *f, hid_t set, lat_kind kind,
                        const char member[2][64], const char *dataset)
{
    const lat_quark_array a = {.axes = axes_of(kind)};
    const char *name = lat_input_name(in);
    if (lat_geometry_check(&f->head.geom, name) < 0 || lat_quark_alloc(in, f, kind, 0) < 0)
        return -1;
    void *bytes = lat_alloc(lat_field_reals(f), (size_t)f->head.real, "a dataset");
    const hid_t memory = site_type(kind, f->head.real, member, false);
    int rc = bytes ? 0 : -1;
    if (bytes && h5->Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) < 0)
        rc = lat_fail("%s: dataset %s cannot be read (damaged?)", name, dataset);
    if (rc == 0)
        lat_quark_array_set(f, &a, bytes);
    h5->Tclose(memory);
    free(bytes);
    return rc;
}

/* Extents from the shape, kind and precision from the elements. */
static int read_shape(const char *name, lat_header *head, hid_t type, hid_t space, lat_kind *kind,
                      char member[2][64], const char *dataset)
{
    hsize_t d[4] = {0};
    if (type < 0 || space < 0 || !classify(type, kind, &head->real) || !names_of(type, member)
        || h5->Sget_simple_extent_ndims(space) != 4
        || h5->Sget_simple_extent_dims(space, d, NULL) != 4)
        return lat_fail("%s: expected a propagator of QDP++ in dataset %s, [t][z][y][x] of nested "
                        "arrays of complex numbers, found something else",
                        name, dataset);
    head->geom.nd = 4;
    for (int i = 0; i < 4; i++)
        head->geom.dims[3 - i] = d[i] <= 65535 ? (int)d[i] : 65536; /* refused */
    return 0;
}

static int read_set(lat_input *in, lat_field *f, hid_t set, const char *dataset)
{
    const hid_t type = h5->Dget_type(set), space = h5->Dget_space(set);
    lat_kind kind = LAT_SPINOR;
    char member[2][64];
    const int rc = read_shape(lat_input_name(in), &f->head, type, space, &kind, member, dataset) < 0
                       ? -1
                       : read_numbers(in, f, set, kind, (const char(*)[64])member, dataset);
    if (type >= 0)
        h5->Tclose(type);
    if (space >= 0)
        h5->Sclose(space);
    return rc;
}

static int choose(const char *name, hid_t file, const lat_quark_hints *h, search *s)
{
    if (h->dataset) {
        snprintf(s->name, sizeof s->name, "%s", h->dataset);
        return 0;
    }
    h5->Ovisit1(file, H5_INDEX_NAME, H5_ITER_INC, on_object, s);
    return s->found == 1
               ? 0
               : lat_fail("%s: expected one dataset of spinors or propagators, found %d%s%.400s%s",
                          name, s->found, s->found ? " (" : "", s->name,
                          s->found ? "): lat-convert --dataset names one" : "");
}

/* A file of these bytes in memory, or an empty one. */
static hid_t open_image(void *bytes, size_t n)
{
    const hid_t access = h5->Pcreate(*h5->P_CLS_FILE_ACCESS_ID_g);
    h5->Pset_fapl_core(access, (size_t)1 << 20, false);
    if (bytes)
        h5->Pset_file_image(access, bytes, n);
    const hid_t file = bytes ? h5->Fopen("image", H5F_ACC_RDONLY, access)
                             : h5->Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    h5->Pclose(access);
    return file;
}

static int read_hdf5(lat_input *in, lat_field *f, const lat_quark_hints *h)
{
    const char *name = lat_input_name(in);
    search s = {.found = 0};
    size_t n;
    char *bytes = (h5 = lat_hdf5_open(name)) ? read_all(in, &n) : NULL;
    if (!bytes)
        return -1;
    h5->Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = open_image(bytes, n);
    free(bytes);
    if (file < 0)
        return lat_fail("%s: expected an HDF5 file, found a damaged or truncated one", name);
    int rc = choose(name, file, h, &s);
    const hid_t set = rc ? -1 : h5->Dopen2(file, s.name, H5P_DEFAULT);
    if (rc == 0 && set < 0)
        rc = lat_fail("%s: expected a dataset %s, found none", name, s.name);
    if (rc == 0)
        rc = read_set(in, f, set, s.name);
    if (set >= 0)
        h5->Dclose(set);
    h5->Fclose(file);
    return rc ? -1 : lat_set_source(&f->head, "HDF5 of QDP++, dataset %s", s.name);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* No clock: the same input gives the same bytes. */
static int write_set(hid_t file, const lat_field *f, const void *bytes)
{
    static const char member[2][64] = {"r", "i"};
    const int *x = f->head.geom.dims;
    const hsize_t d[4] = {(hsize_t)x[3], (hsize_t)x[2], (hsize_t)x[1], (hsize_t)x[0]};
    const hid_t create = h5->Pcreate(*h5->P_CLS_DATASET_CREATE_ID_g),
                space = h5->Screate_simple(4, d, NULL),
                stored = site_type(f->head.kind, f->head.real, member, true),
                memory = site_type(f->head.kind, f->head.real, member, false);
    h5->Pset_obj_track_times(create, false);
    const hid_t set = h5->Dcreate2(file, "propagator", stored, space, H5P_DEFAULT, create,
                                   H5P_DEFAULT);
    const bool good = set >= 0
                      && h5->Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0;
    if (set >= 0)
        h5->Dclose(set);
    h5->Tclose(memory);
    h5->Tclose(stored);
    h5->Sclose(space);
    h5->Pclose(create);
    return good && h5->Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? 0 : -1;
}

static int write_image(lat_output *out, hid_t file)
{
    const ssize_t n = h5->Fget_file_image(file, NULL, 0);
    void *image = n > 0 ? lat_alloc((size_t)n, 1, "an HDF5 file") : NULL;
    const int rc = image && h5->Fget_file_image(file, image, (size_t)n) == n
                       ? lat_output_write(out, image, (size_t)n)
                       : lat_fail("%s: the HDF5 file cannot be made", lat_output_name(out));
    free(image);
    return rc;
}

static int write_hdf5(lat_output *out, const lat_field *f)
{
    const lat_quark_array a = {.axes = axes_of(f->head.kind)};
    void *bytes = (h5 = lat_hdf5_open(lat_output_name(out)))
                      ? lat_alloc(lat_field_reals(f), (size_t)f->head.real, "a dataset")
                      : NULL;
    if (!bytes)
        return -1;
    lat_quark_array_take(f, &a, bytes);
    h5->Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = open_image(NULL, 0);
    int rc = file < 0 || write_set(file, f, bytes) < 0
                 ? lat_fail("%s: the HDF5 file cannot be made", lat_output_name(out))
                 : write_image(out, file);
    if (file >= 0)
        h5->Fclose(file);
    free(bytes);
    return rc;
}

#else

static int read_hdf5(lat_input *in, lat_field *f, const lat_quark_hints *h)
{
    (void)f, (void)h;
    return lat_fail("%s: is an HDF5 file, and these tools were built without the HDF5 library (%s)",
                    lat_input_name(in), lat_no_hdf5);
}

static int write_hdf5(lat_output *out, const lat_field *f)
{
    (void)f;
    return lat_fail("%s: these tools were built without the HDF5 library (%s)",
                    lat_output_name(out), lat_no_hdf5);
}

#endif

const lat_format lat_format_hdf5_prop = {
    .name = "hdf5-prop",
    .extension = ".h5",
    .about = "HDF5 of QDP++ and lalibe; --dataset",
    .begins = {MAGIC},
    .quarks = LAT_HOLDS_PROPAGATORS | LAT_HOLDS_SPINORS,
    .proven = true,
    .read = read_hdf5,
    .write = write_hdf5,
};
