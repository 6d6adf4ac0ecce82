/* SPDX-License-Identifier: BSD-3-Clause */
/* sums_gpu.cu: sums over the sites of a batch on GPUs, slice by slice and over ranks, and the
 * scalars of an iteration that stay on the device. */
#include "vector/cuda/cuda_space.cuh"

#include <atomic>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_tuning.h"
extern "C" {
#include "grid/reduce.h"
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "sums of spinors"); }

int lat_gpu_sums_open(lat_gpu_space *s, int columns)
{
    const size_t most = (size_t)columns * LAT_GPU_NUMBERS,
                 slices = s->sites.extent[3] * s->branches;
    if (lat_cuda_malloc((void **)&s->slice_sum, most * slices * sizeof(double), "sums of slices")
        || lat_cuda_malloc((void **)&s->arrived, most * sizeof *s->arrived, "sums of slices")
        || lat_cuda_malloc((void **)&s->factors,
                           (size_t)columns * LAT_VECTOR_MODES * sizeof *s->factors, "factors")
        || lat_cuda_malloc((void **)&s->value, (size_t)columns * LAT_GPU_OF_STEP * sizeof *s->value,
                           "scalars")
        || lat_cuda_malloc((void **)&s->valued, (size_t)columns * sizeof *s->valued, "scalars")
        || failed(cudaMemset(s->valued, 0, (size_t)columns * sizeof *s->valued))
        || failed(cudaMemset(s->arrived, 0, most * sizeof *s->arrived))
        || failed(cudaMallocHost((void **)&s->sum, (2 * most) * sizeof(double))))
        return -1;
    memset(s->sum, 0, 2 * most * sizeof(double));
    s->flag = s->sum + most;
    return 0;
}

void lat_gpu_sums_close(lat_gpu_space *s)
{
    lat_cuda_free(s->partial);
    lat_cuda_free(s->slice_sum);
    lat_cuda_free(s->arrived);
    lat_cuda_free(s->factors);
    cudaFreeHost(s->sum);
    lat_cuda_free(s->value);
    lat_cuda_free(s->valued);
}

/* ---- sums ------------------------------------------------------------------------------------ */

typedef struct adder {
    double *partial; /* [block of a number][arrays] */
    double *slice_sum, *sum, *flag, call;
    unsigned *arrived;
    uint32_t groups, arrays, slices; /* groups of a parity, of a number; slices, or branches */
    uint32_t across, y, z;           /* groups side by side in x, in y; planes of a slice */
    /* Several ranks: sums of slices to all windows, from `first` on of `all`; or to the host. Where
     * ranks have `branches` of a slice, all of them have `there`, in `width` places. */
    uint32_t ranks, first, all, branches, there, width;
    size_t packets; /* of this call, in windows */
    char *window[LAT_CUDA_WINDOW_RANKS], *mine;
    double *host;
    lat_scalar_step step; /* then sum and flag are of what it reports, by place */
    int numbers;          /* of a column */
    lat_scalar *row;
    double *value, epsilon;
    unsigned *valued;
    uint8_t column[LAT_VECTOR_COLUMNS];
} adder;

/* To the host: a number, then its flag. */
static __device__ void report(const adder &a, int place, double v)
{
    *(volatile double *)(a.sum + place) = v;
    __threadfence_system();
    *(volatile double *)(a.flag + place) = a.call;
}

static __device__ void take_step(const adder &a, int place, const double *v)
{
    report(a, place,
           lat_step_take(a.step, a.epsilon, v, a.row + a.column[place], LAT_VECTOR_COLUMNS));
}

/* v is the sum of a number: the last one of a column takes its step. */
static __device__ void finish_column(const adder &a, uint32_t number, double v)
{
    const int place = (int)number / a.numbers;
    double all[LAT_GPU_OF_STEP] = {v};
    if (a.numbers > 1) {
        __stcg(a.value + number, v);
        __threadfence();
        if (atomicInc(a.valued + place, (unsigned)a.numbers - 1) != (unsigned)a.numbers - 1)
            return;
        __threadfence();
        for (int k = 0; k < a.numbers; k++)
            all[k] = __ldcg(a.value + place * a.numbers + k);
    }
    take_step(a, place, all);
}

/* The steps of sums that the host has added up, one thread a column; a.partial: where they lie. */
static __global__ void take_steps(const __grid_constant__ adder a)
{
    take_step(a, (int)threadIdx.x, a.partial + (int)threadIdx.x * a.numbers);
}

/* By a warp: the sum of all get(i), i < n, in pairs (grid/tree.h); for its first thread. A thread
 * has a branch of each; sums that wait for their partners are in `wait`. */
template <class GET> static __device__ double add_all_pairs(uint32_t n, const GET &get)
{
    enum { DEPTH = 16 };
    double wait[DEPTH], v = 0;
    uint32_t each = 1, top = 0;
    while (32 * each < n)
        each *= 2;
    for (uint32_t j = 0; j < each; j++) {
        const uint32_t i = threadIdx.x % 32 * each + j;
        v = i < n ? get(i) : 0;
        for (uint32_t c = j; c & 1; c /= 2)
            v = wait[--top] + v;
        wait[top++] = v;
    }
    for (int d = 1; d < 32; d *= 2)
        v += __shfl_down_sync(~0u, v, d);
    return v;
}

/* By the first warp of a block: the sum of n numbers of the second cache, in pairs, to thread 0. */
static __device__ double add_pairs(const double *v, uint32_t n, size_t stride)
{
    return add_all_pairs(n, [&](uint32_t i) { return __ldcg(v + i * stride); });
}

/* Where slice k is among all: empty places fill up the tree of a slice. */
static __device__ uint32_t place_of(const adder &a, uint32_t k)
{
    const uint32_t t = a.width == 1 ? k : k / a.branches;
    return a.first + k + t * (a.width - a.branches);
}
static __device__ bool has_slice(const adder &a, uint32_t place)
{
    return (place & (a.width - 1)) < a.there;
}

/* By a warp: the slices of a number to all ranks, and the sum of all; for its first thread. */
static __device__ double add_ranks(const adder &a, uint32_t number)
{
    const double *const slice = a.slice_sum + (size_t)number * a.slices;
    const size_t at = a.packets + (size_t)number * a.all * sizeof(double2);
    for (uint32_t k = threadIdx.x % 32; k < a.slices * a.ranks; k += 32)
        store_pair(a.window[k / a.slices] + at + place_of(a, k % a.slices) * sizeof(double2),
                   __ldcg(slice + k % a.slices), a.call);
    for (uint32_t t = threadIdx.x % 32; t < a.all; t += 32)
        while (has_slice(a, t) && poll_pair(a.mine + at + t * sizeof(double2)).y != a.call)
            ;
    __syncwarp();
    return add_all_pairs(a.all, [&](uint32_t t) {
        return has_slice(a, t) ? poll_pair(a.mine + at + t * sizeof(double2)).x : 0;
    });
}

/* By a warp, once all slices of a number are there: they are added up, or go to the host, which
 * does it. */
static __device__ void finish_number(const adder &a, uint32_t number)
{
    const uint32_t lane = threadIdx.x % 32;
    const double *const slice = a.slice_sum + (size_t)number * a.slices;
    for (uint32_t t = lane; a.host && t < a.slices; t += 32)
        a.host[(size_t)number * a.slices + t] = __ldcg(slice + t);
    if (a.host)
        __threadfence_system();
    const double v = a.ranks > 1 ? add_ranks(a, number) : add_pairs(slice, a.slices, 1);
    if (lane == 0) {
        if (a.step)
            finish_column(a, number, v);
        else
            report(a, (int)number, v);
    }
}

/* By a block that has written sums of its slice: is it the last one of its numbers (blockIdx.y)?
 * Then all slices are there. */
static __device__ bool is_last(const adder &a)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(a.arrived + blockIdx.y, a.slices - 1) == a.slices - 1;
    __syncthreads();
    __threadfence();
    return last;
}

/* By a block: the groups of a slice, of all parities, in pairs over y, then over z (grid/reduce.h);
 * for thread 0. */
static __device__ double add_slice(const adder &a, double *p)
{
    const uint32_t warp = threadIdx.x / 32, plane = a.across * a.y;
    for (uint32_t z = warp; z < a.z; z += 8) {
        const double v = add_all_pairs(a.y, [&](uint32_t y) {
            const double *row = p + z * plane + y * a.across;
            double w = 0;
            for (uint32_t j = 0; j < a.across; j++)
                for (uint32_t side = 0; side < a.arrays; side += a.groups)
                    w += row[side + j];
            return w;
        });
        __syncwarp(); /* all groups of the plane are read */
        if (threadIdx.x % 32 == 0)
            __stcg(p + z * plane, v);
    }
    __syncthreads();
    return warp == 0 ? add_pairs(p, a.z, plane) : 0;
}

/* blockIdx.x: the slice; blockIdx.y: the number. */
static __global__ void __launch_bounds__(256) add_slices(const __grid_constant__ adder a)
{
    WAIT_FOR_GRID();
    const double v = add_slice(a, a.partial + (size_t)blockIdx.y * a.arrays
                                      + (size_t)blockIdx.x * a.z * a.y * a.across);
    if (threadIdx.x == 0)
        __stcg(a.slice_sum + (size_t)blockIdx.y * a.slices + blockIdx.x, v);
    if (is_last(a) && threadIdx.x < 32)
        finish_number(a, blockIdx.y);
}

/* blockIdx.x: the slice; blockIdx.y: 32 of `count` numbers, a lane each, which lie side by side in
 * rows; a warp adds up every eighth row. */
static __global__ void __launch_bounds__(256)
    add_rows(const __grid_constant__ adder a, uint32_t count, uint32_t sides, uint32_t rows)
{
    __shared__ double warp[8][32];
    const uint32_t lane = threadIdx.x % 32, k = threadIdx.x / 32, number = blockIdx.y * 32 + lane;
    double v = 0;
    if (number < count)
        for (uint32_t side = 0; side < sides; side++) {
            const double *const p = a.partial
                                    + (size_t)(side * a.slices + blockIdx.x) * rows * count
                                    + number;
            for (uint32_t r = k; r < rows; r += 8)
                v += p[(size_t)r * count];
        }
    warp[k][lane] = v;
    __syncthreads();
    if (k == 0 && number < count) {
        for (int w = 1; w < 8; w++)
            v += warp[w][lane];
        __stcg(a.slice_sum + (size_t)number * a.slices + blockIdx.x, v);
    }
    if (is_last(a))
        for (uint32_t n = blockIdx.y * 32 + k; n < blockIdx.y * 32 + 32 && n < count; n += 8)
            finish_number(a, n);
}

int lat_gpu_sums_begin(lat_gpu_space *s, int columns, int numbers, int arrays)
{
    const size_t n = (size_t)columns * (size_t)numbers * (size_t)arrays;
    if (n <= s->partial_numbers)
        return 0;
    lat_cuda_free(s->partial);
    s->partial = NULL;
    s->partial_numbers = 0;
    if (lat_cuda_malloc((void **)&s->partial, n * sizeof(double), "sums"))
        return -1;
    s->partial_numbers = n;
    return 0;
}

/* What adds up the sums of the next call. */
static adder next_adder(lat_gpu_space *s)
{
    s->call++;
    adder a = {};
    a.partial = s->partial;
    a.slice_sum = s->slice_sum;
    a.sum = s->sum;
    a.flag = s->flag;
    a.call = s->call;
    a.arrived = s->arrived;
    a.slices = lat_gpu_slices(s) * s->branches;
    if (s->window.direct) {
        const lat_grid *grid = s->space.grid;
        a.ranks = (uint32_t)grid->dev->comm->size;
        a.branches = s->branches;
        a.there = s->all_branches;
        a.width = s->width;
        a.first = (uint32_t)grid->box.first[3] * s->width
                  + (uint32_t)grid->box.first[2] / s->planes;
        a.all = (uint32_t)grid->spec.lattice.dims[3] * s->width;
        a.packets = (++s->sums % 2) * lat_gpu_packet_numbers(s) * sizeof(double2);
        a.mine = s->window.mine;
        memcpy(a.window, s->window.of, a.ranks * sizeof *a.window);
    }
    a.host = s->slices_host;
    return a;
}

/* Of numbers that lie apart, `arrays` groups each. */
static adder adder_of(lat_gpu_space *s, int arrays)
{
    adder a = next_adder(s);
    const lat_gpu_sites *sites = &s->sites;
    a.groups = s->groups;
    a.arrays = (uint32_t)arrays;
    if (sites->brick[0] * sites->brick[1] == 32) { /* groups are bricks */
        a.across = sites->across;
        a.y = sites->extent[1] / sites->brick[1];
        a.z = s->planes;
    } else { /* one after the other */
        a.across = s->groups / a.slices;
        a.y = a.z = 1;
    }
    return a;
}

static int start_sums(const lat_gpu_space *s, const adder *a, int count)
{
    return failed(lat_cuda_start(lat_gpu_early(s), add_slices, dim3(a->slices, (unsigned)count),
                                 256, lat_gpu_stream(&s->space), *a));
}

/* Waits until all flags are those of a call, or, as a last resort, for all work. */
static int await_sums(const lat_gpu_space *s, const double *flag, int count, double call)
{
    int n = 0;
    for (long i = 0; i < LAT_CUDA_FLAG_READS && n < count; i++)
        while (n < count && *(const volatile double *)(flag + n) == call)
            n++;
    std::atomic_thread_fence(std::memory_order_acquire);
    return n < count ? failed(cudaStreamSynchronize(lat_gpu_stream(&s->space))) : 0;
}

/* The same of the present call, and sums of ranks that the host adds up. */
static int finish_sums(lat_gpu_space *s, int count)
{
    if (await_sums(s, s->flag, count, s->call))
        return -1;
    const lat_reduce_parts parts = {1, (int)s->all_branches, 1};
    return s->slices_host
               ? lat_reduce_total(s->space.grid, count, &parts, 1, 0, s->slices_host, s->sum)
               : 0;
}

int lat_gpu_sums_finish(lat_gpu_space *s, int columns, int numbers, int arrays)
{
    const int count = columns * numbers;
    const adder a = adder_of(s, arrays);
    return start_sums(s, &a, count) || finish_sums(s, count) ? -1 : 0;
}

int lat_gpu_sums_of_rows(lat_gpu_space *s, int count, int sides, int rows)
{
    const adder a = next_adder(s);
    return lat_rc(
        failed(lat_cuda_start(false, add_rows, dim3(a.slices, (unsigned)(count + 31) / 32), 256,
                              lat_gpu_stream(&s->space), a, count, sides, rows))
        || finish_sums(s, count));
}

/* ---- scalars that stay on the device --------------------------------------------------------- */

static lat_gpu_scalars *scalars_of(lat_scalars *s) { return (lat_gpu_scalars *)s; }

/* Where a step reports to, the last time or the one before; flags are LAT_VECTOR_COLUMNS behind. */
static double *report_of(const lat_gpu_scalars *s, lat_scalar_step step, int ago)
{
    return s->report + (2 * step + (s->taken[step] - ago) % 2) * 2 * LAT_VECTOR_COLUMNS;
}

static void scalars_close(lat_scalars *scalars)
{
    lat_gpu_scalars *const s = scalars_of(scalars);
    if (!s)
        return;
    lat_cuda_free(s->row);
    cudaFreeHost(s->report);
    free(s);
}

static lat_scalars *scalars_open(lat_space *space)
{
    const size_t rows = LAT_ROWS * LAT_VECTOR_COLUMNS * sizeof(lat_scalar),
                 reports = LAT_STEPS * 4 * LAT_VECTOR_COLUMNS * sizeof(double);
    lat_gpu_scalars *s = (lat_gpu_scalars *)lat_alloc_zero(1, sizeof *s, "scalars");
    if (!s)
        return NULL;
    s->space = lat_gpu_space_of(space);
    if (lat_cuda_malloc((void **)&s->row, rows, "scalars")
        || failed(cudaMemsetAsync(s->row, 0, rows, lat_gpu_stream(space)))
        || failed(cudaMallocHost((void **)&s->report, reports))) {
        scalars_close((lat_scalars *)s);
        return NULL;
    }
    memset(s->report, 0, reports);
    return (lat_scalars *)s;
}

static int scalars_set(lat_scalars *scalars, const lat_part *p, lat_row row, const lat_scalar *to)
{
    const lat_gpu_scalars *const s = scalars_of(scalars);
    for (int i = 0; i < p->columns; i++)
        if (failed(cudaMemcpyAsync(s->row + row * LAT_VECTOR_COLUMNS + p->column[i],
                                   to + p->column[i], sizeof *to, cudaMemcpyHostToDevice,
                                   lat_gpu_stream(&s->space->space))))
            return -1;
    return 0;
}

static int scalars_read(lat_scalars *scalars, const lat_part *p, lat_scalar_step step, int ago,
                        double *number)
{
    const lat_gpu_scalars *const s = scalars_of(scalars);
    const double *const from = report_of(s, step, ago);
    if (await_sums(s->space, from + LAT_VECTOR_COLUMNS, p->columns,
                   s->call[step][(s->taken[step] - ago) % 2]))
        return -1;
    for (int i = 0; i < p->columns; i++)
        number[p->column[i]] = ((const volatile double *)from)[i];
    return 0;
}

const lat_scalar_ops lat_scalars_gpu = {scalars_open, scalars_close, scalars_set, scalars_read};

int lat_gpu_sums_step(lat_gpu_space *s, const lat_part *p, int numbers, int arrays, lat_scalars *by,
                      lat_scalar_step step, double epsilon)
{
    lat_gpu_scalars *const to = scalars_of(by);
    adder a = {};
    /* Ranks that add up sums through MPI wait for them. */
    if (s->slices_host) {
        if (lat_gpu_sums_finish(s, p->columns, numbers, arrays))
            return -1;
        a.partial = s->sum;
        a.call = s->call;
    } else
        a = adder_of(s, arrays);
    to->taken[step]++;
    a.sum = report_of(to, step, 0);
    a.flag = a.sum + LAT_VECTOR_COLUMNS;
    a.step = step;
    a.epsilon = epsilon;
    a.numbers = numbers;
    a.row = to->row;
    a.value = s->value;
    a.valued = s->valued;
    for (int i = 0; i < p->columns; i++)
        a.column[i] = (uint8_t)p->column[i];
    to->call[step][to->taken[step] % 2] = a.call;
    if (!s->slices_host)
        return start_sums(s, &a, p->columns * numbers);
    return failed(
        lat_cuda_start(false, take_steps, 1, (unsigned)p->columns, lat_gpu_stream(&s->space), a));
}
