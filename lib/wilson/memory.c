/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: counts what wilson.c, the methods and lib/dirac allocate. */
#include "wilson/memory.h"

#include <math.h>
#include "base/error.h"
#include "lattice/box.h"
#include "vector/faces.h"

/* What all sizes depend on. */
typedef struct count {
    double sites;  /* of a rank, the largest one */
    double slices; /* that faces take, in sites */
    double all;    /* of the lattice */
    int nc;        /* colours in the device's memory */
    const lat_wilson_options *o;
    const lat_wilson_use *use;
    double sums; /* bytes of a column that ranks give each other where GPUs cut y */
    bool clover, gpu, boxes;
    double share; /* of a vector's memory that one of S takes */
} count;

static double real_bytes(lat_storage storage)
{
    return storage == LAT_STORAGE_DOUBLE ? 8 : storage == LAT_STORAGE_SINGLE ? 4 : 2;
}

/* So many vectors of all columns. */
static double vectors(const count *k, lat_storage storage, int n)
{
    const double norm = storage == LAT_STORAGE_HALF ? 4 : 0;
    return k->sites * n * k->o->columns * (8 * k->nc * real_bytes(storage) + norm);
}

/* The same of the system that iterations solve. */
static double vectors_of_s(const count *k, lat_storage storage, int n)
{
    return vectors(k, storage, (int)ceil(n * k->share));
}

/* Links, clover blocks, vectors between hops, faces, partial sums. */
static double operator_of(const count *k, lat_storage storage, bool dagger)
{
    const int asked = k->o->dirac.reals, all = 2 * k->nc * k->nc,
              reals = k->gpu  ? asked == 12 || asked == 4 ? 12 : 18 /* dirac.h: as SU(3) */
                      : asked ? asked
                              : all,
              between = 1 + (dagger && k->o->form == LAT_SYMMETRIC);
    const double real = real_bytes(storage), blocks = k->clover ? 16.0 * k->nc * k->nc : 0;
    return k->sites * real * (8 * reals + blocks) + vectors_of_s(k, storage, between)
           + vectors(k, storage, 1) * k->slices / k->sites
           + k->sites * k->o->columns * (k->gpu ? 8 : 64) + k->o->columns * k->sums;
}

/* Vectors of a method in the precision of its iterations, besides x and r: of CG s, q and p. */
static int method(const count *k, bool spare)
{
    switch (k->use->solver) {
    case LAT_SOLVER_CG: return 3;
    case LAT_SOLVER_AUTO: return spare ? 10 : 3;
    case LAT_SOLVER_BICGSTAB: return 3;
    case LAT_SOLVER_BICGSTABL: return 10;
    case LAT_SOLVER_GCR: return 3; /* of its preconditioner */
    case LAT_SOLVER_MR: return 1;
    case LAT_SOLVER_MG: return 3; /* of CG; others are counted apart */
    }
    return 10;
}

/* The operator that iterations apply. Where ranks have faces, those of single, too, for x of CG in
 * half. */
static double inner_operator(const count *k, lat_storage storage, bool spare)
{
    const bool dagger = k->use->solver == LAT_SOLVER_CG
                        || (k->use->solver == LAT_SOLVER_AUTO && spare);
    const double of_x = storage == LAT_STORAGE_HALF && dagger
                            ? vectors(k, LAT_STORAGE_SINGLE, 1) * k->slices / k->sites
                            : 0;
    return operator_of(k, storage, dagger) + of_x;
}

/* x, r and the vectors of the method, which are given back when another method or precision begins.
 * x of CG in half is in single; of AUTO, BiCGstab(l) has the most, in half. */
static double iterated(const count *k, lat_storage storage, bool spare)
{
    const bool x_is_single = storage == LAT_STORAGE_HALF && k->use->solver == LAT_SOLVER_CG;
    return vectors_of_s(k, x_is_single ? LAT_STORAGE_SINGLE : storage, 1)
           + vectors_of_s(k, storage, 1 + method(k, spare));
}

/* A multigrid: P; of all ranks matrices of 48 rows for each 256 sites (lib/multigrid); and what its
 * setup takes, with test vectors and a space of eight columns, or its solves, if more (light.c). */
static double multigrid(const count *k)
{
    const double spinor = 4 * k->nc, vectors_of = 24, rows = 2 * vectors_of,
                 prolongation = (k->sites + k->slices / 2) * spinor * vectors_of * 8;
    const bool few = k->o->columns < LAT_MULTIGRID_COLUMNS,
               own = few || k->o->inner == LAT_STORAGE_HALF;
    lat_wilson_options o = *k->o;
    count eight = *k, wide = *k;
    o.columns = LAT_MULTIGRID_COLUMNS;
    eight.o = &o;
    wide.o = few ? &o : k->o;
    const double setup = operator_of(&eight, LAT_STORAGE_SINGLE, false) + prolongation
                         + vectors(&eight, LAT_STORAGE_SINGLE, 1)
                         + vectors_of_s(&eight, LAT_STORAGE_SINGLE, 22),
                 solve = (own ? operator_of(&wide, LAT_STORAGE_SINGLE, false) : 0)
                         + (few ? iterated(&wide, LAT_STORAGE_SINGLE, false) : 0)
                         + vectors_of_s(&wide, LAT_STORAGE_SINGLE, 17);
    return fmax(setup, solve) + prolongation + k->sites * spinor * 32
           + k->all * 16 * rows * rows * 8 / 256;
}

static double in_all(const count *k, bool spare)
{
    const lat_storage storage = k->o->inner;
    const bool mixed = storage != LAT_STORAGE_DOUBLE && !k->use->twists;
    const lat_solver solver = k->use->solver;
    /* b and x, the temporal gauge, and on a CPU the links of a box */
    double bytes = vectors(k, LAT_STORAGE_DOUBLE, 2)
                   + (k->sites + k->slices) * 2 * k->nc * k->nc * 8 * (k->boxes ? 5 : 1);
    if (k->use->twists)
        return bytes + operator_of(k, LAT_STORAGE_DOUBLE, true)
               + vectors(k, LAT_STORAGE_DOUBLE, 4 + 2 * k->use->twists);
    if (solver == LAT_SOLVER_GCR)
        bytes += vectors_of_s(k, LAT_STORAGE_DOUBLE, 16);
    bytes += k->sites * 8 * k->nc * 8 * k->use->modes;
    if (k->o->multigrid && (solver == LAT_SOLVER_MG || spare))
        bytes += multigrid(k);
    if (!mixed)
        return bytes + inner_operator(k, LAT_STORAGE_DOUBLE, spare)
               + iterated(k, LAT_STORAGE_DOUBLE, spare)
               - vectors_of_s(k, LAT_STORAGE_DOUBLE, 1); /* x is that of the solution */
    bytes += operator_of(k, LAT_STORAGE_DOUBLE, solver == LAT_SOLVER_CG)
             + vectors_of_s(k, LAT_STORAGE_DOUBLE, 1);
    bytes += inner_operator(k, storage, spare);
    if (storage != LAT_STORAGE_HALF || !spare)
        return bytes + iterated(k, storage, spare);
    /* Single begins when the vectors of half are given back. */
    return bytes + inner_operator(k, LAT_STORAGE_SINGLE, spare)
           + iterated(k, LAT_STORAGE_SINGLE, spare);
}

static bool has_boxes(const lat_comm *comm, const lat_geometry *lattice)
{
    lat_box box;
    return comm->size > 1 && !lat_box_of(comm, lattice, &box) && !lat_box_slab(&box, lattice);
}

/* The faces of a rank with a GPU, in sites. */
static double faces_of(const lat_comm *comm, const lat_geometry *lattice)
{
    double sites = 1, faces = 0;
    lat_box box;
    if (comm->size == 1 || lat_box_of(comm, lattice, &box))
        return 0;
    for (int mu = 0; mu < lattice->nd; mu++)
        sites *= box.count[mu];
    for (int mu = 1; mu < lattice->nd; mu++)
        faces += box.ranks[mu] > 1 ? 2 * sites / box.count[mu] : 0;
    return faces;
}

static double power_of_two(double least) { return exp2(ceil(log2(least))); }

/* Where GPUs cut y: branches of planes as vector/cuda/cuda_space.cuh has them, of each number two
 * pairs. */
static double sums_of_planes(const lat_comm *comm, const lat_geometry *lattice)
{
    const int *const dims = lattice->dims;
    uint32_t brick[2];
    lat_box box;
    if (comm->size == 1 || lat_box_of(comm, lattice, &box) || box.ranks[1] == 1
        || !lat_gpu_brick((uint32_t)dims[0] / 2, (uint32_t)dims[1], brick)
        || (uint32_t)box.count[1] % brick[1])
        return 0;
    const uint32_t rows = (uint32_t)box.count[1] / brick[1],
                   branches = (uint32_t)box.ranks[1] * (rows / (rows & -rows));
    return 2.0 * 16 * (2 * LAT_VECTOR_TERMS + 1) * dims[3] * power_of_two(dims[2])
           * power_of_two(branches);
}

double lat_wilson_bytes(const lat_device *dev, const lat_header *links, const lat_fermion *fermion,
                        const lat_wilson_options *o, const lat_wilson_use *use, bool spare)
{
    const int slices = links->geom.dims[3];
    const double slice = (double)lat_volume(&links->geom) / slices;
    const int ranks = dev->comm->size, mine = (slices + ranks - 1) / ranks;
    const count k = {.sites = slice * mine,
                     .slices = dev->gpu    ? faces_of(dev->comm, &links->geom)
                               : ranks > 1 ? 2 * slice
                                           : 0,
                     .all = slice * slices,
                     .nc = lat_spinor_colours(dev, links->nc),
                     .o = o,
                     .use = use,
                     .clover = lat_fermion_blocks(fermion),
                     .sums = dev->gpu ? sums_of_planes(dev->comm, &links->geom) : 0,
                     .gpu = dev->gpu,
                     .boxes = !dev->gpu && has_boxes(dev->comm, &links->geom),
                     .share = dev->gpu && ranks == 1 && o->form != LAT_FULL ? .5 : 1};
    return in_all(&k, spare);
}

int lat_wilson_columns(const lat_device *dev, const lat_header *links, const lat_fermion *fermion,
                       const lat_wilson_options *o, const lat_wilson_use *use, double bytes)
{
    lat_wilson_options fewer = *o;
    double least = 0;
    for (int spare = 1; spare >= 0; spare--)
        for (fewer.columns = o->columns; fewer.columns >= 1; fewer.columns--) {
            least = lat_wilson_bytes(dev, links, fermion, &fewer, use, spare);
            if (least <= bytes)
                return fewer.columns;
        }
    const int ranks = dev->comm->size;
    const double wanted = ceil(ranks * least / (bytes > 0 ? bytes : least));
    const char *const less = o->inner == LAT_STORAGE_DOUBLE             ? ", or --precision single"
                             : dev->gpu && o->inner != LAT_STORAGE_HALF ? ", or --precision half"
                                                                        : "";
    lat_fail("one column needs %.3g GB of memory on %s, %.3g GB are there: expected about %.0f "
             "ranks%s",
             least * 1e-9, dev->gpu ? "a GPU" : "a rank", bytes * 1e-9, wanted, less);
    return 0;
}
