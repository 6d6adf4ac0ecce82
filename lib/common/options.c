/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: the table of a tool's options, parsed by argp; --help, --version, provenance. */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "comm/comm.h"
#include "base/error.h"
#include "io.h"
#include "base/threads.h"
#include "options_internal.h"
#include "progress.h"
#include "memory_stream.h"

#define MAX_THREADS 4096
#define PROGRESS 10 /* seconds, for a plain --progress */

lat_common lat_opts;

/* The options that tools share. A tool has those of its bits in lat_tool.common. */
static const struct {
    unsigned mask;
    lat_option option;
} common[] = {
    {LAT_HAS_INPUT,
     {LAT_OPT_TEXT | LAT_OPT_LOCAL, "input", 'i', "FILE", &lat_opts.input, 0, 0,
      "read FILE; the same as FILE without -i (default: stdin)"}},
    {LAT_HAS_OUTPUT,
     {LAT_OPT_TEXT | LAT_OPT_LOCAL, "output", 'o', "FILE", &lat_opts.output, 0, 0,
      "write to FILE, which appears whole or not at all (default: stdout)"}},
    {LAT_HAS_OUTPUT,
     {LAT_OPT_FLAG | LAT_OPT_LOCAL, "no-clobber", 0, NULL, &lat_opts.no_clobber, 0, 0,
      "refuse to replace a FILE that exists"}},
    {LAT_HAS_OUTPUT,
     {LAT_OPT_FLAG, "force", 0, NULL, &lat_opts.force, 0, 0,
      "accept, with a warning, data that are refused although they can be read; write binary data "
      "even to a terminal"}},
    {LAT_HAS_OUTPUT,
     {LAT_OPT_FLAG | LAT_OPT_LOCAL, "no-provenance", 0, NULL, &lat_opts.no_provenance, 0, 0,
      "add no line to the history in the header"}},
    {LAT_HAS_THREADS,
     {LAT_OPT_INT | LAT_OPT_LOCAL, "threads", '@', "N", &lat_opts.threads, 1, MAX_THREADS,
      "use N threads in total (default: all processors that this process may use)"}},
    {LAT_HAS_RANKS,
     {LAT_OPT_INT | LAT_OPT_LOCAL, "ranks", 'n', "N", &lat_opts.ranks, 1, 65535,
      "divide the lattice among N ranks, which mpirun starts (default 1)"}},
    {LAT_HAS_BOXES,
     {LAT_OPT_TEXT | LAT_OPT_LOCAL, "grid", 0, "X,Y,Z,T", &lat_opts.grid, 0, 0,
      "so many ranks along each axis, such as 1,1,2,4 (default: the last axis alone, as far as it "
      "goes)"}},
    {LAT_HAS_RANKS, /* of a tool without boxes */
     {LAT_OPT_TEXT | LAT_OPT_LOCAL, "grid", 0, "X,Y,Z,T", &lat_opts.grid, 0, 0,
      "so many ranks along each axis, such as 1,1,1,4: this tool cuts the last axis alone"}},
    {LAT_HAS_RANKS,
     {LAT_OPT_FLAG | LAT_OPT_LOCAL, "verbose", 'v', NULL, &lat_opts.verbose, 0, 0,
      "print on stderr where the program runs: ranks, threads, device, transport"}},
    {LAT_HAS_QUIET,
     {LAT_OPT_FLAG | LAT_OPT_LOCAL, "quiet", 'q', NULL, &lat_opts.quiet, 0, 0,
      "print no progress on a terminal; warnings stay"}},
    {LAT_HAS_QUIET,
     {LAT_OPT_REAL | LAT_OPT_LOCAL, "progress", 0, "SECONDS", &lat_opts.progress, 0.01, 1e6,
      "print a line of progress every SECONDS (default 10)"}},
};
#define COMMONS (sizeof common / sizeof *common)

/* Keys of options without a letter: rows from KEY_ROW on. */
enum { KEY_HELP = 0x200, KEY_USAGE, KEY_VERSION, KEY_TABLE, KEY_ROW = 0x300 };
/* A tool's own rows are groups 1, 2, ...; -1 is last, and where argp moves --help. */
enum { GROUP_COMMON = 1000, GROUP_ABOUT = -1 };

/* One option that the running tool has. */
typedef struct {
    const lat_option *option;
    int key;
    bool given;
} row;

static struct {
    const lat_tool *tool;
    row *rows;
    int count, own;           /* all; the tool's own, which come first */
    struct argp_option *argp; /* the same for argp */
    int entries;
    struct argp parser;
    FILE *arguments; /* writes to `memory`, whose text becomes lat_opts.arguments */
    lat_memory_stream memory;
    bool recorded;       /* at least one argument is in it */
    const char *refused; /* the word of the command line that getopt did not understand */
} run;

/* ---- failures -------------------------------------------------------------------------------- */

void lat_usage(const char *format, ...)
{
    char *sentence;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&sentence, format, ap) < 0)
        sentence = lat_option_require(NULL);
    va_end(ap);
    lat_error_clear();
    lat_fail_usage("%s", sentence);
    free(sentence);
    exit(lat_report(LAT_USAGE));
}

void lat_usage_for(const char *option, bool there, const char *what)
{
    if (!there && lat_opt_given(option))
        lat_usage("--%s is for %s", option, what);
}

/* ---- provenance ------------------------------------------------------------------------------ */

static void record(const lat_option *o, const char *text)
{
    if (o->type & LAT_OPT_LOCAL)
        return;
    fprintf(run.arguments, "%s--%s", run.recorded ? " " : "", o->name);
    run.recorded = true;
    if (lat_option_type(o) != LAT_OPT_FLAG) {
        fputc(' ', run.arguments);
        lat_option_quote(run.arguments, text);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_entry(struct argp_option entry) { run.argp[run.entries++] = entry; }

static void add_row(const lat_option *o, int group)
{
    if (lat_option_type(o) == LAT_OPT_ALIAS) {
        add_entry((struct argp_option){
            .name = o->name, .flags = OPTION_ALIAS | OPTION_HIDDEN, .group = group});
        return;
    }
    if (lat_option_type(o)
        == LAT_OPT_HEADING) { /* not a heading of argp, which sorts what is below it */
        add_entry((struct argp_option){
            .name = o->name + !run.entries, .flags = OPTION_DOC | OPTION_NO_USAGE, .group = group});
        return;
    }
    row *r = &run.rows[run.count];
    const char *arg = lat_option_type(o) == LAT_OPT_CHOICE && !lat_option_fits(o) ? "CHOICE"
                                                                                  : o->arg;
    r->option = o;
    r->key = o->key ? o->key : KEY_ROW + run.count;
    run.count++;
    add_entry(
        (struct argp_option){.name = o->name,
                             .key = r->key,
                             .group = group,
                             .doc = lat_option_help(o),
                             .arg = lat_option_type(o) == LAT_OPT_FLAG ? NULL
                                    : arg                              ? arg
                                                                       : "VALUE",
                             .flags = o->value == &lat_opts.progress ? OPTION_ARG_OPTIONAL : 0});
}

static const row *find_name(const char *name)
{
    for (int i = 0; i < run.count; i++)
        if (strcmp(run.rows[i].option->name, name) == 0)
            return &run.rows[i];
    return NULL;
}

static row *find_key(int key)
{
    for (int i = 0; i < run.count; i++)
        if (run.rows[i].key == key)
            return &run.rows[i];
    return NULL;
}

/* -0 to -9, as gzip and zstd have them. After the filter more effort finds nothing more. */
static void add_levels(void)
{
    add_entry((struct argp_option){.key = '0',
                                   .group = GROUP_COMMON,
                                   .doc = "write the numbers uncompressed (default into a pipe, "
                                          "and for solutions and modes)"});
    add_entry(
        (struct argp_option){.key = '1',
                             .group = GROUP_COMMON,
                             .doc = "compress the numbers (default for links, transformations "
                                    "and sources in a file); -2 to -9 do the same, as gauge "
                                    "fields do not compress further"});
    for (int key = '2'; key <= '9'; key++)
        add_entry((struct argp_option){.key = key, .flags = OPTION_HIDDEN, .group = GROUP_COMMON});
}

static void add_about(void)
{
    const int help = find_key('h') ? KEY_HELP : 'h', version = find_key('V') ? KEY_VERSION : 'V';
    const struct argp_option about[] = {
        {"help", help, NULL, 0, "print this help", GROUP_ABOUT},
        {"usage", KEY_USAGE, NULL, 0, "print all options in a few lines", GROUP_ABOUT},
        {"version", version, NULL, 0, "print the version and how it was built", GROUP_ABOUT},
        {"option-table", KEY_TABLE, NULL, OPTION_HIDDEN, NULL, 0}};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        add_entry(about[i]);
}

/* A tool's own option replaces a common one of its name. */
static void add_options(const lat_tool *tool)
{
    int lines = 0;
    while (tool->options && tool->options[lines].type != LAT_OPT_END)
        lines++;
    run.rows = lat_option_require(calloc((size_t)lines + COMMONS, sizeof *run.rows));
    run.argp = lat_option_require(calloc((size_t)lines + COMMONS + 16, sizeof *run.argp));
    for (int i = 0; i < lines; i++)
        add_row(&tool->options[i], i + 1); /* a group each keeps argp from sorting them */
    run.own = run.count;
    add_entry((struct argp_option){.doc = "Common options:", .group = GROUP_COMMON});
    for (size_t i = 0; i < COMMONS; i++)
        if (((tool->common | (tool->start ? LAT_HAS_RANKS : 0)) & common[i].mask)
            && !find_name(common[i].option.name))
            add_row(&common[i].option, GROUP_COMMON);
    if (tool->common & LAT_HAS_OUTPUT)
        add_levels();
    add_about();
}

static void set_help_format(void)
{
    char format[64];
    snprintf(format, sizeof format, "no-dup-args-note,header-col=0,doc-opt-col=0,rmargin=%d",
             LAT_HELP_WIDTH);
    setenv("ARGP_HELP_FMT", format, 1);
}

static void __attribute__((noreturn)) print_help(unsigned what)
{
    set_help_format();
    argp_help(&run.parser, stdout, what, (char *)(uintptr_t)run.tool->name);
    lat_options_printed();
}

/* One option in columns: group, letter, name, type, argument, choices, help. */
static void print_entry(const struct argp_option *e)
{
    static const char *const types[] = {
        [LAT_OPT_FLAG] = "flag", [LAT_OPT_INT] = "int",   [LAT_OPT_SEED] = "seed",
        [LAT_OPT_REAL] = "real", [LAT_OPT_TEXT] = "text", [LAT_OPT_CHOICE] = "choice",
        [LAT_OPT_DIMS] = "dims"};
    const row *r = find_key(e->key);
    bool optional = e->flags & OPTION_ARG_OPTIONAL;
    printf("option\t%s\t%c\t%s\t%s\t%s%s%s\t%s\t%s\n",
           e->group == GROUP_ABOUT    ? "about"
           : e->group == GROUP_COMMON ? "common"
                                      : "own",
           e->key < KEY_HELP ? e->key : '-', e->name ? e->name : "-",
           types[r ? lat_option_type(r->option) : LAT_OPT_FLAG], optional ? "[" : "",
           e->arg ? e->arg : "-", optional ? "]" : "",
           r && lat_option_type(r->option) == LAT_OPT_CHOICE ? r->option->arg : "-", e->doc);
}

/* For manual pages and for the completion of shells. No column is empty: "-" stands for none. */
static void __attribute__((noreturn)) print_table(void)
{
    const lat_tool *tool = run.tool;
    printf("tool\t%s\t%s\t%s\n", tool->name, tool->args && *tool->args ? tool->args : "-",
           tool->summary);
    for (const char *p = tool->example; p && *p; p += strcspn(p, "\n"), p += *p == '\n')
        printf("example\t%.*s\n", (int)strcspn(p, "\n"), p);
    for (int i = 0; i < run.entries; i++)
        if (run.argp[i].flags & OPTION_DOC)
            printf("heading\t%s\n", run.argp[i].name + (*run.argp[i].name == '\n'));
        else if (run.argp[i].key && !(run.argp[i].flags & OPTION_HIDDEN))
            print_entry(&run.argp[i]);
    lat_options_printed();
}

/* ---- parsing --------------------------------------------------------------------------------- */

static error_t parse_row(row *r, char *text)
{
    char usual[16];
    if (!text && r->option->value == &lat_opts.progress) {
        snprintf(usual, sizeof usual, "%d", PROGRESS);
        text = usual;
    }
    lat_option_set(r->option, text);
    record(r->option, text);
    r->given = true;
    return 0;
}

static error_t parse_one(int key, char *text, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT) {
        state->err_stream = NULL; /* no hint of argp; getopt prints to stderr itself */
        return 0;
    }
    if (key == ARGP_KEY_ERROR)
        run.refused = state->argv[state->next - 1];
    if (key == ARGP_KEY_ARG) {
        lat_opts.files[lat_opts.nfiles++] = text;
        return 0;
    }
    row *r = find_key(key);
    if (r)
        return parse_row(r, text);
    if (key == 'h' || key == KEY_HELP)
        print_help(ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG);
    if (key == KEY_USAGE)
        print_help(ARGP_HELP_USAGE);
    if (key == 'V' || key == KEY_VERSION)
        lat_options_version(run.tool->name);
    if (key == KEY_TABLE)
        print_table();
    if (key >= '0' && key <= '9') {
        lat_opts.store = key == '0' ? LAT_STORE_RAW : LAT_STORE_ZLIB;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Sets lat_opts.input and .output for io.h: NULL for stdin and stdout. */
static void set_files(const lat_tool *tool)
{
    if ((tool->common & LAT_HAS_INPUT) && lat_opts.nfiles > 0)
        lat_opts.input = lat_opts.files[0];
    if (lat_opts.input && strcmp(lat_opts.input, "-") == 0)
        lat_opts.input = NULL;
    if (lat_opts.output && strcmp(lat_opts.output, "-") == 0)
        lat_opts.output = NULL;
}

/* OpenMP has read the affinity mask and OMP_NUM_THREADS before main. (With 100000 threads it would
 * abort.) */
static long default_threads(void)
{
#ifdef _OPENMP
    const long threads = omp_get_max_threads();
    return threads < MAX_THREADS ? threads : MAX_THREADS;
#else
    return 1;
#endif
}

/* The ranks of a host share its threads, unless the launcher has bound each rank to processors. */
static void set_threads(void)
{
    const long here = lat_opts.comm->host_size;
    if (here > 1 && (lat_opt_given("threads") || lat_opts.threads >= sysconf(_SC_NPROCESSORS_ONLN)))
        lat_opts.threads = lat_opts.threads > here ? lat_opts.threads / here : 1;
#ifdef _OPENMP
    omp_set_num_threads((int)lat_opts.threads);
#else
    lat_opts.threads = 1;
#endif
}

/* argv with the tool's name as argv[0], which getopt prints. To be freed. */
static char **with_tool_name(const lat_tool *tool, int argc, char **argv)
{
    char **copy = lat_option_require(calloc((size_t)argc + 2, sizeof *copy));
    copy[0] = (char *)(uintptr_t)tool->name;
    for (int i = 1; i < argc; i++)
        copy[i] = argv[i];
    return copy;
}

static void set_up(const lat_tool *tool, int argc)
{
    run.tool = tool;
    lat_tool_name = tool->name;
    lat_opts = (lat_common){.store = LAT_STORE_AUTO, .threads = default_threads()};
    lat_opts.files = lat_option_require(calloc((size_t)argc + 1, sizeof *lat_opts.files));
    run.arguments = lat_option_require(lat_memory_stream_open(&run.memory));
    add_options(tool);
    run.parser = (struct argp){.options = run.argp,
                               .parser = parse_one,
                               .args_doc = tool->args,
                               .doc = lat_tool_description(tool)};
}

/* "-gauge", with one dash, is a mistake for "--gauge", not -g -a -u -g -e. */
static void refuse_single_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const size_t n = argv[i][0] == '-' ? strcspn(argv[i] + 1, "=") : 0;
        for (int k = 0; n > 1 && k < run.entries; k++)
            if (run.argp[k].name && strlen(run.argp[k].name) == n
                && memcmp(run.argp[k].name, argv[i] + 1, n) == 0)
                lat_usage("expected --%s with two dashes, found '%.80s'", run.argp[k].name,
                          argv[i]);
    }
}

/* getopt has printed the first line. */
static void __attribute__((noreturn)) refuse_words(void)
{
    for (int k = 0; run.refused && k < run.entries; k++)
        if (run.argp[k].key && run.argp[k].name && lat_option_near(run.refused, run.argp[k].name))
            fprintf(stderr, "Did you mean --%s? ", run.argp[k].name);
    fprintf(stderr, "Try '%s --help' for more information.\n", run.tool->name);
    exit(LAT_USAGE);
}

void lat_options_parse(const lat_tool *tool, int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_io_guard();
    set_up(tool, argc);
    refuse_single_dashes(argc, argv);
    char **args = with_tool_name(tool, argc > 0 ? argc : 1, argv);
    int rc = argp_parse(&run.parser, argc > 0 ? argc : 1, args, ARGP_NO_HELP | ARGP_NO_EXIT, NULL,
                        NULL);
    free(args);
    if (rc == ENOMEM)
        lat_option_require(NULL);
    if (rc)
        refuse_words();
    if (lat_memory_stream_close(run.arguments, &run.memory) < 0)
        lat_option_require(NULL);
    lat_opts.arguments = run.memory.text;
    lat_options_check(tool);
    set_files(tool);
    lat_option_grid(tool);
    if (tool->common & LAT_HAS_QUIET)
        lat_progress_watch();
    lat_opts.comm = tool->start ? tool->start((int)lat_opts.ranks, argv) : &lat_comm_self;
    if (!lat_opts.comm)
        exit(lat_report(LAT_FAILED));
    set_threads();
    lat_verbose("%d rank%s, %d on this host, %ld thread%s each", lat_opts.comm->size,
                lat_opts.comm->size > 1 ? "s" : "", lat_opts.comm->host_size, lat_opts.threads,
                lat_opts.threads > 1 ? "s" : "");
}

void lat_verbose(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (lat_opts.verbose)
        lat_stderr_print(true, format, ap);
    va_end(ap);
}

unsigned lat_output_flags(void)
{
    /* mpirun gives rank 0 a terminal as stdout. */
    return (lat_opts.force || lat_comm_external ? LAT_OUTPUT_FORCE : 0)
           | (lat_opts.no_clobber ? LAT_OUTPUT_NO_CLOBBER : 0);
}

char *lat_options_text(bool limits)
{
    char value[256];
    lat_memory_stream m;
    FILE *f = lat_memory_stream_open(&m);
    for (int i = 0; f && i < run.own; i++) {
        const lat_option *o = run.rows[i].option;
        if ((o->type & (LAT_OPT_LOCAL | LAT_OPT_LIMIT)) != (limits ? LAT_OPT_LIMIT : 0))
            continue;
        lat_option_default(o, value, sizeof value);
        if (lat_option_type(o) == LAT_OPT_FLAG)
            snprintf(value, sizeof value, "%s", *(const bool *)o->value ? "yes" : "no");
        if (*value) {
            fprintf(f, " --%s ", o->name);
            lat_option_quote(f, value);
        }
    }
    if (f && lat_memory_stream_close(f, &m) == 0)
        return m.text;
    return lat_fail_null("out of memory: the options of a run");
}

bool lat_opt_given(const char *name)
{
    const row *r = find_name(name);
    return r && r->given;
}

const char *lat_opt_text(const char *name)
{
    const row *r = find_name(name);
    return r && lat_option_type(r->option) == LAT_OPT_TEXT ? *(const char *const *)r->option->value
                                                           : NULL;
}
