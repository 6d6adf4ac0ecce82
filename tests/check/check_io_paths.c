/* SPDX-License-Identifier: BSD-3-Clause */
/* check_io_paths.c: which file an output becomes: links, FIFOs, devices, folders, names that are
 * taken, two names of one file; permissions; links and FIFOs that other users put there. */
#include "check_io.h"

static void check_links(void)
{
    struct stat st;
    lat_output *out;

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
    CHECK(!lat_output_open("link", LAT_OUTPUT_NO_CLOBBER, &lat_comm_self)
              && sentence("link: exists already"),
          "clobbered");
    CHECK(!lat_output_open("dangling", 0, &lat_comm_self)
              && sentence("dangling: is a symbolic link to nothing"),
          "dangling");
    CHECK(!exists("nowhere"), "created");
}

static void check_devices(void)
{
    struct stat st;
    lat_output *out;
    char first = 0;
    pid_t pid;

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
}

static void check_refusals(void)
{
    pid_t pid;

    check_case("folders, missing folders and write-protected files are refused by name");
    put_file("old", "old", 3);
    CHECK(!lat_output_open("sub", 0, &lat_comm_self)
              && sentence("sub: expected a file, found a directory"),
          "folder");
    CHECK(!lat_output_open("none/", 0, &lat_comm_self)
              && sentence("none/: expected a file, found the name of a directory"),
          "none/");
    CHECK(!lat_output_open("none/x", 0, &lat_comm_self)
              && sentence("none/x: cannot create a file in none/: No such file"),
          "none/x");
    CHECK(!lat_output_open("old/x", 0, &lat_comm_self)
              && sentence("old/x: cannot be written: Not a directory"),
          "old/x");
    CHECK(!lat_output_open("", 0, &lat_comm_self)
              && sentence("expected the name of an output file"),
          "empty");
    chmod("old", 0444);
    chmod(".", 0777);
    pid = fork_flushed();
    if (pid == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) /* root may write anything */
            _exit(0);
        _exit(lat_output_open("old", 0, &lat_comm_self)
              || !sentence("old: cannot be replaced: Permission denied"));
    }
    CHECK(ended(pid) == 0, "a write-protected file was accepted");
    CHECK(file_is("old", "old", 3) && temporaries(NULL) == 0, "content, or a temporary");
    chmod("old", 0644);
}

static void check_taken_name(void)
{
    char name[64], victim[] = "victim";
    lat_output *out;

    check_case("a link with the temporary's name is neither followed nor removed");
    snprintf(name, sizeof name, ".target.%ld.tmp", (long)getpid());
    put_file(victim, "precious", 8);
    if (symlink(victim, name) != 0)
        abort();
    out = opened("target", 0);
    CHECK(out && lat_output_write(out, "x", 1) == 0 && lat_output_commit(out) == 0, "%s",
          lat_error());
    CHECK(file_is("target", "x", 1) && file_is(victim, "precious", 8) && exists(name),
          "content, or the other link");
    unlink(name);
    CHECK(temporaries(NULL) == 0, "a temporary");
    unlink("target"), unlink(victim);
}

static void check_many(void)
{
    char name[64];
    lat_output *many[17];
    int n;

    check_case("sixteen outputs at once are possible, and the next is refused");
    for (n = 0; n < 16; n++) {
        snprintf(name, sizeof name, "many%d", n);
        if (!(many[n] = opened(name, 0)))
            break;
    }
    CHECK(n == 16 && temporaries(NULL) == 16, "%d outputs, %d temporaries", n, temporaries(NULL));
    CHECK(!lat_output_open("more", 0, &lat_comm_self)
              && sentence("more than 16 output files at once"),
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
    lat_output *a = opened(one, flags), *b = lat_output_open(other, other_flags, &lat_comm_self);
    bool good = a && !b && sentence(why);

    lat_output_abort(b);
    lat_output_abort(a);
    return good && temporaries(NULL) == 0;
}

static void check_same_output(void)
{
    static const char *const spellings[] = {"one", "./one", "sub/../one", "there/one", "named"};
    static const unsigned flags[] = {0, LAT_OUTPUT_LIVE};
    lat_output *a, *b;
    char why[64];

    check_case("two outputs to one file are refused under all its names, old or new, live or not");
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

    check_case("a hard link and a file in another folder are other outputs, and so is the same "
               "file later");
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

static void check_permissions(void)
{
    static const mode_t modes[] = {0600, 0640, 0664, 0755, 0222};
    struct stat st;
    lat_output *out;
    char name[256];

    check_case(
        "what replaces a file is for nobody else until it is whole, and then has its permissions");
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

    check_case("it has the group of the file, or else gives our group no more than everybody");
    if (geteuid() != 0)
        return; /* whom to give it to, and who else to be, only root can choose */
    for (int other = 0; other < 2; other++) {
        put_file("shared", "old", 3);
        if (chown("shared", 65534, 4) != 0 || chmod("shared", 0664) != 0 || chmod(".", 0777) != 0)
            abort();
        pid_t pid = fork_flushed();
        if (pid == 0) {
            if (other
                && (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
                _exit(0);
            out = lat_output_open("shared", 0, &lat_comm_self);
            _exit(!out || lat_output_write(out, "new", 3) < 0 || lat_output_commit(out) < 0);
        }
        CHECK(ended(pid) == 0 && stat("shared", &st) == 0 && file_is("shared", "new", 3),
              "not written");
        CHECK(other ? st.st_gid == 65534 && (st.st_mode & 07777) == 0644
                    : st.st_gid == 4 && (st.st_mode & 07777) == 0664,
              "other %d: group %d, mode %o", other, (int)st.st_gid, st.st_mode & 07777);
        unlink("shared");
    }
}

static bool is_link(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Links that somebody makes with the name of our temporary, and of FILE before the rename. */
static void check_races(void)
{
    char name[64];
    lat_output *out;

    check_case("a link with the name of the temporary is not followed");
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

    check_case("a link that appears with the name of FILE is not followed by the rename");
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

/* What another user has put into a folder like /tmp. */
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
            lat_output *out = lat_output_open("common/trap", 0, &lat_comm_self);
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

int main(void)
{
    io_begin();
    check_links();
    check_devices();
    check_refusals();
    check_taken_name();
    check_many();
    check_same_output();
    check_permissions();
    check_races();
    check_traps();
    return io_done();
}
