/* SPDX-License-Identifier: BSD-3-Clause */
/* huffman.c: stored and Huffman-coded blocks of deflate (RFC 1951), for bytes without repetitions
 * but runs of one byte. */
#include "huffman_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

#define CODED ((size_t)1 << 17) /* bytes that share one Huffman code */

enum {
    STORED_HEAD = 5,     /* bytes before a stored block's, */
    STORED_MOST = 65535, /* of which there are as many at most */
    BYTES = 257,         /* symbols: bytes, and the end of the block */
    SYMBOLS = 286,       /* and lengths of runs */
    LONGEST = 15,        /* bits of a code */
    LEAST_RUN = 3,       /* bytes like the one before them, which are one symbol */
    MOST_RUN = 258
};

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

/* RFC 1951, 3.2.4 */
unsigned char *lat_put_stored(unsigned char *out, const unsigned char *p, size_t n)
{
    while (n) {
        unsigned length = n < STORED_MOST ? (unsigned)n : STORED_MOST;
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

/* A symbol, as make_codes has it. */
static inline void put_symbol(writer *w, uint32_t code) { put_bits(w, code & 0xffff, code >> 16); }

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

/* Writes the code at the head of a block (RFC 1951, 3.2.7): literals, and lengths if there are
 * runs; two distances, of which only the first one, 1, occurs, because some decoders refuse an
 * incomplete code; the lengths 0 to 15 as four bits each, which take 130 bytes of thousands. */
static void put_code(writer *w, int symbols, const uint8_t length[SYMBOLS])
{
    static const uint8_t reversed[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    put_bits(w, 0, 1); /* not the last block */
    put_bits(w, 2, 2); /* its own code */
    put_bits(w, (uint64_t)(symbols - 257), 5);
    put_bits(w, 1, 5);  /* 2 distances */
    put_bits(w, 15, 4); /* 19 lengths of lengths, of which the first three, repetitions, */
    put_bits(w, 0, 9);  /* do not occur, */
    flush_bits(w);
    for (int i = 0; i < 16; i++) /* and the others have four bits */
        put_bits(w, 4, 3);
    flush_bits(w);
    for (int v = 0; v < symbols; v++) {
        put_bits(w, reversed[length[v]], 4);
        flush_bits(w);
    }
    put_bits(w, reversed[1], 4);
    put_bits(w, reversed[1], 4);
    flush_bits(w);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A byte and those behind it that are equal to it; the byte is a symbol, and what is behind it, if
 * it is LEAST_RUN long or longer, another one: parts of MOST_RUN and a rest. Loops without
 * branches that depend on the bytes: where runs are short, those would be guessed wrong. */

/* A bit for each of 8 bytes that is not as the one before it. */
static inline unsigned changes(const unsigned char *p)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), x = lat_load_le64(p) ^ lat_load_le64(p - 1),
                   differs = (((x & low) + low) | x) >> 7 & UINT64_C(0x0101010101010101);
    return (unsigned)(differs * UINT64_C(0x0102040810204080) >> 56);
}

/* Which bits of m are set, in order, and how many. */
typedef struct set_bits {
    uint32_t which[256][8];
    uint8_t many[256];
} set_bits;

static void fill_set_bits(set_bits *s)
{
    memset(s, 0, sizeof *s);
    for (unsigned m = 0; m < 256; m++)
        for (unsigned bits = m; bits; bits &= bits - 1)
            s->which[m][s->many[m]++] = (uint32_t)__builtin_ctz(bits);
}

/* Vectors of 16 bytes: gcc sets longer ones, where the processor may lack them, through memory. */
typedef uint32_t starts __attribute__((vector_size(16), aligned(4), may_alias));

enum { RUNS_AT_ONCE = 1024 };

/* Where runs begin, from byte `at` on, of RUNS_AT_ONCE bytes at most: how many do. For 8
 * bytes 8 numbers are stored, however many of them count. */
static int run_starts(const set_bits *s, const unsigned char *p, size_t at, size_t n,
                      uint32_t start[RUNS_AT_ONCE])
{
    const size_t end = n - at < RUNS_AT_ONCE ? n : at + RUNS_AT_ONCE;
    int many = 0;
    if (at == 0)
        start[many++] = (uint32_t)at++;
    for (; at + 8 <= end; at += 8) {
        const unsigned m = changes(p + at);
        const starts *which = (const starts *)s->which[m];
        starts *to = (starts *)(start + many);
        to[0] = which[0] + (uint32_t)at;
        to[1] = which[1] + (uint32_t)at;
        many += s->many[m];
    }
    for (; at < end; at++)
        if (p[at] != p[at - 1])
            start[many++] = (uint32_t)at;
    return many;
}

/* Calls `run(with, byte, how many are behind it)` for all. */
typedef void run_fn(void *with, unsigned char byte, uint32_t behind);
static inline __attribute__((always_inline)) void each_run(const unsigned char *p, size_t n,
                                                           run_fn *run, void *with)
{
    uint32_t start[RUNS_AT_ONCE], last = 0;
    set_bits s;
    fill_set_bits(&s);
    for (size_t at = 0; at < n; at += RUNS_AT_ONCE) {
        const int many = run_starts(&s, p, at, n, start);
        for (int k = at == 0; k < many; k++) {
            run(with, p[last], start[k] - last - 1);
            last = start[k];
        }
    }
    run(with, p[last], (uint32_t)n - last - 1);
}

/* The symbol of a length, and how many bits follow it: the lowest ones of length - 3. */
static int length_symbol(unsigned length, unsigned *bits)
{
    const unsigned v = length - LEAST_RUN;
    *bits = 0;
    if (length == MOST_RUN)
        return SYMBOLS - 1;
    if (v < 4)
        return 257 + (int)v;
    *bits = 29 - (unsigned)__builtin_clz(v);
    return 257 + (int)(4 * (*bits + 1) + (v >> *bits & 3));
}

typedef struct run_counts {
    uint32_t *byte, length[MOST_RUN + 1];
} run_counts;

static inline void count_run(void *with, unsigned char byte, uint32_t behind)
{
    run_counts *c = with;
    for (; behind > MOST_RUN; behind -= MOST_RUN)
        c->length[MOST_RUN]++;
    c->byte[byte] += 1 + (behind < LEAST_RUN ? behind : 0);
    c->length[behind]++;
}

/* Counts symbols, and returns the bits that lengths have besides: those above, one for the
 * distance. */
static uint64_t count_runs(uint32_t count[SYMBOLS], const unsigned char *p, size_t n)
{
    run_counts c = {.byte = count};
    uint64_t more = 0;
    each_run(p, n, count_run, &c);
    for (unsigned l = LEAST_RUN; l <= MOST_RUN; l++) {
        unsigned bits;
        count[length_symbol(l, &bits)] += c.length[l];
        more += (uint64_t)c.length[l] * (bits + 1);
    }
    return more;
}

/* Bits, and above the lowest 32 of them how many: none of `few` for 0 bytes, and of `length` for
 * less than LEAST_RUN. */
typedef struct run_writer {
    writer w;
    const uint32_t *code;
    uint64_t few[256][LEAST_RUN], length[MOST_RUN + 1];
} run_writer;

static inline void put_entry(writer *w, uint64_t e)
{
    put_bits(w, e & 0xffffffff, (unsigned)(e >> 32));
}

static inline void put_run(void *with, unsigned char byte, uint32_t behind)
{
    run_writer *r = with;
    put_symbol(&r->w, r->code[byte]);
    for (; behind > MOST_RUN; behind -= MOST_RUN) {
        put_entry(&r->w, r->length[MOST_RUN]);
        flush_bits(&r->w);
    }
    put_entry(&r->w, r->few[byte][behind < LEAST_RUN ? behind : 0]);
    put_entry(&r->w, r->length[behind]);
    flush_bits(&r->w); /* of 7, 15 and 30 */
}

static void put_runs(writer *w, const uint32_t code[SYMBOLS], const unsigned char *p, size_t n)
{
    run_writer r = {.w = *w, .code = code};
    for (int v = 0; v < 256; v++) {
        const uint64_t c = code[v] & 0xffff, size = code[v] >> 16;
        r.few[v][1] = c | size << 32;
        r.few[v][2] = c | c << size | 2 * size << 32;
    }
    for (unsigned l = LEAST_RUN; l <= MOST_RUN; l++) {
        unsigned bits;
        const uint32_t c = code[length_symbol(l, &bits)], size = c >> 16;
        const uint64_t low = (l - LEAST_RUN) & ((1u << bits) - 1);
        r.length[l] = (c & 0xffff) | low << size | (uint64_t)(size + bits + 1) << 32;
    }
    each_run(p, n, put_run, &r);
    *w = r.w;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void put_bytes(writer *w, const uint32_t code[SYMBOLS], const unsigned char *p, size_t n)
{
    size_t i = 0;
    for (; i + 3 <= n; i += 3) { /* 3 times 15 bits and 7 waiting ones are fewer than 64 */
        put_symbol(w, code[p[i]]);
        put_symbol(w, code[p[i + 1]]);
        put_symbol(w, code[p[i + 2]]);
        flush_bits(w);
    }
    for (; i < n; i++) {
        put_symbol(w, code[p[i]]);
        flush_bits(w);
    }
}

/* Writes one block of up to CODED bytes, unless storing them is shorter: then false. */
static bool put_coded(writer *w, bool runs, const unsigned char *p, size_t n)
{
    const int symbols = runs ? SYMBOLS : BYTES;
    uint32_t four[4][256] = {{0}}, count[SYMBOLS] = {0}, code[SYMBOLS];
    uint8_t length[SYMBOLS];
    uint64_t bits = 17 + 19 * 3 + ((uint64_t)symbols + 2) * 4; /* of put_code */
    if (runs)
        bits += count_runs(count, p, n);
    else
        lat_count_bytes(four, p, n);
    for (int v = 0; v < 256; v++)
        count[v] += four[0][v] + four[1][v] + four[2][v] + four[3][v];
    count[256] = 1;
    code_lengths(count, length);
    for (int v = 0; v < symbols; v++)
        bits += (uint64_t)count[v] * length[v];
    /* more than as stored blocks? */
    if (bits / 8 + 8 > n + STORED_HEAD * ((n + STORED_MOST - 1) / STORED_MOST))
        return false;
    make_codes(length, code);
    put_code(w, symbols, length);
    if (runs)
        put_runs(w, code, p, n);
    else
        put_bytes(w, code, p, n);
    put_symbol(w, code[256]);
    flush_bits(w);
    return true;
}

unsigned char *lat_put_huffman(unsigned char *out, bool runs, const unsigned char *p, size_t n)
{
    for (size_t at = 0; at < n; at += CODED) {
        size_t m = n - at < CODED ? n - at : CODED;
        writer w = {.out = out};
        if (!put_coded(&w, runs, p + at, m)) {
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
