/* SPDX-License-Identifier: BSD-3-Clause */
/* sums_gpu.cu: sums over the sites of a batch on GPUs, slice by slice and over ranks, and the
 * scalars of an iteration that stay on the device. */
#include "vector/cuda/cuda_sums.cuh"

#include <atomic>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_carry.cuh"
#include "grid/cuda_tuning.h"
extern "C" {
#include "grid/reduce.h"
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "sums of spinors"); }

int lat_gpu_sums_open(lat_gpu_space *s, int columns)
{
    const size_t most = (size_t)columns * LAT_GPU_NUMBERS,
                 slices = s->sites.extent[3] * s->branches;
    if (lat_cuda_malloc((void **)&s->slice_sum,
                        (size_t)columns * lat_gpu_numbers_of_ranks(s) * slices * sizeof(double),
                        "sums of slices")
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
    const lat_grid *grid = s->space.grid;
    s->call++;
    adder a = {};
    a.partial = s->partial;
    a.slice_sum = s->slice_sum;
    a.sum = s->sum;
    a.flag = s->flag;
    a.call = s->call;
    a.arrived = s->arrived;
    a.slices = lat_gpu_slices(s) * s->branches;
    a.all = (uint32_t)grid->spec.lattice.dims[3] * s->width;
    if (s->window.direct) {
        a.ranks = (uint32_t)grid->dev->comm->size;
        a.branches = s->branches;
        a.there = s->there;
        a.width = s->width;
        a.in_y = s->in_y;
        a.there_y = s->there_y;
        a.width_y = s->width_y;
        a.first = (uint32_t)grid->box.first[3] * s->width
                  + (uint32_t)grid->box.first[2] / s->planes * s->width_y
                  + (uint32_t)grid->box.at[1] * s->in_y;
        a.packets = (++s->sums % 2) * lat_gpu_packet_numbers(s) * sizeof(double2);
        a.mine = s->window.mine;
        memcpy(a.window, s->window.of, a.ranks * sizeof *a.window);
    }
    a.host = s->slices_host;
    a.branch = s->gather.branch;
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
        a.y = s->rows;
        a.z = s->planes;
    } else { /* one after the other */
        a.across = s->groups / a.slices;
        a.y = a.z = 1;
    }
    return a;
}

/* start(a) puts a kernel into the stream that makes sums of slices; ranks may gather these. */
template <class START>
static int start_sums(const lat_gpu_space *s, adder a, int count, const START &start)
{
    const lat_gpu_gather *g = &s->gather;
    const size_t each = (size_t)count * g->most;
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    if (!g->branch)
        return failed(start(a));
    const lat_device *dev = s->space.grid->dev;
    a.slice_sum = g->all + (size_t)dev->comm->rank * each;
    return lat_rc(
        failed(start(a))
        || lat_cuda_carry_gather(lat_cuda_carrier_of(dev), stream, g->all, each * sizeof *g->all)
        || failed(lat_cuda_start(false, add_gathered, (unsigned)count, s->width_y == 1 ? 32 : 256,
                                 stream, a, (const double *)g->all, each)));
}

static int start_sums_of_slices(const lat_gpu_space *s, const adder &all, int count)
{
    return start_sums(s, all, count, [&](const adder &a) {
        const dim3 blocks(s->width_y == 1 ? a.slices : (a.slices + 7) / 8, (unsigned)count);
        return lat_cuda_start(lat_gpu_early(s), s->width_y == 1 ? add_slices : add_planes, blocks,
                              256, lat_gpu_stream(&s->space), a);
    });
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
    const lat_reduce_parts parts = {1, (int)s->there, (int)s->there_y};
    return s->slices_host
               ? lat_reduce_total(s->space.grid, count, &parts, 1, 0, s->slices_host, s->sum)
               : 0;
}

int lat_gpu_sums_finish(lat_gpu_space *s, int columns, int numbers, int arrays)
{
    const int count = columns * numbers;
    return start_sums_of_slices(s, adder_of(s, arrays), count) || finish_sums(s, count) ? -1 : 0;
}

int lat_gpu_sums_of_rows(lat_gpu_space *s, int count, int sides, int rows)
{
    const int rc = start_sums(s, next_adder(s), count, [&](const adder &a) {
        return lat_cuda_start(false, add_rows, dim3(a.slices, (unsigned)(count + 31) / 32), 256,
                              lat_gpu_stream(&s->space), a, count, sides, rows);
    });
    return rc || finish_sums(s, count) ? -1 : 0;
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
        return start_sums_of_slices(s, a, p->columns * numbers);
    return failed(
        lat_cuda_start(false, take_steps, 1, (unsigned)p->columns, lat_gpu_stream(&s->space), a));
}
