/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_blocks_internal.h: the block pipeline that reading and writing share.
 *
 * The raw bytes of a field are cut into blocks (docs/format.md, "Blocks"). A ring of blocks is
 * under way at a time. While the main thread reads one (or writes one), all threads decode the
 * blocks before it (or encode the blocks after it). The stored bytes of a block depend on its raw
 * bytes alone, so the number of threads does not change a stream.
 *
 * Order of calls: fill in the first members of lat_pipeline; lat_pipeline_init; then, for blocks in
 * the order of the stream, lat_block_init, read and decode (or gather, encode and write), and
 * lat_pipeline_verify_block; lat_pipeline_free. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/jobs.h"
#include "deflate.h"
#include "lattice/field.h"
#include "lattice/reals.h"
#include "stream_header_internal.h"

/* One block under way. */
typedef struct lat_block {
    size_t offset, raw; /* its first raw byte in the field; number of raw bytes */
    size_t stored;      /* bytes of the payload; after an error the first real that is not finite */
    uint64_t input_at;  /* byte of a regular file where its payload begins */
    uint64_t output_at; /* byte of the output that is reserved for it; 0: none is */
    unsigned char head[LAT_FRAME];
    unsigned char *payload; /* points to one of the three buffers, or into the field in memory */
    unsigned char *packed, *plain; /* compressed and raw bytes; NULL if not needed */
    const unsigned char *given;    /* raw bytes that are elsewhere, or NULL */
    uint32_t crc;                  /* of the raw bytes */
    uint64_t largest;              /* bits of the largest modulus of a real */
    const char *error;             /* what is wrong with it, or NULL */
    lat_job job;                   /* decoding; or encoding, then copying to the output */
} lat_block;

/* All blocks of one field. Its raw bytes from `begin` up to `end` are in memory: all of
 * them, or the bytes of some slices. */
typedef struct lat_pipeline {
    /* Set by the caller. */
    const lat_header *head;
    const char *name;    /* of the input or output, for messages */
    unsigned char *data; /* whole matrices in natural order: from the raw bytes in memory */
    size_t begin, end;
    size_t block_bytes; /* raw bytes of a block; the last one may have fewer */
    lat_order order;    /* of the raw bytes */
    bool compressed, filtered;
    bool swapped; /* the stream's byte order is not this machine's */
    /* Computed by lat_pipeline_init; lat_pipeline_of_input sets the first two. */
    size_t bytes, blocks; /* raw bytes of the field; number of blocks */
    bool direct;          /* raw bytes are the same bytes as in memory */
    size_t ring_size;
    lat_block *ring;       /* block number i is at i % ring_size */
    lat_block partial;     /* a block that is not wholly in memory: its raw bytes stay in `plain` */
    unsigned char *memory; /* buffers of all blocks, and scratch of each thread: */
    unsigned char *work;   /* as long as a block's raw bytes, `pitch` bytes from thread to thread */
    size_t pitch;
    int threads;         /* that may encode and decode */
    const lat_input *in; /* a regular file, from which threads read their payloads; or NULL */
    uint64_t output_at;  /* byte of the output that is reserved for block 0, where none is
                          * compressed; 0: none is */
    unsigned char *kept; /* blocks stay here, one behind the other; NULL: they are written */
    size_t kept_bytes;
    /* Results of lat_pipeline_verify_block. */
    uint32_t crc;     /* of all raw bytes so far */
    uint64_t largest; /* bits of the largest modulus so far */
} lat_pipeline;

/* Computes sizes and allocates the ring. -1 if there is no memory. lat_pipeline_free must follow in
 * any case. */
int lat_pipeline_init(lat_pipeline *p);
void lat_pipeline_free(lat_pipeline *p);

/* The scratch of the calling thread, of a team of at most p->threads: it stays in the thread's
 * cache, where one for each block would go through memory. */
unsigned char *lat_pipeline_work(const lat_pipeline *p);

/* The ring's block for block number i, or &p->partial if block i is not wholly in memory. */
lat_block *lat_pipeline_block(lat_pipeline *p, size_t i);

/* Checks what decoding or encoding has found, and joins the block's CRC to the field's. Called for
 * every block, in the order of the stream. */
int lat_pipeline_verify_block(lat_pipeline *p, const lat_block *b);

/* The largest modulus of a real so far, as a number. */
double lat_pipeline_largest(const lat_pipeline *p);

/* Bytes of a real for the codec; 1 where it does not filter. */
static inline int lat_pipeline_codec_real(const lat_pipeline *p)
{
    return p->filtered ? (int)p->head->real : 1;
}

/* Bytes of all blocks before block i in a stream, where none is compressed. */
static inline uint64_t lat_blocks_plain(const lat_pipeline *p, size_t i)
{
    return (uint64_t)i * LAT_FRAME + (i < p->blocks ? i * p->block_bytes : p->bytes);
}

/* Makes b block number i: sets offset and raw, and clears its results. */
void lat_block_init(const lat_pipeline *p, lat_block *b, size_t i);

/* The raw bytes of a block in memory, where p->direct. */
static inline unsigned char *lat_block_memory(const lat_pipeline *p, const lat_block *b)
{
    return p->data + (b->offset - p->begin);
}

/* Sets b->largest of its raw bytes. False, with b->error and b->stored, if one is not finite. */
bool lat_block_finite(const lat_pipeline *p, lat_block *b, const unsigned char *raw);

/* Copies the raw bytes of a block from b->plain to the matrices of p->data (scatter), or from there
 * to b->plain (gather), as far as they are in memory. The reals in b->plain have the byte order of
 * this machine. */
void lat_block_scatter(const lat_pipeline *p, const lat_block *b);
void lat_block_gather(const lat_pipeline *p, const lat_block *b);

/* The longest payload of n raw bytes that a reader accepts. Other programs' deflate may expand more
 * than ours. */
static inline size_t lat_payload_bound(size_t n) { return n + n / 8 + 1024; }

#define LAT_MAX_DEFLATE 1100 /* raw bytes a payload byte, at most; deflate reaches 1032 */

/* ---- stream_read.c --------------------------------------------------------------------------- */

struct lat_stream_reader {
    lat_input *in;
    lat_pipeline p;
    size_t offset; /* raw bytes that the caller has got */
    size_t next;   /* number of the next block; the one before it may still be in p.partial */
};

/* The pipeline for the field whose header was the last one that was read from `in`. `head` and the
 * name of `in` are borrowed. */
lat_pipeline lat_pipeline_of_input(const lat_input *in, const lat_header *head,
                                   const lat_stream_state *s);

/* Fails if a regular file is too short for the field that its header claims. *trusted: bytes of
 * memory that may be allocated before any of the field has been read. */
int lat_blocks_check_size(const lat_input *in, const lat_pipeline *p, size_t *trusted);

/* In a regular file: from the byte where block `from` begins to the byte where block `to` does, or
 * the trailer. */
int lat_blocks_find(lat_input *in, const lat_pipeline *p, size_t from, size_t to, uint64_t *at);

/* Reads, decodes and verifies blocks number `from` up to `end`. All threads work. */
int lat_blocks_read(lat_input *in, lat_pipeline *p, size_t from, size_t end);

/* Reads the trailer after the last block and compares the CRC of the field; sets head->read_crc. */
int lat_blocks_finish(lat_input *in, lat_stream_state *s, const lat_pipeline *p, lat_header *head);

/* ---- stream_write.c -------------------------------------------------------------------------- */

struct lat_stream_writer {
    lat_output *out;
    lat_pipeline p;
    size_t offset;     /* raw bytes that the caller has given */
    uint64_t head_at;  /* byte of the output where the header begins */
    uint64_t field_at; /* and where the blocks begin */
};

/* Writes blocks number `from` up to `end` of what is in memory. All threads work. */
int lat_blocks_write(lat_stream_writer *w, size_t from, size_t end);

/* Copies those raw bytes of block i that are in memory to the partial block. */
void lat_blocks_fill_partial(lat_pipeline *p, size_t i);

/* Are blocks compressed? `store` is one of LAT_STORE_..., common/options.h. */
bool lat_blocks_compressed(const lat_output *out, const lat_header *head, int store);
