/* SPDX-License-Identifier: BSD-3-Clause */
/* io_internal.h: what the files behind io.h share.
 *
 *   io_descriptor.c   descriptors: open, read, write
 *   io_temporary.c    temporary files, and their removal at exit and by signals
 *   io_open.c         lists of open inputs and outputs: no two outputs are one file
 *   io_input.c        lat_input
 *   io_output.c       lat_output
 *   io_reserve.c      lat_output: preallocated space, and a memory map of it
 *   io_part.c         lat_output: a beginning that another process goes on from
 *   io_ranks.c        both: opened on all ranks */
#pragma once

#include "base/async.h"
#include "io.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define BUFFER ((size_t)1 << 20) /* bytes of the buffer of an input or output */

/* ---- descriptors ----------------------------------------------------------------------------- */

/* As open(2), with a number above 2 whatever is free: printf and friends cannot write to it. */
int lat_io_open(const char *path, int flags, mode_t mode);

/* As read(2), but a signal or a nonblocking descriptor does not make it return early. */
ssize_t lat_io_read(int fd, void *buf, size_t n);

/* Writes all n bytes, at the file's position or (at >= 0) from byte `at` on. 0; -1 with errno. */
int lat_io_write(int fd, const unsigned char *p, size_t n, off_t at);

/* Makes the buffer of a pipe 1 MiB, if that is allowed. */
void lat_io_widen(int fd);

/* True for the paths that mean stdin or stdout: NULL and "-". */
bool lat_io_is_standard(const char *path);

/* True if fd is open, and not only in the access mode `wrong` (O_RDONLY, O_WRONLY). */
bool lat_io_usable(int fd, int wrong);

/* ---- temporary files ------------------------------------------------------------------------- */

/* An element of a fixed table, which a signal handler may read: no lock, no allocation. The path is
 * complete before `owner` is set. */
typedef struct lat_temporary {
    atomic_bool taken; /* by an output, from before its file exists until after it is gone */
    atomic_long owner; /* process that must remove the file, 0: none; a forked child must not */
    char path[PATH_MAX];
} lat_temporary;

/* A free element. The first call installs the signal handlers and the function at exit that remove
 * the files of all. NULL with lat_error set. */
lat_temporary *lat_temporary_take(void);

/* Creates a file beside the target; or the target itself, which is removed until
 * lat_temporary_keep. Returns a descriptor, or -1 with errno. */
int lat_temporary_beside(lat_temporary *t, const char *target, mode_t mode);
int lat_temporary_in_place(lat_temporary *t, const char *target);

/* Renames the file, which stays when the process ends; takes that file in place of its own, which
 * is removed; or owns what stayed, so that it is removed again. 0, or -1 with errno. */
int lat_temporary_park(lat_temporary *t, const char *path);
void lat_temporary_adopt(lat_temporary *t, const char *path);
void lat_temporary_own(lat_temporary *t);

/* Keeps the file, or removes it; the element is free then. */
void lat_temporary_keep(lat_temporary *t);
void lat_temporary_remove(lat_temporary *t);

/* ---- open files ------------------------------------------------------------------------------ */

struct lat_input {
    lat_input *next; /* in the list of open inputs */
    const lat_comm *comm;
    int fd;
    int end_fd;    /* can be read when reading is to end; -1: there is none */
    bool standard; /* stdin, which is not closed */
    bool regular;
    struct stat file; /* when it was opened */
    bool ended;       /* read() has returned 0 */
    char *name;
    uint64_t offset; /* bytes read by the caller */
    int64_t size;
    off_t begin;              /* position at which a regular file was opened */
    bool asked, everywhere;   /* of several ranks: have all opened it, once they were asked? */
    unsigned char *buf;       /* bytes at .. end-1 have not been read by the caller */
    size_t at, end, capacity; /* of buf: BUFFER, and more only for lat_input_wait */
    void *attached[LAT_ATTACHMENTS];
};

struct lat_output {
    lat_output *next; /* in the list of open outputs */
    const lat_comm *comm;
    int fd;
    bool standard; /* stdout, which is not closed */
    bool regular;
    bool no_clobber;
    bool live;         /* FILE itself is written, LAT_OUTPUT_LIVE */
    bool other;        /* LAT_OUTPUT_TEXT or LAT_OUTPUT_OTHER: replaces no input */
    bool untouched;    /* live, and no byte has been written to FILE yet */
    bool parked;       /* the temporary stays unless it is committed, lat_output_park */
    atomic_int failed; /* errno of the first write that failed, or 0; nothing is written after it */
    char *name;
    char *target;       /* FILE with links resolved; NULL for stdout and devices */
    struct stat file;   /* of FILE; st_mode is 0 if there was none */
    struct stat folder; /* of the target */
    bool hidden;        /* others have no permission, until the commit sets `mode` */
    mode_t mode;
    lat_temporary *temp; /* NULL where FILE is written directly */
    unsigned char *buf;  /* BUFFER bytes, `used` of them not written yet */
    size_t used;
    uint64_t position;           /* of the next byte that is written to the file */
    bool repositioned;           /* `position` is not the descriptor's */
    _Atomic uint64_t synced;     /* writing to the disk has begun up to here */
    _Atomic uint64_t written_at; /* bytes written by lat_output_write_at */
    void *attached;
    /* io_reserve.c: bytes from `position` up to `wanted` are preallocated; more may be written, up
     * to `expected`. */
    lat_async preallocation;
    atomic_bool stop;                    /* asks the thread to end */
    int helpers;                         /* threads that populate pages of the map */
    uint64_t wanted, expected, reserved; /* the thread has preallocated up to `reserved` */
    unsigned char *map; /* of the file from byte `mapped` up to `expected`; or NULL. Its pages exist
                         * up to `reserved` */
    uint64_t mapped;
};

/* As fsync(2): 0, or -1 with lat_error set. */
int lat_output_fsync(lat_output *out);

/* Ends preallocation; must precede every write. */
void lat_output_stop_preallocation(lat_output *out);

/* The same, and removes the map; must precede closing the file, and another preallocation. */
void lat_output_unmap(lat_output *out);

/* The same, and gives back the space behind `position`: 0, or -1 with errno. */
int lat_output_trim(lat_output *out);

/* Maps bytes `from` (of a page) up to `end` of the file where that is in tmpfs, and address space
 * is not limited: a limit was not chosen for a map. Else nothing happens. */
void lat_output_map(lat_output *out, uint64_t from, uint64_t end);

/* Copies n bytes into the map, from byte `at` of the file on; by any thread. False if the map does
 * not have them all, or there is no space for them. */
bool lat_output_write_mapped(const lat_output *out, uint64_t at, const void *buf, size_t n);

/* True on the ranks that have no files: all but rank 0. */
static inline bool lat_io_elsewhere(const lat_comm *comm) { return comm->rank != 0; }

/* Puts it into the list. Fails, with a sentence, if it is the same file as another that is open. An
 * output has been opened by then, so that its file is known. */
int lat_input_register(lat_input *in);
int lat_output_register(lat_output *out);
void lat_input_unregister(const lat_input *in);
void lat_output_unregister(const lat_output *out);

/* True if both are the same file. */
bool lat_io_same(const struct stat *a, const struct stat *b);

/* Has a file the length and the date that it had? */
bool lat_io_unchanged(const struct stat *was, const struct stat *now);

/* Length of the part of a path before the last name, the slash included. */
int lat_io_folder(const char *path);

/* *at, allocated by the first call: `size` zeros. NULL with lat_error set. */
void *lat_io_attach(void **at, size_t size, const char *name);
