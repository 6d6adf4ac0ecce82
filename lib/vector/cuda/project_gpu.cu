/* SPDX-License-Identifier: BSD-3-Clause */
/* project_gpu.cu: products and combine of space.h on GPUs. */
#include "vector/cuda/cuda_project.cuh"

#include <stdlib.h>
#include <string.h>
extern "C" {
#include "grid/tree.h"
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "projections"); }

static const uint32_t MOST_WARPS = 8; /* of a block of products */

/* ---- kernels --------------------------------------------------------------------------------- */

template <int P, int TERMS, int COLUMNS>
static cudaError_t start_products(lat_project_args *a, cudaStream_t stream)
{
    const uint32_t terms = (uint32_t)(a->terms + TERMS - 1) / TERMS,
                   warps = terms < MOST_WARPS ? terms : MOST_WARPS;
    a->tiles_terms = (terms + warps - 1) / warps;
    a->tiles_columns = (uint32_t)(a->columns + COLUMNS - 1) / COLUMNS;
    const dim3 blocks(a->slices * a->rows * a->tiles_terms * a->tiles_columns, a->sides);
    return lat_cuda_start(false, products<P, TERMS, COLUMNS>, blocks, dim3(32, warps), stream, *a);
}

template <int P, int COLUMNS>
static cudaError_t start_combine(const lat_project_args *a, cudaStream_t stream)
{
    const uint32_t rows = a->sides * a->groups * lat_form<P>::CHUNKS;
    const dim3 blocks((rows + 4 * LAT_COMBINE_ROWS - 1) / (4 * LAT_COMBINE_ROWS),
                      (unsigned)((a->columns + COLUMNS - 1) / COLUMNS));
    return lat_cuda_start(false, combine<P, COLUMNS>, blocks, 128, stream, *a);
}

/* As many terms beside each other as registers allow. */
template <int P> static cudaError_t products_of(lat_project_args *a, cudaStream_t s)
{
    enum { FEW = P == LAT_STORAGE_DOUBLE ? 2 : 4 };
    const int n = a->columns;
    return n == 1  ? start_products<P, 8, 1>(a, s)
           : n < 3 ? start_products<P, 8, 2>(a, s)
           : n < 5 ? start_products<P, 2 * FEW, 4>(a, s)
                   : start_products<P, FEW, 12>(a, s);
}

template <int P> static cudaError_t combine_of(const lat_project_args *a, cudaStream_t s)
{
    const int n = a->columns;
    return n == 1  ? start_combine<P, 1>(a, s)
           : n < 3 ? start_combine<P, 2>(a, s)
           : n < 5 ? start_combine<P, 4>(a, s)
                   : start_combine<P, 12>(a, s);
}

/* ---- the operations -------------------------------------------------------------------------- */

/* Groups that a warp adds up; by the lattice alone, as is the order of sums. */
static uint32_t run_of(uint32_t per_slice) { return per_slice < 256 ? 4 : 8; }

/* So many of n fields in this pass: passes are of about the same size. */
static int piece_of(int n, int first)
{
    const int passes = (n + LAT_VECTOR_MODES - 1) / LAT_VECTOR_MODES,
              each = ((n + passes - 1) / passes + 7) / 8 * 8;
    return n - first < each ? n - first : each;
}

static int begin(const lat_gpu_space *s, const lat_part *p, const lat_dfield *y,
                 lat_project_args *a)
{
    if (s->space.grid->spec.storage == LAT_STORAGE_HALF)
        return lat_fail("projections on a GPU: expected spinors in double or single");
    memset(a, 0, sizeof *a);
    a->half = s->sites.half;
    a->groups = s->groups;
    a->slices = lat_gpu_slices(s);
    a->per_slice = s->groups / a->slices;
    const lat_grid *grid = s->space.grid;
    const uint32_t plane = s->sites.plane / 32;
    a->run = run_of(a->per_slice * (uint32_t)(grid->box.ranks[1] * grid->box.ranks[2]));
    if (grid->cut[1] && plane % a->run)
        return lat_fail("projections on GPUs that cut y: expected a multiple of %u sites in a "
                        "rank's part of x and y, or a --grid that leaves y whole, found %u",
                        64 * a->run, 64 * plane);
    if (grid->boxed && a->per_slice % a->run)
        return lat_fail("projections on GPUs that cut z: expected a multiple of %u sites in a "
                        "rank's part of a slice of t, or a --grid that leaves z whole, found %u",
                        64 * a->run, 64 * a->per_slice);
    a->rows = (a->per_slice + a->run - 1) / a->run;
    a->sides = (uint32_t)lat_part_parities(p);
    a->first = lat_part_first(p);
    a->parity = s->parity;
    a->columns = p->columns;
    a->y = (char *)y->data;
    for (int i = 0; i < p->columns; i++)
        a->column[i] = (size_t)p->column[i] * s->column;
    return 0;
}

static void take(lat_project_args *a, int n, int first, const lat_dfield *const *w)
{
    a->terms = piece_of(n, first);
    a->numbers = 2 * a->terms * a->columns;
    for (int j = 0; j < a->terms; j++)
        a->w[j] = (const char *)w[first + j]->data;
}

/* sum[count] of a slice: its rows, of all sides, in the order of add_rows (cuda_sums.cuh). */
static void add_slice(const double *v, size_t sides, size_t rows, size_t count, double *sum)
{
    for (size_t k = 0; k < count; k++)
        for (size_t warp = 0; warp < 8; warp++) {
            double w = 0;
            for (size_t side = 0; side < sides; side++)
                for (size_t r = warp; r < rows; r += 8)
                    w += v[(side * rows + r) * count + k];
            sum[k] = warp ? sum[k] + w : w;
        }
}

/* This rank's rows of a slice and side to where they are in the whole slice. */
static void place_rows(const lat_grid *grid, const lat_project_args *a, const double *from,
                       double *slice)
{
    const lat_box *box = &grid->box;
    const size_t pieces = grid->cut[1] ? (size_t)box->count[2] : 1, /* planes, if these are cut */
        each = a->rows / pieces * (size_t)a->numbers;
    for (size_t k = 0; k < pieces; k++) {
        const size_t z = (size_t)box->at[2] * pieces + k;
        memcpy(slice + (z * (size_t)box->ranks[1] + (size_t)box->at[1]) * each, from + k * each,
               each * sizeof *slice);
    }
}

/* Where y or z is cut ranks have rows of slices: slice by slice these go to all ranks, whose hosts
 * add them up. s->partial to s->sum. */
static int sums_of_boxes(lat_gpu_space *s, const lat_project_args *a)
{
    const lat_grid *grid = s->space.grid;
    const lat_comm *comm = grid->dev->comm;
    const lat_box *box = &grid->box;
    const size_t slices = (size_t)grid->spec.lattice.dims[3], count = (size_t)a->numbers,
                 ranks = (size_t)(box->ranks[1] * box->ranks[2]), own = a->rows * count,
                 here = a->sides * a->slices * own;
    double *const v = (double *)lat_alloc(here + a->sides * ranks * own + slices * count, sizeof *v,
                                          "sums of rows");
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    int rc = lat_agree(comm, lat_rc(!v
                                    || failed(cudaMemcpyAsync(v, s->partial, here * sizeof *v,
                                                              cudaMemcpyDeviceToHost, stream))
                                    || failed(cudaStreamSynchronize(stream))));
    double *const slice = rc ? NULL : v + here, *const sum = rc ? NULL
                                                                : slice + a->sides * ranks * own;
    for (size_t t = 0; t < slices && rc == 0; t++) {
        const size_t k = t - (size_t)box->first[3]; /* before the first one: beyond all */
        memset(slice, 0, a->sides * ranks * own * sizeof *slice);
        for (size_t side = 0; side < a->sides && k < a->slices; side++)
            place_rows(grid, a, v + (side * a->slices + k) * own, slice + side * ranks * own);
        rc = comm->sum(comm, slice, (int)(a->sides * ranks * own));
        add_slice(slice, a->sides, ranks * a->rows, count, sum + t * count);
    }
    for (size_t k = 0; k < count && rc == 0; k++)
        s->sum[k] = lat_tree_sum(sum + k, slices, count);
    free(v);
    return rc;
}

int lat_gpu_products(lat_space *space, const lat_part *p, int n, const lat_dfield *const *w,
                     const lat_dfield *y, lat_scalar *dot)
{
    lat_gpu_space *s = lat_gpu_space_of(space);
    const cudaStream_t stream = lat_gpu_stream(space);
    lat_project_args a;
    if (p->columns == 0 || n == 0)
        return 0;
    if (begin(s, p, y, &a))
        return -1;
    for (int first = 0; first < n; first += a.terms) {
        take(&a, n, first, w);
        if (lat_gpu_sums_begin(s, p->columns, 2 * a.terms, (int)(a.sides * a.slices * a.rows)))
            return -1;
        a.partial = s->partial;
        if (failed(space->grid->spec.storage == LAT_STORAGE_DOUBLE
                       ? products_of<LAT_STORAGE_DOUBLE>(&a, stream)
                       : products_of<LAT_STORAGE_SINGLE>(&a, stream))
            || (space->grid->boxed ? sums_of_boxes(s, &a)
                                   : lat_gpu_sums_of_rows(s, a.numbers, (int)a.sides, (int)a.rows)))
            return -1;
        for (int j = 0; j < a.terms; j++)
            for (int i = 0; i < p->columns; i++) {
                const double *const v = s->sum + (i * a.terms + j) * 2;
                dot[(first + j) * space->columns + p->column[i]] = lat_scalar{v[0], v[1]};
            }
    }
    return 0;
}

int lat_gpu_combine(lat_space *space, const lat_part *p, int n, const lat_scalar *a,
                    const lat_dfield *const *w, lat_dfield *y)
{
    lat_gpu_space *s = lat_gpu_space_of(space);
    const cudaStream_t stream = lat_gpu_stream(space);
    lat_project_args k;
    lat_scalar factor[LAT_VECTOR_MODES * LAT_VECTOR_COLUMNS];
    if (p->columns == 0 || n == 0)
        return 0;
    if (begin(s, p, y, &k))
        return -1;
    for (int first = 0; first < n; first += k.terms) {
        take(&k, n, first, w);
        for (int j = 0; j < k.terms; j++)
            for (int i = 0; i < p->columns; i++)
                factor[j * p->columns + i] = a[(first + j) * space->columns + p->column[i]];
        k.factors = s->factors;
        if (failed(cudaMemcpyAsync(s->factors, factor,
                                   sizeof *factor * (size_t)(k.terms * p->columns),
                                   cudaMemcpyHostToDevice, stream)))
            return -1;
        if (failed(space->grid->spec.storage == LAT_STORAGE_DOUBLE
                       ? combine_of<LAT_STORAGE_DOUBLE>(&k, stream)
                       : combine_of<LAT_STORAGE_SINGLE>(&k, stream)))
            return -1;
    }
    return 0;
}
