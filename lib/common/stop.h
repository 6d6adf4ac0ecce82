/* SPDX-License-Identifier: BSD-3-Clause */
/* stop.h: a run that is asked to stop saves its state first.
 *
 * Without lat_stop_watch a signal that ends a process removes its temporaries (io.h), and the
 * process dies of it. After lat_stop_watch SIGTERM, SIGINT, SIGHUP, SIGUSR2, SIGXCPU and SIGPIPE
 * are kept. The run calls lat_stop_asked now and then, saves its state, and ends by lat_stop_exit.
 * A second SIGINT, a second or more later, ends the process at once.
 *
 * A process that waits for a pipe does not wait any longer then: lat_input_read and
 * lat_output_write fail, with a sentence of which the run does not speak if lat_stop_asked says
 * why. */
#pragma once

#include <stdbool.h>
#include "comm/comm.h"

/* Begins to watch. A signal that is ignored (nohup) stays ignored. */
void lat_stop_watch(void);

/* The signal by which this process was asked to stop, or 0. */
int lat_stop_asked(void);

/* True after lat_stop_watch. */
bool lat_stop_watched(void);

/* While it is held, the process waits for pipes as usual: where several ranks read, and a failure
 * of one of them would end them all. */
void lat_stop_hold(bool on);

/* Waits until fd can be read (or written). False if the process was asked to stop, and therefore
 * does not read, or would have to wait before it can write. */
bool lat_stop_wait(int fd, bool writing);

/* The same for another reason than a signal: that the descriptor `event` can be read; -1: never. */
bool lat_stop_wait_for(int fd, bool writing, int event);

/* "SIGTERM". */
const char *lat_stop_name(int signal);

/* Ends this process by the signal, as a shell expects it; with several ranks each one calls it, and
 * exits with 128 + signal. The caller has removed or committed its outputs. */
void lat_stop_exit(const lat_comm *comm, int signal) __attribute__((noreturn));
