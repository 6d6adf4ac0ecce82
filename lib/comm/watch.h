/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.h: a rank that dies ends all ranks, whatever they wait for: a message, slices in shared
 * memory, or a face that a kernel of a GPU expects from its neighbour. Such a kernel ends with its
 * process.
 *
 * Rank 0 has a TCP connection to each other rank, and every rank has a thread that reads. The
 * kernel closes the connection of a process that dies, at once. If a host dies, or its network,
 * keepalive closes the connection within a minute. A rank that is stopped, by a signal or in a
 * debugger, is alive: the others wait.
 *
 * mpirun, and srun --kill-on-bad-exit=1, end all ranks themselves, and know the signal. They have
 * some seconds. Then rank 0 prints one sentence and ends the run; or, where rank 0 has died, the
 * lowest rank that lives. For functions of the main thread, where nothing else is said. */
#pragma once

#include "comm.h"

/* What a rank other than rank 0 has failed with: the code of its exit, and its sentence. */
typedef struct lat_watch_failure {
    int code;
    char sentence[4096];
} lat_watch_failure;

/* Ends all ranks of the run with this code, without a word. */
typedef void lat_watch_abort(int code);

/* Begins to watch: all ranks call it, once. 0; or -1 with lat_error set. Ranks without a connection
 * are a warning: then the launcher alone can end them. */
int lat_watch_start(const lat_comm *comm, lat_watch_abort *abort);

/* On rank 0: what another rank has failed with, to the first caller, who ends the run by it; else
 * NULL. It comes .2 s late: what is under way arrives before, and rank 0 warns where all would.
 * What nobody takes within a second, the thread takes. Any thread may ask. */
const lat_watch_failure *lat_watch_failed(void);

/* On the others: tells rank 0. False without a connection. */
bool lat_watch_fail(const lat_watch_failure *f);

/* This rank has said why it fails, and ends: the others say nothing more. */
void lat_watch_quit(void);

/* This rank has done its work: its end is no death. */
void lat_watch_end(void);
