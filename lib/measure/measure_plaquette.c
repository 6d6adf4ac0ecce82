/* SPDX-License-Identifier: BSD-3-Clause */
/* measure_plaquette.c: plaquette, link trace and deviation from SU(N), slice by slice.
 *
 * Eight sites at a time, one in each lane of a vector. The text is compiled for the vector lengths
 * of x86, one of which is chosen at run time. Each chunk of a slice has its own sums, which are
 * added in the order of the chunks. */
#include <math.h>
#include <stdlib.h>
#include "lattice/boundary.h"
#include "lattice/simd8.h"
#include "base/threads.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/isa.h"
#include "measure.h"
#include "lattice/slices.h"

enum { WIDTH = LAT_SIMD8 };
typedef lat_simd8 vec;
typedef long mask __attribute__((vector_size(8 * WIDTH)));

/* Consecutive slices in memory, and the one after them. */
typedef struct slice_range {
    const lat_header *head;
    lat_field slice; /* for its extents: 1 along the last axis */
    const char *at, *after;
    int count;
    bool group;     /* distances from SU(N), too */
    bool completed; /* the third row follows from the others (lattice/field.h) */
    unsigned open;  /* bit mu: links along mu may be missing (lattice/boundary.h) */
    size_t sites, site_bytes, matrix_bytes;
} slice_range;

/* Eight sites: addresses of their links, and of the links at x + mu. */
typedef struct addresses {
    const char *here[WIDTH], *up[LAT_MAX_DIMS][WIDTH];
    vec weight; /* 1; 0 for a lane that repeats the last site of a chunk */
} addresses;

/* The next eight sites of the iterator in slice t, or `left` if fewer; then the other lanes repeat
 * the last. */
LAT_INLINE void gather(const slice_range *w, size_t t, lat_iterator *it, size_t left, addresses *a)
{
    const int last = w->slice.head.geom.nd - 1;
    const char *slice = w->at + t * w->sites * w->site_bytes;
    const char *next = t + 1 < (size_t)w->count ? slice + w->sites * w->site_bytes : w->after;
    for (size_t l = 0; l < WIDTH; l++) {
        a->weight[l] = l < left;
        a->here[l] = slice + it->site * w->site_bytes;
        for (int mu = 0; mu < last; mu++)
            a->up[mu][l] = slice + lat_iterator_up(it, mu) * w->site_bytes;
        a->up[last][l] = next + it->site * w->site_bytes;
        if (l + 1 < left)
            lat_iterator_next(it);
    }
}

/* Element j of the third row that the first two have in SU(3), conj(a x b). */
LAT_INLINE void third_row(const vec *m, int j, vec *re, vec *im)
{
    const vec *a = m, *b = m + 6;
    const int p = 2 * ((j + 1) % 3), q = 2 * ((j + 2) % 3);
    *re = a[p] * b[q] - a[p + 1] * b[q + 1] - a[q] * b[p] + a[q + 1] * b[p + 1];
    *im = a[q] * b[p + 1] + a[q + 1] * b[p] - a[p] * b[q + 1] - a[p + 1] * b[q];
}

/* The links mu of eight sites. */
LAT_INLINE void load(const slice_range *w, const char *const *site, int mu, int n, vec *m)
{
    lat_simd8_load(site, (size_t)mu * w->matrix_bytes, w->head->real, n, m);
    for (int j = 0; n == 3 && w->completed && j < 3; j++)
        third_row(m, j, &m[12 + 2 * j], &m[13 + 2 * j]);
}

/* Re tr a b (d c)^+ */
LAT_INLINE vec trace(int n, const vec *a, const vec *b, const vec *c, const vec *d)
{
    vec sum = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            vec re[2] = {{0}}, im[2] = {{0}};
            for (int k = 0; k < n; k++) {
                const vec *p = a + 2 * (i * n + k), *q = b + 2 * (k * n + j);
                const vec *r = d + 2 * (i * n + k), *s = c + 2 * (k * n + j);
                re[0] += p[0] * q[0] - p[1] * q[1];
                im[0] += p[0] * q[1] + p[1] * q[0];
                re[1] += r[0] * s[0] - r[1] * s[1];
                im[1] += r[0] * s[1] + r[1] * s[0];
            }
            sum += re[0] * re[1] + im[0] * im[1];
        }
    return sum;
}

LAT_INLINE vec larger(vec a, vec b)
{
    const mask take = a > b;
    return (vec)((take & (mask)a) | (~take & (mask)b));
}

/* The largest |element|^2 of m m^+ - 1: of larger N, as the next. */
LAT_INLINE vec off_unitary(int n, const vec *m)
{
    vec largest = {0};
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            vec re = {0}, im = {0};
            for (int k = 0; k < n; k++) {
                const vec *p = m + 2 * (i * n + k), *q = m + 2 * (j * n + k);
                re += p[0] * q[0] + p[1] * q[1];
                im += p[1] * q[0] - p[0] * q[1];
            }
            re -= i == j ? 1 : 0;
            largest = larger(re * re + im * im, largest);
        }
    return largest;
}

/* |det m - 1|^2 by elimination, one lane after the other. */
LAT_INLINE vec off_determinant(int n, const vec *m)
{
    vec re = {0}, im = {0};
    for (int l = 0; l < WIDTH; l++) {
        double one[LAT_SUN_REALS], det[2];
        for (int k = 0; k < 2 * n * n; k++)
            one[k] = m[k][l];
        lat_sun_det(n, one, det);
        re[l] = det[0];
        im[l] = det[1];
    }
    return (re - 1) * (re - 1) + im * im;
}

/* The square of a distance from SU(2) or SU(3): the rows before the last have length 1 and are
 * orthogonal, and make the last one; then m m^+ = 1 and det m = 1. */
LAT_INLINE vec off_rows(int n, const vec *m)
{
    const vec *a = m, *b = m + 2 * n, *last = m + 2 * n * (n - 1);
    vec sum = {0};
    for (int i = 0; i + 1 < n; i++) {
        vec norm = {0};
        for (int k = 0; k < 2 * n; k++)
            norm += m[2 * n * i + k] * m[2 * n * i + k];
        sum += (norm - 1) * (norm - 1);
    }
    if (n == 3) {
        vec re = {0}, im = {0};
        for (int k = 0; k < 6; k += 2) {
            re += a[k] * b[k] + a[k + 1] * b[k + 1];
            im += a[k + 1] * b[k] - a[k] * b[k + 1];
        }
        sum += re * re + im * im;
    }
    for (int j = 0; j < n; j++) {
        vec re, im;
        if (n == 2) { /* (-b*, a*) */
            re = last[2 * j] - (j ? a[0] : -a[2]);
            im = last[2 * j + 1] - (j ? -a[1] : a[3]);
        } else {
            third_row(m, j, &re, &im);
            re = last[2 * j] - re;
            im = last[2 * j + 1] - im;
        }
        sum += re * re + im * im;
    }
    return sum;
}

/* The square of the distance of lat_slice_sums. A link of zeros, where an open boundary has them,
 * is at none. */
LAT_INLINE vec off_group(int n, const vec *m, bool open)
{
    const vec off = n <= 3 ? off_rows(n, m) : larger(off_unitary(n, m), off_determinant(n, m));
    vec norm = {0};
    if (!open)
        return off;
    for (int k = 0; k < 2 * n * n; k++)
        norm += m[k] * m[k];
    return (vec)((mask)off & (norm != 0));
}

LAT_INLINE double sum_lanes(vec v)
{
    double sum = 0;
    for (int l = 0; l < WIDTH; l++)
        sum += v[l];
    return sum;
}

LAT_INLINE double largest_lane(vec v)
{
    double most = 0;
    for (int l = 0; l < WIDTH; l++)
        most = lat_worse(most, v[l]);
    return most;
}

/* The sums of sites from .. to-1 of slice t. */
LAT_INLINE void chunk(const slice_range *w, size_t t, size_t from, size_t to, int n,
                      lat_slice_sums *p)
{
    const int nd = w->slice.head.geom.nd;
    vec sum = {0}, last = {0}, link = {0}, off = {0};
    LAT_SIMD8_MATRIX(here[LAT_MAX_DIMS]);
    LAT_SIMD8_MATRIX(b);
    LAT_SIMD8_MATRIX(c);
    addresses a;
    lat_iterator it;
    lat_iterator_start(&it, &w->slice, from);
    for (size_t i = from; i < to; i += WIDTH) {
        gather(w, t, &it, to - i, &a);
        for (int mu = 0; mu < nd; mu++) {
            load(w, a.here, mu, n, here[mu]);
            for (int k = 0; k < n; k++)
                link += a.weight * here[mu][2 * k * (n + 1)];
            if (w->group)
                off = larger(off_group(n, here[mu], w->open >> mu & 1), off);
        }
        for (int nu = 1; nu < nd; nu++)
            for (int mu = 0; mu < nu; mu++) {
                load(w, a.up[mu], nu, n, b);
                load(w, a.up[nu], mu, n, c);
                const vec one = a.weight * trace(n, here[mu], b, c, here[nu]);
                sum += one;
                if (nu == nd - 1)
                    last += one;
            }
    }
    *p = (lat_slice_sums){sum_lanes(sum), sum_lanes(last), sum_lanes(link),
                          sqrt(largest_lane(off))};
}

LAT_ISA_CLONES(chunk, LAT_FMA,
               (const slice_range *w, size_t t, size_t from, size_t to, lat_slice_sums *p),
               LAT_WITH_COLOURS(w->head->nc, chunk(w, t, from, to, n, p)))

static __typeof__(&chunk_base) const chunks[] = LAT_ISA_EACH(chunk_, );

static lat_slice_sums add_up(const lat_slice_sums *part, size_t n)
{
    lat_slice_sums all = {0};
    for (size_t i = 0; i < n; i++) {
        all.plaquette += part[i].plaquette;
        all.temporal += part[i].temporal;
        all.trace += part[i].trace;
        all.distance = lat_worse(all.distance, part[i].distance);
    }
    return all;
}

int lat_measure_slices(const lat_header *head, const void *slices, int count, const void *after,
                       bool group, lat_slice_sums *sums)
{
    slice_range w = {.head = head,
                     .slice = {.head = {.geom = head->geom}},
                     .at = slices,
                     .after = after,
                     .count = count,
                     .group = group,
                     .completed = lat_header_completed(head),
                     .open = lat_boundary_open(head)};
    w.slice.head.geom.dims[head->geom.nd - 1] = 1;
    w.sites = lat_slice_sites(head);
    w.matrix_bytes = 2 * (size_t)head->nc * (size_t)head->nc * (size_t)head->real;
    w.site_bytes = (size_t)head->geom.nd * w.matrix_bytes;
    const size_t each = (w.sites + LAT_CHUNK - 1) / LAT_CHUNK, all = (size_t)count * each;
    lat_slice_sums *part = lat_alloc(all, sizeof *part, "a measurement");
    const lat_isa isa = lat_isa_widest();
    if (!part)
        return -1;
#pragma omp parallel for schedule(static) if (all > 1)
    for (size_t i = 0; i < all; i++) {
        const size_t from = i % each * LAT_CHUNK, to = from + LAT_CHUNK;
        chunks[isa](&w, i / each, from, to < w.sites ? to : w.sites, &part[i]);
    }
    for (size_t i = 0; i < all; i += each)
        sums[i / each] = add_up(part + i, each);
    free(part);
    return 0;
}

lat_slice_sums lat_measure_total(const lat_header *head, const lat_slice_sums *sums)
{
    return add_up(sums, (size_t)lat_slices(head));
}

void lat_measure_means(const lat_header *head, const lat_slice_sums *all, double *plaquette,
                       double *link_trace)
{
    const int nd = head->geom.nd;
    const double sites = (double)lat_volume(&head->geom) * head->nc;
    *plaquette = nd > 1 ? all->plaquette / (sites * (nd * (nd - 1) / 2)) : NAN;
    *link_trace = all->trace / (sites * nd);
}

/* ---- slice by slice -------------------------------------------------------------------------- */

struct lat_slicewise {
    const lat_header *head;
    bool group;
    int added; /* slices */
    lat_slice_sums *sums;
    void *first;      /* a copy of the first slice */
    const void *last; /* the last one added, measured when the next one is there */
};

lat_slicewise *lat_slicewise_new(const lat_header *head, bool group)
{
    const size_t slices = (size_t)lat_slices(head);
    lat_slicewise *s = lat_alloc(1, sizeof *s, "a measurement");
    if (!s)
        return NULL;
    *s = (lat_slicewise){.head = head, .group = group};
    s->sums = lat_alloc(slices, sizeof *s->sums, "a measurement");
    s->first = lat_alloc(1, lat_slice_bytes(head), "a slice");
    if (s->sums && s->first)
        return s;
    lat_slicewise_free(s);
    return NULL;
}

int lat_slicewise_add(lat_slicewise *s, const void *slices, int count)
{
    const char *at = slices, *last = at + (size_t)(count - 1) * lat_slice_bytes(s->head);
    lat_slice_sums *sums = s->sums + s->added;
    if (s->added == 0)
        lat_memcpy(s->first, slices, lat_slice_bytes(s->head));
    else if (lat_measure_slices(s->head, s->last, 1, slices, s->group, sums - 1) < 0)
        return -1;
    if (count > 1 && lat_measure_slices(s->head, slices, count - 1, last, s->group, sums) < 0)
        return -1;
    s->last = last;
    s->added += count;
    return s->added < lat_slices(s->head)
               ? 0
               : lat_measure_slices(s->head, last, 1, s->first, s->group, s->sums + s->added - 1);
}

int lat_slicewise_end(lat_slicewise *s, lat_slice_sums *all)
{
    if (s->added != lat_slices(s->head))
        return lat_fail("%d slices were measured, expected %d", s->added, lat_slices(s->head));
    *all = lat_measure_total(s->head, s->sums);
    return 0;
}

void lat_slicewise_free(lat_slicewise *s)
{
    if (!s)
        return;
    LAT_FREE(s->sums, s->first, s);
}
