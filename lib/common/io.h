/* SPDX-License-Identifier: BSD-3-Clause */
/* io.h: bytes in, bytes out, and nothing half-written left behind.
 *
 * Input: a file, or stdin when the path is NULL or "-". Buffered, with a look ahead that works
 * on pipes, so that a format can be told from its first bytes.
 * Output: stdout when the path is NULL or "-"; otherwise a temporary ".NAME.PID.tmp" beside it
 * (O_EXCL | O_NOFOLLOW, for us alone until it is whole), renamed over FILE by lat_output_commit and
 * removed by lat_output_abort, at exit and by SIGINT, SIGTERM, SIGHUP, SIGPIPE and what else kills
 * politely, after which the process dies of that signal. So reading and writing the same file is
 * safe.
 *
 * Where FILE is
 *   - a device, a FIFO (/dev/null, /dev/stdout, a process substitution): it is written directly;
 *   - a symbolic link to a file: as with ">" and git, the link stays and the file that it names
 *     is replaced; a link to nothing is refused, as cp does;
 *   - a symbolic link or FIFO of another user in a folder where everybody may make files: it is
 * refused;
 *   - write-protected: it is refused, although rename could replace it;
 *   - an ordinary file: what replaces it has its permissions, where umask is for new files.
 *
 * Two open outputs are never one file, whatever their names, nor is stdout two outputs; and no
 * output is written into a file that is open as an input ("lat-x f >> f" would never end).
 *
 * Of several ranks (comm/comm.h) rank 0 alone reads and writes. On the others an input has a name
 * and nothing else, and what an output is given is gone; nothing of it fails.
 *
 * Functions return 0 or a negative number with lat_error set. */
#ifndef LAT_IO_H
#define LAT_IO_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct lat_input lat_input;
typedef struct lat_output lat_output;

/* Makes sure that descriptors 0, 1 and 2 are taken, so that no file opened later gets their
 * numbers; using one that was closed still fails. lat_options_parse calls it. */
void lat_io_guard(void);

/* Refuses a directory and a stdin that is a terminal (lat_fail_usage; the sentence says to give
 * a FILE). NULL on failure. */
lat_input *lat_input_open(const char *path);
void lat_input_close(lat_input *in);

/* The name for messages: the path, or "<stdin>". */
const char *lat_input_name(const lat_input *in);

/* Bytes taken so far. */
uint64_t lat_input_offset(const lat_input *in);

/* Bytes of a regular file in all, counted from where it was when it was opened; -1 on a pipe. */
int64_t lat_input_size(const lat_input *in);

/* Copies up to n (at most 64 KiB) bytes from here without taking them; fewer only at the end.
 * Returns how many, or -1. */
ssize_t lat_input_peek(lat_input *in, void *buf, size_t n);

/* How many bytes there are from here, of which no more are asked for than n: those of a file; on a
 * pipe those that have come when n have, or all. They wait in a buffer that grows with them and are
 * taken by the functions below. */
int lat_input_arrived(lat_input *in, uint64_t n, uint64_t *there);

/* Takes exactly n bytes. At the end of the input it fails with
 * "NAME: truncated after OFFSET bytes". */
int lat_input_read(lat_input *in, void *buf, size_t n);

/* Takes up to n bytes; returns how many (0 at the end), or -1. */
ssize_t lat_input_some(lat_input *in, void *buf, size_t n);

/* Takes and forgets n bytes. */
int lat_input_skip(lat_input *in, uint64_t n);

/* Back to where lat_input_offset was `offset`, of a regular file that has not changed since it was
 * opened. */
int lat_input_rewind(lat_input *in, uint64_t offset);

/* n bytes of a regular file from where lat_input_offset would be `offset`, without taking any:
 * false where that cannot be had. */
bool lat_input_ahead(const lat_input *in, uint64_t offset, void *buf, size_t n);

/* `size` bytes, zero at first, that live as long as the input: what the layer above keeps of it.
 * The same bytes on every call; NULL with lat_error set if there is no memory. */
void *lat_input_attach(lat_input *in, size_t size);

enum {
    LAT_OUTPUT_FORCE = 1,      /* binary even to a terminal */
    LAT_OUTPUT_NO_CLOBBER = 2, /* fail at once if FILE exists, and again if it does at commit */
    LAT_OUTPUT_TEXT = 4,       /* text: a terminal is welcome */
    LAT_OUTPUT_LIVE = 8        /* no temporary: to be watched while it is written, kept if a signal
                                * ends us. FILE is there at once, but until the first flush nothing
                                * has happened: an old one is as it was, a new one goes again. */
};

/* NULL on failure. A terminal is refused unless FORCE or TEXT (lat_fail_usage). NO_CLOBBER
 * protects files; a device or FIFO cannot be clobbered. */
lat_output *lat_output_open(const char *path, unsigned flags);

/* "-o FILE" as given, or "<stdout>". */
const char *lat_output_name(const lat_output *out);

/* True where bytes go to a regular file (then compression pays), false for a pipe. */
bool lat_output_is_file(const lat_output *out);

/* True where nobody sees anything of the output before lat_output_commit. */
bool lat_output_is_hidden(const lat_output *out);

/* As lat_input_attach. */
void *lat_output_attach(lat_output *out, size_t size);

/* Some n bytes will come, after work that may take long: a thread takes room on the disk for them
 * meanwhile, so that they are written sooner, and warns if there is none. What turns out to be too
 * much is given back by lat_output_commit. */
void lat_output_expect(lat_output *out, uint64_t n);

int lat_output_write(lat_output *out, const void *buf, size_t n);

/* Hands on what is buffered: at the end of a field, so that the next tool can begin. */
int lat_output_flush(lat_output *out);

/* Bytes written so far; and of a hidden output: what is written next takes the place of what is
 * there from byte `at` on (which is not beyond the end), and what is behind that stays, unless
 * `cut`. */
uint64_t lat_output_offset(const lat_output *out);
int lat_output_seek(lat_output *out, uint64_t at, bool cut);

/* Of a hidden output: leaves room for n bytes, the first of them *at, which lat_output_fill puts
 * there: any part, by any thread, in any order. False where bytes have to come in their order, and
 * then nothing has happened. What cannot be written makes all that follows fail: the next
 * lat_output_flush says why. */
bool lat_output_reserve_at(lat_output *out, uint64_t n, uint64_t *at);

/* The same where it is faster than lat_output_write: of what was expected, in a file system that is
 * memory itself. There writing is copying, which a single thread does at a fifth of the rate. */
bool lat_output_reserve(lat_output *out, uint64_t n, uint64_t *at);
void lat_output_fill(lat_output *out, uint64_t at, const void *buf, size_t n);

/* Flush, fsync, close, rename; believe the output only after this. Frees `out` either way. */
int lat_output_commit(lat_output *out);

/* Gives up: the temporary is removed and an existing FILE is as it was. NULL is fine. */
void lat_output_abort(lat_output *out);

#endif
