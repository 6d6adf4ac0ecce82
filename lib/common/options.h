/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h: one table a tool; the parser, --help, --usage and provenance come from it.
 *
 * Built on argp. Every tool also has the options of lat_common (below), --help, --version. A
 * tool's own option takes the place of a common one of the same name. --help shows defaults
 * unless the help line speaks of one itself or there is none: NaN, NULL, choice -1, nd = 0.
 * --option-table, which --help does not show, prints the same as columns: manual pages and
 * completion come from it. */
#ifndef LAT_OPTIONS_H
#define LAT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "geometry.h"

typedef enum {
    LAT_OPT_END = 0,
    LAT_OPT_FLAG,   /* bool *: set true */
    LAT_OPT_INT,    /* long *, min..max */
    LAT_OPT_SEED,   /* uint64_t * */
    LAT_OPT_REAL,   /* double *, min..max, finite */
    LAT_OPT_TEXT,   /* const char ** */
    LAT_OPT_CHOICE, /* int *: index into arg, "single|mixed|double" */
    LAT_OPT_DIMS    /* lat_geometry * */
} lat_opt_type;

typedef struct lat_option {
    lat_opt_type type;
    const char *name; /* long name */
    int key;          /* short letter, or 0 */
    const char *arg;  /* name of the argument in --help; the choices for CHOICE */
    void *value;      /* where it goes; what stands there before is the default */
    double min, max;  /* both 0: any */
    const char *help; /* one line; the default is added by the parser where there is one */
    bool local;       /* does not change the result (-@, --log ...): not in provenance */
} lat_option;

typedef struct lat_tool {
    const char *name;          /* "lat-orelax" */
    const char *args;          /* "[FILE]", "A B" */
    const char *summary;       /* one sentence */
    const char *example;       /* a command line to paste */
    const lat_option *options; /* ends with LAT_OPT_END; may be NULL */
    int min_files, max_files;  /* positional arguments */
    unsigned common;           /* which of the common options it has: LAT_HAS_... */
    int (*start)(
        int ranks,
        char **argv); /* lat_comm_start (comm/comm.h), in a tool that works with several ranks */
} lat_tool;

enum {
    LAT_HAS_INPUT = 1,   /* -i FILE, and a positional FILE means the same */
    LAT_HAS_OUTPUT = 2,  /* -o FILE, --no-clobber, --force, -0 .. -9, --no-provenance */
    LAT_HAS_THREADS = 4, /* -@ N */
    LAT_HAS_QUIET = 8,   /* -q, --progress[=SECONDS] */
    LAT_HAS_RANKS = 16   /* -n N, -v; set where the tool has `start` */
};

/* How blocks of a stream are stored: AUTO compresses them in a file and not in a pipe. */
enum { LAT_STORE_AUTO = -1, LAT_STORE_RAW = 0, LAT_STORE_ZLIB = 1 };

/* What the common options were set to. */
typedef struct lat_common {
    const char *input;  /* path, NULL = stdin */
    const char *output; /* path, NULL = stdout */
    bool no_clobber, force, no_provenance, quiet, verbose;
    int store;    /* LAT_STORE_... */
    long threads; /* total, of several ranks those of this one; default: all this process may use */
    long ranks;   /* -n, 0: not given; lat_comm_world has what came of it */
    double progress; /* seconds between plain progress lines, 0 = none asked for */
    int nfiles;      /* positional arguments, "-" meaning stdin */
    char **files;
    char *arguments; /* those given that change the result, quoted for a shell: provenance */
} lat_common;
extern lat_common lat_opts;

/* Parses; on --help or --version prints and exits 0; on a wrong command line prints two lines
 * on stderr and exits 2. Sets lat_tool_name, lat_opts and the number of threads. */
void lat_options_parse(const lat_tool *tool, int argc, char **argv);

/* A usage error found later: prints "TOOL: sentence" and where to look, exits 2. */
void lat_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A line on stderr if --verbose was given; of several ranks, by rank 0. */
void lat_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --force and --no-clobber, for lat_output_open. */
unsigned lat_output_flags(void);

/* For a file that --OPTION writes beside the output: a usage error if it is the input, under
 * whatever name, which would be lost. (Outputs that are one file are refused by lat_output_open.)
 */
void lat_usage_if_input(const char *option, const char *path);

/* True if the option of that long name was given on the command line. */
bool lat_opt_given(const char *name);

/* A test compares it with what else has the version. */
#define LAT_VERSION "0.1.0"

#endif
