/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_ptx.cuh: the functions of lib/grid/cuda_ptx.cuh, in whose place this file is included. */
#pragma once

#include <cuda_runtime.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#define DEVICE static __device__ __forceinline__
#define METHOD __device__ __forceinline__

DEVICE uint4 load16(const void *p) { return *(const uint4 *)p; }
DEVICE float load_float(const void *p) { return *(const float *)p; }
DEVICE void load16_shared(uint32_t v[4], uint32_t from)
{
    memcpy(v, __cvta_shared_to_generic(from), 16);
}
DEVICE void ask_for(const char *) {}

/* ---- with a policy --------------------------------------------------------------------------- */

DEVICE uint64_t read_once(void) { return 0; }
DEVICE uint64_t read_again(void) { return 0; }
DEVICE uint4 load16_once(const void *p, uint64_t) { return *(const uint4 *)p; }
DEVICE uint2 load8_once(const void *p, uint64_t) { return *(const uint2 *)p; }
DEVICE uint32_t load4_once(const void *p, uint64_t) { return *(const uint32_t *)p; }
DEVICE void store16_once(void *p, uint4 v, uint64_t) { *(uint4 *)p = v; }

/* ---- words that another process writes meanwhile --------------------------------------------- */

/* 16 bytes that processors of today read and write as a whole. */
typedef unsigned emulator_whole __attribute__((vector_size(16)));

/* Processes may be more than processors. */
DEVICE uint32_t poll4(const volatile void *p)
{
    sched_yield();
    return *(const volatile uint32_t *)p;
}

DEVICE void poll16(uint32_t v[4], const void *p)
{
    const emulator_whole w = *(const volatile emulator_whole *)p;
    memcpy(v, &w, sizeof w);
    sched_yield();
}

DEVICE double2 poll_pair(const void *p)
{
    emulator_yield();
    uint32_t w[4];
    double2 v;
    poll16(w, p);
    memcpy(&v, w, sizeof v);
    return v;
}

DEVICE uint32_t poll_flag(const uint32_t *flag)
{
    sched_yield();
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

DEVICE void store16(void *p, uint4 v)
{
    emulator_whole w;
    memcpy(&w, &v, sizeof w);
    *(volatile emulator_whole *)p = w;
}

DEVICE void store_pair(void *p, double x, double y)
{
    const double v[2] = {x, y};
    emulator_whole w;
    memcpy(&w, v, sizeof w);
    *(volatile emulator_whole *)p = w;
}

/* ---- bulk copies: a barrier holds the bytes to come, and how many of four threads have not said
 * how many they expect ---- */

DEVICE uint64_t *emulator_barrier(uint32_t b) { return (uint64_t *)__cvta_shared_to_generic(b); }

DEVICE void copies_begin(uint32_t barrier) { *emulator_barrier(barrier) = 4; }

DEVICE void copies_expect(uint32_t barrier, uint32_t bytes)
{
    *emulator_barrier(barrier) += ((uint64_t)bytes << 8) - 1;
}

DEVICE void copy_bulk(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier, uint64_t)
{
    if (to % 16 || (uintptr_t)from % 16 || bytes % 16)
        emulator_fault("a bulk copy that is not of 16 bytes");
    memcpy(__cvta_shared_to_generic(to), from, bytes);
    *emulator_barrier(barrier) -= (uint64_t)bytes << 8;
}

DEVICE bool copies_done(uint32_t barrier)
{
    emulator_yield();
    return *emulator_barrier(barrier) == 0;
}
