/* SPDX-License-Identifier: BSD-3-Clause */
/* gauss.c: Gaussian smearing, a slice at a time, and of it as many spins as a vector has lanes: all
 * their steps, so that they stay in the second caches. */
#include "gauss.h"

#include <stdint.h>
#include "base/isa.h"
#include "base/memory.h"
#include "lattice/iterate.h"

typedef struct job {
    const double *links;  /* of the slice: [site][x, y, z][2 N N] */
    const uint32_t *next; /* [site][x+, y+, z+, x-, y-, z-], sites of the slice */
    int lanes;            /* spins side by side: 2, 4 or 8 */
    double keep, a;       /* to = keep from + a sum of hops, */
    const double *from;   /* [site][colour][re, im][lane] */
    double *to;
} job;

#define LANES 2
#define AS(name) name##2
#include "gauss_lanes.h"
#define LANES 4
#define AS(name) name##4
#include "gauss_lanes.h"
#define LANES 8
#define AS(name) name##8
#include "gauss_lanes.h"

static void sites_base(const job *j, size_t from, size_t to, int n)
{
    n == 3 ? sites2(j, from, to, 3) : n == 2 ? sites2(j, from, to, 2) : sites2(j, from, to, n);
}

#if defined(__x86_64__)
LAT_TARGET_AVX2(LAT_FMA) static void sites_avx2(const job *j, size_t from, size_t to, int n)
{
    n == 3 ? sites4(j, from, to, 3) : n == 2 ? sites4(j, from, to, 2) : sites4(j, from, to, n);
}

LAT_TARGET_AVX512(LAT_FMA) static void sites_avx512(const job *j, size_t from, size_t to, int n)
{
    if (j->lanes == 4)
        n == 3 ? sites4(j, from, to, 3) : sites4(j, from, to, n);
    else
        n == 3 ? sites8(j, from, to, 3) : sites8(j, from, to, n);
}
#endif

static __typeof__(&sites_base) const kinds[] = LAT_ISA_EACH(sites_, );

/* What all spins of a slice share, and where some of them are while they are smeared. */
typedef struct slice {
    size_t sites;
    double *links, *a, *b;
    uint32_t *next;
} slice;

static void slice_free(slice *s) { LAT_FREE(s->links, s->a, s->b, s->next); }

static int slice_new(slice *s, const lat_field *u, int t)
{
    static const char what[] = "a smeared slice";
    const int n = u->head.nc;
    const size_t link = 2 * (size_t)(n * n), most = LAT_ISA_MOST_DOUBLES * 2 * (size_t)n;
    s->sites = lat_slice_sites(&u->head);
    s->links = lat_alloc(s->sites * 3, link * sizeof *s->links, what);
    s->next = lat_alloc(s->sites * 6, sizeof *s->next, what);
    s->a = lat_alloc(s->sites, most * sizeof *s->a, what);
    s->b = lat_alloc(s->sites, most * sizeof *s->b, what);
    if (!s->links || !s->next || !s->a || !s->b) {
        slice_free(s);
        return -1;
    }
    const size_t first = s->sites * (size_t)t;
    enum { SOME = 256 };
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < s->sites; from += SOME) {
        const size_t to = from + SOME < s->sites ? from + SOME : s->sites;
        lat_iterator w;
        for (lat_iterator_start(&w, u, first + from); w.site < first + to; lat_iterator_next(&w))
            for (int mu = 0; mu < 3; mu++) {
                const size_t x = w.site - first;
                s->next[6 * x + (size_t)mu] = (uint32_t)(lat_iterator_up(&w, mu) - first);
                s->next[6 * x + 3 + (size_t)mu] = (uint32_t)(lat_iterator_down(&w, mu) - first);
                lat_load(u, w.site * 4 + (size_t)mu, n, s->links + (3 * x + (size_t)mu) * link);
            }
    }
    return 0;
}

/* Spins from number `spin` on, of all columns, as many as the lanes are, to lanes and back: psi is
 * [site][column, spin][2N]. */
static void move_spins(int n, size_t sites, int spins, int spin, int lanes, double *in_lanes,
                       double *psi, bool back)
{
    const size_t row = 2 * (size_t)n;
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < sites; x++)
        for (int lane = 0; lane < lanes; lane++) {
            double *p = psi + (x * (size_t)spins + (size_t)(spin + lane)) * row,
                   *q = in_lanes + x * row * (size_t)lanes + lane;
            for (size_t k = 0; k < row; k++)
                if (back)
                    p[k] = q[k * (size_t)lanes];
                else
                    q[k * (size_t)lanes] = p[k];
        }
}

int lat_gauss_slice(const lat_field *u, int t, double width, int steps, int columns, double *psi)
{
    const lat_isa isa = lat_isa_widest();
    const int n = u->head.nc, spins = 4 * columns, most = lat_isa_doubles(isa);
    slice s;
    if (steps == 0)
        return 0;
    if (slice_new(&s, u, t))
        return -1;
    const double a = width * width / (4 * steps);
    for (int spin = 0, lanes; spin < spins; spin += lanes) {
        lanes = spins - spin < most ? 4 : most;
        move_spins(n, s.sites, spins, spin, lanes, s.a, psi, false);
        for (int i = 0; i < steps; i++) {
            double *const ends[] = {s.a, s.b};
            const job j = {s.links, s.next, lanes, 1 - 6 * a, a, ends[i % 2], ends[1 - i % 2]};
#pragma omp parallel for schedule(static)
            for (size_t from = 0; from < s.sites; from += 64)
                kinds[isa](&j, from, from + 64 < s.sites ? from + 64 : s.sites, n);
        }
        move_spins(n, s.sites, spins, spin, lanes, steps % 2 ? s.b : s.a, psi, true);
    }
    slice_free(&s);
    return 0;
}
