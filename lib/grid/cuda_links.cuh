/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_links.cuh: links of neighbouring sites, and staples, where a thread has a whole matrix
 * (template): the GPU's lane_staples.h. How fields lie is in cuda_grid.cuh. */
#include "cuda_matrix.cuh"
#include "site/link.h"

#define CH CHUNKS(LAT_LINK_ROWS)

/* Where object `object` of site i of a parity is, counted in chunks, in a field of `objects`
 * objects of `chunks` chunks. */
static __device__ __forceinline__ size_t LAT_(offset)(const lat_cuda_sites &w, int parity,
                                                      uint32_t i, int objects, int chunks,
                                                      int object)
{
    return ((size_t)(parity ? w.groups : 0) + i / LAT_CUDA_GROUP)
               * (uint32_t)(objects * chunks * LAT_CUDA_GROUP)
           + (uint32_t)(object * chunks * LAT_CUDA_GROUP) + i % LAT_CUDA_GROUP;
}

/* A matrix at p: the rows that are kept. */
static __device__ __forceinline__ LAT_(m) LAT_(read_at)(const LAT_V *p)
{
    LAT_T m[CH * PER];
    LAT_(fetch)<LAT_LINK_ROWS>(m, p);
    return LAT_(link_load)(m);
}

static __device__ __forceinline__ void LAT_(write_at)(LAT_V *p, const LAT_(m) *u)
{
    LAT_T m[CH * PER];
    LAT_(link_store)(m, u);
    LAT_(store)<LAT_LINK_ROWS>(p, m);
}

/* A link of a field of links u. */
static __device__ __forceinline__ LAT_(m)
    LAT_(read)(const lat_cuda_sites &w, const void *u, int parity, uint32_t i, int dir)
{
    return LAT_(read_at)((const LAT_V *)u + LAT_(offset)(w, parity, i, w.nd, CH, dir));
}

/* A plane of mu and nu, from a site: distances to x + mu, x + nu and x - nu. */
typedef struct {
    int mu, nu;
    uint32_t right, up, down;
} LAT_(corner);

/* Of axes 0 and a. */
static __device__ __forceinline__ LAT_(corner)
    LAT_(corner_of)(const lat_cuda_axis *axis, const lat_cuda_distances &s, int a)
{
    const LAT_(corner) c = {axis[0].dir, axis[a].dir, s.up[0], s.up[a], s.down[a]};
    return c;
}

/* The staple over U_mu on the side of nu, its kept rows: U_nu(x) U_mu(x+nu) U_nu(x+mu)^+. */
static __device__ __forceinline__ void LAT_(staple_above)(const lat_cuda_sites &w, const void *u,
                                                          int parity, uint32_t i,
                                                          const LAT_(corner) &c, LAT_(m) *v)
{
    const int other = 1 - parity;
    const LAT_(m) x = LAT_(read)(w, u, parity, i, c.nu),
                  y = LAT_(read)(w, u, other, i + c.up, c.mu),
                  z = LAT_(read)(w, u, other, i + c.right, c.nu);
    LAT_(staple_up)(v, &x, &y, &z);
}

/* The staple below, U_nu(x-nu)^+ U_mu(x-nu) U_nu(x-nu+mu). */
static __device__ __forceinline__ void LAT_(staple_below)(const lat_cuda_sites &w, const void *u,
                                                          int parity, uint32_t i,
                                                          const LAT_(corner) &c, LAT_(m) *v)
{
    const int other = 1 - parity;
    const uint32_t back = i + c.down;
    const LAT_(m) x = LAT_(read)(w, u, other, back, c.nu), y = LAT_(read)(w, u, other, back, c.mu),
                  z = LAT_(read)(w, u, parity, back + c.right, c.nu);
    LAT_(staple_down)(v, &x, &y, &z);
}
