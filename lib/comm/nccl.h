/* SPDX-License-Identifier: BSD-3-Clause */
/* nccl.h: NCCL, NVIDIA's library that carries data between GPUs of any hosts, opened when the
 * program runs: no build needs it. Nothing here calls CUDA: the caller has the streams and the
 * memory of the device. Functions return -1 with lat_error set where nothing else is said; every
 * rank calls them, in the same order.
 *
 * LAT_NCCL=FILE in the environment of rank 0 names another library than libnccl.so.2, LAT_NCCL=no
 * none. */
#pragma once

#include "comm.h"

typedef struct lat_nccl lat_nccl;

/* Why ranks do without. */
typedef struct lat_nccl_reason {
    char text[512];
    bool fault; /* something is there, or was asked for, that does not work */
} lat_nccl_reason;

/* 1 if rc >= 0 on all ranks; otherwise 0, with the sentence of the lowest rank that has failed: no
 * rank keeps it in lat_error. */
int lat_nccl_agree(const lat_comm *comm, int rc, lat_nccl_reason *reason);

/* Ranks join, each with its GPU current, whose name in all hosts `gpu` is. 1; or 0 with a reason
 * where not all can, and nobody does. Ranks that share a GPU cannot. */
enum { LAT_NCCL_GPU = 16 };
int lat_nccl_open(const lat_comm *comm, const char gpu[LAT_NCCL_GPU], lat_nccl **n,
                  lat_nccl_reason *reason);

/* Puts an exchange of device memory into a stream of CUDA. 0 or -1. */
int lat_nccl_exchange(lat_nccl *n, void *stream, int count, const lat_message *m);

/* Puts into a stream: each rank gives `bytes` at all + rank * bytes there to all ranks. */
int lat_nccl_gather(lat_nccl *n, void *stream, void *all, size_t bytes);

/* When all exchanges have ended: all ranks call it, and wait for each other; after a failure it
 * leaves all to the end of the process. lat_nccl_abort: without the others. NULL is allowed. */
void lat_nccl_close(lat_nccl *n);
void lat_nccl_abort(lat_nccl *n);
