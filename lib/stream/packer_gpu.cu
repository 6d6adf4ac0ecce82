/* SPDX-License-Identifier: BSD-3-Clause */
/* packer_gpu.cu: codec.c and huffman.c on a GPU, for whole blocks of doubles: the same bytes.
 *
 * A batch of blocks goes through six kernels: `filter` makes byte planes and the sums of Adler's
 * checksum; `checksum` the CRC of the raw bytes; `choose` finds the method of each plane; `code`
 * makes the bytes of coded planes; `lay_out` says where everything goes; `assemble` puts it there.
 * A plane has LAT_CODED bytes, so that each coded one is a block of deflate with a code of its own.
 * Two batches are under way: one is packed while the other one goes to the host, in pieces of some
 * blocks. */
#include "grid/cuda_fetch.cuh"
#include <stdlib.h>
#include <string.h>
extern "C" {
#include "base/error.h"
#include "huffman_internal.h"
#include "packer.h"
}

enum {
    PLANES = 8,
    PLANE = 1 << 17,                         /* bytes of a plane, and reals of a block */
    BLOCK = PLANES * PLANE,                  /* raw bytes */
    BATCH = 64,                              /* blocks that are packed together */
    PIECE = 16,                              /* blocks that go to the host together */
    STORED_MOST = 65535,                     /* bytes of a stored block of deflate */
    STORED_HEAD = 5,                         /* bytes before them */
    CODED = PLANE + 128,                     /* room for a coded plane, and for one stored */
    ROOM = (BLOCK + 4096 + 255) / 256 * 256, /* for a packed block */
    SAMPLE = 1024,
    SAMPLES_APART = 16 * SAMPLE, /* as in codec.c */
    WIDE = 1024                  /* threads that code a plane */
};
static_assert(BLOCK == LAT_STREAM_BLOCK && PLANE == LAT_CODED, "a plane has one code");

typedef unsigned char byte;
typedef unsigned long long wide; /* as atomics want it */

typedef enum { STORED, HUFFMAN, RUNS } method;

/* What is found of a block; `at`: where it begins in the bytes of its batch. */
typedef struct found {
    wide largest, sum, weighted; /* bits of the largest modulus; for Adler's checksum */
    uint32_t not_finite;         /* PLANE minus the number of the first such real; 0: none is */
    uint32_t crc, stored, at;
} found;

/* A plane: its method; the bytes of its code, 0 if it is stored; where those or the first stored
 * ones begin in the block; and, stored, how many bytes of neighbours are before it, and in all. */
typedef struct plane {
    uint32_t how, coded, at, before, run;
} plane;

static int failed(cudaError_t e) { return lat_cuda_failed(e, "packing on the GPU"); }

/* ---- filter and checksums -------------------------------------------------------------------- */

/* Eight reals a thread: their bytes to the planes. */
static __global__ void filter(const byte *raw, byte *planes, found *all)
{
    const uint32_t first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    const uint4 *const from = (const uint4 *)(raw + (size_t)blockIdx.y * BLOCK + 8 * first);
    byte *const to = planes + (size_t)blockIdx.y * BLOCK + first;
    found *const f = all + blockIdx.y;
    const wide infinity = 0x7ff0000000000000ull;
    wide w[8], largest = 0, sum = 0, weighted = 0;
    uint32_t not_finite = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint4 v = from[j];
        w[2 * j] = v.x | (wide)v.y << 32;
        w[2 * j + 1] = v.z | (wide)v.w << 32;
    }
#pragma unroll
    for (int j = 7; j >= 0; j--) {
        const wide modulus = w[j] & ~(1ull << 63);
        largest = modulus > largest ? modulus : largest;
        not_finite = modulus >= infinity ? PLANE - first - j : not_finite;
        w[j] = w[j] << 1 | w[j] >> 63;
    }
#pragma unroll
    for (int p = 0; p < PLANES; p++) {
        uint32_t half[2] = {};
#pragma unroll
        for (int j = 0; j < 8; j++)
            half[j / 4] |= ((uint32_t)(w[j] >> (56 - 8 * p)) & 255) << (8 * (j % 4));
        *(uint2 *)(to + p * PLANE) = make_uint2(half[0], half[1]);
        /* (BLOCK - place) times byte: the place is that of the first one, and 0 to 7 */
        const uint32_t bytes = __dp4a(half[0], 0x01010101u, __dp4a(half[1], 0x01010101u, 0u)),
                       behind = __dp4a(half[0], 0x03020100u, __dp4a(half[1], 0x07060504u, 0u));
        sum += bytes;
        weighted += (wide)(BLOCK - p * PLANE - first) * bytes - behind;
    }
    for (int d = 16; d; d /= 2) {
        const wide other = __shfl_down_sync(~0u, largest, d);
        largest = other > largest ? other : largest;
        sum += __shfl_down_sync(~0u, sum, d);
        weighted += __shfl_down_sync(~0u, weighted, d);
    }
    if (not_finite)
        atomicMax(&f->not_finite, not_finite);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&f->largest, largest);
        atomicAdd(&f->sum, sum);
        atomicAdd(&f->weighted, weighted);
    }
}

/* CRC-32 is a polynomial over GF(2) modulo this one; the lowest power is the highest bit. */
#define POLYNOMIAL 0xedb88320u

static __host__ __device__ uint32_t crc_product(uint32_t a, uint32_t b)
{
    uint32_t p = 0;
    for (uint32_t m = 1u << 31; m; m >>= 1) {
        if (a & m)
            p ^= b;
        b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
    }
    return p;
}

/* x to the power of the bits of 1, 2, 4, .. times the bytes of a thread. */
typedef struct crc_powers {
    uint32_t of[10];
} crc_powers;

static crc_powers powers_of_crc(void)
{
    crc_powers p;
    uint32_t x = 1u << 30;       /* x^1 */
    for (int i = 0; i < 13; i++) /* 1024 bytes are 2^13 bits */
        x = crc_product(x, x);
    for (int i = 0; i < 10; i++, x = crc_product(x, x))
        p.of[i] = x;
    return p;
}

/* A block's raw bytes: 1024 each for 1024 threads, then pairs of neighbours together. */
static __global__ void __launch_bounds__(1024)
    checksum(const byte *raw, const __grid_constant__ crc_powers power, found *all)
{
    __shared__ uint32_t table[4][256], part[1024];
    const uint32_t t = threadIdx.x;
    const uint4 *const from = (const uint4 *)(raw + (size_t)blockIdx.x * BLOCK + 1024 * t);
    if (t < 256) {
        uint32_t c = t;
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 8; i++)
                c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
            table[k][t] = c;
        }
    }
    __syncthreads();
    uint32_t c = t ? 0 : 0xffffffff;
    for (int i = 0; i < 64; i++) {
        const uint4 v = from[i];
        const uint32_t word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            c ^= word[k];
            c = table[3][c & 255] ^ table[2][c >> 8 & 255] ^ table[1][c >> 16 & 255]
                ^ table[0][c >> 24];
        }
    }
    part[t] = c;
    for (uint32_t i = 0, step = 1; step < 1024; i++, step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0)
            part[t] = crc_product(power.of[i], part[t]) ^ part[t + step];
    }
    if (t == 0)
        all[blockIdx.x].crc = ~part[0];
}

/* ---- methods --------------------------------------------------------------------------------- */

/* `choose` of codec.c; 256 threads a plane. */
static __global__ void choose(const byte *planes, plane *all)
{
    __shared__ uint32_t count[256], same;
    __shared__ double bits[256];
    const uint32_t t = threadIdx.x, sample = PLANE / SAMPLES_APART * SAMPLE;
    const byte *const p = planes + (size_t)blockIdx.y * BLOCK + blockIdx.x * PLANE;
    count[t] = 0;
    if (t == 0)
        same = 0;
    __syncthreads();
    uint32_t mine = 0;
    for (uint32_t i = t; i < sample; i += 256) {
        const uint32_t at = i / SAMPLE * SAMPLES_APART + i % SAMPLE;
        atomicAdd(&count[p[at]], 1);
        mine += i % SAMPLE && p[at] == p[at - 1];
    }
    atomicAdd(&same, mine);
    __syncthreads();
    bits[t] = count[t] ? count[t] * log2((double)sample / count[t]) : 0;
    __syncthreads();
    if (t)
        return;
    double sum = 0;
    for (int v = 0; v < 256; v++)
        sum += bits[v];
    all[blockIdx.y * PLANES + blockIdx.x].how = sum > 7 * (double)sample ? STORED
                                                : 5 * same > 3 * sample  ? RUNS
                                                                         : HUFFMAN;
}

/* ---- coded planes, as in huffman.c ----------------------------------------------------------- */

enum { BYTES = 257, SYMBOLS = 286, LONGEST = 15, LEAST_RUN = 3, MOST_RUN = 258 };

enum { COPIES = 4 }; /* of a histogram, so that equal symbols wait less for each other */

typedef struct coder {
    uint32_t counts[COPIES * SYMBOLS], count[SYMBOLS], key[SYMBOLS];
    uint32_t code[SYMBOLS]; /* as make_codes has it */
    uint32_t weight[2 * SYMBOLS];
    uint16_t leaf[SYMBOLS], parent[2 * SYMBOLS];
    byte length[SYMBOLS];
    uint32_t leaves, many[LONGEST + 1], first[LONGEST + 1], bits, sum[WIDE / 32];
    uint32_t next[WIDE]; /* where the first run begins in a thread's bytes, or behind them */
} coder;

static __device__ uint32_t length_symbol(uint32_t length, uint32_t *bits)
{
    const uint32_t v = length - LEAST_RUN;
    *bits = 0;
    if (length == MOST_RUN)
        return SYMBOLS - 1;
    if (v < 4)
        return 257 + v;
    *bits = 29 - __clz(v);
    return 257 + 4 * (*bits + 1) + (v >> *bits & 3);
}

/* Calls put.byte(v), put.length(l) for the symbols of a run: a byte and those behind it. */
template <class Put>
static __device__ __forceinline__ void put_run(byte v, uint32_t behind, Put &put)
{
    put.byte(v);
    for (; behind > MOST_RUN; behind -= MOST_RUN)
        put.length(MOST_RUN);
    if (behind >= LEAST_RUN)
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
        byte(length_symbol(l, &bits));
    }
};

struct count_bits {
    const coder *c;
    uint32_t bits;
    __device__ void byte(uint32_t v) { bits += c->length[v]; }
    __device__ void length(uint32_t l)
    {
        uint32_t more;
        bits += c->length[length_symbol(l, &more)];
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
        byte(length_symbol(l, &more));
        put((l - LEAST_RUN) & ((1u << more) - 1), more + 1); /* and distance 1, a bit that is 0 */
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

/* Lengths of codes, and codes, of c->count. */
static __device__ void make_codes(coder *c)
{
    const uint32_t t = threadIdx.x;
    if (t < SYMBOLS) { /* sorted by count, then by symbol */
        c->key[t] = c->count[t] ? c->count[t] << 9 | t : 0xffffffff;
        c->length[t] = 0;
    }
    if (t <= LONGEST)
        c->many[t] = 0;
    if (t == 0)
        c->leaves = 0;
    __syncthreads();
    if (t < SYMBOLS && c->count[t]) {
        uint32_t rank = 0;
        for (int v = 0; v < SYMBOLS; v++)
            rank += c->key[v] < c->key[t];
        c->leaf[rank] = (uint16_t)t;
        c->weight[rank] = c->count[t];
        atomicAdd(&c->leaves, 1);
    }
    __syncthreads();
    const uint32_t n = c->leaves;
    uint32_t level;
    for (;;) {
        if (t == 0)
            make_tree(c);
        __syncthreads();
        level = 0;
        for (uint32_t i = t; t < n && i != 2 * n - 2; i = c->parent[i])
            level++;
        if (!__syncthreads_or(level > LONGEST))
            break;
        if (t < n) /* closer to each other; their order stays */
            c->weight[t] = c->weight[t] / 2 + 1;
        __syncthreads();
    }
    if (t < n) {
        c->length[c->leaf[t]] = (byte)level;
        atomicAdd(&c->many[level], 1);
    }
    __syncthreads();
    if (t == 0) {
        c->first[0] = 0;
        for (int l = 1; l <= LONGEST; l++)
            c->first[l] = (c->first[l - 1] + (l > 1 ? c->many[l - 1] : 0)) << 1;
    }
    __syncthreads();
    if (t < SYMBOLS) {
        const uint32_t l = c->length[t];
        uint32_t code = c->first[l];
        for (uint32_t v = 0; v < t; v++)
            code += c->length[v] == l;
        c->code[t] = l ? __brev(code) >> (32 - l) | l << 16 : 0;
    }
    __syncthreads();
}

#define CODE_BITS(symbols) (17u + 19 * 3 + ((symbols) + 2) * 4)

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

static __device__ uint32_t stored_size(uint32_t n)
{
    return n + STORED_HEAD * ((n + STORED_MOST - 1) / STORED_MOST);
}

/* put_coded of huffman.c, of one plane, if its method says so. */
static __global__ void __launch_bounds__(WIDE) code(const byte *planes, byte *coded, plane *all)
{
    __shared__ coder c;
    const uint32_t t = threadIdx.x, number = blockIdx.y * PLANES + blockIdx.x;
    const byte *const p = planes + (size_t)number * PLANE;
    uint32_t *const out = (uint32_t *)(coded + (size_t)number * CODED);
    const bool runs = all[number].how == RUNS;
    const uint32_t symbols = runs ? SYMBOLS : BYTES, head = CODE_BITS(symbols);
    if (all[number].how == STORED) {
        if (t == 0)
            all[number].coded = 0;
        return;
    }
    for (uint32_t i = t; i < COPIES * SYMBOLS; i += WIDE)
        c.counts[i] = i == 256; /* the end of the block */
    __syncthreads();
    const run_masks m = runs ? find_runs(p, &c) : run_masks();
    count_symbols counter = {c.counts + t % COPIES * SYMBOLS};
    each_symbol(p, runs, m, c, counter);
    __syncthreads();
    if (t < SYMBOLS) {
        c.count[t] = 0;
        for (int k = 0; k < COPIES; k++)
            c.count[t] += c.counts[k * SYMBOLS + t];
    }
    __syncthreads();
    make_codes(&c);
    count_bits length = {&c, 0};
    each_symbol(p, runs, m, c, length);
    const uint32_t at = head + bits_before(&c, length.bits), end = head + c.bits + c.length[256],
                   aligned = (end + 3 + 7) / 8 * 8, bytes = aligned / 8 + 4;
    if (end / 8 + 8 > stored_size(PLANE)) {
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

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Where planes go: those that are stored are together, as put_planes of codec.c has them. One
 * thread a block. */
static __device__ uint32_t lay_out_block(plane *p)
{
    uint32_t at = 2; /* the head of a zlib stream */
    for (int i = 0, end; i < PLANES; i = end) {
        end = i + 1;
        while (p[i].how == STORED && end < PLANES && p[end].how == STORED)
            end++;
        for (int k = i; k < end; k++) {
            p[k].at = at;
            p[k].before = (uint32_t)(k - i) * PLANE;
            p[k].run = (uint32_t)(end - i) * PLANE;
        }
        at += p[i].coded ? p[i].coded : stored_size(p[i].run);
    }
    return at + 6; /* the empty last block, Adler's checksum */
}

static __global__ void lay_out(plane *planes, found *all, int blocks)
{
    __shared__ uint32_t stored[BATCH];
    const int t = (int)threadIdx.x;
    stored[t] = t < blocks ? lay_out_block(planes + t * PLANES) : 0;
    __syncthreads();
    uint32_t at = 0;
    for (int b = 0; b < t; b++)
        at += stored[b];
    if (t < blocks) {
        all[t].at = at;
        all[t].stored = stored[t];
    }
}

/* A part of a plane to its place; part 0 of plane 0 has the ends of the stream, too. */
static __global__ void assemble(const byte *planes, const byte *coded, const plane *all,
                                const found *blocks, byte *packed)
{
    const uint32_t number = blockIdx.y * PLANES + blockIdx.z, parts = gridDim.x;
    const plane p = all[number];
    const found f = blocks[blockIdx.y];
    byte *const block = packed + f.at, *const to = block + p.at;
    const byte *const from = p.coded ? coded + (size_t)number * CODED
                                     : planes + (size_t)number * PLANE;
    const uint32_t n = p.coded ? p.coded : PLANE, begin = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t i = begin; i < n; i += parts * blockDim.x) {
        const uint32_t q = p.before + i; /* among stored neighbours */
        if (p.coded) {
            to[i] = from[i];
            continue;
        }
        const uint32_t piece = q / STORED_MOST;
        byte *const here = to + q + STORED_HEAD * (piece + 1);
        *here = from[i];
        if (q % STORED_MOST == 0) {
            const uint32_t left = p.run - q, m = left < STORED_MOST ? left : STORED_MOST;
            here[-5] = 0;
            here[-4] = (byte)m;
            here[-3] = (byte)(m >> 8);
            here[-2] = (byte)~m;
            here[-1] = (byte)(~m >> 8);
        }
    }
    if (blockIdx.z || begin)
        return;
    const uint32_t low = (uint32_t)((f.sum + 1) % 65521),
                   high = (uint32_t)((f.weighted + BLOCK) % 65521);
    byte *const end = block + f.stored;
    block[0] = 0x78;
    block[1] = 0x01;
    end[-6] = 0x03;
    end[-5] = 0x00;
    end[-4] = (byte)(high >> 8);
    end[-3] = (byte)high;
    end[-2] = (byte)(low >> 8);
    end[-1] = (byte)low;
}

/* ---- the host -------------------------------------------------------------------------------- */

struct lat_packer {
    cudaStream_t stream; /* of the kernels */
    lat_fetch fetch;
    byte *planes, *coded, *packed[2], *last; /* of a batch; `last`: of the host, the rest */
    plane *plan;
    found *of_batch[2], *known[2]; /* on the device; on the host, when `there` says so */
    found *sent;                   /* of the blocks of all places */
    cudaEvent_t there[2];
    crc_powers powers;
    const byte *data;
    size_t bytes, blocks, batches; /* whole blocks; batches that are under way or done */
};

double lat_packer_bytes(void) { return BATCH * ((double)BLOCK + PLANES * CODED + 2.0 * ROOM); }

static int get_memory(lat_packer *p)
{
    static const char what[] = "packing";
    if (lat_cuda_malloc((void **)&p->planes, (size_t)BATCH * BLOCK, what)
        || lat_cuda_malloc((void **)&p->coded, (size_t)BATCH * PLANES * CODED, what)
        || lat_cuda_malloc((void **)&p->plan, BATCH * PLANES * sizeof *p->plan, what)
        || failed(cudaMallocHost((void **)&p->last, BLOCK))
        || failed(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking)))
        return -1;
    for (int k = 0; k < 2; k++)
        if (lat_cuda_malloc((void **)&p->packed[k], (size_t)BATCH * ROOM, what)
            || lat_cuda_malloc((void **)&p->of_batch[k], BATCH * sizeof(found), what)
            || failed(cudaMallocHost((void **)&p->known[k], BATCH * sizeof(found)))
            || failed(cudaEventCreateWithFlags(&p->there[k], cudaEventDisableTiming)))
            return -1;
    return 0;
}

lat_packer *lat_packer_open(size_t held)
{
    lat_packer *p = (lat_packer *)calloc(1, sizeof *p);
    if (!p) {
        lat_fail("out of memory: packing");
        return NULL;
    }
    p->powers = powers_of_crc();
    /* Pieces that are held, one on its way, the rest of one. */
    const size_t piece = (size_t)PIECE * BLOCK, places = (held + piece - 1) / piece + 2;
    p->sent = (found *)calloc(places * PIECE, sizeof *p->sent);
    if (!p->sent)
        lat_fail("out of memory: packing");
    else if (lat_fetch_open(&p->fetch, places, (size_t)PIECE * ROOM) == 0 && get_memory(p) == 0)
        return p;
    lat_packer_close(p);
    return NULL;
}

void lat_packer_close(lat_packer *p)
{
    if (!p)
        return;
    lat_fetch_close(&p->fetch);
    cudaFree(p->planes);
    cudaFree(p->coded);
    cudaFree(p->plan);
    cudaFreeHost(p->last);
    free(p->sent);
    if (p->stream)
        cudaStreamDestroy(p->stream);
    for (int k = 0; k < 2; k++) {
        cudaFree(p->packed[k]);
        cudaFree(p->of_batch[k]);
        cudaFreeHost(p->known[k]);
        if (p->there[k])
            cudaEventDestroy(p->there[k]);
    }
    free(p);
}

int lat_packer_begin(lat_packer *p, const void *data, size_t bytes)
{
    p->data = (const byte *)data;
    p->bytes = bytes;
    p->blocks = bytes / BLOCK;
    p->batches = 0;
    return lat_fetch_open(&p->fetch, p->fetch.places, p->fetch.bytes);
}

/* The next batch is packed, when the last piece of the batch before the one before has been sent.
 */
static int pack(lat_packer *p)
{
    enum { PARTS = 4 };
    const size_t first = p->batches * BATCH;
    const int k = (int)(p->batches % 2),
              n = (int)(p->blocks - first < (size_t)BATCH ? p->blocks - first : (size_t)BATCH);
    const byte *const raw = p->data + first * BLOCK;
    const cudaStream_t s = p->stream;
    const lat_fetch *const sent = &p->fetch;
    found *const f = p->of_batch[k];
    if (first >= p->blocks)
        return 0;
    if (p->batches++ >= 2
        && failed(cudaStreamWaitEvent(s, sent->there[(sent->begun - 1) % sent->places], 0)))
        return -1;
    if (failed(cudaMemsetAsync(f, 0, (size_t)n * sizeof *f, s)))
        return -1;
    filter<<<dim3(PLANE / 8 / 256, n), 256, 0, s>>>(raw, p->planes, f);
    checksum<<<n, 1024, 0, s>>>(raw, p->powers, f);
    choose<<<dim3(PLANES, n), 256, 0, s>>>(p->planes, p->plan);
    code<<<dim3(PLANES, n), WIDE, 0, s>>>(p->planes, p->coded, p->plan);
    lay_out<<<1, BATCH, 0, s>>>(p->plan, f, n);
    assemble<<<dim3(PARTS, n, PLANES), 256, 0, s>>>(p->planes, p->coded, p->plan, f, p->packed[k]);
    return failed(cudaGetLastError())
                   || failed(cudaMemcpyAsync(p->known[k], f, (size_t)n * sizeof *f,
                                             cudaMemcpyDeviceToHost, s))
                   || failed(cudaEventRecord(p->there[k], s))
               ? -1
               : 0;
}

/* The next piece sets out. Its batch has been packed by then, and the next one is begun. */
static int send(lat_packer *p)
{
    const size_t piece = p->fetch.begun, first = piece * PIECE, left = p->blocks - first,
                 n = left < (size_t)PIECE ? left : (size_t)PIECE, batch = first / BATCH;
    const int k = (int)(batch % 2);
    while (p->batches < batch + 2 && p->batches * BATCH < p->blocks)
        if (pack(p))
            return -1;
    if (failed(cudaEventSynchronize(p->there[k])))
        return -1;
    const found *const a = p->known[k] + first % BATCH, *const last = a + n - 1;
    memcpy(p->sent + piece % p->fetch.places * PIECE, a, n * sizeof *a);
    return lat_fetch_send(&p->fetch, p->packed[k] + a->at, last->at + last->stored - a->at);
}

int lat_packer_block(void *packer, size_t i, size_t done, lat_packed *block)
{
    lat_packer *const p = (lat_packer *)packer;
    const size_t piece = i / PIECE, free_below = done / BLOCK / PIECE + p->fetch.places;
    while (p->fetch.begun < free_below && p->fetch.begun * PIECE < p->blocks)
        if (send(p))
            return -1;
    if (i >= p->blocks || piece >= p->fetch.begun)
        return lat_fail("packing on the GPU: block %zu is not there", i);
    const char *const there = lat_fetch_wait(&p->fetch, piece);
    const found *const of_piece = p->sent + piece % p->fetch.places * PIECE, *const f = of_piece
                                                                                        + i % PIECE;
    if (!there)
        return -1;
    block->payload = there + (f->at - of_piece->at);
    block->stored = f->stored;
    block->crc = f->crc;
    block->largest = f->largest;
    block->not_finite = PLANE - f->not_finite;
    return 0;
}

const void *lat_packer_rest(void *packer, size_t from, size_t n, size_t done)
{
    lat_packer *const p = (lat_packer *)packer;
    (void)done;
    if (n > BLOCK || from + n > p->bytes) {
        lat_fail("packing on the GPU: %zu bytes from %zu on are not there", n, from);
        return NULL;
    }
    return failed(
               cudaMemcpyAsync(p->last, p->data + from, n, cudaMemcpyDeviceToHost, p->fetch.stream))
                   || failed(cudaStreamSynchronize(p->fetch.stream))
               ? NULL
               : p->last;
}

void *lat_packer_copy(const void *host, size_t bytes, void *old)
{
    void *to = NULL;
    cudaFree(old);
    if (!host || lat_cuda_malloc(&to, bytes, "a field"))
        return NULL;
    if (!failed(cudaMemcpy(to, host, bytes, cudaMemcpyHostToDevice)))
        return to;
    cudaFree(to);
    return NULL;
}
