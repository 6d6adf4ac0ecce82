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
#include "codec.h"
#include "deflate.h"
#include "lattice/reals.h"
#include "packer.h"
}
#include "packer_code.cuh"

enum {
    BLOCK = PLANES * PLANE,                  /* raw bytes */
    BATCH = 64,                              /* blocks that are packed together */
    PIECE = 16,                              /* blocks that go to the host together */
    ROOM = (BLOCK + 4096 + 255) / 256 * 256, /* for a packed block */
};
static_assert(BLOCK == LAT_STREAM_BLOCK && PLANE == LAT_CODED, "a plane has one code");

/* What is found of a block; `at`: where it begins in the bytes of its batch. */
typedef struct found {
    wide largest, sum, weighted; /* bits of the largest modulus; for Adler's checksum */
    uint32_t not_finite;         /* PLANE minus the number of the first such real; 0: none is */
    uint32_t crc, stored, at;
} found;

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
    const uint32_t t = threadIdx.x, sample = PLANE / LAT_SAMPLES_APART * LAT_SAMPLE;
    const byte *const p = planes + (size_t)blockIdx.y * BLOCK + blockIdx.x * PLANE;
    count[t] = 0;
    if (t == 0)
        same = 0;
    __syncthreads();
    uint32_t mine = 0;
    for (uint32_t i = t; i < sample; i += 256) {
        const uint32_t at = i / LAT_SAMPLE * LAT_SAMPLES_APART + i % LAT_SAMPLE;
        atomicAdd(&count[p[at]], 1);
        mine += i % LAT_SAMPLE && p[at] == p[at - 1];
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
    all[blockIdx.y * PLANES + blockIdx.x].how = LAT_IS_NOISE(sum, sample)    ? LAT_PUT_STORED
                                                : LAT_HAS_RUNS(same, sample) ? LAT_PUT_RUNS
                                                                             : LAT_PUT_HUFFMAN;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Where planes go: those that are stored are together, as put_planes of codec.c has them. One
 * thread a block. */
static __device__ uint32_t lay_out_block(plane *p)
{
    uint32_t at = 2; /* the head of a zlib stream */
    for (int i = 0, end; i < PLANES; i = end) {
        end = i + 1;
        while (p[i].how == LAT_PUT_STORED && end < PLANES && p[end].how == LAT_PUT_STORED)
            end++;
        for (int k = i; k < end; k++) {
            p[k].at = at;
            p[k].before = (uint32_t)(k - i) * PLANE;
            p[k].run = (uint32_t)(end - i) * PLANE;
        }
        at += p[i].coded ? p[i].coded : LAT_STORED_SIZE(p[i].run);
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
        const uint32_t piece = q / LAT_STORED_MOST;
        byte *const here = to + q + LAT_STORED_HEAD * (piece + 1);
        *here = from[i];
        if (q % LAT_STORED_MOST == 0) {
            const uint32_t left = p.run - q, m = left < LAT_STORED_MOST ? left : LAT_STORED_MOST;
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

/* Reals whose byte planes are stored, coded, and coded with runs. */
static void fill(wide *x)
{
    wide random = 1;
    for (uint32_t i = 0; i < PLANE; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const wide exponent = 1023 - random % 40, mantissa = i / 64 % 2 ? 0 : random >> 12;
        x[i] = i < PLANE / 8 ? 0 : exponent << 52 | mantissa | (random >> 48 & 0xff) << 8;
    }
}

/* Makes it the CPU's bytes of a block? A compiler or a card that no test has met may have a fault.
 * 0, or -1 with lat_error set. `x`, `work`: a block; `packed`: what the CPU may need. */
static int compare(lat_packer *p, wide *x, byte *work, byte *packed)
{
    lat_packed is;
    fill(x);
    void *const there = lat_packer_copy(x, BLOCK, NULL);
    int rc = there && lat_packer_begin(p, there, BLOCK) == 0 ? lat_packer_block(p, 0, 0, &is) : -1;
    if (rc == 0) {
        const size_t size = lat_codec_pack(x, BLOCK, 8, work, packed);
        if (is.stored != size || memcmp(is.payload, packed, size) != 0
            || is.crc != lat_crc(0, x, BLOCK) || is.not_finite != PLANE
            || is.largest != lat_reals_largest(x, PLANE, LAT_F64)) {
            lat_warn(
                "this GPU packs a block to other bytes than the CPU, which packs in its place");
            rc = lat_fail("packing on the GPU: other bytes than the CPU's");
        }
    }
    lat_packer_copy(NULL, 0, there);
    return rc;
}

static int check(lat_packer *p)
{
    wide *const x = (wide *)malloc(BLOCK);
    byte *const work = (byte *)malloc(BLOCK), *const packed = (byte *)malloc(
                                                  lat_codec_bound(BLOCK));
    const int rc = x && work && packed ? compare(p, x, work, packed)
                                       : lat_fail("out of memory: packing");
    free(x);
    free(work);
    free(packed);
    return rc;
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
    else if (lat_fetch_open(&p->fetch, places, (size_t)PIECE * ROOM) == 0 && get_memory(p) == 0
             && check(p) == 0)
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
