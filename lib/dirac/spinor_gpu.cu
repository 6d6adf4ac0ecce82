/* SPDX-License-Identifier: BSD-3-Clause */
/* spinor_gpu.cu: batches of SU(3) spinors on GPUs: the table of spinor.h. */
#include "cuda_dirac.cuh"
#include "cuda_pack.cuh"
#include "cuda_pass.cuh"

#include <atomic>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_halo.cuh"
#include "grid/cuda_tuning.h"
extern "C" {
#include "base/error.h"
#include "grid/reduce.h"
#include "lattice/field.h"
#include "staging.h"
extern const lat_spinor_ops lat_spinor_gpu;
}

#define THREADS 128

static int failed(cudaError_t e) { return lat_cuda_failed(e, "spinors"); }

/* ---- the space ------------------------------------------------------------------------------- */

/* Groups of 32 sites are bricks in (x/2, y) where one of these fits. */
static void choose_brick(lat_hop_sites *s)
{
    static const uint32_t bricks[][2] = {{16, 2}, {8, 4}, {4, 8}, {32, 1}, {2, 16}, {1, 32}};
    s->brick[0] = s->extent[0];
    s->brick[1] = s->extent[1];
    for (const uint32_t *b : bricks)
        if (s->extent[0] % b[0] == 0 && s->extent[1] % b[1] == 0) {
            s->brick[0] = b[0];
            s->brick[1] = b[1];
            return;
        }
}

static void set_sites(lat_hop_sites *s, const lat_grid *grid, uint32_t strip)
{
    memset(s, 0, sizeof *s);
    for (int mu = 0; mu < 4; mu++)
        s->extent[mu] = (uint32_t)grid->slot.dims[mu];
    s->extent[0] /= 2;
    s->ghosts = grid->halo;
    if (grid->halo) {
        s->extent[3] = (uint32_t)grid->slab.count;
        s->odd = (uint32_t)grid->slab.first & 1;
    }
    choose_brick(s);
    s->across = s->extent[0] / s->brick[0];
    s->plane = s->extent[0] * s->extent[1];
    s->slice = s->plane * s->extent[2];
    s->half = s->slice * s->extent[3];
    s->back = s->ghosts ? 0 : (s->extent[3] - 1) * s->slice;
    s->by_brick[0] = lat_cuda_divide_by(s->brick[0]);
    s->by_brick[1] = lat_cuda_divide_by(s->brick[1]);
    s->by_across = lat_cuda_divide_by(s->across);
    s->by_size = lat_cuda_divide_by(s->brick[0] * s->brick[1]);
    s->by_plane = lat_cuda_divide_by(s->plane);
    s->by_z = lat_cuda_divide_by(s->extent[2]);
    if (s->plane % 32 == 0 && s->extent[3] % 2 == 0) { /* extents of z are even */
        s->strip = s->extent[2] / 2;
        while (s->strip > strip && s->strip % 2 == 0)
            s->strip /= 2;
        s->by_groups = lat_cuda_divide_by(s->plane / 32);
        s->by_strip = lat_cuda_divide_by(s->strip);
        s->by_pairs_t = lat_cuda_divide_by(s->extent[3] / 2);
        s->middle = s->ghosts ? s->extent[3] / 4 : 0;
    }
}

static size_t group_bytes(lat_storage storage)
{
    switch (storage) {
    case LAT_STORAGE_DOUBLE: return lat_form<LAT_STORAGE_DOUBLE>::GROUP;
    case LAT_STORAGE_SINGLE: return lat_form<LAT_STORAGE_SINGLE>::GROUP;
    case LAT_STORAGE_HALF: return lat_form<LAT_STORAGE_HALF>::GROUP;
    }
    return 0;
}

static void gpu_close(lat_spinor_space *space)
{
    lat_gpu_space *s = lat_gpu_space_of(space);
    lat_cuda_window_close(&s->window);
    cudaFree(s->send);
    cudaFreeHost(s->staged[0]);
    cudaFreeHost(s->staged[1]);
    cudaFreeHost(s->slices_host);
    cudaFree(s->partial);
    cudaFree(s->slice_sum);
    cudaFree(s->arrived);
    cudaFree(s->factors);
    cudaFreeHost(s->sum);
    cudaFree(s->later);
    cudaFree(s->value);
    cudaFree(s->valued);
    cudaFreeHost(s->of_chain);
    free(s);
}

static int open_sums(lat_gpu_space *s, int columns)
{
    const size_t most = (size_t)columns * LAT_GPU_NUMBERS, slices = s->sites.extent[3];
    if (lat_cuda_malloc((void **)&s->slice_sum, most * slices * sizeof(double), "sums of slices")
        || lat_cuda_malloc((void **)&s->arrived, most * sizeof *s->arrived, "sums of slices")
        || lat_cuda_malloc((void **)&s->factors,
                           (size_t)columns * LAT_SPINOR_MODES * sizeof *s->factors, "factors")
        || failed(cudaMemset(s->arrived, 0, most * sizeof *s->arrived))
        || failed(cudaMallocHost((void **)&s->sum, (2 * most) * sizeof(double))))
        return -1;
    memset(s->sum, 0, 2 * most * sizeof(double));
    s->flag = s->sum + most;
    return 0;
}

static size_t packet_numbers(const lat_gpu_space *s)
{
    return (size_t)s->space.columns * LAT_GPU_NUMBERS * (size_t)s->space.grid->spec.lattice.dims[3];
}

static cudaError_t empty(const lat_gpu_space *s, size_t groups)
{
    char *const ghosts = s->window.mine + s->ghosts;
    const unsigned blocks = lat_cuda_blocks(groups, 4);
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE:
        empty_ghosts<LAT_STORAGE_DOUBLE><<<blocks, 128, 0, stream>>>(ghosts, groups);
        break;
    case LAT_STORAGE_SINGLE:
        empty_ghosts<LAT_STORAGE_SINGLE><<<blocks, 128, 0, stream>>>(ghosts, groups);
        break;
    case LAT_STORAGE_HALF:
        empty_ghosts<LAT_STORAGE_HALF><<<blocks, 128, 0, stream>>>(ghosts, groups);
        break;
    }
    return cudaStreamSynchronize(stream);
}

/* What several ranks need. */
static int open_window(lat_gpu_space *s)
{
    const lat_grid *grid = s->space.grid;
    if (!grid->halo)
        return 0;
    s->face = (size_t)(s->sites.slice / 32) * s->group;
    s->ghosts = 2 * packet_numbers(s) * sizeof(double2);
    const size_t faces = (size_t)s->space.columns * s->face;
    if (lat_cuda_window_open(grid->dev, s->ghosts + 4 * faces, "faces of spinors", &s->window)
        || failed(empty(s, 4 * faces / s->group)))
        return -1;
    if (s->window.direct)
        return 0;
    const size_t sums = (size_t)s->space.columns * LAT_GPU_NUMBERS * s->sites.extent[3];
    return lat_cuda_malloc((void **)&s->send, 2 * faces, "faces of spinors")
                   || failed(cudaMallocHost((void **)&s->staged[0], 2 * faces))
                   || failed(cudaMallocHost((void **)&s->staged[1], 2 * faces))
                   || failed(cudaMallocHost((void **)&s->slices_host, sums * sizeof(double)))
               ? -1
               : 0;
}

static lat_spinor_space *gpu_open(lat_grid *grid, int nc, int columns)
{
    if (nc != 3) {
        lat_fail("SU(%d): Dirac operators on a GPU are for SU(3)", nc);
        return NULL;
    }
    const int *const dims = grid->spec.lattice.dims;
    if (!lat_spinor_gpu_takes(&grid->spec.lattice, nc, grid->halo ? 2 : 1)) {
        lat_fail("Dirac operators on several GPUs: expected a multiple of 64 sites a slice of t, "
                 "found %d x %d x %d",
                 dims[0], dims[1], dims[2]);
        return NULL;
    }
    lat_gpu_space *s = (lat_gpu_space *)calloc(1, sizeof *s);
    if (!s) {
        lat_fail("out of memory: a space of spinors");
        return NULL;
    }
    s->space.ops = &lat_spinor_gpu;
    s->space.grid = grid;
    s->space.nc = nc;
    s->space.columns = columns;
    set_sites(&s->sites, grid, columns > 3 ? LAT_HOP_STRIP_MANY : LAT_HOP_STRIP);
    s->groups = (s->sites.half + 31) / 32;
    s->group = group_bytes(grid->spec.storage);
    s->parity = s->groups * s->group;
    s->column = 2 * s->parity;
    if (lat_agree(grid->dev->comm, open_sums(s, columns) || open_window(s) ? -1 : 0) == 0)
        return &s->space;
    gpu_close(&s->space);
    return NULL;
}

/* ---- sums ------------------------------------------------------------------------------------ */

typedef struct adder {
    const double *partial; /* [block of a number][arrays] */
    double *slice_sum, *sum, *flag, call;
    unsigned *arrived;
    uint32_t groups, arrays, slices, per_slice; /* groups of a parity, of a number, of a slice */
    /* Several ranks: sums of slices to all windows, from `first` on of `all`; or to the host. */
    uint32_t ranks, first, all;
    size_t packets; /* of this call, in windows */
    char *window[LAT_CUDA_WINDOW_RANKS], *mine;
    double *host;
    lat_gpu_step step;
    int numbers; /* of a column, with a step */
    lat_scalar *later;
    double *value, *anew, epsilon;
    unsigned *valued;
    uint8_t column[LAT_SPINOR_COLUMNS];
} adder;

/* A number and the call that it is of: stores and loads of 16 bytes are whole. */
DEVICE void put_packet(char *p, double v, double call)
{
    asm volatile("st.volatile.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v), "d"(call)
                 : "memory");
}

DEVICE double2 get_packet(const char *p)
{
    double2 v;
    asm volatile("ld.volatile.global.v2.f64 {%0, %1}, [%2];"
                 : "=d"(v.x), "=d"(v.y)
                 : "l"(p)
                 : "memory");
    return v;
}

DEVICE lat_scalar product(lat_scalar a, lat_scalar b)
{
    return lat_scalar{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

DEVICE double modulus(lat_scalar a) { return sqrt(a.re * a.re + a.im * a.im); }

/* a / b */
DEVICE lat_scalar quotient(lat_scalar a, lat_scalar b)
{
    const double square = b.re * b.re + b.im * b.im;
    const lat_scalar q = product(a, lat_scalar{b.re, -b.im});
    return lat_scalar{q.re / square, q.im / square};
}

/* A row of a column. */
DEVICE lat_scalar *row_of(const adder &a, int place, int row)
{
    return a.later + row * LAT_SPINOR_COLUMNS + a.column[place];
}

/* As solve/cg.c has it. */
static __device__ void cg_step(const adder &a, int place, double v)
{
    double *const gamma = &row_of(a, place, LAT_LATER_GAMMA)->re;
    if (a.step == LAT_STEP_CG_ALPHA) {
        const double alpha = v > 0 ? *gamma / v : 0;
        *row_of(a, place, LAT_LATER_ALPHA) = lat_scalar{alpha, 0};
        *row_of(a, place, LAT_LATER_MINUS) = lat_scalar{-alpha, 0};
    } else {
        *row_of(a, place, LAT_LATER_BETA) = lat_scalar{*gamma > 0 ? v / *gamma : 0, 0};
        *gamma = v;
    }
}

/* As solve/bicgstab.c has it: first_step, second_step. */
static __device__ void bicgstab_step(const adder &a, int place, const double *v)
{
    lat_scalar *const rho = row_of(a, place, LAT_LATER_BI_RHO),
                      *const alpha = row_of(a, place, LAT_LATER_BI_ALPHA),
                      *const anew = row_of(a, place, LAT_LATER_BI_ANEW);
    if (a.step == LAT_STEP_BI_ALPHA) {
        const lat_scalar ev = {v[1], v[2]}, none = {0, 0};
        const bool some = modulus(ev) > a.epsilon * sqrt(v[0]);
        *alpha = some ? quotient(*rho, ev) : none;
        *row_of(a, place, LAT_LATER_BI_MINUS) = lat_scalar{-alpha->re, -alpha->im};
        anew->re = some ? 0 : 1;
        return;
    }
    const bool some = v[0] > 0;
    const lat_scalar omega = {some ? v[1] / v[0] : 0, some ? -v[2] / v[0] : 0}, before = *rho,
                     by_t = product(omega, lat_scalar{v[3], v[4]}),
                     now = {v[5] - by_t.re, v[6] - by_t.im};
    const bool again = anew->re != 0 || !(modulus(before) > 0) || !(modulus(omega) > 0)
                       || !(modulus(now) > a.epsilon * modulus(omega) * sqrt(v[0]));
    *row_of(a, place, LAT_LATER_BI_OMEGA) = omega;
    *row_of(a, place, LAT_LATER_BI_BETA) = again ? lat_scalar{0, 0}
                                                 : product(quotient(now, before),
                                                           quotient(*alpha, omega));
    *rho = now;
    anew->im += again ? 1 : 0;
    *(volatile double *)(a.anew + place) = anew->im;
}

static __device__ void take_step(const adder &a, int place, const double *v)
{
    if (a.step == LAT_STEP_CG_ALPHA || a.step == LAT_STEP_CG_BETA)
        cg_step(a, place, v[0]);
    else
        bicgstab_step(a, place, v);
}

/* By thread 0 of the last block of a number, v: the last number of a column takes its step. */
static __device__ void finish_column(const adder &a, double v)
{
    const int place = (int)blockIdx.y / a.numbers;
    double all[LAT_GPU_OF_SLOT] = {v};
    if (a.numbers > 1) {
        __stcg(a.value + blockIdx.y, v);
        __threadfence();
        if (atomicInc(a.valued + place, (unsigned)a.numbers - 1) != (unsigned)a.numbers - 1)
            return;
        __threadfence();
        for (int k = 0; k < a.numbers; k++)
            all[k] = __ldcg(a.value + place * a.numbers + k);
    }
    take_step(a, place, all);
}

/* The steps of sums that the host has added up, one thread a column: a.sum is where they lie. */
static __global__ void take_steps(const __grid_constant__ adder a)
{
    take_step(a, (int)threadIdx.x, a.sum + (int)threadIdx.x * a.numbers);
}

/* By the last block of a number: its slices to all ranks. Thread 0 returns the sum of all. */
static __device__ double add_ranks(const adder &a, uint32_t number)
{
    const double *const slice = a.slice_sum + (size_t)number * a.slices;
    const size_t at = a.packets + (size_t)number * a.all * sizeof(double2);
    for (uint32_t k = threadIdx.x; k < a.slices * a.ranks; k += blockDim.x)
        put_packet(a.window[k / a.slices] + at + (a.first + k % a.slices) * sizeof(double2),
                   __ldcg(slice + k % a.slices), a.call);
    for (uint32_t t = threadIdx.x; t < a.all; t += blockDim.x)
        while (get_packet(a.mine + at + t * sizeof(double2)).y != a.call)
            ;
    __syncthreads();
    double v = 0;
    for (uint32_t t = 0; t < a.all && threadIdx.x == 0; t++)
        v += get_packet(a.mine + at + t * sizeof(double2)).x;
    return v;
}

/* blockIdx.x: the slice; blockIdx.y: the number. The last block of a number adds up its slices. */
static __global__ void __launch_bounds__(256) add_slices(const __grid_constant__ adder a)
{
    __shared__ double warp[8];
    __shared__ bool last; /* is the block the last one: for all threads, */
    bool final = false;   /* and for thread 0, as nobody else is to read `last` without a barrier */
    const double *const p = a.partial + (size_t)blockIdx.y * a.arrays;
    double v = 0;
    for (uint32_t side = 0; side < a.arrays; side += a.groups)
        for (uint32_t g = threadIdx.x; g < a.per_slice; g += 256)
            v += p[side + blockIdx.x * a.per_slice + g];
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        warp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            v += warp[k];
        __stcg(a.slice_sum + (size_t)blockIdx.y * a.slices + blockIdx.x, v);
        __threadfence();
        last = final = atomicInc(a.arrived + blockIdx.y, a.slices - 1) == a.slices - 1;
        if (final) {
            __threadfence();
            v = 0;
            for (uint32_t t = 0; t < a.slices; t++) {
                const double of_slice = __ldcg(a.slice_sum + (size_t)blockIdx.y * a.slices + t);
                v += of_slice;
                if (a.host)
                    a.host[(size_t)blockIdx.y * a.slices + t] = of_slice;
            }
        }
    }
    if (a.ranks > 1) {
        __syncthreads();
        if (last)
            v = add_ranks(a, blockIdx.y);
    }
    if (final) {
        if (a.step)
            finish_column(a, v);
        *(volatile double *)(a.sum + blockIdx.y) = v;
        __threadfence_system();
        *(volatile double *)(a.flag + blockIdx.y) = a.call;
    }
}

/* blockIdx.x: the slice; blockIdx.y: 32 of `count` numbers, a lane each, which lie side by side in
 * rows; a warp adds up every eighth row. The last block of these numbers adds up their slices. */
static __global__ void __launch_bounds__(256)
    add_rows(const __grid_constant__ adder a, uint32_t count, uint32_t sides, uint32_t rows)
{
    __shared__ double warp[8][32];
    __shared__ bool last;
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
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(a.arrived + blockIdx.y, a.slices - 1) == a.slices - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    if (k == 0 && number < count) {
        v = 0;
        for (uint32_t t = 0; t < a.slices; t++) {
            const double of_slice = __ldcg(a.slice_sum + (size_t)number * a.slices + t);
            v += of_slice;
            if (a.host)
                a.host[(size_t)number * a.slices + t] = of_slice;
        }
        *(volatile double *)(a.sum + number) = v;
    }
    for (uint32_t n = blockIdx.y * 32; a.ranks > 1 && n < blockIdx.y * 32 + 32 && n < count; n++) {
        __syncthreads();
        v = add_ranks(a, n);
        if (threadIdx.x == 0)
            *(volatile double *)(a.sum + n) = v;
    }
    __syncthreads();
    __threadfence_system();
    if (k == 0 && number < count)
        *(volatile double *)(a.flag + number) = a.call;
}

int lat_gpu_sums_begin(lat_gpu_space *s, int columns, int numbers, int arrays)
{
    const size_t n = (size_t)columns * (size_t)numbers * (size_t)arrays;
    if (n <= s->partial_numbers)
        return 0;
    cudaFree(s->partial);
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
    a.slices = lat_gpu_slices(s);
    if (s->window.direct) {
        const lat_grid *grid = s->space.grid;
        a.ranks = (uint32_t)grid->dev->comm->size;
        a.first = (uint32_t)grid->slab.first;
        a.all = (uint32_t)grid->spec.lattice.dims[3];
        a.packets = (++s->sums % 2) * packet_numbers(s) * sizeof(double2);
        a.mine = s->window.mine;
        memcpy(a.window, s->window.of, sizeof a.window);
    }
    a.host = s->slices_host;
    return a;
}

/* Of numbers that lie apart, `arrays` groups each. */
static adder adder_of(lat_gpu_space *s, int arrays)
{
    adder a = next_adder(s);
    a.groups = s->groups;
    a.arrays = (uint32_t)arrays;
    a.per_slice = s->groups / a.slices;
    return a;
}

static int start_sums(const lat_gpu_space *s, const adder *a, int count)
{
    add_slices<<<dim3(a->slices, (unsigned)count), 256, 0, lat_gpu_stream(&s->space)>>>(*a);
    return failed(cudaGetLastError());
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
    return s->slices_host ? lat_reduce_total(s->space.grid, count, 1, 0, s->slices_host, s->sum)
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
    add_rows<<<dim3(a.slices, (unsigned)(count + 31) / 32), 256, 0, lat_gpu_stream(&s->space)>>>(
        a, (uint32_t)count, (uint32_t)sides, (uint32_t)rows);
    return failed(cudaGetLastError()) || finish_sums(s, count) ? -1 : 0;
}

/* ---- scalars that stay on the device --------------------------------------------------------- */

typedef struct chain_set {
    lat_scalar *later;
    int columns, row, other;
    double number;
    uint8_t column[LAT_SPINOR_COLUMNS];
    lat_scalar to[LAT_SPINOR_COLUMNS];
} chain_set;

static __global__ void set_chain(const __grid_constant__ chain_set a)
{
    const int i = (int)threadIdx.x;
    if (i >= a.columns)
        return;
    a.later[a.row * LAT_SPINOR_COLUMNS + a.column[i]] = a.to[i];
    if (a.other >= 0)
        a.later[a.other * LAT_SPINOR_COLUMNS + a.column[i]] = lat_scalar{a.number, 0};
}

static int open_chain(lat_gpu_space *s)
{
    const size_t later = LAT_LATER * LAT_SPINOR_COLUMNS * sizeof *s->later,
                 slots = (size_t)LAT_GPU_SLOTS * LAT_GPU_SLOT * sizeof *s->of_chain,
                 values = (size_t)LAT_GPU_OF_SLOT * LAT_SPINOR_COLUMNS * sizeof *s->value,
                 valued = LAT_SPINOR_COLUMNS * sizeof *s->valued;
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    if (s->of_chain)
        return 0;
    if ((!s->later && lat_cuda_malloc((void **)&s->later, later, "scalars"))
        || (!s->value && lat_cuda_malloc((void **)&s->value, values, "scalars"))
        || (!s->valued && lat_cuda_malloc((void **)&s->valued, valued, "scalars"))
        || failed(cudaMemsetAsync(s->later, 0, later, stream))
        || failed(cudaMemsetAsync(s->valued, 0, valued, stream))
        || failed(cudaMallocHost((void **)&s->of_chain, slots)))
        return -1;
    memset(s->of_chain, 0, slots);
    return 0;
}

int lat_gpu_chain_set(lat_gpu_space *s, const lat_spinor_part *p, int row, const lat_scalar *to,
                      int other, double number)
{
    chain_set a = {};
    if (open_chain(s))
        return -1;
    a.later = s->later;
    a.columns = p->columns;
    a.row = row;
    a.other = other;
    a.number = number;
    for (int i = 0; i < p->columns; i++) {
        a.column[i] = (uint8_t)p->column[i];
        a.to[i] = to[p->column[i]];
    }
    set_chain<<<1, LAT_SPINOR_COLUMNS, 0, lat_gpu_stream(&s->space)>>>(a);
    return failed(cudaGetLastError());
}

/* Ranks that add up sums through MPI wait for them. */
static int chain_by_host(lat_gpu_space *s, adder *a, double *sum, double *flag, int columns)
{
    const int count = columns * a->numbers;
    if (lat_gpu_sums_finish(s, columns, a->numbers, (int)a->arrays))
        return -1;
    memcpy(sum, s->sum, sizeof *sum * (size_t)count);
    for (int i = 0; i < count; i++)
        flag[i] = s->call;
    a->sum = s->sum;
    if (a->step)
        take_steps<<<1, columns, 0, lat_gpu_stream(&s->space)>>>(*a);
    return failed(cudaGetLastError());
}

int lat_gpu_sums_chain(lat_gpu_space *s, const lat_spinor_part *p, int numbers, int arrays,
                       lat_gpu_chain c)
{
    double *const sum = s->of_chain + (size_t)c.slot * LAT_GPU_SLOT,
                  *const flag = sum + LAT_GPU_OF_SLOT * LAT_SPINOR_COLUMNS;
    adder a = {};
    if (s->slices_host)
        a.arrays = (uint32_t)arrays;
    else
        a = adder_of(s, arrays);
    a.sum = sum;
    a.flag = flag;
    a.anew = flag + LAT_GPU_OF_SLOT * LAT_SPINOR_COLUMNS;
    a.step = c.step;
    a.epsilon = c.epsilon;
    a.numbers = numbers;
    a.later = s->later;
    a.value = s->value;
    a.valued = s->valued;
    for (int i = 0; i < p->columns; i++)
        a.column[i] = (uint8_t)p->column[i];
    return s->slices_host ? chain_by_host(s, &a, sum, flag, p->columns)
                          : start_sums(s, &a, p->columns * numbers);
}

int lat_gpu_chain_numbers(lat_gpu_space *s, const lat_spinor_part *p, int slot, double call,
                          double *number, int of_anew, int *anew)
{
    const volatile double *const sum = s->of_chain + (size_t)slot * LAT_GPU_SLOT,
                                 *const again = s->of_chain + (size_t)of_anew * LAT_GPU_SLOT
                                                + 2 * LAT_GPU_OF_SLOT * LAT_SPINOR_COLUMNS;
    if (await_sums(s, (const double *)sum + LAT_GPU_OF_SLOT * LAT_SPINOR_COLUMNS, p->columns, call))
        return -1;
    for (int i = 0; i < p->columns; i++) {
        number[p->column[i]] = sum[i];
        if (anew)
            anew[p->column[i]] = (int)again[i];
    }
    return 0;
}

/* ---- faces ----------------------------------------------------------------------------------- */

static cudaError_t pack_faces(const lat_gpu_space *s, const lat_hop_args *a, uint32_t blocks)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const dim3 grid(blocks, 2);
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE: send_faces<LAT_STORAGE_DOUBLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_SINGLE: send_faces<LAT_STORAGE_SINGLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_HALF: send_faces<LAT_STORAGE_HALF><<<grid, 128, 0, stream>>>(*a); break;
    }
    return cudaGetLastError();
}

/* Waits for the ghosts of one side, blockIdx.z, and column; blocks of four groups. */
template <int P> __global__ void await_faces(const __grid_constant__ lat_hop_args a)
{
    const uint32_t group = blockIdx.x * 4 + threadIdx.x / 32;
    const bool above = blockIdx.z, lower = above != (a.swap != 0);
    if (group < a.faces.groups)
        wait_for_two_spins<P>(a.faces.ghost[above] + blockIdx.y * a.faces.column
                                  + (size_t)group * lat_form<P>::GROUP,
                              threadIdx.x % 32, lower);
}

/* All ghosts, before anything that follows. */
static cudaError_t wait_for_faces(const lat_gpu_space *s, const lat_hop_args *a)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const dim3 grid((a->faces.groups + 3) / 4, (unsigned)a->columns, 2);
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE: await_faces<LAT_STORAGE_DOUBLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_SINGLE: await_faces<LAT_STORAGE_SINGLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_HALF: await_faces<LAT_STORAGE_HALF><<<grid, 128, 0, stream>>>(*a); break;
    }
    return cudaGetLastError();
}

/* Packed faces to the ghosts, by way of the host and MPI. */
static int exchange_faces(const lat_gpu_space *s, size_t bytes, char *const ghost[2])
{
    const lat_comm *comm = s->space.grid->dev->comm;
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const size_t room = (size_t)s->space.columns * s->face;
    char *const out = s->staged[0], *const in = s->staged[1];
    for (int side = 0; side < 2; side++)
        if (failed(cudaMemcpyAsync(out + side * bytes, s->send + side * room, bytes,
                                   cudaMemcpyDeviceToHost, stream)))
            return -1;
    if (failed(cudaStreamSynchronize(stream)))
        return -1;
    if (lat_cuda_exchange(comm, out, in, bytes))
        return -1;
    for (int side = 0; side < 2; side++)
        if (failed(cudaMemcpyAsync(ghost[side], in + side * bytes, bytes, cudaMemcpyHostToDevice,
                                   stream)))
            return -1;
    return 0;
}

/* Blocks that send a face, at most: others are to be at work beside them. */
enum { LAT_FACE_BLOCKS = 32 };

int lat_gpu_faces(lat_gpu_space *s, lat_hop_args *a, bool in_turn)
{
    if (!s->sites.ghosts)
        return 0;
    const lat_comm *comm = s->space.grid->dev->comm;
    const size_t room = (size_t)s->space.columns * s->face;
    const size_t turn = s->ghosts + (++s->exchanges % 2) * 2 * room;
    lat_hop_faces *f = &a->faces;
    char *const ghost[2] = {s->window.mine + turn, s->window.mine + turn + room};
    f->ghost[0] = ghost[0];
    f->ghost[1] = ghost[1];
    f->column = s->face;
    f->groups = s->sites.slice / 32;
    const uint32_t all = (f->groups + 3) / 4,
                   few = a->columns > 1 ? LAT_FACE_BLOCKS / 2 : LAT_FACE_BLOCKS,
                   blocks = all < few ? all : few;
    if (!s->window.direct) {
        f->to[0] = s->send;
        f->to[1] = s->send + room;
        return failed(pack_faces(s, a, blocks))
                       || exchange_faces(s, (size_t)a->columns * s->face, ghost)
                   ? -1
                   : 0;
    }
    f->blocks = blocks;
    for (int side = 0; side < 2; side++) {
        const int rank = (comm->rank + (side ? 1 : comm->size - 1)) % comm->size;
        f->to[side] = s->window.of[rank] + turn + (side ? 0 : room);
    }
    if (in_turn) {
        f->blocks = 0;
        return failed(pack_faces(s, a, all)) || failed(wait_for_faces(s, a)) ? -1 : 0;
    }
    return 0;
}

/* ---- host spinors ---------------------------------------------------------------------------- */

/* From a host field, to it, or random numbers. */
typedef struct host_spinors {
    const lat_field *from;
    lat_field *to;
    int object, column;
    lat_parity parity; /* of what is written */
    uint64_t seed;
    size_t site; /* the lattice's natural index of the first one here */
} host_spinors;

static void fill(const host_spinors *h, size_t first, size_t count, double *v)
{
    if (h->from)
        lat_stage_spinors(h->from, h->object, first, count, v);
    else
        lat_stage_random(h->seed, h->column, 24, h->site + first, count, v);
}

template <int P>
static cudaError_t start_piece(const lat_gpu_space *s, const lat_cuda_device *dev,
                               const host_spinors *h, int b, size_t first, size_t count,
                               char *column)
{
    const size_t bytes = count * 24 * sizeof(double);
    double *const raw = (double *)dev->raw[b];
    const unsigned blocks = lat_cuda_blocks(count, THREADS);
    cudaError_t e = cudaSuccess;
    if (!h->to) {
        e = cudaMemcpyAsync(raw, dev->pinned[b], bytes, cudaMemcpyHostToDevice, dev->stream);
        pack_spinors<P><<<blocks, THREADS, 0, dev->stream>>>(s->sites, s->parity, h->parity, raw,
                                                             first, count, column);
        e = e ? e : cudaGetLastError();
    } else {
        unpack_spinors<P>
            <<<blocks, THREADS, 0, dev->stream>>>(s->sites, s->parity, raw, first, count, column);
        e = cudaGetLastError();
        e = e ? e
              : cudaMemcpyAsync(dev->pinned[b], raw, bytes, cudaMemcpyDeviceToHost, dev->stream);
    }
    return e ? e : cudaEventRecord(dev->done[b], dev->stream);
}

static cudaError_t start(const lat_gpu_space *s, const lat_cuda_device *dev, const host_spinors *h,
                         int b, size_t first, size_t count, char *column)
{
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE:
        return start_piece<LAT_STORAGE_DOUBLE>(s, dev, h, b, first, count, column);
    case LAT_STORAGE_SINGLE:
        return start_piece<LAT_STORAGE_SINGLE>(s, dev, h, b, first, count, column);
    case LAT_STORAGE_HALF: return start_piece<LAT_STORAGE_HALF>(s, dev, h, b, first, count, column);
    }
    return cudaErrorNotSupported;
}

/* A staging buffer at a time: the host is at work on one, the device on the other. */
static int transfer(lat_spinor_space *space, lat_dfield *x, const host_spinors *h)
{
    const lat_gpu_space *s = lat_gpu_space_of(space);
    const lat_cuda_device *dev = lat_cuda_device_of(space->grid->dev);
    const bool put = !h->to;
    const size_t most = LAT_CUDA_STAGE / (24 * sizeof(double)), n = 2 * (size_t)s->sites.half;
    const size_t pieces = (n + most - 1) / most;
    char *const column = (char *)x->data + (size_t)h->column * s->column;
    if (h->from && failed(cudaMemsetAsync(column, 0, s->column, dev->stream)))
        return -1;
    for (size_t k = 0; k < pieces + (put ? 0 : 2); k++) {
        const int b = (int)(k % 2);
        const size_t at = k * most, old = at - 2 * most;
        if (h->from && lat_stage_zero(h->from, h->object, at, n - at < most ? n - at : most))
            continue; /* as most of a source is */
        if (failed(cudaEventSynchronize(dev->done[b])))
            return -1;
        if (!put && k >= 2)
            lat_unstage_spinors(h->to, h->object, old, n - old < most ? n - old : most,
                                (const double *)dev->pinned[b]);
        if (put)
            fill(h, at, n - at < most ? n - at : most, (double *)dev->pinned[b]);
        if (k < pieces && failed(start(s, dev, h, b, at, n - at < most ? n - at : most, column)))
            return -1;
    }
    return 0;
}

static int check_host(const lat_spinor_space *s, const lat_field *host, int object)
{
    const int objects = (int)lat_header_objects(&host->head);
    if (host->head.nc != s->nc || object < 0 || object >= objects
        || lat_header_full_reals(&host->head) != 24)
        return lat_fail("spinor %d of a host field: it has %d of SU(%d)", object, objects,
                        host->head.nc);
    return 0;
}

static int gpu_put(lat_spinor_space *s, lat_dfield *x, int column, const lat_field *host,
                   int object)
{
    const host_spinors h = {host, NULL, object, column, LAT_BOTH, 0, 0};
    return check_host(s, host, object) || transfer(s, x, &h) ? -1 : 0;
}

static int gpu_get(lat_spinor_space *s, const lat_dfield *x, int column, lat_field *host,
                   int object)
{
    const host_spinors h = {NULL, host, object, column, LAT_BOTH, 0, 0};
    return check_host(s, host, object) || transfer(s, (lat_dfield *)x, &h) ? -1 : 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* What a pass works on; columns and scalars follow in groups of LAT_PASS_COLUMNS. */
typedef struct job {
    lat_pass_kind kind;
    lat_spinor_space *space;
    const lat_spinor_part *part;
    int terms;
    const lat_dfield *x[LAT_PASS_TERMS];
    lat_dfield *y, *z, *dir;
    const lat_scalar *a[LAT_PASS_TERMS], *b; /* by column; NULL: 1 */
    const double *real[3];                   /* or real ones */
    const lat_scalar *later;                 /* or the device's, */
    const lat_gpu_chain *chain;              /* and what sums are for; NULL: they are awaited */
    int numbers;
    bool norm;
} job;

template <int P, lat_pass_kind KIND>
static cudaError_t launch_pass(const lat_pass_args *a, dim3 blocks, cudaStream_t stream)
{
    pass<P, KIND><<<blocks, 128, 0, stream>>>(*a);
    return cudaGetLastError();
}

template <int P>
static cudaError_t launch_kind(lat_pass_kind kind, const lat_pass_args *a, dim3 blocks,
                               cudaStream_t s)
{
    switch (kind) {
    case LAT_PASS_AXPBY: return launch_pass<P, LAT_PASS_AXPBY>(a, blocks, s);
    case LAT_PASS_AXPYS: return launch_pass<P, LAT_PASS_AXPYS>(a, blocks, s);
    case LAT_PASS_DOTS: return launch_pass<P, LAT_PASS_DOTS>(a, blocks, s);
    case LAT_PASS_CG: return launch_pass<P, LAT_PASS_CG>(a, blocks, s);
    case LAT_PASS_BICGSTAB: return launch_pass<P, LAT_PASS_BICGSTAB>(a, blocks, s);
    case LAT_PASS_SHADOW: return launch_pass<P, LAT_PASS_SHADOW>(a, blocks, s);
    case LAT_PASS_GAMMA5: return launch_pass<P, LAT_PASS_GAMMA5>(a, blocks, s);
    case LAT_PASS_DIAGONAL: return launch_pass<P, LAT_PASS_DIAGONAL>(a, blocks, s);
    case LAT_PASS_CG_SUM:
        if constexpr (P == LAT_STORAGE_HALF)
            return launch_pass<P, LAT_PASS_CG_SUM>(a, blocks, s);
        break;
    }
    return cudaErrorNotSupported;
}

/* In double the matrices would leave room for too few blocks. */
static bool shares_matrices(const lat_spinor_space *space, lat_pass_kind kind,
                            const lat_pass_args *a, int columns, int parities)
{
    for (int p = a->first; p < a->first + parities; p++)
        if (!a->clover[p] || a->clover2[p])
            return false;
    return kind == LAT_PASS_DIAGONAL && columns > 1
           && space->grid->spec.storage != LAT_STORAGE_DOUBLE;
}

template <int P>
static cudaError_t launch_diagonal(const lat_pass_args *a, int columns, dim3 blocks,
                                   cudaStream_t stream)
{
    blocks.y = 1;
    diagonal_many<P><<<blocks, 128, 4 * lat_form<P>::CLOVER, stream>>>(*a, columns);
    return cudaGetLastError();
}

cudaError_t lat_gpu_pass(const lat_spinor_space *space, lat_pass_kind kind, const lat_pass_args *a,
                         int columns, int parities)
{
    const dim3 blocks((a->groups + 3) / 4, (unsigned)columns, (unsigned)parities);
    const cudaStream_t stream = lat_gpu_stream(space);
    if (shares_matrices(space, kind, a, columns, parities))
        return space->grid->spec.storage == LAT_STORAGE_HALF
                   ? launch_diagonal<LAT_STORAGE_HALF>(a, columns, blocks, stream)
                   : launch_diagonal<LAT_STORAGE_SINGLE>(a, columns, blocks, stream);
    switch (space->grid->spec.storage) {
    case LAT_STORAGE_DOUBLE: return launch_kind<LAT_STORAGE_DOUBLE>(kind, a, blocks, stream);
    case LAT_STORAGE_SINGLE: return launch_kind<LAT_STORAGE_SINGLE>(kind, a, blocks, stream);
    case LAT_STORAGE_HALF: return launch_kind<LAT_STORAGE_HALF>(kind, a, blocks, stream);
    }
    return cudaErrorNotSupported;
}

void lat_gpu_pass_part(const lat_gpu_space *s, const lat_spinor_part *p, lat_pass_args *a)
{
    memset(a, 0, sizeof *a);
    a->half = s->sites.half;
    a->parity = s->parity;
    a->column = s->column;
    a->groups = s->groups;
    a->before = lat_gpu_before(s);
    a->first = lat_part_first(p);
    a->arrays = (int)s->groups * lat_part_parities(p);
}

static lat_scalar scalar(const lat_scalar *a, int column)
{
    const lat_scalar one = {1, 0};
    return a ? a[column] : one;
}

/* 0, with sums in lat_gpu_space.sum: [active][numbers]. */
static int run(const job *j)
{
    lat_gpu_space *s = lat_gpu_space_of(j->space);
    const lat_spinor_part *p = j->part;
    lat_pass_args a;
    lat_gpu_pass_part(s, p, &a);
    a.terms = j->terms;
    for (int k = 0; k < j->terms; k++)
        a.x[k] = (const char *)j->x[k]->data;
    a.y = (char *)j->y->data;
    a.parity_y = s->groups * group_bytes(j->y->grid->spec.storage);
    a.column_y = 2 * a.parity_y;
    a.z = j->z ? (char *)j->z->data : NULL;
    a.dir = j->dir ? (char *)j->dir->data : NULL;
    a.norm = j->norm;
    a.later = j->later;
    a.numbers = j->numbers;
    if (p->columns == 0)
        return 0;
    if (j->numbers && lat_gpu_sums_begin(s, p->columns, j->numbers, a.arrays))
        return -1;
    for (int from = 0; from < p->columns; from += LAT_PASS_COLUMNS) {
        const int n = p->columns - from < LAT_PASS_COLUMNS ? p->columns - from : LAT_PASS_COLUMNS;
        for (int k = 0; k < n; k++) {
            const int c = p->column[from + k];
            a.active[k] = (uint8_t)c;
            a.b[k] = scalar(j->b, c);
            for (int t = 0; t < LAT_PASS_TERMS; t++)
                a.a[t][k] = scalar(j->a[t], c);
            for (int t = 0; t < 3; t++)
                if (j->real[t])
                    a.a[t][k].re = j->real[t][c];
        }
        a.partial = j->numbers ? s->partial + (size_t)from * (size_t)j->numbers * (size_t)a.arrays
                               : NULL;
        if (failed(lat_gpu_pass(j->space, j->kind, &a, n, lat_part_parities(p))))
            return -1;
    }
    if (j->chain)
        return lat_gpu_sums_chain(s, p, j->numbers, a.arrays, *j->chain);
    return j->numbers ? lat_gpu_sums_finish(s, p->columns, j->numbers, a.arrays) : 0;
}

static void take_norm(const lat_spinor_space *space, const lat_spinor_part *p, int numbers, int k,
                      double *norm)
{
    for (int i = 0; i < p->columns && norm; i++)
        norm[p->column[i]] = lat_gpu_space_of(space)->sum[i * numbers + k];
}

static void take_dot(const lat_spinor_space *space, const lat_spinor_part *p, int numbers, int k,
                     lat_scalar *dot)
{
    const double *const sum = lat_gpu_space_of(space)->sum;
    for (int i = 0; i < p->columns && dot; i++) {
        dot[p->column[i]].re = sum[i * numbers + k];
        dot[p->column[i]].im = sum[i * numbers + k + 1];
    }
}

static int gpu_axpby(lat_spinor_space *s, const lat_spinor_part *p, const lat_scalar *a,
                     const lat_dfield *x, const lat_scalar *b, lat_dfield *y, double *norm)
{
    const job j = {.kind = LAT_PASS_AXPBY,
                   .space = s,
                   .part = p,
                   .terms = 1,
                   .x = {x},
                   .y = y,
                   .z = NULL,
                   .dir = NULL,
                   .a = {a},
                   .b = b,
                   .real = {},
                   .later = NULL,
                   .chain = NULL,
                   .numbers = norm ? 1 : 0,
                   .norm = norm != NULL};
    if (run(&j))
        return -1;
    take_norm(s, p, 1, 0, norm);
    return 0;
}

static int gpu_axpys(lat_spinor_space *s, const lat_spinor_part *p, int n,
                     const lat_scalar *const *a, const lat_dfield *const *x, lat_dfield *y,
                     double *norm)
{
    job j = {};
    j.kind = LAT_PASS_AXPYS;
    j.space = s;
    j.part = p;
    j.terms = n;
    for (int k = 0; k < n; k++) {
        j.x[k] = x[k];
        j.a[k] = a[k];
    }
    j.y = y;
    j.numbers = norm ? 1 : 0;
    j.norm = norm != NULL;
    if (run(&j))
        return -1;
    take_norm(s, p, 1, 0, norm);
    return 0;
}

static int gpu_dots(lat_spinor_space *s, const lat_spinor_part *p, int n,
                    const lat_dfield *const *x, const lat_dfield *y, lat_scalar *const *dot,
                    double *norm)
{
    job j = {};
    j.kind = LAT_PASS_DOTS;
    j.space = s;
    j.part = p;
    j.terms = n;
    for (int k = 0; k < n; k++)
        j.x[k] = x[k];
    j.y = (lat_dfield *)y;
    j.norm = norm != NULL;
    j.numbers = 2 * n + (norm ? 1 : 0);
    if (run(&j))
        return -1;
    for (int k = 0; k < n; k++)
        take_dot(s, p, j.numbers, 2 * k, dot[k]);
    take_norm(s, p, j.numbers, 2 * n, norm);
    return 0;
}

static int gpu_cg(lat_spinor_space *s, const lat_spinor_part *p, const double *a, const double *b,
                  const double *c, lat_dfield *x, lat_dfield *dir, const lat_dfield *r)
{
    job j = {};
    j.kind = LAT_PASS_CG;
    j.space = s;
    j.part = p;
    j.terms = 1;
    j.x[0] = r;
    j.y = x;
    j.z = dir;
    j.real[0] = a;
    j.real[1] = b;
    j.real[2] = c;
    return run(&j);
}

static int gpu_bicgstab(lat_spinor_space *s, const lat_spinor_part *p, const lat_scalar *a,
                        const lat_scalar *w, const lat_scalar *b, lat_dfield *x, lat_dfield *r,
                        lat_dfield *dir, const lat_dfield *t, const lat_dfield *v, double *norm)
{
    job j = {};
    j.kind = LAT_PASS_BICGSTAB;
    j.space = s;
    j.part = p;
    j.terms = 2;
    j.x[0] = t;
    j.x[1] = v;
    j.y = x;
    j.z = r;
    j.dir = dir;
    j.a[0] = a;
    j.a[1] = w;
    j.b = b;
    j.numbers = 1;
    if (run(&j))
        return -1;
    take_norm(s, p, 1, 0, norm);
    return 0;
}

static int gpu_shadow(lat_spinor_space *s, const lat_spinor_part *p, const lat_dfield *x,
                      lat_scalar *dot)
{
    job j = {};
    j.kind = LAT_PASS_SHADOW;
    j.space = s;
    j.part = p;
    j.y = (lat_dfield *)x;
    j.numbers = 2;
    if (run(&j))
        return -1;
    take_dot(s, p, 2, 0, dot);
    return 0;
}

/* A job with the device's scalars from this row on. */
static job later_job(lat_pass_kind kind, lat_gpu_space *s, const lat_spinor_part *p, int row)
{
    job j = {};
    j.kind = kind;
    j.space = &s->space;
    j.part = p;
    j.later = s->later + row * LAT_SPINOR_COLUMNS;
    return j;
}

/* Is x in more bits than the space? */
static bool has_more_bits(const lat_gpu_space *s, const lat_dfield *x)
{
    return x->grid->spec.storage != s->space.grid->spec.storage;
}

int lat_gpu_chain_cg(lat_gpu_space *s, const lat_spinor_part *p, lat_dfield *x, lat_dfield *dir,
                     const lat_dfield *r)
{
    job j = later_job(has_more_bits(s, x) ? LAT_PASS_CG_SUM : LAT_PASS_CG, s, p, LAT_LATER_ALPHA);
    j.terms = 1;
    j.x[0] = r;
    j.y = x;
    j.z = dir;
    return run(&j);
}

int lat_gpu_chain_minus(lat_gpu_space *s, const lat_spinor_part *p, const lat_dfield *v,
                        lat_dfield *r)
{
    job j = later_job(LAT_PASS_AXPYS, s, p, LAT_LATER_BI_MINUS);
    j.terms = 1;
    j.x[0] = v;
    j.y = r;
    return run(&j);
}

int lat_gpu_chain_bicgstab(lat_gpu_space *s, const lat_spinor_part *p, lat_gpu_chain c,
                           lat_dfield *x, lat_dfield *r, lat_dfield *dir, const lat_dfield *t,
                           const lat_dfield *v)
{
    job j = later_job(LAT_PASS_BICGSTAB, s, p, LAT_LATER_BI_ALPHA);
    j.terms = 2;
    j.x[0] = t;
    j.x[1] = v;
    j.y = x;
    j.z = r;
    j.dir = dir;
    j.numbers = 1;
    j.chain = &c;
    return run(&j);
}

static int gpu_gamma5(lat_spinor_space *s, const lat_spinor_part *p, lat_dfield *x)
{
    job j = {};
    j.kind = LAT_PASS_GAMMA5;
    j.space = s;
    j.part = p;
    j.y = x;
    return run(&j);
}

static int gpu_random(lat_spinor_space *s, const lat_spinor_part *p, uint64_t seed, lat_dfield *x)
{
    const lat_grid *grid = s->grid;
    const size_t slice = 2 * (size_t)lat_gpu_space_of(s)->sites.slice,
                 site = grid->halo ? (size_t)grid->slab.first * slice : 0;
    for (int i = 0; i < p->columns; i++) {
        const host_spinors h = {NULL, NULL, 0, p->column[i], p->parity, seed, site};
        if (transfer(s, x, &h))
            return -1;
    }
    return 0;
}

/* ---- whole columns --------------------------------------------------------------------------- */

static int gpu_zero(lat_spinor_space *s, const lat_spinor_part *p, lat_dfield *x)
{
    const lat_gpu_space *g = lat_gpu_space_of(s);
    for (int i = 0; i < p->columns; i++)
        if (failed(cudaMemsetAsync(lat_gpu_at(g, x, lat_part_first(p))
                                       + (size_t)p->column[i] * g->column,
                                   0, (size_t)lat_part_parities(p) * g->parity, lat_gpu_stream(s))))
            return -1;
    return 0;
}

static int gpu_copy(lat_spinor_space *s, const lat_spinor_part *p, const lat_dfield *x,
                    lat_dfield *y)
{
    const lat_gpu_space *g = lat_gpu_space_of(s);
    for (int i = 0; i < p->columns; i++) {
        const size_t at = (size_t)p->column[i] * g->column;
        if (failed(cudaMemcpyAsync(lat_gpu_at(g, y, lat_part_first(p)) + at,
                                   lat_gpu_at(g, x, lat_part_first(p)) + at,
                                   (size_t)lat_part_parities(p) * g->parity,
                                   cudaMemcpyDeviceToDevice, lat_gpu_stream(s))))
            return -1;
    }
    return 0;
}

template <int FROM>
static void convert_from(lat_storage to, uint32_t groups, const char *x, char *y,
                         cudaStream_t stream)
{
    const unsigned blocks = (groups + 3) / 4;
    switch (to) {
    case LAT_STORAGE_DOUBLE:
        convert_spinors<FROM, LAT_STORAGE_DOUBLE><<<blocks, 128, 0, stream>>>(groups, x, y);
        break;
    case LAT_STORAGE_SINGLE:
        convert_spinors<FROM, LAT_STORAGE_SINGLE><<<blocks, 128, 0, stream>>>(groups, x, y);
        break;
    case LAT_STORAGE_HALF:
        convert_spinors<FROM, LAT_STORAGE_HALF><<<blocks, 128, 0, stream>>>(groups, x, y);
        break;
    }
}

static int gpu_convert(lat_spinor_space *s, const lat_spinor_part *p, const lat_spinor_space *from,
                       const lat_dfield *x, lat_dfield *y)
{
    const lat_gpu_space *g = lat_gpu_space_of(s), *f = lat_gpu_space_of(from);
    const lat_storage to = s->grid->spec.storage;
    const uint32_t groups = g->groups * (uint32_t)lat_part_parities(p);
    for (int i = 0; i < p->columns; i++) {
        const size_t c = (size_t)p->column[i], in = from->columns > 1 ? c : 0,
                     out = s->columns > 1 ? c : 0;
        const char *const a = lat_gpu_at(f, x, lat_part_first(p)) + in * f->column;
        char *const b = lat_gpu_at(g, y, lat_part_first(p)) + out * g->column;
        switch (from->grid->spec.storage) {
        case LAT_STORAGE_DOUBLE:
            convert_from<LAT_STORAGE_DOUBLE>(to, groups, a, b, lat_gpu_stream(s));
            break;
        case LAT_STORAGE_SINGLE:
            convert_from<LAT_STORAGE_SINGLE>(to, groups, a, b, lat_gpu_stream(s));
            break;
        case LAT_STORAGE_HALF:
            convert_from<LAT_STORAGE_HALF>(to, groups, a, b, lat_gpu_stream(s));
            break;
        }
    }
    return failed(cudaGetLastError());
}

const lat_spinor_ops lat_spinor_gpu = {
    gpu_open,        gpu_close,  gpu_put,      gpu_get,    gpu_zero,    gpu_copy,
    gpu_random,      gpu_gamma5, gpu_axpby,    gpu_axpys,  gpu_dots,    lat_gpu_products,
    lat_gpu_combine, gpu_cg,     gpu_bicgstab, gpu_shadow, gpu_convert,
};
