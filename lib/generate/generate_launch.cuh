/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_launch.cuh: the functions of lat_cuda_link_ops (template; after the kernels): which
 * kernel, and on how many blocks of BLOCK threads and SITES links. */

static cudaError_t LAT_(launch)(void (*kernel)(lat_cuda_links, lat_cuda_draw, int),
                                const lat_cuda_links *w, const lat_cuda_draw *how, int parity,
                                cudaStream_t stream)
{
    lat_cuda_draw h = *how;
    const unsigned inner = lat_cuda_divide(w, &h, SITES);
    h.lead = inner / 4;
    h.spread = inner - h.lead >= 2 * h.face_blocks;
    if (2 * h.face_blocks + inner == 0)
        return cudaSuccess;
    return lat_cuda_start(w->overlap, kernel, 2 * h.face_blocks + inner, BLOCK, stream, *w, h,
                          parity);
}

static cudaError_t LAT_(update)(const lat_cuda_links *w, const lat_cuda_draw *how, int parity,
                                cudaStream_t stream)
{
#if LAT_N <= LAT_REGISTERS
    if (w->nd == 4 && how->update == LAT_UPDATE_HEATBATH)
        return LAT_(launch)(LAT_(update_links) < 4, LAT_UPDATE_HEATBATH >, w, how, parity, stream);
    if (w->nd == 4 && how->update == LAT_UPDATE_MICROCANONICAL)
        return LAT_(launch)(LAT_(update_links) < 4, LAT_UPDATE_MICROCANONICAL >, w, how, parity,
                            stream);
    return LAT_(launch)(LAT_(update_links) < 0, -1 >, w, how, parity, stream);
#else
    return LAT_(launch)(LAT_(update_links), w, how, parity, stream);
#endif
}

#if LAT_N > 3
/* Back to SU(N): LAT_(link_reunit). The "faces" of this kernel are the ghosts. */
static __global__ void __launch_bounds__(BLOCK)
    LAT_(reunitarise)(const __grid_constant__ lat_cuda_links w,
                      const __grid_constant__ lat_cuda_draw how)
{
    int side;
    const uint32_t n = lat_cuda_block_of(how.face_blocks, 0, 0, &side) * REUNIT_SITES
                       + LAT_(reunit_number)();
    const bool there = n < (side < 0 ? w.own : w.face);
    const uint32_t from = side < 0 ? w.from : side ? w.from + w.own : w.from - w.face;
    lat_cuda_signal_step(w.peers, how.number - 1);
    if (lat_cuda_sends(w.peers, side))
        lat_cuda_await(w.peers, 1u << side, how.number - 1);
    LAT_(reunit_link)(
        LAT_(link_at)(w, (int)blockIdx.y % 2, there ? from + n : w.from, (int)blockIdx.y / 2),
        there);
}

static cudaError_t LAT_(reunit)(const lat_cuda_links *w, const lat_cuda_draw *how,
                                cudaStream_t stream)
{
    lat_cuda_draw h = *how;
    h.face_blocks = lat_cuda_blocks(w->face, REUNIT_SITES);
    const dim3 grid(2 * h.face_blocks + lat_cuda_blocks(w->own, REUNIT_SITES), 2 * (unsigned)w->nd);
    return lat_cuda_start(0, LAT_(reunitarise), grid, BLOCK, stream, *w, h);
}
#define REUNIT LAT_(reunit)
#else
#define REUNIT NULL
#endif

/* axis[] is in order here. */
static __global__ void __launch_bounds__(LAT_CUDA_SUM_THREADS)
    LAT_(plaquettes)(const __grid_constant__ lat_cuda_links w,
                     const __grid_constant__ lat_cuda_sums sums, uint32_t number)
{
    const lat_cuda_summand p = lat_cuda_summand_of(w, sums);
    double sum[2] = {0, 0};
    lat_cuda_signal_step(w.peers, number);
    if (w.peers.direct)
        lat_cuda_await(w.peers, w.peers.direct & LAT_CUDA_ABOVE, number);
    LAT_(add_plaquettes)(w, p, sum);
    lat_cuda_add_slices<2, 0>(sums, 0, sum);
}

static cudaError_t LAT_(plaquette)(const lat_cuda_links *w, const lat_cuda_sums *sums,
                                   uint32_t number, cudaStream_t stream)
{
    return lat_cuda_start(0, LAT_(plaquettes), lat_cuda_sums_blocks(sums), LAT_CUDA_SUM_THREADS,
                          stream, *w, *sums, number);
}
