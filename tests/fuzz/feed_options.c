/* SPDX-License-Identifier: BSD-3-Clause */
/* feed_options.c: command lines of any kind into the parser of options (feed.h).
 *
 * The parser is made for one command line in the life of a process. So its text is taken in here,
 * to be reset, and its exit() leads back. */
#include <math.h>
#include <setjmp.h>
#include <stdio.h>

#include "common/options.c"
#include "lattice/order.h"
#include "feed.h"

void __real_exit(int code) __attribute__((noreturn));
void __wrap_exit(int code) __attribute__((noreturn));

static jmp_buf back;
static bool parsing;

void __wrap_exit(int code)
{
    if (parsing)
        longjmp(back, code + 1);
    __real_exit(code);
}

/* ---- memory that is left where exit() would have been ------------------------------------------
 */

#if defined(__SANITIZE_ADDRESS__)
#define HOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOOKS 1
#endif
#endif
#ifdef HOOKS
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

#define MOST 4096
static const volatile void *left[MOST];
static size_t count;

static void on_malloc(const volatile void *p, size_t n)
{
    (void)n;
    if (parsing && p && count < MOST)
        left[count++] = p;
}

static void on_free(const volatile void *p)
{
    for (size_t i = count; parsing && i-- > 0;)
        if (left[i] == p) {
            left[i] = left[--count];
            return;
        }
}

static void keep_memory(void)
{
    static bool installed;
    if (!installed) { /* what libc keeps for itself comes first: a variable of --help, a buffer of
                         stdout */
        set_help_format();
        printf("\n");
        __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    }
    installed = true;
    count = 0;
}

static void free_memory(void)
{
    while (count)
        free((void *)(uintptr_t)left[--count]);
}
#else
static void keep_memory(void) {}

static void free_memory(void) {}
#endif

/* ---- a tool with options of all types ----------------------------------------------------------
 */

static bool flag;
static long number;
static uint64_t seed;
static double real;
static const char *text;
static int choice_of;
static lat_geometry geom;

static const lat_option options[] = {
    {LAT_OPT_FLAG, "flag", 'f', NULL, &flag, 0, 0, "a flag"},
    {LAT_OPT_INT, "int", 'n', "N", &number, -5, 1000000, "a number"},
    {LAT_OPT_INT, "any-int", 0, "N", &number, 0, 0, "any number"},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "a seed"},
    {LAT_OPT_REAL, "real", 'r', "X", &real, 0, 2, "a real"},
    {LAT_OPT_REAL, "positive", 0, "X", &real, 1e-300, INFINITY, "a positive real"},
    {LAT_OPT_TEXT, "text", 't', "TEXT", &text, 0, 0, "a text"},
    {LAT_OPT_CHOICE, "choice", 'c', "one|two|three", &choice_of, 0, 0, "a choice"},
    {LAT_OPT_DIMS, "dims", 'd', "X,Y,Z,T", &geom, 0, 0, "extents"},
    {LAT_OPT_END, NULL, 0, NULL, NULL, 0, 0, NULL}};

static const lat_tool tool = {
    .name = "lat-fed",
    .args = "[FILE]",
    .summary = "Is fed with words.",
    .example = "lat-fed --int 3 | lat-fed",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
};

static void judge(void)
{
    if (number < -5 && !lat_opt_given("any-int"))
        feed_broken("--int %ld", number);
    if (!isfinite(real) || real < 0)
        feed_broken("a real %g", real);
    if (choice_of < 0 || choice_of > 2)
        feed_broken("choice %d", choice_of);
    for (int i = 0; i < geom.nd; i++)
        if (geom.dims[i] < 1)
            feed_broken("extent %d", geom.dims[i]);
    if (lat_opts.threads < 1)
        feed_broken("%ld threads", lat_opts.threads);
    for (const char *p = lat_opts.arguments; *p; p++)
        if (iscntrl((unsigned char)*p))
            feed_broken("a control character in the provenance");
}

#define WORDS 64

bool feed_options(const unsigned char *bytes, size_t n)
{
    static char line[65536 + 1];
    static char name[] = "lat-fed";
    static char *argv[WORDS + 2] = {name};
    int argc = 1;
    volatile int code;
    setenv("GOMP_SPINCOUNT", "2000",
           0); /* lat_options_parse is not to execute this program again */
    n = n < sizeof line - 1 ? n : sizeof line - 1;
    memcpy(line, bytes, n);
    line[n] = 0;
    for (size_t at = 0; at < n && argc <= WORDS; at += strlen(line + at) + 1)
        argv[argc++] = line + at;
    argv[argc] = NULL;
    memset(&run, 0, sizeof run);
    flag = false, number = 0, seed = 0, real = 1, text = NULL, choice_of = 0;
    geom = (lat_geometry){.nd = 0};
    lat_error_clear();
    keep_memory();
    parsing = true;
    code = setjmp(back);
    if (code == 0) {
        lat_options_parse(&tool, argc, argv);
        judge();
    } else if (run.arguments && !lat_opts.arguments) {
        lat_memory_stream_close(run.arguments, &run.memory);
    }
    parsing = false;
    free_memory();
    if (code - 1 > LAT_USAGE)
        feed_broken("exit status %d", code - 1);
    return code <= 1; /* parsed, or --help and the like */
}
