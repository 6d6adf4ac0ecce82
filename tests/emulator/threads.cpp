/* SPDX-License-Identifier: BSD-3-Clause */
#undef _FORTIFY_SOURCE /* which lets nobody jump between stacks */
#include "threads.h"
#include "cuda_pipeline.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;
alignas(128) thread_local char shared[EMULATOR_SHARED];

/* gcc's address sanitizer takes a jump between stacks for the end of frames, and warns of it: it
 * does not look at these. */
#ifdef __SANITIZE_ADDRESS__
#define SET_PLACE(place) __builtin_setjmp((void **)(place))
#define GO_TO(place) __builtin_longjmp((void **)(place), 1)
#define JUMPS __attribute__((noinline, no_sanitize_address))
#else
#define SET_PLACE(place) _setjmp(place)
#define GO_TO(place) _longjmp(place, 1)
#define JUMPS
#endif

namespace {
enum : unsigned { THREADS = 1024, WARP = 32, STACK = 256 << 10 };

/* Threads that wait for each other: when all that have not ended are there, a new round begins. */
struct group {
    int alive, arrived;
    unsigned round;
};

/* What a thread has asked for and not waited for (cuda_pipeline.h). */
struct pending {
    void *to;
    const void *from;
    size_t bytes, batch;
};

struct thread {
    jmp_buf place;
    bool begun, ended;
    group *at; /* waits for the round after this one, of this group; NULL: it does not wait */
    unsigned round;
    pending *copy;
    size_t copies, reserved, batch;
};

/* Words that lanes give in a round. Two rounds in turn: who is late still reads the last one. */
struct words {
    uint64_t word[WARP];
    unsigned round[WARP]; /* of the word, + 1; 0: none */
};

thread_local thread *threads;
thread_local char *stacks;
thread_local jmp_buf scheduler;
thread_local unsigned now, running;
thread_local group block, warps[THREADS / WARP];
thread_local words exchanged[THREADS / WARP][2];
thread_local void (*work)(void *);
thread_local void *work_data;

void leave(group *g)
{
    g->alive--;
    if (g->alive > 0 && g->arrived == g->alive) {
        g->arrived = 0;
        g->round++;
    }
}

/* A fiber is a thread of one block after the other. */
void fiber(void)
{
    for (;;) {
        work(work_data);
        threads[now].ended = true;
        leave(&warps[now / WARP]);
        leave(&block);
        emulator_yield();
    }
}

void wait(group *g)
{
    thread *const me = &threads[now];
    if (++g->arrived == g->alive) {
        g->arrived = 0;
        g->round++;
        return;
    }
    me->at = g;
    me->round = g->round;
    emulator_yield();
    me->at = NULL;
}

void begin_threads(void)
{
    threads = (thread *)calloc(THREADS, sizeof *threads);
    stacks = (char *)mmap(NULL, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!threads || stacks == MAP_FAILED) {
        perror("emulator: threads");
        abort();
    }
}

JUMPS void enter(unsigned i)
{
    thread *const t = &threads[i];
    now = i;
    threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
    if (SET_PLACE(scheduler))
        return;
    if (t->begun)
        GO_TO(t->place);
    t->begun = true;
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = stacks + (size_t)i * STACK;
    first.uc_stack.ss_size = STACK;
    makecontext(&first, fiber, 0);
    setcontext(&first);
}

void begin_block(void)
{
    block = {(int)running, 0, 0};
    for (unsigned w = 0; w * WARP < running; w++) {
        const unsigned lanes = running - w * WARP;
        warps[w] = {(int)(lanes < WARP ? lanes : WARP), 0, 0};
        memset(exchanged[w], 0, sizeof exchanged[w]);
    }
    for (unsigned i = 0; i < running; i++) {
        threads[i].ended = false;
        threads[i].at = NULL;
        threads[i].copies = threads[i].batch = 0;
    }
}

void run_block(bool reverse)
{
    begin_block();
    for (unsigned left = running; left > 0;) {
        unsigned ran = 0;
        left = 0;
        for (unsigned k = 0; k < running; k++) {
            const unsigned i = reverse ? running - 1 - k : k;
            thread *const t = &threads[i];
            if (!t->ended && !(t->at && t->at->round == t->round)) {
                enter(i);
                ran++;
            }
            left += !t->ended;
        }
        if (left > 0 && ran == 0)
            emulator_fault("threads wait at barriers that others do not come to");
    }
}
} // namespace

void emulator_fault(const char *what)
{
    fprintf(stderr, "emulator: block %u,%u,%u of %u,%u,%u, thread %u,%u,%u of %u,%u,%u: %s\n",
            blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z, threadIdx.x,
            threadIdx.y, threadIdx.z, blockDim.x, blockDim.y, blockDim.z, what);
    abort();
}

JUMPS void emulator_yield(void)
{
    if (!SET_PLACE(threads[now].place))
        GO_TO(scheduler);
}

void emulator_wait_for_block(void) { wait(&block); }
void emulator_wait_for_warp(void) { wait(&warps[now / WARP]); }
unsigned emulator_lane(void) { return now % WARP; }

static words *give(uint64_t mine, unsigned *round)
{
    *round = warps[now / WARP].round + 1;
    words *const all = &exchanged[now / WARP][*round % 2];
    all->word[now % WARP] = mine;
    all->round[now % WARP] = *round;
    emulator_wait_for_warp();
    return all;
}

uint64_t emulator_shuffle(uint64_t mine, unsigned from)
{
    unsigned round;
    const words *const all = give(mine, &round);
    if (all->round[from % WARP] != round)
        emulator_fault("a shuffle reads from a lane that takes no part in it");
    return all->word[from % WARP];
}

uint32_t emulator_ballot(bool mine)
{
    unsigned round;
    const words *const all = give(mine, &round);
    uint32_t those = 0;
    for (unsigned lane = 0; lane < WARP; lane++)
        those |= (uint32_t)(all->round[lane] == round && all->word[lane]) << lane;
    return those;
}

void emulator_run(dim3 grid, dim3 of_block, size_t shared_bytes, void (*body)(void *), void *data)
{
    const char *const order = getenv("LAT_EMULATOR_REVERSE");
    const bool reverse = order && *order == '1';
    if (!threads)
        begin_threads();
    gridDim = grid;
    blockDim = of_block;
    running = of_block.x * of_block.y * of_block.z;
    work = body;
    work_data = data;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = {x, y, z};
                memset(shared, 0xff, shared_bytes);
                run_block(reverse);
            }
}

/* ---- copies that go on while a thread computes ----------------------------------------------- */

void __pipeline_memcpy_async(void *to, const void *from, size_t bytes)
{
    thread *const me = &threads[now];
    if (bytes > 16 || (uintptr_t)to % bytes || (uintptr_t)from % bytes)
        emulator_fault("an asynchronous copy that is not of 4, 8 or 16 bytes");
    if (me->copies == me->reserved) {
        me->reserved = me->reserved ? 2 * me->reserved : 64;
        me->copy = (pending *)realloc(me->copy, me->reserved * sizeof *me->copy);
        if (!me->copy)
            abort();
    }
    me->copy[me->copies++] = {to, from, bytes, me->batch};
}

void __pipeline_commit(void) { threads[now].batch++; }

void __pipeline_wait_prior(size_t batches)
{
    thread *const me = &threads[now];
    size_t kept = 0;
    for (size_t k = 0; k < me->copies; k++) {
        const pending c = me->copy[k];
        if (c.batch + batches < me->batch)
            memcpy(c.to, c.from, c.bytes);
        else
            me->copy[kept++] = c;
    }
    me->copies = kept;
}
