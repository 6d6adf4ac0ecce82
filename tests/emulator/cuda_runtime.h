/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_runtime.h: what lib/grid, lib/vector, lib/dirac and lib/certify ask of CUDA C++ and of its
 * runtime, for a compiler of C++: a GPU of compute capability 9.0 with two multiprocessors. Streams
 * are done when a call returns. Device memory is memory of the host (device.cpp). */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "threads.h"

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __device__
#define __host__
#define __global__
#define __grid_constant__
#define __shared__ thread_local /* blocks of a host thread run one after the other */
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))

using std::isfinite;

/* ---- vectors --------------------------------------------------------------------------------- */

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}
static inline double2 make_double2(double x, double y) { return {x, y}; }

/* ---- threads --------------------------------------------------------------------------------- */

static inline void __syncthreads(void) { emulator_wait_for_block(); }
static inline void __syncwarp(unsigned = ~0u) { emulator_wait_for_warp(); }
static inline void __threadfence(void) { __sync_synchronize(); }
static inline void __threadfence_system(void) { __sync_synchronize(); }
static inline void cudaTriggerProgrammaticLaunchCompletion(void) {}
static inline void cudaGridDependencySynchronize(void) {}

template <class T> static inline T emulator_from_lane(T v, unsigned lane)
{
    static_assert(sizeof v <= sizeof(uint64_t), "a word of 8 bytes");
    uint64_t word = 0;
    memcpy(&word, &v, sizeof v);
    word = emulator_shuffle(word, lane);
    memcpy(&v, &word, sizeof v);
    return v;
}
template <class T> static inline T __shfl_sync(unsigned, T v, int lane)
{
    return emulator_from_lane(v, (unsigned)lane);
}
template <class T> static inline T __shfl_xor_sync(unsigned, T v, int bits)
{
    return emulator_from_lane(v, emulator_lane() ^ (unsigned)bits);
}
template <class T> static inline T __shfl_down_sync(unsigned, T v, unsigned by)
{
    const unsigned lane = emulator_lane();
    return emulator_from_lane(v, lane + by < 32 ? lane + by : lane);
}
static inline int __any_sync(unsigned, int mine) { return emulator_ballot(mine != 0) != 0; }

/* Shared memory by numbers of 32 bits. */
static inline size_t __cvta_generic_to_shared(const void *p)
{
    return (uint32_t)((const char *)p - shared);
}
static inline void *__cvta_shared_to_generic(size_t p) { return shared + (int32_t)p; }

/* ---- memory ---------------------------------------------------------------------------------- */

/* By one thread at a time. */
static inline unsigned atomicInc(unsigned *p, unsigned most)
{
    const unsigned old = *p;
    *p = old >= most ? 0 : old + 1;
    return old;
}
template <class T> static inline T atomicMax(T *p, T v)
{
    const T old = *p;
    *p = old > v ? old : v;
    return old;
}
template <class T> static inline T atomicMin(T *p, T v)
{
    const T old = *p;
    *p = old < v ? old : v;
    return old;
}
template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline void __stcg(T *p, T v) { *p = v; }

/* ---- arithmetic ------------------------------------------------------------------------------ */

template <class To, class From> static inline To emulator_bits(From v)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To w;
    memcpy(&w, &v, sizeof w);
    return w;
}
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (uint64_t)a * b >> 32; }
static inline float __uint_as_float(unsigned v) { return emulator_bits<float>(v); }
static inline unsigned __float_as_uint(float v) { return emulator_bits<unsigned>(v); }
static inline long long __double_as_longlong(double v) { return emulator_bits<long long>(v); }
static inline int __double2loint(double v) { return (int)emulator_bits<uint64_t>(v); }
static inline int __double2hiint(double v) { return (int)(emulator_bits<uint64_t>(v) >> 32); }
static inline double __hiloint2double(int high, int low)
{
    return emulator_bits<double>((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
static inline int __double2int_rn(double v) { return (int)nearbyint(v); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
/* (-ffp-contract=off) */
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++)
        r |= (unsigned)(bytes >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
    return r;
}

/* ---- the runtime ----------------------------------------------------------------------------- */

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration,
    cudaErrorInvalidDevice,
    cudaErrorNoKernelImageForDevice,
    cudaErrorPeerAccessUnsupported,
    cudaErrorInvalidResourceHandle,
    cudaErrorNotReady,
    cudaErrorNotSupported,
    cudaErrorUnknown
};
const char *cudaGetErrorString(cudaError_t e);
cudaError_t cudaGetLastError(void);

struct cudaDeviceProp {
    char name[256];
    struct {
        char bytes[16];
    } uuid;
    int major, minor, multiProcessorCount, pciDomainID, pciBusID, pciDeviceID;
};
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrL2CacheSize,
    cudaDevAttrMemoryPoolsSupported
};
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int device);
cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device);
cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *highest);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);

/* Memory: new memory is full of NaN. */
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
typedef struct emulator_stream *cudaStream_t;
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
typedef void *cudaMemPool_t;
enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrUsedMemCurrent
};
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);
enum { cudaHostRegisterDefault };
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *p);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMemset(void *p, int byte, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int byte, size_t width, size_t height,
                              cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes)
{
    return cudaMalloc((void **)p, bytes);
}

/* Memory of other processes. */
struct cudaIpcMemHandle_t {
    char reserved[64];
};
enum { cudaIpcMemLazyEnablePeerAccess };
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p);
cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void *p);

/* Streams and events. */
typedef struct emulator_event *cudaEvent_t;
enum { cudaStreamNonBlocking, cudaEventDisableTiming };
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaStreamQuery(cudaStream_t s);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);

/* ---- launches -------------------------------------------------------------------------------- */

struct cudaFuncAttributes {
    int numRegs;
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *kernel);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute which, int value);

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
cudaError_t emulator_launch(const cudaLaunchConfig_t *c, const void *kernel, void (*body)(void *),
                            void *data);

template <class... K, class... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(K...),
                                             A... a)
{
    auto thread = [&] { kernel(a...); };
    return emulator_launch(
        c, (const void *)kernel, [](void *t) { (*(decltype(thread) *)t)(); }, &thread);
}
