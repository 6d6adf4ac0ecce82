/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.cuh: Fourier transforms of lines of sites on a GPU, in place, and the inverse Laplacian of
 * them. C is float2 or double2.
 *
 * A field is [unit][site][reals], sites in natural order, pairs of reals as complex numbers: L^-1
 * is real and even, so that it does not mix them. A thread has a whole line in registers; threads
 * side by side have lines side by side. An axis for whose extent there is no code is two: with L =
 * R S, n = S a + b, k = c + R d (Cooley, Tukey, Math. Comput. 19 (1965) 297) X(k) = sum_b w_S^(b d)
 * w_L^(b c) sum_a w_R^(a c) x(S a + b) is left at S c + d; the eigenvalues of L are in that order
 * there, and the way back takes the same steps in reverse order. */
#pragma once

#include <type_traits>
#include "grid/cuda_device.cuh"
#include "grid/cuda_grid.cuh"

/* Lines that there is code for: as long as registers are enough. */
#define LAT_LINES_MOST 64
#define LAT_EACH_SINGLE_LINE(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(10) X(12) X(16) X(20) X(24) X(32) X(48) X(64)
#define LAT_EACH_DOUBLE_LINE(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(10) X(11) X(12) X(13) X(16) X(20) X(24) X(32)

enum { LAT_LINES_THREADS = 128, LAT_LINES_AXES = 8 };

/* Calls f(number N as a type) for the line of length n; false where there is no code. */
template <class C, class F> static inline bool lat_line_of(int n, F f)
{
#define CASE(m) \
    case m: f(std::integral_constant<int, m>()); return true;
    if constexpr (std::is_same<C, float2>::value)
        switch (n) {
            LAT_EACH_SINGLE_LINE(CASE)
        }
    else
        switch (n) {
            LAT_EACH_DOUBLE_LINE(CASE)
        }
#undef CASE
    return false;
}

template <class C> using lat_part = decltype(C::x);

/* Lines along an axis, or a part of it. */
template <class C> struct lat_line_axis {
    int n;          /* their length */
    uint32_t step;  /* complex numbers from one to the next */
    uint32_t lines; /* of a unit */
    uint32_t each;  /* complex numbers of a unit */
    lat_cuda_divisor by_step;
    /* Of the first part of an axis that is two: w_L^k, k = 0 .. L-1; and the step of the other
     * part. Else NULL. */
    const C *twiddle;
    lat_cuda_divisor by_inner;
    C w[LAT_LINES_MOST]; /* exp(-2 pi i k / n) */
};

/* Eigenvalues of L, of which a line along the last axis needs the part of the others. */
template <class C> struct lat_spectrum {
    int axes;
    uint32_t extent[4];
    lat_cuda_divisor by_step[4], by_extent[4];
    const lat_part<C> *eigen[4]; /* weight 4 sin^2(pi k / extent) in the order of the transform */
    lat_part<C> scale;           /* 1 / sites */
};

/* ---- kernels --------------------------------------------------------------------------------- */

/* s + a w, or a w^*; a w likewise. */
template <bool BACK, class C> static __device__ __forceinline__ C lat_rotate(C s, C a, C w)
{
    const lat_part<C> y = BACK ? -w.y : w.y;
    s.x += a.x * w.x;
    s.x -= a.y * y;
    s.y += a.x * y;
    s.y += a.y * w.x;
    return s;
}

/* Sums of R numbers: X(k) = sum_j w_R^(j k) x(j), w those of TOP. */
template <int R, int TOP, bool BACK, class C>
static __device__ __forceinline__ void lat_few(C (&x)[R], const C (&w)[LAT_LINES_MOST])
{
    if constexpr (R == 2) {
        const C a = x[0], b = x[1];
        x[0] = C{a.x + b.x, a.y + b.y};
        x[1] = C{a.x - b.x, a.y - b.y};
    } else if constexpr (R == 4) {
        const C a = C{x[0].x + x[2].x, x[0].y + x[2].y}, b = C{x[0].x - x[2].x, x[0].y - x[2].y},
                c = C{x[1].x + x[3].x, x[1].y + x[3].y},
                d = C{x[1].y - x[3].y, x[3].x - x[1].x}; /* -i (x1 - x3) */
        x[0] = C{a.x + c.x, a.y + c.y};
        x[2] = C{a.x - c.x, a.y - c.y};
        x[BACK ? 3 : 1] = C{b.x + d.x, b.y + d.y};
        x[BACK ? 1 : 3] = C{b.x - d.x, b.y - d.y};
    } else {
        C y[R];
#pragma unroll
        for (int k = 0; k < R; k++) {
            y[k] = x[0];
#pragma unroll
            for (int j = 1; j < R; j++)
                y[k] = lat_rotate<BACK>(y[k], x[j], w[TOP / R * (j * k % R)]);
        }
#pragma unroll
        for (int k = 0; k < R; k++)
            x[k] = y[k];
    }
}

template <int N, int TOP, bool BACK, class C>
static __device__ __forceinline__ void lat_transform_line(C (&x)[N], const C (&w)[LAT_LINES_MOST])
{
    constexpr int R = N % 4 == 0   ? 4
                      : N % 2 == 0 ? 2
                      : N % 3 == 0 ? 3
                      : N % 5 == 0 ? 5
                      : N % 7 == 0 ? 7
                                   : N,
                  S = N / R;
    if constexpr (N == 1)
        return;
    else if constexpr (S == 1)
        lat_few<R, TOP, BACK>(x, w);
    else {
        C y[R][S];
#pragma unroll
        for (int b = 0; b < S; b++) {
            C t[R];
#pragma unroll
            for (int a = 0; a < R; a++)
                t[a] = x[S * a + b];
            lat_few<R, TOP, BACK>(t, w);
#pragma unroll
            for (int c = 0; c < R; c++)
                y[c][b] = b * c ? lat_rotate<BACK>(C{0, 0}, t[c], w[TOP / N * (b * c)]) : t[c];
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

/* Number of line `line`'s first number in its unit, and of its place across the axis. */
template <class C>
static __device__ __forceinline__ uint32_t lat_line_from(const lat_line_axis<C> &a, uint32_t line,
                                                         uint32_t *inner)
{
    const uint32_t outer = lat_cuda_quotient(line, a.by_step);
    *inner = line - outer * a.step;
    return outer * a.step * (uint32_t)a.n + *inner;
}

template <int N, bool BACK, class C>
static __device__ __forceinline__ void lat_rotate_line(const lat_line_axis<C> &a, C (&x)[N],
                                                       uint32_t inner)
{
    const uint32_t b = lat_cuda_quotient(inner, a.by_inner);
#pragma unroll
    for (int c = 1; c < N; c++)
        x[c] = lat_rotate<BACK>(C{0, 0}, x[c], __ldg(a.twiddle + b * (uint32_t)c));
}

/* By the eigenvalues of L: line `from`, at `inner` across the axis. */
template <int N, class C>
static __device__ __forceinline__ void lat_divide_line(const lat_spectrum<C> &e, C (&x)[N],
                                                       uint32_t from, uint32_t inner)
{
    lat_part<C> rest = 0;
    const lat_part<C> *eigen = NULL;
    for (int mu = 0; mu < e.axes; mu++) {
        const bool other = mu + 1 < e.axes;
        const uint32_t q = lat_cuda_quotient(other ? inner : from, e.by_step[mu]),
                       k = q - lat_cuda_quotient(q, e.by_extent[mu]) * e.extent[mu];
        eigen = e.eigen[mu] + k;
        rest += other ? __ldg(eigen) : 0;
    }
#pragma unroll
    for (int n = 0; n < N; n++) {
        const lat_part<C> l = rest + __ldg(eigen + n), f = l > 0 ? e.scale / l : 0;
        x[n].x *= f;
        x[n].y *= f;
    }
}

/* Which way; INVERT, along the last axis or its second part: forwards, divided by the eigenvalues,
 * and back. */
enum lat_lines_way { LAT_LINES_FORWARDS, LAT_LINES_INVERT, LAT_LINES_BACK };

/* Lines of each unit (blockIdx.y) of v that is not idle. */
template <int N, lat_lines_way WAY, class C>
static __global__ void __launch_bounds__(LAT_LINES_THREADS)
    lat_lines_pass(const __grid_constant__ lat_line_axis<C> a,
                   const __grid_constant__ lat_spectrum<C> e, C *v, const bool *idle)
{
    const uint32_t line = blockIdx.x * LAT_LINES_THREADS + threadIdx.x;
    if (line >= a.lines || (idle && idle[blockIdx.y]))
        return;
    C x[N];
    uint32_t inner;
    const uint32_t from = lat_line_from(a, line, &inner);
    v += (size_t)blockIdx.y * a.each + from;
#pragma unroll
    for (int n = 0; n < N; n++)
        x[n] = v[(size_t)n * a.step];
    if (WAY == LAT_LINES_BACK && a.twiddle)
        lat_rotate_line<N, true>(a, x, inner);
    lat_transform_line<N, N, WAY == LAT_LINES_BACK>(x, a.w);
    if (WAY == LAT_LINES_INVERT) {
        lat_divide_line<N>(e, x, from, inner);
        lat_transform_line<N, N, true>(x, a.w);
    }
    if (WAY == LAT_LINES_FORWARDS && a.twiddle)
        lat_rotate_line<N, false>(a, x, inner);
#pragma unroll
    for (int n = 0; n < N; n++)
        v[(size_t)n * a.step] = x[n];
}

/* ---- host ------------------------------------------------------------------------------------ */

/* The transforms of a field: forwards pass 0, 1, .. , the last one also back, then the others in
 * reverse order. */
template <class C> struct lat_lines_plan {
    int passes;
    lat_line_axis<C> pass[LAT_LINES_AXES];
    lat_spectrum<C> spectrum;
    void *tables; /* on the device */
};

/* For fields [unit][site][reals] of units of that geometry, `reals` even. Axes of weight 0 are not
 * part of L: their slices are lattices of their own. Functions return 0; -1 with lat_error set. */
template <class C>
int lat_lines_open(lat_lines_plan<C> *p, const lat_geometry *geom, const double *weight, int reals);
template <class C> void lat_lines_close(lat_lines_plan<C> *p) { lat_cuda_free(p->tables); }

/* Is there code for these extents? Otherwise a sentence says which one is not. */
template <class C> int lat_lines_check(const lat_geometry *geom);

/* Pass number i of the plan. */
template <lat_lines_way WAY, class C>
static cudaError_t lat_lines_launch(const lat_lines_plan<C> *p, int i, int units,
                                    cudaStream_t stream, C *v, const bool *idle)
{
    const lat_line_axis<C> *a = p->pass + i;
    const dim3 blocks(lat_cuda_blocks(a->lines, LAT_LINES_THREADS), (unsigned)units);
    const bool there = lat_line_of<C>(a->n, [&](auto n) {
        lat_lines_pass<decltype(n)::value, WAY>
            <<<blocks, LAT_LINES_THREADS, 0, stream>>>(*a, p->spectrum, v, idle);
    });
    return there ? cudaGetLastError() : cudaErrorInvalidValue;
}
