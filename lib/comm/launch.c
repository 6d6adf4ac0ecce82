/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c: -n N starts ranks under mpirun.
 *
 * mpirun starts the ranks and carries no data: it would forward stdin and stdout at 80 MB/s,
 * through a pseudo-terminal. Instead rank 0 receives this process' own stdin, stdout and stderr
 * over a Unix socket (SCM_RIGHTS): the same open files, of whatever kind. It also receives, under
 * their numbers, the descriptors that arguments name as /dev/fd/63, as shells do for <(...) and
 * >(...).
 *
 * What mpirun prints when a rank dies is a page. It goes to a pipe, and its first line is used only
 * where rank 0 could not report an exit code. mpirun is killed when this process dies.
 *
 * Signals: SIGTSTP stops the ranks and this process. SIGTERM, SIGINT, SIGHUP and SIGUSR2 end the
 * run; where rank 0 watches for them (common/stop.h), it is asked to save its state first, over the
 * socket.
 *
 * mpirun may kill ranks by SIGKILL. So rank 0 reports the names of its temporary files, and this
 * process removes them. The kernel sends rank 0 SIGTERM when this process closes the socket or
 * dies. */
#include "comm_internal.h"

#include <dirent.h>
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/program.h"
#include "run_folder.h"

#define RANK0 "rank0"   /* folder of the socket in that of the run, where mpirun deletes files */
#define MAX_OUTPUT 8192 /* bytes of what mpirun prints */
#define MAX_TEMPORARIES 64
#define TERM_TIMEOUT 5000  /* ms for mpirun to end after SIGTERM, */
#define EXIT_TIMEOUT 10000 /* and after the end of rank 0 */

typedef struct launch {
    int ranks;
    lat_run_folder folder;   /* of the socket, and of OpenMPI */
    int listen_fd, rank0_fd; /* sockets, or -1 */
    int output_fd;           /* pipe with the stdout and stderr of mpirun, or -1 */
    int passed[LAT_LAUNCH_PASSED], npassed;
    int signal_fd;
    pid_t mpirun;
    bool ended, exit_code_known; /* mpirun has ended; rank 0 has reported its exit code */
    int status, exit_code;
    int signal;                       /* that this process has received, and will die by; or 0 */
    bool watched;                     /* rank 0 saves its state when it is asked to stop */
    int asked;                        /* the signal by which it was asked, or 0, */
    time_t since;                     /* and when */
    char *temporary[MAX_TEMPORARIES]; /* of rank 0; a ring, the oldest are overwritten */
    unsigned ntemporaries;
    char *checkpoint; /* from which a run that is killed goes on, or NULL */
    char **name;      /* how a sentence names each rank; NULL until rank 0 has told */
    char output[MAX_OUTPUT];
    size_t noutput;
} launch;

/* ---- start ----------------------------------------------------------------------------------- */

static int create_socket(launch *l)
{
    char path[PATH_MAX + 16];
    if (lat_run_folder_make(&l->folder))
        return -1;
    snprintf(path, sizeof path, "%s/" RANK0 "/" LAT_LAUNCH_NAME, l->folder.path);
    const struct sockaddr_un address = lat_run_folder_address(l->folder.fd,
                                                              RANK0 "/" LAT_LAUNCH_NAME);
    l->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (l->listen_fd < 0 || mkdirat(l->folder.fd, RANK0, 0700)
        || bind(l->listen_fd, (const struct sockaddr *)&address, sizeof address)
        || listen(l->listen_fd, 1))
        return lat_fail("%s: no socket for rank 0: %s", path, strerror(errno));
    return setenv(LAT_LAUNCH_SOCKET, path, 1)
               ? lat_fail("out of memory: the environment of the ranks")
               : 0;
}

/* As soon as rank 0 has connected, in case that this process is killed: mpirun then removes the
 * folder of the run, if there is nothing in it. */
static void remove_socket(const launch *l)
{
    unlinkat(l->folder.fd, RANK0 "/" LAT_LAUNCH_NAME, 0);
    unlinkat(l->folder.fd, RANK0, AT_REMOVEDIR);
}

static void clean_up(launch *l)
{
    for (int i = 0; i < MAX_TEMPORARIES && l->temporary[i] && !l->exit_code_known; i++)
        unlink(l->temporary[i]);
    lat_run_folder_remove(&l->folder);
}

/* LAT_MPIRUN or mpirun with its options, -n N, this program and its arguments. NULL on failure. */
static char **mpirun_command(const launch *l, char **argv)
{
    static char self[PATH_MAX], count[16];
    const char *given = getenv("LAT_MPIRUN");
    char *text = strdup(given && *given ? given : "mpirun"), *at = NULL;
    size_t n = 0, most = text ? strlen(text) + 16 : 0;
    for (char **a = argv; *a; a++)
        most++;
    char **list = calloc(most, sizeof *list);
    if (!text || !list)
        return lat_fail_null("out of memory: the command line of the ranks");
    if (!lat_program_path(self))
        return lat_fail_null(
            "%d ranks: the file of this program cannot be found, to start it %d times (was it "
            "replaced, or started through the dynamic loader?)",
            l->ranks, l->ranks);
    snprintf(count, sizeof count, "%d", l->ranks);
    for (char *w = strtok_r(text, " ", &at); w; w = strtok_r(NULL, " ", &at))
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

/* Settings for OpenMPI; those that the user has made stay.
 *
 * PMIX_MCA_gds=hash: PMIx sends messages to the ranks and shares no memory with them. That memory
 * has a lock, and mpirun waited for ever for a rank that had died while it started.
 *
 * OMPI_MCA_orte_forward_job_control: SIGTSTP and SIGCONT to mpirun are for the ranks.
 *
 * HWLOC_COMPONENTS: mpirun asks no GPU what it is, which takes .6 s where there are some.
 *
 * Not with LAT_MPIRUN, nor in an allocation, where mpirun may start ranks on other hosts:
 *
 * OMPI_MCA_pml=ob1: no search for a network, which takes 0.2 s. (OMPI_MCA_btl is left alone: it
 * would replace Debian's list, which saves two seconds.)
 *
 * OMPI_MCA_orte_top_session_dir: a folder for each mpirun. Two stages of a pipe would share one,
 * and the one that ends would remove it while the other starts. It is the folder of the socket,
 * whose name nobody else can guess: mpirun deletes all files in it. */
static void set_mpi_environment(const launch *l)
{
    static const char *const elsewhere[] = {"LAT_MPIRUN", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
                                            "PE_HOSTFILE"};
    setenv("PMIX_MCA_gds", "hash", 0);
    setenv("OMPI_MCA_orte_forward_job_control", "1", 0);
    setenv("HWLOC_COMPONENTS", "-opencl,-cuda,-nvml,-rsmi,-levelzero,-gl", 0);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (getenv(elsewhere[i]))
            return;
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_orte_top_session_dir", l->folder.path, 0);
}

/* Closes all descriptors but the standard ones. */
static void close_all(void)
{
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        const long fd = strtol(e->d_name, NULL, 10);
        if (fd > STDERR_FILENO && fd != dirfd(d))
            close((int)fd);
    }
    if (d)
        closedir(d);
}

static void __attribute__((noreturn))
exec_mpirun(const launch *l, char **list, int output, pid_t parent)
{
    sigset_t none;
    const int null = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* the parent died before prctl */
        _exit(1);
    setpgid(0, 0); /* an interrupt of the terminal is for the parent, which passes it on */
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    set_mpi_environment(l);
    close_all();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(list[0], list);
    dprintf(STDERR_FILENO, "%s: cannot be started: %s\n", list[0], strerror(errno));
    _exit(127);
}

static int start(launch *l, char **argv)
{
    static const int watched[] = {SIGCHLD, SIGTERM, SIGINT,  SIGHUP,
                                  SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};
    int pipes[2];
    int named[LAT_LAUNCH_PASSED];
    const int n = lat_launch_descriptors(argv, named);
    sigset_t set;
    for (int i = 0; i < n; i++) /* before other descriptors take the numbers */
        if (i < 3 || fcntl(named[i], F_GETFD) >= 0)
            l->passed[l->npassed++] = named[i];
    char **list = mpirun_command(l, argv);
    const pid_t me = getpid();
    struct sigaction was;
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, waitpid has no status of mpirun */
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (sigaction(watched[i], NULL, &was) || was.sa_handler != SIG_IGN) /* nohup */
            sigaddset(&set, watched[i]);
    if (!list || create_socket(l))
        return -1;
    if (sigprocmask(SIG_BLOCK, &set, NULL) || (l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC)) < 0
        || pipe2(pipes, O_CLOEXEC))
        return lat_fail("no descriptors for %d ranks: %s", l->ranks, strerror(errno));
    l->output_fd = pipes[0];
    l->mpirun = fork();
    if (l->mpirun < 0)
        return lat_fail("%s: cannot be started: %s", list[0], strerror(errno));
    if (l->mpirun == 0)
        exec_mpirun(l, list, pipes[1], me);
    close(pipes[1]);
    return 0;
}

/* ---- while ranks run ------------------------------------------------------------------------- */

/* Passes the descriptors to rank 0, in a message of their numbers, and closes them here, so that a
 * pipe ends when rank 0 closes it. */
static void pass_descriptors(launch *l)
{
    const size_t bytes = (size_t)l->npassed * sizeof *l->passed;
    char control[CMSG_SPACE(LAT_LAUNCH_PASSED * sizeof(int))] = {0};
    struct iovec numbers = {l->passed, bytes};
    struct msghdr m = {.msg_iov = &numbers,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = CMSG_SPACE(bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(c), l->passed, bytes);
    l->rank0_fd = accept4(l->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (l->rank0_fd < 0 || sendmsg(l->rank0_fd, &m, MSG_NOSIGNAL) != (ssize_t)bytes) {
        lat_fail("stdin and stdout cannot be handed to rank 0: %s", strerror(errno));
        kill(l->mpirun, SIGTERM);
    }
    close(l->listen_fd);
    l->listen_fd = -1;
    remove_socket(l);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    for (int i = 3; i < l->npassed; i++)
        close(l->passed[i]);
}

static void read_output(launch *l)
{
    char more[4096];
    const ssize_t n = read(l->output_fd, more, sizeof more);
    if (n <= 0) {
        close(l->output_fd);
        l->output_fd = -1;
        return;
    }
    for (ssize_t i = 0; i < n && l->noutput < MAX_OUTPUT - 1; i++)
        l->output[l->noutput++] = more[i];
}

/* Asks rank 0 to save its state and to end, if it has said that it can. False if it is to be ended:
 * also for a second SIGINT, of somebody who does not want to wait. */
static bool ask_to_stop(launch *l, int sig)
{
    const char m[2] = {'S', (char)sig};
    if (!l->watched || l->rank0_fd < 0 || sig == SIGQUIT
        || (l->asked && sig == SIGINT && time(NULL) - l->since > 1))
        return false;
    if (l->asked)
        return true;
    l->asked = sig;
    l->since = time(NULL);
    return send(l->rank0_fd, m, sizeof m, MSG_NOSIGNAL) == sizeof m; /* it gets SIGTERM */
}

/* Ranks stop and go on with this process. */
static void stop_here(const launch *l)
{
    kill(l->mpirun, SIGTSTP);
    raise(SIGSTOP);
    kill(l->mpirun, SIGCONT);
}

static void handle_signal(launch *l)
{
    struct signalfd_siginfo s;
    if (read(l->signal_fd, &s, sizeof s) != (ssize_t)sizeof s)
        return;
    if (s.ssi_signo == SIGCHLD) {
        l->ended = l->ended || waitpid(l->mpirun, &l->status, WNOHANG) == l->mpirun;
    } else if (s.ssi_signo == SIGUSR1) {
        if (l->rank0_fd >= 0) /* all ranks handle the signal by now */
            kill(l->mpirun, SIGUSR1);
    } else if (s.ssi_signo == SIGTSTP) {
        stop_here(l);
    } else if (!ask_to_stop(l, (int)s.ssi_signo)) {
        l->signal = (int)s.ssi_signo;
        if (l->rank0_fd >= 0)
            shutdown(l->rank0_fd, SHUT_WR); /* it gets SIGTERM */
        kill(l->mpirun, SIGTERM);
    }
}

/* A checkpoint's temporary has the same name each time: it is recorded once. */
static void record_temporary(launch *l, const char *path)
{
    char **at = &l->temporary[l->ntemporaries % MAX_TEMPORARIES];
    for (int i = 0; i < MAX_TEMPORARIES && l->temporary[i]; i++)
        if (!strcmp(l->temporary[i], path))
            return;
    free(*at);
    l->ntemporaries += (*at = strdup(path)) != NULL;
}

static void record_checkpoint(launch *l, const char *path)
{
    free(l->checkpoint);
    l->checkpoint = *path ? strdup(path) : NULL;
}

/* "2 rank 2 of 4 (host n17, GPU 1 at 0000:3b:00)" */
static void record_name(launch *l, const char *text)
{
    char *end;
    const long rank = strtol(text, &end, 10);
    if (*end != ' ' || rank < 0 || rank >= l->ranks)
        return;
    free(l->name[rank]);
    l->name[rank] = strdup(end + 1);
}

/* From rank 0: "C" and its exit code, "F" and the name of a temporary, "K" and that of a
 * checkpoint, "N" and the name of a rank, or "W": from now on it watches for signals that ask it to
 * stop. False when rank 0 has closed the socket. */
static bool receive_message(launch *l)
{
    char m[PATH_MAX + 2];
    const ssize_t n = recv(l->rank0_fd, m, sizeof m - 1, 0);
    if (n == 2 && *m == 'C') {
        l->exit_code_known = true;
        l->exit_code = (unsigned char)m[1];
    } else if (n > 1 && *m == 'F') {
        m[n] = '\0';
        record_temporary(l, m + 1);
    } else if (n > 0 && *m == 'K') {
        m[n] = '\0';
        record_checkpoint(l, m + 1);
    } else if (n > 1 && *m == 'N') {
        m[n] = '\0';
        record_name(l, m + 1);
    } else if (n > 0 && *m == 'W') {
        l->watched = true;
    }
    if (n > 0)
        return true;
    close(l->rank0_fd);
    l->rank0_fd = -1;
    return false;
}

/* Until mpirun has ended and its output has been read. mpirun ends soon after rank 0; where it does
 * not, it is killed after a timeout. */
static void supervise(launch *l)
{
    int waited = 0;
    while (!l->ended && waited < (l->signal ? TERM_TIMEOUT : EXIT_TIMEOUT)) {
        struct pollfd p[] = {{l->signal_fd, POLLIN, 0},
                             {l->output_fd, POLLIN, 0},
                             {l->listen_fd, POLLIN, 0},
                             {l->rank0_fd, POLLIN, 0}};
        const int n = poll(p, 4, l->signal || (l->listen_fd < 0 && l->rank0_fd < 0) ? 100 : -1);
        waited += n == 0 ? 100 : 0;
        if (n > 0 && p[0].revents)
            handle_signal(l);
        if (n > 0 && p[1].revents)
            read_output(l);
        if (n > 0 && p[2].revents)
            pass_descriptors(l);
        if (n > 0 && p[3].revents)
            receive_message(l);
    }
    if (!l->ended) {
        kill(-l->mpirun, SIGKILL);
        waitpid(l->mpirun, &l->status, 0);
    }
    while (l->rank0_fd >= 0 && receive_message(l))
        ;
    for (struct pollfd p = {l->output_fd, POLLIN, 0}; l->output_fd >= 0 && poll(&p, 1, 0) > 0;)
        read_output(l);
}

/* ---- end ------------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) die_by_signal(int sig)
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

/* The status as a shell reports it: 128 plus the signal that has ended a rank, or mpirun. MPICH's
 * mpiexec exits with the number of the signal, and prints "(signal 9)". */
static int shell_status(launch *l)
{
    char text[24];
    if (WIFSIGNALED(l->status))
        return 128 + WTERMSIG(l->status);
    const int status = WEXITSTATUS(l->status);
    snprintf(text, sizeof text, "(signal %d)", status);
    l->output[l->noutput] = '\0';
    return strstr(l->output, text) ? 128 + status : status;
}

/* Rank 0 did not say why the ranks ended. */
static void describe_end(launch *l, int status)
{
    char left[PATH_MAX + 64] = "nothing was written", killed[256];
    const int rank = lat_launch_killed(l->output);
    const char *said = lat_launch_said(l->output);
    if (rank >= 0 && rank < l->ranks && l->name[rank])
        snprintf(killed, sizeof killed, "%s", l->name[rank]);
    else if (rank >= 0)
        snprintf(killed, sizeof killed, "rank %d of %d", rank, l->ranks);
    else
        snprintf(killed, sizeof killed, "one of %d ranks", l->ranks);
    if (l->checkpoint)
        snprintf(left, sizeof left, "the same command with --resume %s goes on", l->checkpoint);
    if (said)
        lat_fail("%s", said);
    else if (WIFSIGNALED(l->status))
        lat_fail("mpirun, which runs %d ranks, was ended by signal %d (%s); %s", l->ranks,
                 WTERMSIG(l->status), strsignal(WTERMSIG(l->status)), left);
    else if (status > 128 && status < 128 + NSIG)
        lat_fail("%s was ended by signal %d (%s); %s", killed, status - 128,
                 strsignal(status - 128), left);
    else if (l->listen_fd < 0) /* rank 0 was there */
        lat_fail("mpirun has ended %d ranks before they were done, with status %d (was it asked "
                 "to, by SIGTERM?); %s%s%.400s",
                 l->ranks, status, left, l->noutput ? ": " : "",
                 l->noutput ? lat_launch_first_line(l->output) : "");
    else
        lat_fail("%d ranks ended with status %d before they had done anything: %.400s", l->ranks,
                 status, lat_launch_first_line(l->output));
}

static void __attribute__((noreturn)) exit_as_ranks(launch *l)
{
    const int status = shell_status(l);
    clean_up(l);
    if (l->signal)
        die_by_signal(l->signal);
    if (l->exit_code_known && l->asked && l->exit_code == 128 + l->asked)
        die_by_signal(l->asked);
    if (l->exit_code_known)
        exit(l->exit_code);
    if (status == 128 + SIGPIPE)
        die_by_signal(SIGPIPE);
    if (!*lat_error())
        describe_end(l, status);
    exit(lat_report(LAT_FAILED));
}

void lat_launch(int ranks, char **argv)
{
    launch l = {.ranks = ranks, .listen_fd = -1, .rank0_fd = -1, .output_fd = -1};
    l.name = lat_alloc_zero((size_t)ranks, sizeof *l.name, "names of ranks");
    if (!l.name || start(&l, argv)) {
        clean_up(&l);
        exit(lat_report(LAT_FAILED));
    }
    lat_run_folders_clear(); /* while mpirun starts */
    supervise(&l);
    exit_as_ranks(&l);
}
