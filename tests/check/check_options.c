/* SPDX-License-Identifier: BSD-3-Clause */
/* check_options.c: extents, coordinates and neighbours of a lattice; command lines, parsed in a
 * child process: values, errors and exit codes. */
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "base/error.h"
#include "base/threads.h"
#include "common/geometry.h"
#include "common/options.h"

/* ---- geometry ---------------------------------------------------------------------------- */

static const lat_geometry lattices[] = {
    {1, {5, 1, 1, 1}}, {2, {3, 4, 1, 1}}, {3, {2, 3, 5, 1}}, {4, {4, 4, 4, 4}},
    {4, {1, 2, 3, 4}}, {4, {7, 1, 2, 3}}, {1, {1, 1, 1, 1}},
};
#define LATTICES (sizeof lattices / sizeof *lattices)

static void check_order(void)
{
    check_case("sites are numbered with x fastest, and coordinates are the inverse");
    for (size_t l = 0; l < LATTICES; l++) {
        const lat_geometry *g = &lattices[l];
        size_t i = 0;
        int x[4], y[4];

        for (x[3] = 0; x[3] < g->dims[3]; x[3]++)
            for (x[2] = 0; x[2] < g->dims[2]; x[2]++)
                for (x[1] = 0; x[1] < g->dims[1]; x[1]++)
                    for (x[0] = 0; x[0] < g->dims[0]; x[0]++, i++) {
                        lat_coordinates(g, i, y);
                        CHECK(lat_site(g, x) == i, "lattice %zu: %zu, expected %zu", l,
                              lat_site(g, x), i);
                        CHECK(memcmp(x, y, sizeof x) == 0, "lattice %zu, site %zu", l, i);
                    }
        CHECK(lat_volume(g) == i, "lattice %zu: volume %zu, expected %zu", l, lat_volume(g), i);
    }
}

static void check_neighbours(void)
{
    check_case("a neighbour differs by one step along one axis, periodically");
    for (size_t l = 0; l < LATTICES; l++) {
        const lat_geometry *g = &lattices[l];

        for (size_t i = 0; i < lat_volume(g); i++)
            for (int mu = 0; mu < g->nd; mu++)
                for (int step = -1; step <= 1; step += 2) {
                    int x[4];

                    lat_coordinates(g, i, x);
                    x[mu] = (x[mu] + step + g->dims[mu]) % g->dims[mu];
                    CHECK(lat_neighbour(g, i, mu, step) == lat_site(g, x),
                          "lattice %zu, site %zu, axis %d, step %d", l, i, mu, step);
                }
    }
}

static bool acceptable(int nd, int a, int b, int c, int d)
{
    lat_geometry g = {nd, {a, b, c, d}};
    bool good = lat_geometry_check(&g, "some file") == 0;

    CHECK(good || strncmp(lat_error(), "some file: ", 11) == 0, "blames '%s'", lat_error());
    lat_error_clear();
    return good;
}

static void check_limits(void)
{
    check_case("geometries are accepted up to their limits and refused beyond");
    CHECK(acceptable(4, 4, 4, 4, 4), "4^4");
    CHECK(acceptable(1, 65535, 1, 1, 1), "the largest extent");
    CHECK(!acceptable(0, 4, 4, 4, 4), "no dimension");
    CHECK(!acceptable(5, 4, 4, 4, 4), "five dimensions");
    CHECK(!acceptable(4, 4, 0, 4, 4), "an extent of 0");
    CHECK(!acceptable(4, 4, 4, -1, 4), "a negative extent");
    CHECK(!acceptable(1, 65536, 1, 1, 1), "an extent too large");
    /* 2^63 bytes / (4 links * 2 * 16 * 16 * 8 bytes) = 2^49 = 32768^3 * 16 sites do not fit. */
    CHECK(acceptable(4, 32768, 32768, 32768, 15), "just below 2^49 sites");
    CHECK(!acceptable(4, 32768, 32768, 32768, 16), "2^49 sites");
    CHECK(!acceptable(4, 65535, 65535, 65535, 65535), "65535^4 sites");
}

static void check_dims(void)
{
    static const char *good[] = {"8,8,8,16", "8x8x8x16", "8 8 8 16"};
    static const char *bad[] = {
        "",          " ",    ",",   "8,",  ",8", "8,,8", "8,8x8", "8 8,8",
        "8,8,8,8,8", "8, 8", "-8",  "+8",  "0",  "8,0",  "65536", "99999999999999999999",
        "8a",        "8.",   "0x8", "8\n", "8;8"};
    lat_geometry g;
    char buf[64];

    check_case("dimensions are read in three spellings and written in one");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        g = (lat_geometry){0, {0, 0, 0, 0}};
        CHECK(lat_dims_parse(good[i], &g) == 0, "'%s': %s", good[i], lat_error());
        CHECK(strcmp(lat_dims_text(&g, buf), "8 8 8 16") == 0, "'%s' became '%s'", good[i], buf);
    }
    CHECK(lat_dims_parse("7", &g) == 0 && g.nd == 1 && g.dims[0] == 7 && g.dims[1] == 1
              && g.dims[3] == 1,
          "one dimension: %d, %d %d %d", g.nd, g.dims[0], g.dims[1], g.dims[3]);
    g = (lat_geometry){4, {65535, 65535, 65535, 65535}};
    CHECK(strcmp(lat_dims_text(&g, buf), "65535 65535 65535 65535") == 0, "'%s'", buf);

    check_case("what is not dimensions is refused and changes nothing");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        g = (lat_geometry){2, {3, 5, 1, 1}};
        CHECK(lat_dims_parse(bad[i], &g) < 0, "'%s' was accepted", bad[i]);
        CHECK(lat_error()[0] && g.nd == 2 && g.dims[0] == 3 && g.dims[1] == 5, "'%s'", bad[i]);
        lat_error_clear();
    }
}

/* ---- a tool in a child process ----------------------------------------------------------- */

static struct {
    int gauge, word;
    double omega, theta, unknown;
    long sweeps;
    uint64_t seed;
    lat_geometry dims;
    const char *label, *log;
    bool keep;
} v;

static const lat_option table[] = {
    LAT_HEADING("Gauge"),
    {LAT_OPT_CHOICE, "gauge", 'g', "landau|coulomb|mag", &v.gauge, 0, 0, "condition"},
    {LAT_OPT_REAL, "omega", 0, "W", &v.omega, 0.5, 2, "overrelaxation"},
    {LAT_OPT_REAL, "theta", 0, "X", &v.theta, 0, INFINITY, "where to stop"},
    {LAT_OPT_REAL, "unknown", 0, "X", &v.unknown, 0, 0, "has nothing yet"},
    LAT_HEADING("End of a run"),
    {LAT_OPT_INT, "max-sweeps", 'n', "N", &v.sweeps, 1, 1e9, "when to give up"},
    {LAT_OPT_SEED, "seed", 0, "S", &v.seed, 0, 0, "where chance begins"},
    {LAT_OPT_DIMS, "dims", 0, "X,Y,Z,T", &v.dims, 0, 0, "extents"},
    {LAT_OPT_TEXT, "label", 0, "TEXT", &v.label, 0, 0, "a word about it"},
    {LAT_OPT_CHOICE, "word", 0,
     "a-long-choice-of-words|another-long-choice-of-words|a-third-long-choice-of-words", &v.word, 0,
     0, "which one"},
    {LAT_OPT_FLAG, "keep", 'k', NULL, &v.keep, 0, 0, "keep it"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "log", 0, "FILE", &v.log, 0, 0, "where to log"},
    {LAT_OPT_END, NULL, 0, NULL, NULL, 0, 0, NULL},
};

#define FILTER (LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET)
static const char example[] = "lat-convert configuration.0100.lime | lat-demo --gauge landau "
                              "--omega 1.7 --theta 1e-14 -@ 2 -o fixed.lat";
static const lat_tool filter = {
    "lat-demo", "[FILE]", "Does nothing to a stream.", example, table, 0, 1, FILTER, NULL};
static const lat_tool pair = {"lat-pair", "A B", "Compares nothing.", "lat-pair a b", NULL, 2, 2,
                              0,          NULL};

static bool mine;
static const lat_option own_force[] = {
    {LAT_OPT_FLAG, "force", 0, NULL, &mine, 0, 0, "a force of its own"},
    {LAT_OPT_END, NULL, 0, NULL, NULL, 0, 0, NULL},
};
static const lat_tool forced = {
    "lat-own", "[FILE]", "Has its own force.", "lat-own", own_force, 0, 1, FILTER, NULL};

/* What a child said and how it ended. */
static struct {
    char out[16384], err[4096];
    int status;
} said;

static void values_reset(void)
{
    memset(&v, 0, sizeof v);
    v.omega = 1.7;
    v.theta = 1e-14;
    v.unknown = NAN;
    v.sweeps = 1000;
    v.seed = 42;
    v.dims = (lat_geometry){4, {8, 8, 8, 16}};
    v.word = 1;
}

static void values_print(void)
{
    char buf[64];

    printf(
        "gauge=%d omega=%.17g theta=%.17g sweeps=%ld seed=%llu dims=%s label=%s word=%d keep=%d\n",
        v.gauge, v.omega, v.theta, v.sweeps, (unsigned long long)v.seed,
        lat_dims_text(&v.dims, buf), v.label ? v.label : "none", v.word, v.keep);
    printf("input=%s output=%s no_clobber=%d force=%d no_provenance=%d quiet=%d store=%d "
           "threads=%ld progress=%g\n",
           lat_opts.input ? lat_opts.input : "stdin", lat_opts.output ? lat_opts.output : "stdout",
           lat_opts.no_clobber, lat_opts.force, lat_opts.no_provenance, lat_opts.quiet,
           lat_opts.store, lat_opts.threads, lat_opts.progress);
    printf("files=%d first=%s given(omega)=%d given(threads)=%d mine=%d\n", lat_opts.nfiles,
           lat_opts.nfiles ? lat_opts.files[0] : "", lat_opt_given("omega"),
           lat_opt_given("threads"), mine);
    printf("arguments=%s\n", lat_opts.arguments);
}

static void slurp(int fd, char *buf, size_t size)
{
    size_t n = 0;
    ssize_t got;

    while (n < size - 1 && (got = read(fd, buf + n, size - 1 - n)) > 0)
        n += (size_t)got;
    buf[n] = '\0';
    close(fd);
}

/* Runs `tool` on the words after its name up to NULL; stdout goes to `out` if that is >= 0. */
static int child(const lat_tool *tool, const char *const *words, int out)
{
    int o[2], e[2], argc = 1;
    char *argv[32] = {(char *)(uintptr_t) "/some/where/renamed"};
    pid_t pid;

    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    if (pipe(o) || pipe(e))
        abort();
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        dup2(out >= 0 ? out : o[1], STDOUT_FILENO);
        dup2(e[1], STDERR_FILENO);
        close(o[0]), close(o[1]), close(e[0]), close(e[1]);
        values_reset();
        lat_options_parse(tool, argc, argv);
        values_print();
        fflush(stdout);
        _exit(0);
    }
    close(o[1]), close(e[1]);
    slurp(o[0], said.out, sizeof said.out); /* both fit a pipe, so neither can block */
    slurp(e[0], said.err, sizeof said.err);
    if (pid < 0 || waitpid(pid, &said.status, 0) != pid)
        abort();
    return WIFEXITED(said.status) ? WEXITSTATUS(said.status) : -1;
}

#define RUN(tool, ...) child(tool, (const char *const[]){__VA_ARGS__, NULL}, -1)
#define SAYS(text) \
    CHECK(strstr(said.out, text), "expected '%s' in\n# %s# %s", text, said.out, said.err)

/* A usage error: exit 2, nothing on stdout, two lines on stderr. */
static void check_usage(const lat_tool *tool, int rc, const char *what)
{
    char first[64], second[96];
    const char *line = strchr(said.err, '\n');

    snprintf(first, sizeof first, "%s: ", tool->name);
    snprintf(second, sizeof second, "\nTry '%s --help' for more information.\n", tool->name);
    CHECK(rc == 2, "%s: exit %d, %s", what, rc, said.out);
    CHECK(!said.out[0], "%s: stdout '%s'", what, said.out);
    CHECK(strncmp(said.err, first, strlen(first)) == 0, "%s: stderr '%s'", what, said.err);
    CHECK(line && strcmp(line, second) == 0, "%s: stderr '%s'", what, said.err);
}

static void check_defaults(void)
{
    char expected[256];

    check_case("without arguments every value keeps its default");
    CHECK(RUN(&filter, NULL) == 0 && !said.err[0], "%s", said.err);
    snprintf(expected, sizeof expected,
             "gauge=0 omega=%.17g theta=%.17g sweeps=1000 seed=42 dims=8 8 8 16 label=none", 1.7,
             1e-14);
    SAYS(expected);
    SAYS("word=1 keep=0\n");
    SAYS("input=stdin output=stdout no_clobber=0 force=0 no_provenance=0 quiet=0 store=-1 ");
    SAYS("progress=0\n");
    SAYS("files=0 first= given(omega)=0 given(threads)=0");
    SAYS("arguments=\n");
}

static void check_values(void)
{
    check_case("every type of value is taken in every spelling getopt knows");
    CHECK(RUN(&filter, "-gmag", "--omega", "1", "--theta=2.5e-1", "-n", "7", "--seed",
              "0xFFFFFFFFFFFFFFFF", "--dims", "4x4", "--label=", "--wor",
              "a-third-long-choice-of-words", "-k")
              == 0,
          "%s", said.err);
    SAYS("gauge=2 omega=1 theta=0.25 sweeps=7 seed=18446744073709551615 dims=4 4 label= word=2 "
         "keep=1\n");
    SAYS("given(omega)=1");
    CHECK(RUN(&filter, "--seed=18446744073709551615", "-n1000000000", "--omega=.5", "--unknown",
              "-1e300")
              == 0,
          "%s", said.err);
    SAYS("omega=0.5 ");
    SAYS("sweeps=1000000000 seed=18446744073709551615 ");
    CHECK(RUN(&filter, "--omega=1", "--omega=2") == 0, "%s", said.err);
    SAYS("omega=2 ");

    check_case("the common options are set");
    CHECK(RUN(&filter, "-o", "out", "--no-clobber", "--force", "--no-provenance", "-q",
              "--progress", "-@2", "in")
              == 0,
          "%s", said.err);
    SAYS("input=in output=out no_clobber=1 force=1 no_provenance=1 quiet=1 store=-1 ");
    SAYS("progress=10\n");
    SAYS("files=1 first=in given(omega)=0 given(threads)=1");
    CHECK(RUN(&filter, "--progress=0.5", "-@", "1") == 0, "%s", said.err);
    SAYS("threads=1 progress=0.5\n");
    CHECK(RUN(&filter, "-i", "in", "-o", "-") == 0, "%s", said.err);
    SAYS("input=in output=stdout ");
    CHECK(RUN(&filter, "-") == 0, "%s", said.err);
    SAYS("input=stdin ");
    CHECK(RUN(&filter, "--", "-k") == 0, "%s", said.err);
    SAYS("input=-k ");
    SAYS("keep=0");

    check_case("-0 is raw, -1 to -9 compress, and the last one wins");
    CHECK(RUN(&filter, "-0") == 0, "%s", said.err);
    SAYS(" store=0 ");
    for (char digit = '1'; digit <= '9'; digit++) {
        const char level[] = {'-', digit, '\0'};

        CHECK(RUN(&filter, "-0", level) == 0, "%s", said.err);
        SAYS(" store=1 ");
    }

    check_case("a tool's own option replaces the common one of its name");
    CHECK(RUN(&forced, "--force", "-q") == 0, "%s", said.err);
    SAYS(" force=0 ");
    SAYS(" quiet=1 ");
    SAYS(" mine=1");
    SAYS("arguments=--force\n");
    CHECK(RUN(&forced, "--help") == 0, "%s", said.err);
    SAYS("--force                a force of its own\n");
    CHECK(!strstr(strstr(said.out, "--force") + 1, "--force"), "two of them in %s", said.out);
}

static void check_refusals(void)
{
    static const char *const bad[][3] = {
        {"--omega", "-1"},
        {"--omega", "2.0000001"},
        {"--omega", ""},
        {"--omega", "1x"},
        {"--omega", " 1"},
        {"--omega", "1 "},
        {"--omega", "nan"},
        {"--omega", "0x1p0"},
        {"--omega", "1,5"},
        {"--omega", "."},
        {"--theta", "inf"},
        {"--theta", "1e999"},
        {"--theta", "-1e-300"},
        {"--theta", "1e-999"},
        {"-n", "0"},
        {"-n", "1000000001"},
        {"-n", "1e3"},
        {"-n", "7.0"},
        {"-n", ""},
        {"-n", " 7"},
        {"-n", "0x10"},
        {"-n", "99999999999999999999"},
        {"-n", "-"},
        {"-n", "7 8"},
        {"--seed", "-1"},
        {"--seed", "+1"},
        {"--seed", "18446744073709551616"},
        {"--seed", "0x"},
        {"--seed", "0x10000000000000000"},
        {"--seed", "1f"},
        {"--seed", ""},
        {"--seed", "0x0x1"},
        {"--seed", " 1"},
        {"--gauge", "lan"},
        {"--gauge", ""},
        {"--gauge", "Landau"},
        {"--gauge", "landau|coulomb"},
        {"--gauge", "mag "},
        {"--dims", "8,8,8,8,8"},
        {"--dims", "0"},
        {"--dims", "65535,65535,65535,65535"},
        {"--dims", ""},
        {"-@", "0"},
        {"-@", "-1"},
        {"-@", "two"},
        {"-@", "100000"},
        {"--progress=0"},
        {"--progress=x"},
        {"--bogus"},
        {"-z"},
        {"-o"},
        {"--omega"},
        {"--keep=1"},
        {"--l"},
        {"a", "b"},
        {"-i", "a", "b"},
        {"-i"},
    };

    check_case("a wrong command line is exit 2 and two lines on stderr");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char what[128];

        snprintf(what, sizeof what, "%s %s %s", bad[i][0], bad[i][1] ? bad[i][1] : "",
                 bad[i][2] ? bad[i][2] : "");
        check_usage(&filter, RUN(&filter, bad[i][0], bad[i][1], bad[i][2]), what);
    }

    check_case("an option that is misspelt by a letter, or two that changed places, is guessed");
    static const char *const misspelt[] = {"--gague=landau", "--guage", "--gaug3", "--omgea",
                                           "--omeg_a=1"};
    for (size_t i = 0; i < sizeof misspelt / sizeof *misspelt; i++) {
        const int rc = RUN(&filter, misspelt[i]);
        CHECK(rc == 2 && !said.out[0], "%s: exit %d, %s", misspelt[i], rc, said.out);
        CHECK(strstr(said.err, i < 3 ? "Did you mean --gauge? Try" : "Did you mean --omega? Try"),
              "%s", said.err);
    }
    RUN(&filter, "--gauze-of-x");
    CHECK(!strstr(said.err, "Did you mean"), "%s", said.err);
    RUN(&filter, "-i");
    CHECK(!strstr(said.err, "Did you mean"), "%s", said.err);

    check_case("an error about a choice lists the choices, one about a range the range");
    RUN(&filter, "--gauge", "x");
    CHECK(strstr(said.err, "--gauge: expected landau, coulomb or mag, found 'x'\n"), "%s",
          said.err);
    RUN(&filter, "--omega", "-1");
    CHECK(strstr(said.err, "--omega: expected a number from 0.5 to 2, found '-1'\n"), "%s",
          said.err);
    RUN(&filter, "--label", "x", "--omega", "evil\n\033[2J");
    check_usage(&filter, 2, "a value with a newline");

    check_case("too few and too many arguments are refused, also where two are needed");
    check_usage(&pair, RUN(&pair, NULL), "none");
    check_usage(&pair, RUN(&pair, "a"), "one");
    CHECK(RUN(&pair, "a", "b") == 0, "%s", said.err);
    check_usage(&pair, RUN(&pair, "a", "b", "c"), "three");
    check_usage(&pair, RUN(&pair, "-o", "x", "a", "b"), "an option that it does not have");
}

/* ---- provenance -------------------------------------------------------------------------- */

/* A shell's opinion of a line: the second word of `arguments`. */
static bool shell_reads(const char *arguments, const char *expected)
{
    char script[] = "/tmp/check_options.XXXXXX", command[64], back[512];
    int fd = mkstemp(script);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL, *p;

    if (!f)
        abort();
    fprintf(f, "set -- %s\nprintf %%s \"$2\"\n", arguments);
    fclose(f);
    snprintf(command, sizeof command, "LC_ALL=C bash %s", script);
    p = popen(command, "r");
    if (!p)
        abort();
    back[fread(back, 1, sizeof back - 1, p)] = '\0';
    pclose(p);
    unlink(script);
    return strcmp(back, expected) == 0;
}

static char *arguments_said(void)
{
    char *a = strstr(said.out, "\narguments="), *end;

    if (!a)
        return (char *)memset(said.out, 0, 1);
    a += strlen("\narguments=");
    end = strrchr(a, '\n');
    if (end)
        *end = '\0';
    return a;
}

static void check_provenance(void)
{
    static const char *const values[] = {"plain",
                                         "two words",
                                         "it's",
                                         "",
                                         "a\"b",
                                         "$HOME `id` \\",
                                         "*?[x]",
                                         "a|b;c&d",
                                         "tab\there",
                                         "line\nbreak",
                                         "\033[31mred\033[0m",
                                         "\0017",
                                         "don't\n\\n",
                                         "M\xc3\xbcller",
                                         "#x",
                                         "~",
                                         "-x",
                                         "{a,b}",
                                         "!!"};
    char all[256];

    check_case("provenance keeps what changes the result, in order and by long name");
    CHECK(RUN(&filter, "-kn7", "in", "--om=1", "-o", "out", "-@2", "-q", "--progress", "-3",
              "--force", "--no-clobber", "--no-provenance", "--log", "x", "--dims", "4 4")
              == 0,
          "%s", said.err);
    SAYS("\narguments=--keep --max-sweeps 7 --omega 1 --force --dims '4 4'\n");
    CHECK(RUN(&filter, "--no-provenance", "-i", "in") == 0, "%s", said.err);
    SAYS("\narguments=\n");

    check_case("provenance is one line that a shell reads back exactly");
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    for (size_t i = 0; i <= sizeof values / sizeof *values; i++) {
        const char *value = i < sizeof values / sizeof *values ? values[i] : all, *line, *p;

        CHECK(RUN(&filter, "--label", value) == 0, "%s", said.err);
        line = arguments_said();
        for (p = line; *p; p++)
            if (iscntrl((unsigned char)*p))
                break;
        CHECK(!*p, "value %zu: byte %d in '%s'", i, *p, line);
        CHECK(strncmp(line, "--label ", 8) == 0 && shell_reads(line, value), "value %zu: '%s'", i,
              line);
    }
}

/* ---- what it prints ---------------------------------------------------------------------- */

static size_t longest_line(const char *text)
{
    size_t longest = 0, n;

    for (; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (n > longest)
            longest = n;
    }
    return longest;
}

/* The example as a shell would join it: breaks after "|" and by backslash undone. */
static void join(char *text)
{
    char *to = text;

    for (char *p = text; *p; p++) {
        if (*p == '\\' && p[1] == '\n')
            p++;
        if (*p == '\n') {
            while (p[1] == ' ')
                p++;
            *p = ' ';
        }
        if (!(*p == ' ' && to > text && to[-1] == ' '))
            *to++ = *p;
    }
    *to = '\0';
}

static void check_help(void)
{
    static const char *const names[] = {"--gauge=landau|coulomb|mag",
                                        "--omega=W",
                                        "--theta=X",
                                        "--max-sweeps=N",
                                        "--seed=S",
                                        "--dims=X,Y,Z,T",
                                        "--label=TEXT",
                                        "--word=",
                                        "--keep",
                                        "--log=FILE",
                                        "--input=FILE",
                                        "--output=FILE",
                                        "--no-clobber",
                                        "--force",
                                        "--no-provenance",
                                        "-0 ",
                                        "-1 ",
                                        "-@, --threads=N",
                                        "--progress[=SECONDS]",
                                        "--quiet",
                                        "--help",
                                        "--version",
                                        "Does nothing to a stream.",
                                        "lat-demo [OPTION...] [FILE]"};
    static const char *const defaults[] = {"(default landau)",
                                           "(default 1.7)",
                                           "(default 1e-14)",
                                           "(default 1000)",
                                           "(default 42)",
                                           "(default 8,8,8,16)",
                                           "another-long-choice-of-words"};
    char *tail;
    int full[2];

    check_case(
        "--help is on stdout, below 80 columns, with every option, its default and the example");
    CHECK(RUN(&filter, "--help") == 0 && !said.err[0], "%s", said.err);
    CHECK(longest_line(said.out) < 80, "a line has %zu columns", longest_line(said.out));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        SAYS(names[i]);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        SAYS(defaults[i]);
    CHECK(!strstr(strstr(said.out, "--unknown"), "has nothing yet (default"),
          "a default of NaN was shown");
    CHECK(!strstr(said.out, ") (default"), "a default twice");
    CHECK(strstr(said.out, "--unknown") < strstr(said.out, "--max-sweeps")
              && strstr(said.out, "--log") < strstr(said.out, "--input"),
          "the tool's own options come first, in their order");
    CHECK(strstr(said.out, "a stream.\n\nGauge:\n  -g, --gauge=")
              && strstr(said.out, "\n\nEnd of a run:\n  -n, --max-sweeps=N")
              && strstr(said.out, "\n\nCommon options:\n  -0"),
          "headings stand above their options, after an empty line: %s", said.out);
    tail = strstr(said.out, "\nExample:\n");
    if (CHECK(tail, "no example in %s", said.out)) {
        join(tail);
        CHECK(strncmp(tail, " Example: ", 10) == 0
                  && strncmp(tail + 10, example, strlen(example)) == 0
                  && strlen(tail + 10) <= strlen(example) + 1,
              "'%s'", tail);
    }

    check_case("headings are in the table for pages and shells, and are no options");
    CHECK(RUN(&filter, "--option-table") == 0, "%s", said.err);
    SAYS("\nheading\tGauge:\noption\town\tg\tgauge\t");
    SAYS("\nheading\tEnd of a run:\noption\town\tn\tmax-sweeps\t");
    CHECK(RUN(&filter, "--usage") == 0 && !strstr(said.out, "Gauge:")
              && strstr(said.out, "--gauge"),
          "%s", said.out);
    check_usage(&filter, RUN(&filter, "--Gauge:"), "a heading");

    check_case("--version begins with the tool and its version, then how it was built");
    CHECK(RUN(&filter, "--version") == 0 && !said.err[0], "%s", said.err);
    CHECK(strncmp(said.out, "lat-demo " LAT_VERSION "\nbuilt with ", 11 + 9 + strlen(LAT_VERSION))
              == 0,
          "%s", said.out);
    SAYS("\nzlib 1");
    SAYS("\nCUDA: ");
    SAYS("\nMPI: ");

    check_case("--help into a full device is an error");
    full[0] = open("/dev/full", O_WRONLY);
    if (full[0] < 0)
        return;
    CHECK(child(&filter, (const char *const[]){"--help", NULL}, full[0]) == 1, "status %d",
          said.status);
    CHECK(strcmp(said.err, "lat-demo: <stdout>: cannot be written: No space left on device\n") == 0,
          "%s", said.err);
    close(full[0]);
}

#ifdef _OPENMP
/* libgomp reads its environment before main, so this program has to be another one. */
static void check_threads(const char *self)
{
    char line[512] = "";
    FILE *p;

    check_case("OMP_NUM_THREADS is the default of -@");
    snprintf(line, sizeof line, "OMP_NUM_THREADS=3 '%s' --threads-please", self);
    p = popen(line, "r");
    CHECK(p && fgets(line, sizeof line, p) && strcmp(line, "3\n") == 0, "'%s'", line);
    if (p)
        pclose(p);

    check_case(
        "a share of work takes no more threads than have enough of it, and leaves them later");
    lat_threads_set(4);
    static const struct {
        double work;
        int threads;
    } share[] = {{1e12, 4}, {2 * 2048 + 2047, 2}, {0, 1}, {2047, 1}, {4 * 2048, 4}, {1e300, 4}};
    for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
        lat_threads_share(share[i].work, 2048);
        CHECK(lat_threads() == share[i].threads, "%g: %d threads", share[i].work, lat_threads());
    }
}
#endif

int main(int argc, char **argv)
{
    setenv("GOMP_SPINCOUNT", "2000",
           0); /* lat_options_parse is not to execute this program again */
    if (argc == 2 && strcmp(argv[1], "--threads-please") == 0) {
        lat_options_parse(&filter, 1, argv);
        printf("%ld\n", lat_opts.threads);
        return 0;
    }
    check_order();
    check_neighbours();
    check_limits();
    check_dims();
    check_defaults();
    check_values();
    check_refusals();
    check_provenance();
    check_help();
#ifdef _OPENMP
    check_threads(argv[0]);
#endif
    return check_done();
}
