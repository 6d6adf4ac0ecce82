/* SPDX-License-Identifier: BSD-3-Clause */
/* check_io.c: every byte arrives, and nothing half-written stays, whatever happens. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "check.h"
#include "base/error.h"
#include "common/io.h"

/* More than two buffers of io_internal.h, and no round number. */
#define LENGTH ((size_t)(2 << 20) + 345679)

static unsigned char *pattern, *got;

static uint32_t dice(void)
{
    static uint32_t s = 2463534242u;

    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    return s;
}

static void put_file(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(name, "w");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
}

/* True if the file holds exactly these bytes. */
static bool file_is(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(name, "r");
    unsigned char *back = malloc(n + 1);
    bool same;

    if (!back)
        abort();
    same = f && fread(back, 1, n + 1, f) == n && memcmp(back, data, n) == 0;
    free(back);
    if (f)
        fclose(f);
    return same;
}

static bool exists(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0;
}

/* Temporaries in the folder; the last one's name into `name` if that is not NULL. */
static int temporaries(char *name)
{
    DIR *d = opendir(".");
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d))) {
        size_t length = strlen(e->d_name);

        if (e->d_name[0] != '.' || length < 5 || strcmp(e->d_name + length - 4, ".tmp") != 0)
            continue;
        n++;
        if (name)
            strcpy(name, e->d_name);
    }
    if (d)
        closedir(d);
    return n;
}

/* The kept sentence contains `text`; clears it. */
static bool sentence(const char *text)
{
    bool found = strstr(lat_error(), text) != NULL;

    if (!found)
        printf("# the sentence is '%s'\n", lat_error());
    lat_error_clear();
    return found;
}

static pid_t fork_flushed(void)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid < 0)
        abort();
    return pid;
}

/* Waits for a child; its wait status. */
static int ended(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            abort();
    return status;
}

/* ---- input ------------------------------------------------------------------------------- */

/* A pipe whose other end a child fills with the pattern, in odd pieces, with rests. */
static int pipe_of_pattern(pid_t *pid, size_t length)
{
    int fd[2];

    if (pipe(fd))
        abort();
    *pid = fork_flushed();
    if (*pid == 0) {
        close(fd[0]);
        for (size_t at = 0, n; at < length; at += n) {
            n = 1 + dice() % 70000;
            if (n > length - at)
                n = length - at;
            if (write(fd[1], pattern + at, n) != (ssize_t)n)
                _exit(1);
            if (dice() % 4 == 0)
                usleep(200);
        }
        _exit(0);
    }
    close(fd[1]);
    return fd[0];
}

/* Takes everything by a random mixture of all that io.h offers, comparing as it goes. */
static void take_mixed(lat_input *in, size_t length)
{
    size_t at = 0, n;
    ssize_t rc;

    while (at < length) {
        n = 1 + dice() % (dice() % 8 ? 3000 : 1500000);
        switch (dice() % 4) {
        case 0:
            rc = lat_input_peek(in, got, n);
            n = n < 65536 ? n : 65536;
            n = n < length - at ? n : length - at;
            CHECK(rc == (ssize_t)n && memcmp(got, pattern + at, n) == 0, "peek at %zu: %zd of %zu",
                  at, rc, n);
            break;
        case 1:
            rc = lat_input_some(in, got, n);
            if (!CHECK(rc > 0 && (size_t)rc <= n && memcmp(got, pattern + at, (size_t)rc) == 0,
                       "some at %zu: %zd", at, rc))
                return;
            at += (size_t)rc;
            break;
        case 2:
            n = n < length - at ? n : length - at;
            if (!CHECK(lat_input_read(in, got, n) == 0 && memcmp(got, pattern + at, n) == 0,
                       "read at %zu", at))
                return;
            at += n;
            break;
        default:
            n = n < length - at ? n : length - at;
            if (!CHECK(lat_input_skip(in, n) == 0, "skip at %zu: %s", at, lat_error()))
                return;
            at += n;
        }
        CHECK(lat_input_offset(in) == at, "offset %llu, expected %zu",
              (unsigned long long)lat_input_offset(in), at);
    }
    CHECK(lat_input_peek(in, got, 10) == 0 && lat_input_some(in, got, 10) == 0,
          "there is more after the end");
}

static void tick(int sig) { (void)sig; }

/* A timer that interrupts system calls, hundreds of times a second. */
static void interrupts(bool on)
{
    struct sigaction sa = {.sa_handler = on ? tick : SIG_DFL}; /* no SA_RESTART */
    struct itimerval it = {{0, on ? 2000 : 0}, {0, on ? 2000 : 0}};

    if (!on)
        setitimer(ITIMER_REAL, &it, NULL);
    sigaction(SIGALRM, &sa, NULL);
    if (on)
        setitimer(ITIMER_REAL, &it, NULL);
}

static void check_reading(void)
{
    lat_input *in;
    pid_t pid;
    int fd;

    put_file("data", pattern, LENGTH);
    check_case("a file is read by any mixture of peek, some, read and skip");
    for (int i = 0; i < 10; i++) {
        in = lat_input_open("data");
        if (!CHECK(in, "%s", lat_error()))
            return;
        CHECK(lat_input_size(in) == (int64_t)LENGTH && strcmp(lat_input_name(in), "data") == 0,
              "size, name");
        take_mixed(in, LENGTH);
        lat_input_close(in);
    }

    check_case("a long skip in a file lands where it should");
    in = lat_input_open("data");
    CHECK(in && lat_input_read(in, got, 5) == 0 && lat_input_skip(in, LENGTH - 25) == 0, "%s",
          lat_error());
    CHECK(in && lat_input_offset(in) == LENGTH - 20, "offset %llu",
          in ? (unsigned long long)lat_input_offset(in) : 0);
    CHECK(in && lat_input_read(in, got, 20) == 0 && memcmp(got, pattern + LENGTH - 20, 20) == 0,
          "content");
    lat_input_close(in);

    check_case("a pipe on stdin is read by any mixture too, under a hail of signals, and a "
               "non-blocking one");
    for (int i = 0; i < 6; i++) {
        fd = pipe_of_pattern(&pid, LENGTH);
        dup2(fd, STDIN_FILENO);
        close(fd);
        if (i % 2)
            fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        interrupts(true);
        in = lat_input_open(i % 3 ? "-" : NULL);
        if (CHECK(in, "%s", lat_error())) {
            CHECK(lat_input_size(in) == -1 && strcmp(lat_input_name(in), "<stdin>") == 0,
                  "size, name");
            take_mixed(in, LENGTH);
        }
        lat_input_close(in);
        interrupts(false);
        CHECK(ended(pid) == 0, "the writer failed");
    }

    check_case("a file on stdin counts from where it stands");
    fd = open("data", O_RDONLY);
    if (fd < 0 || lseek(fd, 1000, SEEK_SET) != 1000 || dup2(fd, STDIN_FILENO) != STDIN_FILENO)
        abort();
    close(fd);
    in = lat_input_open(NULL);
    CHECK(in && lat_input_size(in) == (int64_t)LENGTH - 1000, "size %lld",
          in ? (long long)lat_input_size(in) : -2);
    CHECK(in && lat_input_read(in, got, 10) == 0 && memcmp(got, pattern + 1000, 10) == 0
              && lat_input_offset(in) == 10,
          "%s", lat_error());
    lat_input_close(in);
}

static void check_again(void)
{
    lat_input *in;
    pid_t pid;
    FILE *f;
    int fd;

    check_case("a file can be read again while it stays as it was, a pipe cannot");
    put_file("again", pattern, LENGTH);
    in = lat_input_open("again");
    for (size_t from = 0; in && from < LENGTH; from += LENGTH / 3 + 1) {
        CHECK(lat_input_rewind(in, from) == 0 && lat_input_offset(in) == from, "from %zu: %s", from,
              lat_error());
        CHECK(lat_input_read(in, got, LENGTH - from) == 0
                  && memcmp(got, pattern + from, LENGTH - from) == 0,
              "from %zu: other bytes", from);
        CHECK(lat_input_some(in, got, 1) == 0, "from %zu: no end", from);
    }
    CHECK(in && lat_input_rewind(in, LENGTH + 1) < 0, "beyond the end");
    f = fopen("again", "ab");
    CHECK(f && fputc('x', f) == 'x' && fclose(f) == 0, "one more byte");
    lat_error_clear();
    CHECK(in && lat_input_rewind(in, 0) < 0 && strstr(lat_error(), "has changed"), "'%s'",
          lat_error());
    lat_input_close(in);
    unlink("again");
    fd = pipe_of_pattern(&pid, LENGTH);
    dup2(fd, STDIN_FILENO);
    close(fd);
    in = lat_input_open(NULL);
    lat_error_clear();
    CHECK(in && lat_input_read(in, got, LENGTH) == 0 && lat_input_rewind(in, 0) < 0, "a pipe: %s",
          lat_error());
    lat_input_close(in);
    CHECK(ended(pid) == 0, "the writer failed");
    lat_error_clear();
}

static void check_truncated(void)
{
    static const size_t lengths[] = {0, 1, 999, 65536, LENGTH};
    char expected[64];

    check_case("what ends too early is truncated after as many bytes as it has, read or skipped, "
               "file or pipe");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int how = 0; how < 4; how++) {
            bool skip = how & 1, piped = how & 2;
            lat_input *in;
            pid_t pid = 0;
            int fd = -1, rc;

            put_file("short", pattern, lengths[i]);
            if (piped) {
                fd = pipe_of_pattern(&pid, lengths[i]);
                dup2(fd, STDIN_FILENO);
                close(fd);
            }
            in = lat_input_open(piped ? NULL : "short");
            if (!CHECK(in, "%s", lat_error()))
                return;
            if (lengths[i] > 10)
                CHECK(lat_input_peek(in, got, 10) == 10, "peek");
            rc = skip ? lat_input_skip(in, lengths[i] + 1)
                      : lat_input_read(in, got, lengths[i] + 1);
            snprintf(expected, sizeof expected, "%s: truncated after %zu bytes",
                     piped ? "<stdin>" : "short", lengths[i]);
            CHECK(rc < 0 && strcmp(lat_error(), expected) == 0, "'%s', expected '%s'", lat_error(),
                  expected);
            lat_error_clear();
            lat_input_close(in);
            if (piped)
                ended(pid);
        }
}

static void check_input_refusals(void)
{
    int fd = open(".", O_RDONLY);

    check_case("a missing file, a directory, a closed stdin and one for writing are refused");
    CHECK(!lat_input_open("missing") && sentence("missing: cannot be opened: No such file"),
          "missing");
    CHECK(!lat_input_open(".") && sentence(".: expected a file, found a directory"), "directory");
    dup2(fd, STDIN_FILENO);
    close(fd);
    CHECK(!lat_input_open(NULL) && sentence("<stdin>: expected a file, found a directory"),
          "directory on stdin");
    close(STDIN_FILENO);
    CHECK(!lat_input_open("-") && sentence("<stdin>: is closed"), "closed");
    lat_io_guard();
    CHECK(!lat_input_open("-") && sentence("<stdin>: is closed"), "closed and guarded");
    lat_input_close(NULL);
    dup2(STDOUT_FILENO, STDIN_FILENO); /* something harmless again */
}

/* ---- output ------------------------------------------------------------------------------ */

static lat_output *opened(const char *path, unsigned flags)
{
    lat_output *out = lat_output_open(path, flags);

    CHECK(out, "%s: %s", path ? path : "stdout", lat_error());
    return out;
}

/* Writes the pattern in pieces of all sizes. */
static bool write_mixed(lat_output *out, size_t length)
{
    for (size_t at = 0, n; at < length; at += n) {
        n = dice() % (dice() % 8 ? 3000 : 1500000);
        if (n > length - at)
            n = length - at;
        if (lat_output_write(out, pattern + at, n) < 0
            || (dice() % 16 == 0 && lat_output_flush(out) < 0))
            return false;
    }
    return true;
}

static void check_writing(void)
{
    char name[256], expected[64];
    struct stat st;
    lat_output *out;

    check_case("an output appears complete at commit and not before, with the mode of the umask");
    umask(027);
    out = opened("new", 0);
    if (!out)
        return;
    CHECK(lat_output_is_file(out) && strcmp(lat_output_name(out), "new") == 0, "file, name");
    CHECK(write_mixed(out, LENGTH), "%s", lat_error());
    snprintf(expected, sizeof expected, ".new.%ld.tmp", (long)getpid());
    CHECK(temporaries(name) == 1 && strcmp(name, expected) == 0, "'%s', expected '%s'", name,
          expected);
    CHECK(!exists("new"), "there too early");
    CHECK(lat_output_commit(out) == 0, "%s", lat_error());
    CHECK(file_is("new", pattern, LENGTH) && temporaries(NULL) == 0, "content, or a temporary");
    CHECK(stat("new", &st) == 0 && (st.st_mode & 07777) == 0640, "mode %o", st.st_mode & 07777);
    umask(022);

    check_case("an existing file is replaced at commit, and stays as it was after abort");
    out = opened("new", 0);
    CHECK(out && lat_output_write(out, "two", 3) == 0 && file_is("new", pattern, LENGTH),
          "changed too early");
    lat_output_abort(out);
    lat_output_abort(NULL);
    CHECK(file_is("new", pattern, LENGTH) && temporaries(NULL) == 0, "content, or a temporary");
    out = opened("new", 0);
    CHECK(out && lat_output_write(out, "two", 3) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(file_is("new", "two", 3), "content");

    check_case("the same file may be read and written");
    lat_input *in = lat_input_open("new");
    out = opened("new", 0);
    CHECK(in && out, "%s", lat_error());
    CHECK(lat_output_write(out, "three", 5) == 0 && lat_input_read(in, got, 1) == 0
              && lat_output_commit(out) == 0,
          "%s", lat_error());
    CHECK(lat_input_read(in, got + 1, 2) == 0 && memcmp(got, "two", 3) == 0
              && file_is("new", "three", 5),
          "%s", lat_error());
    lat_input_close(in);

    check_case("the longest name that a file may have is written");
    memset(name, 'x', 255);
    name[255] = '\0';
    out = opened(name, 0);
    CHECK(out && lat_output_write(out, "x", 1) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(file_is(name, "x", 1) && temporaries(NULL) == 0, "content, or a temporary");
    unlink(name);
}

/* The pattern, its parts in another order, and another beginning first. */
static void check_places(void)
{
    const size_t piece = 70001, head = 1000, filled = 12 * piece;
    lat_output *out = lat_output_open("places", 0);
    uint64_t at = 0;

    check_case("a hidden output has room left in it, to be filled by any thread, and is written "
               "over and cut");
    if (!CHECK(out && lat_output_write(out, pattern + 1, head) == 0
                   && lat_output_reserve_at(out, filled, &at) && at == head
                   && lat_output_offset(out) == head + filled
                   && lat_output_write(out, "tail", 4) == 0,
               "%s", lat_error()))
        return;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < filled; i += piece)
        lat_output_fill(out, at + i, pattern + head + i, piece);
    CHECK(lat_output_seek(out, 0, false) == 0 && lat_output_write(out, pattern, head) == 0
              && lat_output_offset(out) == head,
          "%s", lat_error());
    CHECK(lat_output_seek(out, head + filled, true) == 0
              && lat_output_write(out, pattern + head + filled, LENGTH - head - filled) == 0
              && lat_output_commit(out) == 0,
          "%s", lat_error());
    CHECK(file_is("places", pattern, LENGTH), "content");
    out = lat_output_open("/dev/null", 0);
    CHECK(out && !lat_output_reserve_at(out, 10, &at) && lat_output_offset(out) == 0,
          "a device has no places");
    lat_output_abort(out);
    lat_error_clear();
    out = lat_output_open("full", 0);
    const struct rlimit little = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY},
                        any = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    if (CHECK(out && lat_output_reserve_at(out, 10000, &at), "%s", lat_error())
        && setrlimit(RLIMIT_FSIZE, &little) == 0) {
        lat_output_fill(out, at, pattern, 10000);
        CHECK(setrlimit(RLIMIT_FSIZE, &any) == 0 && lat_output_flush(out) < 0
                  && lat_output_commit(out) < 0 && !exists("full"),
              "what could not be written was committed");
    }
    lat_error_clear();
    signal(SIGXFSZ, SIG_DFL);
}

/* Pieces of the pattern, one after the other: those that have a place are put there by four
 * threads, the others written. How many had one. */
static int put_pieces(lat_output *out, size_t piece, int count)
{
    uint64_t at[256];
    int placed = 0;

    for (int i = 0; i < count; i++)
        if (lat_output_reserve(out, piece, &at[i]))
            placed++;
        else
            at[i] = lat_output_write(out, pattern, piece) == 0 ? 0 : UINT64_MAX;
#pragma omp parallel for schedule(dynamic) num_threads(4)
    for (int i = 0; i < count; i++)
        if (at[i] > 0)
            lat_output_fill(out, at[i], pattern, piece);
    return placed;
}

static bool has_pieces(const char *name, size_t piece, int count)
{
    FILE *f = fopen(name, "rb");
    bool good = f && fread(got, 1, 4, f) == 4 && !memcmp(got, "head", 4);

    for (int i = 0; i < count && good; i++)
        good = fread(got, 1, piece, f) == piece && !memcmp(got, pattern, piece);
    good = good && fread(got, 1, 5, f) == 4 && !memcmp(got, "tail", 4);
    if (f)
        fclose(f);
    return good;
}

/* In a file system that is memory, whether its pages are there already or not, and with more and
 * fewer bytes than were expected. */
static void check_room(void)
{
    enum { COUNT = 72 };
    const size_t piece = ((size_t)1 << 20) + 17;
    const int64_t more[] = {0, 10000000, -3000000};
    char folder[64], name[80];
    struct statfs fs;

    check_case("bytes that were expected are put into a file in memory by all threads, as soon as "
               "it is open");
    snprintf(folder, sizeof folder, "/dev/shm/lat-check_io.%ld", (long)getpid());
    snprintf(name, sizeof name, "%s/room", folder);
    if (mkdir(folder, 0700) < 0 || statfs(folder, &fs) < 0
        || fs.f_type != 0x01021994) { /* TMPFS_MAGIC */
        rmdir(folder);
        return;
    }
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    omp_set_num_threads(4);
#endif
    for (size_t i = 0; i < 2 * sizeof more / sizeof *more; i++) {
        lat_output *out = lat_output_open(name, 0);
        if (!CHECK(out && lat_output_write(out, "head", 4) == 0 && lat_output_flush(out) == 0, "%s",
                   lat_error()))
            break;
        lat_output_expect(out, (uint64_t)((int64_t)(COUNT * piece) + more[i / 2]));
        if (i % 2)
            usleep(200000);
        const int placed = put_pieces(out, piece, COUNT);
#ifdef _OPENMP
        const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
        struct rlimit memory = any;
        getrlimit(RLIMIT_AS, &memory);
        CHECK(placed == (more[i / 2] < 0 ? COUNT - 3 : COUNT) || memory.rlim_cur != any.rlim_cur,
              "%d placed", placed);
#else
        (void)placed;
#endif
        CHECK(lat_output_write(out, "tail", 4) == 0 && lat_output_commit(out) == 0, "%s",
              lat_error());
        CHECK(has_pieces(name, piece, COUNT), "content");
    }
#ifdef _OPENMP
    omp_set_num_threads(before);
#endif
    unlink(name);
    rmdir(folder);
}

static void check_clobber(void)
{
    lat_output *out;

    check_case("no-clobber refuses a file at once, and one that appears meanwhile at commit");
    put_file("old", "old", 3);
    CHECK(!lat_output_open("old", LAT_OUTPUT_NO_CLOBBER) && sentence("old: exists already"),
          "opened");
    CHECK(temporaries(NULL) == 0, "a temporary");
    unlink("fresh");
    out = opened("fresh", LAT_OUTPUT_NO_CLOBBER);
    put_file("fresh", "somebody else's", 15);
    CHECK(out && lat_output_write(out, "mine", 4) == 0, "%s", lat_error());
    CHECK(lat_output_commit(out) < 0 && sentence("fresh: exists already"), "committed");
    CHECK(file_is("fresh", "somebody else's", 15) && temporaries(NULL) == 0,
          "content, or a temporary");
    unlink("fresh");
    out = opened("fresh", LAT_OUTPUT_NO_CLOBBER);
    CHECK(out && lat_output_write(out, "mine", 4) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(file_is("fresh", "mine", 4) && temporaries(NULL) == 0, "content, or a temporary");
    out = opened("/dev/null", LAT_OUTPUT_NO_CLOBBER);
    CHECK(out && lat_output_commit(out) == 0, "a device is nothing to clobber");
}

static void check_special(void)
{
    struct stat st;
    lat_output *out;
    char first = 0;
    pid_t pid;

    check_case(
        "a symbolic link stays, and the file that it names is replaced; one to nothing is refused");
    if (mkdir("sub", 0777) != 0 || symlink("sub/real", "link") != 0
        || symlink("nowhere", "dangling") != 0)
        abort();
    put_file("sub/real", "old", 3);
    out = opened("link", 0);
    CHECK(temporaries(NULL) == 0, "the temporary is not beside the real file");
    CHECK(out && lat_output_write(out, "new", 3) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(lstat("link", &st) == 0 && S_ISLNK(st.st_mode) && file_is("sub/real", "new", 3),
          "link or content");
    CHECK(!lat_output_open("link", LAT_OUTPUT_NO_CLOBBER) && sentence("link: exists already"),
          "clobbered");
    CHECK(!lat_output_open("dangling", 0) && sentence("dangling: is a symbolic link to nothing"),
          "dangling");
    CHECK(!exists("nowhere"), "created");

    check_case("devices and FIFOs are written directly and stay what they are");
    out = opened("/dev/null", 0);
    CHECK(out && !lat_output_is_file(out) && write_mixed(out, LENGTH)
              && lat_output_commit(out) == 0,
          "%s", lat_error());
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode), "/dev/null is gone");
    if (mkfifo("fifo", 0666) != 0)
        abort();
    pid = fork_flushed();
    if (pid == 0) {
        int fd = open("fifo", O_RDONLY);

        for (size_t n = 0; n < LENGTH;) {
            ssize_t rc = read(fd, got + n, LENGTH - n);

            if (rc <= 0)
                _exit(1);
            n += (size_t)rc;
        }
        _exit(memcmp(got, pattern, LENGTH) != 0 || read(fd, &first, 1) != 0);
    }
    interrupts(true);
    out = opened("fifo", 0);
    CHECK(out && !lat_output_is_file(out) && write_mixed(out, LENGTH)
              && lat_output_commit(out) == 0,
          "%s", lat_error());
    interrupts(false);
    CHECK(ended(pid) == 0 && stat("fifo", &st) == 0 && S_ISFIFO(st.st_mode),
          "the reader saw something else");

    check_case("folders, missing folders and write-protected files are refused by name");
    CHECK(!lat_output_open("sub", 0) && sentence("sub: expected a file, found a directory"),
          "folder");
    CHECK(!lat_output_open("none/", 0)
              && sentence("none/: expected a file, found the name of a directory"),
          "none/");
    CHECK(!lat_output_open("none/x", 0)
              && sentence("none/x: cannot create a file in none/: No such file"),
          "none/x");
    CHECK(!lat_output_open("old/x", 0) && sentence("old/x: cannot be written: Not a directory"),
          "old/x");
    CHECK(!lat_output_open("", 0) && sentence("expected the name of an output file"), "empty");
    chmod("old", 0444);
    chmod(".", 0777);
    pid = fork_flushed();
    if (pid == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) /* root may write anything */
            _exit(0);
        _exit(lat_output_open("old", 0) || !sentence("old: cannot be replaced: Permission denied"));
    }
    CHECK(ended(pid) == 0, "a write-protected file was accepted");
    CHECK(file_is("old", "old", 3) && temporaries(NULL) == 0, "content, or a temporary");
    chmod("old", 0644);
}

static void check_strangers(void)
{
    char name[64], victim[] = "victim";
    lat_output *out, *many[17];
    int n;

    check_case("a temporary's name taken by somebody is neither followed nor removed");
    snprintf(name, sizeof name, ".target.%ld.tmp", (long)getpid());
    put_file(victim, "precious", 8);
    if (symlink(victim, name) != 0)
        abort();
    out = opened("target", 0);
    CHECK(out && lat_output_write(out, "x", 1) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(file_is("target", "x", 1) && file_is(victim, "precious", 8) && exists(name),
          "content, or the stranger's link");
    unlink(name);
    CHECK(temporaries(NULL) == 0, "a temporary");

    check_case("sixteen outputs at once are possible, and the next is refused");
    for (n = 0; n < 16; n++) {
        snprintf(name, sizeof name, "many%d", n);
        if (!(many[n] = opened(name, 0)))
            break;
    }
    CHECK(n == 16 && temporaries(NULL) == 16, "%d outputs, %d temporaries", n, temporaries(NULL));
    CHECK(!lat_output_open("more", 0) && sentence("more than 16 output files at once"),
          "a seventeenth");
    for (int i = 0; i < n; i++)
        CHECK((i % 2 ? lat_output_commit(many[i]) : (lat_output_abort(many[i]), 0)) == 0, "%s",
              lat_error());
    CHECK(temporaries(NULL) == 0 && exists("many1") && !exists("many0"), "%d temporaries",
          temporaries(NULL));
}

/* Opens the one, then the other; true if that fails and both are given up without a trace. */
static bool refused(const char *one, unsigned flags, const char *other, unsigned other_flags,
                    const char *why)
{
    lat_output *a = opened(one, flags), *b = lat_output_open(other, other_flags);
    bool good = a && !b && sentence(why);

    lat_output_abort(b);
    lat_output_abort(a);
    return good && temporaries(NULL) == 0;
}

static void check_one_place(void)
{
    static const char *const spellings[] = {"one", "./one", "sub/../one", "there/one", "named"};
    static const unsigned flags[] = {0, LAT_OUTPUT_LIVE};
    lat_output *a, *b;
    char why[64];

    check_case(
        "two outputs in one place are refused under whatever names, old or new, live or not");
    if (symlink(".", "there") != 0 || symlink("one", "named") != 0 || mkfifo("pipe", 0666) != 0)
        abort();
    for (int old = 0; old < 2; old++) {
        for (int i = 0; i < 5 - !old; i++) /* a link to nothing is no output */
            for (int j = 0; j < 5 - !old; j++)
                for (int how = 0; how < 4; how++) {
                    snprintf(why, sizeof why,
                             i == j ? "%s: cannot be two outputs of one run"
                                    : "%s: is the same output as %s",
                             spellings[j], spellings[i]);
                    CHECK(refused(spellings[i], flags[how & 1], spellings[j], flags[how >> 1], why),
                          "%s", why);
                    CHECK(exists("one") == old && (!old || file_is("one", "old", 3)),
                          "'%s' changed it", why);
                }
        put_file("one", "old", 3);
    }

    check_case(
        "what is beside it or has another name in it is another place, and so is it afterwards");
    if (link("one", "twin") != 0)
        abort();
    a = opened("one", 0);
    b = opened("twin", 0);
    CHECK(a && b && lat_output_write(a, "a", 1) == 0 && lat_output_write(b, "b", 1) == 0
              && lat_output_commit(a) == 0 && lat_output_commit(b) == 0 && file_is("one", "a", 1)
              && file_is("twin", "b", 1),
          "%s", lat_error());
    a = opened("sub/one", 0);
    b = opened("one", 0);
    lat_output_abort(a);
    a = opened("sub/one", 0);
    lat_output_abort(b);
    lat_output_abort(a);
    a = opened("/dev/null", 0);
    b = opened("/dev/null", 0);
    lat_output_abort(b);
    lat_output_abort(a);
    unlink("named"), unlink("there"), unlink("twin"), unlink("pipe"), unlink("one");
}

static void check_live(void)
{
    lat_output *out;
    lat_input *in;
    struct stat st;

    check_case("a live output is there at once, and until its first flush can be given up without "
               "a trace");
    for (int old = 0; old < 2; old++) {
        if (old)
            put_file("live", "old and long", 12);
        out = opened("live", LAT_OUTPUT_LIVE);
        CHECK(out && lat_output_write(out, "x", 1) == 0 && temporaries(NULL) == 0, "%s",
              lat_error());
        CHECK(file_is("live", "old and long", old ? 12 : 0), "changed or not there");
        lat_output_abort(out);
        CHECK(exists("live") == old && (!old || file_is("live", "old and long", 12)),
              "old %d: a trace", old);
        out = opened("live", LAT_OUTPUT_LIVE);
        CHECK(out && lat_output_write(out, "new", 3) == 0 && lat_output_flush(out) == 0
                  && file_is("live", "new", 3),
              "old %d: '%s'", old, lat_error());
        lat_output_abort(out);
        CHECK(file_is("live", "new", 3), "old %d: gone after an abort", old);
        unlink("live");
    }
    out = opened("live", LAT_OUTPUT_LIVE);
    CHECK(out && lat_output_commit(out) == 0 && file_is("live", "", 0), "an empty one: %s",
          lat_error());
    out = opened("live", LAT_OUTPUT_LIVE);
    CHECK(out && write_mixed(out, LENGTH) && lat_output_commit(out) == 0
              && file_is("live", pattern, LENGTH),
          "%s", lat_error());
    chmod("live", 0600);
    out = opened("live", LAT_OUTPUT_LIVE);
    CHECK(out && lat_output_write(out, "y", 1) == 0 && lat_output_commit(out) == 0
              && file_is("live", "y", 1),
          "%s", lat_error());
    CHECK(stat("live", &st) == 0 && (st.st_mode & 07777) == 0600, "mode %o", st.st_mode & 07777);

    check_case("a live output is no input, whichever is first");
    in = lat_input_open("live");
    CHECK(in && !lat_output_open("./live", LAT_OUTPUT_LIVE)
              && sentence("live: is the output as well"),
          "input first");
    lat_input_close(in);
    out = opened("live", LAT_OUTPUT_LIVE);
    CHECK(out && !lat_input_open("./live") && sentence("./live: is the output as well"),
          "output first");
    lat_output_abort(out);
    in = lat_input_open("live");
    CHECK(in && file_is("live", "y", 1), "%s", lat_error());
    lat_input_close(in);
    unlink("live");

    check_case("of a live output a signal leaves what was flushed, and nothing if that is nothing");
    for (int flushed = 0; flushed < 2; flushed++) {
        pid_t pid = fork_flushed();

        if (pid == 0) {
            out = lat_output_open("live", LAT_OUTPUT_LIVE);
            if (!out || lat_output_write(out, "x", 1) < 0 || (flushed && lat_output_flush(out) < 0))
                _exit(1);
            raise(SIGTERM);
        }
        int status = ended(pid);
        CHECK(WIFSIGNALED(status) && exists("live") == flushed
                  && (!flushed || file_is("live", "x", 1)),
              "status %x", status);
    }
    unlink("live");
}

static void check_permissions(void)
{
    static const mode_t modes[] = {0600, 0640, 0664, 0755, 0222};
    struct stat st;
    lat_output *out;
    char name[256];

    check_case(
        "what replaces a file is for nobody else until it is whole, and has its permissions then");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        put_file("private", "old", 3);
        if (chmod("private", modes[i]) != 0)
            abort();
        out = opened("private", 0);
        CHECK(temporaries(name) == 1 && stat(name, &st) == 0
                  && (st.st_mode & 07777) == (modes[i] & 0700),
              "mode %o, expected %o", st.st_mode & 07777, modes[i] & 0700);
        CHECK(out && lat_output_write(out, "new", 3) == 0 && lat_output_commit(out) == 0, "%s",
              lat_error());
        CHECK(stat("private", &st) == 0 && (st.st_mode & 07777) == modes[i] && st.st_size == 3,
              "mode %o, expected %o", st.st_mode & 07777, modes[i]);
        unlink("private");
    }

    const mode_t was = umask(026);
    out = opened("private", 0);
    CHECK(temporaries(name) == 1 && stat(name, &st) == 0 && (st.st_mode & 07777) == 0600,
          "mode %o of a new one", st.st_mode & 07777);
    CHECK(out && lat_output_write(out, "new", 3) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(stat("private", &st) == 0 && (st.st_mode & 07777) == 0640, "mode %o of a new one",
          st.st_mode & 07777);
    umask(was);
    unlink("private");

    check_case("and its group, or else no more for ours than for everybody");
    if (geteuid() != 0)
        return; /* whom to give it to, and who else to be, only root can choose */
    for (int stranger = 0; stranger < 2; stranger++) {
        put_file("shared", "old", 3);
        if (chown("shared", 65534, 4) != 0 || chmod("shared", 0664) != 0 || chmod(".", 0777) != 0)
            abort();
        pid_t pid = fork_flushed();
        if (pid == 0) {
            if (stranger
                && (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
                _exit(0);
            out = lat_output_open("shared", 0);
            _exit(!out || lat_output_write(out, "new", 3) < 0 || lat_output_commit(out) < 0);
        }
        CHECK(ended(pid) == 0 && stat("shared", &st) == 0 && file_is("shared", "new", 3),
              "not written");
        CHECK(stranger ? st.st_gid == 65534 && (st.st_mode & 07777) == 0644
                       : st.st_gid == 4 && (st.st_mode & 07777) == 0664,
              "stranger %d: group %d, mode %o", stranger, (int)st.st_gid, st.st_mode & 07777);
        unlink("shared");
    }
}

/* ---- traps ------------------------------------------------------------------------------- */

static bool is_link(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Links that somebody makes where our temporary is to be, and where FILE is to be once it is whole.
 */
static void check_races(void)
{
    char name[64];
    lat_output *out;

    check_case("a link in the place of the temporary is not followed");
    put_file("victim", "precious", 8);
    snprintf(name, sizeof name, ".race.%ld.tmp", (long)getpid());
    if (symlink("victim", name) != 0)
        abort();
    out = opened("race", 0);
    CHECK(out && lat_output_write(out, "new", 3) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(file_is("victim", "precious", 8) && file_is("race", "new", 3) && !is_link("race")
              && is_link(name),
          "followed");
    unlink(name);
    unlink("race");

    check_case("a link that appears in the place of FILE is not followed when that is renamed");
    for (int no_clobber = 0; no_clobber < 2; no_clobber++) {
        lat_error_clear();
        out = opened("race", no_clobber ? LAT_OUTPUT_NO_CLOBBER : 0);
        if (symlink("victim", "race") != 0)
            abort();
        const bool done = out && lat_output_write(out, "new", 3) == 0
                          && lat_output_commit(out) == 0;
        CHECK(done == !no_clobber && file_is("victim", "precious", 8), "%s", lat_error());
        CHECK(no_clobber ? is_link("race") : !is_link("race") && file_is("race", "new", 3),
              "no_clobber %d", no_clobber);
        unlink("race");
    }
    lat_error_clear();
    unlink("victim");
}

/* What a stranger has put into a folder like /tmp. */
static void check_traps(void)
{
    check_case("a link or FIFO of another user is refused where everybody may make files, and "
               "taken elsewhere");
    if (geteuid() != 0)
        return; /* only root can be two users */
    for (int open_to_all = 0; open_to_all < 2; open_to_all++)
        for (int fifo = 0; fifo < 2; fifo++) {
            if (mkdir("common", 0755) != 0 || chmod("common", open_to_all ? 01777 : 0755) != 0)
                abort();
            put_file("victim", "precious", 8);
            if (fifo ? mkfifo("common/trap", 0666) != 0 : symlink("../victim", "common/trap") != 0)
                abort();
            if (lchown("common/trap", 65534, 65534) != 0)
                abort();
            const int reader = fifo ? open("common/trap", O_RDONLY | O_NONBLOCK) : -1;
            lat_error_clear();
            lat_output *out = lat_output_open("common/trap", 0);
            if (open_to_all)
                CHECK(!out
                          && (strstr(lat_error(), "of another user")
                              || strstr(lat_error(), "denied")),
                      "taken: %s", lat_error());
            else
                CHECK(out != NULL, "%s", lat_error());
            lat_output_abort(out);
            CHECK(file_is("victim", "precious", 8), "the victim was changed");
            if (reader >= 0)
                close(reader);
            unlink("common/trap");
            rmdir("common");
        }
    lat_error_clear();
    unlink("victim");
}

/* ---- stdout ------------------------------------------------------------------------------ */

/* Runs `what` in a child with stdout on fd (-1: closed); true if it returns 0. */
static bool in_child(int (*what)(void), int fd)
{
    pid_t pid = fork_flushed();

    if (pid == 0) {
        if (fd < 0)
            close(STDOUT_FILENO);
        else
            dup2(fd, STDOUT_FILENO);
        _exit(what() == 0 ? 0 : 1);
    }
    return ended(pid) == 0;
}

static int write_stdout(void)
{
    lat_output *out = lat_output_open("-", 0);

    return out && write_mixed(out, LENGTH) && lat_output_commit(out) == 0 ? 0 : -1;
}

static int short_stdout(void)
{
    lat_output *out = lat_output_open(NULL, 0);

    return out && lat_output_write(out, "x", 1) == 0 && lat_output_commit(out) == 0 ? 0 : -1;
}

static int full_stdout(void)
{
    return short_stdout() < 0 && write_stdout() < 0
                   && strcmp(lat_error(), "<stdout>: cannot be written: No space left on device")
                          == 0
               ? 0
               : -1;
}

static int closed_stdout(void)
{
    if (lat_output_open(NULL, 0) || strcmp(lat_error(), "<stdout>: is closed") != 0)
        return -1;
    lat_io_guard();
    return lat_output_open("-", LAT_OUTPUT_FORCE) ? -1 : 0;
}

/* With 0, 1 and 2 closed, files get other numbers all the same. */
static int high_numbers(void)
{
    lat_input *in;
    lat_output *out;
    int rc = -1;

    close(STDIN_FILENO);
    close(STDERR_FILENO);
    in = lat_input_open("data");
    out = lat_output_open("high", 0);
    if (in && out && fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0) {
        lat_io_guard();
        rc = fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0;
        rc |= read(0, got, 1) >= 0 || write(1, "x", 1) >= 0;
        rc |= lat_output_write(out, "high", 4) < 0 || lat_output_commit(out) < 0
              || !file_is("high", "high", 4);
    }
    lat_input_close(in);
    return rc;
}

static int appending_stdout(void)
{
    lat_input *in = lat_input_open("appended");
    int rc = in && !lat_output_open(NULL, 0)
                     && strcmp(lat_error(), "appended: is the output as well") == 0
                 ? 0
                 : -1;

    lat_input_close(in);
    return rc;
}

/* Stdout is taken, and so is what it goes to, until it is given back. */
static int twice_stdout(void)
{
    lat_output *out = lat_output_open(NULL, 0);
    bool good = out && !lat_output_open("-", 0)
                && sentence("<stdout>: cannot be two outputs of one run")
                && !lat_output_open("./stdout", 0)
                && sentence("./stdout: is the same output as <stdout>");

    lat_output_abort(out);
    return good && short_stdout() == 0 && short_stdout() == 0 ? 0 : -1;
}

static void check_stdout(void)
{
    int fd = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666), full = open("/dev/full", O_WRONLY),
        p[2];
    lat_input *in;
    pid_t pid;

    check_case("stdout takes every byte, into a file and into a non-blocking pipe under signals");
    CHECK(in_child(write_stdout, fd) && file_is("stdout", pattern, LENGTH), "file");
    close(fd);
    if (pipe(p))
        abort();
    pid = fork_flushed();
    if (pid == 0) {
        close(p[0]);
        dup2(p[1], STDOUT_FILENO);
        fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
        interrupts(true);
        _exit(write_stdout() != 0);
    }
    close(p[1]);
    dup2(p[0], STDIN_FILENO);
    close(p[0]);
    in = lat_input_open(NULL);
    usleep(20000); /* let the pipe become full */
    if (CHECK(in, "%s", lat_error()))
        take_mixed(in, LENGTH);
    lat_input_close(in);
    CHECK(ended(pid) == 0, "the writer failed");

    check_case("a full device is an error at commit, a closed stdout at once");
    CHECK(full < 0 || in_child(full_stdout, full), "full");
    CHECK(in_child(closed_stdout, -1), "closed");
    if (full >= 0)
        close(full);

    check_case("without stdin, stdout and stderr no file gets their numbers");
    CHECK(in_child(high_numbers, -1), "they did");

    check_case("stdout is one output at a time");
    fd = open("stdout", O_WRONLY | O_TRUNC);
    CHECK(fd >= 0 && in_child(twice_stdout, fd) && file_is("stdout", "xx", 2), "it is not");
    close(fd);

    check_case("an input that is the output as well is refused");
    put_file("appended", "x", 1);
    fd = open("appended", O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && in_child(appending_stdout, fd), "it is not");
    close(fd);
}

/* ---- the end ----------------------------------------------------------------------------- */

static void *killer(void *unused)
{
    raise(SIGTERM); /* to this thread */
    return unused;
}

static void check_signals(void)
{
    static const int deadly[] = {SIGINT,  SIGTERM, SIGHUP,  SIGPIPE,   SIGQUIT, SIGXCPU,
                                 SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF};
    const struct rlimit none = {0, 0};

    check_case("a signal removes the temporaries and is what the process dies of");
    put_file("kept", "kept", 4);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        pid_t pid = fork_flushed();
        int status;

        if (pid == 0) {
            lat_output *a, *b;

            setrlimit(RLIMIT_CORE, &none);
            signal(deadly[i], SIG_DFL); /* a shell ignores some of them for what runs behind it */
            a = lat_output_open("kept", 0);
            b = lat_output_open("another", 0);
            if (!a || !b || lat_output_write(a, pattern, LENGTH) < 0 || temporaries(NULL) != 2)
                _exit(1);
            raise(deadly[i]);
            _exit(2);
        }
        status = ended(pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == deadly[i], "signal %d: status %x",
              deadly[i], status);
        CHECK(temporaries(NULL) == 0 && file_is("kept", "kept", 4), "signal %d: %d left", deadly[i],
              temporaries(NULL));
    }

    check_case("also when it reaches another thread");
    pid_t threaded = fork_flushed();
    if (threaded == 0) {
        pthread_t thread;

        if (!lat_output_open("kept", 0) || pthread_create(&thread, NULL, killer, NULL) != 0)
            _exit(1);
        pthread_join(thread, NULL);
        _exit(2);
    }
    int end = ended(threaded);
    CHECK(WIFSIGNALED(end) && WTERMSIG(end) == SIGTERM && temporaries(NULL) == 0, "status %x", end);

    check_case("a signal that was ignored stays ignored");
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork_flushed();
        lat_output *out;

        if (pid == 0) {
            signal(i ? SIGHUP : SIGINT, SIG_IGN);
            out = lat_output_open("nohup", 0);
            raise(i ? SIGHUP : SIGINT);
            _exit(!out || lat_output_write(out, "x", 1) < 0 || lat_output_commit(out) < 0);
        }
        CHECK(ended(pid) == 0 && file_is("nohup", "x", 1), "it was not");
        unlink("nohup");
    }

    check_case("a closed pipe kills silently and removes the temporary of the other output");
    int p[2], status;
    if (pipe(p))
        abort();
    close(p[0]);
    pid_t pid = fork_flushed();
    if (pid == 0) {
        dup2(p[1], STDOUT_FILENO);
        if (!lat_output_open("beside", 0))
            _exit(1);
        _exit(short_stdout() != 0);
    }
    close(p[1]);
    status = ended(pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE && temporaries(NULL) == 0, "status %x",
          status);
}

static void check_exit(void)
{
    static lat_output *volatile out,
        *volatile left; /* reachable, where a child forgets them on purpose */
    pid_t pid;

    check_case("exit removes the temporaries of this process and not those of its parent");
    out = opened("parent", 0);
    pid = fork_flushed();
    if (pid == 0) {
        left = lat_output_open("child", 0);
        if (!left || temporaries(NULL) != 2)
            _exit(1);
        exit(0);
    }
    CHECK(ended(pid) == 0 && temporaries(NULL) == 1, "%d left", temporaries(NULL));
    CHECK(out && lat_output_write(out, "x", 1) == 0 && lat_output_commit(out) == 0
              && file_is("parent", "x", 1),
          "%s", lat_error());
}

static void clean_up(void)
{
    DIR *d = opendir(".");
    struct dirent *e;

    unlink("sub/real");
    rmdir("sub");
    while (d && (e = readdir(d)))
        unlink(e->d_name);
    if (d)
        closedir(d);
}

int main(void)
{
    char folder[] = "/tmp/check_io.XXXXXX";

    pattern = malloc(LENGTH);
    got = malloc(LENGTH + 1);
    if (!pattern || !got || !mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    for (size_t i = 0; i < LENGTH; i++)
        pattern[i] = (unsigned char)dice();
    umask(022);
    check_signals(); /* first: before this process watches signals itself */
    check_reading();
    check_again();
    check_truncated();
    check_input_refusals();
    check_writing();
    check_places();
    check_room();
    check_clobber();
    check_special();
    check_strangers();
    check_one_place();
    check_live();
    check_permissions();
    check_races();
    check_traps();
    check_stdout();
    check_exit();
    clean_up();
    if (chdir("/") != 0 || rmdir(folder) != 0)
        perror(folder);
    free(pattern);
    free(got);
    return check_done();
}
