/* SPDX-License-Identifier: BSD-3-Clause */
/* io_internal.h: what the files behind io.h share.
 *
 *   io_descriptor.c   descriptors: opened, read and written to the end
 *   io_temporary.c    files that are not whole yet, and their removal whatever happens
 *   io_open.c         what is open: no two outputs are one file, no output is an input
 *   io_input.c        lat_input
 *   io_output.c       lat_output
 *   io_reserve.c         room for it, before it is written */
#ifndef LAT_IO_INTERNAL_H
#define LAT_IO_INTERNAL_H

#include "comm/comm.h"
#include "io.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define BUFFER ((size_t)1 << 20)

/* ---- descriptors ------------------------------------------------------------------------- */

/* As open(2), with a number above 2 whatever is free: printf and friends cannot find it. */
int lat_io_open(const char *path, int flags, mode_t mode);

/* As read(2), once, but not less for a signal or a descriptor that does not block. */
ssize_t lat_io_read(int fd, void *buf, size_t n);

/* All n bytes, where the file is or (at >= 0) from byte `at` on; 0, or -1 with errno. */
int lat_io_write(int fd, const unsigned char *p, size_t n, off_t at);

void lat_io_widen(int fd);

bool lat_io_is_standard(const char *path);
bool lat_io_usable(int fd, int wrong);

/* ---- temporaries ------------------------------------------------------------------------- */

/* A fixed table, so that a signal handler may walk it: no lock, no allocation. A slot's path is
 * complete before `owner` says that it counts. */
typedef struct lat_temporary {
    atomic_bool taken; /* by an output, from before its file exists until after it is gone */
    atomic_long owner; /* the process that must remove it, 0 for none; a fork's child must not */
    char path[PATH_MAX];
} lat_temporary;

/* One that is free; from the first on, signals and exit remove the files of all. NULL with
 * lat_error set. */
lat_temporary *lat_temporary_take(void);

/* Creates a file beside the target, or the target itself, which is temporary until something is
 * written to it. A descriptor, or -1 with errno. */
int lat_temporary_beside(lat_temporary *t, const char *target, mode_t mode);
int lat_temporary_in_place(lat_temporary *t, const char *target);

/* The file stays, or goes. */
void lat_temporary_forget(lat_temporary *t);
void lat_temporary_remove(lat_temporary *t);

/* ---- what is open ------------------------------------------------------------------------ */

struct lat_input {
    lat_input *next; /* of those open */
    int fd;
    bool standard;
    bool regular;
    struct stat file;
    bool ended; /* read() has returned 0 */
    char *name;
    uint64_t offset; /* bytes taken */
    int64_t size;
    off_t begin;          /* where we found a regular file */
    unsigned char *buf;   /* `room` bytes, of which at..end are not taken yet */
    size_t at, end, room; /* BUFFER, and more only for lat_input_arrived */
    void *attached;       /* of the layer above */
};

struct lat_output {
    lat_output *next; /* of those open */
    int fd;
    bool standard; /* stdout: not ours to close */
    bool regular;
    bool no_clobber;
    bool live;         /* written in place, to be watched */
    bool untouched;    /* live, and not one byte has gone to FILE yet */
    atomic_int failed; /* errno of a write that failed: what follows is in vain */
    char *name;
    char *target;       /* where a file is to be, links resolved; NULL for stdout and devices */
    struct stat file;   /* what FILE is or was; st_mode is 0 if there was nothing */
    struct stat folder; /* of the target */
    bool hidden;        /* from everybody else, until it is whole and gets this mode */
    mode_t mode;
    lat_temporary *temp; /* NULL where bytes go directly to their place */
    unsigned char *buf;  /* BUFFER bytes, `used` of them waiting */
    size_t used;
    uint64_t put; /* where the next bytes go */
    _Atomic uint64_t sent,
        filled;  /* up to where they are on their way to the disk; bytes of lat_output_fill */
    bool taking; /* `thread` takes room, up to byte `expected`, until `enough`; `room`: up to there
                    it has */
    int helpers; /* threads that fill its pages with zeros */
    pthread_t thread;
    atomic_bool enough;
    uint64_t expected, room;
    unsigned char *map; /* or NULL: the file from byte `mapped` on, to `expected`; up to `room` its
                           pages are there */
    uint64_t mapped;
    bool ahead;     /* bytes are left to lat_output_fill: the descriptor is not where they end */
    void *attached; /* of the layer above */
};

/* No more room is taken: before anything is written. Nothing is mapped any more: before the file is
 * closed or anything is expected again. What was taken for nothing is given back: 0, or -1 with
 * errno. */
void lat_output_check_space(lat_output *out);
void lat_output_unmap(lat_output *out);
int lat_output_trim(lat_output *out);

/* n bytes to the file from byte `at` on by way of the map, by any thread; false if they are not
 * wholly in it, or there is no place for them. */
bool lat_output_write_at(const lat_output *out, uint64_t at, const void *buf, size_t n);

/* Rank 0 has the files. */
static inline bool lat_io_elsewhere(void) { return lat_comm_world->rank != 0; }

/* Refused with a sentence if it is the same file as another that is open. The output is open by
 * now, so that what its name stands for is known. */
int lat_input_register(lat_input *in);
int lat_output_register(lat_output *out);
void lat_input_unregister(const lat_input *in);
void lat_output_unregister(const lat_output *out);

bool lat_io_same(const struct stat *a, const struct stat *b);

/* Length of the part of a path before the last name, the slash included. */
int lat_io_folder(const char *path);

/* True if bytes go to FILE itself and not to a temporary that takes its place. */
bool lat_io_in_place(const lat_output *out);

/* *at, of `size` zeros the first time; NULL with a sentence. */
void *lat_io_attach(void **at, size_t size, const char *name);

#endif
