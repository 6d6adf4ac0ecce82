/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_sites.cuh: what a hop on a GPU is told; the neighbours of a site, and which sites a
 * block takes. */
#pragma once

#include "vector/cuda/cuda_sites.cuh"
extern "C" {
#include "vector/apply.h"
}

/* What a kernel knows of ranks: there are no ghosts; there are some of z and t; of y, too. */
enum { LAT_NO_GHOSTS, LAT_GHOSTS, LAT_GHOSTS_OF_Y };

/* Ghosts of z and t: faces of one parity (vector/faces.h), of all columns that are active, as
 * groups of spinors, of which in t two spins are there. All zero: neither z nor t is cut. */
typedef struct lat_hop_faces {
    char *ghost[LAT_Y_DOWN], *to[LAT_Y_DOWN]; /* where the neighbours want our faces */
    size_t column[2];                         /* by axis: bytes of a column of a face */
    uint32_t groups[2];                       /* of a face */
    int first, end;                           /* sides that there are */
    uint32_t blocks, senders; /* that send a face, and all, of y, too; 0: they have been sent */
} lat_hop_faces;

/* Which end of cuda_hop_end.cuh a hop has. */
typedef enum {
    LAT_END_STORE,
    LAT_END_AFFINE,
    LAT_END_GENERAL,
    LAT_END_CLOVER,
    LAT_END_DIAGONAL
} lat_hop_end;

/* Where y is cut: the same of its faces, down and up, and what else kernels of such grids are told.
 */
typedef struct lat_hop_rows {
    char *ghost[2], *to[2];
    size_t column;
    uint32_t sites;         /* of a face */
    uint32_t blocks;        /* that send a face */
    lat_gpu_rows in_planes; /* for the shadow's signs, with `whole` */
    lat_hop_end end;
} lat_hop_rows;

enum { LAT_HOP_PHASES = 256 };

/* What all hops of an operator share. */
typedef struct lat_hop_lattice {
    lat_gpu_sites sites;
    double phase[4][2]; /* of the forward hop across the boundary, re and im; its conjugate back */
    double edge[2];     /* a real one of t, forward and back; 1 where ranks meet */
    int phases; /* bits mu, mu + 4 (forward, back; x, y, z): it is not 1; of t: it has an im;
                 * LAT_HOP_PHASES: on some rank, all of which take the same kernels */
    double t;   /* weight of hops in t over that of the others */
    bool unit;  /* links of t are 1 and not read, but where bits 3 and 7 (forward, back) of
                 * `walls` say that the ends of t have them */
    uint32_t walls;
    lat_gpu_whole whole; /* for the shadow's signs */
    size_t column;       /* bytes from column to column */
    bool again;          /* links and clover matrices stay in the second cache from hop to hop */
    bool early;          /* kernels may begin while the one before ends (compute capability 9) */
    int most_shared;     /* bytes of shared memory that a block may take */
    int processors;      /* multiprocessors */
} lat_hop_lattice;

/* What is done to the sum h of a hop before it is stored. Fields as `out`: column 0 of the parity
 * that is written; NULL: none. */
typedef struct lat_epilogue {
    double a, b; /* b C x + a C' h */
    const char *x;
    const char *clover_x, *clover_h; /* C, C': blocks of this parity; NULL: 1 */
    const char *clover_h2;           /* with clover_h: another factor, from the left */
    double g5_x, g5_h; /* i g gamma5 is added to b C, to a C' (but clover_h2): twisted mass */
    bool flip;         /* gamma5 of the result; not in half */
    bool recursion;    /* as follows; without clover matrices and sums */
    double shift[2];   /* with flip: shift x besides, once gamma5 is done; re and im */
    int terms;         /* with add: keep[] out + alpha[] (..) + by[j][] more[j] */
    const char *more[LAT_APPLY_TERMS];
    double keep[LAT_VECTOR_COLUMNS], by[LAT_APPLY_TERMS][LAT_VECTOR_COLUMNS];
    bool add; /* keep[] onto + alpha[] (..), onto is out unless told */
    const char *onto;
    double alpha[LAT_VECTOR_COLUMNS]; /* what is added, by the place in `active`; */
    const lat_scalar *later; /* or, if not NULL, what the device knows by then, by column */
    char *image;             /* where clover_h times out goes, too */
    uint32_t sums;           /* LAT_SUM_NORM and others: shadows of out and of x */
    const char *with;        /* with LAT_SUM_DOT: <with, out>; NULL: x, nothing is added */
    int arrays;              /* groups of a number in `partial` */
    double *partial;         /* [columns that are active][numbers][arrays] */
} lat_epilogue;

typedef struct lat_hop_args {
    lat_hop_lattice lattice;
    lat_hop_faces faces;
    const char *links; /* of the sites that are written */
    const char *in;    /* column 0 of the other parity */
    char *out;         /* column 0 of this parity */
    int parity, swap;  /* swap: D^+ */
    bool both; /* sites of both parities: what is said of this one holds of even sites, odd ones lie
                * behind them; no ghosts */
    bool tiles;     /* several columns: by hop_tile, where it can do it */
    bool backwards; /* blocks begin at the end: there is what the kernel before had last in the
                     * second cache */
    bool held;      /* clover matrices in double are in shared memory (hop_many) */
    lat_epilogue end;
    int columns;
    uint8_t active[LAT_VECTOR_COLUMNS];
    lat_hop_rows rows;
} lat_hop_args;

/* ---- sites ----------------------------------------------------------------------------------- */

typedef struct lat_hop_site {
    uint32_t i, next[8]; /* of x+, y+, z+, t+, x-, .. */
    uint32_t group;      /* of links and of what is written: i / 32, odd sites behind even ones */
    uint32_t crosses;    /* bit k: neighbour k is across the boundary; bits 11 and 15: the links
                          * forward and back in t are not 1; bit 16 + k: neighbour k is a ghost */
} lat_hop_site;

/* Has the site a link in direction N of 0 .. 7 (x+, x-, y+, .. t-), or is it 1? */
template <int N> DEVICE bool linked(const lat_hop_site &p)
{
    return N < 6 || p.crosses >> (N == 6 ? 11 : 15) & 1;
}

DEVICE uint32_t round_the(uint32_t extent, uint32_t n) { return n < extent ? n : n - extent; }

/* The number of a thread's site, s.half or more if it has none. Blocks are 4 groups. Where planes
 * are whole groups a block takes the same group of 2 x 2 planes in (z, t), and blocks go through
 * the plane, a strip of z, t, strips: neighbours in t are still in the second cache. A launch may
 * have some of the pairs of z and t. */
DEVICE uint32_t hop_number(const lat_gpu_sites &s, uint32_t block, uint32_t thread)
{
    if (!s.strip)
        return block * 128 + thread;
    const uint32_t warp = thread / 32, groups = s.plane / 32;
    uint32_t q = lat_cuda_quotient(block, s.by_groups);
    const uint32_t group = block - q * groups;
    uint32_t n = lat_cuda_quotient(q, s.by_strip);
    const uint32_t in = q - n * s.strip;
    q = lat_cuda_quotient(n, s.by_pairs_t);
    const uint32_t z = round_the(s.extent[2] / 2, q * s.strip + in + s.begin[0]),
                   t = round_the(s.extent[3] / 2, n - q * s.pairs[1] + s.begin[1]);
    const uint32_t plane = (2 * t + warp / 2) * s.extent[2] + 2 * z + warp % 2;
    return plane * s.plane + group * 32 + thread % 32;
}

template <int GHOSTS> DEVICE lat_hop_site hop_site(const lat_gpu_sites &s, uint32_t i, int parity)
{
    lat_hop_site p;
    uint32_t c[4];
    const bool late = hop_coordinates(s, i, parity, c);
    const uint32_t x = c[0], y = c[1], z = c[2], t = c[3];
    const uint32_t X = s.extent[0], Y = s.extent[1], Z = s.extent[2], T = s.extent[3];
    const uint32_t x0 = hop_x(s, x), y0 = hop_y(s, y);
    p.i = i;
    p.next[0] = late ? i - x0 + hop_x(s, x + 1 == X ? 0 : x + 1) : i;
    p.next[4] = late ? i : i - x0 + hop_x(s, x ? x - 1 : X - 1);
    p.next[1] = i - y0 + hop_y(s, y + 1 == Y ? 0 : y + 1);
    p.next[5] = i - y0 + hop_y(s, y ? y - 1 : Y - 1);
    if (GHOSTS == LAT_GHOSTS_OF_Y) {
        const uint32_t ghost = lat_face_number_y(X, x, z + Z * t);
        p.next[1] = y + 1 == Y ? ghost : p.next[1];
        p.next[5] = y ? p.next[5] : ghost;
    }
    const bool cut = GHOSTS && s.ghosts & 4;
    const uint32_t round = cut ? lat_face_number_z(s.plane, s.slice, z, t, i) : i - z * s.plane;
    p.next[2] = z + 1 == Z ? round : i + s.plane;
    p.next[6] = z ? i - s.plane : GHOSTS ? round + s.back_z : i + (Z - 1) * s.plane;
    p.next[3] = t + 1 == T ? i - t * s.slice : i + s.slice;
    p.next[7] = t ? i - s.slice : i + s.back;
    p.crosses = (uint32_t)(late && x + 1 == X) | (uint32_t)(y + 1 == Y) << 1
                | (uint32_t)(z + 1 == Z) << 2 | (uint32_t)(t + 1 == T) << 3
                | (uint32_t)(!late && x == 0) << 4 | (uint32_t)(y == 0) << 5
                | (uint32_t)(z == 0) << 6 | (uint32_t)(t == 0) << 7;
    return p;
}

/* ---- the sites of a block -------------------------------------------------------------------- */

/* Of the sites that a block writes. */
DEVICE int parity_of(const lat_hop_args &a)
{
    return a.both ? (int)(block_number(a.backwards, 0) & 1) : a.parity;
}

/* Which sites a block takes: of both parities each group of planes is taken by two blocks side by
 * side, so that spinors of both are in the second cache when both are read. */
typedef struct hop_block {
    uint32_t number, odd;
} hop_block;

template <int GHOSTS> DEVICE hop_block block_of(const lat_hop_args &a)
{
    const uint32_t number = block_number(a.backwards, GHOSTS ? a.faces.senders : 0);
    const bool both = !GHOSTS && a.both;
    return hop_block{both ? number / 2 : number, both ? number & 1 : 0};
}

template <int GHOSTS> DEVICE lat_hop_site site_of(const lat_hop_args &a, uint32_t i, hop_block b)
{
    lat_hop_site p = hop_site<GHOSTS>(a.lattice.sites, i, a.parity ^ (int)b.odd);
    p.group = i / 32 + (b.odd ? (a.lattice.sites.half + 31) / 32 : 0);
    const uint32_t crosses = p.crosses;
    p.crosses |= (a.lattice.unit ? crosses & a.lattice.walls : 0x88) << 8;
    if (GHOSTS)
        p.crosses |= (crosses & a.lattice.sites.ghosts) << 16;
    return p;
}

/* Of the other parity than the sites of the block. */
template <int P> DEVICE const char *spinors_in(const lat_hop_args &a, hop_block b)
{
    return a.in - (b.odd ? (size_t)((a.lattice.sites.half + 31) / 32) * lat_form<P>::GROUP : 0);
}
