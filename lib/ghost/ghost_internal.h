/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_internal.h: what the files of lib/ghost share. */
#ifndef LAT_GHOST_INTERNAL_H
#define LAT_GHOST_INTERNAL_H

#include "fourier/laplace.h"
#include "ghost.h"
#include "ghost_gpu.h"
#include "lattice/iterate.h"

struct lat_ghost {
    lat_field lattice;           /* geometry in our order, and ranks, never NULL; no data */
    int axis[LAT_MAX_DIMS];      /* of u, for each of ours */
    int time;                    /* our axis across which units are cut, or -1 */
    double weight[LAT_MAX_DIMS]; /* of our axes, 0 along time */
    int nc, colours, packs, columns;
    int directions, direction[LAT_MAX_DIMS]; /* our axes with a weight, in rising order */
    int units;
    size_t block, blocks; /* sites of one unit in a slice across the last axis; of them there */
    size_t sites, held;   /* own; with ghosts */
    bool halo;            /* neighbours are on other ranks */
    /* [held][directions + 1][2 N N]: w_mu U_mu(x) / 2; last the diagonal, the Hermitian part of the
     * sum of w_mu (U_mu(x) + U_mu(x-mu)) / 2 */
    double *links;
    lat_laplace *laplace;
    lat_ghost_gpu *gpu; /* NULL: on the CPU; otherwise vectors are there, and links, too */
    bool plain_there;   /* and what plain.c has sent */
    double *sums;       /* work space of lat_ghost_over */
    size_t sums_size;
};

/* Reals of a vector at a site, and of a link. */
static inline size_t lat_ghost_reals(const lat_ghost *m)
{
    return (size_t)m->columns * (size_t)m->colours;
}
static inline size_t lat_ghost_link(const lat_ghost *m)
{
    return 2 * (size_t)m->nc * (size_t)m->nc;
}

/* The unit of block number `block` of all ranks; of this one. */
static inline int lat_ghost_unit_of(const lat_ghost *m, size_t block)
{
    if (m->time < 0)
        return 0;
    return (int)(m->time == m->lattice.head.geom.nd - 1 ? block : block % m->blocks);
}
static inline int lat_ghost_unit(const lat_ghost *m, size_t block)
{
    return lat_ghost_unit_of(m, (size_t)lat_field_slab(&m->lattice).first * m->blocks + block);
}

/* Works on the sites from .. to-1 of one unit, adds to sums. */
typedef void lat_ghost_pass(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                            size_t to, double *sums);

/* All own sites, in chunks; total[unit * numbers + i] are the sums over each unit, the same bits on
 * all ranks. NULL: none. */
int lat_ghost_over(lat_ghost *m, lat_ghost_pass *pass, const lat_ghost_call *c, int numbers,
                   double *total);

/* The passes over vectors of lat_ghost_pass_name: one text for each vector length (kernels.c),
 * chosen at run time. */
typedef struct lat_ghost_kernels {
    lat_ghost_pass *hop, *shift, *update, *dot, *extend, *gram, *combine;
} lat_ghost_kernels;
extern const lat_ghost_kernels *lat_ghost_kernels_of(void);

/* modes.c: out = other - a in. */
extern lat_ghost_pass lat_ghost_defect;

/* A pass on the device of m: lat_ghost_over, or the GPU's. */
int lat_ghost_run(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, int numbers,
                  double *total);

/* v <- L^-1 v; v = 0; to = from: there, too. */
int lat_ghost_invert(lat_ghost *m, double *v);
int lat_ghost_zero(lat_ghost *m, double *v);
int lat_ghost_copy(lat_ghost *m, double *to, const double *from);

/* means[unit][pack][colour][8] from the sums over units. */
void lat_ghost_means(const lat_ghost *m, const double *sums, int stride, int offset, double *means);

/* Faces to ghosts. */
int lat_ghost_exchange(const lat_ghost *m, double *v);

/* Like lat_ghost_apply without the projection; total: the numbers of `hop`. */
int lat_ghost_hop(lat_ghost *m, double *out, double *in, double *total);

#endif
