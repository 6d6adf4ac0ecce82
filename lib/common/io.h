/* SPDX-License-Identifier: BSD-3-Clause */
/* io.h: files, pipes and devices, read and written; no incomplete file is left behind.
 *
 * Input: a file, or stdin when the path is NULL or "-". Buffered. lat_input_peek looks ahead, on
 * pipes too, so that a format is told from its first bytes.
 *
 * Output: stdout when the path is NULL or "-". Otherwise a temporary ".NAME.PID.tmp" beside FILE
 * (O_EXCL | O_NOFOLLOW, readable by the user alone until it is complete). lat_output_commit renames
 * it to FILE. lat_output_abort, exit, and every signal that ends a process and can be caught
 * (SIGINT, SIGTERM, SIGHUP, SIGPIPE, ...) remove it; after such a signal the process dies of it. So
 * a tool may read and write the same FILE.
 *
 * Where FILE is
 *   - a device or FIFO (/dev/null, /dev/stdout, a process substitution): it is written directly;
 *   - a symbolic link to a file: the link stays, and the file is replaced, as ">" and git do;
 *   - a symbolic link to nothing: refused, as cp does;
 *   - a symbolic link or FIFO of another user in a folder that everybody may write to: refused;
 *   - write-protected: refused, although rename could replace it;
 *   - a regular file: the new one gets its permissions. A new FILE gets the permissions of umask.
 *
 * Two open outputs are never one file, whatever their names; stdout is not two outputs; no output
 * is written directly to a file that is open as an input ("lat-x f >> f" would never end); and
 * text, and what has LAT_OUTPUT_OTHER, replaces no open input, which would be lost.
 *
 * An input or output belongs to the ranks of a communicator, each of which opens it. Rank 0 alone
 * reads and writes. On the others an input has a name and no bytes, writing discards, and no call
 * fails.
 *
 * Functions return 0, or a negative number with lat_error set, unless they say what they return. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>
#include "comm/comm.h"

typedef struct lat_input lat_input;
typedef struct lat_output lat_output;

/* Opens /dev/null in place of a standard descriptor (0, 1, 2) that is closed, so that no other file
 * gets its number; it still cannot be read or written. lat_options_parse calls it. */
void lat_io_guard(void);

/* ---- input ----------------------------------------------------------------------------------- */

/* NULL on failure. Refuses a directory, and a stdin that is a terminal (lat_fail_usage; the
 * sentence says to give a FILE). */
lat_input *lat_input_open(const char *path, const lat_comm *comm);
void lat_input_close(lat_input *in);

/* A thread that reads may wait for a pipe for ever, when another one has failed and wants to end.
 *   may_end   before the thread begins; where there is no descriptor left, _end has no effect
 *   end       by any thread: a read that waits, and all later ones, fail */
void lat_input_may_end(lat_input *in);
void lat_input_end(lat_input *in);

/* The name for messages: the path, or "<stdin>". */
const char *lat_input_name(const lat_input *in);

/* The ranks that have opened it. */
const lat_comm *lat_input_comm(const lat_input *in);

/* Bytes read so far. */
uint64_t lat_input_offset(const lat_input *in);

/* Bytes of a regular file from the position at which it was opened; -1 for anything else. */
int64_t lat_input_size(const lat_input *in);

/* Copies the next n bytes (at most 64 KiB), which stay unread; fewer only at the end of the input.
 * Returns how many, or -1. */
ssize_t lat_input_peek(lat_input *in, void *buf, size_t n);

/* Waits until n bytes have arrived, or the end of the input; *arrived: how many there are. They
 * stay unread, in a buffer that grows with them. For a regular file *arrived is what is left of it,
 * and nothing is buffered. */
int lat_input_wait(lat_input *in, uint64_t n, uint64_t *arrived);

/* Reads n bytes. At the end of the input it fails: "NAME: truncated after OFFSET bytes". */
int lat_input_read(lat_input *in, void *buf, size_t n);

/* Reads up to n bytes, as read(2). Returns how many (0 at the end), or -1. */
ssize_t lat_input_read_some(lat_input *in, void *buf, size_t n);

/* Skips n bytes; fails as lat_input_read. */
int lat_input_skip(lat_input *in, uint64_t n);

/* Makes the byte at `offset`, which has been read, the next one again. Fails unless the input is a
 * regular file that has not changed since it was opened. */
int lat_input_rewind(lat_input *in, uint64_t offset);

/* Copies n bytes from `offset` on, as pread(2): the position stays. By any thread. Returns false,
 * without a sentence, if the input is no regular file or does not have them. */
bool lat_input_pread(const lat_input *in, uint64_t offset, void *buf, size_t n);

/* Opens the file of rank 0 on the other ranks, too, where it can be read from its first byte on.
 * All ranks call it. *all: on rank 0 whether that is wanted; on return whether all ranks have it.
 * They have not where the input is no regular file with a name, or a rank finds none of that name,
 * or one of another length or date. 0, or -1 with lat_error set. */
int lat_input_everywhere(lat_input *in, bool *all);

/* `size` bytes, zero at first, that are freed with the input: for what the caller keeps of it. Each
 * call returns the same bytes of one attachment. NULL with lat_error set if there is no memory. */
typedef enum { LAT_ATTACH_STREAM, LAT_ATTACH_FORMAT, LAT_ATTACHMENTS } lat_attachment;
void *lat_input_attach(lat_input *in, lat_attachment which, size_t size);

/* ---- output ---------------------------------------------------------------------------------- */

/* Order of calls: lat_output_open; lat_output_write and the others; lat_output_commit or
 * lat_output_abort, either of which frees it. */
enum {
    LAT_OUTPUT_FORCE = 1,      /* binary data even to a terminal */
    LAT_OUTPUT_NO_CLOBBER = 2, /* fail if FILE exists, when it is opened and when it is committed */
    LAT_OUTPUT_TEXT = 4,       /* text, which may go to a terminal */
    LAT_OUTPUT_LIVE = 8,       /* no temporary: FILE can be watched while it is written, and stays
                                * when a signal ends the process. It is there at once; until the
                                * first flush an old FILE has its old bytes, and a new one is
                                * removed if the process ends. */
    LAT_OUTPUT_OTHER = 16      /* not what the inputs are, of which none may be replaced */
};

/* NULL on failure. `flags` are some of the above. A terminal is refused without FORCE or TEXT
 * (lat_fail_usage). NO_CLOBBER does not concern devices and FIFOs. */
lat_output *lat_output_open(const char *path, unsigned flags, const lat_comm *comm);

/* Are they names of one file, which may be there or not: one that both lead to, or one name in one
 * folder? */
bool lat_one_file(const char *a, const char *b);

/* The name for messages: the path, or "<stdout>". */
const char *lat_output_name(const lat_output *out);

/* The ranks that have opened it. */
const lat_comm *lat_output_comm(const lat_output *out);

/* True for a regular file, where compression pays. */
bool lat_output_is_file(const lat_output *out);

/* True for a temporary: nobody reads any of it before lat_output_commit. */
bool lat_output_is_hidden(const lat_output *out);

/* As lat_input_attach. */
void *lat_output_attach(lat_output *out, size_t size);

/* Writes n bytes, through a buffer. */
int lat_output_write(lat_output *out, const void *buf, size_t n);

/* Writes what is buffered: after a field, so that the next tool of a pipe can begin. */
int lat_output_flush(lat_output *out);

/* Bytes written so far, those in the buffer included: the position of the next byte. */
uint64_t lat_output_offset(const lat_output *out);

/* Moves the position of a hidden output to byte `at`, which is not beyond the end. What is written
 * next overwrites what is there; the bytes behind that stay, unless `cut`. */
int lat_output_seek(lat_output *out, uint64_t at, bool cut);

/* ---- output: space, and writing by threads --------------------------------------------------- */

/* Preallocates space for n bytes in the file system, in a thread, while the caller computes: they
 * are then written sooner, and a warning comes early if there is no space. More than n, up to
 * `most` (n at least), are about as fast in tmpfs. A hint: it does nothing for small n and where
 * there is no temporary. lat_output_commit gives back what was not used, which takes time. */
void lat_output_preallocate(lat_output *out, uint64_t n, uint64_t most);

/* Reserves the next n bytes of a hidden output for lat_output_write_at, and moves the position
 * behind them; *at: the first of them. False, and nothing has happened, where bytes can only be
 * written in their order. */
bool lat_output_reserve(lat_output *out, uint64_t n, uint64_t *at);

/* The same, but false also where lat_output_write is as fast: true for preallocated bytes in a file
 * system that is memory itself (tmpfs), where writing is copying, and one thread does it at a fifth
 * of the rate of all. */
bool lat_output_reserve_mapped(lat_output *out, uint64_t n, uint64_t *at);

/* Are the next bytes in a map of such a file, where ranks of one host copy side by side? On rank 0.
 */
bool lat_output_mapped(lat_output *out);

/* Writes n of the reserved bytes, from byte `at` on: any part, by any thread, in any order. After a
 * failure the next lat_output_flush fails and has the sentence. */
void lat_output_write_at(lat_output *out, uint64_t at, const void *buf, size_t n);

/* Opens the hidden output of rank 0 on the other ranks, too, and maps it where rank 0 has: for
 * lat_output_write_at, of bytes that rank 0 has reserved; lat_output_settle must follow there. As
 * lat_input_everywhere, but not in NFS, where two hosts that write to one page may lose bytes. */
int lat_output_everywhere(lat_output *out, bool *all);

/* What this rank, which is not rank 0, has written reaches the file: 0, or -1 with lat_error set.
 */
int lat_output_settle(lat_output *out);

/* ---- output: a beginning that another process goes on from -----------------------------------
 */

/* Bytes from the first one on, and their checksum. */
typedef struct lat_parked {
    uint64_t bytes;
    uint32_t crc;
} lat_parked;

/* The first n bytes of a hidden output, which are written, reach the disk. From here on they stay
 * when the process ends, in ".NAME.part" beside FILE, until lat_output_commit renames that; what
 * a run that ended has left there is replaced, what another run has there is not. *part: n, and
 * their checksum; before, those of the last call, or zero. */
int lat_output_park(lat_output *out, uint64_t n, lat_parked *part);

/* As if it had not been called, until it is called again. */
void lat_output_unpark(lat_output *out);

/* The output, just opened, begins with these bytes of a run that has ended, which are verified: it
 * goes on in ".NAME.part"; or, to keep that, or where FILE is complete already, in a copy. A file
 * of another user, a link, and what another process writes to are refused. */
int lat_output_continue(lat_output *out, const lat_parked *part, bool keep);

/* Drops what is behind byte `at`, of a run that failed: space for others. */
void lat_output_back(lat_output *out, uint64_t at);

/* ---- output: end ----------------------------------------------------------------------------- */

/* Flush, fsync, close, rename: the output is complete only if this succeeds. Frees `out` in any
 * case. */
int lat_output_commit(lat_output *out);

/* Removes the temporary; a FILE that was there stays. Frees `out`; NULL is allowed. */
void lat_output_abort(lat_output *out);
