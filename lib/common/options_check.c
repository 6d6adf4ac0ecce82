/* SPDX-License-Identifier: BSD-3-Clause */
/* options_check.c: what a command line and its surroundings may not be. */
#include "options_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/isa.h"

/* Matrices of SU(16) and buffers of pipes are on the stack: one that ends below them crashes. */
#define STACK_KIB 512
/* Too many or too few FILEs; -i counts as one. */
static void check_files(const lat_tool *tool)
{
    bool input = (tool->common & LAT_HAS_INPUT) && lat_opt_given("input");
    int n = lat_opts.nfiles + input;
    if (input && lat_opts.nfiles > 0)
        lat_usage("expected one input, found -i '%.80s' and '%.80s'", lat_opts.input,
                  lat_opts.files[0]);
    if (n > tool->max_files && tool->max_files == 0 && !input)
        lat_usage("expected no arguments beside options, found '%.80s'", lat_opts.files[0]);
    if (lat_opts.nfiles > tool->max_files)
        lat_usage("expected at most %d argument%s, found %d, the last '%.80s'", tool->max_files,
                  tool->max_files == 1 ? "" : "s", lat_opts.nfiles,
                  lat_opts.files[lat_opts.nfiles - 1]);
    if (n < tool->min_files)
        lat_usage("expected %s%d argument%s (%s), found %d",
                  tool->min_files < tool->max_files ? "at least " : "", tool->min_files,
                  tool->min_files == 1 ? "" : "s", tool->args, n);
}

/* Refuses an unknown word, which would mean the widest vectors: a run that is to be repeated bit
 * for bit would not be. */
static void check_lanes(void)
{
    const char *choice = getenv(LAT_ISA_VARIABLE);
    for (lat_isa isa = LAT_ISA_BASE; choice && *choice && strcmp(choice, lat_isa_name(isa)) != 0;
         isa++)
        if (isa == LAT_ISA_AVX512)
            lat_usage(LAT_ISA_VARIABLE ": expected base, avx2 or avx512, found '%.80s'", choice);
}

static void check_stack(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur < (rlim_t)STACK_KIB << 10) {
        lat_fail("the stack is limited to %llu KiB, expected at least %d (ulimit -s)",
                 (unsigned long long)r.rlim_cur >> 10, STACK_KIB);
        exit(lat_report(LAT_FAILED));
    }
}

void lat_usage_if_input(const char *option, const char *path)
{
    struct stat in, other;
    if (!path)
        return;
    const int rc = lat_opts.input ? stat(lat_opts.input, &in) : fstat(STDIN_FILENO, &in);
    if (rc == 0 && S_ISREG(in.st_mode) && stat(path, &other) == 0 && in.st_ino == other.st_ino
        && in.st_dev == other.st_dev)
        lat_usage("--%s %s is the input as well", option, path);
}

void lat_usage_if_stdin_twice(const char *const *others, int count)
{
    int standard = !lat_opts.input;
    for (int i = 1; i < lat_opts.nfiles; i++)
        standard += !strcmp(lat_opts.files[i], "-");
    for (int i = 0; i < count; i++)
        standard += others[i] && !strcmp(others[i], "-");
    if (standard > 1)
        lat_usage("only one of the inputs can be stdin");
}

void lat_options_check(const lat_tool *tool)
{
    check_stack();
    check_files(tool);
    check_lanes();
}
