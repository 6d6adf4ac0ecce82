/* SPDX-License-Identifier: BSD-3-Clause */
/* sums_gpu.cu: sums over the sites of a batch on GPUs, slice by slice and over ranks, and the
 * scalars of an iteration that stay on the device. */
#include "cuda_dirac.cuh"

#include <atomic>
#include <string.h>
#include "grid/cuda_tuning.h"
extern "C" {
#include "grid/reduce.h"
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "sums of spinors"); }

int lat_gpu_sums_open(lat_gpu_space *s, int columns)
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

void lat_gpu_sums_close(lat_gpu_space *s)
{
    cudaFree(s->partial);
    cudaFree(s->slice_sum);
    cudaFree(s->arrived);
    cudaFree(s->factors);
    cudaFreeHost(s->sum);
    cudaFree(s->later);
    cudaFree(s->value);
    cudaFree(s->valued);
    cudaFreeHost(s->of_chain);
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
    WAIT_FOR_GRID();
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
        a.packets = (++s->sums % 2) * lat_gpu_packet_numbers(s) * sizeof(double2);
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
    return failed(lat_cuda_start(lat_cuda_device_of(s->space.grid->dev)->overlap, add_slices,
                                 dim3(a->slices, (unsigned)count), 256, lat_gpu_stream(&s->space),
                                 *a));
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
