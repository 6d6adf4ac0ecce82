/* SPDX-License-Identifier: BSD-3-Clause */
/* packer_code.cuh: huffman.c on a GPU: the code of one plane of a block by one block of threads,
 * the same bytes. A plane has LAT_CODED bytes: a block of deflate. For packer_gpu.cu. */
#ifndef LAT_STREAM_PACKER_CODE_CUH
#define LAT_STREAM_PACKER_CODE_CUH

#include <cuda_runtime.h>
#include <stdint.h>
extern "C" {
#include "huffman_internal.h"
}

enum {
    PLANES = 8,
    PLANE = 1 << 17,     /* bytes of a plane, and reals of a block */
    CODED = PLANE + 128, /* room for a coded plane */
    WIDE = 1024          /* threads that code a plane */
};

typedef unsigned char byte;
typedef unsigned long long wide; /* as atomics want it */

/* A plane: its method; the bytes of its code, 0 if it is stored; where those or the first stored
 * ones begin in the block; and, stored, how many bytes of neighbours are before it, and in all. */
typedef struct plane {
    uint32_t how, coded, at, before, run;
} plane;

enum {
    COPIES = 4, /* of a histogram, so that equal symbols wait less for each other */
    ROUNDS = 32 /* after fewer all counts are 1 or 2 */
};

typedef struct coder {
    uint32_t counts[COPIES * LAT_SYMBOLS], count[LAT_SYMBOLS], key[LAT_SYMBOLS];
    uint32_t code[LAT_SYMBOLS]; /* as make_codes has it */
    uint32_t weight[2 * LAT_SYMBOLS];
    uint16_t leaf[LAT_SYMBOLS], parent[2 * LAT_SYMBOLS];
    byte length[LAT_SYMBOLS];
    uint32_t leaves, many[LAT_LONGEST + 1], first[LAT_LONGEST + 1], bits, sum[WIDE / 32];
    bool whole;          /* the codes are those of a tree */
    uint32_t next[WIDE]; /* where the first run begins in a thread's bytes, or behind them */
} coder;

/* Calls put.byte(v), put.length(l) for the symbols of a run: a byte and those behind it. */
template <class Put>
static __device__ __forceinline__ void put_run(byte v, uint32_t behind, Put &put)
{
    put.byte(v);
    for (; behind > LAT_MOST_RUN; behind -= LAT_MOST_RUN)
        put.length(LAT_MOST_RUN);
    if (behind >= LAT_LEAST_RUN)
        put.length(behind);
    else
        for (; behind; behind--)
            put.byte(v);
}

/* Which of a thread's bytes are not as the one before: runs begin there. */
enum { OWN = PLANE / WIDE, MASKS = OWN / 32 };
typedef struct run_masks {
    uint32_t of[MASKS];
} run_masks;

/* The symbols of the bytes, or runs, that begin in this thread's bytes. */
template <class Put>
static __device__ __forceinline__ void each_symbol(const byte *p, bool runs, const run_masks &m,
                                                   const coder &c, Put &put)
{
    const uint32_t from = threadIdx.x * OWN;
    if (!runs) {
        for (uint32_t i = from; i < from + OWN; i++)
            put.byte(p[i]);
        return;
    }
    uint32_t last = PLANE;
#pragma unroll
    for (int k = 0; k < MASKS; k++)
        for (uint32_t bits = m.of[k]; bits; bits &= bits - 1) {
            const uint32_t start = from + 32 * k + __ffs(bits) - 1;
            if (last < PLANE)
                put_run(p[last], start - last - 1, put);
            last = start;
        }
    if (last < PLANE)
        put_run(p[last], (threadIdx.x + 1 < WIDE ? c.next[threadIdx.x + 1] : PLANE) - last - 1,
                put);
}

/* Also c->next; by all threads. */
static __device__ run_masks find_runs(const byte *p, coder *c)
{
    const uint32_t t = threadIdx.x;
    const uint4 *const from = (const uint4 *)(p + t * OWN);
    uint32_t before = t ? (uint32_t)p[t * OWN - 1] << 24 : 0, first = PLANE;
    run_masks m = {};
#pragma unroll
    for (int k = OWN / 16 - 1; k >= 0; k--) {
        const uint4 v = from[k];
        const uint32_t word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 3; j >= 0; j--) {
            const uint32_t left = j   ? word[j - 1]
                                  : k ? from[k - 1].w
                                      : before,
                           differs = __vsetne4(word[j], __funnelshift_l(left, word[j], 8)),
                           bits = differs * 0x10204080u >> 28, at = 16 * k + 4 * j;
            m.of[at / 32] |= bits << (at % 32);
        }
    }
    if (t == 0)
        m.of[0] |= 1;
#pragma unroll
    for (int k = MASKS - 1; k >= 0; k--)
        first = m.of[k] ? t * OWN + 32 * k + __ffs(m.of[k]) - 1 : first;
    c->next[t] = first;
    for (uint32_t step = 1; step < WIDE; step *= 2) { /* the least of those from here on */
        __syncthreads();
        const uint32_t there = t + step < WIDE ? c->next[t + step] : PLANE;
        __syncthreads();
        if (there < c->next[t])
            c->next[t] = there;
    }
    __syncthreads();
    return m;
}

struct count_symbols {
    uint32_t *count;
    __device__ void byte(uint32_t v) { atomicAdd(&count[v], 1); }
    __device__ void length(uint32_t l)
    {
        uint32_t bits;
        byte(lat_length_symbol(l, &bits));
    }
};

struct count_bits {
    const coder *c;
    uint32_t bits;
    __device__ void byte(uint32_t v) { bits += c->length[v]; }
    __device__ void length(uint32_t l)
    {
        uint32_t more;
        bits += c->length[lat_length_symbol(l, &more)];
        bits += more + 1;
    }
};

/* Bits from number `at` on, lowest first, where all are 0: words are shared at both ends. */
struct put_bits {
    const coder *c;
    uint32_t *word;
    wide bits;
    uint32_t used;
    __device__ put_bits(const coder *of, uint32_t *out, uint32_t at)
        : c(of), word(out + at / 32), bits(0), used(at % 32)
    {
    }
    __device__ void put(uint32_t v, uint32_t n)
    {
        bits |= (wide)v << used;
        used += n;
        if (used >= 32) {
            atomicOr(word++, (uint32_t)bits);
            bits >>= 32;
            used -= 32;
        }
    }
    __device__ void byte(uint32_t v) { put(c->code[v] & 0xffff, c->code[v] >> 16); }
    __device__ void length(uint32_t l)
    {
        uint32_t more;
        byte(lat_length_symbol(l, &more));
        /* and distance 1, a bit that is 0 */
        put((l - LAT_LEAST_RUN) & ((1u << more) - 1), more + 1);
    }
    __device__ void end()
    {
        if (used)
            atomicOr(word, (uint32_t)bits);
    }
};

/* One thread: parents, as tree_depths has it. */
static __device__ void make_tree(coder *c)
{
    const uint32_t n = c->leaves;
    uint32_t next_leaf = 0, next_node = n;
    for (uint32_t node = n; node < 2 * n - 1; node++) {
        uint32_t sum = 0;
        for (int child = 0; child < 2; child++) {
            const bool take_leaf = next_leaf < n
                                   && (next_node == node
                                       || c->weight[next_leaf] <= c->weight[next_node]);
            const uint32_t least = take_leaf ? next_leaf++ : next_node++;
            sum += c->weight[least];
            c->parent[least] = (uint16_t)node;
        }
        c->weight[node] = sum;
    }
}

/* Lengths of codes, and codes, of c->count. What can be decoded does not hang on the tree: a code
 * that is not whole is not used. */
static __device__ void make_codes(coder *c)
{
    const uint32_t t = threadIdx.x;
    if (t < LAT_SYMBOLS) { /* sorted by count, then by symbol */
        c->key[t] = c->count[t] ? c->count[t] << 9 | t : 0xffffffff;
        c->length[t] = 0;
    }
    if (t <= LAT_LONGEST)
        c->many[t] = 0;
    if (t == 0)
        c->leaves = 0;
    __syncthreads();
    if (t < LAT_SYMBOLS && c->count[t]) {
        uint32_t rank = 0;
        for (int v = 0; v < LAT_SYMBOLS; v++)
            rank += c->key[v] < c->key[t];
        c->leaf[rank] = (uint16_t)t;
        c->weight[rank] = c->count[t];
        atomicAdd(&c->leaves, 1);
    }
    __syncthreads();
    const uint32_t n = c->leaves;
    uint32_t level;
    for (int round = 0;; round++) {
        if (t == 0)
            make_tree(c);
        __syncthreads();
        level = 0;
        for (uint32_t i = t; t < n && i < 2 * n - 2 && level <= LAT_LONGEST; i = c->parent[i])
            level++;
        if (!__syncthreads_or(level > LAT_LONGEST) || round == ROUNDS)
            break;
        if (t < n) /* closer to each other; their order stays */
            c->weight[t] = c->weight[t] / 2 + 1;
        __syncthreads();
    }
    if (t < n && level <= LAT_LONGEST) {
        c->length[c->leaf[t]] = (byte)level;
        atomicAdd(&c->many[level], 1);
    }
    __syncthreads();
    if (t == 0) {
        uint32_t all = 0; /* Kraft's sum, times 2^LAT_LONGEST */
        c->first[0] = 0;
        for (int l = 1; l <= LAT_LONGEST; l++) {
            c->first[l] = (c->first[l - 1] + (l > 1 ? c->many[l - 1] : 0)) << 1;
            all += c->many[l] << (LAT_LONGEST - l);
        }
        c->whole = all == 1u << LAT_LONGEST;
    }
    __syncthreads();
    if (t < LAT_SYMBOLS) {
        const uint32_t l = c->length[t];
        uint32_t code = c->first[l];
        for (uint32_t v = 0; v < t; v++)
            code += c->length[v] == l;
        c->code[t] = l ? __brev(code) >> (32 - l) | l << 16 : 0;
    }
    __syncthreads();
}

/* put_code of huffman.c; one thread. */
static __device__ void put_code(const coder *c, uint32_t symbols, uint32_t *out)
{
    put_bits w(c, out, 0);
    w.put(0, 1);
    w.put(2, 2);
    w.put(symbols - 257, 5);
    w.put(1, 5);
    w.put(15, 4);
    w.put(0, 9);
    for (int i = 0; i < 16; i++)
        w.put(4, 3);
    for (uint32_t v = 0; v < symbols; v++)
        w.put(__brev((uint32_t)c->length[v]) >> 28, 4);
    w.put(8, 4);
    w.put(8, 4);
    w.end();
}

/* Where this thread's bits begin, if it has `bits`; c->bits gets the sum of all. */
static __device__ uint32_t bits_before(coder *c, uint32_t bits)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t sum = bits;
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= (uint32_t)d ? other : 0;
    }
    if (lane == 31)
        c->sum[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t before = 0;
        for (int w = 0; w < WIDE / 32; w++) {
            const uint32_t of_warp = c->sum[w];
            c->sum[w] = before;
            before += of_warp;
        }
        c->bits = before;
    }
    __syncthreads();
    return c->sum[warp] + sum - bits;
}

/* put_coded of huffman.c, of one plane, if its method says so. */
static __global__ void __launch_bounds__(WIDE) code(const byte *planes, byte *coded, plane *all)
{
    __shared__ coder c;
    const uint32_t t = threadIdx.x, number = blockIdx.y * PLANES + blockIdx.x;
    const byte *const p = planes + (size_t)number * PLANE;
    uint32_t *const out = (uint32_t *)(coded + (size_t)number * CODED);
    const bool runs = all[number].how == LAT_PUT_RUNS;
    const uint32_t symbols = runs ? LAT_SYMBOLS : LAT_BYTES, head = LAT_CODE_BITS(symbols);
    if (all[number].how == LAT_PUT_STORED) {
        if (t == 0)
            all[number].coded = 0;
        return;
    }
    for (uint32_t i = t; i < COPIES * LAT_SYMBOLS; i += WIDE)
        c.counts[i] = i == 256; /* the end of the block */
    __syncthreads();
    const run_masks m = runs ? find_runs(p, &c) : run_masks();
    count_symbols counter = {c.counts + t % COPIES * LAT_SYMBOLS};
    each_symbol(p, runs, m, c, counter);
    __syncthreads();
    if (t < LAT_SYMBOLS) {
        c.count[t] = 0;
        for (int k = 0; k < COPIES; k++)
            c.count[t] += c.counts[k * LAT_SYMBOLS + t];
    }
    __syncthreads();
    make_codes(&c);
    count_bits length = {&c, 0};
    each_symbol(p, runs, m, c, length);
    const uint32_t at = head + bits_before(&c, length.bits), end = head + c.bits + c.length[256],
                   aligned = (end + 3 + 7) / 8 * 8, bytes = aligned / 8 + 4;
    if (end / 8 + 8 > LAT_STORED_SIZE((uint32_t)PLANE) || !c.whole) {
        if (t == 0)
            all[number].coded = 0;
        return;
    }
    for (uint32_t i = t; i < bytes / 4 + 1; i += WIDE)
        out[i] = 0;
    __syncthreads();
    put_bits w(&c, out, at);
    each_symbol(p, runs, m, c, w);
    w.end();
    if (t)
        return;
    put_code(&c, symbols, out);
    put_bits last(&c, out, end - c.length[256]);
    last.byte(256);
    last.end();
    put_bits empty(&c, out, aligned + 16); /* a stored block of no bytes: 0, 0, 255, 255 */
    empty.put(0xffff, 16);
    empty.end();
    all[number].coded = bytes;
}

#endif
