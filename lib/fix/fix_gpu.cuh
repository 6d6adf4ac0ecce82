/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_gpu.cuh: a configuration on a GPU, for the two files that know it: fix_gpu.cu, and
 * fix_faces.cu for its rims. */
#ifndef LAT_BACKEND_CUDA_GPU_CUH
#define LAT_BACKEND_CUDA_GPU_CUH

#include "grid/cuda_halo.cuh"
extern "C" {
#include "balance.h"
}

typedef struct lat_cuda_gpu {
    lat_device dev;
    const lat_cuda_ops *ops;
    lat_condition condition;
    lat_geometry geom; /* of the lattice */
    lat_cuda_work work;
    int copies, units;
    lat_slab slab;       /* the part of the last axis that is here */
    bool cut;            /* slices are cut by it, so that they have ghosts */
    int slices;          /* of the lattice */
    lat_balance guests;  /* which of them are here */
    uint64_t slice_step; /* of the lattice's natural index, from slice to slice */
    int64_t site_from;   /* that of what is site 0 of slice 0 here */
    lat_cuda_halo rims;
    int box_units;   /* units that its boxes have room for */
    uint32_t number; /* half sweeps so far */
    cudaStream_t stream;
    double *omega, *omega_host;      /* [copies], and what was sent there last */
    lat_cuda_unit *unit, *unit_host; /* units that are swept: [nrows][beside] */
    int nrows, beside;
    double *partial,
        *sum; /* [units][blocks][3], and [units][4] on the host, where the device writes them */
    uint32_t *arrived; /* [units]: blocks that have summed up; 0 between two kernels */
    double looks;      /* so many times has the state been asked for */
    double *total,
        *theta; /* [copies][slices][3], zero for what is not here, and [copies][slices] */
    int *bad;
    lat_cuda_staging ferry;
    char words[64];
} lat_cuda_gpu;

static inline size_t lat_cuda_matrix_bytes(const lat_cuda_gpu *c, int rows)
{
    const size_t bytes = 2 * (size_t)c->ops->nc * (size_t)rows * (size_t)c->ops->real;
    return (bytes + 15) / 16 * 16;
}

static inline int lat_cuda_few_rows(const lat_cuda_gpu *c)
{
    return c->ops->nc <= 3 ? c->ops->nc - 1 : c->ops->nc;
}

/* Sites of a slice, with the gaps at the end of the last group of each parity. */
static inline size_t lat_cuda_padded_sites(const lat_cuda_gpu *c)
{
    return 2 * (size_t)c->work.groups * LAT_CUDA_GROUP;
}

/* g of a unit, and of all of them. */
static inline size_t lat_cuda_unit_bytes(const lat_cuda_gpu *c)
{
    return lat_cuda_padded_sites(c) * lat_cuda_matrix_bytes(c, lat_cuda_few_rows(c));
}
static inline size_t lat_cuda_g_bytes(const lat_cuda_gpu *c)
{
    return (size_t)c->units * lat_cuda_unit_bytes(c);
}

/* ---- rims (fix_faces.cu); 0, or -1 with lat_error set ---- */

/* How they will travel, and what is needed for it. */
int lat_cuda_fix_connect(lat_cuda_gpu *c);

/* All ghosts of a copy, when it is new. */
int lat_cuda_set_ghosts(lat_cuda_gpu *c, int copy);

/* A half sweep whose rims go by way of the host while the rest is visited. */
int lat_cuda_half_staged(lat_cuda_gpu *c, lat_cuda_how *h, int parity);

#endif
