/* SPDX-License-Identifier: BSD-3-Clause */
/* check_faults.c: every tool, with one call after the other failing (faults.c), and with signals in
 * between.
 *
 * Of each run is asked
 *   - where a call was cut short or interrupted: nothing is to be noticed at all;
 *   - where it failed: exit status 1 and one sentence on stderr, or everything as usual if the tool
 * can do without (a read, write, fsync or rename that fails is never nothing);
 *   - where a signal came: that it died of it, silently;
 *   - in any case: no temporary is left; each output is complete, or not there, or what it was
 * before; where there is one output, it is not there unless the tool has said that it is done;
 * inputs are as they were.
 *
 *   check_faults          a few calls of each kind, for make check
 *   check_faults full     all of them
 *
 * LAT_BIN is the folder of the tools; faults.so lies beside this program. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../check/check.h"

#define WORDS 32
#define FILES 16
#define CHOSEN 7 /* calls of a kind that fail, of many */

typedef struct scenario {
    const char *words;
    bool piped;    /* in.lat on stdin; stdout is a pipe in any case */
    bool over;     /* the output is there before, always: it is the input */
    bool may_warn; /* and go on: a checkpoint that is not to be had */
} scenario;

/* Names that begin with "in" are inputs, with "log" logs: those have times in them and are written
 * as they go. */
static const scenario scenarios[] = {
    {.words = "lat-start hot --dims 2,2,2,2 --count 2 -o out"},
    {.words = "lat-convert in.nersc -o out"},
    {.words = "lat-convert in.ildg --to ildg -o out"},
    {.words = "lat-convert in.lat in.milc -1 -o out"},
    {.words = "lat-convert --to nersc in.ildg"},
    {.words = "lat-convert --to nersc in.nersc -o out"},
    {.words = "lat-reorder --sites parity in.lat -o out"},
    {.words = "lat-reorder --shift 1,0,0,0 out -o out", .over = true},
    {.words = "lat-gauge --random --save-g g in.lat -o out"},
    {.words = "lat-gauge --random", .piped = true},
    {.words = "lat-reunit --report report in.lat -o out"},
    {.words = "lat-heatbath --dims 2,2,2,2 --beta 5.7 --thermalise 1 --count 2 --log log -o out"},
    {.words = "lat-anneal --steps 2 --copies 2 --copies-log log in.lat -o out"},
    {.words = "lat-anneal --steps 2 --checkpoint ck --every 0 in.lat -o out", .may_warn = true},
    {.words = "lat-orelax --theta 1e-2 --log log in.lat -o out"},
    {.words = "lat-orelax --theta 1e-2", .piped = true},
    {.words = "lat-theta --tsv in.lat -o out"},
    {.words = "lat-theta --json", .piped = true},
    {.words = "lat-plaq in.lat"},
    {.words = "lat-info --check in.lat"},
    {.words = "lat-info --json in.lat -o out"},
    {.words = "lat-diff in.lat in.lat"},
    {.words = "lat-abelian --require-theta 10 --links g --currents currents in.lat -o out"},
    {.words = "lat-gluon --require-theta 10 in.lat -o out"},
    {.words = "lat-flow --until .05 --links g in.lat -o out"},
    {.words = "lat-smear stout:.1,1 in.lat -o out"},
    {.words = "lat-ghost --require-theta 10 --modes 1 --accuracy 1e-2 in.lat -o out"},
    {.words = "lat-source noise:z4,t=1 in.lat -o out"},
    {.words =
         "lat-solve --kappa .1 --residual 1e-3 --source point:0,0,0,0 --log log in.lat -o out"},
    {.words = "lat-solve --kappa .1 --residual 1e-3 --gauge-file in.lat in.source -o out"},
    {.words = "lat-dirac --apply M --kappa .1 --gauge-file in.lat in.source -o out"},
    {.words = "lat-modes --kappa .1 --modes 1 --residual 1e-3 --log log in.lat -o out"},
    {.words = "lat-overlap --gw --sign-error 1e-2 --modes in.modes in.lat -o out"},
    {.words = "lat-corr in.quark -o out"},
    {.words = "lat-quark in.momentum -o out"},
    {.words = "lat-subspace --kappa .1 --vectors 8 --columns-to-come 0 --log log in.lat -o out"},
    {.words = "lat-loops in.lat -o out"},
    {.words = "lat-stat --samples samples in.table -o out"},
    {.words = "lat-fit in.samples -o out"},
};
#define SCENARIOS (sizeof scenarios / sizeof *scenarios)

/* `harmless`: nothing may be noticed. `fatal`: exit status 1. */
static const struct {
    const char *kind, *effect;
    bool harmless, fatal;
} faults[] = {
    {"read", "EIO", false, true},     {"read", "EINTR", true, false},
    {"read", "short", true, false},   {"write", "EIO", false, true},
    {"write", "ENOSPC", false, true}, {"write", "EINTR", true, false},
    {"write", "short", true, false},  {"seek", "EIO", false, true},
    {"fsync", "EIO", false, true},    {"fsync", "EDQUOT", false, true},
    {"fsync", "EINTR", true, false},  {"rename", "EACCES", false, true},
    {"open", "EACCES", false, false}, {"open", "EMFILE", false, false},
    {"open", "EINTR", true, false},   {"close", "EIO", false, false},
    {"close", "EINTR", true, false},  {"alloc", "ENOMEM", false, false},
    {"mmap", "ENOMEM", false, false}, {"any", "TERM", false, false},
    {"any", "INT", false, false},
};
#define FAULTS (sizeof faults / sizeof *faults)

/* ---- files -------------------------------------------------------------------------------------
 */

typedef struct content {
    char name[64];
    size_t n;
    unsigned char *bytes;
} content;

typedef struct folder {
    int count;
    content file[FILES];
} folder;

static char here[] = "/dev/shm/lat-check-faults.XXXXXX"; /* thousands of fsync are quick there */
static char library[PATH_MAX], bin[PATH_MAX];
static folder inputs;

static void need(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}

static content slurp(const char *name)
{
    content c = {.bytes = NULL};
    struct stat st;
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    snprintf(c.name, sizeof c.name, "%.63s", name);
    need(fd >= 0 && fstat(fd, &st) == 0, name);
    c.n = (size_t)st.st_size;
    c.bytes = malloc(c.n + 1);
    need(c.bytes && read(fd, c.bytes, c.n) == (ssize_t)c.n, name);
    close(fd);
    return c;
}

static void spill(const char *name, const content *c)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    need(fd >= 0 && write(fd, c->bytes, c->n) == (ssize_t)c->n && close(fd) == 0, name);
}

static int real_names(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static folder list_folder(void)
{
    folder f = {.count = 0};
    struct dirent **list;
    const int n = scandir(".", &list, real_names, alphasort);
    need(n >= 0, here);
    for (int i = 0; i < n; i++) {
        need(f.count < FILES, "room for more files");
        f.file[f.count++] = slurp(list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return f;
}

static void forget(folder *f)
{
    while (f->count)
        free(f->file[--f->count].bytes);
}

static const content *find(const folder *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (strcmp(f->file[i].name, name) == 0)
            return &f->file[i];
    return NULL;
}

static bool same(const content *a, const content *b)
{
    return a && b && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* Inputs only, and `out` where it shall be there before. */
static void tidy(bool before)
{
    struct dirent **list;
    const int n = scandir(".", &list, real_names, NULL);
    need(n >= 0, here);
    for (int i = 0; i < n; i++) {
        if (strncmp(list[i]->d_name, "in.", 3) != 0)
            need(unlink(list[i]->d_name) == 0, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    if (before)
        spill("out", find(&inputs, "in.lat"));
}

/* ---- runs --------------------------------------------------------------------------------------
 */

typedef struct outcome {
    int status;      /* of waitpid */
    content said;    /* stderr */
    content printed; /* stdout */
    folder left;
} outcome;

static void outcome_free(outcome *o)
{
    free(o->said.bytes);
    free(o->printed.bytes);
    forget(&o->left);
}

static void start(const scenario *s, const char *fault, const char *count, const int *out,
                  const int *err)
{
    char words[256], path[PATH_MAX + 64], *argv[WORDS + 1], *next = words;
    int argc = 0;
    snprintf(words, sizeof words, "%s", s->words);
    while (argc < WORDS && (argv[argc] = strsep(&next, " ")))
        argc++;
    argv[argc] = NULL;
    snprintf(path, sizeof path, "%s/%s", bin, argv[0]);
    const int in = open(s->piped ? "in.lat" : "/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(in, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    alarm(60); /* SIGALRM is how a hang ends */
    setenv("LD_PRELOAD", library, 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("GOMP_SPINCOUNT", "0", 1); /* a tool executes itself once more to set it */
    if (fault)
        setenv("LAT_FAULT", fault, 1);
    if (count)
        setenv("LAT_FAULT_COUNT", count, 1);
    execv(path, argv);
    _exit(127);
}

static void append(content *c, int fd, bool *open)
{
    unsigned char some[65536];
    const ssize_t n = read(fd, some, sizeof some);
    *open = n > 0;
    if (n <= 0)
        return;
    c->bytes = realloc(c->bytes, c->n + (size_t)n + 1);
    need(c->bytes != NULL, "memory");
    memcpy(c->bytes + c->n, some, (size_t)n);
    c->n += (size_t)n;
    c->bytes[c->n] = 0;
}

static void drain(outcome *o, int out, int err)
{
    bool more[2] = {true, true};
    while (more[0] || more[1]) {
        struct pollfd p[2] = {{.fd = more[0] ? out : -1, .events = POLLIN},
                              {.fd = more[1] ? err : -1, .events = POLLIN}};
        need(poll(p, 2, -1) >= 0, "poll");
        if (p[0].revents)
            append(&o->printed, out, &more[0]);
        if (p[1].revents)
            append(&o->said, err, &more[1]);
    }
}

static outcome go(const scenario *s, bool before, const char *fault, const char *count)
{
    outcome o = {.status = 0};
    int out[2], err[2];
    tidy(before || s->over);
    need(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0, "pipes");
    fflush(stdout);
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0)
        start(s, fault, count, out, err);
    close(out[1]);
    close(err[1]);
    drain(&o, out[0], err[0]);
    need(waitpid(child, &o.status, 0) == child, "waitpid");
    close(out[0]);
    close(err[0]);
    o.left = list_folder();
    return o;
}

/* ---- judging -----------------------------------------------------------------------------------
 */

static bool is_log(const char *name) { return strncmp(name, "log", 3) == 0; }

/* "lat-x: sentence", one line; where a tool may warn, such lines; a log that cannot be written is
 * said at once, and again what ends the run. */
static bool one_sentence(const scenario *s, const content *said)
{
    const size_t n = strcspn(s->words, " ");
    const char *text = (const char *)said->bytes, *end = text + said->n, *line;
    const bool lines = s->may_warn || strstr(s->words, "log log");
    bool good = said->n > 0;
    for (; good && text < end && (text == (const char *)said->bytes || lines); text = line + 1) {
        line = memchr(text, '\n', (size_t)(end - text));
        good = line && strncmp(text, s->words, n) == 0 && strncmp(text + n, ": ", 2) == 0
               && line - text > (ptrdiff_t)n + 4 && line[-1] != '.';
        if (!good)
            break;
    }
    return good && text == end;
}

/* A run that wrote its checkpoint when it was stopped. */
static bool says_how_to_go_on(const scenario *s, const content *said)
{
    return strstr(s->words, "--checkpoint ck") && one_sentence(s, said)
           && strstr((const char *)said->bytes, ": the same command with --resume ck goes on\n");
}

static bool as_usual(const scenario *s, const outcome *o, const outcome *usual)
{
    bool good = o->status == 0 && (o->said.n == 0 || (s->may_warn && one_sentence(s, &o->said)))
                && o->printed.n == usual->printed.n
                && (o->printed.n == 0
                    || memcmp(o->printed.bytes, usual->printed.bytes, o->printed.n) == 0);
    for (int i = 0; good && i < usual->left.count; i++) {
        const content *c = &usual->left.file[i], *there = find(&o->left, c->name);
        good = is_log(c->name) ? there != NULL : same(c, there);
    }
    return good && o->left.count == usual->left.count;
}

/* No temporary, and every file whole. `done`: the one output may be the new one. */
static const char *harm(const scenario *s, const outcome *o, const outcome *usual, bool before,
                        bool done)
{
    const bool several = strstr(s->words, "-log") || strstr(s->words, "--log")
                         || strstr(s->words, "--save-g") || strstr(s->words, "--report")
                         || strstr(s->words, "--links") || strstr(s->words, "--checkpoint");
    for (int i = 0; i < o->left.count; i++) {
        const content *c = &o->left.file[i];
        const bool old = before && strcmp(c->name, "out") == 0 && same(c, find(&inputs, "in.lat"));
        if (strstr(c->name, ".tmp"))
            return "a temporary is left";
        if (strncmp(c->name, "in.", 3) == 0 && !same(c, find(&inputs, c->name)))
            return "an input was changed";
        if (strncmp(c->name, "in.", 3) == 0 || is_log(c->name) || old || strcmp(c->name, "ck") == 0)
            continue;
        if (!same(c, find(&usual->left, c->name)))
            return "a file is not whole";
        if (!done && !several && strcmp(c->name, "out") == 0)
            return "there is an output";
    }
    if (before && !find(&o->left, "out"))
        return "what was there before is gone";
    return NULL;
}

static const char *judge(const scenario *s, size_t f, const outcome *o, const outcome *usual,
                         bool before)
{
    const bool signalled = strcmp(faults[f].kind, "any") == 0;
    const int wanted = strcmp(faults[f].effect, "INT") == 0 ? SIGINT : SIGTERM;
    if (signalled) {
        if (o->status == 0)
            return as_usual(s, o, usual) ? NULL : "ended well after a signal, but not as usual";
        if (!WIFSIGNALED(o->status) || WTERMSIG(o->status) != wanted)
            return "did not die of the signal";
        if (o->said.n && !says_how_to_go_on(s, &o->said))
            return "was not silent";
        return harm(s, o, usual, before, true);
    }
    if (o->status == 0 && as_usual(s, o, usual))
        return faults[f].fatal && !s->may_warn ? "did not notice" : NULL;
    if (faults[f].harmless)
        return "is not as usual";
    if (!WIFEXITED(o->status) || WEXITSTATUS(o->status) != 1)
        return "exit status";
    if (!one_sentence(s, &o->said))
        return "not one sentence";
    return harm(s, o, usual, before, false);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static long calls_of(const content *counts, const char *kind)
{
    char word[32];
    long n = 0;
    snprintf(word, sizeof word, "%s ", kind);
    const char *at = strstr((const char *)counts->bytes, word);
    return at && sscanf(at + strlen(word), "%ld", &n) == 1 ? n : -1;
}

/* All calls, or the first, the last, and some between; those differ from kind to kind and effect to
 * effect. */
static bool chosen(long i, long n, size_t f, bool full)
{
    if (full || n <= CHOSEN || i < 2 || i > n - 2)
        return true;
    const long step = (n - 4) / (CHOSEN - 4);
    return (i + (long)f) % (step > 0 ? step : 1) == 0;
}

static long runs, ended;

static void check_fault(const scenario *s, size_t f, long n, const outcome *usual, bool full)
{
    char what[64];
    for (long i = 1; i <= n; i++) {
        const bool before = s->over || ((i + (long)f) % 2 && strstr(s->words, "-o "));
        if (!chosen(i, n, f, full))
            continue;
        /* A disk that is full stays full, and memory that is out. */
        const bool onwards = strcmp(faults[f].effect, "ENOSPC") == 0
                             || (strcmp(faults[f].effect, "ENOMEM") == 0 && i % 2);
        snprintf(what, sizeof what, "%s %ld%s %s", faults[f].kind, i, onwards ? "+" : "",
                 faults[f].effect);
        outcome o = go(s, before, what, NULL);
        const char *wrong = judge(s, f, &o, usual, before);
        CHECK(!wrong, "%s: LAT_FAULT='%s': %s (status %x, %zu bytes on stderr: %.200s)", s->words,
              what, wrong ? wrong : "", (unsigned)o.status, o.said.n,
              o.said.bytes ? (const char *)o.said.bytes : "");
        runs++;
        ended += o.status != 0;
        outcome_free(&o);
    }
}

static void check_scenario(const scenario *s, bool full)
{
    char title[300];
    snprintf(title, sizeof title, "%s%s: whatever call fails, all is said and nothing is left",
             s->words, s->piped ? " < in.lat" : "");
    check_case(title);
    outcome usual = go(s, false, NULL, "../count");
    content counts = slurp("../count");
    counts.bytes[counts.n] = 0;
    if (!CHECK(usual.status == 0 && usual.said.n == 0, "status %x: %s", (unsigned)usual.status,
               usual.said.bytes ? (const char *)usual.said.bytes : "")) {
        outcome_free(&usual);
        free(counts.bytes);
        check_close();
        return;
    }
    for (size_t f = 0; f < FAULTS; f++) {
        const long n = calls_of(&counts, faults[f].kind);
        CHECK(n >= 0, "no count of %s", faults[f].kind);
        check_fault(s, f, n, &usual, full);
    }
    CHECK(calls_of(&counts, "alloc") > 5 && calls_of(&counts, "write") > 0
              && calls_of(&counts, "close") > 0,
          "hardly anything was counted");
    CHECK(!strstr(s->words, "-o ")
              || (calls_of(&counts, "fsync") > 0 && calls_of(&counts, "rename") > 0),
          "no fsync or rename");
    outcome_free(&usual);
    free(counts.bytes);
    check_close();
}

/* A tool of which nobody has thought here. */
static void check_all_tools(void)
{
    struct dirent **list;
    check_case("every tool is among these");
    const int n = scandir(bin, &list, real_names, alphasort);
    CHECK(n > 0, "no tools in %s", bin);
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        bool found = strncmp(name, "lat-", 4) != 0;
        for (size_t k = 0; k < SCENARIOS; k++)
            found |= strncmp(scenarios[k].words, name, strlen(name)) == 0
                     && scenarios[k].words[strlen(name)] == ' ';
        CHECK(found, "no command line with %s", name);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    check_close();
}

static void make_inputs(void)
{
    char command[4 * PATH_MAX];
    snprintf(
        command, sizeof command,
        "PATH='%s':$PATH; lat-start weak --dims 2,2,2,2 --seed 5 --count 3 -0 -o in.lat &&"
        " lat-start weak --dims 2,2,2,2 --seed 5 -p single -o in.one &&"
        " lat-convert --to nersc in.one -o in.nersc && lat-convert --to ildg in.one -o in.ildg &&"
        " lat-convert --to milc in.one -o in.milc && rm in.one &&"
        " lat-source wall:0 in.lat -o in.source &&"
        " lat-solve --kappa .1 --residual 1e-3 -U in.lat in.source -o in.quark &&"
        " lat-modes --mass -1.4 --modes 2 --residual 1e-5 in.lat -o in.modes &&"
        " lat-orelax in.lat -o in.fixed && lat-solve --kappa .1 --residual 1e-3"
        " --source momentum:0,0,0,.5 in.fixed -o in.momentum && rm in.fixed &&"
        " for s in $(seq 24); do lat-start hot --dims 2,2,2,8 --seed $s; done | lat-solve"
        " --kappa .1 --residual 1e-5 --source point:0,0,0,0 | lat-corr --channels pion -o in.table"
        " && lat-stat --samples in.samples in.table >in.mean && rm in.mean",
        bin);
    need(system(command) == 0, "making inputs");
    inputs = list_folder();
}

int main(int argc, char **argv)
{
    const bool full = argc > 1 && strcmp(argv[1], "full") == 0;
    const char *tools = getenv("LAT_BIN");
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    need(realpath(tools ? tools : "bin", bin), "LAT_BIN");
    ssize_t n = readlink("/proc/self/exe", library, sizeof library - 16);
    need(n > 0, "/proc/self/exe");
    library[n] = 0;
    strcpy(strrchr(library, '/') + 1, "faults.so");
    if (access(library, R_OK) != 0) {
        check_case("faults # skip sanitizers do not go with a preloaded malloc");
        return check_done();
    }
    if (access("/dev/shm", W_OK) != 0)
        strcpy(here, "/tmp/lat-check-faults.XXXXXX");
    need(mkdtemp(here) && chdir(here) == 0 && mkdir("work", 0700) == 0 && chdir("work") == 0, here);
    make_inputs();
    check_all_tools();
    for (size_t i = 0; i < SCENARIOS; i++)
        if (argc < 3 || strstr(scenarios[i].words, argv[2]))
            check_scenario(&scenarios[i], full);
    check_case("some of these runs have ended otherwise than usual, and some have not");
    CHECK(ended > runs / 10 && ended < runs, "%ld of %ld", ended, runs);
    check_close();
    printf("# %ld runs, %ld of them ended otherwise than usual\n", runs, ended);
    tidy(false);
    for (int i = 0; i < inputs.count; i++)
        unlink(inputs.file[i].name);
    forget(&inputs);
    need(chdir("..") == 0 && rmdir("work") == 0 && unlink("count") == 0 && chdir("/") == 0
             && rmdir(here) == 0,
         here);
    return check_done();
}
