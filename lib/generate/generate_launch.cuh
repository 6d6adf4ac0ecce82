/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_launch.cuh: the functions of lat_cuda_link_ops (template; after the kernels): which
 * kernel, and on how many blocks of BLOCK threads and SITES links. */

static cudaError_t LAT_(launch)(void (*kernel)(lat_cuda_links, lat_cuda_draw, int),
                                const lat_cuda_links *w, const lat_cuda_draw *how, int parity,
                                cudaStream_t stream)
{
    lat_cuda_draw h = *how;
    h.face_blocks = how->part == LAT_CUDA_INTERIOR ? 0 : lat_cuda_blocks(w->face, SITES);
    const unsigned inner = how->part == LAT_CUDA_FACE
                               ? 0
                               : lat_cuda_blocks(w->own - 2 * w->face, SITES);
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
static cudaError_t LAT_(reunit)(const lat_cuda_links *w, const lat_cuda_draw *how,
                                cudaStream_t stream)
{
    lat_cuda_draw h = *how;
    h.face_blocks = lat_cuda_blocks(w->face, REUNIT_SITES);
    LAT_(reunitarise)<<<dim3(2 * h.face_blocks + lat_cuda_blocks(w->own, REUNIT_SITES),
                             2 * (unsigned)w->nd),
                        BLOCK, 0, stream>>>(*w, h);
    return cudaGetLastError();
}
#define REUNIT LAT_(reunit)
#else
#define REUNIT NULL
#endif

static cudaError_t LAT_(plaquette)(const lat_cuda_links *w, const lat_cuda_sums *sums,
                                   uint32_t number, cudaStream_t stream)
{
    LAT_(plaquettes)<<<lat_cuda_sums_blocks(sums), LAT_CUDA_SUM_THREADS, 0, stream>>>(*w, *sums,
                                                                                      number);
    return cudaGetLastError();
}
