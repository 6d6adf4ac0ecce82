/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_nccl.cuh: NCCL (comm/nccl.h) for a device: opened, and tested with both neighbours. */
#pragma once

#include "cuda_device.cuh"
extern "C" {
#include "comm/nccl.h"
}

/* 1 where all ranks have joined and have received what their neighbours sent; otherwise 0 with a
 * reason, and nobody uses it. -1 with lat_error set. All ranks call it. */
int lat_cuda_nccl_open(const lat_comm *comm, cudaStream_t stream, lat_nccl **n,
                       lat_nccl_reason *reason);
