/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_multigrid.cuh: what the files of multigrids on a GPU share: where their numbers lie, and the
 * functions of ops.h.
 *
 * Matrices of coarse operators are float2 [row][column]. What cycles read is rounded to half: P,
 * and H, X^-1, X and the dense inverse in the order in which tensor cores take a matrix, tiles of
 * 16 rows and 8 columns, [columns / 8][rows / 16][lane of a warp][4 numbers] (mg_packed_at). */
#pragma once

#include <cuda_fp16.h>
#include "grid/cuda_window.cuh"
#include "vector/cuda/cuda_space.cuh"
extern "C" {
#include "multigrid/fine.h"
#include "multigrid/multigrid.h"
}

/* Blocks that add up, at most, and their numbers of a batch. */
enum {
    LAT_MG_SUM_BLOCKS = 256,
    LAT_MG_PARTIAL = LAT_MG_SUM_BLOCKS * LAT_LEVEL_DEPTH * 2 * LAT_EIGHT
};

/* Where ranks give each other what they have computed of a coarse level: zeros on one rank. */
typedef struct lat_mg_gather {
    const lat_comm *comm;
    const lat_device *dev;
    lat_cuda_window window; /* flags [rank], then [2][rank] parts */
    size_t part;            /* bytes */
    uint32_t calls;         /* so far */
    int own;                /* sites of a rank's blocks */
    int32_t *site;          /* [rank][own] */
    char *mine, *all;       /* on the host, where windows are not mapped */
} lat_mg_gather;

/* Steps of a level as a graph (graphs_gpu.cu), and for what: it has the addresses of vectors and
 * matrices, all of which stay where they are but for x. */
typedef struct lat_mg_graph {
    lat_mg_steps *steps;
    int k, active;
    const lat_eight *x;
    cudaGraphExec_t graph; /* or NULL */
} lat_mg_graph;

enum { LAT_MG_GRAPHS = 64 }; /* of a level */

/* A coarse operator's (lat_coarse.there). */
typedef struct lat_mg_gpu {
    float2 *matrix;                    /* [site][Y_x, Y_y, Y_z, Y_t, X][rows][rows] */
    uint4 *hop, *inverse, *middle;     /* [site][8] H; [site] X^-1; [odd site] X with its shift */
    uint4 *dense;                      /* of the last level, or NULL */
    int32_t *next;                     /* [site][8] */
    double *partial;                   /* of sums: [batch][LAT_MG_PARTIAL] */
    unsigned *arrived;                 /* [batch] blocks that have summed up */
    lat_mg_found *found, *found_there; /* on the host, and its address on the device */
    lat_mg_gather gather;
    lat_mg_graph graphs[LAT_MG_GRAPHS];
    unsigned noted; /* so far: one more takes the place of the oldest */
} lat_mg_gpu;

/* A transfer's (lat_transfer.there). */
typedef struct lat_mg_gpu_transfer {
    int64_t *start[2];  /* of blocks */
    int32_t *site, *at; /* of the coarse lattice; number in the level's vectors */
    int32_t *next;      /* lat_blocks_next */
    __half2 *p;         /* P of odd sites, or of all: from site `first` of the list on */
    int64_t first;
} lat_mg_gpu_transfer;

/* The finest level's (lat_mg_fine.there). */
typedef struct lat_mg_gpu_fine {
    int32_t *place; /* [site of the list]: number of its parity in batches */
    float *links;   /* [site of the list][4][18], with weights and phases of hops */
} lat_mg_gpu_fine;

static inline lat_mg_gpu *lat_mg_gpu_of(const lat_coarse *c) { return (lat_mg_gpu *)c->there; }

static inline lat_mg_gpu_transfer *lat_mg_gpu_transfer_of(const lat_transfer *t)
{
    return (lat_mg_gpu_transfer *)t->there;
}

static inline lat_mg_gpu_fine *lat_mg_gpu_fine_of(const lat_mg_fine *f)
{
    return (lat_mg_gpu_fine *)f->there;
}

static inline cudaStream_t lat_mg_stream(const lat_device *dev)
{
    return lat_cuda_device_of(dev)->stream;
}

/* A launch; `shared`: bytes of dynamic shared memory a block. What fails is found by
 * lat_mg_launched, after one or several of them. */
template <class... K, class... A>
static inline void lat_mg_start(cudaStream_t stream, size_t shared, void (*kernel)(K...), dim3 grid,
                                dim3 block, A... a)
{
    enum { USUAL = 32768 }; /* 48 KB with what a kernel has of its own */
    if (shared > USUAL)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    lat_cuda_start_with(shared, 0, kernel, grid, block, stream, a...);
}

static inline int lat_mg_launched(void)
{
    return lat_cuda_failed(cudaGetLastError(), "a multigrid");
}

/* A copy of a host array on the device; NULL with lat_error set. */
void *lat_mg_upload(const lat_device *dev, const void *host, size_t bytes, const char *what);

/* Numbers (row, column) of a matrix of `tiles` times 16 rows, in half. */
DEVICE size_t mg_packed_at(int tiles, int row, int column)
{
    const int r = row % 16, c = column % 8;
    return (((size_t)(column / 8) * tiles + row / 16) * 32 + (r % 8) * 4 + c % 4) * 4 + r / 8
           + 2 * (c / 4);
}

DEVICE double2 mg_times(double2 a, double2 b)
{
    return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

DEVICE float2 mg_add_times(float2 sum, float2 a, float2 b)
{
    sum.x = fmaf(a.x, b.x, sum.x);
    sum.y = fmaf(a.x, b.y, sum.y);
    sum.x = fmaf(-a.y, b.y, sum.x);
    sum.y = fmaf(a.y, b.x, sum.y);
    return sum;
}

/* sum + conj(a) b */
DEVICE float2 mg_add_conjugate(float2 sum, float2 a, float2 b)
{
    a.y = -a.y;
    return mg_add_times(sum, a, b);
}

/* For a level whose sites ranks have. close: of zeros is allowed. */
int lat_mg_gather_open(const lat_coarse *c, lat_mg_gather *g);
void lat_mg_gather_close(lat_mg_gather *g);

/* In the memory of GPUs, once the stream is there; all ranks call them. Of `bytes`, a multiple of
 * 16, that each rank gives: those of another rank to `to`. */
int lat_mg_gather_face(lat_mg_gather *g, const void *mine, size_t bytes, void *to, int of);

/* `bytes` of each site, a multiple of a vector's, of which a rank has its blocks': those of others.
 */
int lat_mg_gather_sites(const lat_coarse *c, size_t bytes, void *v);

void *lat_mg_gpu_alloc(const lat_device *dev, size_t count, size_t size, const char *what);
void lat_mg_gpu_free(void *p);
int lat_mg_gpu_send(const lat_device *dev, void *to, const void *host, size_t bytes);
int lat_mg_gpu_fetch(const lat_device *dev, void *host, const void *from, size_t bytes);
int lat_mg_gpu_coarse_open(lat_coarse *c);
void lat_mg_gpu_coarse_close(lat_coarse *c);
int lat_mg_gpu_finish(lat_coarse *c, bool dense);
int lat_mg_gpu_hop(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *add,
                   float sign, const lat_eight *in);
int lat_mg_gpu_inverse(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *in);
int lat_mg_gpu_diagonal(const lat_coarse *c, lat_eight *out, const lat_eight *in);
int lat_mg_gpu_dense(const lat_coarse *c, lat_eight *x, const lat_eight *r);
int lat_mg_gpu_apply(const lat_coarse *c, lat_eight *out, const lat_eight *in);
int lat_mg_gpu_gather(const lat_coarse *c, lat_eight *v);
int lat_mg_gpu_swap(const lat_coarse *c, lat_eight *v);
int lat_mg_gpu_dots(const lat_coarse *c, int n, lat_eight *const *x, const lat_eight *y,
                    lat_eight_sums *to);
int lat_mg_gpu_adds(const lat_coarse *c, int n, const lat_mg_factor *f, lat_eight *const *x,
                    const lat_eight *add, lat_eight *y);
int lat_mg_gpu_look(const lat_coarse *c, lat_mg_scalars *s, bool begin, double tolerance);
int lat_mg_gpu_found(const lat_coarse *c, const lat_mg_scalars *s, lat_mg_found *found);
int lat_mg_gpu_run(lat_level *l, lat_mg_steps *steps, int k);
void lat_mg_gpu_graphs_close(lat_mg_gpu *g);
int lat_mg_gpu_transfer_open(lat_transfer *t);
void lat_mg_gpu_transfer_close(lat_transfer *t);
int lat_mg_gpu_make(lat_transfer *t);
int lat_mg_gpu_restrict(const lat_transfer *t, int from, const lat_eight *r, lat_eight *z);
int lat_mg_gpu_prolong(const lat_transfer *t, int from, const lat_eight *z, lat_eight *e);
int lat_mg_gpu_take(const lat_level *l, int first, const lat_eight *x);
int lat_mg_gpu_give(const lat_level *l, int first, lat_eight *x);
int lat_mg_gpu_galerkin(lat_level *l);
int lat_mg_gpu_fine_open(lat_mg_fine *f);
void lat_mg_gpu_fine_close(lat_mg_fine *f);
int lat_mg_gpu_fine_restrict(const lat_mg_fine *f, bool all, int columns, const int *column,
                             const lat_dfield *x, lat_eight *z);
int lat_mg_gpu_fine_prolong(const lat_mg_fine *f, bool all, int columns, const int *column,
                            lat_dfield *x, const lat_eight *z);
int lat_mg_gpu_fine_take(const lat_mg_fine *f, int first, const lat_dfield *x);
int lat_mg_gpu_fine_give(const lat_mg_fine *f, int first, lat_dfield *x);
int lat_mg_gpu_fine_random(const lat_mg_fine *f, int columns, uint64_t seed, lat_dfield *x);
int lat_mg_gpu_fine_round(const lat_mg_fine *f, lat_dfield *x);
int lat_mg_gpu_fine_galerkin(const lat_mg_fine *f, lat_level *l, lat_dfield *x);

/* The inverse of the complement, in g->dense. 1: it is singular. */
int lat_mg_gpu_make_dense(const lat_coarse *c);

/* Columns first .. of P, of one chirality, to columns 0 .. 7 of x. */
int lat_mg_gpu_columns(const lat_mg_fine *f, int first, int chirality, lat_dfield *x);
