/* SPDX-License-Identifier: BSD-3-Clause */
/* digest.c: checksums of foreign files. */
#include "digest.h"

#include "base/bytes.h"
#include "base/error.h"
#include "lattice/reals.h"
#include "stream/deflate.h"

#define THREAD_BYTES ((size_t)64 << 10) /* that a thread sums at a time */

static uint32_t rotate(uint32_t v, unsigned by) { return by ? v << by | v >> (32 - by) : v; }

void lat_nersc_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                      LAT_UNUSED size_t first)
{
    lat_nersc_sum *s = sum;
    const size_t n = sites * site_bytes;
    uint32_t same = 0, swapped = 0;
#pragma omp parallel for schedule(static) reduction(+ : same, swapped)
    for (size_t at = 0; at < n; at += THREAD_BYTES) {
        const unsigned char *b = bytes + at;
        const size_t words = (n - at < THREAD_BYTES ? n - at : THREAD_BYTES) / 4;
        uint32_t x, y;
        lat_words_sum(b, words, &x, &y);
        same += x;
        swapped += y;
    }
#pragma omp critical(sum)
    {
        s->big += lat_big_endian() ? same : swapped;
        s->little += lat_big_endian() ? swapped : same;
    }
}

/* class[k mod m] ^= word k, for n words from number k on. */
static inline void fold(uint32_t *class, const unsigned m, const unsigned char *bytes, size_t n,
                        uint64_t k)
{
    size_t i = 0;
    for (unsigned c = (unsigned)(k % m); c < m && c > 0 && i < n; c++, i++)
        class[c] ^= lat_load32(bytes + 4 * i, false);
    for (; i + m <= n; i += m)
        for (unsigned c = 0; c < m; c++)
            class[c] ^= lat_load32(bytes + 4 * (i + c), false);
    for (unsigned c = 0; i < n; c++, i++)
        class[c] ^= lat_load32(bytes + 4 * i, false);
}

static void merge(lat_milc_sum *s, const lat_milc_sum *c)
{
    for (int k = 0; k < 29; k++)
        s->class29[k] ^= c->class29[k];
    for (int k = 0; k < 31; k++)
        s->class31[k] ^= c->class31[k];
}

/* The rotation of a word depends on its class only, and exclusive or commutes with rotations and
 * with the byte order. So words are only combined by class here, and rotated once, by
 * lat_milc_sums. */
void lat_milc_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                     size_t first)
{
    lat_milc_sum *s = sum;
    const size_t n = sites * site_bytes;
    const uint64_t word = (uint64_t)first * site_bytes / 4;
#pragma omp parallel
    {
        lat_milc_sum c = {{0}, {0}};
#pragma omp for schedule(static)
        for (size_t at = 0; at < n; at += THREAD_BYTES) {
            const size_t words = (n - at < THREAD_BYTES ? n - at : THREAD_BYTES) / 4;
            fold(c.class29, 29, bytes + at, words, word + at / 4);
            fold(c.class31, 31, bytes + at, words, word + at / 4);
        }
#pragma omp critical(sum)
        merge(s, &c);
    }
}

/* The exclusive or of all classes, rotated. */
static uint32_t rotate_classes(const uint32_t *class, unsigned m, bool swap)
{
    uint32_t sum = 0;
    for (unsigned c = 0; c < m; c++)
        sum ^= rotate(swap ? __builtin_bswap32(class[c]) : class[c], c);
    return sum;
}

void lat_milc_sums(const lat_milc_sum *sum, bool big, uint32_t *sum29, uint32_t *sum31)
{
    *sum29 = rotate_classes(sum->class29, 29, big != lat_big_endian());
    *sum31 = rotate_classes(sum->class31, 31, big != lat_big_endian());
}

static void glu_digest(lat_milc_sum *s, const unsigned char *bytes, size_t reals, uint64_t first,
                       bool swap)
{
#pragma omp parallel
    {
        lat_milc_sum c = {{0}, {0}};
#pragma omp for schedule(static)
        for (size_t i = 0; i < reals; i++) {
            const uint32_t v = lat_load32(bytes + 8 * i, swap)
                               + lat_load32(bytes + 8 * i + 4, swap);
            c.class29[(first + i) % 29] ^= v;
            c.class31[(first + i) % 31] ^= v;
        }
#pragma omp critical(sum)
        merge(s, &c);
    }
}

void lat_glu_digest_big(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                        size_t first)
{
    glu_digest(sum, bytes, sites * site_bytes / 8, (uint64_t)first * site_bytes / 8,
               !lat_big_endian());
}

void lat_glu_digest_little(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                           size_t first)
{
    glu_digest(sum, bytes, sites * site_bytes / 8, (uint64_t)first * site_bytes / 8,
               lat_big_endian());
}

void lat_scidac_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                       size_t first)
{
    lat_scidac_sum *s = sum;
    uint32_t a = 0, b = 0;
#pragma omp parallel for schedule(static) reduction(^ : a, b)
    for (size_t i = 0; i < sites; i++) {
        const uint32_t c = lat_crc(0, bytes + i * site_bytes, site_bytes);
        a ^= rotate(c, (unsigned)((first + i) % 29));
        b ^= rotate(c, (unsigned)((first + i) % 31));
    }
#pragma omp critical(sum)
    {
        s->a ^= a;
        s->b ^= b;
    }
}

void lat_sum_add(lat_digest *digest, lat_sum *sum, const lat_sum *other)
{
    if (digest == lat_nersc_digest) {
        sum->nersc.big += other->nersc.big;
        sum->nersc.little += other->nersc.little;
        return;
    }
    unsigned char *const to = (unsigned char *)sum;
    for (size_t i = 0; i < sizeof *sum; i++)
        to[i] ^= ((const unsigned char *)other)[i];
}

int lat_sum_of_ranks(const lat_comm *comm, lat_digest *digest, lat_sum *sum)
{
    const lat_sum own = *sum;
    for (int r = 0; r < comm->size; r++) {
        lat_sum other = own;
        if (comm->broadcast(comm, &other, sizeof other, r))
            return -1;
        if (r != comm->rank)
            lat_sum_add(digest, sum, &other);
    }
    return 0;
}
