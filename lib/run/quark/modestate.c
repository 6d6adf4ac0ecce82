/* SPDX-License-Identifier: BSD-3-Clause */
/* modestate.c: states of searches, in memory and in the file. */
#include "modestate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "run/common/resume.h"
#include "stream/stream.h"

enum { SHARE = 20 /* of the time goes into writing, at most: 1/SHARE */, NAME = 160 };

/* A field of the file: modes that are done, or a vector. */
typedef struct entry {
    char name[NAME]; /* of the search; of a vector ", vector I of N" after it */
    double *number;
    int numbers;
    lat_field f;
} entry;

struct lat_modestate {
    const char *path;
    const lat_comm *comm;
    char *run;   /* tool, and options that decide its result */
    entry *list; /* that were read, and modes that are done */
    int count;
    bool there;         /* the file is, and has something */
    const char *unsure; /* the file of --resume, until it was asked for a search */
    double last, took;  /* when it was written, and how long that took */
};

/* ---- entries --------------------------------------------------------------------------------- */

static entry *add(lat_modestate *k, const char *name)
{
    entry *list = lat_grow(k->list, k->count, sizeof *list, "the checkpoint of modes");
    if (!list)
        return NULL;
    k->list = list;
    snprintf(list[k->count].name, NAME, "%s", name);
    lat_header_init(&list[k->count].f.head);
    return &list[k->count++];
}

static entry *find(const lat_modestate *k, const char *name)
{
    for (int i = 0; i < k->count; i++)
        if (!strcmp(k->list[i].name, name))
            return &k->list[i];
    return NULL;
}

static void entry_free(entry *e)
{
    free(e->number);
    lat_field_free(&e->f);
}

static void name_vector(char to[NAME], const char *name, int i, int of)
{
    snprintf(to, NAME, "%s, vector %d of %d", name, i, of);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Numbers are hexadecimal, so that nothing is rounded. */
static int describe(const lat_modestate *k, lat_header *head, const char *name,
                    const double *number, int numbers)
{
    char *text = lat_alloc((size_t)numbers * 26 + 2, 1, "the checkpoint of modes");
    if (!text)
        return -1;
    strcpy(text, "-");
    for (int i = 0, n = 0; i < numbers; i++)
        n += sprintf(text + n, "%s%a", i ? " " : "", number[i]);
    const int rc = lat_info_set(head, "checkpoint.run", k->run)
                   || lat_info_set(head, "checkpoint.modes", name)
                   || lat_info_set(head, "checkpoint.numbers", text);
    free(text);
    return rc ? -1 : 0;
}

/* Opens the file and writes all modes that are done. */
static int begin(lat_modestate *k, lat_output **out)
{
    *out = lat_output_open(k->path, 0, k->comm);
    int rc = lat_agree(k->comm, *out ? 0 : -1);
    for (int i = 0; i < k->count && rc == 0; i++) {
        entry *e = &k->list[i];
        if (e->f.head.kind == LAT_MODES)
            rc = describe(k, &e->f.head, e->name, e->number, e->numbers)
                         || lat_stream_write(*out, &e->f, LAT_STORE_AUTO)
                     ? -1
                     : 0;
    }
    return rc;
}

/* A file that cannot be written is no reason to lose the search. */
static void end(lat_modestate *k, lat_output *out, int rc, double start)
{
    if (rc == 0)
        rc = lat_stream_commit(out);
    else
        lat_output_abort(out);
    if (rc)
        lat_warn("no checkpoint: %s", lat_error());
    else
        lat_resume_written(k->path);
    lat_error_clear();
    k->there = k->there || rc == 0;
    k->last = lat_seconds();
    k->took = k->last - start;
}

/* Rank 0 has the clock. */
static int is_due(const lat_modestate *k, bool *due)
{
    double now = k->path && (lat_stop_asked() || lat_seconds() - k->last >= SHARE * k->took);
    if (k->comm->max(k->comm, &now, 1))
        return -1;
    *due = now != 0;
    return 0;
}

int lat_modestate_save(lat_modestate *k, const char *name, lat_space *s, const lat_field *like,
                       const lat_modes_state *state)
{
    const double start = lat_seconds();
    char vector[NAME];
    lat_field f;
    lat_output *out = NULL;
    bool due;
    if (is_due(k, &due) || lat_field_spinors(&f, like, LAT_SPINOR, 1))
        return -1;
    int written = due ? begin(k, &out) : -1, rc = 0;
    for (int i = 0; i < state->vectors && rc == 0; i++) {
        rc = lat_spinor_get(s, state->vector[i], 0, &f, 0);
        name_vector(vector, name, i, state->vectors);
        if (rc == 0 && written == 0)
            written = describe(k, &f.head, vector, state->number, i ? 0 : state->numbers)
                              || lat_stream_write(out, &f, LAT_STORE_AUTO)
                          ? -1
                          : 0;
        rc = rc || lat_spinor_put(s, state->vector[i], 0, &f, 0) ? -1 : 0;
    }
    lat_field_free(&f);
    if (due)
        end(k, out, rc ? -1 : written, start);
    return rc;
}

int lat_modestate_keep(lat_modestate *k, const char *name, const lat_field *modes,
                       const double numbers[LAT_MODESTATE_NUMBERS])
{
    lat_output *out;
    if (!k->path || find(k, name))
        return 0;
    entry *e = add(k, name);
    if (!e || !(e->number = lat_alloc(LAT_MODESTATE_NUMBERS, sizeof(double), "numbers"))
        || lat_field_duplicate(modes, &e->f))
        return -1;
    e->numbers = LAT_MODESTATE_NUMBERS;
    memcpy(e->number, numbers, sizeof *numbers * LAT_MODESTATE_NUMBERS);
    const double start = lat_seconds();
    const int rc = begin(k, &out);
    end(k, out, rc, start);
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One field of the file; takes over f. */
static int take(void *context, const char *path, lat_field *f)
{
    lat_modestate *k = context;
    const char *run = lat_info_get(&f->head, "checkpoint.run"),
               *name = lat_info_get(&f->head, "checkpoint.modes"),
               *text = lat_info_get(&f->head, "checkpoint.numbers");
    if ((f->head.kind != LAT_SPINOR && f->head.kind != LAT_MODES) || !run || !name || !text)
        return lat_fail("%s: expected a checkpoint of modes, found a field that is none", path);
    if (lat_resume_same(path, k->run, run))
        return -1;
    entry *e = add(k, name);
    if (!e || !(e->number = lat_alloc(strlen(text) / 2 + 1, sizeof(double), "numbers")))
        return -1;
    for (int step; sscanf(text, " %la%n", &e->number[e->numbers], &step) == 1; text += step)
        e->numbers++;
    lat_info_remove(&f->head, "checkpoint.run");
    lat_info_remove(&f->head, "checkpoint.modes");
    lat_info_remove(&f->head, "checkpoint.numbers");
    *f->head.read_crc = '\0';
    e->f = *f;
    *f = (lat_field){.data = NULL};
    lat_header_init(&f->head);
    return 0;
}

static bool fits(const lat_field *f, const lat_space *s)
{
    return f->head.geom.nd == s->grid->spec.lattice.nd
           && !memcmp(f->head.geom.dims, s->grid->spec.lattice.dims, sizeof f->head.geom.dims)
           && f->head.nc == s->nc && f->head.real == LAT_F64;
}

/* Vector i of the state, to the device, and out of the list. */
static int restore(entry *e, lat_space *s, lat_dfield **v)
{
    if (!e || !fits(&e->f, s))
        return lat_fail("the checkpoint: expected vectors of this search, found others or too few");
    if (!(*v = lat_vector_new(s, "a state")) || lat_spinor_put(s, *v, 0, &e->f, 0))
        return -1;
    lat_field_free(&e->f);
    lat_header_init(&e->f.head);
    return 0;
}

int lat_modestate_from(lat_modestate *k, const char *name, lat_space *s, lat_modes_state *state)
{
    char vector[NAME];
    const size_t length = strlen(name);
    *state = (lat_modes_state){.vectors = 0};
    for (int i = 0; i < k->count && state->vectors == 0; i++)
        if (!strncmp(k->list[i].name, name, length) && k->list[i].name[length] == ','
            && sscanf(k->list[i].name + length, ", vector 0 of %d", &state->vectors) == 1)
            state->number = k->list[i].number, state->numbers = k->list[i].numbers;
    if (state->vectors < 1)
        return 0;
    if (state->vectors > k->count
        || !(state->vector = calloc((size_t)state->vectors, sizeof(lat_dfield *))))
        return lat_fail("the checkpoint: expected %d vectors, found fewer", state->vectors);
    for (int i = 0; i < state->vectors; i++) {
        name_vector(vector, name, i, state->vectors);
        if (restore(find(k, vector), s, &state->vector[i]))
            return -1;
    }
    return 1;
}

void lat_modestate_drop(lat_modes_state *state)
{
    for (int i = 0; state->vector && i < state->vectors; i++)
        lat_dfield_free(state->vector[i]);
    free(state->vector);
    *state = (lat_modes_state){.vectors = 0};
}

/* Has the file something of the search that a run begins with? If not, it is of other links, as
 * options are the same. 0, or -1. */
static int compare(lat_modestate *k, const char *name)
{
    const size_t n = strlen(name);
    bool any = !k->unsure || k->count == 0;
    for (int i = 0; i < k->count && !any; i++)
        any = !strncmp(k->list[i].name, name, n) && k->list[i].name[n] == ',';
    const char *path = k->unsure;
    k->unsure = NULL;
    return any ? 0
               : lat_fail("%s: expected the checkpoint of this run, of '%s', found that of other "
                          "links, '%s'",
                          path, name, k->list[0].name);
}

int lat_modestate_done(lat_modestate *k, const char *name, lat_field *modes,
                       double numbers[LAT_MODESTATE_NUMBERS])
{
    const entry *e = find(k, name);
    if (!e)
        return compare(k, name);
    k->unsure = NULL;
    if (e->f.head.kind != LAT_MODES || e->numbers != LAT_MODESTATE_NUMBERS
        || !e->f.head.quark.eigenvalue || e->f.head.real != LAT_F64)
        return lat_fail("the checkpoint: expected modes of %s, found others", name);
    memcpy(numbers, e->number, sizeof *numbers * LAT_MODESTATE_NUMBERS);
    return lat_field_duplicate(&e->f, modes) ? -1 : 1;
}

/* ---- a run that is asked to stop ------------------------------------------------------------- */

void lat_modestate_watch(const lat_modestate *k)
{
    if (k->path)
        lat_stop_watch();
}

int lat_modestate_asked(const lat_modestate *k) { return lat_resume_asked(k->path, k->comm); }

void lat_modestate_stopped(const lat_modestate *k, int sig)
{
    lat_resume_stopped(k->path, k->there, sig);
}

const char *lat_modestate_there(const lat_modestate *k) { return k->there ? k->path : NULL; }

/* ---- open and close -------------------------------------------------------------------------- */

lat_modestate *lat_modestate_open(const char *path, const char *resume, const lat_comm *comm)
{
    struct stat st;
    lat_modestate *k = calloc(1, sizeof *k);
    if (!k)
        lat_fail("out of memory: a checkpoint");
    if (!k || !(k->run = lat_resume_text())) {
        free(k);
        return NULL;
    }
    k->path = path;
    k->comm = comm;
    k->unsure = resume;
    k->there = path && resume && stat(path, &st) == 0; /* then it is that of resume */
    if (lat_checkpoint_possible(path, comm) || (resume && lat_resume_read(resume, comm, take, k))) {
        lat_modestate_free(k);
        return NULL;
    }
    return k;
}

void lat_modestate_free(lat_modestate *k)
{
    if (!k)
        return;
    for (int i = 0; i < k->count; i++)
        entry_free(&k->list[i]);
    free(k->list);
    free(k->run);
    free(k);
}

void lat_modestate_remove(lat_modestate *k) { lat_resume_remove(k->path, k->comm); }
