/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h: the threads of a kernel, as fibers on one thread of the CPU.
 *
 * Blocks run one after the other. A thread runs until it waits for others of its block or warp, or
 * for another process; then the next one runs. LAT_EMULATOR_REVERSE=1: the last thread comes first.
 * What a kernel does that a GPU would not end well, or not at all, is said on stderr, and ends the
 * process: threads that wait for each other, a lane asked that has ended. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern thread_local uint3 threadIdx, blockIdx;
extern thread_local dim3 blockDim, gridDim;

/* Dynamic shared memory of the block that runs. */
enum { EMULATOR_SHARED = 227 << 10 };
extern thread_local char shared[];

/* Every thread of `grid` blocks calls body(data). */
void emulator_run(dim3 grid, dim3 block, size_t shared_bytes, void (*body)(void *), void *data);

/* __syncthreads, __syncwarp; in a loop that waits for another process. */
void emulator_wait_for_block(void);
void emulator_wait_for_warp(void);
void emulator_yield(void);

/* A word from another lane; of all lanes those that gave one that is not 0. */
uint64_t emulator_shuffle(uint64_t mine, unsigned from);
uint32_t emulator_ballot(bool mine);
unsigned emulator_lane(void);

/* Says it with block and thread, and aborts. */
void emulator_fault(const char *what);
