/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_single.cuh: Fourier transforms of lines of sites in single precision on a GPU, and the
 * inverse Laplacian of them, for kernels that have something else to do with the same numbers (a
 * template of IO, below).
 *
 * A field is [unit][site][reals], sites in natural order, pairs of reals as complex numbers: L^-1
 * is real and even, so that it does not mix them. A thread has a whole line in registers; threads
 * side by side have lines side by side. An axis that is longer than LAT_LINES_MOST, or for whose
 * extent there is no code, is two: with L = R S, n = S a + b, k = c + R d (Cooley, Tukey, Math.
 * Comput. 19 (1965) 297) X(k) = sum_b w_S^(b d) w_L^(b c) sum_a w_R^(a c) x(S a + b) is left at S c
 * + d; the eigenvalues of L are in that order there, and the way back takes the same steps in
 * reverse order. */
#ifndef LAT_FOURIER_LINES_SINGLE_CUH
#define LAT_FOURIER_LINES_SINGLE_CUH

#include "grid/cuda_device.cuh"
#include "grid/cuda_grid.cuh"

#define LAT_LINES_MOST 64
#define LAT_EACH_LINE(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(10) X(12) X(16) X(20) X(24) X(32) X(48) X(64)

enum { LAT_LINES_THREADS = 128, LAT_LINES_BATCH = 8, LAT_LINES_AXES = 8 };

/* Lines along an axis, or a part of it. */
typedef struct lat_line_axis {
    int n;          /* their length; 0: there is no such axis */
    uint32_t step;  /* complex numbers from one to the next */
    uint32_t lines; /* of a unit */
    uint32_t each;  /* complex numbers of a unit */
    lat_cuda_divisor by_step;
    /* Of the first part of an axis that is two: w_L^k, k = 0 .. L-1; and the step of the other
     * part. Else NULL. */
    const float2 *turn;
    lat_cuda_divisor by_inner;
    float2 w[LAT_LINES_MOST]; /* exp(-2 pi i k / n) */
} lat_line_axis;

/* Eigenvalues of L, of which a line along the last axis needs the part of the others. */
typedef struct lat_spectrum {
    int axes;
    uint32_t extent[4];
    lat_cuda_divisor by_step[4], by_extent[4];
    const float *eigen[4]; /* weight 4 sin^2(pi k / extent) in the order of the transform */
    float scale;           /* 1 / sites */
} lat_spectrum;

/* ---- kernels --------------------------------------------------------------------------------- */

/* s + a w, or a w^*; a w likewise. */
template <bool BACK> static __device__ __forceinline__ float2 lat_turn(float2 s, float2 a, float2 w)
{
    const float y = BACK ? -w.y : w.y;
    s.x += a.x * w.x;
    s.x -= a.y * y;
    s.y += a.x * y;
    s.y += a.y * w.x;
    return s;
}

/* Sums of R numbers: X(k) = sum_j w_R^(j k) x(j), w those of TOP. */
template <int R, int TOP, bool BACK>
static __device__ __forceinline__ void lat_few(float2 (&x)[R], const float2 (&w)[LAT_LINES_MOST])
{
    if constexpr (R == 2) {
        const float2 a = x[0], b = x[1];
        x[0] = make_float2(a.x + b.x, a.y + b.y);
        x[1] = make_float2(a.x - b.x, a.y - b.y);
    } else if constexpr (R == 4) {
        const float2 a = make_float2(x[0].x + x[2].x, x[0].y + x[2].y),
                     b = make_float2(x[0].x - x[2].x, x[0].y - x[2].y),
                     c = make_float2(x[1].x + x[3].x, x[1].y + x[3].y),
                     d = make_float2(x[1].y - x[3].y, x[3].x - x[1].x); /* -i (x1 - x3) */
        x[0] = make_float2(a.x + c.x, a.y + c.y);
        x[2] = make_float2(a.x - c.x, a.y - c.y);
        x[BACK ? 3 : 1] = make_float2(b.x + d.x, b.y + d.y);
        x[BACK ? 1 : 3] = make_float2(b.x - d.x, b.y - d.y);
    } else {
        float2 y[R];
#pragma unroll
        for (int k = 0; k < R; k++) {
            y[k] = x[0];
#pragma unroll
            for (int j = 1; j < R; j++)
                y[k] = lat_turn<BACK>(y[k], x[j], w[TOP / R * (j * k % R)]);
        }
#pragma unroll
        for (int k = 0; k < R; k++)
            x[k] = y[k];
    }
}

template <int N, int TOP, bool BACK>
static __device__ __forceinline__ void lat_transform_line(float2 (&x)[N],
                                                          const float2 (&w)[LAT_LINES_MOST])
{
    constexpr int R = N % 4 == 0   ? 4
                      : N % 2 == 0 ? 2
                      : N % 3 == 0 ? 3
                      : N % 5 == 0 ? 5
                                   : 7,
                  S = N / R;
    if constexpr (N == 1)
        return;
    else if constexpr (S == 1)
        lat_few<R, TOP, BACK>(x, w);
    else {
        float2 y[R][S];
#pragma unroll
        for (int b = 0; b < S; b++) {
            float2 t[R];
#pragma unroll
            for (int a = 0; a < R; a++)
                t[a] = x[S * a + b];
            lat_few<R, TOP, BACK>(t, w);
#pragma unroll
            for (int c = 0; c < R; c++)
                y[c][b] = b * c ? lat_turn<BACK>(make_float2(0, 0), t[c], w[TOP / N * (b * c)])
                                : t[c];
        }
#pragma unroll
        for (int c = 0; c < R; c++) {
            lat_transform_line<S, TOP, BACK>(y[c], w);
#pragma unroll
            for (int d = 0; d < S; d++)
                x[c + R * d] = y[c][d];
        }
    }
}

/* The sum over a block, in a fixed order; thread 0 has it. */
template <int THREADS> static __device__ __forceinline__ double lat_add_block(double sum)
{
    __shared__ double shared[THREADS / 32];
#pragma unroll
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < THREADS / 32; i++)
            sum += shared[i];
    return sum;
}

/* Number of line `line`'s first number in its unit, and of its place across the axis. */
static __device__ __forceinline__ uint32_t lat_line_from(const lat_line_axis &a, uint32_t line,
                                                         uint32_t *inner)
{
    const uint32_t outer = lat_cuda_quotient(line, a.by_step);
    *inner = line - outer * a.step;
    return outer * a.step * (uint32_t)a.n + *inner;
}

template <int N, bool BACK>
static __device__ __forceinline__ void lat_turn_line(const lat_line_axis &a, float2 (&x)[N],
                                                     uint32_t inner)
{
    const uint32_t b = lat_cuda_quotient(inner, a.by_inner);
#pragma unroll
    for (int c = 1; c < N; c++)
        x[c] = lat_turn<BACK>(make_float2(0, 0), x[c], __ldg(a.turn + b * (uint32_t)c));
}

/* Lines of each unit (blockIdx.y), forwards or back. IO has
 *     bool skip(unit)                           nothing is to be done for this unit
 *     void load<N>(x, first, step)              x[n] of a line, at first + n step; first counts
 *                                               complex numbers of all units
 *     void store<N>(x, first, step)
 *     double *sums()                            NULL, or where the sum that `load` returns goes,
 * for each block [unit][block] */
template <int N, bool BACK, class IO>
static __global__ void __launch_bounds__(LAT_LINES_THREADS)
    lat_lines_pass(const __grid_constant__ lat_line_axis a, IO io)
{
    const uint32_t line = blockIdx.x * LAT_LINES_THREADS + threadIdx.x;
    if (io.skip(blockIdx.y))
        return;
    double sum = 0;
    if (line < a.lines) {
        float2 x[N];
        uint32_t inner;
        const size_t first = (size_t)blockIdx.y * a.each + lat_line_from(a, line, &inner);
        sum = io.template load<N>(x, blockIdx.y, first, a.step);
        if (BACK && a.turn)
            lat_turn_line<N, true>(a, x, inner);
        lat_transform_line<N, N, BACK>(x, a.w);
        if (!BACK && a.turn)
            lat_turn_line<N, false>(a, x, inner);
        io.template store<N>(x, blockIdx.y, first, a.step);
    }
    if (io.sums()) {
        sum = lat_add_block<LAT_LINES_THREADS>(sum);
        if (threadIdx.x == 0)
            io.sums()[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

/* Lines along the last axis, or its second part: forwards, divided by the eigenvalues, and back.
 * The sums are those of v . L^-1 v, over momenta (Parseval). */
template <int N, class IO>
static __global__ void __launch_bounds__(LAT_LINES_THREADS)
    lat_lines_invert(const __grid_constant__ lat_line_axis a,
                     const __grid_constant__ lat_spectrum e, IO io, double *sums)
{
    const uint32_t line = blockIdx.x * LAT_LINES_THREADS + threadIdx.x;
    if (io.skip(blockIdx.y))
        return;
    double sum = 0;
    if (line < a.lines) {
        float2 x[N];
        uint32_t inner;
        const uint32_t from = lat_line_from(a, line, &inner);
        const size_t first = (size_t)blockIdx.y * a.each + from;
        io.template load<N>(x, blockIdx.y, first, a.step);
        lat_transform_line<N, N, false>(x, a.w);
        float rest = 0, dot = 0;
        const float *eigen = NULL;
        for (int mu = 0; mu < e.axes; mu++) {
            const uint32_t q = lat_cuda_quotient(from, e.by_step[mu]),
                           k = q - lat_cuda_quotient(q, e.by_extent[mu]) * e.extent[mu];
            eigen = e.eigen[mu] + k;
            rest += mu + 1 < e.axes ? __ldg(eigen) : 0;
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            const float l = rest + __ldg(eigen + n), f = l > 0 ? e.scale / l : 0;
            dot += (x[n].x * x[n].x + x[n].y * x[n].y) * f;
            x[n].x *= f;
            x[n].y *= f;
        }
        sum = (double)dot;
        lat_transform_line<N, N, true>(x, a.w);
        io.template store<N>(x, blockIdx.y, first, a.step);
    }
    sum = lat_add_block<LAT_LINES_THREADS>(sum);
    if (threadIdx.x == 0)
        sums[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

/* ---- host ------------------------------------------------------------------------------------ */

static inline unsigned lat_lines_blocks(const lat_line_axis *a)
{
    return lat_cuda_blocks(a->lines, LAT_LINES_THREADS);
}

template <bool BACK, class IO>
static cudaError_t lat_lines_launch(const lat_line_axis *a, int units, cudaStream_t stream, IO io)
{
    const dim3 blocks(lat_lines_blocks(a), (unsigned)units);
#define CASE(n) \
    case n: lat_lines_pass<n, BACK><<<blocks, LAT_LINES_THREADS, 0, stream>>>(*a, io); break;
    switch (a->n) {
        LAT_EACH_LINE(CASE)
    default: return cudaErrorInvalidValue;
    }
#undef CASE
    return cudaGetLastError();
}

template <class IO>
static cudaError_t lat_lines_launch_invert(const lat_line_axis *a, const lat_spectrum *e, int units,
                                           cudaStream_t stream, IO io, double *sums)
{
    const dim3 blocks(lat_lines_blocks(a), (unsigned)units);
#define CASE(n) \
    case n: lat_lines_invert<n><<<blocks, LAT_LINES_THREADS, 0, stream>>>(*a, *e, io, sums); break;
    switch (a->n) {
        LAT_EACH_LINE(CASE)
    default: return cudaErrorInvalidValue;
    }
#undef CASE
    return cudaGetLastError();
}

/* A field as it is. */
struct lat_lines_plain {
    float2 *v;
    const int *idle; /* [units] */
    __device__ __forceinline__ bool skip(unsigned unit) const { return idle[unit] != 0; }
    __device__ __forceinline__ double *sums() const { return NULL; }
    template <int N>
    __device__ __forceinline__ double load(float2 (&x)[N], unsigned, size_t first,
                                           uint32_t step) const
    {
#pragma unroll
        for (int n = 0; n < N; n++)
            x[n] = v[first + (size_t)n * step];
        return 0;
    }
    template <int N>
    __device__ __forceinline__ void store(const float2 (&x)[N], unsigned, size_t first,
                                          uint32_t step) const
    {
#pragma unroll
        for (int n = 0; n < N; n++)
            v[first + (size_t)n * step] = x[n];
    }
};

/* The transforms of a field: forwards pass 0, 1, .. , the last one also back, then the others in
 * reverse order. */
typedef struct lat_lines_plan {
    int passes;
    lat_line_axis pass[LAT_LINES_AXES];
    lat_spectrum spectrum;
    void *tables; /* on the device */
} lat_lines_plan;

/* For fields [unit][site][reals] of units of that geometry, `reals` even, all weights above 0.
 * Functions return 0, or -1 with lat_error set. */
int lat_lines_open(lat_lines_plan *p, const lat_geometry *geom, const double *weight, int reals);
void lat_lines_close(lat_lines_plan *p);

/* Is there code for these extents? Otherwise a sentence says which one is not. */
int lat_lines_check(const lat_geometry *geom);

#endif
