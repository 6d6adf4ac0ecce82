/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c: the file of the running program. */
#include "program.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

/* The kernel maps an interpreter (the dynamic loader) for a program that asks for one. Where there
 * is none, the program that the kernel has started may be the loader itself. */
static bool started_by_kernel(void) { return getauxval(AT_BASE) != 0; }

bool lat_program_path(char path[PATH_MAX])
{
    struct stat running, there;
    const ssize_t n = readlink(SELF, path, PATH_MAX);
    if (!started_by_kernel() || n <= 0 || n >= PATH_MAX)
        return false;
    path[n] = '\0';
    /* A file that was removed reads "PATH (deleted)"; one renamed over has another inode. */
    return stat(SELF, &running) == 0 && stat(path, &there) == 0 && running.st_dev == there.st_dev
           && running.st_ino == there.st_ino;
}
