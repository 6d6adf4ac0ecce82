/* SPDX-License-Identifier: BSD-3-Clause */
/* tuned.c: the list in memory, and the file. */
#include "tuned.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"

#define FIRST_LINE "# lat tuned 1: what devices are fastest with; results do not depend on it\n"

enum { LINE = 512, MOST_LINES = 10000 };

/* A line of the file, without its newline. */
typedef struct line {
    char *text;
    bool fresh; /* of this run */
} line;

static struct {
    lat_tune mode;
    bool read;
    line *list;
    long count;
} all;

void lat_tuned_set(lat_tune mode) { all.mode = mode; }
lat_tune lat_tuned_mode(void) { return all.mode; }

void lat_tuned_forget(void)
{
    for (long i = 0; i < all.count; i++)
        free(all.list[i].text);
    free(all.list);
    all.list = NULL;
    all.count = 0;
    all.read = false;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* "lat VERSION<tab>WHAT<tab>", with which lines of `what` begin. */
static int head_of(const char *what, char head[LINE])
{
    return snprintf(head, LINE, "lat %s\t%s\t", LAT_VERSION, what);
}

/* The line that begins as `text` does, with n characters. */
static line *find_as(const char *text, size_t n)
{
    for (long i = 0; i < all.count; i++)
        if (!strncmp(all.list[i].text, text, n))
            return &all.list[i];
    return NULL;
}

static line *find(const char *what)
{
    char head[LINE];
    const size_t n = (size_t)head_of(what, head);
    return n < LINE ? find_as(head, n) : NULL;
}

/* It is found no more, and not written. */
static void retire(line *l)
{
    *l->text = '\0';
    l->fresh = false;
}

/* Five columns, of which the last two are times. */
static bool parse(const char *text, lat_tuned *t)
{
    const char *column[5] = {text};
    for (int i = 1; i < 5; i++) {
        const char *tab = strchr(column[i - 1], '\t');
        if (!tab)
            return false;
        column[i] = tab + 1;
    }
    const size_t n = (size_t)(column[3] - column[2]) - 1;
    char rest;
    if (n == 0 || n >= sizeof t->way
        || sscanf(column[3], "%lf\t%lf%c", &t->time, &t->usual, &rest) != 2 || !(t->time > 0)
        || !(t->usual > 0) || !isfinite(t->time) || !isfinite(t->usual))
        return false;
    memcpy(t->way, column[2], n);
    t->way[n] = '\0';
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* False without a home. */
static bool file_name(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int n = cache && *cache == '/' ? snprintf(path, size, "%s/lat/tuned-1", cache)
                  : home && *home        ? snprintf(path, size, "%s/.cache/lat/tuned-1", home)
                                         : (int)size;
    return n < (int)size;
}

/* Gives each good line of the file to `take`, which returns false to end. */
static void each_line(const char *path, bool says, bool (*take)(const char *))
{
    char text[LINE];
    lat_tuned t;
    long number = 1, bad = 0;
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    const bool ours = fgets(text, sizeof text, f) && !strcmp(text, FIRST_LINE);
    if (!ours && says)
        lat_warn("%s: expected '%.13s ..' in line 1, found another file: ignored, and measured "
                 "anew",
                 path, FIRST_LINE);
    while (ours && number < MOST_LINES && fgets(text, sizeof text, f)) {
        const size_t n = strlen(text);
        number++;
        const bool whole = n > 0 && text[n - 1] == '\n';
        if (whole)
            text[n - 1] = '\0';
        if (whole && parse(text, &t)) {
            if (!take(text))
                break;
        } else if (!bad)
            bad = number;
    }
    if (bad && says)
        lat_warn("%s: expected five columns with tabs between in line %ld, found others: ignored, "
                 "and measured anew",
                 path, bad);
    fclose(f);
}

/* Without memory it is measured anew. */
static bool add(const char *text)
{
    line *list = lat_grow(all.list, all.count, sizeof *list, "what is tuned");
    char *copy = list ? strdup(text) : NULL;
    all.list = list ? list : all.list;
    if (copy)
        all.list[all.count++].text = copy;
    else
        lat_error_clear();
    return copy != NULL;
}

static void read_once(void)
{
    char path[4096];
    if (!all.read && file_name(path, sizeof path))
        each_line(path, true, add);
    all.read = true;
}

/* Is there a fresh line for the same? */
static bool replaced(const char *text)
{
    const char *what = strchr(text, '\t'), *end = what ? strchr(what + 1, '\t') : NULL;
    const line *l = end ? find_as(text, (size_t)(end - text) + 1) : NULL;
    return l && l->fresh;
}

static FILE *writing; /* for those who take lines */

static bool copy_line(const char *text)
{
    if (!replaced(text))
        fprintf(writing, "%s\n", text);
    return true;
}

/* The last two folders of a path, where they are not there: the cache folder, and ours. */
static void make_folders(char *path)
{
    char *const ours = strrchr(path, '/');
    *ours = '\0';
    char *const cache = strrchr(path, '/');
    *cache = '\0';
    (void)mkdir(path, 0700);
    *cache = '/';
    (void)mkdir(path, 0700);
    *ours = '/';
}

/* What others have written meanwhile stays. */
static int write_file(char *path)
{
    char other[4096 + 32];
    make_folders(path);
    snprintf(other, sizeof other, "%s.XXXXXX", path);
    const int fd = mkostemp(other, O_CLOEXEC);
    writing = fd < 0 ? NULL : fdopen(fd, "w");
    if (!writing)
        return -1;
    fputs(FIRST_LINE, writing);
    for (long i = 0; i < all.count; i++)
        if (all.list[i].fresh)
            fprintf(writing, "%s\n", all.list[i].text);
    each_line(path, false, copy_line);
    errno = EIO;
    const bool bad = ferror(writing) != 0;
    if (fclose(writing) || bad || rename(other, path)) {
        const int e = errno;
        unlink(other);
        errno = e;
        return -1;
    }
    return 0;
}

/* ---- what others call ------------------------------------------------------------------------ */

bool lat_tuned_find(const char *what, lat_tuned *found)
{
    if (all.mode == LAT_TUNE_NEVER)
        return false;
    read_once();
    const line *l = find(what);
    return l && (l->fresh || all.mode == LAT_TUNE_ONCE) && parse(l->text, found);
}

void lat_tuned_reject(const char *what, const char *expected)
{
    char path[4096];
    lat_tuned t;
    line *l = find(what);
    if (!l)
        return;
    lat_warn("%s: %s: expected %s, found '%s': measured anew",
             file_name(path, sizeof path) ? path : "tuned", what, expected,
             parse(l->text, &t) ? t.way : "");
    retire(l);
}

void lat_tuned_keep(const char *what, const lat_tuned *found)
{
    char text[LINE], path[4096];
    int n = head_of(what, text);
    if (n < LINE)
        n += snprintf(text + n, (size_t)(LINE - n), "%s\t%.3f\t%.3f", found->way, found->time,
                      found->usual);
    lat_tuned t;
    if (n >= LINE - 1 || !parse(text, &t))
        return;
    read_once();
    line *old = find(what);
    if (old)
        retire(old);
    if (!add(text))
        return;
    all.list[all.count - 1].fresh = true;
    if (!file_name(path, sizeof path))
        lat_verbose("what is tuned is not remembered: neither HOME nor XDG_CACHE_HOME is set");
    else if (write_file(path))
        lat_verbose("what is tuned is not remembered: %s: %s", path, strerror(errno));
}
