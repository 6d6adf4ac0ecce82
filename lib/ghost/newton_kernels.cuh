/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_kernels.cuh: what a thread does at a site, in double (template; newton_gpu.cu expands it
 * for each N, after grid/cuda_matrix.cuh and newton_algebra.h). */

#define PIECES (LAT_N * (LAT_N - 1) / 2) /* of 16 bytes: N - 1 rows of a link in single */

/* Site number n of a slot: parities in turn, as in grid/cuda_reduce.cuh. */
static __device__ __forceinline__ bool LAT_(own_site)(const fields &f, lat_cuda_coordinates *c,
                                                      int *parity, uint32_t *natural)
{
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x,
                   i = n / (2 * LAT_CUDA_GROUP) * LAT_CUDA_GROUP + n % LAT_CUDA_GROUP;
    *parity = (int)(n / LAT_CUDA_GROUP % 2);
    if (i >= f.half)
        return false;
    *c = lat_cuda_find(f, i, *parity);
    *natural = 2 * c->c[0] + (uint32_t)c->late
               + 2 * f.extent[0] * (c->c[1] + f.extent[1] * (c->c[2] + f.extent[2] * c->c[3]));
    return true;
}

/* Member `member` of g, sites of one parity of a unit. */
static __device__ __forceinline__ LAT_V *LAT_(transformations)(const fields &f, int member,
                                                               unsigned unit, int parity)
{
    return (LAT_V *)f.g
           + (2 * ((size_t)member * (size_t)f.slots + unit) + (size_t)parity)
                 * ((size_t)f.groups * LAT_CUDA_GROUP * CHUNKS(FEW));
}

/* A link of R rows, stored in V, or its adjoint (`back`), and a neighbour's g: *v = U g^+ */
template <int R, class V>
static __device__ __forceinline__ void LAT_(times_next)(LAT_(m) *v, const V *link, const LAT_V *g,
                                                        bool back)
{
    LAT_T m[FULL], h[FULL];
    load_reals<2 * LAT_N * R>(m, link);
    if (R < LAT_N)
        LAT_(complete)(m);
    LAT_(fetch)<FEW>(h, g);
    LAT_(complete)(h);
    if (back) {
        LAT_T n[FULL];
        for (int a = 0; a < LAT_N; a++)
            for (int b = 0; b < LAT_N; b++) {
                n[2 * (a * LAT_N + b)] = m[2 * (b * LAT_N + a)];
                n[2 * (a * LAT_N + b) + 1] = -m[2 * (b * LAT_N + a) + 1];
            }
        memcpy(m, n, sizeof m);
    }
    memset(v, 0, sizeof *v);
    LAT_(add_mul_dag)(v, m, h, LAT_N, 1);
}

/* s += weight a */
static __device__ __forceinline__ void LAT_(add_scaled)(LAT_(m) *s, const LAT_(m) *a, LAT_T weight)
{
#pragma unroll
    for (int i = 0; i < LAT_N; i++)
#pragma unroll
        for (int j = 0; j < LAT_N; j++) {
            s->e[i][j].re += weight * a->e[i][j].re;
            s->e[i][j].im += weight * a->e[i][j].im;
        }
}

/* A, the links that g transforms in single, and the functional: of g, or of the g that a step has
 * made (`next`). Links have R rows, stored in V. */
template <int R, class V>
static __global__ void __launch_bounds__(THREADS)
    LAT_(gradient)(const __grid_constant__ fields f, int next)
{
    const unsigned unit = blockIdx.y;
    lat_cuda_coordinates c;
    int parity;
    uint32_t natural;
    double share = 0, square = 0;
    if (f.idle[unit])
        return;
    if (LAT_(own_site)(f, &c, &parity, &natural)) {
        const int member = f.now[unit] ^ next, nd = f.nd;
        constexpr int CH = chunks_of<V>(2 * LAT_N * R);
        const size_t links = (size_t)f.groups * LAT_CUDA_GROUP * (size_t)(nd * CH),
                     site = (size_t)unit * f.sites + natural;
        const V *u = (const V *)f.u + (2 * (size_t)unit + (size_t)parity) * links,
                *u_other = (const V *)f.u + (2 * (size_t)unit + 1 - (size_t)parity) * links;
        const LAT_V *g = LAT_(transformations)(f, member, unit, parity),
                    *g_other = LAT_(transformations)(f, member, unit, 1 - parity);
        LAT_T own[FULL];
        LAT_(m) x, k, v;
        memset(&k, 0, sizeof k);
        LAT_(fetch)<FEW>(own, g + lat_cuda_at(c.i, CHUNKS(FEW)));
        LAT_(complete)(own);
#pragma unroll
        for (int mu = 0; mu < 4; mu++) {
            if (mu >= nd)
                break;
            const uint32_t up = lat_cuda_up(f, c, mu), down = lat_cuda_down(f, c, mu);
            const int chunk = mu * CH * LAT_CUDA_GROUP;
            LAT_(times_next)<R>(&v, u + lat_cuda_at(c.i, nd * CH) + chunk,
                                g_other + lat_cuda_at(up, CHUNKS(FEW)), false);
            LAT_(add_scaled)(&k, &v, f.weight[mu]);
            v = LAT_(mul_left)(own, &v);
            float w[4 * PIECES];
            const float unweight = (float)f.unweight[mu];
#pragma unroll
            for (int i = 0; i < 4 * PIECES; i++)
                w[i] = unweight * (float)((const LAT_T *)&v)[i];
#pragma unroll
            for (int i = 0; i < PIECES; i++)
                f.w[((size_t)(unit * (unsigned)nd + (unsigned)mu) * PIECES + (size_t)i) * f.sites
                    + natural] = make_float4(w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]);
            LAT_(times_next)<R>(&v, u_other + lat_cuda_at(down, nd * CH) + chunk,
                                g_other + lat_cuda_at(down, CHUNKS(FEW)), true);
            LAT_(add_scaled)(&k, &v, f.weight[mu]);
        }
        x = LAT_(mul_left)(own, &k);
        LAT_T a[ROW];
        for (int i = 0; i < LAT_N; i++)
            share += x.e[i][i].re;
        a[ROW - 1] = 0;
        LAT_(colours)(a, &x);
        for (int i = 0; i < COLOURS; i++)
            square += 0.5 * a[i] * a[i];
        for (int i = 0; i < ROW / 4; i++)
            ((float4 *)f.a)[site * (ROW / 4) + (size_t)i] = make_float4(
                (float)a[4 * i], (float)a[4 * i + 1], (float)a[4 * i + 2], (float)a[4 * i + 3]);
    }
    share = add_block(share);
    square = add_block(square);
    if (threadIdx.x == 0) {
        double *sum = f.partial + 2 * ((size_t)unit * gridDim.x + blockIdx.x);
        sum[0] = share;
        sum[1] = square;
    }
}

/* The other member of g: exp(scale s) g. */
static __global__ void __launch_bounds__(THREADS) LAT_(step)(const __grid_constant__ fields f)
{
    const unsigned unit = blockIdx.y;
    lat_cuda_coordinates c;
    int parity;
    uint32_t natural;
    if (f.idle[unit] || !LAT_(own_site)(f, &c, &parity, &natural))
        return;
    const float *row = f.s + ((size_t)unit * f.sites + natural) * ROW;
    LAT_T s[COLOURS];
    LAT_(m) e, g;
    for (int i = 0; i < COLOURS; i++)
        s[i] = f.scale[unit] * (double)row[i];
    LAT_(exponential)(&e, s);
    const size_t at = lat_cuda_at(c.i, CHUNKS(FEW));
    LAT_(fetch)<FEW>((LAT_T *)&g, LAT_(transformations)(f, f.now[unit], unit, parity) + at);
    LAT_(fill_last)(&g);
    e = LAT_(product)(&e, &g);
    LAT_(orthonormal)(&e);
    LAT_(store)<FEW>(LAT_(transformations)(f, 1 - f.now[unit], unit, parity) + at,
                     (const LAT_T *)&e);
}

template <class V>
static cudaError_t LAT_(gradient_of)(const fields &f, dim3 blocks, int next, cudaStream_t stream)
{
    if (f.rows < LAT_N)
        LAT_(gradient)<FEW, V><<<blocks, THREADS, 0, stream>>>(f, next);
    else
        LAT_(gradient)<LAT_N, V><<<blocks, THREADS, 0, stream>>>(f, next);
    return cudaGetLastError();
}

static cudaError_t LAT_(launch_gradient)(const fields &f, dim3 blocks, int next,
                                         cudaStream_t stream)
{
    return f.single ? LAT_(gradient_of)<float4>(f, blocks, next, stream)
                    : LAT_(gradient_of)<double2>(f, blocks, next, stream);
}

/* Member 0 of g from g of the sweeps, stored in V, made orthonormal; or back, of units that are not
 * idle. */
template <class V, bool BACK>
static __global__ void __launch_bounds__(THREADS)
    LAT_(exchange)(const __grid_constant__ fields f, V *other)
{
    const unsigned unit = blockIdx.y;
    lat_cuda_coordinates c;
    int parity;
    uint32_t natural;
    if ((BACK && f.idle[unit]) || !LAT_(own_site)(f, &c, &parity, &natural))
        return;
    constexpr int CH = chunks_of<V>(2 * LAT_N * FEW);
    V *const there = other
                     + (2 * (size_t)unit + (size_t)parity)
                           * ((size_t)f.groups * LAT_CUDA_GROUP * CH)
                     + lat_cuda_at(c.i, CH);
    LAT_V *const here = LAT_(transformations)(f, 0, unit, parity) + lat_cuda_at(c.i, CHUNKS(FEW));
    LAT_(m) m;
    if (BACK) {
        LAT_(fetch)<FEW>((LAT_T *)&m, here);
        store_reals<2 * LAT_N * FEW>(there, (const double *)&m);
    } else {
        load_reals<2 * LAT_N * FEW>((double *)&m, there);
        LAT_(orthonormal)(&m);
        LAT_(store)<FEW>(here, (const LAT_T *)&m);
    }
}

/* From a member `copy` of the sweeps' g, at `other`, or to it. */
static cudaError_t LAT_(launch_exchange)(const fields &f, bool single, bool back, void *other,
                                         dim3 blocks, cudaStream_t stream)
{
    if (single && back)
        LAT_(exchange)<float4, true><<<blocks, THREADS, 0, stream>>>(f, (float4 *)other);
    else if (single)
        LAT_(exchange)<float4, false><<<blocks, THREADS, 0, stream>>>(f, (float4 *)other);
    else if (back)
        LAT_(exchange)<double2, true><<<blocks, THREADS, 0, stream>>>(f, (double2 *)other);
    else
        LAT_(exchange)<double2, false><<<blocks, THREADS, 0, stream>>>(f, (double2 *)other);
    return cudaGetLastError();
}

static cudaError_t LAT_(launch_step)(const fields &f, dim3 blocks, cudaStream_t stream)
{
    LAT_(step)<<<blocks, THREADS, 0, stream>>>(f);
    return cudaGetLastError();
}

#undef PIECES
