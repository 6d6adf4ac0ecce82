/* SPDX-License-Identifier: BSD-3-Clause */
/* resume.c: what the tools with --checkpoint and --resume share. */
#include "resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/memory.h"
#include "comm/report.h"
#include "common/io.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "stream/stream.h"

void lat_checkpoint_usage(const char *path, const char *resume)
{
    struct stat there;
    if (!path)
        return;
    if (!strcmp(path, "-"))
        lat_usage("--checkpoint needs the name of a file");
    lat_usage_if_input("checkpoint", path);
    static const char *const outputs[] = {"output", "log", "slice-log", "copies-log", "save-g"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *other = lat_opt_text(outputs[i]);
        if (other && lat_one_file(path, other))
            lat_usage("--checkpoint %s is the %s as well", path, outputs[i]);
    }
    if (lat_opts.comm->rank != 0 || stat(path, &there) || !S_ISREG(there.st_mode))
        return;
    if (resume && lat_one_file(path, resume)) {
        lat_resume_written(path);
        return;
    }
    lat_usage("--checkpoint %s is there already: go on from it with --resume %s, or remove it",
              path, path);
}

int lat_checkpoint_possible(const char *path, const lat_comm *comm)
{
    struct stat st;
    if (!path)
        return 0;
    const bool file = comm->rank != 0 || stat(path, &st) || S_ISREG(st.st_mode);
    lat_output *out = file ? lat_output_open(path, 0, comm) : NULL;
    if (!file)
        lat_fail("%s: expected the name of a file for a checkpoint, which is removed in the end, "
                 "found something else",
                 path);
    lat_output_abort(out);
    return lat_agree(comm, out ? 0 : -1);
}

char *lat_resume_text(void)
{
    char *options = lat_options_text(false),
         *text = options ? lat_text_new("%s%s", lat_tool_name, options) : NULL;
    free(options);
    return text;
}

/* An option of such a text, " --NAME VALUE": the length of it, and of " --NAME ". */
static int option_length(const char *p, int *name)
{
    const char *next = strstr(p + 1, " --");
    *name = 3 + (int)strcspn(p + 3, " ") + 1;
    return next ? (int)(next - p) : (int)strlen(p);
}

static const char *find_option(const char *text, const char *option, int name)
{
    const char *p = strstr(text, " --");
    while (p && strncmp(p, option, (size_t)name))
        p = strstr(p + 1, " --");
    return p;
}

int lat_resume_same(const char *name, const char *mine, const char *its)
{
    const char *const texts[] = {mine, its};
    const size_t tool = strcspn(mine, " ");
    if (!strcmp(mine, its))
        return 0;
    if (tool != strcspn(its, " ") || strncmp(mine, its, tool))
        return lat_fail("%s: expected the checkpoint of this run, '%.*s', found that of another, "
                        "'%.*s'",
                        name, (int)tool, mine, (int)strcspn(its, " "), its);
    /* An option without a value is not there: those of one text, then those of the other. */
    for (int k = 0; k < 2; k++)
        for (const char *p = strstr(texts[k], " --"); p; p = strstr(p + 1, " --")) {
            int word, other, length[2];
            const char *option[2];
            length[k] = option_length(option[k] = p, &word);
            const char *q = find_option(texts[!k], p, word);
            option[!k] = q ? q : p;
            length[!k] = q ? option_length(q, &other) : word - 1; /* its name, after "no" */
            if (length[0] == length[1] && !strncmp(option[0], option[1], (size_t)length[0]))
                continue;
            return lat_fail("%s: expected the checkpoint of this run, '%s%.*s', found that of "
                            "another, '%s%.*s'",
                            name, q || k == 0 ? "" : "no ", length[0] - 1, option[0] + 1,
                            q || k == 1 ? "" : "no ", length[1] - 1, option[1] + 1);
        }
    return lat_fail("%s: expected the checkpoint of this run, '%s', found that of another, '%s'",
                    name, mine, its);
}

int lat_resume_read(const char *path, const lat_comm *comm, lat_resume_take *take, void *context)
{
    lat_field f;
    lat_input *in = lat_input_open(path, comm);
    int rc = in ? 1 : -1;
    while (rc > 0 && (rc = lat_stream_read(in, &f)) > 0) {
        if (take(context, path, &f))
            rc = -1;
        lat_field_free(&f);
    }
    lat_input_close(in);
    return rc;
}

int lat_resume_asked(const char *path, const lat_comm *comm)
{
    double sig = lat_stop_asked();
    if (!path)
        return 0;
    return comm->max(comm, &sig, 1) ? -1 : (int)sig;
}

void lat_resume_stopped(const char *path, bool there, int sig)
{
    lat_progress_end();
    lat_warn(there ? "stopped by %s: the same command with --resume %s goes on" : "stopped by %s",
             lat_stop_name(sig), path);
}

void lat_resume_written(const char *path)
{
    if (lat_comm_report_checkpoint)
        lat_comm_report_checkpoint(path);
}

void lat_resume_remove(const char *path, const lat_comm *comm)
{
    if (path && comm->rank == 0 && unlink(path) && errno != ENOENT)
        lat_warn("%s: the checkpoint is not needed any more, but cannot be removed", path);
    if (path)
        lat_resume_written("");
}
