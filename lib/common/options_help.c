/* SPDX-License-Identifier: BSD-3-Clause */
/* options_help.c: texts of --help and --version. */
#include "options_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/build.h"
#include "base/error.h"
#include "memory_stream.h"

void *lat_option_require(void *p)
{
    if (!p) {
        lat_fail("out of memory: the command line");
        exit(lat_report(LAT_FAILED));
    }
    return p;
}

bool lat_option_fits(const lat_option *o)
{
    return strlen(o->name) + strlen(o->arg) + 9 <= LAT_HELP_WIDTH;
}

char *lat_option_help(const lat_option *o)
{
    bool list = lat_option_type(o) == LAT_OPT_CHOICE && !lat_option_fits(o);
    char value[256], *choices = list ? lat_option_require(lat_option_choices(o->arg)) : NULL, *text;
    const char *help = o->help ? o->help : "";
    lat_option_default(o, value, sizeof value);
    if (strstr(help, "default"))
        value[0] = '\0'; /* the text says it */
    if (asprintf(&text, "%s%s%s%s%s%s", help, list ? ": " : "", list ? choices : "",
                 *value ? " (default " : "", value, *value ? ")" : "")
        < 0)
        text = NULL;
    free(choices);
    return lat_option_require(text);
}

bool lat_option_near(const char *said, const char *name)
{
    const char *a = said + 2, *b = name;
    const size_t n = strcspn(said, "=") - 2, m = strlen(name);
    size_t i = 0, k = 0; /* alike at the beginning, and at the end */

    if (strncmp(said, "--", 2) || m < 3)
        return false;
    while (i < n && i < m && a[i] == b[i])
        i++;
    while (k < n - i && k < m - i && a[n - 1 - k] == b[m - 1 - k])
        k++;
    const size_t of_a = n - i - k, of_b = m - i - k;
    return (of_a <= 1 && of_b <= 1 && of_a + of_b > 0)
           || (of_a == 2 && of_b == 2 && a[i] == b[i + 1] && a[i + 1] == b[i]);
}

/* Prints a line of the example; a long one continues after a "|", or after a backslash. */
static void example_line(FILE *f, const char *line, size_t n)
{
    size_t width = LAT_HELP_WIDTH - 2;
    const char *indent = "  ";
    while (n > width) {
        size_t cut = 0, pipe = 0;
        for (size_t i = 1; i + 2 <= width; i++)
            if (line[i] == ' ') {
                cut = i;
                if (line[i - 1] == '|')
                    pipe = i;
            }
        if (!cut)
            break;
        fprintf(f, "%s%.*s%s\n", indent, (int)(pipe ? pipe : cut), line, pipe ? "" : " \\");
        line += (pipe ? pipe : cut) + 1;
        n -= (pipe ? pipe : cut) + 1;
        indent = "      ";
        width = LAT_HELP_WIDTH - 6;
    }
    fprintf(f, "%s%.*s\n", indent, (int)n, line);
}

/* argp prints what stands before \v above the options, and what follows below them. */
char *lat_tool_description(const lat_tool *tool)
{
    const char *p = tool->example;
    size_t n;
    lat_memory_stream m;
    FILE *f = lat_option_require(lat_memory_stream_open(&m));
    fputs(tool->summary, f);
    if (p && *p) {
        fputs("\vExample:\n", f);
        for (;; p += n + 1) {
            n = strcspn(p, "\n");
            example_line(f, p, n);
            if (!p[n] || !p[n + 1])
                break;
        }
    }
    return lat_option_require(lat_memory_stream_close(f, &m) == 0 ? m.text : NULL);
}

void lat_options_printed(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        lat_fail("<stdout>: cannot be written: %s", strerror(errno));
        exit(lat_report(LAT_FAILED));
    }
    exit(LAT_DONE);
}

static const char *build_facts(void)
{
    static char text[1024];
    snprintf(text, sizeof text, "built with %s (%s)\nzlib %s\nCUDA: %s%s%s\nMPI: %s%s%s\n",
             lat_built_with, __VERSION__, zlibVersion(), *lat_no_cuda ? "no (" : "yes", lat_no_cuda,
             *lat_no_cuda ? ")" : "", *lat_no_mpi ? "no (" : "yes", lat_no_mpi,
             *lat_no_mpi ? ")" : "");
    return text;
}

void lat_options_version(const char *name)
{
    printf("%s %s\n%s", name, LAT_VERSION, build_facts());
    lat_options_printed();
}
