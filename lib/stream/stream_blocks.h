/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_blocks.h: what reading and writing the blocks of a stream share: stream_read.c,
 * stream_write.c and stream_blocks.c; for nobody else.
 *
 * Blocks go through a window of jobs: while one is read (or written), all threads decode (or
 * encode) those before (or after) it. What a block becomes depends on its bytes only, so the number
 * of threads changes nothing in a stream. */
#ifndef LAT_STREAM_MILL_H
#define LAT_STREAM_MILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "deflate.h"
#include "lattice/field.h"
#include "lattice/reals.h"
#include "stream_text.h"

#define LAT_FRAME 16 /* bytes of a block's head, and of the trailer */
#define LAT_BLOCK_TAG "LATB"
#define LAT_TRAILER_TAG "LATE"

/* One block on its way. */
typedef struct lat_job {
    size_t at, raw; /* which raw bytes of the field */
    size_t stored;  /* bytes of payload */
    uint64_t to;    /* where it goes in an output, if any thread may put it there; or 0 */
    unsigned char head[LAT_FRAME];
    unsigned char *payload; /* into the field itself where nothing has to be done to it */
    unsigned char *packed, *plain, *work; /* this job's own memory, as far as needed */
    uint32_t crc;                         /* of the raw bytes */
    uint64_t largest;                     /* bits of the largest modulus */
    const char *wrong;                    /* what is wrong with it, or NULL */
} lat_job;

/* All blocks of one field, of which the raw bytes from lo to hi are at hand: all of them, or some
 * slices. */
typedef struct lat_pipeline {
    const lat_header *head;
    const char *name;
    unsigned char *data; /* whole matrices: those of the raw bytes lo to hi, in natural order */
    size_t lo, hi;
    size_t bytes, block, blocks; /* raw bytes of the field, of a block; number of blocks */
    lat_order order;             /* of the raw bytes */
    bool compressed, filtered, swapped;
    bool direct;  /* raw bytes are the bytes in memory */
    size_t width; /* jobs at a time */
    lat_job *jobs;
    lat_job edge;          /* and one that is not wholly between lo and hi: raw bytes in `plain` */
    unsigned char *memory; /* of all jobs */
    uint32_t crc;          /* of the raw bytes so far */
    uint64_t largest;
} lat_pipeline;

/* Sizes and memory of a mill whose field, block and storage are set; lat_pipeline_free after it in
 * any case. */
int lat_pipeline_start(lat_pipeline *m);
void lat_pipeline_free(lat_pipeline *m);

/* The job of block number i: one of a ring, unless the block is not wholly between lo and hi. */
lat_job *lat_pipeline_block(lat_pipeline *m, size_t i);

/* What jobs have found, block after block: their CRCs joined, or why not. */
int lat_pipeline_finish(lat_pipeline *m, const lat_job *j);

/* Bytes of a real for the codec: 1 where it does not filter. */
static inline int lat_pipeline_real(const lat_pipeline *m)
{
    return m->filtered ? (int)m->head->real : 1;
}

/* Block number i: which raw bytes it holds, and nothing known of them yet. */
void lat_job_place(const lat_pipeline *m, lat_job *j, size_t i);

/* Where its raw bytes are in memory that has them as they are. */
static inline unsigned char *lat_job_home(const lat_pipeline *m, const lat_job *j)
{
    return m->data + (j->at - m->lo);
}

/* Those of a block's raw bytes (in `plain`, reals with their bytes in this machine's order) that
 * are from lo to hi, to or from where they belong in m->data. */
void lat_job_spread(const lat_pipeline *m, const lat_job *j, bool into_field);

/* The longest payload of n raw bytes: other programs' deflate may be less careful than ours. */
static inline size_t lat_payload_bound(size_t n) { return n + n / 8 + 1024; }

/* In memory a matrix always has 2NN reals; the `reals` of the stream are its first ones: two rows
 * of SU(3), or q0, q3, q2, q1 of SU(2), whose stream order is q0, q1, q2, q3. */
static inline size_t lat_full_reals(const lat_header *head)
{
    return 2 * (size_t)head->nc * (size_t)head->nc;
}

static inline bool lat_reduced(const lat_header *head)
{
    return (size_t)head->reals != lat_full_reals(head);
}

/* So many matrices are done sooner than other threads are woken up. */
#define LAT_FEW 4096

/* Makes whole matrices, `count` of them, of the reals that the stream has. If others had been
 * there: the first matrix that was further than `near` from what it is now, or SIZE_MAX; *changed,
 * unless it is NULL: whether any was. */
size_t lat_complete_all(const lat_header *head, void *matrices, size_t count, double near,
                        bool *changed);

/* The first real of n bytes that is not finite. */
size_t lat_first_bad(const void *data, size_t n, lat_real real);

#endif
