/* SPDX-License-Identifier: BSD-3-Clause */
/* payload.c: chunks, byte order and missing rows, for all formats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "lattice/reals.h"
#include "lattice/slices.h"
#include "payload.h"
#include "site/sun.h"

#define SERIAL_CHUNK ((size_t)4 << 20) /* bytes read or written at a time, one after the other */
/* bytes that each thread reads or writes at a time: they stay in its cache until they are done */
#define PARALLEL_CHUNK ((size_t)1 << 19)
#define THREAD_BYTES ((size_t)64 << 10) /* that a thread converts or sums at a time */
#define BATCH 256                       /* matrices that a thread maps at a time */

/* ---- byte order and rows --------------------------------------------------------------------- */

static void copy_reals(void *to, const void *from, size_t n, lat_real real, bool swap)
{
    if (swap)
        lat_reals_swap_bytes(to, from, n, real);
    else
        memcpy(to, from, n * (size_t)real);
}

/* The same with all threads. */
static void copy_many(void *to, const void *from, size_t n, lat_real real, bool swap)
{
    const size_t part = THREAD_BYTES / (size_t)real;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += part)
        copy_reals((char *)to + i * (size_t)real, (const char *)from + i * (size_t)real,
                   n - i < part ? n - i : part, real, swap);
}

void lat_reals_convert(void *to, lat_real to_real, const void *from, lat_real from_real, size_t n)
{
    if (to_real == from_real)
        copy_many(to, from, n, to_real, false);
    else if (to_real == LAT_F64)
#pragma omp parallel for schedule(static)
        for (size_t k = 0; k < n; k++)
            ((double *)to)[k] = (double)((const float *)from)[k];
    else
#pragma omp parallel for schedule(static)
        for (size_t k = 0; k < n; k++)
            ((float *)to)[k] = (float)((const double *)from)[k];
}

void lat_field_swap(lat_field *f)
{
    copy_many(f->data, f->data, lat_field_reals(f), f->head.real, true);
}

static void complete(const lat_header *head, void *matrices, size_t i)
{
    const lat_field f = {.head = *head, .data = matrices}; /* borrowed */
    double m[LAT_SUN_REALS];
    const int n = head->nc;
    const size_t kept = 2 * (size_t)n * (size_t)(n - 1), all = kept + 2 * (size_t)n;
    lat_field_get(&f, i, m);
    lat_sun_complete(n, m);
    /* Only the last row is stored: the bits of the others, NaN too, do not change. */
    for (size_t k = kept; k < all; k++)
        if (head->real == LAT_F64)
            ((double *)matrices)[i * all + k] = m[k];
        else
            ((float *)matrices)[i * all + k] = (float)m[k];
}

void lat_rows_complete(const lat_header *head, void *matrices, size_t count)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        complete(head, matrices, i);
}

double lat_rows_error(const lat_header *head, const void *matrices, size_t count)
{
    const lat_field f = {.head = *head, .data = (void *)matrices}; /* borrowed */
    const int n = head->nc;
    double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (size_t i = 0; i < count; i++) {
        double m[LAT_SUN_REALS], u[LAT_SUN_REALS];
        lat_field_get(&f, i, u);
        memcpy(m, u, sizeof(double) * 2 * (size_t)n * (size_t)n);
        lat_sun_complete(n, m);
        for (int k = 2 * n * (n - 1); k < 2 * n * n; k++)
            largest = fmax(largest, fabs(m[k] - u[k]));
    }
    return largest;
}

/* ---- the loop over chunks -------------------------------------------------------------------- */

uint64_t lat_payload_bytes(const lat_header *head, int rows)
{
    return (uint64_t)lat_header_matrices(head) * 2 * (uint64_t)head->nc * (uint64_t)rows
           * (uint64_t)head->real;
}

bool lat_payload_sliced(const lat_payload *p, const lat_header *head)
{
    return !p->sites && !p->map && !p->read_reals && !p->read_links
           && lat_order_sliced(&p->order, head->geom.nd);
}

/* Pieces of equal length, one after the other, each of which has all slices of the last axis in
 * their order: one for each direction or parity that is slower than this axis. 0: there are none.
 */
static size_t pieces(const lat_payload *p, const lat_header *head)
{
    const char *s = p->order.sites, last = "xyzt"[head->geom.nd - 1];
    size_t n = 1;
    if (p->sites || p->read_reals || p->read_links || p->map)
        return p->map && p->map_ahead;
    for (; *s && *s != last; s++) {
        if (*s != 'l' && (*s != 'p' || lat_slice_sites(head) % 2))
            return 0;
        n *= *s == 'l' ? (size_t)head->geom.nd : 2;
    }
    return n;
}

bool lat_payload_placed(const lat_payload *p, const lat_header *head)
{
    /* A checksum counts each site once, and so as a whole. */
    return p->digest ? lat_payload_sliced(p, head) : pieces(p, head) > 0;
}

/* Are matrices in another order, or stored in another way, than in memory? (Missing rows apart.) */
static bool reordered(const lat_payload *p)
{
    return p->sites || p->map || p->shape != LAT_BY_ROWS || !lat_order_natural(&p->order);
}

static void map_matrices(const lat_geometry *geom, const lat_payload *p, size_t first, size_t n,
                         size_t *to)
{
    const size_t nd = (size_t)geom->nd;
    lat_order_iterator w;
    if (p->map) {
        p->map(geom, first, n, to);
        return;
    }
    if (!p->sites)
        lat_order_start(&w, &p->order, geom, geom->nd, first);
    for (size_t i = 0; i < n; i++) {
        to[i] = p->sites ? p->sites[(first + i) / nd] * nd + (first + i) % nd : w.matrix;
        if (!p->sites && i + 1 < n)
            lat_order_next(&w);
    }
}

/* Between the file's way of storing a matrix and ours; it is its own inverse. */
static void reshape(void *matrix, lat_link_shape shape, size_t nc, size_t real)
{
    unsigned char *m = matrix, z[16];
    if (shape == LAT_QUATERNIONS) { /* q0 q1 q2 q3 to q0 q3 -q2 q1 */
        memcpy(z, m + real, real);
        memcpy(m + real, m + 3 * real, real);
        memcpy(m + 3 * real, z, real);
        if (real == LAT_F64)
            *(double *)(m + 2 * real) *= -1;
        else
            *(float *)(m + 2 * real) *= -1;
    }
    for (size_t a = 0; shape == LAT_BY_COLUMNS && a < nc; a++)
        for (size_t b = 0; b < a; b++) {
            unsigned char *ab = m + 2 * real * (a * nc + b), *ba = m + 2 * real * (b * nc + a);
            memcpy(z, ab, 2 * real);
            memcpy(ab, ba, 2 * real);
            memcpy(ba, z, 2 * real);
        }
}

/* Slices on their way between a file and memory: sites begin .. end-1 of the file, those of whose
 * matrices that are not in the slices are left out. */
typedef struct transfer {
    lat_input *in;
    lat_output *out; /* of writing; NULL: nothing is written, only the checksum is computed */
    bool writes;
    uint64_t offset; /* of the first byte in the file; where all threads read or write */
    const lat_header *head;
    lat_payload *p;
    char *slices;
    size_t begin, end;
    size_t first, matrices;            /* of the slices, in natural order */
    size_t nd, link_reals, full_reals; /* reals of a matrix in the file and in memory */
    size_t site_bytes;                 /* in the file */
    size_t sites;                      /* of a chunk */
    bool swap;                         /* the byte order of the file is not that of this machine */
    bool same_layout; /* the file has the bytes of the field, except for byte order */
} transfer;

static transfer transfer_of(const lat_header *head, lat_payload *p, const void *slices, int first,
                            int count)
{
    const size_t slice = lat_slice_sites(head), nc = (size_t)head->nc;
    transfer w = {.head = head,
                  .p = p,
                  .slices = (char *)slices, /* of writing, they are not changed */
                  .begin = (size_t)first * slice,
                  .end = (size_t)(first + count) * slice,
                  .first = (size_t)first * lat_slice_matrices(head),
                  .matrices = (size_t)count * lat_slice_matrices(head),
                  .nd = (size_t)head->geom.nd,
                  .link_reals = 2 * nc * (size_t)p->rows,
                  .full_reals = 2 * nc * nc,
                  .swap = !p->read_reals && p->big != lat_big_endian(),
                  .same_layout = p->rows == head->nc && !reordered(p)};
    w.site_bytes = w.nd * w.link_reals * (size_t)head->real;
    return w;
}

static void set_chunk(transfer *w, size_t bytes)
{
    const size_t volume = lat_volume(&w->head->geom), fit = bytes / w->site_bytes;
    w->sites = fit < 1 ? 1 : fit > volume ? volume : fit;
}

static size_t transfer_bytes(const transfer *w) { return (w->end - w->begin) * w->site_bytes; }

/* Sites of the chunk that begins at site `at`. */
static size_t chunk_sites(const transfer *w, size_t at)
{
    return w->end - at < w->sites ? w->end - at : w->sites;
}

/* Where the bytes of a chunk are, if the file has the bytes of the field. */
static char *own_address(const transfer *w, size_t at)
{
    return w->slices + (at - w->begin) * w->site_bytes;
}

static void unpack(const transfer *w, size_t matrix, const unsigned char *from)
{
    const size_t real = (size_t)w->head->real;
    char *m = w->slices + matrix * w->full_reals * real;
    copy_reals(m, from, w->link_reals, w->head->real, w->swap);
    reshape(m, w->p->shape, (size_t)w->head->nc, real);
    if (w->p->rows < w->head->nc)
        complete(w->head, w->slices, matrix);
}

static void pack(const transfer *w, size_t matrix, unsigned char *to)
{
    const size_t bytes = w->full_reals * (size_t)w->head->real;
    const char *from = w->slices + matrix * bytes;
    double m[LAT_SUN_REALS];
    if (w->p->shape != LAT_BY_ROWS) {
        memcpy(m, from, bytes);
        reshape(m, w->p->shape, (size_t)w->head->nc, (size_t)w->head->real);
        from = (const char *)m;
    }
    copy_reals(to, from, w->link_reals, w->head->real, w->swap);
}

/* A chunk, from site `at` of the file on, of matrices that are reordered or lack a row. */
static void map_chunk(const transfer *w, unsigned char *chunk, size_t at)
{
    const size_t count = chunk_sites(w, at) * w->nd, bytes = w->link_reals * (size_t)w->head->real;
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < count; first += BATCH) {
        const size_t n = count - first < BATCH ? count - first : BATCH;
        size_t matrix[BATCH];
        map_matrices(&w->head->geom, w->p, at * w->nd + first, n, matrix);
        for (size_t i = 0; i < n; i++)
            if (w->writes)
                pack(w, matrix[i] - w->first, chunk + (first + i) * bytes);
            else if (matrix[i] - w->first < w->matrices) /* not below w->first either */
                unpack(w, matrix[i] - w->first, chunk + (first + i) * bytes);
    }
}

static void add_to_sum(const transfer *w, const unsigned char *chunk, size_t at)
{
    if (w->p->digest)
        w->p->digest(&w->p->sum, chunk, chunk_sites(w, at), w->site_bytes, at);
}

/* Between the bytes of a chunk, as they are in the file, and the field. */
static void convert_chunk(const transfer *w, unsigned char *chunk, size_t at)
{
    const size_t real = (size_t)w->head->real, n = chunk_sites(w, at) * w->site_bytes / real;
    if (!w->writes)
        add_to_sum(w, chunk, at);
    if (!w->same_layout)
        map_chunk(w, chunk, at);
    else if (w->writes)
        copy_many(chunk, own_address(w, at), n, w->head->real, w->swap);
    else if (w->swap)
        copy_many(chunk, chunk, n, w->head->real, true);
    if (w->writes)
        add_to_sum(w, chunk, at);
}

/* Moves a chunk where other threads move others. */
static bool move_parallel(const transfer *w, size_t at, unsigned char *chunk)
{
    const uint64_t offset = w->offset + (at - w->begin) * w->site_bytes;
    const size_t bytes = chunk_sites(w, at) * w->site_bytes;
    if (!w->writes && !lat_input_pread(w->in, offset, chunk, bytes))
        return false;
    convert_chunk(w, chunk, at);
    if (w->out)
        lat_output_write_at(w->out, offset, chunk, bytes);
    return true;
}

/* Moves the next one. 0 or -1. */
static int move_next(const transfer *w, size_t at, unsigned char *chunk)
{
    const size_t bytes = chunk_sites(w, at) * w->site_bytes;
    if (w->p->read_reals && !w->writes) {
        if (w->p->read_reals(w->in, w->p, chunk, bytes / (size_t)w->head->real) < 0)
            return -1;
    } else if (!w->writes && lat_input_read(w->in, chunk, bytes) < 0) {
        return -1;
    }
    convert_chunk(w, chunk, at);
    return w->writes ? lat_output_write(w->out, chunk, bytes) : 0;
}

/* All threads at once: false where one could not, and then it has left a sentence or could not
 * read. */
static bool all_threads(transfer *w)
{
    const bool own = w->same_layout && !w->writes;
    bool good = true;
    set_chunk(w, PARALLEL_CHUNK);
#pragma omp parallel reduction(&& : good)
    {
        unsigned char *buf = own ? NULL : lat_alloc(w->sites, w->site_bytes, "a chunk of links");
        good = own || buf;
#pragma omp for schedule(dynamic)
        for (size_t at = w->begin; at < w->end; at += w->sites)
            good = good && move_parallel(w, at, own ? (unsigned char *)own_address(w, at) : buf);
        free(buf);
    }
    return good;
}

static int one_by_one(transfer *w)
{
    const bool own = w->same_layout && !w->writes;
    set_chunk(w, SERIAL_CHUNK);
    unsigned char *buf = own ? NULL : lat_alloc(w->sites, w->site_bytes, "a chunk of links");
    int bad = own || buf ? 0 : -1;
    for (size_t at = w->begin; at < w->end && !bad; at += w->sites)
        bad = move_next(w, at, own ? (unsigned char *)own_address(w, at) : buf);
    free(buf);
    return bad ? -1 : 0;
}

int lat_payload_read(lat_input *in, const lat_header *head, lat_payload *p, void *slices, int first,
                     int count)
{
    if (p->read_links)
        return p->read_links(in, head, p, slices);
    transfer w = transfer_of(head, p, slices, first, count);
    const lat_sum before = p->sum;
    w.in = in;
    w.offset = lat_input_offset(in);
    if (!p->read_reals && lat_input_size(in) >= 0) {
        if (all_threads(&w))
            return lat_input_skip(in, transfer_bytes(&w)) < 0 ? -1 : 0;
        p->sum = before; /* nothing is taken: one by one finds out what could not be read */
        lat_error_clear();
    }
    return one_by_one(&w);
}

/* Sites w->begin .. w->end-1 of the file, whose links begin at byte `links`. */
static int pick(transfer *w, uint64_t links)
{
    const lat_sum before = w->p->sum;
    const uint64_t skipped = w->begin * w->site_bytes;
    w->offset = links + skipped;
    if (all_threads(w))
        return 0;
    w->p->sum = before; /* as in lat_payload_read */
    lat_error_clear();
    return lat_input_skip(w->in, skipped) < 0 || one_by_one(w) < 0 ? -1
                                                                   : lat_input_rewind(w->in, links);
}

int lat_payload_pick(lat_input *in, uint64_t links, const lat_header *head, lat_payload *p,
                     void *slices, int first, int count)
{
    const size_t nd = (size_t)head->geom.nd, n = pieces(p, head), all = (size_t)lat_slices(head),
                 piece = lat_header_matrices(head) / n, slice = piece / all;
    transfer w = transfer_of(head, p, slices, first, count);
    int rc = 0;
    w.in = in;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const size_t from = i * piece + (size_t)first * slice;
        w.begin = from / nd;
        w.end = (from + (size_t)count * slice + nd - 1) / nd;
        rc = pick(&w, links);
    }
    if (rc || !p->map || (size_t)count == all)
        return rc;
    w.begin = (size_t)(first + count) % all * lat_slice_sites(head);
    w.end = w.begin + lat_slice_sites(head);
    return pick(&w, links);
}

int lat_payload_write(lat_output *out, const lat_header *head, lat_payload *p, const void *slices,
                      int first, int count)
{
    transfer w = transfer_of(head, p, slices, first, count);
    w.out = out;
    w.writes = true;
    if (out && !lat_output_reserve(out, transfer_bytes(&w), &w.offset))
        return one_by_one(&w);
    return all_threads(&w) && (!out || lat_output_flush(out) == 0) ? 0 : -1;
}

double lat_payload_fit(const lat_payload *p, int nc, lat_real real, const unsigned char *bytes,
                       size_t n)
{
    const size_t reals = 2 * (size_t)nc * (size_t)p->rows, each = reals * (size_t)real;
    size_t good = 0;
    for (size_t at = 0; at + each <= n; at += each) {
        double d[LAT_SUN_REALS], m[LAT_SUN_REALS];
        float s[LAT_SUN_REALS];
        copy_reals(real == LAT_F64 ? (void *)d : (void *)s, bytes + at, reals, real,
                   p->big != lat_big_endian());
        reshape(real == LAT_F64 ? (void *)d : (void *)s, p->shape, (size_t)nc, (size_t)real);
        for (size_t k = 0; k < reals; k++)
            m[k] = real == LAT_F64 ? d[k] : (double)s[k];
        if (p->rows < nc)
            lat_sun_complete(nc, m);
        good += lat_sun_unitarity(nc, m) < 1e-2;
    }
    return n >= each ? (double)good / (double)(n / each) : 0;
}
