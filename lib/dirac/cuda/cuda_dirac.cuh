/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_dirac.cuh: what the files of the GPU's operators share. */
#pragma once

#include "dirac/cuda/cuda_hop_sites.cuh"
#include "vector/cuda/cuda_space.cuh"
extern "C" {
#include "dirac/dirac.h"
}

/* Faces of a.in to the neighbours: sets a.faces, and sends them if the kernel is not to. in_turn:
 * it does not overlap with them; they have come before it begins. If some are carried all are
 * sent, and ghosts of those have come after lat_gpu_faces_come. */
int lat_gpu_faces(lat_gpu_space *s, lat_hop_args *a, bool in_turn);
int lat_gpu_faces_come(const lat_gpu_space *s, const lat_hop_args *a, bool in_turn);

/* Hops, by storage; reals of a link 12 or 18. */
typedef cudaError_t lat_hop_launch(const lat_hop_args *a, int reals, cudaStream_t stream);
lat_hop_launch lat_hop_double, lat_hop_single, lat_hop_half;

/* Tiles of cuda_hop_tile.cuh: bricks that are groups, of 2 to 8 rows, and pairs of planes. */
static inline bool lat_hop_has_tiles(const lat_gpu_sites *s)
{
    return s->strip && s->brick[0] * s->brick[1] == 32 && s->brick[1] >= 2 && s->brick[1] <= 8;
}

/* A = scalar or C, + i twist gamma5. Its inverse is (C - i twist gamma5) inverse. */
typedef struct lat_gpu_dirac {
    lat_dirac dirac;
    lat_gpu_space *s;
    double scalar;
    char *links[2];               /* by parity of the site, the second one behind the first */
    char *clover[2], *inverse[2]; /* likewise; NULL without a clover term */
    double log[2];
    long negative[2];
    lat_hop_lattice hop; /* what all hops share */
    bool in_turn;        /* as lat_dirac_options has it */
    /* What lies between two hops, before the first one, between M and M^+: by lat_parity, made when
     * needed. */
    lat_dfield *between[3], *first[3], *middle[3];
} lat_gpu_dirac;

/* As lat_dirac_ops has them (dirac_open_gpu.cu). */
lat_dirac *lat_gpu_dirac_open(lat_space *s, const lat_field *u, const lat_fermion *fermion,
                              const lat_dirac_options *options);
void lat_gpu_dirac_close(lat_dirac *dirac);

static inline lat_hop_launch *lat_gpu_launch_of(const lat_gpu_dirac *d)
{
    const lat_storage storage = d->s->space.grid->spec.storage;
    return storage == LAT_STORAGE_DOUBLE   ? lat_hop_double
           : storage == LAT_STORAGE_SINGLE ? lat_hop_single
                                           : lat_hop_half;
}
