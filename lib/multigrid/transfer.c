/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: orthonormal vectors of blocks; restriction and prolongation. */
#include "multigrid/transfer.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

int lat_transfer_open(lat_transfer *t, int components, int n)
{
    const size_t numbers = (size_t)t->blocks.sites * (size_t)components * (size_t)n * 2;
    t->components = components;
    t->n = n;
    t->v = lat_alloc_zero(numbers, sizeof *t->v, "test vectors");
    t->p = lat_alloc_zero(numbers, sizeof *t->p, "the prolongation");
    return t->v && t->p ? 0 : -1;
}

void lat_transfer_close(lat_transfer *t)
{
    lat_blocks_close(&t->blocks);
    free(t->v);
    free(t->p);
}

/* ---- triangular matrices --------------------------------------------------------------------- */

/* An n x n complex matrix: re [n][LAT_PITCH], then im. */
static size_t doubles_of(int n) { return 2 * (size_t)n * LAT_PITCH((size_t)n); }

static double complex number_at(int n, const double *m, int i, int j)
{
    const int pitch = LAT_PITCH(n);
    return m[i * pitch + j] + I * m[(n + i) * pitch + j];
}

static void number_put(int n, double *m, int i, int j, double complex z)
{
    const int pitch = LAT_PITCH(n);
    m[i * pitch + j] = creal(z);
    m[(n + i) * pitch + j] = cimag(z);
}

/* A pivot of Cholesky below this times its diagonal is that of a vector that the others span. */
#define DEPENDENT 1e-10

/* g = L L^+, of which the lower triangle is given: l gets L. A dependent vector has a row that is 0
 * but for a pivot of infinity. */
static void cholesky(int n, const double *g, double *l)
{
    memset(l, 0, doubles_of(n) * sizeof *l);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double complex s = number_at(n, g, i, j);
            for (int k = 0; k < j; k++)
                s -= number_at(n, l, i, k) * conj(number_at(n, l, j, k));
            if (j < i) {
                number_put(n, l, i, j, s / creal(number_at(n, l, j, j)));
                continue;
            }
            const bool bad = !(creal(s) > DEPENDENT * creal(number_at(n, g, i, i)));
            number_put(n, l, i, i, bad ? INFINITY : sqrt(creal(s)));
            for (int k = 0; k < i && bad; k++)
                number_put(n, l, i, k, 0);
        }
}

/* t = L^-+, upper triangular. Dependent vectors have columns of 0. */
static void invert_adjoint(int n, const double *l, double *t)
{
    memset(t, 0, doubles_of(n) * sizeof *t);
    for (int j = 0; j < n; j++) {
        const double pivot = creal(number_at(n, l, j, j));
        if (!isfinite(pivot))
            continue;
        number_put(n, t, j, j, 1 / pivot);
        for (int i = 0; i < j; i++) { /* column j: (e_j - sum_k<j L*_jk column k) / L_jj */
            double complex s = 0;
            for (int k = i; k < j; k++)
                s -= conj(number_at(n, l, j, k)) * number_at(n, t, i, k);
            number_put(n, t, i, j, s / pivot);
        }
    }
}

/* g <- t^+ g t, of which the lower triangle is given and wanted. */
static void transform(int n, const double *t, double *g, double complex *scratch)
{
    double complex *const a = scratch, *const b = scratch + (size_t)n * (size_t)n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = j <= i ? number_at(n, g, i, j) : conj(number_at(n, g, j, i));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double complex s = 0;
            for (int k = 0; k <= j; k++)
                s += a[i * n + k] * number_at(n, t, k, j);
            b[i * n + j] = s;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double complex s = 0;
            for (int k = 0; k <= i; k++)
                s += conj(number_at(n, t, k, i)) * b[k * n + j];
            number_put(n, g, i, j, s);
        }
}

/* ---- of all blocks --------------------------------------------------------------------------- */

typedef struct grams {
    double *block; /* [block][chirality] matrices */
    double *whole; /* their sum */
    double *l, *t; /* of the whole */
} grams;

static void grams_close(grams *g)
{
    free(g->block);
    free(g->whole);
    free(g->l);
    free(g->t);
}

static int grams_open(grams *g, int n, int blocks)
{
    const size_t each = doubles_of(n);
    memset(g, 0, sizeof *g);
    g->block = lat_alloc_zero(2 * (size_t)blocks * each, sizeof(double), "test vectors");
    g->whole = lat_alloc_zero(each, sizeof(double), "test vectors");
    g->l = lat_alloc_zero(each, sizeof(double), "test vectors");
    g->t = lat_alloc_zero(each, sizeof(double), "test vectors");
    return g->block && g->whole && g->l && g->t ? 0 : -1;
}

/* Products of the vectors in a block and chirality. */
static void block_gram(const lat_transfer *t, int block, int chirality, double *g)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int half = t->components / 2;
    for (int p = 0; p < 2; p++)
        for (int64_t i = t->blocks.start[p][block]; i < t->blocks.start[p][block + 1]; i++)
            k->gram(half, t->n, t->v + (i * t->components + chirality * half) * 2 * (int64_t)t->n,
                    g);
}

/* Their sum over all blocks of all ranks, in natural order. */
static int add_grams(const lat_transfer *t, grams *g)
{
    const size_t each = doubles_of(t->n), mine = 2 * (size_t)t->blocks.count * each;
    const int ranks = t->ranks ? t->comm->size : 1;
    double *all = g->block;
    if (ranks > 1) {
        if (!(all = lat_alloc((size_t)ranks * mine, sizeof *all, "test vectors")))
            return -1;
        if (t->comm->gather(t->comm, g->block, mine * sizeof *all, all)) {
            free(all);
            return -1;
        }
    }
    for (size_t b = 0; b < 2 * (size_t)t->blocks.count * (size_t)ranks; b++)
        for (size_t i = 0; i < each; i++)
            g->whole[i] += all[b * each + i];
    if (ranks > 1)
        free(all);
    return 0;
}

/* v of a block, orthonormal everywhere, to v; then orthonormal in the block, to p. */
static int block_make(const lat_transfer *t, int block, int chirality, const double *whole,
                      double *g)
{
    enum { MOST = 64 };
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int half = t->components / 2, n = t->n;
    double *const l = lat_alloc(2 * doubles_of(n), sizeof *l, "test vectors");
    double complex *const scratch = lat_alloc(2 * MOST * MOST, sizeof *scratch, "test vectors");
    if (!l || !scratch) {
        free(l);
        free(scratch);
        return -1;
    }
    double *const inverse = l + doubles_of(n);
    transform(n, whole, g, scratch);
    cholesky(n, g, l);
    invert_adjoint(n, l, inverse);
    for (int p = 0; p < 2; p++)
        for (int64_t i = t->blocks.start[p][block]; i < t->blocks.start[p][block + 1]; i++) {
            const int64_t at = (i * t->components + chirality * half) * 2 * (int64_t)n;
            k->triangular(half, n, whole, t->v + at, t->v + at);
            k->triangular(half, n, inverse, t->v + at, t->p + at);
        }
    free(l);
    free(scratch);
    return 0;
}

int lat_transfer_make(lat_transfer *t)
{
    const size_t each = doubles_of(t->n);
    grams g;
    int bad = grams_open(&g, t->n, t->blocks.count);
    if (bad == 0) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 2 * t->blocks.count; i++)
            block_gram(t, i / 2, i % 2, g.block + (size_t)i * each);
        bad = add_grams(t, &g);
    }
    if (bad == 0) {
        cholesky(t->n, g.whole, g.l);
        invert_adjoint(t->n, g.l, g.t);
#pragma omp parallel for schedule(static) reduction(min : bad)
        for (int i = 0; i < 2 * t->blocks.count; i++) {
            const int found = block_make(t, i / 2, i % 2, g.t, g.block + (size_t)i * each);
            bad = found < bad ? found : bad;
        }
    }
    grams_close(&g);
    return lat_agree(t->comm, bad < 0 ? -1 : 0);
}

/* ---- restriction and prolongation ------------------------------------------------------------ */

static int64_t place(lat_transfer_part part, int64_t i)
{
    return part.at ? part.at[i] : i - part.first;
}

void lat_restrict(const lat_transfer *t, lat_transfer_part part, const lat_eight *r, lat_eight *z)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int64_t numbers = (int64_t)t->components * t->n * 2;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < t->blocks.count; b++) {
        lat_eight *to = z + (int64_t)t->blocks.site[b] * 2 * t->n;
        memset(to, 0, 2 * (size_t)t->n * sizeof *to);
        for (int p = part.from; p < part.to; p++)
            for (int64_t i = t->blocks.start[p][b]; i < t->blocks.start[p][b + 1]; i++)
                k->restrict_site(t->components, t->n, t->p + i * numbers,
                                 r + place(part, i) * t->components, to);
    }
}

void lat_prolong(const lat_transfer *t, lat_transfer_part part, const lat_eight *z, lat_eight *e)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int64_t numbers = (int64_t)t->components * t->n * 2;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < t->blocks.count; b++) {
        const lat_eight *from = z + (int64_t)t->blocks.site[b] * 2 * t->n;
        for (int p = part.from; p < part.to; p++)
            for (int64_t i = t->blocks.start[p][b]; i < t->blocks.start[p][b + 1]; i++)
                k->prolong_site(t->components, t->n, t->p + i * numbers, from,
                                e + place(part, i) * t->components);
    }
}
