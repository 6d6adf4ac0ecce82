/* SPDX-License-Identifier: BSD-3-Clause */
/* huffman.c: stored and Huffman-coded blocks of deflate (RFC 1951), for bytes without repetitions.
 */
#include "huffman_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

#define MAX_STORED 65535u /* bytes of one stored block */
#define SYMBOLS 257       /* bytes, and the end of the block */
#define LONGEST 15        /* bits of a code */

void lat_count_bytes(uint32_t count[4][256], const unsigned char *p, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        count[0][p[i]]++;
        count[1][p[i + 1]]++;
        count[2][p[i + 2]]++;
        count[3][p[i + 3]]++;
    }
    for (; i < n; i++)
        count[0][p[i]]++;
}

size_t lat_stored_size(size_t n) { return n + 5 * ((n + MAX_STORED - 1) / MAX_STORED); }

/* RFC 1951, 3.2.4 */
unsigned char *lat_put_stored(unsigned char *out, const unsigned char *p, size_t n)
{
    while (n) {
        unsigned length = n < MAX_STORED ? (unsigned)n : MAX_STORED;
        *out++ = 0;
        *out++ = (unsigned char)length;
        *out++ = (unsigned char)(length >> 8);
        *out++ = (unsigned char)~length;
        *out++ = (unsigned char)(~length >> 8);
        memcpy(out, p, length);
        out += length, p += length, n -= length;
    }
    return out;
}

/* A bit writer, lowest bit first. After flush_bits fewer than 8 bits are left in `bits`; it stores
 * 8 bytes at a time, so up to 8 bytes behind the end. */
typedef struct writer {
    unsigned char *out;
    uint64_t bits;
    unsigned used;
} writer;

static inline void put_bits(writer *w, uint64_t bits, unsigned n)
{
    w->bits |= bits << w->used;
    w->used += n;
}

static inline void flush_bits(writer *w)
{
    lat_store_le64(w->out, w->bits);
    w->out += w->used / 8;
    w->bits >>= w->used & ~7u;
    w->used %= 8;
}

typedef struct leaf {
    uint32_t count;
    int symbol;
} leaf;

static int by_count(const void *a, const void *b)
{
    const leaf *p = a, *q = b;
    return p->count != q->count ? (p->count > q->count) - (p->count < q->count)
                                : p->symbol - q->symbol;
}

/* Depths of the leaves of Huffman's tree, in the order of `leaves`, which are sorted by count:
 * leaves and the nodes made of them are two queues, both in order. Returns the largest depth. */
static int tree_depths(const leaf *leaves, int n, uint8_t *depth)
{
    uint32_t weight[2 * SYMBOLS];
    int parent[2 * SYMBOLS], level[2 * SYMBOLS], next_leaf = 0, next_node = n, largest = 0;
    for (int i = 0; i < n; i++)
        weight[i] = leaves[i].count;
    for (int node = n; node < 2 * n - 1; node++) {
        weight[node] = 0;
        for (int child = 0; child < 2; child++) {
            bool take_leaf = next_leaf < n
                             && (next_node == node || weight[next_leaf] <= weight[next_node]);
            int least = take_leaf ? next_leaf++ : next_node++;
            weight[node] += weight[least];
            parent[least] = node;
        }
    }
    level[2 * n - 2] = 0;
    for (int i = 2 * n - 3; i >= 0; i--)
        level[i] = level[parent[i]] + 1;
    for (int i = 0; i < n; i++) {
        depth[i] = (uint8_t)level[i];
        if (level[i] > largest)
            largest = level[i];
    }
    return largest;
}

/* Lengths of the codes of all symbols, 0 for those that do not occur. */
static void code_lengths(const uint32_t count[SYMBOLS], uint8_t length[SYMBOLS])
{
    leaf leaves[SYMBOLS];
    uint8_t depth[SYMBOLS];
    int n = 0;
    memset(length, 0, SYMBOLS);
    for (int v = 0; v < SYMBOLS; v++)
        if (count[v])
            leaves[n++] = (leaf){count[v], v};
    qsort(leaves, (size_t)n, sizeof *leaves, by_count);
    /* Counts that are closer to each other make a flatter tree; their order stays. */
    while (tree_depths(leaves, n, depth) > LONGEST)
        for (int i = 0; i < n; i++)
            leaves[i].count = leaves[i].count / 2 + 1;
    for (int i = 0; i < n; i++)
        length[leaves[i].symbol] = depth[i];
}

/* Canonical codes of the lengths (RFC 1951, 3.2.2): in the low 16 bits the code, its first bit
 * lowest; above them the length. */
static void make_codes(const uint8_t length[SYMBOLS], uint32_t code[SYMBOLS])
{
    uint32_t next[LONGEST + 2] = {0}, many[LONGEST + 2] = {0};
    for (int v = 0; v < SYMBOLS; v++)
        many[length[v]]++;
    many[0] = 0;
    for (int l = 1; l <= LONGEST; l++)
        next[l] = (next[l - 1] + many[l - 1]) << 1;
    for (int v = 0; v < SYMBOLS; v++) {
        uint32_t c = length[v] ? next[length[v]]++ : 0, reversed = 0;
        for (int b = 0; b < length[v]; b++)
            reversed |= (c >> b & 1) << (length[v] - 1 - b);
        code[v] = reversed | (uint32_t)length[v] << 16;
    }
}

/* Writes the code at the head of a block (RFC 1951, 3.2.7): 257 literals; two distances, which do
 * not occur, because some decoders refuse an incomplete code; the lengths 0 to 15 as four bits
 * each, which takes 130 bytes of many thousand. */
#define CODE_BITS (17 + 19 * 3 + (SYMBOLS + 2) * 4)
static void put_code(writer *w, const uint8_t length[SYMBOLS])
{
    static const uint8_t reversed[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    put_bits(w, 0, 1);  /* not the last block */
    put_bits(w, 2, 2);  /* its own code */
    put_bits(w, 0, 5);  /* 257 literals and lengths */
    put_bits(w, 1, 5);  /* 2 distances */
    put_bits(w, 15, 4); /* 19 lengths of lengths, of which the first three, repetitions, */
    put_bits(w, 0, 9);  /* do not occur, */
    flush_bits(w);
    for (int i = 0; i < 16; i++) /* and the others have four bits */
        put_bits(w, 4, 3);
    flush_bits(w);
    for (int v = 0; v < SYMBOLS; v++) {
        put_bits(w, reversed[length[v]], 4);
        flush_bits(w);
    }
    put_bits(w, reversed[1], 4);
    put_bits(w, reversed[1], 4);
    flush_bits(w);
}

/* Writes one block of up to LAT_CODED bytes, unless storing them is shorter: then false. */
static bool put_coded(writer *w, const unsigned char *p, size_t n)
{
    uint32_t four[4][256] = {{0}}, count[SYMBOLS], code[SYMBOLS];
    uint8_t length[SYMBOLS];
    lat_count_bytes(four, p, n);
    for (int v = 0; v < 256; v++)
        count[v] = four[0][v] + four[1][v] + four[2][v] + four[3][v];
    count[256] = 1;
    code_lengths(count, length);
    uint64_t bits = CODE_BITS;
    for (int v = 0; v < SYMBOLS; v++)
        bits += (uint64_t)count[v] * length[v];
    if (bits / 8 + 8 > lat_stored_size(n))
        return false;
    make_codes(length, code);
    put_code(w, length);
    size_t i = 0;
    for (; i + 3 <= n; i += 3) { /* 3 times 15 bits and 7 waiting ones are fewer than 64 */
        uint32_t a = code[p[i]], b = code[p[i + 1]], c = code[p[i + 2]];
        put_bits(w, a & 0xffff, a >> 16);
        put_bits(w, b & 0xffff, b >> 16);
        put_bits(w, c & 0xffff, c >> 16);
        flush_bits(w);
    }
    for (; i < n; i++) {
        put_bits(w, code[p[i]] & 0xffff, code[p[i]] >> 16);
        flush_bits(w);
    }
    put_bits(w, code[256] & 0xffff, code[256] >> 16);
    flush_bits(w);
    return true;
}

unsigned char *lat_put_huffman(unsigned char *out, const unsigned char *p, size_t n)
{
    for (size_t at = 0; at < n; at += LAT_CODED) {
        size_t m = n - at < LAT_CODED ? n - at : LAT_CODED;
        writer w = {.out = out};
        if (!put_coded(&w, p + at, m)) {
            out = lat_put_stored(out, p + at, m);
            continue;
        }
        put_bits(&w, 0, 3); /* an empty stored block, which begins at the next byte */
        w.used = (w.used + 7) & ~7u;
        put_bits(&w, UINT64_C(0xffff0000), 32);
        flush_bits(&w);
        out = w.out;
    }
    return out;
}
