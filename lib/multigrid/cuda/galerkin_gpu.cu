/* SPDX-License-Identifier: BSD-3-Clause */
/* galerkin_gpu.cu: M_c = P^+ M P, block by block: F, the forward hops that stay in a block, and
 * Y_mu, those that leave it (cpu/galerkin.h has the formulas). */
#include "multigrid/cuda/cuda_multigrid.cuh"

#include <stdlib.h>

enum {
    THREADS = 256,
    TILE = 4,                  /* numbers of a thread: TILE x TILE at a time */
    MOST_SITES = 6 * 6 * 6 * 6 /* of a block */
};

typedef struct galerkin_args {
    const int64_t *start[2];
    const int32_t *next, *site, *at;
    int components, n, rows; /* of a site; vectors; 2 n */
    int some;                /* sites at a time */
    const float2 *p;         /* [site of the list][component][n] */
    const float *links;      /* of the finest level: [site of the list][4][18]; or */
    const float2 *level;     /* of a coarse one: [site][Y_x .. Y_t, X][components][components] */
    float2 *inside, *matrix; /* F, and the matrices of the next level */
} galerkin_args;

/* What a block of threads makes: columns of a chirality, of hops inside the block of sites (all
 * directions), or of those that leave it in direction mu; or of X of a coarse level. */
enum { INSIDE = 4, DIAGONAL = 5 };

/* ---- the operator times P at a site ---------------------------------------------------------- */

/* gamma_mu x, x the two spins of the other chirality: spin `spin` of this one, in the basis of
 * DeGrand and Rossi. */
DEVICE float2 times_gamma(int mu, int chirality, int spin, const float2 x[2])
{
    const bool crossed = mu < 2;
    const float2 z = x[crossed ? 1 - spin : spin];
    const float sign = chirality ? -1.f : 1.f;
    switch (mu) {
    case 0: return make_float2(-sign * z.y, sign * z.x); /* i, i; -i, -i */
    case 1: /* -1, 1; 1, -1 */ return spin == chirality ? make_float2(-z.x, -z.y) : z;
    case 2: /* i, -i; -i, i */
        return spin == chirality ? make_float2(-z.y, z.x) : make_float2(z.y, -z.x);
    default: return z;
    }
}

/* -1/2 (1 - gamma_mu) U P at the neighbour, column j of a chirality: [12][n]. */
DEVICE void fine_column(const galerkin_args &a, int64_t i, int64_t next, int mu, int chirality,
                        int j, float2 *to)
{
    const float *const u = a.links + (4 * i + mu) * 18;
    const float2 *const p = a.p + (next * 12 + 6 * chirality) * a.n + j;
    float2 w[3][2]; /* U P: [colour][spin] */
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            w[c][s] = make_float2(0, 0);
#pragma unroll
            for (int d = 0; d < 3; d++)
                w[c][s] = mg_add_times(w[c][s],
                                       make_float2(u[2 * (3 * c + d)], u[2 * (3 * c + d) + 1]),
                                       p[(3 * s + d) * a.n]);
        }
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const float2 same = w[c][s], other = times_gamma(mu, 1 - chirality, s, w[c]);
            to[(6 * chirality + 3 * s + c) * a.n] = make_float2(-.5f * same.x, -.5f * same.y);
            to[(6 * (1 - chirality) + 3 * s + c) * a.n] = make_float2(.5f * other.x, .5f * other.y);
        }
}

/* Number (row, j) of a matrix of a coarse level times P of a chirality. */
DEVICE float2 coarse_number(const galerkin_args &a, int64_t i, int64_t next, int which,
                            int chirality, int row, int j)
{
    const int half = a.components / 2;
    const float2 *const m = a.level
                            + (((int64_t)a.at[i] * LAT_COARSE_MATRICES + which) * a.components
                               + row)
                                  * a.components
                            + chirality * half;
    const float2 *const p = a.p + (next * a.components + chirality * half) * a.n + j;
    float2 sum = make_float2(0, 0);
    for (int k = 0; k < half; k++)
        sum = mg_add_times(sum, m[k], p[(int64_t)k * a.n]);
    return sum;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* What a block of threads works on: columns of a chirality, hops in direction mu of the sites in
 * list[0 .. count-1] (mu LAT_COARSE_HOPS: X of a coarse level, of all). */
typedef struct block_sites {
    int32_t list[MOST_SITES];
    int warp[THREADS / 32 + 1];
    int count;
} block_sites;

/* The sites of a block whose hop in direction mu stays in it, or leaves it. */
DEVICE void find_sites(const galerkin_args &a, int block, int mu, bool inside, block_sites *to)
{
    const int warp = (int)threadIdx.x / 32;
    int before = 0;
    for (int list = 0; list < 2; list++)
        for (int64_t at = a.start[list][block]; at < a.start[list][block + 1]; at += THREADS) {
            const int64_t i = at + threadIdx.x;
            const bool counts = i < a.start[list][block + 1]
                                && (mu == LAT_COARSE_HOPS || (a.next[4 * i + mu] & 1) == inside);
            const unsigned votes = __ballot_sync(~0u, counts);
            if (threadIdx.x % 32 == 0)
                to->warp[warp] = __popc(votes);
            __syncthreads();
            int mine = before + __popc(votes & ((1u << threadIdx.x % 32) - 1));
            for (int w = 0; w < THREADS / 32; w++) {
                mine += w < warp ? to->warp[w] : 0;
                before += to->warp[w];
            }
            if (counts)
                to->list[mine] = (int32_t)i;
            __syncthreads();
        }
    if (threadIdx.x == 0)
        to->count = before;
    __syncthreads();
}

/* Of sites list[0 .. sites-1]: P, and the operator's part times P, both [site][component][n]. */
DEVICE void load_sites(const galerkin_args &a, const int32_t *list, int sites, int mu,
                       int chirality, float2 *p, float2 *mp)
{
    const int each = a.components * a.n, columns = a.links ? a.n : each;
    for (int k = (int)threadIdx.x; k < sites * each; k += THREADS)
        p[k] = a.p[(int64_t)list[k / each] * each + k % each];
    for (int k = (int)threadIdx.x; k < sites * columns; k += THREADS) {
        const int64_t i = list[k / columns],
                      next = mu < LAT_COARSE_HOPS ? a.next[4 * i + mu] / 2 : i;
        const int j = k % columns % a.n;
        float2 *const to = mp + k / columns * each;
        if (a.links)
            fine_column(a, i, next, mu, chirality, j, to + j);
        else
            to[k % columns] = coarse_number(a, i, next, mu, chirality, k % columns / a.n, j);
    }
    __syncthreads();
}

/* A thread's numbers: of TILE rows and columns, added up over every `lanes`th row of P. */
typedef struct tile {
    int row, column, lane, lanes;
    float2 sum[TILE][TILE];
} tile;

/* P^+ times what load_sites has. */
DEVICE void add_sites(const galerkin_args &a, int sites, const float2 *p, const float2 *mp, tile *t)
{
    const int half = a.components / 2, chirality = t->row / a.n, i = t->row % a.n;
    for (int s = 0; s < sites; s++)
        for (int c = t->lane; c < half; c += t->lanes) {
            const int at = (s * a.components + chirality * half + c) * a.n;
            float2 x[TILE], y[TILE];
#pragma unroll
            for (int k = 0; k < TILE; k++) {
                x[k] = p[at + i + k];
                y[k] = mp[at + t->column + k];
            }
#pragma unroll
            for (int k = 0; k < TILE * TILE; k++)
                t->sum[k / TILE][k % TILE] = mg_add_conjugate(t->sum[k / TILE][k % TILE],
                                                              x[k / TILE], y[k % TILE]);
        }
}

/* All sites of a part, if the thread counts. */
DEVICE void sum_part(const galerkin_args &a, int part, bool counts, block_sites *of, float2 *stage,
                     tile *t)
{
    const int block = (int)blockIdx.x, chirality = (int)blockIdx.y % 2,
              first = part == INSIDE     ? 0
                      : part == DIAGONAL ? LAT_COARSE_HOPS
                                         : part,
              last = part == INSIDE ? LAT_COARSE_HOPS - 1 : first;
    float2 *const mp = stage + a.some * a.components * a.n;
    for (int mu = first; mu <= last; mu++) {
        find_sites(a, block, mu, part >= INSIDE, of);
        for (int at = 0; at < of->count; at += a.some) {
            const int sites = of->count - at < a.some ? of->count - at : a.some;
            load_sites(a, of->list + at, sites, mu, chirality, stage, mp);
            if (counts)
                add_sites(a, sites, stage, mp, t);
            __syncthreads();
        }
    }
}

/* The sums of lanes of some tiles, from `begin` on, to columns of a chirality of a matrix. */
DEVICE void add_lanes(const galerkin_args &a, int begin, int at_once, int lanes,
                      const float2 *stage, float2 *to)
{
    const int across = a.n / TILE, chirality = (int)blockIdx.y % 2;
    for (int i = (int)threadIdx.x; i < at_once * TILE * TILE; i += THREADS) {
        const int k = i / at_once, number = begin + i % at_once,
                  row = number / across * TILE + k / TILE,
                  column = number % across * TILE + k % TILE;
        float2 total = make_float2(0, 0);
        for (int l = 0; l < lanes; l++) {
            total.x += stage[l * TILE * TILE * at_once + i].x;
            total.y += stage[l * TILE * TILE * at_once + i].y;
        }
        if (row < a.rows)
            to[row * a.rows + chirality * a.n + column] = total;
    }
}

/* A part of a block of sites, columns of a chirality: blockIdx.y is part 2 + chirality. */
static __global__ void __launch_bounds__(THREADS)
    make_block(const __grid_constant__ galerkin_args a, int from)
{
    extern __shared__ float2 stage[];
    __shared__ block_sites of;
    const int part = from + (int)blockIdx.y / 2, across = a.n / TILE,
              tiles = a.rows / TILE * across, at_once = tiles < THREADS ? tiles : THREADS,
              lanes = THREADS / at_once, lane = (int)threadIdx.x / at_once;
    const int64_t site = a.site[blockIdx.x], which = part == DIAGONAL ? LAT_COARSE_HOPS : part;
    float2 *const to = part == INSIDE
                           ? a.inside + site * a.rows * a.rows
                           : a.matrix + (site * LAT_COARSE_MATRICES + which) * a.rows * a.rows;
    for (int begin = 0; begin < tiles; begin += at_once) {
        const int mine = (int)threadIdx.x % at_once, number = begin + mine;
        tile t = {number / across * TILE, number % across * TILE, lane, lanes, {}};
        sum_part(a, part, lane < lanes && number < tiles, &of, stage, &t);
        for (int k = 0; k < TILE * TILE && lane < lanes; k++)
            stage[(lane * TILE * TILE + k) * at_once + mine] = t.sum[k / TILE][k % TILE];
        __syncthreads();
        add_lanes(a, begin, at_once, lanes, stage, to);
        __syncthreads();
    }
}

/* X += F + Gamma5 F^+ Gamma5; a vector that is 0 in the block has an equation apart. */
static __global__ void add_inside(const __grid_constant__ galerkin_args a)
{
    const int64_t site = a.site[blockIdx.x];
    const int rows = a.rows;
    const float2 *const f = a.inside + site * rows * rows;
    float2 *const x = a.matrix
                      + (site * LAT_COARSE_MATRICES + LAT_COARSE_HOPS) * (int64_t)(rows * rows);
    for (int k = (int)threadIdx.x; k < rows * rows; k += (int)blockDim.x) {
        const int i = k / rows, j = k % rows;
        const float sign = (i < rows / 2) == (j < rows / 2) ? 1.f : -1.f;
        const float2 back = f[j * rows + i];
        x[k].x += f[k].x + sign * back.x;
        x[k].y += f[k].y - sign * back.y;
        if (i == j && x[k].x == 0 && x[k].y == 0)
            x[k].x = 1;
    }
}

static galerkin_args args_of(const lat_transfer *t, const lat_coarse *to)
{
    const lat_mg_gpu_transfer *g = lat_mg_gpu_transfer_of(t);
    galerkin_args a = {};
    a.start[0] = g->start[0];
    a.start[1] = g->start[1];
    a.next = g->next;
    a.site = g->site;
    a.at = g->at;
    a.components = t->components;
    a.n = t->n;
    a.rows = to->rows;
    a.some = t->components <= 12 ? 4 : 1;
    a.p = (const float2 *)t->p;
    a.matrix = lat_mg_gpu_of(to)->matrix;
    return a;
}

/* All but X of the finest level, whose P^+ A P is there already. */
static int make_blocks(const lat_transfer *t, const lat_coarse *to, galerkin_args *a)
{
    const cudaStream_t stream = lat_mg_stream(t->dev);
    const unsigned blocks = (unsigned)t->blocks.count;
    const size_t sites = 2 * (size_t)(a->some * a->components * a->n) * sizeof(float2),
                 sums = (size_t)(THREADS * TILE * TILE) * sizeof(float2),
                 stage = sites > sums ? sites : sums, each = (size_t)(a->rows * a->rows);
    a->inside = (float2 *)lat_mg_gpu_alloc(t->dev, (size_t)to->sites.count * each, sizeof(float2),
                                           "a coarse operator");
    if (!a->inside
        || lat_cuda_failed(cudaFuncSetAttribute(
                               make_block, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)stage),
                           "a coarse operator"))
        return -1;
    lat_mg_start(stream, stage, make_block, dim3(blocks, a->links ? 2 : 4), THREADS, *a, INSIDE);
    lat_mg_start(stream, stage, make_block, dim3(blocks, 8), THREADS, *a, 0);
    lat_mg_start(stream, 0, add_inside, blocks, THREADS, *a);
    const int rc = lat_mg_launched()
                   || lat_cuda_failed(cudaStreamSynchronize(stream), "a coarse operator");
    lat_cuda_free(a->inside);
    return rc ? -1 : 0;
}

int lat_mg_gpu_galerkin(lat_level *l)
{
    galerkin_args a = args_of(&l->down, &l->next->coarse);
    a.level = lat_mg_gpu_of(&l->coarse)->matrix;
    return make_blocks(&l->down, &l->next->coarse, &a);
}

/* ---- the finest level ------------------------------------------------------------------------ */

typedef struct diagonal_args {
    const int32_t *site;
    int rows, column;
    const lat_eight *z;
    float2 *matrix;
} diagonal_args;

/* Columns column .. column+7 of X from z = P^+ (A P columns). */
static __global__ void put_diagonal(const __grid_constant__ diagonal_args a)
{
    const int64_t site = a.site[blockIdx.x];
    float2 *const x = a.matrix
                      + (site * LAT_COARSE_MATRICES + LAT_COARSE_HOPS) * (int64_t)(a.rows * a.rows);
    for (int i = (int)threadIdx.x; i < a.rows * LAT_EIGHT; i += (int)blockDim.x) {
        const int row = i / LAT_EIGHT, k = i % LAT_EIGHT;
        const lat_eight *const from = a.z + site * a.rows + row;
        x[row * a.rows + a.column + k] = make_float2(from->re[k], from->im[k]);
    }
}

static int all_diagonals(const lat_mg_fine *f, lat_level *l, lat_dfield *x)
{
    const lat_transfer *t = &f->down;
    const lat_part both = {LAT_BOTH, LAT_EIGHT, lat_column_numbers};
    for (int c = 0; c < 2; c++)
        for (int first = 0; first < t->n; first += LAT_EIGHT) {
            if (lat_mg_gpu_columns(f, first, c, x)
                || f->d->ops->diagonal(f->d, false, false, &both, x, x)
                || lat_mg_gpu_fine_restrict(f, true, LAT_EIGHT, lat_column_numbers, x, l->from))
                return -1;
            const diagonal_args a = {lat_mg_gpu_transfer_of(t)->site, l->coarse.rows,
                                     c * t->n + first, l->from, lat_mg_gpu_of(&l->coarse)->matrix};
            lat_mg_start(lat_mg_stream(t->dev), 0, put_diagonal, (unsigned)t->blocks.count, THREADS,
                         a);
            if (lat_mg_launched())
                return -1;
        }
    return 0;
}

typedef struct face_args {
    const float2 *p; /* [site of the list][each] */
    const int64_t *list;
    int each;
    float2 *to;
} face_args;

static __global__ void pack_face(const __grid_constant__ face_args a)
{
    for (int k = (int)threadIdx.x; k < a.each; k += (int)blockDim.x)
        a.to[(int64_t)blockIdx.x * a.each + k] = a.p[a.list[blockIdx.x] * a.each + k];
}

/* Brings P of the first face of the next rank across an axis. */
static int bring_face(const lat_mg_fine *f, int mu, lat_mg_gather *g, float2 *ghosts)
{
    static const char what[] = "the prolongation's ghosts";
    const lat_transfer *t = &f->down;
    const int64_t sites = lat_blocks_face(&t->blocks, mu);
    const int each = t->components * t->n;
    const size_t bytes = (size_t)(sites * each) * sizeof(float2);
    int64_t *const list = lat_blocks_first_face(&t->blocks, mu);
    const face_args a = {
        (const float2 *)t->p,
        list ? (const int64_t *)lat_mg_upload(t->dev, list, (size_t)sites * sizeof *list, what)
             : NULL,
        each, (float2 *)lat_mg_gpu_alloc(t->dev, 1, bytes, what)};
    int step[LAT_MAX_DIMS] = {}, rc = a.list && a.to ? 0 : -1;
    step[mu] = 1;
    if (rc == 0) {
        lat_mg_start(lat_mg_stream(t->dev), 0, pack_face, (unsigned)sites, THREADS, a);
        rc = lat_mg_launched()
             || lat_mg_gather_face(g, a.to, bytes, ghosts, lat_box_rank(&f->space->grid->box, step))
             || lat_cuda_failed(cudaStreamSynchronize(lat_mg_stream(t->dev)), what);
    }
    free(list);
    lat_cuda_free((void *)a.list);
    lat_cuda_free(a.to);
    return rc ? -1 : 0;
}

/* They follow P of this rank (lat_blocks_next). */
static int bring_ghosts(const lat_mg_fine *f, lat_mg_gather *g)
{
    const lat_transfer *t = &f->down;
    float2 *ghosts = (float2 *)t->p + t->blocks.sites * t->components * t->n;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        if (!t->blocks.cut[mu])
            continue;
        if (bring_face(f, mu, g, ghosts))
            return -1;
        ghosts += lat_blocks_face(&t->blocks, mu) * t->components * t->n;
    }
    return 0;
}

int lat_mg_gpu_fine_galerkin(const lat_mg_fine *f, lat_level *l, lat_dfield *x)
{
    const size_t site = LAT_COARSE_MATRICES * (size_t)l->coarse.rows * (size_t)l->coarse.rows
                        * sizeof(float2);
    lat_mg_gpu *const to = lat_mg_gpu_of(&l->coarse);
    galerkin_args a = args_of(&f->down, &l->coarse);
    a.links = lat_mg_gpu_fine_of(f)->links;
    return bring_ghosts(f, &to->gather) || all_diagonals(f, l, x)
                   || make_blocks(&f->down, &l->coarse, &a)
                   || lat_mg_gather_sites(&l->coarse, site, to->matrix)
               ? -1
               : 0;
}
