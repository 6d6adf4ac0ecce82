/* SPDX-License-Identifier: BSD-3-Clause */
/* device.cpp: the runtime of cuda_runtime.h. Device memory ends at a page that nobody may touch,
 * and begins behind one; its bytes are 0xff, which are NaN. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {
enum { PAGE = 64 << 10, ALIGN = 16, UNASKED = 48 << 10 };
const size_t TOTAL = (size_t)16 << 30;

struct piece {
    size_t bytes; /* that were asked for */
    char *pages;  /* between two that nobody may touch */
    size_t reserved;
    int file;  /* that other processes map; -1: none */
    bool kept; /* of a pool: other processes cannot map it */
};

std::mutex lock;
std::map<const char *, piece> mine, others;
std::map<const void *, int> shared_bytes; /* that a kernel may have, beyond UNASKED */
size_t used;

/* Memory for `bytes`, at the end of its pages; of a file, or new. */
char *map(size_t bytes, int file, piece *p)
{
    p->bytes = bytes;
    p->reserved = (bytes + PAGE - 1) / PAGE * PAGE;
    p->file = file;
    char *const all = (char *)mmap(NULL, p->reserved + 2 * PAGE, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    p->pages = all + PAGE;
    if (mmap(p->pages, p->reserved, PROT_READ | PROT_WRITE,
             MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), file, 0)
        == MAP_FAILED) {
        munmap(all, p->reserved + 2 * PAGE);
        return NULL;
    }
    return p->pages + p->reserved - (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

void unmap(const piece &p)
{
    munmap(p.pages - PAGE, p.reserved + 2 * PAGE);
    if (p.file >= 0)
        close(p.file);
}

/* Is all of it in one piece? */
bool inside(const std::map<const char *, piece> &pieces, const char *p, size_t bytes)
{
    auto after = pieces.upper_bound(p);
    if (after == pieces.begin())
        return false;
    const auto &at = *--after;
    return p + bytes <= at.first + at.second.bytes;
}

bool on_device(const void *p, size_t bytes)
{
    const std::lock_guard<std::mutex> locked(lock);
    return inside(mine, (const char *)p, bytes) || inside(others, (const char *)p, bytes);
}

bool good_copy(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    const bool to_host = kind == cudaMemcpyDeviceToHost, from_host = kind == cudaMemcpyHostToDevice;
    return bytes == 0 || kind == cudaMemcpyDefault
           || (on_device(to, bytes) != to_host && on_device(from, bytes) != from_host);
}
} // namespace

/* ---- memory ---------------------------------------------------------------------------------- */

static cudaError_t take(void **p, size_t bytes, bool kept)
{
    const std::lock_guard<std::mutex> locked(lock);
    piece made;
    char *const at = used + bytes <= TOTAL ? map(bytes, -1, &made) : NULL;
    if (!at)
        return cudaErrorMemoryAllocation;
    memset(made.pages, 0xff, made.reserved);
    made.kept = kept;
    mine[at] = made;
    used += bytes;
    *p = at;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes) { return take(p, bytes, false); }

/* CUDA lets cudaFree take memory of a pool, without waiting for the device: an error here. */
static cudaError_t give_back(void *p, bool kept)
{
    const std::lock_guard<std::mutex> locked(lock);
    const auto at = mine.find((char *)p);
    if (at != mine.end() && at->second.kept != kept) {
        fprintf(stderr, "emulator: memory %s a pool is freed as if it were not\n",
                kept ? "beside" : "of");
        abort();
    }
    if (at == mine.end())
        return p ? cudaErrorInvalidValue : cudaSuccess;
    used -= at->second.bytes;
    unmap(at->second);
    mine.erase(at);
    return cudaSuccess;
}

cudaError_t cudaFree(void *p) { return give_back(p, false); }

/* Nothing is kept: what is freed is out of reach at once. */
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t) { return take(p, bytes, true); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return give_back(p, true); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    static int it;
    *pool = &it;
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *bytes)
{
    *(uint64_t *)bytes = 0;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    *p = malloc(bytes ? bytes : 1);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = TOTAL;
    *available = TOTAL - used;
    return cudaSuccess;
}

cudaError_t cudaMemset(void *p, int byte, size_t bytes)
{
    if (bytes && !on_device(p, bytes))
        return cudaErrorInvalidValue;
    memset(p, byte, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t)
{
    return cudaMemset(p, byte, bytes);
}

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int byte, size_t width, size_t height,
                              cudaStream_t)
{
    cudaError_t e = width > pitch ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t i = 0; i < height && e == cudaSuccess; i++)
        e = cudaMemset((char *)p + i * pitch, byte, width);
    return e;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if (!good_copy(to, from, bytes, kind))
        return cudaErrorInvalidValue;
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t)
{
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t)
{
    cudaError_t e = width > to_pitch || width > from_pitch ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t i = 0; i < height && e == cudaSuccess; i++)
        e = cudaMemcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width, kind);
    return e;
}

/* ---- memory of other processes: a file without a name, by way of /proc ----------------------- */

struct shared_piece {
    int process, file;
    size_t bytes;
};

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *p)
{
    const std::lock_guard<std::mutex> locked(lock);
    const auto at = mine.find((char *)p);
    if (at == mine.end() || at->second.kept)
        return cudaErrorInvalidValue;
    piece &m = at->second;
    if (m.file < 0) {
        const int file = memfd_create("emulator", MFD_CLOEXEC);
        if (file < 0 || write(file, m.pages, m.reserved) != (ssize_t)m.reserved
            || mmap(m.pages, m.reserved, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, file, 0)
                   == MAP_FAILED)
            return cudaErrorMemoryAllocation;
        m.file = file;
    }
    const shared_piece s = {(int)getpid(), m.file, m.bytes};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &s, sizeof s);
    return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void **p, cudaIpcMemHandle_t handle, unsigned)
{
    const std::lock_guard<std::mutex> locked(lock);
    shared_piece s;
    piece made;
    char path[64];
    memcpy(&s, &handle, sizeof s);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", s.process, s.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    char *const at = file >= 0 ? map(s.bytes, file, &made) : NULL;
    if (!at)
        return cudaErrorInvalidResourceHandle;
    others[at] = made;
    *p = at;
    return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void *p)
{
    const std::lock_guard<std::mutex> locked(lock);
    const auto at = others.find((char *)p);
    if (at == others.end())
        return cudaErrorInvalidValue;
    unmap(at->second);
    others.erase(at);
    return cudaSuccess;
}

/* ---- the device, streams, events ------------------------------------------------------------- */

cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device ? cudaErrorInvalidDevice : cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "emulator");
    p->major = __CUDA_ARCH__ / 100;
    p->multiProcessorCount = 2;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int)
{
    *value = which == cudaDevAttrL2CacheSize            ? 1 << 20
             : which == cudaDevAttrMemoryPoolsSupported ? 1
                                                        : (int)EMULATOR_SHARED;
    return cudaSuccess;
}

/* Each process has a GPU of its own. */
cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int)
{
    snprintf(text, (size_t)bytes, "%d", (int)getpid());
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
    *lowest = *highest = 0;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t e)
{
    static const char *const words[] = {
        "success",        "invalid value",   "out of memory",  "invalid launch",
        "invalid device", "no kernel image", "no peer access", "invalid resource handle",
        "not ready",      "not supported",   "unknown error"};
    return words[e];
}

/* Failed calls say so themselves. */
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }

/* A stream and an event are any address that is not NULL. */
static int any;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    *s = (cudaStream_t)&any;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(s, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
    *e = (cudaEvent_t)&any;
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 1;
    return cudaSuccess;
}

/* The driver is there: lib/grid/cuda_device.cu asks so (-Wl,--wrap=dlopen). */
extern "C" void *__real_dlopen(const char *file, int flags);
extern "C" void *__wrap_dlopen(const char *file, int flags)
{
    return file && !strcmp(file, "libcuda.so.1") ? &any : __real_dlopen(file, flags);
}

/* ---- launches -------------------------------------------------------------------------------- */

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *)
{
    a->numRegs = 0;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute, int value)
{
    const std::lock_guard<std::mutex> locked(lock);
    if (value > EMULATOR_SHARED)
        return cudaErrorInvalidValue;
    shared_bytes[kernel] = value;
    return cudaSuccess;
}

cudaError_t emulator_launch(const cudaLaunchConfig_t *c, const void *kernel, void (*body)(void *),
                            void *data)
{
    const dim3 g = c->gridDim, b = c->blockDim;
    size_t most = UNASKED;
    {
        const std::lock_guard<std::mutex> locked(lock);
        const auto asked = shared_bytes.find(kernel);
        most = asked == shared_bytes.end() ? most : (size_t)asked->second;
    }
    if (!g.x || !g.y || !g.z || g.y > 65535 || g.z > 65535 || !b.x || !b.y || !b.z
        || (size_t)b.x * b.y * b.z > 1024 || b.z > 64)
        return cudaErrorInvalidConfiguration;
    if (c->dynamicSmemBytes > most)
        return cudaErrorInvalidValue;
    emulator_run(g, b, c->dynamicSmemBytes, body, data);
    return cudaSuccess;
}
