/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c: the blocks of the common format, as docs/format.md defines it.
 *
 * Blocks go through in batches: while one batch is read (or written), all threads decode (or
 * encode) another one. What a block becomes depends on its bytes only, so the number of threads
 * changes nothing in a stream. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "codec.h"
#include "error.h"
#include "measure.h"
#include "site/sun.h"
#include "stream_text.h"

#define OUR_BLOCK ((size_t)1 << 20)
#define FRAME 16                    /* bytes of a block's head, and of the trailer */
#define IN_FLIGHT ((size_t)1 << 29) /* bytes of blocks under way, where that is not less than one */
#define BELIEVED ((size_t)1 << 26)  /* bytes allocated on the word of a header alone */
#define BLOCK_TAG "LATB"
#define TRAILER_TAG "LATE"

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static uint32_t get32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t crc_of(uint32_t crc, const void *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}

static uint32_t crc_join(uint32_t first, uint32_t second, size_t second_size)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)second_size);
}

static void swap_reals(void *data, size_t n, lat_real real)
{
    if (real == LAT_F64)
        for (uint64_t *w = data, *end = w + n / 8; w < end; w++)
            *w = __builtin_bswap64(*w);
    else
        for (uint32_t *w = data, *end = w + n / 4; w < end; w++)
            *w = __builtin_bswap32(*w);
}

/* Largest bit pattern without the sign: of IEEE numbers, that of the largest modulus, and from
 * the exponent of infinity on, of one that is not finite. */
static uint64_t largest_bits(const void *data, size_t n, lat_real real)
{
    uint64_t most[4] = {0};
    size_t count = n / (size_t)real, i = 0;
    if (real == LAT_F64) {
        const uint64_t *w = data;
        for (; i + 4 <= count; i += 4)
            for (size_t k = 0; k < 4; k++) {
                uint64_t v = w[i + k] << 1;
                most[k] = v > most[k] ? v : most[k];
            }
        for (; i < count; i++)
            most[0] = w[i] << 1 > most[0] ? w[i] << 1 : most[0];
    } else {
        const uint32_t *w = data;
        uint32_t top[4] = {0};
        for (; i + 4 <= count; i += 4)
            for (size_t k = 0; k < 4; k++) {
                uint32_t v = w[i + k] << 1;
                top[k] = v > top[k] ? v : top[k];
            }
        for (; i < count; i++)
            top[0] = w[i] << 1 > top[0] ? w[i] << 1 : top[0];
        for (int k = 0; k < 4; k++)
            most[k] = top[k];
    }
    for (int k = 1; k < 4; k++)
        most[0] = most[k] > most[0] ? most[k] : most[0];
    return most[0] >> 1;
}

static uint64_t infinity_bits(lat_real real)
{
    return real == LAT_F64 ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
}

/* The first real of n bytes that is not finite. */
static size_t first_bad(const void *data, size_t n, lat_real real)
{
    size_t i = 0;
    for (; i < n / (size_t)real; i++)
        if (largest_bits((const char *)data + i * (size_t)real, (size_t)real, real) >=
            infinity_bits(real))
            break;
    return i;
}

static double bits_value(uint64_t bits, lat_real real)
{
    if (real == LAT_F64) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    uint32_t low = (uint32_t)bits;
    float s;
    memcpy(&s, &low, sizeof s);
    return (double)s;
}

/* ---- matrices of fewer reals ----------------------------------------------------------------- */

/* In memory a matrix always has 2NN reals; the `reals` of the stream are its first ones: two rows
 * of SU(3), or q0, q3, q2, q1 of SU(2), whose stream order is q0, q1, q2, q3. */
static size_t full_reals(const lat_header *head)
{
    return 2 * (size_t)head->nc * (size_t)head->nc;
}

static bool reduced(const lat_header *head)
{
    return (size_t)head->reals != full_reals(head);
}

/* Where real number k of the stream lies in the matrix. */
static size_t slot(const lat_header *head, size_t k)
{
    return head->reals == 4 && k % 2 ? 4 - k : k;
}

/* The whole matrix from the reals that the stream has. */
static void complete(int nc, double *m)
{
    if (nc == 3) {
        lat_sun_third_row(m);
        return;
    }
    m[4] = -m[2];
    m[5] = m[3];
    m[6] = m[0];
    m[7] = -m[1];
}

/* So many matrices are done sooner than other threads are woken up. */
#define FEW 4096

static void complete_all(lat_field *f)
{
    size_t matrices = lat_field_matrices(f);
    #pragma omp parallel for schedule(static) if (matrices > FEW)
    for (size_t i = 0; i < matrices; i++) {
        double m[LAT_SUN_REALS];
        lat_field_get(f, i, m);
        complete(f->head.nc, m);
        lat_field_put(f, i, m);
    }
}

/* How far matrices may be from SU(N) for the dropped reals to be no loss: files in single
 * precision are within 1.4e-6; fat links, or a sign folded into the links, are not. */
#define NEAR_SUN 1e-5

/* Makes of each matrix what a reader of the reduced stream will get; refuses if that is not what
 * it was. The numbers of the header then describe what is written. */
static int reduce(lat_field *f, const char *name)
{
    size_t matrices = lat_field_matrices(f), n = full_reals(&f->head), bad = SIZE_MAX;
    bool changed = false;
    #pragma omp parallel for schedule(static) if (matrices > FEW) reduction(min : bad) \
        reduction(|| : changed)
    for (size_t i = 0; i < matrices; i++) {
        double was[LAT_SUN_REALS], is[LAT_SUN_REALS];
        lat_field_get(f, i, was);
        memcpy(is, was, n * sizeof *is);
        complete(f->head.nc, is);
        for (size_t k = 0; k < n; k++) {
            if (f->head.real == LAT_F32)
                is[k] = (double)(float)is[k];
            changed = changed || is[k] != was[k];
            if (!(fabs(is[k] - was[k]) <= NEAR_SUN) && i < bad)
                bad = i;
        }
    }
    if (bad != SIZE_MAX)
        return lat_fail("%s: expected SU(%d) matrices to write %d reals of each, found number %zu "
                        "further than %g from it (write all %zu reals, or reunitarise)",
                        name, f->head.nc, f->head.reals, bad, NEAR_SUN, n);
    if (changed) {
        complete_all(f);
        f->head.plaquette = f->head.link_trace = NAN;
    }
    return 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* One block on its way. */
typedef struct job {
    size_t at, raw;              /* which raw bytes of the field */
    size_t stored;               /* bytes of payload */
    unsigned char head[FRAME];
    unsigned char *payload;      /* into the field itself where nothing has to be done to it */
    unsigned char *packed, *plain, *work;  /* this job's own memory, as far as needed */
    uint32_t crc;                /* of the raw bytes */
    uint64_t largest;            /* bits of the largest modulus */
    const char *wrong;           /* what is wrong with it, or NULL */
} job;

/* The longest payload of n raw bytes: other programs' deflate may be less careful than ours. */
static size_t payload_bound(size_t n)
{
    return n + n / 8 + 1024;
}

/* All blocks of one field. */
typedef struct mill {
    lat_field *f;
    const char *name;
    size_t bytes, block, blocks; /* raw bytes of the field, of a block; number of blocks */
    bool compressed, filtered, swapped;
    bool direct;                 /* raw bytes are the bytes in memory */
    size_t room;                 /* bytes of the field that are allocated (reading) */
    size_t believed;             /* so many may be allocated before they have been seen */
    size_t width;                /* jobs in a batch */
    job *jobs;                   /* two batches */
    unsigned char *memory;       /* of all jobs */
    uint32_t crc;                /* of the raw bytes so far */
    uint64_t largest;
} mill;

static int codec_real(const mill *m)
{
    return m->filtered ? (int)m->f->head.real : 1;
}

static int threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static int mill_start(mill *m)
{
    const lat_header *head = &m->f->head;
    m->bytes = lat_header_bytes(head);
    m->blocks = (m->bytes + m->block - 1) / m->block;
    m->direct = !m->swapped && !reduced(head);
    size_t raw = m->block < m->bytes ? m->block : m->bytes;
    size_t packed = m->compressed ? payload_bound(raw) : m->direct ? 0 : raw;
    size_t plain = m->direct ? 0 : raw, work = m->compressed ? raw : 0;
    size_t each = (packed + plain + work + 191) / 64 * 64;
    m->width = 2 * (size_t)threads();
    if (m->width > m->blocks)
        m->width = m->blocks;
    if (m->width > IN_FLIGHT / 2 / each)
        m->width = IN_FLIGHT / 2 / each ? IN_FLIGHT / 2 / each : 1;
    m->jobs = lat_alloc(2 * m->width, sizeof *m->jobs, "blocks");
    m->memory = lat_alloc(2 * m->width, each, "blocks");
    if (!m->jobs || !m->memory)
        return -1;
    for (size_t i = 0; i < 2 * m->width; i++) {
        unsigned char *own = m->memory + i * each;
        m->jobs[i] = (job){.packed = own, .plain = own + (packed + 63) / 64 * 64,
                           .work = own + (packed + 63) / 64 * 64 + (plain + 63) / 64 * 64};
    }
    return 0;
}

static void mill_free(mill *m)
{
    free(m->jobs);
    free(m->memory);
}

/* Block number i: which raw bytes it holds, and nothing known of them yet. */
static void job_place(const mill *m, job *j, size_t i)
{
    j->at = i * m->block;
    j->raw = m->bytes - j->at < m->block ? m->bytes - j->at : m->block;
    j->largest = 0;
    j->wrong = NULL;
}

/* Raw bytes, reals in this machine's order, to or from where they belong in a field of whole
 * matrices. */
static void spread(const mill *m, const job *j, bool into_field)
{
    const lat_header *head = &m->f->head;
    size_t real = (size_t)head->real, reals = (size_t)head->reals, full = full_reals(head);
    size_t first = j->at / real, matrix = first / reals, k = first % reals;
    for (size_t i = 0; i < j->raw; i += real) {
        char *there = (char *)m->f->data + (matrix * full + slot(head, k)) * real;
        char *here = (char *)j->plain + i;
        if (real == 8)
            memcpy(into_field ? there : here, into_field ? here : there, 8);
        else
            memcpy(into_field ? there : here, into_field ? here : there, 4);
        if (++k == reals)
            k = 0, matrix++;
    }
}

static unsigned char *in_field(const mill *m, const job *j)
{
    return (unsigned char *)m->f->data + j->at;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Payload to raw bytes, in the order of the stream; sets j->crc. NULL if damaged. */
static unsigned char *decode_raw(const mill *m, job *j)
{
    uint32_t crc = crc_of(0, j->head, 12), stored = crc_of(0, j->payload, j->stored);
    if (crc_join(crc, stored, j->stored) != get32(j->head + 12)) {
        j->wrong = "has a wrong checksum (damaged?)";
        return NULL;
    }
    j->crc = stored;
    if (!m->compressed)
        return j->payload;
    unsigned char *raw = m->direct ? in_field(m, j) : j->plain;
    if (lat_codec_unpack(j->payload, j->stored, codec_real(m), j->work, raw, j->raw) < 0) {
        j->wrong = "does not unpack to its length (damaged?)";
        return NULL;
    }
    if (m->swapped && m->filtered)   /* unfiltering has put it into our order */
        swap_reals(raw, j->raw, m->f->head.real);
    j->crc = crc_of(0, raw, j->raw);
    return raw;
}

static void decode(const mill *m, job *j)
{
    unsigned char *raw = decode_raw(m, j);
    if (!raw)
        return;
    if (m->swapped)
        swap_reals(raw, j->raw, m->f->head.real);
    j->largest = largest_bits(raw, j->raw, m->f->head.real);
    if (j->largest >= infinity_bits(m->f->head.real)) {
        j->wrong = "holds a number that is not finite";
        j->stored = first_bad(raw, j->raw, m->f->head.real);
        return;
    }
    if (!m->direct)
        spread(m, j, true);
}

/* Checks the head of block i against what must stand there. */
static int check_frame(const mill *m, const job *j, size_t i)
{
    size_t stored = get32(j->head + 4), raw = get32(j->head + 8);
    if (memcmp(j->head, BLOCK_TAG, 4) != 0)
        return lat_fail("%s: expected block %zu of %zu, found something else (damaged?)", m->name, i + 1,
                        m->blocks);
    if (raw != j->raw || (m->compressed ? stored == 0 || stored > payload_bound(raw) : stored != raw))
        return lat_fail("%s: expected %zu bytes in block %zu of %zu, found %zu stored as %zu (damaged?)",
                        m->name, j->raw, i + 1, m->blocks, raw, stored);
    return 0;
}

static int read_job(lat_input *in, const mill *m, job *j, size_t i)
{
    job_place(m, j, i);
    if (lat_input_read(in, j->head, FRAME) < 0 || check_frame(m, j, i) < 0)
        return -1;
    j->stored = get32(j->head + 4);
    j->payload = m->compressed ? j->packed : m->direct ? in_field(m, j) : j->plain;
    return lat_input_read(in, j->payload, j->stored);
}

/* What the jobs of a batch have found, block by block. */
static int settle(mill *m, const job *jobs, size_t count)
{
    const lat_header *head = &m->f->head;
    for (const job *j = jobs; j < jobs + count; j++) {
        size_t i = j->at / m->block;
        if (j->wrong && j->largest >= infinity_bits(head->real))
            return lat_fail("%s: expected finite numbers, found NaN or infinity in matrix %zu", m->name,
                            (j->at / (size_t)head->real + j->stored) / (size_t)head->reals);
        if (j->wrong)
            return lat_fail("%s: block %zu of %zu %s", m->name, i + 1, m->blocks, j->wrong);
        m->crc = i ? crc_join(m->crc, j->crc, j->raw) : j->crc;
        if (j->largest > m->largest)
            m->largest = j->largest;
    }
    return 0;
}

/* Bytes of the field in memory that the first `raw` bytes of the stream need. */
static size_t memory_of(const mill *m, size_t raw)
{
    const lat_header *head = &m->f->head;
    size_t each = (size_t)head->reals * (size_t)head->real;
    return (raw + each - 1) / each * full_reals(head) * (size_t)head->real;
}

/* Memory for the first `raw` bytes at least. What a header claims is allocated at once only where
 * it is no burden; more than that must have been on its way (a factor of four at a time), so that
 * a few lying bytes on a pipe cannot take a machine down. */
static int make_room(mill *m, size_t raw)
{
    size_t all = memory_of(m, m->bytes), need = memory_of(m, raw);
    size_t room = m->room > m->believed / 4 ? 4 * m->room : m->believed;
    room = room < need ? need : room;
    room = room > all ? all : room;
    void *data = lat_alloc(room, 1, "a field");
    if (!data)
        return -1;
    if (m->room)
        memcpy(data, m->f->data, m->room);
    free(m->f->data);
    m->f->data = data;
    m->room = room;
    return 0;
}

/* A regular file must be long enough for what its header claims (deflate saves 1032 to 1 at
 * most), and is worth memory in proportion to its own size. */
static int check_size(const lat_input *in, mill *m)
{
    int64_t size = lat_input_size(in);
    uint64_t frames = FRAME * ((uint64_t)m->blocks + 1);
    uint64_t least = (m->compressed ? m->bytes / 1100 : m->bytes) + frames;
    m->believed = BELIEVED;
    if (size < 0)
        return 0;
    uint64_t left = (uint64_t)size > lat_input_offset(in) ? (uint64_t)size - lat_input_offset(in) : 0;
    if (left < least)
        return lat_fail("%s: truncated: %llu bytes after the header, expected %llu%s", m->name,
                        (unsigned long long)left, (unsigned long long)least,
                        m->compressed ? " at least" : "");
    if (left > BELIEVED / 2)
        m->believed = 2 * (size_t)left;
    return 0;
}

/* Reads blocks from number `from` on into a batch; how many, or -1. */
static ssize_t read_batch(lat_input *in, const mill *m, job *jobs, size_t from)
{
    size_t count = m->blocks - from < m->width ? m->blocks - from : m->width;
    for (size_t k = 0; k < count; k++)
        if (read_job(in, m, &jobs[k], from + k) < 0)
            return -1;
    return (ssize_t)count;
}

/* All blocks: a batch is read while the one before is decoded. Run by one thread of a team. */
static int read_blocks(lat_input *in, mill *m)
{
    size_t before = 0, done = 0;
    job *jobs = m->jobs, *last = m->jobs + m->width;
    int rc = 0;
    while (rc == 0 && done < m->blocks) {
        size_t to = (done + m->width) * m->block < m->bytes ? (done + m->width) * m->block : m->bytes;
        if (memory_of(m, to) > m->room) {   /* nobody may be at work in what moves */
            #pragma omp taskwait
            rc = make_room(m, to);
        }
        ssize_t count = rc < 0 ? -1 : read_batch(in, m, jobs, done);
        #pragma omp taskwait
        if (count < 0 || settle(m, last, before) < 0) {
            rc = -1;
            break;
        }
        for (ssize_t k = 0; k < count; k++) {
            job *j = &jobs[k];
            #pragma omp task firstprivate(j)
            decode(m, j);
        }
        before = (size_t)count;
        done += before;
        job *other = last;
        last = jobs;
        jobs = other;
    }
    #pragma omp taskwait
    return rc < 0 ? rc : settle(m, last, before);
}

/* The trailer after `blocks` blocks; puts the field's CRC into *crc. */
static int read_trailer(lat_input *in, size_t blocks, uint32_t *crc)
{
    unsigned char t[FRAME];
    if (lat_input_read(in, t, FRAME) < 0)
        return -1;
    if (memcmp(t, TRAILER_TAG, 4) != 0 || get32(t + 12) != crc_of(0, t, 12) || get32(t + 4) != blocks)
        return lat_fail(
            "%s: expected the trailer of %zu blocks before byte %llu, found something else (damaged?)",
            lat_input_name(in), blocks, (unsigned long long)lat_input_offset(in));
    *crc = get32(t + 8);
    return 0;
}

/* How far a plaquette or link trace, measured on what was read, may be from the header's.
 *
 * Let u be the rounding of the stored reals, 2^-24 or 2^-53. If the writer measured before it
 * rounded, a link with elements rounded to a relative u has moved by dU, |dU| <= u |U| = u sqrt N
 * in the Frobenius norm, and Re tr(dU S) / N <= |dU| |S| / N = u for the unitary product S of the
 * other links: 4 u for a plaquette of four links, u for the trace. Reals that were dropped are
 * products of rounded ones, with at most 3 u: |dU| <= sqrt(11/3) u |U|, less than twice as much.
 * Arithmetic in double precision adds a few rounding errors a plaquette (64 are allowed) and
 * those of a sum of n terms, at most n, typically sqrt n, for which one deviation is not enough
 * and 4 are allowed. Links larger than unitary ones scale all of it by the fourth power of
 * their size. */
static double tolerance(const lat_header *head, double largest)
{
    double u = head->real == LAT_F32 ? 0x1p-24 : 0x1p-53;
    double stored = (reduced(head) ? 8 : 4) * u;
    double summed = (64 + 4 * sqrt((double)lat_header_matrices(head))) * DBL_EPSILON;
    double size = largest > 1 ? largest : 1;
    return (stored + summed) * size * size * size * size;
}

static int check_number(const char *name, const char *what, double said, double found, double bound)
{
    if (isnan(said) || fabs(said - found) <= bound)
        return 0;
    return lat_fail("%s: %s %.15g in the header, %.15g in the field, further apart than %.2g", name,
                    what, said, found, bound);
}

static int check_physics(const lat_field *f, const char *name, double largest)
{
    const lat_header *head = &f->head;
    double plaquette, link_trace, bound = tolerance(head, largest);
    if (isnan(head->plaquette) && isnan(head->link_trace))
        return 0;
    if (lat_measure_plaquette(f, &plaquette, &link_trace) < 0 ||
        check_number(name, "plaquette", head->plaquette, plaquette, bound) < 0 ||
        check_number(name, "link trace", head->link_trace, link_trace, bound) < 0)
        return -1;
    return 0;
}

static void note_end(const lat_input *in, lat_stream_state *s, size_t blocks, uint32_t crc)
{
    s->form.blocks = (unsigned)blocks;
    s->form.stored = lat_input_offset(in) - s->begin;
    s->form.crc = crc;
}

static mill mill_of(const lat_input *in, lat_field *f, const lat_stream_state *s)
{
    return (mill){.f = f,
                  .name = lat_input_name(in),
                  .block = s->form.block,
                  .compressed = s->form.compressed,
                  .filtered = s->filtered,
                  .swapped = s->swapped};
}

/* Blocks and trailer into f->data. */
static int read_field(lat_input *in, mill *m, uint32_t *crc)
{
    int rc = 0;
    if (mill_start(m) < 0 || check_size(in, m) < 0)
        return -1;
    #pragma omp parallel if (m->blocks > 1)
    #pragma omp single
    rc = read_blocks(in, m);
    if (rc < 0 || read_trailer(in, m->blocks, crc) < 0)
        return -1;
    if (*crc != m->crc)
        return lat_fail("%s: checksum of the field %08x, expected %08x (damaged?)", m->name, m->crc,
                        *crc);
    if (reduced(&m->f->head))
        complete_all(m->f);
    return check_physics(m->f, m->name, bits_value(m->largest, m->f->head.real));
}

int lat_stream_body(lat_input *in, lat_field *f)
{
    lat_stream_state *s = lat_stream_state_of(in);
    uint32_t crc;
    f->data = NULL;
    if (!s)
        return -1;
    mill m = mill_of(in, f, s);
    int rc = read_field(in, &m, &crc);
    mill_free(&m);
    if (rc < 0) {
        free(f->data);
        f->data = NULL;
        return -1;
    }
    note_end(in, s, m.blocks, crc);
    return 1;
}

int lat_stream_skip(lat_input *in, const lat_header *head)
{
    lat_stream_state *s = lat_stream_state_of(in);
    lat_field f = {.head = *head};   /* borrowed, for its sizes */
    uint32_t crc;
    if (!s)
        return -1;
    mill m = mill_of(in, &f, s);
    m.bytes = lat_header_bytes(head);
    m.blocks = (m.bytes + m.block - 1) / m.block;
    if (check_size(in, &m) < 0)
        return -1;
    for (size_t i = 0; i < m.blocks; i++) {
        job j;
        job_place(&m, &j, i);
        if (lat_input_read(in, j.head, FRAME) < 0 || check_frame(&m, &j, i) < 0 ||
            lat_input_skip(in, get32(j.head + 4)) < 0)
            return -1;
    }
    if (read_trailer(in, m.blocks, &crc) < 0)
        return -1;
    note_end(in, s, m.blocks, crc);
    return 1;
}

int lat_stream_read(lat_input *in, lat_field *f)
{
    f->data = NULL;
    int rc = lat_stream_head(in, &f->head);
    if (rc > 0)
        rc = lat_stream_body(in, f);
    if (rc <= 0)
        lat_field_free(f);
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void encode(const mill *m, job *j)
{
    unsigned char *raw = in_field(m, j);
    lat_real real = m->f->head.real;
    if (!m->direct) {
        spread(m, j, false);
        raw = j->plain;
    }
    j->largest = largest_bits(raw, j->raw, real);
    if (j->largest >= infinity_bits(real)) {
        j->wrong = "holds a number that is not finite";
        j->stored = first_bad(raw, j->raw, real);
        return;
    }
    j->payload = raw;
    j->stored = j->raw;
    if (m->compressed) {   /* before swapping: the filter takes our byte order */
        j->stored = lat_codec_pack(raw, j->raw, codec_real(m), j->work, j->packed);
        j->payload = j->packed;
        if (j->stored == 0) {
            j->wrong = "could not be compressed (out of memory)";
            return;
        }
    }
    if (m->swapped)
        swap_reals(raw, j->raw, real);
    j->crc = crc_of(0, raw, j->raw);
    memcpy(j->head, BLOCK_TAG, 4);
    put32(j->head + 4, (uint32_t)j->stored);
    put32(j->head + 8, (uint32_t)j->raw);
    uint32_t payload = m->compressed ? crc_of(0, j->payload, j->stored) : j->crc;
    put32(j->head + 12, crc_join(crc_of(0, j->head, 12), payload, j->stored));
}

static int write_batch(lat_output *out, mill *m, const job *jobs, size_t count)
{
    if (settle(m, jobs, count) < 0)
        return -1;
    for (const job *j = jobs; j < jobs + count; j++)
        if (lat_output_write(out, j->head, FRAME) < 0 ||
            lat_output_write(out, j->payload, j->stored) < 0)
            return -1;
    return 0;
}

/* All blocks: a batch is written while the next is encoded. Run by one thread of a team. */
static int write_blocks(lat_output *out, mill *m)
{
    size_t before = 0, done = 0;
    job *jobs = m->jobs, *last = m->jobs + m->width;
    int rc = 0;
    while (rc == 0 && (done < m->blocks || before)) {
        size_t count = m->blocks - done < m->width ? m->blocks - done : m->width;
        for (size_t k = 0; k < count; k++) {
            job *j = &jobs[k];
            job_place(m, j, done + k);
            #pragma omp task firstprivate(j)
            encode(m, j);
        }
        rc = write_batch(out, m, last, before);
        #pragma omp taskwait
        before = count;
        done += count;
        job *other = last;
        last = jobs;
        jobs = other;
    }
    return rc;
}

static int write_trailer(lat_output *out, const mill *m)
{
    unsigned char t[FRAME];
    memcpy(t, TRAILER_TAG, 4);
    put32(t + 4, (uint32_t)m->blocks);
    put32(t + 8, m->crc);
    put32(t + 12, crc_of(0, t, 12));
    return lat_output_write(out, t, FRAME);
}

/* The numbers of the header that describe the links, where they are not known yet. */
static int measure(lat_field *f)
{
    lat_header *head = &f->head;
    double plaquette, link_trace;
    if (head->kind != LAT_GAUGE || !(isnan(head->plaquette) || isnan(head->link_trace)))
        return 0;
    if (lat_measure_plaquette(f, &plaquette, &link_trace) < 0)
        return -1;
    if (isnan(head->plaquette) && isfinite(plaquette))
        head->plaquette = plaquette;
    if (isnan(head->link_trace) && isfinite(link_trace))
        head->link_trace = link_trace;
    return 0;
}

int lat_stream_write(lat_output *out, lat_field *f, int store)
{
    const char *name = lat_output_name(out);
    bool compressed = store == LAT_STORE_AUTO ? lat_output_is_file(out) : store != LAT_STORE_RAW;
    mill m = {.f = f,
              .name = name,
              .block = OUR_BLOCK,
              .compressed = compressed,
              .filtered = compressed,
              .swapped = lat_big_endian()};
    int rc = 0;
    if (lat_header_check(&f->head, name) < 0 || (reduced(&f->head) && reduce(f, name) < 0) ||
        measure(f) < 0)
        return -1;
    if (mill_start(&m) < 0 || lat_stream_put_head(out, &f->head, OUR_BLOCK, compressed) < 0)
        rc = -1;
    if (rc == 0) {
        #pragma omp parallel if (m.blocks > 1)
        #pragma omp single
        rc = write_blocks(out, &m);
    }
    if (rc == 0)
        rc = write_trailer(out, &m);
    mill_free(&m);
    unsigned *fields = rc == 0 ? lat_output_attach(out, sizeof *fields) : NULL;
    if (rc == 0 && !fields)
        rc = -1;
    if (rc == 0) {
        ++*fields;
        rc = lat_output_flush(out);
    }
    return rc;
}

int lat_stream_commit(lat_output *out)
{
    unsigned char mark[LAT_END_SIZE];
    const unsigned *fields = lat_output_attach(out, sizeof *fields);
    int rc = fields ? 0 : -1;
    if (rc == 0 && *fields) {
        lat_stream_end_mark(*fields, mark);
        rc = lat_output_write(out, mark, LAT_END_SIZE);
    }
    if (rc == 0)
        return lat_output_commit(out);
    lat_output_abort(out);
    return -1;
}
