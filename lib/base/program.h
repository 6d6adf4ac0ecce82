/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h: the file of the running program, for what starts it once more. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Writes the absolute path of the running program's file. A process that is started by this path,
 * rather than as /proc/self/exe, has the program's name in ps, top and /proc/PID/comm.
 *
 * Returns false where no path leads to this program:
 *   - the dynamic loader was started with this program as its argument (ld.so lat-theta ...): the
 *     kernel knows the loader alone; a program that is linked statically looks the same from
 * within;
 *   - the file was removed or replaced after this process had started;
 *   - the file is outside of this process' root folder. */
bool lat_program_path(char path[PATH_MAX]);
