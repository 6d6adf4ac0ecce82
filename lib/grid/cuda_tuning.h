/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_tuning.h: numbers that were measured, on one H200 where nothing else is said (bench/history
 * has the tables). Results do not depend on them. */
#pragma once

/* Bytes of a pair of staging buffers. */
#define LAT_CUDA_STAGE ((size_t)16 << 20)

/* Links and g of a time slice that are taken whole: three such slices fit into the second cache (60
 * MB, of which some 40 serve) with what is read once. Larger ones are cut into strips: 64^3x32 from
 * 16.1 to 18.6 Tflop/s. */
#define LAT_CUDA_SLICE_BYTES 24e6

/* Sites of a half sweep for each multiprocessor up to which the kernel for small lattices is the
 * faster one: 16^4 from 12.9 to 9.9 us a sweep. */
#define LAT_CUDA_SMALL_SITES 256

/* Sweeps of a slice and all its copies that its migration costs, through the hosts and MPI: 64^3 in
 * single takes 7 ms, 230 of its sweeps; in double 10 to 18 ms, 120 to 220. Both take as long as
 * there are bytes, links once and g of every copy: N, precision and extents change it little. */
#define LAT_CUDA_MIGRATION_SWEEPS 200

/* So many times the host reads the flag of a sum before it waits for the stream instead, which
 * takes 3 us more (16^4: 15.6 us for theta): some milliseconds. */
#define LAT_CUDA_FLAG_READS 300000

/* Sites of a parity from which hops in double go by way of tiles: 12 columns on 16^4 4.74 us
 * without tiles, 5.10 with them; on 24^3x48 55.1 and 53.0. */
#ifndef LAT_CUDA_TILED_SITES /* tests/emulator has smaller lattices */
#define LAT_CUDA_TILED_SITES (1 << 17)
#endif

/* Pairs of z that a hop takes before the next pair of t, a part of all `pairs`, at most `most`.
 * With several columns less fits into the second cache: 12 of them on 32^3x64 in single 70.4 us by
 * 4 or 8, 71.5 by 16; on 48^3x96 381.9 by 3, 387 by 6 or 8, 380.3 by 12. One in double there 1309
 * by 12, 1346 by 24. */
static inline unsigned lat_cuda_strip(unsigned pairs, unsigned most, int columns)
{
    unsigned strip = columns > 3 ? 12 : 16;
    while (pairs % strip || strip > most)
        strip--;
    return strip;
}
