/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.h: the part of a lattice that a rank has, how its sites lie in memory, and fields on them.
 *
 * Ranks cut the lattice into boxes (lattice/box.h); those with GPUs into slabs, consecutive slices
 * of the last axis, or for spinors into boxes, too. Where a field is asked for at
 * neighbouring sites there is a halo: ghosts around the box, along the axes that are cut, copies of
 * the neighbours' faces (halo.h). Sites have a parity, the parity of x + y + z + t.
 *
 * A grid may be cut into independent slices across one direction (Coulomb gauge): these are
 * lattices of one dimension less. A rank has slots for some of them; slice[slot] says which one a
 * slot holds. Otherwise there is one slot, the box itself. A unit is the part of one member of a
 * field in one slot: number member * slots + slot.
 *
 * Functions return 0 or a pointer, or -1 or NULL with lat_error set. Every rank calls every
 * function but those that say otherwise. C and C++. */
#pragma once

#include <stdint.h>
#include "device.h"
#include "lattice/box.h"

/* How a real number is stored on a device. HALF: 16-bit fixed point with a norm a site, on GPUs.
 * Who asks for it uses a switch without default, so that a new one is not taken for another. */
typedef enum { LAT_STORAGE_SINGLE, LAT_STORAGE_DOUBLE, LAT_STORAGE_HALF } lat_storage;

/* Bytes of a real. */
static inline size_t lat_storage_bytes(lat_storage s)
{
    switch (s) {
    case LAT_STORAGE_SINGLE: return 4;
    case LAT_STORAGE_DOUBLE: return 8;
    case LAT_STORAGE_HALF: return 2;
    }
    return 0;
}

/* "single", "double", "half". */
static inline const char *lat_storage_name(lat_storage s)
{
    switch (s) {
    case LAT_STORAGE_SINGLE: return "single";
    case LAT_STORAGE_DOUBLE: return "double";
    case LAT_STORAGE_HALF: return "half";
    }
    return "";
}

/* The storage of a host field's precision. */
static inline lat_storage lat_storage_of(lat_real real)
{
    switch (real) {
    case LAT_F32: return LAT_STORAGE_SINGLE;
    case LAT_F64: return LAT_STORAGE_DOUBLE;
    }
    return LAT_STORAGE_DOUBLE;
}

/* ---- grids ----------------------------------------------------------------------------------- */

typedef struct lat_grid_spec {
    lat_geometry lattice; /* of all ranks; even extents along every axis of a slot */
    lat_storage storage;  /* of the grid's fields */
    int across;           /* direction across which slices are independent lattices, or -1 */
    bool odd;             /* odd extents, too: for what needs no even and odd sites. On the CPU. */
    bool spinors;         /* its fields are those of spaces (vector/space.h) */
} lat_grid_spec;

/* What both kinds of device tell of a grid; theirs begin with it. */
typedef struct lat_grid {
    lat_device *dev;
    lat_grid_spec spec;
    lat_geometry slot;         /* the lattice of a slot as all ranks have it */
    int axis[LAT_MAX_DIMS];    /* the lattice's axis for each axis of a slot */
    lat_box box;               /* this rank's, but where slots are distributed */
    lat_slab slab;             /* this rank's slices along the lattice's last axis */
    lat_geometry here;         /* extents of this rank's part of a slot */
    bool cut[LAT_MAX_DIMS];    /* there are ghosts along this axis of a slot ... */
    bool halo;                 /* ... along one of them */
    bool boxed;                /* slices across the last axis are cut, too */
    bool distributed;          /* slots are whole slices, of which ranks have different ones */
    int slices;                /* independent slices on all ranks, 1 if across is -1 */
    int slots, *slice;         /* [slots]: the slice of each, or -1 */
    struct lat_dfield *fields; /* all that were made and not freed, the last one first */
} lat_grid;

/* Fails with a usage error where ranks cannot so cut the lattice, and with a sentence where an
 * extent is odd. The slots hold the rank's own slices, in order. */
lat_grid *lat_grid_new(lat_device *dev, const lat_grid_spec *spec);

/* The same for spaces (vector/space.h), on the whole lattice. */
lat_grid *lat_grid_of_spinors(lat_device *dev, const lat_geometry *lattice, lat_storage storage);
void lat_grid_free(lat_grid *grid); /* and its fields that are left; NULL is allowed */

/* Has this rank failed where kernels of its GPU may wait for neighbours? Then they may never end:
 * nothing of the grid (NULL: false) is freed, and the process is about to end. */
bool lat_grid_stuck(const lat_grid *grid);

/* As many slots; before the first field is made. New ones are empty. */
int lat_grid_set_slots(lat_grid *grid, int slots);

/* Says that a slot holds this slice from now on, or none (-1). One rank may call it alone. */
void lat_grid_assign(lat_grid *grid, int slot, int slice);

/* ---- fields ---------------------------------------------------------------------------------- */

/* What a field has at a site: so many objects of so many stored reals. A matrix field (nc > 0)
 * stores the first reals / (2 nc) rows of nc x nc matrices. Other rows follow from these, for nc 2
 * and 3. Links: nd objects; a transformation g: 1 object; a spinor: 1 object of 24 reals, nc 0. */
typedef struct lat_shape {
    int objects, reals, nc;
    bool ghosts; /* has them where the grid has a halo */
    bool both;   /* links at both ends of a site, 2 nd objects: first U_mu(x), then U_mu(x-mu)^+ */
    int half; /* not 0: on a GPU, numbers at even sites (1) or at odd ones (2) alone; others are not
               * to be touched, as two such fields share memory */
    bool edges; /* ghosts also where two axes are cut, a step away along each */
} lat_shape;

/* The rows of a matrix of SU(nc) that others do not follow from. */
static inline int lat_free_rows(int nc) { return nc <= 3 ? nc - 1 : nc; }

/* Links that are in SU(nc), with ghosts and edges. */
static inline lat_shape lat_shape_of_links(int nd, int nc)
{
    const lat_shape links = {nd, 2 * nc * lat_free_rows(nc), nc, true, false, 0, true};
    return links;
}

/* `members` fields of one shape side by side: Gribov copies, right-hand sides.
 * CPU: [unit][block][object][real][lane]; GPU: [unit][parity][group][object][16-byte chunk][32]. */
typedef struct lat_dfield {
    lat_grid *grid;
    lat_shape shape;
    int members;
    size_t unit_bytes;
    void *data;
    struct lat_halo *halo; /* halo.h; NULL without ghosts */
    struct lat_pair *pair; /* memory that a field of other sites shares (grid/cuda_dfield.cu) */
    struct lat_dfield *next;
} lat_dfield;

/* Bytes of a unit of a field of that shape on this rank. */
size_t lat_dfield_unit_bytes(const lat_grid *grid, lat_shape shape);

/* Undefined numbers; `what` is for messages about memory: "the links". */
lat_dfield *lat_dfield_new(lat_grid *grid, lat_shape shape, int members, const char *what);
void lat_dfield_free(lat_dfield *f); /* NULL is allowed */

/* A host field as this rank has it on the grid: itself, or, where the grid is of boxes, *part, with
 * ghosts; to be freed in either case. NULL with lat_error set. All ranks call it. */
const lat_field *lat_grid_host(const lat_grid *grid, const lat_field *host, lat_field *part);

/* The same where somebody may have that already: `there`, if it is not NULL. */
const lat_field *lat_grid_there(const lat_grid *grid, const lat_field *host, const lat_field *there,
                                lat_field *part);

/* A host field into a member, rounded once to the grid's storage, ghosts too; NULL: unit matrices.
 * Idle lanes get unit matrices. `weight`, if not NULL: the object of lattice direction mu is
 * multiplied by weight[mu] before it is rounded. Only for slots that hold the rank's own slices. */
int lat_dfield_put(lat_dfield *f, int member, const lat_field *host, const double *weight);

/* And back, bit for bit what is stored; rows that are not stored are completed in double. Own sites
 * only: call lat_field_exchange where ghosts of the host field are wanted. */
int lat_dfield_get(const lat_dfield *f, int member, lat_field *host);

/* Sends a unit to another rank or receives it from there, as it lies: these two ranks call it. */
int lat_dfield_migrate(lat_dfield *f, int unit, int rank, bool send);
