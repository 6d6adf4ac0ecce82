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

void lat_reals_convert(void *to, lat_real to_real, const void *from, lat_real from_real, size_t n)
{
    const size_t part = THREAD_BYTES / 8;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += part) {
        const size_t end = n - i < part ? n : i + part;
        if (to_real == from_real)
            memcpy((char *)to + i * (size_t)to_real, (const char *)from + i * (size_t)to_real,
                   (end - i) * (size_t)to_real);
        else if (to_real == LAT_F64)
            for (size_t k = i; k < end; k++)
                ((double *)to)[k] = (double)((const float *)from)[k];
        else
            for (size_t k = i; k < end; k++)
                ((float *)to)[k] = (float)((const double *)from)[k];
    }
}

void lat_field_swap(lat_field *f)
{
    const size_t total = lat_field_reals(f), part = THREAD_BYTES / 8;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < total; i += part) {
        char *at = (char *)f->data + i * (size_t)f->head.real;
        lat_reals_swap_bytes(at, at, total - i < part ? total - i : part, f->head.real);
    }
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

/* Sizes, for reading and for writing. */
typedef struct layout {
    size_t volume, nd;
    size_t link_reals, full_reals; /* of a matrix in the file and in memory */
    size_t site_bytes;             /* in the file */
    size_t sites;                  /* of a chunk */
    bool swap;                     /* the byte order of the file is not that of this machine */
} layout;

static layout layout_of(const lat_header *head, const lat_payload *p, size_t chunk)
{
    layout l = {.volume = lat_volume(&head->geom), .nd = (size_t)head->geom.nd};
    l.link_reals = 2 * (size_t)head->nc * (size_t)p->rows;
    l.full_reals = 2 * (size_t)head->nc * (size_t)head->nc;
    l.site_bytes = l.nd * l.link_reals * (size_t)head->real;
    l.sites = chunk / l.site_bytes > 0 ? chunk / l.site_bytes : 1;
    if (l.sites > l.volume)
        l.sites = l.volume;
    l.swap = !p->read_reals && p->big != lat_big_endian();
    return l;
}

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

/* Swaps the bytes of `sites` sites in place, from number `at` of the memory on. */
static void swap_chunk(const lat_header *head, void *data, const layout *l, size_t at, size_t sites)
{
    const size_t n = l->nd * l->full_reals, from = at * n, to = (at + sites) * n,
                 part = THREAD_BYTES / 8;
    if (!l->swap)
        return;
#pragma omp parallel for schedule(static)
    for (size_t i = from; i < to; i += part) {
        char *m = (char *)data + i * (size_t)head->real;
        lat_reals_swap_bytes(m, m, to - i < part ? to - i : part, head->real);
    }
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

/* Unpacks a chunk, from site `first` of the file on, of matrices that are reordered or lack a row.
 * `before`: matrices of the field before those in memory. */
static void unpack_chunk(const lat_header *head, void *data, const lat_payload *p, const layout *l,
                         const unsigned char *chunk, size_t first, size_t sites, size_t before)
{
    const size_t real = (size_t)head->real, count = sites * l->nd;
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < count; at += BATCH) {
        const size_t n = count - at < BATCH ? count - at : BATCH;
        size_t to[BATCH];
        map_matrices(&head->geom, p, first * l->nd + at, n, to);
        for (size_t i = 0; i < n; i++) {
            char *m = (char *)data + (to[i] - before) * l->full_reals * real;
            copy_reals(m, chunk + (at + i) * l->link_reals * real, l->link_reals, head->real,
                       l->swap);
            reshape(m, p->shape, (size_t)head->nc, real);
            if (p->rows < head->nc)
                complete(head, data, to[i] - before);
        }
    }
}

/* Slices to be read or written: sites begin .. end-1 of the file. */
typedef struct transfer {
    const lat_header *head;
    lat_payload *p;
    layout l;
    size_t begin, end;
    bool same_layout; /* the file has the bytes of the field, except for byte order */
} transfer;

static transfer transfer_of(const lat_header *head, lat_payload *p, int first, int count,
                            size_t chunk)
{
    const size_t slice = lat_slice_sites(head), begin = (size_t)first * slice;
    return (transfer){.head = head,
                      .p = p,
                      .l = layout_of(head, p, chunk),
                      .begin = begin,
                      .end = begin + (size_t)count * slice,
                      .same_layout = p->rows == head->nc && !reordered(p)};
}

static size_t transfer_bytes(const transfer *w) { return (w->end - w->begin) * w->l.site_bytes; }

/* Sites of the chunk that begins at site `at`. */
static size_t chunk_sites(const transfer *w, size_t at)
{
    return w->end - at < w->l.sites ? w->end - at : w->l.sites;
}

/* Where the bytes of a chunk are read to: `buf`, or, if that is NULL, their final address. */
static unsigned char *read_address(const transfer *w, void *slices, size_t at, unsigned char *buf)
{
    return buf ? buf : (unsigned char *)slices + (at - w->begin) * w->l.site_bytes;
}

/* Adds a chunk of the file to the checksum and converts it to the field. */
static void convert_chunk(const transfer *w, void *slices, size_t at, const unsigned char *chunk)
{
    const size_t sites = chunk_sites(w, at);
    if (w->p->digest)
        w->p->digest(&w->p->sum, chunk, sites, w->l.site_bytes, at);
    if (w->same_layout)
        swap_chunk(w->head, slices, &w->l, at - w->begin, sites);
    else
        unpack_chunk(w->head, slices, w->p, &w->l, chunk, at, sites, w->begin * w->l.nd);
}

/* Reads a file with all threads at once: 1 when all is read, -1, or 0 if something could not be
 * read: then nothing is taken, and read_serial finds out what it was. */
static int read_parallel(lat_input *in, const transfer *w, void *slices)
{
    const uint64_t offset = lat_input_offset(in);
    const lat_sum before = w->p->sum;
    bool good = true;
#pragma omp parallel reduction(&& : good)
    {
        unsigned char *buf = w->same_layout ? NULL : malloc(w->l.sites * w->l.site_bytes);
#pragma omp for schedule(dynamic)
        for (size_t at = w->begin; at < w->end; at += w->l.sites) {
            unsigned char *chunk = read_address(w, slices, at, buf);
            good = good && (w->same_layout || buf)
                   && lat_input_pread(in, offset + (at - w->begin) * w->l.site_bytes, chunk,
                                      chunk_sites(w, at) * w->l.site_bytes);
            if (good)
                convert_chunk(w, slices, at, chunk);
        }
        free(buf);
    }
    if (good)
        return lat_input_skip(in, transfer_bytes(w)) < 0 ? -1 : 1;
    w->p->sum = before;
    return 0;
}

/* Reads one chunk after the other. */
static int read_serial(lat_input *in, const transfer *w, void *slices)
{
    lat_payload *p = w->p;
    unsigned char *buf = w->same_layout
                             ? NULL
                             : lat_alloc(w->l.sites, w->l.site_bytes, "a chunk of links");
    int bad = w->same_layout || buf ? 0 : -1;
    for (size_t at = w->begin; at < w->end && !bad; at += w->l.sites) {
        const size_t sites = chunk_sites(w, at);
        unsigned char *chunk = read_address(w, slices, at, buf);
        bad = p->read_reals ? p->read_reals(in, p, chunk, sites * w->l.nd * w->l.link_reals)
                            : lat_input_read(in, chunk, sites * w->l.site_bytes);
        if (!bad)
            convert_chunk(w, slices, at, chunk);
    }
    free(buf);
    return bad ? -1 : 0;
}

int lat_payload_read(lat_input *in, const lat_header *head, lat_payload *p, void *slices, int first,
                     int count)
{
    if (p->read_links)
        return p->read_links(in, head, p, slices);
    const transfer parallel = transfer_of(head, p, first, count, PARALLEL_CHUNK),
                   serial = transfer_of(head, p, first, count, SERIAL_CHUNK);
    const int rc = !p->read_reals && lat_input_size(in) >= 0 ? read_parallel(in, &parallel, slices)
                                                             : 0;
    return rc ? (rc < 0 ? -1 : 0) : read_serial(in, &serial, slices);
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

/* Packs a matrix of a field as the file stores it. */
static void pack(const lat_payload *p, const layout *l, void *to, const void *from, size_t nc,
                 lat_real real)
{
    double m[LAT_SUN_REALS];
    if (p->shape != LAT_BY_ROWS) {
        memcpy(m, from, l->full_reals * (size_t)real);
        reshape(m, p->shape, nc, (size_t)real);
        from = m;
    }
    copy_reals(to, from, l->link_reals, real, l->swap);
}

/* The inverse of unpack_chunk. */
static void pack_chunk(const lat_header *head, const void *data, const lat_payload *p,
                       const layout *l, unsigned char *chunk, size_t first, size_t sites,
                       size_t before)
{
    const size_t real = (size_t)head->real, count = sites * l->nd;
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < count; at += BATCH) {
        const size_t n = count - at < BATCH ? count - at : BATCH;
        size_t from[BATCH];
        map_matrices(&head->geom, p, first * l->nd + at, n, from);
        for (size_t i = 0; i < n; i++)
            pack(p, l, chunk + (at + i) * l->link_reals * real,
                 (const char *)data + (from[i] - before) * l->full_reals * real, (size_t)head->nc,
                 head->real);
    }
}

/* Makes the chunk that begins at site `at`, as it is in the file, and adds it to the checksum. */
static void make_chunk(const transfer *w, const void *slices, size_t at, unsigned char *chunk)
{
    const size_t sites = chunk_sites(w, at), real = (size_t)w->head->real,
                 n = sites * w->l.site_bytes / real, part = THREAD_BYTES / real;
    const char *from = (const char *)slices
                       + (at - w->begin) * w->l.site_bytes; /* if same_layout */
    if (w->same_layout) {
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < n; i += part)
            copy_reals(chunk + i * real, from + i * real, n - i < part ? n - i : part,
                       w->head->real, w->l.swap);
    } else {
        pack_chunk(w->head, slices, w->p, &w->l, chunk, at, sites, w->begin * w->l.nd);
    }
    if (w->p->digest)
        w->p->digest(&w->p->sum, chunk, sites, w->l.site_bytes, at);
}

/* Writes with all threads at once; with out NULL it computes the checksum only. */
static int write_parallel(lat_output *out, uint64_t offset, const transfer *w, const void *slices)
{
    bool good = true;
#pragma omp parallel reduction(&& : good)
    {
        unsigned char *chunk = lat_alloc(w->l.sites, w->l.site_bytes, "a chunk of links");
        good = chunk != NULL;
#pragma omp for schedule(dynamic)
        for (size_t at = w->begin; at < w->end; at += w->l.sites) {
            if (!good)
                continue;
            make_chunk(w, slices, at, chunk);
            if (out)
                lat_output_write_at(out, offset + (at - w->begin) * w->l.site_bytes, chunk,
                                    chunk_sites(w, at) * w->l.site_bytes);
        }
        free(chunk);
    }
    return good && (!out || lat_output_flush(out) == 0) ? 0 : -1;
}

/* Writes one chunk after the other. */
static int write_serial(lat_output *out, const transfer *w, const void *slices)
{
    unsigned char *chunk = lat_alloc(w->l.sites, w->l.site_bytes, "a chunk of links");
    int bad = chunk ? 0 : -1;
    for (size_t at = w->begin; at < w->end && !bad; at += w->l.sites) {
        make_chunk(w, slices, at, chunk);
        bad = lat_output_write(out, chunk, chunk_sites(w, at) * w->l.site_bytes);
    }
    free(chunk);
    return bad ? -1 : 0;
}

int lat_payload_write(lat_output *out, const lat_header *head, lat_payload *p, const void *slices,
                      int first, int count)
{
    const transfer parallel = transfer_of(head, p, first, count, PARALLEL_CHUNK),
                   serial = transfer_of(head, p, first, count, SERIAL_CHUNK);
    uint64_t offset = 0;
    if (!out || lat_output_reserve(out, transfer_bytes(&parallel), &offset))
        return write_parallel(out, offset, &parallel, slices);
    return write_serial(out, &serial, slices);
}
