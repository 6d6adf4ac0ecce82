/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_ptx.cuh: instructions of a GPU that CUDA C++ has no function for, a function each. For tests
 * without a GPU tests/emulator has the same functions in C++. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#define DEVICE static __device__ __forceinline__
#define METHOD __device__ __forceinline__

/* ---- loads and stores ------------------------------------------------------------------------ */

/* Loads are volatile: the compiler keeps their order. */
DEVICE uint4 load16(const void *p)
{
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

DEVICE float load_float(const void *p)
{
    float v;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}

/* From shared memory. */
DEVICE void load16_shared(uint32_t v[4], uint32_t from)
{
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(from));
}

/* Into the second cache. */
DEVICE void ask_for(const char *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

/* ---- loads and stores with a policy: when a line leaves the second cache --------------------- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define LAT_HINT(instruction) instruction ".L2::cache_hint"
#define LAT_POLICY(n) ", %" #n
#define LAT_MAKE_POLICY(policy, kind) \
    asm("createpolicy.fractional.L2::" kind ".b64 %0, 1.0;" : "=l"(policy))
#else
#define LAT_HINT(instruction) instruction
#define LAT_POLICY(n) ""
#define LAT_MAKE_POLICY(policy, kind) ((void)0)
#endif

/* What a kernel reads once: the first to leave. */
DEVICE uint64_t read_once(void)
{
    uint64_t policy = 0;
    LAT_MAKE_POLICY(policy, "evict_first");
    return policy;
}

/* What the next kernels read again, too: the last. */
DEVICE uint64_t read_again(void)
{
    uint64_t policy = 0;
    LAT_MAKE_POLICY(policy, "evict_last");
    return policy;
}

/* Past the first cache. */
DEVICE uint4 load16_once(const void *p, uint64_t policy)
{
    uint4 v;
    asm volatile(
        LAT_HINT("ld.global.nc.L1::no_allocate") ".v4.u32 {%0,%1,%2,%3}, [%4]" LAT_POLICY(5) ";"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(p), "l"(policy));
    return v;
}

DEVICE uint2 load8_once(const void *p, uint64_t policy)
{
    uint2 v;
    asm volatile(LAT_HINT("ld.global.nc.L1::no_allocate") ".v2.u32 {%0,%1}, [%2]" LAT_POLICY(3) ";"
                 : "=r"(v.x), "=r"(v.y)
                 : "l"(p), "l"(policy));
    return v;
}

DEVICE uint32_t load4_once(const void *p, uint64_t policy)
{
    uint32_t v;
    asm volatile(LAT_HINT("ld.global.nc.L1::no_allocate") ".u32 %0, [%1]" LAT_POLICY(2) ";"
                 : "=r"(v)
                 : "l"(p), "l"(policy));
    return v;
}

DEVICE void store16_once(void *p, uint4 v, uint64_t policy)
{
    asm volatile(LAT_HINT("st.global") ".v4.u32 [%0], {%1,%2,%3,%4}" LAT_POLICY(5) ";" ::"l"(p),
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy)
                 : "memory");
}

/* ---- words that another GPU writes meanwhile; 16 bytes are written and read as a whole ------- */

DEVICE uint32_t poll4(const volatile void *p) { return *(const volatile uint32_t *)p; }

DEVICE void poll16(uint32_t v[4], const void *p)
{
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "l"(p)
                 : "memory");
}

DEVICE double2 poll_pair(const void *p)
{
    double2 v;
    asm volatile("ld.volatile.global.v2.f64 {%0, %1}, [%2];"
                 : "=d"(v.x), "=d"(v.y)
                 : "l"(p)
                 : "memory");
    return v;
}

/* What was written before this flag is there, too. By acquire: a fence after a plain load takes
 * longer. */
DEVICE uint32_t poll_flag(const uint32_t *flag)
{
    uint32_t v;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    return v;
}

DEVICE void store16(void *p, uint4 v) { *(uint4 *)p = v; }

DEVICE void store_pair(void *p, double x, double y)
{
    asm volatile("st.volatile.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(x), "d"(y) : "memory");
}

/* ---- bulk copies to shared memory (compute capability 9) ------------------------------------- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* A barrier in shared memory, for copies that four threads ask for. By one thread. */
DEVICE void copies_begin(uint32_t barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;\n"
                 "fence.proxy.async.shared::cta;" ::"r"(barrier)
                 : "memory");
}

/* By each of the four: so many bytes will come. */
DEVICE void copies_expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

DEVICE void copy_bulk(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier,
                      uint64_t policy)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
                 : "memory");
}

DEVICE bool copies_done(uint32_t barrier)
{
    uint32_t done;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier)
                 : "memory");
    return done;
}
#endif
