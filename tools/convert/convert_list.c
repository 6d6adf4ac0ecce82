/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_list.c: the list of formats. */
#include "convert_list.h"

#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "run/common/conversion.h"

void lat_convert_names(char *names)
{
    for (const lat_format *const *f = lat_formats; *f; f++) {
        if (f != lat_formats)
            strcat(names, "|");
        strcat(names, (*f)->name);
    }
}

static void print_formats(int width, bool of_quarks)
{
    char name[32];
    for (const lat_format *const *f = lat_formats; *f; f++) {
        snprintf(name, sizeof name, ".%s", (*f)->name);
        if (!(*f)->quarks == !of_quarks)
            printf("%-*s %-10s %-5s %-6s %s%s\n", width, (*f)->name,
                   (*f)->extension ? (*f)->extension : name, "yes",
                   lat_format_writes(*f) ? "yes" : "no", (*f)->about,
                   of_quarks && !(*f)->proven ? " (unproven)" : "");
    }
}

int lat_convert_print_list(void)
{
    static const char *const head = "%-*s %-10s %-5s %-6s %s\n";
    printf(head, 10, "format", "extension", "reads", "writes", "about");
    print_formats(10, false);
    putchar('\n');
    printf(head, 17, "of quarks", "extension", "reads", "writes",
           "about (unproven: no file of it was seen)");
    print_formats(17, true);
    printf("\nrecognised, and refused by name:\n");
    for (size_t i = 0; lat_format_refused(i); i++)
        printf("  %s\n", lat_format_refused(i));
    if (fflush(stdout) == 0 && !ferror(stdout))
        return LAT_DONE;
    lat_fail("<stdout>: cannot be written");
    return lat_report(LAT_FAILED);
}

bool lat_convert_extends(const lat_format *f, const char *dot)
{
    return !strcmp(dot + 1, f->name) || (f->extension && !strcmp(dot, f->extension))
           || (f->also && !strcmp(dot, f->also));
}

int lat_convert_twin(lat_input *in, const lat_format *format, const char *dot, int to)
{
    char b[LAT_PROBE];
    const ssize_t n = lat_input_peek(in, b, sizeof b);
    const bool matrices = n > 0
                          && (lat_stream_begins(b, (size_t)n, LAT_GAUGE)
                              || lat_stream_begins(b, (size_t)n, LAT_TRANSFORM)),
               spinors = format->stream ? !matrices : format->quarks != 0;
    for (int i = 0; lat_formats[i] && lat_convert_extends(lat_formats[to], dot); i++) {
        const lat_format *f = lat_formats[i];
        if (lat_convert_extends(f, dot) && lat_format_writes(f) && !f->stream
            && (f->quarks != 0) == spinors)
            return i;
    }
    return to;
}
