/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.h: memory that the ranks of one host have in common. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "comm.h"

/* What one rank has written, others may read after an atomic operation or a message has told them
 * of it. */
typedef struct lat_shared {
    void *at;     /* zero at first; NULL: no memory in common */
    size_t bytes; /* of `at` */
    int file;     /* on rank 0 */
} lat_shared;

/* On rank 0: do ranks share no memory, on several hosts or with LAT_SHARED=no in the environment?
 */
bool lat_shared_none(const lat_comm *comm);

/* Maps `bytes` bytes into every rank. All ranks call it. s->at is NULL, without an error, for one
 * rank, and where ranks share none. */
int lat_shared_alloc(const lat_comm *comm, size_t bytes, lat_shared *s);

/* Allocates the pages, which lat_shared_alloc has only mapped: -1 if there is no memory. Rank 0
 * calls it, before any rank writes: a write that finds no page is SIGBUS. */
int lat_shared_reserve(const lat_shared *s);

/* Each rank for itself. */
void lat_shared_free(lat_shared *s);
