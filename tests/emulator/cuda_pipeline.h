/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_pipeline.h: copies to shared memory that go on while a thread computes. They are made as
 * late as the thread lets them: who reads without waiting reads what was there before. */
#pragma once

#include "threads.h"

void __pipeline_memcpy_async(void *to, const void *from, size_t bytes);

/* Copies since the last commit are a batch. */
void __pipeline_commit(void);

/* All but the last `batches` are done. */
void __pipeline_wait_prior(size_t batches);
