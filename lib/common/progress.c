/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c: lines of progress on stderr, the time that is left, logs. */
#include "progress.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/error.h"
#include "io.h"
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

static volatile sig_atomic_t asked;

static void ask(LAT_UNUSED int sig) { asked = 1; }

static bool watched; /* the tool has --progress */

void lat_progress_watch(void)
{
    watched = true;
    struct sigaction ours = {.sa_handler = ask, .sa_flags = SA_RESTART}, was;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGUSR1, NULL, &was) == 0 && was.sa_handler == SIG_DFL)
        sigaction(SIGUSR1, &ours, NULL);
}

bool lat_progress_asked(void) { return asked; }

static double last = -1e9; /* line */

bool lat_progress_due(void)
{
    const bool plain = lat_opts.progress > 0;
    const double every = plain ? lat_opts.progress : 0.2;
    return asked
           || (!lat_opts.quiet && lat_seconds() - last >= every
               && (plain || isatty(STDERR_FILENO)));
}

static void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print_line(const char *format, ...)
{
    const bool stays = lat_opts.progress > 0 || asked;
    asked = 0;
    last = lat_seconds();
    va_list ap;
    va_start(ap, format);
    lat_stderr_print(stays, format, ap);
    va_end(ap);
}

static void parts_text(char *text, size_t n);

void lat_progress(const char *format, ...)
{
    char text[512], parts[256];
    if (!lat_progress_due())
        return;
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    parts_text(parts, sizeof parts);
    print_line("%s%s%s", text, *parts ? "  " : "", parts);
}

void lat_progress_end(void) { lat_stderr_clear(); }

/* ---- parts ----------------------------------------------------------------------------------- */

enum { PARTS = 8 };
static struct {
    const char *what;
    double of, done, began;
} part[PARTS];
static int parts; /* may be more */

void lat_part_begin(const char *what, double of)
{
    if (parts < PARTS) {
        part[parts].what = what;
        part[parts].of = of;
        part[parts].done = 0;
        part[parts].began = lat_seconds();
    }
    parts++;
}

void lat_part_at(double done)
{
    if (parts > 0 && parts <= PARTS)
        part[parts - 1].done = done;
}

void lat_part_end(void) { parts -= parts > 0; }

/* The time left of the outermost part whose inner ones are all known; NaN before anything is done.
 */
static double seconds_left(int n)
{
    int first = n;
    double f = 0;
    while (first > 0 && (part[first - 1].of > 0 || part[first - 1].done == 0))
        first--;
    for (int i = n - 1; i >= first; i--)
        f = fmin(1, (part[i].done + f) / fmax(part[i].of, 1e-300 + (part[i].of == 0)));
    return first < n && f > 0 ? (lat_seconds() - part[first].began) * (1 - f) / f : NAN;
}

/* Innermost first; the time left stands behind the first one whose number is known, or first. */
static void parts_text(char *text, size_t n)
{
    char left[LAT_LEFT];
    const int count = parts < PARTS ? parts : PARTS;
    const double seconds = seconds_left(count);
    size_t at = 0;
    int timed = count - 1;
    while (timed >= 0 && !(part[timed].what && part[timed].of > 1))
        timed--;
    *text = '\0';
    for (int i = count; i >= 0 && at + 64 < n; i--) {
        const char *gap = at ? "  " : "", *what = i < count ? part[i].what : NULL;
        if (what && part[i].of > 1)
            at += (size_t)snprintf(text + at, n - at, "%s%.16s %.0f of %.0f", gap, what,
                                   floor(part[i].done), part[i].of);
        else if (what && part[i].of == 0)
            at += (size_t)snprintf(text + at, n - at, "%s%.16s %.0f", gap, what, part[i].done);
        if (i == (timed < 0 ? count : timed) && isfinite(seconds))
            at += (size_t)snprintf(text + at, n - at, "%s%s", at ? "  " : "",
                                   lat_left_text(seconds, left));
    }
}

void lat_part_done(double done)
{
    char text[256];
    lat_part_at(done);
    if (!watched || !lat_progress_due())
        return;
    parts_text(text, sizeof text);
    if (*text)
        print_line("%s", text);
}

const char *lat_residual_text(double residual, char buf[LAT_LEFT])
{
    *buf = '\0';
    if (!isinf(residual))
        snprintf(buf, LAT_LEFT, "residual %.1e  ", residual);
    return buf;
}

double lat_digits_done(double *first, double now, double goal)
{
    *first = fmax(*first, now);
    const double f = log(*first / now) / log(*first / goal);
    return f > 0 ? fmin(f, 1) : 0;
}

/* ---- time left ------------------------------------------------------------------------------- */

double lat_rate_sample(lat_rate *r, double value)
{
    const double now = lat_seconds(), elapsed = now - r->seconds;
    if (r->samples > 0 && elapsed > 0) {
        const double weight = r->samples < 10 ? 1.0 / r->samples : 0.1;
        r->per_second += weight * ((value - r->value) / elapsed - r->per_second);
    }
    if (r->samples == 0 || elapsed > 0) {
        r->samples += r->samples < 10;
        r->seconds = now;
        r->value = value;
    }
    return r->per_second;
}

const char *lat_left_text(double s, char buf[LAT_LEFT])
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"days", 86400}};
    int u = 0;
    snprintf(buf, LAT_LEFT, "- left");
    if (!(s >= 0 && s < 1e8))
        return buf;
    while (u < 3 && s >= 2 * units[u + 1].seconds)
        u++;
    snprintf(buf, LAT_LEFT, "%.0f %s left", s / units[u].seconds, units[u].name);
    return buf;
}

const char *lat_rate_text(double per_second, const char *what, char buf[LAT_LEFT])
{
    if (!(per_second > 0))
        snprintf(buf, LAT_LEFT, "- %.16ss/s", what);
    else if (per_second < 1)
        snprintf(buf, LAT_LEFT, "%.3g s/%.16s", 1 / per_second, what);
    else
        snprintf(buf, LAT_LEFT, per_second < 9.95 ? "%.1f %.16ss/s" : "%.0f %.16ss/s", per_second,
                 what);
    return buf;
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* Attached to the output. */
typedef struct {
    lat_output *out;
    bool begun; /* a line was written after the names of the columns */
    bool lost;  /* a line could not be written, which has been said */
} journal;

/* A failure does not end the run: it is said at once, the sentence is cleared, and lat_log_close
 * fails. */
static ssize_t write_lines(void *cookie, const char *lines, size_t n)
{
    journal *j = cookie;
    const bool fine = !*lat_error();
    j->begun = true;
    if (lat_output_write(j->out, lines, n) == 0 && lat_output_flush(j->out) == 0)
        return (ssize_t)n;
    if (fine && !j->lost)
        lat_warn("%s", lat_error());
    if (fine)
        lat_error_clear();
    j->lost = true;
    return 0;
}

static int close_journal(void *cookie)
{
    journal *j = cookie;
    if (j->begun || !*lat_error())
        return lat_output_commit(j->out);
    lat_output_abort(j->out);
    return 0;
}

FILE *lat_log_open(const char *path, const char *columns, const lat_comm *comm)
{
    const cookie_io_functions_t how = {.write = write_lines, .close = close_journal};
    FILE *log;
    if (strcmp(path, "-") == 0)
        return lat_fail_usage("-: expected the name of a file for a log, found stdout, "
                              "which is for data"),
               NULL;
    const bool anew = lat_opt_given("resume"); /* the log of the run that is resumed */
    const unsigned keeps = lat_opts.no_clobber && !anew ? LAT_OUTPUT_NO_CLOBBER : 0;
    lat_output *out = lat_output_open(path, LAT_OUTPUT_TEXT | LAT_OUTPUT_LIVE | keeps, comm);
    journal *j = out ? lat_output_attach(out, sizeof *j) : NULL;
    if (j && lat_output_write(out, columns, strlen(columns)) == 0
        && lat_output_write(out, "\n", 1) == 0
        && (lat_output_is_file(out) || lat_output_flush(out) == 0)
        && (log = fopencookie(j, "w", how))) {
        j->out = out;
        setvbuf(log, NULL, _IOLBF, 0);
        return log;
    }
    lat_fail("%s: out of memory: a log", path);
    lat_output_abort(out);
    return NULL;
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
