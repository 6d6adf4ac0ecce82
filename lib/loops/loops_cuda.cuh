/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_cuda.cuh: what the host side of loops on a GPU (loops_gpu.cu, loops_smear_gpu.cu), sums of
 * loops (loops_gram.cu) and kernels for each N (loops_kernels.cu) know of each other.
 *
 * A field of matrices has its reals one after the other, 2 N N planes of doubles. In a plane the
 * times of a site x of a slice lie side by side: number x * slices + t. So a thread is a site and
 * time, neighbouring threads read neighbouring numbers, and a shift in space is an address. A line
 * has `columns` times of each x: behind those of the lattice `time` more, which it has one time
 * around the lattice later. */
#pragma once

#include "grid/cuda_device.cuh"
extern "C" {
#include "loops_device.h"
}

/* The axes of space, then time; steps along them. */
typedef struct lat_cuda_loops_sites {
    int nd;
    uint32_t sites, slices, volume; /* sites of a slice */
    uint32_t extent[LAT_MAX_DIMS], stride[LAT_MAX_DIMS];
} lat_cuda_loops_sites;

/* Links along mu: to = P[(1 - weight) u + share C], or exp(X) u, X of share C u^+ (STOUT:
 * smear/smear.h). C: staples in the planes with nu[0 .. planes - 1], with sides b along mu, and
 * sides c along nu. */
typedef struct lat_cuda_smear {
    bool stout;
    int mu, planes, halvings; /* of exp (site/flow.h) */
    int nu[LAT_MAX_DIMS - 1];
    const double *b[LAT_MAX_DIMS - 1], *c[LAT_MAX_DIMS - 1], *u;
    double *to, weight, share;
    int *singular; /* becomes 1 where there is no P */
} lat_cuda_smear;

/* to = the mean over paths; links[axis] */
typedef struct lat_cuda_steps {
    const double *links[LAT_MAX_DIMS - 1];
    double *to;
    lat_loops_paths paths;
} lat_cuda_steps;

/* Lines of n steps from those of n - 1, of all levels; zero outside of slices first to last. */
typedef struct lat_cuda_lines {
    double *line[LAT_LOOPS_LEVELS];
    const double *step[LAT_LOOPS_LEVELS], *around; /* NULL: no loop crosses the boundary */
    int levels, n;
    uint32_t begin[LAT_MAX_DIMS], end[LAT_MAX_DIMS]; /* of the last step, modulo extents */
    uint32_t columns, time, first, last;
} lat_cuda_lines;

typedef struct lat_cuda_loops_ops {
    cudaError_t (*smear)(const lat_cuda_loops_sites *, const lat_cuda_smear *, cudaStream_t);
    /* g(x, t + 1) = g(x, t) link(x, t); around(x) = g(x, slices). g: NULL, or to be written. */
    cudaError_t (*gauge)(const lat_cuda_loops_sites *, const double *link, double *g,
                         double *around, cudaStream_t);
    /* u(x) <- g(x) u(x) g(x + axis)^+ */
    cudaError_t (*transform)(const lat_cuda_loops_sites *, double *u, const double *g, int axis,
                             cudaStream_t);
    cudaError_t (*steps)(const lat_cuda_loops_sites *, const lat_cuda_steps *, cudaStream_t);
    cudaError_t (*lengthen)(const lat_cuda_loops_sites *, const lat_cuda_lines *, cudaStream_t);
} lat_cuda_loops_ops;

/* ---- sums of loops, for any N ---------------------------------------------------------------- */

/* A row is a real of the lines at x: `rows` of `columns` times. Rows are cut into tiles, and tiles
 * into chunks; a block sums a chunk for a pair of levels. */
enum { LAT_GRAM_CHUNKS = 512, LAT_GRAM_TIMES = 8 };
typedef struct lat_cuda_gram {
    const double *line[LAT_LOOPS_LEVELS];
    int levels, pairs;
    uint64_t rows;
    uint32_t columns, slices, time;
    uint32_t tile;          /* rows: 1, 2, .. or 32 */
    uint32_t width;         /* columns of a row in shared memory */
    uint32_t chunks, tiles; /* tiles of a chunk */
    uint32_t times;         /* groups of 8 times of a block */
    double *partial;        /* [pair][end of i][T][chunk] */
    double *sums;           /* [T][pair], to be added to */
} lat_cuda_gram;

/* Fills in tile, width, chunks, tiles and times. -1 with a sentence where lines are too long. */
int lat_gram_plan(lat_cuda_gram *g);

/* Doubles of `partial`. */
size_t lat_gram_partial(const lat_cuda_gram *g);

/* Adds the loops of lines to the sums. */
cudaError_t lat_gram_add(const lat_cuda_gram *g, cudaStream_t stream);

/* ---- fields ---------------------------------------------------------------------------------- */

enum { LAT_LOOPS_FIELDS = 160 };
typedef struct lat_loops_gpu_state {
    lat_loops loops;
    const lat_cuda_loops_ops *ops;
    const lat_cuda_device *dev;
    cudaStream_t stream; /* the device's */
    lat_cuda_loops_sites w;
    size_t reals; /* of a matrix */
    double *all[LAT_LOOPS_FIELDS];
    int fields; /* of `all` */
    double *u[LAT_MAX_DIMS], *g, *around;
    double *links[LAT_LOOPS_LEVELS][LAT_MAX_DIMS - 1];
    double *steps[LAT_LOOPS_LEVELS];
    lat_cuda_lines lines;
    lat_cuda_gram gram;
    double *sums; /* [n][T][pair] */
    int *singular;
} lat_loops_gpu_state;

/* So many doubles, which lat_loops_gpu_release or the end of the measurement frees. */
double *lat_loops_gpu_new(lat_loops_gpu_state *s, size_t doubles);
static inline double *lat_loops_gpu_field(lat_loops_gpu_state *s)
{
    return lat_loops_gpu_new(s, s->reals * s->w.volume);
}
void lat_loops_gpu_release(lat_loops_gpu_state *s, double *field);

/* Smears the links from[mu], mu below `directions`, by s->steps steps: to[mu], new fields; where
 * `one`, of the last axis alone. `from` stays. */
int lat_loops_gpu_smear(lat_loops_gpu_state *s, const lat_smear *smear, int directions,
                        double *const *from, double **to, bool one);

/* Fields that it needs at once beside `from`, with its result. */
int lat_loops_gpu_smear_fields(const lat_smear *smear, int directions, bool one);
