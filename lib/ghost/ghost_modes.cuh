/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_modes.cuh: what modes.c needs of a GPU: products of columns with columns, and their linear
 * combinations (part of ghost_kernels.cuh). */

/* Products of 8 columns with 8 others: partial[block][columns][columns]; blockIdx.z: which. */
static __global__ void __launch_bounds__(64)
    gram(const __grid_constant__ lat_ghost_sites s, const __grid_constant__ call c, int colours,
         uint32_t chunk)
{
    const uint32_t columns = (uint32_t)(s.packs * LAT_GHOST_PACK),
                   pack = (uint32_t)(colours * LAT_GHOST_PACK), p = blockIdx.z / (uint32_t)s.packs,
                   q = blockIdx.z % (uint32_t)s.packs, i = threadIdx.x / LAT_GHOST_PACK,
                   j = threadIdx.x % LAT_GHOST_PACK, from = blockIdx.x * chunk,
                   to = from + chunk < s.block ? from + chunk : (uint32_t)s.block;
    const size_t reals = (size_t)columns * (uint32_t)colours;
    double sum = 0;
    for (uint32_t site = from; site < to; site++) {
        const size_t at = ((size_t)blockIdx.y * s.block + site) * reals;
        const double *a = c.in + at + p * pack + i, *b = c.other + at + q * pack + j;
        for (uint32_t k = 0; k < pack; k += LAT_GHOST_PACK)
            sum += a[k] * b[k];
    }
    c.partial[(((size_t)blockIdx.y * gridDim.x + blockIdx.x) * columns + p * LAT_GHOST_PACK + i)
                  * columns
              + q * LAT_GHOST_PACK + j] = sum;
}

/* A colour of a site, of X, W and Q, or of M of these (blockIdx.z): a thread is a column. */
static __global__ void __launch_bounds__(THREADS)
    combine(const __grid_constant__ lat_ghost_sites s, const __grid_constant__ call c, int colours)
{
    extern __shared__ double shared[]; /* [3][threads] */
    const uint32_t columns = (uint32_t)(s.packs * LAT_GHOST_PACK), j = threadIdx.x % columns,
                   own = threadIdx.x - j,
                   n = blockIdx.x * (blockDim.x / columns) + threadIdx.x / columns,
                   site = n / (uint32_t)colours, colour = n % (uint32_t)colours;
    const bool there = site < s.block;
    double *const *array = c.array + 3 * blockIdx.z;
    const size_t at = (((size_t)blockIdx.y * s.block + site) * (uint32_t)s.packs
                       + j / LAT_GHOST_PACK)
                          * (uint32_t)(colours * LAT_GHOST_PACK)
                      + colour * LAT_GHOST_PACK + j % LAT_GHOST_PACK;
    for (int part = 0; part < 3; part++)
        shared[part * (int)blockDim.x + (int)threadIdx.x] = there ? array[part][at] : 0;
    __syncthreads();
    double sum[3];
    const double *a = c.factor + (size_t)unit_of(s, blockIdx.y) * 3 * columns * columns + j;
    for (int part = 0; part < 3; part++) {
        sum[part] = 0;
        for (uint32_t i = 0; i < columns; i++, a += columns)
            sum[part] += *a * shared[part * (int)blockDim.x + (int)(own + i)];
    }
    if (there) {
        array[0][at] = sum[0] + (sum[1] + sum[2]);
        array[2][at] = sum[1] + sum[2];
    }
}
