/* SPDX-License-Identifier: BSD-3-Clause */
/* nocuda.c: stands in for the CUDA part of this folder where that was not built. */
#include "bandwidth.h"
#include "base/build.h"
#include "base/error.h"
#include "grid_internal.h"
#include "memory.h"

bool lat_cuda_begin(const lat_device_options *options, const lat_comm *comm)
{
    (void)options, (void)comm;
    return false;
}

bool lat_cuda_available(const lat_device_options *options, const lat_comm *comm)
{
    (void)options, (void)comm;
    lat_fail("this lat was built without CUDA (%s)", lat_no_cuda);
    return false;
}

lat_device *lat_device_gpu(const lat_device_options *options, const lat_comm *comm)
{
    (void)options, (void)comm;
    return NULL;
}

void lat_cuda_end(void) {}

double lat_gpu_free_bytes(void) { return -1; }

double lat_gpu_copy_bandwidth(size_t bytes)
{
    (void)bytes;
    return -1;
}
