/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_space.cuh: what the files of a GPU's spaces share. */
#pragma once

#include "grid/cuda_device.cuh"
#include "grid/cuda_window.cuh"
#include "vector/cuda/cuda_sites.cuh"
extern "C" {
#include "lattice/field.h"
#include "vector/apply.h"
}

/* Where a branch of the whole lattice lies in what ranks have gathered, `each` numbers of a rank:
 * number n at rank * each + n * count + at. count: the rank's branches, 0 where there is none. */
typedef struct lat_gpu_branch {
    uint32_t rank, count, at;
} lat_gpu_branch;

/* Ranks give each other sums of branches by NCCL, where not all of them write to all windows. */
typedef struct lat_gpu_gather {
    lat_gpu_branch *branch; /* on the device: [branches of the whole lattice]; NULL: they do not */
    uint32_t most;          /* branches of a rank, at most */
    double *all;            /* on the device: [rank][number][its branches] */
} lat_gpu_gather;

/* A batch is
 *     [column][parity][group of 32 sites]                                       (cuda_spinor.cuh)
 * A space on a GPU: how sites are numbered, where sums are made, and what ranks send each other.
 *
 * Ranks add up branches of the trees of sums (grid/reduce.h): slices, or where z is cut as many
 * planes of a slice as are a branch on all ranks, or where y is cut as many rows of bricks of a
 * plane.
 *
 * The window of a rank holds packets of sums [2][number][branch of the lattice] and ghosts
 * [2][side][column][group of a face]: exchanges, and sums, take one half and the other in turn.
 * Nobody writes to a half that is still read: a rank is at its exchange (sum) k + 2 when all its
 * neighbours (all others) have sent k + 1, which they do when they have done with k. */
typedef struct lat_gpu_space {
    lat_space space;
    lat_gpu_sites sites;
    lat_cuda_window window;   /* nothing on one rank */
    size_t ghosts;            /* where they begin */
    size_t half;              /* bytes of one half of the ghosts, */
    size_t side[LAT_FACES];   /* and where sides (faces.h) begin there, the same on all ranks */
    size_t face[3];           /* by axis: bytes of a column's face; 0: it is not cut */
    unsigned carried;         /* bits of sides whose faces no kernel writes to the other rank, */
    char *send;               /* and these, packed; as one half of the ghosts */
    uint32_t exchanges, sums; /* so far */
    uint32_t launches;        /* of hops and passes, so far: every second one goes backwards */
    bool last_first; /* the hop before began with the last column: the next one begins with the
                        first, which is still in the second cache */
    uint32_t planes, rows; /* of a branch; rows of bricks of a plane */
    uint32_t branches;     /* of a slice here, .. */
    uint32_t there, width; /* .. in z on all ranks; places of a slice in packets, a power of two */
    uint32_t in_y, there_y, width_y; /* branches of a plane: here, on all ranks, places */
    lat_gpu_whole whole;
    lat_gpu_rows in_planes;
    lat_gpu_gather gather;
    double *slices_host; /* sums of branches on the host, where ranks add them up through MPI */
    uint32_t groups;     /* of a parity */
    size_t group, parity, column; /* bytes */
    double *partial;              /* on the device: [active][numbers][groups] */
    size_t partial_numbers;       /* how many fit */
    double *slice_sum;            /* on the device: [active][numbers][branches] */
    double *sum;                  /* on the host, the device writes there: */
    unsigned *arrived;            /* [active][numbers]; and how many blocks have done it */
    double *flag, call;           /* *flag on the host becomes `call` then */
    double *value;                /* on the device: [active][numbers] of a step, */
    unsigned *valued;             /* and how many of a column are there */
    lat_scalar *factors;          /* of combine, on the device: [modes][columns] */
} lat_gpu_space;

/* Sums of a step, of a column, at most. */
enum { LAT_GPU_OF_STEP = 7 };

/* Scalars of an iteration on the device, and what their steps report, on the host, with the call
 * of the sums as a flag. */
typedef struct lat_gpu_scalars {
    lat_gpu_space *space;
    lat_scalar *row; /* [LAT_ROWS][LAT_VECTOR_COLUMNS] */
    double *report;  /* [LAT_STEPS][2][number, flag][LAT_VECTOR_COLUMNS], by place in the part */
    double call[LAT_STEPS][2];
    long taken[LAT_STEPS];
} lat_gpu_scalars;

extern const lat_scalar_ops lat_scalars_gpu;

/* A row; NULL: the coefficient is the host's. */
static inline const lat_scalar *lat_gpu_row(lat_coefficient c)
{
    return c.scalars ? ((const lat_gpu_scalars *)c.scalars)->row + c.row * LAT_VECTOR_COLUMNS
                     : NULL;
}

enum { LAT_GPU_NUMBERS = 2 * LAT_VECTOR_MODES + 1 }; /* of a column, at most */

static inline lat_gpu_space *lat_gpu_space_of(const lat_space *s) { return (lat_gpu_space *)s; }

static inline cudaStream_t lat_gpu_stream(const lat_space *s)
{
    return lat_cuda_device_of(s->grid->dev)->stream;
}

/* May kernels begin while the one before ends? */
static inline bool lat_gpu_early(const lat_gpu_space *s)
{
    return lat_cuda_device_of(s->space.grid->dev)->overlap != 0;
}

/* Parities p, p+1 .. of a part: how many, and the first. */
static inline int lat_part_parities(const lat_part *p) { return p->parity == LAT_BOTH ? 2 : 1; }
static inline int lat_part_first(const lat_part *p) { return p->parity == LAT_ODD; }

/* NULL of NULL. */
static inline char *lat_gpu_at(const lat_gpu_space *s, const lat_dfield *x, int parity)
{
    return x ? (char *)x->data + (size_t)parity * s->parity : NULL;
}

/* Bytes of a group of spinors. */
static inline size_t lat_gpu_group_bytes(lat_storage storage)
{
    return lat_by_storage(storage, [](auto P) { return (size_t)lat_form<P>::GROUP; });
}

/* Of the table of space.h (space_gpu.cu). */
lat_space *lat_gpu_open(lat_grid *grid, int nc, int columns);
void lat_gpu_close(lat_space *space);
int lat_gpu_put(lat_space *s, const lat_part *p, lat_dfield *x, const lat_field *host,
                const int *object);
int lat_gpu_get(lat_space *s, const lat_part *p, const lat_dfield *x, lat_field *host,
                const int *object);
int64_t lat_gpu_position(const lat_space *s, size_t site);
int lat_gpu_bytes(const lat_space *s, const lat_dfield *x, size_t from, size_t n, void *to);
int lat_gpu_random(lat_space *s, const lat_part *p, uint64_t seed, lat_dfield *x);

/* Spinors of a host field on the device: [count][stride reals], from natural site `first` on. */
typedef struct lat_gpu_piece {
    double *v;
    size_t stride, first, count;
    lat_parity parity; /* sites that are put */
    bool rotated;      /* the column has the gauge of the space, not the hosts' gauge */
} lat_gpu_piece;

/* To a column, or back. */
cudaError_t lat_gpu_move(const lat_gpu_space *s, bool put, const lat_gpu_piece *piece,
                         char *column);

/* For a space's opening (sums_gpu.cu, ghosts_gpu.cu): what sums need, of so many columns, and what
 * several ranks need, nothing on one. Closing frees either, whole or in part. */
int lat_gpu_sums_open(lat_gpu_space *s, int columns);
void lat_gpu_sums_close(lat_gpu_space *s);
int lat_gpu_faces_open(lat_gpu_space *s);
void lat_gpu_faces_close(lat_gpu_space *s);

/* The rank on a side. */
static inline int lat_gpu_neighbour(const lat_gpu_space *s, int side)
{
    int step[LAT_MAX_DIMS] = {};
    step[lat_face_axis(side)] = side % 2 ? 1 : -1;
    return lat_box_rank(&s->space.grid->box, step);
}

/* Links there, of `held` sites, go to the gauge of the space, if it has one. unit: those of t are 1
 * but on the lattice's last slice. */
int lat_gpu_rotate_links(const lat_gpu_space *s, bool unit, size_t held, double *all);

/* *most: by how much an element of n links [18] there, or of their adjoints, changes where the last
 * row is made from the others, as lat_link_reals has it. */
int lat_gpu_last_rows(const lat_cuda_device *dev, const double *links, size_t n, double *most);

/* Numbers of a column that ranks add up, at most; those of boxes do so with products with modes
 * through their hosts (project_gpu.cu). */
static inline size_t lat_gpu_numbers_of_ranks(const lat_gpu_space *s)
{
    return s->space.grid->boxed ? 2 * LAT_VECTOR_TERMS + 1 : (size_t)LAT_GPU_NUMBERS;
}

/* Numbers of a packet of sums in a window. */
static inline size_t lat_gpu_packet_numbers(const lat_gpu_space *s)
{
    return (size_t)s->space.columns * lat_gpu_numbers_of_ranks(s)
           * (size_t)s->space.grid->spec.lattice.dims[3] * s->width;
}

/* Reserves numbers of so many columns in s->partial, `arrays` groups each. */
int lat_gpu_sums_begin(lat_gpu_space *s, int columns, int numbers, int arrays);

/* Adds up slice by slice what kernels have written to s->partial, and waits: s->sum[active][number]
 * is there. `arrays`: groups of a number, those of one parity or of both. */
int lat_gpu_sums_finish(lat_gpu_space *s, int columns, int numbers, int arrays);

/* The same without waiting, but where ranks add up sums through MPI: the device takes a step. */
int lat_gpu_sums_step(lat_gpu_space *s, const lat_part *p, int numbers, int arrays, lat_scalars *by,
                      lat_scalar_step step, double epsilon);

/* The same of `count` numbers that lie side by side: s->partial is [side][slice][row][count], with
 * so many sides, and rows of a slice; where z is whole. */
int lat_gpu_sums_of_rows(lat_gpu_space *s, int count, int sides, int rows);

/* Slices of a parity, for sums: a group is of one, or there is one alone. */
static inline uint32_t lat_gpu_slices(const lat_gpu_space *s)
{
    return s->sites.slice % 32 == 0 ? s->sites.extent[3] : 1;
}

/* products and combine (project_gpu.cu) */
int lat_gpu_products(lat_space *s, const lat_part *p, int n, const lat_dfield *const *w,
                     const lat_dfield *y, lat_scalar *dot);
int lat_gpu_combine(lat_space *s, const lat_part *p, int n, const lat_scalar *a,
                    const lat_dfield *const *w, lat_dfield *y);
