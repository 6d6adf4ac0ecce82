/* SPDX-License-Identifier: BSD-3-Clause */
/* io.c: buffered descriptors, temporaries, and their removal whatever happens. */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/comm.h"
#include "error.h"

#define BUFFER ((size_t)1 << 20)
#define PEEK ((size_t)1 << 16)
#define SEND ((size_t)1 << 24) /* bytes that the disk is given at a time: at the end fsync has little to wait for */
#define ONCE ((size_t)1 << 30) /* Linux moves at most 2 GiB - 4 KiB a call */

/* Rank 0 has the files. */
static bool elsewhere(void)
{
    return lat_comm_world->rank != 0;
}

/* ---- descriptors ------------------------------------------------------------------------- */

void lat_io_guard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0) {
            /* The wrong way round: reading this stdin or writing this stdout stays an error. */
            int got = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);

            if (got >= 0 && got != fd)
                close(got);
        }
}

/* The descriptor, or a copy of it above stderr, where printf and friends cannot find it. */
static int above_standard(int fd)
{
    int high, saved;

    if (fd < 0 || fd > 2)
        return fd;
    high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    saved = errno;
    close(fd);
    errno = saved;
    return high;
}

static int open_file(const char *path, int flags, mode_t mode)
{
    int fd;

    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return above_standard(fd);
}

/* Whoever shares our pipe may have made it non-blocking; then we wait here. */
static bool try_again(int fd, short events)
{
    struct pollfd p = { .fd = fd, .events = events };

    if (errno == EINTR)
        return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return false;
    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

static ssize_t read_once(int fd, void *buf, size_t n)
{
    ssize_t got;

    do
        got = read(fd, buf, n < ONCE ? n : ONCE);
    while (got < 0 && try_again(fd, POLLIN));
    return got;
}

static int write_all(int fd, const unsigned char *p, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, p, n < ONCE ? n : ONCE);

        if (put < 0 && try_again(fd, POLLOUT))
            continue;
        if (put == 0)
            errno = ENOSPC; /* has no error of its own; going on would never end */
        if (put <= 0)
            return -1;
        p += put;
        n -= (size_t)put;
    }
    return 0;
}

/* Fewer switches between the tools of a pipe. Where it is not allowed, 64 KiB do too. */
static void widen_pipe(int fd)
{
    int size = fcntl(fd, F_GETPIPE_SZ);

    if (size >= 0 && size < (int)BUFFER)
        (void)fcntl(fd, F_SETPIPE_SZ, (int)BUFFER);
}

static bool is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/* True if fd is open, and not only for the other direction. */
static bool usable(int fd, int wrong)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != wrong;
}

/* ---- what is open ------------------------------------------------------------------------ */

typedef struct temporary temporary;

struct lat_input {
    lat_input *next;    /* of those open */
    int fd;
    bool standard;
    bool regular;
    struct stat file;
    bool ended;         /* read() has returned 0 */
    char *name;
    uint64_t offset;    /* bytes taken */
    int64_t size;
    off_t begin;        /* where we found a regular file */
    unsigned char *buf; /* BUFFER bytes, of which at..end are not taken yet */
    size_t at, end;
    void *attached;     /* of the layer above */
};

struct lat_output {
    lat_output *next;   /* of those open */
    int fd;
    bool standard;      /* stdout: not ours to close */
    bool regular;
    bool no_clobber;
    bool live;          /* written in place, to be watched */
    bool untouched;     /* live, and not one byte has gone to FILE yet */
    int failed;         /* errno of a write that failed: what follows is in vain */
    char *name;
    char *target;       /* where a file is to be, links resolved; NULL for stdout and devices */
    struct stat file;   /* what FILE is or was; st_mode is 0 if there was nothing */
    struct stat folder; /* of the target */
    bool hidden;        /* from everybody else, until it is whole and gets this mode */
    mode_t mode;
    temporary *temp;    /* NULL where bytes go directly to their place */
    unsigned char *buf; /* BUFFER bytes, `used` of them waiting */
    size_t used;
    uint64_t put, sent; /* bytes written, and those that are on their way to the disk */
    void *attached;     /* of the layer above */
};

/* Two outputs in one place, or an input in place of an output, would destroy each other under
 * whatever names they were given: so all that is open is in these lists. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static lat_input *inputs;
static lat_output *outputs;

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Length of the part of a path before the last name, the slash included. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (int)(slash - path) + 1 : 0;
}

/* True if bytes go to FILE itself and not to a temporary that takes its place. */
static bool in_place(const lat_output *out)
{
    return out->live || !out->target;
}

/* A terminal or /dev/null may be written twice. The second name of a file (a hard link) is
 * another place to rename something to, though one file to write in. */
static bool collide(const lat_output *a, const lat_output *b)
{
    if (a->standard && b->standard)
        return true;
    if (a->target && b->target && same_file(&a->folder, &b->folder) &&
        strcmp(a->target + folder_length(a->target), b->target + folder_length(b->target)) == 0)
        return true;
    return (in_place(a) || in_place(b)) && a->file.st_mode && !S_ISCHR(a->file.st_mode) &&
           same_file(&a->file, &b->file);
}

static bool overwrites(const lat_output *out, const lat_input *in)
{
    return in->regular && in_place(out) && same_file(&out->file, &in->file);
}

static int input_register(lat_input *in)
{
    int rc = 0;

    pthread_mutex_lock(&lists);
    for (const lat_output *out = outputs; out && rc == 0; out = out->next)
        if (overwrites(out, in))
            rc = lat_fail("%s: is the output as well", in->name);
    if (rc == 0) {
        in->next = inputs;
        inputs = in;
    }
    pthread_mutex_unlock(&lists);
    return rc;
}

static int output_collision(const lat_output *out)
{
    for (const lat_input *in = inputs; in; in = in->next)
        if (overwrites(out, in))
            return lat_fail("%s: is the output as well", in->name);
    for (const lat_output *other = outputs; other; other = other->next)
        if (collide(out, other) && strcmp(out->name, other->name) == 0)
            return lat_fail_usage("%s: cannot be two outputs of one run", out->name);
        else if (collide(out, other))
            return lat_fail_usage("%s: is the same output as %s", out->name, other->name);
    return 0;
}

/* The output is open by now, so that what its name stands for is known. */
static int output_register(lat_output *out)
{
    char folder[PATH_MAX];
    int rc;

    if (in_place(out) && fstat(out->fd, &out->file) < 0)
        return lat_fail("%s: cannot be examined: %s", out->name, strerror(errno));
    if (out->target) {
        snprintf(folder, sizeof folder, "%.*s", folder_length(out->target), out->target);
        if (stat(*folder ? folder : ".", &out->folder) < 0)
            return lat_fail("%s: its folder cannot be examined: %s", out->name, strerror(errno));
    }
    pthread_mutex_lock(&lists);
    rc = output_collision(out);
    if (rc == 0) {
        out->next = outputs;
        outputs = out;
    }
    pthread_mutex_unlock(&lists);
    return rc;
}

static void input_unregister(const lat_input *in)
{
    pthread_mutex_lock(&lists);
    for (lat_input **at = &inputs; *at; at = &(*at)->next)
        if (*at == in) {
            *at = in->next;
            break;
        }
    pthread_mutex_unlock(&lists);
}

static void output_unregister(const lat_output *out)
{
    pthread_mutex_lock(&lists);
    for (lat_output **at = &outputs; *at; at = &(*at)->next)
        if (*at == out) {
            *at = out->next;
            break;
        }
    pthread_mutex_unlock(&lists);
}

/* ---- input ------------------------------------------------------------------------------- */

static int input_descriptor(const char *path, bool standard)
{
    int fd;

    if (!standard) {
        fd = open_file(path, O_RDONLY, 0);
        return fd >= 0 ? fd : lat_fail("%s: cannot be opened: %s", path, strerror(errno));
    }
    if (!usable(STDIN_FILENO, O_WRONLY))
        return lat_fail("<stdin>: is closed");
    if (isatty(STDIN_FILENO))
        return lat_fail_usage("<stdin>: is a terminal (give a FILE, or pipe data in)");
    if (lat_comm_foreign)
        lat_warn("<stdin> comes through the launcher of the ranks, slowly: give -i FILE, or start with -n N instead");
    return STDIN_FILENO;
}

static int input_look(lat_input *in)
{
    const struct stat *st = &in->file;
    off_t here;

    if (fstat(in->fd, &in->file) < 0)
        return lat_fail("%s: cannot be examined: %s", in->name, strerror(errno));
    if (S_ISDIR(st->st_mode))
        return lat_fail("%s: expected a file, found a directory", in->name);
    in->size = -1;
    in->regular = S_ISREG(st->st_mode);
    if (in->regular) {
        here = lseek(in->fd, 0, SEEK_CUR);
        in->size = here >= 0 && here < st->st_size ? st->st_size - here : 0;
        in->begin = here;
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(st->st_mode))
        widen_pipe(in->fd);
    return input_register(in);
}

lat_input *lat_input_open(const char *path)
{
    lat_input *in = lat_alloc(1, sizeof *in, "an input");

    if (!in)
        return NULL;
    *in = (lat_input){ .fd = -1, .standard = is_standard(path), .size = -1 };
    if (!elsewhere() && (in->fd = input_descriptor(path, in->standard)) < 0)
        goto fail;
    in->name = strdup(in->standard ? "<stdin>" : path);
    in->buf = lat_alloc(BUFFER, 1, "an input buffer");
    if (!in->name || !in->buf) {
        lat_fail("out of memory: the name of an input");
        goto fail;
    }
    if (elsewhere() || input_look(in) == 0)
        return in;
fail:
    lat_input_close(in);
    return NULL;
}

void lat_input_close(lat_input *in)
{
    if (!in)
        return;
    input_unregister(in);
    if (in->fd >= 0 && !in->standard)
        close(in->fd);
    free(in->name);
    free(in->buf);
    free(in->attached);
    free(in);
}

static void *attach(void **at, size_t size, const char *name)
{
    if (!*at && !(*at = calloc(1, size)))
        lat_fail("%s: out of memory: %zu bytes", name, size);
    return *at;
}

void *lat_input_attach(lat_input *in, size_t size)
{
    return attach(&in->attached, size, in->name);
}

const char *lat_input_name(const lat_input *in)
{
    return in->name;
}

uint64_t lat_input_offset(const lat_input *in)
{
    return in->offset;
}

int64_t lat_input_size(const lat_input *in)
{
    return in->size;
}

/* Reads once into p; 0 at the end, -1 with a sentence. */
static ssize_t input_read(lat_input *in, void *p, size_t n)
{
    ssize_t got;

    if (in->ended || n == 0)
        return 0;
    got = read_once(in->fd, p, n);
    if (got < 0)
        return lat_fail("%s: cannot be read: %s", in->name, strerror(errno));
    in->ended = got == 0;
    return got;
}

/* Reads once into the buffer, which the caller knows to have room behind `end`. */
static ssize_t input_fill(lat_input *in)
{
    ssize_t got = input_read(in, in->buf + in->end, BUFFER - in->end);

    if (got > 0)
        in->end += (size_t)got;
    return got;
}

ssize_t lat_input_peek(lat_input *in, void *buf, size_t n)
{
    if (n > PEEK)
        n = PEEK;
    if (BUFFER - in->at < n) {
        memmove(in->buf, in->buf + in->at, in->end - in->at);
        in->end -= in->at;
        in->at = 0;
    }
    while (in->end - in->at < n && !in->ended)
        if (input_fill(in) < 0)
            return -1;
    if (in->end - in->at < n)
        n = in->end - in->at;
    memcpy(buf, in->buf + in->at, n);
    return (ssize_t)n;
}

/* Takes up to n bytes out of the buffer; buf may be NULL to forget them. */
static size_t input_take(lat_input *in, unsigned char *buf, size_t n)
{
    if (n > in->end - in->at)
        n = in->end - in->at;
    if (buf && n)
        memcpy(buf, in->buf + in->at, n);
    in->at += n;
    in->offset += n;
    if (in->at == in->end)
        in->at = in->end = 0;
    return n;
}

ssize_t lat_input_some(lat_input *in, void *buf, size_t n)
{
    ssize_t got;

    if (in->at < in->end || n == 0)
        return (ssize_t)input_take(in, buf, n);
    if (n < BUFFER) {
        got = input_fill(in);
        return got > 0 ? (ssize_t)input_take(in, buf, n) : got;
    }
    got = input_read(in, buf, n); /* a large block goes straight to where it belongs */
    if (got > 0)
        in->offset += (uint64_t)got;
    return got;
}

static int truncated(const lat_input *in)
{
    return lat_fail("%s: truncated after %llu bytes", in->name, (unsigned long long)in->offset);
}

int lat_input_read(lat_input *in, void *buf, size_t n)
{
    unsigned char *p = buf;

    while (n > 0) {
        ssize_t got = lat_input_some(in, p, n);

        if (got < 0)
            return -1;
        if (got == 0)
            return truncated(in);
        p += got;
        n -= (size_t)got;
    }
    return 0;
}

/* Steps over n bytes of a regular file, if it has them. */
static bool input_seek(lat_input *in, uint64_t n)
{
    struct stat st;
    off_t here;

    if (!in->regular || in->ended || fstat(in->fd, &st) < 0)
        return false;
    here = lseek(in->fd, 0, SEEK_CUR);
    if (here < 0 || here > st.st_size || n > (uint64_t)(st.st_size - here))
        return false;
    if (lseek(in->fd, (off_t)n, SEEK_CUR) < 0)
        return false;
    in->offset += n;
    return true;
}

int lat_input_skip(lat_input *in, uint64_t n)
{
    n -= input_take(in, NULL, n < BUFFER ? (size_t)n : BUFFER);
    if (n >= BUFFER && input_seek(in, n))
        return 0;
    while (n > 0) {
        ssize_t got = input_fill(in); /* the buffer is empty here */

        if (got < 0)
            return -1;
        if (got == 0)
            return truncated(in);
        n -= input_take(in, NULL, n < BUFFER ? (size_t)n : BUFFER);
    }
    return 0;
}

int lat_input_rewind(lat_input *in, uint64_t offset)
{
    const struct stat *was = &in->file;
    struct stat now;

    if (!in->regular || offset > in->offset)
        return lat_fail("%s: cannot be read again from byte %llu", in->name, (unsigned long long)offset);
    if (fstat(in->fd, &now) < 0 || now.st_size != was->st_size || now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != was->st_mtim.tv_nsec)
        return lat_fail("%s: has changed while it was read", in->name);
    if (lseek(in->fd, in->begin + (off_t)offset, SEEK_SET) < 0)
        return lat_fail("%s: cannot be read again: %s", in->name, strerror(errno));
    in->at = in->end = 0;
    in->ended = false;
    in->offset = offset;
    return 0;
}

/* ---- temporaries ------------------------------------------------------------------------- */

/* A fixed table, so that a signal handler may walk it: no lock, no allocation. A slot's path is
 * complete before `owner` says that it counts. */
struct temporary {
    atomic_bool taken; /* by an output, from before its file exists until after it is gone */
    atomic_long owner; /* the process that must remove it, 0 for none; a fork's child must not */
    char path[PATH_MAX];
};

#define TEMPORARIES 16
static temporary temporaries[TEMPORARIES];

/* What ends a process from outside and can be caught. */
static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGALRM, SIGXCPU, SIGXFSZ,
                              SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF };
#define DEADLY (sizeof deadly / sizeof *deadly)

static void remove_temporaries(void)
{
    long me = (long)getpid();

    for (int i = 0; i < TEMPORARIES; i++)
        if (atomic_load(&temporaries[i].owner) == me)
            (void)unlink(temporaries[i].path);
}

static void remove_and_die(int sig)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t it;

    remove_temporaries();
    sigaction(sig, &usual, NULL);
    raise(sig);
    sigemptyset(&it);
    sigaddset(&it, sig);
    pthread_sigmask(SIG_UNBLOCK, &it, NULL); /* here it is delivered */
}

/* A signal that is ignored (nohup) or that the tool handles itself is left alone. */
static void watch_signals(void)
{
    struct sigaction ours = { .sa_handler = remove_and_die }, was;

    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < DEADLY; i++)
        if (sigaction(deadly[i], NULL, &was) == 0 && !(was.sa_flags & SA_SIGINFO) &&
            was.sa_handler == SIG_DFL)
            sigaction(deadly[i], &ours, NULL);
    atexit(remove_temporaries);
}

static temporary *temporary_slot(void)
{
    for (int i = 0; i < TEMPORARIES; i++)
        if (!atomic_exchange(&temporaries[i].taken, true))
            return &temporaries[i];
    lat_fail("more than %d output files at once", TEMPORARIES);
    return NULL;
}

static void temporary_forget(temporary *t)
{
    atomic_store(&t->owner, 0);
    atomic_store(&t->taken, false);
}

static void temporary_remove(temporary *t)
{
    (void)unlink(t->path);
    temporary_forget(t);
}

/* ".NAME.PID.tmp" beside the target; a name near NAME_MAX is shortened. `more` tells apart what
 * a crashed process of our number, or one on another host, has left there. */
static int temporary_name(temporary *t, const char *target, int more)
{
    int folder = folder_length(target), n;
    char again[16] = "";

    if (more)
        snprintf(again, sizeof again, ".%d", more);
    n = snprintf(t->path, sizeof t->path, "%.*s.%.200s.%ld%s.tmp", folder, target, target + folder,
                 (long)getpid(), again);
    if (n < 0 || (size_t)n >= sizeof t->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

/* Creates t->path; signals wait, so that none falls between the file and its registration. */
static int temporary_open(temporary *t, mode_t mode)
{
    sigset_t all, before;
    int fd, saved;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    fd = open_file(t->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    saved = errno;
    if (fd >= 0)
        atomic_store(&t->owner, (long)getpid());
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return fd;
}

static int temporary_beside(temporary *t, const char *target, mode_t mode)
{
    int fd = -1;

    for (int more = 0; more < 100; more++) {
        if (temporary_name(t, target, more) < 0)
            return -1;
        fd = temporary_open(t, mode);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd >= 0 && lat_comm_note)
        lat_comm_note(t->path);
    return fd;
}

/* The target itself, which is temporary until something is written to it. */
static int temporary_in_place(temporary *t, const char *target)
{
    if (strlen(target) >= sizeof t->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(t->path, target);
    return temporary_open(t, 0666);
}

/* ---- output ------------------------------------------------------------------------------ */

static int output_standard(lat_output *out)
{
    struct stat st;

    if (!usable(STDOUT_FILENO, O_RDONLY) || fstat(STDOUT_FILENO, &st) < 0)
        return lat_fail("<stdout>: is closed");
    out->fd = STDOUT_FILENO;
    out->regular = S_ISREG(st.st_mode);
    return 0;
}

/* A device, FIFO or the like, which exists and stays; and is what it was when it was examined. */
static int output_direct(lat_output *out, const char *path)
{
    struct stat now;

    out->fd = open_file(path, O_WRONLY, 0);
    if (out->fd < 0)
        return lat_fail("%s: cannot be opened for writing: %s", path, strerror(errno));
    if (fstat(out->fd, &now) < 0 || !same_file(&now, &out->file))
        return lat_fail("%s: became another file while it was opened", path);
    return 0;
}

/* Where everybody may make files, a stranger's link or FIFO is a trap: what we write would go where they want it. (The
 * kernel refuses these as well where its protected_symlinks is set.) */
static bool trap(const char *path)
{
    char folder[PATH_MAX];
    struct stat it, in;

    if (lstat(path, &it) < 0 || !(S_ISLNK(it.st_mode) || S_ISFIFO(it.st_mode)) || it.st_uid == geteuid())
        return false;
    snprintf(folder, sizeof folder, "%.*s", folder_length(path), path);
    return stat(*folder ? folder : ".", &in) == 0 && in.st_mode & S_IWOTH && it.st_uid != in.st_uid;
}

/* A file that replaces one is for the same people. Where we cannot give it to the same group,
 * ours gets no more than everybody has. */
static void keep_permissions(int fd, const struct stat *was)
{
    mode_t mode = was->st_mode & 0777;
    struct stat now;

    if (fstat(fd, &now) == 0 && now.st_gid != was->st_gid && fchown(fd, (uid_t)-1, was->st_gid) < 0)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    (void)fchmod(fd, mode); /* without it the mode is what umask has left of this one */
}

/* Nobody else reads what is not whole yet. A file system without permissions has nothing to hide. */
static void output_hide(lat_output *out)
{
    struct stat now;

    out->hidden = fstat(out->fd, &now) == 0 && fchmod(out->fd, now.st_mode & 0700) == 0;
    out->mode = now.st_mode & 0777;
}

static int output_show(lat_output *out)
{
    if (out->hidden && fchmod(out->fd, out->mode) < 0)
        return lat_fail("%s: cannot be given its permissions: %s", out->name, strerror(errno));
    return 0;
}

static int output_create(lat_output *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const bool old = out->file.st_mode != 0;
    int folder;

    pthread_once(&once, watch_signals);
    out->temp = temporary_slot();
    if (!out->temp)
        return -1;
    out->regular = true;
    out->fd = out->live ? temporary_in_place(out->temp, out->target)
                        : temporary_beside(out->temp, out->target, old ? out->file.st_mode & 0777 : 0666);
    if (out->fd >= 0) {
        if (old)
            keep_permissions(out->fd, &out->file);
        if (!out->live)
            output_hide(out);
        return 0;
    }
    folder = folder_length(out->target);
    return lat_fail("%s: cannot create a file in %.*s: %s", out->name, folder ? folder : 1,
                    folder ? out->target : ".", strerror(errno));
}

/* A FILE that exists and is a file: may we replace it, and where is it really? */
static int output_existing(lat_output *out, const char *path)
{
    if (out->no_clobber)
        return lat_fail("%s: exists already (--no-clobber)", path);
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
        return lat_fail("%s: cannot be replaced: %s", path, strerror(errno));
    out->target = realpath(path, NULL);
    if (!out->target)
        return lat_fail("%s: cannot be followed: %s", path, strerror(errno));
    if (!out->live)
        return output_create(out);
    out->regular = true;
    return output_direct(out, path);
}

static int output_new(lat_output *out, const char *path)
{
    struct stat st;
    size_t n = strlen(path);

    if (n == 0)
        return lat_fail_usage("expected the name of an output file, found ''");
    if (path[n - 1] == '/')
        return lat_fail("%s: expected a file, found the name of a directory", path);
    if (lstat(path, &st) == 0)
        return lat_fail("%s: is a symbolic link to nothing", path);
    out->target = strdup(path);
    if (!out->target)
        return lat_fail("out of memory: the name of an output");
    return output_create(out);
}

static int output_file(lat_output *out, const char *path)
{
    int rc;

    if (trap(path))
        return lat_fail("%s: is a link or FIFO of another user in a folder where everybody may make files", path);
    if (stat(path, &out->file) < 0) {
        rc = errno;
        out->file = (struct stat){ .st_mode = 0 };
        if (rc != ENOENT)
            return lat_fail("%s: cannot be written: %s", path, strerror(rc));
        rc = output_new(out, path);
    } else if (S_ISDIR(out->file.st_mode)) {
        return lat_fail("%s: expected a file, found a directory", path);
    } else {
        rc = S_ISREG(out->file.st_mode) ? output_existing(out, path) : output_direct(out, path);
    }
    out->untouched = out->live && out->regular;
    return rc;
}

/* Everything needed to write, the memory first: a FIFO's reader should not wait for it. */
static int output_prepare(lat_output *out, const char *path, unsigned flags)
{
    out->name = strdup(out->standard ? "<stdout>" : path);
    out->buf = lat_alloc(BUFFER, 1, "an output buffer");
    if (!out->name || !out->buf)
        return lat_fail("out of memory: the name of an output");
    if (elsewhere())
        return 0;
    if ((out->standard ? output_standard(out) : output_file(out, path)) < 0)
        return -1;
    if (!(flags & (LAT_OUTPUT_FORCE | LAT_OUTPUT_TEXT)) && isatty(out->fd))
        return lat_fail_usage("%s: not writing a configuration to a terminal (use -o FILE, or --force)",
                              out->name);
    widen_pipe(out->fd);
    return output_register(out);
}

lat_output *lat_output_open(const char *path, unsigned flags)
{
    lat_output *out = lat_alloc(1, sizeof *out, "an output");

    if (!out)
        return NULL;
    *out = (lat_output){ .fd = -1, .standard = is_standard(path),
                         .no_clobber = flags & LAT_OUTPUT_NO_CLOBBER,
                         .live = flags & LAT_OUTPUT_LIVE && !is_standard(path) };
    if (output_prepare(out, path, flags) == 0)
        return out;
    lat_output_abort(out);
    return NULL;
}

void *lat_output_attach(lat_output *out, size_t size)
{
    return attach(&out->attached, size, out->name);
}

const char *lat_output_name(const lat_output *out)
{
    return out->name;
}

bool lat_output_is_file(const lat_output *out)
{
    return out->regular;
}

static int output_fail(lat_output *out)
{
    if (!out->failed)
        out->failed = errno;
    return lat_fail("%s: cannot be written: %s", out->name, strerror(out->failed));
}

/* From here on a live FILE is ours. */
static int output_touch(lat_output *out)
{
    if (!out->untouched)
        return 0;
    out->untouched = false;
    if (out->temp) {
        temporary_forget(out->temp);
        out->temp = NULL;
        return 0;
    }
    return ftruncate(out->fd, 0) < 0 ? output_fail(out) : 0;
}

static int output_put(lat_output *out, const void *buf, size_t n)
{
    if (elsewhere())
        return 0;
    if (out->failed)
        return output_fail(out);
    if (n > 0 && output_touch(out) < 0)
        return -1;
    if (write_all(out->fd, buf, n) < 0)
        return output_fail(out);
    out->put += n;
    if (out->temp && out->put - out->sent >= SEND) {
        (void)sync_file_range(out->fd, (off_t)out->sent, (off_t)(out->put - out->sent), SYNC_FILE_RANGE_WRITE);
        out->sent = out->put;
    }
    return 0;
}

int lat_output_flush(lat_output *out)
{
    size_t n = out->used;

    out->used = 0;
    return output_put(out, out->buf, n);
}

int lat_output_write(lat_output *out, const void *buf, size_t n)
{
    if (n > BUFFER - out->used && lat_output_flush(out) < 0)
        return -1;
    if (n >= BUFFER)
        return output_put(out, buf, n);
    if (n)
        memcpy(out->buf + out->used, buf, n);
    out->used += n;
    return 0;
}

/* Closes, because network file systems report a full disk only then. Of stdout a copy is
 * closed, which asks the same question and keeps the number 1 taken. */
static int output_close(lat_output *out)
{
    int fd = out->standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : out->fd;

    if (!out->standard)
        out->fd = -1;
    if (fd < 0 || (close(fd) < 0 && errno != EINTR))
        return output_fail(out);
    return 0;
}

/* To the disk; a file system that cannot do it says so by EINVAL. */
static int output_sync(lat_output *out)
{
    int rc;

    do
        rc = fsync(out->fd);
    while (rc < 0 && errno == EINTR);
    return rc == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : output_fail(out);
}

/* Makes the temporary the target unless there is one. Not every file system has the flag, and
 * not every one has links; then an empty file of that name, made by O_EXCL, takes the place. */
static int rename_new(const char *from, const char *to)
{
    int fd;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) == 0)
        return unlink(from);
    if (errno == EEXIST)
        return -1;
    fd = open_file(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -1;
    close(fd);
    return rename(from, to);
}

static int output_rename(lat_output *out)
{
    int rc;

    rc = out->no_clobber ? rename_new(out->temp->path, out->target)
                         : rename(out->temp->path, out->target);
    if (rc < 0 && out->no_clobber && errno == EEXIST)
        return lat_fail("%s: exists already (--no-clobber), created by another meanwhile", out->name);
    if (rc < 0)
        return lat_fail("%s: cannot be renamed from its temporary: %s", out->name, strerror(errno));
    temporary_forget(out->temp);
    out->temp = NULL;
    return 0;
}

int lat_output_commit(lat_output *out)
{
    int rc = lat_output_flush(out);

    if (elsewhere()) {
        lat_output_abort(out);
        return 0;
    }
    if (rc == 0)
        rc = output_touch(out); /* an empty one is complete, too */
    if (rc == 0 && out->temp)
        rc = output_show(out);
    if (rc == 0 && out->temp)
        rc = output_sync(out);
    if (rc == 0)
        rc = output_close(out);
    if (rc == 0 && out->temp)
        rc = output_rename(out);
    lat_output_abort(out); /* nothing is left to give up unless something failed */
    return rc;
}

void lat_output_abort(lat_output *out)
{
    if (!out)
        return;
    output_unregister(out);
    if (out->fd >= 0 && !out->standard)
        close(out->fd);
    if (out->temp)
        temporary_remove(out->temp);
    free(out->target);
    free(out->name);
    free(out->buf);
    free(out->attached);
    free(out);
}
