/* SPDX-License-Identifier: BSD-3-Clause */
/* resume.h: what the tools with --checkpoint and --resume share. */
#pragma once

#include "comm/comm.h"
#include "lattice/field.h"

/* A usage error where the file of --checkpoint cannot be one: stdout, the input, or a file that is
 * there, unless --resume names the same file: it may be the only copy of a long run. */
void lat_checkpoint_usage(const char *checkpoint, const char *resume);

/* Before the work, when nothing is lost: can a checkpoint be written there? NULL: none is asked
 * for. 0, or -1 with lat_error set. All ranks call it. */
int lat_checkpoint_possible(const char *path, const lat_comm *comm);

/* The tool and the options that decide its result (common/options.h), which must be the same when a
 * run is resumed. After lat_options_parse; to be freed; NULL with lat_error set. */
char *lat_resume_text(void);

/* 0 if both texts are the same; else -1 with a sentence about the checkpoint `name` and the first
 * option that differs. */
int lat_resume_same(const char *name, const char *mine, const char *its);

/* Gives each field of the stream `path` to `take`, which may keep it (and leaves an empty one
 * then). 0, or -1 with lat_error set, as `take` returns. All ranks call it. */
typedef int lat_resume_take(void *context, const char *path, lat_field *f);
int lat_resume_read(const char *path, const lat_comm *comm, lat_resume_take *take, void *context);

/* A run that is asked to stop (common/stop.h), with the checkpoint `path`; NULL: it has none.
 *   asked     by which signal, 0, or -1 with lat_error set; all ranks call it
 *   stopped   says so and, where the file has something (`there`), how to go on */
int lat_resume_asked(const char *path, const lat_comm *comm);
void lat_resume_stopped(const char *path, bool there, int signal);

/* The file `path` has been written: who looks after the ranks says so if they are killed. */
void lat_resume_written(const char *path);

/* The run is done: removes the file `path`, if there is one. */
void lat_resume_remove(const char *path, const lat_comm *comm);
