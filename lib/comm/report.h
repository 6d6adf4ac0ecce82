/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h: what rank 0 tells the process that has started the ranks, beside what comm.h has. */
#pragma once

/* A run that is killed goes on from this checkpoint; "": from none. NULL where there is no
 * launcher. */
extern void (*lat_comm_report_checkpoint)(const char *path);
