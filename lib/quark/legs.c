/* SPDX-License-Identifier: BSD-3-Clause */
/* legs.c: quark propagators in momentum space, amputated vertices. */
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

/* |S| |S^-1| above which S^-1 has no digits that count. */
#define MOST_CONDITION 1e12

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
    const int rc = phases_make(&j.one, &l->head->geom, l->n1)
                           || phases_make(&j.two, &l->head->geom, l->n2)
                           || lat_slice_sum(lat_slice_sites(l->head), reals, 3 * leg, add_sites, &j,
                                            out)
                       ? -1
                       : 0;
    free(j.one.of[0]);
    free(j.two.of[0]);
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

static void tree_free(tree *t)
{
    free(t->nx);
    free(t->parent);
    free(t->px);
}

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
    tree_free(&t);
    return rc;
}

/* ---- amputation ------------------------------------------------------------------------------ */

static double norm1(int n, const cd *m)
{
    double largest = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += cabs(m[i * n + j]);
        largest = sum > largest || isnan(sum) ? sum : largest;
    }
    return largest;
}

/* Gauss-Jordan with pivots of a column; false where a pivot is zero. m is destroyed. */
static bool eliminate(int n, cd *m, cd *inverse)
{
    for (int i = 0; i < n * n; i++)
        inverse[i] = i % (n + 1) == 0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            best = cabs(m[i * n + k]) > cabs(m[best * n + k]) ? i : best;
        for (int j = 0; j < n && best != k; j++) {
            const cd a = m[k * n + j], b = inverse[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = a;
            inverse[k * n + j] = inverse[best * n + j];
            inverse[best * n + j] = b;
        }
        const cd pivot = m[k * n + k];
        if (!(cabs(pivot) > 0))
            return false;
        for (int j = 0; j < n; j++) {
            m[k * n + j] /= pivot;
            inverse[k * n + j] /= pivot;
        }
        for (int i = 0; i < n; i++) {
            const cd factor = m[i * n + k];
            for (int j = 0; j < n && i != k; j++) {
                m[i * n + j] -= factor * m[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
    return true;
}

/* m is destroyed. */
static int invert(const char *name, int n, cd *m, cd *inverse)
{
    const double size = norm1(n, m);
    const bool done = isfinite(size) && eliminate(n, m, inverse);
    const double condition = done ? size * norm1(n, inverse) : INFINITY;
    if (!(condition <= MOST_CONDITION))
        return lat_fail("%s: expected S(p) that has an inverse, found one of condition number %.2g",
                        name, condition);
    return 0;
}

/* A leg as a matrix [sink][source]. */
static void load(int n, const double *leg, cd *m)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            m[i * n + j] = leg[2 * (j * n + i)] + leg[2 * (j * n + i) + 1] * I;
}

static cd power_of_i(int power)
{
    static const double re[] = {1, 0, -1, 0}, im[] = {0, 1, 0, -1};
    return re[power & 3] + im[power & 3] * I;
}

/* tr[ m Gamma^+ ], the trace over colour, too. */
static cd trace(int nc, const cd *m, lat_gamma g)
{
    const int n = 4 * nc;
    cd sum = 0;
    for (int a = 0; a < 4; a++)
        for (int c = 0; c < nc; c++)
            sum += power_of_i(4 - g.power[a]) * m[(a * nc + c) * n + g.column[a] * nc + c];
    return sum;
}

int lat_leg_parts(const char *name, int nc, const double *leg, const double pbar[4], double part[2])
{
    const int n = 4 * nc;
    cd *m = lat_alloc(2 * (size_t)(n * n), sizeof *m, "S(p)"), *inverse = m + n * n;
    int rc = m ? 0 : -1;
    if (rc == 0) {
        load(n, leg, m);
        rc = invert(name, n, m, inverse);
    }
    if (rc == 0) {
        double square = 0;
        cd slash = 0;
        for (int mu = 0; mu < 4; mu++) {
            square += pbar[mu] * pbar[mu];
            slash += pbar[mu] * trace(nc, inverse, lat_gamma_of(1 << mu));
        }
        part[0] = creal(trace(nc, inverse, lat_gamma_of(LAT_GAMMA_ONE))) / n;
        part[1] = square > 0 ? cimag(slash) / (n * square) : NAN;
    }
    free(m);
    return rc;
}

static double sign5(int spin) { return spin < 2 ? 1 : -1; }

/* G of Gamma from K. */
static void vertex(int nc, const double *k, lat_gamma g, cd *out)
{
    const int n = 4 * nc;
    const size_t R = rows(nc);
    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int i = 0; i < n; i++)
        for (int spin = 0; spin < 4; spin++) {
            const cd factor = sign5(i / nc) * sign5(spin) * power_of_i(g.power[spin]);
            const double *re = k + 2 * (size_t)(4 * i + spin) * R, *im = re + R;
            for (int j = 0; j < n; j++) {
                const int s = 4 * j + g.column[spin];
                out[i * n + j] += factor * (re[s] + im[s] * I);
            }
        }
}

/* c = a b */
static void product(int n, const cd *a, const cd *b, cd *c)
{
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* The left leg, gamma5 S^+ gamma5. */
static void load_left(int nc, const double *leg, cd *m)
{
    const int n = 4 * nc;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m[i * n + j] = sign5(i / nc) * sign5(j / nc)
                           * (leg[2 * (i * n + j)] - leg[2 * (i * n + j) + 1] * I);
}

/* The inverse legs of a pair, and memory for two matrices. */
typedef struct amputation {
    int nc, n;
    cd *left, *right, *g, *h;
} amputation;

static int amputation_make(amputation *a, const char *name, int nc, const double *pair)
{
    const int n = 4 * nc, size = n * n;
    *a = (amputation){.nc = nc, .n = n};
    if (!(a->left = lat_alloc(4 * (size_t)size, sizeof *a->left, "a vertex")))
        return -1;
    a->right = a->left + size;
    a->g = a->right + size;
    a->h = a->g + size;
    load_left(nc, pair + lat_leg_reals(nc), a->g);
    if (invert(name, n, a->g, a->left))
        return -1;
    load(n, pair, a->g);
    return invert(name, n, a->g, a->right);
}

/* g becomes S2^-1 g S1^-1. */
static void amputate(const amputation *a)
{
    product(a->n, a->left, a->g, a->h);
    product(a->n, a->h, a->right, a->g);
}

int lat_pair_traces(const char *name, int nc, const double *pair, double t[LAT_GAMMAS][LAT_GAMMAS])
{
    amputation m;
    const int rc = amputation_make(&m, name, nc, pair);
    for (int a = 0; rc == 0 && a < LAT_GAMMAS; a++) {
        vertex(nc, pair + 2 * lat_leg_reals(nc), lat_gamma_of(a), m.g);
        amputate(&m);
        for (int b = 0; b < LAT_GAMMAS; b++)
            t[a][b] = creal(trace(nc, m.g, lat_gamma_of(b))) / m.n;
    }
    free(m.left);
    return rc;
}

static double norm2(int n, const cd *m)
{
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += creal(m[i]) * creal(m[i]) + cimag(m[i]) * cimag(m[i]);
    return sqrt(sum);
}

/* d += factor S2^-1 g S1^-1, where g is there. */
static void add_amputated(const amputation *m, cd factor, cd *d)
{
    amputate(m);
    for (int i = 0; i < m->n * m->n; i++)
        d[i] += factor * m->g[i];
}

int lat_pair_current(const char *name, int nc, const double *pair, const lat_ward *w,
                     double t[4][4], double *defect)
{
    const size_t leg = lat_leg_reals(nc);
    const int size = 16 * nc * nc;
    amputation m;
    cd *d = lat_alloc((size_t)size, sizeof *d, "a Ward identity");
    const int rc = amputation_make(&m, name, nc, pair) || !d ? -1 : 0;
    for (int i = 0; rc == 0 && i < size; i++)
        d[i] = m.left[i] - m.right[i];
    for (int mu = 0; rc == 0 && mu < 4; mu++) {
        load(m.n, pair + lat_pair_reals(nc) + (size_t)mu * leg, m.g);
        add_amputated(&m, w->qhat[mu] * I, d);
        for (int nu = 0; nu < 4; nu++)
            t[mu][nu] = creal(trace(nc, m.g, lat_gamma_of(1 << nu))) / m.n;
    }
    for (int i = 0; rc == 0 && i < 2; i++) {
        vertex(nc, pair + 2 * leg, lat_gamma_of(i ? LAT_GAMMA_5 : LAT_GAMMA_ONE), m.g);
        add_amputated(&m, i ? w->twist * I : w->mass, d);
    }
    if (rc == 0)
        *defect = norm2(m.n, d) / (norm2(m.n, m.left) + norm2(m.n, m.right));
    free(m.left);
    free(d);
    return rc;
}
