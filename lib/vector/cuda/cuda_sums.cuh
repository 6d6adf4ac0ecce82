/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_sums.cuh: kernels that add up the sums of groups of sites: over slices, then over ranks. */
#pragma once

#include "vector/cuda/cuda_space.cuh"

typedef struct adder {
    double *partial; /* [block of a number][arrays] */
    double *slice_sum, *sum, *flag, call;
    unsigned *arrived;
    uint32_t groups, arrays, slices; /* groups of a parity, of a number; slices, or branches */
    uint32_t across, y, z;           /* groups side by side in x, in y; planes of a slice */
    /* Several ranks: sums of slices to all windows, from `first` on of `all`; or to the host. Where
     * ranks have `branches` of a slice, all of them have `there` in z, each of so many in y, in
     * `width` places; in_y of y are here (lat_gpu_space). */
    uint32_t ranks, first, all, branches, there, width, in_y, there_y, width_y;
    size_t packets; /* of this call, in windows */
    char *window[LAT_CUDA_WINDOW_RANKS], *mine;
    double *host;
    const lat_gpu_branch *branch; /* or, where ranks gather, [all]: where each lies there */
    lat_scalar_step step;         /* then sum and flag are of what it reports, by place */
    int numbers;                  /* of a column */
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

/* By a block of 256 threads: the same, for thread 0. A warp has a branch. */
template <class GET> static __device__ double add_all_in_block(uint32_t n, const GET &get)
{
    __shared__ double sum[8];
    const uint32_t warp = threadIdx.x / 32;
    uint32_t each = 1;
    while (8 * each < n)
        each *= 2;
    const uint32_t from = warp * each, left = from < n ? n - from : 0;
    const double v = add_all_pairs(left < each ? left : each,
                                   [&](uint32_t i) { return get(from + i); });
    if (threadIdx.x % 32 == 0)
        sum[warp] = v;
    __syncthreads();
    for (uint32_t d = 1; threadIdx.x == 0 && d < 8; d *= 2)
        for (uint32_t i = 0; i < 8; i += 2 * d)
            sum[i] += sum[i + d];
    return sum[0];
}

/* By the first warp of a block: the sum of n numbers of the second cache, in pairs, to thread 0. */
static __device__ double add_pairs(const double *v, uint32_t n, size_t stride)
{
    return add_all_pairs(n, [&](uint32_t i) { return __ldcg(v + i * stride); });
}

/* Where slice k is among all: empty places fill up the trees of a plane and of a slice. */
static __device__ uint32_t place_of(const adder &a, uint32_t k)
{
    const uint32_t t = a.width == 1 ? k : k / a.branches;
    if (a.width_y == 1)
        return a.first + k + t * (a.width - a.branches);
    const uint32_t in = k - t * a.branches, z = in / a.in_y;
    return a.first + t * a.width + z * a.width_y + in - z * a.in_y;
}
static __device__ bool has_slice(const adder &a, uint32_t place)
{
    const uint32_t in = place & (a.width - 1);
    return in < a.there * a.width_y && (in & (a.width_y - 1)) < a.there_y;
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

/* v is the sum of a number. */
static __device__ void finish_sum(const adder &a, uint32_t number, double v)
{
    if (a.step)
        finish_column(a, number, v);
    else
        report(a, (int)number, v);
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
    if (lane == 0)
        finish_sum(a, number, v);
}

/* By all threads of a block: what finish_number does where y is cut, and slices are many. */
static __device__ void finish_planes(const adder &a, uint32_t number)
{
    const double *const slice = a.slice_sum + (size_t)number * a.slices;
    const size_t at = a.packets + (size_t)number * a.all * sizeof(double2);
    double v = 0;
    for (uint32_t t = threadIdx.x; a.host && t < a.slices; t += 256)
        a.host[(size_t)number * a.slices + t] = __ldcg(slice + t);
    if (a.host) {
        __threadfence_system();
        __syncthreads();
    } else {
        for (uint32_t k = threadIdx.x; k < a.slices * a.ranks; k += 256)
            store_pair(a.window[k / a.slices] + at + place_of(a, k % a.slices) * sizeof(double2),
                       __ldcg(slice + k % a.slices), a.call);
        v = add_all_in_block(a.all, [&](uint32_t t) {
            double2 sum = {0, a.call};
            if (has_slice(a, t))
                do
                    sum = poll_pair(a.mine + at + t * sizeof(double2));
                while (sum.y != a.call);
            return sum.x;
        });
    }
    if (threadIdx.x == 0)
        finish_sum(a, number, v);
}

/* blockIdx.x: the number. A warp, or a block of 256 threads, adds up the slices of all ranks, of
 * `each` numbers a rank. */
static __global__ void add_gathered(const __grid_constant__ adder a, const double *gathered,
                                    size_t each)
{
    const auto get = [&](uint32_t t) {
        const lat_gpu_branch b = a.branch[t];
        return b.count ? gathered[b.rank * each + blockIdx.x * b.count + b.at] : 0;
    };
    const double v = blockDim.x == 32 ? add_all_pairs(a.all, get) : add_all_in_block(a.all, get);
    if (threadIdx.x == 0)
        finish_sum(a, blockIdx.x, v);
}

/* By a block that has written sums of its slice: is it the last one of its numbers (blockIdx.y)?
 * Then all slices are there, and the block finishes them. Where ranks gather, no block does. */
static __device__ bool is_last(const adder &a)
{
    __shared__ bool last;
    if (a.branch)
        return false;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(a.arrived + blockIdx.y, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

/* By a warp: the groups of a plane, or of some rows of it, of all parities, in pairs over y; for
 * its first thread. */
static __device__ double add_plane(const adder &a, const double *p)
{
    return add_all_pairs(a.y, [&](uint32_t y) {
        const double *row = p + y * a.across;
        double w = 0;
        for (uint32_t j = 0; j < a.across; j++)
            for (uint32_t side = 0; side < a.arrays; side += a.groups)
                w += row[side + j];
        return w;
    });
}

/* By a block: the same of a slice, then in pairs over z (grid/reduce.h); for thread 0. */
static __device__ double add_slice(const adder &a, double *p)
{
    const uint32_t warp = threadIdx.x / 32, plane = a.across * a.y;
    for (uint32_t z = warp; z < a.z; z += 8) {
        const double v = add_plane(a, p + z * plane);
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

/* Where y is cut: blockIdx.x: eight branches of planes, a warp each; blockIdx.y: the number. */
static __global__ void __launch_bounds__(256) add_planes(const __grid_constant__ adder a)
{
    WAIT_FOR_GRID();
    const uint32_t k = blockIdx.x * 8 + threadIdx.x / 32;
    if (k < a.slices) {
        const double v = add_plane(a, a.partial + (size_t)blockIdx.y * a.arrays
                                          + (size_t)k * a.y * a.across);
        if (threadIdx.x % 32 == 0)
            __stcg(a.slice_sum + (size_t)blockIdx.y * a.slices + k, v);
    }
    if (is_last(a))
        finish_planes(a, blockIdx.y);
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
