/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_blocks.c: blocks on their way, in either direction: sizes, memory, and what can be done to
 * them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/threads.h"
#include "base/error.h"
#include "base/memory.h"
#include "stream_blocks.h"
#include "lattice/iterate.h"

#define IN_FLIGHT \
    ((size_t)1 << 29) /* bytes of blocks under way, where that is not less than one \
                       */

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t lat_first_bad(const void *data, size_t n, lat_real real)
{
    size_t i = 0;
    while (i < n / (size_t)real
           && lat_reals_largest((const char *)data + i * (size_t)real, 1, real)
                  < lat_infinity_bits(real))
        i++;
    return i;
}

/* ---- matrices of fewer reals ----------------------------------------------------------------- */

/* Is the new real another one than that which was there, or further from it than `near`? No
 * branches. */
enum { CHANGED = 1, FAR = 2 };

LAT_INLINE int compare(double was, double is, double near)
{
    return (is != was) * CHANGED | !(fabs(is - was) <= near) * FAR;
}

/* Matrix number i of f. */
LAT_INLINE int complete(const lat_field *f, size_t i, int n, double near)
{
    const size_t all = 2 * (size_t)n * (size_t)n;
    double m[LAT_SUN_REALS];
    int found = 0;
    lat_load(f, i, n, m);
    lat_sun_complete(n, m);
    for (size_t k = n == 3 ? 12 : (size_t)f->head.reals; k < all; k++)
        if (f->head.real == LAT_F64) {
            double *to = (double *)f->data + i * all + k;
            found |= compare(*to, m[k], near);
            *to = m[k];
        } else {
            float *to = (float *)f->data + i * all + k;
            found |= compare((double)*to, (double)(float)m[k], near);
            *to = (float)m[k];
        }
    return found;
}

size_t lat_complete_all(const lat_header *head, void *matrices, size_t count, double near,
                        bool *changed)
{
    const lat_field f = {.head = *head, .data = matrices}; /* borrowed */
    size_t far = SIZE_MAX;
    int any = 0;
#pragma omp parallel for schedule(static) if (count > LAT_FEW) reduction(min \
                                                                         : far) reduction(| \
                                                                                          : any)
    for (size_t i = 0; i < count; i++) {
        const int found = head->nc == 3 ? complete(&f, i, 3, near)
                                        : complete(&f, i, head->nc, near);
        any |= found;
        if (found & FAR && i < far)
            far = i;
    }
    if (changed)
        *changed = any & CHANGED;
    return far;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Gives a job its pieces of memory, one after the other from `own` on. */
static void equip(lat_job *j, unsigned char *own, size_t packed, size_t plain)
{
    *j = (lat_job){.packed = own,
                   .plain = own + (packed + 63) / 64 * 64,
                   .work = own + (packed + 63) / 64 * 64 + (plain + 63) / 64 * 64};
}

int lat_pipeline_start(lat_pipeline *m)
{
    const lat_header *head = m->head;
    m->bytes = lat_header_bytes(head);
    m->blocks = (m->bytes + m->block - 1) / m->block;
    m->direct = !m->swapped && !lat_reduced(head) && lat_order_natural(&m->order);
    size_t raw = m->block < m->bytes ? m->block : m->bytes;
    size_t packed = m->compressed ? lat_payload_bound(raw) : m->direct ? 0 : raw;
    size_t plain = m->direct ? 0 : raw, work = m->compressed ? raw : 0;
    size_t each = (packed + plain + work + 191) / 64 * 64,
           edge = (packed + raw + work + 191) / 64 * 64;
    m->width = 3 * (size_t)lat_threads();
    if (m->width > m->blocks)
        m->width = m->blocks;
    if (m->width > IN_FLIGHT / each)
        m->width = IN_FLIGHT / each ? IN_FLIGHT / each : 1;
    m->jobs = lat_alloc(m->width, sizeof *m->jobs, "blocks");
    m->memory = lat_alloc(1, m->width * each + edge, "blocks");
    if (!m->jobs || !m->memory)
        return -1;
    for (size_t i = 0; i < m->width; i++)
        equip(&m->jobs[i], m->memory + i * each, packed, plain);
    equip(&m->edge, m->memory + m->width * each, packed, raw);
    return 0;
}

void lat_pipeline_free(lat_pipeline *m)
{
    free(m->jobs);
    free(m->memory);
}

void lat_job_place(const lat_pipeline *m, lat_job *j, size_t i)
{
    j->at = i * m->block;
    j->raw = m->bytes - j->at < m->block ? m->bytes - j->at : m->block;
    j->largest = 0;
    j->wrong = NULL;
}

/* Reals k to k + n of a matrix as the stream has it, between there and the matrix in memory. */
static void copy_reals(const lat_header *head, char *stream, char *matrix, size_t k, size_t n,
                       bool into_field)
{
    const size_t real = (size_t)head->real;
    const bool quaternion = head->reals == 4;
    for (size_t i = 0; i < n; i += quaternion ? 1 : n) {
        const size_t slot = quaternion && (k + i) % 2 ? 4 - (k + i) : k + i;
        char *there = matrix + slot * real, *here = stream + i * real;
        memcpy(into_field ? there : here, into_field ? here : there, (quaternion ? 1 : n) * real);
    }
}

void lat_job_spread(const lat_pipeline *m, const lat_job *j, bool into_field)
{
    const lat_header *head = m->head;
    const size_t real = (size_t)head->real, reals = (size_t)head->reals,
                 full = lat_full_reals(head);
    const size_t from = j->at > m->lo ? j->at : m->lo,
                 to = j->at + j->raw < m->hi ? j->at + j->raw : m->hi;
    const size_t first = m->lo / real / reals; /* matrix in memory */
    const int links = head->kind == LAT_GAUGE ? head->geom.nd : 1;
    size_t k = from / real % reals;
    lat_order_iterator w;
    lat_order_start(&w, &m->order, &head->geom, links, from / real / reals);
    for (size_t i = from; i < to; lat_order_next(&w)) {
        const size_t left = (to - i) / real, n = reals - k < left ? reals - k : left;
        copy_reals(head, (char *)j->plain + (i - j->at),
                   (char *)m->data + (w.matrix - first) * full * real, k, n, into_field);
        i += n * real;
        k = 0;
    }
}

lat_job *lat_pipeline_block(lat_pipeline *m, size_t i)
{
    const size_t at = i * m->block, end = m->bytes - at < m->block ? m->bytes : at + m->block;
    return at >= m->lo && end <= m->hi ? &m->jobs[i % m->width] : &m->edge;
}

int lat_pipeline_finish(lat_pipeline *m, const lat_job *j)
{
    const lat_header *head = m->head;
    const size_t i = j->at / m->block;
    if (j->wrong && j->largest >= lat_infinity_bits(head->real))
        return lat_fail("%s: expected finite numbers, found NaN or infinity in matrix %zu", m->name,
                        (j->at / (size_t)head->real + j->stored) / (size_t)head->reals);
    if (j->wrong)
        return lat_fail("%s: block %zu of %zu %s", m->name, i + 1, m->blocks, j->wrong);
    m->crc = i ? lat_crc_join(m->crc, j->crc, j->raw) : j->crc;
    if (j->largest > m->largest)
        m->largest = j->largest;
    return 0;
}
