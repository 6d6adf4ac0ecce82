/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_blocks.c: the block pipeline: sizes, memory, copies to and from the field, results. */
#include "stream_blocks_internal.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "lattice/iterate.h"
#include "stream_reduced_internal.h"

#define MAX_RING_BYTES ((size_t)1 << 29) /* of the buffers of a ring of more than one block */
#define BLOCKS_A_THREAD 3                /* one is decoded, one waits, one is read */
#define ALIGNMENT 64

static size_t aligned(size_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* ---- memory ---------------------------------------------------------------------------------- */

/* Buffers of a block, one after the other in `memory`. */
static void set_buffers(lat_block *b, unsigned char *memory, size_t packed)
{
    *b = (lat_block){.packed = memory, .plain = memory + aligned(packed)};
}

int lat_pipeline_init(lat_pipeline *p)
{
    const lat_header *head = p->head;
    p->bytes = lat_header_bytes(head);
    p->blocks = (p->bytes + p->block_bytes - 1) / p->block_bytes;
    p->direct = !p->swapped && !lat_reduced(head) && lat_order_natural(&p->order);
    const size_t raw = p->block_bytes < p->bytes ? p->block_bytes : p->bytes;
    const size_t packed = p->compressed ? lat_payload_bound(raw) : p->direct ? 0 : raw;
    const size_t plain = p->direct ? 0 : raw, work = p->compressed ? raw : 0;
    const size_t each = aligned(packed) + aligned(plain) + ALIGNMENT,
                 partial = aligned(packed) + aligned(raw);
    p->threads = lat_threads();
    p->pitch = aligned(work);
    p->ring_size = BLOCKS_A_THREAD * (size_t)lat_threads();
    if (p->ring_size > p->blocks)
        p->ring_size = p->blocks;
    if (p->ring_size > MAX_RING_BYTES / each)
        p->ring_size = MAX_RING_BYTES / each ? MAX_RING_BYTES / each : 1;
    p->ring = lat_alloc(p->ring_size, sizeof *p->ring, "blocks");
    p->memory = lat_alloc(1, p->ring_size * each + partial + (size_t)p->threads * p->pitch,
                          "blocks");
    if (!p->ring || !p->memory)
        return -1;
    for (size_t i = 0; i < p->ring_size; i++)
        set_buffers(&p->ring[i], p->memory + i * each, packed);
    set_buffers(&p->partial, p->memory + p->ring_size * each, packed);
    p->work = p->memory + p->ring_size * each + partial;
    return 0;
}

unsigned char *lat_pipeline_work(const lat_pipeline *p)
{
#ifdef _OPENMP
    return p->work + (size_t)omp_get_thread_num() * p->pitch;
#else
    return p->work;
#endif
}

void lat_pipeline_free(lat_pipeline *p) { LAT_FREE(p->ring, p->memory); }

/* ---- blocks ---------------------------------------------------------------------------------- */

lat_block *lat_pipeline_block(lat_pipeline *p, size_t i)
{
    const size_t first = i * p->block_bytes,
                 next = p->bytes - first < p->block_bytes ? p->bytes : first + p->block_bytes;
    return first >= p->begin && next <= p->end ? &p->ring[i % p->ring_size] : &p->partial;
}

void lat_block_init(const lat_pipeline *p, lat_block *b, size_t i)
{
    b->offset = i * p->block_bytes;
    b->raw = p->bytes - b->offset < p->block_bytes ? p->bytes - b->offset : p->block_bytes;
    b->largest = 0;
    b->error = NULL;
    b->given = NULL;
}

/* Copies reals k up to k + n of one matrix. A quaternion has q3, q2, q1 behind q0 in memory. */
static void copy_reals(const lat_header *head, char *stream, char *matrix, size_t k, size_t n,
                       bool to_memory)
{
    const size_t real = (size_t)head->real;
    const bool quaternion = head->reals == 4;
    for (size_t i = 0; i < n; i += quaternion ? 1 : n) {
        const size_t at = quaternion && (k + i) % 2 ? 4 - (k + i) : k + i;
        char *memory = matrix + at * real, *plain = stream + i * real;
        memcpy(to_memory ? memory : plain, to_memory ? plain : memory, (quaternion ? 1 : n) * real);
    }
}

static void copy_block(const lat_pipeline *p, const lat_block *b, bool to_memory)
{
    const lat_header *head = p->head;
    const size_t real = (size_t)head->real, reals = (size_t)head->reals,
                 full = lat_header_full_reals(head);
    const size_t from = b->offset > p->begin ? b->offset : p->begin,
                 to = b->offset + b->raw < p->end ? b->offset + b->raw : p->end;
    const size_t first = p->begin / real / reals; /* matrix in memory */
    const int objects = (int)lat_header_objects(head);
    size_t k = from / real % reals;
    lat_order_iterator w;
    lat_order_start(&w, &p->order, &head->geom, objects, from / real / reals);
    for (size_t i = from; i < to; lat_order_next(&w)) {
        const size_t left = (to - i) / real, n = reals - k < left ? reals - k : left;
        copy_reals(head, (char *)b->plain + (i - b->offset),
                   (char *)p->data + (w.matrix - first) * full * real, k, n, to_memory);
        i += n * real;
        k = 0;
    }
}

void lat_block_scatter(const lat_pipeline *p, const lat_block *b) { copy_block(p, b, true); }
void lat_block_gather(const lat_pipeline *p, const lat_block *b) { copy_block(p, b, false); }

bool lat_block_finite(const lat_pipeline *p, lat_block *b, const unsigned char *raw)
{
    const lat_real real = p->head->real;
    b->largest = lat_reals_largest(raw, b->raw / (size_t)real, real);
    if (b->largest < lat_infinity_bits(real))
        return true;
    b->error = "holds a number that is not finite";
    b->stored = 0;
    while (lat_reals_largest(raw + b->stored * (size_t)real, 1, real) < lat_infinity_bits(real))
        b->stored++;
    return false;
}

/* ---- results --------------------------------------------------------------------------------- */

int lat_pipeline_verify_block(lat_pipeline *p, const lat_block *b)
{
    const lat_header *head = p->head;
    const size_t i = b->offset / p->block_bytes;
    if (b->error && b->largest >= lat_infinity_bits(head->real))
        return lat_fail("%s: expected finite numbers, found NaN or infinity in %s %zu", p->name,
                        lat_header_spinors(head) ? "spinor" : "matrix",
                        (b->offset / (size_t)head->real + b->stored) / (size_t)head->reals);
    if (b->error)
        return lat_fail("%s: block %zu of %zu %s", p->name, i + 1, p->blocks, b->error);
    p->crc = i ? lat_crc_join(p->crc, b->crc, b->raw) : b->crc;
    if (b->largest > p->largest)
        p->largest = b->largest;
    return 0;
}

double lat_pipeline_largest(const lat_pipeline *p)
{
    double d;
    float s;
    const uint32_t low = (uint32_t)p->largest;
    memcpy(&d, &p->largest, sizeof d);
    memcpy(&s, &low, sizeof s);
    return p->head->real == LAT_F64 ? d : (double)s;
}
