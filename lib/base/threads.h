/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h: the number of threads, how they wait, and memcpy by all of them. */
#pragma once

#include <stddef.h>

/* Number of threads of the next parallel region; 1 without OpenMP. */
int lat_threads(void);
void lat_threads_set(int n);

/* All but one, for work beside a thread that waits for a device; one at least. */
int lat_threads_beside(void);

/* Multiplies the number of threads by `times`, but does not go beyond the processors that this
 * process may use. Returns the number before, for lat_threads_set. */
int lat_threads_widen(int times);

/* From here on as many threads as there were at the first call, but no more than have `least` of
 * `work` each, and one at least: threads with little to do wait for each other longer than they
 * work, and where they share processors with other programs, a hundred times longer. */
void lat_threads_share(double work, double least);

/* Makes idle threads sleep after some 10 us.
 *
 * Threads of GNU's OpenMP spin for milliseconds first, and take the processor from working threads
 * where processes share processors. A run beside another one was 20 times slower (bench/history).
 * libgomp reads how long they spin (GOMP_SPINCOUNT) when it is loaded, before main. So this
 * function sets GOMP_SPINCOUNT=2000 and executes the program once more, with the same arguments,
 * under its own path. It does not return then, and the process keeps its number and its name.
 *
 * It returns, and nothing has happened, where
 *   - GOMP_SPINCOUNT or OMP_WAIT_POLICY is in the environment: by the user, or by the first call;
 *   - the program has no OpenMP, or LLVM's OpenMP, whose threads yield;
 *   - lat_program_path finds no path or the program cannot be executed: only speed is lost.
 *
 * Call it first in main: before threads, before descriptors that are not to be inherited.
 * lat_options_parse does. */
void lat_threads_limit_spinning(char **argv);

/* As memcpy, by all threads: one alone does not use the bandwidth of memory or of a device. */
void lat_memcpy(void *to, const void *from, size_t bytes);
