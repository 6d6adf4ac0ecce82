/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_kernels.cuh: what a thread does at a site (template; newton_gpu.cu expands it for each N
 * in single and in double, after grid/cuda_matrix.cuh and newton_algebra.h). */

#define PIECES (LAT_N * (LAT_N - 1) / 2) /* of 16 bytes: N - 1 rows of a link in single */

#if LAT_SIZE == 8

/* ---- gradients and steps, in double ---------------------------------------------------------- */

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
        LAT_T a[ROW], d[LAT_N];
        for (int i = 0; i < LAT_N; i++) {
            d[i] = x.e[i][i].im;
            share += x.e[i][i].re;
        }
        a[ROW - 1] = 0;
        LAT_(components)(a, &x, d);
        for (int i = 0; i < COLOURS; i++)
            square += a[i] * a[i];
        for (int i = 0; i < ROW / 4; i++)
            ((float4 *)f.a)[site * (ROW / 4) + (size_t)i] = make_float4(
                (float)a[4 * i], (float)a[4 * i + 1], (float)a[4 * i + 2], (float)a[4 * i + 3]);
    }
    share = lat_add_block<THREADS>(share);
    __syncthreads();
    square = lat_add_block<THREADS>(square);
    if (threadIdx.x == 0) {
        double *sum = f.partial + 2 * ((size_t)unit * gridDim.x + blockIdx.x);
        sum[0] = share;
        sum[1] = square;
    }
}

/* The other member of g: exp(size s) g. */
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
        s[i] = f.unit[unit].size * (double)row[i];
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

#else

/* ---- the operator, in single ----------------------------------------------------------------- */

static __device__ __forceinline__ void LAT_(fetch_row)(float *to, const float *rows, size_t site)
{
#pragma unroll
    for (int i = 0; i < ROW / 4; i++) {
        const float4 v = __ldg((const float4 *)rows + site * (ROW / 4) + (size_t)i);
        to[4 * i] = v.x;
        to[4 * i + 1] = v.y;
        to[4 * i + 2] = v.z;
        to[4 * i + 3] = v.w;
    }
}

/* w: the link of a site along mu, in piece 0. */
static __device__ __forceinline__ void LAT_(fetch_rotated)(LAT_(m) *m, const float4 *w,
                                                           size_t sites)
{
    float *to = (float *)m;
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
        const float4 v = __ldg(w + (size_t)i * sites);
        to[4 * i] = v.x;
        to[4 * i + 1] = v.y;
        to[4 * i + 2] = v.z;
        to[4 * i + 3] = v.w;
    }
    LAT_(fill_last)(m);
}

/* h += weight (m + m^+) / 2 */
static __device__ __forceinline__ void LAT_(add_hermitian)(float *h, const LAT_(m) *m, float weight)
{
    const float half = 0.5f * weight;
    int i = LAT_N;
#pragma unroll
    for (int a = 0; a < LAT_N; a++) {
        h[a] += weight * m->e[a][a].re;
#pragma unroll
        for (int b = a + 1; b < LAT_N; b++, i += 2) {
            h[i] += half * (m->e[a][b].re + m->e[b][a].re);
            h[i + 1] += half * (m->e[a][b].im - m->e[b][a].im);
        }
    }
}

/* q = M p; sums of p.q. */
static __global__ void __launch_bounds__(THREADS, 4) LAT_(hop)(const __grid_constant__ fields f)
{
    const unsigned unit = blockIdx.y;
    const uint32_t site = blockIdx.x * THREADS + threadIdx.x;
    double dot = 0;
    if (f.idle[unit])
        return;
    if (site < f.sites) {
        const size_t first = (size_t)unit * f.sites;
        uint32_t rest = site, stride = 1;
        LAT_(m) s, v;
        float sd[LAT_N], h[LAT_N * LAT_N], own[ROW], p[ROW], q[ROW];
        memset(&s, 0, sizeof s);
        memset(sd, 0, sizeof sd);
        memset(h, 0, sizeof h);
#pragma unroll
        for (int mu = 0; mu < 4; mu++) {
            if (mu >= f.nd)
                break;
            const uint32_t extent = f.dims[mu],
                           next = mu < 3 ? lat_cuda_quotient(rest, f.by_dim[mu]) : 0,
                           x = rest - next * extent,
                           up = x + 1 == extent ? site - x * stride : site + stride,
                           down = x == 0 ? site + (extent - 1) * stride : site - stride;
            const float4 *w = f.w
                              + (size_t)(unit * (unsigned)f.nd + (unsigned)mu) * PIECES * f.sites;
            const float weight = f.weight_of[mu];
            LAT_(fetch_rotated)(&v, w + site, f.sites);
            LAT_(fetch_row)(p, f.p, first + up);
            LAT_(add_hermitian)(h, &v, weight);
            LAT_(add_link)(&s, sd, &v, p, weight);
            LAT_(fetch_rotated)(&v, w + down, f.sites);
            LAT_(fetch_row)(p, f.p, first + down);
            LAT_(add_hermitian)(h, &v, weight);
            LAT_(m) d;
#pragma unroll
            for (int a = 0; a < LAT_N; a++)
#pragma unroll
                for (int b = 0; b < LAT_N; b++) {
                    d.e[a][b].re = v.e[b][a].re;
                    d.e[a][b].im = -v.e[b][a].im;
                }
            LAT_(add_link)(&s, sd, &d, p, weight);
            rest = next;
            stride *= extent;
        }
        LAT_(m) t;
        float td[LAT_N];
        LAT_(fetch_row)(own, f.p, first + site);
        LAT_(site_part)(&t, td, h, own);
#pragma unroll
        for (int a = 0; a < LAT_N; a++) {
            sd[a] += td[a];
#pragma unroll
            for (int b = 0; b < LAT_N; b++) {
                s.e[a][b].re += t.e[a][b].re;
                s.e[a][b].im += t.e[a][b].im;
            }
        }
        q[ROW - 1] = 0;
        LAT_(components)(q, &s, sd);
        float sum = 0;
#pragma unroll
        for (int i = 0; i < COLOURS; i++) {
            q[i] *= -ROOT_HALF;
            sum += own[i] * q[i];
        }
        dot = (double)sum;
#pragma unroll
        for (int i = 0; i < ROW / 4; i++)
            ((float4 *)f.q)[(first + site) * (ROW / 4) + (size_t)i] = make_float4(
                q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]);
    }
    dot = lat_add_block<THREADS>(dot);
    if (threadIdx.x == 0)
        f.partial[(size_t)unit * gridDim.x + blockIdx.x] = dot;
}

static cudaError_t LAT_(launch_hop)(const fields &f, dim3 blocks, cudaStream_t stream)
{
    LAT_(hop)<<<blocks, THREADS, 0, stream>>>(f);
    return cudaGetLastError();
}

#endif
