/* SPDX-License-Identifier: BSD-3-Clause */
/* resume.h: what the tools with --checkpoint and --resume share. */
#ifndef LAT_RESUME_H
#define LAT_RESUME_H

/* A usage error where the file of --checkpoint cannot be one: stdout, the input, or a file that is
 * there, unless --resume names the same file: it may be the only copy of a long run. */
void lat_checkpoint_usage(const char *checkpoint, const char *resume);

/* The tool and the options that decide its result (common/options.h), which must be the same when a
 * run is resumed. After lat_options_parse; to be freed; NULL with lat_error set. */
char *lat_resume_text(void);

/* 0 if both texts are the same; else -1 with a sentence about the checkpoint `name` and the first
 * option that differs. */
int lat_resume_same(const char *name, const char *mine, const char *its);

#endif
