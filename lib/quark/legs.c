/* SPDX-License-Identifier: BSD-3-Clause */
/* legs.c: quark propagators in momentum space. */
#include "legs.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/iterate.h"
#include "lattice/slices.h"
#include "slice_sum.h"

typedef double complex cd;

/* A pair is S1, S2, and K. With rows r = (source, spin) of a propagator, each N colours long,
 *
 *     K[r][s] = sum_x sum_c conj(e^{-ip2x} S2[r][c]) e^{-ip1x} S1[s][c]
 *
 * has all Gamma: those between the spins of r and s. In memory [r][re, im][s]. */

size_t lat_leg_reals(int nc) { return 32 * (size_t)nc * (size_t)nc; }

static size_t rows(int nc) { return 16 * (size_t)nc; }

size_t lat_pair_reals(int nc) { return 2 * lat_leg_reals(nc) + 2 * rows(nc) * rows(nc); }

size_t lat_current_reals(int nc) { return 4 * lat_leg_reals(nc); }

size_t lat_legs_reals(lat_legs_kind kind, int nc)
{
    return kind == LAT_LEG ? lat_leg_reals(nc)
                           : lat_pair_reals(nc) + (kind == LAT_PAIR ? 0 : lat_current_reals(nc));
}

/* ---- sums over sites ------------------------------------------------------------------------- */

void lat_momentum_phase(double n, int x, int L, double z[2])
{
    const double cycles = n * x / L, angle = -2 * M_PI * (cycles - floor(cycles));
    z[0] = cos(angle);
    z[1] = sin(angle);
}

/* Phases along each axis: table[mu][x]. */
typedef struct phases {
    cd *of[4];
} phases;

static int phases_make(phases *p, const lat_geometry *geom, const double n[4])
{
    size_t sites = 0;
    for (int mu = 0; mu < 4; mu++)
        sites += (size_t)geom->dims[mu];
    cd *z = lat_alloc(sites, sizeof *z, "phases");
    if (!z)
        return -1;
    for (int mu = 0; mu < 4; mu++) {
        p->of[mu] = z;
        for (int x = 0; x < geom->dims[mu]; x++, z++) {
            double part[2];
            lat_momentum_phase(n[mu], x, geom->dims[mu], part);
            *z = part[0] + part[1] * I;
        }
    }
    return 0;
}

static cd phase_at(const phases *p, const int *x, int t)
{
    return p->of[0][x[0]] * p->of[1][x[1]] * p->of[2][x[2]] * p->of[3][t];
}

/* to = z from, of `reals` reals. */
static void rotated(size_t reals, cd z, const double *from, double *to)
{
    const double re = creal(z), im = cimag(z);
    for (size_t i = 0; i < reals; i += 2) {
        to[i] = re * from[i] - im * from[i + 1];
        to[i + 1] = re * from[i + 1] + im * from[i];
    }
}

static void add(size_t reals, const double *from, double *to)
{
    for (size_t i = 0; i < reals; i++)
        to[i] += from[i];
}

/* K += conj(a) b of one site; bt[c][re, im][s] is b with its colours outermost. */
LAT_INLINE void outer_product(int n, int nc, const double *a, const double *b, double *bt,
                              double *k)
{
    for (int s = 0; s < n; s++)
        for (int c = 0; c < nc; c++) {
            bt[(2 * c) * n + s] = b[2 * (s * nc + c)];
            bt[(2 * c + 1) * n + s] = b[2 * (s * nc + c) + 1];
        }
    for (int r = 0; r < n; r++)
        for (int c = 0; c < nc; c++) {
            const double ar = a[2 * (r * nc + c)], ai = a[2 * (r * nc + c) + 1];
            const double *br = bt + 2 * c * n, *bi = br + n;
            double *re = k + 2 * (size_t)r * (size_t)n, *im = re + n;
            for (int s = 0; s < n; s++) {
                re[s] += ar * br[s] + ai * bi[s];
                im[s] += ar * bi[s] - ai * br[s];
            }
        }
}

typedef struct job {
    const lat_legs *l;
    int t;
    phases one, two;
    const double *first, *second;
} job;

/* scratch: two sites, and one with colours outermost. */
static void add_sites(const void *with, size_t from, size_t to, double *scratch, double *sum)
{
    const job *j = with;
    const int nc = j->l->head->nc, n = (int)rows(nc);
    const size_t leg = lat_leg_reals(nc);
    double *a = scratch, *b = a + leg, *bt = b + leg;
    for (size_t site = from; site < to; site++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&j->l->head->geom, site, x);
        rotated(leg, phase_at(&j->one, x, j->t), j->first + site * leg, b);
        add(leg, b, sum);
        if (!j->second)
            continue;
        rotated(leg, phase_at(&j->two, x, j->t), j->second + site * leg, a);
        add(leg, a, sum + leg);
        if (nc == 3)
            outer_product(48, 3, a, b, bt, sum + 2 * leg);
        else
            outer_product(n, nc, a, b, bt, sum + 2 * leg);
    }
}

int lat_legs_slice(const lat_legs *l, int t, const double *first, const double *second, double *out)
{
    job j = {.l = l, .t = t, .first = first, .second = second};
    const size_t leg = lat_leg_reals(l->head->nc),
                 reals = second ? lat_pair_reals(l->head->nc) : leg;
    const int rc = lat_rc(
        phases_make(&j.one, &l->head->geom, l->n1) || phases_make(&j.two, &l->head->geom, l->n2)
        || lat_slice_sum(lat_slice_sites(l->head), reals, 3 * leg, add_sites, &j, out));
    LAT_FREE(j.one.of[0], j.two.of[0]);
    return rc;
}

/* ---- point sources --------------------------------------------------------------------------- */

/* Momenta as a tree: n_x, pairs (n_x, n_y), triples. */
typedef struct tree {
    int xs, pairs, triples;
    double *nx, *ny;  /* of each x; of each pair */
    int *parent;      /* of each pair: its x; then of each triple: its pair */
    cd *px, *py, *pz; /* phases [x][coordinate], [pair][..], [triple][..] */
} tree;

static void tree_grow(tree *t, const lat_fourier *f)
{
    for (int k = 0; k < f->count; k++) {
        int x = 0, y = 0;
        while (x < t->xs && t->nx[x] != f->n[k][0])
            x++;
        t->nx[x] = f->n[k][0];
        t->xs += x == t->xs;
        while (y < t->pairs && !(t->parent[y] == x && t->ny[y] == f->n[k][1]))
            y++;
        t->ny[y] = f->n[k][1];
        t->parent[y] = x;
        t->pairs += y == t->pairs;
        t->parent[f->count + k] = y;
    }
    t->triples = f->count;
}

static void fill(cd *z, double n, int place, int L)
{
    for (int x = 0; x < L; x++) {
        double part[2];
        lat_momentum_phase(n, x - place, L, part);
        z[x] = part[0] + part[1] * I;
    }
}

static int tree_make(tree *t, const lat_fourier *f)
{
    const int *L = f->head->geom.dims;
    const size_t count = (size_t)f->count;
    memset(t, 0, sizeof *t);
    t->nx = lat_alloc(2 * count, sizeof *t->nx, "momenta");
    t->parent = lat_alloc(2 * count, sizeof *t->parent, "momenta");
    t->px = lat_alloc(count * (size_t)(L[0] + L[1] + L[2]), sizeof *t->px, "phases");
    if (!t->nx || !t->parent || !t->px)
        return -1;
    t->ny = t->nx + count;
    t->py = t->px + count * (size_t)L[0];
    t->pz = t->py + count * (size_t)L[1];
    tree_grow(t, f);
    for (int k = 0; k < t->xs; k++)
        fill(t->px + k * L[0], t->nx[k], f->place[0], L[0]);
    for (int k = 0; k < t->pairs; k++)
        fill(t->py + k * L[1], t->ny[k], f->place[1], L[1]);
    for (int k = 0; k < t->triples; k++)
        fill(t->pz + k * L[2], f->n[k][2], f->place[2], L[2]);
    return 0;
}

/* to += z from */
static void add_rotated(int reals, cd z, const double *from, double *to)
{
    const double re = creal(z), im = cimag(z);
    for (int i = 0; i < reals; i += 2) {
        to[i] += re * from[i] - im * from[i + 1];
        to[i + 1] += re * from[i + 1] + im * from[i];
    }
}

/* One column of the propagator. work: a spinor for each x, then for each pair. */
static void transform_column(const lat_fourier *f, const tree *t, const double *slice, int column,
                             double *work, double *out)
{
    const int *L = f->head->geom.dims, reals = 8 * f->head->nc,
              leg = (int)lat_leg_reals(f->head->nc);
    double *ax = work, *ay = work + t->xs * reals;
    for (int z = 0; z < L[2]; z++) {
        memset(ay, 0, (size_t)(t->pairs * reals) * sizeof *ay);
        for (int y = 0; y < L[1]; y++) {
            memset(ax, 0, (size_t)(t->xs * reals) * sizeof *ax);
            for (int x = 0; x < L[0]; x++) {
                const size_t site = (size_t)x
                                    + (size_t)L[0] * ((size_t)y + (size_t)L[1] * (size_t)z);
                const double *s = slice + site * (size_t)leg + column * reals;
                for (int k = 0; k < t->xs; k++)
                    add_rotated(reals, t->px[k * L[0] + x], s, ax + k * reals);
            }
            for (int k = 0; k < t->pairs; k++)
                add_rotated(reals, t->py[k * L[1] + y], ax + t->parent[k] * reals, ay + k * reals);
        }
        for (int k = 0; k < t->triples; k++)
            add_rotated(reals, t->pz[k * L[2] + z], ay + t->parent[f->count + k] * reals,
                        out + (size_t)k * (size_t)leg + column * reals);
    }
}

int lat_fourier_slice(const lat_fourier *f, const double *slice, double *out)
{
    tree t;
    const int columns = 4 * f->head->nc;
    double *work = NULL;
    size_t size = 0;
    int rc = tree_make(&t, f);
    if (rc == 0) {
        size = (size_t)(t.xs + t.pairs) * 8 * (size_t)f->head->nc;
        work = lat_alloc((size_t)columns * size, sizeof *work, "a Fourier transform");
        rc = work ? 0 : -1;
    }
    if (rc == 0) {
        memset(out, 0, (size_t)f->count * lat_leg_reals(f->head->nc) * sizeof *out);
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < columns; i++)
            transform_column(f, &t, slice, i, work + (size_t)i * size, out);
    }
    free(work);
    LAT_FREE(t.nx, t.parent, t.px);
    return rc;
}

void lat_fourier_time(const lat_fourier *f, int k, double n, const double *all, double *leg)
{
    const size_t reals = lat_leg_reals(f->head->nc), slice = reals * (size_t)f->count;
    const int T = lat_slices(f->head);
    memset(leg, 0, reals * sizeof *leg);
    for (int t = 0; t < T; t++) {
        const double *from = all + (size_t)t * slice + (size_t)k * reals;
        double z[2];
        lat_momentum_phase(n, t - f->place[3], T, z);
        add_rotated((int)reals, z[0] + z[1] * I, from, leg);
    }
}
