/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_rank0.c: the side of rank 0 of launch.c: takes over the descriptors of the process that
 * has started the ranks, and tells it about files and the exit code. */
#include "comm_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/error.h"
#include "report.h"
#include "run_folder.h"

int lat_launch_descriptors(char **argv, int fd[LAT_LAUNCH_PASSED])
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    int n = 3;
    for (int i = 0; i < n; i++)
        fd[i] = i;
    for (char **a = argv; *a; a++)
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            const char *name = strstr(*a, folders[i]);
            const long number = name ? strtol(name + strlen(folders[i]), NULL, 10) : 0;
            if (n < LAT_LAUNCH_PASSED && number > 2 && number < 1024)
                fd[n++] = (int)number;
        }
    return n;
}

static int launcher = -1; /* socket */

int lat_launched(void) { return getenv(LAT_LAUNCH_SOCKET) != NULL; }

static int reserved[LAT_LAUNCH_PASSED], nreserved;

/* Opens /dev/null under the numbers, so that MPI does not use them. */
void lat_launch_reserve(char **argv)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    nreserved = lat_launch_descriptors(argv, reserved);
    for (int i = 3; i < nreserved; i++)
        if (reserved[i] != null)
            dup3(null, reserved[i], O_CLOEXEC);
}

/* Closes reserved numbers for which no descriptor was received. */
static void close_unused(const int number[], int n)
{
    for (int i = 3; i < nreserved; i++) {
        bool handed = false;
        for (int k = 3; k < n; k++)
            handed = handed || number[k] == reserved[i];
        if (!handed)
            close(reserved[i]);
    }
}

/* Receives descriptors, and the numbers that they are to have here. Returns how many, or -1. */
static int receive_descriptors(int fd[LAT_LAUNCH_PASSED], int number[LAT_LAUNCH_PASSED])
{
    char control[CMSG_SPACE(LAT_LAUNCH_PASSED * sizeof(int))];
    struct iovec numbers = {number, LAT_LAUNCH_PASSED * sizeof *number};
    struct msghdr m = {.msg_iov = &numbers,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    const ssize_t bytes = recvmsg(launcher, &m, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = bytes > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN((size_t)bytes))
        return -1;
    memcpy(fd, CMSG_DATA(c), (size_t)bytes);
    return (int)((size_t)bytes / sizeof *fd);
}

static void report_name(char what, const char *path)
{
    char m[PATH_MAX + 2];
    const int n = snprintf(m, sizeof m, "%c%s", what, path);
    if (launcher >= 0 && n > 0 && (size_t)n < sizeof m)
        (void)!send(launcher, m, (size_t)n, MSG_NOSIGNAL);
}

static void report_temporary(const char *path) { report_name('F', path); }
static void report_checkpoint(const char *path) { report_name('K', path); }

static void report_watch(void)
{
    if (launcher >= 0)
        (void)!send(launcher, "W", 1, MSG_NOSIGNAL);
}

/* SIGTERM has come: which signal has the launcher received? 0: none. */
static int stop_signal(void)
{
    char m[2];
    return launcher >= 0 && recv(launcher, m, sizeof m, MSG_DONTWAIT) == sizeof m && *m == 'S'
               ? m[1]
               : 0;
}

/* path = the folder that it is in. */
static void parent(char *path)
{
    char *const end = strrchr(path, '/');
    if (end)
        *end = '\0';
}

/* 0, or -1 with errno. The folder of the run may be OpenMPI's, and then is not empty. */
static int connect_to_launcher(const char *path)
{
    char folder[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s", path);
    parent(folder);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct sockaddr_un a = lat_run_folder_address(fd, LAT_LAUNCH_NAME);
    launcher = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const int rc = fd < 0 || launcher < 0 ? -1 : connect(launcher, (const void *)&a, sizeof a);
    const int why = errno;
    if (fd >= 0)
        close(fd);
    if (rc == 0) { /* in case the launcher is killed */
        unlink(path);
        rmdir(folder);
        parent(folder);
        rmdir(folder);
    }
    errno = why;
    return rc;
}

int lat_launch_join(void)
{
    const char *path = getenv(LAT_LAUNCH_SOCKET);
    int fd[LAT_LAUNCH_PASSED], number[LAT_LAUNCH_PASSED], n = -1;
    if (!path)
        return 0;
    if (connect_to_launcher(path) || (n = receive_descriptors(fd, number)) < 0)
        return lat_fail("%s: rank 0 cannot reach the process that has started it: %s (is it on "
                        "another host? start mpirun yourself)",
                        path, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (dup2(fd[i], number[i]) < 0)
            return lat_fail("stdin and stdout of rank 0 cannot be taken over: %s", strerror(errno));
        close(fd[i]);
    }
    close_unused(number, n);
    /* The end of the launcher is SIGTERM for this process. */
    if (fcntl(launcher, F_SETOWN, getpid()) < 0 || fcntl(launcher, F_SETSIG, SIGTERM) < 0
        || fcntl(launcher, F_SETFL, O_ASYNC) < 0)
        return lat_fail("rank 0 cannot watch the process that has started it: %s", strerror(errno));
    lat_comm_report_temporary = report_temporary;
    lat_comm_report_checkpoint = report_checkpoint;
    lat_comm_report_watch = report_watch;
    lat_comm_stop_signal = stop_signal;
    return 0;
}

void lat_launch_name(int rank, const char *who)
{
    char text[PATH_MAX];
    snprintf(text, sizeof text, "%d %s", rank, who);
    report_name('N', text);
}

void lat_launch_exit_code(int code)
{
    const char m[2] = {'C', (char)code};
    if (launcher < 0)
        return;
    fcntl(launcher, F_SETFL, 0); /* no SIGTERM any more */
    (void)!send(launcher, m, sizeof m, MSG_NOSIGNAL);
    close(launcher);
    launcher = -1;
}
