/* SPDX-License-Identifier: BSD-3-Clause */
/* check_tuned: what is tuned (grid/tuned.h) is found again, by other runs too; what is damaged is
 * ignored with a warning, what is of others stays. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/error.h"
#include "check.h"
#include "grid/tuned.h"

static char folder[] = "/tmp/lat-tuned-XXXXXX", file[64], said[4096];

/* What a function says on stderr, to `said`. */
static void listen_to(void (*f)(void))
{
    fflush(stderr);
    FILE *to = tmpfile();
    const int old = dup(2);
    if (!to || old < 0 || dup2(fileno(to), 2) < 0)
        exit(1);
    f();
    fflush(stderr);
    dup2(old, 2);
    close(old);
    rewind(to);
    said[fread(said, 1, sizeof said - 1, to)] = '\0';
    fclose(to);
}

static lat_tuned found;
static bool there;
static const char *wanted;

static void look(void) { there = lat_tuned_find(wanted, &found); }

/* As a new run does it. */
static bool look_anew(const char *what)
{
    lat_tuned_forget();
    wanted = what;
    listen_to(look);
    return there;
}

static void write_file(const char *text)
{
    FILE *f = fopen(file, "w");
    if (!f || fputs(text, f) < 0 || fclose(f))
        exit(1);
}

static int count_lines(const char *with)
{
    char line[1024];
    int n = 0;
    FILE *f = fopen(file, "r");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, with) != NULL;
    if (f)
        fclose(f);
    return n;
}

static void keeps(void)
{
    const lat_tuned a = {"strip 4, tiles", 12.5, 14}, b = {"strip 2", 3, 3};
    check_case("what is kept is found, by this run and by others");
    CHECK(!look_anew("card, one") && !*said, "there is no file, and '%s'", said);
    lat_tuned_keep("card, one", &a);
    lat_tuned_keep("card, two", &b);
    for (int again = 0; again < 2; again++) {
        CHECK(again ? look_anew("card, one") : lat_tuned_find("card, one", &found), "not found");
        CHECK(!strcmp(found.way, a.way) && found.time == a.time && found.usual == a.usual,
              "'%s' %g %g", found.way, found.time, found.usual);
        CHECK(lat_tuned_find("card, two", &found) && !strcmp(found.way, b.way), "'%s'", found.way);
        CHECK(!lat_tuned_find("card", &found) && !lat_tuned_find("card, one ", &found), "too much");
    }
    check_case("the last one counts, and there is one line of each");
    lat_tuned_keep("card, one", &b);
    lat_tuned_keep("card, one", &a);
    lat_tuned_keep("card, one", &b);
    CHECK(look_anew("card, one") && !strcmp(found.way, b.way) && !*said, "'%s' '%s'", found.way,
          said);
    CHECK(count_lines("card, one\t") == 1 && count_lines("\t") == 2, "%d, %d lines",
          count_lines("card, one\t"), count_lines("\t"));
}

static void modes(void)
{
    const lat_tuned a = {"strip 8", 1, 2};
    check_case("anew: once in a run; never: not at all");
    lat_tuned_set(LAT_TUNE_ANEW);
    CHECK(!look_anew("card, two"), "found what another run has measured");
    lat_tuned_keep("card, two", &a);
    CHECK(lat_tuned_find("card, two", &found) && !strcmp(found.way, a.way), "'%s'", found.way);
    lat_tuned_set(LAT_TUNE_NEVER);
    CHECK(!lat_tuned_find("card, two", &found), "found");
    lat_tuned_set(LAT_TUNE_ONCE);
    CHECK(look_anew("card, two") && !strcmp(found.way, a.way), "'%s'", found.way);
}

static void reject(void) { lat_tuned_reject("card, two", "'strip S'"); }

static void damaged(void)
{
    const lat_tuned a = {"strip 3", 1, 2};
    check_case("a way that makes no sense is rejected with a warning");
    listen_to(reject);
    CHECK(strstr(said, file) && strstr(said, "card, two: expected 'strip S', found 'strip 8'"),
          "'%s'", said);
    CHECK(!lat_tuned_find("card, two", &found), "still there");

    check_case("a file of something else is ignored with a warning, and replaced");
    write_file("#!/bin/sh\nlat 0\n");
    CHECK(!look_anew("card, one") && strstr(said, file) && strstr(said, "found another file"),
          "'%s'", said);
    lat_tuned_keep("card, one", &a);
    CHECK(look_anew("card, one") && !*said, "'%s'", said);

    check_case("lines that are damaged are ignored with a warning, others are found");
    static const char *const bad[] = {"lat 9.9\tcard\tstrip 1\t1\n",
                                      "lat 9.9\tcard\tstrip 1\t1\t-1\n",
                                      "lat 9.9\tcard\tstrip 1\t1\tnan\n",
                                      "lat 9.9\tcard\tstrip 1\t1\t2 3\n",
                                      "lat 9.9\tcard\t\t1\t2\n",
                                      "lat 9.9\tcard\tstrip 1\t1\t2",
                                      "\n",
                                      "strip\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lat_tuned_keep("card, one", &a);
        lat_tuned_forget();
        FILE *f = fopen(file, "a");
        if (!f || fputs(bad[i], f) < 0 || fclose(f))
            exit(1);
        CHECK(look_anew("card, one") && strstr(said, "in line 3, found others"), "%zu: '%s'", i,
              said);
    }
    static char long_line[5000];
    memset(long_line, 'x', sizeof long_line - 1);
    write_file("# lat tuned 1: what devices are fastest with; results do not depend on it\n");
    FILE *f = fopen(file, "a");
    if (!f || fputs(long_line, f) < 0 || fclose(f))
        exit(1);
    CHECK(!look_anew("card, one") && *said, "a line of 5000 characters, and nothing said");
}

static void of_others(void)
{
    const lat_tuned a = {"strip 3", 1, 2};
    check_case("lines of other versions and cards stay; many processes write at once");
    unlink(file);
    lat_tuned_forget();
    lat_tuned_keep("card, one", &a);
    FILE *f = fopen(file, "a");
    if (!f || fputs("lat 9.9\tcard, one\tstrip 7\t1\t2\n", f) < 0 || fclose(f))
        exit(1);
    CHECK(look_anew("card, one") && !strcmp(found.way, a.way) && !*said, "'%s' '%s'", found.way,
          said);
    lat_tuned_keep("card, two", &a);
    CHECK(count_lines("lat 9.9\tcard, one\tstrip 7") == 1 && count_lines("\t") == 3, "%d lines",
          count_lines("\t"));
    enum { PROCESSES = 8, EACH = 20 };
    fflush(NULL);
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            lat_tuned_forget();
            for (int i = 0; i < EACH; i++) {
                char what[64];
                snprintf(what, sizeof what, "process %d, %d", p, i);
                lat_tuned_keep(what, &a);
            }
            _exit(0);
        }
    int status, bad = 0;
    while (wait(&status) > 0)
        bad += status != 0;
    /* A line may be lost where two write at once, which is measured again; none is damaged. */
    CHECK(bad == 0 && look_anew("card, one") && !*said, "%d died; '%s'", bad, said);
    CHECK(count_lines("process") >= EACH && count_lines("lat 9.9") == 1, "%d lines",
          count_lines("process"));
}

static void no_folder(void)
{
    const lat_tuned a = {"strip 3", 1, 2};
    check_case("without a folder it is remembered for this run alone");
    setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
    lat_tuned_forget();
    lat_tuned_keep("card, three", &a);
    CHECK(lat_tuned_find("card, three", &found), "not found");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK(!look_anew("card, three") && !*said, "'%s'", said);
    lat_tuned_keep("card, three", &a);
    CHECK(lat_tuned_find("card, three", &found) && !*lat_error(), "'%s'", lat_error());
}

int main(void)
{
    lat_tool_name = "check_tuned";
    if (!mkdtemp(folder))
        return 1;
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(file, sizeof file, "%s/lat/tuned-1", folder);
    keeps();
    modes();
    damaged();
    of_others();
    no_folder();
    lat_tuned_forget();
    unlink(file);
    file[strlen(folder) + 4] = '\0';
    rmdir(file);
    rmdir(folder);
    return check_done();
}
