/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-gluon: the gluon propagator in momentum space, of configurations in Landau, Coulomb or
 * maximally Abelian gauge (docs/conventions.md, "Gluon propagator"), and the three-gluon vertex. */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fix/fix.h"
#include "fourier/fourier.h"
#include "lattice/boundary.h"
#include "base/error.h"
#include "base/memory.h"
#include "measure/abelian.h"
#include "measure/gluon_vertex.h"
#include "measure/measure.h"
#include "common/options.h"
#include "formats/fields.h"
#include "stream/stream.h"
#include "common/text.h"
#include "run/gauge_options.h"
#include "run/tool.h"
#include "lattice/iterate.h"

enum { ORBITS, NONE };

/* Colours that are averaged: all; in maximally Abelian gauge those of diagonal matrices, and the
 * others. */
enum { ALL, DIAGONAL, OFF_DIAGONAL };
static const char *const colours_names[] = {"all", "diagonal", "off-diagonal"};

static int average = ORBITS, device;
static double cylinder = NAN, cone = NAN; /* no cut */
static long largest = 8;
static bool mean, vertex;

static const lat_option options[] = {
    LAT_GAUGE_OPTIONS("landau|coulomb|mag"),
    {LAT_OPT_CHOICE, "average", 0, "orbits|none", &average, 0, 0,
     "average over momenta that symmetries of the lattice make equal (reflections, axes of equal "
     "extent), or not",
     false},
    {LAT_OPT_REAL, "cylinder", 0, "R", &cylinder, 0, 1e9,
     "keep only momenta within R * 2 pi / X of the diagonal, X being the first extent (default: "
     "all)",
     false},
    {LAT_OPT_REAL, "cone", 0, "DEGREES", &cone, 0, 180,
     "keep only momenta within this angle of the diagonal (default: all)", false},
    {LAT_OPT_FLAG, "vertex", 0, NULL, &vertex, 0, 0,
     "the three-gluon vertex instead, in Landau gauge, in the soft and the symmetric limit", false},
    {LAT_OPT_INT, "momenta", 0, "N2", &largest, 1, 100000,
     "of --vertex: momenta 2 pi n/L with n^2 up to N2", false},
    {LAT_OPT_CHOICE, "device", 0, LAT_DEVICES, &device, 0, 0,
     "device of the Fourier transforms: cpu is FFTW, gpu is cuFFT; auto: the faster one", false},
    {LAT_OPT_FLAG, "mean", 0, NULL, &mean, 0, 0,
     "print one table, the mean over all configurations, with its error (of vertices that of the "
     "jackknife)",
     true},
    LAT_REQUIRE_OPTION,
    LAT_PRINT_OPTIONS("momentum", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-gluon",
    .args = "[FILE...]",
    .summary =
        "Measures the gluon propagator in momentum space, in Landau or Coulomb gauge, and the "
        "three-gluon vertex.",
    .example =
        "lat-orelax --gauge landau --theta 1e-14 cfg.0100.lat | lat-gluon --tsv --cylinder 1",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
};

/* ---- the momenta ----------------------------------------------------------------------------- */

/* An orbit: momenta that the symmetries of the lattice map on each other; without --average one
 * momentum. D and L are means over its members. */
typedef struct orbit {
    int n[LAT_MAX_DIMS]; /* one of them: p_mu = 2 pi n_mu / L_mu */
    long members;        /* among all V momenta; p and -p are two members with one value */
    long independent;    /* independent values among them */
    double p, phat2, distance, angle;
    double d, d2, l; /* sums over members, then means */
    double error;
} orbit;

/* The directions of the gauge condition, the lattice of momenta, and the orbit of each momentum. */
typedef struct momenta {
    lat_geometry geom;
    int time;                   /* -1: Landau gauge */
    int nd, axis[LAT_MAX_DIMS]; /* the directions, in rising order */
    int extent[LAT_MAX_DIMS];   /* of these */
    size_t sites, slices;       /* sites of a slice; slices */
    size_t half;                /* momenta with 0 <= n_0 <= extent_0 / 2, which the FFT gives */
    size_t *of;                 /* [half] -> orbit */
    size_t orbits;
    orbit *orbit; /* rising in phat2 */
} momenta;

static void momenta_free(momenta *m)
{
    free(m->of);
    free(m->orbit);
    *m = (momenta){.of = NULL};
}

/* n of momentum number h of the half spectrum. */
static void momentum(const momenta *m, size_t h, int n[LAT_MAX_DIMS])
{
    const size_t first = (size_t)m->extent[0] / 2 + 1;
    n[0] = (int)(h % first);
    h /= first;
    for (int i = 1; i < m->nd; i++) {
        n[i] = (int)(h % (size_t)m->extent[i]);
        h /= (size_t)m->extent[i];
        n[i] -= 2 * n[i] > m->extent[i] ? m->extent[i] : 0;
    }
}

/* How many momenta n of the half spectrum stands for: p and -p, unless both are in it, where n_0 is
 * 0 or at the edge of the Brillouin zone. */
static long weight(const momenta *m, const int *n)
{
    return n[0] == 0 || 2 * n[0] == m->extent[0] ? 1 : 2;
}

/* Is p = -p, modulo 2 pi? */
static bool is_own_negative(const momenta *m, const int *n)
{
    for (int i = 0; i < m->nd; i++)
        if (n[i] != 0 && 2 * abs(n[i]) != m->extent[i])
            return false;
    return true;
}

/* The member that stands for its orbit: no component negative, falling along axes of one length. */
static void representative(const momenta *m, int *n)
{
    for (int i = 0; i < m->nd; i++)
        n[i] = abs(n[i]);
    for (int pass = 0; pass < m->nd; pass++)
        for (int i = 0; i < m->nd; i++)
            for (int j = i + 1; j < m->nd; j++)
                if (m->extent[i] == m->extent[j] && n[i] < n[j]) {
                    const int larger = n[j];
                    n[j] = n[i];
                    n[i] = larger;
                }
}

/* |p|, phat^2, and distance and angle from the nearest diagonal of the lattice of momenta, the
 * direction in which lattice artefacts are smallest (Leinweber et al., hep-lat/9811027). */
static void set_kinematics(const momenta *m, orbit *o)
{
    double p2 = 0, along = 0;
    for (int i = 0; i < m->nd; i++) {
        const double p = 2 * M_PI * abs(o->n[i]) / m->extent[i], s = 2 * sin(p / 2);
        o->phat2 += s * s;
        p2 += p * p;
        along += p / sqrt(m->nd);
    }
    o->p = sqrt(p2);
    const double away = sqrt(fmax(p2 - along * along, 0));
    o->distance = away / (2 * M_PI / m->extent[0]);
    o->angle = atan2(away, along) * 180 / M_PI;
}

typedef struct key {
    double phat2;
    int n[LAT_MAX_DIMS];
    size_t h;
} key;

static int compare(const void *left, const void *right)
{
    const key *a = left, *b = right;
    for (int i = 0; i < LAT_MAX_DIMS; i++)
        if (a->n[i] != b->n[i])
            return a->n[i] < b->n[i] ? -1 : 1;
    return 0;
}

static int rising(const void *left, const void *right)
{
    const orbit *a = left, *b = right;
    if (fabs(a->phat2 - b->phat2) > 1e-12)
        return a->phat2 < b->phat2 ? -1 : 1;
    for (int i = LAT_MAX_DIMS - 1; i >= 0; i--)
        if (a->n[i] != b->n[i])
            return a->n[i] < b->n[i] ? -1 : 1;
    return 0;
}

/* Collects the momenta of `list` in orbits: m->orbit, in the order of their representatives, and
 * m->of. */
static int make_orbits(momenta *m, key *list)
{
    qsort(list, m->half, sizeof *list, compare);
    m->orbits = 0;
    for (size_t i = 0; i < m->half; i++)
        m->orbits += i == 0 || compare(&list[i - 1], &list[i]);
    if (!(m->orbit = lat_alloc(m->orbits, sizeof *m->orbit, "orbits of momenta")))
        return -1;
    memset(m->orbit, 0, m->orbits * sizeof *m->orbit);
    orbit *o = m->orbit - 1;
    for (size_t i = 0; i < m->half; i++) {
        int n[LAT_MAX_DIMS] = {0};
        if (i == 0 || compare(&list[i - 1], &list[i]))
            memcpy((++o)->n, list[i].n, sizeof o->n);
        momentum(m, list[i].h, n);
        m->of[list[i].h] = (size_t)(o - m->orbit);
        o->members += weight(m, n);
    }
    return 0;
}

/* Sorts the orbits by phat^2: number i becomes number to[i]. */
static int sort_orbits(momenta *m)
{
    size_t *to = lat_alloc(m->orbits, sizeof *to, "orbits of momenta");
    if (!to)
        return -1;
    for (size_t i = 0; i < m->orbits; i++) {
        orbit *o = &m->orbit[i];
        set_kinematics(m, o);
        o->independent = (long)i; /* its number before */
    }
    qsort(m->orbit, m->orbits, sizeof *m->orbit, rising);
    for (size_t i = 0; i < m->orbits; i++) {
        orbit *o = &m->orbit[i];
        to[o->independent] = i;
        o->independent = is_own_negative(m, o->n) ? o->members : o->members / 2;
        if (average == NONE)
            o->independent = 1;
    }
    for (size_t h = 0; h < m->half; h++)
        m->of[h] = to[m->of[h]];
    free(to);
    return 0;
}

static int momenta_new(momenta *m, const lat_condition *c, const lat_geometry *geom)
{
    *m = (momenta){.geom = *geom,
                   .time = c->time,
                   .sites = 1,
                   .slices = (size_t)lat_condition_slices(c, geom)};
    for (int mu = 0; mu < geom->nd; mu++)
        if (mu != c->time) {
            m->axis[m->nd] = mu;
            m->extent[m->nd++] = geom->dims[mu];
            m->sites *= (size_t)geom->dims[mu];
        }
    m->half = m->sites / (size_t)m->extent[0] * ((size_t)m->extent[0] / 2 + 1);
    m->of = lat_alloc(m->half, sizeof *m->of, "momenta");
    key *list = lat_alloc(m->half, sizeof *list, "momenta");
    int rc = m->of && list ? 0 : -1;
    for (size_t h = 0; rc == 0 && h < m->half; h++) {
        list[h] = (key){.h = h};
        momentum(m, h, list[h].n);
        if (average == ORBITS)
            representative(m, list[h].n);
    }
    rc = rc || make_orbits(m, list) || sort_orbits(m) ? -1 : 0;
    free(list);
    if (rc)
        momenta_free(m);
    return rc;
}

static bool kept(const orbit *o)
{
    /* The diagonal itself is at a distance of rounding. */
    return !(o->distance > cylinder + 1e-6) && !(o->phat2 > 0 && o->angle > cone + 1e-4);
}

/* ---- legs of vertices ------------------------------------------------------------------------ */

/* Three momenta of one orbit whose sum is 0. */
typedef struct triad {
    int leg[3];
    double value[2];
} triad;

/* A(p) of the momenta of --vertex, and the sets of three that make a vertex. Leg 0 is p = 0; those
 * of orbit number o are first[o] to first[o + 1] - 1, p and -p apart. */
typedef struct legs {
    int count, (*n)[LAT_MAX_DIMS];
    size_t *h; /* the momentum of the half spectrum: that of the leg, or its negative */
    bool *minus;
    int *first;
    triad *triads;
    size_t triad_count;
    double complex *a;
} legs;

static void legs_free(legs *l)
{
    free(l->n);
    free(l->h);
    free(l->minus);
    free(l->first);
    free(l->triads);
    free(l->a);
    *l = (legs){.n = NULL};
}

/* With all n_mu below the edge of the zone, where p is not -p. */
static bool has_legs(const momenta *m, const orbit *o)
{
    long square = 0;
    for (int i = 0; i < m->nd; i++) {
        if (2 * abs(o->n[i]) >= m->extent[i])
            return false;
        square += (long)o->n[i] * o->n[i];
    }
    return square == 0 || (square <= largest && kept(o));
}

/* A count of all, and a place for each orbit. */
static int legs_alloc(legs *l, const momenta *m, int nc)
{
    l->first = lat_alloc(m->orbits + 1, sizeof *l->first, "legs of vertices");
    if (!l->first)
        return -1;
    l->first[0] = 0;
    for (size_t o = 0; o < m->orbits; o++)
        l->first[o + 1] = l->first[o] + (has_legs(m, &m->orbit[o]) ? (int)m->orbit[o].members : 0);
    l->count = l->first[m->orbits];
    const size_t count = (size_t)l->count;
    l->n = lat_alloc(count, sizeof *l->n, "legs of vertices");
    l->h = lat_alloc(count, sizeof *l->h, "legs of vertices");
    l->minus = lat_alloc(count, sizeof *l->minus, "legs of vertices");
    l->a = lat_alloc(count * (size_t)(m->nd * nc * nc), sizeof *l->a, "legs of vertices");
    return l->n && l->h && l->minus && l->a ? 0 : -1;
}

static void add_leg(legs *l, int at, const momenta *m, size_t h, bool minus)
{
    int *n = l->n[at];
    memset(n, 0, sizeof *l->n);
    momentum(m, h, n);
    for (int i = 0; minus && i < m->nd; i++)
        n[i] = -n[i];
    l->h[at] = h;
    l->minus[at] = minus;
}

/* -(a + b) among the legs of an orbit, after number `after`; -1: it is not there. */
static int third(const legs *l, int nd, int last, int a, int b)
{
    for (int c = b + 1; c < last; c++) {
        bool all = true;
        for (int i = 0; all && i < nd; i++)
            all = l->n[a][i] + l->n[b][i] + l->n[c][i] == 0;
        if (all)
            return c;
    }
    return -1;
}

/* Could they be two of a triad? Their sum has to be in the orbit. */
static bool in_orbit(const momenta *m, const orbit *o, const int *a, const int *b)
{
    int n[LAT_MAX_DIMS] = {0};
    for (int i = 0; i < m->nd; i++)
        n[i] = a[i] + b[i];
    representative(m, n);
    return !memcmp(n, o->n, sizeof n);
}

static int find_triads(legs *l, const momenta *m)
{
    size_t room = 0;
    for (size_t o = 0; o < m->orbits; o++)
        for (int a = l->first[o], last = l->first[o + 1]; a < last; a++)
            for (int b = a + 1; b < last; b++) {
                const int c = m->orbit[o].phat2 > 0 && in_orbit(m, &m->orbit[o], l->n[a], l->n[b])
                                  ? third(l, m->nd, last, a, b)
                                  : -1;
                if (c < 0)
                    continue;
                if (l->triad_count == room) {
                    room = 2 * room + 64;
                    triad *new = realloc(l->triads, room * sizeof *new);
                    if (!new)
                        return lat_fail("out of memory: vertices");
                    l->triads = new;
                }
                l->triads[l->triad_count++] = (triad){.leg = {a, b, c}};
            }
    return 0;
}

static int legs_new(legs *l, const momenta *m, int nc)
{
    if (m->time >= 0)
        return lat_fail("--vertex: expected Landau gauge, found Coulomb gauge");
    if (m->nd < 3)
        return lat_fail("--vertex: expected three dimensions at least, found %d", m->nd);
    if (legs_alloc(l, m, nc))
        return -1;
    int *next = lat_alloc(m->orbits, sizeof *next, "legs of vertices");
    if (!next)
        return -1;
    memcpy(next, l->first, m->orbits * sizeof *next);
    for (size_t h = 0; h < m->half; h++) {
        const size_t o = m->of[h];
        int n[LAT_MAX_DIMS];
        if (!has_legs(m, &m->orbit[o]))
            continue;
        momentum(m, h, n);
        add_leg(l, next[o]++, m, h, false);
        if (weight(m, n) == 2)
            add_leg(l, next[o]++, m, h, true);
    }
    free(next);
    return find_triads(l, m);
}

/* ---- the field ------------------------------------------------------------------------------- */

/* Sums of squares of one configuration. */
typedef struct sums {
    double square;     /* of the field, in position space: mean over x, mu and a of A^a_mu(x)^2 */
    double divergence; /* sum over p of tr |phat A(p)|^2 */
    double link_trace;
} sums;

/* Buffers and the plan of the Fourier transform of a slice. */
typedef struct work {
    double *a;           /* [sites] a real component of A_mu(x) */
    fftw_complex *f;     /* [half] its transform */
    double complex *s;   /* [half] sum_mu phat_mu A_mu(p) of it */
    double *all, *along; /* [half] sums over components, all slices: |A|^2 and |phat A|^2 */
    fftw_plan plan;
    lat_fourier *gpu; /* NULL: by the plan */
} work;

static void work_free(work *w)
{
    if (w->plan)
        fftw_destroy_plan(w->plan);
    lat_fourier_free(w->gpu);
    fftw_free(w->f);
    fftw_free(w->a);
    free(w->s);
    free(w->all);
    free(w->along);
}

/* CUDA starts in 0.3 s, and then saves 0.12 s for each 10^6 sites (bench/NOTES.md). */
#define SITES_FOR_GPU 3000000

/* cuFFT with --device gpu, or where there is a GPU and the lattice is large enough; else FFTW. */
static int choose_fourier(work *w, const momenta *m, const int *slowest_first)
{
    if (device == LAT_DEVICE_GPU
        || (device == LAT_DEVICE_AUTO && m->sites * m->slices >= SITES_FOR_GPU))
        w->gpu = lat_fourier_new(m->nd, m->extent);
    if (w->gpu || device == LAT_DEVICE_GPU)
        return w->gpu ? 0 : -1;
    lat_error_clear(); /* there is no GPU */
    w->plan = fftw_plan_dft_r2c(m->nd, slowest_first, w->a, w->f, FFTW_ESTIMATE);
    return w->plan ? 0 : lat_fail("out of memory: a Fourier transform of %zu sites", m->sites);
}

static int work_new(work *w, const momenta *m)
{
    int n[LAT_MAX_DIMS];
    for (int i = 0; i < m->nd; i++)
        n[i] = m->extent[m->nd - 1 - i]; /* FFTW: slowest first */
    *w = (work){.a = fftw_malloc(m->sites * sizeof *w->a),
                .f = fftw_malloc(m->half * sizeof *w->f)};
    w->s = lat_alloc(m->half, sizeof *w->s, "a divergence");
    w->all = lat_alloc(m->half, sizeof *w->all, "a propagator");
    w->along = lat_alloc(m->half, sizeof *w->along, "a propagator");
    if (!w->a || !w->f)
        lat_fail("out of memory: a Fourier transform of %zu sites", m->sites);
    if (!w->a || !w->f || !w->s || !w->all || !w->along || choose_fourier(w, m, n))
        return work_free(w), -1;
    memset(w->all, 0, m->half * sizeof *w->all);
    memset(w->along, 0, m->half * sizeof *w->along);
    return 0;
}

/* The site of the lattice that is number i of a slice. */
static size_t site_of(const momenta *m, size_t slice, size_t i)
{
    int x[LAT_MAX_DIMS] = {0};
    for (int k = 0; k < m->nd; k++) {
        x[m->axis[k]] = (int)(i % (size_t)m->extent[k]);
        i /= (size_t)m->extent[k];
    }
    if (m->time >= 0)
        x[m->time] = (int)slice;
    return lat_site(&m->geom, x);
}

/* Element (i,j) of A_mu(x + mu/2) = (U - U^+)/(2i) - trace: its real part for i <= j, its imaginary
 * part for i > j (that of (j,i)). A is agA of the continuum up to order a^2 (Mandula, Ogilvie, PLB
 * 185 (1987) 127). */
LAT_INLINE double element(int n, const double *u, int i, int j)
{
    const double *a = u + 2 * (i * n + j), *b = u + 2 * (j * n + i);
    double trace = 0;
    for (int k = 0; i == j && k < n; k++)
        trace += u[2 * (k * n + k) + 1];
    return i <= j ? (a[1] + b[1]) / 2 - trace / n : (a[0] - b[0]) / 2;
}

static void load_slice(const lat_field *f, const momenta *m, size_t slice, int mu, int i, int j,
                       double *a)
{
    const int n = f->head.nc;
    const size_t nd = (size_t)m->geom.nd;
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < m->sites; x++) {
        double u[LAT_SUN_REALS];
        lat_load(f, site_of(m, slice, x) * nd + (size_t)mu, n, u);
        a[x] = element(n, u, i, j);
    }
}

/* Adds a component of A_mu in this slice, whose transform is w->f, mu = m->axis[k]:
 * A_mu(p) = sum_x exp(-i p (x + mu/2)) A_mu(x + mu/2). */
static void add_direction(work *w, const momenta *m, int k, double factor)
{
#pragma omp parallel for schedule(static)
    for (size_t h = 0; h < m->half; h++) {
        int n[LAT_MAX_DIMS];
        momentum(m, h, n);
        const double p = 2 * M_PI * n[k] / m->extent[k];
        const double complex a = w->f[h] * cexp(-I * (p / 2));
        w->s[h] = (k > 0 ? w->s[h] : 0) + 2 * sin(p / 2) * a;
        w->all[h] += factor * (creal(a) * creal(a) + cimag(a) * cimag(a));
    }
}

/* The same component of A_mu(p) of all legs. A is Hermitian in position space, and A(-p) is
 * A(p)^+. */
static void add_to_legs(const work *w, const momenta *m, legs *l, int nc, int k, int i, int j)
{
    for (int leg = 0; leg < l->count; leg++) {
        double complex *a = l->a + (size_t)(leg * m->nd + k) * (size_t)(nc * nc);
        const double p = 2 * M_PI * l->n[leg][k] / m->extent[k];
        const double complex f = w->f[l->h[leg]],
                             v = (l->minus[leg] ? conj(f) : f) * cexp(-I * (p / 2));
        if (i == j) {
            a[i * nc + j] += v;
        } else if (i < j) {
            a[i * nc + j] += v;
            a[j * nc + i] += v;
        } else {
            a[j * nc + i] += I * v;
            a[i * nc + j] -= I * v;
        }
    }
}

/* tr A A^+ has the diagonal elements once, real and imaginary parts of the others twice. */
static int add_component(const lat_field *f, work *w, const momenta *m, legs *l, size_t slice,
                         int i, int j, double *square)
{
    const double factor = i == j ? 1 : 2;
    for (int k = 0; k < m->nd; k++) {
        double sum = 0;
        load_slice(f, m, slice, m->axis[k], i, j, w->a);
        for (size_t x = 0; x < m->sites; x++)
            sum += w->a[x] * w->a[x];
        *square += factor * sum;
        if (!w->gpu)
            fftw_execute(w->plan);
        else if (lat_fourier_run(w->gpu, w->a, (double *)w->f))
            return -1;
        add_direction(w, m, k, factor);
        if (l)
            add_to_legs(w, m, l, f->head.nc, k, i, j);
    }
#pragma omp parallel for schedule(static)
    for (size_t h = 0; h < m->half; h++)
        w->along[h] += factor * (creal(w->s[h]) * creal(w->s[h]) + cimag(w->s[h]) * cimag(w->s[h]));
    return 0;
}

static int count_colours(int nc, int colours)
{
    return colours == DIAGONAL ? nc - 1 : colours == OFF_DIAGONAL ? nc * nc - nc : nc * nc - 1;
}

/* D and L of every momentum into its orbit: with C colours, N^2 - 1 (2 tr T^a T^b = delta^ab),
 *     L = 2 sum |phat A|^2 / phat^2 / (C V), D = (2 sum |A|^2 / (C V) - L) /
 * polarisations, which are nd - 1; nd at p = 0, where nothing is longitudinal. */
static void into_orbits(const work *w, momenta *m, int colours, sums *s)
{
    const double volume = (double)m->sites, scale = 2 / (colours * volume * (double)m->slices);
    for (size_t h = 0; h < m->half; h++) {
        orbit *o = &m->orbit[m->of[h]];
        int n[LAT_MAX_DIMS];
        momentum(m, h, n);
        const double members = (double)weight(m, n);
        const double l = o->phat2 > 0 ? scale * w->along[h] / o->phat2 : 0;
        const double d = (scale * w->all[h] - l) / (o->phat2 > 0 ? m->nd - 1 : m->nd);
        o->d += members * d;
        o->d2 += members * d * d;
        o->l += members * l;
        s->divergence += members * w->along[h];
    }
    for (size_t i = 0; i < m->orbits; i++) {
        orbit *o = &m->orbit[i];
        const double members = (double)o->members;
        o->d /= members;
        o->l /= members;
        o->error = o->independent > 1
                       ? sqrt(fmax(o->d2 / members - o->d * o->d, 0) / (double)(o->independent - 1))
                       : NAN;
        if (m->nd == 1 && o->phat2 > 0)
            o->d = o->error = NAN; /* nothing is transverse in one dimension */
    }
}

static void clear(momenta *m)
{
    for (size_t i = 0; i < m->orbits; i++)
        m->orbit[i].d = m->orbit[i].d2 = m->orbit[i].l = 0;
}

/* With vertices A(p) goes to l, which is NULL without. `colours` is ALL, DIAGONAL, or the others.
 */
static int transform(const lat_field *f, momenta *m, legs *l, int colours, sums *s)
{
    const int nc = f->head.nc;
    double plaquette, square = 0;
    work w;
    *s = (sums){0, 0, 0};
    if (lat_measure_plaquette(f, &plaquette, &s->link_trace) || work_new(&w, m))
        return -1;
    clear(m);
    if (l)
        memset(l->a, 0, (size_t)l->count * (size_t)(m->nd * nc * nc) * sizeof *l->a);
    int rc = 0;
    for (size_t slice = 0; slice < m->slices; slice++)
        for (int i = 0; i < nc; i++)
            for (int j = 0; rc == 0 && j < nc; j++)
                if (colours == ALL || (i == j) == (colours == DIAGONAL))
                    rc = add_component(f, &w, m, l, slice, i, j, &square);
    if (rc == 0)
        into_orbits(&w, m, count_colours(nc, colours), s);
    work_free(&w);
    if (rc)
        return -1;
    s->square = 2 * square
                / (count_colours(nc, colours) * (double)m->sites * (double)m->slices * m->nd);
    return 0;
}

/* theta of the gauge condition is 4 / (N V) sum_x tr |div A|^2, and a sum over momenta by
 * Parseval's equation. */
static double theta(const momenta *m, int nc, const sums *s)
{
    const double sites = (double)m->sites;
    return 4 * s->divergence / (nc * sites * sites * (double)m->slices);
}

/* ---- vertices -------------------------------------------------------------------------------- */

/* What is averaged over configurations, and what follows from it. */
enum { T, S, DP, D0, AVERAGED, GAMMA = AVERAGED, COUPLING, VALUES };
static const char *const value_names[VALUES] = {"T", "S", "D", "D0", "Gamma", "g"};

typedef struct row {
    const orbit *o;
    bool soft;
    long members; /* momenta p, or sets of three */
    double value[VALUES], error[VALUES];
} row;

/* Rows, and the numbers of each configuration: [config][row][AVERAGED]. */
typedef struct vertices {
    legs l;
    row *row;
    int rows;
    double *each;
    long configs;
} vertices;

static void vertices_free(vertices *v)
{
    legs_free(&v->l);
    free(v->row);
    free(v->each);
    *v = (vertices){.row = NULL};
}

/* The amputated vertex and the coupling, docs/vertex.md. */
static void derive(row *r)
{
    double *v = r->value;
    const double propagators = v[DP] * v[DP] * (r->soft ? v[D0] : v[DP]);
    v[GAMMA] = v[T] / propagators;
    v[COUPLING] = pow(r->o->phat2, 1.5) * v[T] / (r->soft ? v[D0] * sqrt(v[DP]) : pow(v[DP], 1.5));
}

/* The orbit of the first triad from number t on; or the number of orbits. */
static size_t triad_orbit(const legs *l, const momenta *m, size_t t)
{
    return t < l->triad_count ? m->of[l->h[l->triads[t].leg[0]]] : m->orbits;
}

static int vertices_new(vertices *v, const momenta *m, int nc)
{
    if (legs_new(&v->l, m, nc))
        return -1;
    if (!(v->row = lat_alloc(2 * m->orbits, sizeof *v->row, "vertices")))
        return -1;
    size_t t = 0;
    for (size_t o = 0; o < m->orbits; o++) {
        const int members = v->l.first[o + 1] - v->l.first[o];
        const size_t before = t;
        if (members == 0 || m->orbit[o].phat2 == 0)
            continue;
        v->row[v->rows++] = (row){.o = &m->orbit[o], .soft = true, .members = members};
        while (triad_orbit(&v->l, m, t) == o)
            t++;
        if (t > before)
            v->row[v->rows++] = (row){.o = &m->orbit[o], .members = (long)(t - before)};
    }
    return v->rows > 0 ? 0
                       : lat_fail("--vertex: expected momenta below the edge of the zone, within "
                                  "the cuts, with n^2 up to %ld, found none",
                                  largest);
}

/* T and S of all rows, from A(p) of one configuration. */
static int vertices_measure(vertices *v, const momenta *m, int nc)
{
    legs *l = &v->l;
    lat_gluon_legs g = {.nc = nc,
                        .nd = m->nd,
                        .sites = (double)m->sites,
                        .n = (const int(*)[LAT_MAX_DIMS])l->n,
                        .a = l->a};
    memcpy(g.extent, m->extent, sizeof g.extent);
    double *soft = lat_alloc((size_t)l->count, sizeof *soft, "vertices");
    if (!soft)
        return -1;
#pragma omp parallel for schedule(static)
    for (int leg = 1; leg < l->count; leg++)
        soft[leg] = lat_gluon_soft(&g, leg);
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < l->triad_count; t++)
        lat_gluon_symmetric(&g, l->triads[t].leg, l->triads[t].value);
    size_t t = 0;
    for (int i = 0; i < v->rows; i++) {
        row *r = &v->row[i];
        const int first = l->first[r->o - m->orbit];
        double sum[2] = {0};
        for (long k = 0; k < r->members; k++) {
            sum[0] += r->soft ? soft[first + k] : l->triads[t].value[0];
            sum[1] += r->soft ? NAN : l->triads[t++].value[1];
        }
        r->value[T] = sum[0] / (double)r->members;
        r->value[S] = sum[1] / (double)r->members;
        r->value[DP] = r->o->d;
        r->value[D0] = m->orbit[0].d;
        derive(r);
    }
    free(soft);
    return 0;
}

static int vertices_keep(vertices *v)
{
    const size_t block = (size_t)v->rows * AVERAGED;
    double *each = realloc(v->each, (size_t)(v->configs + 1) * block * sizeof *each);
    if (!each)
        return lat_fail("out of memory: vertices of %ld configurations", v->configs + 1);
    v->each = each;
    each += (size_t)v->configs++ * block;
    for (int i = 0; i < v->rows; i++, each += AVERAGED)
        memcpy(each, v->row[i].value, AVERAGED * sizeof *each);
    return 0;
}

/* The mean over all configurations but number `out` (-1: over all). */
static void row_mean(const vertices *v, int i, long out, row *r)
{
    const double n = (double)(out < 0 ? v->configs : v->configs - 1);
    for (int k = 0; k < AVERAGED; k++) {
        r->value[k] = 0;
        for (long c = 0; c < v->configs; c++)
            r->value[k] += c == out ? 0 : v->each[(c * v->rows + i) * AVERAGED + k] / n;
    }
    derive(r);
}

/* Means, and errors by the jackknife. */
static void vertices_mean(vertices *v)
{
    const double n = (double)v->configs;
    for (int i = 0; i < v->rows; i++) {
        row *r = &v->row[i], without = *r;
        double sum[VALUES] = {0}, square[VALUES] = {0};
        row_mean(v, i, -1, r);
        for (long out = 0; out < v->configs && v->configs > 1; out++) {
            row_mean(v, i, out, &without);
            for (int k = 0; k < VALUES; k++) { /* from the mean: no cancellation */
                const double d = without.value[k] - r->value[k];
                sum[k] += d;
                square[k] += d * d;
            }
        }
        for (int k = 0; k < VALUES; k++)
            r->error[k] = v->configs > 1 && !isnan(r->value[k])
                              ? sqrt(fmax(square[k] - sum[k] * sum[k] / n, 0) * (n - 1) / n)
                              : NAN;
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

typedef struct report {
    long config; /* number of it, or how many were averaged */
    bool several;
    const momenta *m;
    const char *gauge;
    int nc;
    double theta, square, link_trace;
    bool forced;       /* it is not in the gauge */
    const vertices *v; /* NULL: the propagator */
    int colours;
    double residual; /* theta of the residual gauge; unless colours is ALL */
} report;

static const char *name(const momenta *m, const orbit *o, char buf[64])
{
    int n = 0;
    for (int i = 0; i < m->nd; i++)
        n += snprintf(buf + n, 64 - (size_t)n, "%s%d", i ? "," : "", o->n[i]);
    return buf;
}

static const char *limit(const row *r) { return r->soft ? "soft" : "symmetric"; }

static void vertices_text(FILE *to, const report *r)
{
    char text[64];
    fprintf(to, "%-10s %-16s %10s %14s %14s %10s %10s %8s\n", "limit", "momentum", "phat^2", "T",
            "Gamma", "g", "+-", "members");
    for (int i = 0; i < r->v->rows; i++) {
        const row *w = &r->v->row[i];
        fprintf(to, "%-10s %-16s %10.6f %14.6g %14.6g %10.4g %10.2g %8ld\n", limit(w),
                name(r->m, w->o, text), w->o->phat2, w->value[T], w->value[GAMMA],
                w->value[COUPLING], mean ? w->error[COUPLING] : NAN, w->members);
    }
}

static void vertices_tsv(FILE *to, const report *r)
{
    char text[64];
    if (lat_report_heading()) {
        fprintf(to, "%s\tlimit\tmomentum\tp\tphat2\tmembers", mean ? "configs" : "config");
        for (int k = 0; k < VALUES; k++) {
            fprintf(to, "\t%s", value_names[k]);
            if (mean)
                fprintf(to, "\t%s_error", value_names[k]);
        }
        fprintf(to, "\tgauge\ttheta\t" LAT_LATTICE_COLUMNS "\tforced");
        lat_report_end_heading(to);
    }
    for (int i = 0; i < r->v->rows; i++) {
        const row *w = &r->v->row[i];
        fprintf(to, "%ld\t%s\t%s\t%.17g\t%.17g\t%ld", r->config, limit(w), name(r->m, w->o, text),
                w->o->p, w->o->phat2, w->members);
        for (int k = 0; k < VALUES; k++) {
            lat_numbers_tsv(to, 1, w->value + k);
            if (mean)
                lat_numbers_tsv(to, 1, w->error + k);
        }
        fprintf(to, "\t%s\t%.17g", r->gauge, r->theta);
        lat_lattice_tsv(to, &r->m->geom, r->nc);
        fprintf(to, "\t%d", r->forced);
        lat_report_end_row(to);
    }
}

static void vertices_json(FILE *to, const report *r)
{
    char text[64], error[16];
    lat_json_key(to, false, "vertices");
    for (int i = 0; i < r->v->rows; i++) {
        const row *w = &r->v->row[i];
        fprintf(to, "%s{\"limit\": \"%s\", \"momentum\": [%s]", i ? ", " : "[", limit(w),
                name(r->m, w->o, text));
        lat_json_pair(to, "p", w->o->p);
        lat_json_pair(to, "phat2", w->o->phat2);
        fprintf(to, ", \"members\": %ld", w->members);
        for (int k = 0; k < VALUES; k++) {
            lat_json_pair(to, value_names[k], w->value[k]);
            snprintf(error, sizeof error, "%s_error", value_names[k]);
            if (mean)
                lat_json_pair(to, error, w->error[k]);
        }
        fputc('}', to);
    }
    fputs("]}\n", to);
}

static void print_text(FILE *to, const report *r)
{
    char text[64];
    if (mean)
        fprintf(to, "mean of %ld configurations\n", r->config);
    else
        lat_report_text(to, "configuration", r->config, r->several);
    lat_lattice_text(to, &r->m->geom, r->nc);
    fprintf(to, "gauge          %s, theta %.6g%s\n", r->gauge, r->theta,
            r->forced ? ", which is not in it (--force)" : "");
    if (r->colours != ALL)
        fprintf(to, "residual       landau, theta %.6g\ncolours        %s\n", r->residual,
                colours_names[r->colours]);
    fprintf(to, "link trace     %.15g\n", r->link_trace);
    fprintf(to, "field squared  %.15g\n\n", r->square);
    if (r->v) {
        vertices_text(to, r);
        return;
    }
    fprintf(to, "%-16s %10s %10s %16s %10s %12s %8s\n", "momentum", "|p|", "phat^2", "D", "+-",
            "longitudinal", "members");
    for (size_t i = 0; i < r->m->orbits; i++) {
        const orbit *o = &r->m->orbit[i];
        if (kept(o))
            fprintf(to, "%-16s %10.6f %10.6f %16.9g %10.3g %12.3g %8ld\n", name(r->m, o, text),
                    o->p, o->phat2, o->d, o->error, o->l, o->members);
    }
}

static void print_tsv(FILE *to, const report *r)
{
    char text[64];
    if (r->v) {
        vertices_tsv(to, r);
        return;
    }
    if (lat_report_heading()) {
        fprintf(to,
                "%s\tmomentum\tp\tphat2\tD\tD_error\tlongitudinal\tmembers\tcylinder\tcone\t"
                "gauge\ttheta\t" LAT_LATTICE_COLUMNS "\tforced%s",
                mean ? "configs" : "config", r->colours != ALL ? "\tcolours\tresidual" : "");
        lat_report_end_heading(to);
    }
    for (size_t i = 0; i < r->m->orbits; i++) {
        const orbit *o = &r->m->orbit[i];
        if (!kept(o))
            continue;
        fprintf(to, "%ld\t%s\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%ld\t%.6g\t%.6g\t%s\t%.17g",
                r->config, name(r->m, o, text), o->p, o->phat2, o->d, o->error, o->l, o->members,
                o->distance, o->angle, r->gauge, r->theta);
        lat_lattice_tsv(to, &r->m->geom, r->nc);
        fprintf(to, "\t%d", r->forced);
        if (r->colours != ALL)
            fprintf(to, "\t%s\t%.17g", colours_names[r->colours], r->residual);
        lat_report_end_row(to);
    }
}

static void print_momentum(FILE *to, const momenta *m, const orbit *o)
{
    fputs("{\"momentum\": [", to);
    for (int k = 0; k < m->nd; k++)
        fprintf(to, "%s%d", k ? ", " : "", o->n[k]);
    fputs("]", to);
    lat_json_pair(to, "p", o->p);
    lat_json_pair(to, "phat2", o->phat2);
    lat_json_pair(to, "D", o->d);
    lat_json_pair(to, "D_error", o->error);
    lat_json_pair(to, "longitudinal", o->l);
    fprintf(to, ", \"members\": %ld", o->members);
    lat_json_pair(to, "cylinder", o->distance);
    lat_json_pair(to, "cone", o->angle);
    fputc('}', to);
}

static void print_json(FILE *to, const report *r)
{
    lat_report_json(to);
    if (mean || r->several)
        fprintf(to, "\"%s\": %ld, ", mean ? "configs" : "config", r->config);
    fprintf(to, "\"gauge\": \"%s\"", r->gauge);
    lat_json_pair(to, "theta", r->theta);
    if (r->colours != ALL) {
        fprintf(to, ", \"colours\": \"%s\"", colours_names[r->colours]);
        lat_json_pair(to, "residual", r->residual);
    }
    fprintf(to, ", \"forced\": %s", r->forced ? "true" : "false");
    lat_json_pair(to, "link_trace", r->link_trace);
    lat_json_pair(to, "field_squared", r->square);
    lat_lattice_json(to, &r->m->geom, r->nc);
    if (r->v) {
        vertices_json(to, r);
        return;
    }
    lat_json_key(to, false, "propagator");
    fputc('[', to);
    bool first = true;
    for (size_t i = 0; i < r->m->orbits; i++)
        if (kept(&r->m->orbit[i])) {
            fputs(first ? "" : ", ", to);
            print_momentum(to, r->m, &r->m->orbit[i]);
            first = false;
        }
    fputs("]}\n", to);
}

static int print(FILE *to, const report *r)
{
    if (lat_print_opts.tsv)
        print_tsv(to, r);
    else if (lat_print_opts.json)
        print_json(to, r);
    else
        print_text(to, r);
    return fflush(to) ? -1 : 0;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The condition, of equal weights, and its name. */
static int choose(const lat_header *head, lat_condition *c, char gauge_name[16])
{
    lat_header called = *head; /* borrowed, for the name */
    if (head->kind != LAT_GAUGE)
        return lat_fail("the gluon propagator is that of a gauge field, but this is %s",
                        lat_kind_text(head->kind));
    if (lat_gauge_condition(head, c))
        return -1;
    if (c->gauge == LAT_MAG && vertex)
        return lat_fail("--vertex: expected Landau gauge, found maximally Abelian gauge");
    for (int mu = 0; mu < head->geom.nd; mu++)
        if (mu != c->time && c->weight[mu] != 1)
            return lat_fail("expected Landau gauge with equal weights, found others; --gauge "
                            "landau takes it as such");
    lat_condition_write(&called, c);
    memcpy(gauge_name, called.gauge, sizeof called.gauge);
    return 0;
}

/* Sums over configurations, for --mean. */
typedef struct totals {
    double *d, *d2, *l;
    sums s;
    double theta, residual;
    bool forced;
} totals;

static void totals_free(totals *t) { free(t->d); }

static int totals_add(totals *t, const momenta *m, const sums *s, const report *one)
{
    if (!t->d) {
        if (!(t->d = lat_alloc(m->orbits, 3 * sizeof *t->d, "means")))
            return -1;
        memset(t->d, 0, 3 * m->orbits * sizeof *t->d);
        t->d2 = t->d + m->orbits;
        t->l = t->d2 + m->orbits;
    }
    for (size_t i = 0; i < m->orbits; i++) {
        t->d[i] += m->orbit[i].d;
        t->d2[i] += m->orbit[i].d * m->orbit[i].d;
        t->l[i] += m->orbit[i].l;
    }
    t->s.square += s->square;
    t->s.link_trace += s->link_trace;
    t->theta += one->theta;
    t->residual += one->residual;
    t->forced = t->forced || one->forced;
    return 0;
}

/* The orbits of m become those of the means; the error is that of a mean of independent
 * configurations. */
static report totals_mean(const totals *t, momenta *m, long configs, report last)
{
    const double n = (double)configs;
    for (size_t i = 0; i < m->orbits; i++) {
        orbit *o = &m->orbit[i];
        o->d = t->d[i] / n;
        o->l = t->l[i] / n;
        o->error = configs > 1 ? sqrt(fmax(t->d2[i] / n - o->d * o->d, 0) / (n - 1)) : NAN;
    }
    last.config = configs;
    last.theta = t->theta / n;
    last.residual = t->residual / n;
    last.forced = t->forced;
    last.square = t->s.square / n;
    last.link_trace = t->s.link_trace / n;
    return last;
}

/* The momenta of this field: those of the field before, unless lattice, gauge or group differ. */
static int prepare(momenta *m, vertices *v, const lat_condition *c, const lat_header *head, int nc,
                   long config)
{
    const lat_geometry *geom = &head->geom;
    const bool same = m->of && m->time == c->time && m->geom.nd == geom->nd
                      && !memcmp(m->geom.dims, geom->dims, sizeof geom->dims);
    if (same && mean && config > 0 && nc != head->nc)
        return lat_fail("--mean: expected configurations of one group, found SU(%d) and SU(%d)", nc,
                        head->nc);
    if (same && (!vertex || nc == head->nc))
        return 0;
    if (mean && config > 0)
        return lat_fail("--mean: expected configurations of one lattice and gauge, found another "
                        "one at number %ld",
                        config);
    momenta_free(m);
    vertices_free(v);
    return momenta_new(m, c, geom) || (vertex && vertices_new(v, m, head->nc)) ? -1 : 0;
}

/* Of all files. In maximally Abelian gauge there are two reports and sums: of diagonal colours, and
 * of the others. */
static struct {
    momenta m;
    vertices v;
    totals t[2];
    report r[2];
    long configs;
} sum;

/* The diagonal phases, which maximally Abelian gauge leaves free, must be in the residual gauge.
 * An exit code. */
static int require_residual(const lat_field *f, const char *name, long config, double *residual)
{
    if (lat_measure_residual(f, residual))
        return LAT_FAILED;
    if (*residual <= lat_require_theta)
        return LAT_DONE;
    if (lat_opts.force) {
        lat_warn("%s: configuration %ld is measured although its Abelian links are not in Landau "
                 "gauge: theta %.3g, above %g (--force)",
                 name, config, *residual, lat_require_theta);
        return LAT_DONE;
    }
    lat_fail("%s: configuration %ld has Abelian links that are not in Landau gauge: theta %.3g, "
             "expected at most %g (docs/gauges.md, \"Residual gauge\"; --require-theta, --force)",
             name, config, *residual, lat_require_theta);
    return LAT_UNCONVERGED;
}

/* Colours in one table: measures them, and prints or sums. `r` is what all tables of the
 * configuration share. An exit code. */
static int measure_colours(const lat_field *f, FILE *text, report r)
{
    momenta *m = &sum.m;
    vertices *v = &sum.v;
    const int which = r.colours == OFF_DIAGONAL;
    sums s;
    if (transform(f, m, vertex ? &v->l : NULL, r.colours, &s)
        || (vertex && vertices_measure(v, m, f->head.nc)))
        return LAT_FAILED;
    if (r.colours == ALL)
        r.theta = theta(m, f->head.nc, &s);
    r.square = s.square;
    r.link_trace = s.link_trace;
    sum.r[which] = r;
    if (!mean)
        return print(text, &r) ? LAT_FAILED : LAT_DONE;
    return (vertex && vertices_keep(v)) || totals_add(&sum.t[which], m, &s, &r) ? LAT_FAILED
                                                                                : LAT_DONE;
}

/* One configuration: an exit code. */
static int one(const lat_field *f, lat_input *in, FILE *text, long config)
{
    char called[16];
    lat_condition c;
    lat_gauge_state state;
    double residual = 0;
    int more, code;
    if (choose(&f->head, &c, called) || lat_boundary_closed(&f->head, c.time, "momenta")
        || lat_measure_gauge(f, &c, &state, NULL, NULL))
        return LAT_FAILED;
    const bool mag = c.gauge == LAT_MAG;
    code = lat_require_gauge(&f->head, &c, &state, lat_input_name(in), config);
    if (code == LAT_DONE && mag)
        code = require_residual(f, lat_input_name(in), config, &residual);
    if (code != LAT_DONE)
        return code;
    if (sum.r[0].m && mag != (sum.r[0].colours != ALL)) {
        lat_fail("%s: expected configurations that are all in maximally Abelian gauge, or none",
                 lat_input_name(in));
        return LAT_FAILED;
    }
    if (prepare(&sum.m, &sum.v, &c, &f->head, sum.r[0].nc, config)
        || (more = lat_fields_more(in)) < 0)
        return LAT_FAILED;
    report r = {.config = config,
                .several = config > 0 || more > 0 || mag,
                .m = &sum.m,
                .gauge = mean ? lat_gauge_name(c.gauge) : called,
                .nc = f->head.nc,
                .theta = state.theta,
                .forced = lat_gauge_is_off(&state) || residual > lat_require_theta,
                .v = vertex ? &sum.v : NULL,
                .residual = residual};
    for (r.colours = mag ? DIAGONAL : ALL;
         code == LAT_DONE && r.colours <= (mag ? OFF_DIAGONAL : 0); r.colours++)
        code = measure_colours(f, text, r);
    return code;
}

static int all(lat_input *in, FILE *text)
{
    lat_field f;
    int rc, code = LAT_DONE;
    for (long config = 0; code == LAT_DONE && (rc = lat_fields_read(in, &f)) != 0; config++) {
        code = rc < 0 ? LAT_FAILED : one(&f, in, text, mean ? sum.configs : config);
        sum.configs += code == LAT_DONE;
        if (rc > 0)
            lat_field_free(&f);
    }
    return code;
}

static int print_mean(FILE *text)
{
    int code = LAT_DONE;
    for (int i = 0; i < 2 && mean && code == LAT_DONE && sum.t[i].d; i++) {
        sum.r[i] = totals_mean(&sum.t[i], &sum.m, sum.configs, sum.r[i]);
        if (vertex)
            vertices_mean(&sum.v);
        code = print(text, &sum.r[i]) ? LAT_FAILED : LAT_DONE;
    }
    return code;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    if (vertex && average == NONE)
        lat_usage("--vertex averages over momenta that symmetries make equal: --average none is "
                  "for the propagator");
    if (lat_opt_given("momenta") && !vertex)
        lat_usage("--momenta is for --vertex");
    const int code = lat_print_run(all, print_mean);
    totals_free(&sum.t[0]);
    totals_free(&sum.t[1]);
    vertices_free(&sum.v);
    momenta_free(&sum.m);
    return code;
}
