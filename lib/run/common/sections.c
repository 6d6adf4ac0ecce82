/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c: named fields in memory, and in the file. */
#include "sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "stream/stream.h"

enum { SHARE = 20 /* of the time goes into writing, at most: 1/SHARE */ };
static const char run_key[] = "checkpoint.run", numbers_key[] = "checkpoint.numbers",
                  output_key[] = "checkpoint.output", what[] = "a checkpoint";

lat_section *lat_sections_find(const lat_sections *k, const char *name)
{
    for (int i = 0; i < k->count; i++)
        if (!strcmp(k->list[i].name, name))
            return &k->list[i];
    return NULL;
}

lat_section *lat_sections_add(lat_sections *k, const char *name, const double *number, int numbers)
{
    if (lat_grow(&k->list, k->count, sizeof *k->list, what))
        return NULL;
    lat_section *s = &k->list[k->count++];
    *s = (lat_section){.name = lat_text_new("%s", name),
                       .number = lat_alloc((size_t)numbers + 1, sizeof *number, what),
                       .numbers = numbers};
    lat_header_init(&s->f.head);
    k->changed = true;
    if (!s->name || !s->number)
        return NULL;
    if (numbers)
        memcpy(s->number, number, sizeof *number * (size_t)numbers);
    return s;
}

int lat_sections_get(lat_sections *k, const char *name, lat_section **found)
{
    *found = lat_sections_find(k, name);
    bool any = *found || !k->unsure || k->count == 0;
    for (int i = 0; i < k->count && !any; i++)
        any = k->kind->alike(k->list[i].name, name);
    if (!any)
        return lat_fail("%s: expected the checkpoint of this run, with %s of '%s', found that of "
                        "%s, '%s'",
                        k->unsure, k->kind->what, name, k->kind->others, k->list[0].name);
    k->unsure = NULL;
    return *found != NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

int lat_sections_put(const lat_sections *k, lat_output *out, const char *name, const double *number,
                     int numbers, lat_field *f)
{
    char *text = lat_alloc((size_t)numbers * 26 + 2, 1, what);
    if (!text)
        return -1;
    strcpy(text, "-");
    for (int i = 0, n = 0; i < numbers; i++)
        n += sprintf(text + n, "%s%a", i ? " " : "", number[i]);
    const lat_sections_output *o = &k->output;
    char has[96];
    snprintf(has, sizeof has, "%ld inputs %08x, %u fields, %llu bytes %08x", o->done,
             (unsigned)o->inputs, o->fields, (unsigned long long)o->part.bytes,
             (unsigned)o->part.crc);
    const int rc = lat_info_set(&f->head, run_key, k->run)
                   || lat_info_set(&f->head, k->kind->key, name)
                   || lat_info_set(&f->head, numbers_key, text)
                   || (o->done && lat_info_set(&f->head, output_key, has))
                   || lat_stream_write(out, f, LAT_STORE_AUTO);
    free(text);
    return rc ? -1 : 0;
}

int lat_sections_begin(lat_sections *k, lat_output **out)
{
    k->last = lat_seconds();
    *out = lat_output_open(k->path, 0, k->comm);
    lat_sections_output *o = &k->output;
    int rc = lat_agree(k->comm, *out ? 0 : -1);
    if (rc == 0 && o->file && o->done)
        rc = lat_agree(k->comm, lat_output_park(o->file, o->bytes, &o->part));
    for (lat_section *s = k->list; s < k->list + k->count && rc == 0; s++)
        if (s->f.data)
            rc = lat_sections_put(k, *out, s->name, s->number, s->numbers, &s->f);
    return rc;
}

void lat_sections_end(lat_sections *k, lat_output *out, int rc)
{
    const double start = k->last;
    if (rc == 0)
        rc = lat_stream_commit(out);
    else
        lat_output_abort(out);
    if (rc == 0)
        lat_resume_written(k->path);
    else if (!k->failing)
        lat_warn("no checkpoint: %s", lat_error());
    lat_error_clear();
    k->of_output = k->of_output || (rc == 0 && k->output.done);
    if (k->output.file && !k->of_output)
        lat_output_unpark(k->output.file);
    k->failing = rc != 0;
    k->changed = k->changed && rc != 0;
    k->there = k->there || rc == 0;
    k->last = lat_seconds();
    k->took = k->last - start;
}

bool lat_sections_save(lat_sections *k)
{
    lat_output *out = NULL;
    lat_error_clear();
    if (k->changed && k->path) {
        const int rc = lat_sections_begin(k, &out);
        lat_sections_end(k, out, rc);
    }
    return k->there;
}

int lat_sections_due(const lat_sections *k, bool *due)
{
    double now = lat_stop_asked() || lat_seconds() - k->last >= SHARE * k->took;
    *due = false;
    if (!k->path)
        return 0;
    if (k->comm->max(k->comm, &now, 1))
        return -1;
    *due = now != 0;
    return 0;
}

/* ---- what the output has ----------------------------------------------------------------------
 */

int lat_sections_continue(lat_sections *k, lat_output *out, const char *resume)
{
    lat_sections_output *o = &k->output;
    unsigned *fields = lat_stream_written(out);
    double file = k->path && lat_output_is_hidden(out); /* by rank 0 */
    if (k->comm->max(k->comm, &file, 1) || lat_agree(k->comm, fields ? 0 : -1))
        return -1;
    o->file = file ? out : NULL;
    if (!o->done)
        return 0;
    k->of_output = k->there;
    const bool keep = !k->path || !resume || !lat_one_file(k->path, resume);
    o->had = o->done;
    o->bytes = o->part.bytes;
    *fields = o->fields;
    return lat_agree(k->comm, lat_output_continue(out, &o->part, keep));
}

static int other_inputs(const lat_sections *k)
{
    return lat_fail("%s: expected the checkpoint of this run, found that of %s", k->unsure,
                    k->kind->others);
}

int lat_sections_input(lat_sections *k, const char *name, bool *written)
{
    lat_sections_output *o = &k->output;
    o->names = (uint32_t)crc32(o->names, (const unsigned char *)name, (uInt)strlen(name) + 1);
    o->came++;
    *written = o->came <= o->had;
    return o->came == o->had && o->names != o->inputs ? other_inputs(k) : 0;
}

int lat_sections_complete(const lat_sections *k)
{
    return k->output.came < k->output.had ? other_inputs(k) : 0;
}

static void section_free(lat_section *s)
{
    free(s->name);
    free(s->number);
    lat_field_free(&s->f);
}

int lat_sections_forget(lat_sections *k)
{
    lat_sections_output *o = &k->output;
    const unsigned *fields = o->file ? lat_stream_written(o->file) : NULL;
    bool due;
    if (!fields || k->count == 0)
        return 0;
    o->done = o->came;
    o->inputs = o->names;
    o->fields = *fields;
    o->bytes = lat_output_offset(o->file);
    for (; k->count > 1; k->count--) {
        section_free(k->list);
        memmove(k->list, k->list + 1, sizeof *k->list * (size_t)(k->count - 1));
    }
    k->changed = true;
    if (lat_sections_due(k, &due))
        return -1;
    if (due)
        lat_sections_save(k);
    return 0;
}

lat_output *lat_sections_cut(lat_sections *k, lat_output *out)
{
    if (out && k->output.file && k->output.done) {
        lat_output_back(out, k->output.bytes);
        return out;
    }
    lat_output_abort(out);
    k->output.file = NULL;
    return NULL;
}

/* ---- a run that is asked to stop ------------------------------------------------------------- */

bool lat_sections_asked(lat_sections *k)
{
    if (!k->stopped)
        k->stopped = lat_resume_asked(k->path, k->comm);
    return k->stopped != 0;
}

/* Where the file is another run's, or has nothing, the sentence stays what it is. */
static void say_how(lat_sections *k)
{
    if (!k->path || k->unsure || (!k->there && !k->changed))
        return;
    char *why = strdup(lat_error());
    const bool there = lat_sections_save(k);
    if (there && why && strcmp(why, LAT_ANOTHER_FAILED))
        lat_fail("%s; the same command with --resume %s goes on", why, k->path);
    else
        lat_fail("%s", why ? why : "out of memory: a sentence");
    free(why);
}

void lat_sections_give_up(lat_sections *k, int code, bool here)
{
    const bool alone = k->path && k->comm->size == 1;
    if (code == LAT_FAILED && alone)
        lat_sections_asked(k);
    if (k->stopped > 0) {
        lat_error_clear(); /* it was only to get here */
        lat_resume_stopped(k->path, lat_sections_save(k), k->stopped);
    } else if (code == LAT_FAILED && (alone || here))
        say_how(k);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What the output has, if the file says so. */
static int take_output(lat_sections *k, const char *path, lat_header *head)
{
    const char *text = lat_info_get(head, output_key);
    lat_sections_output *o = &k->output;
    unsigned long long bytes;
    if (!text)
        return 0;
    if (sscanf(text, "%ld inputs %x, %u fields, %llu bytes %x", &o->done, &o->inputs, &o->fields,
               &bytes, &o->part.crc)
            != 5
        || o->done < 1)
        return lat_fail("%s: expected what the output has, found '%.80s'", path, text);
    o->part.bytes = bytes;
    lat_info_remove(head, output_key);
    return 0;
}

/* One field of the file; takes over f. */
static int take(void *context, const char *path, lat_field *f)
{
    lat_sections *k = context;
    const char *run = lat_info_get(&f->head, run_key), *name = lat_info_get(&f->head, k->kind->key),
               *text = lat_info_get(&f->head, numbers_key);
    if ((f->head.kind != LAT_SPINOR && f->head.kind != k->kind->kind) || !run || !name || !text)
        return lat_fail("%s: expected a checkpoint of %s, found a field that is none", path,
                        k->kind->what);
    double *number = lat_alloc(strlen(text) / 2 + 1, sizeof *number, what);
    int numbers = 0;
    for (int step; number && sscanf(text, " %la%n", &number[numbers], &step) == 1; text += step)
        numbers++;
    lat_section *s = number && lat_resume_same(path, k->run, run) == 0
                             && take_output(k, path, &f->head) == 0
                         ? lat_sections_add(k, name, number, numbers)
                         : NULL;
    free(number);
    if (!s)
        return -1;
    lat_info_remove(&f->head, run_key);
    lat_info_remove(&f->head, k->kind->key);
    lat_info_remove(&f->head, numbers_key);
    *f->head.read_crc = '\0';
    s->f = *f;
    *f = (lat_field){.data = NULL};
    lat_header_init(&f->head);
    return 0;
}

int lat_sections_open(lat_sections *k, const lat_section_kind *kind, const char *path,
                      const char *resume, const lat_comm *comm)
{
    *k = (lat_sections){.kind = kind, .path = path, .comm = comm, .unsure = resume};
    if (!(k->run = lat_resume_text()) || lat_checkpoint_possible(path, comm)
        || (resume && lat_resume_read(resume, comm, take, k)))
        return -1;
    k->there = path && resume && !strcmp(path, resume) && k->count; /* on all ranks the same */
    k->changed = k->count && !k->there;
    if (path)
        lat_stop_watch();
    return 0;
}

void lat_sections_free(lat_sections *k)
{
    for (int i = 0; i < k->count; i++)
        section_free(&k->list[i]);
    LAT_FREE(k->list, k->run);
    *k = (lat_sections){.count = 0};
}
