/* SPDX-License-Identifier: BSD-3-Clause */
/* io_ranks.c: inputs and outputs of rank 0 that other ranks open, too. */
#include "io_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "comm/comm.h"

/* What rank 0 tells the others. */
typedef struct opened {
    bool wanted;
    off_t begin;
    struct stat file;
    uint64_t map, map_end; /* bytes of an output that rank 0 has mapped; none: both are 0 */
    char path[PATH_MAX];
} opened;

/* On another rank. */
static bool open_input(lat_input *in, const opened *of)
{
    in->begin = of->begin;
    in->fd = lat_io_open(in->name, O_RDONLY, 0);
    if (in->fd < 0 || fstat(in->fd, &in->file) < 0 || !S_ISREG(in->file.st_mode)
        || !lat_io_unchanged(&of->file, &in->file))
        return false;
    in->regular = true;
    in->size = in->file.st_size - in->begin;
    return true;
}

int lat_input_everywhere(lat_input *in, bool *all)
{
    const lat_comm *comm = in->comm;
    opened of = {
        .wanted = *all && in->regular && !in->standard, .begin = in->begin, .file = in->file};
    if (comm->broadcast(comm, &of, sizeof of, 0))
        return -1;
    if (of.wanted && !in->asked
        && lat_agree_all(comm, comm->rank == 0 || open_input(in, &of), &in->everywhere))
        return -1;
    in->asked = in->asked || of.wanted;
    *all = of.wanted && in->everywhere;
    return 0;
}

/* On another rank. */
static bool open_output(lat_output *out, const opened *of)
{
    struct stat st;
    struct statfs fs;
    if (out->fd < 0)
        out->fd = lat_io_open(of->path, O_RDWR | O_NOFOLLOW, 0);
    out->regular = out->fd >= 0 && fstat(out->fd, &st) == 0 && st.st_ino == of->file.st_ino
                   && fstatfs(out->fd, &fs) == 0 && fs.f_type != NFS_SUPER_MAGIC;
    if (out->regular && of->map_end) {
        lat_output_map(out, of->map, of->map_end);
        out->reserved = of->map; /* each page is populated before it is written */
    }
    return out->regular;
}

int lat_output_everywhere(lat_output *out, bool *all)
{
    opened of = {.wanted = *all && lat_output_is_hidden(out)};
    if (of.wanted) {
        of.wanted = fstat(out->fd, &of.file) == 0;
        snprintf(of.path, sizeof of.path, "%s", out->temp->path);
        if (lat_output_mapped(out)) {
            of.map = out->mapped;
            of.map_end = out->expected;
        }
    }
    return out->comm->broadcast(out->comm, &of, sizeof of, 0)
                   || lat_agree_all(
                       out->comm, of.wanted && (out->comm->rank == 0 || open_output(out, &of)), all)
               ? -1
               : 0;
}
