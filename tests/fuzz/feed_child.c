/* SPDX-License-Identifier: BSD-3-Clause */
/* feed_child.c: feeding in a process of its own (feed.h). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "feed.h"

int feed_child(const char *name, const unsigned char *bytes, size_t n)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
        const bool options = strcmp(name, "options") == 0;
        alarm(60);
        dup2(quiet, STDOUT_FILENO);
        if (options)
            dup2(quiet, STDERR_FILENO);
        const int code = feed(name, bytes, n) ? FEED_TAKEN : FEED_REFUSED;
        if (options)
            _exit(code); /* what its exit() has left is no leak */
        exit(code);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)
        || WEXITSTATUS(status) > FEED_REFUSED)
        return FEED_BROKEN;
    return WEXITSTATUS(status);
}
