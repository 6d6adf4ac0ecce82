/* SPDX-License-Identifier: BSD-3-Clause */
/* march_hop: a prototype, which no tool uses: the Wilson hop of 12 right-hand sides (columns) in
 * single, with blocks that march along t. For Hopper alone.
 *
 *     h(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^+ psi(x-mu)
 *
 * goes from sites of one parity to the other, in the temporal gauge: links of t are 1, with a sign
 * between the last slice and the first. gamma_4 is diagonal: a hop forward in t goes to the lower
 * two spins, one back to the upper two.
 *
 * The idea. A block owns a tile: x whole, 2 bricks in y, 2 planes of z. It takes the slices of t in
 * order. Producer warps bring spinors to a ring of stages in shared memory; a stage has the tile of
 * one slice and column, and its faces in y and z. G groups of threads, a thread a site, take the
 * stages in turn; no barrier is of the whole block. A neighbour in t is what the same thread reads
 * of the next slice: a thread adds lower spins of slice t to its sums of slice t-1 and stores
 * these; its sums of slice t begin with upper spins of slice t-1. Of each of its K columns 24
 * numbers stay in registers. Each spinor of the tile is brought once, links once for C = G K
 * columns.
 *
 * Pacing. Faces come from the second cache only while the blocks that own them are near in t.
 * Blocks that march freely drift apart (this explains the times; it was not observed), and faces
 * come from memory again. So every 3 columns a block counts itself in memory and waits until all
 * 128 blocks of its set have begun the step before. The wait is a hint, and ends after some 50 us.
 *
 * Predicted, bytes a site and column: 96 of the spinor, 24 of links, 96 stored: 216; ends of a
 * march of n slices 96 / n. With C = 6 128 blocks are half a slice, 16 planes, whose faces in z
 * come twice: 96 * 2 / 16. On 32^3x64: C12 218, C6 230; hop_tile 248. Arithmetic and shared memory
 * would need half of memory's time each.
 *
 * Measured, us a column, 32^3x64, H100, copies of 3.0 TB/s (several runs):
 *                                          computed        nothing computed
 *     hop_tile, in the temporal gauge      93.1
 *     march, not paced                     110 to 116
 *     march, C12                           78.2 to 79.6    77.5 to 78.0
 *     march, C6                            82.8 to 83.2    82.8 to 82.9
 *     the same, rows of 16 sites: C12; C6  78.5; 82.7
 * On 16^3x32 C6 takes 5.7 to 5.9, plain 6.3. (Rows of 16 sites: a layout in which a face in y is
 * one piece, for bulk copies. In the layout of lib/dirac its pieces are small, 101 to 105 us; with
 * cp.async by a warp of its own the layout costs next to nothing.) Memory limits: the march has .96
 * to .97 of a copy at the bytes that were predicted, computed or not. Bytes were not counted. C12
 * has no register to spare: a build of which threads spilled 16 bytes took 82.8.
 *
 * To use it: 12 columns (6 with C6); Hopper (setmaxnreg, 232 registers a worker and 40 a producer);
 * 227 kB of shared memory, one block a multiprocessor; x of 16 or 32; some 128 tiles, t in parts if
 * need be. Where one of these is missing another kernel is needed; so are hop_tile's affine ends.
 *
 *     make bench-march-gpu
 *     march_hop [X T]      the lattice X^3 x T: 32 64, or 16 32
 *
 * Answers are compared with a straightforward kernel's in double after many hops.
 */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <unistd.h>
#include <cuda_runtime.h>

#define DEVICE __device__ __forceinline__
#define CHECK(call) check((call), #call, __LINE__)

static void check(cudaError_t e, const char *what, int line)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "march_hop: line %d: %s: %s\n", line, what, cudaGetErrorString(e));
    exit(1);
}

/* 32 sites of a parity are a brick: xh = X/2 of x by `rows` of y. Bricks of a column follow each
 * other in y, z, t. A spinor's 24 reals (4 spins x 3 colours) are 6 chunks of 16 bytes; a brick is
 * [chunk][site][16 bytes]. Links: [brick][x+, x-, y+, y-, z+, z-][3 chunks][site][16 bytes], the
 * first two rows; back is U_mu(x-mu). */
enum { COLUMNS = 12, CHUNK = 512, BRICK = 6 * CHUNK, LOWER = 3 * CHUNK }; /* LOWER: spins */
enum { LINK = 3 * CHUNK, LINKS = 6 * LINK };

struct lattice {
    int X, T, xh, rows, bricks; /* X^3 x T; bricks of a plane (x, y) */
};

DEVICE size_t brick_of(const lattice &l, int y, int z, int t)
{
    return ((size_t)t * l.X + z) * l.bricks + y;
}

/* 1 where x of the site of this parity is odd, in row (y, z, t). */
DEVICE int late(int y, int z, int t, int parity) { return (y + z + t + parity) & 1; }

struct hop_args {
    lattice l;
    const char *links, *in; /* links of sites that are written; column 0 */
    char *out;
    size_t column;      /* bytes */
    int parity, slices; /* that is written; that a block marches through */
    float edge;         /* twice the sign */
    uint32_t *pace;     /* [set of blocks][step]: how many have begun it */
};

/* The third row: conj(row 0 x row 1). */
DEVICE void complete(float u[18])
{
    for (int c = 0; c < 3; c++) {
        const int i = 2 * ((c + 1) % 3), j = 2 * ((c + 2) % 3);
        u[12 + 2 * c] = u[i] * u[6 + j] - u[i + 1] * u[7 + j] - u[j] * u[6 + i]
                        + u[j + 1] * u[7 + i];
        u[13 + 2 * c] = u[j] * u[7 + i] + u[j + 1] * u[6 + i] - u[i] * u[7 + j]
                        - u[i + 1] * u[6 + j];
    }
}

/* sum += the hop of spinor p with link u in direction mu of space; back: with u^+. All that depends
 * on mu and back is known to the compiler. gamma_k = ((0, -i sigma_k), (i sigma_k, 0)), so upper
 * spins of (1 - s gamma_k) psi are u + s i sigma_k l, and lower ones - s i sigma_k of these. */
DEVICE void add_hop(float sum[24], const float p[24], const float u[18], int mu, bool back)
{
    const float s = back ? -1.0f : 1.0f, f = mu == 0 ? s : -s; /* of the first, the second spin */
    float h[12];
    for (int c = 0; c < 6; c += 2) {
        const float *const a = p + c + (mu == 2 ? 12 : 18), *const b = p + c + (mu == 2 ? 18 : 12);
        h[c] = p[c] + s * (mu == 1 ? a[0] : -a[1]);
        h[c + 1] = p[c + 1] + s * (mu == 1 ? a[1] : a[0]);
        h[6 + c] = p[6 + c] + f * (mu == 1 ? b[0] : -b[1]);
        h[7 + c] = p[7 + c] + f * (mu == 1 ? b[1] : b[0]);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float y[4] = {0, 0, 0, 0};
        for (int j = 0; j < 3; j++) {
            const float re = back ? u[6 * j + 2 * i] : u[6 * i + 2 * j],
                        im = back ? -u[6 * j + 2 * i + 1] : u[6 * i + 2 * j + 1];
            for (int k = 0; k < 2; k++) {
                y[2 * k] += re * h[6 * k + 2 * j];
                y[2 * k] -= im * h[6 * k + 2 * j + 1];
                y[2 * k + 1] += re * h[6 * k + 2 * j + 1];
                y[2 * k + 1] += im * h[6 * k + 2 * j];
            }
        }
        const float *const a = mu == 2 ? y : y + 2, *const b = mu == 2 ? y + 2 : y;
        sum[2 * i] += y[0];
        sum[2 * i + 1] += y[1];
        sum[6 + 2 * i] += y[2];
        sum[7 + 2 * i] += y[3];
        sum[12 + 2 * i] -= s * (mu == 1 ? a[0] : -a[1]);
        sum[13 + 2 * i] -= s * (mu == 1 ? a[1] : a[0]);
        sum[18 + 2 * i] -= f * (mu == 1 ? b[0] : -b[1]);
        sum[19 + 2 * i] -= f * (mu == 1 ? b[1] : b[0]);
    }
}

/* N chunks of a brick, from a site's place in the first one. */
template <int N> DEVICE void read_chunks(float *v, const char *at)
{
    for (int c = 0; c < N; c++) {
        const float4 q = *(const float4 *)(at + c * CHUNK);
        v[4 * c] = q.x, v[4 * c + 1] = q.y, v[4 * c + 2] = q.z, v[4 * c + 3] = q.w;
    }
}
template <int N> DEVICE void write_chunks(char *at, const float *v)
{
    for (const float *const end = v + 4 * N; v < end; v += 4, at += CHUNK)
        *(float4 *)at = make_float4(v[0], v[1], v[2], v[3]);
}

#define ASM(text, ...) asm volatile(text ::__VA_ARGS__ : "memory")

/* Addresses in shared memory, of barriers too. */
DEVICE int shared_address(const void *p) { return (int)__cvta_generic_to_shared(p); }

DEVICE void barrier(int b, int n) { ASM("mbarrier.init.shared.b64 [%0], %1;", "r"(b), "r"(n)); }
DEVICE void arrive(int b) { ASM("mbarrier.arrive.shared.b64 _, [%0];", "r"(b)); }
/* Arrives when the copies of this thread have come. */
DEVICE void arrive_later(int b) { ASM("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];", "r"(b)); }
/* Arrives; the phase also waits for so many bytes of bulk copies. */
DEVICE void expect(int b, int bytes)
{
    ASM("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;", "r"(b), "r"(bytes));
}
DEVICE void bulk(int to, const char *from, int bytes, int b)
{
    ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];",
        "r"(to), "l"(from), "r"(bytes), "r"(b));
}
DEVICE void copy16(int to, const char *from)
{
    ASM("cp.async.cg.shared.global [%0], [%1], 16;", "r"(to), "l"(from));
}
DEVICE bool done(int b, int phase)
{
    int yes;
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p;}"
        : "=r"(yes)
        : "r"(b), "r"(phase)
        : "memory");
    return yes;
}
/* A wait of some .2 s (a fault) goes on, and the answer is wrong. No trap: with one the compiler
 * does not give workers and producers their own numbers of registers. */
DEVICE void wait(int b, int phase)
{
    if (done(b, phase))
        return;
    const uint32_t begin = (uint32_t)clock();
    while (!done(b, phase) && (uint32_t)clock() - begin < 400000000u)
        ;
}

/* A tile are 2 x 2 bricks in (z, y), 128 sites. A stage: its bricks [z][y]; faces z-, z+, [y] each;
 * for each z a brick that has the rows of both faces in y, in the places of their own bricks. */
enum { SITES = 128, WHOLE = 8 * BRICK, HALO = WHOLE, STAGE = 10 * BRICK, TILE_LINKS = 4 * LINKS };
enum { STAGES = 5, SHARED = 2 * TILE_LINKS + STAGES * STAGE };
static_assert(SHARED <= 227 * 1024 - 256, "a multiprocessor has no more");
enum { EVERY = 3, TOGETHER = 128 }; /* columns of a step of the march, blocks that keep pace */

/* G groups of workers with K columns each. Four more warps, since registers are shared out by four:
 * the first brings bricks and links, the second faces in y, two do nothing. COMPUTE false: loads
 * and stores alone. */
template <int G_, int K_, int REGISTERS_, bool COMPUTE_> struct form {
    enum { G = G_, K = K_, C = G * K, COMPUTE = COMPUTE_ };
    enum { WORKERS = G * SITES, THREADS = WORKERS + 128, AT_FIRST = 65536 / THREADS / 8 * 8 };
    static_assert((int)STAGES > (int)G && COLUMNS % C == 0 && C % EVERY == 0, "see march");
    enum { REGISTERS = REGISTERS_ }; /* of a worker */
    enum { PRODUCER = (AT_FIRST * THREADS - WORKERS * REGISTERS) / 128 / 8 * 8 };
};

template <class F>
__global__ void __launch_bounds__(F::THREADS, 1) march(const __grid_constant__ hop_args a)
{
    enum { G = F::G, K = F::K, C = F::C, S = STAGES };
    extern __shared__ __align__(128) char shared[]; /* links of two slices, stages */
    __shared__ __align__(8) uint64_t barriers[2 * S + 4];
    const int full = shared_address(barriers), read = full + S * 8; /* of stages */
    const int links_full = read + S * 8, links_read = links_full + 16;
    const lattice &l = a.l;
    const int lane = threadIdx.x % 32, Z = l.X, T = l.T;
    /* Blocks: columns, tiles in y and z, parts of t. */
    int b = (int)blockIdx.x / (COLUMNS / C);
    const int first = (int)blockIdx.x % (COLUMNS / C) * C, tile_y = b % (l.bricks / 2) * 2;
    b /= l.bricks / 2;
    const int tile_z = b % (Z / 2) * 2, begin = b / (Z / 2) * a.slices;
    const size_t slice = (size_t)Z * l.bricks * BRICK;
    if (threadIdx.x == 0) {
        for (int s = 0; s < S; s++) {
            barrier(full + 8 * s, 33); /* a lane of the first producer, all of the second */
            barrier(read + 8 * s, SITES / 32);
        }
        for (int s = 0; s < 2; s++) {
            barrier(links_full + 8 * s, 1);
            barrier(links_read + 8 * s, F::WORKERS / 32);
        }
        ASM("fence.mbarrier_init.release.cluster;\n fence.proxy.async.shared::cta;");
    }
    __syncthreads();

    if (threadIdx.x >= F::WORKERS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"((int)F::PRODUCER));
        const int warp = (threadIdx.x - F::WORKERS) / 32, links = shared_address(shared);
        const int stages = links + 2 * TILE_LINKS, fills = a.slices * C;
        const char *in = a.in + begin * slice + first * a.column;
        if (warp == 0) {
            /* Lanes 0 to 3: two bricks of planes z, z + 1, z - 1, z + 2. */
            const int plane = (tile_z + (lane < 2 ? lane : lane == 2 ? Z - 1 : 2)) % Z;
            const uint32_t at = plane * l.bricks + tile_y; /* brick of a slice */
            const int set = blockIdx.x / TOGETHER;
            const uint32_t beside = min(TOGETHER + 0, (int)gridDim.x - set * TOGETHER);
            uint32_t *const pace = a.pace + set * (fills / EVERY);
            for (int n = 0; n < fills; n++) {
                const int s = n / C, half = s % 2, stage = n % S;
                if (n % C == 0) { /* a slice: links */
                    wait(links_read + half * 8, s / 2 % 2 ^ 1);
                    if (lane == 0)
                        expect(links_full + half * 8, TILE_LINKS);
                    __syncwarp();
                    if (lane < 2)
                        bulk(links + (half * 2 + lane) * 2 * LINKS,
                             a.links + ((begin + s) * (size_t)(Z * l.bricks) + at) * LINKS,
                             2 * LINKS, links_full + half * 8);
                }
                if (n % EVERY == 0) { /* a step: pace */
                    if (lane == 0) {
                        uint32_t *const step = pace + n / EVERY, now = (uint32_t)clock();
                        atomicAdd(step, 1);
                        while (n && ((volatile uint32_t *)step)[-1] < beside
                               && (uint32_t)clock() - now < 90000)
                            ;
                    }
                    __syncwarp();
                }
                wait(read + stage * 8, n / S % 2 ^ 1); /* no wait in the first round */
                if (lane == 0)
                    expect(full + stage * 8, WHOLE);
                __syncwarp();
                if (lane < 4)
                    bulk(stages + stage * STAGE + lane * 2 * BRICK,
                         in + s * slice + n % C * a.column + at * BRICK, 2 * BRICK,
                         full + stage * 8);
            }
        } else if (warp == 1) {
            /* A lane has a site of the face below or above, of both z. */
            const int x = lane % 16, up = lane / 16;
            const int y = (tile_y + (up ? 2 : l.bricks - 1)) % l.bricks;
            const int at = (up ? x : 32 - l.xh + x) * 16, next = l.bricks * BRICK;
            in += brick_of(l, y, tile_z, 0) * BRICK + at;
            for (int n = 0; n < fills; n++) {
                const char *const from = in + n / C * slice + n % C * a.column;
                const int stage = n % S, to = stages + stage * STAGE + HALO + at;
                wait(read + stage * 8, n / S % 2 ^ 1);
#pragma unroll
                for (int k = 0; k < 6 && x < l.xh; k++) {
                    copy16(to + k * CHUNK, from + k * CHUNK);
                    copy16(to + BRICK + k * CHUNK, from + next + k * CHUNK);
                }
                arrive_later(full + stage * 8);
            }
            ASM("cp.async.wait_all;");
        }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"((int)F::REGISTERS));
    const int group = threadIdx.x / SITES, brick = threadIdx.x % SITES / 32, by = brick % 2,
              tz = brick / 2, y = tile_y + by, z = tile_z + tz, x = lane % l.xh, row = lane / l.xh;
    /* In a stage, the site and its neighbours; x: those that are not at its own place. */
    const int at = lane * 16, own = brick * BRICK + at, pitch = l.xh * 16, halo = HALO + tz * BRICK;
    const int next[6] = {
        own + (x + 1 == l.xh ? 1 - l.xh : 1) * 16,
        own + (x ? -1 : l.xh - 1) * 16,
        row + 1 < l.rows ? own + pitch : (by ? halo : (brick + 1) * BRICK) + x * 16,
        row ? own - pitch : (by ? (brick - 1) * BRICK : halo) + (32 - l.xh + x) * 16,
        (tz ? 6 + by : brick + 2) * BRICK + at,
        (tz ? brick - 2 : 4 + by) * BRICK + at};
    const size_t site = brick_of(l, y, z, 0) * BRICK + at + (first + group) * a.column;
    /* Of each column the upper spins of the slice before, and sums of its lower spins. */
    float upper[K][12], lower[K][12];
#pragma unroll
    for (int k = 0; k < K; k++)
        read_chunks<3>(upper[k],
                       a.in + site + (begin ? begin - 1 : T - 1) * slice + k * G * a.column);
    int st = group, phase = 0; /* the next stage */
#pragma unroll 1
    for (int s = 0; s < a.slices; s++) {
        const int t = begin + s;
        const bool turn = late(y * l.rows + row, z, t, a.parity);
        const float back = t ? 2.0f : a.edge;
        char *const out = a.out + site + t * slice;
        wait(links_full + s % 2 * 8, s / 2 % 2);
        const char *const links = shared + s % 2 * TILE_LINKS + brick * LINKS + at;
#pragma unroll
        for (int k = 0; k < K; k++) {
            /* A barrier knows phases by their parity: who waits for a fill while the one before is
             * still to come is let through by the one before that. Where S is no multiple of G the
             * fill before was another group's, which may be behind. So wait until it was read. (The
             * stage that this group read last was filled later: `read` is one phase behind at
             * most.) */
            if (S % G)
                wait(read + st * 8, phase ^ 1);
            wait(full + st * 8, phase);
            const char *const stage = shared + 2 * TILE_LINKS + st * STAGE;
            float sum[24];
            if (s) {
                float v[12];
                read_chunks<3>(v, stage + own + LOWER);
                for (int c = 0; c < 12; c++)
                    v[c] = lower[k][c] + 2 * v[c];
                write_chunks<3>(out - slice + LOWER + k * G * a.column, v);
            }
            for (int c = 0; c < 12; c++) {
                sum[c] = back * upper[k][c];
                sum[12 + c] = 0;
            }
#pragma unroll
            for (int d = 0; d < 6 && F::COMPUTE; d++) {
                float u[18], p[24];
                read_chunks<3>(u, links + d * LINK);
                complete(u);
                read_chunks<6>(p, stage + (d < 2 && turn == (d == 1) ? own : next[d]));
                add_hop(sum, p, u, d / 2, d % 2 != 0);
            }
            read_chunks<3>(upper[k], stage + own); /* last: its registers are free till now */
            __syncwarp();
            if (lane == 0)
                arrive(read + st * 8);
            st += G;
            if (st >= S) {
                st -= S;
                phase ^= 1;
            }
            write_chunks<3>(out + k * G * a.column, sum);
            for (int c = 0; c < 12; c++)
                lower[k][c] = sum[12 + c];
        }
        if (lane == 0)
            arrive(links_read + s % 2 * 8);
    }
    const int end = begin + a.slices;
    const float forward = end == T ? a.edge : 2.0f;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const size_t to = site + LOWER + k * G * a.column;
        float v[12];
        read_chunks<3>(v, a.in + to + end % T * slice);
        for (int c = 0; c < 12; c++)
            v[c] = lower[k][c] + forward * v[c];
        write_chunks<3>(a.out + to + (end - 1) * slice, v);
    }
}

/* A block are four bricks of 2 x 2 planes in (z, t), two threads a site, which take every second
 * column; links in shared memory; spinors by plain loads, a direction ahead. Blocks go through a
 * plane, a strip of 8 in z, t, strips: as hop_many does. */
DEVICE void load_chunks(float *v, const char *from, int chunks)
{
    for (int c = 0; c < chunks; c++)
        asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(v[4 * c]), "=f"(v[4 * c + 1]), "=f"(v[4 * c + 2]), "=f"(v[4 * c + 3])
                     : "l"(from + c * CHUNK));
}

__global__ void __launch_bounds__(256, 2) plain(const __grid_constant__ hop_args a)
{
    extern __shared__ __align__(128) char shared[];
    __shared__ __align__(8) uint64_t one;
    const int full = shared_address(&one);
    const lattice &l = a.l;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, side = threadIdx.x / 128;
    const int Z = l.X, T = l.T, strip = 4, brick = (int)blockIdx.x % l.bricks;
    const int b = (int)blockIdx.x / l.bricks, t = b / strip % (T / 2) * 2 + warp / 2;
    const int z = (b / strip / (T / 2) * strip + b % strip) * 2 + warp % 2;
    const size_t group = brick_of(l, brick, z, t);
    if (threadIdx.x == 0) {
        barrier(full, 4);
        ASM("fence.mbarrier_init.release.cluster;\n fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    if (side == 0 && lane == 0) {
        expect(full, LINKS);
        bulk(shared_address(shared) + warp * LINKS, a.links + group * LINKS, LINKS, full);
    }
    const int x = lane % l.xh, row = lane / l.xh, turn = late(brick * l.rows + row, z, t, a.parity);
    const int up = (brick + 1) % l.bricks, down = (brick + l.bricks - 1) % l.bricks;
    const auto at = [&](int brick, int z, int t, int lane) {
        return brick_of(l, brick, z, t) * BRICK + lane * 16;
    };
    const size_t next[8] = {
        at(brick, z, t, turn ? lane - x + (x + 1) % l.xh : lane),
        at(brick, z, t, turn ? lane : lane - x + (x + l.xh - 1) % l.xh),
        at(row + 1 < l.rows ? brick : up, z, t, row + 1 < l.rows ? lane + l.xh : x),
        at(row ? brick : down, z, t, row ? lane - l.xh : 32 - l.xh + x),
        at(brick, (z + 1) % Z, t, lane),
        at(brick, (z + Z - 1) % Z, t, lane),
        at(brick, z, (t + 1) % T, lane) + LOWER,
        at(brick, z, (t + T - 1) % T, lane)};
    wait(full, 0);
    const char *const links = shared + warp * LINKS + lane * 16;
#pragma unroll 1
    for (int n = side; n < COLUMNS; n += 2) {
        const char *const in = a.in + n * a.column;
        float sum[24] = {0}, v[2][24];
        load_chunks(v[0], in + next[0], 6);
#pragma unroll
        for (int d = 0; d < 8; d++) {
            if (d < 7)
                load_chunks(v[(d + 1) % 2], in + next[d + 1], d < 5 ? 6 : 3);
            if (d < 6) {
                float u[18];
                read_chunks<3>(u, links + d * LINK);
                complete(u);
                add_hop(sum, v[d % 2], u, d / 2, d % 2 != 0);
            } else {
                const float f = t == (d == 6 ? T - 1 : 0) ? a.edge : 2.0f;
                for (int c = 0; c < 12; c++)
                    sum[(d == 6 ? 12 : 0) + c] += f * v[d % 2][c];
            }
        }
        write_chunks<6>(a.out + n * a.column + group * BRICK + lane * 16, sum);
    }
}

/* Spinors, and links too: the hop asks only for the third row that rows 0 and 1 have, and back
 * links are numbers of their own. */
__global__ void fill(float *v, uint32_t seed)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    uint32_t h = (uint32_t)i * 0x9e3779b1u ^ ((uint32_t)(i >> 32) + seed) * 0x85ebca6bu;
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    v[i] = (float)(int32_t)(h ^ h >> 16) * (1.0f / 2147483648.0f);
}

/* Component k of the spinor of site x. */
DEVICE float spinor(const lattice &l, const char *column, const int x[4], int k)
{
    const int lane = x[0] / 2 + x[1] % l.rows * l.xh;
    const char *const brick = column + brick_of(l, x[1] / l.rows, x[2], x[3]) * BRICK;
    return ((const float *)(brick + k / 4 * CHUNK + lane * 16))[k % 4];
}

__managed__ double result[2];

/* Adds |out - h|^2 and |h|^2 of a column to result. h is in double, from the definition, with gamma
 * matrices as tables. */
__global__ void compare(hop_args a)
{
    /* (gamma_mu psi)_s = i^power psi_spin */
    const int spin[4][4] = {{3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}, {0, 1, 2, 3}},
              power[4][4] = {{3, 3, 1, 1}, {2, 0, 0, 2}, {3, 1, 1, 3}, {0, 0, 2, 2}};
    const lattice &l = a.l;
    const int brick = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = brick % l.bricks * l.rows + lane / l.xh, z = brick / l.bricks % l.X,
              t = brick / l.bricks / l.X, x = 2 * (lane % l.xh) + late(y, z, t, a.parity);
    const int site[4] = {x, y, z, t}, size[4] = {l.X, l.X, l.X, l.T};
    double h[24] = {0}, p[24], off = 0, norm = 0;
    for (int d = 0; d < 8; d++) {
        const int mu = d / 2, back = d % 2;
        const double edge = mu == 3 && t == (back ? 0 : l.T - 1) ? a.edge / 2 : 1;
        float u[18] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0};
        if (mu < 3) {
            read_chunks<3>(u, a.links + (size_t)brick * LINKS + d * LINK + lane * 16);
            complete(u);
        }
        int at[4] = {x, y, z, t};
        at[mu] = (site[mu] + (back ? size[mu] - 1 : 1)) % size[mu];
        const auto psi = [&](int k) {
            return (double)spinor(l, a.in + blockIdx.y * a.column, at, k);
        };
        for (int k = 0; k < 24; k += 2) {
            const int other = spin[mu][k / 6] * 6 + k % 6, i = power[mu][k / 6];
            const double f = (i < 2) == (back != 0) ? 1 : -1;
            p[k] = psi(k) + f * (i % 2 ? -psi(other + 1) : psi(other));
            p[k + 1] = psi(k + 1) + f * (i % 2 ? psi(other) : psi(other + 1));
        }
        for (int k = 0; k < 24; k += 2)
            for (int j = 0; j < 6; j += 2) {
                const int e = back ? 3 * j + k % 6 : 3 * (k % 6) + j;
                const double re = u[e], im = back ? -u[e + 1] : u[e + 1];
                const double *const q = p + k / 6 * 6 + j;
                h[k] += edge * (re * q[0] - im * q[1]);
                h[k + 1] += edge * (re * q[1] + im * q[0]);
            }
    }
    for (int k = 0; k < 24; k++) {
        const double v = spinor(l, a.out + blockIdx.y * a.column, site, k);
        off += (v - h[k]) * (v - h[k]);
        norm += h[k] * h[k];
    }
    atomicAdd(result, off);
    atomicAdd(result + 1, norm);
}

static lattice l;
static size_t bricks, column;
static char *in[2], *out[2], *links[2]; /* of even and of odd sites */
static double copy;                     /* bytes a second */

typedef std::function<void(int parity)> hop; /* of what is written */

static hop_args args_of(int parity, int slices = 0, uint32_t *pace = nullptr)
{
    return {l, links[parity], in[!parity], out[parity], column, parity, slices, -2, pace};
}

/* Random numbers; bytes: a multiple of 1024. */
static char *field_new(size_t bytes)
{
    static uint32_t seed;
    char *field;
    CHECK(cudaMalloc(&field, bytes));
    fill<<<bytes / 1024, 256>>>((float *)field, ++seed);
    CHECK(cudaGetLastError());
    return field;
}

static double seconds_of(const hop &run, int pairs) /* one hop */
{
    CHECK(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    for (int n = 0; n < 2 * pairs; n++)
        run((n + 1) % 2);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return took.count() / (2 * pairs);
}

/* |out - h| / |h| of both parities; ends the program if it is too much. */
static double deviation(const char *name, const hop &run)
{
    result[0] = result[1] = 0;
    for (int parity = 0; parity < 2; parity++) {
        CHECK(cudaMemset(out[parity], 0xff, column * COLUMNS)); /* not a number */
        run(parity);
        compare<<<dim3(bricks / 4, COLUMNS), 128>>>(args_of(parity));
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const double off = sqrt(result[0] / result[1]);
    if (off < 1e-6)
        return off;
    fprintf(stderr, "march_hop: %s: expected less than 1e-6 off the answer, found %g\n", name, off);
    exit(1);
}

/* A line of the table: the median of 7 times of 50 ms, each after a rest of .2 s. bytes: a site and
 * column. producer: its registers. */
template <class kernel_t>
static void line(const char *name, kernel_t kernel, int registers, int producer, int shared,
                 double bytes, bool right, const hop &run)
{
    cudaFuncAttributes at;
    double t[7];
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CHECK(cudaFuncGetAttributes(&at, kernel));
    const int pairs = (int)(.055 / (2 * seconds_of(run, 2))) + 1;
    for (double &one : t) {
        usleep(200000);
        one = seconds_of(run, pairs) / COLUMNS;
    }
    std::sort(t, t + 7);
    const double off = right ? deviation(name, run) : 0, sites = (double)bricks * 32;
    printf("%-18s %6.2f %7.2f %5.0f %5.2f  %7.1e %7d %8d %7d %7d\n", name, t[3] * 1e6,
           1320 * sites / t[3] * 1e-12, bytes, bytes * sites / t[3] / copy, off,
           registers ? registers : at.numRegs, producer, (int)at.localSizeBytes,
           shared + (int)at.sharedSizeBytes);
    fflush(stdout);
}

template <class F> static void march_line(const char *name)
{
    int blocks = l.bricks / 2 * (l.X / 2) * (COLUMNS / F::C), slices = l.T;
    for (; blocks < 120 && slices >= 8; slices /= 2) /* parts of t */
        blocks *= 2;
    const size_t bytes = (size_t)4 * ((blocks + TOGETHER - 1) / TOGETHER) * (slices * F::C / EVERY);
    uint32_t *pace;
    CHECK(cudaMalloc(&pace, bytes));
    /* Read again: faces in z, where a set has not all planes; two spins at each end of a part. */
    const int planes = TOGETHER * F::C / COLUMNS / (l.bricks / 2) * 2;
    const double again = (planes < l.X ? 2.0 / planes : 0) + 1.0 / slices;
    const hop run = [=](int parity) {
        CHECK(cudaMemsetAsync(pace, 0, bytes));
        march<F><<<blocks, F::THREADS, SHARED>>>(args_of(parity, slices, pace));
    };
    line(name, march<F>, F::REGISTERS, F::PRODUCER, SHARED, 216 + 96 * again, F::COMPUTE, run);
}

int main(int count, char **words)
{
    const int X = count == 3 ? atoi(words[1]) : 32, T = count == 3 ? atoi(words[2]) : 64;
    if ((count != 1 && count != 3) || (X != 16 && X != 32) || T < 8 || T % 8) {
        fprintf(stderr, "march_hop: expected X = 16 or 32 and T, a multiple of 8\n");
        return 2;
    }
    l = {X, T, X / 2, 64 / X, X * X / 64};
    bricks = (size_t)l.bricks * X * T;
    column = bricks * BRICK;
    const size_t bytes = (size_t)1 << 30;
    char *const a = field_new(bytes), *const b = field_new(bytes);
    const hop run = [=](int) { CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice)); };
    seconds_of(run, 25);
    copy = 2 * (double)bytes / seconds_of(run, 50);
    for (int p = 0; p < 2; p++) {
        in[p] = field_new(column * COLUMNS);
        out[p] = field_new(column * COLUMNS);
        links[p] = field_new(bricks * LINKS);
    }
    cudaDeviceProp card;
    CHECK(cudaGetDeviceProperties(&card, 0));
    printf("%s, %d^3x%d, copies of 1 GiB: %.0f GB/s\n", card.name, X, T, copy * 1e-9);
    printf("%-18s %6s %7s %5s %5s  %7s %7s %8s %7s %7s\n", "single, 12 columns", "us/rhs",
           "Tflop/s", "bytes", "copy", "off", "regs.", "producer", "spilled", "shared");
    const hop plain_run = [](int p) { plain<<<bricks / 4, 256, 4 * LINKS>>>(args_of(p)); };
    line("plain", plain, 0, 0, 4 * LINKS, 216, true, plain_run);
    march_line<form<2, 6, 232, true>>("march C12");
    march_line<form<2, 6, 232, false>>("  nothing computed");
    march_line<form<3, 2, 160, true>>("march C6");
    march_line<form<3, 2, 160, false>>("  nothing computed");
    return 0;
}
