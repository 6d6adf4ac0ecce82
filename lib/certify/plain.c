/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.c: the operator of plain.h, four columns side by side in a vector. The text is compiled for
 * the vector lengths of x86. Products are not fused with sums (-ffp-contract=off in the Makefile),
 * so that the bits are the same for all. */
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "lattice/iterate.h"

enum { SPINS = 4, DIRS = 4, PLANES = 6, SIDE = 4 };

/* Four columns. */
typedef double four __attribute__((vector_size(8 * SIDE)));

/* The same, where numbers lie in a field. */
typedef double four_in_field __attribute__((vector_size(8 * SIDE), aligned(8), may_alias));

/* A spinor of four columns: [spin][colour][re, im] for the N at hand. */
typedef four quad[2 * SPINS * LAT_MAX_COLOURS];

struct lat_plain {
    lat_fermion action;
    const lat_field *links;
    double *clover; /* [own site][plane][2NN]: S - S^+ of each plane; NULL without clover term */
};

/* gamma_mu has one entry in each row: i^power in column `column`. */
static const struct {
    unsigned char column[SPINS], power[SPINS];
} gammas[DIRS] = {
    {{3, 2, 1, 0}, {1, 1, 3, 3}},
    {{3, 2, 1, 0}, {2, 0, 0, 2}},
    {{2, 3, 0, 1}, {1, 3, 3, 1}},
    {{2, 3, 0, 1}, {0, 0, 0, 0}},
};

/* The planes mu < nu. */
static const unsigned char plane_of[PLANES][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};

/* ---- the clover term ------------------------------------------------------------------------- */

/* One step along mu, forwards (+1) or backwards (-1). */
typedef struct step {
    int mu, way;
} step;

/* Multiplies `path` from the right by the link that leads along s from one site to another. */
static void follow(const lat_field *links, step s, size_t from, size_t to, double *path)
{
    const int n = links->head.nc;
    double link[LAT_SUN_REALS], product[LAT_SUN_REALS];
    lat_field_get(links, (s.way > 0 ? from : to) * DIRS + (size_t)s.mu, link);
    if (s.way > 0)
        lat_sun_mul(n, product, path, link);
    else
        lat_sun_mul_dag(n, product, path, link);
    memcpy(path, product, sizeof(double) * 2 * (size_t)n * (size_t)n);
}

/* Adds the leaf that begins along a, then b. Its sites are found from the own one: a step from a
 * ghost stays in its slice. */
static void add_leaf(const lat_field *links, size_t site, step a, step b, double *sum)
{
    const int n = links->head.nc;
    const size_t at_a = lat_field_next(links, site, a.mu, a.way),
                 at_b = lat_field_next(links, site, b.mu, b.way),
                 far = lat_field_next(links, at_a, b.mu, b.way);
    double leaf[LAT_SUN_REALS];
    lat_sun_one(n, leaf);
    follow(links, a, site, at_a, leaf);
    follow(links, b, at_a, far, leaf);
    follow(links, (step){a.mu, -a.way}, far, at_b, leaf);
    follow(links, (step){b.mu, -b.way}, at_b, site, leaf);
    for (int k = 0; k < 2 * n * n; k++)
        sum[k] += leaf[k];
}

/* S - S^+ in the plane mu, nu. */
static void leaves(const lat_field *links, size_t site, int mu, int nu, double *f)
{
    const int n = links->head.nc;
    const step east = {mu, 1}, north = {nu, 1}, west = {mu, -1}, south = {nu, -1};
    double sum[LAT_SUN_REALS] = {0};
    add_leaf(links, site, east, north, sum);
    add_leaf(links, site, north, west, sum);
    add_leaf(links, site, west, south, sum);
    add_leaf(links, site, south, east, sum);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            f[2 * (i * n + j)] = sum[2 * (i * n + j)] - sum[2 * (j * n + i)];
            f[2 * (i * n + j) + 1] = sum[2 * (i * n + j) + 1] + sum[2 * (j * n + i) + 1];
        }
}

/* The leaves of an own site reach no farther than the ghosts: a path has one step along the last
 * axis, and steps within that slice. */
static int make_clover(lat_plain *m)
{
    const int n = m->links->head.nc;
    const size_t reals = 2 * (size_t)n * (size_t)n, sites = lat_field_sites(m->links);
    if (m->clover || (m->action.csw == 0 && m->action.csw_t == 0))
        return 0;
    m->clover = lat_alloc(sites * PLANES, reals * sizeof(double), "the clover term");
    if (!m->clover)
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++)
        for (int p = 0; p < PLANES; p++)
            leaves(m->links, i, plane_of[p][0], plane_of[p][1],
                   m->clover + (i * PLANES + (size_t)p) * reals);
    return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Up to SIDE columns, of a list. */
typedef struct some {
    int count;
    const int *column;
} some;

/* to[k] = from[0..3][k] */
LAT_INLINE void transpose(const double *const from[SIDE], size_t reals, four *to)
{
    for (size_t k = 0; k < reals; k += SIDE) {
        four v[SIDE]; /* by a load each: memcpy would go through memory, in halves */
        for (int l = 0; l < SIDE; l++)
            v[l] = *(const four_in_field *)(from[l] + k);
        const four a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6),
                   b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7),
                   c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6),
                   d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
        to[k] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
        to[k + 1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
        to[k + 2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
        to[k + 3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
    }
}

/* The same from single precision, once for all vectors: the compiler's time is for the other. */
static __attribute__((noinline)) void widen(const float *from, const size_t at[SIDE], size_t reals,
                                            four *to)
{
    for (int l = 0; l < SIDE; l++)
        for (size_t k = 0; k < reals; k++)
            to[k][l] = from[at[l] + k];
}

/* Those columns of a site; what else is in a vector is of no account. */
LAT_INLINE void load(const lat_field *f, size_t site, some c, int n, quad to)
{
    const size_t reals = (size_t)(2 * SPINS * n), columns = lat_header_objects(&f->head);
    size_t from[SIDE];
    for (int l = 0; l < SIDE; l++)
        from[l] = (site * columns + (size_t)c.column[l < c.count ? l : 0]) * reals;
    if (f->head.real == LAT_F64) {
        const double *v = f->data, *const at[SIDE] = {v + from[0], v + from[1], v + from[2],
                                                      v + from[3]};
        transpose(at, reals, to);
    } else
        widen(f->data, from, reals, to);
}

LAT_INLINE void store(lat_field *f, size_t site, some c, int n, const four *from)
{
    const size_t reals = (size_t)(2 * SPINS * n), columns = lat_header_objects(&f->head);
    for (int l = 0; l < c.count; l++) {
        const size_t to = (site * columns + (size_t)c.column[l]) * reals;
        for (size_t k = 0; k < reals; k++)
            if (f->head.real == LAT_F64)
                ((double *)f->data)[to + k] = from[k][l];
            else
                ((float *)f->data)[to + k] = (float)from[k][l];
    }
}

/* The colour vector of a spin, [colour][re, im]. */
LAT_INLINE four *spin_of(four *psi, int n, int spin) { return psi + 2 * n * spin; }

/* to += factor * i^power * from. */
LAT_INLINE void add_power(four *to, double factor, int power, const four *from)
{
    const double f = power & 2 ? -factor : factor;
    if (power & 1) {
        to[0] -= f * from[1];
        to[1] += f * from[0];
    } else {
        to[0] += f * from[0];
        to[1] += f * from[1];
    }
}

/* to = matrix from, for one spin. */
LAT_INLINE void multiply(int n, const double *matrix, const four *from, four *to)
{
    for (int a = 0; a < n; a++) {
        four re = {0}, im = {0};
        for (int b = 0; b < n; b++) {
            const double u = matrix[2 * (a * n + b)], v = matrix[2 * (a * n + b) + 1];
            re += u * from[2 * b] - v * from[2 * b + 1];
            im += u * from[2 * b + 1] + v * from[2 * b];
        }
        to[2 * a] = re;
        to[2 * a + 1] = im;
    }
}

/* ---- the operator at a site ------------------------------------------------------------------ */

/* A term of the hopping sum: where it comes from, and - weight/2 phase U, U being the link or its
 * inverse. */
typedef struct term {
    bool there;
    size_t from;
    double link[LAT_SUN_REALS];
} term;

/* sum += (1 - sign gamma_mu) U psi */
LAT_INLINE void hop(int n, int mu, int sign, const double *link, quad psi, quad sum)
{
#pragma GCC unroll 2
    for (int s = 0; s < 2; s++) {
        /* (1 - sign gamma) h has the lower spins - sign gamma times the upper ones, as gamma has
         * no entries within the upper or within the lower spins, and gamma^2 = 1. */
        const int lower = gammas[mu].column[s];
        four half[2 * LAT_MAX_COLOURS], out[2 * LAT_MAX_COLOURS];
        for (int a = 0; a < 2 * n; a++)
            half[a] = spin_of(psi, n, s)[a];
        for (int a = 0; a < n; a++)
            add_power(half + 2 * a, -sign, gammas[mu].power[s], spin_of(psi, n, lower) + 2 * a);
        multiply(n, link, half, out);
        for (int a = 0; a < 2 * n; a++)
            spin_of(sum, n, s)[a] += out[a];
        for (int a = 0; a < n; a++)
            add_power(spin_of(sum, n, lower) + 2 * a, -sign, gammas[mu].power[lower], out + 2 * a);
    }
}

/* sum -= c/2 sigma F psi = c/16 gamma_mu gamma_nu (S - S^+) psi, plane by plane. */
LAT_INLINE void add_clover(const lat_plain *m, int n, size_t site, quad psi, quad sum)
{
    const lat_fermion *a = &m->action;
    const double *f = m->clover + site * PLANES * 2 * (size_t)(n * n);
    for (int p = 0; p < PLANES; p++, f += 2 * n * n) {
        const int mu = plane_of[p][0], nu = plane_of[p][1];
        const double c = nu == DIRS - 1 ? a->csw_t : a->csw / a->xi;
        for (int s = 0; s < SPINS; s++) {
            const int by = gammas[mu].column[s], from = gammas[nu].column[by];
            const int power = gammas[mu].power[s] + gammas[nu].power[by];
            four out[2 * LAT_MAX_COLOURS];
            multiply(n, f, spin_of(psi, n, from), out);
            for (int k = 0; k < n; k++)
                add_power(spin_of(sum, n, s) + 2 * k, -c / 16, power, out + 2 * k);
        }
    }
}

/* to = (re + i im) U, or times U^+. Outside of the functions for AVX-512, where gcc 12 fuses such a
 * pair of sums in spite of -ffp-contract=off. */
static __attribute__((noinline)) void times_phase(int n, double re, double im, bool dagger,
                                                  const double *link, double *to)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double *e = link + 2 * (dagger ? j * n + i : i * n + j);
            const double u = e[0], v = dagger ? -e[1] : e[1];
            to[2 * (i * n + j)] = re * u - im * v;
            to[2 * (i * n + j) + 1] = re * v + im * u;
        }
}

/* The term of a step along mu. */
LAT_INLINE void find_term(const lat_plain *m, int n, const lat_iterator *w, int first_slice, int mu,
                          int way, term *t)
{
    const lat_fermion *a = &m->action;
    const lat_phase *b = &a->boundary[mu];
    const int here = w->x[mu] + (mu == DIRS - 1 ? first_slice : 0),
              extent = m->links->head.geom.dims[mu];
    const double weight = mu == DIRS - 1 ? 1 : a->nu / a->xi;
    double re = -weight / 2, im = 0, link[LAT_SUN_REALS];
    t->there = lat_phase_hops(*b, here, extent, way);
    if (!t->there)
        return;
    if (here == (way > 0 ? extent - 1 : 0)) {
        im = way * re * sin(M_PI * b->theta);
        re *= cos(M_PI * b->theta);
    }
    t->from = way > 0 ? lat_iterator_up(w, mu) : lat_iterator_down(w, mu);
    lat_load(m->links, (way > 0 ? w->site : t->from) * DIRS + (size_t)mu, n, link);
    times_phase(n, re, im, way < 0, link, t->link);
}

/* 1 + 3 nu/xi + m, and c_F - 1 where open time has it. */
LAT_INLINE double diagonal_at(const lat_plain *m, const lat_field *x, size_t site)
{
    const lat_fermion *a = &m->action;
    double diagonal = 1 + 3 * a->nu / a->xi + a->mass;
    if (a->cf != 1)
        diagonal += lat_fermion_edge(
            a, lat_field_slab(x).first + (int)(site / lat_slice_sites(&x->head)),
            x->head.geom.dims[DIRS - 1]);
    return diagonal;
}

/* (M x)(site) of these columns; the terms of each mu are that with 1 - gamma_mu and the other. */
LAT_INLINE void apply_site(const lat_plain *m, int n, bool dagger, size_t site,
                           const term terms[DIRS][2], const lat_field *x, some c, quad sum)
{
    const lat_fermion *a = &m->action;
    const double diagonal = diagonal_at(m, x, site), twist = dagger ? -a->twist : a->twist;
    quad psi;
    load(x, site, c, n, psi);
    for (int s = 0; s < SPINS; s++)
        for (int k = 0; k < n; k++) {
            const double t = s < 2 ? twist : -twist;
            const four *from = spin_of(psi, n, s) + 2 * k;
            four *to = spin_of(sum, n, s) + 2 * k;
            to[0] = diagonal * from[0] - t * from[1];
            to[1] = diagonal * from[1] + t * from[0];
        }
    if (m->clover)
        add_clover(m, n, site, psi, sum);
#pragma GCC unroll 1 /* all eight would not fit the cache of instructions */
    for (int mu = 0; mu < DIRS; mu++)
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++)
            if (terms[mu][k].there) {
                load(x, terms[mu][k].from, c, n, psi);
                hop(n, mu, k ? -1 : 1, terms[mu][k].link, psi, sum);
            }
}

/* ---- the operator on a field ----------------------------------------------------------------- */

/* What is done with M x: it is stored in `out`, or compared with b: norms[i][2] gets |b - M x|^2
 * and |b|^2 of column[i], which are zero before. */
typedef struct task {
    const lat_plain *m;
    bool dagger;
    const lat_field *x, *b;
    lat_field *out;
    int columns;
    const int *column;
    lat_isa isa;
} task;

LAT_INLINE void compare(const task *t, int n, size_t site, some c, quad mx, double *norms)
{
    four square = {0}, all = {0};
    quad b;
    load(t->b, site, c, n, b);
    for (int k = 0; k < 2 * SPINS * n; k++) {
        const four d = b[k] - mx[k];
        square += d * d;
        all += b[k] * b[k];
    }
    for (int l = 0; l < c.count; l++) {
        norms[2 * l] += square[l];
        norms[2 * l + 1] += all[l];
    }
}

LAT_INLINE void run_sites(const task *t, int n, size_t from, size_t to, double *norms)
{
    const int slice = lat_field_slab(t->x).first;
    lat_iterator w;
    term terms[DIRS][2];
    for (lat_iterator_start(&w, t->x, from); w.site < to; lat_iterator_next(&w)) {
        for (int mu = 0; mu < DIRS; mu++)
            for (int k = 0; k < 2; k++)
                find_term(t->m, n, &w, slice, mu, (k == 0) != t->dagger ? 1 : -1, &terms[mu][k]);
        for (int i = 0; i < t->columns; i += SIDE) {
            const some c = {t->columns - i < SIDE ? t->columns - i : SIDE, t->column + i};
            quad mx;
            apply_site(t->m, n, t->dagger, w.site, terms, t->x, c, mx);
            if (t->out)
                store(t->out, w.site, c, n, mx);
            else
                compare(t, n, w.site, c, mx, norms + 2 * i);
        }
    }
}

/* Of groups that no solver has: once for all vectors. */
static __attribute__((noinline)) void run_other(const task *t, size_t from, size_t to,
                                                double *norms)
{
    run_sites(t, t->x->head.nc, from, to, norms);
}

LAT_INLINE void run_any(const task *t, size_t from, size_t to, double *norms)
{
    switch (t->x->head.nc) {
    case 2: run_sites(t, 2, from, to, norms); break;
    case 3: run_sites(t, 3, from, to, norms); break;
    default: run_other(t, from, to, norms);
    }
}

LAT_ISA_CLONES(run, "", (const task *t, size_t from, size_t to, double *norms),
               run_any(t, from, to, norms))

static __typeof__(&run_base) const runs[] = LAT_ISA_EACH(run_, );

/* Is it a field that the operator can be applied to? */
static int check(const lat_plain *m, const lat_field *f)
{
    char a[64], b[64];
    if (lat_header_spinors(&f->head) && lat_header_alike(&m->links->head, &f->head))
        return 0;
    return lat_fail(
        "expected spinors of the links' lattice %s and SU(%d), found %s of %s and SU(%d)",
        lat_dims_text(&m->links->head.geom, a), m->links->head.nc, lat_kind_text(f->head.kind),
        lat_dims_text(&f->head.geom, b), f->head.nc);
}

int lat_plain_apply(lat_plain *m, bool dagger, const lat_field *x, int columns, const int *column,
                    lat_field *out)
{
    const task t = {
        .m = m, .dagger = dagger, .x = x, .out = out, .columns = columns, .column = column};
    const size_t sites = lat_field_sites(x), chunks = (sites + LAT_CHUNK - 1) / LAT_CHUNK;
    const __typeof__(&run_base) run = runs[lat_isa_widest()];
    if (check(m, x) || check(m, out) || make_clover(m))
        return -1;
    out->zeros = (struct lat_zero_slices){0};
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < chunks; c++)
        run(&t, c * LAT_CHUNK, c + 1 < chunks ? (c + 1) * LAT_CHUNK : sites, NULL);
    return 0;
}

static void norms_of(const void *with, LAT_UNUSED size_t block, size_t from, size_t to,
                     double *norms)
{
    const task *t = with;
    runs[t->isa](t, from, to, norms);
}

int lat_plain_residual(lat_plain *m, const lat_field *x, const lat_field *b, int columns,
                       const int *column, double *residual)
{
    const task t = {
        .m = m, .x = x, .b = b, .columns = columns, .column = column, .isa = lat_isa_widest()};
    lat_sums s = {x, lat_slice_sites(&x->head), 1, .numbers = 2 * (size_t)columns};
    if (check(m, x) || check(m, b) || make_clover(m))
        return -1;
    const int rc = lat_sums_take(&s, norms_of, &t);
    for (int k = 0; k < columns && rc == 0; k++) {
        const double *sum = s.total + 2 * k;
        residual[k] = sum[0] == 0 ? 0 : sqrt(sum[0] / sum[1]);
    }
    free(s.memory);
    return rc;
}

lat_plain *lat_plain_new(const lat_field *links, const lat_fermion *action)
{
    if (links->head.kind != LAT_GAUGE || links->head.geom.nd != DIRS)
        return lat_fail_null("the Wilson operator: expected links in four dimensions, found %s",
                             links->head.kind == LAT_GAUGE ? "fewer dimensions" : "no links");
    if (strcmp(action->name, "wilson"))
        return lat_fail_null("expected the Wilson operator, found \"%s\"", action->name);
    lat_plain *m = lat_alloc(1, sizeof *m, "the operator");
    if (!m)
        return NULL;
    *m = (lat_plain){.action = *action, .links = links};
    return m;
}

void lat_plain_free(lat_plain *m)
{
    if (!m)
        return;
    LAT_FREE(m->clover, m);
}
