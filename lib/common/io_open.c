/* SPDX-License-Identifier: BSD-3-Clause */
/* io_open.c: lists of open inputs and outputs: no two outputs are one file, nor is one an input. */
#include "io_internal.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Two outputs that are one file, or an input that is an output, would destroy each other, whatever
 * their names. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static lat_input *inputs;
static lat_output *outputs;

bool lat_io_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

bool lat_io_unchanged(const struct stat *was, const struct stat *now)
{
    return now->st_size == was->st_size && now->st_mtim.tv_sec == was->st_mtim.tv_sec
           && now->st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

int lat_io_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

static bool folder_examined(const char *path, struct stat *st)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", lat_io_folder(path), path);
    return stat(*folder ? folder : ".", st) == 0;
}

bool lat_one_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return lat_io_same(&of_a, &of_b);
    return strcmp(a + lat_io_folder(a), b + lat_io_folder(b)) == 0 && folder_examined(a, &of_a)
           && folder_examined(b, &of_b) && lat_io_same(&of_a, &of_b);
}

/* True if bytes are written to FILE itself, and not to a temporary that will replace it. */
static bool in_place(const lat_output *out) { return out->live || !out->target; }

/* A terminal or /dev/null may be two outputs. Two names of one file (hard links) may be, too, where
 * temporaries are renamed to them, and not where the file itself is written. */
static bool collide(const lat_output *a, const lat_output *b)
{
    if (a->standard && b->standard)
        return true;
    if (a->target && b->target && lat_io_same(&a->folder, &b->folder)
        && strcmp(a->target + lat_io_folder(a->target), b->target + lat_io_folder(b->target)) == 0)
        return true;
    return (in_place(a) || in_place(b)) && a->file.st_mode && !S_ISCHR(a->file.st_mode)
           && lat_io_same(&a->file, &b->file);
}

static bool overwrites(const lat_output *out, const lat_input *in)
{
    return in->regular && (in_place(out) || out->other) && out->file.st_mode
           && lat_io_same(&out->file, &in->file);
}

int lat_input_register(lat_input *in)
{
    int rc = 0;
    pthread_mutex_lock(&lists);
    for (const lat_output *out = outputs; out && rc == 0; out = out->next)
        if (overwrites(out, in))
            rc = lat_fail("%s: is the output as well", in->name);
    if (rc == 0) {
        in->next = inputs;
        inputs = in;
    }
    pthread_mutex_unlock(&lists);
    return rc;
}

static int output_collision(const lat_output *out)
{
    for (const lat_input *in = inputs; in; in = in->next)
        if (overwrites(out, in))
            return lat_fail("%s: is the output as well", in->name);
    for (const lat_output *other = outputs; other; other = other->next)
        if (collide(out, other) && strcmp(out->name, other->name) == 0)
            return lat_fail_usage("%s: cannot be two outputs of one run", out->name);
        else if (collide(out, other))
            return lat_fail_usage("%s: is the same output as %s", out->name, other->name);
    return 0;
}

int lat_output_register(lat_output *out)
{
    if (in_place(out) && fstat(out->fd, &out->file) < 0)
        return lat_fail("%s: cannot be examined: %s", out->name, strerror(errno));
    if (out->target && !folder_examined(out->target, &out->folder))
        return lat_fail("%s: its folder cannot be examined: %s", out->name, strerror(errno));
    pthread_mutex_lock(&lists);
    int rc = output_collision(out);
    if (rc == 0) {
        out->next = outputs;
        outputs = out;
    }
    pthread_mutex_unlock(&lists);
    return rc;
}

void lat_input_unregister(const lat_input *in)
{
    pthread_mutex_lock(&lists);
    for (lat_input **at = &inputs; *at; at = &(*at)->next)
        if (*at == in) {
            *at = in->next;
            break;
        }
    pthread_mutex_unlock(&lists);
}

void lat_output_unregister(const lat_output *out)
{
    pthread_mutex_lock(&lists);
    for (lat_output **at = &outputs; *at; at = &(*at)->next)
        if (*at == out) {
            *at = out->next;
            break;
        }
    pthread_mutex_unlock(&lists);
}

void *lat_io_attach(void **at, size_t size, const char *name)
{
    if (!*at && !(*at = calloc(1, size)))
        lat_fail("%s: out of memory: %zu bytes", name, size);
    return *at;
}
