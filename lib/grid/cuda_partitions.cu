/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_partitions.cu: which multiprocessors are near which partition of the second cache. No call
 * tells; but an atomic addition is done where its address belongs, and takes 1.7 times as long from
 * the other partition (H100: 430 cycles for 250). */
#include "cuda_partitions.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>
extern "C" {
#include "base/error.h"
#include "common/options.h"
}

enum {
    MOST = 32 * LAT_CUDA_NEAR, /* multiprocessors */
    PLACES = 32,               /* addresses, which belong to either partition */
    APART = 4096,              /* bytes */
    CHAIN = 8                  /* additions, each of which waits for the one before */
};

static int failed(cudaError_t e) { return lat_cuda_failed(e, "the second cache"); }

/* taken[multiprocessor][place]: cycles of a chain, at the least. A block has a multiprocessor for
 * itself. */
static __global__ void time_additions(unsigned *places, unsigned *taken)
{
    uint32_t m;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(m));
    if (m >= MOST)
        return;
    for (unsigned i = 0; i < PLACES; i++) {
        const unsigned k = (i + blockIdx.x) % PLACES;
        unsigned *const place = places + k * (APART / sizeof *places), least = ~0u, zero = 0;
        for (int again = 0; again < 3; again++) {
            const long long from = clock64();
            for (int n = 0; n < CHAIN; n++)
                zero = atomicAdd(place + zero, 0u);
            least = min(least, (unsigned)(clock64() - from));
        }
        taken[m * PLACES + k] = least + zero;
    }
}

/* Of multiprocessor m, and of number 0: the product of what their chains take beyond the mean of
 * all. Multiprocessors of one partition agree about places, others do not. */
static double agreement(const unsigned *taken, const double *mean, int m)
{
    double sum = 0;
    for (int k = 0; k < PLACES; k++)
        sum += (taken[m * PLACES + k] - mean[k]) * (taken[k] - mean[k]);
    return sum;
}

/* None if it is not plain: all of them agree or disagree about as much, by a tenth of the time and
 * more. */
static int split(const unsigned *taken, int count, uint32_t near[LAT_CUDA_NEAR])
{
    double mean[PLACES] = {}, all = 0, least = INFINITY, sum = 0;
    for (int k = 0; k < PLACES; k++) {
        for (int m = 0; m < count; m++)
            mean[k] += (double)taken[m * PLACES + k] / count;
        all += mean[k] * mean[k];
    }
    int others = 0;
    for (int m = 0; m < count; m++) {
        const double a = agreement(taken, mean, m);
        least = fmin(least, fabs(a));
        sum += fabs(a) / count;
        if (a < 0) {
            near[m / 32] |= 1u << m % 32;
            others++;
        }
    }
    if (least > .5 * sum && sum > .01 * all)
        return others;
    memset(near, 0, LAT_CUDA_NEAR * sizeof *near);
    return 0;
}

static int measure(const lat_cuda_device *dev, unsigned taken[MOST * PLACES])
{
    const size_t bytes = PLACES * APART, numbers = MOST * PLACES * sizeof *taken;
    int shared = 0;
    unsigned *there = NULL;
    int rc = lat_cuda_malloc((void **)&there, bytes + numbers, "the second cache");
    if (rc)
        return rc;
    unsigned *const results = there + bytes / sizeof *there;
    rc = failed(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       lat_cuda_device_number()))
         || failed(cudaFuncSetAttribute(time_additions, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        shared))
         || failed(cudaMemsetAsync(there, 0, bytes + numbers, dev->stream));
    if (rc == 0) {
        time_additions<<<dev->processors, 1, shared, dev->stream>>>(there, results);
        rc = failed(cudaGetLastError())
             || failed(
                 cudaMemcpyAsync(taken, results, numbers, cudaMemcpyDeviceToHost, dev->stream))
             || failed(cudaStreamSynchronize(dev->stream));
    }
    cudaFree(there);
    return rc ? -1 : 0;
}

int lat_cuda_partitions(const lat_cuda_device *dev, uint32_t near[LAT_CUDA_NEAR])
{
    static bool known;
    static uint32_t found[LAT_CUDA_NEAR];
    static unsigned taken[MOST * PLACES];
    if (!known && dev->processors <= MOST) {
        if (measure(dev, taken))
            return -1;
        const int others = split(taken, dev->processors, found);
        lat_verbose("second cache: %d of %d multiprocessors are near another partition than the "
                    "first",
                    others, dev->processors);
    }
    known = true;
    memcpy(near, found, sizeof found);
    return 0;
}
