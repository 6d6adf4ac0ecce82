/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_internal.h: between start.c, comm_mpi.c, launch.c and
 * launch_rank0.c. */
#pragma once

#include "comm.h"

/* ---- comm_mpi.c ------------------------------------------------------------------------------ */

/* Initialises MPI and joins the other ranks; NULL with lat_error set. */
const lat_comm *lat_comm_mpi(void);

/* Options for the mpirun of this MPI; NULL at the end. */
extern const char *const lat_comm_mpi_options[];

/* ---- launch.c -------------------------------------------------------------------------------- */

/* Starts argv `ranks` times under mpirun, passes signals on, and exits as the ranks do. */
void lat_launch(int ranks, char **argv) __attribute__((noreturn));

/* ---- launch_output.c ------------------------------------------------------------------------- */

/* They read what mpirun has printed, and may cut it: the rank that a signal has ended, -1 if mpirun
 * does not say; what a rank has printed itself, because rank 0 could not, NULL: nothing; and the
 * first line that has letters. */
int lat_launch_killed(const char *output);
const char *lat_launch_said(char *output);
const char *lat_launch_first_line(char *output);

/* ---- launch_rank0.c -------------------------------------------------------------------------- */

#define LAT_LAUNCH_SOCKET "LAT_RANKS_SOCKET" /* its path, in the environment of the ranks */
#define LAT_LAUNCH_NAME "socket"
#define LAT_LAUNCH_PASSED 16 /* descriptors at most */

/* The numbers of the descriptors that rank 0 gets: 0 to 2, and those that arguments name. Returns
 * how many. */
int lat_launch_descriptors(char **argv, int fd[LAT_LAUNCH_PASSED]);

/* True in a rank that lat_launch has started. */
int lat_launched(void);

/* In such a rank, before MPI is initialised: reserves the numbers of the descriptors that will be
 * received. */
void lat_launch_reserve(char **argv);

/* In rank 0, after that: receives stdin, stdout, stderr and the descriptors that arguments name. */
int lat_launch_join(void);

/* In rank 0: tells the launcher how a sentence names a rank. */
void lat_launch_name(int rank, const char *who);

/* In rank 0, at exit: tells the launcher the exit code. */
void lat_launch_exit_code(int code);
