/* SPDX-License-Identifier: BSD-3-Clause */
/* deflate.c: checksums and inflate; the only file that knows libdeflate, which is faster than zlib
 * at both (docs/dependencies.md). */
#include "deflate.h"

#include <stdbool.h>
#include <zlib.h>
#ifdef LAT_LIBDEFLATE
#include <libdeflate.h>
#endif

uint32_t lat_crc_join(uint32_t first, uint32_t second, size_t second_size)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)second_size);
}

#ifdef LAT_LIBDEFLATE

uint32_t lat_crc(uint32_t crc, const void *p, size_t n) { return libdeflate_crc32(crc, p, n); }

uint32_t lat_adler(const void *p, size_t n) { return libdeflate_adler32(1, p, n); }

int lat_inflate(const void *packed, size_t size, void *to, size_t n)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t taken = 0;
    if (!d)
        return -1;
    const enum libdeflate_result rc = libdeflate_zlib_decompress_ex(d, packed, size, to, n, &taken,
                                                                    NULL);
    libdeflate_free_decompressor(d);
    return rc == LIBDEFLATE_SUCCESS && taken == size ? 0 : -1;
}

#else

uint32_t lat_crc(uint32_t crc, const void *p, size_t n) { return (uint32_t)crc32_z(crc, p, n); }

uint32_t lat_adler(const void *p, size_t n) { return (uint32_t)adler32_z(1, p, n); }

int lat_inflate(const void *packed, size_t size, void *to, size_t n)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed, .avail_in = (uInt)size};
    if (inflateInit(&z) != Z_OK)
        return -1;
    z.next_out = to;
    z.avail_out = (uInt)n;
    const int rc = inflate(&z, Z_FINISH);
    const bool whole = rc == Z_STREAM_END && z.avail_in == 0 && z.avail_out == 0;
    inflateEnd(&z);
    return whole ? 0 : -1;
}

#endif
