/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h: integers of 32 and 64 bits at any address, aligned or not, in a given byte order, little
 * (le) or big (be) endian. The machine's own order does not matter. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool lat_big_endian(void) { return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__; }

/* In the byte order of this machine; `swap`: in the other one. */
static inline uint32_t lat_load32(const void *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t lat_load64(const void *p, bool swap)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}

static inline void lat_store32(void *p, uint32_t v, bool swap)
{
    v = swap ? __builtin_bswap32(v) : v;
    memcpy(p, &v, sizeof v);
}

static inline void lat_store64(void *p, uint64_t v, bool swap)
{
    v = swap ? __builtin_bswap64(v) : v;
    memcpy(p, &v, sizeof v);
}

static inline uint32_t lat_load_le32(const void *p) { return lat_load32(p, lat_big_endian()); }
static inline uint32_t lat_load_be32(const void *p) { return lat_load32(p, !lat_big_endian()); }
static inline uint64_t lat_load_le64(const void *p) { return lat_load64(p, lat_big_endian()); }
static inline uint64_t lat_load_be64(const void *p) { return lat_load64(p, !lat_big_endian()); }

static inline void lat_store_le32(void *p, uint32_t v) { lat_store32(p, v, lat_big_endian()); }
static inline void lat_store_be32(void *p, uint32_t v) { lat_store32(p, v, !lat_big_endian()); }
static inline void lat_store_le64(void *p, uint64_t v) { lat_store64(p, v, lat_big_endian()); }
static inline void lat_store_be64(void *p, uint64_t v) { lat_store64(p, v, !lat_big_endian()); }

/* In the byte order that a file states. */
static inline uint32_t lat_load_u32(const void *p, bool big)
{
    return lat_load32(p, big != lat_big_endian());
}

static inline void lat_store_u32(void *p, uint32_t v, bool big)
{
    lat_store32(p, v, big != lat_big_endian());
}

static inline double lat_load_f64(const void *p, bool big)
{
    const uint64_t bits = lat_load64(p, big != lat_big_endian());
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline void lat_store_f64(void *p, double v, bool big)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    lat_store64(p, bits, big != lat_big_endian());
}
