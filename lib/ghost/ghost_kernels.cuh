/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_kernels.cuh: the kernels of ghost_gpu.cu, and what they are made of. */
enum { CHUNK = 32, ADDERS = 128, FEW = 16, THREADS = 128 };

/* A call, all of it on the device; here plain and newton are what those of lat_ghost_call point to.
 */
struct call : lat_ghost_call {
    const double *links, *factor; /* factor: a, or b; NULL: `few` has them, if `given` */
    double few[FEW];
    bool given;
    double *partial;
    lat_ghost_plain plain;
    lat_newton_fields newton;
};

/* ---- kernels: what all need ------------------------------------------------------------------ */

/* a, or b, of a unit and column. */
static __device__ __forceinline__ double factor_of(const call &c, int i)
{
    return c.factor ? c.factor[i] : c.given ? c.few[i] : 0;
}

/* The unit of own block number `block`. */
static __device__ __forceinline__ int unit_of(const lat_ghost_sites &s, uint32_t block)
{
    return s.time < 0 ? 0 : s.time == s.nd - 1 ? (int)block : (int)(block % (uint32_t)s.blocks);
}

/* A site of a vector and its neighbours. */
typedef struct place {
    uint32_t site, up[LAT_MAX_DIMS], down[LAT_MAX_DIMS];
    int nd, x[LAT_MAX_DIMS], extent[LAT_MAX_DIMS];
} place;

static __device__ __forceinline__ place place_of(const lat_ghost_sites &s, uint32_t site)
{
    place p;
    uint32_t stride = 1, rest = site;
    p.site = site;
    p.nd = s.nd;
#pragma unroll
    for (int i = 0; i < LAT_MAX_DIMS; i++) { /* beyond nd extents are 1 */
        const uint32_t extent = (uint32_t)s.dims[i], x = rest % extent;
        p.up[i] = x + 1 == extent ? site - x * stride : site + stride;
        p.down[i] = x == 0 ? site + (extent - 1) * stride : site - stride;
        p.x[i] = (int)x;
        p.extent[i] = (int)extent;
        rest /= extent;
        stride *= extent;
    }
    return p;
}

/* Element of 2 T^a for the diagonal one number k: the first k are this, the next is -k times it. */
static __device__ __forceinline__ double diagonal_factor(int k)
{
    return sqrt(2.0 / (k * (k + 1)));
}

/* The sum over a block, in a fixed order; thread 0 has it. */
static __device__ __forceinline__ double add_block(double sum)
{
    __shared__ double shared[THREADS / 32];
#pragma unroll
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    __syncthreads(); /* the sum before is read */
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < THREADS / 32; i++)
            sum += shared[i];
    return sum;
}

#define LAT_INLINE static __device__ __forceinline__
#define OPERATOR lat_ghost_sites
#define CALL call
#define PLACE place
#define UP(at, i) ((at)->up[i])
#define DOWN(at, i) ((at)->down[i])
#define UNROLL _Pragma("unroll")
#define UNROLL_AXES UNROLL
#define INDEX size_t
#define GET(p, i) (((const V *)(p))[i])
#define PUT(p, i, v) (((V *)(p))[i] = (v))

/* The passes of passes.h in both precisions. */
#define NAME(x) x##_pass
#define V double
#include "passes.h"
#undef V
#define V float
#include "passes.h"
#undef V
#undef NAME

/* One of them at number i of vectors. */
template <lat_ghost_pass_name PASS, class T>
static __device__ __forceinline__ void pass_at(const call &c, size_t i, T factor, T mean, T *sum,
                                               T *square)
{
    switch (PASS) {
    case LAT_GHOST_SHIFT: shift_pass(&c, i, mean); break;
    case LAT_GHOST_UPDATE: update_pass(&c, i, factor, mean); break;
    case LAT_GHOST_DOT: dot_pass(&c, i, sum); break;
    case LAT_GHOST_NORMS: norms_pass(&c, i, sum, square); break;
    case LAT_GHOST_EXTEND: extend_pass(&c, i, factor); break;
    case LAT_GHOST_DEFECT: defect_pass(&c, i, factor, sum); break;
    default: break;
    }
}

/* ---- Newton's method ------------------------------------------------------------------------- */

LAT_INLINE void multiply(int n, double *c, const double *a, const double *b)
{
    lat_sun_mul(n, c, a, b);
}

LAT_INLINE void read_link(const lat_ghost_sites *m, const lat_newton_fields *f, size_t site, int mu,
                          int n, double *u)
{
    const double *v = f->there + (site * (size_t)m->nd + (size_t)mu) * LAT_STAGE_LINK;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2 * n; k++)
            u[2 * n * i + k] = v[6 * i + k]; /* there rows are those of 3x3 matrices */
}

LAT_INLINE const double *rotated(const lat_ghost_sites *m, const lat_newton_fields *f,
                                 const double *g, const place *at, int d, bool back, int n,
                                 double *v);

#include "newton_site.h"

LAT_INLINE const double *rotated(const lat_ghost_sites *m, const lat_newton_fields *f,
                                 const double *g, const place *at, int d, bool back, int n,
                                 double *v)
{
    const int i = m->direction[d];
    const size_t site = natural(m, at), next = natural_next(m, at, site, i, back);
    rotate_link(m, f, g, back ? next : site, back ? site : next, m->axis[i], n, v);
    return v;
}

/* ---- kernels for each N ---------------------------------------------------------------------- */

/* In tables by lat_ghost_pass_name. */
typedef void kernel(const lat_ghost_sites s, const call c);
#define OVER(pass) NAME(over)<LAT_GHOST_##pass>

/* Columns side by side, in double. */
#define V double
#define VECTOR double
#define REAL double
#define LINK double
#define COLOUR(v, c) ((v)[(c)*LAT_GHOST_PACK])
#define SIZE 2
#define NAME(x) x##_2
#include "ghost_columns.cuh"
#undef SIZE
#undef NAME
#define SIZE 3
#define NAME(x) x##_3
#include "ghost_columns.cuh"
#undef SIZE
#undef NAME
#define SIZE 4
#define NAME(x) x##_4
#include "ghost_columns.cuh"
#undef SIZE
#undef NAME
#undef V
#undef VECTOR
#undef REAL
#undef LINK
#undef COLOUR

/* One column, in single precision. */
#define V float
#define VECTOR float
#define REAL float
#define LINK float
#define STORED float
#define APART 8
#define PLACES place
#define COLOUR(v, c) ((v)[c])
#define SIZE 2
#define NAME(x) x##_single_2
#include "ghost_single.cuh"
#undef SIZE
#undef NAME
#define SIZE 3
#define NAME(x) x##_single_3
#include "ghost_single.cuh"

/* sums[block][numbers] from partial[block][chunk][numbers]; a CUDA block is a number of a block. */
static __global__ void __launch_bounds__(ADDERS)
    add_chunks(const double *partial, double *sums, uint32_t chunks)
{
    __shared__ double shared[ADDERS];
    const uint32_t numbers = gridDim.x, number = blockIdx.x;
    double sum = 0;
    for (uint32_t i = threadIdx.x; i < chunks; i += ADDERS)
        sum += partial[((size_t)blockIdx.y * chunks + i) * numbers + number];
    shared[threadIdx.x] = sum;
    for (uint32_t d = ADDERS / 2; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            shared[threadIdx.x] += shared[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        sums[(size_t)blockIdx.y * numbers + number] = shared[0];
}

#include "ghost_modes.cuh"

/* ---- sources --------------------------------------------------------------------------------- */

#include "source_site.h"

/* A thread is a column of a site. */
static __global__ void __launch_bounds__(THREADS)
    make_source(const __grid_constant__ lat_ghost_sites s,
                const __grid_constant__ lat_ghost_sources c, const double *wave, double *b)
{
    const uint32_t columns = (uint32_t)(s.packs * LAT_GHOST_PACK),
                   colours = (uint32_t)(s.nc * s.nc - 1);
    const uint64_t n = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t site = (uint32_t)(n / columns), k = (uint32_t)(n % columns);
    if (site >= s.sites)
        return;
    const place at = place_of(s, site);
    const double value = source_at(&s, &c, wave, s.dims, at.x, (int)k);
    double *to = b
                 + ((size_t)site * (uint32_t)s.packs + k / LAT_GHOST_PACK) * colours
                       * LAT_GHOST_PACK
                 + k % LAT_GHOST_PACK;
    for (int a = 0; a < (int)colours; a++)
        to[a * LAT_GHOST_PACK] = a == c.colour[k] ? value : 0;
}
