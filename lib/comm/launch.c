/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c: -n N. mpirun starts the ranks and carries no data: rank 0 is handed this process' own
 * stdin, stdout and stderr over a Unix socket (SCM_RIGHTS), the same open files, whatever they are;
 * and under their numbers those that an argument names as /dev/fd/63, as shells do of <(...) and
 * >(...).
 *
 * mpirun forwards stdin and stdout at 80 MB/s, through a pseudo-terminal, and what it has to say on
 * stderr when a rank dies is a page: so its stdin is /dev/null, and what it prints is kept and used
 * only if rank 0 could not say itself how it ended. It is killed when this process dies, however
 * that happens.
 *
 * mpirun may kill ranks without a chance to clean up: so rank 0 says which temporary files it has,
 * and is sent SIGTERM by the kernel when its launcher closes the socket or dies. */
#include "comm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/error.h"
#include "base/program.h"

#define SOCKET "LAT_RANKS_SOCKET" /* in the environment of the ranks */
#define WORDS 8192
#define NOTES 64            /* files that rank 0 has made */
#define HANDED 16           /* descriptors, stdin, stdout and stderr among them */
#define PATIENCE 5000       /* ms for mpirun to end when it was told to, */
#define LONG_PATIENCE 10000 /* and when rank 0 has gone */

typedef struct launch {
    int ranks;
    char folder[64];
    struct sockaddr_un address;
    int listening, rank0; /* sockets */
    int words;            /* what mpirun and ranks print, by accident */
    int handed[HANDED], nhanded;
    int signals;
    pid_t mpirun;
    bool ended, told; /* mpirun has; rank 0 has said its exit code */
    int status, code;
    int signal;        /* that is to end us */
    char *note[NOTES]; /* the last ones */
    unsigned notes;
    char said[WORDS];
    size_t nsaid;
} launch;

/* ---- before ---------------------------------------------------------------------------------- */

/* Numbers of descriptors: 0 to 2, and those that the arguments name. How many. */
static int descriptors(char **argv, int fd[HANDED])
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    int n = 3;
    for (int i = 0; i < n; i++)
        fd[i] = i;
    for (char **a = argv; *a; a++)
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            const char *name = strstr(*a, folders[i]);
            const long number = name ? strtol(name + strlen(folders[i]), NULL, 10) : 0;
            if (n < HANDED && number > 2 && number < 1024)
                fd[n++] = (int)number;
        }
    return n;
}

static int open_socket(launch *l)
{
    const char *tmp = getenv("TMPDIR");
    if (!tmp || !*tmp || strlen(tmp) > 40) /* a socket's name is short */
        tmp = "/tmp";
    snprintf(l->folder, sizeof l->folder, "%.40s/lat-XXXXXX", tmp);
    if (!mkdtemp(l->folder)) {
        *l->folder = '\0';
        return lat_fail("no folder for a socket in %s: %s", tmp, strerror(errno));
    }
    l->address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(l->address.sun_path, sizeof l->address.sun_path, "%s/rank0", l->folder);
    l->listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (l->listening < 0 || bind(l->listening, (struct sockaddr *)&l->address, sizeof l->address)
        || listen(l->listening, 1))
        return lat_fail("%s: no socket for rank 0: %s", l->address.sun_path, strerror(errno));
    return setenv(SOCKET, l->address.sun_path, 1)
               ? lat_fail("out of memory: the environment of the ranks")
               : 0;
}

/* Nobody else is to come. */
static void close_socket(launch *l)
{
    if (!*l->folder)
        return;
    unlink(l->address.sun_path);
    rmdir(l->folder);
    *l->folder = '\0';
}

static void clean_up(launch *l)
{
    for (int i = 0; i < NOTES && l->note[i] && !l->told; i++)
        unlink(l->note[i]);
    close_socket(l);
}

/* The words of LAT_MPIRUN, its options, -n N, this program and its arguments. */
static char **command(const launch *l, char **argv)
{
    static char self[PATH_MAX], count[16];
    const char *given = getenv("LAT_MPIRUN");
    char *words = strdup(given && *given ? given : "mpirun"), *at = NULL;
    size_t n = 0, most = words ? strlen(words) + 16 : 0;
    for (char **a = argv; *a; a++)
        most++;
    char **list = calloc(most, sizeof *list);
    if (!words || !list) {
        lat_fail("out of memory: the command line of the ranks");
        return NULL;
    }
    if (!lat_program_path(self)) {
        lat_fail("%d ranks: the file of this program cannot be found, to start it %d times (was it "
                 "replaced, or started through the dynamic loader?)",
                 l->ranks, l->ranks);
        return NULL;
    }
    snprintf(count, sizeof count, "%d", l->ranks);
    for (char *w = strtok_r(words, " ", &at); w; w = strtok_r(NULL, " ", &at))
        list[n++] = w;
    for (size_t i = 0; !given && lat_comm_mpi_options[i]; i++)
        list[n++] = (char *)lat_comm_mpi_options[i];
    list[n++] = (char *)"-n";
    list[n++] = count;
    list[n++] = self;
    for (char **a = argv + 1; *a; a++)
        list[n++] = *a;
    return list;
}

/* For OpenMPI. Memory that PMIx shares with the ranks has a lock, and mpirun has waited for ever
 * for one that died while it started: messages instead. Ranks of this host need no network, and it
 * asks for one while they start: 0.2 s. (Of `btl` nothing is said: Debian's own list, which that
 * would replace, saves two seconds.) And a folder of its own for each mpirun: of two that share
 * one, as stages of a pipe would, the one that ends takes it away while the other begins. In an
 * allocation mpirun may go to other hosts; and who has chosen is heard. */
static void stay_here(void)
{
    static const char *const others[] = {"LAT_MPIRUN", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
                                         "PE_HOSTFILE"};
    const char *tmp = getenv("TMPDIR");
    char folder[4096];
    setenv("PMIX_MCA_gds", "hash", 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (getenv(others[i]))
            return;
    setenv("OMPI_MCA_pml", "ob1", 0);
    const int n = snprintf(folder, sizeof folder, "%s/ompi.lat.%ld", tmp && *tmp ? tmp : "/tmp",
                           (long)getpid());
    if (n > 0 && (size_t)n < sizeof folder)
        setenv("OMPI_MCA_orte_top_session_dir", folder, 0);
}

static void __attribute__((noreturn)) become(char **list, int words, pid_t parent)
{
    sigset_t none;
    const int nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it was quicker */
        _exit(1);
    setpgid(0, 0); /* an interrupt from the terminal reaches it through us, once */
    dup2(nothing, STDIN_FILENO);
    dup2(words, STDOUT_FILENO);
    dup2(words, STDERR_FILENO);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    stay_here();
    execvp(list[0], list);
    dprintf(STDERR_FILENO, "%s: cannot be started: %s\n", list[0], strerror(errno));
    _exit(127);
}

static int start(launch *l, char **argv)
{
    static const int watched[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1};
    int pipes[2];
    int named[HANDED];
    const int n = descriptors(argv, named);
    sigset_t set;
    for (int i = 0; i < n; i++) /* before there are others */
        if (i < 3 || fcntl(named[i], F_GETFD) >= 0)
            l->handed[l->nhanded++] = named[i];
    char **list = command(l, argv);
    const pid_t me = getpid();
    struct sigaction was;
    signal(SIGCHLD, SIG_DFL); /* where it is ignored nobody would say that mpirun has ended */
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (sigaction(watched[i], NULL, &was)
            || was.sa_handler != SIG_IGN) /* nohup holds for us, too */
            sigaddset(&set, watched[i]);
    if (!list || open_socket(l))
        return -1;
    if (sigprocmask(SIG_BLOCK, &set, NULL) || (l->signals = signalfd(-1, &set, SFD_CLOEXEC)) < 0
        || pipe2(pipes, O_CLOEXEC))
        return lat_fail("no descriptors for %d ranks: %s", l->ranks, strerror(errno));
    l->words = pipes[0];
    l->mpirun = fork();
    if (l->mpirun < 0)
        return lat_fail("%s: cannot be started: %s", list[0], strerror(errno));
    if (l->mpirun == 0)
        become(list, pipes[1], me);
    close(pipes[1]);
    return 0;
}

/* ---- meanwhile ------------------------------------------------------------------------------- */

/* stdin, stdout, stderr and what has a name to rank 0; ours go, so that the ends of pipes are seen
 * where they should be. The message is their numbers. */
static void hand_over(launch *l)
{
    const size_t bytes = (size_t)l->nhanded * sizeof *l->handed;
    char room[CMSG_SPACE(HANDED * sizeof(int))] = {0};
    struct iovec numbers = {l->handed, bytes};
    struct msghdr m = {.msg_iov = &numbers,
                       .msg_iovlen = 1,
                       .msg_control = room,
                       .msg_controllen = CMSG_SPACE(bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(c), l->handed, bytes);
    l->rank0 = accept4(l->listening, NULL, NULL, SOCK_CLOEXEC);
    if (l->rank0 < 0 || sendmsg(l->rank0, &m, MSG_NOSIGNAL) != (ssize_t)bytes) {
        lat_fail("stdin and stdout cannot be handed to rank 0: %s", strerror(errno));
        kill(l->mpirun, SIGTERM);
    }
    close(l->listening);
    l->listening = -1;
    close_socket(l); /* now, while we are sure to live */
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    for (int i = 3; i < l->nhanded; i++)
        close(l->handed[i]);
}

static void keep_words(launch *l)
{
    char more[4096];
    const ssize_t n = read(l->words, more, sizeof more);
    if (n <= 0) {
        close(l->words);
        l->words = -1;
        return;
    }
    for (ssize_t i = 0; i < n && l->nsaid < WORDS - 1; i++)
        l->said[l->nsaid++] = more[i];
}

static void take_signal(launch *l)
{
    struct signalfd_siginfo s;
    if (read(l->signals, &s, sizeof s) != (ssize_t)sizeof s)
        return;
    if (s.ssi_signo == SIGCHLD) {
        l->ended = l->ended || waitpid(l->mpirun, &l->status, WNOHANG) == l->mpirun;
    } else if (s.ssi_signo == SIGUSR1) {
        if (l->rank0 >= 0) /* all ranks are there, and it does not kill them any more */
            kill(l->mpirun, SIGUSR1);
    } else {
        l->signal = (int)s.ssi_signo;
        if (l->rank0 >= 0)
            shutdown(l->rank0, SHUT_WR); /* it gets SIGTERM */
        kill(l->mpirun, SIGTERM);
    }
}

/* A checkpoint's temporary comes under one name again and again; of many names the last ones count.
 */
static void keep_note(launch *l, const char *path)
{
    char **at = &l->note[l->notes % NOTES];
    for (int i = 0; i < NOTES && l->note[i]; i++)
        if (!strcmp(l->note[i], path))
            return;
    free(*at);
    l->notes += (*at = strdup(path)) != NULL;
}

/* From rank 0: "C" and its exit code, or "F" and a file; false at the end. */
static bool take_message(launch *l)
{
    char m[PATH_MAX + 2];
    const ssize_t n = recv(l->rank0, m, sizeof m - 1, 0);
    if (n == 2 && *m == 'C') {
        l->told = true;
        l->code = (unsigned char)m[1];
    } else if (n > 1 && *m == 'F') {
        m[n] = '\0';
        keep_note(l, m + 1);
    }
    if (n > 0)
        return true;
    close(l->rank0);
    l->rank0 = -1;
    return false;
}

/* Until mpirun has ended, as it does soon after rank 0 (but for its mistakes), and all that was
 * said is here. */
static void attend(launch *l)
{
    int late = 0;
    while (!l->ended && late < (l->signal ? PATIENCE : LONG_PATIENCE)) {
        struct pollfd p[] = {{l->signals, POLLIN, 0},
                             {l->words, POLLIN, 0},
                             {l->listening, POLLIN, 0},
                             {l->rank0, POLLIN, 0}};
        const int n = poll(p, 4, l->signal || (l->listening < 0 && l->rank0 < 0) ? 100 : -1);
        late += n == 0 ? 100 : 0;
        if (n > 0 && p[0].revents)
            take_signal(l);
        if (n > 0 && p[1].revents)
            keep_words(l);
        if (n > 0 && p[2].revents)
            hand_over(l);
        if (n > 0 && p[3].revents)
            take_message(l);
    }
    if (!l->ended) {
        kill(-l->mpirun, SIGKILL);
        waitpid(l->mpirun, &l->status, 0);
    }
    while (l->rank0 >= 0 && take_message(l))
        ;
    for (struct pollfd p = {l->words, POLLIN, 0}; l->words >= 0 && poll(&p, 1, 0) > 0;)
        keep_words(l);
}

/* ---- after ----------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) die_of(int sig)
{
    sigset_t it;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(sig, &usual, NULL);
    sigemptyset(&it);
    sigaddset(&it, sig);
    sigprocmask(SIG_UNBLOCK, &it, NULL);
    raise(sig);
    _exit(128 + sig);
}

/* Of what mpirun printed, the first line that is more than a rule. */
static const char *first_words(launch *l)
{
    char *at = NULL;
    l->said[l->nsaid] = '\0';
    for (char *line = strtok_r(l->said, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
        if (line[strspn(line, "- \t*=")])
            return line + strspn(line, " \t");
    return "nothing said";
}

/* As a shell has it: 128 and the signal that has ended a rank, or mpirun. MPICH's mpiexec exits
 * with the bare number, and prints "(signal 9)". */
static int shell_status(launch *l)
{
    char words[24];
    if (WIFSIGNALED(l->status))
        return 128 + WTERMSIG(l->status);
    const int status = WEXITSTATUS(l->status);
    snprintf(words, sizeof words, "(signal %d)", status);
    l->said[l->nsaid] = '\0';
    return strstr(l->said, words) ? 128 + status : status;
}

static void __attribute__((noreturn)) conclude(launch *l)
{
    const int status = shell_status(l);
    clean_up(l);
    if (l->signal)
        die_of(l->signal);
    if (l->told)
        exit(l->code);
    if (status == 128 + SIGPIPE)
        die_of(SIGPIPE);
    if (*lat_error()) /* why we have given up */
        exit(lat_report(LAT_FAILED));
    if (status > 128 && status < 128 + NSIG)
        lat_fail("one of %d ranks was ended by signal %d (%s); nothing was written", l->ranks,
                 status - 128, strsignal(status - 128));
    else
        lat_fail("%d ranks ended with status %d before they had done anything: %.400s", l->ranks,
                 status, first_words(l));
    exit(lat_report(LAT_FAILED));
}

void lat_launch(int ranks, char **argv)
{
    launch l = {.ranks = ranks, .listening = -1, .rank0 = -1, .words = -1};
    if (start(&l, argv)) {
        clean_up(&l);
        exit(lat_report(LAT_FAILED));
    }
    attend(&l);
    conclude(&l);
}

/* ---- in rank 0 ------------------------------------------------------------------------------- */

static int launcher = -1; /* the socket */

int lat_launched(void) { return getenv(SOCKET) != NULL; }

static int reserved[HANDED], nreserved;

/* Keeps the numbers that will be handed over from what MPI opens. */
void lat_launch_reserve(char **argv)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    nreserved = descriptors(argv, reserved);
    for (int i = 3; i < nreserved; i++)
        if (reserved[i] != nothing)
            dup3(nothing, reserved[i], O_CLOEXEC);
}

/* Those that the launcher does not have either. */
static void release(const int number[], int n)
{
    for (int i = 3; i < nreserved; i++) {
        bool handed = false;
        for (int k = 3; k < n; k++)
            handed = handed || number[k] == reserved[i];
        if (!handed)
            close(reserved[i]);
    }
}

/* Descriptors, and the numbers that they shall have; how many, or -1. */
static int receive(int fd[HANDED], int number[HANDED])
{
    char room[CMSG_SPACE(HANDED * sizeof(int))];
    struct iovec numbers = {number, HANDED * sizeof *number};
    struct msghdr m = {
        .msg_iov = &numbers, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    const ssize_t bytes = recvmsg(launcher, &m, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = bytes > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN((size_t)bytes))
        return -1;
    memcpy(fd, CMSG_DATA(c), (size_t)bytes);
    return (int)((size_t)bytes / sizeof *fd);
}

static void note(const char *path)
{
    char m[PATH_MAX + 2];
    const int n = snprintf(m, sizeof m, "F%s", path);
    if (launcher >= 0 && n > 0 && (size_t)n < sizeof m)
        (void)!send(launcher, m, (size_t)n, MSG_NOSIGNAL);
}

int lat_launch_join(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *path = getenv(SOCKET);
    int fd[HANDED], number[HANDED], n = -1;
    if (!path)
        return 0;
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    launcher = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (launcher < 0 || connect(launcher, (struct sockaddr *)&a, sizeof a)
        || (n = receive(fd, number)) < 0)
        return lat_fail("%s: rank 0 cannot reach the process that has started it: %s (is it on "
                        "another host? start mpirun yourself)",
                        path, strerror(errno));
    unlink(path); /* in case the launcher is killed */
    *strrchr(a.sun_path, '/') = '\0';
    rmdir(a.sun_path);
    for (int i = 0; i < n; i++) {
        if (dup2(fd[i], number[i]) < 0)
            return lat_fail("stdin and stdout of rank 0 cannot be taken over: %s", strerror(errno));
        close(fd[i]);
    }
    release(number, n);
    /* From now on the launcher's end is ours. */
    if (fcntl(launcher, F_SETOWN, getpid()) < 0 || fcntl(launcher, F_SETSIG, SIGTERM) < 0
        || fcntl(launcher, F_SETFL, O_ASYNC) < 0)
        return lat_fail("rank 0 cannot watch the process that has started it: %s", strerror(errno));
    lat_comm_note = note;
    return 0;
}

void lat_launch_exit_code(int code)
{
    const char m[2] = {'C', (char)code};
    if (launcher < 0)
        return;
    fcntl(launcher, F_SETFL, 0); /* the launcher may go */
    (void)!send(launcher, m, sizeof m, MSG_NOSIGNAL);
    close(launcher);
    launcher = -1;
}
