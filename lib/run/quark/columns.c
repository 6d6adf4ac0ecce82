/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.c: columns in memory, and in the file. */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "run/common/resume.h"
#include "stream/stream.h"

enum { NUMBERS = 8, SHARE = 20 /* of the time goes into writing, at most: 1/SHARE */ };

typedef struct kept {
    char *name; /* "SOLUTION column C" */
    double numbers[NUMBERS];
    int count;
    lat_field psi;
} kept;

struct lat_columns {
    const char *path;
    const lat_comm *comm;
    char *run; /* tool, and options that decide its result */
    kept *list;
    int count, written; /* columns; those that are in the file */
    double last, took;  /* when it was written, and how long that took */
    bool failing;       /* could not be written the last time, which was said */
    const char *unsure; /* the file to resume from, until a first solution was asked of it */
};

static kept *add(lat_columns *k, char *name)
{
    static const char what[] = "the columns of a checkpoint";
    kept *list = name ? lat_grow(k->list, k->count, sizeof *list, what) : NULL;
    if (!name)
        lat_fail("out of memory: %s", what);
    if (!list) {
        free(name);
        return NULL;
    }
    k->list = list;
    list[k->count].name = name;
    return &list[k->count++];
}

static char *name_of(const char *solution, int column)
{
    char *name;
    return asprintf(&name, "%s column %d", solution, column) < 0 ? NULL : name;
}

static const kept *find(const lat_columns *k, const char *name)
{
    for (int i = 0; i < k->count; i++)
        if (!strcmp(k->list[i].name, name))
            return &k->list[i];
    return NULL;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Numbers are hexadecimal, so that nothing is rounded. */
static int write_one(const lat_columns *k, lat_output *out, kept *c)
{
    char numbers[NUMBERS * 32] = "-";
    for (int i = 0, n = 0; i < c->count; i++)
        n += snprintf(numbers + n, sizeof numbers - (size_t)n, "%s%a", i ? " " : "", c->numbers[i]);
    if (lat_info_set(&c->psi.head, "checkpoint.run", k->run)
        || lat_info_set(&c->psi.head, "checkpoint.column", c->name)
        || lat_info_set(&c->psi.head, "checkpoint.numbers", numbers))
        return -1;
    return lat_stream_write(out, &c->psi, LAT_STORE_AUTO);
}

static int write_all(lat_columns *k)
{
    const double start = lat_seconds();
    lat_output *out = lat_output_open(k->path, 0, k->comm);
    int rc = lat_agree(k->comm, out ? 0 : -1);
    for (int i = 0; i < k->count && rc == 0; i++)
        rc = write_one(k, out, &k->list[i]);
    if (rc == 0)
        rc = lat_stream_commit(out);
    else
        lat_output_abort(out);
    k->written = rc ? k->written : k->count;
    if (rc == 0)
        lat_resume_written(k->path);
    k->last = lat_seconds();
    k->took = k->last - start;
    return rc;
}

/* A file that cannot be written is no reason to lose what is in memory. True if the file has
 * columns. */
static bool saved(lat_columns *k)
{
    lat_error_clear();
    const bool good = k->written == k->count || write_all(k) == 0;
    if (!good && !k->failing)
        lat_warn("no checkpoint: %s", lat_error());
    k->failing = !good;
    lat_error_clear();
    return k->written > 0;
}

/* One field of the file; takes over f. */
static int take(void *context, const char *path, lat_field *f)
{
    lat_columns *k = context;
    const char *run = lat_info_get(&f->head, "checkpoint.run"),
               *column = lat_info_get(&f->head, "checkpoint.column"),
               *numbers = lat_info_get(&f->head, "checkpoint.numbers");
    if (f->head.kind != LAT_SPINOR || !run || !column || !numbers)
        return lat_fail("%s: expected a checkpoint of columns, found a field that is none", path);
    if (lat_resume_same(path, k->run, run))
        return -1;
    kept *c = add(k, strdup(column));
    if (!c)
        return -1;
    for (int n = 0, step; c->count < NUMBERS; n += step)
        if (sscanf(numbers + n, " %la%n", &c->numbers[c->count++], &step) != 1) {
            c->count--;
            break;
        }
    c->psi = *f;
    *c->psi.head.read_crc = '\0';
    *f = (lat_field){.data = NULL};
    lat_header_init(&f->head);
    return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* One column of x as a spinor, or back. */
static void copy_column(lat_field *x, int column, lat_field *psi, bool out)
{
    const size_t columns = lat_header_objects(&x->head), sites = lat_field_sites(x);
    const size_t bytes = lat_header_full_reals(&x->head) * (size_t)x->head.real;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++) {
        char *of_x = (char *)x->data + (i * columns + (size_t)column) * bytes,
             *of_psi = (char *)psi->data + i * bytes;
        memcpy(out ? of_psi : of_x, out ? of_x : of_psi, bytes);
    }
}

bool lat_columns_writes(const lat_columns *k) { return k->path != NULL; }
bool lat_columns_used(const lat_columns *k) { return k->path || k->count > 0; }

int lat_columns_save(lat_columns *k, const char *solution, const lat_field *x, int column,
                     const double *numbers, int count)
{
    kept *c = add(k, name_of(solution, column));
    if (lat_agree(k->comm, c ? 0 : -1))
        return -1;
    memcpy(c->numbers, numbers, sizeof *numbers * (size_t)count);
    c->count = count;
    lat_header_init(&c->psi.head);
    c->psi.head.geom = x->head.geom;
    c->psi.head.nc = x->head.nc;
    c->psi.head.real = x->head.real;
    lat_header_make_spinors(&c->psi.head, LAT_SPINOR, 1);
    if (lat_agree(k->comm, lat_field_alloc(&c->psi, x->comm)))
        return -1;
    lat_field view = *x; /* is not changed */
    copy_column(&view, column, &c->psi, true);
    double late = lat_seconds() - k->last >= SHARE * k->took; /* of rank 0, which has the clock */
    if (!k->path)
        return 0;
    if (k->comm->broadcast(k->comm, &late, sizeof late, 0))
        return -1;
    if (late != 0)
        saved(k);
    return 0;
}

/* Has the file columns of the solution that a run begins with? If not, it is of other links or
 * sources, as options are the same. 0, or -1. */
static int compare(lat_columns *k, const char *solution)
{
    /* Mass and twist aside, which stand between (lat_inverter_name): of a family of twists, those
     * of another one may be there alone. */
    const char *mass = strstr(solution, " mass "), *links = strstr(solution, " links "), *at;
    const size_t head = mass ? (size_t)(mass - solution) : 0, n = links ? strlen(links) : 0;
    bool any = !k->unsure || k->count == 0 || !links;
    for (int i = 0; i < k->count && !any; i++)
        any = !strncmp(k->list[i].name, solution, head) && (at = strstr(k->list[i].name, links))
              && at[n] == ' ';
    const char *path = k->unsure;
    k->unsure = NULL;
    return any ? 0
               : lat_fail(
                   "%s: expected the checkpoint of this run, with columns of '%s', found that "
                   "of other links or sources, '%s'",
                   path, solution, k->list[0].name);
}

int lat_columns_restore(lat_columns *k, const char *solution, lat_field *x, int column,
                        double *numbers, int count)
{
    char *name = name_of(solution, column);
    const kept *c = name ? find(k, name) : NULL;
    free(name);
    if (!name)
        return lat_fail("out of memory: the columns of a checkpoint");
    if (!c)
        return compare(k, solution);
    k->unsure = NULL;
    if (!lat_header_alike(&c->psi.head, &x->head) || c->psi.head.real != x->head.real
        || c->count != count)
        return lat_fail("the checkpoint: expected spinors of this lattice, found others");
    lat_field psi = c->psi;
    copy_column(x, column, &psi, false);
    memcpy(numbers, c->numbers, sizeof *numbers * (size_t)count);
    return 1;
}

/* ---- a run that is asked to stop ------------------------------------------------------------- */

void lat_columns_watch(const lat_columns *k)
{
    if (k->path)
        lat_stop_watch();
}

int lat_columns_asked(const lat_columns *k) { return lat_resume_asked(k->path, k->comm); }

void lat_columns_stopped(lat_columns *k, int sig) { lat_resume_stopped(k->path, saved(k), sig); }

const char *lat_columns_keep(lat_columns *k) { return k->path && saved(k) ? k->path : NULL; }

/* ---- open and close -------------------------------------------------------------------------- */

lat_columns *lat_columns_open(const char *path, const char *resume, const lat_comm *comm)
{
    lat_columns *k = calloc(1, sizeof *k);
    if (!k)
        lat_fail("out of memory: a checkpoint");
    if (!k || !(k->run = lat_resume_text())) {
        free(k);
        return NULL;
    }
    k->path = path;
    k->comm = comm;
    if (lat_checkpoint_possible(path, comm) || (resume && lat_resume_read(resume, comm, take, k))) {
        lat_columns_free(k);
        return NULL;
    }
    k->unsure = resume;
    if (path && resume && !strcmp(path, resume)) /* on all ranks the same */
        k->written = k->count;
    return k;
}

void lat_columns_free(lat_columns *k)
{
    if (!k)
        return;
    for (int i = 0; i < k->count; i++) {
        free(k->list[i].name);
        lat_field_free(&k->list[i].psi);
    }
    free(k->list);
    free(k->run);
    free(k);
}

void lat_columns_remove(lat_columns *k) { lat_resume_remove(k->path, k->comm); }
