/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.h: a checkpoint of named fields with numbers, so that a run that was cut off goes on.
 *
 * The file is a stream (docs/format.md), replaced as a whole; lat-info shows it. Each field has the
 * info lines
 *
 *     checkpoint.run      tool, and options that decide its result: must be the same (resume.h)
 *     checkpoint.KEY      the name of the section
 *     checkpoint.numbers  hexadecimal, so that nothing is rounded; "-": none
 *     checkpoint.output   what the output has already (lat_sections_output); nothing: not there
 *
 * All ranks call these functions: 0 or a pointer, or -1 or NULL with lat_error set. */
#pragma once

#include "common/io.h"
#include "resume.h"

typedef struct lat_section {
    char *name;
    double *number;
    int numbers;
    lat_field f;
} lat_section;

/* What sections are. */
typedef struct lat_section_kind {
    const char *key, *what, *others; /* for sentences: "columns", "other links or sources" */
    lat_kind kind;                   /* of fields, beside spinors */
    /* Are both names of one configuration, whatever else they say? */
    bool (*alike)(const char *its, const char *mine);
} lat_section_kind;

/* What the output has, and the run need not keep. A file has that in its name's ".part"
 * (common/io.h), so that it can be continued. */
typedef struct lat_sections_output {
    lat_output *file; /* NULL: one that cannot be continued */
    long done, had;   /* inputs whose results are written, and were by the file of --resume; */
    uint32_t inputs;  /* a checksum of their names, */
    unsigned fields;  /* and their fields */
    uint64_t bytes;   /* that they take, */
    lat_parked part;  /* and those that the file of the checkpoint knows of */
    long came;        /* inputs, so far; */
    uint32_t names;   /* a checksum of their names */
} lat_sections_output;

typedef struct lat_sections {
    const lat_section_kind *kind;
    const char *path; /* NULL: nothing is written */
    const lat_comm *comm;
    char *run; /* tool, and options that decide its result */
    lat_section *list;
    int count;
    bool there, changed; /* the file has something; it lacks something */
    bool failing;        /* it could not be written the last time, which was said */
    const char *unsure;  /* the file of --resume, until it had something of what was asked for */
    double last, took;   /* when the file was written, and how long that took */
    lat_sections_output output;
    bool of_output; /* the file says what the output has */
    int stopped;    /* the signal by which the run was asked to stop, 0, or -1 (an error) */
} lat_sections;

/* Writes to `path` (after lat_checkpoint_usage) and has what is in the file `resume`; NULL: none.
 * From here on the run is asked to stop (common/stop.h), if it has a checkpoint. *k, all zero
 * before, is to be freed in any case. */
int lat_sections_open(lat_sections *k, const lat_section_kind *kind, const char *path,
                      const char *resume, const lat_comm *comm);
void lat_sections_free(lat_sections *k);

/* An output that is a file can be continued: it begins with what the file `resume` says, which
 * stays as it is unless it is the file that is written. */
int lat_sections_continue(lat_sections *k, lat_output *out, const char *resume);

/* The next input, by its name: are its results written already? -1 also where another one was. */
int lat_sections_input(lat_sections *k, const char *name, bool *written);

/* The results of the input are written: where the output can be continued, its sections are
 * forgotten, but for the last one, so that the file is not empty. */
int lat_sections_forget(lat_sections *k);

/* What the output of a run that failed has beyond that goes; if there is nothing else, the output,
 * too: NULL, as where it has gone already. */
lat_output *lat_sections_cut(lat_sections *k, lat_output *out);

/* There is no other input: fails if results of more are written. */
int lat_sections_complete(const lat_sections *k);

/* A section with copies of name and numbers, its field empty. */
lat_section *lat_sections_add(lat_sections *k, const char *name, const double *number, int numbers);

lat_section *lat_sections_find(const lat_sections *k, const char *name);

/* 1 and *found is the section of this name; 0: there is none; or -1: the file of --resume has
 * nothing like it, so that it is of other input. */
int lat_sections_get(lat_sections *k, const char *name, lat_section **found);

/* Has enough time passed since the file was written (it takes a twentieth of the time), or is the
 * run asked to stop? */
int lat_sections_due(const lat_sections *k, bool *due);

/* Looks now and then whether the run is asked to stop: `stopped`. */
bool lat_sections_asked(lat_sections *k);

/* The run ends, perhaps with an exit code that is not LAT_DONE: was it asked to stop, perhaps while
 * it waited for a pipe? Then the file is written, and a word says how to go on; lat_stop_exit is to
 * follow. If it has failed, alone or `here` of several ranks, the file is written, and lat_error
 * says how to go on. */
void lat_sections_give_up(lat_sections *k, int code, bool here);

/* Writes the file if it lacks something; begin, put and end do so with more fields than those of
 * sections. A file that cannot be written is no reason to lose what is in memory: it is a warning,
 * one until it can be written again. True if the file has something. lat_error is empty afterwards.
 */
bool lat_sections_save(lat_sections *k);
int lat_sections_begin(lat_sections *k, lat_output **out);
int lat_sections_put(const lat_sections *k, lat_output *out, const char *name, const double *number,
                     int numbers, lat_field *f);
void lat_sections_end(lat_sections *k, lat_output *out, int rc);
