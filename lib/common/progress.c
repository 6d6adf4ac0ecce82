/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c: progress on stderr, logs in files. */
#include "progress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "error.h"
#include "options.h"

double lat_seconds(void)
{
    static struct timespec first;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (first.tv_sec == 0 && first.tv_nsec == 0)
        first = t;
    return (double)(t.tv_sec - first.tv_sec) + 1e-9 * (double)(t.tv_nsec - first.tv_nsec);
}

static bool line_open;

void lat_progress(const char *format, ...)
{
    static double last = -1e9;
    const bool plain = lat_opts.progress > 0, line = !plain && isatty(STDERR_FILENO);
    const double every = plain ? lat_opts.progress : 0.2, now = lat_seconds();
    if (lat_opts.quiet || (!plain && !line) || now - last < every)
        return;
    last = now;
    va_list ap;
    va_start(ap, format);
    fprintf(stderr, "%s%s: ", line ? "\r\033[K" : "", lat_tool_name);
    vfprintf(stderr, format, ap);
    fputs(line ? "" : "\n", stderr);
    fflush(stderr);
    va_end(ap);
    line_open = line;
}

void lat_progress_end(void)
{
    if (line_open)
        fputs("\r\033[K", stderr);
    line_open = false;
}

FILE *lat_log_open(const char *path, const char *columns)
{
    FILE *log = fopen(path, "w");
    if (!log || setvbuf(log, NULL, _IOLBF, 0) || fprintf(log, "%s\n", columns) < 0) {
        lat_fail("%s: cannot write the log: %s", path, strerror(errno));
        if (log)
            fclose(log);
        return NULL;
    }
    return log;
}

int lat_log_close(FILE *log, const char *path)
{
    if (!log)
        return 0;
    bool bad = ferror(log);
    if (fclose(log) || bad)
        return lat_fail("%s: the log could not be written in full", path);
    return 0;
}
