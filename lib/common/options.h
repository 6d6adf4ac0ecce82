/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h: one table of options a tool, for the parser (argp), --help, --usage and provenance.
 *
 * Every tool also has --help, --version and those common options (lat_common, below) that
 * lat_tool.common names. An option of the tool replaces a common one of the same name.
 *
 * --help shows the default, unless the text of the option has the word, or there is no default:
 * NaN, NULL, choice -1, nd = 0. --option-table, which --help does not show, prints the table as
 * columns, for the manual pages and for completion. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "comm/comm.h"
#include "geometry.h"

typedef enum {
    LAT_OPT_END = 0,
    LAT_OPT_FLAG,   /* bool *: set true */
    LAT_OPT_INT,    /* long *, min..max */
    LAT_OPT_SEED,   /* uint64_t * */
    LAT_OPT_REAL,   /* double *, min..max, finite */
    LAT_OPT_TEXT,   /* const char ** */
    LAT_OPT_CHOICE, /* int *: index into arg, "single|mixed|double" */
    LAT_OPT_DIMS,   /* lat_geometry * */
    LAT_OPT_ALIAS,  /* an older name of the option before it, which --help does not show */
    LAT_OPT_HEADING /* no option: a line of --help above those that follow (LAT_HEADING) */
} lat_opt_type;

/* Beside a type:
 *   LOCAL  not in provenance, for it does not change the result (-@, --log ...)
 *   LIMIT  how far or on what a run goes, such as --max-sweeps: in provenance, and may be another
 *          one when the run is resumed */
enum { LAT_OPT_LOCAL = 16, LAT_OPT_LIMIT = 32 };

typedef struct lat_option {
    int type;         /* lat_opt_type, | LAT_OPT_LOCAL or LAT_OPT_LIMIT */
    const char *name; /* long name */
    int key;          /* short letter, or 0 */
    const char *arg;  /* name of the argument in --help; the choices for CHOICE */
    void *value;      /* points to the variable that is set, whose value before is the default */
    double min, max;  /* allowed values; any if both are 0 */
    const char *help; /* one line; the default is added by the parser where there is one */
} lat_option;
/* clang-format off */
#define LAT_HEADING(text) {LAT_OPT_HEADING, "\n" text ":", 0, NULL, NULL, 0, 0, NULL}
/* clang-format on */

typedef struct lat_tool {
    const char *name;          /* "lat-orelax" */
    const char *args;          /* "[FILE]", "A B" */
    const char *summary;       /* one sentence */
    const char *example;       /* a command line to paste */
    const lat_option *options; /* ends with LAT_OPT_END; may be NULL */
    int min_files, max_files;  /* positional arguments */
    unsigned common;           /* common options that it has: some of LAT_HAS_... */
    /* lat_comm_start (comm/comm.h) in a tool that works with several ranks, else NULL */
    const lat_comm *(*start)(int ranks, char **argv);
} lat_tool;

enum {
    LAT_HAS_INPUT = 1,   /* -i FILE, and a positional FILE means the same */
    LAT_HAS_OUTPUT = 2,  /* -o FILE, --no-clobber, --force, -0 .. -9, --no-provenance */
    LAT_HAS_THREADS = 4, /* -@ N */
    LAT_HAS_QUIET = 8,   /* -q, --progress[=SECONDS] */
    LAT_HAS_RANKS = 16,  /* -n N, --grid, -v; implied by `start` */
    LAT_HAS_BOXES = 32   /* ... and --grid may cut any axis but x (lattice/box.h) */
};

/* How blocks of a stream are stored. AUTO: compressed in a file, raw in a pipe. */
enum { LAT_STORE_AUTO = -1, LAT_STORE_RAW = 0, LAT_STORE_ZLIB = 1 };

/* What the common options were set to. */
typedef struct lat_common {
    const char *input;  /* path, NULL = stdin */
    const char *output; /* path, NULL = stdout */
    bool no_clobber, force, no_provenance, quiet, verbose;
    int store;            /* LAT_STORE_... */
    long threads;         /* of this rank; default: all processors that this process may use */
    long ranks;           /* -n, 0: not given */
    const char *grid;     /* --grid, or NULL; read into lat_comm_grid */
    const lat_comm *comm; /* the ranks of this run */
    double progress;      /* seconds between plain progress lines, 0 = none asked for */
    int nfiles;           /* positional arguments, "-" meaning stdin */
    char **files;
    char *arguments; /* for provenance: those that change the result, quoted for a shell */
} lat_common;
extern lat_common lat_opts;

/* Parses the command line; the first call in main. Sets lat_tool_name, lat_opts, the variables of
 * the tool's table and the number of threads; joins or starts the ranks (tool->start). --help and
 * --version print and exit with 0; a wrong command line prints two lines on stderr and exits
 * with 2.
 *
 * It may execute the program once more, with the same arguments: lat_threads_limit_spinning
 * (base/threads.h) says when and why. */
void lat_options_parse(const lat_tool *tool, int argc, char **argv);

/* For a wrong command line that is noticed later: prints "TOOL: sentence" and where to look for
 * help; exits with 2. */
void lat_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* "--OPTION is for WHAT", where the option was given and that is not `there`. */
void lat_usage_for(const char *option, bool there, const char *what);

/* Prints a line on stderr if --verbose was given; on rank 0 alone. */
void lat_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flags of lat_output_open, by --force and --no-clobber. */
unsigned lat_output_flags(void);

/* For a file `path` that --OPTION writes (NULL: none): a usage error if it is the input, under
 * whatever name, which would be lost. (lat_output_open refuses two outputs that are one file.) */
void lat_usage_if_input(const char *option, const char *path);

/* A usage error if more than one of the input, further files, `others` (NULL: none) is stdin. */
void lat_usage_if_stdin_twice(const char *const *others, int count);

/* The values of the tool's own options as "--gauge landau --copies 3 ...", those that were not
 * given too: of options that are limits, or of those that decide a result and are not. To be freed;
 * NULL with lat_error set. A run that is resumed compares it. */
char *lat_options_text(bool limits);

/* True if the option of this long name was given on the command line. */
bool lat_opt_given(const char *name);

/* The value of an option of texts, or NULL where there is none. */
const char *lat_opt_text(const char *name);

/* A test compares it with the other files that name the version. */
#define LAT_VERSION "0.1.0"
