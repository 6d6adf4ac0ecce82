/* SPDX-License-Identifier: BSD-3-Clause */
/* check_io_output.c: lat_output writes every byte, into a file that appears whole or not at all;
 * space that is reserved and filled by threads; outputs that are written live. */
#include <sys/resource.h>
#include <sys/vfs.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "check_io.h"

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
    lat_input *in = lat_input_open("new", &lat_comm_self);
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

/* The pattern: its middle filled by threads, its end written before its beginning. */
static void check_reserved(void)
{
    const size_t piece = 70001, head = 1000, filled = 12 * piece;
    lat_output *out = lat_output_open("reserved", 0, &lat_comm_self);
    uint64_t at = 0;

    check_case("space reserved in a hidden output is filled by any thread; what was written is "
               "written over and cut");
    if (!CHECK(out && lat_output_write(out, pattern + 1, head) == 0
                   && lat_output_reserve(out, filled, &at) && at == head
                   && lat_output_offset(out) == head + filled
                   && lat_output_write(out, "tail", 4) == 0,
               "%s", lat_error()))
        return;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < filled; i += piece)
        lat_output_write_at(out, at + i, pattern + head + i, piece);
    CHECK(lat_output_seek(out, 0, false) == 0 && lat_output_write(out, pattern, head) == 0
              && lat_output_offset(out) == head,
          "%s", lat_error());
    CHECK(lat_output_seek(out, head + filled, true) == 0
              && lat_output_write(out, pattern + head + filled, LENGTH - head - filled) == 0
              && lat_output_commit(out) == 0,
          "%s", lat_error());
    CHECK(file_is("reserved", pattern, LENGTH), "content");
    out = lat_output_open("/dev/null", 0, &lat_comm_self);
    CHECK(out && !lat_output_reserve(out, 10, &at) && lat_output_offset(out) == 0,
          "space was reserved in a device");
    lat_output_abort(out);
    lat_error_clear();
    out = lat_output_open("full", 0, &lat_comm_self);
    const struct rlimit little = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY},
                        any = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    if (CHECK(out && lat_output_reserve(out, 10000, &at), "%s", lat_error())
        && setrlimit(RLIMIT_FSIZE, &little) == 0) {
        lat_output_write_at(out, at, pattern, 10000);
        CHECK(setrlimit(RLIMIT_FSIZE, &any) == 0 && lat_output_flush(out) < 0
                  && lat_output_commit(out) < 0 && !exists("full"),
              "what could not be written was committed");
    }
    lat_error_clear();
    signal(SIGXFSZ, SIG_DFL);
}

/* Pieces of the pattern, one after the other: where space can be reserved four threads fill it, the
 * others are written. Returns how many were reserved. */
static int put_pieces(lat_output *out, size_t piece, int count)
{
    uint64_t at[256];
    int reserved = 0;

    for (int i = 0; i < count; i++)
        if (lat_output_reserve_mapped(out, piece, &at[i]))
            reserved++;
        else
            at[i] = lat_output_write(out, pattern, piece) == 0 ? 0 : UINT64_MAX;
#pragma omp parallel for schedule(dynamic) num_threads(4)
    for (int i = 0; i < count; i++)
        if (at[i] > 0)
            lat_output_write_at(out, at[i], pattern, piece);
    return reserved;
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

/* In a file system in memory, with its pages there already or not, and with more and fewer bytes
 * than were expected. */
static void check_preallocated(void)
{
    enum { COUNT = 72 };
    const size_t piece = ((size_t)1 << 20) + 17;
    const int64_t more[] = {0, 10000000, -3000000, -3000000}, most[] = {0, 0, 0, 3000000};
    char folder[64], name[80];
    struct statfs fs;

    check_case("bytes that were announced are put into a file in memory by all threads, as soon as "
               "it is open");
    snprintf(folder, sizeof folder, "/dev/shm/lat-check_io.%ld", (long)getpid());
    snprintf(name, sizeof name, "%s/file", folder);
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
        lat_output *out = lat_output_open(name, 0, &lat_comm_self);
        if (!CHECK(out && lat_output_write(out, "head", 4) == 0 && lat_output_flush(out) == 0, "%s",
                   lat_error()))
            break;
        const uint64_t n = (uint64_t)((int64_t)(COUNT * piece) + more[i / 2]);
        lat_output_preallocate(out, n, n + (uint64_t)most[i / 2]);
        if (i % 2)
            usleep(200000);
        const int reserved = put_pieces(out, piece, COUNT);
#ifdef _OPENMP
        const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
        struct rlimit memory = any;
        getrlimit(RLIMIT_AS, &memory);
        CHECK(reserved == (more[i / 2] + most[i / 2] < 0 ? COUNT - 3 : COUNT)
                  || memory.rlim_cur != any.rlim_cur,
              "%d reserved", reserved);
#else
        (void)reserved;
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
    CHECK(!lat_output_open("old", LAT_OUTPUT_NO_CLOBBER, &lat_comm_self)
              && sentence("old: exists already"),
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

static void check_live(void)
{
    lat_output *out;
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
    unlink("live");
}

static void check_live_input(void)
{
    lat_output *out;
    lat_input *in;

    put_file("live", "y", 1);
    check_case("a live output is no input, whichever is first");
    in = lat_input_open("live", &lat_comm_self);
    CHECK(in && !lat_output_open("./live", LAT_OUTPUT_LIVE, &lat_comm_self)
              && sentence("live: is the output as well"),
          "input first");
    lat_input_close(in);
    out = opened("live", LAT_OUTPUT_LIVE);
    CHECK(out && !lat_input_open("./live", &lat_comm_self)
              && sentence("./live: is the output as well"),
          "output first");
    lat_output_abort(out);
    in = lat_input_open("live", &lat_comm_self);
    CHECK(in && file_is("live", "y", 1), "%s", lat_error());
    lat_input_close(in);
    unlink("live");
}

static void check_live_signal(void)
{
    check_case("a signal leaves of a live output what was flushed, and no file if nothing was");
    for (int flushed = 0; flushed < 2; flushed++) {
        pid_t pid = fork_flushed();

        if (pid == 0) {
            lat_output *out = lat_output_open("live", LAT_OUTPUT_LIVE, &lat_comm_self);
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

int main(void)
{
    io_begin();
    check_writing();
    check_reserved();
    check_preallocated();
    check_clobber();
    check_live();
    check_live_input();
    check_live_signal();
    return io_done();
}
