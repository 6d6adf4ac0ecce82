/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_library.c: the HDF5 library, opened when a file needs it. Empty without LAT_HDF5. */
#ifdef LAT_HDF5
#include "hdf5_library.h"

#include <dlfcn.h>
#include <string.h>
#include "base/error.h"

static lat_hdf5 functions;

#define PLACE(name) {"H5" #name, &functions.name},
static const struct {
    const char *name;
    void *pointer;
} places[] = {LAT_EACH_HDF5(PLACE)};

/* The address of each. POSIX has a function in a void * for dlsym alone: hence memcpy. */
static int find_all(void *library, const char *file)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *const found = dlsym(library, places[i].name);
        if (!found)
            return lat_fail("%s: HDF5: expected %s in the library %s, found none", file,
                            places[i].name, LAT_HDF5);
        memcpy(places[i].pointer, &found, sizeof found);
    }
    return 0;
}

const lat_hdf5 *lat_hdf5_open(const char *file)
{
    static void *library;
    if (library)
        return &functions;
    void *const opened = dlopen(LAT_HDF5, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        lat_fail("%s: HDF5: expected the library %s, found: %s", file, LAT_HDF5, dlerror());
        return NULL;
    }
    if (find_all(opened, file) < 0)
        return NULL;
    if (functions.open() < 0) {
        lat_fail("%s: HDF5: the library %s does not start", file, LAT_HDF5);
        return NULL;
    }
    library = opened;
    return &functions;
}

#else
typedef int lat_without_hdf5; /* a file has a declaration */
#endif
