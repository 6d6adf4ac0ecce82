/* SPDX-License-Identifier: BSD-3-Clause */
/* run_folder.h: a folder in TMPDIR for one run of several ranks: the socket of rank 0, and what MPI
 * keeps there.
 *
 * Its name is TMPDIR/lat-ranks-HOST-XXXXXX, made by mkdtemp: nobody can have put anything there
 * before, and nobody else can later. While the process that has made it lives, it holds a lock
 * (flock) on the folder. A folder of ours of this host whose lock is free was left by a process
 * that was killed: the next run removes it. The sticky bit, which no other private folder has, says
 * that a folder of such a name is one of these. */
#pragma once

#include <limits.h>
#include <sys/un.h>

typedef struct lat_run_folder {
    char path[PATH_MAX]; /* "": there is none */
    int fd;
} lat_run_folder;

/* 0, or -1 with lat_error set. */
int lat_run_folder_make(lat_run_folder *f);

/* Removes the folder and all that is in it, and follows no link. */
void lat_run_folder_remove(lat_run_folder *f);

/* The address of the socket `name` in the folder that is open as fd. (It goes through /proc, as the
 * path of a folder may be longer than an address can be.) */
struct sockaddr_un lat_run_folder_address(int fd, const char *name);

/* Removes folders that processes have left that are dead. */
void lat_run_folders_clear(void);
